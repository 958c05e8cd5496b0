# Guards 12 and 15: a role that has publications, tables that look like definitions,
# locks, errors and names of its own hinders nobody else's, and gets a superuser who
# looks at or refreshes all of them to do nothing beyond that role's own.
use strict;
use warnings;
use Test::More;
use KanonGate;
use KanonNode;

$ENV{MALLOC_PERTURB_} = 165;
my $node = KanonNode::new_node('main');
$node->start;
delete $ENV{MALLOC_PERTURB_};
$node->safe_psql('postgres', <<'E');
CREATE ROLE owner LOGIN;
CREATE ROLE hostile LOGIN;
CREATE ROLE monitor LOGIN IN ROLE pg_monitor;
CREATE DATABASE lab;
GRANT CREATE ON DATABASE lab TO owner, hostile;
E
$node->safe_psql('lab', 'CREATE EXTENSION kanon');

# What hangs is an error, after a time that nothing here takes.
sub as { my ($role, $sql) = @_; return KanonNode::as($node, $role, 'lab', "SET statement_timeout = '60s';\n$sql"); }

sub session
{
	my ($role, $sql) = @_;
	my $session = $node->background_psql('lab', on_error_stop => 0, extra_params => [ '-U', $role ]);
	$session->query_safe($sql);
	return $session;
}

# the older table is the first to be found
is(as('hostile', <<'E'), '', 'somebody has a table that looks like a definition');
CREATE SCHEMA evil;
CREATE TABLE evil.fake (name text, published regclass, source regclass, history regclass, model text,
    quasi_identifiers name[], k bigint, options kanon_options, keep_releases int, stable boolean, protect_successive boolean, key text);
E
is(as('owner', <<'E'), "\n", 'somebody has publications');
CREATE SCHEMA own;
GRANT USAGE ON SCHEMA own TO hostile;
CREATE TABLE own.patients AS SELECT i AS id, 'n' || i AS name, i % 5 AS zip, 'd' || i % 3 AS diagnosis, 'w' || i % 4 AS ward FROM generate_series(1, 700) i;
SELECT kanon_create_publication('own.visits', 'own.patients', '{zip}', 4, '{"keep": ["diagnosis"]}');
SELECT kanon_create_publication('own.moves', 'own.patients', '{zip}', 4, key => 'id', protect_successive => true);
E
is(as('hostile', <<'E'), '', 'and so has somebody else');
CREATE TABLE evil.rows AS SELECT i % 5 AS zip FROM generate_series(1, 100) i;
CREATE TABLE evil.what (todo text);
CREATE FUNCTION evil.act() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM evil.what WHERE todo = 'cancel') THEN
        RAISE EXCEPTION 'canceling statement due to user request' USING ERRCODE = 'query_canceled';
    END IF;
    RETURN 0;
END $$;
CREATE VIEW evil.source AS SELECT zip + evil.act() AS zip FROM evil.rows;
SELECT kanon_create_publication('evil.pub', 'evil.source', '{zip}', 4);
E
my $refresh = "SELECT status FROM kanon_refresh('own.visits')";
my $list = "SELECT string_agg(publication, ' ' ORDER BY publication) FROM kanon_publications";

# ---- tables that look like definitions ----

sub read_of_fake { return $node->safe_psql('lab', q{SELECT pg_stat_get_tuples_returned('evil.fake'::regclass)}); }
is(as('hostile', <<'E'), '', 'a great many rows that say they are the definition');
INSERT INTO evil.fake SELECT 'own.visits', NULL, 'evil.source', 'evil.pub_history', 'pattern_guided', '{zip}', 2, '{}', 1, false, false
FROM generate_series(1, 20000);
E
my $before = read_of_fake();
is(as('owner', "$refresh; $list"), "current\nown.moves own.visits", 'do not keep the owner from it');
is(read_of_fake(), $before, 'who does not read them');
is(as('postgres', "$refresh; $list"), "current\nevil.pub own.moves own.visits", 'nor a superuser');
cmp_ok(read_of_fake(), '<', $before + 10, 'who does not read them all');
as('hostile', "DELETE FROM evil.fake; VACUUM evil.fake; INSERT INTO evil.fake VALUES ('own.visits', NULL, 'evil.source', 'evil.pub_history', 'pattern_guided', '{zip}', 2, '{}', 1, false, false)");
is(as('owner', $refresh), 'current', 'one that has the name of another one\'s publication is not taken for it');
is(as('owner', "BEGIN; SELECT kanon_drop_publication('own.visits'); ROLLBACK"), '', 'nor when that is dropped');
is(as('owner', "BEGIN; DROP VIEW own.visits; SELECT kanon_drop_publication('own.visits'); SELECT to_regclass('own.visits_history') IS NULL; ROLLBACK"), "\nt",
	'nor when its view is gone');
is(as('postgres', "BEGIN; DROP VIEW own.visits; SELECT kanon_drop_publication('own.visits')"), '55000', 'a superuser is asked which of them');
is(as('postgres', "BEGIN; DROP VIEW own.visits; SET ROLE owner; SELECT kanon_drop_publication('own.visits'); SELECT to_regclass('own.visits_history') IS NULL; ROLLBACK"), "\nt",
	'and can say so');
is(as('hostile', "SELECT kanon_refresh('own.visits')"), '42501', 'what is another one\'s is refused');
is(as('hostile', "SELECT kanon_refresh('own.patients')"), '42501', 'whether it is a publication or not');

as('hostile', 'DELETE FROM evil.fake');

my $session = session('hostile', "CREATE TEMP TABLE t (name text, options kanon_options); INSERT INTO t VALUES ('own.visits', '{}')");
is(as($_, $refresh), 'current', "a temporary table of another session: $_ refreshes") foreach 'owner', 'postgres';
like(as('postgres', $list), qr/own\.visits/, 'and the publications can be listed');
is(as('monitor', "SELECT count(*) FROM kanon_publication_status()"), 3, 'and watched');
$session->quit;

# ---- locks ----

foreach my $lock ('evil.fake', 'evil.pub_publication', 'evil.pub_history', 'evil.pub_source')
{
	$session = session('hostile', "BEGIN; LOCK TABLE $lock IN ACCESS EXCLUSIVE MODE");
	is(as('owner', "$refresh; $list"), "current\nown.moves own.visits", "$lock is locked: the owner refreshes");
	is(as('postgres', $refresh), 'current', "$lock is locked: a superuser refreshes");
	like(as('postgres', $list), qr/own\.visits/, "$lock is locked: the publications can be listed");
	like(as('postgres', "SELECT string_agg(DISTINCT publication, ' ') FROM kanon_releases"), qr/own\.visits/, "$lock is locked: the releases can be listed");
	like(as('monitor', "SELECT string_agg(publication_name, ' ') FROM kanon_publication_status()"), qr/own\.visits/, "$lock is locked: and watched");
	$session->quit;
}
my $number = $node->safe_psql('lab', "SELECT release FROM kanon_publications WHERE publication = 'own.visits'");
$session = session('hostile', 'BEGIN; LOCK TABLE evil.pub_publication IN ACCESS EXCLUSIVE MODE');
my ($ret, $stdout, $stderr) = $node->psql('lab', "SET statement_timeout = '60s'; SET lock_timeout = '1s'; CALL kanon_refresh_all()");
like($stderr, qr/ERROR:  1 of 3 publications could not be refreshed/, 'what cannot be read fails a refresh of all');
is($node->safe_psql('lab', "SELECT release FROM kanon_publications WHERE publication = 'own.visits'"), $number + 1, 'of which the others are refreshed');
$session->quit;
as('hostile', 'DROP TABLE evil.fake');

# ---- errors ----

as('hostile', "INSERT INTO evil.what VALUES ('cancel')");
($ret, $stdout, $stderr) = $node->psql('lab', 'CALL kanon_refresh_all()');
like($stderr, qr/ERROR:  1 of 3 publications could not be refreshed/, 'an error that says it is a cancel fails one publication');
is($node->safe_psql('lab', "SELECT release FROM kanon_publications WHERE publication = 'own.visits'"), $number + 2, 'and the others are refreshed');
is(as('postgres', "SELECT status, error FROM kanon_refresh('evil.pub')"), 'failed|57014', 'by itself, too');
as('hostile', 'DELETE FROM evil.what');

# A commit that fails: a trigger holds the transaction up while others make it a pivot.
as('hostile', <<'E');
CREATE FUNCTION evil.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(77); RETURN NULL; END $$;
CREATE TRIGGER wait AFTER INSERT ON evil.pub_history EXECUTE FUNCTION evil.wait();
E
{
	my $holder = session('hostile', 'SELECT pg_advisory_lock(77)');
	my $runner = $node->background_psql('lab', on_error_stop => 0);
	$runner->query_safe("SET default_transaction_isolation = serializable; SET statement_timeout = '60s'");
	KanonGate::start($runner, 'CALL kanon_refresh_all()');
	$node->poll_query_until('lab', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = 'advisory'});
	as('hostile', 'SET default_transaction_isolation = serializable; INSERT INTO evil.rows VALUES (1)');
	my $reader = session('hostile', 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM evil.pub_history');
	$holder->quit;
	$runner->query("SELECT 'over'");
	like($runner->{stderr}, qr/ERROR:  1 of 3 publications.*evil\.pub: SQLSTATE 40001/s, 'a commit that fails is one failure');
	$runner->{stderr} = '';
	$_->quit foreach $runner, $reader;
	is($node->safe_psql('lab', "SELECT release FROM kanon_publications WHERE publication = 'own.visits'"), $number + 3, 'and the others are refreshed');
}
as('hostile', 'DROP TRIGGER wait ON evil.pub_history');

# What runs when the transaction ends would run as whoever started it.
as('hostile', <<'E');
CREATE TABLE evil.ran (who text);
GRANT INSERT ON evil.ran TO PUBLIC;
CREATE FUNCTION evil.later() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.ran VALUES (current_user); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER later AFTER INSERT ON evil.pub_history DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION evil.later();
E
is(as('postgres', "SELECT kanon_refresh('evil.pub')"), '42501', 'a trigger put off until the end is refused');
as('hostile', 'ALTER TABLE evil.pub_history DISABLE TRIGGER later; CREATE TRIGGER now AFTER INSERT ON evil.pub_history FOR EACH ROW EXECUTE FUNCTION evil.later()');
is(as('postgres', "SELECT status FROM kanon_refresh('evil.pub'); SELECT * FROM evil.ran"), "current\nhostile", 'one that runs at once runs as its owner');
as('hostile', 'DROP TRIGGER later ON evil.pub_history; DROP TRIGGER now ON evil.pub_history');

# ---- relations of others, in a definition and a history ----

# The definition is changed between two looks: by who holds the publication while it is waited for.
{
	my $holder = session('hostile', "BEGIN; SELECT kanon_refresh('evil.pub'); UPDATE evil.pub_publication SET published = 'own.visits'");
	my $reader = session('owner', 'BEGIN; SELECT count(*) FROM own.visits');
	my $runner = $node->background_psql('lab', on_error_stop => 0);
	$runner->query_safe("SET statement_timeout = '20s'");
	KanonGate::start($runner, "SELECT status FROM kanon_refresh('evil.pub', wait => true)");
	$node->poll_query_until('lab', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'kanon_refresh'});
	$holder->query_safe('COMMIT');
	$runner->query("SELECT 'over'");
	like($runner->{stderr}, qr/ERROR:  publication evil\.pub was dropped meanwhile/, 'another one\'s view in the definition: it is none any more');
	$runner->{stderr} = '';
	$_->quit foreach $holder, $reader, $runner;
	as('hostile', "UPDATE evil.pub_publication SET published = 'evil.pub'");
}
is(as('hostile', "INSERT INTO evil.pub_history SELECT 0, now(), now(), 'kept', 1, 1, 1, 0, NULL, NULL, 'own.patients', 'own.patients', 'own.patients'"), '',
	'another one\'s table in the history');
is(as('postgres', "SELECT status FROM kanon_refresh('evil.pub'); SELECT status, relation IS NULL FROM kanon_releases WHERE publication = 'evil.pub' AND release = 0"),
	"current\ndropped|t", 'is not the publication\'s to lock or drop');
is(as('owner', 'SELECT count(*) FROM own.patients'), 700, 'and is there');
is(as('hostile', "UPDATE evil.pub_publication SET source = 'own.visits'"), '', 'another one\'s view as the source');
is(as('postgres', "SELECT status, error FROM kanon_refresh('evil.pub')"), 'failed|42P01', 'is none');
as('hostile', "UPDATE evil.pub_publication SET source = 'evil.pub_source'");

# ---- one's own tables, tampered with ----

foreach my $k (1, 0, -1)
{
	is(as('hostile', "UPDATE evil.pub_publication SET k = $k; SELECT status, error FROM kanon_refresh('evil.pub')"), 'failed|22023', "a k of $k in the definition");
}
is(as('hostile', "UPDATE evil.pub_publication SET k = 4, keep_releases = -1; SELECT status FROM kanon_refresh('evil.pub'); SELECT count(*) > 0 FROM evil.pub"), "current\nt",
	'no release to be kept: the current one is');
is(as('hostile', "CREATE RULE r AS ON INSERT TO evil.pub_history DO INSTEAD NOTHING; SELECT kanon_refresh('evil.pub')"), '55000', 'a history that takes nothing');
as('hostile', 'DROP RULE r ON evil.pub_history');
is(as('hostile', "UPDATE evil.pub_history SET release = 9223372036854775807 WHERE status = 'current'; SELECT kanon_refresh('evil.pub')"), '54000',
	'after the last number there is none');
is(as('hostile', "SELECT kanon_drop_publication('evil.pub')"), '', 'dropped');

is(as('owner', "SELECT kanon_alter_publication('own.moves', key => 'name')"), '55000', 'another key, and persons are known by the one before');
is(as('owner', "SELECT kanon_alter_publication('own.moves', key => 'id', k => 5)"), '', 'the same key');
is(as('owner', "SELECT kanon_alter_publication('own.moves', protect_successive => false, key => '')"), '', 'none');
is(as('owner', "SELECT status FROM kanon_refresh('own.moves'); SELECT kanon_alter_publication('own.moves', protect_successive => true, key => 'name'); SELECT status FROM kanon_refresh('own.moves')"), "current\n\ncurrent",
	'and another one when nobody is known by the one before');
is( as('owner', <<'E'), "current|\n", 'the persons of before are not read: a key of another type there changes nothing');
DO $$ BEGIN EXECUTE (SELECT format('ALTER TABLE %s ALTER key TYPE int USING 1', c.oid::regclass) FROM pg_class c WHERE relname ~ '^moves_persons' AND relnamespace = 'own'::regnamespace); END $$;
SELECT status, error FROM kanon_refresh('own.moves');
SELECT kanon_drop_publication('own.moves');
E

# ---- memory that is gone ----

# The switch of the view fails: what is said of it is said of the publication by its
# name.  With so many columns what was in memory for the release goes back to the
# system, which fills it here (MALLOC_PERTURB_).
my $long = 'a_name_as_long_as_names_can_be_so_that_memory_used_again_shows';
my $names = join ',', map { sprintf 'column_%02d_%s', $_, 'x' x 50 } 1 .. 40;
(my $columns = $names) =~ s/(\w+)/i % 2 AS $1/g;
is(as('owner', <<"E"), '', 'a publication');
CREATE TABLE own.wide AS SELECT $columns, i % 3 AS one, i % 4 AS other FROM generate_series(1, 100) i;
SELECT kanon_create_publication('own.$long', 'own.wide', '{$names}', 4, '{"keep": ["one"]}');
E
is(as('owner', "SELECT publication_name FROM kanon_refresh('own.$long')"), "own.$long", 'refreshed: its name');
# (alterations are tried: the owner writes into the definition)
is(as('owner', <<'E'), '', 'other columns');
DO $$ BEGIN
    EXECUTE (SELECT format('UPDATE %s SET options = ''{}''', a.attrelid::regclass) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
             WHERE a.attname = 'quasi_identifiers' AND c.relkind = 'r' AND c.relname LIKE 'a\_name%');
END $$;
E
($ret, $stdout, $stderr) = $node->psql('lab', "SELECT publication_name, status, error, message FROM kanon_refresh('own.$long')");
is($stdout, "own.$long|failed|42P16|the release has other columns than the view that readers know", 'not refreshed: its name and why');
like($stderr, qr/WARNING:  publication own\.$long was not refreshed/, 'and in the warning');

$node->stop;
done_testing();
