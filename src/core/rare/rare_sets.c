/*
 * rare_sets.c: which sets of columns an attacker may know.
 */
#include "rare/rare.h"

int64_t
kanon_known_k(const KanonKnown *known, KanonPattern columns)
{
	int64_t k = kanon_count(columns) <= known->most ? known->k : 0;

	for (int s = 0; s < known->nsets; s++)
	{
		int64_t own = known->sets[s].k > 0 ? known->sets[s].k : known->k;

		if (own > k && kanon_within(columns, known->sets[s].columns))
			k = own;
	}
	return k;
}

bool
kanon_known_beyond(const KanonKnown *known, KanonPattern columns, int ncolumns)
{
	int n = kanon_count(columns);

	if (n < known->most && n < ncolumns)
		return true;
	for (int s = 0; s < known->nsets; s++)
		if (kanon_within(columns, known->sets[s].columns) && n < kanon_count(known->sets[s].columns))
			return true;
	return false;
}

int
kanon_known_most(const KanonKnown *known, int ncolumns)
{
	int most = known->most < ncolumns ? known->most : ncolumns;

	for (int s = 0; s < known->nsets; s++)
		if (kanon_count(known->sets[s].columns) > most)
			most = kanon_count(known->sets[s].columns);
	return most;
}
