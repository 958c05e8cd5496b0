-- kanon_pattern_guided on tables small enough to follow by hand
CREATE SCHEMA pgd_test;
SET search_path = pgd_test, public;

CREATE TABLE people (name text, age int, zip text, sex text, diagnosis text);
INSERT INTO people VALUES
    ('Ann',   30, '12345', 'f', 'flu'),
    ('Bea',   30, '12345', 'f', 'cold'),
    ('Cid',   30, '12346', 'm', 'flu'),
    ('Dan',   30, '12346', 'm', 'gout'),
    ('Eve',   40, '12345', 'f', 'flu'),
    ('Fay',   40, '12347', 'f', 'cold'),
    ('Gus',   50, '99999', 'm', 'gout');

-- every combination: the two pairs stay whole, Eve and Fay lose their zip,
-- Gus fits nowhere
SELECT * FROM kanon_pattern_guided('people', 'people_public', '{age,zip,sex}', 2, keep => '{diagnosis}', residual => 'suppress');
SELECT * FROM people_public ORDER BY 1, 2, 3, 4;
SELECT * FROM kanon_check('people_public', '{age,zip,sex}');
SELECT * FROM kanon_check('people', '{age,zip,sex}');

-- only the listed patterns (and the all-suppressed one) are used
SELECT * FROM kanon_pattern_guided('people', 'p_listed', '{age,zip,sex}', 2, patterns => '{*-*,**-}', effort => 0);
SELECT * FROM p_listed ORDER BY 1, 2, 3;

-- weights decide which pattern is tried first
SELECT * FROM kanon_pattern_guided('people', NULL, '{age,zip,sex}', 2, weights => '{0.1,5,5}', dry_run => true);
SELECT * FROM kanon_pattern_guided('people', NULL, '{age,zip,sex}', 2, weights => '{5,5,0.1}', dry_run => true);

-- equal cost: in the order given
SELECT * FROM kanon_pattern_guided('people', NULL, '{age,zip,sex}', 3, patterns => '{*--,-*-,--*}', dry_run => true);
SELECT * FROM kanon_pattern_guided('people', NULL, '{age,zip,sex}', 3, patterns => '{--*,-*-,*--}', dry_run => true);

-- what happens to the rows that are left
SELECT * FROM kanon_pattern_guided('people', 'p_drop', '{age,zip,sex}', 2, residual => 'drop');
SELECT count(*), count(age) FROM p_drop;
SELECT * FROM kanon_pattern_guided('people', 'p_error', '{age,zip,sex}', 2, residual => 'error');
SELECT to_regclass('p_error');
-- three rows that fit nowhere are a class of their own when k is 3
SELECT * FROM kanon_pattern_guided('people', 'p_error', '{age,zip,sex}', 3, patterns => '{---,-*-}', residual => 'error');

-- a marked target tells per row what was suppressed
SELECT * FROM kanon_pattern_guided('people', 'p_marked', '{age,zip,sex}', 2, mark => true);
SELECT * FROM p_marked ORDER BY kanon_pattern, 1, 2, 3;

-- an explicit array, other kinds of names, a schema
SELECT * FROM kanon_pattern_guided('people'::regclass, 'pgd_test."Odd ""Target"""', ARRAY['sex', 'zip'], 2);
SELECT * FROM "Odd ""Target""" ORDER BY 1, 2;

-- dry_run writes nothing and records nothing
SELECT count(*) AS runs FROM kanon_usefulness \gset
SELECT * FROM kanon_pattern_guided('people', 'p_dry', '{age,zip,sex}', 2, dry_run => true);
SELECT to_regclass('p_dry'), count(*) = :runs AS nothing_recorded FROM kanon_usefulness;

-- replace: same name, new content, in one transaction
SELECT count(*) FROM people_public;
DELETE FROM people WHERE name = 'Gus';
CREATE INDEX ON people_public (age);
SELECT * FROM kanon_pattern_guided('people', 'people_public', '{age,zip,sex}', 2, replace => true, residual => 'suppress');
-- the index went with the table that had it
SELECT relhasindex FROM pg_class WHERE oid = 'people_public'::regclass;
SELECT * FROM people_public ORDER BY 1, 2, 3;
BEGIN;
SELECT count(*) FROM kanon_pattern_guided('people', 'people_public', '{sex}', 2, replace => true);
ROLLBACK;
SELECT count(*), count(zip) FROM people_public;

-- the empty table
CREATE TABLE nobody (LIKE people);
SELECT * FROM kanon_pattern_guided('nobody', 'nobody_public', '{age,zip}', 5, keep => '{diagnosis}');
TABLE nobody_public;
\d nobody_public
SELECT * FROM kanon_check('nobody_public', '{age,zip}');

-- one row per type, all rows equal, all rows distinct
CREATE TABLE same AS SELECT 1 AS a, 'x'::text AS b FROM generate_series(1, 10);
SELECT * FROM kanon_pattern_guided('same', 'same_public', '{a,b}', 10);
CREATE TABLE distinct_rows AS SELECT i AS a, 'v' || i AS b FROM generate_series(1, 10) i;
SELECT * FROM kanon_pattern_guided('distinct_rows', 'distinct_public', '{a,b}', 2);
SELECT * FROM kanon_check('distinct_public', '{a,b}');

-- views of a run
SELECT source, target, k, method, row_count, row_types, patterns, suppressed_cells,
       round(suppressed_share::numeric, 4) AS share, round(usefulness::numeric, 4) AS u,
       classes, class_min, class_avg, class_max
FROM kanon_usefulness WHERE target = 'pgd_test.people_public' ORDER BY run;
SELECT class, pattern, row_count, suppressed_cells, round(tuple_diversity::numeric, 4) AS td, shown
FROM kanon_equivalence_classes
WHERE run = (SELECT min(run) FROM kanon_usefulness WHERE target = 'pgd_test.people_public')
ORDER BY class;

-- by parts: each value's rows alone, what is left over together
CREATE TABLE parted AS SELECT chr(97 + i % 3) AS site, i / 3 % 7 AS a, i / 3 % 5 AS b, 'd' || i % 4 AS d FROM generate_series(0, 239) i;
INSERT INTO parted VALUES ('x', 0, 0, 'd0'), ('x', 100, 0, 'd1'), (NULL, 1, 1, 'd1'), (NULL, 1, 1, 'd2'), (NULL, 1, 1, 'd3');
SELECT * FROM kanon_pattern_guided('parted', 'parted_public', '{site,a,b}', 3, partition_by => 'site', keep => '{d}', mark => true);
-- nobody shares a class with another site unless both were left over
SELECT kanon_pattern, count(DISTINCT coalesce(site, '')), count(*) FROM parted_public GROUP BY kanon_pattern ORDER BY 1;
SELECT k, row_count FROM kanon_check('parted_public', '{site,a,b,kanon_pattern}');
SELECT cost, suppressed_cells, options ->> 'partition_by' AS by FROM kanon_usefulness WHERE target = 'pgd_test.parted_public';
SELECT * FROM kanon_pattern_guided('parted', NULL, '{site,a,b}', 3, dry_run => true);
-- what parts must suppress is solved together; privacy rules hold in every part
SELECT * FROM kanon_pattern_guided('parted', NULL, '{site,a,b}', 3, partition_by => 'a', patterns => '{-*-}', residual => 'drop', dry_run => true);
SELECT * FROM kanon_pattern_guided('parted', 'parted_l', '{site,a,b}', 3, partition_by => 'site', privacy => ARRAY[kanon_distinct_l('d', 3)], keep => '{d}', residual => 'drop');
SELECT min(l), sum(n) FROM (SELECT count(DISTINCT d) AS l, count(*) AS n FROM parted_l GROUP BY site, a, b) AS c;
-- of equally cheap releases the one with the better usefulness; the first order alone finds another
CREATE TABLE square AS SELECT a, b FROM unnest('{x,y}'::text[]) a, generate_series(1, 2) b
UNION ALL SELECT a, 100 FROM unnest('{u,v,w}'::text[]) a, generate_series(1, 2);
SELECT method, suppressed_cells, f.classes, round(usefulness::numeric, 4) AS usefulness
FROM unnest('{greedy,improve,best,fpt}'::text[]) method, kanon_frontier('square', '{a,b}', '{2}', method => method) f;
SELECT suppressed_cells, classes, round(usefulness::numeric, 4) AS usefulness FROM kanon_frontier('square', '{a,b}', '{2}', effort => 0);
-- values are shared out among parallel workers where that is allowed: the same release
CREATE TABLE sites AS SELECT i % 9 AS site, hashint4(i) & 3 AS a, hashint4(i + 1000) & 3 AS b, hashint4(i + 2000) & 1 AS c FROM generate_series(1, 900) i;
INSERT INTO sites SELECT 100 + i % 6, i, i, i FROM generate_series(1, 20) i;
SET max_parallel_workers_per_gather = 0;
SELECT * FROM kanon_pattern_guided('sites', 'sites_alone', '{site,a,b,c}', 5, partition_by => 'site', mark => true);
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET client_min_messages = debug1;
SELECT sum(row_count) FROM kanon_pattern_guided('sites', NULL, '{site,a,b,c}', 5, partition_by => 'site', dry_run => true);
-- rules beyond k stay where their dictionaries are
SELECT sum(row_count) FROM kanon_pattern_guided('sites', NULL, '{site,a,b}', 5, partition_by => 'site', keep => '{c}', privacy => ARRAY[kanon_distinct_l('c', 2)], dry_run => true);
SET client_min_messages = warning;
SELECT FROM kanon_pattern_guided('sites', 'sites_helped', '{site,a,b,c}', 5, partition_by => 'site', mark => true);
RESET client_min_messages;
RESET parallel_setup_cost;
RESET max_parallel_workers_per_gather;
SELECT count(*) FROM (TABLE sites_alone EXCEPT ALL TABLE sites_helped) AS more;
-- where parts lead nowhere the whole is solved
SELECT * FROM kanon_pattern_guided('people', NULL, '{age,zip,sex}', 2, partition_by => 'zip', residual => 'error', patterns => '{**-}', dry_run => true);
SELECT * FROM kanon_pattern_guided('people', NULL, '{age,zip,sex}', 2, partition_by => 'agge', dry_run => true);

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA pgd_test CASCADE;
