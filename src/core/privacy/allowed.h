/*
 * allowed.h: may these rows be a class?  Asked by every solver, and by the check of its release.
 */
#ifndef KANON_ALLOWED_H
#define KANON_ALLOWED_H

#include "privacy/rules.h"
#include "util/fault.h"

/* Rows that every class has. */
static inline int64_t
kanon_least_rows(const KanonProblem *problem)
{
	return problem->k_map || problem->known != NULL ? 1 : problem->k;
}

/* Are the fully suppressed rows a class like any other, or none? */
static inline bool
kanon_rest_strict(const KanonProblem *problem)
{
	return problem->residual == KANON_RESIDUAL_ERROR || problem->residual == KANON_RESIDUAL_FILL;
}

/* Are there rules that need to know which row types a class has? */
static inline bool
kanon_by_types(const KanonProblem *problem)
{
	return problem->privacy != NULL || problem->npopulations > 0;
}

/*
 * May these rows form a class?  The one place that knows the rules: rows is their
 * number together; types[ntypes] are what they are, with counts[ntypes] rows of
 * each (NULL: all that it has).  (But for rules about populations: population.c.)
 * Solvers may count on it that a set with fewer
 * than k rows never may, and, without problem->privacy, that any other may (then
 * types need not be at hand: NULL).
 */
static inline bool
kanon_class_allowed(const KanonProblem *problem, const uint32_t *types, const int64_t *counts, size_t ntypes,
					int64_t rows)
{
	return rows >= kanon_least_rows(problem) - FAULT(class_short) &&
		   (problem->viable == NULL || problem->viable(problem, types, ntypes)) &&
		   (problem->privacy == NULL || FAULT(rule_forgotten) ||
			kanon_privacy_allows(problem, types, counts, ntypes, false, NULL));
}

/*
 * May these rows, which are left for no class, be published fully suppressed?
 * There may be fewer than k of them, but what they say must keep the other rules.
 */
static inline bool
kanon_rest_allowed(const KanonProblem *problem, const uint32_t *types, const int64_t *counts, size_t ntypes)
{
	return problem->privacy == NULL || kanon_privacy_allows(problem, types, counts, ntypes, true, NULL);
}

#endif
