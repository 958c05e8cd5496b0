/*
 * changes.h: has anything changed since the release before?
 */
#ifndef KANON_CHANGES_H
#define KANON_CHANGES_H

#include "run/run.h"

/* Under the run's snapshot: fills run->digest and run->unchanged, when the request has a definition. */
extern void look_for_changes(Run *run);

#endif
