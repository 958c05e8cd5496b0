/*
 * publication_rows.c: rows of a publication's own tables, and whose a relation is.
 *
 * They are read row by row without a query, so that nothing of their makers is
 * executed; they are written by plain statements in the name of their owner, who may
 * have done with them as with any table.
 */
#include <math.h>

#include "compat.h"
#include "host/attempt.h"
#include "host/gate.h"
#include "host/catalog.h"
#include "publication/publication_rows.h"
#include "rows/target.h"
#include "rows/source.h"
#include "publication/publication.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* ---- who ---- */

bool
owned_by_caller(Oid owner, Oid view)
{
	return has_privs_of_role(GetUserId(), owner);
}

/* Asked of the catalog alone: nothing of a stranger's is locked to find out that it is. */
bool
relation_is_own(Oid relid, Oid owner, char relkind)
{
	HeapTuple tuple = OidIsValid(relid) ? SearchSysCache1(RELOID, ObjectIdGetDatum(relid)) : NULL;
	bool own = false;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		own = form->relowner == owner && form->relkind == relkind &&
			  form->relpersistence != RELPERSISTENCE_TEMP;
		ReleaseSysCache(tuple);
	}
	return own;
}

bool
publication_owns(const KanonPublication *publication, Oid relid, char relkind)
{
	return relation_is_own(relid, publication->owner, relkind);
}

/* ---- rows of a table, without a query ---- */

bool
rows_visit(Oid relid, Oid owner, long *patience, bool (*visit)(const Row *row, void *arg), void *arg)
{
	Row row;
	Relation rel;
	Snapshot snapshot;
	SysScanDesc scan;
	MemoryContext context, old;

	if (!relation_is_own(relid, owner, RELKIND_RELATION))
		return false;
	if (!lock_patiently(relid, AccessShareLock, patience))
	{
		ereport(WARNING, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
						  errmsg("publications in %s are left out: another session has locked it",
								 name_relation(relid)),
						  errhint("Ask again when that session is done.")));
		return false;
	}
	/* it may have become somebody else's before it was locked */
	if (!relation_is_own(relid, owner, RELKIND_RELATION))
	{
		UnlockRelationOid(relid, AccessShareLock);
		return false;
	}
	rel = table_open(relid, NoLock);
	row.desc = RelationGetDescr(rel);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	scan = systable_beginscan(rel, InvalidOid, false, snapshot, 0, NULL);
	context = AllocSetContextCreate(CurrentMemoryContext, "kanon publication", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	while (HeapTupleIsValid(row.tuple = systable_getnext(scan)) && visit(&row, arg))
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	table_close(rel, AccessShareLock);
	return true;
}

/* A column by name; NULL when it is not there, or of another type. */
Datum
row_value(const Row *row, const char *name, Oid type, bool *isnull)
{
	int attnum = SPI_fnumber(row->desc, name);

	*isnull = true;
	if (attnum <= 0 || getBaseType(TupleDescAttr(row->desc, attnum - 1)->atttypid) != type)
		return (Datum) 0;
	return heap_getattr(row->tuple, attnum, row->desc, isnull);
}

int64
row_int8(const Row *row, const char *name)
{
	bool isnull;
	Datum value = row_value(row, name, INT8OID, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

char *
row_text(const Row *row, const char *name)
{
	bool isnull;
	Datum value = row_value(row, name, TEXTOID, &isnull);

	return isnull ? NULL : TextDatumGetCString(value);
}

bool
row_bool(const Row *row, const char *name)
{
	bool isnull;
	Datum value = row_value(row, name, BOOLOID, &isnull);

	return !isnull && DatumGetBool(value);
}

/* InvalidOid for NULL, and for what is gone. */
Oid
row_relation(const Row *row, const char *name)
{
	bool isnull;
	Datum value = row_value(row, name, REGCLASSOID, &isnull);

	if (isnull || !SearchSysCacheExists1(RELOID, value))
		return InvalidOid;
	return DatumGetObjectId(value);
}

/* A relation that is gone keeps its place, as InvalidOid. */
List *
row_relations(const Row *row, const char *name)
{
	bool isnull;
	Datum value = row_value(row, name, REGCLASSARRAYOID, &isnull);
	List *relids = NIL;
	Datum *values;
	bool *nulls;
	int n;

	if (isnull)
		return NIL;
	deconstruct_array(DatumGetArrayTypeP(value), REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT, &values,
					  &nulls, &n);
	for (int i = 0; i < n; i++)
		relids = lappend_oid(relids, nulls[i] || !SearchSysCacheExists1(RELOID, values[i])
										 ? InvalidOid
										 : DatumGetObjectId(values[i]));
	return relids;
}

TimestampTz
row_time(const Row *row, const char *name)
{
	bool isnull;
	Datum value = row_value(row, name, TIMESTAMPTZOID, &isnull);

	return isnull ? 0 : DatumGetTimestampTz(value);
}

/* ---- writing ---- */

void
parameter(Parameters *parameters, Oid type, Datum value, bool isnull)
{
	parameters->types[parameters->n] = type;
	parameters->values[parameters->n] = value;
	parameters->nulls[parameters->n++] = isnull ? 'n' : ' ';
}

void
parameter_text(Parameters *parameters, const char *value)
{
	parameter(parameters, TEXTOID, value == NULL ? (Datum) 0 : CStringGetTextDatum(value), value == NULL);
}

void
parameter_relation(Parameters *parameters, Oid relid)
{
	parameter(parameters, REGCLASSOID, ObjectIdGetDatum(relid), !OidIsValid(relid));
}

void
parameter_relations(Parameters *parameters, List *relids)
{
	Datum *values = palloc(sizeof(Datum) * Max(list_length(relids), 1));
	int n = 0;
	ListCell *lc;

	foreach (lc, relids)
		values[n++] = ObjectIdGetDatum(lfirst_oid(lc));
	parameter(parameters, REGCLASSARRAYOID,
			  PointerGetDatum(construct_array(values, n, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT)),
			  n == 0);
}

void
row_not_written(const char *name)
{
	/* (the publication is read as it is now, its row as the snapshot has it) */
	if (IsolationUsesXactSnapshot())
		ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						errmsg("the publication was changed after this transaction took its snapshot"),
						errdetail("Table %s has rows that the snapshot does not see.", name),
						errhint("Repeat the transaction, or begin it with READ COMMITTED.")));
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("table %s of the publication does not keep the rows that are written to it", name),
					errhint("It was changed by hand, or has rules, triggers or policies: take these away.")));
}

void
rows_identify(Oid relid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	char identity = HeapTupleIsValid(tuple) ? ((Form_pg_class) GETSTRUCT(tuple))->relreplident : '\0';

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (identity == REPLICA_IDENTITY_DEFAULT || identity == REPLICA_IDENTITY_NOTHING)
		run_utility(psprintf("ALTER TABLE %s REPLICA IDENTITY FULL", name_relation(relid)));
}

void
row_write(const char *query, Oid relid, Parameters *parameters, int expected)
{
	char *name = relation_name(relid);
	int nest;

	if (name == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("the history of the publication is gone"),
						errhint("See remedy of kanon_publication_status.")));
	relation_trust_written(relid);
	nest = catalog_path_begin();
	if (gate_write(psprintf(query, name), parameters->n, parameters->types, parameters->values,
				   parameters->nulls, expected) != 1)
		row_not_written(name);
	catalog_path_end(nest);
}

/*
 * ---- The quasi-identifiers and options of a publication, from labels of its
 * source's columns.
 */

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
