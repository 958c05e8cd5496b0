/*
 * linked_protection.c: protect_successive of a publication of several tables: its private tables, and a release that is
 * made until nobody stands alone.
 *
 * They are, in this order: persons with their histories; what each table of the release was made of, in the order of
 * the options; and of each table of rows what was ever shown.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/settings.h"
#include "linked/linked_histories.h"
#include "publication/publication.h"
#include "series/successive.h"

#include "utils/guc.h"

/* The place in the list of the private table that has what was ever shown of table i's rows. */
static int
place_of_shown(const Linked *linked, LinkedTable *const *tables, int i)
{
	int place = 1 + linked->n;

	for (int j = 0; j < i; j++)
		place += tables[j]->role == LINKED_ROWS;
	return place;
}

static Oid
held_before(const Release *before, int place)
{
	return before != NULL && place < list_length(before->held) ? list_nth_oid(before->held, place)
															   : InvalidOid;
}

void
linked_protection_fill(const KanonPublication *publication, const Release *release, const Release *before,
					   Linked *linked, LinkedTable *const *tables)
{
	LinkedHistories *histories = linked->histories;
	char *bare;

	histories->release = release->number;
	histories->before = held_before(before, 0);
	histories->digest = OidIsValid(histories->before) ? before->digest : NULL;
	histories->after = release_table_name(publication, release, linked->tables[0].known, "persons", &bare);
	for (int i = 0; i < linked->n; i++)
	{
		HeldTable *held = &histories->tables[tables[i] - linked->tables];
		int shown = place_of_shown(linked, tables, i);

		held->before = held_before(before, 1 + i);
		held->after = release_table_name(publication, release, tables[i]->known, "held", &bare);
		if (tables[i]->role != LINKED_ROWS)
			continue;
		held->shown_before = held_before(before, shown);
		held->shown_after = release_table_name(publication, release, tables[i]->known, "rows", &bare);
	}
	/* (tables that hang together in another way since) */
	if (before != NULL && before->held != NIL &&
		list_length(before->held) != place_of_shown(linked, tables, linked->n))
		histories_raise_columns();
}

void
linked_protection_take(KanonPublication *publication, Release *release, const Linked *linked,
					   LinkedTable *const *tables)
{
	const LinkedHistories *histories = linked->histories;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(publication));

	release->held = list_make1_oid(history_oid(histories->after));
	for (int i = 0; i < linked->n; i++)
		release->held =
			lappend_oid(release->held, history_oid(histories->tables[tables[i] - linked->tables].after));
	for (int i = 0; i < linked->n; i++)
		if (tables[i]->role == LINKED_ROWS)
			release->held = lappend_oid(
				release->held, history_oid(histories->tables[tables[i] - linked->tables].shown_after));
	release->held_persons = histories->told.persons;
	release->held_oldest = histories->told.oldest;
	MemoryContextSwitchTo(old);
}

/* Again and again; what there is to notice was said at first. */
void
linked_protection_try(KanonPublication *publication, Release *release, void (*make)(void *arg), void *arg,
					  LinkedHistories **histories)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(publication));
	LinkedHistories *all = palloc0(sizeof(LinkedHistories));
	int nest = -1;
	ErrorData *error;

	MemoryContextSwitchTo(old);
	all->none = &release->none;
	*histories = all;
	while ((error = attempt(make, arg)) != NULL)
	{
		if (!all->again)
			ReThrowError(error);
		all->again = false;
		if (nest >= 0)
			continue;
		nest = NewGUCNestLevel();
		(void) set_config_option("client_min_messages", "warning", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	}
	if (nest >= 0)
		AtEOXact_GUC(true, nest);
}
