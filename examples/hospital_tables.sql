-- A hospital with twelve tables: patients with their stays, diagnoses, procedures, prescriptions, tests and bills, and the
-- lookups that these name.  All of it is invented, and the same for the same seed and number of patients:
--   psql -v seed=7 -v patients=100000 -f examples/hospital_tables.sql
-- prints: 2000 patients
\if :{?seed}
\else
\set seed 1
\endif
\if :{?patients}
\else
\set patients 2000
\endif
CREATE SCHEMA hospital;

-- draw(i, what, n): a number from 0 to n - 1, evenly spread over the rows i; small(i, what, n): small ones are commoner.
SELECT format('CREATE FUNCTION pg_temp.draw(i bigint, what text, n int) RETURNS int LANGUAGE sql IMMUTABLE AS
    ''SELECT ((hashint8extended(i, hashtextextended(what, %s)) & 2147483647) %% n)::int''', :seed) \gexec
CREATE FUNCTION pg_temp.small(i bigint, what text, n int) RETURNS int LANGUAGE sql IMMUTABLE AS
    'SELECT least(pg_temp.draw(i, what, n), pg_temp.draw(i, what || '' again'', n))';

CREATE TABLE hospital.departments (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO hospital.departments
SELECT row_number() OVER (), name FROM unnest('{Medicine,Surgery,Cardiology,Neurology,Orthopaedics,Gynaecology,Psychiatry,Children}'::text[]) AS name;

CREATE TABLE hospital.wards (id int PRIMARY KEY, department_id int NOT NULL REFERENCES hospital.departments, beds int NOT NULL);
INSERT INTO hospital.wards SELECT i, 1 + i % 8, 10 + 2 * (i % 7) FROM generate_series(1, 20) AS i;

CREATE TABLE hospital.doctors (id int PRIMARY KEY, name text NOT NULL, ward_id int REFERENCES hospital.wards, chief_id int REFERENCES hospital.doctors);
INSERT INTO hospital.doctors SELECT i, 'Doctor ' || i, 1 + i % 20, CASE WHEN i > 8 THEN 1 + i % 8 END FROM generate_series(1, 80) AS i;

CREATE TABLE hospital.codes (code text PRIMARY KEY, chapter text NOT NULL);
INSERT INTO hospital.codes
SELECT substr('ACEFGIJKMS', 1 + i / 10, 1) || lpad((i % 10 * 7)::text, 2, '0'), 'Chapter ' || 1 + i / 10 FROM generate_series(0, 99) AS i;

CREATE TABLE hospital.drugs (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO hospital.drugs SELECT i, 'Drug ' || i FROM generate_series(1, 40) AS i;

CREATE TABLE hospital.insurers (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO hospital.insurers SELECT i, 'Insurer ' || i FROM generate_series(1, 6) AS i;

CREATE TABLE hospital.patients (id bigint PRIMARY KEY, name text NOT NULL, born date NOT NULL, sex text NOT NULL, zip text NOT NULL,
                                insurer_id int REFERENCES hospital.insurers);
INSERT INTO hospital.patients
SELECT i, 'Patient ' || i, date '2023-12-31' - 365 * pg_temp.draw(i, 'age', 90) - pg_temp.draw(i, 'day', 365),
       CASE WHEN pg_temp.draw(i, 'sex', 2) = 0 THEN 'f' ELSE 'm' END, (48100 + 100 * pg_temp.small(i, 'area', 6) + pg_temp.small(i, 'street', 20))::text,
       1 + pg_temp.small(i, 'insurer', 6)
FROM generate_series(1, :patients) AS i;

CREATE TABLE hospital.stays (id bigint PRIMARY KEY, patient_id bigint NOT NULL REFERENCES hospital.patients, ward_id int NOT NULL REFERENCES hospital.wards,
                             doctor_id int REFERENCES hospital.doctors, admitted date NOT NULL, days int NOT NULL);
INSERT INTO hospital.stays
SELECT row_number() OVER (ORDER BY admitted, p.id, nr), p.id, 1 + pg_temp.small(s.id, 'ward', 20), 1 + pg_temp.draw(s.id, 'doctor', 80), admitted, 1 + pg_temp.small(s.id, 'days', 20)
FROM hospital.patients AS p, LATERAL (
    SELECT nr, p.id * 100 + nr AS id, date '2024-01-01' + pg_temp.draw(p.id * 100 + nr, 'when', 730) AS admitted
    FROM generate_series(1, pg_temp.small(p.id, 'stays', 6)) AS nr) AS s;

CREATE TABLE hospital.diagnoses (id bigint PRIMARY KEY, stay_id bigint NOT NULL REFERENCES hospital.stays, code text NOT NULL REFERENCES hospital.codes,
                                 main boolean NOT NULL);
INSERT INTO hospital.diagnoses
SELECT s.id * 10 + nr, s.id, (SELECT c.code FROM hospital.codes AS c ORDER BY c.code LIMIT 1 OFFSET pg_temp.small(s.id * 10 + nr, 'code', 100)), nr = 1
FROM hospital.stays AS s, generate_series(1, 1 + pg_temp.small(s.id, 'diagnoses', 4)) AS nr;

CREATE TABLE hospital.procedures (id bigint PRIMARY KEY, stay_id bigint NOT NULL REFERENCES hospital.stays, name text NOT NULL, minutes int NOT NULL);
INSERT INTO hospital.procedures
SELECT s.id * 10 + nr, s.id, 'Procedure ' || 1 + pg_temp.small(s.id * 10 + nr, 'procedure', 30), 10 + 5 * pg_temp.draw(s.id * 10 + nr, 'minutes', 40)
FROM hospital.stays AS s, generate_series(1, pg_temp.small(s.id, 'procedures', 4)) AS nr;

CREATE TABLE hospital.prescriptions (id bigint PRIMARY KEY, stay_id bigint NOT NULL REFERENCES hospital.stays, drug_id int NOT NULL REFERENCES hospital.drugs,
                                     doses int NOT NULL);
INSERT INTO hospital.prescriptions
SELECT s.id * 10 + nr, s.id, 1 + pg_temp.small(s.id * 10 + nr, 'drug', 40), 1 + pg_temp.draw(s.id * 10 + nr, 'doses', 30)
FROM hospital.stays AS s, generate_series(1, pg_temp.small(s.id, 'drugs', 5)) AS nr;

CREATE TABLE hospital.tests (id bigint PRIMARY KEY, stay_id bigint NOT NULL REFERENCES hospital.stays, name text NOT NULL, result numeric);
INSERT INTO hospital.tests
SELECT s.id * 10 + nr, s.id, (ARRAY['glucose', 'sodium', 'creatinine', 'haemoglobin'])[1 + pg_temp.draw(s.id * 10 + nr, 'test', 4)],
       CASE WHEN pg_temp.draw(s.id * 10 + nr, 'lost', 30) > 0 THEN 50 + pg_temp.draw(s.id * 10 + nr, 'result', 100) END
FROM hospital.stays AS s, generate_series(1, pg_temp.small(s.id, 'tests', 6)) AS nr;

CREATE TABLE hospital.bills (id bigint PRIMARY KEY, stay_id bigint UNIQUE NOT NULL REFERENCES hospital.stays, insurer_id int REFERENCES hospital.insurers, amount int NOT NULL);
INSERT INTO hospital.bills
SELECT s.id, s.id, p.insurer_id, 100 * s.days + 10 * pg_temp.draw(s.id, 'bill', 50) FROM hospital.stays AS s JOIN hospital.patients AS p ON p.id = s.patient_id;

ANALYZE;
SELECT count(*) || ' patients' AS made FROM hospital.patients;
