# Guard 9: whatever ends a run (a crash of its backend or of the whole server, a
# rollback, a full disk), the old target is intact, or the new one is complete.
use strict;
use warnings;
use Test::More;
use KanonGate;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::start('main', conf => <<'E');
autovacuum = off
restart_after_crash = on
E
$node->safe_psql('postgres', <<'E');
CREATE ROLE owner_of_old;
CREATE ROLE reader;
CREATE TABLE person AS SELECT i % 20 AS a, i % 3 AS b, 'note ' || i AS note FROM generate_series(1, 6000) i;
CREATE TABLE published AS SELECT i AS a, 'old ' || i AS b FROM generate_series(1, 500) i;
GRANT SELECT ON published TO reader WITH GRANT OPTION;
GRANT SELECT (a), UPDATE (b) ON published TO PUBLIC;
E
KanonGate::create($node);
$node->safe_psql('postgres', <<'E');
CREATE FUNCTION gate_command() RETURNS event_trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    PERFORM gate(CASE TG_TAG WHEN 'CREATE TABLE' THEN 11 WHEN 'GRANT' THEN 12 WHEN 'DROP TABLE' THEN 13 ELSE 14 END);
END $$;
CREATE EVENT TRIGGER gate_command ON ddl_command_end
WHEN TAG IN ('CREATE TABLE', 'GRANT', 'DROP TABLE', 'ALTER TABLE') EXECUTE FUNCTION gate_command();

-- all that a reader of the target can see of it, and what kanon keeps
CREATE FUNCTION state() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', (SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM published t),
        (SELECT concat_ws(' ', oid, relowner, relacl) FROM pg_class WHERE oid = 'published'::regclass),
        (SELECT string_agg(attname || coalesce(attacl::text, ''), ',' ORDER BY attnum) FROM pg_attribute
         WHERE attrelid = 'published'::regclass AND attnum > 0),
        (SELECT count(*) FROM pg_class WHERE relkind = 'r'), (SELECT count(*) FROM pg_type),
        (SELECT count(*) FROM kanon_usefulness), (SELECT count(*) FROM kanon_run_class))
$$;
E
my $old = $node->safe_psql('postgres', 'SELECT state()');
my $run = "SELECT * FROM kanon_pattern_guided('gated', 'published', '{a,b}', 5, keep => '{note}', allow_identifying => '{note}', replace => true)";

# The target as the run makes it: all rows, in classes of at least 5.
sub new_target
{
	my ($name) = @_;
	is( $node->safe_psql('postgres', <<'E'), '100|60|6000|t|t|0', "$name: the new target, complete");
SELECT k, classes, row_count, (SELECT count(DISTINCT note) = 6000 FROM published),
       has_table_privilege('reader', 'published', 'SELECT WITH GRANT OPTION'),
       (SELECT count(*) FROM pg_class WHERE relname LIKE 'kanon\_building\_%')
FROM kanon_check('published', '{a,b}')
E
}

my @places = (
	[ 'creating the table', 'SELECT pg_advisory_xact_lock(11)' ],
	[ 'reading', 'SELECT pg_advisory_xact_lock(1)' ],
	[ 'waiting for readers of the old table', 'SELECT count(*) FROM published' ],
	[ 'granting', 'SELECT pg_advisory_xact_lock(12)' ],
	[ 'dropping the old table', 'SELECT pg_advisory_xact_lock(13)' ],
	[ 'renaming the new one', 'SELECT pg_advisory_xact_lock(14)' ],
	[ 'recording', 'LOCK TABLE kanon_run IN SHARE MODE' ],
	[ 'recording classes', 'LOCK TABLE kanon_run_class IN SHARE MODE' ]);
foreach my $place (@places)
{
	my ($name, $lock) = @$place;
	foreach my $how ('kill -9', 'immediate shutdown')
	{
		KanonGate::crash($node, $how, KanonGate::start_held($node, $run, $lock));
		is($node->safe_psql('postgres', 'SELECT state()'), $old, "$how while $name: all is as it was");
	}
}

# After the run and before its COMMIT.
foreach my $how ('kill -9', 'immediate shutdown')
{
	my $runner = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $runner->query('SELECT pg_backend_pid()');
	$runner->query_safe("BEGIN; $run");
	KanonGate::crash($node, $how, $pid, $runner);
	is($node->safe_psql('postgres', 'SELECT state()'), $old, "$how before COMMIT: all is as it was");
}

# A caller who thinks better of it.
$node->safe_psql('postgres', "BEGIN; $run; ROLLBACK");
is($node->safe_psql('postgres', 'SELECT state()'), $old, 'rolled back: all is as it was');
is( $node->safe_psql('postgres', <<"E"), "$old\n$old", 'rolled back to a savepoint: all is as it was');
\\o /dev/null
BEGIN;
SAVEPOINT before;
$run;
ROLLBACK TO before;
\\o
SELECT state();
COMMIT;
SELECT state();
E
is( $node->safe_psql('postgres', <<'E'), "$old\n$old", 'undone by an error that is caught: all is as it was');
CREATE FUNCTION caught() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM kanon_pattern_guided('gated', 'published', '{a,b}', 5, replace => true);
    RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
    RETURN state();
END $$;
SELECT caught();
DROP FUNCTION caught();
SELECT state();
E

# A full disk, as the server meets it: files of its backend cannot grow.  (The
# limit is above that of a WAL segment, which the same backend may have to make.)
SKIP:
{
	skip 'no prlimit to limit the size of files', 8
	  if system('prlimit --version >/dev/null 2>&1') != 0;
	$node->safe_psql('postgres', <<'E');
CREATE VIEW large AS SELECT i % 20 AS a, i % 3 AS b, repeat(md5(i::text), 4) AS note FROM generate_series(1, 300000) i;
CREATE VIEW larger AS SELECT i % 20 AS a, i % 3 AS b FROM generate_series(1, 1500000) i;
E
	my $with = $node->safe_psql('postgres', 'SELECT state()');
	my %full = (
		'sorting' => "SET work_mem = '64kB'; SELECT * FROM kanon_pattern_guided('large', 'published', '{a,b}', 5, keep => '{note}', allow_identifying => '{note}', replace => true)",
		'writing' => "SELECT * FROM kanon_pattern_guided('larger', 'published', '{a,b}', 5, replace => true)");
	foreach my $phase (sort keys %full)
	{
		my $runner = $node->background_psql('postgres', on_error_stop => 0);
		my $pid = $runner->query('SELECT pg_backend_pid()');
		is(system("prlimit --pid $pid --fsize=25165824:"), 0, 'files end at 24 MB');
		$runner->query($full{$phase});
		like($runner->{stderr}, qr/ERROR:  could not (extend|write)/, "no room left while $phase: an error");
		is($node->safe_psql('postgres', 'SELECT state()'), $with, "no room left while $phase: all is as it was");
		is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'and no temporary file');
		$runner->{stderr} = '';
		$runner->quit;
	}
}

# Once it is committed a crash does not undo it, whatever is in the WAL.
foreach my $level ('minimal', 'replica')
{
	foreach my $how ('kill -9', 'immediate shutdown')
	{
		$node->append_conf('postgresql.conf', "wal_level = $level\nmax_wal_senders = 0");
		$node->restart;
		$node->safe_psql('postgres', 'UPDATE published SET a = 100 + a');
		my $runs = $node->safe_psql('postgres', 'SELECT count(*) FROM kanon_usefulness');
		my $runner = $node->background_psql('postgres', on_error_stop => 0);
		my $pid = $runner->query('SELECT pg_backend_pid()');
		$runner->query_safe($run);
		KanonGate::crash($node, $how, $pid, $runner);
		new_target("$how after COMMIT, wal_level $level");
		is( $node->safe_psql('postgres', "SELECT count(*) - $runs, (SELECT count(*) FROM kanon_equivalence_classes"
				  . " WHERE run = max(u.run)) FROM kanon_usefulness u"),
			'1|60', "$how after COMMIT, wal_level $level: it is recorded");
	}
}
$node->stop;
done_testing();
