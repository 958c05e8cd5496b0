-- kanon_transactions: whole calls (read, recode, write, recount).  :data has retail.txt and quest.txt;
-- without it, only tables by chance.  Processor time of this backend is what counts: the machine may be shared.
\echo
\echo 'transactions: whole calls; hierarchies of even fan-out 5'

CREATE FUNCTION backend_seconds() RETURNS float8 LANGUAGE sql AS $$
    SELECT (s[14]::float8 + s[15]::float8) / 100
    FROM (SELECT string_to_array(pg_read_file('/proc/' || pg_backend_pid() || '/stat'), ' ') AS s) AS stat $$;

-- transactions by chance: 1,600 items by Zipf's law, 6 on average; who has one has the one eight further, one time in four
CREATE PROCEDURE make_baskets(name text, n int) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setseed(0.5);
    EXECUTE format($q$
        CREATE TABLE %I AS
        SELECT ARRAY(SELECT DISTINCT item FROM (
                   SELECT unnest(CASE WHEN random() < 0.25 THEN ARRAY[i, (i + 8) %% 1600] ELSE ARRAY[i] END) AS item
                   FROM (SELECT floor(exp(random() * ln(1600.0)))::int - 1 AS i FROM generate_series(1, 1 + (t * 7 %% 9))) AS drawn) AS two) AS items
        FROM generate_series(1, %s) t$q$, name, n);
END $$;
CREATE TABLE even_h AS
SELECT i AS item, '5:' || i / 5 AS a, '25:' || i / 25 AS b, '125:' || i / 125 AS c, '625:' || i / 625 AS d, '3125:' || i / 3125 AS e, '*'::text AS top
FROM generate_series(0, 20000) i;
CALL make_baskets('baskets_125', 125000);
CALL make_baskets('baskets_250', 250000);
CALL make_baskets('baskets_500', 500000);
SELECT :'data' <> '' AS real_data \gset
\if :real_data
CREATE TABLE lines (line text);
\set file :data '/retail.txt'
COPY lines FROM :'file';
CREATE TABLE retail AS SELECT string_to_array(trim(line), ' ')::int[] AS items FROM lines;
TRUNCATE lines;
\set file :data '/quest.txt'
COPY lines FROM :'file';
CREATE TABLE quest AS SELECT string_to_array(trim(line), ' ')::int[] AS items FROM lines;
\endif
VACUUM ANALYZE;

CREATE TABLE transactions_result (place serial, source text, method text, k bigint, m int, seconds float8, must float8, ncp float8,
    items_suppressed bigint, items_shown bigint, items_before bigint, frequent_preserved int, peak_mb float8, read_s float8, solve_s float8, write_s float8, verify_s float8);
CREATE PROCEDURE measure_sets(source text, method text, k bigint, m int, must float8, more text DEFAULT '') LANGUAGE plpgsql AS $$
DECLARE
    since float8;
BEGIN
    IF to_regclass(source) IS NULL THEN RETURN; END IF;
    since := backend_seconds();
    EXECUTE format('SELECT FROM kanon_transactions(%L, ''bench_out'', ''items'', k => %L, method => %L %s)', source, k, method,
        more || CASE WHEN m IS NOT NULL THEN format(', %s => %s', CASE method WHEN 'suppress' THEN 'p' ELSE 'm' END, m) ELSE '' END);
    INSERT INTO transactions_result (source, method, k, m, seconds, must, ncp, items_suppressed, items_shown, items_before, frequent_preserved, peak_mb, read_s, solve_s, write_s, verify_s)
    SELECT measure_sets.source, measure_sets.method, measure_sets.k, measure_sets.m, backend_seconds() - since, measure_sets.must, u.ncp,
           (u.transactions ->> 'items_suppressed')::bigint, (u.transactions ->> 'items_shown')::bigint, (u.transactions ->> 'items_before')::bigint,
           (u.transactions ->> 'frequent_preserved')::int, u.peak_memory / 1048576.0, u.read_ms / 1000, u.solve_ms / 1000, u.write_ms / 1000, u.verify_ms / 1000
    FROM kanon_usefulness u ORDER BY run DESC LIMIT 1;
    COMMIT;
    DROP TABLE bench_out;
    COMMIT;
END $$;
CALL measure_sets('retail', 'apriori', 5, 2, 20, ', hierarchy => ''even_h''');
CALL measure_sets('retail', 'apriori', 5, 3, NULL, ', hierarchy => ''even_h''');
CALL measure_sets('retail', 'direct', 5, 2, NULL, ', hierarchy => ''even_h''');
CALL measure_sets('retail', 'suppress', 5, 2, NULL, ', h => 40, sensitive => ''{20,40,60,80,100,120,140,160,180,200}''');
CALL measure_sets('retail', 'suppress_control', NULL, NULL, NULL, ', rho => 0.5, sensitive => ''{20,40,60,80,100,120,140,160,180,200}''');
CALL measure_sets('retail', 'td_control', NULL, NULL, NULL, ', rho => 0.5, sensitive => ''{20,40,60,80,100,120,140,160,180,200}'', hierarchy => ''even_h''');
CALL measure_sets('quest', 'apriori', 5, 2, NULL, ', hierarchy => ''even_h''');
CALL measure_sets('quest', 'direct', 5, 2, NULL, ', hierarchy => ''even_h''');
CALL measure_sets('quest', 'apriori', 5, 3, NULL, ', hierarchy => ''even_h''');
CALL measure_sets('baskets_125', 'apriori', 5, 2, NULL, ', hierarchy => ''even_h''');
CALL measure_sets('baskets_250', 'apriori', 5, 2, NULL, ', hierarchy => ''even_h''');
CALL measure_sets('baskets_500', 'apriori', 5, 2, 60, ', hierarchy => ''even_h''');
CALL measure_sets('baskets_125', 'apriori', 5, 3, NULL, ', hierarchy => ''even_h''');
CALL measure_sets('baskets_250', 'apriori', 5, 3, NULL, ', hierarchy => ''even_h''');
CALL measure_sets('baskets_500', 'apriori', 5, 3, 300, ', hierarchy => ''even_h''');
SELECT source, method, k, m, round(seconds::numeric, 2) AS cpu_s, must, round(ncp::numeric, 6) AS ncp, items_suppressed, items_shown, items_before, frequent_preserved AS top_100,
       round(peak_mb::numeric) AS peak_mb, round(read_s::numeric, 2) AS read_s, round(solve_s::numeric, 2) AS solve_s, round(write_s::numeric, 2) AS write_s, round(verify_s::numeric, 2) AS verify_s
FROM transactions_result ORDER BY place;
\set to :results '/transactions.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT source, method, k, m, round(seconds::numeric, 2) AS cpu_s, must, round(ncp::numeric, 6) AS ncp, items_suppressed, items_shown, items_before, frequent_preserved AS top_100, round(peak_mb::numeric) AS peak_mb
FROM transactions_result ORDER BY place;
\o
\pset format aligned
