/*
 * partition.c: solves a problem by parts.  The rows of each value of a column are solved alone if there are k of
 * them. The rows that are left over are solved together.
 *
 * A part takes a fraction of the time and memory that the whole takes.  The price: no class has rows of two values,
 * except classes of the rows left over.  That costs little if the column is seldom suppressed.
 */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "release/release.h"

typedef struct Partition
{
	const KanonProblem *problem;
	KanonSolve solve;
	const KanonPartitionHelp *help; /* or NULL */
	KanonScratch scratch;
	KanonPace pace;
	KanonPattern all;
	double end;         /* of the time allowed */
	uint32_t solved;    /* row types whose turn is over */
	uint32_t *by_value; /* [ntypes] row types, those of a value together */
	size_t *start;      /* [distinct + 1] where the values' begin */
	int64_t *left;      /* [ntypes] rows that no part has placed */

	KanonRelease *release; /* as it grows */
	size_t room_classes, room_cells, room_flows;
	KanonPartitionFacts *facts;
} Partition;

/* A counting sort. */
static KanonStatus
sort_by_value(Partition *p, const KanonColumn *column)
{
	uint32_t ntypes = p->problem->ntypes;

	p->by_value = kanon_take(&p->scratch, ntypes, sizeof(uint32_t));
	p->start = kanon_take0(&p->scratch, (size_t) column->distinct + 2, sizeof(size_t));
	p->left = kanon_take(&p->scratch, ntypes, sizeof(int64_t));
	if (p->scratch.failed)
		return KANON_NO_MEMORY;
	memcpy(p->left, p->problem->rows, sizeof(int64_t) * ntypes);
	for (uint32_t i = 0; i < ntypes; i++)
		p->start[column->code[i] + 2]++;
	for (uint32_t code = 0; code < column->distinct; code++)
		p->start[code + 2] += p->start[code + 1];
	/* each value's place moves to where the next one begins */
	for (uint32_t i = 0; i < ntypes; i++)
		p->by_value[p->start[column->code[i] + 1]++] = i;
	return kanon_stop(&p->pace, (uint64_t) ntypes * 4) ? KANON_CANCELLED : KANON_OK;
}

/*
 * The release takes from a part the classes of a value, not the rows that are in no class or
 * suppressed whole.
 */
static KanonStatus
take_release(Partition *p, const uint32_t *type, const KanonRelease *solved, bool rest)
{
	KanonEnv *env = p->problem->env;
	KanonRelease *release = p->release;
	size_t ncolumns = (size_t) p->problem->ncolumns;
	size_t nclasses = (size_t) release->nclasses + solved->nclasses;

	if (!kanon_enlarge(env, &release->classes, &p->room_classes, nclasses, sizeof(KanonClass)) ||
		!kanon_enlarge(env, &release->cells, &p->room_cells, nclasses * ncolumns, sizeof(KanonCell)) ||
		!kanon_enlarge(env, &release->flows, &p->room_flows, release->nflows + solved->nflows,
					   sizeof(KanonFlow)))
		return KANON_NO_MEMORY;
	if (solved->nclasses > 0)
	{
		memcpy(release->classes + release->nclasses, solved->classes, sizeof(KanonClass) * solved->nclasses);
		memcpy(release->cells + release->nclasses * ncolumns, solved->cells,
			   sizeof(KanonCell) * ncolumns * solved->nclasses);
	}
	for (size_t f = 0; f < solved->nflows; f++)
	{
		KanonFlow flow = solved->flows[f];
		bool placed =
			flow.class_ != KANON_DROPPED && !kanon_same(solved->classes[flow.class_].pattern, p->all);

		if (!placed && !rest)
			continue;
		if (rest && flow.class_ != KANON_DROPPED)
			p->facts->left_over_cost +=
				kanon_pattern_cost(p->problem, solved->classes[flow.class_].pattern) * (double) flow.rows;
		flow.type = type[flow.type];
		p->left[flow.type] -= flow.rows;
		if (flow.class_ != KANON_DROPPED)
			flow.class_ += release->nclasses;
		release->flows[release->nflows++] = flow;
	}
	release->nclasses = (uint32_t) nclasses;
	return kanon_stop(&p->pace, solved->nflows * 2 + solved->nclasses * ncolumns) ? KANON_CANCELLED
																				  : KANON_OK;
}

/* A part's share of the time that is left, by the row types that are. */
static double
time_for(const Partition *p, uint32_t ntypes)
{
	KanonEnv *env = p->problem->env;
	double left = p->end - env->now(env->arg);

	return isinf(p->end) ? p->end : fmax(left * ntypes / (p->problem->ntypes - p->solved), 1e-3);
}

/* Row types that are solved alone. */
typedef struct Alone
{
	uint32_t *type;
	uint32_t n;
	const int64_t *left; /* the rows that each has */
	bool rest;           /* of a value: rows that fit no class stay rows */
	double seconds;
	KanonSolve solve;
} Alone;

static KanonStatus
solve_types(const KanonProblem *problem, const Alone *alone, KanonScratch *scratch, KanonPace *pace,
			KanonRelease *solved, KanonReport *report)
{
	uint32_t n = alone->n;
	int64_t *rows = kanon_take(scratch, n, sizeof(int64_t));
	KanonPart part = {.type = NULL};
	KanonStatus status = kanon_taken(scratch);

	for (uint32_t i = 0; i < n && status == KANON_OK; i++)
		rows[i] = alone->left[alone->type[i]];
	if (status == KANON_OK)
		status = kanon_part_open(problem, n, alone->type, rows, scratch, pace, &part);
	if (status == KANON_OK)
	{
		if (!alone->rest)
			part.problem.residual = KANON_RESIDUAL_DROP;
		part.problem.time_limit = alone->seconds;
		status = alone->solve(&part.problem, solved, report);
	}
	kanon_part_close(&part);
	return status;
}

KanonStatus
kanon_solve_value(const KanonProblem *problem, uint32_t *type, uint32_t n, double seconds, KanonSolve solve,
				  KanonRelease *release, KanonReport *report)
{
	KanonScratch scratch = {.env = problem->env};
	KanonPace pace = kanon_pace(problem->env, "solve by parts");
	Alone alone = {.type = type, .n = n, .left = problem->rows, .seconds = seconds, .solve = solve};
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	status = solve_types(problem, &alone, &scratch, &pace, release, report);
	kanon_scratch_free(&scratch);
	return status;
}

bool
kanon_value_lacks(const KanonProblem *problem, const KanonRelease *release, int64_t left)
{
	KanonPattern all = kanon_pattern_all(problem->ncolumns);

	if (problem->residual != KANON_RESIDUAL_FILL || left < 0)
		return false;
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ == KANON_DROPPED ||
			kanon_same(release->classes[release->flows[f].class_].pattern, all))
			left += release->flows[f].rows;
	return left > 0 && (left < problem->k || problem->privacy != NULL);
}

/* These row types alone, as far as rows of them are left; `left` as for solve_value. */
static KanonStatus
solve_part(Partition *p, uint32_t *type, uint32_t n, int64_t left, bool rest, KanonReport *report)
{
	size_t mark = kanon_mark(&p->scratch);
	KanonRelease solved = {0};
	Alone alone = {type, n, p->left, rest, time_for(p, n), p->solve};
	KanonStatus status = solve_types(p->problem, &alone, &p->scratch, &p->pace, &solved, report);

	if (status == KANON_OK && (rest || !kanon_value_lacks(p->problem, &solved, left)))
		status = take_release(p, type, &solved, rest);
	kanon_release_free(p->problem, &solved);
	kanon_release(&p->scratch, mark);
	return status;
}

/* A value's: by who helps, or else here.  left: rows of others that are left over, if it is the last one; else -1. */
static KanonStatus
solve_value(Partition *p, uint32_t code, uint32_t distinct, int64_t left, KanonReport *report)
{
	KanonValueTypes values = {.distinct = distinct, .type = p->by_value, .start = p->start};
	uint32_t *type = p->by_value + p->start[code];
	KanonRelease solved;
	KanonStatus status;

	if (p->help == NULL || !p->help->solved(p->help->arg, &values, code, &status, &solved, report))
		return solve_part(p, type, (uint32_t) (p->start[code + 1] - p->start[code]), left, false, report);
	return status == KANON_OK && !kanon_value_lacks(p->problem, &solved, left)
			   ? take_release(p, type, &solved, false)
			   : status;
}

/* The statuses that keep a part from having a release of its own: its rows are left over. */
static bool
goes_to_rest(KanonStatus status)
{
	return status == KANON_INFEASIBLE || status == KANON_NOT_FOUND || status == KANON_RESIDUAL ||
		   status == KANON_REST_FORBIDDEN;
}

/* The last value that is solved alone; none: `distinct`. */
static uint32_t
last_alone(const Partition *p, uint32_t distinct)
{
	uint32_t last = distinct;

	for (uint32_t code = distinct; code-- > 0 && last == distinct;)
	{
		int64_t rows = 0;

		for (size_t i = p->start[code]; i < p->start[code + 1]; i++)
			rows += p->problem->rows[p->by_value[i]];
		last = rows >= p->problem->k ? code : last;
	}
	return last;
}

/* Rows that are left over of all values but one. */
static int64_t
left_beside(const Partition *p, uint32_t distinct, uint32_t code)
{
	int64_t left = 0;

	for (uint32_t other = 0; other < distinct; other++)
		for (size_t i = p->start[other]; i < p->start[other + 1] && other != code; i++)
			left += p->left[p->by_value[i]];
	return left;
}

static KanonStatus
solve_values(Partition *p, uint32_t distinct, KanonReport *report)
{
	uint32_t last = last_alone(p, distinct);

	for (uint32_t code = 0; code < distinct; code++)
	{
		uint32_t *type = p->by_value + p->start[code];
		uint32_t n = (uint32_t) (p->start[code + 1] - p->start[code]);
		int64_t rows = 0;
		KanonStatus status = KANON_OK;

		for (uint32_t i = 0; i < n; i++)
			rows += p->problem->rows[type[i]];
		if (rows >= p->problem->k)
		{
			status =
				solve_value(p, code, distinct, code == last ? left_beside(p, distinct, code) : -1, report);
			p->facts->parts++;
		}
		p->solved += n;
		if (status != KANON_OK && !goes_to_rest(status))
			return status;
		if (kanon_stop(&p->pace, n))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

static KanonStatus
solve_rest(Partition *p, KanonReport *report)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->problem->ntypes; i++)
		if (p->left[i] > 0)
		{
			p->facts->left_over += p->left[i];
			p->by_value[n++] = i;
		}
	p->solved = p->problem->ntypes - n;
	return n > 0 ? solve_part(p, p->by_value, n, -1, true, report) : KANON_OK;
}

KanonStatus
kanon_solve_partitioned(const KanonProblem *problem, int column, KanonSolve solve,
						const KanonPartitionHelp *help, KanonRelease *release, KanonReport *report,
						KanonPartitionFacts *facts)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	Partition p = {.problem = problem,
				   .solve = solve,
				   .help = help,
				   .scratch = {.env = env},
				   .pace = kanon_pace(env, "solve by parts"),
				   .all = kanon_pattern_all(problem->ncolumns),
				   .end = start + problem->time_limit,
				   .release = release,
				   .facts = facts};
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	memset(facts, 0, sizeof(*facts));
	/* who of a population belongs to a class depends on all other classes */
	if (problem->npopulations > 0)
		return solve(problem, release, report);
	status = sort_by_value(&p, &problem->columns[column]);
	if (status == KANON_OK)
		status = solve_values(&p, problem->columns[column].distinct, report);
	if (status == KANON_OK)
		status = solve_rest(&p, report);
	if (status == KANON_OK)
		status = kanon_release_finish(problem, release, report);
	kanon_scratch_free(&p.scratch);
	if (status != KANON_OK)
		kanon_release_free(problem, release);
	if (goes_to_rest(status))
	{
		memset(facts, 0, sizeof(*facts));
		return solve(problem, release, report);
	}
	/* no bound of a part's is one for the whole */
	report->lower_bound = -INFINITY;
	report->guarantee = 0;
	report->proven = false;
	report->seconds = env->now(env->arg) - start;
	return status;
}

/* ---- some rows of a problem as a problem of their own ---- */

/* A column of the whole as the part has it; false: the host wants to stop. */
static bool
part_column(const KanonPart *part, const KanonColumn *column, uint32_t *code, KanonColumn *copy,
			KanonPace *pace)
{
	for (uint32_t i = 0; i < part->problem.ntypes; i++)
		code[i] = column->code[part->type[i]];
	*copy = *column;
	copy->code = code;
	return !kanon_stop(pace, part->problem.ntypes);
}

KanonStatus
kanon_part_open(const KanonProblem *whole, uint32_t n, uint32_t *type, const int64_t *rows,
				KanonScratch *scratch, KanonPace *pace, KanonPart *part)
{
	uint32_t *codes = kanon_take(scratch, n, sizeof(uint32_t) * (size_t) (whole->ncolumns + whole->nextra));

	if (codes == NULL)
		return KANON_NO_MEMORY;
	part->problem = *whole;
	part->problem.columns = part->columns;
	part->problem.extra = part->extra;
	part->problem.ntypes = n;
	part->problem.rows = rows;
	part->problem.privacy = NULL;
	part->type = type;
	for (int c = 0; c < whole->ncolumns; c++)
		if (!part_column(part, &whole->columns[c], codes + (size_t) c * n, &part->columns[c], pace))
			return KANON_CANCELLED;
	for (int c = 0; c < whole->nextra; c++)
		if (!part_column(part, &whole->extra[c], codes + (size_t) (whole->ncolumns + c) * n, &part->extra[c],
						 pace))
			return KANON_CANCELLED;
	return whole->privacy == NULL
			   ? KANON_OK
			   : kanon_privacy_part(whole->privacy, &part->problem, &part->problem.privacy);
}

void
kanon_part_close(KanonPart *part)
{
	kanon_privacy_close(part->problem.privacy);
	part->problem.privacy = NULL;
}
