-- A clinic of five tables, in the shape of MIMIC's: patients with admissions, diagnoses, procedures and values of the laboratory; labs name the
-- patient, and most of them an admission.  All of it is invented, and the same for the same seed and number:
--   psql -v seed=7 -v patients=20000 -f examples/schemas/clinic.sql
\if :{?seed}
\else
\set seed 1
\endif
\if :{?patients}
\else
\set patients 2000
\endif
CREATE SCHEMA clinic;
\ir draw.sql

CREATE TABLE clinic.patients (id int PRIMARY KEY, name text NOT NULL, born int NOT NULL, sex text NOT NULL, zip text NOT NULL);
INSERT INTO clinic.patients
SELECT i, 'Patient ' || i, 2020 - pg_temp.draw(i, 'age', 90), CASE WHEN pg_temp.draw(i, 'sex', 2) = 0 THEN 'f' ELSE 'm' END,
       (48100 + 100 * pg_temp.small(i, 'area', 6) + pg_temp.small(i, 'street', 20))::text
FROM generate_series(1, :patients) AS i;

CREATE TABLE clinic.admissions (id int PRIMARY KEY, patient_id int NOT NULL REFERENCES clinic.patients, admitted date NOT NULL, ward text NOT NULL, days int NOT NULL);
INSERT INTO clinic.admissions
SELECT p.id * 10 + nr, p.id, date '2022-01-01' + pg_temp.draw(p.id * 10 + nr, 'when', 730), (ARRAY['medicine', 'surgery', 'children', 'heart', 'nerves'])[1 + pg_temp.small(p.id * 10 + nr, 'ward', 5)],
       1 + pg_temp.small(p.id * 10 + nr, 'days', 20)
FROM clinic.patients AS p, generate_series(1, 1 + pg_temp.small(p.id, 'admissions', 4)) AS nr;

CREATE TABLE clinic.diagnoses (id int PRIMARY KEY, admission_id int NOT NULL REFERENCES clinic.admissions, code text NOT NULL, main boolean NOT NULL);
INSERT INTO clinic.diagnoses
SELECT a.id * 10 + nr, a.id, substr('ACEFGIJKMS', 1 + pg_temp.small(a.id * 10 + nr, 'chapter', 10), 1) || lpad((pg_temp.small(a.id * 10 + nr, 'code', 10) * 7)::text, 2, '0'), nr = 1
FROM clinic.admissions AS a, generate_series(1, 1 + pg_temp.small(a.id, 'diagnoses', 4)) AS nr;

CREATE TABLE clinic.procedures (id int PRIMARY KEY, admission_id int NOT NULL REFERENCES clinic.admissions, name text NOT NULL, minutes int NOT NULL);
INSERT INTO clinic.procedures
SELECT a.id * 10 + nr, a.id, 'procedure ' || 1 + pg_temp.small(a.id * 10 + nr, 'procedure', 30), 10 + 5 * pg_temp.draw(a.id * 10 + nr, 'minutes', 40)
FROM clinic.admissions AS a, generate_series(1, pg_temp.small(a.id, 'procedures', 4)) AS nr;

CREATE TABLE clinic.labs (id int PRIMARY KEY, patient_id int NOT NULL REFERENCES clinic.patients, admission_id int REFERENCES clinic.admissions, test text NOT NULL,
                          taken date NOT NULL, result numeric);
INSERT INTO clinic.labs
SELECT a.id * 20 + nr, a.patient_id, CASE WHEN pg_temp.draw(a.id * 20 + nr, 'outside', 5) > 0 THEN a.id END, (ARRAY['glucose', 'sodium', 'creatinine', 'haemoglobin'])[1 + pg_temp.draw(a.id * 20 + nr, 'test', 4)],
       a.admitted + pg_temp.draw(a.id * 20 + nr, 'after', 20), 50 + pg_temp.draw(a.id * 20 + nr, 'result', 100)
FROM clinic.admissions AS a, generate_series(1, pg_temp.small(a.id, 'labs', 9)) AS nr;
ANALYZE;
SELECT count(*) || ' patients' AS clinic FROM clinic.patients;
