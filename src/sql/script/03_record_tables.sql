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
