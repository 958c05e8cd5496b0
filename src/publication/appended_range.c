/*
 * appended_range.c: the range of keys of a batch, into which nobody can commit any more.
 *
 * A range ends with the greatest key that is there.  A writer who drew a smaller one may not have committed yet: kanon
 * waits for all who have locked a table of the source to write into it.  Only rows that are read after that are the
 * batch's.  (So does pg_incremental, for sequences.)  A writer who locks later draws a greater key from the sequence.
 * By time a transaction may write the moment at which it began, long before it locks anything: there a range ends
 * before the oldest transaction that is under way began, and a lag behind now.
 */
#include "compat.h"
#include "host/border.h"
#include "host/gate.h"
#include "host/settings.h"
#include "publication/appended.h"
#include "series/successive.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

/* A transaction's start is told a moment after it was taken. */
#define LEAST_LAG USECS_PER_SEC

/* When the oldest transaction of this database began that may write. */
static TimestampTz
oldest_start(void)
{
	TimestampTz oldest = GetCurrentTimestamp();

	pgstat_clear_backend_activity_snapshot();
	for (int i = 1; i <= pgstat_fetch_stat_numbackends(); i++)
	{
		const PgBackendStatus *backend = kanon_backend(i);

		if (backend != NULL && backend->st_procpid != 0 && backend->st_databaseid == MyDatabaseId &&
			backend->st_backendType != B_AUTOVAC_WORKER && backend->st_backendType != B_WAL_SENDER &&
			backend->st_xact_start_timestamp != 0)
			oldest = Min(oldest, backend->st_xact_start_timestamp);
	}
	return oldest;
}

/* A uuid of version 7 that is not greater than any of that moment. */
static Datum
uuid_of(TimestampTz time)
{
	pg_uuid_t *uuid = palloc0(sizeof(pg_uuid_t));
	int64 milliseconds =
		time / 1000 + (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000;

	for (int i = 0; i < 6; i++)
		uuid->data[i] = (unsigned char) (milliseconds >> (40 - 8 * i));
	return UUIDPGetDatum(uuid);
}

/* The limit that a key must be less than; false: any number will do. */
static bool
key_limit(const Batch *batch, Datum *limit)
{
	Interval *lag = batch->options->lag;
	TimestampTz end = oldest_start();
	Datum least = TimestampTzGetDatum(GetCurrentTimestamp() - LEAST_LAG);
	Datum time;

	if (lag != NULL)
		least = DirectFunctionCall2(timestamptz_mi_interval, TimestampTzGetDatum(GetCurrentTimestamp()),
									IntervalPGetDatum(lag));
	end = Min(end - LEAST_LAG, DatumGetTimestampTz(least));
	time = TimestampTzGetDatum(end);
	switch (batch->type)
	{
		case TIMESTAMPTZOID:
			*limit = time;
			return true;
		case TIMESTAMPOID:
			*limit = DirectFunctionCall1(timestamptz_timestamp, time);
			return true;
		case DATEOID:
			*limit = DirectFunctionCall1(timestamptz_date, time);
			return true;
		case UUIDOID:
			*limit = uuid_of(end);
			return true;
		case NUMERICOID:
			*limit = DirectFunctionCall3(numeric_in, CStringGetDatum("Infinity"),
										 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
			break;
		default:
			*limit = (Datum) 0;
	}
	if (lag != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a lag is for keys that are times, and \"%s\" is a number", batch->key),
			 errhint("kanon waits for writers who have drawn a number and not committed: leave lag out.")));
	return batch->type == NUMERICOID;
}

char *
range_condition(const Batch *batch, const char *column, int64 after, int64 until)
{
	const char *marks = relation_name(batch->publication->marks);
	char *low = after == 0 ? ""
						   : psprintf("%s OPERATOR(pg_catalog.>) (SELECT m." BATCH_MARK
									  " FROM %s AS m WHERE m." BATCH_RELEASE EQ INT64_FORMAT ") AND ",
									  column, marks, after);

	return psprintf("%s%s OPERATOR(pg_catalog.<=) (SELECT m." BATCH_MARK
					" FROM %s AS m WHERE m." BATCH_RELEASE EQ INT64_FORMAT ")",
					low, column, marks, until);
}

/* ---- writers ---- */

static const char *const tables_below =
	"WITH RECURSIVE reads(relid) AS ("
	"  SELECT $1"
	" UNION"
	"  SELECT next.relid FROM reads, LATERAL ("
	"    SELECT d.refobjid AS relid FROM pg_rewrite w JOIN pg_depend d"
	"      ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid"
	"     AND d.refclassid = 'pg_class'::regclass"
	"     WHERE w.ev_class = reads.relid"
	"    UNION ALL"
	"    SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = reads.relid) AS next)"
	" SELECT c.oid, c.relkind = 'f' FROM reads JOIN pg_class c ON c.oid = reads.relid WHERE c.relkind IN ('r', 'p', 'f', 'm')";

/* Each of them has locked one of these tables to write into it, and has not committed. */
static void
wait_for_writers(const Batch *batch)
{
	Oid type = OIDOID;
	Datum value = ObjectIdGetDatum(batch->source->relid);
	int nest = catalog_path_begin();
	uint64 n = gate_ask(tables_below, 1, &type, &value, NULL, true, 0);
	List *tags = NIL;

	catalog_path_end(nest);
	for (uint64 i = 0; i < n; i++)
	{
		LOCKTAG *tag = palloc(sizeof(LOCKTAG));
		bool isnull;

		if (DatumGetBool(gate_value(i, 2, BOOLOID, &isnull)))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("the source reads a foreign table, whose writers are not seen here"),
					 errhint("Say {\"any_key\": true} in options: which rows were shown is noted then.")));
		SET_LOCKTAG_RELATION(*tag, MyDatabaseId, DatumGetObjectId(gate_value(i, 1, OIDOID, &isnull)));
		tags = lappend(tags, tag);
	}
	progress_say("waiting for writers", 0, -1);
	WaitForLockersMultiple(tags, ShareLock, false);
}

/* ---- marks ---- */

static char *
marks_of(const Batch *batch)
{
	return relation_name(batch->publication->marks);
}

/* The first row of the mark is its limit. */
static void
insert_mark(const Batch *batch)
{
	Parameters p = {0};
	Datum limit;
	bool limited = key_limit(batch, &limit);

	parameter(&p, INT8OID, Int64GetDatum(batch->release->number), false);
	parameter(&p, batch->type, limit, !limited);
	row_write("INSERT INTO %s (" BATCH_RELEASE ", " BATCH_MARK ") VALUES ($1, $2)", batch->publication->marks,
			  &p, SPI_OK_INSERT);
}

/* Sets the mark to a key of the source, or NULL: there is none. */
static void
move_mark(const Batch *batch, const char *to)
{
	history_sql("UPDATE %s AS n SET " BATCH_MARK " = (%s) WHERE n." BATCH_RELEASE EQ INT64_FORMAT,
				marks_of(batch), to, batch->release->number);
}

/* The mark of the batch before; 0: there is none. */
static int64
last_mark(const Batch *batch)
{
	bool isnull;
	Datum value;

	history_sql("SELECT pg_catalog.max(m." BATCH_RELEASE ") FROM %s AS m", marks_of(batch));
	value = gate_value(0, 1, INT8OID, &isnull);
	return isnull ? 0 : DatumGetInt64(value);
}

static bool
has_mark(const Batch *batch)
{
	bool isnull;

	history_sql("SELECT m." BATCH_MARK " IS NOT NULL FROM %s AS m WHERE m." BATCH_RELEASE EQ INT64_FORMAT,
				marks_of(batch), batch->release->number);
	if (SPI_processed != 1)
		row_not_written(marks_of(batch));
	return DatumGetBool(gate_value(0, 1, BOOLOID, &isnull));
}

void
range_forget(const Batch *batch)
{
	history_sql("DELETE FROM %s WHERE " BATCH_RELEASE EQ INT64_FORMAT, marks_of(batch),
				batch->release->number);
}

bool
range_is_cut(const Batch *batch)
{
	bool isnull;

	history_sql("SELECT m." BATCH_MARK " OPERATOR(pg_catalog.<) m." BATCH_UNTIL
				" FROM %s AS m WHERE m." BATCH_RELEASE EQ INT64_FORMAT,
				marks_of(batch), batch->release->number);
	return SPI_processed == 1 && DatumGetBool(gate_value(0, 1, BOOLOID, &isnull));
}

/* At most max_batch rows, but for those of the last key. */
static void
cut(const Batch *batch)
{
	char *column = psprintf("s.%s", quote_identifier(batch->key));

	move_mark(batch, psprintf("coalesce((SELECT %s FROM %s AS s WHERE %s ORDER BY %s OFFSET " INT64_FORMAT
							  " LIMIT 1), n." BATCH_MARK ")",
							  column, batch->source->name,
							  range_condition(batch, column, batch->before, batch->release->number), column,
							  batch->options->max_batch - 1));
}

void
range_find(Batch *batch)
{
	char *column = psprintf("s.%s", quote_identifier(batch->key));
	char *low;

	batch->before = last_mark(batch);
	insert_mark(batch);
	low = batch->before == 0 ? ""
							 : psprintf(" AND %s OPERATOR(pg_catalog.>) (SELECT m." BATCH_MARK
										" FROM %s AS m WHERE m." BATCH_RELEASE EQ INT64_FORMAT ")",
										column, marks_of(batch), batch->before);
	move_mark(
		batch,
		psprintf("coalesce((SELECT %s FROM %s AS s WHERE %s IS NOT NULL%s%s ORDER BY %s DESC LIMIT 1),"
				 " (SELECT m." BATCH_MARK " FROM %s AS m WHERE m." BATCH_RELEASE EQ INT64_FORMAT "))",
				 column, batch->source->name, column,
				 has_mark(batch) ? psprintf(" AND %s OPERATOR(pg_catalog.<) n." BATCH_MARK, column) : "", low,
				 column, marks_of(batch), batch->before));
	wait_for_writers(batch);
	history_sql("UPDATE %s SET " BATCH_UNTIL " = " BATCH_MARK " WHERE " BATCH_RELEASE EQ INT64_FORMAT,
				marks_of(batch), batch->release->number);
	if (batch->options->max_batch > 0)
		cut(batch);
}
