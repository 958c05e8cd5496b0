/*
 * hierarchy.c: which relations or builders are hierarchies of which columns, and
 * whether a relation's columns have the types for it.
 */
#include <math.h>

#include "compat.h"
#include "host/excerpt.h"
#include "hierarchies/hierarchy.h"
#include "host/catalog.h"
#include "hierarchies/levels.h"
#include "core/model/model.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "rows/row_types.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

static const char *const shape_hint =
	"Its first column has the values, and each further one what these generalize to, step by step.";

/* Names of all columns of the relation, in their order. */
static ArrayType *
all_columns(Relation rel, int *n)
{
	int natts = RelationGetNumberOfAttributes(rel);
	const char **names = palloc(sizeof(char *) * Max(natts, 1));

	*n = 0;
	for (int i = 0; i < natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);

		if (!att->attisdropped)
			names[(*n)++] = NameStr(att->attname);
	}
	return name_list(names, *n);
}

static void
check_width(Relation rel, int ncolumns)
{
	if (ncolumns < 2)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("hierarchy \"%s\" has no level column", RelationGetRelationName(rel)),
						errhint("%s", shape_hint)));
	/* the last one may be suppression */
	if (ncolumns > HIERARCHY_MAX_LEVELS + 2)
		ereport(ERROR, (errcode(ERRCODE_TOO_MANY_COLUMNS),
						errmsg("hierarchy \"%s\" has more than %d levels", RelationGetRelationName(rel),
							   HIERARCHY_MAX_LEVELS),
						errhint("Use a view of the levels that matter.")));
}

static bool
has_equality(const SourceColumn *column)
{
	return OidIsValid(lookup_type_cache(column->type, TYPECACHE_EQ_OPR)->eq_opr);
}

static bool
either_way_coercible(Oid a, Oid b)
{
	a = getBaseType(a);
	b = getBaseType(b);
	return a == b || IsBinaryCoercible(a, b) || IsBinaryCoercible(b, a);
}

bool
hierarchy_matches_text(const Hierarchy *hierarchy, const SourceColumn *column)
{
	Oid type = getBaseType(hierarchy->value.type);

	return (type == TEXTOID || type == VARCHAROID || type == BPCHAROID) &&
		   !either_way_coercible(type, column->type);
}

/* Numbers that PostgreSQL casts to the column's type by itself, such as integers to numeric, are those of the column. */
static void
cast_values(Hierarchy *hierarchy, const SourceColumn *column)
{
	Oid from = getBaseType(hierarchy->value.type), to = getBaseType(column->type), function;
	char category_from, category_to;
	bool preferred;

	get_type_category_preferred(from, &category_from, &preferred);
	get_type_category_preferred(to, &category_to, &preferred);
	if (from == to || category_from != TYPCATEGORY_NUMERIC || category_to != TYPCATEGORY_NUMERIC ||
		from >= FirstNormalObjectId || to >= FirstNormalObjectId ||
		find_coercion_pathway(to, from, COERCION_IMPLICIT, &function) != COERCION_PATH_FUNC)
		return;
	hierarchy->value.quoted = psprintf("CAST(%s AS %s)", hierarchy->value.quoted,
									   format_type_extended(to, -1, FORMAT_TYPE_FORCE_QUALIFY));
	hierarchy->value.type = to;
	hierarchy->value.typmod = -1;
}

static void
check_value_type(const Hierarchy *hierarchy, const SourceColumn *column)
{
	if (!either_way_coercible(hierarchy->value.type, column->type) &&
		!hierarchy_matches_text(hierarchy, column))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("the values of hierarchy %s are not of the type of column \"%s\"",
							   hierarchy->name, column->name),
						errhint("Use a view of the hierarchy that casts its first column to %s.",
								format_type_be(column->type))));
}

/* The subtype's values stand for those of the column as they are, smallint for integer. */
static bool
range_holds(Oid range, Oid type)
{
	Oid subtype = get_range_subtype(range);

	type = getBaseType(type);
	return type == subtype || IsBinaryCoercible(type, subtype) || (type == INT2OID && subtype == INT4OID);
}

static void
check_level_types(Hierarchy *hierarchy, const SourceColumn *column)
{
	Oid first = getBaseType(hierarchy->levels[0].type);
	bool ranges = OidIsValid(get_range_subtype(first));

	for (int h = 0; h < hierarchy->nlevels; h++)
	{
		const SourceColumn *level = &hierarchy->levels[h];

		if (ranges ? getBaseType(level->type) != first : !either_way_coercible(level->type, first))
			ereport(
				ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("levels \"%s\" and \"%s\" of hierarchy %s are of unequal types",
						hierarchy->levels[0].name, level->name, hierarchy->name),
				 errhint(
					 "All levels must be labels of one type, or ranges of one type. A last level that says nothing, such as '*', can be left out.")));
		if (!has_equality(level))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("level \"%s\" of hierarchy %s is of type %s, which has no equality operator",
							level->name, hierarchy->name, format_type_be(level->type)),
					 errhint("Use a view of the hierarchy that casts its levels to text.")));
	}
	if (ranges && !range_holds(first, column->type))
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("the ranges of hierarchy %s are not of the type of column \"%s\"", hierarchy->name,
					column->name),
			 errdetail("The column is of type %s, the levels are of type %s.", format_type_be(column->type),
					   format_type_be(first)),
			 errhint(
				 "Use a view of the hierarchy that casts its levels to the column's range type, or to text.")));
	hierarchy->range = ranges ? first : InvalidOid;
}

/* The columns that a hierarchy shows, under the locks that reading them takes. */
Source *
hierarchy_columns(Oid relid)
{
	Relation rel = try_relation_open(relid, AccessShareLock);
	ArrayType *names;
	Source *relation;
	int n;

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("hierarchy with OID %u does not exist", relid),
				 errhint("Name a table or view that exists.")));
	names = all_columns(rel, &n);
	check_width(rel, n);
	relation = source_open_columns(relid, names, "a hierarchy");
	relation_close(rel, NoLock);
	source_lock(relation);
	return relation;
}

void
hierarchy_lock(const HierarchyChoice *choice)
{
	if (OidIsValid(choice->relation))
		(void) hierarchy_columns(choice->relation);
}

/* Levels as a relation's columns would have them. */
static void
open_builder(Hierarchy *hierarchy, const SourceColumn *column)
{
	const LevelBuilder *builder = hierarchy->from.builder;

	hierarchy->name = psprintf("\"%s\"", builder->name);
	hierarchy->value = *column;
	hierarchy->nlevels = builder->nlevels;
	hierarchy->levels = palloc0(sizeof(SourceColumn) * builder->nlevels);
	hierarchy->range = builder->range != NULL ? builder->range->type_id : InvalidOid;
	for (int h = 0; h < builder->nlevels; h++)
	{
		SourceColumn *level = &hierarchy->levels[h];

		level->name = builder->words[h] != NULL ? pstrdup(builder->words[h]) : psprintf("level%d", h + 1);
		level->quoted = level->name;
		level->type = OidIsValid(hierarchy->range) ? hierarchy->range : TEXTOID;
		level->typmod = -1;
		level->collation = OidIsValid(hierarchy->range) ? InvalidOid : DEFAULT_COLLATION_OID;
	}
}

void
hierarchy_open(Hierarchy *hierarchy, const HierarchyChoice *choice, const Source *source, int column)
{
	Source *relation;

	memset(hierarchy, 0, sizeof(*hierarchy));
	hierarchy->from = *choice;
	hierarchy->column = column;
	if (choice->builder != NULL)
	{
		hierarchy_lock(choice);
		open_builder(hierarchy, &source->qis[column]);
		return;
	}
	relation = hierarchy_columns(choice->relation);
	hierarchy->name = relation->name;
	hierarchy->value = relation->qis[0];
	hierarchy->nlevels = relation->nqis - 1;
	hierarchy->levels = relation->qis + 1;
	cast_values(hierarchy, &source->qis[column]);
	check_value_type(hierarchy, &source->qis[column]);
	check_level_types(hierarchy, &source->qis[column]);
}

/* A name as in SQL; never a number, as regclass would take it. */
Oid
relation_to_read(const char *what, const char *name)
{
	List *names;
	Oid relid = InvalidOid;

	if (!split_name(name, 3, &names))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME), errmsg("%s \"%s\" is not a table name", what, excerpt(name)),
				 errhint("Write it as in SQL: table or schema.table, with odd names quoted.")));
	/* the lock is of what has the name when it is granted: another table may take it meanwhile */
	relid = RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name))),
							 AccessShareLock, true);
	if (!OidIsValid(relid))
		ereport(
			ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("%s \"%s\" does not exist", what, excerpt_name(name)),
			 errhint("%s",
					 strcmp(what, "hierarchy") == 0 && builder_example(name) != NULL
						 ? psprintf("A hierarchy that is worked out is an object: %s.", builder_example(name))
						 : nearest_relation(
							   names, "Name a table or view that exists, with its schema if need be."))));
	return relid;
}

/* The columns are looked up; this finds what is no column. */
static void
check_keys(Jsonb *hierarchies, const SourceColumn *columns, int n, const char *what)
{
	JsonbIterator *it;
	JsonbValue value;
	JsonbIteratorToken token;

	if (!JB_ROOT_IS_OBJECT(hierarchies))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("hierarchies must be a JSON object"),
				 errhint("Write it like '{\"age\": \"age_h\"}': column to relation, or to a builder.")));
	it = JsonbIteratorInit(&hierarchies->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		char *name;
		int c = 0;

		if (token != WJB_KEY)
			continue;
		name = pnstrdup(value.val.string.val, value.val.string.len);
		while (c < n && strcmp(name, columns[c].name) != 0)
			c++;
		if (c == n)
		{
			Nearest nearest = nearest_to(name);

			for (c = 0; c < n; c++)
				nearest_try(&nearest, columns[c].name);
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("hierarchies names \"%s\", which is not %s", excerpt(name), what),
					 errhint("%s", nearest_hint(&nearest,
												"Names are taken exactly as written, capitals included."))));
		}
	}
}

HierarchyChoice
hierarchy_choose(JsonbContainer *object, const SourceColumn *column)
{
	HierarchyChoice choice = {0};
	char *table;

	choice.builder = builder_read(object, column, &table, &choice.suppress);
	choice.relation =
		choice.builder == NULL ? relation_to_read("hierarchy", table) : choice.builder->relation;
	return choice;
}

bool
hierarchy_chosen(const HierarchyChoice *choice)
{
	return OidIsValid(choice->relation) || choice->builder != NULL;
}

HierarchyChoice *
hierarchies_named(Jsonb *json, const SourceColumn *columns, int n, const char *what)
{
	HierarchyChoice *choices = palloc0(sizeof(HierarchyChoice) * Max(n, 1));

	if (json == NULL)
		return choices;
	check_keys(json, columns, n, what);
	for (int c = 0; c < n; c++)
	{
		JsonbValue key = {.type = jbvString};
		JsonbValue *value;

		key.val.string.val = columns[c].name;
		key.val.string.len = strlen(columns[c].name);
		value = findJsonbValueFromContainer(&json->root, JB_FOBJECT, &key);
		if (value == NULL)
			continue;
		if (value->type == jbvString)
			choices[c].relation =
				relation_to_read("hierarchy", pnstrdup(value->val.string.val, value->val.string.len));
		else if (value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data))
			choices[c] = hierarchy_choose(value->val.binary.data, &columns[c]);
		else
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the hierarchy of column \"%s\" must be the name of a relation, or a builder",
							columns[c].name),
					 errhint("Write it like '{\"age\": \"age_h\"}' or '{\"age\": {\"interval\": [5, "
							 "10]}}'.")));
	}
	return choices;
}

/*
 * hierarchies => {"column": "relation", ...}: finds and locks the relations as the
 * caller, with SPI connected, and checks privileges, columns and types; reads
 * nothing.  *n of them, in the order of the columns; NULL: none.  Errors:
 * invalid_parameter_value, undefined_column, undefined_table, wrong_object_type,
 * insufficient_privilege, datatype_mismatch, too_many_columns, undefined_function.
 */
static Hierarchy *
hierarchies_open(Jsonb *json, const Source *source, int *n)
{
	Hierarchy *hierarchies = palloc0(sizeof(Hierarchy) * source->nqis);
	HierarchyChoice *choices = hierarchies_named(json, source->qis, source->nqis, "a quasi-identifier");

	*n = 0;
	for (int c = 0; c < source->nqis; c++)
		if (hierarchy_chosen(&choices[c]))
			hierarchy_open(&hierarchies[(*n)++], &choices[c], source, c);
	return hierarchies;
}

/*
 * ---- Quasi-identifiers with hierarchies become several columns of the
 * problem, one per level (KanonColumn says how), priced by how much a level
 * loses.
 */

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

/*
 * The loss of nodes that are areas: their shares of the coarsest ones that there are, together.  A value without an
 * area loses nothing.
 */
static void
set_areas(const Hierarchy *hierarchy, const Dictionary *values, KanonColumn *level, Border *border)
{
	LevelBuilder *builder = hierarchy->from.builder;
	double *share[HIERARCHY_MAX_LEVELS], area[HIERARCHY_MAX_LEVELS], whole = 0;
	int top = hierarchy->nlevels - 1, nest = plain_text_begin();

	for (int h = 0; h <= top; h++)
	{
		share[h] = border_palloc(border, sizeof(double) * Max(level[h].distinct, 1));
		memset(share[h], 0, sizeof(double) * level[h].distinct);
		level[h].number = share[h];
	}
	for (uint32 code = 0; code < dictionary_size(values); code++)
	{
		bool isnull;
		Datum value = dictionary_value(values, code, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (isnull || builder->areas(builder, value, area) == BUILDER_UNKNOWN)
			continue;
		if (share[top][hierarchy->node[top][code]] == 0)
			whole += area[top];
		for (int h = 0; h <= top; h++)
			share[h][hierarchy->node[h][code]] = area[h];
	}
	plain_text_end(nest);
	for (int h = 0; h <= top; h++)
		for (uint32 v = 0; v < level[h].distinct && whole > 0; v++)
			share[h][v] = Min(share[h][v] / whole, 1);
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
		if (hierarchy->from.builder != NULL && hierarchy->from.builder->areas != NULL)
			set_areas(hierarchy, source->qis[c].dictionary, column - hierarchy->nlevels, border);
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

		if (level->number != NULL)
			share = level->number[v];
		else if (members[v] > 1)
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
