/*
 * budget.c: limits, and what was spent of them.
 *
 * The owner of a table sets limits, in the owner's transaction.  Spending is one row more
 * for each answer and each budget that it was taken from; sessions take turns by a lock on
 * the pair of kanon's table and the relation, which is nobody else's.
 */
#include "compat.h"
#include "noise/models.h"
#include "run/record.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
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
