-- kanon_anatomy: rows as they are in one table, the values of their groups in another
CREATE SCHEMA anatomy_test;
SET search_path = anatomy_test, public;
SET client_min_messages = warning;

CREATE TABLE patients AS
SELECT i AS id, 'n' || i AS name, 20 + i * 7 % 50 AS age, 'z' || i % 30 AS zip,
       (ARRAY['flu','flu','flu','cold','cold','cancer','hiv','asthma',NULL])[1 + (i * 7 + i / 9) % 9] AS disease
FROM generate_series(1, 495) i;
SELECT disease, count(*) FROM patients GROUP BY 1 ORDER BY 1;

-- what is promised, by SQL of the test's own: groups, the smallest number of values, the largest share
CREATE FUNCTION promised(quasi regclass, sensitive regclass, v text) RETURNS TABLE (groups bigint, fewest bigint, share numeric, same_rows boolean) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        SELECT count(*), min(s.many), max(s.most / s.n), bool_and(s.n IS NOT DISTINCT FROM q.n)
        FROM (SELECT g, count(*) AS many, max(n) AS most, sum(n) AS n
              FROM (SELECT kanon_group AS g, %3$I AS v, sum(kanon_count) AS n FROM %2$s GROUP BY 1, 2) v GROUP BY g) s
        FULL JOIN (SELECT kanon_group AS g, count(*) AS n FROM %1$s GROUP BY 1) q USING (g)$q$, quasi, sensitive, v);
END $$;
SELECT * FROM kanon_anatomy('patients', 'q', 's', '{age,zip}', 'disease', 3);
SELECT groups, fewest, round(share, 3) AS share, same_rows FROM promised('q', 's', 'disease');
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid IN ('q'::regclass, 's'::regclass) AND attnum > 0 ORDER BY 1, attnum;
-- nothing of the rows is lost, nor of the values, NULL among them
SELECT count(*) FROM (SELECT age, zip FROM patients EXCEPT ALL SELECT age, zip FROM q) x;
SELECT disease, sum(kanon_count) FROM s GROUP BY 1 ORDER BY 1;
-- numbers of groups have no holes
SELECT min(kanon_group), max(kanon_group), count(DISTINCT kanon_group) FROM q;
-- every row's own value is in its group
SELECT count(*) FROM kanon_anatomy('patients', 'q_id', 's_id', '{id}', 'disease', 2, allow_identifying => '{id}');
SELECT count(*) AS rows, count(*) FILTER (WHERE EXISTS (SELECT FROM s_id s WHERE s.kanon_group = q.kanon_group AND s.disease IS NOT DISTINCT FROM p.disease)) AS with_their_own
FROM patients p JOIN q_id q USING (id);
-- where a row lies, and its group, say nothing of where it was, nor of the value it has
SELECT corr(n, id) BETWEEN -0.3 AND 0.3 AS shuffled, corr(kanon_group, id) BETWEEN -0.3 AND 0.3 AS drawn,
       corr(n, kanon_group) BETWEEN -0.3 AND 0.3 AS apart
FROM (SELECT row_number() OVER (ORDER BY ctid) AS n, id, kanon_group FROM q_id) x;
-- two runs are two draws
SELECT count(*) FROM kanon_anatomy('patients', 'q_two', 's_two', '{id}', 'disease', 2, allow_identifying => '{id}');
SELECT count(*) > 300 AS different FROM q_id a JOIN q_two b USING (id) WHERE a.kanon_group <> b.kanon_group;

-- rows beyond l times the groups; the largest l; one more is refused, with the number
CREATE TABLE few AS SELECT i AS id, i % 3 AS a, CASE WHEN i <= 4 THEN 'x' ELSE 'v' || i % 5 END AS v FROM generate_series(1, 11) i;
SELECT * FROM kanon_anatomy('few', 'few_q', 'few_s', '{a}', 'v', 2);
SELECT groups, fewest, share, same_rows FROM promised('few_q', 'few_s', 'v');
SELECT kanon_anatomy('few', 'few_q', 'few_s', '{a}', 'v', 3, replace => true);
SELECT kanon_anatomy('few', NULL, NULL, '{a}', 'v', 3, dry_run => true);
SELECT groups, fewest, share, same_rows FROM promised('few_q', 'few_s', 'v');
-- one value, and no row
SELECT kanon_anatomy('few', 'one_q', 'one_s', '{a}', 'id', 12);
CREATE TABLE nobody (a int, v text);
SELECT * FROM kanon_anatomy('nobody', 'nobody_q', 'nobody_s', '{a}', 'v', 2);
SELECT (SELECT count(*) FROM nobody_q) + (SELECT count(*) FROM nobody_s) AS rows;
-- equal values are one, however they are spelled
CREATE TABLE spelled (a int, v numeric);
INSERT INTO spelled SELECT i, x FROM generate_series(1, 3) i, unnest('{1.0,1.00,2,2.0,3.000,3}'::numeric[]) x;
SELECT sensitive_values, groups FROM kanon_anatomy('spelled', 'spelled_q', 'spelled_s', '{a}', 'v', 3);
SELECT v, sum(kanon_count) FROM spelled_s GROUP BY v::text, v ORDER BY v;
-- nothing is written by a dry run
SELECT row_count, groups FROM kanon_anatomy('patients', NULL, NULL, '{age}', 'disease', 3, dry_run => true);

-- the view: as many rows as there are, of every value and of every group of quasi-identifiers
SELECT groups FROM kanon_anatomy('patients', 'q', 's', '{age,zip}', 'disease', 3, view => 'answers', replace => true);
SELECT round(sum(kanon_expected)::numeric, 6) FROM answers;
SELECT disease, round(sum(kanon_expected)::numeric, 6) FROM answers GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM (SELECT age, round(sum(kanon_expected)::numeric, 6) FROM answers GROUP BY 1 EXCEPT SELECT age, count(*) FROM patients GROUP BY 1) x;
-- a query of both is estimated: 1 / l of the rows of a group that may have the value
SELECT abs(sum(kanon_expected) - (SELECT count(*) FROM patients WHERE age < 40 AND disease = 'flu')) < 50 AS near FROM answers WHERE age < 40 AND disease = 'flu';
-- both tables and the view are replaced; grants stay
CREATE ROLE anatomy_reader;
GRANT SELECT ON q, s, answers TO anatomy_reader;
SELECT groups FROM kanon_anatomy('patients', 'q', 's', '{age,zip}', 'disease', 2, view => 'answers', replace => true);
SELECT relation, has_table_privilege('anatomy_reader', relation, 'SELECT') FROM unnest('{q,s,answers}'::regclass[]) relation;
SELECT round(sum(kanon_expected)::numeric, 6) FROM answers;
SELECT count(*) FROM pg_class WHERE relname LIKE 'kanon_building%' AND relnamespace = 'anatomy_test'::regnamespace;
-- not what others see of them
SELECT kanon_anatomy('patients', 'q', 's', '{age,zip}', 'disease', 2, replace => true);
CREATE VIEW another AS SELECT age FROM q;
SELECT kanon_anatomy('patients', 'q', 's', '{age,zip}', 'disease', 2, view => 'answers', replace => true);
DROP VIEW another;
SELECT kanon_anatomy('patients', 'q', 's', '{zip,age}', 'disease', 2, view => 'answers', replace => true);
SELECT kanon_anatomy('patients', 'q', 's', '{age}', 'disease', 2, view => 'answers', replace => true);
SELECT kanon_anatomy('patients', 'q3', 's3', '{age}', 'disease', 2, view => 'answers');
SELECT kanon_anatomy('patients', 'q3', 's3', '{age}', 'disease', 2, view => 'few', replace => true);
SELECT to_regclass('q3'), to_regclass('s3');
-- a view is beside the tables, not in the place of one
SELECT kanon_anatomy('patients', 'q3', 's3', '{age}', 'disease', 2, view => 'q3');
SELECT kanon_anatomy('patients', 'q3', 's3', '{age}', 'disease', 2, view => 's3');
-- values named as the view's own parts
CREATE TABLE named AS SELECT i AS q, i % 5 AS n FROM generate_series(1, 20) i;
SELECT groups FROM kanon_anatomy('named', 'named_q', 'named_s', '{q}', 'n', 3, view => 'named_v', allow_identifying => '{q}');
SELECT n, round(sum(kanon_expected)::numeric, 6) AS sum FROM named_v GROUP BY 1 ORDER BY 1;

-- guards: only what was named
SELECT count(*) FROM information_schema.columns WHERE table_schema = 'anatomy_test' AND table_name IN ('q', 's', 'answers') AND column_name IN ('id', 'name');
SELECT kanon_anatomy('patients', 'q2', 's2', '{age,name}', 'disease', 2);
SELECT kanon_anatomy('patients', 'q2', 's2', '{age}', 'name', 2);
SELECT groups FROM kanon_anatomy('patients', 'q2', 's2', '{age}', 'name', 2, allow_identifying => '{name}');
-- labels
CREATE TABLE labelled AS SELECT id, age, disease FROM patients;
SECURITY LABEL FOR kanon ON COLUMN labelled.age IS 'identifier';
SELECT kanon_anatomy('labelled', 'q4', 's4', '{age}', 'disease', 2);
SELECT kanon_anatomy('labelled', 'q4', 's4', '{disease}', 'age', 2);
SELECT groups FROM kanon_anatomy('labelled', 'q4', 's4', '{age}', 'disease', 2, allow_identifying => '{age}');
-- masks, of what is published as it is
SELECT groups FROM kanon_anatomy('patients', 'masked_q', 'masked_s', '{age,name}', 'disease', 2, mask => '{"age": {"round": 10}, "name": {"partial": [1, 0]}}');
SELECT DISTINCT age, left(name, 2) AS name FROM masked_q ORDER BY 1, 2;
SELECT kanon_anatomy('patients', 'q5', 's5', '{age}', 'disease', 2, mask => '{"disease": {"constant": "x"}}');

-- errors
SELECT kanon_anatomy(NULL, 'q5', 's5', '{age}', 'disease', 2);
SELECT kanon_anatomy('patients', NULL, 's5', '{age}', 'disease', 2);
SELECT kanon_anatomy('patients', 'q5', NULL, '{age}', 'disease', 2);
SELECT kanon_anatomy('patients', 'q5', 's5', NULL, 'disease', 2);
SELECT kanon_anatomy('patients', 'q5', 's5', '{}', 'disease', 2);
SELECT kanon_anatomy('patients', 'q5', 's5', '{age}', NULL, 2);
SELECT kanon_anatomy('patients', 'q5', 's5', '{age}', 'disease', NULL);
SELECT kanon_anatomy('patients', 'q5', 's5', '{age}', 'disease', 1);
SELECT kanon_anatomy('patients', 'q5', 's5', '{agee}', 'disease', 2);
SELECT kanon_anatomy('patients', 'q5', 's5', '{age}', 'diseas', 2);
SELECT kanon_anatomy('patients', 'q5', 's5', '{age,disease}', 'disease', 2);
SELECT kanon_anatomy('patients', 'q5', 'q5', '{age}', 'disease', 2);
SELECT kanon_anatomy('patients', 'q5', 'anatomy_test.q5', '{age}', 'disease', 2);
SELECT kanon_anatomy('patients', 'q5', 'anatomy_test.q5', '{age}', 'disease', 2, replace => true);
SELECT kanon_anatomy('patients', 'q', 's5', '{age}', 'disease', 2);
SELECT kanon_anatomy('patients', 'q5', 's', '{age}', 'disease', 2);
SELECT kanon_anatomy('patients', 'q5', 's5', '{age}', 'disease', 2, view => 'patients', replace => true);
SELECT kanon_anatomy('patients', 'q5', 'patients', '{age}', 'disease', 2, replace => true);
SELECT kanon_anatomy('patients', 'q5', 's5', '{age}', 'disease', 2, allow_identifying => '{zip}');
CREATE VIEW called AS SELECT age AS kanon_group, zip, disease, disease AS kanon_count FROM patients;
SELECT kanon_anatomy('called', 'q5', 's5', '{kanon_group}', 'disease', 2);
SELECT kanon_anatomy('called', 'q5', 's5', '{zip}', 'kanon_count', 2);
CREATE TABLE points AS SELECT i AS a, point(i, i) AS p FROM generate_series(1, 5) i;
SELECT kanon_anatomy('points', 'q5', 's5', '{a}', 'p', 2);
SELECT to_regclass('q5'), to_regclass('s5');

-- as the caller
CREATE ROLE anatomy_caller;
GRANT USAGE ON SCHEMA anatomy_test TO anatomy_caller;
SET ROLE anatomy_caller;
SELECT kanon_anatomy('patients', 'q6', 's6', '{age}', 'disease', 2);
RESET ROLE;
GRANT SELECT (age, disease) ON patients TO anatomy_caller;
SET ROLE anatomy_caller;
SELECT kanon_anatomy('patients', 'q6', 's6', '{age,zip}', 'disease', 2);
SELECT kanon_anatomy('patients', 'q6', 's6', '{age}', 'disease', 2);
RESET ROLE;
GRANT CREATE ON SCHEMA anatomy_test TO anatomy_caller;
SET ROLE anatomy_caller;
SELECT kanon_anatomy('patients', 'q', 's6', '{age}', 'disease', 2, replace => true);
SELECT kanon_anatomy('patients', 'q6', 's6', '{age}', 'disease', 2, view => 'answers', replace => true);
SELECT groups FROM kanon_anatomy('patients', 'q6', 's6', '{age}', 'disease', 2, view => 'v6');
SELECT source, target, method, k, cost, lower_bound, proven, kept, anatomy, note FROM kanon_usefulness;
RESET ROLE;
SELECT tableowner FROM pg_tables WHERE tablename IN ('q6', 's6');
SELECT note FROM kanon_equivalence_classes WHERE run = (SELECT max(run) FROM kanon_usefulness);
SELECT obj_description('masked_q'::regclass) LIKE 'kanon: anatomy: %; masked: age, name; run %' AS masked, regexp_replace(obj_description('s6'::regclass), '; run.*', '') AS says;

-- the page
SELECT regexp_replace(s ->> 'says', '^On .* UTC', 'On …') FROM kanon_report_data((SELECT max(run) FROM kanon_usefulness)) d, jsonb_array_elements(d -> 'statements' || (d -> 'verdicts')) s;
SELECT kanon_report_data((SELECT max(run) FROM kanon_usefulness)) ->> 'check' AS "check" \gset
:check
SELECT kanon_report((SELECT max(run) FROM kanon_usefulness)) LIKE '%s6%' AS page;

DROP SCHEMA anatomy_test CASCADE;
DROP ROLE anatomy_reader, anatomy_caller;
