-- Tables and helpers of the benchmarks.  :data is the folder of the reference
-- tables; empty: an invented table of Adult's shape stands in (figures differ).
CREATE EXTENSION IF NOT EXISTS kanon;
SET client_min_messages = warning;
SET kanon.progress = off;

CREATE TABLE adult (age int, workclass text, fnlwgt int, education text, education_num int, marital_status text,
    occupation text, relationship text, race text, sex text, capital_gain int, capital_loss int,
    hours_per_week int, native_country text, salary_class text);
SELECT :'data' <> '' AS real_data, :'data' || '/adult.csv' AS adult_csv \gset
\if :real_data
COPY adult FROM :'adult_csv' (FORMAT csv, DELIMITER ';');
\else
\echo 'No reference data: an invented table of the shape of Adult stands in.'
-- h(i, salt): the same numbers on every machine; squared, so that low ones are frequent
CREATE FUNCTION h(i int, salt int, n int) RETURNS int LANGUAGE sql IMMUTABLE
AS $$ SELECT floor(n * power((hashint8(i * 31::bigint + salt)::bigint & 65535) / 65536.0, 2))::int $$;
INSERT INTO adult
SELECT 17 + h(i, 1, 73), 'workclass ' || h(i, 2, 9), 12285 + h(i, 3, 1000000), 'education ' || h(i, 4, 16),
       1 + h(i, 4, 16), 'marital ' || h(i, 5, 7), 'occupation ' || h(i, 6, 15), 'relationship ' || h(i, 7, 6),
       'race ' || h(i, 8, 5), 'sex ' || h(i, 9, 2), h(i, 10, 8) * h(i, 11, 15) * 100, h(i, 12, 5) * h(i, 13, 19) * 50,
       40 + h(i, 14, 60) - h(i, 15, 40), 'country ' || h(i, 16, 42), 'class ' || h(i, 17, 2)
FROM generate_series(1, 32561) i;
\endif

-- Adult-2 a hundred times over, with two columns to keep
CREATE TABLE big AS
SELECT age, workclass, education, marital_status, occupation, race, sex, native_country, salary_class,
       capital_gain, hours_per_week
FROM adult, generate_series(1, 100) AS copy ORDER BY copy;

-- Adult widened to 20 quasi-identifiers: its 14, and six made of them and of fnlwgt
CREATE TABLE adult20 AS
SELECT age, workclass, education, education_num, marital_status, occupation, relationship, race, sex,
       capital_gain, capital_loss, hours_per_week, native_country, salary_class,
       age / 10 AS age_decade, hours_per_week / 10 AS hours_band, fnlwgt / 50000 AS weight_band,
       (capital_gain > 0)::int + 2 * (capital_loss > 0)::int AS capital_kind,
       fnlwgt % 7 AS digit7, fnlwgt % 5 AS digit5
FROM adult;
VACUUM ANALYZE;

CREATE TABLE result (bench text, place serial, name text, a_ms float8, b_ms float8, ratio float8, must float8, aim float8);

-- Milliseconds of the clock, or, where bench.processor is set, of this backend's processor time (Linux), which a busy
-- machine does not blur: for calls without parallel workers.
CREATE FUNCTION stopwatch() RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('bench.processor', true) = 'on' THEN
        RETURN split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1e6;
    END IF;
    RETURN extract(epoch FROM clock_timestamp()) * 1000;
END $$;

-- Runs a and b in turn and notes the median of their ratios.  Each may make the
-- table bench_out, which is dropped outside the clock.
CREATE PROCEDURE compare(bench text, name text, a text, b text, must float8, aim float8, repeats int DEFAULT 3)
LANGUAGE plpgsql AS $$
DECLARE
    since float8;
    a_ms float8[] := '{}';
    b_ms float8[] := '{}';
BEGIN
    FOR i IN 0..repeats LOOP        -- the first round warms up
        since := stopwatch();
        EXECUTE a;
        a_ms := a_ms || stopwatch() - since;
        COMMIT;
        DROP TABLE IF EXISTS bench_out;
        COMMIT;
        since := stopwatch();
        EXECUTE b;
        b_ms := b_ms || stopwatch() - since;
        COMMIT;
        DROP TABLE IF EXISTS bench_out;
        COMMIT;
    END LOOP;
    INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
    SELECT bench, name,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY x), percentile_cont(0.5) WITHIN GROUP (ORDER BY y),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY x / y), must, aim
    FROM unnest(a_ms[2:], b_ms[2:]) AS t (x, y);
    COMMIT;
END $$;
