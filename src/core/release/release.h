/*
 * release.h: what methods share to make a release, fill it, mend it and stay near the one before
 */
#ifndef KANON_RELEASE_H
#define KANON_RELEASE_H

#include "model/model.h"
#include "util/scratch.h"
#include "kanon.h"
#include "util/pace.h"
#include "privacy/rules.h"
#include "util/sort.h"

/* ---- patterned.c: the cheapest pattern of a mask that suppresses given columns ---- */

typedef struct KanonCover
{
	const KanonProblem *problem;
	KanonMaskIndex *index;
	KanonPattern *patterns; /* of a list, cheapest first */
	size_t npatterns;
	KanonScratch scratch;
	struct KanonCovered *known; /* those that were asked for */
	double weight[KANON_MAX_COLUMNS];
} KanonCover;

/* Opens a cover.  A cover of zeros has nothing to close. */
extern KanonStatus kanon_cover_open(KanonCover *cover, const KanonProblem *problem);
extern void kanon_cover_close(KanonCover *cover);

/* The all-suppressed one where no other does.  *cost: kanon_pattern_cost of it. */
extern KanonPattern kanon_cover(const KanonCover *cover, KanonPattern columns, double *cost);

/* ---- fill.c: the fully suppressed rows are none, or k of them ---- */

/*
 * For KANON_RESIDUAL_FILL without rules beyond k (release.h mends where there are some): a release of which
 * fewer than k rows are fully suppressed gets k, or none.  *filled: it was changed.  whole: by all rows of a class alone, so that
 * nobody leaves those who are in one class with them; else by rows of any, or those rows go to classes that show less from then on.  Flows are in any order afterwards, and the classes may look alike or be empty:
 * kanon_release_finish is to follow.  KANON_RESIDUAL: the table has fewer than k rows.
 */
extern KanonStatus kanon_fill(const KanonProblem *problem, bool whole, KanonRelease *release,
							  KanonReport *report, bool *filled);

/*
 * ---- one_class.c: where a method ended in vain, with `status` and a release that is freed, the release of all rows in one
 * class that shows nothing; that status where they may not be one either.
 */
extern KanonStatus kanon_release_one_class_or(const KanonProblem *problem, KanonStatus status,
											  KanonRelease *release, KanonReport *report);

/*
 * ---- shown_classes.c, too: which class the rows of each class before are in, where row types are not divided but for
 * rows that were suppressed.
 */

/* Fills previous->became. */
extern void kanon_follow(const KanonProblem *problem, const KanonPrevious *previous,
						 const KanonRelease *release);

/*
 * ---- plain.c: the rows of clusters that are merged, as rules look at them: those that these
 * do not tell apart are added up.  A question about a cluster then takes as long as it has
 * different ones, however many rows it has.
 */

/* Combinations of values that rules look at: rows of one are the same to them. */
typedef struct KanonValues
{
	uint32_t n;
	uint32_t *of;      /* [ntypes] */
	uint32_t *typical; /* [n] a type with it */
} KanonValues;

/* In memory of the scratch. */
extern KanonStatus kanon_number_values(const KanonProblem *problem, KanonScratch *scratch, KanonPace *pace,
									   KanonValues *values);

typedef struct HeldRows
{
	uint32_t type;
	uint32_t next;
	int64_t rows;
} HeldRows;

typedef struct Held
{
	KanonPace *pace;
	KanonValues values;
	HeldRows *items; /* [most] */
	uint32_t n;
	/* by cluster */
	uint32_t *first; /* items, linked up */
	uint32_t *last;
	uint32_t *length;  /* so many, */
	uint32_t *counted; /* and when equal ones were last added up */
	uint32_t *became;  /* the cluster that its rows went to; else itself */
	int64_t *rows;     /* 0: it is gone */

	uint32_t *met;    /* [values.n] stamp: the cluster at hand has it, */
	uint32_t *met_at; /* [values.n] as this item */
	uint32_t stamp;
} Held;

/* Empty clusters, and room for so many items.  In memory of the scratch. */
extern KanonStatus held_open(Held *held, const KanonProblem *problem, uint32_t nclusters, size_t most,
							 KanonScratch *scratch, KanonPace *pace);

extern void held_add(Held *held, uint32_t cluster, uint32_t type, int64_t rows);

/* Adds up what is equal: after the last of held_add. */
extern void held_add_up(Held *held, uint32_t cluster);

/* The rows of one are another's from now on. */
extern void held_hand_over(Held *held, uint32_t from, uint32_t to);

/* The cluster that has the rows which one had at first. */
extern uint32_t held_by(Held *held, uint32_t cluster);

/* Writes the rows of a cluster after `n` that are there; how many there are then. */
extern size_t held_list(const Held *held, uint32_t cluster, uint32_t *types, int64_t *counts, size_t n);

/*
 * ---- repair.c: any method's release under rules that the method does not know.
 *
 * The method is asked for a release of the same rows with k alone (the plain problem),
 * whose bound holds with more rules, too.  Then its classes are mended until each keeps
 * the rules: those that break one are merged with others, or their rows are fully
 * suppressed or left out.
 */

/* ---- plain.c: row types by their quasi-identifiers alone ---- */

typedef struct KanonPlain
{
	KanonProblem problem; /* no rules beyond k */
	const KanonProblem *whole;
	KanonColumn columns[KANON_MAX_COLUMNS];
	uint32_t *first; /* [problem.ntypes + 1] row types of the whole, one after the other */
	KanonScratch scratch;

	/* what some of the rows of a few types could say: viable() */
	uint32_t *seen; /* [most distinct] by value: number of the question that met it last */
	double *tally;  /* [most distinct] its rows */
	uint32_t *met;  /* [most distinct] values */
	uint32_t question;
} KanonPlain;

/*
 * strict: rows of which none could keep the rules are no class of the plain problem either
 * (problem->viable), which makes its bound a better one.  For methods that ask
 * kanon_class_allowed, or whose instances are those of program_model.h.
 */
extern KanonStatus kanon_plain_open(const KanonProblem *whole, bool strict, KanonPlain *plain);
extern void kanon_plain_close(KanonPlain *plain); /* of zeros: nothing */

/* The rule that asks for the most different values in each class, two or more; NULL: none does. */
extern const KanonPrivacyRule *kanon_most_values(const KanonProblem *problem, uint32_t *needed);

/* ---- repair.c ---- */

/* Rows of types that form a partition: flows to clusters, in any order; to KANON_DROPPED: to none. */
typedef struct KanonParts
{
	KanonFlow *flows;
	size_t nflows;
	size_t room;
	uint32_t nclusters;
	KanonPattern
		*pattern; /* [nclusters] when they are mended: columns that do not show their one value; else NULL */

	/* Clusters that are followed, KANON_DROPPED: the rest; and what they are when they are mended: [nbecame], others' */
	uint32_t nbecame;
	uint32_t *became;
} KanonParts;

/* False when memory is short. */
extern bool kanon_parts_add(KanonEnv *env, KanonParts *parts, uint32_t type, uint32_t cluster, int64_t rows);
extern void kanon_parts_free(KanonEnv *env, KanonParts *parts);

/* The plain problem's release, in the row types of the whole: each class gets its share of each. */
extern KanonStatus kanon_plain_spread(const KanonPlain *plain, const KanonRelease *release,
									  KanonParts *parts);

/* ---- clusters, as repair.c mends them ---- */

/* The least and the largest code of a cluster in a column. */
typedef struct KanonHull
{
	uint32_t low;
	uint32_t high;
} KanonHull;

#define KANON_NO_CLUSTER UINT32_MAX

/* A cluster's cells, and the loss of its rows by them. */
typedef struct KanonShape
{
	const KanonProblem *problem;
	void *arg;

	/*
	 * The loss of a row in a class of cluster a, or of a and b as one, which has that hull;
	 * INFINITY: it may not be a class, or is no better than the rest.  *pattern: columns that
	 * do not show their one value.
	 */
	double (*charge)(const struct KanonShape *shape, const KanonHull *hull, uint32_t a, uint32_t b,
					 KanonPattern *pattern);
	void (*merged)(const struct KanonShape *shape, uint32_t into, uint32_t from,
				   KanonPattern pattern); /* or NULL */
	const double
		*weight; /* [columns] what a row loses by each whose hull has several values, at least; or NULL */
	KanonPattern ranged; /* columns whose hull is shown, or may be, where they have several values */

	/* Clusters are never divided, and no row leaves the rest: who was together with others stays with them. */
	bool whole;

	/*
	 * The loss of a row in no class.  INFINITY: every row has to be in one.  Such rows are
	 * the rest, which is checked as problem->residual says.
	 */
	double rest;

	/*
	 * The clock (env->now) at which it stops: broken clusters go to the rest then; where there is none they are
	 * merged with whoever comes next, and where `merged` may not like that, that is KANON_NOT_FOUND.  0: never.
	 */
	double end;
} KanonShape;

/*
 * Mends the parts: clusters are then numbered from 0 on, and what is in none goes to
 * KANON_DROPPED.  KANON_NOT_FOUND when that leads nowhere, KANON_INFEASIBLE when all rows
 * together break a rule that no partition could keep then; KANON_REST_FORBIDDEN, KANON_RESIDUAL.
 */
extern KanonStatus kanon_repair(const KanonShape *shape, KanonParts *parts, KanonReport *report);

/* ---- patterned.c: classes that show what a mask's pattern says ---- */

/*
 * Makes a release of the plain problem one under the whole's rules, checked by
 * kanon_release_finish. once: each listed pattern may be used once for each time that it is
 * listed, and every row has a class; else there is a rest, priced as fully suppressed. end: of
 * the time that there is, as of KanonShape.
 */
extern KanonStatus kanon_mend(const KanonPlain *plain, const KanonRelease *solved, bool once, double end,
							  KanonRelease *release, KanonReport *report);

/*
 * The same of clusters that are there already, which suppress at least the columns of least[nclusters].  Those
 * that may be classes stay, the others are merged as they are.  once: each has that very pattern, and rows of no
 * cluster go where they cost the least.  parts is empty afterwards.
 */
extern KanonStatus kanon_mend_parts(const KanonProblem *problem, KanonParts *parts, KanonPattern *least,
									bool once, double end, KanonRelease *release, KanonReport *report);

/* ---- mending: the clusters of repair.c, for it and for the rest that is left of them (repair_rest.c) ---- */

/* Rows that are looked at for one broken cluster, or one that is to join the rest: of large ones fewer are asked. */
#define LOOKED_AT ((uint64_t) 1 << 20)

/* Rows that leave a cluster for the rest. */
typedef struct Draw
{
	uint32_t cluster; /* KANON_NO_CLUSTER: none do */
	int64_t *rows;    /* [held.values.n] by what rules look at */
} Draw;

typedef struct Repair
{
	const KanonShape *shape;
	const KanonProblem *problem;
	KanonScratch scratch;
	KanonPace pace;
	size_t width; /* columns */
	uint32_t n;   /* clusters; number n is the rest */
	KanonParts *parts;
	Held held; /* their rows */
	Draw draw;

	/* [n + 1] by cluster */
	KanonHull *hull; /* [* width] */
	double *charge;
	KanonPattern *pattern;
	uint32_t *before; /* in the order of their cells */
	uint32_t *after;
	uint32_t head;
	bool *broken;

	uint32_t *types; /* [2 * nflows] of clusters at hand */
	int64_t *counts;
	KanonHeap queue; /* broken ones */
	uint32_t alive;
	bool cancelled;
	bool hurried; /* time was up before all were mended */
} Repair;

/* The cells of two clusters as one; false: a row of it would lose `limit` or more. */
extern bool repair_unite(const Repair *r, uint32_t a, uint32_t b, double limit, KanonHull *hull);

extern void repair_to_rest(Repair *r, uint32_t cluster);

/* repair_rest.c: where the rest may not be published as it is, it is mended, too; *changed: clusters are not what they were. */
extern KanonStatus repair_rest(Repair *r, bool *changed);

/* ---- partition.c: some rows of a problem as a problem of their own ---- */

typedef struct KanonPart
{
	KanonProblem problem;
	uint32_t *type; /* [problem.ntypes] the row type in the whole */
	KanonColumn columns[KANON_MAX_COLUMNS];
	KanonColumn extra[KANON_MAX_COLUMNS];
} KanonPart;

/*
 * The rows are `rows[n]` of the row types `type[n]`, which ascend and must stay; codes
 * are the whole's.  Memory is the scratch's, but for privacy rules, which kanon_part_close
 * gives back (of zeros: nothing).
 */
extern KanonStatus kanon_part_open(const KanonProblem *whole, uint32_t n, uint32_t *type, const int64_t *rows,
								   KanonScratch *scratch, KanonPace *pace, KanonPart *part);
extern void kanon_part_close(KanonPart *part);

/* ---- shown_classes.c: classes by their cells: which of them takes a row type ---- */

#define SHOWN_NONE UINT32_MAX

typedef struct ShownClasses
{
	const KanonProblem *problem;
	const KanonPattern *pattern; /* by class */
	uint32_t *sample;            /* by class: a row type; what its pattern shows of that, all show */
	uint32_t n;
	uint32_t *class_; /* [n] in order of cost, pattern and what they show, once they are in order */
} ShownClasses;

extern KanonStatus shown_order(ShownClasses *shown, KanonScratch *scratch);

/* The cheapest that costs less than `limit` and takes this type, or SHOWN_NONE; *work grows by what that took. */
extern uint32_t shown_find(const ShownClasses *shown, uint32_t type, double limit, uint64_t *work);

#endif
