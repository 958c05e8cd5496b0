/*
 * catalog.h: the catalog, and who is trusted
 */
#ifndef KANON_CATALOG_H
#define KANON_CATALOG_H

#include "postgres.h"

/*
 * A name as in SQL, into at most so many parts; and a list of columns' names with commas.  False: it is none, or longer than
 * any.  (Splitting takes the square of a text's length, and nobody can stop it.)
 */
struct List;
extern bool split_name(const char *name, int most, struct List **parts);
extern bool split_names(const char *list, struct List **names);

/* ---- catalog.c: settings under which kanon's own queries run, and questions to the catalogs ---- */

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

/* The same, that without its schema, and a schema's: for texts of queries.  Raises an error where it is gone by now. */
extern char *name_relation(Oid relid);
extern char *name_bare(Oid relid);
extern char *name_schema(Oid schema);

/* "name type" and a collation that is not the type's own, as a table or a function's rows are defined. */
extern char *column_definition(const char *quoted, Oid type, int32 typmod, Oid collation);

/* InvalidOid: it is gone. */
extern Oid relation_owner(Oid relid);

/* How many columns it has, dropped ones included; 0: it is gone. */
extern int relation_natts(Oid relid);

/* InvalidOid: it is gone. */
extern Oid function_owner(Oid function);

/*
 * A text as a value of a type.  For a domain it is a value of the base type: the domain's owner can
 * add checks at any time, and these would run with the caller's rights.  Refuses types with such
 * domains inside.
 */
extern Datum text_as_value(const char *text, Oid type, int32 typmod);

/* Have equal values of a type equal bytes, so that they look the same?  As btree's deduplication asks. */
extern bool equal_is_identical(Oid type, Oid collation);

/* The query of a view that has all rows of one relation, whose place it tells; NULL: something else.  Without a lock. */
extern const struct Query *plain_view(Oid view, int *from);

/*
 * The relation whose rows a view, or views of views, show as they are: itself, if it is none.  attnum: a column, which
 * becomes that relation's; or InvalidAttrNumber.
 */
extern Oid relation_behind(Oid relid, AttrNumber *attnum);

/* True if reading the one means reading the other (itself, views, partitions). */
extern bool relation_reads(Oid reader, Oid relid);

/*
 * ---- trust.c: whether reading a relation could run code of another role.
 *
 * Its owner can change a view today or tomorrow; a table can have policies, and
 * indexes, constraints and statistics whose expressions the planner works out.  All of
 * that runs with the reader's rights.  A caller who names a relation in a call takes
 * that risk, as in a SELECT. A caller who asks for something that names relations,
 * which others may have replaced since, does not.
 */

/*
 * Why a relation is not to be read by the current user: a clause ("it is a view of another
 * role"); NULL: it may be.  It is locked then as a reader locks it, and so is whatever is read with it.
 * Locks of others are waited for as long as patience_left says.
 */
extern const char *relation_mistrusted(Oid relid);

/* Could reading it run code of another role?  Waits for locks; false of what may not be read. */
extern bool relation_of_strangers(Oid relid);

/* Raises insufficient_privilege for such a relation, where kanon.read_strangers says so. */
extern void relation_trust(Oid relid);

/* The same of a table that is written, whose triggers run as well: it may have been another role's. */
extern void relation_trust_written(Oid relid);

/* The same of an expression that kanon evaluates itself. */
struct Node;
extern void expression_trust(struct Node *expression);

/*
 * The door: while one is open, and kanon.read_strangers says so, no query is planned and no function called that could
 * be, or is, code of another role: insufficient_privilege.  Errors name what is read by `name` and `relid`.
 */
typedef struct Door
{
	const struct Door *outer;
	const char *name; /* or NULL */
	Oid relid;        /* or InvalidOid */
	Oid reader;
	bool guarded;
} Door;

extern void door_open(Door *opened, const char *name, Oid relid);
extern void door_close(const Door *opened);

/*
 * Work for a caller who names relations now, and takes the risk of that: the door lets others' code through and tells of
 * it in *met.  NULL: it does not.
 */
extern void trust_named(bool *met, void (*work)(void *arg), void *arg);

/* When the module is loaded. */
extern void trust_init(void);

#endif
