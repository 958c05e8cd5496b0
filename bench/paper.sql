-- The tables of the papers anew, with the numbers that are at hand beside ours (make paper).
-- :data is the folder of the data sets; reference.csv in it was computed independently, by the
-- papers' algorithms.  What differs is said; doc/explanation/paper.md says why.
CREATE EXTENSION IF NOT EXISTS kanon;
SET client_min_messages = warning;
SET kanon.progress = off;
\set adult_qis 'age,workclass,education,education_num,marital_status,occupation,relationship,race,sex,capital_gain,capital_loss,hours_per_week,native_country,salary_class'
\set adult2 'age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class'
\set cmc_qis 'wife_age,wife_education,husband_education,children,religion,wife_working,husband_occupation,living_standard,media_exposure,contraceptive'
\set nursery_qis 'parents,has_nurs,form,children,housing,finance,social,health'
SELECT :'data' || '/adult.csv' AS adult_csv, :'data' || '/cmc.csv' AS cmc_csv, :'data' || '/nursery.csv' AS nursery_csv,
       :'data' || '/adult-arx.csv' AS arx_csv, :'data' || '/reference.csv' AS reference_csv, :'data' || '/adult-hierarchies' AS arx_hierarchies \gset

CREATE TABLE adult (age int, workclass text, fnlwgt int, education text, education_num int, marital_status text,
    occupation text, relationship text, race text, sex text, capital_gain int, capital_loss int,
    hours_per_week int, native_country text, salary_class text);
-- only ages and children are numbers
CREATE TABLE cmc (id int, wife_age int, wife_education text, husband_education text, children int, religion text,
    wife_working text, husband_occupation text, living_standard text, media_exposure text, contraceptive text);
CREATE TABLE nursery (parents text, has_nurs text, form text, children text, housing text, finance text,
    social text, health text, class text);
CREATE TABLE reference ("case" text, k bigint, greedy_s bigint, greedy_h bigint, greedy_class_max bigint, greedy_u numeric, optimum_s bigint);
COPY adult FROM :'adult_csv' (FORMAT csv, DELIMITER ';');
COPY cmc FROM :'cmc_csv' (FORMAT csv, DELIMITER ';');
COPY nursery FROM :'nursery_csv' (FORMAT csv, DELIMITER ';');
COPY reference FROM :'reference_csv' (FORMAT csv, DELIMITER ';', HEADER);

-- The cases of the paper, in its mode: fully suppressed rows may be fewer than k, and the heuristic tries one order of patterns.
-- 'default' is greedy as kanon runs it: several orders.
CREATE TABLE paper_case ("case" text, source regclass, qis name[], patterns text[], shows text);
INSERT INTO paper_case VALUES
    ('adult-all', 'adult', ('{' || :'adult_qis' || '}')::name[], NULL, 'range,set,set,range,set,set,set,set,set,range,range,range,set,set'),
    ('nursery-all', 'nursery', ('{' || :'nursery_qis' || '}')::name[], NULL, 'set'),
    ('cmc-all', 'cmc', ('{' || :'cmc_qis' || '}')::name[], NULL, 'range,set,set,range,set,set,set,set,set,set'),
    ('adult2-all', 'adult', ('{' || :'adult2' || '}')::name[], NULL, 'range,set,set,set,set,set,set,set,set'),
    ('cmc-mask2', 'cmc', ('{' || :'cmc_qis' || '}')::name[],
     ARRAY(SELECT kanon_patterns(('{' || :'cmc_qis' || '}')::name[], max_suppressed => 2)), 'range,set,set,range,set,set,set,set,set,set'),
    ('adult2-mask15', 'adult', ('{' || :'adult2' || '}')::name[],
     ARRAY(SELECT kanon_patterns(('{' || :'adult2' || '}')::name[], max_suppressed => 2, never => '{education,salary_class}',
                                 together => '{"workclass,occupation"}', at_most_one => '{"age,race,sex"}')), 'range,set,set,set,set,set,set,set,set');

CREATE TABLE paper_run ("case" text, k bigint, method text, s bigint, h bigint, class_max bigint, u float8, proven boolean, ms float8);
CREATE PROCEDURE paper_run(c paper_case, k bigint, method text) LANGUAGE plpgsql AS $$
BEGIN
    IF method = 'mondrian' THEN
        PERFORM FROM kanon_cluster(c.source, 'paper_out', c.qis, k, method, show => c.shows, replace => true);
    ELSE
        PERFORM FROM kanon_pattern_guided(c.source, 'paper_out', c.qis, k, patterns => c.patterns, method => CASE method WHEN 'default' THEN 'greedy' ELSE method END,
                                          residual => 'suppress', effort => CASE method WHEN 'greedy' THEN 0 ELSE 1 END, time_limit => '60 seconds', replace => true);
    END IF;
    INSERT INTO paper_run SELECT c."case", r.k, paper_run.method, r.suppressed_cells, r.classes, r.class_max, r.usefulness, r.proven, r.solve_ms
    FROM kanon_usefulness r ORDER BY r.run DESC LIMIT 1;
END $$;
DO $$
DECLARE
    c paper_case;
    k bigint;
BEGIN
    FOR c IN SELECT * FROM paper_case LOOP
        FOREACH k IN ARRAY '{2,3,4,5,6,7,8,9,10,25,50,75,100}'::bigint[] LOOP
            CALL paper_run(c, k, 'greedy');
            CALL paper_run(c, k, 'default');
            IF c.patterns IS NOT NULL OR c."case" = 'nursery-all' THEN
                CALL paper_run(c, k, 'ilp');
            END IF;
            IF c.patterns IS NULL AND k IN (2, 5, 10, 50, 100) THEN
                CALL paper_run(c, k, 'mondrian');
            END IF;
            COMMIT;
        END LOOP;
    END LOOP;
END $$;

\echo
\echo '1. The heuristic (Algorithm 1) on each data set and mask: s suppressed cells, h classes, u usefulness; reference: computed independently'
SELECT "case", k, r.s, f.greedy_s AS s_reference, r.h, f.greedy_h AS h_reference, r.class_max AS max, f.greedy_class_max AS max_reference,
       round(r.u::numeric, 4) AS u, f.greedy_u AS u_reference, round(r.ms::numeric, 1) AS ms,
       CASE WHEN f.greedy_s IS NULL THEN 'none at hand'
            WHEN (r.s, r.h, r.class_max, round(r.u::numeric, 4)) = (f.greedy_s, f.greedy_h, f.greedy_class_max, f.greedy_u) THEN 'equal'
            ELSE 'DIFFERS' END AS verdict
FROM paper_run r LEFT JOIN reference f USING ("case", k) WHERE method = 'greedy'
ORDER BY array_position('{adult-all,nursery-all,cmc-all,adult2-all,cmc-mask2,adult2-mask15}', "case"), k;

\echo
\echo 'kanon''s default, which tries several orders of patterns, against the one order of the paper'
SELECT "case", k, g.s AS paper_s, d.s AS default_s, g.h AS paper_h, d.h AS default_h, round(g.u::numeric, 4) AS paper_u, round(d.u::numeric, 4) AS default_u
FROM paper_run g JOIN paper_run d USING ("case", k) WHERE g.method = 'greedy' AND d.method = 'default' AND k IN (2, 10, 100)
ORDER BY array_position('{adult-all,nursery-all,cmc-all,adult2-all,cmc-mask2,adult2-mask15}', "case"), k;

\echo
\echo '2. Section 3.6: the heuristic against the optimum; optimum_reference: computed independently'
SELECT "case", k, g.s AS greedy, i.s AS optimum, f.optimum_s AS optimum_reference, round(100 * (g.s - i.s)::numeric / nullif(i.s, 0), 1) AS "greedy above, %",
       i.proven, round(i.ms::numeric / 1000, 2) AS ilp_s,
       CASE WHEN f.optimum_s IS NULL THEN 'none at hand' WHEN f.optimum_s = i.s THEN 'equal' ELSE 'DIFFERS' END AS verdict
FROM paper_run g JOIN paper_run i USING ("case", k) LEFT JOIN reference f USING ("case", k)
WHERE g.method = 'greedy' AND i.method = 'ilp' ORDER BY 1, 2;

\echo
\echo '3. Section 3.5: Mondrian against the heuristic (usefulness: less is better)'
SELECT "case", k, round(g.u::numeric, 3) AS greedy, round(m.u::numeric, 3) AS mondrian, round((m.u / g.u)::numeric, 3) AS "mondrian / greedy",
       round(g.ms::numeric, 1) AS greedy_ms, round(m.ms::numeric, 1) AS mondrian_ms
FROM paper_run g JOIN paper_run m USING ("case", k) WHERE g.method = 'greedy' AND m.method = 'mondrian' ORDER BY 1, 2;

\echo
\echo '4. Theorems: greedy costs at most d times the least, and nearly so here; each exact method finds one optimum'
-- k groups of k rows, one row of each in a class across all groups: greedy takes these, and the others have no company left
CREATE TABLE tight AS
SELECT k.k, g AS a, CASE WHEN j = 0 THEN 0 ELSE k.k * g + j END AS b, 0 AS c, 0 AS d, 0 AS e, 0 AS f
FROM (VALUES (2), (5), (10), (20), (50)) k (k), generate_series(1, k.k) g, generate_series(0, k.k - 1) j;
CREATE TABLE tight_run (k int, greedy float8, optimum float8);
DO $$
DECLARE
    each_k int;
    g float8;
    o float8;
BEGIN
    FOREACH each_k IN ARRAY '{2,5,10,20,50}'::int[] LOOP
        EXECUTE format('CREATE OR REPLACE VIEW tight_k AS SELECT a, b, c, d, e, f FROM tight WHERE k = %s', each_k);
        SELECT sum(suppressed_cells) INTO g FROM kanon_pattern_guided('tight_k', NULL, '{a,b,c,d,e,f}', each_k, patterns => '{------,*-----,-*----,******}', effort => 0, dry_run => true);
        SELECT sum(suppressed_cells) INTO o FROM kanon_pattern_guided('tight_k', NULL, '{a,b,c,d,e,f}', each_k, patterns => '{------,*-----,-*----,******}', method => 'ilp', dry_run => true);
        INSERT INTO tight_run VALUES (each_k, g, o);
    END LOOP;
END $$;
SELECT k, 6 AS d, greedy, optimum, round((greedy / optimum)::numeric, 3) AS ratio FROM tight_run ORDER BY k;
CREATE TABLE few AS SELECT i % 2 AS a, i % 3 AS b, i % 4 AS c FROM generate_series(1, 6) i;
SELECT method, sum(suppressed_cells) AS cost FROM unnest('{greedy,ilp,fpt,matching}'::text[]) method,
    LATERAL kanon_pattern_guided('few', NULL, '{a,b,c}', 2, patterns => '{---,*--,-*-,**-,***}', method => method, dry_run => true)
GROUP BY method ORDER BY method;

\echo
\echo '5. Freeform generalisation, 1,000 rows of Adult-2 without salary_class: GCP by k; no number of the paper is at hand'
CREATE TABLE freeform_rows AS SELECT * FROM adult LIMIT 1000;
SELECT method, round(max(gcp) FILTER (WHERE k = 5)::numeric, 4) AS "k = 5", round(max(gcp) FILTER (WHERE k = 10)::numeric, 4) AS "k = 10",
       round(max(gcp) FILTER (WHERE k = 20)::numeric, 4) AS "k = 20", round(sum(solve_ms)::numeric / 1000, 1) AS s
FROM unnest('{ring,greedy,plain_sort_greedy,sort_greedy,plain_hungarian,hungarian}'::text[]) method, unnest('{5,10,20}'::bigint[]) k,
    LATERAL kanon_freeform('freeform_rows', NULL, '{age,workclass,education,marital_status,occupation,race,sex,native_country}', k, method => method,
                           time_limit => '5 minutes', dry_run => true)
GROUP BY method ORDER BY max(gcp) FILTER (WHERE k = 10) DESC;

\echo
\echo '6. Full-domain searches on Adult as ARX ships it, 12,960 nodes: nodes that are checked; no number of the papers is at hand'
CREATE TABLE adult_arx (sex text, age int, race text, "marital-status" text, education text,
    "native-country" text, workclass text, occupation text, "salary-class" text);
COPY adult_arx FROM :'arx_csv' (FORMAT csv, DELIMITER ';', HEADER);
SELECT format('CREATE TABLE %I (value %s, %s)', name || '_h', CASE name WHEN 'age' THEN 'int' ELSE 'text' END,
              (SELECT string_agg('l' || i || ' text', ', ') FROM generate_series(1, levels) i)),
       format('COPY %I FROM %L (FORMAT csv, DELIMITER %L)', name || '_h', :'arx_hierarchies' || '/' || name || '.csv', ';')
FROM (VALUES ('sex', 1), ('age', 4), ('race', 1), ('marital-status', 2), ('education', 3), ('native-country', 2),
             ('workclass', 2), ('occupation', 2), ('salary-class', 1)) h (name, levels) \gexec
SELECT '{' || string_agg(attname, ',' ORDER BY attnum) || '}' AS arx, json_object_agg(attname, quote_ident(attname || '_h')) AS arx_h
FROM pg_attribute WHERE attrelid = 'adult_arx'::regclass AND attnum > 0 \gset
SELECT metric, k, "limit", round(min(value)::numeric, 2) AS least, count(DISTINCT value) = 1 AS "all agree",
       sum(checked) FILTER (WHERE method = 'samarati') AS samarati, sum(checked) FILTER (WHERE method = 'incognito') AS incognito,
       sum(checked) FILTER (WHERE method = 'flash') AS flash, sum(checked) FILTER (WHERE method = 'speedy') AS speedy
FROM (SELECT metric, k, "limit", method, f.metric_value AS value, f.nodes_checked AS checked
      FROM unnest('{discernibility,loss}'::text[]) metric, unnest('{2,5,10}'::int[]) k, unnest('{0,0.02,0.05}'::float8[]) "limit",
          unnest('{samarati,incognito,flash,speedy}'::text[]) method,
          LATERAL kanon_full_domain('adult_arx', NULL, :'arx', k, hierarchies => :'arx_h', suppression_limit => "limit", metric => metric,
                                    method => method, dry_run => true) f) searches
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- what differs from the references ends the run with an error
DO $$
BEGIN
    IF EXISTS (SELECT FROM paper_run r JOIN reference f USING ("case", k)
               WHERE r.method = 'greedy' AND (r.s, r.h, r.class_max, round(r.u::numeric, 4)) <> (f.greedy_s, f.greedy_h, f.greedy_class_max, f.greedy_u)
                  OR r.method = 'ilp' AND r.s <> f.optimum_s) THEN
        RAISE EXCEPTION 'some results differ from the references: see DIFFERS above';
    END IF;
END $$;
