/*
 * linked_counter.c: how many persons of a class have each combination of a few rows.
 *
 * A combination is a set of rows of one person, at most m of each table, with the rows that
 * they hang on; of these, if they are not known themselves, only that they are one row.
 * A row is known with its copies, and the person's own copies always are.
 */
#include "linked/linked_counter.h"
#include "util/number.h"
#include "util/sort.h"

#include <stdio.h>
#include <string.h>

/* Combinations that are counted at once, at most. */
#define MOST_VISITS (UINT64_C(1) << 31)

typedef LinkedForm Form;
typedef LinkedKnown Known;
typedef LinkedCounter Counter;

/* ---- forms ---- */

/* Bits beside a node's number: the row is looked at, or a copy that is known with it. */
#define MARKED (UINT64_C(1) << 40)
#define MARKED_COPY (UINT64_C(1) << 41)

static bool
is_copy(const LinkedClass *class, uint32_t row)
{
	return class->linked->tables[class->rows[row].table].copies;
}

/* The row with which it is known; KANON_NO_ROW: the person. */
static uint32_t
known_with(const LinkedClass *class, uint32_t row)
{
	while (row != KANON_NO_ROW && is_copy(class, row))
		row = class->rows[row].above;
	return row;
}

static uint64_t
hash_mark(const Counter *counter, uint32_t row)
{
	if (counter->marked == KANON_NO_ROW || known_with(counter->class, counter->marked) != row)
		return 0;
	if (counter->marked == row)
		return kanon_mix(MARKED);
	/* (a row has one copy in a table) */
	return kanon_mix(MARKED_COPY | counter->class->rows[counter->marked].table);
}

static uint64_t
hash_row(Counter *counter, uint32_t row, bool known)
{
	if (!known)
		return kanon_mix(kanon_mix(counter->class->rows[row].table) + counter->sum[row]);
	return kanon_mix(counter->look[row] + hash_mark(counter, row) + counter->sum[row]);
}

/* All copies of a row, or of a person: sums up how they look. */
static uint64_t
hash_copies(const Counter *counter, uint32_t of)
{
	uint64_t sum = 0;

	for (uint32_t r = counter->copy[of]; r != KANON_NO_ROW; r = counter->next[r])
		sum += counter->look[r];
	return sum;
}

static uint32_t
add_copies(const Counter *counter, uint32_t of, uint32_t *rows, uint32_t n)
{
	for (uint32_t r = counter->copy[of]; r != KANON_NO_ROW; r = counter->next[r])
	{
		rows[n++] = r;
		n = add_copies(counter, r, rows, n);
	}
	return n;
}

uint32_t
kanon_linked_known(const LinkedCounter *counter, int n, uint32_t *rows)
{
	uint32_t all = (uint32_t) n;

	memcpy(rows, counter->chosen, sizeof(uint32_t) * (size_t) n);
	for (int i = 0; i < n; i++)
		all = add_copies(counter, counter->chosen[i], rows, all);
	return add_copies(counter, counter->class->nrows + counter->person, rows, all);
}

/* Rows chosen, and those that they hang on: children come after their parents in the class. */
static int
with_parents(const Counter *counter, int n, uint32_t *rows, bool *known)
{
	int all = n;

	for (int i = 0; i < n; i++)
	{
		rows[i] = counter->chosen[i];
		known[i] = true;
	}
	for (int i = 0; i < all; i++)
	{
		uint32_t above = counter->class->rows[rows[i]].above;
		int at = 0;

		while (above != KANON_NO_ROW && at < all && rows[at] != above)
			at++;
		if (above != KANON_NO_ROW && at == all)
		{
			rows[all] = above;
			known[all++] = false;
		}
	}
	return all;
}

/* The same for rows of any person that look alike and hang together alike, in any order. */
static uint64_t
hash_form(Counter *counter, int n)
{
	uint32_t rows[LINKED_MOST_CHOSEN * KANON_MAX_LINKED];
	bool known[LINKED_MOST_CHOSEN * KANON_MAX_LINKED];
	int all = with_parents(counter, n, rows, known);
	uint64_t total = hash_copies(counter, counter->class->nrows + counter->person) +
					 (counter->marked != KANON_NO_ROW ? hash_mark(counter, KANON_NO_ROW) : 0);

	for (int i = 0; i < all; i++)
		counter->sum[rows[i]] = 0;
	/* the last rows of the class first: nothing hangs on them that is still to come */
	for (int left = all; left > 0; left--)
	{
		int last = 0;
		uint32_t row;
		uint32_t above;

		for (int i = 1; i < left; i++)
			if (rows[i] > rows[last])
				last = i;
		row = rows[last];
		above = counter->class->rows[row].above;
		if (above != KANON_NO_ROW)
			counter->sum[above] += hash_row(counter, row, known[last]);
		else
			total += hash_row(counter, row, known[last]);
		rows[last] = rows[left - 1];
		known[last] = known[left - 1];
	}
	return kanon_mix(total);
}

static bool
more_slots(Counter *counter)
{
	size_t n = counter->nslots == 0 ? 256 : counter->nslots * 4;
	uint32_t *slots = kanon_take0(&counter->scratch, n, sizeof(uint32_t));

	if (slots == NULL)
		return false;
	for (size_t f = 0; f < counter->nforms; f++)
	{
		size_t at = counter->forms[f].hash & (n - 1);

		while (slots[at] != 0)
			at = (at + 1) & (n - 1);
		slots[at] = (uint32_t) f + 1;
	}
	kanon_drop(&counter->scratch, counter->slots);
	counter->slots = slots;
	counter->nslots = n;
	return true;
}

static size_t
slot_of(const Counter *counter, uint64_t hash)
{
	size_t at = hash & (counter->nslots - 1);

	while (counter->slots[at] != 0 && counter->forms[counter->slots[at] - 1].hash != hash)
		at = (at + 1) & (counter->nslots - 1);
	return at;
}

static KanonStatus
add_form(Counter *counter, uint64_t hash, int n)
{
	uint32_t known;

	if (counter->nforms >= UINT32_MAX - 1)
		return KANON_TOO_LARGE;
	if (2 * (counter->nforms + 1) > counter->nslots && !more_slots(counter))
		return KANON_NO_MEMORY;
	if (!KANON_GROW(&counter->scratch, &counter->form_room, counter->nforms + 1,
					KANON_ARRAY(counter->forms)) ||
		!KANON_GROW(&counter->scratch, &counter->example_room, counter->nexamples + LINKED_MOST_KNOWN,
					KANON_ARRAY(counter->examples)))
		return KANON_NO_MEMORY;
	known = kanon_linked_known(counter, n, counter->examples + counter->nexamples);
	counter->slots[slot_of(counter, hash)] = (uint32_t) counter->nforms + 1;
	counter->forms[counter->nforms++] = (Form){.hash = hash,
											   .persons = 1,
											   .last = counter->person + 1,
											   .lose = KANON_NO_ROW,
											   .size = known,
											   .example = counter->nexamples};
	counter->nexamples += known;
	return KANON_OK;
}

/* ---- every combination of a person ---- */

/* One of the rows chosen that shows the node goes, or what it joins is not shown any more. */
static void
lose_row(Counter *counter, const Form *form, int n)
{
	for (int i = 0; i < n; i++)
	{
		uint32_t row = counter->chosen[i];

		if (kanon_linked_node(counter->class, counter->class->rows[row].node) !=
				kanon_linked_node(counter->class, form->lose) ||
			(form->parts && !kanon_linked_joins(counter->class, row)))
			continue;
		/* (later: what is being counted hangs together as it does) */
		if (form->parts)
			counter->strays.parts[row] = true;
		else
			kanon_linked_leave_out(counter->class, row);
		return;
	}
}

static void
add_known(Counter *counter, Known known)
{
	if (!KANON_GROW(&counter->scratch, &counter->known_room, counter->nknown + 1,
					KANON_ARRAY(counter->knowns)))
		counter->status = KANON_NO_MEMORY;
	else
		counter->knowns[counter->nknown++] = known;
}

/* The rows known whose values have rules. */
static void
note_known(Counter *counter, uint32_t form, int n)
{
	uint32_t rows[LINKED_MOST_KNOWN];
	uint32_t known = kanon_linked_known(counter, n, rows);

	for (uint32_t i = 0; i < known && counter->status == KANON_OK; i++)
	{
		counter->marked = rows[i];
		if (counter->class->linked->tables[counter->class->rows[counter->marked].table].ruled != NULL)
			add_known(counter, (Known){hash_form(counter, n), form, counter->marked, false});
	}
	counter->marked = KANON_NO_ROW;
}

/* The person at hand has it. */
static void
note_person(Counter *counter, uint32_t form)
{
	if (counter->class->linked->ruled != NULL)
		add_known(counter, (Known){kanon_mix(counter->forms[form].hash + 1), form, counter->person, true});
}

/* True for a combination of which rows go. */
static bool
visit(Counter *counter, int n)
{
	uint64_t hash = hash_form(counter, n);
	size_t at = counter->nslots == 0 ? 0 : slot_of(counter, hash);
	Form *form =
		counter->nslots == 0 || counter->slots[at] == 0 ? NULL : &counter->forms[counter->slots[at] - 1];

	if (kanon_stop(counter->class->pace, (uint64_t) n * 8))
		counter->status = KANON_CANCELLED;
	else if (++counter->visits > counter->most)
		counter->status = KANON_TOO_LARGE;
	else if (counter->losing)
	{
		if (form != NULL && form->lose != KANON_NO_ROW)
			lose_row(counter, form, n);
	}
	else if (form == NULL)
	{
		counter->status = add_form(counter, hash, n);
		if (counter->status == KANON_OK)
			note_person(counter, (uint32_t) counter->nforms - 1);
	}
	else if (form->last != counter->person + 1)
	{
		form->last = counter->person + 1;
		form->persons++;
		note_person(counter, counter->slots[at] - 1);
	}
	if (counter->rows_ruled && !counter->losing && counter->status == KANON_OK)
		note_known(counter, counter->slots[slot_of(counter, hash)] - 1, n);
	return counter->losing && form != NULL && form->lose != KANON_NO_ROW;
}

static bool
is_chosen_gone(const Counter *counter, int n)
{
	for (int i = 0; i < n; i++)
		if (counter->class->rows[counter->chosen[i]].gone)
			return true;
	return false;
}

/* The node that stands for what readers see of a row that is there. */
static uint32_t
seen_node(const Counter *counter, uint32_t row)
{
	uint32_t node = counter->class->rows[row].node;

	return counter->alike.first != NULL ? counter->alike.first[node] : node;
}

static int
compare_order(const void *a, const void *b, void *arg)
{
	const LinkedClass *class = ((Counter *) arg)->class;
	const LinkedRow *left = &class->rows[*(const uint32_t *) a], *right = &class->rows[*(const uint32_t *) b];
	uint64_t one, other;

	if (left->table != right->table)
		return left->table < right->table ? -1 : 1;
	if (left->above != right->above)
		return left->above < right->above ? -1 : 1;
	if (left->gone != right->gone)
		return left->gone ? 1 : -1;
	if (seen_node(arg, *(const uint32_t *) a) != seen_node(arg, *(const uint32_t *) b))
		return seen_node(arg, *(const uint32_t *) a) < seen_node(arg, *(const uint32_t *) b) ? -1 : 1;
	one = ((Counter *) arg)->shape[*(const uint32_t *) a];
	other = ((Counter *) arg)->shape[*(const uint32_t *) b];
	return one < other ? -1 : one > other;
}

/* Rows that look alike, with the same rows below them, need one set: each other set has the same form. */
static bool
is_like_before(const Counter *counter, uint32_t i)
{
	uint32_t r = counter->order[i], other = counter->order[i - 1];
	const LinkedRow *row = &counter->class->rows[r], *before = &counter->class->rows[other];

	/* (their values may differ) */
	return row->table == before->table && row->above == before->above && !before->gone &&
		   counter->shape[r] == counter->shape[other] &&
		   counter->class->linked->tables[row->table].ruled == NULL &&
		   !(counter->rows_ruled && counter->has_rows[r]);
}

/* Copies are put to what they are known with, and how a row looks with them. */
static void
find_copies(Counter *counter)
{
	LinkedClass *class = counter->class;

	for (uint32_t i = 0; i < class->nrows + class->npersons; i++)
		counter->copy[i] = KANON_NO_ROW;
	/* (copies come after their rows) */
	for (uint32_t r = class->nrows; r-- > 0;)
	{
		const LinkedRow *row = &class->rows[r];
		uint64_t node = (uint64_t) seen_node(counter, r) + 1;

		counter->look[r] = kanon_mix(kanon_mix(node << 8 | row->table) + hash_copies(counter, r));
		if (row->gone || !is_copy(class, r))
			continue;
		counter->next[r] =
			counter->copy[row->above != KANON_NO_ROW ? row->above : class->nrows + row->person];
		counter->copy[row->above != KANON_NO_ROW ? row->above : class->nrows + row->person] = r;
	}
}

/* Most rows of a table join another one, if any can. */
static void
find_strays(Counter *counter)
{
	const LinkedClass *class = counter->class;

	for (uint32_t r = 0; counter->strays.is != NULL && r < class->nrows; r++)
	{
		const LinkedRow *row = &class->rows[r];

		counter->strays.is[r] =
			(class->linked->tables[row->table].joined != NULL && !kanon_linked_joins(class, r)) ||
			(row->above != KANON_NO_ROW && counter->strays.is[row->above]);
	}
}

static KanonStatus
order_rows(Counter *counter)
{
	LinkedClass *class = counter->class;
	uint32_t *scratch = (uint32_t *) counter->sum;
	KanonStatus status = kanon_linked_make_room(counter);

	if (status == KANON_OK && counter->alike.first != NULL)
		status = kanon_linked_find_alike(counter);
	if (status != KANON_OK)
		return status;

	memset(counter->has_rows, 0, sizeof(bool) * class->nrows);
	memset(counter->touched, 0, sizeof(uint16_t) * class->nrows);
	for (uint32_t r = 0; r < class->nrows; r++)
	{
		counter->order[r] = r;
		class->rows[r].node = kanon_linked_node(class, class->rows[r].node);
		counter->shape[r] = 0;
	}
	/* rows come after those that they hang on */
	for (uint32_t r = class->nrows; r-- > 0;)
	{
		uint32_t above = class->rows[r].above;

		counter->shape[r] = kanon_mix(counter->shape[r] + kanon_mix(seen_node(counter, r)));
		if (above == KANON_NO_ROW || class->rows[r].gone)
			continue;
		counter->has_rows[above] = true;
		counter->shape[above] += kanon_mix(counter->shape[r]);
	}
	find_copies(counter);
	find_strays(counter);
	for (uint32_t p = 0; p < class->npersons; p++)
		kanon_sort(counter->order + class->start[p], scratch, class->start[p + 1] - class->start[p],
				   sizeof(uint32_t), compare_order, counter);
	return KANON_OK;
}

static void
touch(Counter *counter, uint32_t row, int by)
{
	for (; row != KANON_NO_ROW; row = counter->class->rows[row].above)
		counter->touched[row] = (uint16_t) (counter->touched[row] + by);
}

/* Does it hang together with a row that is chosen? */
static bool
is_bound(const Counter *counter, uint32_t row)
{
	for (; row != KANON_NO_ROW; row = counter->class->rows[row].above)
		if (counter->touched[row] > 0)
			return true;
	return false;
}

/* The last row of a combination: one stands for all that show the same and hang together with none of the others. */
static void
visit_last(Counter *counter, uint32_t row, int n)
{
	const LinkedRow *last = &counter->class->rows[row];
	bool stands = counter->class->linked->tables[last->table].ruled == NULL && !is_bound(counter, row) &&
				  counter->copy[row] == KANON_NO_ROW &&
				  !(counter->strays.is != NULL && counter->strays.is[row]);
	uint32_t node = seen_node(counter, row);
	bool lost;

	if (stands && counter->seen[node] == counter->round && !counter->lost[node])
		return;
	if (stands)
		counter->seen[node] = counter->round;
	lost = visit(counter, n);
	if (stands)
		counter->lost[node] = lost;
}

/* n rows are chosen; further ones from `from` on, until there are `most`. */
static void
choose(Counter *counter, uint32_t from, int n, int most)
{
	LinkedClass *class = counter->class;

	counter->round += n + 1 == most;
	for (uint32_t i = from; i < class->start[counter->person + 1] && counter->status == KANON_OK; i++)
	{
		uint32_t r = counter->order[i];
		int table = class->rows[r].table;

		if (class->rows[r].gone || is_copy(class, r) ||
			counter->known[table] == class->linked->tables[table].known ||
			(i > from && is_like_before(counter, i)))
			continue;
		counter->chosen[n] = r;
		if (n + 1 == most)
			visit_last(counter, r, n + 1);
		else
		{
			counter->known[table]++;
			touch(counter, r, 1);
			choose(counter, i + 1, n + 1, most);
			touch(counter, r, -1);
			counter->known[table]--;
		}
		if (counter->losing && is_chosen_gone(counter, n))
			return;
	}
	if (kanon_stop(class->pace, class->start[counter->person + 1] - from))
		counter->status = KANON_CANCELLED;
}

static void
part_rows(Counter *counter)
{
	for (uint32_t r = 0; counter->strays.parts != NULL && counter->losing && r < counter->class->nrows; r++)
	{
		if (counter->strays.parts[r] && kanon_linked_joins(counter->class, r))
			kanon_linked_part(counter->class, r);
		counter->strays.parts[r] = false;
	}
}

static KanonStatus
count(Counter *counter, int size)
{
	counter->visits = 0;
	counter->status = order_rows(counter);
	for (counter->person = 0; counter->person < counter->class->npersons && counter->status == KANON_OK;
		 counter->person++)
		if (size == 0)
			(void) visit(counter, 0);
		else
			choose(counter, counter->class->start[counter->person], 0, size);
	part_rows(counter);
	if (counter->status == KANON_TOO_LARGE)
		snprintf(counter->class->report->detail, sizeof(counter->class->report->detail),
				 "One class of persons has more than %llu combinations of %d rows.",
				 (unsigned long long) counter->most, size);
	return counter->status;
}

static void
forget(Counter *counter)
{
	counter->nforms = counter->nexamples = counter->nknown = 0;
	if (counter->nslots > 0)
		memset(counter->slots, 0, sizeof(uint32_t) * counter->nslots);
}

/* ---- a counter ---- */

KanonStatus
kanon_linked_count(LinkedCounter *counter, int size)
{
	KanonStatus status;

	if (counter->losing)
		return count(counter, size);
	forget(counter);
	status = count(counter, size);
	return status == KANON_OK && counter->ruled ? kanon_linked_judge(counter) : status;
}

KanonStatus
kanon_linked_counter(LinkedClass *class, LinkedCounter *counter)
{
	KanonScratch *scratch = &counter->scratch;
	KanonStatus status;

	*counter = (Counter){
		.class = class, .scratch = {.env = class->linked->env}, .marked = KANON_NO_ROW, .most = MOST_VISITS};
	counter->sum = kanon_take(scratch, class->nrows, sizeof(uint64_t));
	counter->order = kanon_take(scratch, class->nrows, sizeof(uint32_t));
	counter->has_rows = kanon_take(scratch, class->nrows, sizeof(bool));
	counter->shape = kanon_take(scratch, class->nrows, sizeof(uint64_t));
	counter->touched = kanon_take(scratch, class->nrows, sizeof(uint16_t));
	counter->look = kanon_take(scratch, class->nrows, sizeof(uint64_t));
	counter->copy = kanon_take(scratch, (size_t) class->nrows + class->npersons, sizeof(uint32_t));
	counter->next = kanon_take(scratch, class->nrows, sizeof(uint32_t));
	counter->least = 1;
	for (int t = 0; t < class->linked->ntables; t++)
	{
		if (class->linked->tables[t].joined != NULL && counter->strays.parts == NULL)
		{
			counter->strays.is = kanon_take0(scratch, class->nrows, sizeof(bool));
			counter->strays.parts = kanon_take0(scratch, class->nrows, sizeof(bool));
		}
		if (class->linked->tables[t].copies && class->linked->tables[t].parent < 0)
			counter->least = 0;
		counter->rows_ruled = counter->rows_ruled || class->linked->tables[t].ruled != NULL;
	}
	counter->ruled = counter->rows_ruled || class->linked->ruled != NULL;
	if (counter->ruled)
	{
		counter->types = kanon_take(scratch, class->nrows, sizeof(uint32_t));
		counter->ones = kanon_take(scratch, class->nrows, sizeof(int64_t));
	}
	status = kanon_taken(scratch);
	for (uint32_t r = 0; r < class->nrows && counter->ruled && status == KANON_OK; r++)
		counter->ones[r] = 1;
	return status;
}

void
kanon_linked_counter_end(LinkedCounter *counter)
{
	kanon_scratch_free(&counter->scratch);
}

KanonStatus
kanon_linked_keeps(LinkedCounter *counter, bool *keeps)
{
	const KanonLinked *linked = counter->class->linked;
	KanonStatus status = KANON_OK;

	*keeps = true;
	counter->losing = false;
	for (int size = counter->least; size <= kanon_linked_most(linked) && *keeps && status == KANON_OK; size++)
	{
		status = kanon_linked_count(counter, size);
		if (status == KANON_OK && counter->nforms == 0)
			break;
		for (size_t f = 0; f < counter->nforms && *keeps; f++)
			*keeps = !kanon_linked_is_rare(counter, &counter->forms[f]);
	}
	return status;
}
