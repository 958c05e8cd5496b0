/*
 * figures.h: what is told of a release that is not written.
 */
#ifndef KANON_FIGURES_H
#define KANON_FIGURES_H

#include "core/kanon.h"

/* Negative, NaN: it has none of this, or there is no release. */
typedef struct Figures
{
	int64 suppressed_cells;
	double suppressed; /* share of the cells that the source's published rows have */
	double usefulness;
	double gcp;
	int64 classes;
	int64 class_min;
	double class_avg;
	int64 class_max;
	int64 residual; /* rows that fit no class: dropped, or blank and fewer than k */
	double cost;
	bool proven;
} Figures;

/* No figure at all; those of a release by the solvers of row types. */
extern Figures figures_none(void);
extern Figures figures_of(const KanonProblem *problem, const KanonRelease *release, const KanonReport *report,
						  const KanonMeasures *measures);

#endif
