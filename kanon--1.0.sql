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
 * What only kanon's own queries, views and pages call is out of everybody's sight, and
 * nobody else can put anything beside it.  Servers with Citus have it, too.
 */
CREATE SCHEMA kanon_internal;
GRANT USAGE ON SCHEMA kanon_internal TO PUBLIC;
COMMENT ON SCHEMA kanon_internal IS 'functions behind those of kanon; nobody need call them';

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
    -- the table itself: another one may get its name
    target_oid        oid NOT NULL,
    -- the publication whose release it is
    publication       text,
    k                 bigint NOT NULL,
    model             text NOT NULL,
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
    -- what it read and wrote: which relations those were, of what kind, whose
    relations         jsonb NOT NULL,
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
    transactions        jsonb,
    -- of a run that published two tables: the other one, groups, and the promise in words
    anatomy             jsonb,
    -- of a run that published rows drawn by chance: its parameters, and the promise in words
    mechanism           jsonb,
    -- of a release of several tables as a whole: these, what was counted over all of them, and the promise in words
    tables              jsonb,
    -- what its classes have in common in each kept column: in how many all rows have one value, or nine of ten
    disclosure          jsonb
);

CREATE TABLE @extschema@.kanon_run_column (
    run               bigint NOT NULL,
    ordinal           int NOT NULL,
    name              text NOT NULL,
    type              text NOT NULL,
    numerical         boolean NOT NULL,
    -- names of its hierarchy's levels
    levels            text[] NOT NULL,
    kept              bigint NOT NULL,
    suppressed        bigint NOT NULL,
    -- that show a NULL of the source, and look the same
    nulls             bigint NOT NULL,
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

/*
 * Budgets of kanon_dp: what may be told of a table, and one row for each answer and each
 * budget that it was taken from, put there by a background worker.  role 0 is all roles
 * together; epsilon is in millionths, delta in 10^-15.  Not part of a dump: a database that
 * is restored has no budgets until the owners of its tables set some.
 */
CREATE TABLE @extschema@.kanon_budget_limit (
    relation regclass    NOT NULL,
    role     oid         NOT NULL,
    epsilon  bigint      NOT NULL,
    delta    bigint      NOT NULL,
    queries  bigint,
    set_by   regrole     NOT NULL,
    set_at   timestamptz NOT NULL,
    PRIMARY KEY (relation, role)
);

CREATE TABLE @extschema@.kanon_budget_spent (
    relation  regclass    NOT NULL,
    role      oid         NOT NULL,
    answer    bigint      NOT NULL,
    asked_by  regrole     NOT NULL,
    asked_at  timestamptz NOT NULL,
    aggregate text        NOT NULL,
    epsilon   bigint      NOT NULL,
    delta     bigint      NOT NULL,
    queries   bigint      NOT NULL,
    PRIMARY KEY (relation, role, answer)
);

REVOKE ALL ON @extschema@.kanon_budget_limit, @extschema@.kanon_budget_spent FROM PUBLIC;

COMMENT ON TABLE @extschema@.kanon_budget_limit IS 'one row per budget of kanon_dp; read kanon_budget instead';
COMMENT ON TABLE @extschema@.kanon_budget_spent IS 'one row per answer of kanon_dp and budget that it was taken from; read kanon_budget_answers instead';

CREATE VIEW @extschema@.kanon_usefulness WITH (security_barrier) AS
SELECT run, started_at, run_by, source, target, k, method, row_count, row_types, patterns,
       suppressed_cells,
       suppressed_cells::float8 / nullif((row_count - dropped_rows) * quasi_identifiers, 0) AS suppressed_share,
       usefulness, classes, class_min, class_avg, class_max,
       read_ms, solve_ms, write_ms, verify_ms, dropped_rows, cost, lower_bound, guarantee, gap, proven, nodes,
       peak_memory, discernibility, c_avg, iloss, ncp, coalesce(gcp, (tables OPERATOR(pg_catalog.->>) 'gcp')::float8) AS gcp, precision, entropy, entropy_share, classification,
       kept, options, version, matches,
       CASE WHEN transactions IS NOT NULL THEN transactions OPERATOR(pg_catalog.->>) 'promise'
            WHEN anatomy IS NOT NULL THEN anatomy OPERATOR(pg_catalog.->>) 'promise'
            WHEN mechanism IS NOT NULL THEN mechanism OPERATOR(pg_catalog.->>) 'promise'
            WHEN tables IS NOT NULL THEN tables OPERATOR(pg_catalog.->>) 'promise'
            WHEN matches IS NOT NULL THEN pg_catalog.format(
           CASE method
               WHEN 'one_k' THEN 'freeform: no classes; every row matches at least %s records, a record may show one row alone'
               WHEN 'k_one' THEN 'freeform: no classes; every record shows at least %s rows, a row may match one record alone'
               ELSE 'freeform: no classes; every row matches at least %s records, every record shows at least %s rows'
           END, matches, matches) END AS note,
       transactions, model, publication, target_oid, anatomy, mechanism, tables, disclosure
FROM @extschema@.kanon_run
WHERE pg_catalog.pg_has_role(run_by, 'MEMBER');

CREATE VIEW @extschema@.kanon_columns WITH (security_barrier) AS
SELECT c.run, c.name AS column_name, c.type, c.suppressed + c.nulls AS suppressed,
       (c.suppressed + c.nulls)::float8 / nullif(r.row_count - r.dropped_rows, 0) AS share,
       c.distinct_before, c.distinct_after, c.ncp, c.ordinal, c.numerical, c.kept,
       r.row_count - r.dropped_rows - c.kept - c.suppressed - c.nulls AS generalised, c.levels, c.nulls
FROM @extschema@.kanon_run_column c
JOIN @extschema@.kanon_run r USING (run)
WHERE pg_catalog.pg_has_role(r.run_by, 'MEMBER');

CREATE VIEW @extschema@.kanon_equivalence_classes WITH (security_barrier) AS
SELECT r.run, c.class, c.pattern, c.row_count, c.suppressed_cells, c.tuple_diversity, c.shown,
       CASE WHEN r.transactions IS NOT NULL THEN 'sets of items have no classes; see kanon_check_transactions'
            WHEN r.tables IS NOT NULL THEN 'a release of several tables has classes in each; see their runs'
            WHEN r.mechanism IS NOT NULL THEN 'rows that are drawn by chance have no classes; the promise is of how they are drawn'
            WHEN r.anatomy IS NOT NULL THEN 'the rows of two tables have no classes; they are in groups by their sensitive values'
            WHEN r.matches IS NOT NULL THEN 'a freeform release has no classes; see kanon_check_freeform' END AS note
FROM @extschema@.kanon_run r
LEFT JOIN @extschema@.kanon_run_class c USING (run)
WHERE (c.run IS NOT NULL OR r.matches IS NOT NULL OR r.transactions IS NOT NULL OR r.anatomy IS NOT NULL OR r.mechanism IS NOT NULL OR r.tables IS NOT NULL) AND pg_catalog.pg_has_role(r.run_by, 'MEMBER');

CREATE VIEW @extschema@.kanon_run_relations WITH (security_barrier) AS
SELECT r.run, e.relation ->> 'part' AS part, e.relation ->> 'name' AS name, (e.relation ->> 'oid')::oid AS relation,
       (e.relation ->> 'kind')::"char" AS kind, (e.relation ->> 'owner')::oid::regrole AS owner
FROM @extschema@.kanon_run r CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(r.relations) AS e (relation)
WHERE pg_catalog.pg_has_role(r.run_by, 'MEMBER');

GRANT SELECT ON @extschema@.kanon_usefulness, @extschema@.kanon_columns, @extschema@.kanon_equivalence_classes, @extschema@.kanon_run_relations TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_usefulness IS 'one row per run that you or a role of yours made: its loss, the sizes of its classes, its times';
COMMENT ON COLUMN @extschema@.kanon_usefulness.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_usefulness.started_at IS 'when it began';
COMMENT ON COLUMN @extschema@.kanon_usefulness.run_by IS 'the role that made it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.source IS 'the published relation, qualified';
COMMENT ON COLUMN @extschema@.kanon_usefulness.target IS 'the table that was written, qualified';
COMMENT ON COLUMN @extschema@.kanon_usefulness.k IS 'rows that every class has at least';
COMMENT ON COLUMN @extschema@.kanon_usefulness.method IS 'how the release was found';
COMMENT ON COLUMN @extschema@.kanon_usefulness.row_count IS 'rows of the source';
COMMENT ON COLUMN @extschema@.kanon_usefulness.row_types IS 'different combinations of quasi-identifiers in the source';
COMMENT ON COLUMN @extschema@.kanon_usefulness.patterns IS 'patterns that were allowed; NULL: more than were counted';
COMMENT ON COLUMN @extschema@.kanon_usefulness.suppressed_cells IS 'cells of quasi-identifiers that the release has emptied, not those that show a NULL of the source';
COMMENT ON COLUMN @extschema@.kanon_usefulness.suppressed_share IS 'their share of all cells of quasi-identifiers of the target';
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
COMMENT ON COLUMN @extschema@.kanon_usefulness.cost IS 'the loss, as the method counts it';
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
COMMENT ON COLUMN @extschema@.kanon_usefulness.kept IS 'columns that were written beside the quasi-identifiers, unchanged or masked';
COMMENT ON COLUMN @extschema@.kanon_usefulness.options IS 'the arguments of the call, without data values, and which kept columns are called like names of persons';
COMMENT ON COLUMN @extschema@.kanon_usefulness.version IS 'the version of kanon that made it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.matches IS 'runs without classes: records that each row matches, or rows that each record matches';
COMMENT ON COLUMN @extschema@.kanon_usefulness.note IS 'runs without classes: a remark on how to read it';
COMMENT ON COLUMN @extschema@.kanon_usefulness.transactions IS 'runs over sets of items: what the sets lost';
COMMENT ON COLUMN @extschema@.kanon_usefulness.anatomy IS 'runs that published two tables: the second table and its groups';
COMMENT ON COLUMN @extschema@.kanon_usefulness.mechanism IS 'runs that drew rows at random: the parameters of the draw';
COMMENT ON COLUMN @extschema@.kanon_usefulness.tables IS 'releases of several tables: these with their runs, and what was counted over all of them';
COMMENT ON COLUMN @extschema@.kanon_usefulness.model IS 'the function that made it, without kanon_';
COMMENT ON COLUMN @extschema@.kanon_usefulness.publication IS 'the publication whose release it was; NULL: none';
COMMENT ON COLUMN @extschema@.kanon_usefulness.target_oid IS 'the table itself, whatever has its name today';
COMMENT ON COLUMN @extschema@.kanon_usefulness.disclosure IS 'of each kept column: classes in which all rows, or nine of ten, have one value; classes of fewer than k persons, where it repeats as a person would';
COMMENT ON VIEW @extschema@.kanon_columns IS 'one row per quasi-identifier of the runs in kanon_usefulness: the cells that it shows, generalises and suppresses';
COMMENT ON COLUMN @extschema@.kanon_columns.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_columns.column_name IS 'the quasi-identifier';
COMMENT ON COLUMN @extschema@.kanon_columns.type IS 'its type in the source';
COMMENT ON COLUMN @extschema@.kanon_columns.suppressed IS 'cells of it that are empty in the target, those that were NULL in the source among them';
COMMENT ON COLUMN @extschema@.kanon_columns.nulls IS 'of these the ones that were NULL in the source, and show just that';
COMMENT ON COLUMN @extschema@.kanon_columns.share IS 'their share of the rows of the target';
COMMENT ON COLUMN @extschema@.kanon_columns.distinct_before IS 'different values in the source';
COMMENT ON COLUMN @extschema@.kanon_columns.distinct_after IS 'different values in the target';
COMMENT ON COLUMN @extschema@.kanon_columns.ncp IS 'normalized certainty penalty of the column';
COMMENT ON COLUMN @extschema@.kanon_columns.ordinal IS 'its place among the quasi-identifiers, from 1';
COMMENT ON COLUMN @extschema@.kanon_columns.numerical IS 'whether it is measured as a number';
COMMENT ON COLUMN @extschema@.kanon_columns.kept IS 'cells of it that show their value';
COMMENT ON COLUMN @extschema@.kanon_columns.generalised IS 'cells of it that show something coarser: a level, a range, a set';
COMMENT ON COLUMN @extschema@.kanon_columns.levels IS 'names of its hierarchy''s levels, from 1';
COMMENT ON VIEW @extschema@.kanon_run_relations IS 'relations that the runs in kanon_usefulness read and wrote, as they were then';
COMMENT ON COLUMN @extschema@.kanon_run_relations.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_run_relations.part IS 'source, target, or option: named by an option, as a hierarchy or a population is';
COMMENT ON COLUMN @extschema@.kanon_run_relations.name IS 'its name then, qualified';
COMMENT ON COLUMN @extschema@.kanon_run_relations.relation IS 'its number (OID): another relation may have the name today';
COMMENT ON COLUMN @extschema@.kanon_run_relations.kind IS 'as in pg_class.relkind: r a table, v a view, m a materialized view, f a foreign, p a partitioned table';
COMMENT ON COLUMN @extschema@.kanon_run_relations.owner IS 'its owner then';
COMMENT ON VIEW @extschema@.kanon_equivalence_classes IS 'one row per equivalence class of the runs in kanon_usefulness; a run without classes has one row with a note';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.run IS 'number of the run';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.class IS 'number of the class within the run';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.pattern IS 'pattern of the class: a symbol for each quasi-identifier';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.row_count IS 'its rows';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.suppressed_cells IS 'cells of them that show nothing';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.tuple_diversity IS 'in how many columns its rows agree, by weight';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.shown IS 'values that its rows show';
COMMENT ON COLUMN @extschema@.kanon_equivalence_classes.note IS 'says that the run has no classes';

/* ---- weights: by position, as arrays are written, or by name, as JSON is ---- */

CREATE TYPE @extschema@.kanon_weights;

CREATE FUNCTION kanon_internal.kanon_weights_in(cstring) RETURNS @extschema@.kanon_weights
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_weights_in';

COMMENT ON FUNCTION kanon_internal.kanon_weights_in(cstring) IS 'behind weights: an array of numbers or JSON, as JSON';

CREATE FUNCTION kanon_internal.kanon_weights_out(@extschema@.kanon_weights) RETURNS cstring
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_weights_out';

COMMENT ON FUNCTION kanon_internal.kanon_weights_out(@extschema@.kanon_weights) IS 'behind weights: JSON as text';

CREATE TYPE @extschema@.kanon_weights (
    INPUT = kanon_internal.kanon_weights_in,
    OUTPUT = kanon_internal.kanon_weights_out,
    LIKE = jsonb);

COMMENT ON TYPE @extschema@.kanon_weights
IS 'cost of a suppressed cell: one number for each quasi-identifier, ''{1,2}'', or some by name, ''{"zip": 2}''';

CREATE CAST (float8[] AS @extschema@.kanon_weights) WITH INOUT AS IMPLICIT;
CREATE CAST (numeric[] AS @extschema@.kanon_weights) WITH INOUT AS IMPLICIT;
CREATE CAST (int[] AS @extschema@.kanon_weights) WITH INOUT AS IMPLICIT;
CREATE CAST (jsonb AS @extschema@.kanon_weights) WITH INOUT AS IMPLICIT;

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

CREATE FUNCTION @extschema@.kanon_anatomy(
    source            regclass,
    quasi_target      text,
    sensitive_target  text,
    quasi_identifiers name[],
    sensitive         name,
    l                 int,
    view              text     DEFAULT NULL,
    allow_identifying name[]   DEFAULT '{}',
    mask              jsonb    DEFAULT NULL,
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false)
RETURNS TABLE (row_count bigint, sensitive_values bigint, groups bigint, group_min bigint, group_max bigint,
               reconstruction_error float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_anatomy';

COMMENT ON FUNCTION @extschema@.kanon_anatomy(regclass, text, text, name[], name, int, text, name[], jsonb, boolean, boolean)
IS 'publishes rows as they are in one table and their sensitive values, by groups of rows with l values, in another';

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

/* ---- rows of a person that somebody may know: a number, or 'all'.  Text in memory. ---- */

CREATE TYPE @extschema@.kanon_known_rows;

CREATE FUNCTION kanon_internal.kanon_known_rows_in(cstring) RETURNS @extschema@.kanon_known_rows
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
AS 'textin';

COMMENT ON FUNCTION kanon_internal.kanon_known_rows_in(cstring) IS 'behind known_rows: numbers or all, as text';

CREATE FUNCTION kanon_internal.kanon_known_rows_out(@extschema@.kanon_known_rows) RETURNS cstring
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
AS 'textout';

COMMENT ON FUNCTION kanon_internal.kanon_known_rows_out(@extschema@.kanon_known_rows) IS 'behind known_rows: its text';

CREATE TYPE @extschema@.kanon_known_rows (
    INPUT = kanon_internal.kanon_known_rows_in,
    OUTPUT = kanon_internal.kanon_known_rows_out,
    LIKE = text);

COMMENT ON TYPE @extschema@.kanon_known_rows
IS 'rows of a person that an attacker may know: a number of each table, ''2 in all'', an object with a number for each table, or ''all''';

CREATE CAST (int AS @extschema@.kanon_known_rows) WITH INOUT AS IMPLICIT;
CREATE CAST (text AS @extschema@.kanon_known_rows) WITH INOUT AS IMPLICIT;

CREATE FUNCTION @extschema@.kanon_linked(
    subject       regclass,
    tables        jsonb,
    target_schema text,
    k             bigint,
    known_rows    @extschema@.kanon_known_rows DEFAULT '1',
    seed          bigint DEFAULT NULL,
    replace       boolean DEFAULT false,
    dry_run       boolean DEFAULT false)
RETURNS TABLE (table_name text, target text, role text, row_count bigint, published bigint, suppressed float8,
               gcp float8, run bigint, release_run bigint)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_linked';

COMMENT ON FUNCTION @extschema@.kanon_linked(regclass, jsonb, text, bigint, @extschema@.kanon_known_rows, bigint, boolean, boolean)
IS 'publishes several tables that join as one release: an attacker who knows a person and some of the person''s rows finds k persons who fit';

CREATE FUNCTION @extschema@.kanon_linked_frontier(
    subject    regclass,
    tables     jsonb,
    ks         bigint[],
    known_rows text[] DEFAULT '{1}',
    seed       bigint DEFAULT NULL)
RETURNS TABLE (k bigint, known_rows text, table_name text, class_size bigint, published bigint, loss float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_linked_frontier';

COMMENT ON FUNCTION @extschema@.kanon_linked_frontier(regclass, jsonb, bigint[], text[], bigint)
IS 'loss of several tables that join, for each of several ks and numbers of known rows; reads the rows once and writes nothing';

CREATE FUNCTION @extschema@.kanon_check_linked(
    subject    regclass,
    tables     jsonb,
    k          bigint,
    known_rows @extschema@.kanon_known_rows DEFAULT '1')
RETURNS TABLE (persons bigint, classes bigint, smallest_class bigint, combinations bigint, smallest bigint,
               below_k bigint, broken bigint, count_alone bigint, dangling bigint, safe boolean)
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_check_linked';

COMMENT ON FUNCTION @extschema@.kanon_check_linked(regclass, jsonb, bigint, @extschema@.kanon_known_rows)
IS 'counts what several published tables keep together: the rarest combination of rows that persons of a class have';

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

CREATE FUNCTION @extschema@.kanon_patterns(
    quasi_identifiers name[],
    max_suppressed    int      DEFAULT NULL,
    max_cost          float8   DEFAULT NULL,
    never             name[]   DEFAULT '{}',
    always            name[]   DEFAULT '{}',
    together          text[]   DEFAULT '{}',
    at_most_one       text[]   DEFAULT '{}',
    implies           text[]   DEFAULT '{}',
    weights           @extschema@.kanon_weights DEFAULT NULL,
    max_level         int[]    DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_patterns';

COMMENT ON FUNCTION @extschema@.kanon_patterns(name[], int, float8, name[], name[], text[], text[], text[], @extschema@.kanon_weights, int[])
IS 'the patterns that fulfil some rules, cheapest first, the all-suppressed one last';

CREATE FUNCTION @extschema@.kanon_rules(
    max_suppressed    int      DEFAULT NULL,
    max_cost          float8   DEFAULT NULL,
    never             name[]   DEFAULT '{}',
    always            name[]   DEFAULT '{}',
    together          text[]   DEFAULT '{}',
    at_most_one       text[]   DEFAULT '{}',
    implies           text[]   DEFAULT '{}',
    coarsen           name[]   DEFAULT NULL)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- bound here, not by the search_path of who calls it
RETURN pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'max_suppressed', max_suppressed, 'max_cost', max_cost, 'never', never, 'always', always,
    'together', together, 'at_most_one', at_most_one, 'implies', implies, 'coarsen', coarsen));

COMMENT ON FUNCTION @extschema@.kanon_rules(int, float8, name[], name[], text[], text[], text[], name[])
IS 'rules about what may be suppressed together, for kanon_pattern_guided(rules => ...)';

CREATE FUNCTION @extschema@.kanon_describe(pattern text, quasi_identifiers name[])
RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_describe';

COMMENT ON FUNCTION @extschema@.kanon_describe(text, name[])
IS 'says in words what a pattern suppresses';

CREATE FUNCTION @extschema@.kanon_describe(pattern text, quasi_identifiers name[], levels jsonb)
RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_describe';

COMMENT ON FUNCTION @extschema@.kanon_describe(text, name[], jsonb)
IS 'says in words what a pattern suppresses, with the names of levels from kanon_columns';

/* ---- what workers of Citus do for a run: kanon's own queries call these ---- */

CREATE FUNCTION kanon_internal.kanon_place()
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_place';

COMMENT ON FUNCTION kanon_internal.kanon_place()
IS 'behind kanon.distribute: a random place for a row, from the operating system''s strong randomness';

CREATE FUNCTION kanon_internal.kanon_row_type(seed bigint, row_values record)
RETURNS bytea
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_row_type';

COMMENT ON FUNCTION kanon_internal.kanon_row_type(bigint, record)
IS 'behind kanon.distribute: a random lot, a hash of values, and the values themselves where the query has not met them before';

CREATE FUNCTION kanon_internal.kanon_row_type_hash(row_type bytea)
RETURNS bigint
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_row_type_hash';

COMMENT ON FUNCTION kanon_internal.kanon_row_type_hash(bytea)
IS 'behind kanon.distribute: the hash that kanon_row_type has behind the lot';

CREATE FUNCTION kanon_internal.kanon_row_type_lot(row_type bytea, shard integer)
RETURNS bigint
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_row_type_lot';

COMMENT ON FUNCTION kanon_internal.kanon_row_type_lot(bytea, integer)
IS 'behind kanon.distribute: the lot of a row, by which rows of a type are divided among classes';

-- These read a table, and are called IMMUTABLE all the same: Citus pushes down no other function in FROM. Which table, a column of its
-- rows says, so that no planner knows what they give.
CREATE FUNCTION kanon_internal.kanon_shard_types(shard oid)
RETURNS SETOF record
LANGUAGE C IMMUTABLE STRICT PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_shard_types';

COMMENT ON FUNCTION kanon_internal.kanon_shard_types(oid)
IS 'behind kanon.distribute: how many rows of a table are of each row type, told once or a few times';

CREATE FUNCTION kanon_internal.kanon_shard_rows(shard oid, forgotten integer DEFAULT 0, kept name[] DEFAULT '{}')
RETURNS SETOF record
LANGUAGE C IMMUTABLE STRICT PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_shard_rows';

COMMENT ON FUNCTION kanon_internal.kanon_shard_rows(oid, integer, name[])
IS 'behind kanon.distribute: the rows of a table, those that are alike once or a few times, and how many they are; beside them values of kept columns, as kanon_sampled tells them';

CREATE FUNCTION kanon_internal.kanon_shard_write(shard oid, types bytea, classes record[])
RETURNS SETOF record
LANGUAGE C IMMUTABLE STRICT
AS 'MODULE_PATHNAME', 'kanon_shard_write';

COMMENT ON FUNCTION kanon_internal.kanon_shard_write(oid, bytea, record[])
IS 'behind kanon.distribute: the rows of a table that was set aside go to the table that the query inserts into, with what their classes show';

CREATE FUNCTION kanon_internal.kanon_sampled(forgotten integer, kept_values record)
RETURNS bytea
LANGUAGE C STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_sampled';

COMMENT ON FUNCTION kanon_internal.kanon_sampled(integer, record)
IS 'behind kanon.distribute: hashes of values of kept columns, of a sample of all that there are';

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
SELECT r.run, v.stage, v.row_count, s.classes + b.classes AS classes,
       b.k, s.unique_rows + b.unique_rows AS unique_rows, v.blank_rows, s.below_k + b.below_k AS below_k,
       (s.below_k + b.below_k)::float8 / nullif(v.row_count, 0) AS share_below_k,
       1 / b.k::float8 AS prosecutor_highest, (s.classes + b.classes)::float8 / nullif(v.row_count, 0) AS prosecutor_average
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
-- the blank rows are a class like any other
CROSS JOIN LATERAL (
    SELECT least(v.k, nullif(v.blank_rows, 0)) AS k, CASE WHEN v.blank_rows > 0 THEN 1 ELSE 0 END AS classes,
           CASE WHEN v.blank_rows = 1 THEN 1 ELSE 0 END AS unique_rows,
           CASE WHEN v.blank_rows < r.k THEN v.blank_rows ELSE 0 END AS below_k) b
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
COMMENT ON COLUMN @extschema@.kanon_run_risk.k IS 'rows of the smallest one';
COMMENT ON COLUMN @extschema@.kanon_run_risk.unique_rows IS 'rows alone in their class';
COMMENT ON COLUMN @extschema@.kanon_run_risk.blank_rows IS 'rows that show nothing';
COMMENT ON COLUMN @extschema@.kanon_run_risk.below_k IS 'rows in classes of fewer than k';
COMMENT ON COLUMN @extschema@.kanon_run_risk.share_below_k IS 'their share of all rows';
COMMENT ON COLUMN @extschema@.kanon_run_risk.prosecutor_highest IS 'the highest chance of telling which row is a person''s';
COMMENT ON COLUMN @extschema@.kanon_run_risk.prosecutor_average IS 'the average chance';

/* ---- risk of any relation ---- */

CREATE FUNCTION @extschema@.kanon_risk(
    relation          regclass,
    quasi_identifiers name[],
    sensitive         name[]     DEFAULT '{}',
    subject           name       DEFAULT NULL,
    population        regclass   DEFAULT NULL,
    threshold         float8     DEFAULT 0.2,
    hierarchies       jsonb      DEFAULT NULL,
    sampling_fraction float8     DEFAULT NULL,
    presence          jsonb      DEFAULT NULL,
    weights           name       DEFAULT NULL,
    household         name       DEFAULT NULL,
    special_uniques   int        DEFAULT NULL)
RETURNS TABLE (measure text, sensitive_column name, value float8, meaning text)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_risk';

COMMENT ON FUNCTION @extschema@.kanon_risk(regclass, name[], name[], name, regclass, float8, jsonb, float8, jsonb, name, name, int)
IS 'the risk of a relation, one measure per row: class sizes, chances of finding a person, sensitive values';

CREATE FUNCTION @extschema@.kanon_special_uniques(
    relation          regclass,
    quasi_identifiers name[],
    key               name,
    size              int DEFAULT 3)
RETURNS TABLE (key_value text, minimal_uniques bigint[], suda_score float8)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_special_uniques';

COMMENT ON FUNCTION @extschema@.kanon_special_uniques(regclass, name[], name, int)
IS 'for the owner of a relation: the rows that few columns tell from all others, how many sets of columns do, and their SUDA scores';

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

CREATE FUNCTION @extschema@.kanon_suggest_call(
    relation          regclass,
    target            text     DEFAULT NULL,
    k                 bigint   DEFAULT 5,
    linked            boolean  DEFAULT false)
RETURNS text
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_suggest_call';

COMMENT ON FUNCTION @extschema@.kanon_suggest_call(regclass, text, bigint, boolean)
IS 'a call of kanon_pattern_guided, or of kanon_linked for all tables that join, by the roles that kanon_suggest finds';

CREATE FUNCTION @extschema@.kanon_label(relation regclass, column_name name, role text)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_label';

COMMENT ON FUNCTION @extschema@.kanon_label(regclass, name, text)
IS 'writes the role of a column as a SECURITY LABEL of kanon: identifier, quasi-identifier, sensitive or keep; NULL takes it away';

/*
 * Policies: what laws and houses ask of a release, as points that can be looked up in the record of a run.  A row is
 * data and nothing else: nobody's code is in it, and nothing is called by it.
 */
CREATE TABLE @extschema@.kanon_policy (
    policy      text    PRIMARY KEY,
    description text    NOT NULL,
    points      jsonb   NOT NULL CHECK (pg_catalog.jsonb_typeof(points) OPERATOR(pg_catalog.=) 'array'),
    built_in    boolean NOT NULL DEFAULT false
);

INSERT INTO @extschema@.kanon_policy VALUES
    ('hipaa_safe_harbor', 'HIPAA, Safe Harbor (45 CFR 164.514 (b) (2)), as far as a record can show it', '[
        {"point": "names and numbers of persons", "asks": "identifiers", "law": "45 CFR 164.514 (b) (2) (i) (A), (D) to (R)"},
        {"point": "places", "asks": "absent", "names": "city|town|county|district|parish|municipal|street|address|latitude|longitude|^lat$|^lon$", "law": "(b) (2) (i) (B)"},
        {"point": "ZIP codes", "asks": "shown_by", "names": "zip|postal|post_?code", "builder": "hipaa_zip3", "law": "(b) (2) (i) (B)"},
        {"point": "dates", "asks": "shown_by", "names": "date|birth|^dob$|admi|discharg|death|died", "types": "^date$|^timestamp", "builder": "date", "finest": ["year", "decade", "century", "millennium"], "law": "(b) (2) (i) (C)"},
        {"point": "ages", "asks": "shown_by", "names": "(^|_)age($|_)", "builder": "age", "law": "(b) (2) (i) (C)"}]', true),
    ('ema_0070', 'EMA Policy 0070: a risk of at most 0.09 for each person', '[
        {"point": "risk", "asks": "k", "least": 12, "nearly": 11, "law": "external guidance on Policy 0070: 0.09, which is 1/12 or less; 1/11 is commonly taken"},
        {"point": "persons", "asks": "persons", "law": "the risk is that of a person"},
        {"point": "names and numbers of persons", "asks": "identifiers", "law": "direct identifiers"}]', true),
    ('health_canada', 'Health Canada, public release of clinical information: a risk of at most 0.09 for each person', '[
        {"point": "risk", "asks": "k", "least": 12, "nearly": 11, "law": "guidance document: 0.09; groups of 11 are commonly taken"},
        {"point": "persons", "asks": "persons", "law": "the risk is that of a person"},
        {"point": "names and numbers of persons", "asks": "identifiers", "law": "direct identifiers"}]', true),
    ('gdpr_wp216', 'GDPR, recital 26, by the three risks of Opinion 05/2014 (WP216)', '[
        {"point": "singling out", "asks": "k", "least": 2, "law": "WP216, 2.2"},
        {"point": "identifiers", "asks": "identifiers", "law": "recital 26"},
        {"point": "linking", "asks": "pseudonyms", "law": "WP216, 2.2"},
        {"point": "inference", "asks": "inference", "law": "WP216, 2.2"}]', true),
    ('small_numbers_5', 'small numbers: no count below 5', '[{"point": "least count", "asks": "k", "least": 5, "law": "practice of offices of statistics"}]', true),
    ('small_numbers_10', 'small numbers: no count below 10', '[{"point": "least count", "asks": "k", "least": 10, "law": "practice of offices of statistics"}]', true),
    ('school_10', 'school data: groups of 10 students', '[
        {"point": "least group", "asks": "k", "least": 10, "law": "34 CFR 99.31 (b); 10 is common practice of states"},
        {"point": "persons", "asks": "persons", "law": "students, not rows"},
        {"point": "identifiers", "asks": "identifiers", "law": "34 CFR 99.3"}]', true);

COMMENT ON TABLE @extschema@.kanon_policy IS 'one row per policy; read kanon_policies instead';

-- of a house's own ones: whoever restores a dump owns the extension there, and may write them (kanon_close)
SELECT pg_catalog.pg_extension_config_dump(p.tableoid, 'WHERE NOT built_in') FROM @extschema@.kanon_policy AS p LIMIT 1;

CREATE VIEW @extschema@.kanon_policies WITH (security_barrier) AS
SELECT policy, description, points, built_in FROM @extschema@.kanon_policy;

GRANT SELECT ON @extschema@.kanon_policies TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_policies IS 'named sets of points that laws and houses ask of a release; kanon_check_policy looks them up in the record of a run';
COMMENT ON COLUMN @extschema@.kanon_policies.policy IS 'its name';
COMMENT ON COLUMN @extschema@.kanon_policies.description IS 'the law or house that they are of';
COMMENT ON COLUMN @extschema@.kanon_policies.points IS 'its points: what each asks, and the place in the law';
COMMENT ON COLUMN @extschema@.kanon_policies.built_in IS 'whether it came with kanon';

CREATE FUNCTION @extschema@.kanon_create_policy(policy text, points jsonb, description text)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
INSERT INTO @extschema@.kanon_policy (policy, description, points) VALUES (kanon_create_policy.policy, kanon_create_policy.description, kanon_create_policy.points);
END;

COMMENT ON FUNCTION @extschema@.kanon_create_policy(text, jsonb, text)
IS 'adds a policy to kanon_policies, for a role that may write to the table kanon_policy';

CREATE FUNCTION kanon_internal.kanon_rule_is_as_strict(given jsonb, asked jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(given ->> 'rule' = asked ->> 'rule' AND NOT given ? 'listed' AND coalesce(given -> 'column', given -> 'columns') = coalesce(asked -> 'column', asked -> 'columns')
    AND (given - '{says,l,c,t,alpha}'::text[]) = (asked - '{says,l,c,t,alpha}'::text[])
    AND coalesce((given ->> 'l')::numeric >= (asked ->> 'l')::numeric, NOT asked ? 'l')
    AND coalesce((given ->> 'c')::numeric <= (asked ->> 'c')::numeric, NOT asked ? 'c')
    AND coalesce((given ->> 't')::numeric <= (asked ->> 't')::numeric, NOT asked ? 't')
    AND coalesce((given ->> 'alpha')::numeric <= (asked ->> 'alpha')::numeric, NOT asked ? 'alpha'), false);

COMMENT ON FUNCTION kanon_internal.kanon_rule_is_as_strict(jsonb, jsonb)
IS 'behind kanon_check_policy: whether a privacy rule is one that a policy asks for, or stricter';

CREATE FUNCTION kanon_internal.kanon_mask_is_as_strict(given jsonb, asked jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(given = asked OR given ? 'constant'
    OR jsonb_typeof(given) = 'object' AND jsonb_typeof(asked) = 'object' AND given - 'round' = asked - 'round' AND jsonb_typeof(given -> 'round') = 'number' AND jsonb_typeof(asked -> 'round') = 'number'
        AND (asked ->> 'round')::numeric > 0 AND (given ->> 'round')::numeric % (asked ->> 'round')::numeric = 0, false);

COMMENT ON FUNCTION kanon_internal.kanon_mask_is_as_strict(jsonb, jsonb)
IS 'behind kanon_check_policy: whether a mask is one that a policy asks for, or hides more: a constant, or a multiple of a rounding';

CREATE FUNCTION @extschema@.kanon_check_policy(run bigint, policy text)
RETURNS TABLE (point text, verdict text, says text, law text)
LANGUAGE sql STABLE PARALLEL SAFE
SET jit = off
BEGIN ATOMIC
WITH r AS (
    SELECT u.k, u.kept, u.options, u.target_oid, coalesce(u.options -> 'hierarchies', '{}') AS hierarchies, coalesce(u.options -> 'mask', '{}') AS mask,
           jsonb_path_exists(u.options, '$.privacy[*] ? (@.rule == "subject")') AS persons, u.disclosure, u.published
    FROM (SELECT v.*, v.class_min IS NOT NULL OR v.matches IS NOT NULL AS published FROM @extschema@.kanon_usefulness v WHERE v.run = kanon_check_policy.run) u),
p AS (
    SELECT x.e AS point, x.nr FROM @extschema@.kanon_policies y, jsonb_array_elements(y.points) WITH ORDINALITY AS x (e, nr) WHERE y.policy = kanon_check_policy.policy),
-- columns that a point is about: quasi-identifiers with the cells that they show as they were, and kept ones by name
about AS (
    SELECT p.nr, c.column_name AS name, CASE
               WHEN c.kept = 0 AND c.generalised = 0 THEN 'hidden'
               WHEN c.kept > 0 THEN 'as it was'
               WHEN NOT coalesce(jsonb_typeof(r.hierarchies -> c.column_name::text) = 'object' AND r.hierarchies -> c.column_name::text ? (p.point ->> 'builder'), false) THEN 'otherwise'
               WHEN p.point ? 'finest' AND NOT coalesce(p.point -> 'finest' ? (r.hierarchies -> c.column_name::text -> (p.point ->> 'builder') ->> 0), false) THEN 'too fine'
               ELSE 'coarse' END AS shown
    FROM r, p JOIN @extschema@.kanon_columns c ON c.run = kanon_check_policy.run
    WHERE c.column_name::text ~* (p.point ->> 'names') OR c.type ~* (p.point ->> 'types')
    UNION ALL
    SELECT p.nr, k.name, CASE WHEN r.mask -> k.name::text ? 'constant' THEN 'hidden' WHEN r.mask ? k.name::text THEN 'masked' ELSE 'as it was' END
    FROM p CROSS JOIN r CROSS JOIN unnest(r.kept) AS k (name) LEFT JOIN pg_attribute a ON a.attrelid = r.target_oid AND a.attname = k.name AND NOT a.attisdropped
    WHERE k.name::text ~* (p.point ->> 'names') OR format_type(a.atttypid, NULL) ~* (p.point ->> 'types')),
-- kept columns with their masks and rules, for points about these
asked AS (
    SELECT p.nr, string_agg(quote_ident(k.name), ', ' ORDER BY k.name) AS columns,
           string_agg(quote_ident(k.name), ', ' ORDER BY k.name) FILTER (WHERE NOT CASE p.point ->> 'asks'
               WHEN 'masked_by' THEN kanon_internal.kanon_mask_is_as_strict(r.mask -> k.name::text, p.point -> 'mask')
               ELSE EXISTS (SELECT FROM jsonb_array_elements(coalesce(r.options -> 'privacy', '[]')) AS x
                            WHERE kanon_internal.kanon_rule_is_as_strict(x, p.point -> 'rule' || jsonb_build_object('column', k.name))) END) AS bad
    FROM p CROSS JOIN r CROSS JOIN unnest(r.kept) AS k (name) LEFT JOIN pg_attribute a ON a.attrelid = r.target_oid AND a.attname = k.name AND NOT a.attisdropped
    WHERE (k.name::text ~* (p.point ->> 'names') OR format_type(a.atttypid, NULL) ~* (p.point ->> 'types') OR p.point ->> 'asks' = 'rule' AND NOT p.point ?| '{names,types}')
        AND (p.point ->> 'asks' = 'masked_by' OR p.point ->> 'asks' = 'rule' AND NOT p.point -> 'rule' ? 'column' AND NOT coalesce(r.mask -> k.name::text ? 'constant', false)) GROUP BY p.nr),
told AS (
    SELECT p.nr, p.point, CASE
        WHEN r.k IS NULL THEN 'no'
        WHEN p.point ->> 'asks' = 'k' THEN CASE WHEN r.k >= (p.point ->> 'least')::bigint THEN 'yes' WHEN r.k >= (p.point ->> 'nearly')::bigint THEN 'caution' ELSE 'no' END
        WHEN p.point ->> 'asks' = 'persons' THEN CASE WHEN r.persons THEN 'yes' ELSE 'caution' END
        WHEN p.point ->> 'asks' = 'identifiers' THEN CASE WHEN coalesce(r.options -> 'may_name_persons', '[]') <> '[]' OR coalesce(r.options -> 'allow_identifying', '[]') <> '[]' THEN 'no'
                                                          WHEN r.options ? 'identify_together' OR r.options ? 'tell' THEN 'caution' ELSE 'yes' END
        WHEN p.point ->> 'asks' = 'absent' THEN CASE WHEN a.shown IS NULL OR a.hidden THEN 'yes' ELSE 'no' END
        WHEN p.point ->> 'asks' = 'shown_by' THEN CASE WHEN a.bad IS NOT NULL THEN 'no' WHEN a.masked IS NOT NULL THEN 'caution' ELSE 'yes' END
        WHEN p.point ->> 'asks' = 'pseudonyms' THEN CASE WHEN jsonb_path_exists(r.mask, '$.* ? (@.pseudonym == "publication")') THEN 'caution' ELSE 'yes' END
        WHEN p.point ->> 'asks' = 'inference' THEN CASE WHEN r.kept = '{}' THEN 'yes' WHEN r.disclosure IS NULL OR jsonb_path_exists(r.disclosure, '$.columns[*] ? (@.one_rows > 0)') THEN 'caution' ELSE 'yes' END
        WHEN p.point ->> 'asks' = 'masked_by' THEN CASE WHEN w.bad IS NULL THEN 'yes' ELSE 'no' END
        WHEN p.point ->> 'asks' = 'rule' AND p.point -> 'rule' ? 'column' THEN CASE WHEN EXISTS (
            SELECT FROM jsonb_array_elements(coalesce(r.options -> 'privacy', '[]')) AS x WHERE kanon_internal.kanon_rule_is_as_strict(x, p.point -> 'rule')) THEN 'yes' ELSE 'no' END
        WHEN p.point ->> 'asks' = 'rule' THEN CASE WHEN w.bad IS NULL THEN 'yes' ELSE 'no' END
        WHEN p.point ->> 'asks' = 'options' THEN CASE WHEN r.options @> (p.point -> 'options') THEN 'yes' ELSE 'no' END
        ELSE 'no' END AS verdict, r.k, r.persons, a.*, r.options, w.columns AS asked, w.bad AS unasked
    FROM p LEFT JOIN r ON true LEFT JOIN LATERAL (
        SELECT string_agg(quote_ident(about.name), ', ' ORDER BY about.name) AS shown, bool_and(about.shown = 'hidden') AS hidden,
               string_agg(quote_ident(about.name), ', ' ORDER BY about.name) FILTER (WHERE about.shown NOT IN ('coarse', 'hidden', 'masked')) AS bad,
               string_agg(quote_ident(about.name), ', ' ORDER BY about.name) FILTER (WHERE about.shown = 'masked') AS masked
        FROM about WHERE about.nr = p.nr) a ON true LEFT JOIN asked w ON w.nr = p.nr)
SELECT t.point ->> 'point', t.verdict, CASE
        WHEN t.k IS NULL THEN 'You see no such run.'
        WHEN t.point ->> 'asks' = 'k' THEN format('k is %s; %s or more is asked for.', t.k, t.point ->> 'least')
        WHEN t.point ->> 'asks' = 'persons' THEN CASE WHEN t.persons THEN 'k counts persons (kanon_subject).' ELSE 'k counts rows. If a person can have several, name the column that tells persons apart: kanon_subject.' END
        WHEN t.point ->> 'asks' = 'identifiers' THEN CASE t.verdict WHEN 'yes' THEN 'No kept column is nearly unique, labelled or called like an identifier.' WHEN 'no' THEN 'Columns that may identify are published: see the page''s verdict on identifiers.' ELSE 'Kept columns identify together, or tell what is hidden: see the page.' END
        WHEN t.point ->> 'asks' = 'absent' THEN CASE t.verdict WHEN 'yes' THEN 'No column is called so, or it is empty.' ELSE format('Published: %s.', t.shown) END
        WHEN t.point ->> 'asks' = 'shown_by' THEN CASE WHEN t.shown IS NULL THEN 'No column is of this kind by name or type.' WHEN t.bad IS NOT NULL THEN format('Not only by the levels of "%s"%s: %s.', t.point ->> 'builder', coalesce(' from ' || (t.point -> 'finest' ->> 0) || ' on', ''), t.bad)
                                                       WHEN t.masked IS NOT NULL THEN format('Masked: %s. Whether the mask is enough is for you to say.', t.masked) ELSE format('Only by the levels of "%s", or not at all: %s.', t.point ->> 'builder', t.shown) END
        WHEN t.point ->> 'asks' = 'pseudonyms' THEN CASE t.verdict WHEN 'yes' THEN 'No pseudonym is the same in other releases.' ELSE 'Pseudonyms are the same in every release of the publication: readers can link them.' END
        WHEN t.point ->> 'asks' = 'inference' THEN CASE t.verdict WHEN 'yes' THEN 'In no class do all rows have one value of a kept column.' ELSE 'In some classes all rows have one value of a kept column, or that was not counted: ask for a rule, such as kanon_distinct_l.' END
        WHEN t.point ->> 'asks' = 'masked_by' THEN CASE WHEN t.unasked IS NOT NULL THEN format('Not masked so, or more: %s.', t.unasked) WHEN t.asked IS NULL THEN 'No kept column is of this kind by name or type.' ELSE format('Masked so, or more: %s.', t.asked) END
        WHEN t.point ->> 'asks' = 'rule' THEN CASE WHEN t.verdict = 'yes' THEN format('The rule "%s" holds, or a stricter one.', t.point -> 'rule' ->> 'rule') ELSE format('The rule "%s" is not asked for%s, or a weaker one.', t.point -> 'rule' ->> 'rule', ' of ' || t.unasked) END
        WHEN t.point ->> 'asks' = 'options' THEN CASE t.verdict WHEN 'yes' THEN 'The options are those.' ELSE 'Options are others: ' || (SELECT string_agg(o.key, ', ' ORDER BY o.key) FROM jsonb_each(t.point -> 'options') AS o WHERE NOT coalesce(t.options -> o.key = o.value, false)) || '.' END
        ELSE format('kanon does not know what "%s" asks.', t.point ->> 'asks') END, t.point ->> 'law'
FROM told t
UNION ALL
SELECT 'policy', 'no', 'There is no policy of that name in kanon_policies, or it has no points.', NULL WHERE NOT EXISTS (SELECT FROM p);
END;

COMMENT ON FUNCTION @extschema@.kanon_check_policy(bigint, text)
IS 'the points of a policy with their verdicts on a run: yes, caution or no';

/*
 * The options of a publication that keep a policy: what it asks for is added where the caller has said nothing, and
 * what the caller has said stays where it is as strict.  refused: points that the caller's own words leave.
 */
CREATE FUNCTION @extschema@.kanon_policy_options(
    policy            text,
    source            regclass,
    quasi_identifiers name[],
    k                 bigint DEFAULT NULL,
    options           jsonb  DEFAULT '{}',
    model             text   DEFAULT 'pattern_guided')
RETURNS TABLE (k bigint, options jsonb, refused text)
LANGUAGE sql STABLE PARALLEL SAFE
SET jit = off
BEGIN ATOMIC
WITH p AS (
    SELECT x.e AS point, x.e ->> 'asks' AS asks, x.nr FROM @extschema@.kanon_policies y, jsonb_array_elements(y.points) WITH ORDINALITY AS x (e, nr) WHERE y.policy = kanon_policy_options.policy),
g AS (
    SELECT coalesce(nullif(kanon_policy_options.options -> 'hierarchies', 'null'), '{}') AS hierarchies, coalesce(nullif(kanon_policy_options.options -> 'mask', 'null'), '{}') AS mask,
           coalesce(nullif(kanon_policy_options.options -> 'privacy', 'null'), '[]') AS privacy, coalesce(nullif(kanon_policy_options.options -> 'rules', 'null'), '{}') AS rules,
           coalesce(kanon_policy_options.options -> 'patterns', 'null') <> 'null' AS listed,
           coalesce(kanon_policy_options.k, (SELECT max((p.point ->> 'least')::bigint) FROM p WHERE p.asks = 'k')) AS k),
c AS (
    SELECT a.attname::text AS name, a.attnum, format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL) AS type, a.attname = ANY (kanon_policy_options.quasi_identifiers) AS is_qi
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = kanon_policy_options.source AND a.attnum > 0 AND NOT a.attisdropped
        AND (a.attname = ANY (kanon_policy_options.quasi_identifiers) OR coalesce(kanon_policy_options.options -> 'keep', '[]') ? a.attname::text)),
about AS (
    SELECT p.nr, p.point, p.asks, c.* FROM p, c
    WHERE c.name ~* (p.point ->> 'names') OR c.type ~* (p.point ->> 'types') OR p.asks = 'rule' AND NOT p.point ?| '{names,types}'),
-- builders that columns get, and whether what they have is one that the policy asks for
built AS (
    SELECT b.nr, b.name, b.attnum, b.point ->> 'builder' AS builder, CASE WHEN NOT g.hierarchies ? b.name THEN jsonb_build_object(b.point ->> 'builder', CASE WHEN b.point ? 'finest' THEN jsonb_build_array(b.point -> 'finest' -> 0) ELSE 'true' END) END AS added,
           coalesce(jsonb_typeof(g.hierarchies -> b.name) = 'object' AND g.hierarchies -> b.name ? (b.point ->> 'builder')
               AND (NOT b.point ? 'finest' OR b.point -> 'finest' ? (g.hierarchies -> b.name -> (b.point ->> 'builder') ->> 0)), false) AS kept
    FROM about b, g WHERE b.asks = 'shown_by' AND b.is_qi),
masked AS (
    SELECT b.nr, b.name, CASE WHEN NOT g.mask ? b.name THEN b.point -> 'mask' END AS added, kanon_internal.kanon_mask_is_as_strict(g.mask -> b.name, b.point -> 'mask') AS kept
    FROM about b, g WHERE b.asks = 'masked_by' AND NOT b.is_qi),
ruled AS (
    SELECT w.nr, w.name, w.rule, EXISTS (SELECT FROM jsonb_array_elements(g.privacy) AS x WHERE kanon_internal.kanon_rule_is_as_strict(x, w.rule)) AS kept,
           EXISTS (SELECT FROM jsonb_array_elements(g.privacy) AS x WHERE x ->> 'rule' = w.rule ->> 'rule' AND (x -> 'column' = w.rule -> 'column' OR w.rule ->> 'rule' = 'subject')) AS other
    FROM (SELECT b.nr, b.name, b.point -> 'rule' || jsonb_build_object('column', b.name) AS rule FROM about b, g WHERE b.asks = 'rule' AND NOT b.is_qi AND NOT b.point -> 'rule' ? 'column' AND NOT coalesce(g.mask -> b.name ? 'constant', false)
          UNION ALL SELECT p.nr, p.point -> 'rule' ->> 'column', p.point -> 'rule' FROM p WHERE p.asks = 'rule' AND p.point -> 'rule' ? 'column') w, g),
bad AS (
    SELECT 0 AS nr, 'there is no policy of that name in kanon_policies, or it has no points' AS says WHERE NOT EXISTS (SELECT FROM p)
    UNION ALL SELECT p.nr, CASE WHEN g.k IS NULL THEN 'the policy names no k' ELSE format('k is %s, and the policy asks for %s or more', g.k, p.point ->> 'least') END FROM p, g
    WHERE p.asks = 'k' AND coalesce(g.k < coalesce((p.point ->> 'nearly')::bigint, (p.point ->> 'least')::bigint), true)
    UNION ALL SELECT p.nr, 'allow_identifying must be empty' FROM p WHERE p.asks = 'identifiers' AND coalesce(nullif(kanon_policy_options.options -> 'allow_identifying', 'null'), '[]') <> '[]'
    UNION ALL SELECT b.nr, format('column %I may not be published', b.name) FROM about b, g WHERE b.asks = 'absent' AND NOT (NOT b.is_qi AND coalesce(g.mask -> b.name ? 'constant', false))
    UNION ALL SELECT b.nr, format('column %I is kept as it is: name it as a quasi-identifier, mask it, or leave it out', b.name) FROM about b, g WHERE b.asks = 'shown_by' AND NOT b.is_qi AND NOT g.mask ? b.name
    UNION ALL SELECT b.nr, format('the hierarchy of column %I is no "%s"%s', b.name, b.builder, coalesce(' from ' || (p.point -> 'finest' ->> 0) || ' on', '')) FROM built b JOIN p USING (nr) WHERE b.added IS NULL AND NOT b.kept
    UNION ALL SELECT m.nr, format('the mask of column %I hides less than the policy asks for', m.name) FROM masked m WHERE m.added IS NULL AND NOT m.kept
    UNION ALL SELECT w.nr, format('the rule "%s" of column %I is weaker than the policy asks for', w.rule ->> 'rule', w.name) FROM ruled w WHERE NOT w.kept AND w.other
    UNION ALL SELECT p.nr, format('option "%s" is another than the policy asks for', o.key) FROM p, jsonb_each(CASE WHEN p.asks = 'options' THEN p.point -> 'options' ELSE '{}' END) AS o
    WHERE kanon_policy_options.options ? o.key AND kanon_policy_options.options -> o.key <> o.value)
SELECT g.k, kanon_policy_options.options
        || coalesce((SELECT jsonb_object_agg(o.key, o.value) FROM p, jsonb_each(CASE WHEN p.asks = 'options' THEN p.point -> 'options' ELSE '{}' END) AS o), '{}')
        || CASE WHEN b.added IS NULL THEN '{}' ELSE jsonb_build_object('hierarchies', g.hierarchies || b.added) END
        || CASE WHEN m.added IS NULL THEN '{}' ELSE jsonb_build_object('mask', g.mask || m.added) END
        || CASE WHEN w.added IS NULL THEN '{}' ELSE jsonb_build_object('privacy', g.privacy || w.added) END
        || CASE WHEN b.coarsened IS NULL OR g.listed OR kanon_policy_options.model NOT IN ('pattern_guided', 'pattern_clustering') THEN '{}'
                ELSE jsonb_build_object('rules', g.rules || jsonb_build_object('coarsen', (SELECT jsonb_agg(DISTINCT x.name) FROM (SELECT jsonb_array_elements(b.coarsened) UNION ALL SELECT jsonb_array_elements(coalesce(g.rules -> 'coarsen', '[]'))) AS x (name)))) END
        || jsonb_build_object('policy', kanon_policy_options.policy),
       (SELECT string_agg(concat_ws(': ', p.point ->> 'point', bad.says), '; ' ORDER BY bad.nr, bad.says) FROM bad LEFT JOIN p USING (nr))
FROM g, (SELECT jsonb_object_agg(built.name, built.added) FILTER (WHERE built.added IS NOT NULL) AS added, jsonb_agg(built.name) AS coarsened FROM built) b,
    (SELECT jsonb_object_agg(masked.name, masked.added) FILTER (WHERE masked.added IS NOT NULL) AS added FROM masked) m,
    (SELECT jsonb_agg(ruled.rule) FILTER (WHERE NOT ruled.kept AND NOT ruled.other) AS added FROM ruled) w;
END;

COMMENT ON FUNCTION @extschema@.kanon_policy_options(text, regclass, name[], bigint, jsonb, text)
IS 'the k and the options that keep a policy: those given, and what it asks for beside them; refused: points that those given leave';

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
IS 'faults of a hierarchy for a column of a source; if it lists unused lines only, the hierarchy can be used';

CREATE FUNCTION @extschema@.kanon_hierarchy_interval(
    source            regclass,
    column_name       name,
    target            text,
    widths            numeric[],
    origin            numeric  DEFAULT 0,
    lower             numeric  DEFAULT NULL,
    upper             numeric  DEFAULT NULL,
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_interval';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_interval(regclass, name, text, numeric[], numeric, numeric, numeric, boolean)
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
    k                 bigint   DEFAULT 5,
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_quantile';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_quantile(regclass, name, text, int[], bigint, boolean)
IS 'writes a hierarchy of groups of equal frequency for a column whose values have an order';

CREATE FUNCTION @extschema@.kanon_hierarchy_from_fk(
    source            regclass,
    column_name       name,
    target            text,
    lookup            regclass DEFAULT NULL,
    key               name     DEFAULT NULL,
    parent            name     DEFAULT NULL,
    label             name     DEFAULT NULL,
    above             regclass DEFAULT NULL,
    above_key         name     DEFAULT NULL,
    above_label       name     DEFAULT NULL,
    replace           boolean  DEFAULT false)
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_hierarchy_from_fk';

COMMENT ON FUNCTION @extschema@.kanon_hierarchy_from_fk(regclass, name, text, regclass, name, name, name, regclass, name, name, boolean)
IS 'writes the hierarchy that a lookup table which points to its own parents or to another table, or a path of labels, has for a column';

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
CREATE FUNCTION @extschema@.kanon_presence(distributions regclass, population_rows bigint, dmin float8, dmax float8, confidence float8)
RETURNS jsonb LANGUAGE C STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_presence';
CREATE FUNCTION @extschema@.kanon_k_map(population regclass, subject name DEFAULT NULL)
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
COMMENT ON FUNCTION @extschema@.kanon_presence(regclass, bigint, float8, float8, float8) IS 'a privacy rule: bounds on the probability of being in the release, with a confidence, from shares of values in the population';
COMMENT ON FUNCTION @extschema@.kanon_k_map(regclass, name) IS 'a privacy rule: k is counted in a population, in rows or, by a column of it, in persons';
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

COMMENT ON DOMAIN @extschema@.kanon_options IS 'options of a kanon publication; the table with such a column is its definition';

-- true, false or 'values'.  Text in memory.
CREATE TYPE @extschema@.kanon_protection;

CREATE FUNCTION kanon_internal.kanon_protection_in(cstring) RETURNS @extschema@.kanon_protection
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
AS 'textin';

COMMENT ON FUNCTION kanon_internal.kanon_protection_in(cstring) IS 'behind protect_successive: a word, as text';

CREATE FUNCTION kanon_internal.kanon_protection_out(@extschema@.kanon_protection) RETURNS cstring
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
AS 'textout';

COMMENT ON FUNCTION kanon_internal.kanon_protection_out(@extschema@.kanon_protection) IS 'behind protect_successive: its text';

CREATE TYPE @extschema@.kanon_protection (
    INPUT = kanon_internal.kanon_protection_in,
    OUTPUT = kanon_internal.kanon_protection_out,
    LIKE = text);

COMMENT ON TYPE @extschema@.kanon_protection
IS 'protection over all releases of a publication: ''false'' (none), ''true'' (histories) or ''values''';

CREATE CAST (boolean AS @extschema@.kanon_protection) WITH INOUT AS IMPLICIT;
CREATE CAST (text AS @extschema@.kanon_protection) WITH INOUT AS IMPLICIT;

CREATE FUNCTION @extschema@.kanon_create_publication(
    name               text,
    source             regclass,
    quasi_identifiers  name[],
    k                  bigint,
    options            jsonb   DEFAULT '{}',
    model              text    DEFAULT 'pattern_guided',
    keep_releases      int     DEFAULT 1,
    stable             boolean DEFAULT true,
    protect_successive @extschema@.kanon_protection DEFAULT 'false',
    key                name    DEFAULT NULL,
    private_schema     name    DEFAULT NULL,
    append             name    DEFAULT NULL,
    lag                interval DEFAULT NULL,
    min_batch          bigint  DEFAULT NULL,
    max_batch          bigint  DEFAULT NULL,
    hold               text    DEFAULT NULL,
    expire             interval DEFAULT NULL,
    policy             text    DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_create_publication';

COMMENT ON FUNCTION @extschema@.kanon_create_publication(text, regclass, name[], bigint, jsonb, text, int, boolean, @extschema@.kanon_protection, name, name, name, interval, bigint, bigint, text, interval, text)
IS 'makes a view over the first k-anonymous release of a source; kanon_refresh makes the next ones';

CREATE FUNCTION @extschema@.kanon_create_linked_publication(
    name           text,
    subject        regclass,
    tables         jsonb,
    k              bigint,
    known_rows     @extschema@.kanon_known_rows DEFAULT '1',
    keep_releases  int     DEFAULT 1,
    stable         boolean DEFAULT true,
    protect_successive @extschema@.kanon_protection DEFAULT 'false',
    pseudonym      text    DEFAULT 'release',
    private_schema name    DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_create_linked_publication';

COMMENT ON FUNCTION @extschema@.kanon_create_linked_publication(text, regclass, jsonb, bigint, @extschema@.kanon_known_rows, int, boolean, @extschema@.kanon_protection, text, name)
IS 'makes views, in a schema, over the first release of several tables that join; kanon_refresh makes the next ones';

CREATE FUNCTION @extschema@.kanon_alter_publication(
    publication        text,
    quasi_identifiers  name[]  DEFAULT NULL,
    k                  bigint  DEFAULT NULL,
    options            jsonb   DEFAULT NULL,
    model              text    DEFAULT NULL,
    keep_releases      int     DEFAULT NULL,
    stable             boolean DEFAULT NULL,
    protect_successive @extschema@.kanon_protection DEFAULT NULL,
    key                name    DEFAULT NULL,
    set_options        jsonb   DEFAULT NULL,
    drop_options       name[]  DEFAULT NULL,
    dry_run            boolean DEFAULT false,
    solve              boolean DEFAULT true,
    renew_bounds       boolean DEFAULT false)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_alter_publication';

COMMENT ON FUNCTION @extschema@.kanon_alter_publication(text, name[], bigint, jsonb, text, int, boolean, @extschema@.kanon_protection, name, jsonb, name[], boolean, boolean, boolean)
IS 'changes a publication from its next refresh on, when a release can be made so; NULL leaves as it is';

CREATE FUNCTION @extschema@.kanon_drop_publication(publication text)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_drop_publication';

COMMENT ON FUNCTION @extschema@.kanon_drop_publication(text)
IS 'drops a publication: its view, releases and history';

CREATE FUNCTION @extschema@.kanon_refresh(
    publication  text,
    wait         boolean DEFAULT false,
    anew         boolean DEFAULT false,
    publish_late boolean DEFAULT false,
    recount      boolean DEFAULT false)
RETURNS TABLE (publication_name text, release bigint, status text, row_count bigint, k bigint, cost float8,
               held_persons bigint, error text, message text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_refresh';

COMMENT ON FUNCTION @extschema@.kanon_refresh(text, boolean, boolean, boolean, boolean)
IS 'makes the next release of a publication and switches its view, if its source has changed; a failure is recorded and returned';

CREATE PROCEDURE @extschema@.kanon_refresh_all()
LANGUAGE C
AS 'MODULE_PATHNAME', 'kanon_refresh_all';

COMMENT ON PROCEDURE @extschema@.kanon_refresh_all()
IS 'refreshes every publication of yours, each in a transaction of its own; fails in the end if one of them did';

CREATE FUNCTION @extschema@.kanon_publication_status(
    publication        text     DEFAULT NULL,
    fail_if_older_than interval DEFAULT NULL)
RETURNS TABLE (publication_name text, status text, k bigint, release bigint, refreshed_at timestamptz, age interval,
               failures bigint, error text, allow_identifying name[], smallest_difference bigint,
               held_persons bigint, held_oldest bigint, waiting_rows bigint, late_rows bigint, corrected_rows bigint,
               deleted_rows bigint, recounted_at timestamptz, problem text, remedy text, policy text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_publication_status';

COMMENT ON FUNCTION @extschema@.kanon_publication_status(text, interval)
IS 'whether a publication is fresh, stale, held or failing';

CREATE FUNCTION @extschema@.kanon_compare_releases(publication text, a bigint, b bigint)
RETURNS TABLE (persons bigint, persons_below_k bigint, k bigint, smallest bigint, joined bigint, joined_below_k bigint,
               departed bigint, departed_below_k bigint, moved bigint, moved_below_k bigint, changed bigint,
               changed_below_k bigint, smallest_difference bigint)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_compare_releases';

COMMENT ON FUNCTION @extschema@.kanon_compare_releases(text, bigint, bigint)
IS 'risk of two releases read together: persons hidden among fewer than k; persons who joined, left, moved or changed';

CREATE FUNCTION kanon_internal.kanon_publication_list()
RETURNS TABLE (publication text, owner regrole, published regclass, source regclass, quasi_identifiers name[],
               k bigint, model text, options jsonb, keep_releases int, stable boolean, protect_successive @extschema@.kanon_protection,
               key text, append text, release bigint, refreshed_at timestamptz, problem text, remedy text)
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_publication_list';

COMMENT ON FUNCTION kanon_internal.kanon_publication_list() IS 'behind kanon_publications';

CREATE FUNCTION kanon_internal.kanon_release_list()
RETURNS TABLE (publication text, release bigint, started timestamptz, finished timestamptz, status text,
               row_count bigint, k bigint, cost float8, held_persons bigint, held_oldest bigint, smallest_difference bigint, error text,
               message text, detail text, hint text, relation regclass, checked timestamptz)
LANGUAGE C STABLE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_release_list';

COMMENT ON FUNCTION kanon_internal.kanon_release_list() IS 'behind kanon_releases';

CREATE VIEW @extschema@.kanon_publications WITH (security_barrier) AS
SELECT * FROM kanon_internal.kanon_publication_list();

CREATE VIEW @extschema@.kanon_releases WITH (security_barrier) AS
SELECT * FROM kanon_internal.kanon_release_list();

GRANT SELECT ON @extschema@.kanon_publications, @extschema@.kanon_releases TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_publications IS 'publications of yours and of roles you belong to';
COMMENT ON COLUMN @extschema@.kanon_publications.publication IS 'name of the view that readers see';
COMMENT ON COLUMN @extschema@.kanon_publications.owner IS 'its owner';
COMMENT ON COLUMN @extschema@.kanon_publications.published IS 'the view';
COMMENT ON COLUMN @extschema@.kanon_publications.source IS 'the relation that is published';
COMMENT ON COLUMN @extschema@.kanon_publications.quasi_identifiers IS 'columns that could be joined with outside knowledge';
COMMENT ON COLUMN @extschema@.kanon_publications.k IS 'rows that every class has at least';
COMMENT ON COLUMN @extschema@.kanon_publications.model IS 'how releases are made: kanon_MODEL';
COMMENT ON COLUMN @extschema@.kanon_publications.options IS 'options of the model, and limits of releases';
COMMENT ON COLUMN @extschema@.kanon_publications.keep_releases IS 'releases that are kept, the current one among them';
COMMENT ON COLUMN @extschema@.kanon_publications.stable IS 'whether row types stay in their classes';
COMMENT ON COLUMN @extschema@.kanon_publications.protect_successive IS 'true: at least k persons share each person''s history over all releases; values: each person stays among l values';
COMMENT ON COLUMN @extschema@.kanon_publications.key IS 'the column that says whom a row is about; it is not published';
COMMENT ON COLUMN @extschema@.kanon_publications.append IS 'the column by which new rows are known that are appended batch by batch; NULL: each release has all rows';
COMMENT ON COLUMN @extschema@.kanon_publications.release IS 'number of the current release';
COMMENT ON COLUMN @extschema@.kanon_publications.refreshed_at IS 'when it was made, or last compared with an unchanged source';
COMMENT ON COLUMN @extschema@.kanon_publications.problem IS 'the fault of its view, definition, history or source; NULL: none';
COMMENT ON COLUMN @extschema@.kanon_publications.remedy IS 'the statement that mends it';
COMMENT ON VIEW @extschema@.kanon_releases IS 'releases of the publications in kanon_publications, failed refreshes among them';
COMMENT ON COLUMN @extschema@.kanon_releases.publication IS 'name of the view that readers see';
COMMENT ON COLUMN @extschema@.kanon_releases.release IS 'number of the release';
COMMENT ON COLUMN @extschema@.kanon_releases.started IS 'when its refresh began';
COMMENT ON COLUMN @extschema@.kanon_releases.finished IS 'when it ended';
COMMENT ON COLUMN @extschema@.kanon_releases.status IS 'current, kept, dropped, failed or held (nobody could be shown with enough others)';
COMMENT ON COLUMN @extschema@.kanon_releases.row_count IS 'rows that were published';
COMMENT ON COLUMN @extschema@.kanon_releases.k IS 'rows of the smallest class that shows something, NULL: none does; the k that was promised where it does not count rows of a class, but persons, say';
COMMENT ON COLUMN @extschema@.kanon_releases.cost IS 'the loss, as the method counts it';
COMMENT ON COLUMN @extschema@.kanon_releases.held_persons IS 'persons who left, moved, changed or joined and are held back until k of one history can be shown together; or who wait for others of their values (protect_successive)';
COMMENT ON COLUMN @extschema@.kanon_releases.held_oldest IS 'releases for which the first of them has been held back';
COMMENT ON COLUMN @extschema@.kanon_releases.smallest_difference IS 'fewest persons (without a key: rows of a class) that joined, left, moved or changed alike since the release before; NULL: none';
COMMENT ON COLUMN @extschema@.kanon_releases.error IS 'SQLSTATE of a refresh that failed';
COMMENT ON COLUMN @extschema@.kanon_releases.message IS 'text of the error, or what a release has lost, without data values';
COMMENT ON COLUMN @extschema@.kanon_releases.detail IS 'its detail, when kanon raised it';
COMMENT ON COLUMN @extschema@.kanon_releases.hint IS 'the remedy';
COMMENT ON COLUMN @extschema@.kanon_releases.relation IS 'the table of the release; NULL: it is dropped, failed or held';
COMMENT ON COLUMN @extschema@.kanon_releases.checked IS 'when a refresh last found the source unchanged since; NULL: none has';

CREATE FUNCTION kanon_internal.kanon_progress_list()
RETURNS TABLE (pid int, publication text, phase text, done bigint, total bigint, since timestamptz)
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_progress_list';

COMMENT ON FUNCTION kanon_internal.kanon_progress_list() IS 'behind kanon_progress';

CREATE VIEW @extschema@.kanon_progress WITH (security_barrier) AS
SELECT * FROM kanon_internal.kanon_progress_list();

GRANT SELECT ON @extschema@.kanon_progress TO PUBLIC;

COMMENT ON VIEW @extschema@.kanon_progress IS 'runs of yours that are under way, when kanon is in shared_preload_libraries';
COMMENT ON COLUMN @extschema@.kanon_progress.pid IS 'process of the session';
COMMENT ON COLUMN @extschema@.kanon_progress.publication IS 'the publication that is refreshed; NULL: a run of its own';
COMMENT ON COLUMN @extschema@.kanon_progress.phase IS 'the work at hand';
COMMENT ON COLUMN @extschema@.kanon_progress.done IS 'work done in this phase';
COMMENT ON COLUMN @extschema@.kanon_progress.total IS 'work of this phase in all; NULL: not known';
COMMENT ON COLUMN @extschema@.kanon_progress.since IS 'when the phase began';

/* ---- rows that are drawn by chance ---- */

CREATE FUNCTION @extschema@.kanon_alpha_beta(
    source            regclass,
    target            text,
    columns           name[],
    d                 float8,
    gamma             float8,
    domains           jsonb,
    allow_identifying name[]   DEFAULT '{}',
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false)
RETURNS TABLE (measure text, column_name name, value float8, meaning text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_alpha_beta';

COMMENT ON FUNCTION @extschema@.kanon_alpha_beta(regclass, text, name[], float8, float8, jsonb, name[], boolean, boolean)
IS 'publishes rows of the source with some probability, and other rows of the domain with a smaller one, so that none is believed in by more than gamma';

CREATE FUNCTION @extschema@.kanon_estimate(
    counted           bigint,
    domain            float8,
    alpha             float8,
    beta              float8)
RETURNS TABLE (estimate float8, standard_error float8)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
-- of what makes no sense, nothing is known
SELECT e.estimate,
       sqrt(greatest(0, e.some * (alpha + beta) * (1 - alpha - beta) + (kanon_estimate.domain - e.some) * beta * (1 - beta))) / alpha
FROM (SELECT q.estimate, least(greatest(q.estimate, 0), kanon_estimate.domain) AS some
      FROM (SELECT CASE WHEN alpha BETWEEN 1e-9 AND 1 AND beta BETWEEN 1e-18 AND 1 AND alpha + beta <= 1
                         AND kanon_estimate.domain BETWEEN 0 AND 1e18 AND kanon_estimate.domain = floor(kanon_estimate.domain)
                        THEN (counted - beta * kanon_estimate.domain) / alpha END AS estimate) q) e
WHERE e.estimate IS NOT NULL;
END;

COMMENT ON FUNCTION @extschema@.kanon_estimate(bigint, float8, float8, float8)
IS 'how many different rows of the source there are where so many are counted in a table by kanon_alpha_beta, out of so many combinations of values';

CREATE FUNCTION @extschema@.kanon_estimate_bounds(
    relation          regclass,
    condition         jsonb,
    labels            jsonb    DEFAULT NULL)
RETURNS TABLE (at_least bigint, at_most bigint, expected float8, row_count bigint, assumption text)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_estimate_bounds';

COMMENT ON FUNCTION @extschema@.kanon_estimate_bounds(regclass, jsonb, jsonb)
IS 'how many rows of a published table fulfil a condition of values: at least, at most and expected, by what ranges, sets, labels and empty cells may stand for';

CREATE FUNCTION @extschema@.kanon_synthetic(
    source            regclass,
    target            text,
    columns           name[],
    epsilon           float8,
    delta             float8,
    domains           jsonb,
    rows              bigint   DEFAULT NULL,
    allow_identifying name[]   DEFAULT '{}',
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false)
RETURNS TABLE (measure text, column_name name, value float8, meaning text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_synthetic';

COMMENT ON FUNCTION @extschema@.kanon_synthetic(regclass, text, name[], float8, float8, jsonb, bigint, name[], boolean, boolean)
IS 'publishes rows that are drawn from a noisy model of the source, with the least noise that keeps (epsilon, delta)-probabilistic differential privacy';

CREATE FUNCTION @extschema@.kanon_cross_training(
    source            regclass,
    target            text,
    columns           name[],
    t                 bigint,
    domains           jsonb    DEFAULT NULL,
    allow_identifying name[]   DEFAULT '{}',
    replace           boolean  DEFAULT false,
    dry_run           boolean  DEFAULT false)
RETURNS TABLE (measure text, column_name name, value float8, meaning text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_cross_training';

COMMENT ON FUNCTION @extschema@.kanon_cross_training(regclass, text, name[], bigint, jsonb, name[], boolean, boolean)
IS 'publishes rows of numbers with Gaussian noise: each half of them with noise as wide as cells of the other half that have more than 2 * t rows';

CREATE FUNCTION @extschema@.kanon_isolation(
    released          regclass,
    source            regclass,
    columns           name[],
    c                 float8,
    t                 bigint)
RETURNS TABLE (source_rows bigint, isolated_rows bigint, released_rows bigint, isolating_rows bigint, outside_rows bigint)
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_isolation';

COMMENT ON FUNCTION @extschema@.kanon_isolation(regclass, regclass, name[], float8, bigint)
IS 'how many rows of the source are (c, t)-isolated by a released row: fewer than t of them are within c times its distance of it';

/* ---- answers with noise ---- */

CREATE FUNCTION @extschema@.kanon_dp(
    source            regclass,
    aggregate         text,
    epsilon           numeric,
    of                name     DEFAULT NULL,
    by                name[]   DEFAULT '{}',
    subject           name     DEFAULT NULL,
    lower             numeric  DEFAULT NULL,
    upper             numeric  DEFAULT NULL,
    bins              int      DEFAULT NULL,
    groups            jsonb    DEFAULT NULL,
    delta             numeric  DEFAULT NULL,
    contributions     int      DEFAULT 1,
    grid              numeric  DEFAULT NULL)
RETURNS TABLE (group_values jsonb, bin_from numeric, bin_to numeric, value numeric, margin float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_dp';

COMMENT ON FUNCTION @extschema@.kanon_dp(regclass, text, numeric, name, name[], name, numeric, numeric, int, jsonb, numeric, int, numeric)
IS 'counts, sums, means and histograms with differential privacy, taken from a budget that the owner of the table has set';

CREATE FUNCTION @extschema@.kanon_set_budget(
    relation          regclass,
    epsilon           numeric,
    delta             numeric  DEFAULT 0,
    role              regrole  DEFAULT NULL,
    queries           bigint   DEFAULT NULL,
    power             float8   DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_set_budget';

COMMENT ON FUNCTION @extschema@.kanon_set_budget(regclass, numeric, numeric, regrole, bigint, float8)
IS 'how much kanon_dp may tell of a table to a role, or to all of them together; what was spent stays spent';

CREATE VIEW @extschema@.kanon_budget WITH (security_barrier) AS
SELECT l.relation, l.role::regrole AS role,
       trim_scale(l.epsilon / 1e6) AS epsilon, trim_scale(s.epsilon / 1e6) AS epsilon_spent, trim_scale(greatest(l.epsilon - s.epsilon, 0) / 1e6) AS epsilon_left,
       trim_scale(l.delta / 1e15) AS delta, trim_scale(s.delta / 1e15) AS delta_spent, trim_scale(greatest(l.delta - s.delta, 0) / 1e15) AS delta_left,
       l.queries, s.queries::bigint AS queries_spent, s.answers, s.last_at, l.set_by, l.set_at
FROM @extschema@.kanon_budget_limit l
JOIN pg_catalog.pg_class c ON c.oid = l.relation
CROSS JOIN LATERAL (
    SELECT coalesce(sum(p.epsilon), 0) AS epsilon, coalesce(sum(p.delta), 0) AS delta, coalesce(sum(p.queries), 0) AS queries,
           count(*) AS answers, max(p.asked_at) AS last_at
    FROM @extschema@.kanon_budget_spent p WHERE p.relation = l.relation AND p.role = l.role) s
WHERE pg_catalog.pg_has_role(c.relowner, 'MEMBER') OR pg_catalog.pg_has_role(l.role, 'MEMBER')
   OR l.role = 0 AND (pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
      OR EXISTS (SELECT FROM @extschema@.kanon_budget_spent p WHERE p.relation = l.relation AND pg_catalog.pg_has_role(p.asked_by, 'MEMBER')));

COMMENT ON VIEW @extschema@.kanon_budget IS 'budgets of kanon_dp and what is left of them: for your tables, your roles, and all roles together where you may ask or have asked';
COMMENT ON COLUMN @extschema@.kanon_budget.relation IS 'the table';
COMMENT ON COLUMN @extschema@.kanon_budget.role IS 'the role that has the budget; - for all roles together';
COMMENT ON COLUMN @extschema@.kanon_budget.epsilon IS 'the sum of epsilon that may be spent';
COMMENT ON COLUMN @extschema@.kanon_budget.epsilon_spent IS 'the part that answers have spent, whether somebody saw them or not';
COMMENT ON COLUMN @extschema@.kanon_budget.epsilon_left IS 'the part that is left';
COMMENT ON COLUMN @extschema@.kanon_budget.delta IS 'the sum of delta that may be spent, by answers that find groups';
COMMENT ON COLUMN @extschema@.kanon_budget.delta_spent IS 'the part that is spent';
COMMENT ON COLUMN @extschema@.kanon_budget.delta_left IS 'the part that is left';
COMMENT ON COLUMN @extschema@.kanon_budget.queries IS 'sums and counts that may be asked for; NULL: any number';
COMMENT ON COLUMN @extschema@.kanon_budget.queries_spent IS 'sums and counts that were asked for';
COMMENT ON COLUMN @extschema@.kanon_budget.answers IS 'calls of kanon_dp that were paid from it';
COMMENT ON COLUMN @extschema@.kanon_budget.last_at IS 'the last of them';
COMMENT ON COLUMN @extschema@.kanon_budget.set_by IS 'the role that set it last';
COMMENT ON COLUMN @extschema@.kanon_budget.set_at IS 'and when';

CREATE VIEW @extschema@.kanon_budget_answers WITH (security_barrier) AS
SELECT p.relation, p.role::regrole AS role, p.answer, p.asked_by, p.asked_at, p.aggregate,
       trim_scale(p.epsilon / 1e6) AS epsilon, trim_scale(p.delta / 1e15) AS delta, p.queries
FROM @extschema@.kanon_budget_spent p
JOIN pg_catalog.pg_class c ON c.oid = p.relation
WHERE pg_catalog.pg_has_role(c.relowner, 'MEMBER') OR pg_catalog.pg_has_role(p.asked_by, 'MEMBER');

COMMENT ON VIEW @extschema@.kanon_budget_answers IS 'each answer of kanon_dp about your tables, or that a role of yours has asked for, and the budgets that it was taken from';
COMMENT ON COLUMN @extschema@.kanon_budget_answers.relation IS 'the table';
COMMENT ON COLUMN @extschema@.kanon_budget_answers.role IS 'the role whose budget paid for it; - for the budget of all roles together';
COMMENT ON COLUMN @extschema@.kanon_budget_answers.answer IS 'its number among those that were taken from this budget';
COMMENT ON COLUMN @extschema@.kanon_budget_answers.asked_by IS 'the session''s user';
COMMENT ON COLUMN @extschema@.kanon_budget_answers.asked_at IS 'when the budget was charged';
COMMENT ON COLUMN @extschema@.kanon_budget_answers.aggregate IS 'count, sum, mean or histogram';
COMMENT ON COLUMN @extschema@.kanon_budget_answers.epsilon IS 'epsilon of the answer';
COMMENT ON COLUMN @extschema@.kanon_budget_answers.delta IS 'delta that the answer spent on finding groups';
COMMENT ON COLUMN @extschema@.kanon_budget_answers.queries IS 'sums and counts that it took';

GRANT SELECT ON @extschema@.kanon_budget, @extschema@.kanon_budget_answers TO PUBLIC;

/* ---- what was published, to be compared ---- */

CREATE FUNCTION @extschema@.kanon_attack(
    source            regclass,
    target            regclass,
    key               name,
    known             name[],
    trials            int        DEFAULT 1000,
    hierarchies       jsonb      DEFAULT NULL,
    knowledge         text       DEFAULT 'columns')
RETURNS TABLE (measure text, value float8, meaning text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_attack';

COMMENT ON FUNCTION @extschema@.kanon_attack(regclass, regclass, name, name[], int, jsonb, text)
IS 'tries linkage out: how often an attacker who knows some columns of random persons picks their records, beside what was promised; or counts what knowing the method tells';

CREATE FUNCTION @extschema@.kanon_compare(
    source            regclass,
    target            regclass,
    quasi_identifiers name[],
    keep              name[]   DEFAULT '{}',
    hierarchies       jsonb    DEFAULT NULL,
    queries           int      DEFAULT 1000,
    selectivity       float8   DEFAULT 0.05,
    seed              bigint   DEFAULT NULL)
RETURNS TABLE (measure text, column_name name, before float8, after float8, value float8, meaning text)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_compare';

COMMENT ON FUNCTION @extschema@.kanon_compare(regclass, regclass, name[], name[], jsonb, int, float8, bigint)
IS 'distance of a published table from its source, for analysts: distributions, means, correlations, counts';

CREATE FUNCTION @extschema@.kanon_distributions(
    source            regclass,
    target            regclass,
    quasi_identifiers name[],
    k                 bigint,
    keep              name[]   DEFAULT '{}',
    hierarchies       jsonb    DEFAULT NULL)
RETURNS TABLE (column_name name, bar text, before float8, after float8)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_distributions';

COMMENT ON FUNCTION @extschema@.kanon_distributions(regclass, regclass, name[], bigint, name[], jsonb)
IS 'how many rows have which values, before and after, with k or more rows behind each bar';

CREATE FUNCTION @extschema@.kanon_checksum(relation regclass)
RETURNS text
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'kanon_checksum';

COMMENT ON FUNCTION @extschema@.kanon_checksum(regclass)
IS 'SHA-256 of the rows of a relation as COPY writes them, sorted by their bytes';

/* ---- the page: a document that says what a run did, and its template ---- */

/*
 * Bound when it is made: nothing in the caller's search_path is met, but by kanon_frontier
 * and kanon_risk, which read relations as the caller.  A sentence says what is so of the
 * run at hand, whichever function, method and rules made it; its claim says the same to a
 * program, so that it can be compared with the table.
 */
-- what the functions below are asked; before anything is looked at
CREATE FUNCTION kanon_internal.kanon_page_asked(frontier bigint[], threshold float8, metadata jsonb, methods text[])
RETURNS boolean
LANGUAGE C STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_page_asked';

COMMENT ON FUNCTION kanon_internal.kanon_page_asked(bigint[], float8, jsonb, text[])
IS 'behind kanon_report, kanon_report_data and kanon_explore: raises what is wrong with their arguments';

/*
 * The page is about the record.  What a run has read and written is read again when the caller asks for that,
 * and only where it is still what the run has recorded, and nobody else's code can run.
 */
CREATE FUNCTION kanon_internal.kanon_recorded(relations jsonb)
RETURNS TABLE (part text, name text, relation regclass, why_not text)
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'kanon_recorded';

COMMENT ON FUNCTION kanon_internal.kanon_recorded(jsonb)
IS 'behind kanon_report_data: relations as a run has recorded them, and why one of them is not to be read';

-- a number as people read it, and a share; that of a risk is never told lower than it is
CREATE FUNCTION kanon_internal.kanon_counted(number bigint)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN to_char(number, 'FM999,999,999,999,999,990');

COMMENT ON FUNCTION kanon_internal.kanon_counted(bigint)
IS 'behind kanon_report_data: a number with commas';

CREATE FUNCTION kanon_internal.kanon_share_up(part float8, whole float8)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN to_char(CASE WHEN whole > 0 THEN least(ceil(1000 * part / whole - 1e-9) / 10, 100) ELSE 0 END, 'FM990.0') || ' %';

COMMENT ON FUNCTION kanon_internal.kanon_share_up(float8, float8)
IS 'behind kanon_report_data: a share in percent, rounded up';

-- an epsilon as the factor that it stands for, never told lower than it is: nobody reads an exponent
CREATE FUNCTION kanon_internal.kanon_factor(epsilon float8)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN CASE WHEN epsilon > 27 THEN 'more than 500,000,000,000' WHEN epsilon < 3 THEN 'up to ' || to_char(ceil(100 * exp(epsilon) - 1e-9) / 100, 'FM990.00')
            ELSE 'up to ' || to_char(ceil(exp(epsilon) - 1e-9), 'FM999,999,999,999,990') END;

COMMENT ON FUNCTION kanon_internal.kanon_factor(float8)
IS 'behind kanon_report_data and kanon_budget_report: exp(epsilon) in words, rounded up';

CREATE FUNCTION @extschema@.kanon_report_data(
    run               bigint,
    with_values       boolean  DEFAULT false,
    frontier          bigint[] DEFAULT NULL,
    threshold         float8   DEFAULT 0.2,
    sampling_fraction float8   DEFAULT NULL,
    metadata          jsonb    DEFAULT NULL,
    compare           boolean  DEFAULT false,
    read_target       boolean  DEFAULT false,
    read_population   boolean  DEFAULT false)
RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
-- whatever is read in the end is looked at again when it is opened
SET kanon.read_strangers = off
-- compiling the plan takes many times as long as the page, and no cancel ends it
SET jit = off
-- what a figure needs is read several times, and each time would say the same
SET client_min_messages = warning
BEGIN ATOMIC
WITH -- what the schema of these functions is called today
home AS (
    SELECT n.nspname AS name FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'kanon'),
r AS (
    SELECT u.*, coalesce((u.mechanism ->> 'rows')::bigint, (u.tables ->> 'published')::bigint, u.row_count - u.dropped_rows) AS published_rows,
           to_char(u.started_at AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC' AS started,
           coalesce(u.options -> 'privacy', '[]') AS privacy,
           u.transactions IS NULL AND u.matches IS NULL AND u.anatomy IS NULL AND u.mechanism IS NULL AND u.tables IS NULL AS has_classes,
           -- k is counted in a population, or in persons, instead of rows
           jsonb_path_query_first(u.options, '$.privacy[*] ? (@.rule == "k_map").population') #>> '{}' AS population,
           jsonb_path_query_first(u.options, '$.privacy[*] ? (@.rule == "k_map" || @.rule == "delta_presence").population') #>> '{}' AS any_population,
           jsonb_path_query_first(u.options, '$.privacy[*] ? (@.rule == "k_map").subject') #>> '{}' AS population_subject,
           jsonb_path_query_first(u.options, '$.privacy[*] ? (@.rule == "subject").column') #>> '{}' AS subject,
           -- or asked of what somebody may know together
           concat_ws(', or ', 'any ' || (u.options ->> 'known_columns') || ' or fewer',
                     (SELECT string_agg(x.word, ' or ' ORDER BY x.nr) FROM jsonb_array_elements_text(u.options -> 'combinations') WITH ORDINALITY AS x (word, nr))) AS known,
           u.options ?| ARRAY['known_columns', 'combinations'] AS few_known,
           CASE WHEN u.options ->> 'missing' = 'value' AND u.model = 'pattern_guided' THEN 'marked' ELSE coalesce(u.options ->> 'missing', 'aside') END AS few_missing,
           -- or of persons, over the tables of one release
           CASE WHEN u.tables IS NOT NULL THEN u.options WHEN u.options #> '{linked,promised}' = 'true' THEN u.options -> 'linked' END AS linked,
           l.source_now, l.source_not,
           -- of a protected publication, who is shown otherwise than in the source
           coalesce(u.options -> 'held_back', u.tables -> 'held_back') AS held,
           -- of a publication, what it is made of: its own relations have private names
           d.oid AS described, obj_description(d.oid, 'pg_class') AS comment,
           CASE WHEN u.publication IS NULL THEN u.source ELSE d.name END AS made_of,
           l.target_now, l.target_not, l.beside_now, l.beside_not, l.named_now, l.named_not,
           p.release, p.status AS release_status, to_char(p.checked AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC' AS checked
    FROM @extschema@.kanon_usefulness u
    -- what is asked for beside the record
    LEFT JOIN LATERAL (
        SELECT max(x.relation::oid) FILTER (WHERE x.part = 'source')::regclass AS source_now, max(x.why_not) FILTER (WHERE x.part = 'source') AS source_not,
               max(x.relation::oid) FILTER (WHERE x.part = 'target')::regclass AS target_now, max(x.why_not) FILTER (WHERE x.part = 'target') AS target_not,
               max(x.relation::oid) FILTER (WHERE x.part = 'beside')::regclass AS beside_now, max(x.why_not) FILTER (WHERE x.part = 'beside') AS beside_not,
               jsonb_object_agg(x.name, x.relation::oid) FILTER (WHERE x.part = 'option' AND x.relation IS NOT NULL) AS named_now,
               jsonb_object_agg(x.name, x.why_not) FILTER (WHERE x.part = 'option' AND x.why_not IS NOT NULL) AS named_not
        FROM kanon_internal.kanon_recorded((
            SELECT jsonb_agg(jsonb_build_object('part', e.part, 'name', e.name, 'oid', e.relation::text, 'kind', e.kind, 'owner', e.owner::oid::text))
            FROM @extschema@.kanon_run_relations e
            -- (rows of persons without quasi-identifiers have no classes to count)
            WHERE e.run = u.run AND NOT (e.part = 'target' AND u.options #> '{linked,promised}' = 'true' AND NOT EXISTS (SELECT FROM @extschema@.kanon_columns c WHERE c.run = u.run))
              AND CASE e.part WHEN 'source' THEN kanon_report_data.compare OR kanon_report_data.frontier IS NOT NULL
                                  WHEN 'target' THEN kanon_report_data.compare OR kanon_report_data.read_target OR kanon_report_data.read_population
                                  WHEN 'beside' THEN kanon_report_data.read_target
                                  ELSE kanon_report_data.compare OR kanon_report_data.frontier IS NOT NULL OR kanon_report_data.read_population END)) AS x) l ON true
    LEFT JOIN LATERAL (
        SELECT v.source::oid AS oid FROM @extschema@.kanon_publications v
        WHERE u.publication IS NOT NULL AND v.publication = u.publication) v ON true
    LEFT JOIN LATERAL (
        SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = CASE WHEN u.publication IS NULL THEN (
                SELECT e.relation FROM @extschema@.kanon_run_relations e WHERE e.run = u.run AND e.part = 'source' AND e.name = format('%I.%I', n.nspname, c.relname))
            ELSE v.oid END) d ON true
    LEFT JOIN LATERAL (
        SELECT l.release, l.status, l.checked FROM @extschema@.kanon_releases l
        WHERE u.publication IS NOT NULL AND l.relation::oid = u.target_oid) p ON true
    WHERE u.run = kanon_report_data.run
      AND kanon_internal.kanon_page_asked(kanon_report_data.frontier, kanon_report_data.threshold, kanon_report_data.metadata, '{any}'::text[])),
-- who is shown as before, not at all, or though gone
held AS (
    SELECT h.*, CASE WHEN h.among IS NOT NULL AND h.persons = 0 THEN 'Nobody waits to be shown.'
               WHEN h.among IS NOT NULL THEN format('%s to be shown, until others are there with the values among which a person stays; the first for %s.',
                      CASE h.persons WHEN 1 THEN '1 person waits' ELSE to_char(h.persons, 'FM999,999,999,999,999,990') || ' persons wait' END, CASE h.oldest WHEN 1 THEN '1 release' ELSE h.oldest || ' releases' END)
               WHEN h.persons = 0 THEN 'Nobody is held back.' ELSE
               format('%s held back, so that no difference between two releases points at fewer than %s persons; the first of them for %s. ',
                      CASE h.persons WHEN 1 THEN '1 person is' ELSE to_char(h.persons, 'FM999,999,999,999,999,990') || ' persons are' END, h.k, CASE h.oldest WHEN 1 THEN '1 release' ELSE h.oldest || ' releases' END)
               || format('Still shown though the source has them no more: %s%s. In the source and not shown: %s. Shown as they were before: %s.',
                      to_char(h.gone, 'FM999,999,999,999,999,990'), CASE WHEN h.gone_rows > 0 THEN ' (' || to_char(h.gone_rows, 'FM999,999,999,999,999,990') || CASE h.gone_rows WHEN 1 THEN ' row)' ELSE ' rows)' END ELSE '' END,
                      to_char(h.waiting, 'FM999,999,999,999,999,990'), to_char(h.persons - h.gone - h.waiting, 'FM999,999,999,999,999,990')) END AS says
    FROM (SELECT (r.held ->> 'persons')::bigint AS persons, (r.held ->> 'oldest')::bigint AS oldest, (r.held ->> 'waiting')::bigint AS waiting, (r.held ->> 'gone')::bigint AS gone,
                 (r.held ->> 'gone_rows')::bigint AS gone_rows, (r.held ->> 'source_rows')::bigint AS source_rows, coalesce((r.linked ->> 'k')::bigint, r.k) AS k,
                 (r.held ->> 'among')::int AS among, jsonb_path_query_first(r.privacy, '$[*] ? (@.rule == "distinct_l").column') #>> '{}' AS protected
          FROM r WHERE r.held IS NOT NULL) h),
columns AS (
    SELECT c.*, d.levels_shown, col_description(a.attrelid, a.attnum) AS comment,
           quote_ident(c.column_name) AS name
    FROM r JOIN @extschema@.kanon_columns c ON c.run = r.run
    LEFT JOIN pg_attribute a ON a.attrelid = r.described AND a.attname = c.column_name AND a.attnum > 0
    -- what its cells show, from the patterns of the classes
    LEFT JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object('level', l.nr, 'name', l.name, 'cells', coalesce(e.cells, 0),
                                            'share', coalesce(e.cells, 0) / nullif(r.published_rows, 0)::float8)
                         ORDER BY l.nr) AS levels_shown
        FROM unnest(c.levels) WITH ORDINALITY AS l (name, nr),
             LATERAL (SELECT sum(q.row_count)::bigint AS cells FROM @extschema@.kanon_equivalence_classes q
                      WHERE q.run = r.run AND strpos('123456789ABCDEFGHIJKLMNOPQRSTUVW', substr(q.pattern, c.ordinal, 1)) = l.nr
                        -- (a level of NULL is an empty cell)
                        AND q.shown ->> c.column_name::text IS NOT NULL) e) d ON true),
kept AS (
    SELECT k.name, k.nr, quote_ident(k.name) AS quoted,
           coalesce(r.options -> 'allow_identifying', '[]') ? k.name AS allowed,
           ARRAY(SELECT x ->> 'says' FROM jsonb_array_elements(r.privacy) AS x
                 WHERE x ->> 'column' = k.name OR x -> 'columns' ? k.name) AS rules,
           coalesce(r.options #> '{linked,keys}' ? k.name::text, false) AS is_key,
           -- what became of its values; NULL: nothing
           CASE WHEN r.options #> '{linked,keys}' ? k.name::text THEN 'a pseudonym in place of the key'
                WHEN m.mask IS NULL THEN NULL
                ELSE coalesce(nullif(concat_ws(', ',
                    CASE WHEN m.mask = '"pseudonym"' OR m.mask ? 'pseudonym' THEN 'a pseudonym, ' || CASE m.mask ->> 'pseudonym' WHEN 'publication' THEN 'the same in every release' ELSE 'for this release alone' END END,
                    'rounded to ' || (m.mask ->> 'round'),
                    'cut above ' || CASE WHEN m.mask -> 'top' < '1' AND m.mask -> 'top' > '0' THEN 'the quantile ' ELSE '' END || (m.mask ->> 'top'),
                    'cut below ' || CASE WHEN m.mask -> 'bottom' < '1' AND m.mask -> 'bottom' > '0' THEN 'the quantile ' ELSE '' END || (m.mask ->> 'bottom'),
                    'its first ' || (m.mask -> 'partial' ->> 0) || ' and last ' || (m.mask -> 'partial' ->> 1) || ' characters',
                    'shifted by up to ' || (m.mask ->> 'days') || ' days',
                    'with noise of ' || (m.mask ->> 'noise') || CASE WHEN m.mask ? 'by' THEN '' ELSE ' of its standard deviation' END,
                    'swapped within ' || (m.mask ->> 'swap') || ' % of the ranks',
                    CASE WHEN m.mask ? 'pram' THEN 'changed by chance' END,
                    'the ' || coalesce(m.mask ->> 'show', 'mean') || ' of at least ' || (m.mask ->> 'microaggregate') || ' rows' || CASE m.mask ->> 'show' WHEN 'median' THEN ', the exact value of one of them' ELSE '' END,
                    'the same for one value of one ' || quote_ident(m.mask ->> 'by') || ' in every release',
                    CASE WHEN m.mask ? 'constant' THEN 'the same in every row' END), ''), 'masked: ' || m.mask::text) END AS done,
           -- can its values be compared?
           EXISTS (SELECT FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
                   LEFT JOIN pg_type b ON b.oid = y.typbasetype
                   WHERE a.attrelid = r.target_now AND a.attname = k.name AND a.attnum > 0
                     AND (coalesce(b.typtype, y.typtype) = 'e' OR EXISTS (
                          SELECT FROM pg_opclass o WHERE o.opcmethod = 403 AND o.opcdefault
                             AND (o.opcintype = coalesce(b.oid, y.oid)
                               OR coalesce(b.oid, y.oid) = 'varchar'::regtype AND o.opcintype = 'text'::regtype)))) AS comparable
    FROM r, unnest(r.kept) WITH ORDINALITY AS k (name, nr), LATERAL (SELECT r.options -> 'mask' -> k.name::text AS mask) m),
-- what classes give away of each, counted when they were written
disclosed AS (
    SELECT d.e ->> 'column' AS name, quote_ident(d.e ->> 'column') AS quoted, (r.disclosure ->> 'classes')::bigint AS classes,
           (d.e ->> 'one_classes')::bigint AS one_classes, (d.e ->> 'one_rows')::bigint AS one_rows, (d.e ->> 'most_classes')::bigint AS most_classes, (d.e ->> 'most_rows')::bigint AS most_rows,
           -- where it repeats as a person would
           (d.e ->> 'least_persons')::bigint AS least, (d.e ->> 'single_classes')::bigint AS single_classes, (d.e ->> 'few_classes')::bigint AS few_classes, (d.e ->> 'few_rows')::bigint AS few_rows
    FROM r, jsonb_array_elements(r.disclosure -> 'columns') AS d (e)),
-- whom the table itself tells apart
persons AS (
    SELECT k.name::name, k.comparable FROM r JOIN kept k ON k.name = r.subject AND (k.done IS NULL OR k.done LIKE 'a pseudonym%')),
risk AS (
    SELECT jsonb_object_agg(x.stage, to_jsonb(x)) AS stages,
           max(x.k) FILTER (WHERE x.stage = 'target') AS least,
           max(x.blank_rows) FILTER (WHERE x.stage = 'target') AS blank
    FROM r JOIN @extschema@.kanon_run_risk x ON x.run = r.run),
sizes AS (
    SELECT s.*, s.size_from || CASE WHEN s.size_to IS NULL THEN ' rows or more' WHEN s.size_to > s.size_from THEN ' to ' || s.size_to || ' rows' WHEN s.size_from = 1 THEN ' row' ELSE ' rows' END AS label,
           row_number() OVER (ORDER BY s.size_from) = 1 OR s.size_to IS NULL OR s.size_from = r.k AS marked,
           ln(s.size_from) / nullif(ln(max(s.size_from) OVER ()), 0) AS place,
           coalesce(sum(s.source_rows) OVER before, 0) / nullif(r.row_count, 0)::float8 AS source_riskier,
           coalesce(sum(s.target_rows) OVER before, 0) / nullif(r.published_rows, 0)::float8 AS target_riskier
    FROM r JOIN @extschema@.kanon_class_sizes s ON s.run = r.run
    WINDOW before AS (ORDER BY s.size_from ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
patterns AS (
    SELECT p.*, p.row_count / nullif(r.published_rows, 0)::float8 AS share,
           row_number() OVER (ORDER BY p.row_count DESC, p.first) AS place,
           coalesce((SELECT string_agg(c.name || CASE substr(p.pattern, c.ordinal, 1)
                                       WHEN '*' THEN ' empty' WHEN '~' THEN ' as a range or a set'
                                       ELSE ' as ' || c.levels[strpos('123456789ABCDEFGHIJKLMNOPQRSTUVW', substr(p.pattern, c.ordinal, 1))] END, '; ' ORDER BY c.ordinal)
                     FROM columns c WHERE substr(p.pattern, c.ordinal, 1) <> '-'), 'every column as it was') AS words
    FROM r, LATERAL (
        SELECT q.pattern, count(*) AS classes, sum(q.row_count)::bigint AS row_count,
               sum(q.suppressed_cells)::bigint AS suppressed_cells, min(q.class) AS first
        FROM @extschema@.kanon_equivalence_classes q WHERE q.run = r.run AND q.class IS NOT NULL GROUP BY q.pattern) p),
-- what the commonest pattern that changes something makes of made-up values
example AS (
    SELECT c.ordinal, c.name, CASE WHEN x.shown IS NOT NULL THEN x.value END AS value,
           CASE l.symbol WHEN '-' THEN 'as it was' WHEN '*' THEN 'empty' WHEN '~' THEN 'in a range or a set' ELSE coalesce(x.shown, 'as ' || l.level) END AS shown,
           l.share, l.changes
    FROM r, columns c,
         LATERAL (SELECT substr(p.pattern, c.ordinal, 1) AS symbol, CASE WHEN substr(p.pattern, c.ordinal, 1) ~ '[1-9A-W]' THEN c.levels[strpos('123456789ABCDEFGHIJKLMNOPQRSTUVW', substr(p.pattern, c.ordinal, 1))]::text END AS level,
                         p.share, p.pattern !~ '^-+$' AS changes
                  FROM patterns p ORDER BY p.pattern ~ '^-+$', p.place LIMIT 1) l,
         LATERAL (SELECT CASE WHEN c.column_name ~* 'year|birth|born' THEN 1947 ELSE 47 END AS number) n,
         -- widths begin at 0 unless the call says otherwise
         LATERAL (SELECT CASE WHEN jsonb_typeof(r.options #> ARRAY['hierarchies', c.column_name::text]) = 'object' AND NOT r.options #> ARRAY['hierarchies', c.column_name::text] ?| '{origin,lower,upper}'
                              THEN substring(l.level FROM '^ranges of ([0-9]{1,4})$')::int END AS width,
                         nullif(least(substring(l.level FROM '^the first ([0-9]{1,4}) characters$')::int, 5), 5) AS digits) w,
         LATERAL (SELECT CASE WHEN w.width > 1 THEN n.number::text WHEN w.digits > 0 THEN '48103' WHEN l.level IN ('month', 'quarter', 'year', 'decade') THEN '17 May 1977' END AS value,
                         CASE WHEN w.width > 1 THEN format(CASE WHEN c.type ~ '^(small|big)?int' THEN '%s to %s' ELSE '%s to below %s' END, n.number / w.width * w.width,
                                                           (n.number / w.width + 1) * w.width - CASE WHEN c.type ~ '^(small|big)?int' THEN 1 ELSE 0 END)
                              WHEN w.digits > 0 THEN left('48103', w.digits) || repeat('*', 5 - w.digits)
                              WHEN l.level = 'month' THEN 'May 1977' WHEN l.level = 'quarter' THEN 'April to June 1977' WHEN l.level = 'year' THEN '1977' WHEN l.level = 'decade' THEN '1970 to 1979' END AS shown) x),
-- what the table at hand says: it can have been changed since
now AS (
    SELECT (SELECT to_jsonb(x) FROM @extschema@.kanon_check(r.target_now, q.names) AS x) AS grouped,
           CASE WHEN r.few_known THEN (SELECT max(z.rows_below_k) FROM @extschema@.kanon_check(r.target_now, q.names, (r.options ->> 'known_columns')::int, r.k,
                CASE WHEN r.options ? 'combinations' THEN ARRAY(SELECT jsonb_array_elements_text(r.options -> 'combinations')) END, r.few_missing, (SELECT p.name FROM persons p WHERE p.comparable)) AS z) END AS few_rare,
           -- (a mark tells rows apart, too, which look alike)
           (SELECT jsonb_agg(to_jsonb(y)) FROM @extschema@.kanon_risk(r.target_now, q.names || CASE WHEN r.options -> 'mark' = 'true' AND r.any_population IS NULL THEN '{kanon_pattern}'::name[] ELSE '{}' END,
                sensitive => ARRAY(SELECT x.name::name FROM kept x WHERE x.comparable ORDER BY x.nr),
                -- one that can be compared, as the columns are shown
                population => (SELECT c.oid::regclass FROM pg_class c
                    WHERE kanon_report_data.read_population AND c.oid = (r.named_now ->> r.any_population)::oid
                      AND NOT EXISTS (SELECT FROM pg_attribute a LEFT JOIN pg_attribute b ON b.attrelid = c.oid AND b.attname = a.attname
                                      WHERE a.attrelid = r.target_now AND a.attname = ANY (q.names) AND a.atttypid IS DISTINCT FROM b.atttypid)),
                -- with every argument of its type, nothing fits better
                subject => NULL::name, threshold => kanon_report_data.threshold, hierarchies => NULL::jsonb, sampling_fraction => kanon_report_data.sampling_fraction, presence => NULL::jsonb,
                weights => NULL::name, household => NULL::name, special_uniques => NULL::int) AS y) AS measures
    FROM r, LATERAL (SELECT ARRAY(SELECT c.column_name::name FROM columns c ORDER BY c.ordinal) AS names) q
    WHERE r.has_classes AND r.target_now IS NOT NULL AND (kanon_report_data.read_target OR kanon_report_data.read_population)),
rule_words AS (
    SELECT e.nr, v.nr AS part, e.key, v.item, e.value,
           CASE e.key WHEN 'max_suppressed' THEN format('At most %s of these columns are empty in a row.', v.item)
                      WHEN 'max_cost' THEN format('The empty cells of a row cost at most %s.', v.item)
                      WHEN 'never' THEN format('Never empty: %s.', v.item)
                      WHEN 'always' THEN format('Always empty: %s.', v.item)
                      WHEN 'together' THEN format('All of these are empty in a row, or none: %s.', v.item)
                      WHEN 'at_most_one' THEN format('At most one of these is empty in a row: %s.', v.item)
                      WHEN 'implies' THEN format('If the left column is empty in a row, so is the right one: %s.', v.item)
                      ELSE e.key || ': ' || v.item END AS says
    FROM r, jsonb_each(CASE jsonb_typeof(r.options -> 'rules') WHEN 'object' THEN r.options -> 'rules' ELSE '{}' END) WITH ORDINALITY AS e (key, value, nr),
         LATERAL (SELECT t.item, t.nr FROM jsonb_array_elements_text(
            CASE WHEN jsonb_typeof(e.value) = 'array' AND e.key IN ('never', 'always')
                 THEN CASE WHEN e.value = '[]' THEN '[]' ELSE jsonb_build_array(
                      (SELECT string_agg(quote_ident(n), ', ') FROM jsonb_array_elements_text(e.value) AS n)) END
                 WHEN jsonb_typeof(e.value) = 'array' THEN e.value
                 ELSE jsonb_build_array(e.value) END) WITH ORDINALITY AS t (item, nr)) AS v),
-- tables of a release as a whole, and where each stands in the picture: to the right of what it refers to
linked_tables AS (
    SELECT t.*, 20 + 250 * t.depth AS x, 20 + 84 * (row_number() OVER (PARTITION BY t.depth ORDER BY t.nr) - 1) AS y,
           format('%s as %s: %s of %s rows', t.source, t.target, to_char(t.published, 'FM999,999,999,999,999,990'), to_char(t.row_count, 'FM999,999,999,999,999,990'))
           || CASE t.role WHEN 'subject' THEN ', one for each person' WHEN 'rows' THEN ', rows of persons' WHEN 'lookup' THEN ', a lookup, published as named' WHEN 'copies' THEN ', columns of the rows that refer to it, a copy for each' ELSE ', without a key to the person; persons are counted in this table alone' END
           || coalesce('; left out: ' || nullif(concat_ws(', ', nullif(t.of_nobody, 0) || ' of nobody who is published', nullif(t.over_max_rows, 0) || ' over max_rows', nullif(t.rare, 0) || ' that too few persons have, or that hang on these'), ''), '') || '.' AS says,
           jsonb_build_object('table', t.source, 'role', t.role, 'rows', t.row_count, 'published', t.published) AS claim,
           CASE WHEN t.publication IS NULL THEN t.target ELSE (SELECT quote_ident(n.nspname) FROM pg_namespace n WHERE n.oid = t.home) || '.' || quote_ident(t.target) END AS shown,
           (SELECT jsonb_agg(c.column_name ORDER BY c.ordinal) FROM @extschema@.kanon_columns c WHERE c.run = t.run) AS names
    FROM (SELECT r.publication, (e.t ->> 'place')::int + 1 AS nr, e.t ->> 'table' AS source, e.t ->> 'target' AS target, e.t ->> 'role' AS role, e.t -> 'refers' AS refers,
                 (e.t ->> 'row_count')::bigint AS row_count, (e.t ->> 'published')::bigint AS published, (e.t ->> 'of_nobody')::bigint AS of_nobody, (e.t ->> 'over_max_rows')::bigint AS over_max_rows,
                 (e.t ->> 'rare')::bigint AS rare, (e.t ->> 'gcp')::float8 AS gcp, (e.t ->> 'suppressed')::float8 AS suppressed, (e.t ->> 'run')::bigint AS run,
                 left(e.t ->> 'target', 24) AS label, (e.t ->> 'role') || ', ' || to_char((e.t ->> 'published')::bigint, 'FM999,999,999,999,999,990') || ' rows' AS words, l.depth,
                 (SELECT c.relnamespace FROM @extschema@.kanon_publications p JOIN pg_class c ON c.oid = p.published WHERE p.publication = r.publication) AS home
          FROM r, jsonb_array_elements(r.tables -> 'tables') AS e (t),
               LATERAL (WITH RECURSIVE up (place, depth) AS (
                   SELECT e.t -> 'place', 0
                   UNION ALL
                   -- (along the first key: that to the person, of tables that have one)
                   SELECT o.t #> '{refers,0,to}', up.depth + 1 FROM up, jsonb_array_elements(r.tables -> 'tables') AS o (t) WHERE o.t -> 'place' = up.place AND o.t ->> 'role' = 'rows' AND up.depth < 20)
                   SELECT CASE e.t ->> 'role' WHEN 'lookup' THEN 0 WHEN 'copies' THEN 0 WHEN 'not linked' THEN 1 ELSE max(up.depth) END AS depth FROM up WHERE up.place IS NOT NULL) l) t),
-- the promise over all of them, counted again by the tables as they are now, if they can be read and still hang together
counted AS (
    SELECT c.*
    FROM r, LATERAL (
            SELECT max(x.relation::oid) FILTER (WHERE t.role = 'subject')::regclass AS subject, bool_and(k.constrained) AS whole,
                   jsonb_object_agg(k.name, jsonb_build_object('quasi_identifiers', t.names)) FILTER (WHERE k.name IS NOT NULL) AS tables
            FROM linked_tables t
            LEFT JOIN @extschema@.kanon_run_relations e ON e.run = t.run AND e.part = 'target'
            LEFT JOIN LATERAL kanon_internal.kanon_recorded(jsonb_build_array(jsonb_build_object('part', e.part, 'name', e.name, 'oid', e.relation::text, 'kind', e.kind, 'owner', e.owner::oid::text))) AS x ON e.run IS NOT NULL
            LEFT JOIN LATERAL (
                SELECT format('%I.%I', n.nspname, c.relname) AS name,
                       EXISTS (SELECT FROM pg_constraint o WHERE o.conrelid = c.oid AND CASE WHEN t.role IN ('subject', 'copies') THEN o.contype = 'p'
                               ELSE o.contype = 'f' AND o.confrelid <> c.oid AND o.confrelid IN (SELECT f.relation::oid FROM linked_tables u JOIN @extschema@.kanon_run_relations f ON f.run = u.run AND f.part = 'target' WHERE u.role IN ('subject', 'rows')) END) AS constrained
                FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = x.relation::oid) k ON true
            WHERE kanon_report_data.read_target AND r.tables IS NOT NULL AND t.role IN ('subject', 'rows', 'copies')
            HAVING coalesce(bool_and(k.constrained), false) AND count(*) = count(k.name)) AS a,
        LATERAL @extschema@.kanon_check_linked(a.subject, a.tables, r.k, (r.options ->> 'known_rows')::@extschema@.kanon_known_rows) AS c),
statements AS (
    SELECT * FROM (
        SELECT 10 AS nr, 0 AS part, 'release' AS about,
               format('On %s the role %s published %s ' || CASE
                          WHEN r.transactions IS NOT NULL THEN 'transactions of %s'
                          WHEN r.mechanism IS NOT NULL THEN CASE r.model WHEN 'cross_training' THEN 'rows of %s with noise' WHEN 'alpha_beta' THEN 'rows, some of %s and some made up,' ELSE 'made-up rows that follow %s' END
                          WHEN r.tables IS NOT NULL THEN 'rows about the persons of %s' WHEN r.published_rows = 1 THEN 'row of %s' ELSE 'rows of %s' END || ' as ',
                      r.started, r.run_by, to_char(r.published_rows, 'FM999,999,999,999,999,990'), coalesce(r.made_of, 'its source'))
               || CASE WHEN r.tables IS NOT NULL THEN format('%s tables that join, %s %s.', jsonb_array_length(r.tables -> 'tables'), CASE WHEN r.publication IS NULL THEN 'in the schema' ELSE 'a release of the publication' END, coalesce(r.publication, r.target))
                       WHEN r.publication IS NULL THEN format('the table %s', r.target)
                            || CASE WHEN r.anatomy IS NOT NULL THEN format(', and their values of %I as the table %s', r.anatomy ->> 'sensitive', r.anatomy ->> 'sensitive_target') || coalesce('. The view ' || (r.anatomy ->> 'view') || ' joins both', '') ELSE '' END
                            || CASE WHEN r.options ? 'linked' THEN format(', one table of a release of several about the persons of %s', r.options #>> '{linked,subject}') ELSE '' END || '.'
                       WHEN r.release IS NULL THEN format('a release of the publication %s that is not there any more.', r.publication)
                       ELSE format('release %s of the publication %s, %s.', r.release, r.publication,
                                   CASE r.release_status WHEN 'current' THEN 'which readers see as that view' ELSE 'which readers saw as that view' END) END AS says,
               jsonb_build_object(CASE WHEN r.transactions IS NULL THEN 'rows' ELSE 'transactions' END, r.published_rows)
               || CASE r.release_status WHEN 'current' THEN jsonb_build_object('readers_see', r.publication) ELSE '{}' END AS claim
        FROM r
        UNION ALL
        SELECT 15, 0, 'release', format('The rows are those of the source as it was on %s%s.', r.started, CASE WHEN h.persons > 0 AND h.among IS NOT NULL THEN ', but for persons who wait' WHEN h.persons > 0 THEN ', but for persons who are held back' ELSE '' END)
               || coalesce(' A refresh last looked at the source on ' || CASE r.release_status WHEN 'current' THEN r.checked END || ' and found it unchanged.', ''),
               jsonb_build_object('as_of', r.started)
        FROM r LEFT JOIN held h ON true WHERE r.publication IS NOT NULL
        UNION ALL
        SELECT 17, 0, 'release', h.says, jsonb_build_object('held_back', r.held)
        FROM r, held h
        UNION ALL
        SELECT 20, 0, 'release', CASE WHEN r.dropped_rows > 0 AND h.among IS NOT NULL THEN format('Left out so: %s.', CASE r.dropped_rows WHEN 1 THEN '1 row' ELSE to_char(r.dropped_rows, 'FM999,999,999,999,999,990') || ' rows' END)
                                 WHEN r.dropped_rows > 0 AND h.persons > 0 THEN format('Beside them, %s left out.', CASE r.dropped_rows WHEN 1 THEN '1 row was' ELSE to_char(r.dropped_rows, 'FM999,999,999,999,999,990') || ' rows were' END)
                                 WHEN r.dropped_rows = 0 AND h.persons > 0 THEN 'Of all others no row was left out.'
                                 WHEN r.dropped_rows = 0 THEN 'No row was left out.' WHEN r.dropped_rows = 1 THEN '1 row was left out.'
                                 ELSE to_char(r.dropped_rows, 'FM999,999,999,999,999,990') || ' rows were left out.' END,
               jsonb_build_object('left_out', r.dropped_rows)
        FROM r LEFT JOIN held h ON true WHERE r.transactions IS NULL AND r.mechanism IS NULL AND r.tables IS NULL
        UNION ALL
        SELECT 25, t.nr, 'tables', t.says, t.claim FROM linked_tables t
        UNION ALL
        SELECT 30, 0, 'columns', format('Quasi-identifiers, the columns that an attacker could know about a person: %s.',
                                        (SELECT string_agg(c.name, ', ' ORDER BY c.ordinal) FROM columns c)),
               jsonb_build_object('quasi_identifiers', (SELECT jsonb_agg(c.column_name ORDER BY c.ordinal) FROM columns c))
        FROM r WHERE r.transactions IS NULL AND r.anatomy IS NULL AND r.mechanism IS NULL AND r.tables IS NULL
        UNION ALL
        SELECT 40, 0, 'columns',
               CASE WHEN r.kept = '{}' THEN 'No other column of the source is in the table.'
                    WHEN r.mechanism IS NOT NULL THEN format('The rows have the columns %s, and no other column of the source.', (SELECT string_agg(k.quoted, ', ' ORDER BY k.nr) FROM kept k))
                    ELSE format('Published%s, unchanged%s: %s. No other column of the source is in the table.',
                                CASE WHEN r.transactions IS NOT NULL THEN ' beside the items' WHEN r.anatomy IS NULL THEN ' beside them' ELSE ' with the number of their group' END,
                                CASE WHEN EXISTS (SELECT FROM kept k WHERE k.done IS NOT NULL) THEN ' unless said in brackets' ELSE '' END,
                                (SELECT string_agg(k.quoted || coalesce(' (' || k.done || ')', ''), ', ' ORDER BY k.nr) FROM kept k)) END
               || CASE WHEN r.options -> 'mark' = 'true' THEN ' Its column kanon_pattern says what was done to each row.' ELSE '' END,
               jsonb_build_object('kept', to_jsonb(r.kept), 'marked', coalesce(r.options -> 'mark', 'false'))
               || CASE WHEN r.options ? 'mask' THEN jsonb_build_object('masked', (SELECT jsonb_agg(m) FROM jsonb_object_keys(r.options -> 'mask') AS m)) ELSE '{}' END
        FROM r WHERE r.tables IS NULL
        UNION ALL
        SELECT 50, 0, 'model',
               CASE WHEN r.transactions IS NOT NULL THEN 'Each transaction is a set of items. The table shows an item as it was, by a label that stands for several items, or not at all. An item is shown in the same way in every transaction.'
                    WHEN r.mechanism IS NOT NULL AND r.model = 'alpha_beta' THEN format('Each row of the source is in the table with probability %s, and each other combination of values with probability %s. So nobody can tell whether a single row is true.', trim_scale(round(((r.mechanism ->> 'alpha')::float8 + (r.mechanism ->> 'beta')::float8)::numeric, 4)), (SELECT trim_scale(round(b, 3 - floor(log(b))::int)) FROM (SELECT (r.mechanism ->> 'beta')::numeric AS b) b))
                    WHEN r.mechanism IS NOT NULL AND r.model = 'cross_training' THEN 'Each row is a row of the source with noise in every column.'
                    WHEN r.mechanism IS NOT NULL THEN 'No row was copied from the source. All rows were drawn from a noisy model of the source.'
                    WHEN r.anatomy IS NOT NULL THEN format('The rows stand as they were. Each has the number of a group that was drawn at random. The other table lists the values of %I in each group, but not which row has which.', r.anatomy ->> 'sensitive')
                    WHEN r.tables IS NOT NULL THEN 'Persons who look alike in the table of persons are a class. Inside each class the rows of the other tables show what several persons have in common. Keys are pseudonyms that agree in all tables.'
                    WHEN r.matches IS NOT NULL THEN 'There are no classes. Each record shows, column by column, what several rows have in common; records overlap.'
                    WHEN r.model = 'full_domain' THEN 'Every row is generalised to the same levels, or empty as a whole: '
                         || coalesce((SELECT string_agg(c.name || ' ' || CASE WHEN c.kept > 0 THEN 'as it was'
                                          WHEN c.generalised > 0 THEN 'as ' || (SELECT x ->> 'name' FROM jsonb_array_elements(c.levels_shown) AS x ORDER BY (x ->> 'cells')::bigint DESC LIMIT 1)
                                          ELSE 'empty' END, ', ' ORDER BY c.ordinal) FROM columns c), '') || '.'
                    WHEN r.model = 'subtree' THEN 'A value is shown in the same way in every row: as it was, by a level of its column''s hierarchy, or not at all. Different values may have different levels.'
                         || CASE r.options ->> 'scheme' WHEN 'sibling' THEN ' A level stands for the values below it that have no finer level.' ELSE '' END
                    WHEN r.model = 'pattern_clustering' THEN format('Each of the %s listed patterns belongs to at most one class of rows.', jsonb_array_length(r.options -> 'patterns'))
                    WHEN r.model = 'cluster' THEN 'Rows near one another form a class. A class shows what its rows have in common: a value, a range, a set, a level of a hierarchy, or nothing.'
                    WHEN EXISTS (SELECT FROM columns c WHERE c.levels <> '{}') THEN 'Each row has its own pattern: some cells are as they were, some are coarser, some are empty.'
                    ELSE 'Each row has its own pattern: some cells are as they were, some are empty.' END,
               CASE WHEN r.transactions IS NOT NULL THEN '{"shows": "items"}'
                    WHEN r.mechanism IS NOT NULL THEN '{"shows": "chance"}'
                    WHEN r.anatomy IS NOT NULL THEN '{"shows": "groups"}'
                    WHEN r.tables IS NOT NULL THEN '{"shows": "persons"}'
                    WHEN r.matches IS NOT NULL THEN '{"shows": "records"}'
                    WHEN r.model = 'full_domain' THEN jsonb_build_object('levels', (SELECT jsonb_object_agg(c.column_name, CASE WHEN c.kept > 0 THEN 0
                                          WHEN c.generalised > 0 THEN (SELECT (x ->> 'level')::int FROM jsonb_array_elements(c.levels_shown) AS x ORDER BY (x ->> 'cells')::bigint DESC LIMIT 1)
                                          END) FROM columns c))
                    WHEN r.model = 'subtree' THEN '{"shows": "cut"}'
                    WHEN r.model = 'pattern_clustering' THEN jsonb_build_object('classes_at_most', jsonb_array_length(r.options -> 'patterns'))
                    WHEN r.model = 'cluster' THEN '{"shows": "several"}'
                    WHEN EXISTS (SELECT FROM columns c WHERE c.levels <> '{}') THEN '{"shows": "levels"}'
                    ELSE '{"shows": "values"}' END
        FROM r
        UNION ALL
        SELECT 52, 0, 'ends', format('Ranges end in values of the source, and sets are lists of them. Cells that show a value which fewer than %s have: %s. An attacker reads from such a cell that somebody has just that value.',
                                     kanon_internal.kanon_counted(r.k) || CASE WHEN r.subject IS NULL THEN ' rows' ELSE ' persons' END,
                                     (SELECT string_agg(kanon_internal.kanon_counted(x.value::bigint) || ' of ' || quote_ident(x.key), ', ' ORDER BY x.key) FROM jsonb_each_text(r.options -> 'shows_few') AS x)),
               jsonb_build_object('shows_few', r.options -> 'shows_few')
        FROM r WHERE r.options ? 'shows_few'
        UNION ALL
        SELECT 55, 0, 'domains', format('The caller said which values each column may have (domains): %s combinations of values in all. Rows of the source with other values have no part in the table.', to_char((r.mechanism ->> 'domain')::numeric, 'FM999,999,999,999,999,999,990')),
               jsonb_build_object('domain', r.mechanism -> 'domain')
        FROM r WHERE r.model IN ('alpha_beta', 'synthetic') AND r.mechanism ? 'domain'
        UNION ALL
        SELECT 60, 0, 'promise',
               CASE WHEN r.transactions IS NOT NULL OR r.mechanism IS NOT NULL OR r.anatomy IS NOT NULL
                    THEN (SELECT upper(left(n.says, 1)) || substr(n.says, 2) || '. ' FROM (SELECT substr(r.note, strpos(r.note, ': ') + 2) AS says) n)
                         -- in words, as nobody reads an exponent
                         || CASE WHEN r.mechanism ? 'epsilon' THEN format('In plain words: whatever somebody sees or concludes from the table is more or less likely by a factor of %s if one row of the source is another one. ',
                                     kanon_internal.kanon_factor((r.mechanism ->> 'epsilon')::float8)) ELSE '' END
                         || CASE WHEN r.mechanism IS NOT NULL THEN format('(That is the promise of %s. It is about how %s drawn, and cannot be verified from the table itself.)', split_part(r.note, ',', 1), CASE r.model WHEN 'cross_training' THEN 'noise was' ELSE 'the rows were' END)
                                 ELSE format('(That is %s, counted in the %s.)', split_part(r.note, ':', 1), CASE WHEN r.anatomy IS NULL THEN 'table itself' ELSE 'tables themselves' END) END
                    WHEN r.matches IS NOT NULL THEN CASE r.method
                         WHEN 'one_k' THEN format('Every row of the source matches at least %s records of the table. A record may match a single row.', r.matches)
                         WHEN 'k_one' THEN format('Every record of the table matches at least %s rows of the source. A row may match a single record.', r.matches)
                         ELSE format('Every row of the source matches at least %1$s records of the table, and every record at least %1$s rows', r.matches)
                              || CASE WHEN r.method IN ('k_k', 'concealment') THEN ', which need not be equally likely.' ELSE ', each of them equally likely to be the true one.' || coalesce(' A row with a larger number in ' || quote_ident(r.options ->> 'k_column') || ' has that many.', '') END END
                    WHEN r.linked IS NOT NULL THEN format('Somebody may know the quasi-identifiers of a person, and those of %s. Either at least %s persons of the release fit, or none.',
                         CASE WHEN r.linked ->> 'known_rows' = 'all' THEN 'all rows of the person in each other table' WHEN r.linked ->> 'known_rows' = '1' THEN '1 row of the person in each other table'
                              WHEN r.linked ->> 'known_rows' ~ '^[0-9]$' THEN 'at most ' || (r.linked ->> 'known_rows') || ' rows of the person in each other table' ELSE r.linked ->> 'known' END, r.linked ->> 'k')
                         || ' kanon counted that over all tables before anybody could see them; kanon_check_linked counts it again.'
                    WHEN r.few_known THEN format('Every combination of values in %s of these columns that the table shows occurs in %s. %s%s Nothing is promised against somebody who knows more columns.', r.known, CASE WHEN r.subject IS NULL THEN format('at least %s rows', r.k) ELSE format('rows of at least %s persons, whom column %s tells apart', r.k, r.subject) END, CASE r.options ->> 'missing' WHEN 'any' THEN 'An empty cell counts as any value.' WHEN 'value' THEN CASE r.few_missing WHEN 'marked' THEN 'An empty cell that kanon_pattern does not mark as emptied is a value like others.' ELSE 'An empty cell is a value like others.' END ELSE 'Empty cells are no values.' END, CASE WHEN r.known ~ '=' THEN ' A number behind a set is its own least number of rows.' ELSE '' END)
                    WHEN r.population IS NOT NULL THEN format('Every combination of these columns in the table fits at least %s %s of the population %s%s.', r.k, CASE WHEN r.population_subject IS NULL THEN 'rows' ELSE 'different persons' END, r.population, coalesce(', counted by ' || quote_ident(r.population_subject), ''))
                    WHEN r.subject IS NOT NULL THEN format('Every combination of these columns in the table is shared by at least %s different persons (counted by %s).', r.k, quote_ident(r.subject))
                    ELSE format('Every combination of these columns in the table occurs in at least %s %s.', r.k, CASE r.k WHEN 1 THEN 'row' ELSE 'rows' END) END,
               CASE WHEN r.transactions IS NOT NULL THEN jsonb_build_object('transactions_promise', r.method, 'k', r.k, 'm', coalesce(r.options -> 'm', r.options -> 'p', '2'), 'h', r.options -> 'h', 'rho', r.options -> 'rho')
                    WHEN r.mechanism IS NOT NULL THEN r.mechanism - '{promise,domains}'::text[]
                    WHEN r.anatomy IS NOT NULL THEN r.anatomy - 'promise'
                    WHEN r.matches IS NOT NULL THEN jsonb_strip_nulls(jsonb_build_object(
                         'row_matches', CASE WHEN r.method <> 'k_one' THEN r.matches END, 'record_matches', CASE WHEN r.method <> 'one_k' THEN r.matches END,
                         'regular', CASE WHEN r.model = 'freeform' AND r.method <> 'concealment' THEN true END, 'k_column', r.options -> 'k_column'))
                    WHEN r.linked IS NOT NULL THEN jsonb_build_object('linked_persons', r.linked -> 'k', 'known_rows', r.linked -> 'known_rows')
                    WHEN r.few_known THEN jsonb_strip_nulls(jsonb_build_object(CASE WHEN r.subject IS NULL THEN 'combination_rows' ELSE 'combination_persons' END, r.k, 'person', r.subject, 'known_columns', r.options -> 'known_columns', 'combinations', r.options -> 'combinations', 'missing', r.options -> 'missing'))
                    WHEN r.population IS NOT NULL THEN jsonb_build_object(CASE WHEN r.population_subject IS NULL THEN 'population_rows' ELSE 'population_persons' END, r.k, 'population', r.population) || CASE WHEN r.population_subject IS NULL THEN '{}' ELSE jsonb_build_object('person', r.population_subject) END
                    WHEN r.subject IS NOT NULL THEN jsonb_build_object('class_persons', r.k, 'person', r.subject)
                    ELSE jsonb_build_object('class_rows', r.k) END
        FROM r
        UNION ALL
        SELECT 65, 0, 'promise', CASE WHEN h.among IS NULL THEN format('Over all releases: at least %s persons share each history, that is what readers were shown of somebody in which release, or when nothing.', h.k)
                    ELSE format('Over all releases: a person stays among the same %s values of %I, so that nobody who compares releases is surer of the value than 1 in %s. Who came, left or moved can be told.', h.among, h.protected, h.among) END,
               CASE WHEN h.among IS NULL THEN jsonb_build_object('history_persons', h.k) ELSE jsonb_build_object('history_values', h.among, 'column', h.protected) END
        FROM r, held h
        UNION ALL
        SELECT 70, x.nr, 'rules',
               CASE x.rule ->> 'rule'
                    WHEN 'delta_presence' THEN format('A reader can tell of a person of the population %s only that the person is in the table with a probability between %s and %s.', x.rule ->> 'population', x.rule ->> 'dmin', x.rule ->> 'dmax')
                    WHEN 'presence' THEN format('Take a population of %s persons whose values are distributed as in %s, independently of one another. A reader can tell of such a person only that the person is in the table with a probability between %s and %s. For each class this holds with a probability of at least %s.',
                              x.rule ->> 'population_rows', x.rule ->> 'distributions', x.rule ->> 'dmin', x.rule ->> 'dmax', x.rule ->> 'confidence')
                    ELSE format(CASE WHEN r.model = 'linked' THEN 'Of the rows that may be one that somebody knows of a person, counted by persons: %s.' WHEN r.linked IS NOT NULL THEN 'Of the persons whom somebody finds who knows that: %s.' ELSE 'In every class: %s.' END, x.rule ->> 'says') END,
               jsonb_build_object('rule', x.rule - 'says')
        FROM r, jsonb_array_elements(r.privacy) WITH ORDINALITY AS x (rule, nr) WHERE x.rule ->> 'rule' NOT IN ('k_map', 'subject')
        UNION ALL
        SELECT 80, 0, 'patterns', format('Each row has one of the %s listed patterns, or is empty as a whole.', jsonb_array_length(r.options -> 'patterns')),
               jsonb_build_object('patterns', r.options -> 'patterns')
        FROM r WHERE r.model = 'pattern_guided' AND jsonb_typeof(r.options -> 'patterns') = 'array'
        UNION ALL
        SELECT 80, w.nr::int * 100 + w.part::int, 'patterns', w.says || ' (If no such pattern fits, the row is empty as a whole.)', jsonb_build_object('mask', jsonb_build_object(w.key, w.item))
        FROM rule_words w
        UNION ALL
        SELECT 90, c.ordinal, 'column',
               CASE WHEN r.published_rows = 0 THEN format('%s: no cells.', c.name)
                    ELSE format('%s, %s cells: %s', c.name, to_char(r.published_rows, 'FM999,999,999,999,999,990'), array_to_string(ARRAY[
                        CASE WHEN c.kept > 0 THEN to_char(c.kept, 'FM999,999,999,999,999,990') || ' as they were' END,
                        CASE WHEN c.generalised > 0 AND c.levels_shown IS NOT NULL THEN (SELECT string_agg(to_char((x ->> 'cells')::bigint, 'FM999,999,999,999,999,990') || ' as ' || (x ->> 'name'), ', ' ORDER BY x -> 'level') FROM jsonb_array_elements(c.levels_shown) AS x WHERE x -> 'cells' <> '0')
                             WHEN c.generalised > 0 THEN to_char(c.generalised, 'FM999,999,999,999,999,990') || ' as a range or a set' END,
                        CASE WHEN c.suppressed > 0 THEN to_char(c.suppressed, 'FM999,999,999,999,999,990') || ' empty' || CASE WHEN c.nulls > 0 THEN ' (' || to_char(c.nulls, 'FM999,999,999,999,999,990') || ' of them were not emptied: the source has no value there)' ELSE '' END END], ', ') || '.') END,
               jsonb_build_object('column', c.column_name, 'kept', c.kept, 'generalised', c.generalised, 'blank', c.suppressed, 'levels', c.levels_shown)
        FROM r, columns c
        UNION ALL
        SELECT 100, 0, 'weights', format('An empty cell costs: %s.', (SELECT string_agg(c.name || ' ' || CASE jsonb_typeof(r.options -> 'weights') WHEN 'array' THEN r.options -> 'weights' ->> (c.ordinal - 1)::int
                        ELSE coalesce(r.options -> 'weights' ->> c.column_name::text, '1') END, ', ' ORDER BY c.ordinal) FROM columns c)),
               jsonb_build_object('weights', r.options -> 'weights', 'cost', r.cost)
        FROM r WHERE jsonb_typeof(r.options -> 'weights') IN ('array', 'object')
        UNION ALL
        SELECT 110, 0, 'method', format('The release was found by the method %s', r.method)
               || CASE WHEN r.options ? 'stayed_near' AND r.few_known THEN '. It shows nothing of an unchanged row that the release before did not show; another release may lose less.'
                       WHEN r.options ? 'stayed_near' THEN '. It keeps rows in the classes of the release before; another release may lose less.'
                       WHEN r.model = 'full_domain' AND r.options ? 'metric_bound' THEN format(': the best levels by the metric %s that it reached within its time and memory. A bound proves that none are better than %s.',
                            r.options ->> 'metric', round((r.options ->> 'metric_bound')::numeric, 4))
                       WHEN r.model = 'full_domain' THEN format(': no levels are better by the metric %2$s, among all that keep the rules with at most %1$s %% of the rows empty as a whole.',
                            100 * (r.options ->> 'suppression_limit')::numeric, r.options ->> 'metric')
                       WHEN r.model = 'subtree' AND r.proven THEN ': no such release under these rules costs less (proven).'
                       WHEN r.model = 'subtree' AND r.lower_bound > 0 THEN format('. It costs %s; no such release under these rules costs less than %s.', trim_scale(round(r.cost::numeric, 4)), trim_scale(round(r.lower_bound::numeric, 4)))
                       WHEN r.proven AND r.gap = 0 THEN ': no release under these rules costs less (proven).'
                       WHEN r.lower_bound > 0 THEN format('. It costs %s; no release under these rules costs less than %s.', trim_scale(round(r.cost::numeric, 4)), trim_scale(round(r.lower_bound::numeric, 4)))
                       ELSE ', a fast heuristic; another release may lose less.' END
               || CASE WHEN r.guarantee > 1 AND r.guarantee <= 10 AND r.proven IS NOT TRUE THEN format(' The method never costs more than %s times the least.', trim_scale(round(r.guarantee::numeric, 2))) ELSE '' END,
               jsonb_build_object('method', r.method, 'cost', r.cost, 'best', CASE WHEN r.model = 'full_domain' AND NOT r.options ?| '{metric_bound,stayed_near}' THEN to_jsonb(r.options ->> 'metric') ELSE to_jsonb(coalesce(r.proven AND r.gap = 0, false)) END,
                                  'lower_bound', r.lower_bound, 'guarantee', r.guarantee, 'suppression_limit', r.options -> 'suppression_limit')
        FROM r WHERE r.mechanism IS NULL AND r.tables IS NULL
        UNION ALL
        SELECT 120, 0, 'residual',
               CASE WHEN k.blank = 0 THEN 'No row is empty in all of these columns.'
                    ELSE format('%s %s empty in all of these columns.', to_char(k.blank, 'FM999,999,999,999,999,990'), CASE k.blank WHEN 1 THEN 'row is' ELSE 'rows are' END)
                         || CASE WHEN k.blank < r.k THEN ' That is fewer than k: an attacker who knows that a person is in the table can tell that the person is one of them.' ELSE '' END END
               || CASE r.options ->> 'residual' WHEN 'drop' THEN ' Rows that fit nowhere are left out.'  WHEN 'error' THEN ' Had rows fit nowhere, nothing would have been published.' ELSE '' END,
               jsonb_build_object('blank_rows', k.blank, 'residual', r.options -> 'residual')
        FROM r, risk k WHERE r.has_classes AND r.published_rows > 0) AS s),
-- the source and the table side by side, as they are now; what is masked has other values on purpose
sides AS (
    SELECT r.run, r.source_now, r.target_now, r.options -> 'hierarchies' AS hierarchies,
           -- where k is 1, a bar would be a person
           greatest(r.k, 5) AS least,
           ARRAY(SELECT c.column_name::name FROM columns c ORDER BY c.ordinal) AS names,
           ARRAY(SELECT k.name::name FROM kept k WHERE k.comparable AND NOT k.allowed AND k.done IS NULL ORDER BY k.nr LIMIT 256 - (SELECT count(*) FROM columns)) AS kept,
           (SELECT count(*) FROM kept k WHERE k.comparable AND NOT k.allowed AND k.done IS NULL) AS could
    FROM r WHERE kanon_report_data.compare AND r.transactions IS NULL AND r.anatomy IS NULL AND r.mechanism IS NULL AND r.published_rows > 0 AND r.source_now IS NOT NULL AND r.target_now IS NOT NULL AND r.named_not IS NULL),
compared AS (
    SELECT x.* FROM sides s, LATERAL @extschema@.kanon_compare(s.source_now, s.target_now, s.names, keep => s.kept, hierarchies => s.hierarchies,
        queries => 1000, selectivity => 0.05::float8, seed => 1::bigint) AS x),
bars AS (
    SELECT d.column_name, d.nr, d.bar, d.before, d.after,
           -- of the rows that were read: the source may have others by now
           d.before / nullif(sum(d.before) OVER w, 0)::float8 AS before_share, d.after / nullif(sum(d.after) OVER w, 0)::float8 AS after_share
    FROM (SELECT d.*, row_number() OVER () AS nr
          FROM sides s, LATERAL @extschema@.kanon_distributions(s.source_now, s.target_now, s.names, s.least, keep => s.kept, hierarchies => s.hierarchies) AS d) d
    WINDOW w AS (PARTITION BY d.column_name)),
-- whose values the rows had that were left out: the bar that lost most, as a share of them
moved AS (
    SELECT x.column_name AS name, x.value AS distance,
           (SELECT max(b.before - b.after) / nullif(r.dropped_rows, 0) FROM bars b WHERE b.column_name = x.column_name) AS of_one_bar,
           row_number() OVER (ORDER BY x.value DESC, x.column_name) AS place
    FROM r, sides s, compared x
    WHERE r.dropped_rows > 0 AND x.measure = 'distribution_distance' AND x.column_name = ANY (s.kept) AND x.value >= 0.01),
-- what two releases give away together can be told while both are there
releases AS (
    SELECT l.*, CASE WHEN kanon_report_data.read_target AND l.key IS NOT NULL AND l.relation IS NOT NULL AND l.earlier IS NOT NULL
                     THEN (SELECT c.persons_below_k FROM @extschema@.kanon_compare_releases(l.publication, l.earlier, l.release) AS c) END AS persons_below_k
    FROM (SELECT l.*, p.key, lag(CASE WHEN l.relation IS NOT NULL THEN l.release END) OVER (ORDER BY l.release) AS earlier
          FROM r, @extschema@.kanon_releases l JOIN @extschema@.kanon_publications p ON p.publication = l.publication
          WHERE l.publication = r.publication AND l.status <> 'failed') l),
verdicts AS (
    SELECT * FROM (
        SELECT 10 AS nr, 'quasi_identifiers' AS about,
               CASE WHEN n.grouped IS NOT NULL AND ((n.grouped ->> 'row_count')::bigint <> r.published_rows OR r.population IS NULL AND NOT r.few_known AND (n.grouped ->> 'k')::bigint < r.k AND NOT (k.blank < r.k AND n.grouped -> 'k' = n.grouped -> 'blank_rows')) THEN 'no'
                    WHEN NOT l.safe THEN 'no'
                    WHEN r.matches IS NOT NULL AND r.method IN ('one_k', 'k_one', 'k_k', 'concealment') THEN 'caution'
                    WHEN r.anatomy IS NOT NULL OR r.mechanism IS NOT NULL THEN 'caution'
                    WHEN n.few_rare > 0 THEN 'no'
                    WHEN r.few_known THEN 'caution'
                    WHEN k.blank > 0 AND k.blank < r.k THEN 'caution'
                    -- a promise about who does not know that the person is in the table
                    WHEN r.population IS NOT NULL AND k.least < r.k THEN 'caution'
                    ELSE 'yes' END AS verdict,
               CASE WHEN r.published_rows = 0 THEN 'Nothing to protect: the table has no rows.'
                    WHEN n.grouped IS NOT NULL AND (n.grouped ->> 'row_count')::bigint <> r.published_rows THEN 'The table has been changed since it was published: it has another number of rows.'
                    WHEN n.grouped IS NOT NULL AND r.population IS NULL AND NOT r.few_known AND (n.grouped ->> 'k')::bigint < r.k AND NOT (k.blank < r.k AND n.grouped -> 'k' = n.grouped -> 'blank_rows') THEN 'The table has been changed since it was published: its smallest class is too small.'
                    WHEN r.transactions IS NOT NULL THEN 'The promise was kept when the table was published: it was counted in the table before anybody could see it.'
                    WHEN r.matches IS NOT NULL AND r.method IN ('one_k', 'k_one', 'k_k', 'concealment') THEN 'The promise was kept when the table was published, but it is weaker than k-anonymity.'
                    WHEN r.mechanism IS NOT NULL THEN CASE r.model WHEN 'cross_training' THEN 'Noise was' ELSE 'The rows were' END || ' drawn with a secure random generator. That cannot be verified from the table itself. kanon checked that the table has the rows that were drawn, and no others.'
                    WHEN r.anatomy IS NOT NULL THEN 'The promise was kept when the tables were published, but it protects the sensitive values alone. Somebody who knows a person''s other values finds the row, and knows that the person is in the table.'
                    WHEN r.matches IS NOT NULL THEN format('Every row and every record has at least %s matches, and each is as likely the true one as the others. kanon counted the matches in the table before anybody could see it.', r.matches)
                    WHEN NOT l.safe THEN format('The tables have been changed since they were published: %s combinations of rows have fewer than %s persons, %s rows belong to nobody, and the smallest class has %s persons.', l.below_k, r.k, l.dangling, coalesce(l.smallest_class, 0))
                    WHEN r.linked IS NOT NULL THEN format('At least %s persons were promised for what somebody may know of a person. kanon counted them over all tables of the release before anybody could see them.', r.linked ->> 'k')
                         || coalesce(' The smallest class has ' || (r.tables ->> 'smallest_class') || ' persons' || coalesce(', and the rarest combination of rows ' || nullif(r.tables ->> 'smallest', '0'), '') || '.', '')
                         || CASE WHEN l.safe THEN format(' kanon_check_linked counted the tables again for this page: %s combinations of rows, the rarest of %s persons.', l.combinations, coalesce(l.smallest, 0)) ELSE '' END
                    WHEN n.few_rare > 0 THEN format('The table has been changed since it was published: a combination that somebody may know has too few %s.', CASE WHEN EXISTS (SELECT FROM persons p WHERE p.comparable) THEN 'persons' ELSE 'rows' END)
                    WHEN r.few_known THEN 'The combinations were counted in the table before anybody could see it. The promise is weaker than k-anonymity: it is about somebody who knows few columns, and a person can still be found as the only one with an empty cell.'
                    WHEN k.blank > 0 AND k.blank < r.k THEN format('%s empty in all of these columns, fewer than k: an attacker who knows that a person is in the table can tell that the person is one of them. With residual => ''fill'' there would be none, or at least k.',
                        CASE k.blank WHEN 1 THEN '1 row is' ELSE k.blank || ' rows are' END)
                    WHEN k.least IS NULL THEN 'No row shows any of the quasi-identifiers, so these do not tell rows apart.'
                    WHEN r.population IS NOT NULL THEN format('Every class was counted in the population before anybody could see the table. In the table itself the smallest has %s%s.', k.least, CASE WHEN k.least < r.k THEN ', fewer than k: nothing was promised against those who know that a person is in it' ELSE '' END)
                    WHEN r.subject IS NOT NULL THEN format('Every class was counted in persons before anybody could see the table. In rows the smallest has %s.', k.least)
                    ELSE format('The smallest class has %s rows; at least %s were promised. kanon counted them in the table before anybody could see it.', k.least, r.k) END AS says,
               CASE WHEN r.has_classes THEN jsonb_build_object('smallest_class', k.least) WHEN r.tables IS NOT NULL THEN r.tables - '{tables,promise,gcp}'::text[] ELSE '{}' END AS claim
        FROM r LEFT JOIN risk k ON true LEFT JOIN now n ON true LEFT JOIN counted l ON true
        UNION ALL
        SELECT 12, 'counts', 'caution', CASE r.tables ->> 'count_alone' WHEN '1' THEN '1 person has a number' ELSE (r.tables ->> 'count_alone') || ' persons have numbers' END || ' of rows that nobody else of the class has. Somebody who knows how many rows a person has can tell the person apart.',
               jsonb_build_object('count_alone', r.tables -> 'count_alone')
        FROM r WHERE (r.tables ->> 'count_alone')::bigint > 0
        UNION ALL
        SELECT 15, 'held_back', 'caution', h.says, jsonb_build_object('held_back', r.held)
        FROM r, held h WHERE h.persons > 0
        UNION ALL
        SELECT 13, 'left_out', 'caution', format('%s of the rows of %s were left out.', to_char(100 * (1 - t.published / t.row_count::float8), 'FM990.0') || ' %', t.source), jsonb_build_object('table', t.source, 'left_out', t.row_count - t.published)
        FROM linked_tables t WHERE t.role IN ('subject', 'rows') AND t.row_count - t.published >= 0.01 * t.row_count AND t.row_count > t.published
        UNION ALL
        SELECT 14, 'left_out', 'caution',
               format('%s left out (%s %% of the source).', CASE r.dropped_rows WHEN 1 THEN '1 row was' ELSE to_char(r.dropped_rows, 'FM999,999,999,999,999,990') || ' rows were' END,
                      to_char(100 * r.dropped_rows / r.row_count::float8, 'FM990.0'))
               || coalesce((SELECT string_agg(format(' The column %I has other shares of values since: %s %% of the rows would have to change theirs.', m.name, to_char(100 * m.distance, 'FM990.0'))
                                   || CASE WHEN m.of_one_bar >= 0.5 THEN format(' One value or range of it has %s %% of the rows that are missing.', to_char(100 * least(m.of_one_bar, 1), 'FM990')) ELSE '' END, '' ORDER BY m.place)
                            FROM moved m),
                           CASE WHEN r.kept = '{}' OR r.published_rows = 0 OR EXISTS (SELECT FROM sides) THEN '' ELSE ' These rows may differ from the others: compare => true shows whether a kept column changed.' END),
               jsonb_build_object('left_out', r.dropped_rows)
        FROM r WHERE r.transactions IS NULL AND r.mechanism IS NULL AND (r.dropped_rows >= 0.01 * r.row_count AND r.dropped_rows > 0 OR EXISTS (SELECT FROM moved))
        UNION ALL
        SELECT 16, 'nearly_empty', 'caution', CASE WHEN c.share = 1 THEN format('The column %s is empty: none of its cells shows anything.', c.name) ELSE format('The column %s is nearly empty: %s %% of its cells show nothing.', c.name, to_char(floor(1000 * c.share) / 10, 'FM990.0')) END,
               jsonb_build_object('nearly_empty', c.column_name)
        FROM r, columns c WHERE r.published_rows > 0 AND c.share >= 0.9
        UNION ALL
        -- presence has a verdict of its own: k says nothing of it
        SELECT 17, 'presence', CASE WHEN m.highest > m.dmax + 1e-9 OR m.lowest < m.dmin - 1e-9 THEN 'no' WHEN m.dmax >= 1 THEN 'caution' ELSE 'yes' END,
               format('Whether somebody of the population %s is in the table: a chance between %s and %s was promised%s. ', m.named, m.dmin, m.dmax, coalesce(', for each class with a probability of at least ' || m.confidence, ''))
               || CASE WHEN m.highest > m.dmax + 1e-9 OR m.lowest < m.dmin - 1e-9 THEN format('It was counted again for this page: from %s to %s. The table or the population has changed since.', trim_scale(floor(10000 * m.lowest::numeric + 0.000001) / 10000), trim_scale(ceil(10000 * m.highest::numeric - 0.000001) / 10000))
                       WHEN m.highest IS NOT NULL THEN format('It was counted again for this page: from %s to %s.', trim_scale(floor(10000 * m.lowest::numeric + 0.000001) / 10000), trim_scale(ceil(10000 * m.highest::numeric - 0.000001) / 10000))
                       ELSE 'kanon counted it for every class before anybody could see the table.' END
               || CASE WHEN m.dmax >= 1 THEN ' A chance of 1 is certainty: of some persons it can be told that they are in the table.' ELSE '' END,
               jsonb_build_object('dmin', m.dmin, 'dmax', m.dmax, 'highest', m.highest, 'lowest', m.lowest)
        FROM (SELECT coalesce(x.rule ->> 'population', x.rule ->> 'distributions') AS named, (x.rule ->> 'dmin')::float8 AS dmin, (x.rule ->> 'dmax')::float8 AS dmax, x.rule ->> 'confidence' AS confidence,
                     CASE WHEN x.rule ->> 'rule' = 'delta_presence' THEN (SELECT (y ->> 'value')::float8 FROM now n, jsonb_array_elements(n.measures) AS y WHERE y ->> 'measure' = 'presence_highest') END AS highest,
                     CASE WHEN x.rule ->> 'rule' = 'delta_presence' THEN (SELECT (y ->> 'value')::float8 FROM now n, jsonb_array_elements(n.measures) AS y WHERE y ->> 'measure' = 'presence_lowest') END AS lowest
              FROM r, jsonb_array_elements(r.privacy) AS x (rule) WHERE x.rule ->> 'rule' IN ('delta_presence', 'presence') AND r.published_rows > 0) m
        UNION ALL
        SELECT 18, 'releases', 'caution', format('Somebody who keeps release %s can compare it with this one: %s in two classes with fewer than k persons in common.',
                   l.earlier, CASE l.persons_below_k WHEN 1 THEN '1 person is' ELSE to_char(l.persons_below_k, 'FM999,999,999,999,999,990') || ' persons are' END),
               '{}'::jsonb
        FROM r, releases l WHERE l.relation::oid = r.target_oid AND l.persons_below_k > 0
        UNION ALL
        SELECT 11, 'persons', CASE WHEN d.few_classes > 0 THEN 'no' ELSE 'yes' END,
               CASE WHEN d.few_classes > 0
                    THEN format('k counts rows, not persons. The values of the kept column %s repeat within classes, as those of persons with several rows do. Counted by them, %s of %s classes have fewer than %s; these hold %s rows (%s). ',
                                d.quoted, kanon_internal.kanon_counted(d.few_classes), kanon_internal.kanon_counted(d.classes), r.k, kanon_internal.kanon_counted(d.few_rows), kanon_internal.kanon_share_up(d.few_rows, r.published_rows))
                         || CASE WHEN d.single_classes > 0 THEN kanon_internal.kanon_counted(d.single_classes) || CASE d.single_classes WHEN 1 THEN ' class is' ELSE ' classes are' END || ' of one alone.' ELSE format('The smallest has %s.', d.least) END
                    ELSE format('The values of the kept column %s repeat within classes, as those of persons with several rows do. Counted by them, every class has at least %s.', d.quoted, r.k) END,
               jsonb_build_object('persons_by', d.name, 'few_classes', d.few_classes, 'few_rows', d.few_rows, 'single_classes', d.single_classes, 'least_persons', d.least)
        FROM r, disclosed d WHERE d.least IS NOT NULL
        UNION ALL
        SELECT 20, 'kept', CASE WHEN x.rules = '{}' AND (x.known = 1 OR x.one_classes > 0) THEN 'no' WHEN x.rules <> '{}' AND coalesce(x.top, 0) < 0.8 THEN 'yes' ELSE 'caution' END,
               format('The kept column %s: ', x.quoted)
               || CASE WHEN x.rules <> '{}' THEN 'the rules about it were counted in the table before anybody could see it.'
                       WHEN x.known = 1 AND x.attacked THEN 'nothing was promised, and all persons have the same value whom somebody finds who knows what the promise assumes.'
                       WHEN x.known > 1 AND x.attacked THEN format('nothing was promised; persons whom somebody finds who knows what the promise assumes have at least %s different values of it.', x.known)
                       WHEN NOT r.has_classes OR r.few_known THEN 'nothing was promised about it.'
                       WHEN x.one_classes IS NULL AND x.known = 1 THEN 'nothing was promised, and in some class all rows have the same value.'
                       WHEN x.one_classes IS NULL THEN 'nothing was promised about its values within a class.'
                       WHEN x.one_classes = 0 AND x.most_classes = 0 THEN 'nothing was promised, but in no class do nine rows of ten have the same value.'
                       WHEN x.one_classes = 0 THEN 'nothing was promised, but in no class do all rows have the same value.'
                       ELSE 'nothing was promised.' END
               || CASE WHEN x.one_classes > 0 THEN format(' In %s of %s classes all rows have the same value: it can be read off for %s rows (%s).', kanon_internal.kanon_counted(x.one_classes), kanon_internal.kanon_counted(x.classes), kanon_internal.kanon_counted(x.one_rows), kanon_internal.kanon_share_up(x.one_rows, r.published_rows)) ELSE '' END
               || CASE WHEN x.most_classes > x.one_classes THEN format(' In %s classes, with %s rows, at least nine rows of ten have one value%s.', kanon_internal.kanon_counted(x.most_classes), kanon_internal.kanon_counted(x.most_rows), CASE WHEN x.one_classes > 0 THEN ' (those among them)' ELSE '' END) ELSE '' END
               || CASE WHEN x.known > 1 AND x.rules = '{}' AND NOT x.attacked THEN format(' Every class has at least %s different values of it.', x.known) ELSE '' END
               || CASE WHEN x.known > 1 OR x.rules <> '{}' AND x.top IS NOT NULL THEN format(CASE WHEN x.attacked THEN ' Of the persons whom such an attacker finds, %s have the same value at most.' ELSE ' In some class %s of the rows have the same value.' END, kanon_internal.kanon_share_up(x.top, 1)) ELSE '' END,
               jsonb_build_object('kept_column', x.name, 'least_values', x.known, 'most_of_one_value', x.top, 'one_classes', x.one_classes, 'one_rows', x.one_rows, 'most_classes', x.most_classes, 'most_rows', x.most_rows)
        FROM r, LATERAL (
            SELECT k.*, d.classes, d.one_classes, d.one_rows, d.most_classes, d.most_rows, r.linked #> ARRAY['worst', k.name] IS NOT NULL AS attacked,
                   coalesce((r.linked #>> ARRAY['worst', k.name, 'values'])::bigint, (SELECT (m ->> 'value')::float8::bigint FROM now n, jsonb_array_elements(n.measures) AS m
                         WHERE m ->> 'measure' = 'distinct_l' AND m ->> 'sensitive_column' = k.name)) AS known,
                   coalesce((r.linked #>> ARRAY['worst', k.name, 'share'])::float8, (SELECT (m ->> 'value')::float8 FROM now n, jsonb_array_elements(n.measures) AS m
                         WHERE m ->> 'measure' = 'alpha' AND m ->> 'sensitive_column' = k.name)) AS top
            FROM kept k LEFT JOIN disclosed d ON d.name = k.name WHERE NOT k.is_key AND d.least IS NULL ORDER BY k.nr) AS y,
            -- (classes of rows by themselves are larger than what somebody finds who knows the person, too)
            LATERAL (SELECT y.name, y.quoted, y.rules, y.attacked, y.classes, y.one_classes, y.one_rows, y.most_classes, y.most_rows, CASE WHEN r.model <> 'linked' OR y.known = 1 THEN y.known END AS known, CASE WHEN r.model <> 'linked' THEN y.top END AS top) AS x
        WHERE r.published_rows > 0 AND r.anatomy IS NULL AND r.mechanism IS NULL
        UNION ALL
        SELECT 40, 'policy', x.verdict, format('Policy %s, %s: %s', m.value, x.point, x.says), jsonb_build_object('policy', m.value, 'point', x.point, 'law', x.law)
        FROM r, (SELECT r.options ->> 'policy' FROM r WHERE r.options ? 'policy' UNION SELECT j.value FROM jsonb_each_text(kanon_report_data.metadata) AS j WHERE lower(j.key) = 'policy') AS m (value),
            LATERAL @extschema@.kanon_check_policy(r.run, m.value) AS x
        UNION ALL
        SELECT 30, 'identifiers', CASE WHEN coalesce(a.unmasked, a.like_names) IS NOT NULL AND r.has_classes THEN 'no' WHEN coalesce(a.names, a.like_names, a.together, a.tell) IS NULL THEN 'yes' ELSE 'caution' END,
               CASE WHEN coalesce(a.names, a.like_names, a.together, a.tell) IS NOT NULL
                    THEN concat_ws(' ', 'Columns that can tell readers whom a row is about, published because the caller allowed it: ' || a.names || '.',
                                   'Columns whose name says that they identify persons, published unchanged: ' || a.like_names || '. kanon cannot tell whether they name persons. Look at them, then leave them out, mask them, or label them ''keep''.',
                                   'In nine of ten rows these kept columns together have values that no other row has: ' || a.together || '.',
                                   'Kept columns that tell of what is hidden or masked: ' || a.tell || '.')
                    WHEN r.kept = '{}' THEN format('No column is published beside the %s.', CASE WHEN r.transactions IS NULL THEN 'quasi-identifiers' ELSE 'items' END)
                    WHEN r.model = 'cross_training' AND r.mechanism IS NOT NULL THEN 'No column is labelled as an identifier; values are those of the source with noise.'
                    WHEN r.mechanism IS NOT NULL THEN 'No column is labelled as an identifier; values are those of the domains, whether they are in the source or not.'
                    ELSE 'No kept column is nearly unique, and none is labelled as an identifier. kanon checked both'
                         || CASE WHEN r.options ? 'mask' THEN ' (of masked columns after masking; pseudonyms and constants aside).' ELSE '.' END END
               || coalesce(' These kept columns were compared with no other one: ' || a.alone || '.', '')
               || CASE WHEN r.options ? 'compared_in_part' THEN ' Not all groups of kept columns were asked what they tell of hidden quasi-identifiers: there are too many.' ELSE '' END,
               jsonb_build_object('allowed', coalesce(r.options -> 'allow_identifying', '[]'), 'may_name_persons', coalesce(r.options -> 'may_name_persons', '[]'),
                                  'identify_together', coalesce(r.options -> 'identify_together', '[]'), 'tell', coalesce(r.options -> 'tell', '[]'))
        FROM r, LATERAL (SELECT (SELECT string_agg(quote_ident(x) || CASE WHEN coalesce(r.options -> 'mask', '{}') ? x THEN ' (masked)' ELSE '' END, ', ') FROM jsonb_array_elements_text(coalesce(r.options -> 'allow_identifying', '[]')) AS x) AS names,
                                (SELECT max(x) FROM jsonb_array_elements_text(coalesce(r.options -> 'allow_identifying', '[]')) AS x WHERE NOT coalesce(r.options -> 'mask', '{}') ? x) AS unmasked,
                                (SELECT string_agg(quote_ident(x), ', ') FROM jsonb_array_elements_text(coalesce(r.options -> 'may_name_persons', '[]')) AS x) AS like_names,
                                (SELECT string_agg(x, '; ') FROM jsonb_array_elements_text(coalesce(r.options -> 'identify_together', '[]')) AS x) AS together,
                                (SELECT string_agg(quote_ident(x), ', ') FROM jsonb_array_elements_text(coalesce(r.options -> 'compared_alone', '[]')) AS x) AS alone,
                                (SELECT string_agg(format('%s (of %s)', split_part(x, ': ', 1), split_part(x, ': ', 2)), ', ') FROM jsonb_array_elements_text(coalesce(r.options -> 'tell', '[]')) AS x) AS tell) AS a
        WHERE r.tables IS NULL) AS v),
-- the worst first: what says who somebody is, then what is said of them
ranked AS (
    SELECT v.*, row_number() OVER (ORDER BY array_position('{no,caution,yes}'::text[], v.verdict),
               coalesce(array_position('{quasi_identifiers,presence,identifiers,persons,counts,kept,held_back,releases,left_out,nearly_empty}'::text[], v.about), 99),
               -(v.claim ->> 'one_rows')::bigint, v.nr, v.says) AS severity
    FROM verdicts v),
measures AS (
    SELECT m.* FROM r, LATERAL (VALUES
        (1, 'Suppressed cells', 'count', 'suppressed_cells', CASE WHEN r.anatomy IS NULL AND r.mechanism IS NULL THEN r.suppressed_cells END::float8, 'Cells of the quasi-identifiers that were emptied; for sets, items left out. Fewer is better.'),
        (2, 'Suppressed share', 'share', 'suppressed_share', r.suppressed_share, 'Their share of all published cells of quasi-identifiers.'),
        (3, 'Cost', 'number', 'cost', CASE WHEN r.mechanism IS NULL AND r.tables IS NULL THEN r.cost END, 'The method''s own score; compare only runs of the same method.'),
        (4, 'Lower bound', 'number', 'lower_bound', r.lower_bound, 'Proven: no release under these rules costs less.'),
        (5, 'Usefulness (a loss)', 'number', 'usefulness', r.usefulness, 'How different the original rows of a class are: a loss, which Bredereck et al. call usefulness. Smaller is better.'),
        (6, 'Classes', 'count', 'classes', r.classes, 'Groups of rows that show the same.'),
        (7, 'Average class', 'number', 'class_avg', r.class_avg, 'Rows of a class. Close to k is better for use.'),
        (8, 'Largest class', 'count', 'class_max', r.class_max, 'Rows of the largest class.'),
        (9, 'C_avg', 'number', 'c_avg', r.c_avg, 'Average class in units of k. 1 is best.'),
        (10, 'Discernibility', 'number', 'discernibility', r.discernibility, 'For each row, the number of rows in its class, added up. Smaller is better.'),
        (11, 'ILoss', 'number', 'iloss', r.iloss, 'Information lost over all cells, weighted. Smaller is better.'),
        (12, 'NCP', 'number', 'ncp', r.ncp, 'Certainty lost, added up over all rows; for sets, the share over all occurrences. Smaller is better.'),
        (13, 'GCP', 'share', 'gcp', r.gcp, 'The same as a share: 0 nothing lost, 100 % everything.'),
        (14, 'Precision', 'share', 'precision', r.precision, '100 % nothing lost, 0 everything.'),
        (15, 'Entropy lost', 'number', 'entropy', r.entropy, 'Bits that the cells held and do not show. Smaller is better.'),
        (16, 'Entropy lost, share', 'share', 'entropy_share', r.entropy_share, 'As a share of what emptying every cell would lose.'),
        (17, 'Classification metric', 'share', 'classification', r.classification, 'Share of rows that differ from the majority of their class in the class column. Smaller is better.'),
        (18, 'Items before', 'count', 'items_before', (r.transactions ->> 'items_before')::float8, 'Different items in the source.'),
        (19, 'Items and labels after', 'count', 'items_shown', (r.transactions ->> 'items_shown')::float8, 'Different things that the table shows.'),
        (20, 'Items suppressed', 'count', 'items_suppressed', (r.transactions ->> 'items_suppressed')::float8, 'Items that are nowhere in the table.'),
        (21, 'Occurrences', 'count', 'occurrences', (r.transactions ->> 'occurrences')::float8, 'Items in all transactions of the source.'),
        (22, 'Occurrences suppressed', 'count', 'occurrences_suppressed', (r.transactions ->> 'occurrences_suppressed')::float8, 'Occurrences of suppressed items.'),
        (23, 'Empty before', 'count', 'empty_before', (r.transactions ->> 'empty_before')::float8, 'Transactions without items in the source.'),
        (24, 'Empty after', 'count', 'empty_after', (r.transactions ->> 'empty_after')::float8, 'Transactions that show nothing. They are in the table all the same.'),
        (25, 'Most frequent sets', 'count', 'frequent_sets', (r.transactions ->> 'frequent_sets')::float8, 'The most frequent sets of items of the source, 100 at most.'),
        (27, 'Groups', 'count', 'groups', (r.anatomy ->> 'groups')::float8, 'Groups of rows that share their sensitive values.'),
        (28, 'Sensitive values', 'count', 'sensitive_values', (r.anatomy ->> 'values')::float8, 'Different ones in the source.'),
        (29, 'Persons', 'count', 'persons', (r.tables ->> 'persons')::float8, 'Rows of the table of persons.'),
        (30, 'Classes of persons', 'count', 'person_classes', (r.tables ->> 'classes')::float8, 'Persons who look alike in their own table.'),
        (31, 'Combinations of rows', 'count', 'combinations', (r.tables ->> 'combinations')::float8, 'Different ones that somebody may know, in all classes.'),
        (26, 'Frequent sets preserved', 'count', 'frequent_preserved', (r.transactions ->> 'frequent_preserved')::float8, 'Sets that are among the most frequent of the table, too. More is better.'))
        AS m (nr, what, kind, measure, value, reading)
    WHERE m.value IS NOT NULL),
-- the same call for other ks; listed values of rules and items are not recorded, so such a call cannot be repeated
again AS (
    SELECT r.source_now, r.model, ARRAY(SELECT x::name FROM jsonb_array_elements_text(coalesce(r.options -> 'quasi_identifiers', r.options -> 'items')) AS x) AS names,
           CASE WHEN r.model = 'pattern_guided' THEN '{"level_cost": "height"}'::jsonb ELSE '{}' END
               || (r.options - '{quasi_identifiers,items,k,l,sensitive_target,view,replace,mask,may_name_persons,identify_together,tell,compared_alone,compared_in_part,shows_few,metric_bound,stayed_near,held_back}'::text[])
               || CASE WHEN r.privacy <> '[]' THEN jsonb_build_object('privacy', (SELECT jsonb_agg(x - 'says') FROM jsonb_array_elements(r.privacy) AS x)) ELSE '{}' END AS options
    FROM r
    WHERE kanon_report_data.frontier IS NOT NULL AND r.source_now IS NOT NULL AND r.named_not IS NULL AND r.mechanism IS NULL AND r.tables IS NULL AND NOT r.options ?| '{h,rho,linked}'
      AND NOT jsonb_path_exists(r.privacy, '$[*].listed')),
ks AS (
    SELECT f.* FROM again a, LATERAL @extschema@.kanon_frontier(a.source_now, a.names, kanon_report_data.frontier, method => 'greedy'::text, patterns => NULL::text[],
        rules => NULL::jsonb, gap => 0::float8, effort => 1::float8, keep => '{}'::name[], weights => NULL::@extschema@.kanon_weights, hierarchies => NULL::jsonb,
        level_cost => 'ncp'::text, privacy => NULL::jsonb[], categorical => '{}'::name[], residual => 'fill'::text,
        time_limit => '60 seconds'::interval, seed => NULL::bigint, model => a.model, options => a.options) AS f)
SELECT jsonb_build_object(
    'run', to_jsonb(r) - '{source_now,source_not,target_now,target_not,beside_now,beside_not,named_now,named_not,any_population,described}'::text[] || jsonb_build_object('server', current_setting('server_version'),
        -- nobody asked for one where the promise is another
        'k', CASE WHEN r.linked IS NOT NULL THEN (r.linked ->> 'k')::bigint WHEN r.anatomy IS NULL AND r.mechanism IS NULL AND NOT r.options ? 'rho' THEN r.k END),
    -- documents of its tables, which kanon_report adds
    'parts', NULL,
    'title', CASE WHEN r.publication IS NULL THEN r.target ELSE r.publication END,
    'linked', (SELECT jsonb_build_object('tables', jsonb_agg(to_jsonb(t) - '{says,claim,names}'::text[] ORDER BY t.nr), 'width', max(t.x) + 220, 'height', max(t.y) + 64,
                      'lines', (SELECT jsonb_agg(jsonb_build_object('x1', a.x + 10, 'y1', a.y + 30, 'x2', b.x + 200, 'y2', b.y + 30) ORDER BY a.nr, b.nr) FROM linked_tables a, jsonb_array_elements(a.refers) AS e, linked_tables b WHERE b.nr = (e ->> 'to')::int + 1))
               FROM linked_tables t HAVING count(*) > 0),
    'classes', r.has_classes,
    'records', r.transactions IS NULL AND r.tables IS NULL,
    'statements', (SELECT jsonb_agg(to_jsonb(s) - 'nr' - 'part' ORDER BY s.nr, s.part) FROM statements s),
    'verdict', CASE WHEN EXISTS (SELECT FROM verdicts v WHERE v.nr IN (10, 17) AND v.verdict = 'no') THEN '{"verdict": "no", "says": "The table is not what was published."}'
                    WHEN EXISTS (SELECT FROM verdicts v WHERE v.verdict = 'no' AND v.about = 'persons')
                    THEN (SELECT jsonb_build_object('verdict', 'no', 'says', format('Fewer than %s persons share a class, it seems, although %s rows do: counted by %s, this is so for %s rows (%s).', r.k, r.k, d.quoted, kanon_internal.kanon_counted(d.few_rows), kanon_internal.kanon_share_up(d.few_rows, r.published_rows)))
                          FROM disclosed d WHERE d.few_classes > 0 ORDER BY d.few_rows DESC, d.name LIMIT 1)
                    WHEN EXISTS (SELECT FROM verdicts v WHERE v.verdict = 'no') THEN '{"verdict": "no", "says": "Something is given away, although the promise was kept: read the verdicts below."}'
                    WHEN EXISTS (SELECT FROM verdicts v WHERE v.verdict <> 'yes' AND v.about = 'kept') THEN '{"verdict": "caution", "says": "The promise was kept. Some columns were published without a promise: read the verdicts below."}'
                    WHEN EXISTS (SELECT FROM verdicts v WHERE v.verdict <> 'yes') THEN '{"verdict": "caution", "says": "The promise was kept, with cautions: read the verdicts below."}'
                    ELSE '{"verdict": "yes", "says": "The promise was kept."}'::jsonb END,
    -- the first page: the worst first, and no more than it has room for
    'front', jsonb_build_object(
        'columns', nullif(concat_ws('; ',
            CASE WHEN r.transactions IS NOT NULL THEN quote_ident(r.options -> 'items' ->> 0) ELSE (SELECT string_agg(c.name, ', ' ORDER BY c.ordinal) FROM columns c) END,
            (SELECT CASE WHEN r.anatomy IS NULL AND r.mechanism IS NULL THEN 'kept: ' ELSE '' END
                    || string_agg(k.quoted || CASE WHEN r.mechanism IS NULL THEN format(' (%s)', coalesce(k.done, 'as it was')) ELSE '' END, ', ' ORDER BY k.nr) FROM kept k),
            'in the second table: ' || quote_ident(r.anatomy ->> 'sensitive')), ''),
        'promise', (SELECT jsonb_agg(s.says ORDER BY s.nr, s.part) FROM (SELECT s.* FROM statements s WHERE s.about IN ('promise', 'rules') ORDER BY s.nr, s.part LIMIT 4) s),
        'verdicts', (SELECT jsonb_agg(to_jsonb(v) - '{nr,place,severity,kind}'::text[] ORDER BY v.place) FROM (
            SELECT v.*, row_number() OVER (ORDER BY v.severity) AS place, rank() OVER (ORDER BY array_position('{no,caution,yes}'::text[], v.verdict)) AS kind FROM ranked v) v WHERE v.place <= 5 OR v.kind = 1 AND v.verdict <> 'yes'),
        'more', (SELECT nullif(count(*) - greatest(least(5, count(*)), count(*) FILTER (WHERE v.kind = 1 AND v.verdict <> 'yes')), 0)
                 FROM (SELECT v.verdict, rank() OVER (ORDER BY array_position('{no,caution,yes}'::text[], v.verdict)) AS kind FROM verdicts v) v),
        'for_whom', (SELECT m.value FROM jsonb_each_text(kanon_report_data.metadata) AS m WHERE lower(m.key) = 'for whom' LIMIT 1),
        'until', (SELECT m.value FROM jsonb_each_text(kanon_report_data.metadata) AS m WHERE lower(m.key) IN ('until', 'valid until') LIMIT 1)),
    -- Article 29 Working Party, Opinion 05/2014 on anonymisation techniques
    'questions', (SELECT jsonb_agg(jsonb_build_object('question', q.question, 'asks', q.asks, 'answer', coalesce(q.answer, 'Not answered.')) ORDER BY q.nr) FROM (VALUES
        (1, 'Singling out', 'Can a person''s row be found?',
            CASE WHEN r.published_rows = 0 THEN 'No rows.'
                 WHEN r.anatomy IS NOT NULL THEN 'Yes: rows stand as they were.'
                 WHEN r.transactions IS NOT NULL THEN CASE WHEN r.options ? 'rho' THEN NULL ELSE format('By %s items: at least %s transactions share them.', coalesce(r.options ->> 'm', r.options ->> 'p', '2'), r.k) END
                 WHEN r.mechanism IS NOT NULL THEN CASE r.model WHEN 'cross_training' THEN NULL ELSE 'Whether a row is true cannot be told for certain.' END
                 WHEN r.matches IS NOT NULL THEN CASE r.method WHEN 'k_one' THEN NULL ELSE format('At least %s records fit every row.', r.matches) || CASE WHEN r.method IN ('one_k', 'k_k', 'concealment') THEN ' They need not be equally likely.' ELSE '' END END
                 WHEN r.linked IS NOT NULL THEN format('At least %s persons fit what somebody may know.', r.linked ->> 'k')
                 WHEN r.few_known THEN format('By %s columns: at least %s %s. By more: not answered.', r.known, r.k, CASE WHEN r.subject IS NULL THEN 'rows' ELSE 'persons' END)
                 ELSE (SELECT format('%s of %s rows stand alone; the smallest class has %s%s.', kanon_internal.kanon_counted(coalesce((k.stages #>> '{target,unique_rows}')::bigint, 0)), kanon_internal.kanon_counted(r.published_rows), k.least,
                              CASE WHEN r.subject IS NOT NULL THEN format(' rows, of at least %s persons', r.k) ELSE CASE k.least WHEN 1 THEN ' row' ELSE ' rows' END END)
                              || coalesce((SELECT string_agg(format(' Counted by %s: %s.', d.quoted, CASE WHEN d.few_classes > 0 THEN d.least::text ELSE 'at least ' || r.k END), '' ORDER BY d.name) FROM disclosed d WHERE d.least IS NOT NULL), '') FROM risk k) END),
        (2, 'Linking', 'Can rows of one person be joined, here, between releases or with other tables?',
            nullif(concat_ws(' ',
                (SELECT format('Within the table: by %s.', string_agg(k.quoted, ', ' ORDER BY k.nr)) FROM kept k WHERE k.allowed OR k.done LIKE 'a pseudonym%' OR k.is_key HAVING count(*) > 0),
                (SELECT CASE WHEN h.among IS NULL THEN format('Between releases: at least %s persons share each history.', h.k) ELSE 'Between releases: who came, left or moved can be told.' END FROM held h),
                (SELECT format('Between releases: %s persons stand with fewer than k in two of them.', kanon_internal.kanon_counted(l.persons_below_k)) FROM releases l WHERE l.relation::oid = r.target_oid AND l.persons_below_k IS NOT NULL),
                'With other tables: not answered.'), '')),
        (3, 'Inference', 'Can a value be read off without finding the row?',
            CASE WHEN r.published_rows = 0 THEN 'No rows.'
                 WHEN r.anatomy IS NOT NULL THEN format('No value of %I is more likely than 1 in %s in any group.', r.anatomy ->> 'sensitive', r.anatomy ->> 'l')
                 WHEN r.transactions IS NOT NULL THEN CASE WHEN r.options ? 'rho' THEN format('No private item is more likely than %s.', r.options ->> 'rho') WHEN r.options ? 'h' THEN format('No private item is in more than %s %% of the transactions that fit.', r.options ->> 'h') END
                 WHEN r.mechanism IS NOT NULL OR r.matches IS NOT NULL OR r.few_known OR r.linked IS NOT NULL THEN NULL
                 WHEN r.kept = '{}' THEN 'No column is published beside those that attackers may know.'
                 ELSE coalesce((SELECT string_agg(format('%s: for %s rows (%s).', d.quoted, kanon_internal.kanon_counted(d.one_rows), kanon_internal.kanon_share_up(d.one_rows, r.published_rows)), ' ' ORDER BY d.one_rows DESC, d.name)
                                FROM (SELECT d.* FROM disclosed d WHERE d.one_rows > 0 AND d.least IS NULL ORDER BY d.one_rows DESC, d.name LIMIT 3) d),
                               CASE WHEN r.disclosure IS NOT NULL THEN 'In no class do all rows have one value of a kept column.' END) END)) AS q (nr, question, asks, answer)),
    'example', (SELECT CASE WHEN count(e.value) > 0
                            THEN format('An example with made-up values: a row with %s is shown with %s.', string_agg(e.name || ' ' || e.value, ', ' ORDER BY e.ordinal) FILTER (WHERE e.value IS NOT NULL), e.words)
                            ELSE format('An example: a row is shown with %s.', e.words) END
                       || CASE WHEN e.share = 1 THEN ' All rows have this pattern.' ELSE format(' %s %% of the rows have this pattern, the commonest of those that change something.', to_char(100 * e.share, 'FM990.0')) END
                FROM (SELECT e.*, string_agg(e.name || ' ' || e.shown, ', ') OVER (ORDER BY e.ordinal ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS words FROM example e) e
                WHERE e.changes GROUP BY e.words, e.share),
    'verdicts', (SELECT jsonb_agg(to_jsonb(v) - '{nr,severity}'::text[] ORDER BY v.severity) FROM ranked v),
    'check', CASE WHEN r.transactions IS NOT NULL THEN format('SELECT * FROM %I.kanon_check_transactions(%L, %L%s%s%s);', (SELECT h.name FROM home h), coalesce(r.publication, r.target), r.options -> 'items' ->> 0,
                         CASE WHEN r.options ? 'rho' THEN '' ELSE format(', k => %s, m => %s', r.k, coalesce(r.options ->> 'm', r.options ->> 'p', '2')) END,
                         CASE WHEN r.options ? 'transaction' THEN format(', transaction => %L', r.options ->> 'transaction') ELSE '' END,
                         CASE WHEN r.options ? 'sensitive_items' THEN format(', sensitive_items => %L', r.options ->> 'sensitive_items') WHEN r.options ?| '{h,rho}' THEN ', sensitive => ''{...}''' ELSE '' END)
                  WHEN r.tables IS NOT NULL THEN (
                         SELECT format('SELECT * FROM %I.kanon_check_linked(%L, %L, k => %s, known_rows => %L);', (SELECT h.name FROM home h), min(t.shown) FILTER (WHERE t.role = 'subject'),
                                       jsonb_object_agg(t.shown, jsonb_build_object('quasi_identifiers', t.names)) FILTER (WHERE t.shown IS NOT NULL), r.k, r.options ->> 'known_rows')
                         FROM linked_tables t WHERE t.role IN ('subject', 'rows', 'copies') HAVING bool_and(t.shown IS NOT NULL))
                  WHEN r.model = 'linked' THEN NULL
                  WHEN r.mechanism IS NOT NULL THEN format('SELECT %I.kanon_checksum(%L);', (SELECT h.name FROM home h), coalesce(r.publication, r.target))
                  WHEN r.anatomy IS NOT NULL THEN format('SELECT min(n / most) AS l FROM (SELECT sum(c) AS n, max(c) AS most FROM (SELECT kanon_group, sum(kanon_count) AS c FROM %s GROUP BY kanon_group, %I) v GROUP BY kanon_group) g;', r.anatomy ->> 'sensitive_target', r.anatomy ->> 'sensitive')
                  WHEN r.matches IS NOT NULL THEN format('SELECT * FROM %I.kanon_check_freeform(%L, %L, %L, %s%s);', (SELECT h.name FROM home h), coalesce(r.made_of, r.source), coalesce(r.publication, r.target), ARRAY(SELECT c.column_name FROM columns c ORDER BY c.ordinal)::text, r.matches, coalesce(', k_column => ' || quote_literal(r.options ->> 'k_column'), '') || coalesce(', hierarchies => ' || quote_literal(r.options ->> 'hierarchies'), ''))
                  -- what is generalised, or a range or set, cannot be compared with a population as it is
                  WHEN r.population IS NOT NULL AND (EXISTS (SELECT FROM columns c WHERE c.levels <> '{}') OR (r.model = 'cluster' AND r.options ->> 'show' IS DISTINCT FROM 'suppress')) THEN NULL
                  WHEN r.any_population IS NOT NULL AND NOT (EXISTS (SELECT FROM columns c WHERE c.levels <> '{}') OR (r.model = 'cluster' AND r.options ->> 'show' IS DISTINCT FROM 'suppress'))
                  THEN format('SELECT * FROM %I.kanon_risk(%L, %L, population => %L);', (SELECT h.name FROM home h), coalesce(r.publication, r.target), ARRAY(SELECT c.column_name FROM columns c ORDER BY c.ordinal)::text, r.any_population)
                  WHEN r.few_known THEN format('SELECT * FROM %I.kanon_check(%L, %L, %s, %s%s, missing => %L%s);', (SELECT h.name FROM home h), coalesce(r.publication, r.target), ARRAY(SELECT c.column_name FROM columns c ORDER BY c.ordinal)::text, coalesce(r.options ->> 'known_columns', 'NULL'), r.k,
                         CASE WHEN r.options ? 'combinations' THEN ', combinations => ' || quote_literal(ARRAY(SELECT jsonb_array_elements_text(r.options -> 'combinations'))::text) ELSE '' END, r.few_missing, (SELECT format(', subject => %L', p.name) FROM persons p))
                  ELSE format('SELECT * FROM %I.kanon_check(%L, %L);', (SELECT h.name FROM home h), coalesce(r.publication, r.target), ARRAY(SELECT c.column_name FROM columns c ORDER BY c.ordinal)::text) END,
    'check_says', CASE WHEN r.matches IS NOT NULL THEN 'The table alone does not show whether the promise was kept: the call compares it with the source. Only somebody who may read both can check it:'
                       WHEN r.anatomy IS NOT NULL THEN 'Anybody who may read the second table can check it without this page:'
                       WHEN r.options ?| '{h,rho}' AND NOT r.options ? 'sensitive_items' THEN 'Anybody who may read the table can check it. Write the private items in place of the dots: they are not recorded.'
                       WHEN r.mechanism IS NOT NULL THEN 'No count in the table shows whether the promise was kept. Anybody who may read the table can check that it is the one of this page, by its SHA-256:'
                       WHEN r.any_population IS NOT NULL AND (r.population IS NOT NULL OR NOT (EXISTS (SELECT FROM columns c WHERE c.levels <> '{}') OR (r.model = 'cluster' AND r.options ->> 'show' IS DISTINCT FROM 'suppress')))
                       THEN 'Anybody who may read the table and the population can check it without this page:'
                       WHEN jsonb_path_exists(r.privacy, '$[*] ? (@.rule == "delta_presence" || @.rule == "presence")') THEN 'Anybody who may read the table can count the rows of its classes. This call does not count presence:'
                       WHEN r.subject IS NOT NULL AND NOT (r.few_known AND EXISTS (SELECT FROM persons)) THEN format('Anybody who may read the table can count the rows of its classes. Only somebody who may read %s can count persons.', quote_ident(r.subject))
                       WHEN r.tables IS NOT NULL THEN 'Anybody who may read the tables can check it without this page:'
                       WHEN r.linked IS NOT NULL THEN 'Anybody who may read the table can count the rows of its classes. kanon_check_linked counts the promise over all tables.'
                       ELSE 'Anybody who may read the table can check it without this page:' END,
    'columns', coalesce((SELECT jsonb_agg(to_jsonb(c) - 'run' || jsonb_build_object(
                   'kept_share', c.kept / nullif(r.published_rows, 0)::float8, 'generalised_share', c.generalised / nullif(r.published_rows, 0)::float8) ORDER BY c.ordinal) FROM columns c), '[]'),
    'kept', coalesce((SELECT jsonb_agg(to_jsonb(x) - 'nr' ORDER BY x.nr) FROM kept x), '[]'),
    'risk', (SELECT jsonb_set(k.stages, '{source,row_count}', coalesce(r.held -> 'source_rows', k.stages #> '{source,row_count}')) FROM risk k WHERE r.has_classes),
    'now', (SELECT to_jsonb(n) || jsonb_build_object(
                'without_population', NOT EXISTS (SELECT FROM jsonb_array_elements(n.measures) AS m WHERE m ->> 'measure' LIKE 'journalist%'),
                -- but what is told above
                'risks', (SELECT jsonb_agg(m || jsonb_build_object('what', upper(left(m ->> 'measure', 1)) || replace(substr(m ->> 'measure', 2), '_', ' '), 'meaning', upper(left(m ->> 'meaning', 1)) || substr(m ->> 'meaning', 2),
                              'share', CASE WHEN y.share THEN m -> 'value' END, 'number', CASE WHEN NOT y.share THEN m -> 'value' END) ORDER BY nr)
                          FROM jsonb_array_elements(n.measures) WITH ORDINALITY AS x (m, nr),
                               LATERAL (SELECT m ->> 'measure' ~ '^(share|prosecutor|journalist|marketer|presence|population_unique_share)' AS share) y
                          WHERE m -> 'sensitive_column' = 'null' AND m ->> 'measure' NOT IN ('rows', 'classes', 'k', 'unique_rows', 'blank_rows', 'prosecutor_highest', 'prosecutor_average')),
                'has_sensitive', EXISTS (SELECT FROM jsonb_array_elements(n.measures) AS m WHERE m -> 'sensitive_column' <> 'null'),
                'sensitive', (SELECT jsonb_agg(s.measures ORDER BY s.nr) FROM (
                    SELECT min(nr) AS nr, '{"distinct_l": null, "entropy_l": null, "recursive_c_2": null, "alpha": null, "t_equal": null, "t_ordered": null}'
                           || jsonb_object_agg(m ->> 'measure', m -> 'value') || jsonb_build_object('column_name', m ->> 'sensitive_column') AS measures
                    FROM jsonb_array_elements(n.measures) WITH ORDINALITY AS x (m, nr) WHERE m -> 'sensitive_column' <> 'null' GROUP BY m ->> 'sensitive_column') s)) FROM now n),
    'threshold', kanon_report_data.threshold,
    'sizes', (SELECT jsonb_agg(to_jsonb(s) - 'run' || jsonb_build_object('risk', 1 / s.size_from::float8,
                  'source_share', s.source_rows / nullif(r.row_count, 0)::float8, 'target_share', s.target_rows / nullif(r.published_rows, 0)::float8,
                  'border', s.size_from = r.k) ORDER BY s.size_from) FROM sizes s WHERE r.has_classes AND r.row_count > 0),
    'patterns', (SELECT jsonb_agg(to_jsonb(p) ORDER BY p.place) FROM patterns p WHERE p.place <= 25),
    'more_patterns', (SELECT jsonb_build_object('patterns', count(*), 'row_count', sum(p.row_count)) FROM patterns p WHERE p.place > 25 HAVING count(*) > 0),
    'measures', (SELECT jsonb_agg(to_jsonb(m) - 'nr' || jsonb_build_object('count', CASE m.kind WHEN 'count' THEN m.value END,
                     'number', CASE m.kind WHEN 'number' THEN m.value END, 'share', CASE m.kind WHEN 'share' THEN m.value END) ORDER BY m.nr) FROM measures m),
    'frontier', CASE WHEN kanon_report_data.frontier IS NOT NULL AND r.tables IS NULL THEN jsonb_build_object('says',
                    CASE WHEN r.mechanism IS NOT NULL THEN 'Rows that are drawn by chance, or have noise, hide nobody among k others.'
                         WHEN r.options ? 'linked' THEN 'This is one table of a release of several, so other ks cannot be tried for it alone.'
                         WHEN r.options ? 'rho' THEN 'The promise is about a confidence: there is no k.'
                         WHEN r.options ? 'h' THEN 'Which items are private was not recorded where they were listed, so other ks cannot be tried.'
                         WHEN r.source_now IS NULL THEN format('The source was not read: %s. So other ks were not tried.', coalesce(r.source_not, 'it is not there any more'))
                         WHEN r.named_not IS NOT NULL THEN (SELECT format('%s was not read: %s. So other ks were not tried.', e.key, e.value) FROM jsonb_each_text(r.named_not) AS e ORDER BY e.key LIMIT 1)
                         WHEN jsonb_path_exists(r.privacy, '$[*].listed') THEN 'A rule lists values, which were not recorded, so other ks cannot be tried.'
                         ELSE 'With the same rules, tried on the source as it was when this page was made. A larger k hides every row among more.' END,
                    'what', CASE WHEN r.anatomy IS NOT NULL THEN 'Reconstruction error by l' WHEN r.model = 'pattern_guided' THEN 'Share of empty cells by k' ELSE 'Information lost (GCP) by k' END,
                    'letter', CASE WHEN r.anatomy IS NOT NULL THEN 'l' ELSE 'k' END,
                    'ks', (SELECT jsonb_agg(to_jsonb(f) || jsonb_build_object('here', f.k = coalesce((r.anatomy ->> 'l')::bigint, r.k), 'number', CASE WHEN r.anatomy IS NOT NULL THEN f.lost END,
                               'solved', f.lost IS NOT NULL, 'highest', f.height = 1) ORDER BY f.k)
                           FROM (SELECT k.*, coalesce((row_number() OVER (ORDER BY k.k) - 1) / nullif(count(*) OVER () - 1, 0)::float8, 0.5) AS place,
                                        coalesce(k.lost / nullif(max(k.lost) OVER (), 0), 0) AS height
                                 FROM (SELECT k.*, CASE WHEN r.anatomy IS NOT NULL THEN k.cost WHEN r.model = 'pattern_guided' THEN k.suppressed_share ELSE k.gcp END AS lost FROM ks k) k) f)) END,
    'compared', CASE WHEN kanon_report_data.compare AND r.tables IS NULL THEN jsonb_build_object(
        'says', CASE WHEN r.transactions IS NOT NULL THEN 'Sets of items cannot be compared by column.'
                     WHEN r.mechanism IS NOT NULL THEN 'A comparison with the source would tell of it what the table does not.'
                     WHEN r.anatomy IS NOT NULL THEN 'The rows stand as they were; their sensitive values are in the other table.'
                     WHEN r.source_now IS NULL THEN format('The source was not read: %s.', coalesce(r.source_not, 'it is not there any more'))
                     WHEN r.target_now IS NULL THEN format('The table was not read: %s.', coalesce(r.target_not, 'it is not there any more'))
                     WHEN r.named_not IS NOT NULL THEN (SELECT format('%s was not read: %s.', e.key, e.value) FROM jsonb_each_text(r.named_not) AS e ORDER BY e.key LIMIT 1)
                     WHEN NOT EXISTS (SELECT FROM sides) THEN 'The table has no rows.'
                     WHEN (SELECT s.could > cardinality(s.kept) FROM sides s) THEN (SELECT format('Of the kept columns the first %s are compared here; kanon_compare takes the others.', cardinality(s.kept)) FROM sides s) END,
        'least', (SELECT s.least FROM sides s),
        'columns', coalesce((SELECT jsonb_agg(jsonb_build_object('column_name', v.name, 'distance', v.distance,
                       'numbers', CASE WHEN v.mean IS NOT NULL AND NOT v.date THEN jsonb_build_object('mean', v.mean, 'spread', v.spread, 'shown', v.shown) END,
                       -- seconds say nothing to anybody
                       'dates', CASE WHEN v.date THEN jsonb_build_object(
                           'before', to_char(to_timestamp((v.mean -> 'before')::float8) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
                           'after', to_char(to_timestamp((v.mean -> 'after')::float8) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
                           'shown', to_char(to_timestamp((v.shown -> 'after')::float8) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
                           'days_before', round(((v.spread -> 'before')::float8 / 86400)::numeric, 1), 'days_after', round(((v.spread -> 'after')::float8 / 86400)::numeric, 1)) END) ORDER BY v.nr)
                   FROM (SELECT n.name, n.nr, (SELECT x.value FROM compared x WHERE x.column_name = n.name AND x.measure = 'distribution_distance') AS distance,
                                (SELECT to_jsonb(x) FROM compared x WHERE x.column_name = n.name AND x.measure = 'mean') AS mean,
                                (SELECT to_jsonb(x) FROM compared x WHERE x.column_name = n.name AND x.measure = 'mean_of_shown_cells') AS shown,
                                (SELECT to_jsonb(x) FROM compared x WHERE x.column_name = n.name AND x.measure = 'standard_deviation') AS spread,
                                EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = s.source_now AND a.attname = n.name AND a.atttypid IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype)) AS date
                         FROM sides s, unnest(s.names || s.kept) WITH ORDINALITY AS n (name, nr)) v), '[]'),
        'queries', (SELECT jsonb_object_agg(x.measure, x.value) FROM compared x WHERE x.measure LIKE 'quer%'),
        'correlations', (SELECT jsonb_build_object('distance', x.value) FROM compared x WHERE x.measure = 'correlation_matrix_distance' AND x.value IS NOT NULL),
        'distributions', (SELECT jsonb_agg(g.x ORDER BY g.nr) FROM (
            SELECT min(b.nr) AS nr, jsonb_build_object('column_name', b.column_name, 'bars', jsonb_agg(
                to_jsonb(b) - '{column_name,nr}'::text[] || jsonb_build_object('before_length', b.before_share / b.longest, 'after_length', b.after_share / b.longest) ORDER BY b.nr)) AS x
            FROM (SELECT b.*, greatest(max(b.before_share) OVER w, max(b.after_share) OVER w) AS longest FROM bars b WINDOW w AS (PARTITION BY b.column_name)) b
            GROUP BY b.column_name) g)) END,
    'releases', (SELECT jsonb_agg(to_jsonb(l) - '{relation,key}'::text[] || jsonb_build_object('gcp', (SELECT max(g.gcp) FROM @extschema@.kanon_usefulness g WHERE g.target_oid = l.relation::oid AND g.publication = r.publication),
                     -- in rows, of what is there: what a release has reached may be persons
                     'smallest_class', (SELECT max(x.k) FROM @extschema@.kanon_usefulness g JOIN @extschema@.kanon_run_risk x ON x.run = g.run AND x.stage = 'target' WHERE g.target_oid = l.relation::oid AND g.publication = r.publication),
                     'here', coalesce(l.relation::oid = r.target_oid, false),
                     'finished', to_char(l.finished AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC', 'cost_a_row', l.cost / nullif(l.row_count, 0)) ORDER BY l.release)
                 FROM releases l),
    'options', (SELECT jsonb_agg(jsonb_build_object('option', o.key, 'value', CASE WHEN o.key = 'privacy' THEN (SELECT string_agg(coalesce(x ->> 'says', (x)::text), '; ') FROM jsonb_array_elements(o.value) AS x)
                    WHEN jsonb_typeof(o.value) = 'string' THEN o.value #>> '{}'
                    WHEN o.key = 'domains' AND length(o.value::text) > 400 THEN left(o.value::text, 400) || ' ...' ELSE o.value::text END) ORDER BY o.key COLLATE "C")
                FROM jsonb_each(coalesce((SELECT jsonb_object_agg(m.key, m.value) FROM jsonb_each(r.mechanism) AS m WHERE m.key IN ('d', 'delta', 'domains', 'epsilon', 'gamma', 't')), '{}') || (r.options - '{may_name_persons,identify_together,tell,compared_alone,compared_in_part,shows_few,metric_bound,linked,held_back}'::text[] - CASE WHEN r.mechanism IS NULL THEN '' ELSE 'quasi_identifiers' END)
                    || CASE WHEN r.mechanism IS NULL THEN '{}' ELSE jsonb_build_object('columns', r.options -> 'quasi_identifiers') END
                    || CASE WHEN r.linked IS NOT NULL THEN r.linked - '{promised,keys,worst}'::text[] || CASE WHEN r.model <> 'linked' THEN jsonb_build_object('class_size', r.k) ELSE '{}' END ELSE '{}' END
                    -- of a publication, what no run of it is told
                    || coalesce((SELECT jsonb_strip_nulls(jsonb_build_object('key', p.key, 'keep_releases', p.keep_releases, 'stable', p.stable, 'protect_successive', CASE p.protect_successive::text WHEN 'values' THEN to_jsonb('values'::text) ELSE to_jsonb(p.protect_successive::text::boolean) END)) || (p.options - CASE WHEN r.privacy <> '[]' THEN 'privacy' ELSE '' END)
                                 FROM @extschema@.kanon_publications p WHERE p.publication = r.publication), '{}')) AS o),
    'metadata', (SELECT jsonb_agg(jsonb_build_object('name', m.key, 'value', m.value) ORDER BY m.key COLLATE "C") FROM jsonb_each_text(kanon_report_data.metadata) AS m),
    'checksum', CASE WHEN kanon_report_data.read_target AND r.target_now IS NOT NULL THEN @extschema@.kanon_checksum(r.target_now) END,
    'beside', CASE WHEN r.anatomy IS NOT NULL THEN jsonb_build_object('table', r.anatomy -> 'sensitive_target',
                  'checksum', CASE WHEN kanon_report_data.read_target AND r.beside_now IS NOT NULL THEN @extschema@.kanon_checksum(r.beside_now) END) END,
    -- what the page does without
    'not_read', (SELECT jsonb_agg(n.says ORDER BY n.nr) FROM (
        SELECT 1 AS nr, format('The table was not read: %s.', coalesce(r.target_not, 'it is not there any more')) AS says WHERE (kanon_report_data.read_target OR kanon_report_data.read_population) AND r.target_now IS NULL AND r.tables IS NULL
        UNION ALL
        SELECT 2, format('The table %s was not read: %s.', r.anatomy ->> 'sensitive_target', coalesce(r.beside_not, 'it is not there any more')) WHERE kanon_report_data.read_target AND r.anatomy IS NOT NULL AND r.beside_now IS NULL
        UNION ALL
        SELECT 3, format('The population %s was not read: %s.', r.any_population, coalesce(r.named_not ->> r.any_population, 'it is not there any more'))
        WHERE kanon_report_data.read_population AND r.any_population IS NOT NULL AND r.named_now ->> r.any_population IS NULL) AS n),
    'values', CASE WHEN with_values AND r.has_classes THEN jsonb_build_object('smallest', (SELECT jsonb_agg(jsonb_build_object('class', q.class, 'pattern', q.pattern, 'row_count', q.row_count, 'shown', q.shown::text) ORDER BY q.row_count, q.class)
                  FROM (SELECT * FROM @extschema@.kanon_equivalence_classes e WHERE e.run = r.run AND e.shown <> '{}' ORDER BY e.row_count, e.class LIMIT 10) q)) END,
    'limits', (SELECT jsonb_agg(jsonb_build_object('what', l.what, 'says', l.says) ORDER BY l.nr) FROM (VALUES
        (1, r.has_classes AND EXISTS (SELECT FROM kept k WHERE k.rules = '{}'), 'Classes that agree.', 'If all rows of a class share a value in an unchanged column, anybody who finds the class knows it for every person in it.'),
        (2, r.transactions IS NULL AND r.anatomy IS NULL AND r.mechanism IS NULL AND r.subject IS NULL AND r.linked IS NULL, 'Persons with several rows.',
            CASE WHEN r.matches IS NULL THEN 'k counts rows. A person with many rows can fill a class alone.' ELSE 'k counts rows. A person with many rows can be behind all matches of a record.' END),
        (16, EXISTS (SELECT FROM @extschema@.kanon_publications p WHERE p.publication = r.publication AND p.options ->> 'pseudonym' LIKE 'group:%'), 'Publications that join.',
            'Publications of the same owner have the same keys, for a reader to join them. Such a reader sees what all of them show of a person.'),
        (15, r.linked ->> 'known_rows' <> 'all', 'More knowledge than was assumed.', 'An attacker who knows more rows of a person in a table, or how many rows the person has, may tell the person apart.'),
        (3, r.matches IS NOT NULL AND r.method IN ('one_k', 'k_one', 'k_k', 'concealment'), 'Matches that can be ruled out.', 'The matches of a row need not be equally likely. An attacker who knows the method, or everybody''s quasi-identifiers, can do better than one in k.'),
        (4, r.transactions IS NOT NULL, 'More knowledge than was assumed.', 'The promise holds against somebody who knows at most ' || coalesce(r.options ->> 'm', r.options ->> 'p', '2') || ' items of a person.'),
        (5, r.transactions IS NOT NULL, 'Knowing what is missing.', 'An attacker who knows an item that a person does not have knows more than was counted.'),
        (6, r.mechanism IS NULL, 'Columns that were not named.', 'If attackers know an unchanged column, it identifies as well as a birth date.'),
        (7, r.mechanism IS NULL, 'Several releases.', 'Two tables about the same persons can identify them when joined, though each keeps its promise.'
            || CASE WHEN r.few_known AND r.publication IS NOT NULL THEN ' Rows that come or leave between two releases are not protected against somebody who keeps both, and over three releases fewer than k rows may be left.' ELSE '' END),
        (17, jsonb_path_exists(r.options, '$.mask.* ? (exists(@.noise) || exists(@.swap) || exists(@.pram))'), 'Values that were moved.', 'Noise, swapped values and values changed by chance are no k-anonymity. A value far from all others stays far, and a swapped one is in the table.'
            || CASE WHEN jsonb_path_exists(r.options, '$.mask.*.by') AND r.publication IS NOT NULL THEN ' Somebody who keeps two releases can see which values changed in the source.' ELSE '' END),
        (9, r.anatomy IS NOT NULL, 'Columns that tell the value.', 'A published column that goes with the sensitive one, such as a drug with a diagnosis, can tell which value of a group is a row''s own. So can patterns of the whole table.'),
        (10, r.anatomy IS NOT NULL, 'Persons with several rows.', 'An attacker who knows which rows are of one person can compare the values of their groups.'),
        (11, r.mechanism IS NOT NULL, 'Persons with several rows.', 'The promise is about one row. It is weaker for a person with several rows, by each of them.'),
        (12, r.mechanism IS NOT NULL, 'Several releases.', 'Each release of the same source tells a little more: an attacker can compare the draws.'),
        (14, r.model = 'cross_training', 'Rows close together.', 'Its authors prove that nobody is isolated when rows are spread evenly over a cube of very many columns. Nothing is proven for other rows. Where many rows of a few columns lie close together, each is published nearly as it is. kanon_isolation counts those that stand alone.'),
        (13, r.model = 'alpha_beta', 'Rows that depend on one another.', 'The promise holds against attackers who take the rows to be independent of one another.'),
        (8, jsonb_path_exists(r.options, '$.mask.*.pseudonym'), 'Rows of one person.', 'A pseudonym shows which rows are of one person, across classes. An attacker who knows two of them may find the others.')) AS l (nr, so, what, says) WHERE l.so),
    'has', jsonb_build_object('sizes', r.has_classes AND r.row_count > 0, 'columns', EXISTS (SELECT FROM columns) AND r.published_rows > 0,
        'loss', EXISTS (SELECT FROM columns) AND r.published_rows > 0 OR EXISTS (SELECT FROM measures m WHERE m.value IS NOT NULL),
        'patterns', EXISTS (SELECT FROM patterns), 'ks', EXISTS (SELECT FROM ks), 'releases', r.publication IS NOT NULL,
        'key', EXISTS (SELECT FROM @extschema@.kanon_publications p WHERE p.publication = r.publication AND p.key IS NOT NULL)))
FROM r;
END;

COMMENT ON FUNCTION @extschema@.kanon_report_data(bigint, boolean, bigint[], float8, float8, jsonb, boolean, boolean, boolean)
IS 'the content of kanon_report as one document: statements of a run of yours with their claims, verdicts, risk, loss';

CREATE FUNCTION @extschema@.kanon_page(document jsonb)
RETURNS text
LANGUAGE C STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'kanon_page';

COMMENT ON FUNCTION @extschema@.kanon_page(jsonb)
IS 'a document of kanon_report_data as a self-contained HTML page';

-- of a release of several tables the page has each of them; the worst of what there is to say comes first
CREATE FUNCTION kanon_internal.kanon_page_with_tables(page jsonb, threshold float8, sampling_fraction float8, read_target boolean, read_population boolean)
RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET jit = off
BEGIN ATOMIC
WITH parts AS (
    SELECT e.nr, e.t ->> 'target' AS title, @extschema@.kanon_report_data((e.t ->> 'run')::bigint, false, NULL::bigint[], threshold, sampling_fraction, NULL::jsonb, false, read_target, read_population) AS page
    FROM jsonb_array_elements(kanon_page_with_tables.page #> '{run,tables,tables}') WITH ORDINALITY AS e (t, nr) WHERE e.t ? 'run'),
verdicts AS (
    SELECT x.v || jsonb_build_object('says', p.title || ': ' || (x.v ->> 'says')) AS v, p.nr, x.place FROM parts p, jsonb_array_elements(p.page -> 'verdicts') WITH ORDINALITY AS x (v, place)
    UNION ALL
    SELECT x.v, 0, x.place FROM jsonb_array_elements(kanon_page_with_tables.page -> 'verdicts') WITH ORDINALITY AS x (v, place)),
-- the worst first, and none of the worst kind folded
ranked AS (
    SELECT x.v, row_number() OVER (ORDER BY array_position('{no,caution,yes}'::text[], x.v ->> 'verdict'),
               coalesce(array_position('{quasi_identifiers,presence,identifiers,persons,counts,kept,held_back,releases,left_out,nearly_empty}'::text[], x.v ->> 'about'), 99), x.nr, x.place) AS at,
           rank() OVER (ORDER BY array_position('{no,caution,yes}'::text[], x.v ->> 'verdict')) AS kind
    FROM verdicts x)
SELECT kanon_page_with_tables.page || jsonb_build_object(
    'parts', (SELECT jsonb_agg(p.page || jsonb_build_object('title', p.title) ORDER BY p.nr) FROM parts p),
    'verdict', (SELECT x.v FROM (SELECT kanon_page_with_tables.page -> 'verdict' AS v UNION ALL SELECT p.page -> 'verdict' FROM parts p) x
                ORDER BY array_position('{no,caution,yes}'::text[], x.v ->> 'verdict') LIMIT 1),
    'front', kanon_page_with_tables.page -> 'front' || jsonb_build_object(
        'verdicts', (SELECT jsonb_agg(y.v ORDER BY y.at) FROM ranked y WHERE y.at <= 5 OR y.kind = 1 AND y.v ->> 'verdict' <> 'yes'),
        'more', (SELECT nullif(count(*) - greatest(least(5, count(*)), count(*) FILTER (WHERE y.kind = 1 AND y.v ->> 'verdict' <> 'yes')), 0) FROM ranked y)))
WHERE kanon_page_with_tables.page #> '{run,tables}' <> 'null'
UNION ALL
SELECT kanon_page_with_tables.page WHERE kanon_page_with_tables.page #> '{run,tables}' = 'null';
END;

COMMENT ON FUNCTION kanon_internal.kanon_page_with_tables(jsonb, float8, float8, boolean, boolean)
IS 'behind kanon_report: adds to the document of a release of several tables those of its tables';

CREATE FUNCTION @extschema@.kanon_report(
    run               bigint,
    with_values       boolean  DEFAULT false,
    frontier          bigint[] DEFAULT NULL,
    threshold         float8   DEFAULT 0.2,
    sampling_fraction float8   DEFAULT NULL,
    metadata          jsonb    DEFAULT NULL,
    compare           boolean  DEFAULT false,
    read_target       boolean  DEFAULT false,
    read_population   boolean  DEFAULT false)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN @extschema@.kanon_page(kanon_internal.kanon_page_with_tables(
    @extschema@.kanon_report_data(run, with_values, frontier, threshold, sampling_fraction, metadata, compare, read_target, read_population),
    threshold, sampling_fraction, read_target, read_population));

COMMENT ON FUNCTION @extschema@.kanon_report(bigint, boolean, bigint[], float8, float8, jsonb, boolean, boolean, boolean)
IS 'a run of yours as one self-contained HTML page, without data values unless they are asked for';

/* ---- choosing among ks, methods and hierarchies ---- */

CREATE FUNCTION @extschema@.kanon_explore(
    source            regclass,
    quasi_identifiers name[],
    ks                bigint[] DEFAULT '{2,3,5,10,20,50}',
    methods           text[]   DEFAULT '{greedy}',
    hierarchies       jsonb[]  DEFAULT NULL,
    keep              name[]   DEFAULT '{}',
    time_limit        interval DEFAULT '60 seconds')
RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET jit = off
SET client_min_messages = warning
BEGIN ATOMIC
WITH -- what the schema of these functions is called today
home AS (
    SELECT n.nspname AS name FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'kanon'),
tried AS (
    SELECT chr(64 + s.nr::int) AS letter, s.nr AS series, s.method, s.hierarchies, f.*,
           s.method || coalesce(': ' || (
               SELECT string_agg(format('%s by %s', e.key, CASE jsonb_typeof(e.value) WHEN 'object'
                                 THEN (SELECT string_agg(b.key || ' ' || translate(b.value::text, '[]{}"', ''), ', ') FROM jsonb_each(e.value) AS b)
                                 ELSE e.value #>> '{}' END), '; ')
               FROM jsonb_each(CASE jsonb_typeof(s.hierarchies) WHEN 'object' THEN s.hierarchies END) AS e), ', no hierarchies') AS what
    FROM (SELECT m.method, h.hierarchies, row_number() OVER (ORDER BY m.nr, h.nr) AS nr
          FROM unnest(methods) WITH ORDINALITY AS m (method, nr),
               unnest(coalesce(kanon_explore.hierarchies, ARRAY[NULL]::jsonb[])) WITH ORDINALITY AS h (hierarchies, nr)
          ORDER BY 3 LIMIT 26) s,
         LATERAL @extschema@.kanon_frontier(source, quasi_identifiers, ks, method => s.method, patterns => NULL::text[], rules => NULL::jsonb,
            gap => 0::float8, effort => 1::float8, keep => kanon_explore.keep, weights => NULL::@extschema@.kanon_weights, hierarchies => s.hierarchies,
            level_cost => 'ncp'::text, privacy => NULL::jsonb[], categorical => '{}'::name[], residual => 'drop'::text,
            time_limit => kanon_explore.time_limit, seed => NULL::bigint,
            model => 'pattern_guided'::text, options => NULL::jsonb) f),
points AS (
    SELECT t.*, row_number() OVER (ORDER BY t.series, t.k) AS nr, 1 / t.class_min::float8 AS risk, 1 / t.class_avg AS average_risk,
           coalesce((ln(1 / t.class_min::float8) - min(ln(1 / t.class_min::float8)) OVER ())
                    / nullif(max(ln(1 / t.class_min::float8)) OVER () - min(ln(1 / t.class_min::float8)) OVER (), 0), 0.5) * 0.9 + 0.05 AS x,
           coalesce(t.gcp / nullif(max(t.gcp) OVER (), 0), 0) AS y,
           format('SELECT * FROM %I.kanon_pattern_guided(%L, %L, %L, %s, method => %L%s%s, residual => ''drop'');', (SELECT h.name FROM home h),
                  format('%I.%I', n.nspname, c.relname), c.relname || '_public', quasi_identifiers::text, t.k, t.method,
                  ', keep => ' || quote_literal(nullif(kanon_explore.keep::text, '{}')), ', hierarchies => ' || quote_literal(t.hierarchies)) AS call
    FROM tried t, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = source AND t.class_min > 0)
SELECT @extschema@.kanon_page(jsonb_build_object(
    'source', format('%I.%I', n.nspname, c.relname),
    'version', (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'kanon'),
    'says', format('Quasi-identifiers: %s. kanon tried them on the table as it was when this page was made, and wrote nothing.', (SELECT string_agg(quote_ident(q), ', ') FROM unnest(quasi_identifiers) AS q))
        || (SELECT CASE WHEN n.combinations > 26 THEN format(' Of %s combinations of method and hierarchies it tried the first 26.', n.combinations) ELSE '' END
            FROM (SELECT cardinality(methods) * coalesce(cardinality(kanon_explore.hierarchies), 1) AS combinations) AS n),
    'has_points', EXISTS (SELECT FROM points),
    'most_lost', (SELECT max(p.gcp) FROM points p), 'least_risk', (SELECT min(p.risk) FROM points p), 'most_risk', (SELECT max(p.risk) FROM points p),
    'series', coalesce((SELECT jsonb_agg(jsonb_build_object('letter', s.letter, 'what', s.what,
                  'dash', ('{none,7 4,2 3,10 3 2 3}'::text[])[1 + (s.series - 1) % 4],
                  'points', coalesce((SELECT jsonb_agg(to_jsonb(p) ORDER BY p.k) FROM points p WHERE p.series = s.series), '[]'),
                  'without', (SELECT jsonb_agg(t.k ORDER BY t.k) FROM tried t WHERE t.series = s.series AND t.class_min IS NULL)) ORDER BY s.series)
              FROM (SELECT DISTINCT t.series, t.letter, t.what FROM tried t) s), '[]')))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = source AND kanon_internal.kanon_page_asked(NULL::bigint[], 1::float8, NULL::jsonb, kanon_explore.methods);
END;

COMMENT ON FUNCTION @extschema@.kanon_explore(regclass, name[], bigint[], text[], jsonb[], name[], interval)
IS 'a self-contained page over ks, methods and hierarchies: loss against risk, and the call that publishes each; writes nothing';

/* ---- the page of a budget: what kanon_dp may tell of a table, has told, and may still tell ---- */

CREATE FUNCTION @extschema@.kanon_budget_report(relation regclass)
RETURNS text
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET jit = off
BEGIN ATOMIC
WITH -- what the caller may see: all of it who owns the table
asked AS (
    SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS name, pg_has_role(c.relowner, 'MEMBER') AS owner
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = kanon_budget_report.relation),
budgets AS (
    SELECT b.*, b.role::oid = 0 AS everybody, CASE WHEN b.role::oid = 0 THEN 'all roles together' ELSE b.role::text END AS whose,
           b.epsilon_spent + b.epsilon_left AS most
    FROM @extschema@.kanon_budget b WHERE b.relation = kanon_budget_report.relation),
-- an answer is taken from several budgets, and is one answer all the same
answers AS (
    SELECT x.asked_by, x.asked_at, x.aggregate, x.epsilon, x.delta, x.queries, count(*) AS budgets
    FROM @extschema@.kanon_budget_answers x WHERE x.relation = kanon_budget_report.relation
    GROUP BY x.asked_by, x.asked_at, x.aggregate, x.epsilon, x.delta, x.queries),
-- what all analysts can learn who talk to each other
together AS (
    SELECT t.*, t.spent + t.remaining AS most
    FROM (SELECT greatest((SELECT b.epsilon_spent FROM budgets b WHERE b.everybody), (SELECT sum(x.epsilon) FROM answers x), 0) AS spent,
                 coalesce((SELECT b.epsilon_left FROM budgets b WHERE b.everybody), sum(b.epsilon_left), 0) AS remaining,
                 bool_or(b.everybody) AS bounded, count(*) AS budgets
          FROM budgets b) t),
verdicts AS (
    SELECT 1 AS nr, CASE WHEN t.most > 10 THEN 'no' WHEN t.most > 1 THEN 'caution' ELSE 'yes' END AS verdict,
           format('If all of it is spent, epsilon is %s. In plain words: whatever somebody sees or concludes from the answers is more or less likely by a factor of %s if the rows of one person are others. ', trim_scale(t.most), kanon_internal.kanon_factor(t.most::float8))
           || CASE WHEN t.most > 10 THEN 'That promises next to nothing.' WHEN t.most > 1 THEN 'An epsilon of 1 is a usual budget.' ELSE 'That is a usual budget.' END AS says
    FROM together t WHERE t.budgets > 0
    UNION ALL
    SELECT 2, CASE WHEN t.spent = 0 THEN 'yes' ELSE 'caution' END, CASE WHEN t.spent = 0 THEN 'Nothing of it is spent.' ELSE
           format('So far epsilon %s is spent: a factor of %s. Nothing gives it back.', trim_scale(t.spent), kanon_internal.kanon_factor(t.spent::float8)) END
    FROM together t WHERE t.budgets > 0
    UNION ALL
    SELECT 3, 'caution', 'No budget is for all roles together. The budgets of single roles add up for analysts who talk to each other: the sum is told here.'
    FROM together t WHERE t.budgets > 1 AND NOT t.bounded
    UNION ALL
    SELECT 4, 'caution', format('The budget of %s also has a delta of %s: with at most that probability nothing is promised.', b.whose, trim_scale(b.delta))
    FROM budgets b WHERE b.delta > 0 OR b.delta_spent > 0
    UNION ALL
    SELECT 5, 'caution', format('The budget of %s was lowered below what is spent: %s of %s.', b.whose, trim_scale(b.epsilon_spent), trim_scale(b.epsilon))
    FROM budgets b WHERE b.epsilon_spent > b.epsilon
    UNION ALL
    SELECT 6, 'yes', 'No budget was set: kanon_dp refuses every question about the table.' FROM together t WHERE t.budgets = 0 AND (SELECT a.owner FROM asked a)
    UNION ALL
    SELECT 7, 'caution', 'This page has what you may see: budgets and answers of your roles, and of all roles together. The owner of the table sees all of them.' FROM asked a WHERE NOT a.owner)
SELECT @extschema@.kanon_page(jsonb_build_object(
    'budget_of', a.name,
    'version', (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'kanon'),
    'made', to_char(now() AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC',
    'tiles', (SELECT jsonb_build_object('most', trim_scale(t.most)::text, 'spent', trim_scale(t.spent)::text, 'left', trim_scale(t.remaining)::text, 'answers', (SELECT count(*) FROM answers)) FROM together t WHERE t.budgets > 0),
    'verdicts', (SELECT jsonb_agg(jsonb_build_object('verdict', v.verdict, 'says', v.says) ORDER BY array_position('{no,caution,yes}'::text[], v.verdict), v.nr, v.says) FROM verdicts v),
    'budgets', (SELECT jsonb_agg(jsonb_build_object('whose', b.whose, 'epsilon', trim_scale(b.epsilon)::text, 'spent', trim_scale(b.epsilon_spent)::text, 'left', trim_scale(b.epsilon_left)::text,
                    'factor', kanon_internal.kanon_factor(b.most::float8), 'delta', trim_scale(b.delta)::text, 'delta_left', trim_scale(b.delta_left)::text,
                    'queries', coalesce(b.queries::text, 'any number'), 'queries_spent', b.queries_spent, 'answers', b.answers, 'set_by', b.set_by::text,
                    'set_at', to_char(b.set_at AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC') ORDER BY b.everybody DESC, b.whose) FROM budgets b),
    'askers', (SELECT jsonb_agg(to_jsonb(x) ORDER BY x.asked_by, x.aggregate) FROM (
                    SELECT s.asked_by::text AS asked_by, s.aggregate, count(*) AS answers, sum(s.queries) AS queries, trim_scale(sum(s.epsilon))::text AS epsilon, trim_scale(sum(s.delta))::text AS delta,
                           to_char(max(s.asked_at) AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY, HH24:MI') || ' UTC' AS last_at
                    FROM answers s GROUP BY s.asked_by, s.aggregate) x),
    'check', format('SELECT * FROM %1$I.kanon_budget WHERE relation = %2$L::regclass; SELECT * FROM %1$I.kanon_budget_answers WHERE relation = %2$L::regclass;', (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'kanon'), a.name)))
FROM asked a;
END;

COMMENT ON FUNCTION @extschema@.kanon_budget_report(regclass)
IS 'a self-contained page of what kanon_dp may tell of a table, what it has told, and what is left';

/*
 * Default privileges of whoever makes this have given others what they say: on tables, too,
 * that have the runs of all roles, and the budgets.  The function is gone again: whoever may
 * call it would need nothing that it can do.  Scripts that update the extension end with
 * the same.
 */
CREATE FUNCTION @extschema@.kanon_close() RETURNS void LANGUAGE C AS 'MODULE_PATHNAME', 'kanon_close';
SELECT @extschema@.kanon_close();
DROP FUNCTION @extschema@.kanon_close();
