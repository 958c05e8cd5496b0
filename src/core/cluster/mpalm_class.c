/*
 * mpalm_class.c: what the parts of mpalm.c show, whom of a population that matches, and how they become classes.
 */
#include <string.h>

#include "cluster/clustering.h"
#include "util/fault.h"
#include "util/sort.h"

uint32_t
mpalm_null_code(const Mpalm *m, const ClusterQi *qi)
{
	const KanonColumn *column = cluster_column(&m->layout, qi);

	return qi->show == KANON_CLUSTER_RANGE && column->has_null ? column->distinct - 1 : UINT32_MAX;
}

bool
mpalm_matches(const Mpalm *m, const KanonPopulation *population, const ClusterQi *qi, uint32_t i,
			  const KanonHull *hull)
{
	for (int c = qi->first; c < qi->first + qi->levels; c++)
	{
		uint32_t code = population->code[c][i];
		KanonHull at = hull[c];

		if (at.low == at.high                                            ? code == at.low
			: !mpalm_is_ordered(qi) || at.high == mpalm_null_code(m, qi) ? true
			: code != KANON_FOREIGN
				? at.low <= code && code <= at.high
				: qi->show == KANON_CLUSTER_RANGE && population->below[c] != NULL &&
					  at.low < population->below[c][i] && population->below[c][i] <= at.high)
			continue;
		return false;
	}
	return true;
}

double
mpalm_share(const Mpalm *m, const KanonPopulation *population, const KanonHull *hull)
{
	double share = 1;

	for (int q = 0; q < m->layout.nqis; q++)
	{
		double sum = 0;

		for (uint32_t v = 0; v < population->nvalues[q]; v++)
			if (mpalm_matches(m, population, &m->layout.qi[q], v, hull))
				sum += population->share[q][v];
		share *= sum;
	}
	return share;
}

bool
mpalm_keeps(const Mpalm *m, int p, int64_t rows, int64_t found, double match)
{
	const KanonPopulation *population = &m->problem->populations[p];

	/* who is in no class matters to chances alone */
	if (population->map && rows == 0)
		return true;
	return FAULT(population_miscounted) ||
		   kanon_population_allows(m->problem, population, m->layout.rows, rows, found, match);
}

KanonStatus
mpalm_count_persons(Mpalm *m, size_t n, int64_t *found)
{
	if (n > 0)
		kanon_sort(m->pairs, m->pairs + n, n, sizeof(uint64_t), kanon_compare_longs, NULL);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || m->pairs[i] != m->pairs[i - 1])
			found[m->pairs[i] >> 32]++;
	return kanon_stop(&m->pace, 8 * (uint64_t) n) ? KANON_CANCELLED : KANON_OK;
}

/* May the last part be a class that shows this, and who of it then matches nothing be in no class? */
static KanonStatus
may_show(Mpalm *m, const MpalmPart *part, const KanonHull *hull, bool *allowed)
{
	const ClusterLayout *layout = &m->layout;

	*allowed = true;
	for (int p = 0; p < m->problem->npopulations && *allowed; p++)
	{
		const KanonPopulation *population = &m->problem->populations[p];
		int64_t found = 0, lost = 0;
		size_t npairs = 0;

		if (population->nvalues != NULL)
		{
			*allowed = mpalm_keeps(m, p, part->rows, 0, mpalm_share(m, population, hull));
			if (kanon_stop(&m->pace, 1000))
				return KANON_CANCELLED;
			continue;
		}
		for (uint32_t i = part->from[p + 1]; i < m->npeople[p]; i++)
		{
			uint32_t person = m->people[p][i];
			int q = 0;

			while (q < layout->nqis && mpalm_matches(m, population, &layout->qi[q], person, hull))
				q++;
			if (population->person == NULL)
				*(q == layout->nqis ? &found : &lost) += population->rows[person];
			else if (q == layout->nqis)
				m->pairs[npairs++] = population->person[person];
			if (kanon_stop(&m->pace, m->width))
				return KANON_CANCELLED;
		}
		if (mpalm_count_persons(m, npairs, &found) != KANON_OK)
			return KANON_CANCELLED;
		*allowed = mpalm_keeps(m, p, part->rows, found, 0) && mpalm_keeps(m, p, 0, lost, 0);
	}
	return KANON_OK;
}

/* The part of a quasi-identifier that the part's own rows need. */
static void
narrow(const Mpalm *m, const MpalmPart *part, const ClusterQi *qi, KanonHull *hull)
{
	for (int c = qi->first; c < qi->first + qi->levels; c++)
		if (part->low[c] == part->high[c] ||
			(mpalm_is_ordered(qi) && part->high[c] != mpalm_null_code(m, qi)))
			hull[c] = (KanonHull){part->low[c], part->high[c]};
}

KanonStatus
mpalm_take_class(Mpalm *m, const MpalmPart *part, bool *allowed)
{
	const KanonProblem *problem = m->problem;
	KanonHull *hull;
	KanonStatus status;

	if (!KANON_GROW(&m->scratch, &m->shown_room, (m->parts.nclusters + (size_t) 1) * m->width,
					KANON_ARRAY(m->shown)))
		return KANON_NO_MEMORY;
	hull = m->shown + m->parts.nclusters * m->width;
	memcpy(hull, part->hull, m->width * sizeof(KanonHull));
	status = may_show(m, part, hull, allowed);
	for (int q = 0; q < m->layout.nqis && status == KANON_OK && *allowed; q++)
	{
		KanonHull less[KANON_MAX_COLUMNS];
		bool narrower;

		memcpy(less, hull, m->width * sizeof(KanonHull));
		narrow(m, part, &m->layout.qi[q], less);
		if (memcmp(less, hull, m->width * sizeof(KanonHull)) == 0)
			continue;
		status = may_show(m, part, less, &narrower);
		if (status == KANON_OK && narrower)
			memcpy(hull, less, m->width * sizeof(KanonHull));
	}
	for (uint32_t i = part->from[0]; i < m->n && status == KANON_OK && *allowed; i++)
		if (!kanon_parts_add(problem->env, &m->parts, m->type[i], m->parts.nclusters,
							 problem->rows[m->type[i]]))
			status = KANON_NO_MEMORY;
	m->parts.nclusters++;
	m->n = part->from[0];
	for (int p = 0; p < problem->npopulations; p++)
		if (problem->populations[p].nvalues == NULL)
			m->npeople[p] = part->from[p + 1];
	m->nparts--;
	m->pace.rows_left -= part->rows;
	m->pace.share = 1 - (double) m->pace.rows_left / (double) m->layout.rows;
	return status;
}
