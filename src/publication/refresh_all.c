/*
 * refresh_all.c: kanon_refresh_all: each publication of the caller's in a transaction of its own.
 *
 * The failures are told in the end, in one error, so that a job that calls it fails.
 */
#include "compat.h"
#include "core/util/fault.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/settings.h"
#include "series/successive.h"
#include "publication/publication.h"

#include "access/xact.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(kanon_refresh_all);

typedef struct Turn
{
	KanonPublication *publication;
	Oid caller;
	Release release;
} Turn;

static void
take_turn(void *arg)
{
	Turn *turn = arg;
	KanonPublication *publication = publication_claim(turn->publication, false);

	publication->caller = turn->caller;
	publication_refresh(publication, &turn->release, true);
}

/* Commits a turn, and says what kept it from that: everything that the turn did is undone then. */
static ErrorData *
commit_turn(MemoryContext context)
{
	ErrorData *volatile error = NULL;

	PG_TRY();
	{
		SPI_commit();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	if (error != NULL && ends_statement(error))
		ReThrowError(error);
	return error;
}

/* The turn was undone with what it had recorded: that it failed is recorded in another one. */
static void
record_undone(void *arg)
{
	Turn *turn = arg;
	KanonPublication *publication = publication_claim(turn->publication, false);
	Release failed = turn->release;
	Identity saved;

	identity_assume(publication, &saved);
	SPI_connect();
	(void) releases(publication, &failed.number);
	failed.number++;
	release_add(publication, &failed);
	SPI_finish();
	identity_return(&saved);
}

static ErrorData *
in_turn(void (*work)(void *arg), Turn *turn)
{
	ErrorData *error;

	PushActiveSnapshot(GetTransactionSnapshot());
	error = attempt(work, turn);
	PopActiveSnapshot();
	return error;
}

/* One publication, in a transaction of its own.  False: it was not refreshed, and the reason is appended. */
static bool
refresh_in_turn(KanonPublication *publication, Oid caller, MemoryContext context, StringInfo failures,
				bool *more)
{
	Turn turn = {.publication = publication, .caller = caller};
	ErrorData *error;

	if (publication_is_broken(publication))
	{
		appendStringInfo(failures, "%s%s: %s. It is mended by: %s", failures->len > 0 ? "\n" : "",
						 publication->name, publication->problem, publication->remedy);
		return false;
	}
	error = in_turn(take_turn, &turn);
	if (error != NULL)
		failure_note(&turn.release, error);
	error = commit_turn(context);
	if (error != NULL)
	{
		failure_note(&turn.release, error);
		(void) in_turn(record_undone, &turn);
		(void) commit_turn(context);
	}
	*more = turn.release.status == RELEASE_CURRENT && turn.release.more;
	if (turn.release.status != RELEASE_FAILED)
		return true;
	appendStringInfo(failures, "%s%s: %s", failures->len > 0 ? "\n" : "", publication->name,
					 failure_text(&turn.release));
	return false;
}

/* A publication that appends has as many turns as it takes until no rows are left. */
static bool
refresh_until_none(KanonPublication *publication, Oid caller, MemoryContext context, StringInfo failures)
{
	bool more = false;

	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!refresh_in_turn(publication, caller, context, failures, &more))
			return false;
	} while (more);
	return true;
}

static void
raise_none(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("role %s has no publications", quote_identifier(GetUserNameFromId(GetUserId(), false))),
			 errhint("Call it as the role that owns them, as a member that inherits its rights, or as a "
					 "superuser. See kanon_publications.")));
}

/* kanon_refresh_all() */
Datum
kanon_refresh_all(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	Oid extension = extension_schema(fcinfo);
	List *all;
	ListCell *lc;
	List *unread = NIL;
	int busy;
	int turns;
	int failed;
	StringInfoData failures;

	if (fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic)
		ereport(
			ERROR,
			(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
			 errmsg("kanon_refresh_all commits after each publication and cannot run inside a transaction"),
			 errhint("CALL it by itself; inside a transaction use kanon_refresh.")));
	refuse_read_only(fcinfo);
	initStringInfo(&failures); /* told when SPI has let go of the rows that it read */
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	all = publications_seen(extension, owned_by_caller, &unread);
	busy = list_length(unread);
	turns = list_length(all) + busy;
	if (turns == 0)
		raise_none();
	failed = busy;
	if (busy > 0)
		appendStringInfo(&failures, "%d locked by other sessions: see the warnings.", busy);
	foreach (lc, all)
		failed += !refresh_until_none(lfirst(lc), fcinfo->flinfo->fn_oid, context, &failures);
	SPI_finish();
	if (failed > 0)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("%d of %d publications could not be refreshed", failed, turns),
						errdetail("%s", failures.data),
						errhint("%sSee kanon_releases and kanon_publication_status.",
								failed < turns ? "The others were refreshed and committed. " : "")));
	PG_RETURN_VOID();
}
