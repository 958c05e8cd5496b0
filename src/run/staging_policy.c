/*
 * staging_policy.c: decides whether a run sets its rows aside, and whether here or on the workers of Citus.
 */
#include "compat.h"
#include "run/run.h"
#include "series/successive.h"
#include "distributed/citus.h"
#include "masks/mask_apply.h"
#include "host/settings.h"
#include "rows/row_types.h"
#include "distributed/distributed.h"
#include "options/privacy.h"

#include "catalog/dependency.h"
#include "catalog/pg_proc.h"

/* With n row types a random seed gives a hash collision with probability about n^2 / 2^65: another seed is drawn. */
#define MOST_TRIES 3

/*
 * The relation whose kind the target takes: an older table of its name, or the release before.  A table of this server
 * gives way to one of the workers that have the source's rows: else all of these would come here.
 */
static Oid
table_before(const Run *run)
{
	Oid replaced = run->target->replaced;

	if (!OidIsValid(replaced))
		return run->request->series.like;
	return citus_kind(replaced) == TABLE_LOCAL && citus_reads(run->source->relid) ? InvalidOid : replaced;
}

/* Once to group, once to write. */
static bool
reads_twice(const Run *run)
{
	return run->source->nkept > 0 || run->source->ngrouped > run->source->nqis ||
		   run->request->series.key != NULL;
}

static bool
staging_counts_persons(const Run *run)
{
	return privacy_find(run->request->privacy, PRIVACY_SUBJECT) >= 0;
}

/*
 * Will only Citus workers read the rows again, and only row types and kept columns?  With partition_by
 * the coordinator reads them, too.
 */
static bool
is_for_workers(const Run *run)
{
	return !staging_counts_persons(run) && run->source->masks == NULL && run->request->series.key == NULL &&
		   run->request->guided.partition_by == NULL &&
		   (run->request->series.types == NULL || run->source->nkept == 0);
}

/*
 * A table of this server is read twice, which costs less than to store its rows.  The rows of a
 * view that must be worked out, or of another server, are read once.
 */
static void
read_once(Run *run)
{
	Source *source = run->source;

	source->nwaiting = source->nkept + (run->request->series.key != NULL);
	source->once = (source->nwaiting > 0 || staging_counts_persons(run)) &&
				   !OidIsValid(source->staged_from) && !source_is_stored(source);
}

static void
stage(Run *run, bool pack)
{
	Oid extension = getExtensionOfObject(ProcedureRelationId, run->request->caller);

	source_stage(run->source, run->source->nkept + (run->request->series.key != NULL), run->target->schema,
				 citus_workers_have(extension), pack);
}

/* True if the caller lets all kept columns be published, whatever they tell. */
static bool
are_answered(const Source *source)
{
	for (int i = 0; i < source->nkept; i++)
		if (!source->kept[i].answered || !source->kept[i].may_identify)
			return false;
	return true;
}

/*
 * Does solving tell all that a rehearsal is to tell?  Masks can fail on a row as it is written; histories, and models
 * with steps of their own, look at what they have written.  Kept columns are looked at in rows that wait.
 */
static bool
stays_unwritten(Run *run)
{
	const Request *request = run->request;
	Source *source = run->source;

	if (!request->series.rehearsed || request->series.histories != NULL || request->model->steps != NULL ||
		request->guided.partition_by != NULL || masks_any(source) ||
		(request->series.key != NULL && run->problem.freeform != NULL) ||
		(source->nkept > 0 && citus_reads(source->relid)))
		return false;
	source->once = !are_answered(source);
	source->nwaiting = source->once ? source->nkept + (request->series.key != NULL) : 0;
	return true;
}

/*
 * Where they will be read twice, or where the target is to be distributed as well; the other steps
 * read what they need and write here.
 */
void
set_rows_aside(Run *run)
{
	Oid before = table_before(run);

	run->unwritten = stays_unwritten(run);
	if (run->unwritten)
		return;
	if (run->request->series.histories != NULL)
	{
		histories_stage(run);
		run->target->kind = spread_kind(run->source, before);
		return;
	}
	if (run->request->model->steps != NULL)
	{
		if (kanon_distribute != DISTRIBUTE_OFF && citus_reads(run->source->relid))
			ereport(NOTICE, (errmsg("the target is a table of this server, which writes it"),
							 errdetail("Only rows of classes are written by workers.")));
		return;
	}
	if (reads_twice(run) || !OidIsValid(before) || citus_kind(before) != TABLE_LOCAL)
	{
		stage(run, is_for_workers(run) && (!OidIsValid(before) || citus_kind(before) == TABLE_DISTRIBUTED));
		/* too few to be distributed: this server writes them, and has to read them whole */
		if (run->source->staged_packed && spread_kind(run->source, before) != TABLE_DISTRIBUTED)
		{
			source_unstage(run->source);
			stage(run, false);
		}
	}
	run->target->kind = spread_kind(run->source, before);
	read_once(run);
}

void
set_rows_aside_again(Run *run, int tries)
{
	if (tries == MOST_TRIES)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR), errmsg("row types have equal hashes with every seed"),
				 errhint("A type's hash function may be bad; SET kanon.distribute = 'off'.")));
	ereport(DEBUG1,
			(errmsg_internal("two row types have the same hash: rows are set aside under another seed")));
	source_unstage(run->source);
	stage(run, true);
}
