# Default privileges give others nothing of what kanon makes: its own tables, and those that
# publications make; at installation, update, dump and restore; those of the role that creates,
# of others, in the schema and globally.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

plan skip_all => 'for a staged install: make check-tap' unless $ENV{KANON_SERVER_CONF};
my ($found, $folder) = KanonNode::staged_copy();
my ($current) = slurp_file("$folder/kanon.control") =~ /^default_version = '(.*)'/m;
my $script = slurp_file("$folder/kanon--$current.sql");
my ($close) = $script =~ /(CREATE FUNCTION \@extschema\@\.kanon_close.*)/s or die;
# a version that forgot to close, and how one comes from there
append_to_file("$folder/kanon--0.1.sql", $script =~ s/\Q$close\E//r);
append_to_file("$folder/kanon--0.1--$current.sql", $close);

my $node = KanonNode::new_node('main', found => $found);
$node->start;
$node->safe_psql('postgres', <<'E');
CREATE ROLE app LOGIN;
CREATE ROLE app2 LOGIN;
CREATE ROLE inst LOGIN;
CREATE ROLE dba LOGIN SUPERUSER;
CREATE ROLE owner LOGIN;
E

# Of every role that may create something here, everything to others, globally and in these schemas.
my $open = join '', map { my $role = $_; map { my $in = $_;
	map({ "ALTER DEFAULT PRIVILEGES FOR ROLE $role $in GRANT ALL ON $_ TO app, PUBLIC; ALTER DEFAULT PRIVILEGES FOR ROLE $role $in GRANT ALL ON $_ TO app2 WITH GRANT OPTION;" } 'TABLES', 'SEQUENCES', 'FUNCTIONS', 'TYPES', $in ? () : 'SCHEMAS') } '', 'IN SCHEMA public', 'IN SCHEMA own' } 'postgres', 'dba', 'inst', 'owner';

# What others have on objects of the extension: but that everybody may read the views, and call the functions.
my $have = <<'E';
WITH member AS (SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON d.refobjid = e.oid AND d.refclassid = 'pg_extension'::regclass WHERE d.deptype = 'e' AND e.extname = 'kanon')
SELECT string_agg(DISTINCT o.name || ' ' || a.grantee || ' ' || a.privilege_type, ', ') FROM (
    SELECT relname AS name, relkind = 'v' OR relname = 'kanon_policy' AS shown, relacl AS acl, relowner AS owner FROM pg_class WHERE oid IN (SELECT objid FROM member) OR relname ~ '^kanon_run_.*_seq$'
    UNION ALL SELECT proname, true, proacl, proowner FROM pg_proc WHERE oid IN (SELECT objid FROM member)
    UNION ALL SELECT nspname, true, nspacl, nspowner FROM pg_namespace WHERE oid IN (SELECT objid FROM member)
    UNION ALL SELECT typname, true, typacl, typowner FROM pg_type WHERE oid IN (SELECT objid FROM member) AND typtype = 'd') o, aclexplode(o.acl) a
WHERE a.grantee <> o.owner AND NOT (o.shown AND a.grantee = 0 AND a.privilege_type IN ('SELECT', 'EXECUTE', 'USAGE') AND NOT a.is_grantable)
    AND NOT (o.name = 'kanon_policy' AND a.grantee = (SELECT extowner FROM pg_extension WHERE extname = 'kanon') AND a.privilege_type IN ('INSERT', 'DELETE') AND NOT a.is_grantable)
E
my $readable = "SELECT count(*) FROM (SELECT has_table_privilege('app', oid, 'SELECT') AS may FROM pg_class WHERE relname IN ('kanon_usefulness', 'kanon_budget', 'kanon_releases', 'kanon_publications', 'kanon_run_relations', 'kanon_progress')) v WHERE may";
my $callable = "SELECT count(*) FROM pg_proc WHERE proname ~ '^kanon_' AND NOT has_function_privilege('app2', oid, 'EXECUTE')";

# ---- installation, by a superuser and by an ordinary role ----

foreach my $by ('postgres', 'dba', 'inst')
{
	my $db = "by_$by";
	$node->safe_psql('postgres', "CREATE DATABASE $db OWNER inst");
	$node->safe_psql($db, "CREATE SCHEMA own AUTHORIZATION owner; GRANT ALL ON SCHEMA public TO inst, owner; $open");
	is(KanonNode::as($node, $by, $db, 'CREATE EXTENSION kanon SCHEMA public'), '', "installed by $by");
	is($node->safe_psql($db, $have), '', "and nobody else's");
	is($node->safe_psql($db, "$readable; $callable; SELECT count(*) FROM pg_proc WHERE proname = 'kanon_close'"), "6\n0\n0", 'but for views and functions');
	is(KanonNode::as($node, 'app', $db, $_), '42501', $_) foreach 'CREATE FUNCTION kanon_internal.mine() RETURNS int RETURN 1', 'SELECT FROM kanon_run', 'SELECT FROM kanon_run_class', 'INSERT INTO kanon_budget_limit VALUES (1, 0, 1, 1, NULL, 10, now())',
	  'UPDATE kanon_budget_spent SET epsilon = 0', "SELECT nextval('kanon_run_run_seq')";
	# without it they would have
	is(KanonNode::as($node, $by, $db, "DROP EXTENSION kanon; CREATE EXTENSION kanon SCHEMA public VERSION '0.1'"), '', 'of a version that forgets');
	like($node->safe_psql($db, $have), qr/kanon_budget_limit/, 'they have');
	is(KanonNode::as($node, $by, $db, "ALTER EXTENSION kanon UPDATE TO '$current'"), '', 'and when it is updated');
	is($node->safe_psql($db, $have), '', 'they have not');
}

# ---- a budget that somebody else may write ----

my $db = 'by_postgres';
$node->safe_psql($db, <<'E');
CREATE TABLE patients AS SELECT i % 5 AS a FROM generate_series(1, 1000) i;
GRANT SELECT ON patients TO app;
SELECT kanon_set_budget('patients', 100, role => 'app');
E
my $ask = "SELECT count(*) FROM kanon_dp('patients', 'count', 1)";
is(KanonNode::as($node, 'app', $db, $ask), '1', 'a budget');
foreach my $way ([ 'GRANT UPDATE ON kanon_budget_limit TO app2', 'REVOKE ALL ON kanon_budget_limit FROM app2' ], [ 'GRANT DELETE ON kanon_budget_spent TO PUBLIC', 'REVOKE ALL ON kanon_budget_spent FROM PUBLIC' ],
	[ 'GRANT UPDATE (epsilon) ON kanon_budget_limit TO app', 'REVOKE UPDATE (epsilon) ON kanon_budget_limit FROM app' ], [ 'ALTER TABLE kanon_budget_spent OWNER TO inst', 'ALTER TABLE kanon_budget_spent OWNER TO postgres' ])
{
	$node->safe_psql($db, $way->[0]);
	is(KanonNode::as($node, 'app', $db, $ask), '55000', $way->[0]);
	$node->safe_psql($db, $way->[1]);
	is(KanonNode::as($node, 'app', $db, $ask), '1', $way->[1]);
}

# ---- what publications make ----

my $private = <<'E';
SELECT string_agg(DISTINCT relname || ' ' || a.grantee || ' ' || a.privilege_type, ', ') FROM pg_class c, aclexplode(relacl) a
WHERE relnamespace = 'own'::regnamespace AND relkind IN ('r', 'v') AND relname ~ '^(night|still)' AND a.grantee <> relowner AND NOT (relname IN ('night', 'still') AND a.privilege_type = 'SELECT' AND NOT a.is_grantable)
E
is(KanonNode::as($node, 'owner', $db, <<'E'), "\n\ncurrent\ncurrent\ncurrent", 'publications');
SET search_path = own, public;
CREATE TABLE src AS SELECT i AS id, i % 5 AS a, i % 3 AS b, 'd' || i % 4 AS note FROM generate_series(1, 300) i;
SELECT kanon_create_publication('night', 'src', '{a,b}', 5, key => 'id', keep_releases => 3, protect_successive => true, options => '{"keep": ["note"]}');
SELECT kanon_create_publication('still', 'src', '{a,b}', 5, stable => true, keep_releases => 3);
SELECT status FROM kanon_refresh('night');
SELECT status FROM kanon_refresh('night');
SELECT status FROM kanon_refresh('still');
E
cmp_ok($node->safe_psql($db, "SELECT count(*) FROM pg_class WHERE relnamespace = 'own'::regnamespace AND relname ~ '^(night|still)'"), '>=', 12, 'their tables');
is($node->safe_psql($db, $private), '', 'are the owner\'s alone, and their views for reading');
is(KanonNode::as($node, 'owner', $db, 'GRANT USAGE ON SCHEMA own TO app'), '', 'in a schema that may be used');
is(KanonNode::as($node, 'app', $db, $_), '42501', $_) foreach 'DELETE FROM own.night', 'INSERT INTO own.night (a) VALUES (1)', 'UPDATE own.still SET a = 1', 'SELECT FROM own.night_release_3';
is(KanonNode::as($node, 'app', $db, 'SELECT count(*) FROM own.night'), '300', 'the view is read');
is(KanonNode::as($node, 'owner', $db, "SELECT kanon_alter_publication('own.night', k => 6); SELECT status FROM kanon_refresh('own.night')"), "\ncurrent", 'changed, and refreshed');
is($node->safe_psql($db, $private), '', 'they stay closed');
is(KanonNode::as($node, 'app', $db, 'SELECT count(*) FROM own.night'), '300', 'and the view readable');
# what the owner says, and no default privilege, stays
is(KanonNode::as($node, 'owner', $db, "GRANT USAGE ON SCHEMA own TO inst; GRANT SELECT ON own.night TO inst WITH GRANT OPTION; SELECT status FROM kanon_refresh('own.night')"), 'current', 'an option to grant');
is(KanonNode::as($node, 'inst', $db, 'GRANT SELECT ON own.night TO dba'), '', 'which the owner gave, holds');
is(KanonNode::as($node, 'owner', $db, 'REVOKE SELECT ON own.night FROM inst CASCADE'), '', 'until it is taken back');

# ---- a dump, restored where default privileges are as open ----

my $dump = PostgreSQL::Test::Utils::tempdir . '/dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr($db) ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->safe_psql('restored', "CREATE SCHEMA own; $open DROP SCHEMA own");
$node->safe_psql('restored', $open =~ s/ALTER[^;]*IN SCHEMA own[^;]*;//gr);
$node->command_ok([ 'pg_restore', '-U', 'dba', '-d', $node->connstr('restored'), $dump ], 'pg_restore');
is($node->safe_psql('restored', $have), '', 'the extension is closed');
isnt($node->safe_psql('restored', $private), '', 'what publications had made is open, as all that is restored');
is(KanonNode::as($node, 'app2', 'restored', 'GRANT ALL ON ALL TABLES IN SCHEMA own TO app'), '', 'and passed on');
is(KanonNode::as($node, 'owner', 'restored', "SELECT status FROM kanon_refresh('own.night'); SELECT status FROM kanon_refresh('own.still')"), "current\ncurrent", 'until they are refreshed');
is($node->safe_psql('restored', "$private"), '', 'then it is closed');
is(KanonNode::as($node, 'app', 'restored', 'SELECT count(*) FROM own.night'), '300', 'and the view is read by whom it was granted to');
$node->stop;
done_testing();
