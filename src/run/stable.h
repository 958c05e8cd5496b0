/*
 * stable.h: row types stay in the classes that they had in the release before.
 */
#ifndef KANON_STABLE_H
#define KANON_STABLE_H

#include "run/run.h"

/* Solves: near the release before, when the request has one of which rows are still there. */
extern KanonStatus stable_solve(Run *run);

/* Makes the table that the next release starts from. */
extern void stable_write(const Run *run);

#endif
