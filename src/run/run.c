/*
 * run.c: the five steps from a source to a published target: read, solve, measure,
 * write, verify; and the record.
 */
#include "compat.h"
#include "host/gate.h"
#include "host/settings.h"
#include "host/excerpt.h"
#include "run/run.h"
#include "distributed/distributed.h"
#include "rows/target.h"
#include "masks/mask_apply.h"
#include "rows/verify.h"
#include "options/request.h"
#include "series/successive.h"
#include "series/values.h"
#include "run/on_disk_types.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

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

/* Every combination is allowed. */
static void
mask_all(KanonMask *mask)
{
	memset(mask, 0, sizeof(*mask));
	mask->max_suppressed = -1;
	mask->max_cost = INFINITY;
	mask->order = KANON_ORDER_DOMAIN;
}

/* ---- read ---- */

/* The key after the columns that are kept: it is read, and stays behind the last of them. */
static ArrayType *
keep_key(ArrayType *keep, const char *key)
{
	int n = 0;
	char **kept = keep == NULL ? NULL : name_array(keep, "keep", &n);
	const char **names = palloc(sizeof(char *) * (n + 1));

	for (int i = 0; i < n; i++)
		names[i] = kept[i];
	names[n] = key;
	return name_list(names, n + 1);
}

static void
open_source(Run *run)
{
	const Request *request = run->request;

	ArrayType *keep = request->series.key != NULL ? keep_key(request->columns.keep, request->series.key)
												  : request->columns.keep;

	run->source = (request->linked.told_apart != NULL ? source_open_rows : source_open)(
		request->source, request->qis, keep, request->columns.categorical);
	if (request->series.key != NULL)
	{
		SourceColumn *key = &run->source->kept[--run->source->nkept];

		/* it is not published */
		key->may_identify = key->answered = true;
	}
}

static void
group_by_further(Run *run)
{
	int n;
	SourceColumn *columns =
		source_columns(run->source, run->request->linked.told_apart, "foreign_key", "a key", &n);

	run->source->persons = source_group_by(run->source, &columns[0]);
	for (int i = 1; i < n; i++)
		(void) source_group_by(run->source, &columns[i]);
}

static void
open_beside(Run *run)
{
	privacy_populations(run->request->privacy, run->source);
	privacy_columns(run->request->privacy, run->source);
	privacy_columns(run->request->linked.rules, run->source);
	if (run->request->linked.told_apart != NULL)
		group_by_further(run);
	if (run->request->series.values != NULL)
		values_open(run);
	source_hierarchies(run->source, run->request->columns.hierarchies);
	kept_bounds_take(run);
}

/* The request's words about the source's columns. */
static void
set_up(Run *run)
{
	Request *request = run->request;
	KanonProblem *problem = &run->problem;
	int n;
	char **names = name_array(request->qis, "quasi_identifiers", &n);

	source_levels(run->source);
	problem->env = &run->border->env;
	problem->ncolumns = run->source->levels.first[run->source->nqis];
	problem->residual = request->residual;
	problem->time_limit = request->time_limit;
	problem->gap = request->guided.gap;
	problem->seed = request->seed;
	problem->effort = request->guided.effort;
	mask_all(&problem->mask);
	if (request->columns.class_column != NULL)
		run_find_class_column(run, request->columns.class_column);
	if (request->model->set_up != NULL)
		request->model->set_up(run);
	run->weights = weights_parse(request->columns.weights, names, n);
	run->columns = run->source;
}

static int64
most_k(const Run *run)
{
	return run->request->model->most_k != NULL    ? run->request->model->most_k(run)
		   : privacy_k_map(run->request->privacy) ? PG_INT64_MAX
												  : run->types->nrows;
}

static void
check_k(const Run *run)
{
	int64 nrows = run->types->nrows;
	int64 k = run->request->k;

	if (nrows == 0 || k <= nrows || privacy_k_map(run->request->privacy) || run->none)
		return;
	if (history_held(run) != NULL)
		*history_held(run) = true;
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("k is larger than the table"),
					errdetail("k is " INT64_FORMAT ", the source has " INT64_FORMAT " rows.", k, nrows),
					errhint("Lower k: no class could ever have that many rows.")));
}

static void
read_types(Run *run)
{
	if (run->request->guided.partition_by != NULL && parted_may(run))
		parted_read(run);
	else
		for (int tries = 1; (run->types = rowtypes_read_within(run->source, 0, run->border)) == NULL; tries++)
			set_rows_aside_again(run, tries);
	run->record.row_count = run->types->nrows;
}

static void
ready(Run *run)
{
	const Request *request = run->request;
	const Histories *histories = request->series.histories;
	RowTypes *types = run->types;

	/* (nobody's history goes on so) */
	run->none = run->problem.residual == KANON_RESIDUAL_DROP && histories == NULL &&
				request->series.values == NULL && privacy_too_few(request->privacy, types, request->k);
	check_k(run);
	run->source->k = Max(request->k, request->most_k);
	rowtypes_levels(types, run->border);
	rowtypes_price(types, run->weights, request->columns.level_cost, run->border);
	run->problem.k = request->k;
	run->problem.columns = types->columns;
	run->problem.ntypes = types->ntypes;
	run->problem.rows = types->rows;
	/* the source's rows passed; those that are held back may be in no population any more */
	if (histories != NULL)
		*histories->none = histories->round > 1;
	if (!run->none)
		privacy_rules(request->privacy, types, NULL, &run->problem,
					  (request->model->options & TAKES(RESIDUAL)) != 0, history_held(run), run->border);
	if (histories != NULL)
		*histories->none = false;
	if (request->model->ready != NULL)
		request->model->ready(run);
}

/* ---- solve, measure ---- */

void
run_measure(Run *run)
{
	Border *border = run->border;

	border_pfree(border, run->diversity);
	run->diversity = border_palloc(border, sizeof(double) * Max(run->release.nclasses, 1));
	border_check(border, kanon_measure(&run->problem, &run->release, &run->measures, run->diversity), "");
}

static KanonStatus
solve(Run *run)
{
	KanonStatus status;

	if (run->types->nrows == 0)
		return KANON_OK;
	if (run->parted != NULL)
		return parted_solve(run);
	run->problem.leaves_out = run->problem.leaves_out || run->none;
	status = stable_solve(run);
	if (status == KANON_OK)
		run_measure(run);
	return status;
}

/* ---- the same for several ks ---- */

static bool
take_k(Run *run, int64 k)
{
	run->request->k = run->problem.k = k;
	return run->types->nrows == 0 || k <= most_k(run);
}

static void
figures(const Run *run, Figures *told)
{
	*told = figures_of(&run->problem, &run->release, &run->report, &run->measures);
}

static void
forget(Run *run)
{
	kanon_release_free(&run->problem, &run->release);
	memset(&run->release, 0, sizeof(run->release));
}

/* ---- write, verify, record ---- */

/* The published and recorded release is the one after persons are protected. */
static void
write_target(Run *run)
{
	int64 expected, written;

	/* (between the steps of one of several tables there are those of the others) */
	if (run->request->linked.snapshot != NULL)
		INSTR_TIME_SET_CURRENT(run->clock);
	if (run->parted != NULL)
	{
		run->suppressed = run_suppressed_share(run);
		parted_write(run);
		return;
	}
	/* (else that is done where rows are staged) */
	if (run->request->series.types != NULL && !successive_is_staged(run))
		stable_begin(run);
	if (run->request->series.key != NULL)
		successive_settle(run);
	run->suppressed = run_suppressed_share(run);
	run->number = run_record_classes(run->schema, run->types, &run->problem, &run->release, run->diversity);
	expected = run->types->nrows - run->release.dropped;
	written = run->request->series.key != NULL
				  ? successive_write(run)
				  : target_write(run->target, run->types, &run->problem, &run->release, run->border);
	if (written != expected && run->staged != NULL)
		raise_unsafe(psprintf("It was written from " INT64_FORMAT " rows instead of " INT64_FORMAT ".",
							  written, expected));
	if (written != expected)
		elog(ERROR, "wrote " INT64_FORMAT " rows instead of " INT64_FORMAT, written, expected);
	if (run->request->series.types != NULL && !successive_is_staged(run))
		stable_end(run);
}

static void
verify_target(Run *run)
{
	int64 expected = run->types->nrows - run->release.dropped;

	run->record.found = found_begin(&run->found, run->problem.k);
	if (run->parted != NULL)
		target_verify_groups(run->target, run->source, &run->problem, expected, found_class, &run->found,
							 run->border);
	else if (run->problem.freeform != NULL)
		target_verify_freeform(run->target, run->source, &run->problem, &run->release, expected, run->border);
	/* (rows of persons are counted once all tables are there: linked_release.c) */
	else if (run->request->linked.told_apart == NULL)
		target_verify(run->target, run->source, &run->problem, &run->release, expected, found_class,
					  &run->found, run->border);
	run->record.classification =
		run->class_column != NULL
			? target_classification(run->target, run->source, run->class_column, run->release.dropped)
			: NAN;
}

static void
record_run(Run *run)
{
	RunRecord *record = &run->record;
	const Privacy *privacy =
		run->request->linked.rules != NULL ? run->request->linked.rules : run->request->privacy;

	record->patterns = kanon_mask_count(&run->problem, INT64CONST(1) << 24); /* no more are counted */
	record->columns = run_measure_columns(run);
	record->sizes = run->parted != NULL ? &run->parted->sizes : NULL;
	if (privacy != NULL)
		record->options = DirectFunctionCall2(jsonb_concat, record->options, privacy_recorded(privacy));
	run_record(run->schema, run->number, record, run->types, &run->problem, &run->release, &run->report,
			   &run->measures);
	comments_columns(run->target, run->source);
	comments_write(run->target, run->source, run_words(run, run->request->linked.promise));
}

static const Steps row_type_steps = {open_source,  open_beside,   set_up,     read_types, ready,   solve,
									 write_target, verify_target, record_run, take_k,     figures, forget};

/* ---- the steps ---- */

bool
run_has_more_rows(const Run *run, int64 most)
{
	const Source *source = run->source;
	Gate *gate = gate_create(source->name, source->relid, 1);
	bool isnull;

	gate_computed(gate, "count", INT8OID);
	gate_query(gate,
			   psprintf("SELECT pg_catalog.count(*) FROM (SELECT 1 FROM %s LIMIT " INT64_FORMAT ") AS s",
						source->name, most + 1),
			   true);
	return DatumGetInt64(gate_value(0, 1, INT8OID, &isnull)) > most;
}

static const Steps *
steps_of(const Request *request)
{
	return request->model->steps != NULL ? request->model->steps : &row_type_steps;
}

static void
make_target(Run *run)
{
	run->target =
		target_resolve(run->request->target, run->columns, run->request->replace, run->request->columns.mark);
	if (!run->request->series.outlined)
		set_rows_aside(run);
	target_create(run->target, run->columns);
	run->record.target = run->target->qualified;
}

/* whole: all steps will be taken, in their order. */
static Run *
begin(Request *request, bool whole)
{
	const Steps *steps = steps_of(request);
	Run *run = palloc0(sizeof(Run));

	INSTR_TIME_SET_CURRENT(run->clock);
	run->request = request;
	run->whole = whole;
	run->schema = get_func_namespace(request->caller);
	run->record.started_at = GetCurrentTimestamp();
	run->record.method = request->recorded_method != NULL ? request->recorded_method : request->method;
	run->border = border_create(request->function);
	border_share(run->border, request->linked.border);
	/* (whatever 'fill' may publish, 'drop' may) */
	run->border->no_residual = (request->model->options & TAKES(RESIDUAL)) == 0 ||
							   request->residual == KANON_RESIDUAL_FILL ||
							   request->residual == KANON_RESIDUAL_DROP;
	run->border->least_k = request->k <= 2;
	SPI_connect();
	steps->open(run);
	masks_read(run->source, request->columns.mask, request->series.key, request->columns.mask_key,
			   request->published && (request->series.stable || request->own != NULL));
	masks_instead(run->source, request->linked.referring, request->linked.key);
	identifiers_check(run);
	source_snapshot(run->source);
	run->record.source = run->source->name;
	if (OidIsValid(request->linked.held))
		source_read_instead(run->source, request->linked.held, request->linked.numbers);
	steps->beside(run);
	/* younger than these locks, too: a load may have emptied one of them first */
	PopActiveSnapshot();
	if (request->linked.snapshot != NULL)
	{
		PushCopiedSnapshot(request->linked.snapshot);
		gate_see_written();
	}
	else
		histories_snapshot(request);
	look_for_changes(run);
	if (run->unchanged)
		return run;
	/* the model is set up for whom k counts */
	successive_count_persons(run);
	steps->set_up(run);
	if (request->target != NULL)
		make_target(run);
	if (request->series.outlined)
		run->unchanged = true;
	if (run->unchanged)
		return run;
	steps->read(run);
	run->record.read_ms = lap_ms(&run->clock);
	steps->ready(run);
	if (request->series.definition != NULL)
		run->bounds = kept_bounds_tell(run);
	return run;
}

Run *
run_read(Request *request)
{
	return begin(request, false);
}

static void
raise_unsolved(Run *run, KanonStatus status)
{
	if (status != KANON_OK && run->request->model->refuse != NULL)
		run->request->model->refuse(run, status);
	border_check(run->border, status, run->report.detail);
}

void
run_solve(Run *run)
{
	raise_unsolved(run, steps_of(run->request)->solve(run));
	run->record.solve_ms = lap_ms(&run->clock);
}

bool
run_solve_changed(Run *run)
{
	KanonStatus status = steps_of(run->request)->solve(run);

	if (status == KANON_RESIDUAL || status == KANON_REST_FORBIDDEN || status == KANON_INFEASIBLE ||
		status == KANON_NOT_FOUND)
		return false;
	raise_unsolved(run, status);
	return true;
}

bool
run_solve_for(Run *run, int64 k, Figures *told)
{
	const Steps *steps = steps_of(run->request);
	bool found = steps->take_k(run, k) && run_solve_changed(run);

	if (found)
		steps->figures(run, told);
	else
		*told = figures_none();
	run_forget(run);
	return found;
}

void
run_forget(Run *run)
{
	steps_of(run->request)->forget(run);
	memset(&run->report, 0, sizeof(run->report));
}

static void
tell_solved(Run *run)
{
	if (run->request->model->solved != NULL)
		run->request->model->solved(run);
	run_notice_rest(run);
}

static Run *
solved(Request *request)
{
	Run *run = begin(request, true);

	if (run->unchanged)
		return run;
	run_solve(run);
	tell_solved(run);
	return run;
}

/* Rows that were held back may be published, with everybody who is to be: solved, and nobody is alone. */
static bool
try_protected(Run *run)
{
	if (!run_solve_changed(run))
	{
		/* nobody else can be held back: that is raised */
		if (!histories_hold_all(run))
		{
			*run->request->series.histories->none = true;
			run_solve(run);
			*run->request->series.histories->none = false;
		}
		run_utility(psprintf("DROP TABLE %s", run->target->building));
		return false;
	}
	run->record.solve_ms += lap_ms(&run->clock);
	tell_solved(run);
	return successive_protect(run);
}

/* Again and again; what there is to notice was said at first. */
static Run *
solved_protected(Request *request)
{
	Run *run = begin(request, true);
	int nest = -1;
	double read_ms, solve_ms;

	while (!run->unchanged && !try_protected(run))
	{
		/* (what a round took in vain is told of the next) */
		read_ms = run->record.read_ms;
		solve_ms = run->record.solve_ms + lap_ms(&run->clock);
		run_end(run);
		if (nest < 0)
		{
			nest = NewGUCNestLevel();
			(void) set_config_option("client_min_messages", "warning", PGC_USERSET, PGC_S_SESSION,
									 GUC_ACTION_SAVE, true, 0, false);
		}
		run = begin(request, true);
		run->record.read_ms += read_ms;
		run->record.solve_ms = solve_ms;
	}
	if (nest >= 0)
		AtEOXact_GUC(true, nest);
	return run;
}

void
run_place(Run *run)
{
	const Request *request = run->request;

	if (OidIsValid(request->linked.named))
		source_read_instead(run->source, request->linked.named, NIL);
	target_install(run->target, run->columns);
	run->record.target_oid = run->target->relid;
	run->record.publication = request->publication;
	run->record.model = request->model->name;
	run->record.peak_memory = run->border->peak;
	run->record.options = recorded_arguments(run);
	if (!request->series.recorded_later)
		run_record_last(run);
}

void
run_record_last(Run *run)
{
	run->record.verify_ms += lap_ms(&run->clock);
	steps_of(run->request)->record(run);
}

/* The last two steps, and the record. */
static void
put_target(Run *run)
{
	Request *request = run->request;
	const Steps *steps = steps_of(request);

	steps->write(run);
	target_distribute(run->target);
	source_unstage(run->source);
	if (request->series.histories != NULL)
		histories_unstage(run);
	if (request->series.values != NULL)
		values_keep(run);
	run->record.write_ms = lap_ms(&run->clock);
	CommandCounterIncrement();
	/* checked as it stands there; only then does it take an older table's place */
	steps->verify(run);
	masks_verify(run->target, run->columns);
	if (request->series.histories != NULL)
		histories_verify(run);
	if (request->series.values != NULL)
		values_verify(run);
	run->record.verify_ms = lap_ms(&run->clock);
	if (!request->linked.placed_later)
		run_place(run);
}

Run *
run_request(Request *request)
{
	Run *run = request->series.histories != NULL ? solved_protected(request) : solved(request);

	if (run->unwritten)
	{
		successive_rehearse(run);
		run->suppressed = run_suppressed_share(run);
		(void) run_measure_columns(run);
	}
	else if (run->target != NULL && !run->unchanged)
		put_target(run);
	return run;
}

Run *
run_begin(Request *request)
{
	return begin(request, true);
}

void
run_finish(Run *run)
{
	run_solve(run);
	tell_solved(run);
	put_target(run);
}

/* ---- the end ---- */

void
run_end(Run *run)
{
	Border *border = run->border;

	PopActiveSnapshot();
	SPI_finish();
	border_delete(border);
}
