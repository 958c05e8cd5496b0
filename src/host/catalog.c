/*
 * catalog.c: settings under which kanon's own queries run, and questions to the
 * system catalogs.  Those run with a
 * search_path of their own, so that nothing in the caller's can get in between;
 * queries that touch the source never do (its views may rely on the path) and
 * qualify every name instead.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"

#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteSupport.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

static void
set_here(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

int
catalog_path_begin(void)
{
	int nest = NewGUCNestLevel();

	set_here("search_path", "pg_catalog, pg_temp");
	return nest;
}

void
catalog_path_end(int nest)
{
	AtEOXact_GUC(true, nest);
}

/*
 * Without statistics of how columns go together the planner sorts where hashing
 * takes a quarter of the time; types that cannot be hashed are sorted all the same.
 * It also expects many times the groups that there are, and thinks it dear that
 * parallel workers hand them over; where there really are so many that costs little.
 */
int
grouping_begin(void)
{
	int nest = NewGUCNestLevel();

	set_here("enable_sort", "off");
	set_here("jit", "off");
	set_here("parallel_tuple_cost", "0.001");
	return nest;
}

void
grouping_end(int nest)
{
	AtEOXact_GUC(true, nest);
}

/*
 * Around output functions whose text is compared or stored: the same whatever
 * the session prefers.
 */
int
plain_text_begin(void)
{
	int nest = NewGUCNestLevel();

	set_here("DateStyle", "ISO, YMD");
	set_here("IntervalStyle", "postgres");
	set_here("extra_float_digits", "3");
	set_here("TimeZone", "UTC");
	set_here("bytea_output", "hex");
	return nest;
}

int
blind_plans_begin(void)
{
	int nest = NewGUCNestLevel();

	set_here("enable_hashjoin", "off");
	set_here("enable_nestloop", "off");
	set_here("jit", "off");
	return nest;
}

void
plain_text_end(int nest)
{
	AtEOXact_GUC(true, nest);
}

/* (The setting is a superuser's; here it hides nothing but what no other role is to know.) */
static int
set_counting(const char *value)
{
	int nest = NewGUCNestLevel();

	(void) set_config_option("track_counts", value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
	return nest;
}

int
uncounted_begin(void)
{
	return set_counting("off");
}

int
counted_begin(void)
{
	return set_counting("on");
}

void
counting_end(int nest)
{
	AtEOXact_GUC(true, nest);
}

Oid
relation_owner(Oid relid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

int
relation_natts(Oid relid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	int natts = 0;

	if (HeapTupleIsValid(tuple))
	{
		natts = ((Form_pg_class) GETSTRUCT(tuple))->relnatts;
		ReleaseSysCache(tuple);
	}
	return natts;
}

Oid
function_owner(Oid function)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/* Whether a domain has checks is not asked: already that works out what is constant in them. */
static bool
has_domain(Oid type)
{
	Oid part;
	bool found = false;
	TupleDesc desc;

	check_stack_depth();
	if (type < FirstNormalObjectId)
		return false;
	if (OidIsValid(part = get_element_type(type)) || OidIsValid(part = get_range_subtype(type)) ||
		OidIsValid(part = get_multirange_range(type)))
		return has_domain(part);
	if (get_typtype(type) != TYPTYPE_COMPOSITE)
		return get_typtype(type) == TYPTYPE_DOMAIN;
	desc = lookup_rowtype_tupdesc(type, -1);
	for (int i = 0; i < desc->natts && !found; i++)
		found = !TupleDescAttr(desc, i)->attisdropped && has_domain(TupleDescAttr(desc, i)->atttypid);
	ReleaseTupleDesc(desc);
	return found;
}

Datum
text_as_value(const char *text, Oid type, int32 typmod)
{
	Oid base = getBaseTypeAndTypmod(type, &typmod), function, argument;

	if (has_domain(base))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("texts are not read as values of type %s", format_type_be(type)),
						errdetail("There is a domain in it, whose checks would run with your rights."),
						errhint("Read the column through a view that casts it to another type.")));
	getTypeInputInfo(base, &function, &argument);
	return OidInputFunctionCall(function, unconstify(char *, text), argument, typmod);
}

/* Follows views to what they read, and parents to their children. */
bool
relation_reads(Oid reader, Oid relid)
{
	static const char *query =
		"WITH RECURSIVE reads(relid) AS ("
		"  SELECT $1"
		" UNION"
		"  SELECT next.relid FROM reads, LATERAL ("
		"    SELECT d.refobjid AS relid FROM pg_rewrite w JOIN pg_depend d"
		"      ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid"
		"     AND d.refclassid = 'pg_class'::regclass"
		"     WHERE w.ev_class = reads.relid"
		"    UNION ALL"
		"    SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = reads.relid) AS next)"
		" SELECT 1 FROM reads WHERE relid = $2";
	Oid types[2] = {OIDOID, OIDOID};
	Datum values[2];
	int nest = catalog_path_begin();
	bool found;

	values[0] = ObjectIdGetDatum(reader);
	values[1] = ObjectIdGetDatum(relid);
	found = gate_ask(query, 2, types, values, NULL, true, 1) > 0;
	catalog_path_end(nest);
	return found;
}

char *
column_definition(const char *quoted, Oid type, int32 typmod, Oid collation)
{
	char *definition =
		psprintf("%s %s", quoted,
				 format_type_extended(type, typmod, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
	HeapTuple tuple;
	Form_pg_collation form;

	if (!OidIsValid(collation) || collation == get_typcollation(type))
		return definition;
	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for collation %u", collation);
	form = (Form_pg_collation) GETSTRUCT(tuple);
	definition =
		psprintf("%s COLLATE %s", definition,
				 quote_qualified_identifier(name_schema(form->collnamespace), NameStr(form->collname)));
	ReleaseSysCache(tuple);
	return definition;
}

/* Three names of one letter's quotes, with room for spaces; and as many columns as a table has, of usual names. */
#define MOST_NAME_BYTES 4096
#define MOST_LIST_BYTES 65536

bool
split_name(const char *name, int most, List **parts)
{
	return strnlen(name, MOST_NAME_BYTES + 1) <= MOST_NAME_BYTES &&
		   SplitIdentifierString(pstrdup(name), '.', parts) && *parts != NIL && list_length(*parts) <= most;
}

bool
split_names(const char *list, List **names)
{
	return strnlen(list, MOST_LIST_BYTES + 1) <= MOST_LIST_BYTES &&
		   SplitIdentifierString(pstrdup(list), ',', names);
}

char *
relation_name(Oid relid)
{
	char *name = OidIsValid(relid) ? get_rel_name(relid) : NULL;
	char *schema = name != NULL ? get_namespace_name(get_rel_namespace(relid)) : NULL;

	return schema != NULL ? quote_qualified_identifier(schema, name) : NULL;
}

pg_noreturn static void
raise_gone(const char *what, Oid oid)
{
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
					errmsg("a %s that the call needs was dropped meanwhile", what),
					errdetail("It had OID %u.", oid), errhint("Run the call again.")));
}

char *
name_relation(Oid relid)
{
	char *name = relation_name(relid);

	if (name == NULL)
		raise_gone("relation", relid);
	return name;
}

char *
name_bare(Oid relid)
{
	char *name = get_rel_name(relid);

	if (name == NULL)
		raise_gone("relation", relid);
	return name;
}

char *
name_schema(Oid schema)
{
	char *name = get_namespace_name(schema);

	if (name == NULL)
		raise_gone("schema", schema);
	return name;
}

bool
equal_is_identical(Oid type, Oid collation)
{
	const TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Oid base = getBaseType(type);
	Oid function;

	/*
	 * Without typmod padding varies, which btree never meets in one index.  Older minor releases made
	 * catalogs that say of intervals that they are identical, by mistake.  Times of one moment in two zones are
	 * one value here (rows/dictionary.c), and two for btree.
	 */
	if (base == BPCHAROID || base == INTERVALOID || base == TIMETZOID || !OidIsValid(entry->btree_opf))
		return false;
	function =
		get_opfamily_proc(entry->btree_opf, entry->btree_opintype, entry->btree_opintype, BTEQUALIMAGE_PROC);
	return OidIsValid(function) &&
		   DatumGetBool(OidFunctionCall1Coll(function, collation, ObjectIdGetDatum(entry->btree_opintype)));
}

/* ---- views that show the rows of a relation ---- */

const Query *
plain_view(Oid view, int *from)
{
	HeapTuple rule =
		SearchSysCache2(RULERELNAME, ObjectIdGetDatum(view), PointerGetDatum(ViewSelectRuleName));
	bool isnull, some, joined;
	Query *query;
	char *action;
	Node *entry;

	if (!HeapTupleIsValid(rule))
		return NULL;
	action = TextDatumGetCString(SysCacheGetAttr(RULERELNAME, rule, Anum_pg_rewrite_ev_action, &isnull));
	ReleaseSysCache(rule);
	query = linitial_node(Query, castNode(List, stringToNode(action)));
	entry = list_length(query->jointree->fromlist) == 1 ? linitial(query->jointree->fromlist) : NULL;
	/* (sets of rows that are joined have no such entry) */
	if (entry == NULL || !IsA(entry, RangeTblRef))
		return NULL;
	*from = ((RangeTblRef *) entry)->rtindex;
	some = query->jointree->quals != NULL || query->limitCount != NULL || query->limitOffset != NULL ||
		   query->sortClause != NIL || query->rowMarks != NIL || query->cteList != NIL;
	joined = query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL ||
			 query->havingQual != NULL || query->distinctClause != NIL || query->setOperations != NULL;
	return some || joined || rt_fetch(*from, query->rtable)->tablesample != NULL ? NULL : query;
}

static bool
has_policies(Oid relid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	bool has = HeapTupleIsValid(tuple) && ((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return has;
}

/* One step; InvalidOid: what the view shows is worked out. */
static Oid
relation_shown(Oid view, AttrNumber *attnum)
{
	int from;
	const Query *query = plain_view(view, &from);
	const RangeTblEntry *entry = query != NULL ? rt_fetch(from, query->rtable) : NULL;
	AttrNumber column = InvalidAttrNumber;
	ListCell *lc;

	/* (policies may call anything) */
	if (entry == NULL || entry->rtekind != RTE_RELATION || has_policies(entry->relid))
		return InvalidOid;
	foreach (lc, query->targetList)
	{
		const TargetEntry *target = lfirst_node(TargetEntry, lc);
		const Var *shown = IsA(target->expr, Var) ? (const Var *) target->expr : NULL;

		if (shown == NULL || shown->varno != from || shown->varattno <= 0)
			return InvalidOid;
		if (target->resno == *attnum)
			column = shown->varattno;
	}
	*attnum = column;
	return entry->relid;
}

Oid
relation_behind(Oid relid, AttrNumber *attnum)
{
	AttrNumber column = *attnum;
	Oid shown;

	while (get_rel_relkind(relid) == RELKIND_VIEW && OidIsValid(shown = relation_shown(relid, &column)))
	{
		CHECK_FOR_INTERRUPTS();
		relid = shown;
		*attnum = column;
	}
	return relid;
}
