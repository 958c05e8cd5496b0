/*
 * greedy_search.c: the groups of k rows that a range of patterns could take.
 *
 * Like BUC (Beyer and Ramakrishnan, "Bottom-Up Computation of Sparse and Iceberg
 * CUBEs", SIGMOD 1999) this decides column by column, for one group of row
 * types after the other, whether a pattern keeps it (then the group splits by
 * its values, and parts with fewer than k rows are forgotten) or suppresses it.
 * Beyond BUC, in a group
 *
 * - a value of fewer than k rows must go, so its column must go for these rows;
 *   a row type whose such columns cost more than the range allows leaves the
 *   group, and a column without another value goes for the group;
 * - a column with one value only stays: the pattern that keeps it in place of
 *   one that suppresses it takes the same rows, earlier (see set_closed).
 *
 * Large groups are lists of row types here.  From GREEDY_BLOCK_ROWS down, they
 * become blocks with one byte per column (greedy_block.c).
 */
#include <string.h>

#include "pattern/greedy/greedy.h"
#include "privacy/rules.h"
#include "release/release.h"

/* Row types at least that set_order looks at, if there are so many. */
#define ORDER_SAMPLE 4096

/* Row types ahead whose codes are fetched into the processor's memory. */
#define AHEAD 16

/* ---- decisions ---- */

/*
 * Columns of which a pattern that suppresses them for a group with one value
 * there need not be tried: the pattern that keeps them is allowed, and before
 * in the order.  Both take the same rows, and what the earlier one leaves has
 * fewer than k.  (That holds for k alone: other rules may be fulfilled by a
 * part of what breaks them, or by a pattern that more of a population match.)
 *
 * With rules, keeping a column may force others to stay; then these must have
 * one value, too (closed_set).  With a list, all single columns are looked up.
 */
static KanonStatus
set_closed(GreedySearch *search)
{
	const KanonMaskIndex *index = search->index;
	KanonPattern open = KANON_NONE;

	if (index->problem->npopulations > 0 ||
		(index->problem->privacy != NULL && !kanon_privacy_grows(index->problem->privacy)))
		return KANON_OK;
	search->closed = kanon_minus(index->all, index->go);
	if (index->problem->mask.list == NULL)
	{
		/* equal costs: the order must not put the pattern that keeps less first */
		if (index->problem->mask.order == KANON_ORDER_DOMAIN)
			for (int c = 0; c < index->problem->ncolumns; c++)
				if (index->weight[c] < (int64_t) 2 << KANON_LEVEL_SHIFT)
					kanon_remove(&search->closed, c);
		return KANON_OK;
	}
	for (size_t i = 0; i < index->nlisted; i++)
	{
		KanonPattern pattern = index->listed[i].pattern;

		if (kanon_stop(search->pace, 64))
			return KANON_CANCELLED;
		KANON_EACH (c, pattern)
		{
			KanonPattern more = pattern;

			kanon_remove(&more, c);
			if (!kanon_has(open, c) &&
				(!kanon_mask_contains(index, more) || kanon_mask_compare(index, more, pattern) > 0))
				kanon_add(&open, c);
		}
	}
	search->closed = kanon_minus(search->closed, open);
	return KANON_OK;
}

/* The columns that must have one value for column c to be kept in place of going. */
static KanonPattern
closed_set(const GreedySearch *search, const GreedyState *state, int c)
{
	if (search->range->list != NULL)
		return kanon_only(c);
	return kanon_minus(search->index->stay_stay[c], state->stay);
}

bool
greedy_decide(GreedySearch *search, GreedyState *state, KanonPattern go, KanonPattern stay)
{
	const KanonMaskIndex *index = search->index;
	const GreedyRange *range = search->range;

	if (range->list != NULL)
	{
		KanonPattern all = index->all;
		KanonPattern any = KANON_NONE;
		size_t n = 0;

		go = kanon_union(go, state->go);
		stay = kanon_union(stay, state->stay);
		for (size_t i = 0; i < state->npool; i++)
		{
			KanonPattern pattern = search->pool[i];

			if (kanon_meet(pattern, stay) || !kanon_within(go, pattern))
				continue;
			search->pool[i] = search->pool[n];
			search->pool[n++] = pattern;
			all = kanon_both(all, pattern);
			any = kanon_union(any, pattern);
		}
		state->npool = n;
		state->go = all;
		state->stay = kanon_minus(index->all, any);
		state->cost = kanon_fixed_cost(index, all);
		return n > 0 && kanon_fixed_level(state->cost) <= range->high;
	}

	KANON_EACH (c, go)
	{
		KanonPattern more;

		if (kanon_has(state->go, c))
			continue;
		more = kanon_minus(index->go_go[c], state->go);
		state->go = kanon_union(state->go, more);
		state->cost += kanon_fixed_cost(index, more);
		stay = kanon_union(stay, index->go_stay[c]);
	}
	KANON_EACH (c, stay)
	{
		KanonPattern more;

		if (kanon_has(state->stay, c))
			continue;
		more = kanon_minus(index->stay_stay[c], state->stay);
		state->stay = kanon_union(state->stay, more);
		state->kept += kanon_fixed_cost(index, more);
	}
	if (kanon_meet(state->go, state->stay) || kanon_fixed_level(state->cost) > range->high ||
		kanon_fixed_level(search->total - state->kept) < range->low)
		return false;
	return index->problem->mask.max_suppressed < 0 ||
		   kanon_suppressed_whole(index->last, state->go) <= index->problem->mask.max_suppressed;
}

bool
greedy_use_constant(GreedySearch *search, GreedyState *state, KanonPattern constant)
{
	KanonPattern rest = kanon_minus(kanon_both(constant, search->closed), state->stay);
	KanonPattern stay = KANON_NONE;

	KANON_EACH (c, rest)
	{
		if (!kanon_within(closed_set(search, state, c), constant))
			continue;
		if (kanon_has(state->go, c))
			return false;
		kanon_add(&stay, c);
	}
	if (!kanon_is_none(stay) && !greedy_decide(search, state, KANON_NONE, stay))
		return false;
	state->refined = kanon_union(state->refined, kanon_both(constant, state->stay));
	return true;
}

void
greedy_refined(const GreedySearch *search, GreedyState *state, int c)
{
	const KanonProblem *problem = search->problem;

	kanon_add(&state->refined, c);
	/* rows that agree in a level agree in the next */
	while (++c < problem->ncolumns && problem->columns[c].level > 0)
		kanon_add(&state->refined, c);
	state->refined = kanon_both(state->refined, state->stay);
}

int
greedy_next_column(const GreedySearch *search, const GreedyState *state)
{
	KanonPattern open = kanon_minus(kanon_minus(search->index->all, state->go), state->refined);

	if (kanon_meet(open, state->stay))
		open = kanon_both(open, state->stay);
	for (int i = 0; i < search->problem->ncolumns; i++)
		if (kanon_has(open, search->order[i]))
			return search->order[i];
	return -1;
}

/* Is this pattern in the part of the order that is searched? */
static bool
in_range(const GreedySearch *search, KanonPattern pattern, int64_t cost)
{
	const GreedyRange *range = search->range;
	int64_t level = kanon_fixed_level(cost);

	if (kanon_same(pattern, search->index->all) || level < range->low || level > range->high)
		return false;
	if (range->has_after && level == range->low &&
		kanon_mask_compare(search->index, pattern, range->after) <= 0)
		return false;
	return !range->has_upto || level < range->high ||
		   kanon_mask_compare(search->index, pattern, range->upto) <= 0;
}

uint32_t *
greedy_found(GreedySearch *search, const GreedyState *state, uint32_t count)
{
	uint32_t *types;

	if (!in_range(search, state->go, state->cost))
		return NULL;
	if (search->store->words + GREEDY_GROUP_WORDS(count) > search->store->most &&
		search->store->npatterns > 1)
	{
		GreedyRange *range = search->range;

		search->status = greedy_store_shrink(search->store, &range->upto);
		if (search->status != KANON_OK)
			return NULL;
		range->has_upto = true;
		range->high = kanon_fixed_level(kanon_fixed_cost(search->index, range->upto));
		if (!in_range(search, state->go, state->cost))
			return NULL;
	}
	types = greedy_store_add(search->store, state->go, count);
	if (types == NULL)
		search->status = KANON_NO_MEMORY;
	return types;
}

/* ---- lists of types ---- */

bool
greedy_enough(GreedySearch *search, uint64_t work)
{
	if (kanon_stop(search->pace, work))
		search->status = KANON_CANCELLED;
	else if (search->pace->late || (uint64_t) kanon_worked(search->pace) > search->most)
		search->status = KANON_TOO_LARGE;
	return search->status != KANON_OK;
}

/* Puts row types into the order of their digits; those of rare ones follow the others, from `rare` on. */
static void
order_types(GreedySearch *search, uint32_t *types, uint32_t n, const uint32_t *code, int shift, uint32_t *to,
			uint32_t rare)
{
	for (uint32_t i = 0; i < n; i++)
	{
		uint8_t digit = (uint8_t) (code[types[i]] >> shift);

		if (i + AHEAD < n)
			__builtin_prefetch(&code[types[i + AHEAD]]);
		if (search->status == KANON_OK && kanon_stop(search->pace, 4))
			search->status = KANON_CANCELLED;
		if (search->digit_rows[digit] >= search->problem->k)
			search->spare[to[digit]++] = types[i];
		else
			search->spare[rare++] = types[i];
	}
	memcpy(types, search->spare, n * sizeof(uint32_t));
}

static void greedy_search_list(GreedySearch *search, uint32_t *types, uint32_t n, GreedyState state);

/*
 * Splits a group by eight bits of column c's codes, those from `shift` on, and
 * then by the lower ones; searches the groups of at least k rows.
 */
static void
split_types(GreedySearch *search, uint32_t *types, uint32_t n, int c, int shift, const GreedyState *state)
{
	const uint32_t *code = search->problem->columns[c].code;
	const int64_t *rows = search->problem->rows;
	uint32_t to[256];
	uint32_t sum = 0;
	uint32_t from = 0;

	memset(search->digit_rows, 0, sizeof(search->digit_rows));
	memset(search->digit_types, 0, sizeof(search->digit_types));
	for (uint32_t i = 0; i < n; i++)
	{
		uint8_t digit = (uint8_t) (code[types[i]] >> shift);

		/* (row types of a group lie anywhere in memory) */
		if (i + AHEAD < n)
		{
			__builtin_prefetch(&code[types[i + AHEAD]]);
			__builtin_prefetch(&rows[types[i + AHEAD]]);
		}
		if (greedy_enough(search, 4))
			return;
		search->digit_rows[digit] += rows[types[i]];
		search->digit_types[digit]++;
	}
	for (int d = 0; d < 256; d++)
	{
		to[d] = sum;
		if (search->digit_rows[d] >= search->problem->k)
			sum += search->digit_types[d];
	}
	if (sum == 0)
		return;
	order_types(search, types, n, code, shift, to, sum);
	/* each digit's rows have one value so far, and end where the next one's begin */
	for (int d = 0; from < sum && search->status == KANON_OK; d++)
	{
		uint32_t end = to[d];

		if (end == from)
			continue;
		if (shift > 0)
			split_types(search, types + from, end - from, c, shift - 8, state);
		else
			greedy_search_list(search, types + from, end - from, *state);
		from = end;
	}
}

/* Searches a group, with at least k rows, given as a list of types. */
static void
greedy_search_list(GreedySearch *search, uint32_t *types, uint32_t n, GreedyState state)
{
	search->nodes++;
	if (greedy_refine_fits(search, n, &state))
	{
		greedy_refine_search(search, types, n, &state);
		return;
	}
	if (greedy_block_make(search, types, n, &state))
	{
		greedy_block_search(search, n, &state);
		return;
	}
	while (search->status == KANON_OK)
	{
		int c = greedy_next_column(search, &state);
		int shift = 0;
		GreedyState keep;

		if (c < 0)
		{
			uint32_t *copy = greedy_found(search, &state, n);

			if (copy != NULL)
				memcpy(copy, types, n * sizeof(uint32_t));
			return;
		}
		keep = state;
		if (greedy_decide(search, &keep, KANON_NONE, kanon_only(c)))
		{
			greedy_refined(search, &keep, c);
			while (shift < 24 && (search->problem->columns[c].distinct - 1) >> (shift + 8) != 0)
				shift += 8;
			split_types(search, types, n, c, shift, &keep);
		}
		if (kanon_has(state.stay, c) || !greedy_decide(search, &state, kanon_only(c), KANON_NONE))
			return;
	}
}

/* ---- the outside ---- */

/*
 * The order in which columns are decided: the smaller the chance that two row
 * types have the same value, the earlier.  That halves the work of "widest
 * domain first", which a wide column with one frequent value misleads.  A sample
 * tells it: the order decides about time only.
 */
static KanonStatus
set_order(GreedySearch *search)
{
	const KanonProblem *problem = search->problem;
	uint32_t step = problem->ntypes / ORDER_SAMPLE + 1;
	double chance[KANON_MAX_COLUMNS];

	for (int c = 0; c < problem->ncolumns; c++)
	{
		const KanonColumn *column = &problem->columns[c];
		uint32_t *count = search->spare;
		int to = c;

		memset(count, 0, problem->ntypes * sizeof(uint32_t));
		chance[c] = 0;
		for (uint32_t i = 0; i < problem->ntypes && column->distinct <= problem->ntypes; i += step)
		{
			if (kanon_stop(search->pace, 2))
				return KANON_CANCELLED;
			/* a square is a sum of odd numbers */
			chance[c] += 2 * (double) count[column->code[i]]++ + 1;
		}
		for (; to > 0 && chance[search->order[to - 1]] > chance[c]; to--)
			search->order[to] = search->order[to - 1];
		search->order[to] = c;
	}
	return KANON_OK;
}

/* A rule of t-closeness that a class with one value breaks, whichever it is, or NULL. */
static const KanonPrivacyRule *
forbids_one_value(const KanonProblem *problem, uint32_t *seen)
{
	const KanonPrivacyRule *rules;
	int nrules = kanon_privacy_rules(problem->privacy, &rules);

	if (problem->npopulations > 0 || kanon_privacy_person(problem->privacy) >= 0)
		return NULL;
	for (int r = 0; r < nrules; r++)
	{
		const KanonColumn *column = &problem->extra[rules[r].column];
		uint32_t left = column->distinct;

		if (rules[r].kind != KANON_T_CLOSENESS || rules[r].joined != 0 || left > problem->ntypes)
			continue;
		memset(seen, 0, left * sizeof(uint32_t));
		for (uint32_t type = 0; type < problem->ntypes && left > 0; type++)
		{
			int broken = -1;

			if (seen[column->code[type]]++ != 0)
				continue;
			left--;
			/* (the rows of one type have one value) */
			if (kanon_privacy_allows(problem, &type, NULL, 1, true, &broken) || broken != r)
				return NULL;
		}
		if (left == 0)
			return &rules[r];
	}
	return NULL;
}

KanonStatus
greedy_search_open(const KanonMaskIndex *index, KanonPace *pace, GreedyStore *store, GreedySearch *search)
{
	uint32_t ntypes = index->problem->ntypes;
	const KanonPrivacyRule *rule;
	uint32_t needed;
	KanonStatus status;

	memset(search, 0, sizeof(*search));
	search->index = index;
	search->problem = index->problem;
	search->env = index->problem->env;
	search->pace = pace;
	search->store = store;
	search->total = kanon_fixed_cost(index, index->all);
	for (search->slots_room = 64;
		 search->slots_room < 2 * (size_t) ntypes && search->slots_room < 2 * GREEDY_BLOCK_ROWS;)
		search->slots_room *= 2;
	search->spare = kanon_alloc(search->env, ntypes, sizeof(uint32_t));
	search->slot_code = kanon_alloc(search->env, search->slots_room, sizeof(uint32_t));
	search->slot_rows = kanon_alloc(search->env, search->slots_room, sizeof(uint32_t));
	search->slot_byte = kanon_alloc(search->env, search->slots_room, sizeof(uint8_t));
	if (search->spare == NULL || search->slot_code == NULL || search->slot_rows == NULL ||
		search->slot_byte == NULL)
		return KANON_NO_MEMORY;
	rule = search->problem->privacy != NULL ? kanon_most_values(search->problem, &needed) : NULL;
	if (rule == NULL && search->problem->privacy != NULL)
		rule = forbids_one_value(search->problem, search->spare);
	if (rule != NULL)
		search->value = search->problem->extra[rule->column].code;
	status = set_order(search);
	return status == KANON_OK ? set_closed(search) : status;
}

void
greedy_search_close(GreedySearch *search)
{
	for (int d = 0; d <= KANON_MAX_COLUMNS && search->env != NULL; d++)
	{
		kanon_free(search->env, search->level[d].rows);
		kanon_free(search->env, search->level[d].count);
	}
	greedy_refine_free(search);
	kanon_free(search->env, search->pool);
	kanon_free(search->env, search->spare);
	kanon_free(search->env, search->root);
	kanon_free(search->env, search->effect);
	kanon_free(search->env, search->slot_code);
	kanon_free(search->env, search->slot_rows);
	kanon_free(search->env, search->slot_byte);
	memset(search, 0, sizeof(*search));
}

/* Is the pattern that keeps all columns the only one left? */
static bool
keeps_all(const GreedySearch *search, const GreedyState *state)
{
	if (!kanon_is_none(state->go))
		return false;
	if (search->range->list != NULL)
		return kanon_same(state->stay, search->index->all);
	for (int c = 0; c < search->problem->ncolumns; c++)
		if (kanon_fixed_level(search->index->weight[c]) <= search->range->high)
			return false;
	return true;
}

/* Do two row types differ in nothing but what privacy rules look at? */
static bool
same_columns(const KanonProblem *problem, uint32_t a, uint32_t b)
{
	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].code[a] != problem->columns[c].code[b])
			return false;
	return true;
}

/* That pattern's groups are the row types (ascending), but for what privacy rules look at. */
static KanonStatus
find_types(GreedySearch *search, const GreedyState *state, const uint32_t *types, uint32_t ntypes)
{
	uint32_t next;

	for (uint32_t i = 0; i < ntypes && search->status == KANON_OK; i = next)
	{
		int64_t rows = 0;
		uint32_t *group;

		for (next = i; next < ntypes; next++)
		{
			if (next > i &&
				(search->problem->nextra == 0 || !same_columns(search->problem, types[i], types[next])))
				break;
			rows += search->problem->rows[types[next]];
		}
		if (kanon_stop(search->pace, 2 * (uint64_t) (next - i)))
			return KANON_CANCELLED;
		if (rows < search->problem->k)
			continue;
		group = greedy_found(search, state, next - i);
		if (group != NULL)
			memcpy(group, types + i, (next - i) * sizeof(uint32_t));
	}
	return search->status;
}

KanonStatus
greedy_search_range(GreedySearch *search, uint32_t *types, uint32_t ntypes, GreedyRange *range)
{
	GreedyState state = {.npool = range->nlist};
	KanonPattern go = KANON_NONE;
	KanonPattern stay = KANON_NONE;

	search->range = range;
	search->status = KANON_OK;
	if (range->list != NULL)
	{
		if (range->nlist > search->pool_room)
		{
			kanon_free(search->env, search->pool);
			search->pool_room = 0;
			search->pool = kanon_alloc(search->env, range->nlist, sizeof(KanonPattern));
			if (search->pool == NULL)
				return KANON_NO_MEMORY;
			search->pool_room = range->nlist;
		}
		memcpy(search->pool, range->list, range->nlist * sizeof(KanonPattern));
	}
	else
	{
		go = search->index->go;
		stay = search->index->stay;
	}
	if (ntypes == 0 || !greedy_decide(search, &state, go, stay))
		return KANON_OK;
	if (keeps_all(search, &state))
		return find_types(search, &state, types, ntypes);
	if (greedy_refine_fits(search, ntypes, &state))
		greedy_refine_search(search, types, ntypes, &state);
	else if (greedy_block_root(search, types, ntypes, &state))
		greedy_block_search(search, ntypes, &state);
	else if (search->status == KANON_OK)
		greedy_search_list(search, types, ntypes, state);
	return search->status;
}
