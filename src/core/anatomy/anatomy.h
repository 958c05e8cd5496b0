/*
 * anatomy.h: rows are divided into groups by a sensitive value, so that two tables can
 * be published: the rows as they are with the number of their group, and the values of
 * each group with their counts.
 *
 * X. Xiao, Y. Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006.
 */
#ifndef KANON_ANATOMY_H
#define KANON_ANATOMY_H

#include "kanon.h"
#include "util/number.h"

typedef struct KanonAnatomyProblem
{
	KanonEnv *env;
	uint32_t nvalues;
	const int64_t *rows; /* [nvalues] rows with each value, > 0; fewer than 2^32 in all */
	int64_t l;           /* >= 1 */
	KanonDraw draw;      /* whoever can foresee them can tell whose value is whose */
	void *arg;
} KanonAnatomyProblem;

typedef struct KanonAnatomy
{
	uint32_t nrows;
	uint32_t ngroups; /* floor(nrows / l) */
	uint32_t *start;  /* [nvalues + 1] */
	uint32_t *group;  /* [nrows] of the rows of value v, in any order: start[v] .. start[v + 1] - 1 */
	uint32_t *first;  /* [ngroups + 1] */
	uint32_t *value;  /* [nrows] those of group g, ascending: first[g] .. first[g + 1] - 1 */
	double error;     /* reconstruction error, the least that is possible */
} KanonAnatomy;

/*
 * Every group has l values at least, each of one row.  KANON_INFEASIBLE when a value has
 * more than nrows / l rows, and nothing could be done.  The outcome is for
 * kanon_anatomy_free, whatever the status.
 */
extern KanonStatus kanon_anatomize(const KanonAnatomyProblem *problem, KanonAnatomy *anatomy);
extern void kanon_anatomy_free(KanonEnv *env, KanonAnatomy *anatomy);

#endif
