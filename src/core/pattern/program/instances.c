/*
 * instances.c: enumeration of live closed instances.
 *
 * With every combination allowed, the closed live instances are the closed frequent itemsets of the
 * table (an item: a column's value, a level's, too, as what rows agree in they do on every level
 * above; support: rows), enumerated by prefix-preserving closure extension: T. Uno, M. Kiyomi, H.
 * Arimura, "LCM ver. 2", FIMI 2004.  Each comes up once, none is stored to find doubles.  Rules say
 * which closed sets there are: columns that rules keep or suppress together count as one (a unit),
 * and one that another needs comes after it, so that whatever begins a closed set, in that order,
 * keeps what it needs.  Columns that were passed over stay suppressed: where rules forbid that, the
 * search ends.  For a list or few patterns every one is grouped by hashing.
 */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "pattern/program/program_model.h"
#include "util/number.h"
#include "util/scratch.h"

void
kanon_instances_free(KanonEnv *env, KanonInstances *instances)
{
	kanon_free(env, instances->pattern);
	kanon_free(env, instances->cost);
	kanon_free(env, instances->start);
	kanon_free(env, instances->type);
	memset(instances, 0, sizeof(*instances));
}

/* Columns that are in a pattern together or not at all. */
typedef struct Unit
{
	KanonPattern columns;
	KanonPattern before;  /* columns of the units before */
	const uint32_t *code; /* of their values together */
	uint32_t distinct;
} Unit;

/* The state that both enumerations share. */
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
	/* by rules, or every combination: */
	KanonMaskIndex *index;
	Unit unit[KANON_MAX_COLUMNS];
	int nunits;
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

	for (uint32_t j = 1; j < ntypes && !kanon_is_none(same); j++)
		KANON_EACH (c, same)
			if (columns[c].code[types[j]] != columns[c].code[types[0]])
				kanon_remove(&same, c);
	return kanon_minus(open, same);
}

/* Can a pattern that suppresses these columns be allowed, and another than the all-suppressed one? */
static bool
is_allowed(const Builder *b, KanonPattern pattern)
{
	return !kanon_same(pattern, b->index->all) && kanon_mask_contains(b->index, pattern);
}

/*
 * `types` agree on the columns outside `pattern`, which rules let them keep, and on no
 * other of the kind.  Each closed part by a unit after `core` whose closure adds no
 * earlier unit is new, and all closed parts are found so.
 */
static KanonStatus
extend(Builder *b, int depth, const uint32_t *types, uint32_t ntypes, KanonPattern pattern, int core)
{
	const KanonProblem *problem = b->problem;
	KanonStatus status;
	uint32_t *part = b->level[depth];
	uint32_t *place = b->code_rows[depth];

	for (int c = core + 1; c < b->nunits; c++)
	{
		const Unit *unit = &b->unit[c];
		const uint32_t *code = unit->code;
		uint32_t at = 0;

		if (!is_allowed(b, kanon_mask_forced(b->index, kanon_both(pattern, unit->before))))
			break;
		if (!kanon_meet(kanon_minus(pattern, b->index->go), unit->columns))
			continue;
		if (kanon_step(b->pace, (int64_t) ntypes * 4))
			return KANON_CANCELLED;
		if (b->pace->late)
			return KANON_TOO_LARGE;
		/* group by the unit's code, groups in the order of first sight */
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
			KanonPattern closed;
			int64_t rows = 0;
			double cost;

			for (hi = lo; hi < ntypes && code[part[hi]] == code[part[lo]]; hi++)
				rows += problem->rows[part[hi]];
			if (rows < problem->k)
				continue;
			closed = kanon_mask_forced(b->index,
									   varying(b, part + lo, hi - lo, kanon_minus(pattern, unit->columns)));
			/* what the unit needs is not kept; or this is found from an earlier unit */
			if (kanon_meet(closed, unit->columns) || kanon_meet(kanon_minus(pattern, closed), unit->before))
				continue;
			if (is_hopeless(b, part + lo, hi - lo))
				continue;
			cost = kanon_instances_cost(problem, b->out, closed);
			if (cost <= b->max_cost && is_allowed(b, closed) &&
				(status = emit(b, closed, cost, part + lo, hi - lo)) != KANON_OK)
				return status;
			if (!kanon_is_none(closed) &&
				(status = extend(b, depth + 1, part + lo, hi - lo, closed, c)) != KANON_OK)
				return status;
		}
	}
	return KANON_OK;
}

/* The columns that are levels above one of these. */
static KanonPattern
levels_above(const KanonProblem *problem, KanonPattern columns)
{
	KanonPattern above = KANON_NONE;

	for (int c = 1; c < problem->ncolumns; c++)
		if (problem->columns[c].level > 0 && (kanon_has(columns, c - 1) || kanon_has(above, c - 1)))
			kanon_add(&above, c);
	return above;
}

/* Codes of a unit's values together; NULL: no memory. */
static const uint32_t *
join_codes(Builder *b, KanonPattern columns, uint32_t *distinct)
{
	const KanonProblem *problem = b->problem;
	uint32_t *code;
	uint32_t *first;
	uint32_t *table;
	size_t size = 16;
	size_t mark;

	*distinct = problem->columns[kanon_next(columns, 0)].distinct;
	if (kanon_count(columns) == 1)
		return problem->columns[kanon_next(columns, 0)].code;
	while (size < 2 * (size_t) problem->ntypes)
		size *= 2;
	code = kanon_take(&b->scratch, problem->ntypes, sizeof(*code));
	mark = kanon_mark(&b->scratch);
	first = kanon_take(&b->scratch, problem->ntypes, sizeof(*first));
	table = kanon_take0(&b->scratch, size, sizeof(*table));
	*distinct = 0;
	for (uint32_t i = 0; i < problem->ntypes && !b->scratch.failed; i++)
	{
		uint64_t hash = 0;
		size_t slot;

		KANON_EACH (c, columns)
			hash = kanon_hash_add(hash, problem->columns[c].code[i]);
		for (slot = hash & (size - 1); table[slot] != 0; slot = (slot + 1) & (size - 1))
		{
			uint32_t pair[2] = {first[table[slot] - 1], i};

			if (kanon_is_none(varying(b, pair, 2, columns)))
				break;
		}
		if (table[slot] == 0)
		{
			first[*distinct] = i;
			table[slot] = ++*distinct;
		}
		code[i] = table[slot] - 1;
	}
	kanon_release(&b->scratch, mark);
	return b->scratch.failed ? NULL : code;
}

/*
 * The units, each after those that it needs (but for levels above its own, which rows that
 * agree in it agree in anyway), else in the order of the columns.
 */
static KanonStatus
make_units(Builder *b)
{
	const KanonMaskIndex *index = b->index;
	KanonPattern placed = KANON_NONE;

	while (!kanon_same(placed, index->all))
	{
		Unit *unit = &b->unit[b->nunits++];
		bool found = false;

		for (int c = 0; c < b->problem->ncolumns && !found; c++)
		{
			KanonPattern needs = index->stay_stay[c];

			if (kanon_has(placed, c))
				continue;
			unit->columns = KANON_NONE;
			KANON_EACH (d, needs)
				if (kanon_has(index->stay_stay[d], c))
					kanon_add(&unit->columns, d);
			found = kanon_within(kanon_minus(kanon_minus(needs, unit->columns), placed),
								 levels_above(b->problem, unit->columns));
		}
		unit->before = placed;
		placed = kanon_union(placed, unit->columns);
		unit->code = join_codes(b, unit->columns, &unit->distinct);
		if (unit->code == NULL)
			return KANON_NO_MEMORY;
	}
	return KANON_OK;
}

static KanonStatus
build_closed(Builder *b)
{
	const KanonProblem *problem = b->problem;
	size_t mark = kanon_mark(&b->scratch);
	uint32_t *types = kanon_take(&b->scratch, problem->ntypes, sizeof(*types));
	KanonStatus status = KANON_OK;
	uint32_t distinct = 1;

	if (!b->index->none)
		status = make_units(b);
	for (int c = 0; c < b->nunits; c++)
		if (b->unit[c].distinct > distinct)
			distinct = b->unit[c].distinct;
	b->level = kanon_take0(&b->scratch, (size_t) b->nunits + 1, sizeof(*b->level));
	b->code_rows = kanon_take0(&b->scratch, (size_t) b->nunits + 1, sizeof(*b->code_rows));
	for (int d = 0; d <= b->nunits && !b->scratch.failed; d++)
	{
		b->level[d] = kanon_take(&b->scratch, problem->ntypes, sizeof(uint32_t));
		b->code_rows[d] = kanon_take0(&b->scratch, distinct, sizeof(uint32_t));
	}
	if (status == KANON_OK)
		status = kanon_taken(&b->scratch);
	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
		types[i] = i;
	if (status == KANON_OK && !b->index->none)
	{
		KanonPattern root = kanon_mask_forced(b->index, varying(b, types, problem->ntypes, b->index->all));
		double cost = kanon_instances_cost(problem, b->out, root);
		int64_t rows = 0;

		for (uint32_t i = 0; i < problem->ntypes; i++)
			rows += problem->rows[i];
		if (is_hopeless(b, types, problem->ntypes))
			rows = 0;
		if (rows >= problem->k && is_allowed(b, root) && cost <= b->max_cost)
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
	size_t at = kanon_pattern_hash(varies) & (cache->size - 1);
	size_t p;

	while (cache->value[at] != 0 && !kanon_same(cache->key[at], varies))
		at = (at + 1) & (cache->size - 1);
	if (cache->value[at] != 0)
		return cache->value[at] - 1;
	for (p = 0; p < b->npatterns; p++)
		if (kanon_within(varies, b->patterns[p]))
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
 * more) it is not needed.  work: [4 * types]
 */
static KanonStatus
build_pattern(Builder *b, size_t p, FirstCache *cache, uint32_t *table, size_t table_size, uint32_t *work)
{
	const KanonProblem *problem = b->problem;
	uint32_t *group = work, *first = group + problem->ntypes;
	uint32_t *at = first + problem->ntypes, *types = at + problem->ntypes;
	KanonPattern keep = kanon_minus(kanon_pattern_all(problem->ncolumns), b->patterns[p]);
	double cost = kanon_instances_cost(problem, b->out, b->patterns[p]);
	uint32_t ngroups = 0;

	memset(table, 0, table_size * sizeof(*table));
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		uint64_t hash = 0;
		size_t slot;

		KANON_EACH (c, keep)
			hash = kanon_hash_add(hash, problem->columns[c].code[i]);
		slot = hash & (table_size - 1);
		for (; table[slot] != 0; slot = (slot + 1) & (table_size - 1))
		{
			uint32_t j = first[table[slot] - 1];
			bool equal = true;

			for (int c = kanon_next(keep, 0); c >= 0 && equal; c = kanon_next(keep, c + 1))
				equal = problem->columns[c].code[i] == problem->columns[c].code[j];
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
	/* each set of few columns has room */
	FirstCache cache = {.size = (size_t) 1 << (problem->ncolumns < 15 ? problem->ncolumns + 1 : 16)};
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

		if (kanon_same(b->patterns[p], kanon_pattern_all(problem->ncolumns)) || cost > b->max_cost)
			continue;
		status = build_pattern(b, p, &cache, table, table_size, work);
	}
	kanon_release(&b->scratch, mark);
	return status;
}

/*
 * Are the closed instances found without looking at every pattern?  Where every combination
 * is allowed (of levels: every node), and where rules allow too many.
 */
static KanonStatus
without_patterns(const Builder *b, bool *without)
{
	const KanonProblem *problem = b->problem;
	const KanonMask *mask = &problem->mask;
	bool every = kanon_is_none(mask->never) && kanon_is_none(mask->always) && mask->nrules == 0 &&
				 (mask->max_suppressed < 0 || mask->max_suppressed >= kanon_count_qis(problem)) &&
				 mask->max_cost >= kanon_pattern_cost(problem, kanon_pattern_all(problem->ncolumns));

	int64_t count = 0;

	*without = mask->list == NULL && every && b->mode == KANON_INSTANCES_CLOSED;
	if (mask->list == NULL && !*without)
		count = kanon_mask_count_indexed(b->index, (int64_t) KANON_INSTANCE_PATTERNS);
	*without |= count < 0;
	return count == KANON_COUNT_CANCELLED ? KANON_CANCELLED : KANON_OK;
}

/* Builds what the builder says. */
static KanonStatus
build(Builder b)
{
	const KanonProblem *problem = b.problem;
	KanonInstances *out = b.out;
	int64_t before = kanon_worked(b.pace);
	KanonStatus status = kanon_mask_open(problem, &b.index);

	memset(out, 0, sizeof(*out));
	kanon_instances_grid(problem, out);
	if (status != KANON_OK)
		return status;
	status = KANON_NO_MEMORY;
	b.scratch = (KanonScratch){.env = problem->env};
	if (b.sieve != NULL)
		b.sifted = kanon_take(&b.scratch, problem->ntypes, sizeof(*b.sifted));
	if (KANON_GROW(&b.scratch, &b.room, 1024, KANON_ARRAY(out->pattern), KANON_ARRAY(out->cost),
				   KANON_ARRAY(out->start)) &&
		KANON_GROW(&b.scratch, &b.pair_room, (size_t) problem->ntypes * 4 + 1024, KANON_ARRAY(out->type)))
	{
		bool closed;

		status = without_patterns(&b, &closed);
		out->start[0] = 0;
		out->closed = closed || b.mode == KANON_INSTANCES_CLOSED;
		if (status == KANON_OK && closed)
			status = problem->ntypes == 0 ? KANON_OK : build_closed(&b);
		else if (status == KANON_OK)
		{
			status = kanon_instances_patterns(problem, SIZE_MAX, &b.patterns, &b.npatterns);
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
	kanon_mask_close(b.index);
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
