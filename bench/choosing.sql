-- kanon_frontier against dry runs, and how large a report gets.
\set adult2 'age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class'
\echo
\echo 'choosing: Adult-2, every combination (medians; each line a ratio within one run)'

SELECT format('SELECT FROM kanon_frontier(%L, %L, %L)', 'adult', '{' || :'adult2' || '}', '{2,3,5,10,15,20,30,40,50,60,80,100}') AS frontier,
       format('PERFORM FROM kanon_pattern_guided(%L, NULL, %L, 3, dry_run => true);', 'adult', '{' || :'adult2' || '}') AS dry,
       format('PERFORM count(*) FROM (SELECT count(*) FROM adult GROUP BY %s) g;', :'adult2') AS read \gset
-- k = 3 is the slowest
CALL compare('choosing', 'kanon_frontier of 12 ks / (3 dry runs at the slowest k + one read)',
    :'frontier', 'DO $b$BEGIN ' || repeat(:'dry', 3) || :'read' || ' END$b$', 1.0, NULL, 9);
SET max_parallel_workers_per_gather = 0;
CALL compare('choosing', 'the same without parallel workers',
    :'frontier', 'DO $b$BEGIN ' || repeat(:'dry', 3) || :'read' || ' END$b$', NULL, NULL, 9);
RESET max_parallel_workers_per_gather;

SELECT name, round(a_ms::numeric) AS a_ms, round(b_ms::numeric) AS b_ms, round(ratio::numeric, 2) AS ratio, must, aim
FROM result WHERE bench = 'choosing' ORDER BY place;
\set to :results '/choosing.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'choosing' ORDER BY place;
\o
\pset format aligned

\echo
\echo 'report: its size (at most 300 kB)'
SELECT FROM kanon_pattern_guided('adult', 'bench_out', ('{' || :'adult2' || '}')::name[], 2);
SELECT classes, round(length(kanon_report(run, true, '{2,3,5,10,15,20,30,40,50,60,80,100}')) / 1000.0) AS report_kb
FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
DROP TABLE bench_out;
