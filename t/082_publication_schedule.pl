# The standing promise: publications refreshed by pg_cron and by a line of crontab,
# fifty readers and a writer all the while, progress that others see, a standby.
use strict;
use warnings;
use Test::More;
use KanonGate;
use KanonNode;
use PostgreSQL::Test::Utils;

use constant { READERS => 50, REFRESHES => 20 };

my $node = KanonNode::new_node('main', init => { allows_streaming => 1 }, conf => <<'E');
max_connections = 100
fsync = off
E
my $cron = $node->config_data('--pkglibdir') . '/pg_cron.so';
my $has_cron = -e $cron;
$node->append_conf('postgresql.conf', 'shared_preload_libraries = ' . ($has_cron ? "'pg_cron,kanon'" : "'kanon'"));
$node->append_conf('postgresql.conf', "cron.host = '" . $node->host . "'\ncron.timezone = 'UTC'") if $has_cron;
$node->start;
$node->safe_psql('postgres', <<'E');
CREATE EXTENSION kanon;
CREATE ROLE nightly LOGIN;
CREATE ROLE stranger LOGIN;
CREATE ROLE monitor LOGIN IN ROLE pg_monitor;
GRANT CREATE ON DATABASE postgres TO nightly;
SET SESSION AUTHORIZATION nightly;
CREATE SCHEMA nightly;
CREATE TABLE nightly.staff AS SELECT i % 5 AS zip, i % 3 AS age FROM generate_series(1, 300) i;
SELECT kanon_create_publication('nightly.one', 'nightly.staff', '{zip,age}', 5);
SELECT kanon_create_publication('nightly.two', 'nightly.staff', '{age}', 5);
E
my $releases = "SELECT string_agg(publication || ' ' || n, ', ' ORDER BY publication) FROM"
  . " (SELECT publication, count(*) AS n FROM kanon_releases WHERE publication ~ '^nightly' AND status <> 'failed' GROUP BY 1) r";

# pg_cron: its first run is up to a minute away; what comes of it is looked at in the end.
if ($has_cron)
{
	$node->safe_psql('postgres', <<'E');
CREATE EXTENSION pg_cron;
GRANT USAGE ON SCHEMA cron TO nightly;
SET SESSION AUTHORIZATION nightly;
SELECT cron.schedule('publications', '* * * * *', 'CALL kanon_refresh_all()');
E
}

# ---- progress ----

$node->safe_psql('postgres', <<'E');
CREATE TABLE patient AS SELECT i AS id, i % 20 AS zip, i % 7 AS age FROM generate_series(1, 4000) i;
CREATE FUNCTION gate() RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_lock_shared(1);
    PERFORM pg_advisory_unlock_shared(1);
    RETURN true;
END $$;
CREATE VIEW gated AS SELECT * FROM patient WHERE (SELECT gate());
SELECT kanon_create_publication('slow', 'gated', '{zip,age}', 5);
E
{
	my $holder = $node->background_psql('postgres');
	my $runner = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $runner->query('SELECT pg_backend_pid()');
	my $start = sub {
		my ($sql) = @_;
		$holder->query_safe('SELECT pg_advisory_lock(1)');
		KanonGate::start($runner, $sql);
		$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = $pid");
	};
	my $seen = "SELECT pid, publication, phase, since < now() FROM kanon_progress WHERE publication IS NULL OR publication !~ 'nightly'";
	$start->("SELECT status FROM kanon_refresh('slow')");
	is($node->safe_psql('postgres', $seen), "$pid|public.slow|starting|t", 'others see the refresh');
	is(($node->psql('postgres', $seen))[2], '', 'and no NOTICE, where the library is preloaded');
	is($node->safe_psql('postgres', $seen, extra_params => [ '-U', 'monitor' ]), "$pid|public.slow|starting|t", 'so does monitoring');
	is($node->safe_psql('postgres', $seen, extra_params => [ '-U', 'stranger' ]), '', 'but not everybody');
	$holder->query_safe('SELECT pg_advisory_unlock(1)');
	like($runner->query("SELECT 'over'"), qr/^current/m, 'it comes to an end');
	is($node->safe_psql('postgres', $seen), '', 'and is gone');
	$start->("SELECT count(*) FROM kanon_pattern_guided('gated', NULL, '{zip,age}', 5, dry_run => true)");
	is($node->safe_psql('postgres', $seen), "$pid||starting|t", 'other runs are seen, too');
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$runner->query("SELECT 'over'");
	is($node->safe_psql('postgres', $seen), '', 'until they are cancelled');
	$holder->query_safe('SELECT pg_advisory_unlock(1)');
	$start->("SELECT status FROM kanon_refresh('slow')");
	is($node->safe_psql('postgres', $seen), "$pid|public.slow|starting|t", 'the next one is seen');
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
	is($node->safe_psql('postgres', $seen), '', 'until its session is ended');
	eval { $runner->{run}->finish };
	$holder->query_safe('SELECT pg_advisory_unlock(1)');
	# reading has a share long before its first group is there: it is held at the row before the last quarter
	$node->safe_psql('postgres', 'ANALYZE patient; CREATE VIEW halfway AS SELECT CASE WHEN id <> 3000 OR gate() THEN zip END AS zip, age FROM patient');
	$runner = $node->background_psql('postgres', on_error_stop => 0);
	$pid = $runner->query('SELECT pg_backend_pid()');
	$start->("SELECT count(*) FROM kanon_pattern_guided('halfway', NULL, '{zip,age}', 5, dry_run => true)");
	is($node->safe_psql('postgres', "SELECT phase, done BETWEEN 20 AND 60, total FROM kanon_progress WHERE pid = $pid"), 'reading|t|100', 'reading has a share');
	$holder->query_safe('SELECT pg_advisory_unlock(1)');
	$runner->quit;
	$holder->quit;
	$node->safe_psql('postgres', "SELECT kanon_drop_publication('slow')");
}

# ---- a standby ----

$node->safe_psql('postgres', <<'E');
SELECT kanon_create_publication('visits', 'patient', '{zip,age}', 5);
CREATE VIEW by_zip AS SELECT zip, count(*) AS n FROM visits GROUP BY zip;
E
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
my $whole = 'SELECT k >= 5, row_count, (SELECT sum(n) FROM by_zip) FROM kanon_check($$visits$$, $${zip,age}$$)';
is($standby->safe_psql('postgres', $whole), 't|4000|4000', 'a standby serves the view');

# ---- fifty readers and a writer during twenty refreshes ----

sub script
{
	my ($name, $sql) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir . "/$name.sql";
	append_to_file($file, $sql);
	return $file;
}

# Each look is checked: all of the people, and no class below k (a division by zero if not).
my $read = script('read', <<'E');
SELECT 1 / (sum(n) = 4000 AND coalesce(min(n) FILTER (WHERE zip IS NOT NULL OR age IS NOT NULL), 5) >= 5)::int
FROM (SELECT zip, age, count(*) AS n FROM visits GROUP BY zip, age) AS class;
E
my $read_more = script('read_more', <<'E');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT 1 / (count(*) = 4000)::int FROM visits;
SELECT 1 / (sum(n) = 4000)::int FROM by_zip;
COMMIT;
E
my $write = script('write', <<'E');
\set id random(1, 4000)
UPDATE patient SET zip = (zip + :id) % 20, age = (age + 1) % 7 WHERE id = :id;
E
# They go on until they are told to stop; a client that meets an error says so and ends.
my %load;
my $start_load = sub {
	my ($name, $clients, @scripts) = @_;
	my ($out, $err) = ('', '');
	my $run = IPC::Run::start([ 'pgbench', '-n', '-c', $clients, '-j', 1, '-T', 170, (map { ('-f', $_) } @scripts),
			'-h', $node->host, '-p', $node->port, 'postgres' ], '>', \$out, '2>', \$err);
	$load{$name} = { run => $run, err => \$err };
};
my $looks = 'SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()';
my $before = $node->safe_psql('postgres', $looks);
$start_load->('readers', READERS - 10, "$read\@1");
$start_load->('readers in transactions', 10, "$read_more\@1");
$start_load->('a writer', 1, $write);
$node->poll_query_until('postgres', "SELECT xact_commit > $before + 500 FROM pg_stat_database WHERE datname = current_database()");
$before = $node->safe_psql('postgres', $looks);
my ($good, $on_standby) = (0, 0);
foreach my $i (1 .. REFRESHES)
{
	$good++ if $node->safe_psql('postgres', "SELECT status, row_count, k >= 5 FROM kanon_refresh('visits')") eq 'current|4000|t';
	$on_standby++ if $standby->safe_psql('postgres', $whole) eq 't|4000|4000';
}
is($good, REFRESHES, 'refreshes under load');
is($on_standby, REFRESHES, 'and the standby shows a whole release after each');
cmp_ok($node->safe_psql('postgres', $looks) - $before, '>', 1000, 'while there are a thousand looks and more');
foreach my $name (sort keys %load)
{
	my $it = $load{$name};
	$it->{run}->pump_nb;
	ok($it->{run}->pumpable, "$name: they went on until now");
	unlike(${ $it->{err} }, qr/error|abort/i, "$name: without an error");
	$it->{run}->kill_kill;
}
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', 'SELECT release, status FROM kanon_releases WHERE publication = $$public.visits$$ ORDER BY 1 DESC LIMIT 1'),
	REFRESHES + 1 . '|current', 'the standby has the last release');
like(($standby->psql('postgres', "SELECT kanon_refresh('visits')"))[2], qr/ERROR:  cannot execute kanon_refresh in a read-only transaction/,
	'and makes none of its own');
$standby->stop;

# ---- the line of crontab, as the reference has it ----

sub crontab
{
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGUSER => 'nightly');
	return system(q{psql -X -q -v ON_ERROR_STOP=1 -d postgres -c 'CALL kanon_refresh_all()' 2>/dev/null});
}
is(crontab(), 0, 'a line of crontab refreshes all');
my $so_far = $node->safe_psql('postgres', $releases);
like($so_far, qr/nightly\.one \d+, nightly\.two \d+/, 'both of them');
is($node->safe_psql('postgres', "SELECT bool_and(status = 'fresh') FROM kanon_publication_status(fail_if_older_than => '1 hour') WHERE publication_name ~ 'nightly'"),
	't', 'and they are fresh');

# ---- pg_cron ----

SKIP:
{
	skip 'no pg_cron for this server', 2 if !$has_cron;
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM cron.job_run_details WHERE status IN ('succeeded', 'failed')});
	is($node->safe_psql('postgres', 'SELECT status, username, return_message FROM cron.job_run_details ORDER BY runid LIMIT 1'),
		'succeeded|nightly|CALL', 'pg_cron refreshes all');
	like($node->safe_psql('postgres', $releases), qr/nightly\.one ([3-9]), nightly\.two \1$/, 'both of them');
}

# A job that fails says so.
$node->safe_psql('postgres', 'TRUNCATE nightly.staff; INSERT INTO nightly.staff VALUES (1, 1)');
isnt(crontab(), 0, 'the line of crontab fails when one could not be refreshed');
is($node->safe_psql('postgres', "SELECT string_agg(status, ' ') FROM kanon_publication_status() WHERE publication_name ~ 'nightly'"),
	'failing failing', 'and monitoring says so');
$node->stop;
done_testing();
