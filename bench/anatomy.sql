-- Two tables, whole calls, against a copy of both.
\echo
\echo 'anatomy: 3 million rows, 5 columns, groups of l values / CREATE TABLE AS of both tables'
CREATE TABLE patients AS
SELECT i * 7 % 90 AS age, i * 31 % 50000 AS zip, i % 17 AS education, i % 7 AS race, 'diagnosis ' || (sqrt(i::bigint * 7919 % 2500))::int AS diagnosis
FROM generate_series(1, 3000000) i;
VACUUM ANALYZE patients;
SELECT FROM kanon_anatomy('patients', 'anatomy_rows', 'anatomy_values', '{age,zip,education,race}', 'diagnosis', 10);
CALL compare('anatomy', 'l = 10',
    format('SELECT FROM kanon_anatomy(%L, %L, %L, %L, %L, 10); DROP TABLE bench_values', 'patients', 'bench_out', 'bench_values', '{age,zip,education,race}', 'diagnosis'),
    'CREATE TABLE bench_out AS SELECT * FROM anatomy_rows; CREATE TABLE bench_values AS SELECT * FROM anatomy_values; DROP TABLE bench_values', 2, 1.5);
SELECT name, round(a_ms::numeric) AS a_ms, round(b_ms::numeric) AS b_ms, round(ratio::numeric, 2) AS ratio, must, aim
FROM result WHERE bench = 'anatomy' ORDER BY place;
\set to :results '/anatomy.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'anatomy' ORDER BY place;
\o
\pset format aligned
