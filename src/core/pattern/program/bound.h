/*
 * bound.h: the lower bound: prices by Lagrangian relaxation, and what they rule out.
 */
#ifndef KANON_BOUND_H
#define KANON_BOUND_H

#include "pattern/program/program_model.h"

/* lagrange.c */
typedef struct IlpPrices
{
	double *y;    /* [m] price of a row of each type */
	double bound; /* proven, base included */
	double *g;    /* [nf] g_f(y), a lower estimate where positive */
	int64_t steps;
	double lambda; /* by which steps were scaled at last, and are at first; 0: 1 */
} IlpPrices;

/*
 * Subgradient steps from prices->y (when set) until the gap to `upper` is
 * closed, or `steps` steps are done, or progress ends.
 */
extern KanonStatus ilp_lagrange(const IlpModel *model, double upper, int64_t steps, IlpPrices *prices,
								KanonPace *pace);

/* What steps are scaled by at first where they go on from prices in a box around them: those were good already. */
extern double ilp_steps_on(const IlpPrices *prices);
extern void ilp_prices_free(KanonEnv *env, IlpPrices *prices);

/* The bound and g at the prices as they are. */
extern KanonStatus ilp_price(const IlpModel *model, IlpPrices *prices, KanonPace *pace);

typedef struct IlpCandidate
{
	double y;
	uint32_t i;
} IlpCandidate;

/*
 * The `need` rows of highest price among the n candidates, by quickselect: they
 * come first.  Returns the sum of w - y over them, and takes them off slack when
 * that is given.
 */
extern double ilp_take_dearest(const IlpModel *model, IlpCandidate *c, size_t n, int64_t need, double w,
							   double *slack);

/* box.c: prices that stay near what they are, and what can matter then */
typedef struct IlpBox
{
	double *low;  /* [m] */
	double *high; /* [m] */
} IlpBox;

extern void ilp_box_free(KanonEnv *env, IlpBox *box);

/* The prices within `reach` of y, up to c. */
extern KanonStatus ilp_box_around(const IlpModel *model, const double *y, double reach, IlpBox *box);

/*
 * The instances that open at some prices in the box, each with the types that
 * it can take then: at all prices in the box it has the same L.  id = position in
 * `model`.  Has no transpose.
 */
extern KanonStatus ilp_box_model(const IlpModel *model, const IlpBox *box, IlpModel *out, KanonPace *pace);

/*
 * The types of one instance of cost w that can be among its dearest so many `rows` (k at least: it can take
 * k at some prices in the box), and their number, 0 when it never opens.  cand: [ntypes] scratch.
 */
extern uint32_t ilp_box_sift(const IlpModel *model, const IlpBox *box, double w, int64_t rows,
							 const uint32_t *types, uint32_t ntypes, IlpCandidate *cand, uint32_t *kept);

/* As ilp_lagrange, with prices (which must be set) in the box. */
extern KanonStatus ilp_lagrange_within(const IlpModel *model, const IlpBox *box, double upper, int64_t steps,
									   IlpPrices *prices, KanonPace *pace);

/* tighten.c */

/*
 * A better bound than prices have, which are near the best: by cuts, with that much work, or
 * until the gap to `upper` is closed.  g is raised with it; y are the prices without those of
 * the cuts.  within: where prices stay, since instances that the model does not have do not
 * open there (of those that it has, it has all rows); NULL: it has them all.
 */
extern KanonStatus ilp_tighten(const IlpModel *model, const IlpBox *within, double upper, int64_t work,
							   IlpPrices *prices, KanonPace *pace);

/* bound.c */

/* The largest difference of two costs of a row: what prices are measured by. */
extern double ilp_cost_range(const IlpModel *model);

/*
 * The best lower bound and prices that so many steps lead to; bound stays as it
 * is when that is better.
 */
extern KanonStatus ilp_bound(IlpModel *model, double upper, int64_t steps, IlpPrices *prices,
							 KanonPace *pace);

/*
 * Reduced-cost fixing: drops the instances that no solution of cost at most
 * `cutoff` uses.  Returns the number dropped in *dropped.
 */
extern KanonStatus ilp_fix(IlpModel *model, IlpPrices *prices, double cutoff, uint32_t *dropped,
						   KanonPace *pace);

/*
 * A copy of the model without the instances that no solution of cost at most
 * `cutoff` uses, reduced; id = position in `model`, also in *fixed.
 */
extern KanonStatus ilp_fixed_copy(const IlpModel *model, const IlpPrices *prices, double cutoff,
								  IlpModel *copy, IlpList *fixed, KanonPace *pace);

#endif
