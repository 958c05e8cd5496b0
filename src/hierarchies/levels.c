/*
 * levels.c: quasi-identifiers with hierarchies become several columns of the
 * problem, one per level (KanonColumn says how), priced by how much a level
 * loses.
 */
#include "compat.h"
#include "hierarchies/levels.h"
#include "core/model/model.h"
#include "host/gate.h"
#include "hierarchies/hierarchy.h"
#include "rows/dictionary.h"
#include "rows/row_types.h"

#include <math.h>

/*
 * Levels below a last one in which all lines agree, which is suppression itself; one
 * that some lines do not reach is a level.
 * Patterns and the target's columns need to know before the values are read;
 * hierarchy_read counts alike.
 */
static int
levels_below_top(const Hierarchy *hierarchy)
{
	const SourceColumn *level = &hierarchy->levels[hierarchy->nlevels - 1];
	Gate *gate;

	if (hierarchy->from.builder != NULL)
		return hierarchy->nlevels;
	gate = gate_create(hierarchy->name, hierarchy->from.relation, 1);

	gate_columns(gate, level, 1);
	gate_query(gate,
			   psprintf("SELECT %s FROM %s WHERE %s IS NOT NULL OR %s IS NOT NULL GROUP BY 1 LIMIT 2",
						level->quoted, hierarchy->name, level->quoted, hierarchy->value.quoted),
			   true);
	return hierarchy->nlevels - (SPI_processed <= 1);
}

void
source_hierarchies(Source *source, Jsonb *hierarchies)
{
	int n;
	Hierarchy *list = hierarchies_open(hierarchies, source, &n);

	for (int i = 0; i < n; i++)
	{
		source->qis[list[i].column].hierarchy = &list[i];
		if (OidIsValid(list[i].from.relation))
			source->beside = lappend_oid(source->beside, list[i].from.relation);
	}
}

void
source_levels(Source *source)
{
	source_levels_beside(source, source->nqis);
}

void
source_levels_beside(Source *source, int nqis)
{
	int next = 0;

	for (int c = 0; c < source->nqis; c++)
	{
		SourceColumn *column = &source->qis[c];
		int nlevels = column->hierarchy != NULL ? levels_below_top(column->hierarchy) : 0;

		if (nlevels > 0)
			column->show_as = OidIsValid(column->hierarchy->range) ? SHOW_AS_RANGE : SHOW_AS_TEXT;
		source->levels.first[c] = next;
		source->levels.named[c] = column->hierarchy != NULL ? column->hierarchy->nlevels : 0;
		next += 1 + nlevels;
		if (next - Max(c + 1 - nqis, 0) > KANON_MAX_COLUMNS)
			ereport(ERROR,
					(errcode(ERRCODE_TOO_MANY_COLUMNS),
					 errmsg("the quasi-identifiers and the levels of their hierarchies are more than %d",
							KANON_MAX_COLUMNS),
					 errhint("Leave out levels: a view of a hierarchy can have fewer columns.")));
	}
	source->levels.first[source->nqis] = next;
}

/* The nodes of one level as the codes of the row types. */
static uint32 *
level_codes(const RowTypes *types, const KanonColumn *values, const uint32 *node, Border *border)
{
	uint32 *codes = border_palloc(border, sizeof(uint32) * (Size) Max(types->ntypes, 1));

	for (uint32 i = 0; i < types->ntypes; i++)
		codes[i] = node[values->code[i]];
	return codes;
}

void
rowtypes_levels(RowTypes *types, Border *border)
{
	Source *source = types->source;
	const Levels *levels = &source->levels;
	KanonColumn *column;

	types->columns = column =
		MemoryContextAllocZero(border->context, sizeof(KanonColumn) * levels->first[source->nqis]);
	for (int c = 0; c < source->nqis; c++)
	{
		Hierarchy *hierarchy = source->qis[c].hierarchy;

		*column = types->grouped[c];
		if (column->number != NULL)
			column->number = numbers_of_data(column->number, column->distinct, border->context);
		column++;
		if (hierarchy == NULL)
			continue;
		/* one without a level below the top is read all the same: it may be wrong */
		hierarchy_read(hierarchy, types, border);
		if (1 + hierarchy->nlevels != levels->first[c + 1] - levels->first[c])
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("hierarchy %s gave other lines when it was read a second time", hierarchy->name),
					 errdetail("It probably is a view that calls volatile functions."),
					 errhint("Use a table or a materialized view.")));
		for (int h = 0; h < hierarchy->nlevels; h++, column++)
		{
			CHECK_FOR_INTERRUPTS();
			column->code = level_codes(types, &types->grouped[c], hierarchy->node[h], border);
			column->distinct = dictionary_size(hierarchy->dictionary[h]);
			column->has_null = dictionary_has_null(hierarchy->dictionary[h]);
			column->level = h + 1;
		}
	}
}

/*
 * The mean normalized certainty penalty (Xu et al., KDD 2006) of the table's
 * rows at a level: what a value's node covers of the column, in distinct values
 * or, for a numerical column, in range.
 */
static double
level_ncp(const RowTypes *types, const KanonColumn *values, const KanonColumn *level, Border *border)
{
	double *low = border_palloc(border, sizeof(double) * level->distinct);
	double *high = border_palloc(border, sizeof(double) * level->distinct);
	uint32 *members = border_palloc(border, sizeof(uint32) * level->distinct);
	uint32 *node = border_palloc(border, sizeof(uint32) * values->distinct);
	double range = 0, scale = 1, sum = 0;

	if (values->number != NULL)
		range = kanon_number_range(values, &scale);

	for (uint32 i = 0; i < types->ntypes; i++)
		node[values->code[i]] = level->code[i];
	for (uint32 v = 0; v < level->distinct; v++)
	{
		low[v] = INFINITY;
		high[v] = -INFINITY;
		members[v] = 0;
	}
	for (uint32 v = 0; v < values->distinct; v++)
	{
		double number = values->number != NULL ? values->number[v] : NAN;

		members[node[v]]++;
		/* (as measured: what is no number, or infinite, is far from all else under a node) */
		if (number < low[node[v]] || isnan(number))
			low[node[v]] = number;
		if (number > high[node[v]] || isnan(number))
			high[node[v]] = number;
	}
	for (uint32 i = 0; i < types->ntypes; i++)
	{
		uint32 v = level->code[i];
		double share = 0;

		if (members[v] > 1)
			share = values->number == NULL ? (double) members[v] / values->distinct
										   : kanon_range_share(range, scale, low[v], high[v]);
		sum += share * types->rows[i];
	}
	border_pfree(border, low);
	border_pfree(border, high);
	border_pfree(border, members);
	border_pfree(border, node);
	return types->nrows > 0 ? sum / types->nrows : 0;
}

void
rowtypes_price(RowTypes *types, const double *weights, LevelCost cost, Border *border)
{
	const Levels *levels = &types->source->levels;

	for (int c = 0; c < types->source->nqis; c++)
	{
		KanonColumn *column = &types->columns[levels->first[c]];
		int n = levels->first[c + 1] - levels->first[c];
		double before = 0;

		/* what suppressing level h more costs: then the cell shows level h + 1 */
		for (int h = 0; h < n; h++)
		{
			double share = (h + 1.0) / n;

			if (cost == LEVEL_COST_NCP && h + 1 < n)
				share = Max(level_ncp(types, column, &column[h + 1], border), before);
			column[h].weight = weights[c] * (share - before);
			before = share;
		}
	}
}
