/*
 * attack_distance.c: kanon_attack with knowledge => 'distance': record linkage by distance, for masks that move values.
 *
 * An attacker knows the true values of some columns of a person and takes the nearest record (J. Domingo-Ferrer,
 * V. Torra, "A quantitative comparison of disclosure control methods for microdata", 2001).  Numbers count in standard deviations of the
 * source; any other values, and NULL, are one apart if they differ.
 */
#include "compat.h"
#include "assess/assess.h"
#include "rows/dictionary.h"
#include "rows/source.h"

#include <math.h>

#include "common/pg_prng.h"

/* Squares of distances so near are equal: they were rounded. */
#define TIE 1e-9

/* One column on both sides. */
typedef struct Axis
{
	double *
		place[2]; /* [size of the dictionary] number in standard deviations, NaN: NULL; or NULL: no numbers */
	uint32 *code[2]; /* [size of the dictionary] numbers of values in the source */
} Axis;

typedef struct Linkage
{
	Border *border;
	Source *table[2]; /* the source, the target; the key is their last column */
	RowTypes *rows[2];
	Axis *axis;     /* [nqis] */
	uint32 *start;  /* [keys + 1] of the source */
	uint32 *own;    /* target's row types by key: own[start[key] .. start[key + 1]) */
	double *square; /* [target's row types] of the distance at hand */
	int64 trials;
	double nearest, two; /* trials whose own record is the nearest, or among the nearest two */
} Linkage;

/* Codes of the target's values in the source; DICTIONARY_NONE: the source has no such value. */
static uint32 *
codes_in_source(const Linkage *linkage, int c)
{
	const Dictionary *of = linkage->table[1]->qis[c].dictionary;
	uint32 *code = border_palloc(linkage->border, sizeof(uint32) * Max(dictionary_size(of), 1));

	for (uint32 i = 0; i < dictionary_size(of); i++)
	{
		bool isnull;
		Datum value = dictionary_value(of, i, &isnull);

		CHECK_FOR_INTERRUPTS();
		code[i] = dictionary_find(linkage->table[0]->qis[c].dictionary, value, isnull);
	}
	return code;
}

static void
refuse_type(const SourceColumn *column)
{
	ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
					errmsg("column \"%s\" has another type in the target, and is not of numbers in both",
						   column->name),
					errhint("Leave it out of known, or ask for knowledge => 'columns'.")));
}

/* Numbers of both tables, less the source's mean, in its standard deviations. */
static void
place_numbers(const Linkage *linkage, int c, Axis *axis)
{
	const RowTypes *rows = linkage->rows[0];
	double n = 0, mean = 0, squares = 0, spread;

	for (int t = 0; t < 2; t++)
		axis->place[t] = dictionary_numbers(linkage->table[t]->qis[c].dictionary);
	for (uint32 i = 0; i < rows->ntypes; i++)
	{
		double number = axis->place[0][rows->grouped[c].code[i]], weight = (double) rows->rows[i];

		if (!isfinite(number))
			continue;
		n += weight;
		squares += weight * (number - mean) * (number - mean) * (n - weight) / n;
		mean += weight * (number - mean) / n;
	}
	spread = n > 1 && squares > 0 ? sqrt(squares / (n - 1)) : 1;
	for (int t = 0; t < 2; t++)
		for (uint32 v = 0; v < dictionary_size(linkage->table[t]->qis[c].dictionary); v++)
			axis->place[t][v] = (axis->place[t][v] - mean) / spread;
}

static void
find_axes(Linkage *linkage)
{
	int n = linkage->table[0]->nqis;

	linkage->axis = palloc0(sizeof(Axis) * n);
	for (int c = 0; c < n; c++)
	{
		const SourceColumn *source = &linkage->table[0]->qis[c], *target = &linkage->table[1]->qis[c];

		if (type_is_numerical(source->type) && type_is_numerical(target->type))
			place_numbers(linkage, c, &linkage->axis[c]);
		else if (source->type != target->type)
			refuse_type(source);
		else
			linkage->axis[c].code[1] = codes_in_source(linkage, c);
	}
}

/* The target's row types by their key in the source. */
static void
list_own(Linkage *linkage)
{
	int c = linkage->table[0]->nqis;
	uint32 nkeys = dictionary_size(linkage->table[0]->qis[c].dictionary), ntypes = linkage->rows[1]->ntypes;
	const uint32 *of = linkage->rows[1]->grouped[c].code, *key = codes_in_source(linkage, c);

	linkage->start = border_palloc(linkage->border, sizeof(uint32) * ((Size) nkeys + 2));
	linkage->own = border_palloc(linkage->border, sizeof(uint32) * Max(ntypes, 1));
	linkage->square = border_palloc(linkage->border, sizeof(double) * Max(ntypes, 1));
	memset(linkage->start, 0, sizeof(uint32) * ((Size) nkeys + 2));
	for (uint32 i = 0; i < ntypes; i++)
		if (key[of[i]] != DICTIONARY_NONE)
			linkage->start[key[of[i]] + 2]++;
	for (uint32 k = 0; k < nkeys; k++)
		linkage->start[k + 2] += linkage->start[k + 1];
	for (uint32 i = 0; i < ntypes; i++)
		if (key[of[i]] != DICTIONARY_NONE)
			linkage->own[linkage->start[key[of[i]] + 1]++] = i;
}

/* Adds a column's part of the squares of all distances from a row type of the source. */
static void
add_column(const Linkage *linkage, int c, uint32 type)
{
	const Axis *axis = &linkage->axis[c];
	uint32 at = linkage->rows[0]->grouped[c].code[type];
	const uint32 *code = linkage->rows[1]->grouped[c].code;

	for (uint32 i = 0; i < linkage->rows[1]->ntypes; i++)
	{
		double apart;

		if (axis->code[1] != NULL)
			apart = axis->code[1][code[i]] != at;
		else
		{
			double from = axis->place[0][at], to = axis->place[1][code[i]];

			apart = isnan(from) || isnan(to) ? isnan(from) != isnan(to) : from == to ? 0 : from - to;
		}
		linkage->square[i] += apart * apart;
	}
}

/* Looks for a row of the source so often: is its own record the nearest? */
static void
look_for(Linkage *linkage, uint32 type, int64 times)
{
	const RowTypes *records = linkage->rows[1];
	int nqis = linkage->table[0]->nqis;
	uint32 key = linkage->rows[0]->grouped[nqis].code[type];
	double best = INFINITY, tie, own = 0, nearer = 0, equal = 0;

	memset(linkage->square, 0, sizeof(double) * records->ntypes);
	for (int c = 0; c < nqis; c++)
		add_column(linkage, c, type);
	for (uint32 i = linkage->start[key]; i < linkage->start[key + 1]; i++)
		best = Min(best, linkage->square[linkage->own[i]]);
	if (isinf(best))
		return; /* there is none */
	tie = TIE * (1 + best);
	for (uint32 i = linkage->start[key]; i < linkage->start[key + 1]; i++)
		if (linkage->square[linkage->own[i]] <= best + tie)
			own += (double) records->rows[linkage->own[i]];
	for (uint32 i = 0; i < records->ntypes; i++)
	{
		if (linkage->square[i] < best - tie)
			nearer += (double) records->rows[i];
		else if (linkage->square[i] <= best + tie)
			equal += (double) records->rows[i];
	}
	linkage->nearest += nearer == 0 ? own / equal * (double) times : 0;
	linkage->two += Min(1, Max(0, 2 - nearer) * own / equal) * (double) times;
}

/* Random rows of the source, each once at most. */
static void
look_for_all(Linkage *linkage, int64 trials)
{
	const RowTypes *persons = linkage->rows[0];
	int64 left = persons->nrows, done = 0;

	linkage->trials = Min(trials, left);
	for (uint32 i = 0; i < persons->ntypes; i++)
	{
		int64 times = 0;

		CHECK_FOR_INTERRUPTS();
		for (int64 row = 0; row < persons->rows[i]; row++, left--)
			times += pg_prng_double(&pg_global_prng_state) * (double) left <
					 (double) (linkage->trials - done - times);
		if (times == 0)
			continue;
		look_for(linkage, i, times);
		done += times;
		border_progress(linkage->border, "looking for persons", (double) done / (double) linkage->trials,
						linkage->trials - done);
	}
}

void
attack_distance(Lines *lines, Oid source, Oid target, ArrayType *key, ArrayType *known, int64 trials)
{
	Linkage linkage = {.border = border_create("kanon_attack")};
	Oid relation[] = {source, target};
	double n;

	for (int t = 0; t < 2; t++)
	{
		int one;

		linkage.table[t] = source_open_columns(relation[t], known, "known");
		(void) source_group_by(linkage.table[t],
							   source_columns(linkage.table[t], key, "key", "the key", &one));
	}
	if (linkage.table[0]->qis[linkage.table[0]->nqis].type !=
		linkage.table[1]->qis[linkage.table[0]->nqis].type)
		refuse_type(&linkage.table[0]->qis[linkage.table[0]->nqis]);
	source_lock(linkage.table[1]);
	source_snapshot(linkage.table[0]);
	for (int t = 0; t < 2; t++)
		linkage.rows[t] = rowtypes_read(linkage.table[t], linkage.border);
	find_axes(&linkage);
	list_own(&linkage);
	look_for_all(&linkage, trials);
	n = (double) linkage.trials;
	line_measure(lines, "trials", n, true, "rows of the source whose true values are known");
	line_measure(lines, "linked_nearest", linkage.nearest / n, n > 0,
				 "the share of them whose own record is the nearest; of equally near ones each as likely");
	line_measure(lines, "linked_two", linkage.two / n, n > 0, "the same of the nearest two");
	line_measure(lines, "linked_by_chance", 1 / (double) linkage.rows[1]->nrows, linkage.rows[1]->nrows > 0,
				 "the share of an attacker who draws a record");
}
