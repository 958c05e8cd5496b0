/*
 * points.h: points that were moved by noise become a table, which is read again.
 */
#ifndef KANON_WRITE_POINTS_H
#define KANON_WRITE_POINTS_H

#include "read/points.h"
#include "write/target.h"

/* In random order; moved[points->n * columns]: places. */
extern void points_write(const Target *target, const Points *points, const int64 *moved, Border *border);

/* Raises when the table does not have just those rows. */
extern void points_verify(const Target *target, const Points *points, const int64 *moved, Border *border);

#endif
