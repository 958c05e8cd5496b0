/*
 * trust.h: whether reading a relation could run code of another role.
 *
 * A view is what its owner makes of it, today or tomorrow; a table can have policies,
 * and indexes, constraints and statistics whose expressions the planner works out.  All
 * of that runs as whoever reads.  Who names a relation in a call takes that upon
 * themselves, as in a SELECT.  Who asks for something that names relations, which others
 * may have replaced since, does not.
 */
#ifndef KANON_TRUST_H
#define KANON_TRUST_H

#include "postgres.h"

/*
 * Why a relation is not to be read by the current user: a clause ("it is a view of another
 * role"); NULL: it may be.  It has a lock then until the transaction ends, under which that
 * stays so, and so has whatever is read with it: partitions, what the user's own views read.
 * Locks of others are waited for as long as patience_left says.
 */
extern const char *relation_mistrusted(Oid relid);

/* Could reading it run code of another role?  Waits for locks; false of what may not be read. */
extern bool relation_of_strangers(Oid relid);

/* Raises insufficient_privilege for such a relation, where kanon.read_strangers says so. */
extern void relation_trust(Oid relid);

/* The same of a table that is written, whose triggers run as well: it may have been another role's. */
extern void relation_trust_written(Oid relid);

/*
 * Around a query on relations that have been asked for: where kanon.read_strangers says so, none of them is
 * a view or foreign table all of a sudden, or has policies.  Returns what ends it.
 */
extern int trust_begin(Oid relid);
extern void trust_end(int nest);

#endif
