/*
 * telling_columns.h: what do kept columns tell of what a release hides?
 */
#ifndef KANON_TELLING_COLUMNS_H
#define KANON_TELLING_COLUMNS_H

#include "rows/row_types.h"

/* What was found, for the record of the run: lists of char *, in the order in which it was told. */
typedef struct KeptTold
{
	List *together; /* "a, b": kept columns that identify together */
	List *tells;    /* "a: b": a kept column, and the quasi-identifier or masked column that it tells of */
} KeptTold;

typedef struct TellsLook TellsLook;

/*
 * NULL: no kept column needs to be looked at.  types: those of the rows that will be noted, or NULL:
 * their values are known where their class shows them.
 */
extern TellsLook *tells_begin(const Source *source, const RowTypes *types, Border *border);

/* The class that the next rows go to: the cells that it shows. */
extern void tells_class(TellsLook *look, const KanonCell *cells);

/* A row of that class: its type, its kept values as the source has them and as they are published, whom it is about. */
extern void tells_note(TellsLook *look, uint32 type, const Datum *given, const Datum *shown,
					   const bool *given_nulls, const bool *shown_nulls, uint32 person);

/*
 * Raises check_violation when a kept column that is neither masked nor allowed to identify tells a
 * quasi-identifier.  Says in a NOTICE, and in source->told, what else there is to be told.
 */
extern void tells_end(TellsLook *look);

#endif
