/*
 * rare_list.c: sets of columns by row type, as differences of their numbers, seven bits a byte: there are thousands
 * for each of many row types.
 */
#include <string.h>

#include "known/known.h"

/* Bytes of a row type; the newest part comes first, and holds a whole number of entries. */
#define PART_BYTES 27
#define ENTRY_BYTES 5

struct KanonListPart
{
	uint32_t next; /* 0: none */
	uint8_t used;
	uint8_t byte[PART_BYTES];
};

/* Parts of a block, and blocks at most: 32 MB. */
#ifndef KANON_LIST_PARTS
#define KANON_LIST_PARTS 32768
#endif
#define KANON_LIST_BLOCKS 32

KanonStatus
kanon_list_open(KanonRareList *list, const KanonProblem *problem, KanonScratch *scratch)
{
	list->first = kanon_take0(scratch, problem->ntypes, sizeof(uint32_t));
	list->last = kanon_take0(scratch, problem->ntypes, sizeof(uint32_t));
	list->scratch.env = problem->env;
	list->nparts = 1;
	return kanon_taken(scratch);
}

static KanonListPart *
part_at(const KanonRareList *list, uint32_t number)
{
	return &list->block[(number - 1) / KANON_LIST_PARTS][(number - 1) % KANON_LIST_PARTS];
}

/* Room for one more part; 0: there is none. */
static uint32_t
new_part(KanonRareList *list)
{
	if ((list->nparts - 1) / KANON_LIST_PARTS >= list->nblocks)
	{
		KanonListPart *block;

		if (list->nblocks == KANON_LIST_BLOCKS ||
			!KANON_GROW(&list->scratch, &list->room, list->nblocks + 1, KANON_ARRAY(list->block)))
			return 0;
		block = kanon_take(&list->scratch, KANON_LIST_PARTS, sizeof(KanonListPart));
		if (block == NULL)
			return 0;
		list->block[list->nblocks++] = block;
	}
	return list->nparts++;
}

bool
kanon_list_set(KanonRareList *list, const int *column, int ncolumns)
{
	KanonListedSet set = {.ncolumns = (uint8_t) ncolumns};

	for (int i = 0; i < ncolumns; i++)
		set.column[i] = (uint8_t) column[i];
	if (list->nsets > 0 && memcmp(&list->set[list->nsets - 1], &set, sizeof(set)) == 0)
		return true;
	if (list->nsets >= UINT32_MAX / 4 ||
		!KANON_GROW(&list->scratch, &list->set_room, list->nsets + 1, KANON_ARRAY(list->set)))
		return false;
	list->set[list->nsets++] = set;
	return true;
}

bool
kanon_list_add(KanonRareList *list, uint32_t type)
{
	uint32_t number = (uint32_t) (list->nsets - 1);
	uint32_t ahead = number - (list->first[type] != 0 ? list->last[type] : 0);
	KanonListPart *part = list->first[type] != 0 ? part_at(list, list->first[type]) : NULL;

	if (part != NULL && ahead == 0)
		return true;
	if (part == NULL || part->used > PART_BYTES - ENTRY_BYTES)
	{
		uint32_t next = new_part(list);

		if (next == 0)
			return false;
		part = part_at(list, next);
		part->next = list->first[type];
		part->used = 0;
		list->first[type] = next;
	}
	for (; ahead >= 128; ahead >>= 7)
		part->byte[part->used++] = (uint8_t) (ahead | 128);
	part->byte[part->used++] = (uint8_t) ahead;
	list->last[type] = number;
	return true;
}

/* The differences of a part, from the first to the last. */
static size_t
read_part(const KanonListPart *part, uint32_t *ahead)
{
	size_t n = 0;

	for (int at = 0; at < part->used;)
	{
		uint32_t number = 0;
		int shift = 0;

		do
			number |= (uint32_t) (part->byte[at] & 127) << shift;
		while (shift += 7, (part->byte[at++] & 128) != 0);
		ahead[n++] = number;
	}
	return n;
}

size_t
kanon_list_read(const KanonRareList *list, uint32_t type, uint32_t *sets, size_t room)
{
	uint32_t number = list->last[type];
	size_t n = 0;

	for (uint32_t p = list->first[type]; p != 0 && n < room; p = part_at(list, p)->next)
	{
		uint32_t ahead[PART_BYTES];

		for (size_t i = read_part(part_at(list, p), ahead); i > 0 && n < room; i--)
		{
			sets[n++] = number;
			number -= ahead[i - 1];
		}
	}
	return n;
}

void
kanon_list_clear(KanonRareList *list, const KanonProblem *problem)
{
	kanon_scratch_free(&list->scratch);
	list->block = NULL;
	list->set = NULL;
	list->nblocks = list->room = list->nsets = list->set_room = 0;
	list->nparts = 1;
	if (list->first != NULL)
		memset(list->first, 0, (size_t) problem->ntypes * sizeof(uint32_t));
}
