/*
 * citus.h: tables that Citus has distributed over other servers.
 *
 * kanon links nothing of Citus: it asks its catalog and calls its functions by SQL,
 * and only after having seen that they are the extension's own.
 */
#ifndef KANON_CITUS_H
#define KANON_CITUS_H

#include "postgres.h"

#include "utils/memutils.h"

/* Where a table's rows are. */
typedef enum TableKind
{
	TABLE_LOCAL,       /* on this server */
	TABLE_DISTRIBUTED, /* each on one of the workers, by a column */
	TABLE_REFERENCE    /* all of them on every server */
} TableKind;

extern TableKind citus_kind(Oid relid);

/* Is it distributed, a partition of it, or what a view reads? */
extern bool citus_reads(Oid relid);

/*
 * Until the transaction ends text comes from workers as it is there: in their binary protocol Citus takes it to be in
 * the client's encoding.
 */
extern void citus_read_text(void);

/* Do its workers have that extension, as Citus gives it to them when it is created here? */
extern bool citus_workers_have(Oid extension);

/*
 * A table of this server's own becomes one, with the rows that it has.  name: qualified
 * and quoted; like: another such name, whose rows of the same value are on the same
 * worker, or NULL.
 */
extern void citus_distribute(const char *name, const char *column, const char *like);
extern void citus_copy_everywhere(const char *name);

/*
 * A query's result is a file on every server until the transaction ends, which queries
 * read there by pg_catalog.read_intermediate_result.
 */
extern void citus_broadcast(const char *result, const char *query);

/*
 * A further column of nothing, by which that file is text: Citus chooses the format by the columns' types, and one
 * of a system table's row type leaves it no choice.
 */
#define CITUS_TEXT_COLUMN "NULL::pg_catalog.pg_am AS format"

/* Bytes that each of the numbers takes meanwhile, in an array and in its text; so many are one value. */
#define CITUS_NUMBER 32
#define CITUS_MOST_NUMBERS ((int) (MaxAllocSize / CITUS_NUMBER))

/*
 * Numbers that are to be in no query's text or parameters, since servers log these: what queries
 * on workers say for an array of them.  They travel as rows.  schema: of a table that is there meanwhile.
 */
extern char *citus_send_numbers(const char *schema, const int64 *numbers, int n);

/* The same of one number: what they say for it, which a query works out once. */
extern char *citus_send_number(const char *schema, int64 number);

#endif
