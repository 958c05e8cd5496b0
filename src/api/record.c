/*
 * record.c: what a run did, kept for kanon_usefulness and
 * kanon_equivalence_classes.
 *
 * Rows go straight into kanon's tables, without a query: a query's parameters,
 * and plans that hold them, can be logged, and a query would need to run as the
 * tables' owner.  Values become JSON as the caller, whose types might have casts
 * of their own.
 */
#include "compat.h"
#include "kanon_pg.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

/* One of kanon's tables, and the row that is being put together for it. */
typedef struct RecordTable
{
	Relation	rel;
	CatalogIndexState indexes;
	MemoryContext row;			/* what a row leaves behind */
	Datum	   *values;
	bool	   *nulls;
} RecordTable;

static void
record_open(RecordTable *table, Oid schema, const char *name)
{
	Oid			relid = get_relname_relid(name, schema);

	if (!OidIsValid(relid))
		elog(ERROR, "table %s is missing", name);
	table->rel = table_open(relid, RowExclusiveLock);
	table->indexes = CatalogOpenIndexes(table->rel);
	table->row = AllocSetContextCreate(CurrentMemoryContext, "kanon record", ALLOCSET_DEFAULT_SIZES);
	table->values = palloc0(sizeof(Datum) * RelationGetNumberOfAttributes(table->rel));
	table->nulls = palloc(sizeof(bool) * RelationGetNumberOfAttributes(table->rel));
	memset(table->nulls, true, sizeof(bool) * RelationGetNumberOfAttributes(table->rel));
}

static void
set_column(RecordTable *table, const char *name, Datum value, bool isnull)
{
	int			attnum = SPI_fnumber(RelationGetDescr(table->rel), name);

	if (attnum <= 0)
		elog(ERROR, "column %s of %s is missing", name, RelationGetRelationName(table->rel));
	table->values[attnum - 1] = value;
	table->nulls[attnum - 1] = isnull;
}

static void
set_text(RecordTable *table, const char *name, const char *value)
{
	set_column(table, name, CStringGetTextDatum(value), false);
}

static void
set_int8(RecordTable *table, const char *name, int64 value, bool isnull)
{
	set_column(table, name, Int64GetDatum(value), isnull);
}

static void
set_float8(RecordTable *table, const char *name, double value, bool isnull)
{
	set_column(table, name, Float8GetDatum(value), isnull);
}

/* Columns that were not set since the last row are NULL. */
static void
record_insert(RecordTable *table)
{
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(table->rel), table->values, table->nulls);

	CatalogTupleInsertWithInfo(table->rel, tuple, table->indexes);
	heap_freetuple(tuple);
	memset(table->nulls, true, sizeof(bool) * RelationGetNumberOfAttributes(table->rel));
	MemoryContextReset(table->row);
}

static void
record_close(RecordTable *table)
{
	CatalogCloseIndexes(table->indexes);
	table_close(table->rel, NoLock);
	MemoryContextDelete(table->row);
}

/* to_jsonb for each column, as the parser would have set it up. */
FmgrInfo *
shown_functions(const Source *source)
{
	FmgrInfo   *functions = palloc0(sizeof(FmgrInfo) * source->nqis);

	for (int c = 0; c < source->nqis; c++)
	{
		const SourceColumn *column = &source->qis[c];
		Node	   *argument = (Node *) makeNullConst(column->type, column->typmod, column->collation);

		fmgr_info(F_TO_JSONB, &functions[c]);
		fmgr_info_set_expr((Node *) makeFuncExpr(F_TO_JSONB, JSONBOID, list_make1(argument),
												 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL),
						   &functions[c]);
	}
	return functions;
}

/* {"column": value, …} of the columns that a class shows. */
Datum
shown_values(const Source *source, const KanonCell *cells, FmgrInfo *functions)
{
	JsonbParseState *state = NULL;
	JsonbValue *result;

	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (int c = 0; c < source->nqis; c++)
	{
		JsonbValue	key,
					value;
		Datum		shown;
		bool		isnull;

		if (cells[c].show != KANON_SHOW_VALUE)
			continue;
		key.type = jbvString;
		key.val.string.val = source->qis[c].name;
		key.val.string.len = strlen(source->qis[c].name);
		pushJsonbValue(&state, WJB_KEY, &key);
		shown = dictionary_value(source->qis[c].dictionary, cells[c].code, &isnull);
		if (isnull)
			value.type = jbvNull;
		else
		{
			Jsonb	   *json = DatumGetJsonbP(FunctionCall1(&functions[c], shown));

			if (!JB_ROOT_IS_SCALAR(json) || !JsonbExtractScalar(&json->root, &value))
			{
				value.type = jbvBinary;
				value.val.binary.data = &json->root;
				value.val.binary.len = VARSIZE_ANY_EXHDR(json);
			}
		}
		pushJsonbValue(&state, WJB_VALUE, &value);
	}
	result = pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	return JsonbPGetDatum(JsonbValueToJsonb(result));
}

/* How far the cost may be above the optimum: cost / bound - 1. */
double
report_gap(const KanonReport *report)
{
	if (report->proven || report->cost <= report->lower_bound)
		return 0;
	return report->lower_bound > 0 ? report->cost / report->lower_bound - 1 : INFINITY;
}

static int64
record_run(Oid schema, const RunRecord *record, const RowTypes *types, const KanonProblem *problem,
		   const KanonRelease *release, const KanonReport *report, const KanonMeasures *measures)
{
	RecordTable table;
	Oid			sequence = get_relname_relid("kanon_run_run_seq", schema);
	int64		run = nextval_internal(sequence, false);
	bool		none = release->nclasses == 0;
	bool		unbounded = none || isinf(report->lower_bound);

	record_open(&table, schema, "kanon_run");
	set_int8(&table, "run", run, false);
	set_column(&table, "started_at", TimestampTzGetDatum(record->started_at), false);
	set_column(&table, "run_by", ObjectIdGetDatum(GetUserId()), false);
	set_text(&table, "source", record->source);
	set_text(&table, "target", record->target);
	set_int8(&table, "k", problem->k, false);
	set_text(&table, "method", record->method);
	set_column(&table, "quasi_identifiers", Int32GetDatum(problem->ncolumns), false);
	set_int8(&table, "row_count", record->row_count, false);
	set_int8(&table, "dropped_rows", release->dropped, false);
	set_int8(&table, "row_types", types->ntypes, false);
	set_int8(&table, "patterns", record->patterns, record->patterns < 0);
	set_int8(&table, "suppressed_cells", measures->suppressed_cells, false);
	set_float8(&table, "usefulness", measures->usefulness, none);
	set_int8(&table, "classes", measures->classes, false);
	set_int8(&table, "class_min", measures->class_min, none);
	set_float8(&table, "class_avg", measures->class_avg, none);
	set_int8(&table, "class_max", measures->class_max, none);
	set_float8(&table, "cost", report->cost, false);
	set_float8(&table, "lower_bound", report->lower_bound, unbounded);
	set_float8(&table, "gap", unbounded ? 0 : report_gap(report), unbounded);
	set_column(&table, "proven", BoolGetDatum(report->proven), none);
	set_int8(&table, "nodes", report->nodes, none);
	set_int8(&table, "peak_memory", (int64) record->peak_memory, false);
	set_float8(&table, "read_ms", record->read_ms, false);
	set_float8(&table, "solve_ms", record->solve_ms, false);
	set_float8(&table, "write_ms", record->write_ms, false);
	set_float8(&table, "verify_ms", record->verify_ms, false);
	record_insert(&table);
	record_close(&table);
	return run;
}

static void
record_classes(Oid schema, int64 run, const Source *source, const KanonRelease *release,
			   const double *diversity)
{
	FmgrInfo   *functions = shown_functions(source);
	RecordTable table;

	record_open(&table, schema, "kanon_run_class");
	for (uint32 i = 0; i < release->nclasses; i++)
	{
		const KanonClass *class_ = &release->classes[i];
		MemoryContext old = MemoryContextSwitchTo(table.row);

		CHECK_FOR_INTERRUPTS();
		set_int8(&table, "run", run, false);
		set_column(&table, "class", Int32GetDatum((int32) i + 1), false);
		set_text(&table, "pattern", pattern_text(class_->pattern, source->nqis));
		set_int8(&table, "row_count", class_->rows, false);
		set_int8(&table, "suppressed_cells", class_->rows * pg_popcount64(class_->pattern), false);
		set_float8(&table, "tuple_diversity", diversity[i], false);
		set_column(&table, "shown", shown_values(source, &release->cells[(size_t) i * source->nqis], functions),
				   false);
		record_insert(&table);
		MemoryContextSwitchTo(old);
	}
	record_close(&table);
}

int64
run_record(Oid schema, const RunRecord *record, const RowTypes *types, const KanonProblem *problem,
		   const KanonRelease *release, const KanonReport *report, const KanonMeasures *measures,
		   const double *diversity)
{
	int64		run = record_run(schema, record, types, problem, release, report, measures);

	record_classes(schema, run, types->source, release, diversity);
	return run;
}
