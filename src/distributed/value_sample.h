/*
 * value_sample.h: values of kept columns as workers tell them: by hashes, and of all that there are a fair sample.
 */
#ifndef KANON_VALUE_SAMPLE_H
#define KANON_VALUE_SAMPLE_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "lib/stringinfo.h"

/* What is told of a value: the column's place among those that were asked about, and the hash. */
#define SAMPLED ((int) (sizeof(uint16) + sizeof(uint32)))

/* What is needed of such columns, in the current memory context. */
typedef struct Sampled Sampled;
extern Sampled *sampled_create(TupleDesc desc);

/* The hash of a value of the c-th column.  Is it in the sample, which has values whose hashes have none of some bits? */
extern bool sampled_has(Sampled *columns, int c, Datum value, uint32 forgotten, uint32 *hash);

/* Appends what is told of it, to a value that is a bytea from its first one on. */
extern void sampled_put(StringInfo out, int c, uint32 hash);

#endif
