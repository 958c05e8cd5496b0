/*
 * test_freeform_rules.c: what the values of a row's matches have to keep: counted by
 * hand, for every draw that there may be, and how likely each draw is.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diverse.h"
#include "freeform/graph.h"
#include "privacy/rules.h"
#include "unclassed.h"
#include "util/pace.h"

#define MOST_ROWS 70

/* Methods that take rules. */
static const KanonFreeformMethod methods[] = {KANON_FREEFORM_RING,
											  KANON_FREEFORM_GREEDY,
											  KANON_FREEFORM_SORT_GREEDY,
											  KANON_FREEFORM_HUNGARIAN,
											  KANON_FREEFORM_PLAIN_SORT_GREEDY,
											  KANON_FREEFORM_PLAIN_HUNGARIAN,
											  KANON_FREEFORM_MIN_COST_FLOW};

#define NMETHODS ((uint32_t) (sizeof(methods) / sizeof(methods[0])))

/* A table of rows with one or two columns that rules look at. */
typedef struct Ruled
{
	Host host;
	KanonProblem *problem;
	KanonColumn extra[2];
	uint32_t code[2][MOST_ROWS];
	bool listed[8];
	KanonPrivacyRule rules[2];
	int nrules;
	KanonFreeformOptions options;
} Ruled;

/* Values are skewed, so that windows do not keep rules by themselves. */
static uint32_t
skewed(uint64_t *random, uint32_t domain)
{
	uint32_t a = random_below(random, domain);
	uint32_t b = random_below(random, domain);

	return a < b ? a : b;
}

/* The last columns of random codes become those that rules look at. */
static void
make(Ruled *t, uint64_t *random, size_t rows, int nqis, uint32_t domain, int64_t k)
{
	int ncolumns = nqis + 2;
	uint32_t *code = malloc(rows * (size_t) ncolumns * sizeof(uint32_t));
	uint32_t values = 2 + random_below(random, 5);

	for (size_t i = 0; i < rows; i++)
		for (int c = 0; c < ncolumns; c++)
			code[i * (size_t) ncolumns + (size_t) c] =
				c < nqis ? random_below(random, domain) : skewed(random, values);
	memset(t, 0, sizeof(*t));
	host_init(&t->host);
	t->problem = problem_from_codes(&t->host, code, rows, ncolumns, k);
	free(code);
	t->problem->ncolumns = nqis;
	for (int e = 0; e < 2; e++)
	{
		t->extra[e] = t->problem->columns[nqis + e];
		diverse_dense(&t->extra[e], t->problem->ntypes);
	}
	t->problem->nextra = 2;
	t->problem->extra = t->extra;
	for (uint32_t v = 0; v < 8; v++)
		t->listed[v] = v < 1 || random_below(random, 2) == 0;
	t->nrules = 1 + (int) random_below(random, 2);
	for (int r = 0; r < t->nrules; r++)
	{
		KanonPrivacyRule *rule = &t->rules[r];

		rule->column = (int) random_below(random, 2);
		if (random_below(random, 2) == 0)
		{
			rule->kind = KANON_DISTINCT_L;
			rule->l = 1 + random_below(random, 3);
		}
		else
		{
			rule->kind = KANON_ALPHA;
			rule->share = 0.3 + random_below(random, 7) / 10.0;
			rule->listed = random_below(random, 2) == 0 ? t->listed : NULL;
		}
	}
	assert_int_equal(kanon_privacy_open(t->problem, t->rules, t->nrules, &t->problem->privacy), KANON_OK);
	t->options = (KanonFreeformOptions){.method = methods[random_below(random, NMETHODS)]};
	t->problem->freeform = &t->options;
	t->problem->seed = random_next(random);
}

static void
drop(Ruled *t)
{
	kanon_privacy_close(t->problem->privacy);
	t->problem->privacy = NULL;
	t->problem->ncolumns += 2;
	assert_int_equal(t->host.blocks, 0);
	problem_free(t->problem);
}

/* Do these types, some of them several times, keep the rules?  By the definitions. */
static bool
keep(const Ruled *t, const uint32_t *type, uint32_t n)
{
	for (int r = 0; r < t->nrules; r++)
	{
		const KanonPrivacyRule *rule = &t->rules[r];
		uint32_t count[8] = {0};
		uint32_t distinct = 0;

		for (uint32_t x = 0; x < n; x++)
			distinct += count[t->extra[rule->column].code[type[x]]]++ == 0;
		if (rule->kind == KANON_DISTINCT_L && distinct < rule->l)
			return false;
		for (uint32_t v = 0; v < 8 && rule->kind == KANON_ALPHA; v++)
			if ((rule->listed == NULL || rule->listed[v]) && count[v] > rule->share * n * (1 + 1e-12))
				return false;
	}
	return true;
}

/* All rows of a problem together. */
static bool
all_keep(const Ruled *t)
{
	uint32_t type[MOST_ROWS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->problem->ntypes; i++)
		for (int64_t x = 0; x < t->problem->rows[i]; x++)
			type[n++] = i;
	return keep(t, type, n);
}

/* Row i of a part sees the rows that are given to its records; the graph is regular, component by component. */
static void
check_part(const Ruled *t, const KanonFreeformPlan *plan, uint32_t p, const KanonFreeformGraph *graph)
{
	uint32_t k = plan->part_k[p];
	const uint32_t *of = plan->type + plan->first[p];
	uint32_t used[MOST_ROWS] = {0};

	for (uint32_t j = 0; j < graph->n; j++)
		used[graph->given[j]]++;
	for (uint32_t i = 0; i < graph->n; i++)
	{
		uint32_t seen[MOST_ROWS];
		uint32_t n = 0;

		assert_int_equal(used[i], 1);
		for (uint32_t j = 0; j < graph->n; j++)
			for (uint32_t m = graph->start[j]; m < graph->start[j + 1]; m++)
				if (graph->match[m] == i)
				{
					seen[n++] = of[graph->given[j]];
					/* as many rows to the record as records to the row */
					assert_int_equal(graph->start[j + 1] - graph->start[j],
									 graph->start[i + 1] - graph->start[i]);
				}
		assert_true(n >= k);
		assert_int_equal(n, graph->start[i + 1] - graph->start[i]);
		assert_true(keep(t, seen, n));
	}
}

static void
matches_keep_the_rules(void **state)
{
	uint64_t random = 4711;
	int wide = 0, narrow = 0, refused = 0, parts = 0;

	(void) state;
	for (int round = 0; round < cases(3000); round++)
	{
		Ruled t;
		size_t rows = 4 + random_below(&random, MOST_ROWS - 4);
		int64_t k = 2 + random_below(&random, (uint32_t) (rows + 2) / 2 - 2);
		KanonFreeformPlan plan;
		KanonReport report;
		KanonStatus status;

		make(&t, &random, rows, 1 + (int) random_below(&random, 3), 1 + random_below(&random, 9),
			 k > 6 ? 2 + (int64_t) random_below(&random, 5) : k);
		t.options.symmetric = random_below(&random, 2) == 0;
		t.options.partition_size = random_below(&random, 2) == 0 ? 0 : 8 + random_below(&random, 20);
		status = kanon_freeform_begin(t.problem, &plan, &report);
		assert_int_equal(status, all_keep(&t) ? KANON_OK : KANON_INFEASIBLE);
		refused += status != KANON_OK;
		for (uint32_t p = 0; p < plan.nparts && status == KANON_OK; p++)
		{
			KanonFreeformPart part = {.number = p, .k = plan.part_k[p]};
			KanonFreeformGraph graph;
			uint32_t first;
			int32_t *value;
			char detail[160];

			parts += p > 0;
			kanon_freeform_bounds(&plan, p, &first, &part.n);
			value = malloc(((size_t) plan.space.ncolumns + (size_t) plan.space.nrules) * part.n *
						   sizeof(int32_t));
			kanon_freeform_values(&plan, p, value);
			part.value = value;
			assert_int_equal(
				kanon_freeform_solve(&t.host.env, &plan.space, NULL, &part, &graph, detail, sizeof(detail)),
				KANON_OK);
			check_part(&t, &plan, p, &graph);
			for (uint32_t j = 0; j < graph.n; j++)
			{
				wide += graph.start[j + 1] - graph.start[j] > part.k;
				narrow += graph.start[j + 1] - graph.start[j] == part.k && part.n > part.k;
			}
			assert_int_equal(kanon_freeform_put(&plan, p, &graph, &report), KANON_OK);
			kanon_freeform_graph_free(&t.host.env, &graph);
			free(value);
		}
		kanon_freeform_free(&plan);
		drop(&t);
	}
	/* windows of k and larger ones, refusals, parts */
	assert_true(wide > 0 && narrow > 0 && refused > 0 && parts > 0);
}

#define RING 5
#define SETS (1 << RING)

/* A ring of five rows of different places and these values, in windows of three. */
static void
make_ring(Ruled *t, uint64_t *random, uint32_t *value)
{
	uint32_t code[RING * 2];

	for (uint32_t i = 0; i < RING; i++)
		value[i] = i / 2;
	for (uint32_t x = RING; x > 1; x--)
	{
		uint32_t y = random_below(random, x);
		uint32_t other = value[y];

		value[y] = value[x - 1];
		value[x - 1] = other;
	}
	for (uint32_t i = 0; i < RING; i++)
	{
		code[2 * i] = i;
		code[2 * i + 1] = value[i];
	}
	memset(t, 0, sizeof(*t));
	host_init(&t->host);
	t->problem = problem_from_codes(&t->host, code, RING, 2, 3);
	t->problem->ncolumns = 1;
	t->extra[0] = t->problem->columns[1];
	diverse_dense(&t->extra[0], t->problem->ntypes);
	t->problem->nextra = 1;
	t->problem->extra = t->extra;
	t->rules[0] = (KanonPrivacyRule){.kind = KANON_DISTINCT_L, .l = 2};
	assert_int_equal(kanon_privacy_open(t->problem, t->rules, 1, &t->problem->privacy), KANON_OK);
	t->options = (KanonFreeformOptions){.method = KANON_FREEFORM_RING};
	t->problem->freeform = &t->options;
	t->problem->seed = random_next(random);
}

/*
 * Whoever sees the records, and knows where every row is and how rings are made, asks which
 * of its three records is row 0's: given all that is published, each as likely as the others.
 */
static void
draws_are_equally_likely(void **state)
{
	enum
	{
		KEYS = 1 << 20
	};
	uint32_t *all = calloc(KEYS, sizeof(*all));
	uint32_t *first = calloc(KEYS, sizeof(*first));
	uint64_t random = 99;
	double sum = 0;
	double n = 0;

	(void) state;
	for (int draw = 0; draw < cases(100000); draw++)
	{
		Ruled t;
		uint32_t value[RING];
		uint32_t shows[SETS] = {0}; /* by what it shows, the value of a record and 1 */
		KanonRelease release;
		KanonReport report;
		uint32_t own = 0;
		uint32_t least = SETS;
		uint32_t key = 0;

		make_ring(&t, &random, value);
		assert_int_equal(kanon_solve_freeform(t.problem, &release, &report), KANON_OK);
		assert_int_equal(release.ngraph, RING * 3);
		assert_int_equal(release.nclasses, RING);
		for (size_t f = 0; f < release.nflows; f++)
		{
			uint32_t i = release.flows[f].class_;
			uint32_t set = 0;

			for (size_t e = release.graph_start[i]; e < release.graph_start[i + 1]; e++)
				set |= 1u << release.graph[e];
			shows[set] = 1 + value[release.flows[f].type];
			if (release.flows[f].type == 0)
				own = set;
			if (set % 2 == 1 && set < least)
				least = set;
		}
		/* ten sets of three rows there may be */
		for (uint32_t set = 0; set < SETS; set++)
			if (__builtin_popcount(set) == 3)
				key = key * 4 + shows[set];
		all[key]++;
		first[key] += own == least;
		kanon_release_free(t.problem, &release);
		kanon_privacy_close(t.problem->privacy);
		t.problem->ncolumns = 2;
		problem_free(t.problem);
	}
	for (uint32_t key = 0; key < KEYS; key++)
		if (all[key] >= 15)
		{
			double off = first[key] - all[key] / 3.0;

			sum += off * off / (all[key] * 2 / 9.0);
			n++;
		}
	free(all);
	free(first);
	assert_true(n > 100);
	if (getenv("SHOW"))
		printf("%g %g %g\n", sum, n, (sum - n) / sqrt(2 * n));
	assert_true((sum - n) / sqrt(2 * n) < 5);
}

/* What is put is counted again: a graph whose windows break a rule is refused. */
static void
broken_values_are_found(void **state)
{
	uint64_t random = 12;
	int found = 0;

	(void) state;
	for (int round = 0; round < cases(400); round++)
	{
		Ruled t;
		KanonFreeformPlan plan;
		KanonReport report;
		uint32_t rows = 6 + random_below(&random, 10);
		uint32_t start[MOST_ROWS + 1];
		uint32_t match[MOST_ROWS * 2];
		uint32_t given[MOST_ROWS];
		KanonFreeformGraph graph = {.n = rows, .start = start, .match = match, .given = given};
		bool kept = true;

		make(&t, &random, rows, 2, 5, 2);
		if (kanon_freeform_begin(t.problem, &plan, &report) == KANON_OK)
		{
			/* record j shows rows j and j + 1 and is row j's */
			for (uint32_t j = 0; j < rows; j++)
			{
				start[j] = 2 * j;
				match[2 * j] = j;
				match[2 * j + 1] = (j + 1) % rows;
				given[j] = j;
			}
			start[rows] = 2 * rows;
			for (uint32_t i = 0; i < rows && kept; i++)
				kept = keep(&t, (uint32_t[]){plan.type[i], plan.type[(i + rows - 1) % rows]}, 2);
			assert_int_equal(kanon_freeform_put(&plan, 0, &graph, &report), kept ? KANON_OK : KANON_BROKEN);
			found += !kept;
		}
		kanon_freeform_free(&plan);
		drop(&t);
	}
	assert_true(found > 0);
}

/* Rows that are alike but for what rules look at: which part they are in is drawn. */
static void
equal_rows_are_mixed(void **state)
{
	uint32_t code[20 * 2];
	uint64_t random = 8;
	int zeros = 0;

	(void) state;
	for (uint32_t i = 0; i < 20; i++)
	{
		code[2 * i] = 0;
		code[2 * i + 1] = i / 10;
	}
	for (int draw = 0; draw < 100; draw++)
	{
		Ruled t;
		KanonFreeformPlan plan;
		KanonReport report;

		memset(&t, 0, sizeof(t));
		host_init(&t.host);
		t.problem = problem_from_codes(&t.host, code, 20, 2, 3);
		t.problem->ncolumns = 1;
		t.extra[0] = t.problem->columns[1];
		diverse_dense(&t.extra[0], t.problem->ntypes);
		t.problem->nextra = 1;
		t.problem->extra = t.extra;
		t.rules[0] = (KanonPrivacyRule){.kind = KANON_DISTINCT_L, .l = 1};
		assert_int_equal(kanon_privacy_open(t.problem, t.rules, 1, &t.problem->privacy), KANON_OK);
		t.options = (KanonFreeformOptions){.method = KANON_FREEFORM_RING, .partition_size = 10};
		t.problem->freeform = &t.options;
		t.problem->seed = random_next(&random);
		assert_int_equal(kanon_freeform_begin(t.problem, &plan, &report), KANON_OK);
		assert_int_equal(plan.nparts, 2);
		for (uint32_t i = 0; i < plan.first[1]; i++)
			zeros += plan.type[i] == 0;
		kanon_freeform_free(&plan);
		kanon_privacy_close(t.problem->privacy);
		t.problem->ncolumns = 2;
		problem_free(t.problem);
	}
	assert_true(zeros >= 400 && zeros <= 600);
}

/* Thousands of small parts none of which keeps a rule: they are not asked about one after the other. */
static void
many_parts(void **state)
{
	enum
	{
		N = 20000
	};
	uint32_t *code = malloc(2 * N * sizeof(*code));

	(void) state;
	/* the row of the other value is the last of all, the first, or in the middle */
	for (uint32_t other = 0; other <= 2; other++)
	{
		Ruled t;
		KanonFreeformPlan plan;
		KanonReport report;

		for (uint32_t i = 0; i < N; i++)
		{
			code[2 * i] = i;
			code[2 * i + 1] = i == other * (N - 1) / 2;
		}
		memset(&t, 0, sizeof(t));
		host_init(&t.host);
		t.problem = problem_from_codes(&t.host, code, N, 2, 3);
		t.problem->ncolumns = 1;
		t.extra[0] = t.problem->columns[1];
		t.problem->nextra = 1;
		t.problem->extra = t.extra;
		t.rules[0] = (KanonPrivacyRule){.kind = KANON_DISTINCT_L, .l = 2};
		assert_int_equal(kanon_privacy_open(t.problem, t.rules, 1, &t.problem->privacy), KANON_OK);
		t.options = (KanonFreeformOptions){.method = KANON_FREEFORM_RING, .partition_size = 10};
		t.problem->freeform = &t.options;
		assert_int_equal(kanon_freeform_begin(t.problem, &plan, &report), KANON_OK);
		assert_int_equal(plan.nparts, 1);
		assert_int_equal(plan.first[1], N);
		if (KANON_POLL_WORK > 64)
			assert_true(t.host.polls < 100);
		kanon_freeform_free(&plan);
		kanon_privacy_close(t.problem->privacy);
		t.problem->ncolumns = 2;
		assert_int_equal(t.host.blocks, 0);
		problem_free(t.problem);
	}
	free(code);
}

/* Values of the records that a row matches, one by one. */
static void
values_are_counted(void **state)
{
	uint64_t random = 77;

	(void) state;
	for (int round = 0; round < cases(1500); round++)
	{
		Host host;
		unsigned n = 2 + random_below(&random, 30);
		uint32_t nvalues = 1 + random_below(&random, 6);
		KanonProblem *problem = random_table(&host, &random, n, 2, 4, 1);
		static Shown s;
		uint32_t value[MOST_RECORDS];
		int64_t least = INT64_MAX;
		double most = 0;
		int64_t distinct;
		double share;

		random_records(problem, &random, n, 4, &s);
		for (unsigned j = 0; j < n; j++)
		{
			value[j] = random_below(&random, nvalues);
			s.classes[j].rows = 1 + random_below(&random, 3);
		}
		for (unsigned i = 0; i < n; i++)
		{
			int64_t count[6] = {0};
			int64_t all = 0;
			int64_t kinds = 0;

			for (unsigned j = 0; j < n; j++)
				if (s.match[j][i])
				{
					kinds += count[value[j]] == 0;
					count[value[j]] += s.classes[j].rows;
					all += s.classes[j].rows;
				}
			least = kinds < least ? kinds : least;
			for (uint32_t v = 0; v < nvalues; v++)
				most = all > 0 && (double) count[v] / (double) all > most ? (double) count[v] / (double) all
																		  : most;
		}
		assert_int_equal(kanon_freeform_check_values(problem, &s.release, value, nvalues, &distinct, &share),
						 KANON_OK);
		assert_int_equal(distinct, least);
		assert_true(fabs(share - most) < 1e-12);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* Other methods, other rules and own ks are refused. */
static void
what_is_not_taken(void **state)
{
	uint64_t random = 7;

	(void) state;
	for (int m = 0; m <= KANON_FREEFORM_K_K; m++)
	{
		Ruled t;
		int64_t own_k[MOST_ROWS] = {0};
		KanonRelease release;
		KanonReport report;

		make(&t, &random, 20, 2, 5, 3);
		t.options.method = (KanonFreeformMethod) m;
		/* those that take rules do not with own ks */
		if (m < KANON_FREEFORM_CONCEALMENT && m != KANON_FREEFORM_MIP)
			t.options.own_k = own_k;
		assert_int_equal(kanon_solve_freeform(t.problem, &release, &report), KANON_UNSUPPORTED);
		drop(&t);
	}
	for (int kind = 0; kind < KANON_PRIVACY_KINDS; kind++)
	{
		Ruled t;
		KanonRelease release;
		KanonReport report;

		if (kind == KANON_DISTINCT_L || kind == KANON_ALPHA)
			continue;
		make(&t, &random, 20, 2, 5, 3);
		kanon_privacy_close(t.problem->privacy);
		t.rules[0] = (KanonPrivacyRule){.kind = (KanonPrivacyKind) kind, .l = 1, .c = 9, .share = 1};
		assert_int_equal(kanon_privacy_open(t.problem, t.rules, 1, &t.problem->privacy), KANON_OK);
		assert_int_equal(kanon_solve_freeform(t.problem, &release, &report), KANON_UNSUPPORTED);
		drop(&t);
	}
}

static void
bears_every_failure(void **state)
{
	uint64_t random = 31;
	Ruled t;
	KanonStatus const how[] = {KANON_NO_MEMORY, KANON_CANCELLED};

	(void) state;
	do
	{
		make(&t, &random, 40, 2, 6, 3);
		t.options.partition_size = 12;
		if (all_keep(&t))
			break;
		drop(&t);
	} while (true);
	for (int h = 0; h < 2; h++)
	{
		Failure failure = {.how = how[h]};

		while (fails_again(&failure))
		{
			KanonRelease release;
			KanonReport report;

			t.host.refuse_at = t.host.cancel_at = 0;
			kanon_privacy_close(t.problem->privacy);
			assert_int_equal(kanon_privacy_open(t.problem, t.rules, t.nrules, &t.problem->privacy), KANON_OK);
			fail_at(&t.host, &failure);
			failure.status = kanon_solve_freeform(t.problem, &release, &report);
			if (failure.status == KANON_OK)
				kanon_release_free(t.problem, &release);
			else
				assert_int_equal(failure.status, how[h]);
		}
	}
	drop(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_keep_the_rules),  cmocka_unit_test(draws_are_equally_likely),
		cmocka_unit_test(broken_values_are_found), cmocka_unit_test(what_is_not_taken),
		cmocka_unit_test(bears_every_failure),     cmocka_unit_test(equal_rows_are_mixed),
		cmocka_unit_test(values_are_counted),      cmocka_unit_test(many_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
