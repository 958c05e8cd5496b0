/*
 * linked_owned.c: does a kept column of another table than the subject's identify persons?
 *
 * The address of one person each is a column of that person, wherever it stands.  So persons are joined with their rows, and
 * these with each lookup, over as many steps as it takes.  Values that a table shows beside each of them are judged as a kept
 * column of the subject's table would be (rows/identifying_columns.c).  A lookup is published whole, so that it does not
 * matter whether readers can join it.
 *
 * Some persons are looked at first: among them a value looks more like one's own than it is.  All are, where it does.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "linked/linked_ways.h"
#include "masks/mask_apply.h"
#include "rows/verify.h"

#include "utils/builtins.h"
#include "utils/snapmgr.h"

typedef struct Look
{
	const Linked *linked;
	const LinkedPlace *places;
	int place;
	Source *source; /* the lookup's, with masks that are applied once more */
	KeptLook *kept;
	Border *border;
} Look;

/* The subject's table is judged when it is written, but for keys of lookups that stay as they are; all others are judged here. */
static bool
is_judged(const LinkedPlace *place, const SourceColumn *column)
{
	if (linked_is_reference(place->table, column->name))
		return column->mask == NULL && !linked_answers(place->table, column->name);
	return place->table->role != LINKED_SUBJECT && !column->may_identify;
}

static bool
any_judged(const LinkedPlace *place)
{
	const Source *source = linked_source(place);
	bool any = false;

	for (int i = 0; i < source->nkept; i++)
		any = any || is_judged(place, &source->kept[i]);
	return any;
}

/* The table as it is published, to be read beside its run. */
static Source *
open_again(const LinkedPlace *place)
{
	const LinkedTable *table = place->table;
	const Request *request = &table->request;
	const Source *run = table->run->source;
	Source *source = source_open_kept(request->source, request->columns.keep);

	masks_read(source, request->columns.mask, NULL, request->columns.mask_key, request->published);
	for (int i = 0; i < source->nkept; i++)
	{
		source->kept[i].may_identify = !is_judged(place, &run->kept[i]);
		/* (as many values are one's own as before; which row has which is drawn once alone) */
		if (source->kept[i].mask != NULL && source->kept[i].mask->kind == MASK_SWAP)
			source->kept[i].mask = NULL;
	}
	if (source->relid != run->relid)
		source_read_instead(source, run->relid, request->linked.numbers);
	return source;
}

static bool
receive(void *arg, TupleTableSlot *slot)
{
	Look *look = arg;
	Masks *masks = look->source->masks;
	const Datum *values = slot->tts_values + 1;
	const bool *nulls = slot->tts_isnull + 1;
	uint32 person = tells_number(TupleDescAttr(slot->tts_tupleDescriptor, 0)->atttypid, slot->tts_values[0],
								 slot->tts_isnull[0]) &
					(KEPT_NOBODY >> 1);

	if (masks != NULL)
	{
		masks_apply(masks, values, nulls);
		values = masks->values;
		nulls = masks->nulls;
	}
	kept_note(look->kept, values, nulls, person);
	return true;
}

/*
 * Copies of a row that several persons share have one value, which is nobody else's: it counts as one person's.  The place of
 * such rows; -1: rows are of one person each.
 */
static int
sharing_place(const Look *look)
{
	const LinkedTable *table;
	int place = look->place;

	while (look->places[place].refers != NULL)
		place = look->places[place].above;
	table = look->places[place].table;
	return table->shared.on || linked_shared_root(look->linked, table) != NULL ? place : -1;
}

static const SourceColumn *
shared_column(const LinkedPlace *place)
{
	const char *name = LINKED_SHARED_ROW;
	int n;

	return source_columns(linked_source(place), name_list(&name, 1), "foreign_key", "a key", &n);
}

/* The lookup's rows beside each row that refers to them, of one in `share` persons. */
static void
read_rows(Look *look, uint32 share)
{
	int root = linked_root(look->places, look->place);
	const Source *source = look->source, *first = linked_source(&look->places[root]);
	int of = sharing_place(look);
	const SourceColumn *person =
		of < 0 ? linked_person(&look->places[root]) : shared_column(&look->places[of]);
	Gate *gate = gate_create(first->name, first->relid, 1 + source->nkept);
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT t%d.%s", of < 0 ? root : of, person->quoted);
	gate_columns(gate, person, 1);
	for (int i = 0; i < source->nkept; i++)
		appendStringInfo(&sql, ", t%d.%s", look->place, source->kept[i].quoted);
	gate_columns(gate, source->kept, source->nkept);
	linked_join(look->places, look->place, look->place, &sql, gate);
	linked_some_persons(look->places, root, share, &sql);
	gate_select(gate, sql.data, true, receive, look);
}

pg_noreturn static void
refuse(const Look *look)
{
	const LinkedPlace *place = &look->places[look->place];
	StringInfoData names, shares;
	int n = 0;

	initStringInfo(&names);
	initStringInfo(&shares);
	for (int i = 0; i < look->source->nkept; i++)
	{
		KeptFigures figures = kept_figures(look->kept, i);

		if (!figures.identifies)
			continue;
		appendStringInfo(&names, "%s\"%s\"", n > 0 ? ", " : "", look->source->kept[i].name);
		appendStringInfo(&shares, "%s%.0f %% in \"%s\"", n++ > 0 ? ", " : "", 100 * figures.own,
						 look->source->kept[i].name);
	}
	ereport(
		ERROR,
		(errcode(ERRCODE_CHECK_VIOLATION),
		 errmsg_plural("kept column %s of table \"%s\" identifies persons",
					   "kept columns %s of table \"%s\" identify persons", n, names.data,
					   excerpt(place->table->name)),
		 errdetail("%sRows of persons with a value that no other person has: %s.",
				   place->refers == NULL
					   ? ""
					   : psprintf("Column \"%s\" of table \"%s\" refers to it. ", place->refers,
								  excerpt(look->places[place->above].table->name)),
				   shares.data),
		 errhint("Leave out or mask what identifies. If readers may know whom each row is about, name it in "
				 "allow_identifying of \"%s\".",
				 excerpt(place->table->name))));
}

/* True: nearly all rows have values of one person alone. */
static bool
identifies(Look *look, uint32 share)
{
	bool any = false;

	look->kept = kept_begin(look->source, -1, 0, look->border);
	masks_begin(look->source, 0, 1, look->border);
	masks_read_source(look->source, 1);
	read_rows(look, share);
	for (int i = 0; i < look->source->nkept; i++)
		any = any || kept_figures(look->kept, i).identifies;
	masks_end(look->source->masks);
	return any;
}

static void
look_at(const Linked *linked, const LinkedPlace *places, int place)
{
	uint32 share = linked_share(linked);
	MemoryContext context =
		AllocSetContextCreate(linked->border->context, "kanon lookup", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Look look = {.linked = linked, .places = places, .place = place, .border = linked->border};

	look.source = open_again(&places[place]);
	if (identifies(&look, share) && (share == 1 || identifies(&look, 1)))
		refuse(&look);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

void
linked_owned(const Linked *linked)
{
	int n;
	LinkedPlace *places = linked_places(linked, false, &n);

	border_progress(linked->border, "joining lookups with persons", 0, -1);
	PushActiveSnapshot(linked->snapshot);
	for (int i = 0; i < n; i++)
		if (any_judged(&places[i]))
			look_at(linked, places, i);
	PopActiveSnapshot();
	pfree(places);
}
