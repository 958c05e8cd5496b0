/*
 * linked_alike.c: which nodes of a class look alike to readers.
 *
 * Readers may not tell NULL of the source from a cell that shows nothing, or a label from one of another level.  The persons
 * of two combinations that look alike are those of one, and their values keep the rules together, or not.
 */
#include "linked/linked_counter.h"
#include "util/number.h"
#include "util/sort.h"

static uint64_t
look_of(const LinkedClass *class, uint32_t node)
{
	const LinkedNode *of = &class->nodes[node];
	const KanonLinkedTable *table = &class->linked->tables[of->table];
	const LinkedShape *shape = &class->shapes[of->table];
	const uint8_t *level = class->level + (size_t) node * (size_t) class->most_qis;
	uint64_t look = kanon_mix(UINT64_C(1) << 32 | of->table);

	for (int q = 0; q < shape->nqis; q++)
	{
		int column = shape->first[q] + level[q];
		uint32_t seen = 0;

		if (column < shape->first[q + 1])
			seen = table->look[column][table->problem->columns[column].code[of->like]];
		look = kanon_mix(look + seen);
	}
	return look;
}

static int
compare_alike(const void *a, const void *b, void *arg)
{
	const LinkedCounter *counter = arg;
	uint32_t left = *(const uint32_t *) a, right = *(const uint32_t *) b;

	if (counter->alike.looks[left] != counter->alike.looks[right])
		return counter->alike.looks[left] < counter->alike.looks[right] ? -1 : 1;
	return left < right ? -1 : left > right;
}

KanonStatus
kanon_linked_find_alike(LinkedCounter *counter)
{
	const LinkedClass *class = counter->class;
	size_t mark = kanon_mark(&counter->scratch);
	uint32_t *order = kanon_take(&counter->scratch, class->nnodes, 2 * sizeof(uint32_t));

	if (order == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t node = 0; node < class->nnodes; node++)
	{
		order[node] = node;
		/* (of one that was merged nothing is asked) */
		counter->alike.looks[node] =
			class->linked->tables[class->nodes[node].table].look != NULL && !class->nodes[node].merged
				? look_of(class, node)
				: kanon_mix((uint64_t) node << 8 | class->nodes[node].table);
	}
	kanon_sort(order, order + class->nnodes, class->nnodes, sizeof(uint32_t), compare_alike, counter);
	for (uint32_t i = 0; i < class->nnodes; i++)
		counter->alike.first[order[i]] =
			i > 0 && counter->alike.looks[order[i]] == counter->alike.looks[order[i - 1]]
				? counter->alike.first[order[i - 1]]
				: order[i];
	kanon_release(&counter->scratch, mark);
	return KANON_OK;
}

KanonStatus
kanon_linked_make_room(LinkedCounter *counter)
{
	KanonScratch *scratch = &counter->scratch;
	size_t n = counter->class->nnodes;
	bool alike = false;

	for (int t = 0; t < counter->class->linked->ntables; t++)
		alike = alike || (counter->ruled && counter->class->linked->tables[t].look != NULL);
	if (counter->alike.room >= n)
		return KANON_OK;
	kanon_drop(scratch, counter->seen);
	kanon_drop(scratch, counter->lost);
	kanon_drop(scratch, counter->alike.first);
	kanon_drop(scratch, counter->alike.looks);
	counter->alike.room = n;
	counter->seen = kanon_take0(scratch, n, sizeof(uint64_t));
	counter->lost = kanon_take0(scratch, n, sizeof(bool));
	counter->alike.first = alike ? kanon_take(scratch, n, sizeof(uint32_t)) : NULL;
	counter->alike.looks = alike ? kanon_take(scratch, n, sizeof(uint64_t)) : NULL;
	counter->round = 0;
	return kanon_taken(scratch);
}
