/*
 * verify.h: the target is read back and checked before it is published.
 */
#ifndef KANON_VERIFY_H
#define KANON_VERIFY_H

#include "compat.h"
#include "rows/row_types.h"
#include "rows/target.h"

/* Raises that the written table is not as promised; nothing is published then. */
pg_noreturn extern void raise_unsafe(const char *detail);

/* The release as it stands in the target; raises if a rule is broken. */
extern void target_verify(const Target *target, const Source *source, const KanonProblem *problem,
						  const KanonRelease *release, int64 expected_rows, Border *border);

/*
 * The same for a release of more classes than memory need hold: the server groups the target, and each group is
 * looked at as it comes.  Rules about persons and populations it does not take.
 */
extern void target_verify_groups(const Target *target, const Source *source, const KanonProblem *problem,
								 int64 expected_rows, Border *border);

/* The same of a freeform release: the target has the records whose graph was checked. */
extern void target_verify_freeform(const Target *target, const Source *source, const KanonProblem *problem,
								   const KanonRelease *release, int64 expected_rows, Border *border);

/* ---- what the files that check share ---- */

/* Do two of the target's row types look the same but for what privacy rules look at? */
extern bool verify_same_class(const RowTypes *types, uint32 a, uint32 b);

/* No value is shown: NULL in every quasi-identifier. */
extern bool verify_is_blank(const RowTypes *types, int nqis, uint32 type);

/* Raises if these row types, which are a class, break a privacy rule. */
extern void verify_class(const KanonProblem *shown, const Source *source, const uint32 *members, uint32 n,
						 bool few, Border *border);

/* The target's codes of a column as the source's; raises if it has other values. */
extern uint32 *verify_translate(const struct Dictionary *from, const SourceColumn *original, Border *border);

/*
 * verify_parts.c: raises if a class of the target breaks a privacy rule that is not about persons.  written:
 * the target's columns that look the same, then those that rules look at.
 */
extern void verify_privacy_sorted(Source *written, const Source *source, const KanonProblem *problem,
								  Border *border);

/* verify_known.c: raises if fewer than k rows of the target show a combination that somebody may know. */
extern void verify_known(const RowTypes *types, const Source *source, const KanonProblem *problem,
						 Border *border);

/* verify_population.c: raises if the target (full-domain) breaks a rule about a population. */
extern void verify_populations(const RowTypes *types, const Source *source, const KanonProblem *problem,
							   const KanonRelease *release, Border *border);

#endif
