/*
 * test_mend.c: releases of the plain problem mended by hand-made cases, each of which one step
 * alone decides: classes that come to look alike, listed patterns that are used up, rows that
 * need not be left out.  And what no rows could keep, which bounds leave out.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/clustering.h"
#include "diverse.h"
#include "fixture.h"
#include "model/model.h"
#include "release/release.h"
#include "util/pace.h"

#define MOST_ROWS 1024
#define MOST_CLASSES 512

/* A table: quasi-identifiers, then what rules look at; each row in a class of the release to be mended. */
typedef struct Case
{
	Host host;
	KanonProblem *problem;
	KanonPlain plain;
	KanonRelease solved;
	KanonReport report;
	int nqis;
	uint32_t nrows;
	const uint32_t *code; /* [nrows * (nqis + nextra)] */
} Case;

static void
open_case(Case *c, const uint32_t *code, uint32_t nrows, int nqis, int nextra, int64_t k,
		  const KanonPrivacyRule *rules, int nrules)
{
	host_init(&c->host);
	c->code = code;
	c->nrows = nrows;
	c->nqis = nqis;
	c->problem = problem_from_codes(&c->host, code, nrows, nqis + nextra, k);
	c->problem->ncolumns = nqis;
	c->problem->nextra = nextra;
	c->problem->extra = c->problem->columns + nqis;
	assert_int_equal(kanon_privacy_open(c->problem, rules, nrules, &c->problem->privacy), KANON_OK);
	assert_int_equal(kanon_plain_open(c->problem, false, &c->plain), KANON_OK);
}

static void
close_case(Case *c)
{
	KanonProblem *problem = c->problem;
	int ncolumns = c->nqis + problem->nextra;

	kanon_release_free(&c->plain.problem, &c->solved);
	kanon_plain_close(&c->plain);
	kanon_privacy_close(problem->privacy);
	problem->privacy = NULL;
	assert_int_equal(c->host.blocks, 0);
	problem->ncolumns = ncolumns;
	problem_free(problem);
}

/* The plain problem's type of a row. */
static uint32_t
type_of(const Case *c, uint32_t row)
{
	const KanonProblem *plain = &c->plain.problem;
	int width = c->nqis + c->problem->nextra;

	for (uint32_t t = 0; t < plain->ntypes; t++)
	{
		int q = 0;

		while (q < c->nqis && plain->columns[q].code[t] == c->code[row * (uint32_t) width + (uint32_t) q])
			q++;
		if (q == c->nqis)
			return t;
	}
	fail();
	return 0;
}

/* The release in which row r is in class of[r], which has that pattern. */
static void
make_solved(Case *c, const uint32_t *of, uint32_t nclasses, const KanonPattern *pattern)
{
	const KanonProblem *plain = &c->plain.problem;
	KanonRelease *solved = &c->solved;
	size_t width = (size_t) c->nqis;

	solved->nclasses = nclasses;
	solved->classes = kanon_alloc0(plain->env, nclasses, sizeof(KanonClass));
	solved->cells = kanon_alloc0(plain->env, nclasses, width * sizeof(KanonCell));
	solved->flows = kanon_alloc0(plain->env, c->nrows, sizeof(KanonFlow));
	solved->nflows = c->nrows;
	for (uint32_t r = 0; r < c->nrows; r++)
	{
		uint32_t type = type_of(c, r);

		solved->flows[r] = (KanonFlow){type, of[r], 1};
		solved->classes[of[r]].pattern = pattern[of[r]];
		for (int q = 0; q < c->nqis; q++)
			if (!kanon_has(pattern[of[r]], q))
				solved->cells[of[r] * width + (size_t) q] =
					(KanonCell){KANON_SHOW_VALUE, plain->columns[q].code[type] & KANON_MAX_TYPES};
	}
	assert_int_equal(kanon_release_finish(plain, solved, &c->report), KANON_OK);
}

#define NONE KANON_NONE
#define B KANON_BITS(2)
#define C KANON_BITS(4)
#define AB KANON_BITS(1 | 2)
#define BC KANON_BITS(2 | 4)
#define ABC KANON_BITS(1 | 2 | 4)

/*
 * In persons, two classes keep alpha that as one do not, and come out as one when they look
 * alike: mending goes on with them.  Here that happens twice: rows of (0, ., 0) are merged by twos,
 * look like the class (0, *, 0) and are merged with it; with the one that mends this they look like (*, *, 0).
 */
static void
alike(void **state)
{
	/* a, b, c, value, person */
	static const uint32_t code[] = {
		0, 0, 0, 0, 1, /* (0, *, 0), which keeps the rules with neither of the next two, nor with both */
		0, 1, 0, 1, 2, /* */
		0, 2, 0, 1, 1, /* one value, twice */
		0, 2, 0, 1, 1, /* */
		0, 3, 0, 0, 3, /* and the other: these two are (0, *, 0) as well */
		0, 3, 0, 0, 3, /* */
		1, 0, 0, 2, 4, /* mends those above */
		1, 0, 0, 3, 6, /* */
		2, 0, 0, 0, 2, /* (*, *, 0), with which value 0 has four persons of seven */
		3, 1, 0, 5, 4, /* */
		3, 2, 0, 0, 5, /* */
		3, 3, 0, 5, 7, /* */
		4, 4, 1, 1, 8, /* mends what is fully suppressed in the end */
		4, 4, 1, 4, 9};
	static const uint32_t of[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5};
	static const KanonPattern pattern[] = {B, NONE, NONE, NONE, AB, NONE};
	uint32_t dense[sizeof(code) / sizeof(code[0])];
	const KanonPrivacyRule rules[] = {{.kind = KANON_ALPHA, .column = 0, .share = 0.5},
									  {.kind = KANON_SUBJECT, .column = 1}};
	Case c = {.nrows = 0};
	KanonRelease release;

	(void) state;
	/* persons are numbered from 0 on */
	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
		dense[i] = code[i] - (i % 5 == 4);
	open_case(&c, dense, 14, 3, 2, 2, rules, 2);
	assert_false(kanon_privacy_monotone(c.problem->privacy));
	make_solved(&c, of, 6, pattern);
	assert_int_equal(kanon_mend(&c.plain, &c.solved, false, 0, &release, &c.report), KANON_OK);
	assert_int_equal(release.nclasses, 1);
	assert_true(kanon_same(release.classes[0].pattern, ABC));
	kanon_release_free(c.problem, &release);
	close_case(&c);
}

/* How many classes have a pattern. */
static int
classes_of(const KanonRelease *release, KanonPattern pattern)
{
	int n = 0;

	for (uint32_t i = 0; i < release->nclasses; i++)
		n += kanon_same(release->classes[i].pattern, pattern);
	return n;
}

static const KanonPrivacyRule two_values[] = {{.kind = KANON_DISTINCT_L, .column = 0, .l = 2}};

/* A listed pattern that another class has is not to be had, though it would be the cheapest. */
static void
used_up(void **state)
{
	static const uint32_t code[] = {0, 0, 0, 0, 0, 0, 1, 0,  /* (0, 0, *): one value */
									0, 1, 2, 1, 0, 2, 2, 1,  /* (0, *, 2): the other */
									1, 3, 3, 0, 1, 4, 4, 1}; /* (1, *, *): both */
	static const uint32_t of[] = {0, 0, 1, 1, 2, 2};
	static const KanonPattern pattern[] = {C, B, BC};
	static const KanonPattern list[] = {C, B, BC, ABC};
	Case c = {.nrows = 0};
	KanonRelease release;

	(void) state;
	open_case(&c, code, 6, 3, 1, 2, two_values, 1);
	c.problem->mask.list = c.plain.problem.mask.list = list;
	c.problem->mask.nlist = c.plain.problem.mask.nlist = 4;
	c.problem->residual = c.plain.problem.residual = KANON_RESIDUAL_ERROR;
	make_solved(&c, of, 3, pattern);
	assert_int_equal(kanon_mend(&c.plain, &c.solved, true, 0, &release, &c.report), KANON_OK);
	assert_true(classes_of(&release, BC) <= 1);
	kanon_release_free(c.problem, &release);
	close_case(&c);
}

/* One that is merged into takes its pattern from the others; those that they had are free again. */
static void
taken_and_given_back(void **state)
{
	static const uint32_t code[] = {0, 0, 0, 0, 0, 0, 1, 0, /* (0, 0, *) and (0, *, 2): */
									0, 1, 2, 1, 0, 2, 2, 1, /* together they take (0, *, *), */
									1, 0, 0, 0, 1, 0, 1, 0, /* which the same of 1 may not, */
									1, 1, 2, 1, 1, 2, 2, 1};
	static const uint32_t of[] = {0, 0, 1, 1, 2, 2, 3, 3};
	static const KanonPattern pattern[] = {C, B, C, B};
	static const KanonPattern list[] = {C, C, B, B, BC, ABC};
	Case c = {.nrows = 0};
	KanonRelease release;

	(void) state;
	open_case(&c, code, 8, 3, 1, 2, two_values, 1);
	c.problem->mask.list = c.plain.problem.mask.list = list;
	c.problem->mask.nlist = c.plain.problem.mask.nlist = 6;
	c.problem->residual = c.plain.problem.residual = KANON_RESIDUAL_ERROR;
	make_solved(&c, of, 4, pattern);
	assert_int_equal(kanon_mend(&c.plain, &c.solved, true, 0, &release, &c.report), KANON_OK);
	assert_true(classes_of(&release, BC) <= 1);
	kanon_release_free(c.problem, &release);
	close_case(&c);
}

/* No pattern of the list takes both: that is no proof that nobody could. */
static void
nothing_found(void **state)
{
	static const uint32_t code[] = {0, 0, 0, 0, 1, 1, 1, 1};
	static const uint32_t of[] = {0, 0, 1, 1};
	static const KanonPattern pattern[] = {NONE, NONE};
	static const KanonPattern list[] = {NONE, NONE};
	Case c = {.nrows = 0};
	KanonRelease release;

	(void) state;
	open_case(&c, code, 4, 1, 1, 2, two_values, 1);
	/* of one column codes go (q, value) */
	c.problem->mask.list = c.plain.problem.mask.list = list;
	c.problem->mask.nlist = c.plain.problem.mask.nlist = 2;
	c.problem->residual = c.plain.problem.residual = KANON_RESIDUAL_ERROR;
	make_solved(&c, of, 2, pattern);
	assert_int_equal(kanon_mend(&c.plain, &c.solved, true, 0, &release, &c.report), KANON_NOT_FOUND);
	assert_non_null(strstr(c.report.detail, "merging"));
	close_case(&c);
}

static double
past(void *arg)
{
	(void) arg;
	return 10;
}

/*
 * When time has ended, what is broken is suppressed, with as many others as that needs, instead
 * of merged; where every row has to be in a class there is no release then, which is no proof.
 */
static void
time_ends(void **state)
{
	enum
	{
		ROWS = 8
	};
	/* two classes of one value each that would mend each other, and two that keep the rules */
	static const uint32_t row[ROWS][3] = {{0, 0, 0}, {0, 0, 0}, {0, 1, 1}, {0, 1, 1},
										  {1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1}};
	static const uint32_t of[ROWS] = {0, 0, 1, 1, 2, 2, 3, 3};
	static const KanonPattern pattern[] = {NONE, NONE, NONE, NONE};
	static const KanonPattern list[] = {NONE, NONE, NONE, NONE, B, AB};

	(void) state;
	for (int late = 0; late < 2; late++)
		for (int once = 0; once < 2; once++)
		{
			Case c = {.nrows = 0};
			KanonRelease release;
			KanonStatus status;

			open_case(&c, &row[0][0], ROWS, 2, 1, 2, two_values, 1);
			c.problem->mask.list = c.plain.problem.mask.list = list;
			c.problem->mask.nlist = c.plain.problem.mask.nlist = 6;
			make_solved(&c, of, 4, pattern);
			c.host.env.now = past;
			status = kanon_mend(&c.plain, &c.solved, once, late ? 9 : 11, &release, &c.report);
			if (once && late)
				assert_int_equal(status, KANON_NOT_FOUND);
			else
			{
				assert_int_equal(status, KANON_OK);
				assert_int_equal(classes_of(&release, AB), late);
				assert_int_equal(classes_of(&release, B), !late);
				kanon_release_free(c.problem, &release);
			}
			close_case(&c);
		}
}

/* Of patterns by rules each may be used once: of three clusters that are mended two by two, one takes a dearer one. */
static void
rules_once(void **state)
{
	enum
	{
		ROWS = 6
	};
	/* classes (0, 0), (0, 1): one value each, as one (0, *); but that is the pattern of the third, which keeps the rules */
	static const uint32_t row[ROWS][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 0, 1},
										  {0, 1, 0, 1}, {1, 0, 1, 0}, {1, 1, 1, 1}};
	static const uint32_t of[ROWS] = {0, 0, 1, 1, 2, 2};
	static const KanonPattern pattern[] = {NONE, C, B};

	(void) state;
	Case c = {.nrows = 0};
	KanonRelease release;

	open_case(&c, &row[0][0], ROWS, 3, 1, 2, two_values, 1);
	make_solved(&c, of, 3, pattern);
	assert_int_equal(kanon_mend(&c.plain, &c.solved, true, 0, &release, &c.report), KANON_OK);
	assert_int_equal(release.nclasses, 2);
	assert_int_equal(classes_of(&release, B), 1);
	assert_false(kanon_same(release.classes[0].pattern, release.classes[1].pattern));
	kanon_release_free(c.problem, &release);
	close_case(&c);
}

/* Clusterings whose rows have to be in classes: whenever time ends, there is a release where there is one. */
static void
clusters_in_time(void **state)
{
	static const double limits[] = {0, 1.5, 4.5, 9.5, 30.5, INFINITY};
	static KanonClusterShow show[3] = {KANON_CLUSTER_SUPPRESS, KANON_CLUSTER_SUPPRESS,
									   KANON_CLUSTER_SUPPRESS};
	struct KanonClusterOptions options = {.show = show};
	uint64_t random = 41;
	int late = 0, ruled = 0;

	(void) state;
	for (int round = 0; round < cases(200); round++)
		for (const KanonMethod *method = kanon_methods(KANON_CLUSTER); method->name != NULL; method++)
		{
			uint32_t code[40][4];
			uint32_t nrows = 8 + random_below(&random, 32);
			int64_t k = method->only_k != 0 ? method->only_k : 2 + (int64_t) random_below(&random, 3);

			for (uint32_t i = 0; i < nrows; i++)
				for (uint32_t c = 0; c < 4; c++)
					code[i][c] = c < 3 ? random_below(&random, 4) : i % 9 < 6 ? 0 : i % 9 - 5;
			for (int l = (int) (sizeof(limits) / sizeof(limits[0])) - 1, known = 1; l >= 0 && known; l--)
			{
				Host host;
				KanonProblem *problem;
				KanonRelease release = {0};
				KanonReport report = {0};
				KanonStatus status;

				host_init(&host);
				problem = problem_from_codes(&host, &code[0][0], nrows, 4, k);
				diverse_ask(problem, 2 + round % 2);
				problem->cluster = &options;
				problem->residual = KANON_RESIDUAL_ERROR;
				problem->time_limit = limits[l];
				host_tick(&host);
				/* kanon_release_finish asks the rules of every class */
				status = method->solve(problem, &release, &report);
				known = status != KANON_UNAVAILABLE;
				assert_true(!known || status == KANON_OK);
				ruled += known;
				late += strstr(report.detail, "time ended before all") != NULL;
				kanon_release_free(problem, &release);
				diverse_free(problem);
				problem_free(problem);
				assert_int_equal(host.blocks, 0);
			}
		}
	assert_true(late > ruled / 20);
}

/* Rows of which no class may be one are left out where they may be, but not when together they are one. */
static void
left_out(void **state)
{
	static const uint32_t code[] = {0, 0, 0, 0, 1, 1, 1, 1};
	static const uint32_t of[] = {0, 0, 1, 1};
	static const KanonPattern pattern[] = {NONE, NONE};

	(void) state;
	for (int rows = 2; rows <= 4; rows += 2)
	{
		Case c = {.nrows = 0};
		KanonRelease release;

		open_case(&c, code, (uint32_t) rows, 1, 1, 2, two_values, 1);
		c.problem->residual = c.plain.problem.residual = KANON_RESIDUAL_DROP;
		make_solved(&c, of, (uint32_t) rows / 2, pattern);
		assert_int_equal(kanon_mend(&c.plain, &c.solved, false, 0, &release, &c.report), KANON_OK);
		assert_int_equal(release.dropped, rows == 2 ? 2 : 0);
		kanon_release_free(c.problem, &release);
		close_case(&c);
	}
}

/* Patterns that were found for columns are remembered, a few thousand; of more, none is taken for another. */
static void
many_covers(void **state)
{
	enum
	{
		QIS = 14,
		CLASSES = 256
	};
	static uint32_t code[CLASSES * 2 * (QIS + 1)];
	static uint32_t of[CLASSES * 2];
	static KanonPattern pattern[CLASSES];
	uint64_t random = 5;
	Case c = {.nrows = 0};
	KanonRelease release;

	(void) state;
	for (uint32_t i = 0; i < CLASSES; i++)
		for (uint32_t r = 0; r < 2; r++)
		{
			uint32_t *row = code + (2 * i + r) * (QIS + 1);

			for (int q = 0; q < QIS; q++)
				row[q] = r == 0 ? random_below(&random, 2) : row[q - QIS - 1];
			row[QIS] = i % 2;
			of[2 * i + r] = i;
		}
	open_case(&c, code, CLASSES * 2, QIS, 1, 2, two_values, 1);
	make_solved(&c, of, CLASSES, pattern);
	assert_int_equal(kanon_mend(&c.plain, &c.solved, false, 0, &release, &c.report), KANON_OK);
	kanon_release_free(c.problem, &release);
	close_case(&c);
}

/*
 * What rules do not tell apart is looked at as one: it takes as long to find the many clusters
 * that a large rest wants as if it were a small one.
 */
static void
large_rest(void **state)
{
	enum
	{
		REST = 600,
		CLASSES = 300
	};
	static uint32_t code[(REST + 2 * CLASSES) * 2];
	static uint32_t of[REST + 2 * CLASSES];
	static KanonPattern pattern[CLASSES + 1];
	const KanonPrivacyRule rules[] = {{.kind = KANON_ALPHA, .column = 0, .share = 0.6}};
	Case c = {.nrows = 0};
	KanonRelease release;
	uint64_t before;

	(void) state;
	for (uint32_t r = 0; r < REST + 2 * CLASSES; r++)
	{
		uint32_t class_ = r < REST ? 0 : (r - REST) / 2;

		code[2 * r] = r < REST ? r : REST + class_;
		code[2 * r + 1] = r < REST ? 0 : 1 + r % 2;
		of[r] = r < REST ? 0 : class_ + 1;
	}
	pattern[0] = KANON_BITS(1);
	open_case(&c, code, REST + 2 * CLASSES, 1, 1, 2, rules, 1);
	make_solved(&c, of, CLASSES + 1, pattern);
	before = c.host.polls;
	assert_int_equal(kanon_mend(&c.plain, &c.solved, false, 0, &release, &c.report), KANON_OK);
	/* 200 of them do, and then they come by threes or fours */
	assert_true(CLASSES + 1 - release.nclasses >= 200 && CLASSES + 1 - release.nclasses <= 203);
	assert_true((c.host.polls - before) * KANON_POLL_WORK < 60 << 18);
	kanon_release_free(c.problem, &release);
	close_case(&c);
}

/* What keeps the rules is viable: a bound that leaves it out would be none. */
static void
viable(void **state)
{
	int asked[KANON_PRIVACY_KINDS] = {0};
	int refused = 0;

	(void) state;
	for (int i = 0; i < cases(3000); i++)
	{
		uint64_t random = 16000000 + (uint64_t) i;
		Host host;
		KanonProblem *problem;
		KanonPlain plain;

		host_init(&host);
		problem = problem_random(&host, &random, 30, 5);
		if (problem->ncolumns < 2 || problem->ntypes == 0)
		{
			problem_random_free(problem);
			continue;
		}
		diverse_make(problem, &random, DIVERSE_ALL);
		assert_int_equal(kanon_plain_open(problem, true, &plain), KANON_OK);
		for (int j = 0; j < 20; j++)
		{
			uint32_t types[64];
			uint32_t whole[64];
			size_t ntypes = 0;
			size_t nwhole = 0;
			int64_t rows = 0;

			for (uint32_t t = 0; t < plain.problem.ntypes; t++)
				if (random_below(&random, 3) == 0)
				{
					types[ntypes++] = t;
					for (uint32_t w = plain.first[t]; w < plain.first[t + 1]; w++)
					{
						whole[nwhole++] = w;
						rows += problem->rows[w];
					}
				}
			if (rows < problem->k)
				continue;
			if (diverse_allows(problem, whole, NULL, nwhole, false))
			{
				assert_true(plain.problem.viable(&plain.problem, types, ntypes));
				for (int r = 0; r < diverse_nrules; r++)
					asked[diverse_rules[r].kind]++;
			}
			else
				refused += !plain.problem.viable(&plain.problem, types, ntypes);
		}
		kanon_plain_close(&plain);
		diverse_free(problem);
		assert_int_equal(host.blocks, 0);
		problem_random_free(problem);
	}
	for (int kind = 0; kind < KANON_PRIVACY_KINDS; kind++)
		assert_true(asked[kind] > 0);
	assert_true(refused > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alike),
		cmocka_unit_test(used_up),
		cmocka_unit_test(taken_and_given_back),
		cmocka_unit_test(nothing_found),
		cmocka_unit_test(left_out),
		cmocka_unit_test(time_ends),
		cmocka_unit_test(rules_once),
		cmocka_unit_test(clusters_in_time),
		cmocka_unit_test(many_covers),
		cmocka_unit_test(large_rest),
		cmocka_unit_test(viable),
	};

	return cmocka_run_group_tests_name("mend", tests, NULL, NULL);
}
