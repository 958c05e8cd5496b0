/*
 * freeform_parallel.c: the parts of a freeform release, shared out among parallel
 * workers.
 *
 * A part is solved as it would be alone and draws its own random numbers, so it
 * does not matter who does it.  Parts go to shared memory in batches: their rows'
 * values in, their graphs out.  What a worker cannot finish the leader does again.
 */
#include "compat.h"
#include "host/library.h"
#include "run/freeform.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "port/atomics.h"
#include "utils/memutils.h"

/* As in many.c: less work than this is not shared, and not more memory. */
#define LEAST_WORK_MS (40.0 * parallel_setup_cost / DEFAULT_PARALLEL_SETUP_COST)
#define MOST_SHARED ((Size) 16 * 1024 * 1024)

enum
{
	KEY_SHARED = 1,
	KEY_PARTS,
	KEY_VALUES,
	KEY_GRAPHS
};

typedef struct Shared
{
	KanonFreeformSpace space;
	bool strong;
	Size limit; /* bytes that each process may take */
	uint32 nparts;
	pg_atomic_uint32 next;
} Shared;

/* A part in shared memory. */
typedef struct SharedPart
{
	uint32 number;
	uint32 n;
	Size values; /* where they start */
	Size graph;  /* start[n + 1], given[n], match[room] */
	uint32 room;
	bool done;
	bool proven;
	double bound;
	int64 nodes;
} SharedPart;

static bool
strong_random(void *to, size_t size)
{
	return pg_strong_random(to, size);
}

static void
work(Border *border, Shared *shared, SharedPart *parts, const int32 *values, uint32 *graphs)
{
	uint32 i;

	while ((i = pg_atomic_fetch_add_u32(&shared->next, 1)) < shared->nparts)
	{
		SharedPart *mine = &parts[i];
		KanonFreeformPart part = {mine->number, mine->n, values + mine->values};
		KanonFreeformGraph graph;
		uint32 *out = graphs + mine->graph;
		char detail[160];
		KanonStatus status;

		CHECK_FOR_INTERRUPTS();
		status = kanon_freeform_solve(&border->env, &shared->space, shared->strong ? strong_random : NULL,
									  &part, &graph, detail, sizeof(detail));
		if (status == KANON_CANCELLED)
			border_check(border, status, "");
		if (status != KANON_OK)
			continue;
		if (graph.start[graph.n] <= mine->room)
		{
			memcpy(out, graph.start, sizeof(uint32) * (mine->n + 1));
			memcpy(out + mine->n + 1, graph.given, sizeof(uint32) * mine->n);
			memcpy(out + 2 * mine->n + 1, graph.match, sizeof(uint32) * graph.start[graph.n]);
			mine->bound = graph.bound;
			mine->proven = graph.proven;
			mine->nodes = graph.nodes;
			mine->done = true;
		}
		kanon_freeform_graph_free(&border->env, &graph);
	}
}

void
kanon_freeform_worker(dsm_segment *segment, shm_toc *toc)
{
	Shared *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	Border *border = border_create("kanon_freeform, parallel worker");

	border->limit = shared->limit;
	work(border, shared, shm_toc_lookup(toc, KEY_PARTS, false), shm_toc_lookup(toc, KEY_VALUES, false),
		 shm_toc_lookup(toc, KEY_GRAPHS, false));
	MemoryContextDelete(border->context);
}

/* What the caller is told when a method cannot take the table. */
static void
check_solved(Border *border, KanonStatus status, const KanonReport *report)
{
	if (status == KANON_TOO_LARGE)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the table is too large for this method"),
			 errdetail("It cannot be published so: %s.", report->detail),
			 errhint(
				 "Methods 'hungarian' and 'sort_greedy' take larger ones; partition_size cuts a table into parts.")));
	border_check(border, status, report->detail);
}

/* One part by this process. */
static void
solve_here(FreeformCall *call, KanonFreeformPlan *plan, uint32 p, KanonReport *report)
{
	Border *border = call->border;
	KanonFreeformGraph graph;
	KanonFreeformPart part = {.number = p};
	uint32 first;
	int32 *values;

	kanon_freeform_bounds(plan, p, &first, &part.n);
	values = border_palloc(border, sizeof(int32) * (Size) part.n * plan->space.ncolumns);
	kanon_freeform_values(plan, p, values);
	part.value = values;
	check_solved(border,
				 kanon_freeform_solve(&border->env, &plan->space, call->options.strong, &part, &graph,
									  report->detail, sizeof(report->detail)),
				 report);
	border_pfree(border, values);
	border_check(border, kanon_freeform_put(plan, p, &graph, report), report->detail);
	kanon_freeform_graph_free(&border->env, &graph);
}

/* Words of shared memory that a part takes. */
static Size
part_values(const KanonFreeformPlan *plan, uint32 n)
{
	return (Size) n * plan->space.ncolumns;
}

static Size
part_graph(const KanonFreeformPlan *plan, uint32 n)
{
	return (Size) n * (plan->space.k + 3) + 1;
}

/* As many parts from `first` on as one batch takes. */
static uint32
batch(const KanonFreeformPlan *plan, uint32 first, Size *values, Size *graphs)
{
	uint32 n = 0;

	*values = *graphs = 0;
	for (uint32 p = first; p < plan->nparts; p++)
	{
		uint32 start, rows;

		kanon_freeform_bounds(plan, p, &start, &rows);
		if (n > 0 && sizeof(uint32) * (*values + *graphs + part_values(plan, rows) + part_graph(plan, rows)) >
						 MOST_SHARED)
			break;
		*values += part_values(plan, rows);
		*graphs += part_graph(plan, rows);
		n++;
	}
	return n;
}

/* Solves n parts from `first` on, together; puts those that are done. */
static void
solve_batch(FreeformCall *call, KanonFreeformPlan *plan, int nworkers, uint32 first, uint32 n, Size nvalues,
			Size ngraphs, KanonReport *report)
{
	Border *border = call->border;
	Size limit = border->limit;
	ParallelContext *context;
	Shared *shared;
	SharedPart *parts;
	int32 *values;
	uint32 *graphs;
	bool *done = palloc(sizeof(bool) * n);

	EnterParallelMode();
	context = CreateParallelContext(library_of(call->caller), "kanon_freeform_worker", nworkers);
	shm_toc_estimate_chunk(&context->estimator, sizeof(Shared));
	shm_toc_estimate_chunk(&context->estimator, mul_size(n, sizeof(SharedPart)));
	shm_toc_estimate_chunk(&context->estimator, mul_size(nvalues, sizeof(int32)));
	shm_toc_estimate_chunk(&context->estimator, mul_size(ngraphs, sizeof(uint32)));
	shm_toc_estimate_keys(&context->estimator, KEY_GRAPHS);
	InitializeParallelDSM(context);

	shared = shm_toc_allocate(context->toc, sizeof(Shared));
	memset(shared, 0, sizeof(Shared));
	shared->space = plan->space;
	shared->strong = call->options.strong != NULL;
	/* together they take no more than one would alone */
	shared->limit = (border->limit - border->used) / (nworkers + 1);
	shared->nparts = n;
	pg_atomic_init_u32(&shared->next, 0);
	shm_toc_insert(context->toc, KEY_SHARED, shared);
	parts = shm_toc_allocate(context->toc, sizeof(SharedPart) * n);
	shm_toc_insert(context->toc, KEY_PARTS, parts);
	values = shm_toc_allocate(context->toc, sizeof(int32) * nvalues);
	shm_toc_insert(context->toc, KEY_VALUES, values);
	graphs = shm_toc_allocate(context->toc, sizeof(uint32) * ngraphs);
	shm_toc_insert(context->toc, KEY_GRAPHS, graphs);
	nvalues = ngraphs = 0;
	for (uint32 i = 0; i < n; i++)
	{
		uint32 start, rows;

		kanon_freeform_bounds(plan, first + i, &start, &rows);
		memset(&parts[i], 0, sizeof(SharedPart));
		parts[i].number = first + i;
		parts[i].n = rows;
		parts[i].values = nvalues;
		parts[i].graph = ngraphs;
		parts[i].room = rows * (plan->space.k + 1);
		kanon_freeform_values(plan, first + i, values + nvalues);
		nvalues += part_values(plan, rows);
		ngraphs += part_graph(plan, rows);
	}

	LaunchParallelWorkers(context);
	call->workers = Max(call->workers, context->nworkers_launched);
	border->limit = border->used + shared->limit;
	work(border, shared, parts, values, graphs);
	border->limit = limit;
	WaitForParallelWorkersToFinish(context);
	for (uint32 i = 0; i < n; i++)
	{
		uint32 *out = graphs + parts[i].graph;
		KanonFreeformGraph graph = {.n = parts[i].n,
									.start = out,
									.given = out + parts[i].n + 1,
									.match = out + 2 * parts[i].n + 1,
									.bound = parts[i].bound,
									.proven = parts[i].proven,
									.nodes = parts[i].nodes};

		done[i] = parts[i].done;
		if (done[i])
			border_check(border, kanon_freeform_put(plan, first + i, &graph, report), report->detail);
	}
	DestroyParallelContext(context);
	ExitParallelMode();
	for (uint32 i = 0; i < n; i++)
		if (!done[i])
			solve_here(call, plan, first + i, report);
	pfree(done);
}

KanonStatus
freeform_solve(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	FreeformCall *call = (FreeformCall *) problem->freeform;
	KanonFreeformPlan plan;
	instr_time start, lap;
	KanonStatus status = kanon_freeform_begin(problem, &plan, report);
	uint32 p = 0;
	int workers = 0;

	check_solved(call->border, status, report);
	call->parts = plan.nparts;
	while (p < plan.nparts)
	{
		Size values, graphs;
		uint32 n;

		if (workers > 0)
		{
			n = batch(&plan, p, &values, &graphs);
			solve_batch(call, &plan, Min(workers, (int) n), p, n, values, graphs, report);
			p += n;
			continue;
		}
		INSTR_TIME_SET_CURRENT(start);
		solve_here(call, &plan, p++, report);
		INSTR_TIME_SET_CURRENT(lap);
		INSTR_TIME_SUBTRACT(lap, start);
		/* the graphs of concealment are of no known size */
		if (call->options.method != KANON_FREEFORM_CONCEALMENT && !IsInParallelMode() &&
			plan.nparts - p > 1 && INSTR_TIME_GET_MILLISEC(lap) * (plan.nparts - p) >= LEAST_WORK_MS)
			workers = max_parallel_workers_per_gather;
	}
	status = kanon_freeform_end(&plan, release, report);
	kanon_freeform_free(&plan);
	return status;
}
