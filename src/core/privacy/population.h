/*
 * population.h: rules about a population
 */
#ifndef KANON_POPULATION_H
#define KANON_POPULATION_H

#include "util/pace.h"
#include "util/scratch.h"

/* ---- population.c: rules about the population that a table's rows are from ---- */

/* The code of a value that the table does not have. */
#define KANON_FOREIGN UINT32_MAX

/* A population, and what is asked of it.  It has every row of the table. */
typedef struct KanonPopulation
{
	uint32_t ntypes;
	const int64_t *rows;    /* [ntypes] */
	int64_t total;          /* their sum; with persons, how many these are */
	const uint32_t *person; /* [ntypes] whose these are, below total; NULL: each row counts.  k_map alone */
	const uint32_t *code[KANON_MAX_COLUMNS]; /* [ntypes] by the problem's columns, or KANON_FOREIGN */

	/*
	 * [ntypes] of columns that may show ranges, for foreign values: how many of the column's codes are
	 * less (KANON_FOREIGN: it is nowhere among them).  NULL: no range matches a foreign value.
	 */
	const uint32_t *below[KANON_MAX_COLUMNS];
	bool map;     /* k_map: k is asked of its rows; else: delta-presence */
	double least; /* dmin */
	double most;  /* dmax */

	/*
	 * kanon_presence: nobody has listed the population.  It has `total` rows, whose values are
	 * independent from column to column, each with its share.  code is [nvalues] then.
	 */
	const uint32_t *nvalues;    /* [nqis]; NULL: there are rows */
	const double *const *share; /* [nqis][nvalues] */
	double confidence;          /* that the chance is within the bounds */
} KanonPopulation;

/*
 * How probable is it that so many rows by so many and X is at least `least` and at most `most`, X being how
 * many of `others` rows have what one has with the probability `share`?
 */
extern double kanon_presence_likelihood(int64_t rows, int64_t others, double share, double least,
										double most);

/* Counts a problem's populations for groups of row types, one pattern at a time. */
typedef struct KanonPresence KanonPresence;

/* NULL (and KANON_OK) without populations. */
extern KanonStatus kanon_presence_open(const KanonProblem *problem, KanonPresence **presence);
extern void kanon_presence_close(KanonPresence *presence); /* NULL, too */

/* [ntypes] to be filled with one row type of each group before they are counted. */
extern uint32_t *kanon_presence_types(KanonPresence *presence);

/*
 * Instead of types [ntypes * number of quasi-identifiers] to be filled, group by group, with what it shows of
 * each: the code in the column that the pattern shows (of none: anything).  NULL: no memory.
 */
extern uint32_t *kanon_presence_codes(KanonPresence *presence);

/* How many rows match what each of n groups, pairwise different, shows under a pattern. */
extern KanonStatus kanon_presence_count(KanonPresence *presence, KanonPattern pattern, uint32_t n);

/*
 * The same of n groups (one row type each filled in) that are all there is of a table, under
 * the pattern of each, when a value shows the same in every row: a row of a population
 * then shows of each quasi-identifier the finest that any group does of its value, and
 * matches one group at most.  For problem->subtree only.
 */
extern KanonStatus kanon_presence_count_cut(KanonPresence *presence, const KanonPattern *pattern, uint32_t n);

/*
 * The same, but how many might come to match a group, or a part of it, at any cut below (siblings):
 * at least as many as at each.  Could a group of so many rows then be classes?  Only for
 * populations with rows alone.
 */
extern KanonStatus kanon_presence_count_below(KanonPresence *presence, const KanonPattern *pattern,
											  uint32_t n);
extern bool kanon_presence_may_allow(const KanonPresence *presence, uint32_t group, int64_t rows);

/* How many of a population match a group: rows, or persons. */
extern int64_t kanon_presence_found(const KanonPresence *presence, int population, uint32_t group);

/*
 * Called before anything is counted: patterns are then counted one after the other, and a row of a population
 * that matches a class taken under one of them matches no group of a later one.  For k_map alone: greedy.
 */
extern KanonStatus kanon_presence_by_turns(KanonPresence *presence);

/* Is a release of this problem one node or one cut, so that a value shows the same in every row? */
static inline bool
kanon_global_recoding(const KanonProblem *problem)
{
	return problem->full_domain != NULL || problem->subtree != NULL;
}

/*
 * May a class of so many rows be, if `found` of the population match it, or (nobody lists the population) the
 * share `match` of it?  table: the rows of the table.
 */
extern bool kanon_population_allows(const KanonProblem *problem, const KanonPopulation *population,
									int64_t table, int64_t rows, int64_t found, double match);

/* May a group with that many rows be a class?  NULL (here and below): there are no populations. */
extern bool kanon_presence_allows(const KanonPresence *presence, uint32_t group, int64_t rows);

/* It is one: what matches it is no part of the rest. */
extern void kanon_presence_take(KanonPresence *presence, uint32_t group);

/* May so many rows of the other groups be published fully suppressed?  0: none are. */
extern bool kanon_presence_rest(const KanonPresence *presence, int64_t rows);

/* population_check.c: checks a release: *class_ is a class that breaks a rule, nclasses + 1 if none does. */
extern KanonStatus kanon_presence_check(const KanonProblem *problem, const KanonRelease *release,
										uint32_t *class_);

/* Do two classes that keep all rules about populations always keep them as one? */
extern bool kanon_presence_monotone(const KanonProblem *problem);

/* Counts the row types (without sensitive values) of which a population has fewer rows than the table. */
extern KanonStatus kanon_population_missing(const KanonProblem *problem, int population, int64_t *missing);

/* ---- population_counted: what population.c and those who count populations in other ways share ---- */

#define NO_GROUP UINT32_MAX

struct KanonPresence
{
	KanonScratch scratch;
	const KanonProblem *problem;
	KanonPace pace;
	uint32_t *type;  /* [ntypes] of each group */
	uint32_t *codes; /* [ntypes * nqis] instead, what each shows of each quasi-identifier; NULL: by types */
	uint64_t *pairs; /* a group and a person; NULL: no population has persons */
	uint64_t *spare;
	uint32_t *slots; /* a group or NO_GROUP */
	size_t mask;     /* number of slots - 1 */
	int64_t **found; /* [npopulations][ntypes] by group */
	int64_t *rest;   /* [npopulations] rows that match no class */

	/* of shares */
	int64_t table;                      /* its rows */
	double **match;                     /* [npopulations][ntypes] by group: the share that matches it */
	double *others;                     /* [npopulations] ... that matches no class */
	double *portion[KANON_MAX_COLUMNS]; /* [distinct] by column: share of what shows the code */
	double hidden[KANON_MAX_COLUMNS];   /* by quasi-identifier: ... nothing of it */

	int nqis;
	int first[KANON_MAX_COLUMNS + 1];

	/* of patterns in turn: for each row type of a population the group of the pattern counted last */
	uint32_t **at; /* [npopulations][ntypes of the population], NO_GROUP, or IS_TAKEN; NULL: not in turn */
	bool *taken;   /* [ntypes] by group of that pattern */

	/* of cuts */
	uint64_t *shown;                   /* [ntypes * nqis] what each group shows: column and code */
	bool *is_shown[KANON_MAX_COLUMNS]; /* [distinct] by column: some group shows it */
	bool blank[KANON_MAX_COLUMNS];     /* by quasi-identifier: some group shows nothing of it */
};

/* It matches a class of an earlier pattern. */
#define IS_TAKEN (UINT32_MAX - 1)

/* population.c: what a group shows of a quasi-identifier; the column after its last: nothing. */
extern int presence_shown_column(const KanonPresence *presence, int q, KanonPattern pattern);

/* The quasi-identifier's column with the finest that is shown of a value; its last plus one: nothing. */
typedef int (*ShownOf)(const KanonPresence *presence, const KanonPopulation *population, int q,
					   uint32_t value, const void *arg);

/* The share of the population that shows each cell, column by column. */
extern void presence_add_portions(KanonPresence *presence, const KanonPopulation *population, ShownOf shown,
								  const void *arg);

/* The share that matches each of n groups, under one pattern or that of each. */
extern KanonStatus presence_match_groups(KanonPresence *presence, int p, const KanonPattern *pattern,
										 bool one, uint32_t n);

/* Room in the table of groups for n of them, none of which is there. */
extern void presence_empty_slots(KanonPresence *presence, uint32_t n);

/* So many rows of a population's row type match a group, and the n-th pair is that of their person. */
extern void presence_found_type(KanonPresence *presence, int p, uint32_t group, uint32_t type, size_t *n);

/* Counts the persons of n pairs: each once in a group. */
extern KanonStatus presence_count_persons(KanonPresence *presence, int p, size_t n);

/*
 * population_boxes.c: counts for the classes of Mondrian's release, whose groups they are: each shows values, ranges,
 * sets or nodes, and no row may match two.  *class_ is one that overlaps another, or that lacks a row of the
 * table; it stays as it is if there is none.
 */
extern KanonStatus presence_count_boxes(KanonPresence *presence, const KanonRelease *release,
										uint32_t *class_);

#endif
