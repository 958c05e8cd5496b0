/*
 * cell_values.h: what a class shows, as values of the columns that are published.
 */
#ifndef KANON_CELL_VALUES_H
#define KANON_CELL_VALUES_H

#include "core/kanon.h"
#include "rows/source.h"
#include "rows/value_number.h"

/* The type of a quasi-identifier's published column. */
extern Oid shown_type(const SourceColumn *column);

extern Oid shown_collation(const SourceColumn *column);

typedef struct Shower Shower;

/* The source's dictionaries are there when cells are shown, not before. */
extern Shower *shower_create(const Source *source);

/*
 * The cell of a quasi-identifier; cells: of one class, all columns of the
 * problem; pool: the release's.  Memory is the current context's.  Between
 * plain_text_begin and _end: what is published depends on no setting.
 */
extern Datum show_cell(Shower *shower, int qi, const KanonCell *cells, const uint32 *pool, bool *isnull);

/*
 * A value of a quasi-identifier that shows ranges, as the ranges' subtype has it,
 * and the range type.
 */
struct TypeCacheEntry;
extern Datum show_bound(Shower *shower, int qi, Datum value, struct TypeCacheEntry **range);

#endif
