/*
 * improve_moves.c: one move of ruin and recreate: a unit goes to a cheaper
 * instance, which is filled; classes that lack rows are dissolved, and what
 * that frees finds a place.
 */
#include <math.h>
#include <string.h>

#include "improve_search.h"

/*
 * Fills the closed instance f with at least k rows: freed ones, then rows that
 * gain there and can be spared, then, until k is reached, those that lose
 * least or whose classes must be dissolved.  A sample of f's types, from a
 * random place, is looked at.  False: not enough rows.
 */
static bool
fill(Search *s, uint32_t f, bool *ok)
{
	const IlpModel *model = s->model;
	size_t		size = model->start[f + 1] - model->start[f];
	size_t		look = 50 * (size_t) (model->k < 400 ? model->k : 400);
	size_t		at = search_below(s, size);
	size_t		ndonors = 0;
	size_t		kept = 0;

	*ok = true;
	for (size_t j = 0; j < s->nfreed; j++)
	{
		uint32_t	u = s->freed[j];

		if (search_fits(s, f, s->type[u]) && model->w[f] <= model->c[s->type[u]])
		{
			if (!search_move(s, u, f))
				return *ok = false;
		}
		else
			s->freed[kept++] = u;
	}
	s->nfreed = kept;
	if (look > size)
		look = size;
	for (size_t j = 0; j < look; j++)
	{
		uint32_t	i = model->type[model->start[f] + at];

		if (++at == size)
			at = 0;
		s->watch->work += 2;
		for (size_t u = s->first[i]; u < s->first[i + 1]; u++)
		{
			uint32_t	b = s->in[u];
			double		gain = search_cost(s, (uint32_t) u, b) - model->w[f];

			if (b == f)
				continue;
			if (b == NONE || s->load[b] - s->rows[u] >= model->k)
			{
				if (gain > 0)
				{
					if (!search_move(s, (uint32_t) u, f))
						return *ok = false;
					continue;
				}
			}
			if (s->load[f] < model->k)
				s->donor[ndonors++] = (uint32_t) u;
		}
	}
	if (s->load[f] >= model->k)
		return true;
	/*
	 * Donors in two classes of preference, each in random order: those whose
	 * rows would rather be in f or lose nothing to speak of, then any.
	 */
	for (int pass = 0; pass < 3 && s->load[f] < model->k; pass++)
		for (size_t left = ndonors; left > 0 && s->load[f] < model->k; left--)
		{
			uint32_t	pick = search_below(s, left);
			uint32_t	u = s->donor[pick];
			uint32_t	b = s->in[u];
			double		gain;
			bool		spare;

			s->donor[pick] = s->donor[left - 1];
			s->donor[left - 1] = u;
			if (b == f)
				continue;
			gain = search_cost(s, u, b) - model->w[f];
			spare = b == NONE || s->load[b] - s->rows[u] >= model->k;
			if (pass == 0 && !(gain > 0 || (spare && gain >= -1)))
				continue;
			if (pass == 1 && !spare && gain < 0)
				continue;
			if (!search_take(s, u, f))
				return *ok = false;
			/* what the dissolved class leaves may fit as well */
			for (size_t j = kept; j < s->nfreed; j++)
			{
				uint32_t	v = s->freed[j];

				if (search_fits(s, f, s->type[v]) && model->w[f] <= model->c[s->type[v]])
				{
					if (!search_move(s, v, f))
						return *ok = false;
				}
				else
					s->freed[kept++] = v;
			}
			s->watch->work += (int64_t) (s->nfreed - kept) * 4;
			s->nfreed = kept;
		}
	return s->load[f] >= model->k;
}

/*
 * Rows that can be spared elsewhere and lose little in f, until it has k: their
 * loss, or INFINITY when a sample of f's types has too few.  They are listed in
 * pick from *npick on.
 */
static double
spare_rows(Search *s, uint32_t f, int64_t rows, double limit, size_t *npick)
{
	const IlpModel *model = s->model;
	size_t		size = model->start[f + 1] - model->start[f];
	size_t		look = size < 300 ? size : 300;
	size_t		at = search_below(s, size);
	double		loss = 0;

	for (size_t j = 0; j < look && rows < model->k && loss < limit; j++)
	{
		uint32_t	i = model->type[model->start[f] + at];

		if (++at == size)
			at = 0;
		s->watch->work++;
		for (size_t u = s->first[i]; u < s->first[i + 1] && rows < model->k; u++)
		{
			uint32_t	b = s->in[u];

			/* freed rows are counted already */
			if (b == NONE || s->load[b] - s->rows[u] < model->k)
				continue;
			loss += (model->w[f] - model->w[b]) * (double) s->rows[u];
			rows += s->rows[u];
			s->pick[(*npick)++] = (uint32_t) u;
			break;				/* one of a type: the others are in the same class */
		}
	}
	return rows < model->k ? INFINITY : loss;
}

/*
 * Opens the best of some instances that a freed row would rather be in than in
 * an open class: with the freed rows that fit, and rows to spare elsewhere when
 * these are fewer than k and the saving exceeds the loss.  True if one was.
 */
static bool
reopen(Search *s, bool *ok)
{
	const IlpModel *model = s->model;
	uint32_t	best = NONE;
	double		best_gain = 1e-9;
	size_t		best_picks = 0;
	size_t		base = 0;
	uint32_t	u;
	size_t		chosen;
	size_t		lo;
	size_t		hi;
	size_t		kept = 0;
	uint32_t	i;

	*ok = true;
	if (s->nfreed == 0)
		return false;
	for (size_t j = 0; j < s->nfreed; j++)
		s->donor[j] = search_cheapest(s, s->type[s->freed[j]]);
	chosen = search_below(s, s->nfreed);
	u = s->freed[chosen];
	i = s->type[u];
	lo = model->opt_start[i];
	hi = model->opt_start[i + 1];
	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;

		if (model->w[model->opt[mid]] < search_cost(s, u, s->donor[chosen]))
			lo = mid + 1;
		else
			hi = mid;
	}
	hi = lo - model->opt_start[i];
	for (size_t t = 0; t < (hi < 16 ? hi : 16); t++)
	{
		uint32_t	f = model->opt[model->opt_start[i] + (hi <= 16 ? t : search_below(s, hi))];
		double		gain = 0;
		int64_t		rows = 0;
		size_t		npick = base;

		if (s->load[f] > 0)
			continue;
		if (s->g != NULL && s->g[f] > 3 * s->temperature + 1)
			continue;
		for (size_t j = 0; j < s->nfreed; j++)
		{
			uint32_t	v = s->freed[j];

			s->watch->work += 2;
			if (search_fits(s, f, s->type[v]) && search_cost(s, v, s->donor[j]) > model->w[f])
			{
				rows += s->rows[v];
				gain += (search_cost(s, v, s->donor[j]) - model->w[f]) * (double) s->rows[v];
			}
		}
		if (rows < model->k)
			gain -= spare_rows(s, f, rows, gain, &npick);
		if (gain > best_gain)
		{
			best_gain = gain;
			best = f;
			/* keep these picks in front */
			best_picks = npick - base;
			memmove(s->pick, s->pick + base, best_picks * sizeof(*s->pick));
			base = best_picks;
		}
	}
	if (best == NONE)
		return false;
	for (size_t j = 0; j < s->nfreed; j++)
	{
		uint32_t	v = s->freed[j];

		if (search_fits(s, best, s->type[v]) && search_cost(s, v, s->donor[j]) > model->w[best])
		{
			if (!search_move(s, v, best))
				return *ok = false;
		}
		else
			s->freed[kept++] = v;
	}
	s->nfreed = kept;
	/* spare when picked, but a class picked from twice may have no more to spare */
	for (size_t j = 0; j < best_picks; j++)
	{
		uint32_t	b = s->in[s->pick[j]];

		if (b != NONE && b != best && s->load[b] - s->rows[s->pick[j]] >= model->k &&
			!search_move(s, s->pick[j], best))
			return *ok = false;
	}
	s->failed = s->load[best] < model->k;
	return !s->failed;
}

/* Rows of f above k move to cheaper open classes. */
static bool
spill(Search *s, uint32_t f)
{
	uint32_t	u = s->head[f];

	while (u != NONE && s->load[f] > s->model->k)
	{
		uint32_t	next = s->next[u];

		if (s->load[f] - s->rows[u] >= s->model->k)
		{
			uint32_t	to = search_cheapest(s, s->type[u]);

			if (search_cost(s, u, to) < s->model->w[f] && !search_move(s, u, to))
				return false;
		}
		u = next;
	}
	return true;
}

/* All rows that gain in f and can be spared elsewhere move there. */
void
search_attract(Search *s, uint32_t f)
{
	const IlpModel *model = s->model;
	double		w = model->w[f];

	for (size_t p = model->start[f]; p < model->start[f + 1]; p++)
	{
		uint32_t	i = model->type[p];

		for (size_t u = s->first[i]; u < s->first[i + 1]; u++)
		{
			uint32_t	b = s->in[u];

			if (b != f && search_cost(s, (uint32_t) u, b) > w &&
				(b == NONE || s->load[b] - s->rows[u] >= model->k))
				search_put(s, (uint32_t) u, f);
		}
	}
	s->watch->work += (int64_t) (model->start[f + 1] - model->start[f]) * 2;
}

/* Tries one move; *delta is the change of cost.  False: out of memory. */
bool
search_try(Search *s, double *delta)
{
	const IlpModel *model = s->model;
	double		before = s->cost;
	uint32_t	u = search_below(s, s->n);
	uint32_t	i = s->type[u];
	uint32_t	a = s->in[u];
	double		now = search_cost(s, u, a);
	size_t		lo = model->opt_start[i];
	size_t		hi = model->opt_start[i + 1];
	uint32_t	f;
	bool		ok;

	*delta = INFINITY;
	s->nlog = 0;
	s->nfreed = 0;
	s->opened = NONE;
	s->failed = false;
	s->watch->work += 20;
	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;

		if (model->w[model->opt[mid]] < now)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == model->opt_start[i])
		return true;
	/*
	 * Opening f costs about g_f more than the bound's solution: far above the
	 * temperature there is no point in trying.
	 */
	f = model->opt[model->opt_start[i] + search_below(s, lo - model->opt_start[i])];
	if (s->g != NULL && s->load[f] == 0 && s->g[f] > 0 &&
		search_random(s) >= exp(-s->g[f] / s->temperature))
		return true;
	if (s->load[f] > 0)
	{
		if (!search_take(s, u, f))
			return false;
	}
	else
	{
		if (!search_take(s, u, f))
			return false;
		if (!fill(s, f, &ok))
		{
			if (!ok)
				return false;
			search_undo(s);
			return true;
		}
		s->opened = f;
	}
	for (int again = 0; again < 8 && reopen(s, &ok); again++)
		;
	if (!ok)
		return false;
	if (s->failed)
	{
		search_undo(s);
		return true;
	}
	for (size_t j = 0; j < s->nfreed; j++)
	{
		uint32_t	v = s->freed[j];
		uint32_t	to = search_cheapest(s, s->type[v]);

		if (to != NONE && !search_move(s, v, to))
			return false;
	}
	if (!spill(s, f))
		return false;
	s->watch->work += (int64_t) s->nlog * 8;
	*delta = s->cost - before;
	return true;
}
