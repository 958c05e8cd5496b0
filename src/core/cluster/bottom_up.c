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

#include "cluster/clustering.h"
#include "util/number.h"

#define NOBODY UINT32_MAX

/* A limit is a bit above what it says, an estimate in floats a bit below. */
#define ABOVE (1 + 1e-12)
#define BELOW 4e-6F
#define UNIT ((1 - BELOW) / PENALTY_ONE)

/* The least of floats is found in so many lanes side by side. */
#define LANES 16

/*
 * The base of estimates, one for each group that is there; a float is enough for numbers that are
 * rounded down anyhow.
 */
typedef struct Groups
{
	float *rows;
	float *most;   /* rows of a union, at most: k where it would give some away */
	float *lost;   /* by all its rows together, of the weight of all quasi-identifiers */
	float *helped; /* its rows where they are too few */
	float *more;   /* [room] added penalty by row helped, not below */
	float *least;  /* of each block of them */
} Groups;

typedef struct BottomUp
{
	const KanonProblem *problem;
	KanonEnv *env;
	KanonScratch scratch;
	ClusterLayout layout;
	Penalty penalty;
	PenaltyMany many; /* as they are in `alive` */
	Groups groups;
	KanonPace pace;
	double start;
	double deadline; /* env->now */
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

/* A group that is there has changed: what estimates go by follows. */
static void
note(BottomUp *b, uint32_t i)
{
	const PenaltyGroup *group = group_at(b, i);
	uint32_t a = b->place[i];

	penalty_many_put(&b->many, a, group);
	b->groups.rows[a] = (float) group->rows;
	b->groups.lost[a] = (float) ((double) group->rows * (group->each / b->layout.weight));
	b->groups.most[a] = to_give(b, i) > 0 ? (float) b->problem->k : INFINITY;
	b->groups.helped[a] = b->by_row && group->rows < b->problem->k ? (float) group->rows : 0;
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

	if (status == KANON_OK)
		status = penalty_many_open(&b->penalty, n, &b->scratch, &b->many);
	b->groups.rows = kanon_take0(&b->scratch, b->many.room, sizeof(float));
	b->groups.lost = kanon_take0(&b->scratch, b->many.room, sizeof(float));
	b->groups.most = kanon_take0(&b->scratch, b->many.room, sizeof(float));
	b->groups.helped = kanon_take0(&b->scratch, b->many.room, sizeof(float));
	b->groups.more = kanon_take(&b->scratch, b->many.room, sizeof(float));
	b->groups.least = kanon_take(&b->scratch, b->many.room / PENALTY_BLOCK, sizeof(float));
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
		if (status == KANON_OK)
			note(b, i);
		if (kanon_stop(&b->pace, (uint64_t) b->problem->ncolumns))
			status = KANON_CANCELLED;
	}
	b->nalive = (uint32_t) n;
	return status;
}

/* The least that a group of each block would add to one, or a bound below it; the least of that. */
INTO_THEM float
estimate_block(const Groups *groups, uint32_t own, float alone, const int32_t *restrict each, size_t block)
{
	const float *restrict rows = groups->rows + block;
	const float *restrict most = groups->most + block;
	const float *restrict lost = groups->lost + block;
	const float *restrict helped = groups->helped + block;
	float more[PENALTY_BLOCK]; /* (none of the others, as compilers see) */
	float own_rows = groups->rows[own];
	float own_lost = groups->lost[own];
	float lane[LANES];
	float least = INFINITY;

	for (int i = 0; i < PENALTY_BLOCK; i++)
	{
		float both = own_rows + rows[i];
		float all = both < most[i] ? both : most[i];
		float before = own_lost + lost[i];
		float added = (all * ((float) each[i] * UNIT) - before * (1 + BELOW)) / (alone + helped[i]);

		more[i] = added > 0 ? added : 0; /* (what is no number, too) */
	}
	for (int i = 0; i < LANES; i++)
		lane[i] = more[i];
	for (int from = LANES; from < PENALTY_BLOCK; from += LANES)
		for (int i = 0; i < LANES; i++)
			lane[i] = more[from + i] < lane[i] ? more[from + i] : lane[i];
	for (int i = 0; i < LANES; i++)
		least = lane[i] < least ? lane[i] : least;
	memcpy(groups->more + block, more, sizeof(more));
	return least;
}

LONG_VECTORS static void
estimate(BottomUp *b, uint32_t own)
{
	float alone = b->by_row ? b->groups.rows[own] : 1;

	for (size_t block = 0; block < b->nalive; block += PENALTY_BLOCK)
		b->groups.least[block / PENALTY_BLOCK] =
			estimate_block(&b->groups, own, alone, b->many.least + block, block);
}

/* A small group's best so far. */
typedef struct Best
{
	uint32_t group;
	double more; /* penalty that it adds */
} Best;

/*
 * The group with which a small one adds the least penalty: for each row that was in
 * too small a group, where every column shows how far its values differ (Adult: less
 * is lost by 3 to 17 per cent), or else in all (more by up to 48 per cent otherwise).
 * A group with 2k-1 rows or more of one type loses alone whatever it gives away.
 */
static void
try(const BottomUp *b, uint32_t small, uint32_t i, Best *best)
{
	const PenaltyGroup *own = group_at(b, small);
	const PenaltyGroup *other = group_at(b, i);
	double mine = (double) own->rows * own->each;
	bool gives = to_give(b, i) >= b->problem->k - own->rows;
	double rows = gives ? (double) b->problem->k : (double) (own->rows + other->rows);
	double before = mine + (gives ? 0 : (double) other->rows * other->each);
	double helped =
		!b->by_row ? 1 : (double) own->rows + (other->rows < b->problem->k ? (double) other->rows : 0);
	/* (a limit that is a bit too high does no harm) */
	double limit = (best->more * helped + before) / rows * ABOVE;
	double each = penalty_union(&b->penalty, own, other, limit);
	/* (what is more than doubles can say is no number when it is taken from itself) */
	double more = fmin((rows * each - before) / helped, INFINITY);

	if (each <= limit && (more < best->more || (more == best->more && i < best->group)))
		*best = (Best){i, more};
}

/* Groups that may be better than the best so far (which may be a bit below 0, where none is told to be). */
static KanonStatus
find_best(BottomUp *b, uint32_t small, uint32_t *group)
{
	const PenaltyGroup *own = group_at(b, small);
	const Groups *groups = &b->groups;
	uint32_t nblocks = (b->nalive + PENALTY_BLOCK - 1) / PENALTY_BLOCK;
	Best best = {NOBODY, INFINITY};
	uint64_t work = penalty_many(&b->many, b->nalive, own);

	estimate(b, b->place[small]);
	for (uint32_t block = 0; block < nblocks; block++)
	{
		uint32_t end = (block + 1) * PENALTY_BLOCK < b->nalive ? (block + 1) * PENALTY_BLOCK : b->nalive;

		/* (compared so that what is no number is not passed over) */
		if (groups->least[block] * b->layout.weight > fmax(best.more, 0))
			continue;
		for (uint32_t a = block * PENALTY_BLOCK; a < end; a++)
			if (!(groups->more[a] * b->layout.weight > fmax(best.more, 0)) && b->alive[a] != small)
				try(b, small, b->alive[a], &best);
	}
	*group = best.group;
	return kanon_stop(&b->pace, work + b->nalive) ? KANON_CANCELLED : KANON_OK;
}

static void
forget(BottomUp *b, uint32_t i)
{
	uint32_t moved = b->alive[--b->nalive];

	b->alive[b->place[i]] = moved;
	b->place[moved] = b->place[i];
	if (moved != i)
		note(b, moved);
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
	note(b, from);
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

/* The share that is done; in a search that time may end, at least the share of its time. */
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
		note(b, small);
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
	BottomUp b = {.problem = problem,
				  .env = env,
				  .scratch = {.env = env},
				  .pace = kanon_pace_at_once(env, "bottom_up"),
				  .start = start,
				  .deadline = start + problem->time_limit};
	KanonStatus status;

	if (kanon_by_types(problem))
		return cluster_solve_ruled(problem, kanon_solve_bottom_up, release, report);
	if (cluster_wants_parts(problem))
		return cluster_solve_by_parts(problem, kanon_solve_bottom_up, release, report);
	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	b.pace.within = true;
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
