/*
 * shuffle.h: rows set aside as they are read, to come out in random order.
 */
#ifndef KANON_SHUFFLE_H
#define KANON_SHUFFLE_H

#include "host/secure_random.h"

#include "executor/tuptable.h"
#include "utils/tuplesort.h"

typedef struct Shuffle
{
	Tuplesortstate *sort; /* of (random bigint, number, columns) */
	TupleDesc desc;
	TupleTableSlot *put;
	TupleTableSlot *got;
	RandomPool random;
} Shuffle;

/* The columns of a row are those of desc from `first` (0: the first) on. */
extern Shuffle *shuffle_begin(TupleDesc desc, int first);

/* The numbers below n, alone and sorted. */
extern Shuffle *shuffle_numbers(int64 n);

/* A row, with a number that its owner knows it by. */
extern void shuffle_put(Shuffle *shuffle, int64 number, const Datum *values, const bool *nulls);

/* No more rows are put. */
extern void shuffle_sort(Shuffle *shuffle);

/* The next row, until the one after it; false: there is none. */
extern bool shuffle_next(Shuffle *shuffle, int64 *number, const Datum **values, const bool **nulls);
extern void shuffle_end(Shuffle *shuffle);

#endif
