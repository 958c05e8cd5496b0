/*
 * unclassed.c: random tables for methods without classes, and what their releases
 * cost by the definition.
 */
#include <math.h>
#include <stdlib.h>

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

double
cost_by_hand(const KanonProblem *problem, const KanonRelease *release)
{
	double cost = 0;

	for (uint32_t i = 0; i < release->nclasses; i++)
		for (int c = 0; c < problem->ncolumns; c++)
		{
			const KanonColumn *column = &problem->columns[c];
			const KanonCell *cell = &release->cells[i * (size_t) problem->ncolumns + (size_t) c];
			const uint32_t *pool = release->pool + (cell->show == KANON_SHOW_VALUE ? 0 : cell->code);
			double loss = 0;

			if (cell->show == KANON_SHOW_NOTHING)
				loss = 1;
			else if (cell->show == KANON_SHOW_RANGE)
				loss = (column->number[pool[1]] - column->number[pool[0]]) /
					   (column->number[column->distinct - 1 - column->has_null] - column->number[0]);
			else if (cell->show == KANON_SHOW_SET)
				loss = (double) (pool[0] - 1) / (column->distinct - 1);
			cost += loss * column->weight * (double) release->classes[i].rows;
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
		s->classes[j] = (KanonClass){0, 1};
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
