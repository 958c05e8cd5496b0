/*
 * full_domain_check.c: counts the classes of a node.
 *
 * What is counted are row types, not rows, and not always all of them: a node's
 * groups are made of the groups of a lower node where a history has some
 * (roll-up: LeFevre et al., SIGMOD 2005; the bounded history buffer: Kohlmayer,
 * Prasser, Eckert, Kemper, Kuhn, "Flash: efficient, stable and optimal
 * k-anonymity", PASSAT 2012), and only columns whose level differs are
 * translated (projection: the same).
 *
 * A group is an entry of a few 64-bit words: its codes, each in bits of its own,
 * and its rows.  Everything that a check reads lies in one block of memory
 * without pointers, so that it may be shared: each member of a team reads all
 * entries and keeps those whose hash is his, so that what the members count adds
 * up, and no groups are left to be merged.
 */
#include <stdio.h>
#include <string.h>

#include "lattice.h"

/* Groups that a check begins with: from so many on a team takes part. */
#ifndef FULL_DOMAIN_SHARED
#define FULL_DOMAIN_SHARED 50000
#endif

/* Entries that are translated at a time. */
#define BATCH 128

/* Lower nodes whose groups are remembered. */
#define MAX_SNAPSHOTS 256

/* Room for them: so many times the row types, but not more than this many bytes... */
#define ARENA_SHARE 16
#define ARENA_BYTES ((size_t) 32 * 1024 * 1024)

/* Some groups: of all entries, or of a lower node, in a part for each member who made them. */
typedef struct Groups
{
	uint8_t		level[KANON_MAX_COLUMNS];	/* by quasi-identifier */
	int			nparts;
	size_t		at[KANON_MAX_MEMBERS];	/* words from the block's beginning */
	size_t		count[KANON_MAX_MEMBERS];	/* entries */
	size_t		total;
	uint64_t	age;			/* when it was made; 0: nothing is here */
} Groups;

typedef enum Task
{
	TASK_COUNT,					/* make the groups of `level` from `from` */
	TASK_KEEP					/* copy them to keep[member] */
} Task;

typedef struct Result
{
	KanonStatus status;
	size_t		refused;		/* with KANON_NO_MEMORY */
	Count		count;
} Result;

typedef struct Block
{
	KanonProblem rules;			/* what kanon_class_allowed needs; its pointers mean nothing */
	int			nqis;
	int			words;			/* of codes in an entry */
	int			height[KANON_MAX_COLUMNS];
	int			first[KANON_MAX_COLUMNS];
	int			word[KANON_MAX_COLUMNS];	/* where the code of a quasi-identifier is */
	int			shift[KANON_MAX_COLUMNS];
	uint64_t	mask[KANON_MAX_COLUMNS];
	uint32_t	distinct[KANON_MAX_COLUMNS];	/* by column, as the next two */
	size_t		up_at[KANON_MAX_COLUMNS];	/* tables of codes at the next level, the one after it, ... */
	size_t		kept_at[KANON_MAX_COLUMNS]; /* the metric's */
	bool		of_cells;
	int64_t		limit;			/* rows that may be suppressed */

	/* what is to be done, and what came out */
	Task		task;
	int			members;		/* who take part; 1: the caller alone */
	uint8_t		level[KANON_MAX_COLUMNS];
	Groups		from;
	size_t		keep[KANON_MAX_MEMBERS];
	Result		result[KANON_MAX_MEMBERS];
} Block;

struct KanonMember
{
	KanonEnv   *env;
	Block	   *block;
	int			number;
	KanonPace	pace;
	uint64_t   *key;			/* [BATCH * words] codes of a batch */
	uint64_t	hash[BATCH];
	uint64_t   *slots;			/* [nslots] tag << 32 | position in entries + 1 */
	size_t		nslots;			/* in use, a power of two */
	size_t		slots_room;
	int			slot_shift;		/* of a hash, for its slot */
	uint64_t   *entries;		/* [count * (words + 1)] */
	size_t		entries_room;
	uint32_t	count;
	uint32_t   *position;		/* [entries read] or NULL: where each went */
};

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
};

static inline uint64_t *
words_at(const Block *block, size_t at)
{
	return (uint64_t *) (void *) ((char *) (uintptr_t) block + at * sizeof(uint64_t));
}

/* ---- a member's work ---- */

KanonMember *
kanon_member_open(KanonEnv *env, void *block, int number)
{
	KanonMember *member = kanon_alloc0(env, 1, sizeof(KanonMember));

	if (member == NULL)
		return NULL;
	member->env = env;
	member->block = block;
	member->number = number;
	member->pace = (KanonPace) {env, "search", 0, -1, 0};
	member->key = kanon_alloc(env, BATCH * (size_t) member->block->words, sizeof(uint64_t));
	if (member->key == NULL)
	{
		kanon_free(env, member);
		return NULL;
	}
	return member;
}

void
kanon_member_close(KanonMember *member)
{
	if (member == NULL)
		return;
	kanon_free(member->env, member->key);
	kanon_free(member->env, member->slots);
	kanon_free(member->env, member->entries);
	kanon_free(member->env, member);
}

static inline uint64_t
hash_key(const uint64_t *key, int words)
{
	uint64_t	hash = key[0];

	for (int w = 1; w < words; w++)
		hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + key[w];
	hash *= UINT64_C(0x9e3779b97f4a7c15);
	hash ^= hash >> 32;
	return hash * UINT64_C(0x94d049bb133111eb);
}

/* An empty table for so many groups. */
static bool
clear_slots(KanonMember *member, size_t groups)
{
	size_t		nslots = 256;

	while (nslots * 3 / 4 <= groups)
		nslots *= 2;
	if (nslots > member->slots_room)
	{
		kanon_free(member->env, member->slots);
		member->slots = kanon_alloc(member->env, nslots, sizeof(uint64_t));
		member->slots_room = member->slots == NULL ? 0 : nslots;
		if (member->slots == NULL)
			return false;
	}
	memset(member->slots, 0, nslots * sizeof(uint64_t));
	member->nslots = nslots;
	member->slot_shift = 64 - __builtin_ctzll(nslots);
	return true;
}

static inline void
fill_slot(KanonMember *member, uint64_t hash, uint32_t entry)
{
	size_t		slot = hash >> member->slot_shift;

	while (member->slots[slot] != 0)
		slot = (slot + 1) & (member->nslots - 1);
	member->slots[slot] = hash << 32 | (entry + UINT64_C(1));
}

/* Room for one more group. */
static bool
make_room(KanonMember *member, int words)
{
	size_t		stride = (size_t) words + 1;

	if (member->count == member->entries_room)
	{
		size_t		room = member->entries_room * 2 + 256;
		uint64_t   *entries = kanon_realloc(member->env, member->entries, room * stride, sizeof(uint64_t));

		if (entries == NULL)
			return false;
		member->entries = entries;
		member->entries_room = room;
	}
	if (member->count < member->nslots * 3 / 4)
		return true;
	if (!clear_slots(member, member->nslots))
		return false;
	for (uint32_t i = 0; i < member->count; i++)
		fill_slot(member, hash_key(member->entries + i * stride, words), i);
	return true;
}

/* Adds rows to the group of a key; where that is, or UINT32_MAX: no memory. */
static inline uint32_t
add_to_group(KanonMember *member, const uint64_t *key, uint64_t hash, int64_t rows, int words)
{
	size_t		stride = (size_t) words + 1;
	uint64_t	tag = hash << 32;
	uint64_t   *entry;

	for (size_t slot = hash >> member->slot_shift;; slot = (slot + 1) & (member->nslots - 1))
	{
		uint64_t	found = member->slots[slot];

		if (found == 0)
			break;
		if (((found ^ tag) >> 32) != 0)
			continue;
		entry = member->entries + ((uint32_t) found - 1) * stride;
		if (words == 1 ? entry[0] == key[0] : memcmp(entry, key, (size_t) words * sizeof(uint64_t)) == 0)
		{
			entry[words] += (uint64_t) rows;
			return (uint32_t) found - 1;
		}
	}
	if (!make_room(member, words))
		return UINT32_MAX;
	fill_slot(member, hash, member->count);
	entry = member->entries + member->count * stride;
	for (int w = 0; w < words; w++)
		entry[w] = key[w];
	entry[words] = (uint64_t) rows;
	return member->count++;
}

/*
 * The codes of some entries at the node, column by column: what stays is copied,
 * what changes is looked up, what is suppressed becomes 0.
 */
static inline void
translate(const KanonMember *member, const uint64_t *from, size_t n, const uint64_t *stays, int words)
{
	const Block *block = member->block;
	size_t		stride = (size_t) words + 1;

	for (size_t i = 0; i < n; i++)
		for (int w = 0; w < words; w++)
			member->key[i * (size_t) words + (size_t) w] = from[i * stride + (size_t) w] & stays[w];
	for (int q = 0; q < block->nqis; q++)
	{
		int			low = block->from.level[q];
		int			high = block->level[q];
		int			c = block->first[q] + low;
		int			shift = block->shift[q];
		uint64_t	mask = block->mask[q];
		const uint64_t *in = from + block->word[q];
		uint64_t   *out = member->key + block->word[q];
		const uint32_t *up;

		if (low == high || high == block->height[q] || mask == 0)
			continue;
		up = (const uint32_t *) words_at(block, block->up_at[c]) + (size_t) (high - low - 1) * block->distinct[c];
		for (size_t i = 0; i < n; i++)
			out[i * (size_t) words] |= (uint64_t) up[in[i * stride] >> shift & mask] << shift;
	}
}

/* Groups one part of the entries; words is a constant where it is 1. */
static inline KanonStatus
group_part(KanonMember *member, const uint64_t *from, size_t count, const uint64_t *stays, int words)
{
	size_t		stride = (size_t) words + 1;
	uint64_t	members = (uint64_t) member->block->members;
	uint64_t	number = (uint64_t) member->number;

	for (size_t start = 0; start < count; start += BATCH)
	{
		size_t		n = count - start < BATCH ? count - start : BATCH;
		const uint64_t *entry = from + start * stride;

		if (kanon_stop(&member->pace, n * 4))
			return KANON_CANCELLED;
		translate(member, entry, n, stays, words);
		for (size_t i = 0; i < n; i++)
		{
			member->hash[i] = hash_key(member->key + i * (size_t) words, words);
			__builtin_prefetch(&member->slots[member->hash[i] >> member->slot_shift]);
		}
		for (size_t i = 0; i < n; i++)
		{
			uint32_t	position;

			if ((member->hash[i] & UINT32_MAX) * members >> 32 != number)
				continue;
			position = add_to_group(member, member->key + i * (size_t) words, member->hash[i],
									(int64_t) entry[i * stride + (size_t) words], words);
			if (position == UINT32_MAX)
				return KANON_NO_MEMORY;
			if (member->position != NULL)
				member->position[start + i] = position;
		}
	}
	return KANON_OK;
}

/* How many groups there can be, at most. */
static size_t
most_groups(const Block *block)
{
	size_t		entries = block->from.total / (size_t) block->members;
	size_t		values = 1;

	for (int q = 0; q < block->nqis && values < entries; q++)
		if (block->level[q] < block->height[q])
			values *= block->distinct[block->first[q] + block->level[q]];
	return values < entries ? values : entries;
}

static KanonStatus
make_groups(KanonMember *member)
{
	const Block *block = member->block;
	const Groups *from = &block->from;
	uint64_t	stays[KANON_MAX_COLUMNS] = {0};
	KanonStatus status = KANON_OK;

	for (int q = 0; q < block->nqis; q++)
		if (block->level[q] == from->level[q] && block->level[q] < block->height[q])
			stays[block->word[q]] |= block->mask[q] << block->shift[q];
	member->count = 0;
	if (!clear_slots(member, most_groups(block)))
		return KANON_NO_MEMORY;
	for (int part = 0; part < from->nparts && status == KANON_OK; part++)
	{
		const uint64_t *entries = words_at(block, from->at[part]);

		status = block->words == 1 ? group_part(member, entries, from->count[part], stays, 1)
			: group_part(member, entries, from->count[part], stays, block->words);
	}
	return status;
}

/* What the cells of a group's row would say. */
static uint64_t
kept_by(const Block *block, const uint64_t *entry)
{
	uint64_t	sum = 0;

	for (int q = 0; q < block->nqis; q++)
		if (block->level[q] < block->height[q])
		{
			const uint64_t *kept = words_at(block, block->kept_at[block->first[q] + block->level[q]]);

			sum += kept[entry[block->word[q]] >> block->shift[q] & block->mask[q]];
		}
	return sum;
}

/* One group's share of the count. */
static inline void
count_group(const Block *block, const uint64_t *entry, bool allowed, Count *count)
{
	int64_t		rows = (int64_t) entry[block->words];
	KanonWide	square = (KanonWide) rows * rows;

	count->groups++;
	count->squares += square;
	if (allowed)
	{
		count->classes++;
		count->class_squares += square;
		return;
	}
	count->suppressed += rows;
	/* beyond the limit the node is lost, whatever it keeps */
	if (block->of_cells && count->suppressed <= block->limit)
		count->kept += (KanonWide) kept_by(block, entry) * rows;
}

/* By rules that know rows only. */
static void
count_groups(const KanonMember *member, Count *count)
{
	const Block *block = member->block;
	const uint64_t *entry = member->entries;

	memset(count, 0, sizeof(*count));
	for (uint32_t i = 0; i < member->count; i++, entry += block->words + 1)
		count_group(block, entry,
					kanon_class_allowed(&block->rules, NULL, NULL, 0, (int64_t) entry[block->words]), count);
}

void
kanon_member_work(KanonMember *member)
{
	Block	   *block = member->block;
	Result	   *result = &block->result[member->number];

	if (member->number >= block->members)
		return;
	if (block->task == TASK_KEEP)
	{
		memcpy(words_at(block, block->keep[member->number]), member->entries,
			   member->count * ((size_t) block->words + 1) * sizeof(uint64_t));
		return;
	}
	result->status = make_groups(member);
	result->refused = member->env->refused;
	if (result->status == KANON_OK)
		count_groups(member, &result->count);
}

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

/* The row types as entries. */
static KanonStatus
fill_base(const Checker *checker)
{
	const KanonProblem *problem = checker->problem;
	const Block *block = checker->block;
	size_t		words = (size_t) block->words;
	uint64_t   *entry = words_at(block, checker->base.at[0]);

	for (uint32_t type = 0; type < problem->ntypes; type++, entry += words + 1)
	{
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
	if (status == KANON_OK)
		status = fill_base(checker);
	return status;
}

/* Memory for the block: a team's, if there is one to have, or our own. */
static bool
take_block(Checker *checker, size_t bytes)
{
	if (checker->team != NULL)
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
	return checker->group != NULL && checker->member != NULL && checker->start != NULL ? KANON_OK
		: KANON_NO_MEMORY;
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
	return kanon_rules_look_at_types(problem) ? take_lists(checker) : KANON_OK;
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
	checker->team = kanon_rules_look_at_types(problem) ? NULL : team;
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
	kanon_free(env, checker->group);
	kanon_free(env, checker->member);
	kanon_free(env, checker->start);
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
	return KANON_OK;
}

/* Remembers the node's groups, if that makes the next checks much shorter. */
static KanonStatus
remember(Checker *checker, size_t from)
{
	Block	   *block = checker->block;
	size_t		stride = (size_t) block->words + 1;
	size_t		total = 0;
	Groups	   *groups;

	for (int m = 0; m < block->members; m++)
		total += (size_t) block->result[m].count.groups;
	if (total > from / 4 * 3 || total * stride > checker->arena_words / 4)
		return KANON_OK;
	groups = reserve(checker, total * stride);
	memcpy(groups->level, block->level, sizeof(groups->level));
	groups->nparts = block->members;
	groups->total = total;
	groups->age = ++checker->age;
	for (int m = 0; m < block->members; m++)
	{
		groups->at[m] = block->keep[m] = checker->arena_next;
		groups->count[m] = (size_t) block->result[m].count.groups;
		checker->arena_next += groups->count[m] * stride;
	}
	block->task = TASK_KEEP;
	return do_task(checker, NULL);
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
	checker->self->position = checker->group;
	status = make_groups(checker->self);
	checker->self->position = NULL;
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
		count_group(block, entry, allowed, count);
	}
	return KANON_OK;
}

KanonStatus
checker_classes(Checker *checker, uint32_t node, uint32_t *class_of, uint32_t *nclasses)
{
	const KanonProblem *problem = checker->problem;
	Count		count;
	KanonStatus status = take_lists(checker);

	if (status == KANON_OK)
		status = group_types(checker, node);
	if (status == KANON_OK)
		status = ask_by_types(checker, &count, class_of);
	if (status != KANON_OK)
		return status;
	*nclasses = (uint32_t) count.classes;
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

	if (kanon_rules_look_at_types(checker->problem))
	{
		status = group_types(checker, node);
		return status == KANON_OK ? ask_by_types(checker, count, NULL) : status;
	}
	set_levels(checker, node);
	from = find_groups(checker, block->level);
	checker->rolled_up += from != &checker->base;
	checker->self->pace.share = checker->pace->share;
	block->task = TASK_COUNT;
	block->from = *from;
	block->members = from->total >= FULL_DOMAIN_SHARED ? checker->members : 1;
	status = do_task(checker, count);
	if (status == KANON_OK)
		status = remember(checker, block->from.total);
	return status;
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
