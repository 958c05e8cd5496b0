/*
 * figures.c: the figures of a release, written or not.
 */
#include "compat.h"
#include "run/run.h"

#include <math.h>

Figures
figures_none(void)
{
	return (Figures){.suppressed_cells = -1,
					 .suppressed = NAN,
					 .usefulness = NAN,
					 .gcp = NAN,
					 .classes = -1,
					 .class_min = -1,
					 .class_avg = NAN,
					 .class_max = -1,
					 .residual = -1,
					 .cost = NAN};
}

static int64
residual_rows(const KanonProblem *problem, const KanonRelease *release)
{
	const KanonClass *last;

	if (release->nclasses == 0)
		return release->dropped;
	last = &release->classes[release->nclasses - 1];
	return release->dropped +
		   (kanon_class_blank(problem, release, release->nclasses - 1) && last->rows < problem->k ? last->rows
																								  : 0);
}

/* Records without classes have no sizes; neither has what was left out altogether. */
Figures
figures_of(const KanonProblem *problem, const KanonRelease *release, const KanonReport *report,
		   const KanonMeasures *measures)
{
	Figures told = figures_none();
	bool classless = problem->freeform != NULL;

	told.suppressed_cells = measures->suppressed_cells;
	told.cost = report->cost;
	told.classes = classless ? -1 : (int64) release->nclasses;
	told.residual = classless ? -1 : residual_rows(problem, release);
	if (release->nclasses == 0)
		return told;
	told.suppressed = measures->suppressed_cells / ((double) measures->rows * kanon_count_qis(problem));
	told.gcp = measures->gcp;
	told.proven = report->proven;
	if (classless)
		return told;
	told.usefulness = measures->usefulness;
	told.class_min = measures->class_min;
	told.class_avg = measures->class_avg;
	told.class_max = measures->class_max;
	return told;
}

/* A share of the source's cells; 0 when it has none. */
double
run_suppressed_share(const Run *run)
{
	double cells = (double) run->types->nrows * run->source->nqis;

	return cells == 0
			   ? 0
			   : (run->measures.suppressed_cells + (double) run->release.dropped * run->source->nqis) / cells;
}

const KanonColumnMeasures *
run_measure_columns(const Run *run)
{
	KanonColumnMeasures *columns = palloc0(sizeof(KanonColumnMeasures) * run->source->nqis);

	border_check(run->border, kanon_measure_columns(&run->problem, &run->release, columns), "");
	run_notice_empty(run, columns);
	return columns;
}
