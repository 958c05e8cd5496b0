/*
 * full_domain_set_up.c: what the checks of nodes need: the block with the tables
 * and entries that all members of a team read, and how they divide these.
 */
#include <stdio.h>
#include <string.h>

#include "lattice/lattice.h"
#include "privacy/rules.h"
#include "release/release.h"

/* Room for remembered groups: so many times the row types, but not more than this many bytes or once these. */
#define ARENA_SHARE 16
#define ARENA_BYTES ((size_t) 32 * 1024 * 1024)

/*
 * The combinations of values that rules look at.  (Where they are about populations, too, types
 * are looked at themselves.)
 */
static KanonStatus
number_values(Checker *checker, uint32_t *distinct)
{
	KanonScratch scratch = {.env = checker->problem->env};
	KanonValues values;
	KanonStatus status = kanon_number_values(checker->problem, &scratch, checker->pace, &values);

	if (status == KANON_OK)
	{
		checker->values = kanon_keep(&scratch, values.of);
		checker->typical = kanon_keep(&scratch, values.typical);
		*distinct = values.n;
	}
	kanon_scratch_free(&scratch);
	return status;
}

/* Gives what is next in an entry so many bits. */
static void
lay_out_code(Block *block, int q, uint32_t distinct, int *used)
{
	int bits = distinct > 1 ? 32 - __builtin_clz(distinct - 1) : 0;

	if (*used + bits > 64)
	{
		block->words++;
		*used = 0;
	}
	block->word[q] = block->words - 1;
	block->shift[q] = bits > 0 ? *used : 0;
	block->mask[q] = (UINT64_C(1) << bits) - 1;
	*used += bits;
}

/* Gives each quasi-identifier its bits, and so many combinations of values (0: there are none). */
static void
lay_out_entries(const KanonProblem *problem, const Lattice *lattice, uint32_t values, Block *block)
{
	int used = 0;

	block->nqis = lattice->nqis;
	block->values = -1;
	block->words = 1;
	for (int q = 0; q < lattice->nqis; q++)
	{
		uint32_t distinct = 1;

		for (int level = 0; level < lattice->height[q]; level++)
			if (problem->columns[lattice->first[q] + level].distinct > distinct)
				distinct = problem->columns[lattice->first[q] + level].distinct;
		block->height[q] = lattice->height[q];
		block->first[q] = lattice->first[q];
		lay_out_code(block, q, distinct, &used);
	}
	if (values == 0)
		return;
	block->values = block->nqis++;
	block->height[block->values] = 1;
	block->first[block->values] = problem->ncolumns;
	block->distinct[problem->ncolumns] = values;
	lay_out_code(block, block->values, values, &used);
}

/* Places for the tables of a column; returns the first free word. */
static size_t
lay_out_tables(const KanonProblem *problem, const Lattice *lattice, bool of_cells, Block *block, size_t at)
{
	for (int q = 0; q < lattice->nqis; q++)
		for (int level = 0; level < lattice->height[q]; level++)
		{
			int c = lattice->first[q] + level;
			size_t distinct = problem->columns[c].distinct;

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
		uint32_t *up = (uint32_t *) words_at(block, block->up_at[c]);
		const uint32_t *next;

		if (above > 0)
		{
			if (kanon_stop(checker->pace, 2 * (uint64_t) problem->ntypes))
				return KANON_CANCELLED;
			memset(up, 0xff, column->distinct * sizeof(uint32_t));
			for (uint32_t type = 0; type < problem->ntypes; type++)
			{
				uint32_t code = problem->columns[c + 1].code[type];

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
					up[(size_t) step * column->distinct + v] =
						up[v] == UINT32_MAX ? UINT32_MAX
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
	uint32_t busy[KANON_MAX_MEMBERS] = {0};
	uint32_t most = 0;

	memset(load, 0, column->distinct * sizeof(uint32_t));
	for (uint32_t type = 0; type < checker->problem->ntypes; type++)
		load[column->code[type]]++;
	for (uint32_t v = 0; v < column->distinct; v++)
	{
		int least = 0;

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
	uint32_t least = UINT32_MAX;
	uint32_t next[KANON_MAX_MEMBERS] = {0};

	for (int q = 0; q < lattice->nqis; q++)
	{
		uint32_t most = divide(checker, q, load, part);

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
	KanonEnv *env = problem->env;
	uint32_t distinct = 0;
	uint32_t *load;
	uint8_t *part;
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

/* The row type of an entry. */
static inline uint32_t
type_of(const Checker *checker, uint32_t entry)
{
	return checker->order != NULL ? checker->order[entry] : entry;
}

/* The row types as entries. */
static KanonStatus
fill_base(const Checker *checker)
{
	const KanonProblem *problem = checker->problem;
	const Block *block = checker->block;
	size_t words = (size_t) block->words;
	uint64_t *entry = words_at(block, checker->base.at[0]);

	for (uint32_t i = 0; i < problem->ntypes; i++, entry += words + 1)
	{
		memset(entry, 0, words * sizeof(uint64_t));
		entry[words] = (uint64_t) problem->rows[type_of(checker, i)];
	}
	for (int q = 0; q < block->nqis; q++)
	{
		const uint32_t *code = q == block->values ? checker->values : problem->columns[block->first[q]].code;

		if (kanon_stop(checker->pace, problem->ntypes))
			return KANON_CANCELLED;
		entry = words_at(block, checker->base.at[0]) + block->word[q];
		for (uint32_t i = 0; i < problem->ntypes; i++, entry += words + 1)
			*entry |= (uint64_t) code[type_of(checker, i)] << block->shift[q];
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

KanonStatus
checker_take_lists(Checker *checker)
{
	KanonEnv *env = checker->problem->env;
	size_t ntypes = checker->problem->ntypes;

	if (checker->group == NULL)
		checker->group = kanon_alloc(env, ntypes, sizeof(uint32_t));
	if (checker->member == NULL)
		checker->member = kanon_alloc(env, ntypes, sizeof(uint32_t));
	if (checker->start == NULL)
		checker->start = kanon_alloc(env, ntypes + 2, sizeof(uint32_t));
	if (checker->rest == NULL)
		checker->rest = kanon_alloc(env, ntypes, sizeof(uint32_t));
	if (checker->values != NULL && checker->class_types == NULL)
	{
		checker->class_types = kanon_alloc(env, ntypes, sizeof(uint32_t));
		checker->class_counts = kanon_alloc(env, ntypes, sizeof(int64_t));
		checker->rest_counts = kanon_alloc(env, ntypes, sizeof(int64_t));
		if (checker->class_types == NULL || checker->class_counts == NULL || checker->rest_counts == NULL)
			return KANON_NO_MEMORY;
	}
	return checker->group != NULL && checker->member != NULL && checker->start != NULL &&
				   checker->rest != NULL
			   ? KANON_OK
			   : KANON_NO_MEMORY;
}

/* The least that a class needs, whatever else rules say of it. */
static KanonStatus
note_need(Checker *checker)
{
	const KanonProblem *problem = checker->problem;
	const KanonPrivacyRule *rule =
		problem->privacy == NULL ? NULL : kanon_most_values(problem, &checker->needed);

	if (rule == NULL)
		return KANON_OK;
	checker->code = problem->extra[rule->column].code;
	checker->seen = kanon_alloc0(problem->env, problem->extra[rule->column].distinct, sizeof(*checker->seen));
	return checker->seen == NULL ? KANON_NO_MEMORY : KANON_OK;
}

static KanonStatus
set_up(Checker *checker, const Metric *metric, int64_t limit, KanonReport *report)
{
	const KanonProblem *problem = checker->problem;
	KanonEnv *env = problem->env;
	Block *plan = kanon_alloc0(env, 1, sizeof(Block));
	size_t at = (sizeof(Block) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	size_t base;
	uint32_t values = 0;
	KanonStatus status = plan == NULL ? KANON_NO_MEMORY : KANON_OK;

	if (status == KANON_OK && problem->privacy != NULL)
		status = number_values(checker, &values);
	if (status != KANON_OK)
	{
		kanon_free(env, plan);
		return status;
	}
	status = KANON_NO_MEMORY;
	plan->rules = *problem;
	plan->limit = limit;
	plan->of_cells = metric->of_cells;
	lay_out_entries(problem, checker->lattice, values, plan);
	at = lay_out_tables(problem, checker->lattice, metric->of_cells, plan, at);
	base = (size_t) problem->ntypes * ((size_t) plan->words + 1);
	checker->base.nparts = 1;
	checker->base.at[0] = at;
	checker->base.count[0] = checker->base.total = problem->ntypes;
	checker->arena_at = at + base;
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
	if (problem->known != NULL)
		return checker_take_dead(checker);
	if (!kanon_by_types(problem))
		return KANON_OK;
	status = checker_take_lists(checker);
	if (status == KANON_OK)
		status = note_need(checker);
	return status == KANON_OK ? kanon_presence_open(problem, &checker->presence) : status;
}

KanonStatus
checker_open(const KanonProblem *problem, const Lattice *lattice, const Metric *metric, int64_t limit,
			 const KanonTeam *team, KanonPace *pace, Checker **result, KanonReport *report)
{
	Checker *checker = kanon_alloc0(problem->env, 1, sizeof(Checker));

	*result = checker;
	if (checker == NULL)
		return KANON_NO_MEMORY;
	checker->problem = problem;
	checker->lattice = lattice;
	checker->team = team;
	checker->metric = metric;
	checker->members = 1;
	checker->pace = pace;
	return set_up(checker, metric, limit, report);
}

void
checker_close(Checker *checker)
{
	KanonEnv *env;

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
	kanon_free(env, checker->seen);
	kanon_free(env, checker->values);
	kanon_free(env, checker->typical);
	kanon_free(env, checker->class_types);
	kanon_free(env, checker->class_counts);
	kanon_free(env, checker->dead);
	kanon_free(env, checker->all_dead);
	kanon_free(env, checker->before);
	kanon_free(env, checker->of_group);
	kanon_free(env, checker->rest_counts);
	kanon_free(env, checker->fill.spare);
	checker_mend_end(checker);
	kanon_free(env, checker->met);
	kanon_presence_close(checker->presence);
	kanon_free(env, checker);
}
