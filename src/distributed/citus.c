/*
 * citus.c: tables that Citus has distributed over other servers.
 */
#include "compat.h"
#include "distributed/citus.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "host/border.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* Is this Citus's own table of the tables that it distributes?  Names can be anybody's. */
static bool
has_citus(void)
{
	Oid citus = get_extension_oid("citus", true);
	Oid partition = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);

	return OidIsValid(citus) && OidIsValid(partition) &&
		   getExtensionOfObject(RelationRelationId, partition) == citus;
}

/* The first row of a query about one object, as a character; '\0': there is none. */
static char
ask(const char *query, Oid object)
{
	Oid types[1] = {OIDOID};
	Datum values[1] = {ObjectIdGetDatum(object)};
	int nest = catalog_path_begin();
	char answer = '\0';

	/* not read only: what this run has distributed itself counts */
	if (gate_ask(query, 1, types, values, NULL, false, 1) > 0)
	{
		bool isnull;
		Datum datum = gate_value(0, 1, CHAROID, &isnull);

		answer = isnull ? '\0' : DatumGetChar(datum);
	}
	catalog_path_end(nest);
	return answer;
}

TableKind
citus_kind(Oid relid)
{
	if (!has_citus())
		return TABLE_LOCAL;
	switch (ask("SELECT CASE WHEN partmethod <> 'n' THEN 'd' WHEN repmodel = 't' THEN 'r' END::\"char\""
				" FROM pg_catalog.pg_dist_partition WHERE logicalrelid = $1",
				relid))
	{
		case 'd':
			return TABLE_DISTRIBUTED;
		case 'r':
			return TABLE_REFERENCE;
		default:
			return TABLE_LOCAL;
	}
}

bool
citus_reads(Oid relid)
{
	static const char *query =
		"WITH RECURSIVE reads(relid) AS ("
		"  SELECT $1"
		" UNION"
		"  SELECT next.relid FROM reads, LATERAL ("
		"    SELECT d.refobjid AS relid FROM pg_catalog.pg_rewrite w JOIN pg_catalog.pg_depend d"
		"      ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid"
		"     AND d.refclassid = 'pg_catalog.pg_class'::regclass"
		"     WHERE w.ev_class = reads.relid"
		"    UNION ALL"
		"    SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = reads.relid) AS next)"
		" SELECT 'd'::\"char\" FROM reads"
		" WHERE relid IN (SELECT logicalrelid FROM pg_catalog.pg_dist_partition)";

	return has_citus() && ask(query, relid) == 'd';
}

void
citus_read_text(void)
{
	if (pg_get_client_encoding() != GetDatabaseEncoding())
		(void) set_config_option("citus.enable_binary_protocol", "off", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_LOCAL, true, 0, false);
}

bool
citus_workers_have(Oid extension)
{
	return has_citus() && OidIsValid(get_relname_relid("pg_dist_object", PG_CATALOG_NAMESPACE)) &&
		   ask("SELECT 'd'::\"char\" FROM pg_catalog.pg_dist_object"
			   " WHERE classid = 'pg_catalog.pg_extension'::regclass AND objid = $1",
			   extension) == 'd';
}

/* Citus tells what it does with rows that are there. */
static void
run_silently(const char *sql)
{
	int nest = NewGUCNestLevel();

	(void) set_config_option("client_min_messages", "warning", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	(void) gate_execute(sql, false, 0);
	AtEOXact_GUC(true, nest);
}

/* Its rows are still stored here, where nobody sees them. */
static void
forget_rows(const char *name)
{
	run_silently(
		psprintf("SELECT pg_catalog.truncate_local_data_after_distributing_table(%s::pg_catalog.regclass)",
				 quote_literal_cstr(name)));
}

void
citus_distribute(const char *name, const char *column, const char *like)
{
	run_silently(psprintf("SELECT pg_catalog.create_distributed_table(%s::pg_catalog.regclass, %s,"
						  " colocate_with => %s)",
						  quote_literal_cstr(name), quote_literal_cstr(column),
						  quote_literal_cstr(like != NULL ? like : "none")));
	forget_rows(name);
}

void
citus_copy_everywhere(const char *name)
{
	run_silently(psprintf("SELECT pg_catalog.create_reference_table(%s::pg_catalog.regclass)",
						  quote_literal_cstr(name)));
	forget_rows(name);
}

/* On the servers that are workers, and on this one, which may have shards as well. */
void
citus_broadcast(const char *result, const char *query)
{
	static const char *const functions[] = {"broadcast", "create"};

	for (size_t i = 0; i < lengthof(functions); i++)
		(void) gate_execute(psprintf("SELECT pg_catalog.%s_intermediate_result(%s, %s)", functions[i],
									 quote_literal_cstr(result), quote_literal_cstr(query)),
							false, SPI_OK_SELECT);
}

/* Without a statement, whose parameters auto_explain tells where it explains nested ones. */
static void
insert_numbers(const char *schema, const char *name, const int64 *numbers, int n)
{
	Size size = ARR_OVERHEAD_NONULLS(1) + sizeof(int64) * (Size) n;
	ArrayType *array = palloc0(size);
	Relation rel = table_open(get_relname_relid(name, get_namespace_oid(schema, false)), RowExclusiveLock);
	TupleDesc desc = RelationGetDescr(rel);
	TupleTableSlot *slot;

	if (rel->rd_rel->relkind != RELKIND_RELATION || rel->rd_rel->relhasindex || rel->rd_rel->relhastriggers ||
		rel->rd_rel->relhasrules || desc->constr != NULL || desc->natts != 1 ||
		TupleDescAttr(desc, 0)->atttypid != INT8ARRAYOID)
		elog(ERROR, "what is sent to workers is in another table than it should be");
	SET_VARSIZE(array, size);
	array->ndim = 1;
	array->elemtype = INT8OID;
	ARR_DIMS(array)[0] = n;
	ARR_LBOUND(array)[0] = 1;
	memcpy(ARR_DATA_PTR(array), numbers, sizeof(int64) * (Size) n);
	slot = table_slot_create(rel, NULL);
	ExecClearTuple(slot);
	slot->tts_values[0] = PointerGetDatum(array);
	slot->tts_isnull[0] = false;
	ExecStoreVirtualTuple(slot);
	table_tuple_insert(rel, slot, GetCurrentCommandId(true), 0, NULL);
	ExecDropSingleTupleTableSlot(slot);
	table_close(rel, NoLock);
	pfree(array);
	CommandCounterIncrement();
}

/* "what" of them: an expression of "numbers", the array */
static char *
send_numbers(const char *schema, const int64 *numbers, int n, const char *what)
{
	char *bare, *name;

	bare = psprintf("kanon_numbers_" UINT64_FORMAT, random_number());
	name = quote_qualified_identifier(schema, bare);
	run_silently(psprintf("CREATE UNLOGGED TABLE %s (numbers pg_catalog.int8[])", name));
	insert_numbers(schema, bare, numbers, n);
	citus_broadcast(bare, psprintf("SELECT numbers, " CITUS_TEXT_COLUMN " FROM %s", name));
	run_silently(psprintf("DROP TABLE %s", name));
	return psprintf("(SELECT %s FROM pg_catalog.read_intermediate_result(%s,"
					" 'text'::pg_catalog.citus_copy_format)"
					" AS f(numbers pg_catalog.int8[], format pg_catalog.pg_am))",
					what, quote_literal_cstr(bare));
}

char *
citus_send_numbers(const char *schema, const int64 *numbers, int n)
{
	return send_numbers(schema, numbers, n, "numbers");
}

char *
citus_send_number(const char *schema, int64 number)
{
	return send_numbers(schema, &number, 1, "numbers[1]");
}
