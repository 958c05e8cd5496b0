/*
 * own_k.h: a column of the source that says how many matches each row wants.
 */
#ifndef KANON_OWN_K_H
#define KANON_OWN_K_H

#include "rows/row_types.h"

/* Finds the column, by which row types are then told apart, too; its place among the grouped ones. */
extern int own_k_column(Source *source, char *name);

/* [ntypes] of rows that were read; raises where they are no k, with how many rows that is. */
extern const int64 *own_k_read(const RowTypes *types, int column, Border *border);

/* How many rows want more than so many matches. */
extern int64 own_k_above(const RowTypes *types, const int64 *own_k, int64 most);

#endif
