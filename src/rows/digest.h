/*
 * digest.h: what a relation holds, as a few bytes: equal for equal rows in any order.
 */
#ifndef KANON_DIGEST_H
#define KANON_DIGEST_H

#include "postgres.h"

#include "catalog/pg_attribute.h"
#include "nodes/pg_list.h"

/*
 * A hash of a value's own bytes, its form in memory: 0.0 and -0.0 differ, and so do 1.0 and 1.00.  A type
 * need not have a hash function, nor equality.  May allocate.
 */
extern uint64 value_hash(Form_pg_attribute attribute, Datum value, bool isnull, uint64 seed);

/* Seeds of such hashes that follow from a secret, one for each purpose. */
extern void secret_seeds(const bytea *secret, const char *purpose, uint64 *seeds, int n);

/*
 * Reads every row of these relations once, under the active snapshot: a digest of their columns that the
 * caller may read, of their rows, and of a text.  Without the secret nobody can tell which rows have one.
 */
extern bytea *relations_digest(List *relations, const char *text, const bytea *secret);

#endif
