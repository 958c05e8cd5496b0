/*
 * lagrange_team.c: several processes who share a pass over the instances.
 *
 * A pass asks of each instance by itself what it would open for at the prices, so the
 * members of a team each ask some of them, of about as many pairs.  What belongs to an instance is
 * summed up afterwards, in the order of the instances, and rows taken are whole numbers, whose
 * sums are exact: the bound and the prices are those of one process, to the last bit.
 */
#include <string.h>

#include "program/lagrange.h"

/* The memory that all members see: this, and arrays at so many bytes from its beginning. */
typedef struct Block
{
	IlpJob job;
	int64_t k;
	uint32_t m;
	uint32_t nf;
	int members;
	bool active;                             /* the pass at hand is over the active instances */
	uint32_t from[2][KANON_MAX_MEMBERS + 1]; /* each member's first instance; of the active ones */
	KanonStatus status[KANON_MAX_MEMBERS];
	size_t w, n, start, type; /* the model's */
	size_t y, g, list;
	size_t slack; /* [members - 1][m] rows taken by each but the caller, negative */
	size_t cand;  /* [members - 1][m] their scratch: whatever grows with the model is paid for at once */
} Block;

struct IlpMember
{
	Lagrange l;
	IlpModel model;
	KanonPace pace;
	Block *block;
	int number;
	double *slack; /* [m] */
};

struct LagrangeTeam
{
	IlpMember self; /* with the caller's arrays */
	const KanonTeam *host;
	bool gone; /* it is not to be closed */
};

/* The places of the arrays for so many members; the size of all. */
static size_t
lay_out(Block *block, const IlpModel *model, int members)
{
	size_t size = (sizeof(Block) + 7) / 8 * 8;

	memset(block, 0, sizeof(*block));
	block->job = ILP_JOB_PRICES;
	block->k = model->k;
	block->m = model->m;
	block->nf = model->nf;
	block->w = ilp_block_put(&size, model->nf, sizeof(double));
	block->n = ilp_block_put(&size, model->m, sizeof(int64_t));
	block->start = ilp_block_put(&size, (size_t) model->nf + 1, sizeof(size_t));
	block->type = ilp_block_put(&size, model->start[model->nf], sizeof(uint32_t));
	block->y = ilp_block_put(&size, model->m, sizeof(double));
	block->g = ilp_block_put(&size, model->nf, sizeof(double));
	block->list = ilp_block_put(&size, model->nf, sizeof(uint32_t));
	block->slack = ilp_block_put(&size, (size_t) model->m * (size_t) (members - 1), sizeof(double));
	block->cand = ilp_block_put(&size, (size_t) model->m * (size_t) (members - 1), sizeof(IlpCandidate));
	return size;
}

/* ---- a member ---- */

/* The model and the prices are the block's, and what is taken goes there. */
static void
see_block(IlpMember *member, KanonEnv *env, Block *block, int number)
{
	member->block = block;
	member->number = number;
	member->pace = kanon_pace(env, "bound");
	member->model = (IlpModel){.env = env,
							   .k = block->k,
							   .m = block->m,
							   .nf = block->nf,
							   .w = ilp_block_at(block, block->w),
							   .n = ilp_block_at(block, block->n),
							   .start = ilp_block_at(block, block->start),
							   .type = ilp_block_at(block, block->type)};
	member->slack = (double *) ilp_block_at(block, block->slack) + (size_t) (number - 1) * block->m;
	member->l = (Lagrange){.model = &member->model,
						   .pace = &member->pace,
						   .y = ilp_block_at(block, block->y),
						   .cand = (IlpCandidate *) ilp_block_at(block, block->cand) +
								   (size_t) (number - 1) * block->m};
}

IlpMember *
ilp_member_open(KanonEnv *env, void *block, int number)
{
	IlpMember *member = kanon_alloc0(env, 1, sizeof(*member));

	if (member != NULL)
		see_block(member, env, block, number);
	return member;
}

void
ilp_member_close(IlpMember *member)
{
	if (member != NULL)
		kanon_free(member->model.env, member);
}

/* A member's share of the instances. */
static KanonStatus
do_share(IlpMember *member)
{
	Block *block = member->block;
	const size_t *start = member->l.model->start;
	const uint32_t *list = ilp_block_at(block, block->list);
	const uint32_t *from = block->from[block->active] + member->number;
	double *g = ilp_block_at(block, block->g);

	for (uint32_t a = from[0]; a < from[1]; a++)
	{
		uint32_t f = block->active ? list[a] : a;

		g[a] = lagrange_cost(&member->l, f, block->active ? member->slack : NULL);
		if (kanon_step(member->l.pace, (start[f + 1] - start[f]) * 8))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

void
ilp_member_work(IlpMember *member)
{
	Block *block = member->block;

	if (member->number >= block->members)
		return;
	if (block->active)
		memset(member->slack, 0, block->m * sizeof(*member->slack));
	block->status[member->number] = do_share(member);
}

/* ---- the caller ---- */

/* Shares some instances (NULL: all) out, by their pairs; how many pairs there are. */
static size_t
share_out(const IlpModel *model, const uint32_t *list, uint32_t n, int members, uint32_t *from)
{
	size_t total = 0;
	size_t sum = 0;
	int member = 0;

	for (uint32_t a = 0; a < n; a++)
	{
		uint32_t f = list != NULL ? list[a] : a;

		total += model->start[f + 1] - model->start[f];
	}
	for (uint32_t a = 0; a < n; a++)
	{
		uint32_t f = list != NULL ? list[a] : a;

		for (; member < members && sum >= total / (size_t) members * (size_t) member; member++)
			from[member] = a;
		sum += model->start[f + 1] - model->start[f];
	}
	for (; member <= members; member++)
		from[member] = n;
	return total;
}

KanonStatus
lagrange_team_open(Lagrange *l)
{
	const IlpModel *model = l->model;
	KanonEnv *env = model->env;
	const KanonTeam *host = env->pricing;
	Block plan;
	Block *block;
	LagrangeTeam *team;
	int members;

	/* (what ends by its work has to be asked after as much of it) */
	if (host == NULL || host->most < 2 || model->start[model->nf] < ILP_TEAM_PAIRS || model->group != NULL ||
		model->values_needed > 0 || l->pace->most > 0)
		return KANON_OK;
	team = kanon_take0(&l->scratch, 1, sizeof(*team));
	if (team == NULL)
		return KANON_NO_MEMORY;
	block = host->open(host->arg, lay_out(&plan, model, host->most), &members);
	if (block == NULL)
		return KANON_OK;
	*block = plan;
	block->members = members;
	memcpy(ilp_block_at(block, block->w), model->w, model->nf * sizeof(*model->w));
	memcpy(ilp_block_at(block, block->n), model->n, model->m * sizeof(*model->n));
	memcpy(ilp_block_at(block, block->start), model->start, ((size_t) model->nf + 1) * sizeof(*model->start));
	memcpy(ilp_block_at(block, block->type), model->type, model->start[model->nf] * sizeof(*model->type));
	share_out(model, NULL, model->nf, members, block->from[false]);
	team->host = host;
	team->self = (IlpMember){.l = *l, .block = block, .slack = l->slack};
	l->team = team;
	return KANON_OK;
}

void
lagrange_team_close(Lagrange *l)
{
	if (l->team != NULL && !l->team->gone)
		l->team->host->close(l->team->host->arg);
	l->team = NULL;
}

void
lagrange_team_list(Lagrange *l)
{
	Block *block = l->team->self.block;

	memcpy(ilp_block_at(block, block->list), l->active, l->nactive * sizeof(*l->active));
	share_out(l->model, l->active, l->nactive, block->members, block->from[true]);
}

/* Pairs of the instances that others than the caller ask. */
static size_t
pairs_of_others(const Lagrange *l, const Block *block, bool active)
{
	const size_t *start = l->model->start;
	size_t pairs = 0;

	for (uint32_t a = block->from[active][1]; a < (active ? l->nactive : l->model->nf); a++)
	{
		uint32_t f = active ? l->active[a] : a;

		pairs += start[f + 1] - start[f];
	}
	return pairs;
}

KanonStatus
lagrange_team_pass(Lagrange *l, bool active, double *g)
{
	LagrangeTeam *team = l->team;
	Block *block = team->self.block;
	const double *slack = ilp_block_at(block, block->slack);
	uint32_t m = l->model->m;

	block->active = active;
	team->self.l.y = l->y; /* (prices at hand and best ones change places) */
	memcpy(ilp_block_at(block, block->y), l->y, m * sizeof(*l->y));
	team->host->start(team->host->arg);
	block->status[0] = do_share(&team->self);
	team->gone = !team->host->wait(team->host->arg);
	if (team->gone)
		return KANON_CANCELLED;
	for (int member = 0; member < block->members; member++)
		if (block->status[member] != KANON_OK)
			return block->status[member];
	memcpy(g, ilp_block_at(block, block->g), (active ? l->nactive : block->nf) * sizeof(*g));
	for (int member = 1; member < block->members && active; member++, slack += m)
		for (uint32_t i = 0; i < m; i++)
			l->slack[i] += slack[i];
	return kanon_step(l->pace, pairs_of_others(l, block, active) * 8) ? KANON_CANCELLED : KANON_OK;
}
