/*
 * risk.h: what the parts of kanon_risk have in common.
 */
#ifndef KANON_RISK_H
#define KANON_RISK_H

#include "host/lines.h"
#include "rows/row_types.h"
#include "hierarchies/hierarchy.h"
#include "run/privacy.h"

#include "nodes/execnodes.h"

typedef struct Risk
{
	Lines *lines;
	Source *source;
	const SourceColumn *subject; /* or NULL: rows are counted */
	const char *unit;            /* what is counted: "rows" or "persons" */
	const char *one;             /* "row" or "person" */
	int64 units;                 /* in all classes, blank ones included */
	double threshold;
	double sampling_fraction;      /* of the population that is here; NaN: not said */
	const SourceColumn *weights;   /* how many of the population a row stands for, or NULL */
	const SourceColumn *household; /* or NULL */
	int special;                   /* columns of special uniques, at most; 0: not asked */
	PrivacyWords *presence;        /* a rule of kanon_presence to be looked at, or NULL */
	Source *distributions;         /* of it */
} Risk;

/* A line of the result.  sensitive: a column's name or NULL; known: false for NULL. */
extern void risk_put(const Risk *risk, const char *measure, const char *sensitive, double value, bool known,
					 const char *meaning, ...) pg_attribute_printf(6, 7);

/*
 * Row types over the quasi-identifiers, then `column` unless NULL, then the
 * subject if there is one; with them, where the classes begin.
 */
typedef struct RiskClasses
{
	Border *border; /* holds all of it; see risk_classes_free */
	RowTypes *types;
	uint32 n;
	uint32 *first; /* [n + 1] the first type of each class */
	int64 *size;   /* [n] rows, or different persons */
} RiskClasses;

extern RiskClasses *risk_classes_read(const Risk *risk, const SourceColumn *column);
extern void risk_classes_free(RiskClasses *classes);

/*
 * risk_population.c: how many of a population a class could be; the population is
 * opened and locked before.
 */
extern Source *risk_open_population(const Risk *risk, Oid population, ArrayType *qis);
extern void risk_population(Risk *risk, Source *population);

/* risk_presence.c: how probable bounds on presence are; the distributions are opened and locked before. */
extern void risk_open_presence(Risk *risk, Jsonb *rule);
extern void risk_presence(Risk *risk);

/* risk_sensitive.c: what the classes give away of a sensitive column. */
extern void risk_sensitive(Risk *risk, const SourceColumn *column, const HierarchyChoice *hierarchy);

/* risk_survey.c: individual risk by weights, and of households. */
extern void risk_check_weights(const SourceColumn *weights);
extern void risk_survey(const Risk *risk);

/* risk_special.c: rows that few columns tell from all others. */
extern void risk_special(const Risk *risk);

#endif
