/*
 * risk_presence.c: how probable it is that a relation keeps bounds on presence, by the shares
 * of a population's values (kanon_presence).
 *
 * As with a population, NULL in the relation is compatible with every value.
 */
#include "compat.h"
#include "core/privacy/population.h"
#include "assess/assess.h"

void
risk_open_presence(Risk *risk, Jsonb *rule)
{
	PrivacyWords *words = palloc(sizeof(PrivacyWords));

	privacy_parse(rule, words);
	if (words->kind != PRIVACY_PRESENCE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("presence is not of kanon_presence"),
				 errhint("Write presence => kanon_presence(…), with the distributions, the population's "
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
