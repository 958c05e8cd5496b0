/*
 * rules.c: may these rows be a class, by rules beyond k?
 *
 * A row type has one value in each sensitive column (and, with a rule about
 * persons, is of one person): types that are equal in the quasi-identifiers may
 * differ there.  So a class is a list of types, and the distribution of a
 * sensitive value in it follows from their numbers of rows.
 *
 * With persons, a row counts as its person: a value counts as often as there are
 * persons with it, a person with two values counts for both, and the class is as
 * large as it has persons (as in kanon_risk).
 *
 * If two classes fulfil one of these rules, so does their union (monotonicity:
 * Machanavajjhala et al., TKDD 2007; Li et al., ICDE 2007; Wong et al., KDD 2006),
 * joined columns included.  Where persons are counted, that is true of distinct l and
 * of their number only: of the persons {1, 2} and {1, 3}, where 2 and 3 have the
 * value, one half each has it, but two thirds of {1, 2, 3}.
 */
#include <math.h>
#include <string.h>

#include "privacy/rules.h"
#include "util/pace.h"
#include "util/sort.h"
#include "util/scratch.h"
#include "model/model.h"

/* Rows of a class that are alike for a rule. */
typedef struct Member
{
	uint64_t group; /* a number for each combination of joined values */
	uint32_t value;
	uint32_t person;
	int64_t rows;
} Member;

struct KanonPrivacy
{
	KanonScratch memory;
	const KanonProblem *problem;
	int nrules;
	KanonPrivacyRule *rules;
	KanonDiversityMeter **meters; /* [nrules]; NULL for persons */
	unsigned kinds;
	int person;  /* column of problem->extra, or -1 */
	bool failed; /* memory ran out: nothing is allowed any more */
	bool part;   /* rules and meters are another's */

	/* the class at hand */
	Member *members;
	Member *scratch;
	uint32_t *persons;
	uint32_t *persons_scratch;
	size_t room;    /* of these four */
	uint32_t *code; /* [most distinct] a distribution */
	int64_t *count;
	int64_t *tally; /* [most distinct] zero between calls */
	uint32_t *code_scratch;
};

/* A distribution of a rule's column. */
typedef struct Spread
{
	uint32_t n;   /* values, in privacy->code and count */
	int64_t size; /* rows or persons: what shares are of */
} Spread;

static int
compare_members(const void *a, const void *b, void *arg)
{
	const Member *left = a;
	const Member *right = b;

	(void) arg;
	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	if (left->value != right->value)
		return left->value < right->value ? -1 : 1;
	return left->person < right->person ? -1 : left->person > right->person;
}

static bool
make_room(KanonPrivacy *privacy, size_t n)
{
	if (!privacy->failed && !KANON_GROW(&privacy->memory, &privacy->room, n, KANON_ARRAY(privacy->members),
										KANON_ARRAY(privacy->scratch), KANON_ARRAY(privacy->persons),
										KANON_ARRAY(privacy->persons_scratch)))
		privacy->failed = true;
	return !privacy->failed;
}

static inline int64_t
rows_of(const KanonProblem *problem, const uint32_t *types, const int64_t *counts, size_t i)
{
	return counts != NULL ? counts[i] : problem->rows[types[i]];
}

/* ---- distributions ---- */

/* The codes that are tallied: when most are, going through all is faster than sorting. */
static void
put_in_order(KanonPrivacy *privacy, const KanonColumn *column, uint32_t n)
{
	uint32_t found = 0;

	if (n < column->distinct / 8)
	{
		kanon_sort(privacy->code, privacy->code_scratch, n, sizeof(uint32_t), kanon_compare_numbers, NULL);
		return;
	}
	for (uint32_t code = 0; found < n; code++)
		if (privacy->tally[code] > 0)
			privacy->code[found++] = code;
}

/* The usual case: rows count, and nothing is joined. */
static Spread
spread_of_rows(KanonPrivacy *privacy, const KanonProblem *problem, const KanonPrivacyRule *rule,
			   const uint32_t *types, const int64_t *counts, size_t ntypes)
{
	const KanonColumn *column = &problem->extra[rule->column];
	Spread spread = {0, 0};

	for (size_t i = 0; i < ntypes; i++)
	{
		uint32_t code = column->code[types[i]];
		int64_t rows = rows_of(problem, types, counts, i);

		if (rows == 0)
			continue;
		if (privacy->tally[code] == 0)
			privacy->code[spread.n++] = code;
		privacy->tally[code] += rows;
		spread.size += rows;
	}
	put_in_order(privacy, column, spread.n);
	for (uint32_t v = 0; v < spread.n; v++)
	{
		privacy->count[v] = privacy->tally[privacy->code[v]];
		privacy->tally[privacy->code[v]] = 0;
	}
	return spread;
}

/* Are there few enough combinations to number them? */
static bool
joined_fits(const KanonProblem *problem, uint64_t joined)
{
	uint64_t combinations = 1;

	for (; joined != 0; joined &= joined - 1)
		if (__builtin_mul_overflow(combinations, problem->extra[__builtin_ctzll(joined)].distinct,
								   &combinations))
			return false;
	return true;
}

/* The values of the joined columns as one number. */
static uint64_t
joined_group(const KanonProblem *problem, uint64_t joined, uint32_t type)
{
	uint64_t group = 0;

	for (; joined != 0; joined &= joined - 1)
	{
		const KanonColumn *column = &problem->extra[__builtin_ctzll(joined)];

		group = group * column->distinct + column->code[type];
	}
	return group;
}

/* The members of a class for a rule, in order, equal ones added up. */
static size_t
list_members(KanonPrivacy *privacy, const KanonProblem *problem, const KanonPrivacyRule *rule,
			 const uint32_t *types, const int64_t *counts, size_t ntypes)
{
	const uint32_t *value = problem->extra[rule->column].code;
	const uint32_t *person = privacy->person >= 0 ? problem->extra[privacy->person].code : NULL;
	Member *members = privacy->members;
	size_t n = 0;
	size_t kept = 0;

	for (size_t i = 0; i < ntypes; i++)
	{
		int64_t rows = rows_of(problem, types, counts, i);

		if (rows > 0)
			members[n++] = (Member){joined_group(problem, rule->joined, types[i]), value[types[i]],
									person != NULL ? person[types[i]] : 0, rows};
	}
	kanon_sort(members, privacy->scratch, n, sizeof(Member), compare_members, NULL);
	for (size_t i = 0; i < n; i++)
	{
		if (kept > 0 && compare_members(&members[kept - 1], &members[i], NULL) == 0)
			members[kept - 1].rows += members[i].rows;
		else
			members[kept++] = members[i];
	}
	return kept;
}

/* How many different persons are in a list of n. */
static int64_t
count_persons(KanonPrivacy *privacy, size_t n)
{
	int64_t persons = 0;

	kanon_sort(privacy->persons, privacy->persons_scratch, n, sizeof(uint32_t), kanon_compare_numbers, NULL);
	for (size_t i = 0; i < n; i++)
		persons += i == 0 || privacy->persons[i] != privacy->persons[i - 1];
	return persons;
}

/* The spread of members[from .. to), which are one group. */
static Spread
spread_of_members(KanonPrivacy *privacy, size_t from, size_t to)
{
	bool persons = privacy->person >= 0;
	Spread spread = {0, 0};

	for (size_t i = from; i < to; i++)
	{
		const Member *member = &privacy->members[i];

		if (spread.n == 0 || privacy->code[spread.n - 1] != member->value)
		{
			privacy->code[spread.n] = member->value;
			privacy->count[spread.n++] = 0;
		}
		privacy->count[spread.n - 1] += persons ? 1 : member->rows;
		spread.size += member->rows;
		privacy->persons[i - from] = member->person;
	}
	if (persons)
		spread.size = count_persons(privacy, to - from);
	return spread;
}

/* ---- rules ---- */

static bool
fulfils_alpha(const KanonPrivacy *privacy, const KanonPrivacyRule *rule, Spread spread)
{
	for (uint32_t v = 0; v < spread.n; v++)
		if ((rule->listed == NULL || rule->listed[privacy->code[v]]) &&
			(double) privacy->count[v] > rule->share * (double) spread.size * (1 + 1e-12))
			return false;
	return true;
}

/* r_1 < c (r_l + r_{l+1} + ...), the counts in descending order. */
static bool
fulfils_recursive(const KanonPrivacy *privacy, const KanonPrivacyRule *rule, Spread spread)
{
	int64_t most = 0;
	int64_t tail = 0;
	int64_t bound = INT64_MAX;
	double left = rule->l - 1;

	for (uint32_t v = 0; v < spread.n; v++)
	{
		tail += privacy->count[v];
		if (privacy->count[v] > most)
			most = privacy->count[v];
	}
	/* takes away the l - 1 largest, those of equal size together */
	while (left > 0 && tail > 0)
	{
		int64_t next = 0;
		double equal = 0;

		for (uint32_t v = 0; v < spread.n; v++)
			if (privacy->count[v] < bound && privacy->count[v] > next)
				next = privacy->count[v];
		for (uint32_t v = 0; v < spread.n; v++)
			equal += privacy->count[v] == next;
		tail -= next * (int64_t) fmin(equal, left);
		left -= equal;
		bound = next;
	}
	return (double) most < rule->c * (double) tail;
}

static bool
fulfils(KanonPrivacy *privacy, int r, Spread spread)
{
	const KanonPrivacyRule *rule = &privacy->rules[r];

	switch (rule->kind)
	{
		case KANON_SUBJECT:
			return true;
		case KANON_DISTINCT_L:
			return spread.n >= rule->l;
		case KANON_ALPHA:
			return fulfils_alpha(privacy, rule, spread);
		case KANON_RECURSIVE_CL:
			return fulfils_recursive(privacy, rule, spread);
		case KANON_ENTROPY_L:
			return kanon_diversity_entropy(privacy->count, spread.n) >= rule->l * (1 - 1e-12);
		case KANON_T_CLOSENESS:
			break;
	}
	return kanon_diversity_distance(privacy->meters[r], rule->distance, privacy->code, privacy->count,
									spread.n) <= rule->share * (1 + 1e-12);
}

/* How many different values of a column rows have.  No more are looked for than `most`. */
static double
count_different(KanonPrivacy *privacy, const KanonProblem *problem, int column, double most,
				const uint32_t *types, const int64_t *counts, size_t ntypes)
{
	const uint32_t *code = problem->extra[column].code;
	uint32_t n = 0;

	for (size_t i = 0; i < ntypes && (double) n < most; i++)
		if (privacy->tally[code[types[i]]] == 0 && rows_of(problem, types, counts, i) > 0)
		{
			privacy->code[n++] = code[types[i]];
			privacy->tally[code[types[i]]] = 1;
		}
	for (uint32_t v = 0; v < n; v++)
		privacy->tally[privacy->code[v]] = 0;
	return (double) n;
}

static bool
fulfils_rule(const KanonProblem *problem, int r, const uint32_t *types, const int64_t *counts, size_t ntypes,
			 bool few)
{
	KanonPrivacy *privacy = problem->privacy;
	const KanonPrivacyRule *rule = &privacy->rules[r];
	size_t n;

	/* (k is asked of a population, or of combinations: not of the persons who are in the class) */
	if (rule->kind == KANON_SUBJECT)
		return few || problem->k_map || problem->known != NULL ||
			   count_different(privacy, problem, rule->column, (double) problem->k, types, counts, ntypes) >=
				   (double) problem->k;
	if (rule->kind == KANON_DISTINCT_L && rule->joined == 0)
	{
		double found = count_different(privacy, problem, rule->column, rule->l, types, counts, ntypes);

		/* (persons of no row break no rule) */
		return found >= rule->l || (found == 0 && privacy->person >= 0);
	}
	if (privacy->person < 0 && rule->joined == 0)
		return fulfils(privacy, r, spread_of_rows(privacy, problem, rule, types, counts, ntypes));
	if (!make_room(privacy, ntypes))
		return false;
	n = list_members(privacy, problem, rule, types, counts, ntypes);
	for (size_t from = 0; from < n;)
	{
		size_t to = from;

		while (to < n && privacy->members[to].group == privacy->members[from].group)
			to++;
		if (!fulfils(privacy, r, spread_of_members(privacy, from, to)))
			return false;
		from = to;
	}
	return true;
}

bool
kanon_privacy_allows(const KanonProblem *problem, const uint32_t *types, const int64_t *counts, size_t ntypes,
					 bool few, int *broken)
{
	KanonPrivacy *privacy = problem->privacy;
	bool nobody = privacy->person >= 0 && problem->extra[privacy->person].code == NULL;

	for (int r = 0; r < privacy->nrules; r++)
	{
		if (nobody && privacy->rules[r].kind != KANON_DISTINCT_L)
			continue;
		if (!privacy->failed && fulfils_rule(problem, r, types, counts, ntypes, few))
			continue;
		if (broken != NULL)
			*broken = r;
		return false;
	}
	return true;
}

unsigned
kanon_privacy_kinds(const KanonPrivacy *privacy)
{
	return privacy->kinds;
}

int
kanon_privacy_rules(const KanonPrivacy *privacy, const KanonPrivacyRule **rules)
{
	*rules = privacy->rules;
	return privacy->nrules;
}

int
kanon_privacy_person(const KanonPrivacy *privacy)
{
	return privacy->person;
}

/* Do two classes that keep a rule keep it as one?  A person in both has the values of both. */
bool
kanon_privacy_monotone(const KanonPrivacy *privacy)
{
	for (int r = 0; r < privacy->nrules; r++)
		switch (privacy->rules[r].kind)
		{
			case KANON_DISTINCT_L:
			case KANON_SUBJECT:
				break;
			case KANON_ENTROPY_L:
			case KANON_RECURSIVE_CL:
			case KANON_ALPHA:
			case KANON_T_CLOSENESS:
				if (privacy->person >= 0)
					return false;
		}
	return true;
}

bool
kanon_privacy_grows(const KanonPrivacy *privacy)
{
	for (int r = 0; r < privacy->nrules; r++)
		if (privacy->rules[r].kind != KANON_SUBJECT &&
			(privacy->rules[r].kind != KANON_DISTINCT_L || privacy->rules[r].joined != 0))
			return false;
	return true;
}

bool
kanon_privacy_failed(const KanonPrivacy *privacy)
{
	return privacy->failed;
}

/* ---- opening ---- */

/* The values of the whole table in a rule's column, where its rows were counted before. */
static Spread
counted_spread(KanonPrivacy *privacy, const KanonPrivacyRule *rule)
{
	const KanonColumn *extra = privacy->problem->extra;
	Spread spread = {extra[rule->column].distinct, 0};

	for (uint32_t code = 0; code < spread.n; code++)
	{
		privacy->code[code] = code;
		privacy->count[code] = rule->table[code];
		spread.size += rule->table[code];
	}
	return spread;
}

/* The same, persons being counted: rows go to `order` [ntypes] value by value. */
static Spread
persons_spread(KanonPrivacy *privacy, const KanonColumn *column, uint32_t *order)
{
	const KanonProblem *problem = privacy->problem;
	const uint32_t *person = problem->extra[privacy->person].code; /* NULL: all are of one */
	int64_t *count = privacy->count;
	int64_t *seen = privacy->tally; /* of a person: the last value there, and 1 */
	Spread spread = {0, 0};
	int64_t from = 0;

	memset(count, 0, column->distinct * sizeof(int64_t));
	for (uint32_t i = 0; i < problem->ntypes; i++)
		count[column->code[i]]++;
	for (uint32_t v = 0; v < column->distinct; v++)
	{
		from += count[v];
		count[v] = from - count[v];
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		order[count[column->code[i]]++] = i;
	from = 0;
	for (uint32_t v = 0; v < column->distinct; v++)
	{
		int64_t to = count[v];
		int64_t persons = 0;

		for (; from < to; from++)
		{
			int64_t *last = &seen[person != NULL ? person[order[from]] : 0];

			spread.size += *last == 0;
			persons += *last != (int64_t) v + 1;
			*last = (int64_t) v + 1;
		}
		privacy->code[spread.n] = v;
		count[spread.n] = persons;
		spread.n += persons > 0;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		seen[person != NULL ? person[i] : 0] = 0;
	return spread;
}

/* The same. */
static Spread
table_spread(KanonPrivacy *privacy, const KanonPrivacyRule *rule)
{
	const KanonProblem *problem = privacy->problem;
	uint32_t *all;
	Spread spread = {0, 0};

	if (rule->table != NULL)
		return counted_spread(privacy, rule);
	all = kanon_alloc(problem->env, problem->ntypes, sizeof(uint32_t));
	if (all == NULL)
	{
		privacy->failed = true;
		return spread;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		all[i] = i;
	spread = privacy->person >= 0 ? persons_spread(privacy, &problem->extra[rule->column], all)
								  : spread_of_rows(privacy, problem, rule, all, NULL, problem->ntypes);
	kanon_free(problem->env, all);
	return spread;
}

static KanonStatus
open_meter(KanonPrivacy *privacy, int r)
{
	const KanonPrivacyRule *rule = &privacy->rules[r];
	Spread spread;

	if (rule->kind == KANON_SUBJECT)
		return KANON_OK;
	spread = table_spread(privacy, rule);
	if (privacy->failed)
		return KANON_NO_MEMORY;
	/* every value of the dictionary occurs, so the spread is over all codes */
	if (spread.n != privacy->problem->extra[rule->column].distinct)
		return KANON_BROKEN;
	return kanon_diversity_open(privacy->problem->env, privacy->count, spread.n, rule->taxonomy,
								&privacy->meters[r]);
}

/* Room for a distribution of any column. */
static bool
make_distribution(KanonPrivacy *privacy)
{
	const KanonProblem *problem = privacy->problem;
	uint32_t distinct = 1;

	for (int c = 0; c < problem->nextra; c++)
		if (problem->extra[c].distinct > distinct)
			distinct = problem->extra[c].distinct;
	privacy->code = kanon_take(&privacy->memory, distinct, sizeof(uint32_t));
	privacy->code_scratch = kanon_take(&privacy->memory, distinct, sizeof(uint32_t));
	privacy->count = kanon_take(&privacy->memory, distinct, sizeof(int64_t));
	privacy->tally = kanon_take0(&privacy->memory, distinct, sizeof(int64_t));
	return !privacy->memory.failed;
}

KanonStatus
kanon_privacy_open(const KanonProblem *problem, const KanonPrivacyRule *rules, int nrules,
				   KanonPrivacy **result)
{
	KanonEnv *env = problem->env;
	KanonPrivacy *privacy = kanon_alloc0(env, 1, sizeof(KanonPrivacy));
	KanonStatus status = KANON_OK;

	*result = NULL;
	if (privacy == NULL)
		return KANON_NO_MEMORY;
	privacy->problem = problem;
	privacy->memory.env = env;
	privacy->nrules = nrules;
	privacy->person = -1;
	privacy->rules = kanon_take(&privacy->memory, (size_t) nrules, sizeof(KanonPrivacyRule));
	privacy->meters = kanon_take0(&privacy->memory, (size_t) nrules, sizeof(KanonDiversityMeter *));
	if (!make_distribution(privacy))
		status = KANON_NO_MEMORY;
	for (int r = 0; r < nrules && status == KANON_OK; r++)
	{
		if (!joined_fits(problem, rules[r].joined))
			status = KANON_TOO_LARGE;
		privacy->rules[r] = rules[r];
		privacy->kinds |= 1u << rules[r].kind;
		if (rules[r].kind == KANON_SUBJECT)
			privacy->person = rules[r].column;
	}
	for (int r = 0; r < nrules && status == KANON_OK; r++)
		status = open_meter(privacy, r);
	if (status == KANON_OK)
		*result = privacy;
	else
		kanon_privacy_close(privacy);
	return status;
}

KanonStatus
kanon_privacy_part(const KanonPrivacy *whole, const KanonProblem *part, KanonPrivacy **result)
{
	KanonPrivacy *privacy = kanon_alloc0(part->env, 1, sizeof(KanonPrivacy));

	*result = NULL;
	if (privacy == NULL)
		return KANON_NO_MEMORY;
	privacy->problem = part;
	privacy->memory.env = part->env;
	privacy->part = true;
	privacy->nrules = whole->nrules;
	privacy->rules = whole->rules;
	privacy->meters = whole->meters;
	privacy->kinds = whole->kinds;
	privacy->person = whole->person;
	if (!make_distribution(privacy))
	{
		kanon_privacy_close(privacy);
		return KANON_NO_MEMORY;
	}
	*result = privacy;
	return KANON_OK;
}

void
kanon_privacy_close(KanonPrivacy *privacy)
{
	KanonEnv *env;

	if (privacy == NULL)
		return;
	env = privacy->problem->env;
	for (int r = 0; r < privacy->nrules && privacy->meters != NULL && !privacy->part; r++)
		kanon_diversity_close(privacy->meters[r]);
	kanon_scratch_free(&privacy->memory);
	kanon_free(env, privacy);
}

void
kanon_privacy_table(KanonPrivacy *privacy, int r, KanonDiversity *diversity)
{
	Spread spread = table_spread(privacy, &privacy->rules[r]);

	memset(diversity, 0, sizeof(*diversity));
	if (spread.n > 0)
		kanon_diversity_class(privacy->meters[r], privacy->code, privacy->count, spread.n, spread.size,
							  diversity);
}
