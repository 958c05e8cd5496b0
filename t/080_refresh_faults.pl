# What can happen to a refresh: its backend or the server crashes at ten points of
# it, it is cancelled, times out, is the victim of a deadlock, finds the disk full
# or readers that will not go.  Readers have the old release, whole, until they
# have the new one, whole; and the next refresh works and cleans up.
use strict;
use warnings;
use Test::More;
use KanonGate;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::start('main', conf => "autovacuum = off\nrestart_after_crash = on\n");
$node->safe_psql('postgres', <<'E');
CREATE TABLE person AS SELECT i % 20 AS a, i % 3 AS b, 'note ' || i AS note FROM generate_series(1, 6000) i;
CREATE TABLE other (x int);
E
KanonGate::create($node);
$node->safe_psql('postgres', <<'E');
SELECT kanon_create_publication('published', 'gated', '{a,b}', 5, '{"keep": ["note"], "allow_identifying": ["note"]}');
CREATE VIEW depends AS SELECT a, count(*) AS n FROM published GROUP BY a;
CREATE FUNCTION gate_command() RETURNS event_trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    PERFORM gate(CASE TG_TAG WHEN 'CREATE TABLE' THEN 11 WHEN 'CREATE VIEW' THEN 12 ELSE 13 END);
END $$;
CREATE EVENT TRIGGER gate_command ON ddl_command_end
WHEN TAG IN ('CREATE TABLE', 'CREATE VIEW') EXECUTE FUNCTION gate_command();
CREATE EVENT TRIGGER gate_drop ON sql_drop WHEN TAG IN ('DROP TABLE') EXECUTE FUNCTION gate_command();

-- all that there is of the publication, and all that a reader sees
CREATE FUNCTION state() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', (SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM published t),
        (SELECT sum(n) FROM depends), (SELECT concat_ws(' ', k, classes, row_count) FROM kanon_check('published', '{a,b}')),
        (SELECT md5(string_agg(h::text, ',' ORDER BY release)) FROM published_history h),
        (SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class WHERE relname ~ '^published'),
        (SELECT count(*) FROM pg_class WHERE relkind = 'r'), (SELECT count(*) FROM pg_type),
        (SELECT count(*) FROM kanon_usefulness), (SELECT count(*) FROM kanon_run_class))
$$;
E
my $refresh = "SELECT status, row_count, k, error FROM kanon_refresh('published')";

sub state { return $node->safe_psql('postgres', 'SELECT state()'); }

# The next refresh works, and leaves one release and nothing beside.
sub next_works
{
	my ($name) = @_;
	is($node->safe_psql('postgres', $refresh), 'current|6000|100|', "$name: the next refresh works");
	is( $node->safe_psql('postgres', <<'E'), 't|1|t', "$name: and cleans up");
SELECT count(*) = 6000, (SELECT count(*) FROM pg_class WHERE relname ~ '^published_release'),
       (SELECT relation::text ~ ('release_' || release || '$') FROM kanon_releases WHERE status = 'current')
FROM published
E
}

sub start_held { return KanonGate::start_held($node, $refresh, @_); }

my @points = (
	[ 'making the new table', 'SELECT pg_advisory_xact_lock(11)' ],
	[ 'reading', 'SELECT pg_advisory_xact_lock(1)' ],
	[ 'recording the run', 'LOCK TABLE kanon_run IN SHARE MODE' ],
	[ 'recording its classes', 'LOCK TABLE kanon_run_class IN SHARE MODE' ],
	[ 'waiting for a reader', 'SELECT count(*) FROM published' ],
	[ 'switching the view', 'SELECT pg_advisory_xact_lock(12)' ],
	[ 'writing the history', 'LOCK TABLE published_history IN SHARE MODE' ],
	[ 'dropping the old release', 'SELECT pg_advisory_xact_lock(13)' ]);
foreach my $point (@points)
{
	my ($name, $lock) = @$point;
	my $old = state();
	foreach my $how ('kill -9', 'immediate shutdown')
	{
		KanonGate::crash($node, $how, start_held($lock));
		is(state(), $old, "$how while $name: all is as it was");
	}
	next_works($name);
}
foreach my $how ('kill -9', 'immediate shutdown')
{
	my $old = state();
	my $runner = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $runner->query('SELECT pg_backend_pid()');
	$runner->query_safe("BEGIN; $refresh");
	KanonGate::crash($node, $how, $pid, $runner);
	is(state(), $old, "$how before COMMIT: all is as it was");
}
next_works('before COMMIT');

# What the statement that was started in a session has said since.
sub finish
{
	my ($session) = @_;
	my $said = $session->query('SELECT \'over\'');
	my $error = $session->{stderr};
	$session->{stderr} = '';
	return ($said, $error);
}

# Whoever ends the statement ends it: nothing is swallowed, nothing recorded.
foreach my $phase ([ 'reading', 'SELECT pg_advisory_xact_lock(1)' ], [ 'waiting for a reader', 'SELECT count(*) FROM published' ])
{
	my ($name, $lock) = @$phase;
	my $old = state();
	my ($pid, $holder, $runner) = start_held($lock);
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	my ($said, $error) = finish($runner);
	like($error, qr/ERROR:  canceling statement due to user request/, "cancelled while $name");
	$_->quit foreach $holder, $runner;
	is(state(), $old, "cancelled while $name: all is as it was");

	($pid, $holder, $runner) = start_held($lock, "SET statement_timeout = '1s'");
	($said, $error) = finish($runner);
	like($error, qr/ERROR:  canceling statement due to statement timeout/, "statement_timeout while $name");
	$_->quit foreach $holder, $runner;
	is(state(), $old, "statement_timeout while $name: all is as it was");
}
next_works('cancelled');

# What fails the refresh alone is recorded.
my ($pid, $holder, $runner) = start_held('LOCK TABLE person IN ACCESS EXCLUSIVE MODE', "SET lock_timeout = '300ms'");
my ($said, $error) = finish($runner);
like($said, qr/^failed\|\|\|55P03$/m, 'lock_timeout at the source: a failed refresh');
like($error, qr/WARNING:  publication public\.published was not refreshed/, 'with a WARNING');
$_->quit foreach $holder, $runner;
($pid, $holder, $runner) = start_held('SELECT count(*) FROM published', "SET lock_timeout = '500ms'");
($said, $error) = finish($runner);
like($said, qr/^failed\|\|\|55P03$/m, 'lock_timeout at the view: a failed refresh');
$_->quit foreach $holder, $runner;
is( $node->safe_psql('postgres', "SELECT string_agg(error || ' ' || message, ', ' ORDER BY release) FROM kanon_releases WHERE status = 'failed'"),
	'55P03 canceling statement due to lock timeout, 55P03 readers kept the view for longer than lock_timeout',
	'both are recorded');
next_works('lock_timeout');

# A deadlock, of which the refresh is the victim: the transaction it is in goes on.
{
	$holder = $node->background_psql('postgres', on_error_stop => 0);
	$holder->query_safe("SET deadlock_timeout = '1min'; BEGIN; LOCK TABLE person IN ACCESS EXCLUSIVE MODE");
	$runner = $node->background_psql('postgres', on_error_stop => 0);
	$runner->query_safe("SET deadlock_timeout = '2s'; BEGIN; INSERT INTO other VALUES (1)");
	KanonGate::start($runner, $refresh);
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'});
	KanonGate::start($holder, 'LOCK TABLE other IN ACCESS EXCLUSIVE MODE');
	($said, $error) = finish($runner);
	like($said, qr/^failed\|\|\|40P01$/m, 'a deadlock: a failed refresh');
	$runner->query_safe('COMMIT');
	$holder->query('ROLLBACK');
	$_->quit foreach $runner, $holder;
	is($node->safe_psql('postgres', 'SELECT count(*) FROM other'), '1', 'and the transaction went on');
	next_works('a deadlock');
}

# A reader with an open cursor keeps what it began to read; others are not kept waiting.
{
	my $reader = $node->background_psql('postgres');
	$reader->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT note FROM published; FETCH 10 FROM c');
	$node->safe_psql('postgres', "DELETE FROM person WHERE note = 'note 1'");
	$runner = $node->background_psql('postgres', on_error_stop => 0);
	KanonGate::start($runner, $refresh);
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'kanon_refresh'});
	my $counts = '';
	$counts .= $node->safe_psql('postgres', "SET statement_timeout = '1s'; SELECT count(*) FROM published") . ' ' for 1 .. 5;
	is($counts, '6000 ' x 5, 'readers go on while a refresh waits for one of them');
	my $rest = $reader->query_safe('FETCH ALL FROM c');
	is(scalar(split /\n/, $rest), 5990, 'its cursor reads the old release to its end');
	$reader->query_safe('COMMIT');
	($said, $error) = finish($runner);
	like($said, qr/^current\|5999\|/m, 'then the refresh gets through');
	$_->quit foreach $reader, $runner;
	is($node->safe_psql('postgres', 'SELECT count(*) FROM published'), '5999', 'and all read the new release');
	$node->safe_psql('postgres', "INSERT INTO person VALUES (1, 1, 'note 1')");
}

# An older snapshot meets a whole release, not an empty table.
{
	my $reader = $node->background_psql('postgres');
	$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM person');
	next_works('while a snapshot is held');
	is($reader->query_safe('SELECT count(*), min(length(note)) > 0 FROM published'), '6000|t',
		'who comes with an older snapshot sees all of the new release');
	$reader->quit;
}

# A refresh in a transaction that is rolled back never was.
{
	my $old = state();
	$node->safe_psql('postgres', "BEGIN; $refresh; ROLLBACK");
	is(state(), $old, 'rolled back: all is as it was');
	is( $node->safe_psql('postgres', <<"E"), 'current|6000|100|', 'refreshed twice in a transaction, with a cursor on the old release');
\\o /dev/null
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM published;
FETCH 1 FROM c;
$refresh;
FETCH 1 FROM c;
\\o
$refresh;
COMMIT;
E
	next_works('two in a transaction');
}

# Two at a time: the second is told so at once, or waits.
{
	($pid, $holder, $runner) = start_held('SELECT pg_advisory_xact_lock(1)');
	my ($ret, $stdout, $stderr) = $node->psql('postgres', $refresh);
	like($stderr, qr/ERROR:  publication public\.published is being refreshed by another session/, 'the second is refused');
	($ret, $stdout, $stderr) = $node->psql('postgres', 'CALL kanon_refresh_all()');
	like($stderr, qr/1 of 1 publications could not be refreshed.*SQLSTATE 55P03/s, 'in a refresh of all, too');
	my $second = $node->background_psql('postgres', on_error_stop => 0);
	KanonGate::start($second, "SELECT status FROM kanon_refresh('published', wait => true)");
	$node->poll_query_until('postgres', q{SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event_type = 'Lock'});
	$holder->quit;
	($said) = finish($runner);
	like($said, qr/^current/m, 'the first gets through');
	($said) = finish($second);
	like($said, qr/^current/m, 'and the one that waited');
	$_->quit foreach $runner, $second;
}

# No room: files of the backend cannot grow.  (A mount with little room takes root,
# who does not run this.)
SKIP:
{
	skip 'no prlimit to limit the size of files', 4
	  if system('prlimit --version >/dev/null 2>&1') != 0;
	my $seen = 'SELECT md5(string_agg(t::text, $$,$$ ORDER BY t::text)) FROM published t';
	my $old = $node->safe_psql('postgres', $seen);
	$node->safe_psql('postgres', "INSERT INTO person SELECT i % 20, i % 3, md5(i::text) || md5(i::text) FROM generate_series(1, 400000) i");
	$runner = $node->background_psql('postgres', on_error_stop => 0);
	my $backend = $runner->query('SELECT pg_backend_pid()');
	is(system("prlimit --pid $backend --fsize=25165824:"), 0, 'files end at 24 MB');
	like($runner->query($refresh), qr/^failed\|\|\|(53100|XX000|58030)$/m, 'no room left: a failed refresh');
	is($node->safe_psql('postgres', $seen), $old, 'readers have what they had');
	$runner->{stderr} = '';
	$runner->quit;
	is($node->safe_psql('postgres', "SELECT status, row_count FROM kanon_refresh('published')"), 'current|406000',
		'and with room again it works');
}
$node->stop;
done_testing();
