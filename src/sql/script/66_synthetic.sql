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
