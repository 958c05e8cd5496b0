/*
 * cross_training_model.c: the model of rows that are published with noise as wide as the rows of
 * the other half are apart: kanon_cross_training.  Its promise is about how noise is drawn, and not
 * about the rows that come out.
 */
#include "compat.h"
#include "noise/models.h"
#include "run/request.h"
#include "run/run.h"
#include "rows/target.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"

/* A cell of the histogram is no smaller than half of one with so many rows of the other half, and more. */
#define T_HINT "More than 2 * t rows are as near to a row as its noise is wide; 10 is a beginning."

int64
points_t_arg(FunctionCallInfo fcinfo, int arg)
{
	int64 t;

	refuse_null(fcinfo, arg, "t", T_HINT);
	t = PG_GETARG_INT64(arg);
	if (t < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("t must be at least 1"),
						errhint("%s", T_HINT)));
	return t;
}

/* source, target, columns, t, domains */
static int
take(Request *request, FunctionCallInfo fcinfo)
{
	CrossTrainingRun *own = palloc0(sizeof(CrossTrainingRun));

	request->own = own;
	request->qis = array_arg(fcinfo, 2);
	own->t = points_t_arg(fcinfo, 3);
	own->json = jsonb_arg(fcinfo, 4);
	return 5;
}

static void
check_request(Request *request)
{
	request->recorded_method = request->model->name;
}

static char *
promise_text(const CrossTrainingRun *own)
{
	return psprintf(
		"cross-training, about how noise is drawn: each half of the rows has Gaussian noise at least as wide as the "
		"cells of a histogram of the other half. A cell was divided while it had more than " INT64_FORMAT
		" rows",
		2 * own->t);
}

/* ---- the steps ---- */

static void
open_source(Run *run)
{
	CrossTrainingRun *own = run->request->own;

	own->points = points_open(run->request->source, run->request->qis);
	run->source = own->points->source;
}

static void
open_beside(Run *run)
{
	CrossTrainingRun *own = run->request->own;

	points_bounds(own->points, own->json);
}

static void
set_up(Run *run)
{
	run->columns = run->source;
}

static void
read_rows(Run *run)
{
	CrossTrainingRun *own = run->request->own;

	points_read(own->points, run->source->name, run->source->relid, true, "reading", run->border);
	run->record.row_count = own->points->n;
}

static void
ready(Run *run)
{
	CrossTrainingRun *own = run->request->own;

	if (own->json == NULL)
		points_fit(own->points);
}

static uint64_t
draw(void *pool)
{
	return random_draw(pool);
}

static KanonStatus
solve(Run *run)
{
	CrossTrainingRun *own = run->request->own;
	Points *points = own->points;
	KanonChance chance = {draw, &own->random};
	KanonPoints places = {(uint32) points->n, run->source->nkept, points_places(points, run->border)};

	border_pfree(run->border, points->number);
	points->number = NULL;
	own->moved = border_palloc(run->border, sizeof(int64) * points->n * places.ncolumns);
	own->divisions = border_palloc(run->border, points->n);
	run->report.lower_bound = INFINITY;
	return kanon_cross_train(&run->border->env, &chance, &places, own->t, own->moved, own->divisions);
}

static void
write_rows(Run *run)
{
	CrossTrainingRun *own = run->request->own;

	points_write(run->target, own->points, own->moved, run->border);
}

static void
verify_rows(Run *run)
{
	const CrossTrainingRun *own = run->request->own;

	points_verify(run->target, own->points, own->moved, run->border);
}

/* Nothing here is counted of the rows but what the table itself shows. */
static void
record_rows(Run *run)
{
	const CrossTrainingRun *own = run->request->own;
	char *promise = promise_text(own);
	RecordedOption measures[4] = {{"promise", TEXTOID, CStringGetTextDatum(promise)},
								  {"rows", INT8OID, Int64GetDatum(own->points->n)},
								  {"t", INT8OID, Int64GetDatum(own->t)}};
	int n = 3;

	if (own->json != NULL)
		measures[n++] = (RecordedOption){"domains", JSONBOID, JsonbPGetDatum(own->json)};
	run->number =
		run_record_classless(run->schema, &run->record, run->source, &run->report,
							 &(ClasslessRun){1, NAN, 0, "mechanism", recorded_options(measures, n)});
	comments_write(run->target, run->source, run_words(run, promise));
}

static const Steps steps = {open_source, open_beside, set_up,      read_rows,  ready,
							solve,       write_rows,  verify_rows, record_rows};

const Model cross_training_model = {.name = "cross_training",
									.options = TAKES(ALLOW_IDENTIFYING) | TAKES(REPLACE) | TAKES(DRY_RUN),
									.take = take,
									.check = check_request,
									.steps = &steps};
