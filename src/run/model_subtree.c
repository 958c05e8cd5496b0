/*
 * model_subtree.c: the model of one cut through each hierarchy for the whole table.
 */
#include "compat.h"
#include "core/subtree/subtree.h"
#include "core/privacy/rules.h"
#include "options/request.h"
#include "run/run.h"

/* Row types differ in the class column, too: its place among the extra columns. */
static int
class_among_extra(Source *source, const SourceColumn *class_column)
{
	return source_group_by(source, class_column) - source->nqis;
}

static KanonStatus
solve(Run *run)
{
	return kanon_solve_subtree(&run->problem, &run->release, &run->report);
}

static KanonStatus
solve_near(Run *run, const KanonPrevious *previous)
{
	KanonSubtreeOptions *options = run->request->own;
	KanonStatus status;

	options->previous = previous;
	status = solve(run);
	options->previous = NULL;
	return status;
}

static void
refuse(const Run *run, KanonStatus status)
{
	if (status != KANON_INFEASIBLE && status != KANON_NOT_FOUND)
		return;
	ereport(
		ERROR,
		(errcode(ERRCODE_CHECK_VIOLATION), errmsg("no cut fulfils the rules"),
		 errdetail("Even one class of all rows, with everything suppressed, breaks a rule."),
		 status == KANON_INFEASIBLE
			 ? errhint("Lower k or the other rules.")
			 : errhint(
				   "A finer cut may keep a rule that a coarser one breaks (persons, kanon_presence): try method 'optimal', or lower k or the other rules.")));
}

static void
check_request(Request *request)
{
	KanonSubtreeOptions *options = palloc0(sizeof(KanonSubtreeOptions));

	if (strcmp(request->method, "bottom_up") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("sub-trees have no method \"bottom_up\""),
				 errhint("Take method 'optimal': it never loses more, and ends sooner.")));
	options->method = method_among(request, KANON_SUBTREE)->number;
	options->scheme = word_among(request->levels.scheme, "scheme", kanon_scheme_names, NULL);
	options->class_column = -1;
	request->own = options;
	request->solve_run = solve;
	request->recorded_method = psprintf("subtree_%s", request->method);
}

static void
set_up(Run *run)
{
	KanonSubtreeOptions *options = run->request->own;

	run->problem.subtree = options;
	/* no row is left over */
	run->problem.residual = KANON_RESIDUAL_ERROR;
	if (run->class_column != NULL &&
		(options->method == KANON_SUBTREE_TOP_DOWN || options->method == KANON_SUBTREE_TDS))
		options->class_column = class_among_extra(run->source, run->class_column);
}

static void
ready(Run *run)
{
	const Source *source = run->source;

	run->problem.nextra = source->ngrouped - source->nqis;
	run->problem.extra = run->types->grouped + source->nqis;
}

static void
notice_late(Run *run)
{
	const KanonSubtreeOptions *options = run->request->own;

	if (options->method == KANON_SUBTREE_OPTIMAL)
		run_notice_unproven(run, false, PROOF_BY_SEARCH);
	else if (run->report.detail[0] != '\0')
		ereport(
			NOTICE,
			(errmsg("the search ended at time_limit"),
			 run->release.nclasses > 1
				 ? errdetail(
					   "The release is the best cut found so far. It keeps all rules; another cut may show more.")
				 : errdetail("The release suppresses everything: no other cut was found by then."),
			 errhint("Raise time_limit; method 'top_down' has a release at any time.")));
}

const Model subtree_model = {.name = "subtree",
							 .family = KANON_SUBTREE,
							 .method = "top_down",
							 .hint = "'top_down' is the default.",
							 .least_k = 2,
							 .k_hint = K_HINT,
							 .options = TAKES_COMMON | TAKES(SCHEME) | TAKES(TIME_LIMIT),
							 .check = check_request,
							 .set_up = set_up,
							 .ready = ready,
							 .refuse = refuse,
							 .near = solve_near,
							 .solved = notice_late};
