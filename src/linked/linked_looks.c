/*
 * linked_looks.c: what readers see in the cells of a table of rows.
 *
 * Cells of different values can look the same: one shows NULL of the source and the other nothing, or a label is the text of
 * a value or of another level.  Rules in persons have to know: of two combinations that look alike, the persons count together.
 */
#include "compat.h"
#include "host/catalog.h"
#include "linked/linked.h"
#include "rows/cell_values.h"
#include "rows/dictionary.h"
#include "rows/row_types.h"

#include "common/hashfn.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"

/* A text that is seen. */
typedef struct Seen
{
	uint64 hash[2];
	uint32 number;
} Seen;

static bool
may_look_alike(const LinkedTable *table, int qi)
{
	const Source *source = table->run->source;

	return table->run->problem.columns[source->levels.first[qi]].has_null ||
		   source->qis[qi].show_as == SHOW_AS_TEXT;
}

static uint32
number_of(HTAB *texts, const char *text)
{
	int length = (int) strlen(text);
	uint64 key[2] = {hash_bytes_extended((const unsigned char *) text, length, 0),
					 hash_bytes_extended((const unsigned char *) text, length, 1)};
	bool found;
	Seen *seen = hash_search(texts, key, HASH_ENTER, &found);

	if (!found)
		seen->number = (uint32) hash_get_num_entries(texts);
	return seen->number;
}

/* The number of the text that each code of a column shows in the quasi-identifier. */
static uint32 *
look_at_column(const LinkedTable *table, Shower *shower, int qi, int column, HTAB *texts)
{
	const KanonProblem *problem = &table->run->problem;
	const KanonColumn *codes = &problem->columns[column];
	KanonCell cells[KANON_MAX_COLUMNS] = {0};
	uint32 *look = border_palloc(table->run->border, sizeof(uint32) * Max(codes->distinct, 1));
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "kanon row", ALLOCSET_SMALL_SIZES);
	FmgrInfo output;
	Oid function;
	bool isvarlena;

	getTypeOutputInfo(shown_type(&table->run->source->qis[qi]), &function, &isvarlena);
	fmgr_info(function, &output);
	for (uint32 code = 0; code < codes->distinct; code++)
	{
		MemoryContext old = MemoryContextSwitchTo(row);
		bool isnull;
		Datum value;

		cells[column] = (KanonCell){KANON_SHOW_VALUE, code};
		value = show_cell(shower, qi, cells, NULL, &isnull);
		look[code] = isnull ? 0 : number_of(texts, OutputFunctionCall(&output, value));
		MemoryContextSwitchTo(old);
		MemoryContextReset(row);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextDelete(row);
	return look;
}

/* The release has rules about the persons of each combination, beside their number. */
static bool
has_rules(const Linked *linked)
{
	bool ruled = linked->values != NULL;

	for (int i = 1; i < linked->n; i++)
		ruled = ruled || linked->tables[i].request.linked.rules != NULL;
	return ruled && linked->m > 0;
}

void
linked_look(const Linked *linked, LinkedTable *table)
{
	const Levels *levels = &table->run->source->levels;
	uint32 **looks;
	Shower *shower;
	bool may = false;
	int nest;

	for (int q = 0; q < levels->nqis; q++)
		may = may || may_look_alike(table, q);
	if (!may || !has_rules(linked))
		return;
	looks = border_palloc(table->run->border, sizeof(uint32 *) * table->run->problem.ncolumns);
	shower = shower_create(table->run->source);
	nest = plain_text_begin();
	for (int q = 0; q < levels->nqis; q++)
	{
		HASHCTL control = {
			.keysize = 2 * sizeof(uint64), .entrysize = sizeof(Seen), .hcxt = CurrentMemoryContext};
		HTAB *texts = hash_create("kanon looks", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);

		for (int c = levels->first[q]; c < levels->first[q + 1]; c++)
			looks[c] = look_at_column(table, shower, q, c, texts);
		hash_destroy(texts);
	}
	plain_text_end(nest);
	table->looks = looks;
}

void
linked_forget_looks(LinkedTable *table)
{
	for (int c = 0; c < table->run->problem.ncolumns && table->looks != NULL; c++)
		border_pfree(table->run->border, table->looks[c]);
	if (table->looks != NULL)
		border_pfree(table->run->border, table->looks);
	table->looks = NULL;
}
