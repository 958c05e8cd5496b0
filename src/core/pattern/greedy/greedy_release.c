/*
 * greedy_release.c: a release of the classes that were taken: in order, with cells and flows.
 */
#include <string.h>

#include "pattern/greedy/greedy.h"
#include "util/sort.h"

/* From so many classes of a pattern on, they are sorted by radix. */
#ifndef RADIX_CLASSES
#define RADIX_CLASSES 256
#endif
#define RADIX_BITS 11

/* The state of the sort of classes. */
typedef struct Sorting
{
	const Greedy *greedy;
	KanonPattern kept;
} Sorting;

static int
compare_classes(const void *a, const void *b, void *arg)
{
	const Sorting *sorting = arg;
	uint32_t left = sorting->greedy->member[*(const uint32_t *) a];
	uint32_t right = sorting->greedy->member[*(const uint32_t *) b];

	KANON_EACH (c, sorting->kept)
	{
		const uint32_t *code = sorting->greedy->problem->columns[c].code;

		if (code[left] != code[right])
			return code[left] < code[right] ? -1 : 1;
	}
	return 0;
}

/* Sorts classes of one pattern by their cells, last column first. */
static KanonStatus
radix_sort(Greedy *greedy, KanonPattern kept, uint32_t *order, uint32_t *scratch, uint32_t n)
{
	const KanonProblem *problem = greedy->problem;
	uint32_t *from = order;
	uint32_t *into = scratch;
	uint32_t start[(1 << RADIX_BITS) + 1];
	uint32_t digit_mask = (1 << RADIX_BITS) - 1;

	for (int c = problem->ncolumns - 1; c >= 0; c--)
	{
		const KanonColumn *column = &problem->columns[c];

		if (!kanon_has(kept, c))
			continue;
		for (int shift = 0; shift < 32 && (column->distinct - 1) >> shift != 0; shift += RADIX_BITS)
		{
			uint32_t *swap = from;

			memset(start, 0, sizeof(start));
			for (uint32_t i = 0; i < n; i++)
			{
				if (kanon_stop(&greedy->pace, 8))
					return KANON_CANCELLED;
				start[(column->code[greedy->member[from[i]]] >> shift & digit_mask) + 1]++;
			}
			for (uint32_t d = 0; d < digit_mask; d++)
				start[d + 1] += start[d];
			for (uint32_t i = 0; i < n; i++)
				into[start[column->code[greedy->member[from[i]]] >> shift & digit_mask]++] = from[i];
			from = into;
			into = swap;
		}
	}
	if (from != order)
		memcpy(order, from, n * sizeof(uint32_t));
	return KANON_OK;
}

/*
 * The release's order: patterns are in order already, the classes of each are put in
 * order of their cells.
 */
static KanonStatus
sort_classes(Greedy *greedy, uint32_t *order, uint32_t *scratch)
{
	const KanonRelease *release = greedy->release;
	uint32_t from = 0;

	for (uint32_t i = 0; i < release->nclasses; i++)
		order[i] = i;
	while (from < release->nclasses)
	{
		KanonPattern pattern = release->classes[from].pattern;
		Sorting sorting = {greedy, kanon_minus(greedy->index->all, pattern)};
		uint32_t to = from;

		while (to < release->nclasses && kanon_same(release->classes[to].pattern, pattern))
			to++;
		if (to - from < RADIX_CLASSES)
		{
			if (kanon_stop(&greedy->pace, (to - from) * (uint64_t) greedy->problem->ncolumns))
				return KANON_CANCELLED;
			kanon_sort(order + from, scratch, to - from, sizeof(uint32_t), compare_classes, &sorting);
		}
		else if (radix_sort(greedy, sorting.kept, order + from, scratch, to - from) != KANON_OK)
			return KANON_CANCELLED;
		from = to;
	}
	for (uint32_t i = 0; i < release->nclasses; i++)
		scratch[order[i]] = i;
	for (uint32_t type = 0; type < greedy->problem->ntypes; type++)
	{
		if (kanon_stop(&greedy->pace, 2))
			return KANON_CANCELLED;
		if (greedy->class_[type] != KANON_DROPPED)
			greedy->class_[type] = scratch[greedy->class_[type]];
	}
	return KANON_OK;
}

/* Writes the classes' cells; a class's rows are counted by kanon_release_finish. */
static KanonStatus
fill_cells(Greedy *greedy, const uint32_t *order)
{
	const KanonProblem *problem = greedy->problem;
	KanonRelease *release = greedy->release;
	KanonCell *cell;

	release->cells =
		kanon_alloc(greedy->env, release->nclasses, (size_t) problem->ncolumns * sizeof(KanonCell));
	if (release->cells == NULL)
		return KANON_NO_MEMORY;
	cell = release->cells;
	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		uint32_t type = greedy->member[order[i]];

		if (kanon_stop(&greedy->pace, (uint64_t) problem->ncolumns))
			return KANON_CANCELLED;
		for (int c = 0; c < problem->ncolumns; c++, cell++)
		{
			bool shown = !kanon_has(release->classes[i].pattern, c);

			cell->show = shown ? KANON_SHOW_VALUE : KANON_SHOW_NOTHING;
			cell->code = shown ? problem->columns[c].code[type] & 0x1fffffff : 0;
		}
	}
	return KANON_OK;
}

/*
 * One flow per row type, made in the place of the class numbers, from the last
 * on: at ten million row types that saves their four bytes each at the peak.
 */
static KanonStatus
fill_flows(Greedy *greedy)
{
	const KanonProblem *problem = greedy->problem;
	KanonFlow *flows = kanon_realloc(greedy->env, greedy->class_, problem->ntypes, sizeof(KanonFlow));

	if (flows == NULL)
		return KANON_NO_MEMORY;
	greedy->class_ = NULL;
	greedy->release->flows = flows;
	greedy->release->nflows = problem->ntypes;
	for (uint32_t type = problem->ntypes; type-- > 0;)
	{
		uint32_t class;

		if (kanon_stop(&greedy->pace, 2))
			return KANON_CANCELLED;
		memcpy(&class, (char *) flows + type * sizeof(class), sizeof(class));
		flows[type] = (KanonFlow){type, class, problem->rows[type]};
	}
	return KANON_OK;
}

KanonStatus
greedy_make_release(Greedy *greedy)
{
	KanonRelease *release = greedy->release;
	uint32_t *order = kanon_alloc(greedy->env, release->nclasses, sizeof(uint32_t));
	uint32_t *scratch = kanon_alloc(greedy->env, release->nclasses, sizeof(uint32_t));
	KanonStatus status = KANON_NO_MEMORY;

	if (order != NULL && scratch != NULL)
		status = sort_classes(greedy, order, scratch);
	kanon_free(greedy->env, scratch);
	if (status == KANON_OK && release->nclasses > 0)
	{
		/* what was taken for classes to come goes back */
		KanonClass *classes =
			kanon_realloc(greedy->env, release->classes, release->nclasses, sizeof(KanonClass));

		if (classes != NULL)
			release->classes = classes;
		else
			status = KANON_NO_MEMORY;
	}
	if (status == KANON_OK)
		status = fill_cells(greedy, order);
	kanon_free(greedy->env, order);
	kanon_free(greedy->env, greedy->member);
	greedy->member = NULL;
	if (status == KANON_OK)
		status = fill_flows(greedy);
	return status;
}
