/*
 * subjects.h: rows by groups, one subject after the other, for answers with noise.
 */
#ifndef KANON_SUBJECTS_H
#define KANON_SUBJECTS_H

#include "core/noise/question.h"
#include "host/border.h"
#include "rows/source.h"
#include "utils/jsonb.h"

/* What is asked of which columns of a source. */
typedef struct Subjects
{
	Source *source;              /* all of the columns are its kept ones */
	const SourceColumn *of;      /* numbers, or what must not be NULL; or NULL */
	const SourceColumn *by;      /* [nby] */
	int nby;                     /* 0: there is one group */
	const SourceColumn *subject; /* who a row is about; NULL: each about somebody else */

	/* how a number becomes what is tallied: steps of a grid, or bins */
	double step, lower, upper;
	const KanonQuestion *question;

	/* once they are declared or read: {"column": "value", …} as text, numbered from 0 */
	struct Dictionary *groups;
	bool declared;
	uint32 ngroups;
} Subjects;

/* Finds the columns and locks the relation; `numbers`: of must be numeric. */
extern Subjects *subjects_open(Oid relid, ArrayType *of, bool numbers, ArrayType *by, ArrayType *subject);

/* {"column": ["value", …], …}: all combinations, each a group; NULL: those that there are. */
extern void subjects_declare(Subjects *subjects, Jsonb *values, Border *border);

/* Under the active snapshot; rows without a subject, a number or a declared group are left out. */
extern void subjects_read(Subjects *subjects, KanonTally *tally, Border *border);

/* A group's values. */
extern char *subjects_group(const Subjects *subjects, uint32 group);

#endif
