/*
 * limits.c: floors and ceilings: what a release may not be, however well it is anonymised.
 *
 * A source that was emptied, doubled or filled with nonsense overnight makes a release
 * that keeps every rule and is of no use; readers keep the one before.
 */
#include "compat.h"
#include "host/catalog.h"
#include "publication/publication.h"

#include <math.h>

/* With several tables the one that breaks a limit is told. */
static const char *
whose(const Request *request)
{
	return request->linked.snapshot != NULL ? psprintf("Of table %s: ", relation_name(request->source)) : "";
}

static char *
let_through(const Request *request, const char *name)
{
	return psprintf(
		"Look at the source, or let it through by kanon_alter_publication(..., set_options => '{%s\"%s\": "
		"...}').",
		request->linked.snapshot != NULL ? "\"tables\": ...}'), in which the table has '{" : "", name);
}

static void
check_share(const Request *request, double found, double most, const char *name, const char *what)
{
	if (found <= most)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION), errmsg("the release is beyond %s of the publication", name),
			 errdetail("%s%s is %.10g, %s is %.10g.", whose(request), what, found, name, most),
			 errhint("%s", let_through(request, name))));
}

/* A release before without rows is no measure. */
static void
check_rows(const Request *request, const Release *release, const Release *before)
{
	double change;

	if (release->row_count < request->limits.min_rows)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("the release has fewer rows than min_rows of the publication"),
				 errdetail("%sIt has " INT64_FORMAT ", min_rows is " INT64_FORMAT ".", whose(request),
						   release->row_count, request->limits.min_rows),
				 errhint("Look at the source, or lower min_rows: 1 is the default, 0 lets a release be "
						 "empty.")));
	if (before == NULL || before->row_count <= 0)
		return;
	change = fabs((double) release->row_count - before->row_count) / before->row_count;
	if (change > request->limits.max_row_change)
		ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
						errmsg("the release is beyond max_row_change of the publication"),
						errdetail("%sIt has " INT64_FORMAT " rows, the one before has " INT64_FORMAT
								  ": a change of %.10g, max_row_change is %.10g.",
								  whose(request), release->row_count, before->row_count, change,
								  request->limits.max_row_change),
						errhint("%s", let_through(request, "max_row_change"))));
}

void
limits_check(const Run *run, const Release *release, const Release *before)
{
	const Request *request = run->request;

	check_rows(request, release, before);
	check_share(request, run->measures.gcp, request->limits.max_gcp, "max_gcp",
				"The share of all information that is lost (gcp)");
	check_share(request, run->suppressed, request->limits.max_suppressed, "max_suppressed",
				"The share of cells that are suppressed");
}
