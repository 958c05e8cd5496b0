/* Several tables as one release. */
\pset null '~'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS kanon;
CREATE SCHEMA shop;
CREATE TABLE shop.country (code text PRIMARY KEY, name text);
CREATE TABLE shop.customers (id bigint PRIMARY KEY, name text, birth int, zip text, country text REFERENCES shop.country,
                             segment text, manager bigint REFERENCES shop.customers);
CREATE TABLE shop.products (id int PRIMARY KEY, name text, price numeric);
CREATE TABLE shop.orders (id bigint PRIMARY KEY, customer_id bigint REFERENCES shop.customers,
                          referrer_id bigint REFERENCES shop.customers, placed date, city text, amount int);
CREATE TABLE shop.lines (order_id bigint REFERENCES shop.orders, line int, product_id int REFERENCES shop.products,
                         quantity int, PRIMARY KEY (order_id, line));
CREATE TABLE shop.stray (id int PRIMARY KEY, note text);
INSERT INTO shop.country VALUES ('de', 'Germany'), ('fr', 'France');
INSERT INTO shop.customers
SELECT i, 'name ' || i, 1950 + 10 * (i % 5), '1' || i % 4, CASE WHEN i % 2 = 0 THEN 'de' ELSE 'fr' END, 's' || i % 3, nullif(i / 2, 0)
FROM generate_series(1, 120) AS i;
INSERT INTO shop.products SELECT i, 'product ' || i, i FROM generate_series(1, 6) AS i;
INSERT INTO shop.orders
SELECT i, 1 + i * 7 % 118, 1 + i * 11 % 120, date '2024-01-01' + i * 37 % 700, 'city ' || i * i % 4, 10 * (i % 9)
FROM generate_series(1, 360) AS i;
INSERT INTO shop.lines SELECT 1 + i * 13 % 360, i, 1 + i * i % 6, 1 + i % 3 FROM generate_series(1, 500) AS i;
INSERT INTO shop.orders VALUES (1000, NULL, 1, '2024-05-05', 'nowhere', 77);
INSERT INTO shop.lines VALUES (1000, 1, 1, 1);

CREATE SCHEMA one;
SELECT table_name, target, role, row_count, published, suppressed < 1 AS shows, run IS NOT NULL AS recorded
FROM kanon_linked('shop.customers', '{
  "shop.customers": {"quasi_identifiers": ["birth", "zip"], "keep": ["segment", "country"]},
  "shop.orders":    {"quasi_identifiers": ["placed", "city"], "keep": ["amount"], "foreign_key": "orders_customer_id_fkey",
                     "hierarchies": {"placed": {"date": ["quarter", "year"]}}},
  "shop.lines":     {"quasi_identifiers": ["product_id"], "keep": ["quantity"]},
  "shop.country": {"keep": ["name"], "allow_identifying": ["name"]},
  "shop.products":  {"keep": ["name", "price"]}}', 'one', 5);
-- every join of the source runs, and what it joins belongs together
SELECT count(*) AS joined, count(DISTINCT c.id) AS persons, count(*) FILTER (WHERE k.name = 'Germany' OR k.name = 'France') AS countries,
       count(*) FILTER (WHERE l.product_id IS NULL OR p.price = l.product_id) AS products
FROM one.lines AS l JOIN one.orders AS o ON l.order_id = o.id JOIN one.customers AS c ON o.customer_id = c.id
JOIN one.country AS k ON c.country = k.code LEFT JOIN one.products AS p ON l.product_id = p.id;
SELECT conrelid::regclass AS relation, contype, pg_get_constraintdef(oid) AS definition FROM pg_constraint
WHERE connamespace = 'one'::regnamespace AND contype <> 'n' ORDER BY conrelid::regclass::text, 2, 3;
SELECT attrelid::regclass AS relation, attname, atttypid::regtype AS type FROM pg_attribute
WHERE attrelid IN ('one.customers'::regclass, 'one.orders'::regclass, 'one.lines'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum;
-- no key, and nobody's row, is in the release
SELECT count(*) FROM one.orders AS o WHERE amount = 77;
SELECT count(*) FROM shop.customers AS s JOIN one.customers AS c ON c.id::text = s.id::text;
SELECT k, classes > 0 AS classes FROM kanon_check('one.customers', '{birth,zip}');
SELECT persons, smallest_class >= 5 AS classes, smallest >= 5 AS smallest, below_k, dangling, safe FROM kanon_check_linked('one.customers', '{
  "one.customers": {"quasi_identifiers": ["birth", "zip"]},
  "one.orders":    {"quasi_identifiers": ["placed", "city"]},
  "one.lines":     {"quasi_identifiers": ["product_id"]}}', 5);
-- the source keeps nothing of it
SELECT below_k > 100 AS below, safe FROM kanon_check_linked('shop.customers', '{
  "shop.customers": {"quasi_identifiers": ["birth", "zip"]},
  "shop.orders":    {"quasi_identifiers": ["placed", "city"], "foreign_key": "orders_customer_id_fkey"},
  "shop.lines":     {"quasi_identifiers": ["product_id"]}}', 5);
SELECT obj_description('one.orders'::regclass) ~ 'an attacker who knows' AS says FROM kanon_usefulness LIMIT 1;
SELECT source, target, model, method, k FROM kanon_usefulness WHERE target LIKE 'one.%' ORDER BY run;

-- somebody may know two rows, or all
CREATE SCHEMA two;
SELECT role, row_count, published > 0 AS published FROM kanon_linked('shop.customers', '{
  "shop.customers": {"quasi_identifiers": ["birth", "zip"], "class_size": 20},
  "shop.orders":    {"quasi_identifiers": ["placed", "city"], "foreign_key": "orders_customer_id_fkey", "max_rows": 3,
                     "hierarchies": {"placed": {"date": ["quarter", "year"]}}}}', 'two', 4, '2', seed => 3);
SELECT max(n) FROM (SELECT count(*) AS n FROM two.orders GROUP BY customer_id) AS s;
SELECT safe FROM kanon_check_linked('two.customers', '{"two.customers": {"quasi_identifiers": ["birth", "zip"]},
  "two.orders": {"quasi_identifiers": ["placed", "city"]}}', 4, '2');
CREATE SCHEMA whole;
SELECT role, row_count, published > 0 AS published FROM kanon_linked('shop.customers', '{
  "shop.customers": {"quasi_identifiers": ["birth", "zip"], "class_size": 20},
  "shop.orders":    {"quasi_identifiers": ["placed", "city"], "foreign_key": "orders_customer_id_fkey"},
  "shop.lines":     {"quasi_identifiers": ["product_id"]}, "shop.products": {"keep": ["name"]}}', 'whole', 4, 'all');
SELECT below_k, count_alone, safe FROM kanon_check_linked('whole.customers', '{"whole.customers": {"quasi_identifiers": ["birth", "zip"]},
  "whole.orders": {"quasi_identifiers": ["placed", "city"]}, "whole.lines": {"quasi_identifiers": ["product_id"]}}', 4, 'all');

-- without a key to the person: persons are counted in the table alone
DELETE FROM shop.lines WHERE order_id = 1000;
DELETE FROM shop.orders WHERE id = 1000;
CREATE SCHEMA alone;
SELECT role, row_count, published FROM kanon_linked('shop.customers', '{
  "shop.customers": {"quasi_identifiers": ["birth"]},
  "shop.orders":    {"quasi_identifiers": ["city"], "keep": ["amount"], "foreign_key": "orders_customer_id_fkey", "linked": false}}', 'alone', 4);
\d alone.orders

-- two releases do not join, and the same seed gives the same release
CREATE SCHEMA again;
SELECT role FROM kanon_linked('shop.customers', '{
  "shop.customers": {"quasi_identifiers": ["birth", "zip"], "class_size": 20},
  "shop.orders":    {"quasi_identifiers": ["placed", "city"], "foreign_key": "orders_customer_id_fkey", "max_rows": 3,
                     "hierarchies": {"placed": {"date": ["quarter", "year"]}}}}', 'again', 4, '2', seed => 3);
SELECT count(*) FROM two.customers JOIN again.customers USING (id);
(SELECT placed, city, count(*) FROM two.orders GROUP BY 1, 2) EXCEPT (SELECT placed, city, count(*) FROM again.orders GROUP BY 1, 2);

-- the next release takes the places of all tables together: grants stay, keys are new
CREATE FUNCTION next_release(tables jsonb, replace boolean DEFAULT true, schema text DEFAULT 'again') RETURNS SETOF text LANGUAGE sql AS $$
SELECT role || ' ' || target FROM kanon_linked('shop.customers', tables, schema, 4, replace => replace) $$;
CREATE TABLE before AS SELECT id FROM again.customers;
GRANT SELECT ON again.orders TO PUBLIC;
COMMENT ON TABLE again.orders IS 'orders since 2024';
SELECT next_release('{"shop.customers": {"quasi_identifiers": ["birth"]}, "shop.country": {"keep": ["name"], "allow_identifying": ["name"]},
  "shop.orders": {"quasi_identifiers": ["city"], "foreign_key": "orders_customer_id_fkey"}}');
SELECT count(*) AS rows, count(b.id) AS known FROM again.customers LEFT JOIN before AS b USING (id);
SELECT has_table_privilege('pg_read_server_files', 'again.orders', 'SELECT') AS granted, obj_description('again.orders'::regclass) AS says;
SELECT conrelid::regclass AS relation, pg_get_constraintdef(oid) AS definition FROM pg_constraint
WHERE connamespace = 'again'::regnamespace AND contype IN ('p', 'f') ORDER BY conrelid::regclass::text, 2;
SELECT relname FROM pg_class WHERE relnamespace = 'again'::regnamespace AND relkind = 'r' ORDER BY 1;
SELECT count(DISTINCT target) FROM kanon_usefulness WHERE target LIKE 'again.%';
-- what stays must not refer to what goes; sources stay; views are not taken away
SELECT next_release('{"shop.customers": {"quasi_identifiers": ["birth"]}}', false);
SELECT next_release('{"shop.customers": {"quasi_identifiers": ["birth"]}}');
SELECT next_release('{"shop.customers": {"quasi_identifiers": ["birth"]}, "shop.country": {"keep": ["name"], "target": "customers"}}', schema => 'shop');
SELECT next_release('{"shop.customers": {"quasi_identifiers": ["birth"], "target": "products"}, "shop.products": {"keep": ["name"], "target": "goods"},
  "shop.orders": {"quasi_identifiers": ["city"], "foreign_key": "orders_customer_id_fkey", "target": "sold"}, "shop.lines": {"quasi_identifiers": ["product_id"], "target": "parts"}}', schema => 'shop');
CREATE VIEW sales AS SELECT * FROM again.orders;
SELECT next_release('{"shop.customers": {"quasi_identifiers": ["birth"]}, "shop.orders": {"quasi_identifiers": ["city"], "foreign_key": "orders_customer_id_fkey"}}');
DROP VIEW sales;
SELECT kanon_linked('shop.customers', '{"shop.customers": {"quasi_identifiers": ["birth"]}}', 'again', 4, replace => NULL);
-- sizes are tried beside the old tables
SELECT next_release('{"shop.customers": {"quasi_identifiers": ["birth"], "class_size": "auto"}, "shop.country": {"keep": ["name"], "allow_identifying": ["name"]},
  "shop.orders": {"quasi_identifiers": ["city"], "foreign_key": "orders_customer_id_fkey"}}');

-- classes of as many persons as lose least in all tables: what was tried is gone
CREATE SCHEMA sized;
SELECT role, published > 0 AS published FROM kanon_linked('shop.customers', '{
  "shop.customers": {"quasi_identifiers": ["birth", "zip"], "class_size": "auto"},
  "shop.orders":    {"quasi_identifiers": ["placed", "city"], "foreign_key": "orders_customer_id_fkey",
                     "hierarchies": {"placed": {"date": ["quarter", "year"]}}}}', 'sized', 3);
SELECT smallest_class > 3 AS larger, safe FROM kanon_check_linked('sized.customers', '{"sized.customers": {"quasi_identifiers": ["birth", "zip"]},
  "sized.orders": {"quasi_identifiers": ["placed", "city"]}}', 3);
SELECT count(*) FROM kanon_usefulness WHERE target LIKE 'sized.%';

-- a pseudonym's group, in one table
CREATE TABLE calls AS SELECT i % 10 AS caller, (i * 3) % 10 AS called, i % 2 AS kind FROM generate_series(1, 100) AS i;
SELECT classes FROM kanon_pattern_guided('calls', 'calls_public', '{kind}', 5, keep => '{caller,called}',
  mask => '{"caller": {"pseudonym": "release", "group": "phones"}, "called": {"pseudonym": "release", "group": "phones"}}');
SELECT count(*), count(DISTINCT caller) FROM calls_public AS a WHERE caller IN (SELECT called FROM calls_public);
SELECT classes FROM kanon_pattern_guided('calls', 'calls_x', '{kind}', 5, keep => '{caller}', mask => '{"caller": {"constant": 1, "group": "phones"}}');
-- or as bigints, none of which is a value
SELECT classes FROM kanon_pattern_guided('calls', 'calls_n', '{kind}', 5, keep => '{caller,called}',
  mask => '{"caller": {"pseudonym": "release", "group": "phones", "type": "bigint"}, "called": {"pseudonym": "release", "type": "bigint"}}');
SELECT pg_typeof(min(caller)) AS type, count(DISTINCT caller), count(*) FILTER (WHERE caller < 1000) AS values,
       count(*) FILTER (WHERE caller IN (SELECT called FROM calls_n)) AS joined FROM calls_n;
SELECT classes FROM kanon_pattern_guided('calls', 'calls_x', '{kind}', 5, keep => '{caller}', mask => '{"caller": {"pseudonym": "release", "type": "int"}}');
SELECT classes FROM kanon_pattern_guided('calls', 'calls_x', '{kind}', 5, keep => '{caller}', mask => '{"caller": {"constant": 1, "type": "bigint"}}');
SELECT classes FROM kanon_pattern_guided('calls', 'calls_x', '{kind}', 5, keep => '{caller}', mask => '{"caller": {"type": "bigint"}}');
SELECT classes FROM kanon_pattern_guided('calls', 'calls_x', '{kind}', 5, keep => '{caller}', mask => '{"caller": {"pseudonym": "release", "group": 1}}');

-- what cannot be published, before any work
CREATE SCHEMA bad;
CREATE FUNCTION bad(tables jsonb, subject regclass DEFAULT 'shop.customers', known text DEFAULT '1', k bigint DEFAULT 5, schema text DEFAULT 'bad')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
    hint text;
BEGIN
    PERFORM * FROM kanon_linked(subject, tables, schema, k, known);
    -- and gone again
    RAISE EXCEPTION 'published';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN format('%s %s (%s)', sqlstate, message, regexp_replace(hint, ' ?Known options: .*', ''));
END
$$;
\pset format unaligned
\pset tuples_only on
SELECT bad('[]');
SELECT bad('{}');
SELECT bad('{"nothing": {}}');
SELECT bad('{"shop.customers": 1}');
SELECT bad('{"shop.customers": {}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": "birth"}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birht"]}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"], "kep": ["name"]}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"], "min_rows": 4}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"], "mark": true}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"], "residual": "suppress"}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth", "zip"], "known_columns": 1}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"], "class_size": 3}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"], "linked": true, "max_rows": 1}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["id"]}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"], "keep": ["manager"]}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"], "keep": ["name"]}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}, "\"shop\".customers": {"quasi_identifiers": ["birth"]}}');
SELECT bad(jsonb '{"shop.orders": {"quasi_identifiers": ["city"]}}');
SELECT bad(jsonb_build_object('shop.customers', jsonb '{"quasi_identifiers": ["birth"]}', 'shop.stray', jsonb '{"keep": ["note"]}'));
SELECT bad(jsonb_build_object('shop.customers', jsonb '{"quasi_identifiers": ["birth"]}', 'shop.orders', jsonb '{"quasi_identifiers": ["city"]}'));
SELECT bad(jsonb_build_object('shop.customers', jsonb '{"quasi_identifiers": ["birth"]}', 'shop.orders', jsonb '{"quasi_identifiers": ["city"], "foreign_key": "x"}'));
SELECT bad(jsonb_build_object('shop.customers', jsonb '{"quasi_identifiers": ["birth"]}', 'shop.orders', jsonb '{"keep": ["amount"], "foreign_key": "orders_customer_id_fkey"}'));
SELECT bad(jsonb_build_object('shop.customers', jsonb '{"quasi_identifiers": ["birth"]}', 'shop.orders', jsonb '{"quasi_identifiers": ["city"], "foreign_key": "orders_customer_id_fkey", "max_rows": 0}'));
SELECT bad(jsonb_build_object('shop.customers', jsonb '{"quasi_identifiers": ["birth"]}', 'shop.orders', jsonb '{"quasi_identifiers": ["customer_id"], "foreign_key": "orders_customer_id_fkey"}'));
SELECT bad(jsonb_build_object('shop.customers', jsonb '{"quasi_identifiers": ["birth"]}', 'shop.orders', jsonb '{"quasi_identifiers": ["city"], "keep": ["referrer_id"], "foreign_key": "orders_customer_id_fkey"}'));
SELECT bad(jsonb_build_object('shop.customers', jsonb '{"quasi_identifiers": ["birth"]}', 'shop.orders', jsonb '{"quasi_identifiers": ["city"], "method": "greedy", "foreign_key": "orders_customer_id_fkey"}'));
SELECT bad(jsonb_build_object('shop.customers', jsonb '{"quasi_identifiers": ["birth"]}', 'shop.lines', jsonb '{"quasi_identifiers": ["product_id"]}'));
SELECT bad(jsonb_build_object('shop.customers', jsonb '{"quasi_identifiers": ["birth"]}', 'shop.country', jsonb '{"quasi_identifiers": ["name"]}'));
SELECT bad(jsonb_build_object('shop.customers', jsonb '{"quasi_identifiers": ["birth"]}', 'shop.country', jsonb '{}'));
SELECT bad('{"shop.customers": {"quasi_identifiers": ["country"], "hierarchies": {"country": {"prefix": [1]}}}, "shop.country": {"keep": ["name"], "allow_identifying": ["name"]}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}}', known => '5');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}}', k => 1);
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}}', schema => 'nowhere');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}}', schema => 'one');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"], "target": "a"}, "shop.country": {"keep": ["name"], "target": "a"}}');
CREATE VIEW shop.people AS SELECT * FROM shop.customers;
SELECT bad('{"shop.people": {"quasi_identifiers": ["birth"]}}', 'shop.people');
-- keys of several columns, of two types, in a circle
CREATE TABLE shop.pair (a int, b int, x int, PRIMARY KEY (a, b));
SELECT bad('{"shop.pair": {"quasi_identifiers": ["x"]}}', 'shop.pair');
CREATE TABLE shop.wide (id int PRIMARY KEY, a int, b int, x int, UNIQUE (a, b), FOREIGN KEY (a, b) REFERENCES shop.pair);
ALTER TABLE shop.pair ADD customer bigint REFERENCES shop.customers;
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}, "shop.pair": {"quasi_identifiers": ["x"]}, "shop.wide": {"quasi_identifiers": ["x"]}}');
-- rows refer by a key of several columns to a lookup
CREATE TABLE shop.code (code text, version int, title text, PRIMARY KEY (code, version));
CREATE TABLE shop.coded (id int PRIMARY KEY, customer bigint REFERENCES shop.customers, x int, code text, version int, FOREIGN KEY (code, version) REFERENCES shop.code);
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}, "shop.coded": {"quasi_identifiers": ["x"]}, "shop.code": {"keep": ["title"]}}');
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}, "shop.coded": {"quasi_identifiers": ["x"], "keep": ["code"]}, "shop.code": {"keep": ["title"], "referenced": true}}');
CREATE TABLE shop.narrow (id int PRIMARY KEY, customer int REFERENCES shop.customers, x int);
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}, "shop.narrow": {"quasi_identifiers": ["x"]}}');
CREATE TABLE shop.hen (id int PRIMARY KEY, x int);
CREATE TABLE shop.egg (id int PRIMARY KEY, hen int REFERENCES shop.hen, x int);
ALTER TABLE shop.hen ADD egg int REFERENCES shop.egg;
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}, "shop.hen": {"quasi_identifiers": ["x"]}, "shop.egg": {"quasi_identifiers": ["x"]}}');
-- rows of an inheriting table may repeat a key, in the subject's table, in one of rows, in a lookup
CREATE TABLE shop.heirs () INHERITS (shop.customers);
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}}');
SELECT persons FROM kanon_check_linked('shop.customers', '{"shop.customers": {"quasi_identifiers": ["birth"]}}', 5);
DROP TABLE shop.heirs;
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}}');
CREATE TABLE shop.heirs () INHERITS (shop.orders);
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}, "shop.orders": {"quasi_identifiers": ["city"], "foreign_key": "orders_customer_id_fkey"}}');
DROP TABLE shop.heirs;
CREATE TABLE shop.heirs () INHERITS (shop.country);
SELECT bad('{"shop.customers": {"quasi_identifiers": ["birth"]}, "shop.country": {"keep": ["name"], "allow_identifying": ["name"]}}');
DROP TABLE shop.heirs;
SELECT count(*) FROM pg_class WHERE relnamespace = 'bad'::regnamespace;

-- names in mixed case, two tables of one name, partitions, deferred keys, persons without rows
\pset tuples_only off
\pset format aligned
CREATE SCHEMA "Odd ""Schema";
CREATE TABLE "Odd ""Schema"."Customers" ("Id" uuid PRIMARY KEY DEFAULT gen_random_uuid(), "Birth Year" int);
CREATE SCHEMA hr;
CREATE TABLE hr."Customers" ("The ""Key" uuid REFERENCES "Odd ""Schema"."Customers" DEFERRABLE INITIALLY DEFERRED, "X" int) PARTITION BY RANGE ("X");
CREATE TABLE hr.low PARTITION OF hr."Customers" FOR VALUES FROM (0) TO (2);
CREATE TABLE hr.high PARTITION OF hr."Customers" FOR VALUES FROM (2) TO (10);
INSERT INTO "Odd ""Schema"."Customers" ("Birth Year") SELECT 1950 + i % 2 FROM generate_series(1, 20) AS i;
INSERT INTO hr."Customers" SELECT "Id", row_number() OVER () % 3 FROM "Odd ""Schema"."Customers" LIMIT 15;
CREATE SCHEMA "New Ones";
BEGIN;
INSERT INTO hr."Customers" VALUES (gen_random_uuid(), 1);
SELECT target, role, row_count, published > 5 AS published FROM kanon_linked('"Odd ""Schema"."Customers"', '{
  "\"Odd \"\"Schema\".\"Customers\"": {"quasi_identifiers": ["Birth Year"]},
  "hr.\"Customers\"": {"quasi_identifiers": ["X"], "target": "Rows"}}', 'New Ones', 3);
SELECT count(*) = count(c."Id") AS all_join FROM "New Ones"."Rows" AS r LEFT JOIN "New Ones"."Customers" AS c ON r."The ""Key" = c."Id";
ROLLBACK;
-- a role that may read some of the tables alone
CREATE ROLE regress_linked;
GRANT USAGE, CREATE ON SCHEMA bad TO regress_linked;
GRANT USAGE ON SCHEMA shop TO regress_linked;
GRANT SELECT ON shop.customers TO regress_linked;
GRANT SELECT (id, customer_id, placed) ON shop.orders TO regress_linked;
SET ROLE regress_linked;
SELECT role FROM kanon_linked('shop.customers', '{"shop.customers": {"quasi_identifiers": ["birth"]},
  "shop.orders": {"quasi_identifiers": ["city"], "foreign_key": "orders_customer_id_fkey"}}', 'bad', 5);
SELECT role FROM kanon_linked('shop.customers', '{"shop.customers": {"quasi_identifiers": ["birth"]},
  "shop.orders": {"quasi_identifiers": ["placed"], "foreign_key": "orders_customer_id_fkey"}}', 'bad', 5);
RESET ROLE;
DROP OWNED BY regress_linked;
DROP ROLE regress_linked;
-- at equal cost rows stay, and show nothing: three orders each, each city with too few persons of a class
CREATE TABLE shop.payer (id int PRIMARY KEY, birth int);
CREATE TABLE shop.paid (id int PRIMARY KEY, payer int REFERENCES shop.payer, city text);
INSERT INTO shop.payer SELECT i, i % 30 FROM generate_series(1, 300) AS i;
INSERT INTO shop.paid SELECT i, 1 + i % 300, 'c' || i % 7 FROM generate_series(1, 900) AS i;
CREATE SCHEMA stay;
SELECT table_name, row_count, published FROM kanon_linked('shop.payer',
    '{"shop.payer": {"quasi_identifiers": ["birth"]}, "shop.paid": {"quasi_identifiers": ["city"]}}', 'stay', 5);
-- of a lookup rows alone to which published rows refer
CREATE TABLE shop.land (code text PRIMARY KEY, name text);
INSERT INTO shop.land VALUES ('a', 'Austria'), ('b', 'Belgium'), ('c', 'Chile'), ('d', 'nobody''s');
CREATE TABLE shop.payee (id int PRIMARY KEY, birth int, born text REFERENCES shop.land, joined date);
CREATE TABLE shop.bill (id int PRIMARY KEY, payee int REFERENCES shop.payee, sent date, land text REFERENCES shop.land, due date);
INSERT INTO shop.payee SELECT i, 1950 + i % 4, 'a', date '2020-01-01' + i % 2 FROM generate_series(1, 40) AS i;
INSERT INTO shop.bill SELECT i, 1 + i % 40, date '2024-01-01' + 100 * (i % 2), CASE WHEN i = 1 THEN 'c' ELSE 'b' END, date '2020-01-01' + 7 + (1 + i % 40) % 2 FROM generate_series(1, 160) AS i;
CREATE SCHEMA lands;
SELECT table_name, row_count, published FROM kanon_linked('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"], "keep": ["born"]},
  "shop.bill": {"quasi_identifiers": ["sent", "land"]}, "shop.land": {"keep": ["name"], "referenced": true}}', 'lands', 4);
SELECT name, code FROM lands.land ORDER BY 1;
SELECT count(*) FILTER (WHERE b.land IS NOT NULL AND l.code IS NULL) AS dangling FROM lands.bill AS b LEFT JOIN lands.land AS l ON b.land = l.code;
SELECT table_name, row_count, published FROM kanon_linked('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"], "keep": ["born"]},
  "shop.land": {"keep": ["name"], "referenced": true}}', 'stay', 4);
SELECT l.name, count(*) FROM stay.payee AS p JOIN stay.land AS l ON p.born = l.code GROUP BY 1;
-- dates of a person are shifted together in all tables
SELECT table_name, published FROM kanon_linked('shop.payee', '{
  "shop.payee": {"quasi_identifiers": ["birth"], "keep": ["joined"], "allow_identifying": ["joined"], "mask": {"joined": {"shift": "id", "days": 300}}, "target": "who"},
  "shop.bill": {"quasi_identifiers": ["sent"], "keep": ["due"], "allow_identifying": ["due"], "mask": {"due": {"shift": "payee", "days": 300}}, "target": "paid"}}', 'lands', 4);
SELECT count(*) > 100 AS bills, min(p.due - w.joined), max(p.due - w.joined) FROM lands.paid AS p JOIN lands.who AS w ON p.payee = w.id;
SELECT count(DISTINCT joined) > 20 AS shifted FROM lands.who;
\pset format unaligned
\pset tuples_only on
SELECT bad('{"shop.payee": {"quasi_identifiers": ["birth"]}, "shop.bill": {"quasi_identifiers": ["sent"], "referenced": true}}', 'shop.payee');
SELECT bad('{"shop.payee": {"quasi_identifiers": ["birth"]}, "shop.land": {"keep": ["name"], "referenced": "yes"}}', 'shop.payee');
CREATE TABLE shop.continent (id int PRIMARY KEY, name text);
ALTER TABLE shop.land ADD continent int REFERENCES shop.continent;
SELECT bad('{"shop.payee": {"quasi_identifiers": ["birth"]}, "shop.land": {"keep": ["name"]}, "shop.continent": {"keep": ["name"], "referenced": true}}', 'shop.payee');
-- the page of one of the tables: persons are promised, keys are pseudonyms, and no k is tried for it alone
SELECT s ->> 'says' AS says FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(u.run) -> 'statements') s
WHERE u.target = 'stay.paid' AND s ->> 'about' IN ('columns', 'promise');
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(u.run, read_target => true) -> 'verdicts') v
WHERE u.target = 'stay.paid';
SELECT d -> 'run' ->> 'k' AS k, d ->> 'check' AS "check", d -> 'frontier' ->> 'says' AS other_ks, (SELECT string_agg(o ->> 'option' || ' ' || (o ->> 'value'), ', ') FROM jsonb_array_elements(d -> 'options') o
    WHERE o ->> 'option' IN ('k', 'known_rows', 'subject', 'class_size')) AS parameters
FROM kanon_usefulness u, kanon_report_data(u.run, frontier => '{2,5}') d WHERE u.target LIKE 'stay.%' ORDER BY 4;
-- the release as a whole: a run of its own, and one page for all tables
SELECT run, release_run = max(release_run) OVER () AS one, release_run > run AS later FROM kanon_linked('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"], "keep": ["born"], "target": "whole_p"},
  "shop.bill": {"quasi_identifiers": ["sent", "land"], "target": "whole_b"}, "shop.land": {"keep": ["name"], "target": "whole_l"}}', 'stay', 4) \g /dev/null
SELECT max(run) AS whole FROM kanon_usefulness \gset
SELECT source, target, model, method, k, row_count, gcp BETWEEN 0 AND 1 AS gcp, note, tables - 'tables' - 'gcp' AS counted, (SELECT jsonb_agg(t - 'gcp' - 'suppressed' - 'run') FROM jsonb_array_elements(tables -> 'tables') t) AS tables
FROM kanon_usefulness WHERE run = :whole;
SELECT tables -> 'tables' -> 0 -> 'run' = to_jsonb(run - 2) AND tables -> 'tables' -> 2 -> 'run' IS NULL AS numbered FROM kanon_usefulness WHERE run = :whole;
SELECT note FROM kanon_equivalence_classes WHERE run = :whole;
SELECT s ->> 'about' AS about, replace(regexp_replace(s ->> 'says', '^On .* UTC', 'On …'), current_user, 'owner') AS says FROM jsonb_array_elements(kanon_report_data(:whole, read_target => true, compare => true, frontier => '{2}') -> 'statements') s;
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM jsonb_array_elements(kanon_report_data(:whole) -> 'verdicts') v;
SELECT kanon_report_data(:whole) ->> 'check' AS again \gset
:again
SELECT kanon_report_data(:whole, read_target => true) -> 'not_read' AS not_read, kanon_report_data(:whole) #> '{linked,lines}' AS lines;
SELECT p ~ '<h2>stay.whole_b</h2>' AS rows, p ~ '<h2>stay.whole_p</h2>' AS persons, p ~ '<h2>stay.whole_l</h2>' AS lookup, p ~ '<svg class=.schema' AS picture, p ~ 'SHA-256 of the rows' AS checksums FROM kanon_report(:whole, read_target => true) p;
-- the page counts the promise again over the tables as they are
SELECT v ->> 'verdict' AS verdict, regexp_replace(v ->> 'says', '.*(kanon_check_linked counted)', '\1') AS says FROM jsonb_array_elements(kanon_report_data(:whole, read_target => true) -> 'verdicts') v WHERE v ->> 'about' = 'quasi_identifiers';
BEGIN;
UPDATE stay.whole_b SET sent = '2024-12-24' WHERE id = (SELECT min(id) FROM stay.whole_b);
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM jsonb_array_elements(kanon_report_data(:whole, read_target => true) -> 'verdicts') v WHERE v ->> 'about' = 'quasi_identifiers';
SELECT d -> 'verdict' ->> 'verdict' AS verdict FROM kanon_report_data(:whole, read_target => true) d;
ALTER TABLE stay.whole_b DROP CONSTRAINT whole_b_payee_fkey;
SELECT v ->> 'says' ~ 'counted the tables again' AS again FROM jsonb_array_elements(kanon_report_data(:whole, read_target => true) -> 'verdicts') v WHERE v ->> 'about' = 'quasi_identifiers';
ROLLBACK;
-- the worst of any table stands first: one that was changed since
DELETE FROM stay.whole_b WHERE id = (SELECT min(id) FROM stay.whole_b);
SELECT p ~ 'stay.whole_b: The table has been changed since it was published: it has another number of rows' AS told FROM kanon_report(:whole, read_target => true) p;
-- nothing is written: by the name of a schema or without one
SELECT count(*) AS before FROM pg_class \gset
SELECT table_name, target, published, run, release_run FROM kanon_linked('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"]}, "shop.bill": {"quasi_identifiers": ["sent"]}}', NULL, 4, dry_run => true);
SELECT table_name, target, published, run, release_run FROM kanon_linked('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"]}, "shop.bill": {"quasi_identifiers": ["sent"]}}', 'one', 4, dry_run => true);
SELECT count(*) = :before AS nothing, (SELECT max(run) = :whole FROM kanon_usefulness) AS no_run FROM pg_class;
SELECT published FROM kanon_linked('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"]}}', NULL, 4);
-- several ks, and rows that somebody knows; of a table that is not linked, too
SELECT k, known_rows, table_name, class_size, published, loss BETWEEN 0 AND 2 AS loss FROM kanon_linked_frontier('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"], "class_size": "auto"},
  "shop.bill": {"quasi_identifiers": ["sent", "land"]}, "shop.land": {"keep": ["name"]}}', '{4,10,41}', '{1,2,all}');
SELECT k, table_name, class_size, published FROM kanon_linked_frontier('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"]}, "shop.bill": {"quasi_identifiers": ["land"], "linked": false}}', '{4}');
-- as the release itself
SELECT f.published = l.published AND f.loss = l.gcp AS same
FROM kanon_linked_frontier('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"]}, "shop.bill": {"quasi_identifiers": ["sent"]}}', '{4}', '{2}') f
JOIN kanon_linked('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"]}, "shop.bill": {"quasi_identifiers": ["sent"]}}', NULL, 4, '2', dry_run => true) l USING (table_name);
SELECT FROM kanon_linked_frontier('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"]}}', '{1}');
SELECT FROM kanon_linked_frontier('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"]}}', '{5}', '{}');
SELECT FROM kanon_linked_frontier('shop.payee', '{"shop.payee": {"quasi_identifiers": ["birth"]}}', '{5}', '{1,five}');
SELECT FROM kanon_linked_frontier('shop.payee', '{"shop.payee": {"quasi_identifiers": ["nothing"]}}', '{5}');
SELECT count(*) = :before AS nothing FROM pg_class;
-- all tables share one budget: each alone has enough
CREATE TABLE shop.many (id int PRIMARY KEY, birth int);
CREATE TABLE shop.much (id int PRIMARY KEY, who int REFERENCES shop.many, sent int);
CREATE TABLE shop.more (id int PRIMARY KEY, who int REFERENCES shop.many, sent int);
INSERT INTO shop.many SELECT i, i % 300 FROM generate_series(1, 6000) AS i;
INSERT INTO shop.much SELECT i, 1 + i % 6000, i % 7 FROM generate_series(1, 18000) AS i;
INSERT INTO shop.more SELECT * FROM shop.much;
SELECT FROM kanon_linked('shop.many', '{"shop.many": {"quasi_identifiers": ["birth"]}, "shop.much": {"quasi_identifiers": ["sent"]}, "shop.more": {"quasi_identifiers": ["sent"]}}', 'stay', 5) \g /dev/null
SELECT max(peak_memory) > 1.2 * (array_agg(peak_memory ORDER BY peak_memory DESC))[2] AS more, (max(peak_memory) + (array_agg(peak_memory ORDER BY peak_memory DESC))[2]) / 2048 AS between
FROM (SELECT peak_memory FROM kanon_usefulness ORDER BY run DESC LIMIT 4) u \gset
SELECT :'more' AS more;
SET kanon.max_memory = :'between';
DO $$
BEGIN
    PERFORM FROM kanon_linked('shop.many', '{"shop.many": {"quasi_identifiers": ["birth"]}, "shop.much": {"quasi_identifiers": ["sent"]}, "shop.more": {"quasi_identifiers": ["sent"]}}', NULL, 5, dry_run => true);
EXCEPTION WHEN out_of_memory THEN
    RAISE WARNING '%', SQLERRM;
END $$;
RESET kanon.max_memory;
-- rules about the values of a row that somebody knows: persons are counted, in each class of persons
CREATE TABLE shop.ill (id int PRIMARY KEY, birth int);
CREATE TABLE shop.stay (id int PRIMARY KEY, ill int REFERENCES shop.ill, ward int, diagnosis text);
CREATE TABLE shop.drug (stay int REFERENCES shop.stay, day int, drug text);
INSERT INTO shop.ill SELECT i, 1950 + i % 20 FROM generate_series(1, 400) AS i;
INSERT INTO shop.stay SELECT i, 1 + i * 7 % 397, i % 11, CASE WHEN i % 11 < 3 THEN 'HIV' ELSE 'd' || i * i % 5 END FROM generate_series(1, 1200) AS i;
INSERT INTO shop.drug SELECT 1 + i * 13 % 1200, i % 6, CASE WHEN i % 6 = 0 THEN 'AZT' ELSE 'x' || i % 7 END FROM generate_series(1, 2000) AS i;
CREATE SCHEMA ruled;
CREATE FUNCTION ruled(stays text, drugs text, m text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM kanon_linked('shop.ill', format('{"shop.ill": {"quasi_identifiers": ["birth"], "class_size": 20},
        "shop.stay": {"quasi_identifiers": ["ward"], "keep": ["diagnosis"], "privacy": [%s]},
        "shop.drug": {"quasi_identifiers": ["day"], "keep": ["drug"], "privacy": [%s]}}', stays, drugs)::jsonb, 'ruled', 4, m, replace => true);
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING '%', SQLERRM;
END $$;
-- a trial that fails once rows were read leaves nothing of them for the next one: the column has too few values
SELECT k, table_name, class_size FROM kanon_linked_frontier('shop.ill', '{"shop.ill": {"quasi_identifiers": ["birth"]},
  "shop.stay": {"quasi_identifiers": ["ward"], "keep": ["diagnosis"], "privacy": [{"rule": "distinct_l", "column": "diagnosis", "l": 50}]}}', '{2,3,4,5,6}');
-- what an attacker finds who knows a person and one stay, or one drug: values, and the share of persons with the commonest
CREATE FUNCTION found() RETURNS TABLE (what text, least_values bigint, top numeric, k boolean) LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY
WITH stays AS (SELECT p.birth, s.ward, p.id, s.diagnosis AS v FROM ruled.ill AS p JOIN ruled.stay AS s ON s.ill = p.id),
drugs AS (SELECT p.birth, d.day, p.id, d.drug AS v FROM ruled.ill AS p JOIN ruled.stay AS s ON s.ill = p.id JOIN ruled.drug AS d ON d.stay = s.id),
known AS (SELECT 'stay' AS what, * FROM stays UNION ALL SELECT 'drug', * FROM drugs),
counted AS (SELECT o.what, o.birth, o.ward, o.v, count(DISTINCT o.id) AS persons FROM known AS o GROUP BY 1, 2, 3, 4),
groups AS (SELECT o.what, o.birth, o.ward, count(DISTINCT o.id) AS persons FROM known AS o GROUP BY 1, 2, 3)
SELECT x.what, min(x.n), round(max(x.share), 2), bool_and(x.persons >= 4)
FROM (SELECT c.what, count(*) AS n, max(c.persons / g.persons::numeric) AS share, g.persons FROM counted AS c JOIN groups AS g ON (c.what, c.birth) = (g.what, g.birth) AND c.ward IS NOT DISTINCT FROM g.ward GROUP BY c.what, c.birth, c.ward, g.persons) AS x GROUP BY x.what; END $$;
SELECT ruled('', '', '1');
SELECT * FROM found() ORDER BY 1;
SELECT ruled('{"rule": "distinct_l", "column": "diagnosis", "l": 3}', '{"rule": "distinct_l", "column": "drug", "l": 4}', '1');
SELECT * FROM found() ORDER BY 1;
SELECT count(*) > 1000 AS stays FROM ruled.stay;
SELECT ruled('{"rule": "alpha", "column": "diagnosis", "alpha": 0.7}', '{"rule": "alpha", "column": "drug", "alpha": 0.5}', '1');
SELECT * FROM found() ORDER BY 1;
SELECT ruled('{"rule": "entropy_l", "column": "diagnosis", "l": 3}', '{"rule": "t_closeness", "column": "drug", "t": 0.3}', '1');
SELECT ruled('{"rule": "recursive_cl", "column": "diagnosis", "c": 2, "l": 2}', '{"rule": "distinct_l", "column": "drug", "l": 3}', '2');
SELECT * FROM found() ORDER BY 1;
SELECT s ->> 'says' AS says FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(u.run) -> 'statements') s WHERE target = 'ruled.stay' AND s ->> 'about' = 'rules' ORDER BY run DESC LIMIT 1;
SELECT ruled('{"rule": "distinct_l", "column": "diagnosis", "l": 300}', '', '1');
SELECT ruled('{"rule": "subject", "column": "diagnosis"}', '', '1');
SELECT ruled('{"rule": "distinct_l", "column": "ill", "l": 2}', '', '1');
SELECT ruled('{"rule": "distinct_l", "column": "drug", "l": 2}', '', '1');
SELECT ruled('{"rule": "distinct_l", "column": "diagnosis", "l": 2}', '', 'all');
SELECT k, known_rows, table_name, published > 0 AS published FROM kanon_linked_frontier('shop.ill', '{"shop.ill": {"quasi_identifiers": ["birth"], "class_size": "auto"},
    "shop.stay": {"quasi_identifiers": ["ward"], "keep": ["diagnosis"], "privacy": [{"rule": "distinct_l", "column": "diagnosis", "l": 3}]}}', '{4,8}', '{1,2}');
-- kept columns of one table that tell a quasi-identifier of another: per person, by keys and lookups, in each direction
CREATE SCHEMA "Tells";
CREATE TABLE "Tells".wares (id int PRIMARY KEY, home text);
INSERT INTO "Tells".wares SELECT i, 'city' || i % 12 FROM generate_series(1, 24) AS i;
CREATE TABLE "Tells"."Customers" (id bigint PRIMARY KEY, zip text, sex text, club text);
INSERT INTO "Tells"."Customers" SELECT i, 'z' || i % 60, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, 'c' || i * i % 7 FROM generate_series(1, 600) AS i;
CREATE TABLE "Tells".orders (id bigint PRIMARY KEY, customer bigint REFERENCES "Tells"."Customers", city text, "ship zip" text, ware int REFERENCES "Tells".wares, club text, nick text);
INSERT INTO "Tells".orders SELECT i, c.id, 'city' || i * i % 12, c.zip, CASE WHEN i * i % 12 = 0 THEN 12 ELSE i * i % 12 END, c.club, 'n' || c.id FROM generate_series(1, 1800) AS i JOIN "Tells"."Customers" AS c ON c.id = 1 + i % 600;
CREATE SCHEMA told;
CREATE FUNCTION told(customers text, orders text, others text DEFAULT '') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM kanon_linked('"Tells"."Customers"', format('{"\"Tells\".\"Customers\"": {%s}, "\"Tells\".orders": {%s}%s}', customers, orders, others)::jsonb, 'told', 30, replace => true);
EXCEPTION WHEN check_violation THEN
    RAISE WARNING '%', SQLERRM;
END $$;
SELECT told('"quasi_identifiers": ["zip", "sex"]', '"quasi_identifiers": ["city"], "keep": ["ship zip"]');
SELECT told('"quasi_identifiers": ["zip", "sex"]', '"quasi_identifiers": ["city"], "keep": ["ship zip"], "allow_identifying": ["ship zip"]');
SELECT told('"quasi_identifiers": ["sex"], "keep": ["club"]', '"quasi_identifiers": ["club"]');
SELECT told('"quasi_identifiers": ["sex"]', '"quasi_identifiers": ["city"], "keep": ["ware"]', ', "\"Tells\".wares": {"keep": ["home"]}');
-- rows of one person agree in all that is the person's, which identifies the person
SELECT told('"quasi_identifiers": ["zip", "sex"]', '"quasi_identifiers": ["city"], "keep": ["nick"]');
SELECT told('"quasi_identifiers": ["zip", "sex"], "keep": ["club"]', '"quasi_identifiers": ["city"]');
