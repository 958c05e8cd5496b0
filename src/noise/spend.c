/*
 * spend.c: a background worker spends, so that nobody can take it back.
 */
#include "compat.h"
#include "noise/models.h"
#include "run/request.h"
#include "host/pool.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

PGDLLEXPORT void kanon_spend(Datum segment);

/* So long the worker waits for a lock: that it would need may be the session's that waits for it. */
#define LOCK_WAIT "5s"

typedef struct Order
{
	Oid database;
	Spending spending;
	SpendRefusal refusal;
	SpendOutcome outcome; /* once it is on disk */
} Order;

/* ---- in the worker ---- */

/*
 * As nobody in particular: no query is run and nobody's function called, so that no rights
 * are asked for.
 */
void
kanon_spend(Datum segment)
{
	dsm_segment *seg;
	Order *order;
	SpendOutcome outcome;

	BackgroundWorkerUnblockSignals();
	seg = dsm_attach(DatumGetUInt32(segment));
	if (seg == NULL)
		return; /* the session is gone */
	order = dsm_segment_address(seg);
	BackgroundWorkerInitializeConnectionByOid(order->database, InvalidOid, 0);
	SetConfigOption("lock_timeout", LOCK_WAIT, PGC_USERSET, PGC_S_SESSION);
	StartTransactionCommand();
	/* whatever the database's defaults say */
	XactIsoLevel = XACT_READ_COMMITTED;
	XactReadOnly = false;
	PushActiveSnapshot(GetTransactionSnapshot());
	outcome = budget_take(&order->spending, &order->refusal);
	PopActiveSnapshot();
	ForceSyncCommit();
	CommitTransactionCommand();
	order->outcome = outcome;
	dsm_detach(seg);
}

/* ---- in the session ---- */

static void
run_worker(const char *library, dsm_segment *seg)
{
	BackgroundWorker worker = {.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
							   .bgw_start_time = BgWorkerStart_RecoveryFinished,
							   .bgw_restart_time = BGW_NEVER_RESTART,
							   .bgw_main_arg = UInt32GetDatum(dsm_segment_handle(seg)),
							   .bgw_notify_pid = MyProcPid};
	BackgroundWorkerHandle *handle;

	snprintf(worker.bgw_name, BGW_MAXLEN, "kanon budget");
	snprintf(worker.bgw_type, BGW_MAXLEN, "kanon budget");
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "kanon_spend");
	if (strlcpy(worker.bgw_library_name, library, sizeof(worker.bgw_library_name)) >=
		sizeof(worker.bgw_library_name))
		elog(ERROR, "the name of kanon's library is too long");
	if (!RegisterDynamicBackgroundWorker(&worker, &handle))
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("there is no background worker to keep the budget"),
				 errhint("Try again when fewer queries run in parallel, or raise max_worker_processes.")));
	(void) WaitForBackgroundWorkerShutdown(handle);
}

static const char *
whose(Oid role)
{
	return OidIsValid(role) ? psprintf("of role %s", quote_identifier(GetUserNameFromId(role, false)))
							: "of all roles together";
}

static void
raise_refusal(const Order *order)
{
	const Spending *asked = &order->spending;
	const SpendRefusal *left = &order->refusal;
	const char *table = get_rel_name(asked->relation);

	switch (order->outcome)
	{
		case SPEND_DONE:
			break;
		case SPEND_UNKNOWN:
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
							errmsg("the budget of \"%s\" could not be charged", table),
							errdetail("The background worker ended before it reported; no row was read."),
							errhint("The server's log has the reason. Try again.")));
			break;
		case SPEND_OPEN:
			ereport(
				ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the budget of \"%s\" is not safe", table),
				 errdetail(
					 "A role that is not their superuser owner may write into kanon_budget_limit or kanon_budget_spent."),
				 errhint("Have a superuser revoke that right: see doc/security.md. No row was read.")));
			break;
		case SPEND_NO_BUDGET:
			ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
							errmsg("there is no budget for \"%s\" that covers role %s", table,
								   quote_identifier(GetUserNameFromId(asked->asker[0], false))),
							errhint("The owner of the table sets one by kanon_set_budget; it counts once "
									"that transaction is committed.")));
			break;
		case SPEND_TOO_LITTLE:
			ereport(
				ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("the budget for \"%s\" %s is spent", table, whose(left->role)),
				 errdetail("The answer takes an epsilon of %s and a delta of %s, and " INT64_FORMAT
						   " queries. Left are %s, %s and %s.",
						   decimal_text(asked->epsilon, EPSILON_DIGITS),
						   decimal_text(asked->delta, DELTA_DIGITS), asked->queries,
						   decimal_text(left->epsilon, EPSILON_DIGITS),
						   decimal_text(left->delta, DELTA_DIGITS),
						   left->queries < 0 ? "any number" : psprintf(INT64_FORMAT, left->queries)),
				 errhint("Ask with a smaller epsilon, or ask the owner of the table for a larger budget.")));
			break;
	}
}

void
budget_spend(Oid caller, const Spending *spending)
{
	dsm_segment *seg;
	Order *order, done;

	if (RecoveryInProgress())
		ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
						errmsg("a budget cannot be charged on a standby server"),
						errhint("Ask on the primary server.")));
	seg = dsm_create(sizeof(Order), 0);
	order = dsm_segment_address(seg);
	memset(order, 0, sizeof(Order));
	order->database = MyDatabaseId;
	order->spending = *spending;
	run_worker(library_of(caller), seg);
	done = *order;
	dsm_detach(seg);
	raise_refusal(&done);
}
