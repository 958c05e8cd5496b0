-- Attackers who know few columns: minimal rare combinations counted (kanon_check) and published, in seconds.  Adult with 14 columns,
-- and invented tables: 20,000 rows of 64 columns and 100,000 of 30, each column of 2 to 20 values of which few are frequent.
\echo
\echo 'known_columns: who knows m columns, k = 3 (medians; b is one second)'

CREATE FUNCTION few_columns(target text, nrows int, ncolumns int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I AS SELECT %s FROM generate_series(1, %s) AS i', target,
        (SELECT string_agg(format('floor((2 + %s %% 19) * power((hashint8(i * 67::bigint + %s)::bigint & 65535) / 65536.0, 3))::int AS c%s', c * 7, c, c), ', ')
         FROM generate_series(1, ncolumns) AS c), nrows);
END $$;
CREATE FUNCTION columns_of(relation regclass) RETURNS text LANGUAGE sql AS $$
    SELECT array_agg(attname ORDER BY attnum)::text FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND attname NOT IN ('fnlwgt') $$;
SELECT FROM few_columns('wide64', 20000, 64);
SELECT FROM few_columns('wide30', 100000, 30);

DO $$
DECLARE
    v record;
BEGIN
    FOR v IN SELECT * FROM (VALUES ('adult', 'Adult, 14 columns', 3, 10), ('wide64', '20,000 x 64', 2, 10), ('wide64', '20,000 x 64', 3, 60),
        ('wide30', '100,000 x 30', 3, 60)) AS v (name, title, m, must) LOOP
        CALL compare('known_columns', format('check, %s, m = %s / 1 s', v.title, v.m),
            format('SELECT FROM kanon_check(%L, %L, %s, k => 3)', v.name, columns_of(v.name::regclass), v.m), 'SELECT pg_sleep(1)', v.must, NULL, 1);
        CALL compare('known_columns', format('publish, %s, m = %s / 1 s', v.title, v.m),
            format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 3, known_columns => %s)', v.name, 'bench_out', columns_of(v.name::regclass), v.m), 'SELECT pg_sleep(1)', v.must, NULL, 1);
    END LOOP;
END $$;

SELECT name, round(a_ms::numeric) AS a_ms, round(ratio::numeric, 2) AS seconds, must FROM result WHERE bench = 'known_columns' ORDER BY place;
\set to :results '/known_columns.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'known_columns' ORDER BY place;
\o
\pset format aligned
