CREATE FUNCTION @extschema@.kanon_transactions(
    source            regclass,
    target            text,
    items             name,
    k                 bigint   DEFAULT NULL,
    method            text     DEFAULT 'apriori',
    m                 int      DEFAULT NULL,
    p                 int      DEFAULT NULL,
    h                 float8   DEFAULT NULL,
    rho               float8   DEFAULT NULL,
    transaction       name     DEFAULT NULL,
    hierarchy         regclass DEFAULT NULL,
    sensitive         text[]   DEFAULT NULL,
    sensitive_items   regclass DEFAULT NULL,
    keep              name[]   DEFAULT '{}',
    allow_identifying name[]   DEFAULT '{}',
    mask              jsonb    DEFAULT NULL,
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false,
    time_limit        interval DEFAULT '60 seconds')
RETURNS TABLE (transactions bigint, empty_transactions bigint, items_before bigint, items_shown bigint,
               items_suppressed bigint, occurrences bigint, occurrences_suppressed bigint, ncp float8,
               lower_bound float8, proven boolean, frequent_sets int, frequent_preserved int)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_transactions';

COMMENT ON FUNCTION @extschema@.kanon_transactions(regclass, text, name, bigint, text, int, int, float8, float8, name, regclass, text[], regclass, name[], name[], jsonb, boolean, boolean, interval)
IS 'publishes sets of items, such as diagnoses or baskets: k^m-anonymity, (h,k,p)-coherence or rho-uncertainty';
