-- Hundreds of thousands of row types, in tables made here from a seed: Adult with each cell taken
-- from another row now and then, and skewed columns that belong together.  What greedy loses, what
-- `improve` gains on it within a limit and how far the proven bound is, then risks of nearly unique
-- rows against one GROUP BY.  Processor time of the backend; a limit is one of clock time, so that
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
-- (in variables arrays are laid out once, not for each cell)
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
BEGIN
    FOR x IN 0..rows - 1 LOOP
        a := from_a[CASE WHEN random() < probability THEN floor(random() * n)::int ELSE x % n END + 1];
        b := from_b[CASE WHEN random() < probability THEN floor(random() * n)::int ELSE x % n END + 1];
        c := from_c[CASE WHEN random() < probability THEN floor(random() * n)::int ELSE x % n END + 1];
        d := from_d[CASE WHEN random() < probability THEN floor(random() * n)::int ELSE x % n END + 1];
        e := from_e[CASE WHEN random() < probability THEN floor(random() * n)::int ELSE x % n END + 1];
        f := from_f[CASE WHEN random() < probability THEN floor(random() * n)::int ELSE x % n END + 1];
        g := from_g[CASE WHEN random() < probability THEN floor(random() * n)::int ELSE x % n END + 1];
        h := from_h[CASE WHEN random() < probability THEN floor(random() * n)::int ELSE x % n END + 1];
        i := from_i[CASE WHEN random() < probability THEN floor(random() * n)::int ELSE x % n END + 1];
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
FROM (SELECT row_number() OVER () AS x, m.* FROM mixed9 m) AS i;
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
    FOR i IN 0..3 LOOP        -- the first round warms up
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

\pset format unaligned
\pset fieldsep '\t'
\set to :results '/large.tsv'
\o :to
SELECT name, seconds, types, greedy, improve, bound, processor_s, peak FROM large_result ORDER BY place;
\set to :results '/unique.tsv'
\o :to
SELECT name, ratio, must, aim FROM unique_result ORDER BY place;
\o
\pset format aligned
