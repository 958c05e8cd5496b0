#!/usr/bin/perl
# mutants.pl: do the tests notice when one line of src is wrong?
#
#   map FILE core|server|TEST…                 which tests execute which lines (a build that counts)
#   try MAP N SEED EQUIVALENT RUN JOB          N mutations, drawn by SEED, shared with other jobs; result in RUN/JOB/result
#   again MAP RESULT EQUIVALENT                those of a RESULT that were not killed, once more
#   count EQUIVALENT RESULT…                   what came of them, by the list as it is now
#   guards LIST                                all last guards off at once, then each: test/faults must fail
#   look LIST                                  branches of the look out, each alone: t/062_planted_code.pl must fail
#
# Started by test/mutants/run, in a copy of the checkout and with a server at hand.
#
# A mutation changes one line: an operator, a constant 0 or 1, a condition, a statement left
# out.  Only its file is compiled anew; when the object is the same the mutation is none.  The
# tests that execute the line are run until one fails: first the suites of test/core and some of
# regress, those before others that are quick and have much of the file to themselves (QUICK=yes:
# no more than that); then the core's suites with tiny limits, more of regress, isolation, the
# core's under the sanitizers, the releases of small tables, the oracle, the faults; TAP last
# (TAP=no: not at all).  What no test
# executes has survived.  (TESTS="sql:risk asan:test_cluster …": these alone.)  What makes no
# difference to a compiler that optimises more is no mutation either; that is asked when all tests
# have passed.  EQUIVALENT lists what changes nothing that can be promised, with the reason.
#
# Each mutation is asked to its end before the next, in the order in which the seed draws them: a
# run that is stopped, or that has had its time (MINUTES=…: none is begun after that), has asked
# a sample that nobody chose.
#
# Nothing here goes by the clock, since others use the machine, too: what a test takes is counted
# in processor time, and one that takes many times as much as it should is in a loop.  A test that
# fails although nothing was changed kills nothing: the first time that a test fails it is run once
# more on the sources as they are, and not asked any more if it fails there.
use strict;
use warnings;
use Cwd qw(getcwd);
use File::Basename;
use POSIX qw(setsid WNOHANG);
$| = 1;
use Time::HiRes qw(time sleep);

my $top = getcwd();
my @shares = (20, 40, 100); # per cent of the core's random tables: the first that its suites are content with
my $quick = ($ENV{QUICK} // '') eq 'yes';
my $most_regress = 10;      # files of regress for one mutation, at first
my $most_later = 15;        # and later
my $most_tap = 6;           # side by side: they wait more than they work
my @named = split(' ', $ENV{TESTS} // '');
my $most_asan = 2;
my $most_small = 8;
my $oracle_cases = 25;
my $pg_config = $ENV{PG_CONFIG} || 'pg_config';
chomp(my $bindir = `$pg_config --bindir`);
chomp(my $pgxs = `$pg_config --pgxs`);
my $regress = dirname($pgxs) . '/../../src/test/regress/pg_regress';
my $isolation = dirname($pgxs) . '/../../src/test/isolation/pg_isolation_regress';
my $out = "$top/build/out";

# Processor time in seconds: of a process of the server, and with those that it waited for.
my $tick = POSIX::sysconf(&POSIX::_SC_CLK_TCK) || 100;

sub processor
{
	my ($pid, $children) = @_;
	open(my $in, '<', "/proc/$pid/stat") or return 0;
	my @of = split(/ /, (<$in> // '') =~ s/^.*\) //r);

	return (($of[11] // 0) + ($of[12] // 0) + ($children ? $of[13] + $of[14] : 0)) / $tick;
}

my $postmaster;

# What was taken so far, by what we started and in the server.
sub spent
{
	my (undef, undef, $user, $system) = times();

	return $user + $system + ($postmaster ? processor($postmaster, 1) : 0);
}

# Ends those in the server that are in a loop, whatever it takes: it starts anew.
sub end_loops
{
	my ($limit) = @_;

	return unless $postmaster;
	for my $row (split(/\n/, `ps -o pid=,args= --ppid $postmaster`))
	{
		my ($pid, $what) = $row =~ /^\s*(\d+) (.*)/ or next;

		next if $what =~ /checkpointer|writer|launcher|logger|io worker/;
		kill('KILL', $pid) if processor($pid, 0) > $limit;
	}
}

sub run_for
{
	# true when the command ends well, and nothing in the server takes more than LIMIT seconds of processor time
	my ($limit, $log, @command) = @_;
	my $end = time() + 600 + 30 * $limit;
	my $look = time() + 1;
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
		if (time() > $look)
		{
			end_loops($limit);
			$look = time() + 1;
		}
		sleep(0.02);
	}
	# who has servers of its own takes them away
	kill('TERM', $pid);
	for my $try (1 .. 300)
	{
		return 0 if waitpid($pid, WNOHANG) == $pid;
		sleep(0.1);
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

sub find_server
{
	my ($pid) = split(/\n/, `head -1 "\$(psql -XAtqc 'SHOW data_directory' postgres)/postmaster.pid"`);

	$postmaster = $pid || die "no server\n";
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
		# gone for the server, but it may still be writing down what it has executed
		return unless @pids || grep { !/checkpointer|writer|launcher|logger|io worker/ } split(/\n/, `ps -o args= --ppid $postmaster`);
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

my $fresh = 0;

# A fresh database for a test, in which kanon is installed: a copy is made faster than another.
sub fresh
{
	open(my $psql, '|-', 'psql -Xq postgres >/dev/null 2>&1') or die "psql: $!";
	if (!$fresh++)
	{
		print $psql "CREATE DATABASE kanon_fresh ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0;\n\\c kanon_fresh\n",
			"CREATE EXTENSION kanon;\n\\c postgres\n";
	}
	print $psql "DROP DATABASE IF EXISTS mutants;\nCREATE DATABASE mutants TEMPLATE kanon_fresh;\n";
	# roles of a test that did not come to its end
	print $psql "SELECT format('DROP ROLE %I', rolname) FROM pg_roles WHERE oid >= 16384 AND NOT rolsuper\\gexec\n";
	# as pg_regress has them
	print $psql "ALTER DATABASE mutants SET $_;\n" for "lc_messages TO 'C'", "lc_monetary TO 'C'", "lc_numeric TO 'C'",
		"lc_time TO 'C'", "bytea_output TO 'hex'", "timezone_abbreviations TO 'Default'";
	close($psql);
}

# Whether a test passes; LIMIT: more processor time than it ever takes.
sub run_test
{
	my ($test, $limit, $percent) = @_;
	my ($kind, $name) = split(/:/, $test);
	my $log = "$out/log";
	my @runner = ("--outputdir=$out", "--bindir=$bindir", '--use-existing', '--dbname=mutants');

	unlink("$out/regression.diffs");
	local $ENV{KANON_TEST_SHARE} = $percent;
	delete($ENV{KANON_TEST_SHARE}) if $percent >= 100;
	if ($kind =~ /^(core|small|asan)$/)
	{
		my $variant = $kind eq 'core' ? 'plain' : $kind;
		# a loop without an end must not take all memory with it
		my $most = int($limit + 1);
		my $limits = $kind eq 'asan' ? 'ulimit -Sv unlimited; ulimit -t 200' : "ulimit -v 4000000; ulimit -t $most";

		$ENV{KANON_TEST_SHARE} = 10 if $kind ne 'core'; # as in CI, where tiny limits are asked, too
		return run_for($limit, $log, 'sh', '-c', "$limits; exec $top/build/core-$variant/$name");
	}
	if ($kind eq 'tap')
	{
		local $ENV{PROVE_TESTS} = join(' ', map { "t/$_.pl" } split(/,/, $name));
		$ENV{KANON_TEST_SHARE} = 25; # as in CI
		return run_for($limit, $log, "$top/dev/check", 'tap');
	}
	fresh();
	local $ENV{PGDATABASE} = 'mutants';
	# those of small tables: the real ones may not be there, and take long
	local $ENV{KANON_DATA} = '' if $kind eq 'releases';
	my $ok = $kind eq 'releases' ? run_for($limit, $log, "$top/test/releases.sh")
		: $kind eq 'oracle' ? run_for($limit, $log, 'perl', 'test/oracle/oracle.pl', '--cases', $name, '--seed', 1)
		: run_for($limit, $log, $kind eq 'iso' ? $isolation : $regress,
		"--inputdir=$top" . ($kind eq 'broken' ? '/test/faults' : ''), @runner, $name);
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
	my ($of) = @_;
	my @tests;

	# those with tiny limits reach on small tables what is there for large ones
	return map { ("core:$_", "small:$_") } names('test/core/{*,*/*}/test_*.c', '.c') if $of eq 'core';
	push(@tests, map { "sql:$_" } grep { $_ ne 'without' } names('sql/*.sql', '.sql'));
	push(@tests, map { "iso:$_" } names('specs/*.spec', '.spec'));
	push(@tests, map { "tap:$_" } grep { !/^reference/ } names('t/*.pl', '.pl')) unless ($ENV{TAP} // '') eq 'no';
	return @tests;
}

# What is asked by the file: the core's suites that are most about it under the sanitizers; all
# figures again, from the rows alone; something else broken on purpose.
sub tests_of_file
{
	my ($file, $time, $much) = @_;
	my $of = $much->{$file} || {};
	my @suites = sort { ($time->{$a} + 0.5) / $of->{$a} <=> ($time->{$b} + 0.5) / $of->{$b} || $a cmp $b }
		grep { /^core:/ && defined $time->{$_} } keys %$of;
	my @tests;

	splice(@suites, $most_asan) if @suites > $most_asan;
	push(@tests, map { s/^core/asan/r } @suites) if $file =~ m{^src/core/};
	# and whether a published cell is another one
	push(@tests, 'releases:small', "oracle:$oracle_cases");
	push(@tests, map { "broken:$_" } names('test/faults/sql/*.sql', '.sql'));
	return @tests;
}

sub build_suites
{
	mkdir('build');
	for my $variant (@_)
	{
		system('make -s -C test/core ' . join(' ', map { "../../build/core-$variant/$_" } names('test/core/{*,*/*}/test_*.c', '.c'))) == 0
			or die "the core's tests cannot be built\n";
	}
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
	my $all = @tests == 1 && $tests[0] !~ /:/;

	@tests = all_tests($tests[0]) if $all;
	mkdir('build');
	mkdir($out);
	chmod(0777, $out);
	build_suites('plain', 'small') if grep { /^(core|small)/ } @tests;
	find_server() if grep { !/^(core|small)/ } @tests;
	open(my $map, $all ? '>' : '>>', $all ? "$file.new" : $file) or die "$file: $!";
	system("find src build -name '*.gcda' -delete");
	for my $test (@tests)
	{
		my ($from, $ok, $least);

		# some suites ask for so many cases of a kind
		for my $percent ($test =~ /^(core|small)/ ? @shares : 100)
		{
			$from = spent();
			$least = $percent;
			$ok = run_test($test, 400, $percent);
			last if $ok;
		}
		printf("%-28s %6.1f s%s\n", $test, spent() - $from, $ok ? '' : '  FAILED: will not be asked');
		next unless $ok;
		printf $map ("time\t%s\t%.2f\t%d\n", $test, spent() - $from, $least);
		counts($test, $map);
	}
	close($map);
	rename("$file.new", $file) if $all;
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

# A line that only the server's build counts: the core's suites that execute what is before and after it.
sub around
{
	my ($hit, $code, $file, $line) = @_;
	my ($before, $after) = ($line - 1, $line + 1);

	return () if $file !~ m{^src/core/} || grep { /^core:/ } keys %{ $hit->{$file}{$line} || {} };
	$before-- while $before > $line - 4 && !$code->{$file}{$before};
	$after++ while $after < $line + 4 && !$code->{$file}{$after};
	return grep { /^(core|small):/ && $hit->{$file}{$after}{$_} } keys %{ $hit->{$file}{$before} || {} };
}

# The tests that execute a line; of a statement over several lines only some are counted.
sub tests_of
{
	my ($hit, $code, $file, $line) = @_;

	for (my $l = $line; $l > 0 && $l > $line - 8; $l--)
	{
		return (keys %{ $hit->{$file}{$l} || {} }, around($hit, $code, $file, $l)) if $code->{$file}{$l};
	}
	return keys %{ $hit->{$file}{ $line + 1 } || {} };
}

# ---- trying ----

my (%command, $link, $suite_link, $library);
my $installed = ''; # what the server loads: as it is, a mutation, or that with faults

# How make compiles a file of the server's side and of the core, and links.
sub learn
{
	for my $kind ([ 'src/kanon', 'src/kanon.c' ], [ 'src/core/release/release', 'src/core/release/release.c' ])
	{
		my ($line) = grep { /-c -o \Q$kind->[0].o\E/ } split(/\n/, `make -n -W $kind->[1] all 2>/dev/null`);

		die "cannot learn how $kind->[1] is compiled\n" unless $line;
		$line =~ s/-MMD -MP//;
		$line =~ s/-g\b//g;
		$line =~ s/-O2\b/-O1/g;
		$line =~ s/\Q$kind->[0].o\E/<OBJECT>/;
		$line =~ s/\Q$kind->[1]\E/<SOURCE>/;
		$command{ $kind->[0] eq 'src/kanon' ? 'server' : 'core' } = $line;
	}
	($link) = grep { /-shared -o kanon\.so/ } split(/\n/, `make -n -W src/kanon.c all 2>/dev/null`);
	$suite_link = 'gcc -o SUITE SUITE.o ' . join(' ', map { "$top/build/core-plain/$_.o" } qw(clock diverse exact fixture plain unclassed))
		. ' src/core/libkanon_core.a -lcmocka ' . join(' ', grep { /^-l/ } split(/ /, $link));
	chomp($library = (split(/:/, psql('SHOW dynamic_library_path')))[0]);
	$library .= '/kanon.so';
	die "no $library\n" unless -e $library;
}

sub compile
{
	my ($file, $object, $optimised) = @_;
	my $line = $command{ $file =~ m{^src/core/} ? 'core' : 'server' };

	$line =~ s/-O1\b/-O2/ if $optimised;

	$line =~ s/<OBJECT>/$object/;
	$line =~ s/<SOURCE>/$file/;
	# nobody asks for this object again
	local $ENV{CCACHE_DISABLE} = 1;
	return system("$line >$out/compile 2>&1") == 0;
}

# All anew: two files of the core may have one name in two folders, and ar would take one for the other.
sub archive
{
	unlink('src/core/libkanon_core.a');
	system('ar', 'crs', 'src/core/libkanon_core.a', glob('src/core/{*,*/*}/*.o')) == 0 or die "no archive\n";
}

sub install_library
{
	my ($what) = @_;

	return 1 if $installed eq $what;
	$installed = '';
	if ($what =~ /^broken/)
	{
		# a tree of links with objects of its own, as dev/check has it
		system('mkdir -p build/broken/test && cp -Rsn "$PWD"/Makefile "$PWD"/META.json "$PWD"/kanon* "$PWD"/src build/broken'
			. " && find build/broken -type l '(' -name '*.[oda]' -o -name .build -o -name '*.so' ')' -delete")
			if !-e 'build/broken';
		system("make -s -C build/broken FAULTS=yes all >$out/link 2>&1") == 0 or return 0;
		system('cp', 'build/broken/kanon.so', "$library.new") == 0 or die;
	}
	else
	{
		system("$link >$out/link 2>&1") == 0 or return 0;
		system('cp', 'kanon.so', "$library.new") == 0 or die;
	}
	rename("$library.new", $library) or die;
	$installed = $what;
	return 1;
}

# Runs a test on the objects that are there; WHAT: a name of the mutation.
sub passes
{
	my ($test, $what, $time, $least) = @_;
	my ($kind, $name) = split(/:/, $test);
	# what takes longer here, without what counts lines
	my $limit = 4;

	$limit += 2 * ($time->{"$kind:$_"} // 120) for split(/,/, $name);

	if ($kind eq 'asan' || $kind eq 'small')
	{
		return 0 if system("make -s -C test/core ../../build/core-$kind/$name >$out/link 2>&1") != 0;
	}
	elsif ($kind eq 'core')
	{
		return 0 if system($suite_link =~ s/SUITE/build\/core-plain\/$name/gr . " >$out/link 2>&1") != 0;
	}
	else
	{
		install_library($kind eq 'broken' ? "broken $what" : $what) or return !!system("cp", "$out/link", "$out/log");
	}
	return run_test($test, $limit, $least->{$test} // $shares[0]);
}

# In the order in which they are asked: quick ones, and those that are about this file.
sub in_order
{
	my ($file, $time, $much, @tests) = @_;
	my (@first, @later, @last, @tap);
	my %rank = map { ($_ => ($time->{$_} + 0.5) / ($much->{$file}{$_} || 1)) } @tests;
	my $regress = 0;

	for my $test (sort { $rank{$a} <=> $rank{$b} || $a cmp $b } @tests)
	{
		my ($kind, $name) = split(/:/, $test);

		$regress++ if $kind eq 'sql';
		next if $kind eq 'sql' && $regress > $most_regress + $most_later;
		push(@{ $kind eq 'core' || ($kind eq 'sql' && $regress <= $most_regress) ? \@first
			: $kind eq 'tap' ? \@tap
			: $kind eq 'small' ? \@last : \@later }, $kind eq 'tap' ? $name : $test);
	}
	return @first if $quick;
	my $few = $file =~ m{^src/core/} ? 2 : $most_tap;

	splice(@tap, $few) if @tap > $few;
	splice(@last, $most_small) if @last > $most_small;
	return (@first, @later, @last, tests_of_file($file, $time, $much), @tap ? 'tap:' . join(',', @tap) : ());
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

# By a line alone, or as the n-th such line of the file, which is read.
sub is_listed
{
	my ($equivalent, $read, $file, $line, $old, $new) = @_;
	my @lines = split(/\n/, slurp($read), -1);
	my $nth = grep { trim($_ // '') eq trim($old) } @lines[ 0 .. $line - 1 ];

	return scalar grep { $equivalent->{ join("\t", $file, $_, trim($new)) } } trim($old), trim($old) . "#$nth";
}

# What a test said that failed, for those who doubt it.
sub keep_reason
{
	my ($what) = @_;
	my $diffs = "$out/regression.diffs";
	my @said = grep { -e $diffs ? /^[-+]/ : /error|fail|assert|limit|killed/i } split(/\n/, slurp(-e $diffs ? $diffs : "$out/log"));

	open(my $to, '>>', "$out/reasons") or die "$out/reasons: $!";
	print $to map { "$_\n" } "== $what", @said > 8 ? @said[ 0 .. 7 ] : @said;
}

my %sound; # tests that failed once: whether they pass when nothing is changed

# What was made of a wrong file, since make takes what is there for what it would make.
sub forget_made
{
	my $object = $_[0] =~ s/c$/o/r;

	unlink((map { "build/core-$_/" . $object =~ s{^src/}{}r } 'asan', 'small'), "build/broken/$object", 'build/broken/kanon.so',
		'build/broken/src/core/libkanon_core.a', grep { -x } glob('build/core-asan/test_* build/core-small/test_*'));
}

# One mutation: what comes of it and which test said so.
sub try_one
{
	my ($known_by, $file, $line, $new) = @_;
	my ($time, $least, $hit, $code, $much, $equivalent) = @$known_by;
	my @lines = split(/\n/, slurp($file), -1);
	my $old = $lines[ $line - 1 ];
	my $object = $file =~ s/c$/o/r;
	my ($verdict, $by, $from) = ('none', '', spent());

	$lines[ $line - 1 ] = $new;
	# an object to compare with, compiled in the same way
	if (!-e "$object.same")
	{
		compile($file, "$object.same") or die "$file does not compile as it is\n";
	}
	rename($object, "$object.right") or die "$object: $!";
	system('cp', '-p', $file, "$file.right");
	spill($file, join("\n", @lines));
	if (compile($file, $object) && system('cmp', '-s', $object, "$object.same") != 0)
	{
		my @tests = grep { defined $time->{$_} } tests_of($hit, $code, $file, $line);
		my @asked = @named ? @named : in_order($file, $time, $much, @tests);

		archive() if $file =~ m{^src/core/};
		$verdict = !@tests ? 'unexecuted' : 'survived';
		$by = join(' ', sort @tests);
		if (is_listed($equivalent, "$file.right", $file, $line, $old, $new))
		{
			$verdict = 'equivalent';
		}
		else
		{
			for my $test (grep { $sound{$_} // 1 } @asked)
			{
				# (what waits for others might have waited too long)
				next if grep { passes($test, "$file:$line$new", $time, $least) } $test =~ /^tap/ ? (1, 2) : 1;
				($verdict, $by) = ('killed', $test);
				last;
			}
			if ($verdict ne 'killed' && compile($file, "$object.more", 1))
			{
				rename($file, "$file.wrong");
				system('cp', '-p', "$file.right", $file);
				$verdict = 'none' if compile($file, "$object.same2", 1)
					&& system('cmp', '-s', "$object.more", "$object.same2") == 0;
				rename("$file.wrong", $file);
				unlink("$object.more", "$object.same2");
			}
		}
	}
	keep_reason("$file:$line $by") if $verdict eq 'killed';
	rename("$file.right", $file) or die;
	rename("$object.right", $object) or die;
	forget_made($file);
	archive() if $file =~ m{^src/core/};
	if ($verdict eq 'killed' && !defined $sound{$by})
	{
		$sound{$by} = passes($by, 'as it is', $time, $least) ? 1 : 0;
		print "$by fails although nothing was changed: it is not asked any more\n" unless $sound{$by};
	}
	return try_one(@_) if $verdict eq 'killed' && !$sound{$by};
	return join("\t", $verdict, "$file:$line", sprintf('%.0f s', spent() - $from), trim($old), trim($new), $by);
}

sub prepare
{
	my ($map, $equivalent) = @_;

	$ENV{PGOPTIONS} = '-c statement_timeout=600s -c kanon.progress=off';
	# left by a run that was stopped; what was made of a mutation is newer than what comes back
	my @right = split(/\n/, `find src -name '*.right'`);

	rename($_, $_ =~ s/\.right$//r) for @right;
	forget_made($_) for map { /^(.*\.c)\.right$/ } @right;
	unlink('kanon.so', 'src/core/libkanon_core.a') if @right;
	system('make -s all >/dev/null') == 0 or die "it cannot be built\n" if @right;
	build_suites('plain');
	mkdir($out);
	find_server();
	learn();
	return [ read_map($map), read_equivalent($equivalent) ];
}

sub say_counts
{
	my ($count) = @_;
	my ($killed, $survived, $unexecuted) = map { $count->{$_} || 0 } qw(killed survived unexecuted);

	my $all = ($killed + $survived + $unexecuted) || 1;
	my $share = $killed / $all;
	# Wilson's interval, at 95 %
	my $z = 1.96 ** 2 / $all;
	my $middle = ($share + $z / 2) / (1 + $z);
	my $reach = sqrt($share * (1 - $share) * $z + $z ** 2 / 4) / (1 + $z);

	printf("%d killed, %d survived, %d executed by no test: %.1f %% killed (by chance between %.0f and %.0f);"
			. " %d equivalent, %d changed no object\n",
		$killed, $survived, $unexecuted, 100 * $share, 100 * ($middle - $reach), 100 * ($middle + $reach),
		$count->{equivalent} || 0, $count->{none} || 0);
}

# Of results: what was said last of each place; EQUIVALENT: by that list.
sub verdicts
{
	my ($equivalent) = ref $_[0] ? shift : {};
	my %last;

	for my $row (map { split(/\n/, slurp($_)) } grep { -e } @_)
	{
		my ($verdict, $place, undef, $old, $new) = split(/\t/, $row);
		my ($file, $line) = split(/:/, $place);

		$verdict = 'equivalent' if $verdict =~ /^(survived|unexecuted)$/ && -e $file
			&& is_listed($equivalent, $file, $file, $line, $old, $new);
		$last{"$place\t" . ($new // '')} = $verdict;
	}
	return \%last;
}

sub count_all
{
	my ($equivalent, @results) = @_;
	my %count;

	$count{$_}++ for values %{ verdicts(read_equivalent($equivalent), @results) };
	say_counts(\%count);
}

sub try_all
{
	my ($map, $n, $seed, $equivalent, $run, $job) = @_;
	my $known_by = prepare($map, $equivalent);
	my @files = sort split(/\n/, `find src -name '*.c'`);
	my $done = verdicts(glob("$run/*/result"));
	my $number = 0;

	open(my $result, '>>', "$run/$job/result") or die "$run/$job/result: $!";
	$result->autoflush(1);
	srand($seed);
	for my $drawn (draw($known_by->[3], \@files, 2 * $n))
	{
		my ($file, $line, $at, $length, $to) = @$drawn;
		my $new = (split(/\n/, slurp($file), -1))[ $line - 1 ];

		last if $ENV{UNTIL} && time() > $ENV{UNTIL};
		last if $n <= grep { $_ ne 'none' } values %{ verdicts(glob("$run/*/result")) };
		$number++;
		$to = '(!' . substr($new, $at, $length) . ')' if $to =~ /^\(!/;
		substr($new, $at, $length) = $to;
		# the jobs are of one mind about which is the next, and the first that comes takes it
		next if $done->{"$file:$line\t" . trim($new)} || !mkdir("$run/taken/$number");
		my $row = try_one($known_by, $file, $line, $new);

		print $result "$row\n";
		print "$number $row\n" unless $row =~ /^none/;
	}
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

		my $old_line = defined $line ? (split(/\n/, slurp($file), -1))[ $line - 1 ] : '';

		if (!defined $line)
		{
			print "gone\t$place\t\t$old\t$new\n";
			next;
		}
		my $result = try_one($known_by, $file, $line, $old_line =~ s/\Q$old\E/$new/r);

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
	my ($limit, @guards) = @_;
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
		archive() if $file =~ m{^src/core/};
	}
	$installed = '';
	install_library('guards') or die "it does not link\n";
	$found = run_test('broken:faults', $limit, 100);
	settle();
	for my $file (keys %files)
	{
		my $object = $file =~ s/c$/o/r;

		rename("$file.right", $file);
		rename("$object.right", $object);
		archive() if $file =~ m{^src/core/};
	}
	return $found;
}

sub try_guards
{
	my ($list) = @_;
	my @guards = map { [ split(/\t/) ] } grep { !/^#/ } split(/\n/, slurp($list));
	my $unseen = 0;

	$ENV{PGOPTIONS} = '-c statement_timeout=600s -c kanon.progress=off';
	mkdir('build');
	mkdir($out);
	find_server();
	learn();
	my $from = spent();
	run_test('broken:faults', 600, 100) or die 'the faults are not found as it is: ' . slurp("$out/regression.diffs");
	# without one of them something may go on for ever
	my $limit = 10 + 4 * (spent() - $from);

	for my $off (\@guards, map { [$_] } @guards)
	{
		my $name = @$off > 1 ? 'all at once' : $off->[0][3];
		my $found = without_guards($limit, @$off);
		my @through = $found ? () : grep { /^\+.*(published$|readers see something else)/ } split(/\n/, slurp("$out/regression.diffs"));

		$unseen += $found ? 1 : 0;
		printf("%s\t%s%s\n", $found ? 'NOT SEEN' : 'seen', $name, @through ? ': ' . @through . ' published' : '');
	}
	printf("%d guards off, alone and all at once: %d not seen\n", scalar(@guards), $unseen);
	exit($unseen > 0);
}

# ---- branches of the look ----

# What t/062 says of some kinds: 1 when all is well.
sub planted_passes
{
	my ($kinds) = @_;
	local ($ENV{PROVE_TESTS}, $ENV{KANON_PLANTED}, $ENV{KANON_BRIEF}) = ('t/062_planted_code.pl', $kinds, 1);

	return 1 if system("dev/check tap >$out/planted 2>&1") == 0;
	die "it does not run: $out/planted\n" if slurp("$out/planted") !~ /Failed test/;
	return 0;
}

sub try_look
{
	my ($list) = @_;
	my @branches = map { [ split(/\t/) ] } grep { !/^#/ } split(/\n/, slurp($list));
	my $unseen = 0;

	mkdir('build');
	mkdir($out);
	planted_passes('function@view') or die "it fails as it is: $out/planted\n";
	foreach my $branch (@branches)
	{
		my ($file, $from, $to, $name, $kinds) = @$branch;

		system('cp', '-p', $file, "$file.right");
		switch_off($file, $from, $to);
		my $passes = planted_passes($kinds);
		rename("$file.right", $file);
		utime(undef, undef, $file);
		$unseen += $passes;
		printf("%s\t%s: %s\n", $passes ? 'NOT SEEN' : 'seen', $name, $kinds);
	}
	printf("%d branches out, each alone: %d not seen\n", scalar(@branches), $unseen);
	exit($unseen > 0);
}

my ($what, @arguments) = @ARGV;
if ($what eq 'map') { map_tests(@arguments); }
elsif ($what eq 'try') { try_all(@arguments); }
elsif ($what eq 'again') { try_again(@arguments); }
elsif ($what eq 'count') { count_all(@arguments); }
elsif ($what eq 'guards') { try_guards(@arguments); }
elsif ($what eq 'look') { try_look(@arguments); }
else { die "usage: mutants.pl map|try|again|count|guards|look …\n"; }
