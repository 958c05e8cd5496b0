/*
 * template.h: a document put into a template, as in Mustache (mustache.github.io/mustache.5.html):
 *
 *   {{name}}              text, escaped: there is no way to write markup from a document
 *   {{#name}} … {{/name}} for each element of an array; once for anything else that is there
 *   {{^name}} … {{/name}} where it is null, false, or an empty array
 *   {{.}}                 the element itself; {{name.inner}} what is inside
 *
 * and, beyond it, numbers as people read them, with their place in the document and
 * their value, so that a page can be checked:
 *
 *   {{count name}}  1,234        {{share name}}  7.3 %, of 0.0734
 *   {{number name}} 0.0734       {{time name}}   2.3 s, of milliseconds
 *
 *   <data data-of='measures.3.value' value='4398'>4,398</data>
 *
 * A name is looked for in the innermost section first, then outwards.  One that is
 * nowhere is an error: a document has null for what it does not say.
 */
#ifndef KANON_TEMPLATE_H
#define KANON_TEMPLATE_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/jsonb.h"

/* ASCII, whatever the encodings of database and client: other characters are references. */
extern void template_fill(StringInfo page, const char *template, Jsonb *document);

#endif
