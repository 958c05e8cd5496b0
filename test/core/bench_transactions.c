/*
 * bench_transactions.c: methods for sets of items on a file (one transaction a line,
 * items as numbers) or on transactions by chance.
 *
 *   bench_transactions FILE|N FANOUT METHOD K M [H RHO PRIVATE]
 *
 * N: that many transactions of 1,600 items, Zipf with planted correlations, 6 on
 * average.  The hierarchy divides item numbers evenly, FANOUT to a node.  Every
 * PRIVATEth item is private.  Prints processor seconds, memory, and what was lost.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"
#include "itemsets/transactions.h"

typedef struct Table_
{
	uint32_t *item;
	size_t *start;
	size_t n;
	size_t room;
	uint32_t nrows;
	size_t rows_room;
} Sets;

static void
end_row(Sets *sets)
{
	if (sets->nrows + 2 > sets->rows_room)
		sets->start = realloc(sets->start, sizeof(size_t) * (sets->rows_room = 2 * sets->rows_room + 1024));
	sets->start[0] = 0;
	sets->start[++sets->nrows] = sets->n;
}

static void
add_item(Sets *sets, uint32_t item)
{
	size_t from = sets->nrows == 0 ? 0 : sets->start[sets->nrows];
	size_t at;

	if (sets->n == sets->room)
		sets->item = realloc(sets->item, sizeof(uint32_t) * (sets->room = 2 * sets->room + 1024));
	for (at = sets->n; at > from && sets->item[at - 1] > item; at--)
		;
	if (at > from && sets->item[at - 1] == item)
		return;
	memmove(sets->item + at + 1, sets->item + at, sizeof(uint32_t) * (sets->n - at));
	sets->item[at] = item;
	sets->n++;
}

static void
read_file(Sets *sets, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t length = 0;

	if (file == NULL)
	{
		perror(path);
		exit(1);
	}
	while (getline(&line, &length, file) > 0)
	{
		char *at = line;
		char *end;

		for (unsigned long item = strtoul(at, &end, 10); end != at; item = strtoul(at, &end, 10))
		{
			add_item(sets, (uint32_t) item);
			at = end;
		}
		end_row(sets);
	}
	free(line);
	fclose(file);
}

/* The same table as bench/transactions.sql makes: items by a power law, some in planted groups. */
static void
generate(Sets *sets, uint32_t nrows)
{
	enum
	{
		ITEMS = 1600
	};
	uint64_t random = 1;
	double sum[ITEMS];

	for (int i = 0; i < ITEMS; i++)
		sum[i] = 1 / (i + 1.0) + (i > 0 ? sum[i - 1] : 0);
	for (uint32_t t = 0; t < nrows; t++)
	{
		uint32_t length = 1 + random_below(&random, 11);

		for (uint32_t i = 0; i < length; i++)
		{
			double at = (double) (random_next(&random) >> 11) * 0x1p-53 * sum[ITEMS - 1];
			uint32_t low = 0, high = ITEMS - 1;

			while (low < high)
			{
				uint32_t middle = (low + high) / 2;

				if (sum[middle] < at)
					low = middle + 1;
				else
					high = middle;
			}
			add_item(sets, low);
			/* who has an item has the one eight further, one time in four */
			if (random_below(&random, 4) == 0 && i + 1 < length)
			{
				add_item(sets, (low + 8) % ITEMS);
				i++;
			}
		}
		end_row(sets);
	}
}

/* Items that occur, numbered; their numbers divided evenly, from below. */
static void
number_items(Sets *sets, KanonTransactions *problem, uint32_t fanout)
{
	uint32_t most = 0;
	uint32_t *code;
	uint32_t *parent;
	uint32_t *place;
	uint32_t n = 0;

	for (size_t i = 0; i < sets->n; i++)
		most = sets->item[i] > most ? sets->item[i] : most;
	code = calloc((size_t) most + 2, sizeof(uint32_t));
	for (size_t i = 0; i < sets->n; i++)
		code[sets->item[i]] = 1;
	place = malloc(sizeof(uint32_t) * ((size_t) most + 2));
	for (uint32_t i = 0; i <= most; i++)
		if (code[i])
		{
			place[n] = i;
			code[i] = n++;
		}
	for (size_t i = 0; i < sets->n; i++)
		sets->item[i] = code[sets->item[i]];
	problem->sets = (KanonSets){n, sets->nrows, sets->start, sets->item};
	parent = malloc(sizeof(uint32_t) * (2 * (size_t) n + 64));
	problem->nnodes = n;
	for (uint32_t from = 0, to = n; to - from > 1;)
	{
		uint32_t first = problem->nnodes;
		uint32_t last = UINT32_MAX;

		for (uint32_t v = from; v < to; v++)
		{
			place[v - from] /= fanout;
			if (place[v - from] != last)
			{
				last = place[v - from];
				place[problem->nnodes - first] = last;
				problem->nnodes++;
			}
			parent[v] = problem->nnodes - 1;
		}
		from = first;
		to = problem->nnodes;
	}
	parent[problem->nnodes - 1] = KANON_NOTHING;
	problem->parent = parent;
	free(code);
	free(place);
}

static double
processor(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

int
main(int argc, char **argv)
{
	Sets sets = {0};
	Host host;
	KanonTransactions problem = {.time_limit = INFINITY};
	const KanonMethod *method;
	KanonRecoding recoding = {0};
	KanonReport report = {0};
	KanonSetMeasures told = {0};
	KanonSupport supports[KANON_MAX_SET] = {{0}};
	KanonStatus status;
	double began, solved, measured;
	size_t peak;

	if (argc < 6 || (method = kanon_method_find(KANON_ITEM_SETS, argv[3])) == NULL)
		return 2;
	host_init(&host);
	fixture_take_time();
	problem.env = &host.env;
	if (argv[1][strspn(argv[1], "0123456789")] == '\0')
		generate(&sets, (uint32_t) strtoul(argv[1], NULL, 10));
	else
		read_file(&sets, argv[1]);
	number_items(&sets, &problem, (uint32_t) strtoul(argv[2], NULL, 10));
	problem.k = strtol(argv[4], NULL, 10);
	problem.m = (int) strtol(argv[5], NULL, 10);
	if (argc > 8)
	{
		bool *sensitive = calloc(problem.sets.nitems, sizeof(bool));

		problem.h = strtod(argv[6], NULL);
		problem.rho = strtod(argv[7], NULL);
		for (uint32_t i = 0; i < problem.sets.nitems; i += (uint32_t) strtoul(argv[8], NULL, 10))
		{
			sensitive[i] = true;
			((uint32_t *) problem.parent)[i] = KANON_NOTHING;
		}
		problem.sensitive = sensitive;
	}
	if ((method->takes & KANON_TAKES_HIERARCHY) == 0)
	{
		problem.nnodes = problem.sets.nitems;
		for (uint32_t i = 0; i < problem.nnodes; i++)
			((uint32_t *) problem.parent)[i] = KANON_NOTHING;
	}
	began = processor();
	status = method->recode(&problem, &recoding, &report);
	solved = processor();
	peak = host.peak;
	if (status == KANON_OK)
		status = kanon_measure_sets(&problem, &recoding, &told);
	measured = processor();
	if (status == KANON_OK && method->number == KANON_MODEL_KM)
	{
		Sets shown = {0};
		KanonSets published;

		for (uint32_t t = 0; t < sets.nrows; t++)
		{
			for (size_t i = sets.start[t]; i < sets.start[t + 1]; i++)
				if (recoding.shown[sets.item[i]] != KANON_NOTHING)
					add_item(&shown, recoding.shown[sets.item[i]]);
			end_row(&shown);
		}
		published = (KanonSets){problem.nnodes, shown.nrows, shown.start, shown.item};
		host.peak = host.live;
		measured = processor();
		status = kanon_recount_supports(&host.env, &published, NULL, problem.m, problem.k, supports, &report);
		for (int i = 0; i < problem.m; i++)
			if (supports[i].below > 0)
				status = KANON_BROKEN;
		printf("recount %.3f s %zu MB; ", processor() - measured, host.peak >> 20);
	}
	printf(
		"%s %s k=%ld m=%d status=%d %s| %u transactions %u items %u nodes %zu occurrences | %.4f s %zu MB "
		"(measures %.2f s) ncp %.6f suppressed %u items %ld occurrences shown %u of %u, top %d of %d, nodes %ld\n",
		argv[1], argv[3], (long) problem.k, problem.m, status, report.detail, sets.nrows, problem.sets.nitems,
		problem.nnodes, sets.n, solved - began, peak >> 20, measured - solved, told.ncp,
		told.items_suppressed, (long) told.suppressed, told.shown_after, told.items_before,
		told.frequent_preserved, told.frequent, (long) report.nodes);
	return status;
}
