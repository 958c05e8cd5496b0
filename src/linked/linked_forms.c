/*
 * linked_forms.c: combinations of rows that one person has, each written down in one form and counted, in each class.
 */
#include "compat.h"
#include "core/privacy/rules.h"
#include "linked/linked_recount.h"

#include "common/hashfn.h"
#include "miscadmin.h"

/* Words of the combinations of one class. */
#define CLASS_WORDS (INT64CONST(1) << 30)

/* The end of a row's form, and the mark for values that are not known. */
#define END PG_UINT32_MAX
#define UNKNOWN (PG_UINT32_MAX - 1)

/* This bit of a table's word marks the row that is looked at. */
#define MARKED (UINT32_C(1) << 31)

/* Do the values of all rows that may be the one keep the rules?  (Of one person a row counts once.) */
static bool
keeps_rules(const Recount *recount, const RecountForm *form)
{
	const KanonProblem *ruled = &recount->tables[form->marked].ruled;
	uint32 *rows;
	Size n = 0;
	bool kept;

	for (uint32 at = form->known; at > 0; at = recount->knowns[at - 1].before)
		n++;
	rows = palloc_extended(sizeof(uint32) * n, MCXT_ALLOC_HUGE);
	n = 0;
	for (uint32 at = form->known; at > 0; at = recount->knowns[at - 1].before)
		rows[n++] = recount->knowns[at - 1].row;
	kept = kanon_privacy_allows(ruled, rows, NULL, n, true, NULL);
	if (kanon_privacy_failed(ruled->privacy))
		border_check(recount->border, KANON_NO_MEMORY, "");
	pfree(rows);
	return kept;
}

/* ---- forms ---- */

static void
put_word(Recount *recount, uint32 word)
{
	if (recount->nwords >= CLASS_WORDS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("one class of persons has more combinations of rows than can be counted"),
						errhint("Lower known_rows, or bound the rows of a person by max_rows.")));
	recount->words = border_grow(recount->border, recount->words, &recount->word_room, recount->nwords + 1,
								 sizeof(uint32));
	recount->words[recount->nwords++] = word;
}

static int
compare_words(const uint32 *a, Size n, const uint32 *b, Size m)
{
	for (Size i = 0; i < n && i < m; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return n < m ? -1 : n > m;
}

/* Parts of the words from `from` on, each of them sorted in among those before it. */
static void
sort_part(Recount *recount, Size from, Size last)
{
	Size length = recount->nwords - last, at = from;
	uint32 *part;

	/* where the first part begins that is not less */
	while (at < last)
	{
		Size end = at;
		int depth = 0;

		do
		{
			depth += recount->words[end] == END ? -1 : 1;
			end += recount->words[end] == END ? 1 : 2;
		} while (depth > 0);
		if (compare_words(recount->words + at, end - at, recount->words + last, length) >= 0)
			break;
		at = end;
	}
	if (at == last)
		return;
	part = palloc(sizeof(uint32) * length);
	memcpy(part, recount->words + last, sizeof(uint32) * length);
	memmove(recount->words + at + length, recount->words + at, sizeof(uint32) * (last - at));
	memcpy(recount->words + at, part, sizeof(uint32) * length);
	pfree(part);
}

/* Table, what is shown, what hangs on it in one order, the end: of all rows inside that hang on this one. */
static void
write_rows(Recount *recount, int above)
{
	Size from = recount->nwords;

	for (int at = 0; at < recount->ninside; at++)
	{
		int i = recount->list[at];
		const RecountRow *row = &recount->own[i];
		Size last = recount->nwords;

		if (row->above != above)
			continue;
		put_word(recount, (uint32) row->table | (i == recount->marked ? MARKED : 0));
		put_word(recount, recount->chosen[i] ? recount->tables[row->table].tuple[row->number] : UNKNOWN);
		write_rows(recount, i);
		put_word(recount, END);
		sort_part(recount, from, last);
	}
}

static uint32 *
find_slot(Recount *recount, const RecountForm *form)
{
	Size at = form->hash & (recount->nslots - 1);

	for (; recount->slots[at] != 0; at = (at + 1) & (recount->nslots - 1))
	{
		const RecountForm *other = &recount->forms[recount->slots[at] - 1];

		if (other->hash == form->hash && compare_words(recount->words + other->at, other->words,
													   recount->words + form->at, form->words) == 0)
			break;
	}
	return &recount->slots[at];
}

static void
grow_slots(Recount *recount)
{
	recount->nslots = Max(2 * recount->nslots, 1024);
	recount->slots =
		border_grow(recount->border, recount->slots, &recount->slot_room, recount->nslots, sizeof(uint32));
	memset(recount->slots, 0, sizeof(uint32) * recount->nslots);
	for (Size i = 0; i < recount->nforms; i++)
		*find_slot(recount, &recount->forms[i]) = (uint32) i + 1;
}

/* The form that has been written last: of how many persons it is. */
static RecountForm *
count_form(Recount *recount, Size at)
{
	RecountForm form = {
		.at = at, .words = (uint32) (recount->nwords - at), .persons = 1, .last = recount->at};
	uint32 *slot;

	form.hash =
		hash_bytes((const unsigned char *) (recount->words + at), (int) (form.words * sizeof(uint32)));
	if (2 * (recount->nforms + 1) > recount->nslots)
		grow_slots(recount);
	slot = find_slot(recount, &form);
	if (*slot != 0)
	{
		RecountForm *known = &recount->forms[*slot - 1];

		known->noted = known->noted && known->last == recount->at;
		known->persons += known->last != recount->at;
		known->last = recount->at;
		recount->nwords = at;
		return known;
	}
	recount->forms = border_grow(recount->border, recount->forms, &recount->form_room, recount->nforms + 1,
								 sizeof(RecountForm));
	recount->forms[recount->nforms++] = form;
	*slot = (uint32) recount->nforms;
	return &recount->forms[recount->nforms - 1];
}

static void
add_known(Recount *recount, RecountForm *form, uint32 row)
{
	recount->knowns = border_grow(recount->border, recount->knowns, &recount->known_room, recount->nknown + 1,
								  sizeof(RecountKnown));
	recount->knowns[recount->nknown++] = (RecountKnown){row, form->known};
	form->known = (uint32) recount->nknown;
}

static void
put_form(Recount *recount)
{
	Size at = recount->nwords;
	RecountForm *form;

	write_rows(recount, -1);
	form = count_form(recount, at);
	if (form->noted || recount->sort == NULL)
		return;
	add_known(recount, form, recount->at);
	form->noted = true;
}

/* The same of each row that is known and whose values have rules. */
static void
put_known(Recount *recount)
{
	for (int place = 0; place < recount->ninside; place++)
	{
		int i = recount->list[place];
		const RecountRow *row = &recount->own[i];
		Size at = recount->nwords;
		RecountForm *form;

		if (!recount->chosen[i] || recount->tables[row->table].nvalues == 0)
			continue;
		recount->marked = i;
		write_rows(recount, -1);
		form = count_form(recount, at);
		form->marked = row->table;
		add_known(recount, form, row->number);
	}
	recount->marked = -1;
}

/* Copies are known with what they are copies for, and those of the person always are. */
static void
take_copies(Recount *recount)
{
	bool any = false;

	for (int t = 0; t < recount->n; t++)
		any = any || recount->tables[t].copied;
	for (int i = 0; i < recount->nrows && any; i++)
	{
		const RecountRow *row = &recount->own[i];

		if (recount->tables[row->table].like->reference == NULL || recount->chosen[i] ||
			(row->above >= 0 && !recount->chosen[row->above]))
			continue;
		recount->chosen[i] = true;
		recount->list[recount->ninside++] = i;
	}
}

static void
put_chosen(Recount *recount)
{
	int ninside = recount->ninside;

	take_copies(recount);
	put_form(recount);
	put_known(recount);
	while (recount->ninside > ninside)
		recount->chosen[recount->list[--recount->ninside]] = false;
}

/* ---- rows that are chosen ---- */

static void
take_row(Recount *recount, int i)
{
	recount->known[recount->own[i].table]++;
	recount->nchosen++;
	recount->chosen[i] = true;
	for (; i >= 0; i = recount->own[i].above)
		if (recount->inside[i]++ == 0)
			recount->list[recount->ninside++] = i;
}

/* (the last one that was taken) */
static void
put_back(Recount *recount, int i)
{
	recount->known[recount->own[i].table]--;
	recount->nchosen--;
	recount->chosen[i] = false;
	for (; i >= 0; i = recount->own[i].above)
		recount->ninside -= --recount->inside[i] == 0;
}

/* Rows that look alike, with all that hangs on them: sets of them are those of the first ones. */
static bool
is_like_before(const Recount *recount, int i)
{
	const RecountRow *row = &recount->own[i], *before = row - 1;
	const RecountTable *table = &recount->tables[row->table];

	/* (values below may differ) */
	return row->table == before->table && row->above == before->above &&
		   recount->shape[i] == recount->shape[i - 1] && table->nvalues == 0 &&
		   !(table->like->is_parent && recount->ruled_rows);
}

/*
 * Was there one like it, to come next?  Rows that show the same, and hang together with no row that is chosen, make one
 * combination with those.
 */
static bool
is_seen(Recount *recount, int i, uint64 pass)
{
	const RecountRow *row = &recount->own[i];
	const RecountTable *table = &recount->tables[row->table];
	uint64 **seen = &recount->seen[recount->nchosen][row->table];
	uint32 tuple = table->tuple[row->number];
	bool was;

	if (table->nvalues > 0 || table->copied || table->strays)
		return false;
	for (int above = i; above >= 0; above = recount->own[above].above)
		if (recount->inside[above] > 0)
			return false;
	if (*seen == NULL)
	{
		*seen = border_palloc(recount->border, sizeof(uint64) * table->groups);
		memset(*seen, 0, sizeof(uint64) * table->groups);
	}
	was = (*seen)[tuple] == pass;
	(*seen)[tuple] = pass;
	return was;
}

/* Every set of the person's rows from `from` on, with those that are chosen. */
static void
choose(Recount *recount, int from)
{
	uint64 pass = ++recount->pass;

	CHECK_FOR_INTERRUPTS();
	if (recount->linked->in_all > 0 && recount->nchosen == recount->linked->in_all)
		return;
	for (int i = from; i < recount->nrows; i++)
	{
		int table = recount->own[i].table;
		bool seen;

		if (recount->tables[table].like->reference != NULL ||
			recount->known[table] == recount->tables[table].like->terms.known)
		{
			i = recount->end[table] - 1;
			continue;
		}
		if (i > from && is_like_before(recount, i))
			continue;
		seen = is_seen(recount, i, pass);
		take_row(recount, i);
		if (!seen)
			put_chosen(recount);
		choose(recount, i + 1);
		put_back(recount, i);
	}
}

/* The person's rows are in the order of tables, parents first. */
static void
look_at_rows(Recount *recount)
{
	memset(recount->shape, 0, sizeof(uint64) * recount->nrows);
	for (int i = 0; i < recount->nrows; i++)
		recount->end[recount->own[i].table] = i + 1;
	for (int i = recount->nrows - 1; i >= 0; i--)
	{
		const RecountRow *row = &recount->own[i];

		recount->shape[i] =
			hash_bytes_uint32_extended(recount->tables[row->table].tuple[row->number], recount->shape[i]);
		if (row->above >= 0)
			recount->shape[row->above] += hash_bytes_uint32_extended((uint32) row->table, recount->shape[i]);
	}
}

/* ---- a class ---- */

static void
begin_forms(Recount *recount)
{
	recount->nforms = recount->nwords = recount->nknown = 0;
	if (recount->nslots > 0)
		memset(recount->slots, 0, sizeof(uint32) * recount->nslots);
}

/* Notes a person with whom fewer than k share a combination: linked_plan.c holds such persons back. */
static void
note_failed(Recount *recount, uint32 person)
{
	Datum *key;
	bool isnull;

	if (recount->linked->histories == NULL)
		return;
	key = palloc(sizeof(Datum));
	*key = dictionary_value(recount->tables[0].keys, person, &isnull);
	recount->found.failed = lappend(recount->found.failed, key);
}

/* Those who have it. */
static void
look_at_persons(Recount *recount, const RecountForm *form)
{
	Size n = 0;

	for (uint32 at = form->known; at > 0; at = recount->knowns[at - 1].before)
		recount->sort[n++] = recount->knowns[at - 1].row;
	linked_look_at_values(recount, recount->sort, n);
}

/* How many persons have each of them. */
static void
look_at_forms(Recount *recount)
{
	LinkedFound *found = &recount->found;

	for (Size i = 0; i < recount->nforms; i++)
	{
		int64 persons = recount->forms[i].persons;

		/* (the same combination stands without the mark, too) */
		if (recount->forms[i].marked > 0)
		{
			found->broken += !keeps_rules(recount, &recount->forms[i]);
			continue;
		}
		look_at_persons(recount, &recount->forms[i]);
		found->combinations++;
		found->below += persons < recount->linked->k;
		if (persons < recount->linked->k)
			note_failed(recount, recount->forms[i].last);
		if (found->smallest == 0 || persons < found->smallest)
			found->smallest = persons;
	}
}

static void
put_person(Recount *recount, uint32 person)
{
	recount->at = person;
	recount->own = recount->rows + recount->start[person];
	recount->nrows = (int) (recount->start[person + 1] - recount->start[person]);
	look_at_rows(recount);
	/* (of the person's copies somebody knows, whatever rows are known) */
	if (recount->linked->m > 0 && recount->tables[0].copied)
		put_chosen(recount);
	if (recount->linked->m > 0)
	{
		choose(recount, 0);
		return;
	}
	for (int i = 0; i < recount->nrows; i++)
		take_row(recount, i);
	put_chosen(recount);
	for (int i = recount->nrows - 1; i >= 0; i--)
		put_back(recount, i);
}

/* How many rows of each table the person has, as a form. */
static void
put_counts(Recount *recount, uint32 person)
{
	uint32 counts[KANON_MAX_LINKED] = {0};
	Size at = recount->nwords;

	recount->at = person;
	for (uint32 i = recount->start[person]; i < recount->start[person + 1]; i++)
		counts[recount->rows[i].table]++;
	for (int t = 0; t < recount->n; t++)
		put_word(recount, counts[t]);
	(void) count_form(recount, at);
}

/* Persons first .. next - 1 are a class: the subject was read class by class. */
void
linked_count_class(Recount *recount, uint32 first, uint32 next)
{
	LinkedFound *found = &recount->found;
	int64 size = next - first;

	found->classes++;
	if (found->smallest_class == 0 || size < found->smallest_class)
		found->smallest_class = size;
	begin_forms(recount);
	for (uint32 p = first; p < next; p++)
		put_person(recount, p);
	look_at_forms(recount);
	for (uint32 p = first; p < next && recount->sort != NULL; p++)
		recount->sort[p - first] = p;
	linked_look_at_values(recount, recount->sort, size);
	if (size < recount->linked->k)
		note_failed(recount, first);
	begin_forms(recount);
	for (uint32 p = first; p < next; p++)
		put_counts(recount, p);
	for (Size i = 0; i < recount->nforms; i++)
		found->alone += recount->forms[i].persons == 1;
}
