/*
 * nearest.h: which known name is meant by one that is not known, for hints.
 */
#ifndef KANON_NEAREST_H
#define KANON_NEAREST_H

#include "postgres.h"

#include "nodes/pg_list.h"

typedef struct Nearest
{
	const char *given;
	const char *best; /* or NULL */
	int distance;
} Nearest;

extern Nearest nearest_to(const char *given);
extern void nearest_try(Nearest *nearest, const char *known);

/* The name that is meant, when one is near enough, and then the hint. */
extern const char *nearest_hint(const Nearest *nearest, const char *hint);

/* The same of the relations of the schema that is named, or of those that are visible; name: a list of its parts. */
extern const char *nearest_relation(const List *name, const char *hint);

/* The same of a relation's columns. */
extern const char *nearest_column(Oid relid, const char *given, const char *hint);

#endif
