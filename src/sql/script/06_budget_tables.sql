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
