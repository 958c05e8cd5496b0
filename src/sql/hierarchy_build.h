/*
 * hierarchy_build.h: what the functions have in common that write a hierarchy of
 * a source's column into a table.
 *
 * The table has a column "value" and columns "level1" and so on.  The source is read
 * by a query in which every name is qualified, and under the caller's search_path, on
 * which a view may rely.  It goes into a named tuplestore, from which all that follows
 * takes it under a path of its own: a parameter would show in a plan that is logged.
 */
#ifndef KANON_HIERARCHY_BUILD_H
#define KANON_HIERARCHY_BUILD_H

#include "compat.h"
#include "host/gate.h"
#include "hierarchies/hierarchy.h"
#include "rows/target.h"

#include "lib/stringinfo.h"
#include "utils/tuplestore.h"

/* Arguments that all of them begin with. */
enum
{
	BUILD_SOURCE,
	BUILD_COLUMN,
	BUILD_TARGET,
	BUILD_ARGS
};

#define BUILD_MAX_STORES 2

typedef struct HierarchyBuild
{
	Source *source; /* with its one column */
	const SourceColumn *column;
	Oid type; /* its base type */
	Target *target;
	Tuplestorestate *stores[BUILD_MAX_STORES];
	int nstores;
} HierarchyBuild;

/* Checks the common arguments and connects to SPI. */
extern HierarchyBuild *hierarchy_build_begin(FunctionCallInfo fcinfo);

/*
 * From now on queries can read "vals": each value v but NULL, its place in their
 * order (1 is the least), and how many rows have it (n).
 */
extern void hierarchy_build_values(HierarchyBuild *build);

/* A query's rows, of the gate's columns, can be read under that name. */
extern void hierarchy_build_store(HierarchyBuild *build, const char *name, Gate *gate, const char *query);

/* The value of a query of one row and one int8 column; 0 for NULL. */
extern int64 hierarchy_build_ask(HierarchyBuild *build, const char *query);

/*
 * Creates the target with that many levels of a type, fills it with what the
 * query selects (a value and its levels), puts it in place and leaves SPI.
 * Returns the number of lines.
 */
extern int64 hierarchy_build_write(HierarchyBuild *build, int nlevels, Oid type, const char *query);

/* A one-dimensional array of 1 .. HIERARCHY_MAX_LEVELS elements without NULL. */
extern Datum *hierarchy_build_array(ArrayType *array, const char *argument, const char *example, int *n);

#endif
