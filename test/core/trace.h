/*
 * trace.h: what each test asked of its host, told it and released, compared with what it did before.
 *
 * Tests judge by definitions: a release is right, whatever the way to it.  A digest of all memory
 * that was asked for, in which order and with how much in use, of what was told at each poll, and
 * of each release when it is given back, notices any other way.  A change that is meant to take
 * one writes the digests anew: `make -C test/core exactly`, and its diff says which tests it
 * touched.
 *
 * They are the same however fast the machine is, since no test sees its time: the host's clock
 * and GLPK's go on a little with each look, and who waits for LEMON is not woken before it is
 * done.  A test that cannot do with that takes the true time (fixture_take_time), and has no
 * digest; nor has one that reads a file, or has no host.  They are compared where they were
 * recorded: on one kind of processor, with the libraries of Debian 12, without sanitizers, and
 * with the share of the random tables that `make check` takes; elsewhere others may be as right.
 */
#ifndef TRACE_H
#define TRACE_H

#include "kanon.h"

extern int trace_begin(void **state);
extern int trace_end(void **state);

/* kanon_release_free, but for a look at it before. */
extern void trace_release(const KanonProblem *problem, KanonRelease *release);

#ifdef cmocka_unit_test
#undef cmocka_unit_test
#define cmocka_unit_test(test)                                             \
	{                                                                      \
#test, test, trace_begin, trace_end, (void *) (__FILE__ ":" #test) \
	}
#define kanon_release_free(problem, release) trace_release(problem, release)
#endif

#endif
