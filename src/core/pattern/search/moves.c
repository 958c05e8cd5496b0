/*
 * moves.c: one move of ruin and recreate.  A unit goes to a cheaper
 * instance; in a class that is too small without it another takes its place, or that is
 * dissolved; a closed one is filled with rows to spare and with the rows of
 * classes dissolved for it; what that frees opens the instances that save most,
 * or goes to its cheapest open class.
 */
#include <math.h>
#include <string.h>

#include "pattern/search/search.h"

/* Classes of which the cost of dissolving them is worked out for a fill. */
#define WEIGHED 8

/* Instances short of freed rows that are offered rows to spare. */
#define OFFERED 3

/*
 * Share of the rows, taken from a class of a large table that cannot spare them, for which another row is looked for
 * before the class is dissolved: much cheaper, and most classes have no row to spare.
 */
#define REPLACED 0.5

/* Share of the moves that only ruin and recreate; where classes are large much goes with each. */
#define RUINS 0.15
#define RUINS_LARGE 0.05
#define LARGE_K 50

/* A way to get rows for an instance. */
typedef struct Source
{
	uint32_t class_; /* NONE: rows at their fallback */
	bool dissolve;
	int64_t rows;
	double loss;
} Source;

/* After a scan: all rows that gain in f and can be spared elsewhere move there. */
static bool
attract(Search *s, uint32_t f)
{
	const IlpModel *model = s->model;

	for (size_t j = 0; j < s->nloose; j++)
		if (s->unit[s->loose[j]].in == NONE && search_cost(s, s->loose[j], NONE) > s->instance[f].w &&
			!search_move(s, s->loose[j], f))
			return false;
	for (size_t j = 0; j < s->ntouched; j++)
	{
		uint32_t b = s->touched[j];

		if (s->instance[b].load > model->k && s->instance[b].w > s->instance[f].w &&
			!search_take_spare(s, b, f, INT64_MAX))
			return false;
	}
	return true;
}

/* Fills f, which lacks rows, after a scan.  False: not enough rows. */
static bool
fill_rows(Search *s, uint32_t f, bool *ok)
{
	const IlpModel *model = s->model;
	Source source[2 * WEIGHED + 1];
	int n = 0;
	uint32_t most[WEIGHED];
	int nmost = 0;

	*ok = attract(s, f);
	if (!*ok || s->instance[f].load >= model->k)
		return *ok;
	/* those with most rows that would move, with some chance */
	for (size_t j = 0; j < s->ntouched; j++)
	{
		uint32_t b = s->touched[j];
		double score;
		int at;

		score = (double) s->instance[b].count * (0.5 + search_random(s)) *
				kanon_max(0.5, s->instance[b].w - s->instance[f].w + 1.5);
		s->instance[b].score = score;
		if (nmost == WEIGHED && score <= s->instance[most[WEIGHED - 1]].score)
			continue;
		at = nmost < WEIGHED ? nmost++ : WEIGHED - 1;
		for (; at > 0 && s->instance[most[at - 1]].score < score; at--)
			most[at] = most[at - 1];
		most[at] = b;
	}
	s->pace->work += (int64_t) s->ntouched * 2;
	for (int j = 0; j < nmost; j++)
	{
		uint32_t b = most[j];
		int64_t spare = s->instance[b].load - model->k;

		if (spare > s->instance[b].count)
			spare = s->instance[b].count;
		if (spare > 0)
			source[n++] = (Source){b, false, spare, (s->instance[f].w - s->instance[b].w) * (double) spare};
		source[n++] = (Source){b, true, s->instance[b].count, search_dissolving(s, b, f)};
	}
	{
		Source loose = {NONE, false, 0, 0};

		for (size_t j = 0; j < s->nloose; j++)
			if (s->unit[s->loose[j]].in == NONE)
			{
				loose.rows += s->unit[s->loose[j]].rows;
				loose.loss += (s->instance[f].w - search_cost(s, s->loose[j], NONE)) *
							  (double) s->unit[s->loose[j]].rows;
			}
		if (loose.rows > 0)
			source[n++] = loose;
	}
	while (s->instance[f].load < model->k)
	{
		int best = -1;
		double least = INFINITY;
		int64_t need = model->k - s->instance[f].load;
		uint32_t b;

		for (int j = 0; j < n; j++)
		{
			double price = source[j].loss;

			if (source[j].rows <= need || !source[j].dissolve)
				price /= (double) source[j].rows;
			else
				price /= (double) need;
			price += s->temperature * search_random(s) * 0.3;
			if (price < least)
			{
				least = price;
				best = j;
			}
		}
		if (best < 0)
			return false;
		b = source[best].class_;
		if (b == NONE)
		{
			for (size_t j = 0; j < s->nloose && s->instance[f].load < model->k; j++)
				if (s->unit[s->loose[j]].in == NONE && !search_move(s, s->loose[j], f))
					return *ok = false;
		}
		else if (source[best].dissolve)
		{
			for (uint32_t u = s->instance[b].chain; u != NONE; u = s->unit[u].along)
				if (s->unit[u].in == b && !search_move(s, u, f))
					return *ok = false;
			if (s->instance[b].load > 0 && !search_stands(s, b) && !search_dissolve(s, b))
				return *ok = false;
		}
		else if (!search_take_spare(s, b, f, need))
			return *ok = false;
		/* either way of taking from b is done with, but for dissolving it after all */
		source[best] = source[--n];
		if (b != NONE)
			for (int j = 0; j < n; j++)
				if (source[j].class_ == b)
				{
					source[j] = source[--n];
					break;
				}
	}
	return true;
}

/* The same, with the values that rules ask for. */
static bool
fill(Search *s, uint32_t f, bool *ok)
{
	return fill_rows(s, f, ok) && (s->problem == NULL || search_complete(s, f, ok));
}

/* The cost of `need` spare rows for f; INFINITY: there are not enough. */
static double
spare_loss(Search *s, uint32_t f, int64_t need, double limit)
{
	const IlpModel *model = s->model;
	double loss = 0;

	for (size_t j = 0; j < s->ntouched; j++)
	{
		uint32_t b = s->touched[j];
		int64_t spare = s->instance[b].load - model->k;

		if (spare > s->instance[b].count)
			spare = s->instance[b].count;
		if (spare <= 0 || s->instance[b].w <= s->instance[f].w)
			continue;
		loss -= (s->instance[b].w - s->instance[f].w) * (double) spare;
		need -= spare;
	}
	/* then those that lose, cheapest first, one unit of cost at a time */
	for (double step = 0; need > 0 && (step == 0 || loss + step * (double) need < limit);)
	{
		double higher = INFINITY;

		for (size_t j = 0; j < s->ntouched && need > 0; j++)
		{
			uint32_t b = s->touched[j];
			int64_t spare = s->instance[b].load - model->k;
			double down = s->instance[f].w - s->instance[b].w;

			if (spare > s->instance[b].count)
				spare = s->instance[b].count;
			if (spare <= 0 || down < step)
				continue;
			if (down > step)
			{
				higher = kanon_min(higher, down);
				continue;
			}
			if (spare > need)
				spare = need;
			loss += down * (double) spare;
			need -= spare;
		}
		if (need > 0 && higher == INFINITY)
			return INFINITY;
		step = higher;
	}
	return need > 0 ? INFINITY : loss;
}

/* Gives f the rows to spare it lacks, those that lose least first. */
static bool
take_cheapest(Search *s, uint32_t f)
{
	const IlpModel *model = s->model;

	while (s->instance[f].load < model->k)
	{
		uint32_t best = NONE;

		for (size_t j = 0; j < s->ntouched; j++)
		{
			uint32_t b = s->touched[j];

			if (s->instance[b].load > model->k && s->instance[b].count > 0 &&
				(best == NONE || s->instance[b].w > s->instance[best].w))
				best = b;
		}
		if (best == NONE)
			return true;
		if (!search_take_spare(s, best, f, model->k - s->instance[f].load))
			return false;
		s->instance[best].count = 0;
	}
	return true;
}

/*
 * Opens the instance that saves the freed rows most against their cheapest
 * open classes: one that k of them fill, or one filled up with rows to spare
 * when that costs less.  *opened tells whether there was one.
 */
static bool
reopen(Search *s, bool *opened)
{
	const IlpModel *model = s->model;
	uint32_t offer[OFFERED];
	int noffer = 0;
	uint32_t best = NONE;
	double best_gain = 1e-9;
	uint32_t stamp = ++s->stamp;
	size_t ntouched = 0;
	size_t kept = 0;

	*opened = false;
	for (size_t j = 0; j < s->nfreed; j++)
	{
		uint32_t u = s->freed[j];
		uint32_t i = s->unit[u].type;
		int64_t rows = s->unit[u].rows;
		double now = search_cost(s, u, search_cheapest(s, i));
		uint32_t value = search_value_bit(s, i);

		s->alternative[j] = now;
		for (size_t p = s->type[i].options; p < s->type[i + 1].options; p++)
		{
			SearchInstance *met = &s->instance[model->opt[p]];

			if (met->w >= now)
			{
				s->pace->work += (int64_t) (p - s->type[i].options) * 2;
				break;
			}
			if (met->stamp != stamp)
			{
				met->stamp = stamp;
				met->count = 0;
				met->score = 0;
				met->chain = 0;
				s->touched[ntouched++] = model->opt[p];
			}
			met->count += rows;
			met->chain |= value;
			met->score += (now - met->w) * (double) rows;
		}
	}
	for (size_t j = 0; j < ntouched; j++)
	{
		uint32_t f = s->touched[j];

		if (s->instance[f].load > 0)
			continue;
		if (s->instance[f].count >= model->k && search_values_lacking(s, s->instance[f].chain) == 0)
		{
			double gain = s->instance[f].score + s->temperature * search_random(s);

			if (gain > best_gain)
			{
				best_gain = gain;
				best = f;
			}
		}
		else
		{
			int at;

			s->instance[f].score += s->temperature * search_random(s);
			if (noffer == OFFERED && s->instance[f].score <= s->instance[offer[OFFERED - 1]].score)
				continue;
			at = noffer < OFFERED ? noffer++ : OFFERED - 1;
			for (; at > 0 && s->instance[offer[at - 1]].score < s->instance[f].score; at--)
				offer[at] = offer[at - 1];
			offer[at] = f;
		}
	}
	s->pace->work += (int64_t) ntouched * 2;
	for (int j = 0; j < noffer; j++)
	{
		uint32_t f = offer[j];
		double score = s->instance[f].score;
		int64_t count = s->instance[f].count;
		uint32_t values = s->instance[f].chain;
		double gain;

		if (score <= best_gain)
			break;
		search_scan(s, f);
		gain =
			score - spare_loss(s, f, model->k - count, score - best_gain) - search_values_loss(s, f, values);
		if (gain > best_gain)
		{
			best_gain = gain;
			best = f;
		}
	}
	if (best == NONE)
		return true;
	search_scan(s, best);
	for (size_t j = 0; j < s->nfreed; j++)
	{
		uint32_t u = s->freed[j];

		if (s->type[s->unit[u].type].within == s->stamp && s->alternative[j] > s->instance[best].w)
		{
			if (!search_move(s, u, best))
				return false;
		}
		else
			s->freed[kept++] = u;
	}
	s->nfreed = kept;
	/* freed rows that stay are loose, too: they are placed later */
	s->nloose = 0;
	if (!attract(s, best) || !take_cheapest(s, best))
		return false;
	s->failed = s->instance[best].load < model->k;
	if (!s->failed && s->problem != NULL)
	{
		bool ok = true;

		s->failed = !search_complete(s, best, &ok);
		if (!ok)
			return false;
	}
	*opened = !s->failed;
	return true;
}

/* Rows of f above k move to cheaper open classes. */
static bool
spill(Search *s, uint32_t f)
{
	uint32_t u = s->instance[f].head;

	while (u != NONE && s->instance[f].load > s->model->k)
	{
		uint32_t next = s->unit[u].next;

		if (search_spares(s, u))
		{
			uint32_t to = search_cheapest(s, s->unit[u].type);

			if (search_cost(s, u, to) < s->instance[f].w && !search_move(s, u, to))
				return false;
		}
		u = next;
	}
	return true;
}

/* Freed rows go to their cheapest open classes, whose rows may then leave. */
static bool
place(Search *s)
{
	size_t ntouched = 0;

	s->stamp++;
	for (size_t j = 0; j < s->nfreed; j++)
	{
		uint32_t u = s->freed[j];
		uint32_t to = search_cheapest(s, s->unit[u].type);

		if (to == NONE)
			continue;
		if (!search_move(s, u, to))
			return false;
		if (s->instance[to].stamp != s->stamp)
		{
			s->instance[to].stamp = s->stamp;
			s->touched[ntouched++] = to;
		}
	}
	for (size_t j = 0; j < ntouched; j++)
		if (!spill(s, s->touched[j]))
			return false;
	return true;
}

/*
 * Ruins the class of a unit and one or two near it, that is, with rows that fit
 * an instance of the unit.
 */
static bool
ruin(Search *s, uint32_t u)
{
	const IlpModel *model = s->model;
	uint32_t i = s->unit[u].type;
	size_t options = s->type[i + 1].options - s->type[i].options;
	int classes = 1 + (int) search_below(s, 2);

	if (s->unit[u].in == NONE)
		s->freed[s->nfreed++] = u;
	else if (!search_dissolve(s, s->unit[u].in))
		return false;
	/* under rules a row may fit no instance at all */
	for (int tries = 0; options > 0 && tries < 6 && classes > 0; tries++)
	{
		uint32_t f = model->opt[s->type[i].options + search_below(s, options)];
		size_t size = model->start[f + 1] - model->start[f];
		uint32_t j = model->type[model->start[f] + search_below(s, size)];
		uint32_t b = s->unit[s->type[j].first + search_below(s, s->type[j + 1].first - s->type[j].first)].in;

		if (b == NONE)
			continue;
		if (!search_dissolve(s, b))
			return false;
		classes--;
	}
	return true;
}

/* Takes a unit to f; in its class one that can be spared elsewhere takes its place, if there is one. */
static bool
replace(Search *s, uint32_t u, uint32_t f)
{
	uint32_t b = s->unit[u].in;
	uint32_t from = NONE;
	double least = INFINITY;

	if (!search_move(s, u, f))
		return false;
	search_scan(s, b);
	for (size_t j = 0; j < s->ntouched; j++)
	{
		uint32_t c = s->touched[j];
		double loss;

		if (c == f || s->instance[c].load <= s->model->k)
			continue;
		loss = s->instance[b].w - s->instance[c].w + s->temperature * search_random(s) * 0.3;
		if (loss < least)
		{
			least = loss;
			from = c;
		}
	}
	if (from != NONE ? !search_take_spare(s, from, b, 1) : s->nloose > 0 && !search_move(s, s->loose[0], b))
		return false;
	return search_stands(s, b) || search_dissolve(s, b);
}

/* Tries one move; *delta is the change of cost.  False: out of memory. */
bool
search_try(Search *s, double *delta)
{
	const IlpModel *model = s->model;
	double before = s->cost;
	uint32_t u;
	uint32_t i;
	double now;
	size_t lo;
	size_t hi;
	uint32_t f;
	bool more = true;
	size_t kept = 0;
	bool ok;

	*delta = INFINITY;
	s->nlog = 0;
	s->nfreed = 0;
	s->failed = false;
	if (!search_find_wanting(s, &u))
		return true;
	i = s->unit[u].type;
	now = search_cost(s, u, s->unit[u].in);
	lo = s->type[i].options;
	hi = s->type[i + 1].options;
	s->pace->work += 20;
	if (search_random(s) < (model->k < LARGE_K ? RUINS : RUINS_LARGE))
	{
		if (!ruin(s, u))
			return false;
		f = NONE;
		goto recreate;
	}
	while (lo < hi)
	{
		size_t mid = lo + (hi - lo) / 2;

		if (s->instance[model->opt[mid]].w < now)
			lo = mid + 1;
		else
			hi = mid;
	}
	/*
	 * Opening f costs about g_f more than the bound's solution: far above the
	 * temperature there is no point in trying.
	 */
	f = model->opt[s->type[i].options + search_below(s, lo - s->type[i].options)];
	if (s->g != NULL && s->instance[f].load == 0 && s->g[f] > 0 &&
		search_random(s) >= exp(-s->g[f] / s->reach))
		return true;
	if (s->large && s->unit[u].in != NONE && !search_spares(s, u) && search_random(s) < REPLACED
			? !replace(s, u, f)
			: !search_take(s, u, f))
		return false;
	if (s->instance[f].load < model->k)
	{
		search_scan(s, f);
		if (!fill(s, f, &ok))
		{
			if (!ok)
				return false;
			search_undo(s);
			return true;
		}
		/* f has taken some of them */
		for (size_t j = 0; j < s->nfreed; j++)
			if (s->unit[s->freed[j]].in == NONE)
				s->freed[kept++] = s->freed[j];
		s->nfreed = kept;
	}
recreate:
	for (int again = 0; again < 8 && more && s->nfreed > 0; again++)
		if (!reopen(s, &more))
			return false;
	if (s->failed)
	{
		search_undo(s);
		return true;
	}
	if (!place(s) || (f != NONE && !spill(s, f)))
		return false;
	s->pace->work += (int64_t) s->nlog * 8;
	*delta = s->cost - before;
	return true;
}
