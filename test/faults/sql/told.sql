-- how far runs are: what is told of long ones alone, at each step (src/core/util/fault.h)
CREATE SCHEMA told_test;
SET search_path = told_test, public;
CREATE TABLE t AS SELECT i AS id, i % 40 AS age, 'z' || i % 9 AS zip, 'd' || i % 7 AS ill, i / 10.0 AS x, i % 13 / 2.0 AS y FROM generate_series(1, 2500) i;
ALTER TABLE t SET (autovacuum_enabled = off);
ANALYZE t;
SET kanon.fault = 'progress_told';
SET kanon.progress = on;
\pset format unaligned
\pset tuples_only on
-- rows of classes, of the source, with a key, and by parts (one order of patterns: each further one tells its steps)
SELECT count(*) > 0 FROM kanon_pattern_guided('t', 'o', '{age,zip}', 5, effort => 0);
SELECT count(*) > 0 FROM kanon_pattern_guided('t', 'o', '{age,zip}', 5, keep => '{ill}', effort => 0, replace => true);
SELECT count(*) > 0 FROM kanon_pattern_guided('t', 'o', '{age,zip}', 5, keep => '{ill}', effort => 0, partition_by => 'zip', replace => true);
SELECT kanon_create_publication('p', 't', '{age,zip}', 5, options => '{"effort": 0}', key => 'id', protect_successive => true, keep_releases => 2);
SELECT status FROM kanon_refresh('p');
-- two tables, points, and rows that are made
SELECT count(*) > 0 FROM kanon_anatomy('t', 'q', 'v', '{age,zip}', 'ill', 3);
SELECT count(*) > 0 FROM kanon_cross_training('t', 'o', '{x,y}', 5, replace => true);
SELECT count(*) > 0 FROM kanon_synthetic('t', 'o', '{zip}', 1, 0.5, '{"zip": ["z1", "z2", "z3", "z4"]}', rows => 2200, replace => true);
-- what the methods tell, each of its own steps
CREATE TABLE few AS SELECT i * i % 31 AS age, 'z' || i * 7 % 11 AS zip, i % 5 AS sex, 'd' || i % 7 AS ill, ARRAY['x' || i % 5, 'y' || i % 3, 'z' || i % 2] AS items FROM generate_series(1, 400) i;
CREATE TABLE fewer AS SELECT * FROM few WHERE age < 9;
CREATE TABLE kinds AS SELECT DISTINCT item, left(item, 1) AS kind FROM few, unnest(items) AS item;
ALTER TABLE few SET (autovacuum_enabled = off);
ALTER TABLE fewer SET (autovacuum_enabled = off);
ANALYZE few, fewer;
SELECT count(*) > 0 FROM kanon_pattern_guided('few', NULL, '{age,zip,sex}', 5, method => 'greedy', effort => 0, dry_run => true, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 3)]);
SELECT count(*) > 0 FROM kanon_pattern_guided('fewer', NULL, '{sex,age}', 30, method => 'fpt', dry_run => true);
SELECT count(*) > 0 FROM kanon_pattern_clustering('few', NULL, '{age,zip,sex}', 5, patterns => '{---,-*-,--*,***}', method => 'greedy', dry_run => true);
SELECT count(*) > 0 FROM kanon_full_domain('few', NULL, '{age,zip,sex}', 5, hierarchies => '{"age": {"interval": [5, 15]}, "zip": {"prefix": [1]}, "sex": {"interval": [2]}}', suppression_limit => 0.05, dry_run => true);
SELECT count(*) > 0 FROM kanon_subtree('few', NULL, '{age,zip,sex}', 5, hierarchies => '{"age": {"interval": [5, 15]}, "zip": {"prefix": [1]}, "sex": {"interval": [2]}}', dry_run => true);
SELECT count(*) > 0 FROM kanon_subtree('few', NULL, '{age,sex}', 5, method => 'optimal', hierarchies => '{"age": {"interval": [5, 15]}, "sex": {"interval": [2]}}', dry_run => true);
SELECT count(*) > 0 FROM kanon_cluster('few', NULL, '{age,zip,sex}', 5, method => 'mondrian', dry_run => true);
SELECT count(*) > 0 FROM kanon_cluster('few', NULL, '{age,zip,sex}', 5, method => 'gather', dry_run => true);
SELECT count(*) > 0 FROM kanon_cluster('few', NULL, '{age,zip,sex}', 5, method => 'bottom_up', dry_run => true);
SELECT count(*) > 0 FROM kanon_cluster('few', NULL, '{age,zip,sex}', 5, method => 'forest', dry_run => true);
SELECT count(*) > 0 FROM kanon_cluster('few', NULL, '{age,zip,sex}', 5, method => 'k_k', dry_run => true);
SELECT count(*) > 0 FROM kanon_freeform('few', NULL, '{age,zip,sex}', 5, method => 'greedy', dry_run => true);
SELECT count(*) > 0 FROM kanon_freeform('fewer', NULL, '{age,zip,sex}', 3, method => 'sort_greedy', dry_run => true);
SELECT count(*) > 0 FROM kanon_freeform('few', NULL, '{age,zip,sex}', 5, method => 'ring', seed => 1, dry_run => true);
SELECT count(*) > 0 FROM kanon_freeform('fewer', NULL, '{age,zip,sex}', 3, method => 'hungarian', dry_run => true);
SELECT count(*) > 0 FROM kanon_transactions('few', NULL, 'items', 40, m => 2, hierarchy => 'kinds', dry_run => true);
SELECT count(*) > 0 FROM kanon_transactions('few', NULL, 'items', 40, m => 2, method => 'optimal', hierarchy => 'kinds', dry_run => true);
SELECT count(*) > 0 FROM kanon_transactions('few', NULL, 'items', NULL, method => 'td_control', hierarchy => 'kinds', sensitive => '{z0}', rho => 0.6, dry_run => true);
SELECT count(*) > 0 FROM kanon_transactions('few', NULL, 'items', 40, method => 'suppress', p => 2, sensitive => '{z0}', h => 60, dry_run => true);
SELECT count(*) > 0 FROM kanon_frontier('few', '{age,zip,sex}', '{2,5}', model => 'cluster');
SELECT count(*) > 0 FROM kanon_explain('few', '{age,zip,sex}', 5, effort => 0);
SELECT count(*) > 0 FROM kanon_compare('few', 'few', '{age,zip,sex}', '{ill}', seed => 1);
SELECT count(*) > 0 FROM kanon_risk('few', '{age,zip,sex}', '{ill}');
RESET kanon.fault;
SET client_min_messages = warning;
DROP SCHEMA told_test CASCADE;
