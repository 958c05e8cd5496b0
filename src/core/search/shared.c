/*
 * shared.c: annealing of a large table by several processes.
 *
 * A round has a fixed number of tasks.  Each begins with the same state, tries so many moves,
 * with random numbers of its own, and notes those that it takes; then it takes them back.  After the
 * round all members make the tasks' moves, one task after the other (the caller before the others, where
 * it settles), but for those that no longer fit: a row has gone elsewhere, or a class would be left below
 * k.  Of a large table that are few, as a round moves a small part of its rows.  So every member has the
 * same state again, in which each list has the same order: whoever does which tasks, what is found is the same.
 */
#include <math.h>
#include <string.h>

#include "program/bound.h"
#include "search/search.h"
#include "util/hash.h"

/* Tasks of a round, and tries of a task: much more, and moves get in each other's way. */
#define TASKS 12
#define TRIES 32

/* Rows that a task may move: some, and so many times k. */
#define LEAST_NOTES 4096
#define NOTES_PER_K 64
#define MOST_K 1000

typedef struct Note
{
	uint32_t unit;
	uint32_t from;
	uint32_t to;
	uint32_t move; /* of the task: notes of a move follow each other */
} Note;

/* What is noted in a round, and in the one before, which is read while this one is written. */
typedef struct Notes
{
	size_t n[TASKS];
	int64_t work[TASKS];
	int64_t looks[TASKS];
} Notes;

/* The memory that all members see: this, and arrays at so many bytes from its beginning. */
typedef struct Block
{
	IlpJob job;
	int members;
	IlpModel model; /* whose arrays are: */
	size_t n, c, w, price, start, type, opt_start, opt, g;
	size_t in;      /* [units] where each is when a state is to be loaded */
	size_t note[2]; /* [TASKS][most] */
	size_t most;
	bool guided; /* there is g */
	bool priced; /* and price */
	bool load;   /* the state is another now: */
	double cost; /* its cost */
	uint64_t seed;
	uint64_t round;
	double temperature;
	double reach;
	Notes notes[2];
	KanonStatus status[KANON_MAX_MEMBERS];
} Block;

struct SearchMember
{
	IlpMember *prices; /* another job's member, and nothing else here */
	Search s;          /* another member's than the caller */
	Search *own;
	IlpModel model;
	KanonPace pace;
	KanonEnv *env;
	Block *block;
	int number;
	bool begun;
	bool made; /* the last round's moves are made already */
	/* what a task has moved, to take it back */
	KanonScratch scratch;
	SearchLog *journal;
	size_t room;
};

/* The places of the arrays, of the model's only where others are to see it; the size of all. */
static size_t
lay_out(Block *block, const Search *s, bool for_others)
{
	const IlpModel *model = s->model;
	size_t size = (sizeof(Block) + 7) / 8 * 8;
	size_t pairs = for_others ? model->start[model->nf] : 0;
	size_t m = for_others ? model->m : 0;
	size_t nf = for_others ? model->nf : 0;

	memset(block, 0, sizeof(*block));
	block->job = ILP_JOB_SEARCH;
	block->members = 1;
	block->n = ilp_block_put(&size, m, sizeof(*model->n));
	block->c = ilp_block_put(&size, m, sizeof(*model->c));
	block->w = ilp_block_put(&size, nf, sizeof(*model->w));
	block->priced = model->price != NULL;
	block->price = ilp_block_put(&size, block->priced ? m : 0, sizeof(*model->price));
	block->start = ilp_block_put(&size, nf + 1, sizeof(*model->start));
	block->type = ilp_block_put(&size, pairs, sizeof(*model->type));
	block->opt_start = ilp_block_put(&size, m + 1, sizeof(*model->opt_start));
	block->opt = ilp_block_put(&size, pairs, sizeof(*model->opt));
	block->guided = s->g != NULL;
	block->g = ilp_block_put(&size, block->guided ? nf : 0, sizeof(*s->g));
	block->in = ilp_block_put(&size, s->n, sizeof(*s->best));
	block->most = LEAST_NOTES + NOTES_PER_K * (size_t) kanon_min(MOST_K, (double) model->k);
	for (int j = 0; j < 2; j++)
		block->note[j] = ilp_block_put(&size, TASKS * block->most, sizeof(Note));
	return size;
}

static void
fill_block(Block *block, const Search *s)
{
	const IlpModel *model = s->model;
	size_t pairs = model->start[model->nf];

	block->model = (IlpModel){.k = model->k,
							  .integral = model->integral,
							  .least = model->least,
							  .wide = model->wide,
							  .base = model->base,
							  .m = model->m,
							  .nf = model->nf};
	memcpy(ilp_block_at(block, block->n), model->n, model->m * sizeof(*model->n));
	memcpy(ilp_block_at(block, block->c), model->c, model->m * sizeof(*model->c));
	memcpy(ilp_block_at(block, block->w), model->w, model->nf * sizeof(*model->w));
	if (model->price != NULL)
		memcpy(ilp_block_at(block, block->price), model->price, model->m * sizeof(*model->price));
	memcpy(ilp_block_at(block, block->start), model->start, ((size_t) model->nf + 1) * sizeof(*model->start));
	memcpy(ilp_block_at(block, block->type), model->type, pairs * sizeof(*model->type));
	memcpy(ilp_block_at(block, block->opt_start), model->opt_start,
		   ((size_t) model->m + 1) * sizeof(*model->opt_start));
	memcpy(ilp_block_at(block, block->opt), model->opt, pairs * sizeof(*model->opt));
	if (s->g != NULL)
		memcpy(ilp_block_at(block, block->g), s->g, model->nf * sizeof(*s->g));
}

/* ---- what every member does ---- */

/* A task, from the state at hand and back to it. */
static KanonStatus
do_task(SearchMember *member, int task)
{
	Block *block = member->block;
	Search *s = member->own;
	int side = (int) (block->round & 1);
	Notes *notes = &block->notes[side];
	Note *note = (Note *) ilp_block_at(block, block->note[side]) + (size_t) task * block->most;
	int64_t begin = kanon_worked(s->pace);
	int64_t looks = s->looks;
	double cost = s->cost;
	size_t n = 0;
	KanonStatus status = KANON_OK;

	s->random = kanon_mix(block->seed + block->round * TASKS + (uint64_t) task) | 1;
	for (int tries = 0; tries < TRIES && status == KANON_OK; tries++)
	{
		double delta;

		if (kanon_step(s->pace, 1))
			status = KANON_CANCELLED;
		else if (!search_try(s, &delta))
			status = KANON_NO_MEMORY;
		else if (delta == INFINITY)
			continue;
		else if (n + s->nlog > block->most || (delta > 0 && search_random(s) >= exp(-delta / s->temperature)))
			search_undo(s);
		else if (!KANON_GROW(&member->scratch, &member->room, n + s->nlog, KANON_ARRAY(member->journal)))
			status = KANON_NO_MEMORY;
		else
			for (size_t j = 0; j < s->nlog; j++, n++)
			{
				uint32_t u = s->log_unit[j];

				member->journal[n] = (SearchLog){u, s->log_from[j], s->log_after[j]};
				note[n] = (Note){u, s->log_from[j], s->log_to[j], (uint32_t) tries};
			}
	}
	for (size_t j = n; j > 0; j--)
		search_put_back(s, &member->journal[j - 1]);
	s->cost = cost;
	notes->n[task] = n;
	notes->work[task] = kanon_worked(s->pace) - begin;
	notes->looks[task] = s->looks - looks;
	return status;
}

static KanonStatus
do_tasks(SearchMember *member)
{
	Block *block = member->block;
	KanonStatus status = KANON_OK;

	member->own->temperature = block->temperature;
	member->own->reach = block->reach;
	for (int task = member->number; task < TASKS && status == KANON_OK; task += block->members)
		status = do_task(member, task);
	return status;
}

/* Makes the moves that the tasks of a round have noted, as far as they fit. */
static KanonStatus
make_moves(SearchMember *member, int side)
{
	Block *block = member->block;
	Search *s = member->own;

	for (int task = 0; task < TASKS; task++)
	{
		const Note *note = (Note *) ilp_block_at(block, block->note[side]) + (size_t) task * block->most;
		size_t n = block->notes[side].n[task];

		for (size_t lo = 0, hi; lo < n; lo = hi)
		{
			bool fits = true;

			s->nlog = 0;
			for (hi = lo; hi < n && note[hi].move == note[lo].move; hi++)
			{
				if (!fits || s->unit[note[hi].unit].in != note[hi].from)
					fits = false;
				else if (!search_move(s, note[hi].unit, note[hi].to))
					return KANON_NO_MEMORY;
			}
			for (size_t j = lo; j < hi && fits; j++)
				fits = search_is_whole(s, note[j].from) && search_is_whole(s, note[j].to);
			if (!fits)
				search_undo(s);
		}
	}
	s->nlog = 0;
	return KANON_OK;
}

/* The last round's moves, or another state, first. */
static KanonStatus
catch_up(SearchMember *member)
{
	Block *block = member->block;

	if (!block->load)
		return member->made ? KANON_OK : make_moves(member, (int) (block->round & 1) ^ 1);
	search_load(member->own, ilp_block_at(block, block->in));
	member->own->cost = block->cost;
	return KANON_OK;
}

/* ---- another member ---- */

static KanonStatus
begin_search(SearchMember *member)
{
	Block *block = member->block;

	member->model = block->model;
	member->model.env = member->env;
	member->model.n = ilp_block_at(block, block->n);
	member->model.c = ilp_block_at(block, block->c);
	member->model.w = ilp_block_at(block, block->w);
	member->model.price = block->priced ? ilp_block_at(block, block->price) : NULL;
	member->model.start = ilp_block_at(block, block->start);
	member->model.type = ilp_block_at(block, block->type);
	member->model.opt_start = ilp_block_at(block, block->opt_start);
	member->model.opt = ilp_block_at(block, block->opt);
	member->pace = kanon_pace(member->env, "search");
	member->s = (Search){.model = &member->model,
						 .env = member->env,
						 .scratch = {.env = member->env},
						 .pace = &member->pace,
						 .g = block->guided ? ilp_block_at(block, block->g) : NULL,
						 .exact = true};
	member->own = &member->s;
	member->begun = true;
	return search_alloc(member->own) ? KANON_OK : KANON_NO_MEMORY;
}

SearchMember *
search_member_open(KanonEnv *env, void *block, int number)
{
	SearchMember *member = kanon_alloc0(env, 1, sizeof(*member));

	if (member == NULL)
		return NULL;
	member->env = env;
	member->block = block;
	member->number = number;
	member->scratch.env = env;
	if (*(IlpJob *) block == ILP_JOB_PRICES && (member->prices = ilp_member_open(env, block, number)) == NULL)
	{
		kanon_free(env, member);
		return NULL;
	}
	return member;
}

void
search_member_work(SearchMember *member)
{
	KanonStatus *status = &member->block->status[member->number];

	if (member->prices != NULL)
	{
		ilp_member_work(member->prices);
		return;
	}
	if (member->number >= member->block->members)
		return;
	*status = member->begun ? KANON_OK : begin_search(member);
	if (*status == KANON_OK)
		*status = catch_up(member);
	if (*status == KANON_OK)
		*status = do_tasks(member);
}

void
search_member_close(SearchMember *member)
{
	if (member == NULL)
		return;
	ilp_member_close(member->prices);
	if (member->begun)
		kanon_scratch_free(&member->s.scratch);
	kanon_scratch_free(&member->scratch);
	kanon_free(member->env, member);
}

/* ---- the caller ---- */

/* Memory for the rounds, and others to share them, if there are any. */
static KanonStatus
open_team(SearchShared *shared, Search *s)
{
	const KanonTeam *host = s->env->pricing;
	Block plan;
	size_t size = lay_out(&plan, s, true);
	Block *block = NULL;
	int members = 1;

	if (host != NULL && host->most >= 2)
		block = host->open(host->arg, size, &members);
	if (block != NULL)
	{
		*block = plan;
		block->members = members;
		fill_block(block, s);
		shared->host = host;
	}
	else
	{
		size = lay_out(&plan, s, false);
		block = kanon_take(&s->scratch, 1, size);
		if (block == NULL)
			return KANON_NO_MEMORY;
		*block = plan;
	}
	shared->member = kanon_take0(&s->scratch, 1, sizeof(*shared->member));
	if (shared->member == NULL)
		return KANON_NO_MEMORY;
	*shared->member = (SearchMember){.own = s, .env = s->env, .block = block, .scratch = {.env = s->env}};
	return KANON_OK;
}

KanonStatus
search_shared_open(SearchShared *shared, Search *s)
{
	KanonStatus status;

	memset(shared, 0, sizeof(*shared));
	s->exact = true;
	status = open_team(shared, s);
	if (status != KANON_OK)
		return status;
	shared->member->block->seed = s->random;
	shared->changed = true;
	return KANON_OK;
}

void
search_shared_close(SearchShared *shared)
{
	if (shared->host != NULL)
		shared->host->close(shared->host->arg);
	shared->host = NULL;
	if (shared->member != NULL)
		kanon_scratch_free(&shared->member->scratch);
}

KanonStatus
search_shared_round(SearchShared *shared, Search *s)
{
	Block *block = shared->member->block;
	bool together = block->members > 1;
	bool lacking = false;
	int64_t looks = s->looks;
	const Notes *notes;
	KanonStatus status;

	block->round++;
	block->load = shared->changed;
	block->cost = s->cost;
	block->temperature = s->temperature;
	block->reach = s->reach;
	if (block->load)
		search_where(s, ilp_block_at(block, block->in));
	shared->changed = false;
	if (together)
		shared->host->start(shared->host->arg);
	status = catch_up(shared->member);
	shared->member->made = false;
	if (status == KANON_OK)
		status = do_tasks(shared->member);
	if (together && !shared->host->wait(shared->host->arg))
	{
		shared->host = NULL; /* it is not to be closed */
		return KANON_CANCELLED;
	}
	for (int member = 1; member < block->members; member++)
		if (block->status[member] == KANON_NO_MEMORY)
			lacking = true;
		else if (status == KANON_OK)
			status = block->status[member];
	if (lacking && status == KANON_OK)
	{
		/* who has no memory for the state leaves it to the caller, to whom the tasks are no others */
		block->members = 1;
		status = do_tasks(shared->member);
	}
	/* (looks decide what is crossed when: each task's count once, whoever did it, or did it again) */
	s->looks = looks;
	notes = &block->notes[block->round & 1];
	for (int task = 0; task < TASKS && status == KANON_OK; task++)
	{
		shared->work += notes->work[task];
		s->looks += notes->looks[task];
		if (task % block->members == 0)
			continue;
		if (kanon_step(s->pace, (uint64_t) notes->work[task]))
			status = KANON_CANCELLED;
	}
	return status;
}

KanonStatus
search_shared_settle(SearchShared *shared)
{
	if (shared->changed || shared->member->made)
		return KANON_OK;
	shared->member->made = true;
	return make_moves(shared->member, (int) (shared->member->block->round & 1));
}
