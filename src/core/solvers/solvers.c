/*
 * solvers.c: the table of pattern-guided solvers; one line each.
 */
#include <string.h>

#include "kanon.h"

const KanonSolver kanon_solvers[] = {{"greedy", kanon_solve_greedy, 0},
									 {"ilp", kanon_solve_ilp, 0},
									 {"improve", kanon_solve_improve, 0},
									 {"best", kanon_solve_best, 0},
									 {"fpt", kanon_solve_fpt, 0},
									 {"matching", kanon_solve_matching, 2},
									 {NULL, NULL, 0}};

const KanonSolver *
kanon_solver_find(const char *name)
{
	for (const KanonSolver *solver = kanon_solvers; solver->name != NULL; solver++)
		if (strcmp(solver->name, name) == 0)
			return solver;
	return NULL;
}
