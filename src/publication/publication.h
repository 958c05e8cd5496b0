/*
 * publication.h: publications: a view over the current release of a source, and
 * what it takes to make the next one.
 *
 * All that belongs to a publication are ordinary objects of its publisher, made
 * in one schema: the view that readers see; a view of the source, which records
 * what is depended on and follows renames; a table with one row, the definition;
 * a table with the history; a table per release and, where they are asked for,
 * private ones that say which person (persons) and which row type (types) is in
 * which class.  So a dump, a change of owner or an upgrade needs nothing special.
 * A definition is found by its column of type kanon_options, which lets the
 * extension be dropped by CASCADE alone, and by its owner, who must own the view,
 * too: anybody can make a table with such a column, and write anything into it.
 * Relations are kept as regclass (those that options name: beside them), which follows renames and is restored by name;
 * they count as far as they are the owner's.
 */
#ifndef KANON_PUBLICATION_H
#define KANON_PUBLICATION_H

#include "run/run.h"

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "utils/array.h"

typedef struct KanonPublication
{
	Oid extension;  /* kanon's schema */
	Oid definition; /* the table with this row */
	Oid owner;
	char *name;    /* of the view, qualified and quoted, as it is now */
	Oid published; /* the view; InvalidOid until the first release is there */
	Oid source;    /* the view of the source */
	Oid history;
	Oid source_named, history_named; /* by the definition, whosever they are */
	bool lost; /* a view whose definition does not count: name, view and the owner of what it reads alone */
	char *problem; /* what is wrong (publication_diagnose), or NULL, */
	char *remedy;  /* and the statement that mends it */
	Oid caller;    /* the function of kanon's that was called */
	char *model;   /* the name of a model */
	ArrayType *qis;
	int64 k;
	Jsonb *options;       /* of the model; of several tables: those of each, the subject's first */
	ArrayType *relations; /* that they name, as they were stored */
	List *
		views; /* of several tables: Oids of the other views, in the order of the options; InvalidOid: gone */
	int32 keep_releases;
	bool stable;
	bool protect_successive; /* histories, */
	bool protect_values;     /* or values (protected_values.c) */
	bool strangers;          /* what was named could run code of another role when it was: it may still */
	char *key;               /* the column that says who a row is about, or NULL */
	Jsonb *bounds; /* of hierarchies, since some release (stable_keep.c); NULL: the next one draws them */
	bytea
		*mask_key;  /* a secret: of masks that last from release to release; NULL: a definition without one */
	Oid secret_of;  /* a definition whose secret a new one takes over; InvalidOid: it has its own */
	long *patience; /* of who looks through many; NULL: waits for locks */

	/* of one that appends (appended.h): */
	char *append;                     /* the column by which rows come, or NULL */
	bool grows;                       /* new rows are greater by it than those before */
	Oid batches;                      /* the partitioned table of all batches, */
	Oid marks;                        /* up to where each of them goes; InvalidOid: the key does not grow */
	Oid shown;                        /* which rows were shown, */
	Oid waiting;                      /* and which ones wait */
	bool publish_late, recount, anew; /* as a refresh is asked */
} KanonPublication;

typedef enum ReleaseStatus
{
	RELEASE_CURRENT,
	RELEASE_KEPT,
	RELEASE_DROPPED,
	RELEASE_FAILED,
	RELEASE_UNCHANGED, /* of a refresh that made none: in no history */
	RELEASE_HELD       /* none could be made in which nobody stands alone: the one before stays */
} ReleaseStatus;

/* A line of the history. */
typedef struct Release
{
	int64 number;
	TimestampTz started;
	TimestampTz finished;
	TimestampTz checked; /* when a refresh last found nothing changed since; 0: none has */
	ReleaseStatus status;
	int64 row_count;
	int64 k; /* reached; 0: no class shows anything */
	double cost;
	bool none;          /* histories allow no release: what is raised says why */
	int64 held_persons; /* held back, or waiting, as they would be alone */
	int64 held_oldest;  /* releases for which somebody has been */
	int64 difference;   /* the smallest from the release before; 0: none */
	char *error;        /* SQLSTATE, or NULL */
	char *message;      /* what it says, without values */
	char *detail;
	char *hint;
	Oid relation; /* InvalidOid: dropped, or failed */
	Oid persons;
	Oid types;
	List *others;        /* of several tables: Oids of the other tables, in the order of the views */
	List *held;          /* of several tables that are protected: private ones (linked_protection.c) */
	Oid rows;            /* as published last, with their histories, */
	bool histories_lost; /* which the history names, and which is not there or somebody else's */
	bytea *digest;       /* of what it was made from (rows/digest.c), or NULL */

	/* of a publication that appends, as the last refresh found them */
	int64 waiting;         /* rows that wait for a batch */
	int64 late;            /* rows of ranges that were shown before they came */
	int64 corrected;       /* rows that were shown and have changed since, when they were last counted, */
	int64 deleted;         /* or are gone */
	TimestampTz recounted; /* 0: never */
	bool more;             /* rows are left that max_batch kept out */
} Release;

/* The table that the view reads when that release is the current one. */
extern Oid publication_shows(const KanonPublication *publication, const Release *release);

/* ---- publication_state.c: definitions and histories ---- */

extern Oid extension_schema(FunctionCallInfo fcinfo);

/*
 * Every publication, in the order of their names.  For owners that `wanted` refuses (the view is
 * not known then: InvalidOid) nothing is locked or read.  Publications that others keep locked are
 * left out with a WARNING and in *busy (or NULL), by their owner.
 */
extern List *publications(Oid extension, bool (*wanted)(Oid owner, Oid view), List **busy);

/* The tables that have a column of the type that only definitions have; whose they are is for the caller to ask. */
extern List *definition_tables(Oid extension);
extern void publications_sort(List *list);

/* The caller may do everything with it. */
extern bool owned_by_caller(Oid owner, Oid view);

/* The publication's owner owns that, too; asked of the catalog, before any lock. */
extern bool publication_owns(const KanonPublication *publication, Oid relid, char relkind);

/* By the view's name; raises undefined_object, and insufficient_privilege unless its owner's. */
extern KanonPublication *publication_find(Oid extension, const char *name,
										  bool (*wanted)(Oid owner, Oid view));

/* The same; a view whose definition does not count is told, not raised. */
extern KanonPublication *publication_look(Oid extension, const char *name,
										  bool (*wanted)(Oid owner, Oid view));

/* The same again, when others may have changed it meanwhile; NULL: it is none any more. */
extern KanonPublication *publication_read(Oid extension, Oid definition);

/* Takes the name that the view has now, in the publication's own memory. */
extern void publication_rename(KanonPublication *publication);

/* Makes the two tables; the definition is stored by publication_store. */
extern void publication_create_tables(KanonPublication *publication, const char *name, Oid namespace);
extern void publication_store(KanonPublication *publication);

/*
 * Records that a release leaves: what the view is called now, should it be dropped one day, and
 * bounds of hierarchies.
 */
extern void publication_store_made(KanonPublication *publication);

/* Each line of the history, in no order; what `visit` gets is gone when it returns. */
extern void releases_visit(const KanonPublication *publication,
						   void (*visit)(const Release *release, void *arg), void *arg);

/* The current and the kept ones by number, ascending; *last (or NULL) is the greatest number of any. */
extern List *releases(const KanonPublication *publication, int64 *last);
extern Release *release_current(List *releases); /* NULL: none */
extern void release_add(const KanonPublication *publication, const Release *release);

/* Those of its tables that are there by the history: all, or what protects the next release alone. */
extern List *release_tables(const Release *release, bool rows_alone);

/* The parts of a publication, by whom they are there for. */
typedef enum PublicationPart
{
	PART_VIEW,    /* readers read it */
	PART_RELEASE, /* readers read it through a view */
	PART_ROWS,    /* rows and persons: nobody knows how many */
	PART_OWNER    /* how it is made: the owner's alone */
} PublicationPart;

typedef struct PublicationObject
{
	Oid relid;
	PublicationPart part;
} PublicationObject;

/*
 * All of them that are there, of the releases of that history, too, as PublicationObject; what reads others comes first.
 * Dropping and closing a publication go by this list.
 */
extern List *publication_objects(const KanonPublication *publication, List *history);

/* They are gone. */
extern void release_forget(Release *release, bool rows_alone);

/* When it was known last to be what the source gives. */
extern TimestampTz release_known(const Release *release);

/* Status, relations and when it was checked, which change later. */
extern void release_update(const KanonPublication *publication, const Release *release);
extern const char *release_status_name(ReleaseStatus status);

/* Are its held persons counted? */
extern bool release_tells_held(const Release *release);

/*
 * Work in the name of the publication's owner, as REFRESH MATERIALIZED VIEW does: the
 * role that starts it lends it no rights.
 */
typedef struct Identity
{
	Oid user;
	int context;
	int nest;
} Identity;

extern void identity_assume(const KanonPublication *publication, Identity *saved);
extern void identity_return(const Identity *saved);

/* One of a publication's actions at a time; false: somebody else is at it. */
extern bool publication_lock(const KanonPublication *publication, bool wait);

/*
 * Locks it and returns it as it is now that nobody else is at it; raises
 * lock_not_available unless told to wait, and what is wrong with it now.
 */
extern KanonPublication *publication_claim(KanonPublication *publication, bool wait);

/* A free name for something that belongs to the publication, qualified and quoted: another one for each name and `what`. */
extern char *private_name(const char *name, const char *what, Oid namespace, char **bare);

/* ---- protected_values.c: what protects, and publications that protect values ---- */

/* The argument protect_successive: 'false', 'true' or 'values'; and the word for what a publication has. */
extern void protection_take(KanonPublication *publication, FunctionCallInfo fcinfo, int arg);
extern const char *protection_word(const KanonPublication *publication);

/* Raises what cannot be published so. */
extern void values_check(const KanonPublication *publication);

/* Tells what is promised and what is not. */
extern void values_tell(const KanonPublication *publication);

struct Request;
extern void values_fill(const KanonPublication *publication, const Release *before, int64 release,
						const char *after, struct Request *request);

/* ---- linked_publication.c: several tables as one publication ---- */

#define LINKED_MODEL "linked"

extern bool publication_is_linked(const KanonPublication *publication);
extern void linked_release_make(KanonPublication *publication, Release *release, List *releases,
								bool may_keep);

/* The word of its options about keys; NULL: there is none. */
extern char *linked_pseudonym(Jsonb *options);

/* linked_protection.c: the private tables of a release that is protected; `make` is called until nobody stands alone. */
struct Linked;
struct LinkedTable;
struct LinkedHistories;
extern void linked_protection_fill(const KanonPublication *publication, const Release *release,
								   const Release *before, struct Linked *linked,
								   struct LinkedTable *const *tables);
extern void linked_protection_take(KanonPublication *publication, Release *release,
								   const struct Linked *linked, struct LinkedTable *const *tables);
extern void linked_protection_try(KanonPublication *publication, Release *release, void (*make)(void *arg),
								  void *arg, struct LinkedHistories **histories);

/* linked_views.c: keys that join publications of one owner */
#define PSEUDONYM_HINT                                                                                      \
	"'release' gives each release new keys; with 'publication' they last, and join releases; with 'group:'" \
	" and a name they last, and join publications of yours with the same words."

extern bool group_is_named(const char *pseudonym);
extern void group_check_pseudonym(const char *pseudonym);
extern List *group_members(const KanonPublication *publication); /* other ones */
extern void group_check_same(const KanonPublication *publication, Jsonb *before);
extern void group_tell(const KanonPublication *publication, List *members);

/* The options of each table, as JsonbContainer; NIL: it is of one table. */
extern List *linked_tables(const KanonPublication *publication);

/* New options of a publication that has these before are as a definition has them; raises what is wrong. */
extern void linked_alter(KanonPublication *publication, Jsonb *before);

/* Raises that somebody has written into the definition what is none. */
pg_noreturn extern void linked_definition_raise(const KanonPublication *publication);

/* Under which name readers know a table, in the order of the options: 0 is the subject's.  NULL: the options do not say. */
extern char *linked_view_name(const KanonPublication *publication, int n);

/* Each of the other views shows its table of the release. */
extern bool linked_views_show(const KanonPublication *publication, const Release *release);

/* As view_check, of the other views. */
extern void linked_views_check(const KanonPublication *publication, const Release *release);

/* All views of several tables, at one moment; of one table nothing is done. */
extern void linked_views_lock(const KanonPublication *publication);

/* The other views follow the subject's. */
extern void linked_views_switch(KanonPublication *publication, const Release *release);
extern void linked_definition_tell(const KanonPublication *publication);

/*
 * The relation in the place of one of the other views, or a view that somebody has redefined;
 * InvalidOid: nothing.
 */
extern Oid linked_view_in_the_way(const KanonPublication *publication);

/* The publication of several tables whose views are in a schema, or NULL. */
extern KanonPublication *linked_find(Oid extension, const char *schema, bool (*wanted)(Oid owner, Oid view));

/* ---- publication.c ---- */

/* Makes what belongs to a new publication, and its first release. */
extern void publication_establish(KanonPublication *publication, const char *name, Oid source, Oid schema);

/* That the owner's own relations lead to other roles' code, where the owner has just named them. */
extern void publication_tell_strangers(const KanonPublication *publication, Oid source);

/* Raises when there is such a relation; nobody else makes one until this transaction is over.  Qualified and quoted. */
extern char *publication_new_name(const char *name, Oid source, char **bare, Oid *namespace);

/* NULL: the schema of the views that readers see. */
extern Oid private_schema_arg(FunctionCallInfo fcinfo, int arg, Oid published);

/* Drops all of them that are there, together, since they may refer to each other. */
extern void drop_relations(const char *kind, List *relids);

/* Raises when it protects nobody: asked of an argument, and of a definition, which its owner can write. */
extern void publication_check_k(int64 k);

/* Arguments of both functions that define one. */
extern int64 class_size_arg(FunctionCallInfo fcinfo, int arg);
extern int32 keep_releases_arg(FunctionCallInfo fcinfo, int arg);

/* NULL or '{}': the labels say. */
extern bool says_nothing(FunctionCallInfo fcinfo, int arg);

/* Raises what is wrong with the options of the model; returns this. */
extern const Model *definition_options(const KanonPublication *publication);

/* Raises why rows that have not changed cannot stay together in releases of the model. */
extern void definition_check_stable(const KanonPublication *publication, const Model *model);

/* Tells what readers who keep releases can find out, once. */
extern void definition_tell(const KanonPublication *publication);

/* Checks a definition, new or changed; and its key, or NULL. */
extern void definition_check(const KanonPublication *publication);
extern void key_check(const char *key, Oid source);

/* ---- source.c: the view of the source ---- */

/* The columns that a publication uses: of the source, or of the view that is there. */
extern void source_view_create(KanonPublication *publication, Oid source, const char *name, Oid namespace);
extern void source_view_renew(KanonPublication *publication, const char *name, Oid namespace);

/* The one relation that the view reads, InvalidOid when it is gone: asked of the catalog, without a lock. */
extern Oid source_view_reads(Oid view);

/* The same; raises when it is gone. */
extern Oid source_of(const KanonPublication *publication);

/* ---- lost.c ---- */

/*
 * The same as publications, with views whose definition does not count, of those whose view or releases `wanted`
 * lets through; and of each what is wrong with it.
 */
extern List *publications_seen(Oid extension, bool (*wanted)(Oid owner, Oid view), List **busy);

/* Sets problem and remedy, if anything is wrong. */
extern void publication_diagnose(KanonPublication *publication);

/* No refresh can be recorded. */
extern bool publication_is_broken(const KanonPublication *publication);
extern void publication_raise_broken(const KanonPublication *publication);

/* ---- publication_rows.c: roles of columns from SECURITY LABEL ---- */

/*
 * Quasi-identifiers of a relation, and their weights, `keep` and so on in
 * *options, unless those are there already.
 */
extern ArrayType *labels_read(Oid relid, const Model *model, Jsonb **options);

/* ---- successive.c: who is in which class of which release ---- */

/* Counts its rows, and those of the smallest class that shows something (0: none does). */
extern int64 release_rows(const KanonPublication *publication, Oid release, int64 *least);

/*
 * The fewest persons (without keys: rows of a class) that joined, left, moved or changed alike since; 0: nobody
 * did, or it cannot be told.  Without count it checks what it would compare, and gives 0.
 */
extern int64 release_difference(const KanonPublication *publication, const Release *before,
								const Release *release, bool count);

/* ---- source_view.c: what readers see ---- */

/* Waits until nobody reads the view, as long as lock_timeout allows; raises when it is the owner's no more. */
extern void view_lock(const KanonPublication *publication);

/* Points the view to a release, under the column names that it has; or makes it.  It says what the release says. */
extern void view_switch(KanonPublication *publication, Oid release);

/* The view has all rows and columns of the release as they are, whatever its owner calls them; without a lock. */
extern bool view_shows(Oid view, Oid release);

/* Raises, without a lock, when the view cannot show such a release under the names that readers know. */
extern void view_check(const KanonPublication *publication, Oid release);

/* ---- failure.c ---- */

/* Raises what the publication does not let through; before: the current release, or NULL. */
extern void limits_check(const Run *run, const Release *release, const Release *before);

/* ---- failure.c: what the publisher is told of a refresh that failed ---- */

/* The release has failed, for that reason. */
extern void failure_note(Release *release, const ErrorData *error);

/* No release could be made for the sake of histories: so it is told. */
extern void failure_held(const KanonPublication *publication, Release *release, const ErrorData *error);

/* One line of a release that has failed. */
extern char *failure_text(const Release *release);
extern void failure_warn(const KanonPublication *publication, const Release *release);

/* ---- refresh.c ---- */

/* Makes the release's table without rows, and raises where the histories have other columns. */
extern void release_outline(KanonPublication *publication, Release *release, List *releases);

/*
 * A table of the release, checked; no reader sees it yet.  may_keep: when nothing has changed since the
 * current release, none is made, and the release's status says so.
 */
extern void release_make(KanonPublication *publication, Release *release, List *releases, bool may_keep);

/* The last word on a release, whichever method made it: rows and k are counted in its table. */
extern void release_check(const KanonPublication *publication, Release *release, const Run *run);

/* A name for a table of a release: publication_WHAT_N, qualified and quoted. */
extern char *release_table_name(const KanonPublication *publication, const Release *release, const char *of,
								const char *what, char **bare);

/* All of a definition that shapes releases, as text. */
extern char *definition_text(const KanonPublication *publication);

/* Raises where those of the release before are gone, which a protected one goes on from. */
extern void refuse_lost_histories(const Release *before);

/* Tables of a release are the owner's, but were made by another role where they were given away since: raises. */
extern void release_trust(const Release *release);

/* The view, locked if it is there, shows another table. */
extern void view_show(KanonPublication *publication, Oid release);

/* Makes a release and switches the view, if anything has changed; raises what goes wrong. */
extern void release_build(KanonPublication *publication, Release *release, List *releases);

/*
 * The next release of a publication that the caller has locked.  A failure is recorded and not raised.  scheduled:
 * nothing is said on the way, since refresh_all.c tells all of it in the end.
 */
extern void publication_refresh(KanonPublication *publication, Release *release, bool scheduled);

/* ---- policy.c: policies of kanon_policies that releases keep ---- */

/* The policy that its options name, or NULL. */
extern char *publication_policy(const KanonPublication *publication);

/* The points of that policy, as text; "": there is none.  A release is looked at again when the text changes. */
extern const char *policy_points(const KanonPublication *publication);

/* Options and k that keep that policy (NULL: the one of the options), or an error that names the points that they leave. */
extern void policy_apply(KanonPublication *publication, Oid source, const char *policy);

/* Raises where the recorded run leaves the policy of its request. */
extern void policy_check(const Run *run);

#endif
