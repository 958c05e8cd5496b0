/*
 * explain_sets.c: kanon_explain of models without row types: sets of items, and groups by a
 * sensitive value.  Items and values are data: lines say how many there are.
 */
#include "compat.h"
#include "anatomy/anatomy_model.h"
#include "itemsets/item_model.h"
#include "assess/assess.h"
#include "rare/rare.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

static void
set_text(Line *line, char *text)
{
	line_set(line, DETAIL, CStringGetTextDatum(text));
}

/* ---- sets of items ---- */

/* How many steps above itself an item is shown; -1: not at all. */
static int
height_of(const SetRun *own, uint32 item)
{
	uint32 node = item;
	int height = 0;

	while (node != own->recoding.shown[item] && node != KANON_NOTHING)
	{
		node = own->problem.parent[node];
		height++;
	}
	return node == KANON_NOTHING ? -1 : height;
}

/* In how many transactions each item is. */
static int64 *
supports(const SetRun *own, Border *border)
{
	const KanonSets *sets = &own->problem.sets;
	int64 *support = border_palloc(border, sizeof(int64) * (Size) Max(sets->nitems, 1));

	memset(support, 0, sizeof(int64) * sets->nitems);
	for (size_t i = 0; i < sets->start[sets->ntransactions]; i++)
		support[sets->item[i]]++;
	return support;
}

static void
put_release(const Run *run, ReturnSetInfo *rsinfo)
{
	const SetRun *own = run->request->own;
	const KanonSetMeasures *measures = &own->measures;
	Line line = line_about("release", run->request->k > 0 ? psprintf("k = " INT64_FORMAT ", %s",
																	 run->request->k, run->request->method)
														  : run->request->method);

	line_set(&line, ROW_COUNT, Int64GetDatum(own->problem.sets.ntransactions));
	line_set(&line, SUPPRESSED_CELLS, Int64GetDatum(measures->suppressed));
	line_set(&line, COST, Float8GetDatum(run->report.cost));
	set_text(&line,
			 psprintf("items: %u, shown as %u; suppressed: %u; transactions that show nothing: " INT64_FORMAT,
					  measures->items_before, measures->shown_after, measures->items_suppressed,
					  measures->empty_after));
	line_put(&line, rsinfo);
}

/* Items by how far up the hierarchy they are shown, those that are not last. */
static void
put_levels(const SetRun *own, const int64 *support, ReturnSetInfo *rsinfo)
{
	uint32 nitems = own->problem.sets.nitems;
	int most = 0;

	for (uint32 i = 0; i < nitems; i++)
		most = Max(most, height_of(own, i));
	for (int turn = 0; turn <= most + 1; turn++)
	{
		int height = turn <= most ? turn : -1;
		int64 items = 0, occurrences = 0;
		Line line = line_about("level", height < 0 ? "suppressed" : psprintf("%d", height));

		for (uint32 i = 0; i < nitems; i++)
			if (height_of(own, i) == height)
			{
				items++;
				occurrences += support[i];
			}
		if (items == 0)
			continue;
		line_set(&line, SUPPRESSED_CELLS, Int64GetDatum(height < 0 ? occurrences : 0));
		set_text(&line, psprintf("items: " INT64_FORMAT ", occurrences: " INT64_FORMAT, items, occurrences));
		line_put(&line, rsinfo);
	}
}

static void
put_rare(const SetRun *own, const int64 *support, ReturnSetInfo *rsinfo)
{
	int64 items = 0, occurrences = 0;
	Line line = line_about("below k", "items");

	for (uint32 i = 0; i < own->problem.sets.nitems; i++)
		if (support[i] < own->problem.k)
		{
			items++;
			occurrences += support[i];
		}
	set_text(&line,
			 psprintf("items in fewer than k transactions: " INT64_FORMAT ", occurrences: " INT64_FORMAT,
					  items, occurrences));
	line_put(&line, rsinfo);
}

/* Against who knows one item less. */
static void
put_fewer_known(Run *run, const KanonSetMeasures *before, ReturnSetInfo *rsinfo)
{
	SetRun *own = run->request->own;
	Line line = line_about("known lowered", psprintf("%d instead of %d", own->problem.m - 1, own->problem.m));

	run_forget(run);
	own->problem.m--;
	if (run_solve_changed(run))
	{
		line_set(&line, SUPPRESSED_CELLS, Int64GetDatum(own->measures.suppressed));
		line_set(&line, COST, Float8GetDatum(run->report.cost));
		line_set(&line, SAVED_CELLS, Int64GetDatum(before->suppressed - own->measures.suppressed));
		set_text(&line,
				 psprintf("shown as %u instead of %u", own->measures.shown_after, before->shown_after));
	}
	else
		set_text(&line, "no release");
	line_put(&line, rsinfo);
}

void
explain_sets(Run *run, ReturnSetInfo *rsinfo)
{
	SetRun *own = run->request->own;
	KanonSetMeasures before = own->measures;
	int64 *support;

	if (own->problem.sets.ntransactions == 0)
		return;
	support = supports(own, run->border);
	put_release(run, rsinfo);
	put_levels(own, support, rsinfo);
	put_rare(own, support, rsinfo);
	border_pfree(run->border, support);
	if (own->problem.m > 1)
		put_fewer_known(run, &before, rsinfo);
}

/* ---- two tables ---- */

void
explain_groups(Run *run, ReturnSetInfo *rsinfo)
{
	const AnatomyRun *own = run->request->own;
	const AnatomyRows *rows = own->rows;
	int64 most = 0;
	double error = own->anatomy.error;
	int64 l = run->request->anatomy.l;
	Figures told;
	Line line;

	if (rows->nrows == 0)
		return;
	for (uint32 v = 0; v < rows->nvalues; v++)
		most = Max(most, rows->rows[v]);
	line = line_about("release", psprintf("l = " INT64_FORMAT, l));
	line_set(&line, ROW_COUNT, Int64GetDatum(rows->nrows));
	line_set(&line, COST, Float8GetDatum(error));
	set_text(&line, psprintf("groups: %u, different values: %u", own->anatomy.ngroups, rows->nvalues));
	line_put(&line, rsinfo);
	line = line_about("limit", "l");
	line_set(&line, ROW_COUNT, Int64GetDatum(most));
	set_text(&line, psprintf("rows of the most frequent value, which allows an l of at most " INT64_FORMAT,
							 rows->nrows / most));
	line_put(&line, rsinfo);
	if (l == 2)
		return;
	run_forget(run);
	(void) run_solve_for(run, l - 1, &told);
	line = line_about("l lowered", psprintf(INT64_FORMAT " instead of " INT64_FORMAT, l - 1, l));
	line_set(&line, COST, Float8GetDatum(told.cost));
	set_text(&line, psprintf("groups: " INT64_FORMAT, told.classes));
	line_put(&line, rsinfo);
}

/* ---- Which columns somebody would know together whose combinations cost most ---- */

/* So many sets of columns are listed. */
#define MOST_SETS 10

/* A set of columns, and the rows that have a rare combination of it. */
typedef struct RareSet
{
	KanonPattern columns;
	int64 combinations;
	int64 rows;
	int64 cells; /* of these columns that these rows lose */
	double cost;
} RareSet;

typedef struct RareSets
{
	const KanonProblem *problem; /* of the values themselves: a column for each quasi-identifier */
	const Levels *levels;
	const KanonColumn *columns; /* with their levels */
	KanonPattern *pattern;      /* [ntypes] what each row type does not show */
	RareSet at;                 /* the one that is looked at */
	RareSet dearest[MOST_SETS + 1];
	int n;
} RareSets;

/* The set is whole: it takes its place among the dearest, behind equal ones. */
static void
keep_set(RareSets *sets)
{
	const RareSet *at = &sets->at;
	int place = sets->n;

	if (at->combinations == 0)
		return;
	while (place > 0 &&
		   (sets->dearest[place - 1].cost < at->cost ||
			(sets->dearest[place - 1].cost == at->cost && sets->dearest[place - 1].rows < at->rows)))
		place--;
	memmove(&sets->dearest[place + 1], &sets->dearest[place], sizeof(RareSet) * (sets->n - place));
	sets->dearest[place] = *at;
	sets->n = Min(sets->n + 1, MOST_SETS);
	memset(&sets->at, 0, sizeof(RareSet));
}

static void
count_rare(void *arg, const KanonRare *rare)
{
	RareSets *sets = arg;
	const KanonProblem *problem = sets->problem;
	KanonPattern columns = KANON_NONE;

	for (int i = 0; i < rare->ncolumns; i++)
		kanon_add(&columns, rare->column[i]);
	if (!kanon_same(columns, sets->at.columns))
		keep_set(sets);
	sets->at.columns = columns;
	sets->at.combinations++;
	for (uint32 i = 0; i < rare->ntypes; i++)
	{
		int64 rows = problem->rows[rare->type[i]];

		sets->at.rows += rows;
		for (int c = 0; c < rare->ncolumns; c++)
		{
			const int *first = &sets->levels->first[rare->column[c]];

			sets->at.cells += kanon_has(sets->pattern[rare->type[i]], first[1] - 1) ? rows : 0;
			for (int d = first[0]; d < first[1]; d++)
				if (kanon_has(sets->pattern[rare->type[i]], d))
					sets->at.cost += (double) rows * sets->columns[d].weight;
		}
	}
}

static char *
names_of(const Explain *explain, KanonPattern columns)
{
	StringInfoData names;

	initStringInfo(&names);
	KANON_EACH (c, columns)
		appendStringInfo(&names, "%s%s", names.len > 0 ? "," : "", explain->source->qis[c].name);
	return names.data;
}

void
explain_known(const Explain *explain)
{
	Run *run = explain->run;
	KanonProblem problem = *explain->problem;
	KanonKnown known = *problem.known;
	RareSets sets = {.problem = &problem, .levels = explain->levels, .columns = problem.columns};
	KanonColumn *values = palloc(sizeof(KanonColumn) * explain->levels->nqis);

	for (int c = 0; c < explain->levels->nqis; c++)
		values[c] = problem.columns[explain->levels->first[c]];
	problem.columns = values;
	problem.ncolumns = explain->levels->nqis;
	known.k = problem.k;
	sets.pattern = border_palloc(run->border, sizeof(KanonPattern) * (Size) problem.ntypes);
	for (size_t f = 0; f < run->release.nflows; f++)
		sets.pattern[run->release.flows[f].type] = run->release.classes[run->release.flows[f].class_].pattern;
	border_check(run->border, kanon_rare_find(&problem, &known, count_rare, &sets), "");
	keep_set(&sets);
	for (int i = 0; i < sets.n; i++)
	{
		const RareSet *set = &sets.dearest[i];
		Line line = line_about("known together", names_of(explain, set->columns));

		line_set(&line, ROW_COUNT, Int64GetDatum(set->rows));
		line_set(&line, SUPPRESSED_CELLS, Int64GetDatum(set->cells));
		line_set(&line, COST, Float8GetDatum(set->cost));
		line_set(
			&line, DETAIL,
			CStringGetTextDatum(psprintf("minimal combinations below k: " INT64_FORMAT, set->combinations)));
		line_put(&line, explain->rsinfo);
	}
	border_pfree(run->border, sets.pattern);
}
