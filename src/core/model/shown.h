/*
 * shown.h: what the cells of a release show.
 */
#ifndef KANON_SHOWN_H
#define KANON_SHOWN_H

#include "util/scratch.h"

/* Orders what two cells of a column show; 0: the same. */
extern int kanon_compare_shown(const KanonRelease *release, KanonCell a, KanonCell b);

/* Is a code among those that a range or a set stands for? */
extern bool kanon_cell_holds(const KanonRelease *release, KanonCell cell, uint32_t code);

/* Is what a cell shows true of a code? */
static inline bool
kanon_cell_matches(const KanonRelease *release, KanonCell cell, uint32_t code)
{
	if (cell.show == KANON_SHOW_VALUE)
		return cell.code == code;
	return cell.show == KANON_SHOW_NOTHING || kanon_cell_holds(release, cell, code);
}

/* As kanon_compare_shown, of cells of two releases. */
extern int kanon_compare_cells(const KanonRelease *one, KanonCell a, const KanonRelease *other, KanonCell b);

/* A range or a set: what stands for values that differ. */
static inline bool
kanon_shows_several(KanonCell cell)
{
	return cell.show == KANON_SHOW_RANGE || cell.show == KANON_SHOW_SET;
}

/* The row types of each class: those of class i from start[i] on, ascending. */
typedef struct KanonMembers
{
	size_t *start;  /* [nclasses + 1] */
	uint32_t *type; /* [start[nclasses]] */
	int64_t *rows;  /* that flow to the class */
} KanonMembers;

/* From flows in the order of types; in memory of the scratch. */
extern KanonStatus kanon_release_members(const KanonRelease *release, KanonScratch *scratch,
										 KanonMembers *members);

#endif
