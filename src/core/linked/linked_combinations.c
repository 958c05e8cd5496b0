/*
 * linked_combinations.c: every combination of a few rows that one person of a class has, k
 * persons of it have.
 *
 * Combinations are counted, small ones first.  A rare one ends by the cheapest of: a row of it
 * shows what it has in common with rows of another kind (which are then of one kind in the
 * whole class), or those who have it lose a row.  Merging loses no person of a combination, so
 * that what was frequent stays so; after rows were left out everything is counted again.
 */
#include "linked/linked_counter.h"

#include <math.h>
#include <string.h>

typedef LinkedForm Form;
typedef LinkedCounter Counter;

/* ---- rare ones ---- */

typedef struct Choice
{
	double cost;
	uint32_t node;  /* INFINITE cost: none */
	uint32_t other; /* that becomes one with it; KANON_NO_ROW: rows of it are left out, */
	bool parts;     /* or do not show to which row they refer */
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
			*best = (Choice){cost, a, b, false};
	}
	kanon_stop(class->pace, class->nnodes);
}

/* The price of a row that does not show any more to which it refers; or infinity. */
static double
parted_price(const LinkedClass *class, uint32_t row)
{
	return kanon_linked_joins(class, row) ? kanon_linked_parted(&class->shapes[class->rows[row].table])
										  : INFINITY;
}

static Choice
cheapest(Counter *counter, const Form *form)
{
	LinkedClass *class = counter->class;
	const uint32_t *rows = counter->examples + form->example;
	Choice best = {INFINITY, KANON_NO_ROW, KANON_NO_ROW, false};

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

		double parted = form->persons * parted_price(class, rows[i]);

		if (parted < best.cost)
			best = (Choice){parted, a, KANON_NO_ROW, true};
		if (price < best.cost && !class->linked->tables[class->rows[rows[i]].table].copies)
			best = (Choice){price, a, KANON_NO_ROW, false};
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

		for (uint32_t i = 0; i < form->size && kanon_linked_is_rare(counter, form); i++)
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

		if (!kanon_linked_is_rare(counter, form))
			continue;
		(*rare)++;
		if (is_touched(counter, form, touched))
			continue;
		choice = cheapest(counter, form);
		/* (copies of a whole class that look alike are those of k persons) */
		if (choice.node == KANON_NO_ROW)
			return KANON_INFEASIBLE;
		touched[choice.node] = true;
		if (choice.other == KANON_NO_ROW)
		{
			form->lose = choice.node;
			form->parts = choice.parts;
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
		status = kanon_linked_count(counter, size);
		if (status == KANON_OK)
			status = mend(counter, &rare);
		/* rows that look alike since may have values that break a rule in a smaller combination */
		*again = *again || (counter->ruled && size > 1 && rare > 0);
		if (status == KANON_OK && counter->losing)
		{
			/* nodes that became one meanwhile are not those that were counted: their forms are not met again */
			status = kanon_linked_count(counter, size);
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
	Counter counter;
	int most = kanon_linked_most(class->linked);
	KanonStatus status = kanon_linked_counter(class, &counter);

	for (int size = counter.least; size <= most && status == KANON_OK; size++)
	{
		bool again;

		status = settle(&counter, size, &again);
		if (again)
			size = counter.least - 1;
		else if (counter.nforms == 0)
			break;
	}
	kanon_linked_counter_end(&counter);
	return status;
}
