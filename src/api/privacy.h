/*
 * privacy.h: privacy rules beyond k, from SQL's sentences to the core's rules.
 */
#ifndef KANON_API_PRIVACY_H
#define KANON_API_PRIVACY_H

#include "kanon_pg.h"

/* As KanonPrivacyKind, and those about a population, which are not about a set of rows. */
typedef enum PrivacyKind
{
	PRIVACY_DISTINCT_L, PRIVACY_ENTROPY_L, PRIVACY_RECURSIVE_CL, PRIVACY_ALPHA, PRIVACY_T_CLOSENESS,
	PRIVACY_SUBJECT, PRIVACY_DELTA_PRESENCE, PRIVACY_K_MAP
} PrivacyKind;

/* What a sentence says. */
typedef struct PrivacyWords
{
	PrivacyKind kind;
	char	  **columns;		/* several: each is checked, the others joined to the quasi-identifiers */
	int			ncolumns;
	int			l;
	double		number;			/* c, alpha, t or dmin */
	double		most;			/* dmax */
	char	   *distance;
	Oid			relation;		/* a population, or the hierarchy of a distance */
	char	  **values;			/* that alpha is about; none: all */
	int			nvalues;
} PrivacyWords;

/* api/privacy_text.c */

/* The sentence; without values, their number instead (for the record). */
extern char *privacy_sentence(const PrivacyWords *words, bool with_values);

/* Raises what cannot be read or is out of bounds: invalid_parameter_value. */
extern void privacy_parse(const char *text, PrivacyWords *words);

#endif
