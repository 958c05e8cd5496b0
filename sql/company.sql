-- unchanged rows of a publication keep their company from release to release, and an unchanged source is one release
CREATE SCHEMA company_test;
SET search_path = company_test, public;
SET client_min_messages = warning;
-- a reader who keeps releases intersects what the class of somebody shows, while somebody else's kept value changes
CREATE TABLE person AS SELECT i AS id, 1 AS a, 1 AS b, 1 AS c, 1 AS d, 1 AS e, CASE WHEN i = 1 THEN 2 ELSE 1 END AS f, 'ill' || i AS ill FROM generate_series(1, 40) i;
CREATE FUNCTION left_after(pub text, nights int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    left_over bigint;
BEGIN
    EXECUTE format('CREATE TEMP TABLE seen AS SELECT ill FROM %I WHERE f IS NULL', pub);
    FOR i IN 1..nights LOOP
        UPDATE person SET ill = 'changed' || i WHERE id = 40;
        PERFORM kanon_refresh(pub);
        EXECUTE format('DELETE FROM seen WHERE ill NOT IN (SELECT ill FROM %I WHERE f IS NULL)', pub);
    END LOOP;
    SELECT count(*) INTO left_over FROM seen;
    DROP TABLE seen;
    RETURN left_over;
END $$;
SELECT kanon_create_publication('by_row', 'person', '{a,b,c,d,e,f}', 5, '{"keep": ["ill"], "method": "improve", "allow_identifying": ["ill"]}');
SELECT e, f, count(*) FROM by_row GROUP BY 1, 2 ORDER BY 2;
-- (person 40 may be among them)
SELECT left_after('by_row', 6) >= 4 AS enough;
SELECT kanon_create_publication('by_key', 'person', '{a,b,c,d,e,f}', 5, '{"keep": ["ill"], "method": "improve", "allow_identifying": ["ill"]}', key => 'id');
SELECT left_after('by_key', 6) >= 4 AS enough;

-- the same rows in another order, and changes of columns that are not used, make no release
ALTER TABLE person ADD COLUMN noise int;
SELECT status, row_count, k FROM kanon_refresh('by_key');
UPDATE person SET noise = id;
CREATE TEMP TABLE again AS TABLE person;
TRUNCATE person;
INSERT INTO person SELECT * FROM again ORDER BY id DESC;
SELECT status, row_count, k FROM kanon_refresh('by_key');
SELECT release, status, checked > finished AS checked FROM kanon_releases WHERE publication LIKE '%by_key' AND status = 'current';
SELECT s.status, s.failures, s.refreshed_at = r.checked AS checked FROM kanon_publication_status('by_key') s, kanon_releases r WHERE r.publication LIKE '%by_key' AND r.status = 'current';
CALL kanon_refresh_all();
-- another definition does, and a row that occurs once more; a failure in between is over when nothing has changed
INSERT INTO person SELECT * FROM person WHERE id = 3;
SELECT status, row_count FROM kanon_refresh('by_row');
DELETE FROM person;
SET client_min_messages = error;
SELECT status, error FROM kanon_refresh('by_row');
SET client_min_messages = warning;
INSERT INTO person SELECT * FROM again UNION ALL SELECT * FROM again WHERE id = 3;
SELECT status FROM kanon_refresh('by_row');
SELECT status, failures FROM kanon_publication_status('by_row');
SELECT kanon_alter_publication('by_row', k => 6);
SELECT status, k >= 6 AS k FROM kanon_refresh('by_row');
SELECT kanon_drop_publication('by_row'), kanon_drop_publication('by_key');

-- bounds that follow from the values stay those of the first release, until they are drawn anew
CREATE TABLE aged AS SELECT i AS id, i * 3 AS age, 'ill' || i % 7 AS ill FROM generate_series(1, 58) i;
SELECT kanon_create_publication('ages', 'aged', '{age}', 5, '{"keep": ["ill"], "hierarchies": {"age": {"quantile": [8, 2]}}}', 'full_domain', key => 'id', keep_releases => 2);
SELECT string_agg(age::text || ': ' || n, ' ' ORDER BY age) FROM (SELECT age, count(*) AS n FROM ages GROUP BY 1) g;
DELETE FROM aged WHERE id = 4;
INSERT INTO aged VALUES (100, 200, 'ill1');
SELECT status FROM kanon_refresh('ages');
SELECT string_agg(age::text || ': ' || n, ' ' ORDER BY age) FROM (SELECT age, count(*) AS n FROM ages GROUP BY 1) g;
SELECT persons, persons_below_k FROM kanon_compare_releases('ages', 1, 2);
SELECT kanon_alter_publication('ages', renew_bounds => true, stable => false);
SELECT status FROM kanon_refresh('ages');
SELECT string_agg(age::text || ': ' || n, ' ' ORDER BY age) FROM (SELECT age, count(*) AS n FROM ages GROUP BY 1) g;
SELECT status FROM kanon_refresh('ages');
-- whoever writes into them has them drawn anew
UPDATE ages_publication SET bounds = '{"age": {"by": {"quantile": [8, 2]}, "bounds": ["3", null, "1", "27"]}}';
UPDATE ages_history SET digest = NULL;
SELECT status FROM kanon_refresh('ages');
SELECT kanon_drop_publication('ages');

-- rows that were suppressed stay that, also when others of them leave whose like have come and are shown
CREATE TABLE seldom AS SELECT i AS id, CASE WHEN i <= 2 THEN 'x' WHEN i = 3 THEN 'z' ELSE 'y' END AS a FROM generate_series(1, 40) i;
SELECT kanon_create_publication('rare', 'seldom', '{a}', 3, '{"keep": ["id"], "allow_identifying": ["id"], "residual": "suppress", "suppression_limit": 0.5}', 'full_domain');
INSERT INTO seldom SELECT 100 + i, 'z' FROM generate_series(1, 5) i;
SELECT status FROM kanon_refresh('rare');
SELECT array_agg(id ORDER BY id) FROM rare WHERE a IS NULL;
INSERT INTO seldom SELECT 200 + i, 'x' FROM generate_series(1, 12) i;
DELETE FROM seldom WHERE id = 3;
SELECT status FROM kanon_refresh('rare');
SELECT array_agg(id ORDER BY id) FROM rare WHERE a IS NULL;
SELECT kanon_drop_publication('rare');

-- also under rules about populations, which count suppressed rows and all others together
CREATE TABLE folk AS SELECT i AS id, CASE WHEN i <= 2 THEN 'x' WHEN i <= 5 THEN 'z' ELSE 'y' END AS a FROM generate_series(1, 60) i;
CREATE TABLE inside AS SELECT * FROM folk WHERE id <= 40;
SELECT kanon_create_publication(name, 'inside', '{a}', k, '{"keep": ["id"], "allow_identifying": ["id"], "suppression_limit": 0.5}' || jsonb_build_object('privacy', jsonb_build_array(rule), 'residual', residual), 'full_domain')
    FROM (VALUES ('mapped', 3, kanon_k_map('folk'), 'suppress'), ('filled', 3, kanon_k_map('folk'), 'fill'), ('present', 3, kanon_delta_presence('folk', 0, 0.99), 'suppress')) AS p (name, k, rule, residual);
CREATE VIEW blank AS SELECT 'mapped' AS name, array_agg(id ORDER BY id) FROM mapped WHERE a IS NULL UNION ALL SELECT 'filled', array_agg(id ORDER BY id) FROM filled WHERE a IS NULL
    UNION ALL SELECT 'present', array_agg(id ORDER BY id) FROM present WHERE a IS NULL;
TABLE blank;
INSERT INTO folk SELECT 100 + i, 'x' FROM generate_series(1, 9) i;
INSERT INTO inside SELECT * FROM folk WHERE id BETWEEN 101 AND 105;
SELECT name, r.status, r.message FROM unnest('{mapped,filled,present}'::text[]) name, kanon_refresh(name) r;
TABLE blank;
DELETE FROM inside WHERE id IN (2, 3);
SELECT name, r.status, r.message FROM unnest('{mapped,filled,present}'::text[]) name, kanon_refresh(name) r;
TABLE blank;
DROP VIEW blank;
SELECT kanon_drop_publication(name) FROM unnest('{mapped,filled,present}'::text[]) name;

-- classes that readers cannot tell apart stay together as one: a NULL that is shown looks like a cell that is hidden
CREATE TABLE looks (id int, a int, c int);
INSERT INTO looks VALUES (1, 1, NULL), (2, 1, NULL), (3, 1, 5), (4, 1, 6), (5, 2, NULL), (6, 2, NULL);
SELECT kanon_create_publication('alike', 'looks', '{a,c}', 2, '{"keep": ["id"], "allow_identifying": ["id"], "weights": [1, 100]}');
SELECT a, c, array_agg(id ORDER BY id) FROM alike GROUP BY a, c ORDER BY a;
DELETE FROM looks WHERE id = 1;
SELECT status FROM kanon_refresh('alike');
SELECT a, c, array_agg(id ORDER BY id) FROM alike GROUP BY a, c ORDER BY a;
SELECT kanon_drop_publication('alike');

-- persons are counted from the night on which they were, also when each has one row again
CREATE TABLE visit AS SELECT i AS id, i % 30 AS who, 1 + i % 2 AS a, i % 7 AS b FROM generate_series(1, 31) i;
SELECT kanon_create_publication('visits', 'visit', '{a,b}', 3, '{"keep": ["id"], "allow_identifying": ["id"], "method": "improve"}', key => 'who');
CREATE TEMP TABLE met AS SELECT x.id AS one, y.id AS two FROM visits x JOIN visits y ON (x.a, x.b) IS NOT DISTINCT FROM (y.a, y.b);
DELETE FROM visit WHERE id IN (4, 9, 12, 22, 31);
SELECT status FROM kanon_refresh('visits');
SELECT count(*) AS parted FROM met JOIN visits x ON x.id = one JOIN visits y ON y.id = two WHERE (x.a, x.b) IS DISTINCT FROM (y.a, y.b);
-- and when somebody has several again: who is there still is with those of the night before
DROP TABLE met;
CREATE TEMP TABLE met AS SELECT x.id AS one, y.id AS two FROM visits x JOIN visits y ON (x.a, x.b) IS NOT DISTINCT FROM (y.a, y.b);
INSERT INTO visit VALUES (31, 1, 1, 3), (32, 2, 2, 5);
SELECT status, message FROM kanon_refresh('visits');
SELECT count(*) AS parted FROM met JOIN visits x ON x.id = one JOIN visits y ON y.id = two WHERE (x.a, x.b) IS DISTINCT FROM (y.a, y.b);
DELETE FROM visit WHERE id > 30;
SELECT kanon_drop_publication('visits');
-- once each had one row, a second row of somebody parts nobody: of split types, too, and with what was changed on the same night
CREATE TABLE stay AS SELECT i AS who, i AS id, 1 + i % 3 AS a, i % 4 AS b, i % 5 AS c, hashint4(i) % 4 AS ill FROM generate_series(1, 80) i;
CREATE FUNCTION second_row(model text, method text, protect bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text := method;
    night record;
BEGIN
    DELETE FROM stay WHERE id > 80;
    PERFORM kanon_create_publication('stays', 'stay', '{a,b,c}', 3, jsonb_build_object('method', method, 'keep', ARRAY['id', 'ill'], 'allow_identifying', ARRAY['id']),
        model => model, key => 'who', protect_successive => protect);
    FOR n IN 1..2 LOOP
        CREATE TEMP TABLE company_then AS SELECT x.id AS one, y.id AS two FROM stays x JOIN stays y ON (x.a, x.b, x.c) IS NOT DISTINCT FROM (y.a, y.b, y.c);
        INSERT INTO stay SELECT 4 * n + i, 80 + 2 * n + i, 1 + i, 2, 3 - n, 1 FROM generate_series(0, 1) i;
        UPDATE stay SET ill = ill + 1 WHERE id = 10 + n;
        SELECT * INTO night FROM kanon_refresh('stays');
        said := said || format(', %s: %s parted, at least %s persons', night.status, (SELECT count(*) FROM company_then JOIN stays x ON x.id = one JOIN stays y ON y.id = two
            WHERE (x.a, x.b, x.c) IS DISTINCT FROM (y.a, y.b, y.c)), (SELECT min(c) FROM (SELECT count(DISTINCT who) c FROM stays JOIN stay USING (id) GROUP BY stays.a, stays.b, stays.c) x));
        DROP TABLE company_then;
    END LOOP;
    PERFORM kanon_drop_publication('stays');
    RETURN said;
END $$;
SELECT second_row(model, method, protect) FROM (VALUES ('pattern_guided', 'greedy'), ('pattern_guided', 'improve'), ('cluster', 'forest'), ('cluster', 'gather')) m (model, method), (VALUES (false), (true)) p (protect);
-- and without company in its private table nobody knows who was where
DELETE FROM stay WHERE id > 80;
SELECT kanon_create_publication('stays', 'stay', '{a,b,c}', 3, '{"method": "forest"}', model => 'cluster', key => 'who');
DELETE FROM stays_types_1 WHERE kanon__rows IS NULL;
INSERT INTO stay VALUES (1, 91, 1, 1, 1, 1);
\set VERBOSITY default
SET client_min_messages = notice;
SELECT status, message FROM kanon_refresh('stays');
SET client_min_messages = warning;
\set VERBOSITY terse
SELECT kanon_drop_publication('stays');
-- rows that are dropped for a while come back together, or not at all: whoever was with v1 is with v1; also after a night of nobody
CREATE TABLE gone (id int, a int, b int, ill text);
INSERT INTO gone SELECT 10 + i, 2, i % 2, 'x' || i FROM generate_series(1, 12) i;
INSERT INTO gone VALUES (1, 1, 1, 'v1'), (2, 1, 2, 'v2'), (3, 1, 3, 'v3');
SELECT kanon_create_publication('come', 'gone', '{a,b}', 3, '{"residual": "drop", "keep": ["id", "ill"], "allow_identifying": ["id", "ill"], "min_rows": 0}');
SELECT a, b, string_agg(ill, ' ' ORDER BY id) FROM come WHERE id < 10 GROUP BY 1, 2 ORDER BY 1, 2;
DELETE FROM gone WHERE id = 3;
SELECT status, row_count FROM kanon_refresh('come');
DELETE FROM gone WHERE id > 10;
SELECT status, row_count FROM kanon_refresh('come');
INSERT INTO gone VALUES (4, 1, 1, 'v4'), (5, 1, 1, 'v5'), (6, 1, 2, 'v6'), (7, 1, 2, 'v7');
SELECT status, row_count FROM kanon_refresh('come');
SELECT a, b, string_agg(ill, ' ' ORDER BY id) FROM come WHERE id < 10 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT kanon_drop_publication('come');
-- and those of one row type from two classes return to two
TRUNCATE gone;
INSERT INTO gone SELECT i, 1, CASE WHEN i <= 4 THEN 1 ELSE i END, 'v' || i FROM generate_series(1, 6) i;
SELECT kanon_create_publication('come', 'gone', '{a,b}', 3, '{"method": "mondrian", "residual": "drop", "show": "set", "keep": ["id", "ill"], "allow_identifying": ["id", "ill"], "min_rows": 0}', model => 'cluster');
CREATE TEMP TABLE gone_then AS SELECT x.id AS one, y.id AS two FROM come x JOIN come y ON (x.a, x.b) IS NOT DISTINCT FROM (y.a, y.b);
DELETE FROM gone WHERE id > 4;
SELECT status FROM kanon_refresh('come');
INSERT INTO gone SELECT i, 1, i, 'v' || i FROM generate_series(7, 12) i;
SELECT status FROM kanon_refresh('come');
SELECT count(*) AS parted FROM gone_then JOIN come x ON x.id = one JOIN come y ON y.id = two WHERE (x.a, x.b) IS DISTINCT FROM (y.a, y.b);
SELECT kanon_drop_publication('come');
-- while they are dropped, which of two that look alike was in which class is not forgotten
TRUNCATE gone;
INSERT INTO gone SELECT i, 1, CASE WHEN i <= 4 THEN 1 ELSE i END, 'v' || i FROM generate_series(1, 6) i;
SELECT kanon_create_publication('come', 'gone', '{a,b}', 3, '{"method": "mondrian_relaxed", "residual": "drop", "show": "set", "keep": ["id", "ill"], "allow_identifying": ["id", "ill"], "min_rows": 0}', model => 'cluster');
DELETE FROM gone WHERE id NOT IN (SELECT min(id) FROM come WHERE id <= 4 GROUP BY a, b);
SELECT status, row_count FROM kanon_refresh('come');
SELECT count(DISTINCT kanon__class) AS classes, count(DISTINCT kanon__row) AS rows FROM come_types_2 WHERE kanon__row IS NOT NULL;
INSERT INTO gone SELECT 20 + i, 7, 7, 'w' || i FROM generate_series(1, 3) i;
SELECT status, row_count FROM kanon_refresh('come');
SELECT count(DISTINCT kanon__class) AS classes, count(DISTINCT kanon__row) AS rows FROM come_types_3 WHERE kanon__row IS NOT NULL;
SELECT kanon_drop_publication('come');
-- a protected night on which fewer than k are left is held: others may come back
SELECT kanon_create_publication('few', 'visit', '{a}', 3, '{"min_rows": 0}', key => 'id', protect_successive => true);
DELETE FROM visit WHERE id > 2;
SELECT status, error, message FROM kanon_refresh('few');
SELECT count(*) FROM few;
SELECT kanon_drop_publication('few');
-- and so is one on which rows are left, and not persons; at creation, and for a k that nobody ever had, it is an error
CREATE TABLE trip AS SELECT i AS id, i % 30 AS who, 1 + i % 2 AS a, i % 5 AS ill FROM generate_series(1, 90) i;
SELECT kanon_create_publication('few', 'trip', '{a}', 3, '{"min_rows": 0}', key => 'who', protect_successive => true);
DELETE FROM trip WHERE who > 1;
SELECT status, error, message FROM kanon_refresh('few');
SELECT detail FROM kanon_releases WHERE publication LIKE '%few' AND status = 'held';
SELECT count(*) FROM few;
SELECT kanon_create_publication('fewer', 'trip', '{a}', 3, '{"min_rows": 0}', key => 'who', protect_successive => true);
SELECT kanon_alter_publication('few', k => 1000);
SELECT kanon_drop_publication('few');

-- a release before from which the next one cannot go on is told; of a protected publication it is refused
CREATE TABLE home AS SELECT i AS id, 1 + i % 2 AS a, i % 7 AS b, i % 5 AS ill FROM generate_series(1, 40) i;
SELECT kanon_create_publication('homes', 'home', '{a,b}', 3, '{"keep": ["id", "ill"], "allow_identifying": ["id"], "method": "improve"}');
\set VERBOSITY default
SET client_min_messages = notice;
SELECT kanon_alter_publication('homes', set_options => jsonb_build_object('privacy', jsonb_build_array(kanon_distinct_l('ill', 2))));
SET client_min_messages = warning;
\set VERBOSITY terse
SELECT status, message FROM kanon_refresh('homes');
SELECT release, status, message, detail, hint FROM kanon_releases WHERE publication LIKE '%homes' ORDER BY 1;
SELECT status, problem, remedy FROM kanon_publication_status('homes');
SELECT options -> 'began_anew' AS began_anew, options -> 'stayed_near' AS stayed_near FROM kanon_usefulness WHERE publication LIKE '%homes' ORDER BY run DESC LIMIT 1;
-- without the rule again, the rows of one type that it told apart are one, and stay
DROP TABLE met;
CREATE TEMP TABLE met AS SELECT x.id AS one, y.id AS two FROM homes x JOIN homes y ON (x.a, x.b) IS NOT DISTINCT FROM (y.a, y.b);
SELECT kanon_alter_publication('homes', drop_options => '{privacy}');
DELETE FROM home WHERE id % 9 = 0;
SELECT status, message FROM kanon_refresh('homes');
SELECT count(*) AS parted FROM met JOIN homes x ON x.id = one JOIN homes y ON y.id = two WHERE (x.a, x.b) IS DISTINCT FROM (y.a, y.b);
SELECT status, problem FROM kanon_publication_status('homes');
-- what its owner does to the private table
SELECT format('DELETE FROM %s', types) FROM homes_history WHERE status = 'current' \gexec
UPDATE home SET ill = 6 WHERE id = 1;
SELECT status, message FROM kanon_refresh('homes');
SELECT format('DROP TABLE %s', types) FROM homes_history WHERE status = 'current' \gexec
SELECT status, message FROM kanon_refresh('homes');
SELECT kanon_alter_publication('homes', stable => false);
SELECT status, message FROM kanon_refresh('homes');
SELECT kanon_alter_publication('homes', stable => true);
SELECT status, message FROM kanon_refresh('homes');
SELECT detail FROM kanon_releases WHERE publication LIKE '%homes' AND message IS NOT NULL ORDER BY release;
SELECT kanon_drop_publication('homes');
-- protected
SELECT kanon_create_publication('homes', 'home', '{a}', 3, '{"keep": ["ill"]}', key => 'id', protect_successive => true);
\set VERBOSITY default
SELECT kanon_alter_publication('homes', set_options => jsonb_build_object('privacy', jsonb_build_array(kanon_distinct_l('ill', 2))));
\set VERBOSITY terse
SELECT format('DROP TABLE %s', types) FROM homes_history WHERE status = 'current' \gexec
SET client_min_messages = error;
SELECT status, error, message FROM kanon_refresh('homes');
SELECT format('DROP TABLE %s', rows) FROM homes_history WHERE status = 'current' \gexec
SELECT status, error, message FROM kanon_refresh('homes');
SELECT detail, hint FROM kanon_releases WHERE publication LIKE '%homes' AND status = 'failed' ORDER BY release;
SELECT kanon_alter_publication('homes', protect_successive => false);
SELECT status, message FROM kanon_refresh('homes');
SELECT kanon_alter_publication('homes', protect_successive => true);
SELECT status, message FROM kanon_refresh('homes');
SET client_min_messages = warning;
SELECT kanon_drop_publication('homes');
-- persons who get several rows: the owner altered nothing, and the night goes on, which is told once
CREATE TABLE twice AS SELECT 1 AS one WHERE false;
CREATE VIEW seen AS SELECT * FROM home UNION ALL SELECT home.* FROM home, twice WHERE id % 5 = 1;
SELECT kanon_create_publication('seen_again', 'seen', '{a}', 3, '{"keep": ["ill"]}', key => 'id', protect_successive => true);
INSERT INTO twice VALUES (1);
\set VERBOSITY default
SET client_min_messages = notice;
SELECT status, message FROM kanon_refresh('seen_again');
SET client_min_messages = warning;
SELECT status, problem, remedy FROM kanon_publication_status('seen_again');
UPDATE home SET ill = ill + 1 WHERE id = 2;
SELECT status, message FROM kanon_refresh('seen_again');
SELECT status, problem FROM kanon_publication_status('seen_again');
SELECT kanon_drop_publication('seen_again');

-- what cannot be made so is refused, with the reason
\set VERBOSITY default
SELECT kanon_create_publication('x', 'aged', '{age}', 5, model => 'freeform');
SELECT kanon_create_publication('x', 'aged', '{age}', 5, model => 'freeform', stable => false);
SELECT kanon_create_publication('x', 'aged', '{age}', 5, '{"method": "k_k"}', 'cluster', stable => false);
SELECT kanon_create_publication('x', 'aged', '{age}', 5, model => 'anatomy');
SELECT kanon_create_publication('x', 'aged', '{age}', 5, model => 'synthetic');
SELECT kanon_create_publication('x', 'aged', '{age}', 5, model => 'alpha_beta');
-- what readers can tell is said once
SET client_min_messages = notice;
SELECT kanon_create_publication('x', 'aged', '{age}', 5, '{"keep": ["ill"], "mask": {"ill": {"pseudonym": "publication"}}}', stable => false);
SELECT kanon_alter_publication('x', keep_releases => 2);
SELECT kanon_drop_publication('x');
SET client_min_messages = warning;
DROP SCHEMA company_test CASCADE;
