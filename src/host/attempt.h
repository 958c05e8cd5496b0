/*
 * attempt.h: work that may fail, or has to wait for others.
 */
#ifndef KANON_ATTEMPT_H
#define KANON_ATTEMPT_H

#include "postgres.h"

#include "storage/lockdefs.h"

/*
 * Does some work in a subtransaction; returns the error that undid it, or NULL.
 * A cancel of the statement is raised; one that somebody only claims is an error.
 */
extern ErrorData *attempt(void (*work)(void *arg), void *arg);

/* The same, undone in any case; what goes wrong is raised. */
extern void rehearse(void (*work)(void *arg), void *arg);

/* The statement is over: caught or not, it is to be raised. */
extern bool ends_statement(const ErrorData *error);

/*
 * Did kanon itself raise it, so that its words have no data values?  Not when it was
 * raised by somebody's function that a query of kanon's ran, and that called kanon.
 */
extern bool raised_by_kanon(const ErrorData *error);

/* After reading texts as values: raises the error again unless it says that a text is no value. */
extern void raise_unless_of_value(ErrorData *error);

/*
 * For asking other servers for something (NULL: it is done): raises it unless they have
 * said that they cannot do that, as when one of them is not there.
 */
extern void raise_unless_refused(ErrorData *error);

/*
 * Locks a relation in ACCESS EXCLUSIVE mode when nobody uses it, and lets readers go on
 * until then; raises when that is not within lock_timeout.  `what` it is called: "view".
 * `check` (or NULL) is asked again and again whether it is worth waiting for.
 */
extern void lock_without_queue(Oid relid, const char *what, void (*check)(const void *arg), const void *arg);

/* The same of several, all at one moment: until then none of them is kept from anybody. */
extern void lock_all_without_queue(List *relids, const char *what, void (*check)(const void *arg),
								   const void *arg);

/*
 * A function that looks at relations of many roles waits for the locks of all of them
 * together no longer than a second, in all that a statement of the client's calls:
 * relations that are locked after that are left out.  The milliseconds that are left,
 * for lock_patiently.
 */
extern long *patience_left(void);

/*
 * Locks a relation that others may have locked: false once *patience, in milliseconds, is used up.
 * NULL: as long as it takes.
 */
extern bool lock_patiently(Oid relid, LOCKMODE mode, long *patience);

#endif
