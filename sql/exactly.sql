-- what is told and in which order, exactly: figures of the record and the page, ties, workers
CREATE SCHEMA exactly_test;
SET search_path = exactly_test, public;

-- the record has every figure that a run has; null are those that it cannot have
CREATE TABLE people AS
SELECT i % 3 AS a, 'b' || i % 4 AS b, i % 2 AS c, 'd' || i % 5 AS d FROM generate_series(1, 60) i;
SELECT count(*) FROM kanon_pattern_guided('people', 'o', '{a,b,c}', 7, keep => '{d}', class_column => 'd');
SELECT string_agg(key, ' ' ORDER BY key) AS without FROM kanon_usefulness u, jsonb_each(to_jsonb(u))
WHERE value = 'null' AND run = (SELECT max(run) FROM kanon_usefulness);
SELECT row_count, row_types, k, method, classes, class_min, class_avg, class_max,
       source, target, peak_memory BETWEEN 1000 AND 10000000 AS memory, read_ms > 0 AND solve_ms > 0 AND write_ms > 0 AND verify_ms > 0 AS times,
       started_at BETWEEN now() - interval '1 hour' AND clock_timestamp() AS clock, patterns
FROM kanon_usefulness WHERE run = (SELECT max(run) FROM kanon_usefulness);
SELECT to_jsonb(c) - 'run' AS figures FROM kanon_columns c WHERE run = (SELECT max(run) FROM kanon_usefulness) ORDER BY 1;

-- times, as the page tells them
SELECT max(run) AS run FROM kanon_usefulness \gset
UPDATE kanon_run SET read_ms = 3.3, solve_ms = 1000, write_ms = 999.4, verify_ms = 120000 WHERE run = :run;
SELECT m[1] AS key, m[2] AS shown FROM regexp_matches(kanon_report(:run), 'data-of=''run.(\w+_ms)'' value=''[^'']*''>([^<]*)<', 'g') AS m ORDER BY 1;
UPDATE kanon_run SET read_ms = 10, solve_ms = 119999, write_ms = 9.99, verify_ms = 90 * 60000 WHERE run = :run;
SELECT m[1] AS key, m[2] AS shown FROM regexp_matches(kanon_report(:run), 'data-of=''run.(\w+_ms)'' value=''[^'']*''>([^<]*)<', 'g') AS m ORDER BY 1;
-- and each measure in its row
SELECT string_agg(m[1], ' ') AS measures FROM regexp_matches(kanon_report(:run), '<tr data-key=''(\w+)''><th scope=''row''>', 'g') AS m;
DROP TABLE o;

-- how well classes predict a column: grouped by all quasi-identifiers, the first and the last
CREATE TABLE predict (a text, b text, s int);
INSERT INTO predict VALUES ('a', 'x', 1), ('a', 'x', 1), ('a', 'x', 2), ('b', 'x', 2), ('b', 'x', 2), ('b', 'x', 1),
    ('b', 'y', 1), ('b', 'y', 1), ('b', 'y', 1);
SELECT count(*) FROM kanon_pattern_guided('predict', 'o', '{a,b}', 3, keep => '{s}', class_column => 's');
SELECT round(classification::numeric, 4) AS "2/9" FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
DROP TABLE o;

-- equal values in several spellings are one row type, in whichever column
CREATE TABLE spelled AS SELECT (v || repeat('0', s))::numeric AS a, 'x' AS b, (v || repeat('0', s))::numeric AS c
FROM unnest('{1.0,2.0,3.0,4.0,5.0}'::text[]) v, generate_series(0, 4) s;
SELECT count(*) FROM kanon_pattern_guided('spelled', 'o', '{a,b}', 2);
SELECT count(*) FROM kanon_pattern_guided('spelled', 'o', '{b,c}', 2, replace => true);
SELECT row_types FROM kanon_usefulness ORDER BY run DESC LIMIT 2;
DROP TABLE o;

-- of patterns that cost the same the one that keeps the first column comes first
CREATE TABLE ties (a text, b text);
INSERT INTO ties VALUES ('a1', 'b1'), ('a1', 'b2'), ('a2', 'b1');
SELECT * FROM kanon_pattern_guided('ties', 'o', '{a,b}', 2, rules => kanon_rules(max_suppressed => 1), residual => 'drop');
SELECT * FROM o;
DROP TABLE o;
SELECT * FROM kanon_patterns('{a,b,c}', max_suppressed => 2);

-- freeform: its cost and what it is a share of
CREATE TABLE line AS SELECT i AS x FROM generate_series(0, 10) i;
SELECT rows_published, partitions, round(gcp::numeric, 6) AS gcp, round(cost::numeric, 6) AS cost, lower_bound, proven, workers FROM (
    SELECT * FROM kanon_freeform('line', 'o', '{x}', 2, method => 'ring', seed => 1)) AS f
    (rows_published, partitions, gcp, cost, lower_bound, proven, workers, solve_ms);
SELECT round(u.cost::numeric, 6) = round((SELECT sum(upper(x) - 1 - lower(x)) / 10.0 FROM o), 6) AS same FROM kanon_usefulness u ORDER BY run DESC LIMIT 1;
DROP TABLE o;

-- workers that the server does not have: it says so, and goes on alone
CREATE TABLE many AS SELECT i % 300 AS a, i / 300 % 40 AS b, hashint4(i) & 15 AS c, hashint4(i + 1) & 7 AS d FROM generate_series(1, 120000) i;
SET max_parallel_workers = 0;
SELECT workers FROM kanon_full_domain('many', NULL, '{a,b,c,d}', 5, hierarchies => '{}', suppression_limit => 0.02, metric => 'entropy', method => 'speedy', workers => 2, dry_run => true);
RESET max_parallel_workers;

-- a hierarchy of one line above all values shows none of its levels: the column keeps its type
CREATE TABLE over_all AS SELECT a AS v, int4range(0, 100) AS whole FROM generate_series(0, 2) a;
SELECT count(*) FROM kanon_full_domain('people', 'o', '{a,c}', 5, hierarchies => '{"a": "over_all"}');
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'o'::regclass AND attnum > 0 ORDER BY attnum;
DROP TABLE o;

-- rules with names that are none: columns as they are written, relations as in SQL
CREATE FUNCTION says(rule jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM * FROM kanon_pattern_guided('people', NULL, '{a,b}', 3, keep => '{d}', dry_run => true, privacy => ARRAY[rule]);
    RETURN 'taken';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ': ' || SQLERRM;
END $$;
SELECT name, says(kanon_distinct_l('d', 2) || jsonb_build_object('column', name)) AS as_column,
       says(jsonb_build_object('rule', 'k_map', 'population', name)) AS as_population
FROM (VALUES (1, 'd'), (2, '"d"'), (3, '"d'), (4, '""'), (5, ''), (6, 'd-'), (7, '"d""x"'), (8, repeat('d', 64))) AS n (i, name) ORDER BY i;

-- a publication is found by a name with its database
SELECT kanon_create_publication('named', 'people', '{a,c}', 5);
UPDATE named_history SET digest = NULL; -- as if something had changed
SELECT release, status FROM kanon_refresh(current_database() || '.exactly_test.named');
SELECT * FROM kanon_refresh('a.b.c.named');
SELECT kanon_drop_publication('named');

-- a key is of a type whose values can be compared
CREATE TABLE odd_key AS SELECT i % 2 AS q, json_build_object('i', i) AS who FROM generate_series(1, 8) i;
SELECT kanon_create_publication('odd', 'odd_key', '{q}', 3, key => 'who', protect_successive => true);
SELECT to_regclass('odd');
