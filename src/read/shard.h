/*
 * shard.h: rows of a shard that are alike, counted by the worker that has them.
 *
 * Of what a run has written there in this transaction, by one statement a shard: so it has a first row, at
 * the beginning of its first page, which says in a system column which table it is in.
 */
#ifndef KANON_READ_SHARD_H
#define KANON_READ_SHARD_H

#include "read/source.h"

/* The column that has how many they are. */
#define SHARD_COUNT "kanon_rows"

/* Is it such a table, on workers that have kanon? */
extern bool shard_counts(const Source *source);

/*
 * What a query reads from instead of it: the columns by which rows are told apart, or packed row types without their
 * lots; and the count.  What is alike may come several times, with some of its rows each.
 */
extern char *shard_rows(const Source *source);
extern char *shard_types(const Source *source);

#endif
