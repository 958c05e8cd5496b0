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
