/*
 * publish.c: the functions of SQL that publish row types: a request from their arguments, rows back.
 */
#include "compat.h"
#include "host/catalog.h"
#include "rows/cell_values.h"
#include "run/on_disk_types.h"
#include "run/run.h"
#include "host/lines.h"
#include "options/request.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/lsyscache.h"

/*
 * ---- kanon_pattern_guided and kanon_pattern_clustering: a table is
 * published, and the patterns that were used come back.
 */

PG_FUNCTION_INFO_V1(kanon_pattern_guided);
PG_FUNCTION_INFO_V1(kanon_pattern_clustering);

static void
put_pattern(Lines *lines, const Run *run, const PatternUse *use)
{
	const Levels *levels = &run->source->levels;

	line_text(lines, pattern_text(use->pattern, levels));
	line_float8(lines, kanon_pattern_cost(&run->problem, use->pattern), true);
	line_int8(lines, use->classes, true);
	line_int8(lines, use->rows, true);
	line_int8(lines, use->rows * pattern_suppressed(use->pattern, levels), true);
	line_end(lines);
}

/* One row per pattern that was used, cheapest first. */
static void
put_patterns(Lines *lines, const Run *run)
{
	const KanonRelease *release = &run->release;

	if (run->parted != NULL)
	{
		for (int i = 0; i < run->parted->nused; i++)
			put_pattern(lines, run, &run->parted->used[i]);
		return;
	}
	for (uint32 i = 0; i < release->nclasses;)
	{
		PatternUse use = {.pattern = release->classes[i].pattern};

		for (; i < release->nclasses && kanon_same(release->classes[i].pattern, use.pattern); i++)
		{
			use.classes++;
			use.rows += release->classes[i].rows;
		}
		put_pattern(lines, run, &use);
	}
}

Datum
kanon_pattern_guided(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &pattern_guided_model, put_patterns);
}

Datum
kanon_pattern_clustering(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &pattern_clustering_model, put_patterns);
}

/*
 * ---- kanon_cluster: a table is published in classes of any shape, and one row
 * that sums up comes back.
 */

PG_FUNCTION_INFO_V1(kanon_cluster);

static void
put_cluster(Lines *lines, const Run *run)
{
	const KanonReport *report = &run->report;
	const KanonMeasures *measures = &run->measures;
	bool some = run->release.nclasses > 0;
	bool classes = run->problem.freeform == NULL;

	line_int8(lines, run->release.nclasses, classes);
	line_int8(lines, measures->rows, true);
	line_int8(lines, run->release.dropped, true);
	line_int8(lines, measures->class_min, some && classes);
	line_float8(lines, measures->class_avg, some && classes);
	line_int8(lines, measures->class_max, some && classes);
	line_float8(lines, report->cost, true);
	line_float8(lines, report->lower_bound, some && !isinf(report->lower_bound));
	line_float8(lines, report->guarantee, some && report->guarantee != 0);
	line_float8(lines, measures->gcp, some);
	line_float8(lines, measures->usefulness, some && classes);
	line_end(lines);
}

Datum
kanon_cluster(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &cluster_model, put_cluster);
}

/*
 * ---- kanon_full_domain: a table is published with every row generalized
 * to the same levels, and the node chosen, or all of them, comes back.
 */

PG_FUNCTION_INFO_V1(kanon_full_domain);

static void
put_node(Lines *lines, const Run *run, const KanonNode *node)
{
	const KanonOutcome *outcome = full_domain_outcome(run);
	bool best = kanon_same(node->pattern, outcome->best.pattern);

	line_text(lines, pattern_text(node->pattern, &run->source->levels));
	line_text(lines, best ? (outcome->proven ? "optimal" : "best") : node->fulfils ? "fulfils" : "fails");
	line_float8(lines, node->metric, node->fulfils);
	line_int8(lines, node->suppressed, node->checked);
	line_int8(lines, node->classes, node->checked);
	line_int8(lines, outcome->nodes, true);
	line_int8(lines, outcome->checked, true);
	line_int8(lines, outcome->tagged, true);
	line_int4(lines, outcome->members - 1, true);
	line_float8(lines, run->report.seconds * 1000, true);
	line_float8(lines, outcome->bound, best);
	line_end(lines);
}

static void
put_nodes(Lines *lines, const Run *run)
{
	const KanonOutcome *outcome = full_domain_outcome(run);

	if (run_is_empty(run))
		return;
	if (outcome->all == NULL)
		put_node(lines, run, &outcome->best);
	for (int64 i = 0; outcome->all != NULL && i < outcome->nodes; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_node(lines, run, &outcome->all[i]);
	}
}

Datum
kanon_full_domain(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &full_domain_model, put_nodes);
}

/*
 * ---- kanon_subtree: a table is published with one cut through each hierarchy,
 * and what is shown of each quasi-identifier comes back.
 */

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

/*
 * ---- kanon_freeform: a table is published without classes, and one row that
 * sums up comes back.
 */

PG_FUNCTION_INFO_V1(kanon_freeform);

static void
put_freeform(Lines *lines, const Run *run)
{
	const FreeformCall *call = run->request->own;
	const KanonReport *report = &run->report;
	bool some = run->types->nrows > 0;

	line_int8(lines, run->types->nrows, true);
	line_int8(lines, some ? call->parts : 0, true);
	line_float8(lines, some ? run->measures.gcp : 0, true);
	line_float8(lines, report->cost, true);
	line_float8(lines, report->lower_bound, some && !isinf(report->lower_bound));
	line_bool(lines, report->proven, true);
	line_int4(lines, call->workers, true);
	line_float8(lines, run->record.solve_ms, true);
	line_end(lines);
}

Datum
kanon_freeform(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &freeform_model, put_freeform);
}

/*
 * ---- Kanon_option_list: the table of options as SQL and publications
 * have them.
 */

PG_FUNCTION_INFO_V1(kanon_option_list);

static void
put_options(Lines *lines, const char *function, const Model *model, OptionSet options, Oid schema)
{
	int place = 0;

	for (Option option = 0; option < OPTIONS; option++)
		if ((options & UINT64CONST(1) << option) != 0)
		{
			line_text(lines, function);
			line_int4(lines, ++place, true);
			line_text(lines, option_name(option));
			line_value(lines, ObjectIdGetDatum(option_sql_type(option, schema)), true);
			line_text(lines, option_initial(model, option));
			line_end(lines);
		}
}

/* kanon_option_list() */
Datum
kanon_option_list(PG_FUNCTION_ARGS)
{
	Lines *lines = lines_begin(fcinfo);
	Oid schema = get_func_namespace(fcinfo->flinfo->fn_oid);

	for (int i = 0; models[i] != NULL; i++)
		put_options(lines, models[i]->name, models[i], models[i]->options, schema);
	for (int i = 0; unpublished_models[i] != NULL; i++)
		put_options(lines, unpublished_models[i]->name, unpublished_models[i], unpublished_models[i]->options,
					schema);
	put_options(lines, "frontier", &pattern_guided_model, TAKES_DRY, schema);
	put_options(lines, "explain", &pattern_guided_model, TAKES_DRY | TAKES(WITH_VALUES), schema);
	return (Datum) 0;
}
