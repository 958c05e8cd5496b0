/*
 * differences.c: what two releases tell of each other, counted from hashes: how few came, went or changed alike.
 *
 * A first reading sums up the hashes of each class.  Classes of which the sum is the same in both releases have the same rows, and
 * only rows of the others are read again and compared.  If these are too many for the budget, they are compared by
 * shares of the persons, in several readings: memory is bounded, and time grows with the rows.
 *
 * A hash has 64 bits.  Two values that share one by chance could make the figure too large or too small, which is for the eye alone:
 * what protects histories compares values.
 */
#include "compat.h"
#include "core/util/number.h"
#include "host/border.h"
#include "host/gate.h"
#include "host/settings.h"
#include "series/differences.h"
#include "series/row_hashes.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* ---- classes ---- */

typedef struct Class
{
	uint64 look;
	char status;
	uint64 sum[2];
	int64 rows[2];
	uint64 main; /* the class that it has become; */
	int64 most;  /* how many of its persons are there; -1: it looks as it did */
} Class;

#define SH_PREFIX classes
#define SH_ELEMENT_TYPE Class
#define SH_KEY_TYPE uint64
#define SH_KEY look
#define SH_HASH_KEY(table, key) ((uint32) kanon_mix(key))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct Numbers
{
	uint64 *value;
	Size n, room;
} Numbers;

typedef struct Found
{
	RowHash item;
	int table;
} Found;

typedef struct Comparison
{
	HashedTables *tables;
	classes_hash *classes;
	uint64 share, shares; /* of persons, or of classes where there are none, at hand */
	bool persons;
	Found *found; /* rows of changed classes; in the first reading all, as long as there is room */
	Size nfound, room;
	bool all;
	int64 fewest;
	Numbers labels;
} Comparison;

static void
push(Numbers *numbers, uint64 value)
{
	if (numbers->n == numbers->room)
	{
		numbers->room = Max(1024, 2 * numbers->room);
		numbers->value = numbers->value == NULL
							 ? MemoryContextAllocHuge(CurrentMemoryContext, sizeof(uint64) * numbers->room)
							 : repalloc_huge(numbers->value, sizeof(uint64) * numbers->room);
	}
	numbers->value[numbers->n++] = value;
}

static void
push_found(Comparison *comparison, int table, const RowHash *item)
{
	if (comparison->nfound == comparison->room)
	{
		comparison->room = Max(1024, 2 * comparison->room);
		comparison->found =
			comparison->found == NULL
				? MemoryContextAllocHuge(CurrentMemoryContext, sizeof(Found) * comparison->room)
				: repalloc_huge(comparison->found, sizeof(Found) * comparison->room);
	}
	comparison->found[comparison->nfound++] = (Found){*item, table};
}

static void
sum_up(void *arg, int table, const RowHash *item)
{
	Comparison *comparison = arg;
	bool there;
	Class *class_ = classes_insert(comparison->classes, item->look, &there);

	if (!there)
	{
		memset(class_->sum, 0, sizeof(class_->sum));
		memset(class_->rows, 0, sizeof(class_->rows));
		class_->main = class_->most = 0;
	}
	class_->sum[table] += kanon_mix(hash_combine64(item->key, item->kept) + 1);
	class_->rows[table]++;
	comparison->all = comparison->all && (comparison->nfound + 1) * sizeof(Found) <= kanon_memory_limit() / 4;
	if (comparison->all)
		push_found(comparison, table, item);
}

static bool
is_changed(const Class *class_)
{
	return class_->sum[0] != class_->sum[1] || class_->rows[0] != class_->rows[1];
}

static void
collect(void *arg, int table, const RowHash *item)
{
	Comparison *comparison = arg;

	if ((comparison->persons ? item->key : item->look) % comparison->shares != comparison->share ||
		!is_changed(classes_lookup(comparison->classes, item->look)))
		return;
	push_found(comparison, table, item);
}

static int
compare_numbers(uint64 a, uint64 b)
{
	return a < b ? -1 : a > b;
}

/* By person, release and class. */
static int
compare_persons(const void *x, const void *y)
{
	const Found *a = x, *b = y;
	int by = compare_numbers(a->item.key, b->item.key);

	if (by == 0)
		by = a->table - b->table;
	if (by == 0)
		by = compare_numbers(a->item.look, b->item.look);
	return by != 0 ? by : compare_numbers(a->item.kept, b->item.kept);
}

/* By class and what is kept. */
static int
compare_kept(const void *x, const void *y)
{
	const Found *a = x, *b = y;
	int by = compare_numbers(a->item.look, b->item.look);

	return by != 0 ? by : compare_numbers(a->item.kept, b->item.kept);
}

static int
compare_values(const void *x, const void *y)
{
	return compare_numbers(*(const uint64 *) x, *(const uint64 *) y);
}

static void
collect_share(Comparison *comparison, uint64 share)
{
	Size n = comparison->nfound;

	comparison->share = share;
	comparison->nfound = 0;
	if (comparison->all)
	{
		/* (they move to the front, and none over one that is not looked at yet) */
		for (Size i = 0; i < n; i++)
		{
			Found found = comparison->found[i];

			collect(comparison, found.table, &found.item);
		}
	}
	else
		for (int t = 0; t < 2; t++)
			row_hashes_read(comparison->tables, t, collect, comparison);
	qsort(comparison->found, comparison->nfound, sizeof(Found),
		  comparison->persons ? compare_persons : compare_kept);
}

static void
begin_comparison(Comparison *comparison, HashedTables *tables, bool persons)
{
	classes_iterator iterator;
	const Class *class_;
	int64 rows = 0;

	memset(comparison, 0, sizeof(*comparison));
	comparison->tables = tables;
	comparison->persons = persons;
	comparison->classes = classes_create(CurrentMemoryContext, 1024, NULL);
	comparison->all = true;
	for (int t = 0; t < 2; t++)
		row_hashes_read(tables, t, sum_up, comparison);
	classes_start_iterate(comparison->classes, &iterator);
	while ((class_ = classes_iterate(comparison->classes, &iterator)) != NULL)
		rows += is_changed(class_) ? class_->rows[0] + class_->rows[1] : 0;
	comparison->shares =
		comparison->all ? 1 : 1 + (uint64) rows * sizeof(Found) / ((uint64) kanon_memory_limit() / 4 + 1);
}

/* The runs of equal values: the shortest, if it is shorter than `fewest` (0: there is none yet). */
static void
shortest_run(Numbers *labels, int64 *fewest)
{
	Size from = 0;

	qsort(labels->value, labels->n, sizeof(uint64), compare_values);
	for (Size i = 1; i <= labels->n; i++)
		if (i == labels->n || labels->value[i] != labels->value[from])
		{
			int64 n = (int64) (i - from);

			if (*fewest == 0 || n < *fewest)
				*fewest = n;
			from = i;
		}
}

/* ---- rows ---- */

/* One class, of which rows are sorted by what is kept. */
static void
compare_class(const Found *found, Size n, int64 *fewest)
{
	int64 gone = 0, new = 0, over = 0;

	for (Size i = 0; i < n; i++)
	{
		over += found[i].table == 0 ? 1 : -1;
		if (i + 1 < n && found[i + 1].item.kept == found[i].item.kept)
			continue;
		gone += Max(over, 0);
		new += Max(-over, 0);
		over = 0;
	}
	if (gone > 0 && (*fewest == 0 || gone < *fewest))
		*fewest = gone;
	if (new > 0 && (*fewest == 0 || new < *fewest))
		*fewest = new;
}

int64
differences_of_rows(Oid before, Oid after, List *classes, List *beside)
{
	HashedTables tables = {.relid = {before, after}, .secret = random_number()};
	Comparison comparison;

	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	gate_see_written();
	row_hashes_columns(&tables, &tables.look, classes);
	row_hashes_columns(&tables, &tables.kept, beside);
	begin_comparison(&comparison, &tables, false);
	for (uint64 share = 0; share < comparison.shares; share++)
	{
		Size from = 0;

		collect_share(&comparison, share);
		for (Size i = 1; i <= comparison.nfound; i++)
			if (i == comparison.nfound || comparison.found[i].item.look != comparison.found[from].item.look)
			{
				compare_class(comparison.found + from, i - from, &comparison.fewest);
				from = i;
			}
	}
	classes_destroy(comparison.classes);
	PopActiveSnapshot();
	return comparison.fewest;
}

/* ---- persons ---- */

/* A person's rows of one release in one class are one, with all that is kept; how many are left. */
static Size
join_rows(Found *found, Size n)
{
	Size joined = 0;

	for (Size i = 0; i < n; i++)
	{
		Found *last = joined > 0 ? &found[joined - 1] : NULL;

		if (last != NULL && last->table == found[i].table && last->item.look == found[i].item.look &&
			last->item.key == found[i].item.key)
			last->item.kept = last->item.kept == 0 && found[i].item.kept == 0
								  ? 0
								  : kanon_mix(hash_combine64(last->item.kept, found[i].item.kept));
		else
			found[joined++] = found[i];
	}
	return joined;
}

/* Persons in a pair of classes, before and after, as `one, two, one, two, …`. */
static void
note_pairs(const Found *found, Size n, Numbers *pairs)
{
	for (Size i = 0; i < n && found[i].table == 0; i++)
		for (Size j = i + 1; j < n; j++)
			if (found[j].table == 1)
			{
				push(pairs, found[i].item.look);
				push(pairs, found[j].item.look);
			}
}

static int
compare_pairs(const void *x, const void *y)
{
	const uint64 *a = x, *b = y;

	return a[0] != b[0] ? compare_numbers(a[0], b[0]) : compare_numbers(a[1], b[1]);
}

/* A class becomes the one that looks the same, or else the one that most of its persons are in. */
static void
count_pairs(Comparison *comparison, Numbers *pairs)
{
	Size n = pairs->n / 2, from = 0;

	qsort(pairs->value, n, 2 * sizeof(uint64), compare_pairs);
	for (Size i = 1; i <= n; i++)
	{
		const uint64 *pair = pairs->value + 2 * from;
		Class *class_;

		if (i < n && compare_pairs(pair, pairs->value + 2 * i) == 0)
			continue;
		class_ = classes_lookup(comparison->classes, pair[0]);
		if (class_->most >= 0 && (pair[0] == pair[1] || (int64) (i - from) > class_->most))
		{
			class_->main = pair[1];
			class_->most = pair[0] == pair[1] ? -1 : (int64) (i - from);
		}
		from = i;
	}
	pairs->n = 0;
}

/* Persons of changed classes who are in an unchanged one, too: they have neither joined nor left. */
typedef struct Others
{
	Comparison *comparison;
	Numbers *keys; /* sorted */
	bool *there;
} Others;

static void
look_elsewhere(void *arg, int table, const RowHash *item)
{
	Others *others = arg;
	const uint64 *key;

	if (is_changed(classes_lookup(others->comparison->classes, item->look)))
		return;
	key = others->keys->n == 0
			  ? NULL
			  : bsearch(&item->key, others->keys->value, others->keys->n, sizeof(uint64), compare_values);
	if (key != NULL)
		others->there[key - others->keys->value] = true;
}

/* One person: labels of what became of each. */
static void
label_person(Comparison *comparison, const Found *found, Size n, bool elsewhere)
{
	Size nbefore = 0;
	uint64 moved = 0;
	bool some = false;

	while (nbefore < n && found[nbefore].table == 0)
		nbefore++;
	if (!elsewhere && (nbefore == 0 || nbefore == n))
	{
		for (Size i = 0; i < n; i++)
			push(&comparison->labels, kanon_mix(found[i].item.look + (nbefore == 0 ? 1 : 2)));
		return;
	}
	for (Size i = 0; i < n; i++)
	{
		bool stays = false;

		for (Size j = i < nbefore ? nbefore : 0; j < (i < nbefore ? n : nbefore) && !stays; j++)
		{
			const Found *one = &found[Min(i, j)], *two = &found[Max(i, j)];
			const Class *class_ = classes_lookup(comparison->classes, one->item.look);

			stays = class_->most != 0 && class_->main == two->item.look;
			if (stays && i < nbefore && one->item.kept != two->item.kept)
				push(&comparison->labels, kanon_mix(hash_combine64(one->item.look, two->item.look) + 4));
		}
		if (stays)
			continue;
		moved = kanon_mix(hash_combine64(moved, found[i].item.look) + (i < nbefore ? 1 : 2));
		some = true;
	}
	if (some)
		push(&comparison->labels, kanon_mix(moved + 3));
}

typedef void (*TakePerson)(Comparison *comparison, const Found *found, Size n, void *arg);

static void
each_person(Comparison *comparison, TakePerson take, void *arg)
{
	Size from = 0;

	for (Size i = 1; i <= comparison->nfound; i++)
		if (i == comparison->nfound || comparison->found[i].item.key != comparison->found[from].item.key)
		{
			take(comparison, comparison->found + from, i - from, arg);
			from = i;
		}
}

static void
take_pairs(Comparison *comparison, const Found *found, Size n, void *arg)
{
	note_pairs(found, n, arg);
}

static void
take_key(Comparison *comparison, const Found *found, Size n, void *arg)
{
	if (found[0].table == 1 || found[n - 1].table == 0)
		push(arg, found[0].item.key);
}

static void
take_labels(Comparison *comparison, const Found *found, Size n, void *arg)
{
	const Others *others = arg;
	const uint64 *key = others->keys->n == 0 ? NULL
											 : bsearch(&found[0].item.key, others->keys->value,
													   others->keys->n, sizeof(uint64), compare_values);

	label_person(comparison, found, n, key != NULL && others->there[key - others->keys->value]);
}

static void
label_share(Comparison *comparison)
{
	Numbers keys = {0};
	Others others = {comparison, &keys, NULL};

	each_person(comparison, take_key, &keys);
	qsort(keys.value, keys.n, sizeof(uint64), compare_values);
	others.there = palloc_extended(Max(keys.n, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	/* (an unchanged class has the same persons in both) */
	if (keys.n > 0)
		row_hashes_read(comparison->tables, 1, look_elsewhere, &others);
	each_person(comparison, take_labels, &others);
	pfree(others.there);
	if (keys.value != NULL)
		pfree(keys.value);
}

int64
differences_of_persons(Oid before, Oid after)
{
	HashedTables tables = {.relid = {before, after}, .secret = random_number()};
	Comparison comparison;
	Numbers pairs = {0};

	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	gate_see_written();
	row_hashes_columns(&tables, &tables.look, list_make1("look"));
	row_hashes_columns(&tables, &tables.key, list_make1("key"));
	row_hashes_columns(&tables, &tables.kept, list_make1("kept"));
	begin_comparison(&comparison, &tables, true);
	for (uint64 share = 0; share < comparison.shares; share++)
	{
		collect_share(&comparison, share);
		comparison.nfound = join_rows(comparison.found, comparison.nfound);
		each_person(&comparison, take_pairs, &pairs);
	}
	count_pairs(&comparison, &pairs);
	for (uint64 share = 0; share < comparison.shares; share++)
	{
		if (comparison.shares > 1)
		{
			collect_share(&comparison, share);
			comparison.nfound = join_rows(comparison.found, comparison.nfound);
		}
		label_share(&comparison);
	}
	shortest_run(&comparison.labels, &comparison.fewest);
	classes_destroy(comparison.classes);
	PopActiveSnapshot();
	return comparison.fewest;
}
