-- rows of numbers with noise: kanon_cross_training; and who stands alone all the same: kanon_isolation
SET client_min_messages = warning;
-- 400 rows close together, 100 far apart, some that are no points
CREATE TABLE pt_rows (x int, y numeric(6,2), z float8, name text);
INSERT INTO pt_rows SELECT i % 20, (i / 20 % 20) / 10.0, 0.5 + i % 7, 'n' || i FROM generate_series(0, 399) i;
INSERT INTO pt_rows SELECT 1000 + i * 170, 2000 + i * 15, 100 + i * 9, 'far' FROM generate_series(0, 99) i;
INSERT INTO pt_rows VALUES (NULL, 1, 1, 'a'), (1, NULL, 1, 'b'), (1, 1, 'NaN', 'c'), (1, 1, 'infinity', 'd'), (1, 'NaN', 1, 'e');

SELECT measure, column_name, CASE WHEN measure LIKE '%rows' THEN value ELSE sign(value) END AS value, meaning FROM kanon_cross_training('pt_rows', 'pt_out', '{x,y,z}', 10);
-- the types are those of the source, which has one row more for no row of it
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'pt_out'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*), count(x) AS x, count(y) AS y, count(z) AS z FROM pt_out;
SELECT obj_description('pt_out'::regclass) LIKE 'kanon: cross-training, about how noise is drawn: %had more than 20 rows;%' AS says;
SELECT model, method, k, note, mechanism, kept, options FROM kanon_usefulness WHERE target_oid = 'pt_out'::regclass;
-- no point of the source is there as it was
SELECT count(*) FROM pt_out JOIN pt_rows USING (x, y, z);
-- those close together are moved little (their noise is some 2^-4 of 17830 and less), those far apart much
SELECT count(*) FILTER (WHERE x < 5000) BETWEEN 300 AND 470 AS close, max(x) - min(x) > 15000 AS far, stddev(x) BETWEEN 3000 AND 12000 AS spread FROM pt_out;

-- noise is Gaussian, of the standard deviation that comes back: with so large a t it is twice the whole range, in both columns
CREATE TABLE pt_two AS SELECT (i % 2) * 100 AS a, (i / 2 % 2) * 1000.0::float8 AS b FROM generate_series(1, 4000) i;
SELECT * FROM kanon_cross_training('pt_two', 'pt_wide', '{a,b}', 1000000) WHERE measure LIKE '%noise';
SELECT abs(avg(a) - 50) < 5 * 206 / sqrt(4000) AS a, abs(avg(b) - 500) < 5 * 2060 / sqrt(4000) AS b,
       stddev(a) / sqrt(200 ^ 2 + 50 ^ 2) BETWEEN 0.94 AND 1.06 AS a_spread, stddev(b) / sqrt(2000 ^ 2 + 500 ^ 2) BETWEEN 0.94 AND 1.06 AS b_spread, abs(corr(a, b)) < 0.08 AS apart FROM pt_wide;
-- where more rows than 2t are in one place, the cell around it is not divided any more
SELECT measure, column_name, value FROM kanon_cross_training('pt_two', NULL, '{a,b}', 100, dry_run => true) WHERE measure LIKE '%noise';
-- domains: wider cells, and rows beyond them are left out
SELECT measure, column_name, value FROM kanon_cross_training('pt_two', 'pt_wide', '{a,b}', 1000000, '{"a": {"from": -100, "to": 300}, "b": {"from": -0.5, "to": 999.5}}', replace => true);
SELECT count(*) FROM pt_wide;
-- what a type cannot hold becomes what it can
CREATE TABLE pt_edge (s smallint, n numeric(3,1), r real, l bigint, d float8, m numeric(30,0));
INSERT INTO pt_edge SELECT CASE WHEN i % 2 = 0 THEN 32767 ELSE -32768 END, CASE WHEN i % 2 = 0 THEN 99.9 ELSE -99.9 END, CASE WHEN i % 2 = 0 THEN 3e38 ELSE -3e38 END,
    CASE WHEN i % 2 = 0 THEN 9223372036854775807 ELSE -9223372036854775808 END, i % 2, CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END * (10::numeric ^ 30 - 1) FROM generate_series(1, 400) i;
SELECT measure, value FROM kanon_cross_training('pt_edge', 'pt_edge_out', '{s,n,r,l,d,m}', 1000) WHERE measure LIKE '%rows';
SELECT min(s), max(s), min(n), max(n), max(r) > 3e38 AS r, min(l), max(l) > 9223372036854774000 AS l FROM pt_edge_out;
-- few rows, and none
CREATE TABLE pt_few AS SELECT i AS a FROM generate_series(1, 2) i;
SELECT measure, value FROM kanon_cross_training('pt_few', 'pt_few_out', '{a}', 1);
DELETE FROM pt_few;
SELECT measure, value FROM kanon_cross_training('pt_few', 'pt_few_out', '{a}', 1, replace => true);
SELECT count(*) FROM pt_few_out;

-- what the page says
SELECT s ->> 'says' FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(u.run) -> 'statements') s WHERE u.target_oid = 'pt_out'::regclass AND s ->> 'about' IN ('columns', 'model', 'promise', 'method', 'release') AND s ->> 'says' NOT LIKE 'On %';
SELECT v ->> 'about' AS about, v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(u.run) -> 'verdicts') v WHERE u.target_oid = 'pt_out'::regclass;
SELECT l ->> 'what' AS what, l ->> 'says' AS says FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(u.run, compare => true) -> 'limits') l WHERE u.target_oid = 'pt_out'::regclass;
SELECT length(kanon_report(u.run)) > 1000 AS page FROM kanon_usefulness u WHERE u.target_oid = 'pt_out'::regclass;
-- t was asked for, and no k; nothing was suppressed at a cost
SELECT o ->> 'value' AS t, d #>> '{run,k}' AS k, d -> 'measures' AS measures, kanon_report(u.run) ~ 'k that was asked|What was lost|#columns' AS k_or_loss
FROM kanon_usefulness u, kanon_report_data(u.run) d, jsonb_array_elements(d -> 'options') o WHERE u.target_oid = 'pt_out'::regclass AND o ->> 'option' = 't';

-- isolation, again by SQL
CREATE FUNCTION pt_isolation(released regclass, c float8, t int, OUT source_rows bigint, OUT isolated_rows bigint, OUT released_rows bigint, OUT isolating_rows bigint) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format($q$
    WITH bounds AS (SELECT min(x) AS x0, max(x) - min(x) AS xr, min(y) AS y0, max(y) - min(y) AS yr FROM pt_source WHERE x IS NOT NULL),
    s AS (SELECT row_number() OVER () AS nr, (x - x0) / xr AS x, ((y - y0) / yr)::float8 AS y FROM pt_source, bounds WHERE pt_source.x IS NOT NULL),
    q AS (SELECT row_number() OVER () AS nr, (x - x0) / xr AS x, ((y - y0) / yr)::float8 AS y FROM %s, bounds),
    d AS (SELECT q.nr AS q, s.nr AS s, (q.x - s.x) ^ 2 + (q.y - s.y) ^ 2 AS d FROM q, s),
    i AS (SELECT d.q, d.s FROM d JOIN q ON q.nr = d.q WHERE (SELECT count(*) FROM s WHERE (q.x - s.x) ^ 2 + (q.y - s.y) ^ 2 <= %s * %s * d.d) < %s)
    SELECT (SELECT count(*) FROM s), (SELECT count(DISTINCT i.s) FROM i), (SELECT count(*) FROM q), (SELECT count(DISTINCT i.q) FROM i)$q$, released, c, c, t)
    INTO source_rows, isolated_rows, released_rows, isolating_rows;
END $$;
CREATE TABLE pt_source AS SELECT (sin(i) * 500)::float8 AS x, (i * i % 97)::numeric AS y FROM generate_series(1, 120) i;
INSERT INTO pt_source VALUES (NULL, 1);
CREATE TABLE pt_guess AS SELECT (x + cos(y::float8) * 30)::float8 AS x, y + (x / 50)::int AS y FROM pt_source WHERE x IS NOT NULL LIMIT 40;
SELECT c, t, i.*, (i.source_rows, i.isolated_rows, i.released_rows, i.isolating_rows) = (p.source_rows, p.isolated_rows, p.released_rows, p.isolating_rows) AS same
FROM (VALUES (1::float8, 2), (1.5, 2), (2, 3), (1, 121), (4, 40)) v (c, t), kanon_isolation('pt_guess', 'pt_source', '{x,y}', c, t) i, pt_isolation('pt_guess', c, t) p;
-- a table isolates all of its own rows that are different, and noise isolates fewer
SELECT isolated_rows, isolating_rows FROM kanon_isolation('pt_source', 'pt_source', '{x,y}', 2, 2);
SELECT count(*) FROM kanon_cross_training('pt_source', 'pt_noisy', '{x,y}', 20);
SELECT isolated_rows < 90 AS fewer FROM kanon_isolation('pt_noisy', 'pt_source', '{x,y}', 2, 2);
SELECT * FROM kanon_isolation('pt_source', 'pt_source', '{x,y}', 1, 1);
SELECT * FROM kanon_isolation('pt_few', 'pt_source', '{a}', 1, 2);

-- what is refused
\set VERBOSITY terse
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x,name}', 10);
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{}', 10);
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', NULL, 10);
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x,nothing}', 10);
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', 0);
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', NULL);
SELECT count(*) FROM kanon_cross_training('pt_rows', NULL, '{x}', 10);
SELECT count(*) FROM kanon_cross_training('pt_rows', 'pt_out', '{x}', 10);
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', 10, '[]');
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', 10, '{}');
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', 10, '{"x": [1, 2]}');
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', 10, '{"x": {"from": 1}}');
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', 10, '{"x": {"from": 1, "to": 1}}');
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', 10, '{"x": {"from": "a", "to": 1}}');
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', 10, '{"x": {"from": 1, "to": 2, "by": 1}}');
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', 10, '{"x": {"from": -1e305, "to": 1e305}}');
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', 10, '{"x": {"from": 1, "to": 2}, "y": {"from": 1, "to": 2}}');
CREATE TABLE pt_one AS SELECT 1 AS a, 1.7e308::float8 * CASE WHEN i = 1 THEN 1 ELSE -1 END AS b FROM generate_series(1, 5) i;
SELECT count(*) FROM kanon_cross_training('pt_one', 'x', '{a}', 10);
SELECT count(*) FROM kanon_cross_training('pt_one', 'x', '{b}', 10);
SELECT count(*) FROM kanon_cross_training('pt_one', 'x', '{a}', 10, '{"a": {"from": 0, "to": 2}}');
SELECT count(*) FROM kanon_isolation('pt_one', 'pt_one', '{b}', 1, 2);
SELECT count(*) FROM kanon_isolation('pt_one', 'pt_one', '{a}', 0.5, 2);
SELECT count(*) FROM kanon_isolation('pt_one', 'pt_one', '{a}', 'NaN', 2);
SELECT count(*) FROM kanon_isolation('pt_one', 'pt_one', '{a}', 1, 0);
SELECT count(*) FROM kanon_isolation('pt_one', 'pt_one', '{a}', NULL, 2);
SELECT count(*) FROM kanon_isolation(NULL, 'pt_one', '{a}', 1, 2);
SELECT count(*) FROM kanon_isolation('pt_one', NULL, '{a}', 1, 2);
SELECT count(*) FROM kanon_isolation('pt_one', 'pt_rows', '{a}', 1, 2);
SELECT count(*) FROM kanon_isolation('pt_rows', 'pt_rows', '{name}', 1, 2);
SECURITY LABEL FOR kanon ON COLUMN pt_rows.x IS 'identifier';
SELECT count(*) FROM kanon_cross_training('pt_rows', 'x', '{x}', 10);
SELECT count(*) FROM kanon_cross_training('pt_rows', 'pt_ident', '{x}', 10, allow_identifying => '{x}');
\set VERBOSITY default

DROP TABLE pt_rows, pt_out, pt_two, pt_wide, pt_edge, pt_edge_out, pt_few, pt_few_out, pt_source, pt_guess, pt_noisy, pt_one, x, pt_ident;
DROP FUNCTION pt_isolation;
