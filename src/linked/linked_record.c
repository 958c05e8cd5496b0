/*
 * linked_record.c: the release as a whole is a run in the record, beside those of its tables: how they hang together,
 * what became of the rows of each, and what was counted over all of them.
 */
#include "compat.h"
#include "host/catalog.h"
#include "linked/linked.h"
#include "linked/linked_histories.h"
#include "record/record.h"
#include "options/request.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/jsonb.h"

const char *
linked_role(const LinkedTable *table)
{
	static const char *const roles[] = {"subject", "rows", "not linked", "lookup"};

	return table->reference != NULL ? "copies" : roles[table->role];
}

static void
put_text(StringInfo json, const char *name, const char *text)
{
	appendStringInfo(json, ", \"%s\": ", name);
	if (text == NULL)
		appendStringInfoString(json, "null");
	else
		escape_json(json, text);
}

/* Columns that refer to other tables, by whose places in the list. */
static void
put_references(const Linked *linked, const LinkedTable *table, StringInfo json)
{
	const char *before = "";
	ListCell *cell;

	appendStringInfoString(json, ", \"refers\": [");
	if (table->role == LINKED_ROWS && table->reference == NULL)
	{
		appendStringInfo(json, "{\"to\": %d", table->parent);
		put_text(json, "column", table->parent_column);
		appendStringInfoChar(json, '}');
		before = ", ";
	}
	foreach (cell, table->keys)
	{
		const LinkedKey *key = lfirst(cell);

		if (!linked_publishes(table, key->column))
			continue;
		appendStringInfo(json, "%s{\"to\": %d", before, key->table);
		put_text(json, "column", key->column);
		appendStringInfoChar(json, '}');
		before = ", ";
	}
	for (int i = 0; i < linked->n; i++)
	{
		if (linked->tables[i].reference == NULL || &linked->tables[linked->tables[i].parent] != table)
			continue;
		appendStringInfo(json, "%s{\"to\": %d", before, i);
		put_text(json, "column", linked->tables[i].reference);
		appendStringInfoChar(json, '}');
		before = ", ";
	}
	appendStringInfoChar(json, ']');
}

static void
put_table(const Linked *linked, int place, StringInfo json)
{
	const LinkedTable *table = &linked->tables[place];
	const Run *run = table->run;
	int64 dropped = run->release.dropped;

	appendStringInfo(json, "%s{\"place\": %d", place > 0 ? ", " : "", place);
	put_text(json, "table", name_relation(table->relid));
	put_text(json, "target", linked->publication != NULL ? table->known : run->target->qualified);
	put_text(json, "role", linked_role(table));
	put_text(json, "key", table->role == LINKED_ALONE ? NULL : table->key);
	put_references(linked, table, json);
	appendStringInfo(json, ", \"row_count\": " INT64_FORMAT ", \"published\": " INT64_FORMAT,
					 run->record.row_count, run->record.row_count - dropped);
	if (table->role == LINKED_ROWS)
		appendStringInfo(
			json,
			", \"of_nobody\": " INT64_FORMAT ", \"over_max_rows\": " INT64_FORMAT ", \"rare\": " INT64_FORMAT,
			table->tally.nobody, table->tally.over, dropped - table->tally.nobody - table->tally.over);
	if (table->role != LINKED_LOOKUP)
		appendStringInfo(json, ", \"suppressed\": %.17g, \"gcp\": %.17g, \"run\": " INT64_FORMAT,
						 run->suppressed, run->measures.gcp, run->number);
	appendStringInfoChar(json, '}');
}

/* Sums over all tables: rows, cells, loss by cells, times. */
typedef struct Sums
{
	RunRecord record;
	KanonReport report;
	int64 published;
	int64 suppressed;
	double cells;
	double lost;
} Sums;

static Sums
sums_of(const Linked *linked)
{
	Sums sums = {.report.lower_bound = -INFINITY, .record.verify_ms = linked->found_ms};

	sums.record.started_at = linked->tables[0].run->record.started_at;
	for (int i = 0; i < linked->n; i++)
	{
		const Run *run = linked->tables[i].run;
		int64 published = run->record.row_count - run->release.dropped;
		double cells = (double) published * run->source->nqis;

		sums.record.started_at = Min(sums.record.started_at, run->record.started_at);
		sums.record.row_count += run->record.row_count;
		sums.published += published;
		sums.record.read_ms += run->record.read_ms;
		sums.record.solve_ms += run->record.solve_ms;
		sums.record.write_ms += run->record.write_ms;
		sums.record.verify_ms += run->record.verify_ms;
		if (linked->tables[i].role == LINKED_LOOKUP)
			continue;
		sums.suppressed += run->measures.suppressed_cells;
		sums.cells += cells;
		sums.lost += cells * run->measures.gcp;
		sums.report.cost += run->report.cost;
	}
	return sums;
}

static Datum
tables_recorded(const Linked *linked, const Sums *sums)
{
	const LinkedFound *found = &linked->found;
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfo(&json, "{\"published\": " INT64_FORMAT ", \"persons\": " INT64_FORMAT, sums->published,
					 found->persons);
	appendStringInfo(&json, ", \"classes\": " INT64_FORMAT ", \"smallest_class\": " INT64_FORMAT,
					 found->classes, found->smallest_class);
	appendStringInfo(&json,
					 ", \"combinations\": " INT64_FORMAT ", \"smallest\": " INT64_FORMAT
					 ", \"count_alone\": " INT64_FORMAT,
					 found->combinations, found->smallest, found->alone);
	appendStringInfo(&json, ", \"gcp\": %.17g", sums->cells > 0 ? sums->lost / sums->cells : 0);
	put_text(&json, "promise", linked_promise(linked));
	if (linked->histories != NULL)
	{
		Jsonb *held = DatumGetJsonbP(held_back_json(&linked->histories->told));

		appendStringInfo(&json, ", \"held_back\": %s", JsonbToCString(NULL, &held->root, VARSIZE(held)));
	}
	appendStringInfoString(&json, ", \"tables\": [");
	for (int i = 0; i < linked->n; i++)
		put_table(linked, i, &json);
	appendStringInfoString(&json, "]}");
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

void
linked_record(Linked *linked)
{
	const Run *subject = linked->tables[0].run;
	/* what is kept stands with each table */
	Source source = *subject->source;
	Sums sums = sums_of(linked);
	RunRecord *record = &sums.record;
	ClasslessRun classless = {.k = linked->k, .ncp = NAN, .suppressed = sums.suppressed, .column = "tables"};
	RecordedOption asked[] = {
		{"k", INT8OID, Int64GetDatum(linked->k)},
		{"known_rows", TEXTOID, CStringGetTextDatum(linked_known_text(linked))},
		{"subject", TEXTOID, CStringGetTextDatum(name_relation(linked->tables[0].relid))}};

	source.nkept = 0;
	record->source = subject->record.source;
	record->target = quote_identifier(linked->schema);
	record->publication = linked->publication;
	record->model = "linked_release";
	record->method = "linked";
	record->peak_memory = linked->border->peak;
	record->options = recorded_options(asked, lengthof(asked));
	classless.measures = tables_recorded(linked, &sums);
	linked->run = run_record_classless(subject->schema, record, &source, &sums.report, &classless);
}
