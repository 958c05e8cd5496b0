/*
 * levels.h: hierarchies of quasi-identifiers as further columns of the problem.
 */
#ifndef KANON_LEVELS_H
#define KANON_LEVELS_H

#include "postgres.h"

#include "core/kanon.h"

#include "utils/jsonb.h"

/*
 * Which columns of the problem the quasi-identifiers are: its own values, and
 * one more for each level of its hierarchy (KanonColumn says how).
 */
typedef struct Levels
{
	int nqis;
	int first[KANON_MAX_COLUMNS + 1]; /* its values; [nqis]: number of columns */
	int named[KANON_MAX_COLUMNS];     /* levels of its hierarchy; those without a column are suppression */
} Levels;

struct Source;
struct RowTypes;
struct Border;

/* The cost of generalizing to level r of L, suppression being level L. */
typedef enum LevelCost
{
	LEVEL_COST_HEIGHT, /* weight * r / L (Aggarwal et al. 2005) */
	LEVEL_COST_NCP     /* weight * the level's mean normalized certainty penalty */
} LevelCost;

/*
 * Finds and locks the hierarchies ({"column": "relation", ...} or NULL) of an
 * opened source.  Errors: those of hierarchies_open.
 */
extern void source_hierarchies(struct Source *source, Jsonb *hierarchies);

/* Lays out their levels, as the active snapshot has them.  Errors: too_many_columns. */
extern void source_levels(struct Source *source);

/* The same where the first nqis alone are quasi-identifiers: the others, which were kept, count by their levels. */
extern void source_levels_beside(struct Source *source, int nqis);

/*
 * After rowtypes_read: reads the hierarchies and adds the levels as columns.
 * Errors: those of hierarchy_read; t_r_serialization_failure.
 */
extern void rowtypes_levels(struct RowTypes *types, struct Border *border);

/* Sets the weights of all columns from one for each quasi-identifier. */
extern void rowtypes_price(struct RowTypes *types, const double *weights, LevelCost cost,
						   struct Border *border);

#endif
