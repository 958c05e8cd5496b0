# Foreign sources: tables on a second server, alone, as a partition, and joined
# with local ones.  What the second server does between two reads, or that it is
# gone, changes nothing of what is promised.
use strict;
use warnings;
use Test::More;
use KanonGate;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::start('main');
my $sharedir = $node->config_data('--sharedir');
plan skip_all => 'postgres_fdw is not installed' unless -e "$sharedir/extension/postgres_fdw.control";

my $remote = KanonNode::new_node('remote');
$remote->start;
my $rows = "SELECT 'z' || i % 10 AS zip, 20 + i % 4 AS age, i % 3 + 0.50 AS fee, 'd' || i AS diagnosis, 'n' || i AS name FROM generate_series(1, 2000) i";
$remote->safe_psql('postgres', <<"E");
CREATE TABLE person (zip text, age int, fee numeric, diagnosis text, name text);
INSERT INTO person VALUES ('z0', 20, 0.5, 'other spelling', 'n'), ('loner', 99, 7.7, 'alone', 'n');
INSERT INTO person $rows;
CREATE TABLE person_2 AS SELECT 2 AS part, * FROM person;
E

my ($host, $port) = ($remote->host, $remote->port);
$node->safe_psql('postgres', <<"E");
CREATE EXTENSION postgres_fdw;
CREATE SERVER clinic FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR PUBLIC SERVER clinic OPTIONS (user 'postgres');
CREATE FOREIGN TABLE person (zip text, age int, fee numeric, diagnosis text, name text) SERVER clinic;
CREATE TABLE here (LIKE person);
INSERT INTO here SELECT * FROM person;

-- a filter that only the remote server can apply, and one that only we can
CREATE FUNCTION ours(int) RETURNS bool LANGUAGE plpgsql AS \$\$ BEGIN RETURN \$1 < 23; END \$\$;
CREATE VIEW partly AS SELECT * FROM person WHERE zip > 'z3' AND ours(age);
CREATE VIEW partly_here AS SELECT * FROM here WHERE zip > 'z3' AND ours(age);
CREATE TABLE region (zip text, region text);
INSERT INTO region SELECT 'z' || i, 'r' || i / 5 FROM generate_series(0, 9) i;
CREATE VIEW joined AS SELECT region, age, diagnosis FROM person JOIN region USING (zip);
CREATE VIEW joined_here AS SELECT region, age, diagnosis FROM here JOIN region USING (zip);
CREATE TABLE parted (part int, zip text, age int, fee numeric, diagnosis text, name text) PARTITION BY LIST (part);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE FOREIGN TABLE parted_2 PARTITION OF parted FOR VALUES IN (2) SERVER clinic OPTIONS (table_name 'person_2');
INSERT INTO parted SELECT 1, * FROM here WHERE age < 22;
CREATE TABLE parted_here AS SELECT * FROM parted;

-- counts the rows as they are read, and waits at one for the lock of its number
CREATE FUNCTION gate(key int) RETURNS bool LANGUAGE plpgsql AS \$\$
BEGIN
    PERFORM pg_advisory_lock_shared(key);
    PERFORM pg_advisory_unlock_shared(key);
    RETURN true;
END \$\$;
CREATE SEQUENCE ticket;
CREATE VIEW gated AS SELECT * FROM person WHERE gate(nextval('ticket')::int);
CREATE VIEW gated_parted AS SELECT * FROM parted WHERE gate(nextval('ticket')::int);
E

sub publish
{
	my ($source, $target, $rest) = @_;
	return "SELECT * FROM kanon_pattern_guided('$source', '$target', $rest)";
}

# What comes from afar is published as the same rows would be from here.
my %pairs = (
	'a foreign table' => [ 'person', 'here', "'{zip,age,fee}', 5" ],
	'a foreign table, kept columns' => [ 'person', 'here', "'{zip,age,fee}', 5, keep => '{diagnosis}', allow_identifying => '{diagnosis}', mark => true" ],
	'only partly filtered there' => [ 'partly', 'partly_here', "'{zip,age}', 5, keep => '{diagnosis}', allow_identifying => '{diagnosis}'" ],
	'joined with a local table' => [ 'joined', 'joined_here', "'{region,age}', 5, keep => '{diagnosis}', allow_identifying => '{diagnosis}'" ],
	'a foreign partition' => [ 'parted', 'parted_here', "'{zip,age,part}', 5, keep => '{diagnosis}', allow_identifying => '{diagnosis}'" ],
	'a foreign partition alone' => [ 'parted_2', 'here', "'{zip,age}', 5" ]);
foreach my $name (sort keys %pairs)
{
	my ($foreign, $local, $rest) = @{ $pairs{$name} };
	is( $node->safe_psql('postgres', publish($foreign, 'there_public', $rest)),
		$node->safe_psql('postgres', publish($local, 'here_public', $rest)),
		"$name: the same patterns as of a local table");
	is( $node->safe_psql('postgres', <<'E'), '0|0|t', "$name: and the same rows");
SELECT (SELECT count(*) FROM (TABLE there_public EXCEPT ALL TABLE here_public) AS more),
       (SELECT count(*) FROM (TABLE here_public EXCEPT ALL TABLE there_public) AS less),
       (SELECT count(*) > 500 FROM there_public)
E
	$node->safe_psql('postgres', 'DROP TABLE there_public, here_public');
}
is( $node->safe_psql('postgres', <<'E'), '0.50', 'a number in two spellings there is published in one');
SELECT count(*) FROM kanon_pattern_guided('person', 'spelled', '{fee}', 5) \g /dev/null
SELECT string_agg(DISTINCT fee::text, ' ') FROM spelled WHERE fee = 0.5
E

# The remote table changes while a run is held as it reads: in its first rows, or its last.
my $change = <<'E';
UPDATE %1$s SET diagnosis = 'leak', zip = 'z9' WHERE zip = 'z1';
DELETE FROM %1$s WHERE zip = 'z2';
INSERT INTO %1$s (zip, age, fee, diagnosis) SELECT 'z3', 20, 1, 'leak' FROM generate_series(1, 50);
E
foreach my $source ('gated', 'gated_parted')
{
	my $table = $source eq 'gated' ? 'person' : 'person_2';
	my $origin = $source eq 'gated' ? 'person' : 'parted';
	# (of the parted one the other server is asked last: what changed before that is seen)
	foreach my $read ($source eq 'gated' ? ('first', 'last') : 'last')
	{
		my $holder = $node->background_psql('postgres');
		my $runner = $node->background_psql('postgres', on_error_stop => 0);
		my $pid = $runner->query('SET kanon.progress = off; SELECT pg_backend_pid()');
		$node->safe_psql('postgres', "CREATE TABLE before AS SELECT zip, age, diagnosis FROM $origin");
		my $last = $node->safe_psql('postgres', 'SELECT count(*) FROM before');
		my $at = $read eq 'first' ? 100 : $last - 100;
		$holder->query_safe("SELECT setval('ticket', 1, false), pg_advisory_lock($at)");
		KanonGate::start($runner, publish($source, 'held', "'{zip,age}', 2, keep => '{diagnosis}', allow_identifying => '{diagnosis}', mark => true"));
		$node->poll_query_until('postgres',
			"SELECT wait_event_type = 'Lock' OR state = 'idle' FROM pg_stat_activity WHERE pid = $pid");
		$remote->safe_psql('postgres', "CREATE TABLE saved AS TABLE $table;" . sprintf($change, $table));
		$holder->query_safe('SELECT pg_advisory_unlock_all()');
		$runner->query('SELECT 1');
		is($runner->{stderr}, '', "$source, changed in the $read rows: no error");
		is( $node->safe_psql('postgres', <<'E'), '0|0', "$source, changed in the $read rows: the rows of before");
SELECT (SELECT count(*) FROM ((SELECT zip, age, diagnosis FROM held WHERE kanon_pattern = '--') EXCEPT ALL TABLE before) x),
       (SELECT count(*) FROM ((SELECT diagnosis FROM before) EXCEPT ALL (SELECT diagnosis FROM held)) x)
E
		$remote->safe_psql('postgres', "TRUNCATE $table; INSERT INTO $table TABLE saved; DROP TABLE saved");
		$node->safe_psql('postgres', 'DROP TABLE IF EXISTS held, before');
		$runner->quit;
		$holder->quit;
	}
}

# The remote server goes away: before a run, and in the middle of one.
$node->safe_psql('postgres', 'CREATE TABLE published AS SELECT 1 AS old');
my $runs = $node->safe_psql('postgres', 'SELECT count(*) FROM kanon_usefulness');
my $holder = $node->background_psql('postgres');
my $runner = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $runner->query('SELECT pg_backend_pid()');
$holder->query_safe("SELECT setval('ticket', 1, false), pg_advisory_lock(count(*) / 2) FROM person");
KanonGate::start($runner, publish('gated', 'published', "'{zip,age}', 5, keep => '{diagnosis}', allow_identifying => '{diagnosis}', replace => true"));
$node->poll_query_until('postgres',
	"SELECT wait_event_type = 'Lock' OR state = 'idle' FROM pg_stat_activity WHERE pid = $pid");
$remote->stop('immediate');
$holder->query_safe('SELECT pg_advisory_unlock_all()');
$runner->query('SELECT 1');
like($runner->{stderr}, qr/ERROR:  .*(connection|server)/, 'the server dies while it is read: an error says so');
unlike($runner->{stderr}, qr/\bd\d+\b|leak|loner/, 'and shows no value');
$runner->{stderr} = '';
foreach my $source ('person', 'parted', 'joined')
{
	my ($ret, $stdout, $stderr) = $node->psql('postgres', '\set VERBOSITY verbose
' . publish($source, 'published', "'{age}', 5, replace => true"));
	like($stderr, qr/ERROR:  08001: could not connect to server "clinic"/, "$source, the server being down: an error says so");
}
my ($ret, $stdout, $stderr) = $node->psql('postgres', publish('person', 'fresh', "'{age}', 5"));
isnt($ret, 0, 'nor is there a new target');
is( $node->safe_psql('postgres', <<"E"), "1|0|", 'nothing was written');
SELECT (SELECT sum(old) FROM published), (SELECT count(*) - $runs FROM kanon_usefulness),
       (SELECT relname FROM pg_class WHERE relname = 'fresh' OR relname LIKE 'kanon\\_building\\_%')
E
$remote->start;
$runner->query(publish('person', 'fresh', "'{age}', 5"));
is($runner->{stderr}, '', 'and when it is back the same session publishes');
$runner->quit;
$holder->quit;

# A server whose values are others each time it is asked: what a query leaves out comes all the same, what was equal is not, and
# texts have no end.  Whatever is called, there is an answer or an error of its own.
$remote->safe_psql('postgres', <<'E');
CREATE FUNCTION moody(anyelement) RETURNS anyelement IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN CASE WHEN random() < 0.7 THEN $1 END; END $$;
CREATE VIEW moody AS SELECT moody(i) AS id, moody(i % 5) AS a, moody('z' || i % 4) AS zip, moody(i % 6 * 1.5) AS num, moody(date '2020-01-01' + i % 50) AS born, moody('d' || i % 3) AS note,
    moody((i % 7)::float8) AS f, moody(ARRAY['x' || i % 3, 'y']) AS items, moody(('{zip,a}'::text[])[1 + i % 2]) AS column_name, moody(i % 5)::text AS value, moody(0.2::float8) AS share FROM generate_series(1, 240) i;
CREATE VIEW endless AS SELECT i AS id, i % 5 AS a, repeat('z', 400000) || i % 4 AS zip, i % 6 * 1.5 AS num, date '2020-01-01' + i AS born, repeat('d', 400000) AS note, 1::float8 AS f, ARRAY[repeat('x', 400000)] AS items, 'a' AS column_name, '1' AS value, 0.2::float8 AS share
    FROM generate_series(1, 40) i;
E
my $moody = 'id int, a int, zip text, num numeric, born date, note text, f float8, items text[], column_name text, value text, share float8';
$node->safe_psql('postgres', "CREATE FOREIGN TABLE moody ($moody) SERVER clinic; CREATE FOREIGN TABLE endless ($moody) SERVER clinic");
my @asked = map { my $s = $_; (
	map({ "SELECT count(*) FROM kanon_$_" }
		"pattern_guided('$s', 'm', '{a,zip,num}', 3, keep => '{note}', replace => true)", "pattern_guided('$s', 'm', '{a,zip}', 3, keep => '{note}', replace => true, privacy => ARRAY[kanon_distinct_l('note', 2), kanon_subject('id')])",
		"pattern_guided('$s', 'm', '{a,zip}', 3, replace => true, hierarchies => '{\"zip\": {\"prefix\": [1]}, \"a\": {\"quantile\": [4, 2]}}')", "cluster('$s', 'm', '{a,num,born}', 3, replace => true, privacy => ARRAY[kanon_k_map('$s')])",
		"full_domain('$s', 'm', '{a,born}', 3, replace => true, hierarchies => '{\"a\": {\"interval\": [2, 4]}, \"born\": {\"date\": [\"month\"]}}')", "freeform('$s', 'm', '{a,num}', 3, replace => true)",
		"anatomy('$s', 'm', 'm2', '{a,zip}', 'note', 2, replace => true)", "transactions('$s', 'm', 'items', k => 2, replace => true)", "transactions('$s', 'm', 'note', k => 2, transaction => 'id', replace => true)", "cross_training('$s', 'm', '{num,f}', 3, replace => true)",
		"synthetic('$s', 'm', '{a}', 5, 0.1, '{\"a\": {\"from\": 0, \"to\": 4}}', replace => true)", "dp('$s', 'sum', 1, 'num', lower => 0, upper => 9)", "dp('$s', 'count', 1, by => '{note}', subject => 'id', delta => 0.01)", "check('$s', '{a,zip}')",
		"check('$s', '{a,zip}', 'id')", "risk('$s', '{a,zip}', '{note}', 'id', '$s')", "risk('$s', '{a,zip}', presence => kanon_presence('$s', 5000, 0, 1, 0.5))", "risk_columns('$s', '{a,zip,born}')", "suggest('$s')", "suggest_call('$s')", "frontier('$s', '{a,zip}', '{2,5}')",
		"explain('$s', '{a,zip}', 5, with_values => true)", "attack('$s', 'here', 'id', '{zip}')", "compare('$s', '$s', '{a,zip}', '{note}')", "distributions('$s', '$s', '{a,zip}', 3)", "check_hierarchy('$s', '$s', 'id')", "check_transactions('$s', 'items')"),
	map({ "SELECT kanon_$_" } "checksum('$s')", "explore('$s', '{a,zip}', '{3}')", "hierarchy_interval('$s', 'a', 'm', '{2}', replace => true)", "hierarchy_prefix('$s', 'zip', 'm', '{1}', replace => true)", "hierarchy_quantile('$s', 'num', 'm', '{4,2}', replace => true)",
		"hierarchy_from_fk('$s', 'zip', 'm', lookup => '$s', key => 'zip', parent => 'note', replace => true)", "hierarchy_from_fk('$s', 'zip', 'm', replace => true)")) } 'moody', 'endless';
my $lived = $node->safe_psql('postgres', "SELECT kanon_set_budget('moody', 1000); SELECT kanon_set_budget('endless', 1000); SELECT pg_postmaster_start_time()");
foreach my $call (@asked, (grep { /moody/ } @asked) x 2)
{
	my ($ret, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET client_min_messages = error; SET statement_timeout = '60s'; SET kanon.max_memory = '8MB';\n$call");

	ok($ret == 0 || $err =~ /ERROR:  (?!XX|57|42883|42P|42601)/, "an answer, or an error: $call") or diag $err;
}
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC/, 'nothing crashes');

# A server that takes a grouping over says how many rows there are; it may say anything.
$remote->safe_psql('postgres', <<'E');
SET allow_system_table_mods = on;
ALTER AGGREGATE pg_catalog.count(*) RENAME TO honest_count;
CREATE FUNCTION pg_catalog.told(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint';
CREATE AGGREGATE pg_catalog.count(*) (SFUNC = pg_catalog.told, STYPE = bigint, INITCOND = '0');
E
foreach my $told ('0', '-5', '9223372036854775807', 'NULL')
{
	$remote->safe_psql('postgres', "SET allow_system_table_mods = on; CREATE OR REPLACE FUNCTION pg_catalog.told(bigint) RETURNS bigint LANGUAGE sql AS \$\$ SELECT ($told)::bigint \$\$");
	like(($node->psql('postgres', "SET statement_timeout = '30s'; " . publish('person', 'wrong', "'{zip,age}', 5")))[2], qr/ERROR:  public\.person has groups of an impossible number of rows/, "groups of $told rows");
}
$remote->stop;
$node->stop;
done_testing();
