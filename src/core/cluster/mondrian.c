/*
 * mondrian.c: recursive median split, strict and relaxed.
 *
 * K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional
 * k-anonymity", ICDE 2006.  A part is split at the median of the quasi-identifier
 * of widest range in it, or, where a half would not be allowed as a class, of the
 * next widest; it is a class when none will do.  Strict: equal rows stay together,
 * and what is at the median goes to the lower half or, if that is not allowed, to
 * the upper.  Relaxed: rows at the median are dealt out so that both halves are
 * the same size.
 *
 * Each quasi-identifier is a line of ranks: numbers in their order; categories by
 * their hierarchy, so that every level's groups are neighbours, and a split never
 * cuts a group of the level below the part's common one; other categories by
 * frequency, the most frequent first.
 *
 * The row types are records of ranks, permuted so that each part is a run of
 * records: no part reads memory far away.  The last part is always split first,
 * so that a record that relaxed splits in two has room at the array's end.
 */
#include <math.h>
#include <string.h>

#include "cluster/clustering.h"
#include "privacy/rules.h"
#include "util/pace.h"
#include "util/sort.h"
#include "util/scratch.h"

/* The median is looked for in so many bins at most at a time. */
#define BIN_BITS 10

/*
 * Records that relaxed has split in two at a time.  The second half is in the part that is
 * split next and goes with it; each part has half the rows of the one before.
 */
#define MOST_SPLIT 64

typedef struct Line
{
	const ClusterQi *qi;
	uint32_t distinct;
	uint32_t *rank;                     /* [distinct] of each code */
	uint32_t *code;                     /* [distinct] of each rank */
	bool grouped;                       /* by a hierarchy */
	uint32_t *group[KANON_MAX_COLUMNS]; /* [distinct] by level: of each rank, its group's first rank */
} Line;

typedef struct Mondrian
{
	const KanonProblem *problem;
	ClusterLayout layout;
	const int64_t *rows; /* [ntypes] to divide */
	int64_t all;         /* of them */
	bool relaxed;
	KanonScratch scratch;
	KanonPace pace;
	int nlines;
	Line line[KANON_MAX_QIS];
	size_t width;     /* words of a record: ranks, type, rows (two words) */
	uint32_t *record; /* [room for ntypes + MOST_SPLIT, * width] */
	size_t nrecords;
	size_t *from; /* where the parts that wait begin: each ends where the next does */
	size_t nfrom;
	size_t from_room;
	uint32_t *types; /* [records of the largest part] for kanon_class_allowed */
	int64_t *counts;
	int64_t bin[1 << BIN_BITS];
	ClusterParts parts;
	int64_t placed;
} Mondrian;

/* A part: records from .. to, and what is in it. */
typedef struct Part
{
	size_t from;
	size_t to;
	int64_t rows;
	uint32_t low[KANON_MAX_QIS];
	uint32_t high[KANON_MAX_QIS];
} Part;

static uint32_t *
record_at(const Mondrian *m, size_t i)
{
	return m->record + i * m->width;
}

static int64_t
record_rows(const Mondrian *m, const uint32_t *record)
{
	int64_t rows;

	memcpy(&rows, record + m->nlines + 1, sizeof(rows));
	return rows;
}

static void
set_record_rows(const Mondrian *m, uint32_t *record, int64_t rows)
{
	memcpy(record + m->nlines + 1, &rows, sizeof(rows));
}

static void
swap_records(const Mondrian *m, size_t i, size_t j)
{
	uint32_t *a = record_at(m, i);
	uint32_t *b = record_at(m, j);

	for (size_t w = 0; w < m->width; w++)
	{
		uint32_t word = a[w];

		a[w] = b[w];
		b[w] = word;
	}
}

/* ---- lines ---- */

/* The order of a category's codes. */
typedef struct Keys
{
	const KanonColumn *column; /* and its levels after it */
	int levels;
	const int64_t *frequency; /* [distinct] or NULL */
	const uint32_t *type;     /* [distinct] a row type that has the code */
} Keys;

static int
compare_values(const void *a, const void *b, void *arg)
{
	const Keys *keys = arg;
	uint32_t left = *(const uint32_t *) a;
	uint32_t right = *(const uint32_t *) b;

	if (keys->frequency != NULL && keys->frequency[left] != keys->frequency[right])
		return keys->frequency[left] > keys->frequency[right] ? -1 : 1;
	for (int l = keys->levels; l-- > 1 && keys->frequency == NULL;)
	{
		uint32_t above = keys->column[l].code[keys->type[left]];
		uint32_t other = keys->column[l].code[keys->type[right]];

		if (above != other)
			return above < other ? -1 : 1;
	}
	return left < right ? -1 : left > right;
}

/* Where each level's groups begin, in the order of the ranks. */
static KanonStatus
find_groups(Mondrian *m, Line *line, const Keys *keys)
{
	for (int l = 0; l < line->qi->levels; l++)
	{
		uint32_t *group = kanon_take(&m->scratch, line->distinct, sizeof(uint32_t));

		if (group == NULL)
			return KANON_NO_MEMORY;
		line->group[l] = group;
		for (uint32_t r = 0; r < line->distinct; r++)
			group[r] = r > 0 && keys->column[l].code[keys->type[line->code[r]]] ==
									keys->column[l].code[keys->type[line->code[r - 1]]]
						   ? group[r - 1]
						   : r;
	}
	return KANON_OK;
}

/* Ranks of a category's codes. */
static KanonStatus
rank_categories(Mondrian *m, Line *line)
{
	const KanonProblem *problem = m->problem;
	const KanonColumn *column = cluster_column(&m->layout, line->qi);
	int64_t *frequency = kanon_take0(&m->scratch, line->distinct, sizeof(int64_t));
	uint32_t *type = kanon_take0(&m->scratch, line->distinct, sizeof(uint32_t));
	KanonStatus status = kanon_taken(&m->scratch);
	Keys keys = {column, line->qi->levels, line->grouped ? NULL : frequency, type};

	for (uint32_t i = 0; i < problem->ntypes && status == KANON_OK; i++)
	{
		frequency[column->code[i]] += m->rows[i];
		type[column->code[i]] = i;
		if (kanon_stop(&m->pace, 2))
			status = KANON_CANCELLED;
	}
	if (status == KANON_OK)
	{
		kanon_sort(line->code, line->rank, line->distinct, sizeof(uint32_t), compare_values, &keys);
		if (line->grouped)
			status = find_groups(m, line, &keys);
	}
	kanon_drop(&m->scratch, frequency);
	kanon_drop(&m->scratch, type);
	return status;
}

static KanonStatus
open_line(Mondrian *m, Line *line, const ClusterQi *qi)
{
	const KanonColumn *column = cluster_column(&m->layout, qi);
	KanonStatus status = KANON_OK;

	line->qi = qi;
	line->distinct = column->distinct;
	line->grouped = qi->levels > 1;
	line->rank = kanon_take(&m->scratch, line->distinct, sizeof(uint32_t));
	line->code = kanon_take(&m->scratch, line->distinct, sizeof(uint32_t));
	if (m->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t v = 0; v < line->distinct; v++)
		line->code[v] = v;
	if (line->grouped || qi->number == NULL)
		status = rank_categories(m, line);
	for (uint32_t r = 0; r < line->distinct; r++)
		line->rank[line->code[r]] = r;
	return status;
}

/* The finest level on which two ranks are in one group; the number of levels: on none. */
static int
common_level(const Line *line, uint32_t low, uint32_t high)
{
	int level = 0;

	while (level < line->qi->levels && line->group[level][low] != line->group[level][high])
		level++;
	return level;
}

/* How much of its line a part covers, weighted; 0: it cannot be split there. */
static double
line_width(const Line *line, uint32_t low, uint32_t high)
{
	if (low == high)
		return 0;
	if (line->grouped)
		return line->qi->weight * common_level(line, low, high) / line->qi->levels;
	if (line->qi->number != NULL)
		return line->qi->weight * cluster_share(line->qi, line->code[low], line->code[high]);
	return line->qi->weight * (high - low) / (line->distinct - 1);
}

/* ---- records ---- */

static KanonStatus
make_records(Mondrian *m)
{
	const KanonProblem *problem = m->problem;
	size_t room = (size_t) problem->ntypes + MOST_SPLIT;

	m->width = (size_t) m->nlines + 3;
	m->record = kanon_take(&m->scratch, room, m->width * sizeof(uint32_t));
	m->types = kanon_take(&m->scratch, room, sizeof(uint32_t));
	m->counts = kanon_take(&m->scratch, room, sizeof(int64_t));
	if (m->scratch.failed)
		return KANON_NO_MEMORY;
	for (uint32_t i = 0; i < problem->ntypes; i++)
	{
		uint32_t *record = record_at(m, m->nrecords);

		if (kanon_stop(&m->pace, m->width))
			return KANON_CANCELLED;
		if (m->rows[i] == 0)
			continue;
		for (int l = 0; l < m->nlines; l++)
			record[l] = m->line[l].rank[cluster_column(&m->layout, m->line[l].qi)->code[i]];
		record[m->nlines] = i;
		set_record_rows(m, record, m->rows[i]);
		m->all += m->rows[i];
		m->nrecords++;
	}
	return KANON_OK;
}

/* Reads a part: its rows, and where it lies on each line. */
static KanonStatus
measure_part(Mondrian *m, Part *part)
{
	part->rows = 0;
	for (int l = 0; l < m->nlines; l++)
	{
		part->low[l] = UINT32_MAX;
		part->high[l] = 0;
	}
	for (size_t i = part->from; i < part->to; i++)
	{
		const uint32_t *record = record_at(m, i);

		if (kanon_stop(&m->pace, m->width))
			return KANON_CANCELLED;
		part->rows += record_rows(m, record);
		for (int l = 0; l < m->nlines; l++)
		{
			uint32_t rank = record[l];

			part->low[l] = rank < part->low[l] ? rank : part->low[l];
			part->high[l] = rank > part->high[l] ? rank : part->high[l];
		}
	}
	return KANON_OK;
}

/* May the records from .. to be a class? */
static bool
allowed(Mondrian *m, size_t from, size_t to)
{
	int64_t rows = 0;

	for (size_t i = from; i < to; i++)
	{
		m->types[i - from] = record_at(m, i)[m->nlines];
		m->counts[i - from] = record_rows(m, record_at(m, i));
		rows += m->counts[i - from];
	}
	return kanon_class_allowed(m->problem, m->types, m->counts, to - from, rows);
}

/*
 * The rank with which the first half of a part's rows ends; *below is how many
 * rows are below it.  Bins of a power of two ranks, then those of the bin with
 * the median, and so on: no more bins than records, whatever the ranks.
 */
static KanonStatus
find_median(Mondrian *m, const Part *part, int l, uint32_t *median, int64_t *below)
{
	uint32_t low = part->low[l];
	uint32_t high = part->high[l];
	int64_t half = part->rows / 2 + part->rows % 2;
	int bits = 3;

	while (bits < BIN_BITS && part->to - part->from > (size_t) 1 << bits)
		bits++;
	*below = 0;
	while (low < high)
	{
		uint32_t b = 0;
		int shift = 0;

		while ((high - low) >> shift >> bits > 0)
			shift++;
		memset(m->bin, 0, sizeof(int64_t) << bits);
		for (size_t i = part->from; i < part->to; i++)
		{
			const uint32_t *record = record_at(m, i);

			if (record[l] >= low && record[l] <= high)
				m->bin[(record[l] - low) >> shift] += record_rows(m, record);
		}
		if (kanon_stop(&m->pace, part->to - part->from))
			return KANON_CANCELLED;
		while (*below + m->bin[b] < half || m->bin[b] == 0)
			*below += m->bin[b++];
		low += b << shift;
		if (((high - low) >> shift) > 0)
			high = low + (UINT32_C(1) << shift) - 1;
	}
	*median = low;
	return KANON_OK;
}

/* Brings the records with ranks below `cut` to the front; returns where they end. */
static size_t
divide(Mondrian *m, size_t from, size_t to, int l, uint32_t cut)
{
	while (from < to)
	{
		if (record_at(m, from)[l] < cut)
			from++;
		else
			swap_records(m, from, --to);
	}
	return from;
}

/* ---- splits ---- */

/*
 * Strict: the halves are cut beside the median, or beside its group on a line
 * with a hierarchy; *middle is where the upper half begins, 0 when neither cut is
 * allowed.
 */
static KanonStatus
split_strict(Mondrian *m, Part *part, int l, size_t *middle)
{
	const Line *line = &m->line[l];
	uint32_t median, from, after;
	int64_t below;
	KanonStatus status = find_median(m, part, l, &median, &below);

	if (status != KANON_OK)
		return status;
	from = median;
	after = median + 1;
	if (line->grouped)
	{
		const uint32_t *group = line->group[common_level(line, part->low[l], part->high[l]) - 1];

		from = group[median];
		while (after <= part->high[l] && group[after] == from)
			after++;
	}
	for (int attempt = 0; attempt < 2; attempt++)
	{
		uint32_t cut = attempt == 0 ? after : from;

		if (cut <= part->low[l] || cut > part->high[l])
			continue;
		if (kanon_stop(&m->pace, (part->to - part->from) * 4))
			return KANON_CANCELLED;
		*middle = divide(m, part->from, part->to, l, cut);
		if (allowed(m, part->from, *middle) && allowed(m, *middle, part->to))
			return KANON_OK;
	}
	*middle = 0;
	return KANON_OK;
}

/* Relaxed: the rows at the median are dealt out until both halves are even. */
static KanonStatus
split_relaxed(Mondrian *m, Part *part, int l, size_t *middle)
{
	uint32_t median;
	int64_t below, wanted;
	size_t first, after;
	KanonStatus status = find_median(m, part, l, &median, &below);

	if (status == KANON_OK && kanon_stop(&m->pace, (part->to - part->from) * 8))
		status = KANON_CANCELLED;
	if (status != KANON_OK)
		return status;
	first = divide(m, part->from, part->to, l, median);
	after = divide(m, first, part->to, l, median + 1);
	wanted = part->rows / 2 - below;
	while (first < after && record_rows(m, record_at(m, first)) <= wanted)
		wanted -= record_rows(m, record_at(m, first++));
	if (wanted > 0)
	{
		/* the rest of this record's rows are one more record, in the upper half */
		uint32_t *record = record_at(m, first);
		uint32_t *rest = record_at(m, part->to);

		memcpy(rest, record, m->width * sizeof(uint32_t));
		set_record_rows(m, rest, record_rows(m, record) - wanted);
		set_record_rows(m, record, wanted);
		m->nrecords++;
		part->to++;
		first++;
	}
	*middle = first;
	if (!allowed(m, part->from, first) || !allowed(m, first, part->to))
		*middle = 0;
	return KANON_OK;
}

/* Splits on the widest line that can be; *middle is 0 when the part is a class. */
static KanonStatus
split_part(Mondrian *m, Part *part, size_t *middle)
{
	bool tried[KANON_MAX_COLUMNS] = {false};
	KanonStatus status = measure_part(m, part);

	*middle = 0;
	/* no half could have k rows */
	if (part->rows / 2 < m->problem->k)
		return status;
	while (status == KANON_OK && *middle == 0)
	{
		double widest = 0;
		int best = -1;

		for (int l = 0; l < m->nlines; l++)
			if (!tried[l] && part->low[l] != part->high[l])
			{
				double width = line_width(&m->line[l], part->low[l], part->high[l]);

				if (best < 0 || width > widest)
				{
					widest = width;
					best = l;
				}
			}
		if (best < 0)
			break;
		tried[best] = true;
		/* a hierarchy has no median to deal out */
		status = m->relaxed && !m->line[best].grouped ? split_relaxed(m, part, best, middle)
													  : split_strict(m, part, best, middle);
	}
	return status;
}

static KanonStatus
wait_at(Mondrian *m, size_t from)
{
	if (!KANON_GROW(&m->scratch, &m->from_room, m->nfrom + 1, KANON_ARRAY(m->from)))
		return KANON_NO_MEMORY;
	m->from[m->nfrom++] = from;
	return KANON_OK;
}

/* The last part is a class. */
static KanonStatus
take_class(Mondrian *m, const Part *part)
{
	for (size_t i = part->from; i < part->to; i++)
	{
		const uint32_t *record = record_at(m, i);

		if (!kanon_parts_add(m->problem->env, &m->parts, record[m->nlines], m->parts.nclusters,
							 record_rows(m, record)))
			return KANON_NO_MEMORY;
	}
	m->parts.nclusters++;
	m->nrecords = part->from;
	m->nfrom--;
	m->placed += part->rows;
	m->pace.rows_left = m->all - m->placed;
	m->pace.share = (double) m->placed / (double) m->all;
	return KANON_OK;
}

static KanonStatus
split_all(Mondrian *m)
{
	KanonStatus status = wait_at(m, 0);

	while (status == KANON_OK && m->nfrom > 0)
	{
		Part part = {.from = m->from[m->nfrom - 1], .to = m->nrecords};
		size_t middle;

		status = split_part(m, &part, &middle);
		if (status == KANON_OK)
			status = middle > 0 ? wait_at(m, middle) : take_class(m, &part);
	}
	return status;
}

/* KANON_INFEASIBLE: the rows together may not be a class. */
static KanonStatus
divide_rows(const ClusterLayout *layout, const int64_t *rows, bool relaxed, ClusterParts *parts)
{
	const KanonProblem *problem = layout->problem;
	KanonEnv *env = problem->env;
	Mondrian *m = kanon_alloc0(env, 1, sizeof(Mondrian));
	KanonStatus status = KANON_OK;

	if (m == NULL)
		return KANON_NO_MEMORY;
	m->problem = problem;
	m->scratch.env = env;
	m->rows = rows;
	m->relaxed = relaxed;
	m->pace = (KanonPace){.env = env, .phase = "mondrian", .work = KANON_POLL_WORK};
	m->layout = *layout;
	m->parts = *parts;
	for (int q = 0; q < m->layout.nqis && status == KANON_OK; q++)
		status = open_line(m, &m->line[m->nlines++], &m->layout.qi[q]);
	if (status == KANON_OK)
		status = make_records(m);
	if (status == KANON_OK && !allowed(m, 0, m->nrecords))
		status = KANON_INFEASIBLE;
	if (status == KANON_OK)
		status = split_all(m);
	kanon_scratch_free(&m->scratch);
	*parts = m->parts;
	kanon_free(env, m);
	return status;
}

KanonStatus
mondrian_divide(const ClusterLayout *layout, const int64_t *rows, ClusterParts *parts)
{
	return divide_rows(layout, rows, false, parts);
}

static KanonStatus
solve(const KanonProblem *problem, bool relaxed, KanonRelease *release, KanonReport *report)
{
	KanonEnv *env = problem->env;
	double start = env->now(env->arg);
	ClusterLayout layout;
	ClusterParts parts = {0};
	KanonStatus status;

	memset(release, 0, sizeof(*release));
	memset(report, 0, sizeof(*report));
	report->lower_bound = -INFINITY;
	if (problem->npopulations > 0)
		status = relaxed ? KANON_UNSUPPORTED : mondrian_under_populations(problem, release, report);
	else
	{
		cluster_layout(problem, &layout);
		status = divide_rows(&layout, problem->rows, relaxed, &parts);
		if (status == KANON_INFEASIBLE)
			status = cluster_too_few(report);
		if (status == KANON_OK)
			status = cluster_conclude(&layout, &parts, release, report);
	}
	kanon_parts_free(env, &parts);
	/* rows that are left out can mend the rest (that of classes which share row types: seen to be nothing) */
	if (status == KANON_INFEASIBLE && problem->privacy != NULL && problem->npopulations == 0 &&
		problem->residual == KANON_RESIDUAL_DROP)
		status = cluster_solve_ruled(problem, kanon_solve_mondrian, release, report);
	report->seconds = env->now(env->arg) - start;
	return status;
}

KanonStatus
kanon_solve_mondrian(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	return solve(problem, false, release, report);
}

KanonStatus
kanon_solve_mondrian_relaxed(const KanonProblem *problem, KanonRelease *release, KanonReport *report)
{
	return solve(problem, true, release, report);
}
