/*
 * shared_problem.c: a problem in shared memory, for parallel workers.
 */
#include "compat.h"
#include "run/on_disk_types.h"

bool
problem_can_be_shared(const KanonProblem *problem)
{
	return problem->privacy == NULL && problem->nextra == 0 && problem->npopulations == 0 &&
		   problem->known == NULL;
}

/* A way through the problem's arrays, as they lie in shared memory one after the other. */
typedef struct Walk
{
	char *there; /* of the next array; NULL: only their size is asked for */
	bool copy;   /* it is put there; else it is found there */
	Size size;   /* of all so far */
} Walk;

static const void *
array(Walk *walk, const void *here, Size n, Size size)
{
	char *there = walk->there;

	size = mul_size(n, size);
	walk->size = add_size(walk->size, MAXALIGN(size));
	if (there == NULL)
		return here;
	walk->there += MAXALIGN(size);
	if (!walk->copy)
		return there;
	if (size > 0)
		memcpy(there, here, size);
	return here;
}

static void
arrays(Walk *walk, KanonProblem *problem, KanonColumn *columns)
{
	problem->columns = columns;
	problem->rows = array(walk, problem->rows, problem->ntypes, sizeof(int64));
	if (problem->mask.list != NULL)
		problem->mask.list = array(walk, problem->mask.list, problem->mask.nlist, sizeof(KanonPattern));
	problem->mask.rules = array(walk, problem->mask.rules, problem->mask.nrules, sizeof(KanonRule));
	for (int c = 0; c < problem->ncolumns; c++)
	{
		columns[c].code = array(walk, columns[c].code, problem->ntypes, sizeof(uint32));
		if (columns[c].number != NULL)
			columns[c].number = array(walk, columns[c].number, columns[c].distinct, sizeof(double));
	}
}

Size
shared_problem_size(const KanonProblem *problem)
{
	FoundProblem copy = {.problem = *problem};
	Walk walk = {0};

	memcpy(copy.columns, problem->columns, sizeof(KanonColumn) * problem->ncolumns);
	arrays(&walk, &copy.problem, copy.columns);
	return walk.size;
}

void
shared_problem_put(const KanonProblem *problem, SharedProblem *shared, char *there)
{
	FoundProblem copy = {.problem = *problem};
	Walk walk = {.there = there, .copy = true};

	memcpy(copy.columns, problem->columns, sizeof(KanonColumn) * problem->ncolumns);
	shared->problem = copy.problem;
	memcpy(shared->columns, copy.columns, sizeof(copy.columns));
	arrays(&walk, &copy.problem, copy.columns);
}

void
shared_problem_find(const SharedProblem *shared, char *there, Border *border, FoundProblem *found)
{
	Walk walk = {.there = there};

	found->problem = shared->problem;
	found->problem.env = &border->env;
	memcpy(found->columns, shared->columns, sizeof(found->columns));
	arrays(&walk, &found->problem, found->columns);
}
