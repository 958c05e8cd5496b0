#!/usr/bin/perl
# statements.pl [--cases N] [--seed S] [--seconds T]: every number of a page against SQL over the table.
#
# Random tables with NULLs, persons of several rows, masks, marks, rules and hierarchies are published by everything that
# publishes; publications over several nights, some of them protected. The page is made with everything that it can read, and
# taken as its reader has it: as text. Each number in it must be the one that SQL finds in the source and the table, or in the
# call; a few are the record's, which test/oracle counts again. A number that no rule takes is a failure, too.
# With --wrong each number is changed in turn, and the test tells which changes it does not notice.
# Shares no code with the extension. Of a case that fails the SQL is left in build/statements/.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../oracle/lib", "$FindBin::Bin/lib";
use Getopt::Long;
use JSON::PP;
use Time::HiRes qw(time);
use Count;
use Db;
use Draw;
use Page;
use Rules;

my ($cases, $seed, $seconds, $only, $wrong) = (60, 1);
GetOptions('cases=i' => \$cases, 'seed=i' => \$seed, 'seconds=i' => \$seconds, 'only=s' => \$only, 'wrong' => \$wrong) or die "usage: $0 [--cases N] [--seed S] [--seconds T] [--only KIND] [--wrong]\n";
my $json = JSON::PP->new->allow_nonref;
my (@failures, %done, %refused, %unseen);
my ($numbers, @changed) = (0, 0, 0);

# The relations that a rule calls src and out are the case's own.
package Relations
{
	sub rows
	{
		my ($self, $sql) = @_;
		$sql =~ s/'out'::regclass/'$self->{out}'::regclass/g;
		$sql =~ s/(?<![.'"\w])out(?![.'"\w=])/$self->{out}/g;
		$sql =~ s/(?<![.'"\w])src(?![.'"\w])/$self->{src}/g;
		return $self->{db}->rows($sql);
	}
}

sub sha256
{
	my ($relation) = @_;
	my $hash = `psql -XqAt -c "COPY (SELECT * FROM $relation) TO STDOUT" | LC_ALL=C sort | sha256sum`;
	return substr($hash, 0, 64);
}

# What a page is to be counted by: the run's record, relations and call.
sub counts
{
	my ($db, $case, $rec, %more) = @_;
	my ($out, $src) = ($more{target} // 'out', $more{source} // 'src');
	my %levels = map { ($_ => [ $_ . 's', $_ eq 'age' ? qw(decade half) : 'zip2' ]) } grep { $case->{options}{hierarchies}{$_} } qw(age zip);
	$levels{items} = ['goods'] if $case->{kind} eq 'transactions' && $case->{method} ne 'suppress';
	my $held = $rec->{options}{held_back};
	my $earlier = $case->{publication} && $db->rows("SELECT release, status, relation IS NOT NULL AS there FROM kanon_releases WHERE status <> 'failed' ORDER BY release");
	my ($current) = map { $_->{release} } grep { $_->{status} eq 'current' } @{ $earlier || [] };
	my @before = map { $_->{release} } grep { $_->{there} && $_->{release} < ($current // 0) } @{ $earlier || [] };
	return Count->new(db => bless({ db => $db, out => $out, src => $src }, 'Relations'), %$case, target => 'out', source => 'src', target_name => $out, source_name => 'src', all_sources => $more{source} // 'everyone',
		rec => $rec, run => $rec->{run}, held => $held && $held->{persons} ? $held : undef, levels => \%levels, marked => $case->{options}{mark} ? 1 : 0, release => $current, earlier => $before[-1],
		nulls => $db->rows('SELECT bool_or(age IS NULL OR zip IS NULL OR sex IS NULL) AS v FROM everyone')->[0]{v} ? 1 : 0, %more, target => 'out', source => 'src');
}

# Words with digits that are no numbers.
sub plain
{
	my ($line, $case) = @_;
	$line =~ s/\b(?:zip2|SHA-256|sha256sum|k\^m|[it]\d|shop\d|1?\d\d?\*)//g;
	$line =~ s/Opinion 05\/2014 of the Article 29|1 divided by its number|more than 1\/|than 1 in|\(c,2\)|1 is best|at least 1 - |k => \d, m => 2\);|k => \d, known_rows => '1'\);|: 0 nothing lost, 100 % everything|100 % nothing lost, 0 everything|A to W: 10 to 32|one in k|chances above 20\.0 %|is above 20 ?%//g;
	$line =~ s/source, 100 at most|from 0 %, the same, to 100 %|share of 0\.\d+ or less|above 0\.2|\(0\.2\)//g;
	# made-up values of an example
	$line =~ s/An example with made-up values: a row with .*? is shown with .*?\.(?= |$)//;
	return $line;
}

# Is it noticed when a number is another one?
sub change
{
	my ($counts, $heading, $text, $case) = @_;
	# (words with digits stay as they are)
	my $words = qr/\b(?:zip2|SHA-256|sha256sum|k\^m|[it]\d|shop\d|C_avg)|linked\.\w+|\d\d? \w+ \d{4}, \d\d:\d\d UTC|Opinion 05\/2014 of the Article 29|1 divided|\(c,2\)|1 is best|100? %(?: nothing| everything)|0 (?:nothing|everything)|10 to 32|\[\d+,\d+\)|"[^"]*"|\{[^}]*\}|1 - |1\/|1 in|source, 100|\b20(?:\.0)? %$/;
	my @places;
	while ($text =~ /$words|(\d+(?:\.\d+)?)/g) { push @places, [ $-[1], $+[1] ] if defined $1; }
	for my $place (@places)
	{
		my $other = $text;
		my $n = substr($text, $place->[0], $place->[1] - $place->[0]);
		(my $m = $n) =~ s/(\d)$/$1 == 9 ? 3 : $1 + 1/e;
		substr($other, $place->[0], $place->[1] - $place->[0]) = $m;
		my ($left, @wrong) = Rules::look($counts, $heading, $other);
		$changed[0]++;
		next if @wrong || plain($left, $case) =~ /\d/;
		(my $kind = substr($text, 0, $place->[0]) . '<here>' . substr($text, $place->[1])) =~ s/\d+(?:\.\d+)?/N/g;
		$unseen{"[$heading] $kind"}++;
		$changed[1]++;
	}
	return;
}

sub check_case
{
	my ($db, $case) = @_;
	my ($state);

	$db->run('DROP SCHEMA IF EXISTS linked CASCADE');
	$db->run('DROP VIEW IF EXISTS src_now');
	$db->run('SELECT kanon_drop_publication(publication) FROM kanon_publications');
	$db->run('DROP TABLE IF EXISTS src, ages, zips, pop, baskets, goods, out, out_values, who, stay, everyone CASCADE');
	$db->take_log;
	for my $sql (@{ $case->{make} })
	{
		($state) = $db->run($sql);
		next if $state eq '00000';
		# rules that no release keeps, options that do not stand together
		$refused{"$case->{kind} $state"}++;
		push @failures, "$case->{number}: $state: $sql" if $state !~ /^(23514|0A000|P0002|22023)$/;
		return;
	}
	$case->{calls} = $case->{make};
	my $rec = $db->rows('SELECT * FROM kanon_usefulness WHERE ' . ($case->{kind} eq 'linked' ? 'tables IS NOT NULL' : 'true') . ' ORDER BY run DESC LIMIT 1')->[0];
	my $html = $db->rows("SELECT kanon_report($rec->{run}, with_values => true, compare => true, read_target => true, read_population => true) AS p")->[0]{p};
	my @lines = Page::lines($html);
	my %times = map { $_->{t} => 1 } @{ $db->rows("SELECT to_char(t AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC' AS t FROM (SELECT started_at AS t FROM kanon_usefulness UNION SELECT finished FROM kanon_releases UNION SELECT checked FROM kanon_publications p JOIN kanon_releases USING (publication)) x WHERE t IS NOT NULL") };
	my $target = $rec->{publication} ? $db->rows("SELECT target_oid::regclass AS t FROM kanon_usefulness WHERE run = $rec->{run}")->[0]{t} : 'out';
	my @source;
	if ($case->{kind} eq 'appended')
	{
		$db->run("CREATE VIEW src_now AS SELECT * FROM src WHERE id IN (SELECT id FROM $target)");
		@source = (source => 'src_now');
	}
	@source = (source => 'baskets') if $case->{kind} eq 'transactions';
	my %masked = %{ $case->{masked} };
	my @compared = grep { my $column = $_; !$masked{$column} && $column !~ /^(id|person)$/ && !grep { $column eq $_ } @{ $case->{allowed} // [] } } @{ $case->{kept} };
	my %share = (verdicts => scalar(grep { $_->[0] =~ /^What was promised|^linked\./ && $_->[2] =~ /^(?:yes|no|caution)\. / } @lines) - ($case->{kind} eq 'linked' ? 2 : 0), front => scalar(grep { $_->[0] eq '' && $_->[1] =~ /^What is published/ && $_->[2] =~ /^(?:yes|no|caution)\. / } @lines),
		runs => [ map { $_->{run} } @{ $db->rows('SELECT run FROM kanon_usefulness') } ], times => [ keys %times ], compared_kept => \@compared);
	my @tables = $case->{kind} eq 'linked' ? qw(linked.who linked.stay) : $case->{kind} eq 'anatomy' ? ($target, 'out_values') : $target;
	$share{hashes} = [ map { sha256($_) } @tables ];
	my $whole = counts($db, $case, $rec, target => $target, @source, %share, $case->{kind} eq 'linked' ? (target => 'linked.who', source => 'who', qis => [qw(age sex)]) : ());
	my %part;
	if ($case->{kind} eq 'linked')
	{
		for my $t (qw(who stay))
		{
			my $own = $db->rows("SELECT * FROM kanon_usefulness WHERE target = 'linked.$t' ORDER BY run DESC LIMIT 1")->[0] // next;
			$part{"linked.$t"} = counts($db, $case, $own, target => "linked.$t", source => $t, qis => $t eq 'who' ? [qw(age sex)] : ['zip'], kept => $t eq 'who' ? ['town'] : ['ill'], %share, part => 1, all_sources => $t);
		}
	}
	my %bars;
	$_->[1] =~ /^(\w+): share of the rows that have a bar/ && $_->[2] =~ /^(?:source, before table, after )?(.+?) (?:[<>] )?[\d.]+ % (?:[<>] )?[\d.]+ %$/ and push @{ $bars{ $_->[1] =~ /^(\w+)/ ? $1 : '' } }, ($_->[2] =~ /^(?:source, before table, after )?(.+?) (?:[<>] )?[\d.]+ % /)[0] for @lines;
	@$_{qw(bars ranges)} = (\%bars, 1) for $whole, values %part;
	for (@lines)
	{
		my ($heading, $caption, $text) = @$_;
		my $counts = $part{$heading} // $whole;
		# a verdict that a part's page has, on the first page
		$counts = $part{$1} if $text =~ /^(?:yes|no|caution)\. (linked\.\w+): / && $part{$1};
		next if $text !~ /\d/;
		$heading = 'What was lost' if $part{$heading} && $text =~ /\|/;
		($counts->{bar_of}) = $caption =~ /^(\w+): share of the rows that have a bar/;
		my ($left, @wrong) = Rules::look($counts, $heading, $text);
		$left = plain($left, $case);
		push @wrong, "nobody counts: $left" if $left =~ /\d/;
		push @failures, map { "$case->{number} ($case->{kind}) [$heading]: $_" } @wrong;
		change($counts, $heading, $text, $case) if $wrong;
	}
	$numbers += $_->{counted} // 0 for $whole, values %part;
	$done{ $case->{kind} }++;
	return;
}

my $db = Db->connect;
my $end = defined $seconds ? time + $seconds : undef;
my $n = 0;
mkdir 'build';
mkdir 'build/statements';
for my $number ($seed .. $seed + $cases - 1)
{
	last if defined $end && time > $end;
	my $before = @failures;
	my $case = Draw::draw($number, $only);
	eval { check_case($db, $case); 1 } or push @failures, "$number ($case->{kind}): $@";
	$n++;
	next if @failures == $before;
	open my $file, '>', "build/statements/$number.sql" or die $!;
	print $file $db->take_log;
	close $file;
	last if @failures > 2000;
}
print "$_\n" for @failures;
print "$n cases: ", join(', ', map { "$_ $done{$_}" } sort keys %done), "\n";
print "refused: ", join(', ', map { "$_ $refused{$_}" } sort keys %refused), "\n" if %refused;
print "$numbers numbers were counted\n" if $wrong || -t STDOUT || @failures;
print join('', map { "not noticed, $unseen{$_} times: $_\n" } sort { $unseen{$b} <=> $unseen{$a} } keys %unseen), "$changed[0] numbers were changed, $changed[1] not noticed\n" if $wrong;
my $failed = keys %{ { map { (/^(\d+)/ ? $1 : $_) => 1 } @failures } };
print @failures ? "# $failed of $n tests failed\n" : "# All $n tests passed\n";
exit(@failures ? 1 : 0);
