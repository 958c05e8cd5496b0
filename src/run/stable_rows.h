/*
 * stable_rows.h: rows that have not changed stay with those whose class they shared in the release before.
 */
#ifndef KANON_STABLE_ROWS_H
#define KANON_STABLE_ROWS_H

#include "run/run.h"

/* Raises, for a publication, under rules about populations: where classes depend on one another none can stay. */
extern void stable_refuse_populations(const Request *request);

/* Solves: near the release before, when the request has one of which rows are still there. */
extern KanonStatus stable_solve(Run *run);

/* Makes the table that the next release starts from, which is whole when the target is written. */
extern void stable_begin(Run *run);
extern void stable_end(Run *run);

#endif
