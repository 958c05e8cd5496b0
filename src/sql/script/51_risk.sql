/* ---- risk of any relation ---- */

CREATE FUNCTION @extschema@.kanon_risk(
    relation          regclass,
    quasi_identifiers name[],
    sensitive         name[]     DEFAULT '{}',
    subject           name       DEFAULT NULL,
    population        regclass   DEFAULT NULL,
    threshold         float8     DEFAULT 0.2,
    hierarchies       jsonb      DEFAULT NULL,
    sampling_fraction float8     DEFAULT NULL,
    presence          jsonb      DEFAULT NULL,
    weights           name       DEFAULT NULL,
    household         name       DEFAULT NULL,
    special_uniques   int        DEFAULT NULL)
RETURNS TABLE (measure text, sensitive_column name, value float8, meaning text)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_risk';

COMMENT ON FUNCTION @extschema@.kanon_risk(regclass, name[], name[], name, regclass, float8, jsonb, float8, jsonb, name, name, int)
IS 'the risk of a relation, one measure per row: class sizes, chances of finding a person, sensitive values';

CREATE FUNCTION @extschema@.kanon_special_uniques(
    relation          regclass,
    quasi_identifiers name[],
    key               name,
    size              int DEFAULT 3)
RETURNS TABLE (key_value text, minimal_uniques bigint[], suda_score float8)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_special_uniques';

COMMENT ON FUNCTION @extschema@.kanon_special_uniques(regclass, name[], name, int)
IS 'for the owner of a relation: the rows that few columns tell from all others, how many sets of columns do, and their SUDA scores';

CREATE FUNCTION @extschema@.kanon_risk_columns(
    relation  regclass,
    columns   name[],
    supersets boolean DEFAULT false)
RETURNS TABLE (subset name[], classes bigint, unique_rows bigint, distinction float8, separation float8)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_risk_columns';

COMMENT ON FUNCTION @extschema@.kanon_risk_columns(regclass, name[], boolean)
IS 'which one, two or three of the columns tell rows apart, most identifying first, without sets of which a part does as well';

CREATE FUNCTION @extschema@.kanon_suggest(relation regclass)
RETURNS TABLE (column_name name, role text, why text, type text, distinct_values bigint, own_share float8,
               nulls bigint, tells name[], label text)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_suggest';

COMMENT ON FUNCTION @extschema@.kanon_suggest(regclass)
IS 'for each column of a relation the role that fits (identifier, quasi-identifier, sensitive, harmless), why, and the label to copy';

CREATE FUNCTION @extschema@.kanon_suggest_call(
    relation          regclass,
    target            text     DEFAULT NULL,
    k                 bigint   DEFAULT 5,
    linked            boolean  DEFAULT false)
RETURNS text
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_suggest_call';

COMMENT ON FUNCTION @extschema@.kanon_suggest_call(regclass, text, bigint, boolean)
IS 'a call of kanon_pattern_guided, or of kanon_linked for all tables that join, by the roles that kanon_suggest finds';

CREATE FUNCTION @extschema@.kanon_label(relation regclass, column_name name, role text)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_label';

COMMENT ON FUNCTION @extschema@.kanon_label(regclass, name, text)
IS 'writes the role of a column as a SECURITY LABEL of kanon: identifier, quasi-identifier, sensitive or keep; NULL takes it away';
