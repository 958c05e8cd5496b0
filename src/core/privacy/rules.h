/*
 * rules.h: rules beyond k
 */
#ifndef KANON_RULES_H
#define KANON_RULES_H

#include "kanon.h"
#include "util/fault.h"

/* ---- diversity.c: how the values of a sensitive column spread over a class ---- */

/* Recursive (c,l)-diversity is measured for l = 2 .. this. */
#define KANON_RECURSIVE_MOST 5

/* A hierarchy above a column's codes: what t-closeness calls the tree of values. */
typedef struct KanonTaxonomy
{
	int height;                    /* levels above the codes; the highest has one node */
	const uint32_t *nodes;         /* [height] of each level, from below */
	const uint32_t *const *parent; /* [height]: level h's node of each node one level below */
} KanonTaxonomy;

/*
 * How a class, or the worst of several, fulfils the usual rules about a
 * sensitive column.  Distances are from the column's distribution in the table.
 */
typedef struct KanonDiversity
{
	uint32_t distinct; /* different values (distinct l) */
	double entropy;    /* largest l of entropy l-diversity */
	double recursive[KANON_RECURSIVE_MOST +
					 1]; /* [l]: (c,l)-diverse for every c above this; INFINITY: for none */
	double alpha;        /* share of the most frequent value */
	double t_equal;
	double t_ordered;      /* codes in the order of the values */
	double t_hierarchical; /* 0 without a taxonomy */
} KanonDiversity;

/* How far apart values are; diversity.c says how. */
typedef enum KanonDistance
{
	KANON_DISTANCE_EQUAL,
	KANON_DISTANCE_ORDERED,
	KANON_DISTANCE_HIERARCHICAL
} KanonDistance;

/* A sensitive column before its classes are looked at. */
typedef struct KanonDiversityMeter KanonDiversityMeter;

/*
 * count: [distinct] of each code in the table, all > 0.  taxonomy: NULL or one
 * that outlives the meter.
 */
extern KanonStatus kanon_diversity_open(KanonEnv *env, const int64_t *count, uint32_t distinct,
										const KanonTaxonomy *taxonomy, KanonDiversityMeter **meter);
extern void kanon_diversity_close(KanonDiversityMeter *meter);

/*
 * A class in which the codes (ascending, n > 0 of them) occur so many times.
 * size: what alpha is a share of: the sum of the counts, or, where a person may
 * have several values, the number of persons.
 */
extern void kanon_diversity_class(KanonDiversityMeter *meter, const uint32_t *code, const int64_t *count,
								  uint32_t n, int64_t size, KanonDiversity *diversity);

/* The distance alone (hierarchical: 0 without a taxonomy), and the entropy as an l. */
extern double kanon_diversity_distance(KanonDiversityMeter *meter, KanonDistance distance,
									   const uint32_t *code, const int64_t *count, uint32_t n);
extern double kanon_diversity_entropy(const int64_t *count, uint32_t n);

/* worst becomes the worse of both in each respect. */
extern void kanon_diversity_worse(KanonDiversity *worst, const KanonDiversity *other);

/*
 * ---- rules.c: rules about a class beyond its number of rows: how the values of
 * sensitive columns spread over it, and how many persons it holds.
 */

/* diversity.c's head has the definitions and their sources. */
typedef enum KanonPrivacyKind
{
	KANON_DISTINCT_L,   /* at least l distinct values */
	KANON_ENTROPY_L,    /* entropy at least log l */
	KANON_RECURSIVE_CL, /* r_1 < c (r_l + ... + r_m) */
	KANON_ALPHA,        /* no (listed) value has more than the share */
	KANON_T_CLOSENESS,  /* distance from the table's distribution at most the share */
	KANON_SUBJECT       /* k, and all counts of the other rules, in distinct persons */
} KanonPrivacyKind;

#define KANON_PRIVACY_KINDS (KANON_SUBJECT + 1)

typedef struct KanonPrivacyRule
{
	KanonPrivacyKind kind;
	int column; /* of problem->extra */
	double l;
	double c;
	double share; /* alpha or t */
	KanonDistance distance;
	const KanonTaxonomy *taxonomy; /* of the hierarchical distance */
	const bool *listed;            /* [distinct] values that alpha is about; NULL: all */
	const int64_t *table; /* [distinct] rows of the table with each value; NULL: as the problem says */
	uint64_t joined;      /* columns of problem->extra: each combination of their values in a class
								 * must fulfil the rule (l-diversity of several columns) */
} KanonPrivacyRule;

typedef struct KanonPrivacy KanonPrivacy;

/*
 * Makes rules ready for problem->privacy: of this problem and of copies that have
 * other ks, weights or patterns.  Reads env, ntypes, rows and extra, which must
 * stay; rules are copied, what they point to is not.
 */
extern KanonStatus kanon_privacy_open(const KanonProblem *problem, const KanonPrivacyRule *rules, int nrules,
									  KanonPrivacy **privacy);
extern void kanon_privacy_close(KanonPrivacy *privacy); /* NULL, too */

/*
 * The same rules for a problem that has some of the rows of another: what is
 * compared with the whole table still is compared with that of `whole`, which
 * must outlive the result.  Reads env, ntypes, rows and extra of part.
 */
extern KanonStatus kanon_privacy_part(const KanonPrivacy *whole, const KanonProblem *part,
									  KanonPrivacy **privacy);

/* Rules that are there, a bit each (1 << KanonPrivacyKind). */
extern unsigned kanon_privacy_kinds(const KanonPrivacy *privacy);

/* The rules themselves; how many. */
extern int kanon_privacy_rules(const KanonPrivacy *privacy, const KanonPrivacyRule **rules);

/* The column of problem->extra that says whose a row is, or -1. */
extern int kanon_privacy_person(const KanonPrivacy *privacy);

/* Do two classes that fulfil these rules always fulfil them as one, too? */
extern bool kanon_privacy_monotone(const KanonPrivacy *privacy);

/* Does a class that fulfils these rules always fulfil them with any rows more, too? */
extern bool kanon_privacy_grows(const KanonPrivacy *privacy);

/* Memory ran out while a class was looked at; nothing is allowed from then on. */
extern bool kanon_privacy_failed(const KanonPrivacy *privacy);

/*
 * Do these rows of these types (counts: NULL for all that each has) fulfil the rules
 * together? few: as the rows that are left for no class, of which there may be fewer
 * than k, in persons, too.  *broken (unless NULL): the first rule that they break.
 * Rows whose persons are not known (the code of their column is NULL) are asked for
 * distinct l only; the others cannot be told.
 */
extern bool kanon_privacy_allows(const KanonProblem *problem, const uint32_t *types, const int64_t *counts,
								 size_t ntypes, bool few, int *broken);

/* How the whole table stands with one rule: what no release can be better than. */
extern void kanon_privacy_table(KanonPrivacy *privacy, int rule, KanonDiversity *diversity);

/* Checks the classes of a release: *class_ is the first that breaks a rule, or nclasses. */
extern KanonStatus kanon_privacy_check(const KanonProblem *problem, const KanonRelease *release,
									   uint32_t *class_, int *broken);

/* ---- allowed: may these rows be a class?  Asked by every method, and by the check of its release ---- */

/* Rows that every class has. */
static inline int64_t
kanon_least_rows(const KanonProblem *problem)
{
	return problem->k_map || problem->known != NULL ? 1 : problem->k;
}

/* Are the fully suppressed rows a class like any other, or none? */
static inline bool
kanon_rest_strict(const KanonProblem *problem)
{
	return problem->residual == KANON_RESIDUAL_ERROR || problem->residual == KANON_RESIDUAL_FILL;
}

/* Are there rules that need to know which row types a class has? */
static inline bool
kanon_by_types(const KanonProblem *problem)
{
	return problem->privacy != NULL || problem->npopulations > 0;
}

/*
 * May these rows form a class?  The one place that knows the rules: rows is their
 * number together; types[ntypes] are what they are, with counts[ntypes] rows of
 * each (NULL: all that it has).  (But for rules about populations: population.c.)
 * Methods may count on it that a set with fewer
 * than k rows never may, and, without problem->privacy, that any other may (then
 * types need not be at hand: NULL).
 */
static inline bool
kanon_class_allowed(const KanonProblem *problem, const uint32_t *types, const int64_t *counts, size_t ntypes,
					int64_t rows)
{
	return rows >= kanon_least_rows(problem) - FAULT(class_short) &&
		   (problem->viable == NULL || problem->viable(problem, types, ntypes)) &&
		   (problem->privacy == NULL || FAULT(rule_forgotten) ||
			kanon_privacy_allows(problem, types, counts, ntypes, false, NULL));
}

/*
 * May these rows, which are left for no class, be published fully suppressed?
 * There may be fewer than k of them, but what they say must keep the other rules.
 */
static inline bool
kanon_rest_allowed(const KanonProblem *problem, const uint32_t *types, const int64_t *counts, size_t ntypes)
{
	return problem->privacy == NULL || kanon_privacy_allows(problem, types, counts, ntypes, true, NULL);
}

/* ---- uniques.c: the chance to be found in a population that survey weights tell of ---- */

/* The risk of a row in a class of so many rows (> 0) whose weights sum up to `population`. */
extern double kanon_individual_risk(double rows, double population);

/* ---- subsets.c: which columns tell a table's rows apart ---- */

/* Columns of a subset, at most. */
#define KANON_SUBSET_MOST 3

/* How well some columns tell rows apart. */
typedef struct KanonSubset
{
	int ncolumns;
	int column[KANON_SUBSET_MOST]; /* ascending */
	int64_t classes;               /* different combinations of values */
	int64_t unique;                /* rows that are the only one with theirs */
	double distinction;            /* classes / rows */
	double separation;             /* share of the pairs of rows that differ; 0 for a single row */
	bool minimal;                  /* no part of it has as many classes, or identifies already */
} KanonSubset;

/* Some columns identify when this share of the rows, or more, has a combination of its own. */
#define KANON_IDENTIFYING 0.9

/*
 * Every subset of up to KANON_SUBSET_MOST columns, most identifying first: by
 * distinction, then separation, then fewer columns, then columns as listed.
 * Reads env, ncolumns, columns (code, distinct), ntypes and rows of the problem.
 * *subsets is env memory.
 */
extern KanonStatus kanon_rank_subsets(const KanonProblem *problem, KanonSubset **subsets, size_t *n);

/* ---- uniques.c: how many of a population are alone in their class, from a sample of it ---- */

/* Classes of a size, in the sample; each size once, all > 0. */
typedef struct KanonSizeCount
{
	int64_t size;
	int64_t classes;
} KanonSizeCount;

/* Pitman's sampling formula, fitted to a sample. */
typedef struct KanonPitman
{
	double alpha; /* 0 < alpha < 1 */
	double theta; /* > -alpha */
	bool fits;    /* false: every row is alone, which any alpha near 1 explains */
} KanonPitman;

extern KanonPitman kanon_pitman_fit(const KanonSizeCount *sizes, size_t n);

/* The logarithm of the likelihood, up to a term without alpha and theta. */
extern double kanon_pitman_likelihood(const KanonSizeCount *sizes, size_t n, double alpha, double theta);

/* Classes of one, expected in a population of so many. */
extern double kanon_pitman_uniques(const KanonPitman *pitman, double population);

/* The same by Zayatz; fraction: that of the population which is in the sample, 0 < fraction <= 1. */
extern double kanon_zayatz_uniques(const KanonSizeCount *sizes, size_t n, double fraction);

#endif
