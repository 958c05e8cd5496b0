/* ---- choosing: what several ks would cost, and where the cost of one comes from ---- */

CREATE FUNCTION @extschema@.kanon_frontier(
    source            regclass,
    quasi_identifiers name[],
    ks                bigint[],
    method            text     DEFAULT 'greedy',
    patterns          text[]   DEFAULT NULL,
    rules             jsonb    DEFAULT NULL,
    gap               float8   DEFAULT 0,
    effort            float8   DEFAULT 1,
    keep              name[]   DEFAULT '{}',
    weights           @extschema@.kanon_weights DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    level_cost        text     DEFAULT 'ncp',
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    residual          text     DEFAULT 'fill',
    time_limit        interval DEFAULT '60 seconds',
    seed              bigint   DEFAULT NULL,
    model            text     DEFAULT 'pattern_guided',
    options           jsonb    DEFAULT NULL)
RETURNS TABLE (k bigint, suppressed_cells bigint, suppressed_share float8, usefulness float8, gcp float8,
               classes bigint, class_min bigint, class_avg float8, class_max bigint,
               residual_rows bigint, cost float8, proven boolean, solve_ms float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_frontier';

COMMENT ON FUNCTION @extschema@.kanon_frontier(regclass, name[], bigint[], text, text[], jsonb, float8, float8, name[], @extschema@.kanon_weights, jsonb, text, jsonb[], name[], text, interval, bigint, text, jsonb)
IS 'loss of a release for each of several ks, by any model; reads the source once and writes nothing';

CREATE FUNCTION @extschema@.kanon_explain(
    source            regclass,
    quasi_identifiers name[],
    k                 bigint,
    method            text     DEFAULT 'greedy',
    patterns          text[]   DEFAULT NULL,
    rules             jsonb    DEFAULT NULL,
    gap               float8   DEFAULT 0,
    effort            float8   DEFAULT 1,
    with_values       boolean  DEFAULT false,
    keep              name[]   DEFAULT '{}',
    weights           @extschema@.kanon_weights DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    level_cost        text     DEFAULT 'ncp',
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    residual          text     DEFAULT 'fill',
    time_limit        interval DEFAULT '60 seconds',
    seed              bigint   DEFAULT NULL,
    model            text     DEFAULT 'pattern_guided',
    options           jsonb    DEFAULT NULL)
RETURNS TABLE (aspect text, subject text, row_count bigint, suppressed_cells bigint, cost float8,
               saved_cells bigint, detail text, shown jsonb)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_explain';

COMMENT ON FUNCTION @extschema@.kanon_explain(regclass, name[], bigint, text, text[], jsonb, float8, float8, boolean, name[], @extschema@.kanon_weights, jsonb, text, jsonb[], name[], text, interval, bigint, text, jsonb)
IS 'columns and patterns that cause the cost of a release, and changes that would lower it; any model; writes nothing';

CREATE FUNCTION @extschema@.kanon_option_list()
RETURNS TABLE (function text, place int, option text, type regtype, initial text)
LANGUAGE C STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_option_list';

COMMENT ON FUNCTION @extschema@.kanon_option_list()
IS 'the options of the functions that publish or try, and of publications: kanon_FUNCTION has them after k, in this order';
