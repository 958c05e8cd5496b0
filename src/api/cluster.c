/*
 * cluster.c: kanon_cluster, classes of any shape by partitioning or clustering.
 */
#include "compat.h"
#include "api/publish.h"
#include "core/cluster.h"
#include "write/show.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_cluster);

/* In the order of the SQL declaration. */
enum
{
	ARG_METHOD = PUBLISH_K + 1, ARG_HIERARCHIES, ARG_LEVEL_COST, ARG_SHOW, ARG_WEIGHTS, ARG_KEEP,
	ARG_CATEGORICAL, ARG_RESIDUAL, ARG_MARK, ARG_REPLACE, ARG_DRY_RUN, ARG_TIME_LIMIT,
	ARG_CLASS_COLUMN, ARG_PRIVACY
};

/* Columns of the result. */
enum
{
	OUT_CLASSES, OUT_ROW_COUNT, OUT_DROPPED, OUT_MIN, OUT_AVG, OUT_MAX, OUT_COST, OUT_BOUND,
	OUT_GUARANTEE, OUT_GCP, OUT_USEFULNESS, OUT_COLUMNS
};

static const int recorded[] = {
	PUBLISH_QIS, PUBLISH_K, ARG_METHOD, ARG_HIERARCHIES, ARG_LEVEL_COST, ARG_SHOW, ARG_WEIGHTS,
	ARG_KEEP, ARG_CATEGORICAL, ARG_RESIDUAL, ARG_MARK, ARG_REPLACE, ARG_TIME_LIMIT, ARG_CLASS_COLUMN
};

static const PublishSignature signature = {
	.function = "kanon_cluster",
	.least_k = 2,
	.k_hint = K_HINT,
	.keep = ARG_KEEP,
	.mark = ARG_MARK,
	.replace = ARG_REPLACE,
	.dry_run = ARG_DRY_RUN,
	.weights = ARG_WEIGHTS,
	.categorical = ARG_CATEGORICAL,
	.class_column = ARG_CLASS_COLUMN,
	.hierarchies = ARG_HIERARCHIES,
	.privacy = ARG_PRIVACY,
	.recorded = recorded,
	.nrecorded = lengthof(recorded)
};

/* ---- arguments ---- */

static const KanonSolver *
method_arg(FunctionCallInfo fcinfo, int64 k)
{
	const char *word = text_arg(fcinfo, ARG_METHOD, "method", "'mondrian' is the fastest.");
	const KanonSolver *method = kanon_cluster_method_find(word);
	int64		only = strcmp(word, "pairs") == 0 ? 2 : strcmp(word, "triples") == 0 ? 3 : 0;
	StringInfoData known;

	if (method == NULL)
	{
		initStringInfo(&known);
		for (method = kanon_cluster_methods; method->name != NULL; method++)
			appendStringInfo(&known, "%s'%s'", known.len > 0 ? ", " : "", method->name);
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method \"%s\" is not known", word),
				 errhint("Known methods: %s.", known.data)));
	}
	if (only > 0 && k != only)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method \"%s\" is for k = " INT64_FORMAT " only", word, only),
				 errhint("'forest' has a proven factor for every k.")));
	return method;
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
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("show \"%s\" is not known", word),
			 errhint("It is 'auto', 'suppress', 'hierarchy', 'range' or 'set', or such a word for each "
					 "quasi-identifier, separated by commas.")));
}

/* One word for all quasi-identifiers, or one for each: a word for each of nqis. */
static ShowWord *
show_words(char *text, int nqis)
{
	ShowWord   *words = palloc(sizeof(ShowWord) * nqis);
	bool		several = strchr(text, ',') != NULL;
	char	   *rest = text;
	int			n = 0;

	while (rest != NULL)
	{
		char	   *word = strsep(&rest, ",");

		word += strspn(word, " ");
		word[strcspn(word, " ")] = '\0';
		if (n < nqis)
			words[n] = show_word(word);
		n++;
	}
	if (several && n != nqis)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("show has %d words, there are %d quasi-identifiers", n, nqis),
				 errhint("Give one word for all, or one for each in their order.")));
	for (int i = several ? n : 1; i < nqis; i++)
		words[i] = words[0];
	return words;
}

static void
refuse_show(const SourceColumn *column, const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("show does not fit column \"%s\"", column->name),
			 errdetail("%s", detail),
			 errhint("%s", hint)));
}

/* How one quasi-identifier is shown; its published type follows. */
static KanonClusterShow
show_of(SourceColumn *column, bool levels, ShowWord word)
{
	bool		ranges = column->numerical && OidIsValid(range_type_of(column->type));

	if (word == SHOW_WORD_AUTO)
		word = levels ? SHOW_WORD_HIERARCHY : ranges ? SHOW_WORD_RANGE : SHOW_WORD_SUPPRESS;
	if (levels && word != SHOW_WORD_HIERARCHY)
		refuse_show(column, "It has a hierarchy, which would not be shown.",
					"Show it by 'hierarchy', or leave the hierarchy out.");
	switch (word)
	{
		case SHOW_WORD_HIERARCHY:
			if (!levels)
				refuse_show(column, "It has no hierarchy, or one without a level below the top.",
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
	ShowWord   *words = show_words(show, source->nqis);
	const int  *first = source->levels.first;

	for (int c = 0; c < source->nqis; c++)
		shows[c] = show_of(&source->qis[c], first[c + 1] - first[c] > 1, words[c]);
	options->show = shows;
	return options;
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
	bool		none = run->release.nclasses == 0;
	Datum		values[OUT_COLUMNS];
	bool		nulls[OUT_COLUMNS] = {false};

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
	nulls[OUT_MIN] = nulls[OUT_AVG] = nulls[OUT_MAX] = nulls[OUT_GCP] = nulls[OUT_USEFULNESS] = none;
	nulls[OUT_BOUND] = none || isinf(report->lower_bound);
	nulls[OUT_GUARANTEE] = none || report->guarantee == 0;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

Datum
kanon_cluster(PG_FUNCTION_ARGS)
{
	Publish		publish;
	KanonResidual residual;
	const KanonSolver *method;
	double		time_limit;
	char	   *show;
	Run		   *run;

	publish_args(&publish, fcinfo, &signature);
	method = method_arg(fcinfo, publish.k);
	privacy_supported(publish.privacy, method->name, method->privacy);
	residual = residual_parse(text_arg(fcinfo, ARG_RESIDUAL, "residual",
									   "It is 'suppress', 'drop' or 'error'."));
	show = text_arg(fcinfo, ARG_SHOW, "show", "'auto' is the default.");
	time_limit = time_limit_arg(fcinfo, ARG_TIME_LIMIT);

	run = publish_begin(&publish);
	run->problem.residual = residual;
	run->problem.time_limit = time_limit;
	run->problem.mask.max_suppressed = -1;
	run->problem.mask.max_cost = INFINITY;
	run->problem.mask.order = KANON_ORDER_DOMAIN;
	run->problem.cluster = options_of(run->source, show);
	publish_read(&publish);
	run_solve(run, method->name, method->solve);
	notice_lost(run);
	publish_end(&publish);
	return_summary(run, (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}
