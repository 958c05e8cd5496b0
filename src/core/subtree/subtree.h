/*
 * subtree.h: sub-tree generalisation
 */
#ifndef KANON_SUBTREE_H
#define KANON_SUBTREE_H

#include "kanon.h"
#include "privacy/population.h"
#include "util/pace.h"
#include "util/scratch.h"

/*
 * ---- subtree.c: one cut through each hierarchy for the whole table: a value is shown by
 * the same node in every row, and different branches may end at different levels.
 *
 * B. Fung, K. Wang, P. Yu, "Top-down specialization for information and privacy
 * preservation", ICDE 2005, and "Anonymizing classification data for privacy
 * preservation", TKDE 19(5), 2007; J. Liu, K. Wang, "On optimal anonymization for
 * l+-diversity", ICDE 2010.
 */

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

/* ---- subtree_cut.c: the hierarchies as trees, a cut through each, and the classes of the rows there ---- */

#define NO_NODE UINT32_MAX

/* Part of what the coarsest cut costs that sums of penalties may be wrong by: nearer costs are equal. */
#define CUT_TIE 1e-12

/* The things that a cell can show: a value, what some generalize to, or (the root) nothing. */
typedef struct CutNode
{
	uint32_t parent; /* of a root: itself */
	uint32_t child;  /* the first; they are numbered one after the other, and after it */
	uint32_t nchildren;
	int qi;
	int column; /* whose code it is; of a root: after the quasi-identifier's last */
	int64_t rows;
	uint32_t values; /* the table's values below it */
	double low;      /* least number below it; not finite: there is one that is none */
	double high;
	double loss; /* what a cell that shows it loses */
} CutNode;

typedef struct CutTrees
{
	int nqis;
	int first[KANON_MAX_COLUMNS + 1];
	uint32_t nnodes;
	CutNode *node;                     /* [nnodes] parents before children */
	uint32_t root[KANON_MAX_COLUMNS];  /* by quasi-identifier */
	uint32_t level[KANON_MAX_COLUMNS]; /* the first node by column */
	uint32_t *at[KANON_MAX_COLUMNS];   /* [distinct] by column, of a code; NO_NODE: no row has it */
} CutTrees;

/* Row types that show the same: member[start .. start + n). */
typedef struct CutClass
{
	uint32_t start;
	uint32_t n;
	uint32_t from; /* the class that it was split off */
	bool split;    /* it is no class any more */
	int64_t rows;
} CutClass;

/*
 * A cut is changed by moves, each named after a node: `subtree` shows all children
 * of the node instead of it; `sibling` shows the node instead of its parent.
 */
typedef struct Cut
{
	const KanonProblem *problem;
	const CutTrees *trees;
	KanonScratch *scratch;
	KanonPace *pace;
	KanonScheme scheme;
	KanonPresence *presence; /* NULL: there are no populations */
	bool monotone;           /* classes that keep the rules keep them as one */
	bool wandering;          /* ... but rows of a population may come to other classes further down */
	double cost;

	bool *lowered;  /* [nnodes] may be shown: a root, or a move has been made to it */
	bool *may;      /* [nnodes] may be lowered: all, but below a cut that is to stay */
	bool *dead;     /* [nnodes] the move is not to be made */
	double *saving; /* [nnodes] of cost, by the move */

	/* by cut_survey, of moves that can be made next */
	bool *allowed;    /* [nnodes] the classes would keep the rules (populations aside) */
	bool *large;      /* [nnodes] they would have enough rows */
	int64_t *least;   /* [nnodes] rows of the smallest that it would make */
	int64_t smallest; /* class at present */

	uint32_t *member; /* [ntypes] */
	CutClass *classes;
	uint32_t *shown; /* [nclasses * nqis] nodes */
	size_t nclasses;
	size_t nsplit; /* of them are no classes any more */
	size_t room;

	/* scratch of one class */
	uint32_t *buffer;      /* [ntypes] members by node */
	uint32_t *others;      /* [ntypes] all but one node's */
	uint32_t *touched;     /* [nnodes] nodes that have some */
	uint32_t *count;       /* [nnodes] members, zero between classes */
	uint32_t *end;         /* [nnodes] in buffer */
	int64_t *rows;         /* [nnodes] zero between classes */
	KanonPattern *pattern; /* [ntypes] with populations */
} Cut;

/* The trees, in memory of the scratch.  KANON_BROKEN: levels do not nest. */
extern KanonStatus cut_trees(const KanonProblem *problem, KanonScratch *scratch, KanonPace *pace,
							 CutTrees *trees, KanonReport *report);

/* A cut at the roots; presence is the caller's. */
extern KanonStatus cut_open(const KanonProblem *problem, const CutTrees *trees, KanonScratch *scratch,
							KanonPace *pace, Cut *cut);

/* Can a move of that name ever be made? */
static inline bool
cut_is_move(const Cut *cut, uint32_t move)
{
	const CutNode *node = &cut->trees->node[move];

	return cut->scheme == KANON_SCHEME_SUBTREE ? node->nchildren > 0 && cut->may[node->child]
											   : node->parent != move && cut->may[move];
}

/* Can it be made next? */
static inline bool
cut_is_open(const Cut *cut, uint32_t move)
{
	const CutNode *node = &cut->trees->node[move];

	if (cut->scheme == KANON_SCHEME_SUBTREE)
		return cut_is_move(cut, move) && cut->lowered[move] && !cut->lowered[node->child];
	return cut_is_move(cut, move) && cut->lowered[node->parent] && !cut->lowered[move];
}

/* Looks at all moves that are open and not dead. */
extern KanonStatus cut_survey(Cut *cut);

/* Makes an open move. */
extern KanonStatus cut_move(Cut *cut, uint32_t move);

/* Takes the last move back, which began with so many classes and that cost; not after cut_compact. */
extern void cut_undo(Cut *cut, uint32_t move, size_t nclasses, double cost);

/* Forgets classes that are classes no more, if these are most. */
extern void cut_compact(Cut *cut);

/* The cut of a release, below which no other goes from now on: *valid, and made, if it keeps the rules; else at the roots. */
extern KanonStatus cut_stay(Cut *cut, const KanonPrevious *previous, bool *valid);

/* Nothing but the roots is shown; to be built. */
extern void cut_raise(Cut *cut);

/* The classes and the cost anew, from lowered. */
extern KanonStatus cut_build(Cut *cut);

/* Its cost from the classes: moves take off what they save, so that what is left of nothing may be a hair beside it. */
extern void cut_add_up(Cut *cut);

/* Counts the populations; *keeps: do all classes keep the rules about them? */
extern KanonStatus cut_present(Cut *cut, bool *keeps);

/* May a cut below (or this) keep the rules about them, these being monotone but for rows that wander? */
extern KanonStatus cut_may_present(Cut *cut, bool *may);

/* Do all classes keep all rules? */
extern KanonStatus cut_valid(Cut *cut, bool *valid);

/* The columns that a class suppresses. */
extern KanonPattern cut_pattern(const Cut *cut, size_t class_);

/*
 * penalty.c: makes the best of the moves that keep the rules as long as there are any, or
 * time; again: looks a second time at the columns, if there is a class column (not: -1).
 */
extern KanonStatus cut_descend(Cut *cut, int class_column, bool again, int64_t *looked);

/* subtree_optimal.c: *bound is proven for every cut. */
extern KanonStatus cut_enumerate(Cut *cut, int64_t *looked, double *bound);

/*
 * The bound that no cut of the scheme can beat; gain (or NULL) [nnodes]: what each move and all
 * after it can save.
 */
extern KanonStatus cut_bound(Cut *cut, double *gain, double *bound);

#endif
