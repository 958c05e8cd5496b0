/*
 * linked_counter.h: combinations of a few rows, counted.
 */
#ifndef KANON_LINKED_COUNTER_H
#define KANON_LINKED_COUNTER_H

#include "linked/linked.h"

#define LINKED_MOST_CHOSEN (KANON_MAX_LINKED * KANON_MAX_KNOWN_ROWS)

typedef struct LinkedForm
{
	uint64_t hash;
	uint32_t persons;
	uint32_t last; /* who had it last, from 1 */
	uint32_t lose; /* a node of which a row has to go; KANON_NO_ROW: none */
	bool parts;    /* it stays, but does not show any more to which other row it refers */
	uint32_t size;
	size_t example; /* its rows, in `rows` */
	bool broken;    /* values of one of its rows, or of those who have it, break a rule */
} LinkedForm;

/* One of the rows of a combination, or who has it: rows of other persons that it may be have the same hash. */
typedef struct LinkedKnown
{
	uint64_t hash;
	uint32_t form;
	uint32_t row; /* of the class; of `person` the person of the class */
	bool person;
} LinkedKnown;

/* Nodes that look the same to readers. */
typedef struct LinkedAlike
{
	size_t room;     /* nodes */
	uint32_t *first; /* [nodes] of those like each; NULL: nothing depends on it */
	uint64_t *looks; /* [nodes] what readers see */
} LinkedAlike;

/* Rows of a table that hang on rows of several tables; NULL: there are none. */
typedef struct LinkedStrays
{
	bool *is;    /* [nrows] it hangs on rows of other tables than most of its own do */
	bool *parts; /* [nrows] what it joins will not be shown any more */
} LinkedStrays;

struct LinkedCounter
{
	LinkedClass *class;
	KanonScratch scratch;
	size_t nforms;
	size_t form_room;
	LinkedForm *forms; /* as they were met */
	size_t nslots;     /* a power of 2 */
	uint32_t *slots;   /* form, from 1 */
	size_t nexamples;
	size_t example_room;
	uint32_t *examples;

	/* the person at hand */
	uint32_t person;
	uint32_t chosen[LINKED_MOST_CHOSEN];
	int known[KANON_MAX_LINKED]; /* rows of each table among those */
	uint32_t *order;             /* [nrows of the class] of each person, those that look alike side by side */
	bool *has_rows;              /* [nrows] others hang on it */
	LinkedStrays strays;
	uint64_t *shape;   /* [nrows] of it and all that hangs on it */
	uint16_t *touched; /* [nrows] rows chosen that are it, or hang on it */
	uint64_t round;    /* of rows that may be the last one chosen */
	uint64_t *seen;    /* [nodes] the round in which a row that shows the node was visited, … */
	bool *lost;        /* … and whether rows of that combination go */
	LinkedAlike alike;
	uint64_t *sum;   /* [nrows of the class] of what hangs on a row, while a hash is made */
	bool losing;     /* on the second way: rows that have to go do so */
	uint32_t *rare;  /* [nodes] rare combinations that have each */
	bool ruled;      /* a table has rules, or persons have */
	bool rows_ruled; /* a table has */
	uint32_t marked; /* the row whose values are looked at; or KANON_NO_ROW */
	uint64_t *look;  /* [nrows] a row as it looks, with its copies */
	uint32_t *copy;  /* [nrows + npersons] the first copy of a row, or then of a person; or KANON_NO_ROW */
	uint32_t *next;  /* [nrows] the next one of a copy */
	int least;       /* rows that somebody knows at least: 0 where persons have copies */
	size_t nknown;
	size_t known_room;
	LinkedKnown *knowns;
	uint32_t *types; /* [nrows of the class] */
	int64_t *ones;   /* [nrows of the class] */
	uint64_t visits; /* of this size, */
	uint64_t most;   /* at most */
	KanonStatus status;
};

/* The combinations of so many rows; on the second way rows that have to go do so. */
extern KanonStatus kanon_linked_count(LinkedCounter *counter, int size);

/* linked_rules.c: marks the combinations whose values break a rule. */
extern KanonStatus kanon_linked_judge(LinkedCounter *counter);

/* linked_alike.c: room for all nodes of the class, and which of them look alike. */
extern KanonStatus kanon_linked_make_room(LinkedCounter *counter);
extern KanonStatus kanon_linked_find_alike(LinkedCounter *counter);

/* The rows chosen, and copies that are known with them: how many. */
#define LINKED_MOST_KNOWN ((LINKED_MOST_CHOSEN + 1) * KANON_MAX_LINKED)
extern uint32_t kanon_linked_known(const LinkedCounter *counter, int n, uint32_t *rows);

/* Too few persons have it, or their values are too much alike. */
static inline bool
kanon_linked_is_rare(const LinkedCounter *counter, const LinkedForm *form)
{
	return form->persons < counter->class->linked->k || form->broken;
}

#endif
