/*
 * explain.c: kanon_explain: where a release's cost comes from and what would
 * change it, without writing anything.
 *
 * What leaving out a column or doubling its weight would save is not estimated:
 * the changed problem is solved.
 */
#include "compat.h"
#include "host/catalog.h"
#include "run/args.h"
#include "run/models.h"
#include "run/run.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_explain);

#define ARG_K 2

#define EXPLAIN_COLUMNS 8

/* So many of the source's classes that are too small are listed. */
#define MOST_NEAR 10

/* What a release takes from each quasi-identifier. */
typedef struct Losses
{
	int64 cells[KANON_MAX_COLUMNS]; /* suppressed */
	double cost[KANON_MAX_COLUMNS]; /* of these and of generalized ones */
	int64 total;                    /* of the cells */
} Losses;

typedef struct Explain
{
	Run *run;
	const KanonProblem *problem;
	const Source *source;
	ReturnSetInfo *rsinfo;
	bool with_values;
	const Levels *levels;
	Losses losses;
} Explain;

/* A line of the result; what is not set is NULL. */
typedef struct Line
{
	Datum values[EXPLAIN_COLUMNS];
	bool nulls[EXPLAIN_COLUMNS];
} Line;

enum
{
	ASPECT,
	SUBJECT,
	ROW_COUNT,
	SUPPRESSED_CELLS,
	COST,
	SAVED_CELLS,
	DETAIL,
	SHOWN
};

static Line
line_about(const char *aspect, const char *subject)
{
	Line line;

	memset(line.nulls, true, sizeof(line.nulls));
	line.values[ASPECT] = CStringGetTextDatum(aspect);
	line.values[SUBJECT] = CStringGetTextDatum(subject);
	line.nulls[ASPECT] = line.nulls[SUBJECT] = false;
	return line;
}

static void
set_value(Line *line, int column, Datum value)
{
	line->values[column] = value;
	line->nulls[column] = false;
}

static void
put(const Explain *explain, const Line *line)
{
	tuplestore_putvalues(explain->rsinfo->setResult, explain->rsinfo->setDesc, (Datum *) line->values,
						 (bool *) line->nulls);
}

/* At the weights of the problem that are given. */
static void
count_losses(const KanonRelease *release, const Levels *levels, const KanonColumn *columns, Losses *losses)
{
	int64 lost[KANON_MAX_COLUMNS] = {0}; /* by column of the problem */

	memset(losses, 0, sizeof(*losses));
	for (uint32 i = 0; i < release->nclasses; i++)
		for (KanonPattern left = release->classes[i].pattern; left != 0; left &= left - 1)
			lost[pg_rightmost_one_pos64(left)] += release->classes[i].rows;
	for (int c = 0; c < levels->nqis; c++)
	{
		for (int d = levels->first[c]; d < levels->first[c + 1]; d++)
			losses->cost[c] += lost[d] * columns[d].weight;
		losses->cells[c] = lost[levels->first[c + 1] - 1];
		losses->total += losses->cells[c];
	}
}

/* ---- the release as it would be ---- */

static void
put_release(const Explain *explain)
{
	const Run *run = explain->run;
	Line line = line_about(
		"release", psprintf("k = " INT64_FORMAT ", %s", explain->problem->k, explain->run->request->method));
	char *detail = psprintf("classes: %u, of " INT64_FORMAT " to " INT64_FORMAT " rows",
							run->measures.classes, run->measures.class_min, run->measures.class_max);

	if (run->release.dropped > 0)
		detail = psprintf("%s; rows dropped: " INT64_FORMAT, detail, run->release.dropped);
	set_value(&line, ROW_COUNT, Int64GetDatum(run->measures.rows));
	set_value(&line, SUPPRESSED_CELLS, Int64GetDatum(explain->losses.total));
	set_value(&line, COST, Float8GetDatum(run->report.cost));
	set_value(&line, DETAIL, CStringGetTextDatum(detail));
	put(explain, &line);
}

/* Columns in descending order of what they cost, then as they were named. */
static void
put_columns(const Explain *explain)
{
	const KanonProblem *problem = explain->problem;
	bool done[KANON_MAX_COLUMNS] = {false};

	for (int turn = 0; turn < explain->levels->nqis; turn++)
	{
		int most = -1;
		Line line;
		double cost;

		for (int c = 0; c < explain->levels->nqis; c++)
			if (!done[c] && (most < 0 || explain->losses.cost[c] > explain->losses.cost[most]))
				most = c;
		done[most] = true;
		cost = explain->losses.cost[most];
		line = line_about("column", explain->source->qis[most].name);
		set_value(&line, ROW_COUNT, Int64GetDatum(explain->run->measures.rows - explain->losses.cells[most]));
		set_value(&line, SUPPRESSED_CELLS, Int64GetDatum(explain->losses.cells[most]));
		set_value(&line, COST, Float8GetDatum(cost));
		set_value(&line, DETAIL,
				  CStringGetTextDatum(
					  psprintf("%.1f %% of the cost; different values: %u",
							   explain->run->report.cost > 0 ? 100 * cost / explain->run->report.cost : 0.0,
							   problem->columns[explain->levels->first[most]].distinct)));
		put(explain, &line);
	}
}

static void
put_patterns(const Explain *explain)
{
	const KanonRelease *release = &explain->run->release;

	for (uint32 i = 0; i < release->nclasses;)
	{
		KanonPattern pattern = release->classes[i].pattern;
		int64 classes = 0, rows = 0;
		Line line = line_about("pattern", pattern_text(pattern, explain->levels));

		for (; i < release->nclasses && release->classes[i].pattern == pattern; i++)
		{
			classes++;
			rows += release->classes[i].rows;
		}
		set_value(&line, ROW_COUNT, Int64GetDatum(rows));
		set_value(&line, SUPPRESSED_CELLS,
				  Int64GetDatum(rows * pattern_suppressed(pattern, explain->levels)));
		set_value(&line, COST, Float8GetDatum(rows * kanon_pattern_cost(explain->problem, pattern)));
		set_value(&line, DETAIL, CStringGetTextDatum(psprintf("classes: " INT64_FORMAT, classes)));
		put(explain, &line);
	}
}

/* ---- what if ---- */

/* Solves a changed problem; false when it has no release. */
static bool
solve_changed(const Explain *explain, const KanonProblem *problem, const Levels *levels,
			  const KanonColumn *prices, Losses *losses)
{
	KanonRelease release = {0};
	KanonReport report = {0};
	Border *border = explain->run->border;
	KanonStatus status = explain->run->request->solve(problem, &release, &report);
	bool found = status == KANON_OK;

	if (status != KANON_RESIDUAL && status != KANON_REST_FORBIDDEN && status != KANON_INFEASIBLE &&
		status != KANON_NOT_FOUND)
		border_check(border, status, report.detail);
	if (found)
		count_losses(&release, levels, prices, losses);
	kanon_release_free(problem, &release);
	return found;
}

static void
put_changed(const Explain *explain, const char *aspect, int column, const Losses *losses, const char *detail)
{
	Line line = line_about(aspect, explain->source->qis[column].name);

	if (losses != NULL)
	{
		double cost = 0;

		for (int c = 0; c < KANON_MAX_COLUMNS; c++)
			cost += losses->cost[c];
		set_value(&line, SUPPRESSED_CELLS, Int64GetDatum(losses->total));
		set_value(&line, COST, Float8GetDatum(cost));
		set_value(&line, SAVED_CELLS, Int64GetDatum(explain->losses.total - losses->total));
	}
	set_value(&line, DETAIL, CStringGetTextDatum(detail));
	put(explain, &line);
}

/* The columns from `first` up to `end` (a quasi-identifier with its levels). */
typedef struct Span
{
	int first;
	int end;
} Span;

/* The set without these columns, those after them moved down. */
static KanonPattern
without_bits(KanonPattern set, Span span)
{
	KanonPattern below = (UINT64CONST(1) << span.first) - 1;

	return (set & below) | (span.end < KANON_MAX_COLUMNS ? (set >> span.end) << span.first : 0);
}

/*
 * The mask of the same call without a quasi-identifier: it disappears from listed
 * patterns and from rules; a rule that had nothing else to say goes.
 */
static void
mask_without(const KanonMask *mask, Span span, KanonMask *result)
{
	*result = *mask;
	result->never = without_bits(mask->never, span);
	result->always = without_bits(mask->always, span);
	if (mask->list != NULL)
	{
		KanonPattern *list = palloc(sizeof(KanonPattern) * mask->nlist);

		for (size_t i = 0; i < mask->nlist; i++)
			list[i] = without_bits(mask->list[i], span);
		result->list = list;
	}
	if (mask->nrules > 0)
	{
		KanonRule *rules = palloc(sizeof(KanonRule) * mask->nrules);
		int n = 0;

		for (int i = 0; i < mask->nrules; i++)
		{
			rules[n] = mask->rules[i];
			rules[n].columns = without_bits(mask->rules[i].columns, span);
			rules[n].implied = without_bits(mask->rules[i].implied, span);
			if (rules[n].kind == KANON_IMPLIES ? rules[n].columns != 0 && rules[n].implied != 0
											   : pg_popcount64(rules[n].columns) > 1)
				n++;
		}
		result->rules = rules;
		result->nrules = n;
	}
}

static inline bool
in_span(Span span, int column)
{
	return column >= span.first && column < span.end;
}

/*
 * The order of row types by all columns but some (a stable counting sort per
 * column, the last one first).
 */
static uint32 *
order_without(const KanonProblem *problem, Span span, Border *border)
{
	uint32 *order = border_palloc(border, sizeof(uint32) * (Size) problem->ntypes);
	uint32 *next = border_palloc(border, sizeof(uint32) * (Size) problem->ntypes);

	for (uint32 i = 0; i < problem->ntypes; i++)
		order[i] = i;
	for (int d = problem->ncolumns - 1; d >= 0; d--)
	{
		const KanonColumn *column = &problem->columns[d];
		Size size = sizeof(uint32) * ((Size) column->distinct + 1);
		uint32 *start;
		uint32 *swap;

		if (in_span(span, d))
			continue;
		CHECK_FOR_INTERRUPTS();
		start = border_palloc(border, size);
		memset(start, 0, size);
		for (uint32 i = 0; i < problem->ntypes; i++)
			start[column->code[i] + 1]++;
		for (uint32 code = 0; code < column->distinct; code++)
			start[code + 1] += start[code];
		for (uint32 i = 0; i < problem->ntypes; i++)
			next[start[column->code[order[i]]]++] = order[i];
		border_pfree(border, start);
		swap = order;
		order = next;
		next = swap;
	}
	border_pfree(border, next);
	return order;
}

/* The problem without them: row types that differ in nothing else become one. */
static void
problem_without(const KanonProblem *problem, Span span, Border *border, KanonProblem *result)
{
	uint32 *order = order_without(problem, span, border);
	int gone = span.end - span.first;
	KanonColumn *columns = palloc(sizeof(KanonColumn) * (problem->ncolumns - gone));
	int64 *rows = border_palloc(border, sizeof(int64) * (Size) problem->ntypes);
	uint32 ntypes = 0;

	*result = *problem;
	result->ncolumns = problem->ncolumns - gone;
	for (int d = 0; d < result->ncolumns; d++)
	{
		columns[d] = problem->columns[d < span.first ? d : d + gone];
		columns[d].code = border_palloc(border, sizeof(uint32) * (Size) problem->ntypes);
	}
	for (uint32 i = 0; i < problem->ntypes; i++)
	{
		bool same = i > 0;

		for (int d = 0; d < problem->ncolumns && same; d++)
			same = in_span(span, d) ||
				   problem->columns[d].code[order[i]] == problem->columns[d].code[order[i - 1]];
		if (same)
		{
			rows[ntypes - 1] += problem->rows[order[i]];
			continue;
		}
		for (int d = 0; d < result->ncolumns; d++)
			((uint32 *) columns[d].code)[ntypes] =
				problem->columns[d < span.first ? d : d + gone].code[order[i]];
		rows[ntypes++] = problem->rows[order[i]];
	}
	border_pfree(border, order);
	result->columns = columns;
	result->rows = rows;
	result->ntypes = ntypes;
	mask_without(&problem->mask, span, &result->mask);
}

static void
put_without(const Explain *explain, int c)
{
	const KanonProblem *problem = explain->problem;
	const Levels *levels = explain->levels;
	Border *border = explain->run->border;
	Span span = {levels->first[c], levels->first[c + 1]};
	Levels rest = *levels;
	KanonProblem changed;
	Losses losses;
	double weight = 0;
	bool found;

	for (int d = 0; d < problem->ncolumns; d++)
		weight += in_span(span, d) ? 0 : problem->columns[d].weight;
	if (problem->privacy != NULL)
	{
		put_changed(explain, "left out", c, NULL, "not solved with privacy rules");
		return;
	}
	if (levels->nqis == 1 || weight == 0)
	{
		put_changed(explain, "left out", c, NULL,
					levels->nqis == 1 ? "the only quasi-identifier" : "the others cost nothing");
		return;
	}
	problem_without(problem, span, border, &changed);
	rest.nqis--;
	for (int d = c; d <= rest.nqis; d++)
		rest.first[d] = levels->first[d + 1] - (span.end - span.first);
	found = solve_changed(explain, &changed, &rest, changed.columns, &losses);
	put_changed(explain, "left out", c, found ? &losses : NULL,
				found ? psprintf("lost in the others: " INT64_FORMAT " instead of " INT64_FORMAT,
								 losses.total, explain->losses.total - explain->losses.cells[c])
					  : "no release");
	border_pfree(border, (void *) changed.rows);
	for (int d = 0; d < changed.ncolumns; d++)
		border_pfree(border, (void *) changed.columns[d].code);
}

static void
put_doubled(const Explain *explain, int c)
{
	const KanonProblem *problem = explain->problem;
	const Levels *levels = explain->levels;
	KanonProblem changed = *problem;
	KanonColumn *columns = palloc(sizeof(KanonColumn) * problem->ncolumns);
	Losses losses;
	double weight = 0;
	bool found;

	memcpy(columns, problem->columns, sizeof(KanonColumn) * problem->ncolumns);
	for (int d = levels->first[c]; d < levels->first[c + 1]; d++)
		columns[d].weight *= 2;
	changed.columns = columns;
	for (int d = 0; d < problem->ncolumns; d++)
		weight += columns[d].weight;
	if (isinf(weight))
	{
		put_changed(explain, "weight doubled", c, NULL, "the weights are too large");
		return;
	}
	/* at the weights as they are, to be compared with the release's */
	found = solve_changed(explain, &changed, levels, problem->columns, &losses);
	put_changed(explain, "weight doubled", c, found ? &losses : NULL,
				found ? psprintf("lost in it: " INT64_FORMAT " instead of " INT64_FORMAT
								 "; in the others: " INT64_FORMAT " instead of " INT64_FORMAT,
								 losses.cells[c], explain->losses.cells[c], losses.total - losses.cells[c],
								 explain->losses.total - explain->losses.cells[c])
					  : "no release");
}

/* ---- the source's classes that almost reach k ---- */

/*
 * The largest row types of fewer than k rows, of equal size in their own order;
 * *all: how many of each size there are at the smallest listed or above.
 */
static int
find_near(const KanonProblem *problem, uint32 *near, int64 *of_size)
{
	int n = 0;

	for (uint32 i = 0; i < problem->ntypes; i++)
	{
		int place = n;

		if (problem->rows[i] >= problem->k)
			continue;
		while (place > 0 && problem->rows[near[place - 1]] < problem->rows[i])
			place--;
		if (place == MOST_NEAR)
			continue;
		n = Min(n + 1, MOST_NEAR);
		memmove(&near[place + 1], &near[place], sizeof(uint32) * (n - place - 1));
		near[place] = i;
	}
	for (int j = 0; j < n; j++)
		of_size[j] = 0;
	for (uint32 i = 0; i < problem->ntypes; i++)
		for (int j = 0; j < n; j++)
			of_size[j] += problem->rows[i] == problem->rows[near[j]];
	return n;
}

/* The first flow of a row type: flows are in order of types. */
static size_t
first_flow(const KanonRelease *release, uint32 type)
{
	size_t low = 0, high = release->nflows;

	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (release->flows[middle].type < type)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
put_near(const Explain *explain)
{
	const KanonProblem *problem = explain->problem;
	const KanonRelease *release = &explain->run->release;
	ShownJson *json = explain->with_values ? shown_json_open(explain->source) : NULL;
	KanonCell *shown = palloc0(sizeof(KanonCell) * problem->ncolumns);
	uint32 near[MOST_NEAR];
	int64 of_size[MOST_NEAR];
	int n = find_near(problem, near, of_size);
	int nest = plain_text_begin();

	for (int j = 0; j < n; j++)
	{
		uint32 type = near[j];
		int64 rows = problem->rows[type];
		int64 cells = 0;
		double cost = 0;
		StringInfoData patterns;
		Line line;

		initStringInfo(&patterns);
		for (size_t f = first_flow(release, type); f < release->nflows && release->flows[f].type == type; f++)
		{
			uint32 class_ = release->flows[f].class_;
			KanonPattern pattern = class_ == KANON_DROPPED ? 0 : release->classes[class_].pattern;

			appendStringInfo(&patterns, "%s%s", patterns.len > 0 ? ", " : "",
							 class_ == KANON_DROPPED ? "dropped" : pattern_text(pattern, explain->levels));
			cells += release->flows[f].rows * pattern_suppressed(pattern, explain->levels);
			cost += release->flows[f].rows * kanon_pattern_cost(problem, pattern);
		}
		line = line_about("below k", patterns.data);
		set_value(&line, ROW_COUNT, Int64GetDatum(rows));
		set_value(&line, SUPPRESSED_CELLS, Int64GetDatum(cells));
		set_value(&line, COST, Float8GetDatum(cost));
		set_value(&line, DETAIL,
				  CStringGetTextDatum(psprintf("rows short of k: " INT64_FORMAT
											   "; classes of this size: " INT64_FORMAT,
											   problem->k - rows, of_size[j])));
		if (explain->with_values)
		{
			for (int c = 0; c < problem->ncolumns; c++)
			{
				shown[c].show = KANON_SHOW_VALUE;
				shown[c].code = problem->columns[c].code[type];
			}
			set_value(&line, SHOWN, shown_json(json, shown, NULL));
		}
		put(explain, &line);
	}
	plain_text_end(nest);
}

/* kanon_explain(source, quasi_identifiers, k, TAKES_DRY and with_values) */
Datum
kanon_explain(PG_FUNCTION_ARGS)
{
	Explain explain = {0};
	Request request;
	int64 k = k_arg(fcinfo, ARG_K, 2, K_HINT);
	Run *run;

	InitMaterializedSRF(fcinfo, 0);
	explain.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	request_of_dry_call(&request, fcinfo, &pattern_guided_model, "kanon_explain",
						TAKES_DRY | TAKES(WITH_VALUES));
	request.k = k;
	pattern_guided_takes_k(&request, k);
	explain.with_values = request.with_values;
	explain.run = run = run_read(&request);
	explain.problem = &run->problem;
	explain.source = run->source;
	explain.levels = &run->source->levels;
	run_solve(run);
	count_losses(&run->release, explain.levels, run->problem.columns, &explain.losses);
	if (run->types->nrows > 0)
	{
		put_release(&explain);
		put_columns(&explain);
		put_patterns(&explain);
		for (int c = 0; c < run->source->nqis; c++)
			put_without(&explain, c);
		for (int c = 0; c < run->source->nqis; c++)
			put_doubled(&explain, c);
		put_near(&explain);
	}
	run_end(run);
	return (Datum) 0;
}
