/*
 * rare.h: combinations of values that few rows have.
 */
#ifndef KANON_RARE_H
#define KANON_RARE_H

#include "kanon.h"

/* The code of a cell without a value. */
typedef enum KanonMissing
{
	KANON_MISSING_VALUE, /* a value like others: NULL agrees with NULL alone */
	KANON_MISSING_ANY,   /* it agrees with every value */
	KANON_MISSING_ASIDE  /* it agrees with nothing, and tells nothing */
} KanonMissing;

/* Columns that somebody may know together, all of them or some, and the rows that are to have what is known. */
typedef struct KanonKnownSet
{
	KanonPattern columns;
	int64_t k; /* 0: that of all */
} KanonKnownSet;

typedef struct KanonKnown
{
	int most;                  /* any so many columns may be known together; 0: only the sets */
	int64_t k;                 /* of these */
	const KanonKnownSet *sets; /* [nsets] */
	int nsets;
	KanonMissing missing;
	const uint64_t *const *blank; /* [ncolumns] bits of row types whose cell is blank, or NULL: none is */
	const uint32_t *person;       /* [ntypes] whose rows a type has: k is asked of persons; NULL: of rows */
	uint32_t npersons;
} KanonKnown;

/* A minimal rare combination. */
typedef struct KanonRare
{
	const int *column; /* [ncolumns] ascending */
	int ncolumns;
	const uint32_t *type; /* [ntypes] the row types that have it, ascending, or by person */
	uint32_t ntypes;
	int64_t rows; /* or persons, that agree with it, fewer than k */
	int64_t k;
} KanonRare;

typedef void (*KanonRareVisit)(void *arg, const KanonRare *rare);

/* The rows that have to have what is known of these columns; 0: nobody knows them together. */
extern int64_t kanon_known_k(const KanonKnown *known, KanonPattern columns);

/* Are more than these known together? */
extern bool kanon_known_beyond(const KanonKnown *known, KanonPattern columns, int ncolumns);

/* Columns that may be known together, at most. */
extern int kanon_known_most(const KanonKnown *known, int ncolumns);

/*
 * Shows every minimal rare combination, after all of its parts.  Levels are columns like others: whoever
 * asks has none.  KANON_TOO_LARGE when the problem's time_limit has ended the walk.
 */
extern KanonStatus kanon_rare_find(const KanonProblem *problem, const KanonKnown *known, KanonRareVisit visit,
								   void *arg);

#endif
