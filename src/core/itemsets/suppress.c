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
#include "itemsets/transactions.h"

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
