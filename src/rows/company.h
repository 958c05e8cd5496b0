/*
 * company.h: which rows of a row type are in which of its classes, from one release of a publication to the next.
 *
 * Rows of a type differ in what they keep alone.  Under the publication's secret each has a hash of that and,
 * with a key, one of whose it is.  Rows that could go elsewhere than others of their type leave these with their
 * class, so that in the next release each finds the class that it was in.
 */
#ifndef KANON_COMPANY_H
#define KANON_COMPANY_H

#include "rows/row_types.h"
#include "rows/bulk.h"

/* No class of the release before. */
#define NO_CLASS_BEFORE PG_UINT32_MAX

/* A row as it is known again: whose it is does not count without a key. */
typedef struct RowMark
{
	uint64 row;
	uint64 key;
} RowMark;

/* A row that was there: of a row type of this release, in a class of the one before. */
typedef struct RowBefore
{
	RowMark mark;
	uint32 type;
	uint32 class_;
	bool met;       /* it is there still */
	uint32 skip[2]; /* of the first of those that are alike: so many of these have been met; by row, by key */
} RowBefore;

typedef struct Company Company;

struct Company
{
	Border *border;
	MemoryContext scratch; /* values while they are hashed */
	uint64 seeds[3];       /* of rows, of keys, of who is drawn where */
	bool keyed;

	/* of the release before */
	RowBefore *rows; /* [n] by type and row */
	uint32 *by_key;  /* [n] places among them by type and key; NULL without a key */
	Size n, room;
	const uint32 *became; /* [its classes] the class in this one, or KANON_DROPPED */
	uint32 nclasses;

	/* what the next release finds, or NULL */
	void (*note)(void *arg, uint32 type, uint32 class_, const RowMark *mark);
	void *arg;
};

/* Nobody is known yet.  keyed: the last of the columns behind those that are kept says whose a row is. */
extern Company *company_create(const bytea *secret, bool keyed, Border *border);

/* The marks of a row: of so many columns that it keeps, and of the key behind them. */
extern RowMark company_mark(const Company *company, TupleDesc desc, int first, int nkept, const Datum *values,
							const bool *nulls);

extern void company_add(Company *company, const RowMark *mark, uint32 type, uint32 class_);

/* After the last of them; and before they are met again. */
extern void company_begin(Company *company);

/* Finds a row that was there; what changed is found by its key, when all others of its type were met. */
extern RowBefore *company_meet_row(Company *company, uint32 type, const RowMark *mark);
extern RowBefore *company_meet_key(Company *company, uint32 type, const RowMark *mark);

/* Are rows of the type known? */
extern bool company_knows(const Company *company, uint32 type);

/* By which a row that was not there is drawn: of nobody else's row it says anything. */
extern uint64 company_draw(const Company *company, const RowMark *mark);

#endif
