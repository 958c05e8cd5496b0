/*
 * rare_list.h: for each row type, the sets of columns in which its combination is rare.
 */
#ifndef KANON_RARE_LIST_H
#define KANON_RARE_LIST_H

#include "rare/rare.h"
#include "util/scratch.h"

/* Columns of a set that is listed, at most. */
#define KANON_LISTED_MOST 16

typedef struct KanonListedSet
{
	uint8_t ncolumns;
	uint8_t column[KANON_LISTED_MOST];
} KanonListedSet;

typedef struct KanonListPart KanonListPart;

typedef struct KanonRareList
{
	KanonScratch scratch; /* all of it, but for what is by row type */
	uint32_t *first;      /* [ntypes] parts; 0: none */
	uint32_t *last;       /* [ntypes] number of the set that was added last */
	KanonListPart **block;
	size_t nblocks, room;
	uint32_t nparts;
	KanonListedSet *set;
	size_t nsets, set_room;
} KanonRareList;

extern KanonStatus kanon_list_open(KanonRareList *list, const KanonProblem *problem, KanonScratch *scratch);

/* The same set as the last one keeps its number. */
extern bool kanon_list_set(KanonRareList *list, const int *column, int ncolumns);

/* The row type's combination in that set; false: there is no more room. */
extern bool kanon_list_add(KanonRareList *list, uint32_t type);

static inline bool
kanon_list_is_empty(const KanonRareList *list)
{
	return list->nparts <= 1;
}

/* The sets of a row type into sets[room]; how many there are. */
extern size_t kanon_list_read(const KanonRareList *list, uint32_t type, uint32_t *sets, size_t room);

/* Forgets all of it, and gives the memory back. */
extern void kanon_list_clear(KanonRareList *list, const KanonProblem *problem);

#endif
