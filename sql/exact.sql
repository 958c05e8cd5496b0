-- proven optima, anytime improvement, pattern clustering
CREATE SCHEMA exact_test;
SET search_path = exact_test, public;

CREATE TABLE people (name text, age int, zip text, sex text);
INSERT INTO people VALUES
    ('Ann', 30, '12345', 'f'), ('Bea', 30, '12345', 'f'), ('Cid', 30, '12346', 'm'), ('Dan', 30, '12346', 'm'),
    ('Eve', 40, '12345', 'f'), ('Fay', 40, '12347', 'f'), ('Gus', 50, '12346', 'm'), ('Hal', 30, '12346', 'm');

-- greedy keeps three of a kind together and blanks the fourth whole; the optimum
-- lends one of them
SELECT * FROM kanon_pattern_guided('people', 'p_greedy', '{age,zip,sex}', 2);
SELECT * FROM kanon_pattern_guided('people', 'p_ilp', '{age,zip,sex}', 2, method => 'ilp');
SELECT * FROM p_ilp ORDER BY 1, 2, 3;
SELECT * FROM kanon_pattern_guided('people', 'p_fpt', '{age,zip,sex}', 2, method => 'fpt', patterns => '{---,-*-,*--}');
SELECT * FROM kanon_pattern_guided('people', 'p_improve', '{age,zip,sex}', 2, method => 'improve');
SELECT * FROM kanon_pattern_guided('people', 'p_best', '{age,zip,sex}', 2, method => 'best');
SELECT target, method, cost, lower_bound, gap, proven, class_min FROM kanon_usefulness WHERE target LIKE 'exact_test.%' ORDER BY run;

-- fewer than k fully suppressed rows, where residual says so
CREATE TABLE three AS SELECT * FROM (VALUES (1, 1), (1, 1), (2, 2)) v (a, b);
SELECT * FROM kanon_pattern_guided('three', NULL, '{a,b}', 2, method => 'ilp', dry_run => true);
SELECT * FROM kanon_pattern_guided('three', NULL, '{a,b}', 2, method => 'ilp', dry_run => true, residual => 'suppress');
SELECT * FROM kanon_pattern_guided('three', NULL, '{a,b}', 2, method => 'ilp', dry_run => true, residual => 'error');
SELECT * FROM kanon_pattern_guided('three', NULL, '{a,b}', 2, method => 'ilp', dry_run => true, residual => 'drop');
SELECT * FROM kanon_pattern_guided('three', 'three_kept', '{a,b}', 2, method => 'ilp', keep => '{}', mark => true, residual => 'suppress');
SELECT * FROM three_kept ORDER BY 1;

-- a split row type: kept values still come out once each
CREATE TABLE split AS SELECT i AS id, CASE WHEN i <= 5 THEN 1 ELSE i END AS a, i % 2 AS b FROM generate_series(1, 8) i;
SELECT * FROM kanon_pattern_guided('split', 'split_public', '{a,b}', 2, keep => '{id}', allow_identifying => '{id}', method => 'ilp');
SELECT count(*), count(DISTINCT id) FROM split_public;
-- which of its rows go where: decided by the seed and by every row there is, not by their order
CREATE TABLE dealt AS SELECT i AS id, i::text::name AS n, CASE WHEN i > 566 THEN i - 560 ELSE 5 END AS a, CASE WHEN i BETWEEN 561 AND 566 THEN i - 560 + i / 565 ELSE 5 END AS b
FROM generate_series(1, 572) i;
CREATE FUNCTION deal(changed int) RETURNS int[] LANGUAGE plpgsql AS $$
BEGIN
    UPDATE dealt SET n = 'x' WHERE id = changed;
    PERFORM kanon_pattern_guided('dealt', 'dealt_public', '{a,b}', 280, keep => '{id,n}', allow_identifying => '{id,n}', patterns => '{-*,*-}',
        method => 'ilp', replace => true);
    UPDATE dealt SET n = id::text::name WHERE id = changed;
    RETURN (SELECT array_agg(id) FROM dealt_public WHERE a = 5 AND id <= 560);
END $$;
SELECT cardinality(b) >= 274 AS some, b @> again AND b <@ again AS the_same FROM (SELECT deal(0) AS b, deal(0) AS again) d;
SELECT count(*) AS changes, min(others) > 150 AS each_moves_others
FROM (SELECT i, (SELECT count(*) FROM generate_series(1, 560) r WHERE r <> i AND r = ANY (b) <> (r = ANY (d))) AS others
      FROM (SELECT i, base.b, deal(i) AS d FROM (SELECT deal(0) AS b OFFSET 0) base, generate_series(1, 8) i) x) y;

-- all rows equal, all distinct, weights, listed patterns
SELECT * FROM kanon_pattern_guided('people', NULL, '{sex}', 4, method => 'ilp', dry_run => true);
SELECT * FROM kanon_pattern_guided('people', NULL, '{name}', 2, method => 'ilp', dry_run => true);
SELECT * FROM kanon_pattern_guided('people', NULL, '{age,zip,sex}', 2, method => 'ilp', dry_run => true, weights => '{5,1,1}');
SELECT * FROM kanon_pattern_guided('people', NULL, '{age,zip,sex}', 3, method => 'ilp', dry_run => true, patterns => '{*--,-*-}');
SELECT * FROM kanon_pattern_guided('people', NULL, '{age,zip,sex}', 2, method => 'ilp', dry_run => true, rules => kanon_rules(never => '{sex}'));
SELECT * FROM kanon_pattern_guided('people', NULL, '{age,zip,sex}', 2, method => 'ilp', dry_run => true, gap => 0.5, time_limit => NULL);

-- the same seed and effort, the same release
CREATE TABLE many AS SELECT i % 13 AS a, i % 17 AS b, i % 7 AS c, i * i % 11 AS d FROM generate_series(1, 600) i;
SELECT (SELECT sum(cost * row_count) FROM kanon_pattern_guided('many', NULL, '{a,b,c,d}', 5, method => 'improve', dry_run => true, seed => 7, effort => 0.1, time_limit => NULL))
     = (SELECT sum(cost * row_count) FROM kanon_pattern_guided('many', NULL, '{a,b,c,d}', 5, method => 'improve', dry_run => true, seed => 7, effort => 0.1, time_limit => NULL)) AS same,
       (SELECT sum(cost * row_count) FROM kanon_pattern_guided('many', NULL, '{a,b,c,d}', 5, method => 'improve', dry_run => true, effort => 0.1, time_limit => NULL))
    <= (SELECT sum(cost * row_count) FROM kanon_pattern_guided('many', NULL, '{a,b,c,d}', 5, dry_run => true)) AS not_worse;

-- k = 2 by matching: the same optimum, whatever the mask
SELECT * FROM kanon_pattern_guided('people', 'p_matching', '{age,zip,sex}', 2, method => 'matching');
SELECT age, zip, sex, count(*) FROM p_matching GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT cost, lower_bound, proven FROM kanon_usefulness WHERE target = 'exact_test.p_matching';
SELECT method, sum(cost * row_count) AS cost FROM unnest('{greedy,ilp,matching}'::text[]) AS method, LATERAL kanon_pattern_guided('people', NULL,
    '{age,zip,sex}', 2, method => method, patterns => '{*--,-*-,-**}', weights => '{5,1,2}', dry_run => true) GROUP BY 1 ORDER BY 1;
SELECT method, sum(cost * row_count) AS cost FROM unnest('{ilp,matching}'::text[]) AS method, LATERAL kanon_pattern_guided('many', NULL,
    '{a,b,c,d}', 2, method => method, rules => kanon_rules(max_suppressed => 2), dry_run => true) GROUP BY 1 ORDER BY 1;
SELECT method, sum(cost * row_count)::numeric(8, 3) AS cost FROM unnest('{ilp,matching}'::text[]) AS method, LATERAL kanon_pattern_guided('people', NULL,
    '{age,zip,sex}', 2, method => method, hierarchies => '{"age": {"interval": [20, 40]}, "zip": {"prefix": [4, 3]}}', dry_run => true) GROUP BY 1 ORDER BY 1;
-- one row too many: three together, or left over
CREATE TABLE apart AS SELECT CASE WHEN i < 4 THEN NULL ELSE i END AS a, i AS b, 1 AS c FROM generate_series(1, 5) i;
SELECT residual, pattern, classes, row_count FROM unnest('{suppress,fill,drop,error}'::text[]) residual, LATERAL kanon_pattern_guided('apart', NULL, '{a,b,c}', 2,
    method => 'matching', residual => residual, dry_run => true) ORDER BY 1 DESC, 2;
SELECT k, cost, proven FROM kanon_frontier('people', '{age,zip,sex}', '{2}', method => 'matching');
SELECT count(*) > 3 AS explained FROM kanon_explain('people', '{age,zip,sex}', 2, method => 'matching');
-- for k = 2 alone, which is said before anything is read
SELECT * FROM kanon_pattern_guided('people', NULL, '{no_column}', 3, method => 'matching', dry_run => true);
SELECT * FROM kanon_frontier('people', '{no_column}', '{2,3}', method => 'matching');
SELECT * FROM kanon_explain('people', '{no_column}', 3, method => 'matching');
SELECT kanon_create_publication('p_three', 'people', '{age,zip,sex}', 3, options => '{"method": "matching"}');

-- pattern clustering: seven patients and three patterns, in the manner of the paper's
-- Figure 1 (the table is our own)
CREATE TABLE patients (age int, smoker bool, blood text);
INSERT INTO patients VALUES (30, true, 'A'), (30, true, 'B'), (30, false, 'A'), (50, false, '0'), (50, false, 'B'),
    (70, true, '0'), (70, true, '0');
SELECT * FROM kanon_pattern_clustering('patients', 'patients_teams', '{age,smoker,blood}', 2, patterns => '{---,--*,-**}');
SELECT * FROM patients_teams ORDER BY 1, 2, 3;
SELECT cost, lower_bound, proven FROM kanon_usefulness WHERE target = 'exact_test.patients_teams';
SELECT * FROM kanon_pattern_clustering('patients', NULL, '{age,smoker,blood}', 2, patterns => '{---,--*}', dry_run => true);

-- each listed pattern for one class, or for two when it is listed twice
SELECT * FROM kanon_pattern_clustering('people', 'p_teams', '{age,zip,sex}', 2, patterns => '{---,---,*--,-*-,**-}');
SELECT * FROM p_teams ORDER BY 1, 2, 3;
SELECT * FROM kanon_pattern_clustering('people', NULL, '{age,zip,sex}', 2, patterns => '{---,---,*--,-*-,**-}', method => 'greedy', dry_run => true);
-- 6,000 row types and six patterns: no integer program, but branches by prices
CREATE TABLE larger AS SELECT (i * 7919) % 31 AS a, (i * i) % 29 AS b, i % 23 AS c, (i * 31) % 19 % 7 AS d, i / 100 AS e FROM generate_series(1, 6000) i;
SELECT * FROM kanon_pattern_clustering('larger', NULL, '{a,b,c,d,e}', 5, patterns => '{****-,***-*,*-***,-****,***--,*****}', dry_run => true);
SELECT * FROM kanon_pattern_clustering('people', NULL, '{age,zip,sex}', 1, patterns => '{**-,**-}', dry_run => true);
SELECT * FROM kanon_pattern_clustering('people', NULL, '{age,zip,sex}', 2, patterns => '{---}', dry_run => true);
SELECT * FROM kanon_pattern_clustering('people', NULL, '{age,zip,sex}', 2, patterns => '{---}', method => 'greedy', dry_run => true);
SELECT * FROM kanon_pattern_clustering('people', NULL, '{age,zip,sex}', 2, patterns => '{---,***}', dry_run => true);
-- the same by every choice of classes
SELECT * FROM kanon_pattern_clustering('people', 'p_choices', '{age,zip,sex}', 2, patterns => '{---,---,*--,-*-,**-}', method => 'fpt');
SELECT * FROM kanon_pattern_clustering('people', NULL, '{age,zip,sex}', 2, patterns => '{---}', method => 'fpt', dry_run => true);
SELECT * FROM kanon_pattern_clustering('many', NULL, '{a,b,c,d}', 2, patterns => '{---*,--**,-***,****,*---,**--,***-}', method => 'fpt', dry_run => true);
SELECT method, cost, proven FROM kanon_usefulness WHERE target IN ('exact_test.p_teams', 'exact_test.p_choices') ORDER BY 1;
-- every pattern that rules allow, once: as if they were listed, and 2^18 of them
SELECT r.cost, l.cost AS listed FROM (SELECT sum(cost * row_count) AS cost FROM kanon_pattern_clustering('people', 'p_ruled', '{age,zip,sex}', 2, rules => kanon_rules(never => '{zip}'))) r,
    (SELECT sum(cost * row_count) AS cost FROM kanon_pattern_clustering('people', NULL, '{age,zip,sex}', 2, patterns => '{---,*--,--*,*-*,***}', dry_run => true)) l;
SELECT * FROM p_ruled ORDER BY 1, 2, 3;
CREATE TABLE eighteen AS SELECT i / 4 AS c1, i % 2 AS c2, 0 AS c3, 0 AS c4, 0 AS c5, 0 AS c6, 0 AS c7, 0 AS c8, 0 AS c9, 0 AS c10, 0 AS c11, 0 AS c12, 0 AS c13, 0 AS c14, 0 AS c15, 0 AS c16, 0 AS c17, 0 AS c18, 0 AS c19 FROM generate_series(0, 7) i;
SELECT method, (SELECT sum(p.cost * p.row_count) || ' in ' || sum(classes) || ', most often ' || max(classes) FROM kanon_pattern_clustering('eighteen', 'p_eighteen', (SELECT array_agg(('c' || i)::name ORDER BY i) FROM generate_series(1, 19) i), 2, rules => kanon_rules(never => '{c19}'), method => method, replace => true) p)
FROM unnest('{exact,greedy,fpt}'::text[]) method;
SELECT method, cost, lower_bound, proven FROM kanon_usefulness WHERE target = 'exact_test.p_eighteen' ORDER BY run;
-- thousands of row types, of which five lose something: too many choices for fpt
CREATE TABLE few_lack AS SELECT i / 100 AS a, i / 10 % 10 AS b, i % 10 AS c
FROM generate_series(0, 2999) i, generate_series(1, 3 + (i % 100 = 1)::int - (i % 600 = 0)::int);
SELECT * FROM kanon_pattern_clustering('few_lack', 'few_lose', '{a,b,c}', 3, patterns => array_fill('---'::text, '{3000}') || '{--*,--*,-*-,-*-,***}', method => 'fpt', dry_run => true);

-- of releases that cost the same the one that shows more: greedy tries several orders, and who proves begins with its release
CREATE TABLE every AS SELECT a, b, c, d, e, f, g, h FROM generate_series(1, 3) a, generate_series(1, 5) b, generate_series(1, 4) c, generate_series(1, 4) d,
    generate_series(1, 3) e, generate_series(1, 2) f, generate_series(1, 3) g, generate_series(1, 3) h;
SELECT count(*) FROM unnest('{greedy,greedy,ilp,best,improve}'::text[], '{1,0,1,1,1}'::float8[]) AS m (method, effort),
    LATERAL kanon_pattern_guided('every', 'every_' || method || effort, '{a,b,c,d,e,f,g,h}', 6, method => method, effort => effort, categorical => '{a,b,c,d,e,f,g,h}');
SELECT right(target, -17) AS run, cost, round(usefulness::numeric, 3) AS usefulness, classes, proven FROM kanon_usefulness WHERE target LIKE 'exact\_test.every\_%' ORDER BY run;

-- under privacy rules small tables are solved exactly, too; mending what is best without them loses more, as greedy's
CREATE TABLE dozen AS SELECT i * 7 % 3 AS a, i * i % 4 AS b, i * 5 % 11 % 3 AS c, chr(97 + i * 3 % 5 % 3) AS ill FROM generate_series(1, 12) i;
CREATE TABLE dozen_rule AS SELECT * FROM unnest(ARRAY[kanon_distinct_l('ill', 2), kanon_entropy_l('ill', 2), kanon_recursive_cl('ill', 2, 2), kanon_alpha('ill', 0.5), kanon_t_closeness('ill', 0.4)]) WITH ORDINALITY AS r (rule, n);
SET client_min_messages = warning;
SELECT method, count(*) AS classes FROM dozen_rule, unnest('{exact,fpt,greedy}'::text[]) method,
    LATERAL kanon_pattern_clustering('dozen', 'dozen_' || method || n, '{a,b,c}', 3, method => method, patterns => '{---,--*,-*-,*--,**-,*-*,-**,***}', privacy => ARRAY[rule], keep => '{ill}') GROUP BY 1 ORDER BY 1;
RESET client_min_messages;
SELECT rule ->> 'rule' AS rule, string_agg(method || ' ' || cost || CASE WHEN proven THEN ' proven' ELSE '' END, ', ' ORDER BY run)
FROM dozen_rule, kanon_usefulness WHERE target ~ ('exact_test.dozen_[a-z]*' || n) GROUP BY n, rule ORDER BY n;
SELECT * FROM kanon_pattern_clustering('dozen', NULL, '{a,b,c}', 3, keep => '{ill}', patterns => '{--*,-*-,*--,**-}', privacy => ARRAY[kanon_distinct_l('ill', 3)], dry_run => true);
-- larger ones not, which is told before, and proven only if it costs no more than without the rules; greedy is no surprise
CREATE TABLE score AS SELECT d.*, i FROM dozen d, generate_series(1, 6) i;
SELECT sum(row_count) FROM kanon_pattern_clustering('score', NULL, '{a,b,c,i}', 3, keep => '{ill}', patterns => '{---*,**-*,****}', privacy => ARRAY[kanon_entropy_l('ill', 2)], dry_run => true);
SELECT sum(row_count) FROM kanon_pattern_clustering('score', NULL, '{a,b,c,i}', 3, keep => '{ill}', patterns => '{---*,**-*,****}', privacy => ARRAY[kanon_distinct_l('ill', 2)], dry_run => true);
SELECT sum(row_count) FROM kanon_pattern_clustering('score', NULL, '{a,b,c,i}', 3, method => 'greedy', keep => '{ill}', patterns => '{---*,**-*,****}', privacy => ARRAY[kanon_entropy_l('ill', 2)], dry_run => true);

-- bad input
SELECT * FROM kanon_pattern_guided('people', NULL, '{age}', 1, method => 'ilp', dry_run => true);
SELECT * FROM kanon_pattern_guided('people', NULL, '{age}', 9, method => 'ilp', dry_run => true);
SELECT * FROM kanon_pattern_guided('many', NULL, '{a,b,c,d}', 5, method => 'fpt', dry_run => true);
-- patterns are never listed: 2^17 of them, without rules
CREATE TABLE seventeen AS SELECT i / 4 AS c1, i / 2 AS c2, i % 3 AS c3, i % 2 AS c4, i AS c5, 0 AS c6, 0 AS c7, 0 AS c8, 0 AS c9, 0 AS c10, 0 AS c11, 0 AS c12, 0 AS c13, 0 AS c14, 0 AS c15, 0 AS c16, 0 AS c17 FROM generate_series(0, 7) i;
SELECT method, sum(p.cost * p.row_count) AS cost FROM unnest('{fpt,best}'::text[]) method,
    LATERAL kanon_pattern_guided('seventeen', NULL, (SELECT array_agg(('c' || i)::name ORDER BY i) FROM generate_series(1, 17) i), 2, method => method, dry_run => true) p GROUP BY 1;
SELECT * FROM kanon_pattern_clustering('people', NULL, '{age}', 0, patterns => '{-}', dry_run => true);
SELECT * FROM kanon_pattern_clustering('people', NULL, '{age}', 2, patterns => NULL, dry_run => true);
SELECT * FROM kanon_pattern_clustering('people', NULL, '{age}', 2, patterns => '{-}', rules => '{}', dry_run => true);
SELECT * FROM kanon_pattern_clustering('people', NULL, '{age}', 2, patterns => '{}', dry_run => true);
SELECT * FROM kanon_pattern_clustering('people', NULL, '{age}', 2, patterns => '{-}', method => 'ilp', dry_run => true);
SELECT * FROM kanon_pattern_clustering('people', 'p_teams', '{age}', 2, patterns => '{-}');
CREATE TABLE wide AS SELECT i AS c1, i * 7 % 101 AS c2, i * 11 % 97 AS c3, i * 13 % 89 AS c4, i * 17 % 83 AS c5,
    i * 19 % 79 AS c6, i * 23 % 73 AS c7, i * 29 % 71 AS c8, i * 31 % 67 AS c9, i * 37 % 61 AS c10, i * 41 % 59 AS c11,
    i * 43 % 53 AS c12, i * 47 % 51 AS c13, i * 49 % 47 AS c14, i * 53 % 43 AS c15, i * 59 % 41 AS c16
FROM generate_series(1, 3000) i;
SET kanon.max_memory = '16MB';
SELECT kanon_pattern_guided('wide', NULL, (SELECT array_agg(('c' || i)::name ORDER BY i) FROM generate_series(1, 16) i), 2, method => 'ilp', dry_run => true);
RESET kanon.max_memory;

-- more patterns than anybody looks at one by one, 2^16 and 2^62: what the columns that differ cost alone (but for rows fully suppressed, by k = 9)
DO $$ BEGIN EXECUTE 'CREATE TABLE wider AS SELECT i * i % 3 AS c1, i * i * i % 4 AS c2, i * 5 % 7 % 3 AS c3, i * i % 11 % 2 AS c4, i % 2 AS c5, '
    || (SELECT string_agg('0 AS c' || i, ', ' ORDER BY i) FROM generate_series(6, 64) i) || ' FROM generate_series(1, 40) i'; END $$;
CREATE FUNCTION cost_of(method text, k int, width int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM kanon_pattern_guided('wider', 'p_wider', (SELECT array_agg(('c' || i)::name ORDER BY i) FROM generate_series(1, width) i), k,
                                 method => method, rules => kanon_rules(never => '{c1}', together => '{"c2,c3"}'), replace => true);
    RETURN (SELECT cost || CASE WHEN proven THEN ' proven' ELSE '' END FROM kanon_usefulness WHERE target = 'exact_test.p_wider' ORDER BY run DESC LIMIT 1);
END $$;
SELECT m.method, cost_of(m.method, k, 5) AS alone, cost_of(m.method, k, 18) AS of_18, cost_of(m.method, k, 64) AS of_64
FROM (VALUES ('ilp', 3), ('best', 3), ('improve', 3), ('matching', 2), ('fpt', 9), ('ilp', 9)) m (method, k);

-- with a gap, what is excluded is what is better by the gap: the bound is no more than that
CREATE TABLE near AS SELECT * FROM (VALUES ('d', NULL), ('c', 'c'), ('c', NULL), ('c', 'c'), ('c', 'a'), ('d', NULL), ('d', NULL), ('c', NULL)) v (a, b);
SELECT pattern, row_count FROM kanon_pattern_guided('near', NULL, '{a,b}', 2, method => 'ilp', gap => 0.01, dry_run => true);
SELECT pattern, row_count FROM kanon_pattern_guided('near', NULL, '{a,b}', 2, method => 'ilp', gap => 0.5, residual => 'error', dry_run => true);

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA exact_test CASCADE;
