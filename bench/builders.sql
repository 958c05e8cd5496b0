-- Builders in a call against the tables that hold the same levels, and masked kept
-- columns against the same columns kept as they are: a million rows, in processor time.
\echo
\echo 'builders and masks: 1 million rows (medians; each line a ratio within one run)'

SET bench.processor = on;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE visits AS
SELECT i % 90 AS age, 'z' || i % 400 AS zip, i % 2 AS sex, i * 7919::bigint % 100000 AS patient, i * 37 % 100007 AS cost,
       (i * 37 % 100007 * 1.25)::numeric AS fee, 'anna' || i % 50000 || '@example.org' AS email, date '2020-01-01' + i % 900 AS admitted,
       timestamp '2020-01-01' + i % 500000 * interval '1 min' AS seen, i * 7919::bigint % 1000003 AS own
FROM generate_series(1, 1000000) i;
SELECT kanon_hierarchy_interval('visits', 'cost', 'cost_h', '{100,1000,10000}'), kanon_hierarchy_prefix('visits', 'email', 'email_h', '{6,4}'),
       kanon_hierarchy_date('visits', 'seen', 'seen_h', '{hour,day,month}'), kanon_hierarchy_quantile('visits', 'cost', 'cost_q', '{16,4}');
VACUUM ANALYZE;

CREATE FUNCTION levels_call(of_column text, hierarchy text) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT FROM kanon_full_domain(%L, %L, %L, 5, hierarchies => %L)', 'visits', 'bench_out', '{' || of_column || ',sex}',
        format('{"%s": %s}', of_column, hierarchy)) $$;
CALL compare('builders', 'intervals, 100,007 values / their table', levels_call('cost', '{"interval": [100, 1000, 10000]}'), levels_call('cost', '"cost_h"'), 1, 0.8);
CALL compare('builders', 'prefixes, 50,000 values / their table', levels_call('email', '{"prefix": [6, 4]}'), levels_call('email', '"email_h"'), 1, 0.8);
CALL compare('builders', 'dates, 500,000 values / their table', levels_call('seen', '{"date": ["hour", "day", "month"]}'), levels_call('seen', '"seen_h"'), 1, 0.8);
CALL compare('builders', 'quantiles, 100,007 values / their table', levels_call('cost', '{"quantile": [16, 4]}'), levels_call('cost', '"cost_q"'), 1, 0.8);

CREATE FUNCTION masks_call(kept text, mask text, more text DEFAULT '') RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT FROM kanon_pattern_guided(%L, %L, %L, 5, keep => %L, mask => %L%s)', 'visits', 'bench_out', '{age,zip,sex}',
        '{' || kept || '}', mask, more) $$;
CALL compare('builders', 'a constant / the column as it is', masks_call('email', '{"email": {"constant": "x"}}'), masks_call('email', NULL), 1.1, 1.05);
CALL compare('builders', 'rounded integers / as they are', masks_call('cost', '{"cost": {"round": 100}}'), masks_call('cost', NULL), 1.1, 1.05);
CALL compare('builders', 'cut at a quantile / as they are', masks_call('cost', '{"cost": {"top": 0.99}}'), masks_call('cost', NULL), 1.1, 1.05);
CALL compare('builders', 'rounded numerics / as they are', masks_call('fee', '{"fee": {"round": 10}}'), masks_call('fee', NULL), 1.1, 1.05);
CALL compare('builders', 'parts of texts / as they are', masks_call('email', '{"email": {"partial": [2, 4]}}'), masks_call('email', NULL), 1.1, 1.05);
CALL compare('builders', 'shifted dates / as they are', masks_call('patient,admitted', '{"patient": {"constant": 0}, "admitted": {"shift": "patient", "days": 30}}'), masks_call('patient,admitted', '{"patient": {"constant": 0}}'), 1.1, 1.05);
-- where every row has a value of its own
CALL compare('builders', 'pseudonyms of 1,000,000 values / as they are', masks_call('own', '{"own": {"pseudonym": "release"}}'), masks_call('own', NULL, $$, allow_identifying => '{own}'$$), 1.5, 1.2);
CALL compare('builders', 'pseudonyms of 100,000 persons / as they are', masks_call('patient', '{"patient": {"pseudonym": "release"}}'), masks_call('patient', NULL), 1.1, 1.05);

SELECT name, round(a_ms::numeric) AS a_ms, round(b_ms::numeric) AS b_ms, round(ratio::numeric, 2) AS ratio, must, aim
FROM result WHERE bench = 'builders' ORDER BY place;
\set to :results '/builders.tsv'
\o :to
\pset format unaligned
\pset fieldsep '\t'
SELECT name, a_ms, b_ms, ratio, must, aim FROM result WHERE bench = 'builders' ORDER BY place;
\o
\pset format aligned
