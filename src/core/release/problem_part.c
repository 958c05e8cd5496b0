/*
 * problem_part.c: some rows of a problem as a problem of their own.
 */
#include "release/release.h"

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
