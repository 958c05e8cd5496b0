/*
 * excerpt.c: texts that somebody has given, in messages.
 */
#include "compat.h"
#include "host/excerpt.h"

#include "mb/pg_wchar.h"

/* Longer than any name and most patterns; an error of megabytes helps nobody. */
#define EXCERPT_BYTES 160

const char *
excerpt(const char *text)
{
	size_t length = strnlen(text, EXCERPT_BYTES + 1);

	if (length <= EXCERPT_BYTES)
		return text;
	return psprintf("%.*s...", pg_mbcliplen(text, (int) length, EXCERPT_BYTES), text);
}

void
copy_clipped(char *to, const char *from, int size)
{
	int length = pg_mbcliplen(from, (int) strlen(from), size - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}
