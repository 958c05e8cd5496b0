/*
 * measure.h: how much of its column a range takes; the measures of the literature.
 */
#ifndef KANON_MEASURE_H
#define KANON_MEASURE_H

#include "kanon.h"

/*
 * measure.c: where the data is.  Of n different finite numbers, ascending, those that stand for
 * nothing measured (9999-12-31, 999998, year 1) lie far from all others: from the middle 80 %
 * on each next number belongs to the data that is not farther from what belongs to it than
 * KANON_FAR times its range.  *low and *high: its ends; of fewer than KANON_FEW_NUMBERS those of all.
 */
#define KANON_FAR 3
#define KANON_FEW_NUMBERS 10
extern void kanon_data_range(const double *number, size_t n, double *low, double *high);

/* Does a number lie far from the data that has these ends? */
extern bool kanon_is_far(double low, double high, double number);

/*
 * measure.c: the range of the finite numbers of a column (negative: there are
 * none), in units that make it a double: times *scale.
 */
extern double kanon_number_range(const KanonColumn *column, double *scale);

/*
 * The share of that range that values from low to high take.  NULL (and
 * not-a-number, which no range holds) is as far as can be from everything else;
 * so is an infinity, which does not stretch the range.  (The host makes numbers infinite that are
 * far from the data.)
 */
extern double kanon_range_share(double range, double scale, double low, double high);

/* measure_loss.c: the measures of the literature, when the sizes are there. */
extern KanonStatus kanon_measure_loss(const KanonProblem *problem, const KanonRelease *release,
									  KanonMeasures *measures);

#endif
