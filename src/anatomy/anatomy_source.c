/*
 * anatomy_source.c: rows read once: how many there are with each sensitive value, and their
 * quasi-identifiers set aside until their groups are known.
 */
#include "compat.h"
#include "anatomy/anatomy_model.h"
#include "host/gate.h"
#include "rows/dictionary.h"
#include "rows/cell_values.h"

#include "utils/builtins.h"
#include "utils/memutils.h"

/* Rows between two looks at the dictionary's memory. */
#define CHARGE_ROWS 4096

Source *
anatomy_open(Oid relid, ArrayType *qis, const char *sensitive)
{
	ArrayType *also = name_list(&sensitive, 1);
	Source *source = source_open_with(relid, qis, "quasi_identifiers", also);
	SourceColumn *column = source_columns(source, also, "sensitive", "a sensitive column", &source->ngrouped);

	source->kept = source->qis;
	source->nkept = source->nqis;
	source->qis = column;
	source->nqis = source->ngrouped;
	source->levels = no_levels(source->nqis);
	return source;
}

typedef struct Reader
{
	AnatomyRows *into;
	Border *border;
	MemoryContext row; /* what a row leaves behind */
	Size room;         /* of into->rows */
	Size charged;      /* bytes of the dictionary */
} Reader;

static void
charge_dictionary(Reader *reader)
{
	Size now = dictionary_memory(reader->into->source->qis[0].dictionary);

	border_charge(reader->border, reader->charged, now);
	reader->charged = now;
}

/* The sensitive value, then the quasi-identifiers. */
static bool
receive_row(void *arg, TupleTableSlot *slot)
{
	Reader *reader = arg;
	AnatomyRows *into = reader->into;
	MemoryContext old = MemoryContextSwitchTo(reader->row);
	uint32 code = dictionary_add(into->source->qis[0].dictionary, slot->tts_values[0], slot->tts_isnull[0]);

	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->row);
	if (into->nrows == PG_UINT32_MAX - 1)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("the source has more than %u rows", PG_UINT32_MAX - 1),
						errhint("Publish it in parts.")));
	into->nrows++;
	if (code == into->nvalues)
	{
		into->rows = border_grow(reader->border, into->rows, &reader->room, code + 1, sizeof(int64));
		into->rows[into->nvalues++] = 0;
	}
	into->rows[code]++;
	if (into->shuffled != NULL)
		shuffle_put(into->shuffled, code, slot->tts_values + 1, slot->tts_isnull + 1);
	if (into->nrows % CHARGE_ROWS == 0)
		charge_dictionary(reader);
	return true;
}

/* From now on codes ascend in the type's order. */
static void
sort_codes(AnatomyRows *into, Border *border)
{
	int64 *rows = border_palloc(border, sizeof(int64) * Max(into->nvalues, 1));

	into->code = dictionary_sort(into->source->qis[0].dictionary);
	for (uint32 v = 0; v < into->nvalues; v++)
		rows[into->code[v]] = into->rows[v];
	if (into->rows != NULL)
		border_pfree(border, into->rows);
	into->rows = rows;
}

AnatomyRows *
anatomy_read(Source *source, bool shuffled, Border *border)
{
	AnatomyRows *into = palloc0(sizeof(AnatomyRows));
	Reader reader = {.into = into, .border = border};
	Gate *gate = gate_create(source->name, source->relid, 1 + source->nkept);

	into->source = source;
	source->qis[0].dictionary = dictionary_create(border->context, &source->qis[0]);
	reader.row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_DEFAULT_SIZES);
	gate_columns(gate, source->qis, 1);
	gate_columns(gate, source->kept, source->nkept);
	gate_watch(gate, border, "reading");
	if (shuffled)
		into->shuffled = shuffle_begin(gate->desc, 1);
	gate_select(gate,
				psprintf("SELECT %s, %s FROM %s", source->qis[0].quoted,
						 column_list(source->kept, source->nkept), source->name),
				true, receive_row, &reader);
	MemoryContextDelete(reader.row);
	sort_codes(into, border);
	charge_dictionary(&reader);
	return into;
}
