# Guards 8, 12 and 16: what one role makes gains it nothing when another one calls kanon on
# it, and takes nothing from a third.  Types with casts, domains, views that are defined anew while
# they are asked, names of hierarchies that are gone, a lock that waits for who waits for it.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::start('main', conf => "autovacuum = off\n");
$node->safe_psql('postgres', <<'E');
CREATE ROLE owner LOGIN;
CREATE ROLE enemy LOGIN;
CREATE SCHEMA own AUTHORIZATION owner;
CREATE SCHEMA evil AUTHORIZATION enemy;
CREATE SCHEMA common;
GRANT USAGE, CREATE ON SCHEMA common TO enemy, owner;
GRANT USAGE ON SCHEMA own TO enemy;
GRANT USAGE ON SCHEMA evil TO owner;
E
sub as { return KanonNode::as($node, shift, 'postgres', shift); }

# ---- casts ----

# Only who owns a type can make casts of it: the text of a value is that of its output function.
is(as('enemy', <<'E'), '', 'a type with casts of its own');
CREATE TYPE evil.mood AS ENUM ('bad', 'fair', 'good');
CREATE FUNCTION evil.ran(evil.mood) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran as %', current_user USING ERRCODE = 'ENEMY'; END $$;
CREATE FUNCTION evil.ran(evil.mood[]) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran as %', current_user USING ERRCODE = 'ENEMY'; END $$;
CREATE CAST (evil.mood AS text) WITH FUNCTION evil.ran(evil.mood) AS ASSIGNMENT;
CREATE CAST (evil.mood[] AS text) WITH FUNCTION evil.ran(evil.mood[]) AS ASSIGNMENT;
E
is(as('owner', <<'E'), "\nt\n{\"mood\": null}\n{\"mood\": \"bad\"}\n{\"mood\": \"good\"}\n{\"moods\": \"{good}\"}", 'kanon_dp does not call them');
CREATE TABLE own.felt AS SELECT i AS id, i % 4 AS a, (ARRAY['bad', 'good', NULL]::evil.mood[])[1 + i % 3] AS mood, ARRAY['good'::evil.mood] AS moods FROM generate_series(1, 60) i;
SELECT kanon_set_budget('own.felt', 100000, 0.1);
SELECT min(value) BETWEEN 19 AND 21 FROM kanon_dp('own.felt', 'count', 100, by => '{mood}', groups => '{"mood": ["bad", "good", null]}');
SELECT group_values FROM kanon_dp('own.felt', 'count', 100, by => '{mood}', delta => 0.01) ORDER BY 1;
SELECT group_values FROM kanon_dp('own.felt', 'count', 100, by => '{moods}', delta => 0.01);
E
is(as('owner', <<'E'), "3\nbad|bad|bad\nfair|bad|bad\ngood|fair|bad", 'nor does kanon_hierarchy_from_fk');
CREATE TABLE own.above (mood evil.mood, parent evil.mood);
INSERT INTO own.above VALUES ('bad', NULL), ('fair', 'bad'), ('good', 'fair');
SELECT kanon_hierarchy_from_fk('own.above', 'mood', 'own.mood_h', 'own.above', 'mood', 'parent');
SELECT * FROM own.mood_h ORDER BY 1;
E
like(as('owner', <<'E'), qr/^linked\|t$/m, 'nor does kanon_attack');
CREATE TABLE own.shown AS SELECT id, 'any' AS mood FROM own.felt;
CREATE TABLE own.felt_h AS SELECT mood, CASE mood WHEN 'bad' THEN 'low' ELSE 'high' END AS level, 'any' AS top FROM own.above;
SELECT 'linked', count(*) > 0 FROM kanon_attack('own.felt', 'own.shown', 'id', '{mood}', hierarchies => '{"mood": "own.felt_h"}');
E

# Nor one to json, where what classes show is recorded.
is(as('enemy', <<'E'), '', 'a cast to json');
CREATE TYPE evil.both AS (mood evil.mood, n int);
CREATE FUNCTION evil.as_json(evil.mood) RETURNS json LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran as %', current_user USING ERRCODE = 'ENEMY'; END $$;
CREATE CAST (evil.mood AS json) WITH FUNCTION evil.as_json(evil.mood);
E
is(as('owner', <<'E'), '{"both": "(bad,0)", "mood": "bad", "moods": ["good"]}', 'is not called where classes are recorded');
CREATE TABLE own.felt_more AS SELECT coalesce(mood, 'fair') AS mood, moods, ROW(mood, a)::evil.both AS both, a FROM own.felt;
SELECT FROM kanon_pattern_guided('own.felt_more', 'own.out_1', '{mood,moods,both}', 5, patterns => '{---}');
SELECT c.shown FROM kanon_equivalence_classes c JOIN kanon_usefulness u USING (run) WHERE u.target = 'own.out_1' AND c.class = 1;
E

# Nor one to text, where a hierarchy is in texts.
is(as('owner', <<'E'), '22023', 'is not called to find the line of a hierarchy');
CREATE TABLE own.mood_words AS SELECT * FROM (VALUES ('bad', 'low', 'any'), ('fair', 'high', 'any')) AS v (mood, level1, level2);
SELECT FROM kanon_full_domain('own.felt_more', 'own.out_2', '{mood}', 5, hierarchies => '{"mood": "own.mood_words"}');
E

# ---- domains ----

# Whoever owns a domain can add checks to it at any time: texts become values of its base type.
is(as('enemy', <<'E'), '', 'a domain');
CREATE DOMAIN evil.word AS text;
CREATE FUNCTION evil.checked(text) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran as %', current_user USING ERRCODE = 'ENEMY'; END $$;
E
is(as('owner', <<'E'), 'current', 'and a publication of a column of it');
CREATE TABLE own.worded AS SELECT i AS id, ('w' || i % 9)::evil.word AS word, ARRAY['w' || i % 9]::evil.word[] AS words FROM generate_series(1, 300) i;
CREATE TABLE own.word_shares AS SELECT 'word' AS column_name, 'w' || i AS value, 0.1::float8 AS share FROM generate_series(0, 8) i;
DO $$ BEGIN PERFORM kanon_create_publication('own.words', 'own.worded', '{word}', 5, '{"hierarchies": {"word": {"quantile": [4, 2]}}}', model => 'full_domain', stable => true); END $$;
SELECT status FROM kanon_refresh('own.words');
E
is(as('enemy', "ALTER DOMAIN evil.word ADD CHECK (evil.checked(VALUE)) NOT VALID; ALTER DOMAIN evil.word ADD CHECK (evil.checked('a constant')) NOT VALID"), '', 'that gets checks');
is(as('owner', "SELECT status, error FROM kanon_refresh('own.words')"), 'current|', 'is refreshed without it');
is(as('owner', "SELECT count(*) > 0 FROM kanon_risk('own.worded', '{word}', presence => kanon_presence('own.word_shares', 5000, 0, 1, 0.5))"), 't', 'shares of a population are read without it');
is(as('owner', q(SELECT FROM kanon_alpha_beta('own.worded', NULL, '{word}', 0.9, 0.95, '{"word": ["v0", "v1", "w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8"]}', dry_run => true))), '', 'and the values that there can be');
is(as('owner', q(SELECT FROM kanon_alpha_beta('own.worded', NULL, '{words}', 0.2, 0.6, '{"words": ["{w0}", "{w1}"]}', dry_run => true))), '0A000', 'but for those of a type that has it inside');

# A view that casts to it may be one's own.
is(as('owner', "CREATE VIEW own.cast_away AS SELECT id, (id % 5)::text::evil.word AS a FROM own.felt"), '', 'a view of one\'s own');
is(as('owner', "SET kanon.read_strangers = off; SELECT count(*) FROM kanon_check('own.cast_away', '{a}')"), '42501', 'is not read where strangers\' are not');

# ---- who pays ----

# A view may be another one as soon as it was planned: what is asked for leave must be what pays.
is(as('owner', <<'E'), '', 'a table of which nothing is granted');
CREATE TABLE own.secret AS SELECT i AS id FROM generate_series(1, 100) i;
SELECT kanon_set_budget('own.secret', 5);
E
is(as('enemy', <<'E'), '42501', 'a view that turns to it while it is asked');
CREATE TABLE evil.mine AS SELECT 1 AS id;
CREATE VIEW evil.view AS SELECT id FROM evil.mine;
CREATE FUNCTION evil.turn() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN CREATE OR REPLACE VIEW evil.view AS SELECT id FROM own.secret; RETURN true; END $$;
CREATE FUNCTION evil.known(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN evil.turn(); END $$;
CREATE OR REPLACE VIEW evil.view AS SELECT id FROM evil.mine WHERE evil.known(1);
SELECT value FROM kanon_dp('evil.view', 'count', 2);
E
is($node->safe_psql('postgres', "SELECT epsilon_left FROM kanon_budget WHERE relation = 'own.secret'::regclass"), '5', 'makes others pay nothing');

# ---- hierarchies whose name somebody takes ----

is(as('owner', <<'E'), 'current', 'a publication by a hierarchy in a common schema');
CREATE TABLE common.levels AS SELECT i AS a, i / 2 AS level1 FROM generate_series(0, 3) i;
DO $$ BEGIN PERFORM kanon_create_publication('own.nightly', 'own.felt', '{a}', 20, '{"hierarchies": {"a": "common.levels"}}', model => 'full_domain'); END $$;
SELECT status FROM kanon_refresh('own.nightly');
DROP TABLE common.levels;
E
is(as('enemy', <<'E'), '', 'it is dropped, and somebody else takes its name');
CREATE FUNCTION evil.note() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran as %', current_user USING ERRCODE = 'ENEMY'; END $$;
CREATE VIEW common.levels AS SELECT i AS a, i / 2 + evil.note() AS level1 FROM generate_series(0, 3) i;
GRANT SELECT ON common.levels TO owner;
E
my $refresh = "SELECT status, error FROM kanon_refresh('own.nightly')";
is(as('owner', $refresh), 'failed|42P01', 'what has the name of a relation that was dropped is not used instead');
is(as('owner', q(SELECT kanon_alter_publication('own.nightly', k => 10))), '42P01', 'nor is it taken over by the way');
is(as('owner', $refresh), 'failed|42P01', 'the name stays dropped');
is(as('owner', q(SELECT kanon_alter_publication('own.nightly', set_options => '{"hierarchies": {"a": "common.levels"}}'))), 'ENEMY', 'who names it again asks for it');
$node->safe_psql('postgres', 'DROP VIEW common.levels; CREATE TABLE common.levels AS SELECT i AS a, i / 2 AS level1 FROM generate_series(0, 3) i; GRANT SELECT ON common.levels TO owner');
is(as('owner', $refresh), 'current|', 'one that the owner of the schema made anew is used');

# a superuser is a member of all roles, and trusts none of them for that
$node->safe_psql('postgres', <<'E');
CREATE TABLE common.root_levels AS SELECT i AS a, i / 2 AS level1 FROM generate_series(0, 3) i;
SELECT kanon_create_publication('root', 'own.felt', '{a}', 20, '{"hierarchies": {"a": "common.root_levels"}}', model => 'full_domain');
DROP TABLE common.root_levels;
E
is(as('enemy', 'CREATE VIEW common.root_levels AS SELECT i AS a, i / 2 + evil.note() AS level1 FROM generate_series(0, 3) i'), '', 'the name of a hierarchy of a superuser');
is($node->safe_psql('postgres', "SELECT status, error FROM kanon_refresh('root')"), 'failed|42P01', 'is not handed down either');

# ---- what was a table when a publication named it ----

# What somebody else makes of it since is not read, whoever starts the refresh: it would run as the publisher.
is(as('enemy', <<'E'), '', 'tables of somebody else');
CREATE TABLE evil.rows AS SELECT i % 4 AS a, i AS id FROM generate_series(1, 100) i;
CREATE TABLE evil.levels AS SELECT i AS a, i / 2 AS level1 FROM generate_series(0, 3) i;
CREATE VIEW evil.seen AS SELECT * FROM evil.rows;
CREATE FUNCTION evil.folded(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran as %', current_user USING ERRCODE = 'ENEMY'; END $$;
CREATE FUNCTION evil.later(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$;
GRANT SELECT ON evil.rows, evil.levels, evil.seen TO owner;
E
is(as('owner', <<'E'), "current\ncurrent\ncurrent", 'and publications that name them');
DO $$ BEGIN
    PERFORM kanon_create_publication('own.by_rows', 'evil.rows', '{a}', 20, key => 'id', keep_releases => 5);
    PERFORM kanon_create_publication('own.by_levels', 'own.felt', '{a}', 10, '{"hierarchies": {"a": "evil.levels"}}', model => 'full_domain');
    PERFORM kanon_create_publication('own.by_view', 'evil.seen', '{a}', 20);
END $$;
SELECT status FROM kanon_refresh('own.by_rows') UNION ALL SELECT status FROM kanon_refresh('own.by_levels') UNION ALL SELECT status FROM kanon_refresh('own.by_view');
E
my %replaced = (
	view => 'ALTER TABLE %1$s RENAME TO was; CREATE VIEW %1$s AS SELECT * FROM evil.was WHERE evil.folded(a::int); GRANT SELECT ON %1$s TO owner',
	index => 'CREATE INDEX found ON %1$s ((1)) WHERE evil.later(1); CREATE OR REPLACE FUNCTION evil.later(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN evil.folded(1); END $$',
	policy => 'ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON %1$s USING (evil.folded(1))');
my %restored = (view => 'DROP VIEW %1$s; ALTER TABLE evil.was RENAME TO %2$s', index => 'CREATE OR REPLACE FUNCTION evil.later(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$; DROP INDEX evil.found',
	policy => 'DROP POLICY p ON %1$s; ALTER TABLE %1$s DISABLE ROW LEVEL SECURITY');
foreach my $case (map { my $p = $_; map { [ @$p, $_ ] } sort keys %replaced } [ 'own.by_levels', 'levels' ], [ 'own.by_rows', 'rows' ])
{
	my ($publication, $table, $how) = @$case;

	# a source that is renamed is followed: nothing takes its place
	next if $table eq 'rows' && $how eq 'view';
	is(as('enemy', sprintf($replaced{$how}, "evil.$table", $table)), '', "$publication: $how");
	is(as($_, "SELECT status, error FROM kanon_refresh('$publication')"), 'failed|42501', "is not read for $_") foreach 'owner', 'postgres';
	is(as($_, "SELECT kanon_alter_publication('$publication', k => 9)"), '42501', "nor to alter it, for $_") foreach 'owner', 'postgres';
	is(as('postgres', "SELECT kanon_alter_publication('$publication', set_options => '{}', k => 9)"), '42501', 'nor because somebody else names options');
	is(as('postgres', "SELECT persons FROM kanon_compare_releases('$publication', 1, 2)"), 100, 'releases are compared') if $table eq 'rows';
	is(as('owner', "SELECT kanon_alter_publication('$publication', set_options => '{}', k => 9)"), 'ENEMY', 'its owner may name it anew');
	is(as('enemy', sprintf($restored{$how}, "evil.$table", $table)), '', 'and when that is gone');
	is(as('owner', "SELECT status FROM kanon_refresh('$publication')"), 'current', 'it is read again');
}
is(as('owner', <<'E'), "current\n40", 'a table of one\'s own with a policy of one\'s own goes on');
DO $$ BEGIN
    CREATE TABLE own.ruled AS SELECT i % 4 AS a FROM generate_series(1, 80) i;
    PERFORM kanon_create_publication('own.by_ruled', 'own.ruled', '{a}', 4);
    CREATE FUNCTION own.half(int) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN $1 < 2; END';
    CREATE POLICY p ON own.ruled USING (own.half(a));
    ALTER TABLE own.ruled ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
END $$;
SELECT status FROM kanon_refresh('own.by_ruled');
SELECT count(*) FROM own.by_ruled;
E
is(as('postgres', "SELECT status FROM kanon_refresh('own.by_view')"), 'current', 'what was a view when it was named may be one');
is(as('postgres', "SELECT kanon_drop_publication('own.by_view')"), '', 'and is dropped');

# A publication that is handed over keeps what its owner before has put on its tables: nothing of that runs as the next one.
is(as('enemy', <<'E'), 'current', 'a publication of somebody else');
CREATE TABLE evil.plain AS SELECT i % 4 AS a, i AS id FROM generate_series(1, 100) i;
CREATE FUNCTION evil.act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.folded(1); RETURN NEW; END $$;
GRANT SELECT ON evil.plain TO owner;
GRANT CREATE ON SCHEMA evil TO owner;
DO $$ BEGIN PERFORM kanon_create_publication('evil.given', 'evil.plain', '{a}', 20, key => 'id', stable => true, keep_releases => 5); END $$;
SELECT status FROM kanon_refresh('evil.given');
E
sub give
{
	my ($to) = @_;
	$node->safe_psql('postgres', "DO \$\$ DECLARE t regclass; BEGIN FOR t IN SELECT oid FROM pg_class WHERE relnamespace = 'evil'::regnamespace AND relname ~ '^given' AND relkind IN ('r', 'v') LOOP EXECUTE format('ALTER TABLE %s OWNER TO $to', t); END LOOP; END \$\$");
}
foreach my $part ('history', 'persons', 'types', 'release', 'trigger')
{
	my $table = $part eq 'trigger' ? 'evil.given_history' : $node->safe_psql('postgres', "SELECT oid::regclass FROM pg_class WHERE relnamespace = 'evil'::regnamespace AND relname ~ '^given_$part' AND relkind = 'r' ORDER BY oid DESC LIMIT 1");
	is(as('enemy', $part eq 'trigger' ? "CREATE TRIGGER found BEFORE INSERT ON $table FOR EACH ROW EXECUTE FUNCTION evil.act()" : sprintf($replaced{index}, $table)), '', "$part: a trap");
	give('owner');
	like(as('postgres', "SELECT status, error FROM kanon_refresh('evil.given')"), qr/^(failed\|)?42501$/, 'is not sprung when it is somebody else\'s');
	is(as('owner', "SELECT persons FROM kanon_compare_releases('evil.given', (SELECT min(release) FROM kanon_releases WHERE publication = 'evil.given' AND status <> 'failed'), (SELECT max(release) FROM kanon_releases WHERE publication = 'evil.given' AND status <> 'failed'))"), '42501', 'nor in a comparison') if $part eq 'persons';
	is(as('owner', $part eq 'trigger' ? "DROP TRIGGER found ON $table" : 'DROP INDEX evil.found'), '', 'and without it');
	is(as('postgres', "SELECT status FROM kanon_refresh('evil.given')"), 'current', 'there is a release');
	give('enemy');
	as('enemy', 'CREATE OR REPLACE FUNCTION evil.later(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$');
}

# ---- who waits for whom ----

# A reader whose table is waited for, and who then waits for the run: the server finds out.
my $reader = $node->background_psql('postgres', on_error_stop => 0);
my $runner = $node->background_psql('postgres', on_error_stop => 0);
$node->safe_psql('postgres', 'CREATE TABLE shown AS SELECT 1 AS a; CREATE TABLE source AS SELECT i % 3 AS a FROM generate_series(1, 30) i');
$reader->query_safe("SET statement_timeout = '100s'; BEGIN; SELECT count(*) FROM shown");
my $pid = $runner->query_safe('SELECT pg_backend_pid()');
$runner->query_until(qr/begun/, <<'E');
\set VERBOSITY sqlstate
SET statement_timeout = '100s';
\echo begun
SELECT FROM kanon_pattern_guided('source', 'shown', '{a}', 5, replace => true);
\warn done
E
ok($node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_locks WHERE pid = $pid AND relation = 'shown'::regclass AND NOT granted"), 'a run that waits for a reader');
$reader->query_safe('LOCK TABLE source IN ACCESS EXCLUSIVE MODE');
$runner->{run}->pump until $runner->{stderr} =~ /done/;
like($runner->{stderr}, qr/ERROR:  40P01/, 'when the reader waits for it in turn it gives way');
$runner->{stderr} = '';
$reader->quit;
$runner->quit;
$node->stop;
done_testing();
