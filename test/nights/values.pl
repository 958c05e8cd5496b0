#!/usr/bin/perl
# values.pl [--cases N] [--seed S] [--seconds T]: publications that protect values, over six nights, against brute force.
#
# Each night some persons join, leave, come back, move (another quasi-identifier) or have another value. The attacker keeps every release, knows
# everybody's quasi-identifiers, who is in the source on which night, on which night somebody's value has changed, in which class
# everybody is, and of classes that look alike who belongs together.
#
# Asserted, every night:
# - a class shows the values of its persons and ranges that hold them, as they are tonight: movers show at once;
# - those who belong together are k persons or more, and have l values or more, in equal numbers;
# - whoever is in the source is shown or counted as waiting, and nobody else is shown.
# In the end all values of all persons are counted that fit every release: no person has one value in more than an l-th of them.
# Shares no code with the extension.

use strict;
use warnings;
no warnings 'recursion';
use FindBin;
use lib "$FindBin::Bin/../oracle/lib";
use Getopt::Long;
use JSON::PP;
use List::Util qw(max min sum0 uniq);
use Time::HiRes qw(time);
use Db;
use Random;

my ($cases, $seed, $seconds) = (60, 1, undef);
GetOptions('cases=i' => \$cases, 'seed=i' => \$seed, 'seconds=i' => \$seconds) or die "usage: $0 [--cases N] [--seed S] [--seconds T]\n";
my $NIGHTS = 6;
my $WORLDS = 20000; # of persons who hang together; of more not all are counted
my $json = JSON::PP->new->canonical;
my ($db, @failures, %done);
my ($persons_seen, $waited, $counted, $uncounted, $renewed, $worst) = (0, 0, 0, 0, 0, 0);

sub complain
{
	my ($case, $text) = @_;
	push @failures, "case $case->{seed} night $case->{night} ($case->{what}): $text";
	$case->{failed} = 1;
	return;
}

sub draw_case
{
	my ($number) = @_;
	srand($number);
	my $l = pick(2, 2, 3);
	my %case = (seed => $number, l => $l, k => pick(2, 2, 3, 4), values => $l + below(4), wide => pick(12, 1000), last => 0, night => 0, rows => {}, gone => {}, epoch => {}, groups => []);
	$case{what} = "l $l, k $case{k}, $case{values} values";
	return \%case;
}

sub new_row
{
	my ($case) = @_;
	return { id => ++$case->{last}, a => below($case->{wide}), b => below(4), ill => 'v' . below($case->{values}) };
}

sub put { my ($case, $row) = @_; $case->{rows}{ $row->{id} } = $row; $db->run("INSERT INTO src VALUES ($row->{id}, $row->{a}, $row->{b}, '$row->{ill}')"); return; }

sub take { my ($case, $id) = @_; $db->run("DELETE FROM src WHERE id = $id"); return delete $case->{rows}{$id}; }

# Another value is another thing to know of the person.
sub set_value { my ($case, $row, $ill) = @_; $case->{epoch}{ $row->{id} }++ if $ill ne $row->{ill}; $row->{ill} = $ill; return; }

sub pass_night
{
	my ($case) = @_;
	my $share = pick(0.05, 0.15, 0.3);
	for my $id (some($share, sort { $a <=> $b } keys %{ $case->{rows} }))
	{
		my $row = take($case, $id);
		my $what = pick(qw(leave leave move value));
		if ($what eq 'leave') { $case->{gone}{$id} = $row; next; }
		@$row{qw(a b)} = (below($case->{wide}), below(4)) if $what eq 'move';
		set_value($case, $row, 'v' . below($case->{values})) if $what eq 'value';
		put($case, $row);
	}
	for my $id (some(0.2, sort { $a <=> $b } keys %{ $case->{gone} }))
	{
		my $row = delete $case->{gone}{$id};
		set_value($case, $row, 'v' . below($case->{values})) if chance(0.3);
		put($case, $row);
	}
	put($case, new_row($case)) for 1 .. below(4);
	return;
}

# What each class shows, by the values that it holds, and its persons.
sub look
{
	my ($case, $release, $held) = @_;
	my (%shown, %class, %seen, %together);
	for my $row (@{ $db->rows('SELECT lower(a) AS a_from, upper(a) - 1 AS a_to, lower(b) AS b_from, upper(b) - 1 AS b_to, ill FROM pub') })
	{
		push @{ $shown{ join '|', @$row{qw(a_from a_to b_from b_to)} } }, $row->{ill};
	}
	for my $row (@{ $db->rows("SELECT p.key AS id, p.class, v.kanon__signature AS signature FROM pub_persons_$release p LEFT JOIN pub_values_$release v ON v.id = p.key AND v.kanon__is_person") })
	{
		complain($case, "person $row->{id} is shown and not in the source, or twice") if !$case->{rows}{ $row->{id} } || $seen{ $row->{id} }++;
		push @{ $class{ $row->{class} } }, $row->{id};
		push @{ $together{"$row->{class} " . ($row->{signature} // '?')} }, $row->{id};
	}
	return if $case->{failed};
	for my $class (sort { $a <=> $b } keys %class)
	{
		my @rows = map { $case->{rows}{$_} } @{ $class{$class} };
		my $label = join '|', map { my $c = $_; (min(map { $_->{$c} } @rows), max(map { $_->{$c} } @rows)) } qw(a b);
		my $values = join ' ', sort map { $_->{ill} } @rows;
		complain($case, "class $label shows other values than those of its persons") if $values ne join ' ', sort @{ delete $shown{$label} // [] };
	}
	complain($case, 'a class of nobody: ' . join ', ', sort keys %shown) if %shown;
	for my $group (sort keys %together)
	{
		my @ids = @{ $together{$group} };
		my %n;
		$n{ $case->{rows}{$_}{ill} }++ for @ids;
		complain($case, 'persons together: ' . @ids) if @ids < $case->{k};
		complain($case, 'values: ' . join ' ', map { "$_ $n{$_}" } sort keys %n) if keys %n < $case->{l} || uniq(values %n) > 1;
		push @{ $case->{groups} }, { persons => [ map { "$_." . ($case->{epoch}{$_} // 0) } sort { $a <=> $b } @ids ], values => \%n };
	}
	my $waiting = grep { !$seen{$_} } keys %{ $case->{rows} };
	complain($case, "$waiting wait, and $held are counted") if $waiting != $held;
	$waited += $waiting;
	$persons_seen += keys %{ $case->{rows} };
	return;
}

# ---- what fits all releases ----

# Groups that have persons in common, or the same person before and after a change, hang together.
sub components
{
	my ($case) = @_;
	my (%of, @parent);
	my $root = sub { my ($i) = @_; $i = $parent[$i] while $parent[$i] != $i; return $i; };
	for my $i (0 .. $#{ $case->{groups} })
	{
		$parent[$i] = $i;
		for my $person (@{ $case->{groups}[$i]{persons} })
		{
			my ($id) = $person =~ /^(\d+)/;
			$parent[ $root->($of{$id}) ] = $i if defined $of{$id};
			$of{$id} = $i;
		}
	}
	my %components;
	push @{ $components{ $root->($_) } }, $case->{groups}[$_] for 0 .. $#{ $case->{groups} };
	return values %components;
}

# Counts the values of all persons that give what the groups show; undef: too many.
sub count_worlds
{
	my ($groups) = @_;
	my (%value, %tally);
	my $worlds = 0;
	my $assign;
	$assign = sub {
		my ($g, $p, $left) = @_;
		return if $worlds > $WORLDS;
		if ($g == @$groups)
		{
			$worlds++;
			$tally{$_}{ $value{$_} }++ for keys %value;
			return;
		}
		my $persons = $groups->[$g]{persons};
		return $assign->($g + 1, 0, $g + 1 < @$groups ? { %{ $groups->[ $g + 1 ]{values} } } : undef) if $p == @$persons;
		my $person = $persons->[$p];
		if (defined(my $known = $value{$person}))
		{
			return if !$left->{$known};
			local $left->{$known} = $left->{$known} - 1;
			return $assign->($g, $p + 1, $left);
		}
		my ($id, $epoch) = split /[.]/, $person;
		my $before = $epoch > 0 ? $value{ "$id." . ($epoch - 1) } : undef;
		for my $ill (grep { $left->{$_} && $_ ne ($before // '') } sort keys %$left)
		{
			local $left->{$ill} = $left->{$ill} - 1;
			$value{$person} = $ill;
			$assign->($g, $p + 1, $left);
			delete $value{$person};
		}
		return;
	};
	$assign->(0, 0, { %{ $groups->[0]{values} } });
	return if $worlds > $WORLDS;
	return ($worlds, \%tally);
}

sub attack
{
	my ($case) = @_;
	for my $groups (components($case))
	{
		my ($worlds, $tally) = count_worlds($groups);
		if (!defined $worlds) { $uncounted++; next; }
		$counted++;
		complain($case, 'no values fit') if $worlds == 0;
		for my $person (sort keys %$tally)
		{
			my $most = max(values %{ $tally->{$person} });
			$worst = max($worst, $most * $case->{l} / $worlds);
			complain($case, "of person $person one value is in $most of $worlds") if $most * $case->{l} > $worlds;
			$renewed++ if $person !~ /[.]0$/;
		}
	}
	return;
}

sub run_case
{
	my ($case) = @_;
	$db->run('CREATE TABLE src (id int, a int, b int, ill text)');
	put($case, new_row($case)) for 1 .. 6 + below(9);
	my $options = $db->quote($json->encode({ keep => ['ill'], min_rows => 0, allow_identifying => ['ill'], privacy => [ { rule => 'distinct_l', column => 'ill', l => $case->{l} } ] }));
	my ($state) = $db->try("SELECT kanon_create_publication('pub', 'src', '{a,b}', $case->{k}, $options, 'cluster', key => 'id', protect_successive => 'values')");
	return if $state eq '23514' || $state eq '22023'; # too few rows or values
	return complain($case, "creation: $state") if $state ne '00000';
	my $release = 1;
	look($case, 1, $db->rows("SELECT held_persons AS n FROM kanon_publication_status('pub')")->[0]{n});
	while ($case->{night} < $NIGHTS && !$case->{failed})
	{
		$case->{night}++;
		pass_night($case);
		my ($state, $told) = $db->try("SELECT release, status, error, message, held_persons FROM kanon_refresh('pub')");
		my $line = $told && $told->[0];
		if (!$line) { complain($case, "refresh: $state"); last; }
		# (so few rows or values that no class could be made: readers keep what they have)
		next if $line->{status} eq 'unchanged' || $line->{status} eq 'failed' && $line->{error} =~ /^(23514|22023)$/;
		complain($case, "refresh: $line->{status} $line->{error} $line->{message}") if $line->{status} ne 'current';
		last if $case->{failed};
		$release = $line->{release};
		look($case, $release, $line->{held_persons});
	}
	attack($case) if !$case->{failed};
	$db->run("SELECT kanon_drop_publication('pub')");
	$done{ $case->{what} }++;
	return 1;
}

sub leave
{
	my ($case) = @_;
	mkdir "$FindBin::Bin/../../build";
	mkdir "$FindBin::Bin/../../build/nights";
	open my $file, '>', "$FindBin::Bin/../../build/nights/values_$case->{seed}.sql" or die "$!\n";
	print $file $db->take_log;
	close $file;
	return;
}

my ($begun, $asked, $none, $failed) = (time, 0, 0, 0);
$db = Db->connect;
for my $number ($seed .. $seed + $cases - 1)
{
	last if defined $seconds && time - $begun > $seconds;
	my $case = draw_case($number);
	$db->take_log;
	$db->run('DROP SCHEMA IF EXISTS nights CASCADE');
	$db->run('CREATE SCHEMA nights');
	$db->run('SET search_path = nights, public');
	run_case($case) ? $asked++ : $none++;
	next if !$case->{failed};
	$failed++;
	leave($case);
	$db->run('DROP SCHEMA IF EXISTS nights CASCADE');
}
printf "%s: %d\n", $_, $done{$_} for sort keys %done;
printf "of %d persons on a night %.1f %% waited\n", $persons_seen, 100 * $waited / max($persons_seen, 1);
printf "%d sets of persons who hang together were counted, of %d there were too many values; %d persons after a change; the worst chance is %.3f of 1/l\n", $counted, $uncounted, $renewed, $worst;
print "FAILED $_\n" for @failures;
printf "%d of %d series of %d nights hold, %d have no first release (%d seconds)\n", $asked - $failed, $asked, $NIGHTS, $none, time - $begun;
printf "# %s\n", @failures ? "$failed of $asked tests failed" : "All $asked tests passed";
exit(@failures > 0);
