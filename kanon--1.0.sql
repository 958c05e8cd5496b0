/* kanon--1.0.sql: what CREATE EXTENSION kanon makes. */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION kanon" to load this file. \quit

/*
 * The record of runs.  Written by the C functions as the owner of these tables;
 * everyone else sees them through the views below, each role its own runs.  No
 * foreign key between them: nothing else writes them.
 */
CREATE TABLE @extschema@.kanon_run (
    run               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started_at        timestamptz NOT NULL,
    run_by            regrole NOT NULL,
    source            text NOT NULL,
    target            text NOT NULL,
    k                 bigint NOT NULL,
    method            text NOT NULL,
    quasi_identifiers int NOT NULL,
    row_count         bigint NOT NULL,
    dropped_rows      bigint NOT NULL,
    row_types         bigint NOT NULL,
    patterns          bigint,
    suppressed_cells  bigint NOT NULL,
    usefulness        float8,
    classes           bigint NOT NULL,
    class_min         bigint,
    class_avg         float8,
    class_max         bigint,
    cost              float8 NOT NULL,
    lower_bound       float8,
    gap               float8,
    proven            boolean,
    nodes             bigint,
    read_ms           float8 NOT NULL,
    solve_ms          float8 NOT NULL,
    write_ms          float8 NOT NULL,
    verify_ms         float8 NOT NULL
);

CREATE TABLE @extschema@.kanon_run_class (
    run               bigint NOT NULL,
    class             int NOT NULL,
    pattern           text NOT NULL,
    row_count         bigint NOT NULL,
    suppressed_cells  bigint NOT NULL,
    tuple_diversity   float8 NOT NULL,
    shown             jsonb NOT NULL,
    PRIMARY KEY (run, class)
);

REVOKE ALL ON @extschema@.kanon_run, @extschema@.kanon_run_class FROM PUBLIC;

SELECT pg_catalog.pg_extension_config_dump('@extschema@.kanon_run', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.kanon_run_run_seq', '');
SELECT pg_catalog.pg_extension_config_dump('@extschema@.kanon_run_class', '');

COMMENT ON TABLE @extschema@.kanon_run IS 'one row per kanon run that wrote a table; read kanon_usefulness instead';
COMMENT ON TABLE @extschema@.kanon_run_class IS 'one row per class of a kanon run; read kanon_equivalence_classes instead';

CREATE VIEW @extschema@.kanon_usefulness WITH (security_barrier) AS
SELECT run, started_at, run_by, source, target, k, method, row_count, row_types, patterns,
       suppressed_cells,
       suppressed_cells::float8 / nullif((row_count - dropped_rows) * quasi_identifiers, 0) AS suppressed_share,
       usefulness, classes, class_min, class_avg, class_max,
       read_ms, solve_ms, write_ms, verify_ms, dropped_rows, cost, lower_bound, gap, proven, nodes
FROM @extschema@.kanon_run
WHERE pg_catalog.pg_has_role(run_by, 'MEMBER');

CREATE VIEW @extschema@.kanon_equivalence_classes WITH (security_barrier) AS
SELECT c.run, c.class, c.pattern, c.row_count, c.suppressed_cells, c.tuple_diversity, c.shown
FROM @extschema@.kanon_run_class c
JOIN @extschema@.kanon_run r USING (run)
WHERE pg_catalog.pg_has_role(r.run_by, 'MEMBER');

GRANT SELECT ON @extschema@.kanon_usefulness, @extschema@.kanon_equivalence_classes TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_usefulness IS 'one row per run that you or a role of yours made: what was lost, how large the classes are, how long it took';
COMMENT ON VIEW @extschema@.kanon_equivalence_classes IS 'one row per equivalence class of the runs in kanon_usefulness';

CREATE FUNCTION @extschema@.kanon_pattern_guided(
    source            regclass,
    target            text,
    quasi_identifiers name[],
    k                 bigint,
    patterns          text[]   DEFAULT NULL,
    keep              name[]   DEFAULT '{}',
    weights           float8[] DEFAULT NULL,
    method            text     DEFAULT 'greedy',
    categorical       name[]   DEFAULT '{}',
    residual          text     DEFAULT 'suppress',
    mark              boolean  DEFAULT false,
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false,
    rules             jsonb    DEFAULT NULL,
    time_limit        interval DEFAULT '60 seconds',
    gap               float8   DEFAULT 0,
    seed              bigint   DEFAULT 1,
    effort            float8   DEFAULT 1)
RETURNS TABLE (pattern text, cost float8, classes bigint, row_count bigint, suppressed_cells bigint)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_pattern_guided';

COMMENT ON FUNCTION @extschema@.kanon_pattern_guided(regclass, text, name[], bigint, text[], name[], float8[], text, name[], text, boolean, boolean, boolean, jsonb, interval, float8, bigint, float8)
IS 'publishes a table k-anonymously: every row under one of the allowed patterns, as few cells lost as can be';

CREATE FUNCTION @extschema@.kanon_check(
    relation          regclass,
    quasi_identifiers name[])
RETURNS TABLE (k bigint, classes bigint, row_count bigint, unique_rows bigint, blank_rows bigint,
               avg_class float8, max_class bigint)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_check';

COMMENT ON FUNCTION @extschema@.kanon_check(regclass, name[])
IS 'how a relation groups by quasi-identifiers: the k it keeps, unique rows, class sizes';

CREATE FUNCTION @extschema@.kanon_patterns(
    quasi_identifiers name[],
    max_suppressed    int      DEFAULT NULL,
    max_cost          float8   DEFAULT NULL,
    never             name[]   DEFAULT '{}',
    always            name[]   DEFAULT '{}',
    together          text[]   DEFAULT '{}',
    at_most_one       text[]   DEFAULT '{}',
    implies           text[]   DEFAULT '{}',
    weights           float8[] DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_patterns';

COMMENT ON FUNCTION @extschema@.kanon_patterns(name[], int, float8, name[], name[], text[], text[], text[], float8[])
IS 'the patterns that fulfil some rules, cheapest first, the all-suppressed one last';

CREATE FUNCTION @extschema@.kanon_rules(
    max_suppressed    int      DEFAULT NULL,
    max_cost          float8   DEFAULT NULL,
    never             name[]   DEFAULT '{}',
    always            name[]   DEFAULT '{}',
    together          text[]   DEFAULT '{}',
    at_most_one       text[]   DEFAULT '{}',
    implies           text[]   DEFAULT '{}')
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
        'max_suppressed', max_suppressed, 'max_cost', max_cost, 'never', never, 'always', always,
        'together', together, 'at_most_one', at_most_one, 'implies', implies))
$$;

COMMENT ON FUNCTION @extschema@.kanon_rules(int, float8, name[], name[], text[], text[], text[])
IS 'rules about what may be suppressed together, for kanon_pattern_guided(rules => ...)';

CREATE FUNCTION @extschema@.kanon_describe(pattern text, quasi_identifiers name[])
RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_describe';

COMMENT ON FUNCTION @extschema@.kanon_describe(text, name[])
IS 'says in words what a pattern suppresses';
