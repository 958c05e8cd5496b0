/*
 * cover.c: the cheapest pattern of a mask that suppresses given columns.
 */
#include "release/release.h"
#include "util/hash.h"

/* Answers that are remembered: a power of two. */
#define REMEMBERED 4096

typedef struct KanonCovered
{
	KanonPattern columns;
	KanonPattern pattern; /* of no column: none yet (which is its own) */
	double cost;
} KanonCovered;

KanonStatus
kanon_cover_open(KanonCover *cover, const KanonProblem *problem)
{
	KanonStatus status = kanon_mask_open(problem, &cover->index);

	cover->problem = problem;
	cover->scratch.env = problem->env;
	for (int c = 0; c < problem->ncolumns; c++)
		cover->weight[c] = problem->columns[c].weight;
	cover->known = kanon_take0(&cover->scratch, REMEMBERED, sizeof(KanonCovered));
	if (status == KANON_OK)
		status = kanon_taken(&cover->scratch);
	if (status == KANON_OK && problem->mask.list != NULL)
		status = kanon_mask_enumerate(problem, SIZE_MAX, &cover->patterns, &cover->npatterns);
	return status;
}

void
kanon_cover_close(KanonCover *cover)
{
	if (cover->problem == NULL)
		return;
	kanon_mask_close(cover->index);
	kanon_free(cover->problem->env, cover->patterns);
	kanon_scratch_free(&cover->scratch);
}

static KanonPattern
find(const KanonCover *cover, KanonPattern columns)
{
	if (cover->problem->mask.list == NULL)
		return kanon_mask_cover(cover->index, columns);
	for (size_t i = 0; i < cover->npatterns; i++)
		if (kanon_within(columns, cover->patterns[i]))
			return cover->patterns[i];
	return cover->index->all;
}

KanonPattern
kanon_cover(const KanonCover *cover, KanonPattern columns, double *cost)
{
	KanonCovered *known = &cover->known[kanon_pattern_hash(columns) & (REMEMBERED - 1)];

	if (kanon_is_none(known->pattern) || !kanon_same(known->columns, columns))
	{
		known->columns = columns;
		known->pattern = find(cover, columns);
		known->cost = kanon_pattern_cost(cover->problem, known->pattern);
	}
	*cost = known->cost;
	return known->pattern;
}
