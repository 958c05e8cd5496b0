/*
 * bulk.c: rows into a new table, many at a time, the way COPY does it.
 *
 * Into a table of this very subtransaction rows go frozen, as COPY FREEZE has
 * them: a reader whose snapshot is older than the table, but who is the first to
 * look when it has taken an older one's place, sees all of it and not an empty one.
 */
#include "compat.h"
#include "rows/target.h"
#include "core/util/fault.h"
#include "core/privacy/rules.h"
#include "rows/verify.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* A batch ends at so many rows or so many bytes of variable-length values. */
#define BATCH_ROWS 1000
#define BATCH_BYTES (256 * 1024)

struct BulkWriter
{
	Relation rel;
	BulkInsertState state;
	CommandId cid;
	int options;
	MemoryContext batch; /* what a batch leaves behind; reset after each */
	int nslots;
	Size bytes;
	Size row_bytes; /* of the last row */
	int64 written;
	Border *border; /* who is told, or NULL, */
	int64 before;   /* that these were written before, */
	int64 all;      /* of so many */
	TupleTableSlot *slots[BATCH_ROWS];
};

BulkWriter *
bulk_begin(Relation rel)
{
	BulkWriter *writer = palloc0(sizeof(BulkWriter));

	writer->rel = rel;
	writer->state = GetBulkInsertState();
	writer->cid = GetCurrentCommandId(true);
	if (rel->rd_createSubid == GetCurrentSubTransactionId())
		writer->options = TABLE_INSERT_FROZEN;
	writer->batch = AllocSetContextCreate(CurrentMemoryContext, "kanon batch", ALLOCSET_DEFAULT_SIZES);
	return writer;
}

void
bulk_tell(BulkWriter *writer, Border *border, int64 before, int64 all)
{
	writer->border = border;
	writer->before = before;
	writer->all = all;
}

bool
bulk_empty(const BulkWriter *writer)
{
	return writer->written + writer->nslots == 0;
}

TupleTableSlot *
bulk_slot(BulkWriter *writer)
{
	TupleTableSlot *slot = writer->slots[writer->nslots];

	if (slot == NULL)
	{
		/* rows may come from a query, whose memory goes before the last of them is written */
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(writer));

		slot = writer->slots[writer->nslots] = table_slot_create(writer->rel, NULL);
		MemoryContextSwitchTo(old);
	}
	return ExecClearTuple(slot);
}

static void
flush(BulkWriter *writer)
{
	MemoryContext old = MemoryContextSwitchTo(writer->batch);

	CHECK_FOR_INTERRUPTS();
	table_multi_insert(writer->rel, writer->slots, writer->nslots - FAULT(row_lost), writer->cid,
					   writer->options, writer->state);
	writer->written += writer->nslots;
	for (int i = 0; i < writer->nslots; i++)
		ExecClearTuple(writer->slots[i]);
	writer->nslots = 0;
	writer->bytes = 0;
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->batch);
	if (writer->border != NULL)
	{
		int64 done = writer->before + writer->written;

		border_progress(writer->border, "writing", (double) done / writer->all, writer->all - done);
	}
}

static void
end_row(BulkWriter *writer)
{
	writer->nslots++;
	writer->bytes += writer->row_bytes;
	if (writer->nslots == BATCH_ROWS || writer->bytes >= BATCH_BYTES)
		flush(writer);
}

void
bulk_put(BulkWriter *writer)
{
	TupleTableSlot *slot = writer->slots[writer->nslots];
	TupleDesc desc = slot->tts_tupleDescriptor;

	ExecStoreVirtualTuple(slot);
	writer->row_bytes = 0;
	for (int i = 0; i < desc->natts; i++)
		if (!slot->tts_isnull[i] && TupleDescAttr(desc, i)->attlen == -1)
			writer->row_bytes += VARSIZE_ANY(DatumGetPointer(slot->tts_values[i]));
	ExecMaterializeSlot(slot);
	end_row(writer);
}

bool
bulk_receive(void *arg, TupleTableSlot *slot)
{
	BulkWriter *bulk = arg;
	TupleTableSlot *row = bulk_slot(bulk);
	int n = slot->tts_tupleDescriptor->natts;

	memcpy(row->tts_values, slot->tts_values, sizeof(Datum) * n);
	memcpy(row->tts_isnull, slot->tts_isnull, sizeof(bool) * n);
	bulk_put(bulk);
	return true;
}

bool
bulk_repeat(BulkWriter *writer)
{
	if (writer->nslots == 0)
		return false;
	ExecCopySlot(bulk_slot(writer), writer->slots[writer->nslots - 1]);
	end_row(writer);
	return true;
}

int64
bulk_end(BulkWriter *writer)
{
	int64 written;

	if (writer->nslots > 0)
		flush(writer);
	for (int i = 0; i < BATCH_ROWS && writer->slots[i] != NULL; i++)
		ExecDropSingleTupleTableSlot(writer->slots[i]);
	FreeBulkInsertState(writer->state);
	table_finish_bulk_insert(writer->rel, writer->options);
	MemoryContextDelete(writer->batch);
	written = writer->written;
	pfree(writer);
	return written;
}

/*
 * ---- What would be told of kept columns, of a release that nobody writes.
 *
 * Identifying and telling columns are found in rows with their classes.  Here rows wait since they were read, and are
 * dealt out to the flows of their types in the order in which they came.
 */

typedef struct Rehearsal
{
	const KanonProblem *problem;
	const KanonRelease *release;
	size_t *flow;         /* [ntypes] at hand, */
	int64 *left;          /* [ntypes] and rows still to come of it */
	const uint32 *person; /* [ntypes]; NULL: no rule says whom rows are about */
	KeptLook *look;
	TellsLook *tells;
} Rehearsal;

/* The class of the next row of a type: flows are sorted by types. */
static uint32
deal(Rehearsal *rehearsal, uint32 type)
{
	const KanonFlow *flows = rehearsal->release->flows;

	if (rehearsal->left[type] == 0)
	{
		rehearsal->flow[type]++;
		if (rehearsal->flow[type] >= rehearsal->release->nflows || flows[rehearsal->flow[type]].type != type)
			raise_source_changed();
		rehearsal->left[type] = flows[rehearsal->flow[type]].rows;
	}
	rehearsal->left[type]--;
	return flows[rehearsal->flow[type]].class_;
}

static void
begin_flows(Rehearsal *rehearsal, uint32 ntypes, Border *border)
{
	const KanonRelease *release = rehearsal->release;

	rehearsal->flow = border_palloc(border, sizeof(size_t) * Max(ntypes, 1));
	rehearsal->left = border_palloc(border, sizeof(int64) * Max(ntypes, 1));
	for (size_t f = release->nflows; f-- > 0;)
	{
		rehearsal->flow[release->flows[f].type] = f;
		rehearsal->left[release->flows[f].type] = release->flows[f].rows;
	}
}

static void
take_row(Rehearsal *rehearsal, uint32 type, const Datum *kept, const bool *nulls)
{
	uint32 class_ = deal(rehearsal, type), person = KEPT_NOBODY;

	if (class_ == KANON_DROPPED)
		return;
	if (rehearsal->person != NULL)
		person = rehearsal->person[type];
	else if (rehearsal->look != NULL)
		person = kept_person(rehearsal->look, kept, nulls);
	if (rehearsal->look != NULL)
		kept_note(rehearsal->look, kept, nulls, person);
	if (rehearsal->tells == NULL)
		return;
	tells_class(rehearsal->tells, &rehearsal->release->cells[(size_t) class_ * rehearsal->problem->ncolumns]);
	tells_note(rehearsal->tells, type, kept, kept, nulls, nulls, person);
}

void
target_rehearse(const RowTypes *types, const KanonProblem *problem, const KanonRelease *release, bool keyed,
				Border *border)
{
	const Source *source = types->source;
	int persons = problem->privacy != NULL ? kanon_privacy_person(problem->privacy) : -1;
	Rehearsal rehearsal = {.problem = problem,
						   .release = release,
						   .person = persons >= 0 ? problem->extra[persons].code : NULL,
						   .look = kept_begin(source, keyed ? source->nkept - 1 : -1, types->nrows, border),
						   .tells = tells_begin(source, types, border)};
	const Datum *kept;
	const bool *nulls;
	uint32 type;

	begin_flows(&rehearsal, types->ntypes, border);
	source_lock(source);
	while (waiting_next(types->waiting, &type, &kept, &nulls))
	{
		CHECK_FOR_INTERRUPTS();
		take_row(&rehearsal, type, kept, nulls);
	}
	waiting_end(types->waiting);
	if (rehearsal.look != NULL)
		kept_end(rehearsal.look);
	if (rehearsal.tells != NULL)
		tells_end(rehearsal.tells);
}
