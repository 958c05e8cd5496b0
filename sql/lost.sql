-- nothing that was published is out of sight: whatever becomes of a publication's objects, status, list, releases and
-- refresh_all show the view that readers go on reading, with what is wrong and the statement that mends it
CREATE ROLE kanon_lost_publisher;
CREATE ROLE kanon_lost_other;
CREATE ROLE kanon_lost_reader;
CREATE SCHEMA lost_own AUTHORIZATION kanon_lost_publisher;
GRANT USAGE, CREATE ON SCHEMA lost_own TO kanon_lost_other;
GRANT USAGE ON SCHEMA lost_own TO kanon_lost_reader;
SET client_min_messages = warning;
SET ROLE kanon_lost_publisher;
SET search_path = lost_own, public;
CREATE TABLE t AS SELECT i AS id, i % 5 AS a, 'z' || i % 4 AS b FROM generate_series(1, 240) i;
SELECT kanon_create_publication('lost_own.p', 'lost_own.t', '{a,b}', 3);
SELECT kanon_create_publication('lost_own.fine', 'lost_own.t', '{a}', 3);
GRANT SELECT ON p TO kanon_lost_reader;
RESET ROLE;
CREATE VIEW wrong AS SELECT 'status' AS asked, publication_name AS publication, status, problem, remedy FROM kanon_publication_status()
UNION ALL SELECT 'list', publication, NULL, problem, remedy FROM kanon_publications
UNION ALL SELECT 'releases', publication, status, message, hint FROM kanon_releases WHERE release IS NULL;
GRANT SELECT ON wrong TO PUBLIC;
-- what is said after a change; the remedy is taken, and everything is well again
CREATE FUNCTION after(change text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    one record;
    mend text;
BEGIN
    EXECUTE change;
    FOR one IN SELECT * FROM wrong WHERE problem IS NOT NULL ORDER BY publication, asked LOOP
        RETURN NEXT concat_ws(' | ', one.asked, one.publication, one.status, one.problem, one.remedy);
        mend := one.remedy;
    END LOOP;
    BEGIN
        PERFORM kanon_refresh('lost_own.p');
        RETURN NEXT 'refresh: ' || coalesce((SELECT status FROM kanon_publication_status('lost_own.p')), 'gone');
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS one.problem = PG_EXCEPTION_DETAIL, one.remedy = PG_EXCEPTION_HINT;
        RETURN NEXT concat_ws(' | ', 'refresh: ' || sqlstate || ' ' || sqlerrm, one.problem, one.remedy);
    END;
    EXECUTE coalesce(mend, 'SELECT');
    RETURN NEXT 'mended: ' || coalesce((SELECT string_agg(concat_ws(' ', publication_name, status), ', ') FROM kanon_publication_status()), 'none');
    RAISE EXCEPTION USING ERRCODE = 'ZZ001';
EXCEPTION WHEN SQLSTATE 'ZZ001' THEN
END $$;
\pset format unaligned
\pset tuples_only on
SELECT after('SELECT');
SELECT after('ALTER VIEW p OWNER TO kanon_lost_other');
SELECT after('ALTER TABLE p_publication OWNER TO kanon_lost_other');
SELECT after('ALTER TABLE p_history OWNER TO kanon_lost_other');
SELECT after('ALTER VIEW p_source OWNER TO kanon_lost_other');
SELECT after('ALTER TABLE p_release_1 OWNER TO kanon_lost_other');
SELECT after('ALTER VIEW p OWNER TO kanon_lost_other; ALTER TABLE p_publication OWNER TO kanon_lost_other');
SELECT after('DROP TABLE p_publication');
SELECT after('DELETE FROM p_publication');
SELECT after('INSERT INTO p_publication SELECT * FROM p_publication');
SELECT after('ALTER TABLE p_publication DROP COLUMN options');
SELECT after('DROP TABLE p_history');
SELECT after('TRUNCATE p_history');
SELECT after('DROP VIEW p_source');
SELECT after('DROP VIEW p');
-- the view's owner writes something else into it, over the same release
SELECT after('CREATE OR REPLACE VIEW p AS SELECT a, b FROM p_release_1 WHERE a < 3');
SELECT after('CREATE OR REPLACE VIEW p AS SELECT a, b FROM p_release_1 LIMIT 5');
SELECT after('CREATE OR REPLACE VIEW p AS SELECT a, b FROM p_release_1 OFFSET 1');
SELECT after('CREATE OR REPLACE VIEW p AS SELECT DISTINCT a, b FROM p_release_1');
SELECT after('CREATE OR REPLACE VIEW p AS SELECT a, b FROM p_release_1 GROUP BY a, b');
SELECT after('CREATE OR REPLACE VIEW p AS SELECT a, b FROM p_release_1 TABLESAMPLE system (50)');
SELECT after('CREATE OR REPLACE VIEW p AS SELECT a, b FROM p_release_1 UNION ALL SELECT a, b FROM p_release_1');
SELECT after('CREATE OR REPLACE VIEW p AS SELECT x.a, y.b FROM p_release_1 x, p_release_1 y');
SELECT after('CREATE OR REPLACE VIEW p AS WITH x AS (SELECT * FROM p_release_1) SELECT a, b FROM x');
SELECT after('CREATE OR REPLACE VIEW p AS SELECT a, b FROM p_release_1 ORDER BY a');
SELECT after('CREATE OR REPLACE VIEW p AS SELECT a + 1 AS a, b FROM p_release_1');
SELECT after('CREATE OR REPLACE VIEW p AS SELECT a, b, 1 AS c FROM p_release_1');
SELECT after('ALTER VIEW p RENAME COLUMN a TO age');
SELECT after('ALTER VIEW p RENAME COLUMN a TO age; CREATE OR REPLACE VIEW p AS SELECT a AS age, b FROM p_release_1 WHERE a < 3');
SELECT after('DROP VIEW p; CREATE VIEW p AS SELECT 1 AS x; ALTER VIEW p OWNER TO kanon_lost_publisher');
SELECT after('DROP VIEW p; CREATE TABLE p (x int)');
SELECT after('CREATE OR REPLACE VIEW p AS SELECT a, b FROM t');
SELECT after('ALTER VIEW p RENAME TO q');
-- a view over a release of one's own is no publication
SELECT after('CREATE VIEW mine AS SELECT * FROM p_release_1');
-- each role sees its own: of the view, or of its releases; a reader asks by name
ALTER VIEW p OWNER TO kanon_lost_other;
SET ROLE kanon_lost_publisher;
SELECT asked, publication, status, problem, remedy FROM wrong ORDER BY publication, asked;
CALL kanon_refresh_all();
SELECT kanon_refresh('p');
SELECT kanon_alter_publication('p', k => 4);
SELECT kanon_drop_publication('p');
SELECT publication_name, status, problem FROM kanon_publication_status('p');
SET ROLE kanon_lost_other;
SELECT asked, publication, status, problem, remedy FROM wrong ORDER BY publication, asked;
CALL kanon_refresh_all();
SET ROLE kanon_lost_reader;
SELECT count(*) FROM wrong;
SELECT publication_name, status, problem, remedy FROM kanon_publication_status('p');
SELECT kanon_refresh('p');
CALL kanon_refresh_all();
RESET ROLE;
CALL kanon_refresh_all();
ALTER VIEW p OWNER TO kanon_lost_publisher;
CALL kanon_refresh_all();
-- a failure is told once, and others are named where there are some
TRUNCATE t;
CALL kanon_refresh_all();
SELECT kanon_drop_publication('fine');
CALL kanon_refresh_all();
-- what cannot be committed is recorded, too
INSERT INTO t SELECT i, i % 5, 'z' || i % 4 FROM generate_series(1, 300) i;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '23000'; END $$;
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON p_history DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'current') EXECUTE FUNCTION refuse();
CALL kanon_refresh_all();
SELECT status, failures, error FROM kanon_publication_status('p');
DROP TRIGGER late ON p_history;
CALL kanon_refresh_all();
SELECT status, failures, error FROM kanon_publication_status('p');
-- a definition that somebody plants is not believed
SET ROLE kanon_lost_other;
CREATE TABLE planted AS SELECT 'lost_own.p'::text AS name, 'p'::regclass AS published, '{}'::kanon_options AS options;
SELECT count(*) FROM wrong;
RESET ROLE;
SELECT count(*) FROM wrong WHERE problem IS NOT NULL;
SELECT kanon_drop_publication('p');
DROP OWNED BY kanon_lost_publisher, kanon_lost_other, kanon_lost_reader CASCADE;
DROP ROLE kanon_lost_publisher, kanon_lost_other, kanon_lost_reader;
