/*
 * recount.c: what a table of sets keeps, counted from the table alone.
 *
 * The methods walk sets depth first by occurrence deliver; this counts each size of
 * sets in a hash table, for as many least items at a time as fit, and rules by
 * intersecting lists of transactions (Zaki, "Scalable Algorithms for Association
 * Mining", TKDE 12, 2000).  Nothing is shared with them but memory and polls.
 */
#include <stdio.h>
#include <string.h>

#include "itemsets/transactions.h"
#include "util/pace.h"
#include "util/number.h"
#include "util/scratch.h"

/* Occurrences of sets that are counted in one table, and in all. */
#ifndef RECOUNT_CHUNK
#define RECOUNT_CHUNK 4000000
#endif
#define RECOUNT_MOST 1e11

/* Sets on the left of rules that are gone through. */
#ifndef RECOUNT_RULES
#define RECOUNT_RULES INT64_C(2000000000)
#endif

typedef struct Count
{
	KanonScratch scratch; /* of the table */
	KanonPace pace;
	const KanonSets *sets;
	const bool *sensitive;
	int size;
	uint32_t *key; /* [room * width] sets; with a private item after them when width > size */
	uint32_t *count;
	uint32_t *slot;
	uint32_t n;
	uint32_t room;
	uint32_t nslots; /* a power of two, at least twice n */
	bool *hangs;     /* [ntransactions] has a set with the smallest support */
	KanonStatus status;
} Count;

static bool
is_public(const Count *count, uint32_t item)
{
	return count->sensitive == NULL || !count->sensitive[item];
}

static uint32_t
slot_of(const Count *count, const uint32_t *key)
{
	int width = count->size + 1;
	uint64_t hash = 0;
	uint32_t at;

	for (int i = 0; i < width; i++)
		hash = kanon_hash_add(hash, key[i]);
	at = (uint32_t) hash & (count->nslots - 1);
	while (count->slot[at] != UINT32_MAX && memcmp(count->key + (size_t) count->slot[at] * (size_t) width,
												   key, sizeof(uint32_t) * (size_t) width) != 0)
		at = (at + 1) & (count->nslots - 1);
	return at;
}

static bool
enlarge(Count *count)
{
	size_t width = (size_t) count->size + 1;
	size_t room = count->room;
	KanonArray arrays[] = {{&count->key, width * sizeof(uint32_t)}, KANON_ARRAY(count->count)};

	if (room > UINT32_MAX / 16 || !kanon_grow(&count->scratch, &room, 2 * room + 1024, arrays, 2))
		return false;
	kanon_drop(&count->scratch, count->slot);
	count->room = (uint32_t) room;
	for (count->nslots = 1024; count->nslots < 2 * room;)
		count->nslots *= 2;
	count->slot = kanon_take(&count->scratch, count->nslots, sizeof(uint32_t));
	if (count->slot == NULL)
		return false;
	memset(count->slot, 0xff, sizeof(uint32_t) * count->nslots);
	for (uint32_t i = 0; i < count->n; i++)
		count->slot[slot_of(count, count->key + i * width)] = i;
	return true;
}

/* One more occurrence of a set, or of a set with a private item. */
static void
add(Count *count, const uint32_t *key)
{
	size_t width = (size_t) count->size + 1;
	uint32_t at;

	if (count->status == KANON_OK && count->n == count->room && !enlarge(count))
		count->status = KANON_NO_MEMORY;
	/* after a failure there may be no slots */
	if (count->status != KANON_OK)
		return;
	at = slot_of(count, key);
	if (count->slot[at] == UINT32_MAX)
	{
		memcpy(count->key + count->n * width, key, sizeof(uint32_t) * width);
		count->count[count->n] = 0;
		count->slot[at] = count->n++;
	}
	count->count[count->slot[at]]++;
}

/* The action for each set of a transaction. */
typedef void (*EachSet)(Count *count, uint32_t transaction, uint32_t *key);

static void
count_set(Count *count, uint32_t transaction, uint32_t *key)
{
	const KanonSets *sets = count->sets;

	key[count->size] = UINT32_MAX;
	add(count, key);
	if (count->sensitive == NULL)
		return;
	for (size_t i = sets->start[transaction]; i < sets->start[transaction + 1]; i++)
		if (count->sensitive[sets->item[i]])
		{
			key[count->size] = sets->item[i];
			add(count, key);
		}
}

/* Does the transaction have a set with support `room` (the smallest)?  See tally. */
static void
mark_set(Count *count, uint32_t transaction, uint32_t *key)
{
	uint32_t at;

	key[count->size] = UINT32_MAX;
	at = slot_of(count, key);
	if (count->slot[at] != UINT32_MAX && count->count[count->slot[at]] == 0)
		count->hangs[transaction] = true;
}

/* Every set of the transaction that has its first `at` items in key; the next is from place `from` on. */
static void
each_set(Count *count, uint32_t transaction, size_t from, int at, uint32_t low, uint32_t high, uint32_t *key,
		 EachSet each)
{
	const KanonSets *sets = count->sets;

	if (at == count->size)
	{
		each(count, transaction, key);
		if (kanon_stop(&count->pace, 16) && count->status == KANON_OK)
			count->status = KANON_CANCELLED;
		return;
	}
	for (size_t i = from; i < sets->start[transaction + 1] && count->status == KANON_OK; i++)
	{
		if (!is_public(count, sets->item[i]) || (at == 0 && sets->item[i] < low))
			continue;
		if (at == 0 && sets->item[i] >= high)
			break;
		key[at] = sets->item[i];
		each_set(count, transaction, i + 1, at + 1, low, high, key, each);
	}
}

/* All sets whose least item is from low on and below high. */
static void
each_set_between(Count *count, uint32_t low, uint32_t high, EachSet each)
{
	uint32_t key[KANON_MAX_SET + 1];

	for (uint32_t t = 0; t < count->sets->ntransactions && count->status == KANON_OK; t++)
	{
		each_set(count, t, count->sets->start[t], 0, low, high, key, each);
		if (kanon_stop(&count->pace, count->sets->start[t + 1] - count->sets->start[t] + 1))
			count->status = KANON_CANCELLED;
	}
}

static double
choose(double n, int size)
{
	double ways = n < size ? 0 : 1;

	for (int i = 0; i < size; i++)
		ways *= (n - i) / (i + 1);
	return ways;
}

/* How many sets, by their least item; all together. */
static double
weigh(const Count *count, double *weight)
{
	const KanonSets *sets = count->sets;
	double sum = 0;

	for (uint32_t t = 0; t < sets->ntransactions; t++)
	{
		double after = 0;
		double private_items = 0;

		for (size_t i = sets->start[t]; i < sets->start[t + 1]; i++)
			private_items += !is_public(count, sets->item[i]);
		for (size_t i = sets->start[t + 1]; i-- > sets->start[t];)
		{
			double ways;

			if (!is_public(count, sets->item[i]))
				continue;
			ways = choose(after, count->size - 1) * (1 + private_items);
			weight[sets->item[i]] += ways;
			sum += ways;
			after++;
		}
	}
	return sum;
}

static bool
lesser_set(const uint32_t *a, const uint32_t *b, int size)
{
	for (int i = 0; i < size; i++)
		if (a[i] != b[i])
			return a[i] < b[i];
	return false;
}

/* A set's count goes into what is known of its size; of equal ones the least set is told. */
static void
tally_set(KanonSupport *support, const uint32_t *set, int size, uint32_t count, int64_t k, bool *again)
{
	bool smaller = support->smallest == 0 || count < support->smallest;

	support->sets++;
	support->below += count < k;
	if (smaller || (count == support->smallest && lesser_set(set, support->set, size)))
		memcpy(support->set, set, sizeof(uint32_t) * (size_t) size);
	if (smaller)
	{
		support->smallest = count;
		*again = true;
	}
}

/* The cohort with the larger share; of equal ones the larger, then the least set and item. */
static void
tally_cohort(KanonSupport *support, const uint32_t *set, int size, int64_t cohort, int64_t with,
			 uint32_t item)
{
	int64_t left = with * (support->worst_cohort > 0 ? support->worst_cohort : 1);
	int64_t right = support->worst_with * cohort;
	bool worse = support->worst_cohort == 0 || left > right;

	if (!worse && left == right)
		worse = cohort != support->worst_cohort
					? cohort > support->worst_cohort
					: lesser_set(set, support->worst_set, size) ||
						  (!lesser_set(support->worst_set, set, size) && item < support->worst_item);
	if (!worse)
		return;
	support->worst_cohort = cohort;
	support->worst_with = with;
	support->worst_item = item;
	memcpy(support->worst_set, set, sizeof(uint32_t) * (size_t) size);
}

/* Adds up a table; then counts of sets with the smallest support are made 0, for mark_set. */
static void
tally(Count *count, int64_t k, KanonSupport *support)
{
	size_t width = (size_t) count->size + 1;
	uint32_t key[KANON_MAX_SET + 1];
	bool again = false;

	for (uint32_t i = 0; i < count->n; i++)
	{
		const uint32_t *with = count->key + i * width;

		if (with[count->size] == UINT32_MAX)
		{
			tally_set(support, with, count->size, count->count[i], k, &again);
			if (count->sensitive != NULL)
				tally_cohort(support, with, count->size, count->count[i], 0, KANON_NOTHING);
			continue;
		}
		memcpy(key, with, sizeof(uint32_t) * width);
		key[count->size] = UINT32_MAX;
		tally_cohort(support, with, count->size, count->count[count->slot[slot_of(count, key)]],
					 count->count[i], with[count->size]);
	}
	if (again)
		memset(count->hangs, 0, sizeof(bool) * count->sets->ntransactions);
	for (uint32_t i = 0; i < count->n; i++)
		if (count->count[i] == support->smallest)
			count->count[i] = 0;
}

/* The next items whose sets fit one table, from low on. */
static uint32_t
chunk_end(const Count *count, const double *weight, uint32_t low)
{
	double sum = 0;
	uint32_t high = low;

	do
		sum += weight[high++];
	while (high < count->sets->nitems && sum + weight[high] <= RECOUNT_CHUNK);
	return high;
}

/* Is the size within bounds?  weight: how many sets there are, by their least item. */
static KanonStatus
check_size(const Count *count, double *weight, KanonReport *report)
{
	double sum;

	for (uint32_t i = 0; i < count->sets->nitems; i++)
		weight[i] = 0;
	sum = weigh(count, weight);
	if (sum <= RECOUNT_MOST)
		return KANON_OK;
	snprintf(report->detail, sizeof(report->detail), "Sets of %d items occur %.3g times, more than %.0g.",
			 count->size, sum, RECOUNT_MOST);
	return KANON_TOO_LARGE;
}

static KanonStatus
count_size(Count *count, double *weight, int64_t k, KanonSupport *support, KanonReport *report)
{
	KanonStatus status = check_size(count, weight, report);

	if (status != KANON_OK)
		return status;
	for (uint32_t low = 0, high; low < count->sets->nitems && count->status == KANON_OK; low = high)
	{
		high = chunk_end(count, weight, low);
		count->n = 0;
		if (count->slot != NULL)
			memset(count->slot, 0xff, sizeof(uint32_t) * (size_t) count->nslots);
		each_set_between(count, low, high, count_set);
		if (count->status != KANON_OK || count->n == 0)
			continue;
		tally(count, k, support);
		each_set_between(count, low, high, mark_set);
	}
	for (uint32_t t = 0; t < count->sets->ntransactions; t++)
		support->transactions += count->hangs[t];
	return count->status;
}

static void
forget(Count *count)
{
	kanon_scratch_free(&count->scratch);
	count->key = count->count = count->slot = NULL;
	count->n = count->room = count->nslots = 0;
}

KanonStatus
kanon_recount_supports(KanonEnv *env, const KanonSets *sets, const bool *sensitive, int m, int64_t k,
					   KanonSupport *supports, KanonReport *report)
{
	Count count = {
		.scratch = {.env = env}, .pace = kanon_pace(env, "count"), .sets = sets, .sensitive = sensitive};
	double *weight = kanon_alloc(env, sets->nitems, sizeof(double));
	KanonStatus status = weight == NULL ? KANON_NO_MEMORY : KANON_OK;

	if (status == KANON_OK && (count.hangs = kanon_alloc(env, sets->ntransactions, sizeof(bool))) == NULL)
		status = KANON_NO_MEMORY;
	for (count.size = 1; count.size <= m && status == KANON_OK; count.size++)
		status = check_size(&count, weight, report);
	for (int size = 1; size <= m && status == KANON_OK; size++)
	{
		supports[size - 1] = (KanonSupport){0};
		memset(count.hangs, 0, sizeof(bool) * sets->ntransactions);
		count.size = size;
		count.pace.share = (size - 1) / (double) m;
		status = count_size(&count, weight, k, &supports[size - 1], report);
		forget(&count); /* keys of the next size are wider */
	}
	kanon_free(env, weight);
	kanon_free(env, count.hangs);
	return status;
}

/* Transactions that have the items on the left of a rule, and one more item. */
typedef struct List
{
	uint32_t item;
	uint32_t n;
	uint32_t *tid; /* ascending */
} List;

typedef struct Search
{
	KanonEnv *env;
	KanonPace pace;
	const KanonSets *sets;
	const bool *sensitive;
	uint32_t *with; /* [nitems] zero between uses */
	bool *left;     /* [nitems] on the left */
	uint32_t stack[KANON_MAX_KNOWN];
	KanonRuleFound *worst;
	KanonReport *report;
	int64_t sets_left;
	bool certain; /* a rule of confidence 1 was found: none is worse */
} Search;

static void
note_worst(KanonRuleFound *worst, int64_t cohort, int64_t with, const uint32_t *left, int known,
		   uint32_t item)
{
	int told = known < KANON_MAX_KNOWN ? known : KANON_MAX_KNOWN;

	if (worst->cohort > 0 && with * worst->cohort <= worst->with * cohort)
		return;
	worst->cohort = cohort;
	worst->with = with;
	worst->known = known;
	worst->item = item;
	for (int i = 0; i < told; i++)
		worst->left[i] = left[i];
}

/* The rules that the transactions of a left side give; is there any private item in them? */
static bool
weigh_rules(Search *search, const uint32_t *tid, uint32_t n, int known)
{
	const KanonSets *sets = search->sets;
	bool any = false;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < n; i++)
			for (size_t j = sets->start[tid[i]]; j < sets->start[tid[i] + 1]; j++)
			{
				uint32_t item = sets->item[j];

				if (!search->sensitive[item] || search->left[item])
					continue;
				any = true;
				if (pass == 0)
					search->with[item]++;
				else if (search->with[item] > 0)
				{
					note_worst(search->worst, n, search->with[item], search->stack, known, item);
					search->with[item] = 0;
				}
			}
	search->certain = search->worst->cohort > 0 && search->worst->with == search->worst->cohort;
	return any;
}

static uint32_t
intersect(const List *a, const List *b, uint32_t *into)
{
	uint32_t i = 0, j = 0, n = 0;

	while (i < a->n && j < b->n)
	{
		if (a->tid[i] == b->tid[j])
		{
			into[n++] = a->tid[i];
			i++;
			j++;
		}
		else if (a->tid[i] < b->tid[j])
			i++;
		else
			j++;
	}
	return n;
}

static KanonStatus go_through(Search *search, const List *lists, uint32_t nlists, int known);

/* The left sides that begin with the one of lists[at]. */
static KanonStatus
extend_left(Search *search, const List *lists, uint32_t nlists, uint32_t at, int known)
{
	const List *list = &lists[at];
	List *next;
	uint32_t nnext = 0;
	KanonStatus status = KANON_OK;

	if (search->sets_left-- == 0)
	{
		snprintf(search->report->detail, sizeof(search->report->detail),
				 "More than "
				 "%lld"
				 " sets of items occur together with private items.",
				 (long long) RECOUNT_RULES);
		return KANON_TOO_LARGE;
	}
	search->left[list->item] = true;
	if (known <= KANON_MAX_KNOWN)
		search->stack[known - 1] = list->item;
	next = kanon_alloc(search->env, nlists - at, sizeof(List));
	if (next == NULL)
		status = KANON_NO_MEMORY;
	if (status == KANON_OK && weigh_rules(search, list->tid, list->n, known) && !search->certain)
		for (uint32_t j = at + 1; j < nlists && status == KANON_OK; j++)
		{
			uint32_t room = list->n < lists[j].n ? list->n : lists[j].n;
			uint32_t *tid = kanon_alloc(search->env, room, sizeof(uint32_t));
			uint32_t n = tid == NULL ? 0 : intersect(list, &lists[j], tid);

			if (tid == NULL)
				status = KANON_NO_MEMORY;
			else if (kanon_stop(&search->pace, (uint64_t) list->n + lists[j].n))
				status = KANON_CANCELLED;
			/* what all of them have tells no more than they do */
			if (status == KANON_OK && n > 0 && n < list->n)
				next[nnext++] = (List){lists[j].item, n, tid};
			else
				kanon_free(search->env, tid);
		}
	if (status == KANON_OK)
		status = go_through(search, next, nnext, known + 1);
	for (uint32_t j = 0; j < nnext; j++)
		kanon_free(search->env, next[j].tid);
	kanon_free(search->env, next);
	search->left[list->item] = false;
	return status;
}

static KanonStatus
go_through(Search *search, const List *lists, uint32_t nlists, int known)
{
	KanonStatus status = KANON_OK;

	for (uint32_t i = 0; i < nlists && status == KANON_OK && !search->certain; i++)
		status = extend_left(search, lists, nlists, i, known);
	return status;
}

/* The lists of single items, in env's memory. */
static KanonStatus
list_items(Search *search, List *lists, uint32_t **tids)
{
	const KanonSets *sets = search->sets;
	uint32_t *next;

	*tids = kanon_alloc(search->env, sets->start[sets->ntransactions], sizeof(uint32_t));
	if (*tids == NULL)
		return KANON_NO_MEMORY;
	next = *tids;
	for (size_t i = 0; i < sets->start[sets->ntransactions]; i++)
		lists[sets->item[i]].n++;
	for (uint32_t i = 0; i < sets->nitems; i++)
	{
		lists[i].item = i;
		lists[i].tid = next;
		next += lists[i].n;
		lists[i].n = 0;
	}
	for (uint32_t t = 0; t < sets->ntransactions; t++)
	{
		for (size_t i = sets->start[t]; i < sets->start[t + 1]; i++)
			lists[sets->item[i]].tid[lists[sets->item[i]].n++] = t;
		if (kanon_stop(&search->pace, sets->start[t + 1] - sets->start[t] + 1))
			return KANON_CANCELLED;
	}
	return KANON_OK;
}

KanonStatus
kanon_recount_rules(KanonEnv *env, const KanonSets *sets, const bool *sensitive, KanonRuleFound *worst,
					KanonReport *report)
{
	KanonScratch scratch = {.env = env};
	Search search = {.env = env,
					 .pace = kanon_pace(env, "count"),
					 .sets = sets,
					 .sensitive = sensitive,
					 .with = kanon_take0(&scratch, sets->nitems, sizeof(uint32_t)),
					 .left = kanon_take0(&scratch, sets->nitems, sizeof(bool)),
					 .worst = worst,
					 .report = report,
					 .sets_left = RECOUNT_RULES};
	List *lists = kanon_take0(&scratch, sets->nitems, sizeof(List));
	uint32_t *tids = NULL;
	KanonStatus status = kanon_taken(&scratch);

	*worst = (KanonRuleFound){0};
	if (status == KANON_OK)
		status = list_items(&search, lists, &tids);
	for (uint32_t i = 0; i < sets->nitems && status == KANON_OK; i++)
		if (sensitive[i] && lists[i].n > 0)
			note_worst(worst, sets->ntransactions, lists[i].n, search.stack, 0, i);
	if (status == KANON_OK)
		status = go_through(&search, lists, sets->nitems, 1);
	kanon_free(env, tids);
	kanon_scratch_free(&scratch);
	return status;
}
