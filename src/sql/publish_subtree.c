/*
 * publish_subtree.c: kanon_subtree: a table is published with one cut through each hierarchy,
 * and what is shown of each quasi-identifier comes back.
 */
#include "compat.h"
#include "host/catalog.h"
#include "run/run.h"
#include "rows/cell_values.h"

#include <math.h>

#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_subtree);

/* The column of which a class shows the value, of a quasi-identifier; that after its last: none. */
static int
shown_column(const Run *run, uint32 class_, int qi)
{
	const int *first = run->source->levels.first;
	int c = first[qi];

	while (c < first[qi + 1] && kanon_has(run->release.classes[class_].pattern, c))
		c++;
	return c;
}

/* Rows by what they show of a quasi-identifier: [columns + 1][distinct]. */
static int64 **
count_shown(const Run *run, int qi)
{
	const int *first = run->source->levels.first;
	int columns = first[qi + 1] - first[qi];
	int64 **rows = palloc(sizeof(int64 *) * (columns + 1));

	for (int c = 0; c <= columns; c++)
		rows[c] = palloc_extended(sizeof(int64) *
									  (Size) (c < columns ? run->problem.columns[first[qi] + c].distinct : 1),
								  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < run->release.nclasses; i++)
	{
		int c = shown_column(run, i, qi);

		rows[c - first[qi]]
			[run->release.cells[(Size) i * run->problem.ncolumns + Min(c, first[qi + 1] - 1)].code] +=
			run->release.classes[i].rows;
	}
	return rows;
}

/* As text, what a cell shows. */
static char *
cell_text(const Run *run, Shower *shower, int qi, int column, uint32 code)
{
	KanonCell *cells = palloc0(sizeof(KanonCell) * run->problem.ncolumns);
	bool isnull, isvarlena;
	Oid function;
	Datum shown;

	cells[column] = (KanonCell){KANON_SHOW_VALUE, code};
	shown = show_cell(shower, qi, cells, NULL, &isnull);
	getTypeOutputInfo(shown_type(&run->source->qis[qi]), &function, &isvarlena);
	return isnull ? NULL : OidOutputFunctionCall(function, shown);
}

static void
put_line(Lines *lines, const Run *run, int qi, int level, char *text, int64 rows)
{
	const KanonReport *report = &run->report;

	line_name(lines, run->source->qis[qi].name);
	line_int4(lines, level, true);
	line_text(lines, text);
	line_int8(lines, rows, true);
	line_int8(lines, run->release.nclasses, true);
	line_float8(lines, report->cost, true);
	line_float8(lines, report->lower_bound, !isinf(report->lower_bound));
	line_bool(lines, report->proven, true);
	line_float8(lines, run->measures.gcp, true);
	line_int8(lines, report->nodes, true);
	line_float8(lines, report->seconds * 1000, true);
	line_end(lines);
}

static void
put_cut(Lines *lines, const Run *run)
{
	const int *first = run->source->levels.first;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon cut", ALLOCSET_DEFAULT_SIZES);
	Shower *shower = shower_create(run->source);
	int nest = plain_text_begin();

	for (int qi = 0; qi < run->source->nqis && run->types->nrows > 0; qi++)
	{
		int columns = first[qi + 1] - first[qi];
		int64 **rows = count_shown(run, qi);

		for (int c = 0; c <= columns; c++)
			for (uint32 code = 0; code < (c < columns ? run->problem.columns[first[qi] + c].distinct : 1);
				 code++)
			{
				MemoryContext old;

				CHECK_FOR_INTERRUPTS();
				if (rows[c][code] == 0)
					continue;
				old = MemoryContextSwitchTo(scratch);
				put_line(lines, run, qi, c,
						 c < columns ? cell_text(run, shower, qi, first[qi] + c, code) : NULL, rows[c][code]);
				MemoryContextSwitchTo(old);
				MemoryContextReset(scratch);
			}
	}
	plain_text_end(nest);
	MemoryContextDelete(scratch);
}

Datum
kanon_subtree(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &subtree_model, put_cut);
}
