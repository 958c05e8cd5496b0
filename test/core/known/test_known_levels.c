/*
 * test_known_levels.c: somebody who knows few columns, where values have levels, and where persons are counted: the promise
 * by its definition; the node of the full-domain model against every node; what stays near another release.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "known/known.h"
#include "lattice/full_domain.h"
#include "privacy/rules.h"

#define MOST_QIS 4
#define MOST_COLUMNS 12
#define MOST_ROWS 40

typedef struct Case
{
	Host host;
	KanonProblem *problem;
	KanonProblem with; /* as it is solved */
	KanonColumn columns[MOST_COLUMNS];
	KanonKnown known;
	KanonKnownSet set;
	uint32_t person[MOST_ROWS];
	KanonColumn persons; /* of these */
	bool counts_persons;
	int nqis;
	int first[MOST_QIS + 1];
	int64_t shown[MOST_ROWS][MOST_QIS]; /* by row type: level and value, -1: nothing */
	bool gone[MOST_ROWS];               /* nothing of it is shown */
} Case;

static void
case_init(Case *self, uint64_t *random, bool persons)
{
	int qis = 1 + (int) random_below(random, MOST_QIS);

	memset(self, 0, sizeof(*self));
	host_init(&self->host);
	self->problem = problem_random_levels(&self->host, random, 1 + random_below(random, MOST_ROWS), qis,
										  2 + (int) random_below(random, 2), 2);
	self->with = *self->problem;
	memcpy(self->columns, self->problem->columns, (size_t) self->with.ncolumns * sizeof(KanonColumn));
	self->with.columns = self->columns;
	self->with.time_limit = INFINITY;
	self->with.effort = 1;
	self->with.k = 2 + random_below(random, 3);
	self->with.residual = KANON_RESIDUAL_SUPPRESS;
	self->nqis = kanon_count_qis(&self->with);
	for (int q = 0; q <= self->nqis; q++)
		self->first[q] = kanon_first_column(&self->with, q);
	for (int q = 0; q < self->nqis; q++)
		if (random_below(random, 4) == 0)
		{
			/* the last value of each level is none: those within it have none either */
			const KanonColumn *top = &self->columns[self->first[q + 1] - 1];
			bool all = true;

			for (uint32_t i = 0; i < self->with.ntypes; i++)
				for (int c = self->first[q]; c < self->first[q + 1]; c++)
					all = all && (top->code[i] == top->distinct - 1) ==
									 (self->columns[c].code[i] == self->columns[c].distinct - 1);
			for (int c = self->first[q]; c < self->first[q + 1] && all; c++)
				self->columns[c].has_null = true;
		}
	self->known =
		(KanonKnown){.most = 1 + (int) random_below(random, 3),
					 .k = self->with.k,
					 .sets = &self->set,
					 .nsets = (int) random_below(random, 2),
					 .missing = random_below(random, 3) == 0 ? KANON_MISSING_VALUE : KANON_MISSING_ASIDE};
	self->set = (KanonKnownSet){random_columns(random, self->nqis), 2 + (int64_t) random_below(random, 4)};
	self->with.known = &self->known;
	self->counts_persons = persons;
	for (uint32_t i = 0; i < self->with.ntypes; i++)
		self->person[i] = random_below(random, 12);
	if (persons)
	{
		self->known.person = self->person;
		self->known.npersons = 12;
	}
}

static void
case_free(Case *self, KanonRelease *release)
{
	kanon_release_free(&self->with, release);
	assert_int_equal(self->host.blocks, 0);
	problem_random_free(self->problem);
}

static bool
is_null(const Case *self, int c, uint32_t type)
{
	return self->columns[c].has_null && self->columns[c].code[type] == self->columns[c].distinct - 1;
}

/* Is NULL a value? */
static bool
is_value(const Case *self)
{
	return self->known.missing == KANON_MISSING_VALUE;
}

/* A class shows each row type's own values, at one level. */
static void
read_release(Case *self, const KanonRelease *release)
{
	size_t width = (size_t) self->with.ncolumns;

	assert_int_equal(release->nflows, self->with.ntypes);
	for (size_t f = 0; f < release->nflows; f++)
	{
		const KanonFlow *flow = &release->flows[f];
		bool any = false;

		assert_int_equal(flow->rows, self->with.rows[flow->type]);
		for (int q = 0; q < self->nqis; q++)
		{
			int64_t shown = -1;

			for (int c = self->first[q + 1] - 1; c >= self->first[q]; c--)
			{
				KanonCell cell = release->cells[flow->class_ * width + (size_t) c];

				if (cell.show == KANON_SHOW_NOTHING)
					continue;
				assert_int_equal(cell.code, self->columns[c].code[flow->type]);
				shown = !is_value(self) && is_null(self, c, flow->type)
							? -1
							: (int64_t) (c - self->first[q]) << 32 | cell.code;
			}
			self->shown[flow->type][q] = shown;
			any = any || shown >= 0;
		}
		self->gone[flow->type] = !any;
	}
}

static int64_t
wanted(const Case *self, unsigned set)
{
	int64_t k = __builtin_popcount(set) <= self->known.most ? self->with.k : 0;

	if (self->known.nsets > 0 && (set & ~self->set.columns.word[0]) == 0 && self->set.k > k)
		k = self->set.k;
	return k;
}

/* Do enough rows, or persons, show each combination that this row type shows? */
static bool
keeps(const Case *self, uint32_t type, const int64_t *rows)
{
	for (unsigned set = 1; set < 1U << self->nqis; set++)
	{
		int64_t found = 0;
		unsigned met = 0;
		bool whole = true;

		for (int q = 0; q < self->nqis; q++)
			whole = whole && ((set >> q & 1) == 0 || self->shown[type][q] >= 0);
		if (!whole || wanted(self, set) == 0)
			continue;
		for (uint32_t other = 0; other < self->with.ntypes; other++)
		{
			bool same = rows[other] > 0;

			for (int q = 0; q < self->nqis && same; q++)
				same = (set >> q & 1) == 0 || self->shown[other][q] == self->shown[type][q];
			if (same && self->counts_persons)
				met |= 1U << self->person[other];
			found += same ? rows[other] : 0;
		}
		if (self->counts_persons)
			found = __builtin_popcount(met);
		if (found < wanted(self, set))
			return false;
	}
	return true;
}

static bool
all_keep(const Case *self, const int64_t *rows)
{
	for (uint32_t type = 0; type < self->with.ntypes; type++)
		if (rows[type] > 0 && !keeps(self, type, rows))
			return false;
	return true;
}

/* Cells by themselves: the promise, the cost, and never more than blank cells alone cost. */
static void
test_cells(void **state)
{
	double coarser = 0, blank = 0;

	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		uint64_t random = 88000 + (uint64_t) i;
		KanonRelease release;
		KanonReport report, improve;
		Case self;
		KanonColumn values[MOST_QIS];
		KanonProblem flat;

		case_init(&self, &random, i % 3 == 0);
		assert_int_equal(kanon_solve_known_improve(&self.with, &release, &improve), KANON_OK);
		read_release(&self, &release);
		assert_true(all_keep(&self, self.with.rows));
		assert_true(improve.lower_bound <= improve.cost + 1e-9);
		kanon_release_free(&self.with, &release);
		assert_int_equal(kanon_solve_known_turn(&self.with, 0, &release, &report), KANON_OK);
		read_release(&self, &release);
		assert_true(all_keep(&self, self.with.rows));
		assert_true(improve.cost <= report.cost + 1e-9);
		kanon_release_free(&self.with, &release);
		/* the same without levels: blank cells cost all of them */
		flat = self.with;
		flat.ncolumns = self.nqis;
		flat.columns = values;
		for (int q = 0; q < self.nqis; q++)
		{
			values[q] = self.columns[self.first[q]];
			for (int c = self.first[q] + 1; c < self.first[q + 1]; c++)
				values[q].weight += self.columns[c].weight;
		}
		coarser += report.cost;
		assert_int_equal(kanon_solve_known_turn(&flat, 0, &release, &report), KANON_OK);
		blank += report.cost;
		kanon_release_free(&flat, &release);
		memset(&release, 0, sizeof(release));
		case_free(&self, &release);
	}
	print_message("with levels %.1f %% of what blank cells alone cost\n", 100 * coarser / blank);
	assert_true(coarser < 0.95 * blank);
}

/* ---- one level for all rows ---- */

/* Shows the node, and suppresses rows that break the promise until none does; how many. */
static int64_t
suppressed_at(Case *self, KanonPattern node)
{
	int64_t rows[MOST_ROWS], gone = 0;
	bool any = true;

	memcpy(rows, self->with.rows, self->with.ntypes * sizeof(int64_t));
	for (uint32_t i = 0; i < self->with.ntypes; i++)
		for (int q = 0; q < self->nqis; q++)
		{
			int c = self->first[q];

			while (c < self->first[q + 1] && kanon_has(node, c))
				c++;
			self->shown[i][q] = c == self->first[q + 1] || is_null(self, c, i)
									? -1
									: (int64_t) (c - self->first[q]) << 32 | self->columns[c].code[i];
		}
	while (any)
	{
		any = false;
		for (uint32_t i = 0; i < self->with.ntypes; i++)
			if (rows[i] > 0 && !keeps(self, i, rows))
			{
				gone += rows[i];
				rows[i] = 0;
				any = true;
			}
	}
	return gone;
}

/* Every node of the lattice, explored, says how many rows it suppresses, and the release keeps the promise. */
static void
test_nodes(void **state)
{
	(void) state;
	for (int i = 0; i < cases(1000); i++)
	{
		uint64_t random = 99100 + (uint64_t) i;
		KanonFullDomainOptions options = {.suppression_limit = (i % 5) / 8.0,
										  .metric = (KanonMetric) (i % 6),
										  .search = (KanonSearch) (i % 4),
										  .explore = i % 3 > 0};
		KanonOutcome outcome;
		KanonRelease release;
		KanonReport report;
		Case self;
		KanonStatus status;
		int64_t all = 0, limit;

		case_init(&self, &random, i % 3 == 0);
		self.known.missing = KANON_MISSING_ASIDE; /* of nodes NULL as a value is more */
		for (uint32_t t = 0; t < self.with.ntypes; t++)
			all += self.with.rows[t];
		limit = (int64_t) floor(options.suppression_limit * (double) all + 1e-9);
		self.with.full_domain = &options;
		status = kanon_solve_full_domain(&self.with, &outcome, &release, &report);
		assert_int_equal(status, KANON_OK);
		read_release(&self, &release);
		assert_true(all_keep(&self, self.with.rows));
		assert_int_equal(outcome.best.suppressed, suppressed_at(&self, outcome.best.pattern));
		for (int64_t n = 0; n < (options.explore ? outcome.nodes : 0); n++)
		{
			const KanonNode *node = &outcome.all[n];
			int64_t suppressed = suppressed_at(&self, node->pattern);

			assert_int_equal(node->fulfils, suppressed <= limit);
			if (node->checked)
				assert_int_equal(node->suppressed, suppressed);
			if (node->fulfils && options.metric != KANON_METRIC_PRECISION)
				assert_true(outcome.best.metric <= node->metric + 1e-9);
		}
		kanon_free(&self.host.env, outcome.all);
		case_free(&self, &release);
	}
}

/* ---- near another release ---- */

typedef struct Before
{
	KanonPrevious previous;
	KanonPattern pattern[MOST_ROWS];
	KanonFlow flows[MOST_ROWS];
	int64_t rows[MOST_ROWS];
	uint32_t became[MOST_ROWS];
} Before;

/* node: all classes are of one, or blank. */
static void
before_init(Before *self, const Case *of, uint64_t *random, bool node)
{
	KanonPattern all = kanon_pattern_all(of->with.ncolumns), common = KANON_NONE;

	memset(self, 0, sizeof(*self));
	self->previous = (KanonPrevious){.pattern = self->pattern, .flows = self->flows, .became = self->became};
	for (int q = 0; q < of->nqis; q++)
		for (int c = of->first[q]; c < of->first[q + 1] && random_below(random, 3) == 0; c++)
			kanon_add(&common, c);
	for (uint32_t i = 0; i < of->with.ntypes; i++)
	{
		int64_t rows = random_below(random, (uint32_t) of->with.rows[i] + 2);
		uint32_t n = self->previous.nclasses;

		if (rows == 0)
			continue;
		self->rows[i] = rows < of->with.rows[i] ? rows : of->with.rows[i];
		self->flows[n] = (KanonFlow){i, n, self->rows[i]};
		for (int q = 0; q < of->nqis && !node; q++)
			for (int c = of->first[q]; c < of->first[q + 1] && random_below(random, 3) == 0; c++)
				kanon_add(&self->pattern[n], c);
		if (node)
			self->pattern[n] = random_below(random, 4) == 0 ? all : common;
		self->previous.nclasses++;
		self->previous.nflows++;
	}
}

/* The promise for all rows, and for those that were there before among themselves, who show no more than before. */
static void
check_near(Case *self, const Before *before)
{
	assert_true(all_keep(self, self->with.rows) && all_keep(self, before->rows));
	for (size_t f = 0; f < before->previous.nflows; f++)
		for (int q = 0; q < self->nqis; q++)
		{
			int level = 0;

			while (level < self->first[q + 1] - self->first[q] &&
				   kanon_has(before->pattern[f], self->first[q] + level))
				level++;
			assert_true(self->shown[before->flows[f].type][q] < 0 ||
						self->shown[before->flows[f].type][q] >> 32 >= level);
		}
}

static void
test_near(void **state)
{
	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		uint64_t random = 77100 + (uint64_t) i;
		bool node = i % 2 == 0;
		KanonFullDomainOptions options = {.suppression_limit = 1, .metric = (KanonMetric) (i % 6)};
		KanonOutcome outcome = {0};
		KanonRelease release;
		KanonReport report;
		Before before;
		Case self;

		case_init(&self, &random, i % 3 == 0);
		before_init(&before, &self, &random, node);
		self.known.missing = node ? KANON_MISSING_ASIDE : self.known.missing;
		options.previous = &before.previous;
		self.with.full_domain = &options;
		assert_int_equal(node ? kanon_solve_full_domain(&self.with, &outcome, &release, &report)
							  : kanon_solve_known_near(&self.with, &before.previous, &release, &report),
						 KANON_OK);
		read_release(&self, &release);
		check_near(&self, &before);
		case_free(&self, &release);
	}
}

/* Patterns in a list, or rules: every class has an allowed one, whether the release stays near another or not. */
static void
test_masks(void **state)
{
	int strict = 0;

	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		uint64_t random = 66100 + (uint64_t) i;
		KanonPattern list[4];
		KanonRule rule;
		KanonMask *mask;
		KanonRelease release;
		KanonReport report;
		Before before;
		Case self;

		case_init(&self, &random, i % 3 == 0);
		before_init(&before, &self, &random, false);
		mask = &self.with.mask;
		for (int l = 0; l < 4; l++)
		{
			list[l] = KANON_NONE;
			for (int q = 0; q < self.nqis; q++)
				for (int c = self.first[q]; c < self.first[q + 1] && random_below(&random, 2) == 0; c++)
					kanon_add(&list[l], c);
		}
		if (i % 2 == 0)
		{
			mask->list = list;
			mask->nlist = 1 + random_below(&random, 4);
			mask->order = KANON_ORDER_GIVEN;
		}
		else
		{
			/* rules are about suppression: the last level */
			int one = self.first[1 + random_below(&random, (uint32_t) self.nqis)] - 1;
			int other = self.first[1 + random_below(&random, (uint32_t) self.nqis)] - 1;

			rule = (KanonRule){(KanonRuleKind) random_below(&random, 3), kanon_only(one), kanon_only(other)};
			mask->rules = &rule;
			mask->nrules = (int) random_below(&random, 2);
			if (random_below(&random, 2) == 0)
				mask->never = kanon_only(one);
			if (random_below(&random, 3) == 0)
				mask->max_suppressed = (int) random_below(&random, 3);
		}
		assert_int_equal(i % 4 < 2 ? kanon_solve_known_greedy(&self.with, &release, &report)
								   : kanon_solve_known_near(&self.with, &before.previous, &release, &report),
						 KANON_OK);
		read_release(&self, &release);
		if (i % 4 < 2)
			assert_true(all_keep(&self, self.with.rows));
		else
			check_near(&self, &before);
		for (uint32_t c = 0; c < release.nclasses; c++)
		{
			assert_true(fixture_allows(&self.with, release.classes[c].pattern));
			strict += !kanon_same(release.classes[c].pattern, kanon_pattern_all(self.with.ncolumns));
		}
		case_free(&self, &release);
	}
	assert_true(strict > cases(2000) / 2);
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
				uint64_t random = 5600 + (uint64_t) i;
				KanonFullDomainOptions options = {.suppression_limit = 1};
				KanonOutcome outcome;
				KanonRelease release;
				KanonReport report;
				Before before;
				Case self;

				case_init(&self, &random, i % 3 == 0);
				before_init(&before, &self, &random, how >= 6);
				self.with.mask.max_suppressed = how < 4 && i % 2 == 0 ? 1 : -1;
				options.previous = how >= 6 ? &before.previous : NULL;
				self.with.full_domain = &options;
				fail_at(&self.host, &failure);
				failure.status = how < 2 ? kanon_solve_known_turn(&self.with, 0, &release, &report)
								 : how < 4
									 ? kanon_solve_known_near(&self.with, &before.previous, &release, &report)
									 : kanon_solve_full_domain(&self.with, &outcome, &release, &report);
				if (failure.status == KANON_OK)
				{
					read_release(&self, &release);
					assert_true(all_keep(&self, self.with.rows));
				}
				case_free(&self, &release);
			}
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells), cmocka_unit_test(test_nodes),    cmocka_unit_test(test_near),
		cmocka_unit_test(test_masks), cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
