/*
 * dry.h: the options of functions that read once, solve many times and write
 * nothing: kanon_frontier and kanon_explain.  They have source, quasi_identifiers
 * and k or ks before these.
 */
#ifndef KANON_DRY_H
#define KANON_DRY_H

#include "run/run.h"

static const Option dry_options[] = {OPTION_PATTERNS, OPTION_WEIGHTS, OPTION_METHOD,      OPTION_CATEGORICAL,
									 OPTION_RESIDUAL, OPTION_RULES,   OPTION_TIME_LIMIT,  OPTION_GAP,
									 OPTION_SEED,     OPTION_EFFORT,  OPTION_HIERARCHIES, OPTION_LEVEL_COST,
									 OPTION_KEEP,     OPTION_PRIVACY};

#define DRY_OPTIONS ((int) lengthof(dry_options))

#endif
