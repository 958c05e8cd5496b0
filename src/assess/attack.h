/*
 * attack.h: what somebody concludes who knows by which method a table was published.
 */
#ifndef KANON_ATTACK_H
#define KANON_ATTACK_H

#include "host/lines.h"
#include "run/run.h"

/* What is concluded of all sources that fit, and of those alone that the method makes this release of. */
typedef struct Concluded
{
	int64 sources;
	int64 certain;  /* rows of which it is known for certain */
	double highest; /* the best chance of a value of a person */
} Concluded;

/*
 * Tries every source that agrees with the release.  values: quasi-identifiers of all rows are known, and
 * the values of the columns that privacy rules are about are not; else nothing is known but which
 * values columns have.  run: read, solved, and of few rows.
 */
extern void sources_try(Run *run, bool values, Concluded *fit, Concluded *left);

/* kanon_attack with knowledge => 'method'. */
extern void attack_method(Lines *lines, FunctionCallInfo fcinfo, Oid source, Oid target, ArrayType *known);

#endif
