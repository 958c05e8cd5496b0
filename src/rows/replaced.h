/*
 * replaced.h: what stood on a table that is replaced: its place in publications for logical replication, replica
 * identity, storage parameters, tablespace, statistics, security labels.
 */
#ifndef REPLACED_H
#define REPLACED_H

#include "postgres.h"

typedef struct Replaced Replaced;

/* The clause of CREATE TABLE that puts a table where the old one is; "" where that is the default, or forbidden. */
extern char *replaced_tablespace(Oid old);

/* Gives the new table what the old one has, which is about to go.  An error of a statement is noted, not raised. */
extern Replaced *replaced_take_over(Oid old, Oid new);

/* A release that follows another: the new one takes the old one's place in logical replication.  A NOTICE as below. */
extern void replicated_take_over(Oid old, Oid new);

/* The rest, once the new table has the name; a NOTICE says what did not come along. */
extern void replaced_end(Replaced *replaced, const char *name);

#endif
