/*
 * full_domain.h: every row generalized to the same levels (one node of the
 * lattice of levels), at most a given share of the rows suppressed whole.
 *
 * Samarati, "Protecting respondents' identities in microdata release", TKDE
 * 2001; LeFevre, DeWitt, Ramakrishnan, "Incognito: efficient full-domain
 * k-anonymity", SIGMOD 2005.  A node is a pattern that suppresses so many levels
 * of each quasi-identifier (kanon.h).
 */
#ifndef KANON_FULL_DOMAIN_H
#define KANON_FULL_DOMAIN_H

#include "privacy/rules.h"

/* Nodes of a lattice of which each is looked at; of larger ones the most promising are. */
#define KANON_MAX_NODES 10000000

/*
 * The metric that is to be least; full_domain_metric.c has sources and formulas.  As
 * reported all but precision are losses.
 */
typedef enum KanonMetric
{
	KANON_METRIC_LOSS,      /* 0 .. 1 */
	KANON_METRIC_PRECISION, /* 1 nothing lost .. 0 everything: the largest is sought */
	KANON_METRIC_DISCERNIBILITY,
	KANON_METRIC_AVERAGE, /* rows by classes */
	KANON_METRIC_ENTROPY, /* 0 .. 1, of what suppressing every cell would lose */
	KANON_METRIC_HEIGHT   /* sum of the levels */
} KanonMetric;

/* All of them find the same node; full_domain_search.c has the papers. */
typedef enum KanonSearch
{
	KANON_SEARCH_SAMARATI,
	KANON_SEARCH_INCOGNITO,
	KANON_SEARCH_FLASH,
	KANON_SEARCH_SPEEDY /* flash, whose nodes a team checks */
} KanonSearch;

/* A member's own state; memory is that of the common block, as open gave it. */
typedef struct KanonMember KanonMember;

extern KanonMember *kanon_member_open(KanonEnv *env, void *block, int member);
extern void kanon_member_work(KanonMember *member);
extern void kanon_member_close(KanonMember *member);

typedef struct KanonNode
{
	KanonPattern pattern;
	bool fulfils;       /* the rules, within the suppression limit */
	bool checked;       /* else tagged: the rest is not known */
	double metric;      /* of nodes that fulfil the rules */
	int64_t suppressed; /* rows */
	int64_t classes;    /* beside the suppressed rows */
} KanonNode;

/* A search's result, and its effort. */
typedef struct KanonOutcome
{
	int64_t nodes;     /* in the lattice; INT64_MAX: or more */
	int64_t checked;   /* nodes whose classes were counted */
	int64_t tagged;    /* nodes whose verdict followed from others' */
	int64_t rolled_up; /* checks that began with another node's classes */
	int members;       /* processes that took part */
	KanonNode best;    /* the node chosen */
	bool proven;       /* it is optimal */
	double bound;      /* no node's metric is better than that */
	KanonNode *all;    /* [nodes] from no level to all levels, when explored; env memory */
} KanonOutcome;

typedef struct KanonFullDomainOptions
{
	double suppression_limit; /* share of the rows, 0 .. 1 */
	KanonMetric metric;
	KanonSearch search;
	bool explore;          /* fill outcome->all; a check for every node that fulfils the rules */
	double most_nodes;     /* of a lattice of which each is looked at; 0: KANON_MAX_NODES */
	const KanonTeam *team; /* for KANON_SEARCH_SPEEDY, whose members call kanon_member_work; NULL: alone */

	/*
	 * Its node (of several: the lowest above all of them) stays while it fulfils the rules, and
	 * then the best of those above it is chosen, so that classes are never divided; of other nodes
	 * nothing is proven then.  Suppressed rows stay suppressed.
	 */
	const struct KanonPrevious *previous; /* or NULL */
} KanonFullDomainOptions;

/*
 * full_domain.c: the optimal node, proven; problem->full_domain has the options.  In a lattice of
 * more than most_nodes, kanon_full_domain_wide finds the best node until problem->time_limit or
 * memory ends it, with a bound; the search's name does not matter then.  Among equal nodes it
 * takes the one with the fewest suppressed rows, then the lowest, then the one that generalizes
 * the earlier quasi-identifiers less.  The suppressed rows are one class; where they may not be
 * one, residual says what happens to them.  KANON_TOO_LARGE: too many nodes to explore;
 * KANON_NOT_FOUND: time or memory was up before there was a node; KANON_INFEASIBLE: no node
 * fulfils the rules (the detail names the best), KANON_RESIDUAL, KANON_REST_FORBIDDEN: none
 * without left-over rows that may not be. report->cost is what the patterns cost, of which
 * nothing is proven.
 */
extern KanonStatus kanon_solve_full_domain(const KanonProblem *problem, KanonOutcome *outcome,
										   KanonRelease *release, KanonReport *report);

/* The same by itself, and full_domain_near.c: with options->previous. */
extern KanonStatus full_domain_solve(const KanonProblem *problem, const KanonFullDomainOptions *options,
									 KanonOutcome *outcome, KanonRelease *release, KanonReport *report);
extern KanonStatus full_domain_near(const KanonProblem *problem, KanonOutcome *outcome, KanonRelease *release,
									KanonReport *report);

/* Words of SQL for the metric: their place in the enum. */
extern const char *const kanon_metric_names[]; /* end with NULL */

#endif
