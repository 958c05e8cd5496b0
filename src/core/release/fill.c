/*
 * fill.c: the fully suppressed rows are none, or k of them.
 *
 * A method is left with r rows that fit no class, 0 < r < k.  The classes being what they are, there are two ways
 * on, and the cheaper one is taken:
 *
 *	fill	k - r rows of classes are fully suppressed, too.  Either classes give what they have more than k, or one
 *			of them gives all its rows (which are enough).  The rows that lose least by it are taken; of the sets that
 *			will do, that is the cheapest.
 *	merge	each of the r rows goes to the class that loses least by it: all rows of the class then show no more than
 *			they have in common with it.  Row type by row type: a heuristic.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "privacy/rules.h"
#include "release/release.h"
#include "util/pace.h"

/* Looks at a class for one row type and column, at most: more are not merged. */
#define LOOKS ((double) ((uint64_t) 1 << 31))

/* A row type that goes to a class, which has this pattern then. */
typedef struct Joining
{
	uint32_t class_;
	KanonPattern pattern;
	double cost;
} Joining;

typedef struct Fill
{
	const KanonProblem *problem;
	KanonRelease *release;
	KanonScratch scratch;
	KanonPace pace;
	KanonCover cover;
	size_t width;
	uint32_t blank; /* the class of the fully suppressed */
	int64_t rest;   /* its rows */
	int64_t need;   /* so many more it takes */
	double all;     /* cost of such a row */
	int64_t *take;  /* [nclasses] rows that go there */

	uint32_t *type; /* [ntypes] row types of the rest, */
	int64_t *rows;  /* and so many of them */
	Joining *joining;
	uint32_t ntypes;
} Fill;

/* ---- the rest ---- */

static bool
find_blank(Fill *f)
{
	KanonPattern all = kanon_pattern_all(f->problem->ncolumns);

	for (f->blank = f->release->nclasses; f->blank-- > 0;)
		if (kanon_same(f->release->classes[f->blank].pattern, all) &&
			kanon_class_blank(f->problem, f->release, f->blank))
			return true;
	return false;
}

static KanonStatus
count_rows(Fill *f)
{
	KanonRelease *release = f->release;

	for (uint32_t i = 0; i < release->nclasses; i++)
		release->classes[i].rows = 0;
	for (size_t j = 0; j < release->nflows; j++)
	{
		if (release->flows[j].class_ != KANON_DROPPED)
			release->classes[release->flows[j].class_].rows += release->flows[j].rows;
		if (kanon_stop(&f->pace, 1))
			return KANON_CANCELLED;
	}
	f->rest = release->classes[f->blank].rows;
	f->need = f->problem->k - f->rest;
	return KANON_OK;
}

/* ---- fill ---- */

static bool
gives(const Fill *f, uint32_t class_)
{
	return class_ != f->blank && f->release->classes[class_].rows > 0;
}

/* The further loss of a class's row when it is fully suppressed. */
static double
loss_of(const Fill *f, uint32_t class_)
{
	return f->all - kanon_pattern_cost(f->problem, f->release->classes[class_].pattern);
}

/*
 * Rows of classes that have more than k, the cheapest first.  Each round takes what the classes have that lose one
 * certain amount: there are about as many as patterns.
 */
static KanonStatus
take_surplus(Fill *f, double *cost)
{
	int64_t need = f->need;
	double done = -INFINITY;

	*cost = 0;
	while (need > 0)
	{
		double next = INFINITY;

		for (uint32_t i = 0; i < f->release->nclasses; i++)
		{
			double loss = loss_of(f, i);

			if (kanon_stop(&f->pace, 8))
				return KANON_CANCELLED;
			if (gives(f, i) && f->release->classes[i].rows > f->problem->k && loss > done)
				next = fmin(next, loss);
		}
		if (next == INFINITY)
			break;
		for (uint32_t i = 0; i < f->release->nclasses && need > 0; i++)
		{
			int64_t more = f->release->classes[i].rows - f->problem->k;

			if (!gives(f, i) || more <= 0 || loss_of(f, i) != next)
				continue;
			f->take[i] = more < need ? more : need;
			need -= f->take[i];
			*cost += next * (double) f->take[i];
		}
		done = next;
	}
	if (need > 0)
		*cost = INFINITY;
	return KANON_OK;
}

/* The same, or all rows of a class where that costs less. */
static KanonStatus
take_rows(Fill *f, bool whole, double *cost)
{
	uint32_t chosen = f->blank;
	KanonStatus status = KANON_OK;

	*cost = INFINITY;
	if (!whole)
		status = take_surplus(f, cost);

	for (uint32_t i = 0; i < f->release->nclasses && status == KANON_OK; i++)
	{
		double loss = gives(f, i) ? loss_of(f, i) * (double) f->release->classes[i].rows : INFINITY;

		if (loss < *cost)
		{
			*cost = loss;
			chosen = i;
		}
	}
	if (chosen == f->blank)
		return status;
	memset(f->take, 0, f->release->nclasses * sizeof(int64_t));
	f->take[chosen] = f->release->classes[chosen].rows;
	return status;
}

/* The first rows of each class in the order of the flows: of row types that are not divided, but for one a class. */
static KanonStatus
fill(Fill *f)
{
	KanonRelease *release = f->release;
	size_t room = release->nflows;
	size_t n = release->nflows;

	for (size_t j = 0; j < n; j++)
	{
		KanonFlow *flow = &release->flows[j];
		int64_t *take = flow->class_ != KANON_DROPPED ? &f->take[flow->class_] : NULL;

		if (kanon_stop(&f->pace, 2))
			return KANON_CANCELLED;
		if (take == NULL || *take == 0)
			continue;
		if (*take < flow->rows)
		{
			KanonFlow rest = {flow->type, flow->class_, flow->rows - *take};

			flow->rows = *take;
			*take = 0;
			flow->class_ = f->blank;
			if (!kanon_enlarge(f->problem->env, &release->flows, &room, release->nflows + 1,
							   sizeof(KanonFlow)))
				return KANON_NO_MEMORY;
			release->flows[release->nflows++] = rest;
			continue;
		}
		*take -= flow->rows;
		flow->class_ = f->blank;
	}
	return KANON_OK;
}

/* ---- merge ---- */

static KanonStatus
list_rest(Fill *f)
{
	f->type = kanon_take(&f->scratch, (size_t) f->rest, sizeof(uint32_t));
	f->rows = kanon_take(&f->scratch, (size_t) f->rest, sizeof(int64_t));
	f->joining = kanon_take(&f->scratch, (size_t) f->rest, sizeof(Joining));
	if (f->scratch.failed)
		return KANON_NO_MEMORY;
	for (size_t j = 0; j < f->release->nflows; j++)
		if (f->release->flows[j].class_ == f->blank && f->release->flows[j].rows > 0)
		{
			f->type[f->ntypes] = f->release->flows[j].type;
			f->rows[f->ntypes++] = f->release->flows[j].rows;
		}
	return KANON_OK;
}

/* The class that loses least by the n-th row type, given where those before it go; *cost: by how much. */
static KanonStatus
find_class(Fill *f, uint32_t n, double *cost)
{
	const KanonProblem *problem = f->problem;
	const KanonRelease *release = f->release;

	*cost = INFINITY;
	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		const KanonCell *cell = release->cells + i * f->width;
		KanonPattern pattern = release->classes[i].pattern;
		int64_t rows = release->classes[i].rows;
		double before = kanon_pattern_cost(problem, pattern);
		double after = before;
		double most;
		double more;

		if (kanon_stop(&f->pace, 2 * f->width))
			return KANON_CANCELLED;
		if (!gives(f, i))
			continue;
		for (uint32_t m = 0; m < n; m++)
			if (f->joining[m].class_ == i)
			{
				pattern = f->joining[m].pattern;
				before = after = f->joining[m].cost;
				rows += f->rows[m];
			}
		most = (*cost + before * (double) rows) / (double) (rows + f->rows[n]);
		for (size_t c = 0; c < f->width && after < most; c++)
			if (!kanon_has(pattern, (int) c) && problem->columns[c].code[f->type[n]] != cell[c].code)
			{
				kanon_add(&pattern, (int) c);
				after += problem->columns[c].weight;
			}
		if (after >= most)
			continue;
		pattern = kanon_cover(&f->cover, pattern, &after);
		more = after * (double) (rows + f->rows[n]) - before * (double) rows;
		if (more < *cost && !kanon_same(pattern, f->cover.index->all))
		{
			*cost = more;
			f->joining[n] = (Joining){i, pattern, after};
		}
	}
	return KANON_OK;
}

/* *cost: of all rows of the rest. */
static KanonStatus
find_classes(Fill *f, double least, double *cost)
{
	KanonStatus status = list_rest(f);

	*cost = INFINITY;
	if (status != KANON_OK || (double) f->release->nclasses * (double) f->width * (double) f->ntypes > LOOKS)
		return status;
	status = kanon_cover_open(&f->cover, f->problem);
	*cost = 0;
	for (uint32_t n = 0; n < f->ntypes && status == KANON_OK && *cost < least; n++)
	{
		double more;

		status = find_class(f, n, &more);
		*cost += more;
	}
	return status;
}

static void
merge_rest(Fill *f)
{
	KanonRelease *release = f->release;
	uint32_t n = 0;

	for (size_t j = 0; j < release->nflows; j++)
		if (release->flows[j].class_ == f->blank && release->flows[j].rows > 0)
			release->flows[j].class_ = f->joining[n++].class_;
	for (n = 0; n < f->ntypes; n++)
	{
		KanonClass *class = &release->classes[f->joining[n].class_];

		class->pattern = f->joining[n].pattern;
		KANON_EACH (c, class->pattern)
			release->cells[f->joining[n].class_ * f->width + (size_t) c] = (KanonCell){KANON_SHOW_NOTHING, 0};
	}
}

/* ---- all of it ---- */

static KanonStatus
fill_or_merge(Fill *f, bool whole)
{
	double filled;
	double merged = INFINITY;
	KanonStatus status;

	f->take = kanon_take0(&f->scratch, f->release->nclasses, sizeof(int64_t));
	if (f->take == NULL)
		return KANON_NO_MEMORY;
	f->all = kanon_pattern_cost(f->problem, kanon_pattern_all(f->problem->ncolumns));
	status = take_rows(f, whole, &filled);
	filled += f->all * (double) f->rest;
	if (status == KANON_OK && !whole)
		status = find_classes(f, filled, &merged);
	if (status != KANON_OK)
		return status;
	if (merged < filled)
		merge_rest(f);
	else if (filled < INFINITY)
		return fill(f);
	else
		return KANON_RESIDUAL;
	return KANON_OK;
}

/* Are they filled up when the release is finished, rather than where the rest of it is made? */
static bool
kanon_fills(const KanonProblem *problem)
{
	return problem->residual == KANON_RESIDUAL_FILL && !kanon_by_types(problem) && problem->freeform == NULL;
}

KanonStatus
kanon_fill(const KanonProblem *problem, bool whole, KanonRelease *release, KanonReport *report, bool *filled)
{
	Fill f = {.problem = problem,
			  .release = release,
			  .scratch = {.env = problem->env},
			  .pace = kanon_pace(problem->env, "fill"),
			  .width = (size_t) problem->ncolumns};
	KanonStatus status;

	*filled = false;
	if (!kanon_fills(problem) || !find_blank(&f))
		return KANON_OK;
	status = count_rows(&f);
	if (status == KANON_OK && f.rest > 0 && f.need > 0)
	{
		status = fill_or_merge(&f, whole);
		*filled = status == KANON_OK;
	}
	if (status == KANON_RESIDUAL)
		snprintf(report->detail, sizeof(report->detail), "the table has %lld rows", (long long) f.rest);
	kanon_cover_close(&f.cover);
	kanon_scratch_free(&f.scratch);
	return status;
}
