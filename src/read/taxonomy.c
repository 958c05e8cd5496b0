/*
 * taxonomy.c: a relation with a hierarchy (value, level 1, …, top: one line per
 * value) becomes the tree above a column's values.
 */
#include "compat.h"
#include "kanon_pg.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "core/risk.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

static const char *const shape_hint =
"Each line is a value and what it generalizes to, step by step; the last column is the same in all lines.";

/* All columns of the relation, in their order. */
static Source *
open_hierarchy(Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	int			natts = rel != NULL ? RelationGetNumberOfAttributes(rel) : 0;
	Datum	   *names = palloc(sizeof(Datum) * Max(natts, 1));
	int			n = 0;

	for (int i = 0; i < natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);

		if (!att->attisdropped)
			names[n++] = CStringGetDatum(pstrdup(NameStr(att->attname)));
	}
	if (rel != NULL)
		relation_close(rel, NoLock);
	return source_open_columns(relid, construct_array(names, n, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR),
							   "a hierarchy");
}

static void
check_shape(const Source *hierarchy, const SourceColumn *column)
{
	Oid			type = hierarchy->qis[0].type;

	if (hierarchy->nqis < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("hierarchy %s has a single column", hierarchy->name),
				 errhint("%s", shape_hint)));
	if (getBaseType(type) != getBaseType(column->type) && !IsBinaryCoercible(type, column->type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the values of hierarchy %s are not of the type of column \"%s\"",
						hierarchy->name, column->name),
				 errhint("Use a view of the hierarchy that casts its first column.")));
}

static uint32 *
no_parents(uint32 n)
{
	uint32	   *parents = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(uint32) * (Size) Max(n, 1));

	memset(parents, 0xff, sizeof(uint32) * (Size) Max(n, 1));
	return parents;
}

/* Reads the lines: the node above each value, above each of these, and so on. */
static void
read_lines(const Source *hierarchy, const Dictionary *values, Dictionary **level, uint32 **parent)
{
	if (SPI_execute(psprintf("SELECT %s FROM %s", column_list(hierarchy->qis, hierarchy->nqis), hierarchy->name),
					true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read %s", hierarchy->name);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[i];
		bool		isnull;
		Datum		value = SPI_getbinval(tuple, SPI_tuptable->tupdesc, 1, &isnull);
		uint32		node = dictionary_find(unconstify(Dictionary *, values), value, isnull);

		CHECK_FOR_INTERRUPTS();
		/* a value that the column does not have */
		if (node == DICTIONARY_NONE)
			continue;
		for (int h = 0; h < hierarchy->nqis - 1; h++)
		{
			uint32		above;

			value = SPI_getbinval(tuple, SPI_tuptable->tupdesc, h + 2, &isnull);
			above = dictionary_add(level[h], value, isnull);
			if (parent[h][node] != DICTIONARY_NONE && parent[h][node] != above)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("the levels of hierarchy %s do not nest", hierarchy->name),
						 errdetail("Lines with the same \"%s\" differ in \"%s\".",
								   hierarchy->qis[h].name, hierarchy->qis[h + 1].name),
						 errhint("%s", shape_hint)));
			parent[h][node] = above;
			node = above;
		}
	}
	SPI_freetuptable(SPI_tuptable);
}

KanonTaxonomy *
taxonomy_read(Oid relid, const SourceColumn *column)
{
	Source	   *hierarchy = open_hierarchy(relid);
	int			height = hierarchy->nqis - 1;
	uint32		values = dictionary_size(column->dictionary);
	KanonTaxonomy *taxonomy = palloc0(sizeof(KanonTaxonomy));
	Dictionary **level = palloc(sizeof(Dictionary *) * Max(height, 1));
	uint32	  **parent = palloc(sizeof(uint32 *) * Max(height, 1));
	uint32	   *nodes = palloc(sizeof(uint32) * Max(height, 1));
	uint32		missing = 0;

	check_shape(hierarchy, column);
	for (int h = 0; h < height; h++)
	{
		level[h] = dictionary_create(CurrentMemoryContext, &hierarchy->qis[h + 1]);
		/* the last one of a level is for a NULL without a line */
		parent[h] = no_parents(values + 1);
	}
	read_lines(hierarchy, column->dictionary, level, parent);
	for (int h = 0; h < height; h++)
		nodes[h] = dictionary_size(level[h]);
	if (nodes[height - 1] > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the last level of hierarchy %s has %u values", hierarchy->name, nodes[height - 1]),
				 errhint("%s", shape_hint)));
	for (uint32 code = 0; code < values; code++)
	{
		uint32		node = code;
		bool		isnull;

		if (parent[0][code] != DICTIONARY_NONE)
			continue;
		(void) dictionary_value(column->dictionary, code, &isnull);
		if (!isnull)
		{
			missing++;
			continue;
		}
		/* NULL is a branch of its own below the top */
		for (int h = 0; h < height; h++)
		{
			uint32		above = h < height - 1 ? nodes[h]++ : 0;

			parent[h][node] = above;
			node = above;
		}
		nodes[height - 1] = 1;
	}
	if (missing > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("hierarchy %s lacks %u values of column \"%s\"", hierarchy->name, missing, column->name),
				 errhint("Every value of the column needs a line.")));
	taxonomy->height = height;
	taxonomy->nodes = nodes;
	taxonomy->parent = (const uint32 *const *) parent;
	return taxonomy;
}
