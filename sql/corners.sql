-- what no other file comes to: rare types and values, arguments that are not what they should be, tables without rows
\set VERBOSITY default
CREATE SCHEMA corner_test;
SET search_path = corner_test, public;
SET client_min_messages = warning;
SET kanon.progress = off;
CREATE TABLE people AS SELECT i AS id, i % 5 AS a, i % 3 AS b, i % 2 = 0 AS flag, (i % 4)::char(5) AS code, (i % 4 + 0.50)::numeric AS fee FROM generate_series(1, 60) i;

-- ---- publications ----

SELECT kanon_create_publication('pg_temp.p', 'people', '{a,b}', 3);
SELECT kanon_create_publication('p', 'people', '{a,b}', 3, '{"rules": {"never": null, "together": ["a,b"]}, "keep": ["flag"]}');
UPDATE p_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('p');
SELECT kanon_alter_publication('p', stable => true);
SELECT stable, options FROM kanon_publications WHERE publication = 'corner_test.p';
SELECT kanon_alter_publication('p', set_options => '{"privacy": [{"rule": "distinct_l", "column": 5, "l": 2}]}');
SELECT kanon_alter_publication('p', set_options => '{"privacy": [{"rule": "presence", "distributions": "corner_test.people", "population_rows": 1.5, "dmin": 0, "dmax": 1, "confidence": 0.9}]}');
-- what does not belong into options, and what is nearly a rule
SELECT kanon_alter_publication('p', set_options => '{"k": 3}');
SELECT kanon_alter_publication('p', set_options => '{"dry_run": true}');
SELECT kanon_alter_publication('p', options => '{}', set_options => '{"mark": true}');
SELECT kanon_alter_publication('p', set_options => '{"privacy": [{"rule": "l_diversity", "column": "a", "l": 2}]}');
SELECT kanon_alter_publication('p', set_options => '{"privacy": [{"rule": "distinkt_l", "column": "a", "l": 2}]}');
SELECT kanon_alter_publication('p', set_options => '{"privacy": [{"rule": "closeness", "column": "a", "l": 2}]}');
-- nobody is told to drop the source
CREATE TABLE alone AS SELECT i % 3 AS a FROM generate_series(1, 30) i;
SELECT FROM kanon_pattern_guided('alone', 'alone', '{a}', 3);
SELECT kanon_drop_publication('p');
-- a label alone: neither weights nor kept columns; a column that is gone is none
CREATE TABLE labelled AS SELECT id AS gone, a, b FROM people;
ALTER TABLE labelled DROP COLUMN gone;
SECURITY LABEL FOR kanon ON COLUMN labelled.a IS 'quasi-identifier';
SELECT kanon_create_publication('p', 'labelled', NULL, 3);
SELECT quasi_identifiers, options FROM kanon_publications WHERE publication = 'corner_test.p';
SELECT kanon_drop_publication('p');
-- whoever keeps the labelled column is told so, unless it is masked; names are quoted once
SET client_min_messages = notice;
SELECT FROM kanon_pattern_guided('labelled', 'kept_label', '{b}', 3, keep => '{a}');
SELECT FROM kanon_pattern_guided('labelled', 'kept_label', '{b}', 3, keep => '{a}', mask => '{"a": {"round": 5}}', replace => true);
SET client_min_messages = warning;
SELECT kanon_refresh('"Corner"."No view"');
SELECT FROM kanon_full_domain('people', 'o', '{a}', 3, hierarchies => '{"a": "\"Corner\".\"No table\""}');
-- of columns that are masked together that one is named which has NULL
CREATE TABLE wages AS SELECT i % 3 AS a, i::float8 AS wage, nullif(i, 7)::float8 AS bonus FROM generate_series(1, 30) i;
SELECT FROM kanon_pattern_guided('wages', 'o', '{a}', 3, keep => '{wage,bonus}', mask => '{"wage": {"microaggregate": 5, "group": "g"}, "bonus": {"microaggregate": 5, "group": "g"}}');
-- clusters, cost by NCP, taken apart for persons of the release before
SELECT kanon_create_publication('p', 'people', '{a,b}', 3, '{"keep": ["flag"]}', model => 'cluster', key => 'id', protect_successive => true, keep_releases => 3);
UPDATE people SET a = (a + 1) % 5 WHERE id % 7 = 0;
UPDATE p_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('p');
SELECT abs(cost - ncp) < 1e-9 AS by_ncp, proven FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT kanon_drop_publication('p');

-- ---- values ----

-- a truth value as a constant, and as a value of a domain; pseudonyms of blank-padded text and of numbers that differ in scale
SELECT count(*) FROM kanon_pattern_guided('people', 'masked', '{a,b}', 3, keep => '{flag,code,fee}', mask => '{"flag": {"constant": true}, "code": {"pseudonym": "release"}, "fee": {"pseudonym": "release"}}');
SELECT bool_and(flag) AS flags, count(DISTINCT code) AS codes, count(DISTINCT fee) AS fees FROM masked;
CREATE VIEW other_spelling AS SELECT a, b, CASE WHEN id % 2 = 0 THEN code::text::char(9) ELSE code::text::char(7) END::bpchar AS code, CASE WHEN id % 3 = 0 THEN fee::numeric(9, 4) ELSE fee END AS fee FROM people;
SELECT kanon_create_publication('p', 'other_spelling', '{a,b}', 3, '{"keep": ["code", "fee"], "mask": {"code": {"pseudonym": "publication"}, "fee": {"pseudonym": "publication"}}}');
UPDATE p_history SET digest = NULL; -- as if something had changed
SELECT status FROM kanon_refresh('p');
SELECT count(DISTINCT code) AS codes, count(DISTINCT fee) AS fees FROM p;
SELECT kanon_drop_publication('p');
SELECT kanon_set_budget('people', 100000, 0.01);
SELECT group_values FROM kanon_dp('people', 'count', 1000, by => '{flag}', groups => '{"flag": [true, false]}');
-- dates without end and numbers that are none have no place in a histogram; a time has no unit
CREATE TABLE odd AS SELECT CASE WHEN i > 30 THEN 'infinity' WHEN i > 20 THEN '-infinity' ELSE date '2020-01-01' + i * 20 END AS d,
    CASE WHEN i > 35 THEN 'NaN'::float8 WHEN i > 30 THEN 'infinity' ELSE i END AS f, time '10:00' + i / 10 * interval '1 hour' AS t FROM generate_series(1, 40) i;
SELECT column_name, count(*), sum(before), sum(after) FROM kanon_distributions('odd', 'odd', '{d,f,t}', 3) GROUP BY column_name ORDER BY 1;
-- nor has a day that is the first after the last moment
SELECT format('CREATE VIEW late_%s AS SELECT CASE WHEN i > 10 THEN date ''294277-01-01'' - %s ELSE ''2021-03-10'' END AS d FROM generate_series(1, 20) i', n, n) FROM unnest('{0,1}'::int[]) n \gexec
SELECT n, (SELECT string_agg(bar, ', ' ORDER BY bar) FROM kanon_distributions(('late_' || n)::regclass, ('late_' || n)::regclass, '{d}', 3)) AS bars FROM unnest('{0,1}'::int[]) n;
-- days up to a hundred of them, months up to three years
SELECT format('CREATE VIEW days_%s AS SELECT CASE WHEN i > 10 THEN date ''2021-03-10'' + %s ELSE ''2021-03-10'' END AS d FROM generate_series(1, 20) i', n, n) FROM unnest('{100,101,1100,1101}'::int[]) n \gexec
SELECT n, (SELECT string_agg(bar, ', ' ORDER BY bar) FROM kanon_distributions(('days_' || n)::regclass, ('days_' || n)::regclass, '{d}', 3)) AS bars FROM unnest('{100,101,1100,1101}'::int[]) n;
-- a ZIP code with blanks after it is the same
CREATE TABLE census AS SELECT z::char(9) AS zip, 30000 AS n FROM unnest('{10001,03601}'::text[]) z;
CREATE TABLE zips AS SELECT unnest('{10001,03601,03601,10001,05901,05902}'::text[]) AS zip;
SELECT FROM kanon_full_domain('zips', 'zips_out', '{zip}', 2, hierarchies => '{"zip": {"hipaa_zip3": true, "population": "census"}}');
SELECT zip, count(*) FROM zips_out GROUP BY 1 ORDER BY 1;
SELECT kanon_full_domain('zips', NULL, '{zip}', 2, hierarchies => '{"zip": {"hipaa_zip3": true, "population": 5}}', dry_run => true);

-- comments of a table that is replaced: its own stay with it, and with its columns; a new column has none
SELECT FROM kanon_pattern_guided('people', 'said', '{a,b}', 3);
COMMENT ON TABLE said IS 'of the table';
COMMENT ON COLUMN said.a IS 'of a';
COMMENT ON COLUMN said.b IS 'of b';
SELECT FROM kanon_pattern_guided('people', 'said', '{a,b}', 3, keep => '{flag}', replace => true);
SELECT attname, col_description(attrelid, attnum), obj_description(attrelid, 'pg_class') FROM pg_attribute WHERE attrelid = 'said'::regclass AND attnum > 0 ORDER BY attnum;

-- ---- written tables that somebody has changed ----

SELECT count(*) FROM kanon_cluster('people', 'ranged', '{a,b}', 5, show => 'range,set', keep => '{flag}');
UPDATE ranged SET a = 'empty' WHERE lower(a) = (SELECT min(lower(a)) FROM ranged);
SELECT measure, round(value::numeric, 4) AS value FROM kanon_compare('people', 'ranged', '{a,b}') ORDER BY 1 LIMIT 4;
CREATE TABLE marked AS SELECT a, b, '--'::text AS kanon_pattern FROM people;
SELECT count(*) FROM kanon_freeform('marked', 'form', '{a,kanon_pattern}', 3);
SELECT regular FROM kanon_check_freeform('marked', 'form', '{a,kanon_pattern}', 3);

-- no array is made of arrays
CREATE TABLE lists AS SELECT ARRAY[i % 3] AS list, i % 2 AS b FROM generate_series(1, 60) i;
SELECT kanon_cluster('lists', 'listed', '{list,b}', 4, show => 'set,auto');
SELECT kanon_cluster('lists', 'listed', '{list,b}', 4, 'k_k', show => 'set,auto');

-- ---- rules ----

SELECT format('CREATE TABLE wide AS SELECT 1 AS q, %s FROM generate_series(1, 4) i', string_agg('i % 2 AS c' || c, ', ')) FROM generate_series(1, 66) c \gexec
SELECT kanon_pattern_guided('wide', NULL, '{q}', 2, keep => k, dry_run => true, privacy => p)
FROM (SELECT array_agg(('c' || c)::name) AS k, array_agg(kanon_distinct_l('c' || c, 2)) AS p FROM generate_series(1, 65) c) x;
SELECT kanon_subtree('wide', NULL, '{q}', 2, keep => k, dry_run => true, privacy => p, class_column => 'c66')
FROM (SELECT array_agg(('c' || c)::name) || '{c66}'::name[] AS k, array_agg(kanon_distinct_l('c' || c, 2)) AS p FROM generate_series(1, 64) c) x;
SELECT aspect, subject, cost FROM kanon_explain('people', '{a,b,flag}', 4, rules => kanon_rules(together => '{"a,b"}', at_most_one => '{"a,flag"}', implies => '{"b->flag"}')) WHERE aspect IN ('left out', 'weight doubled') ORDER BY 1, 2;

-- pattern clustering up to a gap: no bound above the optimum, none below what was asked
CREATE TABLE scattered AS SELECT i * 7 % 11 AS a, i * i % 7 AS b, i * 5 % 13 % 4 AS c FROM generate_series(1, 90) i;
SELECT FROM kanon_pattern_clustering('scattered', 'gapless', '{a,b,c}', 4, patterns => '{*--,-*-,--*,**-,*-*,-**,***}');
SELECT FROM kanon_pattern_clustering('scattered', 'gapped', '{a,b,c}', 4, patterns => '{*--,-*-,--*,**-,*-*,-**,***}', gap => 0.9);
SELECT gapless.proven, gapped.cost >= gapless.cost - 1e-9 AND gapped.lower_bound BETWEEN 0.1 * gapped.cost AND gapless.cost AS within
FROM kanon_usefulness gapless, kanon_usefulness gapped WHERE gapless.target = 'corner_test.gapless' AND gapped.target = 'corner_test.gapped';

-- ---- items ----

CREATE TABLE baskets AS SELECT i AS id, ARRAY['i' || i % 3, 'j' || i % 2] AS items FROM generate_series(1, 12) i;
CREATE TABLE no_column ();
SELECT kanon_transactions('baskets', NULL, 'items', 2, 'suppress', p => 1, h => 50, sensitive_items => 'no_column', dry_run => true);
SELECT kanon_transactions('baskets', NULL, 'items', 2, 'suppress', p => 1, h => 50, sensitive_items => 4294967295, dry_run => true);
CREATE TABLE secret AS SELECT 'j1' AS item;
SELECT kanon_transactions('baskets', 'sold', 'items', 2, 'suppress', p => 1, h => 50, sensitive_items => 'secret') IS NULL AS none;
SELECT * FROM kanon_check_transactions('sold', 'items', sensitive_items => 'secret');

\set VERBOSITY terse
DROP SCHEMA corner_test CASCADE;
