/*
 * look.h: whether a query could run code of another role than the one whose rights it has.
 */
#ifndef KANON_LOOK_H
#define KANON_LOOK_H

#include "access/htup.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

/* Code of one's own and of superusers, who need nobody's rights. */
extern bool role_is_trusted(Oid owner, Oid reader);

/*
 * Why the query, rewritten and not yet planned, is not to be run by that role: a clause ("it is a view of another
 * role"), in which "it" is the relation `about`; NULL: it may be.  Raises nothing of its own.  *bodies (or NULL): it calls
 * functions whose bodies will be queries, or call other functions, when they run.
 */
extern const char *query_mistrusted(const Query *query, Oid reader, Oid about, bool *bodies);

/* The same of what the planner has put into it since: bodies of functions, partitions. */
extern const char *plan_mistrusted(const PlannedStmt *plan, Oid reader, Oid about);

/* The same of writing to a relation: its triggers, defaults and checks. */
extern const char *writing_mistrusted(Oid relid, Oid reader);

/* The same of values that come to be of a type. */
extern const char *type_mistrusted(Oid type, Oid reader);

/* The look at a call follows the function's body, too: an expression that the planner may put in its place. */
extern bool function_is_seen(HeapTuple procedure);

/* The same of an expression. */
extern const char *expression_mistrusted(Node *expression, Oid reader);

#endif
