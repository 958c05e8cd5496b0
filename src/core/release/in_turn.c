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

/* Row types of the table or of a population: each waits for the next class of the block at hand that it matches. */
typedef struct Waiting
{
	const KanonPopulation *rows;
	uint32_t *next; /* [ntypes] the one after it in the same list, or NOBODY */
	bool *taken;    /* [ntypes] by a class before */
	uint32_t head[BLOCK];
} Waiting;

#define NOBODY UINT32_MAX

typedef struct InTurn
{
	const KanonProblem *problem;
	const KanonRelease *classes; /* in their order */
	KanonPresence *presence;
	KanonScratch scratch;
	KanonPace pace;
	Finder finder;
	KanonPopulation table; /* as if it were one: its codes */
	Waiting waiting;       /* of the table */
	Waiting *people;   /* [npopulations] of those that are listed, and of which a row belongs to one class */
	uint64_t **met;    /* [npopulations][persons * WORDS] classes of the block; NULL: rows are counted */
	int64_t **persons; /* [npopulations][BLOCK] who match them */
	uint32_t *class_;  /* [ntypes] KANON_DROPPED: none yet */
	uint32_t *types;   /* [ntypes] of a class at hand */
} InTurn;

/* ---- who waits for what ---- */

static KanonStatus
open_waiting(InTurn *t, const KanonPopulation *rows, Waiting *waiting)
{
	waiting->rows = rows;
	waiting->next = kanon_take(&t->scratch, rows->ntypes, sizeof(uint32_t));
	waiting->taken = kanon_take0(&t->scratch, rows->ntypes, sizeof(bool));
	return kanon_taken(&t->scratch);
}

/* The first of the block's classes from this one on that a row type matches; BLOCK: none. */
static int
find_next(const InTurn *t, const KanonPopulation *rows, uint32_t type, int from)
{
	uint64_t left[WORDS] = {0};

	for (int w = from / 64; w < WORDS; w++)
		left[w] = w > from / 64 ? UINT64_MAX : UINT64_MAX << from % 64;
	if (from < BLOCK && finder_match(&t->finder, rows, type, left))
		for (int w = 0; w < WORDS; w++)
			if (left[w] != 0)
				return w * 64 + __builtin_ctzll(left[w]);
	return BLOCK;
}

static KanonStatus
wait_for(InTurn *t, Waiting *waiting, uint32_t type, int from)
{
	int at = find_next(t, waiting->rows, type, from);

	if (at < BLOCK)
	{
		waiting->next[type] = waiting->head[at];
		waiting->head[at] = type;
	}
	return kanon_stop(&t->pace, WORDS) ? KANON_CANCELLED : KANON_OK;
}

static KanonStatus
start_block(InTurn *t, Waiting *waiting)
{
	KanonStatus status = KANON_OK;

	memset(waiting->head, 0xff, sizeof(waiting->head));
	for (uint32_t type = waiting->rows->ntypes; type-- > 0 && status == KANON_OK;)
		if (!waiting->taken[type])
			status = wait_for(t, waiting, type, 0);
	return status;
}

/* A class is decided: who waits for it is taken, or waits for another. */
static KanonStatus
go_on(InTurn *t, Waiting *waiting, int at, bool takes)
{
	KanonStatus status = KANON_OK;
	uint32_t next;

	for (uint32_t type = waiting->head[at]; type != NOBODY && status == KANON_OK; type = next)
	{
		next = waiting->next[type];
		if (takes)
			waiting->taken[type] = true;
		else
			status = wait_for(t, waiting, type, at + 1);
	}
	return status;
}

/* Persons who match the block's classes, whatever was taken before. */
static KanonStatus
count_persons(InTurn *t, int p)
{
	const KanonPopulation *population = &t->problem->populations[p];
	uint64_t left[WORDS];

	memset(t->met[p], 0, (size_t) population->total * sizeof(left));
	memset(t->persons[p], 0, BLOCK * sizeof(int64_t));
	for (uint32_t i = 0; i < population->ntypes; i++)
	{
		uint64_t *met = t->met[p] + (size_t) population->person[i] * WORDS;

		memset(left, 0xff, sizeof(left));
		if (finder_match(&t->finder, population, i, left))
			for (int w = 0; w < WORDS; w++)
			{
				for (uint64_t more = left[w] & ~met[w]; more != 0; more &= more - 1)
					t->persons[p][w * 64 + __builtin_ctzll(more)]++;
				met[w] |= left[w];
			}
		if (kanon_stop(&t->pace, 2 * (uint64_t) WORDS))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

static KanonStatus
take_block(InTurn *t, uint32_t from)
{
	KanonStatus status = finder_take_block(&t->finder, from);

	if (status == KANON_OK)
		status = start_block(t, &t->waiting);
	for (int p = 0; p < t->problem->npopulations && status == KANON_OK; p++)
		status = t->people[p].rows != NULL ? start_block(t, &t->people[p])
				 : t->met[p] != NULL       ? count_persons(t, p)
										   : KANON_OK;
	return status;
}

/* ---- classes ---- */

/* How many of the populations belong to a class. */
static KanonStatus
count_people(InTurn *t, uint32_t class)
{
	int at = (int) (class % BLOCK);

	for (int p = 0; p < t->problem->npopulations; p++)
	{
		int64_t found = t->met[p] != NULL ? t->persons[p][at] : 0;

		for (uint32_t i = t->people[p].rows != NULL ? t->people[p].head[at] : NOBODY; i != NOBODY;
			 i = t->people[p].next[i])
			found += t->problem->populations[p].rows[i];
		kanon_presence_set_found(t->presence, p, found);
		/* a share may take long: whether time is up is asked after each */
		if (t->problem->populations[p].nvalues != NULL)
			t->pace.work += KANON_POLL_WORK;
	}
	return kanon_presence_show(t->presence, t->classes->cells + class * (size_t) t->problem->ncolumns,
							   t->classes->pool);
}

/* What waits for a class becomes that, if it may. */
static KanonStatus
take_class(InTurn *t, uint32_t class)
{
	int at = (int) (class % BLOCK);
	int64_t rows = 0;
	uint32_t n = 0;
	bool takes;
	KanonStatus status = KANON_OK;

	for (uint32_t type = t->waiting.head[at]; type != NOBODY; type = t->waiting.next[type])
	{
		t->types[n++] = type;
		rows += t->problem->rows[type];
	}
	if (kanon_stop(&t->pace, 16 * (uint64_t) n))
		return KANON_CANCELLED;
	takes = n > 0 && kanon_class_allowed(t->problem, t->types, NULL, n, rows);
	if (takes)
	{
		status = count_people(t, class);
		takes = status == KANON_OK && kanon_presence_allows(t->presence, 0, rows);
	}
	if (takes)
	{
		for (uint32_t i = 0; i < n; i++)
			t->class_[t->types[i]] = class;
		kanon_presence_take(t->presence, 0);
	}
	if (status == KANON_OK)
		status = go_on(t, &t->waiting, at, takes);
	for (int p = 0; p < t->problem->npopulations && status == KANON_OK; p++)
		if (t->people[p].rows != NULL)
			status = go_on(t, &t->people[p], at, takes);
	return status;
}

/* The first n of the classes, as long as there is time. */
static KanonStatus
take_classes(InTurn *t, uint32_t n)
{
	KanonStatus status = KANON_OK;

	for (uint32_t i = 0; i < n && status == KANON_OK && !t->pace.late; i++)
	{
		if (i % BLOCK == 0)
			status = take_block(t, i);
		if (status == KANON_OK)
			status = take_class(t, i);
	}
	return status;
}

static KanonStatus
open_turns(InTurn *t, const KanonProblem *problem, const KanonRelease *classes, double end)
{
	size_t npopulations = (size_t) problem->npopulations;
	KanonStatus status = kanon_presence_open(problem, &t->presence);

	t->problem = problem;
	t->classes = classes;
	t->scratch.env = problem->env;
	t->pace = kanon_pace_at_once(problem->env, "rules");
	t->pace.deadline = end;
	t->table = (KanonPopulation){.ntypes = problem->ntypes};
	for (int c = 0; c < problem->ncolumns; c++)
		t->table.code[c] = problem->columns[c].code;
	t->finder = (Finder){.problem = problem, .release = classes, .pace = &t->pace};
	t->class_ = kanon_take(&t->scratch, problem->ntypes, sizeof(uint32_t));
	t->types = kanon_take(&t->scratch, problem->ntypes, sizeof(uint32_t));
	t->people = kanon_take0(&t->scratch, npopulations, sizeof(Waiting));
	t->met = kanon_take0(&t->scratch, npopulations, sizeof(uint64_t *));
	t->persons = kanon_take0(&t->scratch, npopulations, sizeof(int64_t *));
	if (status == KANON_OK)
		status = kanon_taken(&t->scratch);
	if (status != KANON_OK)
		return status;
	memset(t->class_, 0xff, problem->ntypes * sizeof(uint32_t));
	status = open_waiting(t, &t->table, &t->waiting);
	for (int p = 0; p < problem->npopulations && status == KANON_OK; p++)
	{
		const KanonPopulation *population = &problem->populations[p];

		if (population->nvalues == NULL && !kanon_population_shares(population))
			status = open_waiting(t, population, &t->people[p]);
		else if (population->nvalues == NULL)
		{
			t->met[p] = kanon_take(&t->scratch, (size_t) population->total, WORDS * sizeof(uint64_t));
			t->persons[p] = kanon_take(&t->scratch, BLOCK, sizeof(int64_t));
		}
	}
	if (status == KANON_OK)
		status = finder_open(&t->finder, &t->scratch);
	return status == KANON_OK ? kanon_presence_by_turns(t->presence) : status;
}

static void
close_turns(InTurn *t)
{
	kanon_presence_close(t->presence);
	kanon_scratch_free(&t->scratch);
}

/* ---- releases ---- */

KanonStatus
kanon_turns_of_clusters(const KanonProblem *problem, const KanonRelease *classes, double end,
						uint32_t *class_, bool *fine)
{
	InTurn t = {0};
	KanonStatus status = open_turns(&t, problem, classes, end);

	if (status == KANON_OK)
		status = take_classes(&t, classes->nclasses);
	if (status == KANON_OK)
	{
		memcpy(class_, t.class_, problem->ntypes * sizeof(uint32_t));
		*fine = kanon_presence_rest(t.presence, 0);
	}
	close_turns(&t);
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
	snprintf(report->detail, sizeof(report->detail),
			 t->pace.late ? "time was up before all classes were taken in turn"
						  : "classes in turn led to none that keep the rules");
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
kanon_take_in_turn(const KanonProblem *problem, const KanonRelease *solved, bool once, double end,
				   KanonRelease *release, KanonReport *report)
{
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	InTurn t = {0};
	bool hidden = false;
	uint32_t n = 0;
	KanonStatus status = open_turns(&t, problem, solved, end);

	memset(release, 0, sizeof(*release));
	/* (what is suppressed comes last) */
	while (n < solved->nclasses && (once || !kanon_same(solved->classes[n].pattern, all)))
		n++;
	if (status == KANON_OK)
		status = take_classes(&t, n);
	if (status == KANON_OK)
		status = take_rest(&t, once, &hidden, report);
	if (status == KANON_OK)
		status = make_release(&t, hidden, release);
	close_turns(&t);
	if (status == KANON_OK)
		status = kanon_release_finish(problem, release, report);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	return status;
}
