/*
 * test_ilp.c: the exact method against brute force, the paper's Theorem 3 and the
 * model without reductions, on random small tables; and what it does when
 * memory ends, when it is cancelled, and when it is called often.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>
#include <cmocka.h>

#include "exact.h"
#include "pattern/program/program_model.h"

#define MAX_LIST 12

/* A random problem; the list lives in `list`. */
static KanonProblem *
random_problem(Host *host, uint64_t *random, size_t max_rows, int max_columns, KanonPattern *list)
{
	uint32_t code[64 * 6];
	size_t nrows = 1 + random_below(random, (uint32_t) max_rows);
	int ncolumns = 1 + (int) random_below(random, (uint32_t) max_columns);
	KanonProblem *problem;
	uint32_t domain = 1 + random_below(random, 4);
	int level[6] = {0};

	for (size_t j = 0; j < nrows * (size_t) ncolumns; j++)
		code[j] = random_below(random, domain);
	if (random_below(random, 3) == 0)
		codes_nest(random, code, nrows, ncolumns, level);
	problem = problem_from_codes(host, code, nrows, ncolumns, 2 + (int64_t) random_below(random, 3));
	problem_set_levels(problem, level);
	problem->seed = *random;
	problem->residual = (KanonResidual) random_below(random, 4);
	for (int c = 0; c < ncolumns; c++)
	{
		static const double weight[] = {1, 1, 2, 0.1, 0.3, 0, 3.14159265, 1.41421356};
		uint32_t kind = (uint32_t) (*random >> 60 & 3);

		if (kind == 1)
			((KanonColumn *) problem->columns)[c].weight = weight[random_below(random, 6)];
		else if (kind == 2)
			((KanonColumn *) problem->columns)[c].weight = weight[random_below(random, 8)];
	}
	if (random_below(random, 2))
	{
		problem->mask.nlist = 1 + random_below(random, MAX_LIST);
		for (size_t j = 0; j < problem->mask.nlist; j++)
			list[j] = random_columns(random, ncolumns);
		problem->mask.list = list;
		problem->mask.order = random_below(random, 2) ? KANON_ORDER_GIVEN : KANON_ORDER_DOMAIN;
	}
	else if (random_below(random, 3) == 0)
		problem->mask.max_suppressed = (int) random_below(random, 3);
	return problem;
}

/*
 * Every way to give each row a pattern: the least cost of one whose classes
 * hold k rows.  INFINITY: none.
 */
static double
brute_force(const KanonProblem *problem)
{
	KanonPattern *patterns;
	size_t np;
	uint32_t row[8];
	size_t choice[8] = {0};
	size_t n = 0;
	double best = INFINITY;
	KanonPattern all = kanon_pattern_all(problem->ncolumns);

	assert_int_equal(kanon_mask_enumerate(problem, 1000, &patterns, &np), KANON_OK);
	for (uint32_t i = 0; i < problem->ntypes; i++)
		for (int64_t r = 0; r < problem->rows[i]; r++)
			row[n++] = i;
	for (;;)
	{
		double cost = 0;
		bool fine = true;
		size_t at;

		for (size_t a = 0; a < n && fine; a++)
		{
			KanonPattern pattern = patterns[choice[a]];
			int64_t together = 0;

			cost += kanon_pattern_cost(problem, pattern);
			for (size_t b = 0; b < n; b++)
			{
				bool same = kanon_same(patterns[choice[b]], pattern);

				for (int c = 0; c < problem->ncolumns && same; c++)
					if (!kanon_has(pattern, c))
						same = problem->columns[c].code[row[a]] == problem->columns[c].code[row[b]];
				together += same;
			}
			fine = together >= problem->k || (kanon_same(pattern, all) && !exact_strict(problem));
		}
		if (fine && cost < best)
			best = cost;
		for (at = 0; at < n && ++choice[at] == np; at++)
			choice[at] = 0;
		if (at == n)
			break;
	}
	kanon_free(problem->env, patterns);
	return best;
}

/* The model with no reduction at all, by GLPK. */
static double
unreduced(const KanonProblem *problem, IlpSettings settings)
{
	KanonPace watch;
	KanonInstances instances;
	KanonReport report;
	IlpModel model;
	IlpOutcome outcome;
	IlpList open = {0};
	double unit;

	settings.free_fallback = !exact_strict(problem);
	kanon_pace_limit(&watch, problem, "test");
	assert_int_equal(
		kanon_instances_build(problem, KANON_INSTANCES_ALL, INFINITY, 1000000, &watch, &instances), KANON_OK);
	unit = instances.unit;
	assert_int_equal(ilp_model_build(problem, &instances, !settings.free_fallback, &watch, &model), KANON_OK);
	assert_int_equal(ilp_glpk(&model, INFINITY, &settings, &outcome, &open, &watch, &report), KANON_OK);
	assert_true(outcome.complete);
	ilp_model_free(&model);
	kanon_instances_free(problem->env, &instances);
	kanon_free(problem->env, open.v);
	return outcome.found ? outcome.cost * unit : INFINITY;
}

/* A method's answer against the true optimum. */
static void
check(const KanonProblem *problem, KanonSolve solve, double optimum, bool exact)
{
	KanonRelease release;
	KanonReport report;
	KanonStatus status = solve(problem, &release, &report);

	if (optimum == INFINITY)
	{
		assert_int_equal(status, exact ? KANON_INFEASIBLE : KANON_RESIDUAL);
		return;
	}
	if (!exact && status == KANON_RESIDUAL)
		return;
	if (status != KANON_OK)
		print_error("status %d: %s\n", (int) status, report.detail);
	assert_int_equal(status, KANON_OK);
	if (exact)
	{
		if (fabs(exact_cost(problem, &release, &report) - optimum) > 1e-6)
			print_error("cost %g, bound %g, optimum %g\n", report.cost, report.lower_bound, optimum);
		assert_true(fabs(exact_cost(problem, &release, &report) - optimum) <= 1e-6);
		assert_true(report.proven);
		assert_true(fabs(report.lower_bound - report.cost) <= 1e-6);
	}
	else
	{
		assert_true(exact_cost(problem, &release, &report) >= optimum - 1e-6);
		assert_true(report.lower_bound <= report.cost + 1e-6);
		if (report.proven)
			assert_true(fabs(exact_cost(problem, &release, &report) - optimum) <= 1e-6);
	}
	kanon_release_free(problem, &release);
}

static void
equals_brute_force(void **state)
{
	uint64_t random = 42;
	int promised = 0;
	int tried = 0;

	(void) state;
	for (int round = 0; round < exact_cases(2500); round++)
	{
		Host host;
		KanonPattern list[MAX_LIST];
		uint64_t seed = random;
		KanonProblem *problem;
		double optimum;
		KanonRelease release;
		KanonReport report;

		host_init(&host);
		problem = random_problem(&host, &random, 6, 3, list);
		if (pow((double) kanon_mask_count(problem, 100), 6) > 50000)
		{
			problem_free(problem);
			continue;
		}
		tried++;
		optimum = brute_force(problem);
		check(problem, kanon_solve_ilp, optimum, true);
		if (kanon_solve_greedy(problem, &release, &report) == KANON_OK)
		{
			promised += report.guarantee > 0;
			if (report.guarantee > 0)
				assert_true(exact_cost(problem, &release, &report) <= report.guarantee * optimum + 1e-6);
			kanon_release_free(problem, &release);
		}
		if (kanon_solve_fpt(problem, &release, &report) != KANON_TOO_LARGE)
		{
			kanon_release_free(problem, &release);
			check(problem, kanon_solve_fpt, optimum, true);
		}
		if (host.blocks != 0)
			print_error("seed %llu\n", (unsigned long long) seed);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(tried > exact_cases(2500) / 5);
	assert_true(promised > tried / 4);
}

/* What greedy promises: the factor of the weights and of a list; nothing where it does not hold. */
static void
greedy_factor(void **state)
{
	/* k = 2: by column a the first pattern takes the middle two, and the others are left over */
	static const uint32_t chain[] = {1, 1, 0, 2, 1, 0, 2, 2, 0, 3, 2, 0};
	static const KanonPattern by_one[] = {KANON_BITS(2), KANON_BITS(1)};
	static const KanonPattern by_more[] = {KANON_NONE, KANON_BITS(6), KANON_BITS(3)};
	static const struct
	{
		double weight[3];
		const KanonPattern *list;
		size_t nlist;
		double factor;
	} cases[] = {{{1, 1, 1}, NULL, 0, 3},    {{4, 2, 1}, NULL, 0, 7},   {{4, 2, 1}, by_more, 3, 7.0 / 3},
				 {{1, 1, 1}, by_one, 2, 3},  {{0, 0, 1}, by_one, 2, 0}, {{0, 1, 1}, NULL, 0, 0},
				 {{1, 1, 1e-12}, NULL, 0, 0}};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		Host host;
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;

		host_init(&host);
		problem = problem_from_codes(&host, chain, 4, 3, 2);
		for (int c = 0; c < 3; c++)
			((KanonColumn *) problem->columns)[c].weight = cases[i].weight[c];
		problem->mask.order = KANON_ORDER_GIVEN;
		problem->mask.list = cases[i].list;
		problem->mask.nlist = cases[i].nlist;
		assert_int_equal(kanon_solve_greedy(problem, &release, &report), KANON_OK);
		assert_true(fabs(report.guarantee - cases[i].factor) < 1e-9);
		/* (of patterns that cost nothing, the promise would be broken) */
		if (cases[i].weight[0] == 0 && cases[i].list == by_one)
			assert_true(report.cost > 0 && brute_force(problem) == 0);
		kanon_release_free(problem, &release);
		/* and nobody hands it on */
		if (kanon_solve_improve(problem, &release, &report) == KANON_OK)
			kanon_release_free(problem, &release);
		assert_true(report.guarantee == 0);
		problem_free(problem);
	}
}

static void
equals_unreduced(void **state)
{
	uint64_t random = 4711;

	(void) state;
	for (int round = 0; round < exact_cases(1500); round++)
	{
		Host host;
		KanonPattern list[MAX_LIST];
		KanonProblem *problem;
		double optimum;

		host_init(&host);
		problem = random_problem(&host, &random, 30, 4, list);
		optimum = unreduced(problem, (IlpSettings){0});
		check(problem, kanon_solve_ilp, optimum, true);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* Cuts and branching rules may change how an optimum is found, not what it is. */
static void
same_under_all_settings(void **state)
{
	static const IlpSettings settings[] = {{.cuts = true},
										   {.cuts = true, .branching = 1},
										   {.cuts = true, .branching = 2},
										   {.cuts = true, .rounding_cuts = true}};
	uint64_t random = 1234;

	(void) state;
	for (int round = 0; round < exact_cases(600); round++)
	{
		Host host;
		KanonPattern list[MAX_LIST];
		KanonProblem *problem;
		double optimum;

		host_init(&host);
		problem = random_problem(&host, &random, 50, 4, list);
		problem->k = 2 + random_below(&random, 7);
		optimum = unreduced(problem, (IlpSettings){0});
		for (size_t j = 0; j < sizeof(settings) / sizeof(settings[0]); j++)
		{
			double cost = unreduced(problem, settings[j]);

			assert_true(cost == optimum || fabs(cost - optimum) <= 1e-6);
		}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* A small random model. */
#define CUT_TYPES 4
#define CUT_INSTANCES 4
#define CUT_ROWS 7

typedef struct CutCase
{
	IlpModel model;
	int64_t n[CUT_TYPES];
	double c[CUT_TYPES];
	double w[CUT_INSTANCES];
	size_t start[CUT_INSTANCES + 1];
	uint32_t type[CUT_TYPES * CUT_INSTANCES];
	double u[CUT_INSTANCES];
	double x[CUT_TYPES * CUT_INSTANCES];
	uint32_t row[CUT_ROWS]; /* type of each */
	uint32_t nrows;
} CutCase;

static void
random_cut_case(CutCase *c, Host *host, uint64_t *random)
{
	size_t pairs = 0;

	memset(c, 0, sizeof(*c));
	c->model = (IlpModel){.env = &host->env,
						  .k = 2 + random_below(random, 3),
						  .m = CUT_TYPES,
						  .n = c->n,
						  .c = c->c,
						  .nf = CUT_INSTANCES,
						  .w = c->w,
						  .start = c->start,
						  .type = c->type};
	for (uint32_t i = 0; i < CUT_TYPES; i++)
		c->c[i] = 8 + random_below(random, 3);
	for (uint32_t r = 0; r < CUT_ROWS; r++)
	{
		uint32_t i = r < CUT_TYPES ? r : random_below(random, CUT_TYPES);

		c->row[c->nrows++] = i;
		c->n[i]++;
	}
	for (uint32_t f = 0; f < CUT_INSTANCES; f++)
	{
		c->u[f] = random_below(random, 9) / 8.0;
		c->w[f] = 1 + random_below(random, 9);
		for (uint32_t i = 0; i < CUT_TYPES; i++)
			if (random_below(random, 3) > 0)
			{
				c->type[pairs] = i;
				c->x[pairs++] = c->u[f] * (double) c->n[i] * random_below(random, 5) / 4.0;
			}
		c->start[f + 1] = pairs;
	}
}

/* How far a point is beyond a cut: at most 0 means that it satisfies it. */
static double
beyond_cut(const CutCase *c, const IlpCuts *cuts, const IlpCut *cut, const double *u, const double *x)
{
	const uint32_t *types = cuts->number.v + cut->start;
	const uint32_t *instances = types + cut->ntypes;
	double sum = -(double) (cut->missing * cut->classes);

	for (uint32_t j = 0; j < cut->ninstances; j++)
	{
		uint32_t f = instances[j];

		sum += (double) cut->missing * u[f];
		for (size_t p = c->start[f]; p < c->start[f + 1]; p++)
		{
			bool within = false;

			for (uint32_t t = 0; t < cut->ntypes; t++)
				within |= types[t] == c->type[p];
			sum -= within ? 0 : x[p];
		}
	}
	return sum;
}

/* What is open and how filled when row r goes to instance choice[r] (CUT_INSTANCES: none). */
static bool
divide_rows(const CutCase *c, const uint32_t *choice, double *u, double *x)
{
	memset(u, 0, CUT_INSTANCES * sizeof(*u));
	memset(x, 0, CUT_TYPES * CUT_INSTANCES * sizeof(*x));
	for (uint32_t r = 0; r < c->nrows; r++)
	{
		uint32_t f = choice[r];
		size_t p;

		if (f == CUT_INSTANCES)
			continue;
		for (p = c->start[f]; p < c->start[f + 1] && c->type[p] != c->row[r]; p++)
			;
		if (p == c->start[f + 1])
			return false;
		x[p]++;
	}
	for (uint32_t f = 0; f < CUT_INSTANCES; f++)
	{
		double rows = 0;

		for (size_t p = c->start[f]; p < c->start[f + 1]; p++)
			rows += x[p];
		u[f] = rows > 0;
		if (rows > 0 && rows < (double) c->model.k)
			return false;
	}
	return true;
}

static bool
next_choice(const CutCase *c, uint32_t *choice)
{
	uint32_t at = 0;

	while (at < c->nrows && choice[at]++ == CUT_INSTANCES)
		choice[at++] = 0;
	return at < c->nrows;
}

/* Every solution satisfies every cut: each row in one of the instances, or in none. */
static void
all_satisfy(const CutCase *c, const IlpCuts *cuts)
{
	uint32_t choice[CUT_ROWS] = {0};

	do
	{
		double u[CUT_INSTANCES];
		double x[CUT_TYPES * CUT_INSTANCES];

		if (divide_rows(c, choice, u, x))
			for (size_t j = 0; j < cuts->n; j++)
				assert_true(beyond_cut(c, cuts, &cuts->cut[j], u, x) <= 1e-9);
	} while (next_choice(c, choice));
}

/* The least cost that has these instances open (bits); INFINITY: they cannot be filled. */
static double
least_cost(const CutCase *c, unsigned open)
{
	uint32_t choice[CUT_ROWS] = {0};
	double least = INFINITY;

	do
	{
		double u[CUT_INSTANCES];
		double x[CUT_TYPES * CUT_INSTANCES];
		double cost = 0;
		unsigned used = 0;

		if (!divide_rows(c, choice, u, x))
			continue;
		for (uint32_t f = 0; f < CUT_INSTANCES; f++)
			used |= (unsigned) (u[f] > 0) << f;
		for (uint32_t r = 0; r < c->nrows; r++)
			cost += choice[r] < CUT_INSTANCES ? c->w[choice[r]] : c->c[c->row[r]];
		if (used == open)
			least = fmin(least, cost);
	} while (next_choice(c, choice));
	return least;
}

/* Instances that can all be filled are, at their least cost. */
static void
assigns_at_least_cost(void **state)
{
	uint64_t random = 77;
	int found = 0;

	(void) state;
	for (int round = 0; round < exact_cases(200); round++)
	{
		Host host;
		CutCase c;
		IlpList open = {0};
		KanonProblem problem = {.env = &host.env, .time_limit = INFINITY};
		KanonPace watch;
		double cost;
		double least;
		size_t nflows;
		unsigned bits = random_below(&random, 1u << CUT_INSTANCES);
		KanonStatus status;

		host_init(&host);
		random_cut_case(&c, &host, &random);
		kanon_pace_limit(&watch, &problem, "test");
		for (uint32_t f = 0; f < CUT_INSTANCES; f++)
			if ((bits >> f & 1) != 0)
				assert_true(ilp_list_add(&host.env, &open, f));
		least = least_cost(&c, bits);
		status = ilp_assign(&c.model, &open, &cost, NULL, &nflows, &watch);
		assert_int_equal(status, least < INFINITY ? KANON_OK : KANON_INFEASIBLE);
		if (status == KANON_OK)
		{
			assert_true(fabs(cost - least) <= 1e-9);
			found++;
		}
		kanon_free(&host.env, open.v);
		assert_int_equal(host.blocks, 0);
	}
	assert_true(found > exact_cases(200) / 8);
}

static void
cuts_are_valid(void **state)
{
	uint64_t random = 99;
	size_t found = 0;

	(void) state;
	for (int round = 0; round < exact_cases(300); round++)
	{
		Host host;
		CutCase c;
		IlpCuts cuts = {0};
		KanonProblem problem = {.env = &host.env, .time_limit = INFINITY};
		KanonPace watch;

		host_init(&host);
		random_cut_case(&c, &host, &random);
		kanon_pace_limit(&watch, &problem, "test");
		assert_int_equal(ilp_cuts_find(&c.model, c.u, c.x, &cuts, &watch), KANON_OK);
		for (size_t j = 0; j < cuts.n; j++)
			assert_true(beyond_cut(&c, &cuts, &cuts.cut[j], c.u, c.x) > 0);
		all_satisfy(&c, &cuts);
		found += cuts.n;
		ilp_cuts_free(&host.env, &cuts);
		assert_int_equal(host.blocks, 0);
	}
	assert_true(found > (size_t) exact_cases(300) / 2);
}

/* A table of middle size, that takes all parts of the method. */
static KanonProblem *
middle_problem(Host *host, int residual)
{
	uint64_t random = 7;
	KanonProblem *problem = exact_problem(host, &random, 40, 4, 3, 2, false);

	problem->residual = (KanonResidual) residual;
	return problem;
}

static void
memory_ends(void **state)
{
	(void) state;
	for (int residual = 0; residual < 4; residual++)
		exact_refuse_each(middle_problem, residual, kanon_solve_ilp, true);
}

static void
cancelled(void **state)
{
	(void) state;
	exact_cancel_each(middle_problem, KANON_RESIDUAL_SUPPRESS, kanon_solve_ilp);
}

/* GLPK's memory is its own: what malloc has in use must not grow. */
static void
solves_again(void **state)
{
	size_t first = 0;
	int solves = exact_cases(1000);

	(void) state;
	for (int round = 0; round < solves; round++)
	{
		Host host;
		KanonPattern list[MAX_LIST];
		uint64_t random = 5 + (uint64_t) (round % 10);
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;

		host_init(&host);
		problem = random_problem(&host, &random, 60, 4, list);
		if (kanon_solve_ilp(problem, &release, &report) == KANON_OK)
			kanon_release_free(problem, &release);
		problem_free(problem);
		if (round == solves / 2)
			first = mallinfo2().uordblks;
	}
	/* what free keeps in its caches counts as in use */
	assert_true(mallinfo2().uordblks <= first + 16000);
}

/* Without time greedy, which begins, stops too: the release is one, and nothing says what it costs. */
static void
time_ends(void **state)
{
	Host host;
	KanonProblem *problem = middle_problem(&host, KANON_RESIDUAL_SUPPRESS);
	KanonRelease release;
	KanonReport report;

	(void) state;
	problem->time_limit = 1e-6;
	assert_int_equal(kanon_solve_ilp(problem, &release, &report), KANON_OK);
	assert_false(report.proven);
	assert_true(report.lower_bound <= report.cost);
	kanon_release_free(problem, &release);
	problem_free(problem);
}

/* Out of time it gives the best of the sets tried, or greedy's release, and claims no proof. */
static void
sets_end(void **state)
{
	uint64_t random = 11;
	int better = 0;

	(void) state;
	for (int round = 0; round < exact_cases(400); round++)
	{
		Host host;
		KanonPattern list[MAX_LIST];
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;
		double optimum;
		KanonStatus status;

		host_init(&host);
		problem = random_problem(&host, &random, 12, 3, list);
		problem->residual = (KanonResidual) (round % 4);
		status = kanon_solve_fpt(problem, &release, &report);
		optimum = status == KANON_OK ? exact_cost(problem, &release, &report) : NAN;
		kanon_release_free(problem, &release);
		problem->time_limit = 1e-9;
		if (status == KANON_OK && kanon_solve_fpt(problem, &release, &report) == KANON_OK)
		{
			double cost = exact_cost(problem, &release, &report);

			assert_true(cost >= optimum - 1e-6);
			/* (rows left out are priced in the bound as in the cost) */
			assert_true(report.lower_bound + cost - report.cost <= optimum + 1e-6);
			assert_true(!report.proven || cost <= optimum + 1e-6);
			better += cost > optimum + 1e-6;
			kanon_release_free(problem, &release);
		}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(better > 0);
}

/* A program without a row, and with no more to choose than bounds. */
static KanonStatus
solve_rowless(void *arg)
{
	LinearProgram *lp = arg;
	KanonStatus status;

	lp_add_columns(lp, 2);
	for (int j = 1; j <= 2; j++)
	{
		lp_bound_column(lp, j, -j, 5);
		lp_set_cost(lp, j, j == 1 ? 3 : -2);
	}
	status = lp_relax(lp, LP_PRIMAL);
	assert_true(lp_cost(lp) == 3 * -1 - 2 * 5);
	return status;
}

/* How many iterations are done at once goes by the rows, of which there may be none. */
static void
no_rows(void **state)
{
	Host host;
	LinearProgram lp = {0};
	KanonPace pace;

	(void) state;
	host_init(&host);
	pace = kanon_pace_at_once(&host.env, "test");
	assert_int_equal(lp_run(&lp, &pace, solve_rowless, &lp), KANON_OK);
	assert_int_equal(host.blocks, 0);
}

/*
 * No row may be left over, and time ends wherever it may: a release has none, and costs no less than the
 * optimum; or there was no time to find one, which is what is said.
 */
static void
rows_left_in_time(void **state)
{
	uint64_t random = 21;
	int found = 0;
	int left = 0;

	(void) state;
	for (int round = 0; round < 40; round++)
	{
		Host host;
		KanonPattern list[MAX_LIST];
		KanonProblem *problem;
		KanonRelease release;
		KanonReport report;
		double optimum;

		host_init(&host);
		host_tick(&host);
		problem = random_problem(&host, &random, 14, 3, list);
		problem->residual = KANON_RESIDUAL_ERROR;
		if (kanon_solve_ilp(problem, &release, &report) == KANON_OK)
		{
			optimum = report.cost;
			kanon_release_free(problem, &release);
			for (int limit = 1; limit < 40; limit++)
			{
				KanonStatus status;

				problem->time_limit = limit;
				status = kanon_solve_ilp(problem, &release, &report);
				if (status == KANON_OK)
				{
					assert_true(report.cost >= optimum - 1e-6 && report.lower_bound <= optimum + 1e-6);
					assert_int_equal(release.dropped, 0);
					assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_OK);
					kanon_release_free(problem, &release);
					found++;
				}
				else
				{
					assert_int_equal(status, KANON_RESIDUAL);
					assert_string_equal(report.detail, "rows are left over");
					left++;
				}
			}
		}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(found > 0 && left > 0);
}

/* GLPK's own memory limit ends in a status, not in the process. */
static void
foreign_memory_ends(void **state)
{
	Host host;
	uint64_t random = 3;
	KanonProblem *problem = exact_problem(&host, &random, 1500, 6, 6, 5, false);
	KanonRelease release;
	KanonReport report;

	(void) state;
	host.env.foreign = 1 << 20;
	assert_int_equal(kanon_solve_ilp(problem, &release, &report), KANON_NO_MEMORY);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_brute_force), cmocka_unit_test(greedy_factor),
		cmocka_unit_test(equals_unreduced),   cmocka_unit_test(same_under_all_settings),
		cmocka_unit_test(cuts_are_valid),     cmocka_unit_test(assigns_at_least_cost),
		cmocka_unit_test(memory_ends),        cmocka_unit_test(cancelled),
		cmocka_unit_test(solves_again),       cmocka_unit_test(time_ends),
		cmocka_unit_test(sets_end),           cmocka_unit_test(foreign_memory_ends),
		cmocka_unit_test(rows_left_in_time),  cmocka_unit_test(no_rows),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
