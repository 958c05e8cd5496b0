/*
 * number.h: values of numeric and date/time types as doubles, for measures.
 */
#ifndef KANON_NUMBER_H
#define KANON_NUMBER_H

#include "postgres.h"

/* True for the types that value_as_number knows; domains count as their base. */
extern bool type_is_numerical(Oid type);

/* Dates and times in microseconds, intervals by their span; NaN and infinities pass. */
extern double value_as_number(Oid type, Datum value);

#endif
