/*
 * shard_counts.h: rows of a shard that are alike, counted by the worker that has them.
 *
 * Of what a run has written there in this transaction, by one statement a shard: so it has a first row, at
 * the beginning of its first page, which says in a system column which table it is in.
 */
#ifndef KANON_SHARD_COUNTS_H
#define KANON_SHARD_COUNTS_H

#include "rows/source.h"

#include "lib/stringinfo.h"

/* The column that has how many they are, and the one for values of kept columns. */
#define SHARD_COUNT "kanon_rows"
#define SHARD_SAMPLED "kanon_sampled"

/*
 * Kept columns of a target whose values are counted in the same reading, as kanon_sampled tells them
 * (value_sample.h): of hashes those that have none of some bits.
 */
typedef struct ShardSample
{
	const char **names; /* [n] */
	int n;
	uint32 forgotten;
	void (*receive)(void *arg, bytea *sampled, int64 rows);
	void *arg;
} ShardSample;

/* Is it such a table, on workers that have kanon? */
extern bool shard_counts(const Source *source);

/*
 * What a query reads from instead of it: the columns by which rows are told apart, or packed row types without their
 * lots; where source->sample asks for them, values of kept columns, in lines that have nothing else; and the
 * count.  What is alike may come several times, with some of its rows each.
 */
extern char *shard_rows(const Source *source);
extern char *shard_types(const Source *source);

#endif
