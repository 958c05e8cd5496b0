/*
 * repair.c: mends clusters that break a rule, one after the other.
 *
 * The smallest comes first.  It is merged with the cluster with which it loses least and keeps the rules, or joins
 * the rest if that costs less.  Merging suits rules: the union of two classes that keep a rule keeps it (rules.c has
 * the exception), and so do most unions of two that do not.  If the rest may not be published as it is, it gets the
 * rows of those clusters that lose least by it.
 *
 * Clusters stand in the order of their cells.  A broken cluster is compared with its neighbours in that order: with
 * all others, unless they are very many.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "privacy/rules.h"
#include "release/release.h"

/* Neighbours on either side that are looked at, and of these the best whose rows are. */
#define NEIGHBOURS 1500
#define ASKED 16

#define NOBODY KANON_NO_CLUSTER

/* Do two clusters that keep the rules keep them as one? */
static bool
is_monotone(const KanonProblem *problem)
{
	return problem->privacy == NULL || kanon_privacy_monotone(problem->privacy);
}

static bool
rules_failed(const KanonProblem *problem)
{
	return problem->privacy != NULL && kanon_privacy_failed(problem->privacy);
}

/* ---- clusters ---- */

/* Do the rows of a, and of b unless that is nobody, keep the rules of a class? */
static bool
repair_keeps(Repair *r, uint32_t a, uint32_t b)
{
	size_t n = held_list(&r->held, a, r->types, r->counts, 0);
	int64_t rows = r->held.rows[a];

	if (b != NOBODY)
	{
		n = held_list(&r->held, b, r->types, r->counts, n);
		rows += r->held.rows[b];
	}
	if (kanon_stop(&r->pace, 16 * n))
		r->cancelled = true;
	return kanon_class_allowed(r->problem, r->types, r->counts, n, rows);
}

bool
repair_unite(const Repair *r, uint32_t a, uint32_t b, double limit, KanonHull *hull)
{
	const KanonHull *left = r->hull + a * r->width;
	const KanonHull *right = r->hull + b * r->width;
	const double *weight = r->shape->weight;

	if (weight != NULL)
		limit += 1e-9 * r->shape->rest; /* sums are rounded */
	for (size_t c = 0; c < r->width; c++)
	{
		hull[c].low = left[c].low < right[c].low ? left[c].low : right[c].low;
		hull[c].high = left[c].high > right[c].high ? left[c].high : right[c].high;
		if (weight != NULL && hull[c].low != hull[c].high && (limit -= weight[c]) < 0)
			return false;
	}
	return true;
}

static void
take_out(Repair *r, uint32_t cluster)
{
	uint32_t before = r->before[cluster];
	uint32_t after = r->after[cluster];

	if (before != NOBODY)
		r->after[before] = after;
	else
		r->head = after;
	if (after != NOBODY)
		r->before[after] = before;
	r->alive--;
}

static void
merge(Repair *r, uint32_t into, uint32_t from)
{
	KanonHull hull[KANON_MAX_COLUMNS];

	repair_unite(r, into, from, INFINITY, hull);
	r->charge[into] = r->shape->charge(r->shape, hull, into, from, &r->pattern[into]);
	memcpy(r->hull + into * r->width, hull, r->width * sizeof(KanonHull));
	if (r->shape->merged != NULL)
		r->shape->merged(r->shape, into, from, r->pattern[into]);
	take_out(r, from);
	held_hand_over(&r->held, from, into);
}

void
repair_to_rest(Repair *r, uint32_t cluster)
{
	take_out(r, cluster);
	held_hand_over(&r->held, cluster, r->n);
}

static KanonStatus
look_at(Repair *r, uint32_t cluster)
{
	r->broken[cluster] = !repair_keeps(r, cluster, NOBODY);
	if (r->broken[cluster] &&
		!kanon_heap_add(&r->scratch, &r->queue, (double) r->held.rows[cluster], cluster))
		return KANON_NO_MEMORY;
	return r->cancelled || kanon_stop(&r->pace, 1) ? KANON_CANCELLED : KANON_OK;
}

/* ---- set up ---- */

/* By the least codes: column by column what clusters show, near enough. */
static int
compare_clusters(const void *a, const void *b, void *arg)
{
	const Repair *r = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	for (size_t c = 0; c < r->width; c++)
	{
		uint32_t one = r->hull[left * r->width + c].low;
		uint32_t other = r->hull[right * r->width + c].low;

		if (one != other)
			return one < other ? -1 : 1;
	}
	return left < right ? -1 : left > right;
}

static KanonStatus
put_in_order(Repair *r)
{
	uint32_t *order = kanon_take(&r->scratch, r->n, 2 * sizeof(uint32_t));
	uint32_t before = NOBODY;

	if (order == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < r->n; i++)
		order[i] = i;
	kanon_sort(order, order + r->n, r->n, sizeof(uint32_t), compare_clusters, r);
	r->head = NOBODY;
	for (uint32_t i = 0; i < r->n; i++)
	{
		uint32_t cluster = order[i];

		r->before[cluster] = before;
		r->after[cluster] = NOBODY;
		if (r->held.rows[cluster] == 0)
			continue;
		if (before == NOBODY)
			r->head = cluster;
		else
			r->after[before] = cluster;
		before = cluster;
		r->alive++;
	}
	kanon_drop(&r->scratch, order);
	return KANON_OK;
}

static KanonStatus
take_memory(Repair *r)
{
	size_t n = (size_t) r->n + 1;
	KanonStatus status;

	r->hull = kanon_take(&r->scratch, n, r->width * sizeof(KanonHull));
	r->charge = kanon_take(&r->scratch, n, sizeof(double));
	r->pattern = kanon_take(&r->scratch, n, sizeof(KanonPattern));
	r->before = kanon_take(&r->scratch, n, sizeof(uint32_t));
	r->after = kanon_take(&r->scratch, n, sizeof(uint32_t));
	r->broken = kanon_take0(&r->scratch, n, sizeof(bool));
	r->types = kanon_take(&r->scratch, r->parts->nflows, 2 * sizeof(uint32_t));
	r->counts = kanon_take(&r->scratch, r->parts->nflows, 2 * sizeof(int64_t));
	/* (rows that are drawn for the rest are items of their own) */
	status = held_open(&r->held, r->problem, r->n + 1, 3 * r->parts->nflows, &r->scratch, &r->pace);
	return status == KANON_OK ? kanon_taken(&r->scratch) : status;
}

/* Flows to their clusters, with what these show. */
static KanonStatus
set_up(Repair *r)
{
	const KanonProblem *problem = r->problem;
	KanonStatus status = take_memory(r);

	if (status != KANON_OK)
		return status;
	for (size_t i = 0; i < ((size_t) r->n + 1) * r->width; i++)
		r->hull[i] = (KanonHull){UINT32_MAX, 0};
	for (uint32_t f = 0; f < r->parts->nflows; f++)
	{
		const KanonFlow *flow = &r->parts->flows[f];
		uint32_t to = flow->class_ == KANON_DROPPED ? r->n : flow->class_;
		KanonHull *hull = r->hull + to * r->width;

		for (size_t c = 0; c < r->width; c++)
		{
			uint32_t code = problem->columns[c].code[flow->type];

			hull[c].low = code < hull[c].low ? code : hull[c].low;
			hull[c].high = code > hull[c].high ? code : hull[c].high;
		}
		held_add(&r->held, to, flow->type, flow->rows);
		if (kanon_stop(&r->pace, 4 * r->width))
			return KANON_CANCELLED;
	}
	status = put_in_order(r);
	for (uint32_t i = 0; i <= r->n; i++)
		held_add_up(&r->held, i);
	for (uint32_t i = 0; i < r->n && status == KANON_OK; i++)
		if (r->held.rows[i] > 0)
		{
			r->charge[i] = r->shape->charge(r->shape, r->hull + i * r->width, i, NOBODY, &r->pattern[i]);
			/* what is as bad as the rest is the rest */
			if (r->charge[i] == INFINITY)
				repair_to_rest(r, i);
			else
				status = look_at(r, i);
		}
	return status;
}

/* ---- mending ---- */

typedef struct Candidate
{
	uint32_t cluster;
	double more; /* cost */
} Candidate;

/* Puts a candidate among the best ASKED, in order. */
static void
remember(Candidate *best, int *nbest, Candidate candidate)
{
	int at;

	if (*nbest == ASKED && candidate.more >= best[ASKED - 1].more)
		return;
	at = *nbest < ASKED ? (*nbest)++ : ASKED - 1;
	for (; at > 0 && best[at - 1].more > candidate.more; at--)
		best[at] = best[at - 1];
	best[at] = candidate;
}

/* Would the rest have too few rows with that cluster, and others have to join it whole? */
static bool
rest_lacks(const Repair *r, uint32_t cluster)
{
	return r->shape->whole && kanon_rest_strict(r->problem) &&
		   r->held.rows[r->n] + r->held.rows[cluster] < kanon_least_rows(r->problem);
}

/* The clusters with which a broken one would lose least. */
static int
find_candidates(Repair *r, uint32_t broken, Candidate *best)
{
	const KanonShape *shape = r->shape;
	double mine = (double) r->held.rows[broken] * r->charge[broken];
	double worst = rest_lacks(r, broken) ? INFINITY : (double) r->held.rows[broken] * shape->rest - mine;
	int nbest = 0;

	for (int side = 0; side < 2; side++)
	{
		const uint32_t *step = side == 0 ? r->before : r->after;
		uint32_t other = step[broken];

		for (int seen = 0; seen < NEIGHBOURS && other != NOBODY && !r->cancelled; seen++, other = step[other])
		{
			KanonHull hull[KANON_MAX_COLUMNS];
			KanonPattern pattern;
			double each;

			double both = (double) (r->held.rows[broken] + r->held.rows[other]);
			double before = mine + (double) r->held.rows[other] * r->charge[other];

			if (kanon_stop(&r->pace, 2 * r->width))
				r->cancelled = true;
			if (!repair_unite(r, broken, other, (worst + before) / both, hull))
				continue;
			each = shape->charge(shape, hull, broken, other, &pattern);
			if (each < INFINITY)
				remember(best, &nbest, (Candidate){other, both * each - before});
			if (nbest == ASKED)
				worst = fmin(worst, best[ASKED - 1].more);
		}
	}
	return nbest;
}

/*
 * Time is up, and every row has to be in a class: those that are broken are merged as they come, asked ever more
 * seldom, and what is broken then with whoever is beside it.
 */
static KanonStatus
mend_late(Repair *r)
{
	uint32_t at = NOBODY;
	uint64_t taken = 0;

	for (uint32_t i = r->head, next; i != NOBODY && !r->cancelled; i = next)
	{
		next = r->after[i];
		if (!r->broken[i])
			continue;
		if (at != NOBODY)
			merge(r, at, i);
		r->cancelled |= kanon_stop(&r->pace, 2 * r->width);
		taken = at == NOBODY ? 0 : taken + 1;
		at = at == NOBODY ? i : at;
		if (taken == 0 || (taken & (taken - 1)) != 0)
			continue;
		r->broken[at] = !repair_keeps(r, at, NOBODY);
		at = r->broken[at] ? at : NOBODY;
	}
	for (uint64_t ask = 1; at != NOBODY && !r->cancelled && !repair_keeps(r, at, NOBODY); ask *= 2)
	{
		if (r->alive == 1)
			return KANON_NOT_FOUND;
		for (uint64_t i = 0; i < ask && r->alive > 1; i++)
			merge(r, at, r->after[at] != NOBODY ? r->after[at] : r->before[at]);
	}
	if (at != NOBODY)
		r->broken[at] = false;
	return r->cancelled ? KANON_CANCELLED : KANON_OK;
}

/* One broken cluster is merged, or goes to the rest; it may be broken still. */
static KanonStatus
mend(Repair *r, uint32_t broken)
{
	Candidate best[ASKED];
	int n = r->pace.late ? 0 : find_candidates(r, broken, best);
	int chosen = n > 0 ? 0 : -1;
	double rest = (double) r->held.rows[broken] * (r->shape->rest - r->charge[broken]);
	uint64_t seen = 0;

	r->hurried |= r->pace.late;
	if (r->pace.late && r->shape->rest == INFINITY && r->shape->merged == NULL)
		return mend_late(r);
	for (int i = 0; i < n && seen < LOOKED_AT && !r->cancelled; i++)
	{
		seen += r->held.length[broken] + r->held.length[best[i].cluster];
		if (repair_keeps(r, broken, best[i].cluster))
		{
			chosen = i;
			break;
		}
	}
	if (r->cancelled)
		return KANON_CANCELLED;
	/* (a rest of whole clusters that would be too few draws others after it, whatever these lose) */
	if (r->shape->rest < INFINITY && (chosen < 0 || (best[chosen].more > rest && !rest_lacks(r, broken))))
	{
		repair_to_rest(r, broken);
		return KANON_OK;
	}
	if (chosen < 0)
		return KANON_NOT_FOUND;
	/* its number stays the lower one, whoever asked */
	merge(r, best[chosen].cluster, broken);
	return look_at(r, best[chosen].cluster);
}

static KanonStatus
mend_all(Repair *r)
{
	KanonStatus status = KANON_OK;

	while (r->queue.n > 0 && status == KANON_OK)
	{
		KanonKeyed top = kanon_heap_take(&r->queue);

		/* it may have been merged since, which put it there anew */
		if (r->held.rows[top.item] == 0 || !r->broken[top.item] || (double) r->held.rows[top.item] != top.key)
			continue;
		status = mend(r, top.item);
		if (kanon_stop(&r->pace, 1))
			status = KANON_CANCELLED;
		if (rules_failed(r->problem))
			status = KANON_NO_MEMORY;
	}
	return status;
}

/* ---- clusters that look alike ---- */

/* A cluster's cell of a column, as far as two can look alike. */
static KanonHull
shown(const Repair *r, uint32_t cluster, size_t c)
{
	KanonHull hull = r->hull[cluster * r->width + c];

	if (!kanon_has(r->pattern[cluster], c))
		return (KanonHull){hull.low, hull.low};
	return kanon_has(r->shape->ranged, c) ? hull : (KanonHull){0, 0};
}

static int
compare_shown(const void *a, const void *b, void *arg)
{
	const Repair *r = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	if (!kanon_same(r->pattern[left], r->pattern[right]))
		return kanon_order(r->pattern[left], r->pattern[right]);
	for (size_t c = 0; c < r->width; c++)
	{
		KanonHull one = shown(r, left, c);
		KanonHull other = shown(r, right, c);

		if (one.low != other.low)
			return one.low < other.low ? -1 : 1;
		if (one.high != other.high)
			return one.high < other.high ? -1 : 1;
	}
	return 0;
}

/*
 * Two classes that look alike come out as one, which may break a rule that both keep where
 * persons are counted: they are one from now on.  *any: there were some.
 */
static KanonStatus
merge_alike(Repair *r, bool *any)
{
	uint32_t *order = kanon_take(&r->scratch, r->alive, 2 * sizeof(uint32_t));
	uint32_t n = 0;
	uint32_t kept = 0;
	KanonStatus status = KANON_OK;

	*any = false;
	if (order == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = r->head; i != NOBODY; i = r->after[i])
		order[n++] = i;
	kanon_sort(order, order + n, n, sizeof(uint32_t), compare_shown, r);
	for (uint32_t i = 1; i < n && status == KANON_OK; i++)
	{
		if (kanon_stop(&r->pace, 4 * r->width))
			return KANON_CANCELLED;
		if (compare_shown(&order[kept], &order[i], r) != 0)
		{
			kept = i;
			continue;
		}
		merge(r, order[kept], order[i]);
		*any = true;
		status = look_at(r, order[kept]);
	}
	kanon_drop(&r->scratch, order);
	return status;
}

/* ---- all of it ---- */

/* Clusters get numbers without gaps; what would be left out is a class if it may be one. */
static KanonStatus
write_back(Repair *r)
{
	bool one_more = r->held.rows[r->n] > 0 && r->problem->residual == KANON_RESIDUAL_DROP &&
					repair_keeps(r, r->n, NOBODY);
	uint32_t n = 0;

	r->parts->pattern = kanon_alloc(r->problem->env, (size_t) r->alive + 1, sizeof(KanonPattern));
	if (r->parts->pattern == NULL)
		return KANON_NO_MEMORY;
	if (r->cancelled)
		return KANON_CANCELLED;
	/* nobody asks for lengths any more: they are numbers now */
	for (uint32_t i = 0; i < r->n; i++)
		if (r->held.rows[i] > 0)
		{
			r->held.length[i] = n;
			r->parts->pattern[n++] = r->pattern[i];
		}
	r->held.length[r->n] = one_more ? n : KANON_DROPPED;
	if (one_more)
		r->parts->pattern[n++] = kanon_pattern_all(r->problem->ncolumns);
	for (uint32_t i = 0; i < r->parts->nbecame; i++)
	{
		uint32_t cluster =
			r->parts->became[i] == KANON_DROPPED ? r->n : held_by(&r->held, r->parts->became[i]);

		r->parts->became[i] = r->held.rows[cluster] > 0 ? r->held.length[cluster] : KANON_DROPPED;
	}
	for (size_t f = 0, end = r->parts->nflows; f < end; f++)
	{
		KanonFlow *flow = &r->parts->flows[f];
		uint32_t cluster = held_by(&r->held, flow->class_ == KANON_DROPPED ? r->n : flow->class_);
		int64_t *drawn = NULL;

		if (r->draw.rows != NULL && cluster == held_by(&r->held, r->draw.cluster))
			drawn = &r->draw.rows[r->held.values.of[flow->type]];
		flow->class_ = r->held.length[cluster];
		if (drawn == NULL || *drawn == 0)
			continue;
		if (*drawn >= flow->rows)
		{
			*drawn -= flow->rows;
			flow->class_ = r->held.length[r->n];
			continue;
		}
		flow->rows -= *drawn;
		if (!kanon_parts_add(r->problem->env, r->parts, flow->type, r->held.length[r->n], *drawn))
			return KANON_NO_MEMORY;
		*drawn = 0;
	}
	r->parts->nclusters = n;
	return KANON_OK;
}

/* No cluster was left to merge the last broken one with. */
static KanonStatus
tell_failure(const Repair *r, KanonStatus status, KanonReport *report)
{
	bool whole = r->shape->merged == NULL && is_monotone(r->problem);

	if (status == KANON_NOT_FOUND && whole)
	{
		snprintf(report->detail, sizeof(report->detail), "all rows together may not be a class");
		return KANON_INFEASIBLE;
	}
	if (status == KANON_NOT_FOUND)
		snprintf(report->detail, sizeof(report->detail),
				 r->pace.late ? "time ended before classes were merged to such that keep the rules"
							  : "merging classes led to none that keep the rules");
	if (status != KANON_REST_FORBIDDEN)
		return status;
	snprintf(report->detail, sizeof(report->detail),
			 r->problem->residual == KANON_RESIDUAL_ERROR
				 ? "rows that fit no class: %lld"
				 : "rows that fit no class: %lld; they would break a privacy rule even when fully suppressed",
			 (long long) r->held.rows[r->n]);
	return r->problem->residual == KANON_RESIDUAL_ERROR ? KANON_RESIDUAL : status;
}

KanonStatus
kanon_repair(const KanonShape *shape, KanonParts *parts, KanonReport *report)
{
	const KanonProblem *problem = shape->problem;
	Repair r = {.shape = shape,
				.problem = problem,
				.scratch = {.env = problem->env},
				.pace = kanon_pace_at_once(problem->env, "rules"),
				.width = (size_t) problem->ncolumns,
				.n = parts->nclusters,
				.parts = parts};
	KanonStatus status;
	bool changed = false;
	bool again;

	r.draw.cluster = NOBODY;
	r.pace.deadline = shape->end;
	status = set_up(&r);
	again = status == KANON_OK;
	while (again)
	{
		again = false;
		status = mend_all(&r);
		if (status == KANON_OK && !is_monotone(problem))
			status = merge_alike(&r, &again);
		if (status == KANON_OK && !again)
			status = repair_rest(&r, &changed);
		again = again || (status == KANON_OK && changed && !is_monotone(problem));
		changed = false;
	}
	if (rules_failed(problem))
		status = KANON_NO_MEMORY;
	else if (r.cancelled)
		status = KANON_CANCELLED;
	if (status == KANON_OK && r.hurried)
		snprintf(report->detail, sizeof(report->detail), "time ended before all classes kept the rules: %s",
				 shape->rest < INFINITY ? "rows were left out" : "those left were merged as they came");
	if (status == KANON_OK)
		status = write_back(&r);
	else
		status = tell_failure(&r, status, report);
	kanon_scratch_free(&r.scratch);
	return status;
}
