/*
 * freeform_work.h: one part while it is being solved.
 *
 * Record j belongs to row j, which always matches it; the methods add matches.
 * What record j shows is kept as it grows, so that the growth of its cost by one
 * more row can be told quickly.
 */
#ifndef KANON_FREEFORM_WORK_H
#define KANON_FREEFORM_WORK_H

#include "freeform/graph.h"
#include "util/pace.h"
#include "util/scratch.h"

#define FREEFORM_NONE UINT32_MAX

/*
 * What is added to the weights of records that are taken, and of those that a row
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

/* What a record of node `from` would cost with each other: price[nnodes]. */
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
 * freeform_revisit.c.  A round gives each row one more record: record[n].  Every
 * round so far must have been one of all rows, in the order of their matches.
 */
typedef KanonStatus (*FreeformRound)(void *arg, uint32_t *record);

/* Rounds made anew and rows exchanged, as long as that pays. */
extern KanonStatus freeform_improve(FreeformWork *work, FreeformRound make, void *arg);

/* freeform_exchange.c: of graphs whose records all have `degree` matches. */
extern KanonStatus freeform_exchange(FreeformWork *work);

/* freeform_mutual.c: what rounds of mutual matches need */

/* Rows lacking a match get one at the expense of others' pairs. */
extern KanonStatus freeform_mend(FreeformWork *work, uint32_t degree);

/* A symmetric graph for a few rows: each matches its neighbours in a ring. */
extern void freeform_circle(FreeformWork *work, const uint32_t *rows, uint32_t n, uint32_t degree);

/* freeform_assign.c: hungarian, min_cost_flow */
extern KanonStatus freeform_hungarian(FreeformWork *work);
extern KanonStatus freeform_min_cost_flow(FreeformWork *work);

/* freeform_ring.c */
extern KanonStatus freeform_ring(FreeformWork *work);

/* freeform_relaxed.c: which rows each record shows, whether they were to or not */
typedef struct FreeformShown
{
	FreeformWork *work;
	uint32_t n;
	size_t words;
	uint64_t *bit;          /* [n * words] record by record */
	int32_t *growth;        /* [padded] of the record that was noted last, by each row */
	uint32_t *count;        /* [n] records that show each row */
	FreeformChoice *choice; /* [k] */
} FreeformShown;

/* Nothing is noted yet; in memory of work->scratch.  false: no memory. */
extern bool freeform_shown_open(FreeformShown *s, FreeformWork *work);

extern bool freeform_is_shown(const FreeformShown *s, uint32_t j, uint32_t i);

/* The next row from `from` on that record j shows; n if there is none. */
extern uint32_t freeform_next_shown(const FreeformShown *s, uint32_t j, uint32_t from);

/* Notes what record j shows now. */
extern KanonStatus freeform_note(FreeformShown *s, uint32_t j);

/* Each record shows k rows; after notes of all records, each row is shown by k of them. */
extern KanonStatus freeform_show_rows(FreeformShown *s);
extern KanonStatus freeform_be_shown(FreeformShown *s);

/* All that is shown becomes the graph. */
extern KanonStatus freeform_shown_graph(const FreeformShown *s, KanonFreeformGraph *graph);

/* freeform_relaxed.c, freeform_conceal.c: make the graph, of any degrees, by themselves */
extern KanonStatus freeform_relaxed(FreeformWork *work, KanonFreeformGraph *graph);
extern KanonStatus freeform_concealment(FreeformWork *work, KanonFreeformGraph *graph);

/* freeform_mip.c: likewise; all records have k matches */
extern KanonStatus freeform_mip(FreeformWork *work, KanonFreeformGraph *graph);

/* freeform_draw.c */
extern uint32_t freeform_below(FreeformRandom *random, uint32_t bound);

/* Some assignment among the matches so far, all rows having as many: record[n]. */
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
 * the rows' own ks be kept (graph.h)?  flow: NULL, or [start[nclasses]] how often each
 * is used.  KANON_TOO_LARGE where own ks have no common multiple to count with.
 */
extern KanonStatus kanon_freeform_regular(const KanonProblem *problem, const KanonRelease *release, int64_t k,
										  bool own, FreeformMatches matches, KanonPace *pace, int64_t *flow,
										  bool *regular);

/*
 * freeform_known.c: the fewest records that can be a row's own for somebody who knows
 * those of `known` other rows (graph.h).
 */
extern KanonStatus kanon_freeform_known(const KanonProblem *problem, const KanonRelease *release,
										uint32_t known, const size_t *start, const uint32_t *type,
										KanonPace *pace, int64_t *candidates);

#endif
