/*
 * status.c: what there is to know about publications: kanon_publications,
 * kanon_releases and kanon_publication_status.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "host/lines.h"
#include "publication/publication.h"

#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(kanon_publication_list);
PG_FUNCTION_INFO_V1(kanon_release_list);
PG_FUNCTION_INFO_V1(kanon_publication_status);

/* As the views of runs: members see it, too, who inherit nothing. */
static bool
seen_by_caller(Oid owner, Oid view)
{
	return is_member_of_role(GetUserId(), owner);
}

/* Behind the view kanon_publications. */
Datum
kanon_publication_list(PG_FUNCTION_ARGS)
{
	Lines *lines = lines_begin(fcinfo);
	ListCell *lc;

	foreach (lc, publications_seen(extension_schema(fcinfo), seen_by_caller, NULL))
	{
		KanonPublication *publication = lfirst(lc);
		const Release *current = publication->lost ? NULL : release_current(releases(publication, NULL));

		line_text(lines, publication->name);
		line_oid(lines, publication->owner);
		line_oid(lines, publication->published);
		line_oid(lines,
				 OidIsValid(publication->source) ? source_view_reads(publication->source) : InvalidOid);
		line_value(lines, PointerGetDatum(publication->qis), publication->qis != NULL);
		line_int8(lines, publication->k, publication->k != 0);
		line_text(lines, publication->model);
		line_value(lines, JsonbPGetDatum(publication->options), publication->options != NULL);
		line_int4(lines, publication->keep_releases, !publication->lost);
		line_bool(lines, publication->stable, !publication->lost);
		line_text(lines, publication->lost ? NULL : protection_word(publication));
		line_text(lines, publication->key);
		line_text(lines, publication->append);
		line_int8(lines, current != NULL ? current->number : 0, current != NULL);
		line_time(lines, current != NULL ? release_known(current) : 0, current != NULL);
		line_text(lines, publication->problem);
		line_text(lines, publication->remedy);
		line_end(lines);
	}
	return (Datum) 0;
}

typedef struct Put
{
	Lines *lines;
	const KanonPublication *publication;
} Put;

static void
put_release(const Release *release, void *arg)
{
	Lines *lines = ((Put *) arg)->lines;
	bool made = release->status != RELEASE_FAILED && release->status != RELEASE_HELD;

	line_text(lines, ((Put *) arg)->publication->name);
	line_int8(lines, release->number, true);
	line_time(lines, release->started, true);
	line_time(lines, release->finished, true);
	line_text(lines, release_status_name(release->status));
	line_int8(lines, release->row_count, made);
	line_int8(lines, release->k, made && release->k > 0);
	line_float8(lines, release->cost, made);
	line_int8(lines, release->held_persons, release_tells_held(release));
	line_int8(lines, release->held_oldest, release_tells_held(release));
	line_int8(lines, release->difference, made && release->difference > 0);
	line_text(lines, release->error);
	line_text(lines, release->message);
	line_text(lines, release->detail);
	line_text(lines, release->hint);
	line_oid(lines, release->relation);
	line_time(lines, release->checked, release->checked != 0);
	line_end(lines);
}

/* A fault of the publication is a line, too: its history need not be there. */
static void
put_problem(Lines *lines, const KanonPublication *publication)
{
	line_text(lines, publication->name);
	line_int8(lines, 0, false);
	line_time(lines, 0, false);
	line_time(lines, 0, false);
	line_text(lines, release_status_name(RELEASE_FAILED));
	line_int8(lines, 0, false);
	line_int8(lines, 0, false);
	line_float8(lines, 0, false);
	line_int8(lines, 0, false);
	line_int8(lines, 0, false);
	line_int8(lines, 0, false);
	line_text(lines, NULL);
	line_text(lines, publication->problem);
	line_text(lines, NULL);
	line_text(lines, publication->remedy);
	line_oid(lines, InvalidOid);
	line_time(lines, 0, false);
	line_end(lines);
}

/* Behind the view kanon_releases. */
Datum
kanon_release_list(PG_FUNCTION_ARGS)
{
	Put put = {lines_begin(fcinfo)};
	ListCell *lc;

	foreach (lc, publications_seen(extension_schema(fcinfo), seen_by_caller, NULL))
	{
		put.publication = lfirst(lc);
		if (put.publication->problem != NULL)
			put_problem(put.lines, put.publication);
		if (!put.publication->lost)
			releases_visit(put.publication, put_release, &put);
	}
	return (Datum) 0;
}

/* ---- one question for monitoring ---- */

/* Its owner's, or somebody's who may read every statistic. */
static bool
watched_by_caller(Oid owner, Oid view)
{
	return is_member_of_role(GetUserId(), owner) || has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

/* Readers of the view may know how fresh it is, and how anonymous, but not what its owner does about it. */
static bool
read_by_caller(Oid owner, Oid view)
{
	return watched_by_caller(owner, view) ||
		   (OidIsValid(view) &&
			(pg_class_aclcheck(view, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
			 pg_attribute_aclcheck_all(view, GetUserId(), ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK));
}

/* The end of a history. */
typedef struct Tail
{
	int64 last_success;  /* the greatest number of a refresh that did not fail */
	TimestampTz checked; /* when one was last found to be what the source gives still */
	int64 failures;      /* after both */
	int64 held; /* the greatest number of one that could not be made, as somebody would stand alone */
	int64 made; /* and of one that was */
	int64 held_persons, held_oldest; /* of that one, if they were counted */
	int64 last_failure;
	char error[6];    /* of the last one */
	int64 difference; /* the smallest between any two releases, one after the other; 0: none */
} Tail;

static void
find_success(const Release *release, void *arg)
{
	Tail *tail = arg;

	if (release->status == RELEASE_FAILED)
		return;
	tail->last_success = Max(tail->last_success, release->number);
	if (release->status == RELEASE_HELD && release->number > tail->held)
	{
		tail->held = release->number;
		tail->held_persons = release->held_persons;
		tail->held_oldest = release->held_oldest;
	}
	else if (release->status != RELEASE_HELD)
		tail->made = Max(tail->made, release->number);
	tail->checked = Max(tail->checked, release->checked);
	if (release->difference > 0 && (tail->difference == 0 || release->difference < tail->difference))
		tail->difference = release->difference;
}

static void
count_failures(const Release *release, void *arg)
{
	Tail *tail = arg;

	if (release->status != RELEASE_FAILED || release->number <= tail->last_success ||
		release->finished <= tail->checked)
		return;
	tail->failures++;
	if (release->number < tail->last_failure)
		return;
	tail->last_failure = release->number;
	copy_clipped(tail->error, release->error != NULL ? release->error : "", sizeof(tail->error));
}

/* The columns that the option allow_identifying names, of one table or of any of several. */
static List *
allowed_of(JsonbContainer *options)
{
	JsonbValue key = {.type = jbvString, .val.string = {.val = "allow_identifying", .len = 17}};
	const JsonbValue *list =
		JsonContainerIsObject(options) ? findJsonbValueFromContainer(options, JB_FOBJECT, &key) : NULL;
	List *names = NIL;

	if (list == NULL || list->type != jbvBinary || !JsonContainerIsArray(list->val.binary.data))
		return NIL;
	for (uint32 i = 0; i < JsonContainerSize(list->val.binary.data); i++)
	{
		const JsonbValue *name = getIthJsonbValueFromContainer(list->val.binary.data, i);

		if (name->type == jbvString)
			names = lappend(names, pnstrdup(name->val.string.val, name->val.string.len));
	}
	return names;
}

/* As a name[]. */
static Datum
allowed_to_identify(const KanonPublication *publication)
{
	List *names = allowed_of(&publication->options->root);
	Datum *values;
	int n = 0;
	ListCell *lc;

	foreach (lc, linked_tables(publication))
		names = list_concat(names, allowed_of(lfirst(lc)));
	values = palloc(sizeof(Datum) * Max(list_length(names), 1));
	foreach (lc, names)
		values[n++] = DirectFunctionCall1(namein, CStringGetDatum(lfirst(lc)));
	return PointerGetDatum(construct_array(values, n, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR));
}

/* With the publication; or with its release, which stands until the next one is made. */
static void
put_what_is_wrong(Lines *lines, const KanonPublication *publication, const Release *current, bool all)
{
	bool release = publication->problem == NULL && current != NULL;

	line_text(lines, !all ? NULL : release ? current->message : publication->problem);
	line_text(lines, !all ? NULL : release ? current->hint : publication->remedy);
}

/* The rows of a source that appends, beside those that were shown. */
static void
put_batches(Lines *lines, const KanonPublication *publication, const Release *current, bool all)
{
	bool known = all && current != NULL && publication->append != NULL;

	line_int8(lines, known ? current->waiting : 0, known);
	line_int8(lines, known ? current->late : 0, known);
	line_int8(lines, known ? current->corrected : 0, known && current->recounted != 0);
	line_int8(lines, known ? current->deleted : 0, known && current->recounted != 0);
	line_time(lines, known ? current->recounted : 0, known && current->recounted != 0);
}

static void
put_status(Lines *lines, KanonPublication *publication, const Interval *limit)
{
	Interval ever = {.month = 10000 * MONTHS_PER_YEAR}; /* the sum of a time and more may be no time */
	TimestampTz now = GetCurrentTimestamp();
	Release *current = publication->lost ? NULL : release_current(releases(publication, NULL));
	Tail tail = {0};
	const char *status = "fresh";
	bool told;
	bool all = watched_by_caller(publication->owner, publication->published) ||
			   (publication->lost && watched_by_caller(relation_owner(publication->published), InvalidOid));

	publication_diagnose(publication);
	if (!publication->lost)
	{
		releases_visit(publication, find_success, &tail);
		releases_visit(publication, count_failures, &tail);
	}
	if (tail.held > tail.made)
		status = "held";
	if (limit != NULL && current != NULL &&
		DatumGetBool(DirectFunctionCall2(interval_lt, PointerGetDatum(limit), PointerGetDatum(&ever))) &&
		DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
												TimestampTzGetDatum(release_known(current)),
												PointerGetDatum(limit))) < now)
		status = "stale";
	if (tail.failures > 0 || publication->problem != NULL)
		status = "failing";
	line_text(lines, publication->name);
	line_text(lines, status);
	line_int8(lines, publication->k, publication->k != 0);
	line_int8(lines, current != NULL ? current->number : 0, current != NULL && all);
	line_time(lines, current != NULL ? release_known(current) : 0, current != NULL);
	line_value(lines,
			   current != NULL ? DirectFunctionCall2(timestamp_mi, TimestampTzGetDatum(now),
													 TimestampTzGetDatum(release_known(current)))
							   : (Datum) 0,
			   current != NULL);
	line_int8(lines, tail.failures, all && !publication->lost);
	line_text(lines, tail.failures > 0 && all ? tail.error : NULL);
	line_value(lines, all && !publication->lost ? allowed_to_identify(publication) : (Datum) 0,
			   all && !publication->lost);
	line_int8(lines, tail.difference, tail.difference > 0 && all);
	/* (the release that readers keep has grown older) */
	told = tail.held > tail.made && tail.held_oldest > 0;
	line_int8(lines,
			  told              ? tail.held_persons
			  : current != NULL ? current->held_persons
								: 0,
			  current != NULL && all);
	line_int8(lines,
			  told              ? tail.held_oldest
			  : current != NULL ? current->held_oldest
								: 0,
			  current != NULL && all);
	put_batches(lines, publication, current, all);
	put_what_is_wrong(lines, publication, current, all);
	line_text(lines, publication_policy(publication));
	line_end(lines);
}

/* kanon_publication_status(publication text, fail_if_older_than interval): NULL: all there are */
Datum
kanon_publication_status(PG_FUNCTION_ARGS)
{
	Interval *limit = PG_ARGISNULL(1) ? NULL : PG_GETARG_INTERVAL_P(1);
	Oid extension = extension_schema(fcinfo);
	Lines *lines = lines_begin(fcinfo);
	ListCell *lc;

	if (limit != NULL && DatumGetBool(DirectFunctionCall2(interval_lt, PointerGetDatum(limit),
														  PointerGetDatum(palloc0(sizeof(Interval))))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("fail_if_older_than must not be negative"),
				 errhint("It is an interval such as '26 hours'.")));
	if (!PG_ARGISNULL(0))
		put_status(lines, publication_look(extension, text_to_cstring(PG_GETARG_TEXT_PP(0)), read_by_caller),
				   limit);
	else
		foreach (lc, publications_seen(extension, watched_by_caller, NULL))
			put_status(lines, lfirst(lc), limit);
	return (Datum) 0;
}
