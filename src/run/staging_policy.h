/*
 * staging_policy.h: whether a run's rows are set aside, on the workers of Citus or here, and how.
 */
#ifndef KANON_STAGING_POLICY_H
#define KANON_STAGING_POLICY_H

#include "run/run.h"

/* Before the source is read; says what kind of table the target will be. */
extern void set_rows_aside(Run *run);

/* Once more, under another seed, as two row types had the same hash; so many times that was so. */
extern void set_rows_aside_again(Run *run, int tries);

#endif
