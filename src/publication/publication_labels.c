/*
 * publication_labels.c: the quasi-identifiers and options of a publication, from labels of its
 * source's columns.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/source.h"
#include "publication/publication.h"

#include <math.h>

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

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
	(void) gate_ask("SELECT jsonb_strip_nulls(jsonb_build_object('keep', $2, 'weights', $3)) || $1", 3, types,
					values, nulls, true, 1);
	catalog_path_end(nest);
	merged = DatumGetJsonbPCopy(gate_value(0, 1, JSONBOID, &isnull));
	return merged;
}

ArrayType *
labels_read(Oid relid, const Model *model, Jsonb **options)
{
	Relation rel = relation_open(relid, AccessShareLock);
	TupleDesc desc = RelationGetDescr(rel);
	Datum *qis = palloc(sizeof(Datum) * desc->natts);
	Datum *weights = palloc(sizeof(Datum) * desc->natts);
	Datum *keep = palloc(sizeof(Datum) * desc->natts);
	int nqis = 0, nkeep = 0;
	bool weighted = false;
	ArrayType *names;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		LabelledRole role = label_role(relid, i + 1);

		if (att->attisdropped)
			continue;
		if (role.quasi_identifier)
		{
			weights[nqis] = Float8GetDatum(isnan(role.weight) ? 1 : role.weight);
			weighted = weighted || !isnan(role.weight);
			qis[nqis++] = NameGetDatum(&att->attname);
		}
		if (role.keep || role.sensitive)
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
