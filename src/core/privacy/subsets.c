/*
 * subsets.c: which columns tell the rows of a table apart: every subset of up to
 * three of them.
 *
 * R. Motwani, Y. Xu, "Efficient algorithms for masking and finding
 * quasi-identifiers", 2007: a set of columns has distinction (their "distinct
 * ratio") a when a share a of the rows would be left after removing duplicates,
 * and separation b when a share b of the pairs of rows differ in at least one of
 * them.
 *
 * A set's classes are those of a smaller set, each divided by one more column, and
 * what is alone in its class stays alone (what is left is the stripped partition of
 * Huhtala, Karkkainen, Porkka, Toivonen, "TANE", 1999).  Columns come
 * with most values first, and row types lie sorted by the first column of a set: its
 * classes are small then, and so is what each of them is divided with.
 */
#include <string.h>

#include "privacy/rules.h"
#include "util/pace.h"
#include "util/sort.h"
#include "util/number.h"
#include "util/scratch.h"

/* A combination of a class that is being divided. */
typedef struct Slot
{
	uint64_t key;
	int64_t rows; /* 0: free */
} Slot;

/* A set, as it is reported. */
typedef struct Tally
{
	int64_t classes;
	int64_t unique;
	double together; /* pairs of rows that agree, of several row types */
} Tally;

typedef struct Finder
{
	const KanonProblem *problem;
	KanonPace pace;
	double rows;
	double together;   /* pairs of rows of one row type */
	int *order;        /* [ncolumns] columns, most values first */
	uint32_t *start;   /* [most values of a column + 1] */
	uint32_t *type;    /* [ntypes] sorted by the first column of a set */
	int64_t *weight;   /* [ntypes] their rows */
	uint32_t **code;   /* [ncolumns] their codes, of columns later in order */
	uint32_t nlive;    /* those that the first column leaves together with others: they come first */
	uint32_t ngroups;  /* classes of the first column that have several */
	uint32_t *end;     /* [ngroups] of each in type */
	uint32_t *place;   /* [nlive] of what two columns leave together with others */
	uint32_t *number;  /* [nlive] and their class by two columns, within that by one */
	uint32_t *where;   /* slots of the row types of a class */
	uint32_t *end_two; /* [ngroups] in place */
	uint32_t *classes; /* [ngroups] that number tells apart */
	Slot *slot;
	uint32_t *members; /* of a slot: row types */
	KanonSubset *subsets;
	size_t nsubsets;
} Finder;

#define NUMBERED UINT32_MAX

/* Slots for n row types: a power of 2. */
static size_t
slots_for(uint32_t n)
{
	size_t slots = 4;

	while (slots < (size_t) n * 2)
		slots *= 2;
	return slots;
}

/* Where a class of n row types is divided into at most `space` combinations: emptied, as many slots as it takes. */
static size_t
clear_slots(Finder *finder, uint32_t n, uint64_t space)
{
	size_t slots = slots_for(n);

	if (space < slots)
		slots = (size_t) space;
	memset(finder->slot, 0, slots * sizeof(Slot));
	return slots;
}

/* Keys below the number of slots are their own place. */
static inline size_t
look_up(const Slot *slot, size_t mask, uint64_t key, bool plain)
{
	size_t at = (size_t) key;

	if (plain)
		return at;
	at = kanon_hash_add(0, key) & mask;
	while (slot[at].rows != 0 && slot[at].key != key)
		at = (at + 1) & mask;
	return at;
}

/* A row type comes to a combination. */
static inline void
count_rows(Tally *tally, int64_t before, int64_t rows)
{
	tally->classes += before == 0;
	tally->unique += (before == 0 && rows == 1) - (before == 1);
	tally->together += (double) before * (double) rows;
}

static void
add_subset(Finder *finder, const Tally *tally, int ncolumns, int a, int b, int c)
{
	KanonSubset *subset = &finder->subsets[finder->nsubsets++];
	double pairs = finder->rows * (finder->rows - 1) / 2;
	int column[KANON_SUBSET_MOST] = {a, b, c};

	for (int i = 1; i < ncolumns; i++)
		for (int j = i; j > 0 && column[j] < column[j - 1]; j--)
		{
			int swap = column[j];

			column[j] = column[j - 1];
			column[j - 1] = swap;
		}
	*subset = (KanonSubset){.ncolumns = ncolumns, .classes = tally->classes, .unique = tally->unique};
	memcpy(subset->column, column, sizeof(column));
	subset->distinction = (double) tally->classes / finder->rows;
	subset->separation = pairs > 0 ? 1 - (finder->together + tally->together) / pairs : 0;
}

/* Sorts the row types by a column, those that are alone last; alone[0]: all of it, alone[1]: these. */
static void
divide_all(Finder *finder, int a, Tally *all, Tally *alone)
{
	const KanonProblem *problem = finder->problem;
	const KanonColumn *column = &problem->columns[a];
	uint32_t nlive = 0, at = 0;

	*all = *alone = (Tally){0};
	memset(finder->start, 0, ((size_t) column->distinct + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < problem->ntypes; i++)
		finder->start[column->code[i]]++;
	finder->ngroups = 0;
	for (uint32_t v = 0; v < column->distinct; v++)
		if (finder->start[v] > 1)
		{
			uint32_t n = finder->start[v];

			finder->start[v] = nlive;
			nlive += n;
			finder->end[finder->ngroups++] = nlive;
		}
		else
			finder->start[v] = NUMBERED;
	for (uint32_t i = 0; i < problem->ntypes; i++)
		if (finder->start[column->code[i]] != NUMBERED)
		{
			uint32_t place = finder->start[column->code[i]]++;

			finder->type[place] = i;
			finder->weight[place] = problem->rows[i];
		}
		else
			count_rows(alone, 0, problem->rows[i]);
	finder->nlive = nlive;
	*all = *alone;
	for (uint32_t g = 0; g < finder->ngroups; g++)
		for (int64_t before = 0; at < finder->end[g]; before += finder->weight[at++])
			count_rows(all, before, finder->weight[at]);
}

/* Divides the classes of one column by another; where others are to come, numbers what is not alone. */
static void
divide_groups(Finder *finder, int b, bool further, Tally *all, Tally *alone)
{
	const uint32_t *code = finder->code[b];
	uint64_t space = finder->problem->columns[b].distinct;
	uint32_t n = 0;

	for (uint32_t g = 0, first = 0; g < finder->ngroups; first = finder->end[g++])
	{
		uint32_t end = finder->end[g];
		size_t slots = clear_slots(finder, end - first, space);
		bool plain = slots == space;
		uint32_t classes = 0;

		memset(finder->members, 0, slots * sizeof(uint32_t));
		for (uint32_t i = first; i < end; i++)
		{
			size_t at = look_up(finder->slot, slots - 1, code[i], plain);
			Slot *slot = &finder->slot[at];

			count_rows(all, slot->rows, finder->weight[i]);
			slot->key = code[i];
			slot->rows += finder->weight[i];
			finder->members[at]++;
			finder->where[i - first] = (uint32_t) at;
		}
		for (uint32_t i = first; further && i < end; i++)
		{
			uint32_t at = finder->where[i - first];

			if (finder->members[at] == 1)
			{
				count_rows(alone, 0, finder->weight[i]);
				continue;
			}
			if (finder->members[at] != NUMBERED)
			{
				finder->members[at] = NUMBERED;
				finder->slot[at].key = classes++;
			}
			finder->number[n] = (uint32_t) finder->slot[at].key;
			finder->place[n++] = i;
		}
		finder->end_two[g] = n;
		finder->classes[g] = classes;
	}
}

/* Divides the classes of two columns by a third. */
static void
divide_pairs(Finder *finder, int c, Tally *all)
{
	const uint32_t *code = finder->code[c];
	uint64_t distinct = finder->problem->columns[c].distinct;
	Tally tally = *all;

	for (uint32_t g = 0, first = 0; g < finder->ngroups; first = finder->end_two[g++])
	{
		uint32_t end = finder->end_two[g];
		uint64_t space = finder->classes[g] * distinct;
		size_t slots;

		if (first == end)
			continue;
		slots = clear_slots(finder, end - first, space);
		for (uint32_t i = first; i < end; i++)
		{
			uint32_t place = finder->place[i];
			uint64_t key = finder->number[i] * distinct + code[place];
			Slot *slot = &finder->slot[look_up(finder->slot, slots - 1, key, slots == space)];

			count_rows(&tally, slot->rows, finder->weight[place]);
			slot->key = key;
			slot->rows += finder->weight[place];
		}
	}
	*all = tally;
}

static bool
stop(Finder *finder, size_t all)
{
	finder->pace.share = (double) finder->nsubsets / (double) all;
	return kanon_stop(&finder->pace, (uint64_t) finder->problem->ntypes * 4 + 1);
}

static KanonStatus
try_all(Finder *finder, size_t all)
{
	const KanonProblem *problem = finder->problem;
	const int *order = finder->order;
	int n = problem->ncolumns;

	for (int i = 0; i < n; i++)
	{
		Tally one, alone_one;

		divide_all(finder, order[i], &one, &alone_one);
		add_subset(finder, &one, 1, order[i], 0, 0);
		for (int j = i + 1; j < n; j++)
		{
			uint32_t *code = finder->code[order[j]];

			for (uint32_t t = 0; t < finder->nlive; t++)
				code[t] = problem->columns[order[j]].code[finder->type[t]];
			if (stop(finder, all))
				return KANON_CANCELLED;
		}
		for (int j = i + 1; j < n; j++)
		{
			Tally two = alone_one, alone_two = alone_one;

			divide_groups(finder, order[j], j + 1 < n, &two, &alone_two);
			add_subset(finder, &two, 2, order[i], order[j], 0);
			for (int k = j + 1; k < n; k++)
			{
				Tally three = alone_two;

				if (stop(finder, all))
					return KANON_CANCELLED;
				divide_pairs(finder, order[k], &three);
				add_subset(finder, &three, 3, order[i], order[j], order[k]);
			}
		}
		if (stop(finder, all))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* Where a subset of one or two columns is in the order in which try_all adds them. */
static const KanonSubset *
part(const Finder *finder, const size_t *place, int a, int b)
{
	return &finder->subsets[place[a * finder->problem->ncolumns + b]];
}

/*
 * Adding a column can only divide classes.  So a set is worth telling when each of
 * its columns divides some, and when none of its parts identifies by itself; and it
 * is enough to ask the parts with one column less.
 */
static bool
adds_to(const Finder *finder, const KanonSubset *subset, const KanonSubset *smaller)
{
	return subset->classes > smaller->classes && (double) smaller->unique < KANON_IDENTIFYING * finder->rows;
}

static KanonStatus
mark_minimal(Finder *finder)
{
	KanonEnv *env = finder->problem->env;
	size_t d = (size_t) finder->problem->ncolumns;
	size_t *place = kanon_alloc(env, d * d, sizeof(size_t)); /* [a * d + b]: of {a, b}, or of {a} */

	if (place == NULL)
		return KANON_NO_MEMORY;
	for (size_t s = 0; s < finder->nsubsets; s++)
	{
		const KanonSubset *subset = &finder->subsets[s];
		const int *c = subset->column;

		if (subset->ncolumns < 3)
			place[(size_t) c[0] * d + (size_t) c[subset->ncolumns - 1]] = s;
	}
	for (size_t s = 0; s < finder->nsubsets; s++)
	{
		KanonSubset *subset = &finder->subsets[s];
		const int *c = subset->column;

		subset->minimal = true;
		if (subset->ncolumns == 2)
			subset->minimal = adds_to(finder, subset, part(finder, place, c[0], c[0])) &&
							  adds_to(finder, subset, part(finder, place, c[1], c[1]));
		if (subset->ncolumns == 3)
			subset->minimal = adds_to(finder, subset, part(finder, place, c[0], c[1])) &&
							  adds_to(finder, subset, part(finder, place, c[0], c[2])) &&
							  adds_to(finder, subset, part(finder, place, c[1], c[2]));
	}
	kanon_free(env, place);
	return KANON_OK;
}

/* Most identifying first. */
static int
compare_subsets(const void *left, const void *right, void *arg)
{
	const KanonSubset *a = left;
	const KanonSubset *b = right;

	(void) arg;
	if (a->classes != b->classes)
		return a->classes > b->classes ? -1 : 1;
	if (a->separation != b->separation)
		return a->separation > b->separation ? -1 : 1;
	if (a->ncolumns != b->ncolumns)
		return a->ncolumns - b->ncolumns;
	for (int i = 0; i < a->ncolumns; i++)
		if (a->column[i] != b->column[i])
			return a->column[i] - b->column[i];
	return 0;
}

/* Most values first. */
static void
order_columns(Finder *finder)
{
	const KanonColumn *columns = finder->problem->columns;

	for (int c = 0; c < finder->problem->ncolumns; c++)
	{
		int at = c;

		for (; at > 0 && columns[finder->order[at - 1]].distinct < columns[c].distinct; at--)
			finder->order[at] = finder->order[at - 1];
		finder->order[at] = c;
	}
}

/* How many slots the largest class of any column can take. */
static size_t
most_slots(Finder *finder)
{
	const KanonProblem *problem = finder->problem;
	size_t most = 1;

	for (int i = 0; i + 1 < problem->ncolumns; i++)
	{
		const KanonColumn *column = &problem->columns[finder->order[i]];
		uint64_t space = problem->columns[finder->order[i + 1]].distinct;
		uint32_t largest = 0;
		size_t slots;

		if (i + 2 < problem->ncolumns)
			space *= problem->columns[finder->order[i + 2]].distinct;
		memset(finder->start, 0, ((size_t) column->distinct + 1) * sizeof(uint32_t));
		for (uint32_t t = 0; t < problem->ntypes; t++)
			if (++finder->start[column->code[t]] > largest)
				largest = finder->start[column->code[t]];
		slots = slots_for(largest);
		if (space < slots)
			slots = (size_t) space;
		if (slots > most)
			most = slots;
	}
	return most;
}

static KanonStatus
take_memory(Finder *finder, KanonScratch *scratch, size_t all)
{
	const KanonProblem *problem = finder->problem;
	size_t types = problem->ntypes, columns = (size_t) problem->ncolumns, distinct = 0, slots;

	finder->order = kanon_take(scratch, columns, sizeof(int));
	finder->code = kanon_take0(scratch, columns, sizeof(uint32_t *));
	for (size_t c = 0; c < columns; c++)
		if (problem->columns[c].distinct > distinct)
			distinct = problem->columns[c].distinct;
	finder->start = kanon_take(scratch, distinct + 1, sizeof(uint32_t));
	finder->subsets = kanon_take(scratch, all, sizeof(KanonSubset));
	if (kanon_taken(scratch) != KANON_OK)
		return KANON_NO_MEMORY;
	order_columns(finder);
	for (size_t i = 1; i < columns; i++)
		finder->code[finder->order[i]] = kanon_take(scratch, types, sizeof(uint32_t));
	finder->type = kanon_take(scratch, types, sizeof(uint32_t));
	finder->weight = kanon_take(scratch, types, sizeof(int64_t));
	finder->place = kanon_take(scratch, types, sizeof(uint32_t));
	finder->number = kanon_take(scratch, types, sizeof(uint32_t));
	finder->where = kanon_take(scratch, types, sizeof(uint32_t));
	/* a class that is divided has two row types */
	finder->end = kanon_take(scratch, types / 2, sizeof(uint32_t));
	finder->end_two = kanon_take(scratch, types / 2, sizeof(uint32_t));
	finder->classes = kanon_take(scratch, types / 2, sizeof(uint32_t));
	slots = most_slots(finder);
	finder->slot = kanon_take(scratch, slots, sizeof(Slot));
	finder->members = kanon_take(scratch, slots, sizeof(uint32_t));
	return kanon_taken(scratch);
}

KanonStatus
kanon_rank_subsets(const KanonProblem *problem, KanonSubset **subsets, size_t *n)
{
	KanonEnv *env = problem->env;
	size_t d = (size_t) problem->ncolumns;
	size_t all = d + d * (d - 1) / 2 + d * (d - 1) * (d > 2 ? d - 2 : 0) / 6;
	Finder finder = {.problem = problem, .pace = kanon_pace(env, "columns")};
	KanonScratch scratch = {.env = env};
	KanonSubset *spare;
	KanonStatus status;

	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		double rows = (double) problem->rows[i];

		finder.rows += rows;
		finder.together += rows * (rows - 1) / 2;
	}
	status = take_memory(&finder, &scratch, all);
	if (status == KANON_OK && problem->ntypes > 0)
		status = try_all(&finder, all);
	if (status == KANON_OK)
		status = mark_minimal(&finder);
	spare = kanon_take(&scratch, all, sizeof(KanonSubset));
	if (status == KANON_OK)
		status = kanon_taken(&scratch);
	if (status == KANON_OK)
	{
		kanon_sort(finder.subsets, spare, finder.nsubsets, sizeof(KanonSubset), compare_subsets, NULL);
		*subsets = kanon_keep(&scratch, finder.subsets);
	}
	else
		*subsets = NULL;
	*n = status == KANON_OK ? finder.nsubsets : 0;
	kanon_scratch_free(&scratch);
	return status;
}
