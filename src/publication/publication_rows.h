/*
 * publication_rows.h: rows of a publication's own tables, read without a query and written by
 * statements, and whose a relation is.
 */
#ifndef KANON_PUBLICATION_ROWS_H
#define KANON_PUBLICATION_ROWS_H

#include "compat.h"
#include "host/catalog.h"
#include "publication/publication.h"

#include "access/htup_details.h"

/* Asked of the catalog alone: nothing of a stranger's is locked to find out that it is. */
extern bool relation_is_own(Oid relid, Oid owner, char relkind);

/* A row and what its columns are. */
typedef struct Row
{
	TupleDesc desc;
	HeapTuple tuple;
} Row;

/*
 * Shows the rows of a plain table of the owner's to `visit` until that says false,
 * each in a memory context that goes afterwards.  False when it is none, or locked
 * for longer than *patience (NULL: waits).
 */
extern bool rows_visit(Oid relid, Oid owner, long *patience, bool (*visit)(const Row *row, void *arg),
					   void *arg);

/* A column by name; NULL (0, false, InvalidOid) when it is not there, or of another type. */
extern Datum row_value(const Row *row, const char *name, Oid type, bool *isnull);
extern int64 row_int8(const Row *row, const char *name);
extern char *row_text(const Row *row, const char *name);
extern bool row_bool(const Row *row, const char *name);
extern Oid row_relation(const Row *row, const char *name);    /* InvalidOid for what is gone, too */
extern List *row_relations(const Row *row, const char *name); /* Oids; NIL for NULL, too */
extern TimestampTz row_time(const Row *row, const char *name);

/* Values of one statement. */
typedef struct Parameters
{
	int n;
	Oid types[32];
	Datum values[32];
	char nulls[32];
} Parameters;

extern void parameter(Parameters *parameters, Oid type, Datum value, bool isnull);
extern void parameter_text(Parameters *parameters, const char *value);
extern void parameter_relations(Parameters *parameters, List *relids); /* NIL: NULL */
extern void parameter_relation(Parameters *parameters, Oid relid);

/* Its owner has changed the table, or made rules for it. */
pg_noreturn extern void row_not_written(const char *name);

/*
 * Its rows can be changed while they are replicated: a logical replication of all tables refuses changes of
 * what has no replica identity.
 */
extern void rows_identify(Oid relid);

/* Writes one row: in the query the %s is the table. */
extern void row_write(const char *query, Oid relid, Parameters *parameters, int expected);

#endif
