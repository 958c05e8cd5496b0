/*
 * point_source.h: rows of numbers as points, and places between a column's bounds as its values.
 */
#ifndef KANON_POINT_SOURCE_H
#define KANON_POINT_SOURCE_H

#include "core/noise/points.h"
#include "host/border.h"
#include "rows/source.h"
#include "utils/jsonb.h"

typedef struct Points
{
	Source *source;   /* its kept columns are the numbers */
	double *least;    /* [nkept] bounds: given, or of the rows themselves */
	double *greatest; /* [nkept] */
	int64 n;
	double *number; /* [n * nkept] once they are read */
	int64 outside;  /* rows that are no points: with NULL, NaN or infinity, or out of bounds */
} Points;

/* Finds columns and locks the relation; raises for columns that are no numbers. */
extern Points *points_open(Oid relid, ArrayType *columns);

/* Bounds out of {"column": {"from": 0, "to": 99}, …}; NULL: any number is within them. */
extern void points_bounds(Points *points, Jsonb *json);

/* The rows of a relation with such columns, which is called so in queries. */
extern void points_read(Points *points, const char *name, Oid relid, bool read_only, const char *phase,
						Border *border);

/* Bounds become those of the rows. */
extern void points_fit(Points *points);

/* The numbers as places; raises when a column has one value alone. */
extern uint32 *points_places(const Points *points, Border *border);

/* A place, which may be out of bounds, as the column's type has it. */
extern Datum points_value(const Points *points, int column, int64 place);

#endif
