/*
 * measure.h: how much of its column a range takes; the measures of the literature.
 */
#ifndef KANON_MEASURE_H
#define KANON_MEASURE_H

#include "kanon.h"

/*
 * measure.c: the range of the finite numbers of a column (negative: there are
 * none), in units that make it a double: times *scale.
 */
extern double kanon_number_range(const KanonColumn *column, double *scale);

/*
 * The share of that range that values from low to high take.  NULL (and
 * not-a-number, which no range holds) is as far as can be from everything else;
 * so is an infinity, which does not stretch the range.
 */
extern double kanon_range_share(double range, double scale, double low, double high);

/* measure_loss.c: the measures of the literature, when the sizes are there. */
extern KanonStatus kanon_measure_loss(const KanonProblem *problem, const KanonRelease *release,
									  KanonMeasures *measures);

#endif
