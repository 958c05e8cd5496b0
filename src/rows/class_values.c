/*
 * class_values.c: a class at a time, as the values that its rows are published with.
 */
#include "compat.h"
#include "rows/class_values.h"
#include "core/util/fault.h"
#include "rows/pattern_text.h"
#include "rows/cell_values.h"

#include "utils/builtins.h"
#include "utils/memutils.h"

ShownClass *
shown_class_create(const Target *target, const Source *source, const KanonProblem *problem,
				   const KanonRelease *release)
{
	ShownClass *shown = palloc0(sizeof(ShownClass));

	shown->class_ = KANON_DROPPED;
	shown->values = palloc(sizeof(Datum) * source->nqis);
	shown->nulls = palloc(sizeof(bool) * source->nqis);
	shown->target = target;
	shown->source = source;
	shown->problem = problem;
	shown->release = release;
	shown->shower = shower_create(source);
	shown->context = AllocSetContextCreate(CurrentMemoryContext, "kanon shown", ALLOCSET_SMALL_SIZES);
	return shown;
}

void
shown_class_enter(ShownClass *shown, uint32 class_)
{
	const KanonRelease *release = shown->release;
	const KanonCell *cells = &release->cells[(size_t) class_ * shown->problem->ncolumns];
	MemoryContext old;

	MemoryContextReset(shown->context);
	old = MemoryContextSwitchTo(shown->context);
	for (int c = 0; c < shown->source->nqis; c++)
		shown->values[c] = show_cell(shown->shower, c, cells, release->pool, &shown->nulls[c]);
	if (FAULT(value_fine) && class_ == release->nclasses - 1)
		shown->values[0] =
			show_cell(shown->shower, 0, &(KanonCell){KANON_SHOW_VALUE, 0}, NULL, &shown->nulls[0]);
	if (shown->target->mark)
		shown->pattern = CStringGetTextDatum(class_text(release, class_, &shown->source->levels));
	MemoryContextSwitchTo(old);
	shown->class_ = class_;
}
