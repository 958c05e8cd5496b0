/*
 * diverse.c: random rules beyond k, and the rules by their definitions.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diverse.h"
#include "privacy/population.h"

KanonPrivacyRule diverse_rules[4];
int diverse_nrules;

static KanonTaxonomy taxonomies[4];
static uint32_t taxonomy_nodes[4][3];
static uint32_t *taxonomy_parents[4][3];
static bool *listed[4];

/* ---- chance ---- */

void
diverse_dense(KanonColumn *column, uint32_t ntypes)
{
	uint32_t *code = (uint32_t *) column->code;
	uint32_t *rank = calloc((size_t) column->distinct + 1, sizeof(uint32_t));
	uint32_t n = 0;

	for (uint32_t i = 0; i < ntypes; i++)
		rank[code[i]] = 1;
	for (uint32_t v = 0; v < column->distinct; v++)
		if (rank[v] == 1)
			rank[v] = n++;
	for (uint32_t i = 0; i < ntypes; i++)
		code[i] = rank[code[i]];
	column->distinct = n;
	column->level = 0;
	column->weight = 0;
	free(rank);
}

/* A tree above a column's values: pairs or triples of neighbours, then one root. */
static const KanonTaxonomy *
make_taxonomy(int r, uint32_t distinct, uint64_t *random)
{
	uint32_t below = distinct;
	int height = 1 + (int) random_below(random, 3);

	for (int h = 0; h < height; h++)
	{
		uint32_t width = 2 + random_below(random, 2);

		taxonomy_parents[r][h] = malloc((below + 1) * sizeof(uint32_t));
		for (uint32_t i = 0; i < below; i++)
			taxonomy_parents[r][h][i] = h == height - 1 ? 0 : i / width;
		below = h == height - 1 ? 1 : (below + width - 1) / width;
		taxonomy_nodes[r][h] = below;
	}
	taxonomies[r] = (KanonTaxonomy){height, taxonomy_nodes[r], (const uint32_t *const *) taxonomy_parents[r]};
	return &taxonomies[r];
}

static void
random_rule(const KanonProblem *problem, int r, uint64_t *random, unsigned kinds)
{
	KanonPrivacyRule *rule = &diverse_rules[r];
	uint32_t distinct;

	memset(rule, 0, sizeof(*rule));
	do
		rule->kind = (KanonPrivacyKind) random_below(random, KANON_PRIVACY_KINDS);
	while ((kinds >> rule->kind & 1) == 0);
	rule->column = (int) random_below(random, (uint32_t) problem->nextra);
	distinct = problem->extra[rule->column].distinct;
	rule->l = 2 + random_below(random, 2);
	rule->c = (1 + random_below(random, 6)) / 2.0;
	rule->share = (1 + random_below(random, 12)) / 12.0;
	rule->distance = (KanonDistance) random_below(random, 3);
	if (rule->kind == KANON_T_CLOSENESS && rule->distance == KANON_DISTANCE_HIERARCHICAL)
		rule->taxonomy = make_taxonomy(r, distinct, random);
	if (rule->kind == KANON_ALPHA && random_below(random, 3) == 0)
	{
		listed[r] = malloc((size_t) distinct + 1);
		for (uint32_t v = 0; v < distinct; v++)
			listed[r][v] = random_below(random, 2);
		rule->listed = listed[r];
	}
	if (rule->kind <= KANON_RECURSIVE_CL && random_below(random, 3) == 0)
		rule->joined =
			random_next(random) & ((UINT64_C(1) << problem->nextra) - 1) & ~(UINT64_C(1) << rule->column);
	/* one rule about persons, which no other is about */
	for (int other = 0; other < r; other++)
		if (rule->kind == KANON_SUBJECT && diverse_rules[other].kind == KANON_SUBJECT)
			rule->column = diverse_rules[other].column;
}

void
diverse_make(KanonProblem *problem, uint64_t *random, unsigned kinds)
{
	int nextra = 1 + (int) random_below(random, problem->ncolumns < 4 ? (uint32_t) problem->ncolumns - 1 : 3);
	KanonPattern all;
	KanonColumn *columns = (KanonColumn *) problem->columns;

	problem->ncolumns -= nextra;
	problem->nextra = nextra;
	problem->extra = columns + problem->ncolumns;
	all = kanon_pattern_all(problem->ncolumns);
	for (int c = 0; c < nextra; c++)
		diverse_dense(&columns[problem->ncolumns + c], problem->ntypes);
	for (size_t i = 0; i < problem->mask.nlist; i++)
		((KanonPattern *) problem->mask.list)[i] = kanon_both(problem->mask.list[i], all);
	for (int r = 0; r < problem->mask.nrules; r++)
		if (!kanon_within(kanon_union(problem->mask.rules[r].columns, problem->mask.rules[r].implied), all))
			problem->mask.nrules = 0;
	problem->mask.never = kanon_both(problem->mask.never, all);
	problem->mask.always = kanon_both(problem->mask.always, all);
	diverse_nrules = 1 + (int) random_below(random, 3);
	for (int r = 0; r < diverse_nrules; r++)
		random_rule(problem, r, random, kinds);
	diverse_reopen(problem);
}

void
diverse_ask(KanonProblem *problem, double l)
{
	problem->ncolumns--;
	problem->nextra = 1;
	problem->extra = problem->columns + problem->ncolumns;
	diverse_dense((KanonColumn *) problem->extra, problem->ntypes);
	diverse_rules[0] = (KanonPrivacyRule){.kind = KANON_DISTINCT_L, .l = l};
	diverse_nrules = 1;
	diverse_reopen(problem);
}

void
diverse_reopen(KanonProblem *problem)
{
	kanon_privacy_close(problem->privacy);
	assert_int_equal(kanon_privacy_open(problem, diverse_rules, diverse_nrules, &problem->privacy), KANON_OK);
}

/* The problem as it was made, to be freed as such. */
void
diverse_free(KanonProblem *problem)
{
	kanon_privacy_close(problem->privacy);
	problem->privacy = NULL;
	problem->ncolumns += problem->nextra;
	problem->nextra = 0;
	for (int r = 0; r < 4; r++)
	{
		for (int h = 0; h < taxonomies[r].height; h++)
			free(taxonomy_parents[r][h]);
		taxonomies[r].height = 0;
		free(listed[r]);
		listed[r] = NULL;
	}
}

/* ---- populations ---- */

/* Rows of one person are anywhere in the population, and in several of its tuples. */
static void
count_persons(KanonPopulation *population)
{
	uint32_t n = population->ntypes;
	uint32_t *person = malloc(n * sizeof(uint32_t));
	uint32_t *seen = calloc(n + 1, sizeof(uint32_t)); /* its number, from 1 on; 0: none yet */

	population->total = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t *number = &seen[(i * 5 + i / 3) % (n * 2 / 3 + 1)];

		if (*number == 0)
			*number = (uint32_t) ++population->total;
		person[i] = *number - 1;
	}
	population->person = person;
	free(seen);
}

int64_t
diverse_found(const KanonPopulation *population, const bool *matches)
{
	bool *seen = calloc(population->ntypes + 1, sizeof(bool));
	int64_t found = 0;

	for (uint32_t tuple = 0; tuple < population->ntypes; tuple++)
		if (matches[tuple] && population->person == NULL)
			found += population->rows[tuple];
		else if (matches[tuple])
		{
			found += !seen[population->person[tuple]];
			seen[population->person[tuple]] = true;
		}
	free(seen);
	return found;
}

/* The table's rows and some more, with values that the table does not have; then rules about it. */
void
diverse_populations(KanonProblem *problem, uint64_t *random)
{
	int n = 1 + (int) random_below(random, 2);
	KanonPopulation *populations = calloc((size_t) n, sizeof(KanonPopulation));

	for (int p = 0; p < n; p++)
	{
		KanonPopulation *population = &populations[p];
		uint32_t more = random_below(random, 2) * random_below(random, 2 * problem->ntypes);
		int64_t *rows = malloc((problem->ntypes + (size_t) more) * sizeof(int64_t));

		population->ntypes = problem->ntypes + more;
		population->rows = rows;
		for (uint32_t i = 0; i < population->ntypes; i++)
		{
			rows[i] = i < problem->ntypes ? problem->rows[i] + random_below(random, 3)
										  : 1 + random_below(random, 3);
			population->total += rows[i];
		}
		for (int c = 0; c < problem->ncolumns; c++)
		{
			const KanonColumn *column = &problem->columns[c];
			uint32_t *code = malloc(population->ntypes * sizeof(uint32_t));

			for (uint32_t i = 0; i < population->ntypes; i++)
			{
				/* a value generalizes as it does in the table; one that is not there to some node of the next level */
				uint32_t type = random_below(random, problem->ntypes);
				uint32_t below = column->level > 0 ? population->code[c - 1][i] : KANON_FOREIGN;

				for (uint32_t t = 0; below != KANON_FOREIGN && t < problem->ntypes; t++)
					if (problem->columns[c - 1].code[t] == below)
						type = t;
				code[i] = i < problem->ntypes                                      ? column->code[i]
						  : below == KANON_FOREIGN && random_below(random, 4) == 0 ? KANON_FOREIGN
																				   : column->code[type];
			}
			population->code[c] = code;
		}
		population->map = p == 0 && random_below(random, 2) == 0;
		if (population->map && rows[0] % 2 == 0)
			count_persons(population);
		population->least = random_below(random, 2) * 0.1 * random_below(random, 6);
		population->most = 1 - random_below(random, 2) * 0.1 * random_below(random, 4);
		problem->k_map = problem->k_map || population->map;
	}
	problem->populations = populations;
	problem->npopulations = n;
}

void
diverse_shares(KanonProblem *problem, uint64_t *random)
{
	KanonPopulation *population = calloc(1, sizeof(KanonPopulation));
	int nqis = kanon_count_qis(problem);
	uint32_t *nvalues = calloc((size_t) nqis, sizeof(uint32_t));
	double **shares = calloc((size_t) nqis, sizeof(double *));

	for (int q = 0; q < nqis; q++)
	{
		int first = kanon_first_column(problem, q);
		uint32_t known = problem->columns[first].distinct;
		uint32_t n = nvalues[q] = known + random_below(random, 3);
		double sum = 0;

		shares[q] = calloc(n, sizeof(double));
		for (uint32_t v = 0; v < n; v++)
			sum += shares[q][v] = 1 + random_below(random, 9);
		/* at times not all of the population is accounted for */
		for (uint32_t v = 0; v < n; v++)
			shares[q][v] /= sum * (1 + 0.2 * (double) (random[0] % 2));
		for (int c = first; c < kanon_first_column(problem, q + 1); c++)
		{
			uint32_t *code = calloc(n, sizeof(uint32_t));

			for (uint32_t v = 0; v < n; v++)
			{
				uint32_t type = random_below(random, problem->ntypes);
				uint32_t below = c > first ? population->code[c - 1][v] : KANON_FOREIGN;

				for (uint32_t t = 0; t < problem->ntypes; t++)
					if (v < known ? problem->columns[first].code[t] == v
								  : below != KANON_FOREIGN && problem->columns[c - 1].code[t] == below)
						type = t;
				code[v] = v >= known && below == KANON_FOREIGN && (c == first || random_below(random, 2) == 0)
							  ? KANON_FOREIGN
							  : problem->columns[c].code[type];
			}
			population->code[c] = code;
		}
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
		population->total += problem->rows[i];
	population->total *= 1 + random_below(random, 5);
	population->total += random_below(random, 10);
	population->nvalues = nvalues;
	population->share = (const double *const *) shares;
	population->least = random_below(random, 2) * 0.05 * random_below(random, 5);
	population->most = 1 - random_below(random, 3) * 0.1 * random_below(random, 5);
	population->confidence = 0.1 * (1 + random_below(random, 9));
	problem->populations = population;
	problem->npopulations = 1;
}

void
diverse_free_populations(KanonProblem *problem)
{
	for (int p = 0; p < problem->npopulations; p++)
	{
		free((int64_t *) problem->populations[p].rows);
		free((uint32_t *) problem->populations[p].person);
		for (int q = 0; problem->populations[p].nvalues != NULL && q < kanon_count_qis(problem); q++)
			free((double *) problem->populations[p].share[q]);
		free((double **) problem->populations[p].share);
		free((uint32_t *) problem->populations[p].nvalues);
		for (int c = 0; c < problem->ncolumns; c++)
			free((uint32_t *) problem->populations[p].code[c]);
	}
	free((KanonPopulation *) problem->populations);
	problem->populations = NULL;
	problem->npopulations = 0;
	problem->k_map = false;
}

/* ---- the rules ---- */

/* Some rows: their types and how many of each. */
typedef struct Rows
{
	const KanonProblem *problem;
	const uint32_t *types;
	const int64_t *counts;
	size_t n;
	int person; /* column, or -1 */
} Rows;

static int64_t
count_of(const Rows *rows, size_t i)
{
	return rows->counts != NULL ? rows->counts[i] : rows->problem->rows[rows->types[i]];
}

static uint32_t
value_of(const Rows *rows, int column, size_t i)
{
	return rows->problem->extra[column].code[rows->types[i]];
}

/*
 * Rows, or different persons, of those that have the value in the column (-1: any)
 * and agree with row `like` in the joined columns.
 */
static double
size_of(const Rows *rows, const KanonPrivacyRule *rule, int64_t value, size_t like, bool joined)
{
	double sum = 0;

	for (size_t i = 0; i < rows->n; i++)
	{
		bool counts = count_of(rows, i) > 0 && (value < 0 || value_of(rows, rule->column, i) == value);

		for (int c = 0; c < rows->problem->nextra && counts && joined; c++)
			if (rule->joined >> c & 1)
				counts = value_of(rows, c, i) == value_of(rows, c, like);
		if (!counts)
			continue;
		if (rows->person < 0)
		{
			sum += (double) count_of(rows, i);
			continue;
		}
		/* the first such row of its person */
		for (size_t j = 0; j < i && counts; j++)
		{
			bool same = count_of(rows, j) > 0 && (value < 0 || value_of(rows, rule->column, j) == value) &&
						value_of(rows, rows->person, j) == value_of(rows, rows->person, i);

			for (int c = 0; c < rows->problem->nextra && same && joined; c++)
				if (rule->joined >> c & 1)
					same = value_of(rows, c, j) == value_of(rows, c, like);
			counts = !same;
		}
		sum += counts;
	}
	return sum;
}

/* Earth mover's distance of two distributions on the values. */
static double
distance_of(const KanonPrivacyRule *rule, const double *p, const double *q, uint32_t m)
{
	double sum = 0;

	if (rule->distance == KANON_DISTANCE_EQUAL)
	{
		for (uint32_t v = 0; v < m; v++)
			sum += fabs(p[v] - q[v]) / 2;
		return sum;
	}
	if (rule->distance == KANON_DISTANCE_ORDERED)
	{
		double ahead = 0;

		for (uint32_t v = 0; v + 1 < m; v++)
		{
			ahead += p[v] - q[v];
			sum += fabs(ahead) / (m - 1);
		}
		return sum;
	}
	/* on a tree: what crosses each edge, of half a level's height, by the height of the root */
	double *left = malloc((m + 1) * sizeof(double));
	uint32_t below = m;

	for (uint32_t v = 0; v < m; v++)
		left[v] = p[v] - q[v];
	for (int h = 0; h < rule->taxonomy->height; h++)
	{
		double *above = calloc(rule->taxonomy->nodes[h], sizeof(double));

		for (uint32_t i = 0; i < below; i++)
		{
			sum += fabs(left[i]) / 2 / rule->taxonomy->height;
			above[rule->taxonomy->parent[h][i]] += left[i];
		}
		free(left);
		left = above;
		below = rule->taxonomy->nodes[h];
	}
	free(left);
	return sum;
}

/* count[m]: of each value; size: rows or persons together. */
static bool
fulfils(const Rows *rows, const KanonPrivacyRule *rule, double *count, uint32_t m, double size)
{
	double total = 0;
	double entropy = 0;
	double most = 0;
	double tail = 0;
	uint32_t distinct = 0;
	bool fine = true;

	for (uint32_t v = 0; v < m; v++)
	{
		total += count[v];
		distinct += count[v] > 0;
		most = fmax(most, count[v]);
	}
	if (rule->kind == KANON_DISTINCT_L)
		return distinct >= rule->l;
	if (rule->kind == KANON_ALPHA)
	{
		for (uint32_t v = 0; v < m; v++)
			if (rule->listed == NULL || rule->listed[v])
				fine = fine && count[v] / size <= rule->share + 1e-9;
		return fine;
	}
	if (rule->kind == KANON_ENTROPY_L)
	{
		for (uint32_t v = 0; v < m; v++)
			if (count[v] > 0)
				entropy -= count[v] / total * log(count[v] / total);
		return entropy >= log(rule->l) - 1e-9;
	}
	if (rule->kind == KANON_T_CLOSENESS)
	{
		uint32_t *all = malloc((rows->problem->ntypes + (size_t) 1) * sizeof(uint32_t));
		Rows table = {rows->problem, all, NULL, rows->problem->ntypes, rows->person};
		double *q = malloc((m + 1) * sizeof(double));
		double sum = 0;

		for (uint32_t i = 0; i < rows->problem->ntypes; i++)
			all[i] = i;
		for (uint32_t v = 0; v < m; v++)
			sum += q[v] = size_of(&table, rule, v, 0, false);
		for (uint32_t v = 0; v < m; v++)
		{
			q[v] /= sum;
			count[v] /= total;
		}
		fine = distance_of(rule, count, q, m) <= rule->share + 1e-9;
		free(all);
		free(q);
		return fine;
	}
	/* recursive: without the l - 1 largest */
	for (int i = 1; i < rule->l; i++)
	{
		uint32_t largest = 0;

		for (uint32_t v = 1; v < m; v++)
			if (count[v] > count[largest])
				largest = v;
		count[largest] = 0;
	}
	for (uint32_t v = 0; v < m; v++)
		tail += count[v];
	return most < rule->c * tail;
}

bool
diverse_allows(const KanonProblem *problem, const uint32_t *types, const int64_t *counts, size_t ntypes,
			   bool few)
{
	Rows rows = {problem, types, counts, ntypes, -1};

	for (int r = 0; r < diverse_nrules; r++)
		if (diverse_rules[r].kind == KANON_SUBJECT)
			rows.person = diverse_rules[r].column;
	for (int r = 0; r < diverse_nrules; r++)
	{
		const KanonPrivacyRule *rule = &diverse_rules[r];
		uint32_t m = problem->extra[rule->column].distinct;
		double *count = malloc((m + 1) * sizeof(double));
		bool fine = true;

		if (rule->kind == KANON_SUBJECT)
			fine = few || size_of(&rows, rule, -1, 0, false) >= (double) problem->k;
		for (size_t i = 0; i < ntypes && fine && rule->kind != KANON_SUBJECT; i++)
		{
			if (count_of(&rows, i) == 0)
				continue;
			for (uint32_t v = 0; v < m; v++)
				count[v] = size_of(&rows, rule, v, i, true);
			fine = fulfils(&rows, rule, count, m, size_of(&rows, rule, -1, i, true));
		}
		free(count);
		if (!fine)
			return false;
	}
	return true;
}

/* Rows that have each a pattern: those of the same class as row a, as ones of their types; how many. */
static size_t
class_of(const KanonProblem *problem, const KanonPattern *pattern, const uint32_t *row, size_t n, size_t a,
		 uint32_t *member, size_t *first)
{
	size_t together = 0;

	for (size_t b = n; b-- > 0;)
	{
		bool same = kanon_same(pattern[b], pattern[a]);

		for (int c = 0; c < problem->ncolumns && same; c++)
			if (!kanon_has(pattern[a], c))
				same = problem->columns[c].code[row[a]] == problem->columns[c].code[row[b]];
		if (same)
		{
			member[together++] = row[b];
			*first = b;
		}
	}
	return together;
}

/* Is no pattern in more classes than it may be? */
static bool
listed_enough(const KanonProblem *problem, const KanonPattern *pattern, const uint32_t *row, size_t n)
{
	for (size_t a = 0; a < n; a++)
	{
		size_t classes = 0;
		size_t times = problem->mask.list == NULL;

		for (size_t j = 0; problem->mask.list != NULL && j < problem->mask.nlist; j++)
			times += kanon_same(problem->mask.list[j], pattern[a]);
		for (size_t b = 0; b < n; b++)
		{
			uint32_t member[8];
			size_t first;

			class_of(problem, pattern, row, n, b, member, &first);
			classes += first == b && kanon_same(pattern[a], pattern[b]);
		}
		if (classes > times)
			return false;
	}
	return true;
}

static double
least_cost(const KanonProblem *problem, bool once)
{
	static const int64_t ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	KanonPattern all = kanon_pattern_all(problem->ncolumns);
	KanonPattern *patterns;
	KanonPattern chosen[8];
	size_t np;
	uint32_t row[8];
	size_t choice[8] = {0};
	size_t n = 0;
	double best = INFINITY;

	assert_int_equal(kanon_mask_enumerate(problem, 1000, &patterns, &np), KANON_OK);
	for (uint32_t i = 0; i < problem->ntypes; i++)
		for (int64_t r = 0; r < problem->rows[i]; r++)
			row[n++] = i;
	for (size_t at = 0; at < n;)
	{
		double cost = 0;
		bool fine;

		for (size_t a = 0; a < n; a++)
		{
			chosen[a] = patterns[choice[a]];
			cost += kanon_pattern_cost(problem, chosen[a]);
		}
		fine = cost < best && (!once || listed_enough(problem, chosen, row, n));
		for (size_t a = 0; a < n && fine; a++)
		{
			bool rest = kanon_same(chosen[a], all) && !once;
			bool few = rest && problem->residual == KANON_RESIDUAL_SUPPRESS;
			uint32_t member[8];
			size_t first;
			size_t together = class_of(problem, chosen, row, n, a, member, &first);

			fine = (rest && problem->residual == KANON_RESIDUAL_DROP) ||
				   (((int64_t) together >= problem->k || few) &&
					diverse_allows(problem, member, ones, together, few));
		}
		if (fine)
			best = cost;
		for (at = 0; at < n && ++choice[at] == np; at++)
			choice[at] = 0;
	}
	kanon_free(problem->env, patterns);
	return n == 0 ? 0 : best;
}

double
diverse_least(const KanonProblem *problem)
{
	return least_cost(problem, false);
}

double
diverse_least_once(const KanonProblem *problem)
{
	return least_cost(problem, true);
}
