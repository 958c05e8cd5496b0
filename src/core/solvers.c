/*
 * solvers.c: the table of pattern-guided solvers; one line each.
 */
#include <string.h>

#include "kanon.h"

const KanonSolver kanon_solvers[] = {
	{"greedy", kanon_solve_greedy},
	{"ilp", kanon_solve_ilp},
	{"improve", kanon_solve_improve},
	{"best", kanon_solve_best},
	{"fpt", kanon_solve_fpt},
	{NULL, NULL}
};

const KanonSolver *
kanon_solver_find(const char *name)
{
	for (const KanonSolver *solver = kanon_solvers; solver->name != NULL; solver++)
		if (strcmp(solver->name, name) == 0)
			return solver;
	return NULL;
}
