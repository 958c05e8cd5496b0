-- what needs GLPK beside the exact methods themselves (exact.sql): hierarchies, rules beyond k, freeform's optimum
\set VERBOSITY default
SET client_min_messages = warning;
CREATE SCHEMA glpk_test;
SET search_path = glpk_test, public;

-- hierarchies: the exact method is no worse than the others
CREATE TABLE people AS SELECT 20 + i * 13 % 40 AS age, '482' || i * 7 % 4 || i % 3 AS zip, i % 2 AS sex FROM generate_series(1, 30) i;
CREATE TABLE age_h AS SELECT a AS age, a / 5 AS five, a / 20 AS twenty FROM generate_series(0, 99) a;
CREATE TABLE zip_h AS SELECT DISTINCT zip, left(zip, 4) AS four, left(zip, 3) AS three FROM people;
SELECT method, sum(p.cost * row_count)::numeric(8, 3) AS cost
FROM unnest('{greedy,ilp,best}'::text[]) AS method, LATERAL kanon_pattern_guided('people', NULL, '{age,zip,sex}', 3, method => method,
    hierarchies => '{"age": "age_h", "zip": "zip_h"}', dry_run => true) AS p
GROUP BY method ORDER BY 2 DESC, 1;

-- rules beyond k: greedy's classes, mended, and the least
CREATE TABLE inpatient (zip text, age text, ill text, who int);
INSERT INTO inpatient VALUES
    ('130**', '<30', 'heart disease', 1), ('130**', '<30', 'heart disease', 2), ('130**', '<30', 'viral infection', 3),
    ('130**', '<30', 'viral infection', 4), ('1485*', '>=40', 'cancer', 5), ('1485*', '>=40', 'heart disease', 6),
    ('1485*', '>=40', 'viral infection', 7), ('1485*', '>=40', 'viral infection', 8), ('130**', '3*', 'cancer', 9),
    ('130**', '3*', 'cancer', 10), ('130**', '3*', 'cancer', 11), ('130**', '3*', 'cancer', 12);
SELECT kanon_pattern_guided('inpatient', NULL, '{zip,age}', 4, keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2)], dry_run => true);
SELECT pattern, classes, row_count FROM kanon_pattern_guided('inpatient', 'o', '{zip,age}', 4, keep => '{ill}', method => 'ilp',
    privacy => ARRAY[kanon_distinct_l('ill', 2)]);
SELECT zip, age, count(*), count(DISTINCT ill) FROM o GROUP BY zip, age ORDER BY zip, age;
CREATE TABLE many AS SELECT 'a' AS zip, 1 AS who, 'flu' AS ill FROM generate_series(1, 10)
    UNION ALL SELECT 'b', i, CASE WHEN i % 2 = 0 THEN 'flu' ELSE 'gout' END FROM generate_series(2, 6) i;
SELECT method, pattern, classes, row_count FROM unnest('{ilp,best}'::text[]) method, LATERAL kanon_pattern_guided('many', NULL, '{zip}', 5,
    keep => '{ill}', method => method, dry_run => true, privacy => ARRAY[kanon_subject('who'), kanon_alpha('ill', 0.7)]) ORDER BY 1, 2;

-- kanon_freeform: the optimum is the best, and as good as its word
CREATE TABLE person AS
SELECT i AS id, CASE WHEN i % 13 > 0 THEN 20 + (i * 7) % 50 END AS age, (ARRAY['bern', 'chur', 'davos'])[1 + i % 3] AS city
FROM generate_series(1, 45) i;
SELECT row_count, partitions, gcp > 0 AND gcp < 1 AS priced, proven FROM kanon_freeform('person', 'best', '{age,city}', 3, method => 'mip', keep => '{id}', allow_identifying => '{id}');
SELECT * FROM kanon_check_freeform('person', 'best', '{age,city}', 3);
SELECT count(*) AS rows, count(DISTINCT id) AS ids, sum(id) FROM best;
SELECT min(cost) = max(cost) FILTER (WHERE m = 'mip') AS mip_is_best, min(cost) FILTER (WHERE m = 'mip') > 0 AS some
FROM unnest('{greedy,sort_greedy,hungarian,mip,min_cost_flow,ring}'::text[]) m,
    kanon_freeform('person', NULL, '{age,city}', 3, method => m, dry_run => true, seed => 1);
CREATE TABLE few AS SELECT i AS a, i % 2 AS b FROM generate_series(1, 6) i;
SELECT row_count FROM kanon_freeform('few', 'few_best', '{a,b}', 4, method => 'mip');
-- nodes of a hierarchy: proven, and no other method loses less
CREATE TABLE areas AS SELECT DISTINCT city, CASE WHEN city < 'c' THEN 'west' ELSE 'ost' END AS area FROM person WHERE city IS NOT NULL;
SELECT proven FROM kanon_freeform('person', 'best_nodes', '{age,city}', 3, method => 'mip', hierarchies => '{"city": "areas"}');
SELECT regular FROM kanon_check_freeform('person', 'best_nodes', '{age,city}', 3, hierarchies => '{"city": "areas"}');
SELECT bool_and(f.cost >= u.cost - 1e-6) AS none_is_better FROM kanon_usefulness u, unnest('{greedy,sort_greedy,hungarian,min_cost_flow,ring}'::text[]) m,
    kanon_freeform('person', NULL, '{age,city}', 3, method => m, dry_run => true, seed => 1, hierarchies => '{"city": "areas"}') f WHERE u.target = 'glpk_test.best_nodes';
SELECT regular FROM kanon_check_freeform('few', 'few_best', '{a,b}', 4);
SELECT * FROM kanon_freeform('person', 'x', '{age,city}', 12, method => 'mip');

\set VERBOSITY terse
DROP SCHEMA glpk_test CASCADE;

-- so many sets that not all find room, and those that do make no graph: what hungarian found, and a bound
CREATE TABLE wants (c1 text, c2 int, c3 float8, c4 float8, own int);
INSERT INTO wants VALUES ('cb', 0, 0.25, 1, 11), ('bc', 0, 1.25, 0.25, 1), (NULL, 1, 0.25, 0.75, 1), ('bb', 1, 1, 0.5, 14), ('bc', 0, 1.75, 0, 10), (NULL, 1, 0.25, 1, 1),
    (NULL, 1, 0, 0.5, 1), (NULL, 1, 0.25, 0.75, 10), ('ca', 1, 1, 1, 1), ('ca', 1, 0.5, 1, 1), ('ab', 1, 0, 1, 1), ('bb', 1, 0.5, 0.25, 1), ('bc', 0,
    1.75, 0.5, 1), (NULL, 0, 1.75, 1, 1), (NULL, 0, 1.75, 0.5, 1), (NULL, 1, 0.25, 0, 14), ('cb', 0, 0, 0.25, 1), ('ca', 0, 0.75, 0, 1), ('cb', 1, 0.75,
    0.5, 3), ('cb', 0, 1.75, 0.75, 1), ('ca', 0, 1.25, 1, 1), ('ca', 1, 1.5, 0.5, 1), (NULL, 0, 1.5, 0, 8), ('ab', 1, 1.75, 0.75, 1), ('bc', 1, 0, 0.5,
    1), ('ca', 1, 1.25, 1, 12);
CREATE TABLE c1_h (value text, l1 text);
INSERT INTO c1_h VALUES ('ab', 'l1-0'), ('bb', 'l1-1'), ('bc', 'l1-0'), ('ca', 'l1-0'), ('cb', 'l1-0');
CREATE TABLE c3_h (value text, l1 text, l2 text, l3 text);
INSERT INTO c3_h VALUES ('0', 'l1-2', 'l2-0', 'l3-0'), ('0.25', 'l1-1', 'l2-0', 'l3-0'), ('0.5', 'l1-1', 'l2-0', 'l3-0'), ('0.75', 'l1-0', 'l2-0', 'l3-0'), ('1', 'l1-0', 'l2-0', 'l3-0'), ('1.25', 'l1-3', 'l2-0', 'l3-0'), ('1.5', 'l1-1', 'l2-0', 'l3-0'), ('1.75', 'l1-4', 'l2-0', 'l3-0');
CREATE TABLE c4_h (value text, l1 text);
INSERT INTO c4_h VALUES ('0', 'l1-1'), ('0.25', 'l1-1'), ('0.5', 'l1-0'), ('0.75', 'l1-1'), ('1', 'l1-0');
SELECT row_count, partitions, lower_bound BETWEEN 0.9 * cost AND cost AS bound, proven
FROM kanon_freeform('wants', 'wanted', '{c1,c2,c3,c4}', 2, method => 'mip', k_column => 'own', categorical => '{c2}', weights => '{1,3,3,1}', seed => 1,
    hierarchies => '{"c1": "c1_h", "c3": "c3_h", "c4": "c4_h"}');
SELECT row_matches >= 2 AS matches, regular FROM kanon_check_freeform('wants', 'wanted', '{c1,c2,c3,c4}', 2, k_column => 'own',
    hierarchies => '{"c1": "c1_h", "c3": "c3_h", "c4": "c4_h"}');
