/*
 * packed.h: the values of a row type as workers of Citus send them.
 *
 * Workers hash the row types of the rows that they set aside, so that rows need not
 * carry what they are told apart by: a number stands for it, and the values themselves
 * travel once or a few times a worker.
 */
#ifndef KANON_READ_PACKED_H
#define KANON_READ_PACKED_H

#include "read/source.h"

#include "fmgr.h"

/* Bytes of the hash that a packed row type begins with. */
#define PACKED_HASH ((int) sizeof(int64))

/*
 * Can such columns be packed?  Their types are the system's own, are hashed alike by every
 * server, and have a binary form that says all and depends on nothing else.
 */
extern bool packable(const SourceColumn *columns, int n);

/* Reads what was packed. */
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

/* Raises data_corrupted when these are no such values. */
extern void unpack(Unpacker *unpacker, bytea *packed);

#endif
