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
	SELECT raises(format('SELECT kanon_linked(%L, %L, NULL, 5, %L, dry_run => true)', 'hosp.patients',
		jsonb_build_object('hosp.patients', '{"quasi_identifiers": ["sex"]}'::jsonb, 'hosp.stays', '{"quasi_identifiers": ["unit"]}'::jsonb,
			'hosp.labs', '{"quasi_identifiers": ["item"], "keep": ["stay_id"]}'::jsonb || labs) || more, known)) $$;
CREATE SCHEMA hosp;
CREATE SCHEMA hosp_public;
CREATE TABLE hosp.patients (id int PRIMARY KEY, sex text);
CREATE TABLE hosp.stays (id int PRIMARY KEY, patient_id int NOT NULL REFERENCES hosp.patients, unit text);
CREATE TABLE hosp.labs (id int PRIMARY KEY, patient_id int NOT NULL REFERENCES hosp.patients, stay_id int REFERENCES hosp.stays, item text);
CREATE TABLE hosp.notes (id int PRIMARY KEY, lab_id int NOT NULL REFERENCES hosp.labs, tone text);
INSERT INTO hosp.patients SELECT i, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END FROM generate_series(1, 60) AS i;
INSERT INTO hosp.stays SELECT i, 1 + i % 60, 'unit ' || i / 60 % 2 FROM generate_series(1, 90) AS i;
-- each patient has labs in a stay, and one without; three persons alone have one of another kind in a stay, and one lab is in another's stay
INSERT INTO hosp.labs SELECT i, 1 + i % 60, CASE WHEN i <= 90 THEN i END, CASE WHEN i IN (2, 4, 6) THEN 'rare' ELSE 'blood' END FROM generate_series(1, 150) AS i;
UPDATE hosp.labs SET stay_id = 3 WHERE id = 40;
INSERT INTO hosp.notes SELECT i, i, 'calm' FROM generate_series(1, 150) AS i;
-- whose a row is says the key to the table that is nearest to the person; the other one joins
SELECT table_name, role, row_count, published FROM kanon_linked('hosp.patients', '{
	"hosp.patients": {"quasi_identifiers": ["sex"]}, "hosp.stays": {"quasi_identifiers": ["unit"]}, "hosp.notes": {"quasi_identifiers": ["tone"]},
	"hosp.labs": {"quasi_identifiers": ["item"], "keep": ["stay_id"]}}', 'hosp_public', 5);
-- a stay of another patient, and what too few persons have, is not shown; every other row joins the stay of its own patient
SELECT count(*), count(l.stay_id) AS join_stays, count(*) FILTER (WHERE s.patient_id <> l.patient_id) AS of_others
FROM hosp_public.labs AS l LEFT JOIN hosp_public.stays AS s ON s.id = l.stay_id;
SELECT item, stay_id IS NULL AS alone, count(DISTINCT patient_id) >= 5 AS many FROM hosp_public.labs GROUP BY 1, 2 ORDER BY 1, 2;
SELECT conname, confrelid::regclass FROM pg_constraint WHERE conrelid = 'hosp_public.labs'::regclass AND contype = 'f' ORDER BY 1;
-- what is checked is read with all its keys; the source has rare combinations, and a row that joins two persons
CREATE FUNCTION checks(schema text, known text, k int DEFAULT 5) RETURNS TABLE (persons bigint, below bool, dangling bigint, safe bool) LANGUAGE sql AS $$
	SELECT persons, below_k > 0, dangling, safe FROM kanon_check_linked((schema || '.patients')::regclass, jsonb_build_object(schema || '.patients', '{"quasi_identifiers": ["sex"]}'::jsonb,
		schema || '.stays', '{"quasi_identifiers": ["unit"]}'::jsonb, schema || '.labs', '{"quasi_identifiers": ["item"]}'::jsonb,
		schema || '.notes', '{"quasi_identifiers": ["tone"]}'::jsonb), k, known) $$;
SELECT * FROM checks('hosp_public', '1');
SELECT * FROM checks('hosp', '1');
SET client_min_messages = warning;
-- more that is known, and rows that are drawn
SELECT tries(known => 'all'), tries(known => '2'), tries(labs => '{"max_rows": 2}');
-- below a row that joins, and by the nearer key alone
SELECT tries('{"hosp.notes": {"quasi_identifiers": ["tone"]}}');
SELECT tries(labs => '{"keep": []}'), tries(labs => '{"foreign_key": "labs_patient_id_fkey"}'), tries(labs => '{"foreign_key": "labs_stay_id_fkey", "keep": []}');
-- what does not join
SELECT tries(labs => '{"foreign_key": "labs_stay_id_fkey", "keep": ["patient_id"]}');
SELECT tries(labs => '{"quasi_identifiers": ["stay_id"], "keep": []}');
ALTER TABLE hosp.labs ADD COLUMN next_stay int REFERENCES hosp.stays;
SELECT tries(labs => '{"keep": ["stay_id", "next_stay"]}');
SELECT tries(labs => '{"keep": ["next_stay"]}');
ALTER TABLE hosp.labs DROP COLUMN next_stay;
-- two persons in one row
CREATE TABLE hosp.letters (id int PRIMARY KEY, sender_id int REFERENCES hosp.patients, reader_id int REFERENCES hosp.patients, kind text);
SELECT tries('{"hosp.letters": {"quasi_identifiers": ["kind"]}}');
SELECT tries('{"hosp.letters": {"quasi_identifiers": ["kind"], "foreign_key": "letters_sender_id_fkey", "keep": ["reader_id"]}}');
DROP TABLE hosp.letters;
-- publications take it, but not over all releases together
CREATE SCHEMA hosp_nights;
SELECT kanon_create_linked_publication('hosp_nights', 'hosp.patients', '{"hosp.patients": {"quasi_identifiers": ["sex"]}, "hosp.stays": {"quasi_identifiers": ["unit"]},
	"hosp.labs": {"quasi_identifiers": ["item"], "keep": ["stay_id"]}}', 5);
UPDATE hosp.labs SET stay_id = NULL WHERE id = 10;
SELECT release, status FROM kanon_refresh('hosp_nights');
SELECT persons, dangling, safe FROM kanon_check_linked('hosp_nights.patients', '{"hosp_nights.patients": {"quasi_identifiers": ["sex"]},
	"hosp_nights.stays": {"quasi_identifiers": ["unit"]}, "hosp_nights.labs": {"quasi_identifiers": ["item"]}}', 5);
CREATE SCHEMA hosp_protected;
SELECT raises($$SELECT kanon_create_linked_publication('hosp_protected', 'hosp.patients', '{"hosp.patients": {"quasi_identifiers": ["sex"]}, "hosp.stays": {"quasi_identifiers": ["unit"]},
	"hosp.labs": {"quasi_identifiers": ["item"], "keep": ["stay_id"]}}', 5, protect_successive => true)$$);
DROP SCHEMA hosp, hosp_public, hosp_nights, hosp_protected CASCADE;
-- Rows of several persons: two clients dispose of an account, and its loans, and what is paid for these, are rows of both.
CREATE SCHEMA bank;
CREATE SCHEMA bank_public;
CREATE TABLE bank.clients (id int PRIMARY KEY, sex text);
CREATE TABLE bank.accounts (id int PRIMARY KEY, kind text, spare text DEFAULT 'n');
CREATE TABLE bank.disposals (id int PRIMARY KEY, client_id int REFERENCES bank.clients, account_id int REFERENCES bank.accounts, type text);
CREATE TABLE bank.loans (id int PRIMARY KEY, account_id int NOT NULL REFERENCES bank.accounts, months int, amount int);
CREATE TABLE bank.payments (id int PRIMARY KEY, loan_id int NOT NULL REFERENCES bank.loans, paid int);
INSERT INTO bank.clients SELECT i, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END FROM generate_series(1, 60) AS i;
INSERT INTO bank.accounts SELECT i, 'kind ' || i % 2 FROM generate_series(1, 40) AS i;
INSERT INTO bank.disposals SELECT i, i, i, 'OWNER' FROM generate_series(1, 40) AS i UNION ALL SELECT i, i, i - 39, 'USER' FROM generate_series(41, 60) AS i;
INSERT INTO bank.loans SELECT i, i, 12, 100 FROM generate_series(1, 40) AS i;
INSERT INTO bank.payments SELECT i, 1 + i % 40, 10 FROM generate_series(1, 80) AS i;
CREATE FUNCTION lends(more jsonb DEFAULT '{}', disposals jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT raises(format('SELECT kanon_linked(%L, %L, NULL, 5, dry_run => true)', 'bank.clients',
		jsonb_build_object('bank.clients', '{"quasi_identifiers": ["sex"]}'::jsonb, 'bank.disposals', '{"keep": ["type"]}'::jsonb || disposals,
			'bank.accounts', '{"quasi_identifiers": ["kind"]}'::jsonb, 'bank.loans', '{"quasi_identifiers": ["months"], "keep": ["amount"]}'::jsonb) || more)) $$;
SELECT table_name, role, row_count, published FROM kanon_linked('bank.clients', '{"bank.clients": {"quasi_identifiers": ["sex"]}, "bank.disposals": {"keep": ["type"]},
	"bank.accounts": {"quasi_identifiers": ["kind"]}, "bank.loans": {"quasi_identifiers": ["months"], "keep": ["amount"]}, "bank.payments": {"keep": ["paid"]}}', 'bank_public', 5);
-- joins run as before; counts and sums are those of the source
SELECT count(*) AS rows, sum(1.0 / l.copies)::int AS loans, sum(amount / l.copies) AS amount, (SELECT sum(paid / copies) FROM bank_public.payments) AS paid,
	count(DISTINCT d.client_id) AS clients
FROM bank_public.loans AS l JOIN bank_public.accounts AS a ON a.id = l.account_id JOIN bank_public.disposals AS d ON d.account_id = a.id;
SELECT measure, column_name, round(before::numeric, 2) AS before, round(after::numeric, 2) AS after, round(value::numeric, 2) AS value
FROM kanon_compare('bank.loans', 'bank_public.loans', '{months}', '{amount}', seed => 1, queries => 5) WHERE measure <> 'queries';
SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'bank_public'::regnamespace AND contype = 'f' ORDER BY conrelid::regclass::text, 2;
-- who checks counts each person who has a row; of the source, too
SELECT persons, smallest, below_k, dangling, safe FROM kanon_check_linked('bank_public.clients', '{"bank_public.clients": {"quasi_identifiers": ["sex"]}, "bank_public.disposals": {},
	"bank_public.accounts": {"quasi_identifiers": ["kind", "copies"]}, "bank_public.loans": {"quasi_identifiers": ["months", "copies"]}, "bank_public.payments": {"quasi_identifiers": ["copies"]}}', 5);
SELECT persons, smallest, below_k, dangling, safe FROM kanon_check_linked('bank.clients', '{"bank.clients": {"quasi_identifiers": ["sex"]}, "bank.disposals": {},
	"bank.accounts": {"quasi_identifiers": ["kind"]}, "bank.loans": {"quasi_identifiers": ["months"]}, "bank.payments": {}}', 5);
-- the owner alone has a copy, under the keys of rows as they are; of who owns nothing the account is empty
DROP TABLE bank_public.payments, bank_public.loans, bank_public.accounts, bank_public.disposals, bank_public.clients;
SELECT table_name, published FROM kanon_linked('bank.clients', '{"bank.clients": {"quasi_identifiers": ["sex"]}, "bank.disposals": {"owner": {"type": "OWNER"}},
	"bank.accounts": {"quasi_identifiers": ["kind"]}, "bank.loans": {"quasi_identifiers": ["months"], "keep": ["amount"]}}', 'bank_public', 5);
SELECT pg_typeof(l.id), count(*), sum(amount), count(*) FILTER (WHERE a.kind IS NULL) AS empty
FROM bank_public.disposals AS d JOIN bank_public.accounts AS a ON a.id = d.account_id LEFT JOIN bank_public.loans AS l ON l.account_id = a.id GROUP BY 1;
-- kept, it is no quasi-identifier of any of them
SELECT lends('{"bank.loans": {"quasi_identifiers": ["months"], "keep": ["copies"]}}'), lends('{"bank.accounts": {"keep": ["kind"]}}');
-- a value that the sharers of one row alone have is one person's, although it stands in several rows
INSERT INTO bank.disposals SELECT 100 + i, i, i - 20, 'USER' FROM generate_series(41, 60) AS i;
ALTER TABLE bank.accounts ADD COLUMN number text;
UPDATE bank.accounts SET number = 'number ' || id;
ALTER TABLE bank.loans ADD COLUMN number text;
UPDATE bank.loans SET number = 'number ' || id;
SELECT lends('{"bank.accounts": {"quasi_identifiers": ["kind"], "keep": ["number"]}}');
SELECT lends('{"bank.loans": {"quasi_identifiers": ["months"], "keep": ["number"]}}');
SELECT lends('{"bank.loans": {"quasi_identifiers": ["months"], "keep": ["number"], "allow_identifying": ["number"]}}');
ALTER TABLE bank.loans DROP COLUMN number;
DELETE FROM bank.disposals WHERE id > 100;
-- what is refused
SELECT lends(disposals => '{"owner": {"type": "NOBODY"}}'), lends(disposals => '{"owner": {"kind": 1}}'), lends(disposals => '{"owner": "type"}'), lends(disposals => '{"owner": {"type": null}}');
INSERT INTO bank.disposals VALUES (61, 3, 1, 'OWNER');
SELECT lends(disposals => '{"owner": {"type": "OWNER"}}');
SELECT lends('{"bank.clients": {"quasi_identifiers": ["sex"], "owner": {"sex": "f"}}}');
SELECT lends('{"bank.loans": {"quasi_identifiers": ["months"], "linked": false}}');
ALTER TABLE bank.loans ADD COLUMN copies int, ADD COLUMN spare_id int REFERENCES bank.accounts;
SELECT lends();
SELECT lends('{"bank.loans": {"quasi_identifiers": ["months"], "foreign_key": "loans_account_id_fkey"}}');
ALTER TABLE bank.loans DROP COLUMN copies, DROP COLUMN spare_id;
CREATE SCHEMA bank_nights;
SELECT raises($$SELECT kanon_create_linked_publication('bank_nights', 'bank.clients', '{"bank.clients": {"quasi_identifiers": ["sex"]}, "bank.disposals": {},
	"bank.accounts": {"quasi_identifiers": ["kind"]}, "bank.loans": {"quasi_identifiers": ["months"]}}', 5, protect_successive => true)$$);
SELECT kanon_create_linked_publication('bank_nights', 'bank.clients', '{"bank.clients": {"quasi_identifiers": ["sex"]}, "bank.disposals": {},
	"bank.accounts": {"quasi_identifiers": ["kind"]}, "bank.loans": {"quasi_identifiers": ["months"]}}', 5);
DELETE FROM bank.disposals WHERE id IN (61, 41);
SELECT release, status FROM kanon_refresh('bank_nights');
SELECT count(*), sum(1.0 / copies)::int AS loans FROM bank_nights.loans;
-- a key of two columns, a row that is the account's only one, and a lookup of such rows
CREATE TABLE bank.limits (account_id int PRIMARY KEY REFERENCES bank.accounts, step int);
CREATE TABLE bank.purposes (id int PRIMARY KEY, name text);
INSERT INTO bank.limits SELECT i, i % 2 FROM generate_series(1, 40) AS i;
INSERT INTO bank.purposes VALUES (1, 'house');
ALTER TABLE bank.loans ADD COLUMN purpose_id int REFERENCES bank.purposes;
UPDATE bank.loans SET purpose_id = 1;
ALTER TABLE bank.loans DROP CONSTRAINT loans_pkey CASCADE, ADD PRIMARY KEY (id, account_id);
SELECT lends('{"bank.limits": {"quasi_identifiers": ["step"]}, "bank.purposes": {"keep": ["name"]}, "bank.loans": {"quasi_identifiers": ["months"], "keep": ["purpose_id"]}}');
-- not over copies of copies: the error names the view
CREATE TABLE bank.branches (id int PRIMARY KEY, city text);
CREATE TABLE bank.visits (id int PRIMARY KEY, branch_id int REFERENCES bank.branches, at text);
ALTER TABLE bank.accounts ADD COLUMN branch_id int REFERENCES bank.branches;
SELECT lends('{"bank.branches": {"quasi_identifiers": ["city"]}, "bank.visits": {"quasi_identifiers": ["at"]}}');
DROP SCHEMA bank, bank_public, bank_nights CASCADE;
