-- kanon.max_memory for every reader: distinct values that are long are counted, each once, and given back
CREATE SCHEMA budget_test;
SET search_path = budget_test, public;
SET client_min_messages = warning;
SET kanon.progress = off;
CREATE TABLE large AS SELECT i % 7 AS g, t, t AS u, ARRAY['a', t] AS items FROM (SELECT i, repeat(md5((i % 1500)::text), 32) AS t FROM generate_series(1, 6000) i) l;
CREATE VIEW labels AS SELECT DISTINCT t AS v, repeat(md5(left(t, 3)), 16) || left(t, 30) AS l1, left(t, 1) AS l2 FROM large;
CREATE VIEW domain AS SELECT DISTINCT t FROM large;
CREATE VIEW shares AS SELECT 't' AS column_name, t AS value, 1.0 / 1500 AS share FROM domain;
CREATE FUNCTION works(call text, kilobytes int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('kanon.max_memory', kilobytes || 'kB', true);
    EXECUTE 'SELECT count(*) FROM ' || call;
    RETURN true;
EXCEPTION WHEN out_of_memory THEN
    RETURN false;
END $$;
-- so much is needed (of 64-bit servers, whose chunks differ a little from version to version): too little, and enough
SELECT call, works(call, needed * 85 / 100) AS with_less, works(call, needed * 115 / 100) AS with_that FROM (VALUES
    (1993, $$ kanon_pattern_guided('large', NULL, '{t}', 2, dry_run => true) $$),
    (2912, $$ kanon_pattern_guided('large', NULL, '{t,g}', 2, dry_run => true) $$),
    (2685, $$ kanon_pattern_guided('large', NULL, '{g}', 2, keep => '{t}', privacy => ARRAY[kanon_distinct_l('t', 2)], dry_run => true) $$),
    (7210, $$ kanon_full_domain('large', NULL, '{t}', 2, privacy => ARRAY[kanon_presence('shares', 1000000, 0, 1, 0.5)], dry_run => true) $$),
    (5428, $$ kanon_full_domain('large', NULL, '{t}', 2, hierarchies => '{"t": "labels"}', dry_run => true) $$),
    (7116, $$ kanon_full_domain('large', NULL, '{t,u}', 2, hierarchies => '{"t": "labels"}', dry_run => true) $$),
    (8148, $$ kanon_full_domain('large', NULL, '{t,u}', 2, hierarchies => '{"t": "labels", "u": "labels"}', dry_run => true) $$),
    (4371, $$ kanon_check_hierarchy('labels', 'large', 't') $$),
    (1940, $$ kanon_risk('large', '{g}', '{t}') $$),
    (1993, $$ kanon_risk_columns('large', '{g,t}') $$),
    (3425, $$ kanon_compare('large', 'large', '{t}') $$),
    (3715, $$ kanon_distributions('large', 'large', '{g}', 3, '{t}') $$),
    (2282, $$ kanon_transactions('large', NULL, 'items', 2, dry_run => true) $$),
    (1888, $$ kanon_check_transactions('large', 'items') $$),
    (1789, $$ kanon_anatomy('large', 'q_out', 's_out', '{g}', 't', 2, replace => true) $$),
    (1888, $$ kanon_synthetic('large', 'made', '{t}', 1, 0.5, '{"t": "domain"}', replace => true) $$)) c (needed, call);
DROP SCHEMA budget_test CASCADE;
