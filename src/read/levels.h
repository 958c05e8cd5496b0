/*
 * levels.h: hierarchies of quasi-identifiers as further columns of the problem.
 */
#ifndef KANON_LEVELS_H
#define KANON_LEVELS_H

#include "kanon_pg.h"

/* What generalizing to level r of L costs, suppression being level L. */
typedef enum LevelCost
{
	LEVEL_COST_HEIGHT, /* weight * r / L (Aggarwal et al. 2005) */
	LEVEL_COST_NCP     /* weight * the level's mean normalized certainty penalty */
} LevelCost;

/*
 * Finds and locks the hierarchies ({"column": "relation", ...} or NULL) of an
 * opened source.  Errors: those of hierarchies_open.
 */
extern void source_hierarchies(Source *source, Jsonb *hierarchies);

/* Lays out their levels, as the active snapshot has them.  Errors: too_many_columns. */
extern void source_levels(Source *source);

/*
 * After rowtypes_read: reads the hierarchies and adds the levels as columns.
 * Errors: those of hierarchy_read; t_r_serialization_failure.
 */
extern void rowtypes_levels(RowTypes *types, Border *border);

/* Sets the weights of all columns from one for each quasi-identifier. */
extern void rowtypes_price(RowTypes *types, const double *weights, LevelCost cost, Border *border);

#endif
