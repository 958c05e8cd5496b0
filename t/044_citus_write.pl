# A source that Citus has distributed makes a target that is: workers write it, by nothing
# of a person and in no order of the source's; whoever dies at whatever step, nothing stays
# behind; and what workers cannot do is done by this server, which says so.
use strict;
use warnings;
use Test::More;
use KanonCitus;
use KanonGate;
use KanonNode;
use PostgreSQL::Test::Utils;

my $plain = KanonNode::start('plain');
my $available = KanonCitus::available($plain);
$plain->stop;
plan skip_all => 'this server has no Citus' unless $available;

my ($main, @workers) = KanonCitus::start();
my $rows = "SELECT i AS id, 'person ' || i AS name, 20 + i % 7 AS age, CASE WHEN i % 11 > 0 THEN 'z' || i % 11 END AS zip, CASE WHEN i % 2 = 0 THEN 0.5 ELSE 0.50 END AS fee, 'secret ' || i * 7919 % 13 AS diagnosis, 'z' || i % 11 AS home FROM generate_series(1, 12000) i";
$main->safe_psql('postgres', <<"E");
CREATE TABLE here AS $rows;
CREATE TABLE many (LIKE here);
SELECT create_distributed_table('many', 'id');
INSERT INTO many TABLE here;
CREATE TABLE nearly (LIKE here);
SELECT create_distributed_table('nearly', 'id');
INSERT INTO nearly SELECT * FROM here WHERE id <= 9999;
GRANT SELECT ON here, many, nearly TO doctor;
CREATE ROLE reader LOGIN;
E

sub left_behind
{
	KanonCitus::left_behind($_[0], $main, @workers);
}

# As the doctor: what comes out, and what is said beside.
sub run
{
	my ($sql) = @_;
	my ($ret, $out, $err) = $main->psql('postgres', $sql, extra_params => [ '-U', 'doctor' ]);

	# (these releases show little of some columns)
	$err =~ s/^psql:\S+ NOTICE:  columns of the target that are nearly empty: .*\nDETAIL: .*\nHINT: .*\n?//mg;
	return ($out, $err);
}

sub ask
{
	return $main->safe_psql('postgres', $_[0]);
}

sub kind
{
	return ask("SELECT coalesce((SELECT format('%s %s', partmethod, repmodel) FROM pg_dist_partition WHERE logicalrelid = '$_[0]'::regclass), 'here')");
}

# ---- every model, with the same release as from a table here ----

# (home tells zip, which a table here is refused for)
my $allowed = "allow_identifying => '{home}'";
my $common = "keep => '{diagnosis,home}', $allowed, seed => 7";
my @models = (
	[ "kanon_pattern_guided('%s', '%s', '{age,zip,fee}', 60, mark => true, $common)", 'patterns and numbers in two spellings' ],
	[ "kanon_pattern_guided('%s', '%s', '{age,zip,fee}', 400, method => 'ilp', $common)", 'types that go to several classes' ],
	[ "kanon_pattern_guided('%s', '%s', '{age,zip}', 5, residual => 'drop', privacy => ARRAY[kanon_distinct_l('diagnosis', 13)], $common)", 'a privacy rule' ],
	[ "kanon_full_domain('%s', '%s', '{age,zip}', 300, hierarchies => '{\"age\": {\"interval\": [2, 4]}}', keep => '{diagnosis,home}', $allowed)", 'ranges of a hierarchy' ],
	[ "kanon_cluster('%s', '%s', '{age,zip}', 400, $common)", 'ranges and sets' ],
	[ "kanon_subtree('%s', '%s', '{age,zip}', 300, hierarchies => '{\"age\": {\"interval\": [2, 4]}, \"zip\": {\"prefix\": [1]}}', keep => '{diagnosis,home}', $allowed)", 'a subtree recoding' ],
	[ "kanon_freeform('%s', '%s', '{age,zip}', 5, 'sort_greedy', 100, $common)", 'freeform records' ]);
sub same_release
{
	my ($sql, $name, $workers) = @_;
	my ($qis) = $sql =~ /'(\{[^']*\})'/;
	my ($list) = $qis =~ /\{(.*)\}/;

	no warnings 'redundant';    # a dry run names the source alone
	my ($lines, $said) = run('SELECT * FROM ' . sprintf($sql, 'here', 'near'));
	unlike($said, qr/ERROR/, "$name: a table here is published");
	my ($out, $err) = run('SELECT * FROM ' . sprintf($sql, 'many', 'far'));
	# a seed is for tests, kanon_freeform says
	like($err, $sql =~ /freeform/ ? qr/^\S+ NOTICE:  an attacker who knows the seed [^\n]*\nHINT:[^\n]*\z/ : qr/^\z/, "$name: workers $workers kanon write them");
	is($out, $lines, "$name: the same release") unless $sql =~ /full_domain|subtree|freeform/;    # these say how long it took
	is(kind('far'), 'h s', "$name: the target is distributed");
	is(ask(<<"E"), '0|0', "$name: the same classes with as many rows each");
SELECT (SELECT count(*) FROM (SELECT $list, count(*) FROM far GROUP BY $list EXCEPT SELECT $list, count(*) FROM near GROUP BY $list) AS more),
       (SELECT count(*) FROM (SELECT $list, count(*) FROM near GROUP BY $list EXCEPT SELECT $list, count(*) FROM far GROUP BY $list) AS less)
E
	# what is kept goes with its row; who of a type that is divided goes where is drawn
	my $kept = $name =~ /several|freeform|ranges and sets/ ? 'diagnosis, home' : "$list, diagnosis, home";
	is(ask("SELECT count(*) FROM (SELECT $kept FROM far EXCEPT ALL SELECT $kept FROM near) AS more"), '0', "$name: the rows' own kept values");
	if ($list =~ /fee/)
	{
		is(ask('SELECT count(DISTINCT fee::text) FROM far WHERE fee IS NOT NULL'), '1', "$name: no row's own spelling");
	}
	ask('DROP TABLE near, far');
	left_behind($name);
}
same_release(@$_, 'with') foreach @models;

# A seed, or a hash of what somebody is, under a seed that is known, would let readers of logs try guesses: neither is in a
# query's text, or in its parameters.  (Transactions of Citus have numbers as well, and so has the hash of what is random.)
sub said_numbers
{
	return join('', grep { /(?<![\w.=])-?\d{12,}(?!\w)/ && !/assign_distributed_transaction_id|uuid_hash_extended|log segment/ } map { split /^/, slurp_file($_->logfile) } $main, @workers);
}
is(said_numbers(), '', 'no server logs seeds or hashes');
my $before = length slurp_file($main->logfile);
ask("LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; SELECT FROM kanon_pattern_guided('many', 'explained', '{age,zip,fee}', 400, method => 'ilp', $common)");
my $explained = substr(slurp_file($main->logfile), $before);
like($explained, qr/Query Text: [^\n]*kanon_numbers_\d+/, 'statements of kanon are explained');
unlike($explained, qr/Query Text: INSERT INTO \S*kanon_numbers_/, 'and none of them has such numbers as a parameter');
is(said_numbers(), '', 'nor does it say them');
ask('DROP TABLE explained');

# Each shard's rows are joined, sorted and written on its worker, by one statement: nothing of them is put into files in between.
foreach my $worker (@workers)
{
	my $log = slurp_file($worker->logfile);

	like($log, qr/kanon_internal.kanon_row_type\([^\n]*ROW\(/, 'row types are told once');
	like($log, qr/CREATE UNLOGGED TABLE public\.kanon_staging_\d+ [^\n]*parallel_workers=''0''/, 'and counted by one process a shard');
	like($log, qr/ ANY \(+SELECT[^\n]*kanon_numbers_\d+/, 'some are divided');
	like($log, qr/kanon_internal.kanon_shard_types\(t\.tableoid\)/, 'by looking at them');
	like($log, qr/ FROM \(*public\.far_\d+ [^\n]*kanon_internal.kanon_shard_rows\(t\.tableoid[^\n]*GROUP BY [^\n]*NULL::xid/, 'and so are those of the target, which is grouped without being sorted');
	like($log, qr/kanon_internal.kanon_shard_rows\(t\.tableoid, \d+, '\{[^\n]*diagnosis/, 'and kept columns are counted with them');
	unlike($log, qr/kanon_internal.kanon_sampled\(/, 'in no reading of their own');
	like($log, qr/kanon_internal.kanon_shard_write\(t\.tableoid/, 'and looked up');
	unlike($log, qr/gen_random_uuid|hash_record_extended/, 'and hashed once');
	like($log, qr/INSERT INTO \S+_\d+ [^\n]*SELECT[^\n]*kanon_mapping_\d+_classes/, 'shard by shard');
	unlike($log, qr/worker_partition_query_result[^\n]*kanon_mapping/, 'and in no other way');
}

# Workers that have no room to remember what they have told tell it again.
foreach my $worker (@workers)
{
	$worker->safe_psql('postgres', $_) foreach "ALTER SYSTEM SET work_mem = '64kB'", 'ALTER SYSTEM SET hash_mem_multiplier = 1';
	$worker->reload;
}
ask('CREATE TABLE wide (LIKE here)');
ask("SELECT create_distributed_table('wide', 'id')");
ask('INSERT INTO wide SELECT id, name, id % 6000, zip, fee, diagnosis, home FROM here; GRANT SELECT ON wide TO doctor');
is((run("SELECT FROM kanon_pattern_guided('wide', 'far', '{age}', 2, keep => '{diagnosis}')"))[1] . kind('far'), 'h s', 'thousands of row types in little memory');
is(ask('SELECT count(*) FROM (SELECT age FROM far GROUP BY age HAVING count(*) = 2) AS c'), '6000', 'each with its rows');
ask('DROP TABLE far');
# and a session with too little for all of them has rows joined with their classes
truncate($_->logfile, 0) foreach @workers;
is((run("SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SELECT FROM kanon_pattern_guided('wide', 'far', '{age}', 2, keep => '{diagnosis}')"))[1] . kind('far'), 'h s', 'thousands of row types, joined');
is(ask('SELECT count(*) FROM (SELECT age FROM far GROUP BY age HAVING count(*) = 2) AS c'), '6000', 'each with its rows, too');
unlike(slurp_file($_->logfile), qr/kanon_internal.kanon_shard_write\(/, 'and not looked up') foreach @workers;
foreach my $worker (@workers)
{
	$worker->safe_psql('postgres', $_) foreach 'ALTER SYSTEM RESET work_mem', 'ALTER SYSTEM RESET hash_mem_multiplier';
	$worker->reload;
}
# A column with the name that workers' counts have, and a target in whose pages Citus need not find a first row: grouped by values.
$_->safe_psql('postgres', 'SET citus.enable_ddl_propagation = off; CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler') foreach $main, @workers;
ask('CREATE VIEW counted AS SELECT id, age % 20 AS kanon_rows, diagnosis FROM wide; GRANT SELECT ON counted TO doctor');
foreach my $other ([ '', 'counted', 'kanon_rows' ], [ 'SET default_table_access_method = heap2;', 'wide', 'age' ])
{
	my ($set, $from, $column) = @$other;

	ask('DROP TABLE far');
	truncate($_->logfile, 0) foreach @workers;
	is((run("$set SELECT FROM kanon_pattern_guided('$from', 'far', '{$column}', 2, keep => '{diagnosis}')"))[1] . kind('far'), 'h s', "$column of $from");
	foreach (@workers)
	{
		like(slurp_file($_->logfile), qr/kanon_shard_types/, 'row types are counted');
		unlike(slurp_file($_->logfile), qr/kanon_shard_rows/, 'and the target is grouped by values');
	}
}
ask('DROP VIEW counted; DROP TABLE far, wide');

# What classes show reaches the workers as it is, whatever the type, and the session's settings.
ask(<<'E');
CREATE TYPE mood AS ENUM ('glad, or so', 'sad');
CREATE DOMAIN size AS numeric(6, 2);
CREATE TABLE typed_here (id int, born date, seen timestamptz, weight float8, stay interval, raw bytea, code char(3), name varchar(9), mood mood, kin regclass, size size, tags text[]);
INSERT INTO typed_here SELECT i, date '2001-02-03' + i % 3, timestamptz '2001-02-03 04:05:06.789+09' + i % 3 * interval '1 hour', 1 / (3 + i % 3)::float8, (i % 3 + 1.5) * interval '1 day',
    decode('00ff5c0' || i % 3, 'hex'), 'a' || i % 3, E'\\N\t\n\u00e9' || nullif(i % 3, 2), CASE i % 3 WHEN 0 THEN 'sad' ELSE 'glad, or so' END::mood, CASE i % 3 WHEN 0 THEN 'pg_class' ELSE 'pg_type' END::regclass, i % 3 + 0.25, ARRAY['\N', 'a"b', NULL]
    FROM generate_series(1, 12000) i;
CREATE TABLE typed (LIKE typed_here);
SELECT create_distributed_table('typed', 'id');
INSERT INTO typed TABLE typed_here;
GRANT SELECT ON typed, typed_here TO doctor;
E
my $session = "SET client_encoding = 'LATIN1'; SET DateStyle = 'SQL, DMY'; SET IntervalStyle = 'sql_standard'; SET extra_float_digits = -10; SET TimeZone = 'Asia/Tokyo'; SET bytea_output = 'escape';";
my $err;
# (arrays have no binary form that depends on nothing else: workers hash them when they write)
foreach my $typed ('born,seen,weight,stay,raw,code,name,size,tags', 'born,seen,weight,stay,raw,code,name,size')
{
	foreach my $from ([ 'typed', 'far' ], [ 'typed_here', 'near' ])
	{
		(undef, $err) = run("$session SELECT FROM kanon_pattern_guided('$from->[0]', '$from->[1]', '{$typed}', 60, keep => '{id}', allow_identifying => '{id}')");

		is($err, '', "$from->[0]: values of many types");
	}
	is(kind('far'), 'h s', 'workers write them');
	is(ask("SELECT count(*) FROM (SELECT id, $typed FROM far EXCEPT SELECT id, $typed FROM near) AS more"), '0', 'and they are the same');
	is(ask("SELECT count(DISTINCT ($typed)) FROM far"), '3', 'none of them suppressed');
	ask('DROP TABLE far, near');
}
# (glad before sad, and pg_type after pg_class)
foreach my $numbered ([ 'mood', '8000 4000' ], [ 'kin', '4000 8000' ])
{
	my ($column, $rows) = @$numbered;

	(undef, $err) = run("SELECT FROM kanon_pattern_guided('typed', 'far', '{$column}', 60)");
	like($err, qr/DETAIL:  Column "$column" is of a type that each server hashes in its own way\.\z/, "$column is hashed by numbers that each server has for itself");
	is(kind('far') . ask("SELECT string_agg(n::text, ' ' ORDER BY $column\::text) FROM (SELECT $column, count(*) AS n FROM far GROUP BY $column) AS c"), "h s$rows", 'and is published all the same');
	ask('DROP TABLE far');
}
ask('DROP TABLE typed, typed_here');

# ---- where rows are, and in which order ----

(undef, $err) = run("SELECT FROM kanon_pattern_guided('many', 'far', '{zip,fee}', 100, patterns => '{*-}', keep => '{id,home}', allow_identifying => '{id}')");
like($err, qr/ERROR:  kept column "home" tells the quasi-identifier "zip"/, 'a copy of what is hidden is found where workers write');
(undef, $err) = run("SELECT FROM kanon_pattern_guided('many', 'far', '{zip,fee}', 100, patterns => '{*-}', keep => '{id,home}', allow_identifying => '{id,home}')");
is($err, '', 'a target whose rows can be told apart');
# per shard: rows, then how the order goes with that of the source, its shards, its values
my @shards = split /\n/, ask(<<'E');
SELECT string_agg(result, E'\n') FROM run_command_on_shards('far', $$
    SELECT count(*) || ' ' || coalesce(corr(place, id), 0) || ' ' || coalesce(corr(place, home), 0)
    FROM (SELECT row_number() OVER (ORDER BY ctid) AS place, id, substr(home, 2)::int AS home FROM %s) AS r $$)
E
is(scalar(@shards), 4, 'every shard has rows');
foreach my $shard (@shards)
{
	my ($n, $id, $home) = split / /, $shard;

	# six deviations of what chance gives: once in 10^9 runs
	ok(abs($n - 3000) < 6 * sqrt(12000 * 3 / 16), 'a quarter of them, by chance');
	ok(abs($id) < 6 / sqrt($n), 'the order of the source is not there');
	ok(abs($home) < 6 / sqrt($n), 'nor that of the types in a class');
}
is(ask(<<'E'), 't', 'nor does the shard tell that of the source');
SELECT max(abs(n - 12000 / 16.0)) < 7 * sqrt(12000 / 16.0)
FROM (SELECT count(*) AS n FROM far GROUP BY get_shard_id_for_distribution_column('far', kanon_shard), get_shard_id_for_distribution_column('many', id)) AS c
E
is(ask("SELECT corr(kanon_shard, id) BETWEEN -0.06 AND 0.06 AND count(DISTINCT kanon_shard) > 11990 FROM far"), 't', 'nor the column by which rows go there');
ask('DROP TABLE far');
run("SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, patterns => '{--}', keep => '{diagnosis}')");
is(ask(<<'E'), 't', 'rows of a class lie together in each shard');
SELECT bool_and(result::bool) FROM run_command_on_shards('far', $$
    SELECT count(*) FILTER (WHERE (age, zip) IS DISTINCT FROM (last_age, last_zip)) = count(DISTINCT (age, zip))
    FROM (SELECT age, zip, lag(age) OVER w AS last_age, lag(zip) OVER w AS last_zip FROM %s WINDOW w AS (ORDER BY ctid)) AS r $$)
E

# A class that takes one type whole and of another a part has them mixed, and just so many.
ask('DROP TABLE far; CREATE TABLE two (LIKE here)');
ask("SELECT create_distributed_table('two', 'id')");
ask("INSERT INTO two SELECT i, 'x', 1, CASE WHEN i <= 8000 THEN 'a' ELSE 'b' END, 0, 'd', CASE WHEN i <= 8000 THEN 1 ELSE 2 END FROM generate_series(1, 12000) i; GRANT SELECT ON two TO doctor");
(undef, $err) = run("SELECT FROM kanon_pattern_guided('two', 'far', '{age,zip}', 6000, method => 'ilp', patterns => '{--,-*}', keep => '{home,id}', allow_identifying => '{home,id}')");
is($err, '', 'a type is divided');
is(ask("SELECT string_agg(concat_ws(' ', zip, home, n), ', ' ORDER BY zip, home) FROM (SELECT zip, home, count(*) AS n FROM far GROUP BY 1, 2) AS c"), 'a 1 6000, 1 2000, 2 4000', 'exactly');
foreach my $line (split /\n/, ask(<<'E'))
SELECT string_agg(result, E'\n') FROM run_command_on_shards('far', $$
    SELECT count(*) || ' ' || corr(place, home::int) || ' ' || corr(place, id) FROM (SELECT row_number() OVER (ORDER BY ctid) AS place, home, id FROM %s WHERE zip IS NULL) AS r $$)
E
{
	my ($n, $home, $id) = split / /, $line;

	ok(abs($home) < 6 / sqrt($n) && abs($id) < 6 / sqrt($n), 'and its part lies anywhere in the class');
}
is(ask("SELECT abs(corr((zip IS NULL)::int, id)) < 6 / sqrt(8000) FROM far WHERE home = '1'"), 't', 'whoever is first in the source');
ask('DROP TABLE far');

# ---- kinds of targets ----

run("SELECT FROM kanon_pattern_guided('nearly', 'far', '{age,zip}', 60, keep => '{diagnosis}')");
is(kind('far'), 'n t', 'a small target is on every server');
run("SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, keep => '{diagnosis}', replace => true)");
is(kind('far') . ask('SELECT count(*) FROM far'), 'n t12000', 'and stays so when it is replaced');
ask('DROP TABLE far');
run("SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60)");
is(kind('far') . ask('SELECT count(*) FROM far'), 'h s12000', 'without kept columns, too');
ask('GRANT SELECT ON far TO reader');
(undef, $err) = run("SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, keep => '{diagnosis}', replace => true)");
is($err . kind('far'), 'h s', 'a distributed one stays so');
is(KanonNode::as($main, 'reader', 'postgres', 'SELECT count(*) FROM far'), '12000', 'for its readers, too');
(undef, $err) = run("SELECT FROM kanon_pattern_guided('here', 'far', '{age,zip}', 60, keep => '{diagnosis}', replace => true)");
is($err . kind('far') . ask('SELECT count(*) FROM far'), 'h s12000', 'whatever its new source is');
(undef, $err) = run("SET kanon.distribute = off; SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, keep => '{diagnosis}', replace => true)");
is($err . kind('far'), 'here', 'kanon.distribute = off: a table of this server');
(undef, $err) = run("SET kanon.distribute = off; SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, keep => '{diagnosis}', replace => true)");
is($err . kind('far'), 'here', 'which stays one');
ask("GRANT SELECT ON far TO reader; COMMENT ON TABLE far IS 'of the clinic'");
(undef, $err) = run("SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, keep => '{diagnosis}', replace => true)");
like($err, qr/^\S+ NOTICE:  target public\.far was a table of this server, and the workers have it now\nHINT:  SET kanon\.distribute = 'off' keeps it here\.$/, 'without it the workers replace it, which is said');
is(kind('far') . ask('SELECT count(*) FROM far'), 'h s12000', 'by one of their own');
is(KanonNode::as($main, 'reader', 'postgres', "SELECT count(*), obj_description('far'::regclass) FROM far"), '12000|of the clinic', 'for its readers, and with its comment');
ask('DROP TABLE far');
run('CREATE TABLE far (a int)');
(undef, $err) = run("SELECT FROM kanon_pattern_guided('nearly', 'far', '{age,zip}', 60, keep => '{diagnosis}', replace => true)");
like($err, qr/the workers have it now/, 'a small one, too');
is(kind('far'), 'n t', 'which is on every server then');
ask('DROP TABLE far');
run('CREATE TABLE far (a int)');
(undef, $err) = run("SELECT FROM kanon_pattern_guided('here', 'far', '{age,zip}', 60, keep => '{diagnosis}', replace => true)");
is($err . kind('far'), 'here', 'that of a table of this server stays here');
ask('DROP TABLE far');
left_behind('kinds');

# ---- a publication ----

(undef, $err) = run("SELECT FROM kanon_create_publication('nightly', 'many', '{age,zip}', 60, options => '{\"keep\": [\"diagnosis\"]}')");
# unchanged rows keep their company, which this server knows
my $here = qr/DETAIL:  Which rows were in which class of the release before is known here\./;
like($err, $here, 'a publication of it is written here, and says why');
ask('GRANT SELECT ON nightly TO reader');
(undef, $err) = run("SELECT FROM kanon_refresh('nightly')");
like($err, $here, 'and its next release');
my $release = ask("SELECT string_agg(logicalrelid::text, ',') FROM pg_dist_partition WHERE logicalrelid::text ~ 'nightly_release_2'");
is(kind($release), 'h s', 'is distributed');
is(KanonNode::as($main, 'reader', 'postgres', 'SELECT count(*) FROM nightly'), '12000', 'a reader of the view has it');
is(ask("SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'nightly'::regclass AND attnum > 0"), 'age,zip,diagnosis', 'without the column that spreads it');
ask("DELETE FROM many WHERE id > 9000");
(undef, $err) = run("SELECT FROM kanon_refresh('nightly')");
$release = ask("SELECT string_agg(logicalrelid::text, ',') FROM pg_dist_partition WHERE logicalrelid::text ~ 'nightly_release_3'");
is(kind($release), 'h s', 'a release that is small keeps the kind of the one before');
run("SELECT FROM kanon_drop_publication('nightly')");
ask("INSERT INTO many SELECT * FROM here WHERE id > 9000");
left_behind('a publication');

# ---- what workers cannot do ----

foreach my $case (
	[ "keep => '{name}', mask => '{\"name\": {\"pseudonym\": \"release\"}}'", 'Kept columns are masked\.' ],
	[ "keep => '{diagnosis}', privacy => ARRAY[kanon_alpha('diagnosis', 0.9), kanon_subject('id')]", 'A privacy rule counts persons, and classes may look alike\.' ])
{
	my ($options, $why) = @$case;

	(undef, $err) = run("SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, $options)");
	like($err, qr/^\S+ NOTICE:  all rows of the target pass through this server, which writes them\nDETAIL:  $why\z/, $why);
	is(kind('far') . ask('SELECT count(*), count(DISTINCT kanon_shard) > 11990 FROM far'), 'h s12000|t', 'and it is distributed all the same');
	ask('DROP TABLE far');
}
ask("CREATE TABLE odd (id int, age int, price money, tags text[]); SELECT create_distributed_table('odd', 'id'); INSERT INTO odd SELECT i, i % 5, (i % 3)::money, '{x}' FROM generate_series(1, 12000) i; GRANT SELECT ON odd TO doctor");
(undef, $err) = run("SELECT FROM kanon_pattern_guided('odd', 'far', '{age,price}', 60)");
like($err, qr/DETAIL:  Column "price" is of a type without a hash function\.\z/, 'a type without a hash');
is(kind('far') . ask('SELECT count(*) FROM far'), 'h s12000', 'is published');
ask('DROP TABLE far');
# and one whose hash says nothing
foreach my $node ($main, @workers)
{
	$node->safe_psql('postgres', <<'E');
SET citus.enable_ddl_propagation = off;
CREATE FUNCTION nothing(money) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 0';
CREATE FUNCTION nothing(money, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 0::bigint';
CREATE OPERATOR CLASS nothing DEFAULT FOR TYPE money USING hash AS OPERATOR 1 =, FUNCTION 1 nothing(money), FUNCTION 2 nothing(money, bigint);
E
}
my $not_told = qr/ERROR:  the rows that were set aside have other row types than workers reported\nDETAIL:[^\n]*\nHINT:/;
(undef, $err) = run("SELECT FROM kanon_pattern_guided('odd', 'far', '{age,price}', 60)");
my $alike = qr/ERROR:  row types have equal hashes with every seed\nHINT:  A type's hash function may be bad; SET kanon\.distribute = 'off'\.\z/;
like($err, $alike, 'row types with one hash are seen when workers tell them, whatever the seed');
(undef, $err) = run("SELECT FROM kanon_pattern_guided('odd', 'far', '{age,price,tags}', 60)");
like($err, $alike, 'or when they are mapped');
left_behind('what workers cannot do');

# ---- persons ----

# 3000 with four rows each; the same note in all rows of one, and one that each row has for itself
ask(<<'E');
CREATE TABLE visits_here AS SELECT i AS id, i % 3000 AS person, 20 + i % 3000 % 7 AS age, 'z' || i % 3000 % 11 AS zip, 'd' || i * 7919 % 13 AS diagnosis, md5((i % 3000)::text) AS note, md5('n' || i % 6000) AS half FROM generate_series(1, 12000) i;
CREATE TABLE visits (LIKE visits_here);
SELECT create_distributed_table('visits', 'id');
INSERT INTO visits TABLE visits_here;
GRANT SELECT ON visits, visits_here TO doctor;
E
foreach my $case (
	[ "'{age,zip}', 60, privacy => ARRAY[kanon_subject('person')], keep => '{diagnosis}'", 'persons are counted' ],
	[ "'{age,zip}', 45, privacy => ARRAY[kanon_subject('person')], residual => 'drop', patterns => '{--,-*}', keep => '{diagnosis}'", 'and rows left out' ],
	[ "'{age,zip}', 60, privacy => ARRAY[kanon_subject('person')]", 'without kept columns' ],
	[ "'{age,zip}', 60, privacy => ARRAY[kanon_subject('person'), kanon_distinct_l('diagnosis', 3)], keep => '{diagnosis}'", 'with another rule' ])
{
	my ($arguments, $name) = @$case;
	my ($lines) = run("SELECT * FROM kanon_pattern_guided('visits_here', 'near', $arguments, seed => 7)");
	my ($out, $said) = run("SELECT * FROM kanon_pattern_guided('visits', 'far', $arguments, seed => 7)");

	is($said, '', "$name: by workers, who write the rows");
	is($out, $lines, "$name: the same release");
	is(kind('far'), 'h s', "$name: distributed");
	is(ask('SELECT count(*) FROM (SELECT age, zip, count(*) FROM far GROUP BY 1, 2 EXCEPT SELECT age, zip, count(*) FROM near GROUP BY 1, 2) AS more'), '0', "$name: the same classes");
	ask('DROP TABLE near, far');
	left_behind($name);
}
foreach my $column ('note', 'half')
{
	my (undef, $near) = run("SELECT FROM kanon_pattern_guided('visits_here', 'near', '{age,zip}', 60, privacy => ARRAY[kanon_subject('person')], keep => '{$column}')");
	my (undef, $far) = run("SELECT FROM kanon_pattern_guided('visits', 'far', '{age,zip}', 60, privacy => ARRAY[kanon_subject('person')], keep => '{$column}')");

	like($far, qr/kept column "$column" identifies\nDETAIL:  Rows with a value that no other person has: 100 % in "$column"/, 'what all rows of a person share identifies');
	is($far, $near, 'as it does here');
}
# Rows go to another person of the same values before workers write them: the classes are the same.
ask(<<'E');
CREATE TABLE hold (what text);
CREATE FUNCTION swap() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
    staged regclass := (SELECT oid FROM pg_class WHERE relname ~ '^kanon_staging' AND relkind = 'r' LIMIT 1);
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'kanon_mapping') THEN
        EXECUTE format('UPDATE %s SET person = person %% 77', staged);
    END IF;
END $$;
CREATE EVENT TRIGGER swap ON ddl_command_end WHEN TAG IN ('CREATE TABLE AS') EXECUTE FUNCTION swap();
E
(undef, $err) = run("SELECT FROM kanon_pattern_guided('visits', 'far', '{age,zip}', 30, privacy => ARRAY[kanon_subject('person')], keep => '{diagnosis}')");
like($err, qr/A class breaks a privacy rule that counts persons/, 'persons who are others than they were are found');
ask('DROP EVENT TRIGGER swap; DROP TABLE hold');
left_behind('persons');

# ---- guards ----

(undef, $err) = run("SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, keep => '{diagnosis,name}')");
like($err, qr/ERROR:  kept column "name" identifies\nDETAIL:  Rows with a value that no other row has: 100 % in "name"\./, 'a kept column that identifies is refused');
left_behind('refused');

# Somebody moves rows from class to class once workers have written them: k still holds.
ask(<<'E');
CREATE TABLE hold (what text);
GRANT SELECT ON hold TO doctor;
CREATE FUNCTION move() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
    target regclass := to_regclass('far');
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() WHERE object_identity ~ 'kanon_mapping') THEN
        EXECUTE (SELECT what FROM hold);
    END IF;
END $$;
CREATE EVENT TRIGGER move ON sql_drop EXECUTE FUNCTION move();
E
foreach my $change (
	[ "UPDATE far SET age = 21 WHERE kanon_shard = (SELECT min(kanon_shard) FROM far WHERE age = 22)", qr/A class has other rows than the release gave it/ ],
	[ "DELETE FROM far WHERE kanon_shard = (SELECT min(kanon_shard) FROM far WHERE age = 22)", qr/It has 11999 rows instead of 12000/ ],
	[ "UPDATE far SET age = 70 WHERE kanon_shard = (SELECT min(kanon_shard) FROM far WHERE age = 22)", qr/A class has 1 rows, k is 60/ ])
{
	my ($statement, $says) = @$change;

	$main->safe_psql('postgres', 'TRUNCATE hold; INSERT INTO hold VALUES (' . "\$s\$$statement\$s\$" . ')');
	(undef, $err) = run("SELECT FROM kanon_pattern_guided('many', 'far', '{age}', 60, keep => '{diagnosis}')");
	like($err, $says, 'what was changed meanwhile is found');
}
ask('DROP EVENT TRIGGER move');
left_behind('what was changed');

# And what is made for them, before they do.
ask(<<'E');
CREATE FUNCTION meddle() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
    made text;
BEGIN
    SELECT object_identity INTO made FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ (SELECT split_part(what, ':', 1) FROM hold);
    IF made IS NOT NULL THEN
        EXECUTE format((SELECT split_part(what, ':', 2) FROM hold), made);
    END IF;
END $$;
CREATE EVENT TRIGGER meddle ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS') EXECUTE FUNCTION meddle();
E
foreach my $change (
	[ 'kanon_mapping: ALTER TABLE %s ADD extra int', qr/The table that gives rows their classes has other columns than it should/ ],
	[ 'far: ALTER TABLE %s ADD CHECK (true)', qr/It has other columns than those that were listed, or constraints/ ])
{
	my ($statement, $says) = @$change;

	ask("TRUNCATE hold; INSERT INTO hold VALUES ('$statement')");
	(undef, $err) = run("SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, keep => '{diagnosis}')");
	like($err, $says, $statement);
}
# The rows that were set aside, before they are grouped.
ask(<<'E');
CREATE FUNCTION spoil(change text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    staged regclass := (SELECT oid FROM pg_class WHERE relname ~ '^kanon_staging' AND relkind = 'r' LIMIT 1);
BEGIN
    IF staged IS NOT NULL THEN
        EXECUTE format('CREATE TEMP TABLE spoiled AS TABLE %s', staged);
        EXECUTE format(change, 'spoiled');
        EXECUTE format('TRUNCATE %s', staged);
        EXECUTE format('INSERT INTO %s TABLE spoiled', staged);
        DROP TABLE spoiled;
    END IF;
    RETURN true;
END $$;
E
my $unreadable = qr/ERROR:  the reports of workers on row types cannot be read/;
foreach my $change (
	[ 'UPDATE %%s SET kanon_packed = substr(kanon_packed, 1, 12)', $not_told, 'values that nobody has told' ],
	[ 'UPDATE %%s SET kanon_packed = NULL', $not_told, 'no hash' ],
	[ 'DELETE FROM %%s', $not_told, 'no rows' ],
	[ 'DELETE FROM %%s WHERE ctid IN (SELECT min(ctid) FROM %%1$s)', $not_told, 'a row less' ],
	[ 'UPDATE %%s SET kanon_packed = substr(kanon_packed, 1, 3)', $unreadable, 'too short for a lot' ],
	[ 'UPDATE %%s SET kanon_packed = substr(kanon_packed, 1, 11)', $unreadable, 'too short for a hash' ],
	[ 'UPDATE %%s SET kanon_packed = substr(kanon_packed, 1, 14)', $unreadable, 'too short for the size of a value' ],
	[ 'UPDATE %%s SET kanon_packed = substr(kanon_packed, 1, 17)', $unreadable, 'too short for a value' ],
	[ 'UPDATE %%s SET kanon_packed = kanon_packed || kanon_packed', $unreadable, 'more than the values' ],
	[ 'UPDATE %%s SET kanon_packed = set_byte(substr(kanon_packed, 1, 20) || substr(kanon_packed, 1, 1) || substr(kanon_packed, 21), 15, 5) WHERE octet_length(kanon_packed) > 12', $unreadable, 'more than a value' ],
	[ 'UPDATE %%s SET kanon_packed = overlay(kanon_packed PLACING int8send(kanon_internal.kanon_row_type_hash(kanon_packed) + 1) FROM 5 FOR 8)', qr/It has 0 rows instead of 12000/, 'hashes of other values' ])
{
	my ($statement, $says, $name) = @$change;

	ask("TRUNCATE hold; INSERT INTO hold VALUES ('far: SELECT spoil(''$statement'')')");
	(undef, $err) = run("SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, keep => '{diagnosis}')");
	like($err, $says, $name);
}
# By parts nothing is packed, and it is the same.
ask(<<'E');
CREATE TABLE parts (site int, a int, b int, c int, d int);
SELECT create_distributed_table('parts', 'd');
INSERT INTO parts SELECT i % 24, hashint4(i) & 31, hashint4(i + 1000000) & 15, hashint4(i + 2000000) & 31, i % 13 FROM generate_series(1, 16000) i;
GRANT SELECT ON parts TO doctor;
E
ask("TRUNCATE hold; INSERT INTO hold VALUES ('far: SELECT spoil(''DELETE FROM %%s WHERE ctid IN (SELECT min(ctid) FROM %%1\$s)'')')");
(undef, $err) = run("SET work_mem = '64kB'; SET kanon.max_memory = '1MB'; SELECT FROM kanon_pattern_guided('parts', 'far', '{site,a,b,c}', 5, partition_by => 'site', keep => '{d}')");
like($err, $not_told, 'a row less, by parts');
ask('DROP TABLE parts');
# Two row types with one hash: the rows are set aside again, under a seed for which that is not so.
ask("TRUNCATE hold; INSERT INTO hold VALUES ('far: SELECT spoil(''UPDATE %%s SET kanon_packed = overlay(kanon_packed PLACING int8send(1) FROM 5 FOR 8)'')')");
(undef, $err) = run("SET client_min_messages = debug1; SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, keep => '{diagnosis}')");
is(() = $err =~ /DEBUG:  two row types have the same hash: rows are set aside under another seed/g, 1, 'row types with one hash: another seed');
is(kind('far') . ask('SELECT count(*) FROM far'), 'h s12000', 'within the call');
run("SELECT FROM kanon_pattern_guided('here', 'near', '{age,zip}', 60, keep => '{diagnosis}')");
is(ask('SELECT count(*) FROM (SELECT age, zip, diagnosis FROM far EXCEPT ALL SELECT age, zip, diagnosis FROM near) AS more'), '0', 'and the rows are those of the source');
ask('DROP TABLE near, far');
ask('DROP EVENT TRIGGER meddle');

# And once they have been grouped, where types are divided: a hierarchy is read then.
ask(<<'E');
TRUNCATE hold;
CREATE VIEW spoiled AS SELECT a AS age, 'all' AS level_1 FROM generate_series(1, 9) a WHERE (SELECT bool_and(spoil(what)) IS NOT FALSE FROM hold);
GRANT SELECT ON spoiled TO doctor;
CREATE TABLE three (LIKE here);
E
ask("SELECT create_distributed_table('three', 'id')");
ask("INSERT INTO three SELECT i, 'x', 1, CASE WHEN i <= 4000 THEN 'a' WHEN i <= 8000 THEN 'b' ELSE 'c' END, 0, 'd', 'e' FROM generate_series(1, 10000) i; GRANT SELECT ON three TO doctor");
my $divided = "SELECT FROM kanon_pattern_guided('three', 'far', '{age,zip}', 3000, method => 'ilp', patterns => '{--,-*}', keep => '{diagnosis}', hierarchies => '{\"age\": \"spoiled\"}')";
is((run($divided))[1], '', 'types are divided');
is(ask('SELECT count(*) FROM far WHERE zip IS NULL'), '3000', 'so that few rows are suppressed');
ask('DROP TABLE far');
foreach my $change (
	[ 'DELETE FROM %s WHERE kanon_shard %% 2 = 0', 'half of them' ],
	[ 'INSERT INTO %s SELECT * FROM %1$s', 'twice as many' ],
	[ 'DELETE FROM %s', 'none' ])
{
	my ($statement, $name) = @$change;

	ask("TRUNCATE hold; INSERT INTO hold VALUES (\$hold\$$statement\$hold\$)");
	(undef, $err) = run($divided);
	like($err, qr/ERROR:  the rows that were set aside have changed\nHINT:  Run the call again\./, $name);
}
ask('DROP VIEW spoiled; DROP TABLE three');
left_behind('what was meddled with');

# ---- whoever dies, at whatever step ----

ask(<<'E');
CREATE FUNCTION wait_for(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM hold WHERE hold.what = wait_for.what) THEN
        PERFORM pg_advisory_lock_shared(7);
    END IF;
END $$;
CREATE FUNCTION made() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wait_for(w) FROM (VALUES ('kanon_staging'), ('kanon_mapping')) AS v (w), pg_event_trigger_ddl_commands() AS c WHERE c.object_identity ~ w;
END $$;
CREATE FUNCTION dropped() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM wait_for('dropped ' || w) FROM (VALUES ('kanon_staging'), ('kanon_mapping')) AS v (w), pg_event_trigger_dropped_objects() AS c WHERE c.object_identity ~ w;
END $$;
CREATE EVENT TRIGGER made ON ddl_command_end EXECUTE FUNCTION made();
CREATE EVENT TRIGGER dropped ON sql_drop EXECUTE FUNCTION dropped();
E
# how each step is held: by the event triggers above, but for these
my %lock = (record => 'BEGIN; LOCK TABLE kanon_run_column IN SHARE MODE');
my $shard = ask("SELECT 'many_' || min(shardid) FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid) WHERE logicalrelid = 'many'::regclass AND nodeport = " . $workers[1]->port . " AND nodename = '" . $workers[1]->host . "'");
$lock{shard} = "SET citus.override_table_visibility = off; SET citus.enable_manual_changes_to_shards = on; BEGIN; LOCK TABLE $shard IN ACCESS EXCLUSIVE MODE";
foreach my $step ([ 'kanon_staging', 'before rows are set aside' ], [ 'shard', 'while they are' ], [ 'kanon_mapping', 'before workers write' ],
	[ 'dropped kanon_mapping', 'when they have written' ], [ 'dropped kanon_staging', 'before it is verified' ], [ 'record', 'after that' ])
{
	foreach my $dies ('the session', 'a worker')
	{
		my ($what, $when) = @$step;
		next if $dies eq 'a worker' && $what eq 'kanon_staging';    # nothing is there yet
		my $holder = ($what eq 'shard' ? $workers[1] : $main)->background_psql('postgres', on_error_stop => 0);
		my $runner = $main->background_psql('postgres', on_error_stop => 0);
		my $pid = $runner->query('SELECT pg_backend_pid()');

		ask("TRUNCATE hold; INSERT INTO hold VALUES ('$what')");
		$holder->query_safe($lock{$what} // 'SELECT pg_advisory_lock(7)');
		KanonGate::start($runner, "SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, keep => '{diagnosis}')");
		if ($what eq 'shard')
		{
			$workers[1]->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'relation')") or die;
		}
		else
		{
			$main->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' OR state = 'idle' FROM pg_stat_activity WHERE pid = $pid") or die;
		}
		if ($dies eq 'a worker')
		{
			$workers[0]->stop('immediate');
			$workers[0]->start;
		}
		else
		{
			ask("SELECT pg_terminate_backend($pid)");
		}
		$holder->query($lock{$what} ? 'ROLLBACK' : 'SELECT pg_advisory_unlock_all()');
		$main->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid AND state <> 'idle'");
		ask("SELECT pg_terminate_backend($pid)");
		eval { $runner->quit };
		$holder->quit;
		is(ask("SELECT to_regclass('far') IS NULL"), 't', "$dies dies $when: nothing is published");
		is(join('', map { $_->safe_psql('postgres', "SET citus.override_table_visibility = off; SELECT relname FROM pg_class WHERE relname ~ '^far'") } $main, @workers), '', 'on no server');
		left_behind("$dies dies $when");
	}
}
ask('DROP EVENT TRIGGER made; DROP EVENT TRIGGER dropped');
is((run("SELECT FROM kanon_pattern_guided('many', 'far', '{age,zip}', 60, keep => '{diagnosis}')"))[1] . kind('far'), 'h s', 'and the next one is published');

# A coordinator that has shards itself.
ask("SELECT citus_set_node_property('" . $main->host . "', " . $main->port . ", 'shouldhaveshards', true)");
ask("CREATE TABLE also (LIKE here); SELECT create_distributed_table('also', 'id', colocate_with => 'none'); INSERT INTO also TABLE here; GRANT SELECT ON also TO doctor");
is((run("SELECT FROM kanon_pattern_guided('also', 'further', '{age,zip}', 60, keep => '{diagnosis}')"))[1] . kind('further'), 'h s', 'this server may have shards, too');
is(ask("SELECT count(DISTINCT groupid) FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) WHERE logicalrelid = 'further'::regclass") . ' ' . ask('SELECT count(*) FROM further'), '3 12000', 'and then has some of the rows');
left_behind('with shards');

# Workers that say something else of kept columns: half of a value, and columns that are not there.
foreach my $instead ([ 'internal', "'int4send'" ], [ 'C', "'%s', 'kanon_row_type'" ])
{
	my ($language, $body) = @$instead;

	foreach my $worker (@workers)
	{
		my $library = $worker->safe_psql('postgres', "SELECT probin FROM pg_proc WHERE proname = 'kanon_row_type'");

		$worker->safe_psql('postgres', sprintf("SET citus.enable_ddl_propagation = off; CREATE OR REPLACE FUNCTION kanon_internal.kanon_sampled(forgotten integer, kept_values record) RETURNS bytea LANGUAGE $language STABLE AS $body", $language eq 'C' ? $library : ()));
	}
	(undef, $err) = run("SET default_table_access_method = heap2; SELECT FROM kanon_pattern_guided('many', 'farther', '{age,zip}', 60, keep => '{diagnosis}')");
	like($err, qr/ERROR:  the reports of workers on kept columns cannot be read/, "$language: no sample");
}
foreach my $told ('0000', '000100000000')
{
	$_->safe_psql('postgres', "SET citus.enable_ddl_propagation = off; CREATE OR REPLACE FUNCTION kanon_internal.kanon_shard_rows(shard oid, forgotten integer DEFAULT 0, kept name[] DEFAULT '{}') RETURNS SETOF record LANGUAGE sql IMMUTABLE AS \$\$ SELECT 20, 'z', '\\x$told'::bytea, 1::bigint \$\$")
	  foreach @workers;
	(undef, $err) = run("SELECT FROM kanon_pattern_guided('many', 'farther', '{age,zip}', 60, keep => '{diagnosis}')");
	like($err, qr/ERROR:  the reports of workers on kept columns cannot be read/, "$told: no sample beside rows");
}

# Workers that say NULL of what they have said is not, or count what cannot be.
sub worker_says { my ($sql) = @_; $_->safe_psql('postgres', "SET citus.enable_ddl_propagation = off; $sql") foreach @workers; }
my @honest = map { $main->safe_psql('postgres', "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = '$_'") } qw(kanon_sampled kanon_shard_rows kanon_shard_types kanon_row_type);
foreach my $told ('NULL', "'\\x0000'", "decode(repeat('00', 60000), 'hex')", "decode(repeat('ff', 6), 'hex')")
{
	worker_says("CREATE OR REPLACE FUNCTION kanon_internal.kanon_sampled(forgotten integer, kept_values record) RETURNS bytea LANGUAGE plpgsql VOLATILE AS \$\$ BEGIN RETURN CASE WHEN random() < 0.5 THEN $told ELSE decode(repeat('00', 6), 'hex') END; END \$\$");
	(undef, $err) = run("SET default_table_access_method = heap2; SELECT FROM kanon_pattern_guided('many', 'farther', '{age,zip}', 60, keep => '{diagnosis}')");
	like($err, qr/ERROR:  (the reports of workers on kept columns cannot be read|\S+ has NULL where)|^$/, "a sample that is $told");
	ask('DROP TABLE IF EXISTS farther');
}
foreach my $told ('0', '-5', '~(1::bigint << 63)', 'NULL::bigint', '1e11::bigint')
{
	worker_says("CREATE OR REPLACE FUNCTION kanon_internal.kanon_shard_rows(shard oid, forgotten integer DEFAULT 0, kept name[] DEFAULT '{}') RETURNS SETOF record LANGUAGE sql IMMUTABLE AS \$\$ SELECT 20, 'z', NULL::bytea, $told \$\$");
	worker_says("CREATE OR REPLACE FUNCTION kanon_internal.kanon_shard_types(shard oid) RETURNS SETOF record LANGUAGE sql IMMUTABLE AS \$\$ SELECT decode(repeat('00', 11) || '0232' || repeat('00', 5), 'hex'), $told \$\$");
	foreach my $call ("kanon_pattern_guided('many', 'farther', '{age,zip}', 60, keep => '{diagnosis}')", "kanon_check('many', '{age,zip}')", "kanon_pattern_guided('many', 'farther', '{age,zip}', 60)")
	{
		(undef, $err) = run("SELECT FROM $call");
		like($err, qr/ERROR:  (?!XX|server closed)|^$/, "$told rows: $call");
		is(ask("SELECT to_regclass('farther') IS NULL"), 't', 'and no release');
	}
}
# Fewer columns than were asked for, and more.
foreach my $told ("20, 1::bigint", "20, 'z', NULL::bytea, 1::bigint, 1", "'20'::text, 1, 'x'::text, 2")
{
	worker_says("CREATE OR REPLACE FUNCTION kanon_internal.kanon_shard_rows(shard oid, forgotten integer DEFAULT 0, kept name[] DEFAULT '{}') RETURNS SETOF record LANGUAGE sql IMMUTABLE AS \$\$ SELECT $told \$\$");
	(undef, $err) = run("SELECT FROM kanon_pattern_guided('many', 'farther', '{age,zip}', 60, keep => '{diagnosis}')");
	like($err, qr/ERROR:  /, "columns that nobody asked for: $told");
}
# They answer late: whoever asks is cancelled, and so are they.
foreach my $function ("kanon_internal.kanon_shard_rows(shard oid, forgotten integer DEFAULT 0, kept name[] DEFAULT '{}') RETURNS SETOF record LANGUAGE sql VOLATILE AS \$\$ SELECT 20 + length(pg_sleep(100)::text), 'z', NULL::bytea, 1::bigint \$\$",
	"kanon_internal.kanon_row_type(seed bigint, row_values record) RETURNS bytea LANGUAGE plpgsql VOLATILE AS \$\$ BEGIN PERFORM pg_sleep(100); RETURN NULL; END \$\$")
{
	worker_says($_) foreach @honest, "CREATE OR REPLACE FUNCTION $function";
	my $since = time;
	(undef, $err) = run("SET statement_timeout = '1s'; SELECT FROM kanon_pattern_guided('many', 'farther', '{age,zip}', 60, keep => '{diagnosis}')");
	like($err, qr/canceling statement due to statement timeout/, 'a worker that sleeps');
	cmp_ok(time - $since, '<', 20, 'is not waited for');
	ok($_->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE query ~ 'kanon_(shard_rows|row_type)' AND state = 'active' AND pid <> pg_backend_pid()"), 'nor goes on') foreach @workers;
}
left_behind('hostile workers');

# Honest workers, and shards whose values are others each time, and without end: an answer, or an error of its own.
worker_says($_) foreach @honest;
ask('CREATE TABLE fickle (id int, a int, zip text, num numeric, note text)');
ask("SELECT create_distributed_table('fickle', 'id', colocate_with => 'none')");
ask("INSERT INTO fickle SELECT i, i % 5, 'z' || i % 4, i % 6 * 1.5, 'd' || i % 3 FROM generate_series(1, 240) i; GRANT SELECT ON fickle TO doctor; SELECT kanon_set_budget('fickle', 1000, role => 'doctor')");
foreach my $node ($main, @workers)
{
	$node->safe_psql('postgres', "SET citus.enable_ddl_propagation = off; SET citus.enable_manual_changes_to_shards = on; SET citus.override_table_visibility = off;"
		  . 'CREATE OR REPLACE FUNCTION moody(anyelement) RETURNS anyelement IMMUTABLE LANGUAGE plpgsql AS $f$ BEGIN RETURN CASE WHEN random() < 0.7 THEN $1 END; END $f$;'
		  . join '', map { my $shard = $_; "ALTER TABLE $shard RENAME TO was_$shard; CREATE VIEW $shard AS SELECT moody(id) AS id, moody(a) AS a, moody(zip) AS zip, moody(num) AS num, moody(note) AS note FROM was_$shard; GRANT SELECT ON $shard TO doctor; GRANT SELECT ON was_$shard TO doctor;" }
			split ' ', $node->safe_psql('postgres', "SET citus.override_table_visibility = off; SELECT string_agg(relname, ' ') FROM pg_class WHERE relname ~ '^fickle_\\d+\$' AND relkind = 'r'"));
}
foreach my $call (map { ($_) x 3 } "pattern_guided('fickle', 'farther', '{a,zip,num}', 3, keep => '{note}', replace => true)", "cluster('fickle', 'farther', '{a,num}', 3, replace => true, privacy => ARRAY[kanon_subject('id')])", "freeform('fickle', 'farther', '{a,num}', 3, replace => true)",
	"anatomy('fickle', 'farther', 'farthest', '{a,zip}', 'note', 2, replace => true)", "transactions('fickle', 'farther', 'note', k => 2, transaction => 'id', replace => true)", "dp('fickle', 'sum', 1, 'num', lower => 0, upper => 9)", "dp('fickle', 'count', 1, by => '{note}', subject => 'id', delta => 0.01)",
	"check('fickle', '{a,zip}')", "check('fickle', '{a,zip}', 'id')", "risk('fickle', '{a,zip}')", "suggest('fickle')", "suggest_call('fickle')", "frontier('fickle', '{a,zip}', '{2,5}')")
{
	(undef, $err) = run("SELECT FROM kanon_$call");
	like($err, qr/ERROR:  (?!server closed|canceling)|^$|NOTICE/, "fickle shards: $call");
}
unlike(slurp_file($_->logfile), qr/terminated by signal \d|PANIC/, 'nothing has crashed on ' . $_->name) foreach $main, @workers;
left_behind('fickle shards');
ask('DROP TABLE IF EXISTS farther, farthest');

# Workers who have nothing of kanon.
ask('DELETE FROM pg_dist_object WHERE classid = $$pg_extension$$::regclass AND objid = (SELECT oid FROM pg_extension WHERE extname = $$kanon$$)');
foreach my $worker (@workers)
{
	$worker->safe_psql('postgres', 'SET citus.enable_ddl_propagation = off; DROP EXTENSION kanon');
}
ask("SELECT citus_set_node_property('" . $main->host . "', " . $main->port . ", 'shouldhaveshards', false)");
ask('DROP TABLE far, further');
same_release(@$_, 'without') foreach @models;
is(said_numbers(), '', 'nor without');

# No data value in any log, of what kanon runs: the values are in what this test inserted.
foreach my $node ($main, @workers)
{
	my @said = grep { /secret \d|person \d/ } split /\n/, slurp_file($node->logfile);

	is("@said", '', 'no value in the log of ' . $node->name);
}
$_->stop foreach $main, @workers;
done_testing();
