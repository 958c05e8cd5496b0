/*
 * freeform_ruled.c: groups of rows in rings, so that the values of a row's matches
 * keep rules beyond k, whatever is drawn.
 *
 * A row is protected by the values of the records that it matches, and which these are
 * depends on the draw.  In a ring of n rows (freeform_ring.c; Wong, Mamoulis, Cheung,
 * SIGMOD 2010) each record shows `window` rows that follow each other, and each row is in
 * `window` such records.  If the draw turns the whole ring, record j getting the row r
 * places on, then the values that a row sees are those of `window` rows that follow each
 * other, too: it is enough that all of these windows keep the rules.  The window is k
 * rows, or as many more as it takes; all n rows together do (the group keeps the rules as
 * a class, see freeform_rules_allow).
 *
 * That each turn is as likely as the others must hold for those, too, who know how rings
 * are made.  So which value stands where is decided by how often each occurs alone, which
 * no turn changes, and the rows of one value take its places in any order: a ring is as
 * likely under one turn of the values as under another.
 */
#include <stdio.h>
#include <string.h>

#include "freeform/freeform_ruled.h"
#include "util/fault.h"

/* Numbers what a rule looks at: 0, 1, … in the part; -1 stays. */
static KanonStatus
number_codes(FreeformRules *rules, int r, const int32_t *value)
{
	uint32_t n = rules->work->n;
	uint32_t *order = kanon_take(&rules->work->scratch, n, 2 * sizeof(uint32_t));
	int32_t *code = kanon_take(&rules->work->scratch, n, sizeof(int32_t));
	uint32_t m = 0;
	int32_t next = -1;

	if (order == NULL || code == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++)
		if (value[i] >= 0)
			order[m++] = (uint32_t) value[i];
	kanon_sort(order, order + n, m, sizeof(uint32_t), kanon_compare_numbers, NULL);
	for (uint32_t x = 0; x < m; x++)
		if (x == 0 || order[x] != order[(uint32_t) next])
			order[(uint32_t) ++next] = order[x];
	m = (uint32_t) (next + 1);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t low = 0;
		uint32_t high = m;

		while (value[i] >= 0 && low < high)
		{
			uint32_t middle = low + (high - low) / 2;

			if (order[middle] < (uint32_t) value[i])
				low = middle + 1;
			else
				high = middle;
		}
		code[i] = value[i] < 0 ? -1 : (int32_t) low;
	}
	rules->code[r] = code;
	return KANON_OK;
}

int
freeform_compare_kinds(const void *a, const void *b, void *arg)
{
	const FreeformRules *rules = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	for (int r = 0; r < rules->n; r++)
		if (rules->code[r][left] != rules->code[r][right])
			return rules->code[r][left] < rules->code[r][right] ? -1 : 1;
	return 0;
}

KanonStatus
freeform_rules_open(FreeformRules *rules, FreeformWork *work)
{
	KanonScratch *scratch = &work->scratch;
	uint32_t n = work->n;
	KanonStatus status = KANON_OK;

	*rules = (FreeformRules){.work = work, .n = work->space->nrules};
	for (int r = 0; r < rules->n && status == KANON_OK; r++)
		status = number_codes(rules, r,
							  work->part->value +
								  (kanon_freeform_words(work->space, work->ncolumns) + (size_t) r) * n);
	rules->count = kanon_take0(scratch, n, sizeof(uint32_t));
	rules->order = kanon_take(scratch, n, 2 * sizeof(uint32_t));
	rules->spread = kanon_take(scratch, n, 2 * sizeof(KanonKeyed));
	rules->window = kanon_take0(scratch, n, sizeof(uint32_t));
	rules->first = kanon_take(scratch, n, sizeof(uint32_t));
	rules->size = kanon_take(scratch, n, sizeof(uint32_t));
	rules->place = kanon_take(scratch, n, sizeof(uint32_t));
	rules->given = kanon_take(scratch, n, sizeof(uint32_t));
	return status == KANON_OK ? kanon_taken(scratch) : status;
}

uint32_t
freeform_rules_most(const FreeformRules *rules, int r, uint32_t n)
{
	double most = rules->work->space->rules[r].share * n * (1 + 1e-12);

	return most < n ? (uint32_t) most : n;
}

bool
freeform_rules_allow(FreeformRules *rules, const uint32_t *row, uint32_t n)
{
	bool allowed = true;

	for (int r = 0; r < rules->n; r++)
	{
		const KanonFreeformRule *rule = &rules->work->space->rules[r];
		const int32_t *code = rules->code[r];
		uint32_t most = freeform_rules_most(rules, r, n);
		uint32_t distinct = 0;

		for (uint32_t x = 0; x < n; x++)
			if (code[row[x]] >= 0)
			{
				distinct += rules->count[code[row[x]]]++ == 0;
				allowed = allowed && rules->count[code[row[x]]] <= most;
			}
		for (uint32_t x = 0; x < n; x++)
			if (code[row[x]] >= 0)
				rules->count[code[row[x]]] = 0;
		allowed = allowed && distinct >= rule->distinct;
	}
	return allowed;
}

/* Do each `window` rows that follow each other in the ring keep a rule? */
static bool
windows_keep(FreeformRules *rules, int r, const uint32_t *row, uint32_t n, uint32_t window)
{
	const KanonFreeformRule *rule = &rules->work->space->rules[r];
	const int32_t *code = rules->code[r];
	uint32_t most = freeform_rules_most(rules, r, window);
	uint32_t distinct = 0;
	uint32_t above = 0; /* values that have more than they may */
	bool keep = true;

	for (uint32_t x = 0; x < n + window - 1 && keep; x++)
	{
		int32_t in = code[row[x % n]];
		int32_t out = x < window ? -1 : code[row[x - window]];

		if (out >= 0)
		{
			above -= rules->count[out] == most + 1;
			distinct -= --rules->count[out] == 0;
		}
		if (in >= 0)
		{
			above += rules->count[in] == most;
			distinct += rules->count[in]++ == 0;
		}
		keep = x + 1 < window || (distinct >= rule->distinct && above == 0) || FAULT(rule_forgotten);
	}
	for (uint32_t x = 0; x < n; x++)
		if (code[row[x]] >= 0)
			rules->count[code[row[x]]] = 0;
	return keep;
}

/* The least window that does. */
static KanonStatus
find_window(FreeformRules *rules, const uint32_t *row, uint32_t n, uint32_t *found)
{
	FreeformWork *work = rules->work;
	uint32_t k = work->k;

	for (uint32_t window = k; window < n && window < 2 * k; window++)
	{
		bool keep = !work->space->symmetric || window % 2 == 1; /* as many on either side */

		for (int r = 0; r < rules->n && keep; r++)
			keep = windows_keep(rules, r, row, n, window);
		if (kanon_stop(&work->pace, 4 * (uint64_t) n))
			return KANON_CANCELLED;
		if (keep)
		{
			*found = window;
			return KANON_OK;
		}
	}
	*found = n;
	return KANON_OK;
}

static void
shuffle(FreeformRandom *random, uint32_t *row, uint32_t n)
{
	for (uint32_t x = n; x > 1; x--)
	{
		uint32_t y = freeform_below(random, x);
		uint32_t other = row[y];

		row[y] = row[x - 1];
		row[x - 1] = other;
	}
}

void
freeform_rules_sort(FreeformRules *rules, uint32_t *row, uint32_t n)
{
	shuffle(&rules->work->random, row, n);
	kanon_sort(row, rules->order, n, sizeof(uint32_t), freeform_compare_kinds, rules);
}

/* Each value's rows all over the ring, as evenly as can be; which row of a value takes which of its places is drawn. */
static void
spread(FreeformRules *rules, uint32_t *row, uint32_t n)
{
	freeform_rules_sort(rules, row, n);
	for (uint32_t from = 0, end; from < n; from = end)
	{
		for (end = from + 1; end < n && freeform_compare_kinds(&row[from], &row[end], rules) == 0; end++)
			;
		for (uint32_t x = from; x < end; x++)
			rules->spread[x] = (KanonKeyed){(x - from + 0.5) / (end - from), x};
	}
	kanon_sort(rules->spread, rules->spread + n, n, sizeof(KanonKeyed), kanon_compare_keyed, NULL);
	for (uint32_t x = 0; x < n; x++)
		rules->order[x] = row[rules->spread[x].item];
}

KanonStatus
freeform_rules_ring(FreeformRules *rules, uint32_t *row, uint32_t n)
{
	uint32_t first = (uint32_t) (row - rules->rows);
	uint32_t window;
	uint32_t turn;
	KanonStatus status;

	spread(rules, row, n);
	status = find_window(rules, rules->order, n, &window);
	if (status != KANON_OK)
		return status;
	memcpy(row, rules->order, n * sizeof(*row));
	turn = freeform_below(&rules->work->random, window);
	for (uint32_t x = 0; x < n; x++)
	{
		/* the rows that a record shows begin with its own, or, when matches are mutual, so many before it */
		uint32_t back = rules->work->space->symmetric && window < n ? (window - 1) / 2 : 0;

		rules->window[row[x]] = window;
		rules->first[row[x]] = first;
		rules->size[row[x]] = n;
		rules->place[row[x]] = (x + n - back) % n;
		rules->given[row[x]] = row[(x + n - back + turn) % n];
	}
	return KANON_OK;
}

void
freeform_rules_group(FreeformRules *rules, uint32_t *row, uint32_t n)
{
	memcpy(rules->order, row, n * sizeof(*row));
	shuffle(&rules->work->random, rules->order, n);
	for (uint32_t x = 0; x < n; x++)
	{
		rules->window[row[x]] = n;
		rules->first[row[x]] = (uint32_t) (row - rules->rows);
		rules->size[row[x]] = n;
		rules->place[row[x]] = 0;
		rules->given[row[x]] = rules->order[x];
	}
}

KanonStatus
freeform_rules_graph(const FreeformRules *rules, KanonFreeformGraph *graph)
{
	KanonEnv *env = rules->work->env;
	uint32_t n = rules->work->n;
	uint64_t edges = 0;

	for (uint32_t j = 0; j < n; j++)
		edges += rules->window[j];
	/* where values are so rare that hardly a group has them, one is large, and each of its records shows it all */
	if (edges >= UINT32_MAX)
	{
		snprintf(rules->work->detail, rules->work->detail_size,
				 "groups that keep the privacy rules are too large: there would be %llu matches",
				 (unsigned long long) edges);
		return KANON_TOO_LARGE;
	}
	graph->start = kanon_alloc(env, (size_t) n + 1, sizeof(uint32_t));
	graph->match = kanon_alloc(env, edges, sizeof(uint32_t));
	graph->given = kanon_alloc(env, n, sizeof(uint32_t));
	if (graph->start == NULL || graph->match == NULL || graph->given == NULL)
		return KANON_NO_MEMORY;
	graph->start[0] = 0;
	for (uint32_t j = 0; j < n; j++)
	{
		uint32_t *match = graph->match + graph->start[j];
		uint32_t at = rules->place[j];

		for (uint32_t x = 0; x < rules->window[j]; x++)
		{
			match[x] = rules->rows[rules->first[j] + at];
			at = at + 1 < rules->size[j] ? at + 1 : 0;
		}
		graph->start[j + 1] = graph->start[j] + rules->window[j];
	}
	memcpy(graph->given, rules->given, n * sizeof(uint32_t));
	if (rules->work->random.failed)
	{
		snprintf(rules->work->detail, rules->work->detail_size, "there are no random numbers to be had");
		return KANON_UNAVAILABLE;
	}
	return kanon_stop(&rules->work->pace, edges * 2) ? KANON_CANCELLED : KANON_OK;
}
