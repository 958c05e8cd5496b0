CREATE FUNCTION @extschema@.kanon_pattern_clustering(
    source            regclass,
    target            text,
    quasi_identifiers name[],
    k                 bigint,
    method            text     DEFAULT 'exact',
    patterns          text[]   DEFAULT NULL,
    rules             jsonb    DEFAULT NULL,
    gap               float8   DEFAULT 0,
    effort            float8   DEFAULT 1,
    keep              name[]   DEFAULT '{}',
    allow_identifying name[]   DEFAULT '{}',
    mask              jsonb    DEFAULT NULL,
    weights           @extschema@.kanon_weights DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    level_cost        text     DEFAULT 'ncp',
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    class_column      name     DEFAULT NULL,
    mark              boolean  DEFAULT false,
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false,
    time_limit        interval DEFAULT '60 seconds',
    seed              bigint   DEFAULT NULL)
RETURNS TABLE (pattern text, cost float8, classes bigint, row_count bigint, suppressed_cells bigint)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_pattern_clustering';

COMMENT ON FUNCTION @extschema@.kanon_pattern_clustering(regclass, text, name[], bigint, text, text[], jsonb, float8, float8, name[], name[], jsonb, @extschema@.kanon_weights, jsonb, text, jsonb[], name[], name, boolean, boolean, boolean, interval, bigint)
IS 'publishes a table as few homogeneous clusters: each listed pattern is used by one class at most';

CREATE FUNCTION @extschema@.kanon_cluster(
    source            regclass,
    target            text,
    quasi_identifiers name[],
    k                 bigint,
    method            text     DEFAULT 'mondrian',
    show              text     DEFAULT 'auto',
    partition_size    int      DEFAULT NULL,
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
RETURNS TABLE (classes bigint, row_count bigint, dropped_rows bigint, class_min bigint, class_avg float8,
               class_max bigint, cost float8, lower_bound float8, guarantee float8, gcp float8, usefulness float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_cluster';

COMMENT ON FUNCTION @extschema@.kanon_cluster(regclass, text, name[], bigint, text, text, int, name[], name[], jsonb, @extschema@.kanon_weights, jsonb, text, jsonb[], name[], text, name, boolean, boolean, boolean, interval, bigint)
IS 'publishes a table in classes of any shape, by partitioning (Mondrian) or clustering, some with a proven guarantee';
