/*
 * exactly.c: what came out, compared with what did before.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exactly.h"
#include "util/pace.h"

/* With tiny limits other steps lead there, and more is told on the way. */
static const Seen expected[] = {
#if KANON_POLL_WORK == 1 << 18
#include "exactly.inc"
#else
#include "exactly_tiny.inc"
#endif
};

const KanonReport seen_garbage = {.cost = 1e9,
								  .lower_bound = 1e9,
								  .guarantee = 1e9,
								  .proven = true,
								  .nodes = 1000000007,
								  .detail = "not solved"};

void
seen_written(const KanonReport *report)
{
	assert_non_null(memchr(report->detail, '\0', sizeof(report->detail)));
	assert_string_not_equal(report->detail, seen_garbage.detail);
	assert_true(report->nodes < seen_garbage.nodes);
}

void
seen_value(Seen *seen, int64_t value)
{
	seen->digest = (seen->digest ^ (uint32_t) value ^ (uint32_t) ((uint64_t) value >> 32)) * 16777619u + 1;
}

void
seen_figure(Seen *seen, int which, double value)
{
	/* of what may be huge the size, lest it hides the others */
	seen->figure[which] += !isfinite(value) ? 0.5 : fabs(value) > 1e4 ? 1e4 + log(fabs(value)) : value;
}

void
seen_text(Seen *seen, const char *text)
{
	for (; *text != '\0'; text++)
		seen_value(seen, *text);
}

void
seen_pattern(Seen *seen, KanonPattern pattern)
{
	seen_value(seen, (int64_t) pattern.word[0]);
	for (int w = 1; w < KANON_PATTERN_WORDS; w++)
		if (pattern.word[w] != 0)
			seen_value(seen, (int64_t) pattern.word[w]);
}

void
seen_release(Seen *seen, const KanonProblem *problem, const KanonRelease *release)
{
	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		seen_pattern(seen, release->classes[i].pattern);
		seen_value(seen, release->classes[i].rows);
		for (int c = 0; c < problem->ncolumns; c++)
		{
			const KanonCell *cell = &release->cells[(size_t) i * (size_t) problem->ncolumns + (size_t) c];

			seen_value(seen, cell->show);
			seen_value(seen, cell->code);
		}
	}
	for (size_t f = 0; f < release->nflows; f++)
	{
		seen_value(seen, release->flows[f].type);
		seen_value(seen, release->flows[f].class_);
		seen_value(seen, release->flows[f].rows);
	}
	for (size_t i = 0; i < release->npool && release->pool != NULL; i++)
		seen_value(seen, release->pool[i]);
	for (size_t i = 0; i < release->ngraph && release->graph != NULL; i++)
		seen_value(seen, release->graph[i]);
	seen_value(seen, release->dropped);
}

static bool
is_same(const Seen *seen, const Seen *as)
{
	bool same = seen->digest == as->digest;

	if (!same)
		print_error("%s: digest 0x%08x\n", seen->what, seen->digest);
	for (int i = 0; i < SEEN_FIGURES; i++)
		if (fabs(seen->figure[i] - as->figure[i]) > 1e-9 * (1 + fabs(as->figure[i])))
		{
			print_error("%s: figure %d is %.13g\n", seen->what, i, seen->figure[i]);
			same = false;
		}
	return same;
}

void
seen_compare(const Seen *seen)
{
	const char *measure = getenv("KANON_MEASURE");

	if (measure != NULL)
	{
		printf("\t{\"%s\", 0x%08x, {", seen->what, seen->digest);
		for (int i = 0; i < SEEN_FIGURES; i++)
			printf("%s%.13g", i > 0 ? ", " : "", seen->figure[i]);
		printf("}},\n");
		return;
	}
	for (size_t e = 0; e < sizeof(expected) / sizeof(Seen); e++)
		if (strcmp(expected[e].what, seen->what) == 0)
		{
			assert_true(is_same(seen, &expected[e]));
			return;
		}
	fail_msg("nothing is known of %s", seen->what);
}
