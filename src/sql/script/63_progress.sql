CREATE FUNCTION kanon_internal.kanon_progress_list()
RETURNS TABLE (pid int, publication text, phase text, done bigint, total bigint, since timestamptz)
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_progress_list';

COMMENT ON FUNCTION kanon_internal.kanon_progress_list() IS 'behind kanon_progress';

CREATE VIEW @extschema@.kanon_progress WITH (security_barrier) AS
SELECT * FROM kanon_internal.kanon_progress_list();

GRANT SELECT ON @extschema@.kanon_progress TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_progress IS 'runs of yours that are under way, when kanon is in shared_preload_libraries';
COMMENT ON COLUMN @extschema@.kanon_progress.pid IS 'process of the session';
COMMENT ON COLUMN @extschema@.kanon_progress.publication IS 'the publication that is refreshed; NULL: a run of its own';
COMMENT ON COLUMN @extschema@.kanon_progress.phase IS 'the work at hand';
COMMENT ON COLUMN @extschema@.kanon_progress.done IS 'work done in this phase';
COMMENT ON COLUMN @extschema@.kanon_progress.total IS 'work of this phase in all; NULL: not known';
COMMENT ON COLUMN @extschema@.kanon_progress.since IS 'when the phase began';
