/*
 * linked_combinations.c: every combination of a few rows that one person of a class has, k
 * persons of it have.
 *
 * A combination is a set of rows of one person, at most m of each table, with the rows that
 * they hang on; of these, if they are not known themselves, only that they are one row.
 * Combinations are counted, small ones first.  A rare one ends by the cheapest of: a row of it
 * shows what it has in common with rows of another kind (which are then of one kind in the
 * whole class), or those who have it lose a row.  Merging loses no person of a combination, so
 * that what was frequent stays so; after rows were left out everything is counted again.
 */
#include "linked/linked.h"
#include "privacy/rules.h"
#include "util/hash.h"
#include "util/sort.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_ROWS (KANON_MAX_LINKED * KANON_MAX_KNOWN_ROWS)

/* Combinations that are counted at once, at most. */
#define MOST_VISITS (UINT64_C(1) << 31)

typedef struct Form
{
	uint64_t hash;
	uint32_t persons;
	uint32_t last; /* who had it last, from 1 */
	uint32_t lose; /* a node of which a row has to go; KANON_NO_ROW: none */
	uint32_t size;
	size_t example; /* its rows, in `rows` */
	bool broken;    /* values of one of its rows break a rule */
} Form;

/* One of the rows of a combination: rows of other persons that it may be have the same hash. */
typedef struct Known
{
	uint64_t hash;
	uint32_t form;
	uint32_t row; /* of the class */
} Known;

typedef struct Counter
{
	LinkedClass *class;
	KanonScratch scratch;
	size_t nforms;
	size_t form_room;
	Form *forms;     /* as they were met */
	size_t nslots;   /* a power of 2 */
	uint32_t *slots; /* form, from 1 */
	size_t nexamples;
	size_t example_room;
	uint32_t *examples;

	/* the person at hand */
	uint32_t person;
	uint32_t chosen[MOST_ROWS];
	int known[KANON_MAX_LINKED]; /* rows of each table among those */
	uint32_t *order;             /* [nrows of the class] of each person, those that look alike side by side */
	bool *has_rows;              /* [nrows] others hang on it */
	uint64_t *sum;               /* [nrows of the class] of what hangs on a row, while a hash is made */
	bool losing;                 /* on the second way: rows that have to go do so */
	uint32_t *rare;              /* [nodes] rare combinations that have each */
	bool ruled;                  /* a table has rules */
	uint32_t marked;             /* the row whose values are looked at; or KANON_NO_ROW */
	size_t nknown;
	size_t known_room;
	Known *knowns;
	uint32_t *types; /* [nrows of the class] */
	int64_t *ones;   /* [nrows of the class] */
	uint64_t visits;
	KanonStatus status;
} Counter;

/* ---- forms ---- */

static uint64_t
hash_row(Counter *counter, uint32_t row, bool known)
{
	const LinkedRow *r = &counter->class->rows[row];
	uint64_t node = known ? kanon_linked_node(counter->class, r->node) + 1 : 0;

	if (row == counter->marked)
		node |= UINT64_C(1) << 40;
	return kanon_mix(kanon_mix(node << 8 | r->table) + counter->sum[row]);
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
	uint32_t rows[MOST_ROWS * KANON_MAX_LINKED];
	bool known[MOST_ROWS * KANON_MAX_LINKED];
	int all = with_parents(counter, n, rows, known);
	uint64_t total = 0;

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
	if (counter->nforms >= UINT32_MAX - 1)
		return KANON_TOO_LARGE;
	if (2 * (counter->nforms + 1) > counter->nslots && !more_slots(counter))
		return KANON_NO_MEMORY;
	if (!KANON_GROW(&counter->scratch, &counter->form_room, counter->nforms + 1,
					KANON_ARRAY(counter->forms)) ||
		!KANON_GROW(&counter->scratch, &counter->example_room, counter->nexamples + (size_t) n,
					KANON_ARRAY(counter->examples)))
		return KANON_NO_MEMORY;
	memcpy(counter->examples + counter->nexamples, counter->chosen, sizeof(uint32_t) * (size_t) n);
	counter->slots[slot_of(counter, hash)] = (uint32_t) counter->nforms + 1;
	counter->forms[counter->nforms++] = (Form){.hash = hash,
											   .persons = 1,
											   .last = counter->person + 1,
											   .lose = KANON_NO_ROW,
											   .size = (uint32_t) n,
											   .example = counter->nexamples};
	counter->nexamples += (size_t) n;
	return KANON_OK;
}

/* ---- every combination of a person ---- */

/* One of the rows chosen that shows the node goes. */
static void
lose_row(Counter *counter, const Form *form, int n)
{
	for (int i = 0; i < n; i++)
		if (kanon_linked_node(counter->class, counter->class->rows[counter->chosen[i]].node) ==
			kanon_linked_node(counter->class, form->lose))
		{
			kanon_linked_leave_out(counter->class, counter->chosen[i]);
			return;
		}
}

/* The rows chosen whose values have rules. */
static void
note_known(Counter *counter, uint32_t form, int n)
{
	for (int i = 0; i < n && counter->status == KANON_OK; i++)
	{
		counter->marked = counter->chosen[i];
		if (counter->class->linked->tables[counter->class->rows[counter->marked].table].ruled == NULL)
			continue;
		if (!KANON_GROW(&counter->scratch, &counter->known_room, counter->nknown + 1,
						KANON_ARRAY(counter->knowns)))
			counter->status = KANON_NO_MEMORY;
		else
			counter->knowns[counter->nknown++] = (Known){hash_form(counter, n), form, counter->marked};
	}
	counter->marked = KANON_NO_ROW;
}

static void
visit(Counter *counter, int n)
{
	uint64_t hash = hash_form(counter, n);
	size_t at = counter->nslots == 0 ? 0 : slot_of(counter, hash);
	Form *form =
		counter->nslots == 0 || counter->slots[at] == 0 ? NULL : &counter->forms[counter->slots[at] - 1];

	if (kanon_stop(counter->class->pace, (uint64_t) n * 8))
		counter->status = KANON_CANCELLED;
	else if (++counter->visits > MOST_VISITS)
		counter->status = KANON_TOO_LARGE;
	else if (counter->losing)
	{
		if (form != NULL && form->lose != KANON_NO_ROW)
			lose_row(counter, form, n);
	}
	else if (form == NULL)
		counter->status = add_form(counter, hash, n);
	else if (form->last != counter->person + 1)
	{
		form->last = counter->person + 1;
		form->persons++;
	}
	if (counter->ruled && !counter->losing && counter->status == KANON_OK)
		note_known(counter, counter->slots[slot_of(counter, hash)] - 1, n);
}

static bool
is_chosen_gone(const Counter *counter, int n)
{
	for (int i = 0; i < n; i++)
		if (counter->class->rows[counter->chosen[i]].gone)
			return true;
	return false;
}

static int
compare_order(const void *a, const void *b, void *arg)
{
	const LinkedClass *class = ((Counter *) arg)->class;
	const LinkedRow *left = &class->rows[*(const uint32_t *) a], *right = &class->rows[*(const uint32_t *) b];

	if (left->table != right->table)
		return left->table < right->table ? -1 : 1;
	if (left->above != right->above)
		return left->above < right->above ? -1 : 1;
	return left->node < right->node ? -1 : left->node > right->node;
}

/* Rows that look alike, with no rows below them, need one set: each other set has the same form. */
static bool
is_like_before(const Counter *counter, uint32_t i)
{
	const LinkedRow *row = &counter->class->rows[counter->order[i]];
	const LinkedRow *before = &counter->class->rows[counter->order[i - 1]];

	/* (their values may differ) */
	return counter->class->linked->tables[row->table].ruled == NULL && row->table == before->table &&
		   row->above == before->above && row->node == before->node && !before->gone &&
		   !counter->has_rows[counter->order[i]] && !counter->has_rows[counter->order[i - 1]];
}

static void
order_rows(Counter *counter)
{
	LinkedClass *class = counter->class;
	uint32_t *scratch = (uint32_t *) counter->sum;

	for (uint32_t r = 0; r < class->nrows; r++)
	{
		counter->order[r] = r;
		class->rows[r].node = kanon_linked_node(class, class->rows[r].node);
		counter->has_rows[r] = false;
	}
	for (uint32_t r = 0; r < class->nrows; r++)
		if (class->rows[r].above != KANON_NO_ROW && !class->rows[r].gone)
			counter->has_rows[class->rows[r].above] = true;
	for (uint32_t p = 0; p < class->npersons; p++)
		kanon_sort(counter->order + class->start[p], scratch, class->start[p + 1] - class->start[p],
				   sizeof(uint32_t), compare_order, counter);
}

/* n rows are chosen; further ones from `from` on, until there are `most`. */
static void
choose(Counter *counter, uint32_t from, int n, int most)
{
	LinkedClass *class = counter->class;

	for (uint32_t i = from; i < class->start[counter->person + 1] && counter->status == KANON_OK; i++)
	{
		uint32_t r = counter->order[i];
		int table = class->rows[r].table;

		if (class->rows[r].gone || counter->known[table] == class->linked->m ||
			(i > from && is_like_before(counter, i)))
			continue;
		counter->chosen[n] = r;
		counter->known[table]++;
		if (n + 1 == most)
			visit(counter, n + 1);
		else
			choose(counter, i + 1, n + 1, most);
		counter->known[table]--;
		if (counter->losing && is_chosen_gone(counter, n))
			return;
	}
}

static KanonStatus
count(Counter *counter, int size)
{
	counter->status = KANON_OK;
	counter->visits = 0;
	order_rows(counter);
	for (counter->person = 0; counter->person < counter->class->npersons && counter->status == KANON_OK;
		 counter->person++)
		choose(counter, counter->class->start[counter->person], 0, size);
	if (counter->status == KANON_TOO_LARGE)
		snprintf(counter->class->report->detail, sizeof(counter->class->report->detail),
				 "One class of persons has more than %llu combinations of %d rows.",
				 (unsigned long long) MOST_VISITS, size);
	return counter->status;
}

static void
forget(Counter *counter)
{
	counter->nforms = counter->nexamples = counter->nknown = 0;
	if (counter->nslots > 0)
		memset(counter->slots, 0, sizeof(uint32_t) * counter->nslots);
}

/* ---- rules ---- */

static int
compare_knowns(const void *a, const void *b, void *arg)
{
	const Known *left = a, *right = b;

	(void) arg;
	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	return left->row < right->row ? -1 : left->row > right->row;
}

/* May the values of these rows be all that one can be?  Each row is met once. */
static bool
keeps_rules(const Counter *counter, const Known *known, size_t n)
{
	const LinkedClass *class = counter->class;
	const KanonLinkedTable *table = &class->linked->tables[class->rows[known[0].row].table];
	size_t nrows = 0;

	for (size_t i = 0; i < n; i++)
		if (i == 0 || known[i].row != known[i - 1].row)
			counter->types[nrows++] = table->type[class->rows[known[i].row].row];
	return kanon_privacy_allows(table->ruled, counter->types, counter->ones, nrows, true, NULL);
}

/* Marks the combinations of which the values of a row break a rule. */
static KanonStatus
judge(Counter *counter)
{
	size_t mark = kanon_mark(&counter->scratch);
	Known *scratch = kanon_take(&counter->scratch, counter->nknown, sizeof(Known));

	if (kanon_taken(&counter->scratch) != KANON_OK)
		return KANON_NO_MEMORY;
	kanon_sort(counter->knowns, scratch, counter->nknown, sizeof(Known), compare_knowns, NULL);
	for (size_t from = 0, to; from < counter->nknown; from = to)
	{
		for (to = from; to < counter->nknown && counter->knowns[to].hash == counter->knowns[from].hash;)
			to++;
		if (!keeps_rules(counter, counter->knowns + from, to - from))
			counter->forms[counter->knowns[from].form].broken = true;
		if (kanon_stop(counter->class->pace, to - from))
			return KANON_CANCELLED;
	}
	kanon_release(&counter->scratch, mark);
	for (int t = 0; t < counter->class->linked->ntables; t++)
		if (counter->class->linked->tables[t].ruled != NULL &&
			kanon_privacy_failed(counter->class->linked->tables[t].ruled->privacy))
			return KANON_NO_MEMORY;
	return KANON_OK;
}

/* ---- rare ones ---- */

/* Too few persons have it, or their values are too much alike. */
static bool
is_rare(const Counter *counter, const Form *form)
{
	return form->persons < counter->class->linked->k || form->broken;
}

typedef struct Choice
{
	double cost;
	uint32_t node;  /* INFINITE cost: none */
	uint32_t other; /* that becomes one with it; KANON_NO_ROW: rows of it are left out */
} Choice;

/* The cost of merging a node with the nearest other one of its table. */
static void
try_merges(Counter *counter, uint32_t a, Choice *best)
{
	LinkedClass *class = counter->class;
	const LinkedNode *node = &class->nodes[a];

	for (uint32_t b = 0; b < class->nnodes; b++)
	{
		const LinkedNode *other = &class->nodes[b];
		double common, cost;

		if (b == a || other->merged || other->table != node->table || other->rows == 0)
			continue;
		common = kanon_linked_common(class, a, b, NULL);
		/* it may end all rare ones that have the node */
		cost = (node->rows * (common - node->cost) + other->rows * (common - other->cost)) / counter->rare[a];
		if (cost < best->cost)
			*best = (Choice){cost, a, b};
	}
	kanon_stop(class->pace, class->nnodes);
}

static Choice
cheapest(Counter *counter, const Form *form)
{
	LinkedClass *class = counter->class;
	const uint32_t *rows = counter->examples + form->example;
	Choice best = {INFINITY, KANON_NO_ROW, KANON_NO_ROW};

	for (uint32_t i = 0; i < form->size; i++)
	{
		uint32_t a = kanon_linked_node(class, class->rows[rows[i]].node);
		bool tried = false;

		for (uint32_t j = 0; j < i; j++)
			tried = tried || kanon_linked_node(class, class->rows[rows[j]].node) == a;
		if (!tried)
			try_merges(counter, a, &best);
	}
	/* (at equal cost rows stay) */
	for (uint32_t i = 0; i < form->size; i++)
	{
		uint32_t a = kanon_linked_node(class, class->rows[rows[i]].node);
		double price = form->persons * kanon_linked_price(class, rows[i]);

		if (price < best.cost)
			best = (Choice){price, a, KANON_NO_ROW};
	}
	return best;
}

/* Has a node of its rows become another since it was counted? */
static bool
is_touched(const Counter *counter, const Form *form, const bool *touched)
{
	for (uint32_t i = 0; i < form->size; i++)
	{
		const LinkedRow *row = &counter->class->rows[counter->examples[form->example + i]];

		if (touched[row->node] || touched[kanon_linked_node(counter->class, row->node)])
			return true;
	}
	return false;
}

/* How many rare combinations have each node. */
static void
count_rare(Counter *counter)
{
	LinkedClass *class = counter->class;

	for (size_t f = 0; f < counter->nforms; f++)
	{
		const Form *form = &counter->forms[f];

		for (uint32_t i = 0; i < form->size && is_rare(counter, form); i++)
			counter->rare[kanon_linked_node(class, class->rows[counter->examples[form->example + i]].node)]++;
	}
}

/* Ends the rare ones that nothing has been done about; *rare: how many there were. */
static KanonStatus
mend(Counter *counter, size_t *rare)
{
	LinkedClass *class = counter->class;
	size_t mark = kanon_mark(&counter->scratch);
	bool *touched = kanon_take0(&counter->scratch, class->nnodes, sizeof(bool));
	bool losing = false;

	*rare = 0;
	counter->rare = kanon_take0(&counter->scratch, class->nnodes, sizeof(uint32_t));
	if (touched == NULL || counter->rare == NULL)
		return KANON_NO_MEMORY;
	count_rare(counter);
	for (size_t f = 0; f < counter->nforms; f++)
	{
		Form *form = &counter->forms[f];
		Choice choice;

		if (!is_rare(counter, form))
			continue;
		(*rare)++;
		if (is_touched(counter, form, touched))
			continue;
		choice = cheapest(counter, form);
		touched[choice.node] = true;
		if (choice.other == KANON_NO_ROW)
		{
			form->lose = choice.node;
			losing = true;
			continue;
		}
		touched[choice.other] = true;
		kanon_linked_merge(class, choice.node, choice.other);
	}
	kanon_release(&counter->scratch, mark);
	counter->losing = losing;
	return KANON_OK;
}

/* Combinations of one size until none is rare; *again: rows were left out. */
static KanonStatus
settle(Counter *counter, int size, bool *again)
{
	size_t rare = 1;
	KanonStatus status = KANON_OK;

	*again = false;
	while (rare > 0 && status == KANON_OK)
	{
		forget(counter);
		status = count(counter, size);
		if (status == KANON_OK && counter->ruled)
			status = judge(counter);
		if (status == KANON_OK)
			status = mend(counter, &rare);
		/* rows that look alike since may have values that break a rule in a smaller combination */
		*again = *again || (counter->ruled && size > 1 && rare > 0);
		if (status == KANON_OK && counter->losing)
		{
			/* nodes that became one meanwhile are not those that were counted: their forms are not met again */
			status = count(counter, size);
			counter->losing = false;
			*again = true;
			return status;
		}
	}
	return status;
}

KanonStatus
kanon_linked_combinations(LinkedClass *class)
{
	Counter counter = {.class = class, .scratch = {.env = class->linked->env}, .marked = KANON_NO_ROW};
	int most = class->linked->m * class->linked->ntables;
	KanonStatus status;

	counter.sum = kanon_take(&counter.scratch, class->nrows, sizeof(uint64_t));
	counter.order = kanon_take(&counter.scratch, class->nrows, sizeof(uint32_t));
	counter.has_rows = kanon_take(&counter.scratch, class->nrows, sizeof(bool));
	for (int t = 0; t < class->linked->ntables; t++)
		counter.ruled = counter.ruled || class->linked->tables[t].ruled != NULL;
	if (counter.ruled)
	{
		counter.types = kanon_take(&counter.scratch, class->nrows, sizeof(uint32_t));
		counter.ones = kanon_take(&counter.scratch, class->nrows, sizeof(int64_t));
	}
	status = kanon_taken(&counter.scratch);
	for (uint32_t r = 0; r < class->nrows && counter.ruled && status == KANON_OK; r++)
		counter.ones[r] = 1;
	for (int size = 1; size <= most && status == KANON_OK; size++)
	{
		bool again;

		status = settle(&counter, size, &again);
		if (again)
			size = 0;
		else if (counter.nforms == 0)
			break;
	}
	kanon_scratch_free(&counter.scratch);
	return status;
}
