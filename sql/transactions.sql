-- kanon_transactions, kanon_check_transactions: sets of items.  What is promised is
-- counted here by joins, apart from what kanon counts.
CREATE SCHEMA set_test;
SET search_path = set_test, public;
SET client_min_messages = warning;

CREATE TABLE visits (patient text, name text, year int, diagnoses text[]);
INSERT INTO visits
SELECT 'p' || i, 'n' || i, 2020 + i % 3,
       CASE WHEN i % 50 > 0 THEN ARRAY(SELECT 'A' || 10 + (i * j * 7 + j * j) % 23 FROM generate_series(1, i % 5) j ORDER BY j DESC) END
FROM generate_series(1, 200) i;
-- two levels on one branch, one on another
CREATE TABLE icd AS
SELECT DISTINCT d AS code, CASE WHEN d < 'A2' THEN left(d, 2) || CASE WHEN d < 'A15' THEN ' low' ELSE ' high' END END AS block,
       left(d, 2) AS chapter, 'all'::text AS top
FROM visits, unnest(diagnoses) d;

-- sets of one and of two items, and how many transactions have them
CREATE FUNCTION supports(relation regclass, items text) RETURNS TABLE (known text[], n bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        WITH t AS (SELECT ctid AS id, u.i FROM %1$s r, unnest(r.%2$I::text[]) u(i))
        SELECT ARRAY[i], count(DISTINCT id) FROM t GROUP BY i
        UNION ALL
        SELECT ARRAY[a.i, b.i], count(DISTINCT a.id) FROM t a JOIN t b ON a.id = b.id AND a.i < b.i GROUP BY a.i, b.i$q$, relation, items);
END $$;
SELECT min(n) FROM supports('visits', 'diagnoses');

-- k^m-anonymity
SELECT * FROM kanon_transactions('visits', 'km', items => 'diagnoses', k => 5, method => 'apriori', m => 2,
    hierarchy => 'icd', keep => '{year}');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'km'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*) AS transactions, count(*) FILTER (WHERE diagnoses = '{}') AS empty, (SELECT min(n) FROM supports('km', 'diagnoses')) AS least FROM km;
SELECT u.i, count(*) FROM km, unnest(diagnoses) u(i) GROUP BY 1 ORDER BY 1;
-- kept columns are those that were there
SELECT year, count(*) FROM km GROUP BY 1 ORDER BY 1;
SELECT method, ncp, occurrences_suppressed, n >= 5 AS kept
FROM unnest('{apriori,direct,optimal}'::text[]) AS method,
LATERAL kanon_transactions('visits', 'm_' || method, 'diagnoses', 5, method, 2, hierarchy => 'icd') AS t,
LATERAL (SELECT min(n) AS n FROM supports(('m_' || method)::regclass, 'diagnoses') WHERE t.ncp >= 0) AS s;
-- the optimum is proven, and nothing is below its bound
SELECT proven, ncp = lower_bound AS bound FROM kanon_transactions('visits', NULL, 'diagnoses', 5, 'optimal', hierarchy => 'icd', dry_run => true);
SELECT proven, lower_bound FROM kanon_transactions('visits', NULL, 'diagnoses', 5, hierarchy => 'icd', dry_run => true);
-- without a hierarchy items stay or go, and the column keeps its type
SELECT items_before, items_shown, items_suppressed FROM kanon_transactions('visits', 'gone', 'diagnoses', 5, m => 2);
SELECT (SELECT min(n) FROM supports('gone', 'diagnoses')) AS least, pg_typeof(diagnoses) FROM gone LIMIT 1;
-- m = 1, 3
SELECT m, ncp FROM generate_series(1, 3) m, LATERAL kanon_transactions('visits', NULL, 'diagnoses', 5, m => m, hierarchy => 'icd', dry_run => true);

-- coherence
SELECT items_suppressed, occurrences_suppressed
FROM kanon_transactions('visits', 'coherent', 'diagnoses', 5, 'suppress', p => 2, h => 40, sensitive => '{A10,A13}');
SELECT min(n) FROM supports('coherent', 'diagnoses') WHERE NOT known && '{A10,A13}';
SELECT max(100.0 * w.n / s.n) <= 40 AS kept
FROM (SELECT * FROM supports('coherent', 'diagnoses') WHERE NOT known && '{A10,A13}') s,
LATERAL (SELECT p, count(*) AS n FROM coherent c, unnest('{A10,A13}'::text[]) p WHERE c.diagnoses @> s.known AND p = ANY (c.diagnoses) GROUP BY p) w;
-- private items from a table, of which not all occur
CREATE TABLE private_items AS SELECT * FROM (VALUES ('A10'), ('A13'), ('Z99'), (NULL)) v (code);
SELECT items_suppressed, occurrences_suppressed
FROM kanon_transactions('visits', NULL, 'diagnoses', 5, 'suppress', p => 2, h => 40, sensitive_items => 'private_items', dry_run => true);
-- nothing is private: cohorts alone
SELECT items_suppressed FROM kanon_transactions('visits', 'cohorts', 'diagnoses', 5, 'suppress', p => 2);
SELECT min(n) FROM supports('cohorts', 'diagnoses');

-- rho-uncertainty: the five transactions of the paper, which are 0.7-uncertain without a2 and s1
CREATE TABLE five (items text[]);
INSERT INTO five VALUES ('{a1,a2,a3,s1,s2}'), ('{a1,a4,a3}'), ('{a4,a3}'), ('{a4,s2}'), ('{a1,a3,s1,s2}');
SELECT promise, size, share, cohort, known, item FROM kanon_check_transactions('five', 'items', sensitive => '{s1,s2}', show_values => true) WHERE promise = 'rho';
SELECT items_suppressed, occurrences_suppressed FROM kanon_transactions('five', 'uncertain', 'items', method => 'suppress_control', rho => 0.7, sensitive => '{s1,s2}');
SELECT items FROM uncertain ORDER BY items;
SELECT promise, size, share, cohort FROM kanon_check_transactions('uncertain', 'items', sensitive => '{s1,s2}') WHERE promise = 'rho';
-- with a hierarchy public items are generalized as well, private ones never
CREATE FUNCTION chance(i int, j int) RETURNS int LANGUAGE sql AS $$ SELECT ('x' || left(md5(i || ':' || j), 6))::bit(24)::int $$;
CREATE TABLE baskets AS
SELECT ARRAY(SELECT 'i' || j FROM generate_series(0, 5) j WHERE chance(i, j) % (2 + 3 * j) = 0) || CASE WHEN chance(i, 99) % 5 = 0 THEN '{s}'::text[] ELSE '{}' END AS items
FROM generate_series(1, 400) i;
CREATE TABLE basket_h AS SELECT 'i' || j AS item, 'pair' || j / 2 AS pair, 'half' || j / 4 AS half FROM generate_series(0, 5) j;
SELECT items_suppressed, items_shown, ncp FROM kanon_transactions('baskets', 'td', 'items', method => 'td_control', rho => 0.3, sensitive => '{s}', hierarchy => 'basket_h');
SELECT items_suppressed, items_shown, ncp FROM kanon_transactions('baskets', 'sc', 'items', method => 'suppress_control', rho => 0.3, sensitive => '{s}');
SELECT label, count(*) FROM (SELECT unnest(items) AS label FROM td) u GROUP BY 1 ORDER BY 1;
SELECT relation, size, share, share < 0.3 AS kept FROM unnest('{baskets,td,sc}'::regclass[]) AS relation, LATERAL kanon_check_transactions(relation, 'items', sensitive => '{s}') WHERE promise = 'rho';

-- one row per item
CREATE TABLE long AS SELECT patient, year, d FROM visits LEFT JOIN unnest(diagnoses) d ON true;
SELECT transactions, empty_transactions, ncp FROM kanon_transactions('long', 'rows', 'd', 5, transaction => 'patient', hierarchy => 'icd', keep => '{year}');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'rows'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(DISTINCT patient), min(patient), max(patient), count(*) FILTER (WHERE d IS NULL) AS empty FROM rows;
-- the same as from arrays
SELECT array_agg(d ORDER BY d) FILTER (WHERE d IS NOT NULL), year, count(*) FROM (SELECT patient, d, year FROM rows) r GROUP BY patient, year
EXCEPT ALL SELECT NULLIF(ARRAY(SELECT unnest(diagnoses) ORDER BY 1), '{}'), year, cardinality(diagnoses) FROM km WHERE diagnoses <> '{}'
EXCEPT ALL SELECT NULL, year, 1 FROM km WHERE diagnoses = '{}';

-- guards: only what was named; numbers and rows that say nothing of the source's order
SELECT count(*) FROM information_schema.columns WHERE table_schema = 'set_test' AND table_name = 'km' AND column_name IN ('name', 'patient');
CREATE TABLE ordered AS SELECT i AS place, ARRAY['x', 'y'] AS items FROM generate_series(1, 300) i;
SELECT count(*) FROM kanon_transactions('ordered', 'shuffled', 'items', 5, keep => '{place}');
SELECT count(*) FROM kanon_transactions('ordered', 'shuffled', 'items', 5, keep => '{place}', allow_identifying => '{place}');
SELECT corr(n, place) BETWEEN -0.5 AND 0.5 AS shuffled FROM (SELECT row_number() OVER (ORDER BY ctid) AS n, place FROM shuffled) s;
-- the order of items in the source does not show
SELECT count(*) FROM gone WHERE diagnoses <> ARRAY(SELECT unnest(diagnoses) ORDER BY 1);
-- nor how deep a branch of the hierarchy is
CREATE TABLE uneven AS SELECT unnest('{"{c,e}", "{a,e}", "{a}", "{c}", "{a,d}"}'::text[])::text[] AS items;
CREATE TABLE uneven_h AS SELECT * FROM (VALUES ('a', 'g2', 't1'), ('c', 'g0', NULL), ('d', 'g0', NULL), ('e', 'g2', 't1')) v (item, l1, l2);
SELECT items_shown FROM kanon_transactions('uneven', 'uneven_public', 'items', 2, m => 3, hierarchy => 'uneven_h');
SELECT items FROM uneven_public ORDER BY items;
-- nor in which order its lines come: among labels that do as well their texts decide
CREATE TABLE steps AS SELECT ARRAY[chr(97 + i), chr(97 + (i + 3) % 12)] AS items FROM generate_series(0, 11) i;
CREATE TABLE upwards AS SELECT chr(97 + j) AS item, 7 + j / 2 AS pair, 100 + j / 4 AS four FROM generate_series(0, 11) j;
CREATE TABLE downwards AS TABLE upwards ORDER BY item DESC;
SELECT h, ncp FROM unnest('{upwards,downwards}'::regclass[]) AS h, LATERAL kanon_transactions('steps', 'steps_' || h, 'items', 4, 'apriori', m => 2, hierarchy => h);
SELECT items, count(*) FROM (TABLE steps_upwards UNION ALL TABLE steps_downwards) AS both_ways GROUP BY 1 ORDER BY 1;
-- a row's own spelling
CREATE TABLE spelled (items numeric[]);
INSERT INTO spelled VALUES ('{1.0,2}'), ('{1.00,2.0}'), ('{1,2.00}'), ('{2,1.000,1}');
SELECT * FROM kanon_transactions('spelled', 'spelled_public', 'items', 4, m => 2);
SELECT items::text, count(*) FROM spelled_public GROUP BY 1;
-- NULL is no item
CREATE TABLE nulls (items int[]);
INSERT INTO nulls VALUES ('{1,NULL}'), ('{1}'), (NULL), ('{}'), ('{NULL}');
SELECT transactions, empty_transactions, occurrences FROM kanon_transactions('nulls', 'nulls_public', 'items', 2);
SELECT items, count(*) FROM nulls_public GROUP BY 1 ORDER BY 1;
-- nobody, and nothing
CREATE TABLE nobody (items int[]);
SELECT * FROM kanon_transactions('nobody', 'nobody_public', 'items', 2);
-- domains and types with a length
CREATE DOMAIN codes AS varchar(4)[] CHECK (cardinality(VALUE) > 0);
CREATE TABLE domains (items codes);
INSERT INTO domains SELECT ARRAY['a', 'b'] FROM generate_series(1, 5);
INSERT INTO domains VALUES ('{c}');
SELECT empty_transactions FROM kanon_transactions('domains', 'domains_public', 'items', 3);
SELECT DISTINCT items, pg_typeof(items) FROM domains_public ORDER BY 1;

-- a branch is as deep as it is; a label is one node wherever it stands
SELECT label, count(*) FROM (SELECT unnest(diagnoses) AS label FROM m_optimal) u GROUP BY 1 ORDER BY 1;
CREATE TABLE crooked (code text, a text, b text);
INSERT INTO crooked SELECT code, 'x', CASE WHEN code < 'A20' THEN 'y' ELSE 'z' END FROM icd;
SELECT * FROM kanon_transactions('visits', NULL, 'diagnoses', 5, hierarchy => 'crooked', dry_run => true);
TRUNCATE crooked;
INSERT INTO crooked SELECT code, 'A31', 'top' FROM icd WHERE code <> 'A31';
INSERT INTO crooked VALUES ('A31', 'other', 'top');
SELECT * FROM kanon_transactions('visits', NULL, 'diagnoses', 5, hierarchy => 'crooked', dry_run => true);
-- an item that is a label of others, and below it
UPDATE crooked SET a = 'A31' WHERE code = 'A31';
SELECT ncp FROM kanon_transactions('visits', NULL, 'diagnoses', 5, hierarchy => 'crooked', dry_run => true);
TRUNCATE crooked;
INSERT INTO crooked SELECT code, 'x', CASE WHEN code < 'A20' THEN 'y' END FROM icd;
INSERT INTO crooked VALUES ('Z1', 'y', 'x');
SELECT * FROM kanon_transactions('visits', NULL, 'diagnoses', 5, hierarchy => 'crooked', dry_run => true);

-- bad input
SELECT * FROM kanon_transactions(NULL, 'e', 'diagnoses', 5);
SELECT * FROM kanon_transactions('visits', NULL, 'diagnoses', 5);
SELECT * FROM kanon_transactions('visits', 'e', NULL, 5);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 1);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 201);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, m => 0);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, m => 9);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, 'magic');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, NULL);
SELECT * FROM kanon_transactions('visits', 'e', 'nothing', 5);
SELECT * FROM kanon_transactions('visits', 'e', 'year', 5);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, transaction => 'patient');
SELECT * FROM kanon_transactions('long', 'e', 'd', 5, transaction => 'd');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, keep => '{diagnoses}');
SELECT * FROM kanon_transactions('visits', 'km', 'diagnoses', 5);
SELECT * FROM kanon_transactions('visits', 'visits', 'diagnoses', 5, replace => true);
SELECT * FROM kanon_transactions('visits', 'icd', 'diagnoses', 5, hierarchy => 'icd', replace => true);
SELECT * FROM kanon_transactions('visits', 'private_items', 'diagnoses', method => 'suppress_control', rho => 0.5, sensitive_items => 'private_items', replace => true);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, time_limit => '-1 s');
-- options of other models
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, p => 2);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, h => 40);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, rho => 0.5);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, sensitive => '{A10}');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, 'suppress', m => 2);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, 'suppress', hierarchy => 'icd');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, 'suppress', h => 40);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, 'suppress', sensitive => '{A10}');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, 'suppress', h => 101, sensitive => '{A10}');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', method => 'suppress_control', rho => 0.5);
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', method => 'suppress_control', sensitive => '{A10}');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, 'suppress_control', rho => 0.5, sensitive => '{A10}');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', method => 'suppress_control', rho => 0, sensitive => '{A10}');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', method => 'td_control', rho => 0.5, sensitive => '{A10}');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', method => 'suppress_control', rho => 0.5, sensitive => '{A10,B1}');
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', method => 'suppress_control', rho => 0.5, sensitive => '{A10,NULL}');
-- items without an order, nested arrays, items that the hierarchy does not have
CREATE TABLE odd AS SELECT ARRAY['{}'::json] AS j, ARRAY[[1, 2], [3, 4]] AS nested, ARRAY[point(1, 2)] AS p FROM generate_series(1, 3);
SELECT * FROM kanon_transactions('odd', 'e', 'j', 2);
SELECT * FROM kanon_transactions('odd', 'e', 'p', 2);
SELECT * FROM kanon_transactions('odd', 'e', 'nested', 2);
CREATE TABLE half AS SELECT * FROM icd WHERE code < 'A20';
SELECT * FROM kanon_transactions('visits', 'e', 'diagnoses', 5, hierarchy => 'half');
-- a transaction without a name, and one whose rows differ
INSERT INTO long VALUES (NULL, 2020, 'A10');
SELECT * FROM kanon_transactions('long', 'e', 'd', 5, transaction => 'patient');
DELETE FROM long WHERE patient IS NULL;
UPDATE long SET year = 1999 WHERE patient = 'p3' AND d = (SELECT min(d) FROM long WHERE patient = 'p3');
SELECT * FROM kanon_transactions('long', 'e', 'd', 5, transaction => 'patient', keep => '{year}');
-- two transactions of 10,000 items: sets of two are counted, of three there are too many
CREATE TABLE huge AS SELECT array_agg(i) AS items FROM generate_series(1, 10000) i;
INSERT INTO huge SELECT items FROM huge;
SELECT * FROM kanon_transactions('huge', 'e', 'items', 2, m => 3);
SELECT * FROM kanon_transactions('huge', 'e', 'items', 2, 'direct', m => 3);
SELECT * FROM kanon_transactions('huge', 'e', 'items', 2, 'suppress', p => 3);
SELECT * FROM kanon_check_transactions('huge', 'items', m => 3);
SELECT to_regclass('e');

-- sets of two take seconds: a statement ends within them
SET statement_timeout = '300ms';
SELECT * FROM kanon_check_transactions('huge', 'items', m => 2);
SELECT * FROM kanon_transactions('huge', 'e', 'items', 2, 'direct', m => 2);
RESET statement_timeout;

-- the budget
SET kanon.max_memory = '1MB';
\set VERBOSITY terse
SELECT * FROM kanon_transactions('huge', 'e', 'items', 2);
\set VERBOSITY default
RESET kanon.max_memory;

-- what a table keeps: counts, and values where they are asked for
SELECT * FROM kanon_check_transactions('visits', 'diagnoses', k => 5, m => 3);
SELECT promise, size, smallest, known FROM kanon_check_transactions('visits', 'diagnoses', k => 5, show_values => true);
SELECT promise, size, sets_below_k, smallest FROM kanon_check_transactions('km', 'diagnoses', k => 5);
SELECT promise, size, share, cohort, known, item FROM kanon_check_transactions('coherent', 'diagnoses', k => 5, sensitive => '{A10,A13}', show_values => true);
SELECT promise, size, smallest FROM kanon_check_transactions('rows', 'd', k => 5, transaction => 'patient');
SELECT * FROM kanon_check_transactions('visits', 'diagnoses', m => 0);
SELECT * FROM kanon_check_transactions('visits', 'diagnoses', k => 0);
SELECT * FROM kanon_check_transactions('visits', 'diagnoses', show_values => NULL);

-- the record, and the page
SELECT target, k, method, row_count, ncp, suppressed_cells, kept, note, options, transactions
FROM kanon_usefulness WHERE target IN ('set_test.km', 'set_test.coherent', 'set_test.uncertain') ORDER BY run;
SELECT c.class, c.note FROM kanon_equivalence_classes c JOIN kanon_usefulness u USING (run) WHERE u.target = 'set_test.km';
SELECT count(*) FROM kanon_usefulness u WHERE u.options::text LIKE '%A13%' OR u.transactions::text LIKE '%A13%';
SELECT page LIKE '%Every set of at most 2 items is in at least 5 transactions or in none%' AS promise, page LIKE '%<tr data-key=''items_shown''>%' AS measures, page LIKE '%A13%' AS leaks
FROM kanon_usefulness u, kanon_report(u.run) AS page WHERE u.target = 'set_test.km';

-- as the caller
CREATE ROLE kanon_sets_reader;
GRANT USAGE, CREATE ON SCHEMA set_test TO kanon_sets_reader;
GRANT SELECT ON visits TO kanon_sets_reader;
SET ROLE kanon_sets_reader;
SELECT count(*) FROM kanon_transactions('visits', 'mine', 'diagnoses', 5);
SELECT count(*) FROM kanon_transactions('long', 'e', 'd', 5, transaction => 'patient');
SELECT count(*) FROM kanon_transactions('visits', 'e', 'diagnoses', 5, hierarchy => 'icd');
SELECT count(*) FROM kanon_transactions('visits', 'e', 'diagnoses', method => 'suppress_control', rho => 0.5, sensitive_items => 'private_items');
SELECT count(*) FROM kanon_usefulness;
RESET ROLE;

-- a column that is labelled as an identifier may tell transactions apart, and is not kept
SECURITY LABEL FOR kanon ON COLUMN long.patient IS 'identifier';
UPDATE long SET year = 2020;
SELECT count(*) FROM kanon_transactions('long', 'labelled', 'd', 5, transaction => 'patient');
SECURITY LABEL FOR kanon ON COLUMN long.year IS 'identifier';
SELECT count(*) FROM kanon_transactions('long', 'e', 'd', 5, transaction => 'patient', keep => '{year}');

-- a publication
SELECT kanon_create_publication('visits_view', 'visits', '{diagnoses}', 5, '{"m": 2, "hierarchy": "set_test.icd", "keep": ["year"]}', model => 'transactions', stable => false);
SELECT (SELECT min(n) FROM supports('visits_view_release_1', 'diagnoses')) AS least, count(*) FROM visits_view;
INSERT INTO visits VALUES ('p201', 'n201', 2020, '{A10,A11}');
SELECT status, row_count, k FROM kanon_refresh('visits_view');
SELECT count(*) FROM visits_view;
SELECT kanon_create_publication('e', 'visits', '{diagnoses}', 5, '{"m": 2}', model => 'transactions', key => 'patient', stable => false);
SELECT kanon_create_publication('e', 'visits', '{diagnoses,year}', 5, '{"m": 2}', model => 'transactions', stable => false);
SELECT kanon_create_publication('e', 'visits', '{diagnoses}', 5, '{"patterns": []}', model => 'transactions', stable => false);
SELECT kanon_create_publication('rho_view', 'baskets', '{items}', 5, '{"method": "suppress_control", "rho": 0.5, "sensitive": ["s"]}', model => 'transactions', stable => false);
SELECT share < 0.5 AS kept FROM kanon_check_transactions('rho_view', 'items', sensitive => '{s}') WHERE promise = 'rho';

-- what nobody has
CREATE VIEW visits_of_nobody AS SELECT * FROM visits WHERE false;
SELECT aspect, subject, row_count, suppressed_cells, cost, detail FROM kanon_explain('visits_of_nobody', '{diagnoses}', 2, model => 'transactions');

SELECT kanon_drop_publication('visits_view');
SELECT kanon_drop_publication('rho_view');
DROP SCHEMA set_test CASCADE;
DROP ROLE kanon_sets_reader;
