/*
 * test_transactions.c: methods for sets of items against brute force over all sets,
 * all cuts and all rules of small random tables.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "util/pace.h"
#include "itemsets/transactions.h"

#define TABLES 2000
#define MOST_ITEMS 9
#define MOST_NODES 31
#define MOST_ROWS 40

/* A table whose transactions are bit masks of items, too. */
typedef struct Baskets
{
	Host host;
	KanonTransactions problem;
	size_t start[MOST_ROWS + 1];
	uint32_t item[MOST_ROWS * MOST_ITEMS];
	uint32_t parent[MOST_NODES];
	bool sensitive[MOST_ITEMS];
	uint32_t row[MOST_ROWS];
} Baskets;

/* Transactions from masks; items that do not occur are numbered away. */
static void
fill(Baskets *baskets, const uint32_t *rows, uint32_t nrows)
{
	KanonSets *sets = &baskets->problem.sets;
	uint32_t number[32];
	uint32_t all = 0;
	size_t n = 0;

	for (uint32_t t = 0; t < nrows; t++)
		all |= rows[t];
	sets->nitems = 0;
	for (uint32_t i = 0; i < 32; i++)
		number[i] = all >> i & 1 ? sets->nitems++ : 0;
	for (uint32_t t = 0; t < nrows; t++)
	{
		baskets->start[t] = n;
		baskets->row[t] = 0;
		for (uint32_t i = 0; i < 32; i++)
			if (rows[t] >> i & 1)
			{
				baskets->item[n++] = number[i];
				baskets->row[t] |= UINT32_C(1) << number[i];
			}
	}
	baskets->start[nrows] = n;
	sets->ntransactions = nrows;
	sets->start = baskets->start;
	sets->item = baskets->item;
}

/* A forest by chance: any depth on each branch, chains, several tops. */
static void
grow(Baskets *baskets, uint64_t *random)
{
	KanonTransactions *problem = &baskets->problem;
	uint32_t open[MOST_NODES];
	uint32_t nopen = 0;

	problem->nnodes = problem->sets.nitems;
	problem->parent = baskets->parent;
	for (uint32_t v = 0; v < problem->nnodes; v++)
	{
		baskets->parent[v] = KANON_NOTHING;
		if (problem->sensitive == NULL || !problem->sensitive[v])
			open[nopen++] = v;
	}
	while (nopen > 0 && problem->nnodes < MOST_NODES - 2 && random_below(random, 12) > 0)
	{
		uint32_t children = 1 + (random_below(random, 6) > 0) + random_below(random, 2);

		for (uint32_t i = 0; i < children && nopen > 0; i++)
		{
			uint32_t which = random_below(random, nopen);

			baskets->parent[open[which]] = problem->nnodes;
			open[which] = open[--nopen];
		}
		baskets->parent[problem->nnodes] = KANON_NOTHING;
		open[nopen++] = problem->nnodes++;
	}
}

static void
baskets_random(Baskets *baskets, uint64_t *random, bool private_items, bool hierarchy)
{
	uint32_t nrows = 1 + random_below(random, MOST_ROWS);
	uint32_t nitems = 1 + random_below(random, MOST_ITEMS);
	uint32_t rows[MOST_ROWS];

	memset(baskets, 0, sizeof(*baskets));
	host_init(&baskets->host);
	for (uint32_t t = 0; t < nrows; t++)
	{
		uint32_t length = random_below(random, 5);

		rows[t] = 0;
		for (uint32_t i = 0; i < length; i++)
		{
			uint32_t a = random_below(random, nitems);
			uint32_t b = random_below(random, nitems);

			rows[t] |= UINT32_C(1) << (a < b ? a : b); /* some are rare */
		}
	}
	fill(baskets, rows, nrows);
	baskets->problem.env = &baskets->host.env;
	baskets->problem.k = 1 + random_below(random, 5);
	baskets->problem.m = 1 + (int) random_below(random, 3);
	baskets->problem.h = 20 * random_below(random, 6);
	baskets->problem.rho = 0.2 + 0.1 * random_below(random, 9);
	baskets->problem.time_limit = INFINITY;
	if (private_items)
	{
		for (uint32_t i = 0; i < baskets->problem.sets.nitems; i++)
			baskets->sensitive[i] = random_below(random, 3) == 0;
		baskets->problem.sensitive = baskets->sensitive;
	}
	grow(baskets, random);
	if (!hierarchy)
	{
		baskets->problem.nnodes = baskets->problem.sets.nitems;
		memset(baskets->parent, 0xff, sizeof(baskets->parent));
	}
}

/* ---- brute force ---- */

/* What is published, as masks of nodes. */
static void
publish(const Baskets *baskets, const uint32_t *shown, uint32_t *rows)
{
	for (uint32_t t = 0; t < baskets->problem.sets.ntransactions; t++)
	{
		rows[t] = 0;
		for (uint32_t i = 0; i < baskets->problem.sets.nitems; i++)
			if (baskets->row[t] >> i & 1 && shown[i] != KANON_NOTHING)
				rows[t] |= UINT32_C(1) << shown[i];
	}
}

static int64_t
support_of(const uint32_t *rows, uint32_t nrows, uint32_t set)
{
	int64_t n = 0;

	for (uint32_t t = 0; t < nrows; t++)
		n += (rows[t] & set) == set;
	return n;
}

/* Calls for each set that is part of a row, perhaps several times; false as soon as one says so. */
typedef bool (*EachMask)(void *arg, uint32_t set);

static bool
each_mask(const uint32_t *rows, uint32_t nrows, uint32_t of, EachMask each, void *arg)
{
	for (uint32_t t = 0; t < nrows; t++)
	{
		uint32_t row = rows[t] & of;

		for (uint32_t set = row; set > 0; set = (set - 1) & row)
			if (!each(arg, set))
				return false;
	}
	return true;
}

typedef struct Promise
{
	const KanonTransactions *problem;
	const uint32_t *rows;
	uint32_t public_items;
} Promise;

static bool
frequent(void *arg, uint32_t set)
{
	Promise *promise = arg;

	return __builtin_popcount(set) > promise->problem->m ||
		   support_of(promise->rows, promise->problem->sets.ntransactions, set) >= promise->problem->k;
}

static bool
keeps_km(const Baskets *baskets, const uint32_t *shown)
{
	uint32_t rows[MOST_ROWS];
	Promise promise = {&baskets->problem, rows, UINT32_MAX};

	publish(baskets, shown, rows);
	return each_mask(rows, baskets->problem.sets.ntransactions, UINT32_MAX, frequent, &promise);
}

static double
brute_ncp(const Baskets *baskets, const uint32_t *shown)
{
	const KanonTransactions *problem = &baskets->problem;
	double sum = 0;
	double occurs = 0;

	for (uint32_t i = 0; i < problem->sets.nitems; i++)
	{
		double support = (double) support_of(baskets->row, problem->sets.ntransactions, UINT32_C(1) << i);
		double may = 0;

		for (uint32_t j = 0; j < problem->sets.nitems; j++)
		{
			uint32_t v = j;

			while (v != shown[i] && v != KANON_NOTHING)
				v = problem->parent[v];
			may += v == shown[i]; /* nothing may be anything */
		}
		if (shown[i] == KANON_NOTHING)
			may = problem->sets.nitems;
		sum += shown[i] == i ? 0 : support * may;
		occurs += support;
	}
	return sum == 0 ? 0 : sum / occurs / problem->sets.nitems;
}

/* Is each item shown as itself, something above it, or nothing, and whole subtrees alike? */
static void
check_cut(const Baskets *baskets, const uint32_t *shown)
{
	const KanonTransactions *problem = &baskets->problem;

	for (uint32_t i = 0; i < problem->sets.nitems; i++)
	{
		uint32_t v = i;

		while (v != shown[i] && v != KANON_NOTHING)
			v = problem->parent[v];
		assert_int_equal(v, shown[i]);
		if (v == KANON_NOTHING)
			continue;
		for (uint32_t j = 0; j < problem->sets.nitems; j++)
		{
			uint32_t w = j;

			while (w != v && w != KANON_NOTHING)
				w = problem->parent[w];
			if (w == v)
				assert_int_equal(shown[j], v);
		}
	}
}

/* Every cut: of a node's subtree, itself or cuts of its children. */
typedef struct Cuts
{
	const Baskets *baskets;
	uint32_t shown[MOST_ITEMS];
	uint32_t todo[2 * MOST_NODES];
	int ntodo;
	double best;
} Cuts;

static void
show_below(Cuts *cuts, uint32_t v, uint32_t as)
{
	const KanonTransactions *problem = &cuts->baskets->problem;

	for (uint32_t i = 0; i < problem->sets.nitems; i++)
		for (uint32_t w = i; w != KANON_NOTHING; w = problem->parent[w])
			if (w == v)
				cuts->shown[i] = as;
}

static void
every_cut(Cuts *cuts)
{
	const KanonTransactions *problem = &cuts->baskets->problem;
	uint32_t v;
	int before;

	if (cuts->ntodo == 0)
	{
		double ncp = brute_ncp(cuts->baskets, cuts->shown);

		if (ncp < cuts->best && keeps_km(cuts->baskets, cuts->shown))
			cuts->best = ncp;
		return;
	}
	v = cuts->todo[--cuts->ntodo];
	before = cuts->ntodo;
	show_below(cuts, v, v);
	every_cut(cuts);
	cuts->ntodo = before;
	if (problem->parent[v] == KANON_NOTHING)
	{
		show_below(cuts, v, KANON_NOTHING);
		every_cut(cuts);
		cuts->ntodo = before;
	}
	if (v >= problem->sets.nitems)
	{
		for (uint32_t c = 0; c < problem->nnodes; c++)
			if (problem->parent[c] == v)
				cuts->todo[cuts->ntodo++] = c;
		every_cut(cuts);
	}
	cuts->ntodo = before;
	cuts->todo[cuts->ntodo++] = v;
}

static double
brute_optimum(const Baskets *baskets)
{
	Cuts cuts = {.baskets = baskets, .best = INFINITY};

	for (uint32_t v = 0; v < baskets->problem.nnodes; v++)
		if (baskets->problem.parent[v] == KANON_NOTHING)
			cuts.todo[cuts.ntodo++] = v;
	every_cut(&cuts);
	return cuts.best;
}

static uint32_t
private_mask(const Baskets *baskets)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < baskets->problem.sets.nitems; i++)
		if (baskets->problem.sensitive != NULL && baskets->sensitive[i])
			mask |= UINT32_C(1) << i;
	return mask;
}

/* Is a set of public items that occurs a mole? */
static bool
is_mole(const Baskets *baskets, const uint32_t *rows, uint32_t set)
{
	uint32_t nrows = baskets->problem.sets.ntransactions;
	int64_t cohort = support_of(rows, nrows, set);

	if (cohort == 0)
		return false;
	if (cohort < baskets->problem.k)
		return true;
	for (uint32_t i = 0; i < baskets->problem.sets.nitems; i++)
		if (private_mask(baskets) >> i & 1 && (double) support_of(rows, nrows, set | UINT32_C(1) << i) * 100 >
												  baskets->problem.h * (double) cohort)
			return true;
	return false;
}

/* The largest confidence of any rule, over all sets on the left that occur. */
typedef struct Worst
{
	const Baskets *baskets;
	const uint32_t *rows;
	double confidence;
} Worst;

static bool
weigh_rule(void *arg, uint32_t set)
{
	Worst *worst = arg;
	uint32_t nrows = worst->baskets->problem.sets.ntransactions;
	uint32_t private_items = private_mask(worst->baskets);

	for (uint32_t i = 0; i < worst->baskets->problem.sets.nitems; i++)
		if (private_items >> i & 1 && !(set >> i & 1))
			worst->confidence =
				fmax(worst->confidence, (double) support_of(worst->rows, nrows, set | UINT32_C(1) << i) /
											(double) support_of(worst->rows, nrows, set));
	return true;
}

static double
worst_confidence(const Baskets *baskets, const uint32_t *rows)
{
	Worst worst = {baskets, rows, 0};
	uint32_t nrows = baskets->problem.sets.ntransactions;

	for (uint32_t i = 0; i < baskets->problem.sets.nitems; i++)
		if (private_mask(baskets) >> i & 1)
			worst.confidence =
				fmax(worst.confidence, (double) support_of(rows, nrows, UINT32_C(1) << i) / (double) nrows);
	(void) each_mask(rows, nrows, UINT32_MAX, weigh_rule, &worst);
	return worst.confidence;
}

/* ---- tests ---- */

static double
recode(Baskets *baskets, const char *method, uint32_t *shown)
{
	const KanonMethod *found = kanon_method_find(KANON_ITEM_SETS, method);
	KanonRecoding recoding = {0};
	KanonReport report = {0};

	assert_non_null(found);
	assert_int_equal(found->recode(&baskets->problem, &recoding, &report), KANON_OK);
	memcpy(shown, recoding.shown, sizeof(uint32_t) * baskets->problem.sets.nitems);
	kanon_recoding_free(&baskets->problem, &recoding);
	assert_int_equal(baskets->host.blocks, 0);
	check_cut(baskets, shown);
	assert_true(fabs(report.cost - brute_ncp(baskets, shown)) < 1e-12);
	return report.cost;
}

/* k^m by brute force; optimal is optimal, apriori and direct are near it. */
static void
km(void **state)
{
	uint64_t random = 1;
	double sum[3] = {0};
	int generalized = 0;

	(void) state;
	for (int i = 0; i < cases(TABLES); i++)
	{
		static const char *const methods[] = {"optimal", "apriori", "direct"};
		Baskets baskets;
		double best;

		baskets_random(&baskets, &random, false, i % 8 > 0);
		best = brute_optimum(&baskets);
		generalized += best > 0;
		for (int which = 0; which < 3; which++)
		{
			uint32_t shown[MOST_ITEMS];
			double ncp = recode(&baskets, methods[which], shown);

			assert_true(keeps_km(&baskets, shown));
			if (which == 0)
				assert_true(fabs(ncp - best) < 1e-12);
			sum[which] += ncp;
		}
	}
	print_message("NCP over the optimum's: apriori %.4f, direct %.4f\n", sum[1] / sum[0], sum[2] / sum[0]);
	assert_true(generalized > cases(TABLES) / 2);
	assert_true(sum[1] < 1.1 * sum[0] && sum[2] < 1.1 * sum[0]);
}

/* The minimal moles, all of them and nothing else; nothing is left of them. */
static void
coherence(void **state)
{
	uint64_t random = 2;
	int nmoles = 0, suppressed = 0;

	(void) state;
	for (int i = 0; i < cases(TABLES); i++)
	{
		Baskets baskets;
		KanonTransactions *problem = &baskets.problem;
		uint32_t shown[MOST_ITEMS], rows[MOST_ROWS];
		bool none[MOST_ITEMS] = {false};
		bool complete;
		uint32_t public_items;
		size_t expected = 0;
		KanonHit hit = {0};
		KanonReport report = {0};
		KanonPace pace = {.phase = "solve", .rows_left = -1};

		baskets_random(&baskets, &random, i % 4 > 0, false);
		hit.scratch.env = pace.env = problem->env;
		public_items = ((UINT32_C(1) << problem->sets.nitems) - 1) & ~private_mask(&baskets);
		assert_int_equal(kanon_find_moles(problem, &pace, none, problem->m, &hit, &complete, &report),
						 KANON_OK);
		assert_true(complete);
		for (uint32_t set = public_items; set > 0; set = (set - 1) & public_items)
		{
			uint32_t items[MOST_ITEMS];
			int size = 0;
			bool minimal = __builtin_popcount(set) <= problem->m && is_mole(&baskets, baskets.row, set);

			for (uint32_t part = (set - 1) & set; part > 0 && minimal; part = (part - 1) & set)
				minimal = !is_mole(&baskets, baskets.row, part);
			for (uint32_t e = 0; e < problem->sets.nitems; e++)
				if (set >> e & 1)
					items[size++] = e;
			assert_int_equal(kanon_hit_has(&hit, items, size), minimal);
			expected += minimal;
		}
		assert_int_equal(hit.n, expected);
		nmoles += (int) expected;
		kanon_hit_free(&hit);
		(void) recode(&baskets, "suppress", shown);
		publish(&baskets, shown, rows);
		for (uint32_t set = public_items; set > 0; set = (set - 1) & public_items)
			if (__builtin_popcount(set) <= problem->m)
				assert_false(is_mole(&baskets, rows, set));
		for (uint32_t e = 0; e < problem->sets.nitems; e++)
		{
			bool clean = true;

			if (shown[e] != KANON_NOTHING)
				continue;
			/* no private item goes, and none in vain: with it again there would be a mole */
			assert_true(public_items >> e & 1);
			suppressed++;
			for (uint32_t t = 0; t < problem->sets.ntransactions; t++)
				rows[t] |= baskets.row[t] & UINT32_C(1) << e;
			for (uint32_t set = public_items; set > 0 && clean; set = (set - 1) & public_items)
				clean = __builtin_popcount(set) > problem->m || !is_mole(&baskets, rows, set);
			assert_false(clean);
			publish(&baskets, shown, rows);
		}
	}
	assert_true(nmoles > cases(TABLES) && suppressed > cases(TABLES));
}

/* No rule reaches rho, whichever of the two methods. */
static void
uncertainty(void **state)
{
	uint64_t random = 3;
	double sum[2] = {0};
	int needed = 0;

	(void) state;
	for (int i = 0; i < cases(TABLES); i++)
	{
		static const char *const methods[] = {"suppress_control", "td_control"};
		Baskets baskets;

		baskets_random(&baskets, &random, true, true);
		needed += worst_confidence(&baskets, baskets.row) >= baskets.problem.rho;
		for (int which = 0; which < 2; which++)
		{
			uint32_t shown[MOST_ITEMS], rows[MOST_ROWS];

			sum[which] += recode(&baskets, methods[which], shown);
			publish(&baskets, shown, rows);
			assert_true(worst_confidence(&baskets, rows) < baskets.problem.rho);
			if (worst_confidence(&baskets, baskets.row) < baskets.problem.rho && which == 0)
				for (uint32_t e = 0; e < baskets.problem.sets.nitems; e++)
					assert_int_equal(shown[e], e);
		}
	}
	print_message("mean NCP: suppress_control %.4f, td_control %.4f\n", sum[0] / cases(TABLES),
				  sum[1] / cases(TABLES));
	assert_true(needed > cases(TABLES) / 4);
	/* on many tables; a few may favour the other */
	assert_true(sum[1] <= (cases(TABLES) == TABLES ? 1 : 1.02) * sum[0]);
}

/* The five transactions of a1 a2 a3 a4 s1 s2 of Cao et al.: without a2 and s1 they are 0.7-uncertain. */
static void
example(void **state)
{
	static const uint32_t rows[] = {0x37, 0x0d, 0x0c, 0x28, 0x35};
	Baskets baskets = {0};
	KanonRuleFound worst;
	KanonReport report = {0};
	uint32_t shown[MOST_ITEMS], published[MOST_ROWS];

	(void) state;
	host_init(&baskets.host);
	fill(&baskets, rows, 5);
	baskets.problem.env = &baskets.host.env;
	baskets.problem.rho = 0.7;
	baskets.problem.sensitive = baskets.sensitive;
	baskets.sensitive[4] = baskets.sensitive[5] = true;
	baskets.problem.nnodes = 6;
	baskets.problem.parent = baskets.parent;
	memset(baskets.parent, 0xff, sizeof(baskets.parent));
	assert_int_equal(
		kanon_recount_rules(&baskets.host.env, &baskets.problem.sets, baskets.sensitive, &worst, &report),
		KANON_OK);
	assert_int_equal(worst.with, worst.cohort);
	(void) recode(&baskets, "suppress_control", shown);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(shown[i], i == 1 || i == 4 ? KANON_NOTHING : i);
	publish(&baskets, shown, published);
	assert_true(fabs(worst_confidence(&baskets, published) - 2.0 / 3) < 1e-12);
}

/* What recount.c says, by brute force. */
static void
check_size(const Baskets *baskets, int size, const KanonSupport *support)
{
	const KanonTransactions *problem = &baskets->problem;
	uint32_t nrows = problem->sets.ntransactions;
	uint32_t private_items = private_mask(baskets);
	uint32_t public_items = ((UINT32_C(1) << problem->sets.nitems) - 1) & ~private_items;
	KanonSupport expected = {0};
	double share = -1;
	bool hangs[MOST_ROWS] = {false};

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t set = public_items; set > 0; set = (set - 1) & public_items)
		{
			int64_t cohort = support_of(baskets->row, nrows, set);

			if (cohort == 0 || __builtin_popcount(set) != size)
				continue;
			if (pass == 1)
			{
				for (uint32_t t = 0; t < nrows; t++)
					hangs[t] |= cohort == expected.smallest && (baskets->row[t] & set) == set;
				continue;
			}
			expected.sets++;
			expected.below += cohort < problem->k;
			if (expected.smallest == 0 || cohort < expected.smallest)
				expected.smallest = cohort;
			for (uint32_t e = 0; e < problem->sets.nitems; e++)
				if (private_items >> e & 1)
					share = fmax(share, (double) support_of(baskets->row, nrows, set | UINT32_C(1) << e) /
											(double) cohort);
		}
	for (uint32_t t = 0; t < nrows; t++)
		expected.transactions += hangs[t];
	assert_int_equal(support->sets, expected.sets);
	assert_int_equal(support->smallest, expected.smallest);
	assert_int_equal(support->transactions, expected.transactions);
	assert_int_equal(support->below, expected.below);
	if (share >= 0)
		assert_true(fabs((double) support->worst_with / (double) support->worst_cohort - share) < 1e-12);
}

static void
recount(void **state)
{
	uint64_t random = 4;

	(void) state;
	for (int i = 0; i < cases(TABLES); i++)
	{
		Baskets baskets;
		KanonTransactions *problem = &baskets.problem;
		KanonSupport supports[KANON_MAX_SET];
		KanonRuleFound worst;
		KanonReport report = {0};

		baskets_random(&baskets, &random, i % 2 == 0, false);
		assert_int_equal(kanon_recount_supports(problem->env, &problem->sets, problem->sensitive, 4,
												problem->k, supports, &report),
						 KANON_OK);
		for (int size = 1; size <= 4; size++)
			check_size(&baskets, size, &supports[size - 1]);
		if (problem->sensitive != NULL)
		{
			double confidence = worst_confidence(&baskets, baskets.row);

			assert_int_equal(
				kanon_recount_rules(problem->env, &problem->sets, problem->sensitive, &worst, &report),
				KANON_OK);
			assert_true(fabs(confidence -
							 (worst.cohort > 0 ? (double) worst.with / (double) worst.cohort : 0)) < 1e-12);
		}
		assert_int_equal(baskets.host.blocks, 0);
	}
}

/* The measures beside NCP, by the masks; the most frequent sets of a table that is published as it is. */
static void
measures(void **state)
{
	uint64_t random = 5;

	(void) state;
	for (int i = 0; i < cases(TABLES / 4); i++)
	{
		Baskets baskets;
		KanonTransactions *problem = &baskets.problem;
		uint32_t shown[MOST_ITEMS], rows[MOST_ROWS];
		KanonRecoding recoding = {shown};
		KanonSetMeasures told;
		int64_t suppressed = 0, empty = 0;
		uint32_t seen = 0;
		int gone = 0;

		baskets_random(&baskets, &random, false, true);
		(void) recode(&baskets, "apriori", shown);
		assert_int_equal(kanon_measure_sets(problem, &recoding, &told), KANON_OK);
		publish(&baskets, shown, rows);
		for (uint32_t e = 0; e < problem->sets.nitems; e++)
			gone += shown[e] == KANON_NOTHING;
		for (uint32_t t = 0; t < problem->sets.ntransactions; t++)
		{
			for (uint32_t e = 0; e < problem->sets.nitems; e++)
				suppressed += baskets.row[t] >> e & 1 && shown[e] == KANON_NOTHING;
			empty += rows[t] == 0;
			seen |= rows[t];
		}
		assert_true(fabs(told.ncp - brute_ncp(&baskets, shown)) < 1e-12);
		assert_int_equal(told.suppressed, suppressed);
		assert_int_equal(told.items_suppressed, gone);
		assert_int_equal(told.shown_after, __builtin_popcount(seen));
		assert_int_equal(told.empty_after, empty);
		assert_true(told.frequent_preserved <= told.frequent && told.frequent <= 100);
		for (uint32_t e = 0; e < problem->sets.nitems; e++)
			shown[e] = e;
		assert_int_equal(kanon_measure_sets(problem, &recoding, &told), KANON_OK);
		assert_int_equal(told.frequent_preserved, told.frequent);
		assert_true(problem->sets.nitems == 0 || told.frequent > 0);
		assert_int_equal(baskets.host.blocks, 0);
	}
}

/* Nobody has anything, or there is nobody. */
static void
nothing(void **state)
{
	static const uint32_t empty[3] = {0};

	(void) state;
	for (uint32_t nrows = 0; nrows <= 3; nrows += 3)
		for (const KanonMethod *method = kanon_methods(KANON_ITEM_SETS); method->name != NULL; method++)
		{
			Baskets baskets = {.problem = {.k = 2, .m = 2, .rho = 0.5, .time_limit = INFINITY}};
			KanonSetMeasures told;
			KanonRecoding recoding = {0};
			KanonReport report = {0};
			KanonSupport supports[2];
			KanonRuleFound worst;

			host_init(&baskets.host);
			fill(&baskets, empty, nrows);
			baskets.problem.env = &baskets.host.env;
			baskets.problem.parent = baskets.parent;
			baskets.problem.sensitive = baskets.sensitive;
			assert_int_equal(method->recode(&baskets.problem, &recoding, &report), KANON_OK);
			assert_true(report.cost == 0);
			assert_int_equal(kanon_measure_sets(&baskets.problem, &recoding, &told), KANON_OK);
			assert_int_equal(told.empty_after, nrows);
			assert_int_equal(kanon_recount_supports(baskets.problem.env, &baskets.problem.sets, NULL, 2, 2,
													supports, &report),
							 KANON_OK);
			assert_int_equal(supports[0].sets, 0);
			assert_int_equal(kanon_recount_rules(baskets.problem.env, &baskets.problem.sets,
												 baskets.sensitive, &worst, &report),
							 KANON_OK);
			assert_int_equal(worst.cohort, 0);
			kanon_recoding_free(&baskets.problem, &recoding);
			assert_int_equal(baskets.host.blocks, 0);
		}
}

/* More sets than can be counted: refused before anything is, with the number. */
static void
explosion(void **state)
{
	enum
	{
		LENGTH = 10000
	};
	size_t start[3] = {0, LENGTH, 2 * LENGTH};
	uint32_t *item = malloc(sizeof(uint32_t) * 2 * LENGTH);
	uint32_t *parent = malloc(sizeof(uint32_t) * LENGTH);
	static const char *const methods[] = {"direct", "suppress",
										  "apriori"}; /* optimal begins as apriori does */
	Host host;
	KanonTransactions problem = {.k = 2, .m = 4, .time_limit = INFINITY};
	KanonSupport supports[4];
	KanonReport report = {0};

	(void) state;
	host_init(&host);
	for (uint32_t i = 0; i < LENGTH; i++)
	{
		item[i] = item[LENGTH + i] = i;
		parent[i] = KANON_NOTHING;
	}
	problem.env = &host.env;
	problem.sets = (KanonSets){LENGTH, 2, start, item};
	problem.nnodes = LENGTH;
	problem.parent = parent;
	for (int i = 0; i < 3; i++)
	{
		KanonRecoding recoding = {0};

		memset(&report, 0, sizeof(report));
		/* sets of two are still counted, of three no more */
		assert_int_equal(kanon_method_find(KANON_ITEM_SETS, methods[i])->recode(&problem, &recoding, &report),
						 KANON_TOO_LARGE);
		assert_non_null(strstr(report.detail, "3.33e+11"));
		assert_int_equal(host.blocks, 0);
	}
	memset(&report, 0, sizeof(report));
	assert_int_equal(kanon_recount_supports(&host.env, &problem.sets, NULL, 4, 2, supports, &report),
					 KANON_TOO_LARGE);
	assert_non_null(strstr(report.detail, "3.33e+11"));
	assert_int_equal(host.blocks, 0);
	free(item);
	free(parent);
}

/* The more is known the surer: the rule that is certain knows of more items than are told. */
static void
much_is_known(void **state)
{
	enum
	{
		KNOWN = KANON_MAX_KNOWN + 2
	};
	size_t start[KNOWN + 1], n = 0;
	uint32_t item[KNOWN * (KNOWN + 1) / 2 + 1];
	bool sensitive[KNOWN + 1] = {false};
	Host host;
	KanonSets sets = {KNOWN + 1, KNOWN, start, item};
	KanonRuleFound worst;
	KanonReport report = {0};

	(void) state;
	host_init(&host);
	for (uint32_t t = 0; t < KNOWN; t++)
	{
		start[t] = n;
		for (uint32_t i = 0; i <= t; i++)
			item[n++] = i;
	}
	item[n++] = KNOWN;
	start[KNOWN] = n;
	sensitive[KNOWN] = true;
	assert_int_equal(kanon_recount_rules(&host.env, &sets, sensitive, &worst, &report), KANON_OK);
	assert_int_equal(worst.cohort, 1);
	assert_int_equal(worst.with, 1);
	assert_int_equal(worst.item, KNOWN);
	assert_int_equal(worst.known, KNOWN);
	for (uint32_t i = 0; i < KANON_MAX_KNOWN; i++)
		assert_int_equal(worst.left[i], i);
	assert_int_equal(host.blocks, 0);
}

/* Everything that is asked of the host at once. */
static KanonStatus
all_of_it(Baskets *baskets, const KanonMethod *method)
{
	KanonTransactions *problem = &baskets->problem;
	KanonSetMeasures told;
	KanonRecoding recoding = {0};
	KanonReport report = {0};
	KanonSupport supports[3];
	KanonRuleFound worst;
	KanonStatus status = method->recode(problem, &recoding, &report);

	if (status == KANON_OK)
		status = kanon_measure_sets(problem, &recoding, &told);
	kanon_recoding_free(problem, &recoding);
	if (status == KANON_OK)
		status =
			kanon_recount_supports(problem->env, &problem->sets, baskets->sensitive, 3, 2, supports, &report);
	if (status == KANON_OK)
		status = kanon_recount_rules(problem->env, &problem->sets, baskets->sensitive, &worst, &report);
	return status;
}

/* Every allocation refused once, every poll answered with yes once. */
static void
memory_and_cancel(void **state)
{
	(void) state;
	for (const KanonMethod *method = kanon_methods(KANON_ITEM_SETS); method->name != NULL; method++)
		for (int what = 0; what < 2; what++)
		{
			Failure failure = {.how = what == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

			while (fails_again(&failure))
			{
				uint64_t random = 9;
				Baskets baskets;

				do
					baskets_random(&baskets, &random, method->number != KANON_MODEL_KM,
								   (method->takes & KANON_TAKES_HIERARCHY) != 0);
				while (baskets.problem.sets.nitems < 8 || baskets.problem.sets.ntransactions < 30 ||
					   baskets.problem.m < 3 || baskets.problem.k < 3 || baskets.problem.rho > 0.5);
				fail_at(&baskets.host, &failure);
				failure.status = all_of_it(&baskets, method);
				assert_int_equal(baskets.host.blocks, 0);
				assert_true(what == 0 || failure.status == KANON_OK || baskets.host.polls <= failure.at + 20);
			}
		}
}

/* Methods tell how far they are, and never less than before. */
static void
shares(void **state)
{
	(void) state;
	if (KANON_POLL_WORK > 64)
		skip();
	for (const KanonMethod *method = kanon_methods(KANON_ITEM_SETS); method->name != NULL; method++)
	{
		int most = 0;

		if (method->number == KANON_MODEL_KM && strcmp(method->name, "direct") != 0)
			continue;
		for (uint64_t seed = 1; seed <= 40; seed++)
		{
			uint64_t random = seed;
			Baskets baskets;
			KanonRecoding recoding = {0};
			KanonReport report = {0};

			do
				baskets_random(&baskets, &random, method->number != KANON_MODEL_KM,
							   (method->takes & KANON_TAKES_HIERARCHY) != 0);
			while (baskets.problem.sets.nitems < 8 || baskets.problem.sets.ntransactions < 30 ||
				   baskets.problem.m < 3 || baskets.problem.k < 3 || baskets.problem.rho > 0.5);
			baskets.host.watched = "solve";
			assert_int_equal(method->recode(&baskets.problem, &recoding, &report), KANON_OK);
			kanon_recoding_free(&baskets.problem, &recoding);
			most = baskets.host.shares > most ? baskets.host.shares : most;
			assert_false(baskets.host.backwards);
		}
		print_message("%s: %d shares\n", method->name, most);
		assert_true(most >= 4);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(km),      cmocka_unit_test(coherence),     cmocka_unit_test(uncertainty),
		cmocka_unit_test(example), cmocka_unit_test(recount),       cmocka_unit_test(measures),
		cmocka_unit_test(nothing), cmocka_unit_test(explosion),     cmocka_unit_test(memory_and_cancel),
		cmocka_unit_test(shares),  cmocka_unit_test(much_is_known),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
