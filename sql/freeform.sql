-- Freeform generalisation: k matches for each row and record, no classes.
\set VERBOSITY default
SET client_min_messages = warning;
CREATE SCHEMA freeform_test;
SET search_path = freeform_test, public;
CREATE TABLE person AS
SELECT i AS id, 20 + (i * 7) % 50 AS age, (ARRAY['bern', 'chur', 'davos'])[1 + i % 3] AS city,
       date '2000-01-01' + (i * 37) % 500 AS born, (i % 2 = 0) AS member
FROM generate_series(1, 45) i;
UPDATE person SET age = NULL WHERE id % 13 = 0;
UPDATE person SET city = NULL WHERE id % 11 = 0;

-- every method keeps what it promises, and nothing is lost but the order
CREATE TABLE method AS
SELECT m FROM unnest(ARRAY['greedy', 'sort_greedy', 'hungarian', 'plain_sort_greedy', 'plain_hungarian', 'min_cost_flow', 'ring', 'concealment']) m;
SELECT m, row_count, partitions, gcp > 0 AND gcp < 1 AS priced, proven
FROM method, kanon_freeform('person', 'f_' || m, '{age,city,born,member}', 3, method => m, keep => '{id}', allow_identifying => '{id}');
SELECT m, c.* FROM method, kanon_check_freeform('person', ('f_' || m)::regclass, '{age,city,born,member}', 3) c;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = 'f_greedy'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*) AS rows, count(DISTINCT id) AS ids, sum(id) FROM f_sort_greedy;
-- kept values go with a record that their row matches
SELECT count(*) FROM f_sort_greedy f JOIN person p USING (id)
WHERE (f.age IS NULL OR f.age @> p.age) AND f.born @> p.born AND p.member = ANY (f.member)
  AND (p.city = ANY (f.city) OR (p.city IS NULL AND array_position(f.city, NULL) > 0));


-- the same seed, the same assignment; without one, another
SELECT t, row_count FROM unnest(ARRAY['seed1', 'seed2']) t, kanon_freeform('person', t, '{age,city}', 4, seed => 7, keep => '{id}', allow_identifying => '{id}');
SELECT row_count FROM kanon_freeform('person', 'seed3', '{age,city}', 4, keep => '{id}', allow_identifying => '{id}');
SELECT count(*) FROM (SELECT * FROM seed1 EXCEPT SELECT * FROM seed2) d;
SELECT count(*) > 0 AS differs FROM (SELECT * FROM seed1 EXCEPT SELECT * FROM seed3) d;
RESET client_min_messages;
SELECT row_count FROM kanon_freeform('person', NULL, '{age}', 2, seed => 7, dry_run => true);
SELECT row_count FROM kanon_freeform('person', NULL, '{age}', 2, method => 'concealment', dry_run => true);

-- matches that are mutual; an odd number of rows
SELECT m, row_count FROM unnest(ARRAY['greedy', 'sort_greedy', 'hungarian', 'ring']) m,
 kanon_freeform('person', 's_' || m, '{age,city,born}', 4, method => m, mutual => true);
SELECT m, c.row_matches >= 4 AS rows, c.record_matches >= 4 AS records, c.regular
FROM unnest(ARRAY['greedy', 'sort_greedy', 'hungarian', 'ring']) m,
 kanon_check_freeform('person', to_regclass('s_' || m), '{age,city,born}', 4) c;

-- parts: no row matches a record of another part
SELECT partitions FROM kanon_freeform('person', 'parts', '{age,city,born}', 3, partition_size => 10);
SELECT * FROM kanon_check_freeform('person', 'parts', '{age,city,born}', 3);
-- as many matches as there are, and no more
SELECT regular FROM kanon_check_freeform('person', 'parts', '{age,city,born}', 45);

-- NULL is a value; the mark tells it from what is suppressed
SELECT row_count FROM kanon_freeform('person', 'marked', '{age,city}', 2, mark => true, keep => '{id}', allow_identifying => '{id}');
SELECT count(*) FILTER (WHERE age IS NULL AND kanon_pattern LIKE '-%') > 0 AS real_null,
       bool_and(kanon_pattern ~ '^[-*~]{2}$') AS symbols FROM marked;
SELECT * FROM kanon_check_freeform('person', 'marked', '{age,city}', 2);

-- a table that is not a release of the source
CREATE TABLE forged AS TABLE marked;
UPDATE forged SET city = '{nowhere}' WHERE ctid = (SELECT min(ctid) FROM forged);
SELECT record_matches, regular FROM kanon_check_freeform('person', 'forged', '{age,city}', 2);
DELETE FROM forged WHERE city = '{nowhere}';
SELECT row_count, record_count, regular FROM kanon_check_freeform('person', 'forged', '{age,city}', 2);
CREATE TABLE wrong AS SELECT 'x'::text AS age, ARRAY['x'] AS city;
SELECT * FROM kanon_check_freeform('person', 'wrong', '{age,city}', 2);

-- equal rows, few rows, no rows
CREATE TABLE equal AS SELECT 1 AS a, 'x' AS b FROM generate_series(1, 6);
SELECT gcp FROM kanon_freeform('equal', 'equal_f', '{a,b}', 4);
SELECT * FROM equal_f LIMIT 1;
SELECT * FROM kanon_check_freeform('equal', 'equal_f', '{a,b}', 6);
CREATE TABLE few AS SELECT i AS a, i % 2 AS b FROM generate_series(1, 6) i;
SELECT m, row_count FROM method, kanon_freeform('few', 'few_' || m, '{a,b}', 4, method => m) WHERE m <> 'concealment';
SELECT m, c.regular FROM method, kanon_check_freeform('few', to_regclass('few_' || m), '{a,b}', 4) c WHERE m <> 'concealment';
SELECT row_count FROM kanon_freeform('few', 'few_s', '{a,b}', 4, mutual => true);
-- three rows have no mutual partner left after the first
CREATE TABLE three AS SELECT i AS a, i % 2 AS b FROM generate_series(1, 3) i;
SELECT m, row_count FROM unnest('{greedy,sort_greedy,hungarian,ring}'::text[]) m,
 kanon_freeform('three', NULL, '{a,b}', 2, method => m, mutual => true, dry_run => true);
CREATE TABLE none (a int, b text);
SELECT row_count, gcp FROM kanon_freeform('none', 'none_f', '{a,b}', 3);
-- one run has one gcp, with weights and NULL, too
CREATE TABLE weighed AS SELECT CASE WHEN i % 11 > 0 THEN i END AS a, 'x' || i % 5 AS b FROM generate_series(1, 60) i;
SELECT f.gcp > 0 AS some FROM kanon_freeform('weighed', 'weighed_f', '{a,b}', 3, weights => '{"b": 3}', seed => 1) f;
SELECT f.gcp = u.gcp AS same, round((f.cost / (60 * 4))::numeric, 4) <> round(f.gcp::numeric, 4) AS costs_otherwise
FROM kanon_freeform('weighed', NULL, '{a,b}', 3, weights => '{"b": 3}', seed => 1, dry_run => true) f, kanon_usefulness u WHERE u.target_oid = 'weighed_f'::regclass;
DROP TABLE weighed, weighed_f;
SELECT * FROM kanon_check_freeform('none', 'none_f', '{a,b}', 3);

-- types: what has no range is shown as a set
CREATE TABLE typed AS
SELECT (i * 1.25)::numeric AS n, (i * 0.1)::float8 AS f, i::bigint AS b, make_interval(days => i) AS d,
       timestamptz '2001-01-01 00:00+00' + make_interval(hours => i * i) AS t, (i % 3 = 0) AS o
FROM generate_series(1, 9) i;
SET timezone = 'UTC';
SELECT row_count FROM kanon_freeform('typed', 'typed_f', '{n,f,b,d,t,o}', 3, method => 'hungarian', categorical => '{b}');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = 'typed_f'::regclass AND attnum > 0 ORDER BY attnum;
SELECT * FROM kanon_check_freeform('typed', 'typed_f', '{n,f,b,d,t,o}', 3);
-- after the last date there is infinity, which a range that ends before it has not
CREATE TABLE ages AS
SELECT (ARRAY['-infinity', '5874897-12-31', 'infinity']::date[])[1 + i % 3] AS d, (ARRAY[-2147483648, 0, 2147483647])[1 + i % 3] AS n
FROM generate_series(1, 12) i;
SELECT row_count FROM kanon_freeform('ages', 'ages_f', '{d,n}', 4);
SELECT d, n, count(*) FROM ages_f GROUP BY 1, 2 ORDER BY 1, 2;
SELECT * FROM kanon_check_freeform('ages', 'ages_f', '{d,n}', 4);

-- what does not hold is said
SELECT classes, class_min, matches, note FROM kanon_usefulness WHERE target = 'freeform_test.marked';
SELECT class, e.row_count, shown, e.note FROM kanon_equivalence_classes e JOIN kanon_usefulness USING (run) WHERE target = 'freeform_test.marked';
SELECT stage FROM kanon_run_risk JOIN kanon_usefulness USING (run) WHERE target = 'freeform_test.marked';
SELECT row_count FROM kanon_check('marked', '{age,city}');
\set VERBOSITY terse
SELECT kanon_report(max(run)) LIKE '%Every row of the source matches at least%' AS told FROM kanon_usefulness WHERE target = 'freeform_test.marked';
SELECT kanon_report(max(run)) ~ 'larger number|k_column =' AS of_a_column_that_was_not_named FROM kanon_usefulness WHERE target = 'freeform_test.marked';
SELECT k FROM kanon_check('person', '{age,city}');
\set VERBOSITY default

-- the same release for a seed, however many workers there are
CREATE TABLE crowd AS
SELECT (i * 7919) % 997 AS a, (i * 104729) % 89 AS b, 'x' || (i * 31) % 23 AS c FROM generate_series(1, 6000) i;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SELECT partitions, workers FROM kanon_freeform('crowd', 'crowd_alone', '{a,b,c}', 8, partition_size => 40, seed => 3);
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SELECT partitions, workers > 0 AS together FROM kanon_freeform('crowd', 'crowd_together', '{a,b,c}', 8, partition_size => 40, seed => 3);
SELECT partitions, workers > 0 AS together FROM kanon_freeform('crowd', 'crowd_strong', '{a,b,c}', 8, partition_size => 40);
SET max_parallel_workers = 0;
SELECT partitions, workers FROM kanon_freeform('crowd', 'crowd_refused', '{a,b,c}', 8, partition_size => 40, seed => 3);
RESET max_parallel_workers;
RESET parallel_setup_cost;
RESET max_parallel_workers_per_gather;
RESET client_min_messages;
SELECT count(*) FROM ((TABLE crowd_alone EXCEPT ALL TABLE crowd_together) UNION ALL (TABLE crowd_together EXCEPT ALL TABLE crowd_alone)) d;
SELECT count(*) FROM ((TABLE crowd_alone EXCEPT ALL TABLE crowd_refused) UNION ALL (TABLE crowd_refused EXCEPT ALL TABLE crowd_alone)) d;
SELECT * FROM kanon_check_freeform('crowd', 'crowd_strong', '{a,b,c}', 8);

-- what is written is looked at again: a row that was slipped in is found
CREATE FUNCTION slip_in() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('freeform_test.few_more') IS NOT NULL THEN
        INSERT INTO freeform_test.few_more VALUES ('[1,1]', '[1,1]');
    END IF;
END $$;
CREATE EVENT TRIGGER slip_in ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION slip_in();
SELECT row_count FROM kanon_freeform('few', 'few_more', '{a,b}', 2);
DROP EVENT TRIGGER slip_in;
DROP FUNCTION slip_in();
SELECT to_regclass('few_more');

-- bad input
SELECT * FROM kanon_freeform('person', 'x', '{age}', 1);
SELECT * FROM kanon_freeform('person', 'x', '{age}', 24);
SELECT row_count FROM kanon_freeform('person', NULL, '{age}', 23, dry_run => true);
SELECT * FROM kanon_freeform('person', 'x', '{age}', 5, partition_size => 9);
SELECT * FROM kanon_freeform('person', 'x', '{age}', 5, method => 'magic');
SELECT * FROM kanon_freeform('person', 'x', '{age}', 5, method => 'mip', mutual => true);
SELECT * FROM kanon_freeform('person', 'x', '{age}', 5, method => NULL);
SELECT * FROM kanon_freeform('person', 'x', '{age}', 5, time_limit => '-1 s');
CREATE TABLE odd AS SELECT i::text::xid AS x, point(i, i) AS p, i FROM generate_series(1, 9) i;
SELECT * FROM kanon_freeform('odd', 'x', '{x}', 2);
SELECT * FROM kanon_freeform('odd', 'x', '{p}', 2);
CREATE TABLE large AS SELECT i AS a, (i * 7919) % 10007 AS b FROM generate_series(1, 20000) i;
SET kanon.max_memory = '12MB';
-- the hint of the refusal names a partition_size that fits
DO $$
DECLARE
    hint text;
    parts bigint;
BEGIN
    BEGIN
        PERFORM kanon_freeform('large', 'x', '{a,b}', 10, method => 'greedy', categorical => '{a,b}');
        RAISE 'it was not refused';
    EXCEPTION WHEN out_of_memory THEN
        GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    END;
    SELECT partitions INTO parts FROM kanon_freeform('large', 'x', '{a,b}', 10, method => 'greedy', categorical => '{a,b}',
        partition_size => substring(hint FROM 'partition_size => (\d+)')::int);
    RAISE NOTICE '%: %', regexp_replace(hint, '\d+', 'N'), parts > 1;
    DROP TABLE x;
END $$;
-- every row matches every record, though no two are equal
CREATE TABLE wide AS SELECT int4range(0, 20000 + i) AS a, int4range(0, 20000 + i) AS b FROM generate_series(1, 20000) i;
\set VERBOSITY default
SELECT * FROM kanon_check_freeform('large', 'wide', '{a,b}', 10);
SET kanon.max_memory = '2MB';
\set VERBOSITY terse
SELECT * FROM kanon_freeform('large', 'x', '{a,b}', 10);
RESET kanon.max_memory;
SELECT to_regclass('x') IS NULL AS nothing_was_left;

-- each row its own k
CREATE TABLE asking AS
SELECT i AS id, 20 + (i * 7) % 50 AS age, (i * 3) % 11 AS ward, CASE WHEN i % 20 = 0 THEN 9 WHEN i % 5 = 0 THEN 5 ELSE 1 END AS wants
FROM generate_series(1, 60) i;
SET client_min_messages = warning;
SELECT m, row_count FROM unnest('{greedy,sort_greedy,hungarian,min_cost_flow,ring}'::text[]) m,
 kanon_freeform('asking', 'own_' || m, '{age,ward}', 3, method => m, k_column => 'wants', keep => '{id,wants}', allow_identifying => '{id}');
-- by plain SQL: the least matches of rows and of their own records, by what they want
CREATE FUNCTION own_matches(target regclass, OUT wants int, OUT enough boolean) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT p.wants, min((SELECT count(*) FROM %1$s f WHERE f.age @> p.age AND f.ward @> p.ward)) >= greatest(p.wants, 3)
         AND min((SELECT count(*) FROM asking o, %1$s f WHERE f.id = p.id AND f.age @> o.age AND f.ward @> o.ward)) >= greatest(p.wants, 3)
         FROM asking p GROUP BY 1 ORDER BY 1', target);
END $$;
SELECT m, o.* FROM unnest('{greedy,sort_greedy,hungarian,min_cost_flow,ring}'::text[]) m, own_matches(to_regclass('own_' || m)) o WHERE NOT enough;
SELECT * FROM own_matches('own_greedy');
SELECT m, c.row_matches >= 3 AS rows, c.regular FROM unnest('{greedy,sort_greedy,hungarian,min_cost_flow,ring}'::text[]) m,
 kanon_check_freeform('asking', to_regclass('own_' || m), '{age,ward}', 3, k_column => 'wants') c;
-- without what they want, some would have too few
SELECT row_count FROM kanon_freeform('asking', 'own_none', '{age,ward}', 3);
SELECT regular FROM kanon_check_freeform('asking', 'own_none', '{age,ward}', 3);
SELECT regular FROM kanon_check_freeform('asking', 'own_none', '{age,ward}', 3, k_column => 'wants');
-- in parts, mutual, and the rows that are read again have their ks, too
SELECT partitions FROM kanon_freeform('asking', 'own_parts', '{age,ward}', 3, k_column => 'wants', partition_size => 12, mutual => true, keep => '{id}', allow_identifying => '{id}');
SELECT * FROM own_matches('own_parts');
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
CREATE VIEW crowd_asking AS SELECT *, (1 + a % 12)::smallint AS wants FROM crowd;
SELECT partitions, workers > 0 AS together FROM kanon_freeform('crowd_asking', 'own_crowd', '{a,b,c}', 2, partition_size => 40, k_column => 'wants');
SELECT row_matches > 1 AS rows, regular FROM kanon_check_freeform('crowd_asking', 'own_crowd', '{a,b,c}', 2, k_column => 'wants');
RESET parallel_setup_cost;
RESET max_parallel_workers_per_gather;
RESET client_min_messages;
SELECT options ->> 'k_column' AS by FROM kanon_usefulness WHERE target = 'freeform_test.own_ring';
SELECT kanon_report(max(run)) LIKE '%A row with a larger number in wants has that many.%k_column =&gt; %wants%' AS told FROM kanon_usefulness WHERE target = 'freeform_test.own_ring';
-- what is no k
UPDATE asking SET wants = NULL WHERE id IN (3, 4);
UPDATE asking SET wants = 0 WHERE id = 5;
SELECT * FROM kanon_freeform('asking', 'x', '{age,ward}', 3, k_column => 'wants');
UPDATE asking SET wants = -7 WHERE id IN (3, 4, 5);
SELECT * FROM kanon_check_freeform('asking', 'own_none', '{age,ward}', 3, k_column => 'wants');
UPDATE asking SET wants = 32 WHERE id IN (3, 4, 5);
SELECT * FROM kanon_freeform('asking', 'x', '{age,ward}', 3, k_column => 'wants');
UPDATE asking SET wants = 31 WHERE id IN (3, 4, 5);
SELECT row_count FROM kanon_freeform('asking', NULL, '{age,ward}', 3, k_column => 'wants', dry_run => true);
SELECT * FROM kanon_freeform('asking', 'x', '{age,ward}', 3, k_column => 'want');
SELECT * FROM kanon_freeform('asking', 'x', '{age,ward}', 3, k_column => 'age');
SELECT * FROM kanon_freeform('person', 'x', '{age,city}', 3, k_column => 'born');
SELECT * FROM kanon_freeform('asking', 'x', '{age,ward}', 3, k_column => 'wants', method => 'concealment');
SELECT to_regclass('x') IS NULL AS nothing_was_left;

-- what somebody can tell who knows the records of some rows: classes keep k - c, others need not
CREATE TABLE seven AS SELECT i AS a FROM generate_series(1, 7) i;
CREATE TABLE in_threes AS SELECT a FROM (VALUES ('{1,2,3}'::int[]), ('{1,2,3}'), ('{1,2,4}'), ('{3,4,5}'), ('{4,6,7}'), ('{5,6,7}'), ('{5,6,7}')) v (a);
SELECT known, c.row_matches, c.record_matches, c.regular, c.candidates
FROM generate_series(0, 2) known, kanon_check_freeform('seven', 'in_threes', '{a}', 3, known => known) c;
CREATE TABLE spots AS SELECT i AS a FROM generate_series(1, 12) i;
CREATE TABLE in_classes AS SELECT ARRAY(SELECT (i - 1) / 4 * 4 + x FROM generate_series(1, 4) x) AS a FROM generate_series(1, 12) i;
CREATE TABLE in_ring AS SELECT ARRAY(SELECT (i + x) % 12 + 1 FROM generate_series(1, 4) x) AS a FROM generate_series(1, 12) i;
SELECT t, known, c.row_matches, c.regular, c.candidates
FROM unnest('{in_classes,in_ring}'::text[]) t, generate_series(0, 4) known, kanon_check_freeform('spots', to_regclass(t), '{a}', 4, known => known) c;
SELECT row_matches, candidates FROM kanon_check_freeform('person', 'parts', '{age,city,born}', 3, known => 0);
SELECT candidates FROM kanon_check_freeform('none', 'none_f', '{a,b}', 3, known => 1);
SELECT * FROM kanon_check_freeform('spots', 'in_ring', '{a}', 4, known => -1);
SELECT * FROM kanon_check_freeform('crowd', 'crowd_strong', '{a,b,c}', 8, known => 9);

-- the values of the records that a row matches
SET client_min_messages = warning;
CREATE TABLE ill AS
SELECT i AS id, 20 + (i * 7) % 50 AS age, (ARRAY['bern', 'chur', 'davos'])[1 + i % 3] AS city,
       (ARRAY['flu', 'flu', 'gout', 'flu', 'asthma', NULL])[1 + (i * i + i / 6) % 6] AS ill, i % 2 AS ward
FROM generate_series(1, 72) i;
CREATE FUNCTION matched(target text) RETURNS TABLE (least_values bigint, most_share numeric) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT min(n), max(most) FROM (
        SELECT id, count(*) AS n, round(max(c) / sum(c), 4) AS most FROM (
            SELECT p.id, f.ill, count(*) AS c FROM ill p JOIN %I f ON (f.age IS NULL OR f.age @> p.age) AND p.city = ANY (f.city) GROUP BY p.id, f.ill) v GROUP BY id) r', target);
END $$;
SELECT method, c.sensitive_values = m.least_values AS counted, round(c.sensitive_share::numeric, 4) = m.most_share AS shares, c.regular
FROM unnest('{ring,sort_greedy}'::text[]) method,
     LATERAL (SELECT count(*) FROM kanon_freeform('ill', 'ill_' || method, '{age,city}', 4, method => method, keep => '{id,ill}', allow_identifying => '{id}')) f,
     LATERAL matched('ill_' || method) m, LATERAL kanon_check_freeform('ill', to_regclass('ill_' || method), '{age,city}', 4, sensitive => 'ill') c;
-- kept values go with a record that their row matches
SELECT count(*) FROM ill_ring f JOIN ill p USING (id) WHERE f.age @> p.age AND p.city = ANY (f.city) AND f.ill IS NOT DISTINCT FROM p.ill;
RESET client_min_messages;
SELECT sensitive_values, sensitive_share FROM kanon_check_freeform('none', 'none_f', '{a}', 3, sensitive => 'b');
-- rules are about classes: no method takes one, and nothing is read before that is said
\set VERBOSITY default
SELECT * FROM kanon_freeform('ill', 'x', '{age,city}', 4, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2)]);
SELECT * FROM kanon_freeform('ill', 'x', '{age,city}', 4, method => 'ring', keep => '{ill}', k_column => 'ward', privacy => ARRAY[kanon_alpha('ill', 0.5)]);
SELECT * FROM kanon_freeform('ill', 'x', '{age,city}', 4, method => 'mip', keep => '{ill}', privacy => ARRAY[kanon_k_map('ill')]);
SELECT kanon_create_publication('ruled', 'ill', '{age,city}', 4, '{"keep": ["ill"], "privacy": [{"rule": "distinct_l", "column": "ill", "l": 2}]}', 'freeform');
SELECT to_regclass('x') IS NULL AS nothing_was_left;

-- hierarchies: a record shows the lowest node that has its rows' values below it
SET client_min_messages = warning;
CREATE TABLE place (city text, area text, region text);
INSERT INTO place VALUES ('bern', 'mitte', 'west'), ('thun', 'mitte', 'west'), ('genf', 'see', 'west'), ('lausanne', 'see', 'west'),
    ('chur', 'alpen', 'ost'), ('davos', 'alpen', 'ost'), ('arosa', 'alpen', 'ost'), ('zug', 'zug', 'ost');
CREATE TABLE trip AS
SELECT i AS id, 20 + (i * 7) % 50 AS age, (SELECT city FROM place ORDER BY city OFFSET (i * i + i / 5) % 8 LIMIT 1) AS city, 1 + i % 3 AS ward,
       (ARRAY['flu', 'gout', 'asthma'])[1 + i % 3] AS ill, 1 + i % 6 AS asks
FROM generate_series(1, 60) i;
UPDATE trip SET city = NULL WHERE id % 17 = 0;
CREATE TABLE took AS SELECT m FROM method UNION ALL SELECT unnest('{one_k,k_one,k_k}'::text[]);
SELECT m, row_count, round(gcp::numeric, 1) < 1 AS priced FROM method,
    kanon_freeform('trip', 'h_' || m, '{age,city,ward}', 3, method => m, keep => '{id}', allow_identifying => '{id}', categorical => '{ward}',
        hierarchies => '{"city": "place"}') ORDER BY 1;
SELECT m, row_count FROM unnest('{one_k,k_one,k_k}'::text[]) m, kanon_cluster('trip', 'h_' || m, '{age,city,ward}', 3, m, keep => '{id}',
    allow_identifying => '{id}', categorical => '{ward}', hierarchies => '{"city": "place"}') ORDER BY 1;
SELECT m, c.row_matches >= 3 AS rows, c.record_matches >= 3 AS records, c.regular
FROM took, kanon_check_freeform('trip', to_regclass('h_' || m), '{age,city,ward}', 3, hierarchies => '{"city": "place"}') c ORDER BY 1;
-- by plain SQL: matches on both sides; each record has its own row; and what is shown are values, areas and regions
CREATE FUNCTION node_matches(source regclass, target text, OUT of_row bigint, OUT of_record bigint, OUT own bigint, OUT shown text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('WITH m AS (SELECT t.id AS record, s.id AS source FROM %I t JOIN %s s ON (t.age IS NULL OR t.age @> s.age) AND s.ward = ANY (t.ward)
        AND (t.city IS NULL OR t.city = s.city OR EXISTS (SELECT FROM place p WHERE p.city = s.city AND t.city IN (p.area, p.region))))
        SELECT (SELECT min(n) FROM (SELECT count(*) AS n FROM m GROUP BY source) v), (SELECT min(n) FROM (SELECT count(*) AS n FROM m GROUP BY record) v),
               (SELECT count(*) FROM m WHERE record = source),
               (SELECT string_agg(DISTINCT CASE WHEN city IS NULL THEN ''nothing'' WHEN city IN (SELECT city FROM place) THEN ''city'' WHEN city IN (SELECT area FROM place) THEN ''area''
                   WHEN city IN (SELECT region FROM place) THEN ''region'' END, '' '') FROM %I)', target, source, target)
    INTO of_row, of_record, own, shown;
END $$;
SELECT m, n.of_row >= 3 AS rows, n.of_record >= 3 AS records, n.own, n.shown FROM took, node_matches('trip', 'h_' || m) n ORDER BY 1;
-- whoever knows no hierarchy sees texts that nobody has
SELECT record_matches, regular FROM kanon_check_freeform('trip', 'h_sort_greedy', '{age,city,ward}', 3);
-- levels instead of sets are levels in the views and the report
SELECT column_name, levels, c.suppressed + c.kept < 60 AS generalised FROM kanon_columns c JOIN kanon_usefulness USING (run) WHERE target = 'freeform_test.h_sort_greedy' ORDER BY ordinal;
SELECT kanon_report(max(run)) LIKE '%kanon_check_freeform%hierarchies =&gt; %place%' AS told FROM kanon_usefulness WHERE target = 'freeform_test.h_sort_greedy';
-- without sets the cost is the measure of NCP; ranges of a hierarchy are ranges, NULL stays NULL, and a mark tells levels
SELECT kanon_hierarchy_interval('trip', 'age', 'freeform_test.ages_by', '{5,10,20}');
SELECT row_count FROM kanon_freeform('trip', 'h_nodes', '{age,city}', 4, hierarchies => '{"city": "place", "age": "ages_by"}', mark => true, partition_size => 20);
SELECT abs(cost - ncp) < 1e-9 AS is_ncp, suppressed_cells < 120 AS some FROM kanon_usefulness WHERE target = 'freeform_test.h_nodes';
SELECT pg_typeof(age), pg_typeof(city), bool_and(kanon_pattern ~ '^[-*1-3]{2}$') AS marked FROM h_nodes GROUP BY 1, 2;
SELECT row_matches >= 4 AS rows, record_matches >= 4 AS records, regular
FROM kanon_check_freeform('trip', 'h_nodes', '{age,city}', 4, hierarchies => '{"city": "place", "age": "ages_by"}');
-- a label that is at two places stands for both
CREATE TABLE doubled AS SELECT city, CASE WHEN city IN ('bern', 'thun', 'genf') THEN 'bern' ELSE area END AS area FROM place;
SELECT m, row_count FROM unnest('{one_k,k_k}'::text[]) m, kanon_cluster('trip', 'd_' || m, '{city}', 9, m, hierarchies => '{"city": "doubled"}');
SELECT row_matches >= 9 AS rows, record_matches >= 9 AS records FROM kanon_check_freeform('trip', 'd_k_k', '{city}', 9, hierarchies => '{"city": "doubled"}');
SELECT row_matches >= 9 AS rows, record_matches >= 9 AS records FROM kanon_check_freeform('trip', 'd_k_k', '{city}', 9);
-- own ks, mutual matches
SELECT row_count FROM kanon_freeform('trip', 'h_own', '{age,city}', 3, k_column => 'asks', hierarchies => '{"city": "place"}');
SELECT row_count FROM kanon_freeform('trip', 'h_mutual', '{age,city}', 4, mutual => true, hierarchies => '{"city": "place"}');
-- the same release for a seed, however many workers there are
CREATE TABLE crowd_nodes AS SELECT DISTINCT c, 'y' || substr(c, 2)::int / 4 AS four, 'z' || substr(c, 2)::int / 8 AS eight FROM crowd;
SET max_parallel_workers_per_gather = 0;
SELECT partitions, workers FROM kanon_freeform('crowd', 'nodes_alone', '{a,b,c}', 8, partition_size => 40, seed => 3, hierarchies => '{"c": "crowd_nodes"}');
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SELECT partitions, workers > 0 AS together FROM kanon_freeform('crowd', 'nodes_together', '{a,b,c}', 8, partition_size => 40, seed => 3, hierarchies => '{"c": "crowd_nodes"}');
RESET parallel_setup_cost;
RESET max_parallel_workers_per_gather;
SELECT count(*) FROM ((TABLE nodes_alone EXCEPT ALL TABLE nodes_together) UNION ALL (TABLE nodes_together EXCEPT ALL TABLE nodes_alone)) d;
RESET client_min_messages;
SELECT * FROM kanon_freeform('trip', 'x', '{age,city}', 3, hierarchies => '{"ward": "place"}');
SELECT * FROM kanon_check_freeform('trip', 'h_nodes', '{age,city}', 4, hierarchies => '{"city": "absent"}');
