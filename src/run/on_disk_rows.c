/*
 * on_disk_rows.c: reads some of the row types on disk back into memory, and makes the keys of classes.
 */
#include "compat.h"
#include "run/on_disk_types.h"
#include "hierarchies/hierarchy.h"

/* ---- row types in memory ---- */

void
parted_add_type(PartedTypes *types, const Source *source, const unsigned char *codes, int64 rows,
				Border *border)
{
	if (types->n == types->room)
	{
		Size room = types->room;

		if (types->n >= KANON_MAX_TYPES / 2)
			ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("a part has too many row types"),
							errhint("Name a column with more values in partition_by.")));
		for (int c = 0; c < source->ngrouped; c++)
		{
			room = types->room;
			types->code[c] = border_grow(border, types->code[c], &room, (Size) types->n + 1, sizeof(uint32));
		}
		room = types->room;
		types->rows = border_grow(border, types->rows, &room, (Size) types->n + 1, sizeof(int64));
		types->room = room;
	}
	for (int c = 0; c < source->ngrouped; c++)
		types->code[c][types->n] = key_get(codes + 4 * (Size) c);
	types->rows[types->n++] = rows;
}

bool
parted_is_type(const PartedTypes *types, const Source *source, const unsigned char *codes)
{
	if (types->n == 0)
		return false;
	for (int c = 0; c < source->ngrouped; c++)
		if (types->code[c][types->n - 1] != key_get(codes + 4 * (Size) c))
			return false;
	return true;
}

void
parted_free_types(PartedTypes *types, const Source *source, Border *border)
{
	if (types->room == 0)
		return;
	for (int c = 0; c < source->ngrouped; c++)
		border_pfree(border, types->code[c]);
	border_pfree(border, types->rows);
	memset(types, 0, sizeof(PartedTypes));
}

KanonProblem
parted_open_problem(PartedRows *parted, const PartedTypes *types)
{
	const Run *run = parted->run;
	KanonProblem problem = run->problem;
	const Levels *levels = &run->source->levels;

	for (int q = 0; q < run->source->nqis; q++)
		for (int c = levels->first[q]; c < levels->first[q + 1]; c++)
		{
			KanonColumn *column = &parted->columns[c];
			uint32 *codes = types->code[q];

			*column = run->problem.columns[c];
			if (c > levels->first[q])
			{
				const uint32 *node = run->source->qis[q].hierarchy->node[c - levels->first[q] - 1];

				codes = border_palloc(run->border, sizeof(uint32) * Max((Size) types->n, 1));
				for (uint32 i = 0; i < types->n; i++)
					codes[i] = node[types->code[q][i]];
			}
			column->code = codes;
		}
	for (int e = 0; e < problem.nextra; e++)
	{
		parted->extra[e] = run->problem.extra[e];
		parted->extra[e].code = types->code[run->source->nqis + e];
	}
	problem.columns = parted->columns;
	problem.extra = parted->extra;
	problem.ntypes = types->n;
	problem.rows = types->rows;
	return problem;
}

void
parted_close_problem(PartedRows *parted)
{
	const Levels *levels = &parted->run->source->levels;

	for (int q = 0; q < parted->run->source->nqis; q++)
		for (int c = levels->first[q] + 1; c < levels->first[q + 1]; c++)
			border_pfree(parted->run->border, unconstify(uint32 *, parted->columns[c].code));
}

/* ---- keys ---- */

unsigned char *
parted_put_class(unsigned char *key, const KanonProblem *problem, KanonPattern pattern,
				 const KanonCell *cells)
{
	memset(key, 0, (problem->ncolumns + 7) / 8);
	for (int c = 0; c < problem->ncolumns; c++)
		if (kanon_has(pattern, c))
			key[c / 8] |= (unsigned char) (1 << c % 8);
	key += (problem->ncolumns + 7) / 8;
	for (int c = 0; c < problem->ncolumns; c++)
		if (!kanon_has(pattern, c))
			key = key_put(key, cells[c].code);
	return key;
}

int
parted_get_class(const unsigned char *key, const KanonProblem *problem, KanonPattern *pattern,
				 KanonCell *cells)
{
	const unsigned char *next = key + (problem->ncolumns + 7) / 8;

	*pattern = KANON_NONE;
	for (int c = 0; c < problem->ncolumns; c++)
		if ((key[c / 8] >> c % 8 & 1) != 0)
		{
			kanon_add(pattern, c);
			cells[c] = (KanonCell){KANON_SHOW_NOTHING, 0};
		}
		else
		{
			cells[c] = (KanonCell){KANON_SHOW_VALUE, key_get(next)};
			next += 4;
		}
	return (int) (next - key);
}
