/*
 * improve.h: the anytime solver by itself.
 */
#ifndef KANON_IMPROVE_H
#define KANON_IMPROVE_H

#include "exact/ilp.h"

/* kanon_solve_improve without the exact solver before it, with a start (or NULL) and a trace. */
extern KanonStatus improve_traced(const KanonProblem *problem, const IlpStart *start, KanonRelease *release,
								  KanonReport *report, IlpTrace trace);

#endif
