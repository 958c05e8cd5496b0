/*
 * repair_rest.c: rows that are in no cluster, and may not be published as they are.
 *
 * Three ways are tried, and the cheapest is taken:
 * - each of their row types, if these are few, goes to the cluster that loses least by it;
 * - some rows of a cluster join the rest, which may be published then;
 * - all rows of a cluster join it.
 * If none of them works, clusters join the rest one after the other.
 */
#include <math.h>
#include <string.h>

#include "privacy/rules.h"
#include "release/release.h"
#include "util/sort.h"

/*
 * Clusters that could join the rest, of which the rows are looked at; part of those joined that join unasked; row
 * types of the rest that are looked for a cluster.
 */
#define JOINED 64

/* Clusters that could take a row type of the rest, of which the rows are looked at. */
#define ASKED 8

#define NOBODY KANON_NO_CLUSTER
#define NOTHING UINT32_MAX

/* May the rows listed be the rest? */
static bool
may_be_rest(Repair *r, size_t n, int64_t rows)
{
	if (kanon_stop(&r->pace, 16 * n))
		r->cancelled = true;
	return kanon_rest_strict(r->problem) ? kanon_class_allowed(r->problem, r->types, r->counts, n, rows)
										 : kanon_rest_allowed(r->problem, r->types, r->counts, n);
}

/* May the rest be, with the rows of a cluster unless that is nobody? */
static bool
rest_keeps(Repair *r, uint32_t with)
{
	int64_t rows = r->held.rows[r->n];
	size_t n;

	if (r->problem->residual == KANON_RESIDUAL_DROP || (rows == 0 && with == NOBODY))
		return true;
	n = held_list(&r->held, r->n, r->types, r->counts, 0);
	if (with != NOBODY)
	{
		n = held_list(&r->held, with, r->types, r->counts, n);
		rows += r->held.rows[with];
	}
	return may_be_rest(r, n, rows);
}

/* ---- row types of the rest go to clusters ---- */

/* A cluster before a row type came to it. */
typedef struct Before
{
	uint32_t cluster;
	size_t flow;
	KanonHull *hull;
	double charge;
	KanonPattern pattern;
	uint32_t last;
	uint32_t length;
} Before;

typedef struct Joining
{
	Before before[JOINED]; /* [n] in the order of coming */
	uint32_t n;
	double cost;
} Joining;

typedef struct Taker
{
	uint32_t cluster;
	double more;
} Taker;

/* The clusters in which rows of a type lose least, in order. */
static int
find_takers(Repair *r, uint32_t type, int64_t rows, double limit, Taker *best)
{
	KanonHull *mine = r->hull + (size_t) r->n * r->width;
	int n = 0;

	for (size_t c = 0; c < r->width; c++)
		mine[c].low = mine[c].high = r->problem->columns[c].code[type];
	for (uint32_t i = r->head; i != NOBODY && !r->cancelled; i = r->after[i])
	{
		double both = (double) (r->held.rows[i] + rows);
		double before = (double) r->held.rows[i] * r->charge[i];
		KanonHull hull[KANON_MAX_COLUMNS];
		KanonPattern pattern;
		Taker taker = {.cluster = i};
		int at;

		if (kanon_stop(&r->pace, 2 * r->width))
			r->cancelled = true;
		if (!repair_unite(r, i, r->n, (limit + before) / both, hull))
			continue;
		taker.more = both * r->shape->charge(r->shape, hull, i, NOBODY, &pattern) - before;
		if (!(taker.more < limit))
			continue;
		for (at = n < ASKED ? n++ : ASKED - 1; at > 0 && best[at - 1].more > taker.more; at--)
			best[at] = best[at - 1];
		best[at] = taker;
		if (n == ASKED)
			limit = best[ASKED - 1].more;
	}
	return n;
}

/* Would a cluster with more rows of a type keep the rules? */
static bool
takes(Repair *r, uint32_t cluster, uint32_t type, int64_t rows)
{
	size_t n = held_list(&r->held, cluster, r->types, r->counts, 0);

	r->types[n] = type;
	r->counts[n++] = rows;
	if (kanon_stop(&r->pace, 16 * n))
		r->cancelled = true;
	return kanon_class_allowed(r->problem, r->types, r->counts, n, r->held.rows[cluster] + rows);
}

static KanonStatus
take_in(Repair *r, Joining *joining, uint32_t cluster, size_t flow)
{
	Before *before = &joining->before[joining->n];
	KanonHull *hull = r->hull + cluster * r->width;
	const KanonFlow *comes = &r->parts->flows[flow];

	*before = (Before){.cluster = cluster,
					   .flow = flow,
					   .hull = kanon_take(&r->scratch, r->width, sizeof(KanonHull)),
					   .charge = r->charge[cluster],
					   .pattern = r->pattern[cluster],
					   .last = r->held.last[cluster],
					   .length = r->held.length[cluster]};
	if (before->hull == NULL)
		return KANON_NO_MEMORY;
	memcpy(before->hull, hull, r->width * sizeof(KanonHull));
	for (size_t c = 0; c < r->width; c++)
	{
		uint32_t code = r->problem->columns[c].code[comes->type];

		hull[c].low = code < hull[c].low ? code : hull[c].low;
		hull[c].high = code > hull[c].high ? code : hull[c].high;
	}
	r->charge[cluster] = r->shape->charge(r->shape, hull, cluster, NOBODY, &r->pattern[cluster]);
	held_add(&r->held, cluster, comes->type, comes->rows);
	joining->n++;
	return KANON_OK;
}

static void
undo(Repair *r, const Joining *joining)
{
	for (uint32_t i = joining->n; i-- > 0;)
	{
		const Before *before = &joining->before[i];
		uint32_t cluster = before->cluster;

		memcpy(r->hull + cluster * r->width, before->hull, r->width * sizeof(KanonHull));
		r->charge[cluster] = before->charge;
		r->pattern[cluster] = before->pattern;
		r->held.items[before->last].next = NOTHING;
		r->held.last[cluster] = before->last;
		r->held.length[cluster] = before->length;
		r->held.rows[cluster] -= r->parts->flows[before->flow].rows;
		r->held.n--;
	}
}

/* joining->cost INFINITY: they cannot all join for less than `limit`. */
static KanonStatus
join(Repair *r, double limit, Joining *joining)
{
	KanonStatus status = KANON_OK;
	uint32_t n = 0;

	joining->n = 0;
	joining->cost = 0;
	for (size_t f = 0; f < r->parts->nflows; f++)
	{
		uint32_t class_ = r->parts->flows[f].class_;

		n += class_ == KANON_DROPPED || held_by(&r->held, class_) == r->n;
	}
	if (n > JOINED)
		joining->cost = INFINITY;
	for (size_t f = 0; f < r->parts->nflows && status == KANON_OK && joining->cost < limit; f++)
	{
		const KanonFlow *flow = &r->parts->flows[f];
		Taker best[ASKED];
		int ntakers;
		int i = 0;

		if (flow->class_ != KANON_DROPPED && held_by(&r->held, flow->class_) != r->n)
			continue;
		ntakers = find_takers(r, flow->type, flow->rows, limit - joining->cost, best);
		while (i < ntakers && !takes(r, best[i].cluster, flow->type, flow->rows))
			i++;
		if (i == ntakers)
			joining->cost = INFINITY;
		else
		{
			joining->cost += best[i].more;
			status = take_in(r, joining, best[i].cluster, f);
		}
	}
	if (r->cancelled)
		status = KANON_CANCELLED;
	if (status == KANON_OK && !(joining->cost < limit))
	{
		undo(r, joining);
		joining->n = 0;
		joining->cost = INFINITY;
	}
	return status;
}

static void
leave_rest(Repair *r, const Joining *joining)
{
	for (uint32_t i = 0; i < joining->n; i++)
		r->parts->flows[joining->before[i].flow].class_ = joining->before[i].cluster;
	r->held.first[r->n] = r->held.last[r->n] = NOTHING;
	r->held.rows[r->n] = 0;
	r->held.length[r->n] = r->held.counted[r->n] = 0;
}

/* ---- rows of a cluster join the rest ---- */

typedef struct Drawing
{
	uint32_t cluster;
	double cost;
	int64_t *taken; /* [nflows] by place in the list of the cluster's rows, at hand; */
	int64_t *best;  /* the same of the cluster chosen */
} Drawing;

/*
 * So many of a cluster's rows, which are listed from `from` on: of what rules look at as many as its share is, rounded
 * up, or such that they add up.  How many these are.
 */
static int64_t
draw_rows(const Repair *r, size_t from, size_t n, int64_t rows, int64_t wanted, bool up, int64_t *taken)
{
	int64_t before = 0;
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
	{
		int64_t count = r->counts[from + i];
		__int128 share = (__int128) wanted * count;

		if (up)
			taken[i] = (int64_t) ((share + rows - 1) / rows);
		else
			taken[i] = (int64_t) ((__int128) wanted * (before + count) / rows) -
					   (int64_t) ((__int128) wanted * before / rows);
		before += count;
		sum += taken[i];
	}
	return sum;
}

/* Do both the rest with them and the cluster without them keep the rules?  Rows are listed as for draw_rows. */
static bool
may_be_drawn(Repair *r, size_t from, size_t n, int64_t rows, int64_t sum, const int64_t *taken)
{
	size_t end = from;
	bool allowed;

	/* the cluster's rows make way for those that are taken, and come back */
	for (size_t i = 0; i < n; i++)
	{
		r->types[from + n + i] = r->types[from + i];
		r->counts[from + n + i] = r->counts[from + i];
	}
	for (size_t i = 0; i < n; i++)
		if (taken[i] > 0)
		{
			r->types[end] = r->types[from + n + i];
			r->counts[end++] = taken[i];
		}
	allowed = may_be_rest(r, end, r->held.rows[r->n] + sum);
	end = from;
	for (size_t i = 0; i < n && sum < rows; i++)
		if (r->counts[from + n + i] > taken[i])
		{
			r->types[end] = r->types[from + n + i];
			r->counts[end++] = r->counts[from + n + i] - taken[i];
		}
	if (kanon_stop(&r->pace, 16 * n))
		r->cancelled = true;
	allowed = allowed && (sum == rows || kanon_class_allowed(r->problem, r->types + from, r->counts + from,
															 end - from, rows - sum));
	memcpy(r->types + from, r->types + from + n, n * sizeof(uint32_t));
	memcpy(r->counts + from, r->counts + from + n, n * sizeof(int64_t));
	return allowed;
}

/* As few rows of a cluster as will do, or all. */
static void
try_cluster(Repair *r, uint32_t cluster, Drawing *d, uint64_t *seen)
{
	double loss = r->shape->rest - r->charge[cluster];
	int64_t rows = r->held.rows[cluster];
	int64_t least = kanon_rest_strict(r->problem) ? r->problem->k - r->held.rows[r->n] : 1;
	size_t from = held_list(&r->held, r->n, r->types, r->counts, 0);
	size_t n = held_list(&r->held, cluster, r->types, r->counts, from) - from;

	least = least > 0 ? least : 1;
	for (int64_t more = 0; !r->cancelled; more = more == 0 ? 1 : 2 * more)
	{
		int64_t wanted = least + more < rows ? least + more : rows;

		if ((double) wanted * loss >= d->cost)
			return;
		for (int up = wanted < rows; up >= 0; up--)
		{
			int64_t sum = draw_rows(r, from, n, rows, wanted, up != 0, d->taken);

			*seen += from + 2 * n;
			if ((double) sum * loss >= d->cost || !may_be_drawn(r, from, n, rows, sum, d->taken))
				continue;
			d->cost = (double) sum * loss;
			d->cluster = cluster;
			memcpy(d->best, d->taken, n * sizeof(int64_t));
		}
		if (wanted == rows)
			return;
	}
}

static KanonStatus
find_draw(Repair *r, Drawing *d)
{
	KanonKeyed *order = kanon_take(&r->scratch, r->alive, 2 * sizeof(KanonKeyed));

	*d = (Drawing){.cluster = NOBODY,
				   .cost = INFINITY,
				   .taken = kanon_take(&r->scratch, r->parts->nflows, sizeof(int64_t)),
				   .best = kanon_take(&r->scratch, r->parts->nflows, sizeof(int64_t))};
	if (r->scratch.failed)
		return KANON_NO_MEMORY;
	/* those of which a row loses least; then those of which all do */
	for (int whole = 0; whole < 2; whole++)
	{
		uint32_t n = 0;
		uint64_t seen = 0;

		for (uint32_t i = r->head; i != NOBODY; i = r->after[i])
			order[n++] = (KanonKeyed){
				(r->shape->rest - r->charge[i]) * (whole != 0 ? (double) r->held.rows[i] : 1), i};
		kanon_sort(order, order + n, n, sizeof(KanonKeyed), kanon_compare_keyed, NULL);
		for (uint32_t i = 0; i < n && i < JOINED && seen < LOOKED_AT && !r->cancelled && !r->pace.late; i++)
			try_cluster(r, order[i].item, d, &seen);
	}
	kanon_drop(&r->scratch, order);
	return r->cancelled ? KANON_CANCELLED : KANON_OK;
}

/* The rows that were drawn join the rest. */
static KanonStatus
draw(Repair *r, const Drawing *d)
{
	Held *held = &r->held;
	size_t at = 0;
	uint32_t left;
	uint32_t next;
	int64_t sum = 0;

	for (uint32_t i = held->first[d->cluster]; i != NOTHING; i = held->items[i].next)
		sum += d->best[at++];
	if (sum == held->rows[d->cluster])
	{
		repair_to_rest(r, d->cluster);
		return KANON_OK;
	}
	r->draw = (Draw){d->cluster, kanon_take0(&r->scratch, held->values.n, sizeof(int64_t))};
	if (r->draw.rows == NULL)
		return KANON_NO_MEMORY;
	left = held->first[d->cluster];
	held->rows[d->cluster] = 0;
	held->length[d->cluster] = 0;
	held->first[d->cluster] = held->last[d->cluster] = NOTHING;
	for (at = 0; left != NOTHING; left = next, at++)
	{
		HeldRows rows = held->items[left];

		next = rows.next;
		r->draw.rows[held->values.of[rows.type]] += d->best[at];
		if (d->best[at] > 0)
			held_add(held, r->n, rows.type, d->best[at]);
		if (rows.rows > d->best[at])
			held_add(held, d->cluster, rows.type, rows.rows - d->best[at]);
	}
	return KANON_OK;
}

/* ---- clusters join it ---- */

/* One after the other, those that lose least by it first. */
static KanonStatus
add_clusters(Repair *r)
{
	KanonKeyed *order = kanon_take(&r->scratch, r->alive, 2 * sizeof(KanonKeyed));
	uint32_t n = 0;
	uint32_t at = 0;

	if (order == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = r->head; i != NOBODY; i = r->after[i])
		order[n++] = (KanonKeyed){(double) r->held.rows[i] * (r->shape->rest - r->charge[i]), i};
	kanon_sort(order, order + n, n, sizeof(KanonKeyed), kanon_compare_keyed, NULL);
	while (at < n && !rest_keeps(r, NOBODY) && !r->cancelled)
	{
		uint32_t end = at + 1 + (r->pace.late ? at : at / JOINED);
		uint64_t seen = 0;

		for (uint32_t i = at; i < n && i < at + JOINED && seen < LOOKED_AT && !r->cancelled && !r->pace.late;
			 i++)
		{
			seen += r->held.length[r->n] + r->held.length[order[i].item];
			if (rest_keeps(r, order[i].item))
			{
				KanonKeyed chosen = order[i];

				order[i] = order[at];
				order[at] = chosen;
				end = at + 1;
				break;
			}
		}
		while (at < n && at < end)
			repair_to_rest(r, order[at++].item);
	}
	return r->cancelled ? KANON_CANCELLED : KANON_OK;
}

KanonStatus
repair_rest(Repair *r, bool *changed)
{
	Joining *joining;
	Drawing drawing;
	KanonStatus status;

	*changed = false;
	if (rest_keeps(r, NOBODY))
		return KANON_OK;
	*changed = true;
	if (r->shape->whole)
	{
		status = add_clusters(r);
		return status != KANON_OK ? status : rest_keeps(r, NOBODY) ? KANON_OK : KANON_REST_FORBIDDEN;
	}
	joining = kanon_take0(&r->scratch, 1, sizeof(Joining));
	if (joining == NULL)
		return KANON_NO_MEMORY;
	status = find_draw(r, &drawing);
	/* there is one draw in all */
	if (r->draw.rows != NULL && drawing.cluster != NOBODY)
		drawing = (Drawing){.cluster = NOBODY, .cost = INFINITY};
	if (status == KANON_OK && !r->pace.late)
		status = join(r, drawing.cost + (double) r->held.rows[r->n] * r->shape->rest, joining);
	if (status == KANON_OK && joining->n > 0)
	{
		leave_rest(r, joining);
		return KANON_OK;
	}
	if (status == KANON_OK)
		status = drawing.cluster != NOBODY ? draw(r, &drawing) : add_clusters(r);
	if (status != KANON_OK)
		return status;
	return rest_keeps(r, NOBODY) ? KANON_OK : KANON_REST_FORBIDDEN;
}
