/*
 * full_domain_member.c: what one member of a team, or who works alone, does of a
 * check: it makes groups of groups and counts them.
 *
 * Only columns whose level differs are translated (projection: Kohlmayer et al.,
 * PASSAT 2012).  Each member reads a part of the entries, of which full_domain_check.c
 * knows that no group is in two; or all of them, and keeps those whose hash is
 * his.  Either way what the members count adds up.
 */
#include <math.h>
#include <string.h>

#include "lattice/lattice.h"
#include "privacy/rules.h"
#include "util/fault.h"
#include "util/number.h"

KanonMember *
kanon_member_open(KanonEnv *env, void *block, int number)
{
	KanonMember *member = kanon_alloc0(env, 1, sizeof(KanonMember));

	if (member == NULL)
		return NULL;
	member->env = env;
	member->block = block;
	member->number = number;
	member->pace = kanon_pace(env, "search");
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

__attribute__((always_inline)) static inline uint64_t
hash_key(const uint64_t *key, int words)
{
	uint64_t hash = 0;

	for (int w = 0; w < words; w++)
		hash = kanon_hash_add(hash, key[w]);
	return hash;
}

/* An empty table for so many groups. */
static bool
clear_slots(KanonMember *member, size_t groups)
{
	size_t nslots = 256;

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
	size_t slot = hash >> member->slot_shift;

	while (member->slots[slot] != 0)
		slot = (slot + 1) & (member->nslots - 1);
	member->slots[slot] = hash << 32 | (entry + UINT64_C(1));
}

/* Room for one more group. */
static bool
make_room(KanonMember *member, int words)
{
	size_t stride = (size_t) words + 1;

	if (!kanon_enlarge(member->env, &member->entries, &member->entries_room, member->count + (size_t) 1,
					   stride * sizeof(uint64_t)))
		return false;
	if (member->count < member->nslots * 3 / 4)
		return true;
	if (!clear_slots(member, member->nslots))
		return false;
	for (uint32_t i = 0; i < member->count; i++)
		fill_slot(member, hash_key(member->entries + i * stride, words), i);
	return true;
}

/* Adds rows to the group of a key; where that is, or UINT32_MAX: no memory. */
__attribute__((always_inline)) static inline uint32_t
add_to_group(KanonMember *member, const uint64_t *key, uint64_t hash, int64_t rows, int words)
{
	size_t stride = (size_t) words + 1;
	uint64_t tag = hash << 32;
	uint64_t *entry;

	for (size_t slot = hash >> member->slot_shift;; slot = (slot + 1) & (member->nslots - 1))
	{
		uint64_t found = member->slots[slot];

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
__attribute__((always_inline)) static inline void
translate(const KanonMember *member, const uint64_t *from, size_t n, const uint64_t *stays, int words)
{
	const Block *block = member->block;
	size_t stride = (size_t) words + 1;

	for (size_t i = 0; i < n; i++)
		for (int w = 0; w < words; w++)
			member->key[i * (size_t) words + (size_t) w] = from[i * stride + (size_t) w] & stays[w];
	for (int q = 0; q < block->nqis; q++)
	{
		int low = block->from.level[q];
		int high = block->level[q];
		int c = block->first[q] + low;
		int shift = block->shift[q];
		uint64_t mask = block->mask[q];
		const uint64_t *in = from + block->word[q];
		uint64_t *out = member->key + block->word[q];
		const uint32_t *up;

		if (low == high || high == block->height[q] || mask == 0)
			continue;
		up = (const uint32_t *) words_at(block, block->up_at[c]) +
			 (size_t) (high - low - 1) * block->distinct[c];
		for (size_t i = 0; i < n; i++)
			out[i * (size_t) words] |= (uint64_t) up[in[i * stride] >> shift & mask] << shift;
	}
}

/* Groups one part of the entries; always inline, so that words is a constant where it is 1. */
__attribute__((always_inline)) static inline KanonStatus
group_part(KanonMember *member, const uint64_t *from, size_t count, const uint64_t *stays,
		   uint32_t *positions, int words)
{
	size_t stride = (size_t) words + 1;
	uint64_t members = member->block->by_part ? 1 : (uint64_t) member->block->members;
	uint64_t number = member->block->by_part ? 0 : (uint64_t) member->number;

	for (size_t start = 0; start < count; start += BATCH)
	{
		size_t n = count - start < BATCH ? count - start : BATCH;
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
			uint32_t position;

			if ((member->hash[i] & UINT32_MAX) * members >> 32 != number)
				continue;
			position = add_to_group(member, member->key + i * (size_t) words, member->hash[i],
									(int64_t) entry[i * stride + (size_t) words], words);
			if (position == UINT32_MAX)
				return KANON_NO_MEMORY;
			if (positions != NULL)
				positions[start + i] = position;
		}
	}
	return KANON_OK;
}

/* How many groups a member will have, if hashes are as they should be; a table can grow. */
static size_t
most_groups(const Block *block, int number)
{
	size_t entries = block->by_part ? block->from.count[number] : block->from.total / (size_t) block->members;
	size_t values = 1;

	for (int q = 0; q < block->nqis && values < entries; q++)
		if (block->level[q] < block->height[q])
			values *= block->distinct[block->first[q] + block->level[q]];
	return values < entries ? values : entries;
}

KanonStatus
member_make_groups(KanonMember *member)
{
	const Block *block = member->block;
	const Groups *from = &block->from;
	uint64_t stays[MAX_PLACES] = {0};
	uint32_t *positions = member->position;
	KanonStatus status = KANON_OK;

	for (int q = 0; q < block->nqis; q++)
		if (block->level[q] == from->level[q] && block->level[q] < block->height[q])
			stays[block->word[q]] |= block->mask[q] << block->shift[q];
	member->count = 0;
	if (!clear_slots(member, most_groups(block, member->number)))
		return KANON_NO_MEMORY;
	for (int part = 0; part < from->nparts && status == KANON_OK; part++)
	{
		const uint64_t *entries = words_at(block, from->at[part]);
		size_t count = from->count[part];

		if (block->by_part && part != member->number)
			continue;
		status = block->words == 1 ? group_part(member, entries, count, stays, positions, 1)
								   : group_part(member, entries, count, stays, positions, block->words);
		positions = positions != NULL ? positions + count : NULL;
	}
	return status;
}

uint64_t
member_kept(const Block *block, const uint64_t *entry)
{
	uint64_t sum = 0;

	for (int q = 0; q < block->nqis; q++)
		if (block->level[q] < block->height[q] && q != block->values)
		{
			const uint64_t *kept = words_at(block, block->kept_at[block->first[q] + block->level[q]]);

			sum += kept[entry[block->word[q]] >> block->shift[q] & block->mask[q]];
		}
	return sum;
}

void
member_count_group(const Block *block, const uint64_t *entry, bool allowed, Count *count)
{
	int64_t rows = (int64_t) entry[block->words];
	KanonWide square = (KanonWide) rows * rows;

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
		count->kept += (KanonWide) member_kept(block, entry) * rows;
}

/* By rules that know rows only. */
static void
count_groups(const KanonMember *member, Count *count)
{
	const Block *block = member->block;
	const uint64_t *entry = member->entries;

	memset(count, 0, sizeof(*count));
	/* several of them are one group: whoever knows the rules asks */
	if (block->values >= 0)
	{
		count->groups = member->count;
		return;
	}
	for (uint32_t i = 0; i < member->count; i++, entry += block->words + 1)
		member_count_group(block, entry,
						   kanon_class_allowed(&block->rules, NULL, NULL, 0, (int64_t) entry[block->words]),
						   count);
}

void
kanon_member_work(KanonMember *member)
{
	Block *block = member->block;
	Result *result = &block->result[member->number];

	if (member->number >= block->members)
		return;
	if (block->task == TASK_KEEP)
	{
		if (member->count > 0)
			memcpy(words_at(block, block->keep[member->number]), member->entries,
				   member->count * ((size_t) block->words + 1) * sizeof(uint64_t));
		return;
	}
	result->status = member_make_groups(member);
	result->refused = member->env->refused;
	if (result->status == KANON_OK)
		count_groups(member, &result->count);
}

/*
 * ---- The rows that a node shows to somebody who knows few columns.
 *
 * Rows with a rare combination are suppressed whole.  That makes other combinations rarer, and so on until none is.
 * The rows that are left are the largest set without a rare combination: two such sets together are one, too.
 * It stays one at every node above, so that verdicts spread as those of k do.
 */

typedef struct Suppression
{
	uint64_t *dead;
	bool any;
} Suppression;

static void
suppress(void *arg, const KanonRare *rare)
{
	Suppression *suppression = arg;

	suppression->any = true;
	for (uint32_t i = 0; i < rare->ntypes; i++)
		suppression->dead[rare->type[i] / 64] |= UINT64_C(1) << rare->type[i] % 64;
}

static bool
is_dead(const Checker *checker, uint32_t type)
{
	return (checker->dead[type / 64] >> type % 64 & 1) != 0;
}

/* Until no combination is rare that living rows show at the node. */
static KanonStatus
suppress_rare(Checker *checker, KanonPattern node, const int64_t *rows)
{
	const Lattice *lattice = checker->lattice;
	KanonProblem shown = *checker->problem;
	KanonKnown known = *shown.known;
	KanonColumn columns[KANON_MAX_QIS];
	const uint64_t *blank[KANON_MAX_QIS];
	Suppression suppression = {.dead = checker->dead, .any = true};
	KanonStatus status = KANON_OK;

	for (int q = 0; q < lattice->nqis; q++)
	{
		int level = lattice_level_of(lattice, node, q);
		bool gone = level == lattice->height[q];

		columns[q] = checker->problem->columns[lattice->first[q] + (gone ? 0 : level)];
		blank[q] = gone ? checker->all_dead : checker->dead;
	}
	known.k = shown.k;
	known.blank = blank;
	shown.ncolumns = lattice->nqis;
	shown.columns = columns;
	shown.rows = rows;
	shown.time_limit = INFINITY;
	while (status == KANON_OK && suppression.any && !FAULT(known_forgotten))
	{
		suppression.any = false;
		status = kanon_rare_find(&shown, &known, suppress, &suppression);
	}
	return status;
}

/* New rows of a class of which rows are suppressed that were there before are suppressed, too. */
static void
suppress_beside(Checker *checker)
{
	for (uint32_t g = 0; g < checker->self->count; g++)
	{
		bool dead = false;

		for (uint32_t i = checker->start[g]; i < checker->start[g + 1]; i++)
			dead = dead || (checker->before[checker->member[i]] > 0 && is_dead(checker, checker->member[i]));
		for (uint32_t i = checker->start[g]; i < checker->start[g + 1]; i++)
			if (dead)
				checker->dead[checker->member[i] / 64] |= UINT64_C(1) << checker->member[i] % 64;
			else if (checker->before[checker->member[i]] == 0)
				checker->dead[checker->member[i] / 64] &= ~(UINT64_C(1) << checker->member[i] % 64);
	}
}

KanonStatus
checker_find_dead(Checker *checker, KanonPattern node)
{
	const KanonProblem *problem = checker->problem;
	KanonStatus status = KANON_OK;

	memset(checker->dead, 0, ((size_t) problem->ntypes + 63) / 64 * sizeof(uint64_t));
	if (checker->before != NULL)
	{
		for (uint32_t type = 0; type < problem->ntypes; type++)
			if (checker->before[type] == 0)
				checker->dead[type / 64] |= UINT64_C(1) << type % 64;
		status = suppress_rare(checker, node, checker->before);
		suppress_beside(checker);
	}
	return status == KANON_OK ? suppress_rare(checker, node, problem->rows) : status;
}

bool
checker_shows(const Checker *checker, uint32_t type)
{
	return checker->dead == NULL || !is_dead(checker, type);
}

KanonStatus
checker_take_dead(Checker *checker)
{
	const KanonProblem *problem = checker->problem;
	const KanonPrevious *previous = problem->full_domain->previous;
	size_t words = ((size_t) problem->ntypes + 63) / 64;

	checker->dead = kanon_alloc0(problem->env, words, sizeof(uint64_t));
	checker->all_dead = kanon_alloc0(problem->env, words, sizeof(uint64_t));
	checker->of_group = kanon_alloc(problem->env, problem->ntypes, sizeof(uint32_t));
	if (problem->known->person != NULL)
		checker->met = kanon_alloc0(problem->env, problem->known->npersons, sizeof(uint64_t));
	if (checker->dead == NULL || checker->all_dead == NULL || checker->of_group == NULL ||
		(problem->known->person != NULL && checker->met == NULL))
		return KANON_NO_MEMORY;
	for (uint32_t type = 0; type < problem->ntypes; type++)
		checker->all_dead[type / 64] |= UINT64_C(1) << type % 64;
	if (previous == NULL)
		return KANON_OK;
	checker->before = kanon_alloc0(problem->env, problem->ntypes, sizeof(int64_t));
	for (size_t f = 0; checker->before != NULL && f < previous->nflows; f++)
	{
		int64_t *before = &checker->before[previous->flows[f].type];

		*before += previous->flows[f].rows;
		if (*before > problem->rows[previous->flows[f].type])
			*before = problem->rows[previous->flows[f].type];
	}
	return checker->before == NULL ? KANON_NO_MEMORY : KANON_OK;
}
