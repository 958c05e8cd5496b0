/*
 * fixture.c: the host, the tables and the problems of the core's tests.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"

/* Before each block: its size; 16 bytes keep the alignment. */
#define HEADER 16

/* What new memory is full of. */
#define GARBAGE 0xa7

bool fixture_true_time;

void
fixture_take_time(void)
{
	fixture_true_time = true;
}

static void *
host_realloc(void *arg, void *ptr, size_t size)
{
	Host *host = arg;
	char *block = ptr == NULL ? NULL : (char *) ptr - HEADER;
	size_t old = 0;

	host->allocations++;
	if (block != NULL)
		memcpy(&old, block, sizeof(old));
	if (host->allocations == host->refuse_at || (host->for_good && host->allocations > host->refuse_at) ||
		(host->budget > 0 && host->live - old + size > host->budget))
		return NULL;
	block = realloc(block, size + HEADER);
	if (block == NULL)
		return NULL;
	memcpy(block, &size, sizeof(size));
	/* nobody counts on zeros */
	if (size > old)
		memset(block + HEADER + old, GARBAGE, size - old);
	host->live += size - old;
	host->blocks += ptr == NULL;
	if (host->live > host->peak)
		host->peak = host->live;
	return block + HEADER;
}

static void *
host_alloc(void *arg, size_t size)
{
	return host_realloc(arg, NULL, size);
}

static void
host_free(void *arg, void *ptr)
{
	Host *host = arg;
	size_t size;

	if (ptr == NULL)
		return;
	memcpy(&size, (char *) ptr - HEADER, sizeof(size));
	host->live -= size;
	host->blocks--;
	free((char *) ptr - HEADER);
}

/*
 * In tests time is what is looked at: nothing that they do depends on how fast the machine is.  It began
 * long ago, as a host's did: what is no time must not be taken for one that is still to come.
 */
static double
host_now(void *arg)
{
	Host *host = arg;
	struct timespec now;

	if (!fixture_true_time)
		return 1e6 + 1e-6 * (double) ++host->looks;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

static bool
host_poll(void *arg, const KanonProgress *progress)
{
	Host *host = arg;
	double now = host->env.now(host);

	if (progress->phase == NULL || !(progress->share >= 0 && progress->share <= 1) ||
		progress->rows_left < -1 ||
		(progress->bounded && !(progress->lower_bound <= progress->cost + 1e-6 * fabs(progress->cost))))
		abort();
	if (progress->bounded)
		host->told = *progress;
	if (host->watched != NULL && strcmp(progress->phase, host->watched) == 0)
	{
		host->shares += progress->share > host->share;
		host->backwards = host->backwards || progress->share < host->share - 1e-9;
		host->share = progress->share;
	}
	if (host->last_poll > 0 && now - host->last_poll > host->longest)
		host->longest = now - host->last_poll;
	host->last_poll = now;
	if (++host->polls == host->cancel_at)
		host->since = host->allocations;
	return host->polls == host->cancel_at;
}

void
host_init(Host *host)
{
	memset(host, 0, sizeof(*host));
	fixture_true_time = false;
	host->env.arg = host;
	host->env.alloc = host_alloc;
	host->env.realloc = host_realloc;
	host->env.free = host_free;
	host->env.poll = host_poll;
	host->env.now = host_now;
}

static double
tick(void *arg)
{
	Host *host = arg;

	return (double) ++host->looks;
}

void
host_tick(Host *host)
{
	host->looks = 0;
	host->env.now = tick;
}

Table *
table_read(const char *path)
{
	FILE *file = fopen(path, "r");
	Table *table;
	size_t capacity = 0;
	size_t ncells = 0;
	char *line = NULL;
	size_t length = 0;

	if (file == NULL)
		return NULL;
	table = calloc(1, sizeof(Table));
	while (getline(&line, &length, file) > 0)
	{
		char *rest = line;
		char *cell;

		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] == '\0')
			continue;
		table->ncolumns = 0;
		while ((cell = strsep(&rest, ";")) != NULL)
		{
			if (ncells == capacity)
			{
				capacity = capacity * 2 + 1024;
				table->cell = realloc(table->cell, capacity * sizeof(char *));
			}
			table->cell[ncells++] = strdup(cell + strspn(cell, " "));
			table->ncolumns++;
		}
		table->nrows++;
	}
	free(line);
	fclose(file);
	return table;
}

void
table_free(Table *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; i < table->nrows * (size_t) table->ncolumns; i++)
		free(table->cell[i]);
	free(table->cell);
	free(table);
}

/* A cell and where it stands, to be sorted. */
typedef struct Place
{
	const char *text;
	double number; /* NaN for a text */
	size_t row;
} Place;

static int
compare_places(const void *a, const void *b)
{
	const Place *left = a;
	const Place *right = b;

	if (!isnan(left->number) && !isnan(right->number) && left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return strcmp(left->text, right->text);
}

KanonProblem *
problem_make(Host *host, const Table *table, const int *column, int ncolumns, uint64_t numerical, int64_t k)
{
	uint32_t *code = calloc(table->nrows * (size_t) ncolumns + 1, sizeof(uint32_t));
	Place *place = malloc(table->nrows * sizeof(Place) + 1);
	double *number[KANON_MAX_COLUMNS];
	KanonProblem *problem;

	/* (a real table) */
	fixture_take_time();
	for (int c = 0; c < ncolumns; c++)
	{
		uint32_t next = 0;

		number[c] = malloc(table->nrows * sizeof(double) + 1);
		for (size_t i = 0; i < table->nrows; i++)
		{
			place[i].text = table->cell[i * (size_t) table->ncolumns + (size_t) column[c]];
			place[i].number = (numerical >> c & 1) ? strtod(place[i].text, NULL) : NAN;
			place[i].row = i;
		}
		qsort(place, table->nrows, sizeof(Place), compare_places);
		for (size_t i = 0; i < table->nrows; i++)
		{
			if (i > 0 && compare_places(&place[i - 1], &place[i]) != 0)
				next++;
			code[place[i].row * (size_t) ncolumns + (size_t) c] = next;
			number[c][next] = place[i].number;
		}
	}
	problem = problem_from_codes(host, code, table->nrows, ncolumns, k);
	for (int c = 0; c < ncolumns; c++)
	{
		if (numerical >> c & 1)
			((KanonColumn *) problem->columns)[c].number = number[c];
		else
			free(number[c]);
	}
	free(place);
	free(code);
	return problem;
}

/* Sorts rows of codes by radix, last column first. */
static uint32_t *
sort_rows(const uint32_t *code, size_t nrows, int ncolumns)
{
	uint32_t *order = malloc(nrows * sizeof(uint32_t) + 1);
	uint32_t *other = malloc(nrows * sizeof(uint32_t) + 1);
	static size_t count[65537];

	for (size_t i = 0; i < nrows; i++)
		order[i] = (uint32_t) i;
	for (int c = ncolumns - 1; c >= 0; c--)
		for (int shift = 0; shift < 32; shift += 16)
		{
			uint32_t *swap = order;

			memset(count, 0, sizeof(count));
			for (size_t i = 0; i < nrows; i++)
				count[(code[i * (size_t) ncolumns + (size_t) c] >> shift & 0xffff) + 1]++;
			for (int d = 0; d < 65536; d++)
				count[d + 1] += count[d];
			for (size_t i = 0; i < nrows; i++)
				other[count[code[order[i] * (size_t) ncolumns + (size_t) c] >> shift & 0xffff]++] = order[i];
			order = other;
			other = swap;
		}
	free(other);
	return order;
}

KanonProblem *
problem_from_codes(Host *host, const uint32_t *code, size_t nrows, int ncolumns, int64_t k)
{
	KanonProblem *problem = calloc(1, sizeof(KanonProblem));
	KanonColumn *columns = calloc((size_t) ncolumns, sizeof(KanonColumn));
	uint32_t *order = sort_rows(code, nrows, ncolumns);
	int64_t *rows = malloc(nrows * sizeof(int64_t) + 1);
	uint32_t ntypes = 0;

	for (size_t i = 0; i < nrows; i++)
	{
		size_t width = (size_t) ncolumns * sizeof(uint32_t);

		if (i > 0 &&
			memcmp(code + order[i] * (size_t) ncolumns, code + order[i - 1] * (size_t) ncolumns, width) == 0)
			rows[ntypes - 1]++;
		else
		{
			order[ntypes] = order[i];
			rows[ntypes++] = 1;
		}
	}
	for (int c = 0; c < ncolumns; c++)
	{
		uint32_t *own = malloc(ntypes * sizeof(uint32_t) + 1);

		for (uint32_t i = 0; i < ntypes; i++)
		{
			own[i] = code[order[i] * (size_t) ncolumns + (size_t) c];
			if (own[i] >= columns[c].distinct)
				columns[c].distinct = own[i] + 1;
		}
		columns[c].code = own;
		columns[c].weight = 1;
	}
	free(order);
	problem->env = &host->env;
	problem->ncolumns = ncolumns;
	problem->columns = columns;
	problem->ntypes = ntypes;
	problem->rows = rows;
	problem->k = k;
	problem->mask.order = KANON_ORDER_DOMAIN;
	problem->mask.max_suppressed = -1;
	problem->mask.max_cost = INFINITY;
	problem->time_limit = INFINITY;
	problem->effort = 1;
	return problem;
}

void
problem_free(KanonProblem *problem)
{
	for (int c = 0; c < problem->ncolumns; c++)
	{
		free((void *) problem->columns[c].code);
		free((void *) problem->columns[c].number);
	}
	free((void *) problem->columns);
	free((void *) problem->rows);
	free(problem);
}

void
problem_random_free(KanonProblem *problem)
{
	free((void *) problem->mask.list);
	free((void *) problem->mask.rules);
	problem_free(problem);
}

/* Some columns; at least two of them if there are. */
static KanonPattern
random_group(uint64_t *random, int ncolumns)
{
	KanonPattern group = KANON_NONE;

	while (kanon_count(group) < (ncolumns < 2 ? ncolumns : 2))
		kanon_add(&group, (int) random_below(random, (uint32_t) ncolumns));
	return group;
}

KanonPattern
random_columns(uint64_t *random, int ncolumns)
{
	KanonPattern columns = KANON_NONE;

	for (int w = 0; 64 * w < ncolumns; w++)
		columns.word[w] = random_next(random);
	return kanon_both(columns, kanon_pattern_all(ncolumns));
}

/* An eighth of them. */
static KanonPattern
few_columns(uint64_t *random, int ncolumns)
{
	KanonPattern columns = random_columns(random, ncolumns);

	for (int i = 0; i < 2; i++)
		columns = kanon_both(columns, random_columns(random, ncolumns));
	return columns;
}

/* Patterns with doubles, the all-suppressed one among them at times. */
static void
random_list(uint64_t *random, KanonProblem *problem)
{
	size_t n = random_below(random, 40);
	KanonPattern *list = malloc((n + 1) * sizeof(KanonPattern));

	for (size_t i = 0; i < n; i++)
	{
		list[i] = random_columns(random, problem->ncolumns);
		if (random_below(random, 2) == 0)
			list[i] = kanon_both(list[i], random_columns(random, problem->ncolumns));
		if (i > 0 && random_below(random, 4) == 0)
			list[i] = list[random_below(random, (uint32_t) i)];
		else if (i > 0 && random_below(random, 2) == 0)
		{
			int first = kanon_next(list[i - 1], 0);

			list[i] = list[i - 1];
			if (first >= 0)
				kanon_remove(&list[i], first);
		}
	}
	problem->mask.list = list;
	problem->mask.nlist = n;
}

/* Rules of every kind, now and then contradictory. */
static void
random_rules(uint64_t *random, KanonProblem *problem)
{
	KanonRule *rules = malloc(3 * sizeof(KanonRule));

	problem->mask.rules = rules;
	problem->mask.nrules = (int) random_below(random, 4);
	for (int r = 0; r < problem->mask.nrules; r++)
	{
		rules[r].kind = (KanonRuleKind) random_below(random, 3);
		rules[r].columns = random_group(random, problem->ncolumns);
		rules[r].implied = random_group(random, problem->ncolumns);
		if (rules[r].kind == KANON_IMPLIES && random_below(random, 2) == 0)
			rules[r].columns = kanon_only(kanon_next(rules[r].columns, 0));
	}
	if (random_below(random, 4) == 0)
		problem->mask.never = few_columns(random, problem->ncolumns);
	if (random_below(random, 4) == 0)
		problem->mask.always = few_columns(random, problem->ncolumns);
	if (random_below(random, 3) == 0)
		problem->mask.max_suppressed = (int) random_below(random, (uint32_t) problem->ncolumns + 1);
	if (random_below(random, 4) == 0)
		problem->mask.max_cost = (double) random_below(random, 50) / 10;
}

void
codes_nest(uint64_t *random, uint32_t *code, size_t nrows, int ncolumns, int *level)
{
	memset(level, 0, (size_t) ncolumns * sizeof(int));
	for (int c = 1; c < ncolumns; c++)
	{
		uint32_t nodes = 1 + random_below(random, 12);
		uint32_t kind = random_below(random, 4);

		if (random_below(random, 3) == 0)
			continue;
		level[c] = level[c - 1] + 1;
		for (size_t i = 0; i < nrows; i++)
		{
			uint32_t *cell = code + i * (size_t) ncolumns + (size_t) c;
			uint64_t hash = cell[-1] + (uint64_t) nodes;

			*cell = kind == 0   ? cell[-1]
					: kind == 1 ? cell[-1] / 2
					: kind == 2 ? cell[-1] / nodes
								: (uint32_t) (random_next(&hash) % nodes);
		}
	}
}

void
problem_set_levels(KanonProblem *problem, const int *level)
{
	for (int c = 0; c < problem->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].level = level[c];
}

KanonProblem *
problem_random(Host *host, uint64_t *random, size_t max_rows, int max_columns)
{
	size_t nrows = random_below(random, 20) == 0 ? random_below(random, 3)
												 : 1 + random_below(random, (uint32_t) max_rows);
	int ncolumns = 1 + (int) random_below(random, (uint32_t) max_columns);
	uint32_t *code = calloc(nrows * (size_t) ncolumns + 1, sizeof(uint32_t));
	uint32_t weights = random_below(random, 5);
	uint32_t copies = random_below(random, 3);
	static const int64_t some_k[] = {1, 2, 2, 3, 3, 4, 5, 7, 10, 25, 100};
	int64_t k = some_k[random_below(random, sizeof(some_k) / sizeof(some_k[0]))];
	int level[KANON_MAX_COLUMNS] = {0};
	KanonProblem *problem;

	for (int c = 0; c < ncolumns; c++)
	{
		static const uint32_t some_domain[] = {1, 2, 2, 3, 4, 5, 8, 20, 300, 70000};
		uint32_t domain = some_domain[random_below(random, 10)];
		uint32_t shape = random_below(random, 4);

		for (size_t i = 0; i < nrows; i++)
		{
			uint32_t *cell = code + i * (size_t) ncolumns + (size_t) c;

			*cell = random_below(random, domain);
			if (shape == 1) /* skewed */
				*cell = random_below(random, *cell + 1);
			else if (shape == 2 && c > 0) /* depends on the column before */
				*cell = cell[-1] / 2;
			else if (shape == 3 && random_below(random, 3) > 0)
				*cell = 0;
		}
	}
	if (random_below(random, 3) == 0)
		codes_nest(random, code, nrows, ncolumns, level);
	problem = problem_from_codes(host, code, nrows, ncolumns, k);
	problem_set_levels(problem, level);
	free(code);
	for (uint32_t i = 0; i < problem->ntypes; i++)
		if (copies == 1 && random_below(random, 4) == 0)
			((int64_t *) problem->rows)[i] += random_below(random, 6);
		else if (copies == 2 && random_below(random, 8) == 0)
			((int64_t *) problem->rows)[i] += (int64_t) (random_next(random) >> 24);
	for (int c = 0; c < ncolumns; c++)
	{
		static const double nasty[] = {0.1, 0.2, 0.3, 0.6, 0.7, 1.1, 1.0 / 3, 2.0 / 3};
		static const double coarse[] = {0, 0, 1, 1, 2, 1e-12, 1e6};
		double *weight = &((KanonColumn *) problem->columns)[c].weight;

		if (weights == 1)
			*weight = (double) (random_next(random) >> 11) * 0x1p-53;
		else if (weights == 2)
			*weight = nasty[random_below(random, 8)];
		else if (weights == 3)
			*weight = coarse[random_below(random, 7)];
		else if (weights == 4)
			*weight = random_below(random, 4);
	}
	problem->residual = (KanonResidual) random_below(random, 3);
	problem->mask.order = (KanonOrder) random_below(random, 3);
	if (random_below(random, 3) == 0)
		random_list(random, problem);
	else if (random_below(random, 2) == 0)
		random_rules(random, problem);
	return problem;
}

KanonProblem *
problem_random_levels(Host *host, uint64_t *random, size_t nrows, int nqis, int max_height, int64_t k)
{
	int level[KANON_MAX_COLUMNS];
	uint32_t up[KANON_MAX_COLUMNS][16];
	uint32_t *code;
	int ncolumns = 0;
	KanonProblem *problem;

	for (int q = 0; q < nqis; q++)
	{
		int height = 1 + (int) random_below(random, (uint32_t) max_height);

		for (int r = 0; r < height; r++, ncolumns++)
		{
			uint32_t step = 0;

			/* a value goes to the same one as that before it, or to the next */
			level[ncolumns] = r;
			for (uint32_t v = 0; v < 16; v++)
				up[ncolumns][v] = v == 0 ? 0 : (step += random_below(random, 2));
		}
	}
	code = calloc(nrows * (size_t) ncolumns, sizeof(*code));
	for (size_t i = 0; i < nrows; i++)
		for (int c = 0; c < ncolumns; c++)
		{
			uint32_t *cell = code + i * (size_t) ncolumns + (size_t) c;

			*cell = level[c] == 0 ? random_below(random, 1 + random_below(random, 16)) : up[c][cell[-1]];
		}
	problem = problem_from_codes(host, code, nrows, ncolumns, k);
	free(code);
	for (int c = 0; c < ncolumns; c++)
		((KanonColumn *) problem->columns)[c].level = level[c];
	if (random_below(random, 2) == 0)
	{
		double *number = malloc(16 * sizeof(double));

		for (uint32_t v = 0; v < 16; v++)
			number[v] = v * v;
		if (random_below(random, 2) == 0)
			number[problem->columns[0].distinct - 1] = NAN;
		((KanonColumn *) problem->columns)[0].number = number;
	}
	return problem;
}

/* The line of a hierarchy for a value. */
static char **
find_line(const Table *hierarchy, const char *value)
{
	for (size_t i = 0; i < hierarchy->nrows; i++)
		if (strcmp(hierarchy->cell[i * (size_t) hierarchy->ncolumns], value) == 0)
			return hierarchy->cell + i * (size_t) hierarchy->ncolumns;
	abort();
}

KanonProblem *
problem_read_levels(Host *host, const char *directory, const char *name, const char *hierarchies, int64_t k)
{
	char path[1024];
	int column[KANON_MAX_COLUMNS] = {0};
	int level[KANON_MAX_COLUMNS];
	Table *table;
	Table *wide = calloc(1, sizeof(Table));
	KanonProblem *problem;

	snprintf(path, sizeof(path), "%s/%s.csv", directory, name);
	table = table_read(path);
	if (table == NULL)
	{
		free(wide);
		return NULL;
	}
	wide->nrows = table->nrows - 1;
	wide->cell = calloc(wide->nrows * KANON_MAX_COLUMNS, sizeof(char *));
	for (int q = 0; q < table->ncolumns; q++)
	{
		Table *hierarchy;

		snprintf(path, sizeof(path), "%s/%s/%s.csv", directory, hierarchies, table->cell[q]);
		hierarchy = table_read(path);
		for (int r = 0; r < hierarchy->ncolumns - 1; r++)
			level[wide->ncolumns + r] = r;
		for (size_t i = 0; i < wide->nrows; i++)
		{
			char **line = find_line(hierarchy, table->cell[(i + 1) * (size_t) table->ncolumns + (size_t) q]);

			for (int r = 0; r < hierarchy->ncolumns - 1; r++)
				wide->cell[i * KANON_MAX_COLUMNS + (size_t) (wide->ncolumns + r)] = strdup(line[r]);
		}
		wide->ncolumns += hierarchy->ncolumns - 1;
		table_free(hierarchy);
	}
	/* row after row, without the room that was left */
	for (size_t i = 0; i < wide->nrows; i++)
		memmove(wide->cell + i * (size_t) wide->ncolumns, wide->cell + i * KANON_MAX_COLUMNS,
				(size_t) wide->ncolumns * sizeof(char *));
	for (int c = 0; c < wide->ncolumns; c++)
		column[c] = c;
	problem = problem_make(host, wide, column, wide->ncolumns, 0, k);
	for (int c = 0; c < wide->ncolumns; c++)
		((KanonColumn *) problem->columns)[c].level = level[c];
	table_free(table);
	table_free(wide);
	return problem;
}

int
cases(int number)
{
	const char *share = getenv("KANON_TEST_SHARE");

	return share == NULL ? number : (int) ((long) number * strtol(share, NULL, 10) / 100) + 1;
}

int
cases_or(int number, int all)
{
	const char *share = getenv("KANON_TEST_SHARE");

	return share != NULL && strcmp(share, "100") == 0 ? all : cases(number);
}

bool
fixture_allows(const KanonProblem *problem, KanonPattern pattern)
{
	KanonMaskIndex *index;
	bool allows;

	if (kanon_mask_open(problem, &index) != KANON_OK)
		abort();
	allows = kanon_mask_contains(index, pattern);
	kanon_mask_close(index);
	return allows;
}

bool
real_tables(void)
{
	return cases(100) > 15;
}

uint64_t
next_failure(uint64_t at)
{
	bool each = getenv("KANON_TEST_SHARE") == NULL || at < (uint64_t) cases(200);

	return at + 1 + (each ? 0 : at / 8);
}

bool
fails_again(Failure *failure)
{
	if (failure->at > 0)
	{
		if (failure->status == KANON_OK)
			return false;
		if (failure->status != failure->how)
		{
			fprintf(stderr, "failure %llu: status %d instead of %d\n", (unsigned long long) failure->at,
					(int) failure->status, (int) failure->how);
			abort();
		}
	}
	failure->at = failure->at == 0 ? 1 : next_failure(failure->at);
	return true;
}

void
fail_at(Host *host, const Failure *failure)
{
	if (failure->how == KANON_NO_MEMORY)
		host->refuse_at = host->allocations + failure->at;
	else
		host->cancel_at = host->polls + failure->at;
}

uint64_t
random_next(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint32_t
random_below(uint64_t *state, uint32_t bound)
{
	return (uint32_t) ((random_next(state) >> 32) * bound >> 32);
}

/* Adult's columns without fnlwgt. */
const int adult14[14] = {0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

/*
 * Adult widened to 20 quasi-identifiers: the fourteen, and six made of them and
 * of fnlwgt, as in bench/setup.sql:
 *
 *	age_decade		age / 10
 *	hours_band		hours_per_week / 10
 *	weight_band		fnlwgt / 50000
 *	capital_kind	1 if there is a capital_gain, plus 2 if there is a capital_loss
 *	digit7, digit5	fnlwgt mod 7 and mod 5, as good as hashes of the person
 */
Table *
adult_widen(const Table *adult)
{
	Table *wide = calloc(1, sizeof(Table));

	wide->nrows = adult->nrows;
	wide->ncolumns = 20;
	wide->cell = malloc(wide->nrows * 20 * sizeof(char *));
	for (size_t i = 0; i < adult->nrows; i++)
	{
		char **from = adult->cell + i * (size_t) adult->ncolumns;
		char **to = wide->cell + i * 20;
		long weight = strtol(from[2], NULL, 10);
		long extra[6] = {strtol(from[0], NULL, 10) / 10,
						 strtol(from[12], NULL, 10) / 10,
						 weight / 50000,
						 (strtol(from[10], NULL, 10) > 0) + 2 * (strtol(from[11], NULL, 10) > 0),
						 weight % 7,
						 weight % 5};

		for (int c = 0; c < 14; c++)
			to[c] = strdup(from[adult14[c]]);
		for (int c = 0; c < 6; c++)
		{
			char text[24];

			snprintf(text, sizeof(text), "%ld", extra[c]);
			to[14 + c] = strdup(text);
		}
	}
	return wide;
}

/* ---- distributions ---- */

/* Expected counts below this are put together. */
#define LEAST_EXPECTED 10

double
deviation(const double *expected, const double *found, int n)
{
	double sum = 0, e = 0, f = 0;
	int cells = 0;

	for (int i = 0; i < n; i++)
	{
		e += expected[i];
		f += found[i];
		if (e < LEAST_EXPECTED && i < n - 1)
			continue;
		sum += e > 0 ? (f - e) * (f - e) / e : f;
		cells++;
		e = f = 0;
	}
	cells--;
	return (cbrt(sum / cells) - (1 - 2.0 / (9 * cells))) / sqrt(2.0 / (9 * cells));
}

/* The one class of a row type; *several: it has more. */
static uint32_t
class_of(const KanonRelease *release, uint32_t type, bool *several)
{
	uint32_t class_ = KANON_DROPPED;
	int n = 0;

	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].type == type)
		{
			class_ = release->flows[f].class_;
			n++;
		}
	*several = n > 1;
	return class_;
}

bool
stay_together(const KanonPrevious *previous, const KanonRelease *release)
{
	uint32_t *now = malloc(sizeof(uint32_t) * (previous->nclasses + 1));
	bool *seen = calloc(previous->nclasses + 1, sizeof(bool));
	bool fine = true;

	for (size_t f = 0; f < previous->nflows; f++)
	{
		const KanonFlow *flow = &previous->flows[f];
		bool several;
		uint32_t class_ = class_of(release, flow->type, &several);

		fine = fine && !several && (!seen[flow->class_] || now[flow->class_] == class_);
		seen[flow->class_] = true;
		now[flow->class_] = class_;
	}
	free(now);
	free(seen);
	return fine;
}
