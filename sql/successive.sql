-- what the views and the report say of a run is what readers of the published view see: where row types
-- stay in their classes, where the key is taken out, where rows are taken from their classes to protect
-- persons of releases before, and all together
CREATE SCHEMA successive_test;
SET search_path = successive_test, public;
SET kanon.progress = off;
CREATE TABLE visits AS SELECT i AS id, i * i % 61 AS age, i * 7 % 11 AS zip, i % 3 AS sex, 'd' || i % 5 AS diagnosis
FROM generate_series(1, 700) i;

-- each figure as it is recorded, unless plain SQL says the same of the view
CREATE FUNCTION differences(view regclass, with_mark boolean) RETURNS TABLE (figure text, recorded text, seen text) LANGUAGE plpgsql AS $$
DECLARE
    last bigint := (SELECT max(run) FROM kanon_usefulness);
BEGIN
    EXECUTE format($f$ CREATE TEMP TABLE seen AS SELECT age, zip, sex, %s AS mark, count(*) AS n,
                   num_nulls(age, zip, sex) AS lost, num_nonnulls(age, zip, sex) = 0 AS blank FROM %s GROUP BY 1, 2, 3, 4 $f$,
                   CASE WHEN with_mark THEN 'kanon_pattern' ELSE 'NULL' END, view);
    RETURN QUERY
    SELECT f.figure, f.recorded::text, f.seen::text FROM (SELECT u.*, (SELECT held_persons > 0 FROM kanon_releases WHERE status = 'current') AS held FROM kanon_usefulness u) u CROSS JOIN LATERAL (VALUES
        ('rows', u.row_count - u.dropped_rows, (SELECT sum(n) FROM seen)::numeric),
        ('suppressed cells', u.suppressed_cells, (SELECT sum(n * lost) FROM seen)),
        ('suppressed share', round(u.suppressed_share::numeric, 6), (SELECT round(sum(n * lost) / (3 * sum(n)), 6) FROM seen)),
        ('cost', u.cost::numeric, (SELECT sum(n * lost) FROM seen)),
        ('classes', u.classes, (SELECT count(*) FROM seen)),
        ('smallest class', u.class_min, (SELECT min(n) FROM seen)),
        ('largest class', u.class_max, (SELECT max(n) FROM seen)),
        ('average class', round(u.class_avg::numeric, 6), (SELECT round(avg(n), 6) FROM seen)),
        ('discernibility', u.discernibility::numeric, (SELECT sum(CASE WHEN blank THEN n * u.row_count ELSE n * n END) FROM seen)
            + u.dropped_rows * u.row_count),
        ('dropped rows', u.dropped_rows, (CASE WHEN u.held THEN u.row_count ELSE (SELECT count(*) FROM visits) END) - (SELECT sum(n) FROM seen)),
        ('sum of classes', (SELECT sum(c.row_count) FROM kanon_equivalence_classes c WHERE c.run = last), (SELECT sum(n) FROM seen)),
        ('classes alike', (SELECT count(*) FROM kanon_equivalence_classes c JOIN seen s ON (c.shown ->> 'age')::int IS NOT DISTINCT FROM s.age
            AND (c.shown ->> 'zip')::int IS NOT DISTINCT FROM s.zip AND (c.shown ->> 'sex')::int IS NOT DISTINCT FROM s.sex
            AND c.row_count = s.n WHERE c.run = last), (SELECT count(*) FROM seen)),
        ('lost ages', (SELECT suppressed FROM kanon_columns k WHERE k.run = last AND ordinal = 1), (SELECT coalesce(sum(n), 0) FROM seen WHERE age IS NULL)),
        ('lost zips', (SELECT suppressed FROM kanon_columns k WHERE k.run = last AND ordinal = 2), (SELECT coalesce(sum(n), 0) FROM seen WHERE zip IS NULL)),
        ('lost sexes', (SELECT suppressed FROM kanon_columns k WHERE k.run = last AND ordinal = 3), (SELECT coalesce(sum(n), 0) FROM seen WHERE sex IS NULL)),
        ('rows by size', (SELECT sum(target_rows) FROM kanon_class_sizes s WHERE s.run = last), (SELECT sum(n) FROM seen WHERE NOT blank)),
        ('k', (SELECT r.k FROM kanon_run_risk r WHERE r.run = last AND stage = 'target'), (SELECT min(n) FROM seen WHERE NOT blank)),
        ('blank rows', (SELECT blank_rows FROM kanon_run_risk r WHERE r.run = last AND stage = 'target'), (SELECT coalesce(sum(n), 0) FROM seen WHERE blank)),
        ('columns kept', cardinality(u.kept), (SELECT count(*) FROM pg_attribute WHERE attrelid = view AND attnum > 0 AND attname = 'diagnosis')),
        ('report', (kanon_report_data(last) #>> '{measures,0,count}')::numeric, (SELECT sum(n * lost) FROM seen)))
        AS f (figure, recorded, seen)
    WHERE u.run = last AND f.recorded IS DISTINCT FROM f.seen;
    DROP TABLE seen;
END $$;

CREATE FUNCTION try(options jsonb, stable boolean, key name, protect boolean) RETURNS TABLE (release int, taken boolean, figure text, recorded text, seen text)
LANGUAGE plpgsql AS $$
DECLARE
    later bigint;
BEGIN
    DELETE FROM visits;
    INSERT INTO visits SELECT i, i * i % 61, i * 7 % 11, i % 3, 'd' || i % 5 FROM generate_series(1, 700) i;
    INSERT INTO visits SELECT 1000 + i, 70, 20, 9, 'rare' FROM generate_series(1, 3) i WHERE options ? 'patterns';
    PERFORM kanon_create_publication('p', 'visits', '{age,zip,sex}', 5, options, keep_releases => 3, stable => stable, key => key,
        protect_successive => protect);
    FOR r IN 1..3 LOOP
        SELECT held_persons INTO later FROM kanon_releases WHERE status = 'current';
        RETURN QUERY SELECT r, later > 0, d.* FROM (SELECT) one LEFT JOIN differences('p', options ? 'mark') d ON true;
        DELETE FROM visits WHERE id % 50 = r;
        UPDATE visits SET zip = (zip + r) % 11, age = (age + 1) % 23 WHERE id % 29 = r;
        PERFORM kanon_refresh('p');
    END LOOP;
    PERFORM kanon_drop_publication('p');
END $$;

SELECT * FROM try('{"keep": ["diagnosis"]}', true, NULL, false);
SELECT * FROM try('{"keep": ["diagnosis"]}', false, 'id', false);
SELECT * FROM try('{"keep": ["diagnosis"]}', false, 'id', true);
SELECT * FROM try('{"keep": ["diagnosis"], "mark": true}', true, 'id', true);
SELECT * FROM try('{"keep": ["diagnosis"], "residual": "drop"}', true, 'id', true);
-- what is nearly empty depends on the libraries that there are
SET client_min_messages = warning;
SELECT * FROM try('{"residual": "drop", "method": "improve"}', false, 'id', true);
SET client_min_messages = notice;
-- rows that the method itself leaves out: with a key, and protected near the release before
SELECT * FROM try('{"residual": "drop", "patterns": ["*--"], "keep": ["diagnosis"]}', false, 'id', false);
SELECT * FROM try('{"residual": "drop", "patterns": ["---", "*--"], "mark": true}', true, 'id', true);

-- a class that loses all of its rows, and others that lose some: all that is recorded is of those that are left
CREATE TABLE moved AS SELECT i AS id, CASE WHEN i <= 4 THEN 1 WHEN i <= 8 THEN 2 WHEN i <= 14 THEN i WHEN i <= 20 THEN 20 ELSE 30 END AS a, CASE WHEN i <= 14 THEN 1 WHEN i <= 20 THEN i ELSE 2 END AS b,
    'd' || i % 3 AS diagnosis FROM generate_series(1, 28) i;
CREATE FUNCTION recorded() RETURNS SETOF text LANGUAGE sql AS $$
    WITH last AS (SELECT max(run) AS run FROM kanon_usefulness)
    SELECT jsonb_strip_nulls(to_jsonb(r) - '{run,started_at,run_by,source,target,target_oid,version,publication,read_ms,solve_ms,write_ms,verify_ms,peak_memory,nodes,model,options,seed}'::text[])::text
    FROM kanon_usefulness r JOIN last USING (run)
    UNION ALL (SELECT jsonb_strip_nulls(to_jsonb(c) - 'run')::text FROM kanon_columns c JOIN last USING (run) ORDER BY c.ordinal)
    UNION ALL (SELECT jsonb_strip_nulls(to_jsonb(c) - 'run')::text FROM kanon_equivalence_classes c JOIN last USING (run) ORDER BY c.class)
$$;
SELECT kanon_create_publication('q', 'moved', '{a,b}', 3, '{"keep": ["diagnosis"], "class_column": "diagnosis", "mark": true}',
    keep_releases => 2, key => 'id', protect_successive => true);
UPDATE moved SET a = 2 WHERE id <= 2;
UPDATE moved SET a = 30, b = 2, diagnosis = 'd9' WHERE id = 9;
SELECT status, k, row_count, held_persons FROM kanon_refresh('q');
SELECT recorded();
SELECT kanon_pattern, a, b, string_agg(diagnosis, ' ' ORDER BY diagnosis) FROM q GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT class, array_agg(key ORDER BY key) FROM q_persons_2 GROUP BY 1 ORDER BY 1;
SELECT kanon_drop_publication('q');

-- classes that stay do so in whatever order they lie in the private table
SELECT kanon_create_publication('here', 'visits', '{age,zip,sex}', 5, stable => true);
SELECT kanon_create_publication('there', 'visits', '{age,zip,sex}', 5, stable => true);
UPDATE here_history SET digest = NULL; UPDATE there_history SET digest = NULL; -- as if something had changed
SELECT h.row_count, t.row_count FROM kanon_refresh('here') h, kanon_refresh('there') t;
CREATE TEMP TABLE kept AS TABLE there_types_2;
TRUNCATE there_types_2;
INSERT INTO there_types_2 SELECT k.* FROM kept k ORDER BY hashint4(kanon__class::int), k.*::text DESC;
INSERT INTO visits SELECT 1000 + id, age, zip, sex, diagnosis FROM visits;
SELECT h.row_count, t.row_count FROM kanon_refresh('here') h, kanon_refresh('there') t;
SELECT count(*) AS other FROM (SELECT age, zip, sex, count(*) FROM here GROUP BY 1, 2, 3 EXCEPT ALL SELECT age, zip, sex, count(*) FROM there GROUP BY 1, 2, 3) AS differ;
SELECT kanon_drop_publication('here'), kanon_drop_publication('there');

SET client_min_messages = warning;
DROP SCHEMA successive_test CASCADE;
