/*
 * linked_schema.h: tables and their keys while it is found out how they hang together.
 */
#ifndef KANON_LINKED_SCHEMA_H
#define KANON_LINKED_SCHEMA_H

#include "linked/linked.h"

/* A foreign key as the catalogs have it. */
typedef struct ForeignKey
{
	char *name;
	int from;
	int to;
	char *column; /* NULL: it has several that are no one's key */
	char *refers; /* to this column */
} ForeignKey;

typedef struct Schema
{
	Linked *linked;
	ForeignKey *keys;
	int nkeys;
	int room;
	bool *reached; /* [n] */
} Schema;

/* linked_paths.c: may a table's rows hang on persons by this key?  Is it the reference of which a table's rows are copies? */
extern bool linked_leads(const Schema *schema, const ForeignKey *key);
extern bool linked_is_copied(const Schema *schema, const ForeignKey *key);

/* The keys along which tables reach persons, and keys beside them that join. */
extern void linked_choose_paths(const Schema *schema);

/* Rows that hang on tables to which rows of several persons may refer: each person has a copy of them. */
extern void linked_find_shared(Schema *schema);

/* Tables to which rows are referred, by tables that are reached or referred to themselves. */
extern bool *linked_find_referred(const Schema *schema);

/* Tables to which rows refer whose columns somebody may know. */
extern void linked_find_copies(Schema *schema);

#endif
