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
