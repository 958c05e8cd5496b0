/*
 * instances.c: enumeration of live closed instances.
 *
 * With every combination allowed, the closed live instances are the closed
 * frequent itemsets of the table (an item: a column's value, a level's, too, as
 * what rows agree in they do on every level above; support: rows), enumerated by prefix-preserving closure extension: T. Uno, M. Kiyomi,
 * H. Arimura, "LCM ver. 2", FIMI 2004.  Each comes up once, none is stored to
 * find doubles.  For a list or a set of rules every pattern is grouped by
 * hashing.
 */
#include <math.h>
#include <string.h>

#include "program/instances.h"
#include "util/hash.h"
#include "util/sort.h"
#include "util/scratch.h"

/* What sums of the cost of all rows may lose, as a part of what all rows cost at most. */
#define ROUNDING 1e-15

/* The smallest weight, as a part of the largest, that GLPK's tolerance for prices (1e-7 of these) leaves in sight. */
#define WIDEST 1e-4
#define WIDEST_WHOLE 1e-7

/*
 * The largest number of which all weights are whole multiples, by Euclid's
 * algorithm in floating point; none when the multiples get too large for
 * exact sums.
 */
void
kanon_instances_grid(const KanonProblem *problem, KanonInstances *instances)
{
	double unit = 0;
	double largest = 0;
	double least = INFINITY;
	double total = 0;
	double rows = 0;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		double a = problem->columns[c].weight;
		double b = unit;

		largest = fmax(largest, a);
		least = a > 0 ? fmin(least, a) : least;
		total += a;
		if (b > a)
		{
			b = a;
			a = unit;
		}
		while (b > 1e-9 * largest)
		{
			double r = fmod(a, b);

			if (b - r < 1e-9 * largest)
				r = 0;
			a = b;
			b = r;
		}
		unit = a;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		rows += (double) problem->rows[i];
	instances->unit = largest > 0 ? largest : 1;
	instances->integral = false;
	if (unit > 0 && total / unit * rows < 1e12)
	{
		bool whole = true;

		for (int c = 0; c < problem->ncolumns; c++)
		{
			double multiple = problem->columns[c].weight / unit;

			/* all roundings together must stay far below one unit, and no weight is lost by them */
			if (fabs(multiple - rint(multiple)) * rows * problem->ncolumns > 1e-4 ||
				fabs(multiple - rint(multiple)) > KANON_SAME * multiple)
				whole = false;
		}
		if (whole)
		{
			instances->unit = unit;
			instances->integral = true;
		}
	}
	instances->all_cost = kanon_instances_cost(problem, instances, kanon_pattern_all(problem->ncolumns));
	instances->least = least < INFINITY ? least / instances->unit : 1;
	instances->rounding = instances->integral ? 0 : ROUNDING * rows * instances->all_cost;
	instances->wide =
		largest / instances->unit * (instances->integral ? WIDEST_WHOLE : WIDEST) > instances->least;
}

double
kanon_instances_slack(const KanonInstances *instances, double cost)
{
	return instances->integral ? 1e-3 : KANON_SAME * fmax(instances->least, fabs(cost));
}

double
kanon_instances_cost(const KanonProblem *problem, const KanonInstances *instances, KanonPattern pattern)
{
	double cost = 0;

	for (int c = 0; c < problem->ncolumns; c++)
		if (pattern >> c & 1)
			cost += instances->integral ? rint(problem->columns[c].weight / instances->unit)
										: problem->columns[c].weight / instances->unit;
	return cost;
}

/*
 * A mask takes costs for equal that differ by a billionth of all weights, and puts these
 * patterns into another order.
 */
static bool
in_order(const double *cost, size_t n)
{
	for (size_t p = 1; p < n; p++)
		if (cost[p - 1] > cost[p] * (1 + KANON_SAME / 2))
			return false;
	return true;
}

KanonStatus
kanon_instances_patterns(const KanonProblem *problem, size_t limit, KanonPattern **patterns,
						 size_t *npatterns)
{
	KanonStatus status = kanon_mask_enumerate(problem, limit, patterns, npatterns);
	KanonScratch scratch = {.env = problem->env};
	KanonKeyed *order;
	KanonPattern *old;
	double *cost;
	size_t n = *npatterns;

	if (status != KANON_OK)
		return status;
	cost = kanon_take(&scratch, n, sizeof(*cost));
	order = kanon_take(&scratch, n, 2 * sizeof(*order));
	old = kanon_take(&scratch, n, sizeof(*old));
	status = kanon_taken(&scratch);
	for (size_t p = 0; p < n && status == KANON_OK; p++)
		cost[p] = kanon_pattern_cost(problem, (*patterns)[p]);
	if (status == KANON_OK && !in_order(cost, n))
	{
		memcpy(old, *patterns, n * sizeof(*old));
		for (size_t p = 0; p < n; p++)
			order[p] = (KanonKeyed){cost[p], (uint32_t) p};
		kanon_sort(order, order + n, n, sizeof(*order), kanon_compare_keyed, NULL);
		for (size_t p = 0; p < n; p++)
			(*patterns)[p] = old[order[p].item];
	}
	kanon_scratch_free(&scratch);
	if (status != KANON_OK)
	{
		kanon_free(problem->env, *patterns);
		*patterns = NULL;
	}
	return status;
}

void
kanon_instances_free(KanonEnv *env, KanonInstances *instances)
{
	kanon_free(env, instances->pattern);
	kanon_free(env, instances->cost);
	kanon_free(env, instances->start);
	kanon_free(env, instances->type);
	memset(instances, 0, sizeof(*instances));
}

/* What both enumerations share. */
typedef struct Builder
{
	const KanonProblem *problem;
	KanonScratch scratch;
	KanonPace *pace;
	KanonInstances *out;
	KanonInstanceMode mode;
	double max_cost;
	size_t max_pairs;
	size_t pairs;
	size_t room; /* for instances */
	size_t pair_room;
	/* what a sieve lets through; NULL: all */
	KanonSieve sieve;
	void *sieve_arg;
	uint32_t *sifted; /* [ntypes] */
	/* every combination: */
	uint32_t **level;     /* per depth, row types grouped */
	uint32_t **code_rows; /* per depth, places by code */
	/* lists: */
	KanonPattern *patterns;
	size_t npatterns;
} Builder;

/* Appends an instance; its types must ascend. */
static KanonStatus
emit(Builder *b, KanonPattern pattern, double cost, const uint32_t *types, uint32_t ntypes)
{
	KanonInstances *out = b->out;

	if (b->sieve != NULL)
	{
		ntypes = b->sieve(b->sieve_arg, cost, types, ntypes, b->sifted);
		types = b->sifted;
		if (ntypes == 0)
			return KANON_OK;
	}
	if (b->pairs + ntypes > b->max_pairs || out->n >= KANON_MAX_TYPES)
		return KANON_TOO_LARGE;
	if (!KANON_GROW(&b->scratch, &b->room, out->n + (size_t) 2, KANON_ARRAY(out->pattern),
					KANON_ARRAY(out->cost), KANON_ARRAY(out->start)) ||
		!KANON_GROW(&b->scratch, &b->pair_room, b->pairs + ntypes, KANON_ARRAY(out->type)))
		return KANON_NO_MEMORY;
	out->pattern[out->n] = pattern;
	out->cost[out->n] = cost;
	memcpy(out->type + b->pairs, types, ntypes * sizeof(*types));
	b->pairs += ntypes;
	out->n++;
	out->start[out->n] = b->pairs;
	return KANON_OK;
}

/* Could no rows of these types, k or more, be a class of the problem that this one is without its rules? */
static bool
is_hopeless(const Builder *b, const uint32_t *types, uint32_t ntypes)
{
	if (b->problem->viable == NULL)
		return false;
	b->pace->work += ntypes;
	return !b->problem->viable(b->problem, types, ntypes);
}

/* The columns among `open` in which the types differ; stops when none is left. */
static KanonPattern
varying(Builder *b, const uint32_t *types, uint32_t ntypes, KanonPattern open)
{
	const KanonColumn *columns = b->problem->columns;
	KanonPattern same = open;

	for (uint32_t j = 1; j < ntypes && same != 0; j++)
		for (KanonPattern rest = same; rest != 0; rest &= rest - 1)
		{
			int c = __builtin_ctzll(rest);

			if (columns[c].code[types[j]] != columns[c].code[types[0]])
				same &= ~((KanonPattern) 1 << c);
		}
	return open & ~same;
}

/*
 * Every combination.  `types` agree on the columns outside `pattern` and on no
 * other.  Each closed part by a column after `core` whose closure adds no
 * earlier column is new, and all closed parts are found so.
 */
static KanonStatus
extend(Builder *b, int depth, const uint32_t *types, uint32_t ntypes, KanonPattern pattern, int core)
{
	const KanonProblem *problem = b->problem;
	KanonStatus status;
	uint32_t *part = b->level[depth];
	uint32_t *place = b->code_rows[depth];

	for (int c = core + 1; c < problem->ncolumns; c++)
	{
		const uint32_t *code = problem->columns[c].code;
		uint32_t at = 0;

		if ((pattern >> c & 1) == 0)
			continue;
		if (kanon_step(b->pace, (int64_t) ntypes * 4))
			return KANON_CANCELLED;
		if (b->pace->late)
			return KANON_TOO_LARGE;
		/* group by the column's code, groups in the order of first sight */
		for (uint32_t j = 0; j < ntypes; j++)
			place[code[types[j]]]++;
		for (uint32_t j = 0; j < ntypes; j++)
		{
			uint32_t v = code[types[j]];

			if ((place[v] & 0x80000000u) == 0)
			{
				uint32_t count = place[v];

				place[v] = at | 0x80000000u;
				at += count;
			}
			part[place[v] & 0x7fffffffu] = types[j];
			place[v]++;
		}
		for (uint32_t j = 0; j < ntypes; j++)
			place[code[types[j]]] = 0;
		for (uint32_t lo = 0, hi; lo < ntypes; lo = hi)
		{
			KanonPattern open = pattern & ~((KanonPattern) 1 << c);
			KanonPattern closed;
			int64_t rows = 0;

			for (hi = lo; hi < ntypes && code[part[hi]] == code[part[lo]]; hi++)
				rows += problem->rows[part[hi]];
			if (rows < problem->k)
				continue;
			closed = varying(b, part + lo, hi - lo, open);
			if ((open & ~closed & (((KanonPattern) 1 << c) - 1)) != 0)
				continue; /* found from that earlier column */
			{
				double cost = kanon_instances_cost(problem, b->out, closed);

				if (is_hopeless(b, part + lo, hi - lo))
					continue;
				if (cost <= b->max_cost && (status = emit(b, closed, cost, part + lo, hi - lo)) != KANON_OK)
					return status;
			}
			if (closed != 0 && (status = extend(b, depth + 1, part + lo, hi - lo, closed, c)) != KANON_OK)
				return status;
		}
	}
	return KANON_OK;
}

static KanonStatus
build_every(Builder *b)
{
	const KanonProblem *problem = b->problem;
	int depth = problem->ncolumns;
	size_t mark = kanon_mark(&b->scratch);
	uint32_t *types = kanon_take(&b->scratch, problem->ntypes, sizeof(*types));
	KanonStatus status;
	uint32_t distinct = 1;

	for (int c = 0; c < depth; c++)
		if (problem->columns[c].distinct > distinct)
			distinct = problem->columns[c].distinct;
	b->level = kanon_take0(&b->scratch, (size_t) depth + 1, sizeof(*b->level));
	b->code_rows = kanon_take0(&b->scratch, (size_t) depth + 1, sizeof(*b->code_rows));
	for (int d = 0; d <= depth && !b->scratch.failed; d++)
	{
		b->level[d] = kanon_take(&b->scratch, problem->ntypes, sizeof(uint32_t));
		b->code_rows[d] = kanon_take0(&b->scratch, distinct, sizeof(uint32_t));
	}
	if ((status = kanon_taken(&b->scratch)) != KANON_OK)
		return status;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		types[i] = i;
	{
		KanonPattern all = kanon_pattern_all(depth);
		KanonPattern root = varying(b, types, problem->ntypes, all);
		double cost = kanon_instances_cost(problem, b->out, root);
		int64_t rows = 0;

		for (uint32_t i = 0; i < problem->ntypes; i++)
			rows += problem->rows[i];
		if (is_hopeless(b, types, problem->ntypes))
			rows = 0;
		if (rows >= problem->k && root != all && cost <= b->max_cost)
			status = emit(b, root, cost, types, problem->ntypes);
		if (status == KANON_OK && rows >= problem->k)
			status = extend(b, 0, types, problem->ntypes, root, -1);
	}
	kanon_release(&b->scratch, mark);
	return status;
}

/* First pattern in the mask's order that suppresses all of `varies`, cached. */
typedef struct FirstCache
{
	KanonPattern *key;
	uint32_t *value; /* position + 1; 0: empty */
	size_t size;     /* a power of two */
	size_t used;
} FirstCache;

static size_t
first_covering(Builder *b, FirstCache *cache, KanonPattern varies)
{
	size_t at = kanon_mix(varies) & (cache->size - 1);
	size_t p;

	while (cache->value[at] != 0 && cache->key[at] != varies)
		at = (at + 1) & (cache->size - 1);
	if (cache->value[at] != 0)
		return cache->value[at] - 1;
	for (p = 0; p < b->npatterns; p++)
		if ((varies & ~b->patterns[p]) == 0)
			break;
	b->pace->work += (int64_t) p;
	if (cache->used < cache->size / 2)
	{
		cache->key[at] = varies;
		cache->value[at] = (uint32_t) p + 1;
		cache->used++;
	}
	return p;
}

/*
 * One pattern: groups the types by the columns it keeps, in the order of first
 * sight.  A group that varies on no more than `varies` lies within the group
 * of any pattern that suppresses these: with an earlier one (that costs no
 * more) it is not needed.
 */
static KanonStatus
build_pattern(Builder *b, size_t p, FirstCache *cache, uint32_t *table, size_t table_size, uint32_t *group,
			  uint32_t *first, uint32_t *at, uint32_t *types)
{
	const KanonProblem *problem = b->problem;
	KanonPattern keep = kanon_pattern_all(problem->ncolumns) & ~b->patterns[p];
	double cost = kanon_instances_cost(problem, b->out, b->patterns[p]);
	uint32_t ngroups = 0;

	memset(table, 0, table_size * sizeof(*table));
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		uint64_t hash = 0;
		size_t slot;

		for (KanonPattern rest = keep; rest != 0; rest &= rest - 1)
			hash = kanon_hash_add(hash, problem->columns[__builtin_ctzll(rest)].code[i]);
		slot = hash & (table_size - 1);
		for (; table[slot] != 0; slot = (slot + 1) & (table_size - 1))
		{
			uint32_t j = first[table[slot] - 1];
			bool equal = true;

			for (KanonPattern rest = keep; rest != 0 && equal; rest &= rest - 1)
			{
				const uint32_t *code = problem->columns[__builtin_ctzll(rest)].code;

				equal = code[i] == code[j];
			}
			if (equal)
				break;
		}
		if (table[slot] == 0)
		{
			first[ngroups] = i;
			at[ngroups] = 0;
			table[slot] = ++ngroups;
		}
		group[i] = table[slot] - 1;
		at[group[i]]++;
		if (kanon_step(b->pace, problem->ncolumns))
			return KANON_CANCELLED;
	}
	{
		uint32_t sum = 0;

		for (uint32_t g = 0; g < ngroups; g++)
		{
			uint32_t count = at[g];

			at[g] = sum;
			sum += count;
		}
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		types[at[group[i]]++] = i;
	for (uint32_t g = 0, lo = 0; g < ngroups; lo = at[g++])
	{
		uint32_t n = at[g] - lo;
		int64_t rows = 0;
		KanonStatus status;

		for (uint32_t j = lo; j < at[g]; j++)
			rows += problem->rows[types[j]];
		if (kanon_step(b->pace, n))
			return KANON_CANCELLED;
		if (b->pace->late)
			return KANON_TOO_LARGE;
		if (rows < problem->k)
			continue;
		if (b->mode == KANON_INSTANCES_CLOSED)
		{
			KanonPattern varies = varying(b, types + lo, n, b->patterns[p]);

			b->pace->work += (int64_t) n;
			if (first_covering(b, cache, varies) < p)
				continue;
		}
		if (is_hopeless(b, types + lo, n))
			continue;
		if ((status = emit(b, b->patterns[p], cost, types + lo, n)) != KANON_OK)
			return status;
	}
	return KANON_OK;
}

static KanonStatus
build_list(Builder *b)
{
	const KanonProblem *problem = b->problem;
	size_t nt = problem->ntypes;
	size_t table_size = 16;
	size_t mark = kanon_mark(&b->scratch);
	uint32_t *table;
	uint32_t *work;
	FirstCache cache = {.size = 1 << 16};
	KanonStatus status;

	while (table_size < 2 * nt)
		table_size *= 2;
	table = kanon_take(&b->scratch, table_size, sizeof(*table));
	work = kanon_take(&b->scratch, nt, 4 * sizeof(*work));
	cache.key = kanon_take(&b->scratch, cache.size, sizeof(*cache.key));
	cache.value = kanon_take0(&b->scratch, cache.size, sizeof(*cache.value));
	status = kanon_taken(&b->scratch);
	for (size_t p = 0; p < b->npatterns && status == KANON_OK; p++)
	{
		double cost = kanon_instances_cost(problem, b->out, b->patterns[p]);

		if (b->patterns[p] == kanon_pattern_all(problem->ncolumns) || cost > b->max_cost)
			continue;
		status =
			build_pattern(b, p, &cache, table, table_size, work, work + nt, work + 2 * nt, work + 3 * nt);
	}
	kanon_release(&b->scratch, mark);
	return status;
}

/* True if the mask allows every combination of columns (of levels: every node). */
static bool
every_combination(const KanonProblem *problem)
{
	const KanonMask *mask = &problem->mask;

	return mask->list == NULL && mask->never == 0 && mask->always == 0 && mask->nrules == 0 &&
		   (mask->max_suppressed < 0 || mask->max_suppressed >= kanon_count_qis(problem)) &&
		   mask->max_cost >= kanon_pattern_cost(problem, kanon_pattern_all(problem->ncolumns));
}

/* Builds what the builder says. */
static KanonStatus
build(Builder b)
{
	const KanonProblem *problem = b.problem;
	KanonInstances *out = b.out;
	int64_t before = kanon_worked(b.pace);
	KanonStatus status = KANON_NO_MEMORY;

	memset(out, 0, sizeof(*out));
	kanon_instances_grid(problem, out);
	b.scratch = (KanonScratch){.env = problem->env};
	if (b.sieve != NULL)
		b.sifted = kanon_take(&b.scratch, problem->ntypes, sizeof(*b.sifted));
	if (KANON_GROW(&b.scratch, &b.room, 1024, KANON_ARRAY(out->pattern), KANON_ARRAY(out->cost),
				   KANON_ARRAY(out->start)) &&
		KANON_GROW(&b.scratch, &b.pair_room, (size_t) problem->ntypes * 4 + 1024, KANON_ARRAY(out->type)))
	{
		out->start[0] = 0;
		if (b.mode == KANON_INSTANCES_CLOSED && every_combination(problem))
			status = problem->ntypes == 0 ? KANON_OK : build_every(&b);
		else
		{
			status = kanon_instances_patterns(problem, KANON_INSTANCE_PATTERNS, &b.patterns, &b.npatterns);
			out->patterns = b.npatterns;
			if (status == KANON_OK)
				status = build_list(&b);
			kanon_free(problem->env, b.patterns);
		}
	}
	if (status == KANON_OK && kanon_poll(b.pace))
		status = KANON_CANCELLED;
	if (status == KANON_OK)
	{
		kanon_keep(&b.scratch, out->pattern);
		kanon_keep(&b.scratch, out->cost);
		kanon_keep(&b.scratch, out->start);
		kanon_keep(&b.scratch, out->type);
		out->steps = kanon_worked(b.pace) - before;
	}
	else
	{
		memset(out, 0, sizeof(*out));
		kanon_instances_grid(problem, out);
	}
	kanon_scratch_free(&b.scratch);
	return status;
}

KanonStatus
kanon_instances_build(const KanonProblem *problem, KanonInstanceMode mode, double max_cost, size_t max_pairs,
					  KanonPace *pace, KanonInstances *out)
{
	return build((Builder){.problem = problem,
						   .pace = pace,
						   .out = out,
						   .mode = mode,
						   .max_cost = max_cost,
						   .max_pairs = max_pairs});
}

KanonStatus
kanon_instances_sift(const KanonProblem *problem, KanonSieve sieve, void *arg, size_t max_pairs,
					 KanonPace *pace, KanonInstances *out)
{
	return build((Builder){.problem = problem,
						   .pace = pace,
						   .out = out,
						   .mode = KANON_INSTANCES_CLOSED,
						   .max_cost = INFINITY,
						   .max_pairs = max_pairs,
						   .sieve = sieve,
						   .sieve_arg = arg});
}
