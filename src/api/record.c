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

#include "access/table.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

/* Classes that go into one INSERT. */
#define CLASS_BATCH 4096

#define RUN_COLUMNS 20
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

static int64
insert_run(const char *schema, const RunRecord *record, const RowTypes *types,
		   const KanonProblem *problem, const KanonRelease *release, const KanonMeasures *measures,
		   Oid run_by)
{
	Oid			argtypes[RUN_COLUMNS] = {
		TIMESTAMPTZOID, REGROLEOID, TEXTOID, TEXTOID, INT8OID, TEXTOID, INT8OID, INT8OID, INT8OID,
		INT8OID, INT8OID, FLOAT8OID, INT8OID, INT8OID, FLOAT8OID, INT8OID,
		FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID
	};
	Datum		values[RUN_COLUMNS];
	char		nulls[RUN_COLUMNS];
	bool		isnull;
	int			i = 0;

	memset(nulls, ' ', sizeof(nulls));
	values[i++] = TimestampTzGetDatum(record->started_at);
	values[i++] = ObjectIdGetDatum(run_by);
	values[i++] = CStringGetTextDatum(record->source);
	values[i++] = CStringGetTextDatum(record->target);
	values[i++] = Int64GetDatum(problem->k);
	values[i++] = CStringGetTextDatum(record->method);
	values[i++] = Int64GetDatum(record->row_count);
	values[i++] = Int64GetDatum(release->dropped);
	values[i++] = Int64GetDatum(types->ntypes);
	if (record->patterns < 0)
		nulls[i] = 'n';
	values[i++] = Int64GetDatum(record->patterns);
	values[i++] = Int64GetDatum(measures->suppressed_cells);
	if (release->nclasses == 0)
		nulls[i] = nulls[i + 2] = nulls[i + 3] = nulls[i + 4] = 'n';
	values[i++] = Float8GetDatum(measures->usefulness);
	values[i++] = Int64GetDatum(measures->classes);
	values[i++] = Int64GetDatum(measures->class_min);
	values[i++] = Float8GetDatum(measures->class_avg);
	values[i++] = Int64GetDatum(measures->class_max);
	values[i++] = Float8GetDatum(record->read_ms);
	values[i++] = Float8GetDatum(record->solve_ms);
	values[i++] = Float8GetDatum(record->write_ms);
	values[i++] = Float8GetDatum(record->verify_ms);
	Assert(i == RUN_COLUMNS);
	insert(psprintf("INSERT INTO %s.kanon_run (started_at, run_by, source, target, k, method, row_count,"
					" dropped_rows, row_types, patterns, suppressed_cells, usefulness, classes, class_min,"
					" class_avg, class_max, read_ms, solve_ms, write_ms, verify_ms, quasi_identifiers)"
					" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,"
					" $17, $18, $19, $20, %d) RETURNING run", schema, problem->ncolumns),
		   RUN_COLUMNS, argtypes, values, nulls);
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
}

int64
run_record(Oid schema, const RunRecord *record, const RowTypes *types, const KanonProblem *problem,
		   const KanonRelease *release, const KanonMeasures *measures, const double *diversity)
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
	run = insert_run(schema_name, record, types, problem, release, measures, context.user);
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
