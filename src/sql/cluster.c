/*
 * cluster.c: kanon_cluster, classes of any shape by partitioning or clustering; and
 * records that keep k matches in one direction or both.
 */
#include "compat.h"
#include "run/freeform.h"
#include "run/publish.h"
#include "core/cluster/cluster.h"
#include "write/show.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_cluster);

/* In the order of the SQL declaration. */
enum
{
	ARG_METHOD = PUBLISH_K + 1,
	ARG_HIERARCHIES,
	ARG_LEVEL_COST,
	ARG_SHOW,
	ARG_WEIGHTS,
	ARG_KEEP,
	ARG_CATEGORICAL,
	ARG_RESIDUAL,
	ARG_MARK,
	ARG_REPLACE,
	ARG_DRY_RUN,
	ARG_TIME_LIMIT,
	ARG_CLASS_COLUMN,
	ARG_PRIVACY
};

/* Columns of the result. */
enum
{
	OUT_CLASSES,
	OUT_ROW_COUNT,
	OUT_DROPPED,
	OUT_MIN,
	OUT_AVG,
	OUT_MAX,
	OUT_COST,
	OUT_BOUND,
	OUT_GUARANTEE,
	OUT_GCP,
	OUT_USEFULNESS,
	OUT_COLUMNS
};

static const int recorded[] = {PUBLISH_QIS, PUBLISH_K,   ARG_METHOD,     ARG_HIERARCHIES, ARG_LEVEL_COST,
							   ARG_SHOW,    ARG_WEIGHTS, ARG_KEEP,       ARG_CATEGORICAL, ARG_RESIDUAL,
							   ARG_MARK,    ARG_REPLACE, ARG_TIME_LIMIT, ARG_CLASS_COLUMN};

static const PublishSignature signature = {.function = "kanon_cluster",
										   .least_k = 2,
										   .k_hint = K_HINT,
										   PUBLISH_COMMON,
										   .class_column = ARG_CLASS_COLUMN,
										   .hierarchies = ARG_HIERARCHIES,
										   .level_cost = ARG_LEVEL_COST,
										   .privacy = ARG_PRIVACY};

/* ---- arguments ---- */

/* A clustering, or a relaxed method, whose records are no classes. */
typedef struct Method
{
	const char *name;
	KanonSolve solve;
	unsigned privacy;
	bool relaxed;
	KanonFreeformOptions options; /* of a relaxed one */
} Method;

static void
append_name(StringInfo names, const char *name)
{
	appendStringInfo(names, "%s'%s'", names->len > 0 ? ", " : "", name);
}

static Method
method_arg(FunctionCallInfo fcinfo, int64 k)
{
	const char *word = text_arg(fcinfo, ARG_METHOD, "method", "'mondrian' is the fastest.");
	Method relaxed = {.name = word, .solve = kanon_solve_freeform, .relaxed = true};
	const KanonSolver *method = kanon_cluster_method_find(word);
	int64 only = strcmp(word, "pairs") == 0 ? 2 : strcmp(word, "triples") == 0 ? 3 : 0;
	StringInfoData known;

	if (kanon_relaxed_method(word, &relaxed.options.method))
		return relaxed;
	if (method == NULL)
	{
		initStringInfo(&known);
		for (method = kanon_cluster_methods; method->name != NULL; method++)
			append_name(&known, method->name);
		for (int m = 0; kanon_relaxed_name(m) != NULL; m++)
			append_name(&known, kanon_relaxed_name(m));
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("method \"%s\" is not known", word),
						errhint("Known methods: %s.", known.data)));
	}
	if (only > 0 && k != only)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("method \"%s\" is for k = " INT64_FORMAT " only", word, only),
						errhint("'forest' has a proven factor for every k.")));
	return (Method){.name = method->name, .solve = method->solve, .privacy = method->privacy};
}

typedef enum ShowWord
{
	SHOW_WORD_AUTO,
	SHOW_WORD_SUPPRESS,
	SHOW_WORD_HIERARCHY,
	SHOW_WORD_RANGE,
	SHOW_WORD_SET
} ShowWord;

static ShowWord
show_word(const char *word)
{
	static const char *const words[] = {"auto", "suppress", "hierarchy", "range", "set"};

	for (int i = 0; i < lengthof(words); i++)
		if (strcmp(word, words[i]) == 0)
			return (ShowWord) i;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("show \"%s\" is not known", word),
			 errhint("It is 'auto', 'suppress', 'hierarchy', 'range' or 'set', or such a word for each "
					 "quasi-identifier, separated by commas.")));
}

/* One word for all quasi-identifiers, or one for each: a word for each of nqis. */
static ShowWord *
show_words(char *text, int nqis)
{
	ShowWord *words = palloc(sizeof(ShowWord) * nqis);
	bool several = strchr(text, ',') != NULL;
	char *rest = text;
	int n = 0;

	while (rest != NULL)
	{
		char *word = strsep(&rest, ",");

		word += strspn(word, " ");
		word[strcspn(word, " ")] = '\0';
		if (n < nqis)
			words[n] = show_word(word);
		n++;
	}
	if (several && n != nqis)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("show has %d words, there are %d quasi-identifiers", n, nqis),
						errhint("Give one word for all, or one for each in their order.")));
	for (int i = several ? n : 1; i < nqis; i++)
		words[i] = words[0];
	return words;
}

static void
refuse_show(const SourceColumn *column, const char *detail, const char *hint)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("show does not fit column \"%s\"", column->name), errdetail("%s", detail),
					errhint("%s", hint)));
}

/* How one quasi-identifier is shown; its published type follows. */
static KanonClusterShow
show_of(SourceColumn *column, bool levels, ShowWord word)
{
	bool ranges = column->numerical && OidIsValid(range_type_of(column->type));

	if (word == SHOW_WORD_AUTO)
		word = levels ? SHOW_WORD_HIERARCHY : ranges ? SHOW_WORD_RANGE : SHOW_WORD_SUPPRESS;
	if (levels && word != SHOW_WORD_HIERARCHY)
		refuse_show(column, "It has a hierarchy, which would not be shown.",
					"Show it by 'hierarchy', or leave the hierarchy out.");
	switch (word)
	{
		case SHOW_WORD_HIERARCHY:
			if (!levels)
				refuse_show(
					column, "It has no hierarchy, or one without a level below the top.",
					"Name its hierarchy in hierarchies => '{\"column\": \"relation\"}', or say 'auto'.");
			return KANON_CLUSTER_HIERARCHY;
		case SHOW_WORD_RANGE:
			if (!ranges)
				refuse_show(column, "Ranges are for numbers and dates that are not categorical.",
							"Say 'auto', 'set' or 'suppress' for it.");
			column->show_as = SHOW_AS_RANGE;
			return KANON_CLUSTER_RANGE;
		case SHOW_WORD_SET:
			if (!OidIsValid(get_array_type(getBaseType(column->type))))
				refuse_show(column, "Its type has no arrays.", "Say 'auto' or 'suppress' for it.");
			column->show_as = SHOW_AS_SET;
			return KANON_CLUSTER_SET;
		default:
			return KANON_CLUSTER_SUPPRESS;
	}
}

static struct KanonClusterOptions *
options_of(Source *source, char *show)
{
	struct KanonClusterOptions *options = palloc(sizeof(struct KanonClusterOptions));
	KanonClusterShow *shows = palloc(sizeof(KanonClusterShow) * source->nqis);
	ShowWord *words = show_words(show, source->nqis);
	const int *first = source->levels.first;

	for (int c = 0; c < source->nqis; c++)
		shows[c] = show_of(&source->qis[c], first[c + 1] - first[c] > 1, words[c]);
	options->show = shows;
	return options;
}

/* ---- (1,k)-, (k,1)- and (k,k)-anonymity ---- */

/* Records of a relaxed method show ranges and sets; raises where they are to show something else. */
static void
relaxed_columns(Source *source, char *show)
{
	ShowWord *words = show_words(show, source->nqis);
	const int *first = source->levels.first;

	for (int c = 0; c < source->nqis; c++)
	{
		SourceColumn *column = &source->qis[c];

		if (first[c + 1] - first[c] > 1)
			refuse_show(column, "It has a hierarchy, and records without classes show ranges and sets only.",
						"Leave the hierarchy out, or use another method.");
		if (words[c] == SHOW_WORD_SUPPRESS || words[c] == SHOW_WORD_HIERARCHY)
			refuse_show(column, "Records without classes show ranges and sets only.",
						"Say 'auto', 'range' or 'set' for it.");
		if (words[c] == SHOW_WORD_SET)
			column->numerical = false;
	}
	freeform_columns(source);
	for (int c = 0; c < source->nqis; c++)
		if (words[c] == SHOW_WORD_RANGE && source->qis[c].show_as != SHOW_AS_RANGE)
			refuse_show(&source->qis[c], "Ranges are for numbers and dates that are not categorical.",
						"Say 'auto' or 'set' for it.");
}

static void
relaxed_class_column(FunctionCallInfo fcinfo, const Method *method)
{
	if (method->relaxed && !PG_ARGISNULL(ARG_CLASS_COLUMN))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("method \"%s\" makes no classes that could be classified", method->name),
						errhint("Leave class_column out.")));
}

/* Every row is compared with every other: refused before the work where that is too much. */
static void
relaxed_size(const Run *run)
{
	double left = (double) run->border->limit - run->border->used - freeform_release_memory(run);
	int64 n = run->types->nrows;

	if (n > KANON_RELAXED_ROWS)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the table is too large for this method"),
			 errdetail("It has " INT64_FORMAT
					   " rows; every row is compared with every other, for up to %d rows.",
					   n, KANON_RELAXED_ROWS),
			 errhint("Use kanon_freeform with a partition_size, which keeps more, or method 'mondrian'.")));
	if (n > 0 && kanon_freeform_memory(&run->problem, n) > left)
		ereport(
			ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY), errmsg("kanon needs more memory than it may use"),
			 errdetail("Which of " INT64_FORMAT
					   " rows each record shows would take about %.0f kB, of which %.0f kB are left.",
					   n, kanon_freeform_memory(&run->problem, n) / 1024, Max(left, 0) / 1024),
			 errhint(
				 "Raise \"kanon.max_memory\", or use kanon_freeform with a partition_size, which keeps more.")));
}

/* What such a release is not, and against whom it is no protection. */
static void
notice_relaxed(const Method *method)
{
	static const char *const against[] = {
		"A record may show one row alone: who knows the quasi-identifiers of everybody can tell whose it is.",
		"A row may match one record alone: who knows one person's quasi-identifiers can find that person's record.",
		"Not all k matches need be possible at once: who knows the quasi-identifiers of everybody can rule some out."};

	ereport(
		NOTICE,
		(errmsg("a release by method \"%s\" has no classes and is weaker than k-anonymity", method->name),
		 errdetail("%s Each record has the kept values of the row it was made from.",
				   against[method->options.method - KANON_FREEFORM_ONE_K]),
		 errhint(
			 "%s",
			 method->options.method == KANON_FREEFORM_K_K
				 ? "kanon_freeform publishes without classes, too, and makes all k matches equally likely."
				 : "Method 'k_k' keeps both directions, kanon_freeform makes all k matches equally likely.")));
}

/* ---- the result ---- */

static void
notice_lost(const Run *run)
{
	if (run->report.detail[0] != '\0')
		ereport(NOTICE,
				(errmsg("the method's own factor is not guaranteed for this release"),
				 errdetail("Reason: %s.", run->report.detail),
				 errhint("Raise \"kanon.max_memory\" or time_limit; lower_bound holds all the same.")));
}

static void
return_summary(const Run *run, ReturnSetInfo *rsinfo)
{
	const KanonReport *report = &run->report;
	const KanonMeasures *measures = &run->measures;
	bool none = run->release.nclasses == 0;
	bool classless = run->problem.freeform != NULL;
	Datum values[OUT_COLUMNS];
	bool nulls[OUT_COLUMNS] = {false};

	values[OUT_CLASSES] = Int64GetDatum(run->release.nclasses);
	values[OUT_ROW_COUNT] = Int64GetDatum(measures->rows);
	values[OUT_DROPPED] = Int64GetDatum(run->release.dropped);
	values[OUT_MIN] = Int64GetDatum(measures->class_min);
	values[OUT_AVG] = Float8GetDatum(measures->class_avg);
	values[OUT_MAX] = Int64GetDatum(measures->class_max);
	values[OUT_COST] = Float8GetDatum(report->cost);
	values[OUT_BOUND] = Float8GetDatum(report->lower_bound);
	values[OUT_GUARANTEE] = Float8GetDatum(report->guarantee);
	values[OUT_GCP] = Float8GetDatum(measures->gcp);
	values[OUT_USEFULNESS] = Float8GetDatum(measures->usefulness);
	nulls[OUT_CLASSES] = classless;
	nulls[OUT_MIN] = nulls[OUT_AVG] = nulls[OUT_MAX] = nulls[OUT_USEFULNESS] = none || classless;
	nulls[OUT_GCP] = none;
	nulls[OUT_BOUND] = none || isinf(report->lower_bound);
	nulls[OUT_GUARANTEE] = none || report->guarantee == 0;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

Datum
kanon_cluster(PG_FUNCTION_ARGS)
{
	Publish publish;
	KanonResidual residual;
	Method method;
	double time_limit;
	char *show;
	Run *run;

	publish_args(&publish, fcinfo, &signature);
	method = method_arg(fcinfo, publish.k);
	privacy_supported(publish.privacy, method.name, method.privacy);
	relaxed_class_column(fcinfo, &method);
	residual =
		residual_parse(text_arg(fcinfo, ARG_RESIDUAL, "residual", "It is 'suppress', 'drop' or 'error'."));
	show = text_arg(fcinfo, ARG_SHOW, "show", "'auto' is the default.");
	time_limit = time_limit_arg(fcinfo, ARG_TIME_LIMIT);

	run = publish_begin(&publish);
	run->problem.residual = residual;
	run->problem.time_limit = time_limit;
	run->problem.mask.max_suppressed = -1;
	run->problem.mask.max_cost = INFINITY;
	run->problem.mask.order = KANON_ORDER_DOMAIN;
	if (method.relaxed)
	{
		relaxed_columns(run->source, show);
		run->problem.freeform = &method.options;
	}
	else
		run->problem.cluster = options_of(run->source, show);
	publish_read(&publish);
	if (method.relaxed)
	{
		relaxed_size(run);
		notice_relaxed(&method);
	}
	run_solve(run, method.name, method.solve);
	notice_lost(run);
	publish_end(&publish);
	return_summary(run, (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}
