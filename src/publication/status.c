/*
 * status.c: what there is to know about publications: kanon_publications,
 * kanon_releases and kanon_publication_status.
 */
#include "compat.h"
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

#define PUBLICATION_COLUMNS 14
#define RELEASE_COLUMNS 14
#define STATUS_COLUMNS 9

/* As the views of runs: members see it, too, who inherit nothing. */
static bool
seen_by_caller(Oid owner, Oid view)
{
	return is_member_of_role(GetUserId(), owner);
}

static Datum
relation_or_null(Oid relid, bool *isnull)
{
	*isnull = !OidIsValid(relid);
	return ObjectIdGetDatum(relid);
}

static Datum
text_or_null(const char *text, bool *isnull)
{
	*isnull = text == NULL;
	return *isnull ? (Datum) 0 : CStringGetTextDatum(text);
}

/* Behind the view kanon_publications. */
Datum
kanon_publication_list(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach (lc, publications(extension_schema(fcinfo), seen_by_caller, NULL))
	{
		KanonPublication *publication = lfirst(lc);
		Release *current = release_current(releases(publication, NULL));
		Datum values[PUBLICATION_COLUMNS];
		bool nulls[PUBLICATION_COLUMNS] = {false};

		values[0] = CStringGetTextDatum(publication->name);
		values[1] = ObjectIdGetDatum(publication->owner);
		values[2] = relation_or_null(publication->published, &nulls[2]);
		values[3] = relation_or_null(source_view_reads(publication->source), &nulls[3]);
		values[4] = PointerGetDatum(publication->qis);
		values[5] = Int64GetDatum(publication->k);
		values[6] = CStringGetTextDatum(publication->solver);
		values[7] = JsonbPGetDatum(publication->options);
		values[8] = Int32GetDatum(publication->keep_releases);
		values[9] = BoolGetDatum(publication->stable);
		values[10] = BoolGetDatum(publication->protect_successive);
		nulls[11] = publication->key == NULL;
		values[11] = nulls[11] ? (Datum) 0 : CStringGetTextDatum(publication->key);
		nulls[12] = nulls[13] = current == NULL;
		values[12] = nulls[12] ? (Datum) 0 : Int64GetDatum(current->number);
		values[13] = nulls[13] ? (Datum) 0 : TimestampTzGetDatum(current->finished);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

typedef struct Put
{
	ReturnSetInfo *rsinfo;
	const KanonPublication *publication;
} Put;

static void
put_release(const Release *release, void *arg)
{
	ReturnSetInfo *rsinfo = ((Put *) arg)->rsinfo;
	const KanonPublication *publication = ((Put *) arg)->publication;
	bool failed = release->status == RELEASE_FAILED;
	Datum values[RELEASE_COLUMNS];
	bool nulls[RELEASE_COLUMNS] = {false};

	values[0] = CStringGetTextDatum(publication->name);
	values[1] = Int64GetDatum(release->number);
	values[2] = TimestampTzGetDatum(release->started);
	values[3] = TimestampTzGetDatum(release->finished);
	values[4] = CStringGetTextDatum(release_status_name(release->status));
	nulls[5] = nulls[7] = nulls[8] = failed;
	values[5] = Int64GetDatum(release->row_count);
	nulls[6] = failed || release->k == 0;
	values[6] = Int64GetDatum(release->k);
	values[7] = Float8GetDatum(release->cost);
	values[8] = Int64GetDatum(release->suppressed_later);
	values[9] = text_or_null(release->error, &nulls[9]);
	values[10] = text_or_null(release->message, &nulls[10]);
	values[11] = text_or_null(release->detail, &nulls[11]);
	values[12] = text_or_null(release->hint, &nulls[12]);
	values[13] = relation_or_null(release->relation, &nulls[13]);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* Behind the view kanon_releases. */
Datum
kanon_release_list(PG_FUNCTION_ARGS)
{
	ListCell *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach (lc, publications(extension_schema(fcinfo), seen_by_caller, NULL))
	{
		Put put = {.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo, .publication = lfirst(lc)};

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
	int64 last_success; /* the greatest number of a release that was made */
	int64 failures;     /* after it */
	int64 last_failure;
	char error[6]; /* of the last one */
} Tail;

static void
find_success(const Release *release, void *arg)
{
	Tail *tail = arg;

	if (release->status != RELEASE_FAILED)
		tail->last_success = Max(tail->last_success, release->number);
}

static void
count_failures(const Release *release, void *arg)
{
	Tail *tail = arg;

	if (release->status != RELEASE_FAILED || release->number <= tail->last_success)
		return;
	tail->failures++;
	if (release->number < tail->last_failure)
		return;
	tail->last_failure = release->number;
	strlcpy(tail->error, release->error != NULL ? release->error : "", sizeof(tail->error));
}

/* The columns that the option allow_identifying names, as a name[]. */
static Datum
allowed_to_identify(const KanonPublication *publication)
{
	JsonbValue key = {.type = jbvString, .val.string = {.val = "allow_identifying", .len = 17}};
	JsonbValue *list = findJsonbValueFromContainer(&publication->options->root, JB_FOBJECT, &key);
	Datum *names = NULL;
	int n = 0;

	if (list != NULL && list->type == jbvBinary && JsonContainerIsArray(list->val.binary.data))
	{
		JsonbContainer *array = list->val.binary.data;

		names = palloc(sizeof(Datum) * JsonContainerSize(array));
		for (uint32 i = 0; i < JsonContainerSize(array); i++)
		{
			JsonbValue *name = getIthJsonbValueFromContainer(array, i);

			if (name != NULL && name->type == jbvString)
				names[n++] = DirectFunctionCall1(
					namein, CStringGetDatum(pnstrdup(name->val.string.val, name->val.string.len)));
		}
	}
	return PointerGetDatum(construct_array(names, n, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR));
}

static void
put_status(ReturnSetInfo *rsinfo, const KanonPublication *publication, const Interval *limit)
{
	Interval ever = {.month = 10000 * MONTHS_PER_YEAR}; /* the sum of a time and more may be no time */
	TimestampTz now = GetCurrentTimestamp();
	Release *current = release_current(releases(publication, NULL));
	Tail tail = {0};
	const char *status = "fresh";
	Datum values[STATUS_COLUMNS];
	bool nulls[STATUS_COLUMNS] = {false};

	bool all = watched_by_caller(publication->owner, publication->published);

	releases_visit(publication, find_success, &tail);
	releases_visit(publication, count_failures, &tail);
	if (limit != NULL && current != NULL &&
		DatumGetBool(DirectFunctionCall2(interval_lt, PointerGetDatum(limit), PointerGetDatum(&ever))) &&
		DatumGetTimestampTz(DirectFunctionCall2(
			timestamptz_pl_interval, TimestampTzGetDatum(current->finished), PointerGetDatum(limit))) < now)
		status = "stale";
	if (tail.failures > 0 || current == NULL || !OidIsValid(publication->published) ||
		!OidIsValid(source_view_reads(publication->source)))
		status = "failing";
	values[0] = CStringGetTextDatum(publication->name);
	values[1] = CStringGetTextDatum(status);
	values[2] = Int64GetDatum(publication->k);
	nulls[3] = current == NULL || !all;
	nulls[4] = nulls[5] = current == NULL;
	values[3] = current == NULL ? (Datum) 0 : Int64GetDatum(current->number);
	values[4] = current == NULL ? (Datum) 0 : TimestampTzGetDatum(current->finished);
	values[5] = current == NULL ? (Datum) 0
								: DirectFunctionCall2(timestamp_mi, TimestampTzGetDatum(now),
													  TimestampTzGetDatum(current->finished));
	nulls[6] = !all;
	values[6] = Int64GetDatum(tail.failures);
	nulls[7] = tail.failures == 0 || !all;
	values[7] = nulls[7] ? (Datum) 0 : CStringGetTextDatum(tail.error);
	nulls[8] = !all;
	values[8] = allowed_to_identify(publication);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* kanon_publication_status(publication text, fail_if_older_than interval): NULL: all there are */
Datum
kanon_publication_status(PG_FUNCTION_ARGS)
{
	Interval *limit = PG_ARGISNULL(1) ? NULL : PG_GETARG_INTERVAL_P(1);
	Oid extension = extension_schema(fcinfo);
	ListCell *lc;

	InitMaterializedSRF(fcinfo, 0);
	if (limit != NULL && DatumGetBool(DirectFunctionCall2(interval_lt, PointerGetDatum(limit),
														  PointerGetDatum(palloc0(sizeof(Interval))))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("fail_if_older_than must not be negative"),
				 errhint("It is an interval such as '26 hours'.")));
	if (!PG_ARGISNULL(0))
		put_status((ReturnSetInfo *) fcinfo->resultinfo,
				   publication_find(extension, text_to_cstring(PG_GETARG_TEXT_PP(0)), read_by_caller), limit);
	else
		foreach (lc, publications(extension, watched_by_caller, NULL))
			put_status((ReturnSetInfo *) fcinfo->resultinfo, lfirst(lc), limit);
	return (Datum) 0;
}
