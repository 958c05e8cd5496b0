/*
 * origins.h: the columns that a column is made of, below views.
 */
#ifndef KANON_ORIGINS_H
#define KANON_ORIGINS_H

#include "postgres.h"

#include "access/attnum.h"

/*
 * Shows a column to `found` and, until that says true, those which it is a plain copy of
 * below views and materialized views (of a union: in each branch).  Nobody's function runs.
 */
extern bool column_origins(Oid relid, AttrNumber attnum,
						   bool (*found)(Oid relid, AttrNumber attnum, void *arg), void *arg);

/*
 * The same of all columns that it is computed from, in one row: by expressions of views and of generated
 * columns, too, but for aggregates and subqueries.
 */
extern bool column_makings(Oid relid, AttrNumber attnum,
						   bool (*found)(Oid relid, AttrNumber attnum, void *arg), void *arg);

#endif
