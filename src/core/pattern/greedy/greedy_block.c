/*
 * greedy_block.c: groups of at most GREEDY_BLOCK_ROWS row types, where nearly
 * all work of the greedy method is done.
 *
 * A block holds its row types one after the other, each with one byte per
 * column: 0 (GREEDY_DEAD) for a value of fewer than k rows in the block, else a number
 * of the value.  Groups are copied to the next depth when they split, so that
 * all passes are over adjacent memory.  greedy_search.c has the ideas.
 */
#include <string.h>

#include "pattern/greedy/greedy.h"

/* More than any sum of short costs; such a sum and KANON_MAX_COLUMNS of these fit 32 bits. */
#define OUT (UINT32_C(3) << 22)

/* In a block of so many rows at most, all codes are fetched into the processor's memory at once. */
#define NEAR_ROWS 256

/* memcpy of a row; inline, since rows are two or three times 16 bytes. */
static inline void
copy_row(char *to, const char *from, size_t stride)
{
	for (size_t at = 0; at < stride; at += sizeof(GreedyRow))
		memcpy(to + at, from + at, sizeof(GreedyRow));
}

/* The columns of the block in which all rows have the same value. */
static KanonPattern
find_constant(const GreedySearch *search, char *rows, uint32_t n)
{
	uint64_t differ[KANON_MAX_COLUMNS / 8] = {0};
	size_t words = (search->stride - sizeof(GreedyRow)) / 8;
	const uint64_t *first = (const uint64_t *) (rows + sizeof(GreedyRow));
	const uint8_t *byte = (const uint8_t *) differ;
	KanonPattern constant = KANON_NONE;

	for (uint32_t i = 1; i < n; i++)
	{
		const uint64_t *other = (const uint64_t *) (rows + i * search->stride + sizeof(GreedyRow));

		for (size_t w = 0; w < words; w++)
			differ[w] |= first[w] ^ other[w];
	}
	for (int j = 0; j < search->ncolumns; j++)
		if (byte[j] == 0 && ((const uint8_t *) first)[j] != GREEDY_DEAD)
			kanon_add(&constant, search->column[j]);
	return constant;
}

/* Lists the columns that are neither suppressed nor of one value. */
static void
list_open(GreedySearch *search, const GreedyState *state, int depth, GreedyOpen *open)
{
	KanonPattern rest = kanon_minus(kanon_minus(search->index->all, state->go), state->refined);

	open->n = 0;
	KANON_EACH (c, rest)
	{
		int j = search->byte[c];
		uint64_t cost = kanon_has(state->stay, c) ? OUT : GREEDY_SHORT_COST(search->index->weight[c]);

		open->byte[open->n] = (uint8_t) j;
		open->count[open->n] = search->level[depth].count + search->base[j];
		open->effect[open->n] = search->effect + search->base[j];
		open->rare[open->n] = cost << 32 | (j < 32 ? UINT64_C(1) << j : 0);
		open->n++;
	}
}

/* Counts the rows of each value in the open columns. */
static void
count_values(const GreedySearch *search, const GreedyOpen *open, int depth, char *rows, uint32_t n)
{
	uint32_t values = search->base[search->ncolumns];
	size_t stride = search->stride;
	int nopen = open->n;

	if ((uint64_t) n * (unsigned) nopen * 8 > values)
		memset(search->level[depth].count, 0, values * sizeof(uint32_t));
	else
		for (uint32_t i = 0; i < n; i++)
		{
			const uint8_t *byte = greedy_bytes((GreedyRow *) (rows + i * stride));

			for (int u = 0; u < nopen; u++)
				open->count[u][byte[open->byte[u]]] = 0;
		}
	for (uint32_t i = 0; i < n; i++)
	{
		const GreedyRow *row = (GreedyRow *) (rows + i * stride);
		const uint8_t *byte = greedy_bytes(row);
		uint32_t weight = row->rows;

		for (int u = 0; u < nopen; u++)
			open->count[u][byte[open->byte[u]]] += weight;
	}
	for (int u = 0; u < nopen; u++)
		open->count[u][GREEDY_DEAD] = 0;
}

/* The highest cost of the range, as a short cost. */
static uint32_t
highest(const GreedySearch *search)
{
	if (search->range->high >= KANON_LEVEL_MAX)
		return OUT - 1;
	return GREEDY_SHORT_COST(((search->range->high + 1) << KANON_LEVEL_SHIFT) -
							 ((int64_t) 1 << (KANON_LEVEL_SHIFT - 1)) - 1);
}

/*
 * Sets the lower bound of each row: what is suppressed, and its rare values.
 * Drops rows above the range; returns how many stay.  *always gets the bytes
 * that are rare in all of these.
 */
static uint32_t
bound_rows(GreedySearch *search, const GreedyState *state, const GreedyOpen *open, char *rows, uint32_t n,
		   uint32_t *always)
{
	uint32_t k = (uint32_t) search->problem->k;
	uint32_t limit = highest(search);
	size_t stride = search->stride;
	int nopen = open->n;
	uint64_t start = 0;
	uint32_t all = UINT32_MAX;
	uint32_t kept = 0;
	bool table = n > search->base[search->ncolumns] / 4;

	KANON_EACH (c, state->go)
		start += GREEDY_SHORT_COST(search->index->weight[c]);
	start <<= 32;

	/* cost and rare bit of every value at once, where that pays */
	for (int u = 0; table && u < nopen; u++)
	{
		uint32_t values = search->base[open->byte[u] + 1] - search->base[open->byte[u]];

		for (uint32_t v = 0; v < values; v++)
			open->effect[u][v] = open->rare[u] & -(uint64_t) (open->count[u][v] < k);
	}
	for (uint32_t i = 0; i < n; i++)
	{
		GreedyRow *row = (GreedyRow *) (rows + i * stride);
		const uint8_t *byte = greedy_bytes(row);
		uint64_t effect = start;

		if (table)
			for (int u = 0; u < nopen; u++)
				effect += open->effect[u][byte[open->byte[u]]];
		else
			for (int u = 0; u < nopen; u++)
				effect += open->rare[u] & -(uint64_t) (open->count[u][byte[open->byte[u]]] < k);
		if (effect >> 32 > limit)
			continue;
		row->cost = (uint32_t) (effect >> 32);
		row->rare = (uint32_t) effect;
		all &= row->rare;
		if (kept < i)
			copy_row(rows + kept * stride, rows + i * stride, stride);
		kept++;
	}
	*always = all;
	return kept;
}

/* The same after a decision, from the rare bits: before tells what was decided then. */
static uint32_t
rebound_rows(GreedySearch *search, const GreedyState *before, const GreedyState *state, char *rows,
			 uint32_t n, uint32_t *always)
{
	uint32_t limit = highest(search);
	size_t stride = search->stride;
	uint32_t common[KANON_MAX_COLUMNS]; /* cost of rows with a frequent value */
	uint32_t rare[KANON_MAX_COLUMNS];   /* and of those with a rare one */
	int byte[KANON_MAX_COLUMNS];
	int nchanged = 0;
	uint32_t all = UINT32_MAX;
	uint32_t kept = 0;
	KanonPattern changed =
		kanon_union(kanon_minus(state->go, before->go), kanon_minus(state->stay, before->stay));

	KANON_EACH (c, changed)
	{
		bool goes = kanon_has(state->go, c);

		/* of bytes beyond the rare bits the costs may be counted: no change */
		if (search->byte[c] >= 32)
			continue;
		byte[nchanged] = search->byte[c];
		common[nchanged] = goes ? GREEDY_SHORT_COST(search->index->weight[c]) : 0;
		rare[nchanged] = goes ? 0 : OUT;
		nchanged++;
	}
	for (uint32_t i = 0; i < n; i++)
	{
		GreedyRow *row = (GreedyRow *) (rows + i * stride);
		uint32_t cost = row->cost;

		for (int u = 0; u < nchanged; u++)
			cost += (row->rare >> byte[u] & 1) != 0 ? rare[u] : common[u];
		if (cost > limit)
			continue;
		row->cost = cost;
		all &= row->rare;
		if (kept < i)
			copy_row(rows + kept * stride, rows + i * stride, stride);
		kept++;
	}
	*always = all;
	return kept;
}

static int64_t
sum_rows(const GreedySearch *search, char *rows, uint32_t n)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += greedy_row(search, rows, i)->rows;
	return sum;
}

/* Room at this depth for n rows and the counts. */
static bool
make_level(GreedySearch *search, int depth, uint32_t n)
{
	GreedyLevel *level = &search->level[depth];
	size_t bytes = n * search->stride;
	size_t counts = search->base[search->ncolumns];

	if (bytes > level->room)
	{
		kanon_free(search->env, level->rows);
		level->room = 0;
		level->rows = kanon_alloc(search->env, bytes + bytes / 4, 1);
		if (level->rows != NULL)
			level->room = bytes + bytes / 4;
	}
	if (counts > level->count_room)
	{
		kanon_free(search->env, level->count);
		level->count_room = 0;
		level->count = kanon_alloc(search->env, counts, sizeof(uint32_t));
		if (level->count != NULL)
			level->count_room = counts;
	}
	if (bytes > level->room || counts > level->count_room)
		search->status = KANON_NO_MEMORY;
	return search->status == KANON_OK;
}

/*
 * Copies the rows with a frequent value in byte j to the next depth, value by
 * value; their number.
 */
static uint32_t
split_rows(GreedySearch *search, int depth, char *rows, uint32_t n, int j)
{
	uint32_t k = (uint32_t) search->problem->k;
	const uint32_t *count = search->level[depth].count + search->base[j];
	uint32_t values = search->base[j + 1] - search->base[j];
	uint32_t *to = search->split;
	size_t stride = search->stride;
	uint32_t sum = 0;
	char *into;

	memset(to, 0, values * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		to[greedy_bytes((GreedyRow *) (rows + i * stride))[j]]++;
	for (uint32_t v = 0; v < values; v++)
	{
		uint32_t types = to[v];

		/* counts may include rows dropped since; those of no row are no counts */
		to[v] = sum;
		if (types > 0 && count[v] >= k)
			sum += types;
	}
	if (sum == 0 || !make_level(search, depth + 1, sum))
		return 0;
	into = search->level[depth + 1].rows;
	for (uint32_t i = 0; i < n; i++)
	{
		const char *row = rows + i * stride;
		uint8_t v = greedy_bytes((const GreedyRow *) row)[j];

		if (count[v] >= k)
			copy_row(into + to[v]++ * stride, row, stride);
	}
	return sum;
}

static void search_block(GreedySearch *search, int depth, char *rows, uint32_t n, GreedyState state);

/* Searches the groups of each value of byte j. */
static void
search_values(GreedySearch *search, int depth, char *rows, uint32_t n, int j, const GreedyState *state)
{
	uint32_t sum = split_rows(search, depth, rows, n, j);
	char *parts = search->level[depth + 1].rows;
	uint32_t from = 0;

	while (from < sum && search->status == KANON_OK)
	{
		uint8_t v = greedy_bytes(greedy_row(search, parts, from))[j];
		uint64_t weight = greedy_row(search, parts, from)->rows;
		uint32_t to = from + 1;

		for (; to < sum && greedy_bytes(greedy_row(search, parts, to))[j] == v; to++)
			weight += greedy_row(search, parts, to)->rows;
		if (weight >= (uint64_t) search->problem->k)
			search_block(search, depth + 1, parts + from * search->stride, to - from, *state);
		from = to;
	}
}

/* A group of a pattern is complete. */
static void
store_rows(GreedySearch *search, char *rows, uint32_t n, const GreedyState *state)
{
	uint32_t *types = greedy_found(search, state, n);

	for (uint32_t i = 0; types != NULL && i < n; i++)
		types[i] = greedy_row(search, rows, i)->type;
}

/*
 * Searches a group, with at least k rows.  They are its own: it drops those
 * that no pattern can take.
 */
static void
search_block(GreedySearch *search, int depth, char *rows, uint32_t n, GreedyState state)
{
	bool fresh = true; /* counts and rare bits are to be made */
	GreedyState before = state;

	for (;;)
	{
		uint32_t always;
		uint32_t kept;
		int c;
		KanonPattern dead = KANON_NONE;
		GreedyState keep;

		search->nodes++;
		if (greedy_enough(search, (uint64_t) n * (fresh ? search->stride / 2 : 4) + 64))
			return;
		if (fresh)
		{
			GreedyOpen *open = &search->open;

			if (!greedy_use_constant(search, &state, find_constant(search, rows, n)))
				return;
			list_open(search, &state, depth, open);
			count_values(search, open, depth, rows, n);
			kept = bound_rows(search, &state, open, rows, n, &always);
		}
		else
			kept = rebound_rows(search, &before, &state, rows, n, &always);
		before = state;
		if (kept < n)
		{
			fresh = kept < n / 2;
			n = kept;
			if (sum_rows(search, rows, n) < search->problem->k)
				return;
			if (fresh)
				continue;
		}
		fresh = false;

		/* columns in which no value is frequent go */
		for (always &= search->ncolumns < 32 ? (UINT32_C(1) << search->ncolumns) - 1 : UINT32_MAX;
			 always != 0; always &= always - 1)
			kanon_add(&dead, search->column[__builtin_ctz(always)]);
		dead = kanon_minus(kanon_minus(dead, state.go), state.refined);
		if (kanon_meet(dead, state.stay))
			return;
		if (!kanon_is_none(dead))
		{
			if (!greedy_decide(search, &state, dead, KANON_NONE))
				return;
			continue;
		}

		c = greedy_next_column(search, &state);
		if (c < 0)
		{
			/* rows have gone since the last look for constant columns */
			if (greedy_use_constant(search, &state, find_constant(search, rows, n)))
				store_rows(search, rows, n, &state);
			return;
		}
		keep = state;
		if (greedy_decide(search, &keep, KANON_NONE, kanon_only(c)))
		{
			greedy_refined(search, &keep, c);
			search_values(search, depth, rows, n, search->byte[c], &keep);
			if (search->status != KANON_OK)
				return;
		}
		if (kanon_has(state.stay, c) || !greedy_decide(search, &state, kanon_only(c), KANON_NONE))
			return;
	}
}

void
greedy_block_search(GreedySearch *search, uint32_t n, const GreedyState *state)
{
	search_block(search, 0, search->level[0].rows, n, *state);
}

/* ---- making one ---- */

/* The slot of a code in the hash table of a column's values. */
static inline uint32_t
find_slot(const GreedySearch *search, uint32_t code)
{
	uint32_t at = (code * UINT32_C(2654435769)) & (search->nslots - 1);

	while (search->slot_rows[at] != 0 && search->slot_code[at] != code)
		at = (at + 1) & (search->nslots - 1);
	return at;
}

/*
 * Fills byte j of the block from column c; the number of its values, GREEDY_DEAD
 * included, or 0 if they are too many for a byte.
 */
static uint32_t
fill_byte(GreedySearch *search, int j, int c, const uint32_t *types, uint32_t n)
{
	const KanonColumn *column = &search->problem->columns[c];
	uint32_t k = (uint32_t) search->problem->k;
	uint32_t values = 1;
	char *rows = search->level[0].rows;
	bool direct = column->distinct <= search->nslots;
	uint32_t nslots = direct ? column->distinct : search->nslots;
	uint64_t used = 0; /* the slots, where one word has them all */

	memset(search->slot_rows, 0, nslots * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t code = column->code[types[i]];
		uint32_t at = direct ? code : find_slot(search, code);

		used |= UINT64_C(1) << at % 64;
		search->slot_code[at] = code;
		search->slot_rows[at] += greedy_row(search, rows, i)->rows;
	}
	for (uint32_t at = 0; nslots > 64 ? at < nslots : used != 0; used &= used - 1, at++)
	{
		if (nslots <= 64)
			at = (uint32_t) __builtin_ctzll(used);
		search->slot_byte[at] = GREEDY_DEAD;
		if (search->slot_rows[at] >= k)
		{
			if (values == 256)
				return 0;
			search->slot_byte[at] = (uint8_t) values++;
		}
	}
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t code = column->code[types[i]];

		((uint8_t *) (greedy_row(search, rows, i) + 1))[j] =
			search->slot_byte[direct ? code : find_slot(search, code)];
	}
	return values;
}

/* Room for what goes with the block's values. */
static bool
make_effect(GreedySearch *search)
{
	size_t values = search->base[search->ncolumns];

	if (values > search->effect_room)
	{
		kanon_free(search->env, search->effect);
		search->effect_room = 0;
		search->effect = kanon_alloc(search->env, values, sizeof(uint64_t));
		if (search->effect == NULL)
		{
			search->status = KANON_NO_MEMORY;
			return false;
		}
		search->effect_room = values;
	}
	return true;
}

bool
greedy_block_make(GreedySearch *search, const uint32_t *types, uint32_t n, const GreedyState *state)
{
	KanonPattern rest = kanon_minus(search->index->all, state->refined);
	size_t ncolumns = (size_t) kanon_count(rest);

	if (n > GREEDY_BLOCK_ROWS || search->problem->k > GREEDY_BLOCK_K || search->problem->k < 1)
		return false;
	search->ncolumns = 0;
	search->base[0] = 0;
	search->stride = sizeof(GreedyRow) * (1 + (ncolumns + sizeof(GreedyRow) - 1) / sizeof(GreedyRow));
	if (!make_level(search, 0, n))
		return false;
	for (search->nslots = 64; search->nslots < 2 * n; search->nslots *= 2)
		;
	memset(search->level[0].rows, 0, n * search->stride);
	for (uint32_t i = 0; i < n; i++)
	{
		GreedyRow *row = greedy_row(search, search->level[0].rows, i);
		int64_t rows = search->problem->rows[types[i]];

		row->type = types[i];
		row->rows = (uint32_t) (rows < search->problem->k ? rows : search->problem->k);
	}
	for (uint32_t i = 0; i < n && n <= NEAR_ROWS; i++)
		KANON_EACH (c, rest)
			__builtin_prefetch(&search->problem->columns[c].code[types[i]]);
	KANON_EACH (c, rest)
	{
		int j = search->ncolumns;
		uint32_t values = fill_byte(search, j, c, types, n);

		if (values == 0)
			return false;
		search->column[j] = c;
		search->byte[c] = j;
		search->base[j + 1] = search->base[j] + values;
		search->ncolumns++;
	}
	return make_level(search, 0, n) && make_effect(search);
}

bool
greedy_block_root(GreedySearch *search, const uint32_t *types, uint32_t n, const GreedyState *state)
{
	uint32_t kept = 0;

	if (search->root == NULL)
	{
		if (!greedy_block_make(search, types, n, state))
			return false;
		search->root = kanon_alloc(search->env, n, search->stride);
		if (search->root == NULL)
		{
			search->status = KANON_NO_MEMORY;
			return false;
		}
		memcpy(search->root, search->level[0].rows, n * search->stride);
		return true;
	}

	/* the bytes are good enough: a value that became rare since will be counted */
	for (uint32_t i = 0; kept < n; i++)
		if (greedy_row(search, search->root, i)->type == types[kept])
			copy_row(search->root + kept++ * search->stride, search->root + i * search->stride,
					 search->stride);
	memcpy(search->level[0].rows, search->root, n * search->stride);
	return true;
}
