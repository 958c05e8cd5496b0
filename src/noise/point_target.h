/*
 * point_target.h: points that were moved by noise become a table, which is read again.
 */
#ifndef KANON_POINT_TARGET_H
#define KANON_POINT_TARGET_H

#include "noise/point_source.h"
#include "rows/target.h"

/* In random order; moved[points->n * columns]: places. */
extern void points_write(const Target *target, const Points *points, const int64 *moved, Border *border);

/* Raises when the table does not have just those rows. */
extern void points_verify(const Target *target, const Points *points, const int64 *moved, Border *border);

#endif
