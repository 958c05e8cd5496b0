-- kanon_full_domain: one node of the lattice of levels for all rows.
\set VERBOSITY default
SET client_min_messages = notice;
CREATE TABLE people (age int, zip text, sex text, illness text);
INSERT INTO people VALUES
    (31, '48201', 'f', 'flu'), (32, '48201', 'f', 'asthma'), (33, '48202', 'm', 'flu'), (34, '48202', 'm', 'gout'),
    (38, '48301', 'f', 'flu'), (39, '48301', 'f', 'gout'), (41, '48302', 'm', 'flu'), (42, '48302', 'm', 'asthma'),
    (43, '48302', 'm', 'flu'), (57, '48401', 'f', 'gout'), (58, '48401', 'x', 'flu'), (NULL, '48401', 'f', 'asthma');
CREATE TABLE age_h (value int, five text, ten text);
INSERT INTO age_h SELECT a, (a / 5 * 5) || '-' || (a / 5 * 5 + 4), (a / 10 * 10) || '-' || (a / 10 * 10 + 9) FROM generate_series(0, 99) a;
CREATE TABLE zip_h (value text, four text, three text);
INSERT INTO zip_h SELECT DISTINCT zip, left(zip, 4) || '*', left(zip, 3) || '**' FROM people;
\set h '{"age": "age_h", "zip": "zip_h"}'

-- every method finds the same node, whatever the metric and the limit
CREATE TABLE found AS
SELECT k, suppression_limit, metric, algorithm, f.pattern, f.metric_value, f.suppressed_rows, f.classes, f.lattice_nodes
FROM unnest('{2,3}'::int[]) k, unnest('{0,0.1,0.25,1}'::float8[]) suppression_limit,
    unnest('{loss,precision,discernibility,average_class_size,entropy,height}'::text[]) metric,
    unnest('{samarati,incognito,flash,speedy}'::text[]) algorithm,
    kanon_full_domain('people', NULL, '{age,zip,sex}', k, hierarchies => :'h', suppression_limit => suppression_limit, metric => metric, method => algorithm, dry_run => true) f;
SELECT k, suppression_limit, metric FROM found GROUP BY 1, 2, 3
HAVING count(DISTINCT (pattern, metric_value, suppressed_rows, classes)) > 1 OR count(*) <> 4;
SELECT k, suppression_limit AS "limit", metric, pattern, round(metric_value::numeric, 4) AS value, suppressed_rows, classes, lattice_nodes
FROM found WHERE algorithm = 'flash' ORDER BY 1, 2, 3;

-- the best of all nodes, by a query: explore tells the same
SELECT verdict, count(*), count(metric_value), min(metric_value) FROM kanon_full_domain('people', NULL, '{age,zip,sex}', 2, hierarchies => :'h', suppression_limit => 0.1, metric => 'discernibility', explore => true, dry_run => true) GROUP BY 1 ORDER BY 1;
SELECT pattern, verdict, metric_value, suppressed_rows, classes FROM kanon_full_domain('people', NULL, '{age,zip,sex}', 2, hierarchies => :'h', suppression_limit => 0.1, metric => 'discernibility', explore => true, dry_run => true)
WHERE verdict <> 'fails' ORDER BY metric_value, suppressed_rows, pattern LIMIT 5;
-- a node chosen by hand is a pattern
SELECT pattern, classes, row_count FROM kanon_pattern_guided('people', NULL, '{age,zip,sex}', 2, patterns => '{22-}', hierarchies => :'h', dry_run => true);

-- published, checked and recorded
SELECT pattern, verdict, metric_value, suppressed_rows, classes, workers FROM kanon_full_domain('people', 'people_public', '{age,zip,sex}', 2, hierarchies => :'h', suppression_limit => 0.25, metric => 'discernibility', keep => '{illness}', mark => true);
SELECT age, zip, sex, kanon_pattern, count(*) FROM people_public GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;
SELECT * FROM kanon_check('people_public', '{age,zip,sex}');
SELECT method, k, classes, class_min, row_count, discernibility, options FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
-- a row that fits nowhere: suppressed, left out, or not allowed
SELECT pattern, suppressed_rows, classes FROM kanon_full_domain('people', 'people_public', '{age,zip,sex}', 2, hierarchies => :'h', suppression_limit => 0.1, metric => 'height', replace => true);
SELECT count(*), count(*) FILTER (WHERE age IS NULL AND zip IS NULL AND sex IS NULL) AS blank FROM people_public;
SELECT pattern, suppressed_rows, classes FROM kanon_full_domain('people', 'people_public', '{age,zip,sex}', 2, hierarchies => :'h', suppression_limit => 0.1, metric => 'height', residual => 'drop', replace => true);
SELECT count(*) FROM people_public;
SELECT pattern, suppressed_rows, classes FROM kanon_full_domain('people', NULL, '{age,zip,sex}', 2, hierarchies => :'h', suppression_limit => 0.1, metric => 'height', residual => 'error', dry_run => true);
-- rules beyond k; without hierarchies columns are kept or suppressed
SELECT pattern, suppressed_rows, classes FROM kanon_full_domain('people', NULL, '{age,zip,sex}', 2, hierarchies => :'h', suppression_limit => 0.25, keep => '{illness}', privacy => ARRAY[kanon_distinct_l('illness', 2)], dry_run => true);
SELECT pattern, suppressed_rows, classes FROM kanon_full_domain('people', NULL, '{age,zip,sex}', 2, dry_run => true);
-- weights; no rows
SELECT pattern FROM kanon_full_domain('people', NULL, '{age,zip,sex}', 2, hierarchies => :'h', weights => '{1,1,9}', dry_run => true);
CREATE TABLE nobody (LIKE people);
SELECT * FROM kanon_full_domain('nobody', 'nobody_public', '{age,zip,sex}', 2, hierarchies => :'h');
SELECT count(*) FROM nobody_public;

-- with workers or without: the same
CREATE TABLE many AS SELECT i % 300 AS a, i / 300 % 40 AS b, hashint4(i) & 15 AS c, hashint4(i + 1) & 7 AS d FROM generate_series(1, 120000) i;
CREATE TABLE a_h AS SELECT v, v / 10 AS l1, v / 60 AS l2 FROM generate_series(0, 299) v;
CREATE TABLE b_h AS SELECT v, v / 5 AS l1 FROM generate_series(0, 39) v;
SELECT count(DISTINCT (pattern, metric_value, suppressed_rows, classes, nodes_checked, nodes_tagged)) AS results, bool_or(f.workers > 0) AS parallel
FROM unnest('{0,1,2,3}'::int[]) wanted, kanon_full_domain('many', NULL, '{a,b,c,d}', 5, hierarchies => '{"a":"a_h","b":"b_h"}', suppression_limit => 0.02, metric => 'entropy', method => 'speedy', workers => wanted, dry_run => true) f;
-- under a rule about a population, too
SELECT count(DISTINCT (pattern, metric_value, suppressed_rows, classes, nodes_checked, nodes_tagged)) AS results, bool_or(f.workers > 0) AS parallel
FROM unnest('{0,2}'::int[]) wanted, kanon_full_domain('many', NULL, '{a,b,c,d}', 5, privacy => ARRAY[kanon_k_map('many')], method => 'speedy', workers => wanted, dry_run => true) f;

-- bad input
\set VERBOSITY default
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 2, hierarchies => :'h', suppression_limit => 1.5);
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 2, hierarchies => :'h', suppression_limit => 'NaN');
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 2, hierarchies => :'h', suppression_limit => NULL);
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 2, hierarchies => :'h', metric => 'beauty');
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 2, hierarchies => :'h', metric => NULL);
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 2, hierarchies => :'h', method => 'guess');
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 2, hierarchies => :'h', workers => 2);
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 2, hierarchies => :'h', method => 'speedy', workers => -1);
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 2, hierarchies => :'h', residual => 'ask');
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 1, hierarchies => :'h');
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 13, hierarchies => :'h');
SELECT kanon_full_domain('people', NULL, '{age,zip,sex}', 2, hierarchies => :'h');
SELECT kanon_full_domain('people', 'x', '{age,zip}', 2, hierarchies => '{"sex": "zip_h"}');
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 2, hierarchies => '{"age": "nowhere"}');
-- one without a level below the top is no better for it
CREATE TABLE flat_h AS SELECT 43 AS age, 'any' AS label;
SELECT kanon_full_domain('people', 'x', '{age,zip,sex}', 2, hierarchies => '{"age": "flat_h"}');
-- every node within the limit leaves one row over, but the top
SELECT pattern FROM kanon_full_domain('people', NULL, '{age,zip,sex}', 12, hierarchies => :'h', residual => 'error', dry_run => true);
-- a lattice of 2^24 nodes
SELECT format('CREATE TABLE wide (%s)', string_agg(format('c%s int', i), ', ')) AS wide, format('{%s}', string_agg('c' || i, ',')) AS columns
FROM generate_series(1, 24) i \gset
:wide;
INSERT INTO wide DEFAULT VALUES;
INSERT INTO wide DEFAULT VALUES;
SELECT kanon_full_domain('wide', 'x', :'columns', 2, explore => true);
SELECT pattern, verdict, metric_value, metric_bound, lattice_nodes FROM kanon_full_domain('wide', NULL, :'columns', 2, dry_run => true);
-- time is up after the first node, the top
INSERT INTO wide (c1, c2) SELECT i, 1 FROM generate_series(1, 3) i;
SELECT pattern, verdict, round(metric_value::numeric, 6) AS value, metric_bound FROM kanon_full_domain('wide', 'people_public', :'columns', 2, replace => true, time_limit => '1 microsecond');
SELECT proven, options -> 'metric_bound' AS bound, options -> 'time_limit' AS time_limit FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT x ->> 'says' AS says, x -> 'claim' -> 'best' AS best, d ->> 'options' LIKE '%metric_bound%' AS parameter
FROM kanon_report_data((SELECT max(run) FROM kanon_usefulness)) d, jsonb_array_elements(d -> 'statements') x WHERE x ->> 'about' = 'method';
SELECT pattern, verdict, round(metric_value::numeric, 6) AS value, round(metric_bound::numeric, 6) AS bound FROM kanon_full_domain('wide', NULL, :'columns', 2, dry_run => true, time_limit => NULL);
SELECT kanon_full_domain('wide', NULL, :'columns', 2, time_limit => '0', dry_run => true);
DROP TABLE people, flat_h, age_h, zip_h, found, people_public, nobody, nobody_public, many, a_h, b_h, wide;
