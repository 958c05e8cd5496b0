/*
 * linked.c: persons with their rows, class by class; see linked.h.
 */
#include "linked/linked.h"

#include <string.h>

/* A row that is left out costs as much as two that show nothing. */
#define LEFT_OUT 2.0

/* A row of any table, before it is at hand. */
typedef struct Place
{
	uint32_t row;
	uint8_t table;
} Place;

typedef struct Work
{
	LinkedClass class;
	KanonPace pace;
	KanonScratch scratch;
	size_t *start;     /* [npersons + 1] */
	Place *place;      /* by person, then by table */
	uint32_t *members; /* [npersons] persons by class */
	uint32_t *first;   /* [nclasses + 1] */
	uint32_t **local;  /* [ntables][nrows] a row's place in the class at hand */
} Work;

int
kanon_linked_most(const KanonLinked *linked)
{
	int most = 0;

	for (int t = 0; t < linked->ntables; t++)
		most += linked->tables[t].known;
	return linked->in_all > 0 && linked->in_all < most ? linked->in_all : most;
}

/* ---- tables ---- */

static double
price_of(const LinkedClass *class, int table, int qi, int level)
{
	const LinkedShape *shape = &class->shapes[table];

	return shape->price[shape->price_of[qi] + level];
}

static void
number_tuples(const KanonProblem *problem, LinkedShape *shape)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		bool same = i > 0;

		for (int q = 0; q < shape->nqis && same; q++)
		{
			const uint32_t *code = problem->columns[shape->first[q]].code;

			same = code[i] == code[i - 1];
		}
		n += !same;
		shape->tuple[i] = n - 1;
	}
	shape->ntuples = n;
}

static KanonStatus
shape_table(Work *work, const KanonLinkedTable *table, LinkedShape *shape)
{
	const KanonProblem *problem = table->problem;
	double weight = table->weight > 0 ? table->weight : 1;
	int next = 0;

	shape->nqis = kanon_count_qis(problem);
	for (int q = 0; q <= shape->nqis; q++)
		shape->first[q] = q < shape->nqis ? kanon_first_column(problem, q) : problem->ncolumns;
	shape->price = kanon_take(&work->scratch, (size_t) (problem->ncolumns + shape->nqis), sizeof(double));
	shape->tuple = kanon_take(&work->scratch, problem->ntypes, sizeof(uint32_t));
	if (work->scratch.failed)
		return KANON_NO_MEMORY;
	shape->blank = 0;
	for (int q = 0; q < shape->nqis; q++)
	{
		double sum = 0;

		shape->price_of[q] = next;
		for (int c = shape->first[q]; c < shape->first[q + 1]; c++)
		{
			shape->price[next++] = sum;
			sum += weight * problem->columns[c].weight;
		}
		shape->price[next++] = sum;
		shape->blank += sum;
	}
	if (shape->blank <= 0)
		shape->blank = weight;
	number_tuples(problem, shape);
	shape->node = kanon_take(&work->scratch, shape->ntuples, sizeof(uint32_t));
	shape->stamp = kanon_take0(&work->scratch, shape->ntuples, sizeof(uint32_t));
	if (work->class.most_qis < shape->nqis)
		work->class.most_qis = shape->nqis;
	return kanon_taken(&work->scratch);
}

/* ---- persons and their rows ---- */

static KanonStatus
sort_rows(Work *work)
{
	const KanonLinked *linked = work->class.linked;
	size_t n = 0;

	work->start = kanon_take0(&work->scratch, (size_t) linked->npersons + 2, sizeof(size_t));
	for (int t = 0; t < linked->ntables; t++)
		n += linked->tables[t].nrows;
	work->place = kanon_take(&work->scratch, n, sizeof(Place));
	work->local = kanon_take(&work->scratch, (size_t) linked->ntables, sizeof(uint32_t *));
	if (work->scratch.failed)
		return KANON_NO_MEMORY;
	for (int t = 0; t < linked->ntables; t++)
	{
		const KanonLinkedTable *table = &linked->tables[t];

		work->local[t] = kanon_take(&work->scratch, table->nrows, sizeof(uint32_t));
		for (uint32_t r = 0; r < table->nrows; r++)
			work->start[table->person[r] + 2] += !table->gone[r];
	}
	for (uint32_t p = 0; p < linked->npersons; p++)
		work->start[p + 2] += work->start[p + 1];
	for (int t = 0; t < linked->ntables; t++)
	{
		const KanonLinkedTable *table = &linked->tables[t];

		for (uint32_t r = 0; r < table->nrows; r++)
			if (!table->gone[r])
				work->place[work->start[table->person[r] + 1]++] = (Place){r, (uint8_t) t};
		if (kanon_stop(&work->pace, table->nrows))
			return KANON_CANCELLED;
	}
	return kanon_taken(&work->scratch);
}

static KanonStatus
sort_persons(Work *work)
{
	const KanonLinked *linked = work->class.linked;

	work->first = kanon_take0(&work->scratch, (size_t) linked->nclasses + 2, sizeof(uint32_t));
	work->members = kanon_take(&work->scratch, linked->npersons, sizeof(uint32_t));
	if (work->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t p = 0; p < linked->npersons; p++)
		work->first[linked->class_[p] + 2]++;
	for (uint32_t c = 0; c < linked->nclasses; c++)
		work->first[c + 2] += work->first[c + 1];
	for (uint32_t p = 0; p < linked->npersons; p++)
		work->members[work->first[linked->class_[p] + 1]++] = p;
	return KANON_OK;
}

/* ---- a class at hand ---- */

double
kanon_linked_common(const LinkedClass *class, uint32_t a, uint32_t b, uint8_t *level)
{
	const LinkedNode *left = &class->nodes[a], *right = &class->nodes[b];
	const LinkedShape *shape = &class->shapes[left->table];
	const KanonColumn *columns = class->linked->tables[left->table].problem->columns;
	const uint8_t *one = class->level + (size_t) a * (size_t) class->most_qis;
	const uint8_t *other = class->level + (size_t) b * (size_t) class->most_qis;
	double cost = 0;

	for (int q = 0; q < shape->nqis; q++)
	{
		int l = one[q] > other[q] ? one[q] : other[q];

		while (shape->first[q] + l < shape->first[q + 1] &&
			   columns[shape->first[q] + l].code[left->like] !=
				   columns[shape->first[q] + l].code[right->like])
			l++;
		if (level != NULL)
			level[q] = (uint8_t) l;
		cost += price_of(class, left->table, q, l);
	}
	return cost;
}

void
kanon_linked_merge(LinkedClass *class, uint32_t a, uint32_t b)
{
	uint8_t *level = class->level + (size_t) a * (size_t) class->most_qis;

	class->nodes[a].cost = kanon_linked_common(class, a, b, level);
	class->nodes[a].rows += class->nodes[b].rows;
	class->nodes[b].merged = true;
	class->nodes[b].like = a;
}

/* Rows of a person are together, those of parents first. */
static uint32_t
end_of_person(const LinkedClass *class, uint32_t row)
{
	return class->start[class->rows[row].person + 1];
}

void
kanon_linked_part(LinkedClass *class, uint32_t row)
{
	uint32_t above = class->rows[row].above, node = kanon_linked_node(class, class->rows[row].node);

	/* (so rows of one type are treated alike) */
	for (uint32_t r = above + 1; r < end_of_person(class, row); r++)
		if (class->rows[r].above == above && kanon_linked_joins(class, r) &&
			kanon_linked_node(class, class->rows[r].node) == node)
			class->rows[r].above = class->rows[r].owner;
}

void
kanon_linked_leave_out(LinkedClass *class, uint32_t row)
{
	class->rows[row].gone = true;
	class->nodes[kanon_linked_node(class, class->rows[row].node)].rows--;
	for (uint32_t r = row + 1; r < end_of_person(class, row); r++)
	{
		if (class->rows[r].above != row)
			continue;
		/* (rows that are left out may come back) */
		if (kanon_linked_joins(class, r))
			class->rows[r].above = class->rows[r].owner;
		else if (!class->rows[r].gone)
			kanon_linked_leave_out(class, r);
	}
}

double
kanon_linked_left_out(const LinkedShape *shape)
{
	return LEFT_OUT * shape->blank;
}

double
kanon_linked_parted(const LinkedShape *shape)
{
	return shape->blank / (shape->nqis > 1 ? shape->nqis : 1);
}

double
kanon_linked_price(const LinkedClass *class, uint32_t row)
{
	double price = kanon_linked_left_out(&class->shapes[class->rows[row].table]);

	for (uint32_t r = row + 1; r < end_of_person(class, row); r++)
		if (class->rows[r].above == row && !class->rows[r].gone)
			price += kanon_linked_joins(class, r) ? kanon_linked_parted(&class->shapes[class->rows[r].table])
												  : kanon_linked_price(class, r);
	return price;
}

static uint32_t
node_of(LinkedClass *class, int t, uint32_t type)
{
	LinkedShape *shape = &class->shapes[t];
	uint32_t tuple = shape->tuple[type];

	if (shape->stamp[tuple] != class->number)
	{
		shape->stamp[tuple] = class->number;
		shape->node[tuple] = class->nnodes;
		memset(class->level + (size_t) class->nnodes * (size_t) class->most_qis, 0, (size_t) class->most_qis);
		class->nodes[class->nnodes++] = (LinkedNode){.like = type, .table = (uint8_t) t};
	}
	class->nodes[shape->node[tuple]].rows++;
	return shape->node[tuple];
}

static void
take_person(Work *work, uint32_t person)
{
	LinkedClass *class = &work->class;

	for (size_t i = work->start[person]; i < work->start[person + 1]; i++)
	{
		Place place = work->place[i];
		const KanonLinkedTable *table = &class->linked->tables[place.table];
		LinkedRow *row = &class->rows[class->nrows];

		work->local[place.table][place.row] = class->nrows++;
		*row = (LinkedRow){.person = class->npersons, .row = place.row, .table = place.table};
		row->owner = table->parent < 0 ? KANON_NO_ROW : work->local[table->parent][table->above[place.row]];
		row->above =
			table->joined != NULL && !table->apart[place.row] && table->joined[place.row] != KANON_NO_ROW
				? work->local[table->joins][table->joined[place.row]]
				: row->owner;
		row->node = node_of(class, place.table, table->type[place.row]);
	}
	class->start[++class->npersons] = class->nrows;
}

static void
put_class(const Work *work)
{
	LinkedClass *class = (LinkedClass *) &work->class;

	for (uint32_t r = 0; r < class->nrows; r++)
	{
		const LinkedRow *row = &class->rows[r];
		KanonLinkedTable *table = &class->linked->tables[row->table];
		uint32_t node = kanon_linked_node(class, row->node);

		table->gone[row->row] = row->gone;
		if (table->joined != NULL)
			table->apart[row->row] = !kanon_linked_joins(class, r);
		table->like[row->row] = class->nodes[node].like;
		if (table->nqis > 0)
			memcpy(table->level + (size_t) row->row * (size_t) table->nqis,
				   class->level + (size_t) node * (size_t) class->most_qis, (size_t) table->nqis);
	}
}

static KanonStatus
solve_class(Work *work, uint32_t number)
{
	LinkedClass *class = &work->class;
	size_t mark = kanon_mark(&work->scratch);
	uint32_t npersons = work->first[number + 1] - work->first[number];
	size_t nrows = 0;
	KanonStatus status;

	for (uint32_t i = work->first[number]; i < work->first[number + 1]; i++)
		nrows += work->start[work->members[i] + 1] - work->start[work->members[i]];
	if (nrows == 0)
		return KANON_OK;
	if (nrows >= KANON_NO_ROW)
		return KANON_TOO_LARGE;
	class->number = number + 1;
	class->npersons = class->nrows = class->nnodes = 0;
	class->members = work->members + work->first[number];
	class->start = kanon_take0(&work->scratch, (size_t) npersons + 1, sizeof(uint32_t));
	class->rows = kanon_take(&work->scratch, nrows, sizeof(LinkedRow));
	class->nodes = kanon_take(&work->scratch, nrows, sizeof(LinkedNode));
	class->level = kanon_take(&work->scratch, nrows, (size_t) class->most_qis);
	status = kanon_taken(&work->scratch);
	if (status == KANON_OK)
	{
		for (uint32_t i = work->first[number]; i < work->first[number + 1]; i++)
			take_person(work, work->members[i]);
		status = class->linked->m == 0 ? kanon_linked_all(class) : kanon_linked_combinations(class);
	}
	if (status == KANON_OK && class->improved && class->linked->m > 0 && nrows <= KANON_IMPROVED_CLASS)
		status = kanon_linked_improve(class, &work->scratch);
	if (status == KANON_OK)
		put_class(work);
	kanon_release(&work->scratch, mark);
	return status;
}

KanonStatus
kanon_solve_linked(KanonLinked *linked, KanonReport *report)
{
	Work work = {.pace = kanon_pace(linked->env, "rows of persons"),
				 .scratch = {.env = linked->env},
				 .class.most_qis = 1};
	LinkedClass *class = &work.class;
	KanonStatus status = KANON_OK;

	class->linked = linked;
	class->report = report;
	class->pace = &work.pace;
	class->shapes = kanon_take0(&work.scratch, (size_t) linked->ntables, sizeof(LinkedShape));
	if (work.scratch.failed)
		status = KANON_NO_MEMORY;
	for (int t = 0; t < linked->ntables && status == KANON_OK; t++)
		status = shape_table(&work, &linked->tables[t], &class->shapes[t]);
	if (status == KANON_OK)
		status = sort_rows(&work);
	if (status == KANON_OK)
		status = sort_persons(&work);
	class->improved = status == KANON_OK && work.start[linked->npersons] <= KANON_IMPROVED_ROWS;
	for (uint32_t c = 0; c < linked->nclasses && status == KANON_OK; c++)
	{
		work.pace.share = (double) c / linked->nclasses;
		status = solve_class(&work, c);
	}
	kanon_scratch_free(&work.scratch);
	return status;
}
