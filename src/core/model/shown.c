/*
 * shown.c: what the cells of a release show.
 */
#include <string.h>

#include "model/model.h"

/* The codes of a range or a set. */
static const uint32_t *
codes_of(const KanonRelease *release, KanonCell cell, uint32_t *ncodes)
{
	bool set = cell.show == KANON_SHOW_SET;

	*ncodes = set ? release->pool[cell.code] : 2;
	return release->pool + cell.code + set;
}

/* Before all of them nothing would be; it is last, for the fully suppressed class to be. */
int
kanon_compare_cells(const KanonRelease *one, KanonCell a, const KanonRelease *other, KanonCell b)
{
	const uint32_t *left;
	const uint32_t *right;
	uint32_t nleft;
	uint32_t nright;

	if (a.show != b.show)
	{
		if (a.show == KANON_SHOW_NOTHING || b.show == KANON_SHOW_NOTHING)
			return a.show == KANON_SHOW_NOTHING ? 1 : -1;
		return a.show < b.show ? -1 : 1;
	}
	if (!kanon_shows_several(a))
		return a.code < b.code ? -1 : a.code > b.code;
	left = codes_of(one, a, &nleft);
	right = codes_of(other, b, &nright);
	for (uint32_t i = 0; i < nleft && i < nright; i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return nleft < nright ? -1 : nleft > nright;
}

int
kanon_compare_shown(const KanonRelease *release, KanonCell a, KanonCell b)
{
	return kanon_compare_cells(release, a, release, b);
}

bool
kanon_cell_holds(const KanonRelease *release, KanonCell cell, uint32_t code)
{
	const uint32_t *codes;
	uint32_t low = 0;
	uint32_t high;

	codes = codes_of(release, cell, &high);
	if (cell.show == KANON_SHOW_RANGE)
		return codes[0] <= code && code <= codes[1];
	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		if (codes[middle] < code)
			low = middle + 1;
		else
			high = middle;
	}
	return low < release->pool[cell.code] && codes[low] == code;
}

void
kanon_release_free(const KanonProblem *problem, KanonRelease *release)
{
	kanon_free(problem->env, release->classes);
	kanon_free(problem->env, release->cells);
	kanon_free(problem->env, release->flows);
	kanon_free(problem->env, release->pool);
	kanon_free(problem->env, release->graph_start);
	kanon_free(problem->env, release->graph);
	memset(release, 0, sizeof(*release));
}

int
kanon_class_suppressed(const KanonProblem *problem, const KanonRelease *release, uint32_t class_)
{
	const KanonCell *cell = release->cells + class_ * (size_t) problem->ncolumns;
	int suppressed = kanon_pattern_suppressed(problem, release->classes[class_].pattern);

	for (int c = 0; c < problem->ncolumns && release->npool > 0; c++)
		suppressed -= kanon_shows_several(cell[c]);
	return suppressed;
}

bool
kanon_class_blank(const KanonProblem *problem, const KanonRelease *release, uint32_t class_)
{
	return kanon_same(release->classes[class_].pattern, kanon_pattern_all(problem->ncolumns)) &&
		   kanon_class_suppressed(problem, release, class_) == kanon_count_qis(problem);
}

KanonStatus
kanon_release_members(const KanonRelease *release, KanonScratch *scratch, KanonMembers *members)
{
	size_t *start = kanon_take0(scratch, (size_t) release->nclasses + 2, sizeof(*start));

	members->start = start;
	members->type = kanon_take(scratch, release->nflows, sizeof(*members->type));
	members->rows = kanon_take(scratch, release->nflows, sizeof(*members->rows));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	for (size_t f = 0; f < release->nflows; f++)
		if (release->flows[f].class_ != KANON_DROPPED)
			start[release->flows[f].class_ + 2]++;
	for (size_t i = 2; i <= release->nclasses; i++)
		start[i] += start[i - 1];
	/* start[i + 1] is where class i begins, until its members are in */
	for (size_t f = 0; f < release->nflows; f++)
	{
		const KanonFlow *flow = &release->flows[f];

		if (flow->class_ == KANON_DROPPED)
			continue;
		members->type[start[flow->class_ + 1]] = flow->type;
		members->rows[start[flow->class_ + 1]++] = flow->rows;
	}
	return KANON_OK;
}
