/*
 * appended_release.c: the next batch of a publication that appends, by a run of its own.
 *
 * The rows are copied beside the source under one snapshot; the run reads this copy, and no method knows of it.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/gate.h"
#include "host/settings.h"
#include "publication/appended.h"
#include "rows/target.h"
#include "series/successive.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

/* Rows that a batch has at least, for a k and no other word: smaller ones lose much. */
#define LEAST_CLASSES 10

static int64
least_rows(const Batch *batch)
{
	return batch->options->min_batch > 0 ? batch->options->min_batch : LEAST_CLASSES * batch->publication->k;
}

/* Each statement must see what was committed before it. */
static void
check_isolation(void)
{
	if (IsolationUsesXactSnapshot())
		ereport(
			ERROR,
			(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
			 errmsg("a publication that appends is refreshed under READ COMMITTED alone"),
			 errdetail(
				 "A transaction that keeps its first snapshot does not see rows that were committed since, "
				 "and would leave them behind the mark."),
			 errhint("Refresh it in a transaction of its own.")));
}

static void
fill_batch_request(const Batch *batch, Request *request)
{
	const KanonPublication *publication = batch->publication;
	bool few;

	memset(request, 0, sizeof(*request));
	request->k = publication->k;
	request->published = true;
	request_of_json(request, model_find(publication->model),
					relations_followed(publication->options, publication->relations, publication->owner));
	request->caller = publication->caller;
	request->publication = publication->name;
	request->source = publication->source;
	request->qis = publication->qis;
	refuse_own_names(request->qis, "quasi_identifiers");
	refuse_own_names(request->columns.keep, "keep");
	request->columns.mask_key = publication->mask_key;
	request->linked.held = history_oid(batch->now);
	request->series.appends = true;
	request->series.definition = "";
	request->series.bounds = publication->bounds;
	few = request->guided.known_columns >= 0 || request->guided.combinations != NULL;
	request->series.person = publication->key;
	request->series.key = few ? NULL : publication->key;
}

/* In memory that outlives the run. */
static void
take_run(KanonPublication *publication, Release *release, const Run *run)
{
	MemoryContext context = GetMemoryChunkContext(publication);

	release->relation = run->target->relid;
	release->cost = run->report.cost;
	publication->bounds = run->bounds != NULL ? memcpy(MemoryContextAlloc(context, VARSIZE(run->bounds)),
													   run->bounds, VARSIZE(run->bounds))
											  : NULL;
}

static char *
batch_name(const Batch *batch, const char *what)
{
	List *names = textToQualifiedNameList(cstring_to_text(batch->publication->name));
	char *bare;

	return release_table_name(batch->publication, batch->release, strVal(llast(names)), what, &bare);
}

/* Milliseconds since then, and then is now. */
static double
lap_ms(instr_time *since)
{
	instr_time now, lap;

	INSTR_TIME_SET_CURRENT(now);
	lap = now;
	INSTR_TIME_SUBTRACT(lap, *since);
	*since = now;
	return INSTR_TIME_GET_MILLISEC(lap);
}

/* The run, and all checks of a release.  Its record tells also of the time since then, in which rows were taken. */
static void
run_batch(Batch *batch, instr_time since)
{
	Request request;
	double taken = lap_ms(&since);
	Run *run;

	fill_batch_request(batch, &request);
	request.target = batch_name(batch, "batch");
	request.series.recorded_later = true;
	run = run_request(&request);
	run->record.read_ms += taken;
	take_run(batch->publication, batch->release, run);
	CommandCounterIncrement();
	keep_private(batch->release->relation);
	progress_say("checking", 0, -1);
	release_check(batch->publication, batch->release, run);
	limits_check(run, batch->release, NULL);
	run->record.verify_ms += lap_ms(&run->clock);
	rows_note(batch);
	rows_count(batch);
	history_sql("DROP TABLE %s", batch->now);
	run->record.write_ms += lap_ms(&run->clock);
	run_record_last(run);
	run_end(run);
}

/* ---- rows that fit no class, and may wait ---- */

typedef struct Trial
{
	Batch *batch;
	MemoryContext context;
	Datum *left; /* [n] ids of rows that may wait and were left over */
	int n;
} Trial;

/* Rows that show something are in a class above 0. */
static void
try_batch(void *arg)
{
	Trial *trial = arg;
	Batch *batch = trial->batch;
	Request request;
	Run *run;
	char *placed = batch_name(batch, "placed");
	int16 length;
	bool by_value;
	Oid type = batch->publication->grows ? batch->type : BYTEAOID;

	fill_batch_request(batch, &request);
	request.residual = KANON_RESIDUAL_DROP;
	request.series.key = pstrdup(batch->key);
	/* kept columns are no part of the question */
	request.columns.keep = request.columns.class_column != NULL
							   ? name_list((const char *const *) &request.columns.class_column, 1)
							   : NULL;
	request.columns.mask = NULL;
	request.columns.allow_identifying = request.qis;
	request.series.persons = placed;
	request.count_rows = request.count_rows || request.series.person == NULL;
	request.target = batch_name(batch, "batch");
	run = run_request(&request);
	history_sql("SELECT n." BATCH_ID " FROM %s AS n WHERE coalesce(n." BATCH_SINCE ", " INT64_FORMAT
				") OPERATOR(pg_catalog.>) " INT64_FORMAT
				" AND NOT EXISTS (SELECT 1 FROM %s AS p WHERE p.key" EQ
				"n.%s AND p.class OPERATOR(pg_catalog.>) 0)",
				batch->now, batch->release->number, batch->release->number - batch->options->hold, placed,
				quote_identifier(batch->key));
	trial->n = (int) SPI_processed;
	get_typlenbyval(type, &length, &by_value);
	for (int i = 0; i < trial->n; i++)
	{
		bool isnull;
		Datum value = gate_value(i, 1, type, &isnull);
		MemoryContext old = MemoryContextSwitchTo(trial->context);

		if (i == 0)
			trial->left = palloc(sizeof(Datum) * trial->n);
		trial->left[i] = datumCopy(value, by_value, length);
		MemoryContextSwitchTo(old);
	}
	run_end(run);
}

/* Left over, they wait: the batch is made of the others. */
static void
hold_back(Batch *batch, const Trial *trial)
{
	Oid element = batch->publication->grows ? batch->type : BYTEAOID;
	Oid types[1] = {get_array_type(element)};
	Datum values[1];
	int16 length;
	bool by_value;
	char align;
	int nest;

	get_typlenbyvalalign(element, &length, &by_value, &align);
	values[0] = PointerGetDatum(construct_array(trial->left, trial->n, element, length, by_value, align));
	nest = catalog_path_begin();
	if (gate_write(psprintf("WITH gone AS (DELETE FROM %s WHERE " BATCH_ID " = ANY ($1) RETURNING " BATCH_ID
							", " BATCH_SINCE "), w AS (DELETE FROM %s WHERE " BATCH_ID
							" = ANY ($1)) INSERT INTO %s SELECT " BATCH_ID ", coalesce(" BATCH_SINCE
							", " INT64_FORMAT "), false FROM gone",
							batch->now, relation_name(batch->publication->waiting),
							relation_name(batch->publication->waiting), batch->release->number),
				   1, types, values, NULL, SPI_OK_INSERT) != (uint64) trial->n)
		row_not_written(relation_name(batch->publication->waiting));
	catalog_path_end(nest);
	batch->rows -= trial->n;
}

static void
hold(Batch *batch)
{
	Trial trial = {.batch = batch, .context = CurrentMemoryContext};
	int nest = NewGUCNestLevel();

	/* what there is to notice is said of the batch itself */
	(void) set_config_option("client_min_messages", "warning", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	rehearse(try_batch, &trial);
	AtEOXact_GUC(true, nest);
	if (trial.n > 0)
		hold_back(batch, &trial);
}

/* ---- a batch ---- */

/* Too few rows wait for others: nothing moves. */
static void
make_none(Batch *batch)
{
	if (batch->publication->grows)
		range_forget(batch);
	/* (held back this time alone, they are new again) */
	history_sql("DELETE FROM %s WHERE " BATCH_SINCE EQ INT64_FORMAT " AND NOT " BATCH_LATE,
				relation_name(batch->publication->waiting), batch->release->number);
	history_sql("DROP TABLE %s", batch->now);
	rows_count(batch);
	batch->release->waiting = batch->taken;
	batch->release->status = RELEASE_UNCHANGED;
}

static void
raise_too_few(const Batch *batch)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_CHECK_VIOLATION), errmsg("the source has too few rows for a first batch"),
		 errdetail("It has " INT64_FORMAT " rows%s, a batch has at least " INT64_FORMAT ".", batch->rows,
				   batch->publication->key == NULL ? ""
												   : psprintf(" of " INT64_FORMAT " persons", batch->persons),
				   least_rows(batch)),
		 errhint("Wait for more rows, or lower min_batch.")));
}

static bool
has_too_few(const Batch *batch)
{
	return Min(batch->rows, batch->persons) < least_rows(batch);
}

static int64
persons_of(const Batch *batch)
{
	bool isnull;

	if (batch->publication->key == NULL)
		return batch->rows;
	history_sql("SELECT pg_catalog.count(DISTINCT n.%s) FROM %s AS n",
				quote_identifier(batch->publication->key), batch->now);
	return DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
}

void
appended_make(KanonPublication *publication, Release *release, List *releases)
{
	Request request = {.k = publication->k, .published = true};
	Batch batch = {.publication = publication, .release = release, .options = &request.batches};
	bool first = release_current(releases) == NULL;
	instr_time since;

	INSTR_TIME_SET_CURRENT(since);
	check_isolation();
	appended_trust(publication);
	appended_check(publication);
	request_of_json(&request, model_find(publication->model), publication->options);
	if (publication->anew)
		request.batches.max_batch = 0;
	rows_open(&batch);
	if (publication->grows)
		range_find(&batch);
	rows_take(&batch);
	rows_look_behind(&batch);
	if (!has_too_few(&batch) && request.batches.hold > 0)
	{
		hold(&batch);
		batch.persons = persons_of(&batch);
	}
	if (has_too_few(&batch) && (first || publication->anew))
		raise_too_few(&batch);
	if (has_too_few(&batch))
	{
		make_none(&batch);
		return;
	}
	run_batch(&batch, since);
	release->more = publication->grows
						? range_is_cut(&batch)
						: request.batches.max_batch > 0 && batch.rows >= request.batches.max_batch;
}
