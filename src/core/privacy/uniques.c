/*
 * uniques.c: population uniques from a sample.
 *
 * Zayatz: L. Zayatz, "Estimation of the number of unique population elements using a
 * sample", ASA Section on Survey Research Methods, 1991.  The population's classes are
 * taken to have sizes as those of the sample; by Bayes this gives the chance that a row
 * that is alone in the sample is so in the population:
 *
 *   P(1 | alone) = P(1) H(1) / sum over i of P(i) H(i)
 *
 * P(i) the share of classes of size i, H(i) the hypergeometric chance that of a class of
 * i just one row is drawn.  Each population unique is drawn with the sampling fraction.
 *
 * Pitman: N. Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk
 * assessment", Journal of Official Statistics 17(4), 2001.  A sample of n in u classes,
 * u_j of size j, has the likelihood
 *
 *   prod_{l=1}^{u-1} (theta + l alpha) / prod_{h=1}^{n-1} (theta + h)
 *     * prod_j (prod_{h=1}^{j-1} (h - alpha))^{u_j}
 *
 * and a population of N then has, expected, as many classes of one as
 *
 *   N Gamma(theta+1) / Gamma(theta+alpha) * Gamma(theta+alpha+N-1) / Gamma(theta+N).
 */
#include <math.h>

#include "privacy/rules.h"

/* Below this alpha is as good as 0 (Ewens), and differences of large terms would say nothing. */
#define LEAST_ALPHA 1e-4

/* Steps of a golden section search: an interval shrinks by 0.618 each. */
#define STEPS 60

static void
totals(const KanonSizeCount *sizes, size_t n, double *rows, double *classes)
{
	*rows = *classes = 0;
	for (size_t i = 0; i < n; i++)
	{
		*rows += (double) sizes[i].size * (double) sizes[i].classes;
		*classes += (double) sizes[i].classes;
	}
}

double
kanon_pitman_likelihood(const KanonSizeCount *sizes, size_t n, double alpha, double theta)
{
	double rows, classes, sum;

	totals(sizes, n, &rows, &classes);
	sum = (classes - 1) * log(alpha) + lgamma(theta / alpha + classes) - lgamma(theta / alpha + 1) -
		  (lgamma(theta + rows) - lgamma(theta + 1));
	for (size_t i = 0; i < n; i++)
		sum += (double) sizes[i].classes * (lgamma((double) sizes[i].size - alpha) - lgamma(1 - alpha));
	return sum;
}

typedef struct Search
{
	const KanonSizeCount *sizes;
	size_t n;
	double rows;
	double alpha;
	double theta; /* the best for alpha */
} Search;

/* theta + alpha = exp(x) */
static double
at_theta(Search *search, double x)
{
	search->theta = exp(x) - search->alpha;
	return kanon_pitman_likelihood(search->sizes, search->n, search->alpha, search->theta);
}

/* Where a function of one hill is greatest. */
static double
golden(Search *search, double (*value)(Search *, double), double low, double high)
{
	const double share = (sqrt(5) - 1) / 2;
	double a = high - share * (high - low);
	double b = low + share * (high - low);
	double at_a = value(search, a);
	double at_b = value(search, b);

	for (int i = 0; i < STEPS; i++)
		if (at_a >= at_b)
		{
			high = b;
			b = a;
			at_b = at_a;
			a = high - share * (high - low);
			at_a = value(search, a);
		}
		else
		{
			low = a;
			a = b;
			at_a = at_b;
			b = low + share * (high - low);
			at_b = value(search, b);
		}
	return value(search, (low + high) / 2);
}

static double
at_alpha(Search *search, double alpha)
{
	search->alpha = alpha;
	return golden(search, at_theta, log(1e-9), log(1e6 * (search->rows + 1)));
}

KanonPitman
kanon_pitman_fit(const KanonSizeCount *sizes, size_t n)
{
	Search search = {.sizes = sizes, .n = n};
	double classes;

	totals(sizes, n, &search.rows, &classes);
	if (n == 0 || classes == search.rows)
		return (KanonPitman){0, 0, false};
	(void) golden(&search, at_alpha, LEAST_ALPHA, 1 - 1e-9);
	return (KanonPitman){search.alpha, search.theta, true};
}

double
kanon_pitman_uniques(const KanonPitman *pitman, double population)
{
	double alpha = pitman->alpha;
	double theta = pitman->theta;

	if (population <= 0)
		return 0;
	return population * exp(lgamma(theta + 1) - lgamma(theta + alpha) +
							lgamma(theta + alpha + population - 1) - lgamma(theta + population));
}

/* The chance that just one of a class of so many is drawn, by the hypergeometric distribution. */
static double
one_drawn(double population, double drawn, double size)
{
	double others = population - size - (drawn - 1); /* of other classes, not drawn */

	if (others < 0)
		return 0;
	return size * exp(lgamma(population - size + 1) - lgamma(drawn) - lgamma(others + 1) -
					  (lgamma(population + 1) - lgamma(drawn + 1) - lgamma(population - drawn + 1)));
}

double
kanon_zayatz_uniques(const KanonSizeCount *sizes, size_t n, double fraction)
{
	double rows, classes, population;
	double sum = 0, alone = 0, uniques = 0;

	totals(sizes, n, &rows, &classes);
	population = round(rows / fraction);
	for (size_t i = 0; i < n; i++)
	{
		double chance =
			(double) sizes[i].classes / classes * one_drawn(population, rows, (double) sizes[i].size);

		sum += chance;
		if (sizes[i].size == 1)
		{
			alone = chance;
			uniques = (double) sizes[i].classes;
		}
	}
	return uniques > 0 ? uniques * alone / sum / fraction : 0;
}

/*
 * ---- Individual risk from survey weights.
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
