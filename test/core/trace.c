/*
 * trace.c: what each test asked of its host, told it and released.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#ifdef HAVE_GLPK
#include <glpk.h>
#endif
#ifdef HAVE_LEMON
#include <pthread.h>
#endif
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "exactly.h"
#include "fixture.h"
#include "util/pace.h"

#undef kanon_release_free

/* With tiny limits a smaller share of the tables, as under the sanitizers. */
#if KANON_POLL_WORK == 1 << 18
#define RECORDED "trace.inc"
#define SHARE "20"
#else
#define RECORDED "trace_tiny.inc"
#define SHARE "10"
#endif

/* 0: not compared */
static const struct
{
	const char *test;
	uint32_t digest;
} before[] = {
#if KANON_POLL_WORK == 1 << 18
#include "trace.inc"
#else
#include "trace_tiny.inc"
#endif
};

static const char *test;

/* ---- others' clocks, which go as the host's does ---- */

#ifdef HAVE_GLPK
/* (in the place of GLPK's own: milliseconds) */
double
glp_time(void)
{
	struct timespec now;

	if (!fixture_trace.real)
		return fixture_trace.glpk += 0x1p-10;
	clock_gettime(CLOCK_REALTIME, &now);
	return (double) now.tv_sec * 1e3 + (double) now.tv_nsec * 1e-6;
}

double
glp_difftime(double to, double from)
{
	return (to - from) / 1000;
}
#endif

#if defined(HAVE_LEMON) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 30)
/* (in the place of the library's: what waits for LEMON has no reason to ask the host meanwhile) */
int
pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
	return fixture_trace.real ? pthread_cond_clockwait(cond, mutex, CLOCK_REALTIME, until)
							  : pthread_cond_wait(cond, mutex);
}
#endif
#endif

/* ---- compared ---- */

/* Why what was recorded may be another here, where all is as right; NULL: it may not. */
static const char *
why_not(void)
{
#if !defined(__x86_64__) || !defined(__LP64__) || defined(__FMA__)
	return "another processor";
#elif !defined(__GNUC__) || defined(__clang__)
	return "another compiler";
#elif defined(__SANITIZE_ADDRESS__)
	return "sanitizers";
#elif !defined(HAVE_GLPK) || !defined(HAVE_LEMON) || !defined(__GLIBC__)
	return "other libraries";
#else
	const char *share = getenv("KANON_TEST_SHARE");

	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return "another processor";
	if (strcmp(glp_version(), "5.0") != 0 || strcmp(gnu_get_libc_version(), "2.36") != 0)
		return "other libraries";
	return share != NULL && strcmp(share, SHARE) == 0 ? NULL : "KANON_TEST_SHARE is not " SHARE;
#endif
}

int
trace_begin(void **state)
{
	test = *state;
	*state = NULL;
	fixture_trace = (FixtureTrace){0};
	return 0;
}

int
trace_end(void **state)
{
	static bool told;
	uint32_t digest = fixture_trace.real ? 0 : fixture_trace.digest;
	const char *measure = getenv("KANON_MEASURE");
	const char *why = why_not();

	(void) state;
	if (measure != NULL && why == NULL)
		printf("\t{\"%s\", 0x%08x},\n", test, digest);
	if (measure != NULL)
		return 0;
	if (why != NULL)
	{
		if (!told)
			print_message("not compared with " RECORDED ": %s\n", why);
		told = true;
		return 0;
	}
	for (size_t t = 0; t < sizeof(before) / sizeof(before[0]); t++)
		if (strcmp(before[t].test, test) == 0)
		{
			if (before[t].digest == digest || before[t].digest == 0 || digest == 0)
				return 0;
			print_error("%s went another way than before (trace.h): 0x%08x\n", test, digest);
			return 1;
		}
	print_error("nothing is known of %s: make -C test/core exactly\n", test);
	return 1;
}

void
trace_release(const KanonProblem *problem, KanonRelease *release)
{
	Seen seen = {""};

	if (release->classes != NULL && release->cells != NULL)
	{
		seen_release(&seen, problem, release);
		fixture_note(seen.digest);
	}
	kanon_release_free(problem, release);
}
