/*
 * release_bounds.h: the options by which a publication bounds its releases; options.c has them in
 * its table, publication/limits.c holds releases to them.
 */
#ifndef KANON_RELEASE_BOUNDS_H
#define KANON_RELEASE_BOUNDS_H

#include "run/request.h"

#define MIN_ROWS_HINT "1 is the default; 0 lets a release be empty."
#define MAX_HELD_HINT "It is a number of releases: of a nightly publication 30 are a month."

extern void take_min_rows(Request *request, Datum value);
extern void check_max_row_change(Request *request, Datum value);
extern void check_max_gcp(Request *request, Datum value);
extern void take_max_held(Request *request, Datum value);
extern void check_max_suppressed(Request *request, Datum value);

#endif
