/*
 * view.c: the view that readers see is switched to another release.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "rows/target.h"
#include "publication/publication.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

/* A definition can name any relation; only a view of its owner's is waited for. */
static void
check_view(const void *arg)
{
	const KanonPublication *publication = arg;

	if (!publication_owns(publication, publication->published, RELKIND_VIEW))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("the view of publication %s was dropped", publication->name),
						errhint("Drop the publication by kanon_drop_publication and create it anew.")));
}

void
view_lock(const KanonPublication *publication)
{
	check_view(publication);
	lock_without_queue(publication->published, "view", check_view, publication);
	check_view(publication);
}

bool
view_shows(Oid view, Oid release)
{
	int from;
	const Query *query = source_view_reads(view) == release ? plain_view(view, &from) : NULL;
	/* which worker has a row is no column of the view */
	AttrNumber shard = OidIsValid(release) ? get_attnum(release, KANON_SHARD_COLUMN) : InvalidAttrNumber;
	int natts = relation_natts(release) - (shard != InvalidAttrNumber);
	ListCell *lc;

	if (query == NULL || list_length(query->targetList) != natts)
		return false;
	foreach (lc, query->targetList)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);
		const Var *column = IsA(entry->expr, Var) ? (const Var *) entry->expr : NULL;

		if (column == NULL || column->varno != from || column->varattno != entry->resno)
			return false;
	}
	return true;
}

/*
 * A view cannot change the columns it has, and what readers know by one name must
 * not become something else: raises before either would be tried.
 */
static void
check_columns(Oid published, TupleDesc view, TupleDesc release)
{
	Oid before = source_view_reads(published);
	bool shown = OidIsValid(before) && view_shows(published, before);
	bool same = OidIsValid(before) && view->natts <= release->natts;

	for (int i = 0; same && i < view->natts; i++)
	{
		Form_pg_attribute old = TupleDescAttr(view, i);
		Form_pg_attribute new = TupleDescAttr(release, i);
		AttrNumber attnum = shown ? i + 1 : source_view_column(published, NameStr(old->attname));
		/* where its owner has written something else into it, a name that was not changed tells, too */
		bool named = !shown && strcmp(NameStr(old->attname), NameStr(new->attname)) == 0;
		const char *known = named        ? NameStr(new->attname)
							: attnum > 0 ? get_attname(before, attnum, false)
										 : "";

		same = strcmp(known, NameStr(new->attname)) == 0 && old->atttypid == new->atttypid &&
			   old->atttypmod == new->atttypmod && old->attcollation == new->attcollation;
	}
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				 errmsg("the release has other columns than the view that readers know"),
				 errhint("Columns can only be added at the end. Otherwise drop the publication and create it "
						 "anew, or create another one.")));
}

/* Its columns; NULL: there is none yet. */
static TupleDesc
view_columns(const KanonPublication *publication)
{
	TupleDesc known;
	Relation view;

	if (!OidIsValid(publication->published))
		return NULL;
	view = relation_open(publication->published, AccessShareLock);
	known = CreateTupleDescCopy(RelationGetDescr(view));
	relation_close(view, NoLock);
	return known;
}

void
view_check(const KanonPublication *publication, Oid release)
{
	Relation rel = relation_open(release, AccessShareLock);
	TupleDesc known = view_columns(publication);

	if (known != NULL)
		check_columns(publication->published, known, RelationGetDescr(rel));
	relation_close(rel, NoLock);
}

/*
 * The view says what its release does, and follows it: but what somebody else has
 * written there, which the release before (InvalidOid: none) does not say, stays.
 */
static void
follow_comments(Oid view, Oid before, Oid release, int natts)
{
	char *text = comment_of(release, 0);

	if (text != NULL)
		comment_renew(view, text);
	for (int i = 1; i <= natts; i++)
	{
		char *shown = comment_of(view, i);
		char *copied = OidIsValid(before) ? comment_of(before, i) : NULL;

		if (shown == NULL || (copied != NULL && strcmp(shown, copied) == 0))
			comment_set(view, i, comment_of(release, i));
	}
}

void
view_switch(KanonPublication *publication, Oid release)
{
	Relation rel = relation_open(release, AccessShareLock);
	TupleDesc desc = RelationGetDescr(rel);
	TupleDesc known = view_columns(publication);
	bool distributed = citus_kind(release) == TABLE_DISTRIBUTED;
	int natts = desc->natts - (distributed ? 1 : 0); /* which worker has a row is nobody's business */
	Oid before = InvalidOid;
	StringInfoData sql;

	if (known != NULL)
	{
		check_columns(publication->published, known, desc);
		before = source_view_reads(publication->published);
	}
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE %s VIEW %s WITH (security_barrier) AS SELECT ",
					 known != NULL ? "OR REPLACE" : "", publication->name);
	for (int i = 0; i < natts; i++)
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
	CommandCounterIncrement();
	if (!OidIsValid(publication->published))
		publication->published = RangeVarGetRelid(
			makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(publication->name))), NoLock,
			false);
	if (known == NULL)
		keep_readable(publication->published);
	follow_comments(publication->published, before, release, natts);
	if (distributed)
		target_share(publication->published, release);
}
