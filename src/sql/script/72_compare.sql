/* ---- what was published, to be compared ---- */

CREATE FUNCTION @extschema@.kanon_attack(
    source            regclass,
    target            regclass,
    key               name,
    known             name[],
    trials            int        DEFAULT 1000,
    hierarchies       jsonb      DEFAULT NULL,
    knowledge         text       DEFAULT 'columns')
RETURNS TABLE (measure text, value float8, meaning text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_attack';

COMMENT ON FUNCTION @extschema@.kanon_attack(regclass, regclass, name, name[], int, jsonb, text)
IS 'tries linkage out: how often an attacker who knows some columns of random persons picks their records, beside what was promised; or counts what knowing the method tells';

CREATE FUNCTION @extschema@.kanon_compare(
    source            regclass,
    target            regclass,
    quasi_identifiers name[],
    keep              name[]   DEFAULT '{}',
    hierarchies       jsonb    DEFAULT NULL,
    queries           int      DEFAULT 1000,
    selectivity       float8   DEFAULT 0.05,
    seed              bigint   DEFAULT NULL)
RETURNS TABLE (measure text, column_name name, before float8, after float8, value float8, meaning text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_compare';

COMMENT ON FUNCTION @extschema@.kanon_compare(regclass, regclass, name[], name[], jsonb, int, float8, bigint)
IS 'distance of a published table from its source, for analysts: distributions, means, correlations, counts';

CREATE FUNCTION @extschema@.kanon_distributions(
    source            regclass,
    target            regclass,
    quasi_identifiers name[],
    k                 bigint,
    keep              name[]   DEFAULT '{}',
    hierarchies       jsonb    DEFAULT NULL)
RETURNS TABLE (column_name name, bar text, before float8, after float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_distributions';

COMMENT ON FUNCTION @extschema@.kanon_distributions(regclass, regclass, name[], bigint, name[], jsonb)
IS 'how many rows have which values, before and after, with k or more rows behind each bar';

CREATE FUNCTION @extschema@.kanon_checksum(relation regclass)
RETURNS text
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_checksum';

COMMENT ON FUNCTION @extschema@.kanon_checksum(regclass)
IS 'SHA-256 of the rows of a relation as COPY writes them, sorted by their bytes';
