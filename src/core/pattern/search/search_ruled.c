/*
 * search_ruled.c: ruin and recreate under rules beyond k: every class of every state keeps them.
 *
 * Moves know of k and of how many different values a class needs at least, if a rule says that.
 * One after which a class that it has touched breaks a rule is not made, so a search that begins
 * with a release that keeps the rules ends with one.  The fully suppressed part changes with
 * almost every move and is looked at when a solution is saved.
 */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "privacy/rules.h"
#include "release/release.h"
#include "pattern/search/search.h"

bool
search_keeps(Search *s, uint32_t f, uint32_t without)
{
	uint32_t stamp = ++s->rules.met_stamp;
	uint32_t have = 0;
	int64_t rows = 0;
	size_t n = 0;

	for (uint32_t u = s->instance[f].head;
		 u != NONE && (!s->rules.values_alone || have < s->rules.values_needed); u = s->unit[u].next)
	{
		if (u == without)
			continue;
		s->rules.types[n] = s->unit[u].type;
		s->rules.counts[n++] = s->unit[u].rows;
		rows += s->unit[u].rows;
		if (s->rules.values_alone && s->rules.met[s->rules.value[s->unit[u].type]] != stamp)
		{
			s->rules.met[s->rules.value[s->unit[u].type]] = stamp;
			have++;
		}
	}
	s->pace->work += 4 * n;
	if (s->rules.values_alone)
		return have >= s->rules.values_needed;
	s->pace->work += 12 * n;
	return kanon_class_allowed(s->problem, s->rules.types, s->rules.counts, n, rows);
}

/* ---- values that a class lacks ---- */

/* Marks the values of f in value_seen; how many there are. */
static uint32_t
mark_values(Search *s, uint32_t f)
{
	uint32_t stamp = ++s->rules.seen_stamp;
	uint32_t have = 0;

	for (uint32_t u = s->instance[f].head; u != NONE && have < s->rules.values_needed; u = s->unit[u].next)
		if (s->rules.seen[s->rules.value[s->unit[u].type]] != stamp)
		{
			s->rules.seen[s->rules.value[s->unit[u].type]] = stamp;
			have++;
		}
	s->pace->work += 2 * (uint64_t) s->instance[f].load;
	return have;
}

/* Has a type the instance among its options? */
static bool
fits(const Search *s, uint32_t i, uint32_t f)
{
	const IlpModel *model = s->model;

	for (size_t p = model->opt_start[i]; p < model->opt_start[i + 1]; p++)
		if (model->opt[p] == f)
			return true;
	return false;
}

/*
 * A unit of f that can take the place of u in the class b: of a value that f has more than
 * once.  NONE: there is none.
 */
static uint32_t
find_return(Search *s, uint32_t f, uint32_t u, uint32_t b)
{
	uint32_t found = NONE;

	for (uint32_t v = s->instance[f].head; v != NONE && found == NONE; v = s->unit[v].next)
	{
		uint32_t others = 0;

		if (s->unit[v].rows != s->unit[u].rows || !fits(s, s->unit[v].type, b))
			continue;
		for (uint32_t o = s->instance[f].head; o != NONE && others == 0; o = s->unit[o].next)
			others += o != v && s->rules.value[s->unit[o].type] == s->rules.value[s->unit[v].type];
		if (others > 0)
			found = v;
	}
	s->pace->work += 8 * (uint64_t) s->instance[f].load;
	return found;
}

/* A way to get a value. */
typedef struct Way
{
	uint32_t unit;
	uint32_t back; /* the unit that goes to its class in exchange, or NONE */
	bool dissolve; /* its class is */
} Way;

/* Classes whose end is considered for the sake of a value. */
#define ENDED 3

/* The cheapest way for f to get a value that value_seen has not; false: there is none. */
static bool
find_way(Search *s, uint32_t f, Way *way)
{
	uint32_t stamp = s->rules.seen_stamp;
	double w = s->instance[f].w;
	double least = INFINITY;
	int ended = 0;

	for (size_t j = 0; j < s->nloose; j++)
	{
		uint32_t u = s->loose[j];
		double price = (w - search_cost(s, u, NONE)) * (double) s->unit[u].rows;

		if (s->unit[u].in == NONE && s->rules.seen[s->rules.value[s->unit[u].type]] != stamp && price < least)
		{
			least = price;
			*way = (Way){u, NONE, false};
		}
	}
	for (size_t j = 0; j < s->ntouched; j++)
	{
		uint32_t b = s->touched[j];

		for (uint32_t u = s->instance[b].chain; u != NONE; u = s->unit[u].along)
		{
			double noise = s->temperature * search_random(s) * 0.3;
			double price = (w - s->instance[b].w) * (double) s->unit[u].rows + noise;
			uint32_t back = NONE;

			if (s->unit[u].in != b || s->rules.seen[s->rules.value[s->unit[u].type]] == stamp)
				continue;
			if (price < least && search_spares(s, u))
			{
				least = price;
				*way = (Way){u, NONE, false};
			}
			else if (noise < least && (back = find_return(s, f, u, b)) != NONE)
			{
				least = noise;
				*way = (Way){u, back, false};
			}
			else if (ended < ENDED)
			{
				price = search_dissolving(s, b, f) + noise;
				ended++;
				if (price < least)
				{
					least = price;
					*way = (Way){u, NONE, true};
				}
			}
		}
	}
	s->pace->work += s->nloose + 4 * s->ntouched;
	return least < INFINITY;
}

bool
search_complete(Search *s, uint32_t f, bool *ok)
{
	for (uint32_t most = s->rules.values_needed; mark_values(s, f) < s->rules.values_needed && most > 0;
		 most--)
	{
		Way way = {NONE, NONE, false};
		uint32_t b;

		if (!find_way(s, f, &way))
			return false;
		b = s->unit[way.unit].in;
		if (way.dissolve)
		{
			/* all that fit f, as if it had been filled by these */
			for (uint32_t u = s->instance[b].chain; u != NONE; u = s->unit[u].along)
				if (s->unit[u].in == b && !search_move(s, u, f))
					return *ok = false;
		}
		else if (!search_move(s, way.unit, f) || (way.back != NONE && !search_move(s, way.back, b)))
			return *ok = false;
		if (b != NONE && s->instance[b].load > 0 && !search_stands(s, b) && !search_dissolve(s, b))
			return *ok = false;
	}
	return s->rules.values_needed == 0 || mark_values(s, f) >= s->rules.values_needed;
}

double
search_values_loss(Search *s, uint32_t f, uint32_t values)
{
	int lacking = search_values_lacking(s, values);
	double loss = 0;

	for (; lacking > 0; lacking--)
	{
		double least = INFINITY;
		uint32_t best = 0;

		for (size_t j = 0; j < s->nloose; j++)
		{
			uint32_t bit = search_value_bit(s, s->unit[s->loose[j]].type);
			double price = s->instance[f].w - search_cost(s, s->loose[j], NONE);

			if ((values & bit) == 0 && price < least)
			{
				least = price;
				best = bit;
			}
		}
		for (size_t j = 0; j < s->ntouched; j++)
			for (uint32_t u = s->instance[s->touched[j]].chain; u != NONE; u = s->unit[u].along)
			{
				uint32_t bit = search_value_bit(s, s->unit[u].type);
				/* rows to spare at their price; others in exchange, if at all */
				double price = s->instance[s->touched[j]].load > s->model->k
								   ? s->instance[f].w - s->instance[s->touched[j]].w
								   : 0;

				if ((values & bit) == 0 && price < least)
				{
					least = price;
					best = bit;
				}
			}
		s->pace->work += s->nloose + 4 * s->ntouched;
		if (least == INFINITY)
			return INFINITY;
		loss += least;
		values |= best;
	}
	return loss;
}

bool
search_keeps_rules(Search *s)
{
	uint32_t stamp = ++s->stamp;

	for (size_t j = 0; j < s->nlog; j++)
	{
		uint32_t touched[2] = {s->log_from[j], s->unit[s->log_unit[j]].in};

		for (int side = 0; side < 2; side++)
		{
			uint32_t f = touched[side];

			if (f == NONE || s->instance[f].load == 0 || s->instance[f].stamp == stamp)
				continue;
			s->instance[f].stamp = stamp;
			if (!search_stands(s, f))
				return false;
		}
	}
	return true;
}

bool
search_rest_allowed(Search *s, const uint32_t *in)
{
	int64_t rows = 0;
	size_t n = 0;

	if (s->problem->residual == KANON_RESIDUAL_DROP)
		return true;
	for (uint32_t u = 0; u < s->n; u++)
		if (in[u] == NONE)
		{
			s->rules.types[n] = s->unit[u].type;
			s->rules.counts[n++] = s->unit[u].rows;
			rows += s->unit[u].rows;
		}
	s->pace->work += s->n / 4 + 16 * n;
	if (n == 0)
		return true;
	return kanon_rest_strict(s->problem)
			   ? kanon_class_allowed(s->problem, s->rules.types, s->rules.counts, n, rows)
			   : kanon_rest_allowed(s->problem, s->rules.types, s->rules.counts, n);
}

/* ---- start ---- */

/* The cheapest instance that has all these types, or NONE. */
static uint32_t
instance_of(Search *s, const uint32_t *types, size_t n)
{
	const IlpModel *model = s->model;
	uint32_t stamp = ++s->stamp;
	uint32_t found = NONE;

	for (size_t j = 0; j < n; j++)
		for (size_t p = model->opt_start[types[j]]; p < model->opt_start[types[j] + 1]; p++)
		{
			SearchInstance *met = &s->instance[model->opt[p]];

			if (met->stamp != stamp && j > 0)
				continue;
			if (met->stamp != stamp)
			{
				met->stamp = stamp;
				met->count = 0;
			}
			/* not in the one before: never again */
			if (met->count != (int64_t) j)
				continue;
			met->count++;
		}
	for (size_t p = model->opt_start[types[0]]; p < model->opt_start[types[0] + 1] && found == NONE; p++)
		if (s->instance[model->opt[p]].count == (int64_t) n)
			found = model->opt[p];
	s->pace->work += 8 * n;
	return found;
}

/* The units of a release's classes go to the instances that have them. */
static KanonStatus
start_from(Search *s, const KanonRelease *release)
{
	KanonScratch scratch = {.env = s->env};
	KanonMembers members;
	KanonStatus status = kanon_release_members(release, &scratch, &members);

	for (uint32_t u = 0; u < s->n; u++)
	{
		s->unit[u].in = NONE;
		s->cost += s->model->c[s->unit[u].type] * (double) s->unit[u].rows;
		search_note_want(s, u);
	}
	for (uint32_t i = 0; i < s->model->m; i++)
		s->place[i] = s->type[i].first;
	for (uint32_t c = 0; c < release->nclasses && status == KANON_OK; c++)
	{
		size_t n = members.start[c + 1] - members.start[c];
		const uint32_t *types = members.type + members.start[c];
		uint32_t f = instance_of(s, types, n);

		for (size_t j = 0; j < n && f != NONE; j++)
		{
			int64_t left = members.rows[members.start[c] + j];
			size_t *u = &s->place[types[j]];

			/* units of several rows may not come out even: the rest stays at its fallback */
			for (; *u < s->type[types[j] + 1].first && s->unit[*u].rows <= left; (*u)++)
			{
				left -= s->unit[*u].rows;
				search_put(s, (uint32_t) *u, f);
			}
		}
		if (kanon_step(s->pace, n * 8))
			status = KANON_CANCELLED;
	}
	/* what was not to be put whole may be no class any more */
	for (uint32_t f = 0; f < s->model->nf && status == KANON_OK; f++)
		if (s->instance[f].load > 0 && !search_stands(s, f))
			while (s->instance[f].head != NONE)
				search_put(s, s->instance[f].head, NONE);
	kanon_scratch_free(&scratch);
	return status;
}

/* ---- the release ---- */

/* Numbers the instances that the best solution uses; how many they are. */
static uint32_t
number_used(const Search *s, uint32_t *number)
{
	uint32_t n = 0;

	memset(number, 0xff, s->model->nf * sizeof(uint32_t));
	for (uint32_t u = 0; u < s->n; u++)
		if (s->best[u] != NONE && number[s->best[u]] == NONE)
			number[s->best[u]] = n++;
	return n;
}

/*
 * The cost of the best solution: among very many rows the cost that moves add up has lost its last
 * digits.
 */
static double
best_cost(const Search *s)
{
	double cost = s->model->base;

	for (uint32_t u = 0; u < s->n; u++)
		cost += search_cost(s, u, s->best[u]) * (double) s->unit[u].rows;
	return cost;
}

static KanonStatus
make_release(Search *s, const KanonInstances *instances, KanonRelease *release)
{
	const KanonProblem *problem = s->problem;
	KanonEnv *env = s->env;
	size_t width = (size_t) problem->ncolumns;
	uint32_t *number = kanon_alloc(env, s->model->nf, sizeof(uint32_t));
	uint32_t used = number != NULL ? number_used(s, number) : 0;
	int64_t rest = 0;
	size_t n = 0;
	bool class = true;

	memset(release, 0, sizeof(*release));
	release->classes = kanon_alloc0(env, (size_t) used + 1, sizeof(KanonClass));
	release->cells = kanon_alloc0(env, (size_t) used + 1, width * sizeof(KanonCell));
	release->flows = kanon_alloc(env, s->n, sizeof(KanonFlow));
	if (number == NULL || release->classes == NULL || release->cells == NULL || release->flows == NULL)
	{
		kanon_free(env, number);
		return KANON_NO_MEMORY;
	}
	for (uint32_t u = 0; u < s->n; u++)
		if (s->best[u] == NONE)
		{
			s->rules.types[n] = s->unit[u].type;
			s->rules.counts[n++] = s->unit[u].rows;
			rest += s->unit[u].rows;
		}
	if (problem->residual == KANON_RESIDUAL_DROP)
		class = kanon_class_allowed(problem, s->rules.types, s->rules.counts, n, rest);
	release->nclasses = used + 1;
	release->classes[used].pattern = kanon_pattern_all(problem->ncolumns);
	release->nflows = s->n;
	for (uint32_t u = 0; u < s->n; u++)
	{
		uint32_t f = s->best[u];
		uint32_t to = f == NONE ? used : number[f];
		KanonPattern pattern = f == NONE ? release->classes[used].pattern : instances->pattern[f];

		release->classes[to].pattern = pattern;
		for (size_t c = 0; c < width; c++)
			if (!kanon_has(pattern, (int) c))
				release->cells[to * width + c] = (KanonCell){
					KANON_SHOW_VALUE, problem->columns[c].code[s->unit[u].type] & KANON_MAX_TYPES};
		release->flows[u] =
			(KanonFlow){s->unit[u].type, to == used && !class ? KANON_DROPPED : to, s->unit[u].rows};
	}
	kanon_free(env, number);
	return KANON_OK;
}

static bool
take_memory(Search *s)
{
	const KanonPrivacyRule *rules;
	const KanonPrivacyRule *rule = kanon_most_values(s->problem, &s->rules.values_needed);

	s->rules.values_alone = rule != NULL && kanon_privacy_rules(s->problem->privacy, &rules) == 1 &&
							rule->kind == KANON_DISTINCT_L && rule->joined == 0 && s->problem->viable == NULL;
	if (!search_alloc(s))
		return false;
	s->rules.types = kanon_take(&s->scratch, s->n, sizeof(uint32_t));
	s->rules.counts = kanon_take(&s->scratch, s->n, sizeof(int64_t));
	s->rules.kept = kanon_take(&s->scratch, s->n, sizeof(uint32_t));
	if (rule != NULL)
	{
		s->rules.value = s->problem->extra[rule->column].code;
		s->rules.seen = kanon_take0(&s->scratch, s->problem->extra[rule->column].distinct, sizeof(uint32_t));
		s->rules.met = kanon_take0(&s->scratch, s->problem->extra[rule->column].distinct, sizeof(uint32_t));
	}
	return !s->scratch.failed;
}

KanonStatus
kanon_search_ruled(const KanonProblem *problem, const KanonInstances *instances, const KanonRelease *start,
				   const SearchPlan *plan, double *cost, KanonRelease *release, KanonPace *pace)
{
	IlpModel model;
	Search s = {.env = problem->env,
				.scratch = {.env = problem->env},
				.pace = pace,
				.g = plan->g,
				.problem = problem};
	KanonStatus status = ilp_model_build(problem, instances, false, pace, &model);

	*cost = INFINITY;
	memset(release, 0, sizeof(*release));
	if (status == KANON_OK)
		status = ilp_model_transpose(&model, pace);
	s.model = &model;
	s.random = problem->seed * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0xbf58476d1ce4e5b9);
	if (s.random == 0)
		s.random = 1;
	s.best_cost = INFINITY;
	if (status == KANON_OK)
		status = take_memory(&s) ? start_from(&s, start) : KANON_NO_MEMORY;
	if (status == KANON_OK)
		search_where(&s, s.best);
	if (status == KANON_OK && search_rest_allowed(&s, s.best))
	{
		s.best_cost = s.cost;
		if (s.best_cost > plan->target && s.n > 0)
			status = search_anneal(&s, plan->work, 0.95, true, plan->target);
		if (status == KANON_OK)
			status = make_release(&s, instances, release);
		*cost = best_cost(&s);
	}
	if (kanon_privacy_failed(problem->privacy))
		status = KANON_NO_MEMORY;
	kanon_scratch_free(&s.scratch);
	ilp_model_free(&model);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	return status;
}
