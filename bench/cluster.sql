-- Classes of any shape: Mondrian against pattern-guided releases (section 3.5 of the
-- paper, anew), and what the clusterings take and lose.
\set adult2 'age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class'
\set cmc_qis 'wife_age,wife_education,husband_education,children,religion,wife_working,husband_occupation,living_standard,media_exposure,contraceptive'
\set nursery_qis 'parents,has_nurs,form,children,housing,finance,social,health'
-- as the paper measures them: only ages and children are numbers
CREATE TABLE cmc35 (id int, wife_age int, wife_education text, husband_education text, children int, religion text,
    wife_working text, husband_occupation text, living_standard text, media_exposure text, contraceptive text);
CREATE TABLE nursery35 (parents text, has_nurs text, form text, children text, housing text, finance text,
    social text, health text, class text);
CREATE TABLE arx (sex text, age int, race text, marital_status text, education text, native_country text, workclass text,
    occupation text, salary_class text);
SELECT :'data' || '/cmc.csv' AS cmc_csv, :'data' || '/nursery.csv' AS nursery_csv, :'data' || '/adult-arx.csv' AS arx_csv \gset
\if :real_data
COPY arx FROM :'arx_csv' (FORMAT csv, DELIMITER ';', HEADER);
COPY cmc35 FROM :'cmc_csv' (FORMAT csv, DELIMITER ';');
COPY nursery35 FROM :'nursery_csv' (FORMAT csv, DELIMITER ';');
\endif
ANALYZE;

CREATE TABLE section35 (data text, place serial, k bigint, method text, usefulness float8, solve_ms float8, classes bigint,
    class_avg float8, class_max bigint, gcp float8);

-- One line: the run that was recorded last.
CREATE PROCEDURE note(data text, method text) LANGUAGE sql AS $$
    INSERT INTO section35 (data, k, method, usefulness, solve_ms, classes, class_avg, class_max, gcp)
    SELECT data, u.k, method, u.usefulness, u.solve_ms, u.classes, u.class_avg, u.class_max, u.gcp
    FROM kanon_usefulness AS u ORDER BY u.run DESC LIMIT 1;
$$;

-- Patterns: every combination.  Mondrian shows ranges of numbers and sets of categories.
CREATE PROCEDURE section35_run(data text, source regclass, qis name[], shows text) LANGUAGE plpgsql AS $$
DECLARE
    k bigint;
    m text;
BEGIN
    FOREACH k IN ARRAY '{2,3,4,5,6,7,8,9,10,25,50,75,100}'::bigint[] LOOP
        FOREACH m IN ARRAY '{greedy,improve}'::text[] LOOP
            PERFORM FROM kanon_pattern_guided(source, 'bench_out', qis, k, method => m, time_limit => '5 seconds', replace => true);
            CALL note(data, m);
            COMMIT;
        END LOOP;
        FOREACH m IN ARRAY '{mondrian,mondrian_relaxed}'::text[] LOOP
            PERFORM FROM kanon_cluster(source, 'bench_out', qis, k, m, show => shows, replace => true);
            CALL note(data, m);
            COMMIT;
        END LOOP;
        DROP TABLE bench_out;
    END LOOP;
END $$;

CALL section35_run('Adult', 'adult', '{age,workclass,education,education_num,marital_status,occupation,relationship,race,sex,capital_gain,capital_loss,hours_per_week,native_country,salary_class}',
    'range,set,set,range,set,set,set,set,set,range,range,range,set,set');
CALL section35_run('Adult-2', 'adult', ('{' || :'adult2' || '}')::name[], 'range,set,set,set,set,set,set,set,set');
\if :real_data
CALL section35_run('Nursery', 'nursery35', ('{' || :'nursery_qis' || '}')::name[], 'set');
CALL section35_run('CMC', 'cmc35', ('{' || :'cmc_qis' || '}')::name[], 'range,set,set,range,set,set,set,set,set,set');
\endif

\echo
\echo 'Mondrian against pattern-guided releases (usefulness: less is better; every combination of columns allowed)'
SELECT data, k, method, round(usefulness::numeric, 3) AS usefulness, round(solve_ms::numeric, 1) AS solve_ms, classes,
       round(class_avg::numeric, 1) AS class_avg, class_max, round(100 * gcp::numeric, 2) AS gcp_percent
FROM section35 WHERE k IN (2, 5, 10, 50, 100) ORDER BY min(place) OVER (PARTITION BY data), k, place;
\set to :results '/section35.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT data, k, method, usefulness, solve_ms, classes, class_avg, class_max, gcp FROM section35 ORDER BY place;
\o
\pset format aligned

\echo
\echo 'every method (Adult-2; ranges of ages, sets of categories)'
CREATE TABLE methods (method text, k bigint, place serial, solve_ms float8, classes bigint, cost float8, lower_bound float8,
    guarantee float8, gcp float8);
CREATE PROCEDURE method_run(m text, k bigint, qis name[], shows text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM kanon_cluster('adult', 'bench_out', qis, k, m, show => shows, time_limit => '10 minutes');
    INSERT INTO methods (method, k, solve_ms, classes, cost, lower_bound, guarantee, gcp)
    SELECT m, u.k, u.solve_ms, u.classes, u.cost, u.lower_bound, u.guarantee, u.gcp FROM kanon_usefulness AS u ORDER BY run DESC LIMIT 1;
    DROP TABLE bench_out;
END $$;
SELECT format('CALL method_run(%L, %s, %L, %L)', m, k, '{' || :'adult2' || '}', 'range,set,set,set,set,set,set,set,set')
FROM unnest('{mondrian,mondrian_relaxed,forest,bottom_up,top_down,gather}'::text[]) WITH ORDINALITY AS t (m, n),
     unnest('{5,10}'::int[]) AS k
ORDER BY k, n \gexec
SELECT format('CALL method_run(%L, 2, %L, %L)', 'pairs', '{' || :'adult2' || '}', 'range,set,set,set,set,set,set,set,set') \gexec
SELECT method, k, round(solve_ms::numeric) AS solve_ms, classes, round(cost::numeric) AS cost, round(lower_bound::numeric) AS bound,
       round((cost / lower_bound)::numeric, 2) AS cost_by_bound, guarantee, round(100 * gcp::numeric, 2) AS gcp_percent
FROM methods ORDER BY k, place;
\set to :results '/cluster_methods.tsv'
\o :to
\pset format unaligned
SELECT method, k, solve_ms, classes, cost, lower_bound, guarantee, gcp FROM methods ORDER BY k, place;
\o
\pset format aligned

\if :real_data
\echo
\echo 'Adult as ARX ships it, 9 quasi-identifiers, k = 10'
SELECT m AS method, round(100 * gcp::numeric, 2) AS gcp_percent, classes
FROM unnest('{mondrian,mondrian_relaxed}'::text[]) AS m,
     kanon_cluster('arx', NULL, '{sex,age,race,marital_status,education,native_country,workclass,occupation,salary_class}', 10, m,
         show => 'set,range,set,set,set,set,set,set,set', dry_run => true);
\endif

\echo
\echo 'Mondrian on 3.26 million row types (medians)'
CREATE TABLE types3 AS
SELECT age * 365 + (row_number() OVER ())::int % 365 AS days, workclass, education, marital_status, occupation, race, sex,
       native_country, capital_gain + (row_number() OVER ())::int AS gain
FROM big;
ANALYZE types3;
SELECT 'days,workclass,education,marital_status,occupation,race,sex,native_country,gain' AS types3_qis \gset
CALL compare('cluster', 'kanon_cluster by mondrian, dry run, 3.26 million row types / one GROUP BY',
    format('SELECT FROM kanon_cluster(%L, NULL, %L, 10, %L, show => %L, dry_run => true)', 'types3', '{' || :'types3_qis' || '}',
        'mondrian', 'range,suppress,suppress,suppress,suppress,suppress,suppress,suppress,range'),
    format('SELECT count(*) FROM (SELECT count(*) FROM types3 GROUP BY %s) g', :'types3_qis'), NULL, NULL, 3);
SELECT FROM kanon_cluster('types3', 'bench_out', ('{' || :'types3_qis' || '}')::name[], 10, 'mondrian',
    show => 'range,suppress,suppress,suppress,suppress,suppress,suppress,suppress,range');
INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
SELECT 'cluster', 'mondrian, method and measures, 3.26 million row types / one GROUP BY', u.solve_ms, r.b_ms, u.solve_ms / r.b_ms, 3, 1.5
FROM (SELECT solve_ms FROM kanon_usefulness ORDER BY run DESC LIMIT 1) AS u, result AS r WHERE r.bench = 'cluster';
DROP TABLE bench_out;
INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
SELECT 'cluster', 'forest, Adult-2, k = 5: method and measures / 1 s', solve_ms, 1000, solve_ms / 1000, 20, 5
FROM methods WHERE method = 'forest' AND k = 5;
INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
SELECT 'cluster', 'bottom_up, Adult-2, k = 10: GCP / Mondrian''s', b.gcp, m.gcp, b.gcp / m.gcp, 1, 0.8
FROM methods AS b, methods AS m WHERE b.method = 'bottom_up' AND m.method = 'mondrian' AND b.k = 10 AND m.k = 10;
SELECT name, round(a_ms::numeric, 2) AS a, round(b_ms::numeric, 2) AS b, round(ratio::numeric, 2) AS ratio, must, aim
FROM result WHERE bench = 'cluster' ORDER BY place;
\set to :results '/cluster.tsv'
\o :to
\pset format unaligned
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'cluster' AND must IS NOT NULL ORDER BY place;
\o
\pset format aligned
DROP TABLE types3;
