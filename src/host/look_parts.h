/*
 * look_parts.h: what a look follows, between the files that it is made of.
 */
#ifndef KANON_LOOK_PARTS_H
#define KANON_LOOK_PARTS_H

#include "access/htup.h"
#include "nodes/nodes.h"
#include "utils/hsearch.h"

typedef struct Look
{
	Oid reader;
	Oid about;   /* "it" of the clause */
	HTAB *seen;  /* Seen: what was followed */
	bool json;   /* something makes json of values: casts to it are followed */
	bool bodies; /* a function is called whose body was not looked at */
	const char *why;
} Look;

/* An object, and as what it was followed: its catalog, or a mark where more is asked of types and tables. */
typedef struct Seen
{
	Oid as;
	Oid object;
} Seen;

/* Each returns true when it is refused, and look->why says why: so a walk ends. */

/* look.c */
extern bool look_refuse(Look *look, const char *why);
extern bool look_is_new(Look *look, Oid as, Oid object);

/* An expression, and one as a catalog has it. */
extern bool look_walk(Node *node, Look *look);
extern bool look_walk_stored(int cache, HeapTuple tuple, AttrNumber attribute, Look *look);

/* look_objects.c */
extern bool look_at_function(Oid function, Look *look);
extern bool look_at_operator(Oid operator, Look * look);
extern bool look_at_family(Oid family, Look *look);
extern bool look_at_classes(Datum classes, Look *look); /* an oidvector */

/* Made: values of it come to be; or else they are only handed on, compared and shown. */
extern bool look_at_type(Oid type, bool made, Look *look);
extern bool look_at_json(Look *look);

#endif
