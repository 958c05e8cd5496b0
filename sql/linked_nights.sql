/* Several tables as one publication: views that join, night after night. */
\pset null '~'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS kanon;
CREATE ROLE regress_market;
CREATE SCHEMA market;
CREATE TABLE market.customers (id bigint PRIMARY KEY, birth int, zip text, segment text);
CREATE TABLE market.products (id int PRIMARY KEY, name text, price numeric);
CREATE TABLE market.orders (id bigint PRIMARY KEY, customer_id bigint REFERENCES market.customers, placed date, city text, tag text);
CREATE TABLE market.lines (order_id bigint REFERENCES market.orders, line int, product_id int REFERENCES market.products, quantity int,
                         PRIMARY KEY (order_id, line));
INSERT INTO market.customers SELECT i, 1950 + 10 * (i % 5), '1' || i % 4, 's' || i % 3 FROM generate_series(1, 120) AS i;
INSERT INTO market.products SELECT i, 'product ' || i, i FROM generate_series(1, 6) AS i;
INSERT INTO market.orders SELECT i, 1 + i * 7 % 118, date '2024-01-01' + i * 37 % 700, 'city ' || i * i % 4, 't' || i FROM generate_series(1, 360) AS i;
INSERT INTO market.lines SELECT 1 + i * 13 % 360, i, 1 + i * i % 6, 1 + i % 3 FROM generate_series(1, 500) AS i;
CREATE TABLE market_told (tables jsonb);
INSERT INTO market_told VALUES ('{
  "market.customers": {"quasi_identifiers": ["birth", "zip"], "keep": ["segment"]},
  "market.orders":    {"quasi_identifiers": ["placed", "city"], "keep": ["tag"], "allow_identifying": ["tag"],
                     "hierarchies": {"placed": {"date": ["quarter", "year"]}}},
  "market.lines":     {"quasi_identifiers": ["product_id"], "keep": ["quantity"], "max_row_change": 0.9},
  "market.products":  {"keep": ["name", "price"]}}');
CREATE SCHEMA market_public;
CREATE SCHEMA market_private;
SET client_min_messages = notice;
SELECT kanon_create_linked_publication('market_public', subject => 'market.customers', k => 5, known_rows => 2, keep_releases => 2,
                                       private_schema => 'market_private', tables => tables) FROM market_told;
SET client_min_messages = warning;
SELECT relname, relkind FROM pg_class WHERE relnamespace = 'market_public'::regnamespace ORDER BY 1;
SELECT relname FROM pg_class WHERE relnamespace = 'market_private'::regnamespace AND relkind IN ('r', 'v') ORDER BY 1;
-- every join runs; what readers see is counted by the views alone
CREATE VIEW market_joined AS
SELECT count(*) AS lines, count(o.id) AS orders, count(c.id) AS customers, count(*) FILTER (WHERE l.product_id IS NOT NULL AND p.id IS NULL) AS dangling
FROM market_public.lines AS l LEFT JOIN market_public.orders AS o ON o.id = l.order_id LEFT JOIN market_public.customers AS c ON c.id = o.customer_id
LEFT JOIN market_public.products AS p ON p.id = l.product_id;
SELECT lines > 300 AS lines, orders = lines AS orders, customers = lines AS customers, dangling FROM market_joined;
CREATE FUNCTION market_safe(known text DEFAULT '2', k bigint DEFAULT 5) RETURNS boolean LANGUAGE sql AS $$
SELECT safe FROM kanon_check_linked('market_public.customers', '{"market_public.customers": {"quasi_identifiers": ["birth", "zip"]},
  "market_public.orders": {"quasi_identifiers": ["placed", "city"]}, "market_public.lines": {"quasi_identifiers": ["product_id"]}}', k, known) $$;
SELECT market_safe(), market_safe('2', 50) AS with_50;
SELECT publication, source, quasi_identifiers, k, model, options - 'tables' AS options, jsonb_array_length(options -> 'tables') AS tables, problem FROM kanon_publications;

-- nothing has changed: no release
SELECT release, status FROM kanon_refresh('market_public');
-- one order comes: keys are new, classes of others show what they showed
CREATE TABLE market_customers AS SELECT * FROM market_public.customers;
CREATE TABLE market_orders AS SELECT o.placed, o.city, o.tag, c.birth, c.zip FROM market_public.orders AS o JOIN market_public.customers AS c ON c.id = o.customer_id;
GRANT SELECT ON market_public.orders TO regress_market;
COMMENT ON COLUMN market_public.orders.city IS 'where the order was placed';
INSERT INTO market.orders SELECT 1000, id, '2024-05-05', 'city 1', 't1000' FROM market.customers WHERE birth = 1950 AND zip = '10' ORDER BY id LIMIT 1;
SELECT release, status, row_count, k, error FROM kanon_refresh('market_public.orders');
SELECT count(*) AS persons, count(b.id) AS known FROM market_public.customers LEFT JOIN market_customers AS b USING (id);
SELECT count(*) FILTER (WHERE now.tag IS NULL) AS left, count(*) FILTER (WHERE was.tag IS NULL) AS came,
       count(DISTINCT coalesce(was.birth, now.birth) || coalesce(was.zip, now.zip)) AS classes_that_changed
FROM market_orders AS was FULL JOIN (SELECT o.placed, o.city, o.tag, c.birth, c.zip FROM market_public.orders AS o JOIN market_public.customers AS c ON c.id = o.customer_id) AS now
  ON (was.tag, was.birth, was.zip, coalesce(was.city, ''), coalesce(was.placed, 'empty')) = (now.tag, now.birth, now.zip, coalesce(now.city, ''), coalesce(now.placed, 'empty'))
WHERE was.tag IS NULL OR now.tag IS NULL;
SELECT has_table_privilege('regress_market', 'market_public.orders', 'SELECT') AS granted, has_table_privilege('regress_market', 'market_public.lines', 'SELECT') AS not_granted,
       col_description('market_public.orders'::regclass, 2) AS says;
SELECT market_safe(), dangling FROM market_joined;
-- a person comes: everybody stays in the same class
INSERT INTO market.customers VALUES (500, 1950, '10', 's1');
SELECT release, status, row_count FROM kanon_refresh('market_public');
SELECT birth, zip, count(*) FROM market_public.customers GROUP BY 1, 2 EXCEPT SELECT birth, zip, count(*) FROM market_customers GROUP BY 1, 2;
SELECT release, status, relation FROM kanon_releases ORDER BY 1;
SELECT relname FROM pg_class WHERE relnamespace = 'market_private'::regnamespace AND relkind = 'r' AND relname ~ 'release' ORDER BY 1;
-- tables that are renamed are followed, a view that is gone comes back
ALTER TABLE market.orders RENAME TO sales;
DROP VIEW market_public.lines CASCADE;
SELECT status, problem, remedy FROM kanon_publication_status('market_public');
SELECT release, status FROM kanon_refresh('market_public');
SELECT count(*) > 300 AS lines FROM market_public.lines;
SELECT status, problem, allow_identifying FROM kanon_publication_status('market_public.products');
ALTER TABLE market.sales RENAME TO orders;
-- what fails is recorded, and readers keep what they have
BEGIN;
DELETE FROM market.lines WHERE line > 20;
SELECT release, status, error, message FROM kanon_refresh('market_public');
SELECT detail, hint FROM kanon_releases WHERE status = 'failed';
SELECT count(*) > 300 AS lines FROM market_public.lines;
ROLLBACK;
BEGIN;
ALTER TABLE market.orders DROP COLUMN city;
SELECT release, status, error, message FROM kanon_refresh('market_public');
ROLLBACK;
CALL kanon_refresh_all();
-- what is altered is tried before
SELECT kanon_alter_publication('market_public', k => 1000);
SELECT kanon_alter_publication('market_public', key => 'id');
SELECT kanon_alter_publication('market_public', model => 'cluster');
SELECT kanon_alter_publication('market_public', quasi_identifiers => '{birth}');
SELECT kanon_alter_publication('market_public', set_options => '{"known_rows": 7}');
SELECT kanon_alter_publication('market_public', set_options => '{"pseudonym": "never"}');
SELECT kanon_alter_publication('market_public', set_options => '{"tables": 7}');
SELECT kanon_alter_publication('market_public', set_options => '{"known_rows": 2, "protect_successive": true}');
SELECT kanon_alter_publication('market_public', drop_options => '{tables}');
SELECT kanon_alter_publication('market_public', set_options => '{"tables": {"market.customers": {"quasi_identifiers": ["birth"]}}}');
SELECT kanon_alter_publication('market_public', k => 4, set_options => jsonb_build_object('known_rows', '1', 'pseudonym', 'publication', 'tables',
    jsonb_set(tables, '{market.orders,hierarchies,placed,date}', '["year"]'))) FROM market_told;
SELECT k, options - 'tables' AS options, options #> '{tables,1,hierarchies}' AS orders FROM kanon_publications;
-- keys that last
SELECT release, status FROM kanon_refresh('market_public');
CREATE TABLE market_lasting AS SELECT * FROM market_public.customers;
INSERT INTO market.customers VALUES (501, 1950, '10', 's1');
SELECT release, status FROM kanon_refresh('market_public');
SELECT count(*) AS persons, count(b.id) AS known, count(*) FILTER (WHERE b.birth = c.birth AND b.zip = c.zip) AS stayed
FROM market_public.customers AS c LEFT JOIN market_lasting AS b USING (id);
SELECT market_safe('1', 4);
-- readers read, and nothing else
GRANT USAGE ON SCHEMA market_public TO regress_market;
SET ROLE regress_market;
SELECT kanon_refresh('market_public.customers');
SELECT kanon_refresh('market_public');
SELECT kanon_drop_publication('market_public.orders');
SELECT status, k, failures FROM kanon_publication_status('market_public.orders');
SELECT kanon_alter_publication('market_public.orders', k => 2);
SELECT count(*) FROM kanon_publications;
RESET ROLE;
-- what stands where a view was: the remedy leads out
DROP VIEW market_public.orders;
CREATE TABLE market_public.orders (note text);
SELECT problem, remedy FROM kanon_publication_status('market_public.customers');
SELECT status, error, message FROM kanon_refresh('market_public');
ALTER TABLE market_public.orders RENAME TO orders_other;
SELECT problem, remedy FROM kanon_publication_status('market_public.customers');
SELECT status FROM kanon_refresh('market_public');
DROP TABLE market_public.orders_other;
-- a view that its owner rewrites over its table of the release
SELECT format('CREATE OR REPLACE VIEW market_public.lines AS SELECT %s FROM %s LIMIT 3', string_agg(quote_ident(attname), ', ' ORDER BY attnum),
              (SELECT DISTINCT refobjid::regclass FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid WHERE r.ev_class = attrelid AND refclassid = 'pg_class'::regclass AND refobjid <> attrelid))
FROM pg_attribute WHERE attrelid = 'market_public.lines'::regclass AND attnum > 0 GROUP BY attrelid \gexec
SELECT problem, remedy FROM kanon_publication_status('market_public.customers');
SELECT status FROM kanon_refresh('market_public');
SELECT problem, count(*) > 3 AS whole FROM kanon_publication_status('market_public.customers'), market_public.lines GROUP BY 1;
-- what an owner writes into the definition by hand hides no publication from anybody, and ends no server
CREATE FUNCTION market_by_hand(change text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    told text;
    tried text;
BEGIN
    BEGIN
        EXECUTE change;
        SELECT string_agg(coalesce(problem, 'no problem') || coalesce(' | ' || remedy, ''), E'\n  ') INTO told FROM kanon_publication_status();
        SELECT string_agg(r.status || coalesce(' ' || r.message, ''), ', ') INTO tried FROM kanon_refresh('market_public.customers') r;
        RAISE EXCEPTION 'undone' USING ERRCODE = 'KN001';
    EXCEPTION
        WHEN SQLSTATE 'KN001' THEN NULL;
        WHEN OTHERS THEN tried := sqlstate || ' ' || sqlerrm;
    END;
    RETURN change || E'\n  ' || coalesce(told, 'no publication') || E'\n  ' || coalesce(tried, 'no refresh');
END
$$;
\pset format unaligned
\pset tuples_only on
SET client_min_messages = error;
SELECT market_by_hand(change) FROM unnest(string_to_array($$UPDATE market_private.customers_publication SET views = array_fill('market_public.lines'::regclass, '{90}')
UPDATE market_private.customers_publication SET views = array_fill(4294967295::oid::regclass, '{90}')
WITH h AS (UPDATE market_private.customers_history SET others = array_fill('market_public.lines'::regclass, '{90}')) UPDATE market_private.customers_publication SET views = array_fill(4294967295::oid::regclass, '{90}')
UPDATE market_private.customers_publication SET views = NULL
UPDATE market_private.customers_publication SET views = '{NULL,NULL}'
UPDATE market_private.customers_history SET others = NULL
UPDATE market_private.customers_publication SET options = '{}'
WITH h AS (UPDATE market_private.customers_publication SET options = '{"known_rows": "1", "pseudonym": "release", "tables": []}') SELECT 1
WITH h AS (UPDATE market_private.customers_publication SET views = array_fill(4294967295::oid::regclass, ARRAY[cardinality(views)]), options = '{"tables": [1, {}, {"target": 3}, {"target": "lines"}]}') SELECT 1
UPDATE market_private.customers_publication SET options = '{"tables": {"a": 1}}', views = array_fill(4294967295::oid::regclass, ARRAY[cardinality(views)])
UPDATE market_private.customers_publication SET model = 'greedy'
UPDATE market_private.customers_publication SET mask_key = '\x00'$$, E'\n')) AS change;
RESET client_min_messages;
\pset tuples_only off
\pset format aligned
-- nothing stays
SELECT kanon_drop_publication('market_public');
SELECT count(*) FROM pg_class WHERE relnamespace IN ('market_public'::regnamespace, 'market_private'::regnamespace);

SET client_min_messages = warning;
-- rows over max_rows are the same night after night: of the person with a new order one may give way to it
CREATE SCHEMA bounded;
SELECT kanon_create_linked_publication('bounded', 'market.customers', '{"market.customers": {"quasi_identifiers": ["birth"]},
  "market.orders": {"quasi_identifiers": ["city"], "keep": ["tag"], "allow_identifying": ["tag"], "max_rows": 2}, "market.lines": {"quasi_identifiers": ["product_id"], "target": "parts", "max_rows": 2}}', 5);
CREATE TABLE bounded_tags AS SELECT tag FROM bounded.orders;
INSERT INTO market.orders SELECT 2000, customer_id, '2024-05-05', 'city 1', 't2000' FROM market.orders WHERE id = 1;
SELECT release, status FROM kanon_refresh('bounded');
SELECT count(*) > 150 AS most_stay FROM bounded_tags JOIN bounded.orders USING (tag);
SELECT count(*) FILTER (WHERE b.tag IS NULL) <= 6 AS few_came, count(*) FILTER (WHERE o.tag IS NULL) <= 6 AS few_left FROM bounded_tags AS b FULL JOIN bounded.orders AS o USING (tag);
SET client_min_messages = error;
SELECT kanon_drop_publication('bounded');
DROP SCHEMA bounded CASCADE;
SET client_min_messages = warning;
-- publications of one owner join by their keys when they have one group, and nobody else's do
CREATE SCHEMA group_a;
CREATE SCHEMA group_b;
CREATE SCHEMA group_c;
CREATE SCHEMA group_private;
CREATE ROLE regress_enemy;
GRANT USAGE, CREATE ON SCHEMA group_c TO regress_enemy;
GRANT USAGE ON SCHEMA market, group_a, group_b TO regress_enemy;
GRANT SELECT ON ALL TABLES IN SCHEMA market TO regress_enemy;
SELECT kanon_create_linked_publication('group_a', 'market.customers', '{"market.customers": {"quasi_identifiers": ["birth"]}}', 5, pseudonym => 'group:market', private_schema => 'group_private');
SET client_min_messages = notice;
SELECT kanon_create_linked_publication('group_b', 'market.customers', '{"market.customers": {"quasi_identifiers": ["zip"], "target": "who"},
  "market.orders": {"quasi_identifiers": ["city"]}, "market.lines": {"quasi_identifiers": ["product_id"]}}', 5, pseudonym => 'group:market', private_schema => 'group_private');
SET client_min_messages = warning;
GRANT SELECT ON group_a.customers, group_b.who TO regress_enemy;
-- the enemy says the same name: keys do not join, and the secret is not read
SET ROLE regress_enemy;
SELECT kanon_create_linked_publication('group_c', 'market.customers', '{"market.customers": {"quasi_identifiers": ["birth"]}}', 5, pseudonym => 'group:market');
SELECT count(*) FROM group_a.customers AS a JOIN group_c.customers AS c USING (id);
SELECT mask_key FROM group_private.customers_publication;
SELECT kanon_alter_publication('group_a', set_options => '{"pseudonym": "release"}');
RESET ROLE;
SELECT count(*) AS persons, count(b.id) AS joined FROM group_a.customers AS a LEFT JOIN group_b.who AS b USING (id);
SELECT count(*) FROM group_a.customers AS a JOIN group_c.customers AS c USING (id);
SELECT count(DISTINCT mask_key) FROM (SELECT mask_key FROM group_private.customers_publication UNION ALL SELECT mask_key FROM group_private.who_publication) k;
-- the next release has the same keys; a group is entered and left by a new publication alone
INSERT INTO market.customers VALUES (600, 1950, '10', 's1');
CALL kanon_refresh_all();
SELECT count(*) AS persons, count(b.id) AS joined FROM group_a.customers AS a LEFT JOIN group_b.who AS b USING (id);
SELECT kanon_alter_publication('group_a', set_options => '{"pseudonym": "release"}');
SELECT kanon_alter_publication('group_a', set_options => '{"pseudonym": "group:other"}');
SELECT s ->> 'says' AS says FROM kanon_usefulness u, jsonb_array_elements(kanon_report_data(u.run) -> 'limits') s WHERE u.publication LIKE 'group_b.%' AND s ->> 'what' = 'Publications that join.' ORDER BY u.run DESC LIMIT 1;
-- one whose definition says nothing of keys any more hinders nobody
UPDATE group_private.customers_publication SET options = '{}';
SELECT kanon_drop_publication('group_b');
SELECT kanon_create_linked_publication('group_b', 'market.customers', '{"market.customers": {"quasi_identifiers": ["zip"]}}', 5, pseudonym => 'group:');
SELECT kanon_create_linked_publication('group_b', 'market.customers', '{"market.customers": {"quasi_identifiers": ["zip"]}}', 5, pseudonym => 'group:market');
-- the enemy's is the only one left of that name: its secret is not taken over
SELECT count(*) AS persons, count(c.id) AS joined FROM group_b.customers AS b LEFT JOIN group_c.customers AS c USING (id);
SELECT kanon_drop_publication('group_b');
SET client_min_messages = error;
SELECT kanon_drop_publication('group_a');
DROP OWNED BY regress_enemy CASCADE;
DROP ROLE regress_enemy;
DROP SCHEMA group_a, group_b, group_c, group_private CASCADE;
SET client_min_messages = notice;

-- what is no publication, before any work
CREATE FUNCTION market_bad(tables jsonb, subject regclass DEFAULT 'market.customers', known text DEFAULT '1', k bigint DEFAULT 5, schema text DEFAULT 'market_public', pseudonym text DEFAULT 'release')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
    hint text;
BEGIN
    PERFORM kanon_create_linked_publication(schema, subject, tables, k, known, pseudonym => pseudonym);
    RAISE EXCEPTION 'published';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN format('%s %s (%s)', sqlstate, message, hint);
END
$$;
\pset format unaligned
\pset tuples_only on
SELECT market_bad(NULL);
SELECT market_bad('{}');
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"]}}', NULL);
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"]}}', known => '5');
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"]}}', k => 1);
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"]}}', schema => 'nowhere');
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"]}}', schema => 'market');
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"]}}', pseudonym => 'night');
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"], "class_size": "auto"}}');
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"], "max_held": 3}}');
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"], "min_rows": 1000}}');
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"], "max_gcp": 7}}');
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"]}, "market.orders": {"quasi_identifiers": ["city"], "count_rows": true}}');
SELECT market_bad('{"market.customers": {"quasi_identifiers": ["birth"]}, "market.orders": {"quasi_identifiers": ["city"]}, "market.lines": {"quasi_identifiers": ["product_id"]}, "market.products": {"keep": ["name"], "min_rows": 1}}');
SELECT count(*) FROM pg_class WHERE relnamespace = 'market_public'::regnamespace;
DROP OWNED BY regress_market;
DROP ROLE regress_market;
