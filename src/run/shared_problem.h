/*
 * shared_problem.h: a problem in shared memory, for parallel workers.
 */
#ifndef KANON_SHARED_PROBLEM_H
#define KANON_SHARED_PROBLEM_H

#include "host/border.h"

/* Its pointers, and the columns', mean nothing there; its arrays lie behind it. */
typedef struct SharedProblem
{
	KanonProblem problem;
	KanonColumn columns[KANON_MAX_COLUMNS];
} SharedProblem;

/* A process's own, whose arrays are the shared ones. */
typedef struct FoundProblem
{
	KanonProblem problem;
	KanonColumn columns[KANON_MAX_COLUMNS];
} FoundProblem;

/* Privacy rules stay where their dictionaries are. */
extern bool problem_can_be_shared(const KanonProblem *problem);

/* Bytes that the arrays take. */
extern Size shared_problem_size(const KanonProblem *problem);

extern void shared_problem_put(const KanonProblem *problem, SharedProblem *shared, char *arrays);
extern void shared_problem_find(const SharedProblem *shared, char *arrays, Border *border,
								FoundProblem *found);

#endif
