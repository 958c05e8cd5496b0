/*
 * program_round.c: from a solution of the linear relaxation to one of the model.
 *
 * The bisection decides only which instances are open: the rows follow, as a flow of
 * least cost.  Instances that the relaxation opens in part are opened in the order
 * of these parts, as far as all of them can be filled.  If some can be filled
 * together, so can fewer of them.  So bisection finds how far that is.
 */
#include <math.h>

#include "pattern/program/bound.h"
#include "util/sort.h"

/* Part from which an instance is more open than not. */
#define HALF 0.5

typedef struct Rounding
{
	const IlpModel *model;
	KanonPace *pace;
	KanonKeyed *order; /* [nf], and as much scratch */
	size_t low;        /* so many can be filled, */
	size_t high;       /* so many cannot */
	double cost;       /* of the best */
	IlpList *open;
} Rounding;

/* The first n of the order, all open. */
static KanonStatus
try_first(Rounding *r, size_t n)
{
	KanonEnv *env = r->model->env;
	IlpList first = {0};
	size_t nflows;
	double cost;
	KanonStatus status = KANON_OK;

	for (size_t j = 0; j < n && status == KANON_OK; j++)
		if (!ilp_list_add(env, &first, r->order[j].item))
			status = KANON_NO_MEMORY;
	if (status == KANON_OK)
		status = ilp_assign(r->model, &first, &cost, NULL, &nflows, r->pace);
	if (status == KANON_OK && cost < r->cost)
	{
		IlpList swap = *r->open;

		r->cost = cost;
		*r->open = first;
		first = swap;
	}
	kanon_free(env, first.v);
	if (status == KANON_OK)
		r->low = n;
	else if (status == KANON_INFEASIBLE)
	{
		r->high = n;
		status = KANON_OK;
	}
	return status;
}

KanonStatus
ilp_round(const IlpModel *model, const double *u, double *cost, IlpList *open, KanonPace *pace)
{
	Rounding r = {.model = model, .pace = pace, .cost = INFINITY, .open = open};
	size_t n = 0;
	size_t half = 0;
	KanonStatus status;

	r.order = kanon_alloc(model->env, model->nf, 2 * sizeof(*r.order));
	if (r.order == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t f = 0; f < model->nf; f++)
		if (u[f] > ILP_EPS)
		{
			r.order[n++] = (KanonKeyed){-u[f], f}; /* the most open first */
			half += u[f] >= HALF;
			/* the relaxation does fill these */
			r.low += u[f] >= 1 - ILP_EPS;
		}
	kanon_sort(r.order, r.order + model->nf, n, sizeof(*r.order), kanon_compare_keyed, NULL);
	r.high = n + 1;
	status = try_first(&r, n);
	if (status == KANON_OK && half > r.low && half < r.high)
		status = try_first(&r, half);
	while (status == KANON_OK && r.low + 1 < r.high)
		status = try_first(&r, (r.low + r.high) / 2);
	if (status == KANON_OK && r.cost == INFINITY)
		status = try_first(&r, r.low);
	kanon_free(model->env, r.order);
	*cost = r.cost;
	return status;
}
