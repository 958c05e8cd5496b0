/*
 * roles.h: roles of columns, and what the name of one says of its role.
 */
#ifndef KANON_ROLES_H
#define KANON_ROLES_H

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

/* What is known of a column's values, beside its name. */
typedef struct ColumnValues
{
	double distinct;
	bool few;    /* few rows share a value */
	bool coarse; /* each value is that of many rows, or the type has few */
	bool flag;   /* two values: yes and no */
} ColumnValues;

/* What a column's name says of it, or ROLE_NONE. */
extern ColumnRole role_by_name(const char *name, const ColumnValues *values, const char **why);

#endif
