# Reading may be shared out among three parallel workers and more: the query that groups the
# source, though the planner expects many groups; and never where a function forbids it.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::new_node('main', conf => <<'E');
session_preload_libraries = 'auto_explain'
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
max_parallel_workers_per_gather = 3
min_parallel_table_scan_size = 0
E
plan skip_all => 'auto_explain is not installed' unless -e $node->config_data('--pkglibdir') . '/auto_explain.so';
$node->start;
$node->safe_psql('postgres', <<'E');
CREATE EXTENSION kanon;
CREATE TABLE person AS SELECT i % 7 AS a, i % 7 AS b, i % 7 AS c, i % 7 AS d, 'x' || i % 7 AS e FROM generate_series(1, 200000) i;
ANALYZE person;
CREATE FUNCTION unsafe(int) RETURNS int LANGUAGE plpgsql PARALLEL UNSAFE AS 'BEGIN RETURN $1; END';
CREATE VIEW careful AS SELECT unsafe(a) AS a, b, c, d, e FROM person WHERE a < 100;
E

# The plans of what is run for one call, of queries that group.
sub plans
{
	my ($sql) = @_;
	my $from = -s $node->logfile;

	$node->safe_psql('postgres', $sql);
	return grep { /GROUP BY/ } split /^(?=\d{4}-)/m, substr(slurp_file($node->logfile), $from);
}

my $columns = "'{a,b,c,d,e}'";
my $alone = join '', plans('SELECT a, b, c, d, e, count(*) FROM person GROUP BY 1, 2, 3, 4, 5');
unlike($alone, qr/Gather/, 'of so many groups as it expects the planner thinks a parallel plan too dear');
like(join('', plans("SELECT FROM kanon_pattern_guided('person', 'target', $columns, 5)")), qr/Gather/, 'kanon reads in parallel');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT (a, b, c, d, e)) FROM target'), '200000|7', 'every row once');
is(scalar(plans("SET max_parallel_workers_per_gather = 2; SELECT FROM kanon_pattern_guided('person', 'target', $columns, 5, replace => true)")),
	0, 'with two the rows are grouped as they come in, which is no query');
unlike(join('', plans("SELECT FROM kanon_pattern_guided('careful', 'target', $columns, 5, replace => true)")),
	qr/Gather/, 'but not where a function is not parallel safe');
unlike(join('', plans("SET max_parallel_workers_per_gather = 0; SELECT FROM kanon_pattern_guided('person', 'target', $columns, 5, replace => true)")),
	qr/Gather/, 'nor where the session allows no workers');
is($node->safe_psql('postgres', "SELECT FROM kanon_pattern_guided('person', 'target', $columns, 5, replace => true) \\g /dev/null\nSHOW parallel_tuple_cost"),
	'0.1', 'the session keeps its settings');
$node->stop;
done_testing();
