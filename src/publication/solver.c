/*
 * solver.c: calls the function behind a publication, whichever it is.
 *
 * A solver is any function kanon_NAME of the extension whose first arguments are
 * source, target, quasi_identifiers and k.  Its options are the arguments after
 * them, read from pg_proc: a new one needs no change here.  Their values travel
 * as values, never in the text of a query.
 */
#include "compat.h"
#include "publication/publication.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#define PREFIX "kanon_"

enum
{
	ARG_SOURCE,
	ARG_TARGET,
	ARG_QIS,
	ARG_K,
	LEADING_ARGS
};

static const char *const leading[] = {"source", "target", "quasi_identifiers", "k"};

/* Options that a publication sets itself. */
static const char *const reserved[] = {"replace", "dry_run", NULL};

typedef struct SolverFunction
{
	Oid oid;
	Oid result;
	int nargs; /* that are given */
	char **names;
	Oid *types;
	List *defaults; /* of the last arguments */
} SolverFunction;

/* False when the function is not a solver. */
static bool
read_function(HeapTuple tuple, SolverFunction *function)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	char *modes;
	Datum defaults;
	bool isnull;

	function->oid = form->oid;
	function->result = form->prorettype;
	function->nargs = form->pronargs;
	function->defaults = NIL;
	if (!form->proretset || function->nargs < LEADING_ARGS)
		return false;
	(void) get_func_arg_info(tuple, &function->types, &function->names, &modes);
	if (function->names == NULL)
		return false;
	for (int i = 0; i < LEADING_ARGS; i++)
		if (strcmp(function->names[i], leading[i]) != 0)
			return false;
	/* a check of a target that is there has it as a relation */
	if (function->types[ARG_TARGET] != TEXTOID)
		return false;
	defaults = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proargdefaults, &isnull);
	if (!isnull)
		function->defaults = castNode(List, stringToNode(TextDatumGetCString(defaults)));
	return true;
}

static bool
is_reserved(const char *name)
{
	for (int i = 0; reserved[i] != NULL; i++)
		if (strcmp(name, reserved[i]) == 0)
			return true;
	return false;
}

/* The solvers there are, for a hint. */
static char *
known_solvers(Oid extension)
{
	Oid kanon = get_extension_oid("kanon", false);
	StringInfoData known;
	Oid types[2] = {OIDOID, TEXTOID};
	Datum values[2];
	int nest = catalog_path_begin();

	values[0] = ObjectIdGetDatum(kanon);
	values[1] = CStringGetTextDatum(PREFIX);
	if (SPI_execute_with_args("SELECT p.oid FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid"
							  " WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = $1"
							  " AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass"
							  " AND starts_with(p.proname, $2) ORDER BY p.proname",
							  2, types, values, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not list functions");
	catalog_path_end(nest);
	initStringInfo(&known);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool isnull;
		Datum oid = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &isnull);
		HeapTuple tuple = SearchSysCache1(PROCOID, oid);
		SolverFunction function;

		if (read_function(tuple, &function))
			appendStringInfo(&known, "%s'%s'", known.len > 0 ? ", " : "",
							 NameStr(((Form_pg_proc) GETSTRUCT(tuple))->proname) + strlen(PREFIX));
		ReleaseSysCache(tuple);
	}
	return known.data;
}

/* Only a function that belongs to the extension, whoever may create others in its schema. */
static SolverFunction *
find_function(Oid extension, const char *solver)
{
	SolverFunction *function = palloc(sizeof(SolverFunction));
	char *name = psprintf(PREFIX "%s", solver);
	Oid kanon = get_extension_oid("kanon", false);
	CatCList *list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
	bool found = false;

	for (int i = 0; i < list->n_members && !found; i++)
	{
		HeapTuple tuple = &list->members[i]->tuple;
		Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);

		found = form->pronamespace == extension &&
				getExtensionOfObject(ProcedureRelationId, form->oid) == kanon &&
				read_function(tuple, function);
	}
	ReleaseSysCacheList(list);
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("solver \"%s\" is not known", solver),
				 errhint("Known solvers: %s.", known_solvers(extension))));
	return function;
}

/* The place of an option among the arguments, or -1. */
static int
find_option(const SolverFunction *function, const char *name)
{
	if (is_reserved(name))
		return -1;
	for (int i = LEADING_ARGS; i < function->nargs; i++)
		if (strcmp(function->names[i], name) == 0)
			return i;
	return -1;
}

Oid
solver_option_type(Oid extension, const char *solver, const char *option)
{
	SolverFunction *function = find_function(extension, solver);
	int place = find_option(function, option);

	return place < 0 ? InvalidOid : function->types[place];
}

static char *
known_options(const SolverFunction *function)
{
	StringInfoData known;

	initStringInfo(&known);
	for (int i = LEADING_ARGS; i < function->nargs; i++)
		if (!is_reserved(function->names[i]))
			appendStringInfo(&known, "%s%s", known.len > 0 ? ", " : "", function->names[i]);
	return known.data;
}

/* jsonb_populate_record, as the parser would have set it up for any record. */
static void
populate_function(FmgrInfo *function)
{
	List *args =
		list_make2(makeNullConst(RECORDOID, -1, InvalidOid), makeNullConst(JSONBOID, -1, InvalidOid));

	fmgr_info(F_JSONB_POPULATE_RECORD, function);
	fmgr_info_set_expr((Node *) makeFuncExpr(F_JSONB_POPULATE_RECORD, RECORDOID, args, InvalidOid, InvalidOid,
											 COERCE_EXPLICIT_CALL),
					   function);
}

/*
 * The options as values of the arguments' types; not by a query, since its plan
 * with the values in it could be logged.
 */
static void
convert_options(const SolverFunction *function, Jsonb *options, Datum *values, bool *nulls, bool *given)
{
	JsonbIterator *it = JsonbIteratorInit(&options->root);
	JsonbIteratorToken token;
	JsonbValue value;
	TupleDesc desc = CreateTemplateTupleDesc(function->nargs);
	Datum *all = palloc0(sizeof(Datum) * function->nargs);
	bool *none = palloc(sizeof(bool) * function->nargs);
	HeapTupleData tuple;
	FmgrInfo populate;

	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		char *name;
		int place;

		if (token != WJB_KEY)
			continue;
		name = pnstrdup(value.val.string.val, value.val.string.len);
		place = find_option(function, name);
		if (place < 0)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("option \"%s\" is not known to the solver", name),
							errhint("Known options: %s.", known_options(function))));
		given[place] = true;
	}
	for (int i = 0; i < function->nargs; i++)
		TupleDescInitEntry(desc, i + 1, function->names[i], function->types[i], -1, 0);
	BlessTupleDesc(desc);
	memset(none, true, sizeof(bool) * function->nargs);
	populate_function(&populate);
	tuple.t_data = DatumGetHeapTupleHeader(FunctionCall2(
		&populate, HeapTupleGetDatum(heap_form_tuple(desc, all, none)), JsonbPGetDatum(options)));
	tuple.t_len = HeapTupleHeaderGetDatumLength(tuple.t_data);
	heap_deform_tuple(&tuple, desc, all, none);
	for (int i = LEADING_ARGS; i < function->nargs; i++)
		if (given[i])
		{
			values[i] = all[i];
			nulls[i] = none[i];
		}
}

void
solver_check(Oid extension, const char *solver, Jsonb *options)
{
	SolverFunction *function = find_function(extension, solver);

	if (!JB_ROOT_IS_OBJECT(options))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("options must be a JSON object"),
						errhint("Write it like '{\"keep\": [\"diagnosis\"]}'. Known options: %s.",
								known_options(function))));
	convert_options(function, options, palloc0(sizeof(Datum) * function->nargs),
					palloc0(sizeof(bool) * function->nargs), palloc0(sizeof(bool) * function->nargs));
}

/* The key beside the columns that are kept: persons_split takes it out again. */
static Datum
keep_key(Datum keep, bool isnull, const char *key)
{
	int n = 0;
	char **kept = isnull ? NULL : name_array(DatumGetArrayTypeP(keep), "keep", &n);
	const char **names = palloc(sizeof(char *) * (n + 1));

	for (int i = 0; i < n; i++)
		names[i] = kept[i];
	names[n] = key;
	return PointerGetDatum(name_list(names, n + 1));
}

static Const *
constant(Oid type, Datum value, bool isnull)
{
	int16 len;
	bool byval;

	get_typlenbyval(type, &len, &byval);
	return makeConst(type, -1, get_typcollation(type), len, value, isnull, byval);
}

void
solver_call(const KanonPublication *publication, const char *target)
{
	SolverFunction *function = find_function(publication->extension, publication->solver);
	Datum *values = palloc0(sizeof(Datum) * function->nargs);
	bool *nulls = palloc0(sizeof(bool) * function->nargs);
	bool *given = palloc0(sizeof(bool) * function->nargs);
	int first_default = function->nargs - list_length(function->defaults);
	List *args = NIL;
	EState *estate;
	ExprContext *econtext;
	TupleDesc desc;
	Oid type;
	FuncExpr *call;
	int place;

	values[ARG_SOURCE] = ObjectIdGetDatum(publication->source);
	values[ARG_TARGET] = CStringGetTextDatum(target);
	values[ARG_QIS] = PointerGetDatum(publication->qis);
	values[ARG_K] = function->types[ARG_K] == INT4OID ? Int32GetDatum((int32) publication->k)
													  : Int64GetDatum(publication->k);
	for (int i = 0; i < LEADING_ARGS; i++)
		given[i] = true;
	convert_options(function, publication->options, values, nulls, given);
	place = find_option(function, "keep");
	if (publication->key != NULL)
	{
		values[place] = keep_key(values[place], !given[place] || nulls[place], publication->key);
		nulls[place] = false;
		given[place] = true;
	}
	for (int i = 0; i < function->nargs; i++)
	{
		if (given[i])
			args = lappend(args, constant(function->types[i], values[i], nulls[i]));
		else if (i >= first_default)
			args = lappend(args, copyObject(list_nth(function->defaults, i - first_default)));
		else
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("the solver needs the option \"%s\"", function->names[i]),
							errhint("Give it in options. Known options: %s.", known_options(function))));
	}
	call = makeFuncExpr(function->oid, function->result, args, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	call->funcretset = true;
	if (get_expr_result_type((Node *) call, &type, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "a solver returns no table");
	estate = CreateExecutorState();
	econtext = CreateExprContext(estate);
	/* what it returns is in the record, too, and the release itself is checked */
	tuplestore_end(ExecMakeTableFunctionResult(
		ExecInitTableFunctionResult((Expr *) call, econtext, NULL), econtext,
		AllocSetContextCreate(estate->es_query_cxt, "kanon solver", ALLOCSET_DEFAULT_SIZES), desc, false));
	FreeExecutorState(estate);
}
