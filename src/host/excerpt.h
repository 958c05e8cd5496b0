/*
 * excerpt.h: texts that somebody has given, in messages.
 */
#ifndef KANON_EXCERPT_H
#define KANON_EXCERPT_H

#include "postgres.h"

/* The text as a message can repeat it: its beginning, when it is long. */
extern const char *excerpt(const char *text);

/* Into a buffer of that size; what is too long is cut between characters. */
extern void copy_clipped(char *to, const char *from, int size);

#endif
