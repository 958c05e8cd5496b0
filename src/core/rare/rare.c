/*
 * rare.c: the minimal combinations of values that fewer than k rows have.
 *
 * k^m-anonymity: M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of
 * set-valued data", PVLDB 1, 2008.  Minimal rare combinations, minimal sample uniques among them:
 * M. J. Elliot, A. M. Manning, R. W. Ford, "A computational algorithm for handling the special
 * uniques problem", 2002; A. M. Manning, D. J. Haglin, "A new algorithm for finding minimal sample
 * uniques for use in statistical disclosure assessment", ICDM 2005.
 *
 * Sets of columns are walked depth first, the last column first, so that all parts of a set come
 * before it.  A combination is the number of the one without its last column, and the value there.  Its rows
 * are counted in one go over the row types, and only sets with a rare one are looked at again.
 * Row types whose combination is rare, or has a blank cell, are dead in the set: no larger
 * set looks at them again (Apriori the other way round).  All row types that share a combination are dead together, so
 * leaving them out changes no count.  Each set of which larger ones are asked has a bit for each dead row type.
 */
#include <string.h>

#include "rare/rare.h"
#include "util/number.h"
#include "util/pace.h"
#include "util/scratch.h"

/* A table of all combinations that could be has so many places for each row type at most. */
#ifndef TABLE_TIMES
#define TABLE_TIMES 4
#define TABLE_LEAST 1024
#endif

/* The row types that are not rare in a set, and have no blank cell there. */
typedef struct Living
{
	uint32_t *type;   /* [n] ascending */
	uint32_t *number; /* [n] of its combination */
	uint32_t n;
	uint32_t ncombinations;
} Living;

/* A rare combination of the set that is looked at. */
typedef struct Tally
{
	int64_t rows;
	uint32_t types;
	uint32_t at; /* place of its next row type */
} Tally;

/* A combination by its number without the last column and by its value there, where a table of all would be too large. */
typedef struct Slot
{
	uint64_t key;
	uint32_t number; /* from 1 on; 0: free */
} Slot;

/* A set of which larger ones are asked. */
typedef struct DeadSet
{
	KanonPattern columns;
	uint64_t *bits;
} DeadSet;

typedef struct Finder
{
	const KanonProblem *problem;
	const KanonKnown *known;
	KanonPace pace;
	KanonScratch scratch;
	KanonRareVisit visit;
	void *arg;
	size_t words; /* of bits for all row types */
	int depth;    /* columns of the set that is looked at */
	int column[KANON_MAX_COLUMNS];
	int64_t k;          /* of that set */
	Living *living;     /* [most + 1] by depth; the first is all row types */
	uint64_t **out;     /* [ncolumns] row types that tell nothing in a column */
	uint32_t **code;    /* [ncolumns] codes, where some are out: theirs is one more than others; else NULL */
	uint64_t *dead;     /* row types that are dead in a part of the set */
	uint64_t *own;      /* where those are noted that are dead in the set itself; NULL: nobody asks */
	int64_t *count;     /* [room] rows by combination, all zero between two sets */
	uint32_t *last;     /* [room] the person before, from 1 on, by combination; NULL: rows are counted */
	uint32_t *tally_of; /* [room] from 1 on, all zero between two sets */
	size_t room;
	Slot *hashed; /* [hash_mask + 1] */
	size_t hash_mask;
	uint32_t *at;  /* [ntypes] combination of each that lives without the last column */
	Tally *tally;  /* [ntypes] */
	uint32_t *few; /* [nfew] those of rare combinations, by place in what lives */
	uint32_t nfew;
	uint32_t *sorted;  /* [ntypes] the rare ones by combination */
	uint32_t *missing; /* [nmissing] row types without a value in some column of the set */
	uint32_t nmissing;
	bool missing_known; /* for the set that is looked at */
	DeadSet *slot;      /* [mask + 1] */
	size_t mask;
	size_t nslots; /* taken */
} Finder;

static inline bool
has_bit(const uint64_t *bits, uint32_t i)
{
	return (bits[i / 64] >> i % 64 & 1) != 0;
}

static inline void
set_bit(uint64_t *bits, uint32_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool
is_null(const KanonColumn *column, uint32_t type)
{
	return column->has_null && column->code[type] == column->distinct - 1;
}

static DeadSet *
find_slot(const Finder *finder, KanonPattern columns)
{
	size_t at = (size_t) kanon_pattern_hash(columns) & finder->mask;

	while (finder->slot[at].bits != NULL && !kanon_same(finder->slot[at].columns, columns))
		at = (at + 1) & finder->mask;
	return &finder->slot[at];
}

/* Bits for a set of which larger ones are asked. */
static uint64_t *
add_slot(Finder *finder, KanonPattern columns)
{
	uint64_t *bits = kanon_take(&finder->scratch, finder->words, sizeof(uint64_t));
	DeadSet *slot;

	if (bits == NULL)
		return NULL;
	if (2 * finder->nslots > finder->mask)
	{
		DeadSet *old = finder->slot;
		size_t nold = finder->mask + 1;

		finder->slot = kanon_take0(&finder->scratch, 2 * nold, sizeof(DeadSet));
		if (finder->slot == NULL)
			return NULL;
		finder->mask = 2 * nold - 1;
		for (size_t i = 0; i < nold; i++)
			if (old[i].bits != NULL)
				*find_slot(finder, old[i].columns) = old[i];
		kanon_drop(&finder->scratch, old);
	}
	slot = find_slot(finder, columns);
	*slot = (DeadSet){columns, bits};
	finder->nslots++;
	memcpy(bits, finder->dead, finder->words * sizeof(uint64_t));
	return bits;
}

/* Gathers who is dead in a part of the set. */
static void
gather_dead(Finder *finder, KanonPattern columns)
{
	if (finder->depth == 1)
	{
		memcpy(finder->dead, finder->out[finder->column[0]], finder->words * sizeof(uint64_t));
		return;
	}
	memset(finder->dead, 0, finder->words * sizeof(uint64_t));
	/* the part without the last column is what is divided: its dead are not there any more */
	for (int i = 0; i + 1 < finder->depth; i++)
	{
		KanonPattern part = columns;
		const uint64_t *bits;

		kanon_remove(&part, finder->column[i]);
		bits = find_slot(finder, part)->bits;
		for (size_t w = 0; w < finder->words; w++)
			finder->dead[w] |= bits[w];
	}
}

/* Rows without a value in some column of the set. */
static void
gather_missing(Finder *finder)
{
	finder->missing_known = true;
	finder->nmissing = 0;
	for (size_t w = 0; w < finder->words; w++)
	{
		uint64_t any = 0;

		for (int i = 0; i < finder->depth; i++)
			any |= finder->out[finder->column[i]][w];
		for (; any != 0; any &= any - 1)
			finder->missing[finder->nmissing++] = (uint32_t) (w * 64) + (uint32_t) __builtin_ctzll(any);
	}
}

/* The rows, k at most, that agree with this row type only since they lack values. */
static int64_t
agreeing(Finder *finder, uint32_t type, int64_t wanted)
{
	const KanonProblem *problem = finder->problem;
	int64_t rows = 0;

	if (!finder->missing_known)
		gather_missing(finder);
	for (uint32_t i = 0; i < finder->nmissing && rows < wanted; i++)
	{
		uint32_t other = finder->missing[i];
		int at = 0;

		while (at < finder->depth && (problem->columns[finder->column[at]].code[type] ==
										  problem->columns[finder->column[at]].code[other] ||
									  has_bit(finder->out[finder->column[at]], other)))
			at++;
		if (at == finder->depth)
			rows += problem->rows[other];
	}
	finder->pace.work += finder->nmissing;
	return rows;
}

/* ---- the combinations of a set ---- */

/* Each combination has the number that it gets first; how many there are, and one. */
static size_t
number_by_hash(Finder *finder, const Living *from, const uint32_t *code)
{
	uint32_t n = 0;

	memset(finder->hashed, 0, (finder->hash_mask + 1) * sizeof(Slot));
	for (uint32_t i = 0; i < from->n; i++)
	{
		uint64_t key = (uint64_t) from->number[i] << 32 | code[from->type[i]];
		size_t at = (size_t) kanon_hash_add(0, key) & finder->hash_mask;

		while (finder->hashed[at].number != 0 && finder->hashed[at].key != key)
			at = (at + 1) & finder->hash_mask;
		if (finder->hashed[at].number == 0)
			finder->hashed[at] = (Slot){key, ++n};
		finder->at[i] = finder->hashed[at].number;
	}
	return (size_t) n + 1;
}

/* The persons of each combination instead: row types come person by person. */
static void
count_persons(Finder *finder, const Living *from, size_t n)
{
	const uint32_t *person = finder->known->person;

	memset(finder->count, 0, n * sizeof(int64_t));
	memset(finder->last, 0, n * sizeof(uint32_t));
	for (uint32_t i = 0; i < from->n; i++)
	{
		uint32_t *last = &finder->last[finder->at[i]];

		finder->count[finder->at[i]] += *last != person[from->type[i]] + 1;
		*last = person[from->type[i]] + 1;
	}
}

/* Counts the rows of each combination; of how many there may be. */
static size_t
count_rows(Finder *finder, const Living *from)
{
	const KanonColumn *column = &finder->problem->columns[finder->column[finder->depth - 1]];
	const uint32_t *silent = finder->code[finder->column[finder->depth - 1]];
	const uint32_t *code = silent != NULL ? silent : column->code, *type = from->type;
	const int64_t *rows = finder->problem->rows;
	uint32_t distinct = column->distinct + (silent != NULL);
	size_t n = (size_t) from->ncombinations * distinct;

	if (n > TABLE_TIMES * (size_t) from->n + TABLE_LEAST)
	{
		n = number_by_hash(finder, from, code);
		for (uint32_t i = 0; i < from->n; i++)
			finder->count[finder->at[i]] += rows[type[i]];
		if (finder->last != NULL)
			count_persons(finder, from, n);
		return n;
	}
	for (uint32_t i = 0; i < from->n; i++)
	{
		uint32_t at = from->number[i] * distinct + code[type[i]];

		finder->at[i] = at;
		finder->count[at] += rows[type[i]];
	}
	if (finder->last != NULL)
		count_persons(finder, from, n);
	return n;
}

/* True where a combination that occurs has fewer than k rows. */
static bool
any_few(const Finder *finder, size_t n)
{
	uint64_t k = (uint64_t) finder->k;
	bool few = false;

	for (size_t i = 0; i < n; i++)
		few |= (uint64_t) finder->count[i] - 1 < k - 1;
	return few;
}

/* Notes the living row types whose combination is rare; the number of such combinations. */
static uint32_t
note_few(Finder *finder, const Living *from)
{
	uint32_t ntallies = 0;

	finder->nfew = 0;
	for (uint32_t i = 0; i < from->n; i++)
	{
		uint32_t at = finder->at[i];
		Tally *tally;

		if (finder->count[at] >= finder->k || has_bit(finder->dead, from->type[i]))
			continue;
		if (finder->tally_of[at] == 0)
		{
			finder->tally_of[at] = ++ntallies;
			finder->tally[ntallies - 1] = (Tally){.rows = finder->count[at], .at = from->type[i]};
		}
		tally = &finder->tally[finder->tally_of[at] - 1];
		tally->types++;
		finder->few[finder->nfew++] = i;
	}
	return ntallies;
}

/* Cells without a value may agree: those combinations that have k rows so are not rare. */
static void
count_agreeing(Finder *finder, uint32_t ntallies)
{
	for (uint32_t i = 0; i < ntallies; i++)
		finder->tally[i].rows += agreeing(finder, finder->tally[i].at, finder->k - finder->tally[i].rows);
	for (uint32_t i = 0; i < finder->nfew; i++)
	{
		uint32_t at = finder->at[finder->few[i]];

		if (finder->tally[finder->tally_of[at] - 1].rows >= finder->k)
			finder->count[at] = finder->k;
	}
}

static void
show_rare(Finder *finder, const Living *from)
{
	KanonRare rare = {.column = finder->column, .ncolumns = finder->depth, .k = finder->k};
	uint32_t ntallies = note_few(finder, from);
	uint32_t place = 0;

	if (finder->known->missing == KANON_MISSING_ANY)
		count_agreeing(finder, ntallies);
	for (uint32_t i = 0; i < ntallies; i++)
	{
		finder->tally[i].at = place;
		place += finder->tally[i].types;
	}
	for (uint32_t i = 0; i < finder->nfew; i++)
	{
		uint32_t at = finder->at[finder->few[i]];
		uint32_t type = from->type[finder->few[i]];
		Tally *tally = &finder->tally[finder->tally_of[at] - 1];

		finder->sorted[tally->at++] = type;
		if (finder->own != NULL && tally->rows < finder->k)
			set_bit(finder->own, type);
	}
	for (uint32_t i = 0; i < ntallies; i++)
	{
		const Tally *tally = &finder->tally[i];

		if (tally->rows >= finder->k)
			continue;
		rare.type = &finder->sorted[tally->at - tally->types];
		rare.ntypes = tally->types;
		rare.rows = tally->rows;
		finder->visit(finder->arg, &rare);
	}
	for (uint32_t i = 0; i < finder->nfew; i++)
		finder->tally_of[finder->at[finder->few[i]]] = 0;
}

/* Combinations that are not rare go on to larger sets. */
static void
keep_others(Finder *finder, const Living *from, size_t n)
{
	Living *to = &finder->living[finder->depth];

	to->n = to->ncombinations = 0;
	for (uint32_t i = 0; i < from->n; i++)
	{
		uint32_t at = finder->at[i];

		if (finder->count[at] < finder->k || has_bit(finder->dead, from->type[i]))
			continue;
		if (finder->tally_of[at] == 0)
			finder->tally_of[at] = ++to->ncombinations;
		to->type[to->n] = from->type[i];
		to->number[to->n++] = finder->tally_of[at] - 1;
	}
	memset(finder->tally_of, 0, n * sizeof(uint32_t));
}

/* The set whose last column was added. */
static KanonStatus
look_at(Finder *finder, KanonPattern columns)
{
	const Living *from = &finder->living[finder->depth - 1];
	bool beyond = kanon_known_beyond(finder->known, columns, finder->problem->ncolumns);
	bool further = beyond && finder->column[finder->depth - 1] + 1 < finder->problem->ncolumns;
	size_t n = count_rows(finder, from);
	bool few = any_few(finder, n);

	finder->own = NULL;
	finder->missing_known = false;
	if (few || beyond)
		gather_dead(finder, columns);
	if (beyond && (finder->own = add_slot(finder, columns)) == NULL)
		return KANON_NO_MEMORY;
	if (few)
		show_rare(finder, from);
	if (further)
		keep_others(finder, from, n);
	memset(finder->count, 0, n * sizeof(int64_t));
	if (kanon_stop(&finder->pace, from->n + finder->words * (uint64_t) finder->depth))
		return KANON_CANCELLED;
	return finder->pace.late ? KANON_TOO_LARGE : KANON_OK;
}

/* Goes to the next set: the first column after the last one, or that one a step to the left. */
static bool
next_set(Finder *finder, KanonPattern *columns)
{
	int ncolumns = finder->problem->ncolumns;
	int last = finder->depth == 0 ? -1 : finder->column[finder->depth - 1];

	if (finder->depth == 0 || kanon_known_beyond(finder->known, *columns, ncolumns))
		if (last + 1 < ncolumns)
		{
			finder->column[finder->depth++] = ncolumns - 1;
			kanon_add(columns, ncolumns - 1);
			return true;
		}
	while (finder->depth > 0)
	{
		int before = finder->depth == 1 ? -1 : finder->column[finder->depth - 2];

		last = finder->column[finder->depth - 1];
		kanon_remove(columns, last);
		if (last - 1 > before)
		{
			finder->column[finder->depth - 1] = last - 1;
			kanon_add(columns, last - 1);
			return true;
		}
		finder->depth--;
	}
	return false;
}

static KanonStatus
walk(Finder *finder)
{
	const KanonProblem *problem = finder->problem;
	KanonPattern columns = KANON_NONE;
	KanonStatus status = KANON_OK;

	while (status == KANON_OK && next_set(finder, &columns))
	{
		finder->pace.share = (double) (problem->ncolumns - 1 - finder->column[0]) / problem->ncolumns;
		finder->k = kanon_known_k(finder->known, columns);
		if (finder->k > 0)
			status = look_at(finder, columns);
	}
	return status;
}

/* The codes of a column, where cells that tell nothing agree with no value. */
static KanonStatus
copy_codes(Finder *finder, int c)
{
	const KanonColumn *column = &finder->problem->columns[c];
	uint32_t ntypes = finder->problem->ntypes;
	uint64_t any = 0;

	for (size_t w = 0; w < finder->words; w++)
		any |= finder->out[c][w];
	if (any == 0)
		return KANON_OK;
	finder->code[c] = kanon_take(&finder->scratch, ntypes, sizeof(uint32_t));
	if (finder->code[c] == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < ntypes; i++)
		finder->code[c][i] = has_bit(finder->out[c], i) ? column->distinct : column->code[i];
	return kanon_stop(&finder->pace, ntypes) ? KANON_CANCELLED : KANON_OK;
}

/* Blank cells, and those without a value unless that is a value. */
static KanonStatus
find_silent(Finder *finder)
{
	const KanonProblem *problem = finder->problem;
	KanonStatus status = KANON_OK;

	for (int c = 0; c < problem->ncolumns && status == KANON_OK; c++)
	{
		if (finder->known->blank != NULL)
			memcpy(finder->out[c], finder->known->blank[c], finder->words * sizeof(uint64_t));
		if (finder->known->missing != KANON_MISSING_VALUE && problem->columns[c].has_null)
			for (uint32_t i = 0; i < problem->ntypes; i++)
				if (is_null(&problem->columns[c], i))
					set_bit(finder->out[c], i);
		status = copy_codes(finder, c);
	}
	return status;
}

static KanonStatus
take_memory(Finder *finder)
{
	const KanonProblem *problem = finder->problem;
	KanonScratch *scratch = &finder->scratch;
	size_t types = problem->ntypes, columns = (size_t) problem->ncolumns;
	size_t most = (size_t) kanon_known_most(finder->known, problem->ncolumns);

	finder->words = (types + 63) / 64;
	finder->mask = 63;
	finder->room = TABLE_TIMES * types + TABLE_LEAST;
	finder->hash_mask = 63;
	while (finder->hash_mask / 2 < types)
		finder->hash_mask = 2 * finder->hash_mask + 1;
	finder->slot = kanon_take0(scratch, finder->mask + 1, sizeof(DeadSet));
	finder->dead = kanon_take(scratch, finder->words, sizeof(uint64_t));
	finder->count = kanon_take0(scratch, finder->room, sizeof(int64_t));
	finder->tally_of = kanon_take0(scratch, finder->room, sizeof(uint32_t));
	if (finder->known->person != NULL)
		finder->last = kanon_take(scratch, finder->room, sizeof(uint32_t));
	finder->hashed = kanon_take(scratch, finder->hash_mask + 1, sizeof(Slot));
	finder->at = kanon_take(scratch, types, sizeof(uint32_t));
	finder->tally = kanon_take(scratch, types, sizeof(Tally));
	finder->few = kanon_take(scratch, types, sizeof(uint32_t));
	finder->sorted = kanon_take(scratch, types, sizeof(uint32_t));
	finder->missing = kanon_take(scratch, types, sizeof(uint32_t));
	finder->out = kanon_take0(scratch, columns, sizeof(uint64_t *));
	finder->code = kanon_take0(scratch, columns, sizeof(uint32_t *));
	finder->living = kanon_take0(scratch, most + 1, sizeof(Living));
	for (size_t c = 0; c < columns && !scratch->failed; c++)
		finder->out[c] = kanon_take0(scratch, finder->words, sizeof(uint64_t));
	for (size_t d = 0; d <= most && !scratch->failed; d++)
	{
		finder->living[d].type = kanon_take(scratch, types, sizeof(uint32_t));
		finder->living[d].number = kanon_take0(scratch, types, sizeof(uint32_t));
	}
	return kanon_taken(scratch);
}

/* Row types in the order of their persons, by counting. */
static KanonStatus
sort_by_person(Finder *finder)
{
	const KanonKnown *known = finder->known;
	uint32_t *start = kanon_take0(&finder->scratch, (size_t) known->npersons + 1, sizeof(uint32_t));

	if (start == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < finder->problem->ntypes; i++)
		start[known->person[i] + 1]++;
	for (uint32_t p = 0; p < known->npersons; p++)
		start[p + 1] += start[p];
	for (uint32_t i = 0; i < finder->problem->ntypes; i++)
		finder->living[0].type[start[known->person[i]]++] = i;
	kanon_drop(&finder->scratch, start);
	return kanon_stop(&finder->pace, finder->problem->ntypes) ? KANON_CANCELLED : KANON_OK;
}

KanonStatus
kanon_rare_find(const KanonProblem *problem, const KanonKnown *known, KanonRareVisit visit, void *arg)
{
	Finder finder = {.problem = problem, .known = known, .visit = visit, .arg = arg};
	KanonStatus status;

	if (problem->ntypes == 0)
		return KANON_OK;
	finder.scratch.env = problem->env;
	kanon_pace_limit(&finder.pace, problem, "combinations");
	finder.pace.work = KANON_POLL_WORK; /* the first look is at once */
	status = take_memory(&finder);
	if (status == KANON_OK)
		status = find_silent(&finder);
	if (status == KANON_OK)
	{
		for (uint32_t i = 0; i < problem->ntypes; i++)
			finder.living[0].type[i] = i;
		if (known->person != NULL)
			status = sort_by_person(&finder);
		finder.living[0].n = problem->ntypes;
		finder.living[0].ncombinations = 1;
		if (status == KANON_OK)
			status = walk(&finder);
	}
	kanon_scratch_free(&finder.scratch);
	return status;
}

/* ---- which sets of columns an attacker may know ---- */

int64_t
kanon_known_k(const KanonKnown *known, KanonPattern columns)
{
	int64_t k = kanon_count(columns) <= known->most ? known->k : 0;

	for (int s = 0; s < known->nsets; s++)
	{
		int64_t own = known->sets[s].k > 0 ? known->sets[s].k : known->k;

		if (own > k && kanon_within(columns, known->sets[s].columns))
			k = own;
	}
	return k;
}

bool
kanon_known_beyond(const KanonKnown *known, KanonPattern columns, int ncolumns)
{
	int n = kanon_count(columns);

	if (n < known->most && n < ncolumns)
		return true;
	for (int s = 0; s < known->nsets; s++)
		if (kanon_within(columns, known->sets[s].columns) && n < kanon_count(known->sets[s].columns))
			return true;
	return false;
}

int
kanon_known_most(const KanonKnown *known, int ncolumns)
{
	int most = known->most < ncolumns ? known->most : ncolumns;

	for (int s = 0; s < known->nsets; s++)
		if (kanon_count(known->sets[s].columns) > most)
			most = kanon_count(known->sets[s].columns);
	return most;
}
