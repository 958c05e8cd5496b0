/*
 * known_counts.c: for each set of columns that may be known, the number of rows that show each combination of
 * values.
 *
 * A cell that is blanked or shown again changes one number of each set of its row type.  The numbers of a set lie
 * beside each other, in the order of its columns' values.  Values that fewer than k rows have get no number: no cell
 * may show them.
 *
 * A number is a byte.  A number that has outgrown its byte stays at the largest and says nothing from then on: a
 * caller who must be sure counts the rows.
 */
#include <string.h>

#include "known/known.h"

/* Bytes of all numbers, and places of the sets by their columns, at most. */
#define MOST_BYTES (UINT64_C(1) << 28)
#define MOST_PLACES (UINT64_C(1) << 22)
#ifndef KNOWN_LARGEST
#define KNOWN_LARGEST UINT8_MAX
#endif
#define NOBODY UINT32_MAX

/* A set of columns; those with one column more are its children, by that column, which comes after the others. */
typedef struct Node
{
	uint64_t at;    /* of its numbers */
	uint32_t first; /* of its children; 0: it has none */
	uint8_t k;
	bool last; /* no child has children */
} Node;

struct KanonKnownCounts
{
	KanonShownCells *cells;
	const KanonKnown *known;
	KanonScratch scratch;
	Node *node; /* [nnodes] the first has no columns */
	size_t nnodes, node_room;
	uint32_t *child; /* [nchildren] */
	size_t nchildren, child_room;
	uint32_t *dense[KANON_MAX_COLUMNS]; /* [distinct] values that k rows have, from 0 on; NOBODY */
	uint64_t values[KANON_MAX_COLUMNS];
	uint64_t bytes;
	uint8_t *number; /* [bytes] */
	bool unsure;     /* a number was the largest when a row was taken away */
};

/* The sets of one row type with a column. */
typedef struct Visit
{
	KanonKnownCounts *counts;
	uint32_t type;
	int64_t rows;
	int n;
	int with;                           /* place of the column */
	int column[KANON_MAX_COLUMNS];      /* [n] what it shows, and that column, ascending */
	uint64_t code[KANON_MAX_COLUMNS];   /* [n] */
	uint64_t values[KANON_MAX_COLUMNS]; /* [n] */
	int set[KANON_LISTED_MOST];         /* columns of the set that is looked at */
	bool (*look)(struct Visit *, const Node *, uint8_t *, int); /* at one; false: at no larger ones */
	KanonCountsRare rare;
	void *arg;
	bool fits;
} Visit;

/* ---- the sets and their numbers ---- */

static bool
add_children(KanonKnownCounts *counts, uint32_t node, KanonPattern columns, int from, uint64_t numbers)
{
	const KanonProblem *problem = counts->cells->problem;
	size_t first = counts->nchildren;

	counts->node[node].last = true;
	if (!kanon_known_beyond(counts->known, columns, problem->ncolumns))
		return true;
	counts->nchildren += (size_t) problem->ncolumns;
	if (counts->nchildren > MOST_PLACES ||
		!KANON_GROW(&counts->scratch, &counts->child_room, counts->nchildren, KANON_ARRAY(counts->child)))
		return false;
	memset(counts->child + first, 0, (size_t) problem->ncolumns * sizeof(uint32_t));
	counts->node[node].first = (uint32_t) first;
	for (int c = from; c < problem->ncolumns; c++)
	{
		KanonPattern larger = columns;
		uint64_t more = numbers * counts->values[c];
		uint32_t child = (uint32_t) counts->nnodes;
		int64_t k;

		kanon_add(&larger, c);
		if ((k = kanon_known_k(counts->known, larger)) == 0)
			continue;
		if (k >= KNOWN_LARGEST || more > MOST_BYTES || counts->bytes + more > MOST_BYTES ||
			kanon_count(larger) > KANON_LISTED_MOST ||
			!KANON_GROW(&counts->scratch, &counts->node_room, counts->nnodes + 1, KANON_ARRAY(counts->node)))
			return false;
		counts->node[counts->nnodes++] = (Node){.at = counts->bytes, .k = (uint8_t) k};
		counts->child[first + (size_t) c] = child;
		counts->bytes += more;
		if (!add_children(counts, child, larger, c + 1, more))
			return false;
		if (counts->node[child].first != 0)
			counts->node[node].last = false;
	}
	return true;
}

static void
add_rows(uint8_t *number, int64_t rows)
{
	*number = rows >= KNOWN_LARGEST - *number ? KNOWN_LARGEST : (uint8_t) (*number + rows);
}

/* Numbers the values that k rows have. */
static bool
number_values(KanonKnownCounts *counts, int c)
{
	const KanonProblem *problem = counts->cells->problem;
	const KanonColumn *column = &problem->columns[c];
	int64_t k = kanon_known_k(counts->known, kanon_only(c));
	int64_t *rows = kanon_take0(&counts->scratch, column->distinct, sizeof(int64_t));

	counts->dense[c] = kanon_take(&counts->scratch, column->distinct, sizeof(uint32_t));
	if (counts->scratch.failed)
		return false;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		rows[column->code[i]] += problem->rows[i];
	for (uint32_t v = 0; v < column->distinct; v++)
		counts->dense[c][v] = k > 0 && rows[v] >= k ? (uint32_t) counts->values[c]++ : NOBODY;
	kanon_drop(&counts->scratch, rows);
	return true;
}

/* The row types that show a combination of a set, and its number for each. */
typedef struct Living
{
	uint32_t *type;
	uint32_t *number;
	uint32_t n;
} Living;

/* Counts the children of a set, of which `from` shows a combination each. */
static bool
count_children(KanonKnownCounts *counts, const Node *node, const Living *from, Living *to)
{
	const KanonProblem *problem = counts->cells->problem;

	for (int c = 0; node->first != 0 && c < problem->ncolumns; c++)
	{
		const Node *child = &counts->node[counts->child[node->first + (size_t) c]];
		const uint32_t *code = problem->columns[c].code, *dense = counts->dense[c];
		const uint64_t *blank = counts->cells->blank[c];
		uint8_t *number = counts->number + child->at;

		if (child == counts->node)
			continue;
		to->n = 0;
		for (uint32_t i = 0; i < from->n; i++)
		{
			uint32_t type = from->type[i], at;

			if ((blank[type / 64] >> type % 64 & 1) != 0)
				continue;
			at = from->number[i] * (uint32_t) counts->values[c] + dense[code[type]];
			add_rows(&number[at], problem->rows[type]);
			if (child->first == 0)
				continue;
			to->type[to->n] = type;
			to->number[to->n++] = at;
		}
		if (kanon_stop(counts->cells->pace, from->n))
			return false;
		if (child->first != 0 && !count_children(counts, child, to, to + 1))
			return false;
	}
	return true;
}

static KanonStatus
count_all(KanonKnownCounts *counts)
{
	const KanonProblem *problem = counts->cells->problem;
	size_t most = (size_t) kanon_known_most(counts->known, problem->ncolumns);
	size_t mark = kanon_mark(&counts->scratch);
	Living *living = kanon_take0(&counts->scratch, most + 2, sizeof(Living));
	bool stopped = false;

	for (size_t d = 0; d <= most && !counts->scratch.failed; d++)
	{
		living[d].type = kanon_take(&counts->scratch, problem->ntypes, sizeof(uint32_t));
		living[d].number = kanon_take0(&counts->scratch, problem->ntypes, sizeof(uint32_t));
	}
	if (counts->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		living[0].type[i] = i;
	living[0].n = problem->ntypes;
	counts->number = kanon_alloc0(problem->env, counts->bytes, 1);
	if (counts->number != NULL)
		stopped = !count_children(counts, counts->node, &living[0], &living[1]);
	kanon_release(&counts->scratch, mark);
	return stopped ? KANON_CANCELLED : counts->number == NULL ? KANON_NO_MEMORY : KANON_OK;
}

KanonStatus
kanon_counts_open(KanonShownCells *cells, const KanonKnown *known, KanonKnownCounts **open)
{
	KanonEnv *env = cells->problem->env;
	KanonKnownCounts *counts = *open = kanon_alloc0(env, 1, sizeof(KanonKnownCounts));
	KanonStatus status;
	bool fits;

	if (counts == NULL)
		return KANON_OK;
	counts->cells = cells;
	counts->known = known;
	counts->scratch.env = env;
	counts->nnodes = counts->nchildren = 1;
	fits = KANON_GROW(&counts->scratch, &counts->node_room, 1, KANON_ARRAY(counts->node)) &&
		   KANON_GROW(&counts->scratch, &counts->child_room, 1, KANON_ARRAY(counts->child));
	if (fits)
		counts->node[0] = (Node){0};
	for (int c = 0; c < cells->problem->ncolumns && fits; c++)
		fits = number_values(counts, c);
	fits = fits && add_children(counts, 0, KANON_NONE, 0, 1);
	status = fits ? count_all(counts) : KANON_NO_MEMORY;
	if (status == KANON_OK)
		return KANON_OK;
	kanon_counts_close(counts);
	*open = NULL;
	return status == KANON_CANCELLED ? KANON_CANCELLED : KANON_OK;
}

void
kanon_counts_close(KanonKnownCounts *counts)
{
	KanonEnv *env;

	if (counts == NULL)
		return;
	env = counts->cells->problem->env;
	kanon_free(env, counts->number);
	kanon_scratch_free(&counts->scratch);
	kanon_free(env, counts);
}

bool
kanon_counts_unsure(KanonKnownCounts *counts)
{
	bool unsure = counts->unsure;

	counts->unsure = false;
	return unsure;
}

/* ---- the sets of a row type ---- */

/* The sets with the columns so far, of which one is the column asked for (or is still to come), and one more. */
static void
visit_children(Visit *visit, const Node *node, uint64_t number, int depth, int from)
{
	const KanonKnownCounts *counts = visit->counts;
	const uint32_t *child = counts->child + node->first;
	bool with = from > visit->with;

	if (visit->with == KANON_MAX_COLUMNS)
		return;
	if (!with && node->last)
		from = visit->with;
	/* memory is far away: it is asked for all numbers before the first is looked at */
	for (int i = from; i < visit->n && node->last && (with || i == visit->with); i++)
		__builtin_prefetch(counts->number + counts->node[child[visit->column[i]]].at +
						   number * visit->values[i] + visit->code[i]);
	for (int i = from; i < visit->n && visit->fits && (with || i <= visit->with); i++)
	{
		const Node *larger = &counts->node[child[visit->column[i]]];
		uint64_t at = number * visit->values[i] + visit->code[i];
		bool on = true;

		if (larger == counts->node)
			continue;
		visit->set[depth] = visit->column[i];
		if (with || i == visit->with)
			on = visit->look(visit, larger, counts->number + larger->at + at, depth + 1);
		if (on && larger->first != 0)
			visit_children(visit, larger, at, depth + 1, i + 1);
	}
}

/* False: a value is nobody's to show. */
static bool
visit_open(Visit *visit, KanonPattern shown, int column)
{
	const KanonKnownCounts *counts = visit->counts;
	const KanonProblem *problem = counts->cells->problem;

	visit->rows = problem->rows[visit->type];
	visit->n = 0;
	visit->with = KANON_MAX_COLUMNS;
	visit->fits = true;
	kanon_add(&shown, column);
	KANON_EACH (c, shown)
	{
		uint32_t code = counts->dense[c][problem->columns[c].code[visit->type]];

		if (counts->child[counts->node->first + (size_t) c] == 0)
			continue; /* nobody asks */
		if (code == NOBODY)
			return false;
		if (c == column)
			visit->with = visit->n;
		visit->column[visit->n] = c;
		visit->values[visit->n] = counts->values[c];
		visit->code[visit->n++] = code;
	}
	return true;
}

static bool
look_and_take(Visit *visit, const Node *node, uint8_t *number, int ncolumns)
{
	uint8_t before = *number;

	if (before == KNOWN_LARGEST)
	{
		visit->counts->unsure = true;
		return true;
	}
	*number = (uint8_t) (before - visit->rows);
	if (before >= node->k && *number > 0 && *number < node->k)
		visit->rare(visit->arg, visit->type, visit->set, ncolumns, node->k);
	return true;
}

static bool
look_and_add(Visit *visit, const Node *node, uint8_t *number, int ncolumns)
{
	(void) node;
	(void) ncolumns;
	add_rows(number, visit->rows);
	return true;
}

/* Has it k rows with those of the row type? */
static bool
look_whether_fits(Visit *visit, const Node *node, uint8_t *number, int ncolumns)
{
	int64_t enough = node->k - visit->rows;

	if (*number < KNOWN_LARGEST)
		visit->fits = *number >= enough;
	else
		visit->fits = enough <= 0 || kanon_cells_count(visit->counts->cells, visit->type, visit->set,
													   ncolumns, enough, NULL, NULL) >= enough;
	return visit->fits;
}

void
kanon_counts_take(KanonKnownCounts *counts, uint32_t type, KanonPattern shown, int column,
				  KanonCountsRare rare, void *arg)
{
	Visit visit = {.counts = counts, .type = type, .look = look_and_take, .rare = rare, .arg = arg};

	if (visit_open(&visit, shown, column))
		visit_children(&visit, counts->node, 0, 0, 0);
}

void
kanon_counts_add(KanonKnownCounts *counts, uint32_t type, KanonPattern shown, int column)
{
	Visit visit = {.counts = counts, .type = type, .look = look_and_add};

	if (visit_open(&visit, shown, column))
		visit_children(&visit, counts->node, 0, 0, 0);
}

bool
kanon_counts_fit(KanonKnownCounts *counts, uint32_t type, KanonPattern shown, int column)
{
	Visit visit = {.counts = counts, .type = type, .look = look_whether_fits};

	if (!visit_open(&visit, shown, column))
		return false;
	visit_children(&visit, counts->node, 0, 0, 0);
	return visit.fits;
}

/*
 * ---- Sets of columns by row type, as differences of their numbers, seven bits a byte: there are thousands
 * for each of many row types.
 */

/* Bytes of a row type; the newest part comes first, and holds a whole number of entries. */
#define PART_BYTES 27
#define ENTRY_BYTES 5

struct KanonListPart
{
	uint32_t next; /* 0: none */
	uint8_t used;
	uint8_t byte[PART_BYTES];
};

/* Parts of a block, and blocks at most: 32 MB. */
#ifndef KANON_LIST_PARTS
#define KANON_LIST_PARTS 32768
#endif
#define KANON_LIST_BLOCKS 32

KanonStatus
kanon_list_open(KanonRareList *list, const KanonProblem *problem, KanonScratch *scratch)
{
	list->first = kanon_take0(scratch, problem->ntypes, sizeof(uint32_t));
	list->last = kanon_take0(scratch, problem->ntypes, sizeof(uint32_t));
	list->scratch.env = problem->env;
	list->nparts = 1;
	return kanon_taken(scratch);
}

static KanonListPart *
part_at(const KanonRareList *list, uint32_t number)
{
	return &list->block[(number - 1) / KANON_LIST_PARTS][(number - 1) % KANON_LIST_PARTS];
}

/* Room for one more part; 0: there is none. */
static uint32_t
new_part(KanonRareList *list)
{
	if ((list->nparts - 1) / KANON_LIST_PARTS >= list->nblocks)
	{
		KanonListPart *block;

		if (list->nblocks == KANON_LIST_BLOCKS ||
			!KANON_GROW(&list->scratch, &list->room, list->nblocks + 1, KANON_ARRAY(list->block)))
			return 0;
		block = kanon_take(&list->scratch, KANON_LIST_PARTS, sizeof(KanonListPart));
		if (block == NULL)
			return 0;
		list->block[list->nblocks++] = block;
	}
	return list->nparts++;
}

bool
kanon_list_set(KanonRareList *list, const int *column, int ncolumns)
{
	KanonListedSet set = {.ncolumns = (uint8_t) ncolumns};

	for (int i = 0; i < ncolumns; i++)
		set.column[i] = (uint8_t) column[i];
	if (list->nsets > 0 && memcmp(&list->set[list->nsets - 1], &set, sizeof(set)) == 0)
		return true;
	if (list->nsets >= UINT32_MAX / 4 ||
		!KANON_GROW(&list->scratch, &list->set_room, list->nsets + 1, KANON_ARRAY(list->set)))
		return false;
	list->set[list->nsets++] = set;
	return true;
}

bool
kanon_list_add(KanonRareList *list, uint32_t type)
{
	uint32_t number = (uint32_t) (list->nsets - 1);
	uint32_t ahead = number - (list->first[type] != 0 ? list->last[type] : 0);
	KanonListPart *part = list->first[type] != 0 ? part_at(list, list->first[type]) : NULL;

	if (part != NULL && ahead == 0)
		return true;
	if (part == NULL || part->used > PART_BYTES - ENTRY_BYTES)
	{
		uint32_t next = new_part(list);

		if (next == 0)
			return false;
		part = part_at(list, next);
		part->next = list->first[type];
		part->used = 0;
		list->first[type] = next;
	}
	for (; ahead >= 128; ahead >>= 7)
		part->byte[part->used++] = (uint8_t) (ahead | 128);
	part->byte[part->used++] = (uint8_t) ahead;
	list->last[type] = number;
	return true;
}

/* The differences of a part, from the first to the last. */
static size_t
read_part(const KanonListPart *part, uint32_t *ahead)
{
	size_t n = 0;

	for (int at = 0; at < part->used;)
	{
		uint32_t number = 0;
		int shift = 0;

		do
			number |= (uint32_t) (part->byte[at] & 127) << shift;
		while (shift += 7, (part->byte[at++] & 128) != 0);
		ahead[n++] = number;
	}
	return n;
}

size_t
kanon_list_read(const KanonRareList *list, uint32_t type, uint32_t *sets, size_t room)
{
	uint32_t number = list->last[type];
	size_t n = 0;

	for (uint32_t p = list->first[type]; p != 0 && n < room; p = part_at(list, p)->next)
	{
		uint32_t ahead[PART_BYTES];

		for (size_t i = read_part(part_at(list, p), ahead); i > 0 && n < room; i--)
		{
			sets[n++] = number;
			number -= ahead[i - 1];
		}
	}
	return n;
}

void
kanon_list_clear(KanonRareList *list, const KanonProblem *problem)
{
	kanon_scratch_free(&list->scratch);
	list->block = NULL;
	list->set = NULL;
	list->nblocks = list->room = list->nsets = list->set_room = 0;
	list->nparts = 1;
	if (list->first != NULL)
		memset(list->first, 0, (size_t) problem->ntypes * sizeof(uint32_t));
}
