/*
 * values.h: publications that protect values: a person stays among the same values in every release
 */
#ifndef KANON_VALUES_H
#define KANON_VALUES_H

#include "series/successive.h"

/* Columns of the private table beside the key and the column of the rule. */
#define VALUES_SIGNATURE "kanon__signature" /* NULL: the person was never shown */
#define VALUES_SINCE "kanon__since"         /* the release that should have shown the person; NULL: none */
#define VALUES_PERSON "kanon__is_person"    /* or a line that says of one value that it is the signature's */

struct SignedPersons;

/* The rest of the struct that the request has of it. */
typedef struct Values
{
	/* from the publication */
	Oid before;        /* the private table of the release before, or InvalidOid */
	const char *after; /* the one to make; qualified, quoted */
	int64 release;     /* its number */

	/* what comes of it */
	HeldBack told; /* (all of them wait) */
	struct SignedPersons *persons;
} Values;

/* The one rule of a request that protects values: its column, of which there have to be l values. */
extern const PrivacyWords *values_rule(const Request *request);

/* Once the columns of rules are known: the key tells row types apart, which are persons then. */
extern void values_open(Run *run);

/* Solves: who waits is left out. */
extern KanonStatus values_solve(Run *run);

/* The private table of the release. */
extern void values_keep(Run *run);

/* Looks at it and at the release once more: raises what is not as it was promised. */
extern void values_verify(const Run *run);

/* Persons have several rows by the key: refused. */
pg_noreturn extern void values_refuse_several(const char *key);

/* Is it such a private table? */
extern bool values_are_kept(Oid relid);

#endif
