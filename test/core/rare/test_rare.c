/*
 * test_rare.c: rare combinations of values against their definition, written out on small random tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "rare/rare.h"

#define MOST_COLUMNS 6
#define MOST_ROWS 40
#define MOST_SETS 3

/* A table, what may be known of it, and what was found. */
typedef struct Case
{
	Host host;
	KanonProblem *problem;
	KanonColumn columns[MOST_COLUMNS];
	KanonKnownSet sets[MOST_SETS];
	uint64_t bits[MOST_COLUMNS];
	const uint64_t *blank[MOST_COLUMNS];
	KanonKnown known;
	int64_t found[1 << MOST_COLUMNS][MOST_ROWS]; /* rows that agree, by set and row type; -1: not shown */
	uint32_t shown;
} Case;

static void
case_init(Case *self, uint64_t *random)
{
	uint32_t code[MOST_ROWS * MOST_COLUMNS];
	size_t nrows = 1 + random_below(random, MOST_ROWS);
	int ncolumns = 1 + (int) random_below(random, MOST_COLUMNS);

	memset(self, 0, sizeof(*self));
	host_init(&self->host);
	for (int c = 0; c < ncolumns; c++)
	{
		uint32_t values = 1 + random_below(random, 5);

		for (size_t r = 0; r < nrows; r++)
			code[r * (size_t) ncolumns + (size_t) c] = random_below(random, values);
	}
	self->problem = problem_from_codes(&self->host, code, nrows, ncolumns, 2);
	self->problem->time_limit = __builtin_inf();
	memcpy(self->columns, self->problem->columns, (size_t) ncolumns * sizeof(KanonColumn));
	for (int c = 0; c < ncolumns; c++)
	{
		self->columns[c].has_null = random_below(random, 2) == 0;
		for (uint32_t r = 0; r < self->problem->ntypes; r++)
			self->bits[c] |= (uint64_t) (random_below(random, 6) == 0) << r;
		self->blank[c] = &self->bits[c];
	}
	self->known.most = (int) random_below(random, 4);
	self->known.k = 1 + random_below(random, 5);
	self->known.missing = (KanonMissing) random_below(random, 3);
	self->known.sets = self->sets;
	self->known.nsets = (int) random_below(random, MOST_SETS + 1);
	for (int s = 0; s < self->known.nsets; s++)
		self->sets[s] =
			(KanonKnownSet){random_columns(random, ncolumns), 1 + (int64_t) random_below(random, 6)};
	if (random_below(random, 2) == 0)
		self->known.blank = self->blank;
}

static void
case_free(Case *self)
{
	assert_int_equal(self->host.blocks, 0);
	problem_free(self->problem);
}

/* The problem with this case's columns. */
static KanonProblem
case_problem(const Case *self)
{
	KanonProblem problem = *self->problem;

	problem.columns = self->columns;
	return problem;
}

static void
note(void *arg, const KanonRare *rare)
{
	Case *self = arg;
	unsigned set = 0;

	for (int i = 0; i < rare->ncolumns; i++)
	{
		assert_true(i == 0 || rare->column[i] > rare->column[i - 1]);
		set |= 1U << rare->column[i];
	}
	assert_true(rare->ntypes > 0 && rare->rows < rare->k);
	for (uint32_t i = 0; i < rare->ntypes; i++)
	{
		assert_true(i == 0 || rare->type[i] > rare->type[i - 1]);
		assert_int_equal(self->found[set][rare->type[i]], -1);
		self->found[set][rare->type[i]] = rare->rows;
	}
	/* none of its parts comes later: those that have been shown would not be shown with it */
	for (unsigned part = 1; part < 1U << MOST_COLUMNS; part++)
		if (part != set && (part & set) == part)
			assert_int_equal(self->found[part][rare->type[0]], -1);
	self->shown++;
}

static KanonStatus
find(Case *self)
{
	KanonProblem problem = case_problem(self);

	self->shown = 0;
	memset(self->found, 0xff, sizeof(self->found));
	return kanon_rare_find(&problem, &self->known, note, self);
}

/* Does the cell tell nothing? */
static bool
silent(const Case *self, int c, uint32_t type)
{
	const KanonColumn *column = &self->columns[c];

	if (self->known.blank != NULL && (self->bits[c] >> type & 1) != 0)
		return true;
	return self->known.missing != KANON_MISSING_VALUE && column->has_null &&
		   column->code[type] == column->distinct - 1;
}

/* The k that is asked of a set of columns, by the definition. */
static int64_t
wanted(const Case *self, unsigned set)
{
	int64_t k = __builtin_popcount(set) <= self->known.most ? self->known.k : 0;

	for (int s = 0; s < self->known.nsets; s++)
		if ((set & ~self->sets[s].columns.word[0]) == 0 && self->sets[s].k > k)
			k = self->sets[s].k;
	return k;
}

/* The rows that agree with a row type in a set, or -1 where it tells nothing there. */
static int64_t
agree(const Case *self, unsigned set, uint32_t type)
{
	int64_t rows = 0;

	for (int c = 0; c < self->problem->ncolumns; c++)
		if ((set >> c & 1) != 0 && silent(self, c, type))
			return -1;
	for (uint32_t other = 0; other < self->problem->ntypes; other++)
	{
		bool same = true;

		for (int c = 0; c < self->problem->ncolumns; c++)
			if ((set >> c & 1) != 0 &&
				(silent(self, c, other) ? self->known.missing != KANON_MISSING_ANY
										: self->columns[c].code[type] != self->columns[c].code[other]))
				same = false;
		if (same)
			rows += self->problem->rows[other];
	}
	return rows;
}

static bool
rare_in(const Case *self, unsigned set, uint32_t type)
{
	int64_t rows = agree(self, set, type);

	return rows >= 0 && rows < wanted(self, set);
}

static uint32_t
compare(const Case *self)
{
	uint32_t rare = 0;

	for (unsigned set = 1; set < 1U << self->problem->ncolumns; set++)
		for (uint32_t type = 0; type < self->problem->ntypes; type++)
		{
			bool minimal = rare_in(self, set, type);

			for (unsigned part = (set - 1) & set; part != 0 && minimal; part = (part - 1) & set)
				minimal = !rare_in(self, part, type);
			rare += minimal;
			if (!minimal)
				assert_int_equal(self->found[set][type], -1);
			else
				assert_int_equal(self->found[set][type], agree(self, set, type));
		}
	return rare;
}

static void
test_random(void **state)
{
	uint32_t rare = 0;

	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		uint64_t random = 4800 + (uint64_t) i;
		Case self;

		case_init(&self, &random);
		assert_int_equal(find(&self), KANON_OK);
		rare += compare(&self);
		case_free(&self);
	}
	assert_true(rare > 0);
}

/* Ages 30, 30, 40, 40 and sexes f, m, m, m: 30 with f and 30 with m are alone, f is alone itself. */
static void
test_by_hand(void **state)
{
	static const uint32_t code[] = {0, 0, 0, 1, 1, 1, 1, 1};
	Case self;

	(void) state;
	memset(&self, 0, sizeof(self));
	host_init(&self.host);
	self.problem = problem_from_codes(&self.host, code, 4, 2, 2);
	self.problem->time_limit = __builtin_inf();
	memcpy(self.columns, self.problem->columns, 2 * sizeof(KanonColumn));
	self.known = (KanonKnown){.most = 2, .k = 2};
	assert_int_equal(find(&self), KANON_OK);
	assert_int_equal(self.shown, 2);
	assert_int_equal(self.found[2][0], 1); /* f, of which 30 and f is no minimal one */
	assert_int_equal(self.found[3][1], 1); /* 30 and m */
	case_free(&self);
}

static void
test_failures(void **state)
{
	(void) state;
	for (int i = 0; i < cases(20); i++)
		for (int how = 0; how < 2; how++)
		{
			Failure failure = {.how = how == 0 ? KANON_NO_MEMORY : KANON_CANCELLED};

			while (fails_again(&failure))
			{
				uint64_t random = 9100 + (uint64_t) i;
				Case self;

				case_init(&self, &random);
				fail_at(&self.host, &failure);
				failure.status = find(&self);
				if (failure.status == KANON_OK)
					(void) compare(&self);
				case_free(&self);
			}
		}
}

/* A walk that takes longer than it may says so. */
static void
test_time(void **state)
{
	uint64_t random = 77;
	Case self;

	(void) state;
	case_init(&self, &random);
	while (self.known.most < 3 || self.problem->ncolumns < 4 || self.problem->ntypes < 10)
	{
		case_free(&self);
		case_init(&self, &random);
	}
	self.problem->time_limit = 1;
	host_tick(&self.host);
	assert_int_equal(find(&self), KANON_TOO_LARGE);
	case_free(&self);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
