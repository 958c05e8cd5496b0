/*
 * worker_row_types.h: row types that Citus workers have reported so far, by the hash of a packed row type (coordinator).
 */
#ifndef KANON_WORKER_ROW_TYPES_H
#define KANON_WORKER_ROW_TYPES_H

#include "host/border.h"

/* One entry for each hash: a row type with its values, and the number of its rows. */
typedef struct Told
{
	uint64 hash;
	int64 rows;
	uint64 bytes; /* another hash, of how the values came */
	uint32 type;  /* DICTIONARY_NONE: no worker has reported the values */
	char status;
} Told;

typedef struct ToldTypes ToldTypes;

extern ToldTypes *told_begin(Border *border);

/* Rows with what a packed row type has behind its lot; until the next call. */
extern Told *told_add(ToldTypes *types, bytea *value, int64 rows);

/* Another hash of it, under a seed that nobody knows. */
extern uint64 told_bytes(const ToldTypes *types, bytea *value);

/* One after the other; NULL: these were all. */
extern Told *told_next(ToldTypes *types);

extern void told_end(ToldTypes *types);

#endif
