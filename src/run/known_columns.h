/*
 * known_columns.h: what somebody may know of a person: any few columns, or sets of them that are named.
 */
#ifndef KANON_KNOWN_COLUMNS_H
#define KANON_KNOWN_COLUMNS_H

#include "rare/rare.h"
#include "rows/source.h"

/* Columns of a set that is named, at most: each part of it is looked at. */
#define KNOWN_SET_MOST 16

/*
 * known_columns, and each element of combinations: names between commas, and "=k" behind them for a k of their own.
 * NULL and -1: not said.
 */
extern KanonKnown known_columns_parse(const Source *source, int known_columns, int64 k,
									  ArrayType *combinations, const char *missing);

/* Words of `missing`. */
extern KanonMissing missing_parse(const char *missing);

#endif
