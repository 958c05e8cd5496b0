/*
 * stable.h: what a run does for a publication whose row types stay in their
 * classes; outside of such a refresh nothing.
 */
#ifndef KANON_STABLE_H
#define KANON_STABLE_H

#include "run/run.h"

/* Solves, starting from the release before. */
extern KanonStatus stable_solve(Run *run, KanonSolve solve);

/* Writes what the next release starts from. */
extern void stable_write(const Run *run);

#endif
