/*
 * linked_held.c: what rows show that were in releases before.
 *
 * A private copy has the levels that each row was shown from (linked_histories.c).  Rows of persons who stay as they were
 * show the same, and are not solved.  Rows of all others begin with what they showed, so that two releases of a row tell
 * no more than the finer of them.
 */
#include "compat.h"
#include "linked/linked_histories.h"
#include "rows/dictionary.h"
#include "rows/target.h"

#include "access/table.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/rel.h"

static int
place_of(const LinkedTable *table, const char *name)
{
	const Source *source = table->run->source;
	int c = source->nqis;

	while (c < source->ngrouped - 1 && strcmp(source->qis[c].name, name) != 0)
		c++;
	return c;
}

static Datum
value_of(const LinkedTable *table, int place, uint32 type, bool *isnull)
{
	return dictionary_value(table->run->source->qis[place].dictionary,
							table->run->types->grouped[place].code[type], isnull);
}

/* NULL: it was never shown. */
static const uint8 *
levels_of(const LinkedTable *table, int place, uint32 type)
{
	bool isnull;
	Datum value = value_of(table, place, type, &isnull);

	return isnull ? NULL : (const uint8 *) VARDATA_ANY(DatumGetByteaPP(value));
}

void
linked_raise_altered(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("a private table of the release before was altered"),
			 errhint("Undo that. Or begin new histories: kanon_alter_publication with protect_successive => "
					 "false, a refresh, and true again.")));
}

/* Its owner can write anything into a private table. */
static void
check_levels(const LinkedTable *table, int place)
{
	const Levels *levels = &table->run->source->levels;

	for (uint32 i = 0; i < table->run->types->ntypes; i++)
	{
		bool isnull;
		Datum value = value_of(table, place, i, &isnull);
		const bytea *shown = isnull ? NULL : DatumGetByteaPP(value);

		if (shown != NULL && VARSIZE_ANY_EXHDR(shown) != (Size) levels->nqis)
			linked_raise_altered();
		for (int q = 0; q < levels->nqis && shown != NULL; q++)
			if (((const uint8 *) VARDATA_ANY(shown))[q] > levels->first[q + 1] - levels->first[q])
				linked_raise_altered();
	}
}

/* The first of all classes is of those who stay as they were. */
static bool
is_held(const Linked *linked, const LinkedTable *table, uint32 row)
{
	return linked->class_[table->person[row]] == 0;
}

/* A row that showed a value of a level has that value in the levels below, too, where it equals none of theirs. */
static void
raise_codes(const LinkedTable *table, int place, int first, int end, KanonColumn *columns)
{
	uint32 ntypes = table->run->types->ntypes;
	const KanonColumn *before = table->run->problem.columns;
	int q = 0;

	while (table->run->source->levels.first[q] != first)
		q++;
	for (int c = first; c < end; c++)
	{
		uint32 *code = border_palloc(table->run->border, sizeof(uint32) * Max(ntypes, 1));

		for (uint32 i = 0; i < ntypes; i++)
		{
			const uint8 *levels = levels_of(table, place, i);
			int shown = levels == NULL ? first : first + levels[q];

			code[i] = before[Min(shown, end - 1)].code[i];
			if (shown <= c)
				code[i] = before[c].code[i];
			else if (shown == end)
				code[i] = 0;
			for (int above = c; above < shown; above++)
				code[i] += before[above].distinct;
		}
		columns[c].code = code;
		for (int above = c + 1; above < end; above++)
			columns[c].distinct += before[above].distinct;
		columns[c].distinct++;
	}
}

void
linked_hold_rows(Linked *linked, KanonLinkedTable *tables)
{
	for (int t = 1; t < linked->n && linked->tables[t].role == LINKED_ROWS; t++)
	{
		LinkedTable *table = &linked->tables[t];
		const Levels *levels = &table->run->source->levels;
		KanonProblem *problem = palloc(sizeof(KanonProblem));
		KanonColumn *columns = palloc(sizeof(KanonColumn) * Max(table->run->problem.ncolumns, 1));

		check_levels(table, place_of(table, HELD_LEVELS));
		*problem = table->run->problem;
		memcpy(columns, problem->columns, sizeof(KanonColumn) * problem->ncolumns);
		for (int q = 0; q < levels->nqis; q++)
			raise_codes(table, place_of(table, HELD_LEVELS), levels->first[q], levels->first[q + 1], columns);
		problem->columns = columns;
		tables[t - 1].problem = problem;
		for (uint32 row = 0; row < table->nrows; row++)
			table->gone[row] = table->gone[row] || is_held(linked, table, row);
	}
}

void
linked_show_held(Linked *linked)
{
	for (int t = 1; t < linked->n && linked->tables[t].role == LINKED_ROWS; t++)
	{
		LinkedTable *table = &linked->tables[t];
		int nqis = table->run->source->nqis, place = place_of(table, HELD_LEVELS);

		for (uint32 row = 0; row < table->nrows; row++)
		{
			const uint8 *before = levels_of(table, place, table->type[row]);
			uint8 *level = table->level + (Size) row * nqis;

			if (is_held(linked, table, row))
			{
				if (before == NULL)
					linked_raise_altered();
				table->gone[row] = false;
				table->like[row] = table->type[row];
				memcpy(level, before, nqis);
			}
			for (int q = 0; q < nqis && before != NULL && !table->gone[row]; q++)
				level[q] = Max(level[q], before[q]);
		}
	}
}

/* The cells of a row as text, among rows that were solved for the release. */
static Datum
look_of(const Linked *linked, const LinkedTable *table, uint32 row)
{
	const Levels *levels = &table->run->source->levels;
	StringInfoData look;

	initStringInfo(&look);
	appendStringInfo(&look, INT64_FORMAT, linked->histories->release);
	for (int q = 0; q < levels->nqis; q++)
	{
		int level = table->level[(Size) row * levels->nqis + q], column = levels->first[q] + level;

		if (column < levels->first[q + 1])
			appendStringInfo(&look, ",%d.%u", level,
							 table->run->problem.columns[column].code[table->like[row]]);
		else
			appendStringInfoString(&look, ",*");
	}
	return CStringGetTextDatum(look.data);
}

void
linked_write_looks(const Linked *linked, const LinkedTable *table, Oid looks)
{
	Relation rel = table_open(looks, RowExclusiveLock);
	BulkWriter *bulk = bulk_begin(rel);
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_SMALL_SIZES);
	int nqis = table->run->source->nqis, place = place_of(table, HELD_ROW);
	bytea *levels = palloc(VARHDRSZ + nqis);

	SET_VARSIZE(levels, VARHDRSZ + nqis);
	for (uint32 row = 0; row < table->nrows; row++)
	{
		TupleTableSlot *slot;
		MemoryContext old;

		if (table->gone[row])
			continue;
		slot = bulk_slot(bulk);
		old = MemoryContextSwitchTo(scratch);
		slot->tts_values[0] = value_of(table, place, table->type[row], &slot->tts_isnull[0]);
		memcpy(VARDATA(levels), table->level + (Size) row * nqis, nqis);
		slot->tts_values[1] = PointerGetDatum(levels);
		slot->tts_isnull[1] = false;
		slot->tts_isnull[2] = is_held(linked, table, row);
		slot->tts_values[2] = slot->tts_isnull[2] ? (Datum) 0 : look_of(linked, table, row);
		MemoryContextSwitchTo(old);
		bulk_put(bulk);
		MemoryContextReset(scratch);
	}
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
	MemoryContextDelete(scratch);
	CommandCounterIncrement();
}
