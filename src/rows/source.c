/*
 * source.c: the relation to publish: what kind it is, and the columns named.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "host/catalog.h"
#include "rows/source.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "rows/cell_values.h"

#include "access/relation.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

char **
name_array(ArrayType *array, const char *argument, int *n)
{
	Datum *elements;
	bool *nulls;
	char **names;

	*n = 0;
	if (array == NULL)
		return NULL;
	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("%s must be a list of column names", argument),
						errhint("Write it like '{age,zip}'.")));
	deconstruct_array(array, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &elements, &nulls, n);
	names = palloc(sizeof(char *) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not contain NULL", argument),
					 errhint("Write it like '{age,zip}'.")));
		names[i] = pstrdup(NameStr(*DatumGetName(elements[i])));
	}
	return names;
}

ArrayType *
name_list(const char *const *names, int n)
{
	NameData *padded = palloc0(sizeof(NameData) * Max(n, 1)); /* a name's value has all of its bytes */
	Datum *elements = palloc(sizeof(Datum) * Max(n, 1));
	ArrayType *array;

	for (int i = 0; i < n; i++)
	{
		namestrcpy(&padded[i], names[i]);
		elements[i] = NameGetDatum(&padded[i]);
	}
	array = construct_array(elements, n, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
	pfree(elements);
	pfree(padded);
	return array;
}

/* Columns by which row types differ beside the quasi-identifiers. */
#define MOST_GROUPED 64

static void
check_kind(Relation rel)
{
	switch (rel->rd_rel->relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_VIEW:
		case RELKIND_MATVIEW:
		case RELKIND_FOREIGN_TABLE:
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a table or view", RelationGetRelationName(rel)),
			 errhint("kanon reads tables, partitioned and foreign tables, views and materialized views.")));
}

static void
find_column(Relation rel, const char *name, SourceColumn *column)
{
	AttrNumber attnum = get_attnum(RelationGetRelid(rel), name);
	Form_pg_attribute att;

	if (attnum == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of \"%s\" does not exist", name, RelationGetRelationName(rel)),
				 errhint("%s", nearest_column(RelationGetRelid(rel), name,
											  "Names are taken exactly as written, capitals included."))));
	if (attnum < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_REFERENCE), errmsg("column \"%s\" is a system column", name),
				 errhint("Only columns that the table itself has can be named.")));
	att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	column->name = pstrdup(name);
	column->quoted = pstrdup(quote_identifier(name));
	column->type = att->atttypid;
	column->typmod = att->atttypmod;
	column->collation = att->attcollation;
	column->shape = type_shape(att->atttypid);
}

/* Grouping needs a default hash or btree operator class. */
static void
check_equality(const SourceColumn *column, const char *what)
{
	TypeCacheEntry *entry = lookup_type_cache(column->type, TYPECACHE_EQ_OPR);

	if (!OidIsValid(entry->eq_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column \"%s\" of type %s cannot be %s", column->name, format_type_be(column->type),
						what),
				 errdetail("The type has no equality operator to group by."),
				 errhint("Read it through a view that casts it to another type, such as jsonb or text.")));
}

/* One GROUP BY either hashes or sorts all of its columns. */
void
source_check_groupable(const SourceColumn *columns, int n)
{
	const SourceColumn *unhashable = NULL, *unsortable = NULL;

	for (int i = 0; i < n; i++)
	{
		TypeCacheEntry *entry = lookup_type_cache(columns[i].type, TYPECACHE_HASH_PROC | TYPECACHE_LT_OPR);

		if (!OidIsValid(entry->hash_proc))
			unhashable = &columns[i];
		if (!OidIsValid(entry->lt_opr))
			unsortable = &columns[i];
	}
	if (unhashable != NULL && unsortable != NULL)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("columns \"%s\" and \"%s\" cannot be grouped together", unhashable->name,
							   unsortable->name),
						errdetail("Type %s can only be sorted and type %s can only be hashed.",
								  format_type_be(unhashable->type), format_type_be(unsortable->type)),
						errhint("Use a view that casts one of them to another type, such as text.")));
}

/* The GRANT of SELECT, on these columns (quoted; NULL: all), that the current user lacks, for hints. */
static const char *
grant_hint(Relation rel, const char *columns)
{
	return psprintf(
		"What is missing: GRANT SELECT%s ON %s TO %s;", columns == NULL ? "" : psprintf(" (%s)", columns),
		quote_qualified_identifier(name_schema(RelationGetNamespace(rel)), RelationGetRelationName(rel)),
		quote_identifier(GetUserNameFromId(GetUserId(), false)));
}

static void
append_missing(StringInfo missing, Oid relid, const char *name)
{
	AttrNumber attnum = get_attnum(relid, name);

	if (attnum > 0 && pg_attribute_aclcheck(relid, attnum, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		appendStringInfo(missing, "%s%s", missing->len > 0 ? ", " : "", quote_identifier(name));
}

/*
 * PostgreSQL's own refusal, when the relation is read, does not say what is missing; nor does it
 * say what of `also` will be missing then.
 */
static void
check_privileges(Relation rel, const SourceColumn *columns, int n, ArrayType *also)
{
	Oid relid = RelationGetRelid(rel);
	StringInfoData missing;
	int nalso;
	char **more;

	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return;
	initStringInfo(&missing);
	for (int i = 0; i < n; i++)
		append_missing(&missing, relid, columns[i].name);
	more = missing.len > 0 ? name_array(also, "columns", &nalso) : NULL;
	for (int i = 0; more != NULL && i < nalso; i++)
		append_missing(&missing, relid, more[i]);
	if (missing.len > 0)
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("permission denied for %s %s",
							   rel->rd_rel->relkind == RELKIND_VIEW ? "view" : "table",
							   RelationGetRelationName(rel)),
						errhint("%s", grant_hint(rel, missing.data))));
}

static void
find_columns(Relation rel, ArrayType *array, const char *argument, ArrayType *also, SourceColumn **columns,
			 int *n)
{
	char **names = name_array(array, argument, n);

	*columns = palloc0(sizeof(SourceColumn) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		find_column(rel, names[i], &(*columns)[i]);
		for (int j = 0; j < i; j++)
			if (strcmp(names[i], names[j]) == 0)
				ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
								errmsg("column \"%s\" is named twice in %s", names[i], argument),
								errhint("Name each column once.")));
	}
	check_privileges(rel, *columns, *n, also);
}

/* The relation alone, which *rel is then. */
static Source *
open_relation(Oid relid, Relation *rel)
{
	Source *source = palloc0(sizeof(Source));

	relation_trust(relid);
	*rel = try_relation_open(relid, AccessShareLock);
	if (*rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid),
				 errhint("Name a table or view that exists.")));
	check_kind(*rel);
	source->relid = relid;
	source->name =
		quote_qualified_identifier(name_schema(RelationGetNamespace(*rel)), RelationGetRelationName(*rel));
	return source;
}

Source *
source_open_bare(Oid relid)
{
	Relation rel;
	Source *source = open_relation(relid, &rel);

	relation_close(rel, NoLock);
	return source;
}

Source *
source_open_all(Oid relid)
{
	Relation rel;
	Source *source = open_relation(relid, &rel);
	TupleDesc desc = RelationGetDescr(rel);

	source->kept = palloc0(sizeof(SourceColumn) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			find_column(rel, NameStr(TupleDescAttr(desc, i)->attname), &source->kept[source->nkept++]);
	check_privileges(rel, source->kept, source->nkept, NULL);
	relation_close(rel, NoLock);
	return source;
}

Source *
source_open_columns(Oid relid, ArrayType *columns, const char *argument)
{
	return source_open_with(relid, columns, argument, NULL);
}

Source *
source_open_kept(Oid relid, ArrayType *columns)
{
	Source *source = source_open_columns(relid, columns, "columns");

	source->kept = source->qis;
	source->nkept = source->nqis;
	source->nqis = source->ngrouped = 0;
	return source;
}

static Source *
open_columns(Oid relid, ArrayType *columns, const char *argument, ArrayType *also, int least, int most)
{
	Relation rel;
	Source *source = open_relation(relid, &rel);

	find_columns(rel, columns, argument, also, &source->qis, &source->nqis);
	/* hierarchies keep pointers into it, so it never moves */
	source->qis = repalloc(source->qis, sizeof(SourceColumn) * (source->nqis + MOST_GROUPED));
	if (source->nqis < least)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must name at least one column", argument),
			 errhint("Name the columns that could be joined with outside knowledge, such as '{age,zip}'.")));
	if (source->nqis > most && most > KANON_MAX_QIS)
		ereport(ERROR, (errcode(ERRCODE_TOO_MANY_COLUMNS),
						errmsg("%d columns are more than the %d that can be compared in one call",
							   source->nqis, most),
						errhint("Name fewer columns in keep, and call once more for the others.")));
	if (source->nqis > most)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("%d quasi-identifiers are more than the %d that kanon can take", source->nqis, most),
				 errhint("Leave out columns that attackers cannot know, or keep or drop them.")));
	for (int i = 0; i < source->nqis; i++)
	{
		check_equality(&source->qis[i], "a quasi-identifier");
		source->qis[i].numerical = type_is_numerical(source->qis[i].type);
	}
	source_check_groupable(source->qis, source->nqis);
	source->ngrouped = source->nqis;
	source->levels = no_levels(source->nqis);
	relation_close(rel, NoLock);
	return source;
}

Source *
source_open_with(Oid relid, ArrayType *columns, const char *argument, ArrayType *also)
{
	return open_columns(relid, columns, argument, also, 1, KANON_MAX_QIS);
}

Source *
source_open_beside(Oid relid, ArrayType *columns, const char *argument)
{
	return open_columns(relid, columns, argument, NULL, 1, KANON_MAX_COLUMNS);
}

/* A column is either a quasi-identifier or what else it is called. */
static void
refuse_quasi_identifiers(const Source *source, const SourceColumn *columns, int n, const char *what,
						 const char *hint)
{
	for (int i = 0; i < source->nqis; i++)
		for (int j = 0; j < n; j++)
			if (strcmp(source->qis[i].name, columns[j].name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" is both a quasi-identifier and %s", columns[j].name, what),
						 errhint("%s", hint)));
}

SourceColumn *
source_columns(const Source *source, ArrayType *names, const char *argument, const char *what, int *n)
{
	Relation rel = relation_open(source->relid, AccessShareLock);
	SourceColumn *columns;

	find_columns(rel, names, argument, NULL, &columns, n);
	for (int i = 0; i < *n; i++)
		check_equality(&columns[i], what);
	refuse_quasi_identifiers(source, columns, *n, what, "Take it out of one of the two lists.");
	relation_close(rel, NoLock);
	return columns;
}

int
source_group_by(Source *source, const SourceColumn *column)
{
	for (int c = source->nqis; c < source->ngrouped; c++)
		if (strcmp(source->qis[c].name, column->name) == 0)
			return c;
	if (source->ngrouped - source->nqis == MOST_GROUPED)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("keys, class_column and the privacy rules name more than %d columns", MOST_GROUPED),
				 errhint("Leave out rules.")));
	source->qis[source->ngrouped] = *column;
	return source->ngrouped++;
}

static Source *
open_with_kept(Source *source, ArrayType *kept, ArrayType *categorical)
{
	Relation rel = relation_open(source->relid, AccessShareLock);
	int ncategorical;
	char **names;

	find_columns(rel, kept, "keep", NULL, &source->kept, &source->nkept);
	refuse_quasi_identifiers(source, source->kept, source->nkept, "kept",
							 "A kept column is published unchanged; take it out of one of the two lists.");
	names = name_array(categorical, "categorical", &ncategorical);
	for (int i = 0; i < ncategorical; i++)
	{
		int c = 0;

		while (c < source->nqis && strcmp(names[i], source->qis[c].name) != 0)
			c++;
		if (c == source->nqis)
		{
			Nearest nearest = nearest_to(names[i]);

			for (c = 0; c < source->nqis; c++)
				nearest_try(&nearest, source->qis[c].name);
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("categorical names \"%s\", which is not a quasi-identifier", names[i]),
					 errhint("%s", nearest_hint(&nearest,
												"Names are taken exactly as written, capitals included."))));
		}
		source->qis[c].numerical = false;
	}
	relation_close(rel, NoLock);
	return source;
}

Source *
source_open(Oid relid, ArrayType *qis, ArrayType *kept, ArrayType *categorical)
{
	return open_with_kept(source_open_with(relid, qis, "quasi_identifiers", kept), kept, categorical);
}

Source *
source_open_rows(Oid relid, ArrayType *qis, ArrayType *kept, ArrayType *categorical)
{
	return open_with_kept(open_columns(relid, qis, "quasi_identifiers", kept, 0, KANON_MAX_QIS), kept,
						  categorical);
}

char *
column_list(const SourceColumn *columns, int n)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < n; i++)
		appendStringInfo(&list, "%s%s", i > 0 ? ", " : "", columns[i].quoted);
	return list.data;
}

void
source_read_instead(Source *source, Oid relid, List *numbers)
{
	const ListCell *cell;

	source->relid = relid;
	source->name = name_relation(relid);
	foreach (cell, numbers)
		for (int i = 0; i < source->nkept; i++)
		{
			SourceColumn *column = &source->kept[i];

			if (strcmp(column->name, lfirst(cell)) == 0)
				get_atttypetypmodcoll(relid, get_attnum(relid, column->name), &column->type, &column->typmod,
									  &column->collation);
		}
}

char *
text_expression(const char *value, Oid type)
{
	if (getBaseType(type) < FirstNormalObjectId)
		return psprintf("CAST(%s AS pg_catalog.text)", value);
	return psprintf(
		"CASE WHEN pg_catalog.num_nulls(%s) OPERATOR(pg_catalog.=) 0 THEN pg_catalog.concat(%s) END", value,
		value);
}

char *
blank_condition(const SourceColumn *columns, int n)
{
	StringInfoData list;

	/* IS NULL would also be true of a row of NULLs in a column of composite type */
	initStringInfo(&list);
	for (int i = 0; i < n; i++)
		appendStringInfo(&list, "%s%s IS NOT DISTINCT FROM NULL", i > 0 ? " AND " : "", columns[i].quoted);
	return list.data;
}

void
source_lock(const Source *source)
{
	Gate *gate = gate_create(source->name, source->relid, source->nqis + source->nkept);

	gate_columns(gate, source->qis, source->nqis);
	gate_columns(gate, source->kept, source->nkept);
	gate_query(gate,
			   psprintf("SELECT %s%s%s FROM %s LIMIT 0", column_list(source->qis, source->nqis),
						source->nqis > 0 && source->nkept > 0 ? ", " : "",
						column_list(source->kept, source->nkept), source->name),
			   true);
}

void
source_snapshot(const Source *source)
{
	source_lock(source);
	PushActiveSnapshot(GetTransactionSnapshot());
}
