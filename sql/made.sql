-- tables of rows that are drawn by chance: kanon_alpha_beta, kanon_estimate, kanon_synthetic
SET client_min_messages = warning;
CREATE TABLE mk_people AS
SELECT (i * 7) % 40 AS age, CASE WHEN i % 3 = 0 THEN 'm' ELSE 'f' END AS sex, (ARRAY['a', 'b', NULL, 'c'])[1 + i % 4] AS ward
FROM generate_series(1, 60) i;
CREATE TABLE mk_wards (ward text, wing text);
INSERT INTO mk_wards VALUES ('a', 'x'), ('b', 'x'), ('b', 'x'), (NULL, 'y'), ('d', 'y'), ('e', 'y'), ('f', 'z'), ('g', 'z');
CREATE FUNCTION mk_domains() RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"age": {"from": 0, "to": 39}, "sex": ["f", "m", "x"], "ward": "mk_wards"}'::jsonb $$;

-- what comes out
SELECT measure, round(value::numeric, 6) AS value FROM kanon_alpha_beta('mk_people', 'mk_ab', '{age,sex,ward}', 0.1, 0.5, mk_domains())
WHERE measure NOT IN ('kept_rows', 'added_rows');
SELECT count(*) = count(DISTINCT (age, sex, ward)) AS once, bool_and(age BETWEEN 0 AND 39) AS ages, bool_and(sex IN ('f', 'm', 'x')) AS sexes,
       bool_and(ward IS NULL OR ward IN ('a', 'b', 'd', 'e', 'f', 'g')) AS wards FROM mk_ab;
-- a domain that is listed: NULL and truth values are values, too, and the rows are a larger share of fewer
CREATE TABLE mk_flags AS SELECT CASE WHEN i % 5 > 0 THEN i % 2 = 0 END AS flag, i % 3 AS n FROM generate_series(1, 60) i;
SELECT count(*) FROM kanon_alpha_beta('mk_flags', 'mk_flags_out', '{flag,n}', 0.1, 0.5, '{"flag": [true, false, null], "n": {"from": 0, "to": 2}}');
SELECT count(*) FROM kanon_alpha_beta('mk_flags', 'mk_flags_out', '{flag,n}', 0.1, 0.5, '{"flag": [true, false], "n": {"from": 0, "to": 2}}');
DROP TABLE mk_flags;

SELECT t.attname, format_type(t.atttypid, t.atttypmod) FROM pg_attribute t WHERE attrelid = 'mk_ab'::regclass AND attnum > 0 ORDER BY attnum;
SELECT obj_description('mk_ab'::regclass) LIKE 'kanon: alpha-beta, about how rows are drawn:%; alpha 0.727%, beta 0.0909%, domain 840;%' AS says;
SELECT model, method, k, note, mechanism - '{rows,alpha,beta}'::text[] AS mechanism, kept, options FROM kanon_usefulness WHERE target_oid = 'mk_ab'::regclass;
SELECT e.note FROM kanon_equivalence_classes e JOIN kanon_usefulness u USING (run) WHERE target_oid = 'mk_ab'::regclass;
-- counted again and again, estimates are right on average
CREATE TABLE mk_sums (a float8, b float8, c float8);
DO $$
BEGIN
    FOR i IN 1 .. 40 LOOP
        PERFORM kanon_alpha_beta('mk_people', 'mk_ab', '{age,sex,ward}', 0.1, 0.5, mk_domains(), replace => true);
        INSERT INTO mk_sums SELECT (kanon_estimate(count(*), 840, alpha, beta)).estimate, (kanon_estimate(count(*) FILTER (WHERE sex = 'f'), 280, alpha, beta)).estimate,
            (kanon_estimate(count(*) FILTER (WHERE sex = 'x'), 280, alpha, beta)).standard_error
        FROM mk_ab, (SELECT (mechanism ->> 'alpha')::float8 AS alpha, (mechanism ->> 'beta')::float8 AS beta FROM kanon_usefulness WHERE target_oid = 'mk_ab'::regclass) p GROUP BY alpha, beta;
    END LOOP;
END $$;
SELECT abs(avg(a) - (SELECT count(*) FROM (SELECT DISTINCT age, sex, ward FROM mk_people WHERE ward IS DISTINCT FROM 'c') d)) < 6 * 11.7 / sqrt(40) AS all_rows,
       abs(avg(b) - (SELECT count(*) FROM (SELECT DISTINCT age, ward FROM mk_people WHERE ward IS DISTINCT FROM 'c' AND sex = 'f') d)) < 6 * 8 / sqrt(40) AS women,
       stddev(a) BETWEEN 6 AND 18 AS noisy, max(c) < 15 AS error FROM mk_sums;
SELECT * FROM kanon_estimate(150, 1000, 0.5, 0.1);
SELECT * FROM kanon_estimate(NULL, 1000, 0.5, 0.1);
SELECT * FROM kanon_estimate(1, 1000, 0, 0.1);
SELECT * FROM kanon_estimate(1, 5e-324, 0.5, 0.0001);
SELECT * FROM kanon_estimate(9223372036854775807, 1e308, 0.5, 0.1);

SELECT measure, column_name, round(value::numeric, 3) AS value FROM kanon_synthetic('mk_people', 'mk_synth', '{age,sex,ward}', 3, 0.001, mk_domains(), rows => 200)
WHERE measure <> 'marginal_error';
SELECT count(*), bool_and(age BETWEEN 0 AND 39) AS ages, bool_and(sex IN ('f', 'm', 'x')) AS sexes, bool_and(ward IS NULL OR ward IN ('a', 'b', 'd', 'e', 'f', 'g')) AS wards FROM mk_synth;
SELECT model, note, mechanism, options FROM kanon_usefulness WHERE target_oid = 'mk_synth'::regclass;
-- with all but no noise the rows are those of the source, again and again
SELECT measure, column_name FROM kanon_synthetic('mk_people', NULL, '{sex}', 99, 0.9, '{"sex": ["m", "f"]}', dry_run => true);
SELECT bool_and(value < 0.6) FROM kanon_synthetic('mk_people', NULL, '{sex}', 99, 0.9, '{"sex": ["m", "f"]}', dry_run => true) WHERE measure = 'marginal_error';
-- and noise is what its own formula says: the fewer columns, the less of it
SELECT round(value::numeric, 3) FROM kanon_synthetic('mk_people', NULL, '{sex}', 2, 0.001, '{"sex": ["m", "f"]}', dry_run => true) WHERE measure = 'noise';
-- what the page says
SELECT s ->> 'says' FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(u.run) -> 'statements') s WHERE u.target_oid = 'mk_synth'::regclass AND s ->> 'about' IN ('columns', 'model', 'promise', 'method', 'release') AND s ->> 'says' NOT LIKE 'On %';
SELECT v ->> 'about' AS about, v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(u.run) -> 'verdicts') v WHERE u.target_oid = 'mk_synth'::regclass;
SELECT l ->> 'what' FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(u.run, compare => true) -> 'limits') l WHERE u.target_oid = 'mk_ab'::regclass;
SELECT length(kanon_report(u.run)) > 1000 AS page FROM kanon_usefulness u WHERE u.target_oid = 'mk_ab'::regclass;
-- the page has the domains among the parameters
SELECT o ->> 'option' AS option, o ->> 'value' AS value FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(u.run) -> 'options') o
WHERE u.target_oid = 'mk_synth'::regclass AND o ->> 'option' IN ('columns', 'domains', 'epsilon') ORDER BY 1;
SELECT kanon_report_data(u.run) -> 'front' ->> 'columns' AS columns FROM kanon_usefulness u WHERE u.target_oid = 'mk_synth'::regclass;

-- an empty source
CREATE TABLE mk_empty (a int);
SELECT measure, value FROM kanon_synthetic('mk_empty', 'mk_none', '{a}', 1, 0.01, '{"a": [1, 2]}') WHERE measure LIKE '%rows';
SELECT count(*) FROM mk_none;
SELECT count(*) FROM kanon_synthetic('mk_empty', 'mk_none', '{a}', 1, 0.01, '{"a": [1, 2]}', rows => 5, replace => true);
SELECT count(*) FROM mk_none;

-- what is refused
\set VERBOSITY terse
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age,sex,ward}', 0.01, 0.5, mk_domains());
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age,sex,ward}', 0.5, 0.5, mk_domains());
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age,sex,ward}', 0, 0.5, mk_domains());
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age,sex,ward}', 'NaN', 0.5, mk_domains());
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age,sex,ward}', 0.1, 1, mk_domains());
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age,sex,ward}', 0.1, NULL, mk_domains());
SELECT count(*) FROM kanon_alpha_beta('mk_people', NULL, '{age,sex,ward}', 0.1, 0.5, mk_domains());
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'mk_ab', '{age,sex,ward}', 0.1, 0.5, mk_domains());
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'mk_wards', '{age,sex,ward}', 0.1, 0.5, mk_domains(), replace => true);
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age,sex,ward}', 0.1, 0.5, NULL);
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{}', 0.1, 0.5, mk_domains());
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age,sex}', 0.1, 0.5, mk_domains());
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '{"age": 7}');
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '{"age": []}');
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '{"age": [[1]]}');
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '{"age": ["x"]}');
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '{"age": {"from": 1}}');
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '{"age": {"from": 3, "to": 1}}');
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '{"age": {"from": 0.5, "to": 1}}');
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '{"age": {"from": 0, "to": 1e15}}');
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '{"age": {"from": 0, "to": 1e300}}');
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '{"age": "mk_wards"}');
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '{"age": "mk_nothing"}');
SELECT count(*) FROM kanon_alpha_beta('mk_people', 'x', '{age}', 0.1, 0.5, '[1]');
CREATE TABLE mk_wide (a int, b int, c int);
SELECT count(*) FROM kanon_alpha_beta('mk_wide', 'x', '{a,b,c}', 0.1, 0.5, '{"a": {"from": 1, "to": 20000}, "b": {"from": 1, "to": 20000}, "c": {"from": 1, "to": 20000}}');
SELECT count(*) FROM kanon_alpha_beta('mk_wide', 'x', '{a,b}', 0.1, 0.5, '{"a": {"from": 1, "to": 200000}, "b": {"from": 1, "to": 200000}}');
SELECT count(*) FROM kanon_synthetic('mk_people', 'x', '{age}', 0, 0.5, '{"age": [1]}');
SELECT count(*) FROM kanon_synthetic('mk_people', 'x', '{age}', 1, 0, '{"age": [1]}');
SELECT count(*) FROM kanon_synthetic('mk_people', 'x', '{age}', 1, 1, '{"age": [1]}');
SELECT count(*) FROM kanon_synthetic('mk_people', 'x', '{age}', 'NaN', 0.5, '{"age": [1]}');
SELECT count(*) FROM kanon_synthetic('mk_people', 'x', '{age}', 1, 0.5, '{"age": [1]}', rows => 0);
SELECT count(*) FROM kanon_synthetic('mk_people', 'x', '{age}', 1, 0.5, '{"age": [1]}', rows => 9223372036854775807);
SELECT count(*) FROM kanon_synthetic('mk_wide', 'x', '{a,b}', 0.000001, 0.000000001, '{"a": {"from": 1, "to": 200000}, "b": {"from": 1, "to": 200000}}', rows => 1000000000);
-- to the end of what there is of numbers
CREATE TABLE mk_last AS SELECT 9223372036854775807 AS a;
SELECT value FROM kanon_synthetic('mk_last', 'mk_last_out', '{a}', 1, 0.5, '{"a": {"from": 9223372036854775806, "to": 9223372036854775807}}') WHERE measure = 'domain';
DROP TABLE mk_last, mk_last_out;
-- a relation of long values is not read beyond the memory that there is
CREATE SEQUENCE mk_seen;
CREATE VIEW mk_long AS SELECT repeat('x', 1000000) || nextval('mk_seen') AS ward FROM generate_series(1, 40);
SET kanon.max_memory = '16MB';
SELECT count(*) FROM kanon_synthetic('mk_people', 'x', '{ward}', 1, 0.5, '{"ward": "mk_long"}');
RESET kanon.max_memory;
SELECT last_value < 30 AS stopped FROM mk_seen;
DROP VIEW mk_long;
DROP SEQUENCE mk_seen;
SECURITY LABEL FOR kanon ON COLUMN mk_people.ward IS 'identifier';
SELECT count(*) FROM kanon_synthetic('mk_people', 'x', '{ward}', 1, 0.5, '{"ward": ["a"]}');
SELECT count(*) > 3 FROM kanon_synthetic('mk_people', 'mk_ward', '{ward}', 1, 0.5, '{"ward": ["a"]}', allow_identifying => '{ward}');
\set VERBOSITY default

DROP TABLE mk_people, mk_wards, mk_ab, mk_sums, mk_synth, mk_empty, mk_none, mk_wide, mk_ward;
DROP FUNCTION mk_domains;
