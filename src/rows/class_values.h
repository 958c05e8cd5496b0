/*
 * class_values.h: a class at a time, as the values that its rows are published with.
 */
#ifndef KANON_CLASS_VALUES_H
#define KANON_CLASS_VALUES_H

#include "core/kanon.h"
#include "host/border.h"
#include "rows/target.h"

typedef struct ShownClass
{
	uint32 class_; /* KANON_DROPPED: none yet */
	Datum *values; /* [nqis] */
	bool *nulls;
	Datum pattern; /* text, when the target is marked */

	/* own */
	const Target *target;
	const Source *source;
	const KanonProblem *problem;
	const KanonRelease *release;
	struct Shower *shower;
	MemoryContext context;
} ShownClass;

extern ShownClass *shown_class_create(const Target *target, const Source *source, const KanonProblem *problem,
									  const KanonRelease *release);

/* Between plain_text_begin and _end; its values stand until the next class. */
extern void shown_class_enter(ShownClass *shown, uint32 class_);

/* [nclasses] The first class that readers cannot tell from each; NULL where all classes look different. */
extern uint32 *shown_class_alike(ShownClass *shown, Border *border);

#endif
