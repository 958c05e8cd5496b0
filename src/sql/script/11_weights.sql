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
