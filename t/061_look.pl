# Guards 8, 12, 19 and 23: nothing is read before the look, and the look misses nothing.  A relation that a publication
# names becomes a trap of another role; whoever starts the refresh, the trap is not sprung.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::start('main', conf => "autovacuum = off\nkanon.skip_unchanged = on\n");
$node->safe_psql('postgres', <<'E');
CREATE ROLE owner LOGIN;
CREATE ROLE enemy LOGIN;
CREATE SCHEMA own AUTHORIZATION owner;
CREATE SCHEMA evil AUTHORIZATION enemy;
GRANT USAGE ON SCHEMA evil TO owner;
GRANT CREATE ON DATABASE postgres TO owner;
E
sub as { return KanonNode::as($node, shift, 'postgres', shift); }

is(as('enemy', <<'E'), '', 'another role has functions that tell that they ran');
CREATE FUNCTION evil.ran() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF current_user <> 'enemy' THEN RAISE EXCEPTION 'it ran as %', current_user USING ERRCODE = 'ENEMY'; END IF;
    RETURN true;
END $$;
E

# runs(TABLE): a table that has been named becomes one that runs code of the enemy: a view, or from 16 on one with a policy.
sub runs
{
	my ($table) = @_;

	return "ALTER TABLE $table ENABLE ROW LEVEL SECURITY; CREATE POLICY all_rows ON $table USING (evil.ran())"
		if $node->safe_psql('postgres', 'SHOW server_version_num') >= 160000;
	return <<"E";
CREATE TABLE ${table}_ AS TABLE $table;
GRANT SELECT ON ${table}_ TO owner;
TRUNCATE $table;
CREATE RULE "_RETURN" AS ON SELECT TO $table DO INSTEAD SELECT * FROM ${table}_ WHERE evil.ran();
E
}

# ---- several tables: hierarchies are looked at before they are digested ----

is(as('enemy', <<'E'), '', 'a hierarchy of another role');
CREATE TABLE evil.levels AS SELECT i AS value, i / 2 AS level1 FROM generate_series(0, 9) i;
GRANT SELECT ON evil.levels TO owner;
E
is(as('owner', <<'E'), "unchanged\nunchanged", 'is named by a publication of several tables, protected or not');
CREATE TABLE own.person AS SELECT i AS id, i % 5 AS a FROM generate_series(1, 200) i;
ALTER TABLE own.person ADD PRIMARY KEY (id);
CREATE TABLE own.visit AS SELECT i AS id, 1 + i % 200 AS person, i % 3 AS b FROM generate_series(1, 400) i;
ALTER TABLE own.visit ADD FOREIGN KEY (person) REFERENCES own.person;
CREATE SCHEMA shown; CREATE SCHEMA hidden; CREATE SCHEMA shown_protected;
DO $$ BEGIN
    PERFORM kanon_create_linked_publication('shown', 'own.person', '{"own.person": {"quasi_identifiers": ["a"], "hierarchies": {"a": "evil.levels"}}, "own.visit": {"quasi_identifiers": ["b"]}}', 3, private_schema => 'hidden');
    PERFORM kanon_create_linked_publication('shown_protected', 'own.person', '{"own.person": {"quasi_identifiers": ["a"], "hierarchies": {"a": "evil.levels"}}, "own.visit": {"quasi_identifiers": ["b"]}}', 3, private_schema => 'hidden', protect_successive => true);
END $$;
SELECT status FROM kanon_refresh('shown') UNION ALL SELECT status FROM kanon_refresh('shown_protected');
E
is(as('enemy', runs('evil.levels')), '', 'which becomes one that runs code');
foreach my $role ('owner', 'postgres')
{
	is(as($role, "SELECT status, error FROM kanon_refresh('$_')"), 'failed|42501', "$_: it is not read for $role") foreach 'shown', 'shown_protected';
	is(as($role, "SELECT kanon_alter_publication('shown', k => 4)"), '42501', "nor to alter the publication, for $role");
}
is(as('postgres', 'CALL kanon_refresh_all()'), '55000', 'nor by a schedule, which tells of it');
is(as('postgres', "SELECT DISTINCT error FROM kanon_releases WHERE status = 'failed'"), '42501', 'as what it is');

# ---- types and sequences in a view of one's own are no relations that are read ----

is(as('enemy', <<'E'), '', 'a table of another role');
CREATE TABLE evil.rows AS SELECT i % 5 AS x FROM generate_series(1, 50) i;
GRANT SELECT ON evil.rows TO owner;
E
is(as('owner', <<'E'), "f\nf", 'is read by views with own types and sequences');
CREATE TYPE own.pair AS (x int);
CREATE SEQUENCE own.numbers;
CREATE VIEW own.typed AS SELECT (ROW(x)::own.pair).x AS a, x % 2 AS b FROM evil.rows;
CREATE VIEW own.numbered AS SELECT x AS a, x % 2 AS b, (SELECT last_value FROM own.numbers) + 0 * coalesce(nextval('own.numbers'), 0) AS c FROM evil.rows;
DO $$ BEGIN PERFORM kanon_create_publication('own.pub_typed', 'own.typed', '{a,b}', 3); PERFORM kanon_create_publication('own.pub_numbered', 'own.numbered', '{a,b}', 3); END $$;
SELECT strangers FROM own.pub_typed_publication UNION ALL SELECT strangers FROM own.pub_numbered_publication;
E
is(as('owner', "SET kanon.read_strangers = off; SELECT count(*) > 0 FROM kanon_check('$_', '{a,b}')"), 't', "$_ is read where strangers' are not") foreach 'own.typed', 'own.numbered';
is(as('enemy', runs('evil.rows')), '', 'the table becomes one that runs code');
is(as('postgres', "SELECT status, error FROM kanon_refresh('own.pub_$_')"), 'failed|42501', "$_: it is not read") foreach 'typed', 'numbered';

# ---- who publishes a view of their own learns that strangers stand below it; who only reads locks as a reader does ----

is(as('enemy', 'CREATE FUNCTION evil.yes(int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$'), '', 'another role has a function');
$node->safe_psql('postgres', 'GRANT ALL ON SCHEMA own TO enemy');
my (undef, undef, $told) = $node->psql('postgres', <<'E', extra_params => [ '-U', 'owner' ]);
CREATE VIEW own.deep AS SELECT i % 5 AS a, i % 2 AS b FROM generate_series(1, 50) i WHERE evil.yes(i);
CREATE VIEW own.middle AS SELECT * FROM own.deep;
CREATE VIEW own.top AS SELECT * FROM own.middle;
SELECT kanon_create_publication('own.pub_top', 'own.top', '{a,b}', 3);
E
like($told, qr/NOTICE:  publication own\.pub_top reads what other roles can change\nDETAIL:  Relation own\.top: it calls function evil\.yes\(integer\) of another role\./, 'a NOTICE names the culprit three levels below');
unlike($told, qr/ERROR/, 'and the publication is made');
(undef, undef, $told) = $node->psql('postgres', <<'E', extra_params => [ '-U', 'owner' ]);
CREATE TABLE own.plain AS SELECT i % 5 AS a, i % 2 AS b FROM generate_series(1, 50) i;
CREATE VIEW own.levels AS SELECT i AS value, i / 2 AS level1 FROM generate_series(0, 9) i WHERE evil.yes(i);
CREATE VIEW own.clean AS SELECT i AS value, i / 2 AS level1 FROM generate_series(0, 9) i;
SELECT kanon_create_publication('own.pub_plain', 'own.plain', '{a,b}', 3, '{"hierarchies": {"a": "own.clean"}}', model => 'full_domain');
SELECT kanon_alter_publication('own.pub_plain', k => 4);
SELECT kanon_refresh('own.pub_plain');
E
unlike($told, qr/what other roles can change/, 'nothing is told while nothing of others is read');
sub altered { my (undef, undef, $said) = $node->psql('postgres', ($_[1] // '') . "SELECT kanon_alter_publication('own.pub_plain', $_[0])", extra_params => [ '-U', 'owner' ]); return $said; }
my $leveled = q(set_options => '{"hierarchies": {"a": "own.levels"}}');
my $names = qr/NOTICE:  publication own\.pub_plain reads what other roles can change\nDETAIL:  Relation own\.levels: it calls function evil\.yes\(integer\) of another role\.\n/;
like(altered($_, 'SET kanon.read_strangers = off;'), qr/ERROR:  relation own\.levels is not read/, 'where it is not to be, it is refused') foreach $leveled, "$leveled, solve => false";
like(altered("$leveled, dry_run => true"), $names, 'an alteration that is tried tells it');
like(altered($leveled), $names, 'and one that names a view of one\'s own');
unlike(altered('k => 5'), qr/other roles/, 'and none that names nothing');
is(as('owner', "SET kanon.read_strangers = off; DO \$\$ BEGIN PERFORM kanon_alter_publication('own.pub_plain', set_options => '{}', solve => false); END \$\$; SELECT strangers FROM own.pub_plain_publication"), 'f', 'who reads no strangers accepts none');
is(as('owner', "SELECT error FROM kanon_refresh('own.pub_plain')"), '42501', '… from then on');
(undef, undef, $told) = $node->psql('postgres', <<'E', extra_params => [ '-U', 'owner' ]);
CREATE SCHEMA several;
SELECT kanon_create_linked_publication('several', 'own.person', '{"own.person": {"quasi_identifiers": ["a"], "hierarchies": {"a": "own.levels"}}, "own.visit": {"quasi_identifiers": ["b"]}}', 3, private_schema => 'hidden');
E
like($told, qr/NOTICE:  publication several\.person reads what other roles can change\nDETAIL:  Relation own\.levels: it calls/, 'a publication of several tables tells it, too');
is(as('owner', <<'E'), '', 'views, rules and policies lock no more than reading does');
CREATE TABLE own.noted (x int);
CREATE TABLE own.base AS SELECT i % 5 AS a, i % 2 AS b FROM generate_series(1, 50) i;
CREATE RULE also AS ON UPDATE TO own.base DO ALSO INSERT INTO own.noted VALUES (1);
CREATE VIEW own.over AS SELECT * FROM own.base;
CREATE RULE instead AS ON INSERT TO own.over DO INSTEAD INSERT INTO own.base VALUES (1, 2);
ALTER TABLE own.base ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON own.base USING (a >= (SELECT coalesce(min(x), 0) FROM own.noted));
CREATE POLICY written ON own.base FOR INSERT WITH CHECK (a > 0);
GRANT USAGE ON SCHEMA own TO enemy;
GRANT SELECT ON own.base, own.over, own.noted TO enemy;
E
is(as('enemy', <<'E'), '', '… for a role that may only read');
BEGIN;
DO $$ DECLARE r text; BEGIN FOREACH r IN ARRAY ARRAY['own.base', 'own.over'] LOOP PERFORM kanon_check(r::regclass, '{a,b}'); END LOOP; END $$;
SELECT relation::regclass, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation' AND mode <> 'AccessShareLock';
COMMIT;
E

# ---- plans that a session's functions keep are made again, and looked at ----

is(as('enemy', <<'E'), '', 'another role has a view');
CREATE SEQUENCE evil.drawn;
GRANT ALL ON evil.drawn TO owner;
CREATE VIEW evil.draws AS SELECT i FROM generate_series(1, 3) i WHERE nextval('evil.drawn') > 0;
GRANT SELECT ON evil.draws TO owner;
E
is(as('owner', <<'E'), "30\n42501\n30", 'a function that has read it before does not read it again');
CREATE FUNCTION own.drawn(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN x + 0 * (SELECT count(*) FROM evil.draws); END';
CREATE VIEW own.drawing AS SELECT own.drawn(i % 5) AS a, i % 2 AS b FROM generate_series(1, 10) i;
DO $$ BEGIN PERFORM count(a) FROM own.drawing; END $$;
SELECT last_value FROM evil.drawn;
SET kanon.read_strangers = off;
DO $$ BEGIN PERFORM kanon_check('own.drawing', '{a,b}'); EXCEPTION WHEN insufficient_privilege THEN PERFORM set_config('look.state', SQLSTATE, false); END $$;
SELECT current_setting('look.state');
SELECT last_value FROM evil.drawn;
E

# ---- whether a domain of another role takes NULL is not asked of its checks ----

$node->safe_psql('postgres', 'ALTER SEQUENCE evil.drawn RESTART');
is(as('enemy', "CREATE DOMAIN evil.telling AS int CHECK (nextval('evil.drawn') > 0)"), '', 'another role has a domain');
is(as('owner', <<'E'), "integer\nown.quiet\n60", 'a column of it is published without it, and the check does not run');
CREATE DOMAIN own.quiet AS int CHECK (VALUE > -1);
CREATE TABLE own.of_domains (a evil.telling, b own.quiet);
INSERT INTO own.of_domains SELECT i % 4, i % 3 FROM generate_series(1, 60) i;
DO $$ BEGIN PERFORM kanon_pattern_guided('own.of_domains', 'own.shown_domains', '{a,b}', 3); PERFORM kanon_create_publication('own.pub_domains', 'own.of_domains', '{a,b}', 3); PERFORM kanon_refresh('own.pub_domains'); END $$;
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'own.shown_domains'::regclass AND attnum IN (1, 2) ORDER BY attnum;
SELECT last_value FROM evil.drawn;
E

# ---- what functions of one's own do besides queries ----

is(as('enemy', <<'E'), '', 'another role has a table that draws numbers by itself');
CREATE TABLE evil.noted (x int, n bigint DEFAULT nextval('evil.drawn'));
CREATE TABLE evil.plain (x int);
GRANT INSERT, SELECT ON evil.noted, evil.plain TO owner;
E
is(as('owner', <<'E'), '', 'which functions write into; others change tables');
CREATE TABLE own.drawn_upon AS SELECT i % 4 AS a, i % 3 AS b FROM generate_series(1, 60) i;
CREATE FUNCTION own.noting(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO evil.noted VALUES (x); RETURN x; END';
CREATE FUNCTION own.telling(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO evil.plain VALUES (x); RETURN x; END';
CREATE FUNCTION own.indexing(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN CREATE TABLE own.indexed AS SELECT 1 AS y; CREATE INDEX ON own.indexed ((y::evil.telling)); DROP TABLE own.indexed; RETURN x; END';
CREATE FUNCTION own.altering(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN CREATE TABLE own.altered AS SELECT 1 AS y; ALTER TABLE own.altered ALTER y TYPE evil.telling; DROP TABLE own.altered; RETURN x; END';
CREATE FUNCTION own.quietly(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN CREATE TABLE own.quieted AS SELECT 1 AS y; ALTER TABLE own.quieted ENABLE ROW LEVEL SECURITY; DROP TABLE own.quieted; RETURN x; END';
CREATE VIEW own.see_noting AS SELECT own.noting(a) AS a, b FROM own.drawn_upon;
CREATE VIEW own.see_telling AS SELECT own.telling(a) AS a, b FROM own.drawn_upon;
CREATE VIEW own.see_indexing AS SELECT own.indexing(a) AS a, b FROM own.drawn_upon;
CREATE VIEW own.see_altering AS SELECT own.altering(a) AS a, b FROM own.drawn_upon;
CREATE VIEW own.see_quietly AS SELECT own.quietly(a) AS a, b FROM own.drawn_upon;
E
$node->safe_psql('postgres', 'ALTER SEQUENCE evil.drawn RESTART');
is(as('owner', "SET kanon.read_strangers = off; SELECT count(*) > 0 FROM kanon_check('own.see_$_', '{a,b}')"), '42501', "$_ is refused") foreach 'noting', 'indexing', 'altering';
is(as('owner', "SET kanon.read_strangers = off; SELECT count(*) > 0 FROM kanon_check('own.see_$_', '{a,b}')"), 't', "$_ is not") foreach 'telling', 'quietly';
is($node->safe_psql('postgres', 'SELECT is_called FROM evil.drawn'), 'f', 'and nothing of the other role has run');

# ---- where no door stands: a parallel worker runs no function whose body nobody has looked at ----

is(as('enemy', 'CREATE FUNCTION evil.passed(int) RETURNS int PARALLEL SAFE LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING $w$it ran as %$w$, current_user; RETURN $1; END $$'), '', 'another role has a function for workers');
(undef, undef, $told) = $node->psql('postgres', <<'E', extra_params => [ '-U', 'owner' ]);
CREATE TABLE own.large AS SELECT i AS id, i % 2 AS b FROM generate_series(1, 50000) i;
CREATE FUNCTION own.passing(int) RETURNS int PARALLEL SAFE LANGUAGE plpgsql AS $$ BEGIN RETURN CASE WHEN $1 = 3 THEN evil.passed($1) ELSE $1 END; END $$;
CREATE VIEW own.passed AS SELECT own.passing(id) % 4 AS a, b FROM own.large;
SET kanon.read_strangers = off;
SET parallel_leader_participation = off; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
DO $$ DECLARE line text; plan text := ''; BEGIN FOR line IN EXPLAIN SELECT a FROM own.passed LOOP plan := plan || line; END LOOP; RAISE NOTICE 'planned: %', plan ~ 'Workers Planned'; END $$;
SELECT kanon_check('own.passed', '{a,b}');
E
like($told, qr/planned: t/, 'which a query would give to workers');
like($told, qr/ERROR:  relation own\.passed is not read: it calls function evil\.passed/, 'is refused');
unlike($told, qr/it ran as/, 'and does not run');

# ---- private tables are closed again, all of them ----

is(as('owner', <<'E'), '', 'private tables of a protected publication are open');
CREATE TABLE own.keyed AS SELECT 'key' || i AS id, i % 5 AS a FROM generate_series(1, 200) i;
DO $$ BEGIN PERFORM kanon_create_publication('own.guarded', 'own.keyed', '{a}', 3, key => 'id', protect_successive => true); END $$;
GRANT SELECT ON own.guarded_rows_1, own.guarded_persons_1, own.guarded_types_1, own.guarded_release_1, own.guarded_history, own.guarded_publication, own.guarded_source TO enemy;
E
is(as('owner', "SELECT status FROM kanon_refresh('own.guarded')"), 'unchanged', 'a refresh that makes no release');
is($node->safe_psql('postgres', "SELECT relname FROM pg_class c, aclexplode(relacl) a WHERE relnamespace = 'own'::regnamespace AND relname LIKE 'guarded\\_%' AND grantee <> relowner"), '', 'closes them all');

# ---- a kept column of the last of many lookups tells as much as that of the first ----

my $keys = join(', ', map { "f$_ int REFERENCES own.filler" } 1 .. 50);
my $kept = join(', ', map { "\"f$_\"" } 1 .. 50);
my $ones = join(', ', map { "1 + i % 2" } 1 .. 50);
is(as('owner', <<"E"), '23514', 'the place behind fifty foreign keys tells the city');
CREATE TABLE own.filler (id int PRIMARY KEY, name text);
INSERT INTO own.filler VALUES (1, 'x'), (2, 'y');
CREATE TABLE own.place (id int PRIMARY KEY, zip text);
INSERT INTO own.place SELECT i, 'z' || 1 + i % 40 FROM generate_series(1, 1200) i;
CREATE TABLE own.many (id int PRIMARY KEY, birth int);
INSERT INTO own.many SELECT i, 1940 + i / 20 * 5 FROM generate_series(1, 200) i;
CREATE TABLE own.sent (id int PRIMARY KEY, who int REFERENCES own.many, city text, $keys, last int REFERENCES own.place);
INSERT INTO own.sent SELECT i, 1 + i * 7 % 200, 'c' || 1 + i % 40, $ones, i FROM generate_series(1, 1200) i;
SELECT FROM kanon_linked('own.many', '{"own.many": {"quasi_identifiers": ["birth"]}, "own.sent": {"quasi_identifiers": ["city"], "keep": [$kept, "last"]}, "own.filler": {"keep": ["name"]}, "own.place": {"keep": ["zip"]}}', NULL, 5, dry_run => true);
E

# ---- and what most persons tell as much as what the first few do, whose rows are many ----

is(as('owner', <<'E'), '23514', 'orders tell the zip of most visitors, but for the first ones');
CREATE TABLE own.visitor (id int PRIMARY KEY, birth int);
INSERT INTO own.visitor SELECT i, 1940 + i / 20 * 5 FROM generate_series(1, 200) i;
CREATE TABLE own.seen (id int PRIMARY KEY, who int REFERENCES own.visitor, zip text);
INSERT INTO own.seen SELECT w * 100 + i, w, 'z' || w % 100 FROM generate_series(1, 200) w, generate_series(1, CASE WHEN w <= 6 THEN 60 ELSE 3 END) i;
CREATE TABLE own.order (id int PRIMARY KEY, who int REFERENCES own.visitor, day int, ship text);
INSERT INTO own.order SELECT w * 100 + i, w, i % 2, CASE WHEN w > 6 THEN 'z' || w % 100 END FROM generate_series(1, 200) w, generate_series(1, CASE WHEN w <= 6 THEN 60 ELSE 3 END) i;
SELECT FROM kanon_linked('own.visitor', '{"own.visitor": {"quasi_identifiers": ["birth"]}, "own.seen": {"quasi_identifiers": ["zip"]}, "own.order": {"quasi_identifiers": ["day"], "keep": ["ship"]}}', NULL, 5, dry_run => true);
E

$node->stop;
done_testing();
