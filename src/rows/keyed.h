/*
 * keyed.h: rows in the order of a key, on disk where they are too many for work_mem.
 */
#ifndef KANON_KEYED_H
#define KANON_KEYED_H

#include "rows/source.h"

#include "access/tupdesc.h"

/* Columns before those that are kept. */
#define KEYED_BEFORE 2

typedef struct Keyed Keyed;

/* What the last keyed_next has brought, until the next one. */
typedef struct KeyedRow
{
	const unsigned char *key;
	int length;
	int64 rows;        /* it stands for */
	const Datum *kept; /* [nkept] */
	const bool *nulls;
} KeyedRow;

/* Rows with these columns beside their key; `again`: they will be read from a place that was marked. */
extern Keyed *keyed_begin(const SourceColumn *kept, int nkept, bool again);
extern void keyed_put(Keyed *keyed, const unsigned char *key, int length, int64 rows, const Datum *kept,
					  const bool *nulls);

/* All are there: in ascending order of keys, byte by byte. */
extern void keyed_sort(Keyed *keyed);

/* NULL: there is none. */
extern const KeyedRow *keyed_next(Keyed *keyed);

extern TupleDesc keyed_columns(const Keyed *keyed);

/* The next row is the next one again, later. */
extern void keyed_mark(Keyed *keyed);
extern void keyed_return(Keyed *keyed);
extern void keyed_rewind(Keyed *keyed);

/* NULL is fine. */
extern void keyed_end(Keyed *keyed);

/* Numbers in a key, in the order of their bytes. */
static inline unsigned char *
key_put(unsigned char *key, uint32 number)
{
	for (int i = 0; i < 4; i++)
		key[i] = (unsigned char) (number >> (24 - 8 * i));
	return key + 4;
}

static inline uint32
key_get(const unsigned char *key)
{
	return (uint32) key[0] << 24 | (uint32) key[1] << 16 | (uint32) key[2] << 8 | key[3];
}

#endif
