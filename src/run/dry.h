/*
 * dry.h: the options of functions that read once, solve many times and write
 * nothing: kanon_frontier and kanon_explain.  They have source, quasi_identifiers
 * and k or ks before these.
 */
#ifndef KANON_DRY_H
#define KANON_DRY_H

#include "run/run.h"

#define DRY_OPTIONS                 \
	(pattern_guided_model.options & \
	 ~(TAKES(CLASS_COLUMN) | TAKES(ALLOW_IDENTIFYING) | TAKES(MARK) | TAKES(REPLACE) | TAKES(DRY_RUN)))

#endif
