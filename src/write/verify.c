/*
 * verify.c: the last word before a target is published: the table itself is
 * read and grouped again, whatever the solver and the writer believed.
 */
#include "compat.h"
#include "kanon_pg.h"
#include "core/freeform.h"
#include "write/show.h"
#include "write/written.h"

#include "access/table.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/rel.h"

void
raise_unsafe(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION),
			 errmsg("the written table does not keep what was promised, nothing was published"),
			 errdetail("%s", detail),
			 errhint("A trigger or event trigger may have changed it; otherwise this is a defect of kanon.")));
}

/* As a source: the columns a reader could join on, the mark among them. */
static Source *
target_as_source(const Target *target, const Source *source)
{
	Source	   *copy = palloc0(sizeof(Source));

	copy->relid = target->relid;
	copy->name = target->building;
	copy->nqis = source->nqis;
	copy->qis = palloc0(sizeof(SourceColumn) * (source->nqis + 1));
	memcpy(copy->qis, source->qis, sizeof(SourceColumn) * source->nqis);
	for (int c = 0; c < source->nqis; c++)
	{
		SourceColumn *column = &copy->qis[c];

		column->numerical = false;
		column->type = shown_type(&source->qis[c]);
		column->collation = shown_collation(&source->qis[c]);
		column->show_as = SHOW_AS_VALUE;
		column->hierarchy = NULL;
	}
	if (target->mark)
	{
		SourceColumn *mark = &copy->qis[copy->nqis++];

		mark->name = KANON_MARK_COLUMN;
		mark->quoted = KANON_MARK_COLUMN;
		mark->type = TEXTOID;
		mark->typmod = -1;
		mark->collation = DEFAULT_COLLATION_OID;
	}
	copy->ngrouped = copy->nqis;
	copy->levels = no_levels(copy->nqis);
	return copy;
}

void
target_verify_freeform(const Target *target, const Source *source, const KanonProblem *problem,
					   const KanonRelease *release, int64 expected_rows, Border *border)
{
	RowTypes   *types = rowtypes_read_runs(target_as_source(target, source), border);
	KanonRelease promised = *release;
	char		detail[160];

	if (types->nrows != expected_rows)
		raise_unsafe(psprintf("It has " INT64_FORMAT " rows instead of " INT64_FORMAT ".",
							  types->nrows, expected_rows));
	promised.cells = written_cells(release, source, problem, target->mark, border);
	border_check(border, kanon_freeform_confirm(problem, &promised,
												written_release(source, types, target->mark, border),
												detail, sizeof(detail)),
				 detail);
	border_pfree(border, promised.cells);
}

/* No value is shown: NULL in every quasi-identifier. */
static bool
is_blank(const RowTypes *types, int nqis, uint32 type)
{
	for (int c = 0; c < nqis; c++)
	{
		bool		isnull;

		(void) dictionary_value(types->source->qis[c].dictionary, types->columns[c].code[type], &isnull);
		if (!isnull)
			return false;
	}
	return true;
}

void
target_verify(const Target *target, const Source *source, const KanonProblem *problem,
			  int64 expected_rows, Border *border)
{
	RowTypes   *types;
	int64		blank = 0;

	types = rowtypes_read_runs(target_as_source(target, source), border);
	if (types->nrows != expected_rows)
		raise_unsafe(psprintf("It has " INT64_FORMAT " rows instead of " INT64_FORMAT ".",
							  types->nrows, expected_rows));
	for (uint32 i = 0; i < types->ntypes; i++)
	{
		if (types->rows[i] >= problem->k)
			continue;
		if (!is_blank(types, source->nqis, i))
			raise_unsafe(psprintf("A class has " INT64_FORMAT " rows, k is " INT64_FORMAT ".",
								  types->rows[i], problem->k));
		blank += types->rows[i];
	}
	if (blank > 0 && problem->residual != KANON_RESIDUAL_SUPPRESS)
		raise_unsafe(psprintf("It has " INT64_FORMAT " fully suppressed rows, k is " INT64_FORMAT ".",
							  blank, problem->k));
}
