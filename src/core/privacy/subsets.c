/*
 * subsets.c: which columns tell the rows of a table apart: every subset of up to
 * three of them.
 *
 * R. Motwani, Y. Xu, "Efficient algorithms for masking and finding
 * quasi-identifiers", 2007: a set of columns has distinction (their "distinct
 * ratio") a when a share a of the rows would be left after removing duplicates,
 * and separation b when a share b of the pairs of rows differ in at least one of
 * them.
 *
 * Row types get the number of their combination of the first two columns once;
 * with each third column that makes one number to group by.
 */
#include <string.h>

#include "privacy/subsets.h"
#include "util/pace.h"
#include "util/sort.h"
#include "util/hash.h"
#include "util/scratch.h"

/*
 * Slots per row type, at least.  Keys below the number of slots are their own
 * place; others are hashed, and then no more than a fourth of the slots is taken.
 */
#define SLOTS 4

#define NOBODY UINT32_MAX

typedef struct Finder
{
	const KanonProblem *problem;
	KanonPace pace;
	double rows;
	uint32_t *first;  /* [ntypes] numbers of the combinations of one column */
	uint32_t *second; /* [ntypes] of two */
	uint32_t *third;  /* [ntypes] of three */
	int64_t *count;   /* [ntypes] rows of each combination */
	uint64_t *key;    /* [ntypes] what a combination is made of, when hashed */
	uint32_t *slot;   /* [nslots] combination or NOBODY */
	size_t nslots;    /* a power of 2 */
	KanonSubset *subsets;
	size_t nsubsets;
} Finder;

/* The combination with that key; a new one is number `count`. */
static uint32_t
look_up(Finder *finder, uint64_t key, uint32_t count, bool plain)
{
	size_t at = (size_t) key;

	if (!plain)
	{
		at = kanon_mix(key) & (finder->nslots - 1);
		while (finder->slot[at] != NOBODY && finder->key[finder->slot[at]] != key)
			at = (at + 1) & (finder->nslots - 1);
	}
	if (finder->slot[at] == NOBODY)
	{
		finder->slot[at] = count;
		finder->key[count] = key;
	}
	return finder->slot[at];
}

/*
 * Numbers the combinations of (what `base` numbers, nbase of it) and column c;
 * base == NULL: of column c alone.  Returns how many there are; their rows are in
 * finder->count.
 */
static uint32_t
combine(Finder *finder, const uint32_t *base, uint32_t nbase, int c, uint32_t *number)
{
	const KanonProblem *problem = finder->problem;
	const KanonColumn *column = &problem->columns[c];
	uint64_t slots = (uint64_t) nbase * column->distinct;
	bool plain = slots <= finder->nslots;
	uint32_t count = 0;

	memset(finder->slot, 0xff, (plain ? (size_t) slots : finder->nslots) * sizeof(uint32_t));
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		uint64_t key = (uint64_t) (base != NULL ? base[i] : 0) * column->distinct + column->code[i];
		uint32_t found = look_up(finder, key, count, plain);

		if (found == count)
			finder->count[count++] = 0;
		finder->count[found] += problem->rows[i];
		number[i] = found;
	}
	return count;
}

static void
add_subset(Finder *finder, uint32_t count, int ncolumns, int a, int b, int c)
{
	KanonSubset *subset = &finder->subsets[finder->nsubsets++];
	double together = 0; /* pairs of rows that agree */
	double pairs = finder->rows * (finder->rows - 1) / 2;

	*subset = (KanonSubset){.ncolumns = ncolumns, .column = {a, b, c}, .classes = count};
	for (uint32_t i = 0; i < count; i++)
	{
		double rows = (double) finder->count[i];

		together += rows * (rows - 1) / 2;
		subset->unique += finder->count[i] == 1;
	}
	subset->distinction = count / finder->rows;
	subset->separation = pairs > 0 ? 1 - together / pairs : 0;
}

static bool
stop(Finder *finder, size_t all)
{
	finder->pace.share = (double) finder->nsubsets / (double) all;
	return kanon_stop(&finder->pace, (uint64_t) finder->problem->ntypes * 4 + 1);
}

static KanonStatus
try_all(Finder *finder, size_t all)
{
	int n = finder->problem->ncolumns;

	for (int a = 0; a < n; a++)
	{
		uint32_t alone = combine(finder, NULL, 1, a, finder->first);

		add_subset(finder, alone, 1, a, 0, 0);
		for (int b = a + 1; b < n; b++)
		{
			uint32_t pairs = combine(finder, finder->first, alone, b, finder->second);

			add_subset(finder, pairs, 2, a, b, 0);
			for (int c = b + 1; c < n; c++)
			{
				if (stop(finder, all))
					return KANON_CANCELLED;
				add_subset(finder, combine(finder, finder->second, pairs, c, finder->third), 3, a, b, c);
			}
		}
		if (stop(finder, all))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* Where a subset of one or two columns is in the order in which try_all adds them. */
static const KanonSubset *
part(const Finder *finder, const size_t *place, int a, int b)
{
	return &finder->subsets[place[a * finder->problem->ncolumns + b]];
}

/*
 * Adding a column can only divide classes.  So a set is worth telling when each of
 * its columns divides some, and when none of its parts identifies by itself; and it
 * is enough to ask the parts with one column less.
 */
static bool
adds_to(const Finder *finder, const KanonSubset *subset, const KanonSubset *smaller)
{
	return subset->classes > smaller->classes && (double) smaller->unique < KANON_IDENTIFYING * finder->rows;
}

static KanonStatus
mark_minimal(Finder *finder)
{
	KanonEnv *env = finder->problem->env;
	size_t d = (size_t) finder->problem->ncolumns;
	size_t *place = kanon_alloc(env, d * d, sizeof(size_t)); /* [a * d + b]: of {a, b}, or of {a} */

	if (place == NULL)
		return KANON_NO_MEMORY;
	for (size_t s = 0; s < finder->nsubsets; s++)
	{
		const KanonSubset *subset = &finder->subsets[s];
		const int *c = subset->column;

		if (subset->ncolumns < 3)
			place[(size_t) c[0] * d + (size_t) c[subset->ncolumns - 1]] = s;
	}
	for (size_t s = 0; s < finder->nsubsets; s++)
	{
		KanonSubset *subset = &finder->subsets[s];
		const int *c = subset->column;

		subset->minimal = true;
		if (subset->ncolumns == 2)
			subset->minimal = adds_to(finder, subset, part(finder, place, c[0], c[0])) &&
							  adds_to(finder, subset, part(finder, place, c[1], c[1]));
		if (subset->ncolumns == 3)
			subset->minimal = adds_to(finder, subset, part(finder, place, c[0], c[1])) &&
							  adds_to(finder, subset, part(finder, place, c[0], c[2])) &&
							  adds_to(finder, subset, part(finder, place, c[1], c[2]));
	}
	kanon_free(env, place);
	return KANON_OK;
}

/* Most identifying first. */
static int
compare_subsets(const void *left, const void *right, void *arg)
{
	const KanonSubset *a = left;
	const KanonSubset *b = right;

	(void) arg;
	if (a->classes != b->classes)
		return a->classes > b->classes ? -1 : 1;
	if (a->separation != b->separation)
		return a->separation > b->separation ? -1 : 1;
	if (a->ncolumns != b->ncolumns)
		return a->ncolumns - b->ncolumns;
	for (int i = 0; i < a->ncolumns; i++)
		if (a->column[i] != b->column[i])
			return a->column[i] - b->column[i];
	return 0;
}

KanonStatus
kanon_rank_subsets(const KanonProblem *problem, KanonSubset **subsets, size_t *n)
{
	KanonEnv *env = problem->env;
	size_t d = (size_t) problem->ncolumns;
	size_t all = d + d * (d - 1) / 2 + d * (d - 1) * (d > 2 ? d - 2 : 0) / 6;
	size_t types = problem->ntypes;
	Finder finder = {
		.problem = problem, .pace = {.env = env, .phase = "columns", .rows_left = -1}, .nslots = 1024};
	KanonScratch scratch = {.env = env};
	KanonSubset *spare;
	KanonStatus status;

	for (uint32_t i = 0; i < problem->ntypes; i++)
		finder.rows += (double) problem->rows[i];
	while (finder.nslots < types * SLOTS)
		finder.nslots *= 2;
	finder.first = kanon_take(&scratch, types, sizeof(uint32_t));
	finder.second = kanon_take(&scratch, types, sizeof(uint32_t));
	finder.third = kanon_take(&scratch, types, sizeof(uint32_t));
	finder.count = kanon_take(&scratch, types, sizeof(int64_t));
	finder.key = kanon_take(&scratch, types, sizeof(uint64_t));
	finder.slot = kanon_take(&scratch, finder.nslots, sizeof(uint32_t));
	*subsets = finder.subsets = kanon_take(&scratch, all, sizeof(KanonSubset));
	spare = kanon_take(&scratch, all, sizeof(KanonSubset));
	status = kanon_taken(&scratch);
	if (status == KANON_OK && types > 0)
		status = try_all(&finder, all);
	if (status == KANON_OK)
		status = mark_minimal(&finder);
	if (status == KANON_OK)
		kanon_sort(finder.subsets, spare, finder.nsubsets, sizeof(KanonSubset), compare_subsets, NULL);
	if (status == KANON_OK)
		kanon_keep(&scratch, finder.subsets);
	else
		*subsets = NULL;
	*n = status == KANON_OK ? finder.nsubsets : 0;
	kanon_scratch_free(&scratch);
	return status;
}
