/*
 * budget.c: limits, what was spent of them, who spends it, and which table pays.
 *
 * The owner of a table sets limits, in the owner's transaction.  Spending is one row more
 * for each answer and each budget that it was taken from; sessions take turns by a lock on
 * the pair of kanon's table and the relation, which is nobody else's.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/pool.h"
#include "noise/models.h"
#include "record/record.h"
#include "options/request.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#define LIMITS "kanon_budget_limit"
#define SPENT "kanon_budget_spent"

/* Both tables begin with these, and so does the key of each. */
#define RELATION_COLUMN 1
#define ROLE_COLUMN 2

typedef struct Allowance
{
	Oid role;
	SpendRefusal left;
	int64 answers; /* so far */
} Allowance;

/* ---- rows of the two tables ---- */

typedef struct BudgetScan
{
	Relation rel;
	Snapshot snapshot;
	SysScanDesc scan;
	HeapTuple tuple;
} BudgetScan;

/* Begins a scan of a relation's lines, with `role` of that role's alone. */
static void
scan_begin(BudgetScan *scan, const RecordTable *table, Oid relation, const Oid *role)
{
	ScanKeyData keys[2];
	List *indexes = RelationGetIndexList(table->rel);

	ScanKeyInit(&keys[0], RELATION_COLUMN, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
	if (role != NULL)
		ScanKeyInit(&keys[1], ROLE_COLUMN, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(*role));
	scan->rel = table->rel;
	scan->snapshot = RegisterSnapshot(GetLatestSnapshot());
	scan->scan = systable_beginscan(table->rel, linitial_oid(indexes), true, scan->snapshot,
									role != NULL ? 2 : 1, keys);
	list_free(indexes);
}

static bool
scan_next(BudgetScan *scan)
{
	CHECK_FOR_INTERRUPTS();
	return HeapTupleIsValid(scan->tuple = systable_getnext(scan->scan));
}

static void
scan_end(BudgetScan *scan)
{
	systable_endscan(scan->scan);
	UnregisterSnapshot(scan->snapshot);
}

/* A column of the row at hand, which has to be of that type. */
static Datum
scan_value(const BudgetScan *scan, const char *name, Oid type, bool *isnull)
{
	TupleDesc desc = RelationGetDescr(scan->rel);
	int column = SPI_fnumber(desc, name);

	if (column <= 0 || TupleDescAttr(desc, column - 1)->atttypid != type)
		elog(ERROR, "column \"%s\" of \"%s\" is not what it was", name, RelationGetRelationName(scan->rel));
	return heap_getattr(scan->tuple, column, desc, isnull);
}

/* The number in a column; -1 for NULL. */
static int64
scan_int8(const BudgetScan *scan, const char *name)
{
	bool isnull;
	Datum value = scan_value(scan, name, INT8OID, &isnull);

	return isnull ? -1 : DatumGetInt64(value);
}

static Oid
scan_role(const BudgetScan *scan)
{
	bool isnull;

	return DatumGetObjectId(scan_value(scan, "role", OIDOID, &isnull));
}

/* ---- spending ---- */

static bool
is_asked_by(const Spending *spending, Oid role)
{
	for (int i = 0; i < ASKERS; i++)
		if (is_member_of_role_nosuper(spending->asker[i], role))
			return true;
	return !OidIsValid(role);
}

/* The rest of a limit. */
static void
take_spent(Allowance *limit, const RecordTable *spent, Oid relation)
{
	BudgetScan scan;

	scan_begin(&scan, spent, relation, &limit->role);
	while (scan_next(&scan))
	{
		limit->answers++;
		limit->left.epsilon -= scan_int8(&scan, "epsilon");
		limit->left.delta -= scan_int8(&scan, "delta");
		if (limit->left.queries >= 0)
			limit->left.queries = Max(limit->left.queries - scan_int8(&scan, "queries"), 0);
	}
	scan_end(&scan);
}

static bool
has_left(const Allowance *limit, const Spending *spending)
{
	return limit->left.epsilon >= spending->epsilon && limit->left.delta >= spending->delta &&
		   (limit->left.queries < 0 || limit->left.queries >= spending->queries);
}

static void
write_spent(RecordTable *spent, const Allowance *limit, const Spending *spending)
{
	record_set(spent, "relation", ObjectIdGetDatum(spending->relation), false);
	record_set(spent, "role", ObjectIdGetDatum(limit->role), false);
	record_set_int8(spent, "answer", limit->answers + 1, false);
	record_set(spent, "asked_by", ObjectIdGetDatum(spending->asker[0]), false);
	record_set(spent, "asked_at", TimestampTzGetDatum(GetCurrentTimestamp()), false);
	record_set_text(spent, "aggregate", NameStr(spending->aggregate));
	record_set_int8(spent, "epsilon", spending->epsilon, false);
	record_set_int8(spent, "delta", spending->delta, false);
	record_set_int8(spent, "queries", spending->queries, false);
	record_insert(spent);
}

SpendOutcome
budget_take(const Spending *spending, SpendRefusal *refusal)
{
	SpendOutcome outcome = SPEND_NO_BUDGET;
	RecordTable limits, spent;
	List *taken = NIL;
	BudgetScan scan;
	ListCell *lc;

	record_open(&limits, spending->schema, LIMITS);
	record_open(&spent, spending->schema, SPENT);
	/* who may write there sets budgets as they like, and gives back what was spent */
	if (record_is_open(&limits) || record_is_open(&spent))
	{
		record_close(&spent);
		record_close(&limits);
		return SPEND_OPEN;
	}
	LockDatabaseObject(RelationGetRelid(spent.rel), spending->relation, 0, ExclusiveLock);
	scan_begin(&scan, &limits, spending->relation, NULL);
	while (outcome != SPEND_TOO_LITTLE && scan_next(&scan))
	{
		Allowance *limit = palloc0(sizeof(Allowance));

		limit->role = limit->left.role = scan_role(&scan);
		if (!is_asked_by(spending, limit->role))
			continue;
		limit->left.epsilon = scan_int8(&scan, "epsilon");
		limit->left.delta = scan_int8(&scan, "delta");
		limit->left.queries = scan_int8(&scan, "queries");
		take_spent(limit, &spent, spending->relation);
		taken = lappend(taken, limit);
		outcome = has_left(limit, spending) ? SPEND_DONE : SPEND_TOO_LITTLE;
		*refusal = limit->left;
	}
	scan_end(&scan);
	foreach (lc, outcome == SPEND_DONE ? taken : NIL)
		write_spent(&spent, lfirst(lc), spending);
	record_close(&spent);
	record_close(&limits);
	return outcome;
}

/* ---- limits ---- */

void
budget_set(Oid schema, Oid relation, Oid role, int64 epsilon, int64 delta, int64 queries)
{
	ItemPointerData there;
	bool found = false;
	RecordTable limits;
	BudgetScan scan;

	record_open(&limits, schema, LIMITS);
	LockDatabaseObject(RelationGetRelid(limits.rel), relation, 0, ExclusiveLock);
	scan_begin(&scan, &limits, relation, &role);
	if ((found = scan_next(&scan)))
		there = scan.tuple->t_self;
	scan_end(&scan);
	record_set(&limits, "relation", ObjectIdGetDatum(relation), false);
	record_set(&limits, "role", ObjectIdGetDatum(role), false);
	record_set_int8(&limits, "epsilon", epsilon, false);
	record_set_int8(&limits, "delta", delta, false);
	record_set_int8(&limits, "queries", queries, queries < 0);
	record_set(&limits, "set_by", ObjectIdGetDatum(GetUserId()), false);
	record_set(&limits, "set_at", TimestampTzGetDatum(GetCurrentTimestamp()), false);
	record_put(&limits, found ? &there : NULL);
	record_close(&limits);
	CommandCounterIncrement();
}

/*
 * ---- The one table whose rows a source shows, one by one.
 *
 * The change that one person's rows can make in a view must be known before noise can hide
 * it.  A join, a sub-query, DISTINCT or LIMIT lets one row decide about any number of
 * others.  It is the query as the server rewrote it that is looked at: views, and the
 * policies of row-level security, are in it.
 */

#define FAMILY_HINT "Make partitions of them, or publish from a table that is neither."

Oid
single_table(Oid relid)
{
	const char *name = get_rel_name(relid);

	switch (get_rel_relkind(relid))
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_FOREIGN_TABLE:
		case RELKIND_MATVIEW:
			break;
		default:
			ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
							errmsg("\"%s\" has no rows of its own", name != NULL ? name : "?"),
							errhint("A budget is that of a table, and counts for all views of it.")));
	}
	if (get_rel_relispartition(relid))
		return llast_oid(get_partition_ancestors(relid));
	if (has_superclass(relid) || (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE && has_subclass(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" inherits from a table, or is inherited from", name), errhint(FAMILY_HINT)));
	return relid;
}

/*
 * Others' functions may read what they like, unless they promise not to; so do some of the
 * system's (table_to_xml, statistics of tables), which are not for parallel workers.
 */
static bool
reads_more(Oid function, void *arg)
{
	char volatility = func_volatile(function);

	return volatility == PROVOLATILE_VOLATILE ||
		   (volatility == PROVOLATILE_STABLE &&
			(function >= FirstNormalObjectId || func_parallel(function) != PROPARALLEL_SAFE));
}

static bool
depends_on_more(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	/* where a row lies, others have decided */
	if (IsA(node, Var) && ((Var *) node)->varattno < 0)
		return true;
	return IsA(node, SubLink) || IsA(node, NextValueExpr) || check_functions_in_node(node, reads_more, arg) ||
		   kanon_walk(node, depends_on_more, arg);
}

/* The relation of which each row is at most one of the query's; NULL: there is none. */
static const RangeTblEntry *
only_entry(const Query *query)
{
	const Node *from;

	if (query->commandType != CMD_SELECT || query->hasAggs || query->hasWindowFuncs || query->hasTargetSRFs ||
		query->hasSubLinks || query->distinctClause != NIL || query->groupClause != NIL ||
		query->groupingSets != NIL || query->havingQual != NULL || query->limitCount != NULL ||
		query->limitOffset != NULL || query->setOperations != NULL || query->cteList != NIL ||
		query->rowMarks != NIL || list_length(query->jointree->fromlist) != 1)
		return NULL;
	from = linitial(query->jointree->fromlist);
	return IsA(from, RangeTblRef) ? rt_fetch(((const RangeTblRef *) from)->rtindex, query->rtable) : NULL;
}

/* InvalidOid: there is no such table. */
static Oid
table_of(const Query *query)
{
	const RangeTblEntry *entry;

	check_stack_depth();
	entry = only_entry(query);
	if (entry == NULL || entry->tablesample != NULL || depends_on_more((Node *) query->targetList, NULL) ||
		depends_on_more(query->jointree->quals, NULL) || depends_on_more((Node *) entry->securityQuals, NULL))
		return InvalidOid;
	if (entry->rtekind == RTE_SUBQUERY)
		return table_of(entry->subquery);
	return entry->rtekind == RTE_RELATION ? entry->relid : InvalidOid;
}

Oid
source_single_table(const Source *source)
{
	SPIPlanPtr plan = SPI_prepare(
		psprintf("SELECT %s FROM %s", column_list(source->kept, source->nkept), source->name), 0, NULL);
	const CachedPlanSource *planned;
	Oid relid = InvalidOid;

	if (plan == NULL || list_length(SPI_plan_get_plan_sources(plan)) != 1)
		elog(ERROR, "could not read %s", source->name);
	planned = linitial(SPI_plan_get_plan_sources(plan));
	if (list_length(planned->query_list) == 1)
		relid = table_of(linitial_node(Query, planned->query_list));
	SPI_freeplan(plan);
	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s is more than rows of one table", source->name),
				 errdetail("With a join, a sub-query, grouping, DISTINCT, LIMIT, or a function that is "
						   "volatile or reads tables, one row may decide about any number of others."),
				 errhint("Ask a table, or a view with nothing but a list of columns and a WHERE about "
						 "the row itself; a table or materialized view can have the join.")));
	return single_table(relid);
}

/* ---- A background worker spends, so that nobody can take it back ---- */

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
	const char *table = name_bare(asked->relation);

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
