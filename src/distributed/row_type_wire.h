/*
 * row_type_wire.h: the values of a row type as workers of Citus send them.
 *
 * Workers hash the row types of the rows that they have, so that rows that are set aside need
 * not carry what they are told apart by: a number stands for it, and the values themselves
 * travel once or a few times a worker.  A packed row type is a random lot of the row's own, the hash, and
 * the values where they are told.
 */
#ifndef KANON_ROW_TYPE_WIRE_H
#define KANON_ROW_TYPE_WIRE_H

#include "rows/source.h"

#include "fmgr.h"

/* Bytes that a packed row type has before the values: the lot, and from there on what rows of a type have in common. */
#define PACKED_LOT ((int) sizeof(uint32))
#define PACKED_HASH ((int) sizeof(uint64))
#define PACKED_BEFORE (PACKED_LOT + PACKED_HASH)

/* regclass and its like: names to readers, and inside the numbers that each server gives for itself. */
extern bool is_numbered_by_server(Oid type);

/*
 * Can such columns be packed?  They are not too many, their types are the system's own, are hashed alike by
 * every server, and have a binary form that says all and depends on nothing else.
 */
extern bool packable(const SourceColumn *columns, int n);

/* The call that packs them, of a row of what a query reads from. */
extern char *packing(const Source *source);

/* The hash of a packed row type with the random number that places its row on a worker; raises when it is none. */
extern uint64 packed_hash(bytea *packed);
extern int64 packed_lot(bytea *packed, int32 shard);

/* Reads what packed row types have behind their lots. */
typedef struct Unpacker
{
	int n;
	FmgrInfo *receive; /* [n] */
	Oid *parameter;
	bool *text;
	Datum *values; /* [n] of the last one, in the memory context that was current */
	bool *nulls;
} Unpacker;

extern Unpacker *unpacker_create(const SourceColumn *columns, int n);

/* Raises data_corrupted when it tells no such values. */
extern void unpack(Unpacker *unpacker, bytea *told);

/* The hash with which it begins, of PACKED_HASH bytes: raises when it does not. */
extern uint64 packed_told(bytea *told);

#endif
