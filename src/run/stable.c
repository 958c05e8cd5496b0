/*
 * stable.c: row types stay in the classes that they had in the release before.
 *
 * With a release, its flows are written to a private table: what a row type is,
 * its class, the class's pattern and how many rows.  The next release starts
 * from there: how, the models know.
 */
#include "compat.h"
#include "run/stable.h"
#include "core/util/fault.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "read/dictionary.h"
#include "read/patterns.h"
#include "write/bulk.h"

#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

/* Beside the columns that tell row types apart. */
#define CLASS_COLUMN "kanon_class"
#define PATTERN_COLUMN "kanon_pattern"
#define ROWS_COLUMN "kanon_rows"
#define EXTRA_COLUMNS 3

/* What the table of the release before has: the columns of the source, and those beside them. */
static Gate *
flows_gate(const Source *source, Oid relid)
{
	Gate *gate = gate_create(relation_name(relid), relid, source->ngrouped + EXTRA_COLUMNS);

	gate_columns(gate, source->qis, source->ngrouped);
	gate_computed(gate, CLASS_COLUMN, INT4OID);
	gate_computed(gate, PATTERN_COLUMN, TEXTOID);
	gate_computed(gate, ROWS_COLUMN, INT8OID);
	return gate;
}

/* False when the source has other columns than then, or its owner has altered the table. */
static bool
is_usable(const Gate *gate)
{
	Relation rel = try_relation_open(gate->relid, AccessShareLock);
	bool usable;

	if (rel == NULL)
		return false;
	usable = rel->rd_rel->relkind == RELKIND_RELATION && gate_fits(gate, RelationGetDescr(rel));
	for (int i = 0; i < gate->desc->natts && usable; i++)
		usable = strcmp(NameStr(TupleDescAttr(gate->desc, i)->attname),
						NameStr(TupleDescAttr(RelationGetDescr(rel), i)->attname)) == 0;
	relation_close(rel, NoLock);
	return usable;
}

typedef struct Reader
{
	Run *run;
	TypeIndex *index;
	KanonPattern *pattern; /* [room_classes] */
	KanonFlow *flows;      /* [room_flows] */
	uint32 nclasses;
	Size nflows, room_classes, room_flows;
} Reader;

/* A row type that is not in the source any more, or rows that make no sense, count for nothing. */
static bool
receive_flow(void *arg, TupleTableSlot *slot)
{
	Reader *reader = arg;
	Border *border = reader->run->border;
	const Source *source = reader->run->source;
	uint32 type;
	int32 class_;
	int64 rows;

	for (int i = 0; i < EXTRA_COLUMNS; i++)
		if (slot->tts_isnull[source->ngrouped + i])
			return true;
	type = type_index_find(reader->index, slot->tts_values, slot->tts_isnull);
	class_ = DatumGetInt32(slot->tts_values[source->ngrouped]);
	rows = DatumGetInt64(slot->tts_values[source->ngrouped + 2]);
	if (type == DICTIONARY_NONE || class_ < 0 || class_ >= KANON_MAX_TYPES || rows <= 0)
		return true;
	reader->pattern =
		border_grow(border, reader->pattern, &reader->room_classes, (Size) class_ + 1, sizeof(KanonPattern));
	while (reader->nclasses <= class_)
		reader->pattern[reader->nclasses++] = kanon_pattern_all(reader->run->problem.ncolumns);
	reader->pattern[class_] =
		pattern_parse(TextDatumGetCString(slot->tts_values[source->ngrouped + 1]), &source->levels, true);
	reader->flows =
		border_grow(border, reader->flows, &reader->room_flows, reader->nflows + 1, sizeof(KanonFlow));
	reader->flows[reader->nflows].type = type;
	reader->flows[reader->nflows].class_ = (uint32) class_;
	reader->flows[reader->nflows++].rows = rows;
	return true;
}

/* False: nothing of the release before is left to start from. */
static bool
read_flows(Run *run, Reader *reader)
{
	const Request *request = run->request;
	Gate *gate;

	if (!OidIsValid(request->previous) || relation_name(request->previous) == NULL)
		return false;
	gate = flows_gate(run->source, request->previous);
	if (!is_usable(gate))
		return false;
	reader->index = type_index_create(run->types, run->border);
	gate_select(gate,
				psprintf("SELECT %s, " CLASS_COLUMN ", " PATTERN_COLUMN ", " ROWS_COLUMN " FROM %s",
						 column_list(run->source->qis, run->source->ngrouped), gate->name),
				true, receive_flow, reader);
	qsort_arg(reader->flows, reader->nflows, sizeof(KanonFlow), kanon_compare_flows, NULL);
	return reader->nflows > 0;
}

KanonStatus
stable_solve(Run *run)
{
	const Request *request = run->request;
	Reader reader = {.run = run};
	KanonPrevious previous;
	KanonStatus status;

	run->near = read_flows(run, &reader);
	if (!run->near)
		return request->solve_run != NULL ? request->solve_run(run)
										  : request->solve(&run->problem, &run->release, &run->report);
	previous.nclasses = reader.nclasses;
	previous.pattern = reader.pattern;
	previous.nflows = reader.nflows;
	previous.flows = reader.flows;
	status = request->model->near(run, &previous);
	border_pfree(run->border, reader.pattern);
	border_pfree(run->border, reader.flows);
	return status;
}

/* ---- what the next release starts from ---- */

static Oid
create_table(const Source *source, const char *types)
{
	char *columns = column_list(source->qis, source->ngrouped);

	run_utility(psprintf("CREATE TABLE %s AS SELECT %s, 0 AS " CLASS_COLUMN
						 ", ''::pg_catalog.text AS " PATTERN_COLUMN ", 0::pg_catalog.int8 AS " ROWS_COLUMN
						 " FROM %s WITH NO DATA",
						 types, columns, source->name));
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'which row type is in which class of a kanon release; never to be published'",
		types));
	return RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(types))), NoLock,
							false);
}

void
stable_write(const Run *run)
{
	const Source *source = run->source;
	const KanonRelease *release = &run->release;
	BulkWriter *bulk;
	Relation rel;
	Oid relid;

	relid = create_table(source, run->request->types);
	keep_uncounted(relid);
	rel = table_open(relid, RowExclusiveLock);
	bulk = bulk_begin(rel);
	for (size_t f = 0; f < release->nflows; f++)
	{
		const KanonFlow *flow = &release->flows[f];
		TupleTableSlot *slot;

		if (flow->class_ == KANON_DROPPED)
			continue;
		slot = bulk_slot(bulk);
		for (int c = 0; c < source->ngrouped; c++)
			slot->tts_values[c] = dictionary_value(
				source->qis[c].dictionary, run->types->grouped[c].code[flow->type], &slot->tts_isnull[c]);
		slot->tts_values[source->ngrouped] = Int32GetDatum((int32) flow->class_);
		slot->tts_values[source->ngrouped + 1] =
			CStringGetTextDatum(pattern_text(release->classes[flow->class_].pattern, &source->levels));
		slot->tts_values[source->ngrouped + 2] = Int64GetDatum(flow->rows);
		memset(slot->tts_isnull + source->ngrouped, false, sizeof(bool) * EXTRA_COLUMNS);
		bulk_put(bulk);
	}
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	if (FAULT(types_changed))
		run_utility(psprintf("ALTER TABLE %s ALTER COLUMN %s TYPE pg_catalog.text", run->request->types,
							 source->qis[0].quoted));
}
