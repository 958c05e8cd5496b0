/*
 * class_lots.h: row types whose rows go to several classes, on workers.
 */
#ifndef KANON_CLASS_LOTS_H
#define KANON_CLASS_LOTS_H

#include "core/kanon.h"
#include "host/border.h"
#include "rows/source.h"

/* How a query tells rows that were set aside. */
typedef struct LotWords
{
	const char *schema; /* of a table that is there meanwhile */
	const char *of_row; /* the hash of a row's type */
	const char *lot;    /* a row's lot */
} LotWords;

/*
 * The least and largest lot, low[] and high[], of the rows of each flow, so that each class takes just the rows that
 * the release says; of a type that goes to one class these are all lots.  hash: [types], which all differ.  Is
 * any type divided?
 */
extern bool divide_types(const Source *source, const LotWords *words, const KanonRelease *release,
						 const int64 *hash, int64 *low, int64 *high, Border *border);

#endif
