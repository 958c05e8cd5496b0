-- what a publication's owner may do by hand to its definition, history, tables, source and view: a refresh works or
-- says what is wrong, what is published is k-anonymous, and everything else that asks about it has an answer, too
CREATE ROLE kanon_publisher;
CREATE SCHEMA own AUTHORIZATION kanon_publisher;
GRANT CREATE ON SCHEMA public TO kanon_publisher;
SET ROLE kanon_publisher;
SET search_path = own, public;
SET client_min_messages = error;
CREATE TABLE t AS SELECT i AS id, i % 5 AS a, 'z' || i % 4 AS b, 'd' || i % 3 AS note FROM generate_series(1, 240) i;
SELECT kanon_create_publication('own.p', 'own.t', '{a,b}', 3, '{"keep": ["note"]}', keep_releases => 3, stable => true, key => 'id', protect_successive => true);
UPDATE p_history SET digest = NULL; -- as if something had changed, here and below
SELECT status FROM kanon_refresh('own.p');
-- What a call says, in one line.
CREATE FUNCTION answer(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text; detail text; hint text;
BEGIN
    EXECUTE call INTO said;
    RETURN coalesce(nullif(left(said, 300), ''), 'done');
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS said = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', SQLSTATE || ' ' || left(said, 120), CASE WHEN detail NOT LIKE 'Failing row%' THEN nullif(left(detail, 200), '') END, CASE WHEN hint NOT LIKE '%Known options%' THEN nullif(hint, '') END);
END $$;
-- What all say after a change, which is taken back.
CREATE FUNCTION said(change text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    said text[];
    refreshed text;
BEGIN
    EXECUTE change;
    BEGIN
        PERFORM answer('UPDATE p_history SET digest = NULL RETURNING 1');
        refreshed := 'refresh: ' || answer($q$SELECT concat_ws(' ', status, error, message, release, row_count, k, cost, held_persons) FROM kanon_refresh('own.p')$q$)
            || ': ' || answer('SELECT min(n) FROM (SELECT count(*) AS n FROM (SELECT to_jsonb(p) - ''note'' AS shown FROM p) AS s GROUP BY shown) AS g')
            || ', ' || answer($q$SELECT string_agg(coalesce(k::text, 'no k'), ' ') FROM kanon_releases WHERE status = 'current'$q$);
        RAISE EXCEPTION USING ERRCODE = 'ZZ001', MESSAGE = refreshed;
    EXCEPTION WHEN SQLSTATE 'ZZ001' THEN
    END;
    said := ARRAY[refreshed,
        'list: ' || answer($q$SELECT string_agg(concat_ws(' ', publication, published, source, left(model, 18), quasi_identifiers, k, left(options::text, 20), keep_releases, stable, protect_successive, left(key, 18), release), '; ') FROM kanon_publications$q$),
        'releases: ' || answer($q$SELECT string_agg(concat_ws(' ', release, status, row_count, k, cost, relation), '; ' ORDER BY release, status) FROM kanon_releases$q$),
        'status: ' || answer($q$SELECT string_agg(concat_ws(' ', publication_name, status, release, failures, error), '; ') FROM kanon_publication_status()$q$),
        'compare: ' || answer($q$SELECT string_agg(c::text, '; ') FROM kanon_compare_releases('own.p', 1, 2) AS c$q$),
        'alter: ' || answer($q$SELECT kanon_alter_publication('own.p', k => 4, solve => false)$q$),
        'drop: ' || answer($q$SELECT kanon_drop_publication('own.p')$q$) || ' ' || answer($q$SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relname LIKE 'p\_%' AND relnamespace = 'own'::regnamespace$q$)];
    RAISE EXCEPTION USING ERRCODE = 'ZZ001', MESSAGE = said::text;
EXCEPTION
    WHEN SQLSTATE 'ZZ001' THEN RETURN sqlerrm::text[];
    WHEN OTHERS THEN RETURN ARRAY['cannot be done: ' || SQLSTATE];
END $$;
-- When nothing is changed, and of a change what is another answer.
CREATE TABLE usual AS SELECT said('') AS said;
SELECT unnest(said) FROM usual;
CREATE FUNCTION try(change text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(line, E'\n  ' ORDER BY n) FROM usual, unnest(said(change)) WITH ORDINALITY AS s (line, n) WHERE line <> ALL (usual.said)
$$;
\pset format unaligned
\pset tuples_only on
SELECT change || coalesce(E'\n  ' || try(change), ': as usual') FROM unnest(string_to_array($$UPDATE p_publication SET k = -1
UPDATE p_publication SET k = 1
UPDATE p_publication SET k = 9223372036854775807
UPDATE p_publication SET keep_releases = -5
UPDATE p_publication SET keep_releases = 0
UPDATE p_publication SET quasi_identifiers = '{}'
UPDATE p_publication SET quasi_identifiers = '{{a},{b}}'
UPDATE p_publication SET quasi_identifiers = '{a,NULL}'
UPDATE p_publication SET quasi_identifiers = '{a,a}'
UPDATE p_publication SET quasi_identifiers = '{nope}'
UPDATE p_publication SET options = '[]'
UPDATE p_publication SET options = '{"keep": 5}'
UPDATE p_publication SET options = '{"privacy": [null, 5, {}]}'
UPDATE p_publication SET options = '{"dry_run": true}'
UPDATE p_publication SET options = '{"replace": true}'
UPDATE p_publication SET options = '{"keep": ["id"]}'
UPDATE p_publication SET options = '{"keep": [], "mark": true}'
UPDATE p_publication SET model = ''
UPDATE p_publication SET model = 'check'
UPDATE p_publication SET model = 'freeform'
UPDATE p_publication SET model = 'cluster'
UPDATE p_publication SET model = 'full_domain'
UPDATE p_publication SET model = repeat('x', 100000)
UPDATE p_publication SET name = repeat('x', 100000)
UPDATE p_publication SET key = 'nope'
UPDATE p_publication SET key = 'a'
UPDATE p_publication SET key = NULL
UPDATE p_publication SET key = repeat('x', 1000)
UPDATE p_publication SET history = NULL
UPDATE p_publication SET history = 't'
UPDATE p_publication SET history = 'p'
UPDATE p_publication SET history = 'p_publication'
UPDATE p_publication SET source = NULL
UPDATE p_publication SET source = 'p'
UPDATE p_publication SET source = 't'
UPDATE p_publication SET published = NULL
UPDATE p_publication SET published = 'p_source'
UPDATE p_publication SET published = 't'
DELETE FROM p_publication
INSERT INTO p_publication SELECT * FROM p_publication
ALTER TABLE p_publication DROP COLUMN k
ALTER TABLE p_publication DROP COLUMN model
ALTER TABLE p_publication DROP COLUMN name
ALTER TABLE p_publication ALTER k TYPE text
ALTER TABLE p_publication ALTER published TYPE oid USING 1
ALTER TABLE p_publication ALTER quasi_identifiers TYPE text[] USING '{a}'
ALTER TABLE p_publication ALTER options TYPE jsonb
ALTER TABLE p_history DROP COLUMN release
ALTER TABLE p_history DROP COLUMN status
ALTER TABLE p_history ALTER relation TYPE oid USING 1
UPDATE p_history SET status = 'current'
UPDATE p_history SET status = 'failed'
UPDATE p_history SET status = NULL
ALTER TABLE p_history ALTER status DROP NOT NULL
TRUNCATE p_history
DROP TABLE p_history
UPDATE p_history SET release = -9223372036854775808
UPDATE p_history SET release = 7
UPDATE p_history SET persons = 't'
UPDATE p_history SET types = 't'
UPDATE p_history SET relation = 't'
UPDATE p_history SET persons = relation
UPDATE p_history SET types = persons
UPDATE p_history SET relation = 'p_publication'
UPDATE p_history SET persons = 'p_history', types = 'p_history', relation = 'p_history'
UPDATE p_history SET started = '294276-12-31', finished = '4713-01-02 BC', cost = 'NaN', row_count = -1, k = -1
ALTER TABLE p_persons_2 ALTER class TYPE text
ALTER TABLE p_persons_2 DROP COLUMN class
ALTER TABLE p_persons_2 DROP COLUMN key
ALTER TABLE p_persons_2 ALTER key TYPE point USING '(1,1)'
ALTER TABLE p_types_2 ALTER a TYPE text
ALTER TABLE p_types_2 DROP COLUMN a
ALTER TABLE p_types_2 ALTER kanon__pattern TYPE int8 USING 4096
ALTER TABLE p_types_2 ALTER kanon__class TYPE text
UPDATE p_types_2 SET kanon__class = -5
UPDATE p_types_2 SET kanon__rows = 9223372036854775807
UPDATE p_types_2 SET kanon__rows = -1
UPDATE p_types_2 SET kanon__pattern = repeat('-', 10000)
UPDATE p_types_2 SET kanon__pattern = ''
UPDATE p_types_2 SET kanon__pattern = NULL
DROP TABLE p_persons_2
DROP TABLE p_types_2
DROP VIEW p; CREATE TABLE p (a int)
DROP VIEW p_source
DROP VIEW p_source; CREATE VIEW p_source AS SELECT 1 AS a
CREATE OR REPLACE VIEW p_source AS SELECT t.id, t.a, t.b, t.note FROM t, t AS u
CREATE OR REPLACE VIEW p_source AS SELECT id, a, b, note FROM t UNION SELECT id, a, b, note FROM t
DROP VIEW p_source; CREATE TABLE p_source AS SELECT * FROM t
CREATE OR REPLACE VIEW p AS SELECT * FROM p_release_1
ALTER VIEW p RENAME COLUMN a TO "A b"
CREATE RULE r AS ON INSERT TO p_history DO INSTEAD NOTHING
CREATE RULE r AS ON INSERT TO p_history DO ALSO SELECT 1
CREATE RULE r AS ON UPDATE TO p_history DO INSTEAD NOTHING
ALTER TABLE p_history ENABLE ROW LEVEL SECURITY; ALTER TABLE p_history FORCE ROW LEVEL SECURITY
ALTER TABLE p_publication ADD CHECK (false) NOT VALID
CREATE TABLE kid () INHERITS (p_history)
ALTER TABLE p_history RENAME TO q; CREATE VIEW p_history AS SELECT * FROM q
UPDATE p_publication SET model = 'cluster', options = '{"keep": ["note"], "method": "k_k"}'
UPDATE p_publication SET model = 'transactions'
UPDATE p_publication SET model = 'subtree', options = '{"keep": ["note"], "hierarchies": {"a": {"interval": [2]}, "b": {"prefix": [1]}}}'
UPDATE p_publication SET model = 'pattern_clustering'
UPDATE p_publication SET model = 'pattern_clustering', options = '{"keep": ["note"], "patterns": ["--", "**"]}'
UPDATE p_publication SET options = '{"keep": ["note"], "hierarchies": {"a": "nope"}}'
UPDATE p_publication SET options = '{"keep": ["note"], "hierarchies": {"a": "p"}}'
UPDATE p_publication SET options = '{"keep": ["note"], "privacy": [{"rule": "distinct_l", "column": "note", "l": 2}]}'
UPDATE p_publication SET options = '{"keep": ["note"], "privacy": [{"rule": "subject", "column": "id"}]}'
UPDATE p_publication SET options = '{"keep": ["note"], "mask": {"note": {"pseudonym": 1}}}'
UPDATE p_publication SET options = '{"keep": ["note"], "min_rows": 241}'
UPDATE p_publication SET options = '{"keep": ["note"], "min_rows": 240, "max_suppressed": 0, "max_gcp": 0.001, "max_row_change": 0}'
UPDATE p_publication SET quasi_identifiers = '{b,a}'
UPDATE p_publication SET quasi_identifiers = '{a}'
UPDATE p_publication SET quasi_identifiers = '{a,b,note}'
UPDATE p_publication SET k = 80
UPDATE p_publication SET stable = false
UPDATE p_publication SET protect_successive = false, key = NULL
UPDATE p_publication SET key = 'b'
UPDATE p_publication SET keep_releases = 1
UPDATE p_publication SET name = 'own.other'
UPDATE p_publication SET name = NULL
UPDATE p_history SET status = 'kept'
UPDATE p_history SET status = 'nonsense'
UPDATE p_history SET persons = NULL
UPDATE p_history SET types = NULL
UPDATE p_history SET relation = NULL
UPDATE p_history SET row_count = NULL, k = NULL, cost = NULL, started = NULL, finished = NULL
DELETE FROM p_history WHERE status = 'current'
DELETE FROM p_history WHERE status <> 'current'
INSERT INTO p_history SELECT * FROM p_history
UPDATE p_persons_2 SET class = NULL
UPDATE p_persons_2 SET key = NULL
UPDATE p_persons_2 SET class = 1
DELETE FROM p_persons_2
INSERT INTO p_persons_2 SELECT * FROM p_persons_2
UPDATE p_persons_1 SET class = -1
UPDATE p_types_2 SET kanon__class = NULL
UPDATE p_types_2 SET kanon__rows = NULL
UPDATE p_types_2 SET kanon__rows = 1
UPDATE p_types_2 SET kanon__pattern = '**'
UPDATE p_types_2 SET kanon__pattern = 'xx'
UPDATE p_types_2 SET a = NULL, b = NULL
DELETE FROM p_types_2
INSERT INTO p_types_2 SELECT * FROM p_types_2
DROP TABLE p_release_1
ALTER TABLE p_release_1 DROP COLUMN a
DELETE FROM t
DELETE FROM t WHERE id > 2
DELETE FROM t WHERE a = 1
UPDATE t SET id = NULL WHERE id = 1
UPDATE t SET id = 1
UPDATE t SET a = NULL
UPDATE t SET a = (a + id) % 5
ALTER TABLE t RENAME b TO c
ALTER VIEW p RENAME TO q
ALTER VIEW p SET SCHEMA public
ALTER TABLE p_publication RENAME TO q
REVOKE SELECT ON t FROM kanon_publisher$$, E'\n')) AS change;
SELECT kanon_drop_publication('own.p');
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM kanon_publisher;
DROP SCHEMA own CASCADE;
DROP ROLE kanon_publisher;
