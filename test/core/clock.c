/*
 * clock.c: the clocks of others, which go as the host's does (fixture.h): no test depends on how fast the machine is.
 */
#define _GNU_SOURCE
#include <time.h>
#ifdef HAVE_LEMON
#include <pthread.h>
#endif

#include "fixture.h"

#ifdef HAVE_GLPK
#include <glpk.h>

/* (in the place of GLPK's own: milliseconds) */
double
glp_time(void)
{
	static double passed;
	struct timespec now;

	if (!fixture_true_time)
		return passed += 0x1p-10;
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
	return fixture_true_time ? pthread_cond_clockwait(cond, mutex, CLOCK_REALTIME, until)
							 : pthread_cond_wait(cond, mutex);
}
#endif
#endif
