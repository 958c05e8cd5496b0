CREATE FUNCTION @extschema@.kanon_pattern_guided(
    source            regclass,
    target            text,
    quasi_identifiers name[],
    k                 bigint,
    method            text     DEFAULT 'greedy',
    patterns          text[]   DEFAULT NULL,
    rules             jsonb    DEFAULT NULL,
    gap               float8   DEFAULT 0,
    effort            float8   DEFAULT 1,
    partition_by      name     DEFAULT NULL,
    known_columns     int      DEFAULT NULL,
    combinations      text[]   DEFAULT NULL,
    missing           text     DEFAULT NULL,
    keep              name[]   DEFAULT '{}',
    allow_identifying name[]   DEFAULT '{}',
    mask              jsonb    DEFAULT NULL,
    weights           @extschema@.kanon_weights DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    level_cost        text     DEFAULT 'ncp',
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    residual          text     DEFAULT 'fill',
    class_column      name     DEFAULT NULL,
    mark              boolean  DEFAULT false,
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false,
    time_limit        interval DEFAULT '60 seconds',
    seed              bigint   DEFAULT NULL)
RETURNS TABLE (pattern text, cost float8, classes bigint, row_count bigint, suppressed_cells bigint)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_pattern_guided';

COMMENT ON FUNCTION @extschema@.kanon_pattern_guided(regclass, text, name[], bigint, text, text[], jsonb, float8, float8, name, int, text[], text, name[], name[], jsonb, @extschema@.kanon_weights, jsonb, text, jsonb[], name[], text, name, boolean, boolean, boolean, interval, bigint)
IS 'publishes a table k-anonymously: every row under one of the allowed patterns, as few cells lost as can be';
