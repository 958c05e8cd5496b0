/*
 * target.h: the target's name and columns, and how it takes an older table's place.
 */
#ifndef KANON_TARGET_H
#define KANON_TARGET_H

#include "distributed/citus.h"
#include "rows/source.h"

#include "utils/relcache.h"

typedef struct Target
{
	char *schema;
	char *name;
	char *qualified; /* both, quoted */
	Oid namespace;
	Oid relid;      /* of the table that is being filled */
	Oid replaced;   /* of the old table, or InvalidOid */
	char *building; /* qualified name while being filled */
	TableKind kind; /* what it will be when it is written */
	bool mark;      /* with KANON_MARK_COLUMN */
	bool numbered;  /* with KANON_TYPE_COLUMN and KANON_CLASS_COLUMN; never published */

	struct Company *company; /* of a publication that knows which row was where; or NULL */
} Target;

/* The column that says which pattern a row was published under. */
#define KANON_MARK_COLUMN "kanon_pattern"

/* The row's type and its class in the release, by number. */
#define KANON_TYPE_COLUMN "kanon_type"
#define KANON_CLASS_COLUMN "kanon_class"

/*
 * The last column of a distributed target, after which rows go to workers: a random
 * number, as nothing of a person may say where a row is.
 */
#define KANON_SHARD_COLUMN "kanon_shard"

/*
 * Where a table or view of that name would be made: its name in
 * *namespace.  `what` it is called in errors: "target".
 */
extern char *relation_to_create(const char *name, const char *what, Oid *namespace);

/* Locks a name: a session that would make a relation of it waits until this transaction is over. */
extern void lock_name(Oid namespace, const char *name);

/* Runs a statement that defines something, under the caller's search_path. */
extern void run_utility(const char *sql);

/* Runs what a query of the catalogs writes, $1 and $2: statements, one a row, with all names qualified. */
extern void run_statements(const char *query, Oid old, Oid new);

/* Takes away what default privileges gave others on a relation. */
extern void keep_private(Oid relid);

/*
 * The same of a table of persons, or of what says how many there are: no autovacuum writes the number of
 * its rows into pg_class, which everybody may read.
 */
extern void keep_uncounted(Oid relid);

/* The same of what is for readers, who may read it. */
extern void keep_readable(Oid relid);

/* Checks the name (nothing is made yet). */
extern Target *target_resolve(const char *name, const Source *source, bool replace, bool mark);
extern void target_create(Target *target, const Source *source);

/* What is written becomes a table of its kind, or a NOTICE says why it stays one of this server. */
extern void target_distribute(Target *target);

/* Readers of a view may read the table below it: on workers a view gives nobody its owner's rights. */
extern void target_share(Oid view, Oid relid);

/* A quasi-identifier's type, typmod and collation become those that the target has. */
extern void target_column(SourceColumn *column);

/* Raises if replacing a table (InvalidOid: none) would drop what a relation beside the source reads. */
extern void target_spare(Oid replaced, const char *name, Oid read);

/*
 * To be written into; raises T_R_SERIALIZATION_FAILURE if it has been dropped, renamed or
 * moved since it was created, as functions of a source can do.
 */
extern Relation target_open(const Target *target);

/* Exactly the columns that were listed, as they were made, and nothing beside. */
extern bool target_is_plain(Relation rel, const Target *target, const Source *source);

/* Puts the new table in the old one's place, with its owner and grants. */
extern void target_install(Target *target, const Source *source);

#endif
