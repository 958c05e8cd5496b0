/*
 * in_turn.c: a release made of another's classes, in turn: each takes all rows that match it and no class before, if
 * these may be a class then.
 *
 * That is what rules about presence are about (privacy/turns.c), and what greedy makes of all classes that there
 * could be; here it is of those that a solver has chosen which knows k alone.
 */
#include <stdio.h>
#include <string.h>

#include "model/mask.h"
#include "privacy/allowed.h"
#include "privacy/population.h"
#include "privacy/turns.h"
#include "release/repair.h"

typedef struct InTurn
{
	const KanonProblem *problem;
	const KanonRelease *classes; /* in their order */
	KanonPresence *presence;
	KanonScratch scratch;
	KanonPace pace;
	uint32_t *class_; /* [ntypes] KANON_DROPPED: none yet */
	uint32_t *shows;  /* [classes] a row type that matches */
	uint32_t *types;  /* [ntypes] of a class at hand */
	size_t *start;    /* [BLOCK + 1] in: */
	uint32_t *match;  /* row types that match the classes of a block */
	size_t room;
} InTurn;

/* Lists the row types in no class yet that match each of a block's. */
static KanonStatus
find_matches(InTurn *t, Finder *finder, const KanonPopulation *table, uint32_t from)
{
	const KanonProblem *problem = t->problem;
	KanonStatus status = finder_take_block(finder, from);
	uint64_t left[WORDS];

	for (int pass = 0; pass < 2 && status == KANON_OK; pass++)
	{
		if (pass == 0)
			memset(t->start, 0, (BLOCK + 2) * sizeof(size_t));
		else
		{
			for (int i = 0; i < BLOCK; i++)
				t->start[i + 2] += t->start[i + 1];
			if (!KANON_GROW(&t->scratch, &t->room, t->start[BLOCK + 1], KANON_ARRAY(t->match)))
				return KANON_NO_MEMORY;
		}
		for (uint32_t type = 0; type < problem->ntypes && status == KANON_OK; type++)
		{
			if (kanon_stop(&t->pace, WORDS))
				status = KANON_CANCELLED;
			memset(left, 0xff, sizeof(left));
			if (t->class_[type] != KANON_DROPPED || !finder_match(finder, table, type, left))
				continue;
			for (int w = 0; w < WORDS; w++)
				for (; left[w] != 0; left[w] &= left[w] - 1)
				{
					int at = w * 64 + __builtin_ctzll(left[w]);

					if (pass == 0)
						t->start[at + 2]++;
					else
						t->match[t->start[at + 1]++] = type;
				}
		}
	}
	return status;
}

/* What match[from .. to) has left becomes a class, if it may. */
static KanonStatus
take_class(InTurn *t, uint32_t class, uint32_t group, size_t from, size_t to)
{
	int64_t rows = 0;
	uint32_t n = 0;

	for (size_t i = from; i < to; i++)
		if (t->class_[t->match[i]] == KANON_DROPPED)
		{
			t->types[n++] = t->match[i];
			rows += t->problem->rows[t->match[i]];
		}
	if (kanon_stop(&t->pace, 16 * (uint64_t) (to - from)))
		return KANON_CANCELLED;
	if (n == 0 || !kanon_class_allowed(t->problem, t->types, NULL, n, rows) ||
		!kanon_presence_allows(t->presence, group, rows))
		return KANON_OK;
	for (uint32_t i = 0; i < n; i++)
		t->class_[t->types[i]] = class;
	kanon_presence_take(t->presence, group);
	return KANON_OK;
}

/* The populations are counted for a pattern's classes when the first of them is met. */
static KanonStatus
count_pattern(InTurn *t, uint32_t first)
{
	const KanonRelease *classes = t->classes;
	uint32_t n = 0;

	while (first + n < classes->nclasses &&
		   kanon_same(classes->classes[first + n].pattern, classes->classes[first].pattern))
	{
		kanon_presence_types(t->presence)[n] = t->shows[first + n];
		n++;
	}
	return kanon_presence_count(t->presence, classes->classes[first].pattern, n);
}

static KanonStatus
take_classes(InTurn *t, bool once)
{
	const KanonProblem *problem = t->problem;
	const KanonRelease *classes = t->classes;
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	KanonPopulation table = {.ntypes = problem->ntypes};
	Finder finder = {.problem = problem, .release = classes, .pace = &t->pace};
	KanonStatus status = finder_open(&finder, &t->scratch);
	uint32_t first = 0;

	for (int c = 0; c < problem->ncolumns; c++)
		table.code[c] = problem->columns[c].code;
	for (uint32_t i = 0; i < classes->nclasses && status == KANON_OK; i++)
	{
		KanonPattern pattern = classes->classes[i].pattern;

		if (kanon_same(pattern, all) && !once)
			break;
		if (i % BLOCK == 0)
			status = find_matches(t, &finder, &table, i);
		if (i == 0 || !kanon_same(pattern, classes->classes[i - 1].pattern))
		{
			first = i;
			if (status == KANON_OK)
				status = count_pattern(t, i);
		}
		if (status == KANON_OK)
			status = take_class(t, i, i - first, t->start[i % BLOCK], t->start[i % BLOCK + 1]);
	}
	return status;
}

/* The rows in no class: *few: they are one, fully suppressed, or else left out. */
static KanonStatus
take_rest(InTurn *t, bool once, bool *hidden, KanonReport *report)
{
	const KanonProblem *problem = t->problem;
	int64_t rows = 0;
	uint32_t n = 0;

	for (uint32_t type = 0; type < problem->ntypes; type++)
		if (t->class_[type] == KANON_DROPPED)
		{
			t->types[n++] = type;
			rows += problem->rows[type];
		}
	*hidden =
		n > 0 && !once && kanon_presence_rest(t->presence, rows) &&
		(kanon_class_allowed(problem, t->types, NULL, n, rows) ||
		 (problem->residual == KANON_RESIDUAL_SUPPRESS && kanon_rest_allowed(problem, t->types, NULL, n)));
	if (*hidden || (kanon_presence_rest(t->presence, 0) &&
					(n == 0 || (!once && problem->residual == KANON_RESIDUAL_DROP))))
		return KANON_OK;
	snprintf(report->detail, sizeof(report->detail), "classes in turn led to none that keep the rules");
	return KANON_NOT_FOUND;
}

static KanonStatus
make_release(const InTurn *t, bool hidden, KanonRelease *release)
{
	const KanonProblem *problem = t->problem;
	const KanonRelease *from = t->classes;
	KanonEnv *env = problem->env;
	size_t width = (size_t) problem->ncolumns;
	uint32_t n = from->nclasses;

	memset(release, 0, sizeof(*release));
	release->classes = kanon_alloc0(env, (size_t) n + 1, sizeof(KanonClass));
	release->cells = kanon_alloc0(env, (size_t) n + 1, width * sizeof(KanonCell));
	release->flows = kanon_alloc(env, problem->ntypes, sizeof(KanonFlow));
	if (release->classes == NULL || release->cells == NULL || release->flows == NULL)
		return KANON_NO_MEMORY;
	memcpy(release->classes, from->classes, n * sizeof(KanonClass));
	memcpy(release->cells, from->cells, n * width * sizeof(KanonCell));
	release->classes[n].pattern = kanon_pattern_all(problem->ncolumns);
	release->nclasses = n + 1;
	release->nflows = problem->ntypes;
	for (uint32_t type = 0; type < problem->ntypes; type++)
		release->flows[type] = (KanonFlow){
			type, hidden && t->class_[type] == KANON_DROPPED ? n : t->class_[type], problem->rows[type]};
	return KANON_OK;
}

KanonStatus
kanon_take_in_turn(const KanonPlain *plain, const KanonRelease *solved, bool once, KanonRelease *release,
				   KanonReport *report)
{
	const KanonProblem *problem = plain->whole;
	InTurn t = {.problem = problem,
				.classes = solved,
				.scratch = {.env = problem->env},
				.pace = {.env = problem->env, .phase = "rules", .rows_left = -1, .work = KANON_POLL_WORK}};
	bool hidden = false;
	KanonStatus status = kanon_presence_open(problem, &t.presence);

	memset(release, 0, sizeof(*release));
	t.class_ = kanon_take(&t.scratch, problem->ntypes, sizeof(uint32_t));
	t.types = kanon_take(&t.scratch, problem->ntypes, sizeof(uint32_t));
	t.shows = kanon_take0(&t.scratch, solved->nclasses, sizeof(uint32_t));
	t.start = kanon_take(&t.scratch, BLOCK + 2, sizeof(size_t));
	if (status == KANON_OK)
		status = kanon_taken(&t.scratch);
	if (status == KANON_OK)
		status = kanon_presence_by_turns(t.presence);
	if (status == KANON_OK)
	{
		memset(t.class_, 0xff, problem->ntypes * sizeof(uint32_t));
		for (size_t f = 0; f < solved->nflows; f++)
			if (solved->flows[f].class_ != KANON_DROPPED)
				t.shows[solved->flows[f].class_] = plain->first[solved->flows[f].type];
		status = take_classes(&t, once);
	}
	if (status == KANON_OK)
		status = take_rest(&t, once, &hidden, report);
	if (status == KANON_OK)
		status = make_release(&t, hidden, release);
	kanon_presence_close(t.presence);
	kanon_scratch_free(&t.scratch);
	if (status == KANON_OK)
		status = kanon_release_finish(problem, release, report);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	return status;
}
