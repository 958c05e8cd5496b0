/*
 * repair.h: any solver's release under rules that the solver does not know.
 *
 * The solver is asked for a release of the same rows with k alone (the plain problem),
 * whose bound holds with more rules, too.  Then its classes are mended until each keeps
 * the rules: those that break one are merged with others, or their rows are fully
 * suppressed or left out.
 */
#ifndef KANON_REPAIR_H
#define KANON_REPAIR_H

#include "privacy/rules.h"
#include "util/scratch.h"

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
 * (problem->viable), which makes its bound a better one.  For solvers that ask
 * kanon_class_allowed, or whose instances are those of instances.h.
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

/* What a cluster shows, and what its rows lose by that. */
typedef struct KanonShape
{
	const KanonProblem *problem;
	void *arg;

	/*
	 * What a row loses in a class of cluster a, or of a and b as one, which has that hull;
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
	 * What a row loses in no class.  INFINITY: every row has to be in one.  Such rows are the
	 * rest, which is checked as problem->residual says.
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
 * What a release of the plain problem becomes under the whole's rules, checked by
 * kanon_release_finish.  once: each listed pattern may be used once for each time that it is
 * listed, and every row has a class; else there is a rest, priced as fully suppressed.  end: of
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

#endif
