/*
 * progress.c: how far runs are, for other sessions to see: kanon_progress.
 *
 * Each backend has a place in shared memory, when kanon was loaded early enough
 * to ask for some (shared_preload_libraries); otherwise there are the NOTICEs
 * of border.c only.  A place is empty again when the memory context of the
 * run or refresh goes, in whichever way that comes to an end.
 */
#include "compat.h"
#include "host/settings.h"
#include "host/excerpt.h"
#include "host/lines.h"

#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(kanon_progress_list);

#define TRANCHE "kanon"
#define PHASE_LENGTH 64

/* "schema"."name", each of whose characters may be a quote that stands twice. */
#define NAME_LENGTH (2 * (2 * NAMEDATALEN + 2) + 2)

/* Between two updates of a place. */
#define SAY_SECONDS 0.1

/* Runs that can be seen at a time; more go unseen. */
#define PLACES 256

typedef struct Place
{
	int pid; /* 0: empty */
	Oid database;
	Oid role;
	char publication[NAME_LENGTH]; /* "": a run without one */
	char phase[PHASE_LENGTH];
	int64 done;
	int64 total; /* 0: not known */
	TimestampTz since;
} Place;

static Place *places; /* [PLACES]; NULL: no shared memory */
static LWLock *lock;

/* This backend's place. */
static Place *mine;
static int users; /* who have a say in it: a refresh, the run in it */
static instr_time said;

static shmem_request_hook_type previous_request;
static shmem_startup_hook_type previous_startup;

static void
request(void)
{
	if (previous_request != NULL)
		previous_request();
	RequestAddinShmemSpace(mul_size(sizeof(Place), PLACES));
	RequestNamedLWLockTranche(TRANCHE, 1);
}

static void
startup(void)
{
	bool found;

	if (previous_startup != NULL)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	places = ShmemInitStruct("kanon progress", mul_size(sizeof(Place), PLACES), &found);
	if (!found)
		memset(places, 0, sizeof(Place) * PLACES);
	lock = &GetNamedLWLockTranche(TRANCHE)->lock;
	LWLockRelease(AddinShmemInitLock);
}

void
progress_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_request = shmem_request_hook;
	shmem_request_hook = request;
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = startup;
}

/* ---- a place of one's own ---- */

static void
leave(int code, Datum arg)
{
	if (mine == NULL)
		return;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	mine->pid = 0;
	LWLockRelease(lock);
	mine = NULL;
	users = 0;
}

static void
context_gone(void *arg)
{
	if (users > 0 && --users == 0)
		leave(0, (Datum) 0);
}

static void
take_place(void)
{
	static bool at_exit = false;

	if (!at_exit)
		before_shmem_exit(leave, (Datum) 0);
	at_exit = true;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	for (int i = 0; i < PLACES && mine == NULL; i++)
		if (places[i].pid == 0)
			mine = &places[i];
	if (mine != NULL)
	{
		memset(mine, 0, sizeof(Place));
		mine->pid = MyProcPid;
		mine->database = MyDatabaseId;
		mine->role = GetUserId();
		mine->since = GetCurrentTimestamp();
		copy_clipped(mine->phase, "starting", PHASE_LENGTH);
	}
	LWLockRelease(lock);
}

void
progress_enter(MemoryContext context)
{
	MemoryContextCallback *callback;

	if (places == NULL)
		return;
	if (mine == NULL)
		take_place();
	if (mine == NULL)
		return;
	callback = MemoryContextAlloc(context, sizeof(MemoryContextCallback));
	callback->func = context_gone;
	callback->arg = NULL;
	MemoryContextRegisterResetCallback(context, callback);
	users++;
}

void
progress_say(const char *phase, double share, int64 left)
{
	instr_time now;

	if (mine == NULL)
		return;
	INSTR_TIME_SET_CURRENT(now);
	if (strncmp(mine->phase, phase, PHASE_LENGTH - 1) == 0)
	{
		instr_time since = now;

		INSTR_TIME_SUBTRACT(since, said);
		if (INSTR_TIME_GET_DOUBLE(since) < SAY_SECONDS)
			return;
	}
	said = now;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	copy_clipped(mine->phase, phase, PHASE_LENGTH);
	mine->done = mine->total = 0;
	if (share > 0 && share < 1 && left >= 0)
	{
		mine->total = (int64) (left / (1 - share));
		mine->done = mine->total - left;
	}
	else if (share > 0)
	{
		mine->total = 100;
		mine->done = (int64) (100 * Min(share, 1));
	}
	LWLockRelease(lock);
}

void
progress_publication(const char *name, Oid owner)
{
	progress_enter(CurrentMemoryContext);
	if (mine == NULL)
		return;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	copy_clipped(mine->publication, name, NAME_LENGTH);
	mine->role = owner;
	LWLockRelease(lock);
}

/* ---- everybody's, behind the view kanon_progress ---- */

Datum
kanon_progress_list(PG_FUNCTION_ARGS)
{
	Lines *lines = lines_begin(fcinfo);
	Place *seen = palloc(sizeof(Place) * PLACES);

	if (places == NULL)
	{
		ereport(NOTICE,
				(errmsg("kanon_progress shows nothing: kanon is not in shared_preload_libraries"),
				 errhint("Add it there and restart the server. Without it a session's own NOTICEs tell "
						 "how far it is (kanon.progress).")));
		return (Datum) 0;
	}
	LWLockAcquire(lock, LW_SHARED);
	memcpy(seen, places, sizeof(Place) * PLACES);
	LWLockRelease(lock);
	for (int i = 0; i < PLACES; i++)
	{
		Place *place = &seen[i];

		if (place->pid == 0 || place->database != MyDatabaseId ||
			!(is_member_of_role(GetUserId(), place->role) ||
			  has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS)))
			continue;
		line_int4(lines, place->pid, true);
		line_text(lines, place->publication[0] != '\0' ? place->publication : NULL);
		line_text(lines, place->phase);
		line_int8(lines, place->done, place->total > 0);
		line_int8(lines, place->total, place->total > 0);
		line_time(lines, place->since, true);
		line_end(lines);
	}
	return (Datum) 0;
}
