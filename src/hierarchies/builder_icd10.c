/*
 * builder_icd10.c: codes of the International Classification of Diseases, tenth
 * revision, by how they are built: E11.9 is in category E11, that in the chapter of E00
 * to E90.  The chapters' ranges hold those of the national editions, too; blocks differ
 * among these and are left out.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"

#include <ctype.h>

#include "utils/builtins.h"

enum
{
	SUBCATEGORY,
	CATEGORY,
	CHAPTER
};

/* By the letter; from the number on, where a letter has two chapters. */
typedef struct Chapter
{
	const char *letters;
	int from;
	int to;
	const char *name;
} Chapter;

static const Chapter chapters[] = {
	{"AB", 0, 99, "A00-B99"},   {"C", 0, 99, "C00-D49"}, {"D", 0, 49, "C00-D49"}, {"D", 50, 99, "D50-D89"},
	{"E", 0, 99, "E00-E90"},    {"F", 0, 99, "F00-F99"}, {"G", 0, 99, "G00-G99"}, {"H", 0, 59, "H00-H59"},
	{"H", 60, 99, "H60-H95"},   {"I", 0, 99, "I00-I99"}, {"J", 0, 99, "J00-J99"}, {"K", 0, 99, "K00-K95"},
	{"L", 0, 99, "L00-L99"},    {"M", 0, 99, "M00-M99"}, {"N", 0, 99, "N00-N99"}, {"O", 0, 99, "O00-O99"},
	{"P", 0, 99, "P00-P96"},    {"Q", 0, 99, "Q00-Q99"}, {"R", 0, 99, "R00-R99"}, {"ST", 0, 99, "S00-T98"},
	{"VWXY", 0, 99, "V00-Y99"}, {"Z", 0, 99, "Z00-Z99"}, {"U", 0, 99, "U00-U99"}};

/* Some editions have a letter as third character; it sorts after the digits of the same ten. */
static const char *
chapter_of(const char *code)
{
	int number = (code[1] - '0') * 10 + (isdigit((unsigned char) code[2]) ? code[2] - '0' : 9);

	for (int i = 0; i < (int) lengthof(chapters); i++)
		if (strchr(chapters[i].letters, code[0]) != NULL && number >= chapters[i].from &&
			number <= chapters[i].to)
			return chapters[i].name;
	return NULL;
}

/* A letter, a digit, a digit or letter; then whatever the editions add to them. */
static bool
is_code(const char *code)
{
	return isupper((unsigned char) code[0]) && isdigit((unsigned char) code[1]) &&
		   isalnum((unsigned char) code[2]) &&
		   strspn(code + 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.-*+!#") == strlen(code + 3);
}

static int
levels(LevelBuilder *builder, Datum value, Datum *nodes)
{
	const int *level = builder->own;
	char *code = builder_text(builder, value);
	const char *further;

	for (char *at = code; *at != '\0'; at++)
		*at = pg_ascii_toupper(*at);
	if (!is_code(code))
		return BUILDER_UNKNOWN;
	further = code + 3 + (code[3] == '.');
	for (int h = 0; h < builder->nlevels; h++)
		nodes[h] = level[h] == CHAPTER ? CStringGetTextDatum(chapter_of(code))
				   : level[h] == CATEGORY || !isalnum((unsigned char) *further)
					   ? PointerGetDatum(cstring_to_text_with_len(code, 3))
					   : CStringGetTextDatum(psprintf("%.3s.%c", code, *further));
	return builder->nlevels;
}

LevelBuilder *
builder_icd10(const char *name, const SourceColumn *column, char **words, int n)
{
	static const char *const known[] = {"subcategory", "category", "chapter", NULL};
	LevelBuilder *builder = builder_of_words(name, column, known, words, n);

	builder_of_texts(builder, "hierarchy of diagnoses");
	builder->levels = levels;
	return builder;
}
