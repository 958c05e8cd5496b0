/*
 * verify_population.c: rules about populations, checked on the target.
 *
 * For each row of a population kanon finds the classes of the target that it matches, by what
 * they show, and counts.
 */
#include "compat.h"
#include "core/lattice/full_domain.h"
#include "core/privacy/population.h"
#include "host/catalog.h"
#include "rows/dictionary.h"
#include "rows/cell_values.h"
#include "rows/verify.h"

/* How many levels of a quasi-identifier the node suppresses. */
static int
level_of(const Levels *levels, int qi, KanonPattern pattern)
{
	int level = 0;

	for (int c = levels->first[qi]; c < levels->first[qi + 1]; c++)
		level += kanon_has(pattern, c);
	return level;
}

/* The target's code for each of the problem's in a column, or KANON_FOREIGN. */
static uint32 *
target_codes(Shower *shower, const Levels *levels, int qi, int column, const KanonProblem *problem,
			 Dictionary *dictionary, Border *border)
{
	uint32 n = problem->columns[column].distinct;
	uint32 *codes = border_palloc(border, sizeof(uint32) * (Size) Max(n, 1));
	KanonCell *cells = palloc0(sizeof(KanonCell) * levels->first[levels->nqis]);
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "kanon verify", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);

	for (uint32 code = 0; code < n; code++)
	{
		bool isnull;
		Datum shown;

		CHECK_FOR_INTERRUPTS();
		cells[column] = (KanonCell){KANON_SHOW_VALUE, code};
		shown = show_cell(shower, qi, cells, NULL, &isnull);
		codes[code] = dictionary_find(dictionary, shown, isnull);
		if (codes[code] == DICTIONARY_NONE)
			codes[code] = KANON_FOREIGN;
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	pfree(cells);
	return codes;
}

/* The populations in the target's codes of one quasi-identifier: of its columns from .. to, the first that is shown. */
static void
translate(KanonPopulation *populations, const KanonProblem *problem, int qi, int from, int to,
		  uint32 *const *target, Border *border)
{
	for (int p = 0; p < problem->npopulations; p++)
	{
		const KanonPopulation *population = &problem->populations[p];
		uint32 n = population->nvalues != NULL ? population->nvalues[qi] : population->ntypes;
		uint32 *codes = border_palloc(border, sizeof(uint32) * (Size) Max(n, 1));

		for (uint32 i = 0; i < n; i++)
		{
			codes[i] = KANON_FOREIGN;
			for (int c = from; c < to && codes[i] == KANON_FOREIGN; c++)
				if (population->code[c][i] != KANON_FOREIGN)
					codes[i] = target[c - from][population->code[c][i]];
		}
		populations[p].code[qi] = codes;
	}
}

/*
 * Persons of the population whose combination a cut shows nowhere else are blank, where the target
 * shows that.
 */
static void
translate_blank(KanonPopulation *populations, const KanonProblem *problem, int qi, Dictionary *dictionary)
{
	uint32 blank = dictionary_find(dictionary, (Datum) 0, true);

	for (int p = 0; p < problem->npopulations && blank != DICTIONARY_NONE; p++)
		for (uint32 i = 0;
			 i < (populations[p].nvalues != NULL ? populations[p].nvalues[qi] : populations[p].ntypes); i++)
			if (populations[p].code[qi][i] == KANON_FOREIGN)
				((uint32 *) populations[p].code[qi])[i] = blank;
}

/* The problem whose row types are the target's, and the pattern of its classes: none of a cut. */
static KanonPattern
shown_problem(const RowTypes *types, const Source *source, const KanonProblem *problem, KanonPattern node,
			  KanonProblem *shown, Border *border)
{
	KanonPattern pattern = KANON_NONE;
	KanonPopulation *populations = palloc(sizeof(KanonPopulation) * problem->npopulations);
	Shower *shower = shower_create(source);
	int nest = plain_text_begin();

	*shown = *problem;
	shown->ncolumns = source->nqis;
	shown->columns = types->grouped;
	shown->ntypes = types->ntypes;
	shown->rows = types->rows;
	shown->populations = populations;
	shown->subtree = NULL;
	memcpy(populations, problem->populations, sizeof(KanonPopulation) * problem->npopulations);
	for (int qi = 0; qi < source->nqis; qi++)
	{
		Dictionary *dictionary = types->source->qis[qi].dictionary;
		int end = source->levels.first[qi + 1];
		int from = source->levels.first[qi];
		int to = end;
		uint32 *target[KANON_MAX_COLUMNS];

		if (problem->subtree == NULL)
		{
			from += level_of(&source->levels, qi, node);
			to = Min(from + 1, end);
		}
		for (int c = from; c < to; c++)
			target[c - from] = target_codes(shower, &source->levels, qi, c, problem, dictionary, border);
		translate(populations, problem, qi, from, to, target, border);
		for (int c = from; c < to; c++)
			border_pfree(border, target[c - from]);
		if (problem->subtree != NULL)
			translate_blank(populations, problem, qi, dictionary);
		else if (from == end)
			kanon_add(&pattern, qi);
	}
	plain_text_end(nest);
	return pattern;
}

/*
 * The cells of all classes of a full-domain release, but for the fully suppressed one; those of a
 * cut differ.
 */
static KanonPattern
node_of(const KanonProblem *problem, const KanonRelease *release)
{
	KanonPattern all = kanon_pattern_all(problem->ncolumns);

	if (problem->subtree != NULL)
		return KANON_NONE;
	for (uint32 i = 0; i < release->nclasses; i++)
		if (!kanon_same(release->classes[i].pattern, all))
			return release->classes[i].pattern;
	return all;
}

/* Verifies a release of greedy or Mondrian: the target has its classes with their rows; populations are counted anew for them. */
static void
verify_release(const KanonProblem *problem, const KanonRelease *release, Border *border)
{
	uint32 class;

	border_check(border, kanon_presence_check(problem, release, &class), "");
	if (class <= release->nclasses)
		raise_unsafe("A class breaks a rule about a population.");
}

void
verify_populations(const RowTypes *types, const Source *source, const KanonProblem *problem,
				   const KanonRelease *release, Border *border)
{
	KanonProblem shown;
	KanonPattern pattern;
	int64 *rows;
	int64 rest = 0;
	uint32 n = 0;
	bool allowed = true;
	KanonPresence *presence;
	uint32 *shows;

	if (!kanon_global_recoding(problem))
	{
		verify_release(problem, release, border);
		return;
	}
	pattern = shown_problem(types, source, problem, node_of(problem, release), &shown, border);
	rows = border_palloc(border, sizeof(int64) * (Size) Max(types->ntypes, 1));
	border_check(border, kanon_presence_open(&shown, &presence), "");
	shows = kanon_presence_types(presence);
	for (uint32 first = 0, next; first < types->ntypes; first = next)
	{
		int64 sum = 0;

		for (next = first; next < types->ntypes && verify_same_class(types, first, next); next++)
			sum += types->rows[next];
		if (problem->subtree == NULL && verify_is_blank(types, source->nqis, first))
			rest += sum;
		else
		{
			shows[n] = first;
			rows[n++] = sum;
		}
	}
	border_check(border, kanon_presence_count(presence, pattern, n), "");
	for (uint32 i = 0; i < n && allowed; i++)
	{
		allowed = kanon_presence_allows(presence, i, rows[i]);
		kanon_presence_take(presence, i);
	}
	if (!allowed || !kanon_presence_rest(presence, rest))
		raise_unsafe("A class breaks a rule about a population.");
	kanon_presence_close(presence);
	border_pfree(border, rows);
}
