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
-- rows of classes, of the source, with a key, and by parts
SELECT count(*) > 0 FROM kanon_pattern_guided('t', 'o', '{age,zip}', 5);
SELECT count(*) > 0 FROM kanon_pattern_guided('t', 'o', '{age,zip}', 5, keep => '{ill}', replace => true);
SELECT count(*) > 0 FROM kanon_pattern_guided('t', 'o', '{age,zip}', 5, keep => '{ill}', partition_by => 'zip', replace => true);
SELECT kanon_create_publication('p', 't', '{age,zip}', 5, key => 'id', protect_successive => true, keep_releases => 2);
SELECT status FROM kanon_refresh('p');
-- two tables, points, and rows that are made
SELECT count(*) > 0 FROM kanon_anatomy('t', 'q', 'v', '{age,zip}', 'ill', 3);
SELECT count(*) > 0 FROM kanon_cross_training('t', 'o', '{x,y}', 5, replace => true);
SELECT count(*) > 0 FROM kanon_synthetic('t', 'o', '{zip}', 1, 0.5, '{"zip": ["z1", "z2", "z3", "z4"]}', rows => 2200, replace => true);
RESET kanon.fault;
SET client_min_messages = warning;
DROP SCHEMA told_test CASCADE;
