/*
 * attempt.c: work that may fail, or has to wait for others: subtransactions, and locks
 * that keep nobody waiting.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/gate.h"

#include "access/xact.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

/*
 * Ends the statement, whoever catches errors.  The code alone tells nothing: a
 * function in a source can raise any.  Which of the server's functions raised the
 * error it cannot pretend.
 */
bool
ends_statement(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_QUERY_CANCELED && error->funcname != NULL &&
		   (strcmp(error->funcname, "ProcessInterrupts") == 0 ||
			/* kanon's own, when the reason is gone that made its solver stop */
			strcmp(error->funcname, "border_check") == 0);
}

bool
raised_by_kanon(const ErrorData *error)
{
	return error->domain != NULL && strcmp(error->domain, TEXTDOMAIN) == 0;
}

static ErrorData *
in_subtransaction(void (*work)(void *arg), void *arg, bool undo)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	int queries = gate_queries;
	ErrorData *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	gate_queries = 0;
	PG_TRY();
	{
		work(arg);
		if (undo)
			RollbackAndReleaseCurrentSubTransaction();
		else
			ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		/* raised while others' functions ran: kanon may have been given their values */
		if (gate_queries > 0)
			error->domain = NULL;
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	gate_queries = queries;
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (error != NULL && ends_statement(error))
		ReThrowError(error);
	return error;
}

ErrorData *
attempt(void (*work)(void *arg), void *arg)
{
	return in_subtransaction(work, arg, false);
}

void
rehearse(void (*work)(void *arg), void *arg)
{
	ErrorData *error = in_subtransaction(work, arg, true);

	if (error != NULL)
		ReThrowError(error);
}

/* ---- locks ---- */

/*
 * Readers queue behind whoever waits for a relation, so we wait for moments only,
 * with longer and longer pauses between them.  (A cancel within the instant in which such
 * a moment ends is lost: the server tells of the timeout alone, and has to be asked again.)
 */
#define LOCK_WAIT "200ms"
#define FIRST_PAUSE 50L /* ms */
#define MOST_PAUSE 2000L

static void
queue_for(void *relid)
{
	int nest = NewGUCNestLevel();

	(void) set_config_option("lock_timeout", LOCK_WAIT, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
	LockRelationOid(*(Oid *) relid, AccessExclusiveLock);
	AtEOXact_GUC(true, nest);
}

void
lock_without_queue(Oid relid, const char *what, void (*check)(const void *arg), const void *arg)
{
	TimestampTz since = GetCurrentTimestamp();
	long pause = FIRST_PAUSE;

	while (!ConditionalLockRelationOid(relid, AccessExclusiveLock))
	{
		ErrorData *error = attempt(queue_for, &relid);

		if (error == NULL)
			return;
		if (error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
			ReThrowError(error);
		if (LockTimeout > 0 && TimestampDifferenceExceeds(since, GetCurrentTimestamp(), LockTimeout))
			ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
							errmsg("readers kept the %s for longer than lock_timeout", what),
							errhint("Raise lock_timeout, or end the transactions that have read it.")));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, pause, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		pause = Min(2 * pause, MOST_PAUSE);
		if (check != NULL)
			check(arg);
	}
}
