-- types that change while kanon runs: whoever made a view may drop it and make
-- another one of its name from a function that the view itself calls.  Each of these
-- used to read memory that was not the value's, or ended the server.
CREATE SCHEMA gate_test;
SET search_path = gate_test, public;
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on

-- an enemy's work for the nth row that passes trap()
CREATE SEQUENCE passed;
CREATE TABLE plan (at int, work text);
CREATE FUNCTION trap(value int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    statement text;
BEGIN
    SELECT work INTO statement FROM plan WHERE at = nextval('passed');
    IF FOUND THEN
        EXECUTE statement;
    END IF;
    RETURN value;
END $$;
CREATE FUNCTION try(nth int, enemy text, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; hint text; detail text;
BEGIN
    PERFORM setval('passed', 1, false);
    INSERT INTO plan SELECT nth, enemy;
    EXECUTE 'SELECT FROM ' || call;
    RAISE EXCEPTION 'no error after % rows', currval('passed') - 1;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RETURN format(E'%s: %s%s%s', SQLSTATE, regexp_replace(message, 'OID \d+', 'OID nnn'), coalesce(E'\nDETAIL: ' || nullif(detail, ''), ''), coalesce(E'\nHINT: ' || nullif(hint, ''), ''));
END $$;
CREATE TABLE people AS SELECT i, 'q' || i % 3 AS q, i % 2 AS n, ('name ' || i)::name AS name FROM generate_series(1, 12) i;
CREATE VIEW source AS SELECT q, n, trap(i) AS i, name FROM people;
CREATE TABLE lines AS SELECT DISTINCT q AS value, 'all'::text AS level FROM people;
INSERT INTO lines VALUES ('q9', 'none');
CREATE VIEW ladder AS SELECT CASE trap(0) WHEN 0 THEN value END AS value, level FROM lines;
CREATE VIEW population AS SELECT q, n FROM people;

-- before the rows of the source are written: a name becomes a bytea, a text a number
SELECT try(12, $$ DROP VIEW source; CREATE VIEW source AS SELECT q, n, i, name::text::bytea AS name FROM people $$,
    $$ kanon_pattern_guided('source', 'target', '{q,n}', 2, keep => '{i,name}', allow_identifying => '{i,name}') $$);
SELECT try(12, $$ DROP VIEW source; CREATE VIEW source AS SELECT 4096::bigint AS q, n, i, name FROM people $$,
    $$ kanon_pattern_guided('source', 'target', '{q,n}', 2, keep => '{i,name}', allow_identifying => '{i,name}') $$);
SELECT try(12, $$ DROP VIEW source; CREATE VIEW source AS SELECT q, n, i, name FROM people $$,
    $$ kanon_pattern_guided('source', 'target', '{q,n}', 2, keep => '{i,name}', allow_identifying => '{i,name}') $$);
-- typmods and collations are types, too
CREATE VIEW typed AS SELECT q::varchar(5) AS q, trap(i) AS i FROM people;
SELECT try(12, $$ ALTER VIEW typed RENAME TO was; CREATE VIEW typed AS SELECT q::varchar(9) AS q, i FROM people $$,
    $$ kanon_pattern_guided('typed', 'target', '{q}', 2, keep => '{i}', allow_identifying => '{i}') $$);
CREATE TABLE stored (q varchar(5), i int);
INSERT INTO stored SELECT q, i FROM people;
SELECT try(2, $$ ALTER TABLE stored ALTER q TYPE varchar(9) $$,
    $$ kanon_pattern_guided('stored', 'target', '{q}', 2, keep => '{i}', allow_identifying => '{i}', hierarchies => '{"q": "ladder"}') $$);
SELECT try(2, $$ ALTER TABLE stored ALTER q TYPE varchar(5) COLLATE "C" $$,
    $$ kanon_pattern_guided('stored', 'target', '{q}', 2, keep => '{i}', allow_identifying => '{i}', hierarchies => '{"q": "ladder"}') $$);
-- the source, while a hierarchy is read
SELECT try(2, $$ DROP TABLE stored; CREATE TABLE stored AS SELECT 4096::bigint AS q, i FROM people $$,
    $$ kanon_pattern_guided('stored', 'target', '{q}', 2, hierarchies => '{"q": "ladder"}') $$);
SELECT try(2, $$ ALTER TABLE stored ALTER q TYPE bigint USING 4096 $$,
    $$ kanon_pattern_guided('stored', 'target', '{q}', 2, hierarchies => '{"q": "ladder"}') $$);
SELECT try(2, $$ DROP TABLE stored $$,
    $$ kanon_pattern_guided('stored', 'target', '{q}', 2, hierarchies => '{"q": "ladder"}') $$);
-- a hierarchy, while the source is read, and between the two times it is looked at
CREATE VIEW moving AS SELECT value, level FROM lines;
SELECT try(12, $$ DROP VIEW moving; CREATE VIEW moving AS SELECT 4096::bigint AS value, 4096::bigint AS level $$,
    $$ kanon_pattern_guided('source', 'target', '{q,n,i}', 2, hierarchies => '{"q": "moving"}') $$);
SELECT try(12, $$ DROP VIEW moving; CREATE VIEW moving AS SELECT 4096::bigint AS value, 4096::bigint AS level $$,
    $$ kanon_check_hierarchy('moving', 'source', 'q') $$);
SELECT try(2, $$ DROP VIEW ladder; CREATE VIEW ladder AS SELECT value, 4096::bigint AS level FROM lines $$,
    $$ kanon_frontier('people', '{q}', '{2}', hierarchies => '{"q": "ladder"}') $$);
-- a population, while the source is read
SELECT try(12, $$ DROP VIEW population; CREATE VIEW population AS SELECT 4096::bigint AS q, n FROM people $$,
    $$ kanon_full_domain('source', 'target', '{q,n}', 2, hierarchies => '{"q": "moving"}', keep => '{i}', allow_identifying => '{i}', privacy => ARRAY[kanon_k_map('population')]) $$);
SELECT try(12, $$ DROP VIEW population; CREATE VIEW population AS SELECT 4096::bigint AS q, n FROM people $$,
    $$ kanon_risk('source', '{q,n}', population => 'population') $$);
-- a relation that is only looked at
SELECT try(12, $$ DROP VIEW source; CREATE VIEW source AS SELECT 4096::bigint AS q, n, i, name FROM people $$,
    $$ kanon_risk('source', '{q,n}', '{name}') $$);
SELECT try(12, $$ DROP VIEW moving; CREATE VIEW moving AS SELECT 4096::bigint AS value, 4096::bigint AS level $$,
    $$ kanon_risk('source', '{n}', '{q}', hierarchies => '{"q": "moving"}') $$);
CREATE TABLE released AS SELECT q, n FROM people;
SELECT try(12, $$ DROP TABLE released; CREATE TABLE released AS SELECT 4096::bigint AS q, n FROM people $$,
    $$ kanon_check_freeform('source', 'released', '{q,n}', 2) $$);
CREATE TABLE tree AS SELECT DISTINCT q AS k, 'all' AS p FROM people;
CREATE VIEW trapped_tree AS SELECT CASE trap(0) WHEN 0 THEN k END AS k, p FROM tree;
SELECT try(1, $$ ALTER TABLE stored ALTER q TYPE bigint USING 4096 $$,
    $$ kanon_hierarchy_from_fk('stored', 'q', 'built', 'trapped_tree', 'k', 'p') $$);
-- the target: what is verified is what was written
SELECT try(6, $$ ALTER TABLE target RENAME TO hidden; CREATE TABLE target AS SELECT q, n, i FROM people $$,
    $$ kanon_pattern_guided('people', 'target', '{q,n}', 2, keep => '{i}', allow_identifying => '{i}', hierarchies => '{"q": "ladder"}') $$);
-- a view whose rows wait to be written
CREATE TYPE waits AS (a int, b int);
CREATE VIEW waiting AS SELECT q, n, i, ROW(i, i)::waits AS w FROM people;
SELECT try(6, $$ DROP VIEW waiting; CREATE VIEW waiting AS SELECT q, n, i, ROW(i, i)::waits AS w FROM people $$,
    $$ kanon_pattern_guided('waiting', 'target', '{q,n}', 2, keep => '{i}', allow_identifying => '{i}', hierarchies => '{"q": "ladder"}') $$);
SELECT try(6, $$ ALTER TYPE waits ADD ATTRIBUTE c text $$,
    $$ kanon_pattern_guided('waiting', 'target', '{q,n}', 2, keep => '{w}', allow_identifying => '{w}', hierarchies => '{"q": "ladder"}') $$);

-- the source, while a domain's check says whether a suppressed cell may be NULL
CREATE DOMAIN checked AS int CHECK (trap(VALUE) IS NOT NULL);
CREATE TABLE guarded AS SELECT n::checked AS n, q FROM people;
SELECT try(1, $$ ALTER TABLE guarded ALTER q TYPE bigint USING 4096 $$,
    $$ kanon_pattern_guided('guarded', 'target', '{n,q}', 2) $$);
-- what the planner knows better than a view's definition is no change: an inlined function's typmod
CREATE FUNCTION short(value text) RETURNS varchar LANGUAGE sql IMMUTABLE AS 'SELECT value::varchar(5)';
CREATE VIEW inlined AS SELECT short(q) AS q, coalesce(NULL::varchar(5), q::varchar(5)) AS n, short(q) AS kept FROM people;
SELECT classes, row_count FROM kanon_pattern_guided('inlined', 'harmless', '{q,n}', 2, keep => '{kept}', allow_identifying => '{kept}');

-- the record: a table that has the name of kanon's own
SELECT try(3, $$ ALTER EXTENSION kanon DROP TABLE public.kanon_run_class; ALTER TABLE public.kanon_run_class RENAME TO hidden;
    CREATE TABLE public.kanon_run_class (run text, class text, pattern int8, row_count text, suppressed_cells text, tuple_diversity text, shown text) $$,
    $$ kanon_pattern_guided('source', 'target', '{q,n}', 2, keep => '{i}') $$);
SELECT try(3, $$ DROP EXTENSION kanon CASCADE $$,
    $$ kanon_pattern_guided('source', 'target', '{q,n}', 2, keep => '{i}') $$);

-- composite types: their columns cannot change while values are in memory
CREATE TYPE pair AS (a int, b int);
CREATE FUNCTION make_pair(a int, b int) RETURNS pair LANGUAGE plpgsql STABLE AS 'BEGIN RETURN ROW(a, b)::pair; END';
CREATE VIEW composed AS SELECT make_pair(1, i) AS one, ARRAY[make_pair(i, 2)] AS many, trap(i) AS i FROM people;
SELECT try(6, $$ ALTER TYPE pair ALTER ATTRIBUTE a TYPE text $$,
    $$ kanon_pattern_guided('composed', 'target', '{one,many}', 2, keep => '{i}', allow_identifying => '{i}') $$);
SELECT try(6, $$ ALTER TYPE pair ALTER ATTRIBUTE a TYPE text $$,
    $$ kanon_risk_columns('composed', '{many,i}') $$);
CREATE TYPE nested AS (inner_pair pair, n int);
CREATE FUNCTION make_nested(a int) RETURNS nested LANGUAGE plpgsql STABLE AS 'BEGIN RETURN ROW(ROW(a, 1)::pair, 2)::nested; END';
CREATE VIEW nesting AS SELECT make_nested(1) AS one, 'q' || i % 3 AS q, trap(i) AS i FROM people;
SELECT try(6, $$ ALTER TYPE pair ALTER ATTRIBUTE a TYPE text $$,
    $$ kanon_pattern_guided('nesting', 'target', '{one,q}', 2, keep => '{i}', allow_identifying => '{i}') $$);
CREATE VIEW paired AS SELECT make_pair(1, i % 2) AS one, 'q' || i % 3 AS q FROM people;
SELECT try(2, $$ ALTER TYPE pair ALTER ATTRIBUTE a TYPE text $$,
    $$ kanon_pattern_guided('paired', 'target', '{one,q}', 2, hierarchies => '{"q": "ladder"}') $$);

-- a publication's private tables are its owner's to alter: a refresh that cannot use them does without
SELECT kanon_create_publication('p', 'people', '{q,n}', 2, key => 'i', keep_releases => 2, stable => true);
UPDATE p_history SET digest = NULL; -- as if something had changed
SELECT status, row_count FROM kanon_refresh('p');
SELECT relname FROM pg_class WHERE relnamespace = 'gate_test'::regnamespace AND relname LIKE 'p\_%' ORDER BY 1;
ALTER TABLE p_types_2 ALTER kanon__pattern TYPE int8 USING 4096;
UPDATE p_history SET digest = NULL; -- as if something had changed
SELECT status, row_count FROM kanon_refresh('p');
ALTER TABLE p_types_3 ALTER kanon__class TYPE text;
UPDATE p_history SET digest = NULL; -- as if something had changed
SELECT status, row_count FROM kanon_refresh('p');
ALTER TABLE p_types_4 ALTER q TYPE int8 USING 4096;
UPDATE p_history SET digest = NULL; -- as if something had changed
SELECT status, row_count FROM kanon_refresh('p');
ALTER TABLE p_types_5 DROP kanon__rows;
UPDATE p_history SET digest = NULL; -- as if something had changed
SELECT status, row_count FROM kanon_refresh('p');
ALTER TABLE p_types_6 RENAME TO p_types;
CREATE VIEW p_types_6 AS SELECT q, n, 4096::int8 AS kanon__class, 4096::int8 AS kanon__pattern, 1::int8 AS kanon__rows FROM people;
UPDATE p_history SET digest = NULL; -- as if something had changed
SELECT status, row_count FROM kanon_refresh('p');
SELECT q, n, count(*) >= 2 AS k FROM p GROUP BY q, n ORDER BY q, n;
SELECT kanon_drop_publication('p');

-- nor can they change what is about to be published
CREATE ROLE kanon_test_gate;
GRANT ALL ON SCHEMA gate_test TO kanon_test_gate;
GRANT SELECT ON people TO kanon_test_gate;
SET ROLE kanon_test_gate;
CREATE TABLE mine AS SELECT * FROM people;
CREATE SEQUENCE tampered;
CREATE FUNCTION tamper(most int) RETURNS bool LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    staged regclass;
BEGIN
    FOR staged IN SELECT oid FROM pg_class WHERE relname LIKE 'kanon\_copy\_%' AND nextval('gate_test.tampered') <= most LOOP
        EXECUTE format('INSERT INTO %s (q, i, kanon__row, kanon__person, kanon__known) VALUES (''q0'', 1, 1, 1, true)', staged);
    END LOOP;
    RETURN true;
END $$;
SELECT kanon_create_publication('m', 'mine', '{q}', 2, key => 'i', keep_releases => 3, protect_successive => true);
UPDATE mine SET q = 'q0' WHERE i = 1;
ALTER TABLE m_rows_1 ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tampered ON m_rows_1 USING (gate_test.tamper(1));
UPDATE m_history SET digest = NULL; -- as if something had changed
SELECT status, error, message FROM kanon_refresh('m');
SELECT last_value > 1 FROM tampered;
-- nor keep kanon busy for ever
ALTER POLICY tampered ON m_rows_1 USING (gate_test.tamper(1000000));
UPDATE m_history SET digest = NULL; -- as if something had changed
SELECT status, error, message FROM kanon_refresh('m');
SELECT kanon_drop_publication('m');
RESET ROLE;

-- a key's equality is the operator, wherever its function is
CREATE SCHEMA gate_operators;
CREATE TYPE code AS ENUM ('1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12');
CREATE FUNCTION code_eq(code, code) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT enum_eq($1, $2)';
CREATE FUNCTION code_lt(code, code) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT enum_lt($1, $2)';
CREATE FUNCTION code_cmp(code, code) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT enum_cmp($1, $2)';
CREATE OPERATOR gate_operators.=== (LEFTARG = code, RIGHTARG = code, FUNCTION = code_eq);
CREATE OPERATOR gate_operators.<<< (LEFTARG = code, RIGHTARG = code, FUNCTION = code_lt);
CREATE OPERATOR CLASS code_ops DEFAULT FOR TYPE code USING btree AS
    OPERATOR 1 gate_operators.<<<, OPERATOR 3 gate_operators.===, FUNCTION 1 code_cmp(code, code);
CREATE TABLE coded AS SELECT q, i::text::code AS code FROM people;
SELECT kanon_create_publication('c', 'coded', '{q}', 2, key => 'code', keep_releases => 2, protect_successive => true);
UPDATE c_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('c');
SELECT kanon_drop_publication('c');

-- a type's own output function tells spellings apart, not one that has its name
CREATE EXTENSION citext;
CREATE DOMAIN shouted AS citext;
CREATE FUNCTION citextout(shouted) RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$;
CREATE TABLE shouts (word shouted);
INSERT INTO shouts VALUES ('a'), ('A'), ('b'), ('B');
SELECT classes, row_count FROM kanon_pattern_guided('shouts', 'spoken', '{word}', 2);

-- none of it has left anything
SELECT relname FROM pg_class WHERE relnamespace = 'gate_test'::regnamespace AND relname IN ('target', 'hidden', 'was', 'built');
DROP SCHEMA gate_test, gate_operators CASCADE;
DROP ROLE kanon_test_gate;
