/*
 * excerpt.h: words of the caller in messages
 */
#ifndef KANON_EXCERPT_H
#define KANON_EXCERPT_H

#include "postgres.h"
#include "nodes/pg_list.h"

/* ---- excerpt.c: texts that somebody has given, in messages ---- */

/* The text as a message can repeat it: its beginning, when it is long. */
extern const char *excerpt(const char *text);

/* The same of a relation's name as it is written in SQL, without its quotes. */
extern const char *excerpt_name(const char *name);

/* Into a buffer of that size; a text that is too long is cut between characters. */
extern void copy_clipped(char *to, const char *from, int size);

/* ---- excerpt.c: which known name is meant by one that is not known, for hints ---- */

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
