/*
 * unclassed.c: random tables for methods without classes, and what their releases
 * cost by the definition.
 */
#include <math.h>
#include <stdlib.h>

#include "freeform/freeform_work.h"
#include "unclassed.h"

KanonProblem *
random_table(Host *host, uint64_t *random, size_t rows, int columns, uint32_t domain, int64_t k)
{
	uint32_t *code = malloc(rows * (size_t) columns * sizeof(*code));
	KanonProblem *problem;

	host_init(host);
	for (size_t j = 0; j < rows * (size_t) columns; j++)
		code[j] = random_below(random, domain);
	problem = problem_from_codes(host, code, rows, columns, k);
	free(code);
	for (int c = 0; c < columns; c += 2)
	{
		KanonColumn *column = &((KanonColumn *) problem->columns)[c];
		double *number = malloc(column->distinct * sizeof(double));

		for (uint32_t v = 0; v < column->distinct; v++)
			number[v] = v * v;
		if (c == 2 && column->distinct > 1)
		{
			number[column->distinct - 1] = NAN;
			column->has_null = true;
		}
		column->number = number;
	}
	return problem;
}

KanonProblem *
random_trees(Host *host, uint64_t *random, size_t rows, int qis, uint32_t domain, int64_t k)
{
	int level[4 * KANON_MAX_COLUMNS];
	uint32_t up[4 * KANON_MAX_COLUMNS][16];
	uint32_t *code;
	int ncolumns = 0;
	KanonProblem *problem;

	for (int q = 0; q < qis; q++)
	{
		int height = 1 + (int) random_below(random, 4);

		for (int r = 0; r < height; r++, ncolumns++)
		{
			level[ncolumns] = r;
			for (uint32_t v = 0; v < domain; v++)
				up[ncolumns][v] = random_below(random, 1 + domain / (uint32_t) (r + 1));
		}
	}
	code = malloc(rows * (size_t) ncolumns * sizeof(*code));
	host_init(host);
	for (size_t i = 0; i < rows; i++)
		for (int c = 0; c < ncolumns; c++)
		{
			uint32_t *cell = code + i * (size_t) ncolumns + (size_t) c;

			*cell = level[c] == 0 ? random_below(random, domain) : up[c][cell[-1]];
		}
	problem = problem_from_codes(host, code, rows, ncolumns, k);
	free(code);
	for (int c = 0; c < ncolumns; c++)
	{
		KanonColumn *column = &((KanonColumn *) problem->columns)[c];
		double *number;

		column->level = level[c];
		column->weight = level[c] > 0 ? 0.5 : 1 + random_below(random, 2);
		if (level[c] > 0 || random_below(random, 2) == 0)
			continue;
		number = malloc(column->distinct * sizeof(double));
		for (uint32_t v = 0; v < column->distinct; v++)
			number[v] = v * v;
		column->number = number;
	}
	return problem;
}

/* What the values below a node of a level are, as a share of the column. */
static double
node_share(const KanonProblem *problem, int first, int level, uint32_t node)
{
	const KanonColumn *column = &problem->columns[first];
	double low = INFINITY;
	double high = -INFINITY;
	double least = INFINITY;
	double most = -INFINITY;
	unsigned values = 0;

	for (uint32_t v = 0; v < column->distinct; v++)
	{
		bool there = false;
		bool below = false;

		for (uint32_t t = 0; t < problem->ntypes; t++)
			if (column->code[t] == v)
			{
				there = true;
				below = problem->columns[first + level].code[t] == node;
			}
		values += below;
		if (column->number == NULL)
			continue;
		/* (the range of the column is of all its values) */
		least = fmin(least, column->number[v]);
		most = fmax(most, column->number[v]);
		if (there && below)
		{
			low = fmin(low, column->number[v]);
			high = fmax(high, column->number[v]);
		}
	}
	if (values < 2)
		return 0;
	return column->number == NULL ? (double) values / column->distinct : (high - low) / (most - least);
}

double
cost_by_hand(const KanonProblem *problem, const KanonRelease *release)
{
	double cost = 0;

	for (uint32_t i = 0; i < release->nclasses; i++)
		for (int c = 0, end; c < problem->ncolumns; c = end)
		{
			const KanonColumn *column = &problem->columns[c];
			const KanonCell *cell = &release->cells[i * (size_t) problem->ncolumns + (size_t) c];
			const uint32_t *pool = release->pool + (cell->show == KANON_SHOW_VALUE ? 0 : cell->code);
			double loss = 0;
			double weight = column->weight;
			int level = 0;

			for (end = c + 1; end < problem->ncolumns && problem->columns[end].level > 0; end++)
				weight += problem->columns[end].weight;
			while (c + level < end && cell[level].show == KANON_SHOW_NOTHING)
				level++;
			if (level > 0 && c + level < end)
				loss = node_share(problem, c, level, cell[level].code);
			else if (cell->show == KANON_SHOW_NOTHING)
				loss = 1;
			else if (cell->show == KANON_SHOW_RANGE)
				loss = (column->number[pool[1]] - column->number[pool[0]]) /
					   (column->number[column->distinct - 1 - column->has_null] - column->number[0]);
			else if (cell->show == KANON_SHOW_SET)
				loss = (double) (pool[0] - 1) / (column->distinct - 1);
			cost += loss * weight * (double) release->classes[i].rows;
		}
	return cost;
}

void
random_records(const KanonProblem *problem, uint64_t *random, unsigned n, uint32_t domain, Shown *s)
{
	unsigned row = 0;

	s->release = (KanonRelease){.nclasses = n, .classes = s->classes, .cells = s->cells, .pool = s->pool};
	for (uint32_t t = 0; t < problem->ntypes; t++)
		for (int64_t r = 0; r < problem->rows[t]; r++)
			s->type[row++] = t;
	for (unsigned j = 0; j < n; j++)
	{
		s->classes[j] = (KanonClass){KANON_NONE, 1};
		for (int c = 0; c < 2; c++)
		{
			uint32_t a = random_below(random, domain);
			uint32_t b = a + 1 + random_below(random, 2);
			KanonCell *cell = &s->cells[2 * j + (unsigned) c];

			cell->show = random_below(random, 8) < 3 ? KANON_SHOW_NOTHING : random_below(random, 4);
			cell->code = cell->show == KANON_SHOW_VALUE ? a : (uint32_t) s->release.npool & 0x1fffffff;
			if (cell->show == KANON_SHOW_NOTHING)
				cell->code = 0;
			if (cell->show == KANON_SHOW_SET)
				s->pool[s->release.npool++] = 2;
			if (cell->show == KANON_SHOW_SET || cell->show == KANON_SHOW_RANGE)
			{
				s->pool[s->release.npool++] = a;
				s->pool[s->release.npool++] = b;
			}
		}
		for (unsigned i = 0; i < n; i++)
		{
			s->match[j][i] = true;
			for (int c = 0; c < 2; c++)
			{
				const KanonCell *cell = &s->cells[2 * j + (unsigned) c];
				uint32_t v = problem->columns[c].code[s->type[i]];
				const uint32_t *p = s->pool + cell->code;

				if ((cell->show == KANON_SHOW_VALUE && v != cell->code) ||
					(cell->show == KANON_SHOW_RANGE && (v < p[0] || v > p[1])) ||
					(cell->show == KANON_SHOW_SET && v != p[1] && v != p[2]))
					s->match[j][i] = false;
			}
		}
	}
}

bool
is_there(int method)
{
#ifdef HAVE_GLPK
	(void) method;
	return true;
#else
	return method != KANON_FREEFORM_MIP;
#endif
}

bool
makes_mutual(int method)
{
	return method != KANON_FREEFORM_MIP && method != KANON_FREEFORM_MIN_COST_FLOW &&
		   method < KANON_FREEFORM_CONCEALMENT;
}

/* From a set on, so many of them; what each row needs, and the sum so far. */
static void
all_graphs(const double *price, unsigned n, unsigned k, unsigned from, unsigned left, unsigned *need,
		   double sum, double *best)
{
	if (sum >= *best)
		return;
	if (left == 0)
	{
		*best = sum;
		return;
	}
	for (unsigned set = from; set < 1u << n; set++)
	{
		bool fits = (unsigned) __builtin_popcount(set) == k;

		for (unsigned i = 0; i < n && fits; i++)
			fits = (set >> i & 1) == 0 || need[i] > 0;
		if (!fits)
			continue;
		for (unsigned i = 0; i < n; i++)
			need[i] -= set >> i & 1;
		all_graphs(price, n, k, set, left - 1, need, sum + price[set], best);
		for (unsigned i = 0; i < n; i++)
			need[i] += set >> i & 1;
	}
}

double
least_graph(const KanonProblem *problem, unsigned n, unsigned k,
			double (*set_price)(const KanonProblem *problem, const uint32_t *type, unsigned set))
{
	double price[64];
	uint32_t type[6];
	unsigned need[6] = {k, k, k, k, k, k};
	unsigned row = 0;
	double best = INFINITY;

	for (uint32_t t = 0; t < problem->ntypes; t++)
		for (int64_t r = 0; r < problem->rows[t]; r++)
			type[row++] = t;
	for (unsigned set = 1; set < 1u << n; set++)
		price[set] = set_price(problem, type, set);
	all_graphs(price, n, k, 1, n, need, 0, &best);
	return best;
}
