/*
 * mpalm.c: Mondrian under rules about a population.
 *
 * MPALM of M. Nergiz, C. Clifton, "Thoughts on k-anonymization", DKE 63(3), 2007, and their
 * "delta-presence without complete world knowledge", TKDE 22(6), 2010: the population is divided with the
 * table, and a cut is made where all parts keep the rules.
 *
 * On 10,000 rows of Adult it loses 38 % (delta-presence) and 78 % (k-map, k = 50) of what the best node of the
 * lattice loses.
 *
 * A part is a region: of each quasi-identifier all there is, a run of values, or what is below one node
 * of its hierarchy; of one without ranges, sets or a hierarchy all or one value.  Regions do not overlap, so nobody
 * matches two classes.  For that, a hierarchy is divided into all children of a node at once, and
 * NULL, beside which no range is shown, is the first to go.  At the end a class shows no more than its own
 * rows need, where the rules allow that: then somebody in the region may match no class.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster/clustering.h"
#include "privacy/rules.h"
#include "release/release.h"
#include "util/sort.h"

#define NO_CHILD UINT32_MAX

/* Nothing is shown: no code. */
#define HIDDEN ((KanonHull){0, UINT32_MAX})

/* ---- divisions ---- */

static int
compare_codes(const void *a, const void *b, void *arg)
{
	const uint32_t *code = *(const uint32_t *const *) arg;
	uint32_t left = code[*(const uint32_t *) a];
	uint32_t right = code[*(const uint32_t *) b];

	return left < right ? -1 : left > right;
}

/* The codes beside the median: where the upper half may begin; 0: not there. */
static KanonStatus
find_cuts(Mpalm *m, const MpalmPart *part, int column, uint32_t cut[2])
{
	const uint32_t *code = m->problem->columns[column].code;
	uint32_t n = m->n - part->from[0];
	int64_t below = 0;
	uint32_t i = 0;

	memcpy(m->sorted, m->type + part->from[0], n * sizeof(uint32_t));
	kanon_sort(m->sorted, m->spare, n, sizeof(uint32_t), compare_codes, &code);
	while (i + 1 < n && 2 * (below + m->problem->rows[m->sorted[i]]) < part->rows)
		below += m->problem->rows[m->sorted[i++]];
	cut[1] = code[m->sorted[i]];
	while (i < n && code[m->sorted[i]] == cut[1])
		i++;
	cut[0] = i < n ? code[m->sorted[i]] : 0;
	if (cut[1] == part->low[column])
		cut[1] = 0;
	return kanon_stop(&m->pace, 8 * (uint64_t) n) ? KANON_CANCELLED : KANON_OK;
}

/* Two children: codes below the cut, and from there on. */
static void
divide_at(Mpalm *m, const MpalmPart *part, int column, uint32_t cut)
{
	m->column = column;
	m->nchildren = 2;
	m->child_hull[0] = (KanonHull){part->hull[column].low, cut - 1};
	m->child_hull[1] = (KanonHull){cut, part->hull[column].high};
}

/* A child for each code that the part's rows have in a column. */
static void
divide_all(Mpalm *m, const MpalmPart *part, int column)
{
	const uint32_t *code = m->problem->columns[column].code;

	m->column = column;
	m->nchildren = 0;
	for (uint32_t i = part->from[0]; i < m->n; i++)
		m->child[code[m->type[i]]] = NO_CHILD;
	for (uint32_t i = part->from[0]; i < m->n; i++)
		if (m->child[code[m->type[i]]] == NO_CHILD)
		{
			m->child[code[m->type[i]]] = m->nchildren;
			m->child_hull[m->nchildren++] = (KanonHull){code[m->type[i]], code[m->type[i]]};
		}
}

/* The region of a child: under a node of a hierarchy all its levels from there on are shown. */
static void
hull_of_child(const Mpalm *m, const MpalmPart *part, const ClusterQi *qi, uint32_t child, KanonHull *hull)
{
	memcpy(hull, part->hull, m->width * sizeof(KanonHull));
	hull[m->column] = m->child_hull[child];
	for (int c = m->column + 1; c < qi->first + qi->levels; c++)
	{
		uint32_t code = m->problem->columns[c].code[m->sorted[m->start[child]]];

		hull[c] = (KanonHull){code, code};
	}
}

static uint32_t
child_of(const Mpalm *m, const ClusterQi *qi, uint32_t code)
{
	return mpalm_is_ordered(qi) ? code >= m->child_hull[1].low : m->child[code];
}

/* The part's rows by child, each of which may be a class (or has none). */
static KanonStatus
sort_rows(Mpalm *m, const MpalmPart *part, const ClusterQi *qi, bool *allowed)
{
	const uint32_t *code = m->problem->columns[m->column].code;

	memset(m->start, 0, ((size_t) m->nchildren + 2) * sizeof(uint32_t));
	memset(m->rows, 0, m->nchildren * sizeof(int64_t));
	for (uint32_t i = part->from[0]; i < m->n; i++)
	{
		uint32_t child = child_of(m, qi, code[m->type[i]]);

		m->start[child + 2]++;
		m->rows[child] += m->problem->rows[m->type[i]];
	}
	for (uint32_t child = 0; child < m->nchildren; child++)
		m->start[child + 2] += m->start[child + 1];
	for (uint32_t i = part->from[0]; i < m->n; i++)
		m->sorted[m->start[child_of(m, qi, code[m->type[i]]) + 1]++] = m->type[i];
	*allowed = true;
	for (uint32_t child = 0; child < m->nchildren && *allowed; child++)
		*allowed =
			m->rows[child] == 0 || kanon_class_allowed(m->problem, m->sorted + m->start[child], NULL,
													   m->start[child + 1] - m->start[child], m->rows[child]);
	return kanon_stop(&m->pace, 16 * (uint64_t) (m->n - part->from[0])) ? KANON_CANCELLED : KANON_OK;
}

/* The child whose region somebody of the part is in; of one without rows nobody's. */
static uint32_t
child_of_person(const Mpalm *m, const KanonPopulation *population, const ClusterQi *qi, uint32_t i)
{
	KanonHull hull[KANON_MAX_COLUMNS];
	uint32_t child = m->nchildren;

	if (!mpalm_is_ordered(qi))
	{
		uint32_t code = population->code[m->column][i];
		uint32_t known = code == KANON_FOREIGN ? NO_CHILD : m->child[code];

		/* (what other parts have left there is no child of this one) */
		return known < m->nchildren && m->child_hull[known].low == code ? known : m->nchildren;
	}
	for (uint32_t half = 0; half < 2 && child == m->nchildren; half++)
	{
		hull[m->column] = m->child_hull[half];
		if (m->rows[half] > 0 && mpalm_matches(m, population, qi, i, hull))
			child = half;
	}
	return child;
}

/* Do all children keep the rules about one population? */
static KanonStatus
try_people(Mpalm *m, const MpalmPart *part, const ClusterQi *qi, int p, bool *allowed)
{
	const KanonPopulation *population = &m->problem->populations[p];
	KanonHull hull[KANON_MAX_COLUMNS];

	if (population->nvalues == NULL)
	{
		size_t npairs = 0;

		memset(m->found, 0, ((size_t) m->nchildren + 1) * sizeof(int64_t));
		for (uint32_t i = part->from[p + 1]; i < m->npeople[p]; i++)
		{
			uint32_t person = m->people[p][i];
			uint32_t child = child_of_person(m, population, qi, person);

			if (population->person != NULL)
				m->pairs[npairs++] = (uint64_t) child << 32 | population->person[person];
			else
				m->found[child] += population->rows[person];
			if (kanon_stop(&m->pace, 8))
				return KANON_CANCELLED;
		}
		if (mpalm_count_persons(m, npairs, m->found) != KANON_OK)
			return KANON_CANCELLED;
		*allowed = mpalm_keeps(m, p, 0, m->found[m->nchildren], 0);
	}
	for (uint32_t child = 0; child < m->nchildren && *allowed; child++)
	{
		double match = 0;

		if (m->rows[child] == 0)
			continue;
		if (population->nvalues != NULL)
		{
			hull_of_child(m, part, qi, child, hull);
			match = mpalm_share(m, population, hull);
		}
		*allowed = mpalm_keeps(m, p, m->rows[child], m->found[child], match);
		if (kanon_stop(&m->pace, population->nvalues != NULL ? 1000 : 8))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* The people of a part by child, who are in no child's region last: they are in no part any more. */
static void
sort_people(Mpalm *m, const MpalmPart *part, const ClusterQi *qi, int p)
{
	const KanonPopulation *population = &m->problem->populations[p];
	uint32_t from = part->from[p + 1];
	uint32_t *people = m->people[p];

	memset(m->start, 0, ((size_t) m->nchildren + 2) * sizeof(uint32_t));
	for (uint32_t i = from; i < m->npeople[p]; i++)
		m->start[child_of_person(m, population, qi, people[i]) + 1]++;
	for (uint32_t child = 0; child < m->nchildren; child++)
		m->start[child + 1] += m->start[child];
	m->start[m->nchildren + 1] = m->start[m->nchildren];
	for (uint32_t i = from; i < m->npeople[p]; i++)
		m->people_sorted[m->start[child_of_person(m, population, qi, people[i])]++] = people[i];
	memcpy(people + from, m->people_sorted, (m->npeople[p] - from) * sizeof(uint32_t));
	/* each start is the end of its child now */
	m->npeople[p] = from + (m->nchildren > 0 ? m->start[m->nchildren - 1] : 0);
}

static bool
room_for_part(Mpalm *m)
{
	size_t stride = (size_t) m->problem->npopulations + 1;

	return KANON_GROW(&m->scratch, &m->from_room, (m->nparts + 1) * stride, KANON_ARRAY(m->from)) &&
		   KANON_GROW(&m->scratch, &m->hull_room, (m->nparts + 1) * m->width, KANON_ARRAY(m->hull));
}

static void
last_part(const Mpalm *m, MpalmPart *part)
{
	part->from = m->from + (m->nparts - 1) * ((size_t) m->problem->npopulations + 1);
	part->hull = m->hull + (m->nparts - 1) * m->width;
}

/* The children take the part's place. */
static KanonStatus
take_children(Mpalm *m, const MpalmPart *divided, const ClusterQi *qi)
{
	const KanonProblem *problem = m->problem;
	size_t stride = (size_t) problem->npopulations + 1;
	size_t first = m->nparts - 1;
	uint32_t from = divided->from[0];
	KanonHull region[KANON_MAX_COLUMNS];
	MpalmPart part = *divided;

	memcpy(region, part.hull, m->width * sizeof(KanonHull));
	part.hull = region;
	memcpy(m->type + from, m->sorted, (m->n - from) * sizeof(uint32_t));
	m->nparts--;
	for (uint32_t child = 0; child < m->nchildren; child++)
	{
		if (m->rows[child] == 0)
			continue;
		if (!room_for_part(m))
			return KANON_NO_MEMORY;
		hull_of_child(m, &part, qi, child, m->hull + m->nparts * m->width);
		m->from[m->nparts * stride] = from + m->start[child];
		m->nparts++;
	}
	for (int p = 0; p < problem->npopulations; p++)
	{
		uint32_t begin = m->from[first * stride + (size_t) p + 1];
		size_t at = first;

		if (problem->populations[p].nvalues != NULL)
			continue;
		part.from = m->from + first * stride;
		sort_people(m, &part, qi, p);
		for (uint32_t child = 0; child < m->nchildren; child++)
			if (m->rows[child] > 0)
				m->from[at++ * stride + (size_t) p + 1] = begin + (child > 0 ? m->start[child - 1] : 0);
		if (kanon_stop(&m->pace, 16 * (uint64_t) (m->npeople[p] - begin)))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

/* The division that is set up, if it may be. */
static KanonStatus
try_division(Mpalm *m, const MpalmPart *part, const ClusterQi *qi, bool *done)
{
	bool allowed;
	KanonStatus status = sort_rows(m, part, qi, &allowed);

	for (int p = 0; p < m->problem->npopulations && status == KANON_OK && allowed; p++)
		status = try_people(m, part, qi, p, &allowed);
	if (status == KANON_OK && allowed)
	{
		*done = true;
		status = take_children(m, part, qi);
	}
	return status;
}

static KanonStatus
divide_by(Mpalm *m, const MpalmPart *part, const ClusterQi *qi, bool *done)
{
	uint32_t cut[2] = {0, 0};
	int c = qi->first;
	KanonStatus status = KANON_OK;

	if (!mpalm_is_ordered(qi))
	{
		while (c < qi->first + qi->levels && part->low[c] != part->high[c])
			c++;
		divide_all(m, part, c - 1);
		return try_division(m, part, qi, done);
	}
	if (part->hull[c].high == mpalm_null_code(m, qi))
		cut[0] = part->hull[c].high;
	else
		status = find_cuts(m, part, c, cut);
	for (int attempt = 0; attempt < 2 && status == KANON_OK && !*done; attempt++)
		if (cut[attempt] > part->hull[c].low)
		{
			divide_at(m, part, c, cut[attempt]);
			status = try_division(m, part, qi, done);
		}
	return status;
}

/* How much of a quasi-identifier a part covers, weighted; 0: it cannot be divided there. */
static double
width_of(const Mpalm *m, const MpalmPart *part, const ClusterQi *qi)
{
	uint32_t low = part->low[qi->first];
	uint32_t high = part->high[qi->first];
	int level = 0;

	if (low == high)
		return 0;
	if (qi->show == KANON_CLUSTER_RANGE)
		return qi->weight * cluster_share(qi, low, high);
	if (qi->show == KANON_CLUSTER_SET)
		return qi->weight * (high - low) / (cluster_column(&m->layout, qi)->distinct - 1);
	while (level < qi->levels && part->low[qi->first + level] != part->high[qi->first + level])
		level++;
	return qi->weight * level / qi->levels;
}

static KanonStatus
measure(Mpalm *m, MpalmPart *part)
{
	last_part(m, part);
	part->rows = 0;
	for (size_t c = 0; c < m->width; c++)
	{
		const uint32_t *code = m->problem->columns[c].code;

		part->low[c] = UINT32_MAX;
		part->high[c] = 0;
		for (uint32_t i = part->from[0]; i < m->n; i++)
		{
			uint32_t at = code[m->type[i]];

			part->low[c] = at < part->low[c] ? at : part->low[c];
			part->high[c] = at > part->high[c] ? at : part->high[c];
		}
	}
	for (uint32_t i = part->from[0]; i < m->n; i++)
		part->rows += m->problem->rows[m->type[i]];
	return kanon_stop(&m->pace, (m->width + 1) * (uint64_t) (m->n - part->from[0])) ? KANON_CANCELLED
																					: KANON_OK;
}

/* Divides the last part on the widest quasi-identifier that can be. */
static KanonStatus
divide(Mpalm *m, const MpalmPart *part, bool *done)
{
	bool tried[KANON_MAX_COLUMNS] = {false};
	KanonStatus status = KANON_OK;

	*done = false;
	while (status == KANON_OK && !*done)
	{
		double widest = -1;
		int best = -1;

		for (int q = 0; q < m->layout.nqis; q++)
			if (!tried[q] && part->low[m->layout.qi[q].first] != part->high[m->layout.qi[q].first] &&
				width_of(m, part, &m->layout.qi[q]) > widest)
			{
				widest = width_of(m, part, &m->layout.qi[q]);
				best = q;
			}
		if (best < 0)
			break;
		tried[best] = true;
		status = divide_by(m, part, &m->layout.qi[best], done);
	}
	return status;
}

/* ---- all ---- */

/* The whole table is the first part, and who of each population is in its region. */
static KanonStatus
start(Mpalm *m)
{
	const KanonProblem *problem = m->problem;
	size_t most = 2, people = 1;

	for (int c = 0; c < problem->ncolumns; c++)
		most = problem->columns[c].distinct > most ? problem->columns[c].distinct : most;
	for (int p = 0; p < problem->npopulations; p++)
		people = problem->populations[p].ntypes > people ? problem->populations[p].ntypes : people;
	m->type = kanon_take(&m->scratch, problem->ntypes, sizeof(uint32_t));
	m->sorted = kanon_take(&m->scratch, problem->ntypes, sizeof(uint32_t));
	m->spare = kanon_take(&m->scratch, problem->ntypes, sizeof(uint32_t));
	m->start = kanon_take(&m->scratch, (size_t) problem->ntypes + 4, sizeof(uint32_t));
	m->rows = kanon_take(&m->scratch, (size_t) problem->ntypes + 2, sizeof(int64_t));
	m->found = kanon_take0(&m->scratch, (size_t) problem->ntypes + 3, sizeof(int64_t));
	m->child_hull = kanon_take(&m->scratch, (size_t) problem->ntypes + 2, sizeof(KanonHull));
	m->child = kanon_take0(&m->scratch, most, sizeof(uint32_t));
	m->people_sorted = kanon_take(&m->scratch, people, sizeof(uint32_t));
	for (int p = 0; p < problem->npopulations; p++)
		if (problem->populations[p].person != NULL)
			m->pairs = kanon_take(&m->scratch, people, 2 * sizeof(uint64_t));
	m->people = kanon_take0(&m->scratch, (size_t) problem->npopulations, sizeof(uint32_t *));
	m->npeople = kanon_take0(&m->scratch, (size_t) problem->npopulations, sizeof(uint32_t));
	if (m->scratch.failed || !room_for_part(m))
		return KANON_NO_MEMORY;
	memset(m->from, 0, ((size_t) problem->npopulations + 1) * sizeof(uint32_t));
	m->nparts = 1;
	for (int q = 0; q < m->layout.nqis; q++)
	{
		const ClusterQi *qi = &m->layout.qi[q];

		for (int c = qi->first; c < qi->first + qi->levels; c++)
			m->hull[c] = mpalm_is_ordered(qi) ? (KanonHull){0, problem->columns[c].distinct - 1} : HIDDEN;
	}
	for (m->n = 0; m->n < problem->ntypes; m->n++)
		m->type[m->n] = m->n;
	for (int p = 0; p < problem->npopulations; p++)
	{
		const KanonPopulation *population = &problem->populations[p];

		if (population->nvalues != NULL)
			continue;
		m->people[p] = kanon_take(&m->scratch, population->ntypes, sizeof(uint32_t));
		if (m->people[p] == NULL)
			return KANON_NO_MEMORY;
		for (uint32_t i = 0; i < population->ntypes; i++)
			m->people[p][i] = i;
		m->npeople[p] = population->ntypes;
	}
	m->pace.rows_left = m->layout.rows;
	return KANON_OK;
}

static KanonStatus
divide_all_parts(Mpalm *m, bool *allowed)
{
	KanonStatus status = KANON_OK;

	*allowed = true;
	while (status == KANON_OK && m->nparts > 0 && *allowed)
	{
		MpalmPart part;
		bool done;

		status = measure(m, &part);
		if (status == KANON_OK)
			status = divide(m, &part, &done);
		if (status == KANON_OK && !done)
			status = mpalm_take_class(m, &part, allowed);
	}
	return status;
}

KanonStatus
mondrian_under_populations(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	Mpalm m = {.problem = problem,
			   .scratch = {.env = env},
			   .width = (size_t) problem->ncolumns,
			   .pace = {.env = env, .phase = "mondrian", .work = KANON_POLL_WORK}};
	bool allowed = true;
	KanonStatus status;

	cluster_layout(problem, &m.layout);
	status = start(&m);
	if (status == KANON_OK && problem->ntypes > 0 &&
		!kanon_class_allowed(problem, m.type, NULL, problem->ntypes, m.layout.rows))
		status = cluster_too_few(report);
	if (status == KANON_OK && problem->ntypes > 0)
		status = divide_all_parts(&m, &allowed);
	if (status == KANON_OK && !allowed)
	{
		snprintf(report->detail, sizeof(report->detail),
				 "neither the whole table nor its parts keep the rules about populations");
		status = KANON_NOT_FOUND;
	}
	if (status == KANON_OK)
	{
		m.layout.region = m.shown;
		status = cluster_conclude(&m.layout, &m.parts, release, report);
	}
	kanon_parts_free(env, &m.parts);
	kanon_scratch_free(&m.scratch);
	/* ranges and sets leave out persons of the population; everybody matches what shows nothing */
	if (status == KANON_NOT_FOUND)
		status = kanon_release_one_class_or(problem, status, release, report);
	return status;
}
