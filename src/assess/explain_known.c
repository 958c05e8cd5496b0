/*
 * explain_known.c: which columns somebody would know together whose combinations cost most.
 */
#include "compat.h"
#include "assess/assess.h"
#include "rare/rare.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

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
