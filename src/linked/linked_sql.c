/*
 * linked_sql.c: kanon_linked: several tables are published as one release, and a row for each comes back;
 * kanon_check_linked: what such a release keeps, for anybody who may read it.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/lines.h"
#include "host/border.h"
#include "linked/linked.h"
#include "masks/mask_apply.h"
#include "options/privacy.h"
#include "options/request.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_linked);
PG_FUNCTION_INFO_V1(kanon_check_linked);
PG_FUNCTION_INFO_V1(kanon_linked_frontier);

#define PERSONS_HINT "So many persons fit whatever somebody knows; 5 is a usual choice."

/* ---- the release ---- */

/* Arguments of every call, and a secret that is forgotten with the release. */
static Linked *
linked_of_call(FunctionCallInfo fcinfo, int64 k, char *schema)
{
	Linked *linked = palloc0(sizeof(Linked));
	uint8 secret[MASK_KEY_LENGTH];

	refuse_null(fcinfo, 0, "subject", "Name the table that has one row for each person.");
	refuse_null(fcinfo, 1, "tables", "It is an object with what to do with each table.");
	linked->caller = fcinfo->flinfo->fn_oid;
	linked->schema = schema;
	linked->k = k;
	random_fill(secret, sizeof(secret));
	linked->secret = palloc(VARHDRSZ + sizeof(secret));
	SET_VARSIZE(linked->secret, VARHDRSZ + sizeof(secret));
	memcpy(VARDATA(linked->secret), secret, sizeof(secret));
	explicit_bzero(secret, sizeof(secret));
	return linked;
}

static void
put_table(Lines *lines, const Linked *linked, const LinkedTable *table, bool undone)
{
	const Run *run = table->run;
	bool measured = table->role != LINKED_LOOKUP;

	line_text(lines, table->name);
	line_text(lines, undone ? NULL : run->target->qualified);
	line_text(lines, linked_role(table));
	line_int8(lines, run->record.row_count, true);
	line_int8(lines, run->record.row_count - run->release.dropped, true);
	line_float8(lines, run->suppressed, measured);
	line_float8(lines, run->measures.gcp, measured);
	line_int8(lines, run->number, measured && !undone);
	line_int8(lines, linked->run, !undone);
	line_end(lines);
}

/* A call, whole: it may be undone. */
typedef struct Call
{
	Linked *linked;
	Oid subject;
	Jsonb *tables;
	bool undone;
	Lines *lines;
	int64 *ks;
	int nks;
	char **ms;
	int nms;
} Call;

static void
publish_tables(void *arg)
{
	const Call *call = arg;
	Linked *linked = call->linked;

	SPI_connect();
	linked_begin(linked, call->subject, call->tables);
	(void) linked_publish(linked);
	for (int i = 0; i < linked->n; i++)
		put_table(call->lines, linked, &linked->tables[i], call->undone);
	linked_end(linked);
	SPI_finish();
}

Datum
kanon_linked(PG_FUNCTION_ARGS)
{
	Call call = {.undone = bool_arg(fcinfo, 7, "dry_run")};
	/* (what is undone needs no schema that stays) */
	char *schema = call.undone && PG_ARGISNULL(2)
					   ? "pg_temp"
					   : text_arg(fcinfo, 2, "target_schema",
								  "Name the schema of the new tables, or say dry_run => true.");
	Linked *linked = call.linked = linked_of_call(fcinfo, k_arg(fcinfo, 3, 2, PERSONS_HINT), schema);

	refuse_read_only(fcinfo);
	linked_know(linked, text_arg(fcinfo, 4, "known_rows", KNOWN_HINT));
	linked->seed = PG_ARGISNULL(5) ? 1 : (uint64) PG_GETARG_INT64(5);
	linked->replace = bool_arg(fcinfo, 6, "replace");
	call.subject = PG_GETARG_OID(0);
	call.tables = jsonb_arg(fcinfo, 1);
	call.lines = lines_begin(fcinfo);
	if (call.undone)
		rehearse(publish_tables, &call);
	else
		publish_tables(&call);
	explicit_bzero(VARDATA(linked->secret), MASK_KEY_LENGTH);
	return (Datum) 0;
}

/* ---- what several ks, and numbers of known rows, lose ---- */

static void
put_tried(const Call *call, int64 k, const char *known, int64 size)
{
	const Linked *linked = call->linked;

	for (int i = 0; i < linked->n; i++)
	{
		const LinkedTable *table = &linked->tables[i];

		if (table->role == LINKED_LOOKUP)
			continue;
		line_int8(call->lines, k, true);
		line_text(call->lines, known);
		line_text(call->lines, table->name);
		line_int8(call->lines, size, size > 0);
		line_int8(call->lines, table->tally.published, size > 0);
		line_float8(call->lines, table->tally.loss, size > 0);
		line_end(call->lines);
	}
}

static void
try_each(void *arg)
{
	const Call *call = arg;
	Linked *linked = call->linked;

	SPI_connect();
	linked_begin(linked, call->subject, call->tables);
	linked_read(linked);
	for (int i = 0; i < call->nks; i++)
		for (int j = 0; j < call->nms; j++)
		{
			int64 size = linked_try(linked, call->ks[i], call->ms[j]);

			put_tried(call, call->ks[i], call->ms[j], size);
		}
	linked_end(linked);
	SPI_finish();
}

static void
take_known_rows(Call *call, ArrayType *array)
{
	Datum *values;
	bool *nulls;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &call->nms);
	call->ms = palloc(sizeof(char *) * Max(call->nms, 1));
	for (int i = 0; i < call->nms; i++)
		call->ms[i] = nulls[i] ? "" : TextDatumGetCString(values[i]);
	if (call->nms == 0 || ARR_NDIM(array) != 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("known_rows names nothing"),
						errhint(KNOWN_HINT)));
}

static void
take_ks(Call *call, ArrayType *array)
{
	Datum *values;
	bool *nulls;

	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls,
					  &call->nks);
	if (call->nks == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ks must not be empty"),
						errhint("List the ks to try, such as '{5,10,20}'.")));
	call->ks = palloc(sizeof(int64) * call->nks);
	for (int i = 0; i < call->nks; i++)
	{
		call->ks[i] = nulls[i] ? 0 : DatumGetInt64(values[i]);
		if (call->ks[i] < 2)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("k must be at least 2"),
							errhint(PERSONS_HINT)));
	}
}

/* kanon_linked_frontier(subject regclass, tables jsonb, ks bigint[], known_rows text[], seed bigint) */
Datum
kanon_linked_frontier(PG_FUNCTION_ARGS)
{
	Call call = {.undone = true};

	refuse_read_only(fcinfo);
	refuse_null(fcinfo, 2, "ks", "List the ks to try, such as '{5,10,20}'.");
	refuse_null(fcinfo, 3, "known_rows", KNOWN_HINT);
	take_ks(&call, PG_GETARG_ARRAYTYPE_P(2));
	take_known_rows(&call, PG_GETARG_ARRAYTYPE_P(3));
	call.linked = linked_of_call(fcinfo, call.ks[0], "pg_temp");
	/* (what one of them does not take is said before anything is read) */
	for (int i = 0; i < call.nms; i++)
		linked_know(call.linked, call.ms[i]);
	for (int i = 0; i < call.nms && call.linked->m > 0; i++)
		linked_know(call.linked, call.ms[i]);
	call.linked->seed = PG_ARGISNULL(4) ? 1 : (uint64) PG_GETARG_INT64(4);
	call.subject = PG_GETARG_OID(0);
	call.tables = jsonb_arg(fcinfo, 1);
	call.lines = lines_begin(fcinfo);
	rehearse(try_each, &call);
	explicit_bzero(VARDATA(call.linked->secret), MASK_KEY_LENGTH);
	return (Datum) 0;
}

/* ---- the check ---- */

/* Rules of the persons' own values, which those who fit keep. */
static void
take_rules(LinkedTable *table)
{
	JsonbValue word = {.type = jbvString, .val.string = {strlen("privacy"), "privacy"}};
	JsonbValue *list = findJsonbValueFromContainer(&table->options->root, JB_FOBJECT, &word);
	Datum *rules;
	int n;

	if (list == NULL)
		return;
	if (table->role != LINKED_SUBJECT)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("kanon_check_linked counts rules about the subject's table alone"),
			 errhint(
				 "Leave \"privacy\" of the other tables out: kanon_linked counts it when it publishes them.")));
	if (list->type != jbvBinary || !JsonContainerIsArray(list->val.binary.data))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("privacy must be a list of rules"),
			 errhint("Write it like '[{\"rule\": \"distinct_l\", \"column\": \"diagnosis\", \"l\": 3}]'.")));
	n = JsonContainerSize(list->val.binary.data);
	rules = palloc(sizeof(Datum) * Max(n, 1));
	for (int i = 0; i < n; i++)
		rules[i] = JsonbPGetDatum(JsonbValueToJsonb(getIthJsonbValueFromContainer(list->val.binary.data, i)));
	table->request.privacy = privacy_read(construct_array(rules, n, JSONBOID, -1, false, TYPALIGN_INT));
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
	linked_know(linked, text_arg(fcinfo, 3, "known_rows", KNOWN_HINT));
	tables = jsonb_arg(fcinfo, 1);
	lines = lines_begin(fcinfo);
	linked->checks = true;
	SPI_connect();
	linked_schema(linked, PG_GETARG_OID(0), tables);
	for (int i = 0; i < linked->n; i++)
		take_rules(&linked->tables[i]);
	border = border_create("kanon_check_linked");
	found = linked_recount(linked, border);
	line_int8(lines, found.persons, true);
	line_int8(lines, found.classes, true);
	line_int8(lines, found.smallest_class, found.persons > 0);
	line_int8(lines, found.combinations, true);
	line_int8(lines, found.smallest, found.combinations > 0);
	line_int8(lines, found.below, true);
	line_int8(lines, found.broken, linked->tables[0].request.privacy != NULL);
	line_int8(lines, found.alone, true);
	line_int8(lines, found.dangling, true);
	line_bool(lines,
			  found.below == 0 && found.dangling == 0 && found.broken == 0 &&
				  (found.persons == 0 || found.smallest_class >= linked->k),
			  true);
	line_end(lines);
	MemoryContextDelete(border->context);
	SPI_finish();
	return (Datum) 0;
}
