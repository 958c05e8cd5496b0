/*
 * penalty.c: the normalized certainty penalty of groups, and how one is divided.
 *
 * J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu, "Utility-based anonymization
 * using local recoding", KDD 2006.  A row loses of each quasi-identifier, by its
 * weight: of a range its share of the column's; in a hierarchy the share of the
 * column's values below the group's lowest common node; of a set the share of
 * its values; all of it where a difference is not shown.
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"
#include "util/sort.h"

static KanonStatus
open_range(KanonScratch *scratch, PenaltyAxis *axis)
{
	const ClusterQi *qi = axis->qi;

	axis->place = kanon_take(scratch, axis->column->distinct, sizeof(double));
	if (axis->place == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t v = 0; v < axis->column->distinct; v++)
	{
		double number = cluster_number(qi, v);

		axis->place[v] = !isfinite(number) ? NAN
						 : qi->span > 0    ? qi->weight * ((number * qi->scale - qi->low) / qi->span)
										   : 0;
	}
	return KANON_OK;
}

/* Computes for each node the share of level-0 values below it. */
static KanonStatus
open_levels(KanonScratch *scratch, KanonPace *pace, uint32_t ntypes, PenaltyAxis *axis)
{
	const KanonColumn *column = axis->column;
	bool *seen = kanon_take0(scratch, column->distinct, sizeof(bool));
	size_t nodes = 0;

	for (int l = 0; l < axis->qi->levels; l++)
	{
		axis->share_from[l] = nodes;
		nodes += column[l].distinct;
	}
	axis->share = kanon_take0(scratch, nodes, sizeof(double));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < ntypes; i++)
	{
		if (!seen[column->code[i]])
			for (int l = 0; l < axis->qi->levels; l++)
				axis->share[axis->share_from[l] + column[l].code[i]] += axis->qi->weight / column->distinct;
		seen[column->code[i]] = true;
	}
	kanon_drop(scratch, seen);
	return kanon_stop(pace, ntypes) ? KANON_CANCELLED : KANON_OK;
}

KanonStatus
penalty_open(const ClusterLayout *layout, KanonScratch *scratch, KanonPace *pace, Penalty *penalty)
{
	const KanonProblem *problem = layout->problem;
	KanonStatus status = KANON_OK;

	memset(penalty, 0, sizeof(*penalty));
	penalty->layout = layout;
	penalty->ncolumns = problem->ncolumns;
	for (int q = 0; q < layout->nqis && status == KANON_OK; q++)
	{
		PenaltyAxis *axis = &penalty->axis[penalty->naxes++];

		axis->qi = &layout->qi[q];
		axis->column = cluster_column(layout, axis->qi);
		axis->bits_from = penalty->nwords;
		if (axis->qi->show == KANON_CLUSTER_RANGE)
			status = open_range(scratch, axis);
		else if (axis->qi->show == KANON_CLUSTER_HIERARCHY && axis->qi->levels > 1)
			status = open_levels(scratch, pace, problem->ntypes, axis);
		else if (axis->qi->show == KANON_CLUSTER_SET && axis->column->distinct <= 64 * PENALTY_SET_WORDS)
			axis->words = (int) (axis->column->distinct + 63) / 64;
		axis->hull = 2 * axis->qi->first;
		axis->weight = axis->qi->weight;
		axis->plain = axis->place == NULL && axis->share == NULL && axis->qi->show != KANON_CLUSTER_SET;
		penalty->nwords += axis->words;
	}
	penalty->size = sizeof(PenaltyGroup) + 2 * (size_t) penalty->ncolumns * sizeof(uint32_t) +
					(size_t) penalty->nwords * sizeof(uint64_t);
	return status;
}

void
penalty_single(const Penalty *penalty, uint32_t type, int64_t rows, PenaltyGroup *group)
{
	uint64_t *bits = penalty_bits(penalty, group);

	group->rows = rows;
	group->each = 0;
	for (int c = 0; c < penalty->ncolumns; c++)
		group->hull[2 * c] = group->hull[2 * c + 1] = penalty->layout->problem->columns[c].code[type];
	memset(bits, 0, (size_t) penalty->nwords * sizeof(uint64_t));
	for (int a = 0; a < penalty->naxes; a++)
		if (penalty->axis[a].words > 0)
		{
			uint32_t code = penalty->axis[a].column->code[type];

			bits[penalty->axis[a].bits_from + (int) (code / 64)] |= UINT64_C(1) << code % 64;
		}
}

/* The penalty of a quasi-identifier with levels or sets, of which the union has these values. */
static double
upper_penalty(const Penalty *penalty, const PenaltyAxis *axis, const PenaltyGroup *a, const PenaltyGroup *b,
			  uint32_t low, uint32_t high)
{
	const ClusterQi *qi = axis->qi;
	const uint32_t *x = a->hull + axis->hull;
	const uint32_t *y = b->hull + axis->hull;

	for (int l = 1; l < qi->levels && axis->share != NULL; l++)
	{
		low = x[2 * l] < y[2 * l] ? x[2 * l] : y[2 * l];
		high = x[2 * l + 1] > y[2 * l + 1] ? x[2 * l + 1] : y[2 * l + 1];
		if (low == high)
			return axis->share[axis->share_from[l] + low];
	}
	if (qi->show != KANON_CLUSTER_SET)
		return qi->weight;
	if (axis->words > 0)
	{
		const uint64_t *p = penalty_bits(penalty, a) + axis->bits_from;
		const uint64_t *q = penalty_bits(penalty, b) + axis->bits_from;
		int n = 0;

		for (int w = 0; w < axis->words; w++)
			n += __builtin_popcountll(p[w] | q[w]);
		return qi->weight * n / axis->column->distinct;
	}
	return qi->weight * (high - low + 1) / axis->column->distinct;
}

double
penalty_union(const Penalty *penalty, const PenaltyGroup *a, const PenaltyGroup *b, double limit)
{
	double sum = 0;

	for (int i = 0; i < penalty->naxes && sum <= limit; i++)
	{
		const PenaltyAxis *axis = &penalty->axis[i];
		const uint32_t *x = a->hull + axis->hull;
		const uint32_t *y = b->hull + axis->hull;
		uint32_t low = x[0] < y[0] ? x[0] : y[0];
		uint32_t high = x[1] > y[1] ? x[1] : y[1];

		if (low == high)
			continue;
		if (axis->plain)
			sum += axis->weight;
		else if (axis->place != NULL)
		{
			double share = axis->place[high] - axis->place[low];

			sum += isnan(share) ? axis->weight : share;
		}
		else
			sum += upper_penalty(penalty, axis, a, b, low, high);
	}
	return sum;
}

void
penalty_merge(const Penalty *penalty, PenaltyGroup *a, const PenaltyGroup *b)
{
	uint64_t *bits = penalty_bits(penalty, a);
	const uint64_t *more = penalty_bits(penalty, b);

	a->each = penalty_union(penalty, a, b, INFINITY);
	a->rows += b->rows;
	for (int c = 0; c < penalty->ncolumns; c++)
	{
		if (b->hull[2 * c] < a->hull[2 * c])
			a->hull[2 * c] = b->hull[2 * c];
		if (b->hull[2 * c + 1] > a->hull[2 * c + 1])
			a->hull[2 * c + 1] = b->hull[2 * c + 1];
	}
	for (int w = 0; w < penalty->nwords; w++)
		bits[w] |= more[w];
}

/* ---- dividing ---- */

/* The member farthest from a type. */
static size_t
farthest(const Penalty *penalty, const PenaltyMember *members, size_t n, uint32_t type, PenaltyGroup *from,
		 PenaltyGroup *other)
{
	double most = -1;
	size_t best = 0;

	penalty_single(penalty, type, 1, from);
	for (size_t i = 0; i < n; i++)
	{
		double apart;

		penalty_single(penalty, members[i].type, 1, other);
		apart = penalty_union(penalty, from, other, INFINITY);
		if (apart > most)
		{
			most = apart;
			best = i;
		}
	}
	return best;
}

static int
compare_nearer(const void *a, const void *b, void *arg)
{
	const PenaltyMember *left = a;
	const PenaltyMember *right = b;

	(void) arg;
	if (left->nearer != right->nearer)
		return left->nearer < right->nearer ? -1 : 1;
	return left->type < right->type ? -1 : left->type > right->type;
}

/* The most decided first, whichever end they are near to. */
static int
compare_decided(const void *a, const void *b, void *arg)
{
	const PenaltyMember *left = a;
	const PenaltyMember *right = b;

	if (fabs(left->nearer) != fabs(right->nearer))
		return fabs(left->nearer) > fabs(right->nearer) ? -1 : 1;
	return compare_nearer(a, b, arg);
}

/*
 * Two far members are the ends (false: no two differ); each of the others goes to the end whose group
 * then has the smaller penalty.  Members that went to the first end get a negative
 * place, the others a positive one: by how much nearer they are.
 */
static bool
choose_ends(const Penalty *penalty, PenaltyMember *members, size_t n, PenaltyGroup *group[3],
			PenaltyMember *scratch)
{
	size_t u = 0;
	size_t v = farthest(penalty, members, n, members[u].type, group[0], group[2]);

	for (int turn = 0; turn < 2; turn++)
	{
		u = v;
		v = farthest(penalty, members, n, members[u].type, group[0], group[2]);
	}
	penalty_single(penalty, members[u].type, members[u].rows, group[0]);
	penalty_single(penalty, members[v].type, members[v].rows, group[1]);
	if (penalty_union(penalty, group[0], group[1], INFINITY) <= 0)
		return false;
	for (size_t i = 0; i < n; i++)
	{
		penalty_single(penalty, members[i].type, members[i].rows, group[2]);
		members[i].nearer = penalty_union(penalty, group[0], group[2], INFINITY) -
							penalty_union(penalty, group[1], group[2], INFINITY);
	}
	kanon_sort(members, scratch, n, sizeof(PenaltyMember), compare_decided, NULL);
	for (size_t i = 0; i < n; i++)
	{
		double near = fabs(members[i].nearer);
		double first, second;

		penalty_single(penalty, members[i].type, members[i].rows, group[2]);
		first = penalty_union(penalty, group[0], group[2], INFINITY) - group[0]->each;
		second = penalty_union(penalty, group[1], group[2], INFINITY) - group[1]->each;
		if (first < second || (first == second && group[0]->rows <= group[1]->rows))
		{
			members[i].nearer = -1 - near;
			penalty_merge(penalty, group[0], group[2]);
		}
		else
		{
			members[i].nearer = 1 + near;
			penalty_merge(penalty, group[1], group[2]);
		}
	}
	return true;
}

/*
 * Divides members with 2k rows or more into two parts of at least k rows, alike
 * within: the first *half members are one (a type may become two: there is room
 * for one more).  *half is 0 when no two members differ.  scratch has room for n + 1 members.
 */
static KanonStatus
penalty_divide(const Penalty *penalty, KanonPace *pace, PenaltyMember *members, size_t *n, size_t *half,
			   PenaltyMember *scratch)
{
	KanonEnv *env = penalty->layout->problem->env;
	int64_t k = penalty->layout->problem->k;
	char *memory = kanon_alloc(env, 3, (penalty->size + 7) / 8 * 8);
	PenaltyGroup *group[3];
	int64_t all = 0, first = 0, wanted;
	size_t at = 0;
	bool differ;

	*half = 0;
	if (memory == NULL)
		return KANON_NO_MEMORY;
	for (int i = 0; i < 3; i++)
		group[i] = (PenaltyGroup *) (memory + (size_t) i * ((penalty->size + 7) / 8 * 8));
	differ = choose_ends(penalty, members, *n, group, scratch);
	kanon_free(env, memory);
	if (kanon_stop(pace, *n * 16 * (uint64_t) penalty->ncolumns))
		return KANON_CANCELLED;
	if (!differ)
		return KANON_OK;
	kanon_sort(members, scratch, *n, sizeof(PenaltyMember), compare_nearer, NULL);
	for (size_t i = 0; i < *n; i++)
	{
		all += members[i].rows;
		if (members[i].nearer < 0)
			first += members[i].rows;
	}
	wanted = first < k ? k : all - first < k ? all - k : first;
	while (wanted > 0 && members[at].rows <= wanted)
		wanted -= members[at++].rows;
	if (wanted > 0)
	{
		memmove(members + at + 1, members + at, (*n - at) * sizeof(PenaltyMember));
		members[at].rows = wanted;
		members[++at].rows -= wanted;
		++*n;
	}
	*half = at;
	return KANON_OK;
}

static KanonStatus
add_cluster(const Penalty *penalty, const PenaltyMember *members, size_t n, ClusterParts *parts)
{
	for (size_t i = 0; i < n; i++)
		if (!kanon_parts_add(penalty->layout->problem->env, parts, members[i].type, parts->nclusters,
							 members[i].rows))
			return KANON_NO_MEMORY;
	parts->nclusters++;
	return KANON_OK;
}

/*
 * Depth first, the last part first, so that a part that grows by a member has room
 * at its end; parts wait as where they begin, in the scratch of those before them.
 */
KanonStatus
penalty_divide_all(const Penalty *penalty, KanonPace *pace, PenaltyMember *members, size_t n,
				   PenaltyMember *scratch, ClusterParts *parts)
{
	KanonScratch waiters = {.env = penalty->layout->problem->env};
	int64_t k = penalty->layout->problem->k;
	size_t room = 64;
	size_t waiting = 1;
	double all = (double) n;
	size_t *from = kanon_take(&waiters, room, sizeof(size_t));
	KanonStatus status = from == NULL ? KANON_NO_MEMORY : KANON_OK;

	if (from != NULL)
		from[0] = 0;
	while (status == KANON_OK && waiting > 0)
	{
		PenaltyMember *part = members + from[waiting - 1];
		size_t nmembers = n - from[waiting - 1];
		size_t half = 0;
		int64_t rows = 0;

		for (size_t i = 0; i < nmembers; i++)
			rows += part[i].rows;
		if (rows / 2 >= k && nmembers > 1)
			status = penalty_divide(penalty, pace, part, &nmembers, &half, scratch);
		if (status == KANON_OK && half == 0)
		{
			status = add_cluster(penalty, part, nmembers, parts);
			n = from[--waiting];
			kanon_tell_share(pace, 1 - (double) n / all);
			continue;
		}
		n = from[waiting - 1] + nmembers;
		if (status == KANON_OK && !KANON_GROW(&waiters, &room, waiting + 1, KANON_ARRAY(from)))
			status = KANON_NO_MEMORY;
		if (status == KANON_OK)
		{
			from[waiting] = from[waiting - 1] + half;
			waiting++;
		}
	}
	kanon_scratch_free(&waiters);
	return status;
}

/*
 * ---- Clusters by dividing, by the normalized certainty penalty.
 *
 * J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu, "Utility-based anonymization
 * using local recoding", KDD 2006, top-down greedy search: two rows far apart are
 * the ends, each row goes to the end where it adds the smaller penalty, and so on
 * in both parts.  Where the paper lets a part be too small and mends it at the end,
 * here the rows that belong there the least come with it at once.
 */

static KanonStatus
divide(const Penalty *penalty, KanonPace *pace, ClusterParts *parts)
{
	const KanonProblem *problem = penalty->layout->problem;
	KanonEnv *env = problem->env;
	size_t room = 2 * (size_t) problem->ntypes;
	PenaltyMember *members = kanon_alloc(env, room, 2 * sizeof(PenaltyMember));
	KanonStatus status = members == NULL ? KANON_NO_MEMORY : KANON_OK;

	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
		members[i] = (PenaltyMember){i, problem->rows[i], 0};
	if (status == KANON_OK)
		status = penalty_divide_all(penalty, pace, members, problem->ntypes, members + room, parts);
	kanon_free(env, members);
	return status;
}

KanonStatus
kanon_solve_top_down(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	KanonPace pace = kanon_pace_at_once(env, "top_down");
	ClusterLayout layout;
	ClusterParts parts = {0};
	KanonScratch scratch = {.env = env};
	Penalty penalty;
	KanonStatus status;

	if (kanon_by_types(problem))
		return cluster_solve_ruled(problem, kanon_solve_top_down, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	cluster_layout(problem, &layout);
	status =
		layout.rows < problem->k ? cluster_too_few(report) : penalty_open(&layout, &scratch, &pace, &penalty);
	if (status == KANON_OK)
		status = divide(&penalty, &pace, &parts);
	kanon_scratch_free(&scratch);
	if (status == KANON_OK)
		status = cluster_conclude(&layout, &parts, release, report);
	report->lower_bound = -INFINITY;
	report->seconds = env->now(env->arg) - start;
	kanon_parts_free(env, &parts);
	return status;
}
