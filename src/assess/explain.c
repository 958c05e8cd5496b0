/*
 * explain.c: kanon_explain: where a release's cost comes from and what would
 * change it, without writing anything.
 */
#include "compat.h"
#include "host/catalog.h"
#include "options/request.h"
#include "assess/assess.h"

#include "lib/stringinfo.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"

PG_FUNCTION_INFO_V1(kanon_explain);

#define ARG_K 2

/* So many of the source's classes that are too small are listed. */
#define MOST_NEAR 10

Line
line_about(const char *aspect, const char *subject)
{
	Line line;

	line.known = 0;
	line_set(&line, ASPECT, CStringGetTextDatum(aspect));
	line_set(&line, SUBJECT, CStringGetTextDatum(subject));
	return line;
}

void
line_set(Line *line, int column, Datum value)
{
	line->values[column] = value;
	line->known |= (uint32) 1 << column;
}

void
line_put(const Line *line, ReturnSetInfo *rsinfo)
{
	bool nulls[EXPLAIN_COLUMNS];

	for (int c = 0; c < EXPLAIN_COLUMNS; c++)
		nulls[c] = (line->known >> c & 1) == 0;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, (Datum *) line->values, nulls);
}

static void
put(const Explain *explain, const Line *line)
{
	line_put(line, explain->rsinfo);
}

/* Do patterns say what a release costs?  Else it is what the measures call certainty. */
static bool
goes_by_patterns(const KanonProblem *problem)
{
	return problem->cluster == NULL && problem->freeform == NULL && problem->subtree == NULL;
}

static void
count_by_patterns(const KanonRelease *release, const Levels *levels, const KanonColumn *columns,
				  Losses *losses)
{
	int64 lost[KANON_MAX_COLUMNS] = {0}; /* by column of the problem */

	for (uint32 i = 0; i < release->nclasses; i++)
		KANON_EACH (c, release->classes[i].pattern)
			lost[c] += release->classes[i].rows;
	for (int c = 0; c < levels->nqis; c++)
	{
		for (int d = levels->first[c]; d < levels->first[c + 1]; d++)
			losses->cost[c] += lost[d] * columns[d].weight;
		losses->cells[c] = lost[levels->first[c + 1] - 1];
	}
}

/*
 * Rows that are left out lose everything; they count in the mean.  Levels cost
 * what patterns say, but for cuts.
 */
static void
count_by_measures(const KanonProblem *problem, const KanonRelease *release, const Levels *levels,
				  const KanonColumn *columns, Border *border, Losses *losses)
{
	KanonColumnMeasures *measures = palloc0(sizeof(KanonColumnMeasures) * levels->nqis);
	int64 rows = 0;

	count_by_patterns(release, levels, columns, losses);
	for (uint32 i = 0; i < problem->ntypes; i++)
		rows += problem->rows[i];
	border_check(border, kanon_measure_columns(problem, release, measures), "");
	for (int c = 0; c < levels->nqis; c++)
	{
		bool by_levels = levels->first[c + 1] - levels->first[c] > 1 && problem->subtree == NULL;
		double weight = 0;

		for (int d = levels->first[c]; d < levels->first[c + 1]; d++)
			weight += columns[d].weight;
		losses->cost[c] = by_levels ? losses->cost[c] + weight * (double) release->dropped
									: measures[c].ncp * (double) rows * weight;
		losses->cells[c] = measures[c].suppressed;
	}
	pfree(measures);
}

/* At the weights of the columns that are given. */
void
explain_losses(const KanonProblem *problem, const KanonRelease *release, const Levels *levels,
			   const KanonColumn *columns, Border *border, Losses *losses)
{
	memset(losses, 0, sizeof(*losses));
	if (goes_by_patterns(problem))
		count_by_patterns(release, levels, columns, losses);
	else
		count_by_measures(problem, release, levels, columns, border, losses);
	for (int c = 0; c < levels->nqis; c++)
	{
		losses->total += losses->cells[c];
		losses->all += losses->cost[c];
	}
}

bool
explain_by_cells(const Explain *explain)
{
	return goes_by_patterns(explain->problem) && explain->problem->ncolumns == explain->levels->nqis;
}

/* ---- the release as it would be ---- */

static void
put_release(const Explain *explain)
{
	const Run *run = explain->run;
	Line line = line_about(
		"release", psprintf("k = " INT64_FORMAT ", %s", explain->problem->k, explain->run->request->method));
	char *detail = run->problem.freeform != NULL
					   ? psprintf("records: %u", run->release.nclasses)
					   : psprintf("classes: %u, of " INT64_FORMAT " to " INT64_FORMAT " rows",
								  run->measures.classes, run->measures.class_min, run->measures.class_max);

	if (run->release.dropped > 0)
		detail = psprintf("%s; rows dropped: " INT64_FORMAT, detail, run->release.dropped);
	line_set(&line, ROW_COUNT, Int64GetDatum(run->measures.rows));
	line_set(&line, SUPPRESSED_CELLS, Int64GetDatum(explain->losses.total));
	line_set(&line, COST, Float8GetDatum(run->report.cost));
	line_set(&line, DETAIL, CStringGetTextDatum(detail));
	put(explain, &line);
}

/* Columns in descending order of their cost, then as they were named. */
static void
put_columns(const Explain *explain)
{
	const KanonProblem *problem = explain->problem;
	bool done[KANON_MAX_QIS] = {false};

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
		line_set(&line, ROW_COUNT, Int64GetDatum(explain->run->measures.rows - explain->losses.cells[most]));
		line_set(&line, SUPPRESSED_CELLS, Int64GetDatum(explain->losses.cells[most]));
		line_set(&line, COST, Float8GetDatum(cost));
		line_set(
			&line, DETAIL,
			CStringGetTextDatum(psprintf("%.1f %% of %s; different values: %u",
										 explain->losses.all > 0 ? 100 * cost / explain->losses.all : 0.0,
										 goes_by_patterns(problem) ? "the cost" : "what is lost",
										 problem->columns[explain->levels->first[most]].distinct)));
		put(explain, &line);
	}
}

/* A class's quasi-identifiers as it shows them: as a pattern, with 'r' for a range and 's' for a set. */
typedef struct Shape
{
	char text[KANON_MAX_QIS + 1]; /* first: it is the key */
	int64 classes;
	int64 rows;
	int suppressed;
} Shape;

static char *
shape_of(const Explain *explain, uint32 class_, char *text)
{
	const KanonProblem *problem = explain->problem;
	const KanonCell *cell = explain->run->release.cells + (size_t) problem->ncolumns * class_;
	const int *first = explain->levels->first;

	for (int c = 0; c < explain->levels->nqis; c++)
	{
		int d = first[c];

		while (d < first[c + 1] && cell[d].show == KANON_SHOW_NOTHING)
			d++;
		text[c] = d == first[c + 1]                  ? '*'
				  : cell[d].show == KANON_SHOW_RANGE ? 'r'
				  : cell[d].show == KANON_SHOW_SET   ? 's'
													 : level_symbol(d - first[c]);
	}
	text[explain->levels->nqis] = '\0';
	return text;
}

static int
compare_shapes(const void *a, const void *b)
{
	const Shape *left = *(Shape *const *) a;
	const Shape *right = *(Shape *const *) b;

	if (left->suppressed != right->suppressed)
		return left->suppressed < right->suppressed ? -1 : 1;
	if (left->rows != right->rows)
		return left->rows > right->rows ? -1 : 1;
	return strcmp(left->text, right->text);
}

/* Cheapest first: those of the fewest suppressed cells, then of the most rows. */
static void
put_shapes(const Explain *explain)
{
	const KanonRelease *release = &explain->run->release;
	HASHCTL control = {
		.keysize = KANON_MAX_QIS + 1, .entrysize = sizeof(Shape), .hcxt = CurrentMemoryContext};
	HTAB *table = hash_create("kanon_explain", 64, &control, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	HASH_SEQ_STATUS walk;
	Shape **shapes, *shape;
	int n = 0;

	for (uint32 i = 0; i < release->nclasses; i++)
	{
		char text[KANON_MAX_QIS + 1];
		bool found;

		CHECK_FOR_INTERRUPTS();
		shape = hash_search(table, shape_of(explain, i, text), HASH_ENTER, &found);
		if (!found)
		{
			shape->classes = shape->rows = 0;
			shape->suppressed = kanon_class_suppressed(explain->problem, release, i);
		}
		shape->classes++;
		shape->rows += release->classes[i].rows;
	}
	shapes = palloc(sizeof(Shape *) * Max(hash_get_num_entries(table), 1));
	hash_seq_init(&walk, table);
	while ((shape = hash_seq_search(&walk)) != NULL)
		shapes[n++] = shape;
	qsort(shapes, n, sizeof(Shape *), compare_shapes);
	for (int i = 0; i < n; i++)
	{
		Line line = line_about("pattern", shapes[i]->text);

		line_set(&line, ROW_COUNT, Int64GetDatum(shapes[i]->rows));
		line_set(&line, SUPPRESSED_CELLS, Int64GetDatum(shapes[i]->rows * shapes[i]->suppressed));
		line_set(&line, DETAIL,
				 CStringGetTextDatum(psprintf("%s: " INT64_FORMAT,
											  explain->problem->freeform != NULL ? "records" : "classes",
											  shapes[i]->classes)));
		put(explain, &line);
	}
	pfree(shapes);
	hash_destroy(table);
}

/* "; age as ranges of 5, zip as …": the levels that a pattern shows, by their names; or nothing. */
static char *
level_words(const Explain *explain, KanonPattern pattern)
{
	const Source *source = explain->run->source;
	char *symbols = pattern_text(pattern, explain->levels);
	StringInfoData text;

	initStringInfo(&text);
	for (int c = 0; c < source->nqis; c++)
	{
		const Hierarchy *hierarchy = source->qis[c].hierarchy;
		int level = symbols[c] == '-' || symbols[c] == '*' ? 0 : symbol_of_level(symbols[c]);

		if (hierarchy != NULL && level > 0 && level <= hierarchy->nlevels)
			appendStringInfo(&text, "%s %s as %s", text.len > 0 ? "," : ";", source->qis[c].name,
							 hierarchy->levels[level - 1].name);
	}
	return text.data;
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

		for (; i < release->nclasses && kanon_same(release->classes[i].pattern, pattern); i++)
		{
			classes++;
			rows += release->classes[i].rows;
		}
		line_set(&line, ROW_COUNT, Int64GetDatum(rows));
		line_set(&line, SUPPRESSED_CELLS, Int64GetDatum(rows * pattern_suppressed(pattern, explain->levels)));
		line_set(&line, COST, Float8GetDatum(rows * kanon_pattern_cost(explain->problem, pattern)));
		line_set(&line, DETAIL,
				 CStringGetTextDatum(
					 psprintf("classes: " INT64_FORMAT "%s", classes, level_words(explain, pattern))));
		put(explain, &line);
	}
}

/* ---- the source's classes that almost reach k ---- */

/* Rows that show the same before the release: one row type or, told apart by what they keep, several. */
typedef struct Near
{
	uint32 type; /* the first */
	uint32 ntypes;
	int64 rows;
	int64 counted; /* as k counts them: rows or persons */
	int64 of_size; /* how many there are of so many */
} Near;

static int
compare_codes(const void *a, const void *b)
{
	uint32 x = *(const uint32 *) a, y = *(const uint32 *) b;

	return (x > y) - (x < y);
}

/* Different persons among row types that follow one another. */
static int64
count_persons(const KanonProblem *problem, const Near *near, int person)
{
	uint32 *codes = palloc(sizeof(uint32) * near->ntypes);
	int64 n = 0;

	for (uint32 i = 0; i < near->ntypes; i++)
		codes[i] = problem->extra[person].code[near->type + i];
	qsort(codes, near->ntypes, sizeof(uint32), compare_codes);
	for (uint32 i = 0; i < near->ntypes; i++)
		n += i == 0 || codes[i] != codes[i - 1];
	pfree(codes);
	return n;
}

static Near
class_at(const KanonProblem *problem, uint32 type)
{
	int person = problem->privacy != NULL ? kanon_privacy_person(problem->privacy) : -1;
	Near near = {.type = type};
	bool same = true;

	for (uint32 i = type; i < problem->ntypes && same; i++)
	{
		near.ntypes++;
		near.rows += problem->rows[i];
		for (int c = 0; c < problem->ncolumns && same; c++)
			same =
				i + 1 < problem->ntypes && problem->columns[c].code[i + 1] == problem->columns[c].code[type];
	}
	near.counted = person >= 0 ? count_persons(problem, &near, person) : near.rows;
	return near;
}

/* The largest classes of fewer than k rows or persons, of equal size in their own order. */
static int
find_near(const KanonProblem *problem, Near *near)
{
	int n = 0;
	Near at;

	for (uint32 i = 0; i < problem->ntypes; i += at.ntypes)
	{
		int place = n;

		at = class_at(problem, i);
		if (at.counted >= problem->k)
			continue;
		while (place > 0 && near[place - 1].counted < at.counted)
			place--;
		if (place == MOST_NEAR)
			continue;
		n = Min(n + 1, MOST_NEAR);
		memmove(&near[place + 1], &near[place], sizeof(Near) * (n - place - 1));
		near[place] = at;
	}
	for (uint32 i = 0; i < problem->ntypes; i += at.ntypes)
	{
		at = class_at(problem, i);
		for (int j = 0; j < n; j++)
			near[j].of_size += near[j].counted == at.counted;
	}
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

static char *
joined(const List *texts)
{
	StringInfoData all;
	ListCell *lc;

	initStringInfo(&all);
	foreach (lc, texts)
		appendStringInfo(&all, "%s%s", all.len > 0 ? ", " : "", strVal(lfirst(lc)));
	return all.data;
}

static void
put_near(const Explain *explain)
{
	const KanonProblem *problem = explain->problem;
	const KanonRelease *release = &explain->run->release;
	ShownJson *json = explain->with_values ? shown_json_open(explain->source) : NULL;
	KanonCell *shown = palloc0(sizeof(KanonCell) * problem->ncolumns);
	Near near[MOST_NEAR];
	int n = find_near(problem, near);
	int nest = plain_text_begin();

	for (int j = 0; j < n; j++)
	{
		int64 rows = near[j].rows;
		int64 cells = 0;
		double cost = 0;
		List *patterns = NIL;
		Line line;

		for (size_t f = first_flow(release, near[j].type);
			 f < release->nflows && release->flows[f].type < near[j].type + near[j].ntypes; f++)
		{
			uint32 class_ = release->flows[f].class_;
			char text[KANON_MAX_QIS + 1];

			patterns = list_append_unique(
				patterns,
				makeString(pstrdup(class_ == KANON_DROPPED ? "dropped" : shape_of(explain, class_, text))));
			if (class_ == KANON_DROPPED)
				continue;
			cells += release->flows[f].rows * kanon_class_suppressed(problem, release, class_);
			cost += release->flows[f].rows * kanon_pattern_cost(problem, release->classes[class_].pattern);
		}
		line = line_about("below k", joined(patterns));
		line_set(&line, ROW_COUNT, Int64GetDatum(rows));
		line_set(&line, SUPPRESSED_CELLS, Int64GetDatum(cells));
		if (goes_by_patterns(problem))
			line_set(&line, COST, Float8GetDatum(cost));
		line_set(
			&line, DETAIL,
			CStringGetTextDatum(psprintf(
				"%s short of k: " INT64_FORMAT "; classes of this size: " INT64_FORMAT,
				problem->privacy != NULL && kanon_privacy_person(problem->privacy) >= 0 ? "persons" : "rows",
				problem->k - near[j].counted, near[j].of_size)));
		if (explain->with_values)
		{
			for (int c = 0; c < problem->ncolumns; c++)
			{
				shown[c].show = KANON_SHOW_VALUE;
				shown[c].code = problem->columns[c].code[near[j].type];
			}
			line_set(&line, SHOWN, shown_json(json, shown, NULL));
		}
		put(explain, &line);
	}
	plain_text_end(nest);
}

static void
put_all(const Explain *explain)
{
	put_release(explain);
	put_columns(explain);
	if (goes_by_patterns(explain->problem))
		put_patterns(explain);
	else
		put_shapes(explain);
	explain_changed(explain);
	if (explain->problem->known != NULL)
		explain_known(explain);
	else
		put_near(explain);
}

/* kanon_explain(source, quasi_identifiers, k, TAKES_DRY and with_values) */
Datum
kanon_explain(PG_FUNCTION_ARGS)
{
	Explain explain = {0};
	Request request;
	int64 k = k_arg(fcinfo, ARG_K, 1, K_HINT);
	Run *run;

	InitMaterializedSRF(fcinfo, 0);
	explain.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	request_of_dry_call(&request, fcinfo, "kanon_explain", TAKES_DRY | TAKES(WITH_VALUES), k);
	explain.with_values = request.dry.with_values;
	explain.run = run = run_read(&request);
	explain.problem = &run->problem;
	explain.source = run->source;
	explain.levels = &run->source->levels;
	run_solve(run);
	if (request.model == &transactions_model)
		explain_sets(run, explain.rsinfo);
	else if (request.model == &anatomy_model)
		explain_groups(run, explain.rsinfo);
	else if (run->types->nrows > 0)
	{
		explain_losses(&run->problem, &run->release, explain.levels, run->problem.columns, run->border,
					   &explain.losses);
		put_all(&explain);
	}
	run_end(run);
	return (Datum) 0;
}
