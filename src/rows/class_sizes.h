/*
 * class_sizes.h: how many classes of each size a relation has by its quasi-identifiers.
 */
#ifndef KANON_CLASS_SIZES_H
#define KANON_CLASS_SIZES_H

#include "rows/source.h"

/* Classes of one size. */
typedef struct SizeCount
{
	int64 size;
	bool blank; /* NULL in all columns: there is one such class at most */
	int64 classes;
	int64 rows; /* of these; more than size * classes where persons have several */
} SizeCount;

/*
 * Under the active snapshot, the smallest first, the blank one last.  With a subject (or NULL) sizes
 * are in persons; raises when a row has none.
 */
extern SizeCount *class_sizes(Source *source, const SourceColumn *subject, size_t *n);

#endif
