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
#include <math.h>

#include "compat.h"
#include "host/attempt.h"
#include "publication/publication.h"
#include "host/catalog.h"

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
	release_forget(release, false);
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
	release->error = NULL;
	/* (a source with other keys has nothing to do with the method: its message says what to do) */
	if (error->sqlerrcode != ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE)
	{
		release->detail =
			psprintf("The method says: %s.%s%s", release->message, release->detail != NULL ? " " : "",
					 release->detail != NULL ? release->detail : "");
		release->message = "no release could be made in which nobody stands alone";
		release->hint = NULL;
	}
	ereport(NOTICE, (errmsg("publication %s keeps its release", publication->name),
					 errdetail("%c%s. %s", pg_toupper((unsigned char) release->message[0]),
							   release->message + 1, release->detail),
					 errhint("%s%sThe next refresh tries again. See kanon_releases.",
							 release->hint != NULL ? release->hint : "", release->hint != NULL ? " " : "")));
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

/*
 * ---- Floors and ceilings: what a release may not be, however well it is anonymised.
 *
 * A source that was emptied, doubled or filled with nonsense overnight makes a release
 * that keeps every rule and is of no use; readers keep the one before.
 */

/* With several tables the one that breaks a limit is told. */
static const char *
whose(const Request *request)
{
	return request->linked.snapshot != NULL ? psprintf("Of table %s: ", name_relation(request->source)) : "";
}

static char *
let_through(const Request *request, const char *name)
{
	return psprintf(
		"Look at the source, or let it through by kanon_alter_publication(..., set_options => '{%s\"%s\": "
		"...}').",
		request->linked.snapshot != NULL ? "\"tables\": ...}'), in which the table has '{" : "", name);
}

static void
check_share(const Request *request, double found, double most, const char *name, const char *what)
{
	if (found <= most)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION), errmsg("the release is beyond %s of the publication", name),
			 errdetail("%s%s is %.10g, %s is %.10g.", whose(request), what, found, name, most),
			 errhint("%s", let_through(request, name))));
}

/* A release before without rows is no measure. */
static void
check_rows(const Request *request, const Release *release, const Release *before)
{
	double change;

	if (release->row_count < request->limits.min_rows)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("the release has fewer rows than min_rows of the publication"),
				 errdetail("%sIt has " INT64_FORMAT ", min_rows is " INT64_FORMAT ".", whose(request),
						   release->row_count, request->limits.min_rows),
				 errhint("Look at the source, or lower min_rows: 1 is the default, 0 lets a release be "
						 "empty.")));
	if (before == NULL || before->row_count <= 0)
		return;
	change = fabs((double) release->row_count - before->row_count) / before->row_count;
	if (change > request->limits.max_row_change)
		ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
						errmsg("the release is beyond max_row_change of the publication"),
						errdetail("%sIt has " INT64_FORMAT " rows, the one before has " INT64_FORMAT
								  ": a change of %.10g, max_row_change is %.10g.",
								  whose(request), release->row_count, before->row_count, change,
								  request->limits.max_row_change),
						errhint("%s", let_through(request, "max_row_change"))));
}

void
limits_check(const Run *run, const Release *release, const Release *before)
{
	const Request *request = run->request;

	if (request->policy != NULL && !run->unwritten)
		policy_check(run);
	check_rows(request, release, before);
	check_share(request, run->measures.gcp, request->limits.max_gcp, "max_gcp",
				"The share of all information that is lost (gcp)");
	check_share(request, run->suppressed, request->limits.max_suppressed, "max_suppressed",
				"The share of cells that are suppressed");
}
