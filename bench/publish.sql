-- The whole call against copying the table; memory per row type; growth with rows.
\set adult2 'age,workclass,education,marital_status,occupation,race,sex,native_country,salary_class'
\echo
\echo 'publish: whole calls (medians; each line a ratio within one run)'

CALL compare('publish', '3.26 million rows, 9 QIs, all patterns, k = 10 / CREATE TABLE AS',
    format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 10)', 'big', 'bench_out', '{' || :'adult2' || '}'),
    format('CREATE TABLE bench_out AS SELECT %s FROM big', :'adult2'), 1.5, 1.2);
CALL compare('publish', 'the same with two kept columns / CREATE TABLE AS ... ORDER BY random()',
    format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 10, keep => %L)', 'big', 'bench_out', '{' || :'adult2' || '}',
           '{capital_gain,hours_per_week}'),
    'CREATE TABLE bench_out AS SELECT * FROM big ORDER BY random()', 1.5, 1.0);

-- the method alone, as the run's record has it, against one GROUP BY
CREATE PROCEDURE method_against_grouping() LANGUAGE plpgsql AS $$
DECLARE
    qis name[] := (SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'adult20'::regclass AND attnum > 0);
    since timestamptz;
    solve float8[] := '{}';
    grouping float8[] := '{}';
    groups bigint;
BEGIN
    FOR i IN 0..3 LOOP
        PERFORM FROM kanon_pattern_guided('adult20', 'bench_out', qis, 10);
        solve := solve || (SELECT solve_ms FROM kanon_usefulness ORDER BY run DESC LIMIT 1);
        DROP TABLE bench_out;
        since := clock_timestamp();
        EXECUTE 'SELECT count(*) FROM (SELECT FROM adult20 GROUP BY ' || array_to_string(qis, ',') || ') g' INTO groups;
        grouping := grouping || extract(epoch FROM clock_timestamp() - since) * 1000;
        COMMIT;
    END LOOP;
    INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
    SELECT 'publish', 'Adult widened to 20 QIs, all 2^20 patterns, k = 10: method / one GROUP BY',
           percentile_cont(0.5) WITHIN GROUP (ORDER BY x), percentile_cont(0.5) WITHIN GROUP (ORDER BY y),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY x / y), 60, 20
    FROM unnest(solve[2:], grouping[2:]) AS t (x, y);
END $$;
CALL method_against_grouping();

-- growth: the same row types, one to eight million rows
CREATE PROCEDURE growth() LANGUAGE plpgsql AS $$
DECLARE
    since timestamptz;
    millions int := 1;
    ms float8[];
    previous float8;
BEGIN
    WHILE millions <= 8 LOOP
        EXECUTE format('CREATE TABLE growing AS SELECT i %% 90 AS a, i %% 7 AS b, i %% 11 AS c, i %% 5 AS d FROM generate_series(1, %s) i', millions * 1000000);
        ANALYZE growing;
        ms := '{}';
        FOR i IN 1..3 LOOP
            since := clock_timestamp();
            PERFORM FROM kanon_pattern_guided('growing', 'bench_out', '{a,b,c,d}', 10);
            ms := ms || extract(epoch FROM clock_timestamp() - since) * 1000;
            DROP TABLE bench_out;
            COMMIT;
        END LOOP;
        IF previous IS NOT NULL THEN
            INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
            SELECT 'publish', format('%s million rows / %s million, the same row types', millions, millions / 2), m, previous, m / previous, 2.1, 2.0
            FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) AS m FROM unnest(ms) x) s;
        END IF;
        previous := (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM unnest(ms) x);
        DROP TABLE growing;
        COMMIT;
        millions := millions * 2;
    END LOOP;
END $$;
CALL growth();

SELECT name, round(a_ms::numeric) AS a_ms, round(b_ms::numeric) AS b_ms, round(ratio::numeric, 2) AS ratio, must, aim
FROM result WHERE bench = 'publish' ORDER BY place;

-- memory of kanon's own state, which grows with row types and not with rows
CREATE TABLE memory (place serial, name text, row_types bigint, rows bigint, bytes bigint, per_type float8, must float8, aim float8);
CREATE TABLE distinct_types AS
SELECT i % 1000 AS a, i / 1000 % 100 AS b, i / 100000 AS c, hashint4(i) & 15 AS d, hashint4(i + 1) & 7 AS e, hashint4(i + 2) & 3 AS f
FROM generate_series(0, 9999999) i;
ANALYZE distinct_types;
SET kanon.max_memory = '4GB';
SELECT FROM kanon_pattern_guided('distinct_types', 'bench_out', '{a,b,c,d,e,f}', 5);
INSERT INTO memory (name, row_types, rows, bytes, per_type, must, aim)
SELECT '10 million rows, all distinct on 6 QIs, k = 5', row_types, row_count, peak_memory, peak_memory / row_types, 120, 60
FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
DROP TABLE bench_out, distinct_types;
INSERT INTO memory (name, row_types, rows, bytes, per_type)
SELECT 'Adult-2 a hundred times over, 9 QIs, k = 10', row_types, row_count, peak_memory, peak_memory / row_types
FROM kanon_usefulness WHERE source = 'public.big' ORDER BY run LIMIT 1;
\echo
\echo 'memory: peak of kanon''s own state'
SELECT name, row_types, rows, pg_size_pretty(bytes) AS peak, round(per_type::numeric, 1) AS bytes_per_type, must, aim
FROM memory ORDER BY place;
\set to :results '/publish.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'publish' ORDER BY place;
\o
\set to :results '/memory.tsv'
\o :to
SELECT name, row_types, rows, bytes, per_type, must, aim FROM memory ORDER BY place;
\o
\pset format aligned
