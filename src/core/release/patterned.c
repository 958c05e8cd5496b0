/*
 * patterned.c: mended releases whose classes show what a pattern of the mask says: the
 * cheapest that suppresses every column in which their rows differ.
 */
#include <math.h>
#include <string.h>

#include "model/mask.h"
#include "release/repair.h"
#include "util/hash.h"
#include "util/pace.h"

/* Covers that are remembered: a power of two. */
#define REMEMBERED 4096

typedef struct Patterned
{
	const KanonProblem *problem;
	KanonMaskIndex *index;
	KanonScratch scratch;
	KanonPattern *patterns; /* of a list, cheapest first */
	size_t npatterns;
	int64_t *left;       /* [npatterns] how often each may still be used; NULL: there is no limit */
	uint32_t *chosen;    /* [clusters] a pattern's number; with limits */
	KanonPattern *key;   /* [REMEMBERED] columns that differ, */
	KanonPattern *cover; /* and the pattern for them; of no column: none yet (which is its own) */
} Patterned;

static KanonPattern
cover_by_list(const Patterned *p, KanonPattern differ)
{
	for (size_t i = 0; i < p->npatterns; i++)
		if (kanon_within(differ, p->patterns[i]))
			return p->patterns[i];
	return p->index->all;
}

static KanonPattern
cover(const Patterned *p, KanonPattern differ)
{
	size_t at = kanon_pattern_hash(differ) & (REMEMBERED - 1);

	if (kanon_is_none(p->cover[at]) || !kanon_same(p->key[at], differ))
	{
		p->key[at] = differ;
		p->cover[at] =
			p->problem->mask.list != NULL ? cover_by_list(p, differ) : kanon_mask_cover(p->index, differ);
	}
	return p->cover[at];
}

/* The same where patterns are used up; those of clusters a and b are free. */
static uint32_t
cover_once(const Patterned *p, KanonPattern differ, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < p->npatterns; i++)
		if (kanon_within(differ, p->patterns[i]) &&
			(p->left[i] > 0 || p->chosen[a] == i || (b != KANON_NO_CLUSTER && p->chosen[b] == i)))
			return i;
	return UINT32_MAX;
}

static double
charge(const KanonShape *shape, const KanonHull *hull, uint32_t a, uint32_t b, KanonPattern *pattern)
{
	const Patterned *p = shape->arg;
	KanonPattern differ = KANON_NONE;

	for (int c = 0; c < p->problem->ncolumns; c++)
		if (hull[c].low != hull[c].high)
			kanon_add(&differ, c);
	if (p->left != NULL)
	{
		uint32_t i = b == KANON_NO_CLUSTER ? p->chosen[a] : cover_once(p, differ, a, b);

		if (i == UINT32_MAX)
			return INFINITY;
		*pattern = p->patterns[i];
		return kanon_pattern_cost(p->problem, *pattern);
	}
	*pattern = cover(p, differ);
	return kanon_same(*pattern, p->index->all) ? INFINITY : kanon_pattern_cost(p->problem, *pattern);
}

/* Two clusters are one: of their patterns and the one that it has now, what is not used is free again. */
static void
merged(const KanonShape *shape, uint32_t into, uint32_t from, KanonPattern pattern)
{
	Patterned *p = shape->arg;
	uint32_t i = 0;

	p->left[p->chosen[into]]++;
	p->left[p->chosen[from]]++;
	while (!kanon_same(p->patterns[i], pattern))
		i++;
	p->left[i]--;
	p->chosen[into] = i;
}

/* ---- the release ---- */

/* A class for each cluster, and one for the rest unless that is left out; parts is empty afterwards. */
static KanonStatus
make_release(const Patterned *p, KanonParts *parts, KanonRelease *release)
{
	const KanonProblem *problem = p->problem;
	KanonEnv *env = problem->env;
	size_t width = (size_t) problem->ncolumns;
	uint32_t n = parts->nclusters;
	bool drop = problem->residual == KANON_RESIDUAL_DROP;
	KanonScratch scratch = {.env = env};
	KanonPace pace = {.env = env, .phase = "rules", .rows_left = -1};
	KanonHull *hull = kanon_take(&scratch, n, width * sizeof(KanonHull));
	KanonStatus status = kanon_taken(&scratch);

	memset(release, 0, sizeof(*release));
	release->nclasses = n + 1;
	release->classes = kanon_alloc0(env, release->nclasses, sizeof(KanonClass));
	release->cells = kanon_alloc0(env, release->nclasses, width * sizeof(KanonCell));
	if (status != KANON_OK || release->classes == NULL || release->cells == NULL)
	{
		kanon_scratch_free(&scratch);
		return KANON_NO_MEMORY;
	}
	for (size_t i = 0; i < n * width; i++)
		hull[i] = (KanonHull){UINT32_MAX, 0};
	for (size_t f = 0; f < parts->nflows; f++)
	{
		KanonFlow *flow = &parts->flows[f];

		if (flow->class_ == KANON_DROPPED)
		{
			flow->class_ = drop ? KANON_DROPPED : n;
			continue;
		}
		for (size_t c = 0; c < width; c++)
		{
			KanonHull *at = &hull[flow->class_ * width + c];
			uint32_t code = problem->columns[c].code[flow->type];

			at->low = code < at->low ? code : at->low;
			at->high = code > at->high ? code : at->high;
		}
		if (kanon_stop(&pace, 2 * width))
			status = KANON_CANCELLED;
	}
	for (uint32_t i = 0; i <= n; i++)
	{
		KanonPattern pattern = i < n ? parts->pattern[i] : p->index->all;

		release->classes[i].pattern = pattern;
		for (size_t c = 0; c < width; c++)
			if (!kanon_has(pattern, c))
				release->cells[i * width + c] =
					(KanonCell){KANON_SHOW_VALUE, hull[i * width + c].low & KANON_MAX_TYPES};
	}
	kanon_scratch_free(&scratch);
	release->flows = parts->flows;
	release->nflows = parts->nflows;
	parts->flows = NULL;
	return status;
}

static KanonStatus
open_patterned(Patterned *p, const KanonProblem *problem)
{
	KanonStatus status = kanon_mask_open(problem, &p->index);

	p->problem = problem;
	p->scratch.env = problem->env;
	p->key = kanon_take0(&p->scratch, REMEMBERED, sizeof(KanonPattern));
	p->cover = kanon_take0(&p->scratch, REMEMBERED, sizeof(KanonPattern));
	if (status == KANON_OK)
		status = kanon_taken(&p->scratch);
	if (status == KANON_OK && problem->mask.list != NULL)
		status = kanon_mask_enumerate(problem, SIZE_MAX, &p->patterns, &p->npatterns);
	return status;
}

/* How often the list has each pattern, less what the clusters of a release have. */
static KanonStatus
limit_patterns(Patterned *p, const KanonRelease *release)
{
	const KanonMask *mask = &p->problem->mask;

	p->left = kanon_take0(&p->scratch, p->npatterns, sizeof(int64_t));
	p->chosen = kanon_take(&p->scratch, release->nclasses, sizeof(uint32_t));
	if (p->scratch.failed)
		return KANON_NO_MEMORY;
	for (size_t i = 0; i < p->npatterns; i++)
	{
		for (size_t j = 0; j < mask->nlist; j++)
			p->left[i] += kanon_same(mask->list[j], p->patterns[i]);
		for (uint32_t f = 0; f < release->nclasses; f++)
			if (kanon_same(release->classes[f].pattern, p->patterns[i]))
			{
				p->left[i]--;
				p->chosen[f] = (uint32_t) i;
			}
	}
	return KANON_OK;
}

static void
close_patterned(Patterned *p)
{
	kanon_mask_close(p->index);
	kanon_free(p->problem->env, p->patterns);
	kanon_scratch_free(&p->scratch);
}

/* Fully suppressed rows are the rest. */
static void
find_rest(const KanonProblem *problem, const KanonRelease *solved, KanonParts *parts)
{
	KanonPattern all = kanon_pattern_all(problem->ncolumns);

	for (size_t f = 0; f < parts->nflows; f++)
		if (parts->flows[f].class_ != KANON_DROPPED &&
			kanon_same(solved->classes[parts->flows[f].class_].pattern, all))
			parts->flows[f].class_ = KANON_DROPPED;
}

static KanonStatus
mend_parts(Patterned *p, bool once, double end, KanonParts *parts, KanonRelease *release, KanonReport *report)
{
	KanonShape shape = {.problem = p->problem, .arg = p, .charge = charge, .end = end};
	KanonStatus status;

	shape.rest = once ? INFINITY : kanon_pattern_cost(p->problem, p->index->all);
	if (once)
		shape.merged = merged;
	status = kanon_repair(&shape, parts, report);
	return status == KANON_OK ? make_release(p, parts, release) : status;
}

/* Frees all but the release, which is finished or freed, too. */
static KanonStatus
end_mending(Patterned *p, KanonParts *parts, KanonStatus status, KanonRelease *release, KanonReport *report)
{
	kanon_parts_free(p->problem->env, parts);
	close_patterned(p);
	if (status == KANON_OK)
		status = kanon_release_finish(p->problem, release, report);
	if (status != KANON_OK)
		kanon_release_free(p->problem, release);
	return status;
}

KanonStatus
kanon_mend(const KanonPlain *plain, const KanonRelease *solved, bool once, double end, KanonRelease *release,
		   KanonReport *report)
{
	Patterned p = {.problem = plain->whole};
	KanonParts parts = {0};
	KanonStatus status = open_patterned(&p, plain->whole);

	memset(release, 0, sizeof(*release));
	if (status == KANON_OK && once)
		status = limit_patterns(&p, solved);
	if (status == KANON_OK)
		status = kanon_plain_spread(plain, solved, &parts);
	if (!once)
		find_rest(plain->whole, solved, &parts);
	if (status == KANON_OK)
		status = mend_parts(&p, once, end, &parts, release, report);
	return end_mending(&p, &parts, status, release, report);
}

/* k of the population's rows, which classes may lack since no row type is divided. */
static KanonStatus
mend_mapped(Patterned *p, const KanonMapped *mapped, bool once, double end, KanonParts *parts,
			KanonReport *report)
{
	KanonShape shape = {.problem = &mapped->problem, .arg = p, .charge = charge, .end = end};
	KanonStatus status;

	shape.rest = once ? INFINITY : kanon_pattern_cost(p->problem, p->index->all);
	if (once)
		shape.merged = merged;
	status = kanon_repair(&shape, parts, report);
	/* clusters have other numbers now */
	for (uint32_t i = 0; i < parts->nclusters && status == KANON_OK && once; i++)
	{
		p->chosen[i] = 0;
		while (!kanon_same(p->patterns[p->chosen[i]], parts->pattern[i]))
			p->chosen[i]++;
	}
	return status;
}

KanonStatus
kanon_mend_mapped(const KanonMapped *mapped, const KanonRelease *solved, bool once, double end,
				  KanonRelease *release, KanonReport *report)
{
	const KanonProblem *whole = mapped->plain.whole;
	Patterned p = {.problem = whole};
	KanonParts gathered = {0};
	KanonParts parts = {0};
	KanonStatus status = open_patterned(&p, whole);

	memset(release, 0, sizeof(*release));
	if (status == KANON_OK && once)
		status = limit_patterns(&p, solved);
	if (status == KANON_OK)
		status = kanon_mapped_gather(mapped, solved, &gathered);
	if (!once)
		find_rest(whole, solved, &gathered);
	if (status == KANON_OK)
		status = mend_mapped(&p, mapped, once, end, &gathered, report);
	if (status == KANON_OK)
		status = kanon_mapped_spread(mapped, &gathered, &parts);
	kanon_parts_free(whole->env, &gathered);
	if (status == KANON_OK)
		status = mend_parts(&p, once, end, &parts, release, report);
	return end_mending(&p, &parts, status, release, report);
}
