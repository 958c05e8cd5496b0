/* kanon--1.0.sql: what CREATE EXTENSION kanon makes. */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION kanon" to load this file. \quit

/*
 * The server runs this with the extension's schema in the search_path, and in that
 * may be anything: an operator that fits better than pg_catalog's where types are
 * mixed would be bound into a view and run by whoever reads it.  So names mean what
 * pg_catalog says, and everything of kanon's is written with its schema.
 */
SET LOCAL search_path TO pg_catalog, pg_temp;

/*
 * The record of runs.  Written by the C functions as the owner of these tables;
 * everyone else sees them through the views below, each role its own runs.  No
 * foreign key between them: nothing else writes them.  They are not part of a
 * dump: a role means nothing on another server, and whoever may dump a database
 * need not see what others recorded.
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
    classes           bigint,
    class_min         bigint,
    class_avg         float8,
    class_max         bigint,
    cost              float8 NOT NULL,
    lower_bound       float8,
    guarantee         float8,
    gap               float8,
    proven            boolean,
    nodes             bigint,
    peak_memory       bigint NOT NULL,
    read_ms           float8 NOT NULL,
    solve_ms          float8 NOT NULL,
    write_ms          float8 NOT NULL,
    verify_ms         float8 NOT NULL,
    -- measures of the literature; NULL when nothing was published
    discernibility    float8,
    c_avg             float8,
    iloss             float8,
    ncp               float8,
    gcp               float8,
    precision         float8,
    entropy           float8,
    entropy_share     float8,
    classification    float8,
    -- the call
    kept              text[] NOT NULL,
    options           jsonb,
    version           text NOT NULL,
    -- classes by size, and the smallest; rows that show nothing aside
    size_from           bigint[] NOT NULL,
    source_size_classes bigint[] NOT NULL,
    source_size_rows    bigint[] NOT NULL,
    target_size_classes bigint[] NOT NULL,
    target_size_rows    bigint[] NOT NULL,
    source_class_min    bigint,
    target_class_min    bigint,
    source_blank_rows   bigint NOT NULL,
    target_blank_rows   bigint NOT NULL,
    -- of a freeform release, which has no classes: records that each row matches, or (k_one) rows that each record does
    matches             bigint,
    -- of a run over sets of items: what they lost, and the promise in words
    transactions        jsonb
);

CREATE TABLE @extschema@.kanon_run_column (
    run               bigint NOT NULL,
    ordinal           int NOT NULL,
    name              text NOT NULL,
    type              text NOT NULL,
    numerical         boolean NOT NULL,
    suppressed        bigint NOT NULL,
    distinct_before   bigint NOT NULL,
    distinct_after    bigint NOT NULL,
    ncp               float8,
    PRIMARY KEY (run, ordinal)
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

REVOKE ALL ON @extschema@.kanon_run, @extschema@.kanon_run_column, @extschema@.kanon_run_class FROM PUBLIC;

COMMENT ON TABLE @extschema@.kanon_run IS 'one row per kanon run that wrote a table; read kanon_usefulness instead';
COMMENT ON TABLE @extschema@.kanon_run_column IS 'one row per quasi-identifier of a kanon run; read kanon_columns instead';
COMMENT ON TABLE @extschema@.kanon_run_class IS 'one row per class of a kanon run; read kanon_equivalence_classes instead';

CREATE VIEW @extschema@.kanon_usefulness WITH (security_barrier) AS
SELECT run, started_at, run_by, source, target, k, method, row_count, row_types, patterns,
       suppressed_cells,
       suppressed_cells::float8 / nullif((row_count - dropped_rows) * quasi_identifiers, 0) AS suppressed_share,
       usefulness, classes, class_min, class_avg, class_max,
       read_ms, solve_ms, write_ms, verify_ms, dropped_rows, cost, lower_bound, guarantee, gap, proven, nodes,
       peak_memory, discernibility, c_avg, iloss, ncp, gcp, precision, entropy, entropy_share, classification,
       kept, options, version, matches,
       CASE WHEN transactions IS NOT NULL THEN transactions OPERATOR(pg_catalog.->>) 'promise'
            WHEN matches IS NOT NULL THEN pg_catalog.format(
           CASE method
               WHEN 'one_k' THEN 'freeform: no classes; every row matches at least %s records, a record may show one row alone'
               WHEN 'k_one' THEN 'freeform: no classes; every record shows at least %s rows, a row may match one record alone'
               ELSE 'freeform: no classes; every row matches at least %s records, every record shows at least %s rows'
           END, matches, matches) END AS note,
       transactions
FROM @extschema@.kanon_run
WHERE pg_catalog.pg_has_role(run_by, 'MEMBER');

CREATE VIEW @extschema@.kanon_columns WITH (security_barrier) AS
SELECT c.run, c.name AS column_name, c.type, c.suppressed,
       c.suppressed::float8 / nullif(r.row_count - r.dropped_rows, 0) AS share,
       c.distinct_before, c.distinct_after, c.ncp, c.ordinal, c.numerical
FROM @extschema@.kanon_run_column c
JOIN @extschema@.kanon_run r USING (run)
WHERE pg_catalog.pg_has_role(r.run_by, 'MEMBER');

CREATE VIEW @extschema@.kanon_equivalence_classes WITH (security_barrier) AS
SELECT r.run, c.class, c.pattern, c.row_count, c.suppressed_cells, c.tuple_diversity, c.shown,
       CASE WHEN r.transactions IS NOT NULL THEN 'sets of items have no classes; see kanon_check_transactions'
            WHEN r.matches IS NOT NULL THEN 'a freeform release has no classes; see kanon_check_freeform' END AS note
FROM @extschema@.kanon_run r
LEFT JOIN @extschema@.kanon_run_class c USING (run)
WHERE (c.run IS NOT NULL OR r.matches IS NOT NULL OR r.transactions IS NOT NULL) AND pg_catalog.pg_has_role(r.run_by, 'MEMBER');

GRANT SELECT ON @extschema@.kanon_usefulness, @extschema@.kanon_columns, @extschema@.kanon_equivalence_classes TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_usefulness IS 'one row per run that you or a role of yours made: what was lost, how large the classes are, how long it took';
COMMENT ON COLUMN @extschema@.kanon_usefulness.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_usefulness.started_at IS 'when it began';
COMMENT ON COLUMN @extschema@.kanon_usefulness.run_by IS 'the role that made it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.source IS 'what was published, qualified';
COMMENT ON COLUMN @extschema@.kanon_usefulness.target IS 'the table that was written, qualified';
COMMENT ON COLUMN @extschema@.kanon_usefulness.k IS 'rows that every class has at least';
COMMENT ON COLUMN @extschema@.kanon_usefulness.method IS 'how the release was found';
COMMENT ON COLUMN @extschema@.kanon_usefulness.row_count IS 'rows of the source';
COMMENT ON COLUMN @extschema@.kanon_usefulness.row_types IS 'different combinations of quasi-identifiers in the source';
COMMENT ON COLUMN @extschema@.kanon_usefulness.patterns IS 'patterns that were allowed; NULL: more than were counted';
COMMENT ON COLUMN @extschema@.kanon_usefulness.suppressed_cells IS 'cells of quasi-identifiers that show nothing';
COMMENT ON COLUMN @extschema@.kanon_usefulness.suppressed_share IS 'their share of all such cells of the target';
COMMENT ON COLUMN @extschema@.kanon_usefulness.usefulness IS 'mean tuple diversity: in how many columns rows of a class agree';
COMMENT ON COLUMN @extschema@.kanon_usefulness.classes IS 'equivalence classes; NULL for a run without classes';
COMMENT ON COLUMN @extschema@.kanon_usefulness.class_min IS 'rows of the smallest class';
COMMENT ON COLUMN @extschema@.kanon_usefulness.class_avg IS 'rows of a class on average';
COMMENT ON COLUMN @extschema@.kanon_usefulness.class_max IS 'rows of the largest class';
COMMENT ON COLUMN @extschema@.kanon_usefulness.read_ms IS 'milliseconds for reading the source';
COMMENT ON COLUMN @extschema@.kanon_usefulness.solve_ms IS 'milliseconds for finding the release';
COMMENT ON COLUMN @extschema@.kanon_usefulness.write_ms IS 'milliseconds for writing the target';
COMMENT ON COLUMN @extschema@.kanon_usefulness.verify_ms IS 'milliseconds for reading it again and checking it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.dropped_rows IS 'rows of the source that were left out';
COMMENT ON COLUMN @extschema@.kanon_usefulness.cost IS 'what was lost, as the method counts it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.lower_bound IS 'no release under the same rules costs less; NULL: not known';
COMMENT ON COLUMN @extschema@.kanon_usefulness.guarantee IS 'cost is at most so many times the optimum; NULL: not promised';
COMMENT ON COLUMN @extschema@.kanon_usefulness.gap IS 'how far cost may be above the optimum, as a share of the bound';
COMMENT ON COLUMN @extschema@.kanon_usefulness.proven IS 'whether no release under the same rules costs less';
COMMENT ON COLUMN @extschema@.kanon_usefulness.nodes IS 'nodes of the search';
COMMENT ON COLUMN @extschema@.kanon_usefulness.peak_memory IS 'most bytes that kanon itself held';
COMMENT ON COLUMN @extschema@.kanon_usefulness.discernibility IS 'discernibility metric: rows that each row cannot be told from';
COMMENT ON COLUMN @extschema@.kanon_usefulness.c_avg IS 'normalized average class size';
COMMENT ON COLUMN @extschema@.kanon_usefulness.iloss IS 'information loss by ILoss';
COMMENT ON COLUMN @extschema@.kanon_usefulness.ncp IS 'normalized certainty penalty';
COMMENT ON COLUMN @extschema@.kanon_usefulness.gcp IS 'global certainty penalty: its share of the most there could be';
COMMENT ON COLUMN @extschema@.kanon_usefulness.precision IS 'precision: share of the hierarchies that is left';
COMMENT ON COLUMN @extschema@.kanon_usefulness.entropy IS 'non-uniform entropy lost';
COMMENT ON COLUMN @extschema@.kanon_usefulness.entropy_share IS 'its share of what suppressing everything would lose';
COMMENT ON COLUMN @extschema@.kanon_usefulness.classification IS 'classification metric of class_column';
COMMENT ON COLUMN @extschema@.kanon_usefulness.kept IS 'columns that were written unchanged';
COMMENT ON COLUMN @extschema@.kanon_usefulness.options IS 'the arguments of the call, without data values';
COMMENT ON COLUMN @extschema@.kanon_usefulness.version IS 'the version of kanon that made it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.matches IS 'of a run without classes: records that each row matches, or rows that each record does';
COMMENT ON COLUMN @extschema@.kanon_usefulness.note IS 'what to know of a run without classes';
COMMENT ON COLUMN @extschema@.kanon_usefulness.transactions IS 'of a run over sets of items: what they lost';
COMMENT ON VIEW @extschema@.kanon_columns IS 'one row per quasi-identifier of the runs in kanon_usefulness: what was suppressed and what it still shows';
COMMENT ON COLUMN @extschema@.kanon_columns.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_columns.column_name IS 'the quasi-identifier';
COMMENT ON COLUMN @extschema@.kanon_columns.type IS 'its type in the source';
COMMENT ON COLUMN @extschema@.kanon_columns.suppressed IS 'cells of it that show nothing';
COMMENT ON COLUMN @extschema@.kanon_columns.share IS 'their share of the rows of the target';
COMMENT ON COLUMN @extschema@.kanon_columns.distinct_before IS 'different values in the source';
COMMENT ON COLUMN @extschema@.kanon_columns.distinct_after IS 'different values in the target';
COMMENT ON COLUMN @extschema@.kanon_columns.ncp IS 'normalized certainty penalty of the column';
COMMENT ON COLUMN @extschema@.kanon_columns.ordinal IS 'its place among the quasi-identifiers, from 1';
COMMENT ON COLUMN @extschema@.kanon_columns.numerical IS 'whether it is measured as a number';
COMMENT ON VIEW @extschema@.kanon_equivalence_classes IS 'one row per equivalence class of the runs in kanon_usefulness; one that says so for a run without classes';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.class IS 'number of the class within the run';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.pattern IS 'what it shows: a symbol for each quasi-identifier';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.row_count IS 'its rows';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.suppressed_cells IS 'cells of them that show nothing';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.tuple_diversity IS 'in how many columns its rows agree, by weight';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.shown IS 'what its rows show';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.note IS 'that a run has no classes';

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
    keep              name[]   DEFAULT '{}',
    allow_identifying name[]   DEFAULT '{}',
    weights           float8[] DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    level_cost        text     DEFAULT 'ncp',
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    residual          text     DEFAULT 'suppress',
    class_column      name     DEFAULT NULL,
    mark              boolean  DEFAULT false,
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false,
    time_limit        interval DEFAULT '60 seconds',
    seed              bigint   DEFAULT NULL)
RETURNS TABLE (pattern text, cost float8, classes bigint, row_count bigint, suppressed_cells bigint)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_pattern_guided';

COMMENT ON FUNCTION @extschema@.kanon_pattern_guided(regclass, text, name[], bigint, text, text[], jsonb, float8, float8, name[], name[], float8[], jsonb, text, jsonb[], name[], text, name, boolean, boolean, boolean, interval, bigint)
IS 'publishes a table k-anonymously: every row under one of the allowed patterns, as few cells lost as can be';

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
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false,
    time_limit        interval DEFAULT '60 seconds')
RETURNS TABLE (transactions bigint, empty_transactions bigint, items_before bigint, items_shown bigint,
               items_suppressed bigint, occurrences bigint, occurrences_suppressed bigint, ncp float8,
               lower_bound float8, proven boolean, frequent_sets int, frequent_preserved int)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_transactions';

COMMENT ON FUNCTION @extschema@.kanon_transactions(regclass, text, name, bigint, text, int, int, float8, float8, name, regclass, text[], regclass, name[], name[], boolean, boolean, interval)
IS 'publishes sets of items, such as diagnoses or baskets: k^m-anonymity, (h,k,p)-coherence or rho-uncertainty';

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

CREATE FUNCTION @extschema@.kanon_check(
    relation          regclass,
    quasi_identifiers name[])
RETURNS TABLE (k bigint, classes bigint, row_count bigint, unique_rows bigint, blank_rows bigint,
               avg_class float8, max_class bigint)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_check';

COMMENT ON FUNCTION @extschema@.kanon_check(regclass, name[])
IS 'how a relation groups by quasi-identifiers: the k it keeps, unique rows, class sizes';

CREATE FUNCTION @extschema@.kanon_pattern_clustering(
    source            regclass,
    target            text,
    quasi_identifiers name[],
    k                 bigint,
    method            text     DEFAULT 'exact',
    patterns          text[]   DEFAULT NULL,
    gap               float8   DEFAULT 0,
    effort            float8   DEFAULT 1,
    keep              name[]   DEFAULT '{}',
    allow_identifying name[]   DEFAULT '{}',
    weights           float8[] DEFAULT NULL,
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

COMMENT ON FUNCTION @extschema@.kanon_pattern_clustering(regclass, text, name[], bigint, text, text[], float8, float8, name[], name[], float8[], jsonb, text, jsonb[], name[], name, boolean, boolean, boolean, interval, bigint)
IS 'publishes a table as few homogeneous clusters: each listed pattern is used by one class at most';

CREATE FUNCTION @extschema@.kanon_cluster(
    source            regclass,
    target            text,
    quasi_identifiers name[],
    k                 bigint,
    method            text     DEFAULT 'mondrian',
    show              text     DEFAULT 'auto',
    keep              name[]   DEFAULT '{}',
    allow_identifying name[]   DEFAULT '{}',
    weights           float8[] DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    level_cost        text     DEFAULT 'ncp',
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    residual          text     DEFAULT 'suppress',
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

COMMENT ON FUNCTION @extschema@.kanon_cluster(regclass, text, name[], bigint, text, text, name[], name[], float8[], jsonb, text, jsonb[], name[], text, name, boolean, boolean, boolean, interval, bigint)
IS 'publishes a table in classes of any shape, by partitioning (Mondrian) or clustering, some with a proven guarantee';

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
    keep              name[]   DEFAULT '{}',
    allow_identifying name[]   DEFAULT '{}',
    weights           float8[] DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    residual          text     DEFAULT 'suppress',
    class_column      name     DEFAULT NULL,
    mark              boolean  DEFAULT false,
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false)
RETURNS TABLE (pattern text, verdict text, metric_value float8, suppressed_rows bigint, classes bigint,
               lattice_nodes bigint, nodes_checked bigint, nodes_tagged bigint, workers int, solve_ms float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_full_domain';

COMMENT ON FUNCTION @extschema@.kanon_full_domain(regclass, text, name[], bigint, text, float8, text, int, boolean, name[], name[], float8[], jsonb, jsonb[], name[], text, name, boolean, boolean, boolean)
IS 'publishes a table k-anonymously with every row generalized to the same levels, the optimal ones by a metric';

CREATE FUNCTION @extschema@.kanon_patterns(
    quasi_identifiers name[],
    max_suppressed    int      DEFAULT NULL,
    max_cost          float8   DEFAULT NULL,
    never             name[]   DEFAULT '{}',
    always            name[]   DEFAULT '{}',
    together          text[]   DEFAULT '{}',
    at_most_one       text[]   DEFAULT '{}',
    implies           text[]   DEFAULT '{}',
    weights           float8[] DEFAULT NULL,
    max_level         int[]    DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_patterns';

COMMENT ON FUNCTION @extschema@.kanon_patterns(name[], int, float8, name[], name[], text[], text[], text[], float8[], int[])
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
-- bound here, not by the search_path of who calls it
RETURN pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'max_suppressed', max_suppressed, 'max_cost', max_cost, 'never', never, 'always', always,
    'together', together, 'at_most_one', at_most_one, 'implies', implies));

COMMENT ON FUNCTION @extschema@.kanon_rules(int, float8, name[], name[], text[], text[], text[])
IS 'rules about what may be suppressed together, for kanon_pattern_guided(rules => ...)';

CREATE FUNCTION @extschema@.kanon_describe(pattern text, quasi_identifiers name[])
RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_describe';

COMMENT ON FUNCTION @extschema@.kanon_describe(text, name[])
IS 'says in words what a pattern suppresses';

/* ---- freeform generalisation: k matches for each row and record, no classes ---- */

CREATE FUNCTION @extschema@.kanon_freeform(
    source            regclass,
    target            text,
    quasi_identifiers name[],
    k                 bigint,
    method            text     DEFAULT 'sort_greedy',
    partition_size    int      DEFAULT NULL,
    mutual            boolean  DEFAULT false,
    keep              name[]   DEFAULT '{}',
    allow_identifying name[]   DEFAULT '{}',
    weights           float8[] DEFAULT NULL,
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

COMMENT ON FUNCTION @extschema@.kanon_freeform(regclass, text, name[], bigint, text, int, boolean, name[], name[], float8[], name[], boolean, boolean, boolean, interval, bigint)
IS 'publishes a table so that every row matches k records and every record k rows, each equally likely: ranges and sets, no classes';

CREATE FUNCTION @extschema@.kanon_check_freeform(
    source            regclass,
    target            regclass,
    quasi_identifiers name[],
    k                 bigint)
RETURNS TABLE (row_count bigint, record_count bigint, row_matches bigint, record_matches bigint, regular boolean)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_check_freeform';

COMMENT ON FUNCTION @extschema@.kanon_check_freeform(regclass, regclass, name[], bigint)
IS 'from a table and its freeform release alone: the fewest records a row matches, the fewest rows a record matches, and whether k matches each can be equally likely';

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
    weights           float8[] DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    level_cost        text     DEFAULT 'ncp',
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    residual          text     DEFAULT 'suppress',
    time_limit        interval DEFAULT '60 seconds',
    seed              bigint   DEFAULT NULL)
RETURNS TABLE (k bigint, suppressed_cells bigint, suppressed_share float8, usefulness float8, gcp float8,
               classes bigint, class_min bigint, class_avg float8, class_max bigint,
               residual_rows bigint, cost float8, proven boolean, solve_ms float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_frontier';

COMMENT ON FUNCTION @extschema@.kanon_frontier(regclass, name[], bigint[], text, text[], jsonb, float8, float8, name[], float8[], jsonb, text, jsonb[], name[], text, interval, bigint)
IS 'what a release would lose for each of several ks; reads the source once and writes nothing';

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
    weights           float8[] DEFAULT NULL,
    hierarchies       jsonb    DEFAULT NULL,
    level_cost        text     DEFAULT 'ncp',
    privacy           jsonb[]  DEFAULT NULL,
    categorical       name[]   DEFAULT '{}',
    residual          text     DEFAULT 'suppress',
    time_limit        interval DEFAULT '60 seconds',
    seed              bigint   DEFAULT NULL)
RETURNS TABLE (aspect text, subject text, row_count bigint, suppressed_cells bigint, cost float8,
               saved_cells bigint, detail text, shown jsonb)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_explain';

COMMENT ON FUNCTION @extschema@.kanon_explain(regclass, name[], bigint, text, text[], jsonb, float8, float8, boolean, name[], float8[], jsonb, text, jsonb[], name[], text, interval, bigint)
IS 'where the cost of a release comes from and what would change it; writes nothing';

CREATE FUNCTION @extschema@.kanon_option_list()
RETURNS TABLE (function text, place int, option text, type regtype, initial text)
LANGUAGE C STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_option_list';

COMMENT ON FUNCTION @extschema@.kanon_option_list()
IS 'the options of the functions that publish or try, and of publications: kanon_FUNCTION has them after k, in this order';

/*
 * Risk before and after a run, from what was recorded: neither the source nor
 * the target needs to be there any more.
 */
CREATE VIEW @extschema@.kanon_class_sizes WITH (security_barrier) AS
SELECT r.run, s.size_from,
       pg_catalog.lead(s.size_from) OVER (PARTITION BY r.run ORDER BY s.size_from) - 1 AS size_to,
       s.source_classes, s.source_rows,
       CASE WHEN r.matches IS NULL THEN s.target_classes END AS target_classes,
       CASE WHEN r.matches IS NULL THEN s.target_rows END AS target_rows
FROM @extschema@.kanon_run r
CROSS JOIN LATERAL ROWS FROM (
    pg_catalog.unnest(r.size_from), pg_catalog.unnest(r.source_size_classes), pg_catalog.unnest(r.source_size_rows),
    pg_catalog.unnest(r.target_size_classes), pg_catalog.unnest(r.target_size_rows))
    AS s (size_from, source_classes, source_rows, target_classes, target_rows)
WHERE pg_catalog.pg_has_role(r.run_by, 'MEMBER');

-- named as in kanon_risk
CREATE VIEW @extschema@.kanon_run_risk WITH (security_barrier) AS
SELECT r.run, v.stage, v.row_count, s.classes + CASE WHEN v.blank_rows > 0 THEN 1 ELSE 0 END AS classes,
       v.k, s.unique_rows, v.blank_rows, s.below_k, s.below_k::float8 / nullif(v.row_count, 0) AS share_below_k,
       CASE WHEN v.k IS NOT NULL THEN 1 / v.k::float8 WHEN v.row_count > 0 THEN 0 END AS prosecutor_highest,
       s.classes::float8 / nullif(v.row_count, 0) AS prosecutor_average
FROM @extschema@.kanon_run r
CROSS JOIN LATERAL (VALUES
    ('source', r.row_count, r.source_class_min, r.source_blank_rows, r.source_size_classes, r.source_size_rows),
    ('target', r.row_count - r.dropped_rows, r.target_class_min, r.target_blank_rows, r.target_size_classes, r.target_size_rows))
    AS v (stage, row_count, k, blank_rows, classes, class_rows)
CROSS JOIN LATERAL (
    SELECT pg_catalog.sum(u.classes)::bigint AS classes,
           pg_catalog.sum(u.class_rows) FILTER (WHERE u.size_from = 1)::bigint AS unique_rows,
           coalesce(pg_catalog.sum(u.class_rows) FILTER (WHERE u.size_from < r.k), 0)::bigint AS below_k
    FROM ROWS FROM (pg_catalog.unnest(r.size_from), pg_catalog.unnest(v.classes), pg_catalog.unnest(v.class_rows))
         AS u (size_from, classes, class_rows)) s
-- what is told by classes does not hold for a freeform release
WHERE (v.stage OPERATOR(pg_catalog.=) 'source' OR r.matches IS NULL) AND pg_catalog.pg_has_role(r.run_by, 'MEMBER');

GRANT SELECT ON @extschema@.kanon_class_sizes, @extschema@.kanon_run_risk TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_class_sizes IS 'how many classes and rows of which size the source had and the target has, of the runs in kanon_usefulness; rows that show nothing aside';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.size_from IS 'least rows of the classes that are counted';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.size_to IS 'most rows of them; NULL: no limit';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.source_classes IS 'how many the source had';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.source_rows IS 'rows in them';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.target_classes IS 'how many the target has; NULL for a run without classes';
COMMENT ON COLUMN @extschema@.kanon_class_sizes.target_rows IS 'rows in them';
COMMENT ON VIEW @extschema@.kanon_run_risk IS 'the risk of being singled out before and after the runs in kanon_usefulness, as kanon_risk would have told then';
COMMENT ON COLUMN @extschema@.kanon_run_risk.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_run_risk.stage IS 'source or target';
COMMENT ON COLUMN @extschema@.kanon_run_risk.row_count IS 'rows';
COMMENT ON COLUMN @extschema@.kanon_run_risk.classes IS 'equivalence classes';
COMMENT ON COLUMN @extschema@.kanon_run_risk.k IS 'rows of the smallest one that shows something';
COMMENT ON COLUMN @extschema@.kanon_run_risk.unique_rows IS 'rows alone in their class';
COMMENT ON COLUMN @extschema@.kanon_run_risk.blank_rows IS 'rows that show nothing';
COMMENT ON COLUMN @extschema@.kanon_run_risk.below_k IS 'rows in classes of fewer than k';
COMMENT ON COLUMN @extschema@.kanon_run_risk.share_below_k IS 'their share of all rows';
COMMENT ON COLUMN @extschema@.kanon_run_risk.prosecutor_highest IS 'the highest chance of telling which row is somebodys';
COMMENT ON COLUMN @extschema@.kanon_run_risk.prosecutor_average IS 'the average chance';

/* ---- the page ---- */

CREATE FUNCTION @extschema@.kanon_report(
    run         bigint,
    with_values boolean DEFAULT false,
    frontier    bigint[] DEFAULT NULL)
RETURNS text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_report';

COMMENT ON FUNCTION @extschema@.kanon_report(bigint, boolean, bigint[])
IS 'a run of yours as one self-contained HTML page, without data values unless they are asked for';

/* ---- risk of any relation ---- */

CREATE FUNCTION @extschema@.kanon_risk(
    relation          regclass,
    quasi_identifiers name[],
    sensitive         name[]     DEFAULT '{}',
    subject           name       DEFAULT NULL,
    population        regclass   DEFAULT NULL,
    threshold         float8     DEFAULT 0.2,
    hierarchies       jsonb      DEFAULT NULL)
RETURNS TABLE (measure text, sensitive_column name, value float8, meaning text)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_risk';

COMMENT ON FUNCTION @extschema@.kanon_risk(regclass, name[], name[], name, regclass, float8, jsonb)
IS 'what a relation gives away, one measure per row: class sizes, chances of finding a person, sensitive values';

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

/* ---- hierarchies: tables that say how the values of a column generalize ---- */

CREATE FUNCTION @extschema@.kanon_check_hierarchy(
    relation          regclass,
    source            regclass,
    column_name       name,
    with_values       boolean  DEFAULT false)
RETURNS TABLE (fault text, level int, fault_count bigint, row_count bigint, detail text, shown jsonb)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_check_hierarchy';

COMMENT ON FUNCTION @extschema@.kanon_check_hierarchy(regclass, regclass, name, boolean)
IS 'what is wrong with a hierarchy for a column of a source; nothing but unused lines: it can be used';

CREATE FUNCTION @extschema@.kanon_hierarchy_interval(
    source            regclass,
    column_name       name,
    target            text,
    widths            numeric[],
    origin            numeric  DEFAULT 0,
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_interval';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_interval(regclass, name, text, numeric[], numeric, boolean)
IS 'writes a hierarchy of intervals of equal width for a column of numbers, dates or timestamps';

CREATE FUNCTION @extschema@.kanon_hierarchy_prefix(
    source            regclass,
    column_name       name,
    target            text,
    keep              int[],
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_prefix';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_prefix(regclass, name, text, int[], boolean)
IS 'writes a hierarchy of first characters (zip codes) or of networks (addresses) for a column';

CREATE FUNCTION @extschema@.kanon_hierarchy_date(
    source            regclass,
    column_name       name,
    target            text,
    levels            text[]   DEFAULT '{month,quarter,year,decade}',
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_date';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_date(regclass, name, text, text[], boolean)
IS 'writes a hierarchy of calendar units for a column of dates or timestamps';

CREATE FUNCTION @extschema@.kanon_hierarchy_quantile(
    source            regclass,
    column_name       name,
    target            text,
    groups            int[],
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_quantile';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_quantile(regclass, name, text, int[], boolean)
IS 'writes a hierarchy of groups of equal frequency for a column whose values have an order';

CREATE FUNCTION @extschema@.kanon_hierarchy_from_fk(
    source            regclass,
    column_name       name,
    target            text,
    lookup            regclass DEFAULT NULL,
    key               name     DEFAULT NULL,
    parent            name     DEFAULT NULL,
    label             name     DEFAULT NULL,
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_from_fk';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_from_fk(regclass, name, text, regclass, name, name, name, boolean)
IS 'writes the hierarchy that a lookup table which points to its own parents, or a path of labels, has for a column';

/* ---- privacy rules beyond k: each function makes one for privacy => ARRAY[...] ---- */

CREATE FUNCTION @extschema@.kanon_distinct_l(column_name name, l int)
RETURNS jsonb LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_distinct_l';
CREATE FUNCTION @extschema@.kanon_distinct_l(column_names name[], l int)
RETURNS jsonb LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_distinct_l';
CREATE FUNCTION @extschema@.kanon_entropy_l(column_name name, l int)
RETURNS jsonb LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_entropy_l';
CREATE FUNCTION @extschema@.kanon_entropy_l(column_names name[], l int)
RETURNS jsonb LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_entropy_l';
CREATE FUNCTION @extschema@.kanon_recursive_cl(column_name name, c float8, l int)
RETURNS jsonb LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_recursive_cl';
CREATE FUNCTION @extschema@.kanon_recursive_cl(column_names name[], c float8, l int)
RETURNS jsonb LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_recursive_cl';
CREATE FUNCTION @extschema@.kanon_alpha(column_name name, alpha float8, listed text[] DEFAULT NULL)
RETURNS jsonb LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_alpha';
CREATE FUNCTION @extschema@.kanon_t_closeness(column_name name, t float8, distance text DEFAULT NULL, hierarchy regclass DEFAULT NULL,
    builder jsonb DEFAULT NULL)
RETURNS jsonb LANGUAGE C STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_t_closeness';
CREATE FUNCTION @extschema@.kanon_delta_presence(population regclass, dmin float8, dmax float8)
RETURNS jsonb LANGUAGE C STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_delta_presence';
CREATE FUNCTION @extschema@.kanon_k_map(population regclass)
RETURNS jsonb LANGUAGE C STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_k_map';
CREATE FUNCTION @extschema@.kanon_subject(column_name name)
RETURNS jsonb LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_subject';

COMMENT ON FUNCTION @extschema@.kanon_distinct_l(name, int) IS 'a privacy rule: at least l distinct values in each class';
COMMENT ON FUNCTION @extschema@.kanon_distinct_l(name[], int) IS 'a privacy rule: at least l distinct values of each column, the others joined to the quasi-identifiers';
COMMENT ON FUNCTION @extschema@.kanon_entropy_l(name, int) IS 'a privacy rule: entropy of at least log l in each class';
COMMENT ON FUNCTION @extschema@.kanon_entropy_l(name[], int) IS 'a privacy rule: entropy of at least log l of each column, the others joined to the quasi-identifiers';
COMMENT ON FUNCTION @extschema@.kanon_recursive_cl(name, float8, int) IS 'a privacy rule: recursive (c, l)-diversity of each class';
COMMENT ON FUNCTION @extschema@.kanon_recursive_cl(name[], float8, int) IS 'a privacy rule: recursive (c, l)-diversity of each column, the others joined to the quasi-identifiers';
COMMENT ON FUNCTION @extschema@.kanon_alpha(name, float8, text[]) IS 'a privacy rule: no (listed) value has more than this share of a class';
COMMENT ON FUNCTION @extschema@.kanon_t_closeness(name, float8, text, regclass, jsonb) IS 'a privacy rule: each class is distributed nearly as the table is';
COMMENT ON FUNCTION @extschema@.kanon_delta_presence(regclass, float8, float8) IS 'a privacy rule: bounds on the probability of being in the release at all';
COMMENT ON FUNCTION @extschema@.kanon_k_map(regclass) IS 'a privacy rule: k is counted in a population';
COMMENT ON FUNCTION @extschema@.kanon_subject(name) IS 'a privacy rule: k and all counts are in distinct persons';

/* ---- publications ---- */

-- restoring the labels of columns needs the library, and nothing else calls for it then
LOAD 'MODULE_PATHNAME';

/*
 * A publication's definition and history are tables of its publisher, and only a
 * definition has a column of this type: so it is found, and the extension cannot
 * be dropped under it.
 */
CREATE DOMAIN @extschema@.kanon_options AS jsonb;

COMMENT ON DOMAIN @extschema@.kanon_options IS 'options of a kanon publication; what has such a column is its definition';

CREATE FUNCTION @extschema@.kanon_create_publication(
    name               text,
    source             regclass,
    quasi_identifiers  name[],
    k                  bigint,
    options            jsonb   DEFAULT '{}',
    solver             text    DEFAULT 'pattern_guided',
    keep_releases      int     DEFAULT 1,
    stable             boolean DEFAULT false,
    protect_successive boolean DEFAULT false,
    key                name    DEFAULT NULL,
    private_schema     name    DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_create_publication';

COMMENT ON FUNCTION @extschema@.kanon_create_publication(text, regclass, name[], bigint, jsonb, text, int, boolean, boolean, name, name)
IS 'makes a view over the first k-anonymous release of a source; kanon_refresh makes the next ones';

CREATE FUNCTION @extschema@.kanon_alter_publication(
    publication        text,
    quasi_identifiers  name[]  DEFAULT NULL,
    k                  bigint  DEFAULT NULL,
    options            jsonb   DEFAULT NULL,
    solver             text    DEFAULT NULL,
    keep_releases      int     DEFAULT NULL,
    stable             boolean DEFAULT NULL,
    protect_successive boolean DEFAULT NULL,
    key                name    DEFAULT NULL,
    set_options        jsonb   DEFAULT NULL,
    drop_options       name[]  DEFAULT NULL,
    dry_run            boolean DEFAULT false,
    solve              boolean DEFAULT true)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_alter_publication';

COMMENT ON FUNCTION @extschema@.kanon_alter_publication(text, name[], bigint, jsonb, text, int, boolean, boolean, name, jsonb, name[], boolean, boolean)
IS 'changes a publication from its next refresh on, when a release can be made so; NULL leaves as it is';

CREATE FUNCTION @extschema@.kanon_drop_publication(publication text)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_drop_publication';

COMMENT ON FUNCTION @extschema@.kanon_drop_publication(text)
IS 'drops a publication: its view, releases and history';

CREATE FUNCTION @extschema@.kanon_refresh(
    publication text,
    wait        boolean DEFAULT false)
RETURNS TABLE (publication_name text, release bigint, status text, row_count bigint, k bigint, cost float8,
               suppressed_later bigint, error text, message text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_refresh';

COMMENT ON FUNCTION @extschema@.kanon_refresh(text, boolean)
IS 'makes the next release of a publication and switches its view; a failure is recorded and returned';

CREATE PROCEDURE @extschema@.kanon_refresh_all()
LANGUAGE C
AS 'MODULE_PATHNAME', 'kanon_refresh_all';

COMMENT ON PROCEDURE @extschema@.kanon_refresh_all()
IS 'refreshes every publication of yours, each in a transaction of its own; fails in the end if one of them did';

CREATE FUNCTION @extschema@.kanon_publication_status(
    publication        text     DEFAULT NULL,
    fail_if_older_than interval DEFAULT NULL)
RETURNS TABLE (publication_name text, status text, k bigint, release bigint, refreshed_at timestamptz, age interval,
               failures bigint, error text, allow_identifying name[])
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_publication_status';

COMMENT ON FUNCTION @extschema@.kanon_publication_status(text, interval)
IS 'whether a publication is fresh, stale or failing';

CREATE FUNCTION @extschema@.kanon_compare_releases(publication text, a bigint, b bigint)
RETURNS TABLE (persons bigint, persons_below_k bigint, k bigint, smallest bigint)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_compare_releases';

COMMENT ON FUNCTION @extschema@.kanon_compare_releases(text, bigint, bigint)
IS 'for how many persons the classes of two releases together hide them among fewer than k';

CREATE FUNCTION @extschema@.kanon_publication_list()
RETURNS TABLE (publication text, owner regrole, published regclass, source regclass, quasi_identifiers name[],
               k bigint, solver text, options jsonb, keep_releases int, stable boolean, protect_successive boolean,
               key text, release bigint, refreshed_at timestamptz)
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_publication_list';

COMMENT ON FUNCTION @extschema@.kanon_publication_list() IS 'behind kanon_publications';

CREATE FUNCTION @extschema@.kanon_release_list()
RETURNS TABLE (publication text, release bigint, started timestamptz, finished timestamptz, status text,
               row_count bigint, k bigint, cost float8, suppressed_later bigint, error text, message text,
               detail text, hint text, relation regclass)
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_release_list';

COMMENT ON FUNCTION @extschema@.kanon_release_list() IS 'behind kanon_releases';

CREATE VIEW @extschema@.kanon_publications WITH (security_barrier) AS
SELECT * FROM @extschema@.kanon_publication_list();

CREATE VIEW @extschema@.kanon_releases WITH (security_barrier) AS
SELECT * FROM @extschema@.kanon_release_list();

GRANT SELECT ON @extschema@.kanon_publications, @extschema@.kanon_releases TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_publications IS 'publications of yours and of roles you belong to';
COMMENT ON COLUMN @extschema@.kanon_publications.publication IS 'name of the view that readers see';
COMMENT ON COLUMN @extschema@.kanon_publications.owner IS 'who owns it';
COMMENT ON COLUMN @extschema@.kanon_publications.published IS 'the view';
COMMENT ON COLUMN @extschema@.kanon_publications.source IS 'what is published';
COMMENT ON COLUMN @extschema@.kanon_publications.quasi_identifiers IS 'columns that could be joined with outside knowledge';
COMMENT ON COLUMN @extschema@.kanon_publications.k IS 'rows that every class has at least';
COMMENT ON COLUMN @extschema@.kanon_publications.solver IS 'how releases are made: kanon_SOLVER';
COMMENT ON COLUMN @extschema@.kanon_publications.options IS 'options of the solver, and what releases may not be';
COMMENT ON COLUMN @extschema@.kanon_publications.keep_releases IS 'releases that are kept, the current one among them';
COMMENT ON COLUMN @extschema@.kanon_publications.stable IS 'whether row types stay in their classes';
COMMENT ON COLUMN @extschema@.kanon_publications.protect_successive IS 'whether k holds together with releases that are kept';
COMMENT ON COLUMN @extschema@.kanon_publications.key IS 'the column that says who a row is about; it is not published';
COMMENT ON COLUMN @extschema@.kanon_publications.release IS 'number of the current release';
COMMENT ON COLUMN @extschema@.kanon_publications.refreshed_at IS 'when it was made';
COMMENT ON VIEW @extschema@.kanon_releases IS 'releases of the publications in kanon_publications, failed refreshes among them';
COMMENT ON COLUMN @extschema@.kanon_releases.publication IS 'name of the view that readers see';
COMMENT ON COLUMN @extschema@.kanon_releases.release IS 'number of the release';
COMMENT ON COLUMN @extschema@.kanon_releases.started IS 'when its refresh began';
COMMENT ON COLUMN @extschema@.kanon_releases.finished IS 'when it ended';
COMMENT ON COLUMN @extschema@.kanon_releases.status IS 'current, kept, dropped or failed';
COMMENT ON COLUMN @extschema@.kanon_releases.row_count IS 'rows that were published';
COMMENT ON COLUMN @extschema@.kanon_releases.k IS 'rows of the smallest class that shows something; NULL: none does';
COMMENT ON COLUMN @extschema@.kanon_releases.cost IS 'what was lost, as the solver counts it';
COMMENT ON COLUMN @extschema@.kanon_releases.suppressed_later IS 'rows taken from their classes to protect successive releases';
COMMENT ON COLUMN @extschema@.kanon_releases.error IS 'SQLSTATE of a refresh that failed';
COMMENT ON COLUMN @extschema@.kanon_releases.message IS 'what the error says, without data values';
COMMENT ON COLUMN @extschema@.kanon_releases.detail IS 'its detail, when kanon raised it';
COMMENT ON COLUMN @extschema@.kanon_releases.hint IS 'what can be done about it';
COMMENT ON COLUMN @extschema@.kanon_releases.relation IS 'the table of the release; NULL: it is dropped or failed';

CREATE FUNCTION @extschema@.kanon_progress_list()
RETURNS TABLE (pid int, publication text, phase text, done bigint, total bigint, since timestamptz)
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_progress_list';

COMMENT ON FUNCTION @extschema@.kanon_progress_list() IS 'behind kanon_progress';

CREATE VIEW @extschema@.kanon_progress WITH (security_barrier) AS
SELECT * FROM @extschema@.kanon_progress_list();

GRANT SELECT ON @extschema@.kanon_progress TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_progress IS 'runs of yours that are under way, when kanon is in shared_preload_libraries';
COMMENT ON COLUMN @extschema@.kanon_progress.pid IS 'process of the session';
COMMENT ON COLUMN @extschema@.kanon_progress.publication IS 'whose refresh it is; NULL: a run of its own';
COMMENT ON COLUMN @extschema@.kanon_progress.phase IS 'what it is at';
COMMENT ON COLUMN @extschema@.kanon_progress.done IS 'how far the phase is, of total';
COMMENT ON COLUMN @extschema@.kanon_progress.total IS 'of this; NULL: not known';
COMMENT ON COLUMN @extschema@.kanon_progress.since IS 'when the phase began';
