/*
 * linked.h: several tables that are published as one release: the schema, and what becomes of each table.
 */
#ifndef KANON_LINKED_TABLES_H
#define KANON_LINKED_TABLES_H

#include "core/linked/linked.h"
#include "run/run.h"

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

/* How alike the values of a kept column of those are whom an attacker of the promise finds. */
typedef struct LinkedWorst
{
	const char *column;
	double share; /* of these persons with one value, at most */
	int64 values; /* that they have, at least */
} LinkedWorst;

/* The promises that a release of several tables keeps, from the tables alone. */
typedef struct LinkedFound
{
	int64 persons;
	int64 rows; /* of persons */
	int64 classes;
	int64 smallest_class;
	int64 combinations; /* different ones, in all classes; of all rows: groups of persons who agree */
	int64 smallest;     /* persons who have the rarest of them; 0: there is none */
	int64 below;        /* of them with fewer than k persons */
	int64 broken;       /* rows in combinations, and combinations, whose values break a rule */
	int64 alone;        /* persons whose numbers of rows nobody else of the class has */
	int64 dangling;     /* rows that belong to nobody */
	int nworst;
	LinkedWorst *worst; /* [nworst] of columns that the subject's table keeps beside keys */
	List *failed; /* Datum *: keys of persons whom fewer than k are like, where histories are protected */
} LinkedFound;

typedef enum LinkedRole
{
	LINKED_SUBJECT, /* a row is a person */
	LINKED_ROWS,    /* rows hang on persons */
	LINKED_ALONE,   /* the same, but the key to the person is not published */
	LINKED_LOOKUP   /* rows of persons refer to it */
} LinkedRole;

/* A foreign key of one column that is published. */
typedef struct LinkedKey
{
	char *column;
	int table; /* to whose primary key it refers */
} LinkedKey;

/* Keys of several columns. */
typedef struct LinkedParts
{
	List *primary;  /* char *: the columns of a primary key of several */
	List *composed; /* keys of several columns, and what refers to such */
} LinkedParts;

/* A column that refers to rows of another table, below the parent's, of the same person. */
typedef struct LinkedJoins
{
	char *column; /* NULL: there is none */
	int table;
	uint32 *row; /* [nrows] to which it refers; PG_UINT32_MAX: none */
	bool *apart; /* [nrows] that is not shown; of row types `hides` says it */
	bool *hides; /* [ntypes] */
} LinkedJoins;

/* Rows that hang on several persons: each person has a copy. */
typedef struct LinkedShared
{
	bool any;    /* its rows hang on rows of another table, to which rows of the parent's table refer; */
	int through; /* that table */
	bool
		copied; /* of rows there are several: they hang on such rows, or are referred to by such as hang on them */
	bool on; /* rows of other tables hang on its rows, to which several may refer */
} LinkedShared;

/* In views of copies: which row they are copies of. */
#define LINKED_SHARED_ROW "kanon__shared"

/* The column that says how many copies there are. */
#define LINKED_COPIES "copies"

/* Counts of a table's rows. */
typedef struct LinkedTally
{
	int64 nobody;    /* rows that belong to no published person */
	int64 over;      /* rows above max_rows */
	int64 published; /* in a release that is tried, and */
	double loss;     /* its loss: 0 to 1, but for rows left out */
	int64 strange;   /* rows that refer to a row of another person, */
	int64 parted;    /* and others that do not show to which row they refer */
} LinkedTally;

/* Some of what the caller says of a table. */
typedef struct LinkedTerms
{
	int known;        /* rows of a person that somebody may know; unless all are */
	double weight;    /* of what it loses, beside the other tables */
	char *key;        /* that the caller gives; or NULL */
	List *references; /* char *: columns, each followed by the table to which it refers */
	char *constraint; /* that leads to persons, as the caller names it; or NULL */
	int max_rows;     /* 0: no limit */
	int class_size;   /* of the subject: persons of a class; 0: k */
	bool tries_sizes; /* … or whichever loses least */
	bool referenced;  /* of a lookup: rows alone to which published rows refer */
	List *
		owner; /* char *: columns, each followed by the value of rows that own what they refer to; NIL: all do */
} LinkedTerms;

/* Places of keys among the grouped columns. */
typedef struct LinkedGrouped
{
	int parent;
	int key;
	int joins;
} LinkedGrouped;

typedef struct LinkedTable
{
	Oid relid;
	Oid keyed;  /* whose keys the catalogs have: of a view that is checked the table that it shows */
	char *name; /* as the caller wrote it */
	char *relname;
	char *known;    /* to readers: name of what they read in the release */
	char *target;   /* name in the target's schema */
	Jsonb *options; /* without what is read here */
	ArrayType *qis;
	LinkedTerms terms;
	bool linked;

	/* what the catalogs say */
	LinkedRole role;
	char *
		key; /* the primary key's column, or the name of all of them (linked_composed.c); NULL: nobody needs one */
	LinkedParts parts;
	Oid key_type;
	int parent; /* on whose rows its rows hang */
	char *
		reference; /* the parent's column that refers to it: each row of the parent has a copy of its own; NULL: it has none */
	char *parent_column;
	LinkedJoins joins;
	LinkedShared shared;
	List *keys; /* LinkedKey: columns that refer to tables of the release, the parent's aside */
	bool raw;   /* of a lookup: keys stay as they are */
	bool is_parent;
	List *replaced; /* char *: keys that are published as pseudonyms */

	/* the run */
	Request request;
	Run *run;
	struct Linked *of;       /* of a lookup, */
	struct Shuffle *shuffle; /* and its rows */
	LinkedGrouped grouped;
	LinkedTally tally;
	uint32 *row_of; /* [ntypes] the first of its rows; PG_UINT32_MAX: nobody has it */
	uint32 nrows;
	uint32 *type; /* [nrows] */
	uint32 *person;
	uint32 *above;
	bool *gone;
	uint32 *like; /* what a row shows, as the core says it */
	uint8 *level;
	KanonProblem ruled; /* rules of the values of known rows, by row types; privacy NULL: there are none */
	uint32 *whose;      /* [ntypes] persons, for these */
	uint32 **looks;     /* [columns][codes] what readers see, as the core wants it; or NULL */
} LinkedTable;

typedef struct Linked
{
	Oid caller;
	int64 k;
	int m;           /* rows of a table that are known at most; 0: all */
	int in_all;      /* and of all tables together; 0: it is not bounded */
	Jsonb *known_of; /* where that is said of each table; or NULL */
	uint64 seed;
	bool replace; /* tables of the release before */
	char *schema; /* of the targets */
	bytea *secret;
	const char *salt; /* beside it, of this release's keys; NULL: they last as long as the secret */
	bool grouped;     /* keys join publications of one owner */
	Border *border;   /* of what belongs to no table alone */
	int n;
	LinkedTable *tables; /* [n] the subject first, parents before children, lookups last */
	struct SnapshotData *snapshot;
	bool checks; /* it is a release already, which may be views */

	/* of a publication */
	const char *publication; /* NULL: a call asks */
	SeriesRequest series;    /* of the subject's table; bounds, definition and digest are of all tables */
	List *read;              /* relations that decide about the release */
	bytea *digest;
	LinkedFound found;                 /* in the written tables */
	double found_ms;                   /* how long that took */
	int64 run;                         /* in the record */
	struct LinkedHistories *histories; /* whose persons are protected over all releases; or NULL */

	bool told_many; /* who has many rows */

	/* trials */
	bool tries_all; /* tables that are not linked, too */
	double loss;    /* the sum over all tables */

	/* persons, once the subject is published */
	int64 published;
	uint32 nclasses;
	uint32 npersons; /* of them those who have rows */
	uint32 *class_;  /* [npersons] */
	uint32 *values; /* [npersons] row types of the subject's with what its rules look at; NULL: it has none */
	struct HTAB *persons; /* by pseudonym */
} Linked;

/*
 * linked_schema.c: reads `tables` and finds how they hang together.  published: the tables are a
 * release already (kanon_check_linked): their options are their quasi-identifiers alone.
 */
extern void linked_schema(Linked *linked, Oid subject, Jsonb *tables);

/* linked_words.c: what is said of each table.  And an error about one: `what` is wrong with it. */
extern void linked_words(Linked *linked, Jsonb *tables);
pg_noreturn extern void linked_raise_table(const LinkedTable *table, const char *what, const char *hint);

/* Does the caller list the column under this word? */
extern bool linked_lists(const LinkedTable *table, const char *word, const char *column);

/* Does the column refer to further rows of the person, by which readers join? */
static inline bool
linked_is_joined(const LinkedTable *table, const char *column, int to)
{
	return table->joins.column != NULL && table->joins.table == to &&
		   strcmp(table->joins.column, column) == 0;
}

/* Asks the catalogs about $1: rows, for gate_value. */
extern uint64 linked_ask(const char *query, Oid relid);

/*
 * linked_given.c: a key or reference that the caller gives, and whether the rows bear it out.  The table to which a column
 * refers.
 */
extern bool linked_given_key(LinkedTable *table);
extern int linked_given_reference(const Linked *linked, const LinkedTable *table, const char *column,
								  const char *name);
extern void linked_check_given(const Linked *linked);

/*
 * linked_release.c: a release; its runs stand until linked_end.  The first tells how the tables hang together;
 * the second is false when nothing has changed since the release of the publication before: nothing was made.
 */
extern void linked_begin(Linked *linked, Oid subject, Jsonb *tables);
extern bool linked_publish(Linked *linked);

/* A NOTICE, before that takes long: how many persons have very many rows. */
extern void linked_tell_many(Linked *linked);
extern void linked_end(Linked *linked);

/* Bounds of hierarchies of all tables, for the publication's next release. */
extern Jsonb *linked_bounds(const Linked *linked);

/* By what group the pseudonyms of its key are. */
extern char *linked_group(const Linked *linked, const LinkedTable *table);

/* Does the caller say that a kept column may identify?  (Of keys kanon says so itself.) */
extern bool linked_answers(const LinkedTable *table, const char *column);

/* A key whose pseudonyms are bigints: others are uuids. */
extern bool linked_number(const LinkedTable *table);

/*
 * linked_stakes.c: what a row of a table that shows nothing costs, so that each table's loss counts as a share of its own
 * rows, by its weight.  In a publication by the rows of its first release, which the bounds for the next ones have.
 */
extern double linked_stake(const Linked *linked, const LinkedTable *table);
extern void linked_push_rows(const Linked *linked, struct JsonbInState *state);

/* linked_requests.c: the request of each table. */
extern void linked_requests(Linked *linked);
extern void linked_record_worst(Linked *linked); /* what was found of kept values, with the subject's run */
extern const Model linked_model, lookup_model;

/*
 * linked_composed.c: several columns as one: its name; of which columns it is (char *), NIL: it is a column of the table; all
 * such names (char *).  An error unless the types of both keys agree.  A column in SQL.  Names of which all of a reference are
 * one (after linked_schema).
 */
extern char *linked_compose(LinkedTable *table, List *parts);
extern void linked_check_part(const LinkedTable *table, const char *part);
extern List *linked_parts(const LinkedTable *table, const char *column);
extern List *linked_composed_names(const LinkedTable *table);
extern void linked_check_composed(const LinkedTable *from, const char *column, const LinkedTable *to);
extern char *linked_column(const LinkedTable *table, const char *alias, const char *column);
extern ArrayType *linked_together(const LinkedTable *table, ArrayType *names);

/* The columns that tell rows apart: of private copies numbers, which rows that change do not keep. */
extern const char *linked_key_read(const LinkedTable *table);
extern const char *linked_parent_read(const LinkedTable *table);

/*
 * linked_persons.c: who the persons are; the person of each value of the column that refers to the subject.  Persons
 * without rows are persons of their class all the same, who agree with each other and nobody else.
 */
#define LINKED_NOBODY PG_UINT32_MAX
extern void linked_persons(Linked *linked);
extern uint32 *linked_persons_of(Linked *linked, const LinkedTable *table);
extern void linked_number_others(Linked *linked);
extern void linked_forget_persons(Linked *linked);

/* linked_rows.c: whose rows they are; what they show. */
extern void linked_solve(Linked *linked);
extern void linked_measure(Linked *linked);  /* loss and published rows of each table */
extern void linked_forget(Linked *linked);   /* persons and what was solved for them */
extern KanonStatus linked_release(Run *run); /* of a table, once all are solved */

/* linked_looks.c: what readers see in its cells, where rules have to know. */
extern void linked_look(const Linked *linked, LinkedTable *table);
extern void linked_forget_looks(LinkedTable *table);

/* The class of the person who has the key; NULL: the person is not published. */
struct Pseudonyms;
extern uint32 *linked_class_of(const Linked *linked, struct Pseudonyms *pseudonyms, Datum key);

/*
 * linked_histories.c: the release is made of private copies; once the subject's table is there, those who come into one
 * class and share a history are one; and what the next release goes on from.
 */
extern void linked_hold(Linked *linked);
extern void linked_group_persons(Linked *linked);
extern void linked_keep_histories(Linked *linked);

/*
 * linked_trials.c: how many persons the classes of the subject's table have, where the caller does not say.
 * And releases for several ks and m, once the rows are read: of how many persons the classes are; 0: there is none.
 */
extern void linked_choose_size(Linked *linked);
extern void linked_read(Linked *linked);
extern int64 linked_try(Linked *linked, int64 k, const char *known);

/* linked_record.c: the release as a whole is a run in the record, too. */
extern void linked_record(Linked *linked);
extern const char *linked_role(const LinkedTable *table);

/* The promise in words. */
extern char *linked_promise(const Linked *linked);

/*
 * linked_known.c: an attacker's knowledge: "1", …, "2 in all", "all", or of each table; of tables that are found later by the
 * second.  As it is recorded, and in words.
 */
#define KNOWN_HINT                                                                                                      \
	"An attacker may know so many rows of a person in each table: '1'; '2 in all' tables together; or '{\"stays\": 1, " \
	"\"labs\": 0}'."
extern void linked_know(Linked *linked, const char *text);
extern void linked_know_tables(Linked *linked);
extern char *linked_known_text(const Linked *linked);
extern char *linked_known_words(const Linked *linked);

/* How many columns its rules look at: they come first beside the quasi-identifiers.  0: a check knows no rules. */
extern int linked_rule_columns(const LinkedTable *table);

/* The table above that is not of copies, whose key these have. */
extern LinkedTable *linked_copied_for(const Linked *linked, const LinkedTable *table);

/*
 * linked_shapes.c: views of tables that are not published just as they are, for as long as the release takes.  And whether
 * a column that refers to a key may spell it differently; and any of a table does.
 */
extern bool linked_spelled(const LinkedTable *from, const char *column, const LinkedTable *to);
extern bool linked_is_spelled(const Linked *linked, const LinkedTable *table);
extern void linked_make_shapes(Linked *linked);
extern void linked_drop_shapes(Linked *linked);

/* Does a table publish the column? */
extern bool linked_publishes(const LinkedTable *table, const char *column);

/*
 * linked_shared.c: rows that hang on several persons.  Finishes what is known of them once the schema is; where the rows are read
 * from, with a row of the parent's table `p` for each row `t`: what the columns that refer to the parent, and the key, show.
 * Raises an error where "owner" picks several rows.
 */
extern void linked_finish_shared(Linked *linked);
extern const char *linked_shared_by(const Linked *linked, const LinkedTable *table);
extern bool linked_shows_copies(const LinkedTable *table);
extern bool linked_is_copy(const Linked *linked, const LinkedTable *table);
extern char *linked_sharers(const Linked *linked, const LinkedTable *shared, const char *relation);
extern char *linked_shared_from(const Linked *linked, const LinkedTable *table);
extern char *linked_copy_key(const LinkedTable *table, const char *column);
extern const LinkedTable *linked_shared_root(const Linked *linked, const LinkedTable *table);
extern char *linked_owner_condition(const LinkedTable *table, const char *alias);
extern void linked_check_owners(const Linked *linked);

/* linked_tells.c: raises an error where a kept column tells a quasi-identifier of another table. */
extern void linked_tells(const Linked *linked);

/* linked_owned.c: raises an error where a kept column of a lookup identifies persons whose rows refer to it. */
extern void linked_owned(const Linked *linked);

/* linked_targets.c: what would be found out after much work; and all tables take their places. */
extern void linked_check_targets(Linked *linked);
extern void linked_place(const Linked *linked);

/* linked_recount.c: tables by their relid, qis, key, parent and parent_column; lookups and those without a key to persons aside. */
extern LinkedFound linked_recount(const Linked *linked, Border *border);

#endif
