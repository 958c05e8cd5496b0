-- kept columns that are functions of what a release hides: refused, or told
CREATE SCHEMA kept_test;
SET search_path = kept_test, public;
SET DateStyle = 'ISO';
\set SHOW_CONTEXT never
CREATE FUNCTION try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; hint text;
BEGIN
    EXECUTE 'SELECT FROM ' || call;
    RETURN 'published';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN format(E'%s: %s\nHINT: %s', SQLSTATE, message, hint);
END $$;
-- 1,000 patients; draws that are the same everywhere
CREATE FUNCTION draw(i int, salt int) RETURNS int LANGUAGE sql IMMUTABLE RETURN abs(hashint8(i * 1000::bigint + salt)) % 1000000;
CREATE TABLE towns (id int PRIMARY KEY, zip int);
INSERT INTO towns SELECT z, z FROM generate_series(48100, 48160) AS z;
CREATE TABLE patients AS SELECT i AS id, date '1930-01-01' + draw(i, 1) % 25000 AS birth_date, 48100 + draw(i, 2) % 61 AS zip, (ARRAY['f', 'm'])[1 + draw(i, 3) % 2] AS sex,
    (ARRAY['flu', 'cold', 'burn', 'gout'])[1 + draw(i, 4) % 4] AS ill, draw(i, 5) % 12 AS month, draw(i, 6) % 90 AS place FROM generate_series(1, 1000) AS i;
ALTER TABLE patients ADD PRIMARY KEY (id), ADD zip2 int, ADD zip_name text, ADD state int, ADD referrer int REFERENCES patients (id), ADD town_id int REFERENCES towns (id),
    ADD birth_year int GENERATED ALWAYS AS (extract(year FROM birth_date)) STORED, ADD born text GENERATED ALWAYS AS (extract(year FROM birth_date)::text || '-' || extract(month FROM birth_date)::text) STORED,
    ADD town text GENERATED ALWAYS AS ('town ' || zip) STORED;
UPDATE patients SET zip2 = zip, zip_name = 'z' || md5(zip::text), state = zip / 20, town_id = zip, referrer = 1 + draw(id, 7) % 300;

-- equal, and one to one; whatever the model
SELECT try($$ kanon_pattern_guided('patients', 'no', '{birth_year,zip,sex}', 5, keep => '{ill,zip2}') $$);
SELECT try($$ kanon_pattern_guided('patients', 'no', '{birth_year,zip,sex}', 5, keep => '{ill,zip_name}') $$);
SELECT model, try(format($$ %s keep => '{ill,zip_name}') $$, call)) FROM (VALUES ('clustering', $$kanon_pattern_clustering('patients', 'no', '{birth_year,zip,sex}', 5, 'greedy', '{---,--*,*--,**-,***}',$$),
    ('cluster', $$kanon_cluster('patients', 'no', '{birth_year,zip,sex}', 5, 'mondrian',$$), ('full domain', $$kanon_full_domain('patients', 'no', '{birth_year,zip,sex}', 5,$$),
    ('subtree', $$kanon_subtree('patients', 'no', '{birth_year,zip,sex}', 5,$$), ('freeform', $$kanon_freeform('patients', 'no', '{birth_year,zip,sex}', 5,$$),
    ('by parts', $$kanon_pattern_guided('patients', 'no', '{birth_year,zip,sex}', 5, partition_by => 'sex',$$)) AS m (model, call);
-- row types on disk: what is known of rows is what their classes show
SET kanon.max_memory = '2MB';
CREATE TABLE parts AS SELECT i % 2 AS half, draw(i, 1) % 3000 AS a, draw(i, 1) % 3000 AS copy, draw(i, 2) % 4 AS ill FROM generate_series(1, 40000) AS i;
SELECT try($$ kanon_pattern_guided('parts', 'no', '{half,a}', 2, keep => '{ill,copy}', partition_by => 'half') $$);
SELECT try($$ kanon_pattern_guided('parts', 'yes', '{half,a}', 2, keep => '{ill}', partition_by => 'half', replace => true) $$);
RESET kanon.max_memory;
-- a finer value; generated from it, or both from one column; in views, materialised ones, unions, subqueries
CREATE TABLE days AS SELECT *, (extract(year FROM born))::int AS year FROM (SELECT i AS id, date '1970-01-01' + draw(i, 1) % 15000 / 15 * 15 AS born, draw(i, 2) % 30 AS zip, draw(i, 3) % 4 AS ill FROM generate_series(1, 1000) AS i) AS d;
SELECT try($$ kanon_pattern_guided('days', 'no', '{year,zip}', 5, keep => '{ill,born}') $$);
-- where nothing of it is hidden it is told
SELECT try($$ kanon_pattern_guided('days', 'days_2', '{year}', 5, keep => '{ill,born}') $$);
SELECT try($$ kanon_pattern_guided('patients', 'no', '{zip,sex}', 5, keep => '{ill,town}') $$);
SELECT try($$ kanon_pattern_guided('patients', 'no', '{town,sex}', 5, keep => '{ill,zip}') $$);
SELECT try($$ kanon_pattern_guided('patients', 'no', '{birth_year,zip,sex}', 5, keep => '{ill,born}') $$);
CREATE VIEW by_decade AS SELECT birth_year / 10 AS decade, sex, ill, zip, town, upper(ill) AS loud, (SELECT max(zip) FROM patients) AS most, count(*) OVER (PARTITION BY birth_year) AS peers FROM (SELECT * FROM patients) AS p;
CREATE MATERIALIZED VIEW made AS SELECT * FROM by_decade;
CREATE VIEW united AS SELECT 1 AS decade, ill, sex, 'x' AS born FROM patients WHERE false UNION ALL SELECT birth_year, ill, sex, born FROM patients;
CREATE VIEW joined AS SELECT t.zip AS of_town, p.* FROM patients p JOIN towns t ON t.id = p.town_id;
SELECT relation, kept, split_part(try(format($$ kanon_pattern_guided(%L, 'no_' || %L, %L, 5, keep => %L) $$, relation, nr, qis, '{' || kept || '}')), E'\n', 1) FROM (VALUES (1, 'by_decade', '{decade,sex}', 'town'), (2, 'by_decade', '{decade,sex}', 'loud'),
    (3, 'by_decade', '{zip,sex}', 'town'), (4, 'made', '{zip,sex}', 'town'), (5, 'united', '{decade,sex}', 'born'), (6, 'by_decade', '{zip,sex}', 'most'), (7, 'by_decade', '{decade,sex}', 'ill'), (8, 'joined', '{zip,sex}', 'of_town')) AS v (nr, relation, qis, kept);
-- keys: of another table, of this one, referenced by another one, below a view
SELECT try($$ kanon_pattern_guided('patients', 'no', '{birth_year,sex}', 5, keep => '{ill,town_id}') $$);
SELECT try($$ kanon_pattern_guided('patients', 'no', '{birth_year,sex}', 5, keep => '{ill,referrer}') $$);
SELECT try($$ kanon_pattern_guided('joined', 'no', '{birth_year,sex}', 5, keep => '{ill,town_id}') $$);
CREATE TABLE wards (name text UNIQUE);
CREATE TABLE stays AS SELECT i % 5 AS age, 'w' || i % 7 AS ward, 'd' || draw(i, 1) % 3 AS ill FROM generate_series(1, 100) AS i;
CREATE TABLE beds (ward text);
SELECT try($$ kanon_pattern_guided('stays', 'keys_1', '{age}', 5, keep => '{ill,ward}') $$);
INSERT INTO wards SELECT DISTINCT ward FROM stays;
ALTER TABLE stays ADD FOREIGN KEY (ward) REFERENCES wards (name);
SELECT try($$ kanon_pattern_guided('stays', 'keys_2', '{age}', 5, keep => '{ill,ward}') $$);
SELECT try($$ kanon_pattern_guided('wards', 'keys_2', '{name}', 2, keep => '{}', dry_run => true) $$);
-- a label says that the key is nobody's; a mask, or a name in allow_identifying, lets it through, and nothing is said of what is answered for
SECURITY LABEL FOR kanon ON COLUMN stays.ward IS 'keep';
SELECT try($$ kanon_pattern_guided('stays', 'keys_3', '{age}', 5, keep => '{ill,ward}') $$);
SELECT try($$ kanon_pattern_guided('patients', 'keys_4', '{birth_year,sex}', 5, keep => '{ill,town_id}', mask => '{"town_id": "pseudonym"}') $$);
SELECT try($$ kanon_pattern_guided('patients', 'keys_5', '{birth_year,zip,sex}', 5, keep => '{ill,town_id,town,zip2}', allow_identifying => '{town_id,town,zip2}') $$);
SELECT try($$ kanon_pattern_guided('patients', 'keys_6', '{birth_year,zip,sex}', 5, keep => '{ill,zip2}', mask => '{"zip2": {"round": 100}}') $$);
-- a pseudonym of a copy is let through, and told: where one row shows the value all are known
SELECT try($$ kanon_pattern_guided('patients', 'keys_7', '{birth_year,zip,sex}', 5, keep => '{ill,zip2}', mask => '{"zip2": "pseudonym"}') $$);
SELECT options -> 'tell' AS told FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
-- what a quasi-identifier determines is told: a state beside zips
SELECT try($$ kanon_pattern_guided('patients', 'told_1', '{birth_year,zip,sex}', 5, keep => '{ill,state}') $$);
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says, v #> '{claim,tell}' AS tell FROM kanon_report_data((SELECT max(run) FROM kanon_usefulness)) d, jsonb_array_elements(d -> 'verdicts') v WHERE v ->> 'about' = 'identifiers';
-- what is told only where it is hidden: places of one street, of which others have many
CREATE TABLE streets AS SELECT i % 5 AS age, CASE WHEN i <= 200 THEN 1000 + i / 2 ELSE draw(i, 1) % 20 END AS street, CASE WHEN i <= 200 THEN 'p' || i / 2 ELSE 'q' || draw(i, 2) % 5 END AS place, draw(i, 3) % 3 AS ill FROM generate_series(1, 2000) AS i;
SELECT try($$ kanon_pattern_guided('streets', 'no', '{street}', 5, keep => '{ill,place}') $$);
SELECT try($$ kanon_pattern_guided('streets', 'hidden_2', '{street}', 2, keep => '{ill,place}') $$);

-- ---- by chance nothing is told ----

-- values of few rows, in tables of every size
CREATE TABLE outcomes (n int, result text);
DO $$
DECLARE
    n int; t int;
BEGIN
    FOREACH n IN ARRAY '{5,12,20,50,200,1000}'::int[] LOOP
        FOR t IN 1..6 LOOP
            EXECUTE format('CREATE TABLE chance AS SELECT draw(i, %s) %% 2 AS q, draw(i, %s) %% 9 AS r, draw(i, %s) %% 2 AS a, draw(i, %s) %% greatest(%s / 3, 1) AS b, draw(i, %s) %% 5 AS c FROM generate_series(1, %s) AS i',
                t, t + 100, t + 200, t + 300, n, t + 400, n);
            INSERT INTO outcomes SELECT n, split_part(try($c$ kanon_pattern_guided('chance', 'chance_out', '{q,r}', 2, keep => '{a,b,c}') $c$), E'\n', 1);
            DROP TABLE chance;
            DROP TABLE IF EXISTS chance_out;
        END LOOP;
    END LOOP;
END $$;
SELECT n, result, count(*) FROM outcomes GROUP BY 1, 2 ORDER BY 1, 2;

-- ---- beside what is masked ----

CREATE TABLE visits AS SELECT i AS pid, draw(i, 3) % 2 AS sex, timestamp '2026-03-01' + (i * 37 % 30) * interval '1 day' + (i * 0.123457) * interval '1 s' AS admitted, to_char(timestamp '2026-03-01' + (i * 37 % 30) * interval '1 day', 'Dy') AS weekday,
    date '2026-03-01' + i * 37 % 30 AS day, (draw(i, 1) % 100)::numeric AS cost, (draw(i, 1) % 100) * 1.5 AS price, draw(i, 2) % 4 AS ill FROM generate_series(1, 400) AS i;
SELECT try($$ kanon_pattern_guided('visits', 'masked_1', '{sex}', 5, keep => '{pid,admitted,weekday,ill}', mask => '{"pid": "pseudonym", "admitted": {"shift": "pid", "days": 30}}', allow_identifying => '{admitted}') $$);
SELECT try($$ kanon_pattern_guided('visits', 'masked_2', '{sex}', 5, keep => '{pid,day,weekday,ill}', mask => '{"pid": "pseudonym", "day": {"shift": "pid", "days": 30}}') $$);
SELECT try($$ kanon_pattern_guided('visits', 'masked_3', '{sex}', 5, keep => '{cost,price,ill}', mask => '{"cost": {"round": 50}}') $$);
SELECT try($$ kanon_pattern_guided('visits', 'masked_4', '{sex}', 5, keep => '{pid,cost,ill}', mask => '{"pid": "pseudonym", "cost": {"round": 50}}') $$);

-- ---- together ----

CREATE TABLE groups AS SELECT i % 2 AS q, i / 20 AS a, i % 20 AS b, i / 100 AS c, i / 10 % 10 AS d, i % 10 AS e, draw(i, 1) % 3 AS f, i / 2 AS person FROM generate_series(0, 999) AS i;
SELECT try($$ kanon_pattern_guided('groups', 'together_1', '{q}', 5, keep => '{a,b}') $$);
SELECT try($$ kanon_pattern_guided('groups', 'together_2', '{q}', 5, keep => '{c,d,e,f}') $$);
SELECT try($$ kanon_pattern_guided('groups', 'together_3', '{q}', 5, keep => '{d,e,f}') $$);
SELECT options -> 'identify_together' AS together FROM kanon_usefulness ORDER BY run DESC LIMIT 2;
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says, v #> '{claim,identify_together}' AS together FROM kanon_report_data((SELECT run FROM kanon_usefulness WHERE target = 'kept_test.together_2')) d, jsonb_array_elements(d -> 'verdicts') v WHERE v ->> 'about' = 'identifiers';
-- of persons, where these are known: two rows of one person are none of two
SELECT try($$ kanon_pattern_guided('groups', 'together_4', '{q}', 5, keep => '{a,e}') $$);
CREATE TABLE twice AS SELECT *, (person % 10) AS of_ten, (person / 10) AS tens FROM groups;
SELECT try($$ kanon_pattern_guided('twice', 'together_5', '{q}', 5, keep => '{of_ten,tens}') $$);
SELECT try($$ kanon_pattern_guided('twice', 'together_6', '{q}', 5, keep => '{of_ten,tens}', privacy => ARRAY[kanon_subject('person')], residual => 'drop') $$);
-- of eighteen columns those with the fewest values are compared with no other one: that is told
SELECT format('CREATE TABLE eighteen AS SELECT i %% 30 AS q, i / 6 %% 5 AS y, i %% 6 AS z, %s, %s FROM generate_series(0, 2999) AS i',
    string_agg(format('draw(i, %s) %% 7 AS c%s', n, n), ', ') FILTER (WHERE n <= 16), string_agg(format('draw(i, %s) %% 3 AS q%s', n + 100, n), ', ')) FROM generate_series(1, 20) AS n \gexec
SELECT try($$ kanon_pattern_guided('eighteen', 'wide_1', '{q}', 5, keep => '{y,z,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16}') $$);
SELECT options -> 'compared_alone' AS alone, options ? 'compared_in_part' AS in_part FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT v ->> 'verdict' AS verdict, v ->> 'says' AS says FROM kanon_report_data((SELECT run FROM kanon_usefulness WHERE target = 'kept_test.wide_1')) d, jsonb_array_elements(d -> 'verdicts') v WHERE v ->> 'about' = 'identifiers';
SELECT try($$ kanon_pattern_guided('eighteen', 'wide_2', '{q}', 5, keep => '{y,z,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16}', allow_identifying => '{c1,c2}') $$);
-- of sixteen, and twenty quasi-identifiers of which some is hidden, not all groups are asked
SELECT try(format($$ kanon_pattern_guided('eighteen', 'wide_3', '{%s}', 5, keep => '{y,z,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16}') $$, string_agg('q' || n, ','))) FROM generate_series(1, 20) AS n;
SELECT options -> 'compared_alone' AS alone, options ? 'compared_in_part' AS in_part FROM kanon_usefulness ORDER BY run DESC LIMIT 1;
SELECT v ->> 'says' ~ 'Not all groups of kept columns were asked what they tell of hidden quasi-identifiers' AS says FROM kanon_report_data((SELECT run FROM kanon_usefulness WHERE target = 'kept_test.wide_3')) d, jsonb_array_elements(d -> 'verdicts') v WHERE v ->> 'about' = 'identifiers';
-- of a sample of many rows: unique, in pairs, in threes
CREATE TABLE many AS SELECT i % 2 AS q, i / 300 AS a1, i % 300 AS b1, i / 2 / 300 AS a2, i / 2 % 300 AS b2, i / 3 / 300 AS a3, i / 3 % 300 AS b3 FROM generate_series(0, 89999) AS i;
SELECT try($$ kanon_pattern_guided('many', 'together_7', '{q}', 5, keep => '{a1,b1}') $$);
SELECT try($$ kanon_pattern_guided('many', 'together_8', '{q}', 5, keep => '{a2,b2}') $$);
SELECT try($$ kanon_pattern_guided('many', 'together_9', '{q}', 5, keep => '{a3,b3}') $$);

-- a publication is refused when it is made, and its refresh when the source has become so
SELECT try($$ kanon_create_publication('nightly', 'patients', '{birth_year,zip,sex}', 5, '{"keep": ["zip_name"]}') $$);
UPDATE patients SET zip_name = draw(id, 9) % 60;
SELECT kanon_create_publication('nightly', 'patients', '{birth_year,zip,sex}', 5, '{"keep": ["zip_name"]}');
UPDATE patients SET zip_name = 'z' || zip;
SELECT status, message FROM kanon_refresh('nightly');
SELECT kanon_drop_publication('nightly');
DROP SCHEMA kept_test CASCADE;
