/*
 * tighten.h: the relaxation whose cuts have prices, shared by its two files: tighten.c
 * (steps and cuts) and tighten_price.c (what L is at some prices).
 */
#ifndef KANON_TIGHTEN_H
#define KANON_TIGHTEN_H

#include "pattern/program/bound.h"
#include "util/scratch.h"

typedef struct Cut
{
	size_t start; /* into types */
	uint32_t ntypes;
	double missing;
	double classes; /* that the rows of its types suffice for */
	double nu;      /* price: the best, */
	double trial;   /* and the one at hand */
	double excess;  /* of the average solution: above 0 it is violated, */
	double now;     /* and of the one at hand */
} Cut;

typedef struct Member
{
	uint32_t f;
	uint32_t cut;
} Member;

/* The cuts, and which of them an instance is in. */
typedef struct TightCuts
{
	Cut *cut;
	size_t n;
	size_t room;
	uint32_t *types;
	size_t ntypes;
	size_t type_room;
	Member *member;
	size_t nmembers;
	size_t member_room;
	size_t *first; /* [nf + 1] into of */
	uint32_t *of;  /* [nmembers] cuts */
	size_t of_room;
} TightCuts;

typedef struct Tight
{
	KanonScratch scratch;
	const IlpModel *whole;
	const IlpModel *model; /* what matters of it */
	const IlpBox *box;
	KanonPace *pace;
	int64_t work_end; /* of the pace, when it is enough */
	double aim;
	double length;
	double share;
	double best;   /* L of the part at the best prices */
	double *y;     /* [m] these */
	double *trial; /* [m] and those at hand */
	double *slack; /* [m] rows that the average solution leaves, */
	double *now;   /* [m] and the one at hand */
	double *g;     /* [nf] */
	double *whole_g;
	/* the solution at hand */
	uint32_t *open; /* [nf] */
	uint32_t nopen;
	double *rows;  /* [pairs] of the instance that was looked at last, and of the open ones */
	size_t *taken; /* [pairs] where it is above 0 */
	size_t ntaken;
	/* the average: these times scale */
	double scale;
	double *u; /* [nf] */
	double *x; /* [pairs] */
	/* instances that may open soon */
	uint32_t *active; /* [nf] */
	uint32_t nactive;
	TightCuts cuts;
	uint32_t *part_of; /* [nf of the whole] or UINT32_MAX */
	/* scratch */
	IlpCandidate *cand; /* [m] */
	size_t *at;         /* [m] place of a type in the instance at hand, */
	uint32_t *stamp;    /* [m] which has it */
	uint32_t *seen;     /* [nf] */
	uint32_t asked;
	uint32_t *users; /* [pairs] */
} Tight;

/* tighten_price.c */

/* L of the active instances at the prices at hand, and its solution. */
extern KanonStatus tight_try(Tight *t, double *value);

/* L of the part at the best prices; the instances that may open soon are active from here on. */
extern KanonStatus tight_activate(Tight *t);

/* L of the whole at the best prices: what is proven, with the g that belong to it. */
extern KanonStatus tight_prove(Tight *t, IlpPrices *prices);

#endif
