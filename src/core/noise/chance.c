/*
 * chance.c: draws of an exact probability, and noise made of them.
 */
#include "noise/noise.h"

#include <math.h>

uint64_t
kanon_chance_below(const KanonChance *chance, uint64_t n)
{
	/* numbers below this one are left over when all are dealt to n */
	uint64_t over = (0 - n) % n;
	uint64_t number;

	do
		number = chance->draw(chance->arg);
	while (number < over);
	return number % n;
}

/*
 * The first k at which a draw of part / (whole * k) fails is odd with this probability:
 * the series of exp(-x), whose terms alternate.
 */
bool
kanon_chance_exp(const KanonChance *chance, uint64_t part, uint64_t whole)
{
	uint64_t k = 1;

	while (kanon_chance_below(chance, whole) < part && kanon_chance_below(chance, k) == 0)
		k++;
	return k % 2 == 1;
}

/* A geometric number of whole sensitivities and a share of one, in steps of epsilon; with a sign. */
KanonWide
kanon_noise(const KanonChance *chance, uint64_t sensitivity, uint64_t epsilon)
{
	for (;;)
	{
		uint64_t share = kanon_chance_below(chance, sensitivity);
		KanonWide whole = 0, size;
		bool negative;

		if (!kanon_chance_exp(chance, share, sensitivity))
			continue;
		while (kanon_chance_exp(chance, 1, 1))
			whole++;
		size = (whole * sensitivity + share) / epsilon;
		negative = kanon_chance_below(chance, 2) == 1;
		/* or 0 would come twice as often */
		if (!negative || size > 0)
			return negative ? -size : size;
	}
}

/* P(|x| > m) = 2 a^(m + 1) / (1 + a) with a = exp(-epsilon / sensitivity). */
double
kanon_noise_margin(double sensitivity, double epsilon, double beyond)
{
	double rate = epsilon / sensitivity;
	double margin = ceil(-log(beyond * (1 + exp(-rate)) / 2) / rate) - 1;

	return margin > 0 ? margin : 0;
}
