/*
 * domains.h: the values that columns may have, and rows as numbers of their combinations.
 */
#ifndef KANON_DOMAINS_H
#define KANON_DOMAINS_H

#include "core/noise/tuples.h"
#include "host/border.h"
#include "rows/source.h"
#include "utils/jsonb.h"

typedef struct Domains
{
	Source *source;   /* its kept columns are those that have domains */
	Oid *relations;   /* [nkept] that list values, or InvalidOid: the JSON does */
	uint32 *size;     /* [nkept] values */
	uint64 tuples;    /* combinations */
	KanonTuples rows; /* of the source, once they are read */
	int64 outside;    /* its rows with values that no domain has: they are not among them */
} Domains;

/* Finds columns and locks the relation. */
extern Domains *domains_open(Oid relid, ArrayType *columns);

/*
 * {"column": ["value", …] | {"from": 0, "to": 99} | "relation", …}: finds and locks relations,
 * whose first column has the values.
 */
extern void domains_resolve(Domains *domains, Jsonb *json);

/* The values; under the active snapshot. */
extern void domains_values(Domains *domains, Jsonb *json, Border *border);

/* The source's rows, by tuple. */
extern void domains_read(Domains *domains, Border *border);

/* Tuple numbers of a relation with these columns, sorted; raises no error for values outside but counts them. */
extern uint64 *domains_tuples(const Domains *domains, const char *name, Oid relid, bool read_only,
							  const char *phase, int64 *n, int64 *outside, Border *border);

/* A column's value in a tuple, and its number among the column's. */
extern Datum domains_value(const Domains *domains, uint64 tuple, int column, bool *isnull);
extern uint32 domains_code(const Domains *domains, uint64 tuple, int column);

#endif
