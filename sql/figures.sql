-- figures that were a little wrong: each beside its value by hand or by plain SQL
CREATE SCHEMA figure_test;
SET search_path = figure_test, public;
SET extra_float_digits = 0;
\pset format unaligned
\pset tuples_only on
\set VERBOSITY terse

-- what a level costs in kanon_cluster. Of 1, 2, 3, 4, 4, 4 the class of the first three is shown at level 1 of 2:
-- by height 3 * 1/2; by penalty 3 of 4 values, for half of the rows: 3 * 3/8
CREATE TABLE low (v text);
INSERT INTO low VALUES (1), (2), (3), (4), (4), (4);
CREATE TABLE low_h (v text, l1 text);
INSERT INTO low_h VALUES (1, 'low'), (2, 'low'), (3, 'low'), (4, 'high');
SELECT level_cost, (SELECT cost FROM kanon_cluster('low', NULL, '{v}', 3, 'bottom_up', hierarchies => '{"v": "low_h"}',
    level_cost => level_cost, dry_run => true))
FROM unnest('{height,ncp}'::text[]) level_cost;
SELECT kanon_cluster('low', NULL, '{v}', 3, 'bottom_up', level_cost => 'cheap', dry_run => true);

-- a share in persons: one with two classes counts in each, so that the table's own share bounds nothing.
-- q: 1 of 2, p: 1 of 2; p: 2 of 3, r: 1 of 3; in the table 3 of 4 persons have p
CREATE TABLE sa (a int, s text, person int);
INSERT INTO sa VALUES (1, 'q', 4), (1, 'p', 2), (2, 'p', 5), (2, 'r', 2), (2, 'p', 7);
SELECT pattern, row_count FROM kanon_pattern_guided('sa', 'sa_public', '{a}', 2, keep => '{s}',
    privacy => ARRAY[kanon_subject('person'), kanon_alpha('s', 0.67)]);
SELECT a, count(*) FROM sa_public GROUP BY a ORDER BY a;
-- what cannot be is still said
SELECT kanon_pattern_guided('sa', NULL, '{a}', 2, keep => '{s}', privacy => ARRAY[kanon_subject('person'), kanon_distinct_l('s', 4)],
    dry_run => true);
SELECT kanon_pattern_guided('sa', NULL, '{a}', 2, keep => '{s}', privacy => ARRAY[kanon_alpha('s', 0.5)], dry_run => true);

-- and they are one class each: row types differ in quasi-identifiers, whatever rules look at
SELECT row_types FROM kanon_usefulness ORDER BY run DESC LIMIT 1;

-- closeness in persons: the distribution that classes are compared with is that of (person, value), whoever asks.
-- Person 1 has p in both classes: p 2, q 2. Class 1 has p 1, q 1: 0; class 2 p 2, q 1: 2/3 - 1/2
CREATE TABLE twice (a int, s text, person int);
INSERT INTO twice VALUES (1, 'p', 1), (1, 'q', 2), (2, 'p', 1), (2, 'p', 3), (2, 'q', 4);
SELECT round(value::numeric, 4) FROM kanon_risk('twice', '{a}', '{s}', subject => 'person') WHERE measure = 't_equal';
SELECT t, (SELECT classes FROM kanon_pattern_guided('twice', NULL, '{a}', 2, keep => '{s}', residual => 'drop',
    privacy => ARRAY[kanon_subject('person'), kanon_t_closeness('s', t, 'equal')], dry_run => true) WHERE pattern = '-')
FROM unnest('{0.16,0.17}'::float8[]) t;
-- and blank rows are rows, whoever they are about
INSERT INTO twice VALUES (NULL, 'p', 5), (NULL, 'q', 5);
SELECT measure, value FROM kanon_risk('twice', '{a}', subject => 'person') WHERE measure IN ('rows', 'persons', 'blank_rows');
SELECT value FROM kanon_risk('twice', '{a}') WHERE measure = 'blank_rows';

-- a NULL is one value, at whatever level it stays: shown are NULL, 2 and the range of 0 and 1
CREATE TABLE holes (a int, b int);
INSERT INTO holes VALUES (0, 1), (1, 1), (NULL, 1), (NULL, 1), (2, 1), (2, 1), (NULL, 2), (NULL, 3);
CREATE TABLE holes_h (a int, l text, top text);
INSERT INTO holes_h VALUES (0, 'few', '*'), (1, 'few', '*'), (2, 'more', '*');
SELECT pattern, row_count FROM kanon_pattern_guided('holes', 'holes_public', '{a,b}', 2, patterns => '{--,1-,1*}',
    hierarchies => '{"a": "holes_h"}');
SELECT column_name, distinct_after FROM kanon_columns WHERE run = (SELECT max(run) FROM kanon_usefulness);
SELECT count(DISTINCT coalesce(a, 'NULL')) FROM holes_public;

-- the last level is suppression when all lines agree in it; the one before is a level, whatever it says:
-- L = 3, so that 'few' costs 1/3 and 'any' 2/3
CREATE TABLE topped_h AS SELECT a, l, 'any' AS "all", '*' AS top FROM holes_h;
SELECT pattern, round(cost::numeric, 3) AS cost, row_count FROM unnest('{1,2}'::text[]) p, kanon_pattern_guided('holes', NULL, '{a}', 2,
    patterns => ARRAY[p], hierarchies => '{"a": "topped_h"}', level_cost => 'height', dry_run => true) ORDER BY p, 2;
SELECT pattern, row_count FROM kanon_pattern_guided('holes', 'topped_public', '{a}', 2, patterns => '{2}',
    hierarchies => '{"a": "topped_h"}');
SELECT DISTINCT a FROM topped_public ORDER BY 1;
SELECT round(precision::numeric, 4) FROM kanon_usefulness ORDER BY run DESC LIMIT 1;

-- a line that is there twice says nothing new; files as they are have some
INSERT INTO holes_h VALUES (1, 'few', '*'), (2, 'more', '*'), (2, 'more', '*');
SELECT * FROM kanon_check_hierarchy('holes_h', 'holes', 'a');
SELECT pattern, row_count FROM kanon_pattern_guided('holes', NULL, '{a,b}', 2, patterns => '{--,1-,1*}',
    hierarchies => '{"a": "holes_h"}', dry_run => true);
-- unless it says something else, at any level
INSERT INTO holes_h VALUES (2, 'more', 'nothing');
SELECT kanon_pattern_guided('holes', NULL, '{a,b}', 2, hierarchies => '{"a": "holes_h"}', dry_run => true);

-- a suppressed cell loses w, though its column has one value: to show that loses nothing
CREATE TABLE same AS SELECT 1 AS a, i % 2 AS b FROM generate_series(1, 4) i;
SELECT pattern, metric_value FROM kanon_full_domain('same', NULL, '{a,b}', 2, explore => true, dry_run => true) ORDER BY 2, 1;
-- nodes that leave rows over which residual lets nowhere fulfil nothing
CREATE TABLE alone AS SELECT 1 + (i > 1)::int AS a FROM generate_series(1, 10) i;
SELECT r, pattern, verdict, metric_value IS NULL AS no_value, suppressed_rows
FROM unnest('{suppress,error}'::text[]) r,
    kanon_full_domain('alone', NULL, '{a}', 2, suppression_limit => 1, residual => r, explore => true, dry_run => true) ORDER BY 1, 2;

-- with k = 1 no row is in too small a class: none, not unknown
SELECT sum(row_count) FROM kanon_pattern_clustering('alone', 'alone_public', '{a}', 1, patterns => '{-,-}');
SELECT stage, below_k, share_below_k FROM kanon_run_risk WHERE run = (SELECT max(run) FROM kanon_usefulness) ORDER BY stage;

-- rows that were NULL are not suppressed where the mark tells them apart
CREATE TABLE unknown (a int, b int, s text);
INSERT INTO unknown VALUES (NULL, NULL, 'x'), (NULL, NULL, 'x'), (1, 1, 'x'), (1, 1, 'y'), (2, 2, 'y');
SELECT sum(row_count) FROM kanon_pattern_guided('unknown', 'unknown_public', '{a,b}', 2, patterns => '{--}', keep => '{s}',
    mark => true, class_column => 's');
SELECT classification FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT sum(row_count) FROM kanon_pattern_guided('unknown', 'unknown_public', '{a,b}', 2, patterns => '{--}', keep => '{s}',
    class_column => 's', replace => true);
SELECT classification FROM kanon_usefulness ORDER BY run DESC LIMIT 1;

-- rows that differ in kept values alone and go to several classes or records: the seed and these rows say which goes
-- where, not the source's order, nor the moment of the call. (x, p) is needed with (x, q) and with (y, p)
CREATE TABLE alike AS
SELECT (CASE WHEN i <= 80 THEN 'x' ELSE 'y' END) AS a, CASE WHEN i BETWEEN 61 AND 80 THEN 'q' ELSE 'p' END AS b, i AS n, md5(i::text)::bytea AS note
FROM generate_series(1, 100) i;
CREATE TABLE shuffled AS SELECT * FROM alike ORDER BY md5('other' || n);
CREATE FUNCTION content(call text, source text, keep text, seed int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT FROM %1$s, keep => %2$L, allow_identifying => %2$L, seed => %3$s)', format(call, source, 'content_out'), keep, seed);
    SELECT md5(string_agg(t::text, E'\n' ORDER BY t::text)) INTO result FROM content_out t;
    DROP TABLE content_out;
    RETURN result;
END $$;
CREATE VIEW calls AS SELECT source, keep, seed, name, content(call, source, keep, seed) AS release FROM
    (VALUES ('guided', 'kanon_pattern_guided(%L, %L, ''{a,b}'', 40, patterns => ''{-*,*-}'', weights => ''{1,1.1}'', method => ''improve'''), ('freeform', 'kanon_freeform(%L, %L, ''{a,b}'', 30')) v (name, call),
    (VALUES ('alike'), ('alike'), ('shuffled')) s (source), (VALUES ('{n}'), ('{n,note}')) k (keep), (VALUES (1), (2)) d (seed);
SET client_min_messages = warning;
CREATE TABLE releases AS SELECT * FROM calls;
SELECT name, count(*) AS calls, count(DISTINCT release) AS different, count(DISTINCT (keep, seed)) AS expected FROM releases GROUP BY name ORDER BY name;
-- how many go where does not depend on what is kept
SELECT sum(row_count) FROM kanon_pattern_guided('alike', 'alike_public', '{a,b}', 40, patterns => '{-*,*-}', weights => '{1,1.1}', method => 'improve', keep => '{n}', allow_identifying => '{n}');
SELECT DISTINCT (SELECT string_agg(format('%s %s', shown, row_count), ', ' ORDER BY class) FROM kanon_equivalence_classes c WHERE c.run = u.run)
FROM kanon_usefulness u WHERE target ~ 'content_out|alike' AND method = 'improve' AND u.kept <> '{}';
-- freeform without a seed draws anew
SELECT FROM kanon_freeform('alike', 'drawn_a', '{a,b}', 30, keep => '{n}', allow_identifying => '{n}');
SELECT FROM kanon_freeform('alike', 'drawn_b', '{a,b}', 30, keep => '{n}', allow_identifying => '{n}');
SELECT count(*) > 0 AS differ FROM (SELECT a, b, n FROM drawn_a EXCEPT SELECT a, b, n FROM drawn_b) d;
-- the order of rows within a class is nobody's
SELECT FROM kanon_pattern_guided('alike', 'order_a', '{a,b}', 40, patterns => '{-*,*-}', weights => '{1,1.1}', method => 'improve', keep => '{n}', allow_identifying => '{n}');
SELECT FROM kanon_pattern_guided('alike', 'order_b', '{a,b}', 40, patterns => '{-*,*-}', weights => '{1,1.1}', method => 'improve', keep => '{n}', allow_identifying => '{n}');
SELECT array(SELECT n FROM order_a ORDER BY ctid) <> array(SELECT n FROM order_b ORDER BY ctid) AS differ;
-- kept values of any kind: without equality, NULL, by value and not, short and long
ALTER TABLE alike ADD j json, ADD p point, ADD t text, ADD f float4, ADD c cidr[];
UPDATE alike SET j = to_json(n), p = point(n, n), t = repeat(n::text, n * 100), f = nullif(n % 3, 0), c = array[('10.0.0.' || n)::cidr];

DROP TABLE shuffled;
CREATE TABLE shuffled AS SELECT * FROM alike ORDER BY md5('third' || n);
SELECT count(DISTINCT content('kanon_freeform(%L, %L, ''{a,b}'', 30', source, '{j,p,t,f,c}', 7)) FROM unnest('{alike,shuffled}'::text[]) source;
SET client_min_messages = warning;
DROP SCHEMA figure_test CASCADE;
