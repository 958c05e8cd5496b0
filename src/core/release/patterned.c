/*
 * patterned.c: gives mended classes their pattern: the cheapest of the mask that suppresses each column in which
 * rows of the class differ.
 */
#include <math.h>
#include <string.h>

#include "release/release.h"
#include "util/number.h"
#include "util/pace.h"

typedef struct Patterned
{
	const KanonProblem *problem;
	KanonCover cover;
	KanonScratch scratch;
	KanonPattern *chosen; /* [clusters] with limits; NULL: there are none */
	KanonPattern *least;  /* [clusters] columns that each suppresses whatever its rows are; NULL: none */
	int64_t *left;        /* how often a pattern may still be used: [npatterns], or without a list */
	KanonPattern *slot;   /* [mask + 1] of these; -1: none, which may be used once */
	size_t mask;
} Patterned;

/* Where it stands how often a pattern may still be used. */
static size_t
find_left(const Patterned *p, KanonPattern pattern)
{
	size_t at = 0;

	if (p->problem->mask.list != NULL)
		while (at + 1 < p->cover.npatterns && !kanon_same(p->cover.patterns[at], pattern))
			at++;
	else
		for (at = kanon_pattern_hash(pattern) & p->mask;
			 p->left[at] >= 0 && !kanon_same(p->slot[at], pattern); at = (at + 1) & p->mask)
			;
	return at;
}

/* One more or one fewer of them. */
static void
add_left(Patterned *p, KanonPattern pattern, int more)
{
	size_t at = find_left(p, pattern);

	if (p->left[at] < 0)
	{
		p->slot[at] = pattern;
		p->left[at] = 1;
	}
	p->left[at] += more;
}

/* May clusters a and b as one (b may be nobody) have that pattern? */
static bool
is_free(const Patterned *p, KanonPattern pattern, uint32_t a, uint32_t b)
{
	return kanon_same(p->chosen[a], pattern) ||
		   (b != KANON_NO_CLUSTER && kanon_same(p->chosen[b], pattern)) ||
		   p->left[find_left(p, pattern)] != 0;
}

/*
 * The same where patterns are used up.  Under rules it takes the cheapest, or one that
 * suppresses a column more: such a pattern need not be the cheapest that is free.
 */
static bool
cover_once(const Patterned *p, KanonPattern differ, uint32_t a, uint32_t b, KanonPattern *pattern)
{
	double least = INFINITY;
	KanonPattern first;

	for (size_t i = 0; i < p->cover.npatterns; i++)
		if (kanon_within(differ, p->cover.patterns[i]) && is_free(p, p->cover.patterns[i], a, b))
		{
			*pattern = p->cover.patterns[i];
			return true;
		}
	if (p->problem->mask.list != NULL)
		return false;
	*pattern = first = kanon_cover(&p->cover, differ, &least);
	least = INFINITY;
	if (is_free(p, first, a, b))
		return true;
	for (int c = 0; c < p->problem->ncolumns; c++)
	{
		KanonPattern next;
		double cost;

		if (kanon_has(first, c))
			continue;
		next = kanon_mask_cover(p->cover.index, kanon_union(first, kanon_only(c)));
		cost = kanon_pattern_cost(p->problem, next);
		if (cost < least && is_free(p, next, a, b))
		{
			least = cost;
			*pattern = next;
		}
	}
	if (least == INFINITY)
		*pattern = p->cover.index->all;
	return is_free(p, *pattern, a, b);
}

static double
charge(const KanonShape *shape, const KanonHull *hull, uint32_t a, uint32_t b, KanonPattern *pattern)
{
	const Patterned *p = shape->arg;
	KanonPattern differ = KANON_NONE;
	double cost;

	for (int c = 0; c < p->problem->ncolumns; c++)
		if (hull[c].low != hull[c].high)
			kanon_add(&differ, c);
	if (p->chosen != NULL)
	{
		if (b == KANON_NO_CLUSTER)
			*pattern = p->chosen[a];
		else if (!cover_once(p, differ, a, b, pattern))
			return INFINITY;
		return kanon_pattern_cost(p->problem, *pattern);
	}
	if (p->least != NULL)
		differ = kanon_union(differ, kanon_union(p->least[a], p->least[b == KANON_NO_CLUSTER ? a : b]));
	*pattern = kanon_cover(&p->cover, differ, &cost);
	return kanon_same(*pattern, p->cover.index->all) ? INFINITY : cost;
}

/* Two clusters are one, which suppresses what it has to from now on. */
static void
merged_least(const KanonShape *shape, uint32_t into, uint32_t from, KanonPattern pattern)
{
	Patterned *p = shape->arg;

	(void) pattern;
	p->least[into] = kanon_union(p->least[into], p->least[from]);
}

/* Two clusters are one: of their patterns and the one that it has now, what is not used is free again. */
static void
merged(const KanonShape *shape, uint32_t into, uint32_t from, KanonPattern pattern)
{
	Patterned *p = shape->arg;

	add_left(p, p->chosen[into], 1);
	add_left(p, p->chosen[from], 1);
	add_left(p, pattern, -1);
	p->chosen[into] = pattern;
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
	KanonPace pace = kanon_pace(env, "rules");
	KanonHull *hull = kanon_take(&scratch, n, width * sizeof(KanonHull));
	KanonStatus status = kanon_taken(&scratch);

	memset(release, 0, sizeof(*release));
	release->nfollow = parts->nbecame;
	release->follow = parts->became;
	for (uint32_t i = 0; i < parts->nbecame && !drop; i++)
		if (parts->became[i] == KANON_DROPPED)
			parts->became[i] = n;
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
		KanonPattern pattern = i < n ? parts->pattern[i] : p->cover.index->all;

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
	p->problem = problem;
	p->scratch.env = problem->env;
	return kanon_cover_open(&p->cover, problem);
}

/* How often each pattern may be used: as often as it is listed, of rules once; room for so many clusters. */
static KanonStatus
count_patterns(Patterned *p, uint32_t nclusters)
{
	const KanonMask *mask = &p->problem->mask;
	size_t n = p->cover.npatterns;

	if (mask->list == NULL)
	{
		/* a merger has one that is new, at most */
		for (n = 64; n / 4 < (size_t) nclusters + 1; n *= 2)
			;
		p->mask = n - 1;
		p->slot = kanon_take(&p->scratch, n, sizeof(KanonPattern));
	}
	p->left = kanon_take(&p->scratch, n, sizeof(int64_t));
	p->chosen = kanon_take(&p->scratch, (size_t) nclusters + 1, sizeof(KanonPattern));
	if (p->scratch.failed)
		return KANON_NO_MEMORY;
	for (size_t i = 0; i < n; i++)
		p->left[i] = mask->list != NULL ? (int64_t) kanon_mask_times(mask, p->cover.patterns[i]) : -1;
	return KANON_OK;
}

static void
choose(Patterned *p, uint32_t cluster, KanonPattern pattern)
{
	p->chosen[cluster] = pattern;
	add_left(p, pattern, -1);
}

/* The clusters are the classes of a release. */
static KanonStatus
limit_patterns(Patterned *p, const KanonRelease *release)
{
	KanonStatus status = count_patterns(p, release->nclasses);

	for (uint32_t c = 0; c < release->nclasses && status == KANON_OK; c++)
		choose(p, c, release->classes[c].pattern);
	return status;
}

static void
close_patterned(Patterned *p)
{
	kanon_cover_close(&p->cover);
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

	shape.rest = once ? INFINITY : kanon_pattern_cost(p->problem, p->cover.index->all);
	if (once)
		shape.merged = merged;
	else
	{
		shape.weight = p->cover.weight;
		shape.merged = p->least != NULL ? merged_least : NULL;
		shape.whole = p->least != NULL;
	}
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

/* ---- clusters that are there already ---- */

/* The contents of the clusters. */
typedef struct Content
{
	size_t width;
	KanonHull *hull; /* [clusters * width] */
	int64_t *rows;   /* [clusters] */
} Content;

static void
take_in(const Patterned *p, Content *content, uint32_t cluster, const KanonFlow *flow)
{
	KanonHull *hull = content->hull + cluster * content->width;

	for (size_t c = 0; c < content->width; c++)
	{
		uint32_t code = p->problem->columns[c].code[flow->type];

		hull[c].low = code < hull[c].low ? code : hull[c].low;
		hull[c].high = code > hull[c].high ? code : hull[c].high;
	}
	content->rows[cluster] += flow->rows;
}

static KanonStatus
open_content(Patterned *p, const KanonParts *parts, Content *content)
{
	content->width = (size_t) p->problem->ncolumns;
	content->hull = kanon_take(&p->scratch, parts->nclusters, content->width * sizeof(KanonHull));
	content->rows = kanon_take0(&p->scratch, parts->nclusters, sizeof(int64_t));
	if (p->scratch.failed)
		return KANON_NO_MEMORY;
	for (size_t i = 0; i < parts->nclusters * content->width; i++)
		content->hull[i] = (KanonHull){UINT32_MAX, 0};
	for (size_t f = 0; f < parts->nflows; f++)
		if (parts->flows[f].class_ != KANON_DROPPED)
			take_in(p, content, parts->flows[f].class_, &parts->flows[f]);
	return KANON_OK;
}

/* Rows of no cluster go where that costs the least: a pattern that is free for both has to be found. */
static KanonStatus
place(Patterned *p, const KanonParts *parts, Content *content, KanonFlow *flow)
{
	double least = INFINITY;
	uint32_t best = KANON_NO_CLUSTER;
	KanonPattern chosen = KANON_NONE;

	for (uint32_t i = 0; i < parts->nclusters; i++)
	{
		KanonPattern differ = p->chosen[i], pattern;
		double cost;

		if (content->rows[i] == 0)
			continue;
		for (size_t c = 0; c < content->width; c++)
		{
			KanonHull hull = content->hull[i * content->width + c];
			uint32_t code = p->problem->columns[c].code[flow->type];

			if (hull.low != hull.high || hull.low != code)
				kanon_add(&differ, (int) c);
		}
		if (!cover_once(p, differ, i, KANON_NO_CLUSTER, &pattern))
			continue;
		cost = (double) (content->rows[i] + flow->rows) * kanon_pattern_cost(p->problem, pattern) -
			   (double) content->rows[i] * kanon_pattern_cost(p->problem, p->chosen[i]);
		if (cost < least)
		{
			least = cost;
			best = i;
			chosen = pattern;
		}
	}
	if (best == KANON_NO_CLUSTER)
		return KANON_NOT_FOUND;
	add_left(p, p->chosen[best], 1);
	choose(p, best, chosen);
	take_in(p, content, best, flow);
	flow->class_ = best;
	return KANON_OK;
}

/* Each cluster has its pattern, and every row a cluster. */
static KanonStatus
use_patterns(Patterned *p, KanonParts *parts, const KanonPattern *pattern)
{
	KanonPace pace = kanon_pace(p->problem->env, "rules");
	Content content;
	KanonStatus status = count_patterns(p, parts->nclusters);

	if (status == KANON_OK)
		status = open_content(p, parts, &content);
	for (uint32_t i = 0; i < parts->nclusters && status == KANON_OK; i++)
		if (content.rows[i] > 0)
			choose(p, i, pattern[i]);
		else
			p->chosen[i] = pattern[i];
	for (size_t f = 0; f < parts->nflows && status == KANON_OK; f++)
	{
		if (parts->flows[f].class_ == KANON_DROPPED)
			status = place(p, parts, &content, &parts->flows[f]);
		if (kanon_stop(&pace, 8 * (uint64_t) parts->nclusters))
			status = KANON_CANCELLED;
	}
	return status;
}

KanonStatus
kanon_mend_parts(const KanonProblem *problem, KanonParts *parts, KanonPattern *least, bool once, double end,
				 KanonRelease *release, KanonReport *report)
{
	Patterned p = {.problem = problem};
	KanonStatus status = open_patterned(&p, problem);

	memset(release, 0, sizeof(*release));
	if (status == KANON_OK && once)
		status = use_patterns(&p, parts, least);
	p.least = once ? NULL : least;
	if (status == KANON_OK)
		status = mend_parts(&p, once, end, parts, release, report);
	return end_mending(&p, parts, status, release, report);
}

/* ---- The cheapest pattern of a mask that suppresses given columns ---- */

/* Answers that are remembered: a power of two. */
#define REMEMBERED 4096

typedef struct KanonCovered
{
	KanonPattern columns;
	KanonPattern pattern; /* of no column: none yet (which is its own) */
	double cost;
} KanonCovered;

KanonStatus
kanon_cover_open(KanonCover *cover, const KanonProblem *problem)
{
	KanonStatus status = kanon_mask_open(problem, &cover->index);

	cover->problem = problem;
	cover->scratch.env = problem->env;
	for (int c = 0; c < problem->ncolumns; c++)
		cover->weight[c] = problem->columns[c].weight;
	cover->known = kanon_take0(&cover->scratch, REMEMBERED, sizeof(KanonCovered));
	if (status == KANON_OK)
		status = kanon_taken(&cover->scratch);
	if (status == KANON_OK && problem->mask.list != NULL)
		status = kanon_mask_enumerate(problem, SIZE_MAX, &cover->patterns, &cover->npatterns);
	return status;
}

void
kanon_cover_close(KanonCover *cover)
{
	if (cover->problem == NULL)
		return;
	kanon_mask_close(cover->index);
	kanon_free(cover->problem->env, cover->patterns);
	kanon_scratch_free(&cover->scratch);
}

static KanonPattern
find(const KanonCover *cover, KanonPattern columns)
{
	if (cover->problem->mask.list == NULL)
		return kanon_mask_cover(cover->index, columns);
	for (size_t i = 0; i < cover->npatterns; i++)
		if (kanon_within(columns, cover->patterns[i]))
			return cover->patterns[i];
	return cover->index->all;
}

KanonPattern
kanon_cover(const KanonCover *cover, KanonPattern columns, double *cost)
{
	KanonCovered *known = &cover->known[kanon_pattern_hash(columns) & (REMEMBERED - 1)];

	if (kanon_is_none(known->pattern) || !kanon_same(known->columns, columns))
	{
		known->columns = columns;
		known->pattern = find(cover, columns);
		known->cost = kanon_pattern_cost(cover->problem, known->pattern);
	}
	*cost = known->cost;
	return known->pattern;
}
