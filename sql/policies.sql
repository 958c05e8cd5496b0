-- policies: their points, looked up in the record of a run
CREATE SCHEMA policy_test;
SET search_path = policy_test, public;
SET client_min_messages = warning;
CREATE TABLE visits AS SELECT i % 300 AS patient_id, 40 + i * 7 % 55 AS age, lpad((10000 + i % 40 * 1300)::text, 5, '0') AS zip, date '2020-01-01' + i * 3 % 900 AS visit_date, (ARRAY['f', 'm'])[1 + i % 2] AS sex,
    (ARRAY['Asthma', 'Flu', 'Migraine'])[1 + i / 7 % 3] AS diagnosis, 'town ' || i % 4 AS town, i % 90 AS cost FROM generate_series(1, 2000) i;
CREATE FUNCTION check_last(policy text) RETURNS TABLE (point text, verdict text, says text) LANGUAGE sql AS $$ SELECT point, verdict, says FROM kanon_check_policy((SELECT max(run) FROM kanon_usefulness), policy) $$;
SELECT policy, jsonb_array_length(points) AS points, built_in FROM kanon_policies ORDER BY policy;
-- Safe Harbor: kept, and left in each of its points
SELECT FROM kanon_pattern_guided('visits', 'safe', '{age,sex,zip,visit_date}', 5, keep => '{diagnosis}', patterns => (SELECT array_agg(a || s || z || d) FROM unnest('{1,2,3,*}'::text[]) a, unnest('{-,*}'::text[]) s, unnest('{1,*}'::text[]) z, unnest('{1,*}'::text[]) d),
    hierarchies => '{"age": {"age": true}, "zip": {"hipaa_zip3": true}, "visit_date": {"date": ["year"]}}', replace => true);
SELECT * FROM check_last('hipaa_safe_harbor');
SELECT FROM kanon_pattern_guided('visits', 'safe', '{age,sex,zip,visit_date}', 5, keep => '{town}', hierarchies => '{"age": {"interval": [5]}, "zip": {"prefix": [3]}, "visit_date": {"date": ["month", "year"]}}', replace => true);
SELECT * FROM check_last('hipaa_safe_harbor');
SELECT FROM kanon_full_domain('visits', 'safe', '{age,sex,zip}', 5, keep => '{visit_date}', mask => '{"visit_date": {"constant": null}}', hierarchies => '{"age": {"age": true}, "zip": {"hipaa_zip3": true}}', replace => true);
SELECT * FROM check_last('hipaa_safe_harbor');
-- numbers, persons, inference, pseudonyms
SELECT FROM kanon_pattern_guided('visits', 'safe', '{age,sex}', 11, keep => '{diagnosis}', privacy => ARRAY[kanon_subject('patient_id')], replace => true);
SELECT p.policy, c.* FROM unnest('{ema_0070,health_canada,gdpr_wp216,small_numbers_5,small_numbers_10,school_10}'::text[]) AS p (policy), check_last(p.policy) c;
SELECT FROM kanon_pattern_guided('visits', 'safe', '{age,sex}', 2, keep => '{diagnosis,cost}', allow_identifying => '{cost}', replace => true);
SELECT p.policy, c.* FROM unnest('{ema_0070,gdpr_wp216,small_numbers_5}'::text[]) AS p (policy), check_last(p.policy) c;
-- the page has the points of a policy that is named for it
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM kanon_report_data((SELECT max(run) FROM kanon_usefulness), metadata => '{"policy": "small_numbers_5"}') d, jsonb_array_elements(d -> 'verdicts') v WHERE v ->> 'about' = 'policy';
-- one's own; what is not there
SELECT kanon_create_policy('our hospital', '[{"point": "least class", "asks": "k", "least": 8}, {"point": "odd", "asks": "nothing"}]', 'rules of our hospital');
SELECT * FROM check_last('our hospital');
SELECT * FROM check_last('nobody''s');
SELECT point, verdict, says FROM kanon_check_policy(-1, 'ema_0070');
SELECT kanon_create_policy('our hospital', '[]', 'again');
SELECT kanon_create_policy('no list', '{}', 'no list');
-- anybody reads them, and who may not write adds none
CREATE ROLE kanon_test_policy;
GRANT USAGE ON SCHEMA policy_test TO kanon_test_policy;
SET ROLE kanon_test_policy;
SELECT count(*) > 5 AS read FROM kanon_policies;
\set SHOW_CONTEXT never
SELECT kanon_create_policy('mine', '[]', 'mine');
SELECT count(*) FROM kanon_policy;
RESET ROLE;
DELETE FROM kanon_policy WHERE NOT built_in;
DROP OWNED BY kanon_test_policy;
DROP ROLE kanon_test_policy;
DROP SCHEMA policy_test CASCADE;
