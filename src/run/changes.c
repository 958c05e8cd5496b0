/*
 * changes.c: has anything changed since the release before?
 */
#include "compat.h"
#include "distributed/citus.h"
#include "host/settings.h"
#include "rows/row_types.h"
#include "run/run.h"
#include "core/util/fault.h"

/*
 * All that decides about the release, in one pass.  Rows that Citus has distributed are not
 * brought here for that.
 */
void
look_for_changes(Run *run)
{
	const Request *request = run->request;
	List *read = list_concat(list_make1_oid(run->source->relid), run->source->beside);
	ListCell *lc;

	if (!kanon_skip_unchanged || request->series.rehearsed || request->series.definition == NULL ||
		request->columns.mask_key == NULL)
		return;
	foreach (lc, read)
		if (citus_reads(lfirst_oid(lc)))
			return;
	border_progress(run->border, "looking for changes", 0, -1);
	run->digest = relations_digest(read, request->series.definition, request->columns.mask_key);
	/* (a build with faults makes each release, to break it) */
	run->unchanged = !WITH_FAULTS && request->series.seen != NULL &&
					 VARSIZE_ANY(request->series.seen) == VARSIZE_ANY(run->digest) &&
					 memcmp(request->series.seen, run->digest, VARSIZE_ANY(run->digest)) == 0;
}
