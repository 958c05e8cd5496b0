/*
 * pattern_text.c: patterns as people write them: one symbol per quasi-identifier,
 * '-' (or '0') keeps it, a digit or, above level 9, a capital letter generalizes it to
 * that level of its hierarchy, '*' suppresses it.
 */
#include "compat.h"
#include "rows/cell_values.h"
#include "host/excerpt.h"
#include "hierarchies/hierarchy.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

/* Columns of a quasi-identifier: its values and the levels of its hierarchy. */
static inline int
columns_of(const Levels *levels, int qi)
{
	return levels->first[qi + 1] - levels->first[qi];
}

StaticAssertDecl(HIERARCHY_MAX_LEVELS <= 9 + 26, "each level has a symbol");

char
level_symbol(int level)
{
	return (char) (level == 0 ? '-' : level <= 9 ? '0' + level : 'A' + level - 10);
}

int
symbol_of_level(char symbol)
{
	int level = symbol == '-'                    ? 0
				: symbol >= '0' && symbol <= '9' ? symbol - '0'
				: symbol >= 'A' && symbol <= 'Z' ? symbol - 'A' + 10
												 : -1;

	return level <= HIERARCHY_MAX_LEVELS ? level : -1;
}

/* To how high a level a pattern generalizes a quasi-identifier. */
static int
level_of(KanonPattern pattern, const Levels *levels, int qi)
{
	int level = 0;

	while (level < columns_of(levels, qi) && kanon_has(pattern, levels->first[qi] + level))
		level++;
	return level;
}

Levels
no_levels(int nqis)
{
	Levels levels = {.nqis = nqis};

	for (int c = 0; c <= nqis; c++)
		levels.first[c] = c;
	return levels;
}

char *
pattern_text(KanonPattern pattern, const Levels *levels)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int c = 0; c < levels->nqis; c++)
	{
		int level = level_of(pattern, levels, c);

		appendStringInfoChar(&text, level == columns_of(levels, c) ? '*' : level_symbol(level));
	}
	return text.data;
}

char *
class_text(const KanonRelease *release, uint32 class_, const Levels *levels)
{
	char *text = pattern_text(release->classes[class_].pattern, levels);
	const KanonCell *cells = &release->cells[(size_t) class_ * levels->first[levels->nqis]];

	for (int c = 0; c < levels->nqis; c++)
	{
		KanonShow show = cells[levels->first[c]].show;

		if (show == KANON_SHOW_RANGE || show == KANON_SHOW_SET)
			text[c] = '~';
	}
	return text;
}

int
pattern_suppressed(KanonPattern pattern, const Levels *levels)
{
	int n = 0;

	for (int c = 0; c < levels->nqis; c++)
		n += kanon_has(pattern, levels->first[c + 1] - 1);
	return n;
}

bool
shows_nothing(const Levels *levels, int qi, const KanonCell *cells)
{
	for (int c = levels->first[qi]; c < levels->first[qi + 1]; c++)
		if (cells[c].show != KANON_SHOW_NOTHING)
			return false;
	return true;
}

int
class_suppressed(const KanonRelease *release, uint32 class_, const Levels *levels)
{
	const KanonCell *cells = &release->cells[(size_t) class_ * levels->first[levels->nqis]];
	int n = 0;

	for (int c = 0; c < levels->nqis; c++)
		n += shows_nothing(levels, c, cells);
	return n;
}

void
pattern_check(const char *text, int nqis)
{
	int length = pg_mbstrlen(text);

	if (length != nqis)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("pattern \"%s\" has %d symbols for %d quasi-identifiers", excerpt(text), length, nqis),
			 errhint(
				 "Write one symbol for each quasi-identifier, in their order: '-' keeps it, '*' suppresses it.")));
	for (int c = 0; c < nqis; c++)
		if (text[c] != '*' && symbol_of_level(text[c]) < 0)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("pattern \"%s\" has an unknown symbol at position %d", excerpt(text), c + 1),
				 errhint(
					 "'-' keeps a column, '*' suppresses it, a digit generalizes it to that level of its hierarchy (A to W: 10 to %d).",
					 HIERARCHY_MAX_LEVELS)));
}

/* The symbol as a level of its quasi-identifier; known: levels that there have been. */
static int
symbol_level(const char *text, int qi, const Levels *levels, int known)
{
	int highest = columns_of(levels, qi) - 1;
	int level = symbol_of_level(text[qi]);

	if (text[qi] == '*')
		return highest + 1;
	if (level > highest && level <= known)
		return highest + 1;
	if (level > highest)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("pattern \"%s\" asks for level %d at position %d", excerpt(text), level, qi + 1),
			 highest == 0
				 ? errdetail("This quasi-identifier has no hierarchy.")
				 : errdetail("The hierarchy of this quasi-identifier has levels 1 to %d below suppression.",
							 highest),
			 errhint("Use a level that is there, or '*' to suppress the column.")));
	return level;
}

KanonPattern
pattern_parse(const char *text, const Levels *levels, bool stored)
{
	KanonPattern pattern = KANON_NONE;

	pattern_check(text, levels->nqis);
	for (int c = 0; c < levels->nqis; c++)
		for (int level = symbol_level(text, c, levels, stored ? HIERARCHY_MAX_LEVELS : levels->named[c]);
			 level > 0; level--)
			kanon_add(&pattern, levels->first[c] + level - 1);
	return pattern;
}

KanonPattern *
patterns_parse(ArrayType *array, const Levels *levels, size_t *n)
{
	Datum *elements;
	bool *nulls;
	int count;
	KanonPattern *patterns;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("patterns must be a one-dimensional list"),
				 errhint("Write it like '{--*,-**}'.")));
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	if (count == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("patterns must not be empty"),
						errhint("List at least one pattern, or leave it NULL to allow every combination.")));
	patterns = palloc(sizeof(KanonPattern) * count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("patterns must not contain NULL"),
							errhint("Write it like '{--*,-**}'.")));
		patterns[i] = pattern_parse(TextDatumGetCString(elements[i]), levels, false);
	}
	*n = count;
	return patterns;
}
