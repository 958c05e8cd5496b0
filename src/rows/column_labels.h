/*
 * column_labels.h: the roles of columns, written next to them with SECURITY LABEL.
 */
#ifndef KANON_COLUMN_LABELS_H
#define KANON_COLUMN_LABELS_H

#include "host/column.h"

#include "access/attnum.h"

typedef struct LabelledRole
{
	bool quasi_identifier;
	bool sensitive;
	bool keep;
	bool identifier;
	double weight; /* NaN: none */
} LabelledRole;

/* kanon as a provider of labels: only writing one needs it. */
extern void labels_register(void);

/* The role of a relation's column, by labels of kanon's and of PostgreSQL Anonymizer's k_anonymity. */
extern LabelledRole label_role(Oid relid, AttrNumber attnum);

/* Is it, or what it stands for in the relations below a view, labelled as an identifier? */
extern bool label_identifies(Oid relid, AttrNumber attnum);

/* Has somebody said what it is, here or below a view: a quasi-identifier, sensitive, or to keep? */
extern bool label_answers(Oid relid, AttrNumber attnum);

/*
 * Raises check_violation if one of these columns, or what it stands for in the
 * relations below a view, is labelled as an identifier and may not be one.
 */
extern void labels_refuse_identifiers(Oid relid, const SourceColumn *columns, int n);

#endif
