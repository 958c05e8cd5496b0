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
-- a publication keeps one: its options join those of the call, and every release is looked up
SELECT kanon_create_publication('safe_view', 'visits', '{age,sex,zip,visit_date}', 5, '{"keep": ["diagnosis"]}', policy => 'hipaa_safe_harbor');
SELECT options, s.policy, s.status FROM kanon_publications p, kanon_publication_status(p.publication) s;
SELECT count(*) FILTER (WHERE visit_date IS NOT NULL AND (lower(visit_date), upper(visit_date) - lower(visit_date)) NOT IN (('2020-01-01', 366), ('2021-01-01', 365), ('2022-01-01', 365))) AS finer, count(*) FROM safe_view;
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM kanon_report_data((SELECT max(run) FROM kanon_usefulness)) d, jsonb_array_elements(d -> 'verdicts') v WHERE v ->> 'about' = 'policy';
-- k may be the policy's; what the caller says stays where it is as strict, or else is refused
SELECT kanon_create_publication('ema', 'visits', '{age,sex}', NULL, policy => 'ema_0070', key => 'patient_id');
SELECT k, s.point, s.verdict FROM kanon_publications, kanon_check_policy((SELECT max(run) FROM kanon_usefulness), 'ema_0070') s WHERE publication ~ 'ema';
\set SHOW_CONTEXT never
SELECT kanon_create_publication('no', 'visits', '{age,sex}', 5, policy => 'ema_0070');
SELECT kanon_create_publication('no', 'visits', '{age,sex}', NULL, policy => 'hipaa_safe_harbor');
SELECT kanon_create_publication('no', 'visits', '{age,sex}', NULL, policy => 'nobody''s');
SELECT kanon_create_publication('no', 'visits', '{age,sex}', 20, '{"policy": "ema_0070"}', policy => 'gdpr_wp216');
SELECT kanon_create_publication('no', 'visits', '{age,sex,zip,town}', 5, '{"keep": ["diagnosis", "visit_date"], "hierarchies": {"age": {"interval": [5]}}, "allow_identifying": ["diagnosis"]}', policy => 'hipaa_safe_harbor');
-- patterns and models that show a value as it was are found by the release
SELECT kanon_create_publication('no', 'visits', '{age,sex}', 5, '{"patterns": ["--", "1-", "**"]}', policy => 'hipaa_safe_harbor');
SELECT kanon_create_publication('no', 'visits', '{age,sex,zip}', 5, model => 'full_domain', policy => 'hipaa_safe_harbor');
SELECT kanon_alter_publication('safe_view', set_options => '{"allow_identifying": ["diagnosis"]}');
SELECT kanon_alter_publication('safe_view', set_options => '{"hierarchies": {"age": {"interval": [5]}}}');
-- all that a house may ask
SELECT kanon_create_policy('house', '[{"point": "class", "asks": "k", "least": 6}, {"point": "costs", "asks": "masked_by", "names": "cost", "mask": {"round": 10}},
  {"point": "diversity", "asks": "rule", "names": "diagnosis", "rule": {"rule": "distinct_l", "l": 2}}, {"point": "persons", "asks": "rule", "rule": {"rule": "subject", "column": "patient_id"}},
  {"point": "rest", "asks": "options", "options": {"residual": "suppress"}}, {"point": "dates", "asks": "shown_by", "types": "^date$", "builder": "date", "finest": ["month", "year"]}]', 'our house');
SELECT kanon_create_publication('house', 'visits', '{age,sex,visit_date}', NULL, '{"keep": ["diagnosis", "cost"]}', policy => 'house');
SELECT k, options FROM kanon_publications WHERE publication ~ 'house';
SELECT * FROM check_last('house');
SELECT o.k, o.refused FROM kanon_policy_options('house', 'visits', '{age,sex,visit_date}', 5, '{"keep": ["diagnosis", "cost"], "mask": {"cost": {"round": 15}}, "residual": "drop", "privacy": [{"rule": "alpha", "column": "diagnosis", "alpha": 0.5}, {"rule": "distinct_l", "column": "diagnosis", "l": 1}, {"rule": "subject", "column": "sex"}], "hierarchies": {"visit_date": {"date": ["day"]}}}') o;
SELECT o.options, o.refused FROM kanon_policy_options('house', 'visits', '{age,sex,visit_date}', 9, '{"keep": ["diagnosis", "cost"], "mask": {"cost": {"round": 20}}, "residual": "suppress", "privacy": [{"rule": "distinct_l", "column": "diagnosis", "l": 3}], "rules": {"never": ["sex"], "coarsen": ["age"]}, "hierarchies": {"visit_date": {"date": ["year"]}, "age": {"interval": [5]}}}') o;
SELECT kanon_full_domain('visits', 'plain', '{age,sex}', 6, keep => '{diagnosis,cost}', mask => '{"cost": {"round": 15}}') IS NOT NULL AS made;
SELECT * FROM check_last('house');
-- a policy that has become stricter, or that is gone, stops the next release; readers keep theirs
UPDATE kanon_policy SET points = jsonb_set(points, '{0,least}', '9') WHERE policy = 'house';
SELECT status, error, message FROM kanon_refresh('house');
SELECT detail, hint FROM kanon_releases WHERE status = 'failed' ORDER BY release DESC LIMIT 1;
SELECT kanon_alter_publication('house', k => 9);
SELECT status, error, message FROM kanon_refresh('house');
DELETE FROM kanon_policy WHERE policy = 'house';
SELECT status, error, message FROM kanon_refresh('house');
SELECT kanon_drop_publication(publication) FROM kanon_publications;
-- a column that shows no value of its own
SELECT DISTINCT left(pattern, 1) AS age FROM kanon_pattern_guided('visits', 'plain', '{age,sex}', 3, hierarchies => '{"age": {"age": true}}', rules => kanon_rules(coarsen => '{age}', max_suppressed => 1), replace => true) ORDER BY 1;
SELECT pattern FROM kanon_pattern_guided('visits', 'plain', '{age,sex}', 3, rules => kanon_rules(coarsen => '{age}'), replace => true);
SELECT FROM kanon_pattern_guided('visits', 'plain', '{age,sex}', 3, rules => kanon_rules(coarsen => '{age}', never => '{age}'), replace => true);
SELECT FROM kanon_pattern_guided('visits', 'plain', '{age,sex}', 3, rules => kanon_rules(coarsen => '{aga}'), replace => true);
-- anybody reads them, and who may not write adds none
CREATE ROLE kanon_test_policy;
GRANT USAGE ON SCHEMA policy_test TO kanon_test_policy;
SET ROLE kanon_test_policy;
SELECT count(*) > 5 AS read FROM kanon_policies;
\set SHOW_CONTEXT never
SELECT kanon_create_policy('mine', '[]', 'mine');
SELECT count(*) > 5 AS dumped FROM kanon_policy;
RESET ROLE;
DELETE FROM kanon_policy WHERE NOT built_in;
DROP OWNED BY kanon_test_policy;
DROP ROLE kanon_test_policy;
DROP SCHEMA policy_test CASCADE;
