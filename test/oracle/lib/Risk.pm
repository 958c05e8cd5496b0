package Risk;

# kanon_check, kanon_risk and kanon_risk_columns of a relation, from its rows as they are.

use strict;
use warnings;
use JSON::PP;
use List::Util qw(min max sum0 uniq);
use Names;
use Privacy;
use Random;
use Table;

my $json = JSON::PP->new->canonical->allow_nonref;

sub near
{
	my ($is, $should) = @_;
	return defined $is && defined $should ? abs($is - $should) <= 1e-9 * (1 + abs($is) + abs($should)) : !defined $is && !defined $should;
}

# The rows of each combination, as positions; blank: all NULL.
sub classes
{
	my ($rows, @names) = @_;
	my %class;
	for my $i (0 .. $#$rows)
	{
		my $row = $rows->[$i];
		my $key = $json->encode([ map { $row->{$_} } @names ]);
		$class{$key} //= { rows => [], blank => !(grep { defined $row->{$_} } @names), cells => [ map { $row->{$_} } @names ] };
		push @{ $class{$key}{rows} }, $i;
	}
	return map { $class{$_} } sort keys %class;
}

sub check
{
	my ($db, $relation, $names, $complain) = @_;
	my $rows = $db->rows("SELECT * FROM $relation");
	my @classes = classes($rows, @$names);
	my @size = map { scalar @{ $_->{rows} } } @classes;
	my @shown = map { scalar @{ $_->{rows} } } grep { !$_->{blank} } @classes;
	my %should = (
		k => @size ? min(@size) : undef, classes => scalar @classes, row_count => scalar @$rows,
		unique_rows => scalar(grep { $_ == 1 } @size), blank_rows => @$rows - sum0(@shown),
		avg_class => @size ? @$rows / @size : undef, max_class => @size ? max(@size) : undef);
	my $list = "'{" . join(',', @$names) . "}'";
	my $is = $db->rows("SELECT * FROM $Names::function{check}('$relation', $list)")->[0];
	for (sort keys %should)
	{
		$complain->("check of $relation: $_ is " . ($is->{$_} // 'NULL') . ', should be ' . ($should{$_} // 'NULL')) if !near($is->{$_}, $should{$_});
	}
	return;
}

# A table of the kind that Privacy counts in, of a relation's rows.
sub table_of
{
	my ($rows) = @_;
	return { map { my $c = $_; ($c => [ map { $_->{$c} } @$rows ]) } qw(s u person) };
}

# population: rows of everybody, or undef
sub risk
{
	my ($db, $relation, $names, $subject, $population, $complain) = @_;
	my $rows = $db->rows("SELECT * FROM $relation");
	my $table = table_of($rows);
	my @classes = classes($rows, @$names);
	my $threshold = 0.3;
	my %should;

	$_->{f} = Privacy::size($table, $_->{rows}, $subject) for @classes;
	my @shown = grep { !$_->{blank} } @classes;
	my $units = sum0(map { $_->{f} } @classes);
	my $share = sub { my ($test) = @_; return $units > 0 ? sum0(map { $_->{f} } grep { $test->($_->{f}) } @classes) / $units : undef; };
	my $k = @classes ? min(map { $_->{f} } @classes) : undef;
	%should = (
		rows => scalar @$rows, classes => scalar @classes, k => $k,
		unique_rows => scalar(grep { $_->{f} == 1 } @classes), blank_rows => @$rows - sum0(map { scalar @{ $_->{rows} } } @shown),
		prosecutor_highest => $units ? 1 / $k : undef, prosecutor_average => $units ? @classes / $units : undef,
		prosecutor_share => $share->(sub { 1 / $_[0] > $threshold }));
	$should{persons} = $units if $subject;
	for my $below (2, 3, 5, 10) { $should{"share_below_$below"} = $share->(sub { $_[0] < $below }); }
	if ($population)
	{
		my $everybody = $db->rows("SELECT * FROM $population");
		my ($missing, $links, $sum, $highest, $at_risk, @presence) = (0, 0, 0, 0, 0);
		for my $class (@classes)
		{
			my @cells = @{ $class->{cells} };
			my $of = grep { my $one = $_; !grep { defined $cells[$_] && (!defined $one->{ $names->[$_] } || $one->{ $names->[$_] } ne $cells[$_]) } 0 .. $#cells } @$everybody;
			if ($of < $class->{f}) { $missing += $class->{f}; $of = $class->{f}; }
			$links += $class->{f} / $of;
			push @presence, $class->{f} / $of if !$class->{blank};
			$sum += $of;
			$highest = max($highest, 1 / $of);
			$at_risk += $class->{f} if 1 / $of > $threshold;
		}
		@should{qw(presence_highest presence_lowest)} = (max(@presence), min(@presence));
		@should{qw(population_missing journalist_highest journalist_average journalist_share marketer)} =
		  ($missing, $units ? ($highest, max($sum > 0 ? @classes / $sum : 0, $links / $units), $at_risk / $units, $links / $units) : (undef) x 4);
	}
	for my $column (qw(s u))
	{
		my $whole = Privacy::counts($table, $column, [ 0 .. $#$rows ], $subject);
		my @count = map { Privacy::counts($table, $column, $_->{rows}, $subject) } @classes;
		my %m = (
			distinct_l => min(map { scalar keys %$_ } @count), entropy_l => min(map { Privacy::entropy($_) } @count),
			alpha => max(map { my $i = $_; max(values %{ $count[$i] }) / $classes[$i]{f} } 0 .. $#classes),
			t_equal => max(map { Privacy::distance($_, $whole, 'equal') } @count),
			t_ordered => max(map { Privacy::distance($_, $whole, 'ordered') } @count));
		for my $l (2 .. 5)
		{
			my $c = max(map { Privacy::recursive($_, $l) } @count);
			$m{"recursive_c_$l"} = defined $c && $c < 9**9 ? $c : undef;
		}
		$should{"$_ $column"} = $m{$_} for keys %m;
	}
	my %is;
	for (@{ $db->rows('SELECT * FROM ' . Names::call('risk', quasi_identifiers => "'{" . join(',', @$names) . "}'", sensitive => "'{s,u}'",
				subject => $subject ? "'person'" : undef, population => $population ? "'$population'" : undef,
				threshold => $threshold, relation => "'$relation'")) })
	{
		$is{ $_->{measure} . (defined $_->{sensitive_column} ? " $_->{sensitive_column}" : '') } = $_->{value};
	}
	for (sort { $a cmp $b } uniq(keys %should, keys %is))
	{
		$complain->("risk of $relation: $_ is " . ($is{$_} // 'NULL') . ', should be ' . ($should{$_} // 'NULL'))
		  if !exists $is{$_} || !exists $should{$_} || !near($is{$_}, $should{$_});
	}
	return;
}

# How probable bounds on presence are, by shares of the values; NULL may be any of them.
sub presence
{
	my ($db, $table, $subject, $complain) = @_;
	my @columns = @{ $table->{columns} };
	my $shares = Privacy::draw_shares($table);
	my ($least, $most, $confidence) = (pick(0, 0.1), pick(0.3, 0.6, 1), pick(0.5, 0.9));
	my (%class, $units, @likely);

	for my $i (0 .. $table->{n} - 1) { push @{ $class{ join '|', map { Table::key($_->{value}[$i]) } @columns } }, $i; }
	$units += Privacy::size($table, $_, $subject) for values %class;
	my $others = below(50);
	for my $rows (values %class)
	{
		my $i = $rows->[0];
		my @told = grep { defined $columns[$_]{value}[$i] } 0 .. $#columns;
		my $p = 1;
		$p *= $shares->[$_]{ Table::key($columns[$_]{value}[$i]) } for @told;
		my $size = Privacy::size($table, $rows, $subject);
		push @likely, [ Privacy::likelihood($size, $others, $p, $least, $most), $size ] if @told;
	}
	my %should = (presence_confidence => @likely ? min(map { $_->[0] } @likely) : undef,
		presence_share => @likely ? sum0(map { $_->[1] } grep { $_->[0] < $confidence - 1e-9 } @likely) / $units : undef);
	my $rule = "$Names::function{presence}('census', " . ($units + $others) . ", $least, $most, $confidence)";
	my %is = map { ($_->{measure} => $_->{value}) } @{ $db->rows('SELECT * FROM ' . Names::call('risk', relation => "'src'", quasi_identifiers => $table->array,
				subject => $subject ? "'person'" : undef, presence => $rule)) };
	for (sort keys %should)
	{
		$complain->("risk under $rule: $_ is " . ($is{$_} // 'NULL') . ', should be ' . ($should{$_} // 'NULL')) if !near($is{$_}, $should{$_});
	}
	return;
}

sub columns
{
	my ($db, $relation, $names, $complain) = @_;
	my $rows = $db->rows("SELECT * FROM $relation");
	my $n = @$rows;
	my %line = map { (join(',', @{ $_->{subset} }) => $_) } @{ $db->rows("SELECT * FROM $Names::function{risk_columns}('$relation', '{" . join(',', @$names) . "}', supersets => true)") };
	my %told = map { (join(',', @{ $_->{subset} }) => 1) } @{ $db->rows("SELECT subset FROM $Names::function{risk_columns}('$relation', '{" . join(',', @$names) . "}')") };
	my @subsets = grep { @$_ && @$_ <= 3 } map { my $set = $_; [ map { $names->[$_] } grep { $set >> $_ & 1 } 0 .. $#$names ] } 1 .. (1 << @$names) - 1;

	$complain->("risk_columns of $relation: " . keys(%line) . ' subsets') if keys %line != @subsets;
	for my $subset (@subsets)
	{
		my @size = map { scalar @{ $_->{rows} } } classes($rows, @$subset);
		my %should = (
			classes => scalar @size, unique_rows => scalar(grep { $_ == 1 } @size), distinction => $n ? @size / $n : undef,
			separation => $n > 1 ? 1 - sum0(map { $_ * ($_ - 1) } @size) / ($n * ($n - 1)) : undef);
		my $is = $line{ join(',', @$subset) } // {};
		for (sort keys %should)
		{
			$complain->("risk_columns of $relation (@$subset): $_ is " . ($is->{$_} // 'NULL') . ', should be ' . ($should{$_} // 'NULL'))
			  if !near($is->{$_}, $should{$_});
		}
		# told without being asked: no part has as many classes, or nine of ten rows to itself
		my @parts = map { my $part = $_; $line{ join(',', map { $subset->[$_] } grep { $part >> $_ & 1 } 0 .. $#$subset) } } 1 .. (1 << @$subset) - 2;
		my $minimal = !grep { $_->{classes} == @size || $_->{unique_rows} >= 0.9 * $n } @parts;
		$complain->("risk_columns of $relation (@$subset) is " . ($minimal ? 'not ' : '') . 'told')
		  if $n && $minimal != !!$told{ join(',', @$subset) };
	}
	return;
}

1;
