/*
 * row_split.h: rows of a row type that goes to several classes or records: which row
 * goes where.
 *
 * A release says how many rows of a type go to each class; which ones, rows that
 * differ in kept values alone, is drawn here.  To who knows not both the seed and
 * all these rows, every way of dealing them out is as likely as any other; and the
 * same rows with the same seed are dealt out alike, in whatever order they come.
 *
 * In a publication each row is drawn by itself, under its secret, and finds the class
 * that it was in before (company.h): another row's change is no reason to go elsewhere.
 */
#ifndef KANON_ROW_SPLIT_H
#define KANON_ROW_SPLIT_H

#include "postgres.h"

#include "rows/company.h"

#include "access/tupdesc.h"

typedef struct Split Split;

/* How one row is dealt out. */
typedef struct Deal
{
	uint64 random;
	uint32 before; /* the class of the release before that it was in, or NO_CLASS_BEFORE */
	RowMark mark;  /* with a company */
} Deal;

typedef void (*SplitDeal)(void *arg, uint32 type, const Deal *deal, const Datum *kept, const bool *nulls);

/* The kept columns are attributes first + 1 .. first + nkept of desc.  company: NULL, or that of a publication. */
extern Split *split_begin(TupleDesc desc, int first, int nkept, uint64 seed, Company *company);

extern void split_put(Split *split, uint32 type, const Datum *kept, const bool *nulls);

/* Deals out all the rows, and ends. */
extern void split_end(Split *split, SplitDeal deal, void *arg);

#endif
