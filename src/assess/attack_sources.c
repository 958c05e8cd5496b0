/*
 * attack_sources.c: publishes every source that agrees with a release again.
 *
 * A source is how many rows it has of each combination of quasi-identifiers with each value.  Rows are put down
 * combination by combination, as long as the classes of the release have room for them.  When a source fills them,
 * the method makes a release of it, which is compared with the one that is attacked.
 */
#include "compat.h"
#include "core/privacy/rules.h"
#include "assess/assess.h"

#include "lib/stringinfo.h"
#include "utils/memutils.h"

/* Beyond that a machine would be busy for minutes. */
#define MOST_ROWS 16
#define MOST_COMBINATIONS 64
#define MOST_STEPS 200000
#define MOST_SOURCES 20000

typedef struct Sources
{
	Run *run;
	bool values;
	int ncolumns;
	uint32 ncombinations;
	uint32 nvalues;
	uint32 **code;  /* [ncombinations][ncolumns] */
	uint32 **value; /* [nvalues][nextra] */
	int64 *rows;    /* [ncombinations] of the source, where they are known */
	int64 *counted; /* [nvalues] of the release */

	uint32 nclasses;
	bool *shows;   /* [nclasses * ncombinations] */
	int64 *room;   /* [nclasses * nvalues] */
	char *release; /* as text */

	int64 *count; /* [ncombinations * nvalues] of the source at hand */
	int64 *used;  /* [nvalues] rows of it so far */
	int64 *flow;  /* scratch of routable: [ncombinations * nclasses] */
	bool *seen;   /* [nclasses] */
	int64 steps;
	MemoryContext scratch;

	/* of all that fit, and of those that are left */
	Concluded *told[2];
	int64 *least[2];   /* [ncombinations * nvalues] */
	double *chance[2]; /* the same, by weight */
	double weight[2];
} Sources;

/* ---- the release ---- */

static bool
cell_shows(const KanonRelease *release, KanonCell cell, uint32 code)
{
	const uint32 *pool = release->pool;

	switch (cell.show)
	{
		case KANON_SHOW_NOTHING:
			return true;
		case KANON_SHOW_VALUE:
			return cell.code == code;
		case KANON_SHOW_RANGE:
			return pool[cell.code] <= code && code <= pool[cell.code + 1];
		case KANON_SHOW_SET:
			for (uint32 i = 1; i <= pool[cell.code]; i++)
				if (pool[cell.code + i] == code)
					return true;
			return false;
	}
	return false;
}

/* A code of the problem at hand as one of the source's. */
static uint32
true_code(uint32 *const *codes, int column, uint32 code)
{
	return codes != NULL ? codes[column][code] : code;
}

static int
compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* A release as readers see it, whatever the order of classes: cells, and how many rows have which value. */
static char *
release_text(const Sources *sources, const KanonProblem *problem, const KanonRelease *release,
			 uint32 *const *codes, const uint32 *value)
{
	char **texts = palloc(sizeof(char *) * Max(release->nclasses, 1));
	int64 *counts = palloc0(sizeof(int64) * Max((Size) release->nclasses * sources->nvalues, 1));
	StringInfoData all;

	for (size_t i = 0; i < release->nflows; i++)
		if (release->flows[i].class_ != KANON_DROPPED)
			counts[(Size) release->flows[i].class_ * sources->nvalues + value[release->flows[i].type]] +=
				release->flows[i].rows;
	for (uint32 i = 0; i < release->nclasses; i++)
	{
		StringInfoData text;

		initStringInfo(&text);
		for (int c = 0; c < problem->ncolumns; c++)
		{
			KanonCell cell = release->cells[(Size) i * problem->ncolumns + c];
			const uint32 *pool = release->pool;

			appendStringInfo(&text, "%u", cell.show);
			if (cell.show == KANON_SHOW_VALUE)
				appendStringInfo(&text, " %u", true_code(codes, c, cell.code));
			else if (cell.show == KANON_SHOW_RANGE)
				appendStringInfo(&text, " %u-%u", true_code(codes, c, pool[cell.code]),
								 true_code(codes, c, pool[cell.code + 1]));
			else if (cell.show == KANON_SHOW_SET)
				for (uint32 j = 1; j <= pool[cell.code]; j++)
					appendStringInfo(&text, " %u", true_code(codes, c, pool[cell.code + j]));
			appendStringInfoChar(&text, ',');
		}
		for (uint32 v = 0; v < sources->nvalues; v++)
			appendStringInfo(&text, ":" INT64_FORMAT, counts[(Size) i * sources->nvalues + v]);
		texts[i] = text.data;
	}
	qsort(texts, release->nclasses, sizeof(char *), compare_texts);
	initStringInfo(&all);
	for (uint32 i = 0; i < release->nclasses; i++)
		appendStringInfo(&all, "%s;", texts[i]);
	return all.data;
}

/* ---- combinations and values ---- */

static bool
same_codes(const KanonColumn *columns, int n, uint32 a, uint32 b)
{
	for (int c = 0; c < n; c++)
		if (columns[c].code[a] != columns[c].code[b])
			return false;
	return true;
}

static uint32 *
codes_of(const KanonColumn *columns, int n, uint32 type)
{
	uint32 *codes = palloc(sizeof(uint32) * Max(n, 1));

	for (int c = 0; c < n; c++)
		codes[c] = columns[c].code[type];
	return codes;
}

pg_noreturn static void
raise_large(const char *what, int most)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the table is too large to try every source that its release may come from"),
			 errdetail("More than %d %s would have to be tried.", most, what),
			 errhint("Publish and attack a small sample of it: some ten rows of few different values.")));
}

/* The source's own combinations, each once. */
static void
known_combinations(Sources *sources)
{
	const KanonProblem *problem = &sources->run->problem;

	sources->code = palloc(sizeof(uint32 *) * Max(problem->ntypes, 1));
	sources->rows = palloc0(sizeof(int64) * Max(problem->ntypes, 1));
	for (uint32 i = 0; i < problem->ntypes; i++)
	{
		if (i == 0 || !same_codes(problem->columns, problem->ncolumns, i - 1, i))
			sources->code[sources->ncombinations++] = codes_of(problem->columns, problem->ncolumns, i);
		sources->rows[sources->ncombinations - 1] += problem->rows[i];
	}
	if (sources->ncombinations > MOST_COMBINATIONS)
		raise_large("combinations of quasi-identifiers", MOST_COMBINATIONS);
}

/* Every combination of values that columns have; levels follow from the values below them. */
static void
all_combinations(Sources *sources)
{
	const KanonProblem *problem = &sources->run->problem;
	int64 n = 1;

	for (int c = 0; c < problem->ncolumns; c++)
		if (problem->columns[c].level == 0 && (n *= problem->columns[c].distinct) > MOST_COMBINATIONS)
			raise_large("combinations of quasi-identifiers", MOST_COMBINATIONS);
	sources->ncombinations = (uint32) n;
	sources->code = palloc(sizeof(uint32 *) * n);
	for (int64 i = 0; i < n; i++)
	{
		int64 rest = i;
		uint32 *codes = sources->code[i] = palloc(sizeof(uint32) * problem->ncolumns);

		for (int c = problem->ncolumns - 1; c >= 0; c--)
			if (problem->columns[c].level == 0)
			{
				codes[c] = (uint32) (rest % problem->columns[c].distinct);
				rest /= problem->columns[c].distinct;
			}
		for (int c = 0, below = 0; c < problem->ncolumns; c++)
		{
			const KanonColumn *column = &problem->columns[c];
			uint32 type = 0;

			below = column->level == 0 ? c : below;
			while (problem->columns[below].code[type] != codes[below])
				type++;
			codes[c] = column->code[type];
		}
	}
}

/* The different values of columns that privacy rules are about; of each row type, which of them it has. */
static uint32 *
find_values(Sources *sources)
{
	const KanonProblem *problem = &sources->run->problem;
	uint32 *value = palloc0(sizeof(uint32) * Max(problem->ntypes, 1));

	sources->value = palloc(sizeof(uint32 *) * (problem->ntypes + 1));
	sources->value[0] = NULL;
	sources->nvalues = problem->nextra == 0;
	for (uint32 i = 0; problem->nextra > 0 && i < problem->ntypes; i++)
	{
		uint32 before = 0;

		while (before < i && !same_codes(problem->extra, problem->nextra, before, i))
			before++;
		if (before == i)
			sources->value[sources->nvalues++] = codes_of(problem->extra, problem->nextra, i);
		value[i] = before == i ? sources->nvalues - 1 : value[before];
	}
	return value;
}

/* Which classes a combination may be in, and how many rows with each value they have; what was left out is one more. */
static void
look_at_release(Sources *sources, const uint32 *value)
{
	const KanonRelease *release = &sources->run->release;
	const KanonProblem *problem = &sources->run->problem;

	sources->nclasses = release->nclasses + 1;
	sources->shows = palloc(sizeof(bool) * sources->nclasses * sources->ncombinations);
	sources->room = palloc0(sizeof(int64) * sources->nclasses * sources->nvalues);
	sources->counted = palloc0(sizeof(int64) * sources->nvalues);
	for (uint32 i = 0; i < sources->nclasses; i++)
		for (uint32 e = 0; e < sources->ncombinations; e++)
		{
			bool shows = true;

			for (int c = 0; i < release->nclasses && shows && c < problem->ncolumns; c++)
				shows = cell_shows(release, release->cells[(Size) i * problem->ncolumns + c],
								   sources->code[e][c]);
			sources->shows[(Size) i * sources->ncombinations + e] = shows;
		}
	for (size_t i = 0; i < release->nflows; i++)
	{
		const KanonFlow *flow = &release->flows[i];
		uint32 class_ = flow->class_ == KANON_DROPPED ? release->nclasses : flow->class_;

		sources->room[(Size) class_ * sources->nvalues + value[flow->type]] += flow->rows;
		sources->counted[value[flow->type]] += flow->rows;
	}
}

/* ---- which sources fit ---- */

/* Moves rows of other combinations out of the way, until one more of this has room (Ford and Fulkerson). */
static bool
make_room(Sources *sources, uint32 combination, uint32 v)
{
	uint32 n = sources->ncombinations;

	for (uint32 i = 0; i < sources->nclasses; i++)
	{
		int64 used = 0;
		bool free;

		if (sources->seen[i] || !sources->shows[(Size) i * n + combination])
			continue;
		sources->seen[i] = true;
		for (uint32 e = 0; e < n; e++)
			used += sources->flow[(Size) i * n + e];
		free = used < sources->room[(Size) i * sources->nvalues + v];
		for (uint32 e = 0; !free && e < n; e++)
			if (sources->flow[(Size) i * n + e] > 0 && make_room(sources, e, v))
			{
				sources->flow[(Size) i * n + e]--;
				free = true;
			}
		if (free)
		{
			sources->flow[(Size) i * n + combination]++;
			return true;
		}
	}
	return false;
}

/* Have the classes room for the rows with one value? */
static bool
routable(Sources *sources, uint32 v)
{
	memset(sources->flow, 0, sizeof(int64) * sources->nclasses * sources->ncombinations);
	for (uint32 e = 0; e < sources->ncombinations; e++)
		for (int64 i = 0; i < sources->count[(Size) e * sources->nvalues + v]; i++)
		{
			memset(sources->seen, 0, sizeof(bool) * sources->nclasses);
			if (!make_room(sources, e, v))
				return false;
		}
	return true;
}

/* ---- a source is published ---- */

/* The values of a column that the source at hand has, numbered anew; codes: what they are in the source. */
static void
take_column(const Sources *sources, const uint32 *combination, uint32 n, int c, KanonColumn *column,
			uint32 **codes)
{
	uint32 *number = palloc0(sizeof(uint32) * Max(column->distinct, 1));
	uint32 *code = palloc(sizeof(uint32) * n);
	double *numbers = column->number != NULL ? palloc(sizeof(double) * Max(column->distinct, 1)) : NULL;
	uint32 distinct = 0;

	*codes = palloc(sizeof(uint32) * Max(column->distinct, 1));
	for (uint32 i = 0; i < n; i++)
		number[sources->code[combination[i]][c]] = 1;
	column->has_null = column->has_null && number[column->distinct - 1] != 0;
	for (uint32 old = 0; old < column->distinct; old++)
		if (number[old] != 0)
		{
			if (numbers != NULL)
				numbers[distinct] = column->number[old];
			(*codes)[distinct] = old;
			number[old] = distinct++;
		}
	for (uint32 i = 0; i < n; i++)
		code[i] = number[sources->code[combination[i]][c]];
	column->code = code;
	column->distinct = distinct;
	column->number = numbers;
}

/* The problem of the source at hand; codes as in take_column, value: of each row type. */
static void
make_problem(const Sources *sources, KanonProblem *problem, uint32 **codes, uint32 **value)
{
	uint32 most = sources->ncombinations * sources->nvalues, n = 0;
	uint32 *combination = palloc(sizeof(uint32) * most);
	int64 *rows = palloc(sizeof(int64) * most);
	KanonColumn *columns = palloc(sizeof(KanonColumn) * problem->ncolumns);
	KanonColumn *extra = palloc(sizeof(KanonColumn) * Max(problem->nextra, 1));

	*value = palloc(sizeof(uint32) * most);
	for (uint32 e = 0; e < sources->ncombinations; e++)
		for (uint32 v = 0; v < sources->nvalues; v++)
			if (sources->count[(Size) e * sources->nvalues + v] > 0)
			{
				combination[n] = e;
				(*value)[n] = v;
				rows[n++] = sources->count[(Size) e * sources->nvalues + v];
			}
	for (int c = 0; c < problem->ncolumns; c++)
	{
		columns[c] = problem->columns[c];
		take_column(sources, combination, n, c, &columns[c], &codes[c]);
	}
	for (int x = 0; x < problem->nextra; x++)
	{
		uint32 *code = palloc(sizeof(uint32) * n);

		for (uint32 i = 0; i < n; i++)
			code[i] = sources->value[(*value)[i]][x];
		extra[x] = problem->extra[x];
		extra[x].code = code;
	}
	problem->columns = columns;
	problem->extra = extra;
	problem->rows = rows;
	problem->ntypes = n;
}

/* Is the release of the source at hand the one that is attacked? */
static bool
same_release(Sources *sources)
{
	Run again = *sources->run;
	uint32 *codes[KANON_MAX_COLUMNS];
	uint32 *value;
	const KanonPrivacyRule *rules;
	bool same;

	make_problem(sources, &again.problem, codes, &value);
	memset(&again.release, 0, sizeof(again.release));
	memset(&again.report, 0, sizeof(again.report));
	again.diversity = NULL;
	if (again.problem.privacy != NULL)
	{
		int n = kanon_privacy_rules(again.problem.privacy, &rules);

		border_check(again.border, kanon_privacy_open(&again.problem, rules, n, &again.problem.privacy), "");
	}
	same = run_solve_changed(&again) &&
		   strcmp(sources->release, release_text(sources, &again.problem, &again.release, codes, value)) == 0;
	run_forget(&again);
	if (again.diversity != NULL)
		border_pfree(again.border, again.diversity);
	if (again.problem.privacy != NULL)
		kanon_privacy_close(again.problem.privacy);
	return same;
}

/* ---- all of them ---- */

/* In how many ways the values of a source can be those of its persons. */
static double
ways(const Sources *sources)
{
	double ways = 1;

	for (uint32 e = 0; sources->values && e < sources->ncombinations; e++)
	{
		int64 n = 0;

		for (uint32 v = 0; v < sources->nvalues; v++)
			for (int64 i = 1; i <= sources->count[(Size) e * sources->nvalues + v]; i++)
				ways = ways * (double) ++n / (double) i;
	}
	return ways;
}

static void
conclude(Sources *sources, int which)
{
	Size n = (Size) sources->ncombinations * sources->nvalues;
	double weight = ways(sources);

	for (Size i = 0; i < n; i++)
	{
		if (sources->told[which]->sources == 0 || sources->count[i] < sources->least[which][i])
			sources->least[which][i] = sources->count[i];
		sources->chance[which][i] += weight * (double) sources->count[i];
	}
	sources->told[which]->sources++;
	sources->weight[which] += weight;
}

static void
look_at_source(Sources *sources)
{
	MemoryContext old = MemoryContextSwitchTo(sources->scratch);

	if (sources->told[0]->sources == MOST_SOURCES)
		raise_large("sources", MOST_SOURCES);
	conclude(sources, 0);
	if (same_release(sources))
		conclude(sources, 1);
	border_progress(sources->run->border, "trying sources", 0, -1);
	MemoryContextSwitchTo(old);
	MemoryContextReset(sources->scratch);
}

/* Every number of rows of one combination and value, and all that may follow.  left: rows of the combination. */
static void
put_down(Sources *sources, uint32 e, uint32 v, int64 left)
{
	Size place = (Size) e * sources->nvalues + v;
	int64 missing = sources->counted[v] - sources->used[v];
	int64 most = Min(left, missing), least = 0;

	CHECK_FOR_INTERRUPTS();
	if (++sources->steps > MOST_STEPS)
		raise_large("steps", MOST_STEPS);
	if (e + 1 == sources->ncombinations)
		least = missing;
	if (sources->values && v + 1 == sources->nvalues)
		least = Max(least, left);
	for (int64 n = 0; n <= most; n++)
	{
		sources->count[place] = n;
		sources->used[v] += n;
		/* where there is no room now there will be none later */
		if (n > 0 && !routable(sources, v))
		{
			sources->used[v] -= n;
			break;
		}
		if (n >= least)
		{
			if (v + 1 < sources->nvalues)
				put_down(sources, e, v + 1, left - n);
			else if (e + 1 < sources->ncombinations)
				put_down(sources, e + 1, 0, sources->values ? sources->rows[e + 1] : PG_INT64_MAX);
			else
				look_at_source(sources);
		}
		sources->used[v] -= n;
	}
	sources->count[place] = 0;
}

/* Counts whom the attacker knows something certain of: a value that everybody of the combination has; else a row that all sources have. */
static void
put_concluded(const Sources *sources, int which)
{
	Concluded *told = sources->told[which];

	for (uint32 e = 0; told->sources > 0 && e < sources->ncombinations; e++)
		for (uint32 v = 0; v < sources->nvalues; v++)
		{
			Size i = (Size) e * sources->nvalues + v;

			if (sources->values && sources->least[which][i] == sources->rows[e])
				told->certain += sources->rows[e];
			if (sources->values)
				told->highest = Max(told->highest, sources->chance[which][i] /
													   (sources->weight[which] * (double) sources->rows[e]));
			else
				told->certain += sources->least[which][i];
		}
}

void
sources_try(Run *run, bool values, Concluded *fit, Concluded *left)
{
	Sources sources = {.run = run, .values = values, .ncolumns = run->problem.ncolumns, .told = {fit, left}};
	uint32 *value;
	Size n;

	if (run->types->nrows > MOST_ROWS)
		raise_large("rows", MOST_ROWS);
	value = find_values(&sources);
	if (values)
		known_combinations(&sources);
	else
		all_combinations(&sources);
	look_at_release(&sources, value);
	sources.release = release_text(&sources, &run->problem, &run->release, NULL, value);
	n = (Size) sources.ncombinations * sources.nvalues;
	sources.count = palloc0(sizeof(int64) * n);
	sources.used = palloc0(sizeof(int64) * sources.nvalues);
	sources.flow = palloc(sizeof(int64) * sources.nclasses * sources.ncombinations);
	sources.seen = palloc(sizeof(bool) * sources.nclasses);
	sources.scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon sources", ALLOCSET_DEFAULT_SIZES);
	for (int which = 0; which < 2; which++)
	{
		*sources.told[which] = (Concluded){0};
		sources.least[which] = palloc0(sizeof(int64) * n);
		sources.chance[which] = palloc0(sizeof(double) * n);
	}
	put_down(&sources, 0, 0, values ? sources.rows[0] : PG_INT64_MAX);
	put_concluded(&sources, 0);
	put_concluded(&sources, 1);
}
