/*
 * linked_release.c: several tables become a release: their runs in their order, the count of what was written, the
 * places that the tables take.
 */
#include "compat.h"
#include "host/gate.h"
#include "host/settings.h"
#include "linked/linked_histories.h"
#include "rows/row_types.h"
#include "rows/verify.h"
#include "run/run.h"
#include "core/util/fault.h"

#include "utils/snapmgr.h"

void
linked_begin(Linked *linked, Oid subject, Jsonb *tables)
{
	linked->border = border_create("kanon_linked");
	linked_schema(linked, subject, tables);
}

/* The tables as they are now, counted by code that did not make them. */
static void
verify(Linked *linked)
{
	Linked written = *linked;
	LinkedFound found;
	int64 expected = 0;
	instr_time since, now;

	INSTR_TIME_SET_CURRENT(since);
	written.tables = palloc(sizeof(LinkedTable) * KANON_MAX_LINKED);
	memcpy(written.tables, linked->tables, sizeof(LinkedTable) * KANON_MAX_LINKED);
	for (int i = 0; i < linked->n; i++)
	{
		const Run *run = linked->tables[i].run;

		written.tables[i].relid = run->target->relid;
		if (linked->tables[i].role == LINKED_ROWS)
			expected += run->types->nrows - run->release.dropped;
	}
	if (FAULT(linked_lost))
		run_utility(psprintf("DELETE FROM %s WHERE ctid OPERATOR(pg_catalog.=) '(0,1)'",
							 linked->tables[1].run->target->building));
	found = linked_recount(&written, linked->border);
	if (found.dangling > 0)
		raise_unsafe(psprintf(INT64_FORMAT " rows belong to nobody.", found.dangling));
	if (found.rows != expected)
		raise_unsafe(psprintf("Persons have " INT64_FORMAT " rows instead of " INT64_FORMAT ".", found.rows,
							  expected));
	if (found.persons > 0 && found.smallest_class < linked->k)
		raise_unsafe(psprintf("A class has " INT64_FORMAT " persons, k is " INT64_FORMAT ".",
							  found.smallest_class, linked->k));
	if (found.below > 0)
		raise_unsafe(psprintf(INT64_FORMAT " combinations of rows are those of fewer than " INT64_FORMAT
										   " persons.",
							  found.below, linked->k));
	if (found.broken > 0)
		raise_unsafe(psprintf(
			"The values of rows, or persons, of " INT64_FORMAT " combinations break a rule.", found.broken));
	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, since);
	linked->found = found;
	linked_record_worst(linked);
	linked->found_ms = INSTR_TIME_GET_MILLISEC(now);
}

/* A person has many rows who has so many times as many as persons have on the average, and so many at least. */
#define MANY_TIMES 10
#define LEAST_MANY 50

/* Persons with many rows have many combinations, which nobody else has. */
static void
tell_many(const Linked *linked, const LinkedTable *table)
{
	uint32 *rows = palloc0(sizeof(uint32) * Max(linked->npersons, 1));
	int64 most = Max(LEAST_MANY, (int64) MANY_TIMES * table->nrows / Max(linked->published, 1));
	int64 persons = 0, over = 0;

	for (uint32 row = 0; row < table->nrows; row++)
		rows[table->person[row]]++;
	for (uint32 p = 0; p < linked->npersons; p++)
		if (rows[p] > most)
		{
			persons++;
			over += rows[p] - most;
		}
	pfree(rows);
	if (persons > 0)
		ereport(NOTICE,
				(errmsg(INT64_FORMAT " persons have more than " INT64_FORMAT " rows in table \"%s\"", persons,
						most, table->relname),
				 errdetail("They have combinations of rows that few others have, which costs time and cells. "
						   "\"max_rows\": " INT64_FORMAT " would leave out " INT64_FORMAT " of their rows.",
						   most, over),
				 errhint("Bound the rows of a person by \"max_rows\" of this table.")));
}

void
linked_tell_many(Linked *linked)
{
	for (int i = 1; i < linked->n && linked->tables[i].role == LINKED_ROWS && !linked->told_many; i++)
		if (linked->tables[i].terms.max_rows == 0 && linked->tables[i].reference == NULL)
			tell_many(linked, &linked->tables[i]);
	linked->told_many = true;
}

/* Rows that do not show to which other row they refer. */
static void
tell_parted(const Linked *linked)
{
	for (int i = 1; i < linked->n && linked->tables[i].role == LINKED_ROWS; i++)
	{
		const LinkedTable *table = &linked->tables[i];

		if (table->tally.parted == 0)
			continue;
		ereport(
			NOTICE,
			(errmsg(INT64_FORMAT " rows of table \"%s\" show NULL in \"%s\"", table->tally.parted,
					table->relname, table->joins.column),
			 errdetail("Of the source " INT64_FORMAT
					   " rows refer to a row of another person. Other rows do not join because "
					   "too few persons of their class have such rows, or because the other row is left out.",
					   table->tally.strange),
			 errhint("A larger class_size of the subject lets more rows join.")));
	}
}

/* In each table, then of persons. */
static void
tell(const Linked *linked)
{
	int64 persons = linked->tables[0].run->release.dropped;

	if (persons > 0)
		ereport(NOTICE, (errmsg(INT64_FORMAT " persons are left out, with all of their rows", persons),
						 errdetail("Too few persons are like them in \"%s\", and its residual is 'drop'.",
								   linked->tables[0].relname),
						 errhint("Other hierarchies or patterns of the subject's table keep more persons.")));
	for (int i = 1; i < linked->n; i++)
	{
		const LinkedTable *table = &linked->tables[i];
		int64 left_out = table->run->release.dropped - table->tally.nobody - table->tally.over;

		if (table->role != LINKED_ROWS || table->run->release.dropped == 0)
			continue;
		ereport(
			NOTICE,
			(errmsg(INT64_FORMAT " rows of table \"%s\" are left out", table->run->release.dropped,
					table->relname),
			 errdetail(
				 "Rows without a published person: " INT64_FORMAT ". Rows over max_rows: " INT64_FORMAT
				 ". Rows that too few persons of a class have, and rows that refer to left-out rows: " INT64_FORMAT
				 ".",
				 table->tally.nobody, table->tally.over, left_out),
			 left_out > 0
				 ? errhint("A larger class_size of the subject, or a larger weight of the table, keeps "
						   "more rows.")
				 : 0));
	}
	tell_parted(linked);
	if (linked->found.alone > 0)
		ereport(NOTICE,
				(errmsg(INT64_FORMAT " persons have numbers of rows that nobody else of their class has",
						linked->found.alone),
				 errdetail("An attacker who knows how many rows a person has can tell them apart."),
				 errhint("Bound the rows of a person by \"max_rows\", or promise known_rows => 'all'.")));
}

/*
 * Persons who stay as they were show what the relations that options name make of their levels.  So these must stay, too:
 * their digest follows the one of all relations.
 */
static void
append_named(Linked *linked)
{
	const bytea *seen = linked->histories->digest;
	List *named = list_copy(linked->read);
	Size all = VARSIZE_ANY(linked->digest);
	bytea *digest;

	for (int i = 0; i < linked->n; i++)
		named = list_delete_oid(named, linked->tables[i].relid);
	digest = relations_digest(named, "", linked->secret);
	if (seen != NULL && (VARSIZE_ANY(seen) <= all ||
						 memcmp((const char *) seen + all, VARDATA(digest), VARSIZE_ANY_EXHDR(digest)) != 0))
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("a relation that the options name has changed since the release before"),
			 errdetail(
				 "It says what persons show who are held back, so with protect_successive it must stay."),
			 errhint("Undo that. Or begin new histories: kanon_alter_publication with protect_successive => "
					 "false, a refresh, and true again.")));
	linked->digest = repalloc(linked->digest, all + VARSIZE_ANY_EXHDR(digest));
	memcpy((char *) linked->digest + all, VARDATA(digest), VARSIZE_ANY_EXHDR(digest));
	SET_VARSIZE(linked->digest, all + VARSIZE_ANY_EXHDR(digest));
}

/* As look_for_changes (series/stable_keep.c) of one table; every relation is read under the snapshot of the release. */
static bool
is_unchanged(Linked *linked)
{
	const SeriesRequest *series = &linked->series;

	if (series->definition == NULL || (!kanon_skip_unchanged && linked->histories == NULL))
		return false;
	border_progress(linked->border, "looking for changes", 0, -1);
	PushActiveSnapshot(linked->snapshot);
	linked->digest = relations_digest(linked->read, series->definition, linked->secret);
	if (linked->histories != NULL)
		append_named(linked);
	PopActiveSnapshot();
	/* (a build with faults makes each release, to break it) */
	return !WITH_FAULTS && kanon_skip_unchanged && series->seen != NULL &&
		   VARSIZE_ANY(series->seen) == VARSIZE_ANY(linked->digest) &&
		   memcmp(series->seen, linked->digest, VARSIZE_ANY(linked->digest)) == 0;
}

/* The subject's run is the last to begin, and the first to end. */
static void
publish_tables(Linked *linked)
{
	LinkedTable *tables = linked->tables;

	for (int i = 1; i < linked->n; i++)
		tables[i].run = run_begin(&tables[i].request);
	linked_choose_size(linked);
	tables[0].run = run_request(&tables[0].request);
	linked_persons(linked);
	if (linked->histories != NULL)
		linked_group_persons(linked);
	linked_solve(linked);
	for (int i = 1; i < linked->n; i++)
		run_finish(tables[i].run);
}

bool
linked_publish(Linked *linked)
{
	linked_requests(linked);
	linked_check_targets(linked);
	/* younger than the locks of all tables: a load may have emptied one of them first */
	linked->snapshot = RegisterSnapshot(GetTransactionSnapshot());
	if (is_unchanged(linked))
		return false;
	linked_check_given(linked);
	linked_check_owners(linked);
	for (int i = 0; i < linked->n; i++)
		linked->tables[i].request.linked.snapshot = linked->snapshot;
	linked_make_shapes(linked);
	if (linked->histories != NULL)
		linked_hold(linked);
	publish_tables(linked);
	if (linked->histories != NULL)
		linked_keep_histories(linked);
	linked_owned(linked);
	linked_tells(linked);
	verify(linked);
	linked_place(linked);
	linked_record(linked);
	linked_drop_shapes(linked);
	tell(linked);
	return true;
}

Jsonb *
linked_bounds(const Linked *linked)
{
	JsonbInState state = {0};

	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	for (int i = 0; i < linked->n; i++)
	{
		const LinkedTable *table = &linked->tables[i];
		JsonbValue value = {.type = jbvString, .val.string = {(int) strlen(table->known), table->known}};
		Jsonb *bounds;

		if (table->role == LINKED_LOOKUP)
			continue;
		kanon_push_jsonb(&state, WJB_KEY, &value);
		bounds = kept_bounds_tell(table->run);
		value.type = jbvBinary;
		value.val.binary.data = &bounds->root;
		value.val.binary.len = VARSIZE(bounds) - VARHDRSZ;
		kanon_push_jsonb(&state, WJB_VALUE, &value);
	}
	linked_push_rows(linked, &state);
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	return JsonbValueToJsonb(state.result);
}

void
linked_end(Linked *linked)
{
	if (linked->tables[0].run != NULL)
		run_end(linked->tables[0].run);
	for (int i = linked->n - 1; i > 0; i--)
		if (linked->tables[i].run != NULL)
			run_end(linked->tables[i].run);
	border_delete(linked->border);
	UnregisterSnapshot(linked->snapshot);
}
