/*
 * hierarchy_lines.h: all lines of a hierarchy in memory, for those who read and check
 * them: those of a relation, or what a builder makes of the column's values.
 */
#ifndef KANON_HIERARCHY_LINES_H
#define KANON_HIERARCHY_LINES_H

#include "hierarchies/hierarchy.h"

typedef struct HierarchyLines
{
	const Hierarchy *hierarchy;
	const SourceColumn *column; /* whose values they are for */
	Border *border;
	Size charged;       /* bytes of the dictionaries, as counted so far */
	bool by_text;       /* values of the column are looked up by their text */
	int nlevels;        /* all level columns */
	Dictionary *values; /* all there are in the lines, sorted; the column's own of a builder */
	Dictionary *level[HIERARCHY_MAX_LEVELS + 1]; /* [nlevels] all nodes, sorted */
	bool topped;                                 /* the last level is suppression: all lines agree in it */
	uint32 n;
	Size room;
	uint32 *value;                          /* [n] */
	uint32 *node[HIERARCHY_MAX_LEVELS + 1]; /* [nlevels][n] */
	uint32 ncodes;
	uint32 *value_of; /* [ncodes] the value of a code of the column, or DICTIONARY_NONE */
	uint32 nvalues;
	uint32 *code_of; /* [nvalues] a code of the value, or DICTIONARY_NONE */
} HierarchyLines;

/*
 * hierarchy_read.c; rows: of each code of the column, or NULL.  fill: a line that ends
 * below the last level has its last node in the levels above, too.
 */
extern HierarchyLines *hierarchy_lines_read(const Hierarchy *hierarchy, const SourceColumn *column,
											const int64 *rows, bool fill, Border *border);
extern void hierarchy_lines_free(HierarchyLines *lines);

/* hierarchy_faults.c: raises if there is a fault that is an error. */
extern void hierarchy_lines_check(const HierarchyLines *lines);

extern void type_output(Oid type, FmgrInfo *function);

#endif
