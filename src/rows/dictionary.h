/*
 * dictionary.h: the dictionary of a column: its values, numbered; spellings of kept columns
 */
#ifndef KANON_DICTIONARY_H
#define KANON_DICTIONARY_H

#include "host/gate.h"
#include "host/border.h"

#include "postgres.h"
#include "utils/numeric.h"

/* ---- dictionary.c: a column's distinct values, numbered ---- */

typedef struct Dictionary Dictionary;

#define DICTIONARY_NONE PG_UINT32_MAX

/* The values of one column that are different under its equality, numbered. */
extern Dictionary *dictionary_create(MemoryContext parent, const SourceColumn *column);

/* The value's code; a value not seen yet gets the next one. */
extern uint32 dictionary_add(Dictionary *dictionary, Datum value, bool isnull);

/* The value's code, or DICTIONARY_NONE. */
extern uint32 dictionary_find(Dictionary *dictionary, Datum value, bool isnull);

/* After dictionary_sort: how many codes are of lesser values. */
extern uint32 dictionary_below(const Dictionary *dictionary, Datum value);
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

/* A row at hand, as it is compared: by bytes, or by codes where equal values can differ in them. */
typedef struct RowAtHand
{
	int n;
	Dictionary **dictionaries; /* [n] */
	Datum *values;             /* [n] not toasted */
	uint32 *codes;             /* [n] where spellings differ */
	const bool *nulls;         /* [n] */
	const Datum *given;        /* [n] as it came */
	int taken;                 /* columns that are there */
	bool detoasted;            /* some of them were made for it */
} RowAtHand;

extern RowAtHand *row_at_hand(const SourceColumn *columns, int n);

/*
 * Takes a row, until row_leave.  Where spellings differ a new value gets a code if add says
 * so; else the answer is false.
 */
extern bool row_take(RowAtHand *row, const Datum *values, const bool *nulls, bool add);
extern void row_leave(RowAtHand *row);
extern uint32 row_hash(const RowAtHand *row);

/* Are these its codes: codes[c][i] of each column, or codes[c]? */
extern bool row_is(const RowAtHand *row, uint32 *const *codes, uint32 i);
extern bool row_has(const RowAtHand *row, const uint32 *codes);

/* Codes in ascending order, each once; how many are left (determining.c). */
extern size_t unique_codes(uint32 *codes, size_t n);

/*
 * ---- spelling.c: kept columns come out in one spelling per value.
 *
 * Equal values can look different: numeric 1.0 and 1.00, citext 'a' and 'A', interval '30 days' and
 * '1 mon', float -0.  A row that spells its value as no other row does would be known by that.
 */

typedef struct Spelling Spelling;

/* Can two equal values of the column look different? */
extern bool spelling_varies(const SourceColumn *column);

/* Has the column's type no equality, or that of timetz within, so that nobody can say which of its values are one? */
extern bool spelling_unknown(const SourceColumn *column);

/* Memory that it takes is counted by the border, until spelling_end. */
extern Spelling *spelling_begin(const SourceColumn *column, Border *border);

/* A value of a row; all of them, before the first is asked for. */
extern void spelling_note(Spelling *spelling, Datum value);

/* The most frequent spelling of a value that was noted, of equally frequent ones the least. */
extern Datum spelling_of(Spelling *spelling, Datum value);

/* A float as it is shown whatever was computed: zero without a sign, one NaN.  Other values as they are. */
extern Datum spelling_plain(Oid base, Datum value);
extern void spelling_end(Spelling *spelling);

/* ---- value_number.c: values of numeric and date/time types as doubles, for measures ---- */

/* True for the types that value_as_number knows; domains count as their base. */
extern bool type_is_numerical(Oid type);

/* Is it, below domains, an integer, a float or numeric? */
extern bool type_is_number(Oid type);

/* Dates and times in microseconds, intervals by their span; NaN and infinities pass. */
extern double value_as_number(Oid type, Datum value);

/* A float as the shortest decimal number that reads back the same, whatever extra_float_digits says. */
extern Numeric float_as_numeric(Oid type, Datum value);

/*
 * Takes the numbers of different values, in any order.  Those that are far from the data (kanon_data_range) become
 * infinite.  The same array, where none is; otherwise another one in that context.
 */
extern const double *numbers_of_data(const double *numbers, uint32 n, MemoryContext context);

/* The range type for a type's values, or InvalidOid. */
extern Oid range_type_of(Oid type);

#endif
