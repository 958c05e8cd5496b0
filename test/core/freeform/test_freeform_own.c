/*
 * test_freeform_own.c: rows with ks of their own, and what somebody can tell who knows
 * the records of some rows: against flows unit by unit, and against all assignments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exact.h"
#include "freeform/freeform_work.h"
#include "model/model.h"
#include "unclassed.h"

/* ---- own ks ---- */

/* Few rows want much; most one k. */
static int64_t *
random_ks(const KanonProblem *problem, uint64_t *random, int64_t most)
{
	int64_t *k = malloc(problem->ntypes * sizeof(int64_t));
	uint32_t kinds = 1 + random_below(random, 4);

	for (uint32_t i = 0; i < problem->ntypes; i++)
		k[i] = random_below(random, 3) == 0
				   ? 1 + (int64_t) random_below(random, (uint32_t) most)
				   : 1 + (int64_t) (random_below(random, kinds) * (uint32_t) most / kinds);
	return k;
}

/* Of each record the types that it shows, by hand: as many as every row of it wants. */
static void
check_ks(const KanonProblem *problem, const KanonRelease *release)
{
	int64_t *shown = calloc(problem->ntypes, sizeof(int64_t));

	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		size_t edges = release->graph_start[i + 1] - release->graph_start[i];

		for (size_t e = release->graph_start[i]; e < release->graph_start[i + 1]; e++)
		{
			shown[release->graph[e]]++;
			/* equal records may be of different ks */
			if (release->classes[i].rows == 1)
				assert_true((int64_t) edges >= kanon_freeform_own_k(problem, release->graph[e]));
		}
	}
	for (uint32_t t = 0; t < problem->ntypes; t++)
		assert_true(shown[t] >= kanon_freeform_own_k(problem, t) * problem->rows[t]);
	free(shown);
}

static void
each_row_has_its_own(void **state)
{
	uint64_t random = 2022;
	int larger = 0;

	(void) state;
	for (int round = 0; round < cases(400); round++)
	{
		Host host;
		size_t rows = 5 + random_below(&random, 80);
		int64_t most = 2 + random_below(&random, (uint32_t) (rows + 2) / 2 - 1);
		KanonProblem *problem = random_table(&host, &random, rows, 1 + (int) random_below(&random, 4),
											 1 + random_below(&random, 9), 2);
		int64_t *k = random_ks(problem, &random, most);

		for (int m = 0; m < KANON_FREEFORM_CONCEALMENT; m++)
			for (int mutual = 0; mutual < 2; mutual++)
			{
				KanonFreeformOptions options = {.method = (KanonFreeformMethod) m,
												.symmetric = mutual == 1,
												.own_k = k,
												.partition_size = round % 2 == 0 ? 0 : 10};
				KanonRelease release;
				KanonReport report;
				KanonFreeformFacts facts;

				if (m == KANON_FREEFORM_MIP || (mutual && m == KANON_FREEFORM_MIN_COST_FLOW))
					continue;
				problem->freeform = &options;
				assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
				check_ks(problem, &release);
				assert_int_equal(kanon_freeform_check(problem, &release, 2, -1, &facts), KANON_OK);
				assert_true(facts.regular);
				larger += kanon_freeform_most_k(problem) > 2;
				kanon_release_free(problem, &release);
			}
		assert_int_equal(host.blocks, 0);
		free(k);
		problem_free(problem);
	}
	assert_true(larger > 0);
}

/* Nobody has more matches than the rows that go together want: k of them stay at k. */
static void
others_stay_as_they_are(void **state)
{
	Host host;
	uint64_t random = 3;
	KanonProblem *problem = random_table(&host, &random, 60, 3, 12, 3);
	int64_t *k = calloc(problem->ntypes, sizeof(int64_t));
	KanonFreeformOptions options = {.method = KANON_FREEFORM_GREEDY, .own_k = k};
	KanonRelease release;
	KanonReport report;

	(void) state;
	k[7] = 6;
	problem->freeform = &options;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
	/* ten rows, that one among them, have six matches; the others three */
	assert_int_equal(release.ngraph, 10 * 6 + 50 * 3);
	kanon_release_free(problem, &release);
	/* more than there are; the others want less */
	k[7] = 32;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_TOO_LARGE);
	k[7] = 31;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
	assert_int_equal(release.ngraph, 60 * 31);
	kanon_release_free(problem, &release);
	options.method = KANON_FREEFORM_CONCEALMENT;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_TOO_LARGE);
	free(k);
	problem_free(problem);
}

/* The release's own check does not take the plan's word. */
static void
own_ks_are_checked(void **state)
{
	Host host;
	uint64_t random = 5;
	KanonProblem *problem = random_table(&host, &random, 20, 3, 6, 3);
	int64_t *k = calloc(problem->ntypes, sizeof(int64_t));
	KanonFreeformOptions options = {.method = KANON_FREEFORM_RING, .own_k = k};
	KanonRelease release;
	KanonReport report;

	(void) state;
	problem->freeform = &options;
	assert_int_equal(kanon_solve_freeform(problem, &release, &report), KANON_OK);
	assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_OK);
	k[2] = 4;
	assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_BROKEN);
	assert_non_null(strstr(report.detail, "show"));
	k[2] = 0;
	assert_int_equal(kanon_release_finish(problem, &release, &report), KANON_OK);
	kanon_release_free(problem, &release);
	assert_int_equal(host.blocks, 0);
	free(k);
	problem_free(problem);
}

/* The last row wants three matches and has more, but its kept values are with a record that has two. */
static void
own_record_has_as_many(void **state)
{
	static const uint32_t code[] = {0, 0, 1, 2, 3};
	static const uint32_t sets[] = {2, 0, 3, 4, 0, 1, 2, 3};
	static const uint32_t graph[] = {0, 3, 0, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
	static const KanonFlow flows[] = {{0, 0, 1}, {0, 1, 1}, {1, 1, 1}, {2, 1, 1}, {3, 0, 1}};

	(void) state;
	for (int64_t wanted = 2; wanted < 4; wanted++)
	{
		Host host;
		KanonProblem *problem;
		int64_t k[4] = {2, 2, 2, wanted};
		KanonFreeformOptions options = {.method = KANON_FREEFORM_RING, .own_k = k};
		KanonRelease release = {.nclasses = 2, .nflows = 5, .npool = 8, .ngraph = 16};
		KanonReport report;

		host_init(&host);
		problem = problem_from_codes(&host, code, 5, 1, 2);
		problem->freeform = &options;
		release.classes = kanon_alloc(problem->env, 2, sizeof(KanonClass));
		release.cells = kanon_alloc(problem->env, 2, sizeof(KanonCell));
		release.flows = kanon_alloc(problem->env, 5, sizeof(KanonFlow));
		release.pool = kanon_alloc(problem->env, 8, sizeof(uint32_t));
		release.graph = kanon_alloc(problem->env, 16, sizeof(uint32_t));
		release.graph_start = kanon_alloc0(problem->env, 3, sizeof(size_t));
		for (uint32_t i = 0; i < 2; i++)
		{
			release.classes[i] = (KanonClass){KANON_BITS(1), 2 + i};
			release.cells[i] = (KanonCell){KANON_SHOW_SET, 3 * i};
		}
		memcpy(release.flows, flows, sizeof(flows));
		memcpy(release.pool, sets, sizeof(sets));
		memcpy(release.graph, graph, sizeof(graph));
		release.graph_start[1] = 4;
		release.graph_start[2] = 16;
		assert_int_equal(kanon_release_finish(problem, &release, &report),
						 wanted == 2 ? KANON_OK : KANON_BROKEN);
		if (wanted == 3)
			assert_non_null(strstr(report.detail, "records of class"));
		kanon_release_free(problem, &release);
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/* One unit more for a record, others making room. */
static bool
take_unit(const Shown *s, unsigned n, unsigned record, const unsigned *each, unsigned (*taken)[MOST_RECORDS],
		  unsigned *left, bool *tried)
{
	for (unsigned i = 0; i < n; i++)
	{
		if (!s->match[record][i] || taken[record][i] == each[i] || tried[i])
			continue;
		tried[i] = true;
		if (left[i] > 0)
		{
			left[i]--;
			taken[record][i]++;
			return true;
		}
		for (unsigned other = 0; other < n; other++)
			if (taken[other][i] > 0 && other != record && take_unit(s, n, other, each, taken, left, tried))
			{
				taken[other][i]--;
				taken[record][i]++;
				return true;
			}
	}
	return false;
}

static void
chances_against_plain_flow(void **state)
{
	uint64_t random = 12;
	int seen[2] = {0};

	(void) state;
	for (int round = 0; round < cases(1500); round++)
	{
		Host host;
		unsigned n = 3 + random_below(&random, 10);
		KanonProblem *problem = random_table(&host, &random, n, 2, 4, 1);
		static Shown s;
		int64_t *k = random_ks(problem, &random, 4);
		KanonFreeformOptions options = {.own_k = k};
		unsigned taken[MOST_RECORDS][MOST_RECORDS] = {{0}};
		unsigned left[MOST_RECORDS];
		unsigned each[MOST_RECORDS];
		bool expected = true;
		KanonFreeformFacts facts;

		problem->freeform = &options;
		random_records(problem, &random, n, 4, &s);
		for (unsigned i = 0; i < n; i++)
		{
			left[i] = 12; /* of which 1 to 4 have a whole part */
			each[i] = 12 / (unsigned) k[s.type[i]];
		}
		for (unsigned j = 0; j < n && expected; j++)
			for (int unit = 0; unit < 12 && expected; unit++)
			{
				bool tried[MOST_RECORDS] = {false};

				expected = take_unit(&s, n, j, each, taken, left, tried);
			}
		assert_int_equal(kanon_freeform_check(problem, &s.release, 1, -1, &facts), KANON_OK);
		assert_int_equal(facts.regular, expected);
		seen[expected]++;
		assert_int_equal(host.blocks, 0);
		free(k);
		problem_free(problem);
	}
	assert_true(seen[0] > 0 && seen[1] > 0);
}

/* What has no multiple that can be counted with is refused, not guessed. */
static void
multiples(void **state)
{
	static const int64_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59};
	Host host;
	uint32_t code[17];
	KanonProblem *problem;
	KanonFreeformOptions options = {.own_k = primes};
	KanonClass class_ = {KANON_NONE, 17 * 8};
	KanonCell cell = {KANON_SHOW_NOTHING, 0};
	KanonRelease release = {.nclasses = 1, .classes = &class_, .cells = &cell};
	KanonFreeformFacts facts;

	(void) state;
	host_init(&host);
	for (uint32_t i = 0; i < 17; i++)
		code[i] = i;
	problem = problem_from_codes(&host, code, 17, 1, 2);
	for (uint32_t i = 0; i < 17; i++)
		((int64_t *) problem->rows)[i] = 8;
	problem->freeform = &options;
	assert_int_equal(kanon_freeform_check(problem, &release, 2, -1, &facts), KANON_TOO_LARGE);
	assert_int_equal(facts.too_large, KANON_FACT_REGULAR);
	problem->ntypes = 8;
	class_.rows = 64;
	assert_int_equal(kanon_freeform_check(problem, &release, 2, -1, &facts), KANON_OK);
	assert_true(facts.regular);
	problem->ntypes = 17;
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* ---- known ---- */

/* All assignments of rows from `row` on: record[row]. */
typedef struct Assignments
{
	const Shown *s;
	unsigned n;
	unsigned record[MOST_RECORDS];
	unsigned char (*all)[8];
	size_t count;
} Assignments;

static void
all_assignments(Assignments *a, unsigned row, unsigned used)
{
	if (row == a->n)
	{
		for (unsigned i = 0; i < a->n; i++)
			a->all[a->count][i] = (unsigned char) a->record[i];
		a->count++;
		return;
	}
	for (unsigned j = 0; j < a->n; j++)
		if ((used >> j & 1) == 0 && a->s->match[j][row])
		{
			a->record[row] = j;
			all_assignments(a, row + 1, used | 1u << j);
		}
}

/* The fewest candidates that any row not known has, where so many rows' records are known as in one of the assignments. */
static int64_t
fewest_by_hand(const Assignments *a, unsigned known)
{
	int64_t fewest = a->count == 0 ? 0 : (int64_t) a->n;

	for (size_t truth = 0; truth < a->count; truth++)
		for (unsigned set = 0; set < 1u << a->n; set++)
		{
			unsigned seen[8] = {0};

			if ((unsigned) __builtin_popcount(set) > known)
				continue;
			for (size_t other = 0; other < a->count; other++)
			{
				bool fits = true;

				for (unsigned i = 0; i < a->n && fits; i++)
					fits = (set >> i & 1) == 0 || a->all[other][i] == a->all[truth][i];
				for (unsigned i = 0; i < a->n && fits; i++)
					seen[i] |= 1u << a->all[other][i];
			}
			for (unsigned i = 0; i < a->n; i++)
				if ((set >> i & 1) == 0 && __builtin_popcount(seen[i]) < fewest)
					fewest = __builtin_popcount(seen[i]);
		}
	return fewest;
}

static void
known_against_all_assignments(void **state)
{
	static unsigned char all[5040][8];
	uint64_t random = 2008;
	int seen[8] = {0};

	(void) state;
	for (int round = 0; round < cases(600); round++)
	{
		Host host;
		unsigned n = 2 + random_below(&random, 5);
		KanonProblem *problem = random_table(&host, &random, n, 2, 3, 1);
		static Shown s;
		Assignments a = {.s = &s, .n = n, .all = all};

		random_records(problem, &random, n, 3, &s);
		/* most show more, or there would be no assignment */
		for (unsigned j = 0; j < n; j++)
			if (random_below(&random, 3) > 0)
			{
				s.cells[2 * j + 1] = (KanonCell){KANON_SHOW_NOTHING, 0};
				for (unsigned i = 0; i < n; i++)
					s.match[j][i] =
						kanon_cell_matches(&s.release, s.cells[2 * j], problem->columns[0].code[s.type[i]]);
			}
		all_assignments(&a, 0, 0);
		/* equal records are one class, as a target is read */
		for (uint32_t j = 0, last = 0; j < n; j++)
			if (j > 0 && memcmp(s.match[j], s.match[last], n * sizeof(bool)) == 0)
			{
				s.classes[last].rows++;
				s.classes[j].rows = 0;
			}
			else
				last = j;
		for (unsigned known = 0; known < 4; known++)
		{
			KanonFreeformFacts facts;

			assert_int_equal(kanon_freeform_check(problem, &s.release, 1, (int) known, &facts), KANON_OK);
			assert_int_equal(facts.candidates, fewest_by_hand(&a, known));
			assert_int_equal(facts.regular, a.count > 0);
			seen[facts.candidates]++;
			/* also where rows do not have as many matches as are asked for */
			assert_int_equal(kanon_freeform_check(problem, &s.release, n + 1, (int) known, &facts), KANON_OK);
			assert_int_equal(facts.candidates, fewest_by_hand(&a, known));
		}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
	assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0 && seen[3] > 0);
}

/* Classes keep k - c, and so does this ring of as many matches. */
static void
classes_and_rings(void **state)
{
	(void) state;
	for (int ring = 0; ring < 2; ring++)
	{
		Host host;
		uint32_t code[12];
		KanonProblem *problem;
		KanonClass classes[12];
		KanonCell cells[12];
		uint32_t pool[12 * 5];
		KanonRelease release = {.nclasses = 12, .classes = classes, .cells = cells, .pool = pool};
		KanonFreeformFacts facts;

		host_init(&host);
		for (uint32_t i = 0; i < 12; i++)
		{
			uint32_t set[4];

			code[i] = i;
			classes[i] = (KanonClass){KANON_NONE, 1};
			cells[i] = (KanonCell){KANON_SHOW_SET, 5 * i};
			for (uint32_t x = 0; x < 4; x++)
				set[x] = ring ? (i + x) % 12 : i / 4 * 4 + x;
			for (uint32_t x = 0; x < 4; x++)
				for (uint32_t y = x + 1; y < 4; y++)
					if (set[y] < set[x])
					{
						uint32_t swap = set[x];

						set[x] = set[y];
						set[y] = swap;
					}
			pool[5 * i] = 4;
			memcpy(pool + 5 * i + 1, set, sizeof(set));
		}
		problem = problem_from_codes(&host, code, 12, 1, 4);
		for (int known = 0; known < 4; known++)
		{
			assert_int_equal(kanon_freeform_check(problem, &release, 4, known, &facts), KANON_OK);
			assert_true(facts.regular);
			assert_int_equal(facts.candidates, 4 - known);
		}
		assert_int_equal(host.blocks, 0);
		problem_free(problem);
	}
}

/*
 * A regular graph in which one record that is known tells another.  Records 0 to 2 show
 * rows 0 and 1, and each another row: two of them row 2, the third row 3.  If that one
 * is known to be row 3's, the others are those of rows 0 and 1.
 */
static void
one_tells_another(void **state)
{
	static const unsigned shows[7][3] = {{0, 1, 2}, {0, 1, 2}, {0, 1, 3}, {2, 3, 4},
										 {3, 5, 6}, {4, 5, 6}, {4, 5, 6}};
	Host host;
	uint32_t code[7];
	KanonProblem *problem;
	KanonClass classes[7];
	KanonCell cells[7];
	uint32_t pool[28];
	KanonRelease release = {.nclasses = 7, .classes = classes, .cells = cells, .pool = pool};
	KanonFreeformFacts facts;

	(void) state;
	host_init(&host);
	for (uint32_t i = 0; i < 7; i++)
	{
		code[i] = i;
		classes[i] = (KanonClass){KANON_NONE, 1};
		cells[i] = (KanonCell){KANON_SHOW_SET, 4 * i};
		pool[4 * i] = 3;
		for (uint32_t x = 0; x < 3; x++)
			pool[4 * i + 1 + x] = shows[i][x];
	}
	problem = problem_from_codes(&host, code, 7, 1, 3);
	for (int known = 0; known < 2; known++)
	{
		assert_int_equal(kanon_freeform_check(problem, &release, 3, known, &facts), KANON_OK);
		assert_true(facts.regular);
		assert_int_equal(facts.candidates, known == 0 ? 3 : 1);
	}
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* Too many sets of pairs are refused before the first is tried. */
static void
too_many(void **state)
{
	enum
	{
		N = 400
	};
	Host host;
	uint32_t code[N];
	KanonProblem *problem;
	static KanonClass classes[N];
	static KanonCell cells[N];
	static uint32_t pool[2 * N];
	KanonRelease release = {.nclasses = N, .classes = classes, .cells = cells, .pool = pool};
	KanonFreeformFacts facts;

	(void) state;
	host_init(&host);
	for (uint32_t i = 0; i < N; i++)
	{
		code[i] = i;
		classes[i] = (KanonClass){KANON_NONE, 1};
		cells[i] = (KanonCell){KANON_SHOW_RANGE, 2 * i};
		pool[2 * i] = i < 3 ? 0 : i - 3;
		pool[2 * i + 1] = i + 3 < N ? i + 3 : N - 1;
	}
	problem = problem_from_codes(&host, code, N, 1, 4);
	assert_int_equal(kanon_freeform_check(problem, &release, 4, 1, &facts), KANON_OK);
	assert_int_equal(facts.candidates, 3);
	assert_int_equal(kanon_freeform_check(problem, &release, 4, 5, &facts), KANON_TOO_LARGE);
	assert_int_equal(facts.too_large, KANON_FACT_CANDIDATES);
	assert_int_equal(host.blocks, 0);
	problem_free(problem);
}

/* ---- memory and cancel ---- */

static KanonProblem *
make_table(Host *host, int variant)
{
	static int64_t k[64];
	static KanonFreeformOptions options;
	uint64_t random = 11;
	KanonProblem *problem = random_table(host, &random, 40, 3, 4, 3);

	for (int i = 0; i < 64; i++)
		k[i] = i % 5;
	options = (KanonFreeformOptions){
		.method = KANON_FREEFORM_RING, .own_k = variant > 0 ? k : NULL, .partition_size = 8};
	problem->freeform = &options;
	return problem;
}

static KanonStatus
solve_and_ask(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonStatus status = kanon_solve_freeform(problem, release, report);
	KanonFreeformFacts facts;

	if (status == KANON_OK)
	{
		status = kanon_freeform_check(problem, release, 3, 2, &facts);
		if (status != KANON_OK)
			kanon_release_free(problem, release);
	}
	return status;
}

static void
memory_and_cancel(void **state)
{
	(void) state;
	for (int own = 0; own < 2; own++)
	{
		exact_refuse_each(make_table, own, solve_and_ask, false);
		exact_cancel_each(make_table, own, solve_and_ask);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_has_its_own),
		cmocka_unit_test(own_ks_are_checked),
		cmocka_unit_test(own_record_has_as_many),
		cmocka_unit_test(others_stay_as_they_are),
		cmocka_unit_test(chances_against_plain_flow),
		cmocka_unit_test(multiples),
		cmocka_unit_test(known_against_all_assignments),
		cmocka_unit_test(classes_and_rings),
		cmocka_unit_test(one_tells_another),
		cmocka_unit_test(too_many),
		cmocka_unit_test(memory_and_cancel),
	};

	return cmocka_run_group_tests_name("freeform_own", tests, NULL, NULL);
}
