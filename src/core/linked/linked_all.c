/*
 * linked_all.c: k persons of a class agree in all of their rows.
 *
 * Persons of a class are sorted by the number of their rows in each table, then by the cells
 * of these, and cut into groups of k to 2k - 1 where that loses least; then persons of two groups
 * change places as long as that loses less.  In a group all persons keep as many rows of each table
 * as the one who has fewest.  Rows are paired with the rows of this person that are most like them,
 * and show what they have in common.  Rows that hang on paired rows are paired in the same way.
 */
#include "linked/linked.h"
#include "privacy/rules.h"
#include "util/sort.h"

#include <math.h>
#include <string.h>

/* Rows of two persons that are compared, each with each, at most. */
#define MOST_PAIRS 4096

/* Groups of a class of which the loss is asked for to improve it, at most. */
#define MOST_TRIALS 1000

typedef struct Aligner
{
	LinkedClass *class;
	KanonScratch scratch;
	uint32_t *order; /* persons */
	uint32_t k;
	uint32_t ngroups;
	uint32_t *size;    /* [ngroups] persons of each, in that order */
	uint32_t *members; /* [ngroups][2k] while persons change places, */
	double *losses;    /* and what each loses */
	int trials;
	bool tries; /* nothing is changed: what it would lose is summed up */
	double loss;
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

/* Raises the levels until they hide how the types differ; what a row that shows them costs. */
static double
raise_levels(const LinkedClass *class, int table, uint32_t like, uint32_t other, uint8_t *level)
{
	const KanonColumn *columns = class->linked->tables[table].problem->columns;
	const LinkedShape *shape = &class->shapes[table];
	double cost = 0;

	for (int q = 0; q < shape->nqis; q++)
	{
		int column = shape->first[q] + level[q];

		while (column < shape->first[q + 1] && columns[column].code[like] != columns[column].code[other])
			column++;
		level[q] = (uint8_t) (column - shape->first[q]);
		cost += shape->price[shape->price_of[q] + level[q]];
	}
	return cost;
}

static uint32_t
type_of(const LinkedClass *class, uint32_t row)
{
	return class->nodes[class->rows[row].node].like;
}

/* A node of its own for the i-th rows of all, which show what these have in common. */
static void
pair_rows(Aligner *aligner, uint32_t *const *rows, uint32_t n, uint32_t i)
{
	LinkedClass *class = aligner->class;
	uint32_t first = rows[0][i];
	int table = class->rows[first].table;
	uint8_t level[KANON_MAX_QIS] = {0};
	double cost = 0;

	for (uint32_t p = 0; p < n; p++)
		cost = raise_levels(class, table, type_of(class, first), type_of(class, rows[p][i]), level);
	aligner->loss += n * cost;
	if (aligner->tries)
		return;
	/* each row has a place for a node of its own: there are as many as rows */
	memcpy(class->level + (size_t) first * (size_t) class->most_qis, level,
		   (size_t) class->shapes[table].nqis);
	/* (nodes of single rows are not asked for any more once they are paired) */
	for (uint32_t p = 0; p < n; p++)
		class->rows[rows[p][i]].person = first;
}

/* The first rows of a person become those that are most like these, one by one; the others come after them. */
static void
pair_nearest(const LinkedClass *class, const uint32_t *like, uint8_t *level, uint32_t nlike, uint32_t *rows,
			 uint32_t n)
{
	size_t width = (size_t) class->most_qis;

	for (uint32_t i = 0; i < nlike; i++)
	{
		int table = class->rows[like[i]].table;
		double least = INFINITY;
		uint32_t nearest = i;

		for (uint32_t j = i; j < n; j++)
		{
			uint8_t raised[KANON_MAX_QIS];
			double cost;

			memcpy(raised, level + i * width, width);
			cost = raise_levels(class, table, type_of(class, like[i]), type_of(class, rows[j]), raised);
			if (cost < least)
			{
				least = cost;
				nearest = j;
			}
		}
		{
			uint32_t row = rows[nearest];

			rows[nearest] = rows[i];
			rows[i] = row;
			(void) raise_levels(class, table, type_of(class, like[i]), type_of(class, row),
								level + i * width);
		}
	}
}

/* Rows of all in the order in which they are paired: the i-th of each are alike. */
static KanonStatus
pair_all(Aligner *aligner, uint32_t **rows, const uint32_t *found, uint32_t n)
{
	size_t width = (size_t) aligner->class->most_qis;
	uint32_t least = 0;
	uint8_t *level;

	for (uint32_t p = 1; p < n; p++)
		least = found[p] < found[least] ? p : least;
	level = kanon_take0(&aligner->scratch, found[least], width);
	if (kanon_taken(&aligner->scratch) != KANON_OK)
		return KANON_NO_MEMORY;
	for (uint32_t p = 0; p < n; p++)
		if (p != least && (uint64_t) found[least] * found[p] <= MOST_PAIRS)
			pair_nearest(aligner->class, rows[least], level, found[least], rows[p], found[p]);
	return KANON_OK;
}

static void
leave_out(Aligner *aligner, uint32_t row)
{
	aligner->loss += kanon_linked_price(aligner->class, row);
	if (!aligner->tries)
		kanon_linked_leave_out(aligner->class, row);
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
	if (status == KANON_OK && fewest > 0)
		status = pair_all(aligner, rows, next, n);
	for (uint32_t p = 0; p < n && status == KANON_OK; p++)
		for (uint32_t i = fewest; i < next[p]; i++)
			leave_out(aligner, rows[p][i]);
	for (uint32_t i = 0; i < fewest && status == KANON_OK; i++)
	{
		for (uint32_t p = 0; p < n; p++)
			next[p] = rows[p][i];
		status = align(aligner, start, end, next, n);
		pair_rows(aligner, rows, n, i);
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
		const KanonLinkedTable *table = &aligner->class->linked->tables[t];
		int of = above[0] == KANON_NO_ROW ? -1 : aligner->class->rows[above[0]].table;

		/* (rows that join none, or not any more, come after all that could be joined) */
		if (table->parent == of || (table->joined != NULL && table->joins == of))
			status = align_table(aligner, start, end, above, n, t);
	}
	return status;
}

/* Persons agree in everything. */
static KanonStatus
align_persons(Aligner *aligner, const uint32_t *person, uint32_t n)
{
	LinkedClass *class = aligner->class;
	size_t mark = kanon_mark(&aligner->scratch);
	uint32_t *start = kanon_take(&aligner->scratch, n, sizeof(uint32_t));
	uint32_t *end = kanon_take(&aligner->scratch, n, sizeof(uint32_t));
	uint32_t *above = kanon_take(&aligner->scratch, n, sizeof(uint32_t));
	KanonStatus status = kanon_taken(&aligner->scratch);

	aligner->loss = 0;
	for (uint32_t p = 0; p < n && status == KANON_OK; p++)
	{
		start[p] = class->start[person[p]];
		end[p] = class->start[person[p] + 1];
		above[p] = KANON_NO_ROW;
	}
	if (status == KANON_OK)
		status = kanon_stop(class->pace, class->nrows / class->npersons * n + n)
					 ? KANON_CANCELLED
					 : align(aligner, start, end, above, n);
	kanon_release(&aligner->scratch, mark);
	return status;
}

/* ---- groups ---- */

/* The loss of a group of persons, were it one. */
static KanonStatus
try_group(Aligner *aligner, const uint32_t *person, uint32_t n, double *loss)
{
	KanonStatus status;

	aligner->tries = true;
	status = align_persons(aligner, person, n);
	aligner->tries = false;
	*loss = aligner->loss;
	return status;
}

/* Groups of k in their order, the last one larger. */
static void
cut_evenly(Aligner *aligner)
{
	uint32_t n = aligner->class->npersons;

	for (uint32_t from = 0; from < n; from += aligner->size[aligner->ngroups++])
		aligner->size[aligner->ngroups] = n - from < 2 * (uint64_t) aligner->k ? n - from : aligner->k;
}

/* Groups in their order that lose least. */
static KanonStatus
cut_best(Aligner *aligner)
{
	uint32_t n = aligner->class->npersons, k = aligner->k;
	size_t mark = kanon_mark(&aligner->scratch);
	double *least = kanon_take(&aligner->scratch, (size_t) n + 1, sizeof(double));
	uint32_t *size = kanon_take0(&aligner->scratch, (size_t) n + 1, sizeof(uint32_t));
	KanonStatus status = kanon_taken(&aligner->scratch);

	for (uint32_t to = 0; to <= n && status == KANON_OK; to++)
	{
		least[to] = to == 0 ? 0 : INFINITY;
		for (uint32_t of = k; of < 2 * k && of <= to && status == KANON_OK; of++)
		{
			double loss;

			if (least[to - of] == INFINITY)
				continue;
			status = try_group(aligner, aligner->order + to - of, of, &loss);
			if (least[to - of] + loss < least[to])
			{
				least[to] = least[to - of] + loss;
				size[to] = of;
			}
		}
	}
	for (uint32_t to = n; to > 0 && status == KANON_OK; to -= size[to])
		aligner->ngroups++;
	for (uint32_t to = n, g = aligner->ngroups; to > 0 && status == KANON_OK; to -= size[to])
		aligner->size[--g] = size[to];
	kanon_release(&aligner->scratch, mark);
	return status;
}

/* The members of a group, and one place for another one. */
static uint32_t *
members(const Aligner *aligner, uint32_t group)
{
	return aligner->members + (size_t) group * 2 * aligner->k;
}

static KanonStatus
try_both(Aligner *aligner, uint32_t g, uint32_t h, double *loss)
{
	KanonStatus status = try_group(aligner, members(aligner, g), aligner->size[g], &loss[0]);

	aligner->trials += 2;
	return status == KANON_OK ? try_group(aligner, members(aligner, h), aligner->size[h], &loss[1]) : status;
}

/* Takes over what two groups lose now if it is less than before. */
static bool
is_better(Aligner *aligner, uint32_t g, uint32_t h, const double *loss)
{
	if (loss[0] + loss[1] >= aligner->losses[g] + aligner->losses[h] - 1e-9)
		return false;
	aligner->losses[g] = loss[0];
	aligner->losses[h] = loss[1];
	return true;
}

static void
swap(uint32_t *a, uint32_t *b)
{
	uint32_t old = *a;

	*a = *b;
	*b = old;
}

/* Persons of two groups change places, or one goes to the other group, if that loses less. */
static KanonStatus
exchange(Aligner *aligner, uint32_t g, uint32_t h, bool *better)
{
	uint32_t *here = members(aligner, g), *there = members(aligner, h);
	double loss[2];
	KanonStatus status = KANON_OK;

	for (uint32_t i = 0; i < aligner->size[g] && aligner->trials < MOST_TRIALS; i++)
	{
		for (uint32_t j = 0; j < aligner->size[h] && g < h && aligner->trials < MOST_TRIALS; j++)
		{
			swap(&here[i], &there[j]);
			if ((status = try_both(aligner, g, h, loss)) != KANON_OK)
				return status;
			if (is_better(aligner, g, h, loss))
				*better = true;
			else
				swap(&here[i], &there[j]);
		}
		if (aligner->size[g] == aligner->k || aligner->size[h] == 2 * aligner->k - 1)
			continue;
		there[aligner->size[h]++] = here[i];
		swap(&here[i], &here[--aligner->size[g]]);
		if ((status = try_both(aligner, g, h, loss)) != KANON_OK)
			return status;
		if (is_better(aligner, g, h, loss))
			*better = true;
		else
		{
			swap(&here[i], &here[aligner->size[g]++]);
			aligner->size[h]--;
		}
	}
	return KANON_OK;
}

static KanonStatus
improve(Aligner *aligner)
{
	KanonStatus status = KANON_OK;
	bool better = true;

	for (uint32_t g = 0; g < aligner->ngroups && status == KANON_OK; g++)
		status = try_group(aligner, members(aligner, g), aligner->size[g], &aligner->losses[g]);
	while (better && aligner->trials < MOST_TRIALS && status == KANON_OK)
	{
		better = false;
		for (uint32_t g = 0; g < aligner->ngroups; g++)
			for (uint32_t h = 0; h < aligner->ngroups && status == KANON_OK; h++)
				if (h != g)
					status = exchange(aligner, g, h, &better);
	}
	return status;
}

/* Persons of the class in groups. */
static KanonStatus
group_persons(Aligner *aligner)
{
	LinkedClass *class = aligner->class;
	bool small = class->improved && class->npersons >= 2 * (uint64_t) aligner->k;
	uint32_t from = 0;
	KanonStatus status = KANON_OK;

	if (small && (uint64_t) class->npersons * aligner->k <= MOST_TRIALS)
		status = cut_best(aligner);
	else
		cut_evenly(aligner);
	if (!small || status != KANON_OK)
		return status;
	aligner->members =
		kanon_take(&aligner->scratch, (size_t) aligner->ngroups * 2 * aligner->k, sizeof(uint32_t));
	aligner->losses = kanon_take(&aligner->scratch, aligner->ngroups, sizeof(double));
	if (kanon_taken(&aligner->scratch) != KANON_OK)
		return KANON_NO_MEMORY;
	for (uint32_t g = 0; g < aligner->ngroups; from += aligner->size[g++])
		memcpy(members(aligner, g), aligner->order + from, sizeof(uint32_t) * aligner->size[g]);
	status = improve(aligner);
	from = 0;
	for (uint32_t g = 0; g < aligner->ngroups; from += aligner->size[g++])
		memcpy(aligner->order + from, members(aligner, g), sizeof(uint32_t) * aligner->size[g]);
	return status;
}

/* Do the persons of a group keep the rules of their own values? */
static bool
keeps_rules(const LinkedClass *class, const uint32_t *person, uint32_t n, uint32_t *types,
			const int64_t *ones)
{
	for (uint32_t i = 0; i < n; i++)
		types[i] = class->linked->values[class->members[person[i]]];
	return kanon_privacy_allows(class->linked->ruled, types, ones, n, true, NULL);
}

/* A group that breaks a rule becomes one with the next: the whole class keeps them. */
static KanonStatus
join_groups(Aligner *aligner)
{
	const LinkedClass *class = aligner->class;
	uint32_t *types = kanon_take(&aligner->scratch, class->npersons, sizeof(uint32_t));
	int64_t *ones = kanon_take(&aligner->scratch, class->npersons, sizeof(int64_t));
	uint32_t from = 0, g = 0;

	if (kanon_taken(&aligner->scratch) != KANON_OK)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < class->npersons; i++)
		ones[i] = 1;
	while (g < aligner->ngroups && aligner->ngroups > 1)
	{
		if (keeps_rules(class, aligner->order + from, aligner->size[g], types, ones))
		{
			from += aligner->size[g++];
			continue;
		}
		/* (the last one with the one before, which is looked at again) */
		if (g == aligner->ngroups - 1)
			from -= aligner->size[--g];
		aligner->size[g] += aligner->size[g + 1];
		aligner->ngroups--;
		memmove(aligner->size + g + 1, aligner->size + g + 2, sizeof(uint32_t) * (aligner->ngroups - g - 1));
		if (kanon_stop(class->pace, class->npersons))
			return KANON_CANCELLED;
	}
	return kanon_privacy_failed(class->linked->ruled->privacy) ? KANON_NO_MEMORY : KANON_OK;
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
	uint32_t *sort = kanon_take(&aligner.scratch, class->npersons, sizeof(uint32_t));
	KanonStatus status;

	/* (a class of fewer than 2k is one group) */
	aligner.k = class->linked->k < class->npersons ? (uint32_t) class->linked->k : class->npersons;
	aligner.order = kanon_take(&aligner.scratch, class->npersons, sizeof(uint32_t));
	aligner.size = kanon_take(&aligner.scratch, class->npersons, sizeof(uint32_t));
	status = kanon_taken(&aligner.scratch);
	for (uint32_t p = 0; p < class->npersons && status == KANON_OK; p++)
		aligner.order[p] = p;
	if (status == KANON_OK)
	{
		kanon_sort(aligner.order, sort, class->npersons, sizeof(uint32_t), compare_persons, &aligner);
		status = group_persons(&aligner);
	}
	if (status == KANON_OK && class->linked->ruled != NULL)
		status = join_groups(&aligner);
	for (uint32_t g = 0, from = 0; g < aligner.ngroups && status == KANON_OK; from += aligner.size[g++])
		status = align_persons(&aligner, aligner.order + from, aligner.size[g]);
	if (status == KANON_OK)
		status = number_nodes(class, &aligner.scratch);
	kanon_scratch_free(&aligner.scratch);
	return status;
}
