/* ---- freeform generalisation: k matches for each row and record, no classes ---- */

CREATE FUNCTION @extschema@.kanon_freeform(
    source            regclass,
    target            text,
    quasi_identifiers name[],
    k                 bigint,
    method            text     DEFAULT 'sort_greedy',
    partition_size    int      DEFAULT NULL,
    mutual            boolean  DEFAULT false,
    k_column          name     DEFAULT NULL,
    keep              name[]   DEFAULT '{}',
    allow_identifying name[]   DEFAULT '{}',
    mask              jsonb    DEFAULT NULL,
    weights           @extschema@.kanon_weights DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    mark              boolean  DEFAULT false,
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false,
    time_limit        interval DEFAULT '60 seconds',
    seed              bigint   DEFAULT NULL)
RETURNS TABLE (row_count bigint, partitions bigint, gcp float8, cost float8, lower_bound float8,
               proven boolean, workers int, solve_ms float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_freeform';

COMMENT ON FUNCTION @extschema@.kanon_freeform(regclass, text, name[], bigint, text, int, boolean, name, name[], name[], jsonb, @extschema@.kanon_weights, jsonb, jsonb[], name[], boolean, boolean, boolean, interval, bigint)
IS 'publishes a table so that every row matches k records and every record k rows, each equally likely: levels of hierarchies, ranges and sets, no classes';

CREATE FUNCTION @extschema@.kanon_check_freeform(
    source            regclass,
    target            regclass,
    quasi_identifiers name[],
    k                 bigint,
    k_column          name  DEFAULT NULL,
    known             int   DEFAULT NULL,
    sensitive         name  DEFAULT NULL,
    hierarchies       jsonb DEFAULT NULL)
RETURNS TABLE (row_count bigint, record_count bigint, row_matches bigint, record_matches bigint, regular boolean,
               candidates bigint, sensitive_values bigint, sensitive_share float8)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_check_freeform';

COMMENT ON FUNCTION @extschema@.kanon_check_freeform(regclass, regclass, name[], bigint, name, int, name, jsonb)
IS 'from a table and its freeform release alone: the fewest records a row matches, the fewest rows a record matches, whether k matches each can be equally likely, the fewest records left for a row when an attacker knows those of some others, and how the values of a column spread over the records that a row matches';
