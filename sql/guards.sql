-- what must never happen (doc/architecture.md numbers the guards); each of these
-- fails when its guard is taken out.  1, 7, 9 and 10 need more than one session:
-- specs/ and t/.
CREATE SCHEMA guard_test;
SET search_path = guard_test, public;

-- 2. a column nobody named: not even one that is added later
CREATE TABLE person (name text, zip text, diagnosis text);
INSERT INTO person SELECT 'n' || i, 'z' || i % 4, 'd' || i % 3 FROM generate_series(1, 40) i;
ALTER TABLE person ADD ssn text DEFAULT 'secret';
SELECT * FROM kanon_pattern_guided('person', 'person_public', '{zip}', 5, keep => '{diagnosis}');
SELECT attname FROM pg_attribute WHERE attrelid = 'person_public'::regclass AND attnum > 0 ORDER BY attnum;
-- a column that an event trigger slips in is found before anything is published
CREATE FUNCTION slip_in() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('guard_test.person_slipped') IS NOT NULL
       AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'guard_test.person_slipped'::regclass AND attname = 'extra') THEN
        ALTER TABLE guard_test.person_slipped ADD extra text DEFAULT 'leak';
    END IF;
END $$;
CREATE EVENT TRIGGER slip_in ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION slip_in();
SELECT * FROM kanon_pattern_guided('person', 'person_slipped', '{zip}', 5);
DROP EVENT TRIGGER slip_in;
SELECT to_regclass('person_slipped');

-- 3. a row's own spelling
CREATE TABLE spelled (price numeric, f float8, c char(4), b bpchar);
INSERT INTO spelled VALUES (1.0, 0, 'a', 'x'), (1.00, '-0', 'a', 'x '), (1.000, 0, 'a', 'x  '), (1, '-0', 'a ', 'x');
SELECT * FROM kanon_pattern_guided('spelled', 'spelled_public', '{price,f,c,b}', 4);
SELECT price, f, c, octet_length(b), count(*) FROM spelled_public GROUP BY price::text, f::text, price, f, c, octet_length(b);
-- whatever row comes first
CREATE TABLE spelled_back AS SELECT * FROM spelled ORDER BY price::text, f::text;
SELECT count(*) FROM kanon_pattern_guided('spelled_back', 'spelled_back_public', '{price,f,c,b}', 4);
SELECT DISTINCT price::text, f::text, octet_length(b) FROM spelled_back_public
INTERSECT SELECT price::text, f::text, octet_length(b) FROM spelled_public;
-- per column too, where the classes differ in another one
CREATE TABLE spelled_two (price numeric, city text);
INSERT INTO spelled_two VALUES (2.50, 'A'), (2.50, 'A'), (2.5, 'B'), (2.5, 'B');
SELECT count(*) FROM kanon_pattern_guided('spelled_two', 'spelled_two_public', '{price,city}', 2);
SELECT DISTINCT price::text FROM spelled_two_public;
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE cased (name text COLLATE nocase, n int);
INSERT INTO cased VALUES ('Ann', 1), ('ANN', 1), ('ann', 1), ('Bob', 1);
SELECT * FROM kanon_pattern_guided('cased', 'cased_public', '{name,n}', 3, residual => 'suppress');
SELECT name, name COLLATE "C" = 'ANN' AS least, n, count(*) FROM cased_public GROUP BY name COLLATE "C", name, n ORDER BY 1;
SELECT attname, collname FROM pg_attribute a JOIN pg_collation c ON c.oid = attcollation WHERE attrelid = 'cased_public'::regclass;

-- 4. the order of the source: a kept column that grows with it comes out clustered
-- by class and shuffled within
CREATE TABLE ordered AS SELECT i AS seq, i % 2 AS q FROM generate_series(1, 2000) i;
SELECT count(*) FROM kanon_pattern_guided('ordered', 'ordered_public', '{q}', 5, keep => '{seq}', allow_identifying => '{seq}');
WITH placed AS (
    SELECT q, seq, row_number() OVER (ORDER BY ctid) AS place FROM ordered_public)
SELECT q, min(place) AS first, max(place) AS last,
       abs(corr(place, seq)) < 0.2 AS shuffled,
       count(*) FILTER (WHERE follows) BETWEEN 350 AND 650 AS no_runs
FROM (SELECT *, seq > lag(seq) OVER (PARTITION BY q ORDER BY place) AS follows FROM placed) p
GROUP BY q ORDER BY q;

-- 5. real NULL against suppressed: a NULL groups like any value, and the mark tells
CREATE TABLE nulls (a int, b text);
INSERT INTO nulls VALUES (NULL, 'x'), (NULL, 'x'), (NULL, 'x'), (1, 'y'), (2, 'y'), (3, 'y'), (NULL, NULL), (NULL, NULL), (NULL, NULL);
SELECT * FROM kanon_pattern_guided('nulls', 'nulls_public', '{a,b}', 3, mark => true);
SELECT kanon_pattern, a, b, count(*) FROM nulls_public GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT pattern, row_count, shown FROM kanon_equivalence_classes
WHERE run = (SELECT max(run) FROM kanon_usefulness) ORDER BY class;

-- 6. an unchecked release: rows that disappear on their way are found
CREATE FUNCTION thin_out() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('guard_test.person_thin') IS NOT NULL THEN
        INSERT INTO guard_test.person_thin VALUES ('alone');
    END IF;
END $$;
CREATE EVENT TRIGGER thin_out ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION thin_out();
SELECT * FROM kanon_pattern_guided('person', 'person_thin', '{zip}', 5);
DROP EVENT TRIGGER thin_out;
SELECT to_regclass('person_thin');
CREATE FUNCTION take_away() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN DROP TABLE guard_test.person_gone; END $$;
CREATE EVENT TRIGGER take_away ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION take_away();
SELECT * FROM kanon_pattern_guided('person', 'person_gone', '{zip}', 5);
DROP EVENT TRIGGER take_away;

-- 8. more rights than the caller
CREATE ROLE kanon_test_analyst;
CREATE ROLE kanon_test_outsider;
GRANT USAGE, CREATE ON SCHEMA guard_test TO kanon_test_analyst, kanon_test_outsider;
GRANT SELECT (zip, diagnosis) ON person TO kanon_test_analyst;
SET ROLE kanon_test_analyst;
SELECT * FROM kanon_pattern_guided('person', 'person_analyst', '{zip}', 5, keep => '{diagnosis}');
SELECT * FROM kanon_pattern_guided('person', 'person_name', '{zip,name}', 5);
SELECT * FROM kanon_pattern_guided('person', 'person_name', '{zip}', 5, keep => '{ssn}');
SELECT to_regclass('person_name');
SELECT * FROM kanon_check('person', '{name}');
RESET ROLE;
-- row-level security of the source applies
CREATE TABLE ward (ward text, age int);
INSERT INTO ward SELECT 'w' || i % 2, 20 + i % 3 FROM generate_series(1, 60) i;
ALTER TABLE ward ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_ward ON ward USING (ward = 'w1');
GRANT SELECT ON ward TO kanon_test_analyst;
SET ROLE kanon_test_analyst;
SELECT * FROM kanon_pattern_guided('ward', 'ward_public', '{ward,age}', 5, keep => '{}');
SELECT ward, count(*) FROM ward_public GROUP BY 1;
-- a policy that shows others at the second reading: none of them takes the place of who stood there at the first
RESET ROLE;
ALTER TABLE ward ADD note int DEFAULT 1;
CREATE SEQUENCE looks;
CREATE FUNCTION in_turn(ward text) RETURNS boolean LANGUAGE sql VOLATILE
AS $$ SELECT (nextval('looks') <= 60) = (ward = 'w1') $$;
GRANT USAGE ON looks TO kanon_test_analyst;
ALTER POLICY own_ward ON ward USING (in_turn(ward));
SET ROLE kanon_test_analyst;
SELECT * FROM kanon_pattern_guided('ward', 'ward_in_turn', '{ward,age}', 5, keep => '{note}');
SELECT currval('looks') > 60;
-- nothing is found through the caller's search_path by accident
RESET ROLE;
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.count() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION hostile.to_jsonb(anyelement) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile to_jsonb'; END $$;
CREATE FUNCTION hostile.unnest(anyarray) RETURNS SETOF anyelement LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile unnest'; END $$;
CREATE FUNCTION hostile.num_nonnulls(VARIADIC "any") RETURNS int LANGUAGE internal AS 'pg_num_nulls';
CREATE FUNCTION hostile.eq(bigint, int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile ='; END $$;
CREATE OPERATOR hostile.= (LEFTARG = bigint, RIGHTARG = int, FUNCTION = hostile.eq);
CREATE FUNCTION hostile.eq(oid, oid) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile ='; END $$;
CREATE OPERATOR hostile.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = hostile.eq);
CREATE TABLE hostile.pg_depend (x int);
CREATE TABLE hostile.kanon_run (run bigint, stolen text);
CREATE TABLE hostile.person (zip text);
CREATE DOMAIN hostile.text AS pg_catalog.text CHECK (false);
SET search_path = hostile, pg_catalog, guard_test, public;
SELECT * FROM kanon_pattern_guided('guard_test.person', 'guard_test.person_safe', '{zip}', 5, keep => '{diagnosis}', mark => true);
SELECT * FROM kanon_pattern_guided('guard_test.person', 'guard_test.person_safe', '{zip}', 5, replace => true);
SELECT * FROM kanon_check('guard_test.person', '{zip}');
SELECT pg_catalog.count(*) FROM hostile.kanon_run;
SET search_path = guard_test, public;

-- the statistics of a run belong to who ran it
SET ROLE kanon_test_outsider;
SELECT count(*) FROM kanon_usefulness;
SELECT count(*) FROM kanon_equivalence_classes;
SELECT count(*) FROM kanon_run;
SELECT count(*) FROM kanon_run_class;
RESET ROLE;
SET ROLE kanon_test_analyst;
SELECT run_by, target FROM kanon_usefulness ORDER BY run;
SELECT count(DISTINCT run) FROM kanon_equivalence_classes;
RESET ROLE;
GRANT kanon_test_analyst TO kanon_test_outsider;
SET ROLE kanon_test_outsider;
SELECT run_by, target FROM kanon_usefulness ORDER BY run;
RESET ROLE;

-- 9. a replaced target keeps its owner and grants, and nothing more
CREATE TABLE granted (zip text, old int);
ALTER TABLE granted OWNER TO kanon_test_analyst;
GRANT SELECT ON granted TO kanon_test_outsider WITH GRANT OPTION;
GRANT SELECT (zip), UPDATE (old) ON granted TO PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA guard_test GRANT ALL ON TABLES TO PUBLIC;
SELECT * FROM kanon_pattern_guided('person', 'granted', '{zip}', 5, replace => true);
-- (MAINTAIN, the owner's from PostgreSQL 17 on, aside)
SELECT relowner::regrole AS owner, attname, grantee::regrole, grantor::regrole,
       string_agg(privilege_type || CASE WHEN is_grantable THEN '*' ELSE '' END, ' ' ORDER BY privilege_type) AS privileges
FROM (SELECT relowner, NULL::name AS attname, relacl AS acl FROM pg_class WHERE oid = 'granted'::regclass
      UNION ALL
      SELECT NULL, attname, attacl FROM pg_attribute WHERE attrelid = 'granted'::regclass AND attnum > 0) a,
     aclexplode(acl)
WHERE privilege_type <> 'MAINTAIN' GROUP BY 1, 2, 3, 4 ORDER BY attname NULLS FIRST, grantee::regrole::text;
SELECT relname FROM pg_class WHERE relname LIKE 'kanon\_building%';

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA guard_test, hostile CASCADE;
DROP ROLE kanon_test_analyst, kanon_test_outsider;
