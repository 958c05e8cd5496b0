/*
 * full_domain.c: kanon_full_domain, every row generalized to the same levels.
 */
#include "compat.h"
#include "run/publish.h"
#include "run/team.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "optimizer/paths.h"
#include "optimizer/cost.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(kanon_full_domain);

/* In the order of the SQL declaration. */
enum
{
	ARG_HIERARCHIES = PUBLISH_K + 1,
	ARG_LIMIT,
	ARG_METRIC,
	ARG_ALGORITHM,
	ARG_WORKERS,
	ARG_KEEP,
	ARG_WEIGHTS,
	ARG_CATEGORICAL,
	ARG_RESIDUAL,
	ARG_MARK,
	ARG_REPLACE,
	ARG_DRY_RUN,
	ARG_EXPLORE,
	ARG_CLASS_COLUMN,
	ARG_PRIVACY
};

/* What the record keeps of the call: rules of the game and names, never a data value. */
static const int recorded[] = {PUBLISH_QIS,   PUBLISH_K,   ARG_HIERARCHIES, ARG_LIMIT,       ARG_METRIC,
							   ARG_ALGORITHM, ARG_WORKERS, ARG_KEEP,        ARG_WEIGHTS,     ARG_CATEGORICAL,
							   ARG_RESIDUAL,  ARG_MARK,    ARG_REPLACE,     ARG_CLASS_COLUMN};

static const PublishSignature signature = {.function = "kanon_full_domain",
										   .least_k = 2,
										   .k_hint = K_HINT,
										   PUBLISH_COMMON,
										   .class_column = ARG_CLASS_COLUMN,
										   .hierarchies = ARG_HIERARCHIES,
										   .privacy = ARG_PRIVACY};

/* The place of a word in a list that ends with NULL. */
static int
word_arg(FunctionCallInfo fcinfo, int arg, const char *name, const char *const *words)
{
	StringInfoData known;
	char *word;

	initStringInfo(&known);
	for (int i = 0; words[i] != NULL; i++)
		appendStringInfo(&known, "%s'%s'", i > 0 ? ", " : "", words[i]);
	word = text_arg(fcinfo, arg, name, psprintf("Known: %s.", known.data));
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s \"%s\" is not known", name, word),
					errhint("Known: %s.", known.data)));
}

static double
limit_arg(FunctionCallInfo fcinfo)
{
	double limit;

	refuse_null(fcinfo, ARG_LIMIT, "suppression_limit", "0 suppresses no row whole.");
	limit = PG_GETARG_FLOAT8(ARG_LIMIT);
	if (!(limit >= 0 && limit <= 1))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("suppression_limit must be between 0 and 1"),
			 errhint("It is the share of the rows that may be suppressed whole; 0.05 are five per cent.")));
	return limit;
}

/* Workers beside the caller; none but for speedy. */
static int
workers_arg(FunctionCallInfo fcinfo, KanonSearch search)
{
	int workers;

	if (PG_ARGISNULL(ARG_WORKERS))
		return search == KANON_SEARCH_SPEEDY ? Min(max_parallel_workers_per_gather, KANON_MAX_MEMBERS - 1)
											 : 0;
	workers = PG_GETARG_INT32(ARG_WORKERS);
	if (search != KANON_SEARCH_SPEEDY && workers != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("workers are for algorithm 'speedy' only"),
				 errhint("Leave workers out, or say algorithm => 'speedy'.")));
	if (workers < 0 || workers >= KANON_MAX_MEMBERS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("workers must be between 0 and %d", KANON_MAX_MEMBERS - 1),
						errhint("NULL takes as many as max_parallel_workers_per_gather allows.")));
	return workers;
}

/* The core's solver, whose refusals are this function's own. */
static KanonStatus
solve(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonStatus status = kanon_solve_full_domain(problem, release, report);

	if (status != KANON_TOO_LARGE && status != KANON_INFEASIBLE)
		return status;
	report->detail[0] = pg_toupper((unsigned char) report->detail[0]);
	if (status == KANON_TOO_LARGE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the lattice of levels is too large to enumerate"), errdetail("%s.", report->detail),
				 errhint("Name fewer quasi-identifiers or use hierarchies with fewer levels; "
						 "kanon_pattern_guided takes any number of them.")));
	ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
					errmsg("no node of the lattice fulfils the rules within the suppression limit"),
					errdetail("%s.", report->detail),
					errhint("Raise suppression_limit, or lower k or the other rules.")));
}

static void
return_node(const Run *run, const KanonOutcome *outcome, const KanonNode *node, ReturnSetInfo *rsinfo)
{
	Datum values[10];
	bool nulls[10] = {false};
	bool best = node->pattern == outcome->best.pattern;

	values[0] = CStringGetTextDatum(pattern_text(node->pattern, &run->source->levels));
	values[1] = CStringGetTextDatum(best ? "optimal" : node->fulfils ? "fulfils" : "fails");
	values[2] = Float8GetDatum(node->metric);
	values[3] = Int64GetDatum(node->suppressed);
	values[4] = Int64GetDatum(node->classes);
	values[5] = Int64GetDatum(outcome->nodes);
	values[6] = Int64GetDatum(outcome->checked);
	values[7] = Int64GetDatum(outcome->tagged);
	values[8] = Int32GetDatum(outcome->members - 1);
	values[9] = Float8GetDatum(run->report.seconds * 1000);
	nulls[2] = !node->fulfils;
	nulls[3] = nulls[4] = !node->checked;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* The node chosen, or every node of the lattice. */
static void
return_outcome(const Run *run, const KanonOutcome *outcome, ReturnSetInfo *rsinfo)
{
	if (run->types->nrows == 0)
		return;
	if (outcome->all == NULL)
		return_node(run, outcome, &outcome->best, rsinfo);
	for (int64 i = 0; outcome->all != NULL && i < outcome->nodes; i++)
	{
		CHECK_FOR_INTERRUPTS();
		return_node(run, outcome, &outcome->all[i], rsinfo);
	}
}

Datum
kanon_full_domain(PG_FUNCTION_ARGS)
{
	Publish publish;
	KanonResidual residual;
	KanonOutcome outcome = {0};
	KanonFullDomainOptions options = {.outcome = &outcome};
	char *method;
	int workers;
	Team *team;
	Run *run;

	publish_args(&publish, fcinfo, &signature);
	options.suppression_limit = limit_arg(fcinfo);
	options.metric = word_arg(fcinfo, ARG_METRIC, "metric", kanon_metric_names);
	options.search = word_arg(fcinfo, ARG_ALGORITHM, "algorithm", kanon_search_names);
	options.explore = bool_arg(fcinfo, ARG_EXPLORE, "explore");
	workers = workers_arg(fcinfo, options.search);
	method = psprintf("full_domain_%s", kanon_search_names[options.search]);
	privacy_supported(publish.privacy, method,
					  KANON_FULL_DOMAIN_PRIVACY | 1u << PRIVACY_DELTA_PRESENCE | 1u << PRIVACY_K_MAP);
	residual =
		residual_parse(text_arg(fcinfo, ARG_RESIDUAL, "residual", "It is 'suppress', 'drop' or 'error'."));

	run = publish_begin(&publish);
	run->problem.residual = residual;
	run->problem.full_domain = &options;
	run->problem.mask.max_suppressed = -1;
	run->problem.mask.max_cost = INFINITY;
	run->problem.mask.order = KANON_ORDER_DOMAIN;
	team = team_create(fcinfo, run->border, workers, !PG_ARGISNULL(ARG_WORKERS));
	options.team = team_of(team);
	publish_read(&publish);
	run_solve(run, method, solve);
	team_end(team);
	publish_end(&publish);
	return_outcome(run, &outcome, (ReturnSetInfo *) fcinfo->resultinfo);
	run_end(run);
	return (Datum) 0;
}
