/*
 * test_mask.c: which patterns a mask allows, and in which order.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "pattern/program/program_model.h"

/* A problem without rows: columns with these distinct counts. */
typedef struct Bare
{
	Host host;
	KanonColumn columns[KANON_MAX_COLUMNS];
	KanonProblem problem;
} Bare;

static KanonProblem *
bare(Bare *self, int ncolumns)
{
	memset(self, 0, sizeof(*self));
	host_init(&self->host);
	for (int c = 0; c < ncolumns; c++)
		self->columns[c] = (KanonColumn){.distinct = 2, .weight = 1};
	self->problem.env = &self->host.env;
	self->problem.ncolumns = ncolumns;
	self->problem.columns = self->columns;
	self->problem.k = 2;
	self->problem.mask.max_suppressed = -1;
	self->problem.mask.max_cost = INFINITY;
	self->problem.mask.order = KANON_ORDER_GIVEN;
	return &self->problem;
}

/* '-' keeps, '*' suppresses, from the left. */
static KanonPattern
pattern(const char *text)
{
	KanonPattern result = KANON_NONE;

	for (int c = 0; text[c] != '\0'; c++)
		if (text[c] == '*')
			kanon_add(&result, c);
	return result;
}

static void
expect(const KanonProblem *problem, size_t n, const char *const *expected)
{
	KanonPattern *patterns;
	size_t npatterns;

	assert_int_equal(kanon_mask_enumerate(problem, SIZE_MAX, &patterns, &npatterns), KANON_OK);
	assert_int_equal(npatterns, n);
	for (size_t i = 0; i < n; i++)
		assert_true(kanon_same(patterns[i], pattern(expected[i])));
	assert_int_equal(kanon_mask_count(problem, INT64_MAX), n);
	kanon_free(problem->env, patterns);
}
#define EXPECT(problem, ...)                                                  \
	do                                                                        \
	{                                                                         \
		static const char *const expected_[] = {__VA_ARGS__};                 \
		expect(problem, sizeof(expected_) / sizeof(expected_[0]), expected_); \
	} while (0)

static void
test_orders(void **state)
{
	Bare self;
	KanonProblem *problem = bare(&self, 3);

	(void) state;
	EXPECT(problem, "---", "--*", "-*-", "*--", "-**", "*-*", "**-", "***");
	problem->mask.order = KANON_ORDER_DOMAIN;
	EXPECT(problem, "---", "--*", "-*-", "*--", "-**", "*-*", "**-", "***");
	self.columns[0].distinct = 9;
	self.columns[1].distinct = 5;
	EXPECT(problem, "---", "*--", "-*-", "--*", "**-", "*-*", "-**", "***");
	self.columns[2].distinct = 7;
	EXPECT(problem, "---", "*--", "--*", "-*-", "*-*", "**-", "-**", "***");
	self.columns[1].weight = 0.5;
	EXPECT(problem, "---", "-*-", "*--", "--*", "**-", "-**", "*-*", "***");
	/* of no cost: the all-suppressed pattern is last all the same */
	self.columns[1].weight = 0;
	self.columns[2].weight = 0;
	EXPECT(problem, "-**", "--*", "-*-", "---", "*-*", "**-", "*--", "***");
}

static void
test_given_order(void **state)
{
	Bare self;
	KanonProblem *problem = bare(&self, 3);
	KanonPattern list[] = {pattern("***"), pattern("**-"), pattern("-*-"), pattern("*--"), pattern("-*-"),
						   pattern("-**"), pattern("---"), pattern("**-"), pattern("***")};

	(void) state;
	problem->mask.list = list;
	problem->mask.nlist = 9;
	problem->mask.order = KANON_ORDER_GIVEN;
	EXPECT(problem, "---", "-*-", "*--", "**-", "-**", "***");
	self.columns[0].distinct = 3;
	problem->mask.order = KANON_ORDER_DOMAIN;
	EXPECT(problem, "---", "*--", "-*-", "**-", "-**", "***");
	/* a list of nothing, and a list that says nothing else */
	problem->mask.nlist = 0;
	EXPECT(problem, "***");
	problem->mask.nlist = 1;
	EXPECT(problem, "***");
}

/* Sums of decimals that are equal on paper are equal; no other ones are. */
static void
test_equal_costs(void **state)
{
	Bare self;
	KanonProblem *problem = bare(&self, 3);

	(void) state;
	self.columns[0].weight = 0.1;
	self.columns[1].weight = 0.2;
	self.columns[2].weight = 0.3;
	EXPECT(problem, "---", "*--", "-*-", "--*", "**-", "*-*", "-**", "***");
	problem->mask.order = KANON_ORDER_DOMAIN;
	self.columns[0].distinct = 100;
	EXPECT(problem, "---", "*--", "-*-", "**-", "--*", "*-*", "-**", "***");
	self.columns[2].weight = 0.3000001;
	self.columns[2].distinct = 1000;
	EXPECT(problem, "---", "*--", "-*-", "**-", "--*", "*-*", "-**", "***");
	self.columns[2].weight = 0.2999999;
	EXPECT(problem, "---", "*--", "-*-", "--*", "**-", "*-*", "-**", "***");

	/* the limit is met by a sum that is equal on paper */
	self.columns[2].weight = 0.3;
	self.columns[2].distinct = 2;
	problem->mask.max_cost = 0.3;
	EXPECT(problem, "---", "*--", "-*-", "**-", "--*", "***");
	assert_true(fixture_allows(problem, pattern("**-")));
	problem->mask.max_cost = -1;
	EXPECT(problem, "***");
	problem->mask.max_cost = 0;
	EXPECT(problem, "---", "***");
	/* and huge weights are no problem */
	for (int c = 0; c < 3; c++)
		self.columns[c].weight = 1e308;
	problem->mask.max_cost = 1e308;
	EXPECT(problem, "---", "*--", "--*", "-*-", "***");
	self.columns[0].weight = 5e-324;
	problem->mask.max_cost = INFINITY;
	EXPECT(problem, "*--", "---", "*-*", "**-", "--*", "-*-", "-**", "***");
}

/* Products of distinct counts that logarithms cannot tell apart. */
static void
test_near_products(void **state)
{
	Bare self;
	KanonProblem *problem = bare(&self, 64);
	KanonMaskIndex *index;
	const KanonPattern low = kanon_span(0, 32);
	const KanonPattern high = kanon_span(32, 64);

	(void) state;
	problem->mask.order = KANON_ORDER_DOMAIN;
	/* n * n against (n - 1) * (n + 1), beside factors on both sides */
	for (int c = 0; c < 64; c++)
		self.columns[c].distinct = UINT32_C(2147483647) - (uint32_t) (c % 32);
	self.columns[10].distinct = 2147483001;
	self.columns[11].distinct = 2147483001;
	self.columns[42].distinct = 2147483000;
	self.columns[43].distinct = 2147483002;
	assert_int_equal(kanon_mask_open(problem, &index), KANON_OK);
	assert_true(kanon_mask_compare(index, low, high) < 0);
	assert_true(kanon_mask_compare(index, high, low) > 0);
	assert_int_equal(kanon_mask_compare(index, high, high), 0);
	kanon_mask_close(index);
	/* equal products of other factors: then from the left */
	self.columns[10].distinct = 6 * 35;
	self.columns[11].distinct = 35 * 35;
	self.columns[42].distinct = 6 * 35 * 7;
	self.columns[43].distinct = 35 * 5;
	assert_int_equal(kanon_mask_open(problem, &index), KANON_OK);
	assert_true(kanon_mask_compare(index, low, high) > 0);
	assert_true(kanon_mask_compare(index, high, low) < 0);
	kanon_mask_close(index);
	assert_int_equal(self.host.blocks, 0);
}

/* The order is total: transitive and antisymmetric, all-suppressed last. */
static void
test_order_is_total(void **state)
{
	(void) state;
	for (int i = 0; i < 300; i++)
	{
		uint64_t random = 100 + (uint64_t) i;
		Host host;
		KanonMaskIndex *index;
		KanonPattern *patterns;
		size_t n;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, 20, 6);

		assert_int_equal(kanon_mask_open(problem, &index), KANON_OK);
		assert_int_equal(kanon_mask_enumerate(problem, SIZE_MAX, &patterns, &n), KANON_OK);
		assert_true(kanon_same(patterns[n - 1], kanon_pattern_all(problem->ncolumns)));
		for (size_t a = 0; a < n; a++)
			for (size_t b = 0; b < n; b++)
			{
				int order = kanon_mask_compare(index, patterns[a], patterns[b]);

				assert_true(a < b ? order < 0 : a > b ? order > 0 : order == 0);
				if (a < b && b + 1 < n)
					assert_true(kanon_pattern_cost(problem, patterns[a]) <=
								kanon_pattern_cost(problem, patterns[b]) * (1 + 1e-8) + 1e-2);
			}
		kanon_free(&host.env, patterns);
		kanon_mask_close(index);
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
	}
}

/* Quasi-identifiers of which a pattern suppresses every level. */
static int
suppressed_whole(const KanonProblem *problem, KanonPattern p)
{
	int count = 0;

	for (int c = 0; c < problem->ncolumns;)
	{
		bool whole = true;

		do
			whole &= kanon_has(p, c);
		while (++c < problem->ncolumns && problem->columns[c].level > 0);
		count += whole;
	}
	return count;
}

/* Rules mean what they say, and no pattern is missed. */
static void
test_rules_by_brute_force(void **state)
{
	(void) state;
	for (int i = 0; i < 1500; i++)
	{
		uint64_t random = 1000 + (uint64_t) i;
		Host host;
		KanonMaskIndex *index;
		KanonPattern *patterns;
		size_t n;
		size_t count = 0;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, 5, 8);
		KanonPattern all = kanon_pattern_all(problem->ncolumns);
		uint64_t most = all.word[0];
		bool *listed = calloc(most + 1, 1);

		assert_int_equal(kanon_mask_open(problem, &index), KANON_OK);
		assert_int_equal(kanon_mask_enumerate(problem, SIZE_MAX, &patterns, &n), KANON_OK);
		for (size_t p = 0; p < n; p++)
		{
			assert_false(listed[patterns[p].word[0]]);
			listed[patterns[p].word[0]] = true;
		}
		for (uint64_t bits = 0; bits <= most; bits++)
		{
			KanonPattern p = KANON_BITS(bits);
			bool allowed = true;

			for (int r = 0; r < problem->mask.nrules; r++)
			{
				const KanonRule *rule = &problem->mask.rules[r];
				int hit = kanon_count(kanon_both(p, rule->columns));

				if (rule->kind == KANON_TOGETHER)
					allowed &= hit == 0 || hit == kanon_count(rule->columns);
				else if (rule->kind == KANON_AT_MOST_ONE)
					allowed &= hit < 2;
				else
					allowed &= hit == 0 || kanon_within(rule->implied, p);
			}
			allowed &= !kanon_meet(p, problem->mask.never);
			allowed &= kanon_within(problem->mask.always, p);
			if (problem->mask.max_suppressed >= 0)
				allowed &= suppressed_whole(problem, p) <= problem->mask.max_suppressed;
			/* a random limit is never that near to a sum it differs from */
			allowed &= kanon_pattern_cost(problem, p) <= problem->mask.max_cost * (1 + 1e-9) + 1e-3 ||
					   kanon_pattern_cost(problem, p) <= problem->mask.max_cost;
			if (problem->mask.list != NULL)
			{
				allowed = false;
				for (size_t j = 0; j < problem->mask.nlist; j++)
					allowed |= kanon_same(problem->mask.list[j], p);
			}
			for (int c = 1; c < problem->ncolumns; c++)
				allowed &= problem->columns[c].level == 0 || !kanon_has(p, c) || kanon_has(p, c - 1);
			allowed |= kanon_same(p, all);
			assert_int_equal(kanon_mask_contains(index, p), listed[bits]);
			if (fabs(kanon_pattern_cost(problem, p) - problem->mask.max_cost) > 1e-2)
				assert_int_equal(listed[bits], allowed);
			if (listed[bits])
				assert_int_equal(kanon_pattern_suppressed(problem, p), suppressed_whole(problem, p));
			count += listed[bits];
		}
		assert_int_equal(n, count);
		assert_int_equal(kanon_mask_count(problem, (int64_t) n), n);
		assert_int_equal(kanon_mask_count(problem, (int64_t) n - 1), -1);
		if (problem->ncolumns < 64)
			assert_false(kanon_mask_contains(index, kanon_only(problem->ncolumns)));
		kanon_free(&host.env, patterns);
		assert_int_equal(kanon_mask_enumerate(problem, n, &patterns, &n), KANON_OK);
		kanon_free(&host.env, patterns);
		assert_int_equal(kanon_mask_enumerate(problem, n - 1, &patterns, &n), KANON_TOO_LARGE);
		assert_null(patterns);
		kanon_mask_close(index);
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
		free(listed);
	}
}

/* Sixty-four columns are never written out in all combinations. */
static void
test_sixty_four_columns(void **state)
{
	Bare self;
	KanonProblem *problem = bare(&self, 64);
	KanonRule rules[64];
	KanonPattern *patterns;
	size_t n;

	(void) state;
	assert_int_equal(kanon_mask_count(problem, INT64_MAX), -1);
	assert_int_equal(kanon_mask_enumerate(problem, 1000000, &patterns, &n), KANON_TOO_LARGE);
	problem->mask.max_suppressed = 20;
	assert_true(kanon_mask_count(problem, INT64_MAX) == INT64_C(34033913325232549) + 1);
	problem->mask.max_suppressed = 2;
	assert_int_equal(kanon_mask_count(problem, 10000), 1 + 64 + 2016 + 1);
	assert_int_equal(kanon_mask_enumerate(problem, 10000, &patterns, &n), KANON_OK);
	assert_int_equal(n, 1 + 64 + 2016 + 1);
	kanon_free(problem->env, patterns);

	/* a chain: each column takes the next one with it */
	problem->mask.max_suppressed = -1;
	problem->mask.rules = rules;
	problem->mask.nrules = 63;
	for (int c = 0; c < 63; c++)
		rules[c] = (KanonRule){KANON_IMPLIES, kanon_only(c), kanon_only(c + 1)};
	assert_int_equal(kanon_mask_count(problem, 1000), 65);
	assert_int_equal(kanon_mask_enumerate(problem, 65, &patterns, &n), KANON_OK);
	assert_int_equal(n, 65);
	kanon_free(problem->env, patterns);

	/* all together */
	problem->mask.nrules = 1;
	rules[0] = (KanonRule){KANON_TOGETHER, kanon_pattern_all(64), KANON_NONE};
	assert_int_equal(kanon_mask_count(problem, 1000), 2);

	/* never and always the same: nothing but the all-suppressed pattern */
	problem->mask.nrules = 0;
	problem->mask.never = KANON_BITS(1);
	problem->mask.always = KANON_BITS(3);
	assert_int_equal(kanon_mask_count(problem, 1000), 1);
	assert_int_equal(self.host.blocks, 0);
}

/* The paper's user of Adult-2. */
static void
test_paper_user(void **state)
{
	static const KanonRule user[] = {{KANON_TOGETHER, KANON_BITS(1 << 1 | 1 << 4), KANON_NONE},
									 {KANON_AT_MOST_ONE, KANON_BITS(1 << 0 | 1 << 5 | 1 << 6), KANON_NONE}};
	Bare self;
	KanonProblem *problem = bare(&self, 9);

	(void) state;
	problem->mask.never = KANON_BITS(1 << 2 | 1 << 8);
	problem->mask.max_suppressed = 2;
	problem->mask.rules = user;
	problem->mask.nrules = 2;
	EXPECT(problem, "---------", "-------*-", "------*--", "-----*---", "---*-----", "*--------", "------**-",
		   "-----*-*-", "---*---*-", "---*--*--", "---*-*---", "-*--*----", "*------*-", "*--*-----",
		   "*********");
}

/* Levels go from below; a limit counts whole quasi-identifiers. */
static void
test_levels(void **state)
{
	Bare self;
	KanonProblem *problem = bare(&self, 3);
	KanonPattern list[] = {pattern("-*-"), pattern("*--"), pattern("--*"), pattern("-**")};
	KanonRule rule = {KANON_IMPLIES, KANON_BITS(4), KANON_BITS(1)};

	(void) state;
	self.columns[1].level = 1;
	EXPECT(problem, "---", "--*", "*--", "*-*", "**-", "***");
	assert_int_equal(kanon_count_qis(problem), 2);
	assert_int_equal(kanon_first_column(problem, 0), 0);
	assert_int_equal(kanon_first_column(problem, 1), 2);
	assert_int_equal(kanon_first_column(problem, 2), 3);
	assert_int_equal(kanon_pattern_suppressed(problem, pattern("*-*")), 1);
	assert_int_equal(kanon_pattern_suppressed(problem, pattern("***")), 2);
	problem->mask.max_suppressed = 1;
	EXPECT(problem, "---", "--*", "*--", "*-*", "**-", "***");
	problem->mask.max_suppressed = 0;
	EXPECT(problem, "---", "*--", "***");
	problem->mask.max_suppressed = -1;
	problem->mask.never = KANON_BITS(1);
	EXPECT(problem, "---", "--*", "***");
	problem->mask.never = KANON_BITS(2);
	EXPECT(problem, "---", "--*", "*--", "*-*", "***");
	problem->mask.never = KANON_NONE;
	problem->mask.always = KANON_BITS(2);
	EXPECT(problem, "**-", "***");
	problem->mask.always = KANON_NONE;
	problem->mask.rules = &rule;
	problem->mask.nrules = 1;
	EXPECT(problem, "---", "*--", "*-*", "**-", "***");
	problem->mask.nrules = 0;
	/* listed, but out of order */
	problem->mask.list = list;
	problem->mask.nlist = 4;
	problem->mask.order = KANON_ORDER_GIVEN;
	EXPECT(problem, "*--", "--*", "***");
	assert_false(fixture_allows(problem, pattern("-*-")));

	/* sixteen quasi-identifiers of four levels are counted, not walked */
	problem = bare(&self, 64);
	for (int c = 0; c < 64; c++)
		self.columns[c].level = c % 4;
	assert_true(kanon_mask_count(problem, INT64_MAX) == INT64_C(152587890625));
	problem->mask.max_suppressed = 0;
	assert_true(kanon_mask_count(problem, INT64_MAX) == (INT64_C(1) << 32) + 1);
	problem->mask.max_suppressed = 1;
	assert_true(kanon_mask_count(problem, INT64_MAX) == (INT64_C(1) << 32) + 16 * (INT64_C(1) << 30) + 1);
	assert_int_equal(kanon_mask_count(problem, 1000000), -1);
	assert_int_equal(self.host.blocks, 0);
}

/* The types that agree in all columns that a pattern keeps with those of a set. */
static uint32_t
extent(const KanonProblem *problem, uint32_t set, KanonPattern pattern)
{
	uint32_t extent = 0;

	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		KanonPattern differ = KANON_NONE;

		for (int c = 0; c < problem->ncolumns; c++)
			if (problem->columns[c].code[i] != problem->columns[c].code[__builtin_ctz(set)])
				kanon_add(&differ, c);
		if (kanon_within(differ, pattern))
			extent |= 1u << i;
	}
	return extent;
}

/* The columns that are suppressed in every allowed pattern that covers those in which the types of a set differ. */
static KanonPattern
least_cover(const KanonProblem *problem, uint32_t set, const KanonPattern *patterns, size_t npatterns)
{
	KanonPattern differ = KANON_NONE;
	KanonPattern least = kanon_pattern_all(problem->ncolumns);

	for (uint32_t i = 0; i < problem->ntypes; i++)
		for (int c = 0; c < problem->ncolumns && (set >> i & 1) != 0; c++)
			if (problem->columns[c].code[i] != problem->columns[c].code[__builtin_ctz(set)])
				kanon_add(&differ, c);
	for (size_t p = 0; p < npatterns; p++)
		if (kanon_within(differ, patterns[p]))
			least = kanon_both(least, patterns[p]);
	return least;
}

/*
 * Of more patterns than are looked at one by one (plain: 65,536), the instances found by rules
 * alone are those of all sets of row types: each once, under the least pattern for it.
 */
static void
test_instances_by_rules(void **state)
{
	int found = 0;
	int many = 0;

	(void) state;
	for (int i = 0; i < cases(KANON_INSTANCE_PATTERNS > 1000 ? 300 : 6000); i++)
	{
		uint64_t random = 24000000 + (uint64_t) i;
		Host host;
		KanonProblem *problem;
		KanonPattern *patterns;
		size_t npatterns;
		KanonInstances instances;
		KanonPace pace;
		uint32_t seen[256];
		uint32_t n = 0;

		host_init(&host);
		problem = problem_random(&host, &random, 8, KANON_INSTANCE_PATTERNS > 1000 ? 19 : 8);
		if (problem->mask.list == NULL && problem->ntypes > 0 && problem->ntypes <= 8 &&
			kanon_mask_count(problem, (int64_t) KANON_INSTANCE_PATTERNS) < 0)
		{
			many += problem->mask.nrules > 0 || !kanon_is_none(problem->mask.never);
			assert_int_equal(kanon_mask_enumerate(problem, SIZE_MAX, &patterns, &npatterns), KANON_OK);
			kanon_pace_limit(&pace, problem, "test");
			assert_int_equal(kanon_instances_build(problem,
												   i % 2 == 0 ? KANON_INSTANCES_CLOSED : KANON_INSTANCES_ALL,
												   INFINITY, 1000000, &pace, &instances),
							 KANON_OK);
			assert_true(instances.closed);
			for (uint32_t set = 1; set < 1u << problem->ntypes; set++)
			{
				KanonPattern pattern = least_cover(problem, set, patterns, npatterns);
				uint32_t whole = extent(problem, set, pattern);
				int64_t rows = 0;
				bool old = kanon_same(pattern, kanon_pattern_all(problem->ncolumns));

				for (uint32_t t = 0; t < problem->ntypes; t++)
					if (whole >> t & 1)
						rows += problem->rows[t];
				for (uint32_t s = 0; s < n && !old; s++)
					old = seen[s] == whole;
				if (old || rows < problem->k)
					continue;
				seen[n++] = whole;
				for (uint32_t f = 0; f <= instances.n; f++)
				{
					uint32_t has = 0;

					assert_true(f < instances.n); /* it is there */
					for (size_t p = instances.start[f]; p < instances.start[f + 1]; p++)
						has |= 1u << instances.type[p];
					if (has == whole)
					{
						assert_true(kanon_same(instances.pattern[f], pattern));
						break;
					}
				}
			}
			assert_int_equal(instances.n, n);
			found += n > 0;
			kanon_instances_free(&host.env, &instances);
			kanon_free(&host.env, patterns);
		}
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
	}
	assert_true(found > 0 && many > 0);
}

static void
test_memory_and_cancel(void **state)
{
	(void) state;
	for (int i = 0; i < 40; i++)
	{
		uint64_t random = 5000 + (uint64_t) i;
		Host host;
		KanonPattern *patterns;
		size_t n;
		KanonStatus status = KANON_NO_MEMORY;

		host_init(&host);

		KanonProblem *problem = problem_random(&host, &random, 5, 9);

		for (uint64_t at = 1; status == KANON_NO_MEMORY; at = next_failure(at))
		{
			host.allocations = 0;
			host.refuse_at = at;
			status = kanon_mask_enumerate(problem, SIZE_MAX, &patterns, &n);
			if (status == KANON_OK)
				kanon_free(&host.env, patterns);
			assert_int_equal(host.blocks, 0);
		}
		assert_int_equal(status, KANON_OK);
		host.refuse_at = 0;
		problem_random_free(problem);
	}

	/* 2^22 patterns take a while */
	Bare self;
	KanonProblem *problem = bare(&self, 22);
	KanonPattern *patterns;
	size_t n;

	self.host.cancel_at = 2;
	assert_int_equal(kanon_mask_enumerate(problem, SIZE_MAX, &patterns, &n), KANON_CANCELLED);
	assert_null(patterns);
	assert_int_equal(self.host.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_given_order),
		cmocka_unit_test(test_equal_costs),
		cmocka_unit_test(test_near_products),
		cmocka_unit_test(test_order_is_total),
		cmocka_unit_test(test_rules_by_brute_force),
		cmocka_unit_test(test_sixty_four_columns),
		cmocka_unit_test(test_paper_user),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_memory_and_cancel),
		cmocka_unit_test(test_instances_by_rules),
	};

	return cmocka_run_group_tests_name("mask", tests, NULL, NULL);
}
