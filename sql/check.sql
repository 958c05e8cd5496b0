-- kanon_check: any relation, independent of any run
CREATE SCHEMA check_test;
SET search_path = check_test, public;
CREATE TABLE t (a int, b text);
SELECT * FROM kanon_check('t', '{a,b}');
INSERT INTO t VALUES (1, 'x'), (1, 'x'), (1, 'x'), (2, 'y'), (2, 'y');
SELECT * FROM kanon_check('t', '{a,b}');
-- NULL equals NULL; a row that is NULL throughout is blank
INSERT INTO t VALUES (NULL, 'z'), (NULL, 'z'), (NULL, NULL);
SELECT * FROM kanon_check('t', '{a,b}');
INSERT INTO t VALUES (3, NULL);
SELECT * FROM kanon_check('t', '{a,b}');
SELECT * FROM kanon_check('t', '{b}');
SELECT * FROM kanon_check('t', ARRAY['a']);
-- only blank rows
CREATE VIEW blank AS SELECT NULL::int AS a, NULL::text AS b FROM generate_series(1, 3);
SELECT * FROM kanon_check('blank', '{a,b}');
-- a composite of NULLs is a value, not a blank
CREATE TYPE pair AS (x int, y int);
CREATE TABLE p AS SELECT ROW(NULL, NULL)::pair AS c FROM generate_series(1, 2);
SELECT * FROM kanon_check('p', '{c}');
-- errors
SELECT * FROM kanon_check(NULL, '{a}');
SELECT * FROM kanon_check('t', NULL);
SELECT * FROM kanon_check('t', '{}');
SELECT * FROM kanon_check('t', '{nope}');
SELECT * FROM kanon_check('t', '{a,a}');
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA check_test CASCADE;
