/*
 * many.c: one problem solved for many ks, the ks shared out among parallel
 * workers.
 *
 * Each k is solved as it would be alone, so it does not matter who does it.  The
 * problem is copied to shared memory once; what a process solves next is the
 * next k that nobody has taken.
 */
#include "compat.h"
#include "run/many.h"
#include "host/library.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "port/atomics.h"

/*
 * To start workers takes some milliseconds: less work than this is not shared.
 * It goes with what the planner takes for the cost of it.
 */
#define LEAST_WORK_MS (40.0 * parallel_setup_cost / DEFAULT_PARALLEL_SETUP_COST)

/*
 * More is not copied: shared memory can be short (64 MB in a container), and
 * that shows only when it fails.
 */
#define MOST_SHARED ((Size) 16 * 1024 * 1024)

#define METHOD_LENGTH 64

/* Keys of what lies in shared memory. */
enum
{
	KEY_SHARED = 1,
	KEY_COLUMNS,
	KEY_CODES,
	KEY_NUMBERS,
	KEY_ROWS,
	KEY_LIST,
	KEY_RULES,
	KEY_KS,
	KEY_SOLUTIONS
};

typedef struct Shared
{
	KanonProblem problem; /* its pointers mean nothing there */
	char method[METHOD_LENGTH];
	Size limit; /* bytes that each process may take */
	int nks;
	pg_atomic_uint32 next; /* the first k that nobody has taken */
} Shared;

/* In shared memory, a solution that its worker has finished. */
typedef struct SharedSolution
{
	bool done;
	Solution solution;
} SharedSolution;

static int64
residual_rows(const KanonProblem *problem, const KanonRelease *release)
{
	const KanonClass *last;

	if (release->nclasses == 0)
		return release->dropped;
	last = &release->classes[release->nclasses - 1];
	return release->dropped +
		   (last->pattern == kanon_pattern_all(problem->ncolumns) && last->rows < problem->k ? last->rows
																							 : 0);
}

/* One k.  Raises unless there is a release, none, or no memory for it. */
static KanonStatus
solve_one(Border *border, const KanonProblem *problem, KanonSolve solve, Solution *solution)
{
	KanonRelease release = {0};
	KanonReport report = {0};
	KanonStatus status;
	instr_time start, end;

	memset(solution, 0, sizeof(*solution));
	INSTR_TIME_SET_CURRENT(start);
	status = solve(problem, &release, &report);
	if (status == KANON_OK)
		status = kanon_measure(problem, &release, &solution->measures, NULL);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	solution->ms = INSTR_TIME_GET_MILLISEC(end);
	if (status == KANON_OK)
	{
		solution->found = true;
		solution->nclasses = release.nclasses;
		solution->residual = residual_rows(problem, &release);
		solution->cost = report.cost;
		solution->proven = report.proven;
	}
	kanon_release_free(problem, &release);
	switch (status)
	{
		case KANON_OK:
		case KANON_RESIDUAL:
		case KANON_INFEASIBLE:
		case KANON_NOT_FOUND:
		case KANON_NO_MEMORY:
			break;
		default:
			border_check(border, status, report.detail);
	}
	return status;
}

static void
solve_here(Run *run, int64 k, Solution *solution)
{
	KanonProblem problem = run->problem;

	problem.k = k;
	if (solve_one(run->border, &problem, run->request->solve, solution) == KANON_NO_MEMORY)
		border_check(run->border, KANON_NO_MEMORY, "");
}

/*
 * Can workers be given all there is to know?  A problem may have got parts of
 * which this file knows nothing; then what is left of it when the known ones are
 * taken away is not nothing.
 */
static bool
is_known(const KanonProblem *problem)
{
	static const KanonProblem no_problem;
	static const KanonColumn no_column;
	KanonProblem rest;
	KanonColumn column;

	memcpy(&rest, problem, sizeof(rest));
	rest.env = NULL;
	rest.columns = NULL;
	rest.rows = NULL;
	rest.ncolumns = 0;
	rest.ntypes = 0;
	rest.k = 0;
	memset(&rest.mask, 0, sizeof(rest.mask));
	rest.residual = 0;
	rest.time_limit = rest.gap = rest.effort = 0;
	rest.seed = 0;
	if (memcmp(&rest, &no_problem, sizeof(rest)) != 0)
		return false;
	for (int c = 0; c < problem->ncolumns; c++)
	{
		memcpy(&column, &problem->columns[c], sizeof(column));
		column.code = NULL;
		column.number = NULL;
		column.distinct = 0;
		column.weight = 0;
		column.level = 0;
		column.has_null = false;
		if (memcmp(&column, &no_column, sizeof(column)) != 0)
			return false;
	}
	return true;
}

/* Bytes of each part; numbers of all numerical columns one after the other. */
typedef struct Sizes
{
	Size columns, codes, numbers, rows, list, rules;
} Sizes;

static Sizes
sizes_of(const KanonProblem *problem)
{
	Sizes sizes = {0};

	sizes.columns = mul_size(problem->ncolumns, sizeof(KanonColumn));
	sizes.codes = mul_size(mul_size(problem->ncolumns, problem->ntypes), sizeof(uint32));
	sizes.rows = mul_size(problem->ntypes, sizeof(int64));
	sizes.list = mul_size(problem->mask.nlist, sizeof(KanonPattern));
	sizes.rules = mul_size(problem->mask.nrules, sizeof(KanonRule));
	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].number != NULL)
			sizes.numbers = add_size(sizes.numbers, mul_size(problem->columns[c].distinct, sizeof(double)));
	return sizes;
}

static Size
sum_of(const Sizes *sizes)
{
	return add_size(add_size(add_size(sizes->columns, sizes->codes), add_size(sizes->numbers, sizes->rows)),
					add_size(sizes->list, sizes->rules));
}

static void *
insert(shm_toc *toc, uint64 key, const void *from, Size size)
{
	void *to = shm_toc_allocate(toc, size);

	if (from != NULL)
		memcpy(to, from, size);
	shm_toc_insert(toc, key, to);
	return to;
}

/* Copies the problem's parts; unpack puts it together again. */
static void
pack(shm_toc *toc, const KanonProblem *problem, const Sizes *sizes)
{
	uint32 *codes = insert(toc, KEY_CODES, NULL, sizes->codes);
	double *numbers = insert(toc, KEY_NUMBERS, NULL, sizes->numbers);

	insert(toc, KEY_COLUMNS, problem->columns, sizes->columns);
	insert(toc, KEY_ROWS, problem->rows, sizes->rows);
	insert(toc, KEY_LIST, problem->mask.list, sizes->list);
	insert(toc, KEY_RULES, problem->mask.rules, sizes->rules);
	for (int c = 0; c < problem->ncolumns; c++)
	{
		const KanonColumn *column = &problem->columns[c];

		memcpy(codes + (Size) c * problem->ntypes, column->code, sizeof(uint32) * (Size) problem->ntypes);
		if (column->number == NULL)
			continue;
		memcpy(numbers, column->number, sizeof(double) * (Size) column->distinct);
		numbers += column->distinct;
	}
}

static void
unpack(shm_toc *toc, const Shared *shared, KanonProblem *problem)
{
	const KanonColumn *columns = shm_toc_lookup(toc, KEY_COLUMNS, false);
	const uint32 *codes = shm_toc_lookup(toc, KEY_CODES, false);
	const double *numbers = shm_toc_lookup(toc, KEY_NUMBERS, false);
	KanonColumn *own;

	*problem = shared->problem;
	own = palloc(sizeof(KanonColumn) * problem->ncolumns);
	for (int c = 0; c < problem->ncolumns; c++)
	{
		own[c] = columns[c];
		own[c].code = codes + (Size) c * problem->ntypes;
		if (columns[c].number == NULL)
			continue;
		own[c].number = numbers;
		numbers += columns[c].distinct;
	}
	problem->columns = own;
	problem->rows = shm_toc_lookup(toc, KEY_ROWS, false);
	if (problem->mask.list != NULL)
		problem->mask.list = shm_toc_lookup(toc, KEY_LIST, false);
	if (problem->mask.rules != NULL)
		problem->mask.rules = shm_toc_lookup(toc, KEY_RULES, false);
}

/* Solves one k after the other, until none is left. */
static void
work(Border *border, KanonProblem *problem, KanonSolve solve, Shared *shared, const int64 *ks,
	 SharedSolution *solutions)
{
	uint32 i;

	while ((i = pg_atomic_fetch_add_u32(&shared->next, 1)) < (uint32) shared->nks)
	{
		problem->k = ks[i];
		/* what lacks memory here may have it alone */
		solutions[i].done = solve_one(border, problem, solve, &solutions[i].solution) != KANON_NO_MEMORY;
	}
}

void
kanon_many_worker(dsm_segment *segment, shm_toc *toc)
{
	Shared *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	Border *border = border_create("kanon_frontier, parallel worker");
	KanonProblem problem;

	unpack(toc, shared, &problem);
	problem.env = &border->env;
	border->limit = shared->limit;
	work(border, &problem, kanon_solver_find(shared->method)->solve, shared,
		 shm_toc_lookup(toc, KEY_KS, false), shm_toc_lookup(toc, KEY_SOLUTIONS, false));
	MemoryContextDelete(border->context);
}

/* Solves with workers; solutions that none could finish stay as they are. */
static void
solve_parallel(Run *run, int nworkers, const int64 *ks, int nks, Solution *solutions, bool *done)
{
	Border *border = run->border;
	KanonProblem problem = run->problem;
	Sizes sizes = sizes_of(&problem);
	Size limit = border->limit;
	ParallelContext *context;
	Shared *shared;
	SharedSolution *shared_solutions;

	EnterParallelMode();
	context = CreateParallelContext(library_of(run->request->caller), "kanon_many_worker", nworkers);
	shm_toc_estimate_chunk(&context->estimator, sizeof(Shared));
	shm_toc_estimate_chunk(&context->estimator, sizes.columns);
	shm_toc_estimate_chunk(&context->estimator, sizes.codes);
	shm_toc_estimate_chunk(&context->estimator, sizes.numbers);
	shm_toc_estimate_chunk(&context->estimator, sizes.rows);
	shm_toc_estimate_chunk(&context->estimator, sizes.list);
	shm_toc_estimate_chunk(&context->estimator, sizes.rules);
	shm_toc_estimate_chunk(&context->estimator, mul_size(nks, sizeof(int64)));
	shm_toc_estimate_chunk(&context->estimator, mul_size(nks, sizeof(SharedSolution)));
	shm_toc_estimate_keys(&context->estimator, KEY_SOLUTIONS);
	InitializeParallelDSM(context);

	shared = insert(context->toc, KEY_SHARED, NULL, sizeof(Shared));
	memset(shared, 0, sizeof(Shared));
	shared->problem = problem;
	strlcpy(shared->method, run->request->method, METHOD_LENGTH);
	shared->nks = nks;
	/* together they take no more than one would alone */
	shared->limit = (border->limit - border->used) / (nworkers + 1);
	pg_atomic_init_u32(&shared->next, 0);
	pack(context->toc, &problem, &sizes);
	insert(context->toc, KEY_KS, ks, sizeof(int64) * nks);
	shared_solutions = insert(context->toc, KEY_SOLUTIONS, NULL, sizeof(SharedSolution) * nks);
	memset(shared_solutions, 0, sizeof(SharedSolution) * nks);

	LaunchParallelWorkers(context);
	ereport(DEBUG1, (errmsg_internal("kanon_frontier: %d parallel workers for %d ks",
									 context->nworkers_launched, nks)));
	border->limit = border->used + shared->limit;
	work(border, &problem, run->request->solve, shared, ks, shared_solutions);
	border->limit = limit;
	WaitForParallelWorkersToFinish(context);
	for (int i = 0; i < nks; i++)
	{
		done[i] = shared_solutions[i].done;
		if (done[i])
			solutions[i] = shared_solutions[i].solution;
	}
	DestroyParallelContext(context);
	ExitParallelMode();
}

/* How many workers may take part. */
static int
workers_wanted(const Run *run, double ms, int nks)
{
	const KanonProblem *problem = &run->problem;
	Sizes sizes = sizes_of(problem);

	/* privacy rules stay where their dictionaries are */
	if (problem->privacy != NULL || ms * nks < LEAST_WORK_MS || nks < 2 || IsInParallelMode() ||
		sum_of(&sizes) > MOST_SHARED || strlen(run->request->method) >= METHOD_LENGTH || !is_known(problem))
		return 0;
	return Min(max_parallel_workers_per_gather, nks - 1);
}

void
solve_many(Run *run, const int64 *ks, int nks, Solution *solutions)
{
	bool *done = palloc0(sizeof(bool) * Max(nks, 1));
	int workers;

	if (nks == 0)
		return;
	/* the smallest k tells how long the others will take */
	solve_here(run, ks[0], &solutions[0]);
	done[0] = true;
	workers = workers_wanted(run, solutions[0].ms, nks - 1);
	if (workers > 0)
		solve_parallel(run, workers, ks + 1, nks - 1, solutions + 1, done + 1);
	for (int i = 1; i < nks; i++)
		if (!done[i])
			solve_here(run, ks[i], &solutions[i]);
}
