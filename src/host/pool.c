/*
 * pool.c: parallel workers who share one backend's work.
 *
 * The workers turn to the next round when `turn` grows, and the last one to be done
 * wakes the caller; a round may take some hundred microseconds, so both look for a
 * while before they sleep.
 */
#include "compat.h"
#include "host/pool.h"
#include "host/settings.h"

#ifdef __linux__
#include <sys/statvfs.h>
#endif

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/dsm_impl.h"
#include "storage/latch.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

/* To start workers takes some milliseconds; it goes with what the planner takes for the cost of it. */
#define LEAST_WORK_MS (40.0 * parallel_setup_cost / DEFAULT_PARALLEL_SETUP_COST)

/* Looks before somebody sleeps: some ten microseconds. */
#define LOOKS 5000

/* How often the caller makes sure that the workers are there, in ms. */
#define WATCH_MS 100

/* Keys of the parts of shared memory. */
enum
{
	KEY_SHARED = 1,
	KEY_BLOCK
};

typedef struct Shared
{
	Size limit; /* bytes that each may take */
	bool end;
	Latch *caller;
	pg_atomic_uint32 turn;                /* rounds so far */
	pg_atomic_uint32 busy;                /* workers who are at the present one */
	Latch *worker[FLEXIBLE_ARRAY_MEMBER]; /* NULL: does not sleep yet */
} Shared;

struct Pool
{
	const PoolWork *work;
	Border *border;
	Size limit; /* the border's own */
	Size size;  /* of the block */
	ParallelContext *context;
	Shared *shared;
};

int
pool_wanted(double ms, uint32 tasks)
{
	if (tasks < 2 || ms < LEAST_WORK_MS || IsInParallelMode())
		return 0;
	return Min((uint32) max_parallel_workers_per_gather, tasks - 1);
}

/*
 * Is there so much shared memory?  A file system that is full shows only when it
 * fails (in a container it may have 64 MB).
 */
static bool
has_shared_memory(Size size)
{
#ifdef __linux__
	struct statvfs room;

	if (dynamic_shared_memory_type == DSM_IMPL_POSIX && statvfs("/dev/shm", &room) == 0)
		return (uint64) room.f_bavail * room.f_frsize / 10 * 9 > size;
#endif
	return true;
}

static void
say_missing(int launched, int wanted, const char *why)
{
	ereport(NOTICE, (errmsg("%d of %d parallel workers take part", launched, wanted), errdetail("%s", why),
					 errhint("The result is the same, it only takes longer.")));
}

char *
library_of(Oid function)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Datum path;
	bool isnull;
	char *result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	path = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &isnull);
	if (isnull)
		elog(ERROR, "function %u has no library", function);
	result = TextDatumGetCString(path);
	ReleaseSysCache(tuple);
	return result;
}

/* False: there are none. */
static bool
launch(Pool *pool, Oid caller, int workers)
{
	Border *border = pool->border;
	Size head = offsetof(Shared, worker) + sizeof(Latch *) * workers;
	ParallelContext *context;

	EnterParallelMode();
	pool->context = context = CreateParallelContext(library_of(caller), pool->work->entry, workers);
	shm_toc_estimate_chunk(&context->estimator, head);
	shm_toc_estimate_chunk(&context->estimator, pool->size);
	shm_toc_estimate_keys(&context->estimator, KEY_BLOCK);
	InitializeParallelDSM(context);
	pool->shared = shm_toc_allocate(context->toc, head);
	memset(pool->shared, 0, head);
	/* together all take no more than one would alone */
	pool->shared->limit = (border->limit - border_used(border)) / (workers + 1);
	pool->shared->caller = MyLatch;
	pg_atomic_init_u32(&pool->shared->turn, 0);
	pg_atomic_init_u32(&pool->shared->busy, 0);
	shm_toc_insert(context->toc, KEY_SHARED, pool->shared);
	shm_toc_insert(context->toc, KEY_BLOCK, shm_toc_allocate(context->toc, pool->size));
	LaunchParallelWorkers(context);
	if (context->nworkers_launched > 0)
	{
		WaitForParallelWorkersToAttach(context);
		return true;
	}
	DestroyParallelContext(context);
	ExitParallelMode();
	return false;
}

Pool *
pool_create(const PoolWork *work, Oid caller, Border *border, Size size, int workers, bool say)
{
	Pool *pool;
	int launched = 0;

	if (workers == 0 || IsInParallelMode() || size > border->limit ||
		border_used(border) > border->limit - size)
		return NULL; /* nor is there so much alone, which whoever wants it will say */
	if (!has_shared_memory(size))
	{
		if (say)
			say_missing(0, workers, "There is too little shared memory for what they would work on.");
		return NULL;
	}
	pool = MemoryContextAllocZero(border->context, sizeof(Pool));
	pool->work = work;
	pool->border = border;
	pool->limit = border->limit;
	pool->size = size;
	border_charge(border, 0, size);
	if (launch(pool, caller, workers))
		launched = pool->context->nworkers_launched;
	if (say && launched < workers)
		say_missing(launched, workers,
					psprintf("The server has %s to spare (max_parallel_workers, max_worker_processes).",
							 launched == 0 ? "none" : "no more"));
	if (launched > 0)
		return pool;
	border_charge(border, size, 0);
	return NULL;
}

void *
pool_block(const Pool *pool)
{
	return shm_toc_lookup(pool->context->toc, KEY_BLOCK, false);
}

int
pool_workers(const Pool *pool)
{
	return pool->context->nworkers_launched;
}

/* Calls the workers to the next round, or home. */
static void
call_workers(Pool *pool)
{
	pg_atomic_fetch_add_u32(&pool->shared->turn, 1);
	for (int i = 0; i < pool_workers(pool); i++)
		if (pool->shared->worker[i] != NULL)
			SetLatch(pool->shared->worker[i]);
}

static void
pool_start(Pool *pool)
{
	Border *border = pool->border;

	border->limit = Min(pool->limit, border_used(border) + pool->shared->limit);
	pg_atomic_write_u32(&pool->shared->busy, (uint32) pool_workers(pool));
	call_workers(pool);
}

/* Has a worker gone? */
static bool
is_broken(const Pool *pool)
{
	pid_t pid;

	for (int i = 0; i < pool_workers(pool); i++)
		if (GetBackgroundWorkerPid(pool->context->worker[i].bgwhandle, &pid) == BGWH_STOPPED)
			return true;
	return false;
}

/*
 * False: the statement is to end, or a worker is gone; border_check of KANON_CANCELLED
 * raises which.  (Nothing is raised here: the core may be waiting.)
 */
static bool
pool_wait(Pool *pool)
{
	pg_atomic_uint32 *busy = &pool->shared->busy;

	pool->border->limit = pool->limit;
	for (int look = 0; look < LOOKS && pg_atomic_read_u32(busy) > 0; look++)
		pg_spin_delay();
	while (pg_atomic_read_u32(busy) > 0)
	{
		int event =
			WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, WATCH_MS, PG_WAIT_EXTENSION);

		ResetLatch(MyLatch);
		if (InterruptPending && (QueryCancelPending || ProcDiePending))
			return false;
		if ((event & WL_TIMEOUT) != 0 && is_broken(pool))
			return false;
	}
	pg_memory_barrier();
	return true;
}

void
pool_round(Pool *pool, void *state)
{
	pool_start(pool);
	pool->work->round(state);
	if (!pool_wait(pool))
		border_check(pool->border, KANON_CANCELLED, "");
}

void
pool_end(Pool *pool)
{
	if (pool == NULL)
		return;
	pool->shared->end = true;
	call_workers(pool);
	WaitForParallelWorkersToFinish(pool->context);
	DestroyParallelContext(pool->context);
	ExitParallelMode();
	border_charge(pool->border, pool->size, 0);
	pfree(pool);
}

/* ---- as the core sees it ---- */

static void *
team_open(void *arg, size_t size, int *members)
{
	PoolTeam *team = arg;

	team->pool = pool_create(team->work, team->caller, team->border, size, team->team.most - 1, team->say);
	if (team->pool == NULL)
		return NULL;
	*members = pool_workers(team->pool) + 1;
	ereport(DEBUG1, (errmsg_internal("%s: %d of them", team->work->name, *members - 1)));
	return pool_block(team->pool);
}

static void
team_start(void *arg)
{
	pool_start(((PoolTeam *) arg)->pool);
}

static bool
team_wait(void *arg)
{
	return pool_wait(((PoolTeam *) arg)->pool);
}

void
pool_team_init(PoolTeam *team, const PoolWork *work, Oid caller, Border *border, int workers, bool say)
{
	*team = (PoolTeam){.team = {team, Min(workers + 1, KANON_MAX_MEMBERS), team_open, team_start, team_wait},
					   .work = work,
					   .caller = caller,
					   .border = border,
					   .say = say};
}

void
pool_team_end(PoolTeam *team)
{
	pool_end(team->pool);
	team->pool = NULL;
}

/* ---- in a worker ---- */

/* Waits for the next round; its number. */
static uint32
next_turn(Shared *shared, uint32 seen)
{
	uint32 turn;

	for (int look = 0; look < LOOKS && pg_atomic_read_u32(&shared->turn) == seen; look++)
		pg_spin_delay();
	while ((turn = pg_atomic_read_u32(&shared->turn)) == seen)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, -1, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	pg_memory_barrier();
	return turn;
}

void
pool_worker(shm_toc *toc, const PoolWork *work)
{
	Shared *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	Border *border = border_create(work->name);
	void *state = NULL;
	uint32 seen = 0;

	border->limit = shared->limit;
	kanon_progress = PROGRESS_OFF; /* the caller says how far it is */
	shared->worker[ParallelWorkerNumber] = MyLatch;
	pg_memory_barrier();
	while (seen = next_turn(shared, seen), !shared->end)
	{
		if (state == NULL)
			state = work->open(border, shm_toc_lookup(toc, KEY_BLOCK, false), ParallelWorkerNumber + 1);
		work->round(state);
		if (pg_atomic_sub_fetch_u32(&shared->busy, 1) == 0)
			SetLatch(shared->caller);
	}
	MemoryContextDelete(border->context);
}
