/*
 * patterns.h: patterns as text, read and checked.
 */
#ifndef KANON_PATTERNS_H
#define KANON_PATTERNS_H

#include "kanon_pg.h"

/* Raises unless there is one symbol for each quasi-identifier, and each is one. */
extern void pattern_check(const char *text, int nqis);

/*
 * A level in which all lines of its hierarchy agree is suppression; so is, in a
 * pattern that was stored, any that is no more.
 */
extern KanonPattern pattern_parse(const char *text, const Levels *levels, bool stored);
extern KanonPattern *patterns_parse(ArrayType *patterns, const Levels *levels, size_t *n);

#endif
