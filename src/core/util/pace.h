/*
 * pace.h: when to poll the host, and what to say then.
 */
#ifndef KANON_PACE_H
#define KANON_PACE_H

#include "kanon.h"

/* Work (a memory access or two each) between two polls: a millisecond or so. */
#ifndef KANON_POLL_WORK
#define KANON_POLL_WORK (1 << 18)
#endif

/* When to poll, and what to say then. */
typedef struct KanonPace
{
	KanonEnv *env;
	const char *phase;
	double share;
	int64_t rows_left;
	uint64_t work; /* since the last poll */
} KanonPace;

/* Some work was done: true if the host wants to stop. */
static inline bool
kanon_stop(KanonPace *pace, uint64_t work)
{
	pace->work += work;
	if (pace->work < KANON_POLL_WORK)
		return false;
	pace->work = 0;
	return pace->env->poll(
		pace->env->arg,
		&(KanonProgress){.phase = pace->phase, .share = pace->share, .rows_left = pace->rows_left});
}

#endif
