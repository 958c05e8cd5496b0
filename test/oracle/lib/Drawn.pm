package Drawn;

# Rows drawn by chance: kanon_alpha_beta, kanon_synthetic. What was drawn with is what the promise takes, by its
# definition; what came out is of the domain, and counted again.

use strict;
use warnings;
use List::Util qw(max sum0 uniq);
use Names;
use Random;

sub near { my ($a, $b) = @_; return abs($a - $b) <= 1e-9 * (1 + abs($a) + abs($b)); }

# What a call returned, by measure; and the rows of the target as texts.
sub publish
{
	my ($db, $function, @arguments) = @_;
	my ($state, $lines) = $db->try('SELECT * FROM ' . Names::call($function, source => "'drawn_src'", target => "'drawn_out'", columns => "'{a,b}'", replace => 'true', @arguments));
	return ($state) if $state ne '00000';
	return ($state, { map { (join(' ', $_->{measure}, $_->{column_name} // ()) => $_->{value}) } @$lines }, [ map { ($_->{a} // '-') . " $_->{b}" } @{ $db->rows('SELECT a, b FROM drawn_out') } ]);
}

# How probable each table of `wanted` rows is, when rows are drawn from an urn with so many of each kind: Polya's.
sub outcome_chances
{
	my ($urn, $outcomes, $wanted) = @_;
	my $all = sum0(@$urn);
	return map {
		my $x = $_;
		my ($chance, $left) = (1, $wanted);
		for my $i (0 .. $#$x)
		{
			for my $ball (0 .. $x->[$i] - 1) { $chance *= $left / ($ball + 1) * ($urn->[$i] + $ball) / ($all + $wanted - $left); $left--; }
		}
		$chance;
	} @$outcomes;
}

# All ways to have so many rows of so many kinds.
sub outcomes
{
	my ($kinds, $rows) = @_;
	return [$rows] if $kinds == 1;
	return map { my $first = $_; map { [ $first, @$_ ] } outcomes($kinds - 1, $rows - $first) } 0 .. $rows;
}

# The chance of an outcome that is more than exp(epsilon) times as likely, or less, with one row in another's place.
sub telling
{
	my ($counts, $noise, $epsilon, $wanted) = @_;
	my @outcomes = outcomes(scalar @$counts, $wanted);
	my @chance = outcome_chances([ map { $_ + $noise } @$counts ], \@outcomes, $wanted);
	my @tells;
	for my $from (grep { $counts->[$_] > 0 } 0 .. $#$counts)
	{
		for my $to (grep { $_ != $from } 0 .. $#$counts)
		{
			my @other = @$counts;
			$other[$from]--;
			$other[$to]++;
			my @with = outcome_chances([ map { $_ + $noise } @other ], \@outcomes, $wanted);
			for (0 .. $#with) { $tells[$_] ||= abs(log($chance[$_] / $with[$_])) > $epsilon + 1e-9; }
		}
	}
	return sum0(map { $chance[$_] } grep { $tells[$_] } 0 .. $#chance);
}

sub check
{
	my ($db, $complain, $done) = @_;
	my ($na, $nb) = (1 + below(3), 1 + below(2));
	my $n = 1 + below(6);
	my @rows = map { [ chance(0.2) ? undef : below($na + 1), below($nb) ] } 1 .. $n;
	my @domain_a = (0 .. $na - 1, chance(0.5) ? undef : ());
	my %domain = map { my $a = $_; map { (($a // '-') . " $_" => 0) } 0 .. $nb - 1 } @domain_a;
	my $m = keys %domain;
	my @inside = grep { exists $domain{$_} } map { ($_->[0] // '-') . " $_->[1]" } @rows;
	my $domains = sprintf q('{"a": [%s], "b": {"from": 0, "to": %d}}'), join(', ', map { $_ // 'null' } @domain_a), $nb - 1;
	my $different = uniq @inside;
	my $what;
	my $say = sub { my ($name, $is, $should) = @_; $complain->("$what: $name is " . ($is // 'NULL') . ", should be $should") if !defined $is || !near($is, $should); };

	$domain{$_}++ for @inside;
	$db->run('DROP TABLE IF EXISTS drawn_src');
	$db->run('CREATE TABLE drawn_src (a int, b int)');
	$db->run('INSERT INTO drawn_src VALUES ' . join(', ', map { '(' . ($_->[0] // 'NULL') . ", $_->[1])" } @rows));

	my $d = pick(0.05, 0.2, 0.4, 0.7);
	my $gamma = $d + (1 - $d) * pick(0.1, 0.5, 0.9);
	$what = "alpha_beta d=$d gamma=$gamma of $m";
	my ($state, $is, $out) = publish($db, 'alpha_beta', d => $d, gamma => $gamma, domains => $domains);
	my $possible = $different / $m <= $d;
	$done->{alpha_beta}++;
	$complain->("$what: " . ($possible ? "refused with $state" : "published with $state")) if $state ne ($possible ? '00000' : '23514');
	if ($is)
	{
		my ($alpha, $beta) = @$is{qw(alpha beta)};
		my $there = $alpha + $beta;
		# the two bounds of the promise, both just kept
		$say->('what is believed of a row that is published', $d * $there / ($d * $there + (1 - $d) * $beta), $gamma);
		$say->('what is believed of one that is not', (1 - $there) / (1 - $beta), $d / $gamma);
		$say->($_->[0], $is->{ $_->[0] }, $_->[1]) for [ domain => $m ], [ source_rows => scalar @inside ], [ outside_rows => @rows - @inside ],
		  [ different_rows => $different ], [ kept_rows => scalar grep { $domain{$_} } @$out ], [ added_rows => scalar grep { !$domain{$_} } @$out ],
		  [ standard_error => sqrt($different * $there * (1 - $there) + ($m - $different) * $beta * (1 - $beta)) / $alpha ];
		$complain->("$what: a row is there twice, or of no domain") if uniq(@$out) != @$out || grep { !exists $domain{$_} } @$out;
	}

	my ($epsilon, $delta, $wanted) = (pick(0.5, 1, 2, 4), pick(0.01, 0.1, 0.4), 1 + below(4));
	$what = "synthetic epsilon=$epsilon delta=$delta of $m";
	($state, $is, $out) = publish($db, 'synthetic', epsilon => $epsilon, delta => $delta, domains => $domains, rows => $wanted);
	$done->{synthetic}++;
	$complain->("$what: refused with $state") if $state ne '00000';
	if ($is)
	{
		my @counts = map { $domain{$_} } sort keys %domain;
		my $tells = @inside && $m > 1 ? telling(\@counts, $is->{noise}, $epsilon, $wanted) : 0;
		$complain->("$what: with noise $is->{noise} $wanted rows of (@counts) tell too much with a chance of $tells") if $tells > $delta + 1e-9;
		$say->($_->[0], $is->{ $_->[0] }, $_->[1]) for [ domain => $m ], [ source_rows => scalar @inside ], [ outside_rows => @rows - @inside ], [ published_rows => $wanted ],
		  [ noise_share => $is->{noise} * $m / (@inside + $is->{noise} * $m) ];
		$complain->("$what: " . @$out . ' rows, or one of no domain') if @$out != $wanted || grep { !exists $domain{$_} } @$out;
		for my $c (0, 1)
		{
			my %share;
			next if !@inside;
			$share{ (split / /, $_)[$c] } += 1 / @inside for @inside;
			$share{ (split / /, $_)[$c] } -= 1 / @$out for @$out;
			$say->('marginal_error', $is->{ 'marginal_error ' . (qw(a b))[$c] }, sum0(map { abs } values %share) / 2);
		}
	}
	return $what;
}

1;
