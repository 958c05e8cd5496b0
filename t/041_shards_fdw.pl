# One table on several servers: the partitions are foreign, each on a server of its
# own.  Their rows are grouped where they are; what is published is what the same rows
# in one table give; and nobody sees through it what reading the table does not show.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my $explain = <<'E';
session_preload_libraries = 'auto_explain'
auto_explain.log_min_duration = 0
auto_explain.log_analyze = on
auto_explain.log_timing = off
auto_explain.log_verbose = on
auto_explain.log_nested_statements = on
E
my $main = KanonNode::new_node('main', conf => $explain);
my ($sharedir, $libdir) = map { $main->config_data($_) } '--sharedir', '--pkglibdir';
foreach my $needed ("$sharedir/extension/postgres_fdw.control", "$libdir/auto_explain.so")
{
	plan skip_all => "$needed is not installed" unless -e $needed;
}
$main->start;
$main->safe_psql('postgres', 'CREATE EXTENSION kanon');

# The same ages and regions everywhere; numbers spelled differently.
my @shards = map { KanonNode::new_node("shard_$_") } 1 .. 3;
$_->start foreach @shards;
my $columns = 'shard int, age int, region text COLLATE "C", fee numeric, weight float8, diagnosis text';
foreach my $i (1 .. 3)
{
	$shards[$i - 1]->safe_psql('postgres', <<"E");
CREATE TABLE person ($columns);
INSERT INTO person SELECT $i, 20 + i % 5, CASE WHEN i % 7 > 0 THEN 'r' || i % 7 END, (i % 3 + 0.5)::numeric(9, $i)::numeric,
    CASE WHEN $i = 1 THEN '-0' ELSE '0' END::float8, 'd' || i % 11 FROM generate_series(1, 3000) i;
E
}
$main->safe_psql('postgres', <<"E");
CREATE EXTENSION postgres_fdw;
CREATE ROLE reader LOGIN;
CREATE ROLE guest LOGIN;
GRANT CREATE ON SCHEMA public TO reader, guest;
CREATE TABLE person ($columns) PARTITION BY LIST (shard);
E
foreach my $i (1 .. 3)
{
	my ($host, $port) = ($shards[$i - 1]->host, $shards[$i - 1]->port);

	$main->safe_psql('postgres', <<"E");
CREATE SERVER shard_$i FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', async_capable 'true');
CREATE USER MAPPING FOR PUBLIC SERVER shard_$i OPTIONS (user 'postgres', password_required 'false');
CREATE FOREIGN TABLE person_$i PARTITION OF person FOR VALUES IN ($i) SERVER shard_$i OPTIONS (table_name 'person');
E
}
$main->safe_psql('postgres', <<'E');
-- and some that are here, further down
CREATE TABLE person_here PARTITION OF person DEFAULT PARTITION BY RANGE (age);
CREATE TABLE person_young PARTITION OF person_here FOR VALUES FROM (0) TO (22);
CREATE TABLE person_old PARTITION OF person_here DEFAULT;
INSERT INTO person SELECT 4, 20 + i % 5, 'r1', 0.5, 0, 'd1' FROM generate_series(1, 500) i;
CREATE TABLE person_alone AS TABLE person;
GRANT SELECT ON person, person_1, person_2, person_3, person_here, person_young, person_old, person_alone TO reader;
GRANT SELECT ON person, person_alone TO guest;
E

# What came of a query, and the plans of everything that was run for it.
sub run_as
{
	my ($role, $sql) = @_;
	my $from = -s $main->logfile;
	my $out = KanonNode::as($main, $role, 'postgres', $sql);

	return ($out, substr(slurp_file($main->logfile), $from));
}

# What was grouped afar: rows that came from there, and from how many servers.
sub fetched
{
	my ($log) = @_;
	my ($rows, $servers) = (0, 0);

	while ($log =~ /Foreign Scan[^\n]*\(actual rows=(\d+)(?:\.\d+)? loops=1\)\n[^\n]*Output:[^\n]*\n[^\n]*Relations: Aggregate on \(public\.person_\d\)/g)
	{
		$rows += $1;
		$servers++;
	}
	return ($rows, $servers);
}

sub publish
{
	my ($source, $target, $rest) = @_;
	return "SELECT * FROM kanon_pattern_guided('$source', '$target', $rest)";
}

# Both tables are there, and the same; then they are gone.
sub same_rows
{
	my ($name) = @_;

	is($main->safe_psql('postgres', <<'E'), '0|0|t', "$name: the rows that the same table here gives");
SELECT (SELECT count(*) FROM (TABLE far EXCEPT ALL TABLE near) AS more),
       (SELECT count(*) FROM (TABLE near EXCEPT ALL TABLE far) AS less), (SELECT count(*) > 9000 FROM far)
E
	$main->safe_psql('postgres', 'DROP TABLE far, near');
}

my %calls = (
	'few columns' => [ "'{age,region}', 5", 'age, region' ],
	'numbers that are spelled differently' => [ "'{fee,age,weight}', 5", 'fee::text, age, weight::text' ],
	'the partition key' => [ "'{shard,region,fee}', 5", 'shard, region, fee::text' ]);
foreach my $name (sort keys %calls)
{
	my ($rest, $types) = @{ $calls{$name} };
	my ($far, $log) = run_as('reader', publish('person', 'far', $rest));
	my ($near) = run_as('reader', publish('person_alone', 'near', $rest));
	my ($rows, $servers) = fetched($log);
	my $most = $main->safe_psql('postgres', "SELECT count(*) FROM (SELECT DISTINCT $types FROM person_alone WHERE shard < 4) AS t");

	is($far, $near, "$name: the patterns, too");
	same_rows($name);
	is($servers, 3, "$name: every server groups its own rows");
	cmp_ok($rows, '<=', 3 * $most, "$name: and sends no more than its groups");
	cmp_ok($rows, '>', 0, "$name: which were counted");
	is(() = $log =~ /-> +Async Foreign Scan[^\n]*\n[^\n]*\n[^\n]*Relations: Aggregate/g, 3, "$name: all at the same time");
}

# With kept columns every row has to come; it comes once.
my $kept = "'{age,fee}', 5, keep => '{diagnosis}', mark => true";
my ($far_kept, $sent) = run_as('reader', publish('person', 'far', $kept));
is($far_kept, (run_as('reader', publish('person_alone', 'near', $kept)))[0], 'kept columns: the patterns, too');
same_rows('kept columns');
my @sent = $sent =~ /-> +Async Foreign Scan on public\.person_\d[^\n]*\(actual rows=(\d+)/g;
is(scalar(@sent), 3, 'kept columns: every server sends its rows, once, all at the same time');
is(eval { my $sum = 0; $sum += $_ foreach @sent; $sum }, $main->safe_psql('postgres', 'SELECT count(*) FROM person_alone WHERE shard < 4'), 'kept columns: each of them');

# One spelling of a number is published, wherever it is, and the same as from one table.
my $spelled = "SELECT count(DISTINCT fee::text) FILTER (WHERE fee = 0.5), string_agg(DISTINCT fee::text, ' '), string_agg(DISTINCT weight::text, ' ') FROM";
KanonNode::as($main, 'reader', 'postgres', publish($_->[0], $_->[1], "'{fee,weight}', 5")) foreach [ 'person', 'far' ], [ 'person_alone', 'near' ];
like($main->safe_psql('postgres', "$spelled far"), qr/^1\|.*\|-?0$/, 'numbers in three spellings are published in one');
is($main->safe_psql('postgres', "$spelled far"), $main->safe_psql('postgres', "$spelled near"), 'and in the same as from one table');
same_rows('spellings');

# What only counts rows is grouped there as well, by equality: numbers in any spelling.
foreach my $call ("kanon_check('%s', '{fee,region}')", "kanon_risk('%s', '{age,fee}')")
{
	my ($far, $log) = run_as('reader', 'SELECT * FROM ' . sprintf($call, 'person'));

	is($far, (run_as('reader', 'SELECT * FROM ' . sprintf($call, 'person_alone')))[0], sprintf("$call: as of one table", 'person'));
	is((fetched($log))[1], 3, 'every server groups its own rows');
}

# Nobody needs more rights than the table itself asks for.
my ($out, $log) = run_as('guest', publish('person', 'far', "'{age,region}', 5"));
run_as('guest', publish('person_alone', 'near', "'{age,region}', 5"));
like($out, qr/^--\|/, 'who may read the table, but not its partitions by themselves, publishes it');
is((fetched($log))[1], 0, 'and they are not read by themselves');
same_rows('without rights on partitions');

# The policies of the table do not hold for its partitions, and the other way round.
$main->safe_psql('postgres', <<'E');
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
CREATE POLICY young ON person USING (age < 22);
E
($out, $log) = run_as('reader', publish('person', 'far', "'{age,region}', 5"));
is($main->safe_psql('postgres', 'SELECT max(age), count(*) FROM far'), '21|3800', 'row-level security of the table holds');
is((fetched($log))[1], 0, 'its partitions are not read by themselves');
$main->safe_psql('postgres', <<'E');
DROP TABLE far;
ALTER TABLE person DISABLE ROW LEVEL SECURITY;
ALTER TABLE person_old ENABLE ROW LEVEL SECURITY;
E
($out, $log) = run_as('reader', publish('person', 'far', "'{age,region}', 5"));
is($main->safe_psql('postgres', 'SELECT count(*) FROM far'), '9500', 'that of a partition does not hold for the table');
is((fetched($log))[1], 0, 'so that its partitions are not read by themselves');
$main->safe_psql('postgres', 'DROP TABLE far; ALTER TABLE person_old DISABLE ROW LEVEL SECURITY');

# A server is gone.
$shards[1]->stop;
is((run_as('reader', publish('person', 'far', "'{age,region}', 5")))[0], '08001', 'a server is gone: an error says so');
is($main->safe_psql('postgres', "SELECT to_regclass('far') IS NULL"), 't', 'and nothing is left behind');
$_->stop foreach @shards[ 0, 2 ], $main;
done_testing();
