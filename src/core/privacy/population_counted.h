/*
 * population_counted.h: what population.c and those who count populations in other ways share.
 */
#ifndef KANON_POPULATION_COUNTED_H
#define KANON_POPULATION_COUNTED_H

#include "privacy/population.h"
#include "util/pace.h"
#include "util/scratch.h"

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

/* What share of the population shows what, column by column. */
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

/* So many rows of so many: is the chance within the bounds? */
extern bool presence_within(const KanonPopulation *population, int64_t rows, int64_t of);

/* Is it with enough confidence, of so many rows of a class that a share matches?  table: the rows of the table. */
extern bool presence_is_likely(const KanonPopulation *population, int64_t table, int64_t rows, double match);

/*
 * population_boxes.c: counts for the classes of Mondrian's release, whose groups they are: each shows values, ranges,
 * sets or nodes, and no row may match two.  *class_ is one that overlaps another, or that lacks a row of the
 * table; it stays as it is if there is none.
 */
extern KanonStatus presence_count_boxes(KanonPresence *presence, const KanonRelease *release,
										uint32_t *class_);

#endif
