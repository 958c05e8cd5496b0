/*
 * refresh.c: kanon_refresh: the next release of a publication.
 *
 * A release is a new table.  When it is written, checked and, if asked for, compared
 * with those before it, the view is switched to it: the only moment at which readers
 * have to wait.  Anything that fails before is undone in a subtransaction, and readers
 * go on with the release they have; the failure is then recorded in the transaction
 * that goes on.  A cancelled statement is not a failed refresh: it ends the
 * transaction as it would any other.
 */
#include "compat.h"
#include "core/util/fault.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "distributed/citus.h"
#include "host/lines.h"
#include "host/settings.h"
#include "rows/verify.h"
#include "options/request.h"
#include "series/successive.h"
#include "series/values.h"
#include "run/run.h"
#include "publication/appended.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(kanon_refresh);

/* ---- releases that go ---- */

typedef struct Drop
{
	const KanonPublication *publication;
	Release *release;
	bool rows_alone;
} Drop;

static void
drop_tables(void *arg)
{
	const Drop *drop = arg;
	List *own = NIL;
	ListCell *lc;

	foreach (lc, release_tables(drop->release, drop->rows_alone))
	{
		/* relations of others are not locked */
		if (!publication_owns(drop->publication, lfirst_oid(lc), RELKIND_RELATION))
			continue;
		if (!ConditionalLockRelationOid(lfirst_oid(lc), AccessExclusiveLock))
			ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE), errmsg("an old release is still in use")));
		own = lappend_oid(own, lfirst_oid(lc));
	}
	drop_relations("TABLE", own);
}

/*
 * Drops what is older than the releases to keep.  One that is still in use, or
 * that somebody made a view of, stays until the next refresh.
 */
static void
drop_old(const KanonPublication *publication, List *releases)
{
	int kept = 0;

	if (publication->append != NULL)
	{
		appended_expire(publication, releases);
		return;
	}
	for (int i = list_length(releases) - 1; i >= 0; i--)
	{
		Drop drop = {.publication = publication, .release = list_nth(releases, i)};

		/* of histories the last table has all */
		drop.rows_alone = ++kept <= Max(publication->keep_releases, 1);
		if ((drop.rows_alone && (kept == 1 || release_tables(drop.release, true) == NIL)) ||
			attempt(drop_tables, &drop) != NULL)
			continue;
		release_forget(drop.release, drop.rows_alone);
		if (!drop.rows_alone)
			drop.release->status = RELEASE_DROPPED;
		release_update(publication, drop.release);
	}
}

/* ---- a release ---- */

/*
 * The last word on a release, whichever method made it.  One without classes has
 * been compared with its source when it was written, and only then could be: the
 * source may have changed since.
 */
void
release_check(const KanonPublication *publication, Release *release, const Run *run)
{
	/* of sets of items the run counts transactions, which are not rows */
	int64 expected = run->types != NULL ? run->types->nrows - run->release.dropped : -1;

	release->row_count = release_rows(publication, release->relation, &release->k);
	if (expected >= 0 && release->row_count != expected)
		raise_unsafe(psprintf("It has " INT64_FORMAT " rows instead of " INT64_FORMAT ".", release->row_count,
							  expected));
	if (run->problem.freeform != NULL)
		release->k = run->problem.k;
	/* of sets k counts transactions that share items, of few columns rows that share these: both when they were written */
	if (run->request->model->of_sets || run->problem.known != NULL)
		release->k = publication->k;
	/* in a population k was counted by the run, and again as it stands in the target */
	if (release->k > 0 && release->k < publication->k && !run->problem.k_map)
		raise_unsafe(psprintf("A class has " INT64_FORMAT " rows, k is " INT64_FORMAT ".", release->k,
							  publication->k));
	/* rows are no persons: the run counted those, and again as they stand in the target */
	if (run->problem.privacy != NULL && kanon_privacy_person(run->problem.privacy) >= 0)
		release->k = publication->k;
}

char *
release_table_name(const KanonPublication *publication, const Release *release, const char *of,
				   const char *what, char **bare)
{
	return private_name(of, psprintf("%s_" INT64_FORMAT, what, release->number),
						get_rel_namespace(publication->definition), bare);
}

static char *
table_name(const KanonPublication *publication, const Release *release, const char *what, char **bare)
{
	List *names = textToQualifiedNameList(cstring_to_text(publication->name));

	return release_table_name(publication, release, strVal(llast(names)), what, bare);
}

char *
definition_text(const KanonPublication *publication)
{
	int n;
	char **qis = name_array(publication->qis, "quasi_identifiers", &n);
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "%s " INT64_FORMAT " %d %d %s\n%s", publication->model, publication->k,
					 publication->stable, publication->protect_successive,
					 publication->key != NULL ? quote_identifier(publication->key) : "-",
					 JsonbToCString(NULL, &publication->options->root, VARSIZE(publication->options)));
	for (int i = 0; i < n; i++)
		appendStringInfo(&text, " %s", quote_identifier(qis[i]));
	appendStringInfoString(&text, policy_points(publication));
	if (publication->protect_values)
		appendStringInfoString(&text, "\nvalues");
	return text.data;
}

void
release_trust(const Release *release)
{
	ListCell *lc;

	foreach (lc, release_tables(release, false))
		relation_trust(lfirst_oid(lc));
}

/* Without them the next release would begin others, and nobody would know that those before are forgotten. */
void
refuse_lost_histories(const Release *before)
{
	if (before == NULL || !before->histories_lost)
		return;
	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 errmsg("the histories of the release before are gone"),
		 errdetail("Their private table was dropped, or belongs to another role."),
		 errhint("Give it back. Or begin new histories: kanon_alter_publication with protect_successive => "
				 "false, a refresh, and true again.")));
}

/* The request for the next release. */
static void
fill_request(const KanonPublication *publication, const Release *release, List *releases, bool may_keep,
			 Request *request)
{
	const Release *before = release_current(releases);
	const Model *model = model_find(publication->model);
	char *bare;

	if (before != NULL)
		release_trust(before);
	/* the definition is its owner's, who may have written into it */
	definition_check_stable(publication, model);
	memset(request, 0, sizeof(*request));
	request->k = publication->k;
	request->series.stable = publication->stable || publication->protect_successive;
	request->published = true;
	request_of_json(request, model,
					relations_followed(publication->options, publication->relations, publication->owner));
	request->caller = publication->caller;
	request->publication = publication->name;
	request->source = publication->source;
	request->qis = publication->qis;
	refuse_own_names(request->qis, "quasi_identifiers");
	refuse_own_names(request->columns.keep, "keep");
	request->series.key = publication->key;
	request->columns.mask_key = publication->mask_key;
	if (publication->key != NULL)
		request->series.persons = table_name(publication, release, "persons", &bare);
	if (publication->protect_successive)
	{
		refuse_lost_histories(before);
		request->series.histories = palloc0(sizeof(Histories));
		request->series.histories->before = before != NULL ? before->rows : InvalidOid;
		request->series.histories->after = table_name(publication, release, "rows", &bare);
		request->series.histories->release = release->number;
	}
	if (publication->protect_values)
		values_fill(publication, before, release->number, table_name(publication, release, "values", &bare),
					request);
	request->series.like = before != NULL ? before->relation : InvalidOid;
	request->series.definition = definition_text(publication);
	request->series.rehearsed = !may_keep;
	request->series.bounds = publication->bounds;
	/* (who is held back may be let in, and ages) */
	if (may_keep && publication->bounds != NULL && before != NULL && OidIsValid(before->relation) &&
		view_shows(publication->published, before->relation) && before->held_persons == 0 &&
		(publication->key == NULL || OidIsValid(before->persons)) &&
		(!request->series.stable || OidIsValid(before->types)))
		request->series.seen = before->digest;
	if (request->series.stable)
	{
		request->series.types = table_name(publication, release, "types", &bare);
		request->series.previous = before != NULL ? before->types : InvalidOid;
	}
	request->series.rows_before = before != NULL ? before->row_count : 0;
}

static Oid
relation_of(const char *name)
{
	return RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name))), NoLock,
							false);
}

/* The release was made, and the owner has to know that it began anew. */
static void
tell_anew(KanonPublication *publication, Release *release, const Run *run)
{
	if (run->anew == NULL)
		return;
	release->message = "unchanged rows were separated";
	release->detail = MemoryContextStrdup(GetMemoryChunkContext(publication), run->anew);
	release->hint = run->request->series.histories != NULL
						? "The histories of persons are protected all the same."
						: "Readers who keep releases can tell who moved.";
}

void
release_outline(KanonPublication *publication, Release *release, List *releases)
{
	Request request;
	const Release *before = release_current(releases);
	Run *run;
	char *bare;

	(void) source_of(publication);
	fill_request(publication, release, releases, false, &request);
	request.target = table_name(publication, release, "release", &bare);
	request.series.histories = NULL;
	request.series.values = NULL;
	request.series.definition = NULL;
	request.series.outlined = true;
	run = run_request(&request);
	release->relation = run->target->relid;
	if (publication->protect_successive && before != NULL && OidIsValid(before->rows))
		histories_check_columns(run, before->rows);
	run_end(run);
}

void
release_make(KanonPublication *publication, Release *release, List *releases, bool may_keep)
{
	Request request;
	const Release *before;
	Run *run;
	char *bare;
	int nest = uncounted_begin();

	publication_check_k(publication->k);
	(void) source_of(publication);
	if (publication->append != NULL)
	{
		appended_make(publication, release, releases);
		counting_end(nest);
		return;
	}
	if (publication_is_linked(publication))
	{
		linked_release_make(publication, release, releases, may_keep);
		counting_end(nest);
		return;
	}
	fill_request(publication, release, releases, may_keep, &request);
	request.target = table_name(publication, release, "release", &bare);
	if (request.series.histories != NULL)
		histories_tell(request.series.histories, &release->none, &release->held_persons,
					   &release->held_oldest);
	request.series.recorded_later = true;
	run = run_request(&request);
	if (run->unchanged)
	{
		release->status = RELEASE_UNCHANGED;
		run_end(run);
		if (request.series.histories != NULL)
			UnregisterSnapshot(request.series.histories->snapshot);
		counting_end(nest);
		return;
	}
	release->relation = run->target->relid;
	if (run->unwritten)
	{
		before = release_current(releases);
		release->row_count = run->types->nrows - run->release.dropped;
		limits_check(run, release, before);
		if (before != NULL && OidIsValid(before->persons) && publication->key != NULL)
			check_keys(run->source->relid, publication->key, before->persons);
		run_end(run);
		counting_end(nest);
		return;
	}
	release->cost = run->report.cost;
	tell_anew(publication, release, run);
	release->persons = request.series.persons != NULL ? relation_of(request.series.persons) : InvalidOid;
	release->types = request.series.types != NULL ? relation_of(request.series.types) : InvalidOid;
	/* the run's memory goes with it */
	publication->bounds =
		run->bounds != NULL
			? memcpy(MemoryContextAlloc(GetMemoryChunkContext(publication), VARSIZE(run->bounds)),
					 run->bounds, VARSIZE(run->bounds))
			: NULL;
	if (run->digest != NULL)
	{
		release->digest = MemoryContextAlloc(GetMemoryChunkContext(publication), VARSIZE_ANY(run->digest));
		memcpy(release->digest, run->digest, VARSIZE_ANY(run->digest));
	}
	if (request.series.histories != NULL)
	{
		release->rows = relation_of(request.series.histories->after);
		release->held_persons = request.series.histories->told.persons;
		release->held_oldest = request.series.histories->told.oldest;
	}
	if (request.series.values != NULL)
	{
		release->rows = relation_of(request.series.values->after);
		release->held_persons = request.series.values->told.persons;
		release->held_oldest = request.series.values->told.oldest;
	}
	CommandCounterIncrement();
	keep_private(release->relation);
	if (FAULT(release_changed))
		run_utility(psprintf("DELETE FROM %s WHERE ctid OPERATOR(pg_catalog.=) '(0,1)'",
							 name_relation(release->relation)));
	if (FAULT(release_moved))
	{
		const char *name = name_relation(release->relation);
		const char *column = quote_identifier(get_attname(release->relation, 1, false));

		run_utility(psprintf(
			"UPDATE %s SET %s = (SELECT %s FROM %s ORDER BY ctid DESC LIMIT 1) WHERE ctid OPERATOR(pg_catalog.=) '(0,1)'",
			name, column, column, name));
	}
	if (FAULT(view_renamed))
		run_utility(psprintf("ALTER TABLE %s RENAME COLUMN %s TO renamed", name_relation(release->relation),
							 quote_identifier(get_attname(release->relation, 2, false))));
	progress_say("checking", 0, -1);
	release_check(publication, release, run);
	before = release_current(releases);
	/* (a rehearsal tells nobody how many persons differ) */
	release->difference = before == NULL ? 0
						  : request.series.histories != NULL && OidIsValid(request.series.histories->before)
							  ? request.series.histories->fewest
							  : release_difference(publication, before, release, may_keep);
	run_record_last(run);
	limits_check(run, release, before);
	run_end(run);
	if (request.series.histories != NULL)
		UnregisterSnapshot(request.series.histories->snapshot);
	counting_end(nest);
}

void
view_show(KanonPublication *publication, Oid release)
{
	if (OidIsValid(publication->published))
	{
		progress_say("waiting for readers", 0, -1);
		view_lock(publication);
		/* nobody can rename it any more */
		publication_rename(publication);
	}
	view_switch(publication, release);
}

void
release_build(KanonPublication *publication, Release *release, List *releases)
{
	release_make(publication, release, releases, true);
	if (release->status == RELEASE_UNCHANGED)
		return;
	if (publication->append != NULL)
	{
		appended_attach(publication, release);
		return;
	}
	linked_views_lock(publication);
	view_show(publication, release->relation);
	linked_views_switch(publication, release);
}

static void
raise_busy(const KanonPublication *publication)
{
	ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					errmsg("publication %s is being refreshed by another session", publication->name),
					errhint("Try again later, or say wait => true.")));
}

KanonPublication *
publication_claim(KanonPublication *publication, bool wait)
{
	KanonPublication *current;

	if (!publication_lock(publication, wait))
		raise_busy(publication);
	current = publication_read(publication->extension, publication->definition);
	if (current == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						errmsg("publication %s was dropped meanwhile", publication->name),
						errhint("See kanon_publications.")));
	publication_diagnose(current);
	if (publication_is_broken(current))
		publication_raise_broken(current);
	return current;
}

static void
set_until_end(const char *setting, const char *value)
{
	(void) set_config_option(setting, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Nobody may be watching a refresh, so it says how far it is only when told to.  A
 * scheduled refresh says nothing that is no warning: what it did is in the history.
 */
static void
be_quiet(bool scheduled)
{
	if (kanon_progress == PROGRESS_AUTO)
		set_until_end("kanon.progress", "off");
	if (scheduled && client_min_messages == NOTICE)
		set_until_end("client_min_messages", "warning");
}

/*
 * Default privileges of another database, where a dump was restored, gave others what they
 * say on tables that are nobody's business.  (Readers of a distributed release need some.)
 */
static void
close_tables(const KanonPublication *publication, List *releases)
{
	ListCell *lc;

	SPI_connect();
	foreach (lc, publication_objects(publication, releases))
	{
		const PublicationObject *object = lfirst(lc);

		if (object->part == PART_VIEW)
			keep_readable(object->relid);
		else if (object->part != PART_RELEASE || citus_kind(object->relid) == TABLE_LOCAL)
			keep_private(object->relid);
		if (object->part == PART_ROWS)
			forget_counts(object->relid);
	}
	SPI_finish();
}

/* The current release stands: it is told instead of another one. */
static void
keep_release(const KanonPublication *publication, List *releases, Release *before, Release *release)
{
	before->checked = GetCurrentTimestamp();
	appended_take_counts(before, release);
	release_update(publication, before);
	drop_old(publication, releases);
	*release = *before;
	release->status = RELEASE_UNCHANGED;
}

/* The new release takes the place of the current one. */
static void
record_release(KanonPublication *publication, List *releases, Release *before, Release *release)
{
	release->status = RELEASE_CURRENT;
	if (before != NULL)
	{
		appended_take_recount(release, before);
		before->status = RELEASE_KEPT;
		release_update(publication, before);
	}
	publication_store_made(publication);
	release_add(publication, release);
	drop_old(publication, lappend(releases, release));
}

/* Undoes the new release and records that it failed. */
static void
record_failure(const KanonPublication *publication, Release *release, List *releases, const ErrorData *error)
{
	release->finished = GetCurrentTimestamp();
	if (release->none && release_current(releases) != NULL && raised_by_kanon(error))
		failure_held(publication, release, error);
	else
		failure_note(release, error);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	release_add(publication, release);
	SPI_finish();
}

typedef struct Build
{
	KanonPublication *publication;
	Release *release;
	List *releases;
} Build;

/* The release and its record: one is not there without the other. */
static void
build(void *arg)
{
	Build *build = arg;
	Release *before;
	Oid before_anew = InvalidOid;

	SPI_connect();
	if (build->publication->anew)
		before_anew = appended_forget(build->publication);
	release_build(build->publication, build->release, build->releases);
	if (build->publication->anew)
		build->releases = appended_drop_before(build->publication, before_anew, build->releases);
	build->release->finished = GetCurrentTimestamp();
	before = release_current(build->releases);
	if (build->release->status == RELEASE_UNCHANGED)
		keep_release(build->publication, build->releases, before, build->release);
	else
		record_release(build->publication, build->releases, before, build->release);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/* One refresh, recorded; what it came to in *release. */
void
publication_refresh(KanonPublication *publication, Release *release, bool scheduled)
{
	Build work = {.publication = publication, .release = release};
	ErrorData *error;
	Identity saved;

	progress_publication(publication->name, publication->owner);
	memset(release, 0, sizeof(*release));
	work.releases = releases(publication, &release->number);
	/* the owner of the history can write any number into it */
	if (release->number == PG_INT64_MAX)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("there is no number for another release of publication %s", publication->name),
						errhint("Somebody has written into its history: correct the column release of %s.",
								name_relation(publication->history))));
	release->number++;
	release->started = GetCurrentTimestamp();
	identity_assume(publication, &saved);
	be_quiet(scheduled);
	close_tables(publication, work.releases);
	error = attempt(build, &work);
	/* in memory that outlives what follows: its caller is told, too */
	if (error != NULL)
		record_failure(publication, release, work.releases, error);
	/* schedules are told of all in the end, once */
	if (error != NULL && release->status == RELEASE_FAILED && !scheduled)
		failure_warn(publication, release);
	identity_return(&saved);
}

static void
put_release(Lines *lines, const KanonPublication *publication, const Release *release)
{
	bool made = release->status != RELEASE_FAILED && release->status != RELEASE_HELD;

	line_text(lines, publication->name);
	line_int8(lines, release->number, true);
	line_text(lines, release_status_name(release->status));
	line_int8(lines, release->row_count, made);
	line_int8(lines, release->k, made && release->k > 0);
	line_float8(lines, release->cost, made);
	line_int8(lines, release->held_persons, release_tells_held(release));
	line_text(lines, made ? NULL : release->error);
	line_text(lines, release->message);
	line_end(lines);
}

/* kanon_refresh(publication text, wait boolean, anew boolean, publish_late boolean, recount boolean) */
Datum
kanon_refresh(PG_FUNCTION_ARGS)
{
	char *name = text_arg(fcinfo, 0, "publication", "See kanon_publications.");
	bool wait = bool_arg(fcinfo, 1, "wait");
	bool anew = bool_arg(fcinfo, 2, "anew");
	bool publish_late = bool_arg(fcinfo, 3, "publish_late");
	bool recount = bool_arg(fcinfo, 4, "recount");
	KanonPublication *publication;
	Release release;
	Lines *lines;

	refuse_read_only(fcinfo);
	lines = lines_begin(fcinfo);
	publication = publication_find(extension_schema(fcinfo), name, owned_by_caller);
	publication = publication_claim(publication, wait);
	publication->caller = fcinfo->flinfo->fn_oid;
	appended_ask(publication, anew, publish_late, recount);
	publication_refresh(publication, &release, false);
	if (release.more)
		ereport(NOTICE,
				(errmsg("more rows of publication %s wait for the next batch", publication->name),
				 errhint("Refresh it again, or CALL kanon_refresh_all(), which goes on until none wait.")));
	put_release(lines, publication, &release);
	return (Datum) 0;
}
