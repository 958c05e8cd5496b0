/*
 * known_ilp.c: the fewest cells, by weight, that small tables must blank against somebody who knows few columns.
 *
 * A cell of a row type is blank or not.  Each row type has to lose a cell of each of its combinations that are rare
 * in the table: a hitting set, which GLPK solves as an integer program.  In its solution other combinations may have
 * become rare, since rows that had them show them no longer.  For each of these the program gets new lines: k rows
 * show it, or none does.  Then it is solved again, until nothing is rare.  Each program asks less than the whole
 * problem, so a solution that keeps the promise is the least of all.
 *
 * 	min  sum of weight * rows * blank(i, c)
 * 	     blank(i, c) over the columns of a rare combination of i                  >= 1
 * 	     shows(i) + blank(i, c) over its columns                                  >= 1    of a combination that
 * 	     shows(i) + blank(i, c) <= 1  for each of its columns; shows(i) <= any            k rows have
 * 	     sum of rows * shows(i) >= k * any
 * 	where persons count:  there(p) <= sum of shows(i) over the person's row types;  sum of there(p) >= k * any
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "known/known.h"
#include "util/linear_program.h"
#include "util/sort.h"

/* Combinations of row types that the program begins with, at most: each is a row of it. */
#define MOST_COVERS 20000

#ifdef HAVE_GLPK

/* GLPK is no more exact than that, by the cost. */
#define CLOSE 1e-7

/* A combination that is rare, and a row type that has it. */
typedef struct FoundRare
{
	uint32_t type;
	KanonListedSet set;
} FoundRare;

typedef struct Program
{
	const KanonProblem *problem;
	const KanonKnown *known;
	KanonPace pace;
	KanonScratch scratch;
	KanonShownCells cells;
	LinearProgram lp;
	FoundRare *found; /* [nfound] since the last solution */
	size_t nfound, room;
	bool each;     /* of each row type that has it; else of one */
	bool overflow; /* there are too many */
	int *column;   /* [ntypes * ncolumns] of the program; 0: the cell has no value */
	int *ind;      /* [most + 1] of a row of it */
	double *val;
	uint32_t *order; /* [ntypes] row types, those of a person together */
	int *own;        /* [ntypes + 2] of a row about a person */
	double *own_val;
	double upper; /* cost of the best release, */
	bool better;  /* which is the one in `cells` */
	double bound; /* none costs less */
	int64_t nodes;
	KanonStatus status;
} Program;

/* ---- what is rare ---- */

static void
note_rare(void *arg, const KanonRare *rare)
{
	Program *p = arg;
	FoundRare found = {.set.ncolumns = (uint8_t) rare->ncolumns};

	for (int i = 0; i < rare->ncolumns; i++)
		found.set.column[i] = (uint8_t) rare->column[i];
	for (uint32_t i = 0; i < (p->each ? rare->ntypes : 1) && !p->overflow; i++)
	{
		found.type = rare->type[i];
		p->overflow = p->nfound == MOST_COVERS;
		if (p->overflow)
			return;
		if (!KANON_GROW(&p->scratch, &p->room, p->nfound + 1, KANON_ARRAY(p->found)))
		{
			p->status = KANON_NO_MEMORY;
			return;
		}
		p->found[p->nfound++] = found;
	}
}

static KanonStatus
find_rare(Program *p, bool each)
{
	KanonProblem problem = *p->problem;
	KanonKnown known = *p->known;
	KanonStatus status;

	problem.time_limit = INFINITY;
	known.missing = KANON_MISSING_VALUE; /* cells without one are blank */
	known.blank = (const uint64_t *const *) p->cells.blank;
	p->each = each;
	p->nfound = 0;
	status = kanon_rare_find(&problem, &known, note_rare, p);
	return status == KANON_OK ? p->status : status;
}

/* ---- the program ---- */

static int
cell(const Program *p, uint32_t type, int c)
{
	return p->column[(size_t) type * (size_t) p->problem->ncolumns + (size_t) c];
}

static void
add_cells(Program *p)
{
	for (uint32_t i = 0; i < p->problem->ntypes; i++)
		for (int c = 0; c < p->problem->ncolumns; c++)
		{
			int column;

			if (kanon_cells_is_blank(&p->cells, i, c))
				continue;
			column = lp_add_columns(&p->lp, 1);
			lp_bound_column(&p->lp, column, 0, 1);
			lp_set_whole(&p->lp, column);
			lp_set_cost(&p->lp, column, p->problem->columns[c].weight * (double) p->problem->rows[i]);
			p->column[(size_t) i * (size_t) p->problem->ncolumns + (size_t) c] = column;
		}
}

/* A row of n entries. */
static void
add_row(Program *p, int n, double low, double high)
{
	int row = lp_add_rows(&p->lp, 1);

	lp_bound_row(&p->lp, row, low, high);
	lp_set_row(&p->lp, row, n, p->ind, p->val);
}

/* The cells of a combination, from the n-th entry on. */
static int
put_cells(Program *p, uint32_t type, const KanonListedSet *set, int n)
{
	for (int i = 0; i < set->ncolumns; i++)
	{
		p->ind[++n] = cell(p, type, set->column[i]);
		p->val[n] = 1;
	}
	return n;
}

static int
add_share(Program *p)
{
	int column = lp_add_columns(&p->lp, 1);

	lp_bound_column(&p->lp, column, 0, 1);
	return column;
}

static bool
has_it(const Program *p, const FoundRare *found, uint32_t other)
{
	const KanonColumn *columns = p->problem->columns;

	for (int i = 0; i < found->set.ncolumns; i++)
	{
		int c = found->set.column[i];

		if (cell(p, other, c) == 0 || columns[c].code[other] != columns[c].code[found->type])
			return false;
	}
	return true;
}

/* A person shows it whose rows do. */
static void
add_person(Program *p, int n)
{
	int row;

	if (n == 0)
		return;
	row = lp_add_rows(&p->lp, 1);
	lp_bound_row(&p->lp, row, -INFINITY, 0);
	lp_set_row(&p->lp, row, n, p->own, p->own_val);
}

/* k rows (or persons) show it, or none. */
static void
add_choice(Program *p, const FoundRare *found, int64_t k)
{
	int any = add_share(p), sum = lp_add_rows(&p->lp, 1), members = 0;
	int *ind = p->ind + p->problem->ncolumns + 3;
	double *val = p->val + p->problem->ncolumns + 3;
	const uint32_t *person = p->known->person;
	uint32_t last = UINT32_MAX;
	int nown = 0;

	for (uint32_t at = 0; at < p->problem->ntypes; at++)
	{
		uint32_t i = p->order[at];
		int shows;

		if (!has_it(p, found, i))
			continue;
		shows = add_share(p);
		if (person == NULL || person[i] != last)
		{
			add_person(p, nown);
			nown = person == NULL ? 0 : 1;
			ind[++members] = person == NULL ? shows : add_share(p);
			val[members] = person == NULL ? (double) p->problem->rows[i] : 1;
			p->own[1] = ind[members];
			p->own_val[1] = 1;
			last = person == NULL ? last : person[i];
		}
		if (person != NULL)
		{
			p->own[++nown] = shows;
			p->own_val[nown] = -1;
		}
		p->ind[1] = shows;
		p->val[1] = 1;
		add_row(p, put_cells(p, i, &found->set, 1), 1, INFINITY);
		p->val[2] = 1;
		for (int c = 0; c < found->set.ncolumns; c++)
		{
			p->ind[2] = cell(p, i, found->set.column[c]);
			add_row(p, 2, -INFINITY, 1);
		}
		p->ind[2] = any;
		p->val[2] = -1;
		add_row(p, 2, -INFINITY, 0);
	}
	add_person(p, nown);
	ind[++members] = any;
	val[members] = -(double) k;
	lp_bound_row(&p->lp, sum, 0, INFINITY);
	lp_set_row(&p->lp, sum, members, ind, val);
}

static void
add_found(Program *p, bool first)
{
	for (size_t i = 0; i < p->nfound; i++)
	{
		const FoundRare *found = &p->found[i];
		KanonPattern columns = KANON_NONE;

		for (int c = 0; c < found->set.ncolumns; c++)
			kanon_add(&columns, found->set.column[c]);
		if (first)
			add_row(p, put_cells(p, found->type, &found->set, 0), 1, INFINITY);
		else
			add_choice(p, found, kanon_known_k(p->known, columns));
	}
}

/* ---- its solution ---- */

static bool
is_enough(const Program *p)
{
	return p->bound >= p->upper - CLOSE * (1 + p->upper);
}

static void
on_tree(void *arg, LpEvent event)
{
	Program *p = arg;

	if (kanon_step(&p->pace, KANON_STEPS / 8))
		p->lp.cancelled = true;
	p->bound = fmax(p->bound, fmin(p->upper, p->lp.bound));
	if (event == LP_SELECT)
		p->nodes++;
	if (lp_is_spent(&p->lp) || p->lp.cancelled || p->pace.late || is_enough(p))
		lp_stop(&p->lp);
}

/* The cells of GLPK's solution. */
static void
take_cells(Program *p)
{
	for (uint32_t i = 0; i < p->problem->ntypes; i++)
		for (int c = 0; c < p->problem->ncolumns; c++)
		{
			int column = cell(p, i, c);

			if (column == 0)
				continue;
			if (lp_whole_value(&p->lp, column) > 0.5)
				kanon_cells_blank(&p->cells, i, c);
			else
				kanon_cells_show(&p->cells, i, c);
		}
}

/* The least of the program as it is; *found: it costs less than the best release. */
static KanonStatus
solve_program(Program *p, bool *found)
{
	const LpSearch search = {
		.rounding_cuts = true, .cover_cuts = true, .same = LP_SAME, .at = on_tree, .arg = p};
	bool complete;
	KanonStatus status = lp_relax(&p->lp, LP_PRIMAL);

	*found = false;
	if (status != KANON_OK || p->pace.late)
		return status;
	p->bound = fmax(p->bound, fmin(p->upper, lp_cost(&p->lp) - CLOSE * (1 + p->upper)));
	status = lp_branch(&p->lp, &search, &complete);
	if (status != KANON_OK || !complete || !lp_found(&p->lp))
		return status;
	p->bound = fmax(p->bound, fmin(p->upper, lp_whole_cost(&p->lp) - CLOSE * (1 + p->upper)));
	*found = lp_whole_cost(&p->lp) < p->upper - CLOSE * (1 + p->upper);
	if (*found)
		take_cells(p);
	else
		p->bound = p->upper;
	return KANON_OK;
}

static KanonStatus
solve(void *arg)
{
	Program *p = arg;
	bool found = true;

	add_cells(p);
	add_found(p, true);
	for (;;)
	{
		KanonStatus status = solve_program(p, &found);

		if (status != KANON_OK || !found || p->pace.late)
			return status;
		status = find_rare(p, false);
		if (status != KANON_OK || p->overflow)
			return status;
		if (p->nfound == 0)
		{
			p->better = true;
			p->upper = p->bound = lp_whole_cost(&p->lp);
			return KANON_OK;
		}
		add_found(p, false);
	}
}

static KanonStatus
sort_types(Program *p)
{
	uint32_t n = p->problem->ntypes;
	KanonKeyed *sorted = kanon_take(&p->scratch, 2 * (size_t) n, sizeof(KanonKeyed));

	if (sorted == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] =
			(KanonKeyed){.key = p->known->person != NULL ? (double) p->known->person[i] : 0, .item = i};
	kanon_sort(sorted, sorted + n, n, sizeof(KanonKeyed), kanon_compare_keyed, NULL);
	for (uint32_t i = 0; i < n; i++)
		p->order[i] = sorted[i].item;
	kanon_drop(&p->scratch, sorted);
	return KANON_OK;
}

static KanonStatus
open_program(Program *p)
{
	const KanonProblem *problem = p->problem;
	size_t most = (size_t) problem->ncolumns + problem->ntypes + 6;
	KanonStatus status;

	p->scratch.env = problem->env;
	p->cells = (KanonShownCells){.problem = problem, .scratch = &p->scratch, .pace = &p->pace};
	status = kanon_cells_open(&p->cells);
	p->column = kanon_take0(&p->scratch, problem->ntypes, (size_t) problem->ncolumns * sizeof(int));
	p->ind = kanon_take(&p->scratch, most + (size_t) problem->ncolumns, sizeof(int));
	p->val = kanon_take(&p->scratch, most + (size_t) problem->ncolumns, sizeof(double));
	p->own = kanon_take(&p->scratch, (size_t) problem->ntypes + 2, sizeof(int));
	p->own_val = kanon_take(&p->scratch, (size_t) problem->ntypes + 2, sizeof(double));
	p->order = kanon_take(&p->scratch, problem->ntypes, sizeof(uint32_t));
	if (status == KANON_OK)
		status = kanon_taken(&p->scratch);
	if (status == KANON_OK)
		status = sort_types(p);
	return status == KANON_OK ? find_rare(p, true) : status;
}

/* The release of the program instead of greedy's. */
static KanonStatus
take_better(Program *p, KanonRelease *release, KanonReport *report)
{
	kanon_release_free(p->problem, release);
	return kanon_known_release(&p->cells, NULL, release, report);
}

KanonStatus
kanon_solve_known_ilp(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonKnown known;
	Program p = {.problem = problem, .known = &known};
	KanonStatus status;

	kanon_pace_limit(&p.pace, problem, "ilp");
	status = kanon_solve_known_greedy(problem, release, report);
	if (status != KANON_OK || problem->ntypes == 0)
		return status;
	known = *problem->known;
	known.k = problem->k;
	p.upper = report->cost;
	status = open_program(&p);
	if (status == KANON_OK && p.overflow)
	{
		snprintf(report->detail, sizeof(report->detail),
				 "the table has more than %d rare combinations of row types, ilp takes no more", MOST_COVERS);
		status = KANON_TOO_LARGE;
	}
	if (status == KANON_OK)
		status = lp_run(&p.lp, &p.pace, solve, &p);
	if (status == KANON_BROKEN)
		snprintf(report->detail, sizeof(report->detail), "GLPK: %s", p.lp.text);
	if (status == KANON_OK && p.better)
		status = take_better(&p, release, report);
	report->lower_bound = p.bound;
	report->proven = status == KANON_OK && is_enough(&p);
	report->nodes = p.nodes;
	report->stopped = false; /* that it is not proven says as much */
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	kanon_scratch_free(&p.scratch);
	return status;
}

#else /* HAVE_GLPK */

KanonStatus
kanon_solve_known_ilp(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	(void) problem;
	memset(release, 0, sizeof(*release));
	*report = (KanonReport){.lower_bound = -INFINITY};
	snprintf(report->detail, sizeof(report->detail), "built without GLPK");
	return KANON_UNAVAILABLE;
}

#endif /* HAVE_GLPK */
