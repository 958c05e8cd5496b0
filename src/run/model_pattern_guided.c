/*
 * model_pattern_guided.c: the models of patterns: pattern-guided k-anonymity, and the
 * earlier one in which each listed pattern may be used by one class only.
 */
#include "compat.h"
#include "core/cluster/clustering.h"
#include "core/known/known.h"
#include "host/excerpt.h"
#include "options/request.h"
#include "options/together.h"
#include "run/run.h"
#include "run/on_disk_types.h"
#include "series/successive.h"

#define PATTERN_OPTIONS                                                                                    \
	(TAKES_COMMON | TAKES(PATTERNS) | TAKES(GAP) | TAKES(EFFORT) | TAKES(LEVEL_COST) | TAKES(TIME_LIMIT) | \
	 TAKES(SEED))

/* ---- pattern-guided k-anonymity ---- */

/* partition_by */
typedef struct Partition
{
	int qi;
	KanonPartitionFacts facts;
} Partition;

static KanonStatus
solve_by_parts(Run *run)
{
	Partition *partition = run->request->own;

	return partition_solve(run, run->source->levels.first[partition->qi], &partition->facts);
}

static void
find_partition(Run *run)
{
	Request *request = run->request;
	Partition *partition = palloc0(sizeof(Partition));
	Nearest nearest = nearest_to(request->guided.partition_by);
	const Source *source = run->source;

	while (partition->qi < source->nqis &&
		   strcmp(request->guided.partition_by, source->qis[partition->qi].name) != 0)
		nearest_try(&nearest, source->qis[partition->qi++].name);
	if (partition->qi == source->nqis)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("partition_by names \"%s\", which is not a quasi-identifier",
							   request->guided.partition_by),
						errhint("%s", nearest_hint(&nearest, "Name one that would seldom be suppressed."))));
	request->own = partition;
	request->solve_run = solve_by_parts;
}

static void
tell_partition(const Run *run)
{
	const KanonPartitionFacts *facts =
		run->parted != NULL ? &run->parted->facts : &((Partition *) run->request->own)->facts;

	if (run->near || run_is_empty(run))
		return;
	if (run->problem.npopulations > 0)
		ereport(NOTICE, (errmsg("kanon_k_map counts in the whole table, which was not solved by parts")));
	else if (facts->parts == 0)
		ereport(NOTICE, (errmsg("by parts nothing was found: the table was solved as a whole")));
	else
		ereport(NOTICE,
				(errmsg("solved by parts: %u values of \"%s\" alone, " INT64_FORMAT
						" rows that were left over together",
						facts->parts, run->request->guided.partition_by, facts->left_over),
				 errdetail("The release costs %.10g, of which those rows are %.10g.%s", run->report.cost,
						   facts->left_over_cost,
						   run->parted != NULL ? " Row types were read by parts, too." : ""),
				 errhint("A dry run without partition_by says what the whole costs, if it can be solved.")));
}

/* A target is written, or a dry run promises one; functions that only compare releases ask for no mark. */
static bool
writes_or_rehearses(const Request *request)
{
	return request->target != NULL || request->published ||
		   (request->given[OPTION_DRY_RUN] && DatumGetBool(request->values[OPTION_DRY_RUN]));
}

static void
choose_for_known(Request *request)
{
	const KanonMethod *method = kanon_method_find(KANON_KNOWN_COLUMNS, request->method);

	if (method == NULL)
		together_refuse(TOGETHER_KNOWN_METHOD, request->method, NULL);
	if (method->proof == KANON_PROOF_OPTIMUM &&
		(request->guided.patterns != NULL || request->guided.rules != NULL))
		together_refuse(TOGETHER_KNOWN_ILP_PATTERNS, request->method, NULL);
	if (method->proof == KANON_PROOF_OPTIMUM && request->guided.missing != NULL &&
		strcmp(request->guided.missing, "any") == 0)
		together_refuse(TOGETHER_KNOWN_ILP_ANY, request->method, NULL);
	if (request->guided.missing != NULL && strcmp(request->guided.missing, "value") == 0 &&
		!request->columns.mark && writes_or_rehearses(request))
		together_refuse(TOGETHER_KNOWN_VALUE_UNMARKED, NULL, NULL);
	if (request->columns.hierarchies != NULL && method->proof == KANON_PROOF_OPTIMUM)
		together_refuse(TOGETHER_KNOWN_ILP_HIERARCHIES, request->method, NULL);
	if (request->columns.hierarchies != NULL && request->guided.missing != NULL &&
		strcmp(request->guided.missing, "any") == 0)
		together_refuse(TOGETHER_KNOWN_ANY_HIERARCHIES, NULL, NULL);
	if (request->guided.partition_by != NULL)
		together_refuse(TOGETHER_KNOWN_PARTITION_BY, NULL, NULL);
	request->solve = method->solve;
}

static void
choose_method(Request *request)
{
	const KanonMethod *method = method_among(request, KANON_PATTERN_GUIDED);

	refuse_other_k(method, request->k, "Take 'ilp', which proves its optimum for every k.");
	stable_refuse_populations(request);
	request->solve = method->solve;
	if (known_check(request))
		choose_for_known(request);
}

/* The mask, of a list or rules. */
static void
read_patterns(Run *run)
{
	const Request *request = run->request;
	KanonMask *mask = &run->problem.mask;

	if (request->guided.patterns != NULL && request->guided.rules != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("patterns and rules cannot both be given"),
				 errhint("List the patterns, or say them in rules.")));
	if (request->guided.patterns != NULL)
	{
		mask->order = KANON_ORDER_GIVEN;
		mask->list = patterns_parse(request->guided.patterns, &run->source->levels, &mask->nlist);
	}
	else if (request->guided.rules != NULL)
		rules_parse(request->guided.rules, run->source, mask);
}

static void
set_mask(Run *run)
{
	known_set(run);
	if (run->request->guided.partition_by != NULL)
		find_partition(run);
	read_patterns(run);
}

static void
look_at_mask(Run *run)
{
	rules_notice_empty(&run->problem);
	known_ready(run);
}

/* A release that stays near an earlier one leaves little to solve: that is solved as a whole. */
static KanonStatus
solve_near(Run *run, const KanonPrevious *previous)
{
	if (run->problem.known != NULL)
		return kanon_solve_known_near(&run->problem, previous, &run->release, &run->report);
	return kanon_solve_stable(&run->problem, previous, run->request->solve, &run->release, &run->report);
}

static void
tell_solved(Run *run)
{
	if (run->request->guided.partition_by != NULL)
	{
		tell_partition(run);
		return;
	}
	if (kanon_method_find(KANON_PATTERN_GUIDED, run->request->method)->proof == KANON_PROOF_OPTIMUM)
		run_notice_unproven(run, true, run_proof_by_glpk);
}

const Model pattern_guided_model = {.name = "pattern_guided",
									.family = KANON_PATTERN_GUIDED,
									.method = "greedy",
									.hint = "'greedy' is the default.",
									.least_k = 2,
									.k_hint = K_HINT,
									.options = PATTERN_OPTIONS | TAKES(RULES) | TAKES(PARTITION_BY) |
											   TAKES(KNOWN_COLUMNS) | TAKES(COMBINATIONS) | TAKES(MISSING) |
											   TAKES(RESIDUAL),
									.check = choose_method,
									.set_up = set_mask,
									.ready = look_at_mask,
									.near = solve_near,
									.solved = tell_solved};

/* ---- pattern clustering ---- */

static void
choose_clustering(Request *request)
{
	const KanonMethod *method = method_among(request, KANON_PATTERN_CLUSTERING);

	if (request->guided.patterns == NULL && request->guided.rules == NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("neither patterns nor rules are given"),
			 errhint(
				 "List the patterns, each for one cluster, twice for two; or rules, of which each allowed "
				 "pattern is for one.")));
	stable_refuse_populations(request);
	request->recorded_method = method == kanon_methods(KANON_PATTERN_CLUSTERING)
								   ? "pattern_clustering"
								   : psprintf("pattern_clustering_%s", method->name);
	request->solve = method->solve;
}

static void
list_patterns(Run *run)
{
	read_patterns(run);
	run->problem.residual = KANON_RESIDUAL_ERROR;
}

/* A method that is called exact says before the work where it is not. */
static void
look_at_clustering(Run *run)
{
	const KanonMethod *method = kanon_method_of(run->request->solve);

	look_at_mask(run);
	if (method->proof == KANON_PROOF_OPTIMUM && !kanon_clustering_proves(&run->problem))
		ereport(
			NOTICE,
			(errmsg("method \"%s\" is a heuristic for this table under privacy rules", method->name),
			 errdetail("It tries all clusters of up to %d rows with %d patterns. Under distinct l, alpha and "
					   "subject it proves the optimum of up to %d pairs of row type and pattern.",
					   KANON_CLUSTERING_ROWS, KANON_CLUSTERING_PATTERNS, KANON_CLUSTERING_PAIRS),
			 errhint("The record's column \"proven\" says whether the release is the optimum.")));
}

static KanonStatus
cluster_near(Run *run, const KanonPrevious *previous)
{
	return kanon_solve_stable_once(&run->problem, previous, run->request->solve, &run->release, &run->report);
}

static void
tell_unproven_clustering(Run *run)
{
	bool proves = kanon_clustering_proves(&run->problem);

	if (kanon_method_of(run->request->solve)->proof == KANON_PROOF_OPTIMUM)
		run_notice_unproven(run, proves,
							proves ? PROOF_BY_SEARCH : "For a table of this size nothing proves more.");
}

const Model pattern_clustering_model = {.name = "pattern_clustering",
										.family = KANON_PATTERN_CLUSTERING,
										.method = "exact",
										.hint = "It is 'exact', 'greedy' or 'fpt'.",
										.least_k = 1, /* a team of one is a team */
										.k_hint = "Every cluster will have at least k rows.",
										.options = PATTERN_OPTIONS | TAKES(RULES),
										.check = choose_clustering,
										.set_up = list_patterns,
										.ready = look_at_clustering,
										.near = cluster_near,
										.solved = tell_unproven_clustering};
