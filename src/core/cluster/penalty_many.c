/*
 * penalty_many.c: the penalty of a group with each of many others, from below.
 *
 * A search for the least penalty skips most groups by a number that is never above the
 * penalty and seldom far below it: a whole one, of which PENALTY_ONE is the weight of all
 * quasi-identifiers.  Groups lie in lines, one for each thing that is compared, so that
 * compilers use vectors.  The few that are left are asked of penalty_union.
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"
#include "util/number.h"

/* A line's code of a group that has several values. */
#define MIXED UINT32_MAX

static PenaltyBy
compared_by(const PenaltyAxis *axis)
{
	if (axis->words > 0)
		return PENALTY_BY_BITS;
	return axis->place != NULL || axis->qi->show == KANON_CLUSTER_SET ? PENALTY_BY_PLACE : PENALTY_BY_CODE;
}

static int
lines_of(const PenaltyAxis *axis)
{
	return axis->words > 0 ? 2 * axis->words : axis->share != NULL ? axis->qi->levels : 1;
}

static uint32_t
fixed(const PenaltyMany *many, double penalty)
{
	return many->scale > 0 ? (uint32_t) (penalty * many->scale) : 0;
}

/* The place of each code; a value that is no number is as far from all others as can be. */
static bool
open_places(PenaltyMany *many, PenaltyLine *line)
{
	const PenaltyAxis *axis = line->axis;
	uint32_t distinct = axis->column->distinct;

	line->place = kanon_take(many->scratch, distinct, sizeof(uint32_t));
	line->high = kanon_take0(many->scratch, many->room, sizeof(uint32_t));
	if (many->scratch->failed)
		return false;
	for (uint32_t v = 0; v < distinct; v++)
		line->place[v] = axis->place == NULL     ? fixed(many, axis->weight * v / distinct)
						 : isnan(axis->place[v]) ? 2 * line->weight - (line->weight > 0)
												 : fixed(many, axis->place[v]);
	return true;
}

KanonStatus
penalty_many_open(const Penalty *penalty, size_t n, KanonScratch *scratch, PenaltyMany *many)
{
	double all = penalty->layout->weight;
	double scale = PENALTY_ONE / all;

	*many = (PenaltyMany){.penalty = penalty,
						  .scratch = scratch,
						  /* (none where doubles cannot say it) */
						  .scale = isfinite(all) && isfinite(scale) ? scale : 0,
						  .room = (n + PENALTY_BLOCK - 1) / PENALTY_BLOCK * PENALTY_BLOCK};
	for (int a = 0; a < penalty->naxes; a++)
		many->nlines += lines_of(&penalty->axis[a]);
	many->least = kanon_take0(scratch, many->room, sizeof(int32_t));
	many->line = kanon_take(scratch, (size_t) many->nlines, sizeof(PenaltyLine));
	for (int a = 0, i = 0; a < penalty->naxes && !scratch->failed; a++)
		for (int l = 0; l < lines_of(&penalty->axis[a]) && !scratch->failed; l++)
		{
			PenaltyLine *line = &many->line[i++];

			*line = (PenaltyLine){.axis = &penalty->axis[a],
								  .by = compared_by(&penalty->axis[a]),
								  .number = l,
								  .weight = fixed(many, penalty->axis[a].weight),
								  .value = kanon_take0(scratch, many->room, sizeof(uint32_t))};
			if (line->by == PENALTY_BY_PLACE && !open_places(many, line))
				break;
		}
	return kanon_taken(scratch);
}

/* A group's place in a line. */
static inline uint32_t
value_of(const PenaltyMany *many, const PenaltyLine *line, const PenaltyGroup *group, uint32_t *high)
{
	const uint32_t *hull = group->hull + line->axis->hull;

	switch (line->by)
	{
		case PENALTY_BY_CODE:
			return hull[2 * line->number] == hull[2 * line->number + 1] ? hull[2 * line->number] : MIXED;
		case PENALTY_BY_PLACE:
			*high = line->place[hull[1]];
			return line->place[hull[0]];
		case PENALTY_BY_BITS:
			break;
	}
	return (uint32_t) (penalty_bits(many->penalty, group)[line->axis->bits_from + line->number / 2] >>
					   32 * (line->number % 2));
}

void
penalty_many_put(PenaltyMany *many, uint32_t at, const PenaltyGroup *group)
{
	for (int i = 0; i < many->nlines; i++)
	{
		PenaltyLine *line = &many->line[i];
		uint32_t high = 0;

		line->value[at] = value_of(many, line, group, &high);
		if (line->high != NULL)
			line->high[at] = high;
	}
}

/* The loss of a row in a quasi-identifier, in a group with one value on this level and several below. */
static double
lost_at(const PenaltyAxis *axis, const uint32_t *hull, int level)
{
	if (level == 0)
		return 0;
	return axis->share != NULL && level < axis->qi->levels
			   ? axis->share[axis->share_from[level] + hull[2 * level]]
			   : axis->weight;
}

/*
 * Lines as this group has them.  On a level on which it has one value all others add what is lost more on
 * the next level than there; what it loses where it has several, any union loses: this is returned.
 */
static uint32_t
set_own(PenaltyMany *many, const PenaltyGroup *group)
{
	uint32_t alone = 0;

	for (int i = 0; i < many->nlines; i++)
	{
		PenaltyLine *line = &many->line[i];
		const PenaltyAxis *axis = line->axis;
		const uint32_t *hull = group->hull + axis->hull;
		uint32_t lost[2];

		line->own = value_of(many, line, group, &line->own_high);
		if (line->by == PENALTY_BY_BITS)
			line->add = fixed(many, axis->weight / axis->column->distinct);
		if (line->by != PENALTY_BY_CODE)
			continue;
		for (int up = 0; up < 2; up++)
			lost[up] = fixed(many, lost_at(axis, hull, line->number + up));
		line->add = line->own != MIXED && lost[1] > lost[0] ? lost[1] - lost[0] : 0;
		if (line->own == MIXED && (i + 1 == many->nlines || line[1].axis != axis ||
								   hull[2 * line->number + 2] == hull[2 * line->number + 3]))
			alone += lost[1];
	}
	return alone;
}

INTO_THEM void
add_codes(int32_t *restrict sum, const PenaltyLine *line, size_t block)
{
	const uint32_t *restrict value = line->value + block;
	uint32_t own = line->own;
	int32_t add = (int32_t) line->add;

	for (int i = 0; i < PENALTY_BLOCK; i++)
		sum[i] += value[i] != own ? add : 0;
}

INTO_THEM void
add_places(int32_t *restrict sum, const PenaltyLine *line, size_t block)
{
	const int32_t *restrict low = (const int32_t *) line->value + block;
	const int32_t *restrict high = (const int32_t *) line->high + block;
	int32_t own_low = (int32_t) line->own;
	int32_t own_high = (int32_t) line->own_high;
	int32_t most = (int32_t) line->weight;

	for (int i = 0; i < PENALTY_BLOCK; i++)
	{
		int32_t apart = (high[i] > own_high ? high[i] : own_high) - (low[i] < own_low ? low[i] : own_low);

		/* (from what is no number and comes first to a number there is no way) */
		apart = apart > 0 ? apart : 0;
		sum[i] += apart < most ? apart : most;
	}
}

/* Bits that are there, of words of 32. */
INTO_THEM void
count_bits(uint32_t *restrict n, const PenaltyLine *line, size_t block)
{
	const uint32_t *restrict value = line->value + block;
	uint32_t own = line->own;

	for (int i = 0; i < PENALTY_BLOCK; i++)
	{
		uint32_t bits = value[i] | own;

		bits -= bits >> 1 & 0x55555555;
		bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
		bits = (bits + (bits >> 4)) & 0x0f0f0f0f;
		bits += bits >> 8;
		n[i] += (bits + (bits >> 16)) & 0x3f;
	}
}

INTO_THEM void
add_sets(int32_t *restrict sum, const PenaltyLine *line, int nlines, size_t block)
{
	uint32_t n[PENALTY_BLOCK] = {0};
	uint32_t each = line->add;

	for (int l = 0; l < nlines; l++)
		count_bits(n, line + l, block);
	for (int i = 0; i < PENALTY_BLOCK; i++)
		sum[i] += (int32_t) (n[i] > 1 ? n[i] * each : 0);
}

LONG_VECTORS static void
add_lines(PenaltyMany *many, uint32_t n, int32_t first)
{
	for (size_t block = 0; block < n; block += PENALTY_BLOCK)
	{
		int32_t *sum = many->least + block;

		for (int i = 0; i < PENALTY_BLOCK; i++)
			sum[i] = first;
		for (int i = 0; i < many->nlines; i++)
		{
			const PenaltyLine *line = &many->line[i];

			if (line->by == PENALTY_BY_CODE && line->add > 0)
				add_codes(sum, line, block);
			else if (line->by == PENALTY_BY_PLACE)
				add_places(sum, line, block);
			else if (line->by == PENALTY_BY_BITS && line->number == 0)
				add_sets(sum, line, lines_of(line->axis), block);
		}
	}
}

uint64_t
penalty_many(PenaltyMany *many, uint32_t n, const PenaltyGroup *group)
{
	/* (each line's numbers are rounded down, and so a difference of two may be above) */
	int32_t alone = (int32_t) set_own(many, group) - many->nlines;

	add_lines(many, n, alone);
	return (uint64_t) n * (uint64_t) (many->nlines + 1) / 4;
}
