-- Rows that refer to several others: labs to a patient and, sometimes, to a stay of the patient.
CREATE FUNCTION raises(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE query;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN SQLSTATE || ' ' || SQLERRM || ' (' || hint || ')';
END $$;
CREATE FUNCTION tries(more jsonb DEFAULT '{}', labs jsonb DEFAULT '{}', known text DEFAULT '1') RETURNS text LANGUAGE sql AS $$
	SELECT raises(format('SELECT kanon_linked(%L, %L, NULL, 5, %L, dry_run => true)', 'ward.patients',
		jsonb_build_object('ward.patients', '{"quasi_identifiers": ["sex"]}'::jsonb, 'ward.stays', '{"quasi_identifiers": ["unit"]}'::jsonb,
			'ward.labs', '{"quasi_identifiers": ["item"], "keep": ["stay_id"]}'::jsonb || labs) || more, known)) $$;
CREATE SCHEMA ward;
CREATE SCHEMA ward_public;
CREATE TABLE ward.patients (id int PRIMARY KEY, sex text);
CREATE TABLE ward.stays (id int PRIMARY KEY, patient_id int NOT NULL REFERENCES ward.patients, unit text);
CREATE TABLE ward.labs (id int PRIMARY KEY, patient_id int NOT NULL REFERENCES ward.patients, stay_id int REFERENCES ward.stays, item text);
CREATE TABLE ward.notes (id int PRIMARY KEY, lab_id int NOT NULL REFERENCES ward.labs, tone text);
INSERT INTO ward.patients SELECT i, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END FROM generate_series(1, 60) AS i;
INSERT INTO ward.stays SELECT i, 1 + i % 60, 'unit ' || i / 60 % 2 FROM generate_series(1, 90) AS i;
-- each patient has labs in a stay, and one without; three persons alone have one of another kind in a stay, and one lab is in another's stay
INSERT INTO ward.labs SELECT i, 1 + i % 60, CASE WHEN i <= 90 THEN i END, CASE WHEN i IN (2, 4, 6) THEN 'rare' ELSE 'blood' END FROM generate_series(1, 150) AS i;
UPDATE ward.labs SET stay_id = 3 WHERE id = 40;
INSERT INTO ward.notes SELECT i, i, 'calm' FROM generate_series(1, 150) AS i;
-- whose a row is says the key to the table that is nearest to the person; the other one joins
SELECT table_name, role, row_count, published FROM kanon_linked('ward.patients', '{
	"ward.patients": {"quasi_identifiers": ["sex"]}, "ward.stays": {"quasi_identifiers": ["unit"]}, "ward.notes": {"quasi_identifiers": ["tone"]},
	"ward.labs": {"quasi_identifiers": ["item"], "keep": ["stay_id"]}}', 'ward_public', 5);
-- a stay of another patient, and what too few persons have, is not shown; every other row joins the stay of its own patient
SELECT count(*), count(l.stay_id) AS join_stays, count(*) FILTER (WHERE s.patient_id <> l.patient_id) AS of_others
FROM ward_public.labs AS l LEFT JOIN ward_public.stays AS s ON s.id = l.stay_id;
SELECT item, stay_id IS NULL AS alone, count(DISTINCT patient_id) >= 5 AS many FROM ward_public.labs GROUP BY 1, 2 ORDER BY 1, 2;
SELECT conname, confrelid::regclass FROM pg_constraint WHERE conrelid = 'ward_public.labs'::regclass AND contype = 'f' ORDER BY 1;
-- what is checked is read with all its keys; the source has rare combinations, and a row that joins two persons
CREATE FUNCTION checks(schema text, known text, k int DEFAULT 5) RETURNS TABLE (persons bigint, below bool, dangling bigint, safe bool) LANGUAGE sql AS $$
	SELECT persons, below_k > 0, dangling, safe FROM kanon_check_linked((schema || '.patients')::regclass, jsonb_build_object(schema || '.patients', '{"quasi_identifiers": ["sex"]}'::jsonb,
		schema || '.stays', '{"quasi_identifiers": ["unit"]}'::jsonb, schema || '.labs', '{"quasi_identifiers": ["item"]}'::jsonb,
		schema || '.notes', '{"quasi_identifiers": ["tone"]}'::jsonb), k, known) $$;
SELECT * FROM checks('ward_public', '1');
SELECT * FROM checks('ward', '1');
SET client_min_messages = warning;
-- more that is known, and rows that are drawn
SELECT tries(known => 'all'), tries(known => '2'), tries(labs => '{"max_rows": 2}');
-- below a row that joins, and by the nearer key alone
SELECT tries('{"ward.notes": {"quasi_identifiers": ["tone"]}}');
SELECT tries(labs => '{"keep": []}'), tries(labs => '{"foreign_key": "labs_patient_id_fkey"}'), tries(labs => '{"foreign_key": "labs_stay_id_fkey", "keep": []}');
-- what does not join
SELECT tries(labs => '{"foreign_key": "labs_stay_id_fkey", "keep": ["patient_id"]}');
SELECT tries(labs => '{"quasi_identifiers": ["stay_id"], "keep": []}');
ALTER TABLE ward.labs ADD COLUMN next_stay int REFERENCES ward.stays;
SELECT tries(labs => '{"keep": ["stay_id", "next_stay"]}');
SELECT tries(labs => '{"keep": ["next_stay"]}');
ALTER TABLE ward.labs DROP COLUMN next_stay;
-- two persons in one row
CREATE TABLE ward.letters (id int PRIMARY KEY, sender_id int REFERENCES ward.patients, reader_id int REFERENCES ward.patients, kind text);
SELECT tries('{"ward.letters": {"quasi_identifiers": ["kind"]}}');
SELECT tries('{"ward.letters": {"quasi_identifiers": ["kind"], "foreign_key": "letters_sender_id_fkey", "keep": ["reader_id"]}}');
DROP TABLE ward.letters;
-- publications take it, but not over all releases together
CREATE SCHEMA ward_nights;
SELECT kanon_create_linked_publication('ward_nights', 'ward.patients', '{"ward.patients": {"quasi_identifiers": ["sex"]}, "ward.stays": {"quasi_identifiers": ["unit"]},
	"ward.labs": {"quasi_identifiers": ["item"], "keep": ["stay_id"]}}', 5);
UPDATE ward.labs SET stay_id = NULL WHERE id = 10;
SELECT release, status FROM kanon_refresh('ward_nights');
SELECT persons, dangling, safe FROM kanon_check_linked('ward_nights.patients', '{"ward_nights.patients": {"quasi_identifiers": ["sex"]},
	"ward_nights.stays": {"quasi_identifiers": ["unit"]}, "ward_nights.labs": {"quasi_identifiers": ["item"]}}', 5);
CREATE SCHEMA ward_protected;
SELECT raises($$SELECT kanon_create_linked_publication('ward_protected', 'ward.patients', '{"ward.patients": {"quasi_identifiers": ["sex"]}, "ward.stays": {"quasi_identifiers": ["unit"]},
	"ward.labs": {"quasi_identifiers": ["item"], "keep": ["stay_id"]}}', 5, protect_successive => true)$$);
DROP SCHEMA ward, ward_public, ward_nights, ward_protected CASCADE;
