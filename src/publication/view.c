/*
 * view.c: the view that readers see is switched to another release.
 */
#include "compat.h"
#include "host/catalog.h"
#include "write/target.h"
#include "publication/publication.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "lib/stringinfo.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

/*
 * Readers queue behind whoever waits for the view, so we wait for moments only,
 * with longer and longer pauses between them.
 */
#define SWITCH_WAIT "200ms"
#define SWITCH_FIRST_PAUSE 50L /* ms */
#define SWITCH_MOST_PAUSE 2000L

static void
queue_for_view(void *view)
{
	int nest = NewGUCNestLevel();

	(void) set_config_option("lock_timeout", SWITCH_WAIT, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true,
							 0, false);
	LockRelationOid(*(Oid *) view, AccessExclusiveLock);
	AtEOXact_GUC(true, nest);
}

/* A definition can name any relation; only a view of its owner's is waited for. */
static void
check_view(const KanonPublication *publication)
{
	if (!publication_owns(publication, publication->published, RELKIND_VIEW))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("the view of publication %s was dropped", publication->name),
						errhint("Drop the publication by kanon_drop_publication and create it anew.")));
}

static void
wait_for_view(const KanonPublication *publication)
{
	Oid view = publication->published;
	TimestampTz since = GetCurrentTimestamp();
	long pause = SWITCH_FIRST_PAUSE;

	while (!ConditionalLockRelationOid(view, AccessExclusiveLock))
	{
		ErrorData *error = attempt(queue_for_view, &view);

		if (error == NULL)
			return;
		if (error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
			ReThrowError(error);
		if (LockTimeout > 0 && TimestampDifferenceExceeds(since, GetCurrentTimestamp(), LockTimeout))
			ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
							errmsg("readers kept the view for longer than lock_timeout"),
							errhint("Raise lock_timeout, or end the transactions that have read it.")));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, pause, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		pause = Min(2 * pause, SWITCH_MOST_PAUSE);
		check_view(publication);
	}
}

void
view_lock(const KanonPublication *publication)
{
	check_view(publication);
	wait_for_view(publication);
	check_view(publication);
}

/*
 * A view cannot change the columns it has, and what readers know by one name must
 * not become something else: raises before either would be tried.
 */
static void
check_columns(Oid published, TupleDesc view, TupleDesc release)
{
	Oid before = source_view_reads(published);
	bool same = OidIsValid(before) && view->natts <= release->natts;

	for (int i = 0; same && i < view->natts; i++)
	{
		Form_pg_attribute old = TupleDescAttr(view, i);
		Form_pg_attribute new = TupleDescAttr(release, i);
		AttrNumber attnum = source_view_column(published, NameStr(old->attname));

		same = attnum > 0 && strcmp(get_attname(before, attnum, false), NameStr(new->attname)) == 0 &&
			   old->atttypid == new->atttypid && old->atttypmod == new->atttypmod &&
			   old->attcollation == new->attcollation;
	}
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				 errmsg("the release has other columns than the view that readers know"),
				 errhint("Columns can only be added at the end. Otherwise drop the publication and create it "
						 "anew, or create another one.")));
}

void
view_switch(KanonPublication *publication, Oid release)
{
	Relation rel = relation_open(release, AccessShareLock);
	TupleDesc desc = RelationGetDescr(rel);
	TupleDesc known = NULL;
	StringInfoData sql;

	if (OidIsValid(publication->published))
	{
		Relation view = relation_open(publication->published, NoLock);

		known = CreateTupleDescCopy(RelationGetDescr(view));
		relation_close(view, NoLock);
		check_columns(publication->published, known, desc);
	}
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE %s VIEW %s WITH (security_barrier) AS SELECT ",
					 known != NULL ? "OR REPLACE" : "", publication->name);
	for (int i = 0; i < desc->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(desc, i)->attname);
		const char *shown =
			known != NULL && i < known->natts ? NameStr(TupleDescAttr(known, i)->attname) : name;

		appendStringInfo(&sql, "%s%s AS ", i > 0 ? ", " : "", quote_identifier(name));
		appendStringInfoString(&sql, quote_identifier(shown));
	}
	appendStringInfo(&sql, " FROM %s", relation_name(release));
	relation_close(rel, NoLock);
	run_utility(sql.data);
}
