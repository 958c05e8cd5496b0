/*
 * gate.h: the one way by which rows come into kanon.
 *
 * A relation is resolved once, at the beginning of a call: which columns, of what
 * types.  Later queries name it again, and its owner may have altered, dropped or
 * replaced it meanwhile, in this very session: a view can call any function.  So each
 * query's rows are compared with what was resolved before the first one is looked at.
 */
#ifndef KANON_GATE_H
#define KANON_GATE_H

#include "host/border.h"

#include "access/tupdesc.h"
#include "executor/tuptable.h"
#include "nodes/pg_list.h"

/* How the cells of a published quasi-identifier look. */
typedef enum ShowAs
{
	SHOW_AS_VALUE, /* as in the source */
	SHOW_AS_TEXT,  /* values and labels of a hierarchy, as text */
	SHOW_AS_RANGE, /* a value is the range that holds only it */
	SHOW_AS_SET    /* an array; a value is the array of it alone */
} ShowAs;

/* A column of a relation, as it was resolved when the call began. */
typedef struct SourceColumn
{
	char *name;
	const char *quoted; /* as an identifier in SQL */
	Oid type;           /* as declared, domains included */
	int32 typmod;
	Oid collation;
	uint32 shape;      /* of composite types: host/gate.h */
	bool may_identify; /* a kept column whose values may be a row's own */
	bool answered;     /* it is named in allow_identifying */
	bool numerical;    /* a quasi-identifier measured as a number */
	ShowAs show_as;
	struct Dictionary *dictionary; /* quasi-identifiers: filled by rowtypes_read */
	struct Hierarchy *hierarchy;   /* how its values generalize, or NULL */
	struct Mask *mask;             /* how a kept column is masked, or NULL */
} SourceColumn;

typedef struct Gate
{
	const char *name; /* of what is read, for errors: a relation's is qualified and quoted */
	Oid relid;        /* what that name must still mean; InvalidOid: it is no relation */
	List *also;       /* OIDs of what else the query names, and */
	List *also_names; /* those names, which must still mean them */
	TupleDesc desc;   /* the columns that are expected */
	uint32 *shapes;   /* [desc->natts] type_shape when they were resolved */
	int n;            /* columns added so far */
	Border *border;   /* who is told how far a query is; NULL: nobody */
	const char *phase;
	double share; /* done of the query, as the planner counts its rows */
	bool whole; /* rows are shown as they come: who receives them takes columns out himself, if he needs to */
} Gate;

/* When the module is loaded. */
extern void gate_init(void);

/* For so many columns, which are added from the first to the last. */
extern Gate *gate_create(const char *name, Oid relid, int natts);

/* The phase that its query is, whose progress is told: see gate_tell. */
extern void gate_watch(Gate *gate, Border *border, const char *phase);

/* Tells it while rows are received, which may come long after the last one was read. */
extern void gate_tell(const Gate *gate);

/* Columns as they were resolved. */
extern void gate_columns(Gate *gate, const SourceColumn *columns, int n);

/* All columns of a table. */
extern void gate_table(Gate *gate, TupleDesc desc);

/* A relation that the query names beside that one: its name, qualified and quoted. */
extern char *gate_also(Gate *gate, Oid relid);

/* A computed column of a query: a column of a type that has no collation and no typmod. */
extern void gate_computed(Gate *gate, const char *name, Oid type);

/*
 * The types that a type is made of, when it is composite or holds composites: its
 * owner may alter it while values are in memory. 0 for types that are made of nothing.
 */
extern uint32 type_shape(Oid type);

/*
 * Queries that are under way, but for what kanon itself does with their rows: while
 * there are some, functions of others may run.
 */
extern int gate_queries;

/* kanon itself has sent this, and no function that a query calls. */
extern bool gate_has_sent(const char *sql);

/* A row, all of its values at hand until the next one; false: no more are wanted. */
typedef bool (*GateReceive)(void *arg, TupleTableSlot *slot);

/*
 * Other servers that have the rows can send what the query rules out.  A number of rows, 1 and more, which do not make
 * more than any table has with those before; and a value that is not NULL: or else errors that name what is read.
 */
extern int64 gate_rows(const char *name, const TupleTableSlot *slot, int column, int64 before);
extern void gate_refuse_null(const char *name, const TupleTableSlot *slot, int column);

/*
 * Runs a SELECT through the gate, which is a door (catalog.h), under the active snapshot when read_only.  While
 * it runs nobody can alter the composite types of its columns.
 */
extern void gate_select(Gate *gate, const char *sql, bool read_only, GateReceive receive, void *arg);

/* The same for what fits into memory: SPI_tuptable and SPI_processed are the rows. */
extern void gate_query(const Gate *gate, const char *sql, bool read_only);

/*
 * Runs a statement that brings no rows into kanon, or such as gate_value takes: SPI_execute,
 * counted in gate_queries.  EXPECTED: what comes of it, 0: anything but an error.  Returns
 * SPI_processed.
 */
extern uint64 gate_execute(const char *sql, bool read_only, int expected);

/* The same, where no operator is looked up but in pg_catalog (IN, IS DISTINCT FROM). */
extern uint64 gate_execute_plain(const char *sql, bool read_only, int expected);

/* Writes rows from parameters.  Returns how many; 0, too, where rules made another statement of it. */
extern uint64 gate_write(const char *sql, int n, Oid *types, Datum *values, const char *nulls, int expected);

/*
 * Reads under the active snapshot see what this transaction has written by now.  A copy takes its place: who holds it (a
 * scan, a cursor, who registered it) goes on seeing what it saw.  It is the caller's own, of this subtransaction.
 */
extern void gate_see_written(void);

/* A SELECT from the catalogs with parameters, of at most so many rows (0: all).  Returns SPI_processed. */
extern uint64 gate_ask(const char *query, int n, Oid *types, Datum *values, const char *nulls, bool read_only,
					   long most);

/* A value of SPI_tuptable; raises when the column is not of that type. */
extern Datum gate_value(uint64 row, int column, Oid type, bool *isnull);

#endif
