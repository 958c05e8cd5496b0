/*
 * test_signatures.c: persons who stay among the same values: what is assigned, night after night, and what somebody can tell
 * who keeps all releases and knows everybody's class.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cluster/clustering.h"
#include "cluster/signatures.h"
#include "fixture.h"

#define MOST_PERSONS 400
#define MOST_VALUES 8

/* Persons over the nights, by number. */
typedef struct Series
{
	Host host;
	uint64_t random;
	uint32_t values, l;
	int64_t k;
	KanonSignatures signatures;
	uint32_t n; /* who have ever been there */
	bool there[MOST_PERSONS];
	uint32_t value[MOST_PERSONS];
	uint32_t signature[MOST_PERSONS];
	int64_t since[MOST_PERSONS];
	/* of the night at hand */
	KanonNight night;
	uint32_t who[MOST_PERSONS], values_now[MOST_PERSONS], before[MOST_PERSONS], now[MOST_PERSONS];
	int64_t waits[MOST_PERSONS];
} Series;

static void
begin(Series *s, uint64_t seed, uint32_t persons)
{
	memset(s, 0, sizeof(*s));
	host_init(&s->host);
	s->random = seed;
	s->values = 2 + random_below(&s->random, MOST_VALUES - 1);
	s->l = 2 + random_below(&s->random, s->values < 5 ? s->values - 1 : 4);
	s->k = 2 + random_below(&s->random, 6);
	for (s->n = 0; s->n < persons; s->n++)
	{
		s->there[s->n] = true;
		s->value[s->n] = random_below(&s->random, s->values);
		s->signature[s->n] = KANON_NO_SIGNATURE;
		s->since[s->n] = INT64_MAX;
	}
}

/* Some leave, come back, change and join. */
static void
pass_night(Series *s, uint32_t share, bool change)
{
	uint32_t joiners = random_below(&s->random, 1 + s->n * share / 100);

	for (uint32_t i = 0; i < s->n; i++)
	{
		if (random_below(&s->random, 100) < share)
			s->there[i] = !s->there[i] && random_below(&s->random, 3) == 0;
		if (change && random_below(&s->random, 100) < share)
			s->value[i] = random_below(&s->random, s->values);
	}
	for (; joiners > 0 && s->n < MOST_PERSONS; joiners--, s->n++)
	{
		s->there[s->n] = true;
		s->value[s->n] = random_below(&s->random, s->values);
		s->signature[s->n] = KANON_NO_SIGNATURE;
		s->since[s->n] = INT64_MAX;
	}
}

static void
fill_night(Series *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->there[i])
		{
			s->who[n] = i;
			s->values_now[n] = s->value[i];
			s->before[n] = s->signature[i];
			s->waits[n++] = s->since[i];
		}
	s->night = (KanonNight){.env = &s->host.env,
							.persons = n,
							.values = s->values,
							.l = s->l,
							.k = s->k,
							.value = s->values_now,
							.before = s->before,
							.since = s->waits};
}

static bool
share_a_value(const KanonSignatures *signatures, uint32_t a, uint32_t b)
{
	for (size_t i = signatures->first[a]; i < signatures->first[a + 1]; i++)
		if (kanon_signature_has(signatures, b, signatures->value[i]))
			return true;
	return false;
}

/* What is promised of the night's signatures. */
static void
check_night(const Series *s)
{
	const KanonSignatures *signatures = &s->signatures;
	uint32_t *rows = calloc((size_t) signatures->n * MOST_VALUES + 1, sizeof(uint32_t));

	for (uint32_t i = 0; i < signatures->n; i++)
	{
		assert_true(signatures->first[i + 1] - signatures->first[i] >= s->l);
		for (size_t j = signatures->first[i] + 1; j < signatures->first[i + 1]; j++)
			assert_true(signatures->value[j - 1] < signatures->value[j]);
	}
	for (uint32_t i = 0; i < s->night.persons; i++)
	{
		uint32_t now = s->now[i], before = s->before[i];

		if (now == KANON_NO_SIGNATURE)
			continue;
		assert_true(now < signatures->n);
		assert_true(kanon_signature_has(signatures, now, s->values_now[i]));
		if (before != KANON_NO_SIGNATURE && kanon_signature_has(signatures, before, s->values_now[i]))
			assert_int_equal(now, before);
		else if (before != KANON_NO_SIGNATURE)
			assert_false(share_a_value(signatures, now, before));
		rows[now * MOST_VALUES + s->values_now[i]]++;
	}
	for (uint32_t i = 0; i < signatures->n; i++)
	{
		uint32_t n = rows[i * MOST_VALUES + signatures->value[signatures->first[i]]];
		size_t values = signatures->first[i + 1] - signatures->first[i];

		for (size_t j = signatures->first[i]; j < signatures->first[i + 1]; j++)
			assert_int_equal(rows[i * MOST_VALUES + signatures->value[j]], n);
		assert_true(n == 0 || (int64_t) (n * values) >= s->k);
	}
	free(rows);
}

/* Who is shown keeps the signature; who waits does so since tonight, or longer. */
static void
keep_night(Series *s, int64_t release)
{
	for (uint32_t i = 0; i < s->night.persons; i++)
	{
		uint32_t who = s->who[i];

		if (s->now[i] != KANON_NO_SIGNATURE)
		{
			s->signature[who] = s->now[i];
			s->since[who] = INT64_MAX;
		}
		else if (s->since[who] == INT64_MAX)
			s->since[who] = release;
	}
}

static uint32_t
count_shown(const Series *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->night.persons; i++)
		n += s->now[i] != KANON_NO_SIGNATURE;
	return n;
}

/* The most groups of l different values, by trying all. */
static uint32_t
most_groups(uint32_t *left, uint32_t values, uint32_t l, uint32_t from, uint32_t chosen, uint32_t memory[])
{
	uint32_t most = 0, code = 0;

	if (from == 0 && chosen == 0)
	{
		for (uint32_t v = 0; v < values; v++)
			code = code * 8 + left[v];
		if (memory[code] > 0)
			return memory[code] - 1;
	}
	if (chosen == l)
		return 1 + most_groups(left, values, l, 0, 0, memory);
	for (uint32_t v = from; v < values; v++)
		if (left[v] > 0)
		{
			uint32_t got;

			left[v]--;
			got = most_groups(left, values, l, v + 1, chosen + 1, memory);
			left[v]++;
			most = got > most ? got : most;
		}
	if (from == 0 && chosen == 0)
		memory[code] = most + 1;
	return most;
}

/* In the first release as many are shown as can be. */
static void
test_first(void **state)
{
	uint32_t *memory = calloc(1 << 15, sizeof(uint32_t));

	(void) state;
	for (int i = 0; i < cases(400); i++)
	{
		Series s;
		uint32_t left[MOST_VALUES] = {0}, groups;

		begin(&s, (uint64_t) i + 1, 3 + (uint32_t) i % 16);
		s.values = s.values > 5 ? 5 : s.values;
		s.l = s.l > s.values ? s.values : s.l;
		s.k = 2;
		for (uint32_t p = 0; p < s.n; p++)
		{
			s.value[p] %= s.values;
			if (left[s.value[p]] < 7)
				left[s.value[p]]++;
			else
				s.there[p] = false;
		}
		memset(memory, 0, sizeof(uint32_t) << 15);
		groups = most_groups(left, s.values, s.l, 0, 0, memory);
		fill_night(&s);
		assert_int_equal(kanon_signatures_assign(&s.night, &s.signatures, s.now), KANON_OK);
		check_night(&s);
		assert_int_equal(count_shown(&s), groups * s.l);
		kanon_signatures_free(&s.host.env, &s.signatures);
		assert_int_equal(s.host.blocks, 0);
	}
	free(memory);
}

static void
test_nights(void **state)
{
	uint32_t shown = 0, all = 0;

	(void) state;
	for (int i = 0; i < cases(300); i++)
	{
		Series s;

		begin(&s, (uint64_t) i + 7000, 10 + (uint32_t) i % 200);
		for (int64_t release = 1; release <= 20; release++)
		{
			fill_night(&s);
			assert_int_equal(kanon_signatures_assign(&s.night, &s.signatures, s.now), KANON_OK);
			check_night(&s);
			shown += count_shown(&s);
			all += s.night.persons;
			keep_night(&s, release);
			pass_night(&s, 2 + (uint32_t) i % 20, i % 2 == 0);
		}
		kanon_signatures_free(&s.host.env, &s.signatures);
		assert_int_equal(s.host.blocks, 0);
	}
	/* (values are as frequent as one another, so that few have to wait) */
	assert_true(shown > all / 2);
}

/* A leaver's place is taken by a joiner with the same value; where nobody joins, the others wait, and come back. */
static void
test_places(void **state)
{
	uint32_t value[] = {0, 1, 2}, now[3];
	uint32_t before[] = {0, 0, KANON_NO_SIGNATURE};
	int64_t since[] = {INT64_MAX, INT64_MAX, INT64_MAX};
	Host host;
	KanonSignatures signatures = {0};
	KanonNight night = {
		.persons = 3, .values = 3, .l = 3, .k = 2, .value = value, .before = before, .since = since};

	(void) state;
	host_init(&host);
	night.env = &host.env;
	assert_true(kanon_signatures_add(&host.env, &signatures, value, 3));
	assert_int_equal(kanon_signatures_assign(&night, &signatures, now), KANON_OK);
	assert_int_equal(now[0], 0);
	assert_int_equal(now[1], 0);
	assert_int_equal(now[2], 0);
	/* one with another value takes no place */
	value[2] = 1;
	assert_int_equal(kanon_signatures_assign(&night, &signatures, now), KANON_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(now[i], KANON_NO_SIGNATURE);
	/* nor does one who had a signature with a value of this one, however well the value fits */
	value[2] = 2;
	before[2] = 1;
	assert_true(kanon_signatures_add(&host.env, &signatures, (uint32_t[]){0, 1, 3}, 3));
	assert_int_equal(kanon_signatures_assign(&night, &signatures, now), KANON_OK);
	assert_int_equal(now[2], KANON_NO_SIGNATURE);
	assert_int_equal(now[0], KANON_NO_SIGNATURE);
	kanon_signatures_free(&host.env, &signatures);
}

/* ---- with classes ---- */

#define FEW 7

/* Who was in which class in each release: of those who were, the values that the class showed. */
typedef struct Releases
{
	int n;
	uint32_t class_[8][FEW];
	uint32_t shown[8][FEW][MOST_VALUES]; /* of class and value */
} Releases;

/* The problem of those who are there, a row type each; *person: whose each is. */
static KanonProblem *
problem_of(Series *s, const uint32_t (*qi)[2], struct KanonClusterOptions *options, uint32_t *person)
{
	static const KanonClusterShow show[] = {KANON_CLUSTER_RANGE, KANON_CLUSTER_SUPPRESS};
	uint32_t *code = malloc(sizeof(uint32_t) * 3 * s->night.persons);
	KanonProblem *problem;

	for (uint32_t i = 0; i < s->night.persons; i++)
	{
		code[3 * i] = qi[s->who[i]][0];
		code[3 * i + 1] = qi[s->who[i]][1];
		code[3 * i + 2] = i;
	}
	problem = problem_from_codes(&s->host, code, s->night.persons, 3, s->k);
	free(code);
	for (uint32_t i = 0; i < problem->ntypes; i++)
		person[i] = problem->columns[2].code[i];
	problem->ncolumns = 2;
	options->show = show;
	options->partition_size = 0;
	problem->cluster = options;
	problem->residual = KANON_RESIDUAL_DROP;
	problem->leaves_out = true;
	return problem;
}

/* The night's release; its classes have the values of a signature in equal numbers, and k rows. */
static KanonStatus
solve_night(Series *s, const uint32_t (*qi)[2], uint32_t *class_)
{
	struct KanonClusterOptions options;
	uint32_t person[MOST_PERSONS], value[MOST_PERSONS], before[MOST_PERSONS], now[MOST_PERSONS];
	int64_t since[MOST_PERSONS];
	KanonNight night;
	KanonRelease release;
	KanonReport report;
	KanonStatus status;
	KanonProblem *problem;

	fill_night(s);
	problem = problem_of(s, qi, &options, person);
	assert_int_equal(problem->ntypes, s->night.persons);
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		value[i] = s->values_now[person[i]];
		before[i] = s->before[person[i]];
		since[i] = s->waits[person[i]];
	}
	night = s->night;
	night.value = value;
	night.before = before;
	night.since = since;
	status = kanon_signatures_assign(&night, &s->signatures, now);
	if (status == KANON_OK)
		status = kanon_signatures_solve(problem, &night, &s->signatures, now, &release, &report);
	if (status == KANON_OK)
	{
		for (uint32_t i = 0; i < problem->ntypes; i++)
			s->now[person[i]] = now[i];
		check_night(s);
		for (size_t f = 0; f < release.nflows; f++)
		{
			uint32_t i = person[release.flows[f].type];

			class_[i] = release.flows[f].class_;
			assert_int_equal(class_[i] == KANON_DROPPED, s->now[i] == KANON_NO_SIGNATURE);
		}
		kanon_release_free(problem, &release);
	}
	problem->ncolumns = 3;
	problem_free(problem);
	return status;
}

/* Do these values give what each release showed? */
static bool
fits_releases(const Releases *r, const uint32_t *value, uint32_t n, uint32_t values)
{
	for (int i = 0; i < r->n; i++)
	{
		uint32_t found[FEW][MOST_VALUES] = {{0}};

		for (uint32_t p = 0; p < n; p++)
			if (r->class_[i][p] != KANON_DROPPED)
				found[r->class_[i][p]][value[p]]++;
		for (uint32_t c = 0; c < n; c++)
			for (uint32_t v = 0; v < values; v++)
				if (found[c][v] != r->shown[i][c][v])
					return false;
	}
	return true;
}

/* Of all values that fit all releases, no person has one in more than an l-th. */
static void
attack(const Series *s, const Releases *r)
{
	uint64_t worlds = 0, having[FEW][MOST_VALUES] = {{0}}, all = 1;
	uint32_t value[FEW];

	for (uint32_t p = 0; p < s->n; p++)
		all *= s->values;
	for (uint64_t world = 0; world < all; world++)
	{
		uint64_t rest = world;

		for (uint32_t p = 0; p < s->n; p++, rest /= s->values)
			value[p] = (uint32_t) (rest % s->values);
		if (!fits_releases(r, value, s->n, s->values))
			continue;
		worlds++;
		for (uint32_t p = 0; p < s->n; p++)
			having[p][value[p]]++;
	}
	assert_true(worlds > 0);
	for (uint32_t p = 0; p < s->n; p++)
		for (uint32_t v = 0; v < s->values && s->signature[p] != KANON_NO_SIGNATURE; v++)
			assert_true(having[p][v] * s->l <= worlds);
}

/* Who knows everybody's class in each release, and that values stay, is never surer than 1/l. */
static void
test_attack(void **state)
{
	uint32_t nights = 0;

	(void) state;
	for (int i = 0; i < cases(300); i++)
	{
		Series s;
		Releases r = {0};
		uint32_t qi[MOST_PERSONS][2];

		begin(&s, (uint64_t) i + 90000, 6);
		s.values = s.values > 4 ? 4 : s.values;
		s.l = s.l > s.values ? s.values : s.l;
		s.k = 2;
		for (uint32_t p = 0; p < FEW; p++)
		{
			s.value[p] %= s.values;
			/* (alike, they would be in one class with two signatures, which is another attack) */
			qi[p][0] = 3 * p;
			qi[p][1] = random_below(&s.random, 2);
		}
		for (r.n = 0; r.n < 5;)
		{
			uint32_t class_[MOST_PERSONS];

			assert_int_equal(solve_night(&s, (const uint32_t(*)[2]) qi, class_), KANON_OK);
			for (uint32_t p = 0; p < FEW; p++)
				r.class_[r.n][p] = KANON_DROPPED;
			for (uint32_t p = 0; p < s.night.persons; p++)
			{
				r.class_[r.n][s.who[p]] = class_[p];
				if (class_[p] != KANON_DROPPED)
					r.shown[r.n][class_[p]][s.values_now[p]]++;
			}
			nights += count_shown(&s) > 0;
			r.n++;
			keep_night(&s, r.n);
			pass_night(&s, 30, false);
			s.n = s.n > FEW ? FEW : s.n;
		}
		attack(&s, &r);
		kanon_signatures_free(&s.host.env, &s.signatures);
	}
	assert_true(nights > (uint32_t) cases(300));
}

/* Classes have the values of one signature in equal numbers, and lose little: no more than all in one class. */
static void
test_classes(void **state)
{
	(void) state;
	for (int i = 0; i < cases(60); i++)
	{
		Series s;
		uint32_t qi[MOST_PERSONS][2], class_[MOST_PERSONS];

		begin(&s, (uint64_t) i + 500, 30 + (uint32_t) i * 3);
		for (uint32_t p = 0; p < MOST_PERSONS; p++)
		{
			qi[p][0] = random_below(&s.random, 1000) * 400 + p;
			qi[p][1] = random_below(&s.random, 3);
		}
		for (int64_t release = 1; release <= 4; release++)
		{
			assert_int_equal(solve_night(&s, (const uint32_t(*)[2]) qi, class_), KANON_OK);
			for (uint32_t c = 0; c < s.night.persons; c++)
			{
				uint32_t rows[MOST_VALUES] = {0}, signature = KANON_NO_SIGNATURE, all = 0;

				for (uint32_t p = 0; p < s.night.persons; p++)
					if (class_[p] == c)
					{
						assert_true(signature == KANON_NO_SIGNATURE || s.now[p] == signature);
						signature = s.now[p];
						rows[s.values_now[p]]++;
						all++;
					}
				if (all == 0)
					continue;
				assert_true(all >= s.k && all < 2 * (s.k + s.values));
				for (uint32_t v = 0; v < s.values; v++)
					assert_int_equal(rows[v] > 0, kanon_signature_has(&s.signatures, signature, v));
				for (uint32_t v = 0; v < s.values; v++)
					assert_true(rows[v] == 0 ||
								rows[v] == rows[s.signatures.value[s.signatures.first[signature]]]);
			}
			keep_night(&s, release);
			pass_night(&s, 10, true);
		}
		kanon_signatures_free(&s.host.env, &s.signatures);
		assert_int_equal(s.host.blocks, 0);
	}
}

/* Memory that is refused, and polls that are answered with yes. */
static void
test_failures(void **state)
{
	static const KanonStatus how[] = {KANON_NO_MEMORY, KANON_CANCELLED};

	(void) state;
	for (int i = 0; i < 2; i++)
	{
		Failure failure = {.how = how[i]};

		while (fails_again(&failure))
		{
			Series s;
			uint32_t qi[MOST_PERSONS][2], class_[MOST_PERSONS];

			begin(&s, 77, 60);
			for (uint32_t p = 0; p < MOST_PERSONS; p++)
			{
				qi[p][0] = p * 7 % 60;
				qi[p][1] = p % 3;
			}
			assert_int_equal(solve_night(&s, (const uint32_t(*)[2]) qi, class_), KANON_OK);
			keep_night(&s, 1);
			pass_night(&s, 20, true);
			fail_at(&s.host, &failure);
			failure.status = solve_night(&s, (const uint32_t(*)[2]) qi, class_);
			kanon_signatures_free(&s.host.env, &s.signatures);
			assert_int_equal(s.host.blocks, 0);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),  cmocka_unit_test(test_nights),  cmocka_unit_test(test_places),
		cmocka_unit_test(test_attack), cmocka_unit_test(test_classes), cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
