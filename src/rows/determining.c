/*
 * determining.c: tells whether one column of a sample determines another.
 *
 * It does if rows that agree in the one agree in the other.  Each row is compared with the others that have its
 * value. Values of a single row would determine anything, so they count for nothing.  The agreement that chance
 * alone would give is subtracted (Goodman and Kruskal's tau, "Measures of association for cross classifications",
 * 1954, with the row itself left out).
 */
#include "compat.h"
#include "rows/verify.h"
#include "core/util/number.h"
#include "rows/dictionary.h"

#include <math.h>

#include "lib/qunique.h"
#include "port/pg_bitutils.h"

/* One column determines another in this share of the rows. */
#define DETERMINES 0.9

static int
compare_numbers(const void *a, const void *b)
{
	uint32 left = *(const uint32 *) a, right = *(const uint32 *) b;

	return left < right ? -1 : left > right;
}

size_t
unique_codes(uint32 *codes, size_t n)
{
	qsort(codes, n, sizeof(uint32), compare_numbers);
	return qunique(codes, n, sizeof(uint32), compare_numbers);
}

/* Rows by their number: where those with each begin. */
static void
put_in_order(Attribute *a, int64 n)
{
	uint32 *next;

	a->order = palloc(sizeof(uint32) * n);
	a->start = palloc0(sizeof(uint32) * (a->distinct + 2));
	for (int64 i = 0; i < n; i++)
		if (a->id[i] != NO_VALUE)
			a->start[a->id[i] + 2]++;
	for (uint32 v = 2; v <= a->distinct; v++)
		a->start[v] += a->start[v - 1];
	next = a->start + 1;
	for (int64 i = 0; i < n; i++)
		if (a->id[i] != NO_VALUE)
			a->order[next[a->id[i]]++] = (uint32) i;
}

Attribute
attribute_of(const uint32 *numbers, int width, int64 n)
{
	Attribute a = {.id = palloc(sizeof(uint32) * n)};
	uint32 *sorted = palloc(sizeof(uint32) * n);
	int64 values = 0;

	for (int64 i = 0; i < n; i++)
		if (numbers[i * width] != NO_VALUE)
			sorted[values++] = numbers[i * width];
	qsort(sorted, values, sizeof(uint32), compare_numbers);
	for (int64 i = 0; i < values; i++)
		if (i == 0 || sorted[i] != sorted[a.distinct - 1])
			sorted[a.distinct++] = sorted[i];
	for (int64 i = 0; i < n; i++)
	{
		uint32 number = numbers[i * width];
		const uint32 *found =
			number == NO_VALUE ? NULL : bsearch(&number, sorted, a.distinct, sizeof(uint32), compare_numbers);

		a.id[i] = found == NULL ? NO_VALUE : (uint32) (found - sorted);
	}
	pfree(sorted);
	put_in_order(&a, n);
	return a;
}

Attribute
attributes_together(const Attribute *const *columns, int ncolumns, int64 n)
{
	Attribute a = {.id = palloc(sizeof(uint32) * n)};
	uint64 size = pg_nextpower2_64((uint64) n * 2);
	uint64 *values = palloc0(sizeof(uint64) * size);
	uint32 *number = palloc(sizeof(uint32) * size);

	for (int64 i = 0; i < n; i++)
	{
		uint64 value = 1;
		uint64 at;

		for (int c = 0; c < ncolumns; c++)
			value = kanon_mix(value ^ ((uint64) columns[c]->id[i] + 1) << c);
		value |= 1;
		at = value & (size - 1);
		while (values[at] != 0 && values[at] != value)
			at = (at + 1) & (size - 1);
		if (values[at] == 0)
			number[at] = a.distinct++;
		values[at] = value;
		a.id[i] = number[at];
	}
	pfree(values);
	pfree(number);
	put_in_order(&a, n);
	return a;
}

void
attribute_forget(Attribute *a)
{
	pfree(a->id);
	pfree(a->order);
	pfree(a->start);
}

Determined
determines(const Attribute *a, const Attribute *b, const bool *hidden, double by_chance_once)
{
	uint32 *count = palloc0(sizeof(uint32) * Max(b->distinct, 1));  /* in the group at hand */
	double *of_all = palloc0(sizeof(double) * Max(b->distinct, 1)); /* rows that have companions */
	double rows = 0, groups = 0, right = 0, by_chance = 0;
	double hidden_rows = 0, hidden_right = 0;
	Determined found = {0};

	for (uint32 v = 0; v < a->distinct; v++)
	{
		const uint32 *member = a->order + a->start[v], *end = a->order + a->start[v + 1];
		double r = 0;

		for (const uint32 *i = member; i < end; i++)
			if (b->id[*i] != NO_VALUE)
			{
				count[b->id[*i]]++;
				r++;
			}
		for (const uint32 *i = member; i < end && r >= 2; i++)
			if (b->id[*i] != NO_VALUE)
			{
				double agree = (count[b->id[*i]] - 1) / (r - 1);

				of_all[b->id[*i]]++;
				right += agree;
				rows++;
				if (hidden != NULL && hidden[*i])
				{
					hidden_right += agree;
					hidden_rows++;
				}
			}
		groups += r >= 2;
		for (const uint32 *i = member; i < end; i++)
			if (b->id[*i] != NO_VALUE)
				count[b->id[*i]] = 0;
	}
	for (uint32 v = 0; v < b->distinct && rows >= 2; v++)
		by_chance += of_all[v] * (of_all[v] - 1) / (rows * (rows - 1));
	pfree(count);
	pfree(of_all);
	/* (a column that hardly varies cannot be told from one that is told) */
	if (rows < LEAST_JUDGED || by_chance >= 1)
		return found;
	by_chance = Max(by_chance, 1 / rows);
	if (hidden_rows > 0)
		found.of_hidden = Max((hidden_right / hidden_rows - by_chance) / (1 - by_chance), 0);
	found.all = right / rows >= by_chance + DETERMINES * (1 - by_chance) &&
				(rows - groups) * -log(by_chance) >= by_chance_once;
	found.hidden = hidden_rows >= LEAST_JUDGED &&
				   hidden_right / hidden_rows >= by_chance + DETERMINES * (1 - by_chance) &&
				   hidden_rows / 2 * -log(by_chance) >= by_chance_once;
	return found;
}
