/*
 * stage.c: rows of a distributed source, set aside for a run.
 *
 * Citus has no snapshot across its workers: two statements of one transaction may see
 * different rows when others write meanwhile.  A run that reads twice, to group and to
 * write, would find other rows than it solved for.  So one statement copies what the
 * run is about, and the run is about that copy.
 */
#include "compat.h"
#include "read/stage.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "host/settings.h"

#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

/* Citus spreads rows by it: random, from the system's own source, on the worker that has the row. */
#define PLACE_COLUMN "kanon_place"

/* Is this Citus's own table of the tables that it distributes?  Names can be anybody's. */
static bool
has_citus(void)
{
	Oid citus = get_extension_oid("citus", true);
	Oid partition = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);

	return OidIsValid(citus) && OidIsValid(partition) &&
		   getExtensionOfObject(RelationRelationId, partition) == citus;
}

/* Itself, below views and in its partitions. */
static bool
is_distributed(Oid relid)
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
		" SELECT 1 FROM reads WHERE relid IN (SELECT logicalrelid FROM pg_catalog.pg_dist_partition)";
	Oid types[1] = {OIDOID};
	Datum values[1] = {ObjectIdGetDatum(relid)};
	int nest = catalog_path_begin();
	bool found;

	if (SPI_execute_with_args(query, 1, types, values, NULL, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not follow what a relation reads");
	found = SPI_processed > 0;
	catalog_path_end(nest);
	return found;
}

/* What is copied, each column once: one may be kept and told apart by. */
static char *
staged_columns(const Source *source, int nkept)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < source->ngrouped + nkept; i++)
	{
		const SourceColumn *column =
			i < source->ngrouped ? &source->qis[i] : &source->kept[i - source->ngrouped];
		bool again = false;

		for (int j = 0; j < i && j < source->ngrouped && !again; j++)
			again = strcmp(source->qis[j].name, column->name) == 0;
		if (!again)
			appendStringInfo(&list, ", %s", column->quoted);
	}
	return list.data;
}

typedef struct Staging
{
	const Source *source;
	char *columns;
	char *name;
	char *bare;
} Staging;

static void
run(const char *sql)
{
	if (gate_execute(sql, false) < 0)
		elog(ERROR, "could not set rows of the source aside");
}

static void
copy_rows(void *arg)
{
	Staging *staging = arg;
	const char *from = staging->source->name;

	run(psprintf("CREATE UNLOGGED TABLE %s AS SELECT pg_catalog.gen_random_uuid() AS " PLACE_COLUMN
				 "%s FROM %s WITH NO DATA",
				 staging->name, staging->columns, from));
	run(psprintf("SELECT pg_catalog.create_distributed_table(%s::pg_catalog.regclass, '" PLACE_COLUMN
				 "', colocate_with => 'none')",
				 quote_literal_cstr(staging->name)));
	run(psprintf("INSERT INTO %s SELECT pg_catalog.gen_random_uuid()%s FROM %s", staging->name,
				 staging->columns, from));
}

void
source_stage(Source *source, int nkept, const char *schema)
{
	Staging staging = {.source = source};
	ErrorData *error;
	uint64 random;

	if (kanon_distribute == DISTRIBUTE_OFF || !has_citus() || !is_distributed(source->relid))
		return;
	if (!pg_strong_random(&random, sizeof(random)))
		elog(ERROR, "could not generate a random name");
	staging.bare = psprintf("kanon_staging_" UINT64_FORMAT, random);
	staging.name = quote_qualified_identifier(schema, staging.bare);
	staging.columns = staged_columns(source, nkept);
	error = attempt(copy_rows, &staging);
	if (error != NULL)
	{
		ereport(
			NOTICE,
			(errmsg("the rows of %s cannot be set aside on the workers: each is read twice", source->name),
			 errdetail("Trying that ended with SQLSTATE %s.", unpack_sql_state(error->sqlerrcode)),
			 errhint(
				 "When others write meanwhile the run may fail; kanon.distribute = 'off' does not try.")));
		return;
	}
	source->staged_from = source->relid;
	source->staged_name = source->name;
	source->relid = get_relname_relid(staging.bare, get_namespace_oid(schema, false));
	source->name = staging.name;
	CommandCounterIncrement();
	UpdateActiveSnapshotCommandId();
}

void
source_unstage(Source *source)
{
	if (!OidIsValid(source->staged_from))
		return;
	run(psprintf("DROP TABLE %s", source->name));
	source->relid = source->staged_from;
	source->name = source->staged_name;
	source->staged_from = InvalidOid;
}
