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
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include <signal.h>

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
			/* kanon's own, when the reason is gone that made its method stop */
			strcmp(error->funcname, "border_check") == 0);
}

bool
raised_by_kanon(const ErrorData *error)
{
	return error->domain != NULL && strcmp(error->domain, TEXTDOMAIN) == 0;
}

void
raise_unless_of_value(ErrorData *error)
{
	if (raised_by_kanon(error) || error->sqlerrcode == ERRCODE_OUT_OF_MEMORY)
		ReThrowError(error);
}

/* The server that was asked is in trouble: it has not said that it cannot do such a thing. */
void
raise_unless_refused(ErrorData *error)
{
	static const int trouble[] = {ERRCODE_CONNECTION_EXCEPTION,   ERRCODE_TRANSACTION_ROLLBACK,
								  ERRCODE_INSUFFICIENT_RESOURCES, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
								  ERRCODE_OPERATOR_INTERVENTION,  ERRCODE_INTERNAL_ERROR};

	for (int i = 0; error != NULL && i < lengthof(trouble); i++)
		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_TO_CATEGORY(trouble[i]))
			ReThrowError(error);
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
 * Readers queue behind a session that waits for a relation, so we wait for moments
 * only, with longer and longer pauses between them.
 */
#define LOCK_WAIT 200 /* ms */

/* Within a moment; otherwise who waits for us in turn would not be found (the server raises ERRCODE_T_R_DEADLOCK_DETECTED). */
#define DEADLOCK_WAIT "100"

#define FIRST_PAUSE 50L
#define MOST_PAUSE 2000L

/*
 * A moment ends by a timer of our own and not by lock_timeout: that of the server sends the
 * same signal as a cancel does, so that of two at once it is the cancel which gets lost.
 * Ours sends none, and who sends one in the meantime is noted.
 */
static volatile sig_atomic_t moment_over;
static volatile sig_atomic_t told_to_stop;
static struct sigaction usual_interrupt;

/* Ends a wait for a lock, as the server's own timers do it. */
static void
end_moment(void)
{
	moment_over = true;
	QueryCancelPending = true;
	InterruptPending = true;
}

static void
note_interrupt(int signo, siginfo_t *info, void *context)
{
	bool knows_more = (usual_interrupt.sa_flags & SA_SIGINFO) != 0;

	if (!knows_more && (usual_interrupt.sa_handler == SIG_IGN || usual_interrupt.sa_handler == SIG_DFL))
		return;
	told_to_stop = true;
	if (knows_more)
		usual_interrupt.sa_sigaction(signo, info, context);
	else
		usual_interrupt.sa_handler(signo);
}

static TimeoutId
begin_moment(void)
{
	static TimeoutId timer = MAX_TIMEOUTS;
	struct sigaction noting;

	if (timer == MAX_TIMEOUTS)
		timer = RegisterTimeout(USER_TIMEOUT, end_moment);
	moment_over = told_to_stop = false;
	if (sigaction(SIGINT, NULL, &usual_interrupt) != 0)
		elog(ERROR, "could not look at a signal's handler: %m");
	noting = usual_interrupt;
	noting.sa_flags |= SA_SIGINFO;
	noting.sa_sigaction = note_interrupt;
	(void) sigaction(SIGINT, &noting, NULL);
	enable_timeout_after(timer, LOCK_WAIT);
	return timer;
}

/* A cancel that is pending then is somebody else's, and no error has told of it. */
static void
leave_moment(TimeoutId timer, bool told)
{
	disable_timeout(timer, false);
	if (moment_over)
	{
		QueryCancelPending = false;
		if (told_to_stop && !told)
			QueryCancelPending = InterruptPending = true;
	}
	(void) sigaction(SIGINT, &usual_interrupt, NULL);
}

static void
queue_for(void *relid)
{
	MemoryContext context = CurrentMemoryContext;
	int nest = NewGUCNestLevel();
	TimeoutId timer;

	/* the caller's limit is for all moments together */
	(void) set_config_option("lock_timeout", "0", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
	(void) set_config_option("deadlock_timeout", DEADLOCK_WAIT, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	timer = begin_moment();
	PG_TRY();
	{
		LockRelationOid(*(Oid *) relid, AccessExclusiveLock);
	}
	PG_CATCH();
	{
		bool cancel = geterrcode() == ERRCODE_QUERY_CANCELED;

		leave_moment(timer, cancel);
		if (!cancel || !moment_over || told_to_stop)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE), errmsg("it is still in use")));
	}
	PG_END_TRY();
	leave_moment(timer, false);
	AtEOXact_GUC(true, nest);
}

#define PATIENCE 1000 /* ms */
#define PATIENCE_STEP 10

long *
patience_left(void)
{
	static TimestampTz statement = 0;
	static long left;

	if (statement != GetCurrentStatementStartTimestamp())
		left = PATIENCE;
	statement = GetCurrentStatementStartTimestamp();
	return &left;
}

bool
lock_patiently(Oid relid, LOCKMODE mode, long *patience)
{
	if (patience == NULL)
	{
		LockRelationOid(relid, mode);
		return true;
	}
	while (!ConditionalLockRelationOid(relid, mode))
	{
		if (*patience <= 0)
			return false;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, PATIENCE_STEP,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		*patience -= PATIENCE_STEP;
	}
	return true;
}

typedef struct Locks
{
	List *relids;
	Oid busy; /* that somebody used last; InvalidOid: none yet */
} Locks;

/*
 * All of them or, when it is undone, none: who reads two relations in another order than they are locked here would
 * wait for one of them while we wait for the other.  The one that was busy is waited for first, with none in hand.
 */
static void
lock_all(void *arg)
{
	Locks *locks = arg;
	ListCell *lc;

	if (OidIsValid(locks->busy))
		queue_for(&locks->busy);
	foreach (lc, locks->relids)
	{
		if (ConditionalLockRelationOid(lfirst_oid(lc), AccessExclusiveLock))
			continue;
		locks->busy = lfirst_oid(lc);
		ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE), errmsg("a relation is in use")));
	}
}

void
lock_all_without_queue(List *relids, const char *what, void (*check)(const void *arg), const void *arg)
{
	TimestampTz since = GetCurrentTimestamp();
	Locks locks = {.relids = relids};
	long pause = FIRST_PAUSE;
	ErrorData *error;

	while ((error = attempt(lock_all, &locks)) != NULL)
	{
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

void
lock_without_queue(Oid relid, const char *what, void (*check)(const void *arg), const void *arg)
{
	lock_all_without_queue(list_make1_oid(relid), what, check, arg);
}
