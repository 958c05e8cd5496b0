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
#include "host/citus.h"
#include "host/gate.h"
#include "host/settings.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

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
	Source *source;
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

/* The place is random, from the system's own source, on the worker that has the row. */
static void
copy_rows(void *arg)
{
	Staging *staging = arg;
	const char *from = staging->source->name;

	run(psprintf("CREATE UNLOGGED TABLE %s AS SELECT 0::pg_catalog.int4 AS " SHARD_COLUMN
				 ", pg_catalog.gen_random_uuid() AS " PLACE_COLUMN "%s FROM %s WITH NO DATA",
				 staging->name, staging->columns, from));
	citus_distribute(staging->name, SHARD_COLUMN, NULL);
	run(psprintf("INSERT INTO %s SELECT pg_catalog.uuid_hash(" PLACE_COLUMN "), " PLACE_COLUMN
				 "%s FROM (SELECT pg_catalog.gen_random_uuid() AS " PLACE_COLUMN "%s FROM %s) AS s",
				 staging->name, staging->columns, staging->columns, from));
	staging->source->staged_rows = (int64) SPI_processed;
}

void
source_stage(Source *source, int nkept, const char *schema)
{
	Staging staging = {.source = source};
	ErrorData *error;
	uint64 random;

	if (kanon_distribute == DISTRIBUTE_OFF || !citus_reads(source->relid))
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
			(errmsg("the rows of %s cannot be set aside on the workers: this server reads and writes them",
					source->name),
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
