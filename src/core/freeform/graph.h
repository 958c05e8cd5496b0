/*
 * graph.h: k-anonymity without classes.
 *
 * Every original row matches k published records, every record shows the values
 * of k rows: the generalisation graph is k-regular.  A record shows, column by
 * column, the set (or range) of its rows' values, or the lowest node of a hierarchy
 * that has them all below it; what was kept of a row goes with one of its k records,
 * each as likely as the others.
 *
 * Doka, Xue, Tsoumakos, Karras, "k-Anonymization by Freeform Generalization",
 * ASIACCS 2015.
 *
 * Rows may want different ks.  A match can be as likely as the others only among
 * rows that have as many, so that those of each k are a graph of their own, with
 * the nearest of the others where they are too few (freeform_own_k.c); k below is the part's.
 *
 * The rows of each such graph, in lexicographic order, are cut into parts, which are
 * solved each on its own, here or elsewhere:
 *
 *     kanon_freeform_begin
 *     for each part: kanon_freeform_part, kanon_freeform_solve, kanon_freeform_put
 *     kanon_freeform_end
 */
#ifndef KANON_GRAPH_H
#define KANON_GRAPH_H

#include "model/freeform_options.h"

/*
 * How a column is priced: in units of which a release that shows nothing costs
 * KANON_FREEFORM_UNITS a record, so that sums are whole numbers.
 */
#define KANON_FREEFORM_UNITS (INT32_C(1) << 26)

/* Costs of which what rounding hides could be a larger share are not proven. */
#define KANON_FREEFORM_SEEN 1e-4

typedef struct KanonFreeformColumn
{
	bool number;  /* (max - min) / (domain's); with neither this nor levels (distinct - 1) / (domain's - 1) */
	bool capped;  /* has NULL or infinities, further from all else than the domain */
	int32_t full; /* a cell that shows everything */
	int32_t step; /* another distinct value of a set */
	int levels; /* of its hierarchy between a value and everything, whose nodes come with the rows; 0: none */
} KanonFreeformColumn;

/* What there is to know of the table when a part is solved; flat. */
typedef struct KanonFreeformSpace
{
	KanonFreeformMethod method;
	bool symmetric;
	int ncolumns;                               /* quasi-identifiers */
	KanonFreeformColumn columns[KANON_MAX_QIS]; /* those of few values first */
	uint64_t seed;
	double deadline; /* of mip, by env->now; INFINITY: none */
	double gap;      /* of mip */
} KanonFreeformSpace;

/*
 * A part: its rows' values, column by column (a place on the scale of a number,
 * a code of any other; after that, level by level, the node that has it and what that
 * costs).
 */
typedef struct KanonFreeformPart
{
	uint32_t number;
	uint32_t n;
	uint32_t k;           /* matches of its rows and records */
	const int32_t *value; /* [kanon_freeform_width * n] */
} KanonFreeformPart;

/* What a part has of a row in the first ncolumns columns. */
static inline size_t
kanon_freeform_words(const KanonFreeformSpace *space, int ncolumns)
{
	size_t words = 0;

	for (int c = 0; c < ncolumns; c++)
		words += 1 + 2 * (size_t) space->columns[c].levels;
	return words;
}

/* All that it has of a row. */
static inline size_t
kanon_freeform_width(const KanonFreeformSpace *space)
{
	return kanon_freeform_words(space, space->ncolumns);
}

/* Its solution; memory is env's. */
typedef struct KanonFreeformGraph
{
	uint32_t n;
	uint32_t *start; /* [n + 1] */
	uint32_t *match; /* rows whose values record j shows, from start[j] on */
	uint32_t *given; /* [n] the row whose kept values record j has */
	double bound;    /* on the cost in units; -INFINITY: none */
	bool proven;
	int64_t nodes;
} KanonFreeformGraph;

typedef struct KanonFreeformPlan
{
	const KanonProblem *problem;
	KanonFreeformSpace space;
	int column[KANON_MAX_QIS];    /* the problem's (level 0), in the space's order */
	double weight[KANON_MAX_QIS]; /* of the space's columns, over all levels */
	uint32_t nrows;
	uint32_t nparts;
	uint32_t *first;               /* [nparts + 1] where the rows of a part begin */
	uint32_t *part_k;              /* [nparts] */
	uint32_t *type;                /* [nrows] row types, part by part, in lexicographic order */
	int32_t *scale[KANON_MAX_QIS]; /* [distinct] of the space's columns that are numbers */
	double range[KANON_MAX_QIS];   /* of these (kanon_number_range) */
	double range_scale[KANON_MAX_QIS];
	double *
		share[KANON_MAX_COLUMNS]; /* [distinct] of the problem's columns that are levels: what a node loses */
	/* what was put */
	KanonRelease release;
	size_t pool_room;
	size_t match_room; /* of the release's graph */
	double cost;
	double bound; /* in units */
	bool proven;
	int64_t nodes;
	uint32_t *scratch; /* codes of one cell */
	size_t scratch_room;
} KanonFreeformPlan;

/* freeform.c */

/* Rows that the relaxed methods take: they compare each with each. */
#define KANON_RELAXED_ROWS 50000

/*
 * Orders the rows.  KANON_TOO_LARGE, with a detail, where k is too large for the
 * rows or there are too many of them; KANON_UNSUPPORTED under rules beyond k.
 * kanon_freeform_free in any case.
 */
extern KanonStatus kanon_freeform_begin(const KanonProblem *problem, KanonFreeformPlan *plan,
										KanonReport *report);
extern void kanon_freeform_free(KanonFreeformPlan *plan);

/* Rows first .. first + n - 1 in the order of `type` are part p. */
extern void kanon_freeform_bounds(const KanonFreeformPlan *plan, uint32_t p, uint32_t *first, uint32_t *n);

/* Fills value[kanon_freeform_width * n] of a part. */
extern void kanon_freeform_values(const KanonFreeformPlan *plan, uint32_t p, int32_t *value);

/* The graph of a part: by itself, without the plan, in any process. */
extern KanonStatus kanon_freeform_solve(KanonEnv *env, const KanonFreeformSpace *space,
										KanonStrongRandom strong, const KanonFreeformPart *part,
										KanonFreeformGraph *graph, char *detail, size_t size);
extern void kanon_freeform_graph_free(KanonEnv *env, KanonFreeformGraph *graph);

/* freeform_release.c */

/* Checks the graph of part p, and keeps what its records show. */
extern KanonStatus kanon_freeform_put(KanonFreeformPlan *plan, uint32_t p, const KanonFreeformGraph *graph,
									  KanonReport *report);

/* The release, and its cost: the sum of weight times GCP (of nodes: NCP) over all cells. */
extern KanonStatus kanon_freeform_end(KanonFreeformPlan *plan, KanonRelease *release, KanonReport *report);

/* freeform.c: all of this at once; problem->freeform says how. */
extern KanonStatus kanon_solve_freeform(const KanonProblem *problem, KanonRelease *release,
										KanonReport *report);

/*
 * freeform_own_k.c: the rows, which are in lexicographic order, in parts: first, part_k, type.
 */
extern KanonStatus kanon_freeform_divide(KanonFreeformPlan *plan);

/* Bytes that solving a part of n rows takes, about; beside the plan. */
extern double kanon_freeform_memory(const KanonProblem *problem, uint32_t n);

/*
 * freeform_check.c: what can be said of a table and a published one alone.  A row
 * matches a record that shows its value, a range or set with its value, or
 * nothing in each column.
 */
typedef struct KanonFreeformFacts
{
	int64_t row_matches;    /* fewest records that a row matches; 0: there are no rows */
	int64_t record_matches; /* fewest rows that match a record */
	bool same_size;         /* as many records as rows */
	bool regular;       /* the graph has a k-regular subgraph; own ks: or as likely matches as they want */
	int64_t candidates; /* see kanon_freeform_check_known; 0: no assignment of all rows */
	enum
	{
		KANON_FACT_REGULAR,
		KANON_FACT_CANDIDATES
	} too_large; /* which fact it was, of KANON_TOO_LARGE */
} KanonFreeformFacts;

/*
 * Looks at the release's classes (rows), cells and pool.  Takes time and
 * memory with the number of matches.  problem->freeform: NULL, or with own ks, for
 * which `regular` asks for chances of all matches, each row's and record's together 1,
 * no match of a row with more than one by its k.
 */
extern KanonStatus kanon_freeform_check(const KanonProblem *problem, const KanonRelease *release, int64_t k,
										KanonFreeformFacts *facts);

/*
 * The same, and `candidates`.  A record is a candidate of a row if it is the row's in
 * some assignment of all rows to records that they match (Gionis, Mazza, Tassa 2008: a
 * match of the global model).  An attacker who knows the records of some other rows counts with
 * the assignments alone that have these: the fewest candidates that any row can be left
 * with, whichever `known` other rows these are and whichever records they can have.
 * Takes time with the matches to the power of known + 1: KANON_TOO_LARGE.
 */
extern KanonStatus kanon_freeform_check_known(const KanonProblem *problem, const KanonRelease *release,
											  int64_t k, int known, KanonFreeformFacts *facts);

/*
 * How the values of a column spread over the records that a row matches: value[nclasses]
 * below nvalues has those of the classes' records.  *distinct: the fewest that a row's
 * matches have; *share: the most that one has of them; 0 for no rows.
 */
extern KanonStatus kanon_freeform_check_values(const KanonProblem *problem, const KanonRelease *release,
											   const uint32_t *value, uint32_t nvalues, int64_t *distinct,
											   double *share);

/* As kanon_freeform_check, without `regular`, which takes the most. */
extern KanonStatus kanon_freeform_count(const KanonProblem *problem, const KanonRelease *release,
										KanonFreeformFacts *facts);

/*
 * KANON_BROKEN unless `written`, read back from where it was written, has the
 * records of `release`, whose graph was checked when it was finished.
 */
extern KanonStatus kanon_freeform_confirm(const KanonProblem *problem, const KanonRelease *release,
										  const KanonRelease *written, char *detail, size_t size);

#endif
