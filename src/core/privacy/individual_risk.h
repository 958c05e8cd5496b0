/*
 * individual_risk.h: the chance to be found in a population that survey weights tell of.
 */
#ifndef KANON_INDIVIDUAL_RISK_H
#define KANON_INDIVIDUAL_RISK_H

#include "kanon.h"

/* The risk of a row in a class of so many rows (> 0) whose weights sum up to `population`. */
extern double kanon_individual_risk(double rows, double population);

#endif
