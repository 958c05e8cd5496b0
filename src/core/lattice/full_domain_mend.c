/*
 * full_domain_mend.c: suppressed rows that may not be a class under privacy rules are filled up with rows of classes.
 *
 * Rows of a class that rules do not tell apart are of one kind.  Branch and bound over how many of each kind are suppressed: what is
 * left of a class keeps the rules, or nothing is left; the suppressed rows keep them, too.  The way that loses least by the metric
 * and stays within the limit is taken, of equal ones that of fewest rows.  Losses only grow with the classes, so a way that does is not
 * continued.  Work is bounded.  A node whose search is cut short is unsure: nothing is called proven that it could be better than.
 */
#include <string.h>

#include "lattice/lattice.h"
#include "privacy/rules.h"
#include "release/release.h"

/* Rows that rules are asked about: for a node, and for all of them; what a node has when those are gone. */
#ifndef MEND_NODE
#define MEND_NODE INT64_C(400000)
#define MEND_ALL INT64_C(40000000)
#endif
#define MEND_LEAST 2000

/* Kinds that are tried one by one; of more only whole classes are. */
#define MEND_KINDS 2000

typedef struct Kind
{
	uint32_t type; /* typical of it */
	int64_t rows;
	int64_t take;
	int64_t best;
} Kind;

typedef struct Mended
{
	KanonWide kept; /* what each of its rows says */
	int64_t rows;
	uint32_t from, to; /* kinds */
	uint32_t class_;
} Mended;

struct Mending
{
	KanonScratch scratch;
	Kind *kind; /* [nkinds] */
	size_t nkinds, kinds_room;
	Mended *class_, *sorting; /* [nclasses] */
	size_t nclasses, classes_room;
	uint32_t *at;   /* [combinations] a kind of it, if it is of the class at hand */
	uint32_t *type; /* [nrest] of the suppressed rows, */
	int64_t *count; /* [nrest] how many of each */
	size_t nrest, rest_room;
	uint32_t *left_type; /* [nkinds] of what is left of a class */
	int64_t *left_count;
	size_t left_room;
	int64_t spent; /* of all nodes' work */
};

typedef struct Search
{
	Checker *checker;
	struct Mending *m;
	int64_t suppressed; /* rows before any are added */
	int64_t most;       /* rows that may be added */
	int64_t work;       /* left */
	bool cut;
	bool any;
	int64_t rows;
	KanonWide loss;
	KanonStatus status;
} Search;

bool
checker_mends(const Checker *checker)
{
	const KanonProblem *problem = checker->problem;

	return problem->residual == KANON_RESIDUAL_FILL && problem->privacy != NULL &&
		   problem->npopulations == 0 && problem->known == NULL && checker->values != NULL;
}

KanonStatus
checker_mend_begin(Checker *checker)
{
	KanonEnv *env = checker->problem->env;

	struct Mending *m = checker->fill.mending;

	if (m == NULL && (m = checker->fill.mending = kanon_alloc0(env, 1, sizeof(struct Mending))) == NULL)
		return KANON_NO_MEMORY;
	m->scratch.env = env;
	if (m->at == NULL)
		m->at = kanon_take0(&m->scratch, checker->problem->ntypes, sizeof(uint32_t));
	m->nkinds = m->nclasses = 0;
	return kanon_taken(&m->scratch);
}

KanonStatus
checker_mend_class(Checker *checker, const uint64_t *entry, uint32_t class_, const uint32_t *types,
				   const int64_t *counts, size_t n)
{
	const KanonProblem *problem = checker->problem;
	struct Mending *m = checker->fill.mending;
	uint32_t from = (uint32_t) m->nkinds;

	if (!KANON_GROW(&m->scratch, &m->kinds_room, m->nkinds + n, KANON_ARRAY(m->kind)) ||
		!KANON_GROW(&m->scratch, &m->classes_room, m->nclasses + 1, KANON_ARRAY(m->class_),
					KANON_ARRAY(m->sorting)))
		return KANON_NO_MEMORY;
	for (size_t i = 0; i < n; i++)
	{
		uint32_t value = checker->values[types[i]];
		uint32_t at = m->at[value];
		int64_t rows = counts != NULL ? counts[i] : problem->rows[types[i]];

		if (at < from || at >= m->nkinds || m->kind[at].type != checker->typical[value])
		{
			at = m->at[value] = (uint32_t) m->nkinds++;
			m->kind[at] = (Kind){.type = checker->typical[value]};
		}
		m->kind[at].rows += rows;
	}
	m->class_[m->nclasses++] =
		(Mended){.kept = checker->metric->of_cells ? (KanonWide) member_kept(checker->block, entry) : 0,
				 .rows = (int64_t) entry[checker->block->words],
				 .from = from,
				 .to = (uint32_t) m->nkinds,
				 .class_ = class_};
	return kanon_stop(checker->pace, n) ? KANON_CANCELLED : KANON_OK;
}

/* Cheapest rows first; of equal ones those of the largest class. */
static int
compare_classes(const void *a, const void *b, void *arg)
{
	const Metric *metric = arg;
	const Mended *x = a, *y = b;
	KanonWide one = metric_suppressing(metric, x->rows, x->kept, 1),
			  other = metric_suppressing(metric, y->rows, y->kept, 1);

	if (one != other)
		return one < other ? -1 : 1;
	if (x->rows != y->rows)
		return x->rows > y->rows ? -1 : 1;
	return x->class_ < y->class_ ? -1 : x->class_ > y->class_;
}

static bool
is_better(const Search *s, KanonWide loss, int64_t rows)
{
	KanonWide tie = s->checker->metric->tie;

	if (!s->any || loss < s->loss - tie)
		return true;
	return loss <= s->loss + tie && rows < s->rows;
}

/* May the suppressed rows be a class? */
static bool
rest_keeps(Search *s, int64_t rows)
{
	const struct Mending *m = s->m;

	s->work -= (int64_t) m->nrest;
	if (kanon_stop(s->checker->pace, m->nrest))
		s->status = KANON_CANCELLED;
	return kanon_class_allowed(s->checker->problem, m->type, m->count, m->nrest, s->suppressed + rows);
}

/* May the rows that a class keeps be one? */
static bool
class_keeps(Search *s, const Mended *class_, int64_t rows)
{
	struct Mending *m = s->m;
	size_t n = 0;

	for (uint32_t i = class_->from; i < class_->to; i++)
		if (m->kind[i].take < m->kind[i].rows)
		{
			m->left_type[n] = m->kind[i].type;
			m->left_count[n++] = m->kind[i].rows - m->kind[i].take;
		}
	s->work -= (int64_t) n;
	return kanon_class_allowed(s->checker->problem, m->left_type, m->left_count, n, rows);
}

static void
accept(Search *s, KanonWide loss, int64_t rows)
{
	s->any = true;
	s->loss = loss;
	s->rows = rows;
	for (size_t i = 0; i < s->m->nkinds; i++)
		s->m->kind[i].best = s->m->kind[i].take;
}

static void
suppress(struct Mending *m, Kind *kind, int64_t rows)
{
	kind->take = rows;
	if (rows == 0)
		return;
	m->type[m->nrest] = kind->type;
	m->count[m->nrest++] = rows;
}

static void
show_again(struct Mending *m, Kind *kind)
{
	m->nrest -= kind->take > 0;
	kind->take = 0;
}

/* The least that so many suppressed rows of a class lose, or more of them. */
static KanonWide
least_from(const Metric *metric, const Mended *of, int64_t taken)
{
	int64_t most = of->rows - metric->rows / 2;

	/* (of more than half of all rows the first ones that are suppressed cost less than nothing) */
	if (metric->kind == KANON_METRIC_DISCERNIBILITY && most > taken)
		taken = most < of->rows ? most : of->rows;
	return metric_suppressing(metric, of->rows, of->kept, taken);
}

static void try_kinds(Search *s, size_t class_, uint32_t at, int64_t rows, int64_t taken, KanonWide before);

/* All kinds of a class have been decided on: so many rows of it are suppressed, and so many of all. */
static void
end_class(Search *s, size_t class_, int64_t rows, int64_t taken, KanonWide loss)
{
	const Mended *of = &s->m->class_[class_];

	if (taken > 0 && taken < of->rows && !class_keeps(s, of, of->rows - taken))
		return;
	if (taken > 0 && rest_keeps(s, rows))
	{
		accept(s, loss, rows);
		return;
	}
	if (class_ + 1 < s->m->nclasses)
		try_kinds(s, class_ + 1, s->m->class_[class_ + 1].from, rows, 0, loss);
}

static void
try_kinds(Search *s, size_t class_, uint32_t at, int64_t rows, int64_t taken, KanonWide before)
{
	const Mended *of = &s->m->class_[class_];
	const Metric *metric = s->checker->metric;
	Kind *kind = &s->m->kind[at];

	s->work--;
	if (at == of->to)
	{
		end_class(s, class_, rows, taken, before + metric_suppressing(metric, of->rows, of->kept, taken));
		return;
	}
	for (int64_t take = 0;
		 take <= kind->rows && rows + take <= s->most && s->work > 0 && s->status == KANON_OK; take++)
	{
		KanonWide loss = before + least_from(metric, of, taken + take);

		/* (each further row loses more, or as much) */
		if (rows + take > 0 && !is_better(s, loss, rows + take))
			break;
		suppress(s->m, kind, take);
		try_kinds(s, class_, at + 1, rows + take, taken + take, before);
		show_again(s->m, kind);
	}
}

/* Whole classes: each alone, then the first ones together. */
static void
try_whole(Search *s, bool together)
{
	struct Mending *m = s->m;
	size_t before = m->nrest;
	KanonWide loss = 0;
	int64_t rows = 0;

	for (size_t c = 0; c < m->nclasses && s->work > 0 && s->status == KANON_OK; c++)
	{
		const Mended *of = &m->class_[c];

		if (rows + of->rows > s->most)
			continue;
		rows += of->rows;
		loss += metric_suppressing(s->checker->metric, of->rows, of->kept, of->rows);
		for (uint32_t i = of->from; i < of->to; i++)
			suppress(m, &m->kind[i], m->kind[i].rows);
		if (is_better(s, loss, rows) && rest_keeps(s, rows))
			accept(s, loss, rows);
		if (together && !s->any)
			continue;
		for (uint32_t i = of->from; i < of->to; i++)
			m->kind[i].take = 0;
		m->nrest = before;
		rows = 0;
		loss = 0;
		if (together)
			break;
	}
	for (size_t i = 0; i < m->nkinds; i++)
		m->kind[i].take = 0;
	m->nrest = before;
}

static bool
room_for_rest(struct Mending *m, size_t nrest)
{
	return KANON_GROW(&m->scratch, &m->rest_room, nrest + m->nkinds, KANON_ARRAY(m->type),
					  KANON_ARRAY(m->count)) &&
		   KANON_GROW(&m->scratch, &m->left_room, m->nkinds, KANON_ARRAY(m->left_type),
					  KANON_ARRAY(m->left_count));
}

/* The number of rows grows step by step: a way of few rows bounds the search for cheaper ones of more. */
static void
try_ways(Search *s, int64_t room)
{
	bool all = s->m->nkinds <= MEND_KINDS;

	s->most = room;
	try_whole(s, false);
	for (int64_t most = 1; all; most *= 2)
	{
		s->most = most < room ? most : room;
		try_kinds(s, 0, s->m->class_[0].from, 0, 0, 0);
		if (s->work <= 0 || s->status != KANON_OK || s->most == room)
			break;
	}
	s->cut = !all || s->work <= 0;
	if (s->any || !s->cut)
		return;
	s->most = room;
	s->work = MEND_LEAST;
	try_whole(s, true);
}

KanonStatus
checker_mend(Checker *checker, const uint32_t *types, const int64_t *counts, size_t n, Count *count)
{
	struct Mending *m = checker->fill.mending;
	int64_t room = checker->block->limit - count->suppressed;
	int64_t work = MEND_ALL - m->spent < MEND_NODE ? MEND_ALL - m->spent : MEND_NODE;
	Search s = {.checker = checker, .m = m, .suppressed = count->suppressed};

	if (m->nclasses == 0 || room <= 0)
		return KANON_OK;
	if (!room_for_rest(m, n))
		return KANON_NO_MEMORY;
	for (size_t i = 0; i < n; i++)
	{
		m->type[i] = types[i];
		m->count[i] = counts != NULL ? counts[i] : checker->problem->rows[types[i]];
	}
	m->nrest = n;
	s.work = work = work > MEND_LEAST ? work : MEND_LEAST;
	kanon_sort(m->class_, m->sorting, m->nclasses, sizeof(Mended), compare_classes, (void *) checker->metric);
	try_ways(&s, room);
	m->spent += work - (s.work < work ? s.work : work);
	count->unsure = s.cut;
	if (!s.any)
		return s.status;
	count->left_over = false;
	count->more = s.rows;
	count->loss = s.loss;
	for (size_t c = 0; c < m->nclasses; c++)
	{
		int64_t left = m->class_[c].rows;

		for (uint32_t i = m->class_[c].from; i < m->class_[c].to; i++)
			left -= m->kind[i].best;
		count->emptied += left == 0;
	}
	return s.status;
}

void
checker_mend_take(const Checker *checker, const uint32_t *class_of, int64_t *take)
{
	const KanonProblem *problem = checker->problem;
	const struct Mending *m = checker->fill.mending;

	for (size_t c = 0; c < m->nclasses; c++)
		for (uint32_t i = m->class_[c].from; i < m->class_[c].to; i++)
		{
			int64_t left = m->kind[i].best;

			for (uint32_t type = 0; left > 0 && type < problem->ntypes; type++)
				if (class_of[type] == m->class_[c].class_ &&
					checker->typical[checker->values[type]] == m->kind[i].type)
				{
					take[type] = left < problem->rows[type] ? left : problem->rows[type];
					left -= take[type];
				}
		}
}

void
checker_mend_end(Checker *checker)
{
	KanonEnv *env = checker->problem->env;
	struct Mending *m = checker->fill.mending;

	if (m == NULL)
		return;
	kanon_scratch_free(&m->scratch);
	kanon_free(env, m);
}
