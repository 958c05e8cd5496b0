/*
 * glpk.h: the integer program by GLPK, or KANON_UNAVAILABLE without it.
 */
#ifndef KANON_GLPK_H
#define KANON_GLPK_H

#include "pattern/program/program_model.h"

typedef struct IlpSettings
{
	bool cuts;          /* those of cutting_planes.c, and Gomory's */
	bool rounding_cuts; /* GLPK's, too */
	int branching;      /* 0: pseudo-costs, 1: most fractional, 2: Driebeck-Tomlin */
	int64_t max_nodes;  /* 0: no limit */
	double gap;
	bool free_fallback;   /* false: every row must be in a class */
	const IlpList *start; /* instances that a good solution uses; NULL: none known */
	/* of the instances f with group[f] == j at most limit[j] are open; may be NULL */
	const uint32_t *group;
	const uint32_t *limit;
	size_t ngroups;
} IlpSettings;

typedef struct IlpOutcome
{
	bool found;    /* a solution of at most cutoff */
	bool complete; /* searched through: `found` is optimal, or none exists */
	double cost;
	double bound;
	int64_t nodes;
} IlpOutcome;

/*
 * Least-cost solution of the model of cost at most `cutoff`; its instances
 * (positions in the model) in *open.
 */
extern KanonStatus ilp_glpk(const IlpModel *model, double cutoff, const IlpSettings *settings,
							IlpOutcome *outcome, IlpList *open, KanonPace *pace, KanonReport *report);

#endif
