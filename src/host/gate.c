/*
 * gate.c: rows come in when they are of the types that were resolved.
 */
#include "compat.h"
#include "host/gate.h"
#include "host/catalog.h"

#include "access/relation.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "core/util/fault.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

static const char *const gate_hint =
	"Somebody altered or replaced it meanwhile, or a function that it calls did: run the call again.";

/* ---- types that are made of others ---- */

/* The one type that a type's values are made of, when it is no composite. */
static Oid
element_type(Oid type)
{
	Oid element = getBaseType(type);

	if (element != type)
		return element;
	if (OidIsValid(element = get_element_type(type)) || OidIsValid(element = get_range_subtype(type)))
		return element;
	return get_multirange_range(type);
}

/* Does something for each composite type that values of this one are made of. */
static void
each_composite(Oid type, void (*visit)(Relation rel, void *arg), void *arg)
{
	Oid element, relid;
	Relation rel;

	check_stack_depth();
	if (type < FirstNormalObjectId)
		return;
	if (OidIsValid(element = element_type(type)))
	{
		each_composite(element, visit, arg);
		return;
	}
	if (!OidIsValid(relid = get_typ_typrelid(type)))
		return;
	rel = relation_open(relid, AccessShareLock);
	visit(rel, arg);
	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
		if (!TupleDescAttr(RelationGetDescr(rel), i)->attisdropped)
			each_composite(TupleDescAttr(RelationGetDescr(rel), i)->atttypid, visit, arg);
	relation_close(rel, NoLock);
}

static void
add_shape(Relation rel, void *arg)
{
	uint32 *shape = arg;

	*shape = hash_combine(*shape, RelationGetRelid(rel));
	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);

		*shape = hash_combine(*shape, att->attisdropped ? 0 : att->atttypid);
		*shape = hash_combine(*shape, (uint32) att->attlen << 8 | (uint8) att->attalign);
	}
}

uint32
type_shape(Oid type)
{
	uint32 shape = 0;

	each_composite(type, add_shape, &shape);
	return shape;
}

/* An open relation cannot be altered by a function in this session. */
static void
hold_composite(Relation rel, void *arg)
{
	List **held = arg;

	*held = lappend(*held, relation_open(RelationGetRelid(rel), NoLock));
}

/* ---- the gate ---- */

static void
raise_changed(const Gate *gate, const char *detail)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("the columns of %s changed while it was in use", gate->name),
					errdetail("%s", detail), errhint("%s", gate_hint)));
}

Gate *
gate_create(const char *name, Oid relid, int natts)
{
	Gate *gate = palloc0(sizeof(Gate));

	gate->name = name;
	gate->relid = relid;
	gate->desc = CreateTemplateTupleDesc(natts);
	gate->shapes = palloc0(sizeof(uint32) * Max(natts, 1));
	return gate;
}

static void
add_column(Gate *gate, const char *name, Oid type, int32 typmod, Oid collation, uint32 shape)
{
	int attnum = ++gate->n;

	Assert(attnum <= gate->desc->natts);
	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
		raise_changed(gate, psprintf("The type of column \"%s\" is gone.", name));
	TupleDescInitEntry(gate->desc, attnum, name, type, typmod, 0);
	TupleDescInitEntryCollation(gate->desc, attnum, collation);
	if (attnum == gate->desc->natts)
		TupleDescFinalize(gate->desc);
	gate->shapes[attnum - 1] = shape;
}

void
gate_columns(Gate *gate, const SourceColumn *columns, int n)
{
	for (int i = 0; i < n; i++)
		add_column(gate, columns[i].name, columns[i].type, columns[i].typmod, columns[i].collation,
				   columns[i].shape);
}

void
gate_table(Gate *gate, TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			raise_changed(gate, "A column was dropped.");
		add_column(gate, NameStr(att->attname), att->atttypid, att->atttypmod, att->attcollation,
				   type_shape(att->atttypid));
	}
}

char *
gate_also(Gate *gate, Oid relid)
{
	char *name = relation_name(relid);

	if (name == NULL)
		raise_changed(gate, "A part of it is gone.");
	gate->also = lappend_oid(gate->also, relid);
	gate->also_names = lappend(gate->also_names, name);
	return name;
}

void
gate_computed(Gate *gate, const char *name, Oid type)
{
	add_column(gate, name, type, -1, get_typcollation(type), 0);
}

static bool
column_fits(const Gate *gate, TupleDesc desc, int i)
{
	Form_pg_attribute expected = TupleDescAttr(gate->desc, i);
	Form_pg_attribute found = TupleDescAttr(desc, i);

	return found->atttypid == expected->atttypid && found->attcollation == expected->attcollation &&
		   (expected->atttypmod < 0 || found->atttypmod == expected->atttypmod) &&
		   type_shape(found->atttypid) == gate->shapes[i];
}

/* Are the columns those that were resolved: their number, and the type, typmod and collation of each? */
static bool
gate_fits(const Gate *gate, TupleDesc desc)
{
	bool fits = desc->natts == gate->desc->natts;

	for (int i = 0; i < desc->natts && fits; i++)
		fits = column_fits(gate, desc, i);
	return fits;
}

static void
check_name(const char *name, Oid relid)
{
	char *now = relation_name(relid);

	if (now == NULL || strcmp(now, name) != 0)
		ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						errmsg("%s was dropped, renamed or replaced while it was in use", name),
						errhint("%s", gate_hint)));
}

static void
check_names(const Gate *gate)
{
	ListCell *name, *relid;

	if (OidIsValid(gate->relid))
		check_name(gate->name, gate->relid);
	forboth (name, gate->also_names, relid, gate->also)
		check_name(lfirst(name), lfirst_oid(relid));
}

static char *
type_text(Form_pg_attribute att)
{
	return format_type_with_typemod(att->atttypid, att->atttypmod);
}

/*
 * Is the relation the same, and are the columns: their number, and the type, typmod
 * and collation of each?  Raises t_r_serialization_failure.  A column without a
 * typmod may have values with one: the planner knows more than a view's definition.
 */
static void
gate_check(const Gate *gate, TupleDesc desc)
{
	check_names(gate);
	if (gate_fits(gate, desc))
		return;
	if (desc->natts != gate->desc->natts)
		raise_changed(gate, psprintf("There are %d columns instead of %d.", desc->natts, gate->desc->natts));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute expected = TupleDescAttr(gate->desc, i);
		Form_pg_attribute found = TupleDescAttr(desc, i);
		char *was = type_text(expected), *is = type_text(found);

		if (column_fits(gate, desc, i))
			continue;
		raise_changed(gate, strcmp(was, is) != 0
								? psprintf("Column \"%s\" was of type %s and is of type %s.",
										   NameStr(expected->attname), was, is)
								: psprintf("Column \"%s\" has another collation, or its type was altered.",
										   NameStr(expected->attname)));
	}
}

/* ---- queries through it ---- */

int gate_queries = 0;

typedef struct GateReceiver
{
	DestReceiver pub;
	Gate *gate;
	GateReceive receive;
	void *arg;
	List *held; /* composite types, open while rows come in */
} GateReceiver;

static void
receiver_startup(DestReceiver *self, int operation, TupleDesc desc)
{
	GateReceiver *receiver = (GateReceiver *) self;

	for (int i = 0; i < desc->natts; i++)
		each_composite(TupleDescAttr(desc, i)->atttypid, hold_composite, &receiver->held);
	gate_queries--;
	gate_check(receiver->gate, desc);
	gate_queries++;
}

static bool
receiver_receive(TupleTableSlot *slot, DestReceiver *self)
{
	GateReceiver *receiver = (GateReceiver *) self;

	bool more;

	if (!receiver->gate->whole)
		slot_getallattrs(slot);
	gate_queries--;
	more = receiver->receive(receiver->arg, slot);
	gate_queries++;
	return more;
}

static void
receiver_shutdown(DestReceiver *self)
{
	GateReceiver *receiver = (GateReceiver *) self;
	ListCell *lc;

	foreach (lc, receiver->held)
		relation_close(lfirst(lc), NoLock);
	receiver->held = NIL;
}

static void
receiver_destroy(DestReceiver *self)
{
}

/* ---- how far they are ---- */

/*
 * Before a query's first row comes all of a table may have been grouped or sorted.  So the
 * rows that go into that are counted, one by one, against those that the planner expects.
 */
#define WATCH_ROWS 1024

/* More is not said of a query that is not over, whatever the planner thought. */
#define MOST_SHARE 0.99

typedef struct Watch
{
	PlanState *node;
	ExecProcNodeMtd next_row; /* the node's own */
	Gate *gate;
	uint64 rows;
	struct Watch *outer; /* that of the query that this one is run by */
} Watch;

static Watch *watching = NULL;
static ExecutorRun_hook_type previous_run = NULL;

void
gate_watch(Gate *gate, Border *border, const char *phase)
{
	gate->border = border;
	gate->phase = phase;
}

void
gate_tell(const Gate *gate)
{
	border_progress(gate->border, gate->phase, gate->share, -1);
}

/* (Versions of the planner expect different rows of the same table.) */
static double
expected_rows(const PlanState *node)
{
	return FAULT(progress_told) ? 2000 : Max(node->plan->plan_rows, 1);
}

static TupleTableSlot *
watched_row(PlanState *node)
{
	Watch *watch = watching;

	while (watch->node != node)
		watch = watch->outer;
	if (++watch->rows % WATCH_ROWS == 0)
	{
		watch->gate->share = Min((double) watch->rows / expected_rows(node), MOST_SHARE);
		gate_tell(watch->gate);
	}
	return watch->next_row(node);
}

/* Below what takes all rows before it gives one. */
static PlanState *
reading_node(PlanState *node)
{
	while (outerPlanState(node) != NULL &&
		   (IsA(node, AggState) || IsA(node, SortState) || IsA(node, IncrementalSortState) ||
			IsA(node, GatherState) || IsA(node, GatherMergeState)))
		node = outerPlanState(node);
	return node;
}

static void
run_query(KANON_RUN_PARAMETERS)
{
	if (previous_run != NULL)
		previous_run(KANON_RUN_ARGUMENTS);
	else
		standard_ExecutorRun(KANON_RUN_ARGUMENTS);
}

static void
run_watched(KANON_RUN_PARAMETERS)
{
	Watch watch = {.outer = watching};

	if (query->dest == NULL || query->dest->receiveSlot != receiver_receive ||
		((GateReceiver *) query->dest)->gate->border == NULL)
	{
		run_query(KANON_RUN_ARGUMENTS);
		return;
	}
	watch.gate = ((GateReceiver *) query->dest)->gate;
	watch.node = reading_node(query->planstate);
	watch.next_row = watch.node->ExecProcNodeReal;
	watching = &watch;
	PG_TRY();
	{
		ExecSetExecProcNode(watch.node, watched_row);
		run_query(KANON_RUN_ARGUMENTS);
		watch.gate->share = MOST_SHARE;
	}
	PG_FINALLY();
	{
		watching = watch.outer;
	}
	PG_END_TRY();
}

void
gate_init(void)
{
	previous_run = ExecutorRun_hook;
	ExecutorRun_hook = run_watched;
}

/* ---- what other servers send ---- */

/* More than any table has. */
#define MOST_ROWS (INT64CONST(1) << 48)

int64
gate_rows(const char *name, const TupleTableSlot *slot, int column, int64 before)
{
	int64 rows = slot->tts_isnull[column] ? 0 : DatumGetInt64(slot->tts_values[column]);

	if (rows < 1 || rows > MOST_ROWS - before)
		ereport(
			ERROR,
			(errcode(ERRCODE_FDW_ERROR), errmsg("%s has groups of an impossible number of rows", name),
			 errhint(
				 "The foreign server that has the rows counted them wrongly: publish them there, or from a copy here.")));
	return rows;
}

void
gate_refuse_null(const char *name, const TupleTableSlot *slot, int column)
{
	if (slot->tts_isnull[column])
		ereport(
			ERROR,
			(errcode(ERRCODE_FDW_ERROR), errmsg("%s has NULL where the query leaves it out", name),
			 errhint(
				 "A foreign server or a function gives other rows each time: publish from a copy, such as a materialized view.")));
}

/* ---- and what runs them ---- */

typedef struct Statement
{
	const char *sql;
	bool read_only;
	int n; /* parameters */
	Oid *types;
	Datum *values;
	const char *nulls;
	long most;          /* rows; 0: all */
	DestReceiver *dest; /* NULL: SPI_tuptable */
} Statement;

/* The statement that kanon itself has sent and waits for. */
static const char *sent = NULL;

bool
gate_has_sent(const char *sql)
{
	return sent != NULL && strcmp(sent, sql) == 0;
}

/* Through the door: what comes of it. */
static int
send_statement(const Statement *statement, const char *name, Oid relid)
{
	SPIExecuteOptions options = {.read_only = statement->read_only, .dest = statement->dest};
	volatile int result = 0;
	const char *volatile outer = sent;
	Door door;

	door_open(&door, name, relid);
	sent = statement->sql;
	PG_TRY();
	{
		result =
			statement->dest != NULL
				? SPI_execute_extended(statement->sql, &options)
				: SPI_execute_with_args(statement->sql, statement->n, statement->types, statement->values,
										statement->nulls, statement->read_only, statement->most);
	}
	PG_FINALLY();
	{
		sent = outer;
		door_close(&door);
	}
	PG_END_TRY();
	return result;
}

/* Queries that fail raise their errors; another result is a mistake of ours. */
static void
check_result(int result, int expected)
{
	if (expected == 0 ? result < 0 : result != expected)
		elog(ERROR, "a query ended with %s", SPI_result_code_string(result));
}

void
gate_select(Gate *gate, const char *sql, bool read_only, GateReceive receive, void *arg)
{
	GateReceiver receiver = {
		.pub = {receiver_receive, receiver_startup, receiver_shutdown, receiver_destroy, DestNone},
		.gate = gate,
		.receive = receive,
		.arg = arg};
	Statement statement = {.sql = sql, .read_only = read_only, .dest = &receiver.pub};

	check_names(gate);
	gate_queries++;
	check_result(send_statement(&statement, gate->name, gate->relid), 0);
	gate_queries--;
}

uint64
gate_execute(const char *sql, bool read_only, int expected)
{
	Statement statement = {.sql = sql, .read_only = read_only};

	gate_queries++;
	check_result(send_statement(&statement, NULL, InvalidOid), expected);
	gate_queries--;
	return SPI_processed;
}

void
gate_see_written(void)
{
	Snapshot before = RegisterSnapshot(GetActiveSnapshot());

	PopActiveSnapshot();
	PushCopiedSnapshot(before);
	UnregisterSnapshot(before);
	UpdateActiveSnapshotCommandId();
}

uint64
gate_write(const char *sql, int n, Oid *types, Datum *values, const char *nulls, int expected)
{
	Statement statement = {.sql = sql, .n = n, .types = types, .values = values, .nulls = nulls};
	int result;

	gate_queries++;
	result = send_statement(&statement, NULL, InvalidOid);
	gate_queries--;
	return result == expected ? SPI_processed : 0;
}

uint64
gate_ask(const char *query, int n, Oid *types, Datum *values, const char *nulls, bool read_only, long most)
{
	Statement statement = {.sql = query,
						   .read_only = read_only,
						   .n = n,
						   .types = types,
						   .values = values,
						   .nulls = nulls,
						   .most = most};

	check_result(send_statement(&statement, NULL, InvalidOid), SPI_OK_SELECT);
	return SPI_processed;
}

void
gate_query(const Gate *gate, const char *sql, bool read_only)
{
	Statement statement = {.sql = sql, .read_only = read_only};

	check_names(gate);
	gate_queries++;
	check_result(send_statement(&statement, gate->name, gate->relid), SPI_OK_SELECT);
	gate_queries--;
	gate_check(gate, SPI_tuptable->tupdesc);
}

Datum
gate_value(uint64 row, int column, Oid type, bool *isnull)
{
	TupleDesc desc = SPI_tuptable->tupdesc;

	if (row >= SPI_processed || column > desc->natts || TupleDescAttr(desc, column - 1)->atttypid != type)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("a query of kanon's own gave other columns or rows than it asks for"),
				 errhint("The extension may have been altered or replaced meanwhile: run the call again.")));
	return SPI_getbinval(SPI_tuptable->vals[row], desc, column, isnull);
}

uint64
gate_execute_plain(const char *sql, bool read_only, int expected)
{
	int nest = NewGUCNestLevel();
	uint64 n;

	(void) set_config_option("search_path", "pg_catalog", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true,
							 0, false);
	n = gate_execute(sql, read_only, expected);
	AtEOXact_GUC(true, nest);
	return n;
}
