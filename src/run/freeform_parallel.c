/*
 * freeform_parallel.c: the parts of a freeform release, shared out among parallel
 * workers.
 *
 * A part is solved as it would be alone and draws its own random numbers, so it does
 * not matter who does it.  Parts go to shared memory in batches: their rows' values
 * in, their graphs out.  The leader does a part again that a worker cannot finish.
 *
 * A second process takes off two fifths of the time of sort_greedy and more (3 million rows in parts of 150: 121 s
 * instead of 235 s).
 */
#include "compat.h"
#include "host/pool.h"
#include "run/run.h"

/* Not more is shared at a time, if a part has less. */
#define MOST_SHARED ((Size) 16 * 1024 * 1024)

/* A part in shared memory. */
typedef struct SharedPart
{
	uint32 number;
	uint32 n;
	uint32 k;
	Size values; /* where they start in `words` */
	Size graph;  /* start[n + 1], given[n], match[room] */
	uint32 room;
	bool done;
	int64 nodes;
} SharedPart;

typedef struct Shared
{
	KanonFreeformSpace space;
	bool strong;
	PoolTasks tasks;
	Size words; /* where they are: after the parts of the largest batch */
	SharedPart parts[FLEXIBLE_ARRAY_MEMBER];
} Shared;

/* A process's share of it. */
typedef struct Parts
{
	Border *border;
	Shared *shared;
	uint32 *words;
} Parts;

static bool
strong_random(void *to, size_t size)
{
	return pg_strong_random(to, size);
}

static void
solve_round(void *state)
{
	Parts *parts = state;
	Border *border = parts->border;
	Shared *shared = parts->shared;
	uint32 i;

	while (pool_task(&shared->tasks, &i))
	{
		SharedPart *mine = &shared->parts[i];
		KanonFreeformPart part = {mine->number, mine->n, mine->k,
								  (const int32 *) parts->words + mine->values};
		KanonFreeformGraph graph;
		uint32 *out = parts->words + mine->graph;
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
			mine->nodes = graph.nodes;
			mine->done = true;
		}
		kanon_freeform_graph_free(&border->env, &graph);
	}
}

static void *
open_worker(Border *border, void *block, int member)
{
	Parts *parts = MemoryContextAlloc(border->context, sizeof(Parts));

	*parts = (Parts){border, block, (uint32 *) ((char *) block + ((Shared *) block)->words)};
	return parts;
}

static const PoolWork solving = {"kanon_freeform_worker", "kanon_freeform, parallel worker", open_worker,
								 solve_round};

void
kanon_freeform_worker(dsm_segment *segment, shm_toc *toc)
{
	pool_worker(toc, &solving);
}

/* The message when a method cannot take the table. */
static void
check_solved(const Run *run, KanonStatus status)
{
	const char *detail = run->report.detail;

	if (status == KANON_TOO_LARGE)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the table is too large for this method"),
			 errdetail("It cannot be published so: %s.", detail),
			 errhint(
				 "Methods 'hungarian' and 'sort_greedy' take larger ones; partition_size cuts a table into parts.")));
	border_check(run->border, status, detail);
}

/* Words of shared memory that a part takes. */
static Size
part_values(const KanonFreeformPlan *plan, uint32 n)
{
	return (Size) n * kanon_freeform_width(&plan->space);
}

/* One part by this process. */
static void
solve_here(Run *run, KanonFreeformPlan *plan, uint32 p)
{
	Border *border = run->border;
	KanonFreeformGraph graph;
	KanonFreeformPart part = {.number = p, .k = plan->part_k[p]};
	uint32 first;
	int32 *values;

	kanon_freeform_bounds(plan, p, &first, &part.n);
	values = border_palloc(border, sizeof(int32) * part_values(plan, part.n));
	kanon_freeform_values(plan, p, values);
	part.value = values;
	check_solved(run, kanon_freeform_solve(&border->env, &plan->space, run->problem.freeform->strong, &part,
										   &graph, run->report.detail, sizeof(run->report.detail)));
	border_pfree(border, values);
	border_check(border, kanon_freeform_put(plan, p, &graph, &run->report), run->report.detail);
	kanon_freeform_graph_free(&border->env, &graph);
}

static Size
part_graph(uint32 n, uint32 k)
{
	return (Size) n * (k + 3) + 1;
}

/* As many parts from `first` on as one batch takes, and the words they need. */
static uint32
batch(const KanonFreeformPlan *plan, uint32 first, Size *words)
{
	uint32 n = 0;

	*words = 0;
	for (uint32 p = first; p < plan->nparts; p++)
	{
		uint32 start, rows;
		Size more;

		kanon_freeform_bounds(plan, p, &start, &rows);
		more = part_values(plan, rows) + part_graph(rows, plan->part_k[p]);
		if (n > 0 && sizeof(uint32) * (*words + more) > MOST_SHARED)
			break;
		*words += more;
		n++;
	}
	return n;
}

/* Starts workers for the parts from `first` on, with room for the largest batch of these. */
static Pool *
start_pool(Run *run, const KanonFreeformPlan *plan, uint32 first, int workers, Parts *parts)
{
	Size most = 0;
	Size most_words = 0;
	Size head;
	Pool *pool;

	for (uint32 p = first; p < plan->nparts;)
	{
		Size words;
		uint32 n = batch(plan, p, &words);

		most = Max(most, n);
		most_words = Max(most_words, words);
		p += n;
	}
	head = MAXALIGN(add_size(offsetof(Shared, parts), mul_size(most, sizeof(SharedPart))));
	pool = pool_create(&solving, run->request->caller, run->border,
					   add_size(head, mul_size(most_words, sizeof(uint32))), workers, false);
	if (pool == NULL)
		return NULL;
	((FreeformCall *) run->request->own)->workers = pool_workers(pool);
	parts->border = run->border;
	parts->shared = pool_block(pool);
	parts->shared->space = plan->space;
	parts->shared->strong = run->problem.freeform->strong != NULL;
	parts->shared->words = head;
	parts->words = (uint32 *) ((char *) parts->shared + head);
	return pool;
}

/* Solves as many parts from `first` on as one batch takes, together; how many these were. */
static uint32
solve_batch(Run *run, KanonFreeformPlan *plan, Pool *pool, Parts *parts, uint32 first)
{
	Size words;
	uint32 n = batch(plan, first, &words);
	SharedPart *part = parts->shared->parts;

	words = 0;
	for (uint32 i = 0; i < n; i++)
	{
		uint32 start, rows;
		uint32 k = plan->part_k[first + i];

		kanon_freeform_bounds(plan, first + i, &start, &rows);
		part[i] = (SharedPart){.number = first + i,
							   .n = rows,
							   .k = k,
							   .values = words,
							   .graph = words + part_values(plan, rows),
							   .room = rows * (k + 1)};
		kanon_freeform_values(plan, first + i, (int32 *) parts->words + words);
		words += part_values(plan, rows) + part_graph(rows, k);
	}
	pool_tasks_init(&parts->shared->tasks, n);
	pool_round(pool, parts);
	for (uint32 i = 0; i < n; i++)
	{
		uint32 *out = parts->words + part[i].graph;
		/* (several parts have no bound and no proof) */
		KanonFreeformGraph graph = {.n = part[i].n,
									.start = out,
									.given = out + part[i].n + 1,
									.match = out + 2 * part[i].n + 1,
									.nodes = part[i].nodes};

		if (part[i].done)
			border_check(run->border, kanon_freeform_put(plan, first + i, &graph, &run->report),
						 run->report.detail);
		else
			solve_here(run, plan, first + i);
	}
	return n;
}

KanonStatus
freeform_solve(Run *run)
{
	FreeformCall *call = run->request->own;
	KanonReport *report = &run->report;
	KanonFreeformPlan plan;
	instr_time start, lap;
	KanonStatus status = kanon_freeform_begin(&run->problem, &plan, report);
	Pool *pool = NULL;
	Parts parts;
	uint32 p = 0;
	/* whose graphs are of no known size */
	bool alone = call->options.method == KANON_FREEFORM_CONCEALMENT;

	check_solved(run, status);
	call->parts = plan.nparts;
	while (p < plan.nparts)
	{
		if (pool != NULL)
		{
			p += solve_batch(run, &plan, pool, &parts, p);
			continue;
		}
		INSTR_TIME_SET_CURRENT(start);
		solve_here(run, &plan, p++);
		INSTR_TIME_SET_CURRENT(lap);
		INSTR_TIME_SUBTRACT(lap, start);
		if (!alone)
		{
			uint32 left = plan.nparts - p;
			int workers = pool_wanted(INSTR_TIME_GET_MILLISEC(lap) * left, left);

			alone = workers > 0 && (pool = start_pool(run, &plan, p, workers, &parts)) == NULL;
		}
	}
	pool_end(pool);
	status = kanon_freeform_end(&plan, &run->release, report);
	kanon_freeform_free(&plan);
	return status;
}
