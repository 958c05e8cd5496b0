#!/usr/bin/perl
# castle.pl FILE [K [ROWS]]: Adult in the order of its file, published as it comes: batches of kanon beside CASTLE.
#
# CASTLE: Cao, Carminati, Ferrari, Tan, "CASTLE: A Delay-Constrained Scheme for ks-Anonymizing Data Streams", ICDE 2008,
# Algorithms 1 to 3, with beta = 50 and mu = 100. A tuple is published within delta further tuples. kanon publishes a
# batch as soon as it has that many rows, so that no row waits longer; with hold the rows that are left over may.
# Loss of a cell: width of a range or size of a set less one, as a share of the domain's; 1 if it shows nothing. Mean over all cells.
# Run by: dev/with-server perl bench/castle.pl FILE

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../test/oracle/lib";
use JSON::PP;
use Time::HiRes qw(time);
use Db;

my ($file, $k, $most_rows) = @ARGV;
$| = 1;
$k //= 10;
$most_rows //= 8000;
die "usage: $0 FILE [K [ROWS]]\n" if !defined $file;
my @names = qw(age workclass education marital_status occupation race sex native_country);
my @places = (0, 1, 3, 5, 6, 8, 9, 13);
my @rows;
open my $in, '<', $file or die "$file: $!\n";
while (@rows < $most_rows && defined($_ = <$in>)) { chomp; my @all = split /;/; push @rows, [ @all[@places] ]; }
close $in;
my @domain = map { my %seen; my $c = $_; $seen{ $_->[$c] } = 1 for @rows; scalar keys %seen } 0 .. $#names;
my ($least, $most) = (1000, 0);
for (@rows) { $least = $_->[0] if $_->[0] < $least; $most = $_->[0] if $_->[0] > $most; }

# ---- CASTLE ----

# A cluster: rows, and of each column the bounds or the set.
sub cluster { return { rows => [], low => 1000, high => 0, sets => [ map { {} } @names ] }; }

sub loss
{
	my ($c) = @_;
	my $sum = ($c->{high} - $c->{low}) / ($most - $least);
	$sum += (keys(%{ $c->{sets}[$_] }) - 1) / ($domain[$_] - 1) for 1 .. $#names;
	return $sum / @names;
}

sub loss_with
{
	my ($c, $row) = @_;
	my ($low, $high) = ($row->[0] < $c->{low} ? $row->[0] : $c->{low}, $row->[0] > $c->{high} ? $row->[0] : $c->{high});
	my $sum = ($high - $low) / ($most - $least);
	$sum += (keys(%{ $c->{sets}[$_] }) - (exists $c->{sets}[$_]{ $row->[$_] } ? 1 : 0)) / ($domain[$_] - 1) for 1 .. $#names;
	return $sum / @names;
}

sub add
{
	my ($c, $nr) = @_;
	my $row = $rows[$nr];
	push @{ $c->{rows} }, $nr;
	$c->{low} = $row->[0] if $row->[0] < $c->{low};
	$c->{high} = $row->[0] if $row->[0] > $c->{high};
	$c->{sets}[$_]{ $row->[$_] } = 1 for 1 .. $#names;
	$c->{loss} = loss($c);
	return;
}

sub covers
{
	my ($c, $row) = @_;
	return $row->[0] >= $c->{low} && $row->[0] <= $c->{high} && !grep { !exists $c->{sets}[$_]{ $row->[$_] } } 1 .. $#names;
}

sub castle
{
	my ($delta) = @_;
	my (%open, @shown, @recent, %where, @done);
	my ($sum, $suppressed, $next, $tau) = (0, 0, 0, 0);
	my $output = sub {
		my ($c) = @_;
		my @left = @{ $c->{rows} };
		my @parts;
		# of 2k and more: a row and its nearest ones, again and again
		while (@left >= 2 * $k)
		{
			my $part = cluster();
			add($part, splice @left, int(rand(@left)), 1);
			while (@{ $part->{rows} } < $k)
			{
				my ($best, $least_loss) = (0, 9);
				for my $i (0 .. $#left) { my $l = loss_with($part, $rows[ $left[$i] ]); ($best, $least_loss) = ($i, $l) if $l < $least_loss; }
				add($part, splice @left, $best, 1);
			}
			push @parts, $part;
		}
		my $rest = cluster();
		add($rest, $_) for @left;
		push @parts, $rest;
		for my $part (@parts)
		{
			$sum += $part->{loss} * @{ $part->{rows} };
			$done[$_] = 1 for @{ $part->{rows} };
			push @recent, $part->{loss};
			shift @recent if @recent > 100;
			$tau = 0;
			$tau += $_ / @recent for @recent;
			push @shown, $part if $part->{loss} <= $tau;
			shift @shown if @shown > 200;
		}
		delete $open{ $c->{id} };
	};
	my $due = sub {
		my ($nr) = @_;
		my $c = $where{$nr};
		return $output->($c) if @{ $c->{rows} } >= $k;
		my ($known) = sort { $a->{loss} <=> $b->{loss} } grep { covers($_, $rows[$nr]) } @shown;
		my $total = 0;
		$total += @{ $_->{rows} } for values %open;
		my $larger = grep { @{ $_->{rows} } > @{ $c->{rows} } } values %open;
		if (defined $known || $larger > keys(%open) / 2 || $total < $k)
		{
			$sum += defined $known ? $known->{loss} : 1;
			$suppressed += !defined $known;
			$done[$nr] = 1;
			my @left = grep { $_ != $nr } @{ $c->{rows} };
			delete $open{ $c->{id} };
			return if !@left;
			my $new = cluster();
			$new->{id} = $c->{id};
			for (@left) { add($new, $_); $where{$_} = $new; }
			$open{ $new->{id} } = $new;
			return;
		}
		while (@{ $c->{rows} } < $k)
		{
			my ($best, $least_loss);
			for my $other (grep { $_ != $c } values %open)
			{
				my $all = cluster();
				add($all, $_) for @{ $c->{rows} }, @{ $other->{rows} };
				($best, $least_loss) = ($other, $all->{loss} - $c->{loss}) if !defined $best || $all->{loss} - $c->{loss} < $least_loss;
			}
			for (@{ $best->{rows} }) { add($c, $_); $where{$_} = $c; }
			delete $open{ $best->{id} };
		}
		$output->($c);
	};
	for my $nr (0 .. $#rows)
	{
		my ($best, $enlarged);
		for my $c (sort { $a->{id} <=> $b->{id} } values %open)
		{
			my $e = loss_with($c, $rows[$nr]) - $c->{loss};
			($best, $enlarged) = ($c, $e) if !defined $best || $e < $enlarged || ($e == $enlarged && @{ $c->{rows} } < @{ $best->{rows} });
		}
		if (!defined $best || (loss_with($best, $rows[$nr]) > $tau && keys %open < 50))
		{
			$best = cluster();
			$best->{id} = ++$next;
			$open{$next} = $best;
		}
		add($best, $nr);
		$where{$nr} = $best;
		$due->($nr - $delta) if $nr >= $delta && !$done[ $nr - $delta ];
	}
	for my $nr (0 .. $#rows) { $due->($nr) if !$done[$nr]; }
	return ($sum / @rows, $suppressed);
}

# ---- batches ----

sub cell_loss
{
	my ($c, $shown) = @_;
	return 1 if !defined $shown;
	return 0 if ref $shown ? @$shown == 1 : $shown !~ /^[\[({]/;
	return (@$shown - 1) / ($domain[$c] - 1) if ref $shown;
	my ($low, $high) = $shown =~ /^\[(\d+),(\d+)\)$/ or return 1;
	return ($high - 1 - $low) / ($most - $least);
}

my $db = Db->connect;

sub batches
{
	my ($delta, $method, $hold) = @_;
	my $begun = time;
	$db->run('DROP TABLE IF EXISTS come; DROP TABLE IF EXISTS adult');
	$db->run('CREATE TABLE come (id int PRIMARY KEY, ' . join(', ', map { "$_ " . ($_ eq 'age' ? 'int' : 'text') } @names) . ')');
	my $made = 0;
	for (my $from = 0; $from < @rows; $from += $delta)
	{
		my $to = $from + $delta - 1;
		$to = $#rows if $to > $#rows;
		$db->run('INSERT INTO come VALUES ' . join(', ', map { my $nr = $_; "($nr, " . join(', ', map { $db->quote($_) } @{ $rows[$nr] }) . ')' } $from .. $to));
		if (!$made++) { $db->run("SELECT kanon_create_publication('stream', 'come', '{" . join(',', @names) . "}', $k, options => '{\"method\": \"$method\", \"show\": \"set\", \"min_batch\": $k" . ($hold ? ', "residual": "drop"' : '') . "}', model => 'cluster', append => 'id'" . ($hold ? ", hold => '$hold nights'" : '') . ')'); }
		else { $db->run("SELECT FROM kanon_refresh('stream')"); }
	}
	my ($sum, $n) = (0, 0);
	for my $row (@{ $db->rows('SELECT ' . join(', ', map { "to_jsonb($_) AS $_" } @names) . ' FROM stream') })
	{
		$n++;
		$sum += cell_loss($_, $row->{ $names[$_] }) / @names for 0 .. $#names;
	}
	$db->run("SELECT kanon_drop_publication('stream')");
	return (($sum + @rows - $n) / @rows, @rows - $n, time - $begun);
}

printf "%d rows, k = %d; loss per cell by the longest delay in rows\n%8s %10s %12s %10s %10s\n", scalar @rows, $k, qw(delay CASTLE suppressed mondrian bottom_up);
for my $delta (250, 500, 1000)
{
	srand(1);
	my ($castle, $suppressed) = castle($delta);
	my ($mondrian, $left) = batches($delta, 'mondrian');
	my ($bottom_up) = batches($delta, 'bottom_up');
	printf "%8d %10.4f %12d %10.4f %10.4f\n", $delta, $castle, $suppressed, $mondrian, $bottom_up;
}
