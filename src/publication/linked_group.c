/*
 * linked_group.c: the keys of a linked publication: new ones in each release, the same in all, or the same in all
 * publications of a group.
 *
 * A group is a name that publications of one owner share.  The first of them has a secret of its own, and each
 * later one takes over the secret of one that is there, from private table to private table.
 */
#include "compat.h"
#include "publication/publication.h"
#include "run/request.h"

#include "lib/stringinfo.h"

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
