/*
 * write.c: a release becomes the rows of the target.
 *
 * Without kept columns the release says it all: each class is written as often
 * as it has rows.  With kept columns, or persons to be counted, the source is read again under the same
 * snapshot: each row goes to a class and a random place in it, tuplesort brings
 * the rows into that order, and they get what their class shows.  Rows whose type
 * goes to several classes wait until all of them are there (row_split.c).
 */
#include "compat.h"
#include "rows/target.h"
#include "core/freeform/freeform_work.h"
#include "core/privacy/rules.h"
#include "core/util/fault.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "host/border.h"
#include "rows/dictionary.h"
#include "rows/verify.h"
#include "hierarchies/hierarchy.h"
#include "masks/mask_apply.h"
#include "rows/cell_values.h"
#include "distributed/distributed.h"

#include "access/table.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

/* A sorted row's columns before the kept ones: its key and its type. */
#define COLUMNS_BEFORE 2

/* Rows between two looks at the clock. */
#define PROGRESS_ROWS 65536

struct Writer
{
	const Target *target;
	Relation rel;
	const RowTypes *types;
	const KanonProblem *problem;
	const KanonRelease *release;
	Border *border;
	BulkWriter *bulk;
	int64 total;  /* rows that will be written */
	int64 placed; /* rows given a class */

	ShownClass *shown; /* the class at hand */

	/* with kept columns */
	Tuplesortstate *sort;   /* of (key, kept values) */
	TupleTableSlot *sorted; /* one of its rows */
	TypeIndex *index;
	size_t *first_flow;   /* [ntypes + 1]; NULL: flow i is of type i */
	int64 *left;          /* [nflows] rows still to come */
	int class_shift;      /* bits below the class in a key */
	Split *split;         /* rows of types with several flows; NULL: there are none */
	bool *noted;          /* [ntypes] the next release will know its rows; NULL: of none */
	TupleDesc desc;       /* of a row of the source */
	Persons *persons;     /* NULL: no rule counts them */
	const uint32 *person; /* [ntypes] whom rows are about; NULL: no rule says */
	KeptLook *look;       /* NULL: kept columns may identify */
	TellsLook *tells;     /* NULL: or say what they will */
	ClassLook *values;    /* NULL: nobody asks what classes have of them in common */
	RandomPool random;
};

/* The flow that takes a row of this type. */
static size_t
draw_flow(const Writer *writer, uint32 type, const Deal *deal)
{
	size_t first = type, end = (size_t) type + 1;

	if (writer->first_flow != NULL)
	{
		first = writer->first_flow[type];
		end = writer->first_flow[type + 1];
	}
	return deal_flow(writer->release, writer->left, first, end, writer->target->company, deal);
}

static bool
is_split(const Writer *writer, uint32 type)
{
	return writer->first_flow != NULL && writer->first_flow[type + 1] - writer->first_flow[type] > 1;
}

static uint32
row_type(Writer *writer, TupleTableSlot *slot)
{
	uint32 type = type_index_find(writer->index, slot->tts_values, slot->tts_isnull);

	if (type == DICTIONARY_NONE)
		raise_source_changed();
	return type;
}

static inline uint32
key_class(const Writer *writer, int64 key)
{
	return (uint32) ((uint64) key >> writer->class_shift);
}

/* Looks at the kept values of a row, as they are and as they are published. */
static void
look_at(Writer *writer, uint32 type, const Datum *kept, const bool *kept_nulls, const Datum *shown,
		const bool *shown_nulls)
{
	class_look_note(writer->values, shown, shown_nulls);
	if (writer->look != NULL || writer->tells != NULL)
	{
		uint32 person = writer->person != NULL ? writer->person[type]
						: writer->look != NULL ? kept_person(writer->look, kept, kept_nulls)
											   : KEPT_NOBODY;

		if (writer->look != NULL)
			kept_note(writer->look, shown, shown_nulls, person);
		if (writer->tells != NULL)
			tells_note(writer->tells, type, kept, shown, kept_nulls, shown_nulls, person);
	}
}

/* The target's own columns, from the next on. */
static void
put_own(Writer *writer, uint32 type, TupleTableSlot *slot, int next)
{
	if (writer->target->mark)
	{
		slot->tts_values[next] = writer->shown->pattern;
		slot->tts_isnull[next++] = false;
	}
	if (writer->target->numbered)
	{
		slot->tts_values[next] = Int32GetDatum((int32) type);
		slot->tts_values[next + 1] = Int32GetDatum((int32) writer->shown->class_);
		slot->tts_isnull[next] = slot->tts_isnull[next + 1] = false;
	}
	if (writer->target->kind == TABLE_DISTRIBUTED)
	{
		slot->tts_values[next] = Int32GetDatum((int32) random_draw(&writer->random));
		slot->tts_isnull[next] = false;
	}
}

/* One row of the class at hand, with the kept values given. */
static void
put_row(Writer *writer, uint32 type, const Datum *kept, const bool *kept_nulls)
{
	const Source *source = writer->types->source;
	TupleTableSlot *slot = bulk_slot(writer->bulk);
	int nkept = source->nkept - (writer->target->taker != NULL);
	Masks *masks = source->nkept > 0 ? source->masks : NULL;
	const Datum *shown = kept;
	const bool *shown_nulls = kept_nulls;

	if (masks != NULL)
	{
		masks_apply(masks, kept, kept_nulls);
		if (writer->target->hides != NULL && writer->target->hides[type] && !FAULT(reference_shown))
			masks->nulls[writer->target->hidden] = true;
		masks_count(masks, 1);
		shown = masks->values;
		shown_nulls = masks->nulls;
	}
	look_at(writer, type, kept, kept_nulls, shown, shown_nulls);
	if (FAULT(mask_forgotten))
	{
		shown = kept;
		shown_nulls = kept_nulls;
	}
	if (FAULT(rows_skipped))
		return;
	memcpy(slot->tts_values, writer->shown->values, sizeof(Datum) * source->nqis);
	memcpy(slot->tts_isnull, writer->shown->nulls, sizeof(bool) * source->nqis);
	if (FAULT(row_blank) && bulk_empty(writer->bulk))
		memset(slot->tts_isnull, true, sizeof(bool) * source->nqis);
	if (nkept > 0)
	{
		memcpy(slot->tts_values + source->nqis, shown, sizeof(Datum) * nkept);
		memcpy(slot->tts_isnull + source->nqis, shown_nulls, sizeof(bool) * nkept);
	}
	if (FAULT(kept_changed))
		slot->tts_values[source->nqis] = slot->tts_values[source->nqis + nkept - 1];
	put_own(writer, type, slot, source->nqis + nkept);
	if (writer->target->taker != NULL)
		writer->target->taker(writer->target->taker_arg, writer->shown->class_, slot, kept[nkept],
							  kept_nulls[nkept]);
	bulk_put(writer->bulk);
}

/* For the next release; a row that is dropped keeps the class that it had. */
static void
note_row(const Writer *writer, uint32 type, uint32 class_, const Deal *deal)
{
	const Company *company = writer->target->company;

	if (class_ != KANON_DROPPED)
		company->note(company->arg, type, class_, &deal->mark);
	else if (deal->before < company->nclasses && company->became[deal->before] == KANON_DROPPED)
		company->note(company->arg, type, writer->release->nclasses + deal->before, &deal->mark);
}

/*
 * A row goes to a class, in the high bits of the key, and to a random place in it.
 * Rows that are left out get no key.
 */
static void
place_row(void *arg, uint32 type, const Deal *deal, const Datum *kept, const bool *nulls)
{
	Writer *writer = arg;
	int nkept = writer->types->source->nkept;
	size_t flow = draw_flow(writer, type, deal);
	uint32 class_ = writer->release->flows[flow].class_;
	uint64 key;

	writer->left[flow]--;
	if (writer->noted != NULL && writer->noted[type])
		note_row(writer, type, class_, deal);
	if (class_ == KANON_DROPPED)
		return;
	if (writer->persons != NULL)
		persons_note(writer->persons, class_, type);
	key = (uint64) class_ << writer->class_shift | random_draw(&writer->random) >> (64 - writer->class_shift);
	ExecClearTuple(writer->sorted);
	writer->sorted->tts_values[0] = Int64GetDatum((int64) key);
	writer->sorted->tts_values[1] = Int32GetDatum((int32) type);
	writer->sorted->tts_isnull[0] = writer->sorted->tts_isnull[1] = false;
	memcpy(writer->sorted->tts_values + COLUMNS_BEFORE, kept, sizeof(Datum) * nkept);
	memcpy(writer->sorted->tts_isnull + COLUMNS_BEFORE, nulls, sizeof(bool) * nkept);
	tuplesort_puttupleslot(writer->sort, ExecStoreVirtualTuple(writer->sorted));
	if (++writer->placed % PROGRESS_ROWS == 0)
		border_progress(writer->border, "placing rows", (double) writer->placed / writer->total,
						writer->total - writer->placed);
}

/* The mark of a row whose type is not split, and where it was if it may be dropped. */
static Deal
deal_noted(const Writer *writer, uint32 type, const Datum *kept, const bool *nulls)
{
	const Source *source = writer->types->source;
	Company *company = writer->target->company;
	Deal deal = {.before = NO_CLASS_BEFORE};
	const RowBefore *before;

	deal.mark = company_mark(company, writer->desc, source->ngrouped, source->nkept, kept, nulls);
	before = company->ndropped > 0 ? company_meet_row(company, type, &deal.mark) : NULL;
	if (before != NULL)
		deal.before = before->class_;
	return deal;
}

static void
take_row(Writer *writer, uint32 type, const Datum *kept, const bool *nulls)
{
	if (writer->types->source->masks != NULL)
		masks_look(writer->types->source->masks, kept, nulls);
	if (is_split(writer, type))
		split_put(writer->split, type, kept, nulls);
	else
	{
		Deal deal = {.before = NO_CLASS_BEFORE};

		if (writer->noted != NULL && writer->noted[type])
			deal = deal_noted(writer, type, kept, nulls);
		place_row(writer, type, &deal, kept, nulls);
	}
}

/* A row of the source: what row types are made of, then kept columns. */
static bool
receive_row(void *arg, TupleTableSlot *slot)
{
	Writer *writer = arg;
	int ngrouped = writer->types->source->ngrouped;

	take_row(writer, row_type(writer, slot), slot->tts_values + ngrouped, slot->tts_isnull + ngrouped);
	return true;
}

/* Those that wait; the relation must still be what it was when they were read, and their types. */
static void
take_waiting(Writer *writer)
{
	Waiting *waiting = writer->types->waiting;
	const Datum *kept;
	const bool *nulls;
	uint32 type;

	source_lock(writer->types->source);
	while (waiting_next(waiting, &type, &kept, &nulls))
	{
		CHECK_FOR_INTERRUPTS();
		take_row(writer, type, kept, nulls);
	}
	waiting_end(waiting);
}

/* The key that decides where each of several rows that look alike goes. */
static uint64
split_seed(Writer *writer)
{
	const KanonFreeformOptions *freeform = writer->problem->freeform;

	return freeform != NULL && freeform->strong != NULL ? random_draw(&writer->random)
														: writer->problem->seed;
}

/*
 * Rows that could go elsewhere than others of their type are those of split types and, of which new ones may be
 * turned away, those that are suppressed and those under rules; and rows that are dropped.
 */
static void
find_noted(Writer *writer)
{
	uint32 ntypes = writer->types->ntypes;
	bool rules = writer->problem->privacy != NULL || writer->problem->known != NULL;

	writer->noted = border_palloc(writer->border, sizeof(bool) * Max(ntypes, 1));
	for (uint32 i = 0; i < ntypes; i++)
		writer->noted[i] = rules || is_split(writer, i);
	for (size_t f = 0; f < writer->release->nflows; f++)
		if (writer->release->flows[f].class_ == KANON_DROPPED
				? writer->target->company->ndropped > 0
				: kanon_class_blank(writer->problem, writer->release, writer->release->flows[f].class_))
			writer->noted[writer->release->flows[f].type] = true;
	company_begin(writer->target->company);
}

/* The sorted rows are (key bigint, row type, kept columns as the source has them). */
static void
begin_sort(Writer *writer, TupleDesc desc)
{
	const Source *source = writer->types->source;
	AttrNumber key = 1;
	Oid less = Int8LessOperator;
	Oid collation = InvalidOid;
	bool nulls_first = false;
	TupleDesc sorted = CreateTemplateTupleDesc(COLUMNS_BEFORE + source->nkept);

	TupleDescInitEntry(sorted, 1, "key", INT8OID, -1, 0);
	TupleDescInitEntry(sorted, 2, "type", INT4OID, -1, 0);
	for (int i = 0; i < source->nkept; i++)
		TupleDescCopyEntry(sorted, COLUMNS_BEFORE + 1 + i, desc, source->ngrouped + i + 1);
	TupleDescFinalize(sorted);
	writer->sort = tuplesort_begin_heap(sorted, 1, &key, &less, &collation, &nulls_first, work_mem, NULL, 0);
	writer->sorted = MakeSingleTupleTableSlot(sorted, &TTSOpsVirtual);
	if (writer->first_flow != NULL)
		writer->split =
			split_begin(desc, source->ngrouped, source->nkept, split_seed(writer), writer->target->company);
	writer->desc = desc;
	if (writer->target->company != NULL)
		find_noted(writer);
}

/* The state of row_key. */
static void
prepare_flows(Writer *writer)
{
	const KanonRelease *release = writer->release;
	const RowTypes *types = writer->types;
	size_t flow = 0;

	if (types->waiting == NULL)
		writer->index = type_index_create(types, writer->border);
	writer->left = border_palloc(writer->border, sizeof(int64) * release->nflows);
	for (size_t f = 0; f < release->nflows; f++)
		writer->left[f] = release->flows[f].rows;
	if (release->nflows != types->ntypes)
	{
		writer->first_flow = border_palloc(writer->border, sizeof(size_t) * ((Size) types->ntypes + 1));
		for (uint32 i = 0; i < types->ntypes; i++)
		{
			writer->first_flow[i] = flow;
			while (flow < release->nflows && release->flows[flow].type == i)
				flow++;
		}
		writer->first_flow[types->ntypes] = flow;
	}
	if (FAULT(person_moved))
	{
		uint32 class_ = release->flows[0].class_;

		release->flows[0].class_ = release->flows[release->nflows - 1].class_;
		release->flows[release->nflows - 1].class_ = class_;
	}
	/* 63 bits for class and randomness */
	writer->class_shift = 63 - (pg_leftmost_one_pos32(release->nclasses + 1) + 1);
}

static void
enter_class(Writer *writer, uint32 class_)
{
	shown_class_enter(writer->shown, class_);
	class_look_enter(writer->values, class_);
	if (writer->tells != NULL)
		tells_class(writer->tells, &writer->release->cells[(size_t) class_ * writer->problem->ncolumns]);
}

static void
put_sorted(Writer *writer, const TupleTableSlot *slot)
{
	uint32 class_ = key_class(writer, DatumGetInt64(slot->tts_values[0])) +
					(FAULT(row_moved) && bulk_empty(writer->bulk));

	if (class_ != writer->shown->class_)
		enter_class(writer, class_);
	put_row(writer, DatumGetInt32(slot->tts_values[1]), slot->tts_values + COLUMNS_BEFORE,
			slot->tts_isnull + COLUMNS_BEFORE);
}

/* Some rows are fetched before the first of them is put, where masks win time by that. */
static void
put_all_sorted(Writer *writer)
{
	const Source *source = writer->types->source;
	TupleTableSlot *slots[MASK_ROWS_AHEAD];
	uint64 fetched = 0, put = 0;
	bool more = true;

	for (int i = 0; i < MASK_ROWS_AHEAD; i++)
		slots[i] = MakeSingleTupleTableSlot(writer->sorted->tts_tupleDescriptor, &TTSOpsMinimalTuple);
	while (more || put < fetched)
	{
		TupleTableSlot *slot = slots[fetched % MASK_ROWS_AHEAD];
		uint64 ahead = masks_ahead(source);

		more = more && tuplesort_gettupleslot(writer->sort, true, ahead > 1, slot, NULL);
		if (more)
		{
			slot_getallattrs(slot);
			fetched++;
			if (ahead > 1)
				masks_expect(source->masks, slot->tts_values + COLUMNS_BEFORE,
							 slot->tts_isnull + COLUMNS_BEFORE);
		}
		while (put < fetched && (!more || fetched - put >= ahead))
			put_sorted(writer, slots[put++ % MASK_ROWS_AHEAD]);
	}
	for (int i = 0; i < MASK_ROWS_AHEAD; i++)
		ExecDropSingleTupleTableSlot(slots[i]);
}

/* Kept columns are judged by the values that were written. */
static void
end_looks(Writer *writer)
{
	if (writer->look != NULL)
		kept_end(writer->look);
	if (writer->tells != NULL)
		tells_end(writer->tells);
	if (writer->values != NULL)
		writer->types->source->told->classes = class_look_end(writer->values);
}

static void
write_from_source(Writer *writer)
{
	int64 shown_by = rows_of_persons(writer->types, writer->problem->k, writer->border);
	const Source *source = writer->types->source;
	Gate *gate = gate_create(source->name, source->relid, source->ngrouped + source->nkept);
	int nest;

	prepare_flows(writer);
	if (writer->persons != NULL)
		writer->person = writer->problem->extra[kanon_privacy_person(writer->problem->privacy)].code;
	masks_begin(source, (int64) writer->types->nrows, shown_by, writer->border);
	/* a staged row has its key behind what it keeps */
	writer->look = kept_begin(source,
							  writer->target->numbered || writer->target->taker != NULL ? source->nkept - 1
																						: masks_who(source),
							  writer->types->nrows, writer->border);
	writer->tells = tells_begin(source, writer->types, writer->border);
	writer->values =
		class_look_begin(source, writer->target, writer->problem, writer->person != NULL, writer->border);
	class_look_release(writer->values, writer->release, writer->shown);
	gate_columns(gate, source->qis, source->ngrouped);
	gate_columns(gate, source->kept, source->nkept);
	begin_sort(writer, gate->desc);
	if (writer->types->waiting != NULL)
		take_waiting(writer);
	else
		gate_select(gate,
					psprintf("SELECT %s%s%s FROM %s", column_list(source->qis, source->ngrouped),
							 source->nkept > 0 ? ", " : "", column_list(source->kept, source->nkept),
							 source->name),
					true, receive_row, writer);
	if (writer->split != NULL)
		split_end(writer->split, place_row, writer);
	for (size_t f = 0; f < writer->release->nflows; f++)
		if (writer->left[f] != 0)
			raise_source_changed();
	if (writer->persons != NULL)
		persons_end(writer->persons);
	if (source->masks != NULL)
		masks_looked(source->masks, shown_by);

	tuplesort_performsort(writer->sort);
	nest = plain_text_begin();
	put_all_sorted(writer);
	plain_text_end(nest);
	end_looks(writer);
	masks_end(source->masks);
	ExecDropSingleTupleTableSlot(writer->sorted);
	tuplesort_end(writer->sort);
}

static void
write_from_release(Writer *writer)
{
	/* (a column that distributes rows has another value in each) */
	bool alike = writer->target->kind != TABLE_DISTRIBUTED && !FAULT(row_blank);
	int nest = plain_text_begin();

	for (uint32 class_ = 0; class_ < writer->release->nclasses; class_++)
	{
		shown_class_enter(writer->shown, class_);
		for (int64 row = 0; row < writer->release->classes[class_].rows; row++)
			if (row == 0 || !alike || !bulk_repeat(writer->bulk))
				put_row(writer, 0, NULL, NULL);
	}
	plain_text_end(nest);
}

static Writer *
open_writer(const Target *target, const RowTypes *types, const KanonProblem *problem,
			const KanonRelease *release, Border *border)
{
	Writer *writer = palloc0(sizeof(Writer));

	writer->target = target;
	writer->types = types;
	writer->problem = problem;
	writer->release = release;
	writer->border = border;
	writer->shown = shown_class_create(target, types->source, problem, release);
	writer->rel = target_open(target);
	if (!target_is_plain(writer->rel, target, types->source))
		raise_unsafe(
			"It has other columns than those that were listed, or constraints, indexes or triggers.");
	writer->bulk = bulk_begin(writer->rel);
	return writer;
}

static void
tell(Writer *writer, int64 total)
{
	writer->total = total;
	bulk_tell(writer->bulk, writer->border, 0, total);
}

static int64
close_writer(Writer *writer)
{
	int64 written = bulk_end(writer->bulk);

	table_close(writer->rel, NoLock);
	return written;
}

int64
target_write(const Target *target, const RowTypes *types, const KanonProblem *problem,
			 const KanonRelease *release, Border *border)
{
	Writer *writer;

	if (spread_takes(target, types->source, problem))
		return spread_write(target, types, problem, release, border);
	writer = open_writer(target, types, problem, release, border);
	tell(writer, types->nrows - release->dropped);
	writer->persons = persons_begin(problem, release, border);
	if (writer->persons != NULL && !target->mark && !kanon_privacy_monotone(problem->privacy))
		persons_find_alike(writer->persons, writer->shown);
	if (types->source->nkept > 0 || writer->persons != NULL)
		write_from_source(writer);
	else
		write_from_release(writer);
	return close_writer(writer);
}

/* ---- some classes at a time ---- */

Writer *
target_write_begin(const Target *target, const RowTypes *types, const KanonProblem *problem,
				   const KanonRelease *release, int64 total, Border *border)
{
	Writer *writer = open_writer(target, types, problem, release, border);

	tell(writer, total);
	if (types->source->nkept > 0)
	{
		writer->look = kept_begin(types->source, masks_who(types->source), types->nrows, border);
		/* types are made up: the only facts known of rows are the cells of their classes */
		writer->tells = tells_begin(types->source, NULL, border);
		writer->values = class_look_begin(types->source, target, problem, false, border);
	}
	return writer;
}

void
target_write_classes(Writer *writer, NextRow next, void *arg)
{
	int nest;

	writer->shown->class_ = KANON_DROPPED;
	if (next == NULL)
	{
		write_from_release(writer);
		return;
	}
	nest = plain_text_begin();
	class_look_release(writer->values, writer->release, NULL);
	for (uint32 class_ = 0; class_ < writer->release->nclasses; class_++)
	{
		enter_class(writer, class_);
		for (int64 row = 0; row < writer->release->classes[class_].rows; row++)
		{
			const Datum *kept;
			const bool *nulls;

			if (!next(arg, class_, &kept, &nulls))
				raise_source_changed();
			put_row(writer, 0, kept, nulls);
		}
	}
	plain_text_end(nest);
}

int64
target_write_end(Writer *writer)
{
	end_looks(writer);
	masks_end(writer->types->source->masks);
	return close_writer(writer);
}
