/*
 * presence.c: how probable it is that a class keeps bounds on presence when nobody has the
 * population: the binomial distribution.
 */
#include <math.h>

#include "privacy/population.h"

/*
 * The regularized incomplete beta function I_x(a, b), by its continued fraction (Lentz's method), where that
 * converges fast; else 1 - I_{1-x}(b, a).
 */
static double
incomplete_beta(double a, double b, double x)
{
	double front, c = 1, d, fraction;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	if (x > (a + 1) / (a + b + 2))
		return 1 - incomplete_beta(b, a, 1 - x);
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
	d = 1 / (1 - (a + b) * x / (a + 1));
	fraction = d;
	for (int m = 1; m < 100000; m++)
	{
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / (1 + even * d);
		c = 1 + even / c;
		fraction *= c * d;
		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		step = c * d;
		fraction *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return fmin(front * fraction, 1);
}

/* That at most x of n rows have it. */
static double
at_most(double x, double n, double share)
{
	return x < 0 ? 0 : x >= n ? 1 : incomplete_beta(n - x, x + 1, 1 - share);
}

double
kanon_presence_likelihood(int64_t rows, int64_t others, double share, double least, double most)
{
	double r = (double) rows;
	double n = (double) others;
	double from = most > 0 ? ceil(r / most - r - 1e-9 * r) : n + 1;
	double to = least > 0 ? floor(r / least - r + 1e-9 * r) : n;

	share = fmin(fmax(share, 0), 1);
	return fmax(at_most(to, n, share) - at_most(from - 1, n, share), 0);
}
