/*
 * telling.h: the sample in which kept columns are compared, between the files that do it.
 */
#ifndef KANON_TELLING_H
#define KANON_TELLING_H

#include "rows/verify.h"

#include "common/pg_prng.h"

/* Places among a row's numbers, after a code for each quasi-identifier: */
#define HIDDEN 0 /* bits of the quasi-identifiers that its class does not show */
#define PERSON 2
#define BEFORE_KEPT 3

struct TellsLook
{
	Source *source;
	const RowTypes *types;
	MemoryContext context;
	int nqis;
	int nkept;
	int width;     /* numbers of a row */
	int *measured; /* [nkept] the place of a number itself, in two of them; 0: it is none */
	/* [most + most_hidden][width]: codes, HIDDEN and PERSON, hashes as published and in the source, numbers */
	uint32 *numbers;
	int64 most;
	int64 most_hidden;
	int64 rows;        /* noted */
	int64 rows_hidden; /* of those that were not drawn for the first `most`, with something hidden */
	pg_prng_state random;
	const KanonCell *cells; /* of the class at hand */
	uint64 hidden;          /* its quasi-identifiers that are not shown */
};

/* All of it, while the answer is looked for. */
typedef struct Sample
{
	TellsLook *look;
	int64 n;    /* rows */
	int64 more; /* with the further ones of which something is hidden */
	Attribute *kept;
	Attribute *qis;
	bool **hidden;      /* [qis][more] not shown */
	uint64 some_hidden; /* the quasi-identifiers that some row does not show */
	uint64 *tells;      /* [kept] the quasi-identifiers that a column alone tells */
	double tries;       /* the logarithm of how many groups and quasi-identifiers there are */
	int64 compared;
	bool ended; /* too many groups are there to compare */
} Sample;

/* ---- telling_groups.c ---- */

/* Pairs of kept columns, then threes of which no pair was told; says what of it was not asked. */
extern void tells_groups(Sample *sample);

/* The share of all rows that have values in these columns that no other row (or person) has together. */
extern double tells_own(const TellsLook *look, int64 n, const Attribute *columns);

/* Can readers know what is published of a column, so that what it tells is told? */
extern bool tells_known(const SourceColumn *column);

/* For the record, which outlives the look. */
extern void tells_remember(const Source *source, List **list, const char *what);

#endif
