/*
 * subtree.h: one cut through each hierarchy for the whole table: a value is shown by
 * the same node in every row, and different branches may end at different levels.
 *
 * B. Fung, K. Wang, P. Yu, "Top-down specialization for information and privacy
 * preservation", ICDE 2005, and "Anonymizing classification data for privacy
 * preservation", TKDE 19(5), 2007; J. Liu, K. Wang, "On optimal anonymization for
 * l+-diversity", ICDE 2010.
 */
#ifndef KANON_SUBTREE_H
#define KANON_SUBTREE_H

#include "kanon.h"

typedef enum KanonSubtreeMethod
{
	KANON_SUBTREE_TOP_DOWN,
	KANON_SUBTREE_OPTIMAL,
	KANON_SUBTREE_TDS /* top_down as it was published, with no second look */
} KanonSubtreeMethod;

typedef enum KanonScheme
{
	KANON_SCHEME_SUBTREE, /* all children of a node are shown, or none */
	KANON_SCHEME_SIBLING  /* a node that is shown stands for those of its children that are not */
} KanonScheme;

typedef struct KanonSubtreeOptions
{
	KanonSubtreeMethod method;
	KanonScheme scheme;
	int class_column; /* of problem->extra: top_down and tds keep what tells its values apart; or -1 */

	/*
	 * Its cut stays while it keeps the rules, and then the method looks for one that is nowhere
	 * lower, so that classes are never divided; nothing is proven of other cuts then.  Where
	 * there is none such, there is nothing before.
	 */
	const struct KanonPrevious *previous; /* or NULL */
} KanonSubtreeOptions;

/* Words of SQL for both: their place in the enum.  They end with NULL. */
extern const char *const kanon_scheme_names[];

/*
 * problem->subtree has the options; the mask must be every combination.  No row is
 * left over or left out.  report->cost is the normalized certainty penalty of the
 * release (measure_loss.c), lower_bound proven for every cut of the scheme that keeps
 * the rules, nodes the cuts that were looked at.  When time_limit ends it, the release
 * is the best so far, and detail says so.  KANON_INFEASIBLE: all rows together may not
 * be a class; KANON_NOT_FOUND: that, where persons are counted, and a finer cut might.
 */
extern KanonStatus kanon_solve_subtree(const KanonProblem *problem, KanonRelease *release,
									   KanonReport *report);

#endif
