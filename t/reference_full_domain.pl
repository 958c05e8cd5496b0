# Full-domain optima of Adult with ARX's hierarchies, computed elsewhere by brute
# force over all 12,960 nodes: every algorithm must find them.
use strict;
use warnings;
use KanonNode;
use PostgreSQL::Test::Utils;
use Test::More;

my $data = KanonNode::data();
my $node = KanonNode::start('reference_full_domain', conf => "kanon.progress = off\nwork_mem = '64MB'");
my @columns = qw(sex age race marital-status education native-country workclass occupation salary-class);
my @hierarchies;

$node->safe_psql('postgres', 'CREATE TABLE adult (' . join(', ', map { "\"$_\" text" } @columns) . ');'
	  . "COPY adult FROM '$data/adult-arx.csv' (FORMAT csv, DELIMITER ';', HEADER)");
for my $column (@columns)
{
	my $file = "$data/adult-hierarchies/$column.csv";
	open my $lines, '<', $file or die "$file: $!";
	my @cells = split /;/, scalar <$lines>;

	$node->safe_psql('postgres', "CREATE TABLE \"${column}_h\" (" . join(', ', map { "l$_ text" } 0 .. $#cells) . ');'
		  . "COPY \"${column}_h\" FROM '$file' (FORMAT csv, DELIMITER ';')");
	push @hierarchies, "\"$column\": \"\\\"${column}_h\\\"\"";
}
my $qis = '{' . join(',', @columns) . '}';
my $hierarchies = '{' . join(', ', @hierarchies) . '}';

sub search
{
	my ($k, $limit, $metric, $algorithm) = @_;
	my ($value, $classes, $suppressed, $nodes, $checked, $best) = split /\|/, $node->safe_psql('postgres',
		"SELECT round(metric_value::numeric, 2), classes, suppressed_rows, lattice_nodes, nodes_checked, pattern
		 FROM kanon_full_domain('adult', 'adult_public', '$qis', $k, hierarchies => '$hierarchies', suppression_limit => $limit, metric => '$metric', residual => 'suppress', method => '$algorithm', replace => true)");
	my ($reached) = $node->safe_psql('postgres', "SELECT k FROM kanon_check('adult_public', '$qis')");

	is($nodes, 12960, 'nodes of the lattice');
	ok($reached >= $k, "the published table is $k-anonymous");
	return ($value, $classes, $suppressed, $checked, $best);
}

my %checked;
my %nodes;
for my $algorithm (qw(samarati incognito flash speedy))
{
	for (
		[ 2, 0.05, 'discernibility', '4602798.00' ],
		[ 5, 0.05, 'discernibility', '7220555.00', 356, 105 ],
		[ 5, 0, 'discernibility', '33627534.00', undef, 0 ],
		[ 5, 0.05, 'average_class_size', '28.81' ])
	{
		my ($k, $limit, $metric, $least, $classes, $suppressed) = @$_;
		my $case = "k = $k, limit $limit, $metric";
		my @got = search($k, $limit, $metric, $algorithm);

		is($got[0], $least, "$algorithm, $case");
		is($got[1], $classes, "$algorithm, $case: classes") if defined $classes;
		is($got[2], $suppressed, "$algorithm, $case: suppressed rows") if defined $suppressed;
		$checked{$case}{$algorithm} = $got[3];
		is($got[4], $nodes{$case} // $got[4], "$algorithm, $case: the same node");
		$nodes{$case} = $got[4];
	}
}
for my $case (sort keys %checked)
{
	# with suppressed rows both leave out what cannot be the optimum, each by the best node that it has
	cmp_ok($checked{$case}{flash}, '<=', $checked{$case}{incognito}, "$case: flash checks no more nodes than incognito")
		if $case =~ /limit 0,/;
	is($checked{$case}{speedy}, $checked{$case}{flash}, "$case: speedy checks the same nodes as flash");
}

done_testing();
