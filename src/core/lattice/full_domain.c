/*
 * full_domain.c: the optimal node of the lattice as a release.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lattice/lattice.h"
#include "privacy/rules.h"
#include "privacy/population.h"
#include "model/model.h"
#include "util/scratch.h"

const char *const kanon_metric_names[] = {
	"loss", "precision", "discernibility", "average_class_size", "entropy", "height", NULL};

typedef struct FullDomain
{
	KanonScratch scratch;
	const KanonProblem *problem;
	const KanonFullDomainOptions *options;
	KanonReport *report;
	KanonMaskIndex *index;
	KanonPace pace;
	Lattice lattice;
	Metric metric;
	NodeSearch search;
	WideFound wide; /* of a lattice that is */
	int64_t rows;
	uint32_t *class_of; /* [ntypes] of the chosen node, */
	int64_t *take;      /* [ntypes] rows of each class that fill the suppressed ones up */
} FullDomain;

/* A share of the rows; 0.29 of 100 are 29, though 0.29 * 100 is less. */
static int64_t
limit_rows(double share, int64_t rows)
{
	double limit = floor(share * (double) rows * (1 + 4 * DBL_EPSILON));

	return limit >= (double) rows ? rows : (int64_t) limit;
}

static KanonStatus
take_search(FullDomain *domain)
{
	KanonScratch *scratch = &domain->scratch;
	NodeSearch *search = &domain->search;
	size_t n = domain->lattice.nnodes;

	search->tag = kanon_take0(scratch, n, sizeof(*search->tag));
	search->rising = kanon_take(scratch, n, sizeof(*search->rising));
	search->falling = kanon_take0(scratch, n, sizeof(*search->falling));
	search->value = kanon_take(scratch, n, sizeof(*search->value));
	search->suppressed = kanon_take(scratch, n, sizeof(*search->suppressed));
	search->order = kanon_take(scratch, n, sizeof(*search->order));
	search->rank = kanon_take(scratch, n, sizeof(*search->rank));
	search->stack = kanon_take(scratch, n, sizeof(*search->stack));
	if (domain->options->explore)
		search->classes = kanon_take(scratch, n, sizeof(*search->classes));
	return kanon_taken(scratch);
}

/* Does a class that keeps the rules keep them with any rows more, too? */
static bool
rules_grow(const KanonProblem *problem)
{
	for (int p = 0; p < problem->npopulations; p++)
		if (!problem->populations[p].map)
			return false;
	return problem->privacy == NULL || kanon_privacy_grows(problem->privacy);
}

/* The node of the release before: the one pattern of its classes, suppressed rows aside. */
static void
find_start(FullDomain *domain)
{
	const KanonPrevious *previous = domain->options->previous;
	KanonPattern all = kanon_pattern_all(domain->problem->ncolumns);
	KanonPattern pattern = KANON_NONE;
	bool any = false;

	for (size_t f = 0; previous != NULL && f < previous->nflows; f++)
	{
		KanonPattern other = previous->pattern[previous->flows[f].class_];

		if (kanon_same(other, all))
			continue;
		pattern = kanon_union(pattern, other);
		any = true;
	}
	domain->search.starts = any;
	domain->search.start = pattern;
}

static KanonStatus
prepare(FullDomain *domain)
{
	const KanonProblem *problem = domain->problem;
	const KanonFullDomainOptions *options = domain->options;
	NodeSearch *search = &domain->search;
	double most = options->most_nodes > 0 ? options->most_nodes : KANON_MAX_NODES;
	KanonStatus status;

	lattice_open(problem, most, &domain->lattice);
	if (domain->lattice.wide && options->explore)
	{
		snprintf(domain->report->detail, sizeof(domain->report->detail),
				 "the lattice has %.10g nodes, more than the %.10g that can be listed",
				 lattice_nodes(&domain->lattice), most);
		return KANON_TOO_LARGE;
	}
	if (domain->lattice.wide)
		kanon_pace_limit(&domain->pace, problem, "search");
	find_start(domain);
	status = kanon_mask_open(problem, &domain->index);
	if (status == KANON_OK)
		status = metric_open(problem, &domain->lattice, options->metric, &domain->pace, &domain->metric);
	if (status != KANON_OK)
		return status;
	domain->rows = domain->metric.rows;
	search->problem = problem;
	search->scratch = &domain->scratch;
	search->lattice = &domain->lattice;
	search->metric = &domain->metric;
	search->index = domain->index;
	search->pace = &domain->pace;
	search->limit = limit_rows(options->suppression_limit, domain->rows);
	search->explore = options->explore;
	/* without suppressed rows only classes are merged, else also classes with groups that are none */
	search->tags = search->limit == 0
					   ? kanon_presence_monotone(problem) &&
							 (problem->privacy == NULL || kanon_privacy_monotone(problem->privacy))
					   : rules_grow(problem);
	search->best = search->nearest = UINT32_MAX;
	status = domain->lattice.wide ? KANON_OK : take_search(domain);
	if (status == KANON_OK)
		status = checker_open(problem, &domain->lattice, &domain->metric, search->limit,
							  options->search == KANON_SEARCH_SPEEDY ? options->team : NULL, &domain->pace,
							  &search->checker, domain->report);
	return status;
}

/* NULL and blank cells are values that k show: each set of columns has a combination in every row, and no k may be above all. */
static bool
has_enough(const FullDomain *domain, const KanonProblem *problem)
{
	const KanonKnown *known = problem->known;

	return known == NULL || known->missing != KANON_MISSING_VALUE ||
		   (known->person != NULL ? (int64_t) known->npersons : domain->rows) >= domain->metric.blank;
}

/* A node's levels, for an error: '-' none, '*' all, 'A' the tenth. */
static void
write_levels(const Lattice *lattice, KanonPattern node, char *text)
{
	for (int q = 0; q < lattice->nqis; q++)
	{
		int level = lattice_level_of(lattice, node, q);

		*text++ = (char) (level == 0                    ? '-'
						  : level == lattice->height[q] ? '*'
						  : level < 10                  ? '0' + level
														: 'A' + level - 10);
	}
	*text = '\0';
}

/* Why no node was chosen. */
static KanonStatus
no_node(const FullDomain *domain)
{
	const NodeSearch *search = &domain->search;
	const WideFound *wide = &domain->wide;
	bool is_wide = domain->lattice.wide;
	KanonPattern nearest = is_wide ? wide->nearest : lattice_pattern(&domain->lattice, search->nearest);
	int64_t suppressed = is_wide ? wide->nearest_suppressed : search->suppressed[search->nearest];
	bool left_over = is_wide && wide->left_over;
	char levels[KANON_MAX_QIS + 1];

	if (is_wide && !wide->proven)
	{
		snprintf(domain->report->detail, sizeof(domain->report->detail),
				 "time or memory was up before a node was found");
		return KANON_NOT_FOUND;
	}
	for (uint32_t node = 0; node < domain->lattice.nnodes; node++)
		left_over |= (search->tag[node] & TAG_LEFT_OVER) != 0;
	if (left_over && search->doubted)
	{
		snprintf(domain->report->detail, sizeof(domain->report->detail),
				 "each node within the limit leaves rows over, and not all ways to fill them up were tried");
		return KANON_NOT_FOUND;
	}
	if (left_over)
	{
		snprintf(domain->report->detail, sizeof(domain->report->detail),
				 "each node within the limit leaves rows over that may not be a class");
		return kanon_rest_strict(domain->problem) ? KANON_RESIDUAL : KANON_REST_FORBIDDEN;
	}
	write_levels(&domain->lattice, nearest, levels);
	if (suppressed <= search->limit)
	{
		snprintf(domain->report->detail, sizeof(domain->report->detail),
				 "at each node within the limit some of a population would be in no published row");
		return KANON_INFEASIBLE;
	}
	snprintf(domain->report->detail, sizeof(domain->report->detail),
			 "the best node, %s, would suppress %lld rows, and %lld may be", levels, (long long) suppressed,
			 (long long) search->limit);
	return KANON_INFEASIBLE;
}

/* The node chosen. */
static KanonPattern
best_of(const FullDomain *domain)
{
	return domain->lattice.wide ? domain->wide.node : lattice_pattern(&domain->lattice, domain->search.best);
}

static KanonNode
describe(const FullDomain *domain, uint32_t node)
{
	const NodeSearch *search = &domain->search;
	KanonNode result = {.pattern = lattice_pattern(&domain->lattice, node)};

	/* rows left over that residual or a rule allows nowhere make it none */
	result.fulfils = (search->tag[node] & (TAG_YES | TAG_LEFT_OVER)) == TAG_YES;
	result.checked = (search->tag[node] & TAG_CHECKED) != 0;
	if (!result.checked)
		return result;
	result.suppressed = search->suppressed[node];
	if (result.fulfils)
		result.metric = metric_shown(&domain->metric, search->value[node]);
	if (search->classes != NULL)
		result.classes = search->classes[node];
	return result;
}

/* Tells the host what was found and what it took. */
static KanonStatus
fill_outcome(const FullDomain *domain, KanonOutcome *outcome, int64_t nclasses)
{
	const NodeSearch *search = &domain->search;
	const WideFound *wide = &domain->wide;
	double nodes = lattice_nodes(&domain->lattice);
	static const uint16_t bottom[KANON_MAX_QIS];
	bool doubt;

	outcome->nodes = nodes < 0x1p63 ? (int64_t) nodes : INT64_MAX;
	outcome->checked = search->checked;
	for (uint32_t node = 0; node < domain->lattice.nnodes; node++)
		outcome->tagged +=
			(search->tag[node] & (TAG_YES | TAG_NO)) != 0 && (search->tag[node] & TAG_CHECKED) == 0;
	outcome->rolled_up = checker_rolled_up(search->checker);
	outcome->members = checker_members(search->checker);
	if (domain->lattice.wide)
		outcome->best = (KanonNode){.pattern = wide->node,
									.fulfils = true,
									.checked = true,
									.metric = metric_shown(&domain->metric, wide->value),
									.suppressed = wide->suppressed};
	else
		outcome->best = describe(domain, search->best);
	outcome->best.classes = nclasses;
	doubt = search->doubted &&
			search->doubt <
				(domain->lattice.wide ? wide->value : search->value[search->best]) - domain->metric.tie;
	outcome->proven = !search->starts && !doubt && (!domain->lattice.wide || wide->proven);
	if (outcome->proven)
		outcome->bound = outcome->best.metric;
	else if (search->starts)
		outcome->bound =
			metric_shown(&domain->metric, metric_floor(&domain->metric, &domain->lattice, bottom));
	else
		outcome->bound = metric_shown(
			&domain->metric,
			!domain->lattice.wide || (doubt && search->doubt < wide->bound) ? search->doubt : wide->bound);
	if (!search->explore)
		return KANON_OK;
	outcome->all = kanon_alloc(domain->problem->env, domain->lattice.nnodes, sizeof(KanonNode));
	if (outcome->all == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t node = 0; node < domain->lattice.nnodes; node++)
		outcome->all[node] = describe(domain, node);
	return KANON_OK;
}

/* One class of the node, shown by one of its row types. */
static void
show_class(const FullDomain *domain, KanonPattern pattern, uint32_t type, KanonClass *class, KanonCell *cell)
{
	const KanonProblem *problem = domain->problem;

	class->pattern = pattern;
	for (int c = 0; c < problem->ncolumns; c++)
	{
		bool shown = !kanon_has(pattern, c);

		cell[c].show = shown ? KANON_SHOW_VALUE : KANON_SHOW_NOTHING;
		cell[c].code = shown ? problem->columns[c].code[type] & KANON_MAX_TYPES : 0;
	}
}

static KanonStatus
make_release(const FullDomain *domain, const Count *count, KanonRelease *release)
{
	const KanonProblem *problem = domain->problem;
	KanonEnv *env = problem->env;
	size_t ncolumns = (size_t) problem->ncolumns;
	KanonPattern pattern = best_of(domain);
	uint32_t nclasses = (uint32_t) count->classes;
	/* the suppressed rows' class is the last one */
	uint32_t target =
		count->rest_is_class || (count->suppressed > 0 && problem->residual != KANON_RESIDUAL_DROP)
			? nclasses
			: KANON_DROPPED;
	KanonPace pace = domain->pace;

	release->classes = kanon_alloc0(env, (size_t) nclasses + 1, sizeof(KanonClass));
	release->cells = kanon_alloc(env, ((size_t) nclasses + 1) * ncolumns, sizeof(KanonCell));
	/* each row that fills up divides a type at most */
	release->flows = kanon_alloc(env,
								 (size_t) problem->ntypes + 1 +
									 (size_t) (count->more < problem->ntypes ? count->more : problem->ntypes),
								 sizeof(KanonFlow));
	if (release->classes == NULL || release->cells == NULL || release->flows == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t type = 0; type < problem->ntypes; type++)
	{
		uint32_t class = domain->class_of[type];
		int64_t take = domain->take[type];

		if (kanon_stop(&pace, 4))
			return KANON_CANCELLED;
		/* (a type of which some rows fill the suppressed ones up may be divided) */
		if (take > 0)
			release->flows[release->nflows++] = (KanonFlow){type, target, take};
		if (take < problem->rows[type])
			release->flows[release->nflows++] =
				(KanonFlow){type, class == UINT32_MAX ? target : class, problem->rows[type] - take};
		if (class == UINT32_MAX || release->classes[class].rows > 0)
			continue;
		show_class(domain, pattern, type, &release->classes[class], release->cells + class * ncolumns);
		release->classes[class].rows = 1; /* shown; the rows are counted in the end */
	}
	release->nclasses = nclasses;
	if (target != KANON_DROPPED)
		show_class(domain, kanon_pattern_all(problem->ncolumns), 0, &release->classes[release->nclasses++],
				   release->cells + nclasses * ncolumns);
	return KANON_OK;
}

static KanonStatus
solve(FullDomain *domain, KanonOutcome *outcome, KanonRelease *release)
{
	NodeSearch *search = &domain->search;
	Count count;
	KanonStatus status = prepare(domain);

	if (status == KANON_OK && !has_enough(domain, domain->problem))
	{
		snprintf(
			domain->report->detail, sizeof(domain->report->detail),
			"a set of combinations has a k above all that there is, and every row shows one of its combinations");
		status = KANON_INFEASIBLE;
	}
	if (status == KANON_OK)
		status = domain->lattice.wide ? search_wide(search, &domain->wide)
									  : search_run(search, domain->options->search);
	if (status == KANON_OK && (domain->lattice.wide ? !domain->wide.any : search->best == UINT32_MAX))
		status = no_node(domain);
	if (status != KANON_OK)
		return status;
	domain->class_of = kanon_take(&domain->scratch, domain->problem->ntypes, sizeof(uint32_t));
	domain->take = kanon_take0(&domain->scratch, domain->problem->ntypes, sizeof(int64_t));
	status = kanon_taken(&domain->scratch);
	if (status != KANON_OK)
		return status;
	status = checker_classes(search->checker, best_of(domain), domain->class_of, domain->take, &count);
	if (status == KANON_OK)
		status = fill_outcome(domain, outcome, count.classes - count.emptied);
	/* the release may want the memory */
	checker_close(search->checker);
	search->checker = NULL;
	if (status == KANON_OK)
		status = make_release(domain, &count, release);
	return status;
}

KanonStatus
full_domain_solve(const KanonProblem *problem, const KanonFullDomainOptions *options, KanonOutcome *outcome,
				  KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	FullDomain domain = {.scratch = {.env = env},
						 .problem = problem,
						 .options = options,
						 .report = report,
						 .pace = kanon_pace(env, "search")};
	double start = env->now(env->arg);
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	memset(outcome, 0, sizeof(*outcome));
	status = solve(&domain, outcome, release);
	if (problem->privacy != NULL && kanon_privacy_failed(problem->privacy))
		status = KANON_NO_MEMORY;
	checker_close(domain.search.checker);
	metric_close(problem, &domain.metric);
	kanon_mask_close(domain.index);
	kanon_scratch_free(&domain.scratch);
	if (status == KANON_OK)
		status = kanon_release_finish(problem, release, report);
	if (status != KANON_OK)
	{
		kanon_release_free(problem, release);
		kanon_free(env, outcome->all);
		outcome->all = NULL;
	}
	/* the metric is optimal; of the patterns' cost nothing is known */
	report->lower_bound = -INFINITY;
	report->nodes = domain.search.checked;
	report->seconds = env->now(env->arg) - start;
	return status;
}

KanonStatus
kanon_solve_full_domain(const KanonProblem *problem, KanonOutcome *outcome, KanonRelease *release,
						KanonReport *report)
{
	return problem->full_domain->previous == NULL
			   ? full_domain_solve(problem, problem->full_domain, outcome, release, report)
			   : full_domain_near(problem, outcome, release, report);
}
