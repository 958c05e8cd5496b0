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
-- somebody who knows few columns: eight rows of which no two agree in a, b and c, and those with a = 0 twice
CREATE TABLE few (a int, b int, c int, "d,=""" text);
INSERT INTO few SELECT i / 4, i / 2 % 2, i % 2, 'same' FROM generate_series(0, 7) i;
INSERT INTO few SELECT * FROM few WHERE a = 0;
SELECT * FROM kanon_check('few', '{a,b,c}', known_columns => 1, k => 5);
SELECT * FROM kanon_check('few', '{a,b,c}', known_columns => 3);
SELECT * FROM kanon_check('few', '{a,b,c}', known_columns => 2, k => 3);
SELECT * FROM kanon_check('few', '{a,b,c}', known_columns => 3, k => 3);
-- the same by plain SQL: rows of which some pair of values is had by fewer than three
SELECT count(*) FROM few t WHERE (SELECT count(*) FROM few o WHERE (o.a, o.b) = (t.a, t.b)) < 3
OR (SELECT count(*) FROM few o WHERE (o.a, o.c) = (t.a, t.c)) < 3 OR (SELECT count(*) FROM few o WHERE (o.b, o.c) = (t.b, t.c)) < 3;
-- sets that are named, each with a k of its own
SELECT * FROM kanon_check('few', '{a,b,c}', NULL, combinations => '{"a,b","b,c"}', k => 3);
SELECT * FROM kanon_check('few', '{a,b,c}', NULL, combinations => '{"a, b=5","b,c=7"}');
SELECT * FROM kanon_check('few', '{a,b,c}', 1, combinations => '{"a,b,c=2"}', k => 4);
SELECT * FROM kanon_check('few', ARRAY['a', 'd,="'], NULL, combinations => ARRAY['a, "d,=""" =9', '"d,=""",a']);
-- NULL: a value, everything, nothing
CREATE TABLE gaps (a int, b int);
INSERT INTO gaps VALUES (1, 1), (1, 1), (1, NULL), (2, 1), (2, NULL), (NULL, 1);
SELECT * FROM kanon_check('gaps', '{a,b}', 2);
SELECT * FROM kanon_check('gaps', '{a,b}', 2, missing => 'any');
SELECT * FROM kanon_check('gaps', '{a,b}', 2, missing => 'aside');
SELECT * FROM kanon_check('gaps', '{a,b}', 2, k => 4, missing => 'any');
SELECT * FROM kanon_check('gaps', '{a,b}', 2, k => 4, missing => 'aside');
SELECT * FROM kanon_check('blank', '{a,b}', 2, missing => 'aside');
-- errors
SELECT * FROM kanon_check('few', '{a,b,c}', 0);
SELECT * FROM kanon_check('few', '{a,b,c}', 4);
SELECT * FROM kanon_check('few', '{a,b,c}', NULL);
SELECT * FROM kanon_check('few', '{a,b,c}', 2, k => 1);
SELECT * FROM kanon_check('few', '{a,b,c}', 2, missing => 'never');
SELECT * FROM kanon_check('few', '{a,b}', NULL, combinations => '{"a,c"}');
SELECT * FROM kanon_check('few', '{a,b}', NULL, combinations => '{"a,a"}');
SELECT * FROM kanon_check('few', '{a,b}', NULL, combinations => '{"a,,b"}');
SELECT * FROM kanon_check('few', '{a,b}', NULL, combinations => '{"a,b=1"}');
SELECT * FROM kanon_check('few', '{a,b}', NULL, combinations => '{NULL}');
SELECT * FROM kanon_check('few', '{a,b}', NULL, combinations => ARRAY['"a,b']);
SELECT * FROM kanon_check('few', '{a,b}', NULL, combinations => ARRAY['"a"b']);
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA check_test CASCADE;
