/*
 * cross_training_model.c: the model of rows that are published with noise as wide as the rows of
 * the other half are apart: kanon_cross_training.  Its promise is about how noise is drawn, and not
 * about the rows that come out.
 */
#include "compat.h"
#include "noise/models.h"
#include "options/request.h"
#include "run/run.h"
#include "rows/target.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

/* A cell of the histogram is no smaller than half of one with so many rows of the other half, and more. */
#define T_HINT "More than 2 * t rows are as near to a row as its noise is wide; 10 is a beginning."

/* t of cross-training and of isolation. */
static int64
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

/*
 * ---- Kanon_cross_training: rows are published with noise; kanon_isolation: how many
 * rows of a source somebody isolates by those of another table.
 */

PG_FUNCTION_INFO_V1(kanon_cross_training);
PG_FUNCTION_INFO_V1(kanon_isolation);

static void
put(Lines *lines, const char *measure, const char *column, double value, bool known, const char *meaning)
{
	line_text(lines, measure);
	line_name(lines, column);
	line_float8(lines, value, known);
	line_text(lines, meaning);
	line_end(lines);
}

/* Standard deviations of the noise, as shares of a column's range. */
static double
noise_share(const CrossTrainingRun *own, double *least)
{
	double sum = 0;

	*least = ldexp(1, KANON_MOST_NOISE_BITS - KANON_PLACE_BITS);
	for (int64 i = 0; i < own->points->n; i++)
	{
		double share =
			ldexp(1, kanon_noise_bits(own->divisions[i], own->points->source->nkept) - KANON_PLACE_BITS);

		sum += share;
		*least = Min(*least, share);
	}
	return sum / (double) own->points->n;
}

static void
put_cross_training(Lines *lines, const Run *run)
{
	const CrossTrainingRun *own = run->request->own;
	const Points *points = own->points;
	double least, mean = noise_share(own, &least);

	put(lines, "source_rows", NULL, (double) points->n, true,
		"rows of the source, each published with noise");
	put(lines, "outside_rows", NULL, (double) points->outside, true,
		"rows with NULL, NaN or infinity, or outside the domains: they are left out");
	for (int c = 0; c < run->source->nkept; c++)
	{
		double range = points->greatest[c] - points->least[c];

		put(lines, "noise", run->source->kept[c].name, mean * range, points->n > 0,
			"standard deviation of the noise in this column, on average over the rows");
		put(lines, "least_noise", run->source->kept[c].name, least * range, points->n > 0,
			"of the row that has the least");
	}
}

/* kanon_cross_training(source, target, columns, t, domains, …) */
Datum
kanon_cross_training(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &cross_training_model, put_cross_training);
}

/* ---- isolation ---- */

enum
{
	ARG_RELEASED,
	ARG_SOURCE,
	ARG_COLUMNS,
	ARG_C,
	ARG_T
};

#define C_HINT \
	"A guess isolates a row if fewer than t rows are within c times its distance: c is 1 or more, such as 2."

static double
c_arg(FunctionCallInfo fcinfo)
{
	double c;

	refuse_null(fcinfo, ARG_C, "c", C_HINT);
	c = PG_GETARG_FLOAT8(ARG_C);
	if (!(c >= 1 && c <= 1e6))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("c must be at least 1 and at most 1000000"), errhint("%s", C_HINT)));
	return c;
}

/* In each column the source goes from 0 to 1. */
static KanonSpace
scaled(const Points *points, const Points *by)
{
	int ncolumns = points->source->nkept;

	for (int c = 0; c < ncolumns && by->n > 0; c++)
	{
		double range = by->greatest[c] - by->least[c];

		for (int64 i = 0; i < points->n; i++)
		{
			double *number = &points->number[i * ncolumns + c];

			*number = (*number - by->least[c]) / (range > 0 ? range : 1);
			if (!(fabs(*number) < 1e100))
				ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
								errmsg("the numbers of column \"%s\" are too far apart",
									   points->source->kept[c].name),
								errhint("Leave the column out, or name views without the outermost rows.")));
		}
	}
	return (KanonSpace){(uint32) points->n, points->number};
}

/* kanon_isolation(released regclass, source regclass, columns name[], c float8, t bigint) */
Datum
kanon_isolation(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Border *border;
	Points *released, *source;
	KanonSpace spaces[2];
	KanonIsolation found;
	double c;
	int64 t;

	refuse_null(fcinfo, ARG_RELEASED, "released", "Name the table that is published.");
	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table or view that it was made of.");
	c = c_arg(fcinfo);
	t = points_t_arg(fcinfo, ARG_T);
	lines = lines_begin(fcinfo);
	border = border_create("kanon_isolation");
	SPI_connect();
	source = points_open(PG_GETARG_OID(ARG_SOURCE), array_arg(fcinfo, ARG_COLUMNS));
	released = points_open(PG_GETARG_OID(ARG_RELEASED), array_arg(fcinfo, ARG_COLUMNS));
	source_lock(released->source);
	source_snapshot(source->source);
	points_bounds(source, NULL);
	points_bounds(released, NULL);
	points_read(source, source->source->name, source->source->relid, true, "reading", border);
	points_read(released, released->source->name, released->source->relid, true, "reading", border);
	points_fit(source);
	spaces[1] = scaled(released, source);
	spaces[0] = scaled(source, source);
	border_check(
		border,
		kanon_isolation_count(&border->env, &spaces[0], &spaces[1], source->source->nkept, c, t, &found), "");
	line_int8(lines, source->n, true);
	line_int8(lines, found.isolated, true);
	line_int8(lines, released->n, true);
	line_int8(lines, found.isolating, true);
	line_int8(lines, source->outside + released->outside, true);
	line_end(lines);
	PopActiveSnapshot();
	SPI_finish();
	MemoryContextDelete(border->context);
	return (Datum) 0;
}
