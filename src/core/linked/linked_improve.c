/*
 * linked_improve.c: local improvement of what the rows of a class of persons show.
 *
 * The methods generalise all rows of a class that are alike together.  Here each row may show any
 * of the values that two rows of the class have in common, or come back.  A move changes some rows;
 * rows that then show what too few persons show go to the cheapest value that is left to them.
 * A move stays if the class loses less and still keeps the promise, which is counted as a whole.
 */
#include "linked/linked_counter.h"

#include <string.h>

/* Values of a class that rows may show, at most. */
#define MOST_VALUES 400

/* Work for each row of a class, at most. */
#define MOST_WORK (1 << 12)

/* Differences of costs that say nothing. */
#define LITTLE 1e-9

typedef struct Change
{
	uint32_t row;
	uint32_t shown; /* before */
} Change;

typedef struct Improver
{
	LinkedClass *class;
	LinkedCounter counter;
	KanonScratch *scratch;
	uint32_t nvalues;
	LinkedNode *values;
	uint8_t *level; /* [nvalues][most_qis] */
	bool *is_own;   /* [nvalues] a row has it as it is, */
	uint32_t ndifferent;
	uint32_t *different; /* these rows among them */
	bool *covers;        /* [nvalues][nrows] */
	uint32_t *shown;     /* [nrows] value; KANON_NO_ROW: the row is left out */
	uint32_t *count;     /* [nvalues][npersons] rows of each person that show it */
	uint32_t *persons;   /* [nvalues] */
	double *price;       /* [ntables] of a row that is left out */
	double cost;
	int64_t began; /* work up to then */
	size_t nchanges;
	size_t room;
	Change *changes; /* of the move at hand */
	bool ended;
	bool failed; /* the move at hand: a copy has nothing to show */
	KanonStatus status;
} Improver;

/* Has the class work left? */
static bool
goes_on(const Improver *improver)
{
	const LinkedClass *class = improver->class;

	return improver->status == KANON_OK && !improver->ended &&
		   kanon_worked(class->pace) - improver->began < (int64_t) MOST_WORK * class->nrows;
}

/* ---- values ---- */

static bool
is_same_value(const Improver *improver, int table, uint32_t like, const uint8_t *level, uint32_t v)
{
	const LinkedClass *class = improver->class;
	const LinkedShape *shape = &class->shapes[table];
	const KanonColumn *columns = class->linked->tables[table].problem->columns;
	const uint8_t *other = improver->level + (size_t) v * (size_t) class->most_qis;

	if (improver->values[v].table != table || memcmp(level, other, (size_t) shape->nqis) != 0)
		return false;
	for (int q = 0; q < shape->nqis; q++)
	{
		int column = shape->first[q] + level[q];

		if (column < shape->first[q + 1] &&
			columns[column].code[like] != columns[column].code[improver->values[v].like])
			return false;
	}
	return true;
}

/* Its number; KANON_NO_ROW: there are too many. */
static uint32_t
put_value(Improver *improver, int table, uint32_t like, const uint8_t *level)
{
	LinkedClass *class = improver->class;
	const LinkedShape *shape = &class->shapes[table];
	uint32_t v = 0;
	double cost = 0;

	while (v < improver->nvalues && !is_same_value(improver, table, like, level, v))
		v++;
	class->pace->work += v;
	if (v < improver->nvalues)
		return v;
	if (v == MOST_VALUES)
		return KANON_NO_ROW;
	for (int q = 0; q < shape->nqis; q++)
		cost += shape->price[shape->price_of[q] + level[q]];
	improver->values[v] = (LinkedNode){.like = like, .cost = cost, .table = (uint8_t) table};
	memcpy(improver->level + (size_t) v * (size_t) class->most_qis, level, (size_t) shape->nqis);
	improver->nvalues++;
	return v;
}

static uint32_t
type_of(const LinkedClass *class, uint32_t row)
{
	return class->linked->tables[class->rows[row].table].type[class->rows[row].row];
}

/* The common part of rows a and b; b may be a, or KANON_NO_ROW: nothing. */
static uint32_t
put_common(Improver *improver, uint32_t a, uint32_t b)
{
	const LinkedClass *class = improver->class;
	int table = class->rows[a].table;
	const LinkedShape *shape = &class->shapes[table];
	const KanonColumn *columns = class->linked->tables[table].problem->columns;
	uint8_t level[KANON_MAX_QIS];

	for (int q = 0; q < shape->nqis; q++)
	{
		int l = 0;

		while (shape->first[q] + l < shape->first[q + 1] &&
			   (b == KANON_NO_ROW || columns[shape->first[q] + l].code[type_of(class, a)] !=
										 columns[shape->first[q] + l].code[type_of(class, b)]))
			l++;
		level[q] = (uint8_t) l;
	}
	return put_value(improver, table, type_of(class, a), level);
}

/* Does the value say what is true of the row? */
static bool
is_true(const Improver *improver, uint32_t v, uint32_t row)
{
	const LinkedClass *class = improver->class;

	return improver->values[v].table == class->rows[row].table &&
		   is_same_value(improver, class->rows[row].table, type_of(class, row),
						 improver->level + (size_t) v * (size_t) class->most_qis, v);
}

static void
find_values(Improver *improver)
{
	LinkedClass *class = improver->class;

	for (uint32_t r = 0; r < class->nrows; r++)
	{
		uint32_t node = kanon_linked_node(class, class->rows[r].node);

		improver->shown[r] = class->rows[r].gone
								 ? KANON_NO_ROW
								 : put_value(improver, class->rows[r].table, class->nodes[node].like,
											 class->level + (size_t) node * (size_t) class->most_qis);
	}
	for (uint32_t r = 0; r < class->nrows; r++)
		(void) put_common(improver, r, KANON_NO_ROW);
	for (uint32_t r = 0; r < class->nrows; r++)
	{
		uint32_t own = put_common(improver, r, r);

		/* (a row that is like one before has nothing else in common with others) */
		if (own == KANON_NO_ROW || improver->is_own[own])
			continue;
		improver->is_own[own] = true;
		improver->different[improver->ndifferent++] = r;
	}
	for (uint32_t i = 0; i < improver->ndifferent; i++)
		for (uint32_t j = 0; j < i && improver->nvalues < MOST_VALUES && goes_on(improver); j++)
			if (class->rows[improver->different[i]].table == class->rows[improver->different[j]].table)
				(void) put_common(improver, improver->different[i], improver->different[j]);
}

/* ---- moves ---- */

static double
cost_of(const Improver *improver, uint32_t row)
{
	uint32_t v = improver->shown[row];

	return v == KANON_NO_ROW ? improver->price[improver->class->rows[row].table] : improver->values[v].cost;
}

static void
put_shown(Improver *improver, uint32_t row, uint32_t v)
{
	uint32_t person = improver->class->rows[row].person, old = improver->shown[row];

	improver->cost -= cost_of(improver, row);
	if (old != KANON_NO_ROW && --improver->count[old * improver->class->npersons + person] == 0)
		improver->persons[old]--;
	if (v != KANON_NO_ROW && improver->count[v * improver->class->npersons + person]++ == 0)
		improver->persons[v]++;
	improver->shown[row] = v;
	improver->cost += cost_of(improver, row);
}

static bool
is_copy(const Improver *improver, uint32_t row)
{
	return improver->class->linked->tables[improver->class->rows[row].table].copies;
}

static bool
can_show(const Improver *improver, uint32_t row, uint32_t v)
{
	uint32_t above = improver->class->rows[row].above;

	return improver->covers[(size_t) v * improver->class->nrows + row] &&
		   (above == KANON_NO_ROW || improver->shown[above] != KANON_NO_ROW);
}

static void move_away(Improver *improver, uint32_t row);

/* A part of a move; rows that hang on one that is left out are left out, and copies come back with theirs. */
static void
move_row(Improver *improver, uint32_t row, uint32_t v)
{
	const LinkedClass *class = improver->class;
	bool back = improver->shown[row] == KANON_NO_ROW && v != KANON_NO_ROW;

	if (!KANON_GROW(improver->scratch, &improver->room, improver->nchanges + 1,
					KANON_ARRAY(improver->changes)))
	{
		improver->status = KANON_NO_MEMORY;
		return;
	}
	improver->changes[improver->nchanges++] = (Change){row, improver->shown[row]};
	put_shown(improver, row, v);
	for (uint32_t r = row + 1; v == KANON_NO_ROW && r < class->start[class->rows[row].person + 1]; r++)
		if (class->rows[r].above == row && improver->shown[r] != KANON_NO_ROW)
			move_row(improver, r, KANON_NO_ROW);
	for (uint32_t r = row + 1; back && r < class->start[class->rows[row].person + 1]; r++)
		if (class->rows[r].above == row && is_copy(improver, r) && improver->shown[r] == KANON_NO_ROW)
			move_away(improver, r);
}

/* The row goes to the cheapest other value that k persons show, or is left out. */
static void
move_away(Improver *improver, uint32_t row)
{
	uint32_t old = improver->shown[row], best = KANON_NO_ROW;
	double least = improver->price[improver->class->rows[row].table];

	for (uint32_t v = 0; v < improver->nvalues; v++)
		if (v != old && improver->persons[v] >= improver->class->linked->k &&
			improver->values[v].cost < least && can_show(improver, row, v))
		{
			best = v;
			least = improver->values[v].cost;
		}
	improver->class->pace->work += improver->nvalues;
	if (best == KANON_NO_ROW && is_copy(improver, row))
		improver->failed = true;
	else
		move_row(improver, row, best);
}

/* Rows that show what too few persons show do not any more. */
static void
repair(Improver *improver)
{
	LinkedClass *class = improver->class;
	bool again = true;

	while (again && !improver->failed && improver->status == KANON_OK)
	{
		again = false;
		for (uint32_t r = 0; r < class->nrows && !improver->failed; r++)
			if (improver->shown[r] != KANON_NO_ROW &&
				improver->persons[improver->shown[r]] < class->linked->k)
			{
				move_away(improver, r);
				again = true;
			}
	}
}

static void
put_class(Improver *improver)
{
	LinkedClass *class = improver->class;

	for (uint32_t r = 0; r < class->nrows; r++)
	{
		class->rows[r].gone = improver->shown[r] == KANON_NO_ROW;
		class->rows[r].node = class->rows[r].gone ? 0 : improver->shown[r];
	}
}

/* The move stays, or is taken back. */
static bool
end_move(Improver *improver, double before)
{
	bool keeps = false;

	if (improver->status == KANON_OK && !improver->failed && improver->cost < before - LITTLE)
		repair(improver);
	if (improver->status == KANON_OK && !improver->failed && improver->cost < before - LITTLE)
	{
		put_class(improver);
		improver->status = kanon_linked_keeps(&improver->counter, &keeps);
	}
	if (improver->status == KANON_TOO_LARGE)
	{
		/* (to count is too much work) */
		improver->status = KANON_OK;
		improver->ended = true;
		keeps = false;
	}
	while (!keeps && improver->nchanges > 0)
	{
		Change *change = &improver->changes[--improver->nchanges];

		put_shown(improver, change->row, change->shown);
	}
	improver->nchanges = 0;
	improver->failed = false;
	if (!keeps)
		improver->cost = before;
	if (kanon_stop(improver->class->pace, improver->class->nrows + improver->nvalues))
		improver->status = KANON_CANCELLED;
	return keeps;
}

/* All rows for which the value is cheaper show it; spare: but those that others need where they are. */
static bool
try_value(Improver *improver, uint32_t v, bool spare)
{
	LinkedClass *class = improver->class;
	double before = improver->cost;

	for (uint32_t r = 0; r < class->nrows && improver->status == KANON_OK; r++)
	{
		uint32_t old = improver->shown[r];

		if (old == v || !can_show(improver, r, v) ||
			cost_of(improver, r) <= improver->values[v].cost + LITTLE)
			continue;
		if (spare && old != KANON_NO_ROW && improver->persons[old] == class->linked->k &&
			improver->count[old * class->npersons + class->rows[r].person] == 1)
			continue;
		move_row(improver, r, v);
	}
	return end_move(improver, before);
}

/* No row shows the value any more. */
static bool
try_without(Improver *improver, uint32_t v)
{
	double before = improver->cost;

	if (improver->persons[v] == 0)
		return false;
	for (uint32_t r = 0; r < improver->class->nrows && improver->status == KANON_OK; r++)
		if (improver->shown[r] == v)
			move_away(improver, r);
	return end_move(improver, before);
}

/* One row alone shows something cheaper. */
static bool
try_row(Improver *improver, uint32_t row)
{
	bool better = false;

	for (uint32_t v = 0; v < improver->nvalues && improver->status == KANON_OK; v++)
	{
		double before = improver->cost;

		if (v == improver->shown[row] || !can_show(improver, row, v) ||
			cost_of(improver, row) <= improver->values[v].cost + LITTLE)
			continue;
		move_row(improver, row, v);
		better = end_move(improver, before) || better;
	}
	return better;
}

static void
improve(Improver *improver)
{
	bool better = true;

	while (better && goes_on(improver))
	{
		better = false;
		for (uint32_t v = 0; v < improver->nvalues && goes_on(improver); v++)
		{
			better = try_value(improver, v, false) || better;
			better = try_value(improver, v, true) || better;
			better = try_without(improver, v) || better;
		}
		for (uint32_t r = 0; r < improver->class->nrows && goes_on(improver); r++)
			better = try_row(improver, r) || better;
	}
}

/* ---- a class ---- */

static void
begin(Improver *improver)
{
	LinkedClass *class = improver->class;
	KanonScratch *scratch = improver->scratch;

	improver->values = kanon_take(scratch, MOST_VALUES, sizeof(LinkedNode));
	improver->level = kanon_take0(scratch, MOST_VALUES, (size_t) class->most_qis);
	improver->is_own = kanon_take0(scratch, MOST_VALUES, sizeof(bool));
	improver->different = kanon_take(scratch, MOST_VALUES, sizeof(uint32_t));
	improver->shown = kanon_take(scratch, class->nrows, sizeof(uint32_t));
	improver->price = kanon_take(scratch, (size_t) class->linked->ntables, sizeof(double));
	improver->persons = kanon_take0(scratch, MOST_VALUES, sizeof(uint32_t));
	if ((improver->status = kanon_taken(scratch)) != KANON_OK)
		return;
	for (int t = 0; t < class->linked->ntables; t++)
		improver->price[t] = kanon_linked_left_out(&class->shapes[t]);
	find_values(improver);
	improver->covers = kanon_take(scratch, (size_t) improver->nvalues * class->nrows, sizeof(bool));
	improver->count = kanon_take0(scratch, (size_t) improver->nvalues * class->npersons, sizeof(uint32_t));
	if ((improver->status = kanon_taken(scratch)) != KANON_OK)
		return;
	for (uint32_t v = 0; v < improver->nvalues; v++)
		for (uint32_t r = 0; r < class->nrows; r++)
			improver->covers[(size_t) v * class->nrows + r] = is_true(improver, v, r);
	for (uint32_t r = 0; r < class->nrows; r++)
	{
		uint32_t v = improver->shown[r];

		improver->cost += cost_of(improver, r);
		if (v != KANON_NO_ROW && improver->count[v * class->npersons + class->rows[r].person]++ == 0)
			improver->persons[v]++;
	}
	class->nodes = improver->values;
	class->level = improver->level;
	class->nnodes = improver->nvalues;
}

KanonStatus
kanon_linked_improve(LinkedClass *class, KanonScratch *scratch)
{
	Improver improver = {.class = class, .scratch = scratch, .began = kanon_worked(class->pace)};

	improver.status = kanon_linked_counter(class, &improver.counter);
	if (improver.status == KANON_OK)
		begin(&improver);
	improver.counter.most = (uint64_t) MOST_WORK * class->nrows / 8;
	if (improver.status == KANON_OK)
		improve(&improver);
	if (improver.status == KANON_OK)
		put_class(&improver);
	kanon_linked_counter_end(&improver.counter);
	return improver.status;
}
