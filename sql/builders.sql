-- hierarchies that are worked out from the values that are there
CREATE SCHEMA builder_test;
SET search_path = builder_test, public;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

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

CREATE TABLE visit AS
SELECT i AS id, date '2020-01-01' + (i * 37 % 900) AS visited, timestamptz '2020-01-01 00:00+00' + i * 37 % 900 * interval '7 hours' AS at,
    lpad((10000 + i * 7919 % 90000)::text, 5, '0') AS zip, (18 + i * 31 % 70)::smallint AS age, (i * 997 % 5000)::numeric / 4 AS income,
    (i * 991 % 4000) / 8.0::float8 AS weight, ('10.' || i % 4 || '.' || i % 200 || '.' || i % 250)::inet AS host, i * 1000003::bigint AS number,
    'd' || i % 7 AS diagnosis
FROM generate_series(1, 1200) i;
INSERT INTO visit VALUES (0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'd0'), (-1, 'infinity', '-infinity', '', -5, 'NaN', 'Infinity', '::1', -1, 'd1');

-- ---- a builder in a call is what its table is ----

CREATE TABLE pair (nr int, column_name name, builder jsonb, made text);
INSERT INTO pair VALUES
    (1, 'visited', '{"date": ["month", "quarter", "year"]}', $$kanon_hierarchy_date('visit', 'visited', 'h', '{month,quarter,year}')$$),
    (2, 'at', '{"date": ["hour", "day", "month"]}', $$kanon_hierarchy_date('visit', 'at', 'h', '{hour,day,month}')$$),
    (3, 'visited', '{"interval": [7, 28], "origin": 4}', $$kanon_hierarchy_interval('visit', 'visited', 'h', '{7,28}', 4)$$),
    (4, 'age', '{"interval": [5, 10, 20]}', $$kanon_hierarchy_interval('visit', 'age', 'h', '{5,10,20}')$$),
    (5, 'income', '{"interval": [0.5, 100]}', $$kanon_hierarchy_interval('visit', 'income', 'h', '{0.5,100}')$$),
    (6, 'weight', '{"interval": [10, 50]}', $$kanon_hierarchy_interval('visit', 'weight', 'h', '{10,50}')$$),
    (7, 'number', '{"interval": [1e6, 1e8]}', $$kanon_hierarchy_interval('visit', 'number', 'h', '{1e6,1e8}')$$),
    (8, 'zip', '{"prefix": [3, 1]}', $$kanon_hierarchy_prefix('visit', 'zip', 'h', '{3,1}')$$),
    (9, 'host', '{"prefix": [24, 16]}', $$kanon_hierarchy_prefix('visit', 'host', 'h', '{24,16}')$$),
    (10, 'income', '{"quantile": [16, 4]}', $$kanon_hierarchy_quantile('visit', 'income', 'h', '{16,4}')$$),
    (11, 'zip', '{"quantile": [8, 2]}', $$kanon_hierarchy_quantile('visit', 'zip', 'h', '{8,2}')$$),
    (12, 'weight', '{"quantile": [6, 3]}', $$kanon_hierarchy_quantile('visit', 'weight', 'h', '{6,3}')$$);
-- differ: rows that one of two releases has and the other one has not
CREATE FUNCTION differ(pair pair, call text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE 'SELECT FROM ' || pair.made;
    EXECUTE format(call, 'of_table', pair.column_name, jsonb_build_object(pair.column_name, 'h'));
    EXECUTE format(call, 'of_builder', pair.column_name, jsonb_build_object(pair.column_name, pair.builder));
    SELECT count(*) INTO n FROM ((TABLE of_table EXCEPT ALL TABLE of_builder) UNION ALL (TABLE of_builder EXCEPT ALL TABLE of_table)) AS d;
    IF (SELECT count(*) FROM of_builder) < 900 OR (SELECT count(*) FROM (SELECT 1 FROM of_builder b GROUP BY b) AS g) < 3 THEN
        RAISE EXCEPTION 'nothing is compared';
    END IF;
    DROP TABLE h, of_table, of_builder;
    RETURN n;
END $$;
SELECT nr, differ(pair, $$SELECT FROM kanon_full_domain('visit', %L, ARRAY[%L, 'diagnosis'], 4, hierarchies => %L, suppression_limit => 0.2)$$) FROM pair ORDER BY nr;
SELECT nr, differ(pair, $$SELECT FROM kanon_pattern_guided('visit', %L, ARRAY[%L, 'diagnosis'], 4, hierarchies => %L)$$) FROM pair ORDER BY nr;
SELECT nr, differ(pair, $$SELECT FROM kanon_cluster('visit', %L, ARRAY[%L, 'diagnosis'], 4, method => 'mondrian', hierarchies => %L, level_cost => 'ncp')$$)
FROM pair WHERE nr IN (1, 4, 8, 10) ORDER BY nr;

-- levels stay when all values agree in the last one, so that patterns mean the same every day
CREATE VIEW one_year AS SELECT date '2021-01-01' + i % 300 AS day, i % 3 AS b FROM generate_series(1, 900) i;
SELECT kanon_hierarchy_date('one_year', 'day', 'day_h', '{month,year}');
SELECT FROM kanon_pattern_guided('one_year', 'by_table', '{day,b}', 5, patterns => '{2-}', hierarchies => '{"day": "day_h"}');
SELECT DISTINCT day FROM by_table;
SELECT cost FROM kanon_pattern_guided('one_year', 'years', '{day,b}', 5, patterns => '{2-}', hierarchies => '{"day": {"date": ["month", "year"]}}');
SELECT day, b, count(*) FROM years GROUP BY 1, 2 ORDER BY 1, 2;
-- an empty table, and one of NULLs
CREATE TABLE hollow (a int, b text, c date);
SELECT cost FROM kanon_pattern_guided('hollow', 'hollow_out', '{a,b,c}', 2,
    hierarchies => '{"a": {"quantile": [4]}, "b": {"prefix": [1]}, "c": {"date": ["year"]}}');
INSERT INTO hollow SELECT FROM generate_series(1, 5);
SELECT cost FROM kanon_pattern_guided('hollow', 'hollow_out', '{a,b,c}', 2, replace => true,
    hierarchies => '{"a": {"quantile": [4]}, "b": {"prefix": [1]}, "c": {"date": ["year"]}}');

-- ---- wherever hierarchies are taken ----

SELECT round(value::numeric, 6) AS table_says FROM kanon_hierarchy_interval('visit', 'income', 'income_h', '{100,500}'),
    kanon_risk('visit', '{diagnosis}', '{income}', hierarchies => '{"income": "income_h"}') WHERE measure = 't_hierarchical';
SELECT round(value::numeric, 6) AS builder_says FROM kanon_risk('visit', '{diagnosis}', '{income}', hierarchies => '{"income": {"interval": [100, 500]}}')
WHERE measure = 't_hierarchical';
SELECT kanon_t_closeness('income', 0.4, builder => '{"interval": [100, 500]}');
SELECT cost FROM kanon_pattern_guided('visit', 'close', '{age,diagnosis}', 4, keep => '{income}', allow_identifying => '{income}',
    privacy => ARRAY[kanon_t_closeness('income', 0.4, builder => '{"interval": [100, 500]}')]);
SELECT cost FROM kanon_pattern_guided('visit', 'close_by_table', '{age,diagnosis}', 4, keep => '{income}', allow_identifying => '{income}',
    privacy => ARRAY[kanon_t_closeness('income', 0.4, hierarchy => 'income_h')]);
SELECT options -> 'privacy' AS privacy FROM kanon_usefulness ORDER BY run DESC LIMIT 2;
SELECT k, cost FROM kanon_frontier('visit', '{age,zip}', '{2,9,40}', hierarchies => '{"zip": {"prefix": [1]}, "age": {"interval": [10, 40]}}');
-- groups are the source's, in a population, too
CREATE VIEW everybody AS SELECT age, diagnosis FROM visit UNION ALL SELECT (age + 1)::smallint, diagnosis FROM visit WHERE age > 30;
SELECT FROM kanon_full_domain('visit', 'mapped', '{age,diagnosis}', 6, hierarchies => '{"age": {"quantile": [8, 2]}}',
    suppression_limit => 0.1, privacy => ARRAY[kanon_k_map('everybody')]);
SELECT count(*) AS classes, min(m) >= 6 AS kept FROM (SELECT (SELECT count(*) FROM everybody e WHERE e.diagnosis = d AND (r @> e.age::int OR (r IS NULL AND e.age IS NULL))) AS m
    FROM (SELECT DISTINCT age AS r, diagnosis AS d FROM mapped WHERE diagnosis IS NOT NULL) AS c) AS q;

-- ---- a night with new values, under another search_path ----

SELECT kanon_hierarchy_prefix('visit', 'zip', 'zip_h', '{2}');
SELECT kanon_create_publication('nightly', 'visit', '{visited,zip,age}', 4,
    '{"hierarchies": {"visited": {"date": ["month", "year"]}, "zip": "zip_h", "age": {"interval": [10]}}, "keep": ["diagnosis"]}');
UPDATE builder_test.nightly_history SET digest = NULL; -- as if something had changed
SELECT status, row_count FROM kanon_refresh('nightly');
SELECT options -> 'hierarchies' AS hierarchies FROM kanon_publications WHERE publication = 'builder_test.nightly';
INSERT INTO visit SELECT 2000 + i, '2031-07-01', NULL, (SELECT max(zip) FROM visit), 99 FROM generate_series(1, 9) i;
SET search_path = public;
UPDATE builder_test.nightly_history SET digest = NULL; -- as if something had changed
SELECT status, row_count FROM kanon_refresh('builder_test.nightly');
SELECT visited, zip, age, count(*) FROM builder_test.nightly WHERE visited && '[2031-01-01,2032-01-01)' GROUP BY 1, 2, 3;
SET search_path = builder_test, public;
SELECT kanon_drop_publication('nightly');
-- what is recorded names its relations with their schema: other ks can be tried from anywhere
SELECT cost FROM kanon_pattern_guided('visit', 'other_path', '{zip,diagnosis}', 4, hierarchies => '{"zip": "zip_h"}');
SET search_path = public;
SELECT options -> 'hierarchies' AS hierarchies, kanon_report(run, frontier => '{2,4}') LIKE '%Share of empty cells by k%' AS reported
FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SET search_path = builder_test, public;

-- ---- values without a line, and branches of different depth ----

CREATE TABLE care (ward text, age int);
INSERT INTO care SELECT (ARRAY['icu', 'er', 'eye', 'new', 'odd', NULL])[1 + i % 6], i % 3 FROM generate_series(1, 60) i;
CREATE TABLE ward_h (ward text, unit text, house text);
INSERT INTO ward_h VALUES ('icu', 'acute', 'north'), ('er', 'acute', 'north'), ('eye', 'eyes', NULL);
SELECT try($$ kanon_full_domain('care', 'out_care', '{ward,age}', 5, hierarchies => '{"ward": "ward_h"}') $$);
SELECT try($$ kanon_full_domain('care', 'out_care', '{ward,age}', 5, hierarchies => '{"ward": {"table": "ward_h", "missing": "error"}}') $$);
-- a value without a line is itself, or nothing
SELECT FROM kanon_pattern_guided('care', 'out_care', '{ward,age}', 5, patterns => '{1-}', mark => true, hierarchies => '{"ward": {"table": "ward_h", "missing": "suppress"}}');
SELECT ward, kanon_pattern, count(*) FROM out_care GROUP BY 1, 2 ORDER BY 1, 2;
-- the last node stands for the levels above
SELECT FROM kanon_pattern_guided('care', 'out_care', '{ward,age}', 5, patterns => '{2-}', replace => true, hierarchies => '{"ward": {"table": "ward_h", "missing": "suppress"}}');
SELECT ward, count(*) FROM out_care GROUP BY 1 ORDER BY 1;
SELECT FROM kanon_full_domain('care', 'out_care', '{ward,age}', 5, replace => true, hierarchies => '{"ward": {"table": "ward_h", "missing": "suppress"}}');
SELECT ward, count(*) FROM out_care GROUP BY 1 ORDER BY 1;
SELECT fault, fault_count, shown FROM kanon_check_hierarchy('ward_h', 'care', 'ward', true);
-- a last level in which all lines agree is suppression, one that some lines do not reach is not
UPDATE ward_h SET house = 'north';
SELECT FROM kanon_pattern_guided('care', 'out_care', '{ward,age}', 5, patterns => '{2-}', replace => true, hierarchies => '{"ward": {"table": "ward_h", "missing": "suppress"}}');
SELECT ward, count(*) FROM out_care GROUP BY 1 ORDER BY 1;
UPDATE ward_h SET house = NULL;
SELECT FROM kanon_pattern_guided('care', 'out_care', '{ward,age}', 5, patterns => '{1-}', replace => true, hierarchies => '{"ward": {"table": "ward_h", "missing": "suppress"}}');
SELECT ward, count(*) FROM out_care GROUP BY 1 ORDER BY 1;
-- ranges, too; and a gap is none that can be filled
CREATE TABLE age_h (age int, few int4range, many int4range);
INSERT INTO age_h VALUES (0, '[0,2)', '[0,3)'), (1, '[0,2)', '[0,3)'), (2, '[2,9)', NULL);
SELECT FROM kanon_pattern_guided('care', 'out_care', '{ward,age}', 5, patterns => '{-2}', replace => true, hierarchies => '{"age": "age_h"}');
SELECT age, count(*) FROM out_care GROUP BY 1 ORDER BY 1;
UPDATE age_h SET few = NULL, many = '[2,9)' WHERE age = 2;
SELECT try($$ kanon_full_domain('care', 'out_care', '{ward,age}', 5, replace => true, hierarchies => '{"age": "age_h"}') $$);
UPDATE age_h SET few = NULL, many = NULL WHERE age = 2;
SELECT try($$ kanon_full_domain('care', 'out_care', '{ward,age}', 5, replace => true, hierarchies => '{"age": "age_h"}') $$);

-- ---- ready ones ----

-- what the levels of a column's values are: each value stands for two rows, and a pattern asks for one level
CREATE FUNCTION shows(builder jsonb, type text, "values" text[], level int DEFAULT 1) RETURNS TABLE (value text, shown text) LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS of_values, of_level;
    EXECUTE format('CREATE TABLE of_values AS SELECT v::%s AS v, v AS t FROM unnest($1) AS v, generate_series(1, 2)', type) USING "values";
    PERFORM FROM kanon_pattern_guided('of_values', 'of_level', '{v,t}', 2, patterns => ARRAY[level || '-'], hierarchies => jsonb_build_object('v', builder));
    RETURN QUERY SELECT DISTINCT l.t, l.v::text FROM of_level AS l ORDER BY 1;
END $$;
SET client_min_messages = warning;
SELECT * FROM shows('{"age": true}', 'int', '{-1,0,4,5,37,89,90,113}');
SELECT * FROM shows('{"age": true}', 'int', '{-1,0,4,5,37,89,90,113}', 2);
SELECT * FROM shows('{"age": true}', 'numeric', '{-1,0.5,4.9,5,37,89.99,90,113,NaN}', 3);
SELECT * FROM shows('{"age": true}', 'float8', '{-1,0.5,4.9,5,37,89.99,90,113,NaN}', 3);
-- the seventeen of the list; what is no code is not shown
SELECT * FROM shows('{"hipaa_zip3": true}', 'text', '{10001,03601,036,89310-1234,893101234,12,1234,x,12345-67,00501}');
SELECT * FROM shows('{"hipaa_zip3": true}', 'int', '{10001,3601,501,-3,123456,893101234}');
SELECT count(*) FROM shows('{"hipaa_zip3": true}', 'text', (SELECT array_agg(lpad(i::text, 3, '0')) FROM generate_series(1, 999) i)) WHERE shown = '000';
-- or by how many people live there
CREATE TABLE people_of (zip text, people int, note text);
INSERT INTO people_of VALUES ('10001', 15000), ('10002', 5000), ('10101', 15000), ('10102', 5001), ('036', 99999), ('10201', NULL), ('x', 99999);
SELECT * FROM shows('{"hipaa_zip3": true, "population": "people_of"}', 'text', '{10001,10150,10250,03601}');
SELECT * FROM shows('{"icd10": true}', 'text', '{E11.9,e119,E11.-,C4A.0,S52.501A,H59,H60,D49.9,D50,U07.1,11,E1,"E11 9",""}');
SELECT * FROM shows('{"icd10": true}', 'text', '{E11.9,C4A.0,D3A.0,S52.501A,T98,H59,H60,D49.9,D50,U07.1,W01,E1}', 2);
SELECT * FROM shows('{"icd10": ["subcategory", "chapter"]}', 'char(9)', '{E11.9,E1165,E11,S52.501A,E11.-}');
SELECT count(*), count(shown) FROM shows('{"icd10": ["chapter"]}', 'text', (SELECT array_agg(chr(65 + i / 100) || lpad((i % 100)::text, 2, '0')) FROM generate_series(0, 2599) i));
SELECT * FROM shows('{"iso3166": true}', 'text', '{DE,deu,US,BRA,NZL,AQ,TW,XX,D,DEUT,12,"D E",A}');
SELECT * FROM shows('{"iso3166": ["continent"]}', 'char(3)', '{DE,DEU,US,BRA,NZL,AQ,TW,XX}');
-- all there are, and no others
SELECT length(value), count(shown), count(DISTINCT shown) FROM shows('{"iso3166": true}', 'text', (SELECT array_agg(chr(65 + i / 26) || chr(65 + i % 26)) FROM generate_series(0, 675) i)) GROUP BY 1;
SELECT length(value), count(shown), count(DISTINCT shown) FROM shows('{"iso3166": true}', 'text', (SELECT array_agg(chr(65 + i / 676) || chr(65 + i / 26 % 26) || chr(65 + i % 26)) FROM generate_series(0, 17575) i)) GROUP BY 1;
SELECT * FROM shows('{"calendar": true}', 'date', '{2020-02-29,2020-12-31}', 2);
SELECT * FROM shows('{"calendar": true}', 'timestamp', '{2020-02-29 12:00,2020-12-31 23:00}', 2);
SELECT * FROM shows('{"calendar": ["week"]}', 'date', '{2020-02-29,2020-12-31}');
RESET client_min_messages;
SELECT try($$ kanon_pattern_guided('visit', 'x', '{age}', 2, hierarchies => '{"age": {"age": true, "missing": "error"}}') $$);

-- ---- what is wrong with a builder ----

\pset format unaligned
\pset tuples_only on
CREATE FUNCTION wrong(hierarchies text) RETURNS text LANGUAGE sql AS $$
    SELECT hierarchies || E'\n' || try(format($c$ kanon_pattern_guided('visit', 'x', '{visited,zip,age,income,diagnosis}', 2, hierarchies => %L) $c$, hierarchies)) $$;
SELECT wrong('{"zip": 3}');
SELECT wrong('{"zip": ["prefix"]}');
SELECT wrong('{"zip": null}');
SELECT wrong('{"zip": {}}');
SELECT wrong('{"zip": {"prefx": [3]}}');
SELECT wrong('{"zip": {"something": [3]}}');
SELECT wrong('{"zip": {"prefix": [3], "quantile": [2]}}');
SELECT wrong('{"zip": {"prefix": [3], "origin": 2}}');
SELECT wrong('{"zip": {"prefix": [3], "missign": "error"}}');
SELECT wrong('{"zip": {"prefix": "3"}}');
SELECT wrong('{"zip": {"prefix": [3, "1"]}}');
SELECT wrong('{"zip": {"prefix": [3, 1.5]}}');
SELECT wrong('{"zip": {"prefix": [1e99]}}');
SELECT wrong('{"zip": {"prefix": []}}');
SELECT wrong('{"zip": {"prefix": [1, 3]}}');
SELECT wrong('{"zip": {"prefix": [0]}}');
SELECT wrong('{"zip": {"prefix": ['||(SELECT string_agg(i::text, ', ' ORDER BY i DESC) FROM generate_series(1, 33) i)||']}}');
SELECT wrong('{"zip": {"interval": [5]}}');
SELECT wrong('{"visited": {"prefix": [5]}}');
SELECT wrong('{"age": {"date": ["year"]}}');
SELECT wrong('{"visited": {"date": ["yaer"]}}');
SELECT wrong('{"visited": {"date": ["hour"]}}');
SELECT wrong('{"visited": {"date": [1]}}');
SELECT wrong('{"visited": {"date": ["year", "month"]}}');
SELECT wrong('{"age": {"interval": [5, 7]}}');
SELECT wrong('{"age": {"interval": [0.5]}}');
SELECT wrong('{"age": {"interval": [-1]}}');
SELECT wrong('{"age": {"interval": [5], "origin": "a"}}');
SELECT wrong('{"age": {"quantile": [1]}}');
SELECT wrong('{"age": {"quantile": [8, 3]}}');
SELECT wrong('{"age": {"table": 5}}');
SELECT wrong('{"age": {"table": "nope"}}');
SELECT wrong('{"age": {"table": "visit", "missing": "supress"}}');
SELECT wrong('{"age": {"table": "visit", "missing": true}}');
SELECT wrong('{"age": {"age": false}}');
SELECT wrong('{"visited": {"age": true}}');
SELECT wrong('{"age": {"prefix": true}}');
SELECT wrong('{"income": {"hipaa_zip3": true}}');
SELECT wrong('{"zip": {"hipaa_zip3": [3]}}');
SELECT wrong('{"zip": {"hipaa_zip3": true, "population": "people"}}');
SELECT wrong('{"zip": {"hipaa_zip3": true, "population": "ward_h"}}');
SELECT wrong('{"zip": {"hipaa_zip3": true, "populatoin": "people_of"}}');
SELECT wrong('{"age": {"icd10": true}}');
SELECT wrong('{"zip": {"icd10": ["chapter", "category"]}}');
SELECT wrong('{"zip": {"icd10": ["categroy"]}}');
SELECT wrong('{"zip": {"iso3166": ["world"]}}');
SELECT wrong('{"zip": {"calendar": true}}');
SELECT wrong('{"nope": {"prefix": [3]}}');
SELECT try($$ kanon_t_closeness('income', 0.4, 'hierarchical', 'income_h', '{"interval": [100]}') $$);
SELECT try($$ kanon_t_closeness('income', 0.4, 'ordered', builder => '{"interval": [100]}') $$);
SELECT try($$ kanon_risk('visit', '{diagnosis}', '{income}', hierarchies => '{"income": {"prefix": [1]}}') $$);
\pset format aligned
\pset tuples_only off

-- more than nine levels: letters
SELECT string_agg(p, '' ORDER BY nr) FROM kanon_patterns('{a}', max_level => '{32}') WITH ORDINALITY AS p (p, nr);
SELECT kanon_describe('W9A*-', '{a,b,c,d,e}');
CREATE TABLE powers AS SELECT i * i % 5003 AS v, i % 2 AS w FROM generate_series(1, 300) i;
SELECT * FROM kanon_pattern_guided('powers', 'high', '{v,w}', 5, patterns => '{7-,A-,C-,**}', mark => true,
    hierarchies => '{"v": {"interval": [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]}}');
SELECT kanon_pattern, count(*), count(DISTINCT (v, w)), min(upper(v) - lower(v)), max(upper(v) - lower(v)) FROM high GROUP BY 1 ORDER BY 1;
SELECT * FROM kanon_check('high', '{v,w}');
SELECT subject FROM kanon_explain('powers', '{v,w}', 5, patterns => '{A-,**}', hierarchies => '{"v": {"interval": [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]}}') WHERE aspect = 'pattern';
SELECT kanon_pattern_guided('powers', 'higher', '{v,w}', 5, patterns => '{D-}', hierarchies => '{"v": {"interval": [2, 4]}}');
SELECT kanon_pattern_guided('powers', 'higher', '{v,w}', 5, patterns => '{X-}', hierarchies => '{"v": {"interval": [2, 4]}}');

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA builder_test CASCADE;
