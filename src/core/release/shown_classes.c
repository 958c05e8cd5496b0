/*
 * shown_classes.c: finds classes by their cells.  It answers two questions: which class takes a row type, and in
 * which class of the next release are the rows of a class before?  (The latter if row types are divided only where
 * rows were suppressed.)
 */
#include "release/release.h"
#include "util/sort.h"

static double
cost_of(const ShownClasses *shown, uint32_t class_)
{
	return kanon_pattern_cost(shown->problem, shown->pattern[class_]);
}

/* Compares the cells of two row types under a pattern, the first column that differs deciding. */
static int
compare_shown(const KanonProblem *problem, KanonPattern pattern, uint32_t a, uint32_t b)
{
	for (int c = 0; c < problem->ncolumns; c++)
	{
		uint32_t left = problem->columns[c].code[a];
		uint32_t right = problem->columns[c].code[b];

		if (!kanon_has(pattern, c) && left != right)
			return left < right ? -1 : 1;
	}
	return 0;
}

/* The patterns of two classes. */
static int
compare_patterns(const ShownClasses *shown, uint32_t a, uint32_t b)
{
	double left = cost_of(shown, a);
	double right = cost_of(shown, b);

	if (left != right)
		return left < right ? -1 : 1;
	return kanon_order(shown->pattern[a], shown->pattern[b]);
}

static int
compare_classes(const void *a, const void *b, void *arg)
{
	const ShownClasses *shown = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;
	int order = compare_patterns(shown, left, right);

	return order != 0 ? order
					  : compare_shown(shown->problem, shown->pattern[left], shown->sample[left],
									  shown->sample[right]);
}

KanonStatus
shown_order(ShownClasses *shown, KanonScratch *scratch)
{
	uint32_t *spare = kanon_take(scratch, shown->n, sizeof(uint32_t));

	if (spare == NULL)
		return KANON_NO_MEMORY;
	kanon_sort(shown->class_, spare, shown->n, sizeof(uint32_t), compare_classes, shown);
	kanon_drop(scratch, spare);
	return KANON_OK;
}

/* One binary search for each pattern. */
uint32_t
shown_find(const ShownClasses *shown, uint32_t type, double limit, uint64_t *work)
{
	uint32_t first = 0;

	while (first < shown->n)
	{
		uint32_t class_ = shown->class_[first];
		uint32_t low = first, high = shown->n;

		if (cost_of(shown, class_) >= limit)
			return SHOWN_NONE;
		/* the end of this pattern's classes, then the type among them */
		while (low < high)
		{
			uint32_t middle = low + (high - low) / 2;

			if (compare_patterns(shown, shown->class_[middle], class_) > 0)
				high = middle;
			else
				low = middle + 1;
		}
		for (uint32_t end = low, begin = first; begin < end;)
		{
			uint32_t middle = begin + (end - begin) / 2;
			uint32_t other = shown->class_[middle];
			int order = compare_shown(shown->problem, shown->pattern[class_], shown->sample[other], type);

			if (order == 0)
				return other;
			if (order < 0)
				begin = middle + 1;
			else
				end = middle;
		}
		*work += (uint64_t) shown->problem->ncolumns * 8;
		first = low;
	}
	return SHOWN_NONE;
}

/* ---- which class the rows of each class before are in ---- */

void
kanon_follow(const KanonProblem *problem, const KanonPrevious *previous, const KanonRelease *release)
{
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	size_t at = 0;

	if (previous->became == NULL)
		return;
	for (uint32_t c = 0; c < previous->nclasses; c++)
		previous->became[c] = KANON_DROPPED;
	for (size_t f = 0; f < previous->nflows; f++)
	{
		const KanonFlow *flow = &previous->flows[f];
		bool hidden = kanon_same(previous->pattern[flow->class_], all);

		/* of rows that are gone the others of their type tell nothing */
		if (flow->rows == 0)
			continue;
		while (at < release->nflows && release->flows[at].type < flow->type)
			at++;
		for (size_t i = at; i < release->nflows && release->flows[i].type == flow->type; i++)
		{
			uint32_t to = release->flows[i].class_;
			bool alone = i == at && (i + 1 == release->nflows || release->flows[i + 1].type != flow->type);

			if (alone || hidden == (to == KANON_DROPPED || kanon_class_blank(problem, release, to)))
				previous->became[flow->class_] = to;
		}
	}
}
