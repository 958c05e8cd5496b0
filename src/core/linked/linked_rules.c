/*
 * linked_rules.c: combinations whose values break a rule: those of a row that is known, or of the persons who have it.
 */
#include "linked/linked_counter.h"
#include "privacy/rules.h"
#include "util/sort.h"

static int
compare_knowns(const void *a, const void *b, void *arg)
{
	const LinkedKnown *left = a, *right = b;

	(void) arg;
	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	if (left->person != right->person)
		return left->person ? -1 : 1;
	return left->row < right->row ? -1 : left->row > right->row;
}

/* Do those who have a combination keep the rules of persons? */
static bool
persons_keep_rules(const LinkedCounter *counter, const LinkedKnown *known, size_t n)
{
	const LinkedClass *class = counter->class;

	for (size_t i = 0; i < n; i++)
		counter->types[i] = class->linked->values[class->members[known[i].row]];
	return kanon_privacy_allows(class->linked->ruled, counter->types, counter->ones, n, true, NULL);
}

/* May the values of these rows be all that one can be?  Each row is met once. */
static bool
keeps_rules(const LinkedCounter *counter, const LinkedKnown *known, size_t n)
{
	const LinkedClass *class = counter->class;
	const KanonLinkedTable *table;
	size_t nrows = 0;

	if (known[0].person)
		return persons_keep_rules(counter, known, n);
	table = &class->linked->tables[class->rows[known[0].row].table];

	for (size_t i = 0; i < n; i++)
		if (i == 0 || known[i].row != known[i - 1].row)
			counter->types[nrows++] = table->type[class->rows[known[i].row].row];
	return kanon_privacy_allows(table->ruled, counter->types, counter->ones, nrows, true, NULL);
}

KanonStatus
kanon_linked_judge(LinkedCounter *counter)
{
	size_t mark = kanon_mark(&counter->scratch);
	LinkedKnown *scratch = kanon_take(&counter->scratch, counter->nknown, sizeof(LinkedKnown));

	if (kanon_taken(&counter->scratch) != KANON_OK)
		return KANON_NO_MEMORY;
	kanon_sort(counter->knowns, scratch, counter->nknown, sizeof(LinkedKnown), compare_knowns, NULL);
	for (size_t from = 0, to; from < counter->nknown; from = to)
	{
		for (to = from; to < counter->nknown && counter->knowns[to].hash == counter->knowns[from].hash &&
						counter->knowns[to].person == counter->knowns[from].person;)
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
	return counter->class->linked->ruled != NULL &&
				   kanon_privacy_failed(counter->class->linked->ruled->privacy)
			   ? KANON_NO_MEMORY
			   : KANON_OK;
}
