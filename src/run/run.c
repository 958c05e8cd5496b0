/*
 * run.c: the five steps from a source to a published target.
 */
#include "compat.h"
#include "run/run.h"
#include "publication/stable.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* Patterns are counted for the record up to this many. */
#define MOST_COUNTED (INT64CONST(1) << 24)

static double
lap_ms(instr_time *since)
{
	instr_time now, lap;

	INSTR_TIME_SET_CURRENT(now);
	lap = now;
	INSTR_TIME_SUBTRACT(lap, *since);
	*since = now;
	return INSTR_TIME_GET_MILLISEC(lap);
}

Run *
run_begin(FunctionCallInfo fcinfo, const char *function, Oid source, ArrayType *qis, ArrayType *keep,
		  ArrayType *categorical)
{
	Run *run = palloc0(sizeof(Run));

	run->schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	run->record.started_at = GetCurrentTimestamp();
	run->border = border_create(function);
	SPI_connect();
	run->source = source_open(source, qis, keep, categorical);
	source_snapshot(run->source);
	run->record.source = run->source->name;
	run->problem.env = &run->border->env;
	run->problem.ncolumns = run->source->nqis;
	return run;
}

void
run_hierarchies(Run *run, Jsonb *hierarchies)
{
	source_hierarchies(run->source, hierarchies);
	/* younger than these locks, too: a load may have emptied a hierarchy first */
	PopActiveSnapshot();
	PushActiveSnapshot(GetTransactionSnapshot());
	source_levels(run->source);
	run->problem.ncolumns = run->source->levels.first[run->source->nqis];
}

void
run_privacy(Run *run, Privacy *privacy)
{
	run->privacy = privacy;
	privacy_columns(privacy, run->source);
}

void
run_class_column(Run *run, const char *name)
{
	Source *source = run->source;
	SourceColumn *grouped = palloc(sizeof(SourceColumn) * (source->nqis + 1));
	int n;

	for (int i = 0; i < source->nkept && run->class_column == NULL; i++)
		if (strcmp(name, source->kept[i].name) == 0)
			run->class_column = &source->kept[i];
	if (run->class_column == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("class_column names \"%s\", which is not kept", name),
						errhint("The classification metric asks how well the published rows predict a column "
								"that is published with them: name it in keep, too.")));
	(void) source_columns(source, name_list(&name, 1), "class_column", "a class column", &n);
	memcpy(grouped, source->qis, sizeof(SourceColumn) * source->nqis);
	grouped[source->nqis] = *run->class_column;
	source_check_groupable(grouped, source->nqis + 1);
}

void
run_target(Run *run, const char *name, bool replace, bool mark)
{
	run->target = target_resolve(name, run->source, replace, mark);
	target_create(run->target, run->source);
	run->record.target = run->target->qualified;
}

void
run_check_k(const Run *run, int64 k)
{
	int64 nrows = run->types->nrows;

	if (nrows > 0 && k > nrows && !privacy_k_map(run->privacy))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("k is larger than the table"),
						errdetail("k is " INT64_FORMAT ", the source has " INT64_FORMAT " rows.", k, nrows),
						errhint("Lower k: no class could ever have that many rows.")));
}

void
run_read(Run *run, int64 k, const double *weights, LevelCost cost)
{
	RowTypes *types;

	INSTR_TIME_SET_CURRENT(run->clock);
	run->types = types = rowtypes_read(run->source, run->border);
	run->record.read_ms = lap_ms(&run->clock);
	run_check_k(run, k);
	rowtypes_levels(types, run->border);
	rowtypes_price(types, weights, cost, run->border);
	run->problem.k = k;
	run->problem.columns = types->columns;
	run->problem.ntypes = types->ntypes;
	run->problem.rows = types->rows;
	privacy_rules(run->privacy, types, &run->problem, run->border);
}

void
run_solve(Run *run, const char *method, KanonSolve solve)
{
	Border *border = run->border;

	kanon_release_free(&run->problem, &run->release);
	memset(&run->report, 0, sizeof(run->report));
	run->record.method = method;
	memset(&run->measures, 0, sizeof(run->measures));
	if (run->types->nrows == 0)
		return;
	border_check(border, stable_solve(run, solve), run->report.detail);
	if (run->diversity != NULL)
		border_pfree(border, run->diversity);
	run->diversity = border_palloc(border, sizeof(double) * Max(run->release.nclasses, 1));
	border_check(border, kanon_measure(&run->problem, &run->release, &run->measures, run->diversity), "");
	run->record.solve_ms = lap_ms(&run->clock);
}

int64
run_publish(Run *run)
{
	RunRecord *record = &run->record;
	int64 expected = run->types->nrows - run->release.dropped;
	int64 written;
	KanonColumnMeasures *columns;

	written = target_write(run->target, run->types, &run->problem, &run->release, run->border);
	if (written != expected)
		elog(ERROR, "wrote " INT64_FORMAT " rows instead of " INT64_FORMAT, written, expected);
	record->write_ms = lap_ms(&run->clock);
	CommandCounterIncrement();
	if (run->problem.freeform != NULL)
		target_verify_freeform(run->target, run->source, &run->problem, &run->release, expected, run->border);
	else
		target_verify(run->target, run->source, &run->problem, expected, run->border);
	record->classification =
		run->class_column != NULL
			? target_classification(run->target, run->source, run->class_column, run->release.dropped)
			: NAN;
	target_install(run->target, run->source);
	stable_write(run);
	record->verify_ms = lap_ms(&run->clock);
	record->row_count = run->types->nrows;
	record->peak_memory = run->border->peak;
	record->patterns = kanon_mask_count(&run->problem, MOST_COUNTED);
	columns = palloc0(sizeof(KanonColumnMeasures) * run->source->nqis);
	border_check(run->border, kanon_measure_columns(&run->problem, &run->release, columns), "");
	record->columns = columns;
	return run_record(run->schema, record, run->types, &run->problem, &run->release, &run->report,
					  &run->measures, run->diversity);
}

void
run_notice_dropped(const Run *run)
{
	if (run->privacy != NULL && run->release.dropped > 0)
		ereport(NOTICE, (errmsg(INT64_FORMAT " rows are left out", run->release.dropped),
						 errdetail("They fit no class that keeps k and the privacy rules.")));
}

/* What a proof takes. */
#ifdef HAVE_GLPK
#define PROOF_HINT "Raise time_limit."
#else
#define PROOF_HINT "A proof takes GLPK, which this build of kanon is without."
#endif

void
run_notice_unproven(const Run *run, bool takes_gap)
{
	const KanonReport *report = &run->report;

	if (run->types->nrows == 0 || report->proven)
		return;
	if (isinf(report->lower_bound))
		ereport(NOTICE, (errmsg("the release is not proven to be optimal"),
						 errdetail("Its cost is %.10g; no bound was found in time.", report->cost),
						 errhint(PROOF_HINT)));
	else if (isinf(report_gap(report)))
		ereport(NOTICE, (errmsg("the release is not proven to be optimal"),
						 errdetail("Its cost is %.10g, no release costs less than %.10g.", report->cost,
								   report->lower_bound),
						 errhint(PROOF_HINT)));
	else
		ereport(NOTICE, (errmsg("the release is not proven to be optimal"),
						 errdetail("Its cost is %.10g, no release costs less than %.10g (gap %.2f %%).",
								   report->cost, report->lower_bound, 100 * report_gap(report)),
						 takes_gap ? errhint("Raise time_limit, or accept the gap by gap => %.3f.",
											 ceil(1000 * report_gap(report)) / 1000)
								   : errhint(PROOF_HINT)));
}

void
run_return_patterns(const Run *run, ReturnSetInfo *rsinfo)
{
	const KanonProblem *problem = &run->problem;
	const KanonRelease *release = &run->release;

	for (uint32 i = 0; i < release->nclasses;)
	{
		KanonPattern pattern = release->classes[i].pattern;
		int64 classes = 0, rows = 0;
		Datum values[5];
		bool nulls[5] = {false};

		for (; i < release->nclasses && release->classes[i].pattern == pattern; i++)
		{
			classes++;
			rows += release->classes[i].rows;
		}
		values[0] = CStringGetTextDatum(pattern_text(pattern, &run->source->levels));
		values[1] = Float8GetDatum(kanon_pattern_cost(problem, pattern));
		values[2] = Int64GetDatum(classes);
		values[3] = Int64GetDatum(rows);
		values[4] = Int64GetDatum(rows * pattern_suppressed(pattern, &run->source->levels));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

void
run_end(Run *run)
{
	MemoryContext context = run->border->context;

	PopActiveSnapshot();
	SPI_finish();
	MemoryContextDelete(context);
}
