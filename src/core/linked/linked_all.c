/*
 * linked_all.c: k persons of a class agree in all of their rows.
 *
 * Persons of a class are sorted by the number of their rows in each table, then by the cells
 * of these, and cut into groups of k, the last one larger.  In a group the rows of each table
 * are paired in their order: all persons keep as many as the one who has fewest, and rows that
 * are paired show what they have in common.  Rows that hang on paired rows are paired in the
 * same way.
 */
#include "linked/linked.h"
#include "util/sort.h"

#include <string.h>

typedef struct Aligner
{
	LinkedClass *class;
	KanonScratch scratch;
	uint32_t *order; /* persons */
} Aligner;

/* ---- persons in order ---- */

static uint32_t
rows_of_table(const LinkedClass *class, uint32_t person, int table)
{
	uint32_t n = 0;

	for (uint32_t r = class->start[person]; r < class->start[person + 1]; r++)
		n += class->rows[r].table == table;
	return n;
}

/* Nodes are numbered by person; what rows are like says more. */
static int
compare_rows(const LinkedClass *class, uint32_t a, uint32_t b)
{
	const LinkedRow *left = &class->rows[a], *right = &class->rows[b];
	uint32_t one, other;

	if (left->table != right->table)
		return left->table < right->table ? -1 : 1;
	one = class->shapes[left->table].tuple[class->nodes[left->node].like];
	other = class->shapes[left->table].tuple[class->nodes[right->node].like];
	return one < other ? -1 : one > other;
}

static int
compare_persons(const void *a, const void *b, void *arg)
{
	const LinkedClass *class = ((Aligner *) arg)->class;
	uint32_t left = *(const uint32_t *) a, right = *(const uint32_t *) b;
	uint32_t n;

	for (int t = 0; t < class->linked->ntables; t++)
	{
		uint32_t one = rows_of_table(class, left, t), other = rows_of_table(class, right, t);

		if (one != other)
			return one < other ? -1 : 1;
	}
	n = class->start[left + 1] - class->start[left];
	for (uint32_t i = 0; i < n; i++)
	{
		int c = compare_rows(class, class->start[left] + i, class->start[right] + i);

		if (c != 0)
			return c;
	}
	return left < right ? -1 : left > right;
}

static int
compare_places(const void *a, const void *b, void *arg)
{
	uint32_t left = *(const uint32_t *) a, right = *(const uint32_t *) b;
	int c = compare_rows(((Aligner *) arg)->class, left, right);

	return c != 0 ? c : left < right ? -1 : left > right;
}

/* ---- pairing ---- */

/* A node of its own for the i-th rows of all, which show what these have in common. */
static void
pair_rows(LinkedClass *class, uint32_t *const *rows, uint32_t n, uint32_t i)
{
	uint32_t first = rows[0][i];
	const LinkedRow *row = &class->rows[first];
	const KanonColumn *columns = class->linked->tables[row->table].problem->columns;
	const LinkedShape *shape = &class->shapes[row->table];
	uint32_t like = class->nodes[row->node].like;
	/* each row has a place for a node of its own: there are as many as rows */
	uint8_t *level = class->level + (size_t) first * (size_t) class->most_qis;

	for (int q = 0; q < shape->nqis; q++)
	{
		int l = 0;

		for (uint32_t p = 1; p < n; p++)
			while (shape->first[q] + l < shape->first[q + 1] &&
				   columns[shape->first[q] + l].code[like] !=
					   columns[shape->first[q] + l].code[class->nodes[class->rows[rows[p][i]].node].like])
				l++;
		level[q] = (uint8_t) l;
	}
	/* (nodes of single rows are not asked for any more once they are paired) */
	for (uint32_t p = 0; p < n; p++)
		class->rows[rows[p][i]].person = first;
}

static KanonStatus align(Aligner *aligner, const uint32_t *start, const uint32_t *end, const uint32_t *above,
						 uint32_t n);

/* The rows of a table that hang on each of n rows or persons: those of the fewest stay. */
static KanonStatus
align_table(Aligner *aligner, const uint32_t *start, const uint32_t *end, const uint32_t *above, uint32_t n,
			int table)
{
	LinkedClass *class = aligner->class;
	size_t mark = kanon_mark(&aligner->scratch);
	uint32_t **rows = kanon_take(&aligner->scratch, n, sizeof(uint32_t *));
	uint32_t *next = kanon_take(&aligner->scratch, n, sizeof(uint32_t));
	uint32_t fewest = UINT32_MAX;
	KanonStatus status = kanon_taken(&aligner->scratch);

	for (uint32_t p = 0; p < n && status == KANON_OK; p++)
	{
		uint32_t found = 0;
		uint32_t *sort = kanon_take(&aligner->scratch, end[p] - start[p], sizeof(uint32_t));

		rows[p] = kanon_take(&aligner->scratch, end[p] - start[p], sizeof(uint32_t));
		if ((status = kanon_taken(&aligner->scratch)) != KANON_OK)
			break;
		for (uint32_t r = start[p]; r < end[p]; r++)
			if (class->rows[r].table == table && class->rows[r].above == above[p] && !class->rows[r].gone)
				rows[p][found++] = r;
		kanon_sort(rows[p], sort, found, sizeof(uint32_t), compare_places, aligner);
		next[p] = found;
		fewest = found < fewest ? found : fewest;
	}
	for (uint32_t p = 0; p < n && status == KANON_OK; p++)
		for (uint32_t i = fewest; i < next[p]; i++)
			kanon_linked_leave_out(class, rows[p][i]);
	for (uint32_t i = 0; i < fewest && status == KANON_OK; i++)
	{
		for (uint32_t p = 0; p < n; p++)
			next[p] = rows[p][i];
		status = align(aligner, start, end, next, n);
		pair_rows(class, rows, n, i);
	}
	kanon_release(&aligner->scratch, mark);
	return status;
}

static KanonStatus
align(Aligner *aligner, const uint32_t *start, const uint32_t *end, const uint32_t *above, uint32_t n)
{
	KanonStatus status = KANON_OK;

	for (int t = 0; t < aligner->class->linked->ntables && status == KANON_OK; t++)
	{
		int parent = aligner->class->linked->tables[t].parent;

		if (above[0] == KANON_NO_ROW ? parent < 0 : parent == aligner->class->rows[above[0]].table)
			status = align_table(aligner, start, end, above, n, t);
	}
	return status;
}

/* Persons order[from] .. order[to - 1] agree in everything. */
static KanonStatus
align_persons(Aligner *aligner, uint32_t from, uint32_t to)
{
	LinkedClass *class = aligner->class;
	uint32_t n = to - from;
	size_t mark = kanon_mark(&aligner->scratch);
	uint32_t *start = kanon_take(&aligner->scratch, n, sizeof(uint32_t));
	uint32_t *end = kanon_take(&aligner->scratch, n, sizeof(uint32_t));
	uint32_t *above = kanon_take(&aligner->scratch, n, sizeof(uint32_t));
	KanonStatus status = kanon_taken(&aligner->scratch);

	for (uint32_t p = 0; p < n && status == KANON_OK; p++)
	{
		start[p] = class->start[aligner->order[from + p]];
		end[p] = class->start[aligner->order[from + p] + 1];
		above[p] = KANON_NO_ROW;
	}
	if (status == KANON_OK)
		status = align(aligner, start, end, above, n);
	kanon_release(&aligner->scratch, mark);
	return status;
}

/* Rows that are paired have one node, which is numbered by the first of them. */
static KanonStatus
number_nodes(LinkedClass *class, KanonScratch *scratch)
{
	LinkedNode *nodes = kanon_take(scratch, class->nrows, sizeof(LinkedNode));

	if (nodes == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t r = 0; r < class->nrows; r++)
		nodes[r] =
			(LinkedNode){.like = class->nodes[class->rows[r].node].like, .table = class->rows[r].table};
	memcpy(class->nodes, nodes, sizeof(LinkedNode) * class->nrows);
	for (uint32_t r = 0; r < class->nrows; r++)
		class->rows[r].node = class->rows[r].gone ? r : class->rows[r].person;
	class->nnodes = class->nrows;
	return KANON_OK;
}

KanonStatus
kanon_linked_all(LinkedClass *class)
{
	Aligner aligner = {.class = class, .scratch = {.env = class->linked->env}};
	uint32_t k = class->linked->k < UINT32_MAX ? (uint32_t) class->linked->k : UINT32_MAX;
	uint32_t *sort = kanon_take(&aligner.scratch, class->npersons, sizeof(uint32_t));
	KanonStatus status;

	aligner.order = kanon_take(&aligner.scratch, class->npersons, sizeof(uint32_t));
	status = kanon_taken(&aligner.scratch);
	for (uint32_t p = 0; p < class->npersons && status == KANON_OK; p++)
		aligner.order[p] = p;
	if (status == KANON_OK)
		kanon_sort(aligner.order, sort, class->npersons, sizeof(uint32_t), compare_persons, &aligner);
	for (uint32_t from = 0, to; from < class->npersons && status == KANON_OK; from = to)
	{
		to = class->npersons - from < 2 * (uint64_t) k ? class->npersons : from + k;
		status = kanon_stop(class->pace, class->nrows) ? KANON_CANCELLED : align_persons(&aligner, from, to);
	}
	if (status == KANON_OK)
		status = number_nodes(class, &aligner.scratch);
	kanon_scratch_free(&aligner.scratch);
	return status;
}
