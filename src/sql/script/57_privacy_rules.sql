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
