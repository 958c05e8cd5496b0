/*
 * hierarchy.c: which relations or builders are hierarchies of which columns, and
 * whether a relation's columns have the types for it.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "hierarchies/hierarchy.h"

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

	if (!SplitIdentifierString(pstrdup(name), '.', &names) || names == NIL || list_length(names) > 3)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME), errmsg("%s \"%s\" is not a table name", what, excerpt(name)),
				 errhint("Write it as in SQL: table or schema.table, with odd names quoted.")));
	/* the lock is of what has the name when it is granted: another table may take it meanwhile */
	relid = RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name))),
							 AccessShareLock, true);
	if (!OidIsValid(relid))
		ereport(
			ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("%s \"%s\" does not exist", what, excerpt(name)),
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

Hierarchy *
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
