/*
 * test_cluster.c: classes of any shape: what they show, and what is proven of them,
 * against brute force over all partitions.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/clustering.h"
#include "fixture.h"

/* Rows of a table that brute force takes. */
#define MOST_ROWS 9

/* A small random problem with its options. */
typedef struct Small
{
	Host host;
	KanonProblem *problem;
	struct KanonClusterOptions options;
	KanonClusterShow show[KANON_MAX_COLUMNS];
	double *number[KANON_MAX_COLUMNS];
	int nqis;
} Small;

static void
small_open(Small *s, uint64_t *random, size_t max_rows, int max_columns, uint32_t max_distinct)
{
	size_t nrows = 1 + random_below(random, (uint32_t) max_rows);
	int ncolumns = 1 + (int) random_below(random, (uint32_t) max_columns);
	uint32_t *code = calloc(nrows * (size_t) ncolumns, sizeof(uint32_t));
	int level[KANON_MAX_COLUMNS] = {0};
	bool plain = random_below(random, 2) == 0;

	memset(s, 0, sizeof(*s));
	host_init(&s->host);
	for (int c = 0; c < ncolumns; c++)
	{
		uint32_t distinct = 1 + random_below(random, max_distinct);

		for (size_t i = 0; i < nrows; i++)
			code[i * (size_t) ncolumns + (size_t) c] = random_below(random, distinct);
	}
	if (random_below(random, 3) == 0)
		codes_nest(random, code, nrows, ncolumns, level);
	s->problem = problem_from_codes(&s->host, code, nrows, ncolumns, 2);
	free(code);
	problem_set_levels(s->problem, level);
	for (int c = 0; c < ncolumns; c++)
	{
		KanonColumn *column = (KanonColumn *) &s->problem->columns[c];

		if (!plain)
			column->weight = random_below(random, 5) == 0 ? 0 : (1 + random_below(random, 8)) / 3.0;
		if (level[c] > 0)
			continue;
		column->has_null = random_below(random, 4) == 0;
		if (random_below(random, 2) == 0)
		{
			double *number = calloc(column->distinct, sizeof(double));

			for (uint32_t v = 0; v < column->distinct; v++)
				number[v] = (v > 0 ? number[v - 1] : 0) + 1 + random_below(random, 9);
			if (column->has_null)
				number[column->distinct - 1] = NAN;
			column->number = number;
		}
		s->show[s->nqis] = c + 1 < ncolumns && level[c + 1] > 0 && random_below(random, 3) > 0
							   ? KANON_CLUSTER_HIERARCHY
							   : (KanonClusterShow) random_below(random, 4);
		if (s->show[s->nqis] == KANON_CLUSTER_RANGE && column->number == NULL)
			s->show[s->nqis] = KANON_CLUSTER_SUPPRESS;
		s->nqis++;
	}
	s->options.show = s->show;
	s->problem->cluster = &s->options;
	s->problem->residual = (KanonResidual) random_below(random, 3);
}

static void
small_close(Small *s)
{
	assert_int_equal(s->host.blocks, 0);
	problem_free(s->problem);
}

/* ---- costs, by the definitions ---- */

/* Of a quasi-identifier's numbers, largest minus smallest. */
static double
span_of(const KanonColumn *column)
{
	double low = INFINITY, high = -INFINITY;

	for (uint32_t v = 0; v < column->distinct; v++)
		if (isfinite(column->number[v]))
		{
			low = fmin(low, column->number[v]);
			high = fmax(high, column->number[v]);
		}
	return high - low;
}

/* What a class of these types hides of a row. */
static double
charge(const Small *s, const uint32_t *types, int n)
{
	const KanonProblem *problem = s->problem;
	double sum = 0;
	int q = -1;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		const KanonColumn *column = &problem->columns[c];
		bool differ = false;
		bool null = false;
		double low = INFINITY, high = -INFINITY;
		int base = c - column->level;

		q += column->level == 0;
		for (int i = 0; i < n; i++)
		{
			/* what is not shown by levels is hidden with its value */
			int by = s->show[q] == KANON_CLUSTER_HIERARCHY ? c : base;

			differ = differ || problem->columns[by].code[types[i]] != problem->columns[by].code[types[0]];
			if (s->show[q] == KANON_CLUSTER_RANGE)
			{
				double number = problem->columns[base].number[problem->columns[base].code[types[i]]];

				null = null || isnan(number);
				low = fmin(low, number);
				high = fmax(high, number);
			}
		}
		if (!differ)
			continue;
		if (s->show[q] == KANON_CLUSTER_RANGE && !null)
			sum += column->weight * (high - low) / span_of(&problem->columns[base]);
		else
			sum += column->weight;
	}
	return sum;
}

/* Largest distance to the best centre. */
static double
radius(const Small *s, const uint32_t *types, int n)
{
	double best = INFINITY;

	for (int i = 0; i < n; i++)
	{
		double most = 0;

		for (int j = 0; j < n; j++)
			most = fmax(most, charge(s, (uint32_t[]){types[i], types[j]}, 2));
		best = fmin(best, most);
	}
	return best;
}

/*
 * Least cost of all partitions of the rows into classes of at least k, by their
 * subsets; with `drop` rows may be left out at the price of all weights.
 */
static double
brute_force(const Small *s, bool radii, bool drop)
{
	static double best[1 << MOST_ROWS];
	uint32_t types[MOST_ROWS];
	double weight = 0;
	int n = 0;

	for (int c = 0; c < s->problem->ncolumns; c++)
		weight += s->problem->columns[c].weight;
	for (uint32_t i = 0; i < s->problem->ntypes; i++)
		for (int64_t r = 0; r < s->problem->rows[i]; r++)
			types[n++] = i;
	best[0] = 0;
	for (int set = 1; set < 1 << n; set++)
	{
		int first = set & -set;

		best[set] = drop ? best[set ^ first] + weight : INFINITY;
		for (int part = set; part > 0; part = (part - 1) & set)
		{
			uint32_t members[MOST_ROWS];
			int size = 0;

			if ((part & first) == 0 || __builtin_popcount((unsigned) part) < s->problem->k ||
				isinf(best[set ^ part]))
				continue;
			for (int i = 0; i < n; i++)
				if (part >> i & 1)
					members[size++] = types[i];
			if (radii)
				best[set] = fmin(best[set], fmax(best[set ^ part], radius(s, members, size)));
			else
				best[set] = fmin(best[set], best[set ^ part] + size * charge(s, members, size));
		}
	}
	return best[(1 << n) - 1];
}

/* Does every class show just what its rows have in common?  What it hides. */
static double
check_release(const Small *s, const KanonRelease *release)
{
	const KanonProblem *problem = s->problem;
	double sum = 0;
	double weight = 0;

	for (int c = 0; c < problem->ncolumns; c++)
		weight += problem->columns[c].weight;
	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		uint32_t *types = malloc((problem->ntypes + 1) * sizeof(uint32_t));
		const KanonCell *cell = &release->cells[i * (size_t) problem->ncolumns];
		int n = 0;
		int q = -1;

		assert_true(release->classes[i].rows >= problem->k);
		for (size_t f = 0; f < release->nflows; f++)
			if (release->flows[f].class_ == i)
				types[n++] = release->flows[f].type;
		assert_true(n > 0);
		sum += charge(s, types, n) * (double) release->classes[i].rows;
		for (int c = 0; c < problem->ncolumns; c++)
		{
			const KanonColumn *column = &problem->columns[c];
			uint32_t low = UINT32_MAX, high = 0;
			bool seen[16] = {false};
			uint32_t different = 0;

			q += column->level == 0;
			for (int j = 0; j < n; j++)
			{
				uint32_t code = column->code[types[j]];

				low = code < low ? code : low;
				high = code > high ? code : high;
				if (column->distinct <= 16)
				{
					different += !seen[code];
					seen[code] = true;
				}
			}
			if (column->level > 0 && s->show[q] != KANON_CLUSTER_HIERARCHY)
			{
				/* beside a value its levels, beside anything else nothing */
				bool value = cell[c - column->level].show == KANON_SHOW_VALUE;

				assert_int_equal(cell[c].show, value ? KANON_SHOW_VALUE : KANON_SHOW_NOTHING);
			}
			else if (low == high)
			{
				assert_int_equal(cell[c].show, KANON_SHOW_VALUE);
				assert_int_equal(cell[c].code, low);
			}
			else if (s->show[q] == KANON_CLUSTER_RANGE && !(column->has_null && high == column->distinct - 1))
			{
				assert_int_equal(cell[c].show, KANON_SHOW_RANGE);
				assert_int_equal(release->pool[cell[c].code], low);
				assert_int_equal(release->pool[cell[c].code + 1], high);
			}
			else if (s->show[q] == KANON_CLUSTER_SET)
			{
				const uint32_t *set = &release->pool[cell[c].code];

				assert_int_equal(cell[c].show, KANON_SHOW_SET);
				if (column->distinct <= 16)
				{
					assert_int_equal(set[0], different);
					for (uint32_t v = 1; v <= set[0]; v++)
						assert_true(seen[set[v]]);
				}
			}
			else
				assert_int_equal(cell[c].show, KANON_SHOW_NOTHING);
		}
		free(types);
	}
	return sum + weight * (double) release->dropped;
}

static int64_t
rows_of(const KanonProblem *problem)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < problem->ntypes; i++)
		sum += problem->rows[i];
	return sum;
}

/* Runs a method; the release is checked.  False: too few rows. */
static bool
run(const Small *s, const KanonMethod *method, KanonRelease *release, KanonReport *report)
{
	KanonStatus status = method->solve(s->problem, release, report);

	if (rows_of(s->problem) < s->problem->k)
	{
		assert_int_equal(status, KANON_INFEASIBLE);
		assert_true(report->detail[0] != '\0');
		return false;
	}
	if (status != KANON_OK)
		print_error("%s: %s\n", method->name, report->detail);
	assert_int_equal(status, KANON_OK);
	return true;
}

#ifdef HAVE_LEMON
#define LEMON true
#else
#define LEMON false
#endif

static bool
fits(const KanonMethod *method, int64_t k)
{
	if (strcmp(method->name, "pairs") == 0)
		return LEMON && k == 2;
	return strcmp(method->name, "triples") != 0 || (LEMON && k == 3);
}

static bool
promises(const KanonMethod *method)
{
	static const char *const names[] = {"forest", "pairs", "triples", "gather"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(method->name, names[i]) == 0)
			return true;
	return false;
}

static double
number_of(const KanonColumn *column, uint32_t type)
{
	return column->number != NULL ? column->number[column->code[type]] : (double) column->code[type];
}

/* The sum of squares within classes by its definition; no way to divide the rows of one column has less. */
static void
check_squares(const Small *s, const KanonRelease *release, const KanonReport *report)
{
	const KanonProblem *problem = s->problem;
	double sum = 0;
	int nqis = kanon_count_qis(problem);

	for (int q = 0; q < nqis; q++)
	{
		int first = kanon_first_column(problem, q), end = kanon_first_column(problem, q + 1);
		const KanonColumn *column = &problem->columns[first];
		double n = 0, mean = 0, spread = 0, weight = 0, within = 0;

		for (int c = first; c < end; c++)
			weight += problem->columns[c].weight;
		for (uint32_t i = 0; i < problem->ntypes; i++)
			if (isfinite(number_of(column, i)))
			{
				n += (double) problem->rows[i];
				mean += (double) problem->rows[i] * number_of(column, i);
			}
		mean /= fmax(n, 1);
		for (uint32_t i = 0; i < problem->ntypes; i++)
			if (isfinite(number_of(column, i)))
				spread += (double) problem->rows[i] * pow(number_of(column, i) - mean, 2);
		for (uint32_t class = 0; class < release->nclasses; class ++)
		{
			double rows = 0, middle = 0;

			for (int pass = 0; pass < 2; pass++)
				for (size_t f = 0; f < release->nflows; f++)
				{
					double number = number_of(column, release->flows[f].type);

					if (release->flows[f].class_ != class)
						continue;
					number = isfinite(number) ? number : mean;
					if (pass == 0)
					{
						rows += (double) release->flows[f].rows;
						middle += (double) release->flows[f].rows * number;
					}
					else
						within += (double) release->flows[f].rows * pow(number - middle / rows, 2);
				}
		}
		sum += spread > 1e-9 ? weight * within * (n - 1) / spread : 0;
	}
	assert_true(fabs(sum - report->cost) < 1e-6 * (1 + sum));
	assert_true(report->proven == (nqis == 1 && problem->privacy == NULL));
}

/* ---- tests ---- */

/* Nobody is above its guarantee, no bound above the optimum. */
static void
test_guarantees(void **state)
{
	uint64_t random = 8;
	int proven = 0;
	double worst[16] = {0};

	(void) state;
	for (int table = 0; table < cases(4000); table++)
	{
		Small s;
		double optimum, with_drop, least_radius;

		small_open(&s, &random, MOST_ROWS, 4, table % 2 == 0 ? 2 : 6);
		s.problem->k = 1 + random_below(&random, 4);
		optimum = brute_force(&s, false, false);
		with_drop = brute_force(&s, false, true);
		least_radius = brute_force(&s, true, false);
		for (const KanonMethod *method = kanon_methods(KANON_CLUSTER); method->name != NULL; method++)
		{
			KanonRelease release;
			KanonReport report;
			bool gather = strcmp(method->name, "gather") == 0, squares = method->cost == KANON_COST_SQUARES;
			/* where rows may be left out, releases that do so count for all */
			bool drops = s.problem->residual == KANON_RESIDUAL_DROP;
			bool factor = strcmp(method->name, "pairs") == 0 || strcmp(method->name, "triples") == 0;
			double least = gather ? least_radius : drops ? with_drop : optimum;
			double cost;

			if (!fits(method, s.problem->k) || !run(&s, method, &release, &report))
				continue;
			cost = check_release(&s, &release);
			if (squares)
			{
				check_squares(&s, &release, &report);
				kanon_release_free(s.problem, &release);
				continue;
			}
			assert_true(gather || fabs(cost - report.cost) < 1e-6);
			assert_true(report.cost >= least - 1e-6);
			assert_true((report.guarantee > 0) == (promises(method) && !(drops && factor)));
			if (report.guarantee > 0)
			{
				if (report.cost > report.guarantee * least + 1e-6)
					print_error("%s, table %d: %g > %g * %g\n", method->name, table, report.cost,
								report.guarantee, least);
				assert_true(report.cost <= report.guarantee * least + 1e-6);
				if (least > 1e-9)
					worst[method - kanon_methods(KANON_CLUSTER)] =
						fmax(worst[method - kanon_methods(KANON_CLUSTER)], report.cost / least);
			}
			if (!isinf(report.lower_bound))
			{
				if (report.lower_bound > least + 1e-6)
					print_error("%s, table %d: bound %g > %g\n", method->name, table, report.lower_bound,
								least);
				assert_true(report.lower_bound <= least + 1e-6);
				assert_true(report.lower_bound <= report.cost);
				if (report.proven)
				{
					assert_true(report.cost <= least + 1e-6);
					proven++;
				}
			}
			kanon_release_free(s.problem, &release);
		}
		small_close(&s);
	}
	for (const KanonMethod *method = kanon_methods(KANON_CLUSTER); method->name != NULL; method++)
		if (worst[method - kanon_methods(KANON_CLUSTER)] > 0)
			print_message("%s: at worst %.3f times the optimum\n", method->name,
						  worst[method - kanon_methods(KANON_CLUSTER)]);
	assert_true(proven > 100);
}

/* Larger tables: everything is checked but the optimum. */
static void
test_larger(void **state)
{
	uint64_t random = 88;

	(void) state;
	for (int table = 0; table < cases(150); table++)
	{
		Small s;

		small_open(&s, &random, 400, 6, 12);
		s.problem->k = 1 + random_below(&random, 12);
		if (random_below(&random, 2) == 0)
			for (uint32_t i = 0; i < s.problem->ntypes; i++)
				if (random_below(&random, 3) == 0)
					((int64_t *) s.problem->rows)[i] += random_below(&random, 30);
		for (const KanonMethod *method = kanon_methods(KANON_CLUSTER); method->name != NULL; method++)
		{
			KanonRelease release;
			KanonReport report;

			if (fits(method, s.problem->k) && run(&s, method, &release, &report))
			{
				(void) check_release(&s, &release);
				assert_true(report.lower_bound <= report.cost);
				kanon_release_free(s.problem, &release);
			}
		}
		small_close(&s);
	}
}

/* A problem over codes of some columns, numbers being the codes, shown alike. */
static void
plain_open(Small *s, const uint32_t *code, size_t nrows, int ncolumns, int64_t k, KanonClusterShow show)
{
	memset(s, 0, sizeof(*s));
	host_init(&s->host);
	s->problem = problem_from_codes(&s->host, code, nrows, ncolumns, k);
	for (int c = 0; c < ncolumns; c++)
	{
		KanonColumn *column = (KanonColumn *) &s->problem->columns[c];
		double *number = calloc(column->distinct, sizeof(double));

		for (uint32_t v = 0; v < column->distinct; v++)
			number[v] = v;
		column->number = number;
		s->show[s->nqis++] = show;
	}
	s->options.show = s->show;
	s->problem->cluster = &s->options;
}

static const KanonMethod *
method_named(const char *name)
{
	const KanonMethod *method = kanon_method_find(KANON_CLUSTER, name);

	assert_non_null(method);
	return method;
}

/*
 * Clusters of forest have at most max(2k - 1, 3k - 5) rows: above k = 4 a tree of
 * 3k - 4 rows whose branches end at k - 1 and 2k - 3 rows needs a cut of its own.  Rows on
 * arms from a hub, farther apart the farther out they are, are such trees quite often.
 */
static void
test_forest_sizes(void **state)
{
	const KanonMethod *forest = method_named("forest");
	uint64_t random = 35;

	(void) state;
	for (int table = 0; table < cases(4000); table++)
	{
		int64_t k = 5 + random_below(&random, 2);
		size_t n = (size_t) (3 * k - 4);
		uint32_t code[14][3];
		uint32_t at = 0;
		int arm = -1;
		KanonRelease release;
		KanonReport report;
		Small s;

		for (size_t i = 0; i < n; i++)
		{
			for (int c = 0; c < 3; c++)
				code[i][c] = 200;
			if (i == 0)
				continue;
			if (arm < 0 || (arm < 5 && random_below(&random, 3) == 0))
			{
				arm++;
				at = 0;
			}
			at += at / 2 + 5 + random_below(&random, 8);
			code[i][arm % 3] = arm < 3 ? 200 + at : 200 - (at < 200 ? at : 200);
		}
		plain_open(&s, &code[0][0], n, 3, k, KANON_CLUSTER_RANGE);
		assert_true(run(&s, forest, &release, &report));
		for (uint32_t i = 0; i < release.nclasses; i++)
			assert_true(release.classes[i].rows <= 3 * k - 5);
		kanon_release_free(s.problem, &release);
		small_close(&s);
	}
}

/*
 * Eight equal rows and more are a hub that lends some of its rows to others; where
 * prices ask for more of them than it may lend, its rows become rows like any others,
 * and the factor holds.
 */
static void
test_triples_crowded(void **state)
{
	uint64_t random = 93;

	(void) state;
	for (int table = 0; table < (LEMON ? cases(60) : 0); table++)
	{
		uint32_t code[120][4];
		size_t n = 40 + random_below(&random, 80);
		KanonRelease release;
		KanonReport report;
		Small s;

		for (size_t i = 0; i < n; i++)
			for (int c = 0; c < 4; c++)
				code[i][c] = random_below(&random, 4);
		plain_open(&s, &code[0][0], n, 4, 3, KANON_CLUSTER_SUPPRESS);
		for (uint32_t i = 0; i < s.problem->ntypes; i++)
			if (random_below(&random, 4) == 0)
				((int64_t *) s.problem->rows)[i] = 8 + random_below(&random, 4);
		assert_true(run(&s, method_named("triples"), &release, &report));
		assert_true(report.guarantee > 0 && report.detail[0] == '\0');
		(void) check_release(&s, &release);
		kanon_release_free(s.problem, &release);
		small_close(&s);
	}
}

static int
compare_codes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a;
	uint32_t y = *(const uint32_t *) b;

	return (x > y) - (x < y);
}

/* What the factor of least weight proves of one column of numbers: cycles are of rows that follow one another. */
static double
bound_of_line(uint32_t *code, size_t n)
{
	double *least = malloc((n + 1) * sizeof(double));
	double weight;

	qsort(code, n, sizeof(uint32_t), compare_codes);
	least[0] = 0;
	for (size_t to = 1; to <= n; to++)
	{
		least[to] = INFINITY;
		for (size_t rows = 3; rows <= 5 && rows <= to; rows++)
			least[to] = fmin(least[to], least[to - rows] + 2.0 * (code[to - 1] - code[to - rows]));
	}
	/* (the range begins at 0) */
	weight = least[n] / code[n - 1];
	free(least);
	return 1.5 * weight;
}

/*
 * Prices alone ask for edges between many rows of a blossom, which are of no use: each
 * would take memory, and the matching time.  What blossoms are worth is counted, and
 * rightly: no edge is left out that is of use, or the factor would not be of least weight.
 */
static void
test_triples_blossoms(void **state)
{
	enum
	{
		rows = 300
	};
	uint64_t random = 41;

	(void) state;
	for (int table = 0; table < (LEMON ? cases(20) : 0); table++)
	{
		uint32_t code[rows];
		KanonRelease release;
		KanonReport report;
		Small s;

		for (int i = 0; i < rows; i++)
		{
			uint32_t place = random_below(&random, 9000);

			code[i] = place * place / 9000;
		}
		plain_open(&s, code, rows, 1, 3, KANON_CLUSTER_RANGE);
		s.host.peak = s.host.live;
		assert_true(run(&s, method_named("triples"), &release, &report));
		(void) check_release(&s, &release);
		assert_true(report.guarantee == 2);
		assert_true(fabs(report.lower_bound - bound_of_line(code, rows)) < 1e-5);
		assert_true(report.cost <= 2 * report.lower_bound);
		assert_true(s.host.peak < 2000 * rows);
		kanon_release_free(s.problem, &release);
		small_close(&s);
	}
}

/* Rows of each class, and what the first column shows, in order. */
static void
test_mondrian(void **state)
{
	/* one column: 0 0 0 1 2 3 4 4 4 4 5 */
	static const uint32_t code[] = {0, 0, 0, 1, 2, 3, 4, 4, 4, 4, 5};
	Small s;
	KanonRelease release;
	KanonReport report;

	(void) state;
	assert_null(kanon_method_find(KANON_CLUSTER, "median"));

	/* the median is 3: 0 0 0 1 2 3 | 4 4 4 4 5; then 0 0 0 | 1 2 3, and 4 4 4 4 5 stays */
	plain_open(&s, code, 11, 1, 3, KANON_CLUSTER_RANGE);
	assert_true(run(&s, method_named("mondrian"), &release, &report));
	assert_int_equal(release.nclasses, 3);
	assert_int_equal(release.classes[0].rows, 3);
	assert_int_equal(release.cells[0].code, 0);
	assert_int_equal(release.classes[1].rows, 3);
	assert_int_equal(release.pool[release.cells[1].code], 1);
	assert_int_equal(release.pool[release.cells[1].code + 1], 3);
	assert_int_equal(release.classes[2].rows, 5);
	assert_true(fabs(report.cost - (3 * 2 / 5.0 + 5 / 5.0)) < 1e-12);
	kanon_release_free(s.problem, &release);

	/* k = 5: the lower half would be 6, the upper 5 */
	s.problem->k = 5;
	assert_true(run(&s, method_named("mondrian"), &release, &report));
	assert_int_equal(release.nclasses, 2);
	assert_int_equal(release.classes[0].rows, 6);
	kanon_release_free(s.problem, &release);
	small_close(&s);

	/* 0 0 0 0 0 0 1 1 2: what is at the median, 0, cannot go below; above is 1 1 2 */
	plain_open(&s, (uint32_t[]){0, 1, 1, 1, 1, 1, 1}, 7, 1, 2, KANON_CLUSTER_RANGE);
	assert_true(run(&s, method_named("mondrian"), &release, &report));
	assert_int_equal(release.nclasses, 1);
	kanon_release_free(s.problem, &release);

	/* relaxed deals them out: 0 1 1 | 1 1 1 1 */
	assert_true(run(&s, method_named("mondrian_relaxed"), &release, &report));
	assert_int_equal(release.nclasses, 2);
	assert_int_equal(release.classes[0].rows + release.classes[1].rows, 7);
	assert_int_equal(release.classes[0].rows, 4); /* the value 1 */
	assert_int_equal(release.classes[1].rows, 3); /* 0 to 1 */
	assert_int_equal(release.nflows, 3);
	kanon_release_free(s.problem, &release);
	small_close(&s);

	/* relaxed, all different: no class has 2k rows */
	for (int64_t k = 2; k < 9; k++)
	{
		uint32_t all[100];

		for (uint32_t i = 0; i < 100; i++)
			all[i] = i;
		plain_open(&s, all, 100, 1, k, KANON_CLUSTER_RANGE);
		assert_true(run(&s, method_named("mondrian_relaxed"), &release, &report));
		for (uint32_t i = 0; i < release.nclasses; i++)
			assert_true(release.classes[i].rows >= k && release.classes[i].rows < 2 * k);
		kanon_release_free(s.problem, &release);
		small_close(&s);
	}
}

/* One row, one type, all different: as they should, by every method. */
static void
test_edges(void **state)
{
	static const uint32_t same[] = {0, 0, 0, 0, 0, 0, 0};
	static const uint32_t different[] = {0, 1, 2, 3, 4, 5, 6};

	(void) state;
	for (const KanonMethod *method = kanon_methods(KANON_CLUSTER); method->name != NULL; method++)
		for (int64_t k = 2; k <= 3; k++)
		{
			Small s;
			KanonRelease release;
			KanonReport report;

			if (!fits(method, k))
				continue;
			plain_open(&s, same, 1, 1, k, KANON_CLUSTER_RANGE);
			assert_false(run(&s, method, &release, &report));
			small_close(&s);
			plain_open(&s, same, 7, 1, k, KANON_CLUSTER_RANGE);
			assert_true(run(&s, method, &release, &report));
			assert_int_equal(release.nclasses, 1);
			assert_true(report.cost == 0);
			kanon_release_free(s.problem, &release);
			small_close(&s);
			plain_open(&s, different, 7, 1, k, KANON_CLUSTER_SET);
			assert_true(run(&s, method, &release, &report));
			(void) check_release(&s, &release);
			assert_true(release.nclasses >= 1 && release.nclasses <= 7 / k);
			kanon_release_free(s.problem, &release);
			small_close(&s);
		}
}

/* pairs and triples have their k, their memory and their time. */
static void
test_limits(void **state)
{
	uint32_t code[90];
	Small s;
	KanonRelease release;
	KanonReport report;

	(void) state;
	for (uint32_t i = 0; i < 90; i++)
		code[i] = i * 7 % 31;
	plain_open(&s, code, 30, 3, 4, KANON_CLUSTER_SUPPRESS);
	assert_int_equal(kanon_solve_pairs(s.problem, &release, &report), KANON_TOO_LARGE);
	assert_int_equal(kanon_solve_triples(s.problem, &release, &report), KANON_TOO_LARGE);
	assert_true(strstr(report.detail, "k = 3") != NULL);
	s.problem->k = 2;
	if (!LEMON)
	{
		assert_int_equal(kanon_solve_pairs(s.problem, &release, &report), KANON_UNAVAILABLE);
		assert_true(strstr(report.detail, "LEMON") != NULL);
		small_close(&s);
		return;
	}
	s.host.env.foreign = 1000;
	assert_int_equal(kanon_solve_pairs(s.problem, &release, &report), KANON_NO_MEMORY);
	assert_true(s.host.env.refused > 1000);
	s.host.env.foreign = 0;
	assert_int_equal(kanon_solve_pairs(s.problem, &release, &report), KANON_OK);
	assert_true(report.guarantee == 2);
	kanon_release_free(s.problem, &release);
	/* no time at all: LEMON may be done before anybody looks at the clock */
	s.problem->time_limit = -1;
	assert_int_equal(kanon_solve_pairs(s.problem, &release, &report), KANON_OK);
	(void) check_release(&s, &release);
	assert_true(report.guarantee == 2 ||
				(report.guarantee == 0 && strstr(report.detail, "mondrian") != NULL));
	kanon_release_free(s.problem, &release);
	small_close(&s);
}

/* bottom_up at any time at which its time may be over: what is left is divided, and is a release. */
static void
test_late(void **state)
{
	enum
	{
		rows = 60
	};
	uint32_t code[rows * 3];
	uint64_t random = 11;
	bool late = false, done = false;

	(void) state;
	for (int i = 0; i < rows * 3; i++)
		code[i] = random_below(&random, 12);
	for (int64_t k = 2; k <= 7; k++)
		for (int t = 0; t <= 20; t++)
		{
			Small s;
			KanonRelease release;
			KanonReport report;

			plain_open(&s, code, rows, 3, k, k % 2 == 0 ? KANON_CLUSTER_SUPPRESS : KANON_CLUSTER_SET);
			s.problem->time_limit = t == 0 ? 0 : t == 20 ? INFINITY : ldexp(1e-6, t);
			assert_int_equal(kanon_solve_bottom_up(s.problem, &release, &report), KANON_OK);
			(void) check_release(&s, &release);
			late = late || strstr(report.detail, "time_limit") != NULL;
			done = done || report.detail[0] == '\0';
			kanon_release_free(s.problem, &release);
			small_close(&s);
		}
	assert_true(late && done);
}

/* bottom_up whose time is over is done at once, however many row types there are: it takes what mondrian takes. */
static void
test_late_at_once(void **state)
{
	enum
	{
		rows = 20000
	};
	uint32_t *code = malloc(sizeof(uint32_t) * rows * 4);
	uint64_t random = 5;
	uint64_t polls[2];
	Small s;

	(void) state;
	for (int i = 0; i < rows * 4; i++)
		code[i] = random_below(&random, 40);
	plain_open(&s, code, rows, 4, 2, KANON_CLUSTER_SET);
	s.problem->time_limit = -1;
	for (int i = 0; i < 2; i++)
	{
		const char *method = i == 0 ? "mondrian" : "bottom_up";
		uint64_t before = s.host.polls;
		KanonRelease release;
		KanonReport report;

		assert_int_equal(method_named(method)->solve(s.problem, &release, &report), KANON_OK);
		polls[i] = s.host.polls - before;
		assert_true(i == 0 || strstr(report.detail, "time_limit") != NULL);
		kanon_release_free(s.problem, &release);
	}
	print_message("polls of mondrian %" PRIu64 ", of bottom_up out of time %" PRIu64 "\n", polls[0],
				  polls[1]);
	assert_true(polls[1] <= 2 * polls[0] + 10);
	small_close(&s);
	free(code);
}

/*
 * Not enough memory for all edges that could be of use: the nearest are joined, and
 * nothing is promised; with ever more of it a promise is made at last.
 */
static void
test_nearest_only(void **state)
{
	enum
	{
		rows = 300
	};
	uint32_t code[rows * 3];
	uint64_t random = 5;

	(void) state;
	for (int i = 0; i < rows; i++)
		for (int c = 0; c < 3; c++)
			code[3 * i + c] = i < rows / 2 ? 40 + (uint32_t) i : random_below(&random, 40);
	for (int64_t k = 2; k <= 3 && LEMON; k++)
	{
		bool lost = false, kept = false;

		for (size_t foreign = 1 << 16; foreign < 1 << 28 && !kept; foreign += foreign / (size_t) cases(64))
		{
			Small s;
			KanonRelease release;
			KanonReport report;
			KanonStatus status;

			plain_open(&s, code, rows, 3, k, KANON_CLUSTER_SUPPRESS);
			s.host.env.foreign = foreign;
			status = method_named(k == 2 ? "pairs" : "triples")->solve(s.problem, &release, &report);
			assert_true(status == KANON_OK || status == KANON_NO_MEMORY);
			if (status == KANON_OK)
			{
				(void) check_release(&s, &release);
				assert_true((report.guarantee > 0) == (report.detail[0] == '\0'));
				lost = lost || report.guarantee == 0;
				kept = report.guarantee > 0;
				kanon_release_free(s.problem, &release);
			}
			small_close(&s);
		}
		/* what triples joins first is enough for all, or not for one each */
		assert_true(kept && (lost || k == 3));
	}
}

/* Every allocation fails once, every poll cancels once; nothing leaks. */
static void
test_failures(void **state)
{
	(void) state;
	for (const KanonMethod *method = kanon_methods(KANON_CLUSTER); method->name != NULL; method++)
		for (int table = 0; table < 3; table++)
		{
			bool done = false;

			for (uint64_t at = 1; !done; at = next_failure(at))
			{
				uint64_t random = 31 + (uint64_t) table;
				Small s;
				KanonRelease release;
				KanonReport report;
				KanonStatus status;

				small_open(&s, &random, 120, 4, 9);
				s.problem->k = strcmp(method->name, "pairs") == 0 ? 2 : 3;
				if (!fits(method, s.problem->k))
					done = true;
				s.host.refuse_at = at;
				status = method->solve(s.problem, &release, &report);
				if (status == KANON_OK)
				{
					/* pairs and triples can do with what they have */
					done = done || s.host.allocations < at;
					kanon_release_free(s.problem, &release);
				}
				else
				{
					done = done || status == KANON_INFEASIBLE;
					assert_true(status == KANON_NO_MEMORY || done);
				}
				small_close(&s);
			}
			done = false;
			for (uint64_t at = 1; !done; at = next_failure(at))
			{
				uint64_t random = 31 + (uint64_t) table;
				Small s;
				KanonRelease release;
				KanonReport report;
				KanonStatus status;

				small_open(&s, &random, 120, 4, 9);
				s.problem->k = strcmp(method->name, "pairs") == 0 ? 2 : 3;
				s.host.cancel_at = at;
				status = method->solve(s.problem, &release, &report);
				done = s.host.polls < at || status == KANON_INFEASIBLE || !fits(method, s.problem->k);
				if (status == KANON_OK)
				{
					assert_true(done);
					kanon_release_free(s.problem, &release);
				}
				else
					assert_true(status == KANON_CANCELLED || done);
				small_close(&s);
			}
		}
}

/*
 * Adult without incomplete rows, its nine columns as quasi-identifiers, k = 10, no
 * hierarchies: what an independent program in Python loses by the same rules, with
 * categories as sets, and no more than the same with the ranges that it cut to.
 */
static void
test_reference(void **state)
{
	static const struct
	{
		const char *method;
		uint32_t classes;
		double gcp;
	} expected[] = {{"mondrian", 2110, 0.0752}, {"mondrian_relaxed", 2048, 0.1436}};
	const char *data = getenv("KANON_DATA");
	const int columns[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
	char path[4096];
	Table *table;

	(void) state;
	snprintf(path, sizeof(path), "%s/adult-arx.csv", data == NULL ? "" : data);
	table = table_read(path);
	if (table == NULL)
		skip();
	/* without the header */
	for (int c = 0; c < table->ncolumns; c++)
		free(table->cell[c]);
	table->nrows--;
	memmove(table->cell, table->cell + table->ncolumns,
			table->nrows * (size_t) table->ncolumns * sizeof(char *));
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
	{
		Host host;
		KanonProblem *problem;
		KanonClusterShow show[9];
		struct KanonClusterOptions options = {show};
		KanonRelease release;
		KanonReport report;
		KanonMeasures measures;

		host_init(&host);
		problem = problem_make(&host, table, columns, 9, 2, 10);
		for (int c = 0; c < 9; c++)
			show[c] = c == 1 ? KANON_CLUSTER_RANGE : KANON_CLUSTER_SET;
		problem->cluster = &options;
		assert_int_equal(method_named(expected[i].method)->solve(problem, &release, &report), KANON_OK);
		assert_int_equal(kanon_measure(problem, &release, &measures, NULL), KANON_OK);
		assert_int_equal(release.nclasses, expected[i].classes);
		print_message("%s: GCP %.2f %%, %.3f s\n", expected[i].method, 100 * measures.gcp, report.seconds);
		assert_true(fabs(measures.gcp - expected[i].gcp) < 0.006);
		kanon_release_free(problem, &release);
		problem_free(problem);
	}
	table_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guarantees),
		cmocka_unit_test(test_forest_sizes),
		cmocka_unit_test(test_triples_crowded),
		cmocka_unit_test(test_triples_blossoms),
		cmocka_unit_test(test_larger),
		cmocka_unit_test(test_mondrian),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_late_at_once),
		cmocka_unit_test(test_nearest_only),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
