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
