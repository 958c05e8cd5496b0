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
