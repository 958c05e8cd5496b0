-- k is counted in persons of a population, and rules of the table in its persons beside
CREATE SCHEMA population_test;
SET search_path = population_test, public;
SET client_min_messages = warning;
CREATE FUNCTION try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; hint text; detail text;
BEGIN
    EXECUTE 'SELECT FROM ' || call;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RETURN format(E'%s: %s%s\nHINT: %s', SQLSTATE, message, coalesce(E'\nDETAIL: ' || nullif(detail, ''), ''), hint);
END $$;
CREATE TABLE sample (zip text, age int, ill text);
INSERT INTO sample VALUES ('4711', 30, 'flu'), ('4711', 31, 'gout'), ('4712', 30, 'flu'), ('5711', 70, 'flu'), (NULL, 70, 'gout');
CREATE TABLE census AS SELECT zip, age FROM sample
    UNION ALL SELECT '4711', 30 FROM generate_series(1, 2) UNION ALL SELECT '4712', 31 FROM generate_series(1, 2)
    UNION ALL SELECT '5711', 71 FROM generate_series(1, 2) UNION ALL SELECT NULL, 70 FROM generate_series(1, 2);
CREATE TABLE zips (zip text, near text);
INSERT INTO zips VALUES ('4711', '47'), ('4712', '47'), ('5711', '57'), ('5712', '57');
CREATE TABLE ages AS SELECT age, int4range(age / 10 * 10, age / 10 * 10 + 10) AS decade FROM generate_series(20, 79) age;
-- in persons, of whom some have several rows in the population: all nodes, counted again
CREATE TABLE crowds AS SELECT zip, age, 'p' || (n * 7 + n / 5) % 9 AS who FROM (SELECT c.*, row_number() OVER (ORDER BY zip, age) AS n FROM census c, generate_series(1, 2)) x;
CREATE FUNCTION persons(pattern text, from_sample text DEFAULT 'sample') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    least bigint;
BEGIN
    EXECUTE format($q$
        WITH shown AS (SELECT 'crowd' AS of, who, zip, age FROM crowds UNION ALL SELECT 'sample', NULL, zip, age FROM %s),
             nodes AS (SELECT of, who, CASE %2$L WHEN '-' THEN zip WHEN '1' THEN (SELECT near FROM zips z WHERE z.zip = s.zip) ELSE '*' END AS z,
                              CASE %3$L WHEN '-' THEN age::text WHEN '1' THEN (SELECT decade::text FROM ages a WHERE a.age = s.age) ELSE '*' END AS a FROM shown s)
        SELECT min(n) FROM (SELECT count(DISTINCT who) AS n FROM nodes GROUP BY z, a HAVING bool_or(of = 'sample')) c$q$, from_sample, left(pattern, 1), right(pattern, 1)) INTO least;
    RETURN least;
END $$;
SELECT k, count(*) AS nodes, count(*) FILTER (WHERE persons(pattern) >= k) AS allowed, count(*) FILTER (WHERE (verdict <> 'fails') <> (persons(pattern) >= k)) AS wrong
FROM generate_series(2, 5) k, LATERAL kanon_full_domain('sample', NULL, '{zip,age}', k, hierarchies => '{"zip": "zips", "age": "ages"}', explore => true, dry_run => true,
    privacy => ARRAY[kanon_k_map('crowds', 'who')]) GROUP BY k ORDER BY k;
-- rules of the table count its persons beside
CREATE TABLE stays AS SELECT s.*, n FROM (SELECT s.*, row_number() OVER () AS who FROM sample s) s, generate_series(1, 2) n;
SELECT rules, array_agg(pattern || CASE verdict WHEN 'fails' THEN ' fails' ELSE '' END ORDER BY pattern) FROM (VALUES
    ('rows', ARRAY[kanon_k_map('crowds', 'who'), kanon_alpha('ill', 0.6)]), ('persons', ARRAY[kanon_k_map('crowds', 'who'), kanon_alpha('ill', 0.6), kanon_subject('who')]),
    ('rows of the population', ARRAY[kanon_k_map('crowds'), kanon_subject('who')])) AS v (rules, privacy),
LATERAL kanon_full_domain('stays', NULL, '{zip,age}', 4, hierarchies => '{"zip": "zips", "age": "ages"}', keep => '{ill,who}', allow_identifying => '{who}', explore => true, dry_run => true, suppression_limit => 0.2,
    privacy => v.privacy) WHERE verdict <> 'fails' GROUP BY rules ORDER BY rules;
-- as it is published, and verified
SELECT pattern FROM kanon_full_domain('stays', 'o', '{zip,age}', 5, hierarchies => '{"zip": "zips", "age": "ages"}', keep => '{ill,who}', allow_identifying => '{who}', privacy => ARRAY[kanon_k_map('crowds', 'who'), kanon_subject('who')]);
SELECT persons(pattern) >= 5 AS kept FROM kanon_full_domain('stays', NULL, '{zip,age}', 5, hierarchies => '{"zip": "zips", "age": "ages"}', keep => '{ill,who}', allow_identifying => '{who}', privacy => ARRAY[kanon_k_map('crowds', 'who'), kanon_subject('who')], dry_run => true);
SELECT x ->> 'says' AS says, x -> 'claim' AS claim FROM (SELECT max(run) AS run FROM kanon_usefulness) u, jsonb_array_elements(kanon_report_data(u.run) -> 'statements') x WHERE x ->> 'says' ~ 'different persons';
SELECT options -> 'privacy' FROM kanon_usefulness WHERE target = 'population_test.o' ORDER BY run DESC LIMIT 1;
DROP TABLE o;
SELECT min(classes) AS classes FROM kanon_subtree('stays', 'o', '{zip,age}', 5, hierarchies => '{"zip": "zips", "age": "ages"}', privacy => ARRAY[kanon_k_map('crowds', 'who')]);
DROP TABLE o;
SELECT try($$ kanon_full_domain('stays', 'o', '{zip,age}', 3, keep => '{who}', privacy => ARRAY[kanon_subject('who'), kanon_delta_presence('crowds', 0, 1)]) $$);
SELECT try($$ kanon_full_domain('stays', 'o', '{zip,age}', 3, privacy => ARRAY[kanon_k_map('crowds', 'nobody')]) $$);
SELECT try($$ kanon_full_domain('stays', 'o', '{zip,age}', 3, privacy => ARRAY[kanon_k_map('crowds', 'age')]) $$);
SELECT try($$ kanon_full_domain('stays', 'o', '{zip,age}', 10, privacy => ARRAY[kanon_k_map('crowds', 'who')]) $$);
-- beside k_map the key of a publication says whom other rules count: half of the rows have z, and two of three persons
CREATE TABLE often (id int, who int, q text, s text);
INSERT INTO often VALUES (1, 1, 'a', 'y'), (2, 1, 'a', 'x'), (3, 2, 'a', 'x'), (4, 2, 'a', 'z'), (5, 3, 'a', 'z'), (6, 3, 'a', 'z');
CREATE TABLE everybody AS SELECT q, who FROM often UNION ALL VALUES ('a', 7), ('a', 8);
SELECT rows, try(format($$ kanon_create_publication('seen', 'often', '{q}', 2, key => 'who', options => jsonb_build_object('keep', '["s"]'::jsonb, 'count_rows', %L::boolean,
    'privacy', jsonb_build_array(kanon_k_map('everybody', 'who'), kanon_alpha('s', 0.5))), model => 'full_domain') $$, rows)) FROM unnest('{false,true}'::boolean[]) rows;
SELECT try($$ kanon_create_publication('alone', 'often', '{q}', 2, key => 'who', options => jsonb_build_object('privacy', jsonb_build_array(kanon_k_map('everybody', 'who'))), model => 'full_domain') $$);
SELECT try($$ kanon_create_publication('present', 'often', '{q}', 2, key => 'who', options => jsonb_build_object('privacy', jsonb_build_array(kanon_delta_presence('everybody', 0, 1))), model => 'full_domain') $$);
SELECT kanon_drop_publication(publication) FROM kanon_publications WHERE publication ~ 'population_test' ORDER BY publication;
DROP TABLE often, everybody;
-- NULL of the source and a blank cell are two things to a rule about a population, with a mark and without
CREATE TABLE with_null (q text);
INSERT INTO with_null VALUES ('a'), ('a'), ('b'), ('c'), (NULL), (NULL);
CREATE TABLE twice_as_many AS SELECT q FROM with_null, generate_series(1, 2);
SELECT shown, row_count, classes FROM kanon_subtree('with_null', 'with_null_out', '{q}', 2, scheme => 'sibling', method => 'optimal', mark => true,
    privacy => ARRAY[kanon_delta_presence('twice_as_many', 0, 1)]);
CREATE TABLE shared (q text);
INSERT INTO shared VALUES ('a'), ('a'), ('a'), ('a'), ('a'), (NULL), (NULL), (NULL);
CREATE TABLE shares_of (column_name text, value text, share float8);
INSERT INTO shares_of VALUES ('q', 'a', 0.5), ('q', NULL, 0.2);
SELECT shown, row_count FROM kanon_subtree('shared', 'shared_out', '{q}', 3, privacy => ARRAY[kanon_presence('shares_of', 378, 0.02, 0.3, 0.95)]);
SELECT pattern, classes FROM kanon_full_domain('shared', 'shared_out', '{q}', 3, replace => true, privacy => ARRAY[kanon_presence('shares_of', 378, 0.02, 0.3, 0.95)]);
-- where no patterns lead to classes that keep two rules, all rows are one class
CREATE TABLE three (q text, s text);
INSERT INTO three VALUES ('a', 'y'), ('b', 'y'), ('a', 'z');
CREATE TABLE six (q text);
INSERT INTO six VALUES ('a'), ('b'), ('a'), ('b'), ('b'), ('b');
SELECT pattern, classes, row_count FROM kanon_pattern_guided('three', 'three_out', '{q}', 2, keep => '{s}', allow_identifying => '{s}',
    privacy => ARRAY[kanon_k_map('six'), kanon_t_closeness('s', 0.3)]);
DROP SCHEMA population_test CASCADE;
