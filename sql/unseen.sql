-- private tables of publications: what everybody may read of them says nothing of how many persons there are
CREATE SCHEMA unseen_test;
SET search_path = unseen_test, public;
CREATE TABLE patients AS SELECT i AS id, i % 4 AS age, i / 4 % 5 AS zip, 'd' || i % 7 AS diagnosis FROM generate_series(1, 400) AS i;
SELECT kanon_create_publication('nightly', 'patients', '{age,zip}', 5, '{"keep": ["diagnosis"]}', key => 'id', keep_releases => 3, protect_successive => true);
INSERT INTO patients SELECT 400 + i, i % 4, i % 5, 'd' || i % 7 FROM generate_series(1, 40) AS i;
SELECT status FROM kanon_refresh('nightly');
SELECT persons FROM kanon_compare_releases('nightly', 1, 2);
SELECT pg_stat_force_next_flush();
CREATE ROLE kanon_test_onlooker;
GRANT USAGE ON SCHEMA unseen_test TO kanon_test_onlooker;
SET ROLE kanon_test_onlooker;
-- the releases' tables are read by others, and counted: so their plans are good ones
SELECT regexp_replace(c.relname, '_\d+$', '') AS private_table, count(*), max(c.reltuples) AS reltuples, max(c.relpages) AS relpages, max(s.n_tup_ins) AS inserted, max(s.n_live_tup) AS live, max(s.seq_tup_read) AS read,
    bool_and('autovacuum_enabled=off' = ANY (c.reloptions)) AS no_autovacuum, count(*) FILTER (WHERE has_table_privilege(c.oid, 'SELECT')) AS readable
FROM pg_class c LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid WHERE c.relnamespace = 'unseen_test'::regnamespace AND c.relname ~ 'persons|types|rows' AND c.relkind = 'r' GROUP BY 1 ORDER BY 1;
SELECT count(*) > 0 AS releases, bool_and(s.n_tup_ins > 0) AS counted, bool_and('autovacuum_enabled=off' = ANY (c.reloptions)) AS no_autovacuum
FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid WHERE c.relnamespace = 'unseen_test'::regnamespace AND c.relname ~ 'release' AND c.relkind = 'r';
RESET ROLE;
-- a superuser's job that leaves private tables out, as the page has it; one that does not, and the refresh after it
CREATE VIEW seen AS SELECT regexp_replace(c.relname, '_\d+$', '') AS private_table, count(*) FILTER (WHERE c.reltuples >= 0) AS told, max(c.reltuples) AS most
FROM pg_class c WHERE c.relnamespace = 'unseen_test'::regnamespace AND c.relname ~ 'persons|types|rows' AND c.relkind = 'r' GROUP BY 1 ORDER BY 1;
SELECT count(*) AS others FROM pg_class WHERE relnamespace = 'unseen_test'::regnamespace AND relkind IN ('r', 'm') AND ('autovacuum_enabled=off' = ANY (reloptions)) IS NOT TRUE;
SELECT format('VACUUM (ANALYZE) %s', oid::regclass) FROM pg_class WHERE relnamespace = 'unseen_test'::regnamespace
    AND relkind IN ('r', 'm') AND relpersistence <> 't' AND ('autovacuum_enabled=off' = ANY (reloptions)) IS NOT TRUE ORDER BY relname \gexec
SELECT * FROM seen;
SELECT format('ANALYZE %s', oid::regclass) FROM pg_class WHERE relnamespace = 'unseen_test'::regnamespace AND relkind = 'r' ORDER BY relname \gexec
SELECT * FROM seen;
INSERT INTO patients SELECT 440 + i, i % 4, i % 5, 'd' || i % 7 FROM generate_series(1, 40) AS i;
SELECT status FROM kanon_refresh('nightly');
SELECT * FROM seen;
-- what is counted of other tables is counted as before
SHOW track_counts;
SELECT kanon_drop_publication('nightly');
DROP OWNED BY kanon_test_onlooker;
DROP ROLE kanon_test_onlooker;
DROP SCHEMA unseen_test CASCADE;
