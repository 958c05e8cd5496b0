/*
 * full_domain_search.c: which nodes to check for the optimum.
 *
 * The searches rest on this: further up groups are merged, so rows in a class stay in one, and
 * fewer and fewer rows are suppressed.  A node above one that fulfils the rules (within the limit)
 * therefore fulfils them, a node below one that does not does not: each verdict tags a part of the
 * lattice.  Bounds of the metric, raised likewise, spare up to four fifths of the checks that are left (Adult, 5 %
 * suppressed: 82 % of flash's for discernibility, 19 % for loss).
 *
 *	samarati	P. Samarati, "Protecting respondents' identities in microdata release", TKDE 13(6),
 *				2001: binary search for the least height at which a node fulfils the rules.
 *	incognito	K. LeFevre, D. DeWitt, R. Ramakrishnan, "Incognito: efficient full-domain
 *				k-anonymity", SIGMOD 2005: breadth first over the lattices of all subsets of the
 *				quasi-identifiers, the smaller subsets first.  A subset's node is the node that
 *				suppresses all other columns, so that its subset property and its roll-up
 *				property are the two kinds of tags above.
 *	flash		F. Kohlmayer, F. Prasser, C. Eckert, A. Kemper, K. Kuhn, "Flash: efficient, stable
 *				and optimal k-anonymity", PASSAT 2012: greedy paths upwards, a binary search on
 *				each, in a stable order.
 *	speedy		the same; its nodes are checked by a team (full_domain_check.c).
 *
 * All of these tell which nodes fulfil the rules.  Which of these is optimal,
 * optimum() finds out for all of them.  Without suppressed rows each metric only
 * grows upwards, so that the optimum is among the minimal nodes.  With them it
 * does not: to generalize further loses more on every row and saves the charge
 * for some.  But its value is a sum of a part that only rises and one that only
 * falls (full_domain_metric.c), so each check says how low the first can be for
 * all nodes above, and the second for all nodes below.  A node for which both
 * together are no better than the best node found is left out, and that is safe:
 * it need not be checked, and no verdict on other nodes would have followed from it
 * that is needed.
 * Flash leaves such nodes out of its paths, too, and Incognito out of its lattices
 * where rows may be suppressed, unless the lattice is to be explored.
 *
 * With rules beyond k and suppressed rows the first sentence may be wrong: a class that is merged
 * with a suppressed group of one sensitive value, say, may be none any more (distinct l, the number
 * of persons and k_map cannot break so).  Then a verdict says nothing of the nodes above.  It does
 * of the nodes below where too many rows have too few others, or too few values, beside them: these
 * are a class nowhere below, whatever else the rules ask for.  All but those nodes, and those that
 * the rising parts exclude, are checked, whatever the search is called.
 */

#include "lattice/lattice.h"

static inline bool
is_known(const NodeSearch *search, uint32_t node)
{
	return (search->tag[node] & (TAG_YES | TAG_NO)) != 0;
}

/* Tags a node and what follows from it: all nodes above (YES) or below (NO). */
static KanonStatus
spread(NodeSearch *search, uint32_t node, uint8_t verdict)
{
	const Lattice *lattice = search->lattice;
	uint32_t n = 0;

	search->tag[node] |= verdict;
	search->stack[n++] = node;
	while (n > 0)
	{
		uint32_t at = search->stack[--n];
		uint16_t level[KANON_MAX_QIS];

		if (kanon_stop(search->pace, (uint64_t) lattice->nqis))
			return KANON_CANCELLED;
		lattice_levels(lattice, at, level);
		for (int q = 0; q < lattice->nqis; q++)
		{
			uint32_t next;

			if (level[q] == (verdict == TAG_YES ? lattice->height[q] : 0))
				continue;
			next = verdict == TAG_YES ? at + lattice->stride[q] : at - lattice->stride[q];
			if ((search->tag[next] & verdict) != 0)
				continue;
			search->tag[next] |= verdict;
			search->stack[n++] = next;
		}
	}
	return KANON_OK;
}

/* Raises what is known of nodes: of those above (rising), or of those below. */
static KanonStatus
raise_bounds(NodeSearch *search, uint32_t node, KanonWide *bounds, bool upwards, KanonWide bound)
{
	const Lattice *lattice = search->lattice;
	uint32_t n = 0;

	if (bounds[node] >= bound)
		return KANON_OK;
	bounds[node] = bound;
	search->stack[n++] = node;
	while (n > 0)
	{
		uint32_t at = search->stack[--n];
		uint16_t level[KANON_MAX_QIS];

		if (kanon_stop(search->pace, (uint64_t) lattice->nqis))
			return KANON_CANCELLED;
		lattice_levels(lattice, at, level);
		for (int q = 0; q < lattice->nqis; q++)
		{
			uint32_t next;

			if (level[q] == (upwards ? lattice->height[q] : 0))
				continue;
			next = upwards ? at + lattice->stride[q] : at - lattice->stride[q];
			if (bounds[next] >= bound)
				continue;
			bounds[next] = bound;
			search->stack[n++] = next;
		}
	}
	return KANON_OK;
}

/* Ties between nodes: fewer suppressed rows, then lower height, then levels from the left. */
static bool
is_preferred(const NodeSearch *search, int64_t suppressed, uint32_t node)
{
	uint32_t best = search->best;
	int height = lattice_height(search->lattice, node);
	int best_height = lattice_height(search->lattice, best);

	if (suppressed != search->suppressed[best])
		return suppressed < search->suppressed[best];
	return height != best_height ? height < best_height : node < best;
}

/*
 * Could the node be better than the best one?  Values this near to the least one
 * are equal to it: they were rounded.
 */
static bool
is_promising(const NodeSearch *search, uint32_t node)
{
	KanonWide bound = search->rising[node] + search->falling[node];

	if (search->explore || search->best == UINT32_MAX || bound < search->least)
		return true;
	return bound <= search->least + search->metric->tie && is_preferred(search, 0, node);
}

/* May the node be chosen?  It fulfils the rules. */
static bool
is_allowed(const NodeSearch *search, uint32_t node)
{
	return (search->tag[node] & TAG_LEFT_OVER) == 0 &&
		   kanon_mask_contains(search->index, lattice_pattern(search->lattice, node));
}

static bool
is_tie(const NodeSearch *search, uint32_t node)
{
	return search->value[node] <= search->least + search->metric->tie;
}

/*
 * The least value is a little less now, and the best node is none of the equal ones
 * any more.  Chooses among these; there may be more among those that it has outdone.
 */
static KanonStatus
choose(NodeSearch *search, uint32_t node)
{
	const uint8_t known = TAG_YES | TAG_CHECKED;

	search->best = node;
	search->again = true;
	for (uint32_t i = 0; i < search->lattice->nnodes; i++)
	{
		if (kanon_stop(search->pace, 1))
			return KANON_CANCELLED;
		if ((search->tag[i] & known) == known && is_tie(search, i) && is_allowed(search, i) &&
			is_preferred(search, search->suppressed[i], i))
			search->best = i;
	}
	return KANON_OK;
}

static bool
is_unknown(const NodeSearch *search, uint32_t node)
{
	return !is_known(search, node);
}

static bool
is_open(const NodeSearch *search, uint32_t node)
{
	return !is_known(search, node) && is_promising(search, node);
}

/* Notes a node that fulfils the rules. */
static KanonStatus
offer(NodeSearch *search, uint32_t node, const Count *count)
{
	KanonWide before = search->least;
	uint16_t level[KANON_MAX_QIS];

	lattice_levels(search->lattice, node, level);
	search->value[node] = metric_of(search->metric, search->lattice, level, count);
	if (count->left_over)
		search->tag[node] |= TAG_LEFT_OVER;
	if (!is_allowed(search, node))
		return KANON_OK;
	if (search->best == UINT32_MAX || search->value[node] < before)
		search->least = search->value[node];
	if (search->best == UINT32_MAX)
		search->best = node;
	else if (!is_tie(search, search->best))
	{
		if (before <= search->least + search->metric->tie)
			return choose(search, node);
		search->best = node;
	}
	else if (is_tie(search, node) && is_preferred(search, search->suppressed[node], node))
		search->best = node;
	return KANON_OK;
}

void
search_doubt(NodeSearch *search, const uint16_t *level, const Count *count)
{
	Count least = *count;
	KanonWide value;

	if (!count->unsure)
		return;
	least.more = least.emptied = 0;
	least.loss = 0;
	value = metric_of(search->metric, search->lattice, level, &least) - search->metric->slack;
	if (!search->doubted || value < search->doubt)
		search->doubt = value;
	search->doubted = true;
}

/* Checks a node, with all that follows for others. */
static KanonStatus
check(NodeSearch *search, uint32_t node)
{
	Count count;
	bool fulfils;
	uint16_t level[KANON_MAX_QIS];
	KanonStatus status = checker_count(search->checker, lattice_pattern(search->lattice, node), &count);

	if (status != KANON_OK)
		return status;
	fulfils = count_blank(&count) <= search->limit && !count.absent;
	search->checked++;
	search->suppressed[node] = count_blank(&count);
	if (search->classes != NULL)
		search->classes[node] = count.classes - count.emptied;
	if (search->nearest == UINT32_MAX || count_blank(&count) < search->suppressed[search->nearest])
		search->nearest = node;
	search->tag[node] |= TAG_CHECKED;
	/* (rows that fill the suppressed ones up say nothing of nodes below) */
	if (!search->tags || (!fulfils && count.suppressed <= search->limit && !count.absent))
		search->tag[node] |= fulfils ? TAG_YES : TAG_NO;
	else if (!is_known(search, node))
		status = spread(search, node, fulfils ? TAG_YES : TAG_NO);
	/* what is no class here for want of rows or values is in none below */
	if (status == KANON_OK && !search->tags && count.hopeless > search->limit)
		status = spread(search, node, TAG_NO);
	if (status == KANON_OK && fulfils)
		status = offer(search, node, &count);
	lattice_levels(search->lattice, node, level);
	search_doubt(search, level, &count);
	if (status == KANON_OK)
		status = raise_bounds(search, node, search->rising, true,
							  metric_rising(search->metric, search->lattice, level, &count));
	/* beyond the limit the verdict says it all */
	if (status == KANON_OK && fulfils && search->tags)
		status = raise_bounds(search, node, search->falling, false, metric_falling(search->metric, &count));
	return status;
}

/* ---- Samarati ---- */

/* The first node at a height in the order of nodes. */
static uint32_t
first_at(const NodeSearch *search, int height)
{
	uint32_t low = 0, high = search->lattice->nnodes;

	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		if (lattice_height(search->lattice, search->order[middle]) < height)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Does any node at this height fulfil the rules? */
static KanonStatus
try_height(NodeSearch *search, int height, bool *found)
{
	uint32_t end = first_at(search, height + 1);
	KanonStatus status = KANON_OK;

	*found = false;
	for (uint32_t i = first_at(search, height); i < end && !*found && status == KANON_OK; i++)
	{
		uint32_t node = search->order[i];

		if (!is_known(search, node))
			status = check(search, node);
		*found = (search->tag[node] & TAG_YES) != 0;
	}
	return status;
}

static KanonStatus
samarati(NodeSearch *search)
{
	int low = 0, high = search->lattice->top;
	KanonStatus status = KANON_OK;

	while (low < high && status == KANON_OK)
	{
		int middle = low + (high - low) / 2;
		bool found;

		kanon_pace_done(search->pace, 1 - (double) (high - low) / search->lattice->top);

		status = try_height(search, middle, &found);
		if (found)
			high = middle;
		else
			low = middle + 1;
	}
	return status;
}

/* ---- Incognito ---- */

/* Quasi-identifiers that are not suppressed: the subset that a node belongs to. */
static int
subset_size(const Lattice *lattice, uint32_t node)
{
	int size = 0;

	for (int q = 0; q < lattice->nqis; q++)
		size += lattice_level(lattice, node, q) < lattice->height[q];
	return size;
}

/*
 * Smaller subsets first, each from the bottom to the top; known nodes are pruned.  So are those that
 * cannot be the optimum, where rows may be suppressed: else their verdicts save more checks than they take.
 */
static KanonStatus
incognito(NodeSearch *search)
{
	const Lattice *lattice = search->lattice;
	KanonStatus status = KANON_OK;

	for (int size = 0; size <= lattice->nqis; size++)
		for (uint32_t i = 0; i < lattice->nnodes && status == KANON_OK; i++)
		{
			uint32_t node = search->order[i];

			kanon_pace_done(search->pace, (size + (double) i / lattice->nnodes) / (lattice->nqis + 1));

			if (kanon_stop(search->pace, (uint64_t) lattice->nqis))
				return KANON_CANCELLED;
			if (subset_size(lattice, node) == size &&
				(search->limit > 0 ? is_open(search, node) : !is_known(search, node)))
				status = check(search, node);
		}
	return status;
}

/* ---- Flash ---- */

/* The first node right above, in the order of nodes, for which that is true; or UINT32_MAX. */
static uint32_t
first_above(const NodeSearch *search, uint32_t node, bool (*wanted)(const NodeSearch *search, uint32_t node))
{
	const Lattice *lattice = search->lattice;
	uint32_t first = UINT32_MAX;
	uint16_t level[KANON_MAX_QIS];

	lattice_levels(lattice, node, level);
	for (int q = 0; q < lattice->nqis; q++)
	{
		uint32_t above = node + lattice->stride[q];

		if (level[q] < lattice->height[q] && wanted(search, above) &&
			(first == UINT32_MAX || search->rank[above] < search->rank[first]))
			first = above;
	}
	return first;
}

/* A greedy path upwards from a node; returns its length. */
static int
make_path(const NodeSearch *search, uint32_t node, bool (*wanted)(const NodeSearch *search, uint32_t node),
		  uint32_t *path)
{
	int length = 0;

	for (; node != UINT32_MAX; node = first_above(search, node, wanted))
		path[length++] = node;
	return length;
}

/* The open nodes above a node that does not fulfil the rules will begin paths. */
static KanonStatus
queue_above(NodeSearch *search, uint32_t node)
{
	const Lattice *lattice = search->lattice;

	for (int q = 0; q < lattice->nqis; q++)
	{
		uint32_t above = node + lattice->stride[q];

		if (lattice_level(lattice, node, q) == lattice->height[q] || !is_open(search, above) ||
			(search->tag[above] & TAG_QUEUED) != 0)
			continue;
		search->tag[above] |= TAG_QUEUED;
		if (!kanon_heap_add(search->scratch, &search->queue, 0, search->rank[above]))
			return KANON_NO_MEMORY;
	}
	return KANON_OK;
}

/* A greedy path upwards from an open node, and a binary search on it. */
static KanonStatus
check_path(NodeSearch *search, uint32_t node)
{
	uint32_t path[KANON_MAX_COLUMNS + 1];
	int low = 0, high = make_path(search, node, is_unknown, path) - 1;
	KanonStatus status = KANON_OK;

	while (low <= high && status == KANON_OK)
	{
		int middle = low + (high - low) / 2;

		node = path[middle];
		if (!is_known(search, node))
		{
			status = check(search, node);
			if (status == KANON_OK && (search->tag[node] & TAG_NO) != 0)
				status = queue_above(search, node);
		}
		if ((search->tag[node] & TAG_YES) != 0)
			high = middle - 1;
		else
			low = middle + 1;
	}
	return status;
}

static KanonStatus
flash(NodeSearch *search)
{
	KanonStatus status = KANON_OK;

	for (uint32_t i = 0; i < search->lattice->nnodes && status == KANON_OK; i++)
	{
		kanon_pace_done(search->pace, (double) i / search->lattice->nnodes);
		if (is_open(search, search->order[i]))
			status = check_path(search, search->order[i]);
		while (search->queue.n > 0 && status == KANON_OK)
		{
			uint32_t node = search->order[kanon_heap_take(&search->queue).item];

			if (is_open(search, node))
				status = check_path(search, node);
		}
		if (kanon_stop(search->pace, (uint64_t) search->lattice->nqis))
			return KANON_CANCELLED;
	}
	return status;
}

/* ---- the optimum ---- */

/* It may be optimal now or, the least value only getting less, later. */
static bool
is_left(const NodeSearch *search, uint32_t node)
{
	return (search->tag[node] & (TAG_NO | TAG_CHECKED)) == 0 &&
		   (search->explore || search->best == UINT32_MAX ||
			search->rising[node] + search->falling[node] <= search->least + search->metric->tie);
}

/* It may be optimal, and is not checked yet. */
static bool
is_candidate(const NodeSearch *search, uint32_t node)
{
	return (search->tag[node] & (TAG_NO | TAG_CHECKED)) == 0 && is_promising(search, node);
}

/*
 * Checks candidates until there is none: the middle of a path above each, since
 * a check there says something of both of its halves.
 */
static KanonStatus
optimum(NodeSearch *search)
{
	uint32_t path[KANON_MAX_COLUMNS + 1];
	KanonStatus status = search_order_left(search, is_left);

	do
	{
		search->again = false;
		/* how often is not known: each time is half of what is left of the phase */
		kanon_pace_part(search->pace, search->pace->share, 1, 0, 2);
		for (uint32_t i = 0; i < search->norder; i++)
		{
			kanon_pace_done(search->pace, (double) i / search->norder);
			while (status == KANON_OK && is_candidate(search, search->order[i]))
				status = check(search, path[make_path(search, search->order[i], is_candidate, path) / 2]);
			if (status != KANON_OK)
				return status;
			if (kanon_stop(search->pace, (uint64_t) search->lattice->nqis))
				return KANON_CANCELLED;
		}
	} while (search->again);
	return status;
}

/* The node to start from is the best one if it fulfils the rules; else only those above it are left. */
static KanonStatus
begin(NodeSearch *search)
{
	const Lattice *lattice = search->lattice;
	KanonStatus status = check(search, lattice_node(lattice, search->start));

	for (int q = 0; q < lattice->nqis && status == KANON_OK && search->best == UINT32_MAX; q++)
		if (lattice_level_of(lattice, search->start, q) > 0)
			status = spread(search, lattice_node(lattice, lattice_beside(lattice, search->start, q)), TAG_NO);
	return status;
}

KanonStatus
search_run(NodeSearch *search, KanonSearch algorithm)
{
	KanonStatus status = search_order(search);
	uint16_t level[KANON_MAX_QIS] = {0};

	if (status != KANON_OK)
		return status;
	for (uint32_t i = 0; i < search->lattice->nnodes; i++)
	{
		if (kanon_stop(search->pace, (uint64_t) search->lattice->nqis * 2))
			return KANON_CANCELLED;
		search->rank[search->order[i]] = i;
		search->rising[i] = metric_floor(search->metric, search->lattice, level);
		lattice_next(search->lattice, level);
	}
	if (search->starts)
	{
		status = begin(search);
		if (status != KANON_OK || search->best != UINT32_MAX)
			return status;
	}
	if (!search->tags)
		return optimum(search);
	kanon_pace_part(search->pace, 0, 1, 0, 2);
	switch (algorithm)
	{
		case KANON_SEARCH_SAMARATI:
			status = samarati(search);
			break;
		case KANON_SEARCH_INCOGNITO:
			status = incognito(search);
			break;
		case KANON_SEARCH_FLASH:
		case KANON_SEARCH_SPEEDY:
			status = flash(search);
			break;
	}
	return status == KANON_OK ? optimum(search) : status;
}
