/*
 * labels.c: the roles of columns, written next to them with SECURITY LABEL.
 *
 * PostgreSQL Anonymizer's labels for k_anonymity say which columns are
 * quasi-identifiers; kanon's own provider says the rest.  Reading takes nothing but
 * the catalog pg_seclabel.  Only writing a label needs the provider's library to be loaded,
 * and dumping and restoring them is PostgreSQL's work.
 */
#include "compat.h"
#include "publication/labels.h"
#include "host/gate.h"
#include "publication/publication.h"

#include <math.h>

#include "access/relation.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/seclabel.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#define PROVIDER "kanon"
#define ANON_PROVIDER "k_anonymity"

typedef struct Role
{
	bool quasi_identifier;
	bool sensitive;
	bool keep;
	bool identifier;
	double weight; /* NaN: none */
} Role;

/* Compares without case and the blanks around. */
static bool
is_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	text += strspn(text, " \t\n");
	return pg_strncasecmp(text, word, length) == 0 && text[length + strspn(text + length, " \t\n")] == '\0';
}

/* One word of a label of kanon's; false: not one. */
static bool
read_word(const char *word, Role *role)
{
	const char *weight = strchr(word, '=');
	char *end;

	if (is_word(word, "quasi-identifier") || is_word(word, "quasi identifier"))
		return role->quasi_identifier = true;
	if (is_word(word, "sensitive"))
		return role->sensitive = true;
	if (is_word(word, "keep"))
		return role->keep = true;
	if (is_word(word, "identifier"))
		return role->identifier = true;
	if (weight == NULL || !is_word(pnstrdup(word, weight - word), "weight"))
		return false;
	role->weight = strtod(weight + 1, &end);
	return end > weight + 1 && end[strspn(end, " \t\n")] == '\0' && isfinite(role->weight) &&
		   role->weight >= 0;
}

/* False for what makes no sense; text NULL takes a label away. */
static bool
read_label(const char *text, Role *role)
{
	char *words = pstrdup(text);
	char *rest;

	for (char *word = strtok_r(words, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest))
		if (!read_word(word, role))
			return false;
	return !((role->quasi_identifier || !isnan(role->weight)) && (role->keep || role->sensitive)) &&
		   !(role->identifier &&
			 (role->quasi_identifier || role->keep || role->sensitive || !isnan(role->weight)));
}

static void
check_label(const ObjectAddress *object, const char *label)
{
	Role role = {.weight = NAN};

	if (object->classId != RelationRelationId || object->objectSubId == 0)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("kanon labels columns only"),
						errhint("SECURITY LABEL FOR kanon ON COLUMN table.column IS 'keep'")));
	if (label != NULL && (label[strspn(label, " \t\n,")] == '\0' || !read_label(label, &role)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("\"%s\" is not a label that kanon knows", excerpt(label)),
				 errhint("Labels are 'quasi-identifier', 'weight=2', both with a comma between them, 'keep', "
						 "'sensitive' and 'identifier'.")));
}

void
labels_register(void)
{
	register_label_provider(PROVIDER, check_label);
}

/* The roles of a relation's columns, by number from 0. */
static Role *
read_roles(Oid relid, int ncolumns)
{
	Role *roles = palloc0(sizeof(Role) * ncolumns);
	Oid types[1] = {OIDOID};
	Datum values[1];
	int nest = catalog_path_begin();

	for (int i = 0; i < ncolumns; i++)
		roles[i].weight = NAN;
	values[0] = ObjectIdGetDatum(relid);
	if (SPI_execute_with_args("SELECT objsubid, provider, label FROM pg_seclabel"
							  " WHERE classoid = 'pg_class'::regclass AND objoid = $1 AND objsubid > 0"
							  " AND provider IN ('" PROVIDER "', '" ANON_PROVIDER "')",
							  1, types, values, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read labels");
	catalog_path_end(nest);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple tuple = SPI_tuptable->vals[i];
		bool isnull;
		int column = DatumGetInt32(gate_value(i, 1, INT4OID, &isnull));
		char *label = SPI_getvalue(tuple, SPI_tuptable->tupdesc, 3);

		if (column > ncolumns)
			continue;
		if (strcmp(SPI_getvalue(tuple, SPI_tuptable->tupdesc, 2), PROVIDER) == 0)
			(void) read_label(label, &roles[column - 1]);
		else if (is_word(label, "quasi identifier") || is_word(label, "indirect identifier"))
			roles[column - 1].quasi_identifier = true;
	}
	return roles;
}

/* A list of names or numbers on its way into the options. */
static Datum
list_of(Datum *values, int n, Oid type)
{
	return PointerGetDatum(
		type == NAMEOID
			? construct_array(values, n, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR)
			: construct_array(values, n, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Options that are given win over labels. */
static Jsonb *
merge_options(Jsonb *options, Datum keep, Datum weights)
{
	Oid types[3] = {JSONBOID, NAMEARRAYOID, FLOAT8ARRAYOID};
	Datum values[3] = {JsonbPGetDatum(options), keep, weights};
	char nulls[4] = "   ";
	int nest = catalog_path_begin();
	bool isnull;
	Jsonb *merged;

	for (int i = 1; i < 3; i++)
		if (values[i] == (Datum) 0)
			nulls[i] = 'n';
	if (SPI_execute_with_args("SELECT jsonb_strip_nulls(jsonb_build_object('keep', $2, 'weights', $3)) || $1",
							  3, types, values, nulls, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not merge options");
	catalog_path_end(nest);
	merged = DatumGetJsonbPCopy(gate_value(0, 1, JSONBOID, &isnull));
	return merged;
}

ArrayType *
labels_read(Oid relid, const Model *model, Jsonb **options)
{
	Relation rel = relation_open(relid, AccessShareLock);
	TupleDesc desc = RelationGetDescr(rel);
	Role *roles = read_roles(relid, desc->natts);
	Datum *qis = palloc(sizeof(Datum) * desc->natts);
	Datum *weights = palloc(sizeof(Datum) * desc->natts);
	Datum *keep = palloc(sizeof(Datum) * desc->natts);
	int nqis = 0, nkeep = 0;
	bool weighted = false;
	ArrayType *names;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		Role *role = &roles[i];

		if (att->attisdropped)
			continue;
		if (role->quasi_identifier)
		{
			weights[nqis] = Float8GetDatum(isnan(role->weight) ? 1 : role->weight);
			weighted = weighted || !isnan(role->weight);
			qis[nqis++] = NameGetDatum(&att->attname);
		}
		if (role->keep || role->sensitive)
			keep[nkeep++] = NameGetDatum(&att->attname);
	}
	if (nqis == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("no column of \"%s\" is labelled as a quasi-identifier", RelationGetRelationName(rel)),
			 errhint("Name the quasi-identifiers, or label them: SECURITY LABEL FOR kanon ON COLUMN "
					 "table.column IS 'quasi-identifier'.")));
	names = DatumGetArrayTypeP(list_of(qis, nqis, NAMEOID));
	*options = merge_options(
		*options, nkeep > 0 && model_takes(model, OPTION_KEEP) ? list_of(keep, nkeep, NAMEOID) : (Datum) 0,
		weighted && model_takes(model, OPTION_WEIGHTS) ? list_of(weights, nqis, FLOAT8OID) : (Datum) 0);
	relation_close(rel, NoLock);
	return names;
}

void
labels_check(const KanonPublication *publication, Oid published)
{
	Relation release = relation_open(published, AccessShareLock);
	TupleDesc desc = RelationGetDescr(release);
	Relation source = relation_open(source_of(publication), AccessShareLock);
	Role *roles = read_roles(RelationGetRelid(source), RelationGetDescr(source)->natts);

	for (int i = 0; i < desc->natts; i++)
	{
		AttrNumber attnum = source_view_column(publication->source, NameStr(TupleDescAttr(desc, i)->attname));

		if (attnum > 0 && attnum <= RelationGetDescr(source)->natts && roles[attnum - 1].identifier)
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
							errmsg("column \"%s\" is labelled as an identifier and cannot be published",
								   NameStr(TupleDescAttr(desc, i)->attname)),
							errhint("Take it out of the publication, or take its label away.")));
	}
	relation_close(source, NoLock);
	relation_close(release, NoLock);
}
