/*
 * hierarchy_bounds.h: bounds of hierarchies that follow from the values that are there, as a publication keeps them from
 * release to release.
 */
#ifndef KANON_HIERARCHY_BOUNDS_H
#define KANON_HIERARCHY_BOUNDS_H

#include "run/run.h"

/* Once the source has its hierarchies: those of the request are taken, as far as they are of the same builders. */
extern void kept_bounds_take(Run *run);

/* Once they are prepared: {"column": {"by": builder, "bounds": [...]}, ...} */
extern Jsonb *kept_bounds_tell(Run *run);

#endif
