/*
 * individual_risk.c: individual risk from survey weights.
 *
 * R. Benedetti, L. Franconi, "Statistical and technological solutions for controlled data dissemination",
 * New Techniques and Technologies for Statistics, 1998; L. Franconi, S. Polettini, "Individual risk estimation in
 * mu-Argus: a review", Privacy in Statistical Databases, LNCS 3050, 2004.  F rows of the population are in the
 * class of which f are in the sample: given f, F is negative binomial with p = f / (sum of the weights).  The
 * risk is the mean of 1 / F.  With q = 1 - p
 *
 *   r(1) = p/q ln(1/p),   r(f) = p/q (1 / (f - 1) - r(f - 1)).
 *
 * Forward each step multiplies errors by p/q, backward by q/p: p tells which way.  For large f the
 * first terms of the mean's expansion are exact to eight digits.
 */
#include <math.h>

#include "privacy/rules.h"

/* From so many rows on the expansion is taken. */
#define MANY 1000

/* The mean of 1 / F, by the second to fourth central moments of F. */
static double
expanded(double f, double p)
{
	double q = 1 - p;

	return p / f * (1 + q / f + (2 * q * q - q) / (f * f));
}

double
kanon_individual_risk(double rows, double population)
{
	double p = rows / population, ratio, risk;

	if (!(p < 1))
		return 1 / rows;
	if (rows >= MANY)
		return expanded(rows, p);
	ratio = p / (1 - p);
	if (ratio < 1)
	{
		risk = ratio * log(1 / p);
		for (double f = 2; f <= rows; f++)
			risk = ratio * (1 / (f - 1) - risk);
		return risk;
	}
	risk = expanded(2 * MANY, p);
	for (double f = 2 * MANY; f > rows; f--)
		risk = 1 / (f - 1) - risk / ratio;
	return risk;
}
