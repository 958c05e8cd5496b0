/*
 * freeform_check.c: what a table and a published one say by themselves: how many
 * records each row matches, and how many rows each record.
 *
 * Doka, Xue, Tsoumakos, Karras, "k-Anonymization by Freeform Generalization",
 * ASIACCS 2015, section 3.  Rows are found by boxes around them in a tree that is
 * halved along its widest column (Bentley, "Multidimensional binary search trees
 * used for associative searching", CACM 18, 1975).
 */
#include <stdio.h>
#include <string.h>

#include "freeform/freeform_work.h"
#include "model/model.h"
#include "util/sort.h"

#define LEAF 8

typedef struct Node
{
	uint32_t from; /* of the order */
	uint32_t end;
	uint32_t right; /* child; the left one is the next node; 0: a leaf */
	int64_t rows;
	int64_t records; /* that match everything in it */
} Node;

typedef struct Check
{
	KanonScratch memory;
	const KanonProblem *problem;
	const KanonRelease *release;
	KanonPace pace;
	int ncolumns;
	uint32_t *order;   /* [ntypes] */
	uint32_t *scratch; /* [ntypes] */
	uint32_t column;   /* to sort by */
	Node *node;        /* [nnodes] */
	uint32_t *box;     /* [nnodes * ncolumns * 2] least and largest code */
	uint32_t nnodes;
	int64_t *records; /* [ntypes] that match a row of the type */
	/* matches, class by class */
	size_t narcs;
	size_t arc_room;
	uint32_t *type; /* [narcs] */
	size_t *start;  /* [nclasses + 1] */
} Check;

/* ---- the tree ---- */

static uint32_t *
box_of(const Check *check, uint32_t node)
{
	return check->box + (size_t) node * 2 * (size_t) check->ncolumns;
}

static int
compare_types(const void *a, const void *b, void *arg)
{
	const Check *check = arg;
	const uint32_t *code = check->problem->columns[check->column].code;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	if (code[left] != code[right])
		return code[left] < code[right] ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* A node for types order[from..end), and those below it. */
static KanonStatus
plant(Check *check, uint32_t from, uint32_t end)
{
	uint32_t at = check->nnodes++;
	Node *node = &check->node[at];
	uint32_t *box = box_of(check, at);
	double widest = 0;
	uint32_t half = from + (end - from) / 2;
	KanonStatus status;

	if (kanon_stop(&check->pace, (uint64_t) (end - from) * ((uint64_t) check->ncolumns + 16)))
		return KANON_CANCELLED;
	*node = (Node){.from = from, .end = end};
	for (uint32_t x = from; x < end; x++)
		node->rows += check->problem->rows[check->order[x]];
	for (int c = 0; c < check->ncolumns; c++)
	{
		const KanonColumn *column = &check->problem->columns[c];
		uint32_t low = UINT32_MAX;
		uint32_t high = 0;

		for (uint32_t x = from; x < end; x++)
		{
			uint32_t code = column->code[check->order[x]];

			low = code < low ? code : low;
			high = code > high ? code : high;
		}
		box[2 * c] = low;
		box[2 * c + 1] = high;
		if ((double) (high - low) / column->distinct > widest)
		{
			widest = (double) (high - low) / column->distinct;
			check->column = (uint32_t) c;
		}
	}
	if (end - from <= LEAF)
		return KANON_OK;
	kanon_sort(check->order + from, check->scratch, end - from, sizeof(uint32_t), compare_types, check);
	status = plant(check, from, half);
	if (status != KANON_OK)
		return status;
	check->node[at].right = check->nnodes;
	return plant(check, half, end);
}

static bool
shows_type(const Check *check, const KanonCell *cell, uint32_t type)
{
	for (int c = 0; c < check->ncolumns; c++)
		if (!kanon_cell_matches(check->release, cell[c], check->problem->columns[c].code[type]))
			return false;
	return true;
}

/* Does a record match none (-1), all (1) or maybe some (0) of what is in a box? */
static int
compare_box(const Check *check, const KanonCell *cell, const uint32_t *box)
{
	int all = 1;

	for (int c = 0; c < check->ncolumns; c++)
	{
		const uint32_t *pool = check->release->pool + cell[c].code;
		uint32_t low = box[2 * c];
		uint32_t high = box[2 * c + 1];
		uint32_t from = cell[c].code;
		uint32_t to = cell[c].code;

		if (cell[c].show == KANON_SHOW_NOTHING)
			continue;
		if (cell[c].show == KANON_SHOW_RANGE)
		{
			from = pool[0];
			to = pool[1];
		}
		else if (cell[c].show == KANON_SHOW_SET)
		{
			from = pool[1];
			to = pool[pool[0]];
			if (low < high && high - low >= pool[0])
				all = 0;
			else
				for (uint32_t code = low; code <= high; code++)
					if (!kanon_cell_matches(check->release, cell[c], code))
						all = 0;
		}
		if (to < low || from > high)
			return -1;
		if (from > low || to < high)
			all = 0;
	}
	return all;
}

static bool
add_arc(Check *check, uint32_t type)
{
	if (!KANON_GROW(&check->memory, &check->arc_room, check->narcs + 1, KANON_ARRAY(check->type)))
		return false;
	check->type[check->narcs++] = type;
	return true;
}

/* Rows that match class i below a node: counted, or listed as arcs. */
static KanonStatus
search(Check *check, uint32_t i, uint32_t at, bool list, int64_t *rows)
{
	const KanonCell *cell = check->release->cells + (size_t) i * (size_t) check->ncolumns;
	Node *node = &check->node[at];
	int all = compare_box(check, cell, box_of(check, at));
	KanonStatus status;

	if (kanon_stop(&check->pace, (uint64_t) check->ncolumns * 4))
		return KANON_CANCELLED;
	if (all < 0)
		return KANON_OK;
	if (all > 0 && !list)
	{
		*rows += node->rows;
		node->records += check->release->classes[i].rows;
		return KANON_OK;
	}
	if (node->right == 0 || all > 0)
	{
		for (uint32_t x = node->from; x < node->end; x++)
		{
			uint32_t type = check->order[x];

			if (all == 0 && !shows_type(check, cell, type))
				continue;
			*rows += check->problem->rows[type];
			if (!list)
				check->records[type] += check->release->classes[i].rows;
			else if (!add_arc(check, type))
				return KANON_NO_MEMORY;
		}
		return kanon_stop(&check->pace, (uint64_t) (node->end - node->from)) ? KANON_CANCELLED : KANON_OK;
	}
	status = search(check, i, at + 1, list, rows);
	return status == KANON_OK ? search(check, i, node->right, list, rows) : status;
}

/* Counts for whole nodes become counts for their rows. */
static void
count_down(Check *check, uint32_t at, int64_t records)
{
	const Node *node = &check->node[at];

	records += node->records;
	if (node->right == 0)
	{
		for (uint32_t x = node->from; x < node->end; x++)
			check->records[check->order[x]] += records;
		return;
	}
	count_down(check, at + 1, records);
	count_down(check, node->right, records);
}

static KanonStatus
count_matches(Check *check, KanonFreeformFacts *facts)
{
	for (uint32_t i = 0; i < check->release->nclasses; i++)
	{
		int64_t rows = 0;
		KanonStatus status = search(check, i, 0, false, &rows);

		if (status != KANON_OK)
			return status;
		if (i == 0 || rows < facts->record_matches)
			facts->record_matches = rows;
	}
	count_down(check, 0, 0);
	for (uint32_t type = 0; type < check->problem->ntypes; type++)
		if (type == 0 || check->records[type] < facts->row_matches)
			facts->row_matches = check->records[type];
	return KANON_OK;
}

/* The matches, class by class. */
static KanonStatus
list_matches(Check *check)
{
	uint32_t nclasses = check->release->nclasses;

	check->start = kanon_take(&check->memory, (size_t) nclasses + 1, sizeof(size_t));
	if (check->start == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < nclasses; i++)
	{
		int64_t rows = 0;
		KanonStatus status;

		check->start[i] = check->narcs;
		status = search(check, i, 0, true, &rows);
		if (status != KANON_OK)
			return status;
	}
	check->start[nclasses] = check->narcs;
	return KANON_OK;
}

/* The checks that take all matches: whether ks can be kept, and what knowing some owners tells. */
static KanonStatus
find_graph(Check *check, int64_t k, int known, bool likely, KanonFreeformFacts *facts)
{
	KanonStatus status = list_matches(check);

	/* every record k rows, every row k records, no pair twice */
	if (status == KANON_OK && likely)
		status = kanon_freeform_regular(check->problem, check->release, k, check->problem->freeform != NULL,
										(FreeformMatches){check->start, check->type}, &check->pace, NULL,
										&facts->regular);
	facts->too_large = KANON_FACT_REGULAR;
	if (status == KANON_OK && known >= 0)
	{
		facts->too_large = KANON_FACT_CANDIDATES;
		status = kanon_freeform_known(check->problem, check->release, (uint32_t) known, check->start,
									  check->type, &check->pace, &facts->candidates);
	}
	return status;
}

/* Room for the tree, and the tree of all row types. */
static KanonStatus
open_tree(Check *check)
{
	const KanonProblem *problem = check->problem;
	size_t nodes = (size_t) problem->ntypes / (LEAF / 2) * 2 + 8;

	check->order = kanon_take(&check->memory, problem->ntypes, sizeof(uint32_t));
	check->scratch = kanon_take(&check->memory, problem->ntypes, sizeof(uint32_t));
	check->node = kanon_take(&check->memory, nodes, sizeof(Node));
	check->box = kanon_take(&check->memory, nodes, 2 * (size_t) problem->ncolumns * sizeof(uint32_t));
	check->records = kanon_take0(&check->memory, problem->ntypes, sizeof(int64_t));
	if (check->memory.failed)
		return KANON_NO_MEMORY;
	for (uint32_t type = 0; type < problem->ntypes; type++)
		check->order[type] = type;
	return plant(check, 0, problem->ntypes);
}

KanonStatus
kanon_freeform_check(const KanonProblem *problem, const KanonRelease *release, int64_t k, int known,
					 KanonFreeformFacts *facts)
{
	Check check = {.memory = {.env = problem->env},
				   .problem = problem,
				   .release = release,
				   .pace = kanon_pace(problem->env, "check"),
				   .ncolumns = problem->ncolumns};
	int64_t rows = 0;
	int64_t records = 0;
	bool likely;
	KanonStatus status;

	memset(facts, 0, sizeof(*facts));
	for (uint32_t type = 0; type < problem->ntypes; type++)
		rows += problem->rows[type];
	for (uint32_t i = 0; i < release->nclasses; i++)
		records += release->classes[i].rows;
	facts->same_size = rows == records;
	if (problem->ntypes == 0 || release->nclasses == 0)
	{
		facts->regular = facts->same_size;
		return KANON_OK;
	}
	status = open_tree(&check);
	if (status == KANON_OK)
		status = count_matches(&check, facts);
	/* where a row or record has fewer than k matches there is nothing to look for */
	likely = k > 0 && facts->same_size && facts->row_matches >= k && facts->record_matches >= k;
	if (status == KANON_OK && (likely || (known >= 0 && facts->same_size)))
		status = find_graph(&check, k, known, likely, facts);
	kanon_scratch_free(&check.memory);
	return status;
}

/* The records of classes order[from .. end), which have one value, are counted for each row type that they match. */
static KanonStatus
count_value(Check *check, const uint32_t *order, uint32_t from, uint32_t end)
{
	for (uint32_t node = 0; node < check->nnodes; node++)
		check->node[node].records = 0;
	memset(check->records, 0, check->problem->ntypes * sizeof(int64_t));
	for (uint32_t x = from; x < end; x++)
	{
		int64_t rows = 0;
		KanonStatus status = search(check, order[x], 0, false, &rows);

		if (status != KANON_OK)
			return status;
	}
	count_down(check, 0, 0);
	return kanon_stop(&check->pace, (uint64_t) check->problem->ntypes * 2) ? KANON_CANCELLED : KANON_OK;
}

/* The classes by value, those of value v from start[v] on. */
static void
sort_by_value(const uint32_t *value, uint32_t nvalues, uint32_t nclasses, uint32_t *start, uint32_t *order)
{
	for (uint32_t i = 0; i < nclasses; i++)
		start[value[i] + 1]++;
	for (uint32_t v = 0; v < nvalues; v++)
		start[v + 1] += start[v];
	for (uint32_t i = nclasses; i > 0; i--)
		order[--start[value[i - 1] + 1]] = i - 1;
	memmove(start, start + 1, nvalues * sizeof(*start));
	start[nvalues] = nclasses;
}

KanonStatus
kanon_freeform_check_values(const KanonProblem *problem, const KanonRelease *release, const uint32_t *value,
							uint32_t nvalues, int64_t *distinct, double *share)
{
	Check check = {.memory = {.env = problem->env},
				   .problem = problem,
				   .release = release,
				   .pace = kanon_pace(problem->env, "check"),
				   .ncolumns = problem->ncolumns};
	KanonScratch *memory = &check.memory;
	uint32_t *start = kanon_take0(memory, (size_t) nvalues + 1, sizeof(uint32_t));
	uint32_t *order = kanon_take(memory, release->nclasses, sizeof(uint32_t));
	int64_t *values = kanon_take0(memory, problem->ntypes, sizeof(int64_t));
	int64_t *most = kanon_take0(memory, problem->ntypes, sizeof(int64_t));
	int64_t *all = kanon_take0(memory, problem->ntypes, sizeof(int64_t));
	KanonStatus status = kanon_taken(memory);

	*distinct = 0;
	*share = 0;
	if (status == KANON_OK && problem->ntypes > 0)
	{
		sort_by_value(value, nvalues, release->nclasses, start, order);
		status = open_tree(&check);
	}
	for (uint32_t v = 0; v < nvalues && status == KANON_OK && problem->ntypes > 0; v++)
	{
		status = count_value(&check, order, start[v], start[v + 1]);
		for (uint32_t type = 0; type < problem->ntypes; type++)
		{
			values[type] += check.records[type] > 0;
			all[type] += check.records[type];
			most[type] = most[type] > check.records[type] ? most[type] : check.records[type];
		}
	}
	for (uint32_t type = 0; type < problem->ntypes && status == KANON_OK; type++)
	{
		*distinct = type == 0 || values[type] < *distinct ? values[type] : *distinct;
		if (all[type] > 0 && (double) most[type] / (double) all[type] > *share)
			*share = (double) most[type] / (double) all[type];
	}
	kanon_scratch_free(memory);
	return status;
}

/* ---- a release as it was written ---- */

typedef struct Side
{
	const KanonRelease *release;
	int ncolumns;
} Side;

static int
compare_cells(const KanonRelease *one, uint32_t a, const KanonRelease *other, uint32_t b, int ncolumns)
{
	const KanonCell *left = one->cells + (size_t) a * (size_t) ncolumns;
	const KanonCell *right = other->cells + (size_t) b * (size_t) ncolumns;

	for (int c = 0; c < ncolumns; c++)
	{
		int order = kanon_compare_cells(one, left[c], other, right[c]);

		if (order != 0)
			return order;
	}
	return 0;
}

static int
compare_classes(const void *a, const void *b, void *arg)
{
	const Side *side = arg;

	return compare_cells(side->release, *(const uint32_t *) a, side->release, *(const uint32_t *) b,
						 side->ncolumns);
}

/* The classes of a release in the order of their cells. */
static uint32_t *
order_classes(KanonEnv *env, const KanonRelease *release, int ncolumns)
{
	Side side = {release, ncolumns};
	uint32_t *order = kanon_alloc(env, release->nclasses, 2 * sizeof(uint32_t));

	for (uint32_t i = 0; i < release->nclasses && order != NULL; i++)
		order[i] = i;
	if (order != NULL)
		kanon_sort(order, order + release->nclasses, release->nclasses, sizeof(uint32_t), compare_classes,
				   &side);
	return order;
}

KanonStatus
kanon_freeform_confirm(const KanonProblem *problem, const KanonRelease *release, const KanonRelease *written,
					   char *detail, size_t size)
{
	KanonEnv *env = problem->env;
	int ncolumns = problem->ncolumns;
	uint32_t *promised = order_classes(env, release, ncolumns);
	uint32_t *found = order_classes(env, written, ncolumns);
	uint32_t p = 0;
	KanonStatus status = promised != NULL && found != NULL ? KANON_OK : KANON_NO_MEMORY;

	for (uint32_t f = 0, end; f < written->nclasses && status == KANON_OK; f = end)
	{
		int64_t rows = 0;

		/* classes that look the same: told apart by what is kept of their rows */
		for (end = f;
			 end < written->nclasses && compare_cells(written, found[end], written, found[f], ncolumns) == 0;
			 end++)
			rows += written->classes[found[end]].rows;
		/* ... or where they were written */
		for (; p < release->nclasses && compare_cells(release, promised[p], written, found[f], ncolumns) == 0;
			 p++)
			rows -= release->classes[promised[p]].rows;
		if (rows != 0)
			status = KANON_BROKEN;
	}
	if (status == KANON_OK && p < release->nclasses)
		status = KANON_BROKEN;
	if (status == KANON_BROKEN)
		snprintf(detail, size, "it shows other records than those whose matches were checked");
	kanon_free(env, promised);
	kanon_free(env, found);
	return status;
}
