CREATE FUNCTION @extschema@.kanon_check(
    relation          regclass,
    quasi_identifiers name[])
RETURNS TABLE (k bigint, classes bigint, row_count bigint, unique_rows bigint, blank_rows bigint,
               avg_class float8, max_class bigint)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_check';

COMMENT ON FUNCTION @extschema@.kanon_check(regclass, name[])
IS 'how a relation groups by quasi-identifiers: the k it keeps, unique rows, class sizes';

CREATE FUNCTION @extschema@.kanon_check(
    relation          regclass,
    quasi_identifiers name[],
    known_columns     int,
    k                 bigint  DEFAULT 2,
    combinations      text[]  DEFAULT NULL,
    missing           text    DEFAULT 'value',
    subject           name    DEFAULT NULL)
RETURNS TABLE (size int, combinations_below_k bigint, smallest bigint, rows_below_k bigint)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_check_known';

COMMENT ON FUNCTION @extschema@.kanon_check(regclass, name[], int, bigint, text[], text, name)
IS 'combinations of values in few columns that fewer than k rows (or persons) have, by the number of columns';
