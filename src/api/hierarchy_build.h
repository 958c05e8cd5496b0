/*
 * hierarchy_build.h: what the functions have in common that write a hierarchy of
 * a source's column into a table.
 *
 * The table has a column "value" and columns "level1" and so on.  The column's
 * values are read by a query in which every name is qualified, and under the
 * caller's search_path, on which a view may rely; all that follows gets them as
 * an array and runs under a path of its own.
 */
#ifndef KANON_HIERARCHY_BUILD_H
#define KANON_HIERARCHY_BUILD_H

#include "kanon_pg.h"
#include "read/hierarchy.h"

#include "lib/stringinfo.h"

/* Arguments that all of them begin with. */
enum
{
	BUILD_SOURCE, BUILD_COLUMN, BUILD_TARGET, BUILD_ARGS
};

#define BUILD_MAX_PARAMS 5

typedef struct HierarchyBuild
{
	Source	   *source;			/* with its one column */
	const SourceColumn *column;
	Oid			type;			/* its base type */
	Target	   *target;
	int			nparams;		/* of the queries: $1, $2, … as they were added */
	Oid			types[BUILD_MAX_PARAMS];
	Datum		params[BUILD_MAX_PARAMS];
	char		nulls[BUILD_MAX_PARAMS];
} HierarchyBuild;

/* Checks the common arguments and connects to SPI. */
extern HierarchyBuild *hierarchy_build_begin(FunctionCallInfo fcinfo);

extern void hierarchy_build_param(HierarchyBuild *build, Oid type, Datum value, bool isnull);

/*
 * Two more parameters: the column's values, ascending, and how many rows have
 * each; NULL both when there is no value but NULL.
 */
extern void hierarchy_build_values(HierarchyBuild *build);

/* What a query of one row and one int8 column says; 0 for NULL. */
extern int64 hierarchy_build_ask(HierarchyBuild *build, const char *query);

/*
 * Creates the target with that many levels of a type, fills it with what the
 * query selects (a value and its levels), puts it in place and leaves SPI.
 * Returns the number of lines.
 */
extern int64 hierarchy_build_write(HierarchyBuild *build, int nlevels, Oid type, const char *query);

/* Raises that there is no such hierarchy for the column's type. */
extern void hierarchy_build_refuse(const HierarchyBuild *build, const char *what, const char *hint) pg_attribute_noreturn();

/* A one-dimensional array of 1 .. HIERARCHY_MAX_LEVELS elements without NULL. */
extern Datum *hierarchy_build_array(ArrayType *array, const char *argument, const char *example, int *n);

/* The range type in which values of the column are published, or InvalidOid. */
extern Oid	hierarchy_build_range(const HierarchyBuild *build);

/* Its name, and that of the type of its bounds. */
extern const char *hierarchy_build_range_name(const HierarchyBuild *build);
extern const char *hierarchy_build_bound_name(const HierarchyBuild *build);

#endif
