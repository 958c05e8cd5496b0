CREATE FUNCTION @extschema@.kanon_anatomy(
    source            regclass,
    quasi_target      text,
    sensitive_target  text,
    quasi_identifiers name[],
    sensitive         name,
    l                 int,
    view              text     DEFAULT NULL,
    allow_identifying name[]   DEFAULT '{}',
    mask              jsonb    DEFAULT NULL,
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false)
RETURNS TABLE (row_count bigint, sensitive_values bigint, groups bigint, group_min bigint, group_max bigint,
               reconstruction_error float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_anatomy';

COMMENT ON FUNCTION @extschema@.kanon_anatomy(regclass, text, text, name[], name, int, text, name[], jsonb, boolean, boolean)
IS 'publishes rows as they are in one table and their sensitive values, by groups of rows with l values, in another';
