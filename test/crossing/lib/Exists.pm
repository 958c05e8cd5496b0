package Exists;

# Is there a release at all?  By trying all there are, on tables of a few rows.

use strict;
use warnings;
use List::Util qw(max min);
use Draw;
use Verdict;

my $MOST = 8;

# What there is, or ''.
sub release
{
	my ($call, $now) = @_;
	my @rows = map { $now->{rows}{$_} } sort { $a <=> $b } keys %{ $now->{rows} };
	my ($model, $method) = @$call{qw(model method)};
	my $width = @{ $call->{world}{columns} };
	my $blank = '*' x $width;

	return '' if !@rows;
	# (heuristics refuse to fill up with 'error': the page says so)
	return '' if $call->{residual} eq 'error' && $model eq 'pattern_guided' && $method !~ /ilp|best|fpt|matching/;
	# (NULL and blank cells are values there, and every row shows one)
	$call = { %$call, k => max($call->{k}, map { /=(\d+)/ ? $1 : 0 } @{ $call->{option}{combinations} // [] }) } if $call->{known} && ($call->{option}{missing} // '') eq 'value';
	return 'the whole table keeps the rules'
		if ($model ne 'pattern_clustering' || $call->{ruled} || grep { $_ eq $blank } @{ $call->{patterns} }) && Verdict::whole_of($call, \@rows, $now->{crowd}, $now->{persons}) eq '';
	# persons: classes that show the same are one, which may break what each of them keeps
	return '' if @rows > $MOST || $now->{persons} || $call->{ruled} || grep { $_->{kind} =~ /k_map|presence/ } @{ $call->{rules} };
	return '' if $call->{known} || $call->{publication} ne 'call' || grep { ref && $_->{quantile} } @{ $call->{levels} };
	return node($call, \@rows, $width) if $model eq 'full_domain';
	return node({ %$call, option => { suppression_limit => 0 } }, \@rows, $width) if $model eq 'subtree';
	return parts($call, \@rows, $width) if $model =~ /^pattern_/ && $method =~ /exact|fpt|ilp|best|matching/;
	return '';
}

# What a row shows by a pattern.
sub shown
{
	my ($call, $row, $pattern) = @_;
	my @symbols = split //, $pattern;
	return join '|', map { my $s = $symbols[$_]; $s eq '*' ? '*' : key(defined $row->{q}[$_] ? label($call, $_, $s eq '-' ? 0 : $s, $row->{q}[$_]) : undef) } 0 .. $#symbols;
}

sub lattice
{
	my ($call, $width) = @_;
	my @lattice = ('');
	for my $c (0 .. $width - 1)
	{
		my $height = Draw::height($call, $c);
		@lattice = map { my $p = $_; map { $p . ($_ == 0 ? '-' : $_ == $height ? '*' : $_) } 0 .. $height } @lattice;
	}
	return @lattice;
}

sub members { my ($set, $rows) = @_; return [ map { $rows->[$_] } grep { $set >> $_ & 1 } 0 .. $#$rows ]; }
sub ways { my ($call, $rows) = @_; return [ map { my $some = members($_, $rows); @$some ? Verdict::class_test($call, $some, $rows, 0, 0) eq '' : 0 } 0 .. 2**@$rows - 1 ]; }

# May the suppressed rows be published so, or left out?
sub rest_fits
{
	my ($call, $rest, $rows, $keeps) = @_;
	return 1 if $rest == 0 || $call->{residual} eq 'drop' || $keeps->[$rest];
	return $call->{residual} eq 'suppress' && Verdict::class_test($call, members($rest, $rows), $rows, 0, 1) eq '';
}

sub node
{
	my ($call, $rows, $width) = @_;
	my $keeps = ways($call, $rows);
	my $limit = int($call->{option}{suppression_limit} * @$rows * (1 + 1e-15));
	for my $pattern (lattice($call, $width))
	{
		my %group;
		$group{ shown($call, $rows->[$_], $pattern) } += 1 << $_ for 0 .. $#$rows;
		# groups that are no class are suppressed whole; where residual is 'fill', rows of others may join them
		for my $rest (0 .. 2**@$rows - 1)
		{
			my $n = () = sprintf('%b', $rest) =~ /1/g;
			next if $n > $limit || !rest_fits($call, $rest, $rows, $keeps) || ($call->{residual} eq 'drop' && $n == @$rows);
			next if grep { my $left = $_ & ~$rest; $left && (!$keeps->[$_] || !$keeps->[$left] || ($left != $_ && $call->{residual} ne 'fill')) } values %group;
			return "node $pattern keeps the rules with $n rows suppressed";
		}
	}
	return '';
}

# Classes by patterns: the best of each set of rows by the sets that it is made of.
sub parts
{
	my ($call, $rows, $width) = @_;
	my $keeps = ways($call, $rows);
	my $all = 2**@$rows - 1;
	my $blank = '*' x $width;
	my $clustering = $call->{model} eq 'pattern_clustering';
	return '' if !$call->{patterns};
	my @list = grep { $clustering || $_ ne $blank } @{ $call->{patterns} };
	my %reach = (0 => 1);
	for my $pattern (@list)
	{
		my %sets;
		for my $set (grep { $keeps->[$_] } 1 .. $all)
		{
			my %shown = map { shown($call, $_, $pattern) => 1 } @{ members($set, $rows) };
			$sets{$set} = 1 if keys %shown == 1;
		}
		my %next = %reach;
		# (each pattern once, or for as many classes as one likes)
		for (my $more = 1; $more; $more = !$clustering && keys %next > $more) 
		{
			$more = keys %next;
			for my $used (map { $_ + 0 } $clustering ? keys %reach : keys %next)
			{
				$next{ $used | $_ } = 1 for grep { !($used & $_) } map { $_ + 0 } keys %sets;
			}
		}
		%reach = %next;
	}
	return $reach{$all} ? 'there is a way to make classes' : '' if $clustering;
	for my $used (map { $_ + 0 } keys %reach)
	{
		next if $used == 0 && $call->{residual} eq 'drop';
		return 'there is a way to make classes' if rest_fits($call, $all & ~$used, $rows, $keeps);
	}
	return '';
}

1;
