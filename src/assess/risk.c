/*
 * risk.c: kanon_risk: what a relation, published or not, gives away.
 *
 * Class sizes need no more than one grouping query, of which only the number of
 * classes of each size comes back; kanon's own row types are read only for the
 * population and for sensitive columns.
 *
 * Risks: K. El Emam, "Guide to the De-Identification of Personal Health
 * Information", 2013, and Dankar, El Emam, "A method for evaluating marketer
 * re-identification risk", 2010.  For a class with f rows, F persons of the
 * population that could be in it, n rows in all:
 *   prosecutor (knows that the person is in the table)  1 / f
 *   journalist (does not know that)                     1 / F
 *   marketer   (links the whole table)                  sum of f / F, by n
 * Population uniques are estimated from a sample: core/privacy/uniques.c.
 * Rows that show nothing (NULL throughout) are a class like any other: everybody of the population fits them.
 */
#include "compat.h"
#include "privacy/rules.h"
#include "assess/assess.h"
#include "hierarchies/hierarchy.h"
#include "rows/row_types.h"
#include "options/request.h"
#include "host/lines.h"
#include "core/privacy/rules.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(kanon_risk);

/* In the order of the SQL declaration. */
enum
{
	ARG_RELATION,
	ARG_QIS,
	ARG_SENSITIVE,
	ARG_SUBJECT,
	ARG_POPULATION,
	ARG_THRESHOLD,
	ARG_HIERARCHIES,
	ARG_SAMPLING_FRACTION,
	ARG_PRESENCE,
	ARG_WEIGHTS,
	ARG_HOUSEHOLD,
	ARG_SPECIAL
};

void
risk_put(const Risk *risk, const char *measure, const char *sensitive, double value, bool known,
		 const char *meaning, ...)
{
	char text[256];
	va_list args;

	va_start(args, meaning);
	vsnprintf(text, sizeof(text), meaning, args);
	va_end(args);
	line_text(risk->lines, measure);
	line_name(risk->lines, sensitive);
	line_float8(risk->lines, value, known);
	line_text(risk->lines, text);
	line_end(risk->lines);
}

/* The share of rows (or persons) that are in classes smaller than that. */
static double
share_below(const Risk *risk, const SizeCount *sizes, size_t n, int64 below)
{
	int64 sum = 0;

	for (size_t i = 0; i < n; i++)
		if (sizes[i].size < below)
			sum += sizes[i].size * sizes[i].classes;
	return risk->units > 0 ? (double) sum / (double) risk->units : 0;
}

/* Rows that are alone in the population, estimated from the sample's classes that show something. */
static void
put_uniques(const Risk *risk, const SizeCount *sizes, size_t n)
{
	KanonSizeCount *counts = palloc(sizeof(KanonSizeCount) * Max(n, 1));
	size_t ncounts = 0;
	double units = 0, population, zayatz, pitman = 0;
	KanonPitman fit;

	for (size_t i = 0; i < n; i++)
	{
		counts[ncounts++] = (KanonSizeCount){sizes[i].size, sizes[i].classes};
		units += (double) sizes[i].size * sizes[i].classes;
	}
	population = units / risk->sampling_fraction;
	zayatz = ncounts > 0 ? kanon_zayatz_uniques(counts, ncounts, risk->sampling_fraction) : 0;
	fit = kanon_pitman_fit(counts, ncounts);
	if (fit.fits)
		pitman = kanon_pitman_uniques(&fit, population);
	risk_put(risk, "population_uniques_zayatz", NULL, zayatz, ncounts > 0,
			 "persons of the population expected to be alone in their class, by Zayatz");
	risk_put(risk, "population_uniques_pitman", NULL, pitman, fit.fits,
			 "the same by Pitman's sampling formula; NULL: every %s is alone here, which says nothing",
			 risk->one);
	risk_put(risk, "population_unique_share", NULL, units > 0 ? Max(zayatz, pitman) / population : 0,
			 units > 0 && fit.fits, "share of the population that is alone, by the larger of the two");
}

static void
put_classes(Risk *risk)
{
	static const int below[] = {2, 3, 5, 10};
	size_t n;
	int64 rows = 0, classes = 0, blank = 0, unique = 0, k = PG_INT64_MAX, atrisk = 0;
	SizeCount *sizes = class_sizes(risk->source, risk->subject, &n);
	bool some;

	for (size_t i = 0; i < n; i++)
	{
		int64 units = sizes[i].size * sizes[i].classes;

		rows += sizes[i].rows;
		classes += sizes[i].classes;
		risk->units += units;
		if (sizes[i].blank)
			blank += sizes[i].rows;
		k = Min(k, sizes[i].size);
		if (sizes[i].size == 1)
			unique += sizes[i].classes;
		if (1.0 / sizes[i].size > risk->threshold)
			atrisk += units;
	}
	some = risk->units > 0;
	risk_put(risk, "rows", NULL, rows, true, "rows of the relation");
	if (risk->subject != NULL)
		risk_put(
			risk, "persons", NULL, risk->units, true,
			"persons, each counted once in every class where it has rows; the shares below are of these");
	risk_put(risk, "classes", NULL, classes, true, "different combinations of quasi-identifiers");
	risk_put(risk, "k", NULL, some ? k : 0, some, "%s in the smallest class", risk->unit);
	risk_put(risk, "unique_rows", NULL, unique, true, "%s alone in a class", risk->unit);
	risk_put(risk, "blank_rows", NULL, blank, true,
			 "rows with NULL in every quasi-identifier: they show nothing, and are a class like any other");
	for (int i = 0; i < lengthof(below); i++)
		risk_put(risk, psprintf("share_below_%d", below[i]), NULL, share_below(risk, sizes, n, below[i]),
				 some, "share of %s in classes of fewer than %d", risk->unit, below[i]);
	risk_put(
		risk, "prosecutor_highest", NULL, some ? 1.0 / k : 0, some,
		"chance to pick the right %s in the smallest class, for an attacker who knows that the person is in the relation",
		risk->one);
	risk_put(risk, "prosecutor_average", NULL, some ? (double) classes / risk->units : 0, some,
			 "the same chance, averaged over all %s", risk->unit);
	risk_put(risk, "prosecutor_share", NULL, some ? (double) atrisk / risk->units : 0, some,
			 "share of %s whose chance of being picked is above %g %%", risk->unit, 100 * risk->threshold);
	if (!isnan(risk->sampling_fraction))
		put_uniques(risk, sizes, n);
}

RiskClasses *
risk_classes_read(const Risk *risk, const SourceColumn *column)
{
	const Source *source = risk->source;
	Border *border = border_create("kanon_risk");
	RiskClasses *classes = MemoryContextAllocZero(border->context, sizeof(RiskClasses));
	Source *wide = MemoryContextAllocZero(border->context, sizeof(Source));
	const KanonColumn *columns;
	uint32 *seen = NULL;

	*wide = *source;
	wide->qis = MemoryContextAllocZero(border->context, sizeof(SourceColumn) * (source->nqis + 2));
	memcpy(wide->qis, source->qis, sizeof(SourceColumn) * source->nqis);
	if (column != NULL)
		wide->qis[wide->nqis++] = *column;
	if (risk->subject != NULL)
		wide->qis[wide->nqis++] = *risk->subject;
	wide->ngrouped = wide->nqis;
	classes->border = border;
	classes->types = rowtypes_read(wide, border);
	columns = classes->types->columns;
	classes->first = border_palloc(border, sizeof(uint32) * ((Size) classes->types->ntypes + 1));
	classes->size = border_palloc(border, sizeof(int64) * (Size) classes->types->ntypes);
	if (risk->subject != NULL)
	{
		seen = border_palloc(border, sizeof(uint32) * (Size) columns[wide->nqis - 1].distinct);
		memset(seen, 0, sizeof(uint32) * (Size) columns[wide->nqis - 1].distinct);
	}
	for (uint32 i = 0; i < classes->types->ntypes; i++)
	{
		bool same = i > 0;

		for (int c = 0; c < source->nqis && same; c++)
			same = columns[c].code[i] == columns[c].code[i - 1];
		if (!same)
		{
			classes->size[classes->n] = 0;
			classes->first[classes->n++] = i;
		}
		if (risk->subject == NULL)
			classes->size[classes->n - 1] += classes->types->rows[i];
		else
		{
			uint32 *last = &seen[columns[wide->nqis - 1].code[i]];

			classes->size[classes->n - 1] += *last != classes->n;
			*last = classes->n;
		}
	}
	classes->first[classes->n] = classes->types->ntypes;
	return classes;
}

void
risk_classes_free(RiskClasses *classes)
{
	MemoryContextDelete(classes->border->context);
}

/* The one column that an argument names. */
static const SourceColumn *
column_arg(FunctionCallInfo fcinfo, int arg, const Source *source, const char *argument, const char *what)
{
	Datum name = PG_GETARG_DATUM(arg);
	ArrayType *names = construct_array(&name, 1, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
	int n;

	return source_columns(source, names, argument, what, &n);
}

/* The arguments that ask about a survey's rows, and not about persons. */
static void
survey_args(FunctionCallInfo fcinfo, Risk *risk)
{
	if (!PG_ARGISNULL(ARG_WEIGHTS))
	{
		risk->weights = column_arg(fcinfo, ARG_WEIGHTS, risk->source, "weights", "the weights column");
		risk_check_weights(risk->weights);
	}
	if (!PG_ARGISNULL(ARG_HOUSEHOLD))
		risk->household = column_arg(fcinfo, ARG_HOUSEHOLD, risk->source, "household", "the household");
	if (!PG_ARGISNULL(ARG_SPECIAL))
	{
		risk->special = PG_GETARG_INT32(ARG_SPECIAL);
		if (risk->special < 1 || risk->special > risk->source->nqis)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("special_uniques must be between 1 and %d, the number of quasi-identifiers",
						risk->source->nqis),
				 errhint(
					 "It is the number of columns, at most, that tell a row from all others; 3 is usual.")));
	}
	if (risk->subject != NULL && (risk->weights != NULL || risk->household != NULL || risk->special > 0))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("weights, household and special_uniques count rows, and subject counts persons"),
				 errhint("Leave subject out, and ask of a view with one row per person.")));
}

/* A further column is grouped together with the quasi-identifiers. */
static void
check_beside(const Risk *risk, const SourceColumn *column)
{
	SourceColumn *together = palloc(sizeof(SourceColumn) * (risk->source->nqis + 1));

	if (column == NULL)
		return;
	memcpy(together, risk->source->qis, sizeof(SourceColumn) * risk->source->nqis);
	together[risk->source->nqis] = *column;
	source_check_groupable(together, risk->source->nqis + 1);
}

static double
sampling_arg(FunctionCallInfo fcinfo)
{
	double fraction;

	if (PG_ARGISNULL(ARG_SAMPLING_FRACTION))
		return NAN;
	fraction = PG_GETARG_FLOAT8(ARG_SAMPLING_FRACTION);
	if (!(fraction > 0 && fraction <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sampling_fraction must be above 0 and at most 1"),
				 errhint("It is the share of the population that is in the relation: 0.01 for a survey "
						 "of one in a hundred.")));
	return fraction;
}

/* All that are grouped together in some query. */
static void
check_groupable(const Risk *risk, const SourceColumn *sensitive, int nsensitive)
{
	const Source *source = risk->source;
	SourceColumn *together = palloc(sizeof(SourceColumn) * (source->nqis + 2));

	memcpy(together, source->qis, sizeof(SourceColumn) * source->nqis);
	if (risk->subject != NULL)
	{
		together[source->nqis] = *risk->subject;
		source_check_groupable(together, source->nqis + 1);
	}
	for (int i = 0; i < nsensitive; i++)
	{
		int n = source->nqis;

		if (risk->subject != NULL)
		{
			if (strcmp(risk->subject->name, sensitive[i].name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" is both the subject and sensitive", sensitive[i].name),
						 errhint("The subject says which person a row is about; take it out of sensitive.")));
			n++;
		}
		together[n] = sensitive[i];
		source_check_groupable(together, n + 1);
	}
}

Datum
kanon_risk(PG_FUNCTION_ARGS)
{
	Risk risk = {0};
	SourceColumn *sensitive;
	int nsensitive;
	HierarchyChoice *hierarchies;
	Source *population = NULL;

	refuse_null(fcinfo, ARG_RELATION, "relation", "Name a table or view.");
	risk.threshold = threshold_arg(fcinfo, ARG_THRESHOLD);
	risk.sampling_fraction = sampling_arg(fcinfo);
	risk.lines = lines_begin(fcinfo);
	SPI_connect();
	risk.source =
		source_open_columns(PG_GETARG_OID(ARG_RELATION), array_arg(fcinfo, ARG_QIS), "quasi_identifiers");
	risk.unit = "rows";
	risk.one = "row";
	if (!PG_ARGISNULL(ARG_SUBJECT))
	{
		risk.subject = column_arg(fcinfo, ARG_SUBJECT, risk.source, "subject", "the subject");
		risk.unit = "persons";
		risk.one = "person";
	}
	survey_args(fcinfo, &risk);
	check_beside(&risk, risk.weights);
	check_beside(&risk, risk.household);
	sensitive =
		source_columns(risk.source, array_arg(fcinfo, ARG_SENSITIVE), "sensitive", "sensitive", &nsensitive);
	hierarchies = hierarchies_named(jsonb_arg(fcinfo, ARG_HIERARCHIES), sensitive, nsensitive, "sensitive");
	check_groupable(&risk, sensitive, nsensitive);
	if (!PG_ARGISNULL(ARG_POPULATION))
		population = risk_open_population(&risk, PG_GETARG_OID(ARG_POPULATION), array_arg(fcinfo, ARG_QIS));
	if (!PG_ARGISNULL(ARG_PRESENCE))
		risk_open_presence(&risk, PG_GETARG_JSONB_P(ARG_PRESENCE));
	for (int i = 0; i < nsensitive; i++)
		hierarchy_lock(&hierarchies[i]);
	source_snapshot(risk.source);
	put_classes(&risk);
	if (population != NULL)
		risk_population(&risk, population);
	if (risk.presence != NULL)
		risk_presence(&risk);
	if (risk.weights != NULL || risk.household != NULL)
		risk_survey(&risk);
	if (risk.special > 0)
		risk_special(&risk);
	for (int i = 0; i < nsensitive; i++)
		risk_sensitive(&risk, &sensitive[i], &hierarchies[i]);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}

/*
 * ---- Kanon_risk_columns: which columns of a relation tell its rows
 * apart.
 */

PG_FUNCTION_INFO_V1(kanon_risk_columns);

static void
put_subset(Lines *lines, const Source *source, const KanonSubset *subset, bool pairs)
{
	const char *names[KANON_SUBSET_MOST];
	ArrayType *list;

	for (int i = 0; i < subset->ncolumns; i++)
		names[i] = source->qis[subset->column[i]].name;
	list = name_list(names, subset->ncolumns);
	line_value(lines, PointerGetDatum(list), true);
	line_int8(lines, subset->classes, true);
	line_int8(lines, subset->unique, true);
	line_float8(lines, subset->distinction, true);
	line_float8(lines, subset->separation, pairs);
	line_end(lines);
	pfree(list);
}

/* kanon_risk_columns(relation regclass, columns name[], supersets boolean) */
Datum
kanon_risk_columns(PG_FUNCTION_ARGS)
{
	Lines *lines;
	KanonProblem problem = {0};
	Border *border;
	Source *source;
	RowTypes *types;
	KanonSubset *subsets;
	size_t n;
	bool supersets;

	refuse_null(fcinfo, 0, "relation", "Name a table or view.");
	supersets = bool_arg(fcinfo, 2, "supersets");
	lines = lines_begin(fcinfo);
	SPI_connect();
	border = border_create("kanon_risk_columns");
	source = source_open_columns(PG_GETARG_OID(0), array_arg(fcinfo, 1), "columns");
	source_snapshot(source);
	types = rowtypes_read_unsorted(source, 0, border);
	problem.env = &border->env;
	problem.ncolumns = source->nqis;
	problem.columns = types->columns;
	problem.ntypes = types->ntypes;
	problem.rows = types->rows;
	border_check(border, kanon_rank_subsets(&problem, &subsets, &n), "");
	for (size_t i = 0; i < n; i++)
		if (subsets[i].minimal || supersets)
			put_subset(lines, source, &subsets[i], types->nrows > 1);
	MemoryContextDelete(border->context);
	PopActiveSnapshot();
	SPI_finish();
	return (Datum) 0;
}

/*
 * ---- What the classes of a relation give away of a sensitive
 * column.  A blank class counts like any other: who is in none of the others
 * must be in that one.
 */

/* With a subject a person counts once for each value that it has in a class. */
static int64
type_weight(const Risk *risk, const RowTypes *types, uint32 type)
{
	return risk->subject != NULL ? 1 : types->rows[type];
}

static int
compare_pairs(const void *a, const void *b)
{
	uint64 left = *(const uint64 *) a;
	uint64 right = *(const uint64 *) b;

	return left < right ? -1 : left > right;
}

/*
 * How often each value occurs in the whole relation, as the rules count it: with
 * a subject a person counts once for each value, in however many classes it has it.
 */
static int64 *
count_values(const Risk *risk, const RiskClasses *classes, const KanonColumn *values)
{
	const RowTypes *types = classes->types;
	Border *border = classes->border;
	int64 *count = border_palloc(border, sizeof(int64) * (Size) values->distinct);
	uint64 *pairs;

	memset(count, 0, sizeof(int64) * (Size) values->distinct);
	if (risk->subject == NULL)
	{
		for (uint32 type = 0; type < types->ntypes; type++)
			count[values->code[type]] += types->rows[type];
		return count;
	}
	pairs = border_palloc(border, sizeof(uint64) * (Size) types->ntypes);
	for (uint32 type = 0; type < types->ntypes; type++)
		pairs[type] = (uint64) values->code[type] << 32 | values[1].code[type];
	qsort(pairs, types->ntypes, sizeof(uint64), compare_pairs);
	for (uint32 i = 0; i < types->ntypes; i++)
		if (i == 0 || pairs[i] != pairs[i - 1])
			count[pairs[i] >> 32]++;
	border_pfree(border, pairs);
	return count;
}

/* The worst class in each respect. */
static void
measure_classes(const Risk *risk, const RiskClasses *classes, KanonDiversityMeter *meter,
				KanonDiversity *worst)
{
	const RowTypes *types = classes->types;
	const uint32 *codes = types->columns[risk->source->nqis].code;
	uint32 *code = border_palloc(classes->border, sizeof(uint32) * (Size) types->ntypes);
	int64 *count = border_palloc(classes->border, sizeof(int64) * (Size) types->ntypes);

	for (uint32 i = 0; i < classes->n; i++)
	{
		KanonDiversity diversity;
		uint32 n = 0;

		if (i % 256 == 0)
			CHECK_FOR_INTERRUPTS();
		for (uint32 type = classes->first[i]; type < classes->first[i + 1]; type++)
		{
			if (n == 0 || code[n - 1] != codes[type])
			{
				code[n] = codes[type];
				count[n++] = 0;
			}
			count[n - 1] += type_weight(risk, types, type);
		}
		kanon_diversity_class(meter, code, count, n, classes->size[i], &diversity);
		if (i == 0)
			*worst = diversity;
		else
			kanon_diversity_worse(worst, &diversity);
	}
}

/* Lines for one column; worst == NULL: there are no rows. */
static void
put_lines(Risk *risk, const SourceColumn *column, const KanonDiversity *worst, bool ordered,
		  bool hierarchical)
{
	static const KanonDiversity nothing = {0};
	const char *name = column->name;
	bool some = worst != NULL;

	if (!some)
		worst = &nothing;
	risk_put(risk, "distinct_l", name, worst->distinct, some,
			 "every class has at least so many different values");
	risk_put(risk, "entropy_l", name, worst->entropy, some,
			 "every class is as mixed as one of so many equally frequent values");
	for (int l = 2; l <= KANON_RECURSIVE_MOST; l++)
		risk_put(risk, psprintf("recursive_c_%d", l), name, worst->recursive[l],
				 some && isfinite(worst->recursive[l]),
				 "recursive (c,%d)-diversity holds for every c above this; NULL: for none", l);
	risk_put(risk, "alpha", name, worst->alpha, some,
			 "the most frequent value of a class has at most this share of its %s", risk->unit);
	risk_put(risk, "t_equal", name, worst->t_equal, some,
			 "largest distance of a class from the whole relation, with all values equally far apart");
	if (ordered)
		risk_put(risk, "t_ordered", name, worst->t_ordered, some,
				 "the same, with values as far apart as in their order (NULL last)");
	if (hierarchical)
		risk_put(risk, "t_hierarchical", name, worst->t_hierarchical, some,
				 "the same, with values as far apart as in their hierarchy");
}

void
risk_sensitive(Risk *risk, const SourceColumn *column, const HierarchyChoice *hierarchy)
{
	bool ordered = OidIsValid(lookup_type_cache(column->type, TYPECACHE_LT_OPR)->lt_opr);
	RiskClasses *classes = risk_classes_read(risk, column);
	const KanonColumn *values = &classes->types->columns[risk->source->nqis];
	KanonTaxonomy *taxonomy = NULL;
	KanonDiversityMeter *meter;
	KanonDiversity worst;

	if (hierarchy_chosen(hierarchy))
		taxonomy = taxonomy_read(hierarchy, classes->types, risk->source->nqis, classes->border);
	if (classes->n > 0)
	{
		border_check(classes->border,
					 kanon_diversity_open(&classes->border->env, count_values(risk, classes, values),
										  values->distinct, taxonomy, &meter),
					 "");
		measure_classes(risk, classes, meter, &worst);
	}
	put_lines(risk, column, classes->n > 0 ? &worst : NULL, ordered, hierarchy_chosen(hierarchy));
	risk_classes_free(classes);
}
