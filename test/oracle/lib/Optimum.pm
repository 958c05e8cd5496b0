package Optimum;

# Brute force over all ways to put a few rows into classes: sets of rows are bits of a number.

use strict;
use warnings;
use List::Util qw(min max sum0);
use Table;

my $INF = 9**9**9;

sub members { my ($set) = @_; return [ grep { $set >> $_ & 1 } 0 .. 31 ]; }

# ---- patterns: a level for each column ----

# All combinations of levels.
sub lattice
{
	my ($table) = @_;
	my @nodes = ([]);
	for my $column (@{ $table->{columns} })
	{
		@nodes = map { my $node = $_; map { [ @$node, $_ ] } 0 .. $column->{height} } @nodes;
	}
	return @nodes;
}

sub pattern_cost
{
	my ($table, $pattern, $how) = @_;
	my @columns = @{ $table->{columns} };
	return sum0(map { $table->level_cost($columns[$_], $pattern->[$_], $how) } 0 .. $#columns);
}

sub text
{
	my ($table, $pattern) = @_;
	my @columns = @{ $table->{columns} };
	return join('', map { my $r = $pattern->[$_]; $r == 0 ? '-' : $r == $columns[$_]{height} ? '*' : $r } 0 .. $#columns);
}

sub agree
{
	my ($table, $pattern, $rows) = @_;
	my @columns = @{ $table->{columns} };
	for my $c (0 .. $#columns)
	{
		my $first = Table::node($columns[$c], $pattern->[$c], $rows->[0]);
		for my $i (@$rows) { return 0 if Table::node($columns[$c], $pattern->[$c], $i) ne $first; }
	}
	return 1;
}

# Cost of each set as a class: k rows, the rules, the cheapest pattern on which its rows agree.
sub class_costs
{
	my ($table, $k, $patterns, $costs, $privacy) = @_;
	my @cost = (0) x (1 << $table->{n});
	my @order = sort { $costs->[$a] <=> $costs->[$b] } 0 .. $#$patterns;

	for my $set (1 .. $#cost)
	{
		my $rows = members($set);
		$cost[$set] = $INF;
		next if @$rows < $k || ($privacy && !$privacy->{test}->($rows, 0));
		for my $p (@order)
		{
			next if !agree($table, $patterns->[$p], $rows);
			$cost[$set] = @$rows * $costs->[$p];
			last;
		}
	}
	return \@cost;
}

# Least cost of each set as classes.
sub partitions
{
	my ($cost) = @_;
	my @best = (0);

	for my $set (1 .. $#$cost)
	{
		my $low = $set & -$set;
		my $rest = $set ^ $low;
		my $least = $INF;
		for (my $other = $rest;; $other = ($other - 1) & $rest)
		{
			my $class = $rest ^ $other | $low;
			my $sum = $cost->[$class] < $INF ? $cost->[$class] + $best[ $set ^ $class ] : $INF;
			$least = $sum if $sum < $least;
			last if $other == 0;
		}
		$best[$set] = $least;
	}
	return \@best;
}

# Least cost of a pattern-guided release: some rows may be fully suppressed, as residual has it.
sub guided
{
	my ($table, $k, $patterns, $costs, $all_cost, $residual, $privacy) = @_;
	my $best = partitions(class_costs($table, $k, $patterns, $costs, $privacy));
	my $least = $INF;

	for my $rest (0 .. $#$best)
	{
		my $rows = members($rest);
		next if $best->[ $#$best ^ $rest ] == $INF || !rest_allowed($k, $rows, $residual, $privacy);
		$least = min($least, $best->[ $#$best ^ $rest ] + @$rows * $all_cost);
	}
	return $least;
}

sub rest_allowed
{
	my ($k, $rows, $residual, $privacy) = @_;
	return 1 if !@$rows || $residual eq 'drop' || (@$rows >= $k && (!$privacy || $privacy->{test}->($rows, 0)));
	return $residual eq 'suppress' && (!$privacy || $privacy->{test}->($rows, 1));
}

# Each listed pattern for one class at most, no row left over.
sub clustering
{
	my ($table, $k, $patterns, $costs, $privacy) = @_;
	my $all = (1 << $table->{n}) - 1;
	my %best = (0 => 0);
	my %keeps = map { $_ => @{ members($_) } >= $k && (!$privacy || $privacy->{test}->(members($_), 0)) } 1 .. $all;

	for my $p (0 .. $#$patterns)
	{
		my %next = %best;
		my @sets = grep { $keeps{$_} && agree($table, $patterns->[$p], members($_)) } 1 .. $all;
		for my $used (keys %best)
		{
			for my $set (@sets)
			{
				next if $used & $set;
				my $sum = $best{$used} + $costs->[$p] * @{ members($set) };
				my $to = $used | $set;
				$next{$to} = $sum if !defined $next{$to} || $sum < $next{$to};
			}
		}
		%best = %next;
	}
	return $best{$all} // $INF;
}

# ---- classes of any shape ----

# What a row loses in a class by kanon_cluster's cost; show: how each column is shown.
sub hidden
{
	my ($table, $rows, $show, $how) = @_;
	my @columns = @{ $table->{columns} };
	my $sum = 0;

	for my $c (0 .. $#columns)
	{
		my $column = $columns[$c];
		my $same = !grep { Table::key($column->{value}[$_]) ne Table::key($column->{value}[ $rows->[0] ]) } @$rows;
		next if $same;
		if ($show->[$c] eq 'hierarchy')
		{
			my $r = 1;
			$r++ while $r < $column->{height} && grep { Table::node($column, $r, $_) ne Table::node($column, $r, $rows->[0]) } @$rows;
			$sum += $table->level_cost($column, $r, $how);
		}
		elsif ($show->[$c] eq 'range') { $sum += $column->{weight} * $table->covers($column, $rows); }
		else { $sum += $column->{weight}; }
	}
	return $sum;
}

sub clusters
{
	my ($table, $k, $show, $how) = @_;
	my @cost = map { my $rows = members($_); @$rows >= $k ? @$rows * hidden($table, $rows, $show, $how) : $INF } 0 .. (1 << $table->{n}) - 1;
	return partitions(\@cost)->[-1];
}

# ---- freeform ----

# What a record costs that shows these rows.
sub record_cost
{
	my ($table, $rows) = @_;
	my $sum = 0;
	for my $column (@{ $table->{columns} })
	{
		my %value = map { Table::key($column->{value}[$_]) => 1 } @$rows;
		next if keys %value < 2;
		if ($column->{height} > 1)
		{
			my $r = 1;
			$r++ while $r < $column->{height} && grep { Table::node($column, $r, $_) ne Table::node($column, $r, $rows->[0]) } @$rows;
			$sum += $column->{weight} * ($r < $column->{height} ? $table->covers($column, $table->below_node($column, $r, $rows->[0])) : 1);
			next;
		}
		$sum += $column->{weight} * ($column->{number} ? $table->covers($column, $rows) : (keys(%value) - 1) / ($column->{distinct} - 1));
	}
	return $sum;
}

# Least cost of n records of k rows each, every row in k of them.
sub freeform
{
	my ($table, $k) = @_;
	my $n = $table->{n};
	my @sets = grep { @{ members($_) } == $k } 1 .. (1 << $n) - 1;
	my %cost = map { $_ => record_cost($table, members($_)) } @sets;
	my @need = ($k) x $n;
	my $best = $INF;
	my $least = min(values %cost);
	my $try;

	$try = sub {
		my ($from, $left, $sum) = @_;
		return if $sum + $left * $least >= $best - 1e-12;
		if ($left == 0) { $best = $sum; return; }
		for my $s ($from .. $#sets)
		{
			my $rows = members($sets[$s]);
			next if grep { $need[$_] == 0 } @$rows;
			$need[$_]-- for @$rows;
			$try->($s, $left - 1, $sum + $cost{ $sets[$s] });
			$need[$_]++ for @$rows;
		}
	};
	$try->(0, $n, 0);
	return $best;
}

1;
