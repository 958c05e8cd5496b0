/*
 * measure.h: the one list of measures, and what follows from the sizes of classes alone
 */
#ifndef KANON_MEASURE_H
#define KANON_MEASURE_H

#include "kanon.h"

/*
 * The fields of KanonMeasures, in their order: type, name, what it is of, when the record has it.  The record's columns
 * have these names.  Where row types do not fit into memory, each is put together as the list says:
 *
 *   SIZES    by kanon_measure_sizes, from the sizes of all classes
 *   CLASSES  as the mean over all classes
 *   CELLS    from rows that hide of each column what the true ones hide; classes do not matter
 *
 * ALWAYS: the record has it of an empty release, too.  ASIDE: the record does not have it, or by another name.
 */
#define KANON_MEASURE_LIST(MEASURE)                   \
	MEASURE(int64_t, rows, SIZES, ASIDE)              \
	MEASURE(int64_t, suppressed_cells, CELLS, ALWAYS) \
	MEASURE(double, usefulness, CLASSES, SOME)        \
	MEASURE(uint32_t, classes, SIZES, ALWAYS)         \
	MEASURE(int64_t, class_min, SIZES, SOME)          \
	MEASURE(double, class_avg, SIZES, SOME)           \
	MEASURE(int64_t, class_max, SIZES, SOME)          \
	MEASURE(double, discernibility, SIZES, SOME)      \
	MEASURE(double, c_avg, SIZES, SOME)               \
	MEASURE(double, iloss, CELLS, SOME)               \
	MEASURE(double, ncp, CELLS, SOME)                 \
	MEASURE(double, gcp, CELLS, SOME)                 \
	MEASURE(double, precision, CELLS, SOME)           \
	MEASURE(double, entropy, CELLS, SOME)             \
	MEASURE(double, entropy_share, CELLS, SOME)

typedef enum KanonMeasureOf
{
	KANON_OF_SIZES,
	KANON_OF_CLASSES,
	KANON_OF_CELLS
} KanonMeasureOf;

typedef enum KanonMeasureWhen
{
	KANON_WHEN_ALWAYS,
	KANON_WHEN_SOME,
	KANON_WHEN_ASIDE
} KanonMeasureWhen;

typedef struct KanonMeasureForm
{
	const char *name;
	KanonMeasureOf of;
	KanonMeasureWhen when;
	bool whole; /* a count */
} KanonMeasureForm;

/* The next measure from *i = 0 on, and its value; NULL: that was the last. */
extern const KanonMeasureForm *kanon_measure_next(const KanonMeasures *measures, int *i, double *value);

/* Classes by their sizes, whoever counted them. */
typedef struct KanonClassSizes
{
	uint32_t n;
	int64_t rows;
	int64_t least; /* of a class */
	int64_t most;
	double squares; /* of the sizes of classes that show something */
	int64_t blank;  /* rows that show nothing */
} KanonClassSizes;

extern void kanon_sizes_add(KanonClassSizes *sizes, int64_t rows, bool blank);

/* Adds all classes of a release. */
extern void kanon_sizes_of(const KanonProblem *problem, const KanonRelease *release, KanonClassSizes *sizes);

/* Sets all measures of sizes. */
extern void kanon_measure_sizes(const KanonClassSizes *sizes, int64_t dropped, int64_t k,
								KanonMeasures *measures);

/*
 * A release that is at hand a part at a time, with whole classes in each part.  From a sum of zeros on: adds what is of
 * classes; then measures, which have what is of cells, get it.
 */
extern void kanon_measures_add(KanonMeasures *sum, const KanonMeasures *part);
extern void kanon_measures_put(const KanonMeasures *sum, KanonMeasures *measures);

#endif
