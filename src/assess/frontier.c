/*
 * frontier.c: one problem solved for many ks, which are shared out among parallel
 * workers.
 *
 * Each k is solved as it would be alone, so it does not matter who does it; greedy's groups of a smaller k help with
 * a larger one.  The problem is copied to shared memory once; what a process solves next is the next k that nobody
 * has taken.
 */
#include "compat.h"
#include "assess/assess.h"
#include "core/pattern/greedy/found.h"
#include "host/lines.h"
#include "host/pool.h"
#include "run/on_disk_types.h"
#include "options/request.h"
#include "run/run.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/qunique.h"

#define METHOD_LENGTH 64

/* In shared memory, a solution that its worker has finished. */
typedef struct SharedSolution
{
	bool done;
	Solution solution;
} SharedSolution;

/* The shared memory; the arrays of the problem follow. */
typedef struct Shared
{
	SharedProblem problem;
	char method[METHOD_LENGTH];
	PoolTasks tasks;
	SharedSolution solutions[FLEXIBLE_ARRAY_MEMBER]; /* [tasks.n] */
} Shared;

/* A process's share of the work. */
typedef struct Many
{
	Border *border;
	Shared *shared;
	FoundProblem found;
	KanonSolve solve;
	KanonFound *groups;
} Many;

/* The ks share so much of the memory for their groups. */
#define SHARED_PART 4

/* Groups that are found for one k and help with the next: none yet. */
static KanonFound
nothing_found(const Border *border, const KanonProblem *problem)
{
	Size used = border_used(border);

	return (KanonFound){.problem = problem,
						.room = used < border->limit ? (border->limit - used) / SHARED_PART : 0};
}

static void
share_groups(KanonFound *groups, KanonProblem *problem, bool more)
{
	groups->problem = groups->problem != NULL ? problem : NULL;
	groups->more = more && groups->problem != NULL;
	problem->found = groups;
}

/* One k in a worker.  Raises unless there is a release, none, or no memory for it. */
static KanonStatus
solve_one(Border *border, const KanonProblem *problem, KanonSolve solve, Solution *solution)
{
	KanonRelease release = {0};
	KanonReport report = {0};
	KanonMeasures measures;
	KanonStatus status;
	instr_time start, end;

	*solution = (Solution){.k = problem->k, .figures = figures_none()};
	INSTR_TIME_SET_CURRENT(start);
	status = solve(problem, &release, &report);
	if (status == KANON_OK)
		status = kanon_measure(problem, &release, &measures, NULL);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	solution->ms = INSTR_TIME_GET_MILLISEC(end);
	if (status == KANON_OK)
	{
		solution->found = true;
		solution->figures = figures_of(problem, &release, &report, &measures);
	}
	kanon_release_free(problem, &release);
	switch (status)
	{
		case KANON_OK:
		case KANON_RESIDUAL:
		case KANON_REST_FORBIDDEN:
		case KANON_INFEASIBLE:
		case KANON_NOT_FOUND:
		case KANON_NO_MEMORY:
			break;
		case KANON_CANCELLED:
		case KANON_TOO_LARGE:
		case KANON_UNAVAILABLE:
		case KANON_UNSUPPORTED:
		case KANON_BROKEN:
			border_check(border, status, report.detail);
	}
	return status;
}

static void
solve_here(Run *run, Solution *solution)
{
	instr_time start, end;

	INSTR_TIME_SET_CURRENT(start);
	solution->found = run_solve_for(run, solution->k, &solution->figures);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	solution->ms = INSTR_TIME_GET_MILLISEC(end);
}

static void
solve_round(void *state)
{
	Many *many = state;
	uint32 i;

	while (pool_task(&many->shared->tasks, &i))
	{
		SharedSolution *mine = &many->shared->solutions[i];

		many->found.problem.k = mine->solution.k;
		share_groups(many->groups, &many->found.problem, i + 1 < many->shared->tasks.n);
		/* what lacks memory here may have it alone */
		mine->done =
			solve_one(many->border, &many->found.problem, many->solve, &mine->solution) != KANON_NO_MEMORY;
	}
}

static void *
open_worker(Border *border, void *block, int member)
{
	Many *many = MemoryContextAllocZero(border->context, sizeof(Many));
	Shared *shared = block;

	many->border = border;
	many->shared = shared;
	shared_problem_find(&shared->problem, (char *) &shared->solutions[shared->tasks.n], border, &many->found);
	many->solve = kanon_method_find(KANON_PATTERN_GUIDED, shared->method)->solve;
	many->groups = MemoryContextAllocZero(border->context, sizeof(KanonFound));
	*many->groups = nothing_found(border, &many->found.problem);
	return many;
}

static const PoolWork solving = {"kanon_frontier_worker", "kanon_frontier, parallel worker", open_worker,
								 solve_round};

void
kanon_frontier_worker(dsm_segment *segment, shm_toc *toc)
{
	pool_worker(toc, &solving);
}

/* Solves with workers; solutions that none could finish stay as they are. */
static void
solve_parallel(Run *run, int workers, Solution *solutions, int nks, bool *done, KanonFound *groups)
{
	Size head = offsetof(Shared, solutions) + sizeof(SharedSolution) * nks;
	Many many = {.border = run->border,
				 .found = {.problem = run->problem},
				 .solve = run->request->solve,
				 .groups = groups};
	Pool *pool = pool_create(&solving, run->request->caller, run->border,
							 add_size(head, shared_problem_size(&run->problem)), workers, false);

	if (pool == NULL)
		return;
	ereport(DEBUG1,
			(errmsg_internal("kanon_frontier: %d parallel workers for %d ks", pool_workers(pool), nks)));
	many.shared = pool_block(pool);
	memset(many.shared, 0, head);
	shared_problem_put(&run->problem, &many.shared->problem, (char *) many.shared + head);
	strlcpy(many.shared->method, run->request->method, METHOD_LENGTH);
	pool_tasks_init(&many.shared->tasks, nks);
	for (int i = 0; i < nks; i++)
		many.shared->solutions[i].solution.k = solutions[i].k;

	pool_round(pool, &many);
	for (int i = 0; i < nks; i++)
	{
		done[i] = many.shared->solutions[i].done;
		if (done[i])
			solutions[i] = many.shared->solutions[i].solution;
	}
	pool_end(pool);
}

/* Can workers be given all there is to know?  A problem with anything else stays in this process. */
static bool
is_known(const Run *run)
{
	return run->request->model == &pattern_guided_model && run->request->solve_run == NULL &&
		   problem_can_be_shared(&run->problem) && strlen(run->request->method) < METHOD_LENGTH;
}

static void
solve_all(Run *run, Solution *solutions, int n)
{
	bool *done = palloc0(sizeof(bool) * n);
	int fit = is_known(run) ? n : 0;
	int workers;
	KanonFound groups = nothing_found(run->border, &run->problem);

	/* the smallest k tells how long the others will take */
	share_groups(&groups, &run->problem, n > 1);
	solve_here(run, &solutions[0]);
	while (fit > 1 && solutions[fit - 1].k > run->types->nrows)
		fit--;
	workers = fit > 1 ? pool_wanted(solutions[0].ms * (fit - 1), fit - 1) : 0;
	if (workers > 0)
		solve_parallel(run, workers, solutions + 1, fit - 1, done + 1, &groups);
	for (int i = 1; i < n; i++)
		if (!done[i])
		{
			share_groups(&groups, &run->problem, i + 1 < n);
			solve_here(run, &solutions[i]);
		}
	run->problem.found = NULL;
	kanon_found_free(&run->border->env, &groups);
}

void
frontier_solve(Frontier *frontier, Request *request)
{
	Run *run;

	/* whatever is wrong with one of them is told before any work is done */
	for (int i = 1; i < frontier->n; i++)
		request_take_k(request, frontier->solutions[i].k);
	for (int i = 0; i < frontier->n; i++)
		request->most_k = Max(request->most_k, frontier->solutions[i].k);
	request->k = 0;
	run = run_read(request);
	solve_all(run, frontier->solutions, frontier->n);
	run_end(run);
}

/* ---- the ks ---- */

static int
compare_ks(const void *a, const void *b)
{
	int64 left = *(const int64 *) a;
	int64 right = *(const int64 *) b;

	return left < right ? -1 : left > right;
}

/* In the order in which they stand. */
static int64 *
read_ks(ArrayType *array, const char *name, int *count)
{
	static const char *const hint = "Name the ks to compare, such as '{2,5,10,20}'.";
	Datum *elements;
	bool *nulls;
	int64 *ks;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("%s must be a one-dimensional list", name), errhint("%s", hint)));
	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements, &nulls,
					  count);
	if (*count == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must not be empty", name),
						errhint("%s", hint)));
	ks = palloc(sizeof(int64) * *count);
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not contain NULL", name),
							errhint("%s", hint)));
		ks[i] = DatumGetInt64(elements[i]);
		/* (of most methods at least 2, which they say) */
		refuse_small_k(ks[i], 1, hint);
	}
	return ks;
}

void
frontier_check(ArrayType *ks, const char *name)
{
	int count;

	pfree(read_ks(ks, name, &count));
}

Frontier *
frontier_of(ArrayType *array)
{
	Frontier *frontier = palloc0(sizeof(Frontier));
	int count;
	int64 *ks = read_ks(array, "ks", &count);
	bool sorted = true;

	for (int i = 1; i < count; i++)
		sorted &= ks[i - 1] < ks[i];
	if (!sorted)
	{
		qsort(ks, count, sizeof(int64), compare_ks);
		count = (int) qunique(ks, count, sizeof(int64), compare_ks);
		ereport(NOTICE, (errmsg("the ks are sorted, and each is tried once")));
	}
	frontier->n = count;
	frontier->solutions = palloc0(sizeof(Solution) * count);
	for (int i = 0; i < count; i++)
		frontier->solutions[i].k = ks[i];
	return frontier;
}

/* ---- lines ---- */

static const Oid types[FRONTIER_COLUMNS] = {INT8OID,   INT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID,
											INT8OID,   INT8OID, FLOAT8OID, INT8OID,   INT8OID,
											FLOAT8OID, BOOLOID, FLOAT8OID};

/* Figures are NULL where there is no release, and where its like has none. */
void
frontier_line(const Frontier *frontier, int i, Datum *values, bool *nulls)
{
	const Solution *solution = &frontier->solutions[i];
	const Figures *figures = &solution->figures;
	const Datum all[] = {Int64GetDatum(solution->k),          Int64GetDatum(figures->suppressed_cells),
						 Float8GetDatum(figures->suppressed), Float8GetDatum(figures->usefulness),
						 Float8GetDatum(figures->gcp),        Int64GetDatum(figures->classes),
						 Int64GetDatum(figures->class_min),   Float8GetDatum(figures->class_avg),
						 Int64GetDatum(figures->class_max),   Int64GetDatum(figures->residual),
						 Float8GetDatum(figures->cost),       BoolGetDatum(figures->proven),
						 Float8GetDatum(solution->ms)};

	for (int c = 0; c < FRONTIER_COLUMNS; c++)
	{
		values[c] = all[c];
		nulls[c] = types[c] == INT8OID     ? DatumGetInt64(all[c]) < 0
				   : types[c] == FLOAT8OID ? isnan(DatumGetFloat8(all[c]))
										   : !solution->found || figures->classes == 0;
	}
}

/* ---- kanon_frontier: what each of several ks would cost ---- */

PG_FUNCTION_INFO_V1(kanon_frontier);

#define ARG_KS 2

/* kanon_frontier(source, quasi_identifiers, ks, TAKES_DRY) */
Datum
kanon_frontier(PG_FUNCTION_ARGS)
{
	Lines *lines;
	Datum values[FRONTIER_COLUMNS];
	bool nulls[FRONTIER_COLUMNS];
	Request request;
	Frontier *frontier;

	refuse_null(fcinfo, ARG_KS, "ks", "Name the ks to compare, such as '{2,5,10,20}'.");
	frontier = frontier_of(PG_GETARG_ARRAYTYPE_P(ARG_KS));
	lines = lines_begin(fcinfo);
	request_of_dry_call(&request, fcinfo, "kanon_frontier", TAKES_DRY, frontier->solutions[0].k);
	frontier_solve(frontier, &request);
	for (int i = 0; i < frontier->n; i++)
	{
		frontier_line(frontier, i, values, nulls);
		for (int c = 0; c < FRONTIER_COLUMNS; c++)
			line_value(lines, values[c], !nulls[c]);
		line_end(lines);
	}
	return (Datum) 0;
}
