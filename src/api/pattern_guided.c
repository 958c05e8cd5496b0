/*
 * pattern_guided.c: kanon_pattern_guided, from its arguments to the table that
 * is published and the patterns that were used.
 */
#include "compat.h"
#include "kanon_pg.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(kanon_pattern_guided);

/* In the order of the SQL declaration. */
enum
{
	ARG_SOURCE, ARG_TARGET, ARG_QIS, ARG_K, ARG_PATTERNS, ARG_KEEP, ARG_WEIGHTS, ARG_METHOD,
	ARG_CATEGORICAL, ARG_RESIDUAL, ARG_MARK, ARG_REPLACE, ARG_DRY_RUN
};

static void
refuse_null(FunctionCallInfo fcinfo, int arg, const char *name, const char *hint)
{
	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be NULL", name),
				 errhint("%s", hint)));
}

static char *
text_arg(FunctionCallInfo fcinfo, int arg, const char *name, const char *hint)
{
	refuse_null(fcinfo, arg, name, hint);
	return text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

static bool
bool_arg(FunctionCallInfo fcinfo, int arg, const char *name)
{
	refuse_null(fcinfo, arg, name, "It is true or false.");
	return PG_GETARG_BOOL(arg);
}

static ArrayType *
array_arg(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : PG_GETARG_ARRAYTYPE_P(arg);
}

static double
lap_ms(instr_time *since)
{
	instr_time	now,
				lap;

	INSTR_TIME_SET_CURRENT(now);
	lap = now;
	INSTR_TIME_SUBTRACT(lap, *since);
	*since = now;
	return INSTR_TIME_GET_MILLISEC(lap);
}

static int64
k_arg(FunctionCallInfo fcinfo, int arg)
{
	int64		k;

	refuse_null(fcinfo, arg, "k", "Every published combination will occur at least k times; 5 is a usual choice.");
	k = PG_GETARG_INT64(arg);
	if (k < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k must be at least 2"),
				 errhint("With k = 1 every row may stand alone, which protects nobody.")));
	return k;
}

/* One row per pattern that was used, cheapest first. */
static void
return_patterns(ReturnSetInfo *rsinfo, const KanonProblem *problem, const KanonRelease *release)
{
	for (uint32 i = 0; i < release->nclasses;)
	{
		KanonPattern pattern = release->classes[i].pattern;
		int64		classes = 0,
					rows = 0;
		Datum		values[5];
		bool		nulls[5] = {false};

		for (; i < release->nclasses && release->classes[i].pattern == pattern; i++)
		{
			classes++;
			rows += release->classes[i].rows;
		}
		values[0] = CStringGetTextDatum(pattern_text(pattern, problem->ncolumns));
		values[1] = Float8GetDatum(kanon_pattern_cost(problem, pattern));
		values[2] = Int64GetDatum(classes);
		values[3] = Int64GetDatum(rows);
		values[4] = Int64GetDatum(rows * pg_popcount64(pattern));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

Datum
kanon_pattern_guided(PG_FUNCTION_ARGS)
{
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	RunRecord	record = {0};
	KanonProblem problem = {0};
	KanonRelease release = {0};
	KanonReport report = {0};
	KanonMeasures measures = {0};
	KanonSolve	solve;
	Border	   *border;
	Source	   *source;
	Target	   *target = NULL;
	RowTypes   *types;
	double	   *diversity = NULL;
	double	   *weights;
	bool		dry_run,
				replace,
				mark;
	instr_time	clock;

	/* everything that can be wrong with the arguments, before any work */
	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table or view to publish.");
	problem.k = k_arg(fcinfo, ARG_K);
	record.method = text_arg(fcinfo, ARG_METHOD, "method", "'greedy' is the default.");
	solve = method_parse(record.method);
	problem.residual = residual_parse(text_arg(fcinfo, ARG_RESIDUAL, "residual",
											   "It is 'suppress', 'drop' or 'error'."));
	mark = bool_arg(fcinfo, ARG_MARK, "mark");
	replace = bool_arg(fcinfo, ARG_REPLACE, "replace");
	dry_run = bool_arg(fcinfo, ARG_DRY_RUN, "dry_run");
	if (!dry_run)
		refuse_null(fcinfo, ARG_TARGET, "target",
					"Name the table to create, or say dry_run => true to write nothing.");

	record.started_at = GetCurrentTimestamp();
	kanon_begin_srf(fcinfo);
	border = border_create("kanon_pattern_guided");
	SPI_connect();
	source = source_open(PG_GETARG_OID(ARG_SOURCE), array_arg(fcinfo, ARG_QIS),
						 array_arg(fcinfo, ARG_KEEP), array_arg(fcinfo, ARG_CATEGORICAL));
	if (PG_ARGISNULL(ARG_PATTERNS))
		problem.mask.order = KANON_ORDER_DOMAIN;
	else
	{
		problem.mask.order = KANON_ORDER_GIVEN;
		problem.mask.list = patterns_parse(PG_GETARG_ARRAYTYPE_P(ARG_PATTERNS), source->nqis,
										   &problem.mask.nlist);
	}
	problem.mask.max_suppressed = -1;
	problem.mask.max_cost = INFINITY;
	weights = weights_parse(array_arg(fcinfo, ARG_WEIGHTS), source->nqis);
	if (!dry_run)
	{
		target = target_resolve(text_to_cstring(PG_GETARG_TEXT_PP(ARG_TARGET)), source, replace, mark);
		target_create(target, source);
	}

	INSTR_TIME_SET_CURRENT(clock);
	types = rowtypes_read(source, border);
	record.read_ms = lap_ms(&clock);
	if (types->nrows > 0 && problem.k > types->nrows)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("k is larger than the table"),
				 errdetail("k is " INT64_FORMAT ", the source has " INT64_FORMAT " rows.",
						   problem.k, types->nrows),
				 errhint("Lower k: no class could ever have that many rows.")));

	problem.env = &border->env;
	problem.ncolumns = source->nqis;
	for (int c = 0; c < source->nqis; c++)
		types->columns[c].weight = weights[c];
	problem.columns = types->columns;
	problem.ntypes = types->ntypes;
	problem.rows = types->rows;
	problem.time_limit = INFINITY;
	problem.effort = 1;
	if (types->nrows > 0)
	{
		border_check(border, solve(&problem, &release, &report), report.detail);
		diversity = border_palloc(border, sizeof(double) * Max(release.nclasses, 1));
		border_check(border, kanon_measure(&problem, &release, &measures, diversity), "");
	}
	record.solve_ms = lap_ms(&clock);

	if (!dry_run)
	{
		int64		written = target_write(target, types, &problem, &release, border);

		record.write_ms = lap_ms(&clock);
		CommandCounterIncrement();
		target_verify(target, source, &problem, types->nrows - release.dropped, border);
		if (written != types->nrows - release.dropped)
			elog(ERROR, "wrote " INT64_FORMAT " rows", written);
		target_install(target);
		record.verify_ms = lap_ms(&clock);
		record.source = source->name;
		record.target = target->qualified;
		record.row_count = types->nrows;
		record.patterns = kanon_mask_count(&problem, INT64CONST(1) << 24);
		run_record(schema, &record, types, &problem, &release, &measures, diversity);
	}
	return_patterns((ReturnSetInfo *) fcinfo->resultinfo, &problem, &release);
	SPI_finish();
	MemoryContextDelete(border->context);
	return (Datum) 0;
}
