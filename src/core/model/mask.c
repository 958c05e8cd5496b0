/*
 * mask.c: which patterns are allowed, what they cost, and in which order they
 * are tried.
 *
 * Two costs are equal when they are the same to one billionth of the total
 * weight: 0.1 + 0.2 is 0.3 (model.h says how they are rounded; being rounded
 * one by one, they stay in a total order).
 *
 * The order of equal costs is not the paper's (it leaves it open); that of
 * KANON_ORDER_DOMAIN loses fewer cells than any fixed order of the columns.
 */
#include <math.h>

#include "model/model.h"
#include "util/number.h"
#include "util/sort.h"

/*
 * Two sums of logarithms of at most 256 numbers below 2^32 differ by less than
 * this from their true values.
 */
#define LOG_ERROR 1e-9

KanonPattern
kanon_pattern_all(int ncolumns)
{
	return kanon_span(0, ncolumns);
}

KanonPattern
kanon_last_levels(const KanonProblem *problem)
{
	KanonPattern last = KANON_NONE;

	for (int c = 0; c < problem->ncolumns; c++)
		if (c + 1 == problem->ncolumns || problem->columns[c + 1].level == 0)
			kanon_add(&last, c);
	return last;
}

int
kanon_pattern_suppressed(const KanonProblem *problem, KanonPattern pattern)
{
	return kanon_suppressed_whole(kanon_last_levels(problem), pattern);
}

int
kanon_count_qis(const KanonProblem *problem)
{
	return kanon_count(kanon_last_levels(problem));
}

int
kanon_first_column(const KanonProblem *problem, int qi)
{
	int c = 0;

	for (; c < problem->ncolumns; c++)
		if (problem->columns[c].level == 0 && qi-- == 0)
			break;
	return c;
}

uint32_t
kanon_mask_times(const KanonMask *mask, KanonPattern pattern)
{
	uint32_t times = mask->list == NULL;

	for (size_t j = 0; mask->list != NULL && j < mask->nlist; j++)
		times += kanon_same(mask->list[j], pattern);
	return times;
}

double
kanon_pattern_cost(const KanonProblem *problem, KanonPattern pattern)
{
	double cost = 0;

	KANON_EACH (c, pattern)
		cost += problem->columns[c].weight;
	return cost;
}

/* The fixed-point weights, and the level of the mask's max_cost. */
static void
set_weights(const KanonProblem *problem, int64_t *weight, int64_t *max_level)
{
	double unit = ldexp(1, KANON_FIXED_BITS);
	double largest = 0;
	double total = 0;
	double limit = problem->mask.max_cost;

	/* by the largest first: the sum of many large weights may be infinite */
	for (int c = 0; c < problem->ncolumns; c++)
		largest = fmax(largest, problem->columns[c].weight);
	for (int c = 0; c < problem->ncolumns && largest > 0; c++)
		total += problem->columns[c].weight / largest;
	for (int c = 0; c < problem->ncolumns; c++)
		weight[c] = largest > 0 ? llround(problem->columns[c].weight / largest / total * unit) : 0;

	if (!(limit >= 0))
		*max_level = -1;
	else if (largest == 0 || limit / largest >= total)
		*max_level = INT64_MAX;
	else
		*max_level = kanon_fixed_level(llround(limit / largest / total * unit));
}

/* Sum of fixed-point weights, where there is no index. */
static int64_t
level_of(const int64_t *weight, KanonPattern pattern)
{
	int64_t sum = 0;

	KANON_EACH (c, pattern)
		sum += weight[c];
	return kanon_fixed_level(sum);
}

/* Does the pattern fulfil this rule? */
static bool
rule_allows(const KanonRule *rule, KanonPattern pattern)
{
	KanonPattern hit = kanon_both(pattern, rule->columns);

	switch (rule->kind)
	{
		case KANON_TOGETHER:
			return kanon_is_none(hit) || kanon_same(hit, rule->columns);
		case KANON_AT_MOST_ONE:
			return kanon_count(hit) <= 1;
		case KANON_IMPLIES:
			return kanon_is_none(hit) || kanon_within(rule->implied, pattern);
	}
	return false;
}

/* Does it fulfil all that the mask says beside a list? */
static bool
rules_allow(const KanonMask *mask, KanonPattern last, const int64_t *weight, int64_t max_level,
			KanonPattern pattern)
{
	if (kanon_meet(pattern, mask->never) || !kanon_within(mask->always, pattern))
		return false;
	if (!kanon_levels_allow(last, pattern))
		return false;
	if (mask->max_suppressed >= 0 && kanon_suppressed_whole(last, pattern) > mask->max_suppressed)
		return false;
	if (level_of(weight, pattern) > max_level)
		return false;
	for (int r = 0; r < mask->nrules; r++)
		if (!rule_allows(&mask->rules[r], pattern))
			return false;
	return true;
}

/* By pattern; places are ascending before, and the sort is stable. */
static int
compare_listed(const void *a, const void *b, void *arg)
{
	KanonPattern left = ((const KanonListed *) a)->pattern;
	KanonPattern right = ((const KanonListed *) b)->pattern;

	(void) arg;
	return kanon_order(left, right);
}

/* The patterns of the list that the mask allows, by pattern, each at its first place. */
static KanonStatus
index_list(const KanonProblem *problem, KanonMaskIndex *index)
{
	const KanonMask *mask = &problem->mask;
	KanonListed *scratch;
	size_t kept = 0;

	index->listed = kanon_alloc(problem->env, mask->nlist, sizeof(KanonListed));
	if (index->listed == NULL)
		return KANON_NO_MEMORY;
	scratch = kanon_alloc(problem->env, mask->nlist, sizeof(KanonListed));
	if (scratch == NULL)
		return KANON_NO_MEMORY;
	for (size_t i = 0; i < mask->nlist; i++)
		if (!kanon_same(mask->list[i], index->all) && kanon_within(mask->list[i], index->all) &&
			kanon_levels_allow(index->last, mask->list[i]))
			index->listed[index->nlisted++] = (KanonListed){mask->list[i], i};
	kanon_sort(index->listed, scratch, index->nlisted, sizeof(KanonListed), compare_listed, NULL);
	kanon_free(problem->env, scratch);
	for (size_t i = 0; i < index->nlisted; i++)
		if (kept == 0 || !kanon_same(index->listed[kept - 1].pattern, index->listed[i].pattern))
			index->listed[kept++] = index->listed[i];
	index->nlisted = kept;
	return KANON_OK;
}

/* Applies the consequences of each decision, to a fixed point. */
static void
index_rules(const KanonProblem *problem, KanonMaskIndex *index)
{
	const KanonMask *mask = &problem->mask;
	int n = problem->ncolumns;
	bool changed = true;

	for (int c = 0; c < n; c++)
	{
		index->go_go[c] = kanon_only(c);
		if (problem->columns[c].level > 0)
			kanon_add(&index->go_go[c], c - 1); /* and on to level 0 by the closure */
		for (int r = 0; r < mask->nrules; r++)
		{
			const KanonRule *rule = &mask->rules[r];

			if (!kanon_has(rule->columns, c))
				continue;
			if (rule->kind == KANON_AT_MOST_ONE)
			{
				index->go_stay[c] = kanon_union(index->go_stay[c], rule->columns);
				kanon_remove(&index->go_stay[c], c);
			}
			else
				index->go_go[c] = kanon_union(
					index->go_go[c],
					kanon_both(rule->kind == KANON_TOGETHER ? rule->columns : rule->implied, index->all));
		}
	}
	while (changed)
	{
		changed = false;
		for (int c = 0; c < n; c++)
		{
			KanonPattern before = index->go_go[c];

			for (int d = 0; d < n; d++)
				if (kanon_has(before, d))
					index->go_go[c] = kanon_union(index->go_go[c], index->go_go[d]);
			changed |= !kanon_same(index->go_go[c], before);
		}
	}
	for (int c = 0; c < n; c++)
		for (int d = 0; d < n; d++)
			if (kanon_has(index->go_go[d], c))
				kanon_add(&index->stay_stay[c], d);
	for (int c = 0; c < n; c++)
	{
		KanonPattern stay = KANON_NONE;

		for (int d = 0; d < n; d++)
			if (kanon_has(index->go_go[c], d))
				stay = kanon_union(stay, index->go_stay[d]);
		for (int d = 0; d < n; d++)
			if (kanon_has(stay, d))
				stay = kanon_union(stay, index->stay_stay[d]);
		index->go_stay[c] = stay;
	}

	/* the decisions that every pattern shares */
	for (int c = 0; c < n; c++)
	{
		if (kanon_has(mask->always, c))
		{
			index->go = kanon_union(index->go, index->go_go[c]);
			index->stay = kanon_union(index->stay, index->go_stay[c]);
		}
		if (kanon_has(mask->never, c))
			index->stay = kanon_union(index->stay, index->stay_stay[c]);
	}
	for (int c = 0; c < n; c++)
		if (kanon_meet(index->go_go[c], index->go_stay[c]))
			index->stay = kanon_union(index->stay, index->stay_stay[c]); /* c can never go */
	index->none = kanon_meet(index->go, index->stay) ||
				  (mask->max_suppressed >= 0 &&
				   kanon_suppressed_whole(index->last, index->go) > mask->max_suppressed) ||
				  level_of(index->weight, index->go) > index->max_level;
}

KanonStatus
kanon_mask_open(const KanonProblem *problem, KanonMaskIndex **result)
{
	KanonMaskIndex *index = kanon_alloc0(problem->env, 1, sizeof(KanonMaskIndex));
	KanonStatus status = KANON_OK;

	*result = NULL;
	if (index == NULL)
		return KANON_NO_MEMORY;
	index->problem = problem;
	index->all = kanon_pattern_all(problem->ncolumns);
	index->last = kanon_last_levels(problem);
	set_weights(problem, index->weight, &index->max_level);
	for (int c = 0; c < problem->ncolumns; c++)
		index->log_distinct[c] = log2(fmax(problem->columns[c].distinct, 1));
	if (problem->mask.list != NULL)
		status = index_list(problem, index);
	else
		index_rules(problem, index);
	if (status == KANON_OK)
		*result = index;
	else
		kanon_mask_close(index);
	return status;
}

void
kanon_mask_close(KanonMaskIndex *index)
{
	if (index == NULL)
		return;
	kanon_free(index->problem->env, index->listed);
	kanon_free(index->problem->env, index);
}

/* Where a listed pattern stands; the list's length if it is not listed. */
static size_t
place_of(const KanonMaskIndex *index, KanonPattern pattern)
{
	size_t low = 0;
	size_t high = index->nlisted;

	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (kanon_order(index->listed[middle].pattern, pattern) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < index->nlisted && kanon_same(index->listed[low].pattern, pattern))
		return index->listed[low].place;
	return index->problem->mask.nlist;
}

bool
kanon_mask_contains(const KanonMaskIndex *index, KanonPattern pattern)
{
	if (!kanon_within(pattern, index->all))
		return false;
	if (kanon_same(pattern, index->all))
		return true;
	if (index->problem->mask.list != NULL)
		return place_of(index, pattern) < index->problem->mask.nlist;
	return rules_allow(&index->problem->mask, index->last, index->weight, index->max_level, pattern);
}

KanonPattern
kanon_mask_forced(const KanonMaskIndex *index, KanonPattern pattern)
{
	KanonPattern first = kanon_union(pattern, index->go), go = first;

	/* what one column forces is closed, and so is the union */
	KANON_EACH (c, first)
		go = kanon_union(go, index->go_go[c]);
	return go;
}

KanonPattern
kanon_mask_cover(const KanonMaskIndex *index, KanonPattern pattern)
{
	KanonPattern go = kanon_mask_forced(index, pattern);

	/* what else rules say, a pattern breaks with every one that it lies in */
	return kanon_mask_contains(index, go) ? go : index->all;
}

/* The product of the distinct counts of some columns, exactly: as many digits base 2^32. */
static int
multiply(const KanonMaskIndex *index, KanonPattern columns, uint32_t *digits)
{
	int ndigits = 1;

	digits[0] = 1;
	KANON_EACH (c, columns)
	{
		uint64_t factor = index->problem->columns[c].distinct;
		uint64_t carry = 0;

		if (factor < 2)
			continue;
		for (int d = 0; d < ndigits; d++)
		{
			carry += factor * digits[d];
			digits[d] = (uint32_t) carry;
			carry >>= 32;
		}
		if (carry != 0)
			digits[ndigits++] = (uint32_t) carry;
	}
	return ndigits;
}

/* Compares the products of the distinct counts of disjoint sets of columns. */
static int
compare_products(const KanonMaskIndex *index, KanonPattern a, KanonPattern b)
{
	double difference = 0;
	uint32_t left[KANON_MAX_COLUMNS + 1];
	uint32_t right[KANON_MAX_COLUMNS + 1];
	int nleft;
	int nright;

	KANON_EACH (c, a)
		difference += index->log_distinct[c];
	KANON_EACH (c, b)
		difference -= index->log_distinct[c];
	if (difference < -LOG_ERROR)
		return -1;
	if (difference > LOG_ERROR)
		return 1;

	/* 2^31 * (2^31 - 1) and the like: too near for logarithms */
	nleft = multiply(index, a, left);
	nright = multiply(index, b, right);
	if (nleft != nright)
		return nleft < nright ? -1 : 1;
	while (nleft-- > 0)
		if (left[nleft] != right[nleft])
			return left[nleft] < right[nleft] ? -1 : 1;
	return 0;
}

/* A pattern's random number. */
static uint64_t
drawn(const KanonMaskIndex *index, KanonPattern pattern)
{
	uint64_t number = index->problem->seed;

	for (int w = 0; w < KANON_PATTERN_WORDS; w++)
		number = kanon_mix(number ^ pattern.word[w]);
	return number;
}

int
kanon_mask_compare_equal(const KanonMaskIndex *index, KanonPattern a, KanonPattern b)
{
	KanonPattern a_alone = kanon_minus(a, b), b_alone = kanon_minus(b, a);
	int first_a = kanon_next(a_alone, 0), first_b = kanon_next(b_alone, 0);

	if (index->problem->mask.order == KANON_ORDER_GIVEN && index->problem->mask.list != NULL)
	{
		size_t place_a = place_of(index, a);
		size_t place_b = place_of(index, b);

		if (place_a != place_b)
			return place_a < place_b ? -1 : 1;
	}
	if (index->problem->mask.order == KANON_ORDER_DOMAIN)
	{
		int product = compare_products(index, a_alone, b_alone);

		if (product != 0)
			return -product;
	}
	if (index->problem->mask.order == KANON_ORDER_SMALL)
	{
		int product = compare_products(index, a_alone, b_alone);

		if (product != 0)
			return product;
	}
	if (index->problem->mask.order == KANON_ORDER_FINE)
	{
		int more = kanon_suppressed_whole(index->last, a) - kanon_suppressed_whole(index->last, b);

		if (more != 0)
			return more;
	}
	if (index->problem->mask.order == KANON_ORDER_DRAWN)
	{
		uint64_t left = drawn(index, a), right = drawn(index, b);

		if (left != right)
			return left < right ? -1 : 1;
	}
	/* the leftmost column in which they differ: who keeps it is first */
	return first_a < 0 || (first_b >= 0 && first_b < first_a) ? -1 : 1;
}

int
kanon_mask_compare(const KanonMaskIndex *index, KanonPattern a, KanonPattern b)
{
	int64_t left;
	int64_t right;

	if (kanon_same(a, b))
		return 0;
	if (kanon_same(a, index->all) || kanon_same(b, index->all))
		return kanon_same(a, index->all) ? 1 : -1;
	left = kanon_fixed_level(kanon_fixed_cost(index, a));
	right = kanon_fixed_level(kanon_fixed_cost(index, b));
	if (left != right)
		return left < right ? -1 : 1;
	return kanon_mask_compare_equal(index, a, b);
}
