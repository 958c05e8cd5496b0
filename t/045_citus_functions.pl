# Every function of kanon that reads a table, where the server has Citus, over every kind of table that Citus
# makes: what it says and publishes is what it says and publishes of the same rows in a table here.
use strict;
use warnings;
use Test::More;
use KanonCitus;
use KanonNode;
use PostgreSQL::Test::Utils;

my $plain = KanonNode::start('plain');
my $available = KanonCitus::available($plain);
$plain->stop;
plan skip_all => 'this server has no Citus' unless $available;

my ($main, @workers) = KanonCitus::start();
my $columns = 'id bigint, name text, age int, zip text, fee numeric, born date, diagnosis text, items text[], wants int';
$main->safe_psql('postgres', <<"E");
CREATE TABLE here ($columns);
INSERT INTO here SELECT i, 'person ' || i, 20 + i % 7, CASE WHEN i % 11 > 0 THEN 'z' || i % 11 END, CASE WHEN i % 2 = 0 THEN 0.5 ELSE 0.50 END,
    date '1950-01-01' + i % 40 * 300, 'secret ' || i % 13, ARRAY['a' || i % 3, 'b' || i % 5], 2 + i % 3 FROM generate_series(1, 1200) i;
CREATE TABLE by_id (LIKE here);
SELECT create_distributed_table('by_id', 'id');
CREATE TABLE by_text (LIKE here);
SELECT create_distributed_table('by_text', 'name');
CREATE TABLE parted ($columns) PARTITION BY RANGE (age);
CREATE TABLE parted_young PARTITION OF parted FOR VALUES FROM (0) TO (23);
CREATE TABLE parted_old PARTITION OF parted FOR VALUES FROM (23) TO (100);
SELECT create_distributed_table('parted', 'id');
CREATE TABLE in_columns ($columns) USING columnar;
SELECT create_distributed_table('in_columns', 'id');
CREATE TABLE everywhere (LIKE here);
SELECT create_reference_table('everywhere');
CREATE TABLE zips (zip text, region text);
SELECT create_reference_table('zips');
INSERT INTO zips SELECT 'z' || i, 'z' || i FROM generate_series(1, 10) i;
INSERT INTO by_id TABLE here;
INSERT INTO by_text TABLE here;
INSERT INTO parted TABLE here;
INSERT INTO in_columns TABLE here;
INSERT INTO everywhere TABLE here;
CREATE VIEW seen AS SELECT * FROM by_id;
CREATE VIEW joined AS SELECT id, name, age, region AS zip, fee, born, diagnosis, items, wants FROM by_id LEFT JOIN zips USING (zip);
CREATE TABLE coarse AS SELECT * FROM here;
UPDATE coarse SET age = NULL WHERE age > 23;
CREATE TABLE ages AS SELECT a AS age, a / 10 * 10 AS level_1 FROM generate_series(20, 25) a;
CREATE TABLE decades AS SELECT a AS age, a / 10 * 10 AS level_1 FROM generate_series(20, 26) a;
CREATE TABLE regions AS SELECT 'z' || i AS zip, CASE WHEN i < 11 THEN 'z' || 11 + i % 2 END AS region FROM generate_series(1, 12) i;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO doctor;
SELECT kanon_set_budget(t, 1000, role => 'doctor') FROM unnest('{here,by_id,by_text,parted,in_columns,everywhere}'::regclass[]) AS t;
E

my $qis = "'{age,zip,fee}'";
my $levels = "hierarchies => '{\"age\": {\"interval\": [2, 4]}, \"zip\": {\"prefix\": [1]}}'";
my $domains = sprintf(q('{"age": [%s], "wants": [2, 3, 4]}'), join ', ', 20 .. 60);
my $gone = 'DROP TABLE out';
my $rows = "SELECT count(*), sum(hashtextextended(o::text, 0)) FROM out AS o; $gone";
my $number = "SELECT count(*) FROM out; $gone";

# What publishes, and what measures; {} is the source.  Of what draws by chance less is asked.
my %calls = (
	pattern_guided => "SELECT * FROM kanon_pattern_guided({}, 'out', $qis, 60, keep => '{diagnosis}', mark => true, seed => 7); $rows",
	'pattern_guided, by parts' => "SELECT * FROM kanon_pattern_guided({}, 'out', $qis, 60, partition_by => 'age', keep => '{diagnosis}', seed => 7); $rows",
	'pattern_guided, rules' => "SELECT * FROM kanon_pattern_guided({}, 'out', '{age,zip}', 5, privacy => ARRAY[kanon_distinct_l('diagnosis', 3), kanon_subject('id')], keep => '{diagnosis}', seed => 7); $rows",
	'pattern_guided, few columns' => "SELECT * FROM kanon_pattern_guided({}, 'out', $qis, 5, known_columns => 2, keep => '{diagnosis}', seed => 7); $rows",
	'pattern_guided, masks' => "SELECT * FROM kanon_pattern_guided({}, 'out', $qis, 60, keep => '{diagnosis}', mask => '{\"diagnosis\": {\"partial\": [3, 0]}}', seed => 7); $rows",
	pattern_clustering => "SELECT * FROM kanon_pattern_clustering({}, 'out', '{age,zip}', 60, keep => '{diagnosis}', patterns => '{**}', seed => 7); $number",
	cluster => "SELECT * FROM kanon_cluster({}, 'out', '{age,zip}', 60, keep => '{diagnosis}', seed => 7); SELECT count(DISTINCT (age, zip)) FROM out; $number",
	full_domain => "SELECT pattern, verdict FROM kanon_full_domain({}, 'out', '{age,zip}', 60, $levels, keep => '{diagnosis}'); $rows",
	subtree => "SELECT column_name, level, shown, row_count FROM kanon_subtree({}, 'out', '{age,zip}', 60, $levels, keep => '{diagnosis}'); $rows",
	freeform => "SELECT row_count FROM kanon_freeform({}, 'out', '{age,zip}', 5, 'sort_greedy', 100, keep => '{diagnosis}'); $number",
	'transactions, arrays' => "SELECT transactions, items_before, items_shown FROM kanon_transactions({}, 'out', 'items', 10, m => 2); SELECT items, count(*) FROM out GROUP BY 1 ORDER BY 1; $gone",
	'transactions, a row an item' => "SELECT transactions, items_before, items_shown FROM kanon_transactions({}, 'out', 'zip', 2, m => 1, transaction => 'wants'); $number",
	anatomy => "SELECT row_count, sensitive_values, groups FROM kanon_anatomy({}, 'out', 'out_values', '{age,zip}', 'diagnosis', 3); SELECT count(DISTINCT diagnosis) FROM out_values; DROP TABLE out_values; $number",
	alpha_beta => "SELECT count(*) > 0 FROM kanon_alpha_beta({}, 'out', '{age,wants}', 0.5, 0.9, $domains); $gone",
	synthetic => "SELECT count(*) > 0 FROM kanon_synthetic({}, 'out', '{age,wants}', 1, 0.001, $domains, rows => 50); $gone",
	cross_training => "SELECT count(*) > 0 FROM kanon_cross_training({}, 'out', '{age,wants}', 10); $number",
	isolation => "SELECT * FROM kanon_isolation('coarse', {}, '{id,wants}', 2, 2)",
	check => "SELECT * FROM kanon_check({}, $qis)",
	'check, few columns' => "SELECT * FROM kanon_check({}, $qis, 2, k => 5)",
	check_freeform => "SELECT * FROM kanon_check_freeform({}, 'coarse', '{age,zip}', 5)",
	'check_freeform, records' => "SELECT * FROM kanon_check_freeform('here', {}, '{age,zip}', 5)",
	check_transactions => "SELECT * FROM kanon_check_transactions({}, 'items', 5, 2)",
	check_hierarchy => "SELECT fault, level, fault_count, row_count FROM kanon_check_hierarchy('ages', {}, 'age') ORDER BY 1, 2",
	risk => "SELECT measure, sensitive_column, round(value::numeric, 6) FROM kanon_risk({}, '{age,zip}', '{diagnosis}', 'id')",
	'risk, survey' => "SELECT measure, round(value::numeric, 6) FROM kanon_risk({}, '{age,zip}', weights => 'wants', household => 'id', special_uniques => 2)",
	'risk, population' => "SELECT measure, round(value::numeric, 6) FROM kanon_risk('here', '{age,zip}', population => {})",
	risk_columns => "SELECT * FROM kanon_risk_columns({}, '{age,zip,fee}')",
	suggest => "SELECT column_name, role, distinct_values, own_share FROM kanon_suggest({})",
	frontier => "SELECT k, suppressed_cells FROM kanon_frontier({}, $qis, '{2,60,100}', seed => 7)",
	explain => "SELECT aspect, subject, row_count, suppressed_cells FROM kanon_explain({}, $qis, 60, seed => 7)",
	compare => "SELECT measure, column_name, round(before::numeric, 6), round(after::numeric, 6) FROM kanon_compare({}, 'coarse', '{age,zip}', queries => 10, seed => 7)",
	'compare, target' => "SELECT measure, column_name, round(before::numeric, 6), round(after::numeric, 6) FROM kanon_compare('here', {}, '{age,zip}', queries => 10, seed => 7)",
	'attack, levels' => "SELECT count(*) > 0 FROM kanon_attack('here', {}, 'id', '{age,zip}', 20, hierarchies => '{\"age\": \"decades\"}')",
	attack => "SELECT count(*) > 0 FROM kanon_attack({}, 'coarse', 'id', '{age,zip}', 20)",
	'attack, target' => "SELECT count(*) > 0 FROM kanon_attack('here', {}, 'id', '{age,zip}', 20)",
	distributions => "SELECT * FROM kanon_distributions({}, 'coarse', '{age,zip}', 5)",
	'distributions, target' => "SELECT * FROM kanon_distributions('here', {}, '{age,zip}', 5)",
	checksum => 'SELECT kanon_checksum({})',
	dp => "SELECT count(*) FROM kanon_dp({}, 'count', 1, subject => 'id')",
	hierarchy_interval => "SELECT kanon_hierarchy_interval({}, 'age', 'out', '{2,4}'); $rows",
	hierarchy_prefix => "SELECT kanon_hierarchy_prefix({}, 'zip', 'out', '{1}'); $rows",
	hierarchy_date => "SELECT kanon_hierarchy_date({}, 'born', 'out'); $rows",
	hierarchy_quantile => "SELECT kanon_hierarchy_quantile({}, 'age', 'out', '{3}'); $rows",
	hierarchy_from_fk => "SELECT kanon_hierarchy_from_fk({}, 'zip', 'out', 'regions', key => 'zip', parent => 'region'); $rows",
	delta_presence => "SELECT pattern, verdict FROM kanon_full_domain('here', 'out', '{age,zip}', 60, $levels, privacy => ARRAY[kanon_delta_presence({}, 0, 1)]); $rows",
	k_map => "SELECT pattern, verdict FROM kanon_full_domain('here', 'out', '{age,zip}', 60, $levels, privacy => ARRAY[kanon_k_map({})]); $rows",
	publication => "SELECT FROM kanon_create_publication('nightly', {}, '{age,zip}', 60, options => '{\"keep\": [\"diagnosis\"]}'); SELECT FROM kanon_refresh('nightly');
SELECT count(*), sum(hashtextextended(n::text, 0)) FROM nightly AS n; SELECT count(*) FROM kanon_publication_status('nightly'); SELECT FROM kanon_drop_publication('nightly')",
	report => "SELECT FROM kanon_pattern_guided({}, 'out', '{age,zip}', 60); SELECT kanon_report(max(run), frontier => '{60,100}', compare => true) ~ '</html>' FROM kanon_usefulness; $gone",
	explore => "SELECT kanon_explore({}, '{age,zip}', '{60,100}') ~ '</html>'");

# What is said beside an answer: where the target is, and who writes it; by Citus, where it is not.
my $ways = qr/WARNING:  "view \w+" has dependency to [^\n]*\n(?:(?:DETAIL|HINT):[^\n]*\n)*|NOTICE:  (?:all rows of the target pass through this server, which writes them|the target is a table of this server, which writes it|target public\.\S+ stays on this server)\n(?:(?:DETAIL|HINT):[^\n]*\n)*/;

# All of them of one source: what came out, and what was said, call by call.
sub answers
{
	my ($source) = @_;
	my $script = join '', map { "\\echo == $_\n\\warn == $_\n" . $calls{$_} =~ s/\{\}/'$source'/gr . ";\n" } sort keys %calls;
	my ($ret, $out, $err) = $main->psql('postgres', $script, extra_params => [ '-U', 'doctor' ], on_error_stop => 0);
	my %answers = map { $_ => [] } keys %calls;

	foreach my $said ($out, $err)
	{
		my $text = ($said . "\n") =~ s/\b$source\b/SOURCE/gr =~ s/^psql:\S+ //gmr =~ s/$ways//gr;
		my (undef, %parts) = split /^== (.*)\n/m, $text;

		push @{ $answers{$_} }, ($parts{$_} // '') =~ s/\n+\z//r foreach keys %calls;
	}
	return \%answers;
}

my $here = answers('here');
my @failed = grep { $here->{$_}[1] =~ /ERROR|FATAL/ || $here->{$_}[0] eq '' } sort keys %calls;
is("@failed", '', 'every call has an answer of a table here') or diag(map { "$_: $here->{$_}[1]\n" } @failed);
foreach my $source (qw(by_id by_text parted in_columns everywhere seen joined))
{
	my $there = answers($source);

	# rows of a join are no persons' own rows, there or here
	if ($source eq 'joined')
	{
		like(delete($there->{dp})->[1], qr/ERROR:  public\.SOURCE is more than rows of one table/, 'joined: no noise is enough');
	}
	foreach my $call (sort keys %$there)
	{
		is($there->{$call}[0], $here->{$call}[0], "$source: $call: the same answer");
		is($there->{$call}[1], $here->{$call}[1], "$source: $call: and nothing else is said");
	}
	KanonCitus::left_behind($source, $main, @workers);
}
$_->stop foreach $main, @workers;
done_testing();
