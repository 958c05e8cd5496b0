# Tables that Citus has distributed, where the server has Citus: whatever is done to them
# meanwhile, what is published is what one statement read; and nothing stays behind on
# any server, whoever dies.  What workers write themselves: 044_citus_write.pl.
use strict;
use warnings;
use Test::More;
use KanonCitus;
use KanonGate;
use KanonNode;
use PostgreSQL::Test::Utils;

my $plain = KanonNode::start('plain');
if (!KanonCitus::available($plain))
{
	$plain->stop;
	plan skip_all => 'this server has no Citus';
}

# A table by the name of Citus's own, in a schema that anybody may have, is nothing.
is( $plain->safe_psql('postgres', <<'E'), '100', 'without Citus its names mean nothing');
CREATE TABLE pg_dist_partition (logicalrelid regclass);
CREATE SCHEMA citus;
CREATE TABLE citus.pg_dist_partition (logicalrelid regclass);
CREATE TABLE person AS SELECT i % 5 AS age, i % 3 AS diagnosis FROM generate_series(1, 100) i;
INSERT INTO pg_dist_partition VALUES ('person');
SELECT FROM kanon_pattern_guided('person', 'o', '{age}', 5, keep => '{diagnosis}') \g /dev/null
SELECT count(*) FROM o
E
$plain->stop;

my ($main, @workers) = KanonCitus::start();

# The same rows in every kind of table: NULLs, numbers in two spellings.
my $columns = 'id bigint, name text, age int, zip text, fee numeric, diagnosis text';
my $rows = "SELECT i, 'person ' || i, 20 + i % 7, CASE WHEN i % 11 > 0 THEN 'z' || i % 11 END, CASE WHEN i % 2 = 0 THEN 0.5 ELSE 0.50 END, 'secret ' || i % 13 FROM generate_series(1, 3000) i";
$main->safe_psql('postgres', <<"E");
CREATE TABLE here ($columns);
INSERT INTO here $rows;
CREATE TABLE by_id ($columns);
SELECT create_distributed_table('by_id', 'id');
CREATE TABLE by_text ($columns);
SELECT create_distributed_table('by_text', 'name');
CREATE TABLE parted ($columns) PARTITION BY RANGE (age);
CREATE TABLE parted_young PARTITION OF parted FOR VALUES FROM (0) TO (23);
CREATE TABLE parted_old PARTITION OF parted FOR VALUES FROM (23) TO (100);
SELECT create_distributed_table('parted', 'id');
CREATE TABLE columns ($columns) USING columnar;
SELECT create_distributed_table('columns', 'id');
CREATE TABLE everywhere ($columns);
SELECT create_reference_table('everywhere');
CREATE TABLE zips (zip text, region text);
SELECT create_reference_table('zips');
INSERT INTO zips SELECT 'z' || i, 'z' || i FROM generate_series(1, 10) i;
INSERT INTO by_id TABLE here;
INSERT INTO by_text TABLE here;
INSERT INTO parted TABLE here;
INSERT INTO columns TABLE here;
INSERT INTO everywhere TABLE here;
CREATE VIEW seen AS SELECT * FROM by_id;
CREATE VIEW joined AS SELECT id, name, age, region AS zip, fee, diagnosis FROM by_id LEFT JOIN zips USING (zip);
GRANT SELECT ON by_id, by_text, parted, columns, everywhere, seen, joined, here, zips TO doctor;
E

# What is said beside that a target shows little of a column.
sub beside_empty
{
	return $_[0] =~ s/^\S+ NOTICE:  columns of the target that are nearly empty:.*\nDETAIL:.*\nHINT:.*(?:\n|\z)//mgr =~ s/\n\z//r;
}

sub left_behind
{
	KanonCitus::left_behind($_[0], $main, @workers);
}

my $rest = "'{age,zip,fee}', 60, keep => '{diagnosis}', mark => true, seed => 7";
sub publish
{
	my ($source, $target, $more) = @_;
	return "SELECT * FROM kanon_pattern_guided('$source', '$target', $rest" . ($more // '') . ')';
}

my $lines = KanonNode::as($main, 'doctor', 'postgres', publish('here', 'near'));
foreach my $source (qw(by_id by_text parted columns everywhere seen joined))
{
	my ($ret, $stdout, $stderr) = $main->psql('postgres', publish($source, 'far'), extra_params => [ '-U', 'doctor' ]);

	is($stdout, $lines, "$source: the patterns, for one who is no superuser");
	# Citus copies nothing everywhere when the same transaction has read such a table in parallel
	like(beside_empty($stderr), $source eq 'joined' ? qr/^\S+ NOTICE:  target public\.far stays on this server\nDETAIL:.*SQLSTATE \w{5}\.\nHINT:[^\n]*\z/ : qr/^\z/,
		"$source: its rows are set aside on the workers");
	is($main->safe_psql('postgres', "SELECT partmethod FROM pg_dist_partition WHERE logicalrelid = 'far'::regclass"),
		$source eq 'joined' ? '' : 'n', "$source: a small target is on every server");
	is($main->safe_psql('postgres', <<'E'), '0|0|3000|1', "$source: the rows that the same table here gives");
SELECT (SELECT count(*) FROM (TABLE far EXCEPT ALL TABLE near) AS more),
       (SELECT count(*) FROM (TABLE near EXCEPT ALL TABLE far) AS less), (SELECT count(*) FROM far),
       (SELECT count(DISTINCT fee::text) FROM far WHERE fee IS NOT NULL)
E
	$main->safe_psql('postgres', 'DROP TABLE far');
	left_behind($source);
}

# Every other model, and a publication.
foreach my $call ("kanon_cluster('%s', '%s', '{age,zip}', 60, keep => '{diagnosis}')",
	"kanon_full_domain('%s', '%s', '{age,zip}', 60, keep => '{diagnosis}')",
	"kanon_freeform('%s', '%s', '{age,zip}', 5, 'sort_greedy', 100, keep => '{diagnosis}')",
	"kanon_pattern_clustering('%s', '%s', '{age,zip}', 60, keep => '{diagnosis}', patterns => '{**}')",
	"kanon_anatomy('%s', '%s', '%s_sensitive', '{age,zip}', 'diagnosis', 3)")
{
	my ($name) = $call =~ /(\w+)/;
	my ($ret, $stdout, $stderr) = $main->psql('postgres', 'SELECT FROM ' . sprintf($call, 'by_id', 'far', 'far'), extra_params => [ '-U', 'doctor' ]);

	like(beside_empty($stderr), $name eq 'kanon_anatomy' ? qr/^\S+ NOTICE:  the target is a table of this server, which writes it\nDETAIL:[^\n]*\z/ : qr/^\z/,
		"$name: a distributed table is published");
	is($main->safe_psql('postgres', 'SELECT count(*) FROM far'), '3000', "$name: all of it");
	$main->safe_psql('postgres', 'DROP TABLE far; DROP TABLE IF EXISTS far_sensitive');
}
my ($ret, $out, $err) = $main->psql('postgres', <<'E', extra_params => [ '-U', 'doctor' ]);
SELECT FROM kanon_create_publication('nightly', 'by_id', '{age,zip}', 60, options => '{"keep": ["diagnosis"]}') \g /dev/null
SELECT FROM kanon_refresh('nightly') \g /dev/null
SELECT count(*) FROM nightly;
SELECT FROM kanon_drop_publication('nightly') \g /dev/null
E
is($out, '3000', 'a publication of it, and its next release');
unlike($err, qr/set aside|read again|ERROR/, 'are read from what was set aside, too');
left_behind('all of them');

# Who may not read.
is(KanonNode::as($main, 'doctor', 'postgres', publish('by_id', 'far', ", privacy => ARRAY[kanon_distinct_l('diagnosis', 2)]")) ne '', 1, 'a column that is kept and asked about is set aside once');
$main->safe_psql('postgres', 'DROP TABLE far; REVOKE SELECT ON by_id FROM doctor');
is(KanonNode::as($main, 'doctor', 'postgres', publish('by_id', 'far')), '42501', 'who may not read, reads nothing');
$main->safe_psql('postgres', 'GRANT SELECT ON by_id TO doctor');

# Held after its rows were read, when the hierarchy is (for the second time: it was looked
# at before the source), while somebody inserts and commits.
KanonGate::create($main, 'here');
$main->safe_psql('postgres', <<'E');
CREATE VIEW ages AS SELECT a AS age, a / 10 * 10 AS level_1 FROM generate_series(20, 26) a WHERE (SELECT gate(nextval('ticket')::int));
E
my $held = ", hierarchies => '{\"age\": \"ages\"}'";
foreach my $distribute ('auto', 'off')
{
	my $holder = $main->background_psql('postgres');
	my $runner = $main->background_psql('postgres', on_error_stop => 0);
	my $pid = $runner->query('SELECT pg_backend_pid()');

	$runner->query_safe("SET kanon.distribute = '$distribute'");
	$holder->query_safe("SELECT setval('ticket', 1, false), pg_advisory_lock(2)");
	KanonGate::start($runner, publish('by_id', 'far', $held));
	$main->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' OR state = 'idle' FROM pg_stat_activity WHERE pid = $pid");
	$main->safe_psql('postgres', "INSERT INTO by_id SELECT 10000 + i, 'later', 20, 'z1', 0.5, 'later' FROM generate_series(1, 100) i");
	$holder->query_safe('SELECT pg_advisory_unlock_all()');
	$runner->query('SELECT 1');
	is(beside_empty($runner->{stderr}), '', "distribute = $distribute: rows that are committed meanwhile do no harm");
	is($main->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE diagnosis = 'later') FROM far"), '3000|0', 'and are not published');
	$main->safe_psql('postgres', "DROP TABLE IF EXISTS far; DELETE FROM by_id WHERE name = 'later'");
	$runner->quit;
	$holder->quit;
	left_behind("distribute = $distribute");
}

# Who runs it is ended there, or a worker dies.
foreach my $dies ('the session', 'a worker')
{
	my $holder = $main->background_psql('postgres');
	my $runner = $main->background_psql('postgres', on_error_stop => 0);
	my $pid = $runner->query('SELECT pg_backend_pid()');

	$holder->query_safe("SELECT setval('ticket', 1, false), pg_advisory_lock(2)");
	KanonGate::start($runner, publish('by_id', 'far', $held));
	$main->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' OR state = 'idle' FROM pg_stat_activity WHERE pid = $pid");
	if ($dies eq 'a worker')
	{
		$workers[0]->stop('immediate');
		$workers[0]->start;
	}
	else
	{
		$main->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	}
	$holder->query_safe('SELECT pg_advisory_unlock_all()');
	$main->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid AND state <> 'idle'");
	$main->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	eval { $runner->quit };
	$holder->quit;
	is($main->safe_psql('postgres', "SELECT to_regclass('far') IS NULL"), 't', "$dies dies: nothing is published");
	left_behind("$dies dies");
}

# What cannot be set aside takes the other way, and a NOTICE says so.
$main->safe_psql('postgres', 'CREATE VIEW odd AS SELECT age, zip, fee, diagnosis, 1 AS kanon_place FROM by_id');
($ret, $out, $err) = $main->psql('postgres', "SELECT FROM kanon_pattern_guided('odd', 'far', '{age,zip,fee}', 5, keep => '{diagnosis,kanon_place}')");
like($err, qr/NOTICE:  the rows of public\.odd cannot be set aside on the workers: this server reads and writes them\nDETAIL:  Trying that ended with SQLSTATE 42701\./,
	'a NOTICE says why');
is($main->safe_psql('postgres', 'SELECT count(*) FROM far'), '3000', 'and it is published all the same');
left_behind('what cannot be set aside');

# By parts: row types are on the coordinator's disk, and the target is distributed all the same; where they fit into memory workers write it.
$main->safe_psql('postgres', <<'E');
CREATE TABLE many (site int, a int, b int, c numeric, d int);
SELECT create_distributed_table('many', 'd');
INSERT INTO many SELECT i % 24, hashint4(i) & 31, hashint4(i + 1000000) & 15, CASE WHEN i % 3 = 0 THEN 1.50 ELSE 1.5 END + (hashint4(i + 2000000) & 31), i % 13 FROM generate_series(1, 16000) i;
CREATE TABLE many_here AS TABLE many;
E
my $by_parts = "'{site,a,b,c}', 5, partition_by => 'site', seed => 7, keep => '{d}', privacy => ARRAY[kanon_distinct_l('d', 2)]";
my $little = "SET work_mem = '64kB'; SET kanon.max_memory = '1MB'";
$main->safe_psql('postgres', "SELECT FROM kanon_pattern_guided('many_here', 'parts_here', $by_parts)");
foreach my $way (
	[ 'row types on disk', $little, qr/Row types were read by parts, too\..*NOTICE:  all rows of the target pass through this server, which writes them\nDETAIL:  Row types are on its disk, by parts\./s ],
	[ 'row types in memory', 'SELECT', qr/^(?!.*(read by parts|pass through)).*solved by parts/s ])
{
	my ($name, $before, $says) = @$way;

	($ret, $out, $err) = $main->psql('postgres', "$before; SELECT FROM kanon_pattern_guided('many', 'in_parts', $by_parts)");
	like($err, $says, "by parts, $name: what is said");
	is( $main->safe_psql('postgres', "SELECT count(*) FROM (SELECT site, a, b, c, d FROM in_parts EXCEPT ALL SELECT site, a, b, c, d FROM parts_here) AS r UNION ALL SELECT count(*) FROM in_parts"),
		"0\n16000", 'the release of a plain table');
	is($main->safe_psql('postgres', "SELECT partmethod FROM pg_dist_partition WHERE logicalrelid = 'in_parts'::regclass"), 'h', 'in a distributed table');
	$main->safe_psql('postgres', 'DROP TABLE in_parts');
	left_behind("by parts, $name");
}

# No data value in any log, of what kanon runs: the values are in what this test inserted.
foreach my $node ($main, @workers)
{
	my $log = slurp_file($node->logfile);
	my @said = grep { /secret \d|person \d/ } split /\n/, $log;

	is("@said", '', 'no value in the log of ' . $node->name);
}
$_->stop foreach $main, @workers;
done_testing();
