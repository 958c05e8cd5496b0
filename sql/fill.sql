-- residual => 'fill', the default: fully suppressed rows are none, or k; and with rules beyond k there is a release
CREATE SCHEMA fill_test;
SET search_path = fill_test, public;
SELECT setseed(0.5);
-- most rows are like others, a few like nobody
CREATE TABLE rare AS
SELECT i AS id, CASE WHEN i % 97 = 5 THEN 1000 + i ELSE 20 + i % 7 * 10 END AS age, CASE WHEN i % 97 = 5 THEN 'z' || i ELSE 'a' || i % 3 END AS zip,
    CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, (ARRAY['flu', 'gout', 'asthma'])[1 + i % 3] AS ill, (i % 5)::float8 AS score
FROM generate_series(1, 300) i;
CREATE TABLE age_h AS SELECT DISTINCT age, CASE WHEN age < 1000 THEN 'young' ELSE 'old' END AS l1 FROM rare;
CREATE TABLE zip_h AS SELECT DISTINCT zip, left(zip, 1) AS l1 FROM rare;

-- every method and model: what another checker counts, and what the record says
CREATE FUNCTION smallest(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    checked bigint; blank bigint; recorded bigint;
BEGIN
    EXECUTE 'SELECT FROM ' || call;
    SELECT min(n), max(n) FILTER (WHERE nothing) INTO checked, blank
    FROM (SELECT count(*) AS n, num_nonnulls(age, zip, sex) = 0 AS nothing FROM o GROUP BY age, zip, sex) c;
    SELECT class_min INTO recorded FROM kanon_usefulness WHERE target = 'fill_test.o' ORDER BY run DESC LIMIT 1;
    IF checked <> (SELECT k FROM kanon_check('o', '{age,zip,sex}')) OR checked <> recorded
        OR checked <> (SELECT value FROM kanon_risk('o', '{age,zip,sex}') WHERE measure = 'k')
        OR checked <> (SELECT k FROM kanon_run_risk WHERE stage = 'target' ORDER BY run DESC LIMIT 1) THEN
        RETURN format('checkers disagree: %s, %s', checked, recorded);
    END IF;
    DROP TABLE o;
    RETURN format('%s, blank %s', CASE WHEN checked >= 5 THEN 'k or more' ELSE checked::text END, CASE WHEN blank >= 5 THEN 'k or more' ELSE coalesce(blank, 0)::text END);
END $$;
SET client_min_messages = warning;
SELECT r.residual, m.method, smallest(format('kanon_pattern_guided(''rare'', ''o'', ''{age,zip,sex}'', 5, method => %L, effort => 0.01, residual => %L)', method, residual))
FROM unnest('{greedy,improve,best}'::text[]) m (method), unnest('{fill,suppress,drop}'::text[]) r (residual) ORDER BY 1, 2;
SELECT smallest('kanon_pattern_guided(''rare'', ''o'', ''{age,zip,sex}'', 5, hierarchies => ''{"age": "age_h", "zip": "zip_h"}'')') AS levels,
    smallest('kanon_pattern_guided(''rare'', ''o'', ''{age,zip,sex}'', 5, patterns => ''{---,--*,*--}'')') AS listed,
    smallest('kanon_pattern_guided(''rare'', ''o'', ''{age,zip,sex}'', 5, partition_by => ''sex'', rules => kanon_rules(max_suppressed => 1))') AS by_parts,
    smallest('kanon_full_domain(''rare'', ''o'', ''{age,zip,sex}'', 5, hierarchies => ''{"age": "age_h", "zip": "zip_h"}'', suppression_limit => 0.1)') AS full_domain,
    smallest('kanon_full_domain(''rare'', ''o'', ''{age,zip,sex}'', 5, hierarchies => ''{"age": "age_h", "zip": "zip_h"}'', suppression_limit => 0.1, keep => ''{ill}'', privacy => ARRAY[kanon_distinct_l(''ill'', 2)])') AS with_rules,
    smallest('kanon_cluster(''rare'', ''o'', ''{age,zip,sex}'', 5, show => ''suppress'')') AS cluster;
-- a node with rows to fill up: they count for the limit, and the node says how many they are
SELECT limits, pattern, suppressed_rows, classes FROM unnest('{0.02,0.05}'::float8[]) limits,
    kanon_full_domain('rare', NULL, '{age,sex}', 5, hierarchies => '{"age": {"interval": [10, 2000]}}', suppression_limit => limits, dry_run => true);
-- the frontier, publications
SELECT k, residual_rows, class_min >= k AS kept FROM kanon_frontier('rare', '{age,zip,sex}', '{2,5,10}');
SELECT kanon_create_publication('rare_public', 'rare', '{age,zip,sex}', 5, '{"keep": ["ill"]}');
SELECT k >= 5 AS kept FROM kanon_check('rare_public', '{age,zip,sex}');
INSERT INTO rare VALUES (9999, 7777, 'lonely', 'm', 'flu', 1);
SELECT status, row_count FROM kanon_refresh('rare_public');
SELECT k >= 5 AS kept FROM kanon_check('rare_public', '{age,zip,sex}');
SELECT kanon_drop_publication('rare_public');
DELETE FROM rare WHERE id = 9999;
-- who is looked for is found with the chance that was promised, at most
SELECT FROM kanon_pattern_guided('rare', 'o', '{age,zip,sex}', 5);
SELECT max(value) FILTER (WHERE measure = 'success_highest') <= max(value) FILTER (WHERE measure = 'success_promised') AS kept
FROM kanon_attack('rare', 'o', 'id', '{age,zip,sex}', 300);
DROP TABLE o;
RESET client_min_messages;

-- a table of fewer than k rows has no release
CREATE TABLE four AS SELECT i AS a, i % 2 AS b FROM generate_series(1, 4) i;
SELECT FROM kanon_pattern_guided('four', NULL, '{a,b}', 5, dry_run => true);
-- unless they are to be left out: the target is as empty as that of a table without rows, whatever else is asked
SELECT FROM kanon_pattern_guided('four', 'four_public', '{a}', 5, keep => '{b}', residual => 'drop');
SELECT FROM kanon_pattern_guided('four', NULL, '{a}', 5, keep => '{b}', residual => 'drop', privacy => ARRAY[kanon_distinct_l('b', 3)], dry_run => true);
SELECT FROM kanon_pattern_guided('four', NULL, '{a,b}', 5, residual => 'drop', partition_by => 'b', dry_run => true);
SELECT FROM kanon_pattern_guided('four', NULL, '{a,b}', 5, method => 'ilp', residual => 'drop', dry_run => true);
SELECT FROM kanon_full_domain('four', 'four_recoded', '{a,b}', 5, residual => 'drop');
SELECT dropped_rows FROM kanon_cluster('four', 'four_clusters', '{a,b}', 5, residual => 'drop');
-- fewer persons than k
SELECT FROM kanon_pattern_guided('four', NULL, '{a}', 3, residual => 'drop', privacy => ARRAY[kanon_subject('b')], dry_run => true);
SELECT (SELECT count(*) FROM four_public) AS of_patterns, (SELECT count(*) FROM four_recoded) AS recoded, (SELECT count(*) FROM four_clusters) AS clusters;
SELECT row_count, dropped_rows, classes, cost FROM kanon_usefulness WHERE target ~ 'four';
SELECT v ->> 'says' AS says FROM jsonb_array_elements(kanon_report_data((SELECT max(run) FROM kanon_usefulness)) -> 'verdicts') v WHERE v ->> 'about' <> 'identifiers';
-- a model without row types says nothing of this
CREATE TABLE points AS SELECT i::float8 AS x FROM generate_series(1, 3) i;
SELECT count(*) FROM kanon_cross_training('points', 'points_public', '{x}', 5);
-- night after night, as the owner lets a release be empty
SELECT kanon_create_publication('four_daily', 'four', '{a}', 5, options => '{"residual": "drop", "min_rows": 0}', stable => true);
INSERT INTO four SELECT 1, 1 FROM generate_series(1, 5);
SELECT row_count FROM kanon_refresh('four_daily');
DELETE FROM four WHERE a = 1;
SELECT row_count FROM kanon_refresh('four_daily');
-- how the kept columns of rules have moved: a tenth had the value, of the rows that are left half have it
CREATE TABLE moved AS SELECT i % 5 AS a, CASE WHEN i % 10 = 0 THEN 'yes' ELSE 'no' END AS s, i % 3 AS z FROM generate_series(1, 100) i;
SELECT FROM kanon_pattern_guided('moved', 'moved_public', '{a}', 5, keep => '{s,z}', residual => 'drop', privacy => ARRAY[kanon_alpha('s', 0.5), kanon_distinct_l('z', 2)]);
SELECT s, count(*) FROM moved_public GROUP BY 1 ORDER BY 1;
SELECT v ->> 'says' AS says FROM jsonb_array_elements(kanon_report_data((SELECT max(run) FROM kanon_usefulness), compare => true) -> 'verdicts') v WHERE v ->> 'about' = 'left_out';

-- rules beyond k: one release takes all five rows
CREATE TABLE five (a text, b text, s text);
INSERT INTO five VALUES ('x', 'p', '1'), ('x', 'p', '2'), ('x', 'q', '1'), ('x', 'r', '1'), ('x', 't', '1');
SELECT residual, p.* FROM unnest('{fill,suppress}'::text[]) residual,
    kanon_pattern_guided('five', NULL, '{a,b}', 2, keep => '{s}', residual => residual, privacy => ARRAY[kanon_distinct_l('s', 2)], dry_run => true) p;
-- a value that three rows in a hundred have
CREATE TABLE incomes AS SELECT i::bigint * 7919 % 40 AS age, i::bigint * 104729 % 6 AS edu, i::bigint * 1299709 % 5 AS occ, i::bigint * 15485863 % 3 AS race,
    CASE WHEN i::bigint * 32452843 % 100 < 3 THEN 'high' ELSE 'low' END AS sensitive FROM generate_series(1, 3000) i;
SELECT sum(row_count) AS rows, sum(cost * row_count) AS cost FROM kanon_pattern_guided('incomes', NULL, '{age,edu,occ,race}', 5, keep => '{sensitive}',
    privacy => ARRAY[kanon_distinct_l('sensitive', 2)], dry_run => true);
-- tables like those of two studies: greedy's cost beside the cost of improve
SET client_min_messages = warning;
CREATE TABLE sentences AS SELECT CASE WHEN random() < 0.8 THEN 'm' ELSE 'f' END AS sex, 18 + floor(45 * random() * random())::int AS age,
    (ARRAY['black', 'black', 'black', 'white', 'white', 'hispanic', 'other', 'asian'])[1 + floor(8 * random() ^ 1.4)::int] AS race, floor(15 * random() ^ 5)::int AS priors,
    CASE WHEN random() < 0.65 THEN 'felony' ELSE 'misdemeanour' END AS charge, CASE WHEN random() < 0.12 THEN 'yes' ELSE 'no' END AS sensitive FROM generate_series(1, 1500);
CREATE TABLE passengers AS SELECT 1 + floor(3 * random() ^ 0.6)::int AS class, CASE WHEN random() < 0.65 THEN 'm' ELSE 'f' END AS sex, floor(74 * random())::int AS age,
    (ARRAY['s', 's', 's', 'c', 'q'])[1 + floor(5 * random())::int] AS harbour, floor(5 * random() ^ 3)::int AS relatives,
    CASE WHEN random() < 0.38 THEN 'yes' ELSE 'no' END AS sensitive FROM generate_series(1, 890);
SELECT name, greedy.cost / improve.cost < 1.15 AS near
FROM (VALUES ('sentences', '{sex,age,race,priors,charge}'::name[]), ('passengers', '{class,sex,age,harbour,relatives}')) t (name, qis),
    LATERAL (SELECT sum(cost * row_count) AS cost FROM kanon_pattern_guided(t.name, NULL, t.qis, 5, keep => '{sensitive}',
        privacy => ARRAY[kanon_distinct_l('sensitive', 2)], dry_run => true)) greedy,
    LATERAL (SELECT sum(cost * row_count) AS cost FROM kanon_pattern_guided(t.name, NULL, t.qis, 5, keep => '{sensitive}', method => 'improve', effort => 0.05,
        privacy => ARRAY[kanon_distinct_l('sensitive', 2)], dry_run => true)) improve ORDER BY 1;
SET client_min_messages = notice;
-- a class of fewer than 2k - 1 rows gives what it has above k, and several classes give together
CREATE TABLE short AS SELECT 'a' AS q FROM generate_series(1, 5) UNION ALL SELECT 'c' FROM generate_series(1, 3);
SELECT pattern, verdict, metric_value, suppressed_rows FROM kanon_full_domain('short', 'short_recoded', '{q}', 4, suppression_limit => 0.5);
INSERT INTO short SELECT 'b' FROM generate_series(1, 5);
DELETE FROM short WHERE ctid = (SELECT min(ctid) FROM short WHERE q = 'c');
SELECT pattern, verdict, suppressed_rows, classes FROM kanon_full_domain('short', 'short_recoded', '{q}', 4, suppression_limit => 0.5, replace => true);
SELECT q, count(*) FROM short_recoded GROUP BY q ORDER BY q;
-- k counts persons, and so does what is short of it; of releases k is the promise then
CREATE TABLE stays AS SELECT i / 3 AS person, 'w' || i % 2 AS ward, CASE WHEN i < 9 THEN 'rare' ELSE 'usual' END AS kind FROM generate_series(0, 29) i;
SELECT row_count, detail FROM kanon_explain('stays', '{ward,kind}', 5, keep => '{}', privacy => ARRAY[kanon_subject('person')]) WHERE aspect = 'below k';
SELECT kanon_create_publication('stays_public', 'stays', '{ward,kind}', 3, key => 'person');
SELECT k, row_count FROM kanon_releases WHERE publication = 'fill_test.stays_public';
SELECT min(n) AS rows FROM (SELECT count(*) AS n FROM stays_public GROUP BY ward, kind) c;
SELECT kanon_drop_publication('stays_public');
-- full-domain releases are filled up under privacy rules, too: the two of c have one value, and a row of a or b brings another
CREATE TABLE ruled (q text, s text);
INSERT INTO ruled VALUES ('a', 'x'), ('a', 'y'), ('a', 'y'), ('b', 'x'), ('b', 'x'), ('b', 'x'), ('b', 'y'), ('c', 'x'), ('c', 'x');
SELECT residual, (SELECT f.pattern || ' ' || f.verdict || ' ' || f.suppressed_rows || ' suppressed, ' || f.classes || ' classes' FROM kanon_full_domain('ruled', NULL, '{q}', 2, keep => '{s}', suppression_limit => 0.5,
    residual => r.residual, dry_run => true, privacy => ARRAY[kanon_distinct_l('s', 2)]) f) FROM unnest('{fill,drop,error}'::text[]) r (residual);
SELECT verdict, suppressed_rows FROM kanon_full_domain('ruled', 'ruled_public', '{q}', 2, keep => '{s}', suppression_limit => 0.5, privacy => ARRAY[kanon_distinct_l('s', 2)]);
SELECT q, count(*), count(DISTINCT s) AS different FROM ruled_public GROUP BY q ORDER BY q;
-- a share needs a row of another value; beyond the limit it is the node above
SELECT pattern, verdict, suppressed_rows, classes FROM kanon_full_domain('ruled', NULL, '{q}', 2, keep => '{s}', suppression_limit => 0.8, dry_run => true, privacy => ARRAY[kanon_alpha('s', 0.75)]);
SELECT pattern, verdict, suppressed_rows FROM kanon_full_domain('ruled', NULL, '{q}', 2, keep => '{s}', suppression_limit => 0.25, dry_run => true, privacy => ARRAY[kanon_alpha('s', 0.75)]);
SET client_min_messages = warning;
DROP SCHEMA fill_test CASCADE;
