/*
 * test_basics.c: what the core's folders build on: scratch memory, growing arrays, heaps,
 * sorting, random numbers, hashes, polls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"
#include "util/sort.h"
#include "util/pace.h"
#include "util/number.h"
#include "util/scratch.h"

static void
test_scratch(void **state)
{
	Host host;
	KanonScratch scratch;
	char *a, *b, *c;
	size_t mark;

	(void) state;
	host_init(&host);
	scratch = (KanonScratch){.env = &host.env};
	a = kanon_take(&scratch, 10, 1);
	mark = kanon_mark(&scratch);
	b = kanon_take0(&scratch, 10, 1);
	c = kanon_take(&scratch, 10, 1);
	assert_int_equal(kanon_taken(&scratch), KANON_OK);
	assert_int_equal(b[9], 0);
	assert_int_equal(host.blocks, 4); /* one is the list of the others */
	kanon_drop(&scratch, b);
	kanon_drop(&scratch, NULL);
	assert_int_equal(host.blocks, 3);
	/* what is kept is nobody's but the caller's */
	assert_ptr_equal(kanon_keep(&scratch, c), c);
	kanon_release(&scratch, mark);
	assert_int_equal(host.blocks, 3);
	kanon_free(&host.env, c);
	c = kanon_adopt(&scratch, kanon_alloc(&host.env, 3, 1));
	assert_ptr_equal(scratch.block[scratch.n - 1], c);
	kanon_release(&scratch, mark);
	assert_int_equal(host.blocks, 2);
	a[9] = 1; /* what was taken before the mark is there */
	for (int i = 0; i < 100; i++)
		memset(kanon_take(&scratch, (size_t) i + 1, 1), i, (size_t) i + 1);
	kanon_scratch_free(&scratch);
	assert_int_equal(host.blocks, 0);
	assert_ptr_equal(scratch.env, &host.env);
	assert_int_equal(scratch.n, 0);
}

/* After a refusal nothing more is given, and one question tells. */
static void
test_refused(void **state)
{
	(void) state;
	for (uint64_t fail = 1; fail <= 6; fail++)
	{
		Host host;
		KanonScratch scratch;
		uint32_t *grown = NULL;
		size_t room = 0;
		bool ok;

		host_init(&host);
		scratch = (KanonScratch){.env = &host.env};
		host.refuse_at = fail;
		for (int i = 0; i < 3; i++)
			kanon_take(&scratch, 8, 8);
		ok = KANON_GROW(&scratch, &room, 100, KANON_ARRAY(grown));
		assert_int_equal(kanon_taken(&scratch), fail <= 5 ? KANON_NO_MEMORY : KANON_OK);
		assert_true(ok == (fail > 5));
		assert_true(fail <= 5 || room >= 100);
		if (fail <= 5)
			assert_null(kanon_take(&scratch, 1, 1));
		kanon_scratch_free(&scratch);
		assert_int_equal(host.blocks, 0);
		assert_false(scratch.failed);
	}
}

static void
test_grow(void **state)
{
	Host host;
	KanonScratch scratch;
	uint32_t *number = NULL;
	double *other = NULL;
	size_t room = 0;

	(void) state;
	host_init(&host);
	scratch = (KanonScratch){.env = &host.env};
	for (uint32_t i = 0; i < 5000; i++)
	{
		size_t before = room;

		assert_true(KANON_GROW(&scratch, &room, i + (size_t) 1, KANON_ARRAY(number), KANON_ARRAY(other)));
		assert_true(room > i);
		/* by halves, not by one */
		assert_true(room == before || room >= before + before / 2);
		number[i] = i;
		other[i] = i / 2.0;
		kanon_drop(&scratch, kanon_take(&scratch, 3, 1));
	}
	for (uint32_t i = 0; i < 5000; i++)
	{
		assert_int_equal(number[i], i);
		assert_true(other[i] == i / 2.0);
	}
	assert_true(KANON_GROW(&scratch, &room, 100000, KANON_ARRAY(number), KANON_ARRAY(other)));
	assert_true(room >= 100000);
	kanon_scratch_free(&scratch);
	assert_int_equal(host.blocks, 0);
}

static int
compare_items(const void *a, const void *b)
{
	return kanon_compare_keyed(a, b, NULL);
}

/* What comes out is in order, whatever went in when. */
static void
test_heap(void **state)
{
	uint64_t random = 7;

	(void) state;
	for (int round = 0; round < 200; round++)
	{
		Host host;
		KanonScratch scratch;
		KanonHeap heap = {0};
		KanonKeyed in[300];
		size_t n = 0;

		host_init(&host);
		scratch = (KanonScratch){.env = &host.env};
		for (int step = 0; step < 300; step++)
			if (n == 0 || random_below(&random, 3) > 0)
			{
				in[n] = (KanonKeyed){random_below(&random, 20), random_below(&random, 20)};
				assert_true(kanon_heap_add(&scratch, &heap, in[n].key, in[n].item));
				n++;
			}
			else
			{
				KanonKeyed top = kanon_heap_take(&heap);

				qsort(in, n, sizeof(*in), compare_items);
				assert_true(top.key == in[0].key && top.item == in[0].item);
				memmove(in, in + 1, --n * sizeof(*in));
			}
		assert_int_equal(heap.n, n);
		kanon_scratch_free(&scratch);
		assert_int_equal(host.blocks, 0);
	}
}

static int
compare_halves(const void *a, const void *b, void *arg)
{
	uint32_t left = *(const uint32_t *) a / 2;
	uint32_t right = *(const uint32_t *) b / 2;

	++*(int *) arg;
	return left < right ? -1 : left > right;
}

/* In order, equal ones as they were. */
static void
test_sort(void **state)
{
	uint64_t random = 3;

	(void) state;
	for (uint32_t n = 0; n < 100; n++)
	{
		uint32_t items[100], before[100], scratch[100];
		int compared = 0;

		for (uint32_t i = 0; i < n; i++)
			items[i] = before[i] = random_below(&random, 30);
		kanon_sort(items, scratch, n, sizeof(*items), compare_halves, &compared);
		assert_true(n < 2 || compared > 0);
		for (uint32_t half = 0; half < 15; half++)
		{
			uint32_t i = 0;

			while (i < n && items[i] / 2 < half)
				i++;
			for (uint32_t j = 0; j < n; j++)
				if (before[j] / 2 == half)
					assert_int_equal(items[i++], before[j]);
			assert_true(i == n || items[i] / 2 > half);
		}
		kanon_sort(items, scratch, n, sizeof(*items), kanon_compare_numbers, NULL);
		for (uint32_t i = 1; i < n; i++)
			assert_true(items[i - 1] <= items[i]);
	}
}

/* What seeds publish rests on these: the numbers of the papers' own code. */
static void
test_random(void **state)
{
	uint64_t split = 0;
	uint64_t shift = 1;

	(void) state;
	assert_true(kanon_random_split(&split) == UINT64_C(0xe220a8397b1dcdaf));
	assert_true(kanon_random_split(&split) == UINT64_C(0x6e789e6aa1b965f4));
	assert_true(kanon_random_shift(&shift) == UINT64_C(0x47e4ce4b896cdd1d));
}

/* Numbers that follow one another, or differ in high bits only, spread over few slots. */
static void
test_hash(void **state)
{
	int one[64] = {0};
	int many[64] = {0};

	(void) state;
	for (uint64_t i = 0; i < 6400; i++)
	{
		one[kanon_mix(i << (i % 2 * 40)) & 63]++;
		many[kanon_hash_add(kanon_hash_add(0, i / 80), i % 80) & 63]++;
	}
	for (int slot = 0; slot < 64; slot++)
	{
		assert_true(one[slot] >= 50 && one[slot] <= 150);
		assert_true(many[slot] >= 50 && many[slot] <= 150);
	}
	assert_true(kanon_hash_add(kanon_hash_add(0, 1), 2) != kanon_hash_add(kanon_hash_add(0, 2), 1));
}

static void
test_pace(void **state)
{
	Host host;
	KanonProblem problem = {.env = &host.env, .time_limit = 1e-9};
	KanonPace pace;

	(void) state;
	host_init(&host);
	pace = (KanonPace){.env = &host.env, .phase = "test", .rows_left = -1};
	assert_false(kanon_stop(&pace, KANON_POLL_WORK - 1));
	assert_int_equal(host.polls, 0);
	host.cancel_at = 2;
	assert_false(kanon_stop(&pace, 1));
	assert_int_equal(host.polls, 1);
	assert_true(kanon_stop(&pace, KANON_POLL_WORK));
	assert_int_equal(kanon_worked(&pace), 2 * KANON_POLL_WORK);
	/* once told to stop it asks no more */
	assert_true(kanon_stop(&pace, KANON_POLL_WORK));
	assert_int_equal(host.polls, 2);
	assert_false(pace.late);
	/* the end of the time is no cancelling */
	kanon_pace_limit(&pace, &problem, "test");
	assert_false(kanon_step(&pace, KANON_STEPS - 1));
	assert_false(pace.late);
	assert_false(kanon_step(&pace, 1));
	assert_true(pace.late);
	pace.within = true;
	kanon_tell_share(&pace, 0.5);
	assert_true(pace.share == 0);
}

static double clock_at;

static double
by_hand(void *arg)
{
	(void) arg;
	return clock_at;
}

/* Of a phase whose end nobody knows the most is told that is known, or the share of its time. */
static void
test_open(void **state)
{
	Host host;
	KanonProblem problem = {.env = &host.env, .time_limit = INFINITY};
	KanonPace pace;

	(void) state;
	host_init(&host);
	host.env.now = by_hand;
	host.watched = "open";
	clock_at = 100;
	kanon_pace_limit(&pace, &problem, "before");
	pace.share = 0.9;
	kanon_pace_open(&pace, "open");
	kanon_poll(&pace);
	assert_true(host.share == 0);
	kanon_pace_part(&pace, 0, 0.5, 1, 2);
	kanon_pace_gap(&pace, 10, 15, 20);
	kanon_poll(&pace);
	assert_true(fabs(host.share - 0.375) < 1e-9);
	/* nothing is known of a gap without a cost or a bound; what begins anew takes nothing back */
	kanon_pace_gap(&pace, 10, 20, INFINITY);
	kanon_pace_gap(&pace, -INFINITY, 20, 20);
	kanon_pace_part(&pace, 0, 1, 0, 1);
	kanon_poll(&pace);
	assert_true(fabs(host.share - 0.375) < 1e-9);
	kanon_pace_gap(&pace, 10, 30, 20);
	kanon_poll(&pace);
	assert_true(host.share == 1 && !host.backwards);
	/* time that is limited goes by, whatever else is known, from where the phase began */
	problem.time_limit = 60;
	kanon_pace_limit(&pace, &problem, "before");
	clock_at = 120;
	host.share = 0;
	kanon_pace_open(&pace, "open");
	kanon_poll(&pace);
	assert_true(host.share == 0);
	clock_at = 130;
	kanon_poll(&pace);
	assert_true(fabs(host.share - 0.25) < 1e-9 && !pace.late);
	kanon_pace_done(&pace, 0.1);
	kanon_poll(&pace);
	assert_true(fabs(host.share - 0.25) < 1e-9);
	clock_at = 170;
	kanon_poll(&pace);
	assert_true(host.share == 1 && pace.late);
	/* others tell what they are told to */
	kanon_pace_phase(&pace, "open");
	kanon_poll(&pace);
	assert_true(host.share == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scratch), cmocka_unit_test(test_refused), cmocka_unit_test(test_grow),
		cmocka_unit_test(test_heap),    cmocka_unit_test(test_sort),    cmocka_unit_test(test_random),
		cmocka_unit_test(test_hash),    cmocka_unit_test(test_pace),    cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
