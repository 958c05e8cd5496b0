/*
 * anatomy_model.c: the model of two tables, one with the quasi-identifiers as they are and one
 * with the sensitive values of each group of rows, which takes the steps of a run in ways
 * of its own.
 */
#include "compat.h"
#include "anatomy/anatomy_model.h"
#include "rows/target.h"
#include "options/request.h"
#include "run/run.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#define SAME_TABLE "Each of the two tables needs a name of its own."

/* ---- what is asked for ---- */

/* source, quasi_target, sensitive_target, quasi_identifiers, sensitive, l */
static int
take_tables(Request *request, FunctionCallInfo fcinfo)
{
	request->qis = array_arg(fcinfo, 3);
	request->anatomy.sensitive_target = PG_ARGISNULL(2) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(2));
	return 4;
}

/* For callers that try several, l is what k is to others. */
static void
check_l_asked(Request *request)
{
	static const char *const hint =
		"Every group of rows will have at least l different values, each in at most one of l rows; 3 to 10 are usual.";

	if (request->k > 0 && request->given[OPTION_L])
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("l cannot be given in options"),
						errhint("Give l as the argument k.")));
	if (request->k > 0)
		request->anatomy.l = (int) Min(request->k, PG_INT32_MAX);
	else if (!request->given[OPTION_L])
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("l must not be NULL"), errhint("%s", hint)));
	if (request->anatomy.l < 2)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("l must be at least 2"),
						errhint("%s", hint)));
}

static void
check_request(Request *request)
{
	check_l_asked(request);
	if (request->target == NULL)
		request->anatomy.sensitive_target = NULL;
	else if (request->anatomy.sensitive_target == NULL)
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("sensitive_target must not be NULL"),
						errhint(TARGET_HINT)));
	else if (strcmp(request->target, request->anatomy.sensitive_target) == 0)
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
						errmsg("quasi_target and sensitive_target are the same"), errhint(SAME_TABLE)));
	request->recorded_method = "anatomy";
	request->own = palloc0(sizeof(AnatomyRun));
}

static char *
promise_text(const Run *run)
{
	return psprintf(
		"anatomy: every group of rows has at least %d values of %s, and none of them has more than 1/%d of its rows",
		run->request->anatomy.l, run->source->qis[0].quoted, run->request->anatomy.l);
}

/* ---- the steps ---- */

static void
open_source(Run *run)
{
	const Request *request = run->request;

	run->source = anatomy_open(request->source, request->qis, request->anatomy.sensitive_column);
}

static void
open_beside(Run *run)
{
}

static void
set_up(Run *run)
{
	const Request *request = run->request;
	AnatomyTargets *targets = &((AnatomyRun *) request->own)->targets;

	targets->quasi_columns = anatomy_quasi_columns(run->source);
	targets->sensitive_columns = anatomy_sensitive_columns(run->source);
	run->columns = targets->quasi_columns;
	if (request->anatomy.view != NULL && !request->dry_run)
	{
		targets->view = anatomy_view_resolve(request->anatomy.view, run->source, request->replace);
		targets->quasi_columns->redefined = targets->sensitive_columns->redefined = targets->view->existing;
	}
}

/* The other table; the first is there. */
static void
create_sensitive(Run *run)
{
	const Request *request = run->request;
	AnatomyTargets *targets = &((AnatomyRun *) request->own)->targets;

	targets->quasi = run->target;
	targets->sensitive = target_resolve(request->anatomy.sensitive_target, targets->sensitive_columns,
										request->replace, false);
	if (strcmp(targets->sensitive->qualified, targets->quasi->qualified) == 0)
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
						errmsg("quasi_target and sensitive_target are the same"), errhint(SAME_TABLE)));
	if (targets->view != NULL && (strcmp(targets->view->qualified, targets->quasi->qualified) == 0 ||
								  strcmp(targets->view->qualified, targets->sensitive->qualified) == 0))
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
						errmsg("view is the same as one of the two tables that it reads"),
						errhint("It needs a name of its own, too.")));
	target_create(targets->sensitive, targets->sensitive_columns);
}

static void
read_rows(Run *run)
{
	AnatomyRun *own = run->request->own;

	if (run->target != NULL)
		create_sensitive(run);
	own->rows = anatomy_read(run->source, run->target != NULL, run->border);
	run->record.row_count = own->rows->nrows;
}

/* Rows of the most frequent value. */
static int64
most_rows(const AnatomyRows *rows)
{
	int64 most = 0;

	for (uint32 v = 0; v < rows->nvalues; v++)
		most = Max(most, rows->rows[v]);
	return most;
}

static bool
allows(const AnatomyRows *rows, int64 l)
{
	return most_rows(rows) <= rows->nrows / l;
}

/* Raises when one value is in too many rows: with the number, which the published table would tell, too. */
static void
check_l(Run *run)
{
	const Request *request = run->request;
	const AnatomyRows *rows = ((AnatomyRun *) request->own)->rows;
	int64 most = most_rows(rows);

	/* l is taken later: take_k */
	if (request->k == 0 && !request->given[OPTION_L])
		return;
	if (allows(rows, request->anatomy.l))
		return;
	ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
					errmsg("a value of column \"%s\" is too frequent for an l of %d",
						   run->source->qis[0].name, run->request->anatomy.l),
					errdetail("One value is in " INT64_FORMAT
							  " of %u rows, which allows an l of at most " INT64_FORMAT ".",
							  most, rows->nrows, rows->nrows / most),
					errhint("Lower l, or publish a view without some of the rows that have the value.")));
}

static uint64_t
draw(void *pool)
{
	return random_draw(pool);
}

static KanonStatus
solve(Run *run)
{
	AnatomyRun *own = run->request->own;
	const AnatomyRows *rows = own->rows;
	KanonAnatomyProblem problem = {.env = &run->border->env,
								   .nvalues = rows->nvalues,
								   .rows = rows->rows,
								   .l = run->request->anatomy.l,
								   .draw = draw,
								   .arg = &own->random};

	KanonStatus status = kanon_anatomize(&problem, &own->anatomy);

	run->report.cost = run->report.lower_bound = own->anatomy.error;
	run->report.proven = true;
	return status;
}

/* ---- the same for several ls ---- */

static bool
take_k(Run *run, int64 k)
{
	AnatomyRun *own = run->request->own;

	run->request->k = k;
	run->request->anatomy.l = (int) Min(k, PG_INT32_MAX);
	return own->rows->nrows == 0 || allows(own->rows, k);
}

/* Groups are told as classes; nothing is suppressed, and the cost is the reconstruction error. */
static void
figures(const Run *run, Figures *told)
{
	const KanonAnatomy *anatomy = &((AnatomyRun *) run->request->own)->anatomy;

	*told = figures_none();
	told->classes = anatomy->ngroups;
	told->cost = anatomy->error;
	told->proven = true;
	if (anatomy->ngroups == 0)
		return;
	told->class_min = anatomy->nrows / anatomy->ngroups;
	told->class_avg = (double) anatomy->nrows / anatomy->ngroups;
	told->class_max = (anatomy->nrows + anatomy->ngroups - 1) / anatomy->ngroups;
}

static void
forget(Run *run)
{
	kanon_anatomy_free(&run->border->env, &((AnatomyRun *) run->request->own)->anatomy);
}

static void
write_tables(Run *run)
{
	AnatomyRun *own = run->request->own;

	anatomy_write(&own->targets, own->rows, &own->anatomy, run->request->anatomy.l, run->border);
	shuffle_end(own->rows->shuffled);
	own->rows->shuffled = NULL;
}

/* The view goes before old tables that it reads, and the table beside the target in its place. */
static void
verify_tables(Run *run)
{
	const AnatomyRun *own = run->request->own;

	anatomy_verify(&own->targets, own->rows, own->anatomy.ngroups, run->request->anatomy.l, run->border);
	anatomy_view_make(&own->targets, run->source);
	target_install(own->targets.sensitive, own->targets.sensitive_columns);
}

static Datum
measures_json(const Run *run)
{
	const AnatomyRun *own = run->request->own;
	const AnatomyView *view = own->targets.view;
	const RecordedOption measures[] = {
		{"promise", TEXTOID, CStringGetTextDatum(promise_text(run))},
		{"l", INT4OID, Int32GetDatum(run->request->anatomy.l)},
		{"sensitive", TEXTOID, CStringGetTextDatum(run->source->qis[0].name)},
		{"sensitive_target", TEXTOID, CStringGetTextDatum(own->targets.sensitive->qualified)},
		{"groups", INT8OID, Int64GetDatum(own->anatomy.ngroups)},
		{"values", INT8OID, Int64GetDatum(own->rows->nvalues)},
		{"view", TEXTOID, view != NULL ? CStringGetTextDatum(view->qualified) : (Datum) 0},
	};

	return recorded_options(measures, lengthof(measures) - (view != NULL ? 0 : 1));
}

/* The argument that no option has. */
static Datum
arguments_json(const Request *request)
{
	const RecordedOption arguments[] = {
		{"sensitive_target", TEXTOID, CStringGetTextDatum(request->anatomy.sensitive_target)},
	};

	return recorded_options(arguments, lengthof(arguments));
}

static void
record_tables(Run *run)
{
	const AnatomyRun *own = run->request->own;
	char *words;

	run->record.options =
		DirectFunctionCall2(jsonb_concat, run->record.options, arguments_json(run->request));
	run->record.beside_oid = own->targets.sensitive->relid;
	run->number = run_record_classless(run->schema, &run->record, run->source, &run->report,
									   &(ClasslessRun){1, NAN, 0, "anatomy", measures_json(run)});
	words = run_words(run, promise_text(run));
	comments_write(run->target, run->source, words);
	comments_write(own->targets.sensitive, run->source, words);
}

static const Steps steps = {open_source,  open_beside,   set_up,        read_rows, check_l, solve,
							write_tables, verify_tables, record_tables, take_k,    figures, forget};

const Model anatomy_model = {.name = "anatomy",
							 .options = TAKES(SENSITIVE_COLUMN) | TAKES(L) | TAKES(VIEW) |
										TAKES(ALLOW_IDENTIFYING) | TAKES(MASK) | TAKES(REPLACE) |
										TAKES(DRY_RUN),
							 .take = take_tables,
							 .check = check_request,
							 .steps = &steps};

/* ---- kanon_anatomy: two tables are published, and one row that sums up comes back ---- */

PG_FUNCTION_INFO_V1(kanon_anatomy);

static void
put_summary(Lines *lines, const Run *run)
{
	const AnatomyRun *own = run->request->own;
	const KanonAnatomy *anatomy = &own->anatomy;
	bool any = anatomy->ngroups > 0;

	line_int8(lines, anatomy->nrows, true);
	line_int8(lines, own->rows->nvalues, true);
	line_int8(lines, anatomy->ngroups, true);
	line_int8(lines, any ? anatomy->nrows / anatomy->ngroups : 0, any);
	line_int8(lines, any ? (anatomy->nrows + anatomy->ngroups - 1) / anatomy->ngroups : 0, any);
	line_float8(lines, anatomy->error, true);
	line_end(lines);
}

Datum
kanon_anatomy(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &anatomy_model, put_summary);
}
