/*
 * source_view.c: the private view through which a publication reads its source.
 *
 * It has the columns that the publication uses and no others, so that they
 * cannot be dropped or change their type unnoticed, while the rest of the source
 * may; and it keeps their names when they are renamed there.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "rows/target.h"
#include "rows/replaced.h"
#include "publication/appended.h"
#include "host/attempt.h"

#include <ctype.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_rewrite.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "rewrite/rewriteDefine.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteSupport.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

/* The relation a simple view reads, and its targets; NULL when it is something else. */
static RangeTblEntry *
simple_view(Relation view, Query **query)
{
	Node *from;

	if (view->rd_rel->relkind != RELKIND_VIEW)
		return NULL;
	*query = get_view_query(view);
	if (list_length((*query)->jointree->fromlist) != 1)
		return NULL;
	from = linitial((*query)->jointree->fromlist);
	if (!IsA(from, RangeTblRef))
		return NULL;
	return list_nth((*query)->rtable, ((RangeTblRef *) from)->rtindex - 1);
}

Oid
source_view_reads(Oid view)
{
	HeapTuple rule =
		SearchSysCache2(RULERELNAME, ObjectIdGetDatum(view), PointerGetDatum(ViewSelectRuleName));
	Relation depend;
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple tuple;
	Oid relid = InvalidOid;
	bool several = false;

	if (!HeapTupleIsValid(rule))
		return InvalidOid;
	ScanKeyInit(&key[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RewriteRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(((Form_pg_rewrite) GETSTRUCT(rule))->oid));
	ReleaseSysCache(rule);
	depend = table_open(DependRelationId, AccessShareLock);
	scan = systable_beginscan(depend, DependDependerIndexId, true, NULL, 2, key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->refclassid != RelationRelationId || form->refobjid == view)
			continue;
		several = several || (OidIsValid(relid) && relid != form->refobjid);
		relid = form->refobjid;
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	return several ? InvalidOid : relid;
}

Oid
source_of(const KanonPublication *publication)
{
	Oid source = OidIsValid(publication->source) ? source_view_reads(publication->source) : InvalidOid;

	if (!OidIsValid(source))
	{
		bool given = !OidIsValid(publication->source) && OidIsValid(publication->source_named) &&
					 relation_owner(publication->source_named) != publication->owner;

		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("the source of the publication %s",
							   given ? "was given to another role" : "was dropped"),
						publication->remedy != NULL && given
							? errhint("It is mended by: %s", publication->remedy)
							: errhint("Drop the publication by kanon_drop_publication and create it anew.")));
	}
	return source;
}

/* A column's number there. */
static AttrNumber
source_view_column(Oid view, const char *name)
{
	Relation rel = try_relation_open(view, AccessShareLock);
	AttrNumber attnum = InvalidAttrNumber;
	Query *query;
	ListCell *lc;

	if (rel == NULL)
		return InvalidAttrNumber;
	if (simple_view(rel, &query) != NULL)
	{
		/* the view's own columns may be renamed, too: its entries are found by place */
		AttrNumber place = get_attnum(view, name);

		foreach (lc, query->targetList)
		{
			TargetEntry *entry = lfirst(lc);

			if (entry->resno == place && IsA(entry->expr, Var))
				attnum = ((Var *) entry->expr)->varattno;
		}
	}
	relation_close(rel, AccessShareLock);
	return attnum;
}

/* The name stands in the text as a word of its own. */
static bool
mentions(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name))
	{
		unsigned char before = at == text ? ' ' : at[-1];
		unsigned char after = at[length];

		if (!isalnum(before) && before != '_' && before < 128 && !isalnum(after) && after != '_' &&
			after < 128)
			return true;
	}
	return false;
}

/*
 * Every text in the options, but for the names of the options: lists of columns,
 * rules about columns, hierarchies of columns, ...
 */
static List *
option_texts(const KanonPublication *publication)
{
	JsonbIterator *it = JsonbIteratorInit(&publication->options->root);
	JsonbIteratorToken token;
	JsonbValue value;
	List *texts = NIL;
	int depth = 0;

	while ((token = JsonbIteratorNext(&it, &value, false)) != WJB_DONE)
	{
		if (token == WJB_BEGIN_OBJECT || token == WJB_BEGIN_ARRAY)
			depth++;
		else if (token == WJB_END_OBJECT || token == WJB_END_ARRAY)
			depth--;
		else if (value.type == jbvString && !(token == WJB_KEY && depth == 1))
			texts = lappend(texts, pnstrdup(value.val.string.val, value.val.string.len));
	}
	return texts;
}

/*
 * Does the publication use a column of that name?  An option that happens to
 * mention a column costs a dependency too many and nothing else.
 */
static bool
is_used(const KanonPublication *publication, List *texts, const char *name)
{
	int n;
	char **qis = name_array(publication->qis, "quasi_identifiers", &n);
	ListCell *lc;

	for (int i = 0; i < n; i++)
		if (strcmp(qis[i], name) == 0)
			return true;
	if (publication->key != NULL && strcmp(publication->key, name) == 0)
		return true;
	if (publication->append != NULL && strcmp(publication->append, name) == 0)
		return true;
	foreach (lc, texts)
		if (mentions(lfirst(lc), name))
			return true;
	return false;
}

/* Said of the source, whose columns its owner knows: the view would only tell which of them are used. */
static void
check_column(Oid source, Oid old, const char *name)
{
	if (get_attnum(source, name) == InvalidAttrNumber &&
		(!OidIsValid(old) || get_attnum(old, name) == InvalidAttrNumber))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of \"%s\" does not exist", excerpt(name), name_bare(source)),
				 errhint("%s", nearest_column(source, name,
											  "Names are taken exactly as written, capitals included."))));
}

/* Checks quasi-identifiers and kept columns: other options mostly name one of these. */
static void
check_source_columns(const KanonPublication *publication, Oid source, Oid old)
{
	JsonbValue word = {.type = jbvString, .val.string = {strlen("keep"), "keep"}};
	const JsonbValue *kept = findJsonbValueFromContainer(&publication->options->root, JB_FOBJECT, &word);
	int n;
	char **qis = name_array(publication->qis, "quasi_identifiers", &n);

	for (int i = 0; i < n; i++)
		check_column(source, old, qis[i]);
	if (kept == NULL || kept->type != jbvBinary || !JsonContainerIsArray(kept->val.binary.data))
		return;
	for (uint32 i = 0; i < JsonContainerSize(kept->val.binary.data); i++)
	{
		const JsonbValue *name = getIthJsonbValueFromContainer(kept->val.binary.data, i);

		if (name->type == jbvString)
			check_column(source, old, pnstrdup(name->val.string.val, name->val.string.len));
	}
}

/* "column AS name" for a column of the source, after those that are there. */
static void
append_column(StringInfo sql, Oid source, AttrNumber attnum, const char *name)
{
	appendStringInfo(sql, "%s%s AS ", sql->len > 0 ? ", " : "",
					 quote_identifier(get_attname(source, attnum, false)));
	appendStringInfoString(sql, quote_identifier(name));
}

/*
 * The columns that are used, under the names that the publication knows: those
 * of the view before (InvalidOid: there is none), then those of the source.
 */
static char *
used_columns(const KanonPublication *publication, Oid source, Oid old)
{
	List *texts = option_texts(publication);
	Relation rel = relation_open(source, AccessShareLock);
	TupleDesc desc = RelationGetDescr(rel);
	StringInfoData sql;

	initStringInfo(&sql);
	if (OidIsValid(old))
	{
		Relation view = relation_open(old, AccessShareLock);

		for (int i = 0; i < RelationGetDescr(view)->natts; i++)
		{
			const char *name = NameStr(TupleDescAttr(RelationGetDescr(view), i)->attname);
			AttrNumber attnum = source_view_column(old, name);

			if (attnum > 0 && is_used(publication, texts, name))
				append_column(&sql, source, attnum, name);
		}
		relation_close(view, NoLock);
	}
	for (int i = 0; i < desc->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(desc, i)->attname);

		if (!TupleDescAttr(desc, i)->attisdropped && is_used(publication, texts, name) &&
			!(OidIsValid(old) && get_attnum(old, name) > 0))
			append_column(&sql, source, i + 1, name);
	}
	relation_close(rel, NoLock);
	return sql.data;
}

/* `old` is the view before, or InvalidOid: its names go on. */
static void
create_view(KanonPublication *publication, Oid source, Oid old, const char *name, Oid namespace)
{
	char *columns;
	char *bare;
	char *qualified;

	check_source_columns(publication, source, old);
	columns = used_columns(publication, source, old);
	if (OidIsValid(old))
	{
		run_utility(psprintf("DROP VIEW %s", name_relation(old)));
		CommandCounterIncrement();
	}
	qualified = private_name(name, "source", namespace, &bare);
	run_utility(psprintf("CREATE VIEW %s AS SELECT %s FROM %s", qualified, columns, name_relation(source)));
	publication->source = get_relname_relid(bare, namespace);
	keep_private(publication->source);
	run_utility(
		psprintf("COMMENT ON VIEW %s IS 'columns of the source that a kanon publication reads'", qualified));
}

void
source_view_create(KanonPublication *publication, Oid source, const char *name, Oid namespace)
{
	if (get_rel_persistence(source) == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is a temporary table", name_bare(source)),
				 errhint("A publication outlives the session: name a table or view that does, too.")));
	create_view(publication, source, InvalidOid, name, namespace);
}

void
source_view_renew(KanonPublication *publication, const char *name, Oid namespace)
{
	create_view(publication, source_view_reads(publication->source), publication->source, name, namespace);
}

/* ---- The view that readers see is switched to another release ---- */

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

/* Which worker or which batch has a row is no column of the view; InvalidAttrNumber: the table has none of these. */
static AttrNumber
hidden_column(Oid release)
{
	AttrNumber shard = get_attnum(release, KANON_SHARD_COLUMN);

	return shard != InvalidAttrNumber                              ? shard
		   : get_rel_relkind(release) == RELKIND_PARTITIONED_TABLE ? get_attnum(release, KANON_BATCH_COLUMN)
																   : InvalidAttrNumber;
}

bool
view_shows(Oid view, Oid release)
{
	int from;
	const Query *query = source_view_reads(view) == release ? plain_view(view, &from) : NULL;
	AttrNumber shard = OidIsValid(release) ? hidden_column(release) : InvalidAttrNumber;
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
check_view_columns(Oid published, TupleDesc view, TupleDesc release)
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
		check_view_columns(publication->published, known, RelationGetDescr(rel));
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
	int natts = desc->natts - (hidden_column(release) != InvalidAttrNumber);
	Oid before = InvalidOid;
	StringInfoData sql;

	if (known != NULL)
	{
		check_view_columns(publication->published, known, desc);
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
	appendStringInfo(&sql, " FROM %s", name_relation(release));
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
	if (OidIsValid(before) && before != release)
		replicated_take_over(before, release);
}
