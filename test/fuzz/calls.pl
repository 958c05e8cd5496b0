#!/usr/bin/perl
# calls.pl: generated SQL calls of every function of kanon, against the server that PGHOST
# and so on point at.  Allowed are errors with a designed SQLSTATE; a crash, an internal
# error, a data value in a message, a stuck call or a broken promise fail.
#
#   dev/with-server test/fuzz/calls.pl --calls 1000 --seed 1
#
# With --self-test each release that was found right is spoilt, too: the judge must see it.
#
# Rounds are numbered from the seed on and know nothing of each other: what fails in round
# 17 fails with "--seed 17 --rounds 1", too (and with the same --only, a pattern of names).  A failing round is cut down to the shortest
# script that still fails, which is printed, and kept in the folder of --keep.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use DBI;
use File::Path qw(make_path);
use Getopt::Long;
use Time::HiRes qw(time);
use Fuzz::Random;
use Fuzz::Types;
use Fuzz::World;
use Fuzz::Calls;
use Fuzz::Judge;

my %option = (seed => 1, calls => 0, rounds => 0, seconds => 0, failures => 5, keep => '', shrink => 30, timeout => 20, quiet => 0);
GetOptions(\%option, qw(seed=i calls=i rounds=i seconds=i only=s failures=i keep=s shrink=i timeout=i quiet verbose slow self-test))
	or die "usage: calls.pl [--seed N] [--calls N | --rounds N | --seconds N] [--only FUNCTIONS] [--self-test] [--failures N] [--keep FOLDER] [--shrink SECONDS]\n";
$option{calls} = 1000 if !$option{calls} && !$option{rounds} && !$option{seconds};
$| = 1;
binmode $_, ':encoding(UTF-8)' for \*STDOUT, \*STDERR;

# What kanon, or PostgreSQL for a wrong name, privilege or value of an argument, may answer.
my %designed = map { $_ => 1 } qw(
	0A000 22003 22004 22023 2202E 23000 23514 2BP01 3F000 40001 42501 42601 42602 42622 42701 42703 42704 42804 42809 42846
	42883 42P01 42P07 42P10 42P16 53200 53400 54000 54011 55000 55006 55P03 57014);

# (Values are told apart by their text, so that must be whole.)
my $judging = join('; ', map { "SET $_" } 'DateStyle = ISO', 'TimeZone = UTC', 'extra_float_digits = 1', 'IntervalStyle = postgres',
	'row_security = on', 'search_path = public', 'enable_hashagg = on', 'enable_sort = on', 'enable_seqscan = on', 'transform_null_equals = off',
	'array_nulls = on', 'standard_conforming_strings = on', 'quote_all_identifiers = off', 'client_min_messages = error', 'jit = off',
	'max_parallel_workers_per_gather = 0', 'work_mem = \'4MB\'')
	. "; SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')";

my ($dbh, %has, $types, $functions, @notices);
my %count = (calls => 0, rounds => 0, published => 0, judged => 0, spoilt => 0, failures => 0);
my (%states, %by_function, %known, %spent, %slow);
my $begun = time;
my $shrinking = 0;

sub connected
{
	for (1 .. 1200)
	{
		$dbh = DBI->connect('dbi:Pg:', '', '', { AutoCommit => 1, PrintError => 0, RaiseError => 0, PrintWarn => 1, pg_errorlevel => 2, pg_enable_utf8 => 1, pg_server_prepare => 0 });
		last if $dbh;
		select undef, undef, undef, 0.25;
	}
	die "no connection: $DBI::errstr\n" if !$dbh;
	$dbh->{HandleError} = undef;
	return;
}

# What all rounds need, made once.
sub prepare
{
	local $SIG{__WARN__} = sub { };
	for my $sql (preamble()) { $dbh->do($sql) }
	$has{$_} = 1 for map { $_->[0] } @{ $dbh->selectall_arrayref('SELECT extname FROM pg_extension') };
	($has{icu}) = $dbh->selectrow_array("SELECT 1 FROM pg_collation WHERE collname = 'fuzz_nocase'");
	die "no kanon: " . $dbh->errstr . "\n" if !$has{kanon};
	$types = [ types(\%has) ];
	$functions = [ grep { !$option{only} || $_->{name} =~ /$option{only}/ } @{ Fuzz::Calls::functions($dbh) } ];
	die "no function of this name\n" if !@$functions;
	return;
}

sub preamble
{
	return ((map { "CREATE EXTENSION IF NOT EXISTS $_ SCHEMA public" } extensions(), 'kanon'), type_setup({ icu => 1 }),
		'CREATE ROLE fuzz_role', 'GRANT CREATE, TEMP ON DATABASE ' . $dbh->quote_identifier($dbh->{pg_db}) . ' TO fuzz_role',
		'CREATE SEQUENCE public.fuzz_sequence', 'GRANT CREATE, USAGE ON SCHEMA public TO fuzz_role');
}

# Runs one statement: { state, message, rows, seconds }.
sub ask
{
	my ($sql, $rows_too) = @_;
	my $at = time;
	@notices = ();
	local $SIG{__WARN__} = sub { push @notices, $_[0] };
	my ($rows, $ok);
	if ($rows_too)
	{
		my $statement = $dbh->prepare($sql, { pg_direct => 1 });
		$ok = $statement && $statement->execute;
		$rows = $ok && $statement->{NUM_OF_FIELDS} ? $statement->fetchall_arrayref({}) : [];
	}
	else { $ok = $dbh->do($sql, { pg_direct => 1 }) }
	return { state => '', rows => $rows, seconds => time - $at } if $ok;
	return { state => $dbh->state, message => $dbh->errstr // '', rows => [], seconds => time - $at };
}

# One statement of a script: SQL, a table's rows, or a call.
sub text_of
{
	my ($step) = @_;
	return $step if !ref $step;
	return $step->{head} . join(",\n    ", @{ $step->{rows} }) if $step->{rows};
	return Fuzz::Calls::sql($step);
}

# run(world, next): a round.  next->() gives the next step, or undef at the end.  Returns
# what failed (or '') and the steps taken.
sub run
{
	my ($world, $next) = @_;
	my (@taken, $fault);
	my $open = $world->{open};
	ask('BEGIN') if !$open;
	ask("SET statement_timeout = '$option{timeout}s'");
	while (defined(my $step = $next->()))
	{
		push @taken, $step;
		my $call = ref $step && $step->{function} ? $step : undef;
		next if ref $step && $step->{rows} && !@{ $step->{rows} };
		ask('SAVEPOINT step') if !$open;
		my $answer = ask(text_of($step), defined $call);
		print STDERR text_of($step), ";\n-- ", ($answer->{state} || 'ok'), ' ', $answer->{message} // '', "\n" if $option{verbose};
		$fault = fault_of($answer, $call);
		if (!$fault && $answer->{state} eq '' && $call && Fuzz::Judge::judged($call))
		{
			ask("SET LOCAL statement_timeout = '100s'") if !$open;
			ask('SAVEPOINT judge') if !$open;
			# (values are told apart by their text, so that must be whole)
			ask($judging);
			local $SIG{__WARN__} = sub { };
			my $at = time;
			$fault = eval { Fuzz::Judge::judge($dbh, $call, $answer->{rows}) };
			# what it knew of the tables may not be true any more
			$fault = $world->{changed} ? '' : "the judge: $@" if !defined $fault;
			$fault = blind($call) if $fault eq '' && $option{'self-test'} && !$open && !$world->{changed};
			if (!$shrinking) { $count{judged}++; $spent{judge} += time - $at }
			ask('ROLLBACK TO judge') if !$open;
			ask("SET statement_timeout = '$option{timeout}s'");
		}
		$world->{altered} = 1 if $call && $call->{function}{name} eq 'kanon_alter_publication';
		if ($call && !$shrinking)
		{
			$states{ $answer->{state} || 'ok' }++;
			$by_function{ $call->{function}{name} }{ $answer->{state} || 'ok' }++;
			$count{calls}++;
			$spent{calls} += $answer->{seconds};
			$slow{ $call->{function}{name} . ' ' . ($call->{val}{method} // $call->{val}{algorithm} // '') } += $answer->{seconds};
			printf "slow: %.1f s, %s, round %d: %s\n", $answer->{seconds}, $answer->{state}, $world->{round}, text_of($step)
				if $option{slow} && ($answer->{seconds} > 5 || $answer->{state} eq '57014');
		}
		last if $fault;
		ask('ROLLBACK TO step') if !$open && $answer->{state} ne '';
	}
	clean($world);
	return ($fault // '', \@taken);
}

# What is wrong with an answer by itself.
sub fault_of
{
	my ($answer, $call) = @_;
	my $state = $answer->{state};
	if (!$dbh->ping)
	{
		my $message = $answer->{message} // '';
		connected();
		return "lost: the connection is gone";
	}
	return '' if !$call;
	my $function = $call->{function}{name};
	# (its table says what a policy must have)
	if ($state ne '' && !$designed{$state} && !($function eq 'kanon_create_policy' && $state =~ /^2350[25]$/))
	{
		my $message = $answer->{message};
		$message =~ s/\n.*//s;
		return "$state in $function: $message";
	}
	# (a refresh that failed says so in its row)
	for my $row (@{ $answer->{rows} })
	{
		my $error = $row->{error} // next;
		return "$error in $function: $row->{message}" if $error =~ /^[0-9A-Z]{5}$/ && !$designed{$error};
	}
	return sprintf('stuck: %s for %.0f s', $function, $answer->{seconds}) if $answer->{seconds} > $option{timeout} + 20;
	my $hidden = !(grep { Fuzz::Judge::given($call->{val}, $_) } qw(with_values compare)) && $function =~ /report|explain|check/;
	my $said = join("\n", $answer->{message} // (), @notices, $hidden ? map { my $r = $_; map { $r->{$_} // () } sort keys %$r } @{ $answer->{rows} } : ());
	$said =~ s/^.*LOCATION:.*$//mg;
	my $value = marker($said);
	return "value in a message of $function: $value" if defined $value && index(Fuzz::Calls::sql($call), $value) < 0;
	return '';
}

# Does the judge see it when a release is spoilt?  What it did not, or ''.
sub blind
{
	my ($call) = @_;
	my $val = $call->{val};
	return '' if $call->{function}{name} !~ /^kanon_(pattern_guided|pattern_clustering|cluster|full_domain|subtree|freeform)$/;
	return '' if !defined $val->{target} || $val->{target} eq 'absurd' || Fuzz::Judge::given($val, 'dry_run') || grep { !ref } map { $val->{$_} // [] } qw(quasi_identifiers keep);
	my $target = $val->{target};
	my $first = "ctid = (SELECT min(ctid) FROM $target)";
	my ($rows, $shown) = $dbh->selectrow_array("SELECT count(*), count(*) FILTER (WHERE NOT ("
		. join(' AND ', map { ident($_) . ' IS NOT DISTINCT FROM NULL' } @{ $val->{quasi_identifiers} }) . ")) FROM $target");
	return '' if !$rows;
	my @spoilt = ([ 'a row twice', "INSERT INTO $target SELECT * FROM $target WHERE $first" ],
		(($val->{residual} // '') ne 'drop' ? [ 'a row gone', "DELETE FROM $target WHERE $first" ] : ()),
		($shown ? [ 'another k', undef, { k => 1000000 } ] : ()),
		(map { [ "a kept value gone", "UPDATE $target SET " . ident($_) . " = NULL WHERE $first AND " . ident($_) . ' IS DISTINCT FROM NULL', undef, 1 ] } @{ $val->{keep} // [] }));
	for my $rule (@{ ref $val->{privacy} ? $val->{privacy} : [] })
	{
		next if $rule->{kind} !~ /^(distinct|entropy|recursive|alpha|t)$/ || Fuzz::Judge::subject($call) || !grep { $_ eq $rule->{columns}[0] } @{ $val->{keep} // [] };
		push @spoilt, [ "another rule: $rule->{kind}", undef, { privacy => [ { %$rule, l => 1000, alpha => 1e-6, t => -1 } ] } ];
	}
	for my $one (@spoilt)
	{
		my ($what, $sql, $other, $perhaps) = @$one;
		ask('SAVEPOINT spoilt');
		my $n = defined $sql ? $dbh->do($sql) : 1;
		my $seen = $n && $n > 0 ? eval { Fuzz::Judge::judge($dbh, { %$call, val => { %$val, %{ $other // {} } } }, []) } // $@ : 'not spoilt';
		ask('ROLLBACK TO spoilt');
		$count{spoilt}++ if $seen ne 'not spoilt' && !$shrinking;
		return "blind: $what" if $seen eq '';
	}
	return '';
}

sub clean
{
	my ($world) = @_;
	local $SIG{__WARN__} = sub { };
	if ($world->{open})
	{
		ask('ROLLBACK');
		ask('RESET ROLE');
		ask('RESET ALL');
		ask('SET client_min_messages = error');
		ask("DROP SCHEMA IF EXISTS " . ident($world->{schema}) . ' CASCADE');
		ask("DROP TABLE IF EXISTS pg_temp.fuzz_base$$ CASCADE");
		ask('DROP OWNED BY fuzz_role') if $world->{role};
		ask('GRANT CREATE, TEMP ON DATABASE ' . $dbh->quote_identifier($dbh->{pg_db}) . ' TO fuzz_role; GRANT CREATE, USAGE ON SCHEMA public TO fuzz_role') if $world->{role};
		return;
	}
	ask('ROLLBACK');
	return;
}

# The kind of a fault, for finding it again while a script is cut down.
sub kind
{
	my ($fault) = @_;
	$fault =~ s/(?:[-+]?\d[\d.e+-]*)/N/g if $fault !~ /^[0-9A-Z]{5} in/;
	return substr($fault, 0, 100) if $fault =~ /^[0-9A-Z]{5} in/;
	$fault =~ s/:.*//s if $fault !~ /^kanon_check|^value/;
	$fault =~ s/: \S+$// if $fault =~ /^value/;
	return $fault;
}

# Cuts a failing round down: statements, rows, arguments.
sub shrink
{
	my ($world, $steps, $fault) = @_;
	my $kind = kind($fault);
	my $until = time + $option{shrink};
	my $again = sub {
		my ($try) = @_;
		my @left = @$try;
		my ($other) = run($world, sub { shift @left });
		return kind($other) eq $kind;
	};
	$shrinking = 1;
	my @steps = @$steps;
	my $shorter = 1;
	while ($shorter && time < $until)
	{
		$shorter = 0;
		for (my $size = int(@steps / 2) || 1; $size >= 1; $size = int($size / 2))
		{
			for (my $i = @steps - 1 - $size; $i >= 0 && time < $until; $i -= $size)
			{
				my @try = @steps;
				splice @try, $i, $size;
				if ($again->(\@try)) { @steps = @try; $shorter = 1 }
			}
		}
		for my $i (0 .. $#steps)
		{
			my $part = ref $steps[$i] ? ($steps[$i]{rows} ? 'rows' : 'args') : next;
			for (my $size = int(@{ $steps[$i]{$part} } / 2) || 1; $size >= 1; $size = int($size / 2))
			{
				for (my $j = @{ $steps[$i]{$part} } - $size; $j >= 0 && time < $until; $j -= $size)
				{
					my @list = @{ $steps[$i]{$part} };
					my @gone = splice @list, $j, $size;
					my $step = { %{ $steps[$i] }, $part => \@list };
					if ($part eq 'args')
					{
						$step->{val} = { %{ $step->{val} } };
						delete $step->{val}{ $_->[0] } for @gone;
					}
					my @try = @steps;
					$try[$i] = $step;
					if ($again->(\@try)) { @steps = @try; $shorter = 1 }
				}
			}
		}
	}
	$shrinking = 0;
	return \@steps;
}

sub commented { my ($text) = @_; $text =~ s/^/-- /mg; return "$text\n" }

sub report
{
	my ($round, $world, $steps, $fault) = @_;
	my $kind = kind($fault);
	$fault =~ s/\s+$//;
	if ($known{$kind}++)
	{
		print "again ($round): $fault\n";
		return;
	}
	print "FAILED, round $round: $fault\n";
	my $short = $option{shrink} > 0 ? shrink($world, $steps, $fault) : $steps;
	my $script = "-- round $round: calls.pl --seed $round --rounds 1\n" . commented($fault)
		. ($world->{open} ? '' : "BEGIN;\n") . join('', map { text_of($_) . ";\n" } @$short) . ($world->{open} ? '' : "ROLLBACK;\n");
	print "---- the shortest script that fails so\n$script----\n";
	if ($option{keep} ne '')
	{
		make_path($option{keep});
		open my $file, '>:encoding(UTF-8)', "$option{keep}/round_$round.sql" or die "$option{keep}: $!\n";
		print $file "-- before it, once:\n", (map { "--   $_;\n" } preamble()), $script;
		close $file;
	}
	return;
}

connected();
prepare();
my $round = $option{seed};
while (1)
{
	last if $option{rounds} && $count{rounds} >= $option{rounds};
	last if $option{calls} && $count{calls} >= $option{calls};
	last if $option{seconds} && time - $begun >= $option{seconds};
	srand($round);
	my $world = Fuzz::World->new($types, \%has, $round);
	$world->{round} = $round;
	my @queue = @{ $world->{steps} };
	my $calls = pick(3, 6, 10, 20);
	my ($fault, $taken) = run($world, sub {
		return shift @queue if @queue;
		return if $calls-- <= 0;
		return $world->mischief if chance($world->{changed} || @{ $world->{publications} } ? 0.15 : 0.02);
		my $function;
		for (1 .. 100)
		{
			$function = Fuzz::Calls::choose($functions, $world);
			last if $function->{kind} ne 'p' || $world->{open};
		}
		return Fuzz::Calls::make($world, $function);
	});
	$count{rounds}++;
	if ($fault ne '')
	{
		$count{failures}++;
		report($round, $world, $taken, $fault);
		last if keys %known >= $option{failures};
	}
	$round++;
	printf "%d rounds, %d calls, %d failures, %.0f s\n", @count{qw(rounds calls failures)}, time - $begun if !$option{quiet} && $count{rounds} % 200 == 0;
}
printf "seed %d: %d rounds, %d calls, %d judged, %d spoilt and seen, %d failures of %d kinds, %.0f s\n", $option{seed}, @count{qw(rounds calls judged spoilt failures)}, scalar keys %known, time - $begun;
if (!$option{quiet})
{
	print 'SQLSTATEs: ', join(', ', map { "$_ $states{$_}" } sort keys %states), "\n";
	for my $name (sort keys %by_function)
	{
		print "  $name: ", join(', ', map { "$_ $by_function{$name}{$_}" } sort keys %{ $by_function{$name} }), "\n";
	}
}
if ($option{slow})
{
	printf "spent: %s\n", join(', ', map { sprintf '%s %.1f s', $_, $spent{$_} } sort keys %spent);
	printf "  %s %.1f s\n", $_, $slow{$_} for (sort { $slow{$b} <=> $slow{$a} } keys %slow)[ 0 .. 14 ];
}
exit($count{failures} ? 1 : 0);
