-- A year of a hospital: table patients, 20,000 rows, all of it invented.
-- Nothing here is random: every draw is a hash of the row's number, so the
-- table is the same on every machine.
\encoding UTF8

-- draw(i, what, n): a number from 0 to n - 1, evenly spread over the rows i.
CREATE FUNCTION draw(i int, what text, n int) RETURNS int
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ((('x' || substr(md5(what || ' ' || i::text), 1, 8))::bit(32)::bigint & 2147483647) % n)::int
$$;

-- A city, its suburbs, and villages with a few dozen patients each.
CREATE TEMP TABLE town AS
SELECT zip, sum(people) OVER (ORDER BY zip) - people AS first,
       sum(people) OVER (ORDER BY zip) AS next
  FROM (VALUES ('48101', 90), ('48103', 120), ('48104', 150), ('48105', 110), ('48107', 80), ('48109', 60),
               ('48120', 45), ('48121', 40), ('48124', 38), ('48130', 30), ('48133', 26), ('48140', 24),
               ('48201', 20), ('48204', 18), ('48207', 15), ('48211', 12), ('48215', 11), ('48218', 10),
               ('48301', 8), ('48305', 7), ('48309', 6), ('48312', 5), ('48316', 4), ('48320', 3),
               ('48401', 3), ('48407', 2), ('48412', 2), ('48415', 1)) AS t (zip, people);

-- What brings people there: how often below 15, below 40, below 65 and later.
CREATE TEMP TABLE illness AS
SELECT *, row_number() OVER (ORDER BY code) AS nr
  FROM (VALUES
    ('A09',   'Gastroenteritis',           'Medicine',    '',  14,  6,  4,  5),
    ('B20',   'HIV disease',               'Medicine',    '',   0,  2,  2,  1),
    ('C50',   'Breast cancer',             'Gynaecology', 'f',  0,  2, 14,  9),
    ('C61',   'Prostate cancer',           'Urology',     'm',  0,  0,  8, 12),
    ('C34',   'Lung cancer',               'Medicine',    '',   0,  0,  5,  7),
    ('E10',   'Type 1 diabetes',           'Medicine',    '',   4,  3,  1,  0),
    ('E11',   'Type 2 diabetes',           'Medicine',    '',   0,  1,  7,  9),
    ('F10',   'Alcohol dependence',        'Psychiatry',  '',   0,  7, 10,  3),
    ('F20',   'Schizophrenia',             'Psychiatry',  '',   0,  5,  3,  1),
    ('F32',   'Depressive episode',        'Psychiatry',  '',   1,  8,  9,  4),
    ('G30',   'Alzheimer''s disease',      'Geriatrics',  '',   0,  0,  1, 10),
    ('G40',   'Epilepsy',                  'Neurology',   '',   6,  3,  2,  2),
    ('I21',   'Heart attack',              'Cardiology',  '',   0,  1, 10, 13),
    ('I48',   'Atrial fibrillation',       'Cardiology',  '',   0,  1,  6, 14),
    ('I50',   'Heart failure',             'Cardiology',  '',   0,  0,  5, 20),
    ('I63',   'Stroke',                    'Neurology',   '',   0,  1,  6, 14),
    ('J18',   'Pneumonia',                 'Medicine',    '',   9,  3,  5, 12),
    ('J20',   'Acute bronchitis',          'Medicine',    '',  16,  3,  2,  3),
    ('J35',   'Tonsillitis',               'Surgery',     '',  14,  4,  0,  0),
    ('J44',   'COPD',                      'Medicine',    '',   0,  0,  7, 10),
    ('K35',   'Appendicitis',              'Surgery',     '',   9,  8,  3,  1),
    ('K40',   'Inguinal hernia',           'Surgery',     'm',  6,  5, 10,  8),
    ('K80',   'Gallstones',                'Surgery',     '',   0,  6, 10,  7),
    ('M16',   'Arthrosis of the hip',      'Orthopaedics', '',  0,  0,  6, 12),
    ('M51',   'Slipped disc',              'Orthopaedics', '',  0,  6, 10,  4),
    ('N20',   'Kidney stones',             'Urology',     '',   0,  6,  8,  4),
    ('O80',   'Normal delivery',           'Obstetrics',  'f',  0, 60,  2,  0),
    ('S06',   'Concussion',                'Surgery',     '',  18,  9,  5,  8),
    ('S52',   'Fracture of the forearm',   'Surgery',     '',  14,  6,  6,  9),
    ('S72',   'Fracture of the hip',       'Surgery',     '',   0,  1,  3, 16))
    AS t (code, diagnosis, ward, only_sex, child, young, middle, old);

CREATE TEMP TABLE chance AS
SELECT sex, age_group, code, diagnosis, ward,
       sum(often) OVER of_these - often AS first, sum(often) OVER of_these AS next,
       sum(often) OVER (PARTITION BY sex, age_group) AS all_of_them
  FROM illness,
       LATERAL (VALUES (1, child), (2, young), (3, middle), (4, old)) AS g (age_group, often),
       (VALUES ('f'), ('m'), ('x')) AS s (sex)
 WHERE often > 0 AND only_sex IN ('', sex)
WINDOW of_these AS (PARTITION BY sex, age_group ORDER BY nr);

CREATE TABLE patients (
    patient_no   int PRIMARY KEY,
    full_name    text NOT NULL,
    birth_date   date NOT NULL,
    zip          text NOT NULL,
    sex          text NOT NULL,
    admitted     date NOT NULL,
    ward         text NOT NULL,
    icd          text NOT NULL,
    diagnosis    text NOT NULL,
    insurance_no text NOT NULL UNIQUE);

-- First all the draws, then the joins, so that none is made twice.
CREATE TEMP TABLE person AS
SELECT i,
       CASE WHEN draw(i, 'sex', 1000) < 2 THEN 'x'
            WHEN draw(i, 'sex', 1000) < 530 THEN 'f' ELSE 'm' END AS sex,
       -- the old come more often, the very old are few
       CASE WHEN draw(i, 'group', 100) < 10 THEN draw(i, 'age', 15)
            WHEN draw(i, 'group', 100) < 32 THEN 15 + draw(i, 'age', 25)
            WHEN draw(i, 'group', 100) < 60 THEN 40 + draw(i, 'age', 25)
            ELSE 65 + least(draw(i, 'age', 24), draw(i, 'older', 34)) END AS age,
       date '2024-01-01' + draw(i, 'admitted', 366) AS admitted,
       draw(i, 'birthday', 365) AS days,
       draw(i, 'zip', (SELECT max(next)::int FROM town)) AS zip_draw,
       draw(i, 'illness', 2147483647) AS illness_draw
  FROM generate_series(1, 20000) AS i;

INSERT INTO patients
SELECT 100000 + i,
       CASE sex
           WHEN 'f' THEN (ARRAY['Anna', 'Beth', 'Clara', 'Dora', 'Elena', 'Fatima', 'Grace', 'Hanna',
                                'Ines', 'Julia', 'Karin', 'Lena', 'Maria', 'Nora', 'Olga', 'Paula',
                                'Rosa', 'Sofía', 'Tina', 'Vera'])[1 + draw(i, 'first name', 20)]
           ELSE (ARRAY['Adam', 'Boris', 'Carl', 'David', 'Emil', 'Felix', 'Georg', 'Hugo',
                       'Ivan', 'Jonas', 'Karim', 'Liam', 'Mark', 'Noah', 'Omar', 'Peter',
                       'René', 'Simon', 'Tom', 'Viktor'])[1 + draw(i, 'first name', 20)]
       END || ' ' ||
       (ARRAY['Adler', 'Becker', 'Costa', 'Dietrich', 'Engel', 'Fischer', 'Garcia', 'Hughes', 'Ibsen',
              'Jansen', 'Keller', 'Larsen', 'Müller', 'Novák', 'Olsen', 'Petrov', 'Quinn', 'Rossi',
              'Schmidt', 'Thomas', 'Ulrich', 'Vogel', 'Weber', 'Young', 'Zimmer'])[1 + draw(i, 'last name', 25)],
       (admitted - make_interval(years => age, days => days))::date,
       zip, sex, admitted, ward, code, diagnosis,
       chr(65 + draw(i, 'insurer', 26)) || (100000000 + i * 48271::bigint % 899999963)
  FROM person
  JOIN town ON zip_draw BETWEEN town.first AND town.next - 1
  JOIN chance USING (sex)
 WHERE age_group = CASE WHEN age < 15 THEN 1 WHEN age < 40 THEN 2 WHEN age < 65 THEN 3 ELSE 4 END
   AND illness_draw % all_of_them BETWEEN chance.first AND chance.next - 1
 ORDER BY i;

ANALYZE patients;
DROP TABLE town, illness, chance, person;
DROP FUNCTION draw;
