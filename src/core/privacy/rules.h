/*
 * rules.h: rules about a class beyond its number of rows: how the values of
 * sensitive columns spread over it, and how many persons it holds.
 */
#ifndef KANON_RULES_H
#define KANON_RULES_H

#include "privacy/diversity.h"

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
 * Do these rows of these types (counts: NULL for all that each has) fulfil the
 * rules together?  few: as the rows that are left for no class, of which
 * there may be fewer than k, in persons, too.  *broken (unless NULL): the first
 * rule that they break.  Of rows whose persons are not known (the code of their
 * column is NULL) only distinct l is asked, the others cannot be told.
 */
extern bool kanon_privacy_allows(const KanonProblem *problem, const uint32_t *types, const int64_t *counts,
								 size_t ntypes, bool few, int *broken);

/* How the whole table stands with one rule: what no release can be better than. */
extern void kanon_privacy_table(KanonPrivacy *privacy, int rule, KanonDiversity *diversity);

/* Checks the classes of a release: *class_ is the first that breaks a rule, or nclasses. */
extern KanonStatus kanon_privacy_check(const KanonProblem *problem, const KanonRelease *release,
									   uint32_t *class_, int *broken);

#endif
