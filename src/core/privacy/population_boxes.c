/*
 * population_boxes.c: a population counted for the classes of Mondrian's release (cluster/mpalm.c).
 *
 * A class shows a box: a value, a range, a set or a node of each quasi-identifier, or nothing of
 * it.  Boxes of such a release do not overlap, so that nobody matches two classes.  That is looked
 * at here again: of rows by comparing each with all boxes, a block of them at a time, by bits;
 * where shares alone are known, by comparing the boxes with one another.
 */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "privacy/population.h"
#include "util/number.h"

/* Boxes that a row is compared with at a time: bits. */
#define WORDS 8
#define BLOCK (WORDS * 64)

#define NO_BOX UINT32_MAX
#define TWO_BOXES (UINT32_MAX - 1)

typedef struct Finder
{
	const KanonProblem *problem;
	const KanonRelease *release;
	KanonPace *pace;
	/* [2 * distinct + 2][WORDS] which boxes of the block show a code; then those that show a place between codes */
	uint64_t *bits[KANON_MAX_COLUMNS];
	uint64_t every[KANON_MAX_COLUMNS][WORDS]; /* boxes that show nothing of the column */
} Finder;

/* ---- rows ---- */

/* Nobody shows what has no place among the codes. */
static size_t
last_row(const Finder *finder, int c)
{
	return 2 * (size_t) finder->problem->columns[c].distinct + 1;
}

static void
add_box(Finder *finder, int c, KanonCell cell, int bit)
{
	const uint32_t *part = kanon_shows_several(cell) ? finder->release->pool + cell.code : NULL;
	uint32_t distinct = finder->problem->columns[c].distinct;
	uint64_t *bits = finder->bits[c] + bit / 64;
	uint64_t one = UINT64_C(1) << bit % 64;

	switch ((KanonShow) cell.show)
	{
		case KANON_SHOW_NOTHING:
			finder->every[c][bit / 64] |= one;
			break;
		case KANON_SHOW_VALUE:
			bits[cell.code * (size_t) WORDS] |= one;
			break;
		case KANON_SHOW_RANGE:
			for (size_t code = part[0]; code <= part[1]; code++)
			{
				bits[code * WORDS] |= one;
				if (code > part[0])
					bits[(distinct + code) * WORDS] |= one;
			}
			finder->pace->work += part[1] - part[0];
			break;
		case KANON_SHOW_SET:
			for (uint32_t i = 1; i <= part[0]; i++)
				bits[part[i] * (size_t) WORDS] |= one;
			finder->pace->work += part[0];
			break;
	}
}

/* The boxes from this one on are at hand. */
static KanonStatus
take_block(Finder *finder, uint32_t from)
{
	const KanonRelease *release = finder->release;
	size_t ncolumns = (size_t) finder->problem->ncolumns;

	memset(finder->every, 0, sizeof(finder->every));
	for (int c = 0; c < finder->problem->ncolumns; c++)
	{
		memset(finder->bits[c], 0, (last_row(finder, c) + 1) * WORDS * sizeof(uint64_t));
		for (uint32_t i = from; i < release->nclasses && i < from + BLOCK; i++)
			add_box(finder, c, release->cells[i * ncolumns + (size_t) c], (int) (i - from));
		if (kanon_stop(finder->pace, 2 * last_row(finder, c) + BLOCK))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* The box at hand that a row type matches in all columns: its number, BLOCK for none, or TWO_BOXES. */
static uint32_t
match(const Finder *finder, const KanonPopulation *rows, uint32_t i)
{
	uint64_t left[WORDS];
	uint64_t any = 1;
	uint32_t found = BLOCK;

	memset(left, 0xff, sizeof(left));
	for (int c = 0; c < finder->problem->ncolumns && any != 0; c++)
	{
		uint32_t code = rows->code[c][i];
		uint32_t distinct = finder->problem->columns[c].distinct;
		size_t at = code != KANON_FOREIGN ? code
					: rows->below[c] != NULL && rows->below[c][i] != KANON_FOREIGN
						? distinct + rows->below[c][i]
						: last_row(finder, c);

		any = 0;
		for (int w = 0; w < WORDS; w++)
			any |= left[w] &= finder->bits[c][at * WORDS + (size_t) w] | finder->every[c][w];
	}
	for (uint32_t w = 0; w < WORDS && any != 0; w++)
	{
		if (left[w] != 0 && (found < BLOCK || (left[w] & (left[w] - 1)) != 0))
			return TWO_BOXES;
		if (left[w] != 0)
			found = w * 64 + (uint32_t) __builtin_ctzll(left[w]);
	}
	return found;
}

/* The class of each row type, or NO_BOX; *overlap: a row matches two, of which the second is in the block from here on. */
static KanonStatus
find_boxes(Finder *finder, const KanonPopulation *rows, uint32_t *box, uint32_t *overlap)
{
	uint32_t nclasses = finder->release->nclasses;
	KanonStatus status = KANON_OK;

	memset(box, 0xff, rows->ntypes * sizeof(uint32_t));
	*overlap = NO_BOX;
	for (uint32_t from = 0; from < nclasses && status == KANON_OK && *overlap == NO_BOX; from += BLOCK)
	{
		status = take_block(finder, from);
		for (uint32_t i = 0; i < rows->ntypes && status == KANON_OK; i++)
		{
			uint32_t at = match(finder, rows, i);

			if (at == TWO_BOXES || (at < BLOCK && box[i] != NO_BOX))
				*overlap = from;
			else if (at < BLOCK)
				box[i] = from + at;
			if (kanon_stop(finder->pace, WORDS))
				status = KANON_CANCELLED;
		}
	}
	return status;
}

/* Is each row of the table in the class that it matches?  It matches that one: kanon_release_finish has seen to it. */
static KanonStatus
check_table(Finder *finder, uint32_t *box, uint32_t *class_)
{
	const KanonProblem *problem = finder->problem;
	const KanonRelease *release = finder->release;
	KanonPopulation table = {.ntypes = problem->ntypes};
	uint32_t overlap;
	KanonStatus status;

	for (int c = 0; c < problem->ncolumns; c++)
		table.code[c] = problem->columns[c].code;
	status = find_boxes(finder, &table, box, &overlap);
	if (overlap != NO_BOX)
		*class_ = overlap;
	for (size_t f = 0; f < release->nflows && status == KANON_OK && *class_ > release->nclasses; f++)
	{
		uint32_t to = release->flows[f].class_;

		if (to != (box[release->flows[f].type] == NO_BOX ? KANON_DROPPED : box[release->flows[f].type]))
			*class_ = to != KANON_DROPPED ? to : box[release->flows[f].type];
	}
	return status;
}

static KanonStatus
count_listed(KanonPresence *presence, Finder *finder, int p, uint32_t *box, uint32_t *class_)
{
	const KanonPopulation *population = &presence->problem->populations[p];
	uint32_t overlap;
	size_t npairs = 0;
	KanonStatus status = find_boxes(finder, population, box, &overlap);

	if (status == KANON_OK && overlap != NO_BOX)
		*class_ = overlap;
	if (status != KANON_OK || overlap != NO_BOX)
		return status;
	for (uint32_t i = 0; i < population->ntypes; i++)
		if (box[i] != NO_BOX)
			presence_found_type(presence, p, box[i], i, &npairs);
	return presence_count_persons(presence, p, npairs);
}

/* ---- shares ---- */

static bool
value_matches(const KanonPopulation *population, const KanonRelease *release, int c, uint32_t v,
			  KanonCell cell)
{
	const uint32_t *part;

	if (population->code[c][v] != KANON_FOREIGN)
		return kanon_cell_matches(release, cell, population->code[c][v]);
	if (cell.show != KANON_SHOW_RANGE || population->below[c] == NULL)
		return cell.show == KANON_SHOW_NOTHING;
	part = release->pool + cell.code;
	return part[0] < population->below[c][v] && population->below[c][v] <= part[1];
}

/* The share of a population that matches a class, column by column: the columns are independent. */
static double
share_of(const KanonPresence *presence, const KanonPopulation *population, const KanonRelease *release,
		 const KanonCell *cells)
{
	double share = 1;

	for (int q = 0; q < presence->nqis; q++)
	{
		double sum = 0;

		for (uint32_t v = 0; v < population->nvalues[q]; v++)
		{
			int c = presence->first[q];

			while (c < presence->first[q + 1] && value_matches(population, release, c, v, cells[c]))
				c++;
			if (c == presence->first[q + 1])
				sum += population->share[q][v];
		}
		share *= sum;
	}
	return share;
}

/* Have two sets, in order, a code in common? */
static bool
sets_meet(const uint32_t *a, const uint32_t *b, KanonPace *pace)
{
	uint32_t i = 1, j = 1;

	while (i <= a[0] && j <= b[0] && a[i] != b[j])
	{
		if (a[i] < b[j])
			i++;
		else
			j++;
	}
	pace->work += i + j;
	return i <= a[0] && j <= b[0];
}

/* Can a row match both cells of a column? */
static bool
cells_meet(const KanonRelease *release, KanonCell a, KanonCell b, KanonPace *pace)
{
	const uint32_t *one;
	const uint32_t *other;

	if (a.show == KANON_SHOW_NOTHING || b.show == KANON_SHOW_NOTHING)
		return true;
	if (a.show == KANON_SHOW_VALUE)
		return kanon_cell_matches(release, b, a.code);
	if (b.show == KANON_SHOW_VALUE)
		return kanon_cell_matches(release, a, b.code);
	if (a.show != b.show)
		return true;
	one = release->pool + a.code;
	other = release->pool + b.code;
	return a.show == KANON_SHOW_SET ? sets_meet(one, other, pace) : one[0] <= other[1] && other[0] <= one[1];
}

static bool
boxes_meet(const KanonProblem *problem, const KanonRelease *release, uint32_t i, uint32_t j, KanonPace *pace)
{
	size_t ncolumns = (size_t) problem->ncolumns;
	size_t c = 0;

	while (c < ncolumns &&
		   cells_meet(release, release->cells[i * ncolumns + c], release->cells[j * ncolumns + c], pace))
		c++;
	return c == ncolumns;
}

static KanonStatus
match_shares(KanonPresence *presence, const KanonRelease *release, int p, uint32_t *class_)
{
	const KanonProblem *problem = presence->problem;
	size_t ncolumns = (size_t) problem->ncolumns;

	presence->others[p] = 1;
	for (uint32_t i = 0; i < release->nclasses; i++)
	{
		presence->match[p][i] =
			share_of(presence, &problem->populations[p], release, release->cells + i * ncolumns);
		for (uint32_t j = 0; j<i && * class_> release->nclasses; j++)
			if (boxes_meet(problem, release, i, j, &presence->pace))
				*class_ = i;
		if (kanon_stop(&presence->pace, 2 * (uint64_t) i + 1000))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

KanonStatus
presence_count_boxes(KanonPresence *presence, const KanonRelease *release, uint32_t *class_)
{
	const KanonProblem *problem = presence->problem;
	KanonScratch *scratch = &presence->scratch;
	Finder finder = {.problem = problem, .release = release, .pace = &presence->pace};
	uint32_t most = problem->ntypes;
	uint32_t *box;
	KanonStatus status;

	if (release->nclasses > problem->ntypes)
		return KANON_BROKEN;
	for (int p = 0; p < problem->npopulations; p++)
		if (problem->populations[p].nvalues == NULL && problem->populations[p].ntypes > most)
			most = problem->populations[p].ntypes;
	box = kanon_take(scratch, most, sizeof(uint32_t));
	for (int c = 0; c < problem->ncolumns; c++)
		finder.bits[c] = kanon_take(scratch, last_row(&finder, c) + 1, WORDS * sizeof(uint64_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	status = check_table(&finder, box, class_);
	for (int p = 0; p < problem->npopulations && status == KANON_OK && *class_ > release->nclasses; p++)
	{
		memset(presence->found[p], 0, release->nclasses * sizeof(int64_t));
		presence->rest[p] = problem->populations[p].total;
		status = problem->populations[p].nvalues != NULL ? match_shares(presence, release, p, class_)
														 : count_listed(presence, &finder, p, box, class_);
	}
	return status;
}

/*
 * ---- A population counted for the classes of a cut, where what a value shows is the
 * same in every row.
 */

#define SHOWN(column, code) ((uint64_t) (column) << 32 | (code))

/* The slot of the group that shows all this, or an empty one. */
static uint32_t *
find_shown(const KanonPresence *presence, const uint64_t *shown)
{
	size_t nqis = (size_t) presence->nqis;
	uint64_t hash = 0;
	size_t at;

	for (size_t q = 0; q < nqis; q++)
		hash = kanon_hash_add(hash, shown[q]);
	for (at = hash & presence->mask; presence->slots[at] != NO_GROUP; at = (at + 1) & presence->mask)
		if (memcmp(presence->shown + presence->slots[at] * nqis, shown, nqis * sizeof(uint64_t)) == 0)
			break;
	return &presence->slots[at];
}

static KanonStatus
list_shown(KanonPresence *presence, const KanonPattern *pattern, uint32_t n)
{
	const KanonProblem *problem = presence->problem;

	for (int c = 0; c < problem->ncolumns; c++)
		memset(presence->is_shown[c], 0, problem->columns[c].distinct * sizeof(bool));
	memset(presence->blank, 0, sizeof(presence->blank));
	for (uint32_t group = 0; group < n; group++)
	{
		uint64_t *shown = presence->shown + group * (size_t) presence->nqis;

		if (kanon_stop(&presence->pace, (uint64_t) problem->ncolumns * 2))
			return KANON_CANCELLED;
		for (int q = 0; q < presence->nqis; q++)
		{
			int c = presence_shown_column(presence, q, pattern[group]);
			uint32_t code = c < presence->first[q + 1] ? problem->columns[c].code[presence->type[group]] : 0;

			shown[q] = SHOWN(c, code);
			if (c < presence->first[q + 1])
				presence->is_shown[c][code] = true;
			else
				presence->blank[q] = true;
		}
		*find_shown(presence, shown) = group;
	}
	return KANON_OK;
}

/* The values that a row of a population shows of a quasi-identifier; false: nobody shows that. */
static bool
show_tuple(const KanonPresence *presence, const KanonPopulation *population, uint32_t type, int q,
		   uint64_t *shown)
{
	for (int c = presence->first[q]; c < presence->first[q + 1]; c++)
	{
		uint32_t code = population->code[c][type];

		if (code != KANON_FOREIGN && presence->is_shown[c][code])
		{
			*shown = SHOWN(c, code);
			return true;
		}
	}
	*shown = SHOWN(presence->first[q + 1], 0);
	return presence->blank[q];
}

/* The finest that any group shows of a value. */
static int
shown_by_cut(const KanonPresence *presence, const KanonPopulation *population, int q, uint32_t value,
			 const void *arg)
{
	int c = presence->first[q];

	(void) arg;
	while (c < presence->first[q + 1] && (population->code[c][value] == KANON_FOREIGN ||
										  !presence->is_shown[c][population->code[c][value]]))
		c++;
	return c;
}

/* Does the table lack its value, but not what is above?  It may come to show what is above that, too. */
static bool
wanders(const KanonPresence *presence, const KanonPopulation *population, uint32_t type, int q)
{
	return population->code[presence->first[q]][type] == KANON_FOREIGN &&
		   population->code[presence->first[q + 1] - 1][type] != KANON_FOREIGN;
}

/* Might a row that shows this now show what the group does, or what is below that, at a cut below? */
static bool
may_come_to(const KanonPresence *presence, const KanonPopulation *population, uint32_t type,
			const uint64_t *shown, const uint64_t *group)
{
	for (int q = 0; q < presence->nqis; q++)
	{
		int c = (int) (group[q] >> 32);

		if (group[q] != shown[q] &&
			(!wanders(presence, population, type, q) ||
			 (c < presence->first[q + 1] && population->code[c][type] != (uint32_t) group[q])))
			return false;
	}
	return true;
}

KanonStatus
kanon_presence_count_below(KanonPresence *presence, const KanonPattern *pattern, uint32_t n)
{
	const KanonProblem *problem = presence->problem;
	uint64_t shown[KANON_MAX_COLUMNS];
	KanonStatus status = kanon_presence_count_cut(presence, pattern, n);

	for (int p = 0; p < problem->npopulations && status == KANON_OK; p++)
	{
		const KanonPopulation *population = &problem->populations[p];

		for (uint32_t type = 0; type < population->ntypes && population->nvalues == NULL; type++)
		{
			bool wandering = false, somewhere = true;

			if (kanon_stop(&presence->pace, (uint64_t) presence->nqis))
				return KANON_CANCELLED;
			for (int q = 0; q < presence->nqis; q++)
				wandering = wandering || wanders(presence, population, type, q);
			if (!wandering)
				continue;
			for (int q = 0; q < presence->nqis; q++)
				somewhere = show_tuple(presence, population, type, q, &shown[q]) && somewhere;
			if (kanon_stop(&presence->pace, (uint64_t) n * (uint64_t) presence->nqis))
				return KANON_CANCELLED;
			/* its own group has it; of a person that counts twice there is too much, not too little */
			for (uint32_t group = 0; group < n; group++)
			{
				const uint64_t *there = presence->shown + group * (size_t) presence->nqis;
				bool own = somewhere && memcmp(there, shown, (size_t) presence->nqis * sizeof(uint64_t)) == 0;

				if (!own && may_come_to(presence, population, type, shown, there))
					presence->found[p][group] += population->person != NULL ? 1 : population->rows[type];
			}
		}
	}
	return status;
}

bool
kanon_presence_may_allow(const KanonPresence *presence, uint32_t group, int64_t rows)
{
	for (int p = 0; p < presence->problem->npopulations; p++)
	{
		const KanonPopulation *population = &presence->problem->populations[p];
		int64_t most = presence->found[p][group];

		if (population->map ? most < presence->problem->k
							: (double) rows > population->most * (double) most * (1 + 1e-12))
			return false;
	}
	return true;
}

KanonStatus
kanon_presence_count_cut(KanonPresence *presence, const KanonPattern *pattern, uint32_t n)
{
	const KanonProblem *problem = presence->problem;
	uint64_t shown[KANON_MAX_COLUMNS];
	KanonStatus status;

	presence_empty_slots(presence, n);
	status = list_shown(presence, pattern, n);
	for (int p = 0; p < problem->npopulations && status == KANON_OK; p++)
	{
		const KanonPopulation *population = &problem->populations[p];
		size_t npairs = 0;

		memset(presence->found[p], 0, n * sizeof(int64_t));
		presence->rest[p] = population->total;
		if (population->nvalues != NULL)
		{
			presence_add_portions(presence, population, shown_by_cut, NULL);
			status = presence_match_groups(presence, p, pattern, false, n);
			continue;
		}
		for (uint32_t type = 0; type < population->ntypes; type++)
		{
			uint32_t group = NO_GROUP;
			int q = 0;

			if (kanon_stop(&presence->pace, (uint64_t) presence->nqis * 3 + 2))
				return KANON_CANCELLED;
			while (q < presence->nqis && show_tuple(presence, population, type, q, &shown[q]))
				q++;
			if (q == presence->nqis)
				group = *find_shown(presence, shown);
			if (group != NO_GROUP)
				presence_found_type(presence, p, group, type, &npairs);
		}
		status = presence_count_persons(presence, p, npairs);
	}
	return status;
}
