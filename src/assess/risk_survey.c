/*
 * risk_survey.c: risk as offices of statistics measure it: individual risk by survey weights, and
 * households: an attacker who finds one person of a household finds all; special uniques.
 *
 * Individual risk: core/privacy/uniques.c.  Households: A. Hundepool et al., "Statistical Disclosure
 * Control", 2012, section 3.3: the chance that somebody of a household is found is 1 - product of (1 - r).
 */
#include "compat.h"
#include "core/privacy/rules.h"
#include "assess/assess.h"
#include "host/catalog.h"
#include "rare/rare.h"
#include "rows/dictionary.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

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

/* The risk of each class, by weights, or 1 / f. */
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

/*
 * ---- Special uniques: rows that few columns tell from all others.
 *
 * M. J. Elliot, A. M. Manning, R. W. Ford, "A computational algorithm for handling the special uniques problem",
 * International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10, 2002; M. J. Elliot, A. Manning,
 * K. Mayes, J. Gurd, M. Bane, "SUDA: a program for detecting special uniques", UNECE work session on statistical
 * data confidentiality, 2005.  A minimal sample unique is a set of columns in which a row is unique, though it
 * is so in no part of it.  One of s columns scores the product of (columns - i), i from s to the
 * largest size looked at; a row scores the sum of its sets.
 */

PG_FUNCTION_INFO_V1(kanon_special_uniques);

typedef struct Special
{
	int64 sets[KANON_MAX_QIS + 1];   /* by their columns */
	double score[KANON_MAX_QIS + 1]; /* of one of them */
	double *row;                     /* [ntypes] its score */
	int most;                        /* columns of a set */
	int64 *own; /* [ntypes * most] sets of each row, by their columns; NULL: nobody asks */
} Special;

static void
count_set(void *arg, const KanonRare *rare)
{
	Special *special = arg;

	special->sets[rare->ncolumns]++;
	special->row[rare->type[0]] += special->score[rare->ncolumns];
	if (special->own != NULL)
		special->own[rare->type[0] * (Size) special->most + rare->ncolumns - 1]++;
}

/* The last factor is 0 where all columns are looked at together, and left out. */
static void
set_scores(Special *special, int ncolumns)
{
	double score = 1;

	for (int s = special->most; s >= 1; s--)
	{
		if (s < ncolumns)
			score *= ncolumns - s;
		special->score[s] = score;
	}
}

static void
put_special(const Risk *risk, const Special *special, const RowTypes *types)
{
	double highest = 0, sum = 0, rows = 0;

	for (uint32 i = 0; i < types->ntypes; i++)
	{
		highest = Max(highest, special->row[i]);
		sum += special->row[i];
		rows += special->row[i] > 0;
	}
	risk_put(risk, "special_uniques", NULL, rows, true, "rows that at most %d columns tell from all others",
			 risk->special);
	for (int s = 1; s <= risk->special; s++)
		risk_put(risk, psprintf("minimal_uniques_%d", s), NULL, special->sets[s], true,
				 "sets of columns, %d in each, that tell a row from all others, while no part of them does",
				 s);
	risk_put(risk, "suda_highest", NULL, highest, types->nrows > 0,
			 "highest SUDA score of a row: it grows with more and smaller sets");
	risk_put(risk, "suda_average", NULL, types->nrows > 0 ? sum / (double) types->nrows : 0, types->nrows > 0,
			 "the same score, averaged over all rows");
}

/* Finds the sets of all rows, which have row and perhaps own. */
static void
find_special(Special *special, const RowTypes *types, int ncolumns, Border *border)
{
	KanonProblem problem = {.env = &border->env,
							.ncolumns = ncolumns,
							.columns = types->columns,
							.ntypes = types->ntypes,
							.rows = types->rows,
							.time_limit = INFINITY};
	KanonKnown known = {.most = special->most, .k = 2, .missing = KANON_MISSING_VALUE};

	set_scores(special, ncolumns);
	special->row = border_palloc(border, sizeof(double) * (Size) Max(types->ntypes, 1));
	for (uint32 i = 0; i < types->ntypes; i++)
		special->row[i] = 0;
	border_check(border, kanon_rare_find(&problem, &known, count_set, special), "");
}

void
risk_special(const Risk *risk)
{
	RiskClasses *classes = risk_classes_read(risk, NULL);
	Special special = {.most = risk->special};

	find_special(&special, classes->types, risk->source->nqis, classes->border);
	put_special(risk, &special, classes->types);
	risk_classes_free(classes);
}

/* ---- kanon_special_uniques: row by row ---- */

/* In the order of the SQL declaration. */
enum
{
	ARG_RELATION,
	ARG_QIS,
	ARG_KEY,
	ARG_SIZE
};

/* Rows that stand out are named: only the relation's owner may ask. */
static void
check_owner(Oid relid)
{
	if (!kanon_owns_relation(relid, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only the owner of \"%s\" may ask which rows are special uniques", name_bare(relid)),
				 errhint("kanon_risk with special_uniques tells how many there are.")));
}

static void
put_rows(Lines *lines, const Special *special, const RowTypes *types, const SourceColumn *key)
{
	Datum *counts = palloc(sizeof(Datum) * special->most);
	int nest = plain_text_begin();
	Oid function;
	bool isvarlena;

	getTypeOutputInfo(key->type, &function, &isvarlena);
	for (uint32 i = 0; i < types->ntypes; i++)
	{
		bool isnull;
		Datum value = dictionary_value(key->dictionary, types->grouped[types->source->nqis].code[i], &isnull);

		CHECK_FOR_INTERRUPTS();
		if (special->row[i] == 0)
			continue;
		for (int s = 0; s < special->most; s++)
			counts[s] = Int64GetDatum(special->own[i * (Size) special->most + s]);
		line_value(lines, isnull ? (Datum) 0 : CStringGetTextDatum(OidOutputFunctionCall(function, value)),
				   !isnull);
		line_value(lines,
				   PointerGetDatum(construct_array(counts, special->most, INT8OID, sizeof(int64),
												   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)),
				   true);
		line_float8(lines, special->row[i], true);
		line_end(lines);
	}
	plain_text_end(nest);
}

/* kanon_special_uniques(relation regclass, quasi_identifiers name[], key name, size int) */
Datum
kanon_special_uniques(PG_FUNCTION_ARGS)
{
	Special special = {0};
	Lines *lines;
	Border *border;
	Source *source;
	RowTypes *types;
	int n;

	refuse_null(fcinfo, ARG_RELATION, "relation", "Name a table or view.");
	refuse_null(fcinfo, ARG_KEY, "key", "Name the column that tells you whose a row is.");
	refuse_null(fcinfo, ARG_SIZE, "size", "3 is the default.");
	check_owner(PG_GETARG_OID(ARG_RELATION));
	lines = lines_begin(fcinfo);
	SPI_connect();
	border = border_create("kanon_special_uniques");
	source =
		source_open_columns(PG_GETARG_OID(ARG_RELATION), array_arg(fcinfo, ARG_QIS), "quasi_identifiers");
	(void) source_group_by(source,
						   source_columns(source, name_array_arg(fcinfo, ARG_KEY), "key", "the key", &n));
	special.most = PG_GETARG_INT32(ARG_SIZE);
	if (special.most < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("size must be at least 1"),
						errhint("It is the number of columns, at most, that tell a row from all others.")));
	special.most = Min(special.most, source->nqis);
	source_snapshot(source);
	types = rowtypes_read(source, border);
	special.own = border_palloc(border, sizeof(int64) * special.most * (Size) Max(types->ntypes, 1));
	memset(special.own, 0, sizeof(int64) * special.most * (Size) types->ntypes);
	find_special(&special, types, source->nqis, border);
	put_rows(lines, &special, types, &source->qis[source->nqis]);
	MemoryContextDelete(border->context);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}
