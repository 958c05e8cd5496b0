-- kanon beside ARX (bench/arx.sh has run it): the same tables, hierarchies, limits and metrics.  Full-domain: the search
-- alone, as each of them counts it, by the clock; cells: what local recoding suppresses of Adult-2, kanon by `greedy` and `improve`.
\set theirs :results '/arx_theirs.tsv'
\set theirs `cat :'theirs'`
CREATE TABLE arx AS
SELECT f[1] AS name, f[2]::int AS k, nullif(f[3], '')::float8 AS suppression_limit, nullif(f[4], '')::float8 AS value, f[5]::float8 AS ms
FROM regexp_split_to_table(:'theirs', E'\n') AS line, regexp_split_to_array(line, E'\t') AS f WHERE line <> '';
SELECT count(*) > 0 AS compared FROM arx \gset
\if :compared
-- (ages as text: of numbers kanon's loss takes ranges, ARX's counts values)
CREATE TABLE arx_table (sex text, age text, race text, "marital-status" text, education text,
    "native-country" text, workclass text, occupation text, "salary-class" text);
SELECT :'data' || '/adult-arx.csv' AS arx_csv, :'data' || '/adult-hierarchies' AS arx_hierarchies \gset
COPY arx_table FROM :'arx_csv' (FORMAT csv, DELIMITER ';', HEADER);
SELECT format('CREATE TABLE %I (value text, %s)', 'arx_' || name, (SELECT string_agg('l' || i || ' text', ', ') FROM generate_series(1, levels) i)),
       format('COPY %I FROM %L (FORMAT csv, DELIMITER %L)', 'arx_' || name, :'arx_hierarchies' || '/' || name || '.csv', ';')
FROM (VALUES ('sex', 1), ('age', 4), ('race', 1), ('marital-status', 2), ('education', 3), ('native-country', 2),
             ('workclass', 2), ('occupation', 2), ('salary-class', 1)) h (name, levels) \gexec
ANALYZE;
SELECT '{' || string_agg(attname, ',' ORDER BY attnum) || '}' AS arx_qis,
       json_object_agg(attname, quote_ident('arx_' || attname)) AS arx_h
FROM pg_attribute WHERE attrelid = 'arx_table'::regclass AND attnum > 0 \gset
CREATE TABLE arx_node AS
SELECT a.name, a.k, a.suppression_limit, a.value, a.ms, min(f.metric_value) AS kanon_value,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY f.solve_ms) AS kanon_ms
FROM arx a, generate_series(1, 5) i,
    -- (each time another argument: a call with the same ones would not be made again)
    LATERAL kanon_full_domain('arx_table', NULL, :'arx_qis', a.k + 0 * i, hierarchies => :'arx_h', suppression_limit => a.suppression_limit,
                              metric => a.name, dry_run => true) f
WHERE a.name <> 'cells' GROUP BY 1, 2, 3, 4, 5;
\echo
\echo 'ARX: the best node, search alone by the clock'
SELECT name, k, suppression_limit AS "limit", value AS arx, kanon_value AS kanon, ms AS arx_ms, round(kanon_ms::numeric, 1) AS kanon_ms,
       round((ms / kanon_ms)::numeric, 1) AS times_faster, 5 AS must
FROM arx_node ORDER BY 1, 3, 2;
CREATE TABLE arx_cells (k int, arx float8, arx_ms float8, greedy float8, improve float8);
CREATE PROCEDURE cells_of(with_k int, theirs float8, their_ms float8) LANGUAGE plpgsql AS $$
DECLARE
    qis name[] := '{age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class}';
    costs float8[] := '{}';
BEGIN
    FOR i IN 0..1 LOOP
        PERFORM FROM kanon_pattern_guided('adult', 'bench_out', qis, with_k, method => (ARRAY['greedy', 'improve'])[1 + i],
            time_limit => CASE i WHEN 1 THEN interval '10 seconds' END);
        costs := costs || (SELECT cost FROM kanon_usefulness ORDER BY run DESC LIMIT 1);
        DROP TABLE bench_out;
    END LOOP;
    INSERT INTO arx_cells VALUES (with_k, theirs, their_ms, costs[1], costs[2]);
    COMMIT;
END $$;
SELECT format('CALL cells_of(%s, %s, %s)', k, value, ms) FROM arx WHERE name = 'cells' ORDER BY k \gexec
\echo
\echo 'ARX: cells of Adult-2 that local recoding suppresses'
SELECT k, arx, greedy, improve, round((100 * (1 - greedy / arx))::numeric, 1) AS greedy_fewer_percent,
       round((100 * (1 - improve / arx))::numeric, 1) AS improve_fewer_percent
FROM arx_cells ORDER BY k;
\set to :results '/arx.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, k, suppression_limit, value, kanon_value, ms, kanon_ms FROM arx_node ORDER BY 1, 3, 2;
\set to :results '/arx_cells.tsv'
\o :to
SELECT k, arx, arx_ms, greedy, improve FROM arx_cells ORDER BY k;
\o
\pset format aligned
\endif
