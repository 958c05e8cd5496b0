/*
 * full_domain_fill.c: fewer than k suppressed rows are filled up to k with rows of classes.
 *
 * There are two ways.  Classes with more than k rows give some of these, each at most what it has above k; or one class that
 * could not give enough is suppressed whole.  No part of the rows that either way takes would do.  The way that loses least
 * by the metric and stays within the limit is taken; where none stays, the one of fewest rows.
 *
 * A row's loss is the same in all of its class, or, by discernibility, is less the larger the class is that it leaves: taking the
 * cheapest rows first is the optimum, and so is levelling the largest classes.
 */
#include <string.h>

#include "lattice/lattice.h"
#include "privacy/rules.h"

typedef struct Spare
{
	KanonWide kept; /* what each of its rows says */
	int64_t rows;
	int64_t take;
	uint32_t class_;
} Spare;

/* One way to fill the rest up. */
typedef struct Way
{
	bool any;
	int64_t rows;
	KanonWide loss;
	uint32_t class_; /* that is suppressed whole */
} Way;

typedef struct Filling
{
	Checker *checker;
	const Metric *metric;
	int64_t need; /* rows that are missing in the rest */
	int64_t room; /* rows that may be suppressed beside it */
	size_t n;     /* classes of checker->fill.spare, those that give first in front */
	int64_t have; /* rows above k of all classes, as far as they are needed */
	Way whole;
} Filling;

static bool
gives_before(const Metric *metric, const Spare *a, const Spare *b)
{
	return metric->of_cells && a->kept != b->kept ? a->kept < b->kept : a->rows > b->rows;
}

/* Each of the first `need` classes gives a row at least, or a class before it gives more: no others are remembered. */
static bool
remember(Filling *filling, const Spare *spare)
{
	Checker *checker = filling->checker;
	size_t at = filling->n;

	if ((int64_t) filling->n == filling->need)
	{
		if (!gives_before(filling->metric, spare, &checker->fill.spare[filling->n - 1]))
			return true;
		at--;
	}
	else if (!kanon_enlarge(checker->problem->env, &checker->fill.spare, &checker->fill.spare_room,
							++filling->n, sizeof(Spare)))
		return false;
	for (; at > 0 && gives_before(filling->metric, spare, &checker->fill.spare[at - 1]); at--)
		checker->fill.spare[at] = checker->fill.spare[at - 1];
	checker->fill.spare[at] = *spare;
	return true;
}

static bool
is_better(const Filling *filling, const Way *a, const Way *b)
{
	KanonWide tie = filling->metric->tie;
	bool fits = a->any && a->rows <= filling->room, other = b->any && b->rows <= filling->room;

	if (!a->any || !b->any)
		return a->any;
	if (fits != other)
		return fits;
	if (fits && (a->loss < b->loss - tie || b->loss < a->loss - tie))
		return a->loss < b->loss;
	return a->rows < b->rows;
}

static KanonStatus
look_at_class(Filling *filling, const uint64_t *entry, uint32_t class)
{
	const Checker *checker = filling->checker;
	const Metric *metric = filling->metric;
	int64_t rows = (int64_t) entry[checker->block->words];
	KanonWide kept = metric->of_cells ? (KanonWide) member_kept(checker->block, entry) : 0;
	int64_t above = rows - metric->fill;

	if (above > 0)
	{
		filling->have += above < filling->need ? above : filling->need;
		if (!remember(filling, &(Spare){kept, rows, 0, class}))
			return KANON_NO_MEMORY;
	}
	/* (rows of somebody's few columns may be needed elsewhere) */
	if (above < filling->need && checker->dead == NULL)
	{
		Way way = {true, rows, metric_suppressing(metric, rows, kept, rows), class};

		if (is_better(filling, &way, &filling->whole))
			filling->whole = way;
	}
	return KANON_OK;
}

/* The cheapest rows first. */
static void
take_cheapest(Filling *filling)
{
	int64_t need = filling->need;

	for (Spare *spare = filling->checker->fill.spare; need > 0; spare++)
	{
		int64_t above = spare->rows - filling->metric->fill;

		spare->take = above < need ? above : need;
		need -= spare->take;
	}
}

/* The largest classes, until they are as large as the next: with each row that one gives, its next one is dearer. */
static void
level_largest(Filling *filling)
{
	Spare *spare = filling->checker->fill.spare;
	int64_t need = filling->need, level = spare[0].rows;
	size_t n = 1;

	for (;; n++)
	{
		int64_t next = n < filling->n ? spare[n].rows : filling->metric->fill;

		if ((level - next) * (int64_t) n >= need)
			break;
		need -= (level - next) * (int64_t) n;
		level = next;
	}
	for (size_t i = 0; i < n; i++)
		spare[i].take = spare[i].rows - level + need / (int64_t) n + ((int64_t) i < need % (int64_t) n);
}

static Way
take_from_classes(Filling *filling)
{
	const Metric *metric = filling->metric;
	const Spare *spare = filling->checker->fill.spare;
	Way way = {.any = filling->have >= filling->need, .rows = filling->need};

	if (!way.any)
		return way;
	if (metric->kind == KANON_METRIC_DISCERNIBILITY)
		level_largest(filling);
	else
		take_cheapest(filling);
	for (size_t i = 0; i < filling->n; i++)
		way.loss += metric_suppressing(metric, spare[i].rows, spare[i].kept, spare[i].take);
	return way;
}

KanonStatus
checker_fill(Checker *checker, const uint32_t *class_of, int64_t *take, Count *count)
{
	const Block *block = checker->block;
	const uint64_t *entry = checker->self->entries;
	Filling filling = {.checker = checker,
					   .metric = checker->metric,
					   .need = checker->metric->fill - count->suppressed,
					   .room = block->limit - count->suppressed};
	KanonStatus status = KANON_OK;
	uint32_t class = 0;
	Way parts, way;
	bool all;

	for (uint32_t g = 0; g < checker->self->count && status == KANON_OK; g++, entry += block->words + 1)
		if (class_of != NULL ? class_of[g] != UINT32_MAX
							 : (int64_t) entry[block->words] >= kanon_least_rows(checker->problem))
			status = look_at_class(&filling, entry, class ++);
	if (status != KANON_OK)
		return status;
	parts = take_from_classes(&filling);
	all = is_better(&filling, &filling.whole, &parts);
	way = all ? filling.whole : parts;
	count->left_over = !way.any;
	if (!way.any)
		return KANON_OK;
	count->more = way.rows;
	count->loss = way.loss;
	count->emptied = all;
	if (take != NULL && all)
		take[way.class_] = way.rows;
	for (size_t i = 0; i < filling.n && take != NULL && !all; i++)
		take[checker->fill.spare[i].class_] = checker->fill.spare[i].take;
	return KANON_OK;
}
