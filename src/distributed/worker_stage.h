/*
 * worker_stage.h: rows of a distributed source, set aside for a run.
 */
#ifndef KANON_WORKER_STAGE_H
#define KANON_WORKER_STAGE_H

#include "rows/source.h"

/*
 * Columns that a row has there before its own: which worker has it, at random, and its place among others,
 * which is random, too; or, where rows are packed, its row type (row_type_wire.h) instead of that.
 */
#define SHARD_COLUMN "kanon_shard"
#define PLACE_COLUMN "kanon_place"
#define PACKED_COLUMN "kanon_packed"

/*
 * A source that Citus has distributed: its columns (nkept of the kept ones) are copied by
 * one statement, from worker to worker, to a distributed table in that schema, which is
 * the source until source_unstage.  Other sources stay as they are.  The active snapshot
 * sees what was copied.  kanon: workers have kanon's functions.  pack: rows
 * will be written by workers alone, and do without their row types if that can be had.
 */
extern void source_stage(Source *source, int nkept, const char *schema, bool kanon, bool pack);

/* The table goes, and the source is itself again. */
extern void source_unstage(Source *source);

#endif
