-- what work_mem has no room for is in files, and no file is left open (which a commit would tell of)
CREATE SCHEMA spill_test;
SET search_path = spill_test, public;
SET client_min_messages = warning;
SET kanon.progress = off;
CREATE TABLE many AS SELECT i AS id, i % 7 AS a, i % 5 AS b, 'note ' || i % 11 AS note, i * 0.5::float8 AS amount FROM generate_series(1, 6000) i;
CREATE TABLE tree AS SELECT i AS id, nullif(i / 20, 0) AS up FROM generate_series(1, 6000) i;
CREATE VIEW seen AS TABLE many;
SET work_mem = '64kB';
SELECT kanon_checksum('many') IS NOT NULL AS told;
SELECT FROM kanon_pattern_guided('many', 'o', '{a,b}', 5, keep => '{note,amount}', allow_identifying => '{amount}', mask => '{"amount": {"top": 0.6}}');
SELECT FROM kanon_pattern_guided('seen', 'o', '{a,b}', 5, keep => '{note,id}', allow_identifying => '{id}', replace => true);
SELECT FROM kanon_pattern_guided('many', 'o', '{a,b}', 5, keep => '{note,id}', allow_identifying => '{id}', privacy => ARRAY[kanon_subject('id'), kanon_distinct_l('note', 2)], replace => true);
SELECT FROM kanon_cluster('many', 'o', '{a,b}', 50, 'mondrian_relaxed', keep => '{note,id}', allow_identifying => '{id}', replace => true);
SELECT FROM kanon_synthetic('many', 'o', '{a,b}', 1, 0.1, '{"a": [0, 1, 2, 3, 4, 5, 6], "b": [0, 1, 2, 3, 4]}', rows => 6000, replace => true) LIMIT 1;
SELECT FROM kanon_anatomy('many', 'qis', 'notes', '{a,b}', 'note', 3);
SELECT kanon_hierarchy_from_fk('many', 'id', 'ids', 'tree', key => 'id', parent => 'up') > 0 AS made;
\set VERBOSITY terse
DROP SCHEMA spill_test CASCADE;
