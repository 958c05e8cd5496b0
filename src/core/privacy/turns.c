/*
 * turns.c: a population counted for classes that may overlap: each of its rows belongs to the first
 * class, in the order of the release, that it matches.
 *
 * That is what such releases mean.  Greedy takes the patterns in their order, and a class has all rows
 * of the table that match it and no class before; Mondrian's classes do not overlap when it knows of
 * populations.  Who knows that, counts as here: whose class has r rows, and who is one of the f of
 * the population that belong to it, is in the release with the chance r / f.  A release in which a row
 * of the table is not in the first class that it matches (or is in none, though it matches one) is refused.
 *
 * Of shares the f rows are those that a class matches and no class before (shares.c).
 */
#include <math.h>
#include <string.h>

#include "model/mask.h"
#include "model/shown.h"
#include "privacy/counted.h"
#include "privacy/turns.h"

/* ---- while classes are made ---- */

bool
kanon_presence_in_turn(const KanonProblem *problem)
{
	return problem->full_domain == NULL && problem->subtree == NULL;
}

KanonStatus
kanon_presence_by_turns(KanonPresence *presence)
{
	const KanonProblem *problem = presence->problem;
	KanonScratch *scratch = &presence->scratch;

	presence->turns = kanon_take0(scratch, 1, sizeof(struct Turns));
	presence->taken = kanon_take0(scratch, problem->ntypes, sizeof(bool));
	presence->at = kanon_take0(scratch, (size_t) problem->npopulations, sizeof(uint32_t *));
	for (int p = 0; p < problem->npopulations && !scratch->failed; p++)
	{
		presence->at[p] = kanon_take(scratch, problem->populations[p].ntypes, sizeof(uint32_t));
		if (presence->at[p] != NULL)
			memset(presence->at[p], 0xff, problem->populations[p].ntypes * sizeof(uint32_t));
		presence->rest[p] = problem->populations[p].total;
		if (presence->others != NULL)
			presence->others[p] = 1;
	}
	return kanon_taken(scratch);
}

bool
presence_is_taken(KanonPresence *presence, int p, uint32_t type)
{
	uint32_t at = presence->at[p][type];

	if (at == IS_TAKEN || (at != NO_GROUP && presence->taken[at]))
		presence->at[p][type] = IS_TAKEN;
	else
		presence->at[p][type] = NO_GROUP;
	return presence->at[p][type] == IS_TAKEN;
}

static void
cells_of(const KanonProblem *problem, KanonPattern pattern, uint32_t type, KanonCell *cells)
{
	for (int c = 0; c < problem->ncolumns; c++)
	{
		bool shown = !kanon_has(pattern, c);

		cells[c] = (KanonCell){shown ? KANON_SHOW_VALUE : KANON_SHOW_NOTHING,
							   shown ? problem->columns[c].code[type] & KANON_MAX_TYPES : 0};
	}
}

KanonStatus
presence_match_turns(KanonPresence *presence, int p, KanonPattern pattern, uint32_t n)
{
	const KanonProblem *problem = presence->problem;
	KanonCell cells[KANON_MAX_COLUMNS];
	KanonStatus status = KANON_OK;

	presence->turns->pattern = pattern;
	for (uint32_t group = 0; group < n && status == KANON_OK; group++)
	{
		cells_of(problem, pattern, presence->type[group], cells);
		status = turns_share(presence, &problem->populations[p], cells, presence->turns->cells,
							 presence->turns->n, NULL, &presence->match[p][group]);
	}
	return status;
}

void
presence_take_turn(KanonPresence *presence, uint32_t group)
{
	struct Turns *turns = presence->turns;
	size_t ncolumns = (size_t) presence->problem->ncolumns;

	presence->taken[group] = true;
	/* (memory that is refused is noticed when the next pattern is counted, or the next class shown) */
	if (kanon_presence_monotone(presence->problem) ||
		!KANON_GROW(&presence->scratch, &turns->room, (turns->n + 1) * ncolumns, KANON_ARRAY(turns->cells)))
		return;
	if (turns->shown != NULL)
		memcpy(turns->cells + turns->n * ncolumns, turns->shown, ncolumns * sizeof(KanonCell));
	else
		cells_of(presence->problem, turns->pattern, presence->type[group],
				 turns->cells + turns->n * ncolumns);
	turns->n++;
}

void
kanon_presence_set_found(KanonPresence *presence, int population, int64_t found)
{
	presence->found[population][0] = found;
}

KanonStatus
kanon_presence_show(KanonPresence *presence, const KanonCell *cells, const uint32_t *pool)
{
	const KanonProblem *problem = presence->problem;
	struct Turns *turns = presence->turns;
	KanonStatus status = presence->scratch.failed ? KANON_NO_MEMORY : KANON_OK;

	turns->shown = cells;
	for (int p = 0; p < problem->npopulations && status == KANON_OK; p++)
		if (problem->populations[p].nvalues != NULL)
			status = turns_share(presence, &problem->populations[p], cells, turns->cells, turns->n, pool,
								 &presence->match[p][0]);
	return status;
}

/* ---- of a release ---- */

static size_t
last_row(const Finder *finder, int c)
{
	return 2 * (size_t) finder->problem->columns[c].distinct + 1;
}

static void
add_class(Finder *finder, int c, KanonCell cell, int bit)
{
	const uint32_t *part = kanon_shows_several(cell) ? finder->release->pool + cell.code : NULL;
	uint32_t distinct = finder->problem->columns[c].distinct;
	uint64_t *bits = finder->bits[c] + bit / 64;
	uint64_t one = UINT64_C(1) << bit % 64;

	switch ((KanonShow) cell.show)
	{
		case KANON_SHOW_NOTHING:
			finder->every[c][bit / 64] |= one;
			break;
		case KANON_SHOW_VALUE:
			bits[cell.code * (size_t) WORDS] |= one;
			break;
		case KANON_SHOW_RANGE:
			for (size_t code = part[0]; code <= part[1]; code++)
			{
				bits[code * WORDS] |= one;
				if (code > part[0])
					bits[(distinct + code) * WORDS] |= one;
			}
			finder->pace->work += part[1] - part[0];
			break;
		case KANON_SHOW_SET:
			for (uint32_t i = 1; i <= part[0]; i++)
				bits[part[i] * (size_t) WORDS] |= one;
			finder->pace->work += part[0];
			break;
	}
}

KanonStatus
finder_open(Finder *finder, KanonScratch *scratch)
{
	for (int c = 0; c < finder->problem->ncolumns; c++)
		finder->bits[c] = kanon_take(scratch, last_row(finder, c) + 1, WORDS * sizeof(uint64_t));
	return kanon_taken(scratch);
}

KanonStatus
finder_take_block(Finder *finder, uint32_t from)
{
	const KanonRelease *release = finder->release;
	size_t ncolumns = (size_t) finder->problem->ncolumns;

	memset(finder->every, 0, sizeof(finder->every));
	for (int c = 0; c < finder->problem->ncolumns; c++)
	{
		memset(finder->bits[c], 0, (last_row(finder, c) + 1) * WORDS * sizeof(uint64_t));
		for (uint32_t i = from; i < release->nclasses && i < from + BLOCK; i++)
			add_class(finder, c, release->cells[i * ncolumns + (size_t) c], (int) (i - from));
		if (kanon_stop(finder->pace, 2 * last_row(finder, c) + BLOCK))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

bool
finder_match(const Finder *finder, const KanonPopulation *rows, uint32_t i, uint64_t *left)
{
	uint64_t any = 0;

	for (int w = 0; w < WORDS; w++)
		any |= left[w];
	for (int c = 0; c < finder->problem->ncolumns && any != 0; c++)
	{
		uint32_t code = rows->code[c][i];
		uint32_t distinct = finder->problem->columns[c].distinct;
		size_t at = code != KANON_FOREIGN ? code
					: rows->below[c] != NULL && rows->below[c][i] != KANON_FOREIGN
						? distinct + rows->below[c][i]
						: last_row(finder, c);

		any = 0;
		for (int w = 0; w < WORDS; w++)
			any |= left[w] &= finder->bits[c][at * WORDS + (size_t) w] | finder->every[c][w];
	}
	return any != 0;
}

/* The first of the classes at hand that all columns of a row match; BLOCK: none. */
static int
first_match(const Finder *finder, const KanonPopulation *rows, uint32_t i)
{
	uint64_t left[WORDS];

	memset(left, 0xff, sizeof(left));
	if (finder_match(finder, rows, i, left))
		for (int w = 0; w < WORDS; w++)
			if (left[w] != 0)
				return w * 64 + __builtin_ctzll(left[w]);
	return BLOCK;
}

/* The first class of each row type that matches it, or KANON_DROPPED. */
static KanonStatus
find_first(const KanonProblem *problem, const KanonRelease *release, const KanonPopulation *rows,
		   KanonScratch *scratch, KanonPace *pace, uint32_t *first)
{
	Finder finder = {.problem = problem, .release = release, .pace = pace};
	KanonStatus status = finder_open(&finder, scratch);

	memset(first, 0xff, rows->ntypes * sizeof(uint32_t));
	for (uint32_t from = 0; from < release->nclasses && status == KANON_OK; from += BLOCK)
	{
		status = finder_take_block(&finder, from);
		for (uint32_t i = 0; i < rows->ntypes && status == KANON_OK; i++)
		{
			int at = first[i] == KANON_DROPPED ? first_match(&finder, rows, i) : BLOCK;

			if (at < BLOCK)
				first[i] = from + (uint32_t) at;
			if (kanon_stop(pace, WORDS))
				status = KANON_CANCELLED;
		}
	}
	return status;
}

/* Are all rows of the table in the first class that they match? */
static KanonStatus
check_rows(const KanonProblem *problem, const KanonRelease *release, KanonScratch *scratch, KanonPace *pace,
		   uint32_t *class_)
{
	KanonPopulation table = {.ntypes = problem->ntypes};
	uint32_t *first = kanon_take(scratch, problem->ntypes, sizeof(uint32_t));
	KanonStatus status;

	if (first == NULL)
		return KANON_NO_MEMORY;
	for (int c = 0; c < problem->ncolumns; c++)
		table.code[c] = problem->columns[c].code;
	status = find_first(problem, release, &table, scratch, pace, first);
	for (size_t f = 0; f < release->nflows && status == KANON_OK; f++)
		if (release->flows[f].class_ != first[release->flows[f].type] && *class_ > release->nclasses)
			*class_ = release->flows[f].class_ != KANON_DROPPED ? release->flows[f].class_
																: first[release->flows[f].type];
	return status;
}

static KanonStatus
check_listed(const KanonProblem *problem, const KanonPopulation *population, const KanonRelease *release,
			 KanonScratch *scratch, KanonPace *pace, uint32_t *class_)
{
	uint32_t *first = kanon_take(scratch, population->ntypes, sizeof(uint32_t));
	int64_t *found = kanon_take0(scratch, (size_t) release->nclasses + 1, sizeof(int64_t));
	KanonStatus status = kanon_taken(scratch);

	if (status == KANON_OK)
		status = find_first(problem, release, population, scratch, pace, first);
	if (status != KANON_OK)
		return status;
	for (uint32_t i = 0; i < population->ntypes; i++)
		found[first[i] == KANON_DROPPED ? release->nclasses : first[i]] += population->rows[i];
	for (uint32_t i = 0; i <= release->nclasses && *class_ > release->nclasses; i++)
		if (!presence_within(population, i < release->nclasses ? release->classes[i].rows : 0, found[i]))
			*class_ = i;
	return KANON_OK;
}

/* Do two classes look the same to who cannot tell NULL from what is suppressed? */
static bool
look_alike(const KanonProblem *problem, const KanonCell *a, const KanonCell *b)
{
	for (int c = 0; c < problem->ncolumns; c++)
	{
		uint32_t null = problem->columns[c].has_null ? problem->columns[c].distinct - 1 : UINT32_MAX;
		bool blank =
			(a[c].show == KANON_SHOW_NOTHING || (a[c].show == KANON_SHOW_VALUE && a[c].code == null)) &&
			(b[c].show == KANON_SHOW_NOTHING || (b[c].show == KANON_SHOW_VALUE && b[c].code == null));

		if (!blank && (a[c].show != b[c].show || a[c].code != b[c].code))
			return false;
	}
	return true;
}

static KanonStatus
check_shares(KanonPresence *presence, const KanonPopulation *population, const KanonRelease *release,
			 uint32_t *class_)
{
	const KanonProblem *problem = presence->problem;
	size_t ncolumns = (size_t) problem->ncolumns;
	double *match = kanon_take(&presence->scratch, release->nclasses, sizeof(double));
	double *others = &presence->others[population - problem->populations];
	KanonStatus status = kanon_taken(&presence->scratch);

	for (uint32_t i = 0; i < release->nclasses && status == KANON_OK && *class_ > release->nclasses; i++)
	{
		const KanonCell *cells = release->cells + i * ncolumns;
		int64_t rows = release->classes[i].rows;
		double sum;

		status = turns_share(presence, population, cells, release->cells, i, release->pool, &match[i]);
		if (status != KANON_OK)
			return status;
		/* (what the solver knew otherwise, or did not ask) */
		if (isnan(match[i]))
			return KANON_NOT_FOUND;
		*others = fmax(*others - match[i], 0);
		if (!presence_is_likely(population, presence->table, rows, match[i]))
			*class_ = i;
		/* two that keep the rule need not do so as one */
		sum = match[i];
		for (uint32_t j = 0; j < i; j++)
			if (look_alike(problem, cells, release->cells + j * ncolumns))
			{
				sum += match[j];
				rows += release->classes[j].rows;
			}
		if (*class_ > release->nclasses && !presence_is_likely(population, presence->table, rows, sum))
			return KANON_NOT_FOUND;
		if (kanon_stop(&presence->pace, 2 * (uint64_t) i))
			return KANON_CANCELLED;
	}
	return status;
}

KanonStatus
presence_check_turns(KanonPresence *presence, const KanonRelease *release, uint32_t *class_)
{
	const KanonProblem *problem = presence->problem;
	KanonStatus status = kanon_presence_by_turns(presence);
	bool maps = true;

	for (int p = 0; p < problem->npopulations; p++)
		maps = maps && problem->populations[p].map;
	if (status == KANON_OK && !maps)
		status = check_rows(problem, release, &presence->scratch, &presence->pace, class_);
	for (int p = 0; p < problem->npopulations && status == KANON_OK && *class_ > release->nclasses; p++)
	{
		const KanonPopulation *population = &problem->populations[p];
		size_t mark = kanon_mark(&presence->scratch);

		if (population->nvalues != NULL)
			status = check_shares(presence, population, release, class_);
		else if (population->map)
		{
			status = presence_check_map(presence, p, release, class_);
			kanon_release(&presence->scratch, mark);
		}
		else
		{
			status = check_listed(problem, population, release, &presence->scratch, &presence->pace, class_);
			kanon_release(&presence->scratch, mark);
		}
	}
	return status;
}
