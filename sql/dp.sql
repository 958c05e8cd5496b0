-- kanon_dp: answers with noise, from a budget that nobody gets back
SET client_min_messages = warning;
CREATE TABLE dp_visits AS
SELECT i AS id, i % 40 AS person, CASE WHEN i % 3 = 0 THEN 'm' ELSE 'f' END AS sex, (i * 7) % 90 AS age,
       CASE WHEN i % 10 = 0 THEN NULL ELSE (i % 5) * 10.5 END AS cost
FROM generate_series(1, 400) i;

-- nothing is told before the owner says how much, not even to a superuser, whoever runs this
CREATE ROLE dp_super SUPERUSER;
SET SESSION AUTHORIZATION dp_super;
SELECT * FROM kanon_dp('dp_visits', 'count', 1);
RESET SESSION AUTHORIZATION;
SELECT kanon_set_budget('dp_visits', 100000, 0.01);

-- with an epsilon of 1000 there is no noise to speak of
SELECT * FROM kanon_dp('dp_visits', 'count', 1000);
SELECT value FROM kanon_dp('dp_visits', 'count', 1000, of => 'cost');
SELECT value FROM kanon_dp('dp_visits', 'count', 1000, subject => 'person');
SELECT value FROM kanon_dp('dp_visits', 'count', 1000, subject => 'person', contributions => 4);
SELECT value FROM kanon_dp('dp_visits', 'count', 1000, of => 'cost', subject => 'person', contributions => 100);
SELECT group_values, value FROM kanon_dp('dp_visits', 'count', 1000, by => '{sex}', groups => '{"sex": ["m", "x", "f", null]}');
SELECT group_values, value FROM kanon_dp('dp_visits', 'count', 1000, by => '{sex}', delta => 0.000001);
-- as true as SQL's own, where nothing is beyond the bounds
SELECT d.group_values ->> 'sex' AS sex, d.value = v.count AS same
FROM kanon_dp('dp_visits', 'count', 1000, by => '{sex,person}', groups => '{"person": [1, 2, 3], "sex": ["f", "m"]}') d
LEFT JOIN (SELECT sex, person, count(*) FROM dp_visits GROUP BY 1, 2) v ON v.sex = d.group_values ->> 'sex' AND v.person = (d.group_values ->> 'person')::int
WHERE d.value > 0 ORDER BY 1, 2;
SELECT value, (SELECT sum(age) FROM dp_visits) AS is FROM kanon_dp('dp_visits', 'sum', 1000, of => 'age', lower => 0, upper => 90, grid => 9);
SELECT value FROM kanon_dp('dp_visits', 'sum', 1000, of => 'cost', lower => -21, upper => 21, grid => 10.5);
SELECT abs(value - (SELECT avg(age) FROM dp_visits)) < 0.5 AS near, margin FROM kanon_dp('dp_visits', 'mean', 1000, of => 'age', lower => 0, upper => 90);
SELECT value FROM kanon_dp('dp_visits', 'mean', 1000, of => 'age', lower => 200, upper => 300, grid => 100);
SELECT group_values, bin_from, bin_to, value, margin FROM kanon_dp('dp_visits', 'histogram', 1000, of => 'age', lower => 0, upper => 90, bins => 4);
SELECT group_values, bin_from, bin_to, value FROM kanon_dp('dp_visits', 'histogram', 1000, of => 'cost', lower => 0, upper => 30, bins => 3, by => '{sex}', delta => 0.000001);
-- what is no number of steps is rounded, and what is no number is left out
CREATE TABLE dp_odd (x float8, g text);
INSERT INTO dp_odd VALUES ('NaN', 'a'), ('Infinity', 'a'), ('-Infinity', 'b'), (2.4, 'b'), (2.6, 'it''s "c"'), (NULL, 'a'), (1e300, NULL);
SELECT kanon_set_budget('dp_odd', 100000, 0.9);
SELECT value FROM kanon_dp('dp_odd', 'sum', 1000, of => 'x', lower => -3, upper => 3, grid => 1);
SELECT group_values, value FROM kanon_dp('dp_odd', 'count', 1000, by => '{g}', groups => '{"g": ["a", null, "it''s \"c\""]}');
-- with a small epsilon there is: values on the grid alone, and never the same for long
SELECT count(DISTINCT value) > 3 AS noisy, bool_and(value % 5 = 0) AS on_grid
FROM generate_series(1, 8) i, LATERAL kanon_dp('dp_visits', 'sum', 0.01 + 0 * i, of => 'age', lower => 0, upper => 90, grid => 5);
SELECT margin FROM kanon_dp('dp_visits', 'count', 0.5);
SELECT margin FROM kanon_dp('dp_visits', 'sum', 0.01, of => 'age', lower => 0, upper => 100, grid => 0.1);
-- a group of few is not found
SELECT count(*) FROM kanon_dp('dp_visits', 'count', 0.5, by => '{id}', delta => 0.000000001);
SELECT count(*) FROM kanon_dp('dp_visits', 'sum', 0.5, of => 'age', lower => 0, upper => 90, by => '{sex}', subject => 'person', delta => 0.000001);

-- views of the table are paid by the table
CREATE VIEW dp_view AS SELECT person, age, upper(sex) AS sex FROM dp_visits WHERE age > 10;
CREATE VIEW dp_view_of_view AS SELECT sex, age + 1 AS age FROM dp_view WHERE sex = 'F';
SELECT epsilon_spent AS before FROM kanon_budget WHERE relation = 'dp_visits'::regclass \gset
SELECT value FROM kanon_dp('dp_view_of_view', 'count', 1000, by => '{sex}', groups => '{"sex": ["F"]}');
SELECT epsilon_spent - :before AS spent FROM kanon_budget WHERE relation = 'dp_visits'::regclass;
-- but not such as let one row decide about others
CREATE VIEW dp_join AS SELECT a.* FROM dp_visits a JOIN dp_odd b ON b.g = a.sex;
CREATE VIEW dp_sub AS SELECT * FROM dp_visits WHERE EXISTS (SELECT FROM dp_visits WHERE id = 7);
CREATE VIEW dp_distinct AS SELECT DISTINCT age FROM dp_visits;
CREATE VIEW dp_grouped AS SELECT sex, count(*) AS n FROM dp_visits GROUP BY 1;
CREATE VIEW dp_limited AS SELECT * FROM dp_visits ORDER BY age LIMIT 10;
CREATE VIEW dp_offset AS SELECT * FROM dp_visits ORDER BY age OFFSET 10;
CREATE VIEW dp_window AS SELECT row_number() OVER (ORDER BY id) AS age FROM dp_visits;
CREATE VIEW dp_union AS SELECT age FROM dp_visits UNION ALL SELECT age FROM dp_visits;
CREATE VIEW dp_srf AS SELECT generate_series(1, age) AS age FROM dp_visits;
CREATE VIEW dp_cte AS WITH v AS (SELECT age FROM dp_visits) SELECT age FROM v;
CREATE VIEW dp_sample AS SELECT age FROM dp_visits TABLESAMPLE bernoulli (50);
CREATE VIEW dp_random AS SELECT age FROM dp_visits WHERE random() < 0.5;
CREATE VIEW dp_scalar AS SELECT (SELECT max(age) FROM dp_visits) AS age FROM dp_visits;
CREATE VIEW dp_values AS VALUES (1), (2);
CREATE FUNCTION dp_reads() RETURNS bigint STABLE LANGUAGE sql AS 'SELECT count(*) FROM dp_visits';
CREATE VIEW dp_function AS SELECT age FROM dp_visits WHERE dp_reads() > 399;
CREATE VIEW dp_statistics AS SELECT age FROM dp_visits WHERE pg_stat_get_live_tuples('dp_visits'::regclass) > 399;
CREATE VIEW dp_place AS SELECT age FROM dp_visits WHERE ctid < '(1,1)';
CREATE VIEW dp_stable AS SELECT age, to_char(now(), 'YYYY') AS year, concat(age, current_setting('TimeZone')) AS text FROM dp_visits;
CREATE VIEW dp_rows AS SELECT * FROM generate_series(1, 10) AS age;
\set VERBOSITY terse
SELECT count(*) FROM kanon_dp('dp_join', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_sub', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_distinct', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_grouped', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_limited', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_offset', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_window', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_union', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_srf', 'count', 1, of => 'age');
SELECT count(*) FROM kanon_dp('dp_cte', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_sample', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_random', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_statistics', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_place', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_stable', 'count', 1, of => 'text');
SELECT count(*) FROM kanon_dp('dp_scalar', 'count', 1, of => 'age');
SELECT count(*) FROM kanon_dp('dp_values', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_function', 'count', 1);
SELECT count(*) FROM kanon_dp('dp_rows', 'count', 1);
\set VERBOSITY default
-- policies are looked at, too
CREATE ROLE dp_reader;
CREATE TABLE dp_guarded AS SELECT 1 AS a FROM generate_series(1, 50);
ALTER TABLE dp_guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON dp_guarded USING (a < (SELECT count(*) FROM dp_visits));
GRANT SELECT ON dp_guarded, dp_visits TO dp_reader;
SELECT kanon_set_budget('dp_guarded', 100000);
SET ROLE dp_reader;
SELECT value FROM kanon_dp('dp_guarded', 'count', 1000);
RESET ROLE;
ALTER POLICY mine ON dp_guarded USING (a > 1);
SET ROLE dp_reader;
SELECT value FROM kanon_dp('dp_guarded', 'count', 1000);
RESET ROLE;

-- partitions are the table's; what inherits is refused
CREATE TABLE dp_parts (a int, b int) PARTITION BY LIST (a);
CREATE TABLE dp_part PARTITION OF dp_parts FOR VALUES IN (1) PARTITION BY LIST (b);
CREATE TABLE dp_leaf PARTITION OF dp_part FOR VALUES IN (2);
INSERT INTO dp_parts SELECT 1, 2 FROM generate_series(1, 30);
SELECT kanon_set_budget('dp_leaf', 1);
SELECT kanon_set_budget('dp_parts', 2500);
SELECT value FROM kanon_dp('dp_leaf', 'count', 1000);
SELECT value FROM kanon_dp('dp_parts', 'count', 1000);
SELECT value FROM kanon_dp('dp_part', 'count', 1000);
CREATE TABLE dp_parent (a int);
CREATE TABLE dp_child () INHERITS (dp_parent);
SELECT kanon_set_budget('dp_parent', 1);
SELECT kanon_set_budget('dp_child', 1);
SELECT kanon_set_budget('dp_view', 1);
CREATE MATERIALIZED VIEW dp_joined AS SELECT a.* FROM dp_visits a JOIN dp_visits b ON b.id = a.id;
SELECT kanon_set_budget('dp_joined', 1000);
SELECT value FROM kanon_dp('dp_joined', 'count', 1000);

-- what was spent stays spent
CREATE TABLE dp_small AS SELECT i AS a FROM generate_series(1, 20) i;
SELECT kanon_set_budget('dp_small', 1, queries => 20);
CREATE VIEW dp_left AS SELECT epsilon_spent, epsilon_left, queries_spent, answers FROM kanon_budget WHERE relation = 'dp_small'::regclass;
BEGIN;
SELECT count(*) FROM kanon_dp('dp_small', 'count', 0.1);
ROLLBACK;
SELECT * FROM dp_left;
BEGIN;
SAVEPOINT s;
SELECT count(*) FROM kanon_dp('dp_small', 'count', 0.1);
ROLLBACK TO s;
COMMIT;
DO $$
BEGIN
    PERFORM kanon_dp('dp_small', 'count', 0.1);
    RAISE EXCEPTION 'no';
EXCEPTION WHEN OTHERS THEN NULL;
END $$;
SELECT * FROM dp_left;
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM kanon_dp('dp_small', 'count', 0.1);
FETCH c;
ROLLBACK;
-- an answer that fails has been paid
CREATE VIEW dp_fails AS SELECT 1 / (a - 7) AS a FROM dp_small;
SELECT count(*) FROM kanon_dp('dp_fails', 'count', 0.1, of => 'a');
-- a budget in a transaction that is not over is none, and one that is lowered stays spent
BEGIN READ ONLY;
SELECT count(*) FROM kanon_dp('dp_small', 'mean', 0.1, of => 'a', lower => 0, upper => 20);
COMMIT;
SELECT * FROM dp_left;
SELECT count(*) FROM kanon_dp('dp_small', 'count', 0.5);
SELECT count(*) FROM kanon_dp('dp_small', 'count', 0.400001);
SELECT count(*) FROM kanon_dp('dp_small', 'count', 0.4);
SELECT * FROM dp_left;
BEGIN;
-- one command may set it more than once
SELECT kanon_set_budget('dp_small', e) FROM (VALUES (4), (5)) AS v (e);
SELECT count(*) FROM kanon_dp('dp_small', 'count', 1);
ROLLBACK;
SELECT kanon_set_budget('dp_small', 0.5);
SELECT * FROM dp_left;
SELECT kanon_set_budget('dp_small', 3, queries => 8);
SELECT count(*) FROM kanon_dp('dp_small', 'count', 0.1);
SELECT count(*) FROM kanon_dp('dp_small', 'count', 0.1);
-- SuLQ: fewer than rows
SELECT kanon_set_budget('dp_small', 3, power => 0.5);
SELECT queries FROM kanon_budget WHERE relation = 'dp_small'::regclass;
SELECT kanon_set_budget('dp_small', 3, power => 0.99, queries => 12);
SELECT queries FROM kanon_budget WHERE relation = 'dp_small'::regclass;
-- delta is spent, too (so little of it that none of the values is shown by chance)
SELECT kanon_set_budget('dp_small', 30, 1e-9);
SELECT count(*) FROM kanon_dp('dp_small', 'count', 1, by => '{a}', delta => 6e-10);
SELECT count(*) FROM kanon_dp('dp_small', 'count', 1, by => '{a}', delta => 6e-10);
SELECT delta, delta_spent, delta_left FROM kanon_budget WHERE relation = 'dp_small'::regclass;

-- whose budget: the session's user, whatever role it plays, and whose function it calls
CREATE ROLE dp_owner;
CREATE ROLE dp_group;
CREATE ROLE dp_ann LOGIN IN ROLE dp_group;
CREATE ROLE dp_ben LOGIN IN ROLE dp_group;
CREATE ROLE dp_else LOGIN;
CREATE SCHEMA dp_schema AUTHORIZATION dp_owner;
GRANT USAGE ON SCHEMA dp_schema TO dp_ann, dp_ben, dp_else, dp_group;
SET ROLE dp_owner;
CREATE TABLE dp_schema.secret AS SELECT i AS a FROM generate_series(1, 20) i;
CREATE FUNCTION dp_schema.how_many(epsilon numeric) RETURNS numeric LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC SELECT value FROM public.kanon_dp('dp_schema.secret', 'count', epsilon); END;
SELECT kanon_set_budget('dp_schema.secret', 2000, role => 'dp_ann');
SELECT kanon_set_budget('dp_schema.secret', 3000, role => 'dp_group');
RESET ROLE;
SET SESSION AUTHORIZATION dp_ann;
SELECT count(*) FROM kanon_dp('dp_schema.secret', 'count', 1);
SELECT kanon_set_budget('dp_schema.secret', 9000, role => 'dp_ann');
SELECT dp_schema.how_many(1000);
SET ROLE dp_group;
SELECT dp_schema.how_many(1000);
SELECT dp_schema.how_many(1000);
SET SESSION AUTHORIZATION dp_ben;
SELECT dp_schema.how_many(1000);
SELECT dp_schema.how_many(1000);
SELECT relation, role, epsilon_left FROM kanon_budget;
SELECT role, answer, asked_by, aggregate, epsilon FROM kanon_budget_answers ORDER BY 1, 2;
SET SESSION AUTHORIZATION dp_else;
SELECT dp_schema.how_many(1);
SELECT count(*) FROM kanon_budget_answers;
SELECT count(*) FROM kanon_budget_limit;
SELECT count(*) FROM kanon_budget_spent;
RESET SESSION AUTHORIZATION;
SET ROLE dp_owner;
SELECT role, epsilon_left, answers FROM kanon_budget WHERE relation = 'dp_schema.secret'::regclass ORDER BY 1;
SELECT role, answer, asked_by, aggregate, epsilon FROM kanon_budget_answers ORDER BY role::text, 2;
SELECT kanon_set_budget('dp_schema.secret', 500);
RESET ROLE;
SET SESSION AUTHORIZATION dp_ben;
SELECT dp_schema.how_many(1000);
RESET SESSION AUTHORIZATION;

-- what makes no sense
\set VERBOSITY terse
SELECT * FROM kanon_dp(NULL, 'count', 1);
SELECT * FROM kanon_dp('dp_visits', NULL, 1);
SELECT * FROM kanon_dp('dp_visits', 'cuont', 1);
SELECT * FROM kanon_dp('dp_visits', 'median', 1);
SELECT * FROM kanon_dp('dp_visits', 'count', NULL);
SELECT * FROM kanon_dp('dp_visits', 'count', 0);
SELECT * FROM kanon_dp('dp_visits', 'count', -1);
SELECT * FROM kanon_dp('dp_visits', 'count', 'NaN');
SELECT * FROM kanon_dp('dp_visits', 'count', 'Infinity');
SELECT * FROM kanon_dp('dp_visits', 'count', 1e300);
SELECT * FROM kanon_dp('dp_visits', 'count', 1000.1);
SELECT * FROM kanon_dp('dp_visits', 'count', 0.0000001);
SELECT * FROM kanon_dp('dp_visits', 'count', 1, of => 'nothing');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, of => 'ctid');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex,sex}', delta => 0.1);
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}', delta => 0.1, groups => '{"sex": ["f"]}');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, delta => 0.1);
SELECT * FROM kanon_dp('dp_visits', 'count', 1, groups => '{}');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}', delta => 0);
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}', delta => 1);
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}', delta => 0.0000000000000001);
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}', groups => '{"sexes": ["f"]}');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}', groups => '{"sex": ["f"], "age": [1]}');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}', groups => '{"sex": "f"}');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}', groups => '{"sex": []}');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}', groups => '{"sex": [["f"]]}');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}', groups => '{"sex": ["f", "f"]}');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex}', groups => '["f"]');
SELECT * FROM kanon_dp('dp_visits', 'count', 1, by => '{sex,age,id}',
    groups => (SELECT jsonb_build_object('sex', j, 'age', j, 'id', j) FROM (SELECT jsonb_agg(i) AS j FROM generate_series(1, 60) i) x));
SELECT * FROM kanon_dp('dp_visits', 'count', 1, lower => 1);
SELECT * FROM kanon_dp('dp_visits', 'count', 1, grid => 1);
SELECT * FROM kanon_dp('dp_visits', 'count', 1, contributions => 2);
SELECT * FROM kanon_dp('dp_visits', 'count', 1, contributions => NULL);
SELECT * FROM kanon_dp('dp_visits', 'count', 1, subject => 'person', contributions => 0);
SELECT * FROM kanon_dp('dp_visits', 'sum', 1);
SELECT * FROM kanon_dp('dp_visits', 'sum', 1, of => 'sex', lower => 0, upper => 1);
SELECT * FROM kanon_dp('dp_visits', 'sum', 1, of => 'age');
SELECT * FROM kanon_dp('dp_visits', 'sum', 1, of => 'age', lower => 0);
SELECT * FROM kanon_dp('dp_visits', 'sum', 1, of => 'age', lower => 1, upper => 1);
SELECT * FROM kanon_dp('dp_visits', 'sum', 1, of => 'age', lower => 'NaN', upper => 1);
SELECT * FROM kanon_dp('dp_visits', 'sum', 1, of => 'age', lower => 0, upper => 'Infinity');
SELECT * FROM kanon_dp('dp_visits', 'sum', 1, of => 'age', lower => 0, upper => 1e400);
SELECT * FROM kanon_dp('dp_visits', 'sum', 1, of => 'age', lower => 0, upper => 90, grid => 0);
SELECT * FROM kanon_dp('dp_visits', 'sum', 1, of => 'age', lower => 0, upper => 90, grid => 1e-20);
SELECT * FROM kanon_dp('dp_visits', 'sum', 1, of => 'age', lower => 0, upper => 90, grid => 1000);
SELECT * FROM kanon_dp('dp_visits', 'sum', 1, of => 'age', lower => 0, upper => 90, bins => 3);
SELECT * FROM kanon_dp('dp_visits', 'histogram', 1, of => 'age', lower => 0, upper => 90);
SELECT * FROM kanon_dp('dp_visits', 'histogram', 1, of => 'age', lower => 0, upper => 90, bins => 0);
SELECT * FROM kanon_dp('dp_visits', 'histogram', 1, of => 'age', lower => 0, upper => 90, bins => 3, grid => 1);
SELECT * FROM kanon_dp('dp_visits', 'count', 1, subject => 'x');
CREATE TABLE dp_types (a xid, b json);
SELECT * FROM kanon_dp('dp_types', 'count', 1, subject => 'a');
SELECT * FROM kanon_dp('dp_types', 'count', 1, by => '{b}', delta => 0.1);
SET SESSION AUTHORIZATION dp_super;
SELECT * FROM kanon_dp('dp_types', 'count', 1);
RESET SESSION AUTHORIZATION;
SELECT kanon_set_budget(NULL, 1);
SELECT kanon_set_budget('dp_visits', NULL);
SELECT kanon_set_budget('dp_visits', -1);
SELECT kanon_set_budget('dp_visits', 'NaN');
SELECT kanon_set_budget('dp_visits', 1e9);
SELECT kanon_set_budget('dp_visits', 1, NULL);
SELECT kanon_set_budget('dp_visits', 1, 1);
SELECT kanon_set_budget('dp_visits', 1, role => 1);
SELECT kanon_set_budget('dp_visits', 1, queries => -1);
SELECT kanon_set_budget('dp_visits', 1, power => 1);
SELECT kanon_set_budget('dp_visits', 1, power => 'NaN');
SELECT kanon_set_budget(0, 1);
SELECT kanon_set_budget('dp_visits_id_seq', 1);
CREATE SEQUENCE dp_sequence;
SELECT kanon_set_budget('dp_sequence', 1);
\set VERBOSITY default

-- a function that is not what it says: what the query leaves out comes all the same
CREATE SEQUENCE dp_asked;
CREATE FUNCTION dp_moody(int) RETURNS numeric IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN CASE WHEN nextval('dp_asked') % 2 = 1 THEN $1 END; END $$;
CREATE VIEW dp_mood AS SELECT dp_moody(age) AS age FROM dp_visits;
SELECT value FROM kanon_dp('dp_mood', 'sum', 1, 'age', lower => 0, upper => 90);

-- one row of a person counts, and the rows that are missing are told of; never, of whom there are several
SET client_min_messages = notice;
CREATE TABLE dp_twice AS SELECT i % 400 AS person, i % 2 AS ward FROM generate_series(1, 800) i;
SELECT kanon_set_budget('dp_twice', 1000);
SELECT round(sum(value) / 400) AS times FROM kanon_dp('dp_twice', 'count', 100, by => '{ward}', groups => '{"ward": [0, 1]}', subject => 'person');
SELECT round(sum(value) / 400) AS times FROM kanon_dp('dp_twice', 'count', 100, by => '{ward}', groups => '{"ward": [0, 1]}', subject => 'person', contributions => 2);
SELECT round(sum(value) / 400) AS times FROM kanon_dp('dp_twice', 'count', 100, by => '{ward}', groups => '{"ward": [0, 1]}');

-- the page of a budget tells the same as the views; who does not own the table sees less, and is told
CREATE FUNCTION dp_page(regclass) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT m[1] || m[2] FROM regexp_matches(kanon_budget_report($1), '<strong>([a-z]+[.])</strong>([^<]*)</p>', 'g') AS m $$;
SELECT dp_page('dp_twice');
CREATE TABLE dp_paid AS SELECT 1 AS a;
SELECT dp_page('dp_paid');
SELECT kanon_set_budget('dp_paid', 1);
SELECT dp_page('dp_paid');
SELECT kanon_set_budget('dp_paid', 2.5, 0.001, role => 'dp_ann');
SELECT kanon_set_budget('dp_paid', 0);
SELECT count(*) FROM kanon_dp('dp_paid', 'count', 0.25);
SELECT kanon_set_budget('dp_paid', 0.5);
SELECT count(*) FROM kanon_dp('dp_paid', 'count', 0.25);
SELECT kanon_set_budget('dp_paid', 0.125);
SELECT dp_page('dp_paid');
SELECT regexp_matches(kanon_budget_report('dp_paid'), '<b>([^<]*)</b><span>([^<]*)</span>', 'g') AS tiles;
GRANT SELECT ON dp_paid TO dp_ann;
SET SESSION AUTHORIZATION dp_ann;
SELECT regexp_matches(kanon_budget_report('dp_paid'), '(This page has[^<]*)<') AS others;
RESET SESSION AUTHORIZATION;
SELECT kanon_budget_report(NULL) IS NULL AS nothing;
DROP TABLE dp_paid;
DROP FUNCTION dp_page;
DROP TABLE dp_twice;

SET client_min_messages = error;
DROP SCHEMA dp_schema CASCADE;
DROP TABLE dp_visits, dp_odd, dp_guarded, dp_parts, dp_parent, dp_small, dp_types CASCADE;
DROP VIEW dp_values, dp_rows;
DROP FUNCTION dp_reads, dp_moody;
DROP SEQUENCE dp_sequence, dp_asked;
DROP ROLE dp_super, dp_owner, dp_group, dp_ann, dp_ben, dp_else, dp_reader;
