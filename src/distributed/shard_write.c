/*
 * shard_write.c: a worker writes a shard of the target from the rows that were set aside, class by class.
 *
 * It is called by a query that inserts nothing itself.  The table is the one that this query inserts into: who calls may
 * insert there, and rows pass by whatever the executor would do with each of them, so that many go in at a time.
 */
#include "compat.h"
#include "distributed/distributed.h"
#include "host/lines.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

PG_FUNCTION_INFO_V1(kanon_shard_write);

typedef struct ShardWriter
{
	Relation target;
	bytea *lookup;
	TupleDesc desc; /* of rows that were set aside */
	int packed;     /* attributes of these */
	int shard;
	int n;     /* the others, */
	int *from; /* [n] there, */
	int *to;   /* [n] and in the target, */
	int shard_to;
	TupleDesc sorted; /* and behind class and shard, which are one number */
	Tuplesortstate *sort;
	TupleTableSlot *put;

	int nclasses;
	HeapTupleHeader *classes; /* [nclasses] */
	RowArgument *row;         /* the one at hand: its number, and what it shows */
	int *shown;               /* [natts of these] places in the target */
	Datum *values;            /* [natts of the target] of the class at hand */
	bool *nulls;
} ShardWriter;

static void
raise_other_table(void)
{
	ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
					errmsg("this query inserts into another table than it should")));
}

/* The table that the query inserts into: rows are put into it past everything, so there must be nothing. */
static Relation
open_inserted(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	EState *estate = result != NULL && IsA(result, ReturnSetInfo) && result->econtext != NULL
						 ? result->econtext->ecxt_estate
						 : NULL;
	PlannedStmt *plan = estate != NULL ? estate->es_plannedstmt : NULL;
	Relation rel;
	Form_pg_class form;

	if (plan == NULL || plan->commandType != CMD_INSERT || kanon_written_entry(plan) == 0)
		raise_other_table();
	rel = table_open(exec_rt_fetch(kanon_written_entry(plan), estate)->relid, RowExclusiveLock);
	form = rel->rd_rel;
	if (form->relkind != RELKIND_RELATION || form->relhasindex || form->relhastriggers || form->relhasrules ||
		form->relchecks > 0 || form->relrowsecurity || form->relispartition || form->relhassubclass ||
		RelationGetDescr(rel)->constr != NULL ||
		pg_class_aclcheck(RelationGetRelid(rel), GetUserId(), ACL_INSERT) != ACLCHECK_OK)
		raise_other_table();
	return rel;
}

static bool
takes_values(Form_pg_attribute att, Form_pg_attribute of)
{
	return !att->attisdropped && att->atttypid == of->atttypid &&
		   (att->atttypmod == of->atttypmod || att->atttypmod == -1);
}

/* The column of the target that has the name and type of one that was set aside. */
static int
place_in(TupleDesc target, Form_pg_attribute like, bool *taken)
{
	for (int i = 0; i < target->natts; i++)
		if (strcmp(NameStr(TupleDescAttr(target, i)->attname), NameStr(like->attname)) == 0 &&
			takes_values(TupleDescAttr(target, i), like))
		{
			taken[i] = true;
			return i;
		}
	raise_other_table();
	return -1;
}

/* Classes show, in order, what was not set aside. */
static void
find_shown(ShardWriter *writer, const bool *taken)
{
	TupleDesc target = RelationGetDescr(writer->target);
	int cell = 1;

	for (int i = 0; i < target->natts; i++)
	{
		if (taken[i])
			continue;
		if (cell == writer->row->desc->natts ||
			!takes_values(TupleDescAttr(target, i), TupleDescAttr(writer->row->desc, cell)))
			raise_other_table();
		writer->shown[cell++] = i;
	}
	if (cell < writer->row->desc->natts)
		raise_other_table();
}

static void
find_columns(ShardWriter *writer)
{
	TupleDesc target = RelationGetDescr(writer->target);
	bool *taken = palloc0(sizeof(bool) * target->natts);

	writer->packed = writer->shard = -1;
	for (int i = 0; i < writer->desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(writer->desc, i);

		if (strcmp(NameStr(att->attname), PACKED_COLUMN) == 0 && att->atttypid == BYTEAOID)
			writer->packed = i;
		else if (strcmp(NameStr(att->attname), SHARD_COLUMN) == 0 && att->atttypid == INT4OID)
		{
			writer->shard = i;
			writer->shard_to = place_in(target, att, taken);
		}
		else
		{
			writer->from[writer->n] = i;
			writer->to[writer->n++] = place_in(target, att, taken);
		}
	}
	if (writer->packed < 0 || writer->shard < 0)
		raise_other_table();
	find_shown(writer, taken);
}

static void *
prepare_nothing(const RowArgument *row)
{
	return NULL;
}

/* Records of one row type, by the number of their class; false: there are none. */
static bool
take_classes(ShardWriter *writer, FmgrInfo *call, ArrayType *classes)
{
	Datum *records;
	bool *nulls;
	int32 typmod = -1;

	deconstruct_array(classes, ARR_ELEMTYPE(classes), -1, false, TYPALIGN_DOUBLE, &records, &nulls,
					  &writer->nclasses);
	writer->classes = palloc0(sizeof(HeapTupleHeader) * Max(writer->nclasses, 1));
	for (int i = 0; i < writer->nclasses; i++)
	{
		HeapTupleHeader header;
		int32 class_;

		if (nulls[i])
			raise_no_lookup();
		header = DatumGetHeapTupleHeader(records[i]);
		writer->row = row_argument(call, header, prepare_nothing);
		if ((i > 0 && writer->row->typmod != typmod) ||
			TupleDescAttr(writer->row->desc, 0)->atttypid != INT4OID)
			raise_no_lookup();
		typmod = writer->row->typmod;
		row_deform(writer->row, header);
		class_ = DatumGetInt32(writer->row->values[0]);
		if (writer->row->nulls[0] || class_ < 0 || class_ >= writer->nclasses ||
			writer->classes[class_] != NULL)
			raise_no_lookup();
		writer->classes[class_] = header;
	}
	return writer->nclasses > 0;
}

/* A row with its class and place, unless it goes nowhere. */
static bool
receive_staged(void *arg, TupleTableSlot *slot)
{
	ShardWriter *writer = arg;
	TupleTableSlot *put = ExecClearTuple(writer->put);
	bytea *packed;
	int32 shard;
	uint32 class_;

	if (slot->tts_isnull[writer->packed] || slot->tts_isnull[writer->shard])
		raise_no_lookup();
	packed = DatumGetByteaPP(slot->tts_values[writer->packed]);
	shard = DatumGetInt32(slot->tts_values[writer->shard]);
	class_ = lookup_class(writer->lookup, packed, shard);
	if (packed != (bytea *) DatumGetPointer(slot->tts_values[writer->packed]))
		pfree(packed);
	if (class_ == LOOKUP_NOWHERE)
		return true;
	if (class_ >= (uint32) writer->nclasses)
		raise_no_lookup();
	put->tts_values[0] = Int64GetDatum((int64) class_ << 32 | (uint32) shard);
	put->tts_isnull[0] = false;
	for (int i = 0; i < writer->n; i++)
	{
		put->tts_values[i + 1] = slot->tts_values[writer->from[i]];
		put->tts_isnull[i + 1] = slot->tts_isnull[writer->from[i]];
	}
	tuplesort_puttupleslot(writer->sort, ExecStoreVirtualTuple(put));
	return true;
}

static void
begin_sort(ShardWriter *writer)
{
	AttrNumber key = 1;
	Oid less = Int8LessOperator, collation = InvalidOid;
	bool nulls_first = false;

	writer->sorted = CreateTemplateTupleDesc(writer->n + 1);
	TupleDescInitEntry(writer->sorted, 1, "key", INT8OID, -1, 0);
	for (int i = 0; i < writer->n; i++)
		TupleDescCopyEntry(writer->sorted, i + 2, writer->desc, writer->from[i] + 1);
	TupleDescFinalize(writer->sorted);
	writer->sort =
		tuplesort_begin_heap(writer->sorted, 1, &key, &less, &collation, &nulls_first, work_mem, NULL, 0);
	writer->put = MakeSingleTupleTableSlot(writer->sorted, &TTSOpsVirtual);
}

static void
enter_class(ShardWriter *writer, HeapTupleHeader header)
{
	row_deform(writer->row, header);
	for (int i = 1; i < writer->row->desc->natts; i++)
	{
		writer->values[writer->shown[i]] = writer->row->values[i];
		writer->nulls[writer->shown[i]] = writer->row->nulls[i];
	}
}

static void
write_sorted(ShardWriter *writer)
{
	int natts = RelationGetDescr(writer->target)->natts;
	TupleTableSlot *row = MakeSingleTupleTableSlot(writer->sorted, &TTSOpsMinimalTuple);
	BulkWriter *bulk = bulk_begin(writer->target);
	int64 at = -1;

	tuplesort_performsort(writer->sort);
	while (tuplesort_gettupleslot(writer->sort, true, false, row, NULL))
	{
		TupleTableSlot *slot = bulk_slot(bulk);
		int64 key;

		slot_getallattrs(row);
		key = DatumGetInt64(row->tts_values[0]);
		if (key >> 32 != at)
			enter_class(writer, writer->classes[at = key >> 32]);
		memcpy(slot->tts_values, writer->values, sizeof(Datum) * natts);
		memcpy(slot->tts_isnull, writer->nulls, sizeof(bool) * natts);
		slot->tts_values[writer->shard_to] = Int32GetDatum((int32) key);
		for (int i = 0; i < writer->n; i++)
		{
			slot->tts_values[writer->to[i]] = row->tts_values[i + 1];
			slot->tts_isnull[writer->to[i]] = row->tts_isnull[i + 1];
		}
		bulk_put(bulk);
	}
	(void) bulk_end(bulk);
	tuplesort_end(writer->sort);
}

/* classes: a record for each class, its number first; nothing is returned for the query to insert. */
Datum
kanon_shard_write(PG_FUNCTION_ARGS)
{
	Oid relid = PG_GETARG_OID(0);
	ShardWriter writer = {.lookup = PG_GETARG_BYTEA_PP(1)};

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	if (!take_classes(&writer, fcinfo->flinfo, PG_GETARG_ARRAYTYPE_P(2)))
		PG_RETURN_NULL();
	writer.target = open_inserted(fcinfo);
	writer.desc = CreateTupleDescCopy(shard_columns(relid));
	writer.from = palloc(sizeof(int) * writer.desc->natts);
	writer.to = palloc(sizeof(int) * writer.desc->natts);
	writer.shown = palloc(sizeof(int) * writer.row->desc->natts);
	writer.values = palloc0(sizeof(Datum) * RelationGetDescr(writer.target)->natts);
	writer.nulls = palloc0(sizeof(bool) * RelationGetDescr(writer.target)->natts);
	find_columns(&writer);
	begin_sort(&writer);
	shard_read(relid, writer.desc, false, receive_staged, &writer);
	write_sorted(&writer);
	table_close(writer.target, NoLock);
	PG_RETURN_NULL();
}
