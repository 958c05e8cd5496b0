-- Persons with their rows: 1 million persons, 5 million orders (few persons have many), city and month of which go with
-- the person's region; against CREATE TABLE AS of the same tables joined once.
\echo
\echo 'linked: persons with five orders each, against the join as one table'
\if :{?persons}
\else
\set persons 1000000
\endif
CREATE SCHEMA linked_bench;
CREATE TABLE linked_bench.persons (id bigint PRIMARY KEY, birth int, region int, sex text, segment text);
INSERT INTO linked_bench.persons
SELECT i, 1940 + (hashint8(i) & 65535) % 65, (hashint8(i + 7) & 65535) % 40, (ARRAY['f', 'm'])[1 + (hashint8(i + 11) & 1)], 's' || (hashint8(i + 13) & 3)
FROM generate_series(1, :persons) AS i;
CREATE TABLE linked_bench.orders (id bigint PRIMARY KEY, person_id bigint REFERENCES linked_bench.persons, month int, city int, amount int);
INSERT INTO linked_bench.orders
SELECT i, p.id, (p.region * 3 + (hashint8(i) & 65535) % 8) % 24, CASE WHEN (hashint8(i + 3) & 7) > 0 THEN p.region ELSE (hashint8(i + 5) & 65535) % 40 END,
       10 * ((hashint8(i + 17) & 65535) % 20)
FROM (SELECT i, 1 + floor(:persons * power((hashint8(i * 31) & 16777215) / 16777216.0, 1.5))::bigint % :persons AS person FROM generate_series(1, 5 * :persons) AS i) AS o
JOIN linked_bench.persons AS p ON p.id = o.person;
VACUUM ANALYZE;
SET kanon.max_memory = '4GB';
CREATE FUNCTION linked_call(class_size int, known text) RETURNS text LANGUAGE sql AS $$
SELECT format('SELECT FROM kanon_linked(''linked_bench.persons'', %L, ''bench_out'', 5, %L)', format('{
  "linked_bench.persons": {"quasi_identifiers": ["birth", "region", "sex"], "keep": ["segment"], "class_size": %s, "hierarchies": {"birth": {"interval": [5, 20]}}},
  "linked_bench.orders": {"quasi_identifiers": ["month", "city"], "keep": ["amount"], "max_rows": 20, "hierarchies": {"month": {"interval": [3, 12]}}}}', class_size), known)
$$;
CREATE PROCEDURE linked_bench(what text, class_size int, known text) LANGUAGE plpgsql AS $$
DECLARE
    since float8;
    a float8;
    b float8;
BEGIN
    CREATE SCHEMA bench_out;
    COMMIT;
    since := stopwatch();
    CREATE TABLE bench_out.joined AS SELECT o.*, p.birth, p.region, p.sex, p.segment FROM linked_bench.orders AS o JOIN linked_bench.persons AS p ON p.id = o.person_id;
    COMMIT;
    b := stopwatch() - since;
    since := stopwatch();
    EXECUTE linked_call(class_size, known);
    COMMIT;
    a := stopwatch() - since;
    INSERT INTO result (bench, name, a_ms, b_ms, ratio, must, aim)
    SELECT 'linked', format('%s: gcp %s, orders left out %s', what, string_agg(round(gcp::numeric, 3)::text, ' and ' ORDER BY run),
        (SELECT dropped_rows FROM kanon_usefulness WHERE target = 'bench_out.orders' ORDER BY run DESC LIMIT 1)), a, b, a / b, 5, 3
    FROM kanon_usefulness WHERE run IN (SELECT max(run) FROM kanon_usefulness WHERE target LIKE 'bench_out.%' GROUP BY target);
    DROP SCHEMA bench_out CASCADE;
END $$;
CALL linked_bench('k = 5, one row known', 5, '1');
CALL linked_bench('k = 5, classes of 20, one row known', 20, '1');
CALL linked_bench('k = 5, classes of 20, two rows known', 20, '2');
SELECT name, round(a_ms) AS kanon_ms, round(b_ms) AS join_ms, round(ratio::numeric, 2) AS ratio, must, aim FROM result WHERE bench = 'linked' ORDER BY place;
\set to :results '/linked.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'linked' ORDER BY place;
\o
\pset format aligned
DROP SCHEMA linked_bench CASCADE;
