/*
 * risk_special.c: special uniques: rows that few columns tell from all others.
 *
 * M. J. Elliot, A. M. Manning, R. W. Ford, "A computational algorithm for handling the special uniques problem",
 * International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10, 2002; M. J. Elliot, A. Manning,
 * K. Mayes, J. Gurd, M. Bane, "SUDA: a program for detecting special uniques", UNECE work session on statistical
 * data confidentiality, 2005.  A minimal sample unique is a set of columns in which a row is unique, though it
 * is so in no part of it.  One of s columns scores the product of (columns - i), i from s to the
 * largest size looked at; a row scores the sum of its sets.
 */
#include "compat.h"
#include "assess/assess.h"
#include "rare/rare.h"

#include <math.h>

typedef struct Special
{
	int64 sets[KANON_MAX_QIS + 1];   /* by their columns */
	double score[KANON_MAX_QIS + 1]; /* of one of them */
	double *row;                     /* [ntypes] its score */
} Special;

static void
count_set(void *arg, const KanonRare *rare)
{
	Special *special = arg;

	special->sets[rare->ncolumns]++;
	special->row[rare->type[0]] += special->score[rare->ncolumns];
}

/* The last factor is 0 where all columns are looked at together, and left out. */
static void
set_scores(Special *special, int ncolumns, int most)
{
	double score = 1;

	for (int s = most; s >= 1; s--)
	{
		if (s < ncolumns)
			score *= ncolumns - s;
		special->score[s] = score;
	}
}

static void
put_special(const Risk *risk, const Special *special, const RowTypes *types)
{
	double highest = 0, sum = 0, rows = 0;

	for (uint32 i = 0; i < types->ntypes; i++)
	{
		highest = Max(highest, special->row[i]);
		sum += special->row[i];
		rows += special->row[i] > 0;
	}
	risk_put(risk, "special_uniques", NULL, rows, true, "rows that at most %d columns tell from all others",
			 risk->special);
	for (int s = 1; s <= risk->special; s++)
		risk_put(risk, psprintf("minimal_uniques_%d", s), NULL, special->sets[s], true,
				 "sets of columns, %d in each, that tell a row from all others, while no part of them does",
				 s);
	risk_put(risk, "suda_highest", NULL, highest, types->nrows > 0,
			 "highest SUDA score of a row: it grows with more and smaller sets");
	risk_put(risk, "suda_average", NULL, types->nrows > 0 ? sum / (double) types->nrows : 0, types->nrows > 0,
			 "the same score, averaged over all rows");
}

void
risk_special(const Risk *risk)
{
	RiskClasses *classes = risk_classes_read(risk, NULL);
	const RowTypes *types = classes->types;
	KanonProblem problem = {.env = &classes->border->env,
							.ncolumns = risk->source->nqis,
							.columns = types->columns,
							.ntypes = types->ntypes,
							.rows = types->rows,
							.time_limit = INFINITY};
	KanonKnown known = {.most = risk->special, .k = 2, .missing = KANON_MISSING_VALUE};
	Special special = {0};

	set_scores(&special, problem.ncolumns, risk->special);
	special.row = border_palloc(classes->border, sizeof(double) * (Size) Max(types->ntypes, 1));
	for (uint32 i = 0; i < types->ntypes; i++)
		special.row[i] = 0;
	border_check(classes->border, kanon_rare_find(&problem, &known, count_set, &special), "");
	put_special(risk, &special, types);
	risk_classes_free(classes);
}
