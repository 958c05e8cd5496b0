/*
 * own_tables.c: rows of kanon's own tables, written without a query.
 */
#include "compat.h"
#include "host/catalog.h"
#include "record/record.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

void
record_open(RecordTable *table, Oid schema, const char *name)
{
	Oid relid = get_relname_relid(name, schema);

	/* whoever drops the extension meanwhile can make other tables of these names */
	if (!OidIsValid(relid) ||
		getExtensionOfObject(RelationRelationId, relid) != get_extension_oid("kanon", true))
		ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						errmsg("extension kanon was dropped or replaced while it was in use"),
						errdetail("Its table %s is not there.", name),
						errhint("Run the call again when the extension is there.")));
	table->rel = table_open(relid, RowExclusiveLock);
	table->indexes = CatalogOpenIndexes(table->rel);
	table->row = AllocSetContextCreate(CurrentMemoryContext, "kanon record", ALLOCSET_DEFAULT_SIZES);
	table->values = palloc0(sizeof(Datum) * RelationGetNumberOfAttributes(table->rel));
	table->nulls = palloc(sizeof(bool) * RelationGetNumberOfAttributes(table->rel));
	memset(table->nulls, true, sizeof(bool) * RelationGetNumberOfAttributes(table->rel));
}

void
record_set(RecordTable *table, const char *name, Datum value, bool isnull)
{
	int attnum = SPI_fnumber(RelationGetDescr(table->rel), name);

	if (attnum <= 0)
		elog(ERROR, "column %s of %s is missing", name, RelationGetRelationName(table->rel));
	table->values[attnum - 1] = value;
	table->nulls[attnum - 1] = isnull;
}

void
record_set_text(RecordTable *table, const char *name, const char *value)
{
	record_set(table, name, CStringGetTextDatum(value), false);
}

void
record_set_int8(RecordTable *table, const char *name, int64 value, bool isnull)
{
	record_set(table, name, Int64GetDatum(value), isnull);
}

void
record_set_float8(RecordTable *table, const char *name, double value, bool isnull)
{
	record_set(table, name, Float8GetDatum(value), isnull);
}

void
record_put(RecordTable *table, ItemPointer instead)
{
	HeapTuple tuple = heap_form_tuple(RelationGetDescr(table->rel), table->values, table->nulls);

	if (instead == NULL)
		CatalogTupleInsertWithInfo(table->rel, tuple, table->indexes);
	else
		CatalogTupleUpdateWithInfo(table->rel, instead, tuple, table->indexes);
	heap_freetuple(tuple);
	memset(table->nulls, true, sizeof(bool) * RelationGetNumberOfAttributes(table->rel));
	MemoryContextReset(table->row);
}

void
record_insert(RecordTable *table)
{
	record_put(table, NULL);
}

void
record_close(RecordTable *table)
{
	CatalogCloseIndexes(table->indexes);
	table_close(table->rel, NoLock);
	MemoryContextDelete(table->row);
}

/* ---- whose they are ---- */

static bool
others_write(HeapTuple tuple, int cache, AttrNumber attribute, Oid owner)
{
	bool isnull, found = false;
	Datum datum = SysCacheGetAttr(cache, tuple, attribute, &isnull);
	Acl *acl;
	AclItem *items;

	if (isnull)
		return false;
	acl = DatumGetAclP(datum);
	items = ACL_DAT(acl);
	for (int i = 0; i < ACL_NUM(acl) && !found; i++)
		found = items[i].ai_grantee != owner &&
				(ACLITEM_GET_PRIVS(items[i]) & (ACL_INSERT | ACL_UPDATE | ACL_DELETE | ACL_TRUNCATE)) != 0;
	return found;
}

bool
record_is_open(const RecordTable *table)
{
	Oid relid = RelationGetRelid(table->rel), owner = table->rel->rd_rel->relowner;
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	bool open;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	open = !superuser_arg(owner) || others_write(tuple, RELOID, Anum_pg_class_relacl, owner);
	ReleaseSysCache(tuple);
	for (int i = 1; i <= RelationGetNumberOfAttributes(table->rel) && !open; i++)
	{
		tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid), Int16GetDatum(i));
		if (!HeapTupleIsValid(tuple))
			continue;
		open = others_write(tuple, ATTNUM, Anum_pg_attribute_attacl, owner);
		ReleaseSysCache(tuple);
	}
	return open;
}
