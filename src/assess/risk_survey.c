/*
 * risk_survey.c: risk as offices of statistics measure it: individual risk by survey weights, and
 * households: an attacker who finds one person of a household finds all.
 *
 * Individual risk: core/privacy/uniques.c.  Households: A. Hundepool et al., "Statistical Disclosure
 * Control", 2012, section 3.3: the chance that somebody of a household is found is 1 - product of (1 - r).
 */
#include "compat.h"
#include "core/privacy/rules.h"
#include "assess/assess.h"
#include "rows/dictionary.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

/* Shows the class a value? */
static bool
class_blank(const Risk *risk, const RiskClasses *classes, uint32 i)
{
	for (int c = 0; c < risk->source->nqis; c++)
	{
		const KanonColumn *column = &classes->types->columns[c];

		if (!column->has_null || column->code[classes->first[i]] != column->distinct - 1)
			return false;
	}
	return true;
}

void
risk_check_weights(const SourceColumn *weights)
{
	if (!type_is_number(weights->type))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("weights column \"%s\" is not a number", weights->name),
						errhint("A row's weight says how many of the population it stands for.")));
}

/* The numbers of the weights' values. */
static double *
read_weights(const Risk *risk, const RiskClasses *classes)
{
	const SourceColumn *column = &classes->types->source->qis[risk->source->nqis];
	uint32 n = classes->types->columns[risk->source->nqis].distinct;
	double *weights = border_palloc(classes->border, sizeof(double) * (Size) Max(n, 1));

	for (uint32 code = 0; code < n; code++)
	{
		bool isnull;
		Datum value = dictionary_value(column->dictionary, code, &isnull);

		weights[code] = isnull ? NAN : value_as_number(getBaseType(column->type), value);
		if (!(weights[code] > 0) || isinf(weights[code]))
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weights column \"%s\" has NULL or a number that is not above 0", column->name),
				 errhint(
					 "A row's weight says how many of the population it stands for: 1 or more in most surveys.")));
	}
	return weights;
}

/* The risk of each class, 0 of the blank one: by weights, or 1 / f. */
static double *
class_risks(const Risk *risk, const RiskClasses *classes, double *population)
{
	double *risks = palloc_extended(sizeof(double) * (Size) Max(classes->n, 1), MCXT_ALLOC_HUGE);
	const KanonColumn *column = &classes->types->columns[risk->source->nqis];
	double *weights = risk->weights != NULL ? read_weights(risk, classes) : NULL;

	*population = 0;
	for (uint32 i = 0; i < classes->n; i++)
	{
		double sum = 0;

		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		for (uint32 type = classes->first[i]; weights != NULL && type < classes->first[i + 1]; type++)
			sum += weights[column->code[type]] * (double) classes->types->rows[type];
		*population += sum;
		if (class_blank(risk, classes, i))
			risks[i] = 0;
		else
			risks[i] = weights != NULL ? kanon_individual_risk((double) classes->size[i], sum)
									   : 1.0 / (double) classes->size[i];
	}
	return risks;
}

/* Reports the risk of each row: rows[i] have risks[i]. */
static void
put_risks(const Risk *risk, const char *prefix, const double *risks, const int64 *rows, uint32 n,
		  const char *what)
{
	double highest = 0, expected = 0, above = 0, all = 0;

	for (uint32 i = 0; i < n; i++)
	{
		highest = Max(highest, risks[i]);
		expected += risks[i] * (double) rows[i];
		all += (double) rows[i];
		if (risks[i] > risk->threshold)
			above += (double) rows[i];
	}
	risk_put(risk, psprintf("%s_highest", prefix), NULL, highest, all > 0, "highest %s", what);
	risk_put(risk, psprintf("%s_average", prefix), NULL, all > 0 ? expected / all : 0, all > 0,
			 "the same chance, averaged over all rows: the global risk");
	risk_put(risk, psprintf("%s_share", prefix), NULL, all > 0 ? above / all : 0, all > 0,
			 "share of rows whose chance of being picked is above %g %%", 100 * risk->threshold);
	risk_put(risk, psprintf("%s_expected", prefix), NULL, expected, true,
			 "rows that are expected to be found: the sum of that chance");
}

/* An attacker who finds one person of a household finds all of it; a row without a household is its own household. */
static void
put_households(const Risk *risk, const double *class_risk, uint32 nclasses)
{
	RiskClasses *classes = risk_classes_read(risk, risk->household);
	const RowTypes *types = classes->types;
	const KanonColumn *column = &types->columns[risk->source->nqis];
	uint32 alone = column->has_null ? column->distinct - 1 : PG_UINT32_MAX, n = 0;
	uint32 most = column->distinct + (column->has_null ? types->ntypes : 0);
	double *missed = border_palloc(classes->border, sizeof(double) * (Size) Max(most, 1));
	int64 *rows = border_palloc(classes->border, sizeof(int64) * (Size) Max(most, 1));
	int64 households = 0;

	if (classes->n != nclasses)
		elog(ERROR, "kanon_risk read %u classes, and %u before", classes->n, nclasses);
	for (; n < column->distinct; n++)
	{
		missed[n] = 0;
		rows[n] = 0;
	}
	for (uint32 i = 0; i < classes->n; i++)
		for (uint32 type = classes->first[i]; type < classes->first[i + 1]; type++)
		{
			bool single = column->code[type] == alone;
			uint32 h = single ? n++ : column->code[type];

			missed[h] = single ? log1p(-class_risk[i])
							   : missed[h] + (double) types->rows[type] * log1p(-class_risk[i]);
			rows[h] = single ? types->rows[type] : rows[h] + types->rows[type];
			households += single ? types->rows[type] : 0;
		}
	for (uint32 h = 0; h < n; h++)
	{
		missed[h] = -expm1(missed[h]);
		households += h < column->distinct && rows[h] > 0;
	}
	risk_put(risk, "households", NULL, households, true, "households; a row without one is one of its own");
	put_risks(risk, "household", missed, rows, n,
			  "chance that an attacker finds a member of the row's household, and so all members");
	risk_classes_free(classes);
}

void
risk_survey(const Risk *risk)
{
	RiskClasses *classes = risk_classes_read(risk, risk->weights);
	double population;
	double *risks = class_risks(risk, classes, &population);
	uint32 n = classes->n;

	if (risk->weights != NULL)
	{
		risk_put(risk, "weighted_population", NULL, population, true,
				 "persons of the population: the sum of the weights");
		put_risks(risk, "individual", risks, classes->size, n,
				  "chance to pick the right person of the population, by the weights (Benedetti, Franconi)");
	}
	risk_classes_free(classes);
	if (risk->household != NULL)
		put_households(risk, risks, n);
	pfree(risks);
}
