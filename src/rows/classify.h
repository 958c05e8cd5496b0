/*
 * classify.h: how well the target predicts a kept column.
 */
#ifndef KANON_CLASSIFY_H
#define KANON_CLASSIFY_H

#include "rows/target.h"

/*
 * Iyengar's classification metric of the target as it stands:
 * the share of the source's rows that are not of their class's most frequent
 * value in the (kept) column, or are fully suppressed or left out.
 */
extern double target_classification(const Target *target, const Source *source, const SourceColumn *column,
									int64 dropped);

#endif
