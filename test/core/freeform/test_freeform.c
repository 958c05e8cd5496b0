/*
 * test_freeform.c: every method's graph is what it has to be, the optimum against
 * all graphs of tiny tables, the drawn assignment against chance, and the check of
 * two tables against matching by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exact.h"
#include "freeform/freeform_work.h"
#include "unclassed.h"
#include "util/pace.h"

static void
every_method_keeps_its_promise(void **state)
{
	uint64_t random = 2015;

	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		Host host;
		size_t rows = 4 + random_below(&random, 60);
		int64_t k = 2 + random_below(&random, (uint32_t) (rows + 2) / 2 - 1);
		KanonProblem *problem = random_table(&host, &random, rows, 1 + (int) random_below(&random, 5),
											 1 + random_below(&random, 9), k);

		problem->seed = (uint64_t) round;
		for (int m = 0; kanon_methods(KANON_FREEFORM)[m].name != NULL; m++)
			for (int symmetric = 0; symmetric < 2; symmetric++)
			{
				KanonFreeformOptions options = {.method = (KanonFreeformMethod) m, .symmetric = symmetric};
				KanonRelease release;
				KanonReport report;
				KanonFreeformFacts facts;
				KanonStatus status;

				if (!is_there(m) || (symmetric && !makes_mutual(m)))
					continue;
				if (round % 3 == 0 && rows >= 4 * (size_t) k)
					options.partition_size = (uint32_t) (2 * k);
				problem->freeform = &options;
				/* its size is not what this is about */
				if (m == KANON_FREEFORM_MIP && rows > 12)
					continue;
				status = kanon_solve_freeform(problem, &release, &report);
				if (status != KANON_OK)
					print_error("round %d, %s, symmetric %d, %zu rows, k %d: status %d %s\n", round,
								kanon_methods(KANON_FREEFORM)[m].name, symmetric, rows, (int) k, (int) status,
								report.detail);
				assert_int_equal(status, KANON_OK);
				/* kanon_release_finish has checked every match; here two tables alone tell */
				assert_int_equal(kanon_freeform_check(problem, &release, k, -1, &facts), KANON_OK);
				assert_true(facts.same_size);
				assert_true(facts.row_matches >= k);
				assert_true(facts.record_matches >= k);
				assert_true(facts.regular || m == KANON_FREEFORM_CONCEALMENT);
				assert_true(fabs(report.cost - cost_by_hand(problem, &release)) < 1e-4 * (double) rows);
				assert_true(report.lower_bound <= report.cost + 1e-6);
				kanon_release_free(problem, &release);
			}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* ---- the optimum ---- */

/* What a set of rows costs. */
static double
set_price(const KanonProblem *problem, const uint32_t *type, unsigned set)
{
	double sum = 0;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		const KanonColumn *column = &problem->columns[c];
		uint32_t low = UINT32_MAX;
		uint32_t high = 0;
		unsigned values = 0;

		for (unsigned i = 0; set >> i != 0; i++)
			if (set >> i & 1)
			{
				uint32_t code = column->code[type[i]];

				low = code < low ? code : low;
				high = code > high ? code : high;
				values |= 1u << code;
			}
		if (column->distinct < 2 || low == high)
			continue;
		if (column->number == NULL)
			sum += (double) (__builtin_popcount(values) - 1) / (column->distinct - 1);
		else if (isnan(column->number[high]))
			sum += 1;
		else
			sum += (column->number[high] - column->number[low]) /
				   (column->number[column->distinct - 1 - column->has_null] - column->number[0]);
	}
	return sum;
}

static void
optimum_against_all_graphs(void **state)
{
	uint64_t random = 14;

	(void) state;
	for (int round = 0; round < cases(100); round++)
	{
		Host host;
		unsigned n = 4 + random_below(&random, 3);
		unsigned k = 2 + random_below(&random, 2);
		KanonProblem *problem = random_table(&host, &random, n, 3, 5, k);
		double best = least_graph(problem, n, k, set_price);

		for (int m = 0; kanon_methods(KANON_FREEFORM)[m].name != NULL; m++)
		{
			KanonFreeformOptions options = {.method = (KanonFreeformMethod) m};
			KanonRelease release;
			KanonReport report;
			KanonStatus status;

			problem->freeform = &options;
			status = kanon_solve_freeform(problem, &release, &report);
#ifndef HAVE_GLPK
			if (m == KANON_FREEFORM_MIP)
			{
				assert_int_equal(status, KANON_UNAVAILABLE);
				continue;
			}
#endif
			assert_int_equal(status, KANON_OK);
			if (m == KANON_FREEFORM_MIP)
			{
				assert_true(report.proven);
				assert_true(fabs(report.cost - best) < 1e-5);
				/* rounded prices bound nothing */
				assert_true(report.lower_bound <= best + 1e-13 * best && report.lower_bound > best - 1e-5);
				assert_true(fabs(report.cost - cost_by_hand(problem, &release)) <= 1e-13 * (1 + best));
			}
			else if (m != KANON_FREEFORM_CONCEALMENT)
				assert_true(report.cost >= best - 1e-5);
			kanon_release_free(problem, &release);
		}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

#ifdef HAVE_GLPK
/* Beside a weight of which nothing is lost, others cost too little for GLPK: then nothing is proven. */
static void
small_weights(void **state)
{
	uint64_t random = 77;
	int proven = 0;

	(void) state;
	for (int round = 0; round < 80; round++)
	{
		Host host;
		unsigned n = 4 + random_below(&random, 3);
		unsigned k = 2 + random_below(&random, 2);
		uint32_t code[18];
		KanonProblem *problem;
		KanonFreeformOptions options = {.method = KANON_FREEFORM_MIP};
		KanonRelease release;
		KanonReport report;
		double best;

		host_init(&host);
		for (unsigned i = 0; i < n; i++)
		{
			code[3 * i] = 0;
			code[3 * i + 1] = random_below(&random, 5);
			code[3 * i + 2] = random_below(&random, 5);
		}
		problem = problem_from_codes(&host, code, n, 3, (int64_t) k);
		((KanonColumn *) problem->columns)[0].weight = pow(10, random_below(&random, 14));
		best = least_graph(problem, n, k, set_price);
		problem->freeform = &options;
		assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
		assert_true(report.lower_bound <= best * (1 + 1e-4));
		assert_true(!report.proven || report.cost <= best * (1 + 1e-3));
		proven += report.proven;
		kanon_release_free(problem, &release);
		problem_free(problem);
	}
	assert_true(proven > 5 && proven < 70);
}
#endif

/* The draw of who gets which record, and branch and bound, tell how far they are, and never less than before. */
static void
shares(void **state)
{
	int methods = 2;

	(void) state;
	if (KANON_POLL_WORK > 64)
		skip();
#ifdef HAVE_GLPK
	methods = 3;
#endif
	for (int m = 0; m < methods; m++)
	{
		static const int method[] = {KANON_FREEFORM_GREEDY, KANON_FREEFORM_CONCEALMENT, KANON_FREEFORM_MIP};
		uint64_t random = 3;
		Host host;
		KanonProblem *problem = random_table(&host, &random, m == 2 ? 80 : 60, 4, 6, 3);
		KanonFreeformOptions options = {.method = method[m]};
		KanonRelease release;
		KanonReport report;

		problem->freeform = &options;
		host.watched = m == 2 ? "mip" : "draw";
		assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
		print_message("%d shares, %g at last\n", host.shares, host.share);
		assert_true(host.shares >= (m == 2 ? 2 : 3) && !host.backwards);
		kanon_release_free(problem, &release);
		problem_free(problem);
	}
}

/* The least cost of giving every record one more row than its own, each another one. */
static double
least_round(const KanonProblem *problem, const uint32_t *type, unsigned n, unsigned record, unsigned taken)
{
	double best = INFINITY;

	if (record == n)
		return 0;
	for (unsigned i = 0; i < n; i++)
		if (i != record && !(taken >> i & 1))
			best = fmin(best, set_price(problem, type, 1u << record | 1u << i) +
								  least_round(problem, type, n, record + 1, taken | 1u << i));
	return best;
}

/* As the paper has them: with k = 2 one round, in which nobody looks back. */
static void
plain_methods(void **state)
{
	uint64_t random = 51;
	int better = 0;

	(void) state;
	for (int round = 0; round < cases(200); round++)
	{
		Host host;
		/* few rows for all rounds that there may be, or many to look back over */
		bool few = round % 2 == 0;
		unsigned n = few ? 3 + random_below(&random, 5) : 20 + random_below(&random, 20);
		unsigned k = few ? 2 : 3 + random_below(&random, 2);
		KanonProblem *problem = random_table(&host, &random, n, 1 + (int) random_below(&random, 3),
											 2 + random_below(&random, 6), k);
		uint32_t type[40];
		unsigned row = 0;
		double cost[KANON_FREEFORM_CONCEALMENT] = {0};

		for (uint32_t i = 0; i < problem->ntypes; i++)
			for (int64_t r = 0; r < problem->rows[i]; r++)
				type[row++] = i;
		for (int m = KANON_FREEFORM_SORT_GREEDY; m <= KANON_FREEFORM_PLAIN_HUNGARIAN; m++)
		{
			KanonFreeformOptions options = {.method = (KanonFreeformMethod) m};
			KanonRelease release;
			KanonReport report;

			problem->freeform = &options;
			assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
			cost[m] = report.cost;
			kanon_release_free(problem, &release);
		}
		assert_true(cost[KANON_FREEFORM_SORT_GREEDY] <= cost[KANON_FREEFORM_PLAIN_SORT_GREEDY] + 1e-6);
		assert_true(cost[KANON_FREEFORM_HUNGARIAN] <= cost[KANON_FREEFORM_PLAIN_HUNGARIAN] + 1e-6);
		if (few)
		{
			double least = least_round(problem, type, n, 0, 0);

			assert_true(fabs(cost[KANON_FREEFORM_PLAIN_HUNGARIAN] - least) < 1e-4 * n);
			assert_true(cost[KANON_FREEFORM_PLAIN_SORT_GREEDY] > least - 1e-4 * n);
		}
		better += cost[KANON_FREEFORM_SORT_GREEDY] < cost[KANON_FREEFORM_PLAIN_SORT_GREEDY] - 1e-6;
		better += (cost[KANON_FREEFORM_HUNGARIAN] < cost[KANON_FREEFORM_PLAIN_HUNGARIAN] - 1e-6) << 10;
		problem_free(problem);
	}
	/* the others do look back */
	assert_true(better % 1024 > 0 && better >= 1024);
}

/* Stopped at once, mip has hungarian's release and a bound; too large a table is refused. */
static void
mip_stopped_and_refused(void **state)
{
	uint64_t random = 3;
	Host host;
	KanonProblem *problem = random_table(&host, &random, 40, 4, 6, 3);
	KanonFreeformOptions options = {.method = KANON_FREEFORM_MIP};
	KanonRelease release;
	KanonReport report;
	KanonStatus status;

	(void) state;
	problem->freeform = &options;
	problem->time_limit = 1e-9;
	status = kanon_solve_freeform(problem, &release, &report);
#ifdef HAVE_GLPK
	assert_int_equal(status, KANON_OK);
	assert_false(report.proven);
	assert_true(report.lower_bound >= 0 && report.lower_bound <= report.cost);
	kanon_release_free(problem, &release);
	problem->time_limit = INFINITY;
	problem->k = 15;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_TOO_LARGE);
	assert_non_null(strstr(report.detail, "sets of 15 rows"));
#else
	assert_int_equal(status, KANON_UNAVAILABLE);
#endif
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* ---- the draw ---- */

/*
 * Of a ring every record has k rows, each of them with a chance of 1/k.  4000
 * draws: 6 standard deviations to each side.
 */
static void
each_match_is_as_likely(void **state)
{
	enum
	{
		N = 11,
		K = 4
	};
	const int draws = cases(4000);
	int32_t value[N];
	KanonFreeformSpace space = {.method = KANON_FREEFORM_SORT_GREEDY,
								.ncolumns = 1,
								.columns = {{.number = true, .full = KANON_FREEFORM_UNITS}},
								.deadline = INFINITY};
	KanonFreeformPart part = {.n = N, .k = K, .value = value};
	static int count[N][N];
	static bool match[N][N];
	Host host;
	double chi = 0;

	(void) state;
	host_init(&host);
	for (int i = 0; i < N; i++)
		value[i] = i * i * 1000;
	for (int draw = 0; draw < draws; draw++)
	{
		KanonFreeformGraph graph;
		char detail[160];

		space.seed = (uint64_t) draw;
		assert_int_equal(kanon_freeform_solve(&host.env, &space, NULL, &part, &graph, detail, sizeof(detail)),
						 KANON_OK);
		for (uint32_t j = 0; j < N; j++)
		{
			count[j][graph.given[j]]++;
			for (uint32_t m = graph.start[j]; m < graph.start[j + 1]; m++)
				match[j][graph.match[m]] = true;
		}
		kanon_freeform_graph_free(&host.env, &graph);
	}
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
		{
			double expected = (double) draws / K;

			if (!match[j][i])
			{
				assert_int_equal(count[j][i], 0);
				continue;
			}
			chi += (count[j][i] - expected) * (count[j][i] - expected) / expected;
		}
	/* 44 cells in 11 rows and columns that add up: 33 - 10 or so degrees of freedom */
	assert_true(chi < 80);
	assert_true(chi > 4);
	assert_int_equal(host.blocks, 0);
}

static bool
no_random(void *to, size_t size)
{
	memset(to, 0, size);
	return false;
}

/* The same for a seed, and not without random numbers. */
static void
seeds(void **state)
{
	uint64_t random = 8;
	Host host;
	KanonProblem *problem = random_table(&host, &random, 90, 4, 7, 5);
	KanonFreeformOptions options = {.method = KANON_FREEFORM_GREEDY, .partition_size = 20};
	KanonRelease one;
	KanonRelease two;
	KanonReport report;

	(void) state;
	problem->freeform = &options;
	problem->seed = 5;
	assert_int_equal(kanon_solve_freeform(problem, &one, &report), KANON_OK);
	assert_int_equal(kanon_solve_freeform(problem, &two, &report), KANON_OK);
	assert_int_equal(one.nflows, two.nflows);
	assert_memory_equal(one.flows, two.flows, one.nflows * sizeof(*one.flows));
	kanon_release_free(problem, &two);
	problem->seed = 6;
	assert_int_equal(kanon_solve_freeform(problem, &two, &report), KANON_OK);
	assert_true(one.nflows != two.nflows ||
				memcmp(one.flows, two.flows, one.nflows * sizeof(*one.flows)) != 0);
	kanon_release_free(problem, &one);
	kanon_release_free(problem, &two);
	options.strong = no_random;
	assert_int_equal(kanon_solve_freeform(problem, &one, &report), KANON_UNAVAILABLE);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* ---- what is refused ---- */

static void
limits(void **state)
{
	uint64_t random = 1;
	Host host;
	KanonProblem *problem = random_table(&host, &random, 9, 2, 4, 5);
	KanonFreeformOptions options = {.method = KANON_FREEFORM_GREEDY};
	KanonRelease release;
	KanonReport report;

	(void) state;
	problem->freeform = &options;
	/* 5 < 12 / 2; 6 is not */
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
	kanon_release_free(problem, &release);
	problem->k = 6;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_TOO_LARGE);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* ---- two tables ---- */

/* A flow by trying every way to hand out rows. */
static bool
hand_out(const Shown *s, unsigned n, unsigned k, unsigned record, unsigned *need)
{
	if (record == n)
		return true;
	for (unsigned set = 0; set < 1u << n; set++)
	{
		bool fits = (unsigned) __builtin_popcount(set) == k;

		for (unsigned i = 0; i < n && fits; i++)
			fits = (set >> i & 1) == 0 || (need[i] > 0 && s->match[record][i]);
		if (!fits)
			continue;
		for (unsigned i = 0; i < n; i++)
			need[i] -= set >> i & 1;
		fits = hand_out(s, n, k, record + 1, need);
		for (unsigned i = 0; i < n; i++)
			need[i] += set >> i & 1;
		if (fits)
			return true;
	}
	return false;
}

static void
check_against_hand(void **state)
{
	uint64_t random = 99;
	int regular = 0;

	(void) state;
	for (int round = 0; round < cases(400); round++)
	{
		Host host;
		unsigned n = 3 + random_below(&random, 4);
		unsigned k = 1 + random_below(&random, 3);
		KanonProblem *problem = random_table(&host, &random, n, 2, 4, k);
		static Shown s;
		unsigned need[8];
		int64_t row_matches = INT64_MAX;
		int64_t record_matches = INT64_MAX;
		KanonFreeformFacts facts;

		random_records(problem, &random, n, 4, &s);
		for (unsigned x = 0; x < n; x++)
		{
			int64_t rows = 0;
			int64_t records = 0;

			for (unsigned y = 0; y < n; y++)
			{
				rows += s.match[x][y];
				records += s.match[y][x];
			}
			record_matches = rows < record_matches ? rows : record_matches;
			row_matches = records < row_matches ? records : row_matches;
			need[x] = k;
		}
		assert_int_equal(kanon_freeform_check(problem, &s.release, k, -1, &facts), KANON_OK);
		assert_int_equal(facts.row_matches, row_matches);
		assert_int_equal(facts.record_matches, record_matches);
		assert_int_equal(facts.regular, hand_out(&s, n, k, 0, need));
		regular += facts.regular;
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(regular > cases(100) / 20);
}

/* One more row for a record, others making room: one unit along one path. */
static bool
take_row(const Shown *s, unsigned n, unsigned record, bool (*taken)[MOST_RECORDS], unsigned *left,
		 bool *tried)
{
	for (unsigned i = 0; i < n; i++)
	{
		if (!s->match[record][i] || taken[record][i] || tried[i])
			continue;
		tried[i] = true;
		if (left[i] > 0)
		{
			left[i]--;
			taken[record][i] = true;
			return true;
		}
		for (unsigned other = 0; other < n; other++)
			if (taken[other][i] && take_row(s, n, other, taken, left, tried))
			{
				taken[other][i] = false;
				taken[record][i] = true;
				return true;
			}
	}
	return false;
}

/* Larger tables, at the most that their matches may allow: unit by unit, row by row. */
static void
regular_against_plain_flow(void **state)
{
	uint64_t random = 1970;
	int seen[2] = {0};

	(void) state;
	for (int round = 0; round < cases(1500); round++)
	{
		Host host;
		unsigned n = 8 + random_below(&random, MOST_RECORDS - 8);
		KanonProblem *problem = random_table(&host, &random, n, 2, 5, 2);
		static Shown s;
		bool taken[MOST_RECORDS][MOST_RECORDS] = {{false}};
		unsigned left[MOST_RECORDS];
		bool expected = true;
		int64_t k;
		KanonFreeformFacts facts;

		random_records(problem, &random, n, 5, &s);
		assert_int_equal(kanon_freeform_check(problem, &s.release, 0, -1, &facts), KANON_OK);
		k = facts.row_matches < facts.record_matches ? facts.row_matches : facts.record_matches;
		if (k == 0)
		{
			problem_free(problem);
			continue;
		}
		for (unsigned i = 0; i < n; i++)
			left[i] = (unsigned) k;
		for (unsigned j = 0; j < n && expected; j++)
			for (int64_t unit = 0; unit < k && expected; unit++)
			{
				bool tried[MOST_RECORDS] = {false};

				expected = take_row(&s, n, j, taken, left, tried);
			}
		/* equal records are one class, as a target is read */
		for (uint32_t j = 0, last = 0; j < n; j++)
			if (j > 0 && memcmp(s.match[j], s.match[last], sizeof(s.match[j])) == 0)
			{
				s.classes[last].rows++;
				s.classes[j].rows = 0;
			}
			else
				last = j;
		assert_int_equal(kanon_freeform_check(problem, &s.release, k, -1, &facts), KANON_OK);
		assert_int_equal(facts.regular, expected);
		seen[expected]++;
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(seen[0] > 0 && seen[1] > 0);
}

/* As many quasi-identifiers as there may be. */
static void
all_columns(void **state)
{
	uint64_t random = 64;
	Host host;
	KanonProblem *problem = random_table(&host, &random, 12, KANON_MAX_QIS, 3, 3);

	(void) state;
	for (int c = 0; c < KANON_MAX_QIS; c++)
		((KanonColumn *) problem->columns)[c].weight = 0.3;
	problem->seed = UINT64_MAX;
	for (int m = 0; kanon_methods(KANON_FREEFORM)[m].name != NULL; m++)
	{
		KanonFreeformOptions options = {.method = (KanonFreeformMethod) m};
		KanonRelease release;
		KanonReport report;
		KanonFreeformFacts facts;

		if (!is_there(m))
			continue;
		problem->freeform = &options;
		assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
		assert_true(report.lower_bound <= report.cost + 1e-6);
		assert_true(fabs(report.cost - cost_by_hand(problem, &release)) < 1e-3);
		assert_int_equal(kanon_freeform_check(problem, &release, problem->k, -1, &facts), KANON_OK);
		kanon_release_free(problem, &release);
	}
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* ---- memory and cancel ---- */

/* Variant: the method, and whether matches are to be mutual. */
static KanonProblem *
make_table(Host *host, int variant)
{
	static KanonFreeformOptions options;
	uint64_t random = 11;
	KanonFreeformMethod method = (KanonFreeformMethod) (variant / 2);
	KanonProblem *problem = random_table(host, &random, method == KANON_FREEFORM_MIP ? 14 : 40, 4, 4, 4);

	options = (KanonFreeformOptions){.method = method, .symmetric = variant % 2 == 1};
	problem->freeform = &options;
	return problem;
}

static KanonStatus
solve_and_check(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonStatus status = kanon_solve_freeform(problem, release, report);
	KanonFreeformFacts facts;

	if (status == KANON_OK)
	{
		status = kanon_freeform_check(problem, release, 4, -1, &facts);
		if (status != KANON_OK)
			kanon_release_free(problem, release);
	}
	return status;
}

static void
memory_and_cancel(void **state)
{
	(void) state;
	for (int m = 0; kanon_methods(KANON_FREEFORM)[m].name != NULL; m++)
	{
		for (int mutual = 0; is_there(m) && mutual < 1 + makes_mutual(m); mutual++)
		{
			exact_refuse_each(make_table, 2 * m + mutual, solve_and_check, false);
			exact_cancel_each(make_table, 2 * m + mutual, solve_and_check);
		}
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_method_keeps_its_promise),
		cmocka_unit_test(optimum_against_all_graphs),
#ifdef HAVE_GLPK
		cmocka_unit_test(small_weights),
#endif
		cmocka_unit_test(plain_methods),
		cmocka_unit_test(all_columns),
		cmocka_unit_test(mip_stopped_and_refused),
		cmocka_unit_test(each_match_is_as_likely),
		cmocka_unit_test(seeds),
		cmocka_unit_test(limits),
		cmocka_unit_test(check_against_hand),
		cmocka_unit_test(regular_against_plain_flow),
		cmocka_unit_test(memory_and_cancel),
		cmocka_unit_test(shares),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("freeform", tests, NULL, NULL);
}
