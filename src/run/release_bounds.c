/*
 * release_bounds.c: the options by which a publication bounds its releases.
 */
#include "compat.h"
#include "run/request.h"

#include <math.h>

void
take_min_rows(Request *request, Datum value)
{
	request->limits.min_rows = DatumGetInt64(value);
	if (request->limits.min_rows < 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("min_rows must not be negative"),
						errhint(MIN_ROWS_HINT)));
}

void
check_max_row_change(Request *request, Datum value)
{
	if (!(request->limits.max_row_change >= 0) || isinf(request->limits.max_row_change))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_row_change must be finite and not negative"),
				 errhint("It is a share of the rows of the release before: 0.2 are twenty per cent.")));
}

static void
check_share(double share, const char *name)
{
	if (!(share >= 0 && share <= 1))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be between 0 and 1", name),
						errhint("It is a share: 0.2 are twenty per cent.")));
}

void
check_max_gcp(Request *request, Datum value)
{
	check_share(request->limits.max_gcp, "max_gcp");
}

void
check_max_suppressed(Request *request, Datum value)
{
	check_share(request->limits.max_suppressed, "max_suppressed");
}

void
take_max_held(Request *request, Datum value)
{
	request->limits.max_held = DatumGetInt64(value);
	if (request->limits.max_held < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("max_held must be at least 1"),
						errhint(MAX_HELD_HINT)));
}
