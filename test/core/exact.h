/*
 * exact.h: what the tests of methods share, those of the exact and the anytime ones above all.
 */
#ifndef EXACT_H
#define EXACT_H

#include "fixture.h"

/* A number of random cases; KANON_TEST_SHARE per cent of them. */
extern int exact_cases(int number);

/* Cost of a release with the rows left out priced as if suppressed. */
extern double exact_cost(const KanonProblem *problem, const KanonRelease *release, const KanonReport *report);

/* Are the fully suppressed rows none, or k of them? */
extern bool exact_strict(const KanonProblem *problem);

/* Weights and rows are such that an exact method with the time it needs proves a least cost like this one. */
extern bool exact_provable(const KanonProblem *problem, double cost);

/*
 * A problem over random codes below `domain`, all combinations; levels: some
 * columns are levels, at times.
 */
extern KanonProblem *exact_problem(Host *host, uint64_t *random, size_t rows, int columns, uint32_t domain,
								   int64_t k, bool levels);

/* A problem of the same kind each time it is called; `variant` is the test's. */
typedef KanonProblem *(*ExactMake)(Host *host, int variant);

/*
 * Lets every allocation fail once (a share of the later ones), and every poll
 * cancel once: the method ends with that status and frees all; may_do_without:
 * memory refused may also end in a release.
 */
extern void exact_refuse_each(ExactMake make, int variant, KanonSolve solve, bool may_do_without);
extern void exact_cancel_each(ExactMake make, int variant, KanonSolve solve);

#endif
