/* Several tables as one release: keys of several columns, and tables without quasi-identifiers. */
\pset null '~'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS kanon;
CREATE SCHEMA ward;
CREATE SCHEMA ward_public;
CREATE TABLE ward.hospital (id int PRIMARY KEY, name text);
CREATE TABLE ward.codes (code text, ver smallint, title text, PRIMARY KEY (code, ver));
CREATE TABLE ward.address (street int, number int, city text, size int, PRIMARY KEY (number, street));
CREATE TABLE ward.patient (hospital int REFERENCES ward.hospital, no int, sex text, street int, house int, code_ver text, PRIMARY KEY (hospital, no), FOREIGN KEY (street, house) REFERENCES ward.address (street, number));
CREATE TABLE ward.stay (hospital int, patient int, seq int, place text, code text, ver smallint, PRIMARY KEY (hospital, patient, seq),
    FOREIGN KEY (hospital, patient) REFERENCES ward.patient, FOREIGN KEY (code, ver) REFERENCES ward.codes, FOREIGN KEY (hospital) REFERENCES ward.hospital);
CREATE TABLE ward.lab (hospital int, patient int, stay int, item int, value int, FOREIGN KEY (stay, hospital, patient) REFERENCES ward.stay (seq, hospital, patient));
INSERT INTO ward.hospital SELECT i, 'h' || i FROM generate_series(1, 2) AS i;
INSERT INTO ward.codes SELECT 'c' || i, v, 'title ' || i || ' of ' || v FROM generate_series(1, 4) AS i, generate_series(9, 10) AS v;
INSERT INTO ward.address SELECT i % 7, i, 'city ' || (i * i + i / 5) % 5, i % 3 FROM generate_series(1, 100) AS i;
INSERT INTO ward.patient SELECT 1 + i % 2, i, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, CASE WHEN i % 10 > 0 THEN (1 + i % 100) % 7 END, 1 + i % 100 FROM generate_series(1, 200) AS i;
INSERT INTO ward.stay SELECT 1 + i % 2, i, s, 'w' || (i * i + s) % 4, CASE WHEN (i + s) % 9 > 0 THEN 'c' || 1 + i % 4 END, 9 + (i / 5 + s) % 2 FROM generate_series(1, 200) AS i, generate_series(1, 1 + i % 3) AS s;
INSERT INTO ward.lab SELECT s.hospital, s.patient, s.seq, (s.patient + l) % 3, l FROM ward.stay AS s, generate_series(1, 2) AS l;
CREATE FUNCTION ward_publish(tables jsonb, k bigint DEFAULT 5, known_rows text DEFAULT '1') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    detail text;
BEGIN
    DROP SCHEMA ward_public CASCADE;
    CREATE SCHEMA ward_public;
    RETURN QUERY SELECT concat_ws(' ', l.table_name || ':', l.role, l.published = l.row_count) FROM kanon_linked('ward.patient', tables, 'ward_public', k, known_rows::kanon_known_rows) AS l;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RAISE WARNING '%', concat_ws(E'\n', SQLSTATE || ': ' || SQLERRM, nullif(detail, ''), hint);
END $$;
-- persons, rows and their rows are joined by one column; a reference that is NULL in one of its columns refers to nothing
SELECT ward_publish('{"ward.patient": {"quasi_identifiers": ["sex"]}, "ward.stay": {"quasi_identifiers": ["place"], "keep": ["code", "ver"], "foreign_key": "stay_hospital_patient_fkey"}, "ward.lab": {"quasi_identifiers": ["item"], "keep": ["value"]},
    "ward.codes": {"keep": ["title"]}}');
SELECT conrelid::regclass AS relation, contype, pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE connamespace = 'ward_public'::regnamespace AND contype <> 'n' ORDER BY conrelid::regclass::text, 2, 3;
SELECT count(*) AS labs, count(p.sex) AS joined, count(DISTINCT p.hospital_no) > 100 AS persons, count(c.title) < count(*) AS some_none, count(DISTINCT c.title) AS titles
FROM ward_public.lab AS l JOIN ward_public.stay AS s ON s.hospital_patient_seq = l.hospital_patient_stay JOIN ward_public.patient AS p ON p.hospital_no = s.hospital_patient LEFT JOIN ward_public.codes AS c ON c.code_ver = s.code_ver;
SELECT smallest >= 5 AS smallest, dangling, safe FROM kanon_check_linked('ward_public.patient', '{"ward_public.patient": {"quasi_identifiers": ["sex"]}, "ward_public.stay": {"quasi_identifiers": ["place"]}, "ward_public.lab": {"quasi_identifiers": ["item"]}}', 5);
-- each title stands beside the stays that have it in the source
SELECT count(*) AS different FROM ((SELECT title, count(*) FROM ward.stay JOIN ward.codes USING (code, ver) GROUP BY title) EXCEPT (SELECT title, count(*) FROM ward_public.stay JOIN ward_public.codes USING (code_ver) GROUP BY title)) AS d;
-- as a quasi-identifier both columns are shown or hidden together, and the lookup's key is as it is
SELECT ward_publish('{"ward.patient": {"quasi_identifiers": ["sex"]}, "ward.stay": {"quasi_identifiers": ["code", "place", "ver"], "foreign_key": "stay_hospital_patient_fkey"}, "ward.codes": {"keep": ["title"]}}', 3, '2');
SELECT count(*) > count(s.code_ver) AS some_hidden, count(s.code_ver) = count(c.title) AS joined, min(s.code_ver) AS first FROM ward_public.stay AS s LEFT JOIN ward_public.codes AS c USING (code_ver);
-- one column of a reference alone is a column like any other
SELECT ward_publish('{"ward.patient": {"quasi_identifiers": ["sex"]}, "ward.stay": {"quasi_identifiers": ["code", "place"], "foreign_key": "stay_hospital_patient_fkey"}}', 3);
SELECT count(DISTINCT code) AS codes FROM ward_public.stay;
-- a column that refers to a table by itself, too
SELECT ward_publish('{"ward.patient": {"quasi_identifiers": ["sex"]}, "ward.stay": {"quasi_identifiers": ["place"], "keep": ["hospital", "code", "ver"], "foreign_key": "stay_hospital_patient_fkey"}, "ward.codes": {"keep": ["title"]}, "ward.hospital": {"keep": ["name"]}}', 3);
SELECT count(*) = count(h.name) AS hospitals, count(c.title) > 0 AS codes FROM ward_public.stay AS s JOIN ward_public.hospital AS h ON h.id = s.hospital LEFT JOIN ward_public.codes AS c USING (code_ver);
-- copies: whoever refers to an address has one
SELECT ward_publish('{"ward.patient": {"quasi_identifiers": ["sex"]}, "ward.address": {"quasi_identifiers": ["city"], "keep": ["size"]}}', 3);
SELECT count(*) = count(a.size) + count(*) FILTER (WHERE a.size IS NULL) AS joined, count(DISTINCT a.number_street) AS own, count(a.city) > 100 AS cities FROM ward_public.patient AS p JOIN ward_public.address AS a ON a.number_street = p.house_street;
-- without a key to the person, below others
SELECT ward_publish('{"ward.patient": {"quasi_identifiers": ["sex"]}, "ward.stay": {"quasi_identifiers": ["place"], "linked": false, "foreign_key": "stay_hospital_patient_fkey"}, "ward.lab": {"quasi_identifiers": ["item"], "linked": false}}', 3);
-- night by night
CREATE SCHEMA ward_view;
SELECT kanon_create_linked_publication('ward_view', 'ward.patient', '{"ward.patient": {"quasi_identifiers": ["sex"]}, "ward.stay": {"quasi_identifiers": ["place"], "keep": ["code", "ver"], "foreign_key": "stay_hospital_patient_fkey"}, "ward.codes": {"keep": ["title"]}}', 3, pseudonym => 'publication');
CREATE TABLE ward.before AS SELECT hospital_no, sex FROM ward_view.patient;
DELETE FROM ward.lab WHERE patient = 7;
DELETE FROM ward.stay WHERE patient = 7;
SELECT status FROM kanon_refresh('ward_view');
SELECT count(*) = count(b.sex) AS same FROM ward_view.patient AS p LEFT JOIN ward.before AS b USING (hospital_no);
SELECT kanon_drop_publication('ward_view');
-- what it cannot be
SELECT kanon_create_linked_publication('ward_view', 'ward.patient', '{"ward.patient": {"quasi_identifiers": ["sex"]}}', 3, protect_successive => true);
ALTER TABLE ward.lab DROP CONSTRAINT lab_stay_hospital_patient_fkey;
ALTER TABLE ward.stay DROP CONSTRAINT stay_code_ver_fkey;
ALTER TABLE ward.codes ALTER COLUMN ver TYPE numeric;
ALTER TABLE ward.stay ALTER COLUMN ver TYPE numeric, ADD FOREIGN KEY (code, ver) REFERENCES ward.codes;
SELECT ward_publish('{"ward.patient": {"quasi_identifiers": ["sex"]}, "ward.stay": {"quasi_identifiers": ["place"], "keep": ["code", "ver"], "foreign_key": "stay_hospital_patient_fkey"}, "ward.codes": {"keep": ["title"]}}');

-- rows without quasi-identifiers, between others or alone: kept columns are shown, and k persons have so many rows
CREATE TABLE ward.client (id int PRIMARY KEY, sex text);
CREATE TABLE ward.orders (id int PRIMARY KEY, client int REFERENCES ward.client, amount int, note text);
CREATE TABLE ward.line (id int PRIMARY KEY, orders int REFERENCES ward.orders, what text);
INSERT INTO ward.client SELECT i, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END FROM generate_series(1, 40) AS i;
INSERT INTO ward.orders SELECT i, 1 + i % 40, i % 7, 'n' || 1 + i % 40 FROM generate_series(1, 70) AS i;
INSERT INTO ward.line SELECT i, 1 + i % 70, 'w' || i % 5 FROM generate_series(1, 140) AS i;
DROP SCHEMA ward_public CASCADE;
CREATE SCHEMA ward_public;
SELECT table_name, role, row_count, published, gcp FROM kanon_linked('ward.client', '{"ward.client": {"quasi_identifiers": ["sex"]}, "ward.orders": {"keep": ["amount"]}, "ward.line": {"quasi_identifiers": ["what"]}}', 'ward_public', 3);
SELECT count(*) AS lines, count(DISTINCT o.id) AS orders, sum(amount) AS amount FROM ward_public.line AS l JOIN ward_public.orders AS o ON o.id = l.orders JOIN ward_public.client AS c ON c.id = o.client;
SELECT persons, smallest, below_k, dangling, safe FROM kanon_check_linked('ward_public.client', '{"ward_public.client": {"quasi_identifiers": ["sex"]}, "ward_public.orders": {}, "ward_public.line": {"quasi_identifiers": ["what"]}}', 3);
SELECT target, length(kanon_report(run, read_target => true)) > 1000 AS page FROM kanon_usefulness WHERE target IN ('ward_public', 'ward_public.orders') ORDER BY target;
SELECT FROM kanon_linked('ward.client', '{"ward.client": {"quasi_identifiers": ["sex"]}, "ward.orders": {"keep": ["note"]}, "ward.line": {"quasi_identifiers": ["what"]}}', NULL, 3, dry_run => true);
DELETE FROM ward.line;
UPDATE ward.orders SET client = 1;
SELECT table_name, published FROM kanon_linked('ward.client', '{"ward.client": {"quasi_identifiers": ["sex"]}, "ward.orders": {}}', NULL, 3, dry_run => true);
SELECT table_name, published FROM kanon_linked('ward.client', '{"ward.client": {"quasi_identifiers": ["sex"]}, "ward.orders": {}}', NULL, 3, '{"orders": 0}', dry_run => true);
DELETE FROM ward.orders;
SELECT table_name, published FROM kanon_linked('ward.client', '{"ward.client": {"quasi_identifiers": ["sex"]}, "ward.orders": {"keep": ["amount"]}}', NULL, 3, dry_run => true);
SELECT FROM kanon_linked('ward.client', '{"ward.client": {"quasi_identifiers": ["sex"]}, "ward.orders": {"keep": ["amount"], "linked": false}}', NULL, 3, dry_run => true);

-- rows of several persons: each person has a copy, made by kanon or by views, and the number of copies says what each counts
CREATE TABLE ward.account (id int PRIMARY KEY, kind text);
CREATE TABLE ward.disposes (id int PRIMARY KEY, client int REFERENCES ward.client, account int REFERENCES ward.account);
CREATE TABLE ward.loan (id int PRIMARY KEY, account int REFERENCES ward.account, months int, amount int);
INSERT INTO ward.account SELECT i, 'k' || i % 2 FROM generate_series(1, 30) AS i;
INSERT INTO ward.disposes SELECT i, i, 1 + i % 30 FROM generate_series(1, 40) AS i;
INSERT INTO ward.loan SELECT i, i, 12 * (i % 3), 100 * i FROM generate_series(1, 30) AS i;
SELECT table_name, role, row_count FROM kanon_linked('ward.client', '{"ward.client": {"quasi_identifiers": ["sex"]}, "ward.disposes": {}, "ward.account": {"keep": ["kind"], "allow_identifying": ["kind"]},
    "ward.loan": {"quasi_identifiers": ["months"]}}', NULL, 3, dry_run => true);
CREATE VIEW ward.held AS SELECT d.id, d.client, a.kind, count(*) OVER (PARTITION BY a.id) AS copies FROM ward.disposes AS d JOIN ward.account AS a ON a.id = d.account;
CREATE VIEW ward.held_loan AS SELECT (d.id::bigint << 32) + l.id AS id, d.id AS held, l.months, l.amount FROM ward.disposes AS d JOIN ward.loan AS l ON l.account = d.account;
DROP SCHEMA ward_public CASCADE;
CREATE SCHEMA ward_public;
SELECT table_name, role, row_count, published FROM kanon_linked('ward.client', '{"ward.client": {"quasi_identifiers": ["sex"]}, "ward.held": {"key": "id", "references": {"client": "ward.client"}, "quasi_identifiers": ["kind"], "keep": ["copies"]},
    "ward.held_loan": {"key": "id", "references": {"held": "ward.held"}, "quasi_identifiers": ["months"], "keep": ["amount"], "allow_identifying": ["amount"]}}', 'ward_public', 3);
SELECT count(*) AS rows, sum(1.0 / copies)::int AS loans, sum(amount / copies) AS amount, (SELECT sum(amount) FROM ward.loan) AS source FROM ward_public.held_loan AS l JOIN ward_public.held AS h ON h.id = l.held;
-- a name for a key of several columns is found beside any columns, and cut between characters
DO $$ DECLARE name text := 'code_ver'; columns text := ''; BEGIN
    LOOP columns := columns || format(', %I int', name); EXIT WHEN octet_length(name) = 59; name := left(name, 55) || '_key'; END LOOP;
    EXECUTE 'CREATE TABLE ward.taken (code int, ver int, title text' || columns || ', PRIMARY KEY (code, ver))';
END $$;
CREATE TABLE ward.guest AS SELECT i AS id, i % 5 AS a FROM generate_series(1, 200) AS i;
ALTER TABLE ward.guest ADD PRIMARY KEY (id);
CREATE TABLE ward.booked AS SELECT i AS id, 1 + i % 200 AS guest, 1 + i % 5 AS code, 1 AS ver FROM generate_series(1, 400) AS i;
INSERT INTO ward.taken (code, ver, title) SELECT i, 1, 'x' || i % 2 FROM generate_series(1, 5) AS i;
ALTER TABLE ward.booked ADD FOREIGN KEY (guest) REFERENCES ward.guest, ADD FOREIGN KEY (code, ver) REFERENCES ward.taken;
SELECT role, row_count, published FROM kanon_linked('ward.guest', '{"ward.guest": {"quasi_identifiers": ["a"]}, "ward.booked": {"keep": ["code", "ver"]}, "ward.taken": {"keep": ["title"]}}', NULL, 3, dry_run => true);
ALTER TABLE ward.taken RENAME code TO "cööööööööööööööööööööööööööööö";
ALTER TABLE ward.taken RENAME ver TO "vääääääääääääääääääääääääää";
SELECT role, row_count, published FROM kanon_linked('ward.guest', '{"ward.guest": {"quasi_identifiers": ["a"]}, "ward.booked": {"keep": ["code", "ver"]}, "ward.taken": {"keep": ["title"]}}', NULL, 3, dry_run => true);
DROP FUNCTION ward_publish;
DROP SCHEMA ward, ward_public, ward_view CASCADE;
