/*
 * fill.h: the fully suppressed rows are none, or k of them.
 */
#ifndef KANON_FILL_H
#define KANON_FILL_H

#include "kanon.h"

/* Are they filled up when the release is finished, rather than where the rest of it is made? */
extern bool kanon_fills(const KanonProblem *problem);

/*
 * For KANON_RESIDUAL_FILL without rules beyond k (repair.h mends where there are some): a release of which
 * fewer than k rows are fully suppressed gets k, or none.  *filled: it was changed.  whole: by all rows of a class alone, so that
 * nobody leaves those who are in one class with them; else by rows of any, or those rows go to classes that show less from then on.  Flows are in any order afterwards, and the classes may look alike or be empty:
 * kanon_release_finish is to follow.  KANON_RESIDUAL: the table has fewer than k rows.
 */
extern KanonStatus kanon_fill(const KanonProblem *problem, bool whole, KanonRelease *release,
							  KanonReport *report, bool *filled);

#endif
