# The figures of reference.csv, computed elsewhere: greedy releases must meet them
# exactly, and exact ones their proven optimum.
use strict;
use warnings;
use KanonNode;
use PostgreSQL::Test::Utils;
use Test::More;

my $data = KanonNode::data();
my $node = KanonNode::start('reference', conf => "kanon.progress = off\nwork_mem = '64MB'");

$node->safe_psql('postgres', <<~"SQL");
	CREATE TABLE adult (age int, workclass text, fnlwgt int, education text, education_num int,
		marital_status text, occupation text, relationship text, race text, sex text, capital_gain int,
		capital_loss int, hours_per_week int, native_country text, salary_class text);
	CREATE TABLE cmc (id int, wife_age int, wife_education int, husband_education int, children int,
		religion int, wife_working int, husband_occupation int, living_standard int, media_exposure int,
		contraceptive int);
	CREATE TABLE nursery (parents text, has_nurs text, form text, children text, housing text,
		finance text, social text, health text, class text);
	COPY adult FROM '$data/adult.csv' (FORMAT csv, DELIMITER ';');
	COPY cmc FROM '$data/cmc.csv' (FORMAT csv, DELIMITER ';');
	COPY nursery FROM '$data/nursery.csv' (FORMAT csv, DELIMITER ';');
SQL

my $adult2 = 'age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class';
my $cmc = 'wife_age,wife_education,husband_education,children,religion,wife_working,'
  . 'husband_occupation,living_standard,media_exposure,contraceptive';
my $cmc_categorical = 'wife_education,husband_education,religion,wife_working,husband_occupation,'
  . 'living_standard,media_exposure,contraceptive';

# table, quasi-identifiers, numeric columns that are categories, patterns
my %case = (
	'nursery-all' => [ 'nursery', 'parents,has_nurs,form,children,housing,finance,social,health', '', 'NULL' ],
	'cmc-all' => [ 'cmc', $cmc, $cmc_categorical, 'NULL' ],
	'cmc-mask2' => [ 'cmc', $cmc, $cmc_categorical, "ARRAY(SELECT kanon_patterns('{$cmc}', max_suppressed => 2))" ],
	'adult-all' => [ 'adult', 'age,workclass,education,education_num,marital_status,occupation,relationship,race,'
		  . 'sex,capital_gain,capital_loss,hours_per_week,native_country,salary_class', '', 'NULL' ],
	'adult2-all' => [ 'adult', $adult2, '', 'NULL' ],
	'adult2-mask15' => [ 'adult', $adult2, '', "ARRAY(SELECT kanon_patterns('{$adult2}', max_suppressed => 2,
		never => '{education,salary_class}', together => '{\"workclass,occupation\"}',
		at_most_one => '{\"age,race,sex\"}'))" ]);

my %method = map { $_ => 1 } qw(greedy);
my $unknown = $node->psql('postgres', "SELECT kanon_pattern_guided('nursery', NULL, '{parents}', 2, method => 'ilp', dry_run => true)");
$method{ilp} = 1 if $unknown == 0;

# "suppressed cells, classes, largest class, usefulness" of one run
sub run
{
	my ($case, $k, $method) = @_;
	my ($table, $qis, $categorical, $patterns) = @{ $case{$case} };
	my $target = "t_$method";

	# the paper's mode: fully suppressed rows may be fewer than k, one order of the patterns
	return $node->safe_psql('postgres', <<~"SQL");
		SELECT FROM kanon_pattern_guided('$table', '$target', '{$qis}', $k, patterns => $patterns,
			categorical => '{$categorical}', method => '$method', residual => 'suppress', effort => 0, time_limit => '5 min', replace => true);
		SELECT suppressed_cells, classes, class_max, round(usefulness::numeric, 4), proven,
			(SELECT c.k >= $k OR c.k = c.blank_rows FROM kanon_check('$target', '{$qis}') c)
		FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
	SQL
}

open my $reference, '<', "$data/reference.csv" or die "$data/reference.csv: $!";
<$reference>;
while (my $line = <$reference>)
{
	chomp $line;
	my ($case, $k, $s, $h, $max, $u, $optimum) = split /;/, $line, -1;

	if ($s ne '')
	{
		my @got = split /\|/, run($case, $k, 'greedy');
		is(join(' ', @got[ 0 .. 3, 5 ]), "$s $h $max $u t", "$case, k = $k: greedy");
	}
	if ($optimum ne '' && $method{ilp})
	{
		my @got = split /\|/, run($case, $k, 'ilp');
		is("$got[0] $got[4] $got[5]", "$optimum t t", "$case, k = $k: proven optimum");
	}
}

# the default, of equally costly patterns and equally cheap releases
my $choice = sub {
	my ($case, $k, $method) = @_;
	my ($table, $qis, $categorical, $patterns) = @{ $case{$case} };

	return $node->safe_psql('postgres', <<~"SQL");
		SELECT suppressed_cells, round(usefulness::numeric, 3) FROM kanon_frontier('$table', '{$qis}', '{$k}',
			patterns => $patterns, categorical => '{$categorical}', method => '$method');
	SQL
};
for my $method ('greedy', 'best')
{
	is($choice->('nursery-all', 6, $method), '25920|3.700', "Nursery, k = 6: $method takes the most useful");
	like($choice->('cmc-mask2', 25, $method), qr/^13722\|/, "CMC, k = 25: $method finds the optimum");
}

done_testing();
