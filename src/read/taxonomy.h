/*
 * taxonomy.h: a hierarchy as one tree, for t-closeness.
 */
#ifndef KANON_READ_TAXONOMY_H
#define KANON_READ_TAXONOMY_H

#include "host/border.h"
#include "read/source.h"

/*
 * A hierarchy relation as a tree above the values of a column that has been read.
 * Errors: those of hierarchy_open and hierarchy_read.
 */
struct KanonTaxonomy;
extern struct KanonTaxonomy *taxonomy_read(Oid relid, const Source *source, int column, Border *border);

#endif
