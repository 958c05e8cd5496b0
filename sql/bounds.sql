/* How many rows of a published table fulfil a condition: bounds that hold for what the source has. */
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS kanon;
CREATE TABLE of_all AS SELECT i AS nr, nullif(20 + i * 7 % 41, 33) AS age, '481' || lpad((i % 17)::text, 2, '0') AS zip, (ARRAY['f', 'm', 'm', NULL])[1 + i % 4] AS sex,
    1000.5 + i * 13 % 50 AS pay, date '2001-01-01' + i * 11 % 300 AS born, 'ill ' || i % 5 AS ill FROM generate_series(1, 400) AS i;
CREATE TABLE age_words AS SELECT DISTINCT age AS value, age / 10 || '0s' AS decade, CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS half FROM of_all WHERE age IS NOT NULL;

SELECT FROM kanon_pattern_guided('of_all', 'by_blanks', '{age,zip,sex}', 5, keep => '{ill}');
SELECT FROM kanon_pattern_guided('of_all', 'by_ranges', '{age,zip,sex,born}', 5, keep => '{ill}', hierarchies => '{"age": {"interval": [5, 10]}, "zip": {"prefix": [4, 3]}, "born": {"date": ["month", "year"]}}');
SELECT FROM kanon_cluster('of_all', 'by_sets', '{age,zip,sex,pay}', 5, keep => '{ill}', show => 'range,set,set,range');
SELECT FROM kanon_pattern_guided('of_all', 'by_words', '{age,sex}', 5, keep => '{ill}', hierarchies => '{"age": "age_words"}');
SELECT jsonb_build_object('age', jsonb_object_agg(label, values)) AS labels FROM (
    SELECT label, jsonb_agg(value ORDER BY value) AS values FROM age_words, unnest(ARRAY[decade, half]) AS label GROUP BY 1) AS l \gset

-- every condition: what the source has lies between the bounds, and so does what is expected
CREATE TABLE conditions AS
SELECT format('{"age": {"from": %s, "to": %s}}', a, a + w)::jsonb AS condition, format('age BETWEEN %s AND %s', a, a + w) AS clause FROM generate_series(18, 60, 7) AS a, unnest('{0,3,12}'::int[]) AS w
UNION ALL SELECT format('{"zip": ["48103", "481%s"]}', z)::jsonb, format('zip IN (''48103'', ''481%s'')', z) FROM unnest('{01,11,16,99}'::text[]) AS z
UNION ALL SELECT '{"age": {"from": 30}, "sex": "f"}', 'age >= 30 AND sex = ''f'''
UNION ALL SELECT '{"age": [22, 24, 25, 41], "sex": ["m", "f"], "ill": "ill 2"}', 'age IN (22, 24, 25, 41) AND sex IN (''f'', ''m'') AND ill = ''ill 2'''
UNION ALL SELECT '{"born": {"from": "2001-02-10", "to": "2001-05-03"}, "age": {"to": 40}}', 'born BETWEEN ''2001-02-10'' AND ''2001-05-03'' AND age <= 40'
UNION ALL SELECT '{"pay": {"from": 1010, "to": 1030.5}}', 'pay BETWEEN 1010 AND 1030.5'
UNION ALL SELECT '{"pay": [1010.5, 1011.50]}', 'pay IN (1010.5, 1011.5)'
UNION ALL SELECT '{"sex": []}', 'false';
CREATE FUNCTION in_source(clause text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN EXECUTE 'SELECT count(*) FROM of_all WHERE ' || clause INTO n; RETURN n; END $$;
CREATE FUNCTION in_table(relation regclass, condition jsonb, labels jsonb) RETURNS TABLE (at_least bigint, at_most bigint, expected float8) LANGUAGE plpgsql AS $$
BEGIN RETURN QUERY SELECT b.at_least, b.at_most, b.expected FROM kanon_estimate_bounds(relation, condition, labels) AS b;
EXCEPTION WHEN undefined_column THEN NULL; END $$;
SELECT t, count(*) AS conditions, count(*) FILTER (WHERE s.n BETWEEN b.at_least AND b.at_most) AS hold, count(*) FILTER (WHERE b.expected BETWEEN b.at_least AND b.at_most) AS between,
       count(*) FILTER (WHERE b.at_least < b.at_most) AS open, round(avg(abs(b.expected - s.n))) < round(avg(b.at_most - b.at_least) / 2) AS better
FROM unnest('{by_blanks,by_ranges,by_sets,by_words}'::regclass[]) AS t, conditions AS c, in_source(c.clause) AS s (n), in_table(t, c.condition, CASE WHEN t = 'by_words'::regclass THEN :'labels'::jsonb END) AS b
GROUP BY t ORDER BY t;

-- by hand: a range of 5 of which 3 values are asked for, a set of 3, an empty cell, a label, a text with stars
CREATE TABLE by_hand (age int4range, zip text, city text[], word text);
INSERT INTO by_hand VALUES ('[30,35)', '48101', '{Ulm,Bonn,Kiel}', 'young'), ('[30,31)', '4810*', '{Ulm}', '25'), (NULL, '4820*', NULL, NULL), ('[40,50)', NULL, '{Bonn,NULL}', 'old');
COMMENT ON COLUMN by_hand.zip IS 'kanon: as it was, the first 4 characters or NULL: suppressed, or missing in the source';
COMMENT ON COLUMN by_hand.word IS 'kanon: as it was, half or NULL: suppressed, or missing in the source';
SELECT at_least, at_most, round(expected::numeric, 4) AS expected, row_count FROM kanon_estimate_bounds('by_hand', '{"age": {"from": 30, "to": 32}}');
SELECT at_least, at_most, round(expected::numeric, 4) AS expected FROM kanon_estimate_bounds('by_hand', '{"age": [30, 31, 31, 99]}');
SELECT at_least, at_most, round(expected::numeric, 4) AS expected FROM kanon_estimate_bounds('by_hand', '{"city": ["Ulm", "Bonn"]}');
SELECT at_least, at_most, round(expected::numeric, 4) AS expected FROM kanon_estimate_bounds('by_hand', '{"zip": "48101"}');
SELECT at_least, at_most, round(expected::numeric, 4) AS expected FROM kanon_estimate_bounds('by_hand', '{"word": {"to": 30}}', '{"word": {"young": [20, 29, 39], "old": [40, 50]}}');
SELECT at_least, at_most, round(expected::numeric, 4) AS expected FROM kanon_estimate_bounds('by_hand', '{"age": {"from": 30, "to": 32}, "city": "Ulm"}');
SELECT assumption FROM kanon_estimate_bounds('by_hand', '{"city": "Ulm"}');

-- what cannot be answered
\set VERBOSITY terse
SELECT FROM kanon_estimate_bounds('by_hand', '{"word": "25"}');
SELECT FROM kanon_estimate_bounds('by_hand', '{"word": "25"}', '[]');
SELECT FROM kanon_estimate_bounds('by_hand', '{"word": "25"}', '{"word": {"young": 7}}');
SELECT FROM kanon_estimate_bounds('by_hand', '{"nothing": 1}');
SELECT FROM kanon_estimate_bounds('by_hand', '{}');
SELECT FROM kanon_estimate_bounds('by_hand', '[1]');
SELECT FROM kanon_estimate_bounds('by_hand', NULL);
SELECT FROM kanon_estimate_bounds(NULL, '{"age": 1}');
SELECT FROM kanon_estimate_bounds('by_hand', '{"age": null}');
SELECT FROM kanon_estimate_bounds('by_hand', '{"age": {"above": 3}}');
SELECT FROM kanon_estimate_bounds('by_hand', '{"city": {"from": "Ulm"}}');
SELECT FROM kanon_estimate_bounds('by_hand', '{"age": [[1]]}');
CREATE TYPE pair AS (a int, b int);
CREATE TABLE of_pairs (p pair);
SELECT FROM kanon_estimate_bounds('of_pairs', '{"p": "(1,2)"}');
\set VERBOSITY default
DROP TABLE of_pairs, by_hand, of_all, age_words, by_blanks, by_ranges, by_sets, by_words, conditions;
DROP TYPE pair;
DROP FUNCTION in_source, in_table;
