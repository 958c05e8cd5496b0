/*
 * full_domain_check.c: counts the classes of a node.
 *
 * What is counted are row types, not rows, and not always all of them: a node's
 * groups are made of the groups of a lower node where a history has some
 * (roll-up: LeFevre et al., SIGMOD 2005; the bounded history buffer: Kohlmayer,
 * Prasser, Eckert, Kemper, Kuhn, "Flash: efficient, stable and optimal
 * k-anonymity", PASSAT 2012).
 *
 * A team divides the row types by the highest level of one quasi-identifier, so
 * that as long as this is not suppressed no group is in two parts, and each
 * member works on his own.  When it is suppressed, the members' groups are
 * merged: there are fewer then.
 */
#include <stdio.h>
#include <string.h>

#include "full_domain_block.h"

/* Groups that a check begins with: from so many on a team takes part. */
#ifndef FULL_DOMAIN_SHARED
#define FULL_DOMAIN_SHARED 50000
#endif

/* Lower nodes whose groups are remembered. */
#define MAX_SNAPSHOTS 256

/* Room for them: so many times the row types, but not more than this many bytes or once these. */
#define ARENA_SHARE 16
#define ARENA_BYTES ((size_t) 32 * 1024 * 1024)

struct Checker
{
	const KanonProblem *problem;
	const Lattice *lattice;
	const KanonTeam *team;		/* NULL: alone */
	int			members;
	KanonPace  *pace;
	Block	   *block;
	bool		own_block;
	KanonMember *self;
	Groups		base;			/* the row types */
	int			divider;		/* quasi-identifier by which a team divides them */
	uint32_t   *order;			/* [ntypes] of each entry its type; NULL: the same */
	size_t		arena_at;		/* words from the block's beginning */
	size_t		arena_words;
	size_t		arena_next;		/* where the next snapshot goes */
	uint64_t	age;
	Groups	   *history;		/* [MAX_SNAPSHOTS] */
	int64_t		rolled_up;
	/* for rules that look at types, and for the release */
	uint32_t   *group;			/* [ntypes] */
	uint32_t   *member;			/* [ntypes] types by group */
	uint32_t   *start;			/* [ntypes + 2] */
	uint32_t   *rest;			/* [ntypes] types whose rows are suppressed */
};

/* ---- setting up ---- */

/* Gives each quasi-identifier its bits. */
static void
lay_out_entries(const KanonProblem *problem, const Lattice *lattice, Block *block)
{
	int			used = 0;

	block->nqis = lattice->nqis;
	block->words = 1;
	for (int q = 0; q < lattice->nqis; q++)
	{
		uint32_t	distinct = 1;
		int			bits;

		for (int level = 0; level < lattice->height[q]; level++)
			if (problem->columns[lattice->first[q] + level].distinct > distinct)
				distinct = problem->columns[lattice->first[q] + level].distinct;
		bits = distinct > 1 ? 32 - __builtin_clz(distinct - 1) : 0;
		if (used + bits > 64)
		{
			block->words++;
			used = 0;
		}
		block->height[q] = lattice->height[q];
		block->first[q] = lattice->first[q];
		block->word[q] = block->words - 1;
		block->shift[q] = bits > 0 ? used : 0;
		block->mask[q] = (UINT64_C(1) << bits) - 1;
		used += bits;
	}
}

/* Places for the tables of a column; returns the first free word. */
static size_t
lay_out_tables(const KanonProblem *problem, const Lattice *lattice, bool of_cells, Block *block, size_t at)
{
	for (int q = 0; q < lattice->nqis; q++)
		for (int level = 0; level < lattice->height[q]; level++)
		{
			int			c = lattice->first[q] + level;
			size_t		distinct = problem->columns[c].distinct;

			block->distinct[c] = problem->columns[c].distinct;
			block->up_at[c] = at;
			at += ((size_t) (lattice->height[q] - level - 1) * distinct + 1) / 2;
			block->kept_at[c] = at;
			if (of_cells)
				at += distinct;
		}
	return at;
}

/* The codes of every level at every higher one; they must nest. */
static KanonStatus
fill_up(const Checker *checker, KanonReport *report)
{
	const KanonProblem *problem = checker->problem;
	const Block *block = checker->block;

	for (int c = problem->ncolumns - 1, above = 0; c >= 0; c--)
	{
		const KanonColumn *column = &problem->columns[c];
		uint32_t   *up = (uint32_t *) words_at(block, block->up_at[c]);
		const uint32_t *next;

		if (above > 0)
		{
			memset(up, 0xff, column->distinct * sizeof(uint32_t));
			for (uint32_t type = 0; type < problem->ntypes; type++)
			{
				uint32_t	code = problem->columns[c + 1].code[type];

				if (kanon_stop(checker->pace, 2))
					return KANON_CANCELLED;
				if (up[column->code[type]] != UINT32_MAX && up[column->code[type]] != code)
				{
					snprintf(report->detail, sizeof(report->detail),
							 "levels %d and %d of a hierarchy do not nest", column->level, column->level + 1);
					return KANON_BROKEN;
				}
				up[column->code[type]] = code;
			}
			next = (const uint32_t *) words_at(block, block->up_at[c + 1]);
			for (int step = 1; step < above; step++)
				for (uint32_t v = 0; v < column->distinct; v++)
					up[(size_t) step * column->distinct + v] = up[v] == UINT32_MAX ? UINT32_MAX
						: next[(size_t) (step - 1) * block->distinct[c + 1] + up[v]];
		}
		above = column->level == 0 ? 0 : above + 1;
	}
	return KANON_OK;
}

/*
 * Gives the values of a quasi-identifier's highest level to the members, and
 * returns how many row types the busiest one has.  load: scratch [distinct].
 */
static uint32_t
divide(const Checker *checker, int q, uint32_t *load, uint8_t *part)
{
	const Lattice *lattice = checker->lattice;
	const KanonColumn *column = &checker->problem->columns[lattice->first[q] + lattice->height[q] - 1];
	uint32_t	busy[KANON_MAX_MEMBERS] = {0};
	uint32_t	most = 0;

	memset(load, 0, column->distinct * sizeof(uint32_t));
	for (uint32_t type = 0; type < checker->problem->ntypes; type++)
		load[column->code[type]]++;
	for (uint32_t v = 0; v < column->distinct; v++)
	{
		int			least = 0;

		for (int m = 1; m < checker->members; m++)
			if (busy[m] < busy[least])
				least = m;
		busy[least] += load[v];
		part[v] = (uint8_t) least;
		if (busy[least] > most)
			most = busy[least];
	}
	return most;
}

/* Chooses how a team divides the row types, and in what order they lie then. */
static KanonStatus
divide_types(Checker *checker, uint32_t *load, uint8_t *part)
{
	const KanonProblem *problem = checker->problem;
	const Lattice *lattice = checker->lattice;
	const uint32_t *code;
	uint32_t	least = UINT32_MAX;
	uint32_t	next[KANON_MAX_MEMBERS] = {0};

	for (int q = 0; q < lattice->nqis; q++)
	{
		uint32_t	most = divide(checker, q, load, part);

		if (kanon_stop(checker->pace, problem->ntypes))
			return KANON_CANCELLED;
		if (most < least)
		{
			least = most;
			checker->divider = q;
		}
	}
	(void) divide(checker, checker->divider, load, part);
	code = problem->columns[lattice->first[checker->divider] + lattice->height[checker->divider] - 1].code;
	checker->base.nparts = checker->members;
	memset(checker->base.count, 0, sizeof(checker->base.count));
	for (uint32_t type = 0; type < problem->ntypes; type++)
		checker->base.count[part[code[type]]]++;
	for (int m = 1; m < checker->members; m++)
	{
		next[m] = next[m - 1] + (uint32_t) checker->base.count[m - 1];
		checker->base.at[m] = checker->base.at[0] + next[m] * ((size_t) checker->block->words + 1);
	}
	for (uint32_t type = 0; type < problem->ntypes; type++)
		checker->order[next[part[code[type]]]++] = type;
	return KANON_OK;
}

static KanonStatus
order_types(Checker *checker)
{
	const KanonProblem *problem = checker->problem;
	KanonEnv   *env = problem->env;
	uint32_t	distinct = 0;
	uint32_t   *load;
	uint8_t    *part;
	KanonStatus status = KANON_NO_MEMORY;

	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].distinct > distinct)
			distinct = problem->columns[c].distinct;
	load = kanon_alloc(env, distinct, sizeof(uint32_t));
	part = kanon_alloc(env, distinct, sizeof(uint8_t));
	checker->order = kanon_alloc(env, problem->ntypes, sizeof(uint32_t));
	if (load != NULL && part != NULL && checker->order != NULL)
		status = divide_types(checker, load, part);
	kanon_free(env, load);
	kanon_free(env, part);
	return status;
}

/* The row types as entries. */
static KanonStatus
fill_base(const Checker *checker)
{
	const KanonProblem *problem = checker->problem;
	const Block *block = checker->block;
	size_t		words = (size_t) block->words;
	uint64_t   *entry = words_at(block, checker->base.at[0]);

	for (uint32_t i = 0; i < problem->ntypes; i++, entry += words + 1)
	{
		uint32_t	type = checker->order != NULL ? checker->order[i] : i;

		if (kanon_stop(checker->pace, (uint64_t) block->nqis))
			return KANON_CANCELLED;
		memset(entry, 0, words * sizeof(uint64_t));
		for (int q = 0; q < block->nqis; q++)
			entry[block->word[q]] |= (uint64_t) problem->columns[block->first[q]].code[type] << block->shift[q];
		entry[words] = (uint64_t) problem->rows[type];
	}
	return KANON_OK;
}

static KanonStatus
fill_block(Checker *checker, const Block *plan, const Metric *metric, KanonReport *report)
{
	const KanonProblem *problem = checker->problem;
	KanonStatus status;

	memcpy(checker->block, plan, sizeof(Block));
	for (int c = 0; c < problem->ncolumns && metric->of_cells; c++)
		memcpy(words_at(checker->block, plan->kept_at[c]), metric->kept[c],
			   problem->columns[c].distinct * sizeof(uint64_t));
	status = fill_up(checker, report);
	if (status == KANON_OK && checker->members > 1)
		status = order_types(checker);
	if (status == KANON_OK)
		status = fill_base(checker);
	return status;
}

/* Memory for the block: a team's, if there is one to have, or our own. */
static bool
take_block(Checker *checker, size_t bytes)
{
	if (checker->team != NULL && checker->problem->ntypes >= FULL_DOMAIN_SHARED)
		checker->block = checker->team->open(checker->team->arg, bytes, &checker->members);
	if (checker->block != NULL)
		return true;
	checker->team = NULL;
	checker->members = 1;
	checker->own_block = true;
	checker->block = kanon_alloc(checker->problem->env, bytes, 1);
	return checker->block != NULL;
}

/* Memory for lists of the row types of each group. */
static KanonStatus
take_lists(Checker *checker)
{
	KanonEnv   *env = checker->problem->env;
	size_t		ntypes = checker->problem->ntypes;

	if (checker->group == NULL)
		checker->group = kanon_alloc(env, ntypes, sizeof(uint32_t));
	if (checker->member == NULL)
		checker->member = kanon_alloc(env, ntypes, sizeof(uint32_t));
	if (checker->start == NULL)
		checker->start = kanon_alloc(env, ntypes + 2, sizeof(uint32_t));
	if (checker->rest == NULL)
		checker->rest = kanon_alloc(env, ntypes, sizeof(uint32_t));
	return checker->group != NULL && checker->member != NULL && checker->start != NULL
		&& checker->rest != NULL ? KANON_OK : KANON_NO_MEMORY;
}

static KanonStatus
set_up(Checker *checker, const Metric *metric, int64_t limit, KanonReport *report)
{
	const KanonProblem *problem = checker->problem;
	KanonEnv   *env = problem->env;
	Block	   *plan = kanon_alloc0(env, 1, sizeof(Block));
	size_t		at = (sizeof(Block) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	size_t		base;
	KanonStatus status = KANON_NO_MEMORY;

	if (plan == NULL)
		return KANON_NO_MEMORY;
	plan->rules = *problem;
	plan->limit = limit;
	plan->of_cells = metric->of_cells;
	lay_out_entries(problem, checker->lattice, plan);
	at = lay_out_tables(problem, checker->lattice, metric->of_cells, plan, at);
	base = (size_t) problem->ntypes * ((size_t) plan->words + 1);
	checker->base.nparts = 1;
	checker->base.at[0] = at;
	checker->base.count[0] = checker->base.total = problem->ntypes;
	checker->arena_at = checker->arena_next = at + base;
	checker->arena_words = base * ARENA_SHARE;
	if (checker->arena_words > ARENA_BYTES / sizeof(uint64_t))
		checker->arena_words = base > ARENA_BYTES / sizeof(uint64_t) ? base : ARENA_BYTES / sizeof(uint64_t);
	if (take_block(checker, (checker->arena_at + checker->arena_words) * sizeof(uint64_t)))
		status = fill_block(checker, plan, metric, report);
	kanon_free(env, plan);
	if (status != KANON_OK)
		return status;
	checker->history = kanon_alloc0(env, MAX_SNAPSHOTS, sizeof(Groups));
	checker->self = kanon_member_open(env, checker->block, 0);
	if (checker->history == NULL || checker->self == NULL)
		return KANON_NO_MEMORY;
	checker->self->pace = *checker->pace;
	return problem->privacy != NULL ? take_lists(checker) : KANON_OK;
}

KanonStatus
checker_open(const KanonProblem *problem, const Lattice *lattice, const Metric *metric, int64_t limit,
			 const KanonTeam *team, KanonPace *pace, Checker **result, KanonReport *report)
{
	Checker    *checker = kanon_alloc0(problem->env, 1, sizeof(Checker));

	*result = checker;
	if (checker == NULL)
		return KANON_NO_MEMORY;
	checker->problem = problem;
	checker->lattice = lattice;
	/* the others see the entries, and not what rules would look at */
	checker->team = problem->privacy != NULL ? NULL : team;
	checker->members = 1;
	checker->pace = pace;
	return set_up(checker, metric, limit, report);
}

void
checker_close(Checker *checker)
{
	KanonEnv   *env;

	if (checker == NULL)
		return;
	env = checker->problem->env;
	kanon_member_close(checker->self);
	if (checker->own_block)
		kanon_free(env, checker->block);
	kanon_free(env, checker->history);
	kanon_free(env, checker->order);
	kanon_free(env, checker->group);
	kanon_free(env, checker->member);
	kanon_free(env, checker->start);
	kanon_free(env, checker->rest);
	kanon_free(env, checker);
}

/* ---- history ---- */

/* The smallest groups of which those of the node can be made. */
static const Groups *
find_groups(const Checker *checker, const uint8_t *level)
{
	const Groups *best = &checker->base;

	for (int i = 0; i < MAX_SNAPSHOTS; i++)
	{
		const Groups *groups = &checker->history[i];
		bool		below = groups->age > 0 && groups->total < best->total;

		for (int q = 0; q < checker->lattice->nqis && below; q++)
			below = groups->level[q] <= level[q];
		if (below)
			best = groups;
	}
	return best;
}

/* A place in the history; what lies where its entries will go is forgotten. */
static Groups *
reserve(Checker *checker, size_t words)
{
	size_t		end = checker->arena_at + checker->arena_words;
	Groups	   *place = NULL;

	if (checker->arena_next + words > end)
		checker->arena_next = checker->arena_at;
	for (int i = 0; i < MAX_SNAPSHOTS; i++)
	{
		Groups	   *groups = &checker->history[i];
		size_t		size = groups->total * ((size_t) checker->block->words + 1);

		/* the parts of one lie one after the other */
		if (groups->age > 0 && groups->at[0] < checker->arena_next + words
			&& groups->at[0] + size > checker->arena_next)
			groups->age = 0;
		if (place == NULL || groups->age < place->age)
			place = groups;
	}
	return place;
}

/* ---- checks ---- */

/*
 * What becomes of the suppressed rows: a class if they may be one, or what
 * residual says; which may not do.
 */
static void
judge_rest(const Checker *checker, size_t ntypes, Count *count)
{
	const KanonProblem *problem = checker->problem;

	count->rest_is_class = count->suppressed > 0
		&& kanon_class_allowed(problem, checker->rest, NULL, ntypes, count->suppressed);
	count->left_over = count->suppressed > 0 && !count->rest_is_class
		&& (problem->residual == KANON_RESIDUAL_ERROR
			|| (problem->residual == KANON_RESIDUAL_SUPPRESS
				&& !kanon_rest_allowed(problem, checker->rest, NULL, ntypes)));
}

/* Lets all who take part do the block's task, and adds up what they have. */
static KanonStatus
do_task(Checker *checker, Count *count)
{
	Block	   *block = checker->block;
	bool		done = true;

	if (block->members > 1)
		checker->team->start(checker->team->arg);
	kanon_member_work(checker->self);
	if (block->members > 1)
		done = checker->team->wait(checker->team->arg);
	if (!done)
		return KANON_CANCELLED;
	if (block->task == TASK_KEEP)
		return KANON_OK;
	memset(count, 0, sizeof(*count));
	for (int m = 0; m < block->members; m++)
	{
		const Result *result = &block->result[m];

		if (result->status != KANON_OK)
		{
			checker->problem->env->refused = result->refused;
			return result->status;
		}
		count->groups += result->count.groups;
		count->classes += result->count.classes;
		count->suppressed += result->count.suppressed;
		count->squares += result->count.squares;
		count->class_squares += result->count.class_squares;
		count->kept += result->count.kept;
	}
	judge_rest(checker, 0, count);
	return KANON_OK;
}

/* Words that the members' groups take. */
static size_t
words_of_groups(const Checker *checker)
{
	size_t		total = 0;

	for (int m = 0; m < checker->block->members; m++)
		total += (size_t) checker->block->result[m].count.groups;
	return total * ((size_t) checker->block->words + 1);
}

/* Puts the members' groups into the history; there must be room. */
static KanonStatus
keep(Checker *checker, Groups **kept)
{
	Block	   *block = checker->block;
	size_t		stride = (size_t) block->words + 1;
	size_t		words = words_of_groups(checker);
	Groups	   *groups = reserve(checker, words);

	memcpy(groups->level, block->level, sizeof(groups->level));
	groups->nparts = block->members;
	groups->total = words / stride;
	groups->age = ++checker->age;
	for (int m = 0; m < block->members; m++)
	{
		groups->at[m] = block->keep[m] = checker->arena_next;
		groups->count[m] = (size_t) block->result[m].count.groups;
		checker->arena_next += groups->count[m] * stride;
	}
	*kept = groups;
	block->task = TASK_KEEP;
	return do_task(checker, NULL);
}

/* Remembers the node's groups, if that makes the next checks much shorter. */
static KanonStatus
remember(Checker *checker)
{
	size_t		words = words_of_groups(checker);
	Groups	   *groups;

	if (words > checker->block->from.total / 4 * 3 * ((size_t) checker->block->words + 1)
		|| words > checker->arena_words / 4)
		return KANON_OK;
	return keep(checker, &groups);
}

/* Lets a team, or the caller alone if that is quicker, make the groups of the block's level. */
static KanonStatus
make_groups(Checker *checker, const Groups *from, bool by_part, Count *count)
{
	Block	   *block = checker->block;

	block->task = TASK_COUNT;
	block->from = *from;
	block->members = from->total >= FULL_DOMAIN_SHARED ? checker->members : 1;
	block->by_part = by_part && block->members > 1;
	return do_task(checker, count);
}

/* Merges what the members have made of their parts. */
static KanonStatus
merge_parts(Checker *checker, Count *count)
{
	Groups	   *groups;
	Groups		from = checker->block->from;
	KanonStatus status;

	/* without room for them, all begin again, each with the hashes that are his */
	if (words_of_groups(checker) > checker->arena_words / 2)
		return make_groups(checker, &from, false, count);
	status = keep(checker, &groups);
	return status == KANON_OK ? make_groups(checker, groups, false, count) : status;
}

static void
set_levels(Checker *checker, uint32_t node)
{
	for (int q = 0; q < checker->lattice->nqis; q++)
		checker->block->level[q] = (uint8_t) lattice_level(checker->lattice, node, q);
}

/* Groups the row types themselves; where each went: checker->group. */
static KanonStatus
group_types(Checker *checker, uint32_t node)
{
	KanonStatus status;

	set_levels(checker, node);
	checker->block->from = checker->base;
	checker->block->members = 1;
	checker->block->by_part = false;
	checker->self->position = checker->order != NULL ? checker->member : checker->group;
	status = member_make_groups(checker->self);
	checker->self->position = NULL;
	for (uint32_t i = 0; checker->order != NULL && status == KANON_OK && i < checker->problem->ntypes; i++)
		checker->group[checker->order[i]] = checker->member[i];
	return status;
}

/* Lists the row types of each group: member[start[g]] .. member[start[g + 1] - 1]. */
static void
list_types(Checker *checker)
{
	uint32_t	ntypes = checker->problem->ntypes;
	uint32_t	ngroups = checker->self->count;

	memset(checker->start, 0, ((size_t) ngroups + 2) * sizeof(uint32_t));
	for (uint32_t type = 0; type < ntypes; type++)
		checker->start[checker->group[type] + 2]++;
	for (uint32_t g = 0; g < ngroups; g++)
		checker->start[g + 2] += checker->start[g + 1];
	/* the start of the group after it grows to its own */
	for (uint32_t type = 0; type < ntypes; type++)
		checker->member[checker->start[checker->group[type] + 1]++] = type;
}

/* By rules that look at the row types of a class; class_of (or NULL) is filled. */
static KanonStatus
ask_by_types(Checker *checker, Count *count, uint32_t *class_of)
{
	const Block *block = checker->block;
	const uint64_t *entry = checker->self->entries;
	size_t		nrest = 0;

	list_types(checker);
	memset(count, 0, sizeof(*count));
	for (uint32_t g = 0; g < checker->self->count; g++, entry += block->words + 1)
	{
		uint32_t	from = checker->start[g];
		uint32_t	ntypes = checker->start[g + 1] - from;
		bool		allowed = kanon_class_allowed(checker->problem, checker->member + from, NULL, ntypes,
												  (int64_t) entry[block->words]);

		if (kanon_stop(checker->pace, ntypes))
			return KANON_CANCELLED;
		if (class_of != NULL)
			class_of[g] = allowed ? (uint32_t) count->classes : UINT32_MAX;
		member_count_group(block, entry, allowed, count);
		for (uint32_t i = 0; i < ntypes && !allowed; i++)
			checker->rest[nrest++] = checker->member[from + i];
	}
	judge_rest(checker, nrest, count);
	return KANON_OK;
}

KanonStatus
checker_classes(Checker *checker, uint32_t node, uint32_t *class_of, Count *count)
{
	const KanonProblem *problem = checker->problem;
	KanonStatus status = take_lists(checker);

	if (status == KANON_OK)
		status = group_types(checker, node);
	if (status == KANON_OK)
		status = ask_by_types(checker, count, class_of);
	if (status != KANON_OK)
		return status;
	for (uint32_t type = 0; type < problem->ntypes; type++)
		checker->group[type] = class_of[checker->group[type]];
	memcpy(class_of, checker->group, problem->ntypes * sizeof(uint32_t));
	return KANON_OK;
}

KanonStatus
checker_count(Checker *checker, uint32_t node, Count *count)
{
	Block	   *block = checker->block;
	const Groups *from;
	KanonStatus status;

	if (checker->problem->privacy != NULL)
	{
		status = group_types(checker, node);
		return status == KANON_OK ? ask_by_types(checker, count, NULL) : status;
	}
	set_levels(checker, node);
	from = find_groups(checker, block->level);
	checker->rolled_up += from != &checker->base;
	checker->self->pace.share = checker->pace->share;
	status = make_groups(checker, from, true, count);
	if (status == KANON_OK && block->by_part
		&& block->level[checker->divider] == block->height[checker->divider])
		status = merge_parts(checker, count);
	return status == KANON_OK ? remember(checker) : status;
}

int64_t
checker_rolled_up(const Checker *checker)
{
	return checker->rolled_up;
}

int
checker_members(const Checker *checker)
{
	return checker->members;
}
