-- kanon_subtree: one cut through each hierarchy for the whole table.
\set VERBOSITY default
SET client_min_messages = notice;
CREATE TABLE people (id int, age int, zip text, sex text, illness text);
INSERT INTO people SELECT i, CASE WHEN i < 33 THEN 20 + i % 12 ELSE 40 + i % 30 END, '482' || 10 * (i / 16 % 2) + i % 3,
    CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, ('{flu,gout,asthma}'::text[])[1 + i * i % 7 % 3] FROM generate_series(1, 48) i;
CREATE TABLE age_h (value int, five text, ten text);
INSERT INTO age_h SELECT a, (a / 5 * 5) || '-' || (a / 5 * 5 + 4), (a / 10 * 10) || '-' || (a / 10 * 10 + 9) FROM generate_series(0, 99) a;
CREATE TABLE zip_h (value text, four text, three text);
INSERT INTO zip_h SELECT DISTINCT zip, left(zip, 4) || '*', left(zip, 3) || '**' FROM people;
CREATE TABLE nulls AS SELECT CASE WHEN i > 4 THEN 20 + i END AS age FROM generate_series(1, 12) i;
\set h '{"age": "age_h", "zip": "zip_h"}'

-- the cut, by each method: what is shown, of how many rows
SELECT column_name, level, shown, row_count FROM kanon_subtree('people', NULL, '{age,zip,sex}', 2, hierarchies => :'h', dry_run => true);
SELECT column_name, level, shown, row_count FROM kanon_subtree('people', NULL, '{age,zip,sex}', 2, 'optimal', hierarchies => :'h', dry_run => true);
-- siblings one by one: what is not shown itself is what its parent stands for
SELECT column_name, level, shown, row_count FROM kanon_subtree('people', NULL, '{age,zip,sex}', 2, 'optimal', 'sibling', hierarchies => :'h', dry_run => true);
-- the optimum is proven, and nothing costs less than what is said
CREATE TABLE found AS SELECT DISTINCT k, method, scheme, s.cost, s.lower_bound, s.proven, s.gcp, s.classes
FROM unnest('{2,3,5,9}'::int[]) k, unnest('{top_down,optimal}'::text[]) method, unnest('{subtree,sibling}'::text[]) scheme,
    kanon_subtree('people', NULL, '{age,zip,sex}', k, method, scheme, hierarchies => :'h', dry_run => true) s;
SELECT k, scheme, method, round(cost::numeric, 3) AS cost, round(lower_bound::numeric, 3) AS bound, proven, round(gcp::numeric, 3) AS gcp, classes FROM found ORDER BY 1, 2, 3;
SELECT count(*) FILTER (WHERE f.cost < o.cost - 1e-9) AS better, count(*) FILTER (WHERE f.lower_bound > o.cost + 1e-9) AS wrong, bool_and(o.proven) AS proven
FROM found f JOIN found o USING (k, scheme) WHERE o.method = 'optimal';

-- published, checked and recorded; every value shows the same in all of its rows
SELECT count(*) AS nodes, sum(row_count) AS cells, min(classes) AS classes FROM kanon_subtree('people', 'people_public', '{age,zip,sex}', 2, hierarchies => :'h', keep => '{illness,id}', allow_identifying => '{id}', mark => true);
SELECT age, zip, sex, kanon_pattern, count(*) FROM people_public GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;
SELECT * FROM kanon_check('people_public', '{age,zip,sex}');
SELECT method, k, classes, class_min, row_count, round(cost::numeric, 3) AS cost, round(ncp::numeric, 3) AS ncp, proven, options - 'hierarchies' AS options FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT column_name, kept, generalised, suppressed FROM kanon_columns WHERE run = (SELECT max(run) FROM kanon_usefulness) ORDER BY ordinal;
SELECT count(*) AS several FROM (SELECT FROM people s JOIN people_public t USING (id) GROUP BY s.age HAVING count(DISTINCT coalesce(t.age, '')) > 1
                                 UNION ALL SELECT FROM people s JOIN people_public t USING (id) GROUP BY s.zip HAVING count(DISTINCT coalesce(t.zip, '')) > 1) v;
-- NULL is a value of its own on every level
SELECT column_name, level, shown, row_count FROM kanon_subtree('nulls', NULL, '{age}', 2, hierarchies => '{"age": "age_h"}', dry_run => true);
-- ranges by a builder; columns without a hierarchy are kept or suppressed; weights
SELECT column_name, level, shown, row_count FROM kanon_subtree('people', 'people_public', '{age,sex}', 3, hierarchies => '{"age": {"interval": [5, 10, 20]}}', replace => true);
SELECT age, sex, count(*) FROM people_public GROUP BY 1, 2 ORDER BY 1, 2;
SELECT column_name, level, shown, row_count FROM kanon_subtree('people', NULL, '{zip,sex}', 2, dry_run => true);
SELECT column_name, level, count(*) FROM kanon_subtree('people', NULL, '{age,zip,sex}', 4, 'optimal', hierarchies => :'h', weights => '{9,1,1}', dry_run => true) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT column_name, level, count(*) FROM kanon_subtree('people', NULL, '{age,zip,sex}', 4, 'optimal', hierarchies => :'h', weights => '{1,1,9}', dry_run => true) GROUP BY 1, 2 ORDER BY 1, 2;

-- a class column: what tells its values apart is shown first, at the expense of the rest
CREATE TABLE clients AS SELECT i AS nr, i % 4 AS a, i / 4 % 4 AS b, CASE WHEN i / 4 % 4 < 2 THEN 'good' ELSE 'bad' END AS class FROM generate_series(0, 31) i;
CREATE TABLE four_h AS SELECT v AS value, CASE WHEN v < 2 THEN 'low' ELSE 'high' END AS half FROM generate_series(0, 3) v;
SELECT column_name, level, count(*) FROM kanon_subtree('clients', 'clients_public', '{a,b}', 16, hierarchies => '{"a": "four_h", "b": "four_h"}', keep => '{class}', weights => '{2,1}') GROUP BY 1, 2 ORDER BY 1, 2;
SELECT column_name, level, count(*) FROM kanon_subtree('clients', 'clients_public', '{a,b}', 16, hierarchies => '{"a": "four_h", "b": "four_h"}', keep => '{class}', weights => '{2,1}', class_column => 'class', replace => true) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT b, class, count(*) FROM clients_public GROUP BY 1, 2 ORDER BY 1, 2;
SELECT method, options -> 'class_column' AS class_column, classification FROM kanon_usefulness ORDER BY run DESC LIMIT 2;
-- the town says most alone, and in two of them somebody is by himself: tds shows it and cannot show what says all
CREATE TABLE voters AS SELECT i, i % 2 AS sex, i / 2 % 2 AS owner, CASE WHEN i % 4 = 3 OR i < 3 THEN 'x' ELSE 'y' END AS town, CASE WHEN i % 4 = 3 THEN 'for' ELSE 'against' END AS vote FROM generate_series(1, 80) i;
SELECT method, column_name, string_agg(shown, ', ' ORDER BY shown) AS shown FROM unnest('{tds,top_down}'::text[]) method,
    kanon_subtree('voters', 'voters_public', '{sex,owner,town}', 3, method, keep => '{vote}', class_column => 'vote', replace => true) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT method, classification FROM kanon_usefulness ORDER BY run DESC LIMIT 2;

-- every rule beyond k, in all methods: no class of a target breaks it
SELECT method, scheme, min(s.classes) AS classes, round(min(s.cost)::numeric, 2) AS cost
FROM unnest('{top_down,tds,optimal}'::text[]) method, unnest('{subtree,sibling}'::text[]) scheme,
    kanon_subtree('people', 'people_public', '{age,zip,sex}', 2, method, scheme, hierarchies => :'h', keep => '{illness}', privacy => ARRAY[kanon_distinct_l('illness', 2)], class_column => 'illness', replace => true) s GROUP BY 1, 2 ORDER BY 1, 2;
SELECT min(l) FROM (SELECT count(DISTINCT illness) AS l FROM people_public GROUP BY age, zip, sex) c;
SELECT r.rule ->> 'rule' AS rule, (SELECT min(s.classes) FROM kanon_subtree('people', 'people_public', '{age,zip,sex}', 2, hierarchies => :'h', keep => '{illness}', privacy => ARRAY[r.rule], replace => true) s) AS classes
FROM unnest(ARRAY[kanon_entropy_l('illness', 2), kanon_recursive_cl('illness', 2, 2), kanon_alpha('illness', 0.6), kanon_t_closeness('illness', 0.3), kanon_subject('id')]) AS r (rule);
-- persons: rows of one are no class
CREATE TABLE visits AS SELECT p.*, n FROM people p, generate_series(1, 2) n;
SELECT min(classes) FROM kanon_subtree('visits', 'visits_public', '{age,zip,sex}', 3, 'optimal', hierarchies => :'h', keep => '{id}', privacy => ARRAY[kanon_subject('id')], allow_identifying => '{id}');
SELECT min(n) FROM (SELECT count(DISTINCT id) AS n FROM visits_public GROUP BY age, zip, sex) c;
-- populations: what the cut shows of them, counted again
CREATE TABLE everybody AS SELECT age, zip, sex FROM people UNION ALL SELECT age, zip, sex FROM people WHERE age < 30 UNION ALL VALUES (35, '48203', 'f'), (36, '48203', 'x'), (90, '48402', 'f'), (NULL, NULL, NULL);
INSERT INTO zip_h SELECT DISTINCT zip, left(zip, 4) || '*', left(zip, 3) || '**' FROM everybody WHERE zip NOT IN (SELECT value FROM zip_h);
SELECT p.rule ->> 'rule' AS rule, p.rule ->> 'dmin' AS dmin, method, scheme, (SELECT min(s.classes) FROM kanon_subtree('people', 'people_public', '{age,zip,sex}', 2, method, scheme, hierarchies => :'h', privacy => ARRAY[p.rule], replace => true) s) AS classes
FROM unnest(ARRAY[kanon_k_map('everybody'), kanon_delta_presence('everybody', 0, 0.8), kanon_delta_presence('everybody', 0.3, 1)]) AS p (rule), unnest('{top_down,optimal}'::text[]) method, unnest('{subtree,sibling}'::text[]) scheme ORDER BY 1, 2, 3, 4;

-- a publication
SELECT kanon_create_publication('people_view', 'people', '{age,zip,sex}', 2, model => 'subtree', options => '{"hierarchies": {"age": "age_h", "zip": "zip_h"}, "keep": ["illness"], "scheme": "sibling", "method": "optimal"}');
INSERT INTO people VALUES (49, 26, '4821', 'f', 'flu');
SELECT kanon_refresh('people_view');
SELECT count(*), count(DISTINCT (age, zip, sex)) FROM people_view;
SELECT * FROM kanon_check('people_view', '{age,zip,sex}');
SELECT kanon_create_publication('people_key', 'people', '{age,zip,sex}', 2, model => 'subtree', key => 'id', protect_successive => true, options => '{"hierarchies": {"age": "age_h", "zip": "zip_h"}}');
UPDATE people SET zip = '48212', age = 42, sex = 'm' WHERE id IN (3, 5);
SELECT kanon_refresh('people_key');
SELECT count(*) FROM people_key;
SELECT kanon_drop_publication('people_view'), kanon_drop_publication('people_key');

-- one row, no row, everything in one class
SELECT column_name, level, shown, row_count, proven FROM kanon_subtree('people', NULL, '{age,sex}', 49, dry_run => true);
CREATE TABLE nobody (LIKE people);
SELECT * FROM kanon_subtree('nobody', 'nobody_public', '{age,zip,sex}', 2, hierarchies => :'h');
SELECT count(*) FROM nobody_public;

-- nothing is lost, and not a hair less
CREATE TABLE enough AS SELECT 20 + i % 50 AS age, 'r' || i % 4 AS region FROM generate_series(1, 1200) i;
SELECT DISTINCT classes, cost, lower_bound, proven, gcp FROM kanon_subtree('enough', NULL, '{age,region}', 5, hierarchies => '{"age": {"interval": [5, 10, 20]}}', dry_run => true);

-- time that is up at once: everything is suppressed, or as far as it came
CREATE TABLE many AS SELECT i % 300 AS a, i / 300 % 40 AS b, hashint4(i) & 255 AS c FROM generate_series(1, 120000) i;
SELECT column_name, level, shown, row_count FROM kanon_subtree('many', NULL, '{a,b,c}', 5, time_limit => '1 microsecond', dry_run => true);
SELECT column_name, level, shown, row_count, proven FROM kanon_subtree('many', NULL, '{a,b,c}', 5, 'optimal', time_limit => '1 microsecond', dry_run => true);

-- bad input
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 2, 'topdown');
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 2, 'bottom_up');
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 2, NULL);
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 2, scheme => 'siblings');
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 2, scheme => NULL);
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 1);
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 50);
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 2, class_column => 'illness');
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 2, keep => '{illness}', privacy => ARRAY[kanon_distinct_l('illness', 4)]);
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 2, keep => '{illness}', privacy => ARRAY[kanon_alpha('illness', 0.1, '{flu}')]);
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 2, privacy => ARRAY[kanon_subject('id'), kanon_delta_presence('everybody', 0, 1)]);
SELECT kanon_subtree('people', 'x', '{age,zip,sex}', 2, time_limit => '0');
DROP TABLE nulls, people, people_public, age_h, zip_h, found, clients, clients_public, four_h, visits, visits_public, everybody, nobody, nobody_public, enough, many;
