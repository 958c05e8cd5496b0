/*
 * successive.h: what a run does about the persons that its key tells apart, and the
 * releases before.
 */
#ifndef KANON_SUCCESSIVE_H
#define KANON_SUCCESSIVE_H

#include "run/run.h"

/*
 * Where persons have several rows by the key, k and the rules count persons from here on: one person with ten
 * rows is no class of ten.  Unless the caller says count_rows, or has said whom to count.
 */
extern void successive_count_persons(Run *run);

/* Puts the rows of the release with their key beside the target. */
extern void successive_stage(Run *run);

/* The same, and nobody's history is that of too few; false: others are held back now, and what was made is gone. */
extern bool successive_protect(Run *run);

/* Before the target is written: notes who is in which class. */
extern void successive_settle(Run *run);

/* "a, b": what tells classes apart, as readers see them. */
extern char *class_columns(const Run *run);

/*
 * The classes of the release that readers cannot tell apart, under one number: (number in the release, class,
 * hash of what it shows).  What shows nothing has a class below 0.
 */
extern char *class_looks(const Run *run);
pg_noreturn extern void raise_null_keys(const char *key);

/* Writes the target from there; returns how many rows. */
extern int64 successive_write(Run *run);

/*
 * Keys of different types are of different persons, if there is an equality between
 * them at all: asked of the columns, which their owner may have changed.
 */
extern void check_keys(Oid relid, const char *key, Oid persons);

/* The equality that makes two keys one person, as an operator in SQL. */
extern char *key_equality(Oid relid, const char *key);

/* Columns of the source behind those that are kept: of protected persons the row's number, and the key. */
static inline int
successive_columns(const Request *request)
{
	return request->series.key == NULL ? 0 : request->series.histories != NULL ? 2 : 1;
}

#endif
