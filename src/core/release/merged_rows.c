/*
 * merged_rows.c: the rows of clusters that are merged, as rules look at them.
 */
#include "release/release.h"
#include "util/hash.h"

#define NOTHING UINT32_MAX

KanonStatus
kanon_number_values(const KanonProblem *problem, KanonScratch *scratch, KanonPace *pace, KanonValues *values)
{
	size_t size = 16;
	uint32_t *table;

	values->n = 0;
	while (size < 2 * (size_t) problem->ntypes)
		size *= 2;
	values->of = kanon_take(scratch, problem->ntypes, sizeof(uint32_t));
	values->typical = kanon_take(scratch, problem->ntypes, sizeof(uint32_t));
	table = kanon_take0(scratch, size, sizeof(uint32_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		uint64_t hash = 0;
		size_t slot;
		bool same = false;

		for (int c = 0; c < problem->nextra; c++)
			hash = kanon_hash_add(hash, problem->extra[c].code[type]);
		for (slot = hash & (size - 1); table[slot] != 0; slot = (slot + 1) & (size - 1))
		{
			uint32_t other = values->typical[table[slot] - 1];

			same = true;
			for (int c = 0; c < problem->nextra && same; c++)
				same = problem->extra[c].code[type] == problem->extra[c].code[other];
			if (same)
				break;
		}
		if (!same)
		{
			values->typical[values->n] = type;
			table[slot] = ++values->n;
		}
		values->of[type] = table[slot] - 1;
		if (kanon_stop(pace, 4 + (uint64_t) problem->nextra))
			return KANON_CANCELLED;
	}
	kanon_drop(scratch, table);
	return KANON_OK;
}

KanonStatus
held_open(Held *held, const KanonProblem *problem, uint32_t nclusters, size_t most, KanonScratch *scratch,
		  KanonPace *pace)
{
	KanonStatus status = kanon_number_values(problem, scratch, pace, &held->values);

	held->pace = pace;
	held->items = kanon_take(scratch, most, sizeof(HeldRows));
	held->first = kanon_take(scratch, nclusters, sizeof(uint32_t));
	held->last = kanon_take(scratch, nclusters, sizeof(uint32_t));
	held->length = kanon_take0(scratch, nclusters, sizeof(uint32_t));
	held->counted = kanon_take0(scratch, nclusters, sizeof(uint32_t));
	held->became = kanon_take(scratch, nclusters, sizeof(uint32_t));
	held->rows = kanon_take0(scratch, nclusters, sizeof(int64_t));
	held->met = kanon_take0(scratch, held->values.n, sizeof(uint32_t));
	held->met_at = kanon_take(scratch, held->values.n, sizeof(uint32_t));
	for (uint32_t i = 0; i < nclusters && !scratch->failed; i++)
	{
		held->first[i] = NOTHING;
		held->became[i] = i;
	}
	return status == KANON_OK ? kanon_taken(scratch) : status;
}

void
held_add(Held *held, uint32_t cluster, uint32_t type, int64_t rows)
{
	uint32_t added = held->n++;

	held->items[added] = (HeldRows){type, NOTHING, rows};
	if (held->first[cluster] == NOTHING)
		held->first[cluster] = added;
	else
		held->items[held->last[cluster]].next = added;
	held->last[cluster] = added;
	held->length[cluster]++;
	held->rows[cluster] += rows;
}

void
held_add_up(Held *held, uint32_t cluster)
{
	uint32_t stamp = ++held->stamp;
	uint32_t last = NOTHING;
	uint32_t n = 0;

	for (uint32_t i = held->first[cluster]; i != NOTHING; i = held->items[i].next)
	{
		uint32_t value = held->values.of[held->items[i].type];

		if (held->met[value] == stamp)
		{
			held->items[held->met_at[value]].rows += held->items[i].rows;
			continue;
		}
		held->met[value] = stamp;
		held->met_at[value] = i;
		if (last != NOTHING)
			held->items[last].next = i;
		last = i;
		n++;
	}
	if (last != NOTHING)
		held->items[last].next = NOTHING;
	held->pace->work += 4 * (uint64_t) held->length[cluster];
	held->last[cluster] = last;
	held->length[cluster] = held->counted[cluster] = n;
}

void
held_hand_over(Held *held, uint32_t from, uint32_t to)
{
	if (held->first[from] == NOTHING)
		return;
	if (held->first[to] == NOTHING)
		held->first[to] = held->first[from];
	else
		held->items[held->last[to]].next = held->first[from];
	held->last[to] = held->last[from];
	held->length[to] += held->length[from];
	held->rows[to] += held->rows[from];
	held->first[from] = NOTHING;
	held->rows[from] = 0;
	held->became[from] = to;
	if (held->length[to] / 2 > held->counted[to])
		held_add_up(held, to);
}

uint32_t
held_by(Held *held, uint32_t cluster)
{
	while (held->became[cluster] != cluster)
	{
		held->became[cluster] = held->became[held->became[cluster]];
		cluster = held->became[cluster];
	}
	return cluster;
}

size_t
held_list(const Held *held, uint32_t cluster, uint32_t *types, int64_t *counts, size_t n)
{
	for (uint32_t i = held->first[cluster]; i != NOTHING; i = held->items[i].next)
	{
		types[n] = held->items[i].type;
		counts[n++] = held->items[i].rows;
	}
	return n;
}
