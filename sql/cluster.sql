-- kanon_cluster: classes of any shape
\pset null '(null)'
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

CREATE TABLE people (id int, age int, height numeric(5,2), joined date, city text, sex char(1), note text);
INSERT INTO people
SELECT i, 20 + i * 7 % 50, 150 + (i * 13 % 400) / 10.0, date '2020-01-01' + i * 11 % 1000,
       (ARRAY['Bern', 'Bonn', 'Graz', 'Linz', 'Ulm'])[1 + i * i % 5], CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, 'note ' || i
FROM generate_series(1, 60) AS i;
CREATE TABLE cities (city text, country text, continent text);
INSERT INTO cities VALUES ('Bern', 'CH', 'EU'), ('Bonn', 'DE', 'EU'), ('Graz', 'AT', 'EU'), ('Linz', 'AT', 'EU'), ('Ulm', 'DE', 'EU');

-- every method that takes k = 3, with ranges where auto says so
SELECT m AS method, classes > 1 AS several, row_count, dropped_rows, class_min >= 3 AS large_enough,
       cost > 0 AS costs, lower_bound <= cost AS bound, guarantee, gcp < 1 AS tells
FROM unnest('{mondrian,mondrian_relaxed,forest,bottom_up,top_down,gather}'::text[]) WITH ORDINALITY AS t (m, n),
     kanon_cluster('people', NULL, '{age,height,joined,city,sex}', 3, m, dry_run => true)
ORDER BY n;

-- the target has ranges, and the same table is found again
SELECT classes, row_count, class_min FROM kanon_cluster('people', 'people_mondrian', '{age,height,joined,city,sex}', 10, 'mondrian', keep => '{note}', allow_identifying => '{note}');
\d people_mondrian
SELECT age, height, joined, city, sex, count(*) FROM people_mondrian GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5;
SELECT k >= 10 AS ok, row_count FROM kanon_check('people_mondrian', '{age,height,joined,city,sex}');
-- every row is in what it shows
SELECT count(*) FROM people p WHERE NOT EXISTS (SELECT FROM people_mondrian m WHERE m.note = p.note AND m.age @> p.age
    AND m.height @> p.height AND m.joined @> p.joined AND (m.city IS NULL OR m.city = p.city) AND (m.sex IS NULL OR m.sex = p.sex));

-- sets
SELECT classes, class_min FROM kanon_cluster('people', 'people_sets', '{city,sex}', 5, 'top_down', show => 'set', keep => '{note}', allow_identifying => '{note}');
\d people_sets
SELECT city, sex, count(*) FROM people_sets GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(*) FROM people_sets s JOIN people p USING (note) WHERE NOT (p.city = ANY (s.city) AND p.sex = ANY (s.sex));
-- what is recorded of them goes by no cast to json that somebody made for their elements' type
CREATE ROLE sets_caller;
CREATE TYPE rank AS ENUM ('low', 'mid', 'high');
ALTER TYPE rank OWNER TO sets_caller;
CREATE TABLE ranked AS SELECT (enum_range(NULL::rank))[1 + i % 3] AS rank, i % 2 AS b FROM generate_series(1, 12) i;
INSERT INTO ranked VALUES (NULL, 1);
CREATE FUNCTION rank_json(rank) RETURNS json LANGUAGE plpgsql AS $$ BEGIN RAISE 'somebody''s cast is called'; END $$;
CREATE CAST (rank AS json) WITH FUNCTION rank_json(rank);
ALTER FUNCTION rank_json(rank) OWNER TO sets_caller;
SELECT classes FROM kanon_cluster('ranked', 'ranked_sets', '{rank,b}', 5, 'top_down', show => 'set');
SELECT class, shown FROM kanon_equivalence_classes WHERE run = (SELECT max(run) FROM kanon_usefulness) ORDER BY 1;
DROP TABLE ranked, ranked_sets;
DROP TYPE rank CASCADE;
DROP ROLE sets_caller;

-- the lowest common level of a hierarchy
CREATE TABLE towns AS SELECT city, 'f' AS sex FROM unnest('{Bonn,Bonn,Ulm,Ulm,Graz,Graz,Linz,Linz,Bern,Bern,Bern,Bern}'::text[]) AS city;
SELECT classes, class_min, cost, lower_bound, guarantee FROM kanon_cluster('towns', 'people_levels', '{city,sex}', 4, 'forest', hierarchies => '{"city": "cities"}');
\d people_levels
SELECT city, sex, count(*) FROM people_levels GROUP BY 1, 2 ORDER BY 1, 2;
SELECT m, classes, cost FROM unnest('{mondrian,bottom_up,top_down}'::text[]) AS m,
    kanon_cluster('towns', NULL, '{city,sex}', 4, m, hierarchies => '{"city": "cities"}', dry_run => true);

-- levels cost what level_cost says
SELECT c AS level_cost, round(cost::numeric, 3) AS cost FROM unnest('{height,ncp}'::text[]) AS c,
    kanon_cluster('towns', NULL, '{city,sex}', 4, 'forest', hierarchies => '{"city": "cities"}', level_cost => c, dry_run => true);

-- bottom_up has a time_limit: what is not merged then is divided
SELECT classes, class_min FROM kanon_cluster('people', 'people_late', '{age,height,city,sex}', 3, 'bottom_up', time_limit => '1 microsecond');
SELECT k, row_count = (SELECT count(*) FROM people) AS whole FROM kanon_check('people_late', '{age,height,city,sex}');

-- one word for each column; nothing is shown of what differs
SELECT classes, class_min FROM kanon_cluster('people', 'people_mixed', '{age,height,city,sex}', 6, 'bottom_up',
    show => 'range, suppress, set, auto', mark => true);
SELECT pg_typeof(age), pg_typeof(height), pg_typeof(city), pg_typeof(sex), bool_and(kanon_pattern ~ '^[-*~]{4}$') AS marked
FROM people_mixed GROUP BY 1, 2, 3, 4;

-- NULL is a value; beside one there is no range
CREATE TABLE holes (a int, b float8, c smallint, d bigint, e timestamptz);
INSERT INTO holes SELECT nullif(i % 4, 0), nullif(i % 3, 0), i % 5, i % 2, timestamptz '2024-01-01 00:00+00' + i * interval '1 day'
FROM generate_series(1, 24) AS i;
SELECT classes, class_min FROM kanon_cluster('holes', 'holes_public', '{a,b,c,d,e}', 6, 'mondrian');
SELECT *, count(*) FROM holes_public GROUP BY 1, 2, 3, 4, 5 ORDER BY 5, 1, 2;

-- the record
SELECT target, method, k, round(cost::numeric, 3) AS cost, round(lower_bound::numeric, 3) AS lower_bound, guarantee, options ->> 'show' AS show
FROM kanon_usefulness WHERE source = 'public.people' ORDER BY run;
-- the report and the words know ranges and sets
SELECT kanon_describe('~*~-', '{age,height,city,sex}') AS mixed, kanon_describe('~~', '{age,height}') AS ranges;
SELECT count(*) FILTER (WHERE kanon_report(run) ~ 'form a class') AS reports FROM kanon_usefulness WHERE source = 'public.people';
-- rules beyond k: Mondrian splits where both halves keep them
SELECT classes > 1 AS several, class_min >= 3 AS ok FROM kanon_cluster('people', 'people_diverse', '{age,joined}', 3, 'mondrian',
    keep => '{city}', privacy => ARRAY[kanon_distinct_l('city', 2)]);
SELECT min(n) >= 2 AS diverse FROM (SELECT count(DISTINCT city) AS n FROM people_diverse GROUP BY age, joined) AS g;

-- rows that cost less when they are left out
CREATE TABLE outlier AS SELECT 1 AS a, 1 AS b, i % 2 AS c FROM generate_series(1, 4) AS i UNION ALL SELECT 9, 9, 9;
SELECT classes, row_count, dropped_rows, cost FROM kanon_cluster('outlier', NULL, '{a,b,c}', 2, 'forest', show => 'suppress', residual => 'drop', dry_run => true);
SELECT classes, row_count, dropped_rows, cost FROM kanon_cluster('outlier', NULL, '{a,b,c}', 2, 'forest', show => 'suppress', dry_run => true);

-- same input, same release, whatever the physical order
CREATE TABLE people_again AS SELECT * FROM people ORDER BY note DESC;
SELECT kanon_cluster('people', 'one', '{age,height,city}', 4, 'forest') IS NOT NULL AS one, kanon_cluster('people_again', 'two', '{age,height,city}', 4, 'forest') IS NOT NULL AS two;
(SELECT * FROM one EXCEPT ALL SELECT * FROM two) UNION ALL (SELECT * FROM two EXCEPT ALL SELECT * FROM one);

-- one row, all rows equal, every row distinct, none
CREATE TABLE few (a int, b text);
SELECT classes, row_count, gcp FROM kanon_cluster('few', 'few_none', '{a,b}', 2, 'mondrian');
SELECT count(*) FROM few_none;
INSERT INTO few VALUES (1, 'x');
SELECT * FROM kanon_cluster('few', NULL, '{a,b}', 2, 'mondrian', dry_run => true);
INSERT INTO few SELECT 1, 'x' FROM generate_series(1, 5);
SELECT m, classes, class_min, cost FROM unnest('{mondrian,mondrian_relaxed,forest,bottom_up,top_down,gather}'::text[]) AS m,
    kanon_cluster('few', NULL, '{a,b}', 2, m, dry_run => true);
SELECT m, class_min >= 2 AS ok, gcp < 1 AS tells FROM unnest('{mondrian,mondrian_relaxed,forest,bottom_up,top_down,gather}'::text[]) AS m,
    kanon_cluster('people', NULL, '{id}', 2, m, dry_run => true);
SELECT m, classes, class_min FROM unnest('{mondrian,forest,bottom_up,top_down,gather}'::text[]) AS m,
    kanon_cluster('people', NULL, '{note}', 2, m, dry_run => true);

-- (1,k), (k,1) and (k,k): records without classes, which keep one direction or both
CREATE TABLE relaxed (m text, n int);
INSERT INTO relaxed VALUES ('one_k', 1), ('k_one', 2), ('k_k', 3);
SELECT m, classes, row_count, dropped_rows, class_min, cost > 0 AS costs, cost < 5 * 60 AS less, lower_bound, guarantee, gcp < 0.5 AS tells, usefulness
FROM relaxed, kanon_cluster('people', 'public.people_' || m, '{age,height,joined,city,sex}', 4, m, keep => '{id}', allow_identifying => '{id}') ORDER BY n;
\d people_k_k
SELECT m, c.row_count, record_count, row_matches >= 4 AS every_row, record_matches >= 4 AS every_record
FROM relaxed, kanon_check_freeform('people', to_regclass('public.people_' || m), '{age,height,joined,city,sex}', 4) AS c ORDER BY n;
-- the same counted by SQL
SELECT (SELECT min(n) >= 4 FROM (SELECT count(*) AS n FROM people p JOIN people_one_k r
           ON r.age @> p.age AND r.height @> p.height AND r.joined @> p.joined AND p.city = ANY (r.city) AND p.sex = ANY (r.sex) GROUP BY p.id) AS g) AS one_k,
       (SELECT min(n) >= 4 FROM (SELECT count(*) AS n FROM people p JOIN people_k_one r
           ON r.age @> p.age AND r.height @> p.height AND r.joined @> p.joined AND p.city = ANY (r.city) AND p.sex = ANY (r.sex) GROUP BY r.id) AS g) AS k_one;
-- each record has what was kept of a row that it shows: its own
SELECT count(*) FROM people p JOIN people_k_k r USING (id)
WHERE r.age @> p.age AND r.height @> p.height AND r.joined @> p.joined AND p.city = ANY (r.city) AND p.sex = ANY (r.sex);
SELECT method, classes, class_min, matches, note FROM kanon_usefulness JOIN relaxed ON m = method WHERE source = 'public.people' ORDER BY n;
SELECT k FROM kanon_check('people_k_one', '{age,height,joined,city,sex}');
-- categorical numbers and the word set: arrays, priced as such; weights
SELECT row_count FROM kanon_cluster('people', 'people_arrays', '{age,height,city}', 3, 'k_k', show => 'auto,set,auto', categorical => '{age}', weights => '{1,0,2}');
\d people_arrays
SELECT row_matches >= 3 AND record_matches >= 3 AS ok FROM kanon_check_freeform('people', 'people_arrays', '{age,height,city}', 3);
-- NULL and infinity: beside others a range holds neither
SELECT count(*) > 0 AS nulls FROM holes WHERE num_nulls(a, b) > 0;
SELECT m, row_count FROM relaxed, kanon_cluster('holes', 'public.holes_' || m, '{a,b}', 2, m, mark => true) ORDER BY n;
SELECT m, row_matches >= 2 AS every_row, record_matches >= 2 AS every_record
FROM relaxed, kanon_check_freeform('holes', to_regclass('public.holes_' || m), '{a,b}', 2) ORDER BY n;
-- no rows; all equal; k of all rows
SELECT m, c.* FROM relaxed, kanon_cluster('few', NULL, '{a,b}', 6, m, dry_run => true) AS c ORDER BY n;
CREATE TABLE nobody (a int, b text);
SELECT m, c.* FROM relaxed, kanon_cluster('nobody', 'public.nobody_' || m, '{a,b}', 2, m) AS c ORDER BY n;
-- what was written is counted again, in the direction that was promised
CREATE TABLE twins AS SELECT i / 2 AS a FROM generate_series(0, 9) AS i;
CREATE FUNCTION slip_in() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.twins_public VALUES ('[77,77]');
END $$;
CREATE EVENT TRIGGER slip_in ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION slip_in();
SELECT row_count FROM kanon_cluster('twins', 'public.twins_public', '{a}', 2, 'one_k');
SELECT row_count FROM kanon_cluster('twins', 'public.twins_public', '{a}', 2, 'k_one');
DROP EVENT TRIGGER slip_in;
DROP FUNCTION slip_in();
SELECT to_regclass('public.twins_public');
-- they leave no row over, so drop empties no table of fewer than k rows
SELECT row_count FROM unnest('{one_k,k_one,k_k}'::text[]) AS m, kanon_cluster('twins', NULL, '{a}', 1000, m, residual => 'drop', dry_run => true);

-- groups of near rows: of one column the least sum of squares, over every way to cut the ordered rows; of several by MDAV, as the mask has it
CREATE TABLE near_rows AS SELECT i AS nr, i * i % 47 AS x, (i * 29 % 31) / 2.0 AS y FROM generate_series(1, 24) AS i;
SELECT classes, class_min, round(cost::numeric, 6) AS cost, round(cost::numeric, 6) = (
    WITH RECURSIVE r AS (SELECT x, row_number() OVER (ORDER BY x) AS n FROM near_rows), g AS (SELECT a.n AS f, b.n AS t, (SELECT var_pop(x) * count(*) FROM r WHERE n BETWEEN a.n AND b.n) AS squares FROM r a, r b WHERE b.n - a.n BETWEEN 2 AND 4),
    cut AS (SELECT 0::bigint AS t, 0::numeric AS squares UNION ALL SELECT g.t, cut.squares + g.squares FROM cut JOIN g ON g.f = cut.t + 1)
    SELECT round(min(squares) / (SELECT variance(x) FROM near_rows), 6) FROM cut WHERE t = 24) AS least
FROM kanon_cluster('near_rows', 'near_x', '{x}', 3, method => 'microaggregate');
SELECT proven, lower_bound = cost AS bound FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT classes, class_min >= 3 AS k3 FROM kanon_cluster('near_rows', 'near_xy', '{x,y}', 3, method => 'microaggregate');
SELECT proven, lower_bound FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT FROM kanon_pattern_guided('near_rows', 'near_masked', '{nr}', 2, keep => '{x,y}', mask => '{"x": {"microaggregate": 3, "group": "g"}, "y": {"microaggregate": 3, "group": "g"}}', allow_identifying => '{x,y}');
SELECT (SELECT count(DISTINCT (x, y)) FROM near_xy) = (SELECT count(DISTINCT (x, y)) FROM near_masked) AS groups;
SELECT classes, class_min >= 3 AS k3 FROM kanon_cluster('near_rows', 'near_ruled', '{x}', 3, method => 'microaggregate', keep => '{y}', privacy => ARRAY[kanon_distinct_l('y', 3)], allow_identifying => '{y}');

-- bad input
SELECT FROM kanon_cluster('near_rows', 'no', '{x,y}', 3, method => 'microaggregate', hierarchies => '{"x": {"interval": [10]}}');
SELECT FROM kanon_cluster('near_rows', 'no', '{x}', 3, method => 'microaggregate', partition_size => 100);
CREATE VIEW near_gaps AS SELECT nullif(x, 1) AS x, y, 'z' || nr % 3 AS z FROM near_rows;
SELECT FROM kanon_cluster('near_gaps', 'no', '{x,y}', 3, method => 'microaggregate');
SELECT FROM kanon_cluster('near_gaps', 'no', '{y,z}', 3, method => 'microaggregate');
SELECT kanon_cluster('people', 'bad', '{age}', 61, 'k_k');
SELECT kanon_cluster('people', 'bad', '{age,city}', 2, 'k_k', show => 'suppress');
SELECT kanon_cluster('people', 'bad', '{age,city}', 2, 'k_k', show => 'hierarchy');
SELECT kanon_cluster('people', 'bad', '{age,city}', 2, 'k_k', show => 'range');
SELECT kanon_cluster('people', 'bad', '{age,city}', 2, 'k_k', show => 'set', hierarchies => '{"city": "cities"}');
SELECT kanon_cluster('people', 'bad', '{age}', 2, 'k_k', keep => '{city}', class_column => 'city');
SELECT kanon_cluster('people', 'bad', '{age}', 2, 'one_k', keep => '{city}', privacy => ARRAY[kanon_distinct_l('city', 2)]);
SELECT kanon_cluster('people', 'bad', '{age}', 2, NULL);
SELECT kanon_cluster('people', 'bad', '{age}', 2, 'median');
SELECT kanon_cluster('people', 'bad', '{age}', 3, 'pairs');
SELECT kanon_cluster('people', 'bad', '{age}', 2, 'triples');
SELECT kanon_cluster('people', 'bad', '{age}', 1, 'mondrian');
SELECT kanon_cluster('people', 'bad', '{age}', 61, 'mondrian');
SELECT kanon_cluster('people', 'bad', '{age}', 2, 'mondrian', show => 'interval');
SELECT kanon_cluster('people', 'bad', '{age,city}', 2, 'mondrian', show => 'range');
SELECT kanon_cluster('people', 'bad', '{age,city}', 2, 'mondrian', show => 'range,range');
SELECT kanon_cluster('people', 'bad', '{age,city}', 2, 'mondrian', show => 'range,set,set');
SELECT kanon_cluster('people', 'bad', '{age}', 2, 'mondrian', show => 'range', categorical => '{age}');
SELECT kanon_cluster('people', 'bad', '{age,city}', 2, 'mondrian', show => 'hierarchy', hierarchies => '{"city": "cities"}');
SELECT kanon_cluster('people', 'bad', '{age,city}', 2, 'mondrian', show => 'suppress', hierarchies => '{"city": "cities"}');
SELECT kanon_cluster('people', 'bad', '{age,city}', 2, 'mondrian', show => NULL);
SELECT kanon_cluster('people', 'bad', '{age,city}', 2, 'k_k', privacy => ARRAY[kanon_distinct_l('note', 2)]);
SELECT to_regclass('bad');

-- memory beyond the limit: before the work
CREATE TABLE many AS SELECT i AS a, i * 7919 % 10007 AS b FROM generate_series(1, 10000) AS i;
SET kanon.max_memory = '4MB';
\set VERBOSITY terse
SELECT kanon_cluster('many', NULL, '{a,b}', 2, 'pairs', dry_run => true);
SELECT kanon_cluster('many', NULL, '{a,b}', 2, 'k_k', dry_run => true);
RESET kanon.max_memory;
INSERT INTO many SELECT 1, 1 FROM generate_series(1, 90001);
SELECT kanon_cluster('many', NULL, '{a,b}', 2, 'k_k', dry_run => true);
DROP TABLE people, cities, towns, people_diverse, people_mondrian, people_sets, people_levels, people_mixed, holes, holes_public, outlier,
    people_again, one, two, few, few_none, many, relaxed, people_one_k, people_k_one, people_k_k, people_arrays, holes_one_k, holes_k_one,
    holes_k_k, nobody, nobody_one_k, nobody_k_one, nobody_k_k, twins;

-- by parts: tables that are too large for methods that compare all rows with all others
SET client_min_messages = warning;
CREATE SCHEMA by_parts;
SET search_path = by_parts, public;
CREATE TABLE wide AS SELECT i AS id, (i * 7919) % 997 AS a, (i * 104729) % 89 AS b, 'x' || (i * 31) % 23 AS c, 'v' || (i * i) % 7 AS ill FROM generate_series(1, 1500) i;
SELECT m, c.row_count, c.class_min >= 3 AS kept, c.lower_bound IS NULL AND c.guarantee IS NULL AS nothing_proven, c.cost > 0 AS priced
FROM unnest('{bottom_up,forest,gather}'::text[]) m,
 kanon_cluster('wide', 'wide_' || m, '{a,b,c}', 3, method => m, partition_size => 200, keep => '{ill}', privacy => CASE m WHEN 'gather' THEN NULL ELSE ARRAY[kanon_distinct_l('ill', 2)] END) c;
SELECT min(n) AS rows, min(v) AS ills FROM (SELECT count(*) AS n, count(DISTINCT ill) AS v FROM wide_bottom_up GROUP BY a, b, c UNION ALL SELECT count(*), count(DISTINCT ill) FROM wide_forest GROUP BY a, b, c) g;
-- about what the whole costs
SELECT round((p.cost / w.cost)::numeric, 1) < 1.2 AS near FROM kanon_cluster('wide', NULL, '{a,b,c}', 3, method => 'bottom_up', partition_size => 200, dry_run => true) p,
 kanon_cluster('wide', NULL, '{a,b,c}', 3, method => 'bottom_up', dry_run => true) w;
-- records by matches, by parts
SELECT m, c.row_count FROM unnest('{one_k,k_one,k_k}'::text[]) m, kanon_cluster('wide', 'wide_' || m, '{a,b,c}', 3, method => m, partition_size => 100) c;
SELECT m, CASE m WHEN 'k_one' THEN f.record_matches >= 3 WHEN 'one_k' THEN f.row_matches >= 3 ELSE f.row_matches >= 3 AND f.record_matches >= 3 END AS kept
FROM unnest('{one_k,k_one,k_k}'::text[]) m, kanon_check_freeform('wide', to_regclass('wide_' || m), '{a,b,c}', 3) f;
CREATE VIEW many AS SELECT (i * 7919) % 997 AS a, i % 89 AS b FROM generate_series(1, 50100) i;
SELECT row_count FROM kanon_cluster('many', NULL, '{a,b}', 2, method => 'k_one', partition_size => 100, dry_run => true);
RESET client_min_messages;
SELECT * FROM kanon_cluster('many', NULL, '{a,b}', 2, method => 'k_one', partition_size => 30000, dry_run => true);
SELECT * FROM kanon_cluster('wide', 'x', '{a,b}', 3, method => 'mondrian', partition_size => 100);
SELECT * FROM kanon_cluster('wide', 'x', '{a,b}', 3, method => 'bottom_up', partition_size => 5);
SELECT * FROM kanon_cluster('wide', 'x', '{a,b}', 3, method => 'k_k', keep => '{ill}', privacy => ARRAY[kanon_distinct_l('ill', 2)]);
SET client_min_messages = warning;
DROP SCHEMA by_parts CASCADE;
RESET client_min_messages;
RESET search_path;
