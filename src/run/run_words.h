/*
 * run_words.h: what a run has published, in words.
 */
#ifndef KANON_RUN_WORDS_H
#define KANON_RUN_WORDS_H

#include "run/run.h"

/*
 * For whoever finds the table: k, rules, when and by which run; no data value.
 * promise: of sets what holds instead of k in quasi-identifiers, or NULL.
 */
extern char *run_words(const Run *run, const char *promise);

/* A NOTICE that names the columns of which the target shows next to nothing. */
extern void run_notice_empty(const Run *run, const KanonColumnMeasures *columns);

/* Rows that are left out, and those that time was too short for. */
extern void run_notice_rest(const Run *run);

#endif
