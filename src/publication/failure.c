/*
 * failure.c: what the publisher is told of a refresh that failed.
 *
 * An error's text may have data values in it, and anybody's function in a source can
 * raise one with any text and any code.  Three things cannot be pretended: which module
 * raised an error (its text domain), which function of the server did, and what the text
 * was before values were filled in.  So kanon's own errors, which have no values, are
 * told in full; those of the server that name files, or objects that there are, with
 * their text and hint; of all others the text is told with "..." where something was
 * filled in; and of what a function written in some language says, its code alone.
 */
#include "compat.h"
#include "host/attempt.h"
#include "publication/publication.h"

#include "lib/stringinfo.h"

/* The server's: privileges, files, disk space. */
static const char *const telling_files[] = {"aclchk.c", "fd.c", "md.c", "buffile.c", "copydir.c"};

/* An error's text without the values in it: its text before any were filled in. */
static char *
text_without_values(const ErrorData *error)
{
	StringInfoData text;

	if (error->message_id == NULL || strcmp(error->message_id, "%s") == 0)
		return NULL;
	initStringInfo(&text);
	for (const char *p = error->message_id; *p != '\0'; p++)
	{
		if (*p != '%')
			appendStringInfoChar(&text, *p);
		else if (p[1] == '%')
			appendStringInfoChar(&text, *++p);
		else
		{
			/* flags, width and length, up to the letter of the conversion */
			p += 1 + strspn(p + 1, "-+ #0123456789.*$lzhjt");
			appendStringInfoString(&text, "...");
			if (*p == '\0')
				break;
		}
	}
	return text.data;
}

static bool
names_what_is_there(const ErrorData *error)
{
	for (int i = 0; error->filename != NULL && i < lengthof(telling_files); i++)
		if (strcmp(error->filename, telling_files[i]) == 0)
			return true;
	return false;
}

static char *
copy(const char *text)
{
	return text != NULL ? pstrdup(text) : NULL;
}

void
failure_note(Release *release, const ErrorData *error)
{
	release->status = RELEASE_FAILED;
	release->relation = release->persons = release->types = InvalidOid;
	release->others = NIL;
	release->error = pstrdup(unpack_sql_state(error->sqlerrcode));
	release->detail = release->hint = NULL;
	if (raised_by_kanon(error))
	{
		release->message = copy(error->message);
		release->detail = copy(error->detail);
		release->hint = copy(error->hint);
	}
	else if (names_what_is_there(error))
	{
		release->message = copy(error->message);
		release->hint = copy(error->hint);
	}
	else
		release->message = text_without_values(error);
}

/* Tomorrow others may have joined or changed, so that nobody stands alone. */
void
failure_held(const KanonPublication *publication, Release *release, const ErrorData *error)
{
	failure_note(release, error);
	release->status = RELEASE_HELD;
	release->detail =
		psprintf("The method says: %s.%s%s", release->message, release->detail != NULL ? " " : "",
				 release->detail != NULL ? release->detail : "");
	release->message = "no release could be made in which nobody stands alone";
	release->error = release->hint = NULL;
	ereport(NOTICE, (errmsg("publication %s keeps its release", publication->name),
					 errdetail("Every other release would leave somebody alone."),
					 errhint("The next refresh tries again. See kanon_releases.")));
}

char *
failure_text(const Release *release)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "SQLSTATE %s", release->error);
	if (release->message != NULL)
		appendStringInfo(&text, ": %s", release->message);
	appendStringInfoString(&text, ".");
	if (release->detail != NULL)
		appendStringInfo(&text, " %s", release->detail);
	return text.data;
}

void
failure_warn(const KanonPublication *publication, const Release *release)
{
	ereport(WARNING, (errmsg("publication %s was not refreshed", publication->name),
					  errdetail("%s", failure_text(release)),
					  errhint("%s%sReaders still see the release before. See kanon_releases.",
							  release->hint != NULL ? release->hint : "", release->hint != NULL ? " " : "")));
}
