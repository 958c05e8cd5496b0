/*
 * distributed.h: rows of distributed tables: set aside, counted, written and verified on workers
 */
#ifndef KANON_DISTRIBUTED_H
#define KANON_DISTRIBUTED_H

#include "core/kanon.h"
#include "host/border.h"
#include "host/gate.h"
#include "rows/source.h"
#include "rows/row_types.h"
#include "rows/target.h"
#include "rows/verify.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "postgres.h"
#include "access/tupdesc.h"
#include "executor/tuptable.h"

/* ---- class_lookup.c: which class a row goes to, as workers look it up ---- */

/*
 * The classes of all row types as one value, for kanon_shard_write: hash[] of the types, which all differ, and
 * low[] of the flows, the least lot of their rows.  NULL: it would take more than a query's hash table may; then rows are joined instead.
 */
extern bytea *lookup_create(const KanonRelease *release, const int64 *hash, const int64 *low, Border *border);

/* On workers: where a row goes that was set aside, or nowhere.  Raises when this is no such value. */
#define LOOKUP_NOWHERE PG_UINT32_MAX
extern uint32 lookup_class(bytea *lookup, bytea *packed, int32 shard);
pg_noreturn extern void raise_no_lookup(void);

/* ---- class_lookup.c: row types whose rows go to several classes, on workers ---- */

/* How a query tells rows that were set aside. */
typedef struct LotWords
{
	const char *schema; /* of a table that is there meanwhile */
	const char *of_row; /* the hash of a row's type */
	const char *lot;    /* a row's lot */
} LotWords;

/*
 * The least and largest lot, low[] and high[], of the rows of each flow, so that each class takes just the rows that
 * the release says; of a type that goes to one class these are all lots.  hash: [types], which all differ.  Is
 * any type divided?
 */
extern bool divide_types(const Source *source, const LotWords *words, const KanonRelease *release,
						 const int64 *hash, int64 *low, int64 *high, Border *border);

/* ---- distributed_write.c: the release becomes rows on the workers that have the source's ---- */

/* From so many rows on a target is distributed; a smaller one is on every server. */
#define SPREAD_ROWS 10000

/*
 * Makes a new target a table of its kind: the same as the table before it (InvalidOid:
 * there is none), or what its source is.
 */
extern TableKind spread_kind(const Source *source, Oid before);

/*
 * Whether workers write the target: here alone that is decided.  A NOTICE says why they
 * do not write one that is to be distributed.
 */
extern bool spread_takes(const Target *target, const Source *source, const KanonProblem *problem);

/* That NOTICE, for those who write it in ways of their own. */
extern void spread_not(const Target *target, const Source *source, const char *why);

/* As target_write; the target is distributed then. */
extern int64 spread_write(const Target *target, const RowTypes *types, const KanonProblem *problem,
						  const KanonRelease *release, Border *border);

/*
 * ---- row_type_wire.c: the values of a row type as workers of Citus send them.
 *
 * Workers hash the row types of the rows that they have, so that rows that are set aside need
 * not carry what they are told apart by: a number stands for it, and the values themselves
 * travel once or a few times a worker.  A packed row type is a random lot of the row's own, the hash, and
 * the values where they are told.
 */

/* Bytes that a packed row type has before the values: the lot, and from there on what rows of a type have in common. */
#define PACKED_LOT ((int) sizeof(uint32))
#define PACKED_HASH ((int) sizeof(uint64))
#define PACKED_BEFORE (PACKED_LOT + PACKED_HASH)

/* Equal values have hashes of their own: regclass and its like, whose numbers each server gives for itself, and timetz. */
extern bool is_hashed_apart(Oid type);

/*
 * Can such columns be packed?  They are not too many, their types are the system's own, are hashed alike by
 * every server, and have a binary form that says all and depends on nothing else.
 */
extern bool packable(const SourceColumn *columns, int n);

/* The call that packs them, of a row of what a query reads from. */
extern char *packing(const Source *source);

/* The hash of a packed row type with the random number that places its row on a worker; raises when it is none. */
extern uint64 packed_hash(bytea *packed);
extern int64 packed_lot(bytea *packed, int32 shard);

/* Reads what packed row types have behind their lots. */
typedef struct Unpacker
{
	int n;
	FmgrInfo *receive; /* [n] */
	Oid *parameter;
	bool *text;
	Datum *values; /* [n] of the last one, in the memory context that was current */
	bool *nulls;
} Unpacker;

extern Unpacker *unpacker_create(const SourceColumn *columns, int n);

/* Raises data_corrupted when it tells no such values. */
extern void unpack(Unpacker *unpacker, bytea *told);

/* The hash with which it begins, of PACKED_HASH bytes: raises when it does not. */
extern uint64 packed_told(bytea *told);

/*
 * ---- shard_counts.c: rows of a shard that are alike, counted by the worker that has them.
 *
 * Only of tables that a run has written in this transaction, by one statement a shard: so each shard has a
 * first row, at the beginning of its first page, which says in a system column which table it is in.
 */

/* The column that has how many they are, and the one for values of kept columns. */
#define SHARD_COUNT "kanon_rows"
#define SHARD_SAMPLED "kanon_sampled"

/*
 * Kept columns of a target whose values are counted in the same reading, as kanon_sampled tells them
 * (distributed.h): of hashes those that have none of some bits.
 */
typedef struct ShardSample
{
	const char **names; /* [n] */
	int n;
	uint32 forgotten;
	void (*receive)(void *arg, bytea *sampled, int64 rows);
	void *arg;
} ShardSample;

/* Is it such a table, on workers that have kanon? */
extern bool shard_counts(const Source *source);

/*
 * The relation that a query reads from instead: the columns by which rows are told apart, or packed
 * row types without their lots; where source->sample asks for them, values of kept columns, in
 * lines that have nothing else; and the count.  Like rows may come several times, with some of
 * their rows each.
 */
extern char *shard_rows(const Source *source);
extern char *shard_types(const Source *source);

/* The relation that has the first row of each shard, beside what a function says of it (AS g). */
extern char *shard_call(const Source *source, const char *call);

/* On workers: all columns of a table, as they are; and all of its rows, as its caller may read them. */
extern TupleDesc shard_columns(Oid relid);
extern void shard_read(Oid relid, TupleDesc desc, bool whole, GateReceive receive, void *arg);

/* ---- class_lookup.c: rows of a table as heap stores them, one after the other: is the next one like the one before? ---- */

typedef struct Stored Stored;

/* Whole rows of a table: the first n columns are compared, and those from `first` (of these or behind them) to `end` taken out. */
extern Stored *stored_create(TupleDesc desc, int n, int first, int end);

/*
 * Has the row in the first columns the very bytes of the one that was remembered?  Then those to take out are in
 * values and nulls, by their places in the row, pointing into it.  No: it has others, or nobody can tell.
 */
extern bool stored_repeats(const Stored *stored, TupleTableSlot *slot, Datum *values, bool *nulls);

/* The row with which the next ones are compared. */
extern void stored_remember(Stored *stored, TupleTableSlot *slot);

/* ---- worker_stage.c: values of kept columns as workers tell them: by hashes, and of all that there are a fair sample ---- */

/* A value as it is reported: the column's place among those that were asked about, and the hash. */
#define SAMPLED ((int) (sizeof(uint16) + sizeof(uint32)))

/* The readers of such columns, in the current memory context. */
typedef struct Sampled Sampled;
extern Sampled *sampled_create(TupleDesc desc);

/* The hash of a value of the c-th column.  Is it in the sample, which has values whose hashes have none of some bits? */
extern bool sampled_has(Sampled *columns, int c, Datum value, uint32 forgotten, uint32 *hash);

/* Appends what is told of it, to a value that is a bytea from its first one on. */
extern void sampled_put(StringInfo out, int c, uint32 hash);

/* ---- worker_counts.c: what workers count of the rows that they have written ---- */

/* Does a rule count persons? */
extern bool counts_persons(const KanonProblem *problem);

/*
 * Raises when a class breaks such a rule.  hash: [ntypes], of row types; rows: what a query reads
 * from, where s is a row as it was set aside, and t has the hash of its type and its class.
 */
extern void counted_persons(const RowTypes *types, const KanonProblem *problem, const KanonRelease *release,
							const int64 *hash, const char *rows, Border *border);

/* The same when a kept column identifies, to one person's rows. */
extern void counted_kept(const Source *source, const KanonProblem *problem, const char *rows, int64 written,
						 Border *border);

/*
 * Some of the rows that were set aside come here, for what kept columns tell, which is judged when the target is verified
 * (telling_columns.c).  hash: [types]; low: [flows] least lots, in the words of a query.
 */
extern void look_at_kept(const RowTypes *types, const KanonProblem *problem, const KanonRelease *release,
						 const LotWords *words, const int64 *hash, const int64 *low, Border *border);

/* ---- worker_counts.c: row types that Citus workers have reported so far, by the hash of a packed row type (coordinator) ---- */

/* One entry for each hash: a row type with its values, and the number of its rows. */
typedef struct Told
{
	uint64 hash;
	int64 rows;
	uint64 bytes; /* another hash, of how the values came */
	uint32 type;  /* DICTIONARY_NONE: no worker has reported the values */
	char status;
} Told;

typedef struct ToldTypes ToldTypes;

extern ToldTypes *told_begin(Border *border);

/* Rows with what a packed row type has behind its lot; until the next call. */
extern Told *told_add(ToldTypes *types, bytea *value, int64 rows);

/* Another hash of it, under a seed that nobody knows. */
extern uint64 told_bytes(const ToldTypes *types, bytea *value);

/* One after the other; NULL: these were all. */
extern Told *told_next(ToldTypes *types);

extern void told_end(ToldTypes *types);

/* ---- worker_stage.c: rows of a distributed source, set aside for a run ---- */

/*
 * Columns that a row has there before its own: which worker has it, at random, and its place among others,
 * which is random, too; or, where rows are packed, its row type (distributed.h) instead of that.
 */
#define SHARD_COLUMN "kanon_shard"
#define PLACE_COLUMN "kanon_place"
#define PACKED_COLUMN "kanon_packed"

/*
 * A source that Citus has distributed: its columns (nkept of the kept ones) are copied by
 * one statement, from worker to worker, to a distributed table in that schema, which is
 * the source until source_unstage.  Other sources stay as they are.  The active snapshot
 * sees what was copied.  kanon: workers have kanon's functions.  pack: rows
 * will be written by workers alone, and do without their row types if that can be had.
 */
extern void source_stage(Source *source, int nkept, const char *schema, bool kanon, bool pack);

/* The table goes, and the source is itself again. */
extern void source_unstage(Source *source);

#endif
