/*
 * identifiers.h: may the columns be published as they are?
 */
#ifndef KANON_IDENTIFIERS_H
#define KANON_IDENTIFIERS_H

#include "run/run.h"

/*
 * After masks were read, before anything else is.  Raises check_violation for columns that identify by
 * their labels or types and that allow_identifying does not name; says which kept columns are called like
 * names, in a NOTICE and in run->may_name.
 */
extern void identifiers_check(Run *run);

#endif
