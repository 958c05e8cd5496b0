#!/usr/bin/perl
# appended.pl [--cases N] [--seed S] [--seconds T]: publications that append, over eight nights, against brute force.
#
# Rows come every night: of persons who have several, some late, some corrected or deleted once they were shown. The attacker
# keeps every state of the view, knows everybody's quasi-identifiers and every night on which a person came, and which batch
# a row is in. A kept number identifies the source row, so that all of that can be counted.
#
# Asserted, every night:
# - what was shown is there as it was, row by row;
# - each source row is shown at most once, and each cell shows a value, range or set that has the row's own at that time;
# - in each batch each class has k rows (with a key: persons), and the values that the rule asks for, blank rows under
#   'suppress' aside: so each night of a person leaves k persons, whatever else the attacker keeps;
# - a row that is not shown waits, is late, or was left out by residual 'drop', and the status counts it so.
# Told, not asserted: how often nights together leave fewer than k persons by a kept value that stays with a person.
# Shares no code with the extension.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../oracle/lib";
use Getopt::Long;
use JSON::PP;
use List::Util qw(sum0 uniq);
use Time::HiRes qw(time);
use Db;
use Random;

my ($cases, $seed, $seconds) = (60, 1, undef);
GetOptions('cases=i' => \$cases, 'seed=i' => \$seed, 'seconds=i' => \$seconds) or die "usage: $0 [--cases N] [--seed S] [--seconds T]\n";
my $NIGHTS = 8;
my $json = JSON::PP->new->canonical;
my ($db, @failures, %done);
my ($nights_known, $narrowed, $late_seen, $held_seen, $changed_seen) = (0, 0, 0, 0, 0);

sub draw_case
{
	my ($number) = @_;
	srand($number);
	my $model = pick(qw(pattern_guided pattern_guided full_domain cluster subtree pattern_clustering));
	my %case = (seed => $number, model => $model, k => 2 + below(3), last => 0, key => chance(0.5), rule => chance(0.4), rows => {}, shown => {}, out => {});
	my %options = (keep => [ 'id', 'ill', 'blood' ], allow_identifying => [ 'id', 'blood', 'ill' ]);
	my %hierarchies = (a => { interval => [ 5, 10 ] }, b => pick({ quantile => [ 4, 2 ] }, { interval => [ 10, 20 ] }));

	$options{hierarchies} = \%hierarchies if $model eq 'subtree' || ($model !~ /clustering/ && chance(0.6));
	$options{residual} = pick(qw(fill drop suppress)) if $model =~ /pattern_guided|full_domain/;
	$options{residual} = pick(qw(fill drop)) if $model eq 'cluster';
	$options{method} = pick(qw(mondrian gather)) if $model eq 'cluster';
	$options{patterns} = [ '--', '-*', '*-', '**' ] if $model eq 'pattern_clustering';
	$options{suppression_limit} = 0.3 if $model eq 'full_domain';
	$options{min_batch} = $case{k} * pick(2, 4);
	$options{hold} = pick('1 night', '3 nights') if $model =~ /pattern_guided|full_domain|cluster/ && chance(0.4);
	$case{any} = chance(0.2);
	$options{any_key} = JSON::PP::true if $case{any};
	$case{residual} = $options{residual} // 'fill';
	$case{options} = \%options;
	$case{what} = "$model " . ($case{any} ? 'any key' : 'growing') . ($options{hold} ? ' hold' : '') . ($case{key} ? ' persons' : '');
	return \%case;
}

sub complain
{
	my ($case, $words) = @_;
	push @failures, "$case->{seed} ($case->{what}, k $case->{k}): $words" if !$case->{failed}++;
	return;
}

# So many rows, of few persons whose quasi-identifiers stay; ids of their own.
sub come
{
	my ($case, $n) = @_;
	my @rows;
	for (1 .. $n)
	{
		my $person = 1 + below(40);
		srand_person($case, $person);
		my $row = { id => $case->{last} += 1 + below(3), who => $person, %{ $case->{person}{$person} }, ill => 'ill' . below(4) };
		push @rows, $row;
	}
	insert($case, @rows);
	return;
}

sub srand_person
{
	my ($case, $person) = @_;
	$case->{person}{$person} //= { a => below(20), b => below(60), blood => pick(qw(A B O AB)) };
	return;
}

sub insert
{
	my ($case, @rows) = @_;
	return if !@rows;
	$db->run('INSERT INTO src VALUES ' . join(', ', map { "($_->{id}, $_->{who}, $_->{a}, $_->{b}, '$_->{ill}', '$_->{blood}')" } @rows));
	$case->{rows}{ $_->{id} } = {%$_} for @rows;
	return;
}

# Late rows: numbers that were left free.
sub come_late
{
	my ($case) = @_;
	my @free = grep { !$case->{rows}{$_} && !$case->{gone}{$_} } 1 .. $case->{last};
	my @rows;
	for my $id (grep { defined } (shuffled(@free))[ 0 .. below(4) ])
	{
		my $person = 1 + below(40);
		srand_person($case, $person);
		push @rows, { id => $id, who => $person, %{ $case->{person}{$person} }, ill => 'ill' . below(4) };
	}
	insert($case, @rows);
	$late_seen += @rows;
	return;
}

sub change
{
	my ($case) = @_;
	my @shown = keys %{ $case->{shown} };
	for my $id (grep { defined && $case->{rows}{$_} } (shuffled(sort { $a <=> $b } @shown))[ 0 .. 2 ])
	{
		$changed_seen++;
		if (chance(0.5))
		{
			$db->run("DELETE FROM src WHERE id = $id");
			delete $case->{rows}{$id};
			$case->{gone}{$id} = 1;
		}
		else
		{
			$db->run("UPDATE src SET ill = 'other', a = 19 - a WHERE id = $id");
		}
	}
	return;
}

# The value is in what a cell shows: itself, a range, an array, or nothing.
sub covers
{
	my ($cell, $value) = @_;
	return 1 if !defined $cell;
	return scalar grep { $_ == $value } @$cell if ref $cell;
	return $cell == $value if $cell =~ /^-?\d+$/;
	return $cell =~ /^\{(.*)\}$/ ? scalar(grep { $_ == $value } split /,/, $1) : 0 if $cell =~ /^\{/;
	my ($open, $low, $high, $close) = $cell =~ /^([\[(])(-?\d*),(-?\d*)([\])])$/ or return 0;
	return ($low eq '' || ($open eq '[' ? $value >= $low : $value > $low)) && ($high eq '' || ($close eq ']' ? $value <= $high : $value < $high));
}

sub judge
{
	my ($case) = @_;
	my (%now, %class);
	for my $row (@{ $db->rows("SELECT v.*, r.release FROM kanon_releases r, LATERAL (SELECT to_jsonb(t) AS v FROM batches t WHERE t.kanon_batch = r.release) v WHERE r.relation IS NOT NULL") })
	{
		my $v = $row->{v};
		my $id = $v->{id};
		complain($case, "row $id is there twice"), return if $now{$id};
		$now{$id} = $json->encode($v);
		my $source = $case->{shown}{$id} ? $case->{was}{$id} : $case->{rows}{$id};
		complain($case, "row $id is not of the source"), return if !$source;
		complain($case, "row $id shows what it is not: $now{$id}") if !covers($v->{a}, $source->{a}) || !covers($v->{b}, $source->{b});
		my $look = $json->encode([ $v->{kanon_batch}, map { ref $_ ? $_ : defined $_ ? "$_" : undef } @$v{qw(a b)} ]);
		$class{$look}{blank} = !defined $v->{a} && !defined $v->{b};
		push @{ $class{$look}{rows} }, { %$source, id => $id, batch => $v->{kanon_batch} };
	}
	for my $id (keys %{ $case->{shown} }) { complain($case, "row $id was shown and has changed") if ($now{$id} // '') ne $case->{shown}{$id}; }
	for my $id (keys %now)
	{
		$case->{was}{$id} //= { %{ $case->{rows}{$id} } };
		$case->{shown}{$id} = $now{$id};
	}
	my %blood;
	for my $class (values %class)
	{
		my @rows = @{ $class->{rows} };
		my $n = $case->{key} ? uniq(map { $_->{who} } @rows) : @rows;
		my $values = uniq(map { $_->{ill} } map { $case->{was}{ $_->{id} } } @rows);
		next if $class->{blank} && $case->{residual} eq 'suppress';
		complain($case, "a class of $n in batch $rows[0]{batch}") if $n < $case->{k};
		complain($case, "a class with $values values in batch $rows[0]{batch}") if $case->{rule} && $values < 2;
		my %here = map { $_->{blood} => 1 } @rows;
		$blood{ $_->{who} }{ $_->{batch} } = \%here for @rows;
	}
	$case->{blood} = \%blood;
	my $status = $db->rows("SELECT waiting_rows, late_rows, status, problem FROM kanon_publication_status('pub')")->[0];
	complain($case, "status $status->{status} $status->{problem}") if $status->{status} ne 'fresh';
	my @not = grep { !$now{$_} } keys %{ $case->{rows} };
	$held_seen += $status->{waiting_rows};
	if ($case->{residual} ne 'drop' && @not != $status->{waiting_rows} + $status->{late_rows})
	{
		complain($case, scalar(@not) . " rows are not shown, $status->{waiting_rows} wait and $status->{late_rows} are late");
	}
	complain($case, 'more rows wait than are not shown') if @not < $status->{waiting_rows} + $status->{late_rows};
	return;
}

sub run_case
{
	my ($case) = @_;
	my $options = $json->encode($case->{options});
	my $rule = $case->{rule} ? qq(options => jsonb_build_object('privacy', ARRAY[kanon_distinct_l('ill', 2)]) || '$options') : "options => '$options'";

	$db->run('CREATE TABLE src (id bigint PRIMARY KEY, who int, a int, b int, ill text, blood text)');
	come($case, 60 + below(60));
	my ($state) = $db->run("SELECT kanon_create_publication('pub', 'src', '{a,b}', $case->{k}, $rule, model => '$case->{model}', append => 'id'" . ($case->{key} ? ", key => 'who'" : '') . ')');
	return 0 if $state ne '00000';
	$db->run("CREATE VIEW batches AS SELECT * FROM pub_batches");
	judge($case);
	for my $night (1 .. $NIGHTS)
	{
		come($case, pick(0, 3, 10, 20, 40));
		come_late($case) if chance(0.3);
		change($case) if chance(0.4);
		my $asked = chance(0.3) ? ', publish_late => true' : '';
		my $line = $db->rows("SELECT * FROM kanon_refresh('pub'$asked, recount => true)")->[0];
		if ($line->{status} eq 'failed')
		{
			complain($case, "failed: $line->{error} $line->{message}") if $line->{error} !~ /^(22023|P0001|53400|23514|55000|22000)$/ || $line->{message} !~ /class|rule|k |released?|method/;
			$done{'nights that failed'}++;
			next;
		}
		judge($case);
		last if $case->{failed};
	}
	# a value that stays with a person
	for my $nights (values %{ $case->{blood} })
	{
		my @sets = values %$nights;
		next if @sets < 2;
		$nights_known++;
		my @left = grep { my $one = $_; !grep { !$_->{$one} } @sets } qw(A B O AB);
		$narrowed++ if @left == 1;
	}
	$db->run("DROP VIEW batches");
	$db->run("SELECT kanon_drop_publication('pub')");
	$done{ $case->{what} }++;
	return 1;
}

sub leave
{
	my ($case) = @_;
	mkdir "$FindBin::Bin/../../build";
	mkdir "$FindBin::Bin/../../build/nights";
	open my $file, '>', "$FindBin::Bin/../../build/nights/appended_$case->{seed}.sql" or die "$!\n";
	print $file $db->take_log;
	close $file;
	return;
}

my ($begun, $asked, $none) = (time, 0, 0);
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
	leave($case) if $case->{failed};
	$db->run('DROP SCHEMA IF EXISTS nights CASCADE') if $case->{failed};
}
printf "%s: %d\n", $_, $done{$_} for sort keys %done;
print "$late_seen late rows, $changed_seen corrected or deleted, $held_seen times a row waited\n";
print "of $nights_known persons who came on several nights $narrowed are left with one value that stays with a person\n";
print "FAILED $_\n" for @failures;
printf "%d of %d series of %d nights hold, %d have no first batch (%d seconds)\n", $asked - @failures, $asked, $NIGHTS, $none, time - $begun;
printf "# %s\n", @failures ? scalar(@failures) . " of $asked tests failed" : "All $asked tests passed";
exit(@failures > 0);
