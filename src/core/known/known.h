/*
 * known.h: releases that hold against an attacker who knows few columns of a person
 */
#ifndef KANON_KNOWN_H
#define KANON_KNOWN_H

#include "rare/rare.h"
#include "util/pace.h"
#include "util/scratch.h"

/* ---- known: releases against somebody who knows few columns of a person ---- */

/*
 * Blanks cells until no combination that problem->known asks for is rare: greedily, then gives back what need not be
 * blank.  There are no privacy rules and other limits; the mask may be any.  NULL of the source counts as a
 * blank cell, or (KANON_MISSING_VALUE) as a value that is blanked as others are; known->blank is NULL.  time_limit ends
 * the giving back alone.
 */
extern KanonStatus kanon_solve_known_greedy(const KanonProblem *problem, KanonRelease *release,
											KanonReport *report);

/*
 * The same near another release (NULL: there is none).  Row types that were in it show no more than
 * they did there, and what they show is shown by k rows that were there, too: a reader who keeps
 * both and knows a person in both has k to choose from.  Other rows show what the sum allows.
 */
extern KanonStatus kanon_solve_known_near(const KanonProblem *problem, const KanonPrevious *previous,
										  KanonRelease *release, KanonReport *report);

/* greedy several times, with weights bent at random: the least of them, and a bound. */
extern KanonStatus kanon_solve_known_improve(const KanonProblem *problem, KanonRelease *release,
											 KanonReport *report);

/*
 * The proven least, by integer programming (GLPK), of small tables: KANON_TOO_LARGE where there are too many rare
 * combinations.  When time is up the best release so far stands, with a bound.
 */
extern KanonStatus kanon_solve_known_ilp(const KanonProblem *problem, KanonRelease *release,
										 KanonReport *report);

/* One turn of greedy, each cell weighing a little more or up to one and a half times as much, by the turn; 0: as it does. */
extern KanonStatus kanon_solve_known_turn(const KanonProblem *problem, uint64_t turn, KanonRelease *release,
										  KanonReport *report);

/* ---- shown_cells.c: which cells are blank, and how many rows show a combination ---- */

/* The row types with a value. */
typedef struct KanonValueShown
{
	uint32_t *type; /* [n] all of them, ascending */
	uint32_t n;
	uint64_t *shown; /* bits of those whose cell is not blank; NULL: they are few */
} KanonValueShown;

typedef struct KanonShownCells
{
	const KanonProblem *problem;
	KanonScratch *scratch;
	KanonPace *pace;
	size_t words;            /* of bits for all row types, and some beyond */
	uint64_t **blank;        /* [ncolumns] */
	KanonValueShown **value; /* [ncolumns][distinct] */
	const uint32_t
		*person;     /* [ntypes] whose rows a type has, where persons are counted and not rows; else NULL */
	uint64_t *met;   /* [npersons] the count that met each last, */
	uint64_t counts; /* of so many */
	uint32_t nobody; /* a person who is not counted; UINT32_MAX: all are */
} KanonShownCells;

/* Cells without a value are blank, no other; where NULL is a value, none. */
extern KanonStatus kanon_cells_open(KanonShownCells *cells);

extern void kanon_cells_blank(KanonShownCells *cells, uint32_t type, int column);
extern void kanon_cells_show(KanonShownCells *cells, uint32_t type, int column);

/* Is the cell blank, whether it has a value or not? */
static inline bool
kanon_cells_is_blank(const KanonShownCells *cells, uint32_t type, int column)
{
	return (cells->blank[column][type / 64] >> type % 64 & 1) != 0;
}

/* Is NULL of the source no value there? */
static inline bool
kanon_known_no_value(const KanonProblem *problem, uint32_t type, int column)
{
	const KanonColumn *source = &problem->columns[column];

	return problem->known->missing != KANON_MISSING_VALUE && source->has_null &&
		   source->code[type] == source->distinct - 1;
}

/* Has it a value that is not shown? */
static inline bool
kanon_cells_hides(const KanonShownCells *cells, uint32_t type, int column)
{
	return kanon_cells_is_blank(cells, type, column) && !kanon_known_no_value(cells->problem, type, column);
}

/*
 * The rows (or persons) that show what the row type has in these columns; no more are counted once there are `enough`.
 * types (or NULL) takes the row types, [enough]; with persons [ntypes].
 */
extern int64_t kanon_cells_count(KanonShownCells *cells, uint32_t type, const int *column, int ncolumns,
								 int64_t enough, uint32_t *types, uint32_t *ntypes);

/*
 * The first of the row types that show one type's values in two columns: sets with these and
 * further columns are mostly counted among them.
 */
#ifndef KANON_SAMPLED
#define KANON_SAMPLED 128
#endif

typedef struct KanonSample
{
	uint32_t type[KANON_SAMPLED];
	uint32_t n;
	bool all; /* there are no others */
} KanonSample;

/* The same number, and the sample; `enough` is at most KANON_SAMPLED, else there is none. */
extern int64_t kanon_cells_sample(KanonShownCells *cells, uint32_t type, const int *column, int64_t enough,
								  KanonSample *sample);

/* As kanon_cells_count, of columns of which the first two are the sample's. */
extern int64_t kanon_cells_count_more(KanonShownCells *cells, const KanonSample *sample, uint32_t type,
									  const int *column, int ncolumns, int64_t enough, uint32_t *types,
									  uint32_t *ntypes);

/* ---- known_counts.c: the rows that show each combination, counted on as cells go and come back ---- */

typedef struct KanonKnownCounts KanonKnownCounts;

/* k rows have been fewer since the row type lost a cell: it still shows the others of these columns. */
typedef void (*KanonCountsRare)(void *arg, uint32_t type, const int *column, int ncolumns, int64_t k);

/*
 * Counts the rows of all combinations as the cells are now, none of which shows a value of fewer than k rows.
 * NULL in *counts: there are too many, or too little memory.  Cells and what is known must outlive it.
 */
extern KanonStatus kanon_counts_open(KanonShownCells *cells, const KanonKnown *known,
									 KanonKnownCounts **counts);
extern void kanon_counts_close(KanonKnownCounts *counts); /* NULL, too */

/* The row type has lost a column, and shows those others: its rows are counted there no more. */
extern void kanon_counts_take(KanonKnownCounts *counts, uint32_t type, KanonPattern shown, int column,
							  KanonCountsRare rare, void *arg);

/* It shows the column again. */
extern void kanon_counts_add(KanonKnownCounts *counts, uint32_t type, KanonPattern shown, int column);

/* Has each combination k rows, once it does? */
extern bool kanon_counts_fit(KanonKnownCounts *counts, uint32_t type, KanonPattern shown, int column);

/* Were there rows that could not be taken away since the last question?  Then more may be rare than was told. */
extern bool kanon_counts_unsure(KanonKnownCounts *counts);

/* The rows that agree with what the row type has in these columns: a blank cell agrees with every value, its own, too. */
extern int64_t kanon_cells_agree(const KanonShownCells *cells, uint32_t type, const int *column, int ncolumns,
								 int64_t enough);

/* ---- shown_cells.c, too: a release that shows what is not blank ---- */

/*
 * Row types that show the same are a class.  With an index (or NULL: every pattern is allowed) a pattern is the allowed
 * one: it has hidden cells, and cells without a value.  The caller frees the release whatever the status.
 */
extern KanonStatus kanon_known_release(const KanonShownCells *cells, const KanonMaskIndex *index,
									   KanonRelease *release, KanonReport *report);

/* A release with a class for each row type, without cells; then what the class's pattern leaves of the type's. */
extern KanonStatus known_release_open(const KanonProblem *problem, KanonRelease *release);
extern void known_release_show(const KanonProblem *problem, KanonRelease *release, uint32_t type);

/* ---- known_counts.c: for each row type, the sets of columns in which its combination is rare ---- */

/* Columns of a set that is listed, at most. */
#define KANON_LISTED_MOST 16

typedef struct KanonListedSet
{
	uint8_t ncolumns;
	uint8_t column[KANON_LISTED_MOST];
} KanonListedSet;

typedef struct KanonListPart KanonListPart;

typedef struct KanonRareList
{
	KanonScratch scratch; /* all of it, but for what is by row type */
	uint32_t *first;      /* [ntypes] parts; 0: none */
	uint32_t *last;       /* [ntypes] number of the set that was added last */
	KanonListPart **block;
	size_t nblocks, room;
	uint32_t nparts;
	KanonListedSet *set;
	size_t nsets, set_room;
} KanonRareList;

extern KanonStatus kanon_list_open(KanonRareList *list, const KanonProblem *problem, KanonScratch *scratch);

/* The same set as the last one keeps its number. */
extern bool kanon_list_set(KanonRareList *list, const int *column, int ncolumns);

/* The row type's combination in that set; false: there is no more room. */
extern bool kanon_list_add(KanonRareList *list, uint32_t type);

static inline bool
kanon_list_is_empty(const KanonRareList *list)
{
	return list->nparts <= 1;
}

/* The sets of a row type into sets[room]; how many there are. */
extern size_t kanon_list_read(const KanonRareList *list, uint32_t type, uint32_t *sets, size_t room);

/* Forgets all of it, and gives the memory back. */
extern void kanon_list_clear(KanonRareList *list, const KanonProblem *problem);

/* ---- the state of greedy ---- */

/* Cells that were blanked, of which combinations lost a row. */
typedef struct KnownLost
{
	uint32_t type;
	int column;
} KnownLost;

typedef struct KnownGreedy
{
	KanonProblem here; /* the problem; its rows are at first those that were there before */
	const KanonProblem *problem;
	const KanonKnown *known;
	KanonPace pace;
	KanonScratch scratch;
	KanonShownCells cells;
	uint64_t *
		*fixed; /* [ncolumns] cells that are not shown again, of a release that stays near another; or NULL */
	uint64_t *const *kept; /* [ncolumns] cells that are not blanked, or NULL: any may be */
	KanonMaskIndex *index; /* where not every pattern is allowed; or NULL */
	bool agree;            /* a blank cell agrees with every value */
	KanonRareList list;
	KanonKnownCounts *counts; /* where much is lost; or NULL */
	KanonStatus status;       /* of what is found on the way */
	KnownLost *lost;          /* [nlost] */
	size_t nlost, lost_room;
	uint32_t *sets; /* [sets_room] of a row type */
	size_t sets_room;
	uint32_t *rest; /* row types that are left of a combination */
	size_t rest_room;
	uint64_t turn;       /* weights are taken as this turn bends them; 0: as they are */
	uint64_t **followed; /* [ncolumns] blank cells of which no combination has to be counted any more */
	KanonPattern over;   /* those of the row type that is looked at */
	int column[KANON_LISTED_MOST]; /* of the set that is looked at */
	KanonSample sample;            /* of its first two */
	int order
		[KANON_MAX_COLUMNS]; /* [norder] columns that the row type shows, those with the rarest value first */
	int norder;
} KnownGreedy;

static inline void
known_fail(KnownGreedy *g, KanonStatus status)
{
	if (g->status == KANON_OK)
		g->status = status;
}

/* The weight of a cell in this turn: more by a hundredth at most, or by up to a half. */
extern double known_weight(const KnownGreedy *g, uint32_t type, int column);

/* The rows that show what the row type has in the set; of each with two columns a sample is taken first. */
extern int64_t known_count_shown(KnownGreedy *g, uint32_t type, int ncolumns, int64_t enough, uint32_t *types,
								 uint32_t *ntypes);

/* Opens it, and blanks cells until nothing is rare; the scratch is freed by the caller, whatever the status. */
extern KanonStatus known_blank(KnownGreedy *g);

/* known_levels.c: the same of a problem with levels, near another release or not (previous: NULL). */
extern KanonStatus known_solve_levels(const KanonProblem *problem, const KanonPrevious *previous,
									  uint64_t turn, KanonRelease *release, KanonReport *report);

/* known_improve.c: shows every cell again that makes no combination rare, and that the mask lets be shown. */
extern void known_give_back(KnownGreedy *g);

/* ---- known_any.c: where a blank cell agrees with every value ---- */

/* Takes the sets away in which enough rows agree with the row type by now; the number of the others. */
extern size_t known_still_rare(KnownGreedy *g, uint32_t type, uint32_t *sets, size_t n);

/* Shows cells again, of tables that are small, where enough rows still agree with all that is shown. */
extern void known_give_back_any(KnownGreedy *g);

/* ---- known_levels.c: which cells of a row may be blank together ---- */

/* Opens the index unless every pattern is allowed. */
extern KanonStatus known_mask_open(const KanonProblem *problem, KanonMaskIndex **index);

/* The allowed pattern that suppresses these columns of the row type, and costs least beside: cells without a value are free. */
extern KanonPattern known_cover(const KanonShownCells *cells, const KanonMaskIndex *index, uint32_t type,
								KanonPattern gone);

/* The columns of the row type that are blank and have a value. */
extern KanonPattern known_hidden(const KnownGreedy *g, uint32_t type);

/* The cost of one more column, and of those that then have to go. */
extern double known_cost_of(const KnownGreedy *g, uint32_t type, int column);

/* The hidden columns that are shown again with this one; none: the mask does not let it be shown. */
extern KanonPattern known_back_together(const KnownGreedy *g, uint32_t type, int column);

#endif
