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
 * before it.  A set's combinations are those of the set without its last column, each divided by that
 * column.  Row types whose combination is rare, or has a blank cell, are dead in the set: no larger
 * set looks at them again (Apriori the other way round).  All row types that share a combination are dead together, so
 * leaving them out changes no count.  Each set of which larger ones are asked has a bit for each dead row type.
 */
#include <string.h>

#include "rare/rare.h"
#include "util/hash.h"
#include "util/pace.h"
#include "util/scratch.h"

/* A value within the combination that is being divided. */
typedef struct Tally
{
	int64_t rows;
	uint32_t types;
	uint32_t at; /* place of its next row type */
} Tally;

/* The combinations of a set that are not rare: row types, one combination after the other. */
typedef struct Partition
{
	uint32_t *type; /* [ntypes] */
	uint32_t *end;  /* [ngroups] */
	uint32_t ngroups;
} Partition;

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
	int64_t k;            /* of that set */
	Partition *partition; /* [most + 1] by depth; the first is all row types */
	uint64_t **out;       /* [ncolumns] row types that tell nothing in a column */
	uint64_t *dead;       /* row types that are dead in a part of the set */
	uint64_t *own;        /* where those are noted that are dead in the set itself; NULL: nobody asks */
	Tally *tally;         /* [most values of a column], all zero between two groups */
	uint32_t *touched;    /* [ntypes] values of a group */
	uint32_t *live;       /* [ntypes] row types of a group that are not dead */
	uint32_t *sorted;     /* [ntypes] the rare ones by value */
	uint32_t *missing;    /* [nmissing] row types without a value in some column of the set */
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

/* Who has no value in some column of the set. */
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

/* Shows the rare combinations of a group whose values are counted. */
static void
show_rare(Finder *finder, const uint32_t *code, uint32_t nlive, uint32_t ntouched)
{
	KanonRare rare = {.column = finder->column, .ncolumns = finder->depth, .k = finder->k};
	uint32_t at = 0;

	for (uint32_t i = 0; i < ntouched; i++)
	{
		Tally *tally = &finder->tally[finder->touched[i]];

		if (tally->rows < finder->k)
		{
			tally->at = at;
			at += tally->types;
		}
	}
	for (uint32_t i = 0; i < nlive; i++)
	{
		uint32_t type = finder->live[i];
		Tally *tally = &finder->tally[code[type]];

		if (tally->rows >= finder->k)
			continue;
		finder->sorted[tally->at++] = type;
		if (finder->own != NULL)
			set_bit(finder->own, type);
	}
	for (uint32_t i = 0; i < ntouched; i++)
	{
		const Tally *tally = &finder->tally[finder->touched[i]];

		if (tally->rows >= finder->k)
			continue;
		rare.type = &finder->sorted[tally->at - tally->types];
		rare.ntypes = tally->types;
		rare.rows = tally->rows;
		finder->visit(finder->arg, &rare);
	}
}

/* What is not rare goes on to larger sets. */
static void
keep_others(Finder *finder, const uint32_t *code, uint32_t nlive, uint32_t ntouched, uint32_t *n)
{
	Partition *to = &finder->partition[finder->depth];

	for (uint32_t i = 0; i < ntouched; i++)
	{
		Tally *tally = &finder->tally[finder->touched[i]];

		if (tally->rows < finder->k)
			continue;
		tally->at = *n;
		*n += tally->types;
		to->end[to->ngroups++] = *n;
	}
	for (uint32_t i = 0; i < nlive; i++)
	{
		Tally *tally = &finder->tally[code[finder->live[i]]];

		if (tally->rows >= finder->k)
			to->type[tally->at++] = finder->live[i];
	}
}

/* Divides one combination of the set without its last column. */
static void
divide(Finder *finder, const uint32_t *type, uint32_t ntypes, bool further, uint32_t *n)
{
	const uint32_t *code = finder->problem->columns[finder->column[finder->depth - 1]].code;
	const int64_t *rows = finder->problem->rows;
	uint32_t nlive = 0, ntouched = 0;
	bool rare = false;

	for (uint32_t i = 0; i < ntypes; i++)
	{
		uint32_t t = type[i];
		Tally *tally = &finder->tally[code[t]];

		if (has_bit(finder->dead, t))
			continue;
		finder->live[nlive++] = t;
		if (tally->types++ == 0)
			finder->touched[ntouched++] = code[t];
		tally->at = t;
		tally->rows += rows[t];
	}
	for (uint32_t i = 0; i < ntouched; i++)
	{
		Tally *tally = &finder->tally[finder->touched[i]];

		if (tally->rows < finder->k && finder->known->missing == KANON_MISSING_ANY)
			tally->rows += agreeing(finder, tally->at, finder->k - tally->rows);
		rare = rare || tally->rows < finder->k;
	}
	if (rare)
		show_rare(finder, code, nlive, ntouched);
	if (further)
		keep_others(finder, code, nlive, ntouched, n);
	for (uint32_t i = 0; i < ntouched; i++)
		finder->tally[finder->touched[i]] = (Tally){0};
}

/* The set whose last column was added. */
static KanonStatus
look_at(Finder *finder, KanonPattern columns)
{
	const Partition *from = &finder->partition[finder->depth - 1];
	bool beyond = kanon_known_beyond(finder->known, columns, finder->problem->ncolumns);
	bool further = beyond && finder->column[finder->depth - 1] + 1 < finder->problem->ncolumns;
	uint32_t n = 0;

	gather_dead(finder, columns);
	finder->own = NULL;
	finder->missing_known = false;
	if (beyond && (finder->own = add_slot(finder, columns)) == NULL)
		return KANON_NO_MEMORY;
	finder->partition[finder->depth].ngroups = 0;
	for (uint32_t g = 0, first = 0; g < from->ngroups; first = from->end[g++])
	{
		divide(finder, from->type + first, from->end[g] - first, further, &n);
		if (kanon_stop(&finder->pace, from->end[g] - first))
			return KANON_CANCELLED;
	}
	if (kanon_stop(&finder->pace, finder->words * (uint64_t) finder->depth))
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

/* Blank cells, and those without a value unless that is a value. */
static void
find_silent(Finder *finder)
{
	const KanonProblem *problem = finder->problem;

	for (int c = 0; c < problem->ncolumns; c++)
	{
		if (finder->known->blank != NULL)
			memcpy(finder->out[c], finder->known->blank[c], finder->words * sizeof(uint64_t));
		if (finder->known->missing != KANON_MISSING_VALUE && problem->columns[c].has_null)
			for (uint32_t i = 0; i < problem->ntypes; i++)
				if (is_null(&problem->columns[c], i))
					set_bit(finder->out[c], i);
	}
}

static KanonStatus
take_memory(Finder *finder)
{
	const KanonProblem *problem = finder->problem;
	KanonScratch *scratch = &finder->scratch;
	size_t types = problem->ntypes, columns = (size_t) problem->ncolumns, distinct = 1;
	size_t most = (size_t) kanon_known_most(finder->known, problem->ncolumns);

	for (size_t c = 0; c < columns; c++)
		if (problem->columns[c].distinct > distinct)
			distinct = problem->columns[c].distinct;
	finder->words = (types + 63) / 64;
	finder->mask = 63;
	finder->slot = kanon_take0(scratch, finder->mask + 1, sizeof(DeadSet));
	finder->dead = kanon_take(scratch, finder->words, sizeof(uint64_t));
	finder->tally = kanon_take0(scratch, distinct, sizeof(Tally));
	finder->touched = kanon_take(scratch, types, sizeof(uint32_t));
	finder->live = kanon_take(scratch, types, sizeof(uint32_t));
	finder->sorted = kanon_take(scratch, types, sizeof(uint32_t));
	finder->missing = kanon_take(scratch, types, sizeof(uint32_t));
	finder->out = kanon_take0(scratch, columns, sizeof(uint64_t *));
	finder->partition = kanon_take0(scratch, most + 1, sizeof(Partition));
	for (size_t c = 0; c < columns && !scratch->failed; c++)
		finder->out[c] = kanon_take0(scratch, finder->words, sizeof(uint64_t));
	for (size_t d = 0; d <= most && !scratch->failed; d++)
	{
		finder->partition[d].type = kanon_take(scratch, types, sizeof(uint32_t));
		finder->partition[d].end = kanon_take(scratch, types, sizeof(uint32_t));
	}
	return kanon_taken(scratch);
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
	{
		find_silent(&finder);
		for (uint32_t i = 0; i < problem->ntypes; i++)
			finder.partition[0].type[i] = i;
		finder.partition[0].end[0] = problem->ntypes;
		finder.partition[0].ngroups = 1;
		status = walk(&finder);
	}
	kanon_scratch_free(&finder.scratch);
	return status;
}
