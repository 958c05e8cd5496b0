CREATE FUNCTION @extschema@.kanon_full_domain(
    source            regclass,
    target            text,
    quasi_identifiers name[],
    k                 bigint,
    method            text     DEFAULT 'flash',
    suppression_limit float8   DEFAULT 0,
    metric            text     DEFAULT 'loss',
    workers           int      DEFAULT NULL,
    explore           boolean  DEFAULT false,
    known_columns     int      DEFAULT NULL,
    combinations      text[]   DEFAULT NULL,
    missing           text     DEFAULT NULL,
    keep              name[]   DEFAULT '{}',
    allow_identifying name[]   DEFAULT '{}',
    mask              jsonb    DEFAULT NULL,
    weights           @extschema@.kanon_weights DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    residual          text     DEFAULT 'fill',
    class_column      name     DEFAULT NULL,
    mark              boolean  DEFAULT false,
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false,
    time_limit        interval DEFAULT '60 seconds')
RETURNS TABLE (pattern text, verdict text, metric_value float8, suppressed_rows bigint, classes bigint,
               lattice_nodes bigint, nodes_checked bigint, nodes_tagged bigint, workers int, solve_ms float8,
               metric_bound float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_full_domain';

COMMENT ON FUNCTION @extschema@.kanon_full_domain(regclass, text, name[], bigint, text, float8, text, int, boolean, int, text[], text, name[], name[], jsonb, @extschema@.kanon_weights, jsonb, jsonb[], name[], text, name, boolean, boolean, boolean, interval)
IS 'publishes a table k-anonymously with every row generalized to the same levels, the optimal ones by a metric';

CREATE FUNCTION @extschema@.kanon_subtree(
    source            regclass,
    target            text,
    quasi_identifiers name[],
    k                 bigint,
    method            text     DEFAULT 'top_down',
    scheme            text     DEFAULT 'subtree',
    keep              name[]   DEFAULT '{}',
    allow_identifying name[]   DEFAULT '{}',
    mask              jsonb    DEFAULT NULL,
    weights           @extschema@.kanon_weights DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    class_column      name     DEFAULT NULL,
    mark              boolean  DEFAULT false,
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false,
    time_limit        interval DEFAULT '60 seconds')
RETURNS TABLE (column_name name, level int, shown text, row_count bigint, classes bigint, cost float8,
               lower_bound float8, proven boolean, gcp float8, cuts_checked bigint, solve_ms float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_subtree';

COMMENT ON FUNCTION @extschema@.kanon_subtree(regclass, text, name[], bigint, text, text, name[], name[], jsonb, @extschema@.kanon_weights, jsonb, jsonb[], name[], name, boolean, boolean, boolean, interval)
IS 'publishes a table k-anonymously with one cut through each hierarchy: a value shows the same in every row';
