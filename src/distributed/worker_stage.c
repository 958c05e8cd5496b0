/*
 * worker_stage.c: rows of a distributed source, set aside for a run.
 *
 * Citus has no snapshot across its workers: two statements of one transaction may see
 * different rows when others write meanwhile.  A run that reads twice, to group and to
 * write, would find other rows than it solved for.  So one statement copies what the
 * run is about, and the run is about that copy.
 */
#include "compat.h"
#include "distributed/distributed.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "distributed/citus.h"
#include "host/gate.h"
#include "host/border.h"
#include "host/settings.h"
#include "host/lines.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/*
 * The columns that are copied, each once: one may be kept and told apart by; of packed rows what
 * is kept alone.
 */
static char *
staged_columns(const Source *source, int nkept, bool pack)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = pack ? source->ngrouped : 0; i < source->ngrouped + nkept; i++)
	{
		const SourceColumn *column =
			i < source->ngrouped ? &source->qis[i] : &source->kept[i - source->ngrouped];
		bool again = false;

		for (int j = 0; j < i && j < source->ngrouped && !again && !pack; j++)
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
	const char *schema;
	bool pack;
} Staging;

static void
run(const char *sql)
{
	(void) gate_execute(sql, false, 0);
}

/*
 * Shard and place of a row are random, from the system's own source, on the worker that has it; neither
 * tells anything of the other.  Where workers have nothing of kanon both are hashes of
 * a uuid, whose making takes a call of the system for each row.
 */
static void
append_places(StringInfo sql, const Staging *staging)
{
	const char *functions = staging->source->functions;

	if (functions != NULL)
		appendStringInfo(
			sql, "(%s.kanon_place() OPERATOR(pg_catalog.>>) 32)::pg_catalog.int4 AS " SHARD_COLUMN ", ",
			functions);
	if (staging->pack)
		appendStringInfo(sql, "%s AS " PACKED_COLUMN, packing(staging->source));
	else if (functions != NULL)
		appendStringInfo(sql, "%s.kanon_place() AS " PLACE_COLUMN, functions);
	else
		appendStringInfo(sql,
						 "pg_catalog.uuid_hash(u) AS " SHARD_COLUMN
						 ", pg_catalog.uuid_hash_extended(u, '" INT64_FORMAT
						 "'::pg_catalog.int8) AS " PLACE_COLUMN,
						 (int64) random_number());
}

/* The functions are volatile, so that each is called once a row, and where the rows are. */
static void
copy_rows(void *arg)
{
	Staging *staging = arg;
	const char *from = staging->source->name;
	StringInfoData sql;

	run(psprintf(
		"CREATE UNLOGGED TABLE %s USING heap WITH (parallel_workers = 0) AS SELECT 0::pg_catalog.int4"
		" AS " SHARD_COLUMN ", %s%s FROM %s WITH NO DATA",
		staging->name,
		staging->pack ? "NULL::pg_catalog.bytea AS " PACKED_COLUMN : "0::pg_catalog.int8 AS " PLACE_COLUMN,
		staging->columns, from));
	citus_distribute(staging->name, SHARD_COLUMN, NULL);
	if (staging->pack)
		staging->source->staged_seed_sql = citus_send_number(staging->schema, staging->source->staged_seed);
	initStringInfo(&sql);
	appendStringInfo(&sql, "INSERT INTO %s SELECT " SHARD_COLUMN ", %s%s FROM (SELECT ", staging->name,
					 staging->pack ? PACKED_COLUMN : PLACE_COLUMN, staging->columns);
	append_places(&sql, staging);
	if (staging->source->functions != NULL)
		appendStringInfo(&sql, "%s FROM %s) AS s", staging->columns, from);
	else
		appendStringInfo(&sql, "%s FROM (SELECT pg_catalog.gen_random_uuid() AS u%s FROM %s) AS r) AS s",
						 staging->columns, staging->columns, from);
	run(sql.data);
	staging->source->staged_rows = (int64) SPI_processed;
}

void
source_stage(Source *source, int nkept, const char *schema, bool kanon, bool pack)
{
	Staging staging = {.source = source, .schema = schema};
	ErrorData *error = NULL;

	if (kanon_distribute == DISTRIBUTE_OFF || !citus_reads(source->relid))
		return;
	citus_read_text();
	staging.bare = psprintf("kanon_staging_" UINT64_FORMAT, random_number());
	staging.name = quote_qualified_identifier(schema, staging.bare);
	staging.pack = pack && kanon && packable(source->qis, source->ngrouped);
	staging.columns = staged_columns(source, nkept, staging.pack);
	source->staged_seed = (int64) random_number();
	source->functions = kanon ? INTERNAL_SCHEMA : NULL;
	error = attempt(copy_rows, &staging);
	raise_unless_refused(error);
	if (error != NULL)
	{
		source->functions = NULL;
		ereport(
			NOTICE,
			(errmsg("the rows of %s cannot be set aside on the workers: this server reads and writes them",
					source->name),
			 errdetail("Trying that ended with SQLSTATE %s.", unpack_sql_state(error->sqlerrcode)),
			 errhint("SET kanon.distribute = 'off' does so without trying.")));
		return;
	}
	source->staged_packed = staging.pack;
	source->staged_from = source->relid;
	source->staged_name = source->name;
	source->relid = get_relname_relid(staging.bare, get_namespace_oid(schema, false));
	source->name = staging.name;
	CommandCounterIncrement();
	gate_see_written();
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
	source->staged_packed = false;
}

/* ---- Values of kept columns as workers tell them: by hashes, and of all that there are a fair sample ---- */

PG_FUNCTION_INFO_V1(kanon_sampled);

/* Numbers whose hashes are remembered of a column: some are frequent. */
#define RECENT 128

typedef struct Recent
{
	bool known;
	Datum value;
	uint64 hash;
} Recent;

struct Sampled
{
	FmgrInfo output;
	Recent *recent; /* [RECENT] where values are numbers, or NULL */
};

Sampled *
sampled_create(TupleDesc desc)
{
	Sampled *columns = palloc0(sizeof(Sampled) * Max(desc->natts, 1));

	for (int c = 0; c < desc->natts; c++)
	{
		Oid function;
		bool varlena;

		getTypeOutputInfo(TupleDescAttr(desc, c)->atttypid, &function, &varlena);
		fmgr_info(function, &columns[c].output);
		if (TupleDescAttr(desc, c)->attbyval)
			columns[c].recent = palloc0(sizeof(Recent) * RECENT);
	}
	return columns;
}

/* As hashtextextended has it of the text, in the collation "C". */
static uint64
text_hash(FmgrInfo *output, Datum value)
{
	const char *text;

	if (output->fn_oid == F_TEXTOUT || output->fn_oid == F_VARCHAROUT || output->fn_oid == F_BPCHAROUT)
	{
		struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);

		return DatumGetUInt64(hash_any_extended((const unsigned char *) VARDATA_ANY(packed),
												(int) VARSIZE_ANY_EXHDR(packed), 0));
	}
	text = OutputFunctionCall(output, value);
	return DatumGetUInt64(hash_any_extended((const unsigned char *) text, (int) strlen(text), 0));
}

static inline uint64
sampled_hash(Sampled *column, Datum value)
{
	Recent *recent;

	if (column->recent == NULL)
		return text_hash(&column->output, value);
	recent = &column->recent[value % RECENT];
	if (!recent->known || recent->value != value)
		*recent = (Recent){.known = true, .value = value, .hash = text_hash(&column->output, value)};
	return recent->hash;
}

bool
sampled_has(Sampled *columns, int c, Datum value, uint32 forgotten, uint32 *hash)
{
	uint64 all = sampled_hash(&columns[c], value);

	*hash = (uint32) (all >> 32);
	return (all & forgotten) == 0;
}

void
sampled_put(StringInfo out, int c, uint32 hash)
{
	if (out->data == NULL)
		pq_begintypsend(out);
	pq_sendint16(out, (uint16) c);
	pq_sendint32(out, hash);
}

static void *
prepare(const RowArgument *row)
{
	return sampled_create(row->desc);
}

/* The values of a row whose hash has none of these bits; NULL when there are none. */
Datum
kanon_sampled(PG_FUNCTION_ARGS)
{
	HeapTupleHeader header;
	RowArgument *row;
	uint32 forgotten, hash;
	StringInfoData out = {0};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	forgotten = (uint32) PG_GETARG_INT32(0);
	header = PG_GETARG_HEAPTUPLEHEADER(1);
	row = row_argument(fcinfo->flinfo, header, prepare);
	row_deform(row, header);
	for (int c = 0; c < row->desc->natts; c++)
		if (!row->nulls[c] && sampled_has(row->prepared, c, row->values[c], forgotten, &hash))
			sampled_put(&out, c, hash);
	if (out.data == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(pq_endtypsend(&out));
}
