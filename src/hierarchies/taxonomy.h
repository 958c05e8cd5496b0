/*
 * taxonomy.h: a hierarchy as one tree, for t-closeness.
 */
#ifndef KANON_TAXONOMY_H
#define KANON_TAXONOMY_H

#include "host/border.h"
#include "hierarchies/hierarchy.h"
#include "rows/row_types.h"

/*
 * A hierarchy as a tree above the values of a column that has been read.
 * Errors: those of hierarchy_open and hierarchy_read.
 */
struct KanonTaxonomy;
extern struct KanonTaxonomy *taxonomy_read(const HierarchyChoice *choice, const RowTypes *types, int column,
										   Border *border);

#endif
