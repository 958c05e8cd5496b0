/*
 * linked_histories.h: what a publication of several tables keeps of persons over all its releases.
 */
#ifndef KANON_LINKED_HISTORIES_H
#define KANON_LINKED_HISTORIES_H

#include "linked/linked.h"
#include "series/successive.h"

/* Columns of the private copies that tell rows of persons apart: a number, and the levels from which on a row is shown. */
#define HELD_ROW "kanon__row"
#define HELD_ABOVE "kanon__above" /* of the row above; or the person */
#define HELD_LEVELS "kanon__levels"

#define TEXT_NULL "NULL::pg_catalog.text"
#define INT8_NULL "NULL::pg_catalog.int8"

/* The private tables of a table.  Names are qualified and quoted; InvalidOid: there was no release before. */
typedef struct HeldTable
{
	Oid before; /* what the release was made of: copies, */
	char *after;
	Oid shown_before; /* and of rows what was ever shown of them */
	char *shown_after;

	const char *now;      /* the source as it is, */
	const Source *source; /* with what is copied of it */
} HeldTable;

typedef struct LinkedHistories
{
	/* from the publication, in memory that outlives the tries */
	int64 release;
	Oid before;          /* persons with their histories */
	const bytea *digest; /* of the release before, whose persons are protected; or NULL */
	char *after;
	HeldTable tables[KANON_MAX_LINKED + 1];
	bool *none; /* becomes true: nobody else can be held back, and there is no release */

	/* what comes of it */
	HeldBack told;

	/* of all tries: */
	int tries;
	bool again; /* others are held back, and the release is to be made once more */
	List *held; /* int64 *: histories that do not change */
	List *keys; /* char *: new persons who wait */

	/* of a try */
	char *plan;    /* what becomes of each person */
	char *waiting; /* the keys as a table */
	char *members; /* persons who change, with their histories from now on */
} LinkedHistories;

/* linked_copies.c: private tables; the source as it is now, and what the release is made of. */
extern List *
linked_names_used(const LinkedTable *table); /* char *: all that its options may mean by a column's name */
extern char *held_name(const Linked *linked, const char *what); /* a free one beside the targets */
extern Oid held_private(const char *name);
extern void held_lasting(const char *name);
extern Oid held_empty(const char *name, const char *columns);
extern void linked_copy_now(Linked *linked);
extern void linked_copy_held(Linked *linked);

/* linked_plan.c: who changes. */
extern void linked_plan(Linked *linked);

/*
 * Persons, of a table (kanon_person, kanon_history), who have something to themselves: of all that was ever shown [table]
 * fewer than k of their history have the same.  "1, 2"; NULL: there is none.
 */
extern char *linked_find_alone(Linked *linked, const char *persons, char *const *shown);

/* The histories of these persons (a query) do not change this time; those who are new wait.  And once more. */
extern void linked_hold_back(LinkedHistories *histories, const char *persons);
pg_noreturn extern void linked_raise_again(LinkedHistories *histories);

/* Raises that a private table is not as the release before left it. */
pg_noreturn extern void linked_raise_altered(void);

/* linked_held.c: rows of those who stay as they were look as they did; those of others no closer than before. */
extern void linked_hold_rows(Linked *linked, KanonLinkedTable *tables);
extern void linked_show_held(Linked *linked);
extern void linked_write_looks(const Linked *linked, const LinkedTable *table, Oid looks);

#endif
