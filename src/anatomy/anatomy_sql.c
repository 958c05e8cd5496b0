/*
 * anatomy_sql.c: kanon_anatomy: two tables are published, and one row that sums up comes back.
 */
#include "compat.h"
#include "anatomy/anatomy_model.h"
#include "run/run.h"

PG_FUNCTION_INFO_V1(kanon_anatomy);

static void
put_summary(Lines *lines, const Run *run)
{
	const AnatomyRun *own = run->request->own;
	const KanonAnatomy *anatomy = &own->anatomy;
	bool any = anatomy->ngroups > 0;

	line_int8(lines, anatomy->nrows, true);
	line_int8(lines, own->rows->nvalues, true);
	line_int8(lines, anatomy->ngroups, true);
	line_int8(lines, any ? anatomy->nrows / anatomy->ngroups : 0, any);
	line_int8(lines, any ? (anatomy->nrows + anatomy->ngroups - 1) / anatomy->ngroups : 0, any);
	line_float8(lines, anatomy->error, true);
	line_end(lines);
}

Datum
kanon_anatomy(PG_FUNCTION_ARGS)
{
	return publish(fcinfo, &anatomy_model, put_summary);
}
