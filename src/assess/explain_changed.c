/*
 * explain_changed.c: kanon_explain: what leaving out a column, or doubling its weight, would save.  kanon does not
 * estimate that: it solves the changed problem.
 */
#include "compat.h"
#include "core/cluster/clustering.h"
#include "assess/assess.h"
#include "rare/rare.h"

#include "port/pg_bitutils.h"
#include "utils/builtins.h"

/* Solves a changed problem; false when it has no release. */
static bool
solve_changed(const Explain *explain, const KanonProblem *problem, const Levels *levels,
			  const KanonColumn *prices, Losses *losses)
{
	Run again = *explain->run;
	bool found;

	again.problem = *problem;
	memset(&again.release, 0, sizeof(again.release));
	memset(&again.report, 0, sizeof(again.report));
	again.diversity = NULL;
	found = run_solve_changed(&again);
	if (found)
		explain_losses(problem, &again.release, levels, prices, again.border, losses);
	run_forget(&again);
	if (again.diversity != NULL)
		border_pfree(again.border, again.diversity);
	return found;
}

static void
put_changed(const Explain *explain, const char *aspect, int column, const Losses *losses, const char *detail)
{
	Line line = line_about(aspect, explain->source->qis[column].name);

	if (losses != NULL)
	{
		line_set(&line, SUPPRESSED_CELLS, Int64GetDatum(losses->total));
		line_set(&line, COST, Float8GetDatum(losses->all));
		line_set(&line, SAVED_CELLS, Int64GetDatum(explain->losses.total - losses->total));
	}
	line_set(&line, DETAIL, CStringGetTextDatum(detail));
	line_put(&line, explain->rsinfo);
}

/* The columns from `first` up to `end` (a quasi-identifier with its levels). */
typedef struct Span
{
	int first;
	int end;
} Span;

static inline bool
in_span(Span span, int column)
{
	return column >= span.first && column < span.end;
}

/* The set without these columns, those after them moved down. */
static KanonPattern
without_bits(KanonPattern set, Span span)
{
	KanonPattern without = KANON_NONE;

	KANON_EACH (c, set)
		if (!in_span(span, c))
			kanon_add(&without, c < span.first ? c : c - (span.end - span.first));
	return without;
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
			if (rules[n].kind == KANON_IMPLIES
					? !kanon_is_none(rules[n].columns) && !kanon_is_none(rules[n].implied)
					: kanon_count(rules[n].columns) > 1)
				n++;
		}
		result->rules = rules;
		result->nrules = n;
	}
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

/* An attacker's knowledge, without a quasi-identifier. */
static const struct KanonKnown *
known_without(const struct KanonKnown *known, int c)
{
	Span span = {c, c + 1};
	KanonKnown *rest = palloc(sizeof(KanonKnown));
	KanonKnownSet *sets = palloc(sizeof(KanonKnownSet) * Max(known->nsets, 1));

	*rest = *known;
	for (int s = 0; s < known->nsets; s++)
		sets[s] = (KanonKnownSet){without_bits(known->sets[s].columns, span), known->sets[s].k};
	rest->sets = sets;
	return rest;
}

/*
 * Columns beside the quasi-identifiers that tell row types apart cannot be added up when row types
 * become one.
 */
static const char *
why_not_without(const Explain *explain)
{
	const Request *request = explain->run->request;

	return request->privacy != NULL               ? "not solved with privacy rules"
		   : request->freeform.k_column != NULL   ? "not solved with k_column"
		   : request->guided.partition_by != NULL ? "not solved with partition_by"
		   : explain->problem->nextra > 0         ? "not solved with class_column"
												  : NULL;
}

/* The options of a clustering without a quasi-identifier. */
static const struct KanonClusterOptions *
cluster_without(const struct KanonClusterOptions *options, int c, int nqis)
{
	struct KanonClusterOptions *rest = palloc(sizeof(struct KanonClusterOptions));
	KanonClusterShow *shows = palloc(sizeof(KanonClusterShow) * nqis);

	*rest = *options;
	memcpy(shows, options->show, sizeof(KanonClusterShow) * c);
	memcpy(shows + c, options->show + c + 1, sizeof(KanonClusterShow) * (nqis - c - 1));
	rest->show = shows;
	return rest;
}

static double
cost_of_others(const Losses *losses, int c, int n)
{
	double cost = 0;

	for (int d = 0; d < n; d++)
		cost += d == c ? 0 : losses->cost[d];
	return cost;
}

static char *
amount(double cost)
{
	return psprintf(cost < 1000 ? "%.4g" : "%.0f", cost);
}

/* In cells where these are kept or suppressed and nothing else; what became coarser is lost, too. */
static char *
lost(const Explain *explain, int64 cells, int64 cells_before, double cost, double cost_before)
{
	return explain_by_cells(explain) ? psprintf(INT64_FORMAT " instead of " INT64_FORMAT, cells, cells_before)
									 : psprintf("%s instead of %s", amount(cost), amount(cost_before));
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
	if (why_not_without(explain) != NULL)
	{
		put_changed(explain, "left out", c, NULL, why_not_without(explain));
		return;
	}
	if (levels->nqis == 1 || weight == 0)
	{
		put_changed(explain, "left out", c, NULL,
					levels->nqis == 1 ? "the only quasi-identifier" : "the others cost nothing");
		return;
	}
	problem_without(problem, span, border, &changed);
	if (problem->cluster != NULL)
		changed.cluster = cluster_without(problem->cluster, c, levels->nqis);
	if (problem->known != NULL)
		changed.known = known_without(problem->known, c);
	rest.nqis--;
	for (int d = c; d <= rest.nqis; d++)
		rest.first[d] = levels->first[d + 1] - (span.end - span.first);
	found = solve_changed(explain, &changed, &rest, changed.columns, &losses);
	put_changed(explain, "left out", c, found ? &losses : NULL,
				found ? psprintf("lost in the others: %s",
								 lost(explain, losses.total, explain->losses.total - explain->losses.cells[c],
									  losses.all, cost_of_others(&explain->losses, c, levels->nqis)))
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
	bool found;

	memcpy(columns, problem->columns, sizeof(KanonColumn) * problem->ncolumns);
	for (int d = levels->first[c]; d < levels->first[c + 1]; d++)
		columns[d].weight *= 2;
	changed.columns = columns;
	/* at the weights as they are, to be compared with the release's */
	found = solve_changed(explain, &changed, levels, problem->columns, &losses);
	put_changed(explain, "weight doubled", c, found ? &losses : NULL,
				found ? psprintf("lost in it: %s; in the others: %s",
								 lost(explain, losses.cells[c], explain->losses.cells[c], losses.cost[c],
									  explain->losses.cost[c]),
								 lost(explain, losses.total - losses.cells[c],
									  explain->losses.total - explain->losses.cells[c],
									  cost_of_others(&losses, c, levels->nqis),
									  cost_of_others(&explain->losses, c, levels->nqis)))
					  : "no release");
}

void
explain_changed(const Explain *explain)
{
	for (int c = 0; c < explain->source->nqis; c++)
		put_without(explain, c);
	for (int c = 0; c < explain->source->nqis; c++)
		put_doubled(explain, c);
}
