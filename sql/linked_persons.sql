/* Several tables as one release: what joins to a person is a column of that person. */
\pset null '~'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS kanon;
CREATE SCHEMA joined;
CREATE SCHEMA joined_public;
CREATE FUNCTION publish(tables jsonb, k bigint DEFAULT 5, known_rows text DEFAULT '1') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    detail text;
BEGIN
    RETURN QUERY SELECT l.table_name || ': ' || l.role FROM kanon_linked('joined.person', tables, 'joined_public', k, known_rows::kanon_known_rows, replace => true) AS l;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RAISE WARNING '%', concat_ws(E'\n', SQLSTATE || ': ' || SQLERRM, detail, hint);
END $$;

-- a lookup of one person each
CREATE TABLE joined.country (id int PRIMARY KEY, name text);
CREATE TABLE joined.registry (id int PRIMARY KEY, number text);
CREATE TABLE joined.home (id int PRIMARY KEY, street text, size int, country int REFERENCES joined.country, entry int REFERENCES joined.registry, next_door int REFERENCES joined.home);
CREATE TABLE joined.person (id int PRIMARY KEY, sex text, home int REFERENCES joined.home);
CREATE TABLE joined.visit (id int PRIMARY KEY, person int REFERENCES joined.person, place text, home int REFERENCES joined.home, entry int REFERENCES joined.registry);
INSERT INTO joined.country SELECT i, 'country ' || i FROM generate_series(1, 5) AS i;
INSERT INTO joined.registry SELECT i, 'n' || i FROM generate_series(1, 400) AS i;
INSERT INTO joined.home SELECT i, 'street ' || lpad(i::text, 4, '0'), i % 7, 1 + i % 5, i, 1 + (i + 6) % 400 FROM generate_series(1, 400) AS i;
INSERT INTO joined.person SELECT i, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, i FROM generate_series(1, 400) AS i;
INSERT INTO joined.visit SELECT i, 1 + i % 400, 'p' || i * i % 11, 1 + i % 400, 1 + i % 400 FROM generate_series(1, 1200) AS i;
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"], "keep": ["home"]}, "joined.home": {"keep": ["street", "size"]}, "joined.visit": {"quasi_identifiers": ["place"]}}');
-- who refers to it may be a row of the person, and need not be published
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"]}, "joined.home": {"keep": ["street"]}, "joined.visit": {"quasi_identifiers": ["place"], "keep": ["home"]}}');
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"]}, "joined.home": {"keep": ["street"]}, "joined.visit": {"quasi_identifiers": ["place"]}}');
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"]}, "joined.home": {"keep": ["street"]}, "joined.visit": {"quasi_identifiers": ["place", "home"]}}');
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"]}, "joined.home": {"keep": ["street"]}, "joined.visit": {"quasi_identifiers": ["place"], "keep": ["home"], "linked": false}}');
-- over two steps, and masked
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"], "keep": ["home"]}, "joined.home": {"keep": ["size", "entry"]}, "joined.registry": {"keep": ["number"]}}');
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"], "keep": ["home"]}, "joined.home": {"keep": ["size", "next_door"]}, "joined.registry": {"keep": ["number"]}}');
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"], "keep": ["home"]}, "joined.home": {"keep": ["size", "street"], "mask": {"street": {"partial": [0, 4]}}}}');
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"], "keep": ["home"]}, "joined.home": {"keep": ["size", "street"], "mask": {"street": {"partial": [1, 0]}}}}');
-- none of its rows is published but those to which published rows refer
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"]}, "joined.registry": {"keep": ["number"], "referenced": true}, "joined.visit": {"quasi_identifiers": ["place", "entry"]}}');
SELECT count(*) FROM joined_public.registry;
DROP SCHEMA joined_public CASCADE;
CREATE SCHEMA joined_public;
-- what many share, or what readers may know
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"], "keep": ["home"]}, "joined.home": {"keep": ["size", "country"]}, "joined.country": {"keep": ["name"]}}');
SELECT count(*), count(DISTINCT name) AS names FROM joined_public.person AS p JOIN joined_public.home AS h ON h.id = p.home JOIN joined_public.country AS c ON c.id = h.country;
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"], "keep": ["home"]}, "joined.home": {"keep": ["street"], "allow_identifying": ["street"]}}');
-- some persons are looked at first: among them each value is one person's
DELETE FROM joined.visit;
INSERT INTO joined.person SELECT i, 'f', 1 + i % 400 FROM generate_series(401, 20000) AS i;
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"], "keep": ["home"]}, "joined.home": {"keep": ["street"]}}');
TRUNCATE joined.person, joined.home, joined.visit;

-- a kept key tells a quasi-identifier of another table: as it is, as a pseudonym, and over several lookups
CREATE TABLE joined.store (id int PRIMARY KEY, name text, region text);
CREATE TABLE joined.account (id int PRIMARY KEY, store int REFERENCES joined.store, kind text);
ALTER TABLE joined.person ADD COLUMN store int REFERENCES joined.store, ADD COLUMN town text;
ALTER TABLE joined.visit ADD COLUMN store int REFERENCES joined.store, ADD COLUMN account int REFERENCES joined.account;
INSERT INTO joined.store SELECT i, 'Store ' || i, 'R' || i % 3 FROM generate_series(1, 150) AS i;
INSERT INTO joined.person SELECT i, 'f', NULL, 1 + i % 150, 'town ' || i % 150 FROM generate_series(1, 600) AS i;
INSERT INTO joined.account SELECT i, 1 + i % 150, 'k' FROM generate_series(1, 600) AS i;
INSERT INTO joined.visit SELECT i, 1 + i % 600, 'A', NULL, NULL, 1 + (1 + i % 600) % 150, 1 + i % 600 FROM generate_series(1, 1800) AS i;
SELECT publish('{"joined.person": {"quasi_identifiers": ["store"]}, "joined.visit": {"quasi_identifiers": ["place"], "keep": ["store"]}, "joined.store": {"keep": ["region"]}}');
SELECT publish('{"joined.person": {"quasi_identifiers": ["town"]}, "joined.visit": {"quasi_identifiers": ["place"], "keep": ["store"]}, "joined.store": {"keep": ["region"]}}');
SELECT publish('{"joined.person": {"quasi_identifiers": ["town"], "keep": ["store"]}, "joined.store": {"keep": ["region"]}}');
SELECT publish('{"joined.person": {"quasi_identifiers": ["store"]}, "joined.visit": {"quasi_identifiers": ["place"], "keep": ["account"]}, "joined.account": {"keep": ["kind", "store"]}, "joined.store": {"keep": ["region"]}}');
SELECT publish('{"joined.person": {"quasi_identifiers": ["town"]}, "joined.visit": {"quasi_identifiers": ["place"], "keep": ["account"]}, "joined.account": {"keep": ["kind", "store"], "allow_identifying": ["store"]}, "joined.store": {"keep": ["name"]}}');
SELECT publish('{"joined.person": {"quasi_identifiers": ["town"]}, "joined.visit": {"quasi_identifiers": ["place"], "keep": ["store"], "allow_identifying": ["store"]}, "joined.store": {"keep": ["region"]}}');
-- a key that stays as it is, since another column shows it, identifies like any value
SELECT publish('{"joined.person": {"quasi_identifiers": ["sex"], "keep": ["home"]}, "joined.visit": {"quasi_identifiers": ["place"], "keep": ["account"]}, "joined.account": {"keep": ["kind"]}}');
ALTER TABLE joined.person ADD COLUMN account int REFERENCES joined.account;
UPDATE joined.person SET account = 1 + id % 2;
SELECT publish('{"joined.person": {"quasi_identifiers": ["account"]}, "joined.visit": {"quasi_identifiers": ["place"], "keep": ["account"]}, "joined.account": {"keep": ["kind"]}}');

-- a rule about a value of the person holds for whoever fits somebody who knows rows
CREATE TABLE joined.ill (id int PRIMARY KEY, sex text, hiv text);
CREATE TABLE joined.stay (id int PRIMARY KEY, ill int REFERENCES joined.ill, clinic text);
INSERT INTO joined.ill SELECT i, 'f', CASE WHEN i <= 2 THEN 'pos' ELSE 'neg' END FROM generate_series(1, 4) AS i;
INSERT INTO joined.stay SELECT i, i, CASE WHEN i <= 2 THEN 'A' ELSE 'B' END FROM generate_series(1, 4) AS i;
SELECT table_name FROM kanon_linked('joined.ill', '{"joined.ill": {"quasi_identifiers": ["sex"], "keep": ["hiv"], "privacy": [{"rule": "distinct_l", "column": "hiv", "l": 2}]},
    "joined.stay": {"quasi_identifiers": ["clinic"]}}', 'joined_public', 2);
SELECT clinic, array_agg(DISTINCT hiv ORDER BY hiv) AS hiv FROM joined_public.ill JOIN joined_public.stay ON stay.ill = ill.id GROUP BY clinic;
SELECT below_k, broken, safe FROM kanon_check_linked('joined_public.ill', '{"joined_public.ill": {"quasi_identifiers": ["sex"], "privacy": [{"rule": "distinct_l", "column": "hiv", "l": 2}]},
    "joined_public.stay": {"quasi_identifiers": ["clinic"]}}', 2);
SELECT below_k, broken, safe FROM kanon_check_linked('joined.ill', '{"joined.ill": {"quasi_identifiers": ["sex"], "privacy": [{"rule": "distinct_l", "column": "hiv", "l": 2}]},
    "joined.stay": {"quasi_identifiers": ["clinic"]}}', 2);
SELECT below_k, broken, safe FROM kanon_check_linked('joined.ill', '{"joined.ill": {"quasi_identifiers": ["sex"]}, "joined.stay": {"quasi_identifiers": ["clinic"]}}', 2);
SELECT * FROM kanon_check_linked('joined.ill', '{"joined.ill": {"quasi_identifiers": ["sex"]}, "joined.stay": {"quasi_identifiers": ["clinic"], "privacy": []}}', 2);
SELECT * FROM kanon_check_linked('joined.ill', '{"joined.ill": {"quasi_identifiers": ["sex"], "privacy": [{"rule": "subject", "column": "id"}]}}', 2);
SELECT count(*) FROM kanon_linked('joined.ill', '{"joined.ill": {"quasi_identifiers": ["sex"], "partition_by": "sex", "keep": ["hiv"], "privacy": [{"rule": "distinct_l", "column": "hiv", "l": 2}]}}', 'joined_public', 2, replace => true);
-- without a rule the page tells the worst for this attacker, not for classes of the table alone
SELECT count(*) FROM kanon_linked('joined.ill', '{"joined.ill": {"quasi_identifiers": ["sex"], "keep": ["hiv"]}, "joined.stay": {"quasi_identifiers": ["clinic"]}}', 'joined_public', 2, replace => true);
SELECT v ->> 'says' AS says FROM (SELECT max(run) AS run FROM kanon_usefulness WHERE target = 'joined_public.ill') u, jsonb_array_elements(kanon_report_data(u.run) -> 'verdicts') AS v WHERE v ->> 'about' = 'kept';
SELECT count(*) FROM kanon_linked('joined.ill', '{"joined.ill": {"quasi_identifiers": ["sex"], "keep": ["hiv"], "privacy": [{"rule": "alpha", "column": "hiv", "alpha": 0.5}]}, "joined.stay": {"quasi_identifiers": ["clinic"]}}', 'joined_public', 2, 'all', replace => true);
SELECT v ->> 'says' AS says FROM (SELECT max(run) AS run FROM kanon_usefulness WHERE target = 'joined_public.ill') u, jsonb_array_elements(kanon_report_data(u.run) -> 'verdicts') AS v WHERE v ->> 'about' = 'kept';

-- columns of a table to which a person or a row refers: each row that refers has a copy
CREATE TABLE joined.address (id int PRIMARY KEY, city text, size int, land int REFERENCES joined.country, note text);
CREATE TABLE joined.client (id bigint PRIMARY KEY, sex text, home int REFERENCES joined.address, pay int REFERENCES joined.address);
CREATE TABLE joined.parcel (id uuid PRIMARY KEY, client bigint REFERENCES joined.client, what text, ship int REFERENCES joined.address);
CREATE TABLE joined.event (id int PRIMARY KEY, address int REFERENCES joined.address, what text);
CREATE TABLE joined.day (client bigint REFERENCES joined.client, day int, town int REFERENCES joined.address);
INSERT INTO joined.address SELECT i, 'city ' || (i * i + i / 5) % 8, (i * i + i / 7) % 4, 1 + i % 3, 'n' || i FROM generate_series(1, 200) AS i;
INSERT INTO joined.client SELECT i, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, CASE WHEN i % 10 > 0 THEN 1 + i % 200 END, 1 + i * 3 % 200 FROM generate_series(1, 300) AS i;
INSERT INTO joined.parcel SELECT md5(i::text)::uuid, 1 + i % 300, 'w' || (i * i * 7 + i / 3) % 5, 1 + i * 7 % 200 FROM generate_series(1, 700) AS i;
CREATE FUNCTION copied(address text, others text DEFAULT '', k bigint DEFAULT 5, known_rows text DEFAULT '1') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    detail text;
BEGIN
    DROP SCHEMA joined_public CASCADE;
    CREATE SCHEMA joined_public;
    RETURN QUERY SELECT concat_ws(' ', l.table_name || ':', l.role, l.published = l.row_count) FROM kanon_linked('joined.client', format('{"joined.client": {"quasi_identifiers": ["sex"]}, "joined.address": {%s}%s}', address, others)::jsonb,
        'joined_public', k, known_rows::kanon_known_rows) AS l;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RAISE WARNING '%', concat_ws(E'\n', SQLSTATE || ': ' || SQLERRM, detail, hint);
END $$;
SELECT copied('"quasi_identifiers": ["city"], "keep": ["size", "land"], "foreign_key": "client_home_fkey"', ', "joined.country": {"keep": ["name"]}, "joined.parcel": {"quasi_identifiers": ["what"]}');
-- who refers to nothing has a copy, too, and nobody shares one
SELECT count(*) AS clients, count(DISTINCT c.home) AS homes, count(a.id) AS joined, count(a.city) < count(a.id) AS some_empty, count(l.name) > 200 AS lands
FROM joined_public.client AS c LEFT JOIN joined_public.address AS a ON a.id = c.home LEFT JOIN joined_public.country AS l ON l.id = a.land;
SELECT conrelid::regclass AS relation, contype, pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE connamespace = 'joined_public'::regnamespace AND contype <> 'n' ORDER BY conrelid::regclass::text, 2, 3;
SELECT smallest >= 5 AS smallest, below_k, dangling, safe FROM kanon_check_linked('joined_public.client', '{"joined_public.client": {"quasi_identifiers": ["sex"]}, "joined_public.address": {"quasi_identifiers": ["city"]},
    "joined_public.parcel": {"quasi_identifiers": ["what"]}}', 5);
SELECT smallest, below_k > 20 AS below, safe FROM kanon_check_linked('joined.client', '{"joined.client": {"quasi_identifiers": ["sex"]}, "joined.address": {"quasi_identifiers": ["city"], "foreign_key": "client_home_fkey"},
    "joined.parcel": {"quasi_identifiers": ["what"]}}', 5);
SELECT source, target, options #>> '{linked,keys}' AS keys FROM kanon_usefulness WHERE target LIKE 'joined_public.%' ORDER BY run DESC LIMIT 3;
SELECT s ->> 'says' AS says FROM (SELECT max(run) AS run FROM kanon_usefulness) u, jsonb_array_elements(kanon_report_data(u.run) -> 'statements') s WHERE s ->> 'about' = 'tables';
-- of rows, known with them; of two steps; of everything
SELECT copied('"quasi_identifiers": ["city"], "keep": ["size"], "foreign_key": "parcel_ship_fkey"', ', "joined.parcel": {"quasi_identifiers": ["what"]}', 5, '2');
SELECT count(*) = count(a.id) AS joined, count(DISTINCT a.id) = count(*) AS own FROM joined_public.parcel AS p LEFT JOIN joined_public.address AS a ON a.id = p.ship;
SELECT copied('"quasi_identifiers": ["size"], "foreign_key": "client_home_fkey"', ', "joined.country": {"quasi_identifiers": ["name"]}, "joined.parcel": {"quasi_identifiers": ["what"]}', 5, 'all');
SELECT count(DISTINCT l.id) AS lands FROM joined_public.client AS c JOIN joined_public.address AS a ON a.id = c.home JOIN joined_public.country AS l ON l.id = a.land;
SELECT below_k, safe FROM kanon_check_linked('joined_public.client', '{"joined_public.client": {"quasi_identifiers": ["sex"]}, "joined_public.address": {"quasi_identifiers": ["size"]}, "joined_public.country": {"quasi_identifiers": ["name"]},
    "joined_public.parcel": {"quasi_identifiers": ["what"]}}', 5, 'all');
SELECT k, table_name, published FROM kanon_linked_frontier('joined.client', '{"joined.client": {"quasi_identifiers": ["sex"]}, "joined.address": {"quasi_identifiers": ["city"], "foreign_key": "client_home_fkey"}}', '{3,10}');
SELECT count(*) AS left_behind FROM pg_class WHERE relname LIKE 'kanon\_copies%';
-- what it cannot be
SELECT copied('"quasi_identifiers": ["city"]', ', "joined.parcel": {"quasi_identifiers": ["what"]}');
SELECT copied('"quasi_identifiers": ["city"], "foreign_key": "nothing"', ', "joined.parcel": {"quasi_identifiers": ["what"]}');
UPDATE joined.client SET home = CASE WHEN id <= 200 THEN id END;
SELECT copied('"quasi_identifiers": ["city"], "keep": ["note"], "foreign_key": "client_home_fkey"');
SELECT copied('"quasi_identifiers": ["city"], "foreign_key": "client_home_fkey"', ', "joined.event": {"quasi_identifiers": ["what"]}');
SELECT copied('"quasi_identifiers": ["city"], "max_rows": 3, "foreign_key": "client_home_fkey"');
SELECT copied('"quasi_identifiers": ["city"], "foreign_key": "day_town_fkey"', ', "joined.day": {"quasi_identifiers": ["day"]}');
SELECT copied('"quasi_identifiers": ["city"], "foreign_key": "parcel_ship_fkey"', ', "joined.parcel": {"quasi_identifiers": ["what", "ship"]}');
SELECT copied('"quasi_identifiers": ["city"], "foreign_key": "client_home_fkey"', ', "joined.parcel": {"quasi_identifiers": ["what"], "keep": ["ship"]}');
-- night by night
CREATE SCHEMA joined_view;
CREATE SCHEMA joined_private;
SELECT kanon_create_linked_publication('joined_view', 'joined.client', '{"joined.client": {"quasi_identifiers": ["sex"]}, "joined.address": {"quasi_identifiers": ["city"], "foreign_key": "client_home_fkey"}, "joined.parcel": {"quasi_identifiers": ["what"]}}', 5, private_schema => 'joined_private');
UPDATE joined.client SET home = 7 WHERE id < 20;
SELECT status FROM kanon_refresh('joined_view');
SELECT count(*) = count(a.id) AS joined, count(DISTINCT a.id) AS own FROM joined_view.client AS c LEFT JOIN joined_view.address AS a ON a.id = c.home;
SELECT smallest >= 5 AS smallest, safe FROM kanon_check_linked('joined_view.client', '{"joined_view.client": {"quasi_identifiers": ["sex"]}, "joined_view.address": {"quasi_identifiers": ["city"]}, "joined_view.parcel": {"quasi_identifiers": ["what"]}}', 5);
SELECT count(*) AS left_behind FROM pg_class WHERE relname LIKE 'kanon\_copies%';
SELECT kanon_drop_publication('joined_view');
SELECT kanon_create_linked_publication('joined_view', 'joined.client', '{"joined.client": {"quasi_identifiers": ["sex"]}, "joined.address": {"quasi_identifiers": ["city"], "foreign_key": "client_home_fkey"}}', 5, private_schema => 'joined_private', protect_successive => true);
DROP FUNCTION copied;
DROP SCHEMA joined_view, joined_private CASCADE;

DROP SCHEMA joined_public CASCADE;
CREATE SCHEMA joined_public;
-- keys of char(n), and of a collation that ignores case: what refers has the key's own spelling
CREATE SCHEMA spelled;
CREATE COLLATION spelled.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE spelled.land (code char(5) PRIMARY KEY, name text);
CREATE TABLE spelled.person (login text COLLATE spelled.nocase PRIMARY KEY, sex text, land char(3) REFERENCES spelled.land);
CREATE TABLE spelled.orders (id int PRIMARY KEY, who text COLLATE spelled.nocase REFERENCES spelled.person, what text, land char(5) REFERENCES spelled.land);
CREATE TABLE spelled.lines (id int PRIMARY KEY, orders int REFERENCES spelled.orders, item int);
CREATE TABLE spelled.bits (id int PRIMARY KEY, line int REFERENCES spelled.lines, bit int);
INSERT INTO spelled.land SELECT 'c' || i, 'land ' || i FROM generate_series(1, 3) AS i;
INSERT INTO spelled.person SELECT 'User' || i, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, 'c' || 1 + i % 3 FROM generate_series(1, 300) AS i;
INSERT INTO spelled.orders SELECT i, CASE WHEN i % 2 = 0 THEN 'USER' ELSE 'user' END || 1 + i % 300, 'w' || (i * i * 7 + i / 3) % 5, 'c' || 1 + i % 3 FROM generate_series(1, 700) AS i;
INSERT INTO spelled.lines SELECT i, 1 + i % 700, (i * i + i / 3) % 4 FROM generate_series(1, 1500) AS i;
INSERT INTO spelled.bits SELECT i, 1 + i % 1500, CASE WHEN i <= 4 THEN 9 ELSE (i * i + i / 3) % 4 END FROM generate_series(1, 2500) AS i;
INSERT INTO spelled.bits SELECT 3000 + i, 2, 8 FROM generate_series(1, 9) AS i;
SELECT table_name, role, published = row_count AS whole FROM kanon_linked('spelled.person', '{"spelled.person": {"quasi_identifiers": ["sex"], "keep": ["land"]}, "spelled.land": {"keep": ["name"]}, "spelled.orders": {"quasi_identifiers": ["what"]},
    "spelled.lines": {"quasi_identifiers": ["item"], "linked": false}, "spelled.bits": {"quasi_identifiers": ["bit"], "linked": false}}', 'joined_public', 5);
SELECT count(*) AS orders, count(p.login) AS persons, count(l.name) AS lands FROM joined_public.orders AS o LEFT JOIN joined_public.person AS p ON p.login = o.who LEFT JOIN joined_public.land AS l ON l.code = p.land;
-- below a table of rows, without a key: persons are counted, not rows
SELECT bit, count(*) > 9 AS many FROM joined_public.bits GROUP BY bit ORDER BY bit;
SELECT attname FROM pg_attribute WHERE attrelid = 'joined_public.bits'::regclass AND attnum > 0;
-- as a quasi-identifier the key is as it is
DROP SCHEMA joined_public CASCADE;
CREATE SCHEMA joined_public;
SELECT table_name, role, published = row_count AS whole FROM kanon_linked('spelled.person', '{"spelled.person": {"quasi_identifiers": ["sex", "land"]}, "spelled.land": {"keep": ["name"]}, "spelled.orders": {"quasi_identifiers": ["what", "land"]}}', 'joined_public', 5);
SELECT count(*) AS orders, count(l.name) AS lands, count(DISTINCT o.land) AS different FROM joined_public.orders AS o LEFT JOIN joined_public.land AS l ON l.code = o.land;
SELECT FROM kanon_linked('spelled.person', '{"spelled.person": {"quasi_identifiers": ["sex"]}, "spelled.orders": {"quasi_identifiers": ["what"], "linked": false}, "spelled.lines": {"quasi_identifiers": ["item"]}}', 'joined_public', 5, replace => true);
DROP SCHEMA spelled CASCADE;
DROP SCHEMA joined CASCADE;
DROP SCHEMA joined_public CASCADE;
DROP FUNCTION publish;
