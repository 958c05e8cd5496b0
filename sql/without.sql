-- A build without GLPK and LEMON says what is missing; the other methods work.
\set VERBOSITY default
SET client_min_messages = notice;
CREATE SCHEMA without_test;
SET search_path = without_test, public;
CREATE TABLE people AS SELECT i % 5 AS age, i % 3 AS zip, i % 2 AS sex, i % 4 AS d FROM generate_series(1, 60) i;
SELECT * FROM kanon_pattern_guided('people', 'x', '{age,zip,sex}', 3, method => 'ilp');
SELECT * FROM kanon_pattern_guided('people', 'x', '{age,zip,sex}', 3, method => 'ilp', keep => '{d}', privacy => ARRAY[kanon_distinct_l('d', 2)]);
SELECT * FROM kanon_pattern_guided('people', 'x', '{age,zip,sex}', 2, method => 'matching');
SELECT * FROM kanon_freeform('people', 'x', '{age,zip,sex}', 3, method => 'mip');
SELECT * FROM kanon_cluster('people', 'x', '{age,zip,sex}', 2, 'pairs');
SELECT * FROM kanon_cluster('people', 'x', '{age,zip,sex}', 3, 'triples');
SELECT to_regclass('x');
-- without a proof; what is nearly empty depends on the method that there is
SET client_min_messages = warning;
SELECT sum(row_count) AS rows FROM kanon_pattern_guided('people', 'best', '{age,zip,sex}', 3, method => 'best');
SET client_min_messages = notice;
SELECT sum(row_count) AS rows FROM kanon_pattern_clustering('people', 'teams', '{age,zip,sex}', 3, patterns => '{*-*,*-*,*-*}');
SELECT sum(row_count) AS rows FROM kanon_pattern_clustering('people', 'teams_greedy', '{age,zip,sex}', 3, patterns => '{*-*,*-*,*-*}', method => 'greedy');
SELECT kanon_pattern_clustering('people', 'x', '{age,zip,sex}', 3, patterns => '{---}');
SELECT target, method, proven FROM kanon_usefulness WHERE target LIKE 'without_test.%' ORDER BY run;
SELECT t, k >= 3 AS ok FROM unnest('{best,teams,teams_greedy}'::text[]) t, kanon_check(t::regclass, '{age,zip,sex}');
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA without_test CASCADE;
