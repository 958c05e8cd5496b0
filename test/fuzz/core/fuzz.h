/*
 * fuzz.h: what the fuzz targets of the core have in common: bytes as choices, and an end.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "fixture.h"
#include "privacy/rules.h"

typedef struct Fuzz
{
	const uint8_t *data;
	size_t size;
} Fuzz;

/* Below n, from the next byte; 0 when there are no more. */
extern uint32_t fuzz_below(Fuzz *in, uint32_t n);

/* A promise is broken: says so and aborts, which the fuzzer takes for a crash. */
extern void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* A clock that goes on by a step with every look, so that an input always does the same. */
extern void fuzz_clock(Host *host);

/* For qsort of doubles. */
extern int fuzz_ascending(const void *a, const void *b);

/* Codes without gaps, in the same order; no weight. */
extern void dense(KanonColumn *column, uint32_t ntypes);

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
