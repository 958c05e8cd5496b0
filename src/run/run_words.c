/*
 * run_words.c: the NOTICEs about what a run has published.
 */
#include "compat.h"
#include "host/catalog.h"
#include "run/run.h"
#include "host/excerpt.h"
#include "series/successive.h"
#include "series/values.h"
#include "rows/target.h"
#include "options/privacy.h"
#include "rows/verify.h"
#include "core/model/model.h"
#include "hierarchies/hierarchy.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/bitmapset.h"
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
	if (request->guided.missing != NULL && strcmp(request->guided.missing, "any") == 0)
		appendStringInfoString(&text, ", blank cells agreeing with every value");
	if (request->guided.missing != NULL && strcmp(request->guided.missing, "value") == 0)
		appendStringInfoString(&text, ", NULL a value like others");
	appendStringInfo(&text, "; %s, method %s", request->function, run->record.method);
	for (int i = 0; request->privacy != NULL && i < request->privacy->n; i++)
		appendStringInfo(&text, "; %s", privacy_sentence(&request->privacy->words[i]));
	append_names(&text, "; may identify: ", request->columns.allow_identifying);
	append_masked(&text, run->source);
	appendStringInfo(&text, "; run " INT64_FORMAT ", %s", run->number, time_text(run->record.started_at));
	return text.data;
}

/* A hint for n nearly empty columns, of which so many have a hierarchy. */
static const char *
empty_hint(const Run *run, int n, int with)
{
	if (with == n)
		return "Give their hierarchies a coarser last level, lower k, or leave them out, so that other columns "
			   "show more.";
	if (with > 0)
		return "Give a hierarchy to those that have none, a coarser last level to the others, or leave them out, "
			   "so that other columns show more.";
	return "Give them hierarchies, or leave them out, so that other columns show more.";
}

/* A NOTICE that names the columns of which the target shows next to nothing. */
static void
run_notice_empty(const Run *run, const KanonColumnMeasures *columns)
{
	int64 rows = run->types->nrows - run->release.dropped;
	StringInfoData names;
	int n = 0, with = 0;

	initStringInfo(&names);
	for (int c = 0; c < run->source->nqis && rows > 0; c++)
		if (columns[c].suppressed >= NEARLY_ALL * rows)
		{
			appendStringInfo(&names, "%s%s", n++ == 0 ? "" : ", ", run->source->qis[c].quoted);
			with += run->source->qis[c].hierarchy != NULL;
		}
	if (n > 0)
		ereport(NOTICE, (errmsg("columns of the target that are nearly empty: %s", names.data),
						 errdetail("At least %.0f %% of the cells of each show nothing.", 100 * NEARLY_ALL),
						 errhint("%s", empty_hint(run, n, with))));
}

/* Rows with each value of a column that rules look at: of the source, and of those that are published. */
static void
count_values(const Run *run, const KanonColumn *column, int64 *before, int64 *after)
{
	for (uint32 i = 0; i < run->types->ntypes; i++)
		before[column->code[i]] += run->types->rows[i];
	for (size_t f = 0; f < run->release.nflows; f++)
		if (run->release.flows[f].class_ != KANON_DROPPED)
			after[column->code[run->release.flows[f].type]] += run->release.flows[f].rows;
}

/* How far the shares of a column's values are apart, and those of the value that moved most; no value is told. */
static void
append_moved(StringInfo text, const Run *run, int c)
{
	const KanonColumn *column = &run->types->grouped[c];
	int64 *before = border_palloc(run->border, sizeof(int64) * column->distinct);
	int64 *after = border_palloc(run->border, sizeof(int64) * column->distinct);
	double rows = (double) run->types->nrows, left = rows - (double) run->release.dropped;
	double distance = 0, most = 0;
	uint32 of = 0;

	memset(before, 0, sizeof(int64) * column->distinct);
	memset(after, 0, sizeof(int64) * column->distinct);
	count_values(run, column, before, after);
	for (uint32 v = 0; v < column->distinct; v++)
	{
		double by = fabs((double) before[v] / rows - (double) after[v] / left);

		distance += by / 2;
		of = by > most ? v : of;
		most = Max(by, most);
	}
	appendStringInfo(text,
					 " In column %s %.1f %% of the rows would need another value to have the source's "
					 "shares; one value's share went from %.1f to %.1f %%.",
					 run->source->qis[c].quoted, 100 * distance, 100 * (double) before[of] / rows,
					 100 * (double) after[of] / left);
	border_pfree(run->border, before);
	border_pfree(run->border, after);
}

/* How each kept column of a rule has moved. */
static char *
moved(const Run *run)
{
	const Privacy *privacy = run->request->privacy;
	StringInfoData text;
	Bitmapset *told = NULL;

	initStringInfo(&text);
	/* models with steps of their own have no row types; those on disk are no longer there */
	for (int r = 0; run->types != NULL && run->parted == NULL && run->release.flows != NULL && r < privacy->n;
		 r++)
		for (int i = 0; privacy->words[r].kind != PRIVACY_SUBJECT && i < privacy->words[r].ncolumns; i++)
			told = bms_add_member(told, run->source->nqis + privacy->column[r][i]);
	for (int c = -1; (c = bms_next_member(told, c)) >= 0 && run->release.dropped < run->types->nrows;)
		append_moved(&text, run, c);
	return text.data;
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
	if (run->none)
		ereport(NOTICE, (errmsg("all rows are left out, and the target is empty"),
						 errdetail(privacy_find(run->request->privacy, PRIVACY_SUBJECT) >= 0
									   ? "The source has fewer than k persons: no class could have k."
									   : "The source has fewer than k rows: no class could have k."),
						 errhint("Lower k, or publish when there are more.")));
	else if (run->request->series.values != NULL && run->release.dropped > 0)
		ereport(NOTICE,
				(errmsg(INT64_FORMAT " person%s to be shown", run->release.dropped,
						run->release.dropped == 1 ? " waits" : "s wait"),
				 errdetail("Too few others have the values among which they have to stay.%s", moved(run)),
				 errhint("They are shown as others join. A value that is more frequent than one row in l "
						 "keeps some waiting: coarsen it in a view, or lower l.")));
	/* there may be any number of them */
	else if (run->request->privacy != NULL && run->release.dropped > 0)
		ereport(NOTICE, (errmsg(INT64_FORMAT " row%s left out", run->release.dropped,
								run->release.dropped == 1 ? " is" : "s are"),
						 errdetail("They fit no class that keeps k and the privacy rules.%s", moved(run))));
}

const char *const run_proof_by_glpk =
#ifdef HAVE_GLPK
	PROOF_BY_SEARCH;
#else
	"A proof takes GLPK, which this build of kanon is without.";
#endif

void
run_notice_unproven(const Run *run, bool takes_gap, const char *takes)
{
	const KanonReport *report = &run->report;

	/* what stays near the release before has no bound, however long it is given */
	if (run_is_empty(run) || report->proven || run->near)
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

/* ---- The figures of a release, written or not ---- */

Figures
figures_none(void)
{
	return (Figures){.suppressed_cells = -1,
					 .suppressed = NAN,
					 .usefulness = NAN,
					 .gcp = NAN,
					 .classes = -1,
					 .class_min = -1,
					 .class_avg = NAN,
					 .class_max = -1,
					 .residual = -1,
					 .cost = NAN};
}

static int64
residual_rows(const KanonProblem *problem, const KanonRelease *release)
{
	const KanonClass *last;

	if (release->nclasses == 0)
		return release->dropped;
	last = &release->classes[release->nclasses - 1];
	return release->dropped +
		   (kanon_class_blank(problem, release, release->nclasses - 1) && last->rows < problem->k ? last->rows
																								  : 0);
}

/* Records without classes have no sizes; neither has what was left out altogether. */
Figures
figures_of(const KanonProblem *problem, const KanonRelease *release, const KanonReport *report,
		   const KanonMeasures *measures)
{
	Figures told = figures_none();
	bool classless = problem->freeform != NULL;

	told.suppressed_cells = measures->suppressed_cells;
	told.cost = report->cost;
	told.classes = classless ? -1 : (int64) release->nclasses;
	told.residual = classless ? -1 : residual_rows(problem, release);
	if (release->nclasses == 0)
		return told;
	told.suppressed = measures->suppressed_cells / ((double) measures->rows * kanon_count_qis(problem));
	told.gcp = measures->gcp;
	told.proven = report->proven;
	if (classless)
		return told;
	told.usefulness = measures->usefulness;
	told.class_min = measures->class_min;
	told.class_avg = measures->class_avg;
	told.class_max = measures->class_max;
	return told;
}

/* A share of the source's cells; 0 when it has none. */
double
run_suppressed_share(const Run *run)
{
	double cells = (double) run->types->nrows * run->source->nqis;

	return cells == 0
			   ? 0
			   : (run->measures.suppressed_cells + (double) run->release.dropped * run->source->nqis) / cells;
}

const KanonColumnMeasures *
run_measure_columns(const Run *run)
{
	run_notice_empty(run, run->measures.columns);
	return run->measures.columns;
}

/* ---- what was asked, and what was told ---- */

/* With the names of relations qualified. */
static Datum
what_was_asked(const Request *request)
{
	int n;
	RecordedOption *asked = request_recorded(request, &n);

	return JsonbPGetDatum(relations_resolved(DatumGetJsonbP(recorded_options(asked, n)), NULL));
}

/* char * of a list as a text[]. */
static Datum
text_list(const List *list)
{
	Datum *texts = palloc(sizeof(Datum) * list_length(list));
	ListCell *lc;

	foreach (lc, list)
		texts[foreach_current_index(lc)] = CStringGetTextDatum(lfirst(lc));
	return PointerGetDatum(construct_array(texts, list_length(list), TEXTOID, -1, false, TYPALIGN_INT));
}

Datum
held_back_json(const HeldBack *held)
{
	RecordedOption told[7] = {{"persons", INT8OID, Int64GetDatum(held->persons)},
							  {"oldest", INT8OID, Int64GetDatum(held->oldest)},
							  {"waiting", INT8OID, Int64GetDatum(held->waiting)},
							  {"gone", INT8OID, Int64GetDatum(held->gone)}};
	int n = 4;

	if (held->gone_rows >= 0)
		told[n++] = (RecordedOption){"gone_rows", INT8OID, Int64GetDatum(held->gone_rows)};
	if (held->source_rows >= 0)
		told[n++] = (RecordedOption){"source_rows", INT8OID, Int64GetDatum(held->source_rows)};
	if (held->among > 0)
		told[n++] = (RecordedOption){"among", INT4OID, Int32GetDatum(held->among)};
	return recorded_options(told, n);
}

/* Does a range end in, or a set hold, a value that few have?  NULL is nobody's value. */
static bool
shows_few(const KanonRelease *release, KanonCell cell, const KanonColumn *column, const Holders *holders)
{
	bool set = cell.show == KANON_SHOW_SET;
	const uint32 *codes = &release->pool[cell.code + set];
	uint32 n = set ? release->pool[cell.code] : 2;

	for (uint32 i = 0; i < n; i++)
		if (!(column->has_null && codes[i] == column->distinct - 1) && holders_are_few(holders, codes[i]))
			return true;
	return false;
}

/* Counts the ranges and sets of each column that show a value which fewer than k rows or persons have. */
static Datum
few_shown(const Run *run)
{
	const KanonRelease *release = &run->release;
	int ncolumns = run->problem.ncolumns;
	RecordedOption *told = palloc(sizeof(RecordedOption) * Max(run->source->nqis, 1));
	int n = 0;

	for (int q = 0; run->parted == NULL && q < run->source->nqis; q++)
	{
		int first = run->source->levels.first[q];
		const Holders *holders = NULL;
		int64 cells = 0;

		for (uint32 i = 0; i < release->nclasses; i++)
		{
			KanonCell cell = release->cells[(Size) i * ncolumns + first];

			if (!kanon_shows_several(cell))
				continue;
			if (holders == NULL)
				holders = holders_find(run->types, q, run->source->k, run->border);
			if (shows_few(release, cell, &run->types->grouped[q], holders))
				cells += release->classes[i].rows;
		}
		if (cells > 0)
			told[n++] = (RecordedOption){run->source->qis[q].name, INT8OID, Int64GetDatum(cells)};
	}
	return n > 0 ? recorded_options(told, n) : (Datum) 0;
}

/* Columns that are called like names, and those whose values may be names. */
static ArrayType *
names_told(ArrayType *called, const KeptTold *kept)
{
	int n = 0;
	char **names = called == NULL ? NULL : name_array(called, "names", &n);
	int more = kept == NULL ? 0 : list_length(kept->names);
	const char **all = palloc(sizeof(char *) * (n + more + 1));

	for (int i = 0; i < n; i++)
		all[i] = names[i];
	for (int i = 0; i < more; i++)
		all[n + i] = list_nth(kept->names, i);
	return n + more > 0 ? name_list(all, n + more) : NULL;
}

Datum
recorded_arguments(const Run *run)
{
	RecordedOption told[11];
	Datum few = few_shown(run);
	const KeptTold *kept = run->source->told;
	ArrayType *may_name = names_told(run->may_name, kept);
	Datum arguments = what_was_asked(run->request);
	int n = 0;

	if (few != (Datum) 0)
		told[n++] = (RecordedOption){"shows_few", JSONBOID, few};
	if (may_name != NULL)
		told[n++] = (RecordedOption){"may_name_persons", NAMEARRAYOID, PointerGetDatum(may_name)};
	if (kept != NULL && kept->together != NIL)
		told[n++] = (RecordedOption){"identify_together", TEXTARRAYOID, text_list(kept->together)};
	if (kept != NULL && kept->tells != NIL)
		told[n++] = (RecordedOption){"tell", TEXTARRAYOID, text_list(kept->tells)};
	if (kept != NULL && kept->alone != NIL)
		told[n++] = (RecordedOption){"compared_alone", TEXTARRAYOID, text_list(kept->alone)};
	if (kept != NULL && kept->ended)
		told[n++] = (RecordedOption){"compared_in_part", BOOLOID, BoolGetDatum(true)};
	if (run->metric_bound != NULL)
		told[n++] = (RecordedOption){"metric_bound", FLOAT8OID, Float8GetDatum(*run->metric_bound)};
	if (run->near)
		told[n++] = (RecordedOption){"stayed_near", BOOLOID, BoolGetDatum(true)};
	if (run->anew != NULL)
		told[n++] = (RecordedOption){"began_anew", TEXTOID, CStringGetTextDatum(run->anew)};
	if (run->request->series.histories != NULL)
		told[n++] =
			(RecordedOption){"held_back", JSONBOID, held_back_json(&run->request->series.histories->told)};
	if (run->request->series.values != NULL)
		told[n++] =
			(RecordedOption){"held_back", JSONBOID, held_back_json(&run->request->series.values->told)};
	if (run->request->linked.recorded != NULL)
		told[n++] = (RecordedOption){"linked", JSONBOID, JsonbPGetDatum(run->request->linked.recorded)};
	if (n == 0)
		return arguments;
	return DirectFunctionCall2(jsonb_concat, arguments, recorded_options(told, n));
}

/* ---- what a row is to be classified as ---- */

void
run_find_class_column(Run *run, const char *name)
{
	Source *source = run->source;
	SourceColumn *grouped = palloc(sizeof(SourceColumn) * (source->nqis + 1));
	Nearest nearest = nearest_to(name);
	int n;

	for (int i = 0; i < source->nkept && run->class_column == NULL; i++)
	{
		if (strcmp(name, source->kept[i].name) == 0)
			run->class_column = &source->kept[i];
		nearest_try(&nearest, source->kept[i].name);
	}
	if (run->class_column == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("class_column names \"%s\", which is not kept", name),
				 errhint("%s", nearest_hint(&nearest, "The classification metric asks how well the published "
													  "rows predict a column that is published with them: "
													  "name it in keep, too."))));
	if (run->class_column->mask != NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("class_column names \"%s\", which is masked", name),
						errhint("Leave its mask out, or measure another column.")));
	(void) source_columns(source, name_list(&name, 1), "class_column", "a class column", &n);
	memcpy(grouped, source->qis, sizeof(SourceColumn) * source->nqis);
	grouped[source->nqis] = *run->class_column;
	source_check_groupable(grouped, source->nqis + 1);
}
