/*
 * team.c: parallel workers that check a node of a lattice together.
 *
 * The block that the core fills lies in dynamic shared memory.  The members turn
 * to the next task when `turn` grows, and the last one to be done wakes the
 * caller; a task takes from some hundred microseconds to a second, so both look
 * for a while before they sleep.
 */
#include "compat.h"
#include "run/team.h"
#include "host/library.h"
#include "host/settings.h"

#ifdef __linux__
#include <sys/statvfs.h>
#endif

#include "access/parallel.h"
#include "access/xact.h"
#include "host/library.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "postmaster/bgworker.h"
#include "storage/dsm_impl.h"
#include "storage/latch.h"
#include "storage/spin.h"

/* Looks before a member sleeps: some ten microseconds. */
#define LOOKS 5000

/* How often the caller makes sure that the workers are there, in ms. */
#define WATCH_MS 100

/* Keys of what lies in shared memory. */
enum
{
	KEY_SHARED = 1,
	KEY_BLOCK
};

typedef struct Shared
{
	Size limit; /* bytes that each worker may take */
	Latch *caller;
	Latch *worker[KANON_MAX_MEMBERS]; /* by member; NULL: does not sleep yet */
	bool end;
	pg_atomic_uint32 turn; /* tasks so far */
	pg_atomic_uint32 busy; /* workers who are at the present one */
} Shared;

struct Team
{
	KanonTeam team;
	Border *border;
	Oid caller;
	int wanted; /* workers */
	bool say;
	Size size;                /* of what is shared */
	ParallelContext *context; /* NULL: there are no workers */
	Shared *shared;
};

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
say_missing(const Team *team, int workers, const char *why)
{
	if (!team->say || workers >= team->wanted)
		return;
	ereport(NOTICE, (errmsg("%d of %d parallel workers take part", workers, team->wanted),
					 errdetail("%s", why), errhint("The result is the same, it only takes longer.")));
}

/* Starts the workers; false: there are none. */
static bool
launch(Team *team, Size size)
{
	ParallelContext *context;
	Border *border = team->border;

	EnterParallelMode();
	context = CreateParallelContext(library_of(team->caller), "kanon_full_domain_worker", team->wanted);
	shm_toc_estimate_chunk(&context->estimator, sizeof(Shared));
	shm_toc_estimate_chunk(&context->estimator, size);
	shm_toc_estimate_keys(&context->estimator, KEY_BLOCK);
	InitializeParallelDSM(context);
	team->shared = shm_toc_allocate(context->toc, sizeof(Shared));
	memset(team->shared, 0, sizeof(Shared));
	/* together the workers take no more than the caller may beside */
	team->shared->limit = (border->limit - border->used) / (team->wanted + 1);
	team->shared->caller = MyLatch;
	pg_atomic_init_u32(&team->shared->turn, 0);
	pg_atomic_init_u32(&team->shared->busy, 0);
	shm_toc_insert(context->toc, KEY_SHARED, team->shared);
	shm_toc_insert(context->toc, KEY_BLOCK, shm_toc_allocate(context->toc, size));
	LaunchParallelWorkers(context);
	if (context->nworkers_launched == 0)
	{
		DestroyParallelContext(context);
		ExitParallelMode();
		return false;
	}
	WaitForParallelWorkersToAttach(context);
	team->context = context;
	return true;
}

static void *
team_open(void *arg, size_t size, int *members)
{
	Team *team = arg;
	Border *border = team->border;

	if (team->wanted == 0 || IsInParallelMode())
		return NULL;
	if (size > border->limit || border->used > border->limit - size)
		return NULL; /* nor is there so much alone, which the core will say */
	if (!has_shared_memory(size))
	{
		say_missing(team, 0, "There is too little shared memory for what they would work on.");
		return NULL;
	}
	border_charge(border, 0, size);
	team->size = size;
	if (!launch(team, size))
	{
		border_charge(border, size, 0);
		say_missing(team, 0, "The server has none to spare (max_parallel_workers, max_worker_processes).");
		return NULL;
	}
	say_missing(team, team->context->nworkers_launched,
				"The server has no more to spare (max_parallel_workers, max_worker_processes).");
	*members = team->context->nworkers_launched + 1;
	return shm_toc_lookup(team->context->toc, KEY_BLOCK, false);
}

/* Calls the workers to the next task, or home. */
static void
call_workers(Team *team)
{
	pg_atomic_fetch_add_u32(&team->shared->turn, 1);
	for (int member = 1; member <= team->context->nworkers_launched; member++)
		if (team->shared->worker[member] != NULL)
			SetLatch(team->shared->worker[member]);
}

static void
team_start(void *arg)
{
	Team *team = arg;

	pg_atomic_write_u32(&team->shared->busy, (uint32) team->context->nworkers_launched);
	call_workers(team);
}

/* Has a worker gone? */
static bool
is_broken(const Team *team)
{
	pid_t pid;

	for (int i = 0; i < team->context->nworkers_launched; i++)
		if (GetBackgroundWorkerPid(team->context->worker[i].bgwhandle, &pid) == BGWH_STOPPED)
			return true;
	return false;
}

static bool
team_wait(void *arg)
{
	Team *team = arg;
	pg_atomic_uint32 *busy = &team->shared->busy;

	for (int look = 0; look < LOOKS && pg_atomic_read_u32(busy) > 0; look++)
		pg_spin_delay();
	while (pg_atomic_read_u32(busy) > 0)
	{
		int event =
			WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, WATCH_MS, PG_WAIT_EXTENSION);

		ResetLatch(MyLatch);
		if (InterruptPending && (QueryCancelPending || ProcDiePending))
			return false;
		if ((event & WL_TIMEOUT) != 0 && is_broken(team))
			return false;
	}
	pg_memory_barrier();
	return true;
}

Team *
team_create(Oid caller, Border *border, int workers, bool say)
{
	Team *team = palloc0(sizeof(Team));

	team->team = (KanonTeam){team, team_open, team_start, team_wait};
	team->border = border;
	team->caller = caller;
	team->wanted = workers;
	team->say = say;
	return team;
}

const KanonTeam *
team_of(const Team *team)
{
	return &team->team;
}

void
team_end(Team *team)
{
	if (team->context == NULL)
		return;
	team->shared->end = true;
	call_workers(team);
	WaitForParallelWorkersToFinish(team->context);
	DestroyParallelContext(team->context);
	ExitParallelMode();
	border_charge(team->border, team->size, 0);
	team->context = NULL;
}

/* Waits for the next task; its number. */
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
kanon_full_domain_worker(dsm_segment *segment, shm_toc *toc)
{
	Shared *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	Border *border = border_create("kanon_full_domain, parallel worker");
	KanonMember *member = NULL;
	int number = ParallelWorkerNumber + 1;
	uint32 seen = 0;

	border->limit = shared->limit;
	kanon_progress = false; /* the caller says how far it is */
	shared->worker[number] = MyLatch;
	pg_memory_barrier();
	while (seen = next_turn(shared, seen), !shared->end)
	{
		if (member == NULL)
			member = kanon_member_open(&border->env, shm_toc_lookup(toc, KEY_BLOCK, false), number);
		if (member == NULL)
			border_check(border, KANON_NO_MEMORY, "");
		kanon_member_work(member);
		if (pg_atomic_sub_fetch_u32(&shared->busy, 1) == 0)
			SetLatch(shared->caller);
	}
	MemoryContextDelete(border->context);
}
