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
