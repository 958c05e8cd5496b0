/*
 * model_full_domain.c: the model in which every row is generalized to the same levels.
 */
#include "compat.h"
#include "host/pool.h"
#include "options/request.h"
#include "options/together.h"
#include "run/run.h"

#include "optimizer/cost.h"
#include "optimizer/paths.h"

/* The parts beside the request. */
typedef struct FullDomain
{
	KanonFullDomainOptions options;
	KanonOutcome outcome;
	int workers;
	PoolTeam team;
} FullDomain;

/* Workers beside the caller; none but for speedy. */
static int
workers_of(const Request *request, KanonSearch search)
{
	if (!request->given[OPTION_WORKERS])
		return search == KANON_SEARCH_SPEEDY ? Min(max_parallel_workers_per_gather, KANON_MAX_MEMBERS - 1)
											 : 0;
	if (search != KANON_SEARCH_SPEEDY && request->workers != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("workers are for method 'speedy' only"),
				 errhint("Leave workers out, or say method => 'speedy'.")));
	if (request->workers < 0 || request->workers >= KANON_MAX_MEMBERS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("workers must be between 0 and %d", KANON_MAX_MEMBERS - 1),
						errhint("NULL takes as many as max_parallel_workers_per_gather allows.")));
	return request->workers;
}

/* ---- workers who check a node together with the caller ---- */

static void *
open_member(Border *border, void *block, int number)
{
	KanonMember *member = kanon_member_open(&border->env, block, number);

	if (member == NULL)
		border_check(border, KANON_NO_MEMORY, "");
	return member;
}

static void
check_share(void *state)
{
	kanon_member_work(state);
}

static const PoolWork checking = {"kanon_full_domain_worker", "kanon_full_domain, parallel worker",
								  open_member, check_share};

void
kanon_full_domain_worker(dsm_segment *segment, shm_toc *toc)
{
	pool_worker(toc, &checking);
}

/* ---- the model ---- */

static KanonStatus
solve(Run *run)
{
	FullDomain *own = run->request->own;
	KanonStatus status = kanon_solve_full_domain(&run->problem, &own->outcome, &run->release, &run->report);

	pool_team_end(&own->team);
	return status;
}

static KanonStatus
solve_near(Run *run, const KanonPrevious *previous)
{
	FullDomain *own = run->request->own;
	KanonStatus status;

	own->options.previous = previous;
	status = solve(run);
	own->options.previous = NULL;
	return status;
}

static void
refuse(const Run *run, KanonStatus status)
{
	char *detail = pstrdup(run->report.detail);

	detail[0] = pg_toupper((unsigned char) detail[0]);
	if (status == KANON_TOO_LARGE)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("the lattice of levels is too large to list"), errdetail("%s.", detail),
						errhint("Leave explore out: then the best node is looked for.")));
	if (status == KANON_INFEASIBLE)
		ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
						errmsg("no node of the lattice fulfils the rules within the suppression limit"),
						errdetail("%s.", detail),
						errhint("Raise suppression_limit, or lower k or the other rules.")));
}

static void
check_request(Request *request)
{
	FullDomain *own = palloc0(sizeof(FullDomain));

	own->options.suppression_limit = request->levels.suppression_limit;
	own->options.metric = word_among(request->levels.metric, "metric", kanon_metric_names, NULL);
	own->options.search = method_among(request, KANON_FULL_DOMAIN)->number;
	own->options.explore = request->levels.explore;
	own->workers = workers_of(request, own->options.search);
	if (known_check(request) && request->guided.missing != NULL &&
		strcmp(request->guided.missing, "any") == 0)
		together_refuse(TOGETHER_KNOWN_ANY_LEVELS, NULL, NULL);
	request->own = own;
	request->solve_run = solve;
	request->recorded_method = psprintf("full_domain_%s", request->method);
}

static void
set_up(Run *run)
{
	FullDomain *own = run->request->own;

	known_set(run);
	run->problem.full_domain = &own->options;
	/* (whoever asked for workers by their number is told if there are fewer) */
	pool_team_init(&own->team, &checking, run->request->caller, run->border, own->workers,
				   run->request->given[OPTION_WORKERS]);
	own->options.team = &own->team.team;
}

static void
solved(Run *run)
{
	const FullDomain *own = run->request->own;

	if (run_is_empty(run) || run->near || own->outcome.proven)
		return;
	run->metric_bound = &own->outcome.bound;
	ereport(NOTICE,
			(errmsg("the node is not proven to be optimal"),
			 errdetail("Its %s is %.6g; no node's is better than %.6g.",
					   kanon_metric_names[own->options.metric], own->outcome.best.metric, own->outcome.bound),
			 errhint("Raise time_limit or \"kanon.max_memory\".")));
}

const KanonOutcome *
full_domain_outcome(const Run *run)
{
	return &((const FullDomain *) run->request->own)->outcome;
}

const Model full_domain_model = {.name = "full_domain",
								 .family = KANON_FULL_DOMAIN,
								 .method = "flash",
								 .hint = "'flash' is the default.",
								 .least_k = 2,
								 .k_hint = K_HINT,
								 .options = TAKES_COMMON | TAKES(SUPPRESSION_LIMIT) | TAKES(METRIC) |
											TAKES(WORKERS) | TAKES(EXPLORE) | TAKES(RESIDUAL) |
											TAKES(TIME_LIMIT) | TAKES(KNOWN_COLUMNS) | TAKES(COMBINATIONS) |
											TAKES(MISSING),
								 .check = check_request,
								 .set_up = set_up,
								 .ready = known_ready,
								 .refuse = refuse,
								 .near = solve_near,
								 .solved = solved};
