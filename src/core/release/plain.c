/*
 * plain.c: a problem without what only privacy rules look at.
 *
 * Row types that differ in sensitive values or persons alone become one.  A release of
 * the whole that keeps its rules is one of the plain problem, too, so that a bound of
 * the latter holds for the former.
 */
#include <math.h>
#include <string.h>

#include "release/release.h"
#include "util/number.h"
#include "util/pace.h"

/* Do two row types of the whole have the same quasi-identifiers? */
static bool
alike(const KanonProblem *whole, uint32_t a, uint32_t b)
{
	for (int c = 0; c < whole->ncolumns; c++)
		if (whole->columns[c].code[a] != whole->columns[c].code[b])
			return false;
	return true;
}

/* ---- what could be a class ---- */

/* How many different values of its column a class needs at least to keep a rule; 0: that cannot be said. */
static double
values_needed_by(const KanonProblem *whole, const KanonPrivacyRule *rule)
{
	switch (rule->kind)
	{
		case KANON_SUBJECT:
			return (double) whole->k;
		case KANON_DISTINCT_L:
		case KANON_RECURSIVE_CL:
			return rule->l;
		case KANON_ENTROPY_L:
			return ceil(rule->l * (1 - 1e-9));
		case KANON_ALPHA:
			return rule->listed == NULL ? ceil(1 / rule->share * (1 - 1e-9)) : 0;
		case KANON_T_CLOSENESS:
			break;
	}
	return 0;
}

const KanonPrivacyRule *
kanon_most_values(const KanonProblem *problem, uint32_t *needed)
{
	const KanonPrivacyRule *rules;
	const KanonPrivacyRule *most = NULL;
	int nrules = kanon_privacy_rules(problem->privacy, &rules);

	*needed = 0;
	for (int i = 0; i < nrules; i++)
	{
		double values = fmin(values_needed_by(problem, &rules[i]), UINT32_MAX);

		if (values > 1 && values > *needed)
		{
			most = &rules[i];
			*needed = (uint32_t) values;
		}
	}
	return most;
}

/*
 * Could k of these rows keep the rule alpha?  With n_v rows of value v, N of them can if
 * sum min(n_v, alpha N) >= N.  That is concave in N and 0 for none, so if any N from k on
 * does, k does.
 */
static bool
enough_shares(const KanonPlain *plain, const KanonPrivacyRule *rule, uint32_t nmet)
{
	double k = (double) plain->whole->k;
	double sum = 0;

	for (uint32_t i = 0; i < nmet; i++)
	{
		uint32_t value = plain->met[i];
		bool limited = rule->listed == NULL || rule->listed[value];

		sum += limited ? fmin(plain->tally[value], rule->share * k) : plain->tally[value];
	}
	return sum >= k * (1 - 1e-9);
}

/* Could some of the rows of these types keep one rule? */
static bool
rule_viable(KanonPlain *plain, const KanonPrivacyRule *rule, const uint32_t *types, size_t ntypes)
{
	const KanonProblem *whole = plain->whole;
	const uint32_t *code = whole->extra[rule->column].code;
	bool shares = rule->kind == KANON_ALPHA && rule->joined == 0 && kanon_privacy_person(whole->privacy) < 0;
	double needed = values_needed_by(whole, rule);
	uint32_t nmet = 0;

	if (needed == 0 && !shares)
		return true;
	plain->question++;
	for (size_t i = 0; i < ntypes; i++)
		for (uint32_t t = plain->first[types[i]]; t < plain->first[types[i] + 1]; t++)
		{
			uint32_t value = code[t];

			if (plain->seen[value] != plain->question)
			{
				plain->seen[value] = plain->question;
				plain->tally[value] = 0;
				plain->met[nmet++] = value;
			}
			plain->tally[value] += (double) whole->rows[t];
			if (nmet >= needed && !shares)
				return true;
		}
	return nmet >= needed && (!shares || enough_shares(plain, rule, nmet));
}

static bool
viable(const KanonProblem *problem, const uint32_t *types, size_t ntypes)
{
	KanonPlain *plain = problem->viable_arg;
	const KanonPrivacyRule *rules;
	int nrules = kanon_privacy_rules(plain->whole->privacy, &rules);

	for (int r = 0; r < nrules; r++)
		if (!rule_viable(plain, &rules[r], types, ntypes))
			return false;
	return true;
}

static KanonStatus
prepare_viable(KanonPlain *plain)
{
	const KanonProblem *whole = plain->whole;
	uint32_t distinct = 1;

	for (int c = 0; c < whole->nextra; c++)
		if (whole->extra[c].distinct > distinct)
			distinct = whole->extra[c].distinct;
	plain->seen = kanon_take0(&plain->scratch, distinct, sizeof(uint32_t));
	plain->tally = kanon_take(&plain->scratch, distinct, sizeof(double));
	plain->met = kanon_take(&plain->scratch, distinct, sizeof(uint32_t));
	plain->problem.viable = viable;
	plain->problem.viable_arg = plain;
	return kanon_taken(&plain->scratch);
}

/* ---- the problem ---- */

KanonStatus
kanon_plain_open(const KanonProblem *whole, bool strict, KanonPlain *plain)
{
	KanonPace pace = kanon_pace_at_once(whole->env, "row types");
	size_t width = (size_t) whole->ncolumns;
	uint32_t n = 0;
	uint32_t *codes;
	int64_t *rows;

	memset(plain, 0, sizeof(*plain));
	plain->scratch.env = whole->env;
	plain->whole = whole;
	plain->problem = *whole;
	plain->problem.privacy = NULL;
	plain->problem.nextra = 0;
	plain->problem.extra = NULL;
	plain->problem.columns = plain->columns;
	plain->first = kanon_take(&plain->scratch, (size_t) whole->ntypes + 1, sizeof(uint32_t));
	rows = kanon_take(&plain->scratch, whole->ntypes, sizeof(int64_t));
	if (plain->scratch.failed)
		return KANON_NO_MEMORY;
	/* they are in order: those that are alike are neighbours */
	for (uint32_t t = 0; t < whole->ntypes; t++)
	{
		if (t == 0 || !alike(whole, t - 1, t))
		{
			plain->first[n] = t;
			rows[n++] = 0;
		}
		rows[n - 1] += whole->rows[t];
		if (kanon_stop(&pace, width))
			return KANON_CANCELLED;
	}
	plain->first[n] = whole->ntypes;
	plain->problem.ntypes = n;
	plain->problem.rows = rows;
	codes = kanon_take(&plain->scratch, n, width * sizeof(uint32_t));
	if (codes == NULL)
		return KANON_NO_MEMORY;
	for (size_t c = 0; c < width; c++)
	{
		plain->columns[c] = whole->columns[c];
		plain->columns[c].code = codes + c * n;
		for (uint32_t i = 0; i < n; i++)
			codes[c * n + i] = whole->columns[c].code[plain->first[i]];
		if (kanon_stop(&pace, n))
			return KANON_CANCELLED;
	}
	return strict ? prepare_viable(plain) : KANON_OK;
}

void
kanon_plain_close(KanonPlain *plain)
{
	if (plain->scratch.env != NULL)
		kanon_scratch_free(&plain->scratch);
}

/* ---- back to the whole's row types ---- */

bool
kanon_parts_add(KanonEnv *env, KanonParts *parts, uint32_t type, uint32_t cluster, int64_t rows)
{
	if (!kanon_enlarge(env, &parts->flows, &parts->room, parts->nflows + 1, sizeof(KanonFlow)))
		return false;
	parts->flows[parts->nflows++] = (KanonFlow){type, cluster, rows};
	return true;
}

void
kanon_parts_free(KanonEnv *env, KanonParts *parts)
{
	kanon_free(env, parts->flows);
	kanon_free(env, parts->pattern);
	memset(parts, 0, sizeof(*parts));
}

/* floor(a * b / c) without overflow. */
static int64_t
share_of(int64_t a, int64_t b, int64_t c)
{
	return (int64_t) ((__int128) a * b / c);
}

/*
 * Where rows of one plain type go to several classes, each gets of each of its row types
 * in the whole as many as its share is, rounded so that they add up: what the rows say
 * stays as mixed as it can.
 */
static KanonStatus
spread_type(const KanonPlain *plain, uint32_t type, int64_t *left, const KanonFlow *flows, size_t nflows,
			KanonParts *parts)
{
	const KanonProblem *whole = plain->whole;
	uint32_t from = plain->first[type];
	uint32_t to = plain->first[type + 1];
	int64_t total = plain->problem.rows[type];

	for (uint32_t t = from; t < to; t++)
		left[t - from] = whole->rows[t];
	for (size_t f = 0; f < nflows; f++)
	{
		int64_t before = 0;

		for (uint32_t t = from; t < to; t++)
		{
			int64_t upto = before + left[t - from];
			int64_t rows = share_of(upto, flows[f].rows, total) - share_of(before, flows[f].rows, total);

			before = upto;
			left[t - from] -= rows;
			if (rows > 0 && !kanon_parts_add(whole->env, parts, t, flows[f].class_, rows))
				return KANON_NO_MEMORY;
		}
		total -= flows[f].rows;
	}
	return KANON_OK;
}

KanonStatus
kanon_plain_spread(const KanonPlain *plain, const KanonRelease *release, KanonParts *parts)
{
	KanonEnv *env = plain->whole->env;
	KanonPace pace = kanon_pace(env, "rules");
	int64_t *left = kanon_alloc(env, plain->whole->ntypes, sizeof(int64_t));
	KanonStatus status = left == NULL ? KANON_NO_MEMORY : KANON_OK;

	parts->nclusters = release->nclasses;
	for (size_t from = 0, to; from < release->nflows && status == KANON_OK; from = to)
	{
		uint32_t type = release->flows[from].type;

		for (to = from + 1; to < release->nflows && release->flows[to].type == type; to++)
			;
		status = spread_type(plain, type, left, release->flows + from, to - from, parts);
		if (kanon_stop(&pace, 4 * (to - from) * (plain->first[type + 1] - plain->first[type])))
			status = KANON_CANCELLED;
	}
	kanon_free(env, left);
	return status;
}

/* ---- The rows of clusters that are merged, as rules look at them ---- */

#define NOTHING UINT32_MAX

KanonStatus
kanon_number_values(const KanonProblem *problem, KanonScratch *scratch, KanonPace *pace, KanonValues *values)
{
	size_t size = 16;
	uint32_t *table;

	values->n = 0;
	while (size < 2 * (size_t) problem->ntypes)
		size *= 2;
	values->of = kanon_take(scratch, problem->ntypes, sizeof(uint32_t));
	values->typical = kanon_take(scratch, problem->ntypes, sizeof(uint32_t));
	table = kanon_take0(scratch, size, sizeof(uint32_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		uint64_t hash = 0;
		size_t slot;
		bool same = false;

		for (int c = 0; c < problem->nextra; c++)
			hash = kanon_hash_add(hash, problem->extra[c].code[type]);
		for (slot = hash & (size - 1); table[slot] != 0; slot = (slot + 1) & (size - 1))
		{
			uint32_t other = values->typical[table[slot] - 1];

			same = true;
			for (int c = 0; c < problem->nextra && same; c++)
				same = problem->extra[c].code[type] == problem->extra[c].code[other];
			if (same)
				break;
		}
		if (!same)
		{
			values->typical[values->n] = type;
			table[slot] = ++values->n;
		}
		values->of[type] = table[slot] - 1;
		if (kanon_stop(pace, 4 + (uint64_t) problem->nextra))
			return KANON_CANCELLED;
	}
	kanon_drop(scratch, table);
	return KANON_OK;
}

KanonStatus
held_open(Held *held, const KanonProblem *problem, uint32_t nclusters, size_t most, KanonScratch *scratch,
		  KanonPace *pace)
{
	KanonStatus status = kanon_number_values(problem, scratch, pace, &held->values);

	held->pace = pace;
	held->items = kanon_take(scratch, most, sizeof(HeldRows));
	held->first = kanon_take(scratch, nclusters, sizeof(uint32_t));
	held->last = kanon_take(scratch, nclusters, sizeof(uint32_t));
	held->length = kanon_take0(scratch, nclusters, sizeof(uint32_t));
	held->counted = kanon_take0(scratch, nclusters, sizeof(uint32_t));
	held->became = kanon_take(scratch, nclusters, sizeof(uint32_t));
	held->rows = kanon_take0(scratch, nclusters, sizeof(int64_t));
	held->met = kanon_take0(scratch, held->values.n, sizeof(uint32_t));
	held->met_at = kanon_take(scratch, held->values.n, sizeof(uint32_t));
	for (uint32_t i = 0; i < nclusters && !scratch->failed; i++)
	{
		held->first[i] = NOTHING;
		held->became[i] = i;
	}
	return status == KANON_OK ? kanon_taken(scratch) : status;
}

void
held_add(Held *held, uint32_t cluster, uint32_t type, int64_t rows)
{
	uint32_t added = held->n++;

	held->items[added] = (HeldRows){type, NOTHING, rows};
	if (held->first[cluster] == NOTHING)
		held->first[cluster] = added;
	else
		held->items[held->last[cluster]].next = added;
	held->last[cluster] = added;
	held->length[cluster]++;
	held->rows[cluster] += rows;
}

void
held_add_up(Held *held, uint32_t cluster)
{
	uint32_t stamp = ++held->stamp;
	uint32_t last = NOTHING;
	uint32_t n = 0;

	for (uint32_t i = held->first[cluster]; i != NOTHING; i = held->items[i].next)
	{
		uint32_t value = held->values.of[held->items[i].type];

		if (held->met[value] == stamp)
		{
			held->items[held->met_at[value]].rows += held->items[i].rows;
			continue;
		}
		held->met[value] = stamp;
		held->met_at[value] = i;
		if (last != NOTHING)
			held->items[last].next = i;
		last = i;
		n++;
	}
	if (last != NOTHING)
		held->items[last].next = NOTHING;
	held->pace->work += 4 * (uint64_t) held->length[cluster];
	held->last[cluster] = last;
	held->length[cluster] = held->counted[cluster] = n;
}

void
held_hand_over(Held *held, uint32_t from, uint32_t to)
{
	if (held->first[from] == NOTHING)
		return;
	if (held->first[to] == NOTHING)
		held->first[to] = held->first[from];
	else
		held->items[held->last[to]].next = held->first[from];
	held->last[to] = held->last[from];
	held->length[to] += held->length[from];
	held->rows[to] += held->rows[from];
	held->first[from] = NOTHING;
	held->rows[from] = 0;
	held->became[from] = to;
	if (held->length[to] / 2 > held->counted[to])
		held_add_up(held, to);
}

uint32_t
held_by(Held *held, uint32_t cluster)
{
	while (held->became[cluster] != cluster)
	{
		held->became[cluster] = held->became[held->became[cluster]];
		cluster = held->became[cluster];
	}
	return cluster;
}

size_t
held_list(const Held *held, uint32_t cluster, uint32_t *types, int64_t *counts, size_t n)
{
	for (uint32_t i = held->first[cluster]; i != NOTHING; i = held->items[i].next)
	{
		types[n] = held->items[i].type;
		counts[n++] = held->items[i].rows;
	}
	return n;
}
