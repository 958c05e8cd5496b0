/*
 * html.h: putting a page together.  All text passes through html(), which is
 * where it is escaped; nothing else writes text into a page.
 */
#ifndef KANON_HTML_H
#define KANON_HTML_H

#include "postgres.h"

#include "lib/stringinfo.h"

/* What stands where a figure is not defined. */
#define HTML_NOTHING "n/a"

/*
 * Appends markup.  In the format
 *
 *   %s  const char *: text, escaped (NULL: nothing), for content and quoted attributes
 *   %h  const char *: markup, as it is
 *   %n  int64: 1,234
 *   %d  int64: 1234
 *   %f  double: some digits, or 1,234 when large
 *   %o  double: one digit after the point
 *   %p  double: a share, 0.0734 as 7.3 %
 *   %c  double: a coordinate or percentage for SVG
 *   %t  double: milliseconds, in a fitting unit
 *   %%  %
 *
 * The page is plain ASCII, whatever the encodings of database and client:
 * other characters come out as character references.
 */
extern void html(StringInfo page, const char *format, ...);

#endif
