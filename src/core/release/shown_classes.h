/*
 * shown_classes.h: classes by what they show: which of them takes a row type.
 */
#ifndef KANON_SHOWN_CLASSES_H
#define KANON_SHOWN_CLASSES_H

#include "kanon.h"
#include "util/scratch.h"

#define SHOWN_NONE UINT32_MAX

typedef struct ShownClasses
{
	const KanonProblem *problem;
	const KanonPattern *pattern; /* by class */
	uint32_t *sample;            /* by class: a row type; what its pattern shows of that, all show */
	uint32_t n;
	uint32_t *class_; /* [n] in order of cost, pattern and what they show, once they are in order */
} ShownClasses;

extern KanonStatus shown_order(ShownClasses *shown, KanonScratch *scratch);

/* The cheapest that costs less than `limit` and takes this type, or SHOWN_NONE; *work grows by what that took. */
extern uint32_t shown_find(const ShownClasses *shown, uint32_t type, double limit, uint64_t *work);

#endif
