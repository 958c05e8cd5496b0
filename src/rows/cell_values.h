/*
 * cell_values.h: what cells and classes show, as values of SQL
 */
#ifndef KANON_CELL_VALUES_H
#define KANON_CELL_VALUES_H

#include "core/kanon.h"
#include "rows/source.h"
#include "rows/dictionary.h"
#include "host/border.h"
#include "rows/target.h"
#include "hierarchies/levels.h"

#include "utils/array.h"

/* ---- cell_values.c: what a class shows, as values of the columns that are published ---- */

/* The type of a quasi-identifier's published column. */
extern Oid shown_type(const SourceColumn *column);

extern Oid shown_collation(const SourceColumn *column);

typedef struct Shower Shower;

/* The source's dictionaries are there when cells are shown, not before. */
extern Shower *shower_create(const Source *source);

/*
 * The cell of a quasi-identifier; cells: of one class, all columns of the
 * problem; pool: the release's.  Memory is the current context's.  Between
 * plain_text_begin and _end: what is published depends on no setting.
 */
extern Datum show_cell(Shower *shower, int qi, const KanonCell *cells, const uint32 *pool, bool *isnull);

/*
 * A value of a quasi-identifier that shows ranges, as the ranges' subtype has it,
 * and the range type.
 */
struct TypeCacheEntry;
extern Datum show_bound(Shower *shower, int qi, Datum value, struct TypeCacheEntry **range);

/* ---- class_sizes.c: a class at a time, as the values that its rows are published with ---- */

typedef struct ShownClass
{
	uint32 class_; /* KANON_DROPPED: none yet */
	Datum *values; /* [nqis] */
	bool *nulls;
	Datum pattern; /* text, when the target is marked */

	/* own */
	const Target *target;
	const Source *source;
	const KanonProblem *problem;
	const KanonRelease *release;
	struct Shower *shower;
	MemoryContext context;
} ShownClass;

extern ShownClass *shown_class_create(const Target *target, const Source *source, const KanonProblem *problem,
									  const KanonRelease *release);

/* Between plain_text_begin and _end; its values stand until the next class. */
extern void shown_class_enter(ShownClass *shown, uint32 class_);

/* [nclasses] The first class that readers cannot tell from each; NULL where all classes look different. */
extern uint32 *shown_class_alike(ShownClass *shown, Border *border);

/* ---- pattern_text.c: patterns as text, read, checked and written ---- */

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

/* ---- persons.c: counts the persons of each class while its rows are written ---- */

typedef struct Persons Persons;

/* NULL if no rule is about persons. */
extern Persons *persons_begin(const KanonProblem *problem, const KanonRelease *release, Border *border);

/*
 * Before any row: finds the classes that readers cannot tell apart without a mark.  Only rules in persons
 * need to know: two classes together keep every other rule that each keeps.
 */
extern void persons_find_alike(Persons *persons, ShownClass *shown);

/* A row of this type was put into that class. */
extern void persons_note(Persons *persons, uint32 class_, uint32 type);

/* Raises if a class that was written breaks a rule, or those that look alike do together. */
extern void persons_end(Persons *persons);

/* The same of so many rows of each flow [nflows]; of classes that look alike nothing is asked. */
extern void persons_counted(const KanonProblem *problem, const KanonRelease *release, const int64 *rows,
							Border *border);

#endif
