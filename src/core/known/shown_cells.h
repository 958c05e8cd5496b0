/*
 * shown_cells.h: which cells are blank, and how many rows show a combination.
 */
#ifndef KANON_SHOWN_CELLS_H
#define KANON_SHOWN_CELLS_H

#include "rare/rare.h"
#include "util/pace.h"
#include "util/scratch.h"

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
	size_t words;
	uint64_t **blank;        /* [ncolumns] */
	KanonValueShown **value; /* [ncolumns][distinct] */
} KanonShownCells;

/* Cells without a value are blank, no other. */
extern KanonStatus kanon_cells_open(KanonShownCells *cells);

extern void kanon_cells_blank(KanonShownCells *cells, uint32_t type, int column);
extern void kanon_cells_show(KanonShownCells *cells, uint32_t type, int column);

/* Is the cell blank, whether it has a value or not? */
static inline bool
kanon_cells_is_blank(const KanonShownCells *cells, uint32_t type, int column)
{
	return (cells->blank[column][type / 64] >> type % 64 & 1) != 0;
}

/* Has it a value that is not shown? */
static inline bool
kanon_cells_hides(const KanonShownCells *cells, uint32_t type, int column)
{
	const KanonColumn *source = &cells->problem->columns[column];

	return kanon_cells_is_blank(cells, type, column) &&
		   !(source->has_null && source->code[type] == source->distinct - 1);
}

/*
 * The rows that show what the row type has in these columns; no more are counted once there are `enough`.
 * types (or NULL) takes the row types, [enough].
 */
extern int64_t kanon_cells_count(const KanonShownCells *cells, uint32_t type, const int *column, int ncolumns,
								 int64_t enough, uint32_t *types, uint32_t *ntypes);

/*
 * Of the row types that show what one has in two columns the first ones: sets with these and further columns are mostly
 * counted among them.
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
extern int64_t kanon_cells_sample(const KanonShownCells *cells, uint32_t type, const int *column,
								  int64_t enough, KanonSample *sample);

/* As kanon_cells_count, of columns of which the first two are the sample's. */
extern int64_t kanon_cells_count_more(const KanonShownCells *cells, const KanonSample *sample, uint32_t type,
									  const int *column, int ncolumns, int64_t enough, uint32_t *types,
									  uint32_t *ntypes);

#endif
