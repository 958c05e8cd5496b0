package Cuts;

# Cuts through hierarchies by their definition: at which level each value of a column is shown.

use strict;
use warnings;
use List::Util qw(all max min sum0 uniq);
use Table;

my $INF = 9**9**9;

# The levels of the values of one column are a cut: { value => level }.  sibling: a value shows the lowest node above
# it that any value shows; subtree: whatever is shown, its siblings are shown at that level or below.
sub is_cut
{
	my ($table, $column, $level, $scheme) = @_;
	my %row;    # one for each value
	$row{ Table::key($column->{value}[$_]) } //= $_ for 0 .. $table->{n} - 1;
	my $under = sub { my ($v, $h) = @_; my $key = Table::node($column, $h, $row{$v}); return grep { Table::node($column, $h, $row{$_}) eq $key } keys %row; };

	for my $v (keys %row)
	{
		my $l = $level->{$v};
		return 0 if $l > 0 && grep { $level->{$_} <= $l - 1 } $under->($v, $l - 1);
		next if $scheme ne 'subtree';
		for my $h ($l .. $column->{height} - 1) { return 0 if grep { $level->{$_} > $h } $under->($v, $h + 1); }
	}
	return 1;
}

# What the cells of a column lose.
sub cost
{
	my ($table, $column, $level) = @_;
	my $sum = 0;

	for my $i (0 .. $table->{n} - 1)
	{
		my $l = $level->{ Table::key($column->{value}[$i]) };
		$sum += $column->{weight} * ($l == $column->{height} ? $column->{distinct} > 1 : $table->covers($column, $table->below_node($column, $l, $i)));
	}
	return $sum;
}

# All cuts of a column: [levels, cost]; undef: too many to try.
sub cuts
{
	my ($table, $column, $scheme) = @_;
	my @values = uniq map { Table::key($_) } @{ $column->{value} };
	return undef if ($column->{height} + 1)**@values > 4000;
	my @all = ({});
	for my $v (@values)
	{
		@all = map { my $one = $_; map { { %$one, $v => $_ } } 0 .. $column->{height} } @all;
	}
	return [ map { [ $_, cost($table, $column, $_) ] } grep { is_cut($table, $column, $_, $scheme) } @all ];
}

# The classes under some levels, one for each column.
sub classes
{
	my ($table, @levels) = @_;
	my @columns = @{ $table->{columns} };
	my %class;

	for my $i (0 .. $table->{n} - 1)
	{
		my $key = join('|', map { my $l = $levels[$_]{ Table::key($columns[$_]{value}[$i]) }; "$l " . Table::node($columns[$_], $l, $i) } 0 .. $#columns);
		push @{ $class{$key} }, $i;
	}
	return values %class;
}

# The least cost of a cut whose classes are allowed; undef: too many to try.
sub least
{
	my ($table, $scheme, $allowed) = @_;
	my @cuts;
	my $product = 1;

	for my $column (@{ $table->{columns} })
	{
		my $of = cuts($table, $column, $scheme) // return undef;
		push @cuts, $of;
		$product *= @$of;
		return undef if $product > 3000;
	}
	my $least = $INF;
	my @some = ([ [], 0 ]);
	for my $of (@cuts)
	{
		@some = map { my $one = $_; map { [ [ @{ $one->[0] }, $_->[0] ], $one->[1] + $_->[1] ] } @$of } @some;
	}
	for my $one (sort { $a->[1] <=> $b->[1] } @some)
	{
		return $one->[1] if all { $allowed->($_) } classes($table, @{ $one->[0] });
	}
	return $INF;
}

1;
