/*
 * cutting_planes.h: inequalities that a fractional solution violates.
 */
#ifndef KANON_CUTTING_PLANES_H
#define KANON_CUTTING_PLANES_H

#include "pattern/program/program_model.h"

/*
 * sum over the instances f of missing * u_f - x_f(outside the types) is at most
 * missing * classes, in every solution with whole u.
 */
typedef struct IlpCut
{
	size_t start; /* into IlpCuts.number: types, then instances */
	uint32_t ntypes;
	uint32_t ninstances;
	int64_t rows; /* of the types */
	int64_t missing;
	int64_t classes;
} IlpCut;

typedef struct IlpCuts
{
	size_t n;
	size_t room;
	IlpCut *cut;
	IlpList number;
} IlpCuts;

/* Cuts that a fractional solution violates: u[nf], x[pairs]. */
extern KanonStatus ilp_cuts_find(const IlpModel *model, const double *u, const double *x, IlpCuts *cuts,
								 KanonPace *pace);
extern void ilp_cuts_free(KanonEnv *env, IlpCuts *cuts);

#endif
