/*
 * record.c: what a run did, kept for kanon_usefulness and
 * kanon_equivalence_classes.
 *
 * Values become JSON as the caller, who might have types with casts of their
 * own; only then is the record inserted as the owner of kanon's tables, with a
 * search_path that nobody else can write to.
 */
#include "compat.h"
#include "kanon_pg.h"

#include <math.h>

#include "access/table.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* Classes that go into one INSERT. */
#define CLASS_BATCH 4096

#define RUN_COLUMNS 32
#define CLASS_COLUMNS 6

/* to_jsonb for each column, as the parser would have set it up. */
static FmgrInfo *
jsonb_functions(const Source *source)
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
static Datum
class_shown(const Source *source, const KanonCell *cells, FmgrInfo *functions)
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

/* The classes from..to as arrays, one per column of the INSERT. */
static void
class_arrays(const Source *source, const KanonRelease *release, const double *diversity,
			 FmgrInfo *functions, uint32 from, uint32 to, Datum *arrays)
{
	int			n = (int) (to - from);
	Datum	   *elements[CLASS_COLUMNS];

	for (int i = 0; i < CLASS_COLUMNS; i++)
		elements[i] = palloc(sizeof(Datum) * n);
	for (int i = 0; i < n; i++)
	{
		const KanonClass *class_ = &release->classes[from + i];

		elements[0][i] = Int32GetDatum((int32) (from + i) + 1);
		elements[1][i] = CStringGetTextDatum(pattern_text(class_->pattern, source->nqis));
		elements[2][i] = Int64GetDatum(class_->rows);
		elements[3][i] = Int64GetDatum(class_->rows * pg_popcount64(class_->pattern));
		elements[4][i] = Float8GetDatum(diversity[from + i]);
		elements[5][i] = class_shown(source, &release->cells[(size_t) (from + i) * source->nqis], functions);
	}
	arrays[0] = PointerGetDatum(construct_array(elements[0], n, INT4OID, 4, true, TYPALIGN_INT));
	arrays[1] = PointerGetDatum(construct_array(elements[1], n, TEXTOID, -1, false, TYPALIGN_INT));
	arrays[2] = PointerGetDatum(construct_array(elements[2], n, INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	arrays[3] = PointerGetDatum(construct_array(elements[3], n, INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	arrays[4] = PointerGetDatum(construct_array(elements[4], n, FLOAT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	arrays[5] = PointerGetDatum(construct_array(elements[5], n, JSONBOID, -1, false, TYPALIGN_INT));
}

typedef struct OwnerContext
{
	Oid			user;
	int			security;
	int			nest;
} OwnerContext;

static void
become_owner(Oid table, OwnerContext *context)
{
	Relation	rel = table_open(table, RowExclusiveLock);
	Oid			owner = rel->rd_rel->relowner;

	table_close(rel, NoLock);
	GetUserIdAndSecContext(&context->user, &context->security);
	SetUserIdAndSecContext(owner, context->security | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	context->nest = catalog_path_begin();
}

static void
become_caller(const OwnerContext *context)
{
	catalog_path_end(context->nest);
	SetUserIdAndSecContext(context->user, context->security);
}

static void
insert(const char *sql, int nargs, Oid *types, Datum *values, const char *nulls)
{
	int			rc = SPI_execute_with_args(sql, nargs, types, values, nulls, false, 0);

	if (rc != SPI_OK_INSERT && rc != SPI_OK_INSERT_RETURNING)
		elog(ERROR, "could not record the run: %s", SPI_result_code_string(rc));
}

/* The columns of kanon_run, gathered for one INSERT. */
typedef struct RunColumns
{
	int			n;
	StringInfoData names;
	StringInfoData places;
	Oid			types[RUN_COLUMNS];
	Datum		values[RUN_COLUMNS];
	char		nulls[RUN_COLUMNS];
} RunColumns;

static void
add_column(RunColumns *columns, const char *name, Oid type, Datum value, bool isnull)
{
	int			i = columns->n++;

	Assert(i < RUN_COLUMNS);
	appendStringInfo(&columns->names, "%s%s", i > 0 ? ", " : "", name);
	appendStringInfo(&columns->places, "%s$%d", i > 0 ? ", " : "", i + 1);
	columns->types[i] = type;
	columns->values[i] = value;
	columns->nulls[i] = isnull ? 'n' : ' ';
}

static void
add_text(RunColumns *columns, const char *name, const char *value)
{
	add_column(columns, name, TEXTOID, CStringGetTextDatum(value), false);
}

static void
add_int8(RunColumns *columns, const char *name, int64 value, bool isnull)
{
	add_column(columns, name, INT8OID, Int64GetDatum(value), isnull);
}

static void
add_float8(RunColumns *columns, const char *name, double value, bool isnull)
{
	add_column(columns, name, FLOAT8OID, Float8GetDatum(value), isnull);
}

static int64
insert_run(const char *schema, const RunRecord *record, const RowTypes *types,
		   const KanonProblem *problem, const KanonRelease *release, const KanonReport *report,
		   const KanonMeasures *measures, Oid run_by)
{
	RunColumns	columns = {0};
	bool		none = release->nclasses == 0;
	bool		unbounded = none || isinf(report->lower_bound);
	bool		isnull;

	initStringInfo(&columns.names);
	initStringInfo(&columns.places);
	add_column(&columns, "started_at", TIMESTAMPTZOID, Int64GetDatum(record->started_at), false);
	add_column(&columns, "run_by", REGROLEOID, ObjectIdGetDatum(run_by), false);
	add_text(&columns, "source", record->source);
	add_text(&columns, "target", record->target);
	add_int8(&columns, "k", problem->k, false);
	add_text(&columns, "method", record->method);
	add_int8(&columns, "quasi_identifiers", problem->ncolumns, false);
	add_int8(&columns, "row_count", record->row_count, false);
	add_int8(&columns, "dropped_rows", release->dropped, false);
	add_int8(&columns, "row_types", types->ntypes, false);
	add_int8(&columns, "patterns", record->patterns, record->patterns < 0);
	add_int8(&columns, "suppressed_cells", measures->suppressed_cells, false);
	add_float8(&columns, "usefulness", measures->usefulness, none);
	add_int8(&columns, "classes", measures->classes, false);
	add_int8(&columns, "class_min", measures->class_min, none);
	add_float8(&columns, "class_avg", measures->class_avg, none);
	add_int8(&columns, "class_max", measures->class_max, none);
	add_float8(&columns, "cost", report->cost, false);
	add_float8(&columns, "lower_bound", report->lower_bound, unbounded);
	add_float8(&columns, "gap", report_gap(report), unbounded);
	add_column(&columns, "proven", BOOLOID, BoolGetDatum(report->proven), none);
	add_int8(&columns, "nodes", report->nodes, none);
	add_float8(&columns, "read_ms", record->read_ms, false);
	add_float8(&columns, "solve_ms", record->solve_ms, false);
	add_float8(&columns, "write_ms", record->write_ms, false);
	add_float8(&columns, "verify_ms", record->verify_ms, false);
	insert(psprintf("INSERT INTO %s.kanon_run (%s) VALUES (%s) RETURNING run",
					schema, columns.names.data, columns.places.data),
		   columns.n, columns.types, columns.values, columns.nulls);
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
}

/* How far the cost may be above the optimum: cost / bound - 1. */
double
report_gap(const KanonReport *report)
{
	if (report->proven || report->cost <= report->lower_bound)
		return 0;
	return report->lower_bound > 0 ? report->cost / report->lower_bound - 1 : INFINITY;
}

int64
run_record(Oid schema, const RunRecord *record, const RowTypes *types, const KanonProblem *problem,
		   const KanonRelease *release, const KanonReport *report, const KanonMeasures *measures,
		   const double *diversity)
{
	const char *schema_name = quote_identifier(get_namespace_name(schema));
	Oid			table = get_relname_relid("kanon_run", schema);
	Oid			argtypes[CLASS_COLUMNS] = {
		INT4ARRAYOID, TEXTARRAYOID, INT8ARRAYOID, INT8ARRAYOID, FLOAT8ARRAYOID, JSONBARRAYOID
	};
	FmgrInfo   *functions = jsonb_functions(types->source);
	char	   *insert_classes;
	OwnerContext context;
	int64		run;

	if (!OidIsValid(table))
		elog(ERROR, "table kanon_run is missing");
	become_owner(table, &context);
	run = insert_run(schema_name, record, types, problem, release, report, measures, context.user);
	become_caller(&context);
	insert_classes = psprintf("INSERT INTO %s.kanon_run_class (run, class, pattern, row_count,"
							  " suppressed_cells, tuple_diversity, shown)"
							  " SELECT " INT64_FORMAT ", * FROM unnest($1, $2, $3, $4, $5, $6)",
							  schema_name, run);
	for (uint32 from = 0; from < release->nclasses; from += CLASS_BATCH)
	{
		MemoryContext batch = AllocSetContextCreate(CurrentMemoryContext, "kanon record",
													ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(batch);
		Datum		arrays[CLASS_COLUMNS];

		class_arrays(types->source, release, diversity, functions, from,
					 Min(from + CLASS_BATCH, release->nclasses), arrays);
		become_owner(table, &context);
		insert(insert_classes, CLASS_COLUMNS, argtypes, arrays, NULL);
		become_caller(&context);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(batch);
	}
	return run;
}
