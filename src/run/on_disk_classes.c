/*
 * on_disk_classes.c: brings classes back into memory, of a release whose row types are on disk.
 *
 * They come a chunk at a time, to be checked, measured, recorded and written.  A chunk has whole classes, all of one
 * pattern.
 */
#include "compat.h"
#include "run/on_disk_types.h"
#include "distributed/distributed.h"
#include "rows/target.h"
#include "hierarchies/hierarchy.h"

/* A chunk takes one part in so many of all memory, unless one class takes more. */
#define CHUNK_SHARE 32

/* ---- classes, a chunk at a time ---- */

typedef struct Chunk
{
	PartedRows *parted;
	const KeyedRow *ahead; /* the first flow of the next chunk, or NULL */
	PartedTypes types;     /* one for each flow */
	KanonProblem problem;
	KanonRelease release;
	KanonPattern pattern;
	double cost;
	unsigned char *keys; /* [nclasses] of `size` bytes each */
	int size;
	size_t most; /* flows */
	size_t room_keys, room_classes, room_cells, room_flows;
} Chunk;

static void
begin_chunks(PartedRows *parted, Chunk *chunk)
{
	memset(chunk, 0, sizeof(Chunk));
	chunk->parted = parted;
	chunk->most = parted->run->border->limit / CHUNK_SHARE /
				  (sizeof(KanonFlow) + sizeof(KanonClass) + 2 * sizeof(int64) +
				   parted->run->problem.ncolumns * (sizeof(KanonCell) + 2 * sizeof(uint32)) +
				   parted->run->problem.nextra * sizeof(uint32));
	keyed_rewind(parted->flows);
	chunk->ahead = keyed_next(parted->flows);
}

static void
end_chunk(Chunk *chunk)
{
	if (chunk->types.n == 0)
		return;
	kanon_release_free(&chunk->problem, &chunk->release);
	parted_close_problem(chunk->parted);
	parted_free_types(&chunk->types, chunk->parted->run->source, chunk->parted->run->border);
	border_pfree(chunk->parted->run->border, chunk->keys);
	chunk->keys = NULL;
	chunk->room_keys = chunk->room_classes = chunk->room_cells = chunk->room_flows = 0;
	memset(&chunk->release, 0, sizeof(KanonRelease));
}

/* The next one is at hand, in its canonical form and checked; false: that was the last. */
static bool
next_chunk(Chunk *chunk)
{
	PartedRows *parted = chunk->parted;
	Run *run = parted->run;
	KanonEnv *env = run->problem.env;
	KanonRelease *release = &chunk->release;
	size_t ncolumns = (size_t) run->problem.ncolumns;
	KanonReport report;
	KanonCell cells[KANON_MAX_COLUMNS];
	bool first = true;

	end_chunk(chunk);
	for (; chunk->ahead != NULL; chunk->ahead = keyed_next(parted->flows))
	{
		const KeyedRow *row = chunk->ahead;
		KanonPattern pattern;
		int size = parted_get_class(row->key, &run->problem, &pattern, cells);
		bool again = !first && size == chunk->size &&
					 memcmp(row->key, chunk->keys + (size_t) (release->nclasses - 1) * size, size) == 0;

		if (!first && !again && (!kanon_same(pattern, chunk->pattern) || release->nflows >= chunk->most))
			break;
		chunk->pattern = pattern;
		chunk->size = size;
		if (!again)
		{
			uint32 n = release->nclasses++;

			if (!kanon_enlarge(env, &release->classes, &chunk->room_classes, (size_t) n + 1,
							   sizeof(KanonClass)) ||
				!kanon_enlarge(env, &release->cells, &chunk->room_cells, ((size_t) n + 1) * ncolumns,
							   sizeof(KanonCell)) ||
				!kanon_enlarge(env, &chunk->keys, &chunk->room_keys, ((size_t) n + 1) * size, 1))
				border_check(run->border, KANON_NO_MEMORY, "");
			release->classes[n] = (KanonClass){.pattern = pattern, .rows = 0};
			memcpy(release->cells + n * ncolumns, cells, sizeof(KanonCell) * ncolumns);
			memcpy(chunk->keys + (size_t) n * size, row->key, size);
		}
		if (!kanon_enlarge(env, &release->flows, &chunk->room_flows, release->nflows + 1, sizeof(KanonFlow)))
			border_check(run->border, KANON_NO_MEMORY, "");
		release->flows[release->nflows++] =
			(KanonFlow){.type = chunk->types.n, .class_ = release->nclasses - 1, .rows = row->rows};
		parted_add_type(&chunk->types, run->source, row->key + size, row->rows, run->border);
		first = false;
	}
	if (first)
		return false;
	chunk->problem = parted_open_problem(parted, &chunk->types);
	memset(&report, 0, sizeof(report));
	border_check(run->border, kanon_release_finish(&chunk->problem, release, &report), report.detail);
	chunk->cost = report.cost;
	return true;
}

/* ---- measures ---- */

/* Rows whose quasi-identifiers are hidden up to some level. */
static void
count_kinds(const Chunk *chunk)
{
	const Levels *levels = &chunk->parted->run->source->levels;
	Marginals *values = &chunk->parted->values;

	for (int q = 0; q < values->source->nqis; q++)
	{
		int kind = 0;

		for (int c = levels->first[q]; c < levels->first[q + 1]; c++)
			kind += kanon_has(chunk->pattern, c);
		for (uint32 i = 0; i < chunk->types.n; i++)
			values->rows[q][(Size) chunk->types.code[q][i] * values->kinds[q] + kind] += chunk->types.rows[i];
	}
}

static void
note_use(Parted *parted, const KanonMeasures *measures, KanonPattern pattern, Size *room, Border *border)
{
	PatternUse *last = parted->nused > 0 ? &parted->used[parted->nused - 1] : NULL;

	if (last == NULL || !kanon_same(last->pattern, pattern))
	{
		parted->used = border_grow(border, parted->used, room, (Size) parted->nused + 1, sizeof(PatternUse));
		last = &parted->used[parted->nused++];
		*last = (PatternUse){.pattern = pattern};
	}
	last->classes += measures->classes;
	last->rows += measures->rows;
}

static int
compare_uses(const void *a, const void *b, void *index)
{
	return kanon_mask_compare(index, ((const PatternUse *) a)->pattern, ((const PatternUse *) b)->pattern);
}

/* A release with the made-up row types, a class for each, that hides of each column what the true one hides. */
static void
make_release(PartedRows *parted)
{
	Run *run = parted->run;
	const Source *source = run->source;
	KanonProblem *problem = &run->problem;
	KanonRelease *release = &run->release;
	size_t ncolumns = (size_t) problem->ncolumns;
	size_t room = 0;
	PartedTypes types = {0};
	KanonColumn *columns;
	uint8 *kind;

	run->types = marginals_types(&parted->values, run->types, run->border, &kind);
	types.n = run->types->ntypes;
	for (int q = 0; q < source->nqis; q++)
		types.code[q] = unconstify(uint32 *, run->types->grouped[q].code);
	types.rows = run->types->rows;
	columns = MemoryContextAlloc(run->border->context, sizeof(KanonColumn) * ncolumns);
	*problem = parted_open_problem(parted, &types);
	memcpy(columns, problem->columns, sizeof(KanonColumn) * ncolumns);
	problem->columns = run->types->columns = columns;
	memset(release, 0, sizeof(*release));
	if (!kanon_enlarge(problem->env, &release->classes, &room, Max(types.n, 1), sizeof(KanonClass)) ||
		(room = 0, !kanon_enlarge(problem->env, &release->cells, &room, Max(types.n, 1) * ncolumns,
								  sizeof(KanonCell))) ||
		(room = 0, !kanon_enlarge(problem->env, &release->flows, &room, Max(types.n, 1), sizeof(KanonFlow))))
		border_check(run->border, KANON_NO_MEMORY, "");
	for (uint32 i = 0; i < types.n; i++)
	{
		uint32 n = release->nclasses;
		KanonPattern pattern = KANON_NONE;

		if (kind[(Size) i * source->nqis] == parted->values.kinds[0] - 1)
		{
			release->dropped += types.rows[i];
			release->flows[release->nflows++] =
				(KanonFlow){.type = i, .class_ = KANON_DROPPED, .rows = types.rows[i]};
			continue;
		}
		for (int q = 0; q < source->nqis; q++)
			for (int c = source->levels.first[q]; c < source->levels.first[q + 1]; c++)
			{
				bool shown = c - source->levels.first[q] >= kind[(Size) i * source->nqis + q];

				release->cells[n * ncolumns + c] = shown ? (KanonCell){KANON_SHOW_VALUE, columns[c].code[i]}
														 : (KanonCell){KANON_SHOW_NOTHING, 0};
				if (!shown)
					kanon_add(&pattern, c);
			}
		release->classes[n] = (KanonClass){.pattern = pattern, .rows = types.rows[i]};
		release->flows[release->nflows++] = (KanonFlow){.type = i, .class_ = n, .rows = types.rows[i]};
		release->nclasses++;
	}
	border_pfree(run->border, kind);
}

/* Answers about classes come from the chunks; those about columns, from what was made up. */
void
parted_measure(PartedRows *parted)
{
	Run *run = parted->run;
	KanonMeasures sum = {0};
	KanonClassSizes sizes = {0};
	KanonMaskIndex *index;
	Size room = 0;
	Chunk chunk;

	begin_chunks(parted, &chunk);
	while (next_chunk(&chunk))
	{
		KanonMeasures measures;

		border_check(run->border, kanon_measure(&chunk.problem, &chunk.release, &measures, NULL), "");
		kanon_measures_add(&sum, &measures);
		kanon_sizes_of(&chunk.problem, &chunk.release, &sizes);
		run->report.cost += chunk.cost;
		note_use(run->parted, &measures, chunk.pattern, &room, run->border);
		count_kinds(&chunk);
		sizes_of_classes(&run->parted->sizes, run->source, &chunk.problem, &chunk.release);
	}
	make_release(parted);
	border_check(run->border, kanon_mask_open(&run->problem, &index), "");
	qsort_arg(run->parted->used, run->parted->nused, sizeof(PatternUse), compare_uses, index);
	kanon_mask_close(index);
	run_measure(run);
	kanon_measures_put(&sum, &run->measures);
	kanon_measure_sizes(&sizes, parted->dropped, run->problem.k, &run->measures);
}

/* ---- the target ---- */

/* The rows of a class, as they were sorted. */
static bool
next_row(void *arg, uint32 class_, const Datum **kept, const bool **nulls)
{
	const Chunk *chunk = arg;
	const KeyedRow *row = keyed_next(chunk->parted->placed);

	if (row == NULL || row->length != chunk->size + 8 ||
		memcmp(row->key, chunk->keys + (size_t) class_ * chunk->size, chunk->size) != 0)
		return false;
	*kept = row->kept;
	*nulls = row->nulls;
	return true;
}

void
parted_write(Run *run)
{
	PartedRows *parted = run->parted->rows;
	int64 expected = run->types->nrows - run->release.dropped;
	ClassRecorder *recorder = run_record_begin(run->schema, run->source, &run->number);
	Writer *writer;
	int64 written;
	Chunk chunk;

	spread_not(run->target, run->source, "Row types are on its disk, by parts.");
	if (parted->kept)
		keyed_sort(parted->placed);
	begin_chunks(parted, &chunk);
	writer =
		target_write_begin(run->target, run->types, &chunk.problem, &chunk.release, expected, run->border);
	while (next_chunk(&chunk))
	{
		KanonMeasures measures;
		double *diversity = border_palloc(run->border, sizeof(double) * chunk.release.nclasses);

		border_check(run->border, kanon_measure(&chunk.problem, &chunk.release, &measures, diversity), "");
		run_record_chunk(recorder, &chunk.release, diversity);
		border_pfree(run->border, diversity);
		target_write_classes(writer, parted->kept ? next_row : NULL, &chunk);
	}
	written = target_write_end(writer);
	run_record_end(recorder);
	keyed_end(parted->flows);
	keyed_end(parted->placed);
	if (written != expected)
		elog(ERROR, "wrote " INT64_FORMAT " rows instead of " INT64_FORMAT, written, expected);
}

/* ---- Reads some of the row types on disk back into memory, and makes the keys of classes ---- */

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
