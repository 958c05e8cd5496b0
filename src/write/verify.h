/*
 * verify.h: what the files that check a written target share.
 */
#ifndef KANON_VERIFY_H
#define KANON_VERIFY_H

#include "kanon_pg.h"

/* Do two of the target's row types look the same but for what privacy rules look at? */
extern bool verify_same_class(const RowTypes *types, uint32 a, uint32 b);

/* No value is shown: NULL in every quasi-identifier. */
extern bool verify_is_blank(const RowTypes *types, int nqis, uint32 type);

/* verify_population.c: raises if the target (full-domain) breaks a rule about a population. */
extern void verify_populations(const RowTypes *types, const Source *source, const KanonProblem *problem,
							   Border *border);

#endif
