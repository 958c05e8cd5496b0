/*
 * outliers.c: rows that are better left out of a partition: what their clusters would
 * then show of the others is worth more than they are.
 */
#include "cluster/clustering.h"
#include "util/pace.h"

/* The flows from .. to are a cluster: marks those that cost less when hidden altogether. */
static KanonStatus
drop_outliers(const ClusterLayout *layout, KanonFlow *flows, size_t from, size_t to, uint32_t *types,
			  KanonPace *pace)
{
	const KanonProblem *problem = layout->problem;
	int64_t rows = 0;
	size_t n = 0;

	for (size_t i = from; i < to; i++)
	{
		types[n++] = flows[i].type;
		rows += flows[i].rows;
	}
	while (rows > problem->k)
	{
		double each = cluster_charge(layout, types, n);
		double best = layout->weight * 1e-9;
		size_t who = to;
		size_t at = 0;

		for (size_t i = from; i < to; i++)
		{
			uint32_t last = types[n - 1];
			int64_t stay = rows - flows[i].rows;
			double gain;

			if (flows[i].class_ == KANON_DROPPED)
				continue;
			/* the others are in front for a moment */
			types[n - 1] = types[at];
			types[at] = last;
			gain = stay < problem->k ? 0
									 : (double) stay * (each - cluster_charge(layout, types, n - 1)) -
										   (double) flows[i].rows * (layout->weight - each);
			types[at] = types[n - 1];
			types[n - 1] = last;
			at++;
			if (gain > best)
			{
				best = gain;
				who = i;
			}
			if (kanon_stop(pace, n * (uint64_t) problem->ncolumns))
				return KANON_CANCELLED;
		}
		if (who == to)
			break;
		flows[who].class_ = KANON_DROPPED;
		rows -= flows[who].rows;
		n = 0;
		for (size_t i = from; i < to; i++)
			if (flows[i].class_ != KANON_DROPPED)
				types[n++] = flows[i].type;
	}
	return KANON_OK;
}

/*
 * Leaves out what costs less so, cluster by cluster.  When that is enough rows,
 * they are a class.
 */
KanonStatus
cluster_drop_outliers(const ClusterLayout *layout, ClusterParts *parts, KanonPace *pace)
{
	const KanonProblem *problem = layout->problem;
	uint32_t *types = kanon_alloc(problem->env, parts->nflows, sizeof(uint32_t));
	int64_t dropped = 0;
	KanonStatus status = types == NULL ? KANON_NO_MEMORY : KANON_OK;

	for (size_t from = 0, to; from < parts->nflows && status == KANON_OK; from = to)
	{
		for (to = from + 1; to < parts->nflows; to++)
			if (parts->flows[to].class_ != parts->flows[from].class_)
				break;
		status = drop_outliers(layout, parts->flows, from, to, types, pace);
	}
	kanon_free(problem->env, types);
	for (size_t i = 0; i < parts->nflows; i++)
		if (parts->flows[i].class_ == KANON_DROPPED)
			dropped += parts->flows[i].rows;
	if (dropped < problem->k)
		return status;
	for (size_t i = 0; i < parts->nflows; i++)
		if (parts->flows[i].class_ == KANON_DROPPED)
			parts->flows[i].class_ = parts->nclusters;
	parts->nclusters++;
	return status;
}
