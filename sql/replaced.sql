-- A table that is replaced keeps what stood on it; what cannot come along is named.
CREATE EXTENSION IF NOT EXISTS kanon;
SET client_min_messages = notice;
CREATE TABLE rp_source AS SELECT i AS id, i % 20 AS a, i % 2 AS b, 'x' || i % 3 AS ward FROM generate_series(1, 400) i;
SELECT classes FROM kanon_pattern_guided('rp_source', 'rp', '{a,b}', 5, keep => '{ward}');
CREATE FUNCTION stands() RETURNS TABLE (what text) LANGUAGE sql AS $$
    SELECT format('publication %s %s %s', p.pubname, r.prattrs, pg_get_expr(r.prqual, r.prrelid)) FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
    WHERE r.prrelid = 'rp'::regclass
    UNION ALL SELECT format('identity %s, options %s, toast %s', relreplident, c.reloptions, (SELECT t.reloptions FROM pg_class t WHERE t.oid = c.reltoastrelid))
    FROM pg_class c WHERE oid = 'rp'::regclass
    UNION ALL SELECT pg_get_statisticsobjdef(oid) FROM pg_statistic_ext WHERE stxrelid = 'rp'::regclass
    UNION ALL SELECT format('column %s %s', attname, attstattarget) FROM pg_attribute WHERE attrelid = 'rp'::regclass AND attstattarget > 0
    UNION ALL SELECT format('label %s %s %s', provider, objsubid, label) FROM pg_seclabel WHERE objoid = 'rp'::regclass ORDER BY 1
$$;
SET client_min_messages = error;
CREATE PUBLICATION rp_whole FOR TABLE rp;
CREATE PUBLICATION rp_part FOR TABLE rp (a, b) WHERE (a > 3 AND b < 7);
SET client_min_messages = notice;
ALTER TABLE rp REPLICA IDENTITY FULL;
ALTER TABLE rp SET (fillfactor = 70, autovacuum_vacuum_threshold = 7, toast.autovacuum_enabled = off);
ALTER TABLE rp ALTER a SET STATISTICS 17;
CREATE STATISTICS "rp Stats" (ndistinct) ON a, b FROM rp;
CREATE STATISTICS rp_expression ON (a + b) FROM rp;
SELECT kanon_label('rp', 'a', 'quasi-identifier');
SELECT * FROM stands();
SELECT classes FROM kanon_pattern_guided('rp_source', 'rp', '{a,b}', 5, keep => '{ward}', replace => true);
SELECT * FROM stands();
-- with a column of another type, without one, and more that goes with the table
CREATE TABLE rp_log (a int);
CREATE FUNCTION rp_said() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER rp_trigger AFTER INSERT ON rp FOR EACH STATEMENT EXECUTE FUNCTION rp_said();
CREATE RULE rp_rule AS ON INSERT TO rp DO ALSO INSERT INTO rp_log VALUES (NEW.a);
CREATE INDEX rp_index ON rp ((a + 1), b) WHERE b > 0;
CREATE INDEX "rp Index" ON rp (a);
ALTER TABLE rp ADD CONSTRAINT rp_check CHECK (a > -1), REPLICA IDENTITY NOTHING;
SELECT classes FROM kanon_pattern_guided('rp_source', 'rp', '{a}', 5, keep => '{ward}', replace => true);
SELECT * FROM stands();

DROP PUBLICATION rp_part, rp_whole;
DROP TABLE rp;
-- publications of another role
SELECT classes FROM kanon_pattern_guided('rp_source', 'rp', '{a,b}', 5, keep => '{ward}');
CREATE ROLE rp_owner;
SET client_min_messages = error;
CREATE PUBLICATION rp_others FOR TABLE rp;
SET client_min_messages = notice;
ALTER TABLE rp OWNER TO rp_owner;
GRANT SELECT ON rp_source TO rp_owner;
GRANT ALL ON SCHEMA public TO rp_owner;
SET ROLE rp_owner;
SELECT classes FROM kanon_pattern_guided('rp_source', 'rp', '{a,b}', 5, keep => '{ward}', replace => true);
RESET ROLE;
SELECT * FROM stands();
DROP PUBLICATION rp_others;
DROP TABLE rp, rp_source, rp_log;
DROP FUNCTION stands, rp_said;
REVOKE ALL ON SCHEMA public FROM rp_owner;
DROP ROLE rp_owner;
