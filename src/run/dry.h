/*
 * dry.h: for functions that read once, solve many times and write nothing:
 * kanon_frontier and kanon_explain.
 */
#ifndef KANON_DRY_H
#define KANON_DRY_H

#include "run/run.h"

typedef struct Dry
{
	Run *run;
	const char *method;
	KanonSolve solve;
} Dry;

/*
 * Checks the arguments, opens the source and reads its row types.  The function
 * has source, quasi_identifiers and its k or ks first, and then these options
 * of kanon_pattern_guided, in this order: patterns, weights, method, categorical,
 * residual, rules, time_limit, gap, seed, effort, hierarchies, level_cost, keep, privacy.  problem.k is left to the caller.
 */
extern void dry_begin(Dry *dry, FunctionCallInfo fcinfo, const char *function);

/* The position of the first argument after those. */
#define DRY_ARGS 17

#endif
