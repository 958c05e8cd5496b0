/*
 * linked_sql.c: kanon_linked: several tables are published as one release, and a row for each comes back;
 * kanon_check_linked: what such a release keeps, for anybody who may read it.
 */
#include "compat.h"
#include "host/gate.h"
#include "host/lines.h"
#include "host/secure_random.h"
#include "linked/linked.h"
#include "masks/mask_apply.h"
#include "rows/verify.h"
#include "run/request.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_linked);
PG_FUNCTION_INFO_V1(kanon_check_linked);

#define KNOWN_HINT "It is '1' to '4', how many rows of a person in each table somebody may know, or 'all'."
#define PERSONS_HINT "So many persons fit whatever somebody knows; 5 is a usual choice."

int
linked_known_rows(const char *text)
{
	if (strcmp(text, "all") == 0)
		return 0;
	if (strlen(text) != 1 || text[0] < '1' || text[0] > '0' + KANON_MAX_KNOWN_ROWS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("known_rows is none that can be promised"), errhint(KNOWN_HINT)));
	return text[0] - '0';
}

/* ---- the release ---- */

static Linked *
linked_of_call(FunctionCallInfo fcinfo)
{
	Linked *linked = palloc0(sizeof(Linked));
	uint8 secret[MASK_KEY_LENGTH];

	refuse_null(fcinfo, 0, "subject", "Name the table that has one row for each person.");
	refuse_null(fcinfo, 1, "tables", "It is an object with what to do with each table.");
	linked->caller = fcinfo->flinfo->fn_oid;
	linked->schema =
		pstrdup(quote_identifier(text_arg(fcinfo, 2, "target_schema", "Name the schema of the new tables.")));
	linked->k = k_arg(fcinfo, 3, 2, PERSONS_HINT);
	linked->m = linked_known_rows(text_arg(fcinfo, 4, "known_rows", KNOWN_HINT));
	linked->replace = bool_arg(fcinfo, 6, "replace");
	linked->seed = PG_ARGISNULL(5) ? 1 : (uint64) PG_GETARG_INT64(5);
	random_fill(secret, sizeof(secret));
	linked->secret = palloc(VARHDRSZ + sizeof(secret));
	SET_VARSIZE(linked->secret, VARHDRSZ + sizeof(secret));
	memcpy(VARDATA(linked->secret), secret, sizeof(secret));
	explicit_bzero(secret, sizeof(secret));
	return linked;
}

/* The tables as they are now, counted by code that did not make them. */
static LinkedFound
verify(const Linked *linked)
{
	Linked written = *linked;
	LinkedFound found;

	written.tables = palloc(sizeof(LinkedTable) * KANON_MAX_LINKED);
	memcpy(written.tables, linked->tables, sizeof(LinkedTable) * KANON_MAX_LINKED);
	for (int i = 0; i < linked->n; i++)
		written.tables[i].relid = linked->tables[i].run->target->relid;
	found = linked_recount(&written, linked->border);
	if (found.dangling > 0)
		raise_unsafe(psprintf(INT64_FORMAT " rows belong to nobody.", found.dangling));
	if (found.persons > 0 && found.smallest_class < linked->k)
		raise_unsafe(psprintf("A class has " INT64_FORMAT " persons, k is " INT64_FORMAT ".",
							  found.smallest_class, linked->k));
	if (found.below > 0)
		raise_unsafe(psprintf(INT64_FORMAT " combinations of rows are those of fewer than " INT64_FORMAT
										   " persons.",
							  found.below, linked->k));
	return found;
}

/* In each table, then of persons. */
static void
tell(const Linked *linked, const LinkedFound *found)
{
	for (int i = 1; i < linked->n; i++)
	{
		const LinkedTable *table = &linked->tables[i];
		int64 left_out = table->run->release.dropped - table->nobody - table->over;

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
				 table->nobody, table->over, left_out)));
	}
	if (found->alone > 0)
		ereport(NOTICE,
				(errmsg(INT64_FORMAT " persons have numbers of rows that nobody else of their class has",
						found->alone),
				 errdetail("An attacker who knows how many rows a person has can tell them apart."),
				 errhint("Bound the rows of a person by \"max_rows\", or promise known_rows => 'all'.")));
}

static void
put_table(Lines *lines, const LinkedTable *table)
{
	static const char *const roles[] = {"subject", "rows", "not linked", "lookup"};
	const Run *run = table->run;
	bool measured = table->role != LINKED_LOOKUP;

	line_text(lines, table->name);
	line_text(lines, run->target->qualified);
	line_text(lines, roles[table->role]);
	line_int8(lines, run->record.row_count, true);
	line_int8(lines, run->record.row_count - run->release.dropped, true);
	line_float8(lines, run->suppressed, measured);
	line_float8(lines, run->measures.gcp, measured);
	line_int8(lines, run->number, measured);
	line_end(lines);
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
	linked_solve(linked);
	for (int i = 1; i < linked->n; i++)
		run_finish(tables[i].run);
}

Datum
kanon_linked(PG_FUNCTION_ARGS)
{
	Linked *linked = linked_of_call(fcinfo);
	Jsonb *tables = jsonb_arg(fcinfo, 1);
	Lines *lines = lines_begin(fcinfo);
	LinkedFound found;
	Snapshot snapshot;

	SPI_connect();
	linked->border = border_create("kanon_linked");
	linked_schema(linked, PG_GETARG_OID(0), tables);
	linked_requests(linked);
	linked_check_targets(linked, text_arg(fcinfo, 2, "target_schema", ""));
	/* younger than the locks of all tables: a load may have emptied one of them first */
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	for (int i = 0; i < linked->n; i++)
		linked->tables[i].request.linked.snapshot = snapshot;
	publish_tables(linked);
	found = verify(linked);
	linked_place(linked);
	tell(linked, &found);
	for (int i = 0; i < linked->n; i++)
		put_table(lines, &linked->tables[i]);
	run_end(linked->tables[0].run);
	for (int i = linked->n - 1; i > 0; i--)
		run_end(linked->tables[i].run);
	MemoryContextDelete(linked->border->context);
	UnregisterSnapshot(snapshot);
	explicit_bzero(VARDATA(linked->secret), MASK_KEY_LENGTH);
	SPI_finish();
	return (Datum) 0;
}

Datum
kanon_check_linked(PG_FUNCTION_ARGS)
{
	Linked *linked = palloc0(sizeof(Linked));
	Jsonb *tables;
	Lines *lines;
	Border *border;
	LinkedFound found;

	refuse_null(fcinfo, 0, "subject", "Name the published table that has one row for each person.");
	refuse_null(fcinfo, 1, "tables", "It is an object with the quasi-identifiers of each table.");
	linked->k = k_arg(fcinfo, 2, 1, PERSONS_HINT);
	linked->m = linked_known_rows(text_arg(fcinfo, 3, "known_rows", KNOWN_HINT));
	tables = jsonb_arg(fcinfo, 1);
	lines = lines_begin(fcinfo);
	SPI_connect();
	linked_schema(linked, PG_GETARG_OID(0), tables);
	border = border_create("kanon_check_linked");
	found = linked_recount(linked, border);
	line_int8(lines, found.persons, true);
	line_int8(lines, found.classes, true);
	line_int8(lines, found.smallest_class, found.persons > 0);
	line_int8(lines, found.combinations, true);
	line_int8(lines, found.smallest, found.combinations > 0);
	line_int8(lines, found.below, true);
	line_int8(lines, found.alone, true);
	line_int8(lines, found.dangling, true);
	line_bool(lines,
			  found.below == 0 && found.dangling == 0 &&
				  (found.persons == 0 || found.smallest_class >= linked->k),
			  true);
	line_end(lines);
	MemoryContextDelete(border->context);
	SPI_finish();
	return (Datum) 0;
}
