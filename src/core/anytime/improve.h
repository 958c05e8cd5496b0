/*
 * improve.h: the anytime solver by itself.
 */
#ifndef KANON_IMPROVE_H
#define KANON_IMPROVE_H

#include "exact/ilp.h"

/* improve.c: kanon_solve_improve without the exact solver before it, with a trace. */
extern KanonStatus improve_traced(const KanonProblem *problem, KanonRelease *release, KanonReport *report,
								  IlpTrace trace);

#endif
