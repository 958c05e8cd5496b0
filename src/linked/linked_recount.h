/*
 * linked_recount.h: a release of several tables as it is read again, to count what persons have.
 */
#ifndef KANON_LINKED_RECOUNT_H
#define KANON_LINKED_RECOUNT_H

#include "linked/linked.h"
#include "rows/dictionary.h"
#include "rows/source.h"

typedef struct Table
{
	const LinkedTable *like;
	Source *source;
	int parent;
	Dictionary *keys; /* of its rows, where others hang on them; code: the row */
	Size room;
	uint32 n;
	uint32 groups; /* different tuples */
	uint32 *above; /* [n] row of the parent, of the subject: the person; */
	uint32 *
		joined; /* [n] or of another table, below the parent's; DICTIONARY_NONE: of the parent.  NULL: all are of the parent */
	uint32 nread;    /* rows as they were read: of several persons each becomes a row for each of them; */
	uint32 *copies;  /* [nread + 1] the first of its rows; NULL: it has one */
	uint32 *copy_of; /* [n] the row as it was read */
	Size copy_room;
	uint32 *sharers; /* [rows of it] the first row of the parent's table that refers to each; */
	uint32 *sharer;  /* [rows of the parent's] the next one; DICTIONARY_NONE: none.  NULL: nobody asks */
	bool strays;     /* rows hang on rows of several tables, or on such rows */
	uint32 *tuple;   /* [n] what it shows; of the subject: the class */
	int nvalues;     /* columns that rules look at; 0: there are no rules */
	Size value_room;
	uint32 *values;     /* [n * nvalues] by the source's dictionaries */
	KanonProblem ruled; /* by rows as they were written */

	/* of copies: the table has rows, to one of which (or none) each row of the parent refers */
	uint32 *row_of; /* [n] its row; DICTIONARY_NONE: none */
	bool copied;    /* rows have copies */
} RecountTable;

/* A row of a person. */
typedef struct Row
{
	int table;
	uint32 number;
	int above; /* place among the person's rows; -1: the person's own */
} RecountRow;

/* A combination of rows, in the class at hand. */
typedef struct Form
{
	Size at;
	uint32 words;
	uint32 persons;
	uint32 last; /* who had it last */
	uint32 hash;
	int marked;   /* the table of the row that is looked at, whose values have rules; 0: none is */
	uint32 known; /* place among these from 1, of the last one: rows, or where none is marked persons */
	bool noted;   /* the person who had it last is among them */
} RecountForm;

/* Rows that may be the one that is looked at, or persons who have a combination. */
typedef struct Known
{
	uint32 row;    /* of its table */
	uint32 before; /* place from 1; 0: it is the first */
} RecountKnown;

typedef struct Recount
{
	const Linked *linked;
	Border *border;
	int n;
	RecountTable tables[KANON_MAX_LINKED];
	uint32 groups; /* of the table that is read */
	RecountTable *reading;
	LinkedFound found;

	/* what persons keep */
	KanonProblem
		ruled; /* rules of the subject's table, by persons as they were written; privacy NULL: it has none */
	int nkept; /* columns beside keys */
	uint32 *kept; /* [persons * nkept] numbers that stand for values */
	uint32 *sort; /* [persons] of a form */

	/* rows by person */
	uint32 *start; /* [persons + 1] */
	RecountRow *rows;

	/* the class at hand */
	Size nforms, form_room;
	RecountForm *forms;
	Size nslots, slot_room; /* the first a power of 2 */
	uint32 *slots;          /* form, from 1 */
	Size nwords, word_room;
	uint32 *words;
	Size nknown, known_room;
	RecountKnown *knowns;
	int marked; /* place among the person's rows; -1: none */

	/* the person at hand */
	uint32 at;
	int nrows;
	const RecountRow *own;
	bool *chosen;    /* [rows of the person with most] */
	uint32 *inside;  /* [the same] rows chosen that are it, or hang on it; */
	int ninside;     /* so many have one, … */
	int *list;       /* [the same] … these */
	uint64 *shape;   /* [the same] of it and all that hangs on it */
	bool ruled_rows; /* some table has rules about its values */
	int nchosen;
	int known[KANON_MAX_LINKED];
	int end[KANON_MAX_LINKED]; /* of the rows of each table */
	uint64 pass;               /* of rows that may come next */
	uint64 *seen[KANON_MAX_LINKED * KANON_MAX_KNOWN_ROWS]
				[KANON_MAX_LINKED]; /* by nchosen and table, of each tuple: the pass in which one came */
} Recount;

/* linked_referred.c: the table has been read, as it is; now it has a row for each of the parent's. */
extern void linked_copy_rows(Recount *recount, int t);

/* linked_values.c: what the subject's table keeps, and the rules about it. */
extern void linked_read_values(Recount *recount);

/* Looks at the values of some persons, those who have a combination or are a class. */
extern void linked_look_at_values(Recount *recount, uint32 *persons, Size n);

/* linked_forms.c: counts all that persons first .. next - 1 have, who are a class. */
extern void linked_count_class(Recount *recount, uint32 first, uint32 next);

#endif
