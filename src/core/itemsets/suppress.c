/*
 * suppress.c: (h,k,p)-coherence by Xu, Wang, Fu and Yu, "Anonymizing Transaction
 * Databases for Publication", KDD 2008.
 *
 * A mole is a set of at most p public items that occurs and whose cohort is smaller
 * than k or has a private item in more than h per cent.  Moles of one item go at once.
 * Longer minimal moles are gathered (a walk that meets every part of a set before the
 * set), and the public item with the largest MM(e) / IL(e) is suppressed until none is
 * left: minimal moles that it is in, by its occurrences.  Suppressing an item makes no
 * new mole.
 */
#include <string.h>

#include "itemsets/transactions.h"
#include "util/number.h"

typedef struct Moles
{
	const KanonTransactions *problem;
	const KanonRows *private_items;
	uint32_t *private_count; /* [nitems] zero between uses */
	KanonHit *hit;
	KanonPace *pace;
	KanonStatus status;
} Moles;

/* Has a private item more than h per cent of the places' transactions? */
static bool
breached(Moles *moles, const KanonPlace *places, uint32_t count)
{
	const KanonRows *rows = moles->private_items;
	bool over = false;

	for (int undo = 0; undo < 2; undo++)
		for (uint32_t i = 0; i < count; i++)
			for (size_t j = rows->start[places[i].row]; j < rows->start[places[i].row + 1]; j++)
			{
				uint32_t *with = &moles->private_count[rows->item[j]];

				if (undo)
					*with = 0;
				else if (kanon_exceeds_h(++*with, count, moles->problem->h))
					over = true;
			}
	if (kanon_stop(moles->pace, 2 * (uint64_t) count))
		moles->status = KANON_CANCELLED;
	return over;
}

static KanonVisit
note_mole(void *arg, const uint32_t *set, int size, const KanonPlace *places, uint32_t count)
{
	Moles *moles = arg;
	bool mole;

	if (kanon_hit_has_part(moles->hit, set, size))
		return KANON_VISIT_PRUNE;
	mole = count < moles->problem->k || (moles->problem->sensitive != NULL && breached(moles, places, count));
	if (mole && moles->status == KANON_OK)
		moles->status = kanon_hit_add(moles->hit, set, size);
	if (moles->status != KANON_OK || moles->hit->n >= KANON_HIT_MOST)
		return KANON_VISIT_STOP;
	return mole ? KANON_VISIT_PRUNE : KANON_VISIT_GO;
}

/* Ranks are items: those that are public and not suppressed, or the private ones. */
static KanonStatus
make_rows(Moles *moles, const bool *suppressed, bool private_items, uint32_t *rank, KanonRows *rows)
{
	const KanonTransactions *problem = moles->problem;

	for (uint32_t e = 0; e < problem->sets.nitems; e++)
	{
		bool is_private = problem->sensitive != NULL && problem->sensitive[e];

		rank[e] = is_private == private_items && !suppressed[e] ? e : KANON_NOTHING;
	}
	return kanon_rows_make(moles->pace, &problem->sets, NULL, rank, NULL, 0, rows);
}

KanonStatus
kanon_find_moles(const KanonTransactions *problem, KanonPace *pace, const bool *suppressed, int size,
				 KanonHit *hit, bool *complete, KanonReport *report)
{
	KanonEnv *env = problem->env;
	uint32_t *rank = kanon_alloc(env, problem->sets.nitems, sizeof(uint32_t));
	Moles moles = {.problem = problem, .hit = hit, .pace = pace};
	KanonRows rows = {0}, private_items = {0};
	KanonStatus status = KANON_NO_MEMORY;

	moles.private_count = kanon_alloc0(env, problem->sets.nitems, sizeof(uint32_t));
	moles.private_items = &private_items;
	if (rank != NULL && moles.private_count != NULL)
		status = make_rows(&moles, suppressed, false, rank, &rows);
	if (status == KANON_OK && problem->sensitive != NULL)
		status = make_rows(&moles, suppressed, true, rank, &private_items);
	for (int i = 1; i <= size && status == KANON_OK; i++)
		status = kanon_check_subsets(&rows, i, report);
	if (status == KANON_OK)
	{
		KanonWalk walk = {.pace = pace,
						  .nitems = problem->sets.nitems,
						  .nrows = rows.nrows,
						  .start = rows.start,
						  .item = rows.item,
						  .first = problem->sets.nitems,
						  .depth = size,
						  .places = problem->sensitive != NULL,
						  .below = (uint32_t) (problem->k < UINT32_MAX ? problem->k : UINT32_MAX),
						  .limit = UINT64_MAX,
						  .visit = note_mole,
						  .arg = &moles};

		status = kanon_walk_sets(&walk);
		*complete = !walk.stopped;
	}
	if (status == KANON_OK)
		status = moles.status;
	kanon_rows_free(env, &rows);
	kanon_rows_free(env, &private_items);
	kanon_free(env, moles.private_count);
	kanon_free(env, rank);
	return status;
}

/*
 * Suppresses until no mole of at most so many items is left.  How many rounds that takes is
 * not known: each is half of what is left of the phase.
 */
static KanonStatus
suppress_moles(const KanonTransactions *problem, KanonPace *pace, int size, const int64_t *loss,
			   bool *suppressed, KanonReport *report)
{
	KanonHit hit = {.scratch = {.env = problem->env}};
	bool complete = false;
	KanonStatus status = KANON_OK;

	while (status == KANON_OK && !complete)
	{
		kanon_hit_clear(&hit);
		kanon_pace_part(pace, pace->share, 1, 0, 2);
		status = kanon_find_moles(problem, pace, suppressed, size, &hit, &complete, report);
		if (status == KANON_OK)
			status = kanon_hit_suppress(&hit, pace, problem->sets.nitems, loss, suppressed);
		report->nodes += (int64_t) hit.n;
	}
	kanon_hit_free(&hit);
	return status;
}

static KanonStatus
fill_recoding(const KanonTransactions *problem, const bool *suppressed, const int64_t *occurs,
			  KanonRecoding *recoding, KanonReport *report)
{
	uint32_t nitems = problem->sets.nitems;
	int64_t gone = 0;

	recoding->shown = kanon_alloc(problem->env, nitems, sizeof(uint32_t));
	if (recoding->shown == NULL)
		return KANON_NO_MEMORY;
	for (uint32_t e = 0; e < nitems; e++)
	{
		recoding->shown[e] = suppressed[e] ? KANON_NOTHING : e;
		gone += suppressed[e] ? occurs[e] : 0;
	}
	report->cost = gone == 0 ? 0 : (double) gone / (double) problem->sets.start[problem->sets.ntransactions];
	return KANON_OK;
}

KanonStatus
kanon_recode_suppress(const KanonTransactions *problem, KanonRecoding *recoding, KanonReport *report)
{
	KanonEnv *env = problem->env;
	const KanonSets *sets = &problem->sets;
	KanonPace pace = kanon_pace(env, "solve");
	int64_t *loss = kanon_alloc0(env, sets->nitems, sizeof(int64_t));
	bool *suppressed = kanon_alloc0(env, sets->nitems, sizeof(bool));
	KanonStatus status = loss == NULL || suppressed == NULL ? KANON_NO_MEMORY : KANON_OK;

	for (size_t i = 0; i < sets->start[sets->ntransactions] && status == KANON_OK; i++)
		if (problem->sensitive == NULL || !problem->sensitive[sets->item[i]])
			loss[sets->item[i]]++;
	/* moles of one item go whatever else goes */
	if (status == KANON_OK)
		status = suppress_moles(problem, &pace, 1, loss, suppressed, report);
	if (status == KANON_OK && problem->m > 1)
		status = suppress_moles(problem, &pace, problem->m, loss, suppressed, report);
	if (status == KANON_OK)
		status = fill_recoding(problem, suppressed, loss, recoding, report);
	kanon_free(env, loss);
	kanon_free(env, suppressed);
	return status;
}

/*
 * ---- Which items to suppress so that none of some sets stays whole: the greedy
 * choice of Xu, Wang, Fu and Yu (KDD 2008), the largest MM(e) / IL(e), which is
 * Cao et al.'s payoff ratio, too.
 */

static uint64_t
hash_set(const uint32_t *set, int size)
{
	uint64_t hash = (uint64_t) size;

	for (int i = 0; i < size; i++)
		hash = kanon_hash_add(hash, set[i]);
	return hash;
}

static bool
same(const KanonHit *hit, uint32_t number, const uint32_t *set, int size)
{
	size_t from = hit->start[number];

	return hit->start[number + 1] - from == (size_t) size &&
		   memcmp(hit->item + from, set, sizeof(uint32_t) * (size_t) size) == 0;
}

static size_t
find_slot(const KanonHit *hit, const uint32_t *set, int size)
{
	size_t at = hash_set(set, size) & (hit->nslots - 1);

	while (hit->slot[at] != UINT32_MAX && !same(hit, hit->slot[at], set, size))
		at = (at + 1) & (hit->nslots - 1);
	return at;
}

bool
kanon_hit_has(const KanonHit *hit, const uint32_t *set, int size)
{
	return hit->n > 0 && hit->slot[find_slot(hit, set, size)] != UINT32_MAX;
}

bool
kanon_hit_has_part(const KanonHit *hit, const uint32_t *set, int size)
{
	uint32_t part[KANON_MAX_SET];

	for (uint32_t which = 1; which + 1 < UINT32_C(1) << size && hit->n > 0; which++)
	{
		int n = 0;

		for (int i = 0; i < size; i++)
			if (which >> i & 1)
				part[n++] = set[i];
		if (kanon_hit_has(hit, part, n))
			return true;
	}
	return false;
}

static KanonStatus
grow_slots(KanonHit *hit)
{
	size_t nslots = hit->nslots == 0 ? 64 : 2 * hit->nslots;
	uint32_t *slot = kanon_take(&hit->scratch, nslots, sizeof(uint32_t));

	if (slot == NULL)
		return KANON_NO_MEMORY;
	memset(slot, 0xff, nslots * sizeof(uint32_t));
	kanon_drop(&hit->scratch, hit->slot);
	hit->slot = slot;
	hit->nslots = nslots;
	for (size_t i = 0; i < hit->n; i++)
	{
		size_t from = hit->start[i];

		slot[find_slot(hit, hit->item + from, (int) (hit->start[i + 1] - from))] = (uint32_t) i;
	}
	return KANON_OK;
}

static KanonStatus
make_room(KanonHit *hit, int size)
{
	bool fresh = hit->start == NULL;

	if (!KANON_GROW(&hit->scratch, &hit->room, hit->n + 2, KANON_ARRAY(hit->start)) ||
		!KANON_GROW(&hit->scratch, &hit->item_room, hit->nitem + (size_t) size, KANON_ARRAY(hit->item)))
		return KANON_NO_MEMORY;
	if (fresh)
		hit->start[0] = 0;
	return 2 * (hit->n + 1) > hit->nslots ? grow_slots(hit) : KANON_OK;
}

KanonStatus
kanon_hit_add(KanonHit *hit, const uint32_t *set, int size)
{
	KanonStatus status = make_room(hit, size);
	size_t at;

	if (status != KANON_OK)
		return status;
	at = find_slot(hit, set, size);
	if (hit->slot[at] != UINT32_MAX)
		return KANON_OK;
	memcpy(hit->item + hit->nitem, set, sizeof(uint32_t) * (size_t) size);
	hit->nitem += (size_t) size;
	hit->slot[at] = (uint32_t) hit->n;
	hit->start[++hit->n] = hit->nitem;
	return KANON_OK;
}

void
kanon_hit_clear(KanonHit *hit)
{
	hit->n = hit->nitem = 0;
	if (hit->slot != NULL)
		memset(hit->slot, 0xff, hit->nslots * sizeof(uint32_t));
}

void
kanon_hit_free(KanonHit *hit)
{
	kanon_scratch_free(&hit->scratch);
	*hit = (KanonHit){.scratch = hit->scratch};
}

/* The sets of each item, and the number of those that are still whole. */
typedef struct Index
{
	size_t *start;   /* [nitems + 1] */
	uint32_t *set;   /* sets by item */
	uint32_t *whole; /* [nitems] */
	uint32_t *hits;  /* [n] items of the set that are suppressed here */
	uint32_t *order; /* [nitems] items in the order in which they went */
} Index;

static KanonStatus
index_open(Index *index, KanonHit *hit, uint32_t nitems)
{
	KanonScratch *scratch = &hit->scratch;

	index->start = kanon_take0(scratch, (size_t) nitems + 1, sizeof(size_t));
	index->set = kanon_take(scratch, hit->nitem, sizeof(uint32_t));
	index->whole = kanon_take0(scratch, nitems, sizeof(uint32_t));
	index->hits = kanon_take0(scratch, hit->n, sizeof(uint32_t));
	index->order = kanon_take(scratch, nitems, sizeof(uint32_t));
	if (scratch->failed)
		return KANON_NO_MEMORY;
	for (size_t i = 0; i < hit->nitem; i++)
	{
		index->start[hit->item[i] + 1]++;
		index->whole[hit->item[i]]++;
	}
	for (uint32_t e = 0; e < nitems; e++)
		index->start[e + 1] += index->start[e];
	for (size_t s = 0; s < hit->n; s++)
		for (size_t i = hit->start[s]; i < hit->start[s + 1]; i++)
			index->set[index->start[hit->item[i]]++] = (uint32_t) s;
	for (uint32_t e = nitems; e > 0; e--)
		index->start[e] = index->start[e - 1];
	index->start[0] = 0;
	return KANON_OK;
}

/* The item in most whole sets for its loss; of equal ones the least. */
static uint32_t
most_for_least(const Index *index, uint32_t nitems, const int64_t *loss)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t e = 0; e < nitems; e++)
	{
		if (index->whole[e] == 0)
			continue;
		if (best == UINT32_MAX ||
			(double) index->whole[e] * (double) loss[best] > (double) index->whole[best] * (double) loss[e])
			best = e;
	}
	return best;
}

/* From the last to the first: one all of whose sets have another one stays. */
static void
take_back(const Index *index, uint32_t n, bool *suppressed)
{
	while (n-- > 0)
	{
		uint32_t e = index->order[n];
		bool needed = false;

		for (size_t i = index->start[e]; i < index->start[e + 1] && !needed; i++)
			needed = index->hits[index->set[i]] == 1;
		if (needed)
			continue;
		suppressed[e] = false;
		for (size_t i = index->start[e]; i < index->start[e + 1]; i++)
			index->hits[index->set[i]]--;
	}
}

static KanonStatus
choose(const KanonHit *hit, Index *index, KanonPace *pace, uint32_t nitems, const int64_t *loss,
	   bool *suppressed)
{
	uint32_t n = 0;
	uint32_t e;

	while ((e = most_for_least(index, nitems, loss)) != UINT32_MAX)
	{
		suppressed[e] = true;
		index->order[n++] = e;
		for (size_t i = index->start[e]; i < index->start[e + 1]; i++)
		{
			uint32_t s = index->set[i];

			if (index->hits[s]++ == 0)
				for (size_t j = hit->start[s]; j < hit->start[s + 1]; j++)
					index->whole[hit->item[j]]--;
		}
		if (kanon_stop(pace, nitems + 4 * (index->start[e + 1] - index->start[e])))
			return KANON_CANCELLED;
	}
	take_back(index, n, suppressed);
	return KANON_OK;
}

KanonStatus
kanon_hit_suppress(KanonHit *hit, KanonPace *pace, uint32_t nitems, const int64_t *loss, bool *suppressed)
{
	Index index;
	size_t mark = kanon_mark(&hit->scratch);
	KanonStatus status = KANON_OK;

	if (hit->n == 0)
		return KANON_OK;
	status = index_open(&index, hit, nitems);
	if (status == KANON_OK)
		status = choose(hit, &index, pace, nitems, loss, suppressed);
	kanon_release(&hit->scratch, mark);
	return status;
}
