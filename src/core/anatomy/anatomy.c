/*
 * anatomy.c: the partition of Anatomize (Xiao, Tao, "Anatomy", VLDB 2006), dealt out
 * instead of drawn from buckets.
 *
 * The paper takes a row from each of the l fullest buckets until fewer than l are left,
 * then finds a group for each residue.  The same comes about, without a queue and without
 * residues, when the rows are laid in the order of their values and dealt to G =
 * floor(n / l) groups like cards: no value has more than n / l rows, so none comes to a
 * group twice, and each group gets n / G >= l rows.  Groups differ in size by one at most.
 *
 * The paper's measure is the reconstruction error: over all groups, rows less the sum of
 * c^2 / s (a value has c of a group's s rows).  Here every c is 1 and it is n - G.  That is
 * the least there is: c <= floor(s / l) in any group that keeps l, so a group's sum is
 * at most floor(s / l), and all of them at most floor(n / l).
 */
#include "anatomy/anatomy.h"
#include "util/pace.h"

/* Each order of n numbers is as likely as any other. */
static bool
shuffle(const KanonAnatomyProblem *problem, KanonPace *pace, uint32_t *numbers, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--)
	{
		uint32_t other = (uint32_t) (problem->draw(problem->arg) % i);
		uint32_t swap = numbers[i - 1];

		numbers[i - 1] = numbers[other];
		numbers[other] = swap;
		if (kanon_stop(pace, 8))
			return false;
	}
	return true;
}

/* Places of all values, and whether none has too many rows. */
static KanonStatus
lay_out(const KanonAnatomyProblem *problem, KanonAnatomy *anatomy)
{
	uint32_t most = 0;

	for (uint32_t v = 0; v < problem->nvalues; v++)
	{
		uint32_t rows = (uint32_t) problem->rows[v];

		anatomy->start[v] = anatomy->nrows;
		anatomy->nrows += rows;
		if (rows > most)
			most = rows;
	}
	anatomy->start[problem->nvalues] = anatomy->nrows;
	anatomy->ngroups = (uint32_t) (anatomy->nrows / problem->l);
	anatomy->error = (double) anatomy->nrows - anatomy->ngroups;
	return most > anatomy->ngroups ? KANON_INFEASIBLE : KANON_OK;
}

/*
 * Deals the rows.  The groups of one value are shuffled again: dealt in the order in
 * which groups lie, the first row of a value would be with the first of another.
 */
static bool
deal(const KanonAnatomyProblem *problem, KanonPace *pace, KanonAnatomy *anatomy, uint32_t *number)
{
	uint32_t next = 0;

	for (uint32_t g = 0; g < anatomy->ngroups; g++)
		number[g] = g;
	if (!shuffle(problem, pace, number, anatomy->ngroups))
		return false;
	for (uint32_t v = 0; v < problem->nvalues; v++)
	{
		for (uint32_t i = anatomy->start[v]; i < anatomy->start[v + 1]; i++)
		{
			anatomy->group[i] = number[next];
			next = next + 1 < anatomy->ngroups ? next + 1 : 0;
		}
		if (!shuffle(problem, pace, anatomy->group + anatomy->start[v],
					 anatomy->start[v + 1] - anatomy->start[v]))
			return false;
	}
	return true;
}

/* The values of each group: a counting sort; `next` is where the next one of a group goes. */
static bool
collect(const KanonAnatomyProblem *problem, KanonPace *pace, KanonAnatomy *anatomy, uint32_t *next)
{
	for (uint32_t i = 0; i < anatomy->nrows; i++)
		anatomy->first[anatomy->group[i] + 1]++;
	for (uint32_t g = 0; g < anatomy->ngroups; g++)
	{
		anatomy->first[g + 1] += anatomy->first[g];
		next[g] = anatomy->first[g];
	}
	for (uint32_t v = 0; v < problem->nvalues; v++)
	{
		for (uint32_t i = anatomy->start[v]; i < anatomy->start[v + 1]; i++)
			anatomy->value[next[anatomy->group[i]]++] = v;
		if (kanon_stop(pace, 4 * (uint64_t) (anatomy->start[v + 1] - anatomy->start[v])))
			return false;
	}
	return true;
}

KanonStatus
kanon_anatomize(const KanonAnatomyProblem *problem, KanonAnatomy *anatomy)
{
	KanonEnv *env = problem->env;
	KanonPace pace = kanon_pace(env, "solve");
	uint32_t *number;
	KanonStatus status;

	*anatomy = (KanonAnatomy){0};
	anatomy->start = kanon_alloc(env, (size_t) problem->nvalues + 1, sizeof(uint32_t));
	if (anatomy->start == NULL)
		return KANON_NO_MEMORY;
	status = lay_out(problem, anatomy);
	if (status != KANON_OK)
		return status;
	anatomy->group = kanon_alloc(env, anatomy->nrows, sizeof(uint32_t));
	anatomy->value = kanon_alloc(env, anatomy->nrows, sizeof(uint32_t));
	anatomy->first = kanon_alloc0(env, (size_t) anatomy->ngroups + 1, sizeof(uint32_t));
	number = kanon_alloc(env, anatomy->ngroups, sizeof(uint32_t));
	if (anatomy->group == NULL || anatomy->value == NULL || anatomy->first == NULL || number == NULL)
		status = KANON_NO_MEMORY;
	else if (kanon_poll(&pace) || !deal(problem, &pace, anatomy, number) ||
			 !collect(problem, &pace, anatomy, number))
		status = KANON_CANCELLED;
	kanon_free(env, number);
	return status;
}

void
kanon_anatomy_free(KanonEnv *env, KanonAnatomy *anatomy)
{
	kanon_free(env, anatomy->start);
	kanon_free(env, anatomy->group);
	kanon_free(env, anatomy->first);
	kanon_free(env, anatomy->value);
	*anatomy = (KanonAnatomy){0};
}
