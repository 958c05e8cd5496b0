# What an audit had not looked at: dumps with planted definitions, ALTER EXTENSION ADD and DROP, lookups, wrappers.
use strict;
use warnings;
use Test::More;
use KanonNode;
use Time::HiRes qw(time);
use PostgreSQL::Test::Utils;

my $node = KanonNode::start('main');
$node->safe_psql('postgres', <<'E');
CREATE ROLE owner LOGIN;
CREATE ROLE hostile LOGIN;
CREATE ROLE inst LOGIN;
CREATE DATABASE lab OWNER inst;
E
sub as { my ($role, $sql, $db) = @_; return KanonNode::as($node, $role, $db // 'lab', "SET statement_timeout = '60s';\n$sql"); }
sub said { my ($role, $sql, $db) = @_; return ($node->psql($db // 'lab', $sql, extra_params => [ '-U', $role ], on_error_stop => 0))[2]; }

$node->safe_psql('lab', <<'E');
SET SESSION AUTHORIZATION inst;
CREATE EXTENSION kanon SCHEMA public;
RESET SESSION AUTHORIZATION;
CREATE SCHEMA own AUTHORIZATION owner; CREATE SCHEMA evil AUTHORIZATION hostile; GRANT USAGE ON SCHEMA own, evil TO PUBLIC;
GRANT CREATE ON SCHEMA public TO inst;
SET SESSION AUTHORIZATION owner;
CREATE TABLE own.src AS SELECT i AS id, i % 5 AS a, i % 3 AS b, 'secret ' || i AS note FROM generate_series(1, 300) i;
SELECT kanon_create_publication('own.night', 'own.src', '{a,b}', 5);
SELECT kanon_create_publication('own.guarded', 'own.src', '{a,b}', 5, key => 'id', protect_successive => true);
SET SESSION AUTHORIZATION hostile;
CREATE FUNCTION evil.trap() RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN
    IF current_user <> 'hostile' THEN RAISE WARNING 'sprung as %', current_user; END IF; RETURN true; END $$;
CREATE TABLE evil.src AS SELECT i % 5 AS a, i % 3 AS b FROM generate_series(1, 300) i;
SELECT kanon_create_publication('evil.p', 'evil.src', '{a,b}', 5);
ALTER TABLE evil.src RENAME TO src_was;
CREATE VIEW evil.src AS SELECT * FROM evil.src_was WHERE evil.trap();
UPDATE evil.p_publication SET name = 'own.night', history = to_regclass('own.night_history'), options = '{"hierarchies": {"a": "evil.src"}}', model = 'full_domain';
CREATE TRIGGER t BEFORE INSERT OR UPDATE OR DELETE ON evil.p_publication FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TABLE evil.fake (name text, published regclass, source regclass, history regclass, model text, quasi_identifiers name[], k bigint, options kanon_options, keep_releases int, stable boolean, protect_successive boolean, key text);
INSERT INTO evil.fake VALUES ('own.night', 'own.night', 'own.night_source', 'own.night_history', 'pattern_guided', '{note}', 2, '{"keep": ["note"], "allow_identifying": ["note"]}', 1, false, false, NULL);
E

# ---- a dump of planted definitions, restored by a superuser ----

my $dump = PostgreSQL::Test::Utils::tempdir . '/dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('lab') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
my ($out, $err) = run_command([ 'pg_restore', '-U', 'postgres', '-d', $node->connstr('copy'), $dump ]);
unlike($err, qr/sprung/, 'a dump is restored');
# (whoever restores counts the rows, and everybody may read how many)
my $counted = "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_stat_all_tables WHERE relname IN ('guarded_rows_1', 'guarded_persons_1', 'guarded_types_1') AND n_tup_ins + n_live_tup > 0";
is($node->safe_psql('copy', $counted), 'guarded_persons_1 guarded_rows_1 guarded_types_1', 'private rows that are restored are counted');
like(as('owner', "SELECT status FROM kanon_refresh('own.guarded')", 'copy'), qr/^(current|unchanged)$/, 'a protected publication is refreshed there');
is($node->safe_psql('copy', $counted), '', 'and nobody reads how many private rows were restored');
unlike(said('postgres', "CALL kanon_refresh_all(); SELECT * FROM kanon_publications; SELECT * FROM kanon_releases; SELECT * FROM kanon_publication_status(); SELECT kanon_report(run) FROM kanon_usefulness; SELECT kanon_drop_publication('evil.p')", 'copy'), qr/sprung|XX000/, 'nothing planted runs as a superuser there');
is(as('postgres', "SELECT status, quasi_identifiers FROM kanon_refresh('own.night') r, kanon_publications p WHERE p.publication = 'own.night'", 'copy'), 'current|{a,b}', 'and the publication is the owner\'s');
is($node->safe_psql('copy', "SELECT count(*) FROM pg_attribute WHERE attrelid = 'own.night'::regclass AND attname = 'note'"), '0', 'which shows what the owner says');

# ---- ALTER EXTENSION by who owns it ----

is(as('inst', "CREATE FUNCTION public.kanon_beside(int) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN RAISE WARNING 'sprung as %', current_user; RETURN 1; END \$\$; ALTER EXTENSION kanon ADD FUNCTION public.kanon_beside(int)"), '', 'a function is added to the extension');
is(as('inst', "CREATE TABLE public.kanon_run2 (run int); ALTER EXTENSION kanon ADD TABLE public.kanon_run2"), '', 'so is a table');
unlike(said('postgres', "CALL kanon_refresh_all(); SELECT kanon_report(run) FROM kanon_usefulness; SELECT FROM kanon_pattern_guided('own.src', 'own.t', '{a,b}', 5)"), qr/sprung/, 'nothing that was added is called');
foreach my $member ('TABLE kanon_run', 'TABLE kanon_budget_limit', 'DOMAIN kanon_options', 'VIEW kanon_usefulness', 'FUNCTION kanon_checksum(regclass)')
{
	# the extension is the installer's, its objects are not
	my $dropped = as('inst', "ALTER EXTENSION kanon DROP $member");
	my $err = said('postgres', "SELECT FROM kanon_pattern_guided('own.src', 'own.t', '{a,b}', 5, replace => true); SELECT kanon_report(max(run)) FROM kanon_usefulness; SELECT count(*) FROM kanon_publications");
	unlike($err, qr/sprung|XX000|server closed/, "without $member ($dropped)");
	$node->safe_psql('lab', "ALTER EXTENSION kanon ADD $member") if $dropped eq '';
}

# ---- a lookup of somebody else's ----

is(as('hostile', 'CREATE VIEW evil.lookup AS SELECT a::text AS key, NULL::text AS parent FROM evil.src_was WHERE evil.trap(); GRANT SELECT ON evil.lookup TO PUBLIC'), '', 'a lookup that is a trap');
my $build = "SELECT kanon_hierarchy_from_fk('own.src', 'a', 'own.h', lookup => 'evil.lookup', key => 'key', parent => 'parent')";
like(said('owner', "SET kanon.read_strangers = off; $build"), qr/is not read: it is a view of another role/, 'is not read where strangers\' are not');
unlike(said('owner', "SET kanon.read_strangers = off; $build"), qr/sprung/, 'nor run');

# ---- SECURITY DEFINER around kanon ----

is(as('owner', <<'E'), '', 'functions that lend the owner\'s rights');
CREATE FUNCTION own.publish(name text) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$ SELECT count(*) FROM kanon_pattern_guided('own.src', name, '{a,b}', 5, replace => true) $$;
CREATE FUNCTION own.page() RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$ SELECT kanon_report(max(run), read_target => true) FROM kanon_usefulness WHERE run_by = 'owner'::regrole $$;
CREATE FUNCTION own.fresh() RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$ SELECT status FROM kanon_refresh('own.night') $$;
E
is(as('hostile', "SELECT own.publish('evil.t')"), '42501', 'write only where the owner may');
is(as('hostile', "CREATE TEMP TABLE src AS SELECT 1 AS a, 1 AS b; CREATE TEMP TABLE kanon_usefulness AS SELECT 1 AS run; SELECT own.publish('own.t2') > 0, own.fresh(), length(own.page()) > 1000"), 't|current|t', 'and read what the owner says, whatever is in their caller\'s pg_temp');
is($node->safe_psql('lab', "SELECT tableowner FROM pg_tables WHERE tablename = 't2'"), 'owner', 'for the owner');

# What is named to such a function is read with its owner's rights, and so run: it says that strangers' are not.
is(as('owner', <<'E'), '1 column shown', 'functions that are told what to read');
SELECT '1 column shown' WHERE kanon_describe('*-', '{a,b}') IS NOT NULL;
CREATE FUNCTION own.sizes(what regclass) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp SET kanon.read_strangers = off AS $$ SELECT k FROM kanon_check(what, '{a,b}') $$;
CREATE FUNCTION own.mapped(population regclass) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp SET kanon.read_strangers = off AS $$ SELECT count(*) FROM kanon_cluster('own.src', NULL, '{a,b}', 3, privacy => ARRAY[kanon_k_map(population)], dry_run => true) $$;
E
as('hostile', 'GRANT SELECT ON evil.src, evil.src_was TO owner');
foreach my $call ("own.sizes('evil.src')", "own.mapped('evil.src')")
{
	my $said = said('hostile', "SET kanon.read_strangers = on; SELECT $call");

	like($said, qr/ERROR:  relation evil\.src is not read: it is a view of another role/, "$call: not what its caller made");
	unlike($said, qr/sprung/, 'nor run, whatever the caller has set');
}
is(as('hostile', "SELECT own.sizes('own.src')"), '20', 'and what is the owner\'s is');

# ---- cancelling kanon_transactions ----

$node->safe_psql('lab', "CREATE TABLE own.baskets AS SELECT i % 20000 AS id, (random() * 400)::int AS item FROM generate_series(1, 240000) i");
my $cancelled = 0;
foreach my $method ('apriori', 'direct', 'suppress_control')
{
	my $options = $method eq 'suppress_control' ? "rho => 0.5, sensitive => '{1,2,3}'" : 'k => 50, m => 3';
	foreach my $after (5, 20, 40, 80, 160)
	{
		my $begun = time;
		my ($ret, $o, $e) = $node->psql('lab', "SET statement_timeout = '${after}ms'; SELECT count(*) FROM kanon_transactions('own.baskets', 'own.sets', 'item', method => '$method', transaction => 'id', $options, replace => true, time_limit => '60 s')");
		$cancelled++ if $e =~ /canceling statement due to statement timeout/;
		ok(($ret == 0 || $e =~ /canceling statement due to statement timeout/) && time - $begun < 4, "$method is cancelled after $after ms") or diag $e;
	}
}
cmp_ok($cancelled, '>', 3, 'before it is done, most of the time');
is($node->safe_psql('lab', "SELECT count(*) FROM pg_class WHERE relname ~ '^kanon_building'"), '0', 'and nothing is left behind');
$node->stop;
done_testing();
