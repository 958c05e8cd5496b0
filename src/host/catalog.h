/*
 * catalog.h: settings under which kanon's own queries run, and questions to the catalogs.
 */
#ifndef KANON_CATALOG_H
#define KANON_CATALOG_H

#include "postgres.h"

/* Where the script puts functions that only kanon calls. */
#define INTERNAL_SCHEMA "kanon_internal"

extern int catalog_path_begin(void);
extern void catalog_path_end(int nest);

/* Around a query that groups by many columns. */
extern int grouping_begin(void);
extern void grouping_end(int nest);

/* Around output functions: dates in ISO form, in UTC, every digit of a float. */
extern int plain_text_begin(void);

/*
 * Plans of queries about tables of which nothing is counted, until plain_text_end: sorting bears any number of rows, where
 * a hash table is cut into as many files as somebody guessed, and a guess of millions is compiled.
 */
extern int blind_plans_begin(void);
extern void plain_text_end(int nest);

/*
 * Around what reads and writes private tables: everybody may read the cumulative statistics, and these
 * would say how many rows there are.  counted_begin: around what is for others after all.
 */
extern int uncounted_begin(void);
extern int counted_begin(void);
extern void counting_end(int nest);

/* "schema.name" of a relation, quoted; NULL: it is gone. */
extern char *relation_name(Oid relid);

/* "name type" and a collation that is not the type's own, as a table or a function's rows are defined. */
extern char *column_definition(const char *quoted, Oid type, int32 typmod, Oid collation);

/* InvalidOid: it is gone. */
extern Oid relation_owner(Oid relid);

/* InvalidOid: it is gone. */
extern Oid function_owner(Oid function);

/*
 * A text as a value of a type.  Of a domain it is one of the base type: the domain's owner can add checks at any time, and
 * these would run as whoever calls.  Refuses types with such domains inside.
 */
extern Datum text_as_value(const char *text, Oid type, int32 typmod);

/* Have equal values of a type equal bytes, so that they look the same?  As btree's deduplication asks. */
extern bool equal_is_identical(Oid type, Oid collation);

/* True if reading the one means reading the other (itself, views, partitions). */
extern bool relation_reads(Oid reader, Oid relid);

#endif
