/*
 * ilp_privacy.h: the exact solver's model under privacy rules that are linear:
 * ilp_privacy_model.c builds it, ilp_privacy.c solves it.
 */
#ifndef KANON_ILP_PRIVACY_H
#define KANON_ILP_PRIVACY_H

#include "pattern/program/glpk_guard.h"
#include "util/scratch.h"

#ifdef HAVE_GLPK
#include <glpk.h>

/* Entries of the matrix, at most. */
#define ILP_PRIVACY_ENTRIES ((size_t) 20 * 1000 * 1000)

/* A row or column of the model. */
typedef struct IlpLine
{
	int type; /* GLP_LO, … */
	double low;
	double high;
	double cost; /* of a column */
	bool whole;
} IlpLine;

typedef struct IlpLines
{
	IlpLine *v; /* from 1 on */
	size_t n;
	size_t room;
} IlpLines;

typedef struct IlpPrivacy
{
	GlpkGuard guard;
	const KanonProblem *problem;
	const KanonInstances *instances;
	KanonPace *pace;
	KanonScratch memory;
	IlpLines rows;
	IlpLines columns;
	int *entry_row; /* from 1 on */
	int *entry_column;
	double *entry;
	size_t nentries;
	size_t entries_room;
	int first_x; /* column of the first pair; pairs as in instances, then the rest */

	/* members of an instance at hand, by what a rule tells apart */
	const uint32_t *types;
	int x; /* column of the first */
	uint32_t n;
	uint32_t *order; /* [ntypes] places among the types */
	uint32_t *scratch;
	uint32_t *all; /* [ntypes] every type */

	double cutoff;    /* solutions above do not count */
	double *solution; /* [pairs] of the best solution */
	bool found;
	bool complete;
	double root; /* the bound before branching */
	double bound;
	int64_t nodes;
	int64_t max_nodes; /* 0: any number */
	bool cancelled;
	bool coarse; /* classes of many rows may have a larger share than the model knows: it proves nothing */
} IlpPrivacy;

/*
 * Rows, columns and entries, from problem, instances, cutoff and the scratch arrays.
 * no_memory, cancelled or too many entries: it is not complete.
 */
extern void ilp_privacy_build(IlpPrivacy *model);

/* Pair p's row type; the last ntypes pairs are what is fully suppressed. */
extern uint32_t ilp_privacy_type(const IlpPrivacy *model, size_t p);

#endif /* HAVE_GLPK */
#endif
