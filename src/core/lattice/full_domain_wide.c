/*
 * full_domain_wide.c: the optimum of a lattice that is too large to have something for each node.
 *
 * Best first: a node is opened, from the bottom on, by how low the part of its value can be that
 * only rises (full_domain_search.c has why there is such a part).  Its successors generalize the
 * quasi-identifiers from the one on that was generalized last, so that each node is met once.  A
 * node that is not better than the best node found has no better ones above it.  If a node breaks
 * the rules, so do all nodes below: these are opened, but not checked, and left out where all
 * that would be opened from them are among them.  A node that has to be checked begins a path
 * upwards; the middle of that is checked, which says something of both halves.
 *
 * The first nodes checked lead down from the top.  So there is a node at any time, as F. Prasser
 * et al., "Lightning: utility-driven anonymization of high-dimensional data", Transactions on
 * Data Privacy 9(2), 2016, have one.  When time or memory is up, the best
 * node so far is the answer, and what is still open says how good another could be.
 */
#include "lattice/lattice.h"
#include "model/model.h"
#include "util/number.h"

/* A node that was checked and fulfils the rules. */
typedef struct Fulfils
{
	KanonPattern node;
	KanonWide value;
	KanonWide rising;
	KanonWide falling; /* for those below */
	int64_t suppressed;
	bool allowed; /* to be chosen */
} Fulfils;

/* A node to open. */
typedef struct Open
{
	KanonWide rising;
	KanonPattern node;
	uint32_t next; /* of one that is free: the next such */
	int last;      /* the quasi-identifier that was generalized last */
} Open;

typedef struct Wide
{
	NodeSearch *search;
	const Lattice *lattice;
	WideFound *found;
	KanonScratch scratch;
	bool full; /* no memory for more nodes */
	Fulfils *fulfils;
	size_t nfulfils;
	size_t fulfils_room;
	size_t best; /* of these; SIZE_MAX: none */
	KanonWide least;
	KanonPattern *fails; /* none of them below another */
	size_t nfails;
	size_t fails_room;
	KanonPattern *checked; /* [slots] of no column: free */
	size_t slots;
	bool bottom_checked; /* which has no slot */
	KanonHeap heap;
	Open *open;
	size_t open_room;
	uint32_t nopen;
	uint32_t free; /* UINT32_MAX: none */
} Wide;

/* ---- what is known ---- */

static KanonPattern *
slot_of(const Wide *wide, KanonPattern node)
{
	size_t at = (size_t) kanon_pattern_hash(node) & (wide->slots - 1);

	while (!kanon_is_none(wide->checked[at]) && !kanon_same(wide->checked[at], node))
		at = (at + 1) & (wide->slots - 1);
	return &wide->checked[at];
}

static bool
is_checked(const Wide *wide, KanonPattern node)
{
	return kanon_is_none(node) ? wide->bottom_checked
							   : wide->slots > 0 && !kanon_is_none(*slot_of(wide, node));
}

static bool
note_checked(Wide *wide, KanonPattern node)
{
	if (kanon_is_none(node))
	{
		wide->bottom_checked = true;
		return true;
	}
	if (2 * (size_t) (wide->search->checked + 1) > wide->slots)
	{
		size_t slots = wide->slots;
		KanonPattern *checked = wide->checked;

		wide->slots = slots == 0 ? 1024 : 2 * slots;
		wide->checked = kanon_take0(&wide->scratch, wide->slots, sizeof(KanonPattern));
		if (wide->checked == NULL)
			return false;
		for (size_t i = 0; i < slots; i++)
			if (!kanon_is_none(checked[i]))
				*slot_of(wide, checked[i]) = checked[i];
		kanon_drop(&wide->scratch, checked);
	}
	*slot_of(wide, node) = node;
	return true;
}

/* Is it known not to fulfil the rules? */
static bool
fails(const Wide *wide, KanonPattern pattern)
{
	for (size_t i = 0; i < wide->nfails; i++)
		if (kanon_within(pattern, wide->fails[i]))
			return true;
	return false;
}

static bool
note_fails(Wide *wide, KanonPattern pattern)
{
	size_t kept = 0;

	if (fails(wide, pattern))
		return true;
	for (size_t i = 0; i < wide->nfails; i++)
		if (!kanon_within(wide->fails[i], pattern))
			wide->fails[kept++] = wide->fails[i];
	wide->nfails = kept;
	if (!KANON_GROW(&wide->scratch, &wide->fails_room, kept + 1, KANON_ARRAY(wide->fails)))
		return false;
	wide->fails[wide->nfails++] = pattern;
	return true;
}

/* Ties between nodes: fewer suppressed rows, then lower height, then levels from the left. */
static bool
is_preferred(const Wide *wide, int64_t suppressed, KanonPattern node)
{
	const Fulfils *best = &wide->fulfils[wide->best];
	int height = kanon_count(node);
	int best_height = kanon_count(best->node);

	if (suppressed != best->suppressed)
		return suppressed < best->suppressed;
	if (height != best_height)
		return height < best_height;
	/* neither is within the other: who keeps the first column in which they differ */
	return !kanon_same(node, best->node) &&
		   kanon_next(kanon_minus(best->node, node), 0) < kanon_next(kanon_minus(node, best->node), 0);
}

/* Could a node be better than the best one whose value is that at least?  Or one above it, by the rising part? */
static bool
is_promising(const Wide *wide, KanonPattern node, KanonWide bound)
{
	return wide->best == SIZE_MAX || bound < wide->least ||
		   (bound <= wide->least + wide->search->metric->tie && is_preferred(wide, 0, node));
}

static KanonWide
floor_of(const Wide *wide, KanonPattern node)
{
	uint16_t level[KANON_MAX_QIS];

	lattice_levels_of(wide->lattice, node, level);
	return metric_floor(wide->search->metric, wide->lattice, level);
}

/* How low the parts of its value can be, as far as checks have told. */
static KanonWide
rising_of(const Wide *wide, KanonPattern node, KanonWide rising)
{
	KanonWide floor = floor_of(wide, node);

	if (floor > rising)
		rising = floor;
	for (size_t i = 0; i < wide->nfulfils; i++)
		if (wide->fulfils[i].rising > rising && kanon_within(wide->fulfils[i].node, node))
			rising = wide->fulfils[i].rising;
	return rising;
}

static KanonWide
falling_of(const Wide *wide, KanonPattern node)
{
	KanonWide falling = 0;

	for (size_t i = 0; i < wide->nfulfils; i++)
		if (wide->fulfils[i].falling > falling && kanon_within(node, wide->fulfils[i].node))
			falling = wide->fulfils[i].falling;
	return falling;
}

/* It may be optimal, and is not checked yet. */
static bool
is_candidate(const Wide *wide, KanonPattern node, KanonWide rising)
{
	return !is_checked(wide, node) && !fails(wide, node) &&
		   is_promising(wide, node, rising_of(wide, node, rising) + falling_of(wide, node));
}

/* ---- checks ---- */

/* The best of the nodes that may be chosen. */
static void
choose(Wide *wide)
{
	wide->best = SIZE_MAX;
	for (size_t i = 0; i < wide->nfulfils; i++)
		if (wide->fulfils[i].allowed && wide->fulfils[i].value <= wide->least + wide->search->metric->tie &&
			(wide->best == SIZE_MAX ||
			 is_preferred(wide, wide->fulfils[i].suppressed, wide->fulfils[i].node)))
			wide->best = i;
}

/* Checks a node, with what follows for others. */
static KanonStatus
check(Wide *wide, KanonPattern node)
{
	NodeSearch *search = wide->search;
	Fulfils checked = {.node = node};
	uint16_t level[KANON_MAX_QIS];
	bool fulfils;
	Count count;
	KanonStatus status = checker_count(search->checker, node, &count);

	if (status != KANON_OK)
		return status;
	if (kanon_poll(search->pace))
		return KANON_CANCELLED;
	if (!note_checked(wide, node))
		return KANON_NO_MEMORY;
	if (search->checked++ == 0 || count_blank(&count) < wide->found->nearest_suppressed)
	{
		wide->found->nearest = node;
		wide->found->nearest_suppressed = count_blank(&count);
	}
	fulfils = count_blank(&count) <= search->limit && !count.absent;
	/* (rows that fill the suppressed ones up say nothing of nodes below) */
	if (search->tags ? count.suppressed > search->limit || count.absent : count.hopeless > search->limit)
		if (!note_fails(wide, node))
			return KANON_NO_MEMORY;
	if (!fulfils)
		return KANON_OK;
	lattice_levels_of(wide->lattice, node, level);
	search_doubt(search, level, &count);
	checked.value = metric_of(search->metric, wide->lattice, level, &count);
	checked.rising = metric_rising(search->metric, wide->lattice, level, &count);
	checked.falling = search->tags ? metric_falling(search->metric, &count) : 0;
	checked.suppressed = count_blank(&count);
	checked.allowed = !count.left_over && kanon_mask_contains(search->index, node);
	wide->found->left_over |= count.left_over;
	if (!KANON_GROW(&wide->scratch, &wide->fulfils_room, wide->nfulfils + 1, KANON_ARRAY(wide->fulfils)))
		return KANON_NO_MEMORY;
	wide->fulfils[wide->nfulfils++] = checked;
	if (!checked.allowed)
		return KANON_OK;
	if (wide->best == SIZE_MAX || checked.value < wide->least)
		wide->least = checked.value;
	choose(wide);
	return KANON_OK;
}

/* Down from the top, one level at a time, as long as the node found gets better. */
static KanonStatus
descend(Wide *wide)
{
	const Lattice *lattice = wide->lattice;
	KanonPattern node = kanon_pattern_all(lattice->top);
	KanonStatus status = check(wide, node);
	bool lower = true;

	while (lower && status == KANON_OK && wide->best != SIZE_MAX && !wide->search->pace->late)
	{
		lower = false;
		for (int q = 0; q < lattice->nqis && status == KANON_OK && !wide->search->pace->late; q++)
		{
			int level = lattice_level_of(lattice, node, q);
			KanonPattern below = node;

			if (level == 0)
				continue;
			kanon_remove(&below, lattice->first[q] + level - 1);
			if (!is_candidate(wide, below, floor_of(wide, KANON_NONE)))
				continue;
			status = check(wide, below);
			if (status == KANON_OK && kanon_same(wide->fulfils[wide->best].node, below))
			{
				node = below;
				lower = true;
			}
		}
	}
	return status;
}

/* Checks until nothing has to be known of the node itself, or time is up. */
static KanonStatus
settle(Wide *wide, KanonPattern node, KanonWide rising)
{
	const Lattice *lattice = wide->lattice;
	KanonPattern path[KANON_MAX_COLUMNS + 1];
	KanonStatus status = KANON_OK;

	while (status == KANON_OK && !wide->search->pace->late && is_candidate(wide, node, rising))
	{
		int length = 0;
		KanonPattern at = node;
		bool more = true;

		while (more)
		{
			KanonWide lowest = 0;

			path[length++] = at;
			more = false;
			for (int q = 0; q < lattice->nqis; q++)
			{
				int level = lattice_level_of(lattice, path[length - 1], q);
				KanonPattern above = path[length - 1];
				KanonWide floor;

				if (level == lattice->height[q])
					continue;
				kanon_add(&above, lattice->first[q] + level);
				if (!is_candidate(wide, above, rising))
					continue;
				floor = floor_of(wide, above);
				if (!more || floor < lowest)
				{
					lowest = floor;
					at = above;
					more = true;
				}
			}
		}
		status = check(wide, path[length / 2]);
	}
	return status;
}

/* ---- what is open ---- */

/* False: there is no memory for it. */
static bool
put(Wide *wide, KanonPattern node, int last, KanonWide rising)
{
	uint32_t item = wide->free;

	if (item != UINT32_MAX)
		wide->free = wide->open[item].next;
	else if (wide->nopen < UINT32_MAX &&
			 KANON_GROW(&wide->scratch, &wide->open_room, (size_t) wide->nopen + 1, KANON_ARRAY(wide->open)))
		item = wide->nopen++;
	else
		return false;
	wide->open[item] = (Open){.rising = rising, .node = node, .last = last};
	return kanon_heap_add(&wide->scratch, &wide->heap, (double) rising, item);
}

/* All successors of a node whose value is no less than what is given. */
static bool
put_above(Wide *wide, const Open *from, KanonWide rising)
{
	const Lattice *lattice = wide->lattice;

	for (int q = from->last; q < lattice->nqis; q++)
	{
		int level = lattice_level_of(lattice, from->node, q);
		KanonPattern node = from->node;
		KanonWide more;

		if (level == lattice->height[q])
			continue;
		kanon_add(&node, lattice->first[q] + level);
		more = rising_of(wide, node, rising);
		if (is_promising(wide, node, more) && !put(wide, node, q, more))
			return false;
	}
	return true;
}

/* Opens a node. */
static KanonStatus
open_node(Wide *wide, const Open *at)
{
	const Lattice *lattice = wide->lattice;
	KanonPattern above =
		kanon_union(at->node, kanon_span(lattice->first[at->last], wide->search->problem->ncolumns));
	KanonWide rising = rising_of(wide, at->node, at->rising);
	KanonStatus status;

	if (!is_promising(wide, at->node, rising) || fails(wide, above))
		return KANON_OK;
	status = settle(wide, at->node, rising);
	if (status != KANON_OK || wide->search->pace->late)
		return status;
	/* above a node that suppresses nothing none is better */
	for (size_t i = 0; i < wide->nfulfils; i++)
		if (wide->search->tags && wide->fulfils[i].allowed && wide->fulfils[i].suppressed == 0 &&
			kanon_within(wide->fulfils[i].node, at->node))
			return KANON_OK;
	wide->full = !put_above(wide, at, rising_of(wide, at->node, rising));
	return KANON_OK;
}

/* False: there is nothing better than the best node. */
static bool
is_open(const Wide *wide)
{
	return wide->heap.n > 0 &&
		   (wide->best == SIZE_MAX ||
			wide->heap.items[0].key <= (double) (wide->least + wide->search->metric->tie));
}

/* Opens nodes until none is left, or memory or time. */
static KanonStatus
open_all(Wide *wide)
{
	KanonPace *pace = wide->search->pace;
	KanonPattern bottom = wide->search->start;
	KanonWide lowest = floor_of(wide, bottom);
	KanonStatus status = KANON_OK;

	wide->full = !put(wide, bottom, 0, lowest);
	while (status == KANON_OK && is_open(wide) && !wide->full && !pace->late)
	{
		uint32_t item = kanon_heap_take(&wide->heap).item;
		Open at = wide->open[item];

		wide->open[item].next = wide->free;
		wide->free = item;
		lowest = at.rising;
		status = open_node(wide, &at);
		if (status == KANON_OK && kanon_stop(pace, 64 + 2 * (uint64_t) (wide->nfulfils + wide->nfails)))
			status = KANON_CANCELLED;
	}
	wide->found->proven = status == KANON_OK && !wide->full && !pace->late;
	/* what could be better is open, or was the last that was opened */
	for (size_t i = 0; i < wide->heap.n; i++)
		if (wide->open[wide->heap.items[i].item].rising < lowest)
			lowest = wide->open[wide->heap.items[i].item].rising;
	wide->found->bound = lowest;
	return status;
}

/* The node to start from is the best one if it fulfils the rules; else only those above it are left. */
static KanonStatus
begin(Wide *wide)
{
	const Lattice *lattice = wide->lattice;
	KanonStatus status = check(wide, wide->search->start);

	for (int q = 0; q < lattice->nqis && status == KANON_OK && wide->best == SIZE_MAX; q++)
		if (lattice_level_of(lattice, wide->search->start, q) > 0 &&
			!note_fails(wide, lattice_beside(lattice, wide->search->start, q)))
			status = KANON_NO_MEMORY;
	return status;
}

KanonStatus
search_wide(NodeSearch *search, WideFound *found)
{
	Wide wide = {.search = search,
				 .lattice = search->lattice,
				 .found = found,
				 .scratch = {.env = search->problem->env},
				 .best = SIZE_MAX,
				 .free = UINT32_MAX};
	KanonStatus status;

	kanon_pace_open(search->pace, "search");
	found->bound = floor_of(&wide, KANON_NONE);
	status = search->starts ? begin(&wide) : KANON_OK;
	if (status == KANON_OK && (!search->starts || wide.best == SIZE_MAX))
	{
		status = descend(&wide);
		if (status == KANON_OK)
			status = open_all(&wide);
	}
	found->any = wide.best != SIZE_MAX;
	/* the best node so far is one, whatever there was no memory for */
	if (found->any && status == KANON_NO_MEMORY)
		status = KANON_OK;
	if (found->any)
	{
		found->node = wide.fulfils[wide.best].node;
		found->value = wide.fulfils[wide.best].value;
		found->suppressed = wide.fulfils[wide.best].suppressed;
		if (found->proven || found->bound > found->value)
			found->bound = found->value;
	}
	kanon_scratch_free(&wide.scratch);
	return status;
}
