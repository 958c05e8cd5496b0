/*
 * class_lookup.h: which class a row goes to, as workers look it up.
 */
#ifndef KANON_CLASS_LOOKUP_H
#define KANON_CLASS_LOOKUP_H

#include "core/kanon.h"
#include "host/border.h"

/*
 * The classes of all row types as one value, for kanon_class_of: hash[] of the types, which all differ, and
 * low[] of the flows, the least lot of their rows.  NULL: it would take more than a query's hash table may; then rows are joined instead.
 */
extern bytea *lookup_create(const KanonRelease *release, const int64 *hash, const int64 *low, Border *border);

#endif
