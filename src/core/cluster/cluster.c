/*
 * cluster.c: the methods that make classes of any shape, and what they have in
 * common: the quasi-identifiers over their levels, and how a partition of the
 * rows becomes a release.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster/clustering.h"
#include "privacy/rules.h"
#include "model/model.h"
#include "util/pace.h"
#include "util/sort.h"

/* ---- quasi-identifiers ---- */

/* Where its finite numbers lie. */
static void
find_span(ClusterQi *qi, uint32_t distinct)
{
	double low = INFINITY;
	double high = -INFINITY;

	for (uint32_t v = 0; v < distinct; v++)
		if (isfinite(cluster_number(qi, v)))
		{
			low = fmin(low, cluster_number(qi, v));
			high = fmax(high, cluster_number(qi, v));
		}
	/* -1e308 .. 1e308 is a range, too, though not a double */
	qi->scale = isfinite(high - low) ? 1 : 0.5;
	qi->low = low * qi->scale;
	qi->span = high > low ? high * qi->scale - qi->low : 0;
}

void
cluster_layout(const KanonProblem *problem, ClusterLayout *layout)
{
	memset(layout, 0, sizeof(*layout));
	layout->problem = problem;
	for (int c = 0; c < problem->ncolumns;)
	{
		const KanonColumn *column = &problem->columns[c];
		ClusterQi *qi = &layout->qi[layout->nqis];

		qi->first = c;
		qi->number = column->number;
		do
		{
			qi->weight += problem->columns[c].weight;
			qi->levels++;
			c++;
		} while (c < problem->ncolumns && problem->columns[c].level > 0);
		qi->show = problem->cluster->show[layout->nqis];
		find_span(qi, column->distinct);
		layout->weight += qi->weight;
		layout->nqis++;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		layout->rows += problem->rows[i];
}

double
cluster_share(const ClusterQi *qi, uint32_t low, uint32_t high)
{
	double from = cluster_number(qi, low);
	double to = cluster_number(qi, high);

	if (!isfinite(from) || !isfinite(to))
		return 1;
	return qi->span > 0 ? fmin(fabs(to * qi->scale - from * qi->scale) / qi->span, 1) : 0;
}

/* ---- partitions ---- */

KanonStatus
cluster_largest(const ClusterLayout *layout, const ClusterParts *parts, int64_t *most)
{
	int64_t *rows = kanon_alloc0(layout->problem->env, parts->nclusters, sizeof(int64_t));

	if (rows == NULL)
		return KANON_NO_MEMORY;
	for (size_t i = 0; i < parts->nflows; i++)
		rows[parts->flows[i].class_] += parts->flows[i].rows;
	*most = 0;
	for (uint32_t c = 0; c < parts->nclusters; c++)
		*most = rows[c] > *most ? rows[c] : *most;
	kanon_free(layout->problem->env, rows);
	return KANON_OK;
}

bool
cluster_asks_values(const KanonProblem *problem)
{
	return !kanon_by_types(problem) || (problem->npopulations == 0 && kanon_privacy_grows(problem->privacy) &&
										kanon_privacy_person(problem->privacy) < 0);
}

KanonStatus
cluster_too_few(KanonReport *report)
{
	snprintf(report->detail, sizeof(report->detail), "all rows together may not be a class");
	return KANON_INFEASIBLE;
}

/* ---- from a partition to a release ---- */

typedef struct Conclusion
{
	KanonScratch scratch;
	const ClusterLayout *layout;
	KanonRelease *release;
	KanonPace pace;
	KanonHull *hull;      /* [nclasses * ncolumns] */
	KanonMembers members; /* where sets are shown */
	uint64_t *seen;       /* [distinct of a set's column] number of the set that had it last */
	uint64_t sets;        /* so far */
	size_t room;          /* of the pool */
} Conclusion;

/* Flows in the order of their types, as a release wants them: a count and a pass. */
static KanonStatus
sort_flows(Conclusion *conclusion, ClusterParts *parts)
{
	const KanonProblem *problem = conclusion->layout->problem;
	KanonFlow *sorted = kanon_alloc(problem->env, parts->nflows, sizeof(KanonFlow));
	size_t *start = kanon_alloc0(problem->env, (size_t) problem->ntypes + 1, sizeof(size_t));

	if (sorted == NULL || start == NULL)
	{
		kanon_free(problem->env, sorted);
		kanon_free(problem->env, start);
		return KANON_NO_MEMORY;
	}
	for (size_t i = 0; i < parts->nflows; i++)
		start[parts->flows[i].type + 1]++;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		start[i + 1] += start[i];
	for (size_t i = 0; i < parts->nflows; i++)
		sorted[start[parts->flows[i].type]++] = parts->flows[i];
	kanon_free(problem->env, start);
	conclusion->release->flows = sorted;
	conclusion->release->nflows = parts->nflows;
	conclusion->release->nclasses = parts->nclusters;
	return kanon_stop(&conclusion->pace, parts->nflows * 4) ? KANON_CANCELLED : KANON_OK;
}

static KanonStatus
find_hulls(Conclusion *conclusion)
{
	const KanonProblem *problem = conclusion->layout->problem;
	const KanonRelease *release = conclusion->release;
	size_t width = (size_t) problem->ncolumns;

	if (conclusion->layout->region != NULL)
	{
		memcpy(conclusion->hull, conclusion->layout->region, release->nclasses * width * sizeof(KanonHull));
		return KANON_OK;
	}
	for (size_t i = 0; i < release->nclasses * width; i++)
		conclusion->hull[i] = (KanonHull){UINT32_MAX, 0};
	for (size_t i = 0; i < release->nflows; i++)
	{
		const KanonFlow *flow = &release->flows[i];

		if (kanon_stop(&conclusion->pace, width))
			return KANON_CANCELLED;
		if (flow->class_ == KANON_DROPPED)
			continue;
		for (size_t c = 0; c < width; c++)
		{
			KanonHull *hull = &conclusion->hull[flow->class_ * width + c];
			uint32_t code = problem->columns[c].code[flow->type];

			if (code < hull->low)
				hull->low = code;
			if (code > hull->high)
				hull->high = code;
		}
	}
	return KANON_OK;
}

/* Lists the row types of each class, for the sets. */
static KanonStatus
list_members(Conclusion *conclusion)
{
	const ClusterLayout *layout = conclusion->layout;
	const KanonRelease *release = conclusion->release;
	uint32_t distinct = 0;
	KanonStatus status;

	for (int q = 0; q < layout->nqis; q++)
		if (layout->qi[q].show == KANON_CLUSTER_SET &&
			cluster_column(layout, &layout->qi[q])->distinct > distinct)
			distinct = cluster_column(layout, &layout->qi[q])->distinct;
	if (distinct == 0)
		return KANON_OK;
	conclusion->seen = kanon_take0(&conclusion->scratch, distinct, sizeof(uint64_t));
	status = kanon_release_members(release, &conclusion->scratch, &conclusion->members);
	return status == KANON_OK && kanon_stop(&conclusion->pace, release->nflows * 4) ? KANON_CANCELLED
																					: status;
}

/* Room for that many more in the pool. */
static bool
pool_room(Conclusion *conclusion, size_t more)
{
	KanonRelease *release = conclusion->release;

	return kanon_enlarge(conclusion->layout->problem->env, &release->pool, &conclusion->room,
						 release->npool + more, sizeof(uint32_t));
}

/* The class's values in a column, in order, into the pool. */
static KanonStatus
pool_set(Conclusion *conclusion, uint32_t class, const KanonColumn *column, KanonCell *cell)
{
	KanonRelease *release = conclusion->release;
	size_t from = conclusion->members.start[class];
	size_t to = conclusion->members.start[class + 1];
	uint32_t n = 0;
	uint32_t *set;

	if (kanon_stop(&conclusion->pace, 8 * (to - from)))
		return KANON_CANCELLED;
	/* the second half is for sorting */
	if (!pool_room(conclusion, 1 + 2 * (to - from)))
		return KANON_NO_MEMORY;
	set = release->pool + release->npool + 1;
	conclusion->sets++;
	for (size_t i = from; i < to; i++)
	{
		uint32_t code = column->code[conclusion->members.type[i]];

		if (conclusion->seen[code] != conclusion->sets)
			set[n++] = code;
		conclusion->seen[code] = conclusion->sets;
	}
	kanon_sort(set, set + n, n, sizeof(uint32_t), kanon_compare_numbers, NULL);
	set[-1] = n;
	*cell = (KanonCell){KANON_SHOW_SET, (uint32_t) release->npool & KANON_MAX_TYPES};
	release->npool += (size_t) n + 1;
	return KANON_OK;
}

/* All values of a region. */
static KanonStatus
pool_region(Conclusion *conclusion, KanonHull hull, KanonCell *cell)
{
	KanonRelease *release = conclusion->release;

	if (!pool_room(conclusion, 2 + (size_t) (hull.high - hull.low)))
		return KANON_NO_MEMORY;
	*cell = (KanonCell){KANON_SHOW_SET, (uint32_t) release->npool & KANON_MAX_TYPES};
	release->pool[release->npool++] = hull.high - hull.low + 1;
	for (uint32_t code = hull.low; code <= hull.high; code++)
		release->pool[release->npool++] = code;
	return kanon_stop(&conclusion->pace, hull.high - hull.low) ? KANON_CANCELLED : KANON_OK;
}

/* A class's cell in a quasi-identifier in which its members differ. */
static KanonStatus
show_difference(Conclusion *conclusion, const ClusterQi *qi, uint32_t class, KanonHull hull, KanonCell *cell)
{
	KanonRelease *release = conclusion->release;
	const KanonColumn *column = cluster_column(conclusion->layout, qi);

	if (qi->show == KANON_CLUSTER_SET)
		return conclusion->layout->region != NULL ? pool_region(conclusion, hull, cell)
												  : pool_set(conclusion, class, column, cell);
	if (qi->show == KANON_CLUSTER_RANGE && !(column->has_null && hull.high == column->distinct - 1))
	{
		if (!pool_room(conclusion, 2))
			return KANON_NO_MEMORY;
		*cell = (KanonCell){KANON_SHOW_RANGE, (uint32_t) release->npool & KANON_MAX_TYPES};
		release->pool[release->npool++] = hull.low;
		release->pool[release->npool++] = hull.high;
	}
	return KANON_OK;
}

/* The loss of a row of a class in one quasi-identifier. */
static double
hidden(const ClusterLayout *layout, const ClusterQi *qi, const KanonHull *hull)
{
	double sum = 0;

	if (hull->low == hull->high)
		return 0;
	if (qi->show == KANON_CLUSTER_RANGE)
	{
		const KanonColumn *column = cluster_column(layout, qi);
		bool null = column->has_null && hull->high == column->distinct - 1;

		return qi->weight * (null ? 1 : cluster_share(qi, hull->low, hull->high));
	}
	if (qi->show != KANON_CLUSTER_HIERARCHY)
		return qi->weight;
	for (int l = 0; l < qi->levels && hull[l].low != hull[l].high; l++)
		sum += cluster_column(layout, qi)[l].weight;
	return sum;
}

double
cluster_hidden(const ClusterLayout *layout, const KanonHull *hull, KanonPattern *pattern)
{
	double sum = 0;

	*pattern = KANON_NONE;
	for (int q = 0; q < layout->nqis; q++)
		sum += hidden(layout, &layout->qi[q], &hull[layout->qi[q].first]);
	for (int c = 0; c < layout->problem->ncolumns; c++)
		if (hull[c].low != hull[c].high)
			kanon_add(pattern, c);
	return sum;
}

double
cluster_charge(const ClusterLayout *layout, const uint32_t *types, size_t n)
{
	double sum = 0;

	for (int q = 0; q < layout->nqis; q++)
	{
		const ClusterQi *qi = &layout->qi[q];
		KanonHull hull[KANON_MAX_COLUMNS];

		for (int l = 0; l < qi->levels; l++)
		{
			const uint32_t *code = cluster_column(layout, qi)[l].code;

			hull[l] = (KanonHull){UINT32_MAX, 0};
			for (size_t i = 0; i < n; i++)
			{
				hull[l].low = code[types[i]] < hull[l].low ? code[types[i]] : hull[l].low;
				hull[l].high = code[types[i]] > hull[l].high ? code[types[i]] : hull[l].high;
			}
		}
		sum += hidden(layout, qi, hull);
	}
	return sum;
}

/* All of a class's cells and its pattern; *cost is what a row of it loses. */
static KanonStatus
show_class(Conclusion *conclusion, uint32_t class, double *cost)
{
	const ClusterLayout *layout = conclusion->layout;
	size_t at = class * (size_t) layout->problem->ncolumns;
	KanonCell *cells = conclusion->release->cells + at;
	const KanonHull *hulls = conclusion->hull + at;
	KanonPattern pattern = KANON_NONE;
	KanonStatus status = KANON_OK;

	*cost = 0;
	for (int q = 0; q < layout->nqis && status == KANON_OK; q++)
	{
		const ClusterQi *qi = &layout->qi[q];
		bool differ = hulls[qi->first].low != hulls[qi->first].high;
		bool levels = qi->show == KANON_CLUSTER_HIERARCHY;

		*cost += hidden(layout, qi, &hulls[qi->first]);
		for (int c = qi->first; c < qi->first + qi->levels; c++)
		{
			bool one = levels ? hulls[c].low == hulls[c].high : !differ;

			cells[c] = (KanonCell){one ? KANON_SHOW_VALUE : KANON_SHOW_NOTHING,
								   one ? hulls[c].low & KANON_MAX_TYPES : 0};
			if (!one)
				kanon_add(&pattern, c);
		}
		if (differ)
			status = show_difference(conclusion, qi, class, hulls[qi->first], &cells[qi->first]);
	}
	conclusion->release->classes[class] = (KanonClass){pattern, 0};
	if (conclusion->release->npool > KANON_MAX_TYPES)
		status = KANON_NO_MEMORY;
	return status;
}

/* Rows of each class, from the flows. */
static void
count_rows(const KanonRelease *release, int64_t *rows, int64_t *dropped)
{
	for (size_t i = 0; i < release->nflows; i++)
		*(release->flows[i].class_ == KANON_DROPPED ? dropped : &rows[release->flows[i].class_]) +=
			release->flows[i].rows;
}

static KanonStatus
show_classes(Conclusion *conclusion, double *cost)
{
	const ClusterLayout *layout = conclusion->layout;
	KanonRelease *release = conclusion->release;
	int64_t *rows = kanon_alloc0(layout->problem->env, release->nclasses, sizeof(int64_t));
	int64_t dropped = 0;
	KanonStatus status = rows == NULL ? KANON_NO_MEMORY : list_members(conclusion);

	*cost = 0;
	if (status == KANON_OK)
		count_rows(release, rows, &dropped);
	for (uint32_t i = 0; i < release->nclasses && status == KANON_OK; i++)
	{
		double each;

		if (kanon_stop(&conclusion->pace, (uint64_t) layout->problem->ncolumns))
			status = KANON_CANCELLED;
		else
			status = show_class(conclusion, i, &each);
		if (status == KANON_OK)
			*cost += each * (double) rows[i];
	}
	*cost += layout->weight * (double) dropped;
	kanon_free(layout->problem->env, rows);
	return status;
}

KanonStatus
cluster_conclude(const ClusterLayout *layout, ClusterParts *parts, KanonRelease *release, KanonReport *report)
{
	const KanonProblem *problem = layout->problem;
	KanonEnv *env = problem->env;
	Conclusion conclusion = {.scratch = {.env = env},
							 .layout = layout,
							 .release = release,
							 .pace = {.env = env, .phase = "show", .work = KANON_POLL_WORK}};
	size_t ncells = (size_t) parts->nclusters * (size_t) problem->ncolumns;
	double cost = 0;
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	release->nfollow = parts->nbecame;
	release->follow = parts->became;
	status = sort_flows(&conclusion, parts);
	kanon_parts_free(env, parts);
	release->classes = kanon_alloc(env, release->nclasses, sizeof(KanonClass));
	release->cells = kanon_alloc(env, ncells, sizeof(KanonCell));
	conclusion.hull = kanon_take(&conclusion.scratch, ncells, sizeof(KanonHull));
	if (status == KANON_OK && (release->classes == NULL || release->cells == NULL || conclusion.hull == NULL))
		status = KANON_NO_MEMORY;
	if (status == KANON_OK)
		status = find_hulls(&conclusion);
	if (status == KANON_OK)
		status = show_classes(&conclusion, &cost);
	kanon_scratch_free(&conclusion.scratch);
	if (status == KANON_OK)
		status = kanon_release_finish(problem, release, report);
	if (status == KANON_OK)
		report->cost = cost;
	else
		kanon_release_free(problem, release);
	return status;
}
