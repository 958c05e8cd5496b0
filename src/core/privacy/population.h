/*
 * population.h: rules about the population that a table's rows are from.
 */
#ifndef KANON_POPULATION_H
#define KANON_POPULATION_H

#include "util/pace.h"
#include "util/scratch.h"

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
 * The same, but how many might come to match a group, or a part of it, at any cut below (siblings): at least as
 * many as at each.  Could a group of so many rows then be classes?  Of populations with rows alone.
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

#endif
