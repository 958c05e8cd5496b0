#!/usr/bin/perl
# mutants.pl: do the tests notice when one line of src is wrong?
#
#   map FILE [TEST…]                           which tests execute which lines (a build that counts)
#   try MAP N SEED EQUIVALENT RUN PART PARTS   N mutations, drawn by SEED, every PARTS-th; result in RUN/result
#   again MAP RESULT EQUIVALENT                those of a RESULT that were not killed, once more
#   count RESULT…
#   guards LIST                                all last guards off at once, then each: test/faults must fail
#
# Started by test/mutants/run, in a copy of the checkout and with a server at hand.
#
# A mutation changes one line: an operator, a constant 0 or 1, a condition, a statement left
# out.  Only its file is compiled anew; when the object is the same the mutation is none.  The
# tests that execute the line are run until one fails: the suites of test/core, regress and
# isolation, those first that are quick and have much of the file to themselves; then what is
# not asked line by line, the suites with tiny limits and the faults; TAP last (TAP=no: not at
# all).  QUICK=yes ends after regress.  What no test executes has survived.
# EQUIVALENT lists what changes nothing that can be promised, with the reason.
use strict;
use warnings;
use Cwd qw(getcwd);
use File::Basename;
use POSIX qw(setsid WNOHANG);
$| = 1;
use Time::HiRes qw(time sleep);

my $top = getcwd();
my @shares = (3, 15);  # per cent of the core's random tables; more when the first find nothing
my $quick = ($ENV{QUICK} // '') eq 'yes';
my $most_regress = $quick ? 4 : 6;  # files of regress for one mutation
my $most_thorough = 3;              # suites that are asked for more tables
my $most_tap = 2;
my $pg_config = $ENV{PG_CONFIG} || 'pg_config';
chomp(my $bindir = `$pg_config --bindir`);
chomp(my $pgxs = `$pg_config --pgxs`);
my $regress = dirname($pgxs) . '/../../src/test/regress/pg_regress';
my $isolation = dirname($pgxs) . '/../../src/test/isolation/pg_isolation_regress';
my $out = "$top/build/out";

sub run_for
{
	# true when the command ends well within so many seconds
	my ($seconds, $log, @command) = @_;
	my $end = time() + $seconds;
	my $pid = fork() // die "fork: $!";

	if ($pid == 0)
	{
		setsid();
		open(STDIN, '<', '/dev/null');
		open(STDOUT, '>', $log) or die "$log: $!";
		open(STDERR, '>&', \*STDOUT);
		exec(@command) or exit(127);
	}
	while (time() < $end)
	{
		return $? == 0 if waitpid($pid, WNOHANG) == $pid;
		sleep(0.02);
	}
	kill('KILL', -$pid);
	waitpid($pid, 0);
	return 0;
}

sub psql
{
	my ($sql) = @_;

	return `psql -XAtqc "$sql" postgres 2>/dev/null`;
}

sub others
{
	return split(/\n/, psql('SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()'
		. " AND backend_type NOT IN ('checkpointer', 'background writer', 'walwriter', 'autovacuum launcher',"
		. " 'logical replication launcher', 'io worker', 'autovacuum worker')"));
}

# Nobody is left in the server, whatever it takes.
sub settle
{
	for my $try (1 .. 200)
	{
		if (psql('SELECT 1') ne "1\n")
		{
			sleep(0.2); # it recovers
			next;
		}
		my @pids = others();
		return unless @pids;
		psql('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()'
			. " AND backend_type = 'client backend'")
			if $try == 20;
		if ($try >= 40 && $try % 20 == 0)
		{
			kill('KILL', $_) for @pids; # our own server's: it starts anew
		}
		sleep(0.1);
	}
	die "the server does not come to rest\n";
}

sub run_test
{
	my ($test, $seconds, $percent) = @_;
	my ($kind, $name) = split(/:/, $test);
	my $log = "$out/log";

	if ($kind eq 'core')
	{
		local $ENV{KANON_TEST_SHARE} = $percent if $percent < 100;
		# a loop without an end must not take all memory with it
		return run_for($seconds, $log, 'sh', '-c', "ulimit -v 4000000; exec $top/build/core-plain/$name");
	}
	if ($kind eq 'small')
	{
		local $ENV{KANON_TEST_SHARE} = $percent;
		return run_for($seconds, $log, 'sh', '-c',
			"make -s -C test/core ../../build/core-small/$name && ulimit -v 4000000 && exec build/core-small/$name");
	}
	if ($kind eq 'faults')
	{
		return run_for($seconds, $log, "$top/dev/check", 'faults');
	}
	if ($kind eq 'broken')
	{
		return run_for($seconds, $log, $regress, "--inputdir=$top/test/faults", "--outputdir=$out",
			"--bindir=$bindir", '--dbname=mutants', '--no-locale', '--encoding=UTF8', '--load-extension=kanon', $name);
	}
	if ($kind eq 'tap')
	{
		local $ENV{PROVE_TESTS} = "t/$name.pl";
		return run_for($seconds, $log, "$top/dev/check", 'tap');
	}
	my $ok = run_for($seconds, $log, $kind eq 'sql' ? $regress : $isolation, "--inputdir=$top",
		"--outputdir=$out", "--bindir=$bindir", '--dbname=mutants', '--no-locale', '--encoding=UTF8',
		'--load-extension=kanon', $name);
	settle();
	return $ok;
}

sub names
{
	my ($glob, $end) = @_;
	return map { basename($_, $end) } sort glob($glob);
}

# What is asked line by line.
sub all_tests
{
	my @tests = map { "core:$_" } names('test/core/test_*.c', '.c');

	push(@tests, map { "sql:$_" } grep { $_ ne 'without' } names('sql/*.sql', '.sql'));
	push(@tests, map { "iso:$_" } names('specs/*.spec', '.spec'));
	push(@tests, map { "tap:$_" } grep { !/^reference/ } names('t/*.pl', '.pl')) unless ($ENV{TAP} // '') eq 'no';
	return @tests;
}

# What is asked by the file: with tiny limits, so that small tables reach what is there for
# large ones; with something else broken on purpose.
sub tests_of_file
{
	my ($file) = @_;
	my @tests;

	return () if $quick;
	push(@tests, map { "small:$_" } grep { /greedy|full_domain|ilp|bound/ } names('test/core/test_*.c', '.c'))
		if $file =~ m{^src/core/(greedy|full_domain|exact|anytime|model)/};
	push(@tests, 'faults:all') if $file =~ m{^src/(write|run|publication|core/(model|privacy|freeform))/};
	return @tests;
}

sub build_suites
{
	mkdir('build');
	system('make -s -C test/core ' . join(' ', map { "../../build/core-plain/$_" } names('test/core/test_*.c', '.c'))) == 0
		or die "the core's tests cannot be built\n";
}

# ---- map ----

sub counts
{
	my ($test, $map) = @_;
	my %lines;
	my $lines;
	my @counted = map { [ $_, split(/\n/, `find $top/$_ -name '*.gcda'`) ] } qw(src build);
	# what is in build was compiled in test/core, and gcov reads the sources
	my @rows = map { my ($from, @files) = @$_; my $in = $from eq 'build' ? 'test/core' : '.'; @files ? split(/\n/, `cd $top/$in && gcov -t @files 2>/dev/null`) : () } @counted;

	# as text: "count:line:what is there", after the name of each source
	for my $row (@rows)
	{
		my ($count, $number, $source) = $row =~ /^\s*([^:\s]+):\s*(\d+):(?:Source:)?(.*)/ or next;

		if ($number == 0)
		{
			next unless $row =~ /:Source:/;
			$source =~ s{^\Q$top\E/}{};
			$source =~ s{^(\.\./)+}{};
			$source =~ s{^\./}{};
			$lines = $source =~ m{^src/.*\.[ch]$} ? $lines{$source} //= {} : undef;
			next;
		}
		$lines->{$number} ||= $count =~ /^[1-9]/ ? 1 : 0 if $lines && $count ne '-';
	}
	for my $name (sort keys %lines)
	{
		my @hit = grep { $lines{$name}{$_} } sort { $a <=> $b } keys %{ $lines{$name} };

		print $map join("\t", $test, $name, join(',', @hit)), "\n" if @hit;
		# what could be executed, whoever does so
		print $map join("\t", 'code', $name, join(',', sort { $a <=> $b } keys %{ $lines{$name} })), "\n";
	}
	unlink(map { my (undef, @files) = @$_; @files } @counted);
}

sub map_tests
{
	my ($file, @tests) = @_;
	# a slow machine says how far it is
	local $ENV{PGOPTIONS} = q(-c kanon.progress=off);
	my $again = @tests > 0;

	build_suites();
	mkdir($out);
	chmod(0777, $out);
	open(my $map, '>>', $again ? $file : "$file.new") or die "$file: $!";
	system("find src build -name '*.gcda' -delete");
	for my $test ($again ? @tests : all_tests())
	{
		my ($from, $ok, $least);

		# some suites ask for so many cases of a kind
		for my $percent ($test =~ /^core/ ? @shares : 100)
		{
			$from = time();
			$least = $percent;
			$ok = run_test($test, 1200, $percent);
			last if $ok;
		}
		printf("%-28s %6.1f s%s\n", $test, time() - $from, $ok ? '' : '  FAILED: will not be asked');
		next unless $ok;
		printf $map ("time\t%s\t%.2f\t%d\n", $test, time() - $from, $least);
		counts($test, $map);
	}
	close($map);
	rename("$file.new", $file) unless $again;
}

sub read_map
{
	my ($file) = @_;
	my (%time, %least, %hit, %code, %much);

	open(my $map, '<', $file) or die "$file: $!";
	while (<$map>)
	{
		chomp;
		my ($what, $name, $list, $percent) = split(/\t/);

		if ($what eq 'time')
		{
			$time{$name} = $list;
			$least{$name} = $percent // $shares[0];
			next;
		}
		for my $line (split(/,/, $list))
		{
			if ($what eq 'code') { $code{$name}{$line} = 1; }
			else
			{
				$hit{$name}{$line}{$what} = 1;
				$much{$name}{$what}++;
			}
		}
	}
	return (\%time, \%least, \%hit, \%code, \%much);
}

# ---- mutations ----

# The lines of a file with comments, strings and characters blanked.
sub code_of
{
	my ($text) = @_;

	$text =~ s{(/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')}
		{ my $t = $1; $t =~ s/[^\n]/\x01/g; $t }gse;
	return split(/\n/, $text, -1);
}

my @operators = (
	[ qr/(?<![-<])<=(?!=)/, '<' ], [ qr/(?<![->])>=(?!=)/, '>' ],
	[ qr/(?<![<])<(?![<=])/, '<=' ], [ qr/(?<![->])>(?![>=])/, '>=' ],
	[ qr/==/, '!=' ], [ qr/!=/, '==' ],
	[ qr/&&/, '||' ], [ qr/\|\|/, '&&' ],
	[ qr/(?<=\s)\+(?=\s)/, '-' ], [ qr/(?<=\s)-(?=\s)/, '+' ], [ qr/(?<=\w\s)\*(?=\s)/, '+' ],
	[ qr/\+=/, '-=' ], [ qr/(?<!-)-=/, '+=' ], [ qr/\|=/, '=' ],
	[ qr/\+\+/, '--' ],
	[ qr/(?<=\s)&(?=\s)/, '|' ], [ qr/(?<=\s)\|(?=\s)/, '&' ],
	[ qr/(?<=\s)<<(?=\s)/, '>>' ], [ qr/(?<=\s)>>(?=\s)/, '<<' ],
	[ qr/(?<![\w.\x01])0(?![\w.\x01])/, '1' ], [ qr/(?<![\w.\x01])1(?![\w.\x01])/, '0' ],
	[ qr/\btrue\b/, 'false' ], [ qr/\bfalse\b/, 'true' ],
	[ qr/(?<![\w)\]=])!(?=[\w(])/, '' ],
	[ qr/\bbreak;/, ';' ], [ qr/\bcontinue;/, ';' ],
);

# All mutations of a line: [from, length, what instead].
sub mutations
{
	my ($code, $before) = @_;
	my @found;

	return () if $code =~ /^\s*#/ || $code !~ /\w/ || $code =~ /^(static |extern |typedef |struct |enum )/;
	for my $operator (@operators)
	{
		my ($from, $to) = @$operator;

		while ($code =~ /$from/g)
		{
			push(@found, [ $-[0], $+[0] - $-[0], $to ]);
		}
	}
	# a whole condition, when it ends on the line
	if ($code =~ /\b(?:if|while) (\((?:[^()]|(?1))*\))$/)
	{
		push(@found, [ $-[1], $+[1] - $-[1], "(!$1)" ]);
	}
	# a statement
	if ($before =~ /[;{}):]$|\belse$|^$/
		&& $code =~ /^\s*(?!return|break|continue|goto|case|default|else|for|while|if|sizeof)((?:\(void\) )?\*?\w+(?:\(|->|\.|\[|\+\+| [-+|&^*]?= ).*;)$/)
	{
		push(@found, [ $-[1], $+[1] - $-[1], ';' ]);
	}
	return @found;
}

sub slurp
{
	my ($file) = @_;
	open(my $in, '<', $file) or die "$file: $!";
	local $/;
	return scalar <$in>;
}

sub spill
{
	my ($file, $text) = @_;
	open(my $to, '>', $file) or die "$file: $!";
	print $to $text;
	close($to);
}

sub trim
{
	my ($text) = @_;
	$text =~ s/^\s+|\s+$//g;
	return $text;
}

# N of them: lines first, so that a line full of operators is as likely as any other.
sub draw
{
	my ($code_lines, $files, $enough) = @_;
	my @lines;

	for my $file (@$files)
	{
		my @code = code_of(slurp($file));

		for my $i (0 .. $#code)
		{
			# what is no code for the compiler (another build's, a table) is none here
			my $known = 0;
			my $before = '';

			for (my $j = $i - 1; $j >= 0 && $before !~ /[^\s\x01]/; $j--) { $before = $code[$j]; }
			$before =~ s/[\s\x01]+$//;
			for (my $j = $i + 1; $j > $i - 6 && $j > 0 && !$known; $j--) { $known = $code_lines->{$file}{$j}; }
			my @found = $known ? mutations($code[$i], $before) : ();
			push(@lines, [ $file, $i + 1, \@found ]) if @found;
		}
	}
	my @drawn;
	while (@lines && @drawn < $enough)
	{
		my $pick = int(rand(@lines));
		my ($file, $line, $found) = @{ $lines[$pick] };
		my $which = int(rand(@$found));

		$lines[$pick] = $lines[-1];
		pop(@lines);
		push(@drawn, [ $file, $line, @{ $found->[$which] } ]);
	}
	return @drawn;
}

# The tests that execute a line; of a statement over several lines only some are counted.
sub tests_of
{
	my ($hit, $code, $file, $line) = @_;

	for (my $l = $line; $l > 0 && $l > $line - 8; $l--)
	{
		return keys %{ $hit->{$file}{$l} || {} } if $code->{$file}{$l};
	}
	return keys %{ $hit->{$file}{ $line + 1 } || {} };
}

# ---- trying ----

my (%command, $link, $suite_link, $library);

# How make compiles a file of the server's side and of the core, and links.
sub learn
{
	for my $kind ([ 'src/kanon', 'src/kanon.c' ], [ 'src/core/release/release', 'src/core/release/release.c' ])
	{
		my ($line) = grep { /-c -o \Q$kind->[0].o\E/ } split(/\n/, `make -n -W $kind->[1] all 2>/dev/null`);

		die "cannot learn how $kind->[1] is compiled\n" unless $line;
		$line =~ s/-MMD -MP//;
		$line =~ s/-g\b//g;
		$line =~ s/\Q$kind->[0].o\E/<OBJECT>/;
		$line =~ s/\Q$kind->[1]\E/<SOURCE>/;
		$command{ $kind->[0] eq 'src/kanon' ? 'server' : 'core' } = $line;
	}
	($link) = grep { /-shared -o kanon\.so/ } split(/\n/, `make -n -W src/kanon.c all 2>/dev/null`);
	$suite_link = 'gcc -o SUITE SUITE.o ' . join(' ', map { "$top/build/core-plain/$_.o" } qw(diverse exact fixture plain unclassed))
		. ' src/core/libkanon_core.a -lcmocka ' . join(' ', grep { /^-l/ } split(/ /, $link));
	chomp($library = (split(/:/, psql('SHOW dynamic_library_path')))[0]);
	$library .= '/kanon.so';
	die "no $library\n" unless -e $library;
}

sub compile
{
	my ($file, $object) = @_;
	my $line = $command{ $file =~ m{^src/core/} ? 'core' : 'server' };

	$line =~ s/<OBJECT>/$object/;
	$line =~ s/<SOURCE>/$file/;
	return system("$line >$out/compile 2>&1") == 0;
}

sub install_library
{
	system("$link >$out/link 2>&1") == 0 or return 0;
	system('cp', 'kanon.so', "$library.new") == 0 or die;
	rename("$library.new", $library) or die;
	return 1;
}

# The test that fails, or nothing.
sub killer
{
	my ($file, $time, $least, $much, @tests) = @_;
	my %of;
	# quick ones, and those that are about this file
	my %rank = map { ($_ => ($time->{$_} + 0.5) / ($much->{$file}{$_} || 1)) } @tests;

	push(@{ $of{ (split(/:/, $_))[0] } }, $_) for sort { $rank{$a} <=> $rank{$b} || $a cmp $b } @tests;
	my $core = sub {
		my ($percent, @suites) = @_;

		for my $test (@suites)
		{
			my ($name) = $test =~ /:(.*)/;
			my $line = $suite_link;

			next if $percent < $least->{$test};
			$line =~ s/SUITE/build\/core-plain\/$name/g;
			return "$test (does not link)" if system("$line >$out/link 2>&1") != 0;
			return $test unless run_test($test, $time->{$test} * $percent / $shares[0] * 3 + 20, $percent);
		}
		return undef;
	};
	my @suites = @{ $of{core} || [] };
	my $by = $core->($shares[0], @suites);
	return $by if $by;
	my @server = @{ $of{sql} || [] };
	my $last = @server > $most_regress ? $most_regress : @server;
	splice(@server, $last);
	push(@server, @{ $of{iso} || [] }) unless $quick && @server;
	if (@server)
	{
		return 'link' unless install_library();
		for my $test (@server)
		{
			return $test unless run_test($test, $time->{$test} * 6 + 20, 100);
		}
	}
	splice(@suites, $most_thorough) if @suites > $most_thorough && @server;
	$by = $core->($shares[1], @suites);
	return $by if $by;
	my @others = tests_of_file($file);
	install_library() if @others && !@server;
	for my $test (@others)
	{
		return $test unless run_test($test, 900, $shares[-1]);
	}
	my @tap = $quick ? () : @{ $of{tap} || [] };
	splice(@tap, $most_tap) if @tap > $most_tap;
	for my $test (@tap)
	{
		return $test unless run_test($test, $time->{$test} * 6 + 120, 100);
	}
	return undef;
}

sub read_equivalent
{
	my ($file) = @_;
	my %known;

	open(my $in, '<', $file) or return \%known;
	while (<$in>)
	{
		next if /^#/ || !/\S/;
		chomp;
		my ($name, $from, $to, $why) = map { trim($_) } split(/\t+/);
		$known{"$name\t$from\t$to"} = $why;
	}
	return \%known;
}

# One mutation: what comes of it and which test said so.
sub try_one
{
	my ($known_by, $file, $line, $new) = @_;
	my ($time, $least, $hit, $code, $much, $equivalent) = @$known_by;
	my @lines = split(/\n/, slurp($file), -1);
	my $old = $lines[ $line - 1 ];
	my $object = $file =~ s/c$/o/r;
	my ($verdict, $by, $from) = ('none', '', time());

	$lines[ $line - 1 ] = $new;
	# an object to compare with, compiled in the same way
	compile($file, "$object.same") or die "$file does not compile as it is\n";
	rename($object, "$object.right") or die "$object: $!";
	system('cp', '-p', $file, "$file.right");
	spill($file, join("\n", @lines));
	if (compile($file, $object) && system('cmp', '-s', $object, "$object.same") != 0)
	{
		my @tests = grep { defined $time->{$_} } tests_of($hit, $code, $file, $line);

		system("ar r src/core/libkanon_core.a $object 2>/dev/null") if $file =~ m{^src/core/};
		if ($equivalent->{ join("\t", $file, trim($old), trim($new)) }) { $verdict = 'equivalent'; }
		elsif (!@tests && !tests_of_file($file)) { $verdict = 'unexecuted'; }
		else
		{
			$by = killer($file, $time, $least, $much, @tests);
			$verdict = defined $by ? 'killed' : @tests ? 'survived' : 'unexecuted';
			$by //= join(' ', sort @tests);
		}
	}
	rename("$file.right", $file) or die;
	rename("$object.right", $object) or die;
	unlink("$object.same", $object =~ s{^src/}{build/core-small/}r);
	system("ar r src/core/libkanon_core.a $object 2>/dev/null") if $file =~ m{^src/core/};
	return join("\t", $verdict, "$file:$line", sprintf('%.0f s', time() - $from), trim($old), trim($new), $by);
}

sub prepare
{
	my ($map, $equivalent) = @_;

	$ENV{PGOPTIONS} = '-c statement_timeout=120s -c kanon.progress=off';
	# left by a run that was stopped
	rename($_, $_ =~ s/\.right$//r) for split(/\n/, `find src -name '*.right'`);
	build_suites();
	mkdir($out);
	learn();
	return [ read_map($map), read_equivalent($equivalent) ];
}

sub say_counts
{
	my ($count) = @_;
	my ($killed, $survived, $unexecuted) = map { $count->{$_} || 0 } qw(killed survived unexecuted);

	printf("%d killed, %d survived, %d executed by no test: %.1f %% killed; %d equivalent, %d changed no object\n",
		$killed, $survived, $unexecuted, 100 * $killed / (($killed + $survived + $unexecuted) || 1),
		$count->{equivalent} || 0, $count->{none} || 0);
}

# Of results so far.
sub count_all
{
	my %count;

	for my $file (@_) { $count{ (split(/\t/, $_))[0] }++ for split(/\n/, slurp($file)); }
	say_counts(\%count);
}

sub try_all
{
	my ($map, $n, $seed, $equivalent, $run, $part, $parts) = @_;
	my $known_by = prepare($map, $equivalent);
	my @files = sort split(/\n/, `find src -name '*.c'`);
	my (%done, %count);
	my $tried = 0;
	my $number = 0;

	if (open(my $in, '<', "$run/result"))
	{
		while (<$in>)
		{
			my ($verdict, $place) = split(/\t/);
			$done{$place} = $verdict;
		}
	}
	open(my $result, '>>', "$run/result") or die "$run/result: $!";
	$result->autoflush(1);
	srand($seed);
	for my $drawn (draw($known_by->[3], \@files, 2 * $n))
	{
		my ($file, $line, $at, $length, $to) = @$drawn;
		next if $number++ % ($parts // 1) != ($part // 0);
		my $new = (split(/\n/, slurp($file), -1))[ $line - 1 ];
		my $verdict = $done{"$file:$line"};

		last if $tried * ($parts // 1) >= $n;
		if (!defined $verdict)
		{
			$to = '(!' . substr($new, $at, $length) . ')' if $to =~ /^\(!/;
			substr($new, $at, $length) = $to;
			my $row = try_one($known_by, $file, $line, $new);

			print $result "$row\n";
			($verdict) = split(/\t/, $row);
			print $tried + 1, " $row\n" unless $verdict eq 'none';
		}
		$tried++ unless $verdict eq 'none';
		$count{$verdict}++;
	}
	say_counts(\%count);
}

# Those of a result that were not killed, on the sources as they are now.
sub try_again
{
	my ($map, $list, $equivalent) = @_;
	my $known_by = prepare($map, $equivalent);
	my %count;

	for my $row (split(/\n/, slurp($list)))
	{
		my ($verdict, $place, undef, $old, $new) = split(/\t/, $row);
		next unless $verdict =~ /^(survived|unexecuted)$/;
		my ($file, $near) = split(/:/, $place);
		my @lines = -e $file ? map { trim($_) } split(/\n/, slurp($file), -1) : ();
		my ($line) = sort { abs($a - $near) <=> abs($b - $near) } grep { $lines[ $_ - 1 ] eq $old } 1 .. @lines;

		if (!defined $line)
		{
			print "gone\t$place\t\t$old\t$new\n";
			next;
		}
		my $result = try_one($known_by, $file, $line, $new);

		print "$result\n";
		$count{ (split(/\t/, $result))[0] }++;
	}
	say_counts(\%count);
}

# ---- guards ----

# A guard off; dies where the list is not about these sources any more.
sub switch_off
{
	my ($file, $from, $to) = @_;
	my $which = $from =~ s/#(\d+)$// ? $1 : 1;
	my @parts = split(/\Q$from\E/, slurp($file), -1);

	die "$file does not have $from\n" if @parts <= $which || ($which == 1 && @parts > 2 && $_[1] !~ /#/);
	spill($file, join($from, @parts[ 0 .. $which - 1 ]) . $to . join($from, @parts[ $which .. $#parts ]));
}

# Builds with some guards off, and asks whether the faults are still all found.
sub without_guards
{
	my (@guards) = @_;
	my %files = map { ($_->[0] => 1) } @guards;
	my $found;

	system('cp', '-p', $_, "$_.right") for keys %files;
	# the second of two first, so that the first still is
	switch_off(@$_) for @guards;
	for my $file (keys %files)
	{
		my $object = $file =~ s/c$/o/r;

		system('cp', '-p', $object, "$object.right");
		compile($file, $object) or die "$file does not compile: " . slurp("$out/compile");
		system("ar r src/core/libkanon_core.a $object 2>/dev/null") if $file =~ m{^src/core/};
	}
	install_library() or die "it does not link\n";
	$found = run_test('broken:faults', 600, 100);
	settle();
	for my $file (keys %files)
	{
		my $object = $file =~ s/c$/o/r;

		rename("$file.right", $file);
		rename("$object.right", $object);
		system("ar r src/core/libkanon_core.a $object 2>/dev/null") if $file =~ m{^src/core/};
	}
	return $found;
}

sub try_guards
{
	my ($list) = @_;
	my @guards = map { [ split(/\t/) ] } grep { !/^#/ } split(/\n/, slurp($list));
	my $unseen = 0;

	$ENV{PGOPTIONS} = '-c statement_timeout=120s -c kanon.progress=off';
	mkdir('build');
	mkdir($out);
	learn();
	run_test('broken:faults', 600, 100) or die 'the faults are not found as it is: ' . slurp("$out/regression.diffs");
	for my $off (\@guards, map { [$_] } @guards)
	{
		my $name = @$off > 1 ? 'all at once' : $off->[0][3];
		my $found = without_guards(@$off);
		my @through = $found ? () : grep { /^\+.*(published$|readers see something else)/ } split(/\n/, slurp("$out/regression.diffs"));

		$unseen += $found ? 1 : 0;
		printf("%s\t%s%s\n", $found ? 'NOT SEEN' : 'seen', $name, @through ? ': ' . @through . ' published' : '');
	}
	printf("%d guards off, alone and all at once: %d not seen\n", scalar(@guards), $unseen);
	exit($unseen > 0);
}

my ($what, @arguments) = @ARGV;
if ($what eq 'map') { map_tests(@arguments); }
elsif ($what eq 'try') { try_all(@arguments); }
elsif ($what eq 'again') { try_again(@arguments); }
elsif ($what eq 'count') { count_all(@arguments); }
elsif ($what eq 'guards') { try_guards(@arguments); }
else { die "usage: mutants.pl map|try|again|count|guards …\n"; }
