-- Parts of a large table shared out among parallel workers (-v freeform_rows=...:
-- of a smaller one).
\set qis 'age,workclass,education,marital_status,occupation,race,sex,native_country'
\echo
\echo 'freeform: partitioned sort_greedy, one process against two'

CREATE PROCEDURE workers(bench text, tab text, qis text) LANGUAGE plpgsql AS $$
DECLARE
    one float8;
    two float8;
    n bigint;
BEGIN
    EXECUTE 'SELECT count(*) FROM ' || tab INTO n;
    SET max_parallel_workers_per_gather = 0;
    SELECT solve_ms INTO one FROM kanon_freeform(tab::regclass, NULL, ('{' || qis || '}')::name[], 10, partition_size => 150, dry_run => true);
    SET max_parallel_workers_per_gather = 1;
    SELECT solve_ms INTO two FROM kanon_freeform(tab::regclass, NULL, ('{' || qis || '}')::name[], 10, partition_size => 150, dry_run => true);
    INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
    SELECT bench, format('%s rows, partitions of 150, k = 10: two processes against one', n), one, two, one / two, 1.6, 1.9;
END $$;
SET kanon.max_memory = '4GB';
\if :{?freeform_rows}
\else
\set freeform_rows 3000000
\endif
-- people of Adult's parts: three pieces of a row from three rows, so that few rows are equal
CREATE TABLE freeform_part AS SELECT row_number() OVER (ORDER BY fnlwgt, age, occupation) - 1 AS i, * FROM adult;
CREATE INDEX ON freeform_part (i);
CREATE TABLE freeform_big AS
SELECT a.age, b.workclass, b.education, b.marital_status, c.occupation, c.race, c.sex, c.native_country
FROM (SELECT g % 32561 AS x, (g + g / 32561 * 331) % 32561 AS y, (g + g / 32561 * 797) % 32561 AS z
      FROM generate_series(0, :freeform_rows - 1) g) g
JOIN freeform_part a ON a.i = x JOIN freeform_part b ON b.i = y JOIN freeform_part c ON c.i = z;
ANALYZE freeform_big;
CALL workers('freeform', 'freeform_big', :'qis');
SELECT name, round(a_ms) AS one_ms, round(b_ms) AS two_ms, round(ratio::numeric, 2) AS ratio, must, aim
FROM result WHERE bench = 'freeform';
\set to :results '/freeform_workers.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'freeform' ORDER BY place;
\o
\pset format aligned
