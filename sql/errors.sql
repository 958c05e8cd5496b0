-- bad input: one clear error with its SQLSTATE and a hint, and nothing written
CREATE SCHEMA error_test;
SET search_path = error_test, public;
CREATE TABLE t (a int, b text, c numeric, j json, p point, x xml, gone int);
ALTER TABLE t DROP gone;
INSERT INTO t SELECT i % 2, 'b' || i % 3, i % 2, '{}', '(0,0)', '<a/>' FROM generate_series(1, 30) i;
CREATE VIEW v AS SELECT * FROM t;
CREATE VIEW vv AS SELECT * FROM v;
CREATE TABLE taken (a int);
CREATE VIEW taken_view AS SELECT 1 AS a;
CREATE SEQUENCE s;
CREATE TYPE comp AS (a int);
CREATE INDEX t_a ON t (a);
CREATE TABLE used (a int);
CREATE VIEW uses AS SELECT * FROM used;
CREATE TABLE secured (a int);
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE TABLE small AS SELECT 1 AS a FROM generate_series(1, 3);
CREATE TABLE parted (a int) PARTITION BY LIST (a);
CREATE TABLE part PARTITION OF parted DEFAULT;
CREATE TABLE named (a int, kanon_pattern text);

CREATE FUNCTION try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; hint text; detail text;
BEGIN
    EXECUTE 'SELECT FROM ' || call;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RETURN format(E'%s: %s%s\nHINT: %s', SQLSTATE, message, coalesce(E'\nDETAIL: ' || nullif(detail, ''), ''), hint);
END $$;
\pset format unaligned
\pset tuples_only on

-- what is missing
SELECT try($$ kanon_pattern_guided(NULL, 'o', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', NULL, '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', NULL, 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,NULL}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{{a},{b}}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', NULL) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, method => NULL) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, residual => NULL) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, mark => NULL) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, replace => NULL) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, dry_run => NULL) $$);

-- columns
SELECT try($$ kanon_pattern_guided('t', 'o', '{nope}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{A}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, keep => '{nope}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, categorical => '{b}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, keep => '{b,b}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, keep => '{b}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{gone}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{........pg.dropped.7........}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{ctid}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, keep => '{xmin}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{tableoid}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{j}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{p}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{x}', 5) $$);
SELECT try($$ kanon_pattern_guided('named', 'o', '{a}', 5, keep => '{kanon_pattern}', mark => true) $$);
DO $$ BEGIN EXECUTE 'CREATE TABLE many (' || (SELECT string_agg('c' || i || ' int', ',') FROM generate_series(1, 65) i) || ')'; END $$;
SELECT try(format('kanon_pattern_guided(%L, %L, %L, 5)', 'many', 'o',
    (SELECT array_agg('c' || i) FROM generate_series(1, 65) i)));

-- k
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 1) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 0) $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', -5) $$);
SELECT try($$ kanon_pattern_guided('small', 'o', '{a}', 4) $$);
SELECT try($$ kanon_pattern_guided('small', 'o', '{a}', 9223372036854775807) $$);
SELECT try($$ kanon_pattern_guided('small', NULL, '{a}', 4, dry_run => true) $$);

-- patterns
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, patterns => '{}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, patterns => '{-}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, patterns => '{--,---}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, patterns => '{-x}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, patterns => '{-ä}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, patterns => '{""}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, patterns => '{NULL}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, patterns => '{{--},{**}}') $$);

-- weights
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{1}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{1,-1}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{1,NaN}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{Infinity,1}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{1e308,1e308}') $$);
SELECT try($$ kanon_cluster('t', 'o', '{a,b}', 3, method => 'triples', weights => '{1e289,1}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{1,NULL}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{0,0}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{"a": 2, "bb": 1}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{"a": -1}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{"a": "2"}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{"a": null}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{"a": 0, "b": 0}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '2') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{a,b}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{{1,2}}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '{a: 2}') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a,b}', 5, weights => '[1,[2]]') $$);
SELECT try($$ kanon_freeform('t', 'o', '{a,b}', 5, weights => '{"c": 2}') $$);

-- words
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, method => 'magic') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, method => 'GREEDY') $$);
SELECT try($$ kanon_pattern_guided('t', 'o', '{a}', 5, residual => 'keep') $$);

-- sources
SELECT try($$ kanon_pattern_guided('nope', 'o', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('s', 'o', '{last_value}', 5) $$);
SELECT try($$ kanon_pattern_guided('comp', 'o', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t_a', 'o', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided(4294967295, 'o', '{a}', 5) $$);

-- targets
SELECT try($$ kanon_pattern_guided('t', 'taken', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'taken_view', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'taken_view', '{a}', 5, replace => true) $$);
SELECT try($$ kanon_pattern_guided('t', 'parted', '{a}', 5, replace => true) $$);
SELECT try($$ kanon_pattern_guided('t', 'part', '{a}', 5, replace => true) $$);
SELECT try($$ kanon_pattern_guided('t', 's', '{a}', 5, replace => true) $$);
SELECT try($$ kanon_pattern_guided('t', 'comp', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 't', '{a}', 5, replace => true) $$);
SELECT try($$ kanon_pattern_guided('t', 't', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('v', 't', '{a}', 5, replace => true) $$);
SELECT try($$ kanon_pattern_guided('vv', 't', '{a}', 5, replace => true) $$);
SELECT try($$ kanon_pattern_guided('parted', 'part', '{a}', 5, replace => true) $$);
SELECT try($$ kanon_pattern_guided('t', 'used', '{a}', 5, replace => true) $$);
SELECT try($$ kanon_pattern_guided('t', 'secured', '{a}', 5, replace => true) $$);
SELECT try($$ kanon_pattern_guided('t', 'nowhere.o', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'other.public.o', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'a b c', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', '', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'a.b.c.d', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'pg_catalog.o', '{a}', 5) $$);
CREATE ROLE kanon_test_nobody;
GRANT USAGE ON SCHEMA error_test TO kanon_test_nobody;
GRANT SELECT ON t TO kanon_test_nobody;
SET ROLE kanon_test_nobody;
SELECT try($$ kanon_pattern_guided('t', 'error_test.o', '{a}', 5) $$);
SELECT try($$ kanon_pattern_guided('t', 'taken', '{a}', 5, replace => true) $$);
RESET ROLE;
GRANT CREATE ON SCHEMA error_test TO kanon_test_nobody;
SET ROLE kanon_test_nobody;
SELECT try($$ kanon_pattern_guided('t', 'taken', '{a}', 5, replace => true) $$);
RESET ROLE;

-- memory
SET kanon.max_memory = '1MB';
CREATE TABLE large AS SELECT i AS a, i % 1000 AS b FROM generate_series(1, 100000) i;
SELECT regexp_replace(try($$ kanon_pattern_guided('large', 'o', '{a,b}', 5) $$), '\d+ kB more, with \d+ kB', 'N kB more, with N kB');
RESET kanon.max_memory;
SET kanon.max_memory = '1kB';

-- nothing of all that was written or recorded
SELECT relname FROM pg_class WHERE relnamespace = 'error_test'::regnamespace AND (relname = 'o' OR relname LIKE 'kanon%');
SELECT count(*) FROM kanon_usefulness WHERE target LIKE 'error_test.%';

-- a message repeats the beginning of what was given, not all of ten million characters
CREATE TABLE long_test (a int, b date);
CREATE FUNCTION say(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; hint text; detail text;
BEGIN
    EXECUTE 'SELECT FROM ' || call USING repeat('ä', 5000000), repeat('*', 10000000);
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RETURN format('%s: %s%s', SQLSTATE, regexp_replace(regexp_replace(message, 'ä{9,}', 'ä…'), '\*{9,}', '*…'),
        CASE WHEN length(message) + length(hint) + length(detail) > 1000 THEN ' AND SO ON' END);
END $$;
SELECT say(call) FROM unnest(ARRAY[
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, patterns => ARRAY[$2]) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, patterns => ARRAY['ä' || $2]) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, method => $1) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, residual => $1) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, level_cost => $1) $$,
    $$ kanon_pattern_guided('long_test', '"' || $1, '{a}', 2) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, rules => kanon_rules(never => ARRAY['b'])) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a,b}', 2, rules => kanon_rules(together => ARRAY[$1])) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a,b}', 2, rules => kanon_rules(together => ARRAY['a,"' || $1])) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a,b}', 2, rules => kanon_rules(implies => ARRAY[$1 || '->b'])) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a,b}', 2, rules => kanon_rules(implies => ARRAY[$1])) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a,b}', 2, rules => jsonb_build_object($1, 1)) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, hierarchies => jsonb_build_object($1, 'h')) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, hierarchies => jsonb_build_object('a', '"' || $1)) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, hierarchies => jsonb_build_object('a', repeat(' ', 1000000) || 'h')) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, privacy => ARRAY[jsonb_build_object('rule', $1)]) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, privacy => ARRAY[jsonb_build_object('rule', 'subject', $1, 1)]) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, privacy => ARRAY[jsonb_build_object('rule', 'subject', 'column', $1)]) $$,
    $$ kanon_pattern_guided('long_test', 'o', '{a}', 2, privacy => ARRAY[jsonb_build_object('rule', 'k_map', 'population', $1)]) $$,
    $$ kanon_cluster('long_test', 'o', '{a}', 2, method => $1) $$,
    $$ kanon_cluster('long_test', 'o', '{a}', 2, 'mondrian', show => $1) $$,
    $$ kanon_freeform('long_test', 'o', '{a}', 2, method => $1) $$,
    $$ kanon_full_domain('long_test', 'o', '{a}', 2, metric => $1) $$,
    $$ kanon_pattern_clustering('long_test', 'o', '{a}', 2, patterns => ARRAY[$2]) $$,
    $$ kanon_describe($2, '{a}') $$,
    $$ kanon_patterns('{a,b}', together => ARRAY[$1]) $$,
    $$ kanon_t_closeness('a', 0.5, $1) $$,
    $$ kanon_hierarchy_date('long_test', 'b', 'o', ARRAY[$1]) $$,
    $$ kanon_create_publication('"' || $1, 'long_test', '{a}', 2) $$,
    $$ kanon_create_publication('p', 'long_test', '{a}', 2, model => $1) $$,
    $$ kanon_create_publication('p', 'long_test', '{a}', 2, options => jsonb_build_object($1, 1)) $$,
    $$ kanon_create_publication('p', 'long_test', '{a}', 2, options => jsonb_build_object('method', $1)) $$,
    $$ kanon_refresh('"' || $1) $$,
    $$ kanon_refresh($1) $$]) AS call;

\pset tuples_only off
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA error_test CASCADE;
DROP ROLE kanon_test_nobody;

-- names that are nearly right, and what is meant
CREATE SCHEMA near_test;
SET search_path = near_test, public;
CREATE TABLE person (birth_year int, "Zip" text, sex text, diagnosis text);
INSERT INTO person SELECT 1900 + i % 5, 'z' || i % 3, 'f', 'd' || i % 3 FROM generate_series(1, 60) i;
CREATE TABLE zip_h AS SELECT DISTINCT "Zip" AS value, left("Zip", 1) AS level1 FROM person;
\set VERBOSITY default
SET client_min_messages = notice;
SELECT FROM kanon_pattern_guided('person', 'o', '{birthyear,sex}', 5);
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year,zip}', 5);
SELECT FROM kanon_pattern_guided('person', 'o', '{diagnostics}', 5);
SELECT FROM kanon_pattern_guided('person', 'o', '{blood_group}', 5);
SELECT FROM kanon_pattern_guided('person', 'o', '{sex}', 5, keep => '{Diagnosis}');
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year}', 5, categorical => '{birth-year}');
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year}', 5, keep => '{diagnosis}', class_column => 'diagnose');
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year}', 5, keep => '{diagnosis}', allow_identifying => '{diagnosi}');
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year}', 5, keep => '{diagnosis}', privacy => ARRAY[kanon_distinct_l('diagnoses', 2)]);
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year,sex}', 5, rules => kanon_rules(never => '{birthyear}'));
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year,Zip}', 5, hierarchies => '{"zip": "zip_h"}');
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year,Zip}', 5, hierarchies => '{"Zip": "zipp_h"}');
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year,Zip}', 5, hierarchies => '{"Zip": "near_test.zi_h"}');
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year,Zip}', 5, hierarchies => '{"Zip": "public.zip_h"}');
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year}', 5, method => 'gredy');
SELECT FROM kanon_pattern_guided('person', 'o', '{birth_year}', 5, residual => 'dropp');
SELECT FROM kanon_full_domain('person', 'o', '{birth_year}', 5, method => 'flush');
SELECT FROM kanon_freeform('person', 'o', '{birth_year}', 5, method => 'sort-greedy');
SELECT FROM kanon_create_publication('p', 'person', '{birth_year}', 5, model => 'full-domain');
SELECT FROM kanon_create_publication('p', 'person', '{birth_year}', 5, options => '{"keeps": ["diagnosis"]}');
SELECT FROM kanon_create_publication('p', 'person', '{birth_year}', 5, key => 'diagnosiss');

-- options of a publication in the wrong form: which, and how it is written
CREATE FUNCTION form(options jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; hint text;
BEGIN
    PERFORM kanon_create_publication('p', 'person', '{birth_year}', 5, options);
    RETURN 'fits';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' ', SQLSTATE, message, hint);
END $$;
SELECT left(o::text, 76) AS options, form(o) FROM unnest(ARRAY['{"keep": "icd"}', '{"keep": {"icd": 1}}', '{"mark": "yes"}', '{"mark": 1}', '{"gap": "0.1"}', '{"gap": [0.1]}',
    '{"method": 3}', '{"method": ["greedy"]}', '{"weights": 2}', '{"privacy": {"rule": "distinct_l"}}', '{"hierarchies": "zip_h"}', '{"hierarchies": []}',
    '{"time_limit": 60}', '{"time_limit": "xx"}', '{"seed": 1e30}', '{"seed": 1.5}', '{"gap": 1e400}', '{"weights": [1e400]}', '{"weights": ["a", 1]}', '{"keep": [1]}', '{"patterns": [["-"]]}', '{"patterns": "-"}', '{"keep": null, "gap": 0.5, "mark": true, "method": "greedy", "weights": [2]}']::jsonb[]) AS o;

-- capitals outside quotes are small letters, as in SQL
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('person', 'Person_Public', '{birth_year}', 5);
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('person', '"Person_Public"', '{birth_year}', 5);
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('person', 'near_test."Other.P"', '{birth_year}', 5);
SELECT relname FROM pg_class WHERE relnamespace = 'near_test'::regnamespace AND relname ILIKE '%p%' AND relkind = 'r' ORDER BY relname COLLATE "C";
SET client_min_messages = warning;
DROP SCHEMA near_test CASCADE;

-- what a slow machine tells of its progress is in no output: the Makefile sees to that
SHOW kanon.progress;
