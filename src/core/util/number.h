/*
 * number.h: loops over numbers
 */
#ifndef KANON_NUMBER_H
#define KANON_NUMBER_H

/* fmax and fmin where nothing is a NaN: those of the C library are calls. */
static inline double
kanon_max(double a, double b)
{
	return a > b ? a : b;
}

static inline double
kanon_min(double a, double b)
{
	return a < b ? a : b;
}

/*
 * A function with LONG_VECTORS takes vectors twice as long on processors that have them, if the
 * loader can choose.  Whole numbers come out the same.  A function that it calls in a loop is
 * INTO_THEM.  (Sanitizers are not ready that early.)
 */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && \
	!defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define LONG_VECTORS __attribute__((target_clones("avx2", "default")))
#define INTO_THEM static inline __attribute__((always_inline))
#else
#define LONG_VECTORS
#define INTO_THEM static inline
#endif

#endif
