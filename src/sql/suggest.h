/*
 * suggest.h: what the parts of kanon_suggest have in common.
 */
#ifndef KANON_SQL_SUGGEST_H
#define KANON_SQL_SUGGEST_H

#include "postgres.h"

typedef enum ColumnRole
{
	ROLE_NONE,
	ROLE_IDENTIFIER,
	ROLE_QUASI_IDENTIFIER,
	ROLE_SENSITIVE,
	ROLE_HARMLESS
} ColumnRole;

extern const char *role_name(ColumnRole role);

/* What kanon's label of such a column is. */
extern const char *role_label(ColumnRole role);

/*
 * What a column's name says of it, or ROLE_NONE.  few: few rows share a value;
 * distinct: how many values it has.
 */
extern ColumnRole role_by_name(const char *name, bool few, double distinct, const char **why);

#endif
