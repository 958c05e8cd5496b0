/*
 * appended_rows.c: rows of a publication that appends: which ones are new, wait, were shown or have changed since.
 *
 * A row is known by its key or, where keys need not grow, by a keyed hash of it.  Keys may occur several times: as many
 * rows of one key are known as were shown, and what came later is late.
 */
#include "compat.h"
#include "host/gate.h"
#include "publication/appended.h"
#include "rows/cell_values.h"
#include "rows/target.h"
#include "series/successive.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

/* Late rows are looked for among so many of the rows that were shown last; everywhere, when somebody asks. */
#define LOOK_BACK 100000

static char *
keyed_hash(const KanonPublication *publication, const char *text)
{
	return psprintf("pg_catalog.sha256((SELECT d.mask_key FROM %s AS d) OPERATOR(pg_catalog.||)"
					" pg_catalog.convert_to(%s, 'UTF8'::pg_catalog.name))",
					relation_name(publication->definition), text);
}

void
rows_open(Batch *batch)
{
	KanonPublication *publication = batch->publication;
	AttrNumber attnum;
	char *column;

	batch->key = publication->append;
	batch->source = source_open_all(publication->source);
	attnum = get_attnum(batch->source->relid, batch->key);
	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("the column by which rows are appended is gone"),
				 errhint("Drop the publication by kanon_drop_publication and create it anew.")));
	batch->type = getBaseType(get_atttype(batch->source->relid, attnum));
	column = psprintf("s.%s", quote_identifier(batch->key));
	if (publication->grows && batch->type != get_atttype(publication->shown, 1))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("the column by which rows are appended has another type than before"),
						errhint("Give it back, or drop the publication and create it anew.")));
	batch->typed = publication->grows ? format_type_be_qualified(batch->type) : "pg_catalog.bytea";
	batch->id =
		publication->grows
			? psprintf("CAST(%s AS %s)", column, batch->typed)
			: keyed_hash(publication, text_expression(column, get_atttype(batch->source->relid, attnum)));
	batch->content = keyed_hash(publication, history_text(batch->source->kept, batch->source->nkept, "s"));
	source_lock(batch->source);
}

/* ---- the rows of a batch ---- */

static char *
columns_of(const Batch *batch, const char *of)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < batch->source->nkept; i++)
		appendStringInfo(&list, "%s%s.%s", i > 0 ? ", " : "", of, batch->source->kept[i].quoted);
	return list.data;
}

/* Those behind the last mark. */
static char *
new_rows(const Batch *batch)
{
	char *column = psprintf("s.%s", quote_identifier(batch->key));

	return psprintf("SELECT %s, %s AS " BATCH_ID ", %s AS " BATCH_CONTENT
					", NULL::pg_catalog.int8 AS " BATCH_SINCE " FROM %s AS s WHERE %s",
					columns_of(batch, "s"), batch->id, batch->content, batch->source->name,
					range_condition(batch, column, batch->before, batch->release->number));
}

/* As many rows of each key as wait, at most those that were not shown; such as were not shown first. */
static char *
waiting_rows(const Batch *batch)
{
	const KanonPublication *publication = batch->publication;
	char *shown = relation_name(publication->shown);

	return psprintf(
		"SELECT %s, s." BATCH_ID ", s." BATCH_CONTENT ", s." BATCH_SINCE
		" FROM (SELECT s.*, pg_catalog.row_number() OVER (PARTITION BY s." BATCH_ID
		" ORDER BY s.kanon__was, s." BATCH_CONTENT
		") AS kanon__nth, pg_catalog.count(*) OVER (PARTITION BY s." BATCH_ID
		") OPERATOR(pg_catalog.-) (SELECT pg_catalog.count(*) FROM %s AS h WHERE h." BATCH_ID EQ "s." BATCH_ID
		") AS kanon__excess FROM (SELECT %s, w." BATCH_ID ", w." BATCH_SINCE
		", w.kanon__n, %s AS " BATCH_CONTENT ", EXISTS (SELECT 1 FROM %s AS h WHERE h." BATCH_ID EQ
		"w." BATCH_ID " AND h." BATCH_CONTENT EQ "%s) AS kanon__was FROM (SELECT w." BATCH_ID
		", pg_catalog.min(w." BATCH_SINCE ") AS " BATCH_SINCE
		", pg_catalog.count(*) AS kanon__n FROM %s AS w%s GROUP BY w." BATCH_ID
		") AS w JOIN %s AS s ON s.%s" EQ "w." BATCH_ID
		") AS s) AS s WHERE s.kanon__nth OPERATOR(pg_catalog.<=) least(s.kanon__n, s.kanon__excess)",
		columns_of(batch, "s"), shown, columns_of(batch, "s"), batch->content, shown, batch->content,
		relation_name(publication->waiting), publication->publish_late ? "" : " WHERE NOT w." BATCH_LATE,
		batch->source->name, quote_identifier(batch->key));
}

/* Where keys need not grow: all that were not shown. */
static char *
unknown_rows(const Batch *batch)
{
	const KanonPublication *publication = batch->publication;

	return psprintf(
		"SELECT %s, s." BATCH_ID ", s." BATCH_CONTENT ", w." BATCH_SINCE " FROM (SELECT %s, %s AS " BATCH_ID
		", %s AS " BATCH_CONTENT " FROM %s AS s) AS s LEFT JOIN %s AS w ON w." BATCH_ID EQ "s." BATCH_ID
		" WHERE NOT EXISTS (SELECT 1 FROM %s AS h WHERE h." BATCH_ID EQ "s." BATCH_ID ")%s",
		columns_of(batch, "s"), columns_of(batch, "s"), batch->id, batch->content, batch->source->name,
		relation_name(publication->waiting), relation_name(publication->shown),
		batch->options->max_batch > 0
			? psprintf(" ORDER BY w." BATCH_SINCE ", s." BATCH_ID " LIMIT " INT64_FORMAT,
					   batch->options->max_batch)
			: "");
}

static void
fill(Batch *batch, const char *query, Relation rel)
{
	const Source *source = batch->source;
	BulkWriter *bulk = bulk_begin(rel);
	Gate *gate = gate_create(source->name, source->relid, source->nkept + 3);

	gate_columns(gate, source->kept, source->nkept);
	gate_computed(gate, BATCH_ID, batch->publication->grows ? batch->type : BYTEAOID);
	gate_computed(gate, BATCH_CONTENT, BYTEAOID);
	gate_computed(gate, BATCH_SINCE, INT8OID);
	gate_select(gate, query, false, bulk_receive, bulk);
	batch->rows += bulk_end(bulk);
	CommandCounterIncrement();
}

static int64
count_of(const char *query)
{
	bool isnull;

	history_sql("%s", query);
	return DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
}

pg_noreturn static void
raise_keys_twice(const Batch *batch)
{
	ereport(ERROR, (errcode(ERRCODE_UNIQUE_VIOLATION),
					errmsg("the key column \"%s\" has values that occur twice", batch->key),
					errhint(batch->publication->grows
								? "With hold each row is known by a key of its own: take another column, or "
								  "leave hold out."
								: "Each row is known by a key of its own: take another column.")));
}

/* Nobody can know such rows again. */
static void
check_keys_of_rows(const Batch *batch)
{
	const KanonPublication *publication = batch->publication;
	bool isnull;
	Gate *gate = gate_create(batch->source->name, batch->source->relid, 1);

	gate_computed(gate, "missing", BOOLOID);
	gate_query(
		gate,
		psprintf("SELECT EXISTS (SELECT 1 FROM %s AS s WHERE s.%s IS NOT DISTINCT FROM NULL) AS missing",
				 batch->source->name, quote_identifier(batch->key)),
		false);
	if (DatumGetBool(gate_value(0, 1, BOOLOID, &isnull)))
		raise_null_keys(batch->key);
	if ((publication->grows && batch->options->hold == 0) ||
		count_of(psprintf("SELECT pg_catalog.count(*) FROM (SELECT 1 FROM %s AS n GROUP BY n." BATCH_ID
						  " HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 LIMIT 1) AS g",
						  batch->now)) == 0)
		return;
	raise_keys_twice(batch);
}

static void
check_versions(const Batch *batch)
{
	if (batch->type == UUIDOID && batch->publication->grows &&
		count_of(psprintf("SELECT pg_catalog.count(*) FROM %s AS n WHERE pg_catalog.substr(CAST(n." BATCH_ID
						  " AS pg_catalog.text), 15, 1) OPERATOR(pg_catalog.<>) '7'::pg_catalog.text",
						  batch->now)) > 0)
		ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
						errmsg("the key column \"%s\" has uuids that do not grow", batch->key),
						errhint("Create the publication with {\"any_key\": true} in options.")));
}

void
rows_take(Batch *batch)
{
	const KanonPublication *publication = batch->publication;
	char *bare;
	Relation rel;
	int nest = plain_text_begin();

	batch->now =
		release_table_name(publication, batch->release, get_rel_name(publication->definition), "now", &bare);
	history_sql("CREATE UNLOGGED TABLE %s AS SELECT %s, NULL::%s AS " BATCH_ID
				", NULL::pg_catalog.bytea AS " BATCH_CONTENT ", NULL::pg_catalog.int8 AS " BATCH_SINCE
				" FROM %s AS s WITH NO DATA",
				batch->now, columns_of(batch, "s"), batch->typed, batch->source->name);
	keep_uncounted(history_oid(batch->now));
	rel = table_open(history_oid(batch->now), RowExclusiveLock);
	if (!publication->grows)
		fill(batch, unknown_rows(batch), rel);
	else
	{
		fill(batch, new_rows(batch), rel);
		fill(batch, waiting_rows(batch), rel);
	}
	table_close(rel, NoLock);
	plain_text_end(nest);
	check_keys_of_rows(batch);
	check_versions(batch);
	batch->taken =
		batch->rows -
		count_of(psprintf("SELECT pg_catalog.count(*) FROM %s AS n WHERE EXISTS (SELECT 1 FROM %s AS w"
						  " WHERE w." BATCH_LATE " AND w." BATCH_ID EQ "n." BATCH_ID ")",
						  batch->now, relation_name(publication->waiting)));
	batch->persons = publication->key == NULL
						 ? batch->rows
						 : count_of(psprintf("SELECT pg_catalog.count(DISTINCT n.%s) FROM %s AS n",
											 quote_identifier(publication->key), batch->now));
}

void
rows_note(const Batch *batch)
{
	const KanonPublication *publication = batch->publication;

	history_sql("INSERT INTO %s SELECT n." BATCH_ID ", n." BATCH_CONTENT ", " INT64_FORMAT " FROM %s AS n",
				relation_name(publication->shown), batch->release->number, batch->now);
	if (publication->grows)
		history_sql("UPDATE %s SET " BATCH_ROWS " = " INT64_FORMAT " WHERE " BATCH_RELEASE EQ INT64_FORMAT,
					relation_name(publication->marks), batch->rows, batch->release->number);
	/* (cheaper after the first rows, which are the most) */
	if (publication->grows && batch->before == 0 && !publication->anew)
		run_utility(psprintf("CREATE INDEX ON %s (" BATCH_ID ")", relation_name(publication->shown)));
	history_sql("DELETE FROM %s AS w USING %s AS n WHERE w." BATCH_ID EQ "n." BATCH_ID,
				relation_name(publication->waiting), batch->now);
}

/* ---- rows behind the mark ---- */

/*
 * After which mark late rows are looked for; 0: everywhere.  Behind it are as many of the last batches as have
 * LOOK_BACK rows together, and the last one at least, if it has not more.
 */
static int64
look_back(const Batch *batch)
{
	bool isnull;

	if (batch->publication->recount)
		return 0;
	history_sql("SELECT m." BATCH_RELEASE " FROM (SELECT m." BATCH_RELEASE
				", coalesce(pg_catalog.sum(m." BATCH_ROWS ") OVER (ORDER BY m." BATCH_RELEASE
				" DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0::pg_catalog.numeric) AS newer"
				" FROM (SELECT m." BATCH_RELEASE ", m." BATCH_ROWS " FROM %s AS m WHERE m." BATCH_RELEASE
				" OPERATOR(pg_catalog.<=) " INT64_FORMAT
				" UNION ALL SELECT 0::pg_catalog.int8, 0::pg_catalog.int8) AS m) AS m"
				" WHERE m.newer OPERATOR(pg_catalog.<=) %d::pg_catalog.numeric ORDER BY m." BATCH_RELEASE
				" LIMIT 1",
				relation_name(batch->publication->marks), batch->before, LOOK_BACK);
	return DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
}

/* More rows of a key than were shown and wait have come since: so many more wait as late ones. */
static void
find_late(const Batch *batch)
{
	const KanonPublication *publication = batch->publication;
	int64 after = look_back(batch);
	char *range =
		range_condition(batch, psprintf("s.%s", quote_identifier(batch->key)), after, batch->before);
	char *same = range_condition(batch, "h." BATCH_ID, after, batch->before);

	history_sql(
		"INSERT INTO %s SELECT c.id, " INT64_FORMAT ", true FROM (SELECT s.%s AS id, pg_catalog.count(*) AS n"
		" FROM %s AS s WHERE %s GROUP BY s.%s) AS c LEFT JOIN (SELECT h." BATCH_ID
		" AS id, pg_catalog.sum(h.n) AS n FROM (SELECT h." BATCH_ID
		", pg_catalog.count(*) AS n FROM %s AS h WHERE %s GROUP BY h." BATCH_ID
		" UNION ALL SELECT h." BATCH_ID ", pg_catalog.count(*) FROM %s AS h WHERE %s GROUP BY h." BATCH_ID
		") AS h GROUP BY h." BATCH_ID ") AS k ON k.id" EQ
		"c.id CROSS JOIN LATERAL pg_catalog.generate_series(1, c.n"
		" OPERATOR(pg_catalog.-) coalesce(k.n, 0::pg_catalog.numeric)::pg_catalog.int8)",
		relation_name(publication->waiting), batch->release->number, quote_identifier(batch->key),
		batch->source->name, range, quote_identifier(batch->key), relation_name(publication->shown), same,
		relation_name(publication->waiting), same);
}

/* A row with a key that was shown is never shown itself. */
static void
check_twice(const Batch *batch)
{
	if (count_of(psprintf(
			"SELECT pg_catalog.count(*) FROM (SELECT 1 FROM (SELECT %s AS id FROM %s AS s) AS s GROUP BY s.id"
			" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 LIMIT 1) AS g",
			batch->id, batch->source->name)) > 0)
		raise_keys_twice(batch);
}

/* Rows that were shown and are gone, and rows that have changed since. */
static void
find_changed(const Batch *batch)
{
	const KanonPublication *publication = batch->publication;
	char *shown = relation_name(publication->shown);
	char *range =
		publication->grows
			? psprintf(" WHERE %s", range_condition(batch, psprintf("s.%s", quote_identifier(batch->key)), 0,
													batch->before))
			: "";
	int nest = plain_text_begin();
	bool isnull;

	history_sql(
		"WITH s AS (SELECT %s AS id, %s AS content FROM %s AS s%s),"
		" k AS (SELECT coalesce(a.n, 0::pg_catalog.int8) AS now, b.n AS was"
		"  FROM (SELECT h." BATCH_ID " AS id, pg_catalog.count(*) AS n FROM %s AS h GROUP BY h." BATCH_ID
		") AS b LEFT JOIN (SELECT s.id, pg_catalog.count(*) AS n FROM s GROUP BY s.id) AS a ON a.id" EQ
		"b.id),"
		" c AS (SELECT least(a.n, b.n) AS n FROM (SELECT h." BATCH_ID " AS id, h." BATCH_CONTENT
		" AS content, pg_catalog.count(*) AS n FROM %s AS h GROUP BY h." BATCH_ID ", h." BATCH_CONTENT
		") AS b JOIN (SELECT s.id, s.content, pg_catalog.count(*) AS n FROM s GROUP BY s.id, s.content) AS a ON a.id" EQ
		"b.id AND a.content" EQ "b.content)"
		" SELECT (SELECT coalesce(pg_catalog.sum(least(k.now, k.was)), 0::pg_catalog.numeric) FROM k)::pg_catalog.int8"
		" OPERATOR(pg_catalog.-) (SELECT coalesce(pg_catalog.sum(c.n), 0::pg_catalog.numeric) FROM c)::pg_catalog.int8 AS corrected,"
		" (SELECT coalesce(pg_catalog.sum(greatest(k.was OPERATOR(pg_catalog.-) k.now, 0::pg_catalog.int8)), 0::pg_catalog.numeric) FROM k)::pg_catalog.int8 AS deleted",
		batch->id, batch->content, batch->source->name, range, shown, shown);
	batch->release->corrected = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
	batch->release->deleted = DatumGetInt64(gate_value(0, 2, INT8OID, &isnull));
	batch->release->recounted = GetCurrentTimestamp();
	plain_text_end(nest);
}

/* A row that waited and is gone waits no more. */
static void
forget_gone(const Batch *batch)
{
	const KanonPublication *publication = batch->publication;
	bool all = !publication->grows || publication->recount || publication->publish_late;

	history_sql("DELETE FROM %s AS w WHERE %sNOT EXISTS (SELECT 1 FROM %s AS n WHERE n." BATCH_ID EQ
				"w." BATCH_ID ")%s",
				relation_name(publication->waiting), all ? "" : "NOT w." BATCH_LATE " AND ", batch->now,
				all && publication->grows && !publication->publish_late
					? psprintf(" AND NOT EXISTS (SELECT 1 FROM %s AS s WHERE s.%s" EQ "w." BATCH_ID ")",
							   batch->source->name, quote_identifier(batch->key))
					: "");
}

void
rows_look_behind(const Batch *batch)
{
	forget_gone(batch);
	if (batch->before > 0 && look_back(batch) < batch->before)
		find_late(batch);
	if (batch->publication->recount && !batch->publication->grows)
		check_twice(batch);
	if (batch->publication->recount)
		find_changed(batch);
}

void
rows_count(const Batch *batch)
{
	const char *waiting = relation_name(batch->publication->waiting);

	batch->release->late =
		count_of(psprintf("SELECT pg_catalog.count(*) FROM %s AS w WHERE w." BATCH_LATE, waiting));
	batch->release->waiting =
		count_of(psprintf("SELECT pg_catalog.count(*) FROM %s AS w WHERE NOT w." BATCH_LATE, waiting));
}
