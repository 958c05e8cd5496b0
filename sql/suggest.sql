-- kanon_suggest: the role that fits each column, and why; kanon_risk_columns: minimal sets
CREATE SCHEMA suggest_test;
SET search_path = suggest_test, public;
SET client_min_messages = warning;

-- 400 visits of 100 patients
CREATE TABLE visit AS
SELECT i AS visit_id, i % 100 AS patient_id, 'P. ' || i % 7 AS "fullName", 20 + i % 50 AS age, 'z' || i % 10 AS zip,
       date '2024-01-01' + i % 90 AS admitted, i % 80 AS vendor_no, i % 4 AS ward_id, 'd' || i % 8 AS diagnosis,
       i % 8 / 4 AS chapter, 'seen by ' || i % 40 AS note, i % 3 AS thing, '{}'::jsonb || jsonb_build_object('a', i % 2) AS extra,
       'C' AS site, NULL::text AS unused, CASE WHEN i % 4 > 0 THEN 'p' || i END AS reference,
       repeat('x', 40) || i % 20 AS long_text, '10.0.0.0'::inet + i % 5 AS host, i % 70 AS plain_number FROM generate_series(1, 400) i;
SELECT column_name, role, why, type, distinct_values, round(own_share::numeric, 3) AS own_share, nulls, tells FROM kanon_suggest('visit');

-- the figures by SQL
SELECT s.column_name FROM kanon_suggest('visit') AS s, LATERAL (
    SELECT count(*) AS distinct_values, sum(n) FILTER (WHERE n = 1) / sum(n) AS own_share
    FROM (SELECT count(*) AS n FROM visit v, jsonb_each_text(to_jsonb(v)) AS e
          WHERE e.key = s.column_name AND e.value IS NOT NULL GROUP BY e.value) AS g) AS plain
WHERE s.distinct_values <> plain.distinct_values OR abs(s.own_share - coalesce(plain.own_share, 0)) > 1e-9
   OR s.nulls <> (SELECT count(*) FROM visit v, jsonb_each_text(to_jsonb(v)) AS e WHERE e.key = s.column_name AND e.value IS NULL);

-- what it calls an identifier by its values is what a kept column may not be
SELECT count(*) FROM kanon_pattern_guided('visit', 'out1', '{age,zip}', 2, keep => '{reference}');

-- the labels can be run, and are then what counts
SELECT label FROM kanon_suggest('visit') WHERE column_name IN ('fullName', 'zip', 'diagnosis', 'site');
DO $$
DECLARE
    label text;
BEGIN
    FOR label IN SELECT s.label FROM kanon_suggest('visit') AS s LOOP
        EXECUTE label;
    END LOOP;
END $$;
SELECT why, role, count(*) FROM kanon_suggest('visit') GROUP BY why, role ORDER BY why, role;
SECURITY LABEL FOR kanon ON COLUMN visit.thing IS 'identifier';
CREATE VIEW below AS SELECT thing AS other, zip FROM visit;
SELECT column_name, role, why FROM kanon_suggest('below');

-- the order of the rows does not matter to what is counted
CREATE TABLE turned AS SELECT * FROM visit ORDER BY visit_id DESC;
SELECT count(*) FROM (SELECT column_name, distinct_values, own_share, nulls FROM kanon_suggest('visit')
    EXCEPT SELECT column_name, distinct_values, own_share, nulls FROM kanon_suggest('turned')) AS different;

-- a column tells another one: by SQL, in how many rows the value is the most frequent of its value of the other
SELECT round(sum(most)::numeric / 400, 3) AS told FROM (SELECT max(n) AS most FROM (SELECT age, zip, count(*) AS n FROM visit GROUP BY 1, 2) g GROUP BY age) m;

-- more values than are remembered: nearly right; more rows than the sample: columns are compared all the same
CREATE TABLE large AS SELECT i AS number, i % 300 AS thing, i % 300 / 10 AS tens FROM generate_series(1, 200000) i;
SELECT column_name, role, distinct_values BETWEEN 190000 AND 210000 AS many, distinct_values <= 300 AS few, round(own_share::numeric, 2) AS own_share, tells FROM kanon_suggest('large');

-- no rows, no columns, a few rows
CREATE TABLE nobody (age int, diagnosis text, thing int);
SELECT column_name, role, why, distinct_values, own_share, nulls FROM kanon_suggest('nobody');
CREATE TABLE columnless ();
SELECT count(*) FROM kanon_suggest('columnless');
CREATE TABLE few AS SELECT i AS thing, 'x' AS same FROM generate_series(1, 9) i;
SELECT column_name, role, why FROM kanon_suggest('few');

-- booleans and columns of few values name nobody, whatever they are called; long texts do in few rows, too; flags of illnesses; dates and measures are coarsened
CREATE TABLE accounts AS SELECT i AS id, (ARRAY['little', 'moderate', 'rich'])[1 + i % 3] AS "Checking account", i % 2 = 0 AS has_email, (ARRAY['yes', 'no'])[1 + i % 2] AS phone_verified, i % 2 AS hypertension, (i % 2)::text AS "hasPneumonia", i % 2 = 1 AS dialysisrenalendstage,
    i % 2 AS flag, timestamp '2026-01-01' + i * interval '7 min' AS created_at, sqrt(i)::numeric(12, 6) AS glucose, sqrt(i) AS thing, i::numeric AS number, 12.5 * i AS cost FROM generate_series(1, 1000) AS i;
SELECT column_name, role, why FROM kanon_suggest('accounts');
CREATE TABLE staff120 AS SELECT i AS id, 'dept' || i % 6 AS department FROM generate_series(1, 120) AS i;
SELECT column_name, role, why FROM kanon_suggest('staff120');
CREATE TABLE cv AS SELECT i AS id, 'Mr. Smith ' || i || repeat(' was born in a town and joined the company', 5) AS notes, 'Mr. Smith ' || i || repeat(' was born in a town', 5) AS curriculum, repeat('the same of two persons ', 3) || i / 5 AS shared FROM generate_series(1, 9) AS i;
SELECT column_name, role, why FROM kanon_suggest('cv');
-- and no NOTICE says that a boolean may name somebody
SET client_min_messages = notice;
SELECT FROM kanon_pattern_guided('accounts', 'no_names', '{"Checking account"}', 5, keep => '{has_email}');
SET client_min_messages = warning;

-- as the caller: privileges and row-level security
CREATE ROLE kanon_test_suggests;
GRANT USAGE ON SCHEMA suggest_test TO kanon_test_suggests;
CREATE TABLE rows_of AS SELECT i AS n, i % 2 AS half FROM generate_series(1, 100) i;
ALTER TABLE rows_of ENABLE ROW LEVEL SECURITY;
CREATE POLICY half ON rows_of USING (half = 1);
GRANT SELECT ON rows_of TO kanon_test_suggests;
\set SHOW_CONTEXT never
SET ROLE kanon_test_suggests;
SELECT column_name, role, distinct_values FROM kanon_suggest('rows_of');
SELECT count(*) FROM kanon_suggest('visit');
RESET ROLE;
DROP OWNED BY kanon_test_suggests;
DROP ROLE kanon_test_suggests;
SELECT count(*) FROM kanon_suggest(NULL);
SELECT count(*) FROM kanon_suggest('pg_class_oid_index');
-- what a survey has, by name and shape: weights above 0, households that rows share, strata
CREATE TABLE survey AS SELECT i % 40 AS hid, 100.5 + i % 7 AS "Sampling_Weight", i % 3 - 1 AS wgt, i % 4 AS stratum, i AS hh_id, 'w' || i % 9 AS pweight, 50 + i % 60 AS weight FROM generate_series(1, 120) AS i;
SELECT column_name, role, why FROM kanon_suggest('survey');
-- the same in other languages; a body's weight in whole numbers, one that many lack, and kinds of households are none
CREATE TABLE umfrage AS SELECT 200 + i % 9 * 0.25 AS hochrechnungsfaktor, 3.5 + i % 11 AS gewicht, CASE WHEN i % 2 = 0 THEN 1.5 + i % 11 END AS poids, i % 60 AS "Haushalts.Nr", i % 55 AS id_menage, i % 5 AS schicht, i % 4 AS household, 0.25 + i % 7 AS "Coef_Pondération" FROM generate_series(1, 120) AS i;
SELECT column_name, why FROM kanon_suggest('umfrage');
-- sets of columns that tell rows apart: none of which a part does as well
SELECT subset, classes, unique_rows FROM kanon_risk_columns('visit', '{visit_id,age,zip,admitted,diagnosis,chapter}');
SELECT count(*) FROM kanon_risk_columns('visit', '{visit_id,age,zip,admitted,diagnosis,chapter}', supersets => true);
SELECT count(*) FROM kanon_risk_columns('visit', '{visit_id}', supersets => NULL);

-- rows a value decide, not the share of different ones; whole numbers are what the same numbers with decimals are; numbers without gaps number rows
CREATE TABLE shares AS SELECT 5 + i % 16 AS yrs_service, 'T' || i % 16 AS team, 'w' || i % 100 AS word, (i * 7919 % 100003) AS thing, (i * 7919 % 100003) / 10.0 AS thing_tenths, i AS row_of,
    (i % 45) || repeat(' an answer of a list in a survey', 2) AS answer, i || repeat(' what somebody wrote', 3) AS wrote, '{"a": 1}'::json AS fixed, '{"a": 1}'::jsonb AS fixed_b,
    'P' || i % 20 AS "Patient", i % 15 AS "ID", 'K' || i % 90 AS nachname, 'K' || i % 30 AS geschlecht, 1000 + i * 37 % 4001 AS gehalt, 'c' || i % 40 AS ville, 'e' || i % 33 AS enfermedad,
    date '1950-01-01' + i % 200 AS "fecha_nacimiento", (ARRAY['Müller', 'MÜLLER', 'Mueller', 'Meier'])[1 + i % 4] || i / 100 AS any_case FROM generate_series(1, 300) i;
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
ALTER TABLE shares ALTER any_case TYPE text COLLATE no_case;
SELECT column_name, role, why, distinct_values FROM kanon_suggest('shares');
SELECT count(DISTINCT any_case) AS any_case FROM shares;
-- a direct call judges alike: by the name, and by texts that few rows share
SET client_min_messages = notice;
SELECT FROM kanon_pattern_guided('shares', 'judged', '{geschlecht}', 5, keep => '{"Patient",word,team}');
SET client_min_messages = warning;
SELECT options -> 'may_name_persons' AS may_name FROM kanon_usefulness ORDER BY run DESC LIMIT 1;

-- the least rounding after which hardly a value is one row's and hardly a hidden value follows: found by trying, and it passes
CREATE TABLE costs AS SELECT i % 40 AS region, 18 + i * 7 % 60 AS age, (i * 7919 % 100003) / 7.0 AS cost, i * 7919 % 100003 AS fee FROM generate_series(1, 4000) i;
SELECT FROM kanon_pattern_guided('costs', 'costs_out', '{age}', 5, keep => '{cost}');
SELECT FROM kanon_pattern_guided('costs', 'costs_out', '{age}', 5, keep => '{fee}');
SELECT FROM kanon_pattern_guided('costs', 'costs_out', '{age}', 5, keep => '{cost}', mask => '{"cost": {"round": 10}}');
SELECT count(*) < 200 AS few_alone FROM (SELECT FROM costs_out GROUP BY cost HAVING count(*) = 1) AS g;
SELECT count(*) > 200 AS more_at_the_step_before FROM (SELECT FROM costs GROUP BY round(cost / 5) HAVING count(*) = 1) AS g;
-- a household's income tells the hidden region: rounded to 1 it is refused as it is unrounded
CREATE TABLE households AS SELECT i / 4 % 50 AS region, i % 5 AS age, 20000 + (i / 4) * 37.41 AS income FROM generate_series(1, 2000) i;
INSERT INTO households SELECT 100 + i / 4, i % 5, 150000 + (i / 4) * 37.41 FROM generate_series(4, 163) i;
SELECT FROM kanon_pattern_guided('households', 'h_out', '{region,age}', 5, keep => '{income}', patterns => '{--,*-,**}');
SELECT FROM kanon_pattern_guided('households', 'h_out', '{region,age}', 5, keep => '{income}', patterns => '{--,*-,**}', mask => '{"income": {"round": 1}}');

-- a call that runs, by these roles
CREATE TABLE patients AS SELECT i AS patient_no, 'P' || i AS full_name, 20 + i * 7 % 60 AS age, lpad((10000 + i % 40 * 13)::text, 5, '0') AS zip, date '2024-01-01' + i % 300 AS visit_date, (ARRAY['f', 'm'])[1 + i % 2] AS sex,
    (ARRAY['DE', 'FR', 'PL'])[1 + i % 3] AS country, (i * 7919 % 10007) / 7.0 AS cost, (ARRAY['Asthma', 'Flu', 'Migraine'])[1 + i / 7 % 3] AS diagnosis, 'note ' || i || repeat(' of the nurse', 4) AS note,
    i % 2 = 0 AS "insured ""well""", point(i % 5, 3) AS home, '{}'::json AS extra FROM generate_series(1, 2000) i;
SELECT kanon_suggest_call('patients') AS call \gset
\echo :call
:call
SELECT count(*), min(n) >= 5 AS k FROM (SELECT count(*) AS n FROM patients_public GROUP BY sex, age, zip, visit_date, country) AS g;
SELECT kanon_suggest_call('nobody');
SELECT kanon_suggest_call('columnless');
SELECT kanon_suggest_call('patients', 'elsewhere."T"', 11) LIKE '%''elsewhere."T"'',%, 11,%' AS named;
SELECT kanon_suggest_call('patients', k => 1);
SELECT kanon_suggest_call(NULL);
-- many quasi-identifiers: of somebody who knows three of them
DO $$ BEGIN EXECUTE 'CREATE TABLE survey_of AS SELECT ' || (SELECT string_agg(format('i * %s %% 4 AS q%s', c + 1, c), ', ') FROM generate_series(1, 14) c) || ', 18 + i % 50 AS age FROM generate_series(1, 400) i'; END $$;
SELECT kanon_suggest_call('survey_of');

DROP SCHEMA suggest_test CASCADE;
-- a session that has not called kanon before writes labels, too
\c -
CREATE TABLE first_call (name text);
SELECT kanon_label('first_call', 'name', 'identifier');
SELECT provider, label FROM pg_seclabels WHERE objoid = 'first_call'::regclass;
SELECT kanon_label('first_call', 'name', NULL);
SELECT count(*) FROM pg_seclabels WHERE objoid = 'first_call'::regclass;
SELECT kanon_label('first_call', 'name', 'no role');
SELECT kanon_label('first_call', 'nome', 'identifier');
SELECT kanon_label(NULL, 'name', 'identifier');
SELECT kanon_label('first_call', NULL, 'identifier');
DROP TABLE first_call;
