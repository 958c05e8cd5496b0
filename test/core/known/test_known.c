/*
 * test_known.c: releases against somebody who knows few columns: the promise by its definition, nothing blank that
 * could be shown, and the least of all on tables so small that every release can be tried.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "known/known.h"

#define MOST_COLUMNS 6
#define MOST_ROWS 60
#define MOST_SETS 2

#ifdef HAVE_GLPK
#define TRY_ILP kanon_solve_known_ilp
#else
#define TRY_ILP kanon_solve_known_improve
#endif

typedef struct Case
{
	Host host;
	KanonProblem *problem;
	KanonColumn columns[MOST_COLUMNS];
	KanonKnownSet sets[MOST_SETS];
	KanonKnown known;
	bool shown[MOST_ROWS][MOST_COLUMNS]; /* by row type */
	bool masked;                         /* not every pattern is allowed */
	uint32_t person[MOST_ROWS];          /* whose rows a type has, where persons count */
} Case;

static void
case_init(Case *self, uint64_t *random, size_t most_rows, int most_columns, bool weights)
{
	uint32_t code[MOST_ROWS * MOST_COLUMNS];
	size_t nrows = 1 + random_below(random, (uint32_t) most_rows);
	int ncolumns = 1 + (int) random_below(random, (uint32_t) most_columns);

	memset(self, 0, sizeof(*self));
	host_init(&self->host);
	for (int c = 0; c < ncolumns; c++)
	{
		uint32_t values = 1 + random_below(random, 4);

		for (size_t r = 0; r < nrows; r++)
			code[r * (size_t) ncolumns + (size_t) c] = random_below(random, values);
	}
	self->problem = problem_from_codes(&self->host, code, nrows, ncolumns, 2 + random_below(random, 3));
	self->problem->time_limit = INFINITY;
	self->problem->residual = KANON_RESIDUAL_SUPPRESS;
	memcpy(self->columns, self->problem->columns, (size_t) ncolumns * sizeof(KanonColumn));
	for (int c = 0; c < ncolumns; c++)
	{
		self->columns[c].has_null = random_below(random, 3) == 0;
		if (weights)
			self->columns[c].weight = random_below(random, 4);
	}
	self->known =
		(KanonKnown){.most = 1 + (int) random_below(random, 3),
					 .k = self->problem->k,
					 .sets = self->sets,
					 .missing = random_below(random, 3) == 0 ? KANON_MISSING_VALUE : KANON_MISSING_ASIDE};
	self->known.nsets = (int) random_below(random, MOST_SETS + 1);
	for (int s = 0; s < self->known.nsets; s++)
		self->sets[s] =
			(KanonKnownSet){random_columns(random, ncolumns), 2 + (int64_t) random_below(random, 4)};
}

static KanonStatus
solve_by(KanonSolve by, Case *self, KanonRelease *release, KanonReport *report)
{
	KanonProblem problem = *self->problem;

	problem.columns = self->columns;
	problem.known = &self->known;
	problem.effort = 1;
	return by(&problem, release, report);
}

static KanonStatus
solve(Case *self, KanonRelease *release, KanonReport *report)
{
	return solve_by(kanon_solve_known_greedy, self, release, report);
}

static void
case_free(Case *self, KanonRelease *release)
{
	kanon_release_free(self->problem, release);
	assert_int_equal(self->host.blocks, 0);
	problem_free(self->problem);
}

/* Has the cell no value?  NULL may be one. */
static bool
is_null(const Case *self, uint32_t type, int c)
{
	return self->known.missing != KANON_MISSING_VALUE && self->columns[c].has_null &&
		   self->columns[c].code[type] == self->columns[c].distinct - 1;
}

/* What is shown of each row type, which has one flow; cells show the source's values. */
static void
read_release(Case *self, const KanonRelease *release)
{
	assert_int_equal(release->nflows, self->problem->ntypes);
	for (size_t f = 0; f < release->nflows; f++)
	{
		const KanonFlow *flow = &release->flows[f];

		assert_int_equal(flow->rows, self->problem->rows[flow->type]);
		for (int c = 0; c < self->problem->ncolumns; c++)
		{
			KanonCell cell = release->cells[flow->class_ * (size_t) self->problem->ncolumns + (size_t) c];

			self->shown[flow->type][c] = cell.show == KANON_SHOW_VALUE && !is_null(self, flow->type, c);
			if (cell.show == KANON_SHOW_VALUE)
				assert_int_equal(cell.code, self->columns[c].code[flow->type]);
			else
				assert_true(self->masked || !is_null(self, flow->type, c));
		}
	}
}

static int64_t
wanted(const Case *self, unsigned set)
{
	int64_t k = __builtin_popcount(set) <= self->known.most ? self->known.k : 0;

	for (int s = 0; s < self->known.nsets; s++)
		if ((set & ~self->sets[s].columns.word[0]) == 0 && self->sets[s].k > k)
			k = self->sets[s].k;
	return k;
}

/* Each row type is of one of few persons, who count. */
static void
count_persons(Case *self, uint64_t *random)
{
	for (uint32_t i = 0; i < self->problem->ntypes; i++)
		self->person[i] = random_below(random, 6);
	self->known.person = self->person;
	self->known.npersons = 6;
}

/* Does each combination that this row type shows have enough rows, or persons? */
static bool
keeps(const Case *self, uint32_t type)
{
	for (unsigned set = 1; set < 1U << self->problem->ncolumns; set++)
	{
		int64_t rows = 0;
		unsigned met = 0;
		bool whole = true;

		for (int c = 0; c < self->problem->ncolumns; c++)
			whole = whole && ((set >> c & 1) == 0 || self->shown[type][c]);
		if (!whole || wanted(self, set) == 0)
			continue;
		for (uint32_t other = 0; other < self->problem->ntypes; other++)
		{
			bool same = true;

			for (int c = 0; c < self->problem->ncolumns && same; c++)
				same = (set >> c & 1) == 0 ||
					   (self->known.missing == KANON_MISSING_ANY && !self->shown[other][c]) ||
					   (self->shown[other][c] && self->columns[c].code[other] == self->columns[c].code[type]);
			rows += same ? self->problem->rows[other] : 0;
			met |= same ? 1U << self->person[other] : 0;
		}
		rows = self->known.person != NULL ? __builtin_popcount(met) : rows;
		if (rows < wanted(self, set))
			return false;
	}
	return true;
}

static bool
all_keep(const Case *self)
{
	for (uint32_t type = 0; type < self->problem->ntypes; type++)
		if (!keeps(self, type))
			return false;
	return true;
}

static double
cost(const Case *self)
{
	double sum = 0;

	for (uint32_t type = 0; type < self->problem->ntypes; type++)
		for (int c = 0; c < self->problem->ncolumns; c++)
			if (!self->shown[type][c] && !is_null(self, type, c))
				sum += self->columns[c].weight * (double) self->problem->rows[type];
	return sum;
}

/* No blank cell could be shown, all others as they are. */
static void
check_greatest(Case *self)
{
	for (uint32_t type = 0; type < self->problem->ntypes; type++)
		for (int c = 0; c < self->problem->ncolumns; c++)
			if (!self->shown[type][c] && !is_null(self, type, c))
			{
				self->shown[type][c] = true;
				assert_false(keeps(self, type));
				self->shown[type][c] = false;
			}
}

/* The same where a blank cell agrees with all: shown, it would break what others show, too. */
static void
check_nothing_fits(Case *self)
{
#ifndef KNOWN_MOST_FEW
	for (uint32_t type = 0; type < self->problem->ntypes; type++)
		for (int c = 0; c < self->problem->ncolumns; c++)
			if (!self->shown[type][c] && !is_null(self, type, c))
			{
				self->shown[type][c] = true;
				assert_false(all_keep(self));
				self->shown[type][c] = false;
			}
#else
	(void) self; /* more combinations are few than are kept: nothing comes back */
#endif
}

/* Rules or a list of what may be blank: the promise holds, and each row's pattern is allowed. */
static void
test_masks(void **state)
{
	uint64_t random = 4711;
	int strict = 0;

	(void) state;
	for (int n = 0; n < cases(3000); n++)
	{
		KanonPattern list[3];
		KanonRule rules[2];
		KanonRelease release;
		KanonReport report;
		Case self;
		KanonMask *mask;

		case_init(&self, &random, MOST_ROWS, MOST_COLUMNS, true);
		mask = &self.problem->mask;
		self.masked = true;
		for (int i = 0; i < 3; i++)
			list[i] = random_columns(&random, self.problem->ncolumns);
		if (random_below(&random, 2) == 0)
		{
			mask->list = list;
			mask->nlist = 1 + random_below(&random, 3);
			mask->order = KANON_ORDER_GIVEN;
		}
		else
		{
			for (int r = 0; r < 2; r++)
				rules[r] = (KanonRule){(KanonRuleKind) random_below(&random, 3), list[r], list[2]};
			mask->rules = rules;
			mask->nrules = (int) random_below(&random, 3);
			if (random_below(&random, 2) == 0)
				mask->never = kanon_only((int) random_below(&random, (uint32_t) self.problem->ncolumns));
			if (random_below(&random, 3) == 0)
				mask->max_suppressed = (int) random_below(&random, 3);
		}
		assert_int_equal(solve(&self, &release, &report), KANON_OK);
		read_release(&self, &release);
		assert_true(all_keep(&self));
		for (uint32_t c = 0; c < release.nclasses; c++)
		{
			KanonProblem problem = *self.problem;

			problem.columns = self.columns;
			assert_true(fixture_allows(&problem, release.classes[c].pattern));
			strict += !kanon_same(release.classes[c].pattern, kanon_pattern_all(self.problem->ncolumns));
		}
		mask->list = NULL;
		mask->rules = NULL;
		case_free(&self, &release);
	}
	assert_true(strict > cases(3000) / 2);
}

static void
test_promise(void **state)
{
	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		uint64_t random = 48000 + (uint64_t) i;
		Case self;
		KanonRelease release;
		KanonReport report;

		case_init(&self, &random, MOST_ROWS, MOST_COLUMNS, i % 2 == 0);
		assert_int_equal(solve(&self, &release, &report), KANON_OK);
		read_release(&self, &release);
		assert_true(all_keep(&self));
		assert_true(fabs(report.cost - cost(&self)) < 1e-6);
		check_greatest(&self);
		case_free(&self, &release);
	}
}

/* Every release of a tiny table: a bit for each cell. */
static double
least_cost(Case *self)
{
	int n = self->problem->ncolumns, cells = (int) self->problem->ntypes * n;
	double least = INFINITY;

	for (unsigned blank = 0; blank < 1U << cells; blank++)
	{
		double sum;

		for (int i = 0; i < cells; i++)
			self->shown[i / n][i % n] = (blank >> i & 1) == 0 && !is_null(self, (uint32_t) (i / n), i % n);
		sum = cost(self);
		if (sum < least && all_keep(self))
			least = sum;
	}
	return least;
}

/* What each method comes to, added up. */
typedef struct Sums
{
	double greedy, improve, least;
} Sums;

static void
say_sums(const Sums *sums)
{
	print_message("the least is %g, improve %.2f %% more, greedy %.2f %%\n", sums->least,
				  100 * (sums->improve / sums->least - 1), 100 * (sums->greedy / sums->least - 1));
	assert_true(sums->greedy <= 1.1 * sums->least);
}

/* What the method says of its release is true; the release goes. */
static KanonReport
solve_checked(KanonSolve by, Case *self)
{
	KanonRelease release;
	KanonReport report;

	assert_int_equal(solve_by(by, self, &release, &report), KANON_OK);
	read_release(self, &release);
	assert_true(all_keep(self));
	assert_true(fabs(report.cost - cost(self)) < 1e-6);
	kanon_release_free(self->problem, &release);
	return report;
}

/* The proven least is what all releases tried come to; no bound is above it; greedy is near. */
static void
test_least(void **state)
{
	Sums sums = {0};

	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		uint64_t random = 90210 + (uint64_t) i;
		Case self;
		KanonRelease none = {0};
		KanonReport greedy, improve, ilp;
		double found;

		case_init(&self, &random, 8, 3, i % 2 == 0);
		if (i % 3 == 0)
			count_persons(&self, &random);
		greedy = solve_checked(kanon_solve_known_greedy, &self);
		improve = solve_checked(kanon_solve_known_improve, &self);
		ilp = solve_checked(TRY_ILP, &self);
		assert_true(improve.cost <= greedy.cost + 1e-9 && improve.lower_bound <= ilp.cost + 1e-6);
		if (self.problem->ntypes * (uint32_t) self.problem->ncolumns <= 12)
		{
			found = least_cost(&self);
			assert_true(ilp.cost >= found - 1e-6 && improve.lower_bound <= found + 1e-6);
#ifdef HAVE_GLPK
			assert_true(ilp.proven && ilp.cost <= found + 1e-6);
#endif
			sums.greedy += greedy.cost;
			sums.improve += improve.cost;
			sums.least += found;
		}
		case_free(&self, &none);
	}
	say_sums(&sums);
}

/* The same of tables that are too large to try all releases. */
/* A blank cell agrees with every value: the promise by its definition, and how far from the least of all. */
static void
test_any(void **state)
{
	uint64_t random = 4812;
	double least_sum = 0, greedy_sum = 0;

	(void) state;
	for (int n = 0; n < cases(2000); n++)
	{
		KanonRelease release;
		KanonReport report;
		Case self;

		case_init(&self, &random, n % 2 == 0 ? MOST_ROWS : 6, n % 2 == 0 ? MOST_COLUMNS : 3, n % 4 == 0);
		self.known.missing = KANON_MISSING_ANY;
		assert_int_equal(solve(&self, &release, &report), KANON_OK);
		read_release(&self, &release);
		assert_true(all_keep(&self));
		assert_true(fabs(report.cost - cost(&self)) < 1e-6);
		check_nothing_fits(&self);
		if (n % 4 == 1 && self.problem->ntypes * (uint32_t) self.problem->ncolumns <= 12)
		{
			greedy_sum += report.cost;
			least_sum += least_cost(&self);
		}
		case_free(&self, &release);
	}
	printf("blank cells that agree with all: greedy %.2f %% above the least\n",
		   100 * (greedy_sum / least_sum - 1));
	assert_true(greedy_sum <= 1.1 * least_sum);
}

static void
test_near_least(void **state)
{
	Sums sums = {0};

	(void) state;
	for (int i = 0; i < cases(200); i++)
	{
		uint64_t random = 4100 + (uint64_t) i;
		Case self;
		KanonRelease none = {0};
		KanonReport greedy, improve, ilp;

		case_init(&self, &random, 30, 4, false);
		greedy = solve_checked(kanon_solve_known_greedy, &self);
		improve = solve_checked(kanon_solve_known_improve, &self);
		self.problem->time_limit = 1;
		ilp = solve_checked(TRY_ILP, &self);
		assert_true(ilp.cost <= greedy.cost + 1e-6 && ilp.lower_bound <= ilp.cost + 1e-6);
		assert_true(improve.lower_bound <= ilp.cost + 1e-6);
		if (ilp.proven)
		{
			sums.greedy += greedy.cost;
			sums.improve += improve.cost;
			sums.least += ilp.cost;
		}
		case_free(&self, &none);
	}
	say_sums(&sums);
}

/* What was shown of rows before: so many of each row type, and a class of its own for each. */
typedef struct Before
{
	KanonPrevious previous;
	KanonPattern pattern[MOST_ROWS];
	KanonFlow flows[MOST_ROWS];
	int64_t rows[MOST_ROWS]; /* by row type, of those that are there still */
	uint32_t became[MOST_ROWS];
} Before;

static void
before_init(Before *self, const Case *of, uint64_t *random)
{
	const KanonProblem *problem = of->problem;

	memset(self, 0, sizeof(*self));
	self->previous = (KanonPrevious){.pattern = self->pattern, .flows = self->flows, .became = self->became};
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		int64_t rows = random_below(random, (uint32_t) problem->rows[i] + 2);
		uint32_t n = self->previous.nclasses;

		if (rows == 0)
			continue;
		self->rows[i] = rows < problem->rows[i] ? rows : problem->rows[i];
		self->flows[n] = (KanonFlow){i, n, rows};
		for (int c = 0; c < problem->ncolumns; c++)
			if (random_below(random, 4) == 0)
				kanon_add(&self->pattern[n], c);
		self->previous.nclasses++;
		self->previous.nflows++;
	}
}

static KanonStatus
solve_near(Case *self, const Before *before, KanonRelease *release, KanonReport *report)
{
	KanonProblem problem = *self->problem;

	problem.columns = self->columns;
	problem.known = &self->known;
	return kanon_solve_known_near(&problem, &before->previous, release, report);
}

/* The promise holds for all rows, and for those that were there before among themselves; these show no more than before. */
static void
check_near(Case *self, const Before *before)
{
	const int64_t *rows = self->problem->rows;
	bool shown[MOST_ROWS][MOST_COLUMNS];

	assert_true(all_keep(self));
	for (size_t f = 0; f < before->previous.nflows; f++)
		KANON_EACH (c, before->pattern[f])
			assert_false(self->shown[before->flows[f].type][c]);
	memcpy(shown, self->shown, sizeof(shown));
	for (uint32_t i = 0; i < self->problem->ntypes; i++)
		if (before->rows[i] == 0)
			memset(self->shown[i], 0, sizeof(self->shown[i]));
	self->problem->rows = before->rows;
	assert_true(all_keep(self));
	self->problem->rows = rows;
	memcpy(self->shown, shown, sizeof(shown));
}

static void
test_near(void **state)
{
	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		uint64_t random = 7700 + (uint64_t) i;
		Case self;
		Before before;
		KanonRelease release;
		KanonReport report;

		case_init(&self, &random, MOST_ROWS, MOST_COLUMNS, i % 2 == 0);
		before_init(&before, &self, &random);
		assert_int_equal(solve_near(&self, &before, &release, &report), KANON_OK);
		read_release(&self, &release);
		check_near(&self, &before);
		assert_true(fabs(report.cost - cost(&self)) < 1e-6);
		case_free(&self, &release);
	}
}

/* Rows that are all there still show just what they showed, whoever comes. */
static void
test_stays(void **state)
{
	(void) state;
	for (int i = 0; i < cases(1000); i++)
	{
		uint64_t random = 6600 + (uint64_t) i;
		Case self;
		Before before;
		KanonRelease release;
		KanonReport report;
		int64_t *rows;
		const int64_t *now;
		bool shown[MOST_ROWS][MOST_COLUMNS];

		case_init(&self, &random, MOST_ROWS, MOST_COLUMNS, i % 2 == 0);
		now = self.problem->rows;
		rows = malloc(self.problem->ntypes * sizeof(int64_t));
		for (uint32_t t = 0; t < self.problem->ntypes; t++)
			rows[t] = 1 + random_below(&random, (uint32_t) now[t]);
		self.problem->rows = rows;
		assert_int_equal(solve(&self, &release, &report), KANON_OK);
		read_release(&self, &release);
		kanon_release_free(self.problem, &release);
		memcpy(shown, self.shown, sizeof(shown));
		memset(&before, 0, sizeof(before));
		before.previous = (KanonPrevious){.pattern = before.pattern, .flows = before.flows};
		for (uint32_t t = 0; t < self.problem->ntypes; t++)
		{
			before.pattern[t] = KANON_NONE;
			for (int c = 0; c < self.problem->ncolumns; c++)
				if (!shown[t][c] && !is_null(&self, t, c))
					kanon_add(&before.pattern[t], c);
			before.flows[t] = (KanonFlow){t, t, rows[t]};
			before.previous.nclasses++;
			before.previous.nflows++;
		}
		self.problem->rows = now;
		assert_int_equal(solve_near(&self, &before, &release, &report), KANON_OK);
		read_release(&self, &release);
		assert_memory_equal(shown, self.shown, sizeof(shown));
		free(rows);
		case_free(&self, &release);
	}
}

static void
test_failures(void **state)
{
	(void) state;
	for (int i = 0; i < cases(20); i++)
		for (int how = 0; how < 8; how++)
		{
			Failure failure = {.how = how % 2 == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

			while (fails_again(&failure))
			{
				uint64_t random = 5500 + (uint64_t) i;
				Case self;
				Before before;
				KanonRelease release;
				KanonReport report;

				case_init(&self, &random, how < 4 ? MOST_ROWS : 8, how < 4 ? MOST_COLUMNS : 3, true);
				before_init(&before, &self, &random);
				if (how >= 4 && i % 2 == 0)
					count_persons(&self, &random);
				fail_at(&self.host, &failure);
				failure.status = how < 2   ? solve(&self, &release, &report)
								 : how < 4 ? solve_near(&self, &before, &release, &report)
								 : how < 6 ? solve_by(kanon_solve_known_improve, &self, &release, &report)
										   : solve_by(TRY_ILP, &self, &release, &report);
				if (failure.status == KANON_OK)
				{
					read_release(&self, &release);
					assert_true(all_keep(&self));
				}
				case_free(&self, &release);
			}
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_promise), cmocka_unit_test(test_masks),      cmocka_unit_test(test_any),
		cmocka_unit_test(test_least),   cmocka_unit_test(test_near_least), cmocka_unit_test(test_near),
		cmocka_unit_test(test_stays),   cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
