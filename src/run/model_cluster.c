/*
 * model_cluster.c: the model of classes of any shape, by partitioning or clustering; and of
 * records that keep k matches in one direction or both.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "core/cluster/clustering.h"
#include "rows/cell_values.h"
#include "options/request.h"
#include "options/together.h"
#include "run/run.h"
#include "series/successive.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* A clustering, or a relaxed method, whose records are no classes. */
typedef struct Method
{
	const char *name;
	KanonSolve solve;
	bool relaxed;
	KanonFreeformOptions options; /* of a relaxed one */
} Method;

static void
append_name(StringInfo names, Nearest *nearest, const char *name)
{
	appendStringInfo(names, "%s'%s'", names->len > 0 ? ", " : "", name);
	nearest_try(nearest, name);
}

static Method
method_of(const char *word, int64 k)
{
	const KanonMethod *method = kanon_method_find(KANON_RELAXED, word);
	StringInfoData known;

	if (method != NULL)
		return (Method){
			.name = word, .solve = method->solve, .relaxed = true, .options = {.method = method->number}};
	method = kanon_method_find(KANON_CLUSTER, word);
	if (method == NULL)
	{
		Nearest nearest = nearest_to(word);

		initStringInfo(&known);
		for (method = kanon_methods(KANON_CLUSTER); method->name != NULL; method++)
			append_name(&known, &nearest, method->name);
		for (method = kanon_methods(KANON_RELAXED); method->name != NULL; method++)
			append_name(&known, &nearest, method->name);
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("method \"%s\" is not known", excerpt(word)),
						errhint("%s", nearest_hint(&nearest, psprintf("Known: %s.", known.data)))));
	}
	refuse_other_k(method, k, "Take 'forest', which has a proven factor for every k.");
	return (Method){.name = method->name, .solve = method->solve};
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
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("show \"%s\" is not known", excerpt(word)),
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
		case SHOW_WORD_SUPPRESS:
		case SHOW_WORD_AUTO:
			break;
	}
	return KANON_CLUSTER_SUPPRESS;
}

static struct KanonClusterOptions *
options_of(Source *source, char *show, uint32 partition_size)
{
	struct KanonClusterOptions *options = palloc(sizeof(struct KanonClusterOptions));
	KanonClusterShow *shows = palloc(sizeof(KanonClusterShow) * source->nqis);
	ShowWord *words = show_words(show, source->nqis);
	const int *first = source->levels.first;

	for (int c = 0; c < source->nqis; c++)
		shows[c] = show_of(&source->qis[c], first[c + 1] - first[c] > 1, words[c]);
	options->show = shows;
	options->partition_size = partition_size;
	return options;
}

/* ---- (1,k)-, (k,1)- and (k,k)-anonymity ---- */

/* Records of a relaxed method show levels, ranges and sets; raises where they are to show something else. */
static void
relaxed_columns(Source *source, char *show)
{
	ShowWord *words = show_words(show, source->nqis);
	const int *first = source->levels.first;

	for (int c = 0; c < source->nqis; c++)
	{
		SourceColumn *column = &source->qis[c];

		if (first[c + 1] - first[c] > 1)
		{
			(void) show_of(column, true, words[c]);
			continue;
		}
		if (words[c] == SHOW_WORD_SUPPRESS || words[c] == SHOW_WORD_HIERARCHY)
			refuse_show(column, "Records without classes show levels of a hierarchy, ranges and sets.",
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

/* Every row is compared with every other: refused before they are read where that is too much. */
static void
relaxed_rows(const Run *run)
{
	if (run_has_more_rows(run, KANON_RELAXED_ROWS))
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the table is too large for this method"),
			 errdetail("It has more than %d rows; every row is compared with every other.",
					   KANON_RELAXED_ROWS),
			 errhint("Use kanon_freeform with a partition_size, which keeps more, or method 'mondrian'.")));
}

static void
relaxed_size(const Run *run)
{
	double left =
		(double) run->border->limit - run->border->used - freeform_release_memory(run, run->types->nrows);
	int64 n = run->types->nrows;

	if (run->request->partition_size > 0)
		n = Min(n, 2 * (int64) run->request->partition_size);
	if (n > KANON_RELAXED_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the parts are too large for this method"),
				 errdetail("A part may have up to twice partition_size rows, and more than %d are too many.",
						   KANON_RELAXED_ROWS),
				 errhint("Lower partition_size to at most %d.", KANON_RELAXED_ROWS / 2)));
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

/* The limits of such a release, and attackers against whom it is no protection. */
static void
notice_relaxed(const Method *method)
{
	static const char *const against[] = {
		"A record may show one row alone: an attacker who knows everybody's quasi-identifiers can tell whose it is.",
		"A row may match one record alone: an attacker who knows one person's quasi-identifiers can find that person's record.",
		"Not all k matches need be possible at once: an attacker who knows everybody's quasi-identifiers can rule some out."};

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

/* ---- the model ---- */

/* Those that compare all rows with all others are done by parts, too. */
static void
check_parts(const Method *method)
{
	if ((kanon_method_of(method->solve)->takes & KANON_TAKES_PARTS) == 0)
		together_refuse(TOGETHER_METHOD_PARTS, method->name, NULL);
}

static void
check_request(Request *request)
{
	Method *method = palloc(sizeof(Method));

	*method = method_of(request->method, request->k);
	request->solve = method->solve;
	request->own = method;
	if (request->partition_size > 0)
		check_parts(method);
	if (method->relaxed && request->privacy != NULL)
		together_refuse(TOGETHER_RELAXED_RULES, method->name, NULL);
	stable_refuse_populations(request);
	if (method->relaxed && request->published)
		together_refuse(TOGETHER_RELAXED_PUBLICATION, method->name, NO_CLASSES_TO_KEEP);
	if (method->relaxed && request->columns.class_column != NULL)
		together_refuse(TOGETHER_RELAXED_CLASS_COLUMN, method->name, NULL);
}

static void
set_up(Run *run)
{
	Method *method = run->request->own;

	if (method->relaxed)
	{
		relaxed_columns(run->source, run->request->show);
		run->problem.freeform = &method->options;
		run->problem.residual = KANON_RESIDUAL_SUPPRESS; /* no row is left over, so none can be left out */
		method->options.partition_size = run->request->partition_size;
		if (run->request->partition_size == 0)
			relaxed_rows(run);
	}
	else
		run->problem.cluster = options_of(run->source, run->request->show, run->request->partition_size);
}

/* Groups of near rows are of numbers, and have means. */
static void
check_numbers(const Run *run)
{
	if (kanon_method_of(run->request->solve)->cost != KANON_COST_SQUARES)
		return;
	for (int c = 0; c < run->source->nqis; c++)
	{
		const SourceColumn *column = &run->source->qis[c];

		if (column->numerical && column->hierarchy == NULL && !run->types->grouped[c].has_null)
			continue;
		together_refuse(TOGETHER_MICROAGGREGATE_OTHERS, run->request->method,
						psprintf("Column %s has %s.", column->quoted,
								 column->hierarchy != NULL ? "a hierarchy"
								 : !column->numerical      ? "other values"
														   : "NULL"));
	}
}

static void
ready(Run *run)
{
	const Method *method = run->request->own;

	check_numbers(run);
	if (!method->relaxed)
		return;
	relaxed_size(run);
	notice_relaxed(method);
}

static KanonStatus
solve_near(Run *run, const KanonPrevious *previous)
{
	return kanon_cluster_near(&run->problem, previous, run->request->solve, &run->release, &run->report);
}

static void
notice_lost(Run *run)
{
	if (run->report.detail[0] != '\0' && kanon_method_of(run->request->solve)->proof != KANON_PROOF_FACTOR)
		ereport(NOTICE,
				(errmsg("the search ended at time_limit"), errdetail("Reason: %s.", run->report.detail),
				 errhint("The release keeps k, but hides more than it would have to: raise time_limit, "
						 "or take method 'top_down' or 'mondrian'.")));
	else if (run->report.detail[0] != '\0')
		ereport(NOTICE,
				(errmsg("the method's own factor is not guaranteed for this release"),
				 errdetail("Reason: %s.", run->report.detail),
				 errhint("Raise \"kanon.max_memory\" or time_limit; lower_bound holds all the same.")));
}

const Model cluster_model = {.name = "cluster",
							 .family = KANON_CLUSTER,
							 .method = "mondrian",
							 .hint = "'mondrian' is the default.",
							 .least_k = 2,
							 .k_hint = K_HINT,
							 .options = TAKES_COMMON | TAKES(SHOW) | TAKES(PARTITION_SIZE) |
										TAKES(LEVEL_COST) | TAKES(RESIDUAL) | TAKES(TIME_LIMIT) | TAKES(SEED),
							 .check = check_request,
							 .set_up = set_up,
							 .ready = ready,
							 .near = solve_near,
							 .solved = notice_lost};
