-- A function of the source that drops, renames or moves the table that is being filled, or the one that
-- it is to replace: serialization_failure (40001), whichever function publishes, and nothing is left behind.
CREATE SCHEMA dropped_test;
SET search_path = dropped_test, public;
SET client_min_messages = warning;
CREATE TABLE people AS SELECT i % 5 AS a, i % 3 AS b, i % 7 AS s, i AS id, (1.5 * i)::float8 AS x, 'z' || i % 5 AS zip FROM generate_series(1, 60) i;
CREATE TABLE old AS SELECT 1 AS z;
CREATE TABLE old_too AS SELECT 1 AS z;
-- what is done to which table when that row is read
CREATE SEQUENCE reads;
CREATE TABLE plan (at bigint, of text, what text);
CREATE FUNCTION act() RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    p plan;
    name text;
BEGIN
    SELECT * INTO p FROM plan;
    IF nextval('reads') <> p.at THEN RETURN true; END IF;
    SELECT oid::regclass INTO name FROM pg_class WHERE relname ~ p.of AND relkind = 'r' AND relnamespace = 'dropped_test'::regnamespace ORDER BY oid LIMIT 1;
    IF name IS NULL THEN RETURN true; END IF;
    INSERT INTO done VALUES (p.of, p.what);
    IF p.what = 'move' THEN CREATE SCHEMA dropped_test_other; END IF;
    EXECUTE format(CASE p.what WHEN 'rename' THEN 'ALTER TABLE %s RENAME TO gone' WHEN 'move' THEN 'ALTER TABLE %s SET SCHEMA dropped_test_other' ELSE 'DROP TABLE %s' END, name);
    IF p.what = 'replace' THEN EXECUTE format('CREATE TABLE %s (z int)', name); END IF;
    IF p.what = 'view' THEN EXECUTE format('CREATE VIEW %s AS SELECT 1 AS z', name); END IF;
    RETURN true;
END $$;
CREATE TABLE done (of text, what text);
CREATE VIEW watched AS SELECT * FROM people WHERE act();
CREATE FUNCTION outcome(call text, at bigint, of text, what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    acted bool;
BEGIN
    DELETE FROM plan;
    INSERT INTO plan VALUES (at, of, what);
    PERFORM setval('reads', 1, false);
    BEGIN
        EXECUTE call;
        SELECT count(*) > 0 INTO acted FROM done;
        RAISE EXCEPTION USING ERRCODE = 'P0000', MESSAGE = CASE WHEN acted THEN 'published all the same' ELSE 'not reached' END;
    EXCEPTION WHEN OTHERS THEN
        RETURN CASE SQLSTATE WHEN 'P0000' THEN SQLERRM ELSE SQLSTATE || ' ' || regexp_replace(SQLERRM, 'kanon_building_\d+', 'kanon_building_N') END;
    END;
END $$;
CREATE TABLE calls (of text, call text);
INSERT INTO calls VALUES
    ('pattern_guided', 'SELECT FROM kanon_pattern_guided(%L, %L, ''{a,b}'', 5, replace => true)'),
    ('pattern_clustering', 'SELECT FROM kanon_pattern_clustering(%L, %L, ''{a,b}'', 5, method => ''greedy'', patterns => ''{*-,**}'', replace => true)'),
    ('cluster', 'SELECT FROM kanon_cluster(%L, %L, ''{a,b}'', 5, replace => true)'),
    ('full_domain', 'SELECT FROM kanon_full_domain(%L, %L, ''{a,b}'', 5, replace => true)'),
    ('subtree', 'SELECT FROM kanon_subtree(%L, %L, ''{a,b}'', 5, replace => true)'),
    ('freeform', 'SELECT FROM kanon_freeform(%L, %L, ''{a,b}'', 5, replace => true)'),
    ('transactions', 'SELECT FROM kanon_transactions(%L, %L, ''a'', 2, transaction => ''id'', replace => true)'),
    ('anatomy', 'SELECT FROM kanon_anatomy(%L, %L, ''old_too'', ''{a,b}'', ''s'', 2, replace => true)'),
    ('anatomy, the other table', 'SELECT FROM kanon_anatomy(%L, ''old_too'', %L, ''{a,b}'', ''s'', 2, replace => true)'),
    ('alpha_beta', 'SELECT FROM kanon_alpha_beta(%L, %L, ''{a,b}'', 0.9, 0.95, ''{"a": [0,1,2,3,4,5,6,7,8,9,10,11], "b": [0,1,2,3,4,5,6,7,8]}'', replace => true)'),
    ('synthetic', 'SELECT FROM kanon_synthetic(%L, %L, ''{a,b}'', 8, 0.01, ''{"a": [0,1,2,3,4], "b": [0,1,2]}'', replace => true)'),
    ('cross_training', 'SELECT FROM kanon_cross_training(%L, %L, ''{x}'', 5, replace => true)'),
    ('hierarchy_interval', 'SELECT kanon_hierarchy_interval(%L, ''a'', %L, ''{2}'', replace => true)'),
    ('hierarchy_prefix', 'SELECT kanon_hierarchy_prefix(%L, ''zip'', %L, ''{1}'', replace => true)');
SELECT w.of, w.what, o.outcome, count(DISTINCT c.of) AS functions
FROM calls c, (VALUES ('^old$', 'drop'), ('^old$', 'replace'), ('^old$', 'view'), ('^old$', 'rename'), ('^old$', 'move'),
                      ('^kanon_building_', 'drop'), ('^kanon_building_', 'replace'), ('^kanon_building_', 'rename'), ('^kanon_building_', 'move')) AS w (of, what),
     unnest('{1,60,61,120,121}'::bigint[]) AS a (at), LATERAL outcome(format(c.call, 'watched', 'old'), a.at, w.of, w.what) AS o (outcome)
WHERE o.outcome <> 'not reached' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
-- every one of them has been put to the test
SELECT c.of, count(*) FILTER (WHERE o.outcome ~ '^40001') > 0 AS reached
FROM calls c, unnest('{1,60,61,120,121}'::bigint[]) AS a (at), LATERAL outcome(format(c.call, 'watched', 'old'), a.at, '^(kanon_building_|old$)', 'drop') AS o (outcome)
GROUP BY 1 ORDER BY 1;
-- and under its own name, where it replaces nothing
SELECT o.outcome, count(DISTINCT c.of) FROM calls c, unnest('{1,60,61,120,121}'::bigint[]) AS a (at), LATERAL outcome(format(c.call, 'watched', 'new'), a.at, '^new$', 'drop') AS o (outcome)
WHERE o.outcome <> 'not reached' GROUP BY 1;
SELECT count(*) AS left_behind FROM pg_class WHERE relname ~ '^kanon_building_' AND relkind = 'r';
SET client_min_messages = warning;
DROP SCHEMA dropped_test CASCADE;
