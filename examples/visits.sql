-- Two years of a clinic: tables patients (8,000 persons) and visits (some 21,000
-- rows, several a person), all of it invented.  Nothing here is random: every
-- draw is a hash of the row's number, so the tables are the same everywhere.
\encoding UTF8
CREATE SCHEMA IF NOT EXISTS clinic;

-- draw(i, what, n): a number from 0 to n - 1, evenly spread over the rows i.
CREATE FUNCTION pg_temp.draw(i bigint, what text, n int) RETURNS int
    LANGUAGE sql IMMUTABLE AS $$
    SELECT ((('x' || substr(md5(what || ' ' || i::text), 1, 8))::bit(32)::bigint & 2147483647) % n)::int
$$;

CREATE TABLE clinic.patients (
    patient_id int PRIMARY KEY,
    full_name  text NOT NULL,
    email      text,
    birth_date date NOT NULL,
    sex        text NOT NULL,
    zip        text);
COMMENT ON COLUMN clinic.patients.zip IS 'where the patient lives; empty when unknown';

INSERT INTO clinic.patients
SELECT 500000 + i,
       first || ' ' || last,
       -- one in five gave no address
       CASE WHEN pg_temp.draw(i, 'mail', 5) > 0
            THEN lower(first) || '.' || lower(last) || pg_temp.draw(i, 'mail number', 100) || '@example.org' END,
       date '2023-12-31' - pg_temp.draw(i, 'age', 90) * 365 - pg_temp.draw(i, 'day', 365),
       CASE WHEN pg_temp.draw(i, 'sex', 500) = 0 THEN 'x' WHEN pg_temp.draw(i, 'sex', 500) < 260 THEN 'f' ELSE 'm' END,
       -- near the clinic live many; one in fifty has no known address
       CASE WHEN pg_temp.draw(i, 'unknown', 50) > 0
            THEN (48100 + 100 * least(pg_temp.draw(i, 'area', 5), pg_temp.draw(i, 'far', 5))
                  + least(pg_temp.draw(i, 'street', 30), pg_temp.draw(i, 'house', 60)))::text END
  FROM generate_series(1, 8000) AS i,
       LATERAL (SELECT (ARRAY['Anna', 'Boris', 'Clara', 'David', 'Elena', 'Felix', 'Grace', 'Hugo', 'Ines', 'Jonas',
                              'Karin', 'Liam', 'Maria', 'Noah', 'Olga', 'Peter'])[1 + pg_temp.draw(i, 'first', 16)] AS first,
                       (ARRAY['Adler', 'Becker', 'Costa', 'Dietrich', 'Engel', 'Fischer', 'Garcia', 'Hughes', 'Ibsen',
                              'Jansen', 'Keller', 'Larsen', 'Olsen', 'Petrov', 'Quinn', 'Rossi', 'Schmidt', 'Weber',
                              'Young', 'Zimmer'])[1 + pg_temp.draw(i, 'last', 20)] AS last) AS name;

CREATE TABLE clinic.visits (
    visit_id   int PRIMARY KEY,
    patient_id int NOT NULL REFERENCES clinic.patients,
    visited_on date NOT NULL,
    diagnosis  text NOT NULL,
    cost       numeric(8,2),
    note       text);

INSERT INTO clinic.visits
SELECT row_number() OVER (ORDER BY visited_on, patient_id, nr), patient_id, visited_on,
       (ARRAY['Cold', 'Back pain', 'Hypertension', 'Diabetes', 'Asthma', 'Migraine', 'Depression', 'Fracture',
              'Gastritis', 'Allergy', 'Anaemia', 'Epilepsy', 'HIV disease', 'Schizophrenia'])
         [1 + least(pg_temp.draw(id, 'illness', 14), pg_temp.draw(id, 'rarer', 20))],
       -- not billed yet: one in forty
       CASE WHEN pg_temp.draw(id, 'billed', 40) > 0
            THEN 20 + pg_temp.draw(id, 'cost', 400) * (1 + pg_temp.draw(id, 'dear', 20) / 19 * 20) + 0.5 END,
       CASE pg_temp.draw(id, 'note', 6) WHEN 0 THEN 'phoned ' || full_name || ', will come again'
            WHEN 1 THEN 'blood sample taken' WHEN 2 THEN 'no change' END
  FROM clinic.patients,
       LATERAL (SELECT nr, patient_id * 100::bigint + nr AS id
                  FROM generate_series(1, 1 + least(pg_temp.draw(patient_id, 'visits', 5),
                                                    pg_temp.draw(patient_id, 'often', 12))) AS nr) AS visit,
       LATERAL (SELECT date '2024-01-01' + pg_temp.draw(id, 'when', 730) AS visited_on) AS at_that_day;

-- What is to be published is about both tables.
CREATE VIEW clinic.visits_with_patients AS
SELECT v.visit_id, v.patient_id, p.full_name, p.email,
       extract(year FROM age(v.visited_on, p.birth_date))::int AS age, p.sex, p.zip,
       v.visited_on, v.diagnosis, v.cost, v.note
  FROM clinic.visits AS v JOIN clinic.patients AS p USING (patient_id);

ANALYZE clinic.patients, clinic.visits;
