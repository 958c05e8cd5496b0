-- kanon_subtree on Adult with ARX's hierarchies: 8 quasi-identifiers, salary-class to be predicted.
\echo
\echo 'sub-trees: Adult of ARX, 8 QIs'
SELECT :'data' <> '' AS subtree_data,
       :'data' || '/adult-arx.csv' AS arx_csv, :'data' || '/adult-hierarchies' AS arx_hierarchies \gset
\if :subtree_data
SET client_min_messages = warning;
CREATE SCHEMA subtree;
SET search_path = subtree, public;
CREATE TABLE adult_arx (sex text, age int, race text, "marital-status" text, education text,
    "native-country" text, workclass text, occupation text, "salary-class" text);
COPY adult_arx FROM :'arx_csv' (FORMAT csv, DELIMITER ';', HEADER);
SELECT format('CREATE TABLE %I (value %s, %s)', name || '_h', CASE name WHEN 'age' THEN 'int' ELSE 'text' END,
              (SELECT string_agg('l' || i || ' text', ', ') FROM generate_series(1, levels) i)),
       format('COPY %I FROM %L (FORMAT csv, DELIMITER %L)', name || '_h', :'arx_hierarchies' || '/' || name || '.csv', ';')
FROM (VALUES ('sex', 1), ('age', 4), ('race', 1), ('marital-status', 2), ('education', 3), ('native-country', 2),
             ('workclass', 2), ('occupation', 2)) h (name, levels) \gexec
ANALYZE;
SELECT '{' || string_agg(attname, ',' ORDER BY attnum) || '}' AS arx,
       json_object_agg(attname, quote_ident(attname || '_h')) AS arx_h
FROM pg_attribute WHERE attrelid = 'adult_arx'::regclass AND attnum > 0 AND attname <> 'salary-class' \gset

CREATE TABLE cuts (k int, method text, scheme text, class boolean, total_ms float8, solve_ms float8, gcp float8, bound float8, classes bigint, looked bigint, classification float8);
CREATE PROCEDURE try_cut(qis name[], h jsonb, k int, method text, scheme text, class boolean) LANGUAGE plpgsql AS $$
DECLARE
    since timestamptz := clock_timestamp();
    f record;
BEGIN
    SELECT INTO f s.* FROM kanon_subtree('adult_arx', 'adult_cut', qis, k, method, scheme, keep => '{salary-class}', hierarchies => h,
        class_column => CASE WHEN class THEN 'salary-class' END, replace => true, time_limit => '20 seconds') s LIMIT 1;
    INSERT INTO cuts VALUES (k, method, scheme, class, extract(epoch FROM clock_timestamp() - since) * 1000, f.solve_ms, f.gcp, f.lower_bound / f.cost * f.gcp, f.classes, f.cuts_checked,
        (SELECT classification FROM kanon_usefulness ORDER BY run DESC LIMIT 1));
END $$;
SELECT format('CALL try_cut(%L, %L, %s, %L, %L, %L)', :'arx', :'arx_h', k, method, scheme, class)
FROM unnest('{2,5,10,20,50,100}'::int[]) k, (VALUES ('top_down', 'subtree', true), ('tds', 'subtree', true), ('top_down', 'subtree', false), ('optimal', 'subtree', false),
    ('top_down', 'sibling', true), ('tds', 'sibling', true), ('top_down', 'sibling', false), ('optimal', 'sibling', false)) m (method, scheme, class) \gexec
SELECT k, method, scheme, class, round(total_ms) AS total_ms, round(solve_ms) AS solve_ms, round(gcp::numeric, 3) AS gcp, round(bound::numeric, 3) AS bound, classes, looked,
       round(classification::numeric, 4) AS classification FROM cuts ORDER BY k, scheme DESC, method DESC, class DESC;
\set to :results '/subtree.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT * FROM cuts ORDER BY 1, 2, 3, 4;
\o
\pset format aligned
RESET search_path;
DROP SCHEMA subtree CASCADE;
\endif
