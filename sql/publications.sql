-- publications: a view over the current release, what follows it and what it refuses
CREATE SCHEMA pub_test;
SET search_path = pub_test, public;
CREATE ROLE kanon_reader;
CREATE TABLE patients AS
SELECT i AS id, 'n' || i AS name, 1950 + i % 40 AS birth, 10000 + i % 7 AS zip, 'd' || i % 5 AS diagnosis
FROM generate_series(1, 2000) i;
-- what a history says, but for times
CREATE FUNCTION history(name text) RETURNS TABLE (release bigint, status text, row_count bigint, k bigint, cost float8,
                                                  held_persons bigint, error text, message text, relation regclass)
LANGUAGE sql AS $$
    SELECT release, status, row_count, k, cost, held_persons, error, message, relation
    FROM kanon_releases WHERE publication = name ORDER BY release
$$;

-- made, with all that belongs to it
SELECT kanon_create_publication('visits', 'patients', '{birth,zip}', 5, '{"keep": ["diagnosis"]}');
SELECT relname, relkind, reloptions, relacl FROM pg_class
WHERE relnamespace = 'pub_test'::regnamespace AND relname LIKE 'visits%' ORDER BY 1;
SELECT publication, published, source, quasi_identifiers, k, model, options, keep_releases, stable, protect_successive,
       key, release, refreshed_at IS NOT NULL AS refreshed FROM kanon_publications;
SELECT k, row_count FROM kanon_check('visits', '{birth,zip}');
SELECT attname FROM pg_attribute WHERE attrelid = 'visits_source'::regclass AND attnum > 0 ORDER BY attnum;
-- also where the planner would have everything in parallel workers (the setting's name before and from 16 on)
BEGIN;
SELECT count(set_config(name, 'regress', true)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT count(*) FROM kanon_publications;
SELECT count(*) FROM kanon_releases;
SELECT status FROM kanon_publication_status('visits');
SELECT status FROM kanon_publication_status('visits', '178000000 years');
COMMIT;

-- refreshed: what is granted, what depends on the view and who has it stay
GRANT SELECT ON visits TO kanon_reader;
CREATE VIEW by_diagnosis AS SELECT diagnosis, count(*) AS n FROM visits GROUP BY 1;
DELETE FROM patients WHERE id > 1500;
SELECT release, status, row_count, k FROM kanon_refresh('visits');
SELECT count(*), (SELECT sum(n) FROM by_diagnosis), has_table_privilege('kanon_reader', 'visits', 'SELECT') FROM visits;
SELECT * FROM history('pub_test.visits');
-- several releases are kept, then fewer
SELECT kanon_alter_publication('visits', keep_releases => 3);
UPDATE visits_history SET digest = NULL; -- as if something had changed
SELECT release FROM kanon_refresh('pub_test.visits');
UPDATE visits_history SET digest = NULL;
SELECT release FROM kanon_refresh('visits');
SELECT release, status, relation FROM history('pub_test.visits');
SELECT kanon_alter_publication('visits', keep_releases => 1);
UPDATE visits_history SET digest = NULL;
SELECT release FROM kanon_refresh('visits');
SELECT release, status, relation FROM history('pub_test.visits');
-- an old release that somebody made a view of stays, and is tried again
CREATE VIEW of_release AS SELECT * FROM visits_release_5;
UPDATE visits_history SET digest = NULL;
SELECT release FROM kanon_refresh('visits');
SELECT release, status FROM history('pub_test.visits') WHERE relation IS NOT NULL;
DROP VIEW of_release;
UPDATE visits_history SET digest = NULL;
SELECT release FROM kanon_refresh('visits');
SELECT release, status FROM history('pub_test.visits') WHERE relation IS NOT NULL;

-- renames are followed: of the source, its columns and schema, and of the view and its columns
ALTER TABLE patients RENAME COLUMN birth TO born;
ALTER TABLE patients RENAME TO people;
CREATE SCHEMA elsewhere;
ALTER TABLE people SET SCHEMA elsewhere;
ALTER VIEW visits RENAME TO stays;
ALTER VIEW stays RENAME COLUMN diagnosis TO finding;
UPDATE visits_history SET digest = NULL;
SELECT release, status, row_count FROM kanon_refresh('stays');
SELECT publication, source FROM kanon_publications;
SELECT attname FROM pg_attribute WHERE attrelid = 'stays'::regclass AND attnum > 0 ORDER BY attnum;
SELECT sum(n) FROM by_diagnosis;
ALTER SCHEMA elsewhere RENAME TO otherwhere;
UPDATE visits_history SET digest = NULL;
SELECT release, status, row_count FROM kanon_refresh('stays');

-- what is used cannot be dropped unnoticed, what is not can
ALTER TABLE otherwhere.people DROP COLUMN zip;
\set VERBOSITY terse
ALTER TABLE otherwhere.people ALTER COLUMN zip TYPE bigint;
\set VERBOSITY default
DROP TABLE otherwhere.people;
ALTER TABLE otherwhere.people DROP COLUMN name;
DROP EXTENSION kanon;

-- a refresh that fails is recorded, readers keep what they have
TRUNCATE otherwhere.people;
INSERT INTO otherwhere.people VALUES (1, 1950, 1, 'd');
SELECT * FROM kanon_refresh('stays');
SELECT count(*) FROM stays;
SELECT release, status, error, message, relation FROM history('pub_test.stays') ORDER BY release DESC LIMIT 2;
SELECT publication_name, status, release, failures, error FROM kanon_publication_status('stays');
CALL kanon_refresh_all();
SELECT publication_name, status, release, failures, error FROM kanon_publication_status('stays');
INSERT INTO otherwhere.people SELECT i, 1950, 1, 'd' || i % 2 FROM generate_series(1, 30) i;
CALL kanon_refresh_all();
SELECT publication_name, status, failures, error, age < '1 hour' AS young FROM kanon_publication_status('stays', '1 hour');
SELECT publication_name, status FROM kanon_publication_status(fail_if_older_than => '0');
SELECT kanon_publication_status('stays', '-1 s');
BEGIN;
CALL kanon_refresh_all();
ROLLBACK;

-- no value in what is recorded
CREATE TABLE raw (zip text, n text);
INSERT INTO raw SELECT '1', i % 3 FROM generate_series(1, 30) i;
CREATE VIEW cast_raw AS SELECT zip::int AS zip, n FROM raw;
SELECT kanon_create_publication('casted', 'cast_raw', '{zip,n}', 2);
UPDATE raw SET zip = 'secret value';
SELECT status, error, message FROM kanon_refresh('casted');
CREATE FUNCTION tell(t text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it is %', t USING ERRCODE = 'XX123'; END $$;
CREATE OR REPLACE VIEW cast_raw AS SELECT tell(zip) AS zip, n FROM raw;
SELECT status, error, message FROM kanon_refresh('casted');
SELECT kanon_drop_publication('casted');
SELECT count(*) FROM pg_class WHERE relname LIKE 'casted%';

-- columns that readers know do not become others
CREATE TABLE wide AS SELECT i % 3 AS a, i % 2 AS b, 'x' || i / 2 % 4 AS c, 'y' || i / 2 % 4 AS d FROM generate_series(1, 60) i;
SELECT kanon_create_publication('narrow', 'wide', '{a,b}', 3, '{"keep": ["c"]}');
SELECT kanon_alter_publication('narrow', options => '{"keep": ["d"]}');
SELECT kanon_alter_publication('narrow', options => '{"keep": ["d"]}', solve => false);
SELECT status, error, message FROM kanon_refresh('narrow');
SELECT kanon_alter_publication('narrow', options => '{"keep": ["c", "d"]}', k => 4);
SELECT status, k >= 4 AS k FROM kanon_refresh('narrow');
SELECT attname FROM pg_attribute WHERE attrelid = 'narrow'::regclass AND attnum > 0 ORDER BY attnum;
ALTER TABLE wide DROP COLUMN d;
SELECT kanon_alter_publication('narrow', k => 4000);
SELECT kanon_alter_publication('narrow', k => 4000, solve => false);
SELECT status, error, message FROM kanon_refresh('narrow');
SELECT kanon_alter_publication('narrow', k => 2, model => 'pattern_clustering', stable => false,
    options => '{"keep": ["c", "d"], "patterns": ["--", "-*", "**"], "method": "greedy"}');
SELECT status, row_count FROM kanon_refresh('narrow');
SELECT kanon_drop_publication('narrow');

-- default privileges give nobody the source, the history or a release
ALTER DEFAULT PRIVILEGES IN SCHEMA pub_test GRANT SELECT ON TABLES TO kanon_reader;
SELECT kanon_create_publication('open', 'wide', '{a,b}', 3, '{"keep": ["c"], "allow_identifying": ["c"]}', key => 'd', stable => true);
SELECT relname FROM pg_class WHERE relname LIKE 'open%' AND has_table_privilege('kanon_reader', oid, 'SELECT');
UPDATE open_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('open');
SELECT relname FROM pg_class WHERE relname LIKE 'open%' AND has_table_privilege('kanon_reader', oid, 'SELECT');
ALTER DEFAULT PRIVILEGES IN SCHEMA pub_test REVOKE SELECT ON TABLES FROM kanon_reader;
SELECT kanon_drop_publication('open');
-- and what belongs to it can live apart
CREATE SCHEMA back_room;
SELECT kanon_create_publication('apart', 'wide', '{a,b}', 3, private_schema => 'back_room');
SELECT relnamespace::regnamespace, count(*) FROM pg_class WHERE relname LIKE 'apart%' GROUP BY 1 ORDER BY relnamespace::regnamespace::text;
SELECT kanon_drop_publication('apart');

-- successive releases: who moves from class to class
CREATE TABLE visit AS SELECT i AS patient, i % 4 AS a, i % 5 AS b, 'n' || i % 3 AS note FROM generate_series(1, 400) i;
SELECT kanon_create_publication('moves', 'visit', '{a,b}', 4, '{"keep": ["note"], "mark": true}', keep_releases => 5, key => 'patient');
SELECT attname FROM pg_attribute WHERE attrelid = 'moves'::regclass AND attnum > 0 ORDER BY attnum;
SELECT attname FROM pg_attribute WHERE attrelid = 'moves_release_1'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum;
UPDATE visit SET b = (b + 1) % 5 WHERE patient % 100 < 3 AND patient < 300;
SELECT status, k, held_persons FROM kanon_refresh('moves');
-- an independent count
WITH pair AS (
    SELECT p.key, count(*) OVER (PARTITION BY p.class, q.class) AS n FROM moves_persons_1 p JOIN moves_persons_2 q USING (key))
SELECT count(*), count(*) FILTER (WHERE n < 4), min(n) FROM pair;
SELECT * FROM kanon_compare_releases('moves', 1, 2);
SELECT * FROM kanon_compare_releases('moves', 2, 1);
SELECT * FROM kanon_compare_releases('moves', 1, 1);
SELECT kanon_alter_publication('moves', protect_successive => true, dry_run => true);
SELECT kanon_drop_publication('moves');
SELECT kanon_create_publication('moves', 'visit', '{a,b}', 4, '{"keep": ["note"], "mark": true}', keep_releases => 5, key => 'patient', protect_successive => true);
UPDATE visit SET b = (b + 2) % 5 WHERE patient % 100 < 3 AND patient < 300;
SELECT status, k, row_count, held_persons FROM kanon_refresh('moves');
SELECT * FROM kanon_compare_releases('moves', 1, 2);
SELECT count(*) FROM moves WHERE kanon_pattern = '**';
SELECT kanon_alter_publication('moves', options => '{"keep": ["note"], "mark": true, "residual": "error"}');
SELECT status, row_count, held_persons FROM kanon_refresh('moves');
SELECT kanon_alter_publication('moves', options => '{"keep": ["note"], "mark": true, "residual": "drop"}');
-- those of one move are enough together
UPDATE visit SET b = 3 WHERE a = 1 AND b = 1 AND patient < 100;
SELECT status, row_count, held_persons > 0 AS more FROM kanon_refresh('moves');
SELECT persons_below_k, smallest >= 4 AS enough, moved >= 4 AS moved, moved_below_k FROM kanon_compare_releases('moves', 1, 4);
SELECT * FROM kanon_compare_releases('moves', 1, 77);
UPDATE visit SET patient = NULL WHERE patient = 7;
SELECT status, error, message FROM kanon_refresh('moves');
SELECT kanon_drop_publication('moves');

-- stable releases: who is in a class stays there
CREATE TABLE staff AS SELECT i AS id, i % 30 AS age, i % 11 AS zip FROM generate_series(1, 1000) i;
SELECT kanon_create_publication('loose', 'staff', '{age,zip}', 4, key => 'id', keep_releases => 2, stable => false);
SELECT kanon_create_publication('stable', 'staff', '{age,zip}', 4, key => 'id', keep_releases => 2, stable => true);
INSERT INTO staff SELECT 1000 + i, i % 30, i % 11 FROM generate_series(1, 500) i WHERE i % 3 > 0;
SELECT status, k >= 4 AS k FROM kanon_refresh('loose');
SELECT status, k >= 4 AS k FROM kanon_refresh('stable');
SELECT l.persons_below_k > 0 AS loose_moves, s.persons_below_k AS stable_moves
FROM kanon_compare_releases('loose', 1, 2) l, kanon_compare_releases('stable', 1, 2) s;
SELECT relname FROM pg_class WHERE relname LIKE 'stable\_types%' ORDER BY 1;
SELECT kanon_drop_publication('loose');
SELECT kanon_drop_publication('stable');

-- the same of every model that makes classes: those who shared one share one still;
-- the view keeps k and what the rules ask, and the record claims no optimum
CREATE TABLE flat AS SELECT i AS id, (i * i % 61 + 19) % 90 AS age, i % 11 AS zip, 'd' || i % 7 AS diagnosis FROM generate_series(1, 600) i;
CREATE TABLE flat_age AS SELECT i AS age, i / 10 * 10 || '+' AS decade, CASE WHEN i < 50 THEN 'young' ELSE 'old' END AS half FROM generate_series(0, 99) i;
CREATE TABLE flat_zip AS SELECT i AS zip, i / 4 || 'x' AS area FROM generate_series(0, 99) i;
CREATE FUNCTION near(model text, options jsonb) RETURNS TABLE (status text, loose boolean, stable bigint, k boolean, l boolean, proven boolean, claim text)
LANGUAGE plpgsql AS $$
DECLARE
    asked jsonb := options || '{"keep": ["diagnosis"]}';
BEGIN
    PERFORM kanon_create_publication('far', 'flat', '{age,zip}', 4, asked, model, key => 'id', keep_releases => 2, stable => false);
    PERFORM kanon_create_publication('close', 'flat', '{age,zip}', 4, asked, model, key => 'id', keep_releases => 2, stable => true);
    INSERT INTO flat SELECT i, (i * i % 83 + 7) % 90, i % 12, 'd' || i % 7 FROM generate_series(601, 800) i WHERE i % 3 > 0;
    PERFORM kanon_refresh('far');
    SELECT r.status INTO status FROM kanon_refresh('close') r;
    SELECT c.persons_below_k > 0 INTO loose FROM kanon_compare_releases('far', 1, 2) c;
    SELECT c.persons_below_k INTO stable FROM kanon_compare_releases('close', 1, 2) c;
    SELECT min(n) >= 4, min(d) >= 3 INTO k, l FROM (SELECT count(*) AS n, count(DISTINCT diagnosis) AS d FROM close GROUP BY age::text, zip::text
        HAVING NOT (max(age::text) IS NULL AND max(zip::text) IS NULL)) g;
    SELECT coalesce(u.proven, false) INTO proven FROM kanon_usefulness u ORDER BY run DESC LIMIT 1;
    SELECT right(x ->> 'says', 98) INTO claim FROM jsonb_array_elements(kanon_report_data((SELECT max(run) FROM kanon_usefulness)) -> 'statements') x WHERE x ->> 'about' = 'method';
    PERFORM kanon_drop_publication('far'), kanon_drop_publication('close');
    DELETE FROM flat WHERE id > 600;
    RETURN NEXT;
END $$;
\set h '{"hierarchies": {"age": "pub_test.flat_age", "zip": "pub_test.flat_zip"}}'
SELECT * FROM near('cluster', '{}');
SELECT * FROM near('cluster', :'h'::jsonb || jsonb_build_object('method', 'forest', 'privacy', ARRAY[kanon_distinct_l('diagnosis', 3)]));
SELECT * FROM near('cluster', '{"method": "gather", "show": "set", "residual": "drop"}');
SELECT * FROM near('full_domain', :'h'::jsonb || '{"suppression_limit": 0.02, "metric": "discernibility"}');
SELECT * FROM near('full_domain', :'h'::jsonb || jsonb_build_object('privacy', ARRAY[kanon_distinct_l('diagnosis', 3)]));
SELECT * FROM near('subtree', :'h');
SELECT * FROM near('subtree', :'h'::jsonb || jsonb_build_object('method', 'optimal', 'scheme', 'sibling', 'privacy', ARRAY[kanon_distinct_l('diagnosis', 3)]));
SELECT * FROM near('pattern_clustering', '{"method": "greedy", "patterns": ["-*", "*-", "-*", "**", "*-"]}');
-- another model finds classes that are none of its own: it begins anew, or with what it can make of them
SELECT kanon_create_publication('turns', 'flat', '{age,zip}', 4, :'h', 'cluster', key => 'id', keep_releases => 2, stable => true);
SELECT kanon_alter_publication('turns', model => 'full_domain');
SELECT status, k >= 4 AS k FROM kanon_refresh('turns');
SELECT kanon_alter_publication('turns', model => 'subtree');
SELECT status, k >= 4 AS k FROM kanon_refresh('turns');
SELECT persons_below_k FROM kanon_compare_releases('turns', 2, 3);
SELECT kanon_alter_publication('turns', model => 'cluster');
SELECT status, k >= 4 AS k FROM kanon_refresh('turns');
SELECT persons_below_k FROM kanon_compare_releases('turns', 3, 4);
SELECT kanon_drop_publication('turns');
-- where there are no classes to stay in, the error says so
SELECT kanon_create_publication('x', 'flat', '{age,zip}', 4, '{"method": "k_k"}', 'cluster', stable => true);
SELECT kanon_create_publication('x', 'flat', '{age,zip}', 4, '{}', 'freeform', stable => true);
SELECT kanon_create_publication('x', 'flat', '{zip}', 4, '{"m": 1, "transaction": "id"}', 'transactions', stable => true);

-- hierarchies and rules beyond k, with row types that stay in their classes
CREATE TABLE age_h AS SELECT i AS age, i / 10 * 10 || '+' AS decade FROM generate_series(0, 99) i;
CREATE TABLE clinic AS SELECT i AS id, i % 97 AS age, i % 5 AS zip, 'd' || i % 7 AS diagnosis, 'n' AS note FROM generate_series(1, 900) i;
SELECT kanon_create_publication('levels', 'clinic', '{age,zip}', 5,
    '{"keep": ["diagnosis"], "hierarchies": {"age": "pub_test.age_h"}, "weights": [1, 3]}', keep_releases => 2, key => 'id', stable => true);
SELECT kanon_create_publication('diverse', 'clinic', '{age,zip}', 5,
    jsonb_build_object('keep', ARRAY['diagnosis'], 'privacy', ARRAY[kanon_distinct_l('diagnosis', 3)]), keep_releases => 2, key => 'id', stable => true);
INSERT INTO clinic SELECT 1000 + i, i % 97, i % 5, 'd' || i % 7, 'n' FROM generate_series(1, 300) i WHERE i % 4 = 0;
DELETE FROM clinic WHERE id % 50 = 0;
SELECT status, k >= 5 AS k FROM kanon_refresh('levels');
SELECT status, k >= 5 AS k FROM kanon_refresh('diverse');
SELECT l.persons_below_k AS levels, d.persons_below_k AS diverse
FROM kanon_compare_releases('levels', 1, 2) l, kanon_compare_releases('diverse', 1, 2) d;
SELECT count(*) > 0 AS generalized FROM levels WHERE age LIKE '%+';
-- no row type left its class while that had 5 rows
SELECT bool_and(b.kanon__class IS NOT NULL) AS stayed, count(*) > 100 AS many
FROM (SELECT t.*, sum(n.rows) OVER (PARTITION BY kanon__class) AS there FROM levels_types_1 t
      JOIN (SELECT age, zip, count(*) AS rows FROM clinic GROUP BY 1, 2) n USING (age, zip)) a
LEFT JOIN levels_types_2 b ON b.age = a.age AND b.zip = a.zip AND b.kanon__pattern = a.kanon__pattern
WHERE a.there >= 5;
SELECT bool_and(l >= 3) FROM (SELECT count(DISTINCT diagnosis) AS l FROM diverse WHERE num_nonnulls(age, zip) > 0 GROUP BY age, zip) c;
SELECT attname FROM pg_attribute WHERE attrelid = 'diverse_source'::regclass AND attnum > 0 ORDER BY attnum;
ALTER TABLE clinic DROP COLUMN note;
SELECT kanon_alter_publication('diverse', protect_successive => true);
UPDATE clinic SET zip = (zip + 1) % 5 WHERE id IN (101, 102);
SELECT status, error, message FROM kanon_refresh('diverse');
-- any model will do
SELECT kanon_create_publication('whole', 'clinic', '{age,zip}', 5, '{"keep": ["diagnosis"], "hierarchies": {"age": "pub_test.age_h"},
    "suppression_limit": 0.1}', 'full_domain', key => 'id', keep_releases => 2);
UPDATE whole_history SET digest = NULL; -- as if something had changed
SELECT status, k >= 5 AS k FROM kanon_refresh('whole');
SELECT persons_below_k FROM kanon_compare_releases('whole', 1, 2);
SELECT kanon_drop_publication('whole');
-- nor does a level stand in the way in which all lines have come to agree: it was listed, and rows were shown by it
CREATE TABLE ages_h AS SELECT i AS age, i / 10 * 10 || '+' AS decade, i / 50 * 50 || '+' AS half FROM generate_series(0, 99) i;
SELECT kanon_alter_publication('levels', options => '{"keep": ["diagnosis"], "hierarchies": {"age": "pub_test.ages_h"}, "patterns": ["1-", "2-"]}', k => 50);
SELECT status, k >= 50 AS k FROM kanon_refresh('levels');
SELECT count(*) > 0 AS halves FROM levels_types_3 WHERE kanon__pattern = '2-';
UPDATE ages_h SET half = 'any';
SELECT status, k >= 50 AS k, error, message FROM kanon_refresh('levels');
-- nor one that is gone
UPDATE ages_h SET half = age / 50;
SELECT status FROM kanon_refresh('levels');
SELECT count(*) > 0 AS halves FROM levels_types_5 WHERE kanon__pattern = '2-';
SELECT kanon_alter_publication('levels', options => '{"keep": ["diagnosis"], "hierarchies": {"age": "pub_test.ages_h"}, "patterns": ["1-"]}');
ALTER TABLE ages_h DROP COLUMN half;
SELECT status, error, message FROM kanon_refresh('levels');
SELECT kanon_drop_publication('levels');
SELECT kanon_drop_publication('diverse');

-- roles of columns from their labels, anon's as they stand in the catalog
CREATE TABLE labelled (ssn text, zip text, birth int, diagnosis text, note text);
INSERT INTO labelled SELECT 's' || i, 'z' || i % 3, i % 4, 'd' || i % 5, 'n' FROM generate_series(1, 100) i;
LOAD 'kanon';
SELECT kanon_create_publication('lab', 'labelled', NULL, 3);
INSERT INTO pg_seclabel VALUES ('labelled'::regclass, 'pg_class'::regclass, 2, 'k_anonymity', ' Quasi Identifier '),
    ('labelled'::regclass, 'pg_class'::regclass, 3, 'k_anonymity', 'INDIRECT IDENTIFIER');
SECURITY LABEL FOR kanon ON COLUMN labelled.birth IS 'weight = 2.5';
SECURITY LABEL FOR kanon ON COLUMN labelled.diagnosis IS 'Sensitive';
SECURITY LABEL FOR kanon ON COLUMN labelled.note IS 'keep';
SECURITY LABEL FOR kanon ON COLUMN labelled.ssn IS 'identifier';
SECURITY LABEL FOR kanon ON COLUMN labelled.ssn IS 'identifier, keep';
SECURITY LABEL FOR kanon ON COLUMN labelled.ssn IS 'weight=x';
SECURITY LABEL FOR kanon ON COLUMN labelled.ssn IS 'nonsense';
SECURITY LABEL FOR kanon ON COLUMN labelled.ssn IS '';
SECURITY LABEL FOR kanon ON TABLE labelled IS 'keep';
SELECT kanon_create_publication('lab', 'labelled', NULL, 3);
SELECT quasi_identifiers, options FROM kanon_publications WHERE publication = 'pub_test.lab';
SELECT kanon_create_publication('lab2', 'labelled', '{zip}', 3, '{"keep": ["ssn"]}');
SECURITY LABEL FOR kanon ON COLUMN labelled.note IS 'identifier';
SELECT status, error, message FROM kanon_refresh('lab');
SECURITY LABEL FOR kanon ON COLUMN labelled.note IS NULL;
SELECT status FROM kanon_refresh('lab');
SELECT kanon_drop_publication('lab');
DELETE FROM pg_seclabel WHERE provider = 'k_anonymity';

-- bad input
-- hints that list what is known grow with kanon: what comes first of them will do
CREATE FUNCTION said(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'nothing';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' ', SQLSTATE, SQLERRM, regexp_replace(hint, '(Known options: method, patterns|''pattern_clustering'', ''pattern_guided''|''greedy'', ''ilp'').*', '\1 ...'));
END $$;
SELECT said($$SELECT kanon_create_publication('x', 'wide', '{a}', 3, '{"kep": ["c"]}')$$);
SELECT said($$SELECT kanon_create_publication('x', 'wide', '{a}', 3, '{"target": "c"}')$$);
SELECT said($$SELECT kanon_create_publication('x', 'wide', '{a}', 3, '{"replace": true}')$$);
SELECT said($$SELECT kanon_create_publication('x', 'wide', '{a}', 3, '["keep"]')$$);
SELECT said($$SELECT kanon_create_publication('x', 'wide', '{a}', 3, '{"method": "none"}')$$);
SELECT left(said($$SELECT kanon_create_publication('x', 'wide', '{a}', 3, model => 'nobody')$$), 50);
SELECT left(said($$SELECT kanon_create_publication('x', 'wide', '{a}', 3, model => 'check')$$), 50);
SELECT said($$SELECT kanon_create_publication('x', 'wide', '{a}', 3, model => 'pattern_clustering')$$);
SELECT kanon_refresh('nobody');
SELECT kanon_refresh('wide');
SELECT kanon_refresh('a.b.c.d');
-- names longer than any, which would take minutes to divide
SELECT kanon_refresh(repeat('"', 10000001));
SELECT persons FROM kanon_check_linked('pg_class', jsonb_build_object(repeat('"', 10000001), jsonb '{}'), 2);
SELECT cost FROM kanon_pattern_guided('pg_class', repeat('"', 10000001), '{relname}', 2);
SELECT kanon_patterns('{a,b}', together => ARRAY[repeat('"', 10000001)]);
SELECT kanon_refresh(NULL);
SELECT kanon_refresh('stays', NULL);
SELECT kanon_drop_publication('nobody');
SELECT kanon_alter_publication('nobody', k => 3);
SELECT kanon_publication_status('nobody');
SELECT kanon_compare_releases('stays', 1, 2);
SELECT kanon_compare_releases('stays', NULL, 2);
SELECT kanon_create_publication('wide', 'wide', '{a}', 3);
-- a view that was dropped, and one that has its name since: what to do is told, with or without the schema
SELECT kanon_create_publication('gone', 'wide', '{a}', 3);
DROP VIEW gone;
SELECT kanon_refresh('gone');
CREATE VIEW gone AS SELECT 1 AS x;
SELECT kanon_refresh('gone');
SELECT kanon_drop_publication('gone');
SELECT * FROM gone;
DROP VIEW gone;
SELECT kanon_create_publication('nowhere.x', 'wide', '{a}', 3);
SELECT kanon_create_publication('x', 'wide', '{a}', 3, private_schema => 'nowhere');
SELECT kanon_create_publication('x.', 'wide', '{a}', 3);
SELECT kanon_create_publication(NULL, 'wide', '{a}', 3);
SELECT kanon_create_publication('x', NULL, '{a}', 3);
SELECT kanon_create_publication('x', 'wide', '{nobody}', 3);
SELECT kanon_create_publication('x', 'wide', '{a}', 1);
SELECT kanon_create_publication('x', 'wide', '{a}', NULL);
SELECT kanon_create_publication('x', 'wide', '{a}', 3000);
SELECT kanon_create_publication('x', 'wide', '{a}', 3, NULL);
SELECT kanon_create_publication('x', 'wide', '{a}', 3, '{"keep": ["nobody"]}');
SELECT kanon_create_publication('x', 'wide', '{a}', 3, keep_releases => 0);
SELECT kanon_create_publication('x', 'wide', '{a}', 3, protect_successive => true);
SELECT kanon_create_publication('x', 'wide', '{a}', 3, key => 'nobody');
SELECT kanon_create_publication('x', 'wide', '{a}', 3, key => 'a');
SELECT kanon_create_publication('x', 'wide', '{a}', 3, '{"keep": ["c"]}', key => 'c');
CREATE TEMP TABLE fleeting AS SELECT 1 AS a;
SELECT kanon_create_publication('x', 'fleeting', '{a}', 3);
SELECT count(*) FROM pg_class WHERE relnamespace = 'pub_test'::regnamespace AND relname ~ '^x';
SELECT kanon_create_publication('x', 'wide', '{a}', 3, model => 'check_freeform');

-- every kind of model that makes classes; one that makes none is refused
CREATE TABLE many AS SELECT i AS id, i % 30 AS a, i % 7 AS b, 'd' || i % 3 AS d FROM generate_series(1, 200) i;
SELECT kanon_create_publication('by_' || model, 'many', '{a,b}', 4, options::jsonb || '{"keep": ["d"]}', model)
FROM (VALUES ('full_domain', '{"suppression_limit": 0.2}'), ('cluster', '{"method": "mondrian"}'),
             ('pattern_clustering', '{"patterns": ["-*", "**"], "method": "greedy"}')) s (model, options);
DELETE FROM many WHERE id % 10 = 0;
SELECT r.status, r.row_count, r.k >= 4 AS k
FROM kanon_publications p CROSS JOIN LATERAL kanon_refresh(publication) r WHERE publication ~ '\.by_' ORDER BY publication;
SELECT kanon_drop_publication(publication) FROM kanon_publications WHERE publication ~ '\.by_';
SELECT kanon_create_publication('x', 'many', '{a,b}', 4, model => 'freeform', key => 'id');
SELECT count(*) FROM pg_class WHERE relnamespace = 'pub_test'::regnamespace AND relname ~ '^x';

-- a function that the extension's owner adds under a model's name is not what a publication runs
CREATE TABLE planted (who text);
CREATE FUNCTION public.kanon_cluster(source regclass, target text, quasi_identifiers name[], k bigint) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pub_test.planted VALUES (current_user);
    RAISE EXCEPTION 'planted';
END $$;
ALTER EXTENSION kanon ADD FUNCTION public.kanon_cluster(regclass, text, name[], bigint);
SELECT kanon_create_publication('by_cluster', 'many', '{a,b}', 4, '{"method": "mondrian"}', 'cluster');
UPDATE by_cluster_history SET digest = NULL; -- as if something had changed
SELECT status, k >= 4 AS k FROM kanon_refresh('by_cluster');
SELECT count(*) FROM planted;
SELECT kanon_drop_publication('by_cluster');
ALTER EXTENSION kanon DROP FUNCTION public.kanon_cluster(regclass, text, name[], bigint);
DROP FUNCTION public.kanon_cluster(regclass, text, name[], bigint);

-- a reader tells suppressed cells from NULLs by their mark: so do the classes that are compared
CREATE TABLE marked AS SELECT i AS id, 'a' AS a, CASE WHEN i > 6 THEN 'b' || i END AS b FROM generate_series(1, 12) i;
SELECT kanon_create_publication('marks', 'marked', '{a,b}', 5, '{"mark": true, "patterns": ["--", "-*"]}', key => 'id',
    protect_successive => true, keep_releases => 2);
SELECT count(*), min(n) FROM (SELECT count(*) AS n FROM marks_persons_1 GROUP BY class) c;
UPDATE marked SET b = CASE id WHEN 1 THEN 'b1' END WHERE id IN (1, 8);
SELECT status, row_count, k, held_persons FROM kanon_refresh('marks');
SELECT min(n) FROM (SELECT count(*) AS n FROM marks WHERE a IS NOT NULL GROUP BY a, b, kanon_pattern) c;
SELECT persons_below_k FROM kanon_compare_releases('marks', 1, 2);
SELECT kanon_drop_publication('marks');

-- a source that is dropped in spite of all is reported; so is the view
DROP TABLE otherwhere.people CASCADE;
SELECT status, error, message FROM kanon_refresh('stays');
SELECT publication_name, status, failures, error FROM kanon_publication_status('stays');
SELECT kanon_alter_publication('stays', k => 3);
SELECT source FROM kanon_publications;
DROP VIEW stays CASCADE;
SELECT kanon_refresh('pub_test.stays');
SELECT kanon_alter_publication('pub_test.stays', k => 3);
SELECT kanon_drop_publication('pub_test.stays');
SELECT count(*) FROM kanon_publications;
BEGIN READ ONLY;
SELECT kanon_refresh('nobody');
ROLLBACK;
-- odd names
CREATE TABLE "Odd ""Table" AS SELECT i % 3 AS "Zip ""Code", 'x' AS "k,v", i AS "Key" FROM generate_series(1, 60) i;
SELECT kanon_create_publication('"The ""View"', '"Odd ""Table"', ARRAY['Zip "Code'], 3, '{"keep": ["k,v"]}', key => 'Key', stable => true,
    protect_successive => true);
UPDATE "The ""View_history" SET digest = NULL; -- as if something had changed
SELECT status, row_count FROM kanon_refresh('"The ""View"');
SELECT publication, k FROM kanon_publications;
SELECT kanon_drop_publication('"The ""View"');
-- names as long as they come
CREATE TABLE long AS SELECT i % 3 AS a, i AS id FROM generate_series(1, 60) i;
SELECT kanon_create_publication(repeat('v', 63), 'long', '{a}', 3, key => 'id');
SELECT kanon_create_publication(repeat('v', 62) || 'w', 'long', '{a}', 3, key => 'id');
SELECT status FROM kanon_refresh(repeat('v', 63));
SELECT status FROM kanon_refresh(repeat('v', 62) || 'w');
SELECT kanon_drop_publication(repeat('v', 63)), kanon_drop_publication(repeat('v', 62) || 'w');
-- a key counts persons: ten rows of one person are no class of ten
CREATE TABLE visits AS SELECT CASE WHEN i <= 10 THEN 999 ELSE i END AS pid, CASE WHEN i <= 10 THEN 'rare' ELSE 'c' || i % 3 END AS city, i % 4 AS dx
    FROM generate_series(1, 400) i;
SELECT kanon_create_publication('by_person', 'visits', '{city}', 5, '{"keep": ["dx"]}', key => 'pid');
SELECT city, count(*) FROM by_person GROUP BY 1 ORDER BY 1;
SELECT jsonb_path_query(options, '$.privacy[*].says') FROM kanon_usefulness WHERE target::text LIKE '%by_person%' ORDER BY run DESC LIMIT 1;
-- unless its owner says so, or every row has a person of its own, or the rule is there
SELECT kanon_create_publication('by_row', 'visits', '{city}', 5, '{"keep": ["dx"], "count_rows": true}', key => 'pid');
SELECT count(*) FROM by_row WHERE city = 'rare';
SELECT kanon_alter_publication('by_row', drop_options => '{count_rows}', protect_successive => true);
SELECT status FROM kanon_refresh('by_row');
SELECT count(*) FROM by_row WHERE city = 'rare';
CREATE VIEW single AS SELECT * FROM visits WHERE pid <> 999;
SELECT kanon_create_publication('by_single', 'single', '{city}', 5, '{"keep": ["dx"]}', key => 'pid');
SELECT options ? 'privacy' FROM kanon_usefulness WHERE target::text LIKE '%by_single%';
CREATE OR REPLACE VIEW single AS SELECT * FROM visits;
SELECT status FROM kanon_refresh('by_single');
SELECT kanon_alter_publication('by_single', stable => false);
SELECT status FROM kanon_refresh('by_single');
SELECT kanon_alter_publication('by_single', stable => true);
SELECT status FROM kanon_refresh('by_single');
SELECT count(*) FROM by_single WHERE city = 'rare';
SELECT kanon_create_publication('by_rule', 'visits', '{city}', 5, jsonb_build_object('privacy', jsonb_build_array(kanon_subject('pid'))), key => 'pid');
-- a rehearsal writes nothing (the next run has the next number), and looks at kept columns and keys all the same
CREATE TABLE beds AS SELECT i AS pid, 'c' || i % 3 AS city, i % 4 AS dx, 'room ' || i AS at FROM generate_series(1, 400) i;
SELECT kanon_create_publication('by_bed', 'beds', '{city}', 5, '{"keep": ["dx"]}', key => 'pid');
SELECT max(run) AS run FROM kanon_usefulness \gset
SELECT kanon_alter_publication('by_bed', k => 6, dry_run => true);
SELECT kanon_alter_publication('by_bed', set_options => '{"keep": ["at"]}', dry_run => true);
SELECT kanon_alter_publication('by_bed', k => 200, set_options => '{"max_gcp": 0.1}', dry_run => true);
UPDATE beds SET dx = 9 WHERE pid = 1;
SELECT status FROM kanon_refresh('by_bed');
SELECT max(run) - :run AS runs FROM kanon_usefulness;
UPDATE beds SET pid = 2 WHERE pid = 1;
CREATE UNIQUE INDEX ON beds (pid) WHERE pid > 2;
CREATE UNIQUE INDEX ON beds (pid, at);
SELECT kanon_alter_publication('by_bed', k => 6, dry_run => true);
UPDATE beds SET pid = NULL WHERE pid = 2;
SELECT kanon_alter_publication('by_bed', k => 6, dry_run => true);
UPDATE beds SET pid = length(at) - 5000 - dx WHERE pid IS NULL;
CREATE UNIQUE INDEX ON beds (pid);
SELECT kanon_alter_publication('by_bed', k => 6, dry_run => true);

SET client_min_messages = warning;
DROP SCHEMA pub_test, otherwhere, back_room CASCADE;
DROP ROLE kanon_reader;
