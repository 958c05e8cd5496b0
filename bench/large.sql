-- Hundreds of thousands of row types, in tables made here from a seed: Adult with some cells of
-- each row taken from one other row, and skewed columns that belong together.  What greedy loses, what
-- `improve` gains on it within a limit and how far the proven bound is, then risks of nearly unique
-- rows against one GROUP BY, and other calls against what they are measured by.  Processor time of the backend; a limit is one of clock time, so that
-- on a busy machine `seconds` says how much of it there was.  :rows (1,200,000) may be less.
\if :{?rows}
\else
\set rows 1200000
\endif
SELECT :rows * 45 / 100 AS rows8 \gset

-- a hundredth of a second is the least that it sees
CREATE OR REPLACE FUNCTION processor_ms() RETURNS float8 LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
    SELECT 10 * (f[13]::float8 + f[14]::float8)
    FROM (SELECT string_to_array(substr(s, strpos(s, ')')), ' ') FROM pg_read_file('/proc/self/stat') AS s) AS t (f) $$;

-- columns of Adult as numbers, so that a cell of any row is found at once
CREATE TABLE adult_codes AS
SELECT array_agg(a) AS a, array_agg(b) AS b, array_agg(c) AS c, array_agg(d) AS d, array_agg(e) AS e,
       array_agg(f) AS f, array_agg(g) AS g, array_agg(h) AS h, array_agg(i) AS i, count(*)::int AS n
FROM (SELECT age AS a, dense_rank() OVER (ORDER BY workclass)::int AS b, dense_rank() OVER (ORDER BY education)::int AS c,
             dense_rank() OVER (ORDER BY marital_status)::int AS d, dense_rank() OVER (ORDER BY occupation)::int AS e,
             dense_rank() OVER (ORDER BY race)::int AS f, dense_rank() OVER (ORDER BY sex)::int AS g,
             hours_per_week AS h, dense_rank() OVER (ORDER BY native_country)::int AS i
      FROM adult ORDER BY fnlwgt, age, education_num, hours_per_week) AS codes;
-- of a row's cells each is from one other row with that probability (in variables arrays are laid out once, not for each cell)
CREATE FUNCTION mixed(rows int, probability float8) RETURNS
    TABLE (a int, b int, c int, d int, e int, f int, g int, h int, i int) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    from_a int[] := (SELECT x.a FROM adult_codes x);
    from_b int[] := (SELECT x.b FROM adult_codes x);
    from_c int[] := (SELECT x.c FROM adult_codes x);
    from_d int[] := (SELECT x.d FROM adult_codes x);
    from_e int[] := (SELECT x.e FROM adult_codes x);
    from_f int[] := (SELECT x.f FROM adult_codes x);
    from_g int[] := (SELECT x.g FROM adult_codes x);
    from_h int[] := (SELECT x.h FROM adult_codes x);
    from_i int[] := (SELECT x.i FROM adult_codes x);
    n int := (SELECT x.n FROM adult_codes x);
    other int;
BEGIN
    FOR x IN 0..rows - 1 LOOP
        other := floor(random() * n)::int;
        a := from_a[CASE WHEN random() < probability THEN other ELSE x % n END + 1];
        b := from_b[CASE WHEN random() < probability THEN other ELSE x % n END + 1];
        c := from_c[CASE WHEN random() < probability THEN other ELSE x % n END + 1];
        d := from_d[CASE WHEN random() < probability THEN other ELSE x % n END + 1];
        e := from_e[CASE WHEN random() < probability THEN other ELSE x % n END + 1];
        f := from_f[CASE WHEN random() < probability THEN other ELSE x % n END + 1];
        g := from_g[CASE WHEN random() < probability THEN other ELSE x % n END + 1];
        h := from_h[CASE WHEN random() < probability THEN other ELSE x % n END + 1];
        i := from_i[CASE WHEN random() < probability THEN other ELSE x % n END + 1];
        RETURN NEXT;
    END LOOP;
END $$;
DO $$ BEGIN PERFORM setseed(0.25); END $$;
CREATE TABLE mixed9 AS SELECT * FROM mixed(:rows, 0.4);
CREATE TABLE mixed8 AS SELECT a, b, c, d, e, f, g, i FROM mixed(:rows8, 0.15);
-- two hidden numbers of each row show in all its columns, low ones far more often than high ones
CREATE TABLE skewed AS
SELECT floor(40 * u ^ 3)::int AS a, floor(12 * (u + random() / 4) ^ 2)::int AS b, floor(30 * u * random())::int AS c,
       floor(60 * v ^ 4)::int AS d, floor(8 * (v + random() / 8))::int AS e, floor(100 * random() ^ 6 * v)::int AS f,
       floor(5 * u * v)::int AS g, floor(20 * random() ^ 3)::int AS h
FROM (SELECT random() AS u, random() AS v FROM generate_series(1, :rows) OFFSET 0) AS hidden;
CREATE TABLE unique_rows AS
SELECT x AS id, i.a, i.b, i.c, i.d, i.e, i.f, i.g, floor(random() * 100000)::int AS zip
FROM (SELECT row_number() OVER () AS x, m.* FROM (TABLE mixed9 UNION ALL TABLE mixed9) m LIMIT :rows * 5 / 3) AS i;
VACUUM ANALYZE;

CREATE TABLE large_result (place serial, name text, seconds int, types bigint, greedy float8, improve float8, bound float8,
    processor_s float8, peak bigint);
CREATE PROCEDURE improve_large(relation regclass, qis name[], seconds int) LANGUAGE plpgsql AS $$
DECLARE
    since float8;
    greedy float8;
BEGIN
    PERFORM FROM kanon_pattern_guided(relation, 'bench_out', qis, 5);
    SELECT u.cost INTO greedy FROM kanon_usefulness u ORDER BY run DESC LIMIT 1;
    DROP TABLE bench_out;
    since := processor_ms();
    PERFORM FROM kanon_pattern_guided(relation, 'bench_out', qis, 5, method => 'improve',
        time_limit => make_interval(secs => seconds));
    INSERT INTO large_result (name, seconds, types, greedy, improve, bound, processor_s, peak)
    SELECT relation::text, improve_large.seconds, u.row_types, greedy, u.cost, u.lower_bound, (processor_ms() - since) / 1000, u.peak_memory
    FROM kanon_usefulness u ORDER BY run DESC LIMIT 1;
    DROP TABLE bench_out;
    COMMIT;
END $$;
CALL improve_large('mixed9', '{a,b,c,d,e,f,g,h,i}', :seconds);
CALL improve_large('mixed9', '{a,b,c,d,e,f,g,h,i}', 5 * :seconds);
CALL improve_large('mixed8', '{a,b,c,d,e,f,g,i}', :seconds);
CALL improve_large('skewed', '{a,b,c,d,e,f,g,h}', :seconds);

\echo
\echo 'large: what improve gains on greedy, k = 5, every pattern'
SELECT name, seconds, types, greedy, improve, round((100 * (1 - improve / nullif(greedy, 0)))::numeric, 2) AS gain_percent, round(bound) AS bound,
       round((100 * (improve / nullif(bound, 0) - 1))::numeric, 2) AS gap_percent, round(processor_s::numeric, 1) AS processor_s,
       pg_size_pretty(peak) AS peak
FROM large_result ORDER BY place;

CREATE TABLE unique_result (place serial, name text, ratio float8, must float8, aim float8);
CREATE PROCEDURE compare_unique(name text, a text, must float8, aim float8) LANGUAGE plpgsql AS $$
DECLARE
    plain text := 'SELECT count(*) FROM (SELECT count(*) FROM unique_rows GROUP BY a, b, c, d, e, f, g, zip) g';
    since float8;
    ratio float8[] := '{}';
    took float8;
BEGIN
    FOR i IN 0..5 LOOP        -- the first round warms up
        since := processor_ms();
        EXECUTE a;
        took := processor_ms() - since;
        since := processor_ms();
        EXECUTE plain;
        ratio := ratio || took / nullif(processor_ms() - since, 0);
        COMMIT;
    END LOOP;
    INSERT INTO unique_result (name, ratio, must, aim)
    SELECT name, percentile_cont(0.5) WITHIN GROUP (ORDER BY x), must, aim FROM unnest(ratio[2:]) AS x;
    COMMIT;
END $$;
SET max_parallel_workers_per_gather = 0;
CALL compare_unique('kanon_check', $$SELECT FROM kanon_check('unique_rows', '{a,b,c,d,e,f,g,zip}')$$, 1.2, 1.0);
CALL compare_unique('kanon_risk', $$SELECT FROM kanon_risk('unique_rows', '{a,b,c,d,e,f,g,zip}')$$, 1.2, 1.0);
CALL compare_unique('kanon_risk_columns', $$SELECT FROM kanon_risk_columns('unique_rows', '{a,b,c,d,e,f,g,zip}')$$, 1.2, 1.0);
RESET max_parallel_workers_per_gather;
\echo
\echo 'nearly unique rows: processor time / that of one GROUP BY (medians of pairs)'
SELECT name, round(ratio::numeric, 2) AS ratio, must, aim FROM unique_result ORDER BY place;

-- What else a large table meets: ratios and seconds of processor time, in pairs, without parallel workers.
CREATE TABLE large_other (place serial, name text, measured float8, unit text, must float8, aim float8);
CREATE PROCEDURE clear_out() LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS bench_out;
    COMMIT;
END $$;
CREATE PROCEDURE ratio_large(name text, a text, b text, must float8, aim float8, repeats int DEFAULT 3) LANGUAGE plpgsql AS $$
DECLARE
    since float8;
    took float8;
    ratio float8[] := '{}';
BEGIN
    FOR i IN 0..repeats LOOP        -- the first round warms up
        since := processor_ms();
        EXECUTE a;
        took := processor_ms() - since;
        CALL clear_out();
        since := processor_ms();
        EXECUTE b;
        ratio := ratio || took / nullif(processor_ms() - since, 0);
        CALL clear_out();
    END LOOP;
    INSERT INTO large_other (name, measured, unit, must, aim)
    SELECT name, percentile_cont(0.5) WITHIN GROUP (ORDER BY x), 'times', must, aim FROM unnest(ratio[2:]) AS x;
    COMMIT;
END $$;
CREATE PROCEDURE seconds_large(name text, a text, must float8, aim float8) LANGUAGE plpgsql AS $$
DECLARE
    since float8 := processor_ms();
BEGIN
    EXECUTE a;
    INSERT INTO large_other (name, measured, unit, must, aim) VALUES (name, (processor_ms() - since) / 1000, 's', must, aim);
    CALL clear_out();
END $$;

-- every column in fours and sixteens of its codes
SELECT format('CREATE TABLE mixed_%s AS SELECT v, v / 4 AS l1, v / 16 AS l2 FROM generate_series(0, (SELECT max(%1$s) FROM mixed9)) v', c)
FROM unnest('{a,b,c,d,e,f,g,h,i}'::text[]) AS c \gexec
SELECT json_object_agg(c, 'mixed_' || c) AS mixed9_h, json_object_agg(c, 'mixed_' || c) FILTER (WHERE c <> 'h') AS mixed8_h
FROM unnest('{a,b,c,d,e,f,g,h,i}'::text[]) AS c \gset
SELECT least(63441, :rows) AS rows_forest, least(20640, :rows) AS rows_pairs \gset
CREATE TABLE rows_forest AS SELECT * FROM mixed(:rows_forest, 0.4);
CREATE TABLE rows_pairs AS SELECT * FROM mixed(:rows_pairs, 0.4);
CREATE UNLOGGED TABLE big_unlogged AS SELECT * FROM big;
VACUUM ANALYZE;

SET max_parallel_workers_per_gather = 0;
SET kanon.max_memory = '4GB';
\set adult2 'age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class'
CALL ratio_large('whole call, 3.26 million rows / CREATE TABLE AS',
    format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 10)', 'big_unlogged', 'bench_out', '{' || :'adult2' || '}'),
    format('CREATE TABLE bench_out AS SELECT %s FROM big_unlogged', :'adult2'), 1.4, 1.2);
CALL ratio_large('the same, two kept columns / CREATE TABLE AS ... ORDER BY random()',
    format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 10, keep => %L)', 'big_unlogged', 'bench_out', '{' || :'adult2' || '}',
           '{capital_gain,hours_per_week}'),
    'CREATE TABLE bench_out AS SELECT * FROM big_unlogged ORDER BY random()', 1.1, 0.9);
CREATE VIEW worked_out AS SELECT b.*, md5(age::text || sex) AS code FROM big_unlogged b OFFSET 0;
CALL ratio_large('a view that works something out, two kept columns / CREATE TABLE AS ... ORDER BY random()',
    format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 10, keep => %L, allow_identifying => %L)', 'worked_out', 'bench_out', '{' || :'adult2' || '}',
           '{capital_gain,code}', '{code}'),
    'CREATE TABLE bench_out AS SELECT * FROM worked_out ORDER BY random()', NULL, NULL);
CALL ratio_large('greedy with hierarchies / without, 9 columns',
    format('SELECT FROM kanon_pattern_guided(%L, NULL, %L, 5, hierarchies => %L, dry_run => true)', 'mixed9', '{a,b,c,d,e,f,g,h,i}', :'mixed9_h'),
    format('SELECT FROM kanon_pattern_guided(%L, NULL, %L, 5, dry_run => true)', 'mixed9', '{a,b,c,d,e,f,g,h,i}'), 3, 2);
SELECT format('SELECT FROM kanon_full_domain(%L, NULL, %L, 5, hierarchies => %L, suppression_limit => 0.05, dry_run => true, method => %%L)',
              'mixed8', '{a,b,c,d,e,f,g,i}', :'mixed8_h') AS full_domain \gset
CALL ratio_large('incognito / flash, 8 columns', format(:'full_domain', 'incognito'), format(:'full_domain', 'flash'), 3, 2);
CALL seconds_large('forest, k = 5', $$SELECT FROM kanon_cluster('rows_forest', 'bench_out', '{a,b,c,d,e,f,g,h,i}', 5, 'forest')$$, 5, 2);
CALL seconds_large('pairs, k = 2',
    $$SELECT FROM kanon_cluster('rows_pairs', 'bench_out', '{a,b,c,d,e,f,g,h,i}', 2, 'pairs', time_limit => '10 minutes')$$, 10, 5);
CALL seconds_large('triples, k = 3',
    $$SELECT FROM kanon_cluster('rows_pairs', 'bench_out', '{a,b,c,d,e,f,g,h,i}', 3, 'triples', time_limit => '10 minutes')$$, 20, 10);
SELECT FROM kanon_freeform('mixed8', 'freeform_out', '{a,b,c,d,e,f,g,i}', 5, method => 'greedy', partition_size => 150);
CALL seconds_large('kanon_check_freeform, in parts of 150',
    $$SELECT FROM kanon_check_freeform('mixed8', 'freeform_out', '{a,b,c,d,e,f,g,i}', 5)$$, 60, 15);
RESET max_parallel_workers_per_gather;
RESET kanon.max_memory;
\echo
\echo 'large tables: other calls, processor time'
SELECT name, round(measured::numeric, 2) AS measured, unit, must, aim FROM large_other ORDER BY place;

\pset format unaligned
\pset fieldsep '\t'
\set to :results '/large.tsv'
\o :to
SELECT name, seconds, types, greedy, improve, bound, processor_s, peak FROM large_result ORDER BY place;
\set to :results '/unique.tsv'
\o :to
SELECT name, ratio, must, aim FROM unique_result ORDER BY place;
\set to :results '/large_other.tsv'
\o :to
SELECT name, measured, unit, must, aim FROM large_other ORDER BY place;
\o
\pset format aligned
