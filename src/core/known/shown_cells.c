/*
 * shown_cells.c: which cells are blank, and how many rows show a combination; the release of the cells that are
 * left.
 *
 * A value that many row types have gets a bit for each row type that shows it.  So a combination of such values is
 * counted 64 row types at a time.  In the release each row type has a class of its own; kanon_release_finish joins
 * the classes that show the same.
 */
#include <string.h>

#include "known/known.h"
#include "util/number.h"

/* Words that are looked at in one go: vectors hold some. */
#define AT_ONCE 8

/* Row types of a value in a column, by the value. */
static KanonStatus
list_values(KanonShownCells *cells, int c)
{
	const KanonProblem *problem = cells->problem;
	const KanonColumn *column = &problem->columns[c];
	KanonValueShown *value = kanon_take0(cells->scratch, column->distinct, sizeof(KanonValueShown));
	uint32_t *types = kanon_take(cells->scratch, problem->ntypes, sizeof(uint32_t));
	uint32_t at = 0;

	cells->value[c] = value;
	if (cells->scratch->failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		value[column->code[i]].n++;
	for (uint32_t v = 0; v < column->distinct; v++)
	{
		value[v].type = types + at;
		at += value[v].n;
		if (value[v].n > 2 * cells->words &&
			(value[v].shown = kanon_take0(cells->scratch, cells->words, sizeof(uint64_t))) == NULL)
			return KANON_NO_MEMORY;
		value[v].n = 0;
	}
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		KanonValueShown *of = &value[column->code[i]];

		of->type[of->n++] = i;
		if (of->shown != NULL)
			of->shown[i / 64] |= UINT64_C(1) << i % 64;
	}
	return kanon_stop(cells->pace, problem->ntypes) ? KANON_CANCELLED : KANON_OK;
}

KanonStatus
kanon_cells_open(KanonShownCells *cells)
{
	const KanonProblem *problem = cells->problem;
	size_t columns = (size_t) problem->ncolumns;
	KanonStatus status;

	cells->words = ((size_t) problem->ntypes + 64 * AT_ONCE - 1) / (64 * AT_ONCE) * AT_ONCE;
	cells->blank = kanon_take0(cells->scratch, columns, sizeof(uint64_t *));
	cells->value = kanon_take0(cells->scratch, columns, sizeof(KanonValueShown *));
	cells->person = problem->known->person;
	cells->nobody = UINT32_MAX;
	if (cells->person != NULL)
		cells->met = kanon_take0(cells->scratch, problem->known->npersons, sizeof(uint64_t));
	status = kanon_taken(cells->scratch);
	for (int c = 0; c < problem->ncolumns && status == KANON_OK; c++)
	{
		cells->blank[c] = kanon_take0(cells->scratch, cells->words, sizeof(uint64_t));
		status = cells->blank[c] == NULL ? KANON_NO_MEMORY : list_values(cells, c);
		if (status == KANON_OK && problem->columns[c].has_null &&
			problem->known->missing != KANON_MISSING_VALUE)
		{
			const KanonValueShown *null = &cells->value[c][problem->columns[c].distinct - 1];

			for (uint32_t i = 0; i < null->n; i++)
				kanon_cells_blank(cells, null->type[i], c);
		}
	}
	return status;
}

void
kanon_cells_blank(KanonShownCells *cells, uint32_t type, int column)
{
	KanonValueShown *value = &cells->value[column][cells->problem->columns[column].code[type]];
	uint64_t bit = UINT64_C(1) << type % 64;

	cells->blank[column][type / 64] |= bit;
	if (value->shown != NULL)
		value->shown[type / 64] &= ~bit;
}

void
kanon_cells_show(KanonShownCells *cells, uint32_t type, int column)
{
	KanonValueShown *value = &cells->value[column][cells->problem->columns[column].code[type]];
	uint64_t bit = UINT64_C(1) << type % 64;

	cells->blank[column][type / 64] &= ~bit;
	if (value->shown != NULL)
		value->shown[type / 64] |= bit;
}

/* Another row type is met: its rows, or its person who was not met yet. */
static inline int64_t
counted(KanonShownCells *cells, uint32_t type)
{
	uint32_t person;

	if (cells->person == NULL)
		return cells->problem->rows[type];
	person = cells->person[type];
	if (person == cells->nobody || cells->met[person] == cells->counts)
		return 0;
	cells->met[person] = cells->counts;
	return 1;
}

/* One by one, from the value that the fewest have. */
static int64_t
count_listed(KanonShownCells *cells, const KanonValueShown *rarest, uint32_t type, const int *column,
			 int ncolumns, int64_t enough, uint32_t *types, uint32_t *ntypes)
{
	const KanonColumn *columns = cells->problem->columns;
	int64_t rows = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < rarest->n && rows < enough; i++)
	{
		uint32_t other = rarest->type[i];
		int at = 0;

		while (at < ncolumns && columns[column[at]].code[other] == columns[column[at]].code[type] &&
			   !kanon_cells_is_blank(cells, other, column[at]))
			at++;
		if (at < ncolumns)
			continue;
		rows += counted(cells, other);
		if (types != NULL && rows < enough)
			types[n++] = other;
	}
	if (types != NULL)
		*ntypes = n;
	return rows;
}

int64_t
kanon_cells_count(KanonShownCells *cells, uint32_t type, const int *column, int ncolumns, int64_t enough,
				  uint32_t *types, uint32_t *ntypes)
{
	const uint64_t *shown[KANON_MAX_COLUMNS];
	const KanonValueShown *rarest = NULL;
	int64_t rows = 0;
	uint32_t n = 0;
	int nshown = 0;

	cells->counts++;
	for (int i = 0; i < ncolumns; i++)
	{
		const KanonValueShown *value =
			&cells->value[column[i]][cells->problem->columns[column[i]].code[type]];

		if (rarest == NULL || value->n < rarest->n)
			rarest = value;
		if (value->shown != NULL)
			shown[nshown++] = value->shown;
	}
	if (nshown < ncolumns)
		return count_listed(cells, rarest, type, column, ncolumns, enough, types, ntypes);
	for (size_t w = 0; w < cells->words && rows < enough; w++)
	{
		uint64_t all = shown[0][w];

		for (int i = 1; i < nshown; i++)
			all &= shown[i][w];
		for (; all != 0 && rows < enough; all &= all - 1)
		{
			uint32_t other = (uint32_t) (w * 64) + (uint32_t) __builtin_ctzll(all);

			rows += counted(cells, other);
			if (types != NULL && rows < enough)
				types[n++] = other;
		}
	}
	if (types != NULL)
		*ntypes = n;
	return rows;
}

int64_t
kanon_cells_sample(KanonShownCells *cells, uint32_t type, const int *column, int64_t enough,
				   KanonSample *sample)
{
	int64_t most = enough > KANON_SAMPLED ? enough : KANON_SAMPLED;
	int64_t rows;

	sample->n = 0;
	sample->all = false;
	if (most > KANON_SAMPLED || cells->person != NULL)
		return kanon_cells_count(cells, type, column, 2, enough, NULL, NULL);
	rows = kanon_cells_count(cells, type, column, 2, most, sample->type, &sample->n);
	sample->all = rows < most;
	return rows;
}

int64_t
kanon_cells_count_more(KanonShownCells *cells, const KanonSample *sample, uint32_t type, const int *column,
					   int ncolumns, int64_t enough, uint32_t *types, uint32_t *ntypes)
{
	const KanonColumn *columns = cells->problem->columns;
	int64_t rows = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < sample->n && rows < enough; i++)
	{
		uint32_t other = sample->type[i];
		int at = 2;

		while (at < ncolumns && columns[column[at]].code[other] == columns[column[at]].code[type] &&
			   !kanon_cells_is_blank(cells, other, column[at]))
			at++;
		if (at < ncolumns)
			continue;
		rows += counted(cells, other);
		if (types != NULL && rows < enough)
			types[n++] = other;
	}
	if (rows < enough && !sample->all)
		return kanon_cells_count(cells, type, column, ncolumns, enough, types, ntypes);
	if (types != NULL)
		*ntypes = n;
	return rows;
}

/* The row types that agree in a column. */
typedef struct Bits
{
	const uint64_t *shown, *blank;
} Bits;

static bool
has_bits(const Bits *bits, int nbits, uint32_t type)
{
	int at = 0;

	while (at < nbits && ((bits[at].shown[type / 64] | bits[at].blank[type / 64]) >> type % 64 & 1) != 0)
		at++;
	return at == nbits;
}

/* Does another row type show in these columns what the row type has, or nothing? */
static bool
agrees(const KanonShownCells *cells, uint32_t other, uint32_t type, const int *column, int ncolumns)
{
	const KanonColumn *columns = cells->problem->columns;
	int at = 0;

	while (at < ncolumns && (columns[column[at]].code[other] == columns[column[at]].code[type] ||
							 kanon_cells_is_blank(cells, other, column[at])))
		at++;
	return at == ncolumns;
}

/* The bits of some words that are set in each of the columns, shown or blank; false: none is. */
LONG_VECTORS static bool
gather_agreeing(const Bits *bits, int ncolumns, size_t w, uint64_t *all)
{
	uint64_t any = 0;

	for (int j = 0; j < AT_ONCE; j++)
		all[j] = bits[0].shown[w + j] | bits[0].blank[w + j];
	for (int i = 1; i < ncolumns; i++)
		for (int j = 0; j < AT_ONCE; j++)
			all[j] &= bits[i].shown[w + j] | bits[i].blank[w + j];
	for (int j = 0; j < AT_ONCE; j++)
		any |= all[j];
	return any != 0;
}

/* The rows of the row types that have their bit in each, and agree. */
static int64_t
count_agreeing(const KanonShownCells *cells, uint32_t type, const int *column, int ncolumns, int64_t enough,
			   const Bits *bits, int nbits)
{
	uint64_t all[AT_ONCE];
	int64_t rows = 0;

	for (size_t w = 0; w < cells->words; w += AT_ONCE)
	{
		if (!gather_agreeing(bits, nbits, w, all))
			continue;
		for (size_t j = 0; j < AT_ONCE; j++)
			for (; all[j] != 0; all[j] &= all[j] - 1)
			{
				uint32_t other = (uint32_t) ((w + j) * 64) + (uint32_t) __builtin_ctzll(all[j]);

				if (nbits < ncolumns && !agrees(cells, other, type, column, ncolumns))
					continue;
				rows += cells->problem->rows[other];
				if (rows >= enough)
					return rows;
			}
	}
	return rows;
}

int64_t
kanon_cells_agree(const KanonShownCells *cells, uint32_t type, const int *column, int ncolumns,
				  int64_t enough)
{
	Bits bits[KANON_LISTED_MOST];
	const KanonValueShown *rarest = NULL;
	int64_t rows = 0;
	int nbits = 0, at = 0;

	for (int i = 0; i < ncolumns; i++)
	{
		const KanonValueShown *value =
			&cells->value[column[i]][cells->problem->columns[column[i]].code[type]];

		if (value->shown != NULL)
			bits[nbits++] = (Bits){value->shown, cells->blank[column[i]]};
		else if (rarest == NULL || value->n < rarest->n)
			rarest = value, at = column[i];
	}
	if (rarest != NULL)
	{
		/* who shows the value, one by one; then who may have it */
		for (uint32_t i = 0; i < rarest->n && rows < enough; i++)
			if (!kanon_cells_is_blank(cells, rarest->type[i], at) && has_bits(bits, nbits, rarest->type[i]) &&
				(nbits + 1 == ncolumns || agrees(cells, rarest->type[i], type, column, ncolumns)))
				rows += cells->problem->rows[rarest->type[i]];
		bits[nbits].shown = bits[nbits].blank = cells->blank[at];
		nbits++;
	}
	return rows < enough ? rows + count_agreeing(cells, type, column, ncolumns, enough - rows, bits, nbits)
						 : rows;
}

/* ---- a release that shows what is not blank ---- */

KanonStatus
known_release_open(const KanonProblem *problem, KanonRelease *release)
{
	KanonEnv *env = problem->env;

	memset(release, 0, sizeof(*release));
	release->nclasses = problem->ntypes;
	release->nflows = problem->ntypes;
	release->classes = kanon_alloc0(env, problem->ntypes, sizeof(KanonClass));
	release->cells = kanon_alloc0(env, problem->ntypes, (size_t) problem->ncolumns * sizeof(KanonCell));
	release->flows = kanon_alloc(env, problem->ntypes, sizeof(KanonFlow));
	return release->classes == NULL || release->cells == NULL || release->flows == NULL ? KANON_NO_MEMORY
																						: KANON_OK;
}

void
known_release_show(const KanonProblem *problem, KanonRelease *release, uint32_t type)
{
	size_t width = (size_t) problem->ncolumns;

	release->flows[type] = (KanonFlow){type, type, problem->rows[type]};
	for (int c = 0; c < problem->ncolumns; c++)
		if (!kanon_has(release->classes[type].pattern, c))
			release->cells[type * width + (size_t) c] =
				(KanonCell){KANON_SHOW_VALUE, problem->columns[c].code[type] & KANON_MAX_TYPES};
}

KanonStatus
kanon_known_release(const KanonShownCells *cells, const KanonMaskIndex *index, KanonRelease *release,
					KanonReport *report)
{
	const KanonProblem *problem = cells->problem;
	KanonStatus status = known_release_open(problem, release);

	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
	{
		for (int c = 0; c < problem->ncolumns; c++)
			if (kanon_cells_hides(cells, i, c))
				kanon_add(&release->classes[i].pattern, c);
		if (index != NULL)
			release->classes[i].pattern = known_cover(cells, index, i, release->classes[i].pattern);
		known_release_show(problem, release, i);
		if (kanon_stop(cells->pace, (size_t) problem->ncolumns))
			status = KANON_CANCELLED;
	}
	return status == KANON_OK ? kanon_release_finish(problem, release, report) : status;
}
