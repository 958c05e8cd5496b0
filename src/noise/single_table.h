/*
 * single_table.h: the one table whose rows a source shows, one by one.
 */
#ifndef KANON_SINGLE_TABLE_H
#define KANON_SINGLE_TABLE_H

#include "rows/source.h"

/*
 * The table that a budget for this one is kept under: of a partition the table that is
 * partitioned.  Raises when its rows are another table's, too: views, inheritance.
 */
extern Oid single_table(Oid relid);

/*
 * The table under the source, each row of which is at most one row of the source,
 * whatever other rows there are: the source is that table, or a view that only leaves out
 * columns and rows and computes of a row's own values.  Raises when it is not so.
 */
extern Oid source_single_table(const Source *source);

#endif
