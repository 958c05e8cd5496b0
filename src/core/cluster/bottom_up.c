/*
 * bottom_up.c: clusters by merging, by the normalized certainty penalty.
 *
 * J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu, "Utility-based anonymization
 * using local recoding", KDD 2006, bottom-up search: as long as a group has fewer
 * than k rows, it is merged with the one with which it adds the least penalty; a
 * group that has 2k rows then is divided (penalty.c).
 *
 * That compares every small group with every other.  When time_limit is over, the rows of
 * the groups that are still too small are divided as mondrian.c divides a table, which takes
 * no time to speak of.
 *
 * Groups start as row types.  One of 2k-1 rows or more has rows to give: a small
 * group takes from it just what it lacks, and k rows stay.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster/penalty.h"

#define NOBODY UINT32_MAX

/* Numbers of rows whose reciprocals, a bit above what they are, are at hand. */
#define RECIPROCALS 64
#define ABOVE (1 + 1e-12)

typedef struct BottomUp
{
	const KanonProblem *problem;
	KanonEnv *env;
	KanonScratch scratch;
	ClusterLayout layout;
	Penalty penalty;
	KanonPace pace;
	double start;
	double deadline; /* env->now */
	double reciprocal[RECIPROCALS];
	bool by_row;     /* added penalty counts by row helped */
	uint32_t *alive; /* [nalive] groups that are there */
	uint32_t nalive;
	uint32_t *place; /* [ntypes] of a group in alive */
	size_t stride;   /* bytes of a group */
	char *group;     /* [ntypes] */
	uint32_t *first; /* [ntypes] its members */
	uint32_t *last;
	uint32_t nmembers;
	size_t member_room;
	uint32_t *next; /* of a member in its group */
	PenaltyMember *member;
	uint32_t *queue;    /* [ntypes] small groups, round and round */
	ClusterParts parts; /* groups that are done */
} BottomUp;

static PenaltyGroup *
group_at(const BottomUp *b, uint32_t i)
{
	return (PenaltyGroup *) (b->group + i * b->stride);
}

/* Rows that a group of one type can give away. */
static int64_t
to_give(const BottomUp *b, uint32_t i)
{
	const PenaltyGroup *group = group_at(b, i);

	return b->first[i] == b->last[i] ? group->rows - b->problem->k : 0;
}

static KanonStatus
add_member(BottomUp *b, uint32_t i, uint32_t type, int64_t rows)
{
	if (!KANON_GROW(&b->scratch, &b->member_room, b->nmembers + (size_t) 1, KANON_ARRAY(b->member),
					KANON_ARRAY(b->next)))
		return KANON_NO_MEMORY;
	b->member[b->nmembers] = (PenaltyMember){type, rows, 0};
	b->next[b->nmembers] = NOBODY;
	if (b->first[i] == NOBODY)
		b->first[i] = b->nmembers;
	else
		b->next[b->last[i]] = b->nmembers;
	b->last[i] = b->nmembers++;
	return KANON_OK;
}

static KanonStatus
prepare(BottomUp *b)
{
	size_t n = b->problem->ntypes;
	KanonStatus status = penalty_open(&b->layout, &b->scratch, &b->pace, &b->penalty);

	for (int rows = 1; rows < RECIPROCALS; rows++)
		b->reciprocal[rows] = ABOVE / rows;
	b->stride = (b->penalty.size + 7) / 8 * 8;
	b->alive = kanon_take(&b->scratch, n, sizeof(uint32_t));
	b->place = kanon_take(&b->scratch, n, sizeof(uint32_t));
	b->group = kanon_take(&b->scratch, n, b->stride);
	b->first = kanon_take(&b->scratch, n, sizeof(uint32_t));
	b->last = kanon_take(&b->scratch, n, sizeof(uint32_t));
	b->queue = kanon_take(&b->scratch, n, sizeof(uint32_t));
	if (b->scratch.failed)
		status = KANON_NO_MEMORY;
	for (uint32_t i = 0; i < n && status == KANON_OK; i++)
	{
		penalty_single(&b->penalty, i, b->problem->rows[i], group_at(b, i));
		b->first[i] = NOBODY;
		status = add_member(b, i, i, b->problem->rows[i]);
		b->alive[i] = b->place[i] = i;
		if (kanon_stop(&b->pace, (uint64_t) b->problem->ncolumns))
			status = KANON_CANCELLED;
	}
	b->nalive = (uint32_t) n;
	return status;
}

/*
 * The group with which a small one adds the least penalty: for each row that was in
 * too small a group, where every column shows how far its values differ (Adult: less
 * is lost by 3 to 17 per cent), or else in all (more by up to 48 per cent otherwise).
 * What a group of 2k-1 rows or more of one type gives away, it loses alone.
 */
static KanonStatus
find_best(BottomUp *b, uint32_t small, uint32_t *best)
{
	const PenaltyGroup *own = group_at(b, small);
	double mine = (double) own->rows * own->each;
	int64_t lacks = b->problem->k - own->rows;
	double least = INFINITY;

	*best = NOBODY;
	for (uint32_t a = 0; a < b->nalive; a++)
	{
		uint32_t i = b->alive[a];
		const PenaltyGroup *other = group_at(b, i);
		bool gives = to_give(b, i) >= lacks;
		double rows = gives ? (double) b->problem->k : (double) (own->rows + other->rows);
		double before = mine + (gives ? 0 : (double) other->rows * other->each);
		double helped =
			!b->by_row ? 1 : (double) own->rows + (other->rows < b->problem->k ? (double) other->rows : 0);
		double limit, each, more;

		if (i == small)
			continue;
		/* (a limit that is a bit too high does no harm) */
		limit = rows < RECIPROCALS ? (least * helped + before) * b->reciprocal[(int) rows]
								   : (least * helped + before) / rows * ABOVE;
		each = penalty_union(&b->penalty, own, other, limit);
		if (each > limit)
			continue;
		more = (rows * each - before) / helped;
		if (more < least || (more == least && i < *best))
		{
			least = more;
			*best = i;
		}
	}
	return kanon_stop(&b->pace, (uint64_t) b->nalive * 8) ? KANON_CANCELLED : KANON_OK;
}

static void
forget(BottomUp *b, uint32_t i)
{
	uint32_t moved = b->alive[--b->nalive];

	b->alive[b->place[i]] = moved;
	b->place[moved] = b->place[i];
}

/* A small group takes what it lacks from one that has more than enough. */
static KanonStatus
take(BottomUp *b, uint32_t small, uint32_t from)
{
	PenaltyGroup *giver = group_at(b, from);
	int64_t lacks = b->problem->k - group_at(b, small)->rows;
	int64_t stay = giver->rows - lacks;
	KanonStatus status = add_member(b, small, b->member[b->first[from]].type, lacks);

	giver->rows = lacks;
	penalty_merge(&b->penalty, group_at(b, small), giver);
	giver->rows = stay;
	b->member[b->first[from]].rows = stay;
	return status;
}

static void
merge(BottomUp *b, uint32_t into, uint32_t from)
{
	penalty_merge(&b->penalty, group_at(b, into), group_at(b, from));
	b->next[b->last[into]] = b->first[from];
	b->last[into] = b->last[from];
	forget(b, from);
}

/* Members that are linked up as clusters: divided when there are enough of them. */
static KanonStatus
finish_members(BottomUp *b, uint32_t first)
{
	size_t room = 0;
	size_t n = 0;
	PenaltyMember *part;
	KanonStatus status;

	for (uint32_t m = first; m != NOBODY; m = b->next[m])
		room += 2;
	part = kanon_alloc(b->env, room, 2 * sizeof(PenaltyMember));
	status = part == NULL ? KANON_NO_MEMORY : KANON_OK;
	for (uint32_t m = first; m != NOBODY && status == KANON_OK; m = b->next[m])
		part[n++] = b->member[m];
	if (status == KANON_OK)
		status = penalty_divide_all(&b->penalty, &b->pace, part, n, part + room, &b->parts);
	kanon_free(b->env, part);
	return status;
}

/*
 * The rows of all groups that are too small together, when they are enough for a
 * cluster: then these groups are gone.
 */
static KanonStatus
divide_rest(BottomUp *b, KanonReport *report)
{
	int64_t *rest = kanon_alloc0(b->env, b->problem->ntypes, sizeof(int64_t));
	uint32_t groups = 0;
	int64_t rows = 0;
	KanonStatus status = KANON_OK;

	if (rest == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t a = 0; a < b->nalive; a++)
		if (group_at(b, b->alive[a])->rows < b->problem->k)
			rows += group_at(b, b->alive[a])->rows;
	for (uint32_t a = b->nalive; a-- > 0 && rows >= b->problem->k;)
	{
		uint32_t i = b->alive[a];

		if (group_at(b, i)->rows >= b->problem->k)
			continue;
		for (uint32_t m = b->first[i]; m != NOBODY; m = b->next[m])
			rest[b->member[m].type] += b->member[m].rows;
		groups++;
		forget(b, i);
	}
	if (groups > 0)
	{
		snprintf(report->detail, sizeof(report->detail),
				 "when time_limit was over, %" PRIu32
				 " groups were too small, and were divided instead of merged",
				 groups);
		status = mondrian_divide(&b->layout, rest, &b->parts);
	}
	kanon_free(b->env, rest);
	return status;
}

/* Of a search that time ends, too, the share that is done is at least that of its time. */
static double
share_done(const BottomUp *b, double now, uint32_t waiting)
{
	double work = 1 - (double) waiting / b->problem->ntypes;

	if (now >= b->deadline)
		return 1;
	return isfinite(b->deadline) ? fmax(work, (now - b->start) / (b->deadline - b->start)) : work;
}

/* Merges small groups until there are none; those that grew are looked at last. */
static KanonStatus
merge_all(BottomUp *b, KanonReport *report)
{
	uint32_t n = b->problem->ntypes;
	uint32_t head = 0;
	uint32_t waiting = 0;
	bool late = false;
	KanonStatus status = KANON_OK;

	for (uint32_t i = 0; i < n; i++)
		if (b->problem->rows[i] < b->problem->k)
			b->queue[waiting++] = i;
	while (status == KANON_OK && waiting > 0)
	{
		uint32_t small = b->queue[head];
		double now = b->env->now(b->env->arg);
		uint32_t best;

		if (!late && now >= b->deadline)
		{
			late = true;
			status = divide_rest(b, report);
			if (status != KANON_OK)
				break;
		}
		head = (head + 1) % n;
		waiting--;
		b->pace.share = share_done(b, now, waiting);
		/* it was merged into another, or another into it */
		if (b->place[small] >= b->nalive || b->alive[b->place[small]] != small ||
			group_at(b, small)->rows >= b->problem->k)
			continue;
		status = find_best(b, small, &best);
		if (status != KANON_OK)
			break;
		if (to_give(b, best) >= b->problem->k - group_at(b, small)->rows)
			status = take(b, small, best);
		else
			merge(b, small, best);
		if (group_at(b, small)->rows < b->problem->k)
			b->queue[(head + waiting++) % n] = small;
	}
	return status;
}

KanonStatus
kanon_solve_bottom_up(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	BottomUp b = {
		.problem = problem,
		.env = env,
		.scratch = {.env = env},
		.pace = {.env = env, .phase = "bottom_up", .rows_left = -1, .work = KANON_POLL_WORK, .within = true},
		.start = start,
		.deadline = start + problem->time_limit};
	KanonStatus status;

	if (kanon_by_types(problem))
		return cluster_solve_ruled(problem, kanon_solve_bottom_up, release, report);
	if (cluster_wants_parts(problem))
		return cluster_solve_by_parts(problem, kanon_solve_bottom_up, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	cluster_layout(problem, &b.layout);
	b.by_row = true;
	for (int q = 0; q < b.layout.nqis; q++)
		b.by_row = b.by_row && b.layout.qi[q].show != KANON_CLUSTER_SUPPRESS;
	status = b.layout.rows < problem->k ? cluster_too_few(report) : prepare(&b);
	if (status == KANON_OK)
		status = merge_all(&b, report);
	for (uint32_t a = 0; a < b.nalive && status == KANON_OK; a++)
		status = finish_members(&b, b.first[b.alive[a]]);
	if (status == KANON_OK)
		status = cluster_conclude(&b.layout, &b.parts, release, report);
	report->lower_bound = -INFINITY;
	report->seconds = env->now(env->arg) - start;
	kanon_scratch_free(&b.scratch);
	kanon_parts_free(env, &b.parts);
	return status;
}
