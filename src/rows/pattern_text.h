/*
 * pattern_text.h: patterns as text, read, checked and written.
 */
#ifndef KANON_PATTERN_TEXT_H
#define KANON_PATTERN_TEXT_H

#include "core/kanon.h"
#include "hierarchies/levels.h"

#include "utils/array.h"

/* '-', 1 to 9, A to W: the levels of a quasi-identifier; and back, -1: no symbol of one. */
extern char level_symbol(int level);
extern int symbol_of_level(char symbol);

/* Raises unless there is one symbol for each quasi-identifier, and each is one. */
extern void pattern_check(const char *text, int nqis);

/*
 * A level in which all lines of its hierarchy agree is suppression; so is, in a
 * pattern that was stored, any that is no more.
 */
extern KanonPattern pattern_parse(const char *text, const Levels *levels, bool stored);
extern KanonPattern *patterns_parse(ArrayType *patterns, const Levels *levels, size_t *n);

/* Without hierarchies: each quasi-identifier is one column. */
extern Levels no_levels(int nqis);

/*
 * Symbols of a pattern, one per quasi-identifier ("-2*": kept, at level 2,
 * suppressed), palloc'd.
 */
extern char *pattern_text(KanonPattern pattern, const Levels *levels);

/* The same of a class; '~' where it shows a range or a set. */
extern char *class_text(const KanonRelease *release, uint32 class_, const Levels *levels);

/* How many quasi-identifiers a pattern suppresses whole; and a class, which may show ranges and sets. */
extern int pattern_suppressed(KanonPattern pattern, const Levels *levels);
extern int class_suppressed(const KanonRelease *release, uint32 class_, const Levels *levels);

/* Does a class (its cells, all columns of the problem) show nothing in a quasi-identifier? */
extern bool shows_nothing(const Levels *levels, int qi, const KanonCell *cells);

#endif
