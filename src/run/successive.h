/*
 * successive.h: what a run does about the persons that its key tells apart, and the
 * releases before.
 */
#ifndef KANON_SUCCESSIVE_H
#define KANON_SUCCESSIVE_H

#include "run/run.h"

/*
 * Before the target is written: puts the rows with their key beside it, protects the
 * persons of earlier releases, and notes who is in which class.  The run's release
 * and measures are those of what will be published.
 */
extern void successive_settle(Run *run);

/* Writes the target from there; returns how many rows. */
extern int64 successive_write(Run *run);

/*
 * Keys of different types are of different persons, if there is an equality between
 * them at all: asked of the columns, which their owner may have changed.
 */
extern void check_keys(Oid relid, const char *key, Oid persons);

/* The equality that makes two keys one person, as an operator in SQL. */
extern char *key_equality(Oid relid, const char *key);

#endif
