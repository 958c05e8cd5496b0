/*
 * pool.h: parallel workers who share one backend's work.
 *
 * A pool has a block of shared memory and works in rounds: pool_start calls the
 * workers, each does what there is to do by the block, beside the caller, and
 * pool_wait returns when all have.  Between rounds the block is the caller's.
 */
#ifndef KANON_POOL_H
#define KANON_POOL_H

#include "host/border.h"

#include "port/atomics.h"
#include "storage/dsm.h"
#include "storage/shm_toc.h"

typedef struct Pool Pool;

/* The work of workers. */
typedef struct PoolWork
{
	const char *entry; /* the exported function in which they begin, and call pool_worker */
	const char *name;  /* what their memory is called */

	/* Once in each worker; members: 1, 2, ... beside the caller. */
	void *(*open)(Border *border, void *block, int member);
	/* Its share of a round. */
	void (*round)(void *state);
} PoolWork;

/*
 * How many workers are worth their start for so many tasks that take so long in all:
 * as many as the planner's settings allow, or none.
 */
extern int pool_wanted(double ms, uint32 tasks);

/*
 * Starts so many, or as many as there are; NULL: none (they are taken, or shared memory
 * or the budget is short), and the caller works alone.  With `say` a NOTICE tells who
 * asked for them.  They and the caller share what is left of the caller's memory.
 * caller: the SQL function that was called, whose library they load.
 */
extern Pool *pool_create(const PoolWork *work, Oid caller, Border *border, Size size, int workers, bool say);

extern void *pool_block(const Pool *pool);
extern int pool_workers(const Pool *pool);

/* A round in which the caller does its share with a state of its own; raises what ends it. */
extern void pool_round(Pool *pool, void *state);

/* Sends the workers home.  NULL is none. */
extern void pool_end(Pool *pool);

/* A worker's work from beginning to end. */
extern void pool_worker(shm_toc *toc, const PoolWork *work);

/* Tasks of a round, in the block: who is free takes the next. */
typedef struct PoolTasks
{
	uint32 n;
	pg_atomic_uint32 next;
} PoolTasks;

static inline void
pool_tasks_init(PoolTasks *tasks, uint32 n)
{
	tasks->n = n;
	pg_atomic_init_u32(&tasks->next, 0);
}

/* False: none is left. */
static inline bool
pool_task(PoolTasks *tasks, uint32 *task)
{
	*task = pg_atomic_fetch_add_u32(&tasks->next, 1);
	return *task < tasks->n;
}

/*
 * A pool as the core sees it: its open starts the pool, pool_team_end sends the workers home.
 */
typedef struct PoolTeam
{
	KanonTeam team;
	const PoolWork *work;
	Oid caller;
	Border *border;
	bool say;
	Pool *pool; /* NULL: it is not open */
} PoolTeam;

/* A team of at most so many workers beside the caller; otherwise as pool_create. */
extern void pool_team_init(PoolTeam *team, const PoolWork *work, Oid caller, Border *border, int workers,
						   bool say);
extern void pool_team_end(PoolTeam *team);

/* The library that an SQL function is in, as it was named when that was created. */
extern char *library_of(Oid function);

#endif
