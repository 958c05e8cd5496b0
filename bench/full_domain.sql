-- kanon_full_domain on Adult with ARX's hierarchies, and on row types that do not collapse.
\echo
\echo 'full-domain: Adult of ARX, 9 QIs, 12,960 nodes'
SELECT :'data' <> '' AS full_domain_data,
       :'data' || '/adult-arx.csv' AS arx_csv, :'data' || '/adult-hierarchies' AS arx_hierarchies \gset
\if :full_domain_data
CREATE TABLE adult_arx (sex text, age int, race text, "marital-status" text, education text,
    "native-country" text, workclass text, occupation text, "salary-class" text);
COPY adult_arx FROM :'arx_csv' (FORMAT csv, DELIMITER ';', HEADER);
SELECT format('CREATE TABLE %I (value %s, %s)', name || '_h', CASE name WHEN 'age' THEN 'int' ELSE 'text' END,
              (SELECT string_agg('l' || i || ' text', ', ') FROM generate_series(1, levels) i)),
       format('COPY %I FROM %L (FORMAT csv, DELIMITER %L)', name || '_h', :'arx_hierarchies' || '/' || name || '.csv', ';')
FROM (VALUES ('sex', 1), ('age', 4), ('race', 1), ('marital-status', 2), ('education', 3), ('native-country', 2),
             ('workclass', 2), ('occupation', 2), ('salary-class', 1)) h (name, levels) \gexec
ANALYZE;
SELECT '{' || string_agg(attname, ',' ORDER BY attnum) || '}' AS arx,
       json_object_agg(attname, quote_ident(attname || '_h')) AS arx_h,
       string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS arx_columns
FROM pg_attribute WHERE attrelid = 'adult_arx'::regclass AND attnum > 0 \gset

-- how many nodes are checked
CREATE TABLE checks AS
SELECT metric, k, suppression_limit, algorithm, f.metric_value, f.suppressed_rows, f.nodes_checked
FROM unnest('{loss,discernibility}'::text[]) metric, unnest('{2,5,10}'::int[]) k, unnest('{0,0.05}'::float8[]) suppression_limit,
    unnest('{samarati,incognito,flash}'::text[]) algorithm,
    kanon_full_domain('adult_arx', NULL, :'arx', k, hierarchies => :'arx_h', suppression_limit => suppression_limit, metric => metric, method => algorithm, dry_run => true) f;
SELECT metric, k, suppression_limit AS "limit", min(metric_value) AS least, min(suppressed_rows) AS suppressed,
       sum(nodes_checked) FILTER (WHERE algorithm = 'samarati') AS samarati,
       sum(nodes_checked) FILTER (WHERE algorithm = 'incognito') AS incognito,
       sum(nodes_checked) FILTER (WHERE algorithm = 'flash') AS flash
FROM checks GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
\set to :results '/full_domain_checks.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT metric, k, suppression_limit, algorithm, metric_value, suppressed_rows, nodes_checked FROM checks ORDER BY 1, 2, 3, 4;
\o
\pset format aligned

-- the whole call, reading included, against one grouping
SELECT format('SELECT count(*) FROM (SELECT count(*) FROM adult_arx GROUP BY %s) g', :'arx_columns') AS plain,
       format('SELECT FROM kanon_full_domain(%L, NULL, %L, 5, hierarchies => %L, suppression_limit => ', 'adult_arx', :'arx', :'arx_h') AS call \gset
CALL compare('full_domain', 'k = 5, limit 0.05, loss / one GROUP BY', :'call' || '0.05, dry_run => true)', :'plain', 20, 6, 9);
CALL compare('full_domain', 'k = 5, limit 0.05, discernibility / one GROUP BY', :'call' || '0.05, metric => ''discernibility'', dry_run => true)', :'plain', 20, 6, 9);
CALL compare('full_domain', 'k = 5, limit 0, loss / one GROUP BY', :'call' || '0, dry_run => true)', :'plain', 20, 6, 9);
CALL compare('full_domain', 'k = 5, limit 1, loss / one GROUP BY', :'call' || '1, dry_run => true)', :'plain', NULL, NULL, 9);
\endif

\echo
\echo 'full-domain: 3 million row types that do not collapse, the search alone'
SET kanon.max_memory = '4GB';
CREATE TABLE apart AS
SELECT i % 500 AS a, i / 500 % 100 AS b, i / 50000 AS c, hashint4(i) & 15 AS d, hashint4(i + 1) & 7 AS e
FROM generate_series(0, 2999999) i;
CREATE TABLE apart_a AS SELECT v, v / 5 AS l1, v / 50 AS l2 FROM generate_series(0, 499) v;
CREATE TABLE apart_b AS SELECT v, v / 5 AS l1, v / 20 AS l2 FROM generate_series(0, 99) v;
CREATE TABLE apart_c AS SELECT v, v / 4 AS l1, v / 20 AS l2 FROM generate_series(0, 59) v;
CREATE TABLE apart_d AS SELECT v, v / 4 AS l1 FROM generate_series(0, 15) v;
ANALYZE;
CREATE PROCEDURE speedy_against_flash(with_workers int, must float8, aim float8) LANGUAGE plpgsql AS $$
DECLARE
    h jsonb := '{"a": "apart_a", "b": "apart_b", "c": "apart_c", "d": "apart_d"}';
    speedy float8[] := '{}';
    flash float8[] := '{}';
    used int;
BEGIN
    FOR i IN 0..3 LOOP
        speedy := speedy || (SELECT solve_ms FROM kanon_full_domain('apart', NULL, '{a,b,c,d,e}', 5, hierarchies => h, suppression_limit => 0.02, metric => 'loss', method => 'speedy', workers => with_workers, dry_run => true));
        flash := flash || (SELECT solve_ms FROM kanon_full_domain('apart', NULL, '{a,b,c,d,e}', 5, hierarchies => h, suppression_limit => 0.02, metric => 'loss', method => 'flash', dry_run => true));
        COMMIT;
    END LOOP;
    INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
    SELECT 'full_domain', format('speedy, %s processes / flash', with_workers + 1),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY x), percentile_cont(0.5) WITHIN GROUP (ORDER BY y),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY x / y), must, aim
    FROM unnest(speedy[2:], flash[2:]) AS t (x, y);
END $$;
CALL speedy_against_flash(1, 1 / 1.6, 1 / 1.9);
CALL speedy_against_flash(2, NULL, NULL);
RESET kanon.max_memory;

SELECT name, round(a_ms::numeric) AS a_ms, round(b_ms::numeric) AS b_ms, round(ratio::numeric, 2) AS ratio,
       round(must::numeric, 2) AS must, round(aim::numeric, 2) AS aim
FROM result WHERE bench = 'full_domain' ORDER BY place;
\set to :results '/full_domain.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'full_domain' ORDER BY place;
\o
\pset format aligned
