CREATE FUNCTION @extschema@.kanon_check_transactions(
    relation          regclass,
    items             name,
    k                 bigint   DEFAULT 2,
    m                 int      DEFAULT 2,
    transaction       name     DEFAULT NULL,
    sensitive         text[]   DEFAULT NULL,
    sensitive_items   regclass DEFAULT NULL,
    show_values       boolean  DEFAULT false)
RETURNS TABLE (promise text, size int, sets bigint, sets_below_k bigint, smallest bigint, transactions bigint,
               share float8, cohort bigint, known text[], item text)
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_check_transactions';

COMMENT ON FUNCTION @extschema@.kanon_check_transactions(regclass, name, bigint, int, name, text[], regclass, boolean)
IS 'counts what a table of sets of items keeps: the smallest support by size, the worst cohorts for h and rho';
