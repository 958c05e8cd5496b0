/*
 * problem_part.h: some rows of a problem as a problem of their own.
 */
#ifndef KANON_PROBLEM_PART_H
#define KANON_PROBLEM_PART_H

#include "privacy/rules.h"
#include "util/pace.h"
#include "util/scratch.h"

typedef struct KanonPart
{
	KanonProblem problem;
	uint32_t *type; /* [problem.ntypes] the row type in the whole */
	KanonColumn columns[KANON_MAX_COLUMNS];
	KanonColumn extra[KANON_MAX_COLUMNS];
} KanonPart;

/*
 * The rows are `rows[n]` of the row types `type[n]`, which ascend and must stay; codes
 * are the whole's.  Memory is the scratch's, but for privacy rules, which kanon_part_close
 * gives back (of zeros: nothing).
 */
extern KanonStatus kanon_part_open(const KanonProblem *whole, uint32_t n, uint32_t *type, const int64_t *rows,
								   KanonScratch *scratch, KanonPace *pace, KanonPart *part);
extern void kanon_part_close(KanonPart *part);

#endif
