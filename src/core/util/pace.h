/*
 * pace.h: when to poll the host, and what to say then.
 */
#ifndef KANON_PACE_H
#define KANON_PACE_H

#include <math.h>

#include "kanon.h"

/* Work (a memory access or two each) between two polls: a millisecond or so. */
#ifndef KANON_POLL_WORK
#define KANON_POLL_WORK (1 << 18)
#endif

/* Steps of the methods by integer programming: the same time, whatever the tests make of the other. */
#define KANON_STEPS 200000

/*
 * When to poll, what to say then, and the end of the time allowed.  Every loop reports
 * its work here.
 */
typedef struct KanonPace
{
	KanonEnv *env;
	const char *phase;
	double share; /* of the phase done */
	double from;  /* what is being done takes it from there, */
	double span;  /* by so much; 0: whoever does it sets the share */
	bool open;    /* nobody knows when the phase ends: it has done at least what was told, */
	double told;  /* that is, and that share of the time that it has */
	double began; /* env->now then, where time is limited */
	int64_t rows_left;
	uint64_t work; /* since the last poll */

	/* of the methods by integer programming, for the others 0 */
	uint64_t total;  /* work up to the last poll */
	double deadline; /* env->now when time is up; 0: never */
	uint64_t most;   /* total that is as good as time being up; 0: none */
	double cost;     /* of the best solution so far, */
	double bound;    /* and of all, */
	bool bounded;    /* where they are known */
	bool within;     /* searches within a phase do not tell their share */
	bool cancelled;
	bool late;
} KanonPace;

/* From the beginning of a phase on, how many rows are left is not known. */
static inline KanonPace
kanon_pace(KanonEnv *env, const char *phase)
{
	return (KanonPace){.env = env, .phase = phase, .rows_left = -1};
}

/* The same, and the first work that is reported is told at once. */
static inline KanonPace
kanon_pace_at_once(KanonEnv *env, const char *phase)
{
	return (KanonPace){.env = env, .phase = phase, .rows_left = -1, .work = KANON_POLL_WORK};
}

/* With the problem's time limit. */
extern void kanon_pace_limit(KanonPace *pace, const KanonProblem *problem, const char *phase);

/* The next step has so much of the time that is left until the deadline; all of it: 1. */
extern void kanon_pace_share(KanonPace *pace, double deadline, double share);

/* Polls now: true when the host wants the method to stop. */
extern bool kanon_poll(KanonPace *pace);

/* Some work was done: true if the host wants to stop. */
static inline bool
kanon_stop(KanonPace *pace, uint64_t work)
{
	pace->work += work;
	return pace->work >= KANON_POLL_WORK && kanon_poll(pace);
}

/* From here on the phase is this one. */
extern void kanon_pace_phase(KanonPace *pace, const char *phase);

/*
 * One of which nobody knows when it ends: kanon_pace_part, _done and _gap say what they
 * know of it, in any order; the largest is told, or the share of its time, if that is more.
 */
extern void kanon_pace_open(KanonPace *pace, const char *phase);

/* The next step is the i-th of n equal parts of the phase between two shares. */
static inline void
kanon_pace_part(KanonPace *pace, double from, double to, double i, double n)
{
	pace->span = (to - from) / n;
	pace->from = pace->share = from + i * pace->span;
}

/* So much of that is done. */
static inline void
kanon_pace_done(KanonPace *pace, double done)
{
	if (pace->span > 0)
		pace->share = pace->from + pace->span * done;
}

/* A search for the least cost: its bound has come so far, from the first one, to the best cost known. */
static inline void
kanon_pace_gap(KanonPace *pace, double first, double bound, double best)
{
	if (best < INFINITY && first > -INFINITY && best > first)
		kanon_pace_done(pace, fmin(fmax((bound - first) / (best - first), 0), 1));
}

/* The same of a method by integer programming. */
static inline bool
kanon_step(KanonPace *pace, uint64_t steps)
{
	pace->work += steps;
	return pace->work >= KANON_STEPS && kanon_poll(pace);
}

/* All work so far: the same in every run. */
static inline int64_t
kanon_worked(const KanonPace *pace)
{
	return (int64_t) (pace->total + pace->work);
}

/* So much of the phase's work is done. */
static inline void
kanon_tell_share(KanonPace *pace, double share)
{
	if (!pace->within)
		pace->share = share;
}

#endif
