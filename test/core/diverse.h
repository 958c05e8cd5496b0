/*
 * diverse.h: problems with privacy rules beyond k, by chance, and the rules as
 * their definitions say them: the oracle of privacy.c.
 */
#ifndef DIVERSE_H
#define DIVERSE_H

#include "privacy/population.h"
#include "fixture.h"
#include "privacy/rules.h"

/* The kinds of rules that there may be. */
#define DIVERSE_ALL ((1u << KANON_PRIVACY_KINDS) - 1)

/*
 * Makes the last columns of a problem of more of them what rules look at: one to
 * three, with values and, at times, persons.  They keep the row types in order.
 * Rules by chance of the given kinds are opened for problem->privacy.
 */
extern void diverse_make(KanonProblem *problem, uint64_t *random, unsigned kinds);
/* Makes its last column one of which each class has to have l different values. */
extern void diverse_ask(KanonProblem *problem, double l);
extern void diverse_reopen(KanonProblem *problem);
extern void diverse_free(KanonProblem *problem);

/* Makes a column one that rules may look at: codes without gaps, in the same order; no level. */
extern void diverse_dense(KanonColumn *column, uint32_t ntypes);

/* One or two populations: the table's rows and some more, at times with values that the table does not have. */
extern void diverse_populations(KanonProblem *problem, uint64_t *random);

/* Rows, or persons, of the tuples that match. */
extern int64_t diverse_found(const KanonPopulation *population, const bool *matches);

/* Or one of which only shares of values are known, of these and some that the table does not have. */
extern void diverse_shares(KanonProblem *problem, uint64_t *random);
extern void diverse_free_populations(KanonProblem *problem);

/* As kanon_privacy_allows. */
extern bool diverse_allows(const KanonProblem *problem, const uint32_t *types, const int64_t *counts,
						   size_t ntypes, bool few);

/*
 * Every way to give each of at most eight rows a pattern: the least cost of one whose classes keep
 * k and the rules; rows left out cost what suppressing them costs.  INFINITY: none.
 */
extern double diverse_least(const KanonProblem *problem);

/* The same of pattern clustering: every row is in a class, and a pattern in as many as it is listed, of rules one. */
extern double diverse_least_once(const KanonProblem *problem);

/* The rules at hand. */
extern KanonPrivacyRule diverse_rules[4];
extern int diverse_nrules;

#endif
