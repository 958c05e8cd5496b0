# Guard 10: cancel and statement_timeout work in every phase, leave nothing
# behind, and the backend goes on as if nothing had happened.
#
# "Within a second" is what kanon promises; a busy machine gets three.  Where the
# system tells what a backend has computed, the second is one of computing, which
# does not depend on what else the machine does.
use strict;
use warnings;
use Test::More;
use Time::HiRes qw(time);
use KanonGate;
use KanonNode;

use constant LIMIT => 3;

my $node = KanonNode::start('main', conf => <<'E');
autovacuum = off
max_parallel_workers_per_gather = 0
E
my $cancelled = qr/ERROR:  57014: canceling statement due to (?:user request|statement timeout)/;

$node->safe_psql('postgres', <<'E');
-- about as many classes as rows, so that each phase has work to do
CREATE TABLE many AS SELECT 'person ' || i / 3 AS a, i / 3 AS b, md5(i::text) AS note FROM generate_series(1, 400000) i;
CREATE TABLE few AS SELECT i % 5 AS a, i % 7 AS b, i AS note FROM generate_series(1, 3500) i;
CREATE TABLE published AS SELECT 'old'::text AS a;
E
# waits for lock 1 when it is read, which it is once
KanonGate::create($node, 'few');

# A session that runs one statement at a time and lets us watch.
package Session
{
	use Time::HiRes qw(time usleep);

	sub new
	{
		my ($class) = @_;
		my $psql = $node->background_psql('postgres', on_error_stop => 0);
		my $self = bless { psql => $psql, n => 0 }, $class;
		$psql->query('\set VERBOSITY verbose');
		$self->{pid} = $psql->query('SELECT pg_backend_pid()');
		return $self;
	}

	# Sends a statement and does not wait for it.
	sub start
	{
		my ($self, $sql) = @_;
		$self->{n}++;
		$self->{psql}{stdin} .= "$sql;\n\\echo done $self->{n}.\n\\warn done $self->{n}.\n";
		$self->{psql}{run}->pump_nb while length $self->{psql}{stdin};
	}

	# What it said on stderr, when it is over.
	sub finish
	{
		my ($self) = @_;
		my $psql = $self->{psql};
		$psql->{run}->pump
		  until $psql->{stdout} =~ /done $self->{n}\./ && $psql->{stderr} =~ /done $self->{n}\./;
		my $said = $psql->{stderr};
		$psql->{stdout} = $psql->{stderr} = '';
		return $said;
	}

	sub over
	{
		my ($self) = @_;
		$self->{psql}{run}->pump_nb;
		return $self->{psql}{stderr} =~ /done $self->{n}\./;
	}

	sub run { my ($self, $sql) = @_; $self->start($sql); return $self->finish; }
	sub value { my ($self, $sql) = @_; return $self->{psql}->query($sql); }

	# Seconds of computing so far; undef where there is no way to know.
	sub cpu
	{
		my ($self) = @_;
		open my $file, '<', "/proc/$self->{pid}/stat" or return undef;
		my $stat = <$file>;
		my @fields = split ' ', substr $stat, rindex($stat, ')') + 2;
		return ($fields[11] + $fields[12]) / 100;
	}

	sub rss
	{
		my ($self) = @_;
		open my $file, '<', "/proc/$self->{pid}/status" or return undef;
		return (join '', <$file>) =~ /RssAnon:\s+(\d+) kB/ ? $1 : undef;
	}

	sub quit { $_[0]{psql}->quit; }
}

sub publish
{
	my ($source, $target, $rest) = @_;
	return "SELECT * FROM kanon_pattern_guided('$source', '$target', $rest)";
}

my $runner = Session->new;
my $holder = $node->background_psql('postgres');

sub nothing_remains
{
	my ($name) = @_;
	is( $node->safe_psql('postgres', <<'E'), '1||0|0|0', "$name: nothing remains");
SELECT (SELECT count(*) FROM published WHERE a = 'old'), to_regclass('fresh'),
       (SELECT count(*) FROM pg_class WHERE relname LIKE 'kanon\_building\_%'),
       (SELECT count(*) FROM kanon_usefulness), (SELECT count(*) FROM pg_ls_tmpdir())
E
}

# 1. Held by a lock in each phase where it can be, cancelled in both ways.
my $gated = publish('gated', 'published', "'{a,b}', 5, keep => '{note}', allow_identifying => '{note}', replace => true");
my @holds = (
	[ 'reading', 'SELECT pg_advisory_xact_lock(1)', $gated ],
	[ 'recording', 'LOCK TABLE kanon_run IN SHARE MODE', $gated ],
	[ 'recording classes', 'LOCK TABLE kanon_run_class IN SHARE MODE', $gated ],
	[ 'replacing', 'SELECT count(*) FROM published', $gated ],
	[ 'creating', 'CREATE TABLE fresh ()', publish('few', 'fresh', "'{a,b}', 5") ]);
foreach my $hold (@holds)
{
	my ($name, $lock, $run) = @$hold;
	$holder->query_safe("BEGIN; $lock");
	foreach my $way ('cancel', 'statement_timeout')
	{
		my $asked = time;
		$node->safe_psql('postgres', 'ALTER SEQUENCE ticket RESTART');
		if ($way eq 'cancel')
		{
			$runner->start($run);
			$node->poll_query_until('postgres',
				"SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $runner->{pid}")
			  or die 'it does not wait';
			$asked = time;
			$node->safe_psql('postgres', "SELECT pg_cancel_backend($runner->{pid})");
		}
		else
		{
			$runner->run("SET statement_timeout = '200ms'");
			$runner->start($run);
		}
		like($runner->finish, $cancelled, "$way while $name");
		cmp_ok(time - $asked, '<', LIMIT, "$way while $name: at once");
		$runner->run('RESET statement_timeout');
	}
	$holder->query_safe('ROLLBACK');
	nothing_remains($name);
}

# A backend that others keep from running finds a cancel and the end of its wait for readers
# at the same time: it is stopped here in such a wait for longer than that takes.
$holder->query_safe('BEGIN; SELECT count(*) FROM published');
{
	my $waits = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $runner->{pid}";
	my $caught = '';
	$node->safe_psql('postgres', 'ALTER SEQUENCE ticket RESTART');
	$runner->start($gated);
	until ($caught eq 't')
	{
		$node->poll_query_until('postgres', $waits) or die 'it does not wait';
		kill 'STOP', $runner->{pid};
		$caught = $node->safe_psql('postgres', $waits);
		kill 'CONT', $runner->{pid} if $caught ne 't';
	}
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($runner->{pid})");
	Time::HiRes::usleep(300_000);
	kill 'CONT', $runner->{pid};
	like($runner->finish, $cancelled, 'cancelled as a wait for readers ends');
}
$holder->query_safe('ROLLBACK');
nothing_remains('both at once');

# Cancelled while the record is written as its owner, and caught: who we are and
# what we see is as before.
$node->safe_psql('postgres', <<'E');
CREATE ROLE plain;
GRANT CREATE ON SCHEMA public TO plain;
GRANT SELECT ON few TO plain;
E
$holder->query_safe('BEGIN; LOCK TABLE kanon_run IN SHARE MODE');
$runner->run('SET ROLE plain');
$runner->run("SET search_path = public; SET statement_timeout = '200ms'");
my $said = $runner->run(<<'E');
DO $$
BEGIN
    BEGIN
        PERFORM kanon_pattern_guided('few', 'fresh', '{a,b}', 5);
    EXCEPTION WHEN query_canceled THEN
        RAISE NOTICE 'caught as % % %', current_user, current_setting('search_path'), current_setting('enable_sort');
    END;
END $$
E
like($said, qr/caught as plain public on/, 'cancelled and caught: user and settings are the caller\'s again');
$holder->query_safe('ROLLBACK');
$runner->run($_) foreach 'RESET ROLE', 'RESET search_path', 'RESET statement_timeout';
nothing_remains('cancelled and caught');

# In LEMON, which computes in a thread of its own.
$node->safe_psql('postgres', <<'E');
CREATE TABLE scattered AS SELECT i * 7919 % 211 AS a, i * 104729 % 197 AS b, i * 31337 % 223 AS c FROM generate_series(1, 20000) i;
E
{
	$runner->run("SET statement_timeout = '2s'");
	my $asked = time;
	my $said = $runner->run("SELECT kanon_cluster('scattered', 'fresh', '{a,b,c}', 3, 'triples', show => 'suppress')");
	if ($said !~ /0A000/)
	{
		like($said, $cancelled, 'statement_timeout while matching');
		cmp_ok(time - $asked, '<', 2 + LIMIT, 'statement_timeout while matching: at once');
	}
	$runner->run('RESET statement_timeout');
	nothing_remains('matching');
}

# kanon_attack, which looks for each of many persons among many records.
$node->safe_psql('postgres', "CREATE TABLE attacked AS SELECT i AS a, i % 1000 AS b, i AS nr FROM generate_series(1, 60000) i");
{
	my $attack = "SELECT count(*) FROM kanon_attack('attacked', 'attacked', 'nr', '{a,b}', 60000)";
	$runner->run("SET statement_timeout = '1s'");
	my $asked = time;
	like($runner->run($attack), $cancelled, 'statement_timeout while persons are looked for');
	cmp_ok(time - $asked, '<', 1 + LIMIT, 'statement_timeout while persons are looked for: at once');
	$runner->run('RESET statement_timeout');
	$runner->start($attack);
	Time::HiRes::usleep(1e6);
	$asked = time;
	kill 'INT', $runner->{pid};
	like($runner->finish, $cancelled, 'cancelled while persons are looked for');
	cmp_ok(time - $asked, '<', LIMIT, 'cancelled while persons are looked for: at once');
	nothing_remains('looking for persons');
}

# 2. At many points of a run that computes all the time.
my $whole = publish('many', 'fresh', "'{a,b}', 3, keep => '{note}', allow_identifying => '{note}', mark => true");
my ($began, $started, $wall);
foreach my $time ('first', 'second')
{
	$runner->run('BEGIN');
	$began = $runner->cpu;
	$started = time;
	unlike($runner->run($whole), qr/ERROR/, "the whole run, the $time time");
	$wall = time - $started;
	$runner->run('ROLLBACK');
}
my $total = defined $began ? $runner->cpu - $began : undef;
note("$wall s, computing " . ($total // '?'));
my $points = 10;
foreach my $point (1 .. $points)
{
	my $name = "cancelled at $point/" . ($points + 1);
	my $share = $point / ($points + 1);
	$began = $runner->cpu;
	$started = time;
	$runner->start($whole);
	if (defined $total)
	{
		Time::HiRes::usleep(5000) until $runner->cpu - $began >= $total * $share || $runner->over;
	}
	else
	{
		Time::HiRes::usleep(1e6 * $wall * $share);
	}
	my $cpu = $runner->cpu;
	my $asked = time;
	kill 'INT', $runner->{pid};
	$said = $runner->finish;
	my $took = time - $asked;
	SKIP:
	{
		# the last points may come too late
		skip "$name: it was faster this time", 2 if $said !~ /ERROR/ && $point > $points / 2;
		like($said, $cancelled, $name);
		cmp_ok($took, '<', LIMIT, "$name: at once");
	}
	cmp_ok($runner->cpu - $cpu, '<', 1, "$name: after less than a second of computing") if defined $cpu;
	my ($where) = $said =~ /CONTEXT:  SQL statement "(.{1,60})/;
	note($where // 'between statements');
	$runner->run("DROP TABLE IF EXISTS fresh; TRUNCATE kanon_run, kanon_run_class") if $said !~ /ERROR/;
}

# A freeform release: in the middle of a part, and in GLPK.
$node->safe_psql('postgres', <<'E');
CREATE TABLE strewn AS SELECT i AS a, i * 7919 % 10007 AS b, i * 104729 % 9973 AS c FROM generate_series(1, 9000) i;
CREATE TABLE tangled AS SELECT i * 7919 % 101 AS a, i * 104729 % 97 AS b, i * 31 % 89 AS c, i * 17 % 83 AS d FROM generate_series(1, 80) i;
E
foreach my $freeform ([ 'strewn', 10, 'greedy' ], [ 'strewn', 10, 'hungarian' ], [ 'strewn', 5, 'concealment' ], [ 'tangled', 3, 'mip' ])
{
	my ($source, $k, $method) = @$freeform;
	my $columns = $method eq 'mip' ? '{a,b,c,d}' : '{a,b,c}';
	$runner->run("SET statement_timeout = '500ms'; SET kanon.max_memory = '2GB'");
	my $asked = time;
	my $cpu = $runner->cpu;
	$said = $runner->run("SELECT * FROM kanon_freeform('$source', 'fresh', '$columns', $k, method => '$method', time_limit => NULL)");
	SKIP:
	{
		skip "$method: it was faster", 2 if $said !~ /ERROR/;
		skip "$method: not in this build", 2 if $said =~ /0A000/;
		like($said, $cancelled, "freeform, $method: statement_timeout");
		cmp_ok(time - $asked, '<', LIMIT + 1, "freeform, $method: at once");
	}
	cmp_ok($runner->cpu - $cpu, '<', 1.5, "freeform, $method: after less than a second of computing") if defined $cpu;
	$runner->run('RESET statement_timeout; RESET kanon.max_memory');
	$runner->run("DROP TABLE IF EXISTS fresh; TRUNCATE kanon_run, kanon_run_class") if $said !~ /ERROR/;
}
nothing_remains('freeform');

# The exact and the anytime method, early and late: in the prices, the search, the
# linear program and its cuts.
$node->safe_psql('postgres', <<'E');
CREATE TABLE survey AS
SELECT abs(hashint4(i) % 17) + abs(hashint4(i + 50000) % 17) AS age, least(abs(hashint4(i + 100000) % 4), abs(hashint4(i + 110000) % 6)) AS c2,
       least(abs(hashint4(i + 200000) % 4), abs(hashint4(i + 210000) % 5)) AS c3, least(abs(hashint4(i + 300000) % 15), abs(hashint4(i + 310000) % 9)) AS c4,
       hashint4(i + 400000) % 7 = 0 AS c5, hashint4(i + 500000) % 4 = 0 AS c6, abs(hashint4(i + 600000) % 4) AS c7,
       least(abs(hashint4(i + 700000) % 4), abs(hashint4(i + 710000) % 4)) AS c8, hashint4(i + 800000) % 13 = 0 AS c9, abs(hashint4(i + 900000) % 3) AS c10
FROM generate_series(1, 1500) i;
E
foreach my $late ([ 'ilp', 2, 1 ], [ 'ilp', 2, 4 ], [ 'ilp', 5, 8 ], [ 'improve', 5, 2 ], [ 'improve', 2, 7 ])
{
	my ($method, $k, $seconds) = @$late;
	my $name = "$method, k = $k, after $seconds s";
	$runner->run("SET statement_timeout = '${seconds}s'; SET kanon.max_memory = '2GB'");
	my $asked = time;
	my $cpu = $runner->cpu;
	$said = $runner->run(publish('survey', 'fresh', "'{age,c2,c3,c4,c5,c6,c7,c8,c9,c10}', $k, method => '$method', time_limit => NULL"));
	SKIP:
	{
		skip "$name: it was faster, or there is no GLPK", 2 if $said !~ $cancelled && $said !~ /ERROR:  (?!0A000)/;
		like($said, $cancelled, $name);
		cmp_ok(time - $asked, '<', $seconds + LIMIT, "$name: at once");
	}
	cmp_ok($runner->cpu - $cpu, '<', $seconds + 1, "$name: after less than a second of computing") if defined $cpu && $said =~ $cancelled;
	$runner->run('RESET statement_timeout; RESET kanon.max_memory');
	$runner->run("DROP TABLE IF EXISTS fresh; TRUNCATE kanon_run, kanon_run_class") if $said !~ /ERROR/;
}
nothing_remains('exact and anytime');

# At the very beginning of phases that take a second of computing and more.
$node->safe_psql('postgres', <<'E');
CREATE VIEW long AS SELECT i % 5 AS a FROM generate_series(1, 6000000) i;
CREATE VIEW pairs AS SELECT i / 2 AS a FROM generate_series(1, 1000000) i;
E
my @beginnings = (
	[ 'writing', publish('long', 'fresh', "'{a}', 2"), 'relation NOT IN (SELECT oid FROM pg_class)' ],
	[ 'recording', publish('pairs', 'fresh', "'{a}', 2"), "relation = 'kanon_run_class'::regclass" ]);
foreach my $beginning (@beginnings)
{
	my ($name, $run, $relation) = @$beginning;
	my ($cpu, $tries);
	# on a busy machine it may be over before we have noticed that it began
	for ($tries = 0; $tries < 5; $tries++)
	{
		$runner->start($run);
		$node->poll_query_until('postgres', <<"E") or die 'it does not begin';
SELECT to_regclass('fresh') IS NOT NULL OR EXISTS (
    SELECT FROM pg_locks WHERE pid = $runner->{pid} AND mode = 'RowExclusiveLock' AND $relation)
E
		$cpu = $runner->cpu;
		$started = time;
		kill 'INT', $runner->{pid};
		$said = $runner->finish;
		last if $said =~ /ERROR/;
		$node->safe_psql('postgres', 'DROP TABLE fresh; TRUNCATE kanon_run, kanon_run_class');
	}
	like($said, $cancelled, "cancelled when it begins $name");
	cmp_ok(time - $started, '<', LIMIT, "$name: at once");
	cmp_ok($runner->cpu - $cpu, '<', 1, "$name: after less than a second of computing") if defined $cpu;
	nothing_remains($name);
}

# 3. Methods that would take long, each that there is.  The table grows until one
# takes longer than we let it.
my ($methods) = $runner->run(publish('few', 'fresh', "'{a}', 2, method => 'which'")) =~ /Known: (.*)\./;
my @methods = ($methods // '') =~ /'(\w+)'/g;
cmp_ok(scalar @methods, '>', 0, "methods: @methods");
foreach my $columns (30, 40, 24)
{
	$node->safe_psql('postgres', <<"E");
SELECT 'CREATE TABLE wide$columns AS SELECT '
    || string_agg('(hashint8(i * 64 + ' || c || ') >> 7) & 3 AS c' || c, ', ') || ' FROM generate_series(1, 2000) i'
FROM generate_series(1, $columns) c \\gexec
E
}
foreach my $method (@methods)
{
	my $stopped = 0;
	foreach my $columns (30, 40, 24)
	{
		my $run = publish("wide$columns", 'fresh',
			"(SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute"
			  . " WHERE attrelid = 'wide$columns'::regclass AND attnum > 0), 5, method => '$method'");
		$runner->run("SET statement_timeout = '500ms'");
		my $asked = time;
		$said = $runner->run($run);
		my $took = time - $asked - 0.5;
		$runner->run('RESET statement_timeout');
		cmp_ok($took, '<', LIMIT, "solving with $method, $columns columns: over in time");
		$node->safe_psql('postgres', 'DROP TABLE IF EXISTS fresh; TRUNCATE kanon_run, kanon_run_class');
		next unless $said =~ $cancelled;
		$stopped = 1;
		my $other = Session->new;
		$other->start($run);
		$node->poll_query_until('postgres',
			"SELECT state = 'active' AND now() - query_start > '0.2 s' FROM pg_stat_activity WHERE pid = $other->{pid}");
		$asked = time;
		is( $node->safe_psql('postgres', "SELECT pg_terminate_backend($other->{pid}, 20000)"),
			't', "solving with $method: terminated");
		cmp_ok(time - $asked, '<', LIMIT, "solving with $method: and at once");
		# (a call that was over by then has published and recorded)
		$node->safe_psql('postgres', 'DROP TABLE fresh; TRUNCATE kanon_run, kanon_run_class')
		  if $node->safe_psql('postgres', "SELECT to_regclass('fresh') IS NOT NULL AND EXISTS (SELECT FROM kanon_usefulness)") eq 't';
		last;
	}
	note("$method was never stopped") unless $stopped;
	nothing_remains("solving with $method");
}

# 4. Many cancelled runs: the backend does not grow.
$node->safe_psql('postgres', 'CREATE TABLE less AS SELECT * FROM many LIMIT 20000');
my $small = publish('less', 'fresh', "'{a,b}', 3, keep => '{note}', allow_identifying => '{note}'");
sub cancel_often
{
	my ($times) = @_;
	my $sql = '';
	foreach my $i (1 .. $times)
	{
		$sql .= "SET statement_timeout = '" . (1 + $i * 7 % 90) . "ms';\n$small;\nRESET statement_timeout;\nDROP TABLE IF EXISTS fresh;\n";
	}
	return scalar(() = $runner->run("SET client_min_messages = error;\n$sql") =~ /57014/g);
}
cancel_often(40);
my $contexts = 'SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts';
my ($rss, $kb) = ($runner->rss, $runner->value($contexts));
my $stopped = cancel_often(160);
cmp_ok($stopped, '>', 40, "$stopped of 160 short runs were cancelled");
cmp_ok($runner->value($contexts) - $kb, '<', 2048, 'memory contexts do not grow');
note("private memory grew by " . ($runner->rss - $rss) . " kB") if defined $rss;
cmp_ok($runner->rss - $rss, '<', 8192, 'nor does the backend') if defined $rss;

# The same backend can publish, after all this.  (On a busy machine a limit of few milliseconds ends its own RESET, too.)
my $patience = time + 60;
1 while $runner->run('RESET statement_timeout') =~ /57014/ && time < $patience;
$node->safe_psql('postgres', 'ALTER SEQUENCE ticket RESTART');
unlike($runner->run($gated), qr/ERROR/, 'the backend that was cancelled so often publishes');
is( $node->safe_psql('postgres', "SELECT k, row_count FROM kanon_check('published', '{a,b}')"),
	'100|3500', 'what it should');
$runner->quit;
$holder->quit;
$node->stop;
done_testing();
