-- Shapes of schemas that test/linked/schemas.pl found: several tables are published, or the error is clear.
SET client_min_messages = warning;
CREATE SCHEMA schemas;
CREATE SCHEMA schemas_out;
CREATE SCHEMA schemas_own;
SET search_path = schemas, public;
-- keys of type char(n) are compared whole
CREATE TABLE person (id char(5) PRIMARY KEY, a int);
INSERT INTO person SELECT 'k' || i, i % 3 FROM generate_series(1, 30) i;
CREATE TABLE visit (id int PRIMARY KEY, person char(5) REFERENCES person, b int);
INSERT INTO visit SELECT i, 'k' || 1 + i % 30, i % 2 FROM generate_series(1, 60) i;
SELECT smallest_class, below_k, safe FROM kanon_check_linked('person', '{"person": {"quasi_identifiers": ["a"]}, "visit": {"quasi_identifiers": ["b"]}}', 3);
-- a key that the caller names, and that is no key
CREATE VIEW again AS SELECT 'k1'::char(5) AS id, a FROM person;
SELECT kanon_check_linked('again', '{"again": {"key": "id", "quasi_identifiers": ["a"]}, "visit": {"references": {"person": "again"}, "quasi_identifiers": ["b"]}}', 3);
-- a protected publication whose rows refer to a lookup by a column that nobody names
CREATE TABLE patient AS SELECT i AS id, i % 3 AS a FROM generate_series(1, 30) i;
ALTER TABLE patient ADD PRIMARY KEY (id);
CREATE TABLE ward (id int PRIMARY KEY, name text);
INSERT INTO ward SELECT i, 'ward ' || i % 2 FROM generate_series(1, 3) i;
CREATE TABLE stay (id int PRIMARY KEY, patient int REFERENCES patient, ward int REFERENCES ward, b int);
INSERT INTO stay SELECT i, 1 + i % 30, 1 + i % 3, i % 2 FROM generate_series(1, 60) i;
SELECT kanon_create_linked_publication('schemas_out', 'patient', '{"patient": {"quasi_identifiers": ["a"]}, "stay": {"quasi_identifiers": ["b"]}, "ward": {"keep": ["name"]}}', 3, private_schema => 'schemas_own', protect_successive => true);
INSERT INTO patient VALUES (31, 0);
SELECT status, error FROM kanon_refresh('schemas_out');
SELECT count(*) FROM schemas_out.ward;
SELECT kanon_drop_publication('schemas_out');
DROP SCHEMA schemas, schemas_out, schemas_own CASCADE;
