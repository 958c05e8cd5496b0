/*
 * variables.h: the types of PL/pgSQL's variables, for who looks at them.
 */
#ifndef KANON_VARIABLES_H
#define KANON_VARIABLES_H

/*
 * From now on `look` is asked of the type of each variable of each function in PL/pgSQL that is called, until the same
 * `by` leaves.  A watch that has begun goes on.
 */
extern void variables_watch(const void *by, void (*look)(Oid type));
extern void variables_leave(const void *by);

#endif
