/*
 * dictionary.h: a column's distinct values, numbered.
 */
#ifndef KANON_READ_DICTIONARY_H
#define KANON_READ_DICTIONARY_H

#include "host/column.h"

typedef struct Dictionary Dictionary;

#define DICTIONARY_NONE PG_UINT32_MAX

/* The values of one column that are different under its equality, numbered. */
extern Dictionary *dictionary_create(MemoryContext parent, const SourceColumn *column);

/* The value's code; a value not seen yet gets the next one. */
extern uint32 dictionary_add(Dictionary *dictionary, Datum value, bool isnull);

/* The value's code, or DICTIONARY_NONE. */
extern uint32 dictionary_find(Dictionary *dictionary, Datum value, bool isnull);
extern uint32 dictionary_size(const Dictionary *dictionary);

/* The one spelling under which a code is published. */
extern Datum dictionary_value(const Dictionary *dictionary, uint32 code, bool *isnull);

/* NULL has a code: after dictionary_sort, the last. */
extern bool dictionary_has_null(const Dictionary *dictionary);

/* Equal values can be spelled differently (numeric 1.0 and 1.00). */
extern bool dictionary_has_spellings(const Dictionary *dictionary);

/*
 * Renumbers so that codes ascend in the type's order, NULL last; returns the
 * new code of each old one.
 */
extern uint32 *dictionary_sort(Dictionary *dictionary);

/* Per code the value as a double (NaN: NULL), for measures. */
extern double *dictionary_numbers(const Dictionary *dictionary);
extern Size dictionary_memory(const Dictionary *dictionary);
extern void dictionary_free(Dictionary *dictionary);

/* Codes in ascending order, each once; how many are left. */
extern size_t unique_codes(uint32 *codes, size_t n);

#endif
