/*
 * fixture.h: what the core's tests and benchmarks stand on: a host with malloc,
 * tables from files or from chance, problems made of them.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <stdio.h>

#include "kanon.h"

/* A host that counts, and refuses or cancels when told to. */
typedef struct Host
{
	KanonEnv env;
	size_t live;          /* bytes in use */
	size_t peak;          /* most ever in use */
	size_t blocks;        /* in use */
	size_t budget;        /* most bytes to hand out; 0: no limit */
	uint64_t allocations; /* asked for so far */
	uint64_t refuse_at;   /* the number of the one to refuse; 0: none */
	bool for_good;        /* and of all after it */
	uint64_t polls;
	uint64_t cancel_at; /* the poll to answer with yes; 0: none */
	uint64_t since;     /* allocations asked for after that */
	double last_poll;
	double longest;      /* seconds between two polls, at most */
	KanonProgress told;  /* the last that had bounds */
	const char *watched; /* a phase of which … */
	double share;        /* … this share was told last, */
	int shares;          /* so many that were larger than the one before, */
	bool backwards;      /* and one that was less */
	uint64_t looks;      /* at its clock, while the true time does not go by */
} Host;

extern void host_init(Host *host);

/* From here on a second passes each time that somebody looks at the host's clock, which begins at 0. */
extern void host_tick(Host *host);

/* The true time goes by; before that it is what is looked at (host_now), and from host_init on again. */
extern bool fixture_true_time;

/* From here on. */
extern void fixture_take_time(void);

/* A table of texts, row by row. */
typedef struct Table
{
	size_t nrows;
	int ncolumns;
	char **cell; /* [nrows * ncolumns] */
} Table;

/* NULL when there is no such file. */
extern Table *table_read(const char *path);
extern void table_free(Table *table);

/*
 * A problem over some columns of a table: all combinations, unit weights.  A
 * bit in numerical marks the columns (of the problem) to be read as numbers.
 */
extern KanonProblem *problem_make(Host *host, const Table *table, const int *column, int ncolumns,
								  uint64_t numerical, int64_t k);

/* The same over codes, row by row, of which equal rows become one row type. */
extern KanonProblem *problem_from_codes(Host *host, const uint32_t *code, size_t nrows, int ncolumns,
										int64_t k);
extern void problem_free(KanonProblem *problem);

/*
 * A problem by chance: at most so many rows and columns; any mask, weights, levels,
 * order, residual and k.  The mask's list and rules are the problem's.
 */
extern KanonProblem *problem_random(Host *host, uint64_t *random, size_t max_rows, int max_columns);
extern void problem_random_free(KanonProblem *problem);

/*
 * Makes some columns levels of the one before, by chance: rows that agree there
 * agree here.  level[ncolumns] is for problem_set_levels, once the problem is made.
 */
extern void codes_nest(uint64_t *random, uint32_t *code, size_t nrows, int ncolumns, int *level);
extern void problem_set_levels(KanonProblem *problem, const int *level);

/*
 * Every combination of levels by chance: so many quasi-identifiers with levels
 * that nest, at most max_height of them; the first may be of numbers.
 */
extern KanonProblem *problem_random_levels(Host *host, uint64_t *random, size_t nrows, int nqis,
										   int max_height, int64_t k);

/*
 * A table with a header whose columns have hierarchies: DIRECTORY/TABLE.csv and
 * DIRECTORY/HIERARCHIES/COLUMN.csv, the last level of which is suppression.
 * NULL when there is no such file.
 */
extern KanonProblem *problem_read_levels(Host *host, const char *directory, const char *table,
										 const char *hierarchies, int64_t k);

/* A number of random cases; KANON_TEST_SHARE per cent of them, and one. */
extern int cases(int number);

/* The same, but so many where KANON_TEST_SHARE asks for all of them. */
extern int cases_or(int number, int all);

/* Are real tables wanted, and all that takes as long?  Under the sanitizers they take minutes, and so small a share leaves them out. */
extern bool real_tables(void);

/* True if the problem's mask allows the pattern. */
extern bool fixture_allows(const KanonProblem *problem, KanonPattern pattern);

/* The number of the next allocation or poll to fail: each; with KANON_TEST_SHARE each of the first, then ever fewer. */
extern uint64_t next_failure(uint64_t at);

/*
 * while (fails_again(&failure)) is for what has to bear every failure: fail_at() before each run, its status after it.
 * The runs end with the first that nothing has happened to.
 */
typedef struct Failure
{
	KanonStatus
		how;     /* KANON_NO_MEMORY: an allocation is refused; KANON_CANCELLED: a poll is answered with yes */
	uint64_t at; /* which one */
	KanonStatus status;
} Failure;
extern bool fails_again(Failure *failure);
extern void fail_at(Host *host, const Failure *failure);

/* A stream of random numbers, the same everywhere. */
extern uint64_t random_next(uint64_t *state);
extern uint32_t random_below(uint64_t *state, uint32_t bound);

/* Each of the first columns or not. */
extern KanonPattern random_columns(uint64_t *random, int ncolumns);

/* Adult with 14 or 20 quasi-identifiers; how the six are derived: fixture.c. */
extern Table *adult_widen(const Table *adult);
extern const int adult14[14];

/*
 * Of counts that were expected and found: chi-square over its degrees of freedom, in standard
 * deviations (Wilson, Hilferty): above 5 has a chance of one in millions.
 */
extern double deviation(const double *expected, const double *found, int n);

/* Row types that shared a class share one, or are all left out; none that was in one class is in several. */
extern bool stay_together(const KanonPrevious *previous, const KanonRelease *release);

#endif
