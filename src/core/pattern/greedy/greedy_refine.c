/*
 * greedy_refine.c: the groups of many row types when there are few quasi-identifiers.
 *
 * The same search as that of greedy_search.c, over all groups at once: each row
 * type has the number of its group, and to keep a column is to refine that
 * partition (as TANE does: Huhtala, Kaerkkaeinen, Porkka, Toivonen, "TANE: An
 * Efficient Algorithm for Discovering Functional and Approximate Dependencies",
 * The Computer Journal 42(2), 1999) and to forget what falls into groups of
 * fewer than k rows.  A step costs a few passes over the row types that are left,
 * however small their groups are, and knows nothing of single groups: with many
 * quasi-identifiers, where that cuts off most of the patterns, greedy_block.c is better.
 */
#include <string.h>

#include "pattern/greedy/greedy.h"
#include "util/number.h"

/* From so few keys per row type on, their slots are gone through one by one. */
#define DENSE_KEYS 4

/* Room for n row types; nothing is given back before the search ends. */
static bool
make_room(GreedySearch *search, uint32_t n)
{
	GreedyRefine *refine = &search->refine;
	uint32_t nslots = 1;

	if (n <= refine->room)
		return true;
	greedy_refine_free(search);
	while (nslots < GREEDY_REFINE_SLOTS * (uint64_t) n)
		nslots *= 2;
	refine->slot = kanon_alloc0(search->env, nslots, sizeof(GreedySlot));
	refine->place = kanon_alloc(search->env, n, sizeof(uint32_t));
	refine->type = kanon_alloc(search->env, n, sizeof(uint32_t));
	refine->rows = kanon_alloc(search->env, n, sizeof(uint32_t));
	if (search->value != NULL)
		refine->value = kanon_alloc(search->env, n, sizeof(uint32_t));
	if (refine->slot == NULL || refine->place == NULL || refine->type == NULL || refine->rows == NULL ||
		(search->value != NULL && refine->value == NULL))
	{
		search->status = KANON_NO_MEMORY;
		return false;
	}
	refine->nslots = nslots;
	refine->room = n;
	return true;
}

/* The row types of a depth, with the numbers of their groups. */
static GreedyPart *
part_at(GreedySearch *search, int depth)
{
	GreedyRefine *refine = &search->refine;
	GreedyPart *part = &refine->part[depth];

	if (part->type == NULL)
		part->type = kanon_alloc(search->env, refine->room, sizeof(uint32_t));
	if (part->group == NULL)
		part->group = kanon_alloc(search->env, refine->room, sizeof(uint32_t));
	if (part->type != NULL && part->group != NULL)
		return part;
	search->status = KANON_NO_MEMORY;
	return NULL;
}

void
greedy_refine_free(GreedySearch *search)
{
	GreedyRefine *refine = &search->refine;

	for (int d = 0; d <= KANON_MAX_COLUMNS; d++)
	{
		kanon_free(search->env, refine->part[d].type);
		kanon_free(search->env, refine->part[d].group);
	}
	kanon_free(search->env, refine->slot);
	kanon_free(search->env, refine->key);
	kanon_free(search->env, refine->place);
	kanon_free(search->env, refine->type);
	kanon_free(search->env, refine->rows);
	kanon_free(search->env, refine->value);
	for (int c = 0; c < KANON_MAX_COLUMNS; c++)
		kanon_free(search->env, refine->code[c]);
	memset(refine, 0, sizeof(*refine));
}

/* The slot of a key that is too large to be its own slot. */
static inline uint32_t
find_slot(const GreedyRefine *refine, uint64_t key)
{
	uint32_t mask = refine->nslots - 1;
	uint32_t at = (uint32_t) kanon_hash_add(0, key) & mask;

	while (refine->slot[at].rows != 0 && refine->key[at] != key)
		at = (at + 1) & mask;
	refine->key[at] = key;
	return at;
}

/* The codes of column c, of the row types of this search. */
static const uint32_t *
codes_of(GreedySearch *search, int c)
{
	GreedyRefine *refine = &search->refine;
	const uint32_t *code = search->problem->columns[c].code;

	if (kanon_has(refine->gathered, c))
		return refine->code[c];
	if (refine->code[c] == NULL)
		refine->code[c] = kanon_alloc(search->env, refine->room, sizeof(uint32_t));
	if (refine->code[c] == NULL)
	{
		search->status = KANON_NO_MEMORY;
		return NULL;
	}
	for (uint32_t i = 0; i < refine->n; i++)
		refine->code[c][i] = code[refine->type[i]];
	kanon_add(&refine->gathered, c);
	return refine->code[c];
}

/* Counts the rows of each group and value of a column; each row type's slot goes to place. */
static void
count_rows(GreedyRefine *refine, const GreedyPart *part, const uint32_t *code, uint32_t distinct, bool direct)
{
	GreedySlot *slot = refine->slot;
	const uint32_t *rows = refine->rows;
	const uint32_t *type = part->type;
	const uint32_t *group = part->group;
	uint32_t *place = refine->place;
	uint32_t n = part->n;

	if (direct)
		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t at = group[i] * distinct + code[type[i]];

			place[i] = at;
			slot[at].rows += rows[type[i]];
		}
	else
		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t at = find_slot(refine, (uint64_t) group[i] * distinct + code[type[i]]);

			place[i] = at;
			slot[at].rows += rows[type[i]];
		}
}

/*
 * Rules may ask for different values of a column: groups whose rows all have one are forgotten, since no part of them is a
 * class either.  False: none is left.
 */
static bool
forget_alike(GreedySearch *search, GreedyPart *part)
{
	GreedyRefine *refine = &search->refine;
	GreedySlot *slot = refine->slot;
	uint32_t ngroups = 0;
	uint32_t n = 0;

	if (search->value == NULL)
		return part->n > 0;
	/* rows: the value of the first, and one; number: there is another, and then the group's */
	for (uint32_t i = 0; i < part->n; i++)
	{
		GreedySlot *found = &slot[part->group[i]];
		uint32_t value = refine->value[part->type[i]] + 1;

		found->number |= found->rows != 0 && found->rows != value;
		found->rows = value;
	}
	for (uint32_t g = 0; g < part->ngroups; g++)
		slot[g].number = slot[g].number != 0 ? ++ngroups : 0;
	for (uint32_t i = 0; i < part->n; i++)
	{
		uint32_t number = slot[part->group[i]].number;

		part->type[n] = part->type[i];
		part->group[n] = number - 1;
		n += number != 0;
	}
	memset(slot, 0, part->ngroups * sizeof(GreedySlot));
	part->n = n;
	part->ngroups = ngroups;
	return n > 0;
}

/* Keeps column c: the groups of at least k rows go to the next depth. */
static bool
refine_part(GreedySearch *search, int depth, int c)
{
	GreedyRefine *refine = &search->refine;
	uint32_t distinct = search->problem->columns[c].distinct;
	const GreedyPart *from = &refine->part[depth];
	GreedyPart *into = part_at(search, depth + 1);
	const uint32_t *code = codes_of(search, c);
	uint64_t keys = (uint64_t) from->ngroups * distinct;
	bool direct = keys <= refine->nslots;
	uint32_t k = (uint32_t) search->problem->k;
	GreedySlot *slot = refine->slot;
	const uint32_t *place = refine->place;
	const uint32_t *type = from->type;
	uint32_t nfrom = from->n;
	uint32_t *into_type;
	uint32_t *into_group;
	uint32_t ngroups = 0;
	uint32_t n = 0;

	if (!direct && refine->key == NULL)
	{
		refine->key = kanon_alloc(search->env, refine->nslots, sizeof(uint64_t));
		if (refine->key == NULL)
			search->status = KANON_NO_MEMORY;
	}
	if (search->status != KANON_OK)
		return false;
	into_type = into->type;
	into_group = into->group;
	count_rows(refine, from, code, distinct, direct);
	if (direct && keys < (uint64_t) DENSE_KEYS * nfrom)
	{
		/* without a branch that chance decides */
		for (uint32_t at = 0; at < keys; at++)
		{
			slot[at].number = ngroups;
			ngroups += slot[at].rows >= k;
		}
		for (uint32_t i = 0; i < nfrom; i++)
		{
			GreedySlot found = slot[place[i]];

			into_type[n] = type[i];
			into_group[n] = found.number;
			n += found.rows >= k;
		}
		memset(slot, 0, keys * sizeof(GreedySlot));
	}
	else
	{
		for (uint32_t i = 0; i < nfrom; i++)
		{
			GreedySlot *found = &slot[place[i]];

			if (found->rows < k)
				continue;
			if (found->number == 0)
				found->number = ++ngroups;
			into_type[n] = type[i];
			into_group[n++] = found->number - 1;
		}
		for (uint32_t i = 0; i < nfrom; i++)
			slot[place[i]] = (GreedySlot){0, 0};
	}
	into->n = n;
	into->ngroups = ngroups;
	return forget_alike(search, into);
}

/* The groups of a pattern are complete. */
static void
store_groups(GreedySearch *search, const GreedyPart *part, const GreedyState *state)
{
	GreedyRefine *refine = &search->refine;
	GreedySlot *slot = refine->slot;
	uint32_t from = 0;

	for (uint32_t i = 0; i < part->n; i++)
		slot[part->group[i]].rows++;
	for (uint32_t g = 0; g < part->ngroups; g++)
	{
		slot[g].number = from;
		from += slot[g].rows;
	}
	for (uint32_t i = 0; i < part->n; i++)
		refine->place[slot[part->group[i]].number++] = refine->type[part->type[i]];
	from = 0;
	for (uint32_t g = 0; g < part->ngroups; g++)
	{
		uint32_t count = slot[g].rows;
		uint32_t *types = greedy_found(search, state, count);

		if (types == NULL)
			break;
		memcpy(types, refine->place + from, count * sizeof(uint32_t));
		from += count;
	}
	memset(slot, 0, part->ngroups * sizeof(GreedySlot));
}

/* Searches the groups of a depth. */
static void
search_part(GreedySearch *search, int depth, GreedyState state)
{
	const GreedyPart *part = &search->refine.part[depth];

	while (search->status == KANON_OK)
	{
		int c = greedy_next_column(search, &state);
		GreedyState keep;

		search->nodes++;
		if (greedy_enough(search, 3 * (uint64_t) part->n + 64))
			return;
		if (c < 0)
		{
			store_groups(search, part, &state);
			return;
		}
		keep = state;
		if (greedy_decide(search, &keep, KANON_NONE, kanon_only(c)))
		{
			const GreedyPart *next = part + 1;

			greedy_refined(search, &keep, c);
			if (refine_part(search, depth, c))
				search_part(search, depth + 1, keep);
			/* all groups have one value each: as for a block's constant columns */
			if (next->n == part->n && next->ngroups == part->ngroups &&
				!greedy_use_constant(search, &state, kanon_only(c)))
				return;
		}
		if (kanon_has(state.stay, c) || !greedy_decide(search, &state, kanon_only(c), KANON_NONE))
			return;
	}
}

bool
greedy_refine_fits(const GreedySearch *search, uint32_t n, const GreedyState *state)
{
	KanonPattern open = kanon_minus(kanon_minus(search->index->all, state->refined), state->go);
	int qis = 0;

	if (n < GREEDY_REFINE_LEAST || n > GREEDY_BLOCK_ROWS || search->problem->k < 1 ||
		search->problem->k > GREEDY_BLOCK_K)
		return false;
	/* levels of one quasi-identifier follow from one another */
	for (int c = 0; c < search->problem->ncolumns; c++)
		qis += kanon_has(open, c) && (search->problem->columns[c].level == 0 || !kanon_has(open, c - 1));
	return qis <= GREEDY_REFINE_QIS;
}

void
greedy_refine_search(GreedySearch *search, const uint32_t *types, uint32_t n, const GreedyState *state)
{
	GreedyRefine *refine = &search->refine;
	GreedyPart *part = make_room(search, n) ? part_at(search, 0) : NULL;

	if (part == NULL)
		return;
	for (uint32_t i = 0; i < n; i++)
	{
		int64_t rows = search->problem->rows[types[i]];

		refine->type[i] = types[i];
		if (search->value != NULL)
			refine->value[i] = search->value[types[i]];
		refine->rows[i] = (uint32_t) (rows < search->problem->k ? rows : search->problem->k);
		part->type[i] = i;
	}
	refine->n = n;
	refine->gathered = KANON_NONE;
	memset(part->group, 0, n * sizeof(uint32_t));
	part->n = n;
	part->ngroups = 1;
	if (forget_alike(search, part))
		search_part(search, 0, *state);
}
