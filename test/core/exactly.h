/*
 * exactly.h: what came out, and what it took, compared with what did before.
 *
 * What is right is tested elsewhere, against definitions; here it is noticed that something
 * else comes out than before, be it as right.  A change that is meant to do that changes the
 * figures: `make exactly` writes them into exactly.inc, with tiny limits into
 * exactly_tiny.inc.
 */
#ifndef EXACTLY_H
#define EXACTLY_H

#include "fixture.h"

#define SEEN_TABLES 30
#define SEEN_FIGURES 10

/* Of all tables of a kind: sums of figures, and a digest of what came out, value by value. */
typedef struct Seen
{
	const char *what;
	uint32_t digest;
	double figure[SEEN_FIGURES];
} Seen;

/* What a report is before anything was solved. */
extern const KanonReport seen_garbage;

/* Of that nothing is left, whatever came out. */
extern void seen_written(const KanonReport *report);

extern void seen_value(Seen *seen, int64_t value);
extern void seen_pattern(Seen *seen, KanonPattern pattern);
extern void seen_figure(Seen *seen, int which, double value);
extern void seen_text(Seen *seen, const char *text);
extern void seen_release(Seen *seen, const KanonProblem *problem, const KanonRelease *release);

/* Fails unless it is what is expected by that name. */
extern void seen_compare(const Seen *seen);

#endif
