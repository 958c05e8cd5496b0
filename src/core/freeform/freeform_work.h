/*
 * freeform_work.h: graphs of k matches
 */
#ifndef KANON_FREEFORM_WORK_H
#define KANON_FREEFORM_WORK_H

#include "model/model.h"
#include "util/pace.h"
#include "util/scratch.h"

/*
 * ---- graph: k-anonymity without classes.
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
 * the nearest of the others where they are too few (freeform_release.c); k below is the part's.
 *
 * The rows of each such graph, in lexicographic order, are cut into parts, which are
 * solved each on its own, here or elsewhere:
 *
 *     kanon_freeform_begin
 *     for each part: kanon_freeform_part, kanon_freeform_solve, kanon_freeform_put
 *     kanon_freeform_end
 */

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

/* The table as a part's method sees it; flat. */
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

/* A row's part in the first ncolumns columns. */
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
 * freeform_release.c: the rows, which are in lexicographic order, in parts: first, part_k, type.
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
 * memory with the number of matches.  k of 0: the matches alone, without `regular`, which takes the most.
 * problem->freeform: NULL, or with own ks, for
 * which `regular` asks for chances of all matches, each row's and record's together 1,
 * no match of a row with more than one by its k.
 *
 * known: negative, or `candidates`, too.  A record is a candidate of a row if it is the row's in
 * some assignment of all rows to records that they match (Gionis, Mazza, Tassa 2008: a
 * match of the global model).  An attacker who knows the records of some other rows counts with
 * the assignments alone that have these: the fewest candidates that any row can be left
 * with, whichever `known` other rows these are and whichever records they can have.
 * Takes time with the matches to the power of known + 1: KANON_TOO_LARGE.
 */
extern KanonStatus kanon_freeform_check(const KanonProblem *problem, const KanonRelease *release, int64_t k,
										int known, KanonFreeformFacts *facts);

/*
 * How the values of a column spread over the records that a row matches: value[nclasses]
 * below nvalues has those of the classes' records.  *distinct: the fewest that a row's
 * matches have; *share: the most that one has of them; 0 for no rows.
 */
extern KanonStatus kanon_freeform_check_values(const KanonProblem *problem, const KanonRelease *release,
											   const uint32_t *value, uint32_t nvalues, int64_t *distinct,
											   double *share);

/*
 * KANON_BROKEN unless `written`, read back from where it was written, has the
 * records of `release`, whose graph was checked when it was finished.
 */
extern KanonStatus kanon_freeform_confirm(const KanonProblem *problem, const KanonRelease *release,
										  const KanonRelease *written, char *detail, size_t size);

/*
 * ---- freeform_work: one part while it is being solved.
 *
 * Record j belongs to row j, which always matches it; the methods add matches.  The
 * values that record j shows are kept as it grows.  So the growth of its cost by one
 * more row is computed quickly.
 */

#define FREEFORM_NONE UINT32_MAX

/*
 * The surcharge on the weights of records that are taken, and of those that a row
 * matches already; more than any weight, and all of it together still fits.
 */
#define FREEFORM_NEVER (INT32_C(1) << 30)
#define FREEFORM_HIDDEN (FREEFORM_NEVER / 2)

/* Vectors over the records are as long as a multiple of this. */
#define FREEFORM_BLOCK 64

/* freeform_draw.c */
typedef struct FreeformRandom
{
	KanonStrongRandom strong; /* NULL: state is all there is */
	uint64_t state;
	uint64_t pool[64];
	int left;
	bool failed; /* strong had nothing */
} FreeformRandom;

typedef struct FreeformWork
{
	KanonEnv *env;
	KanonScratch scratch; /* what lasts as long as the part */
	const KanonFreeformSpace *space;
	const KanonFreeformPart *part;
	KanonPace pace;
	FreeformRandom random;
	char *detail;
	size_t detail_size;

	uint32_t n;
	uint32_t k;      /* that rows and records are to match, at least */
	uint32_t padded; /* n, to whole blocks */
	uint32_t degree; /* matches that every row and record will have */
	int ncolumns;
	int32_t *value[KANON_MAX_QIS];   /* [padded] place, or number of the value in the part */
	uint32_t nvalues[KANON_MAX_QIS]; /* of sets */
	int32_t step[KANON_MAX_QIS];

	/* what records show */
	int32_t *low[KANON_MAX_QIS]; /* [padded] numbers */
	int32_t *high[KANON_MAX_QIS];
	uint32_t *set[KANON_MAX_QIS];   /* [n * room] others */
	uint32_t *count[KANON_MAX_QIS]; /* [n] */
	uint32_t room[KANON_MAX_QIS];
	uint32_t *node[KANON_MAX_QIS]; /* [padded] hierarchies */

	/* hierarchies: nodes of the part, the values first, above them level by level, everything last */
	uint32_t nnodes[KANON_MAX_QIS];
	uint32_t *parent[KANON_MAX_QIS]; /* [nnodes] a larger number; everything's is its own */
	int32_t *price[KANON_MAX_QIS];   /* [nnodes] */

	/* the graph; the first match of record j is row j */
	uint32_t *match;   /* [n * degree] rows of each record */
	uint32_t *nmatch;  /* [n] */
	uint32_t *target;  /* [n * degree] records of each row */
	uint32_t *ntarget; /* [n] */

	/* weights of one row against all records, column by column */
	int32_t *sum;                       /* [(ncolumns + 1) * padded] */
	uint32_t scanned;                   /* the row, or none */
	uint32_t *has[KANON_MAX_QIS];       /* records that show a value, value by value */
	uint32_t *has_start[KANON_MAX_QIS]; /* [nvalues + 1] */
	int32_t *miss[KANON_MAX_QIS];       /* [nvalues, or nnodes] scratch of growth */
	int32_t *closed;                    /* [padded] 0, or NEVER: not to be had */
} FreeformWork;

/* freeform_tree.c */

/* The nodes of a hierarchy that a part's rows have; values are numbered so that those of a node follow one another. */
extern KanonStatus freeform_tree_open(FreeformWork *work, int c);

/* The lowest node that has both below it, or is one of them. */
static inline uint32_t
freeform_join(const FreeformWork *work, int c, uint32_t a, uint32_t b)
{
	const uint32_t *parent = work->parent[c];

	while (a != b)
		if (a < b)
			a = parent[a];
		else
			b = parent[b];
	return a;
}

/* The cost of a record of node `from` with each other node: price[nnodes]. */
extern void freeform_joins(const FreeformWork *work, int c, uint32_t from, int32_t *price);

/* freeform_state.c */

/* Room for so many matches, and for so many rows that a record shows; work->scratch is the caller's to free. */
extern KanonStatus freeform_work_open(FreeformWork *work, uint32_t degree, uint32_t shown);

/* Row i now matches record j, which shows its values, too. */
extern void freeform_add(FreeformWork *work, uint32_t i, uint32_t j);

/* The values alone. */
extern void freeform_show(FreeformWork *work, uint32_t i, uint32_t j);

/* Record j shows the values of the rows that match it, and no others. */
extern void freeform_show_matches(FreeformWork *work, uint32_t j);

/* Row i no longer matches record j. */
extern void freeform_remove(FreeformWork *work, uint32_t i, uint32_t j);
extern bool freeform_matches(const FreeformWork *work, uint32_t i, uint32_t j);

/* By how much record j's cost would grow if row i matched it. */
extern int32_t freeform_weight(const FreeformWork *work, uint32_t i, uint32_t j);

/* Both ways, when matches are to be mutual. */
extern int32_t freeform_pair_weight(const FreeformWork *work, uint32_t i, uint32_t j);

/* Adds the growth of record j by each row to growth[padded]. */
extern void freeform_growth(FreeformWork *work, uint32_t j, int32_t *growth);

/* The records are as they will be for the next scans. */
extern KanonStatus freeform_scan_begin(FreeformWork *work);

/*
 * The weights of row i against all records (pair weights where the space is
 * symmetric), [padded]; good until the next scan.
 */
extern const int32_t *freeform_scan(FreeformWork *work, uint32_t i);

/*
 * The best open record for row i, which it does not match yet; the first of equal
 * ones; FREEFORM_NONE if there is none.
 */
extern uint32_t freeform_best(FreeformWork *work, uint32_t i);

/* The `room` best such records at most, cheapest first; how many there are. */
typedef struct FreeformChoice
{
	int32_t weight;
	uint32_t record;
} FreeformChoice;

/* Puts one into a list of the `room` best, in order; how many there are now. */
extern uint32_t freeform_choose(FreeformChoice *choice, uint32_t n, uint32_t room, FreeformChoice new);
extern uint32_t freeform_choices(FreeformWork *work, uint32_t i, FreeformChoice *choice, uint32_t room);

/* Hides the records that row i matches from best and choices, and shows them again. */
extern void freeform_hide(FreeformWork *work, uint32_t i);
extern void freeform_unhide(FreeformWork *work, uint32_t i);

/* freeform_rounds.c: greedy, sort_greedy */
extern KanonStatus freeform_greedy(FreeformWork *work);
extern KanonStatus freeform_sort_greedy(FreeformWork *work);

/*
 * freeform_exchange.c.  A round gives each row one more record: record[n].  Every
 * round so far must have been one of all rows, in the order of their matches.
 */
typedef KanonStatus (*FreeformRound)(void *arg, uint32_t *record);

/* Rounds made anew and rows exchanged, as long as that pays. */
extern KanonStatus freeform_improve(FreeformWork *work, FreeformRound make, void *arg);

/* Bytes that exchanges take beside the work, of graphs whose records all have `degree` matches. */
extern double freeform_exchange_memory(uint32_t n, uint32_t degree);

/* freeform_rounds.c: what rounds of mutual matches need */

/* Rows lacking a match get one at the expense of others' pairs. */
extern KanonStatus freeform_mend(FreeformWork *work, uint32_t degree);

/* A symmetric graph for a few rows: each matches its neighbours in a ring. */
extern void freeform_circle(FreeformWork *work, const uint32_t *rows, uint32_t n, uint32_t degree);

/* freeform_assign.c: hungarian, min_cost_flow */
extern KanonStatus freeform_hungarian(FreeformWork *work);
extern KanonStatus freeform_min_cost_flow(FreeformWork *work);

/* freeform_rounds.c: a ring in each group of rows */
extern KanonStatus freeform_ring(FreeformWork *work);

/* freeform_relaxed.c: make the graph, of any degrees, by themselves */
extern KanonStatus freeform_relaxed(FreeformWork *work, KanonFreeformGraph *graph);
extern KanonStatus freeform_concealment(FreeformWork *work, KanonFreeformGraph *graph);

/* freeform_mip.c: likewise; all records have k matches */
extern KanonStatus freeform_mip(FreeformWork *work, KanonFreeformGraph *graph);

/* freeform_draw.c: some assignment among the matches so far, all rows having as many: record[n]. */
extern KanonStatus freeform_matching(FreeformWork *work, FreeformRandom *random, uint32_t *record);

/* Fills graph->given. */
extern KanonStatus freeform_draw(FreeformWork *work, KanonFreeformGraph *graph);

/* Candidates to match: class i with the row types type[start[i]..start[i + 1]). */
typedef struct FreeformMatches
{
	const size_t *start;
	const uint32_t *type;
} FreeformMatches;

/*
 * freeform_flow.c: is there a graph in which each of as many records as rows has
 * exactly k, among these matches?  own: can
 * the rows' own ks be kept (freeform_work.h)?  flow: NULL, or [start[nclasses]] how often each
 * is used.  KANON_TOO_LARGE where own ks have no common multiple to count with.
 */
extern KanonStatus kanon_freeform_regular(const KanonProblem *problem, const KanonRelease *release, int64_t k,
										  bool own, FreeformMatches matches, KanonPace *pace, int64_t *flow,
										  bool *regular);

/*
 * freeform_known.c: the fewest records that can be a row's own for somebody who knows
 * those of `known` other rows (freeform_work.h).
 */
extern KanonStatus kanon_freeform_known(const KanonProblem *problem, const KanonRelease *release,
										uint32_t known, const size_t *start, const uint32_t *type,
										KanonPace *pace, int64_t *candidates);

/* ---- freeform_sets.c: sets of k rows that cost less than their rows are worth, for freeform_mip.c ---- */

/* A set that was found; its types are set[slot * k ..]. */
typedef struct FreeformSet
{
	double reduced; /* cost less prices */
	double cost;    /* of a record that shows it; 1: nothing is shown */
	uint32_t slot;
} FreeformSet;

typedef struct FreeformSets
{
	FreeformWork *work;
	KanonPace *pace;
	KanonScratch *scratch;
	/* equal rows are a type, of which a set has as many as there are at most */
	uint32_t ntypes;
	const uint32_t *first; /* [ntypes] a row of each */
	const uint32_t *rows;  /* [ntypes] */
	double *price;         /* [ntypes] */

	/* what is looked for: sets of a reduced cost of at most `limit`; no more than `most`, the least */
	double limit;
	size_t most;

	/* what was found */
	size_t n;
	FreeformSet *found; /* [n] */
	uint32_t *set;      /* types, ascending */
	bool cut;           /* there are more */
	bool late;          /* time has ended: who knows */
	size_t room;

	/* while it is looked for */
	uint32_t *order;  /* [ntypes] types by price, the highest first */
	uint32_t *chosen; /* [k] */
	int32_t *low;     /* [(k + 1) * ncolumns] numbers; of hierarchies the node */
	int32_t *high;
} FreeformSets;

/* In memory of the scratch. */
extern KanonStatus freeform_sets_open(FreeformSets *sets);

/* Fills found[n], the least reduced cost first. */
extern KanonStatus freeform_sets_find(FreeformSets *sets);

/* ---- freeform_tree.c: what nodes of hierarchies cost, before there are parts ---- */

/* The loss of each node of the space's column c: fills plan->share of its levels. */
extern KanonStatus freeform_tree_price(KanonFreeformPlan *plan, int c);

/* In units, of the node that a row type has at a level (0: its value; after the last level: everything). */
extern int32_t freeform_tree_cost(const KanonFreeformPlan *plan, int c, int level, uint32_t type);

/* The lowest level at which two row types have the same node; after the last one there is everything. */
extern int freeform_tree_meet(const KanonFreeformPlan *plan, int c, uint32_t a, uint32_t b);

#endif
