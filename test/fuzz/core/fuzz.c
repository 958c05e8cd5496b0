/*
 * fuzz.c: bytes as choices.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "fuzz.h"

uint32_t
fuzz_below(Fuzz *in, uint32_t n)
{
	uint32_t byte;

	if (in->size == 0)
		return 0;
	byte = *in->data++;
	in->size--;
	return byte % n;
}

void
fuzz_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("BROKEN: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}

static double
fuzz_now(void *arg)
{
	static double now;

	(void) arg;
	return now += 1e-4;
}

void
fuzz_clock(Host *host)
{
	host->env.now = fuzz_now;
}

int
fuzz_ascending(const void *a, const void *b)
{
	double left = *(const double *) a, right = *(const double *) b;

	return (left > right) - (left < right);
}
