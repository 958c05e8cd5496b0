-- a source and what was published of it: distances, means, correlations and counts, by hand
CREATE SCHEMA compare_test;
SET search_path = compare_test, public;
CREATE FUNCTION compared(source regclass, target regclass, qis name[], keep name[] DEFAULT '{}', hierarchies jsonb DEFAULT NULL)
RETURNS TABLE (measure text, column_name name, before numeric, after numeric, value numeric) LANGUAGE sql AS $$
    SELECT measure, column_name, round(before::numeric, 6), round(after::numeric, 6), round(value::numeric, 6)
    FROM kanon_compare(source, target, qis, keep, hierarchies, 200, seed => 1)
$$;

-- with itself: no distance, no error, whatever the columns hold
CREATE TABLE people AS SELECT i % 40 AS age, 'z' || i % 7 AS zip, date '2020-01-01' + i % 90 AS visit, CASE WHEN i % 5 > 0 THEN i % 3 END AS mark FROM generate_series(1, 400) i;
SELECT * FROM compared('people', 'people', '{age,zip,visit}', '{mark}') WHERE value <> 0 AND measure <> 'queries';
SELECT avg(age)::numeric(10, 6) AS age, stddev_pop(age)::numeric(10, 6) AS age_spread, avg(mark)::numeric(10, 6) AS mark, extract(epoch FROM date '2020-01-01') + 86400 * avg(visit - date '2020-01-01') AS visit FROM people;
SELECT column_name, measure, before, after FROM compared('people', 'people', '{age,zip,visit}', '{mark}') WHERE measure IN ('mean', 'standard_deviation', 'rows');

-- empty cells spread evenly, or left out as avg() does
CREATE TABLE some_blank AS SELECT CASE WHEN age < 30 THEN age END AS age, zip, visit, mark FROM people;
SELECT round(max(before) FILTER (WHERE measure = 'mean'), 4) AS source, round(max(after) FILTER (WHERE measure = 'mean'), 4) AS evenly, round(max(after) FILTER (WHERE measure = 'mean_of_shown_cells'), 4) AS shown,
       (SELECT round(avg(age), 4) FROM some_blank) AS avg, (SELECT round(avg(coalesce(age, (SELECT avg(age) FROM people))), 4) FROM some_blank) AS filled FROM compared('people', 'some_blank', '{age}');
-- 1, 1, 1, 2 as a blank cell each: half of the rows are taken for 1, the others for 2.
-- 3/4 and 1/4 against 1/2 and 1/2: a quarter of the rows would change, by all of the order; means 1.25 and 1.5;
-- a query asks for one of the two values: 3 or 1 rows, where 2 are estimated
CREATE TABLE few (a int);
INSERT INTO few VALUES (1), (1), (1), (2);
CREATE TABLE blank AS SELECT NULL::int AS a FROM few;
SELECT * FROM compared('few', 'blank', '{a}') WHERE measure NOT LIKE 'quer%';
-- (n times by a third, 200 - n times by all)
SELECT value, abs((200 - 200 * value) * 1.5 - round((200 - 200 * value) * 1.5)) < 0.001 AS whole FROM compared('few', 'blank', '{a}') WHERE measure = 'query_error_average';
-- of a kept column NULL is NULL: none of these rows have any of the values
CREATE TABLE two AS SELECT a, a AS b FROM few;
CREATE TABLE two_blank AS SELECT a, NULL::int AS b FROM few;
SELECT measure, before, after, value FROM compared('two', 'two_blank', '{a}', '{b}') WHERE column_name = 'b';

-- symmetric, so that each query errs by the same: two of six rows were dropped; 3 rows have each value, 2 are left
CREATE TABLE even (a text);
INSERT INTO even VALUES ('x'), ('x'), ('x'), ('y'), ('y'), ('y');
CREATE TABLE dropped AS SELECT NULL::text AS a FROM generate_series(1, 4);
SELECT * FROM compared('even', 'dropped', '{a}');

-- a = b before; after, b is blank: correlations 1 and 0, so the distance is 1 - 2 / (2 * sqrt 2)
CREATE TABLE pairs AS SELECT i AS a, i AS b FROM generate_series(1, 4) i;
CREATE TABLE apart AS SELECT a, NULL::int AS b FROM pairs;
SELECT round((1 - 1 / sqrt(2))::numeric, 6) AS by_hand, value FROM compared('pairs', 'apart', '{a,b}') WHERE measure = 'correlation_matrix_distance';
-- turned over: -1 instead of 1: 1 - (2 - 2) / (2 * 2)
CREATE TABLE turned AS SELECT a, 5 - a AS b FROM pairs;
SELECT value FROM compared('pairs', 'turned', '{a,b}') WHERE measure = 'correlation_matrix_distance';
-- ranges: {1,2} and {3,4} for each pair; b as it was.  Within a range a is 1.5 or 3.5 on average
CREATE TABLE ranged AS SELECT int4range((a - 1) / 2 * 2 + 1, (a - 1) / 2 * 2 + 3) AS a, b FROM pairs;
WITH m AS (SELECT unnest('{1.5,1.5,3.5,3.5}'::float8[]) AS a, unnest('{1,2,3,4}'::float8[]) AS b),
     r AS (SELECT covar_pop(a, b) / (sqrt(1.25) * sqrt(1.25)) AS r FROM m)
SELECT round((1 - (2 + 2 * r) / sqrt(4 * (2 + 2 * r * r)))::numeric, 6) AS by_hand FROM r;
SELECT * FROM compared('pairs', 'ranged', '{a,b}') WHERE measure NOT LIKE 'quer%';

-- levels of a hierarchy, sets, and masks of what is kept
CREATE TABLE zips AS SELECT 'z' || i AS value, CASE WHEN i < 4 THEN 'low' ELSE 'high' END AS half FROM generate_series(0, 6) i;
CREATE TABLE levels AS SELECT CASE WHEN zip < 'z4' THEN 'low' WHEN zip = 'z4' THEN 'z4' END AS zip FROM people;
WITH b AS (SELECT zip, count(*) AS n FROM people GROUP BY 1),
     s AS (SELECT sum(n) FILTER (WHERE zip < 'z4') / 4 AS low, sum(n) FILTER (WHERE zip > 'z4') / 7 AS blank FROM b)
SELECT round(sum(abs(n - blank - CASE WHEN zip < 'z4' THEN low WHEN zip = 'z4' THEN n ELSE 0 END)) / 400 / 2, 6) AS by_hand FROM b, s;
SELECT value FROM compared('people', 'levels', '{zip}', hierarchies => '{"zip": "zips"}') WHERE measure = 'distribution_distance';
CREATE TABLE sets AS SELECT CASE WHEN zip < 'z4' THEN '{z0,z1,z2,z3}' WHEN zip = 'z4' THEN '{z4}' END::text[] AS zip FROM people;
SELECT value FROM compared('people', 'sets', '{zip}') WHERE measure = 'distribution_distance';
CREATE TABLE rounded AS SELECT zip, round(age, -1)::int AS age FROM people;
SELECT avg(age)::numeric(10, 6) AS rounded FROM rounded;
SELECT measure, before, after, value FROM compared('people', 'rounded', '{zip}', '{age}') WHERE column_name = 'age';

-- the seed decides about the queries; nothing to compare
SELECT array_agg(a.value) = array_agg(b.value) AS same FROM kanon_compare('people', 'levels', '{zip}', hierarchies => '{"zip": "zips"}', seed => 7) a, kanon_compare('people', 'levels', '{zip}', hierarchies => '{"zip": "zips"}', seed => 7) b
WHERE a.measure = b.measure AND a.measure LIKE 'query%';
SELECT * FROM compared('people', 'people', '{age}') WHERE measure = 'correlation_matrix_distance';
CREATE TABLE nobody AS SELECT * FROM people LIMIT 0;
SELECT * FROM compared('nobody', 'nobody', '{age}');
SELECT measure, value FROM compared('people', 'nobody', '{age}') WHERE measure LIKE 'query_error%';

-- without hierarchies those of the run that wrote the table are taken, through a view of it, too; where nobody knows them, that is told
SELECT FROM kanon_full_domain('people', 'written', '{zip}', 100, hierarchies => '{"zip": "zips"}', suppression_limit => 1);
CREATE VIEW reads_it AS SELECT * FROM written;
SELECT t, bool_and(a.value = b.value) AS same
FROM unnest('{written,reads_it}'::text[]) t, kanon_compare('people', t::regclass, '{zip}', seed => 7) a, kanon_compare('people', 'written', '{zip}', hierarchies => '{"zip": "zips"}', seed => 7) b
WHERE a.measure = b.measure AND a.column_name IS NOT DISTINCT FROM b.column_name GROUP BY 1 ORDER BY 1;
SELECT count(*) = (SELECT count(*) FROM kanon_distributions('people', 'written', '{zip}', 3, hierarchies => '{"zip": "zips"}')) AS same FROM kanon_distributions('people', 'written', '{zip}', 3);
SELECT value FROM compared('people', 'levels', '{zip}') WHERE measure = 'distribution_distance';
-- a relation that is another one by now is not read
ALTER TABLE zips RENAME TO zips_before;
CREATE TABLE zips AS SELECT * FROM zips_before;
SELECT value > 0 AS apart FROM compared('people', 'written', '{zip}') WHERE measure = 'distribution_distance';

-- bars: nothing of which fewer than k rows have it, before or after, and no bound that is somebody's
CREATE TABLE many AS SELECT 20 + i % 57 AS age, 'city ' || i % 3 AS city, date '1950-03-04' + i * 37 % 15000 AS born, (i % 97) / 10.0 AS index FROM generate_series(1, 2000) i;
INSERT INTO many VALUES (119, 'the one', '1802-05-06', 999), (NULL, 'of two', NULL, NULL), (NULL, 'of two', NULL, NULL);
SELECT column_name, bar, before, round(after::numeric, 3) AS after FROM kanon_distributions('many', 'many', '{age,city,born,index}', 5);
SELECT column_name, bar, before, round(after::numeric, 3) AS after FROM kanon_distributions('many', 'many', '{age,city}', 2);
SELECT count(*) FROM kanon_distributions('many', 'many', '{age,city,born,index}', 2004);
SELECT bar, before, round(after::numeric, 3) AS after FROM kanon_distributions('people', 'levels', '{zip}', 3, hierarchies => '{"zip": "zips"}');
-- a value that k rows had, of which fewer are left
CREATE TABLE fewer AS SELECT age, city FROM many WHERE city <> 'city 2' OR age = 22;
SELECT bar, before, round(after::numeric, 3) AS after FROM kanon_distributions('many', 'fewer', '{age}', 20, '{city}') WHERE column_name = 'city';
CREATE TABLE short AS SELECT date '2020-02-01' + i % 60 AS days, date '2020-02-01' + i % 400 AS months, i % 2 AS flag, CASE WHEN i % 2 = 0 THEN 3 END AS constant FROM generate_series(1, 800) i;
SELECT column_name, bar, before, round(after::numeric, 3) AS after FROM kanon_distributions('short', 'short', '{days,months,flag}', 10, '{constant}');
-- a frequent value that the target does not show takes no bar from those after it
CREATE TABLE towns AS SELECT CASE WHEN i % 3 > 0 THEN 'town ' || i % 6 END AS town FROM generate_series(1, 600) i;
CREATE TABLE towns_shown AS SELECT town FROM towns WHERE town IS NOT NULL;
SELECT bar, before, round(after::numeric, 3) AS after FROM kanon_distributions('towns', 'towns_shown', '{}', 5, '{town}');
-- dates that begin and end within a year: no slump at the ends
CREATE TABLE years AS SELECT date '2010-11-20' + i AS on_day FROM generate_series(0, 3200) i;
SELECT bar, before, round(after::numeric, 3) AS after FROM kanon_distributions('years', 'years', '{on_day}', 5);

-- errors
SELECT * FROM kanon_compare('people', 'levels', '{zip,age}');
SELECT * FROM kanon_compare('people', 'sets', '{zip}', queries => -1);
SELECT * FROM kanon_compare('people', 'sets', '{zip}', selectivity => 0);
SELECT * FROM kanon_compare('people', NULL, '{zip}');
SELECT * FROM kanon_compare('people', 'people', '{zip}', '{zip}');
SELECT * FROM kanon_compare('people', 'people', '{}');
SELECT column_name, bar, before, round(after::numeric, 3) AS after FROM kanon_distributions('people', 'people', '{zip}', 0);
CREATE TABLE other_type AS SELECT 1 AS zip;
SELECT * FROM kanon_compare('people', 'other_type', '{zip}');
-- as the caller
-- how wide bars are: 1, 2 or 5 by a power of ten, about ten of them
CREATE FUNCTION bars(width float8, whole bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    IF whole THEN
        CREATE TEMP TABLE spread AS SELECT (i * width / 50)::int AS v, i % 2 AS q FROM generate_series(0, 50) i;
    ELSE
        CREATE TEMP TABLE spread AS SELECT i * width / 50 AS v, i % 2 AS q FROM generate_series(0, 50) i;
    END IF;
    SELECT string_agg(bar || '=' || before, ', ' ORDER BY n) INTO said FROM kanon_distributions('spread', 'spread', '{v}', 2) WITH ORDINALITY AS d (column_name, bar, before, after, n);
    DROP TABLE spread;
    RETURN said;
END $$;
SELECT width, whole, bars(width, whole) FROM unnest('{1,2,5,10,11,20,21,22,50,51,55,56,100,0.1,0.2,0.22,0.5,0.55,1e9,2.2e9}'::float8[]) AS width, unnest('{f,t}'::bool[]) AS whole WHERE NOT whole OR width BETWEEN 1 AND 2e9;
CREATE ROLE kanon_test_analyst;
GRANT USAGE ON SCHEMA compare_test TO kanon_test_analyst;
GRANT SELECT ON people TO kanon_test_analyst;
SET ROLE kanon_test_analyst;
\set VERBOSITY sqlstate
SELECT * FROM kanon_compare('people', 'sets', '{zip}');
SELECT column_name, bar, before, round(after::numeric, 3) AS after FROM kanon_distributions('sets', 'people', '{zip}', 5);
RESET ROLE;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA compare_test CASCADE;
DROP ROLE kanon_test_analyst;
