-- a kept column that identifies is refused, unless somebody answers for it
CREATE SCHEMA identifiers_test;
SET search_path = identifiers_test, public;
SET client_min_messages = warning;

-- 400 visits of 100 patients
CREATE TABLE visit AS
SELECT i AS visit_id, i % 100 AS patient_id, 'p' || i % 100 || '@example.org' AS email, 20 + i % 5 AS age, 'z' || i % 3 AS zip,
       CASE WHEN i % 10 = 0 THEN 'note ' || i END AS note, 'd' || i % 7 AS diagnosis, (i * 7919 % 400)::numeric / 7 AS cost, date '2024-01-01' + i % 10 AS day
FROM generate_series(1, 400) i;

-- a value for each row; NULLs do not hide it
SELECT count(*) FROM kanon_pattern_guided('visit', 'out1', '{age,zip}', 5, keep => '{visit_id,diagnosis}');
SELECT count(*) FROM kanon_pattern_guided('visit', 'out1', '{age,zip}', 5, keep => '{note,visit_id,cost}');
SELECT count(*) FROM kanon_full_domain('visit', 'out1', '{age,zip}', 5, keep => '{note}');
SELECT count(*) FROM kanon_cluster('visit', 'out1', '{age,zip}', 5, 'mondrian', keep => '{note}');
SELECT count(*) FROM kanon_freeform('visit', 'out1', '{age,zip}', 5, keep => '{note}', partition_size => 100);
SELECT count(*) FROM kanon_pattern_clustering('visit', 'out1', '{age,zip}', 5, patterns => ARRAY['--', '**'], keep => '{note}');
-- nothing is left of it
SELECT to_regclass('out1') IS NULL AS nothing, count(*) FROM kanon_usefulness WHERE target LIKE '%out1%';
-- what is not named in allow_identifying stays refused
SELECT count(*) FROM kanon_pattern_guided('visit', 'out1', '{age,zip}', 5, keep => '{note,visit_id}', allow_identifying => '{note}');
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('visit', 'out1', '{age,zip}', 5, keep => '{note,visit_id}', allow_identifying => '{visit_id,note}');
SELECT options -> 'allow_identifying' AS recorded FROM kanon_usefulness WHERE target LIKE '%out1%';
SELECT count(*) FROM kanon_pattern_guided('visit', 'out2', '{age,zip}', 5, keep => '{diagnosis}', allow_identifying => '{note}');

-- a value for each person: known when a rule says whom rows are about
SELECT count(*) FROM kanon_pattern_guided('visit', 'out3', '{age,zip}', 5, keep => '{email,diagnosis}', privacy => ARRAY[kanon_subject('patient_id')]);
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('visit', 'out3', '{age,zip}', 5, keep => '{diagnosis}', privacy => ARRAY[kanon_subject('patient_id')]);
-- of values next to each other, too, some of which two persons share
CREATE TABLE pairs AS SELECT i AS person, i % 5 AS q, CASE WHEN i % 100 < 8 THEN -(i / 2) ELSE i END AS value FROM generate_series(1, 20000) i;
SELECT count(*) FROM kanon_pattern_guided('pairs', 'out20', '{q}', 5, keep => '{value}', privacy => ARRAY[kanon_subject('person')]);
DROP TABLE pairs;
-- and when a publication's key says it, or a mask that shifts by it
SELECT kanon_create_publication('pub', 'visit', '{age,zip}', 5, '{"keep": ["email"]}', key => 'patient_id');
SELECT count(*) FROM kanon_pattern_guided('visit', 'out3', '{age,zip}', 5, keep => '{email,day,patient_id}', replace => true, mask => '{"patient_id": {"pseudonym": "release"}, "day": {"shift": "patient_id", "days": 9}}');
SELECT kanon_create_publication('pub', 'visit', '{age,zip}', 5, '{"keep": ["diagnosis"]}', key => 'patient_id');
SELECT kanon_drop_publication('pub');

-- what several rows share may name persons all the same: who publishes it is told, unless it is masked, labelled or answered for
SET client_min_messages = notice;
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('visit', 'named', '{age,zip}', 5, keep => '{patient_id,email,note,diagnosis,cost}', allow_identifying => '{note,cost}');
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says, v #> '{claim,may_name_persons}' AS may_name_persons, d #>> '{verdict,verdict}' AS in_all, d ->> 'options' LIKE '%may_name%' AS parameter
FROM kanon_report_data((SELECT max(run) FROM kanon_usefulness)) d, jsonb_array_elements(d -> 'verdicts') v WHERE v ->> 'about' = 'identifiers';
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('visit', 'named', '{age,zip}', 5, keep => '{email,patient_id}', mask => '{"email": {"partial": [1, 0]}, "patient_id": {"pseudonym": "release"}}', replace => true);
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('visit', 'named', '{age,zip}', 5, keep => '{email}', allow_identifying => '{email}', replace => true);
CREATE VIEW of_visit AS SELECT age, zip, email FROM visit;
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('of_visit', 'named', '{age,zip}', 5, keep => '{email}', replace => true);
SECURITY LABEL FOR kanon ON COLUMN visit.email IS 'keep';
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('of_visit', 'named', '{age,zip}', 5, keep => '{email}', replace => true);
SECURITY LABEL FOR kanon ON COLUMN visit.email IS NULL;
-- of free text, texts alone; nothing of what is not written
SELECT count(*) > 0 AS solved FROM kanon_pattern_guided('visit', NULL, '{age,zip}', 5, keep => '{email}', dry_run => true);
CREATE TABLE marked AS SELECT i % 3 AS note, i % 5 AS age FROM generate_series(1, 60) i;
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('marked', 'named', '{age}', 5, keep => '{note}', replace => true);
SET client_min_messages = warning;

-- more values than are remembered: a sample of them tells the same
CREATE TABLE large AS SELECT i AS id, i % 1000 AS often, i % 100 AS q FROM generate_series(1, 200000) i;
SELECT count(*) FROM kanon_pattern_guided('large', 'out4', '{q}', 5, keep => '{id,often}');
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('large', 'out4', '{q}', 5, keep => '{often}');

-- a few rows prove nothing
CREATE TABLE few AS SELECT i AS id, i % 2 AS q FROM generate_series(1, 9) i;
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('few', 'out5', '{q}', 2, keep => '{id}');

-- labels count in direct calls, below views, too, and before anything is read
SECURITY LABEL FOR kanon ON COLUMN visit.diagnosis IS 'identifier';
CREATE VIEW below AS SELECT v.age, v.zip, v.diagnosis AS renamed, upper(v.diagnosis) AS computed FROM (SELECT * FROM visit) AS v;
CREATE VIEW joined AS SELECT * FROM visit JOIN (SELECT 1 AS one) AS o ON true;
CREATE VIEW united AS SELECT age, zip, 'none' AS diagnosis FROM visit UNION ALL SELECT age, zip, diagnosis FROM visit;
CREATE MATERIALIZED VIEW made AS SELECT age, zip, diagnosis FROM visit;
SELECT count(*) FROM kanon_pattern_guided('visit', 'out6', '{age,zip}', 5, keep => '{diagnosis}');
SELECT count(*) FROM kanon_pattern_guided('visit', NULL, '{age,diagnosis}', 5, dry_run => true);
SELECT count(*) FROM kanon_pattern_guided('below', 'out6', '{age,zip}', 5, keep => '{renamed}');
SELECT count(*) FROM kanon_pattern_guided('joined', 'out6', '{age,zip}', 5, keep => '{diagnosis}');
SELECT count(*) FROM kanon_pattern_guided('united', 'out6', '{age,zip}', 5, keep => '{diagnosis}');
SELECT count(*) FROM kanon_pattern_guided('made', 'out6', '{age,zip}', 5, keep => '{diagnosis}');
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('below', 'out6', '{age,zip}', 5, keep => '{computed}');
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('visit', 'out7', '{age,zip}', 5, keep => '{diagnosis}', allow_identifying => '{diagnosis}');

-- columns are not looked at to the end when enough rows share their values, and those on either side of the limit are told apart
CREATE TABLE early AS SELECT i % 5 AS q, CASE WHEN i <= 99 THEN 'same' ELSE 'x' || i END AS just, CASE WHEN i <= 102 THEN 'same' ELSE 'x' || i END AS beyond,
    CASE WHEN i > 901 THEN i / 2 ELSE 10000 + i END AS late, CASE WHEN i > 500 THEN CASE WHEN i <= 549 THEN 'same' ELSE 'x' || i END END AS half FROM generate_series(1, 1000) i;
SELECT count(*) FROM kanon_pattern_guided('early', 'out8', '{q}', 5, keep => '{just}');
SELECT count(*) FROM kanon_pattern_guided('early', 'out8', '{q}', 5, keep => '{late,half,beyond}');
SELECT count(*) > 0 AS published FROM kanon_pattern_guided('early', 'out8', '{q}', 5, keep => '{beyond}');

-- publications
SELECT kanon_create_publication('pub', 'visit', '{age,zip}', 5, '{"keep": ["note"]}');
SELECT kanon_create_publication('pub', 'visit', '{age,zip}', 5, '{"keep": ["note"], "allow_identifying": ["note"]}', key => 'patient_id');
SELECT count(*) AS columns FROM information_schema.columns WHERE table_schema = 'identifiers_test' AND table_name = 'pub';
SELECT kanon_drop_publication('pub');
DROP SCHEMA identifiers_test CASCADE;
