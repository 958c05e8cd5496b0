/*
 * greedy_wide.c: groups of so many columns that not all of them can be looked at.
 *
 * With dozens of columns a batch has more groups of k rows than there is time for.
 * From there on a search has so much work for each row type and batch, and divides it
 * among the decisions on a column: half of it where the column stays, what is left
 * where it goes.  A group with none left is not decided further: its rows are put into
 * the order of what they show and cut into pieces, and in these each row that is in no
 * group yet looks for the nearest others.  A row at a time joins, that which differs in
 * least beyond the columns in which the group differs already, until there are k; then
 * all that fit.  That is the order in which Algorithm 1 takes groups, the cheap ones
 * first, of those that were found.
 */
#include <string.h>

#include "pattern/greedy/greedy.h"
#include "util/sort.h"

/* Rows of a piece at least, and for each of k. */
#define PIECE_ROWS 64
#define PIECE_K 4

/* So many of its rows, one after the other, find no group: the others are not asked. */
#define PIECE_FAILS 16

/* Times the work of a look at a group, in which its rows may look for others. */
#define LOOKS 6

/* Eight bytes of a row at once: the highest bit of each that differs. */
#define HIGH UINT64_C(0x8080808080808080)

uint64_t
greedy_wide_left(const GreedySearch *search, const GreedyState *state)
{
	uint64_t worked = (uint64_t) kanon_worked(search->pace);

	return search->hurried || state->until < worked ? 0 : state->until - worked;
}

void
greedy_wide_part(const GreedySearch *search, const GreedyState *state, uint64_t n, uint64_t rest,
				 GreedyState *part)
{
	uint64_t left;

	if (!search->bounded)
		return;
	left = greedy_wide_left(search, state);
	part->until = (uint64_t) kanon_worked(search->pace) +
				  (n == rest ? left : (uint64_t) ((double) left * (double) n / (double) rest));
}

static uint32_t
piece_rows(const GreedySearch *search)
{
	int64_t rows = PIECE_K * search->problem->k;

	return rows < PIECE_ROWS ? PIECE_ROWS : rows > GREEDY_BLOCK_ROWS ? GREEDY_BLOCK_ROWS : (uint32_t) rows;
}

bool
greedy_wide_last(const GreedySearch *search, uint32_t n, const GreedyState *state)
{
	return search->bounded && (n <= piece_rows(search) ||
							   greedy_wide_left(search, state) < LOOKS * (uint64_t) n * search->stride);
}

/* ---- near rows of a block ---- */

/* A look for near rows. */
typedef struct Near
{
	GreedySearch *search;
	char *rows;
	const GreedyState *state;
	size_t words;                         /* of a row's bytes */
	uint64_t open[KANON_MAX_COLUMNS / 8]; /* bytes of the columns that are not decided */
	int64_t least;                        /* that one of these costs; */
	bool alike;                           /* each costs that */
	int64_t high;                         /* the most that a pattern may cost, fixed point */
	int sorted[KANON_MAX_COLUMNS];        /* those bytes, in the order of the columns */
	int nsorted;
} Near;

static const uint64_t *
words_of(const Near *near, uint32_t row)
{
	return (const uint64_t *) greedy_bytes(greedy_row(near->search, near->rows, row));
}

static int
compare_bytes(const void *a, const void *b, void *arg)
{
	const Near *near = arg;
	const uint8_t *left = (const uint8_t *) words_of(near, *(const uint32_t *) a);
	const uint8_t *right = (const uint8_t *) words_of(near, *(const uint32_t *) b);

	for (int i = 0; i < near->nsorted; i++)
		if (left[near->sorted[i]] != right[near->sorted[i]])
			return left[near->sorted[i]] < right[near->sorted[i]] ? -1 : 1;
	return 0;
}

/* The bytes of a word that are not 0: their highest bits. */
static inline uint64_t
not_zero(uint64_t word)
{
	return (((word & ~HIGH) + ~HIGH) | word) & HIGH;
}

/*
 * The cost of the columns whose bytes are set, beyond those set in others; if it is more
 * than `most`, at least more than that.
 */
static int64_t
cost_of(const Near *near, const uint64_t *bytes, const uint64_t *beyond, int64_t most)
{
	const GreedySearch *search = near->search;
	uint64_t count = 0; /* byte by byte */
	int64_t cost = 0;

	for (size_t w = 0; w < near->words; w++)
		count += (bytes[w] & ~beyond[w]) >> 7;
	count = count * UINT64_C(0x0101010101010101) >> 56;
	if (near->alike || (int64_t) count * near->least > most)
		return (int64_t) count * near->least;
	for (size_t w = 0; w < near->words; w++)
		for (uint64_t word = bytes[w] & ~beyond[w]; word != 0; word &= word - 1)
			cost += search->index->weight[search->column[w * 8 + (unsigned) __builtin_ctzll(word) / 8]];
	return cost;
}

static KanonPattern
columns_of(const Near *near, const uint64_t *bytes)
{
	KanonPattern columns = KANON_NONE;

	for (size_t w = 0; w < near->words; w++)
		for (uint64_t word = bytes[w]; word != 0; word &= word - 1)
			kanon_add(&columns, near->search->column[w * 8 + (unsigned) __builtin_ctzll(word) / 8]);
	return columns;
}

/* The least allowed pattern that suppresses these columns. */
static KanonPattern
cover(const GreedySearch *search, KanonPattern columns)
{
	const GreedyRange *range = search->range;

	if (range->list == NULL)
		return kanon_mask_cover(search->index, columns);
	for (size_t i = 0; i < range->nlist; i++)
		if (kanon_within(columns, range->list[i]))
			return range->list[i];
	return search->index->all;
}

/* The rows of the piece that may join the seed, and where they differ from it; their number of rows, at most k each. */
static uint64_t
find_near(const Near *near, const uint32_t *piece, uint32_t n, uint32_t seed, const uint64_t *go,
		  int64_t most, uint32_t *count)
{
	GreedyWide *wide = &near->search->wide;
	uint64_t looked = 0;
	const uint64_t *own = words_of(near, piece[seed]);
	uint64_t rows = 0;

	*count = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		const uint64_t *other = words_of(near, piece[i]);
		uint64_t *differ = wide->differ + *count * near->words;

		if (wide->taken[i])
			continue;
		looked++;
		for (size_t w = 0; w < near->words; w++)
			differ[w] = not_zero(own[w] ^ other[w]) & near->open[w];
		if (i != seed && cost_of(near, differ, go, most) > most)
			continue;
		wide->near[(*count)++] = i;
		rows += greedy_row(near->search, near->rows, piece[i])->rows;
	}
	greedy_enough(near->search, looked * near->words * 2);
	return rows;
}

/* The columns that go for the nearest k rows; false: they cost too much. */
static bool
grow(const Near *near, const uint32_t *piece, uint32_t count, uint64_t *go, int64_t most)
{
	const GreedyWide *wide = &near->search->wide;
	uint64_t k = (uint64_t) near->search->problem->k;

	for (;;)
	{
		const uint64_t *best = NULL;
		int64_t least = INT64_MAX;
		uint64_t rows = 0;

		for (uint32_t i = 0; i < count; i++)
		{
			const uint64_t *differ = wide->differ + i * near->words;
			int64_t more = cost_of(near, differ, go, most);
			bool within = more == 0;

			/* (columns may cost nothing) */
			for (size_t w = 0; w < near->words && within; w++)
				within = (differ[w] & ~go[w]) == 0;
			if (within)
				rows += greedy_row(near->search, near->rows, piece[wide->near[i]])->rows;
			else if (more < least)
			{
				least = more;
				best = differ;
			}
		}
		if (greedy_enough(near->search, count * near->words * 3))
			return false;
		if (rows >= k)
			return true;
		if (best == NULL || least > most)
			return false;
		most -= least;
		for (size_t w = 0; w < near->words; w++)
			go[w] |= best[w];
	}
}

/* The seed's group becomes one that was found. */
static void
store_near(const Near *near, const uint32_t *piece, uint32_t count, const uint64_t *go)
{
	GreedySearch *search = near->search;
	GreedyWide *wide = &search->wide;
	GreedyState found = *near->state;
	uint32_t n = 0;
	uint32_t *types;

	found.go = cover(search, kanon_union(found.go, columns_of(near, go)));
	found.cost = kanon_fixed_cost(search->index, found.go);
	for (uint32_t i = 0; i < count; i++)
		if (kanon_within(columns_of(near, wide->differ + i * near->words), found.go))
			wide->near[n++] = wide->near[i];
	types = greedy_found(search, &found, n);
	if (types == NULL)
		return;
	for (uint32_t i = 0; i < n; i++)
	{
		types[i] = greedy_row(search, near->rows, piece[wide->near[i]])->type;
		wide->taken[wide->near[i]] = true;
	}
}

static void
search_piece(Near *near, const uint32_t *piece, uint32_t n)
{
	GreedySearch *search = near->search;
	uint64_t rows = 0;

	int failed = 0;

	memset(search->wide.taken, 0, n * sizeof(bool));
	for (uint32_t i = 0; i < n; i++)
		rows += greedy_row(search, near->rows, piece[i])->rows;
	for (uint32_t i = 0; i < n && rows >= (uint64_t) search->problem->k; i++)
	{
		const uint64_t *own = words_of(near, piece[i]);
		uint64_t go[KANON_MAX_COLUMNS / 8];
		static const uint64_t none[KANON_MAX_COLUMNS / 8];
		int64_t most;
		uint32_t count;

		if (search->wide.taken[i])
			continue;
		for (size_t w = 0; w < near->words; w++)
			go[w] = ~not_zero(own[w]) & near->open[w];
		most = near->high - near->state->cost - cost_of(near, go, none, INT64_MAX);
		if (most < 0 || find_near(near, piece, n, i, go, most, &count) < (uint64_t) search->problem->k ||
			!grow(near, piece, count, go, most))
		{
			if (search->status != KANON_OK || ++failed == PIECE_FAILS)
				return;
			continue;
		}
		failed = 0;
		store_near(near, piece, count, go);
		greedy_enough(search, (uint64_t) count * 16);
		if (search->status != KANON_OK)
			return;
	}
}

/* Room for pieces of n rows, and for the order of all row types. */
static bool
make_room(GreedySearch *search, uint32_t n, size_t words)
{
	GreedyWide *wide = &search->wide;
	size_t ntypes = search->problem->ntypes;

	if (wide->order == NULL)
		wide->order = kanon_alloc(search->env, ntypes, sizeof(uint32_t));
	if (wide->scratch == NULL)
		wide->scratch = kanon_alloc(search->env, ntypes, sizeof(uint32_t));
	if (wide->room < n * words)
	{
		kanon_free(search->env, wide->near);
		kanon_free(search->env, wide->differ);
		kanon_free(search->env, wide->taken);
		wide->room = n * words;
		wide->near = kanon_alloc(search->env, wide->room, sizeof(uint32_t));
		wide->differ = kanon_alloc(search->env, wide->room, sizeof(uint64_t));
		wide->taken = kanon_alloc(search->env, wide->room, sizeof(bool));
	}
	if (wide->order == NULL || wide->scratch == NULL || wide->near == NULL || wide->differ == NULL ||
		wide->taken == NULL)
		search->status = KANON_NO_MEMORY;
	return search->status == KANON_OK;
}

void
greedy_wide_rows(GreedySearch *search, char *rows, uint32_t n, const GreedyState *state)
{
	Near near = {.search = search,
				 .rows = rows,
				 .state = state,
				 .words = (search->stride - sizeof(GreedyRow)) / sizeof(uint64_t)};
	KanonPattern open = kanon_minus(kanon_minus(search->index->all, state->go), state->refined);
	uint32_t most = piece_rows(search);
	uint32_t *order;

	if (!make_room(search, most, near.words))
		return;
	near.least = INT64_MAX / KANON_MAX_COLUMNS;
	near.alike = true;
	KANON_EACH (c, open)
		if (search->index->weight[c] < near.least)
			near.least = search->index->weight[c];
	KANON_EACH (c, open)
		near.alike = near.alike && search->index->weight[c] == near.least;
	KANON_EACH (c, open)
		near.open[search->byte[c] / 8] |= UINT64_C(0x80) << search->byte[c] % 8 * 8;
	for (int i = 0; i < search->problem->ncolumns; i++)
		if (kanon_has(open, search->order[i]))
			near.sorted[near.nsorted++] = search->byte[search->order[i]];
	near.high = search->range->high >= KANON_LEVEL_MAX ? INT64_MAX / 2
													   : ((search->range->high + 1) << KANON_LEVEL_SHIFT) -
															 ((int64_t) 1 << (KANON_LEVEL_SHIFT - 1)) - 1;
	order = search->wide.order;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	kanon_sort(order, search->wide.scratch, n, sizeof(uint32_t), compare_bytes, &near);
	for (uint32_t from = 0; from < n && search->status == KANON_OK; from += most)
		search_piece(&near, order + from, n - from < most ? n - from : most);
}

/* ---- lists ---- */

static int
compare_codes(const void *a, const void *b, void *arg)
{
	const GreedySearch *search = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	for (int i = 0; i < search->problem->ncolumns; i++)
	{
		const uint32_t *code = search->problem->columns[search->order[i]].code;

		if (code[left] != code[right])
			return code[left] < code[right] ? -1 : 1;
	}
	return 0;
}

/* A piece as a block; as several, where its values do not fit one. */
static void
search_types(GreedySearch *search, const uint32_t *types, uint32_t n, const GreedyState *state)
{
	if (greedy_block_make(search, types, n, state))
		greedy_block_search(search, n, state);
	else if (search->status == KANON_OK && n > 1)
	{
		search_types(search, types, n / 2, state);
		search_types(search, types + n / 2, n - n / 2, state);
	}
}

bool
greedy_wide_list(GreedySearch *search, uint32_t *types, uint32_t n, const GreedyState *state)
{
	uint32_t most = piece_rows(search);

	if (!search->bounded ||
		greedy_wide_left(search, state) >= LOOKS * (uint64_t) n * (uint64_t) search->problem->ncolumns)
		return false;
	kanon_sort(types, search->spare, n, sizeof(uint32_t), compare_codes, search);
	for (uint32_t from = 0; from < n && search->status == KANON_OK; from += most)
		search_types(search, types + from, n - from < most ? n - from : most, state);
	return true;
}

void
greedy_wide_free(GreedySearch *search)
{
	kanon_free(search->env, search->wide.order);
	kanon_free(search->env, search->wide.scratch);
	kanon_free(search->env, search->wide.near);
	kanon_free(search->env, search->wide.differ);
	kanon_free(search->env, search->wide.taken);
	memset(&search->wide, 0, sizeof(search->wide));
}
