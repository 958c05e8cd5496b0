/*
 * diversity.c: how the values of a sensitive column spread over the classes.
 *
 * With p_v the share of value v in the class, q_v its share in the table, m the
 * number of values in the table and r_1 >= r_2 >= … the counts in the class:
 *
 *   distinct l, entropy l (exp of -sum p_v ln p_v), recursive (c,l)
 *   (r_1 < c (r_l + r_{l+1} + …)): Machanavajjhala et al., "l-Diversity: privacy
 *   beyond k-anonymity", ICDE 2006 and TKDD 2007.
 *   alpha (max p_v): Wong et al., "(alpha, k)-anonymity", KDD 2006.
 *   t-closeness: Li, Li, Venkatasubramanian, "t-Closeness: privacy beyond
 *   k-anonymity and l-diversity", ICDE 2007: the earth mover's distance of p and
 *   q, where moving a share costs
 *     equal         1 to any other value: 1/2 sum |p_v - q_v|;
 *     ordered       the number of values in between by m - 1: the sum over i < m
 *                   of |sum_{v <= i} (p_v - q_v)| / (m - 1);
 *     hierarchical  the height of the lowest common ancestor by that of the
 *                   root: the sum over the inner nodes of height / H times the
 *                   lesser of what its children have too much and too little.
 *
 * A class of few values costs time by those values, not by the table's: between
 * two of them the sum of p stands still, so the ordered distance takes the sums
 * over q from a prefix sum; and below a node where the class has nothing, all
 * children have too little and nothing moves.
 */
#include <math.h>
#include <string.h>

#include "privacy/rules.h"
#include "util/scratch.h"

struct KanonDiversityMeter
{
	KanonScratch scratch; /* of all arrays here */
	uint32_t distinct;
	int64_t total;
	const KanonTaxonomy *taxonomy;
	double *below;  /* [distinct] sum of q up to and with a code */
	double *area;   /* [distinct + 1] sum of below before a code */
	int64_t *count; /* [distinct] in the table */
	double **share; /* [height] q of each node of each level */

	/* what the class has at two neighbouring levels: p, and the surplus of its children */
	double *p[2];
	double *surplus[2];
	uint32_t *node[2]; /* the nodes where it has something */
};

/* The table's share of each node, level by level. */
static KanonStatus
share_out(KanonDiversityMeter *meter)
{
	const KanonTaxonomy *taxonomy = meter->taxonomy;

	meter->share = kanon_take0(&meter->scratch, (size_t) taxonomy->height, sizeof(double *));
	for (int h = 0; h < taxonomy->height && !meter->scratch.failed; h++)
	{
		uint32_t below = h == 0 ? meter->distinct : taxonomy->nodes[h - 1];

		meter->share[h] = kanon_take0(&meter->scratch, taxonomy->nodes[h], sizeof(double));
		for (uint32_t i = 0; i < below && !meter->scratch.failed; i++)
			meter->share[h][taxonomy->parent[h][i]] +=
				h == 0 ? (double) meter->count[i] / (double) meter->total : meter->share[h - 1][i];
	}
	for (int i = 0; i < 2; i++)
	{
		/* no level has more nodes than there are values */
		meter->p[i] = kanon_take0(&meter->scratch, meter->distinct, sizeof(double));
		meter->surplus[i] = kanon_take0(&meter->scratch, meter->distinct, sizeof(double));
		meter->node[i] = kanon_take0(&meter->scratch, meter->distinct, sizeof(uint32_t));
	}
	return kanon_taken(&meter->scratch);
}

KanonStatus
kanon_diversity_open(KanonEnv *env, const int64_t *count, uint32_t distinct, const KanonTaxonomy *taxonomy,
					 KanonDiversityMeter **result)
{
	KanonDiversityMeter *meter = kanon_alloc0(env, 1, sizeof(KanonDiversityMeter));
	KanonStatus status;
	int64_t sum = 0;

	*result = meter;
	if (meter == NULL)
		return KANON_NO_MEMORY;
	meter->scratch.env = env;
	meter->distinct = distinct;
	meter->taxonomy = taxonomy;
	meter->below = kanon_take0(&meter->scratch, distinct, sizeof(double));
	meter->area = kanon_take0(&meter->scratch, (size_t) distinct + 1, sizeof(double));
	meter->count = kanon_take0(&meter->scratch, distinct, sizeof(int64_t));
	status = kanon_taken(&meter->scratch);
	if (status == KANON_OK)
	{
		memcpy(meter->count, count, distinct * sizeof(int64_t));
		for (uint32_t v = 0; v < distinct; v++)
			meter->total += count[v];
		for (uint32_t v = 0; v < distinct; v++)
		{
			sum += count[v];
			meter->below[v] = (double) sum / (double) meter->total;
			meter->area[v + 1] = meter->area[v] + meter->below[v];
		}
		if (taxonomy != NULL)
			status = share_out(meter);
	}
	if (status != KANON_OK)
	{
		kanon_diversity_close(meter);
		*result = NULL;
	}
	return status;
}

void
kanon_diversity_close(KanonDiversityMeter *meter)
{
	KanonEnv *env;

	if (meter == NULL)
		return;
	env = meter->scratch.env;
	kanon_scratch_free(&meter->scratch);
	kanon_free(env, meter);
}

/* The sum over the codes from..to-1 of |p - below|, where p is the same for all. */
static double
area_between(const KanonDiversityMeter *meter, double p, uint32_t from, uint32_t to)
{
	uint32_t low = from, high = to;
	double sum;

	if (from == to)
		return 0;
	if (to - from == 1)
		return fabs(p - meter->below[from]);
	/* the first code at which the table has overtaken the class */
	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		if (meter->below[middle] > p)
			high = middle;
		else
			low = middle + 1;
	}
	sum = p * (double) (low - from) - (meter->area[low] - meter->area[from]) +
		  (meter->area[to] - meter->area[low]) - p * (double) (to - low);
	return sum > 0 ? sum : 0;
}

static double
ordered_distance(const KanonDiversityMeter *meter, const uint32_t *code, const int64_t *count, uint32_t n,
				 int64_t total)
{
	int64_t sum = 0;
	double distance = 0;
	uint32_t from = 0;

	if (meter->distinct < 2)
		return 0;
	for (uint32_t i = 0; i < n; i++)
	{
		distance += area_between(meter, (double) sum / (double) total, from, code[i]);
		from = code[i];
		sum += count[i];
	}
	/* at the last code both are 1 */
	distance += area_between(meter, 1, from, meter->distinct - 1);
	return distance / (meter->distinct - 1);
}

/* Bottom up: what a node's children have too much of goes to those with too little. */
static double
hierarchical_distance(KanonDiversityMeter *meter, const uint32_t *code, const int64_t *count, uint32_t n,
					  int64_t total)
{
	const KanonTaxonomy *taxonomy = meter->taxonomy;
	double distance = 0;
	uint32_t nodes = n; /* where the class has something, one level below h */

	for (int h = 0; h < taxonomy->height; h++)
	{
		double *p = meter->p[h & 1];
		double *surplus = meter->surplus[h & 1];
		uint32_t *node = meter->node[h & 1];
		const double *p_below = meter->p[(h & 1) ^ 1];
		const uint32_t *node_below = meter->node[(h & 1) ^ 1];
		uint32_t found = 0;

		for (uint32_t i = 0; i < nodes; i++)
		{
			uint32_t child = h == 0 ? code[i] : node_below[i];
			double has = h == 0 ? (double) count[i] / (double) total : p_below[child];
			double extra = has - (h == 0 ? (double) meter->count[child] / (double) meter->total
										 : meter->share[h - 1][child]);
			uint32_t parent = taxonomy->parent[h][child];

			if (p[parent] == 0)
			{
				node[found++] = parent;
				surplus[parent] = 0;
			}
			p[parent] += has;
			if (extra > 0)
				surplus[parent] += extra;
		}
		for (uint32_t i = 0; i < found; i++)
		{
			double extra = p[node[i]] - meter->share[h][node[i]];

			distance +=
				fmax(fmin(surplus[node[i]], surplus[node[i]] - extra), 0) * (h + 1) / taxonomy->height;
		}
		/* the level below is done with: its arrays are the next level's */
		if (h > 0)
			for (uint32_t i = 0; i < nodes; i++)
				meter->p[(h & 1) ^ 1][node_below[i]] = 0;
		nodes = found;
		if (h == taxonomy->height - 1)
			for (uint32_t i = 0; i < found; i++)
				p[node[i]] = 0;
	}
	return distance;
}

static int64_t
sum_of(const int64_t *count, uint32_t n)
{
	int64_t total = 0;

	for (uint32_t i = 0; i < n; i++)
		total += count[i];
	return total;
}

static double
equal_distance(const KanonDiversityMeter *meter, const uint32_t *code, const int64_t *count, uint32_t n,
			   int64_t total)
{
	double distance = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		double more =
			(double) count[i] / (double) total - (double) meter->count[code[i]] / (double) meter->total;

		if (more > 0)
			distance += more;
	}
	return distance;
}

double
kanon_diversity_distance(KanonDiversityMeter *meter, KanonDistance distance, const uint32_t *code,
						 const int64_t *count, uint32_t n)
{
	int64_t total = sum_of(count, n);

	switch (distance)
	{
		case KANON_DISTANCE_ORDERED:
			return ordered_distance(meter, code, count, n, total);
		case KANON_DISTANCE_HIERARCHICAL:
			return meter->taxonomy != NULL ? hierarchical_distance(meter, code, count, n, total) : 0;
		case KANON_DISTANCE_EQUAL:
			break;
	}
	return equal_distance(meter, code, count, n, total);
}

double
kanon_diversity_entropy(const int64_t *count, uint32_t n)
{
	int64_t total = sum_of(count, n);
	double entropy = 0;
	double l;

	for (uint32_t i = 0; i < n; i++)
	{
		double p = (double) count[i] / (double) total;

		entropy -= p * log(p);
	}
	l = exp(entropy);
	/* three equally frequent values are 3, not a rounding error less */
	return fabs(l - round(l)) < 1e-9 ? round(l) : l;
}

void
kanon_diversity_class(KanonDiversityMeter *meter, const uint32_t *code, const int64_t *count, uint32_t n,
					  int64_t size, KanonDiversity *diversity)
{
	int64_t top[KANON_RECURSIVE_MOST] = {0}; /* the largest counts */
	int64_t total = sum_of(count, n);
	int64_t tail = total; /* r_l + r_{l+1} + … */

	memset(diversity, 0, sizeof(*diversity));
	for (uint32_t i = 0; i < n; i++)
	{
		int64_t sinking = count[i];

		for (int l = 0; l < KANON_RECURSIVE_MOST; l++)
			if (sinking > top[l])
			{
				int64_t lesser = top[l];

				top[l] = sinking;
				sinking = lesser;
			}
	}
	diversity->distinct = n;
	diversity->entropy = kanon_diversity_entropy(count, n);
	diversity->alpha = (double) top[0] / (double) size;
	for (int l = 1; l <= KANON_RECURSIVE_MOST; l++)
	{
		diversity->recursive[l] = tail > 0 ? (double) top[0] / (double) tail : INFINITY;
		tail -= top[l - 1];
	}
	diversity->t_equal = kanon_diversity_distance(meter, KANON_DISTANCE_EQUAL, code, count, n);
	diversity->t_ordered = kanon_diversity_distance(meter, KANON_DISTANCE_ORDERED, code, count, n);
	diversity->t_hierarchical = kanon_diversity_distance(meter, KANON_DISTANCE_HIERARCHICAL, code, count, n);
}

void
kanon_diversity_worse(KanonDiversity *worst, const KanonDiversity *other)
{
	if (other->distinct < worst->distinct)
		worst->distinct = other->distinct;
	worst->entropy = fmin(worst->entropy, other->entropy);
	for (int l = 1; l <= KANON_RECURSIVE_MOST; l++)
		worst->recursive[l] = fmax(worst->recursive[l], other->recursive[l]);
	worst->alpha = fmax(worst->alpha, other->alpha);
	worst->t_equal = fmax(worst->t_equal, other->t_equal);
	worst->t_ordered = fmax(worst->t_ordered, other->t_ordered);
	worst->t_hierarchical = fmax(worst->t_hierarchical, other->t_hierarchical);
}
