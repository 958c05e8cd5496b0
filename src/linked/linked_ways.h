/*
 * linked_ways.h: the ways along which a reader joins the tables of a release, from persons to all that joins to them.
 */
#ifndef KANON_LINKED_WAYS_H
#define KANON_LINKED_WAYS_H

#include "linked/linked.h"
#include "host/gate.h"
#include "rows/source.h"

#include "lib/stringinfo.h"

/* A table as it is met on the way from persons, or a lookup by one of the columns that refer to it. */
typedef struct LinkedPlace
{
	const LinkedTable *table;
	int above;          /* place; -1: rows say themselves whose they are */
	const char *column; /* says whose they are, or refers to what is above, … */
	const char *refers; /* … or, above, to this lookup; NULL: it is none */
} LinkedPlace;

/*
 * All of them, those above before those below.  joined: lookups alone to which a kept column refers, over as many steps as
 * it takes.  (A lookup whose key is a quasi-identifier is found where that is shown.)  Otherwise all lookups whose rows are
 * published because of rows of persons.
 */
extern LinkedPlace *linked_places(const Linked *linked, bool joined, int *n);

extern int linked_root(const LinkedPlace *places, int place);

static inline const Source *
linked_source(const LinkedPlace *place)
{
	return place->table->run->source;
}

/* Does a table keep the column? */
extern bool linked_keeps(const LinkedTable *table, const char *column);

/* True for a kept column of the table that refers to another one. */
extern bool linked_is_reference(const LinkedTable *table, const char *column);

/* The column that says who a person is, of a root. */
extern const SourceColumn *linked_person(const LinkedPlace *root);

/* " FROM … AS t0 JOIN … AS t3 ON …": what leads to two places (or one) of one root; a place is called t and its number. */
extern void linked_join(const LinkedPlace *places, int a, int b, StringInfo sql, Gate *gate);

/* " WHERE …": one in `share` persons, a power of 2, by a hash of their keys. */
extern void linked_some_persons(const LinkedPlace *places, int root, uint32 share, StringInfo sql);

/* So that few are looked at first. */
extern uint32 linked_share(const Linked *linked);

#endif
