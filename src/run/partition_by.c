/*
 * partition_by.c: partition_by, whose values parallel workers share.
 *
 * A value's rows are solved as they would be alone, so it does not matter who does it.  The problem
 * is copied to shared memory once; releases come back in batches, and are taken in the order of
 * values.  A value that a worker cannot finish is solved here.
 */
#include "compat.h"
#include "run/run.h"
#include "host/pool.h"
#include "run/on_disk_types.h"

#include <math.h>

#define METHOD_LENGTH 64

/* Releases of a batch take no more, nor more than one part in so many of all memory, unless it is of one value. */
#define MOST_SHARED ((Size) 16 * 1024 * 1024)
#define SHARED_SHARE 16

/* A value that somebody solves. */
typedef struct SharedValue
{
	uint32 code;
	double seconds;
	Size room; /* where its release is, in bytes behind the values */
	bool done; /* what follows holds */
	KanonStatus status;
	KanonReport report;
	uint32 nclasses;
	Size nflows;
	int64 dropped;
} SharedValue;

/* In shared memory; the problem's arrays, types by values, their beginnings, and a batch follow. */
typedef struct Shared
{
	SharedProblem problem;
	char method[METHOD_LENGTH];
	Size types; /* where they are */
	Size start;
	Size batch;    /* the values, */
	Size releases; /* and what becomes of them */
	PoolTasks tasks;
} Shared;

/* A process's share of it. */
typedef struct Values
{
	Border *border;
	Shared *shared;
	FoundProblem found;
	KanonSolve solve;
	uint32 *type; /* a copy for each task would cost more than this one */
	const Size *start;
	SharedValue *batch;
} Values;

/* The caller. */
typedef struct Helper
{
	Run *run;
	Pool *pool;
	bool alone; /* nobody helps */
	instr_time started;
	uint32 met;    /* row types of values so far */
	uint32 filled; /* values of the batch, */
	uint32 next;   /* and the first that nobody has asked for */
	Values values;
} Helper;

static inline uint32
ntypes_of(const Size *start, uint32 code)
{
	return (uint32) (start[code + 1] - start[code]);
}

/* Room for the release of so many types: a class for each at most, and flows for types that are divided. */
static Size
room_of(const KanonProblem *problem, uint32 n)
{
	Size cells = MAXALIGN(mul_size(n, sizeof(KanonCell) * problem->ncolumns));

	return add_size(cells,
					add_size(mul_size(n, sizeof(KanonClass)), mul_size(2 * (Size) n, sizeof(KanonFlow))));
}

static void
find_release(Values *values, const SharedValue *value, KanonRelease *release)
{
	uint32 n = ntypes_of(values->start, value->code);
	char *room = (char *) values->shared + values->shared->releases + value->room;

	memset(release, 0, sizeof(*release));
	release->nclasses = value->nclasses;
	release->nflows = value->nflows;
	release->dropped = value->dropped;
	release->classes = (KanonClass *) room;
	release->flows = (KanonFlow *) (release->classes + n);
	release->cells = (KanonCell *) (release->flows + 2 * (Size) n);
}

static void
keep_release(Values *values, SharedValue *value, const KanonRelease *release)
{
	uint32 n = ntypes_of(values->start, value->code);
	KanonRelease there;

	if (release->nclasses > n || release->nflows > 2 * (Size) n)
		return;
	value->nclasses = release->nclasses;
	value->nflows = release->nflows;
	value->dropped = release->dropped;
	value->done = true;
	find_release(values, value, &there);
	if (release->nclasses > 0)
	{
		memcpy(there.classes, release->classes, sizeof(KanonClass) * release->nclasses);
		memcpy(there.cells, release->cells,
			   sizeof(KanonCell) * values->found.problem.ncolumns * release->nclasses);
	}
	memcpy(there.flows, release->flows, sizeof(KanonFlow) * release->nflows);
}

/* That there is no release is an answer, too; what lacks memory here may have it alone. */
static void
solve_round(void *state)
{
	Values *values = state;
	uint32 i;

	while (pool_task(&values->shared->tasks, &i))
	{
		SharedValue *mine = &values->batch[i];
		KanonRelease release;

		CHECK_FOR_INTERRUPTS();
		mine->status = kanon_solve_value(&values->found.problem, values->type + values->start[mine->code],
										 ntypes_of(values->start, mine->code), mine->seconds, values->solve,
										 &release, &mine->report);
		switch (mine->status)
		{
			case KANON_OK:
				keep_release(values, mine, &release);
				break;
			case KANON_CANCELLED:
				border_check(values->border, mine->status, "");
				break;
			case KANON_INFEASIBLE:
			case KANON_NOT_FOUND:
			case KANON_RESIDUAL:
			case KANON_REST_FORBIDDEN:
				mine->done = true;
				break;
			case KANON_NO_MEMORY:
			case KANON_TOO_LARGE:
			case KANON_UNAVAILABLE:
			case KANON_UNSUPPORTED:
			case KANON_BROKEN:
				break;
		}
		kanon_release_free(&values->found.problem, &release);
	}
}

static void
find_values(Values *values, Border *border, Shared *shared)
{
	char *block = (char *) shared;

	values->border = border;
	values->shared = shared;
	values->type = (uint32 *) (block + shared->types);
	values->start = (const Size *) (block + shared->start);
	values->batch = (SharedValue *) (block + shared->batch);
	values->solve = kanon_method_find(KANON_PATTERN_GUIDED, shared->method)->solve;
	shared_problem_find(&shared->problem, block + MAXALIGN(sizeof(Shared)), border, &values->found);
}

static void *
open_worker(Border *border, void *block, int member)
{
	Values *values = MemoryContextAllocZero(border->context, sizeof(Values));

	find_values(values, border, block);
	return values;
}

static const PoolWork solving = {"kanon_partition_worker", "partition_by, parallel worker", open_worker,
								 solve_round};

void
kanon_partition_worker(dsm_segment *segment, shm_toc *toc)
{
	pool_worker(toc, &solving);
}

/* ---- the caller ---- */

static Size
most_shared(const Run *run)
{
	return Min(MOST_SHARED, run->border->limit / SHARED_SHARE);
}

/* Is a value asked for at all? */
static bool
is_large(const KanonProblem *problem, const KanonValueTypes *values, uint32 code)
{
	int64 rows = 0;

	for (Size i = values->start[code]; i < values->start[code + 1] && rows < problem->k; i++)
		rows += problem->rows[values->type[i]];
	return rows >= problem->k;
}

static bool
start_pool(Helper *helper, const KanonValueTypes *values, uint32 first, int workers)
{
	Run *run = helper->run;
	const KanonProblem *problem = &run->problem;
	Size problem_at = MAXALIGN(sizeof(Shared));
	Size types = add_size(problem_at, shared_problem_size(problem));
	Size start = add_size(types, MAXALIGN(mul_size(problem->ntypes, sizeof(uint32))));
	Size batch = add_size(start, mul_size((Size) values->distinct + 1, sizeof(Size)));
	Size releases = add_size(batch, MAXALIGN(mul_size(values->distinct, sizeof(SharedValue))));
	Size most = 0;
	Shared *shared;

	for (uint32 code = first; code < values->distinct; code++)
		most = Max(most, room_of(problem, ntypes_of(values->start, code)));
	helper->pool = pool_create(&solving, run->request->caller, run->border,
							   add_size(releases, Max(most, most_shared(run))), workers, false);
	if (helper->pool == NULL)
		return false;
	ereport(DEBUG1, (errmsg_internal("partition_by: %d parallel workers", pool_workers(helper->pool))));
	shared = pool_block(helper->pool);
	memset(shared, 0, sizeof(Shared));
	shared_problem_put(problem, &shared->problem, (char *) shared + problem_at);
	strlcpy(shared->method, run->request->method, METHOD_LENGTH);
	shared->types = types;
	shared->start = start;
	shared->batch = batch;
	shared->releases = releases;
	memcpy((char *) shared + types, values->type, sizeof(uint32) * (Size) problem->ntypes);
	memcpy((char *) shared + start, values->start, sizeof(Size) * ((Size) values->distinct + 1));
	pool_tasks_init(&shared->tasks, 0);
	find_values(&helper->values, run->border, shared);
	return true;
}

static double
elapsed_ms(const Helper *helper)
{
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, helper->started);
	return INSTR_TIME_GET_MILLISEC(now);
}

/* A value's share of the time that is left to all who work, by its row types. */
static double
time_for(const Helper *helper, uint32 n)
{
	const KanonProblem *problem = &helper->run->problem;
	double left = problem->time_limit - elapsed_ms(helper) / 1000;

	return isinf(problem->time_limit)
			   ? problem->time_limit
			   : Max(left * (pool_workers(helper->pool) + 1) * n / (problem->ntypes - helper->met), 1e-3);
}

/* As many values from `first` on as one batch takes. */
static void
solve_batch(Helper *helper, const KanonValueTypes *values, uint32 first)
{
	const KanonProblem *problem = &helper->run->problem;
	Size used = 0;

	helper->filled = helper->next = 0;
	for (uint32 code = first; code < values->distinct; code++)
	{
		uint32 n = ntypes_of(values->start, code);
		Size room = room_of(problem, n);

		if (!is_large(problem, values, code))
			continue;
		if (helper->filled > 0 && used + room > most_shared(helper->run))
			break;
		helper->values.batch[helper->filled++] =
			(SharedValue){.code = code, .seconds = time_for(helper, n), .room = used};
		used += room;
	}
	pool_tasks_init(&helper->values.shared->tasks, helper->filled);
	pool_round(helper->pool, &helper->values);
}

/* The first values say how long the others will take. */
static bool
solved(void *arg, const KanonValueTypes *values, uint32 code, KanonStatus *status, KanonRelease *release,
	   KanonReport *report)
{
	Helper *helper = arg;
	SharedValue *value;

	helper->met = (uint32) values->start[code];
	if (helper->pool == NULL && !helper->alone)
	{
		double left = (double) (helper->run->problem.ntypes - helper->met);
		int workers = helper->met == 0
						  ? 0
						  : pool_wanted(elapsed_ms(helper) * left / helper->met, values->distinct - code);

		helper->alone = workers > 0 && !start_pool(helper, values, code, workers);
	}
	if (helper->pool == NULL)
		return false;
	if (helper->next == helper->filled)
		solve_batch(helper, values, code);
	value = &helper->values.batch[helper->next++];
	if (value->code != code)
		elog(ERROR, "another value was solved than is asked for");
	if (!value->done)
		return false;
	*status = value->status;
	*report = value->report;
	find_release(&helper->values, value, release);
	return true;
}

/* One that nobody else has solved. */
static KanonStatus
solve_here(const Run *run, const KanonProblem *problem, const KanonValueTypes *values, uint32 code,
		   TakeValue take, void *arg, KanonReport *report)
{
	KanonRelease release = {0};
	KanonStatus status = KANON_NOT_FOUND;
	uint32 n = ntypes_of(values->start, code);

	if (is_large(problem, values, code))
		status = kanon_solve_value(problem, values->type + values->start[code], n,
								   problem->time_limit * n / problem->ntypes, run->request->solve, &release,
								   report);
	status = take(arg, code, status, &release);
	kanon_release_free(problem, &release);
	return status;
}

KanonStatus
partition_values(const Run *run, const KanonProblem *problem, const KanonValueTypes *values, TakeValue take,
				 void *arg, KanonReport *report)
{
	Run part = *run;
	Helper helper = {.run = &part,
					 .alone =
						 !problem_can_be_shared(problem) || strlen(run->request->method) >= METHOD_LENGTH};
	KanonStatus status = KANON_OK;

	part.problem = *problem;
	INSTR_TIME_SET_CURRENT(helper.started);
	for (uint32 code = 0; code < values->distinct && status == KANON_OK; code++)
	{
		KanonRelease release;
		KanonStatus found;

		status = is_large(problem, values, code) && solved(&helper, values, code, &found, &release, report)
					 ? take(arg, code, found, &release)
					 : solve_here(run, problem, values, code, take, arg, report);
	}
	pool_end(helper.pool);
	return status;
}

KanonStatus
partition_solve(Run *run, int column, KanonPartitionFacts *facts)
{
	Helper helper = {.run = run,
					 .alone = !problem_can_be_shared(&run->problem) ||
							  strlen(run->request->method) >= METHOD_LENGTH};
	KanonPartitionHelp help = {&helper, solved};
	KanonStatus status;

	INSTR_TIME_SET_CURRENT(helper.started);
	status = kanon_solve_partitioned(&run->problem, column, run->request->solve, &help, &run->release,
									 &run->report, facts);
	pool_end(helper.pool);
	return status;
}

/* ---- A problem in shared memory, for parallel workers ---- */

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
	copy.problem.found = NULL;
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
