/*
 * value_number.h: values of numeric and date/time types as doubles, for measures.
 */
#ifndef KANON_VALUE_NUMBER_H
#define KANON_VALUE_NUMBER_H

#include "postgres.h"

#include "utils/numeric.h"

/* True for the types that value_as_number knows; domains count as their base. */
extern bool type_is_numerical(Oid type);

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
