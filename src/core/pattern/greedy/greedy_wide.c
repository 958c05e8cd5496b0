/*
 * greedy_wide.c: tables of so many columns that not all of their groups can be looked at.
 *
 * With dozens of columns a batch has more groups of k rows than there is time for.  From
 * there on each row that is left looks for its nearest rows.  A row at a time joins, that
 * which differs in least beyond the columns in which the group differs already, until
 * there are k; then all that fit.  The cheapest group becomes a class, and so on, which is
 * the order in which Algorithm 1 takes groups.  A group only becomes dearer while others
 * take rows, so a queue orders rows by the cost of the group that each found last, and the
 * row on top looks again.
 *
 * All rows are compared with all, so large tables are put into the order of what they show and
 * cut into pieces: the work is bounded, and the same in every run.
 */
#include <string.h>

#include "pattern/greedy/greedy.h"
#include "privacy/rules.h"
#include "util/sort.h"
#include "util/number.h"

/* Cells that are compared while each row looks once; rows of a piece at least, and when time is up. */
#define CELLS ((uint64_t) 1 << 36)
#define PIECE_ROWS 256
#define HURRIED_ROWS 64

/* A group is made of its nearest rows: so many, and more for each of k.  Without success it takes a multiple. */
#define NEAREST 64
#define NEAREST_K 2
#define FARTHER 4
#define TIES 2

/* Rows whose cells lie together.  Differences count as bytes. */
#define LANE 32
#define DISTANCES 256

/* Eight bytes at once: the highest bit of each. */
#define HIGH UINT64_C(0x8080808080808080)

typedef uint8_t Lane __attribute__((vector_size(LANE)));

/* A piece of the rows that are left.  Rows of it that are taken leave it when there are many. */
typedef struct Piece
{
	Greedy *greedy;
	KanonScratch scratch;
	const uint32_t *types; /* all of them */
	uint32_t *row;         /* [n] of types: those still here */
	uint32_t n;
	uint32_t taken;      /* of n */
	Lane *cell;          /* by LANE rows and then by column: what a row shows there, as a byte */
	Lane *distance;      /* of all rows */
	uint8_t *bytes;      /* the same by row, */
	size_t stride;       /* so many each */
	KanonPattern hashed; /* columns of more values than bytes */
	uint8_t weight[KANON_MAX_COLUMNS];
	uint32_t *near; /* types: the nearest, */
	KanonPattern *differ;
	int64_t *more; /* what each costs beyond the group, */
	uint32_t *group;
	uint32_t ngroup;
	KanonPattern go; /* and its pattern */
	KanonHeap queue;
} Piece;

/* ---- which rows are near ---- */

static uint8_t
byte_of(const KanonColumn *column, uint32_t code)
{
	return (uint8_t) (column->distinct <= DISTANCES ? code : code * UINT32_C(2654435769) >> 24);
}

/* The weights of the columns as bytes, whose sum is a byte, too. */
static void
weigh(Piece *piece)
{
	const KanonMaskIndex *index = piece->greedy->index;
	int n = index->problem->ncolumns;
	int least = n <= DISTANCES / 2 ? 1 : 0;
	int64_t total = kanon_fixed_cost(index, index->all);

	for (int c = 0; c < n; c++)
	{
		if (index->problem->columns[c].distinct > DISTANCES)
			kanon_add(&piece->hashed, c);
		piece->weight[c] = (uint8_t) (kanon_has(index->go, c) || total == 0
										  ? 0
										  : least + (int) ((double) index->weight[c] / (double) total *
														   (DISTANCES - 1 - least * n)));
	}
}

/* The cells of the rows that are here. */
static void
fill_cells(Piece *piece)
{
	const KanonProblem *problem = piece->greedy->problem;
	uint8_t *cell = (uint8_t *) piece->cell;

	for (uint32_t i = 0; i < piece->n; i++)
	{
		uint8_t *to = cell + (size_t) (i / LANE) * LANE * (unsigned) problem->ncolumns + i % LANE;
		uint8_t *own = piece->bytes + i * piece->stride;

		for (int c = 0; c < problem->ncolumns; c++)
			own[c] = to[c * LANE] =
				byte_of(&problem->columns[c], problem->columns[c].code[piece->types[piece->row[i]]]);
	}
	piece->taken = 0;
}

/* How far all rows are from one. */
LONG_VECTORS static void
measure(const Piece *piece, int ncolumns, const uint8_t *own)
{
	Lane value[KANON_MAX_COLUMNS];
	Lane weight[KANON_MAX_COLUMNS];

	for (int c = 0; c < ncolumns; c++)
	{
		value[c] = (Lane){0} + own[c];
		weight[c] = (Lane){0} + piece->weight[c];
	}
	for (size_t l = 0; l * LANE < piece->n; l++)
	{
		const Lane *cell = piece->cell + l * (unsigned) ncolumns;
		Lane sum = {0};

		for (int c = 0; c < ncolumns; c++)
			sum += (Lane) (cell[c] != value[c]) & weight[c];
		piece->distance[l] = sum;
	}
}

/* How many rows are within that distance, and some that are none. */
LONG_VECTORS static uint32_t
count_within(const Piece *piece, int limit)
{
	Lane most = (Lane){0} + (uint8_t) limit;
	uint32_t count = 0;

	for (size_t l = 0; l * LANE < piece->n;)
	{
		Lane sum = {0};

		for (int i = 0; i < DISTANCES - 1 && l * LANE < piece->n; i++, l++)
			sum -= (Lane) (piece->distance[l] <= most);
		for (int i = 0; i < LANE; i++)
			count += sum[i];
	}
	return count;
}

/* The columns in which a row differs from another one. */
static KanonPattern
difference(const Piece *piece, uint32_t i, uint32_t type, const uint8_t *own, uint32_t own_type)
{
	const KanonColumn *columns = piece->greedy->problem->columns;
	KanonPattern differ = KANON_NONE;
	KanonPattern unsure;

	for (size_t w = 0; w < piece->stride / sizeof(uint64_t); w++)
	{
		uint64_t a, b;

		memcpy(&a, own + w * sizeof(uint64_t), sizeof(a));
		memcpy(&b, piece->bytes + i * piece->stride + w * sizeof(uint64_t), sizeof(b));
		a ^= b;
		/* the highest bit of each byte that differs; then one bit for each byte */
		a = (((a & ~HIGH) + ~HIGH) | a) & HIGH;
		differ.word[w / 8] |= ((a >> 7) * UINT64_C(0x0102040810204080) >> 56) << w % 8 * 8;
	}
	unsure = kanon_minus(piece->hashed, differ);
	KANON_EACH (c, unsure)
		if (columns[c].code[type] != columns[c].code[own_type])
			kanon_add(&differ, c);
	return differ;
}

/* Lists so many of the nearest rows, and some that are as near; their number. */
static uint32_t
find_near(Piece *piece, const uint8_t *own, uint32_t own_type, uint32_t most)
{
	const Greedy *greedy = piece->greedy;
	uint32_t n = 0;
	int limit = 0;

	for (int step = DISTANCES / 2; step > 0; step /= 2)
		if (count_within(piece, limit + step - 1) < most)
			limit += step;
	for (uint32_t from = 0; from < piece->n; from += LANE)
	{
		uint64_t some[LANE / sizeof(uint64_t)];
		Lane within = (Lane) (piece->distance[from / LANE] <= (Lane){0} + (uint8_t) limit);

		memcpy(some, &within, sizeof(some));
		for (uint32_t w = 0; w < LANE / sizeof(uint64_t); w++)
			for (uint64_t word = some[w] & HIGH; word != 0 && n < TIES * most; word &= word - 1)
			{
				uint32_t i = from + w * 8 + (uint32_t) __builtin_ctzll(word) / 8;
				uint32_t type;

				if (i >= piece->n)
					return n;
				type = piece->types[piece->row[i]];
				if (greedy->class_[type] != GREEDY_NOBODY)
					continue;
				piece->differ[n] = difference(piece, i, type, own, own_type);
				if (kanon_meet(piece->differ[n], greedy->index->stay))
					continue;
				piece->near[n++] = type;
			}
	}
	return n;
}

/* ---- groups ---- */

/* The least allowed pattern that suppresses these columns. */
static KanonPattern
cover(const Greedy *greedy, KanonPattern columns)
{
	if (greedy->patterns == NULL)
		return kanon_mask_cover(greedy->index, columns);
	for (size_t i = 0; i < greedy->npatterns; i++)
		if (kanon_within(columns, greedy->patterns[i]))
			return greedy->patterns[i];
	return greedy->index->all;
}

/* The rows among the nearest that differ in nothing else: are they a class? */
static bool
is_class(Piece *piece, uint32_t n)
{
	const KanonProblem *problem = piece->greedy->problem;
	int64_t rows = 0;

	piece->ngroup = 0;
	for (uint32_t i = 0; i < n; i++)
		if (kanon_within(piece->differ[i], piece->go))
		{
			uint32_t type = piece->near[i];

			piece->group[piece->ngroup++] = type;
			rows += problem->rows[type];
		}
	return rows >= piece->greedy->searched.k &&
		   kanon_class_allowed(problem, piece->group, NULL, piece->ngroup, rows);
}

/* Lets the nearest of n rows join until they are a class; false: they are none. */
static bool
grow(Piece *piece, uint32_t n)
{
	const KanonMaskIndex *index = piece->greedy->index;
	KanonPattern before = KANON_NONE;

	piece->go = cover(piece->greedy, KANON_NONE);
	for (uint32_t i = 0; i < n; i++)
		piece->more[i] = kanon_fixed_cost(index, piece->differ[i]);
	while (!kanon_same(piece->go, index->all))
	{
		KanonPattern added = kanon_minus(piece->go, before);
		uint32_t best = n;

		for (uint32_t i = 0; i < n; i++)
		{
			KanonPattern free = kanon_both(piece->differ[i], added);

			KANON_EACH (c, free)
				piece->more[i] -= index->weight[c];
			if ((best == n || piece->more[i] < piece->more[best]) &&
				!kanon_within(piece->differ[i], piece->go))
				best = i;
		}
		if (is_class(piece, n))
			return true;
		if (best == n)
			return false;
		before = piece->go;
		piece->go = cover(piece->greedy, kanon_union(piece->go, piece->differ[best]));
	}
	return false;
}

/* The group of a row: false if there is none. */
static bool
search_seed(Piece *piece, uint32_t seed, KanonStatus *status)
{
	Greedy *greedy = piece->greedy;
	const KanonProblem *problem = greedy->problem;
	int64_t k = greedy->searched.k < piece->n ? greedy->searched.k : piece->n;
	uint32_t most = NEAREST + NEAREST_K * (uint32_t) k;
	uint8_t own[KANON_MAX_COLUMNS] = {0};
	bool found = false;

	for (int c = 0; c < problem->ncolumns; c++)
		own[c] = byte_of(&problem->columns[c], problem->columns[c].code[piece->types[seed]]);
	measure(piece, problem->ncolumns, own);
	for (bool more = true; more && !found && *status == KANON_OK && !greedy->pace.late; most *= FARTHER)
	{
		more = most < piece->n;
		found = grow(piece, find_near(piece, own, piece->types[seed], more ? most : piece->n));
		if (kanon_stop(&greedy->pace, (uint64_t) piece->n * (1 + (unsigned) problem->ncolumns / LANE) +
										  16 * (uint64_t) most))
			*status = KANON_CANCELLED;
	}
	greedy->search.nodes++;
	return found;
}

/* ---- pieces ---- */

/* Rows that were taken leave the piece. */
static void
compact(Piece *piece)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < piece->n; i++)
		if (piece->greedy->class_[piece->types[piece->row[i]]] == GREEDY_NOBODY)
			piece->row[n++] = piece->row[i];
	piece->n = n;
	fill_cells(piece);
}

/* Takes the cheapest group, again and again. */
static KanonStatus
take_groups(Piece *piece)
{
	Greedy *greedy = piece->greedy;
	KanonStatus status = KANON_OK;

	for (uint32_t i = 0; i < piece->n && status == KANON_OK; i++)
		if (!kanon_heap_add(&piece->scratch, &piece->queue, 0, i))
			return KANON_NO_MEMORY;
	while (piece->queue.n > 0 && status == KANON_OK && !greedy->pace.late)
	{
		KanonKeyed top = kanon_heap_take(&piece->queue);
		double cost;

		if (greedy->class_[piece->types[top.item]] != GREEDY_NOBODY || !search_seed(piece, top.item, &status))
			continue;
		cost = (double) kanon_fixed_cost(greedy->index, piece->go);
		if (cost > top.key && (piece->queue.n > 0 && cost > piece->queue.items[0].key))
		{
			if (!kanon_heap_add(&piece->scratch, &piece->queue, cost, top.item))
				return KANON_NO_MEMORY;
			continue;
		}
		status = greedy_take(greedy, piece->go, piece->group, piece->ngroup);
		piece->taken += piece->ngroup;
		if (status == KANON_OK && piece->taken > piece->n / 8)
			compact(piece);
	}
	return status;
}

static KanonStatus
search_piece(Greedy *greedy, const uint32_t *types, uint32_t n)
{
	Piece piece = {.greedy = greedy, .scratch = {.env = greedy->env}, .types = types, .n = n};
	size_t nlanes = ((size_t) n + LANE - 1) / LANE;
	char *lanes =
		kanon_take0(&piece.scratch, (nlanes + 1) * ((unsigned) greedy->problem->ncolumns + 1), LANE);
	KanonStatus status;

	piece.stride = ((size_t) greedy->problem->ncolumns + 7) / 8 * 8;
	piece.bytes = kanon_take0(&piece.scratch, n, piece.stride);
	piece.row = kanon_take(&piece.scratch, n, sizeof(*piece.row));
	piece.near = kanon_take(&piece.scratch, n, sizeof(*piece.near));
	piece.differ = kanon_take(&piece.scratch, n, sizeof(*piece.differ));
	piece.more = kanon_take(&piece.scratch, n, sizeof(*piece.more));
	piece.group = kanon_take(&piece.scratch, n, sizeof(*piece.group));
	status = kanon_taken(&piece.scratch);
	if (status == KANON_OK)
	{
		piece.distance = (Lane *) (lanes + (LANE - (uintptr_t) lanes % LANE) % LANE);
		piece.cell = piece.distance + nlanes;
		for (uint32_t i = 0; i < n; i++)
			piece.row[i] = i;
		weigh(&piece);
		fill_cells(&piece);
		status = take_groups(&piece);
	}
	kanon_scratch_free(&piece.scratch);
	return status;
}

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

/* So many rows of a piece that all of them together cost no more than what is allowed. */
static uint32_t
piece_rows(const Greedy *greedy, bool hurried)
{
	uint64_t most = CELLS / ((uint64_t) greedy->nleft * (unsigned) greedy->problem->ncolumns);
	uint64_t least = hurried ? HURRIED_ROWS : PIECE_ROWS;

	if (hurried || most < least)
		most = least;
	return most < greedy->nleft ? (uint32_t) most : greedy->nleft;
}

KanonStatus
greedy_wide(Greedy *greedy)
{
	KanonStatus status = KANON_OK;
	bool hurried = false;
	int64_t before = INT64_MAX;

	while (status == KANON_OK && !greedy_is_over(greedy) && (greedy->rows_left < before || greedy->pace.late))
	{
		uint32_t most;

		if (greedy->pace.late)
		{
			if (hurried)
				break;
			hurried = true;
			greedy->pace.late = false;
			greedy->pace.deadline = greedy->end;
			greedy->report->stopped = true;
			greedy->unsure = true;
		}
		before = greedy->rows_left;
		most = piece_rows(greedy, hurried);
		kanon_sort(greedy->left, greedy->search.spare, greedy->nleft, sizeof(uint32_t), compare_codes,
				   &greedy->search);
		for (uint32_t from = 0; from < greedy->nleft && status == KANON_OK && !greedy->pace.late;
			 from += most)
			status = search_piece(greedy, greedy->left + from,
								  greedy->nleft - from < most ? greedy->nleft - from : most);
		if (status == KANON_OK)
			status = greedy_list_left(greedy);
	}
	return status;
}
