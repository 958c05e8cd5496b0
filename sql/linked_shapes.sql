/* Several tables of all shapes: how much each counts, sizes of classes, what somebody knows. */
\pset null '~'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS kanon;
CREATE SCHEMA town;
CREATE SCHEMA town_public;

-- larger classes lose as much for a while, or more, and then far less: all sizes are tried
CREATE TABLE town.people (id int PRIMARY KEY, block int, flat int);
CREATE TABLE town.visits (id int PRIMARY KEY, person int REFERENCES town.people, shop int);
CREATE TABLE town.calls (id int PRIMARY KEY, person int REFERENCES town.people, line int);
INSERT INTO town.people SELECT i, i / 64, i % 64 / 8 FROM generate_series(0, 255) AS i;
INSERT INTO town.visits SELECT i, i, i % 32 FROM generate_series(0, 255) AS i;
INSERT INTO town.calls SELECT i, i, i % 32 FROM generate_series(0, 255) AS i;
CREATE FUNCTION town_sizes(size text, more text DEFAULT '', OUT classes bigint, OUT people text, OUT visits text, OUT calls text) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMPORARY TABLE lost ON COMMIT DROP AS SELECT table_name AS of, published || ' ' || round(gcp::numeric, 2) AS lost FROM kanon_linked('town.people', format('{
        "town.people": {"quasi_identifiers": ["block", "flat"], "class_size": %s, "hierarchies": {"flat": {"interval": [2, 4]}}},
        "town.visits": {"quasi_identifiers": ["shop"] %s}, "town.calls": {"quasi_identifiers": ["line"]}}', size, more)::jsonb, 'town_public', 2, replace => true);
    SELECT count(*) FROM (SELECT FROM town_public.people GROUP BY block, flat) AS c INTO classes;
    SELECT lost FROM lost WHERE of = 'town.people' INTO people;
    SELECT lost FROM lost WHERE of = 'town.visits' INTO visits;
    SELECT lost FROM lost WHERE of = 'town.calls' INTO calls;
    DROP TABLE lost;
END $$;
SELECT s.size, t.* FROM unnest('{2,4,8,16,32,64,"\"auto\""}'::text[]) AS s(size), town_sizes(s.size) AS t;

-- a table of few rows counts as much as one of many: the cheapest way out for a few loans is not to leave them out
CREATE TABLE town.loans (id int PRIMARY KEY, person int REFERENCES town.people, months int, kind text);
CREATE TABLE town.payments (id int PRIMARY KEY, person int REFERENCES town.people, month int);
INSERT INTO town.loans SELECT i, i, 12 * (1 + i % 5), 'k' || i % 3 FROM generate_series(0, 255, 5) AS i;
INSERT INTO town.payments SELECT p.id * 20 + n, p.id, (p.id * p.id % 11 + n * n) % 12 FROM town.people AS p, generate_series(1, 6) AS n;
CREATE FUNCTION town_loans(loans text, payments text) RETURNS TABLE ("table" text, published bigint, gcp numeric) LANGUAGE sql AS $$
    SELECT table_name, published, round(gcp::numeric, 2) FROM kanon_linked('town.people', format('{
        "town.people": {"quasi_identifiers": ["block"]}, "town.loans": {"quasi_identifiers": ["months", "kind"]%s},
        "town.payments": {"quasi_identifiers": ["month"]%s}}', loans, payments)::jsonb, 'town_public', 3, replace => true) $$;
DROP TABLE town_public.people, town_public.visits, town_public.calls;
SELECT * FROM town_loans('', '');
SELECT * FROM town_loans(', "weight": 100', '');
SELECT * FROM town_loans('', ', "weight": 100');
-- of the columns' weights only how they divide matters
SELECT * FROM town_loans(', "weights": {"months": 7, "kind": 7}', ', "weights": {"month": 1000}');
-- what a weight is, and of which tables
\set VERBOSITY terse
SELECT town_loans(', "weight": 0', '');
SELECT town_loans(', "weight": 1e300', '');
SELECT town_loans(', "weight": "much"', '');
SELECT town_loans('', ', "linked": false, "weight": 2');
\set VERBOSITY default

-- what somebody may know: of each table, in all of them together, nothing of some
CREATE FUNCTION town_known(known text, OUT loans text, OUT payments text, OUT promise text, OUT safe boolean) LANGUAGE plpgsql AS $$
DECLARE
    tables jsonb := '{"town.people": {"quasi_identifiers": ["block"]}, "town.loans": {"quasi_identifiers": ["months", "kind"]}, "town.payments": {"quasi_identifiers": ["month"]}}';
BEGIN
    CREATE TEMPORARY TABLE lost ON COMMIT DROP AS SELECT table_name AS of, run, release_run, published || ' ' || round(gcp::numeric, 2) AS lost FROM kanon_linked('town.people', tables, 'town_public', 6, known, replace => true);
    SELECT lost FROM lost WHERE of = 'town.loans' INTO loans;
    SELECT lost FROM lost WHERE of = 'town.payments' INTO payments;
    SELECT s ->> 'says' FROM lost, jsonb_array_elements(kanon_report_data(run) -> 'statements') s WHERE of = 'town.loans' AND s ->> 'about' = 'promise' INTO promise;
    SELECT c.safe FROM kanon_check_linked('town_public.people', replace(tables::text, 'town.', 'town_public.')::jsonb, 6, known) AS c INTO safe;
    DROP TABLE lost;
END $$;
SELECT k.known, t.loans, t.payments, t.safe FROM unnest('{1,"1 in all","2 in all",2,all}'::text[]) AS k(known), town_known(k.known) AS t;
SELECT k.known, t.loans, t.payments, t.safe FROM unnest(ARRAY['{"loans": 0}', '{"loans": 1, "payments": 0}', '{"loans": 0, "payments": 0}', '{"payments": 2, "in all": 2}', '{}']) AS k(known), town_known(k.known) AS t;
SELECT substr(promise, 1, 260) AS promise FROM unnest(ARRAY['1 in all', '{"loans": 0, "in all": 2}']) AS k(known), town_known(k.known);
SELECT table_name FROM kanon_linked('town.people', '{"town.people": {"quasi_identifiers": ["block"]}, "town.loans": {"quasi_identifiers": ["months"], "target": "credits"}}', 'town_public', 6, '{"town.loans": 2, "credits": 2}', replace => true, dry_run => true);
SELECT k, known_rows, table_name, round(loss::numeric, 2) AS loss FROM kanon_linked_frontier('town.people', '{"town.people": {"quasi_identifiers": ["block"]}, "town.loans": {"quasi_identifiers": ["months"]}}', '{6}', ARRAY['1', '{"loans": 0}']);
\set VERBOSITY terse
SELECT town_known('0');
SELECT town_known('1 in');
SELECT town_known('11');
SELECT town_known('{"loans": 5}');
SELECT town_known('{"loans": 1.5}');
SELECT town_known('{"in all": 0}');
SELECT town_known('{"people": 1}');
SELECT town_known('{"loans"');
\set VERBOSITY default

-- a person with a thousand rows: others that show the same stand for them
INSERT INTO town.loans SELECT 1000 + i, 7, i % 50, 'k' || i % 3 FROM generate_series(1, 1000) AS i;
INSERT INTO town.payments SELECT 100000 + i, 7, i % 12 FROM generate_series(1, 2000) AS i;
SET client_min_messages = notice;
SET statement_timeout = '20s';
SELECT * FROM town_loans('', '');
RESET statement_timeout;
-- persons who are left out
DROP TABLE town_public.payments;
UPDATE town.people SET block = 9 WHERE id = 255;
SELECT table_name, published FROM kanon_linked('town.people', '{"town.people": {"quasi_identifiers": ["block"], "patterns": ["-"], "residual": "drop"}, "town.loans": {"quasi_identifiers": ["kind"], "max_rows": 5}}',
  'town_public', 6, replace => true);
SET client_min_messages = warning;

-- views and materialised views have no keys in the catalogs: the caller gives them, and the rows are looked at
CREATE VIEW town.who AS SELECT id AS person_id, block, flat FROM town.people;
CREATE MATERIALIZED VIEW town.went AS SELECT v.id AS visit_id, v.person AS person_id, v.shop, 1 + v.shop % 4 AS kind_id FROM town.visits AS v;
CREATE VIEW town.bought AS SELECT v.id * 2 + n AS id, v.id AS visit_id, n AS thing FROM town.visits AS v, generate_series(0, 1) AS n;
CREATE VIEW town.kinds AS SELECT i AS kind_id, 'kind ' || i AS name FROM generate_series(1, 4) AS i;
CREATE FUNCTION town_views(more jsonb DEFAULT '{}') RETURNS TABLE ("table" text, role text, published bigint) LANGUAGE sql AS $$
    SELECT table_name, role, published FROM kanon_linked('town.who', '{
        "town.who": {"quasi_identifiers": ["block"], "key": "person_id"},
        "town.went": {"quasi_identifiers": ["shop"], "keep": ["kind_id"], "allow_identifying": ["kind_id"], "key": "visit_id", "references": {"person_id": "town.who", "kind_id": "kinds"}},
        "town.bought": {"quasi_identifiers": ["thing"], "references": {"visit_id": "went"}},
        "town.kinds": {"keep": ["name"], "key": "kind_id"}}'::jsonb || more, 'town_public', 3, replace => true) $$;
SELECT * FROM town_views();
SELECT count(*) AS rows, count(DISTINCT w.person_id) AS persons, count(DISTINCT k.name) AS kinds FROM town_public.bought AS b JOIN town_public.went AS t ON t.visit_id = b.visit_id
  JOIN town_public.who AS w ON w.person_id = t.person_id JOIN town_public.kinds AS k ON k.kind_id = t.kind_id;
SELECT conrelid::regclass AS of, contype, confrelid::regclass AS refers FROM pg_constraint WHERE connamespace = 'town_public'::regnamespace AND contype IN ('p', 'f') AND conrelid::regclass::text ~ 'who|went|bought|kinds' ORDER BY conrelid::regclass::text, contype::text, confrelid::regclass::text;
SELECT safe FROM kanon_check_linked('town_public.who', '{"town_public.who": {"quasi_identifiers": ["block"]}, "town_public.went": {"quasi_identifiers": ["shop"]}, "town_public.bought": {"quasi_identifiers": ["thing"]}}', 3);
\set VERBOSITY terse
-- no key, or one that tells no rows apart; a reference to nothing, or to a row that is not there
SELECT town_views('{"town.who": {"quasi_identifiers": ["block"]}}');
SELECT town_views('{"town.who": {"quasi_identifiers": ["block"], "key": "flat"}}');
SELECT town_views('{"town.kinds": {"keep": ["name"]}}');
SELECT town_views('{"town.kinds": {"keep": ["name"], "key": "number"}}');
SELECT town_views('{"town.bought": {"quasi_identifiers": ["thing"], "references": {"visit_id": "town.calls"}}}');
SELECT town_views('{"town.bought": {"quasi_identifiers": ["thing"], "references": {"visit": "went"}}}');
SELECT town_views('{"town.bought": {"quasi_identifiers": ["thing"], "references": ["visit_id"]}}');
SELECT town_views('{"town.bought": {"quasi_identifiers": ["thing"], "references": {"visit_id": 1}}}');
SELECT town_views('{"town.bought": {"quasi_identifiers": ["thing"]}}');
CREATE OR REPLACE VIEW town.kinds AS SELECT i AS kind_id, 'kind ' || i AS name FROM generate_series(1, 3) AS i;
SELECT town_views();
CREATE OR REPLACE VIEW town.kinds AS SELECT i % 4 + 1 AS kind_id, 'kind ' || i AS name FROM generate_series(1, 5) AS i;
SELECT town_views();
CREATE OR REPLACE VIEW town.kinds AS SELECT nullif(i, 5) AS kind_id, 'kind ' || i AS name FROM generate_series(1, 5) AS i;
SELECT town_views();
\set VERBOSITY default
-- a publication of them
CREATE OR REPLACE VIEW town.kinds AS SELECT i AS kind_id, 'kind ' || i AS name FROM generate_series(1, 4) AS i;
CREATE SCHEMA town_nightly;
SELECT kanon_create_linked_publication('town_nightly', 'town.who', '{"town.who": {"quasi_identifiers": ["block"], "key": "person_id"},
  "town.went": {"quasi_identifiers": ["shop"], "key": "visit_id", "references": {"person_id": "who"}}}', 3, '{"went": 1}', protect_successive => true, private_schema => 'town_nightly');
INSERT INTO town.visits SELECT 300 + i, i, 5 FROM generate_series(1, 3) AS i;
REFRESH MATERIALIZED VIEW town.went;
SELECT status FROM kanon_refresh('town_nightly');
SELECT kanon_drop_publication('town_nightly');

SET client_min_messages = error;
DROP FUNCTION town_sizes, town_loans, town_known, town_views;
DROP SCHEMA town, town_public, town_nightly CASCADE;
