/*
 * test_freeform_work.c: what the freeform methods count on while a graph grows is what
 * records really cost; and the optimum is one that no heuristic has found.
 */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "freeform/freeform_work.h"
#include "exact.h"
#include "unclassed.h"
#include "privacy/rules.h"
#include "model/model.h"
#include "util/sort.h"

#define MOST_ROWS 40

/* A part with its work, and what each record was made to show. */
typedef struct Part
{
	Host host;
	KanonProblem *problem;
	KanonFreeformOptions options;
	KanonFreeformPlan plan;
	KanonFreeformPart part;
	FreeformWork work;
	char detail[160];
	bool shows[MOST_ROWS][MOST_ROWS]; /* record, row */
} Part;

static void
part_open(Part *p, uint64_t *random, uint32_t degree)
{
	KanonReport report = {0};
	uint32_t first;
	int32_t *value;

	memset(p, 0, sizeof(*p));
	p->problem = (random_below(random, 2) == 0 ? random_table : random_trees)(
		&p->host, random, 4 + random_below(random, MOST_ROWS - 4), 1 + (int) random_below(random, 4),
		2 + random_below(random, 8), 2);
	p->options.method = KANON_FREEFORM_GREEDY;
	p->problem->freeform = &p->options;
	assert_int_equal(kanon_freeform_begin(p->problem, &p->plan, &report), KANON_OK);
	kanon_freeform_bounds(&p->plan, 0, &first, &p->part.n);
	value = malloc(p->part.n * kanon_freeform_width(&p->plan.space) * sizeof(int32_t));
	kanon_freeform_values(&p->plan, 0, value);
	p->part.value = value;
	p->work = (FreeformWork){.env = &p->host.env,
							 .scratch = {&p->host.env},
							 .space = &p->plan.space,
							 .part = &p->part,
							 .pace = {.env = &p->host.env, .phase = "match", .rows_left = -1},
							 .detail = p->detail,
							 .detail_size = sizeof(p->detail)};
	assert_int_equal(freeform_work_open(&p->work, degree, p->part.n), KANON_OK);
	for (uint32_t j = 0; j < p->part.n; j++)
		p->shows[j][j] = true;
}

static void
part_close(Part *p)
{
	kanon_scratch_free(&p->work.scratch);
	kanon_freeform_free(&p->plan);
	free((void *) p->part.value);
	assert_int_equal(p->host.blocks, 0);
	problem_free(p->problem);
}

/* What the lowest node costs that all these rows have; value: of the column, then of its levels. */
static int32_t
node_cost(const Part *p, const KanonFreeformColumn *column, const int32_t *value, const bool *shows,
		  uint32_t more)
{
	uint32_t n = p->part.n;

	for (int level = 0; level <= column->levels; level++)
	{
		const int32_t *node = value + (level == 0 ? 0 : (size_t) (2 * level - 1) * n);
		uint32_t first = n;
		bool same = true;

		for (uint32_t i = 0; i < n; i++)
			if (shows[i] || i == more)
			{
				first = first == n ? i : first;
				same = same && node[i] == node[first];
			}
		if (same)
			return level == 0 ? 0 : node[n + first];
	}
	return column->full;
}

/* What a record costs that shows these rows, and one more (or none: n). */
static int64_t
record_cost(const Part *p, const bool *shows, uint32_t more)
{
	uint32_t n = p->part.n;
	int64_t cost = 0;

	for (int c = 0; c < p->plan.space.ncolumns; c++)
	{
		const KanonFreeformColumn *column = &p->plan.space.columns[c];
		const int32_t *value = p->part.value + kanon_freeform_words(&p->plan.space, c) * n;
		int32_t low = INT32_MAX;
		int32_t high = INT32_MIN;
		int64_t different = 0;

		if (column->levels > 0)
		{
			cost += node_cost(p, column, value, shows, more);
			continue;
		}
		for (uint32_t i = 0; i < n; i++)
		{
			bool before = false;

			if (!shows[i] && i != more)
				continue;
			low = value[i] < low ? value[i] : low;
			high = value[i] > high ? value[i] : high;
			for (uint32_t o = 0; o < i; o++)
				before = before || ((shows[o] || o == more) && value[o] == value[i]);
			different += !before;
		}
		if (!column->number)
			cost += (different - 1) * column->step;
		else
			cost += high - low < column->full ? high - low : column->full;
	}
	return cost;
}

/* Each way to ask what a record would cost more says what it would. */
static void
weights_are_what_records_cost(void **state)
{
	uint64_t random = 99;
	int capped = 0;

	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		Part p;
		uint32_t n;
		int32_t *growth;
		uint32_t matched[MOST_ROWS] = {0};

		part_open(&p, &random, 3);
		n = p.part.n;
		for (int c = 0; c < p.plan.space.ncolumns; c++)
			capped += p.plan.space.columns[c].capped;
		for (uint32_t step = 0; step < 2 * n; step++)
		{
			uint32_t i = random_below(&random, n);
			uint32_t j = random_below(&random, n);

			if (p.shows[j][i])
				continue;
			/* of each row and each record two at most as matches, the others are shown alone */
			if (p.work.ntarget[i] < 3 && p.work.nmatch[j] < 3 && random_below(&random, 2) == 0)
				freeform_add(&p.work, i, j);
			else
				freeform_show(&p.work, i, j);
			p.shows[j][i] = true;
		}
		growth = calloc(p.work.padded, sizeof(int32_t));
		assert_int_equal(freeform_scan_begin(&p.work), KANON_OK);
		for (uint32_t j = 0; j < n; j++)
		{
			int64_t before = record_cost(&p, p.shows[j], n);

			memset(growth, 0, p.work.padded * sizeof(int32_t));
			freeform_growth(&p.work, j, growth);
			for (uint32_t i = 0; i < n; i++)
			{
				int64_t more = record_cost(&p, p.shows[j], i) - before;

				assert_int_equal(growth[i], more);
				assert_int_equal(freeform_weight(&p.work, i, j), more);
				assert_int_equal(freeform_scan(&p.work, i)[j], more);
			}
		}
		/* the best ones that a row does not match yet */
		for (uint32_t i = 0; i < n; i++)
		{
			FreeformChoice choice[3];
			uint32_t found = freeform_choices(&p.work, i, choice, 3);
			const int32_t *weight;
			uint32_t best = FREEFORM_NONE;

			weight = freeform_scan(&p.work, i);
			for (uint32_t j = 0; j < n; j++)
				if (!freeform_matches(&p.work, i, j) && (best == FREEFORM_NONE || weight[j] < weight[best]))
					best = j;
			for (uint32_t x = 0; x < found; x++)
			{
				assert_false(freeform_matches(&p.work, i, choice[x].record));
				assert_int_equal(choice[x].weight, weight[choice[x].record]);
				matched[x] = choice[x].record;
				for (uint32_t y = 0; y < x; y++)
					assert_true(matched[y] != matched[x] && choice[y].weight <= choice[x].weight);
			}
			for (uint32_t j = 0; j < n && found == 3; j++)
				assert_true(freeform_matches(&p.work, i, j) || weight[j] >= choice[2].weight ||
							j == choice[0].record || j == choice[1].record || j == choice[2].record);
			if (best != FREEFORM_NONE)
				assert_int_equal(choice[0].record, best);
			assert_int_equal(freeform_best(&p.work, i), best);
		}
		/* and a row that goes again is shown no longer */
		for (uint32_t j = 0; j < n; j++)
		{
			bool shows[MOST_ROWS] = {false};

			for (uint32_t m = 0; m < p.work.nmatch[j]; m++)
				shows[p.work.match[(size_t) j * p.work.degree + m]] = true;
			freeform_show_matches(&p.work, j);
			for (uint32_t i = 0; i < n; i++)
				assert_int_equal(freeform_weight(&p.work, i, j),
								 record_cost(&p, shows, i) - record_cost(&p, shows, n));
		}
		free(growth);
		part_close(&p);
	}
	assert_true(capped > 0);
}

/* ---- k-concealment ---- */

#define MOST_CONCEALED 9

/* Another way for record j, whose row is gone: along matches that are not fixed. */
static bool
rematch(bool match[][MOST_CONCEALED], uint32_t n, uint32_t j, uint32_t fixed, uint32_t *record_of,
		bool *tried)
{
	for (uint32_t i = 0; i < n; i++)
		if (match[j][i] && i != fixed && !tried[i])
		{
			tried[i] = true;
			if (record_of[i] == n || rematch(match, n, record_of[i], fixed, record_of, tried))
			{
				record_of[i] = j;
				return true;
			}
		}
	return false;
}

/* Can all others still be told apart when record j is row i's? */
static bool
could_be(bool match[][MOST_CONCEALED], uint32_t n, uint32_t j, uint32_t i)
{
	uint32_t record_of[MOST_CONCEALED];

	for (uint32_t x = 0; x < n; x++)
		record_of[x] = n;
	for (uint32_t other = 0; other < n; other++)
	{
		bool tried[MOST_CONCEALED] = {false};

		if (other != j && !rematch(match, n, other, i, record_of, tried))
			return false;
	}
	return true;
}

/* Each row could be the one of k records, as all others find records of their own then. */
static void
concealed_among_k(void **state)
{
	uint64_t random = 70;

	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		Host host;
		uint32_t k = 2 + random_below(&random, 2);
		KanonProblem *problem =
			random_table(&host, &random, 5 + random_below(&random, MOST_CONCEALED - 4),
						 1 + (int) random_below(&random, 3), 2 + random_below(&random, 6), k);
		KanonFreeformOptions options = {.method = KANON_FREEFORM_CONCEALMENT};
		KanonRelease release;
		KanonReport report;
		uint32_t type[MOST_CONCEALED];
		uint32_t record[MOST_CONCEALED];
		bool match[MOST_CONCEALED][MOST_CONCEALED];
		uint32_t n = 0;
		uint32_t r = 0;

		problem->freeform = &options;
		assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
		for (uint32_t t = 0; t < problem->ntypes; t++)
			for (int64_t row = 0; row < problem->rows[t]; row++)
				type[n++] = t;
		for (uint32_t c = 0; c < release.nclasses; c++)
			for (int64_t row = 0; row < release.classes[c].rows; row++)
				record[r++] = c;
		assert_int_equal(n, r);
		for (uint32_t j = 0; j < n; j++)
			for (uint32_t i = 0; i < n; i++)
			{
				match[j][i] = true;
				for (int c = 0; c < problem->ncolumns; c++)
					match[j][i] =
						match[j][i] &&
						kanon_cell_matches(&release,
										   release.cells[record[j] * (size_t) problem->ncolumns + (size_t) c],
										   problem->columns[c].code[type[i]]);
			}
		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t records = 0;

			for (uint32_t j = 0; j < n; j++)
				records += match[j][i] && could_be(match, n, j, i);
			assert_true(records >= k);
		}
		kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

#ifdef HAVE_GLPK
static double
cost_by(KanonProblem *problem, KanonFreeformMethod method, KanonReport *report)
{
	KanonFreeformOptions options = {.method = method};
	KanonRelease release;

	problem->freeform = &options;
	assert_int_equal(kanon_solve_freeform(problem, &release, report), KANON_OK);
	kanon_release_free(problem, &release);
	return report->cost;
}

/* What branching finds is used: cheaper releases than the one that it starts from. */
static void
optimum_is_better(void **state)
{
	uint64_t random = 5;
	int better = 0;
	int branched = 0;

	(void) state;
	for (int round = 0; round < 30; round++)
	{
		Host host;
		KanonProblem *problem = random_table(&host, &random, 10 + random_below(&random, 4), 3, 9, 4);
		KanonReport report;
		double start = cost_by(problem, KANON_FREEFORM_HUNGARIAN, &report);
		double best = cost_by(problem, KANON_FREEFORM_MIP, &report);

		assert_true(report.proven && best <= start + 1e-6 && report.lower_bound <= best + 1e-6);
		better += best < start - 1e-6;
		branched += report.nodes > 0;
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(better > 3 && branched > 3);
}

/* A table with many nodes between the first bound and the optimum. */
static KanonProblem *
branching_problem(Host *host, int variant)
{
	static const KanonFreeformOptions options = {.method = KANON_FREEFORM_MIP};
	uint64_t random = (uint64_t) variant;
	KanonProblem *problem = random_table(host, &random, 17, 4, 5, 5);

	problem->freeform = (KanonFreeformOptions *) &options;
	return problem;
}

/* A clock that has gone beyond any limit once it was asked so often. */
static int looks;

static double
clock_that_jumps(void *arg)
{
	(void) arg;
	return looks-- > 0 ? 0 : 1e6;
}

/* Branching ends with what it has when its time is over. */
static void
branching_ends(void **state)
{
	Host host;
	KanonProblem *problem;
	KanonRelease release;
	KanonReport report;
	int64_t nodes;
	int all;
	int late = 0;

	(void) state;
	problem = branching_problem(&host, 114);
	host.env.now = clock_that_jumps;
	problem->time_limit = 1e5;
	looks = INT_MAX;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
	kanon_release_free(problem, &release);
	nodes = report.nodes;
	assert_true(report.proven && nodes > 2);
	all = INT_MAX - looks;
	/* from the end, where branching is */
	for (int eighth = 7; eighth > 0 && late == 0; eighth--)
	{
		looks = (int) ((int64_t) all * eighth / 8);
		assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
		kanon_release_free(problem, &release);
		late += report.nodes > 0 && report.nodes < nodes && !report.proven;
	}
	assert_true(late > 0);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}
/* More sets than there were ever listed; the bound is one, and time may end anywhere. */
static void
many_sets(void **state)
{
	uint64_t random = 60;
	Host host;
	KanonProblem *problem = random_table(&host, &random, 60, 3, 40, 4);
	KanonFreeformOptions options = {.method = KANON_FREEFORM_HUNGARIAN};
	KanonRelease release;
	KanonReport report;
	double start;
	int all;

	(void) state;
	problem->freeform = &options;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
	kanon_release_free(problem, &release);
	start = report.cost;
	options.method = KANON_FREEFORM_MIP;
	host.env.now = clock_that_jumps;
	problem->time_limit = 1e5;
	looks = INT_MAX;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
	kanon_release_free(problem, &release);
	print_message("hungarian %g, mip %g, at least %g\n", start, report.cost, report.lower_bound);
	assert_true(report.cost <= start + 1e-6 && report.lower_bound <= report.cost);
	assert_true(report.lower_bound > 0.9 * report.cost);
	all = INT_MAX - looks;
	for (int first = 1; first < all; first += 1 + all / 10)
	{
		looks = first;
		assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
		assert_true(report.cost <= start + 1e-6 && report.lower_bound <= report.cost + 1e-6);
		kanon_release_free(problem, &release);
	}
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}
#endif

/* ---- sets of rows ---- */

typedef struct Listed
{
	uint32_t set[4000][3];
	double reduced[4000];
	size_t n;
} Listed;

/* Every set of k types that has no more rows of each than there are. */
static void
list_all(const Part *p, const FreeformSets *sets, uint32_t n, uint32_t from, uint32_t used, Listed *all)
{
	uint32_t k = p->work.k;

	if (n == k)
	{
		bool shows[MOST_ROWS] = {false};
		double reduced;

		for (uint32_t x = 0; x < k; x++)
			shows[all->set[all->n][x]] = true;
		reduced = (double) record_cost(p, shows, p->part.n) / KANON_FREEFORM_UNITS;
		for (uint32_t x = 0; x < k; x++)
			reduced -= sets->price[all->set[all->n][x]];
		all->reduced[all->n++] = reduced;
		memcpy(all->set[all->n], all->set[all->n - 1], sizeof(all->set[0]));
		return;
	}
	for (uint32_t t = from; t < sets->ntypes; t++, used = 0)
		if (used < sets->rows[t])
		{
			all->set[all->n][n] = t;
			list_all(p, sets, n + 1, t, used + 1, all);
		}
}

static void
sets_against_all_sets(void **state)
{
	uint64_t random = 1960;
	static Listed all;
	int cut = 0;
	int some = 0;

	(void) state;
	for (int round = 0; round < cases(400); round++)
	{
		Part p;
		uint32_t first[MOST_ROWS];
		uint32_t rows[MOST_ROWS];
		FreeformSets sets;
		size_t n = 0;

		part_open(&p, &random, 3);
		p.work.k = 2 + random_below(&random, 2);
		for (uint32_t t = 0; t < p.part.n; t++)
		{
			first[t] = t;
			rows[t] = 1 + random_below(&random, 2);
		}
		sets = (FreeformSets){.work = &p.work,
							  .pace = &p.work.pace,
							  .scratch = &p.work.scratch,
							  .ntypes = p.part.n < 14 ? p.part.n : 14,
							  .first = first,
							  .rows = rows,
							  .limit = -0.1 + 0.05 * random_below(&random, 5),
							  .most = random_below(&random, 3) == 0 ? 10 : 4000};
		assert_int_equal(freeform_sets_open(&sets), KANON_OK);
		for (uint32_t t = 0; t < sets.ntypes; t++)
			sets.price[t] = 0.01 * random_below(&random, 40) - 0.1;
		all.n = 0;
		list_all(&p, &sets, 0, 0, 0, &all);
		for (size_t x = 0; x < all.n; x++)
			n += all.reduced[x] < sets.limit - 1e-9;
		assert_int_equal(freeform_sets_find(&sets), KANON_OK);
		assert_true(!sets.late && (sets.cut ? sets.n >= 5 && sets.n <= 10 : sets.n >= n));
		for (size_t x = 0; x < sets.n; x++)
		{
			const uint32_t *set = sets.set + (size_t) sets.found[x].slot * p.work.k;
			size_t cheaper = 0;
			size_t at = all.n;

			for (size_t y = 0; y < all.n; y++)
			{
				cheaper += all.reduced[y] < sets.found[x].reduced - 1e-9;
				if (memcmp(all.set[y], set, p.work.k * sizeof(uint32_t)) == 0)
					at = y;
			}
			assert_true(at < all.n && fabs(all.reduced[at] - sets.found[x].reduced) < 1e-9);
			/* nothing that is cheaper was left out */
			assert_true(cheaper <= x);
		}
		cut += sets.cut;
		some += sets.n > 0 && sets.n < all.n;
		part_close(&p);
	}
	assert_true(cut > 5 && some > cases(400) / 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_what_records_cost),
		cmocka_unit_test(concealed_among_k),
#ifdef HAVE_GLPK
		cmocka_unit_test(optimum_is_better),
		cmocka_unit_test(branching_ends),
		cmocka_unit_test(many_sets),
#endif
		cmocka_unit_test(sets_against_all_sets),
	};

	return cmocka_run_group_tests_name("freeform_work", tests, NULL, NULL);
}
