/*
 * stage.h: rows of a distributed source, set aside for a run.
 */
#ifndef KANON_READ_STAGE_H
#define KANON_READ_STAGE_H

#include "read/source.h"

/*
 * A source that Citus has distributed, and that will be read more than once: its columns
 * (nkept of the kept ones) are copied by one statement, from worker to worker, to a
 * distributed table in that schema, which is the source until source_unstage.  Other
 * sources stay as they are.  The active snapshot sees what was copied.
 */
extern void source_stage(Source *source, int nkept, const char *schema);

/* The table goes, and the source is itself again. */
extern void source_unstage(Source *source);

#endif
