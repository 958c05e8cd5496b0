/*
 * mapped.c: k asked of a population (k_map), by solvers that ask it of the rows that they have.
 *
 * These get the table's row types with the population's rows: what keeps k there keeps it in the
 * population, and what the population has k times over is published as it is.  Rows of the population that are like
 * none of the table are not counted: they could only help.
 */
#include <string.h>

#include "privacy/population.h"
#include "release/repair.h"
#include "util/pace.h"

/* The population of k_map. */
static const KanonPopulation *
population_of(const KanonProblem *problem)
{
	int p = 0;

	while (!problem->populations[p].map)
		p++;
	return &problem->populations[p];
}

/* Rows like each plain type, or how many persons have some. */
static KanonStatus
count_rows(const KanonMapped *mapped, const KanonPopulation *population, const uint32_t *like, int64_t *rows)
{
	memset(rows, 0, mapped->plain.problem.ntypes * sizeof(int64_t));
	for (uint32_t i = 0; i < population->ntypes; i++)
		if (like[i] != KANON_FOREIGN)
			rows[like[i]] += population->person != NULL ? 1 : population->rows[i];
	for (uint32_t i = 0; i < mapped->plain.problem.ntypes; i++)
		if (rows[i] == 0)
			return KANON_BROKEN;
	return KANON_OK;
}

/* A row type for each person who has such rows. */
static KanonStatus
list_persons(KanonMapped *mapped, const KanonPopulation *population, const uint32_t *like,
			 const int64_t *persons, KanonPace *pace)
{
	const KanonProblem *plain = &mapped->plain.problem;
	KanonScratch *scratch = &mapped->scratch;
	KanonPrivacyRule rule = {.kind = KANON_SUBJECT};
	size_t *start = kanon_take(scratch, (size_t) plain->ntypes + 1, sizeof(size_t));
	size_t width = (size_t) plain->ncolumns;
	uint32_t *who, *codes;
	int64_t *ones;
	size_t n = 0;

	if (start == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < plain->ntypes; i++)
	{
		start[i] = n;
		n += (size_t) persons[i];
	}
	if (n > KANON_MAX_TYPES)
		return KANON_TOO_LARGE;
	who = kanon_take(scratch, n, sizeof(uint32_t));
	mapped->of = kanon_take(scratch, n, sizeof(uint32_t));
	codes = kanon_take(scratch, n, width * sizeof(uint32_t));
	ones = kanon_take(scratch, n, sizeof(int64_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	/* (those of one row type are in the order of their persons) */
	for (uint32_t i = 0; i < population->ntypes; i++)
		if (like[i] != KANON_FOREIGN)
		{
			mapped->of[start[like[i]]] = like[i];
			who[start[like[i]]++] = population->person[i];
		}
	for (size_t i = 0; i < n; i++)
		ones[i] = 1;
	for (size_t c = 0; c < width; c++)
	{
		mapped->columns[c] = plain->columns[c];
		mapped->columns[c].code = codes + c * n;
		for (size_t i = 0; i < n; i++)
			codes[c * n + i] = plain->columns[c].code[mapped->of[i]];
		if (kanon_stop(pace, n))
			return KANON_CANCELLED;
	}
	mapped->person = (KanonColumn){.code = who, .distinct = (uint32_t) population->total};
	mapped->problem.columns = mapped->columns;
	mapped->problem.ntypes = (uint32_t) n;
	mapped->problem.rows = ones;
	mapped->problem.nextra = 1;
	mapped->problem.extra = &mapped->person;
	return kanon_privacy_open(&mapped->problem, &rule, 1, &mapped->problem.privacy);
}

KanonStatus
kanon_mapped_open(const KanonProblem *whole, KanonMapped *mapped)
{
	const KanonPopulation *population = population_of(whole);
	KanonPace pace = kanon_pace(whole->env, "population");
	uint32_t *like = NULL;
	int64_t *rows;
	KanonStatus status;

	memset(mapped, 0, sizeof(*mapped));
	mapped->scratch.env = whole->env;
	status = kanon_plain_open(whole, false, &mapped->plain);
	mapped->plain.problem.npopulations = 0;
	mapped->plain.problem.k_map = false;
	mapped->problem = mapped->plain.problem;
	if (status == KANON_OK)
		status = kanon_population_alike(&mapped->problem, population, &mapped->scratch, &pace, &like);
	rows = kanon_take(&mapped->scratch, mapped->problem.ntypes, sizeof(int64_t));
	if (status == KANON_OK && rows == NULL)
		status = KANON_NO_MEMORY;
	if (status == KANON_OK)
		status = count_rows(mapped, population, like, rows);
	if (status == KANON_OK && population->person != NULL)
		return list_persons(mapped, population, like, rows, &pace);
	mapped->problem.rows = rows;
	mapped->of = kanon_take(&mapped->scratch, mapped->problem.ntypes, sizeof(uint32_t));
	if (status == KANON_OK && mapped->of == NULL)
		status = KANON_NO_MEMORY;
	for (uint32_t i = 0; i < mapped->problem.ntypes && status == KANON_OK; i++)
		mapped->of[i] = i;
	return status;
}

void
kanon_mapped_close(KanonMapped *mapped)
{
	kanon_privacy_close(mapped->problem.privacy);
	kanon_plain_close(&mapped->plain);
	if (mapped->scratch.env != NULL)
		kanon_scratch_free(&mapped->scratch);
}

KanonStatus
kanon_mapped_gather(const KanonMapped *mapped, const KanonRelease *release, KanonParts *parts)
{
	KanonEnv *env = mapped->problem.env;
	KanonPace pace = kanon_pace(env, "population");
	uint32_t none = release->nclasses;
	int64_t *rows = kanon_alloc0(env, (size_t) none + 1, sizeof(int64_t));
	KanonStatus status = rows != NULL ? KANON_OK : KANON_NO_MEMORY;
	uint32_t first = 0;
	size_t f = 0;

	parts->nclusters = none;
	while (first < mapped->problem.ntypes && status == KANON_OK)
	{
		uint32_t end = first;
		uint32_t best = none;
		size_t begin = f;

		while (end < mapped->problem.ntypes && mapped->of[end] == mapped->of[first])
			end++;
		for (; f < release->nflows && release->flows[f].type < end; f++)
		{
			uint32_t to = release->flows[f].class_ == KANON_DROPPED ? none : release->flows[f].class_;

			rows[to] += release->flows[f].rows;
			if (rows[to] > rows[best] || (rows[to] == rows[best] && to < best))
				best = to;
		}
		for (size_t g = begin; g < f; g++)
			rows[release->flows[g].class_ == KANON_DROPPED ? none : release->flows[g].class_] = 0;
		for (uint32_t i = first; i < end && status == KANON_OK; i++)
			if (!kanon_parts_add(env, parts, i, best == none ? KANON_DROPPED : best, mapped->problem.rows[i]))
				status = KANON_NO_MEMORY;
		if (status == KANON_OK && kanon_stop(&pace, 4 * (uint64_t) (end - first) + 4 * (f - begin)))
			status = KANON_CANCELLED;
		first = end;
	}
	kanon_free(env, rows);
	return status;
}

KanonStatus
kanon_mapped_spread(const KanonMapped *mapped, const KanonParts *from, KanonParts *parts)
{
	const KanonPlain *plain = &mapped->plain;
	KanonEnv *env = mapped->problem.env;
	KanonPace pace = kanon_pace(env, "population");
	uint32_t last = UINT32_MAX;

	parts->nclusters = from->nclusters;
	for (size_t f = 0; f < from->nflows; f++)
	{
		uint32_t type = mapped->of[from->flows[f].type];

		if (type == last)
			continue;
		last = type;
		for (uint32_t t = plain->first[type]; t < plain->first[type + 1]; t++)
			if (!kanon_parts_add(env, parts, t, from->flows[f].class_, plain->whole->rows[t]))
				return KANON_NO_MEMORY;
		if (kanon_stop(&pace, 4 * (plain->first[type + 1] - plain->first[type])))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}
