/*
 * hierarchy.h: how the values of a column generalize.  A relation says it, with the
 * value in the first column and levels 1, 2, … after it, one line per value; or a
 * builder works it out (builder.h).
 */
#ifndef KANON_HIERARCHY_H
#define KANON_HIERARCHY_H

#include "host/border.h"
#include "rows/dictionary.h"
#include "rows/source.h"
#include "hierarchies/builder.h"
#include "rows/row_types.h"

#include "utils/jsonb.h"

/* What a caller names for a column. */
typedef struct HierarchyChoice
{
	Oid relation;          /* that is read: the hierarchy, or what a builder reads; or InvalidOid */
	LevelBuilder *builder; /* NULL: the relation has the lines */
	bool suppress;         /* values without a line are suppressed at every level */
} HierarchyChoice;

typedef struct Hierarchy
{
	HierarchyChoice from;
	char *name;           /* of a relation qualified, quoted; of a builder what it is called */
	int column;           /* index into source->qis */
	SourceColumn value;   /* the relation's first column */
	int nlevels;          /* until hierarchy_read: all of its other columns, one more than below at most */
	SourceColumn *levels; /* [nlevels] name, type, collation */
	Oid range;            /* the range type that all levels have, or InvalidOid: they are labels */

	/*
	 * After hierarchy_read nlevels is 0 .. HIERARCHY_MAX_LEVELS: a last level in
	 * which all lines of a relation agree is suppression itself and left out; a
	 * builder's levels stay.  Where none is left, range is InvalidOid.
	 */
	Dictionary **dictionary; /* [nlevels] the nodes above the column's values, sorted by dictionary_sort */
	uint32 **node;           /* [nlevels][distinct values of the column] what each code generalizes to */
} Hierarchy;

/*
 * hierarchies => {"column": "relation", ...}: finds and locks the relations as the
 * caller, with SPI connected, and checks privileges, columns and types; reads
 * nothing.  *n of them, in the order of the columns; NULL: none.  Errors:
 * invalid_parameter_value, undefined_column, undefined_table, wrong_object_type,
 * insufficient_privilege, datatype_mismatch, too_many_columns, undefined_function.
 */
extern Hierarchy *hierarchies_open(Jsonb *hierarchies, const Source *source, int *n);

/* What they name alone, for each of the columns, which are called `what`. */
extern HierarchyChoice *hierarchies_named(Jsonb *hierarchies, const SourceColumn *columns, int n,
										  const char *what);

/* Is anything named? */
extern bool hierarchy_chosen(const HierarchyChoice *choice);

/* One builder, {"prefix": [3, 1]}, by itself, of a column. */
extern HierarchyChoice hierarchy_choose(JsonbContainer *object, const SourceColumn *column);

/* The columns of a relation that has at least two, locked, with the caller's privileges checked. */
extern Source *hierarchy_columns(Oid relid);

/* The relation of that name, locked; raises when there is none, by WHAT it is to be. */
extern Oid relation_to_read(const char *what, const char *name);

/* The same of one choice. */
extern void hierarchy_open(Hierarchy *hierarchy, const HierarchyChoice *choice, const Source *source,
						   int column);

/* Its locks alone: for who opens it later, under a snapshot that has to be younger than they. */
extern void hierarchy_lock(const HierarchyChoice *choice);

/*
 * Reads or works out the lines for the values of the column, whose dictionary has
 * been filled and sorted (rowtypes_read), under the active snapshot.  A NULL without a line
 * is NULL at every level.  One error names the hierarchy, the kind of fault and
 * how often it occurs: invalid_parameter_value.  dictionary and node live in the
 * border's context.
 */
extern void hierarchy_read(Hierarchy *hierarchy, const RowTypes *types, Border *border);

/* True if values of the column are found by their text, as plain_text_begin has it. */
extern bool hierarchy_matches_text(const Hierarchy *hierarchy, const SourceColumn *column);

/* How many rows have each code of a column. */
extern int64 *rows_of_codes(const RowTypes *types, int column, Border *border);

/* What can be wrong with the lines, the worst first. */
typedef enum HierarchyFaultKind
{
	HIERARCHY_MISSING,  /* values of the column without a line */
	HIERARCHY_PARENTS,  /* values whose lines differ in level 1 */
	HIERARCHY_UNNESTED, /* nodes of a level whose lines differ in the next one */
	HIERARCHY_UNEQUAL,  /* lines without a node at a level */
	HIERARCHY_OUTSIDE,  /* lines whose range does not hold the value */
	HIERARCHY_REPEATED, /* lines that are there twice: no error */
	HIERARCHY_UNUSED    /* lines of values that the column does not have: no error */
} HierarchyFaultKind;

#define HIERARCHY_HARMLESS HIERARCHY_REPEATED

/* Examples of a fault that are kept. */
#define HIERARCHY_EXAMPLES 10

typedef struct HierarchyFault
{
	HierarchyFaultKind kind;
	int level;   /* 1 .., or 0: of no level */
	int64 count; /* values, nodes or lines, as above */
	int64 rows;  /* rows of the source that it concerns */
	int nexamples;
	const char *examples[HIERARCHY_EXAMPLES]; /* their values or nodes, as text: nothing for a message */
} HierarchyFault;

/*
 * Reads the lines and lists every fault there is, by kind, then level.  rows: of
 * each code of the column (to count what a fault concerns).
 */
extern HierarchyFault *hierarchy_faults(const Hierarchy *hierarchy, const Source *source, const int64 *rows,
										Border *border, int *n);

/* What SQL calls a kind. */
extern const char *hierarchy_fault_name(HierarchyFaultKind kind);

/* What has been counted: "values of the column without a line". */
extern char *hierarchy_fault_text(const HierarchyFault *fault);

#endif
