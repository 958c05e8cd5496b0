/*
 * population.c: rules about the population that a table's rows are from.
 *
 *	k_map			L. Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS
 *					10(5), 2002: what a class shows matches at least k rows of the
 *					population, however few rows the class has; or k persons, of whom some
 *					may have several rows there, in one class and in others.
 *	delta-presence	M. Nergiz, M. Atzori, C. Clifton, "Hiding the presence of
 *					individuals from shared databases", SIGMOD 2007: for each tuple of
 *					the population the chance to be in the release, which is the
 *					number of rows of the class that it matches by the number of
 *					tuples that match this class, is between dmin and dmax.
 *
 *	kanon_presence	M. Nergiz, C. Clifton, "delta-presence without complete world
 *					knowledge", TKDE 22(6), 2010: c-confident delta-presence.  Nobody has the
 *					population, but shares of its values are known, column by column.  With
 *					r rows in a class, and X of the population's rows outside the table that
 *					match it, the chance is r / (r + X), X being binomial; it is between dmin
 *					and dmax with at least that confidence.
 *
 * Presence is asked of releases in which a tuple matches one class at most: all classes show the
 * same columns (full-domain), a value shows the same in every row (a cut), or classes do not
 * overlap (Mondrian).  In a full-domain release, tuples that match no class are in the release only
 * by its fully suppressed rows, all with the same chance; without such rows it is 0.  In a cut, the
 * fully suppressed rows are a class like any other.
 *
 * k_map is asked of greedy's releases, too, whose classes may overlap.  An attacker can rule out people who
 * must be in another class: let three rows (a, b) and one (a, c) be the population, and all four be published,
 * three as (a, b) and one as (a, *); the last matches four, and is (a, c)'s.  So the patterns are counted in
 * turn: a class has k rows of the population that match it and no class of an earlier pattern.  A person may
 * have rows in several classes, so that nobody is ruled out: persons count in every class that they match.
 *
 * k_map holds for whatever is added to a class that keeps it.  The chance of two
 * classes as one is between theirs, so they keep dmin and dmax; with a group that is
 * no class it may be anything.  Two classes that are within the bounds with some confidence
 * need not be so as one with the same.
 */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "privacy/population.h"
#include "util/number.h"
#include "util/sort.h"

/* The columns that tell what a pattern shows: of levels, the finest; and whose they are. */
static int
finest_columns(const KanonProblem *problem, KanonPattern pattern, int *columns, int *qis)
{
	int n = 0;
	int q = -1;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		q += problem->columns[c].level == 0;
		if (kanon_has(pattern, c) || (problem->columns[c].level > 0 && !kanon_has(pattern, c - 1)))
			continue;
		qis[n] = q;
		columns[n++] = c;
	}
	return n;
}

/* A group's value in a quasi-identifier, by this column. */
static inline uint32_t
code_of(const KanonPresence *presence, uint32_t group, int q, int column)
{
	return presence->codes != NULL ? presence->codes[group * (size_t) presence->nqis + (size_t) q]
								   : presence->problem->columns[column].code[presence->type[group]];
}

/* The slot of the group that shows these codes, or an empty one. */
static uint32_t *
find_slot(const KanonPresence *presence, const int *columns, const int *qis, int ncolumns,
		  const uint32_t *codes)
{
	uint64_t hash = 0;
	size_t at;

	for (int i = 0; i < ncolumns; i++)
		hash = kanon_hash_add(hash, codes[i]);
	for (at = hash & presence->mask; presence->slots[at] != NO_GROUP; at = (at + 1) & presence->mask)
	{
		uint32_t group = presence->slots[at];
		int i = 0;

		while (i < ncolumns && code_of(presence, group, qis[i], columns[i]) == codes[i])
			i++;
		if (i == ncolumns)
			break;
	}
	return &presence->slots[at];
}

void
presence_empty_slots(KanonPresence *presence, uint32_t n)
{
	for (presence->mask = 15; presence->mask / 2 < n; presence->mask = presence->mask * 2 + 1)
		;
	memset(presence->slots, 0xff, (presence->mask + 1) * sizeof(uint32_t));
}

/* So many of its rows match a group, and the n-th pair is that of their person. */
void
presence_found_type(KanonPresence *presence, int p, uint32_t group, uint32_t type, size_t *n)
{
	const KanonPopulation *population = &presence->problem->populations[p];

	if (population->person != NULL)
		presence->pairs[(*n)++] = (uint64_t) group << 32 | population->person[type];
	else
		presence->found[p][group] += population->rows[type];
}

/* A person counts once in each group. */
KanonStatus
presence_count_persons(KanonPresence *presence, int p, size_t n)
{
	if (n > 0)
		kanon_sort(presence->pairs, presence->spare, n, sizeof(uint64_t), kanon_compare_longs, NULL);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || presence->pairs[i] != presence->pairs[i - 1])
			presence->found[p][presence->pairs[i] >> 32]++;
	return kanon_stop(&presence->pace, n * 8) ? KANON_CANCELLED : KANON_OK;
}

/* Does a row type of a population match a class that was taken when an earlier pattern was counted? */
static bool
is_taken(KanonPresence *presence, int p, uint32_t type)
{
	uint32_t at = presence->at[p][type];

	presence->at[p][type] = at == IS_TAKEN || (at != NO_GROUP && presence->taken[at]) ? IS_TAKEN : NO_GROUP;
	return presence->at[p][type] == IS_TAKEN;
}

static KanonStatus
count_one(KanonPresence *presence, int p, const int *columns, const int *qis, int ncolumns)
{
	const KanonPopulation *population = &presence->problem->populations[p];
	bool in_turn = presence->at != NULL && population->person == NULL;
	uint32_t codes[KANON_MAX_COLUMNS];
	size_t n = 0;

	for (uint32_t type = 0; type < population->ntypes; type++)
	{
		uint32_t group;
		int i = 0;

		if (kanon_stop(&presence->pace, (uint64_t) ncolumns * 2 + 2))
			return KANON_CANCELLED;
		if (in_turn && is_taken(presence, p, type))
			continue;
		for (; i < ncolumns; i++)
		{
			codes[i] = population->code[columns[i]][type];
			if (codes[i] == KANON_FOREIGN)
				break;
		}
		if (i < ncolumns)
			continue;
		group = *find_slot(presence, columns, qis, ncolumns, codes);
		if (group != NO_GROUP)
			presence_found_type(presence, p, group, type, &n);
		if (in_turn)
			presence->at[p][type] = group;
	}
	return presence_count_persons(presence, p, n);
}

/* ---- shares ---- */

/* A group's value in a quasi-identifier; the column after its last: nothing. */
int
presence_shown_column(const KanonPresence *presence, int q, KanonPattern pattern)
{
	int c = presence->first[q];

	while (c < presence->first[q + 1] && kanon_has(pattern, c))
		c++;
	return c;
}

/* The share of the population that shows each cell, column by column. */
void
presence_add_portions(KanonPresence *presence, const KanonPopulation *population, ShownOf shown,
					  const void *arg)
{
	for (int q = 0; q < presence->nqis; q++)
	{
		int end = presence->first[q + 1];

		for (int c = presence->first[q]; c < end; c++)
			memset(presence->portion[c], 0, presence->problem->columns[c].distinct * sizeof(double));
		presence->hidden[q] = 1;
		for (uint32_t v = 0; v < population->nvalues[q]; v++)
		{
			int c = shown(presence, population, q, v, arg);

			if (c == end)
				continue;
			presence->portion[c][population->code[c][v]] += population->share[q][v];
			presence->hidden[q] = fmax(presence->hidden[q] - population->share[q][v], 0);
		}
	}
}

/* Under one pattern, given as the column that it shows of each quasi-identifier. */
static int
shown_by_pattern(const KanonPresence *presence, const KanonPopulation *population, int q, uint32_t value,
				 const void *arg)
{
	int c = ((const int *) arg)[q];

	return c < presence->first[q + 1] && population->code[c][value] != KANON_FOREIGN ? c
																					 : presence->first[q + 1];
}

KanonStatus
presence_match_groups(KanonPresence *presence, int p, const KanonPattern *pattern, bool one, uint32_t n)
{
	presence->others[p] = 1;
	for (uint32_t group = 0; group < n; group++)
	{
		KanonPattern here = pattern[one ? 0 : group];
		double match = 1;

		if (kanon_stop(&presence->pace, (uint64_t) presence->nqis * 2 + 2))
			return KANON_CANCELLED;
		for (int q = 0; q < presence->nqis; q++)
		{
			int c = presence_shown_column(presence, q, here);

			if (c < presence->first[q + 1])
				match *= presence->portion[c][code_of(presence, group, q, c)];
			else if (!one)
				match *= presence->hidden[q];
		}
		presence->match[p][group] = match;
	}
	return KANON_OK;
}

static KanonStatus
match_pattern(KanonPresence *presence, int p, KanonPattern pattern, uint32_t n)
{
	int shown[KANON_MAX_COLUMNS];

	for (int q = 0; q < presence->nqis; q++)
		shown[q] = presence_shown_column(presence, q, pattern);
	presence_add_portions(presence, &presence->problem->populations[p], shown_by_pattern, shown);
	return presence_match_groups(presence, p, &pattern, true, n);
}

KanonStatus
kanon_presence_count(KanonPresence *presence, KanonPattern pattern, uint32_t n)
{
	const KanonProblem *problem = presence->problem;
	int columns[KANON_MAX_COLUMNS], qis[KANON_MAX_COLUMNS];
	int ncolumns = finest_columns(problem, pattern, columns, qis);
	uint32_t codes[KANON_MAX_COLUMNS];
	KanonStatus status = KANON_OK;

	if (presence->scratch.failed)
		return KANON_NO_MEMORY;
	presence_empty_slots(presence, n);
	for (uint32_t group = 0; group < n; group++)
	{
		if (kanon_stop(&presence->pace, (uint64_t) ncolumns * 2 + 2))
			return KANON_CANCELLED;
		for (int i = 0; i < ncolumns; i++)
			codes[i] = code_of(presence, group, qis[i], columns[i]);
		*find_slot(presence, columns, qis, ncolumns, codes) = group;
	}
	for (int p = 0; p < problem->npopulations && status == KANON_OK; p++)
	{
		memset(presence->found[p], 0, n * sizeof(int64_t));
		if (presence->at == NULL)
			presence->rest[p] = problem->populations[p].total;
		status = problem->populations[p].nvalues == NULL ? count_one(presence, p, columns, qis, ncolumns)
														 : match_pattern(presence, p, pattern, n);
	}
	if (presence->at != NULL)
		memset(presence->taken, 0, n * sizeof(bool));
	return status;
}

/* ---- rules ---- */

/* So many rows of so many: is the chance within the bounds? */
static bool
presence_within(const KanonPopulation *population, int64_t rows, int64_t of)
{
	return (double) rows <= population->most * (double) of * (1 + 1e-12) &&
		   population->least * (double) of <= (double) rows * (1 + 1e-12);
}

/* Is the chance within the bounds, of so many rows of a class that a share matches? */
static bool
presence_is_likely(const KanonPopulation *population, int64_t table, int64_t rows, double match)
{
	return kanon_presence_likelihood(rows, population->total - table, match, population->least,
									 population->most) >= population->confidence * (1 - 1e-9);
}

bool
kanon_presence_monotone(const KanonProblem *problem)
{
	for (int p = 0; p < problem->npopulations; p++)
		if (problem->populations[p].nvalues != NULL)
			return false;
	return true;
}

bool
kanon_population_allows(const KanonProblem *problem, const KanonPopulation *population, int64_t table,
						int64_t rows, int64_t found, double match)
{
	return population->nvalues != NULL ? presence_is_likely(population, table, rows, match)
		   : population->map           ? found >= problem->k
									   : presence_within(population, rows, found);
}

bool
kanon_presence_allows(const KanonPresence *presence, uint32_t group, int64_t rows)
{
	for (int p = 0; presence != NULL && p < presence->problem->npopulations; p++)
		if (!kanon_population_allows(presence->problem, &presence->problem->populations[p], presence->table,
									 rows, presence->found[p][group],
									 presence->match != NULL ? presence->match[p][group] : 0))
			return false;
	return true;
}

void
kanon_presence_take(KanonPresence *presence, uint32_t group)
{
	if (presence != NULL && presence->at != NULL)
		presence->taken[group] = true;
	for (int p = 0; presence != NULL && p < presence->problem->npopulations; p++)
	{
		presence->rest[p] -= presence->found[p][group];
		if (presence->problem->populations[p].nvalues != NULL)
			presence->others[p] = fmax(presence->others[p] - presence->match[p][group], 0);
	}
}

bool
kanon_presence_rest(const KanonPresence *presence, int64_t rows)
{
	rows += presence != NULL ? presence->problem->pinned : 0;
	for (int p = 0; presence != NULL && p < presence->problem->npopulations; p++)
	{
		const KanonPopulation *population = &presence->problem->populations[p];

		/* in turn, too, k rows match the rest and nothing else, unless residual lets it be too few */
		if (population->map && presence->at != NULL && population->person == NULL &&
			presence->problem->residual != KANON_RESIDUAL_SUPPRESS && rows > 0 &&
			presence->rest[p] < presence->problem->k)
			return false;
		/* what shows nothing matches everybody, or all who match nothing else */
		if (population->nvalues != NULL
				? rows > 0 && !presence_is_likely(population, presence->table, rows, presence->others[p])
			: population->map ? rows > 0 && population->total < presence->problem->k
							  : !presence_within(population, rows, presence->rest[p]))
			return false;
	}
	return true;
}

KanonStatus
kanon_presence_by_turns(KanonPresence *presence)
{
	const KanonProblem *problem = presence->problem;
	KanonScratch *scratch = &presence->scratch;

	presence->taken = kanon_take0(scratch, problem->ntypes, sizeof(bool));
	presence->at = kanon_take0(scratch, (size_t) problem->npopulations, sizeof(uint32_t *));
	for (int p = 0; p < problem->npopulations && !scratch->failed; p++)
	{
		presence->at[p] = kanon_take(scratch, problem->populations[p].ntypes, sizeof(uint32_t));
		if (presence->at[p] != NULL)
			memset(presence->at[p], 0xff, problem->populations[p].ntypes * sizeof(uint32_t));
		presence->rest[p] = problem->populations[p].total;
	}
	return kanon_taken(scratch);
}

/* The memory that shares take beside. */
static void
take_shares(KanonPresence *presence)
{
	const KanonProblem *problem = presence->problem;
	KanonScratch *scratch = &presence->scratch;

	presence->table = problem->pinned;
	for (uint32_t type = 0; type < problem->ntypes; type++)
		presence->table += problem->rows[type];
	presence->match = kanon_take0(scratch, (size_t) problem->npopulations, sizeof(double *));
	presence->others = kanon_take0(scratch, (size_t) problem->npopulations, sizeof(double));
	for (int p = 0; p < problem->npopulations && !scratch->failed; p++)
		presence->match[p] = kanon_take(scratch, problem->ntypes, sizeof(double));
	for (int c = 0; c < problem->ncolumns; c++)
		presence->portion[c] = kanon_take(scratch, problem->columns[c].distinct, sizeof(double));
}

/* The memory that counting persons takes beside. */
static void
take_pairs(KanonPresence *presence)
{
	const KanonProblem *problem = presence->problem;
	size_t most = 0;

	for (int p = 0; p < problem->npopulations; p++)
		if (problem->populations[p].person != NULL && problem->populations[p].ntypes > most)
			most = problem->populations[p].ntypes;
	if (most == 0)
		return;
	presence->pairs = kanon_take(&presence->scratch, most, sizeof(uint64_t));
	presence->spare = kanon_take(&presence->scratch, most, sizeof(uint64_t));
}

/* The memory that counting for cuts takes beside. */
static void
take_cuts(KanonPresence *presence)
{
	const KanonProblem *problem = presence->problem;

	presence->shown =
		kanon_take(&presence->scratch, problem->ntypes, (size_t) presence->nqis * sizeof(uint64_t));
	for (int c = 0; c < problem->ncolumns; c++)
		presence->is_shown[c] = kanon_take(&presence->scratch, problem->columns[c].distinct, sizeof(bool));
}

KanonStatus
kanon_presence_open(const KanonProblem *problem, KanonPresence **result)
{
	KanonEnv *env = problem->env;
	size_t nslots = 16;
	KanonPresence *presence;

	*result = NULL;
	if (problem->npopulations == 0)
		return KANON_OK;
	presence = kanon_alloc0(env, 1, sizeof(KanonPresence));
	if (presence == NULL)
		return KANON_NO_MEMORY;
	while (nslots / 2 < (size_t) problem->ntypes + 1)
		nslots *= 2;
	presence->problem = problem;
	presence->scratch.env = env;
	presence->pace = kanon_pace(env, "population");
	presence->type = kanon_take(&presence->scratch, problem->ntypes, sizeof(uint32_t));
	presence->slots = kanon_take(&presence->scratch, nslots, sizeof(uint32_t));
	presence->rest = kanon_take(&presence->scratch, (size_t) problem->npopulations, sizeof(int64_t));
	presence->found = kanon_take0(&presence->scratch, (size_t) problem->npopulations, sizeof(int64_t *));
	for (int p = 0; p < problem->npopulations && !presence->scratch.failed; p++)
		presence->found[p] = kanon_take(&presence->scratch, problem->ntypes, sizeof(int64_t));
	presence->nqis = kanon_count_qis(problem);
	for (int q = 0; q <= presence->nqis; q++)
		presence->first[q] = kanon_first_column(problem, q);
	take_pairs(presence);
	if (problem->subtree != NULL)
		take_cuts(presence);
	if (!kanon_presence_monotone(problem))
		take_shares(presence);
	if (presence->scratch.failed)
	{
		kanon_presence_close(presence);
		return KANON_NO_MEMORY;
	}
	*result = presence;
	return KANON_OK;
}

void
kanon_presence_close(KanonPresence *presence)
{
	KanonEnv *env;

	if (presence == NULL)
		return;
	env = presence->problem->env;
	kanon_scratch_free(&presence->scratch);
	kanon_free(env, presence);
}

uint32_t *
kanon_presence_types(KanonPresence *presence)
{
	kanon_drop(&presence->scratch, presence->codes);
	presence->codes = NULL;
	return presence->type;
}

uint32_t *
kanon_presence_codes(KanonPresence *presence)
{
	if (presence->codes == NULL)
		presence->codes = kanon_take(&presence->scratch, presence->problem->ntypes,
									 (size_t) presence->nqis * sizeof(uint32_t));
	return presence->codes;
}

int64_t
kanon_presence_found(const KanonPresence *presence, int population, uint32_t group)
{
	return presence->found[population][group];
}

/*
 * ---- How probable it is that a class keeps bounds on presence when nobody has the
 * population: the binomial distribution.
 */

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
