/*
 * plain.c: the greedy heuristic as a plain loop over the patterns.
 *
 * Bredereck, Nichterlein, Niedermeier, "Pattern-Guided k-Anonymity", Algorithms
 * 6(4), 2013, Algorithm 1.  For each pattern, the remaining row types are
 * grouped by the columns that it keeps with a hash table; the groups with at
 * least k rows are taken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diverse.h"
#include "plain.h"

#define NOBODY UINT32_MAX

typedef struct Plain
{
	const KanonProblem *problem;
	uint64_t *hash; /* [ncolumns * ntypes], type by type */
	uint32_t *left; /* row types not taken yet */
	uint32_t nleft;
	uint32_t *slot;   /* of each of them in the table */
	uint32_t *table;  /* a group number or NOBODY */
	uint32_t mask;    /* table size - 1 */
	uint32_t *first;  /* a row type of each group */
	int64_t *sum;     /* rows of each group */
	uint32_t *class_; /* of each group, NOBODY if it may not be one */
	uint32_t *member; /* row types of a group */
	uint32_t *taken;  /* class of each row type */
	KanonRelease *release;
	uint32_t capacity;
} Plain;

static uint64_t
mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static bool
same(const Plain *plain, const int *kept, int nkept, uint32_t a, uint32_t b)
{
	for (int i = 0; i < nkept; i++)
	{
		const uint32_t *code = plain->problem->columns[kept[i]].code;

		if (code[a] != code[b])
			return false;
	}
	return true;
}

static void
add_class(Plain *plain, KanonPattern pattern, uint32_t type)
{
	KanonRelease *release = plain->release;
	int ncolumns = plain->problem->ncolumns;

	if (release->nclasses == plain->capacity)
	{
		plain->capacity = plain->capacity * 2 + 16;
		release->classes = realloc(release->classes, plain->capacity * sizeof(KanonClass));
		release->cells = realloc(release->cells, plain->capacity * (size_t) ncolumns * sizeof(KanonCell));
	}
	release->classes[release->nclasses] = (KanonClass){pattern, 0};
	for (int c = 0; c < ncolumns; c++)
	{
		KanonCell *cell = &release->cells[release->nclasses * (size_t) ncolumns + (size_t) c];

		cell->show = KANON_SHOW_NOTHING;
		cell->code = 0;
		if (!kanon_has(pattern, c))
		{
			cell->show = KANON_SHOW_VALUE;
			cell->code = plain->problem->columns[c].code[type];
		}
	}
	release->nclasses++;
}

/* May the group be a class, by k or as what is left over, and by the other rules? */
static bool
allowed(Plain *plain, uint32_t group, bool last)
{
	const KanonProblem *problem = plain->problem;
	bool rest = last && problem->residual == KANON_RESIDUAL_SUPPRESS;
	uint32_t n = 0;

	if (plain->sum[group] < problem->k && !rest)
		return false;
	if (problem->privacy == NULL)
		return true;
	for (uint32_t i = 0; i < plain->nleft; i++)
		if (plain->slot[i] == group)
			plain->member[n++] = plain->left[i];
	return diverse_allows(problem, plain->member, NULL, n, rest);
}

/* One pattern: group what is left, take the groups that may be classes. */
static void
try_pattern(Plain *plain, KanonPattern pattern, bool last)
{
	const KanonProblem *problem = plain->problem;
	int kept[KANON_MAX_COLUMNS];
	int nkept = 0;
	uint32_t ngroups = 0;
	uint32_t nleft = 0;

	for (int c = 0; c < problem->ncolumns; c++)
		if (!kanon_has(pattern, c))
			kept[nkept++] = c;
	while (plain->mask > 255 && plain->mask / 4 > plain->nleft)
		plain->mask /= 2;
	memset(plain->table, 0xff, (plain->mask + (size_t) 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < plain->nleft; i++)
	{
		uint32_t type = plain->left[i];
		const uint64_t *hash = plain->hash + type * (size_t) problem->ncolumns;
		uint64_t sum = 0;
		uint32_t at;

		for (int j = 0; j < nkept; j++)
			sum += hash[kept[j]];
		for (at = (uint32_t) (sum >> 32) & plain->mask;; at = (at + 1) & plain->mask)
		{
			uint32_t group = plain->table[at];

			if (group == NOBODY)
			{
				plain->table[at] = ngroups;
				plain->first[ngroups] = type;
				plain->sum[ngroups] = 0;
				plain->slot[i] = ngroups++;
				break;
			}
			if (same(plain, kept, nkept, type, plain->first[group]))
			{
				plain->slot[i] = group;
				break;
			}
		}
		plain->sum[plain->slot[i]] += problem->rows[type];
	}
	for (uint32_t g = 0; g < ngroups; g++)
	{
		plain->class_[g] = NOBODY;
		if (allowed(plain, g, last))
		{
			plain->class_[g] = plain->release->nclasses;
			add_class(plain, pattern, plain->first[g]);
		}
	}
	for (uint32_t i = 0; i < plain->nleft; i++)
	{
		uint32_t type = plain->left[i];

		plain->taken[type] = plain->class_[plain->slot[i]];
		if (plain->taken[type] == NOBODY)
			plain->left[nleft++] = type;
	}
	plain->nleft = nleft;
}

KanonStatus
plain_greedy(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	size_t n = problem->ntypes + (size_t) 1;
	KanonRelease own = {0};
	Plain plain = {.problem = problem, .release = &own};
	KanonPattern *patterns;
	size_t npatterns;
	KanonStatus status = kanon_mask_enumerate(problem, SIZE_MAX, &patterns, &npatterns);

	memset(release, 0, sizeof(*release));
	if (status != KANON_OK)
		return status;
	for (plain.mask = 255; plain.mask / 2 < n; plain.mask = plain.mask * 2 + 1)
		;
	plain.hash = malloc(n * (size_t) problem->ncolumns * sizeof(uint64_t));
	plain.left = malloc(n * sizeof(uint32_t));
	plain.slot = malloc(n * sizeof(uint32_t));
	plain.table = malloc((plain.mask + (size_t) 1) * sizeof(uint32_t));
	plain.first = malloc(n * sizeof(uint32_t));
	plain.sum = malloc(n * sizeof(int64_t));
	plain.class_ = malloc(n * sizeof(uint32_t));
	plain.member = malloc(n * sizeof(uint32_t));
	plain.taken = malloc(n * sizeof(uint32_t));
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		for (int c = 0; c < problem->ncolumns; c++)
			plain.hash[i * (size_t) problem->ncolumns + (size_t) c] =
				mix(mix(problem->columns[c].code[i] + UINT64_C(1)) + (uint64_t) c);
		plain.left[plain.nleft++] = i;
	}
	for (size_t p = 0; p < npatterns && plain.nleft > 0; p++)
		try_pattern(&plain, patterns[p], p + 1 == npatterns);

	/* into the release, in the problem's memory */
	release->nclasses = own.nclasses;
	release->nflows = problem->ntypes;
	release->classes = kanon_alloc(problem->env, own.nclasses, sizeof(KanonClass));
	release->cells = kanon_alloc(problem->env, own.nclasses * (size_t) problem->ncolumns, sizeof(KanonCell));
	release->flows = kanon_alloc(problem->env, problem->ntypes, sizeof(KanonFlow));
	if (own.nclasses > 0)
	{
		memcpy(release->classes, own.classes, own.nclasses * sizeof(KanonClass));
		memcpy(release->cells, own.cells, own.nclasses * (size_t) problem->ncolumns * sizeof(KanonCell));
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		release->flows[i] = (KanonFlow){i, plain.taken[i], problem->rows[i]};
	if (plain.nleft > 0 && problem->residual != KANON_RESIDUAL_DROP)
	{
		snprintf(report->detail, sizeof(report->detail), "rows are left over");
		status = problem->residual == KANON_RESIDUAL_ERROR ? KANON_RESIDUAL : KANON_REST_FORBIDDEN;
	}
	else
		status = kanon_release_finish(problem, release, report);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	kanon_free(problem->env, patterns);
	free(plain.hash);
	free(plain.left);
	free(plain.slot);
	free(plain.table);
	free(plain.first);
	free(plain.sum);
	free(plain.class_);
	free(plain.member);
	free(plain.taken);
	free(own.classes);
	free(own.cells);
	return status;
}
