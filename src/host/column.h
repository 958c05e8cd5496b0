/*
 * column.h: a column of a relation, as it was resolved when the call began.
 */
#ifndef KANON_COLUMN_H
#define KANON_COLUMN_H

#include "postgres.h"

/* How the cells of a published quasi-identifier look. */
typedef enum ShowAs
{
	SHOW_AS_VALUE, /* as in the source */
	SHOW_AS_TEXT,  /* values and labels of a hierarchy, as text */
	SHOW_AS_RANGE, /* a value is the range that holds only it */
	SHOW_AS_SET    /* an array; a value is the array of it alone */
} ShowAs;

typedef struct SourceColumn
{
	char *name;
	const char *quoted; /* as an identifier in SQL */
	Oid type;           /* as declared, domains included */
	int32 typmod;
	Oid collation;
	uint32 shape;      /* of composite types: host/gate.h */
	bool may_identify; /* a kept column whose values may be a row's own */
	bool answered;     /* it is named in allow_identifying */
	bool numerical;    /* a quasi-identifier measured as a number */
	ShowAs show_as;
	struct Dictionary *dictionary; /* quasi-identifiers: filled by rowtypes_read */
	struct Hierarchy *hierarchy;   /* how its values generalize, or NULL */
	struct Mask *mask;             /* how a kept column is masked, or NULL */
} SourceColumn;

#endif
