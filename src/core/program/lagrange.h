/*
 * lagrange.h: the state of the subgradient steps, for lagrange.c and lagrange_team.c
 * (who shares a pass over the instances).
 */
#ifndef KANON_LAGRANGE_H
#define KANON_LAGRANGE_H

#include "program/bound.h"
#include "util/scratch.h"
#include "util/sort.h"

/* Pairs from which a team is worth its start. */
#ifndef ILP_TEAM_PAIRS
#define ILP_TEAM_PAIRS (500 * 1000)
#endif

typedef struct LagrangeTeam LagrangeTeam;

typedef struct Lagrange
{
	KanonScratch scratch;
	const IlpModel *model;
	const IlpBox *box; /* prices stay within; NULL: anywhere below c */
	KanonPace *pace;
	double *y;
	double *slack;      /* [m] the subgradient */
	double *dir;        /* [m] deflected */
	double *trial;      /* [m] best y on the active set since the last pass */
	IlpCandidate *cand; /* [m] scratch */
	uint32_t *active;   /* [nf] */
	uint32_t nactive;
	double *g; /* [nf] the prices' own; between passes over all g_f of the active ones, in their order */
	LagrangeTeam *team; /* NULL: alone */
	KanonKeyed *gains;  /* with groups: [nf] those that would open, by g_f, and as much scratch */
	uint32_t *left;     /* [ngroups] of each that may yet open */

	/* with values_needed, by value: the instance at hand is number `asked` */
	uint32_t asked;
	uint32_t *has;    /* [nvalues] asked: it has it; */
	uint32_t *offers; /* [nvalues] asked: it could, by the candidate dearest[] */
	size_t *dearest;
	uint32_t *offered; /* [nvalues] those values */
} Lagrange;

/* g_f(y); takes the rows chosen off slack when that is given and g_f is negative. */
extern double lagrange_cost(Lagrange *l, uint32_t f, double *slack);

/* lagrange_team.c */

/* Opens a team, if there is one to have and the passes are worth it. */
extern KanonStatus lagrange_team_open(Lagrange *l);
extern void lagrange_team_close(Lagrange *l);

/* The active instances are others now. */
extern void lagrange_team_list(Lagrange *l);

/*
 * g_f(y) of the active instances, whose rows go off l->slack, or of all: whoever takes
 * part, the same to the last bit, and as much work.
 */
extern KanonStatus lagrange_team_pass(Lagrange *l, bool active, double *g);

#endif
