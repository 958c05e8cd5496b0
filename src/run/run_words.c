/*
 * run_words.c: what a run has published, in words.
 */
#include "compat.h"
#include "host/catalog.h"
#include "run/run.h"
#include "rows/target.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include <math.h>

/* From that share of its cells on a column is of no use. */
#define NEARLY_ALL 0.9

/* "a, b" of a name[], or nothing. */
static void
append_names(StringInfo text, const char *before, ArrayType *names)
{
	int n = 0;
	char **name = names == NULL ? NULL : name_array(names, "names", &n);

	for (int i = 0; i < n; i++)
		appendStringInfo(text, "%s%s", i == 0 ? before : ", ", quote_identifier(name[i]));
}

static char *
time_text(TimestampTz time)
{
	int nest = plain_text_begin();
	char *text = DatumGetCString(DirectFunctionCall1(timestamptz_out, TimestampTzGetDatum(time)));

	plain_text_end(nest);
	return text;
}

static void
append_masked(StringInfo text, const Source *source)
{
	const char *before = "; masked: ";

	for (int i = 0; i < source->nkept; i++)
		if (source->kept[i].mask != NULL)
		{
			appendStringInfo(text, "%s%s", before, source->kept[i].quoted);
			before = ", ";
		}
}

/* Sets of columns that may be known together, as they were named. */
static void
append_sets(StringInfo words, ArrayType *combinations)
{
	Datum *sets;
	int n = 0;

	if (combinations != NULL)
		deconstruct_array(combinations, TEXTOID, -1, false, TYPALIGN_INT, &sets, NULL, &n);
	for (int i = 0; i < n; i++)
		appendStringInfo(words, "%s%s", i == 0 ? ", known together: " : " or ", TextDatumGetCString(sets[i]));
}

char *
run_words(const Run *run, const char *promise)
{
	const Request *request = run->request;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, COMMENT_PREFIX);
	if (promise != NULL)
		appendStringInfoString(&text, promise);
	else
	{
		appendStringInfo(&text, "k = " INT64_FORMAT, request->k);
		append_names(&text, " in ", request->qis);
	}
	if (request->guided.known_columns > 0)
		appendStringInfo(&text, ", of which any %d may be known", request->guided.known_columns);
	append_sets(&text, request->guided.combinations);
	appendStringInfo(&text, "; %s, method %s", request->function, run->record.method);
	for (int i = 0; request->privacy != NULL && i < request->privacy->n; i++)
		appendStringInfo(&text, "; %s", privacy_sentence(&request->privacy->words[i]));
	append_names(&text, "; may identify: ", request->columns.allow_identifying);
	append_masked(&text, run->source);
	appendStringInfo(&text, "; run " INT64_FORMAT ", %s", run->number, time_text(run->record.started_at));
	return text.data;
}

void
run_notice_empty(const Run *run, const KanonColumnMeasures *columns)
{
	int64 rows = run->types->nrows - run->release.dropped;
	StringInfoData names;

	initStringInfo(&names);
	for (int c = 0; c < run->source->nqis && rows > 0; c++)
		if (columns[c].suppressed >= NEARLY_ALL * rows)
			appendStringInfo(&names, "%s%s", names.len == 0 ? "" : ", ", run->source->qis[c].quoted);
	if (names.len > 0)
		ereport(NOTICE,
				(errmsg("columns of the target that are nearly empty: %s", names.data),
				 errdetail("At least %.0f %% of the cells of each show nothing.", 100 * NEARLY_ALL),
				 errhint("Give them hierarchies, or leave them out, so that other columns show more.")));
}

void
run_notice_rest(const Run *run)
{
	if (run->report.stopped &&
		(run->request->guided.known_columns > 0 || run->request->guided.combinations != NULL))
		ereport(NOTICE, (errmsg("time was up: some cells stay empty that could be shown"),
						 errhint("Raise time_limit.")));
	else if (run->report.stopped)
		ereport(
			NOTICE,
			(errmsg("time was up before all patterns were tried"),
			 errdetail("Rows that were in no class then were put into classes at once, which loses more."),
			 errhint("Raise time_limit.")));
	/* there may be any number of them */
	if (run->request->privacy != NULL && run->release.dropped > 0)
		ereport(NOTICE, (errmsg(INT64_FORMAT " rows are left out", run->release.dropped),
						 errdetail("They fit no class that keeps k and the privacy rules.")));
}

void
run_notice_unproven(const Run *run, bool takes_gap, const char *takes)
{
	const KanonReport *report = &run->report;

	/* what stays near the release before has no bound, however long it is given */
	if (run->types->nrows == 0 || report->proven || run->near)
		return;
	if (isinf(report->lower_bound))
		ereport(NOTICE, (errmsg("the release is not proven to be optimal"),
						 errdetail("Its cost is %.10g; no bound was found in time.", report->cost),
						 errhint("%s", takes)));
	else if (isinf(report_gap(report)))
		ereport(NOTICE, (errmsg("the release is not proven to be optimal"),
						 errdetail("Its cost is %.10g, no release costs less than %.10g.", report->cost,
								   report->lower_bound),
						 errhint("%s", takes)));
	else
		ereport(NOTICE, (errmsg("the release is not proven to be optimal"),
						 errdetail("Its cost is %.10g, no release costs less than %.10g (gap %.2f %%).",
								   report->cost, report->lower_bound, 100 * report_gap(report)),
						 takes_gap ? errhint("Raise time_limit, or accept the gap by gap => %.3f.",
											 ceil(1000 * report_gap(report)) / 1000)
								   : errhint("%s", takes)));
}
