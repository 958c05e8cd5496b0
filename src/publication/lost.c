/*
 * lost.c: what is wrong with a publication, and the statement that mends it.
 *
 * A definition counts as far as it belongs to the view's owner.  An owner who gives one of
 * the two away, or drops the definition, leaves a view that readers go on reading and that
 * no refresh renews.  It is found by the record of runs, which nobody but kanon writes:
 * which table was a release, and by which view it is read.  (A dump has no record: there,
 * a definition that names a view over its owner's release tells as much.)
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "publication/publication_rows.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* ---- words ---- */

static char *
name_of_role(Oid role)
{
	return unconstify(char *, quote_identifier(GetUserNameFromId(role, false)));
}

static void
say(KanonPublication *publication, char *problem, char *remedy)
{
	publication->problem = problem;
	publication->remedy = remedy;
}

static void
say_drop(KanonPublication *publication, char *problem)
{
	say(publication, problem,
		psprintf("SELECT kanon_drop_publication(%s)", quote_literal_cstr(publication->name)));
}

/* A relation of somebody else's: it has to go back. */
static void
say_give(KanonPublication *publication, const char *what, const char *kind, Oid relid, Oid owner)
{
	if (relation_owner(relid) == owner)
	{
		say_drop(publication, psprintf("%s is something else: it has to be created anew", what));
		return;
	}
	say(publication,
		psprintf("%s %s belongs to role %s, the publication to role %s", what, name_relation(relid),
				 name_of_role(relation_owner(relid)), name_of_role(owner)),
		psprintf("ALTER %s %s OWNER TO %s", kind, name_relation(relid), name_of_role(owner)));
}

/* Where one of the other views was.  A view reads the release, which could not be dropped, under another name, too. */
static void
say_in_the_way(KanonPublication *publication, Oid relid)
{
	char *name = name_relation(relid);

	say(publication, psprintf("%s is no longer the view that the publication made", name),
		get_rel_relkind(relid) == RELKIND_VIEW
			? psprintf("DROP VIEW %s", name)
			: psprintf("ALTER TABLE %s RENAME TO %s", name,
					   quote_identifier(psprintf("%s_other", name_bare(relid)))));
}

/* Nobody can tell any more who was shown how: that is the owner's to know before histories begin anew. */
static void
say_histories(KanonPublication *publication)
{
	char *name = quote_literal_cstr(publication->name);

	say(publication,
		publication->protect_values
			? "the private table of its persons' values was dropped, or belongs to another role: no release can go on from there"
			: "the private table of its histories was dropped, or belongs to another role: no release can go on from there",
		psprintf("SELECT kanon_alter_publication(%s, protect_successive => false); SELECT kanon_refresh(%s); "
				 "SELECT kanon_alter_publication(%s, protect_successive => %s)",
				 name, name, name, publication->protect_values ? "'values'" : "true"));
}

void
publication_diagnose(KanonPublication *publication)
{
	const Release *current;
	Oid history = publication->history_named, source = publication->source_named;
	Oid other;

	if (publication->problem != NULL)
		return;
	if (!OidIsValid(publication->published))
		say_drop(publication, "its view was dropped: it has to be created anew");
	else if (!OidIsValid(publication->history) && OidIsValid(history) && OidIsValid(relation_owner(history)))
		say_give(publication, "its history", "TABLE", history, publication->owner);
	else if (!OidIsValid(publication->history))
		say_drop(publication, "its history was dropped: it has to be created anew");
	else if (!OidIsValid(publication->source) && OidIsValid(source) && OidIsValid(relation_owner(source)))
		say_give(publication, "its view of the source", "VIEW", source, publication->owner);
	else if (!OidIsValid(source_view_reads(publication->source)))
		say_drop(publication, "its source was dropped: it has to be created anew");
	else if ((current = release_current(releases(publication, NULL))) == NULL)
		say(publication, "its history has no current release",
			psprintf("SELECT kanon_refresh(%s)", quote_literal_cstr(publication->name)));
	else if ((publication->protect_successive || publication->protect_values) && current->histories_lost)
		say_histories(publication);
	else if (OidIsValid(current->relation) &&
			 relation_natts(publication->published) >
				 relation_natts(publication_shows(publication, current)) - (publication->append != NULL))
		say_drop(publication, "its view has columns that no release has: it has to be created anew");
	else if (!view_shows(publication->published, publication_shows(publication, current)))
		say(publication, "its view shows something else than the current release",
			psprintf("SELECT kanon_refresh(%s)", quote_literal_cstr(publication->name)));
	else if (list_length(publication->views) == list_length(current->others) &&
			 OidIsValid(other = linked_view_in_the_way(publication)))
		say_in_the_way(publication, other);
	else if (list_length(publication->views) != list_length(current->others) ||
			 !linked_views_show(publication, current))
		say(publication, "one of its views is gone, or shows something else than the current release",
			psprintf("SELECT kanon_refresh(%s)", quote_literal_cstr(publication->name)));
}

bool
publication_is_broken(const KanonPublication *publication)
{
	return publication->problem != NULL &&
		   (publication->lost || !OidIsValid(publication->published) || !OidIsValid(publication->history));
}

void
publication_raise_broken(const KanonPublication *publication)
{
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("publication %s is out of order", publication->name),
					errdetail("What is wrong: %s.", publication->problem),
					errhint("It is mended by: %s", publication->remedy)));
}

/* ---- views whose definition does not count ---- */

/* A release by the record. */
typedef struct Recorded
{
	Oid relation;
	int64 k;
} Recorded;

typedef struct Search
{
	Oid extension;
	MemoryContext context;
	List *recorded;
} Search;

static bool
read_run(const Row *row, void *arg)
{
	Search *search = arg;
	Recorded recorded = {.k = row_int8(row, "k")};
	MemoryContext old;
	bool isnull;
	Datum value = row_value(row, "target_oid", OIDOID, &isnull);

	if (isnull || row_text(row, "publication") == NULL)
		return true;
	recorded.relation = DatumGetObjectId(value);
	/* a batch is read by way of the table of all of them */
	if (get_rel_relispartition(recorded.relation))
		recorded.relation = get_partition_parent(recorded.relation, true);
	/* most of them were dropped long ago */
	if (get_rel_relkind(recorded.relation) != RELKIND_RELATION &&
		get_rel_relkind(recorded.relation) != RELKIND_PARTITIONED_TABLE)
		return true;
	if (search->recorded != NIL && ((Recorded *) llast(search->recorded))->relation == recorded.relation)
		return true;
	old = MemoryContextSwitchTo(search->context);
	search->recorded =
		lappend(search->recorded, memcpy(palloc(sizeof(Recorded)), &recorded, sizeof(Recorded)));
	MemoryContextSwitchTo(old);
	return true;
}

static Oid
rule_view(Oid rule)
{
	Relation rel = table_open(RewriteRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;
	Oid view = InvalidOid;

	ScanKeyInit(&key, Anum_pg_rewrite_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(rule));
	scan = systable_beginscan(rel, RewriteOidIndexId, true, NULL, 1, &key);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		view = ((Form_pg_rewrite) GETSTRUCT(tuple))->ev_class;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return view;
}

/* The views that read the relation and nothing else. */
static List *
views_over(Oid relid)
{
	Relation depend = table_open(DependRelationId, AccessShareLock);
	List *views = NIL;
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&key[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2, key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->classid == RewriteRelationId)
			views = list_append_unique_oid(views, rule_view(form->objid));
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	return views;
}

/* Definitions that do not count, of those that the caller may look into. */
typedef struct Stray
{
	Oid definition;
	Oid published;
} Stray;

static bool
read_stray(const Row *row, void *arg)
{
	((Stray *) arg)->published = row_relation(row, "published");
	return false;
}

static List *
strays(Oid extension, bool (*wanted)(Oid owner, Oid view), const List *busy, long *patience)
{
	List *found = NIL;
	ListCell *lc;

	foreach (lc, definition_tables(extension))
	{
		Oid owner = relation_owner(lfirst_oid(lc));
		Stray *stray = palloc0(sizeof(Stray));

		stray->definition = lfirst_oid(lc);
		if (wanted(owner, InvalidOid) && !list_member_oid(busy, owner) &&
			rows_visit(lfirst_oid(lc), owner, patience, read_stray, stray) && OidIsValid(stray->published) &&
			relation_owner(stray->published) != owner && get_rel_relkind(stray->published) == RELKIND_VIEW)
			found = lappend(found, stray);
	}
	return found;
}

static KanonPublication *
lost_view(Oid extension, Oid view, Oid release, List *strays)
{
	KanonPublication *lost = palloc0(sizeof(KanonPublication));
	Oid owner = relation_owner(release);
	ListCell *lc;

	lost->extension = extension;
	lost->lost = true;
	lost->published = view;
	lost->owner = owner;
	lost->name = name_relation(view);
	if (relation_owner(view) != owner)
	{
		say_give(lost, "its view", "VIEW", view, owner);
		return lost;
	}
	foreach (lc, strays)
		if (((Stray *) lfirst(lc))->published == view)
		{
			say_give(lost, "its definition", "TABLE", ((Stray *) lfirst(lc))->definition, owner);
			return lost;
		}
	say(lost, "its definition was dropped, emptied or given away: it has to be created anew",
		psprintf("DROP VIEW %s", lost->name));
	return lost;
}

/* A release of a publication that is listed may have other views, too. */
static bool
is_listed(List *publications, Oid view, Oid release)
{
	ListCell *lc, *lc2;

	foreach (lc, publications)
	{
		KanonPublication *publication = lfirst(lc);

		if (publication->published == view || list_member_oid(publication->views, view))
			return true;
		foreach (lc2, publication->lost ? NIL : releases(publication, NULL))
			if (((Release *) lfirst(lc2))->relation == release ||
				list_member_oid(((Release *) lfirst(lc2))->others, release))
				return true;
	}
	return false;
}

static List *
add_lost(List *list, Oid extension, Oid view, Oid release, int64 k, List *strays,
		 bool (*wanted)(Oid owner, Oid view))
{
	KanonPublication *lost;

	if (!wanted(relation_owner(view), view) && !wanted(relation_owner(release), InvalidOid))
		return list;
	if (source_view_reads(view) != release || is_listed(list, view, release))
		return list;
	lost = lost_view(extension, view, release, strays);
	lost->k = k;
	return lappend(list, lost);
}

List *
publications_seen(Oid extension, bool (*wanted)(Oid owner, Oid view), List **busy)
{
	List *unread = NIL;
	List *list = publications(extension, wanted, &unread);
	long *patience = patience_left();
	Search search = {.extension = extension, .context = CurrentMemoryContext};
	List *stray = strays(extension, wanted, unread, patience);
	Oid record = get_relname_relid("kanon_run", extension);
	ListCell *lc, *lc2;

	(void) rows_visit(record, relation_owner(record), patience, read_run, &search);
	foreach (lc, search.recorded)
	{
		const Recorded *recorded = lfirst(lc);

		/* what could not be read may be the definition of this very view */
		if (list_member_oid(unread, relation_owner(recorded->relation)))
			continue;
		foreach (lc2, views_over(recorded->relation))
			list = add_lost(list, extension, lfirst_oid(lc2), recorded->relation, recorded->k, stray, wanted);
	}
	foreach (lc, stray)
	{
		const Stray *one = lfirst(lc);
		Oid release = source_view_reads(one->published);

		if (OidIsValid(release) && relation_owner(release) == relation_owner(one->definition))
			list = add_lost(list, extension, one->published, release, 0, stray, wanted);
	}
	publications_sort(list);
	if (busy != NULL)
		*busy = unread;
	foreach (lc, list)
		publication_diagnose(lfirst(lc));
	return list;
}
