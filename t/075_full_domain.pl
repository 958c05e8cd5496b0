# kanon_full_domain with parallel workers: that they take part, that a cancel ends
# them, and that the caller notices when one is gone.
use strict;
use warnings;
use IPC::Run;
use KanonNode;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = KanonNode::start('full_domain', conf => <<'E');
autovacuum = off
kanon.progress = off
max_worker_processes = 8
max_parallel_workers = 8
max_parallel_workers_per_gather = 0
E
$node->safe_psql('postgres', <<'E');
-- more row types than a check needs to be shared, and many nodes
CREATE TABLE many AS SELECT i % 50 AS a, i / 50 % 40 AS b, i / 2000 % 30 AS c, i / 60000 AS d, hashint4(i) & 7 AS e,
    hashint4(i + 1) & 3 AS f, hashint4(i + 2) & 7 AS g FROM generate_series(0, 99999) i;
CREATE TABLE a_h AS SELECT v, v / 3 AS l1, v / 9 AS l2, v / 18 AS l3 FROM generate_series(0, 49) v;
CREATE TABLE b_h AS SELECT v, v / 3 AS l1, v / 9 AS l2, v / 18 AS l3 FROM generate_series(0, 39) v;
CREATE TABLE c_h AS SELECT v, v / 3 AS l1, v / 9 AS l2, v / 18 AS l3 FROM generate_series(0, 29) v;
E
my $call = sub {
	my ($algorithm, $rest) = @_;
	return "kanon_full_domain('many', NULL, '{a,b,c,d,e,f}', 3, hierarchies => '{\"a\":\"a_h\",\"b\":\"b_h\",\"c\":\"c_h\"}', suppression_limit => 0.05, metric => 'entropy',
		method => '$algorithm', dry_run => true$rest)";
};
my $columns = 'pattern, metric_value, suppressed_rows, classes, nodes_checked, nodes_tagged';
my $workers = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'";

my $alone = $node->safe_psql('postgres', "SELECT $columns FROM " . $call->('flash', ''));
for my $n (1 .. 3)
{
	is($node->safe_psql('postgres', "SELECT $columns, workers FROM " . $call->('speedy', ", workers => $n")),
		"$alone|$n", "$n workers find the same");
}
is($node->safe_psql('postgres', 'SELECT workers FROM ' . $call->('speedy', '')), 0, 'none where the settings allow none');

my $ruled = ", keep => '{g}', privacy => ARRAY[kanon_distinct_l('g', 2)]";
my $ruled_alone = $node->safe_psql('postgres', "SELECT $columns FROM " . $call->('flash', $ruled));
isnt($ruled_alone, $alone, 'a rule about a sensitive column changes what is found');
is($node->safe_psql('postgres', "SELECT $columns, workers FROM " . $call->('speedy', "$ruled, workers => 2")),
	"$ruled_alone|2", 'and two workers who share its checks find the same');

# again and again, so that there are workers whenever we look
my $long = 'DO $d$ BEGIN FOR i IN 1..1000 LOOP PERFORM FROM '
  . $call->('speedy', ', workers => 2, explore => true') . '; END LOOP; END $d$';
for my $action ('pg_cancel_backend(leader_pid)', 'pg_terminate_backend(pid)')
{
	my ($out, $err) = ('', '');
	my $run = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c', $long ], '>', \$out, '2>', \$err);
	my $since = time;
	my $times = 0;

	while ($run->pumpable && time - $since < 60)
	{
		$times += $node->safe_psql('postgres',
			"SELECT count($action) FROM (SELECT pid, leader_pid FROM pg_stat_activity WHERE backend_type = 'parallel worker' LIMIT 1) w");
		$run->pump_nb;
	}
	$run->finish;
	cmp_ok($times, '>', 0, "$action: there were workers");
	like($err, qr/ERROR|FATAL/, "$action: the caller says so");
	cmp_ok(time - $since, '<', 60, "$action: soon");
	ok($node->poll_query_until('postgres', "SELECT ($workers) = 0"), "$action: no worker stays");
}
is($node->safe_psql('postgres', "SELECT $columns FROM " . $call->('speedy', ', workers => 2')), $alone, 'and it works again');

# The limits of the caller are those of the workers, of all that has some: time, and memory in all.
my $shared = 'SET client_min_messages = error; SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;';
my %pools = (
	'checks of full_domain' => 'SELECT FROM ' . $call->('speedy', ', workers => 2, explore => true'),
	'frontier' => "SELECT FROM kanon_frontier('many', '{a,b,c,d}', '{2,3,4,5,6,7,8}')",
	'parts of freeform' => "SELECT FROM kanon_freeform('many', NULL, '{a,b,c}', 8, partition_size => 100, dry_run => true)",
	'partitions' => "SELECT FROM kanon_pattern_guided('many', NULL, '{a,b,c,d}', 5, partition_by => 'd', dry_run => true)");
foreach my $pool (sort keys %pools)
{
	my %states = ();
	my $slowest = 0;

	foreach my $limit (map({ "SET statement_timeout = '${_}ms'" } 30, 100, 250, 500), map({ "SET kanon.max_memory = '${_}MB'" } 1, 4, 12, 24))
	{
		my $since = time;
		my $said = ($node->psql('postgres', "\\set VERBOSITY sqlstate\n$shared $limit;\n$pools{$pool}"))[2];

		$states{ $said =~ /(ERROR|FATAL|WARNING):  (\w+)/ ? "$1 $2" : $said }++;
		$slowest = time - $since if $limit =~ /timeout/ && time - $since > $slowest;
	}
	is(join(' ', grep { !/^(|ERROR (57014|53200|54000))$/ } keys %states), '', "$pool: under limits there is a release, or the limit is what is said");
	cmp_ok($states{'ERROR 57014'} // 0, '>', 0, "$pool: some are cancelled");
	cmp_ok($states{'ERROR 53200'} // 0, '>', 0, "$pool: and some have too little memory");
	cmp_ok($slowest, '<', 20, "$pool: soon");
	ok($node->poll_query_until('postgres', "SELECT ($workers) = 0"), "$pool: no worker stays");
}

# without workers to spare
$node->append_conf('postgresql.conf', 'max_parallel_workers = 0');
$node->reload;
$node->poll_query_until('postgres', "SELECT current_setting('max_parallel_workers') = '0'");
my ($code, $out, $err) = $node->psql('postgres', "SELECT $columns FROM " . $call->('speedy', ', workers => 2'));
is($out, $alone, 'without workers: the same');
like($err, qr/NOTICE:  0 of 2 parallel workers take part/, 'and a notice');

done_testing();
