/*
 * risk_population.c: how many persons of a population each class could be.
 *
 * A NULL in the relation says nothing, so it is compatible with every value of the population.  (It may be a
 * suppressed cell; and a row without a value tells nobody more.)  Classes with NULL in the same columns are looked
 * up together: each such group costs one pass over the population's row types.
 */
#include "compat.h"
#include "core/util/number.h"
#include "rows/dictionary.h"
#include "assess/assess.h"
#include "core/privacy/population.h"

#include "port/pg_bitutils.h"
#include "utils/lsyscache.h"

typedef struct Matching
{
	Risk *risk;
	RiskClasses *classes;
	RowTypes *population;
	uint32 **code;       /* [nqis] the relation's code of the population's, or DICTIONARY_NONE */
	KanonPattern *blank; /* [classes->n] columns in which it has NULL */
	int64 *found;        /* [classes->n] rows of the population that fit */
	uint32 *slots;
	uint32 mask; /* slots - 1 */
} Matching;

/* The same columns of the population, of the same types. */
Source *
risk_open_population(const Risk *risk, Oid population, ArrayType *qis)
{
	Source *source = source_open_columns(population, qis, "quasi_identifiers");

	for (int c = 0; c < source->nqis; c++)
		if (getBaseType(source->qis[c].type) != getBaseType(risk->source->qis[c].type))
			ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
							errmsg("column \"%s\" of the population %s has another type than in the relation",
								   source->qis[c].name, source->name),
							errhint("Use a view of the population that casts it.")));
	source_lock(source);
	return source;
}

/* How the relation numbers the values of the population. */
static void
translate(Matching *matching)
{
	const Source *from = matching->population->source;

	matching->code = palloc(sizeof(uint32 *) * from->nqis);
	for (int c = 0; c < from->nqis; c++)
	{
		Dictionary *to = matching->classes->types->source->qis[c].dictionary;
		uint32 n = dictionary_size(from->qis[c].dictionary);

		matching->code[c] = border_palloc(matching->classes->border, sizeof(uint32) * (Size) n);
		for (uint32 code = 0; code < n; code++)
		{
			bool isnull;
			Datum value = dictionary_value(from->qis[c].dictionary, code, &isnull);

			CHECK_FOR_INTERRUPTS();
			matching->code[c][code] = dictionary_find(to, value, isnull);
		}
	}
}

static void
find_blanks(Matching *matching)
{
	const RowTypes *types = matching->classes->types;

	matching->blank =
		border_palloc(matching->classes->border, sizeof(KanonPattern) * (Size) matching->classes->n);
	memset(matching->blank, 0, sizeof(KanonPattern) * (Size) matching->classes->n);
	for (int c = 0; c < matching->risk->source->nqis; c++)
		for (uint32 i = 0; i < matching->classes->n; i++)
		{
			bool isnull;

			(void) dictionary_value(types->source->qis[c].dictionary,
									types->columns[c].code[matching->classes->first[i]], &isnull);
			if (isnull)
				kanon_add(&matching->blank[i], c);
		}
}

/* The slot of the class with these codes in the columns where `blank` has none, or an empty one. */
static uint32 *
find_slot(const Matching *matching, KanonPattern blank, const uint32 *codes)
{
	const RowTypes *types = matching->classes->types;
	int nqis = matching->risk->source->nqis;
	uint64 at = 0;

	for (int c = 0; c < nqis; c++)
		if (!kanon_has(blank, c))
			at = kanon_hash_add(at, codes[c]);
	for (at &= matching->mask; matching->slots[at] != DICTIONARY_NONE; at = (at + 1) & matching->mask)
	{
		uint32 type = matching->classes->first[matching->slots[at]];
		int c = 0;

		while (c < nqis && (kanon_has(blank, c) || types->columns[c].code[type] == codes[c]))
			c++;
		if (c == nqis)
			break;
	}
	return &matching->slots[at];
}

/* Counts the population for the classes that have NULL in exactly these columns. */
static void
count_group(Matching *matching, KanonPattern blank, const uint32 *class_, uint32 n)
{
	const RowTypes *types = matching->classes->types;
	const RowTypes *population = matching->population;
	int nqis = matching->risk->source->nqis;
	uint32 codes[KANON_MAX_QIS];

	matching->mask = ((uint32) 2 << pg_leftmost_one_pos32(n * 2 - 1)) - 1;
	memset(matching->slots, 0xff, sizeof(uint32) * ((Size) matching->mask + 1));
	for (uint32 i = 0; i < n; i++)
	{
		for (int c = 0; c < nqis; c++)
			codes[c] = types->columns[c].code[matching->classes->first[class_[i]]];
		*find_slot(matching, blank, codes) = class_[i];
	}
	for (uint32 type = 0; type < population->ntypes; type++)
	{
		int c = 0;
		uint32 *slot;

		if (type % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		for (; c < nqis; c++)
		{
			codes[c] = matching->code[c][population->columns[c].code[type]];
			if (codes[c] == DICTIONARY_NONE && !kanon_has(blank, c))
				break;
		}
		if (c < nqis)
			continue;
		slot = find_slot(matching, blank, codes);
		if (*slot != DICTIONARY_NONE)
			matching->found[*slot] += population->rows[type];
	}
}

static int
compare_blank(const void *a, const void *b, void *arg)
{
	const KanonPattern *blank = arg;
	KanonPattern left = blank[*(const uint32 *) a];
	KanonPattern right = blank[*(const uint32 *) b];

	return kanon_order(left, right);
}

static void
count_population(Matching *matching)
{
	RiskClasses *classes = matching->classes;
	uint32 *order = border_palloc(classes->border, sizeof(uint32) * (Size) classes->n);

	matching->found = border_palloc(classes->border, sizeof(int64) * (Size) classes->n);
	memset(matching->found, 0, sizeof(int64) * (Size) classes->n);
	matching->slots = border_palloc(
		classes->border, sizeof(uint32) * ((Size) 2 << pg_leftmost_one_pos32(Max(classes->n, 1) * 2 - 1)));
	for (uint32 i = 0; i < classes->n; i++)
		order[i] = i;
	qsort_arg(order, classes->n, sizeof(uint32), compare_blank, matching->blank);
	for (uint32 from = 0, to; from < classes->n; from = to)
	{
		KanonPattern blank = matching->blank[order[from]];

		for (to = from + 1; to < classes->n && kanon_same(matching->blank[order[to]], blank); to++)
			;
		count_group(matching, blank, &order[from], to - from);
	}
}

static void
put_population(Matching *matching)
{
	Risk *risk = matching->risk;
	const RiskClasses *classes = matching->classes;
	KanonPattern all = kanon_pattern_all(risk->source->nqis);
	bool some = risk->units > 0;
	int64 atrisk = 0, absent = 0, absent_classes = 0;
	double highest = 0, telling = 0, people = 0, /* of the population, in those classes */
		expected = 0,                            /* sum of f / F */
		most = 0, least = 1;                     /* f / F */

	for (uint32 i = 0; i < classes->n; i++)
	{
		int64 size = classes->size[i];
		int64 found = Max(matching->found[i], size);
		double chance = 1.0 / found;

		if (matching->found[i] < size)
		{
			absent += size;
			absent_classes++;
		}
		telling++;
		people += found;
		highest = Max(highest, chance);
		expected += (double) size / found;
		/* (presence is about classes that show something) */
		if (!kanon_same(matching->blank[i], all))
		{
			most = Max(most, (double) size / found);
			least = Min(least, (double) size / found);
		}
		if (chance > risk->threshold)
			atrisk += size;
	}
	risk_put(risk, "population_missing", NULL, absent, true,
			 "%s in classes with fewer in the population than in the relation; the latter is taken",
			 risk->unit);
	risk_put(risk, "journalist_highest", NULL, highest, some,
			 "chance to pick the right person of the population for a %s of the class that fits the fewest",
			 risk->one);
	risk_put(
		risk, "journalist_average", NULL,
		some && telling > 0 ? Max(telling / people, expected / risk->units) : 0, some,
		"the same chance, averaged over the population's persons or the relation's %s, whichever is more",
		risk->unit);
	risk_put(risk, "journalist_share", NULL, some ? (double) atrisk / risk->units : 0, some,
			 "share of %s whose chance of being picked is above %g %%", risk->unit, 100 * risk->threshold);
	risk_put(risk, "marketer", NULL, some ? expected / risk->units : 0, some,
			 "share of %s that linking the relation with the population is expected to get right",
			 risk->unit);
	risk_put(
		risk, "presence_highest", NULL, most, most > 0,
		"chance to be in the relation for a person of the population, in the class where it is greatest");
	risk_put(
		risk, "presence_lowest", NULL, least, most > 0,
		"the same chance in the class where it is least; a person who fits no class is not in the relation");
	if (absent_classes > 0)
		ereport(
			NOTICE,
			(errmsg("the population lacks rows of the relation"),
			 errdetail("Classes with more %s than the population has of them: " INT64_FORMAT ".", risk->unit,
					   absent_classes),
			 errhint(
				 "The population must contain everybody in the relation; these classes are taken as they are.")));
}

void
risk_population(Risk *risk, Source *population)
{
	Matching matching = {.risk = risk};

	matching.classes = risk_classes_read(risk, NULL);
	matching.population = rowtypes_read(population, matching.classes->border);
	translate(&matching);
	find_blanks(&matching);
	count_population(&matching);
	put_population(&matching);
	risk_classes_free(matching.classes);
}

/*
 * ---- How probable it is that a relation keeps bounds on presence, by the shares
 * of a population's values (kanon_presence).
 *
 * As with a population, NULL in the relation is compatible with every value.
 */

void
risk_open_presence(Risk *risk, Jsonb *rule)
{
	PrivacyWords *words = palloc(sizeof(PrivacyWords));

	privacy_parse(rule, words);
	if (words->kind != PRIVACY_PRESENCE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("presence is not of kanon_presence"),
				 errhint("Write presence => kanon_presence(...), with the distributions, the population's "
						 "rows, and the bounds that are asked about.")));
	risk->presence = words;
	risk->distributions = shares_open(words->relation, risk->source);
}

/* The classes' row types without a column beside the quasi-identifiers. */
static RowTypes
narrow(const Risk *risk, const RowTypes *types)
{
	RowTypes result = *types;
	Source *source = palloc(sizeof(Source));

	*source = *types->source;
	source->nqis = risk->source->nqis;
	source->levels = risk->source->levels;
	result.source = source;
	return result;
}

/* [nqis][distinct] share of the population that has each value. */
static double **
shares_by_code(const KanonPopulation *population, const RowTypes *types, Border *border)
{
	int nqis = types->source->nqis;
	double **shares = palloc(sizeof(double *) * nqis);

	for (int c = 0; c < nqis; c++)
	{
		Size size = sizeof(double) * Max(types->columns[c].distinct, 1);

		shares[c] = border_palloc(border, size);
		memset(shares[c], 0, size);
		for (uint32 v = 0; v < population->nvalues[c]; v++)
			if (population->code[c][v] != KANON_FOREIGN)
				shares[c][population->code[c][v]] += population->share[c][v];
	}
	return shares;
}

/* The share of the population that has all values of a class; negative: it has none that tells. */
static double
match(const RowTypes *types, uint32 type, double *const *shares)
{
	double product = 1;
	bool blank = true;

	for (int c = 0; c < types->source->nqis; c++)
	{
		uint32 code = types->columns[c].code[type];
		bool isnull;

		(void) dictionary_value(types->source->qis[c].dictionary, code, &isnull);
		if (isnull)
			continue;
		product *= shares[c][code];
		blank = false;
	}
	return blank ? -1 : product;
}

void
risk_presence(Risk *risk)
{
	const PrivacyWords *words = risk->presence;
	RiskClasses *classes = risk_classes_read(risk, NULL);
	RowTypes types = narrow(risk, classes->types);
	int64 others = words->rows - risk->units, below = 0;
	double least = 1;
	bool some = false;
	KanonPopulation population;
	double **shares;

	if (others < 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the population has fewer %s than the relation", risk->unit),
			 errdetail("population_rows is " INT64_FORMAT ", the relation has " INT64_FORMAT " %s.",
					   words->rows, risk->units, risk->unit),
			 errhint(
				 "population_rows counts everybody who could be in the relation, including those who are.")));
	shares_read(words, risk->distributions, &types, &population, classes->border);
	shares = shares_by_code(&population, &types, classes->border);
	for (uint32 i = 0; i < classes->n; i++)
	{
		double share = match(&types, classes->first[i], shares), likely;

		CHECK_FOR_INTERRUPTS();
		if (share < 0)
			continue;
		likely = kanon_presence_likelihood(classes->size[i], others, share, words->number, words->most);
		some = true;
		least = Min(least, likely);
		if (likely < words->confidence * (1 - 1e-9))
			below += classes->size[i];
	}
	risk_put(risk, "presence_confidence", NULL, least, some,
			 "how probable it is that the chance to be in the relation is between %.15g and %.15g, for the "
			 "class of which it is least",
			 words->number, words->most);
	risk_put(risk, "presence_share", NULL, risk->units > 0 ? (double) below / (double) risk->units : 0, some,
			 "share of %s in classes of which that is less probable than %.15g", risk->unit,
			 words->confidence);
	risk_classes_free(classes);
}
