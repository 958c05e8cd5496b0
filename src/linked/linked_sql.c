/*
 * linked_sql.c: kanon_linked: several tables are published as one release, and a row for each comes back;
 * kanon_check_linked: what such a release keeps, for anybody who may read it.
 */
#include "compat.h"
#include "host/lines.h"
#include "host/secure_random.h"
#include "linked/linked.h"
#include "masks/mask_apply.h"
#include "run/request.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"

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
	linked->schema = text_arg(fcinfo, 2, "target_schema", "Name the schema of the new tables.");
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

Datum
kanon_linked(PG_FUNCTION_ARGS)
{
	Linked *linked = linked_of_call(fcinfo);
	Jsonb *tables = jsonb_arg(fcinfo, 1);
	Lines *lines = lines_begin(fcinfo);

	SPI_connect();
	linked_begin(linked, PG_GETARG_OID(0), tables);
	(void) linked_publish(linked);
	for (int i = 0; i < linked->n; i++)
		put_table(lines, &linked->tables[i]);
	linked_end(linked);
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
	linked->checks = true;
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
