/*
 * solvers.c: the table of pattern-guided solvers; one line each.
 */
#include <string.h>

#include "privacy/rules.h"

#define ALL_RULES                                                                         \
	(((1u << KANON_PRIVACY_KINDS) - 1) | KANON_TAKES_K_MAP | KANON_TAKES_DELTA_PRESENCE | \
	 KANON_TAKES_PRESENCE)

const KanonSolver kanon_solvers[] = {{"greedy", kanon_solve_greedy, ALL_RULES, 0},
									 {"ilp", kanon_solve_ilp, ALL_RULES, 0},
									 {"improve", kanon_solve_improve, ALL_RULES, 0},
									 {"best", kanon_solve_best, ALL_RULES, 0},
									 {"fpt", kanon_solve_fpt, ALL_RULES, 0},
									 {"matching", kanon_solve_matching, ALL_RULES, 2},
									 {NULL, NULL, ALL_RULES, 0}};

const KanonSolver *
kanon_solver_find(const char *name)
{
	for (const KanonSolver *solver = kanon_solvers; solver->name != NULL; solver++)
		if (strcmp(solver->name, name) == 0)
			return solver;
	return NULL;
}
