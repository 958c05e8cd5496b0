#!/usr/bin/perl
# crossing.pl [--calls N] [--seed S] [--seconds T] [--only PATTERN] [--tally]: everything that kanon takes, crossed.
#
# Each call crosses a method with privacy rules, residual, NULLs, marks, persons, known columns, populations, hierarchies,
# weights, parts, masks and kinds of publications, on a table of a few rows.  It has to end in one of three ways:
# - a release that a recount finds right (lib/Verdict.pm), which the dry run promised, line by line;
# - a refusal that a page names (lib/Refusals.pm);
# - "no release", and brute force finds none either (lib/Exists.pm).
# --tally prints how often each pair of features met.  A world can be seen again alone: --seed (its number) --calls 1.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../oracle/lib";
use DBI;
use Getopt::Long;
use JSON::PP;
use List::Util qw(max min sum0 uniq);
use Time::HiRes qw(time);
use Ask;
use Draw;
use Exists;
use Refusals;
use Verdict;

my %option = (seed => 1, calls => 2000, seconds => 0, only => '', failures => 20);
GetOptions(\%option, qw(seed=i calls=i seconds=i only=s tally verbose failures=i)) or die "usage: $0 [--calls N] [--seed S] [--seconds T] [--only PATTERN] [--tally] [--verbose]\n";
my $PER_WORLD = 12;
my $json = JSON::PP->new->canonical->allow_nonref;
my $dbh = DBI->connect('dbi:Pg:', '', '', { AutoCommit => 1, PrintError => 0, RaiseError => 1, PrintWarn => 0, pg_server_prepare => 0, pg_enable_utf8 => 1 });
$dbh->do('SET client_min_messages = error');
$dbh->do($_) for 'CREATE EXTENSION kanon', @Draw::relations, $Ask::attempt, 'SET kanon.progress = off', 'SET max_parallel_workers_per_gather = 0';
my %takes;
for my $line (@{ $dbh->selectall_arrayref("SELECT proname, unnest(proargnames) FROM pg_proc WHERE proname ~ '^kanon_(pattern_guided|pattern_clustering|full_domain|subtree|cluster|freeform)\$'") })
{
	$takes{ $line->[0] }{ $line->[1] } = 1;
}

my (%pairs, %outcome, %known, %refused, @failures);
my ($calls, $begun) = (0, time);

sub tally
{
	my ($call) = @_;
	my @features = sort @{ $call->{features} };
	for my $i (0 .. $#features) { $pairs{ $features[$i] }{$_}++ for @features[ $i + 1 .. $#features ]; }
	return;
}

# What failed, once for each kind, with all that it takes to see it again.
sub complain
{
	my ($call, $what) = @_;
	my $kind = "$call->{model} " . ($what =~ s/\d+(\.\d+)?/N/gr =~ s/: \{.*//r);
	push @failures, $what;
	return if $known{$kind}++ > 1;
	mkdir $_ for qw(build build/crossing);
	my $name = sprintf 'build/crossing/%d-%d.sql', $call->{world}{number}, scalar @failures;
	print "FAILED, world $call->{world}{number}, $call->{model} $call->{method}, $call->{publication}, $name: ", substr($what, 0, 400), "\n";
	open(my $file, '>:encoding(UTF-8)', $name) or die "$name: $!\n";
	print $file "-- ", $what =~ s{\n}{ }gr, "\nCREATE EXTENSION kanon;\n", (map { "$_;\n" } @Draw::relations);
	print $file map { "$_;\n" } Draw::tables($call->{world}), map { $_->[1] } Ask::steps_of($call);
	close $file;
	return;
}

# The source as it is after a change.
sub change
{
	my ($now, $change) = @_;
	if (my $row = $change->{insert}) { $now->{rows}{ $row->{id} } = $row; }
	push @{ $now->{crowd} }, $change->{join} if $change->{join};
	for my $id (grep { defined && $now->{rows}{$_} } @$change{qw(delete update)})
	{
		push @{ $now->{was}{$id} }, $now->{rows}{$id};
		$now->{rows}{$id} = { %{ $now->{rows}{$id} }, s => 'q' };
		delete $now->{rows}{$id} if defined $change->{delete};
	}
	return;
}

# A dry run's lines without what time decides.
sub promised { my ($lines) = @_; return $json->encode([ map { my %l = %$_; delete @l{qw(solve_ms workers kanon_run)}; \%l } @$lines ]); }

sub judge
{
	my ($call, $answers) = @_;
	my @steps = Ask::steps_of($call);
	my %now = (rows => { map { $_->{id} => $_ } @{ $call->{world}{rows} } }, crowd => [ @{ $call->{world}{crowd} } ], persons => !!Verdict::has($call, 'subject'));
	my ($dry, $refused);

	for my $i (0 .. $#steps)
	{
		my ($what, $sql, $change) = @{ $steps[$i] };
		my $answer = $answers->[$i];
		my $state = $answer->{state};
		my $message = $answer->{message} // '';
		if ($what eq 'refresh' && $state eq '' && defined $answer->{lines}[0]{error}) { ($state, $message) = @{ $answer->{lines}[0] }{qw(error message)}; $answer->{held} = 1; }
		if ($what eq 'dry') { $dry = $answer; next; }
		if ($what eq 'change') { change(\%now, $change); $now{later} = 1; next; }
		if ($call->{key} && !$now{persons} && $call->{key} eq 'person')
		{
			$now{persons} = uniq(map { $_->{person} } values %{ $now{rows} }) < keys %{ $now{rows} };
		}
		return 'empty' if $what eq 'read' && $refused;
		return "$state in $what: $message" if $what eq 'read' && $state ne '';
		# (readers keep what they have)
		next if $what eq 'read' && $now{stale};
		if ($what eq 'read')
		{
			my $wrong = Verdict::verdict($call, \%now, [ map { $_->{v} } @{ $answer->{lines} } ]);
			return $wrong if $wrong ne '';
			next;
		}
		if ($what eq 'call')
		{
			return "the dry run says " . ($dry->{state} || 'fine') . " and the call $state: " . ($dry->{message} // $message) if ($dry->{state} // '') ne $state && $message !~ /^masked column/;
			return 'the dry run promises another release: ' . promised($dry->{lines}) . promised($answer->{lines}) if $state eq '' && promised($dry->{lines}) ne promised($answer->{lines});
		}
		$now{stale} = $state ne '' || ($what eq 'refresh' && ($answer->{lines}[0]{status} // '') =~ /held|failed/);
		next if $state eq '';
		$refused = 1 if $what ne 'refresh';
		my $page = Refusals::page($state, $message);
		$refused{ $state . ' ' . ($message =~ s/\d+/N/gr =~ s/"[^"]*"/"…"/gr) }++;
		print "$state $message\n" if $option{verbose};
		return "$state in $what: $message (" . ($answer->{detail} // '') . ')' if !defined $page;
		next if $state ne '23514' || $what eq 'refresh' || $message =~ /first batch|min_rows/;
		my $exists = Exists::release($call, \%now);
		return "$state in $what, though $exists: $message" if $exists ne '';
	}
	return $refused ? 'refused' : '';
}

sub one_call
{
	my ($call) = @_;
	my @steps = map { $_->[1] } Ask::steps_of($call);
	my $answer = $dbh->selectrow_array('SELECT crossing.attempt(ARRAY[' . join(', ', map { $dbh->quote($_) } @steps) . ']::text[])');
	my $answers = JSON::PP->new->utf8(0)->allow_bignum(0)->decode($answer);
	my $said = judge($call, $answers);
	$outcome{ $said =~ /^(refused|empty)?$/ ? $said =~ /^$/ ? 'released' : 'refused' : 'FAILED' }++;
	complain($call, $said) if $said !~ /^(refused|empty)?$/;
	print "$call->{world}{number}: $call->{model} $call->{method}: $said\n" if $option{verbose};
	return;
}

$| = 1;
for my $lost (Refusals::lost("$FindBin::Bin/../../doc/reference"))
{
	print "FAILED, the page does not have it: $lost\n";
	push @failures, $lost;
}
for (my $number = $option{seed}; $calls < $option{calls} && !($option{seconds} && time - $begun >= $option{seconds}); $number++)
{
	my $world = Draw::world($number);
	$dbh->begin_work;
	$dbh->do($_) for Draw::tables($world);
	for (1 .. $PER_WORLD)
	{
		my $call = Draw::draw($world, \%takes);
		next if $option{only} && "$call->{model} $call->{method} @{ $call->{features} }" !~ /$option{only}/;
		tally($call);
		eval { one_call($call); 1 } or complain($call, "stopped: $@");
		$calls++;
		printf STDERR "%d calls in %.0f s\n", $calls, time - $begun if $option{tally} && $calls % 5000 == 0;
		if ($dbh->{pg_error_level} && !$dbh->ping) { die "the connection is gone in world $number\n"; }
	}
	$dbh->rollback;
}

# Pairs that some function could be asked for.
my @features = sort(uniq(keys %pairs, map { keys %$_ } values %pairs));
my @met = map { my $a = $_; map { [ $pairs{$a}{$_}, "$a + $_" ] } keys %{ $pairs{$a} } } keys %pairs;
printf "%d features, %d pairs, the least met %d times, %d of them fewer than 50 times\n", scalar @features, scalar @met, min(map { $_->[0] } @met) // 0, scalar grep { $_->[0] < 50 } @met;
if ($option{tally})
{
	print map { "$_->[0]\t$_->[1]\n" } sort { $a->[0] <=> $b->[0] || $a->[1] cmp $b->[1] } @met;
	print map { "refused $refused{$_}\t$_\n" } sort { $refused{$b} <=> $refused{$a} } keys %refused;
}
printf "%s in %.0f s\n", join(', ', map { "$_ $outcome{$_}" } sort keys %outcome), time - $begun;
printf "# %s\n", @failures ? scalar(@failures) . " of $calls tests failed" : "All $calls tests passed";
exit(@failures > 0);
