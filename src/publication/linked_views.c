/*
 * linked_views.c: the views of a publication of several tables, but the subject's: their names, what stands
 * in their way, and how they follow a release.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/settings.h"
#include "publication/publication.h"
#include "rows/target.h"
#include "options/request.h"

#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Has something else the name that readers know a lost view by?  *name is qualified; NULL: the options do not say it. */
static Oid
in_place_of(const KanonPublication *publication, int n, char **name)
{
	Oid namespace = get_rel_namespace(publication->published);
	char *bare = linked_view_name(publication, n + 1);
	bool gone = n >= list_length(publication->views) || !OidIsValid(list_nth_oid(publication->views, n));

	*name = bare == NULL ? NULL : quote_qualified_identifier(name_schema(namespace), bare);
	return gone && bare != NULL ? get_relname_relid(bare, namespace) : InvalidOid;
}

/* One of the other views, as a publication by itself. */
static KanonPublication *
other_view(const KanonPublication *publication, int n)
{
	KanonPublication *view = palloc0(sizeof(KanonPublication));
	Oid taken = InvalidOid;

	*view = *publication;
	view->published = n < list_length(publication->views) ? list_nth_oid(publication->views, n) : InvalidOid;
	if (!OidIsValid(view->published))
		taken = in_place_of(publication, n, &view->name);
	if (view->name == NULL)
		linked_definition_raise(publication);
	if (OidIsValid(taken))
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
						errmsg("relation %s has the name of a view of publication %s", view->name,
							   publication->name),
						errhint("Drop it or give it another name, and refresh the publication again.")));
	return view;
}

Oid
linked_view_in_the_way(const KanonPublication *publication)
{
	for (int i = 0; i < list_length(publication->views); i++)
	{
		Oid view = list_nth_oid(publication->views, i);
		char *name;
		Oid taken = in_place_of(publication, i, &name);

		if (OidIsValid(taken))
			return taken;
		if (OidIsValid(view) && !OidIsValid(source_view_reads(view)))
			return view;
	}
	return InvalidOid;
}

bool
linked_views_show(const KanonPublication *publication, const Release *release)
{
	ListCell *view, *table;

	forboth (view, publication->views, table, release->others)
		if (!OidIsValid(lfirst_oid(view)) || !OidIsValid(lfirst_oid(table)) ||
			!view_shows(lfirst_oid(view), lfirst_oid(table)))
			return false;
	return true;
}

void
linked_views_check(const KanonPublication *publication, const Release *release)
{
	for (int i = 0; i < list_length(release->others); i++)
		view_check(other_view(publication, i), list_nth_oid(release->others, i));
}

void
linked_views_lock(const KanonPublication *publication)
{
	List *views = NIL;
	ListCell *lc;

	if (!publication_is_linked(publication) || !OidIsValid(publication->published))
		return;
	foreach (lc, lcons_oid(publication->published, list_copy(publication->views)))
		if (publication_owns(publication, lfirst_oid(lc), RELKIND_VIEW))
			views = lappend_oid(views, lfirst_oid(lc));
	progress_say("waiting for readers", 0, -1);
	lock_all_without_queue(views, "views", NULL, NULL);
}

void
linked_views_switch(KanonPublication *publication, const Release *release)
{
	List *views = NIL;

	for (int i = 0; i < list_length(release->others); i++)
	{
		KanonPublication *view = other_view(publication, i);
		MemoryContext old;

		view_show(view, list_nth_oid(release->others, i));
		old = MemoryContextSwitchTo(GetMemoryChunkContext(publication));
		views = lappend_oid(views, view->published);
		MemoryContextSwitchTo(old);
	}
	publication->views = views;
}

KanonPublication *
linked_find(Oid extension, const char *schema, bool (*wanted)(Oid owner, Oid view))
{
	Oid namespace = get_namespace_oid(schema, true);
	KanonPublication *found = NULL;
	ListCell *lc;

	foreach (lc, OidIsValid(namespace) ? publications(extension, wanted, NULL) : NIL)
	{
		KanonPublication *publication = lfirst(lc);

		if (!publication_is_linked(publication) || !OidIsValid(publication->published) ||
			get_rel_namespace(publication->published) != namespace)
			continue;
		if (found != NULL)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("several publications of several tables are in schema \"%s\"", schema),
							errhint("Name the view of the subject's table.")));
		found = publication;
	}
	if (found != NULL)
		found->patience = NULL;
	return found;
}

/*
 * ---- The keys of a linked publication: new ones in each release, the same in all, or the same in all
 * publications of a group.
 *
 * A group is a name that publications of one owner share.  The first of them has a secret of its own, and each
 * later one takes over the secret of one that is there, from private table to private table.
 */

#define GROUP "group:"

bool
group_is_named(const char *pseudonym)
{
	return strncmp(pseudonym, GROUP, strlen(GROUP)) == 0;
}

void
group_check_pseudonym(const char *pseudonym)
{
	if (strcmp(pseudonym, "release") != 0 && strcmp(pseudonym, "publication") != 0 &&
		(!group_is_named(pseudonym) || pseudonym[strlen(GROUP)] == '\0' || strlen(pseudonym) >= NAMEDATALEN))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("pseudonym must be 'release', 'publication' or 'group:' and a name"),
						errhint(PSEUDONYM_HINT)));
}

/* Publications of the same owner whose keys join this one's; the owner is asked of the catalog. */
List *
group_members(const KanonPublication *publication)
{
	char *pseudonym = linked_pseudonym(publication->options);
	List *members = NIL;
	ListCell *lc;

	if (pseudonym == NULL || !group_is_named(pseudonym))
		return NIL;
	foreach (lc, publications(publication->extension, owned_by_caller, NULL))
	{
		KanonPublication *other = lfirst(lc);
		char *theirs;

		if (other->owner != publication->owner || other->definition == publication->definition ||
			other->mask_key == NULL || !publication_is_linked(other))
			continue;
		theirs = linked_pseudonym(other->options);
		if (theirs != NULL && strcmp(theirs, pseudonym) == 0)
			members = lappend(members, other);
	}
	return members;
}

/* A secret does not change: keys of releases that are out would be others. */
void
group_check_same(const KanonPublication *publication, Jsonb *before)
{
	char *now = linked_pseudonym(publication->options), *old = linked_pseudonym(before);

	if (now == NULL || old == NULL || strcmp(now, old) == 0 || (!group_is_named(now) && !group_is_named(old)))
		return;
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("publication %s cannot come into a group or leave it", publication->name),
					errhint("Drop the publication and create it anew.")));
}

void
group_tell(const KanonPublication *publication, List *members)
{
	StringInfoData names;
	ListCell *lc;

	if (members == NIL)
		return;
	initStringInfo(&names);
	foreach (lc, members)
		appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", ((KanonPublication *) lfirst(lc))->name);
	ereport(
		NOTICE,
		(errmsg("keys of publication %s join those of other publications: %s", publication->name, names.data),
		 errdetail(
			 "A reader of several sees what all of them show of a person. k is promised in each alone."),
		 errhint("Give no reader more than one of them, or publish all tables as one.")));
}
