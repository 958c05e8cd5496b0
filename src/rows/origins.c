/*
 * origins.c: the columns that a column is made of, below views and in children.
 */
#include "compat.h"
#include "rows/source.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* A column of a relation, alone or with its kin, or of a CTE that was searched. */
typedef struct Searched
{
	Oid relid;
	bool kin;
	const CommonTableExpr *cte;
	AttrNumber attnum;
	OriginFound found;
} Searched;

typedef struct Search
{
	OriginKind kind;
	OriginTest test;
	void *arg;
	List *searched; /* of Searched */
} Search;

/* Where an expression stands: in a query within others, or in the definition of a relation's column. */
typedef struct Place
{
	Search *search;
	const Query *query;
	const struct Place *outer;
	Oid relid;
} Place;

static bool search_relation(Search *search, Oid relid, AttrNumber attnum);
static bool search_query(const Place *place, AttrNumber column);
static bool search_expression(Node *node, Place *place);

/* Each column once: CTEs may refer to themselves, and views to one relation many times. */
static Searched *
searched(Search *search, Searched column, bool *before)
{
	ListCell *lc;
	Searched *one;

	foreach (lc, search->searched)
	{
		one = lfirst(lc);
		*before = one->relid == column.relid && one->kin == column.kin && one->cte == column.cte &&
				  one->attnum == column.attnum;
		if (*before)
			return one;
	}
	*before = false;
	one = palloc(sizeof(Searched));
	*one = column;
	search->searched = lappend(search->searched, one);
	return one;
}

/* ---- what FROM holds ---- */

static const Place *
outer_place(const Place *place, Index levels)
{
	while (place != NULL && levels-- > 0)
		place = place->outer;
	return place;
}

static bool
search_cte(const Place *place, const RangeTblEntry *entry, AttrNumber column)
{
	const Place *at = outer_place(place, entry->ctelevelsup);
	ListCell *lc;
	bool before;

	if (at == NULL || at->query == NULL)
		return false;
	foreach (lc, at->query->cteList)
	{
		const CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);
		Place inner = {.search = place->search, .outer = at};

		if (strcmp(cte->ctename, entry->ctename) != 0 || !IsA(cte->ctequery, Query))
			continue;
		inner.query = castNode(Query, cte->ctequery);
		(void) searched(place->search, (Searched){.cte = cte, .attnum = column}, &before);
		return !before && search_query(&inner, column);
	}
	return false;
}

/* The rows of VALUES one under another: a column of them, or all. */
static bool
search_values(Place *place, const RangeTblEntry *entry, AttrNumber column)
{
	ListCell *lc;

	foreach (lc, entry->values_lists)
		if (search_expression(column > 0 ? list_nth(lfirst_node(List, lc), column - 1) : lfirst(lc), place))
			return true;
	return false;
}

/* The function that makes the column, among those that are called side by side. */
static bool
search_functions(Place *place, const RangeTblEntry *entry, AttrNumber column)
{
	int before = 0;
	ListCell *lc;

	foreach (lc, entry->functions)
	{
		RangeTblFunction *function = lfirst_node(RangeTblFunction, lc);

		if ((column == 0 || (column > before && column <= before + function->funccolcount)) &&
			search_expression(function->funcexpr, place))
			return true;
		before += function->funccolcount;
	}
	return false;
}

/* A column of something in FROM; 0: the whole row. */
static bool
search_entry(Place *place, RangeTblEntry *entry, AttrNumber column)
{
	Place inner = {.search = place->search, .query = entry->subquery, .outer = place};

	switch ((int) entry->rtekind)
	{
		case RTE_RELATION:
			return search_relation(place->search, entry->relid, column);
		case RTE_SUBQUERY:
			return search_query(&inner, column);
		case RTE_CTE:
			return search_cte(place, entry, column);
		case RTE_VALUES:
			return search_values(place, entry, column);
		case RTE_FUNCTION:
			return search_functions(place, entry, column);
		case RTE_TABLEFUNC:
			return search_expression((Node *) entry->tablefunc, place);
		default:
			return search_expression(kanon_entry_expression(entry, column), place);
	}
}

/* ---- expressions ---- */

/*
 * A variable of the query at hand or of one around it.  The server's answer about a row depends on
 * all of it.
 */
static bool
search_var(const Place *place, const Var *var)
{
	OriginKind kind = place->search->kind;
	Place at;

	if (var->varattno < (kind == ORIGINS_ALL ? PG_INT16_MIN : kind == ORIGINS_WORDED ? 1 : 0))
		return false;
	if (place->query == NULL)
		return search_relation(place->search, place->relid, Max(var->varattno, 0));
	place = outer_place(place, var->varlevelsup);
	if (place == NULL || place->query == NULL)
		return false;
	at = *place;
	return search_entry(&at, rt_fetch(var->varno, at.query->rtable), Max(var->varattno, 0));
}

/* Its value changes from row to row: there is a variable in it of this query or of one around it. */
static bool
is_correlated(SubLink *link, const Place *place)
{
	int level = 0;

	for (; place != NULL; place = place->outer, level++)
		if (contain_vars_of_level((Node *) link, level))
			return true;
	return false;
}

static bool
search_sublink(SubLink *link, Place *place)
{
	Place inner = {.search = place->search, .query = castNode(Query, link->subselect), .outer = place};

	if (!is_correlated(link, place))
		return false;
	return search_expression(link->testexpr, place) || search_query(&inner, 0);
}

/* A sum of nothing but how many there are. */
static bool
is_count(Node *node)
{
	Oid function = IsA(node, Aggref)       ? castNode(Aggref, node)->aggfnoid
				   : IsA(node, WindowFunc) ? castNode(WindowFunc, node)->winfnoid
										   : InvalidOid;

	return OidIsValid(function) && get_func_namespace(function) == PG_CATALOG_NAMESPACE &&
		   strcmp(get_func_name(function), "count") == 0;
}

static bool
search_expression(Node *node, Place *place)
{
	OriginKind kind = place->search->kind;

	check_stack_depth();
	if (kind < ORIGINS_COMPUTED)
		node = strip_implicit_coercions(node);
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return search_var(place, castNode(Var, node));
	if (kind < ORIGINS_COMPUTED && !IsA(node, List) && !IsA(node, CoalesceExpr))
		return false;
	if (is_count(node) || (IsA(node, NullTest) && kind < ORIGINS_ALL))
		return false;
	if (IsA(node, SubLink))
		return search_sublink(castNode(SubLink, node), place);
	return kanon_walk(node, search_expression, place);
}

/* The origins of a column of a query or relation. */
static bool
search_definition(Node *node, Place *place)
{
	if (place->search->kind == ORIGINS_COMPUTED && !IsA(node, Var) && exprType(node) == BOOLOID)
		return false;
	return search_expression(node, place);
}

/* ---- queries and relations ---- */

/* A column of a query, in a union of each of its branches; 0: all columns. */
static bool
search_query(const Place *place, AttrNumber column)
{
	const Query *query = place->query;
	Place at = *place;
	ListCell *lc;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (query->setOperations != NULL)
	{
		/* (15 has entries of the view itself there, too) */
		foreach (lc, query->rtable)
			if (lfirst_node(RangeTblEntry, lc)->rtekind == RTE_SUBQUERY &&
				search_entry(&at, lfirst_node(RangeTblEntry, lc), column))
				return true;
		return false;
	}
	foreach (lc, query->targetList)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if ((entry->resno == column || (column == 0 && !entry->resjunk)) &&
			search_definition((Node *) entry->expr, &at))
			return true;
	}
	return false;
}

/* The query of a view, materialized or not, among rules that others may have added to it. */
static Query *
view_query(Relation rel)
{
	for (int i = 0; rel->rd_rules != NULL && i < rel->rd_rules->numLocks; i++)
		if (rel->rd_rules->rules[i]->event == CMD_SELECT)
			/* (the relation may be closed and described anew while it is searched) */
			return copyObject(linitial_node(Query, rel->rd_rules->rules[i]->actions));
	return NULL;
}

/* The expression that a view or a generated column makes it of. */
static bool
search_made(Search *search, Oid relid, AttrNumber attnum)
{
	Place place = {.search = search, .relid = relid};
	char relkind = get_rel_relkind(relid);
	bool generated = get_attgenerated(relid, attnum) != '\0';
	Relation rel;
	Node *definition;

	if (relkind != RELKIND_VIEW && relkind != RELKIND_MATVIEW && !generated)
		return false;
	rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		return false;
	definition = generated ? build_column_default(rel, attnum) : NULL;
	place.query = generated ? NULL : view_query(rel);
	relation_close(rel, NoLock);
	if (place.query != NULL)
		return search_query(&place, attnum);
	return definition != NULL && search_definition(definition, &place);
}

/* The table's children, and theirs; the tables that it is a child of. */
static List *
kin_of(Oid relid)
{
	List *kin = find_all_inheritors(relid, AccessShareLock, NULL);
	Relation inherits = table_open(InheritsRelationId, AccessShareLock);
	List *parents = list_make1_oid(relid);
	ListCell *lc;

	foreach (lc, parents)
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple tuple;

		ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(lfirst_oid(lc)));
		scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
		while (HeapTupleIsValid(tuple = systable_getnext(scan)))
			parents = list_append_unique_oid(parents, ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent);
		systable_endscan(scan);
	}
	table_close(inherits, AccessShareLock);
	return list_concat_unique_oid(kin, parents);
}

/* A relation's own column. */
static OriginFound
search_column(Search *search, Oid relid, AttrNumber attnum)
{
	bool before;
	Searched *column = searched(search, (Searched){.relid = relid, .attnum = attnum}, &before);

	if (!before)
		column->found = search->test(relid, attnum, search->arg);
	if (!before && column->found == ORIGIN_BELOW && search_made(search, relid, attnum))
		column->found = ORIGIN_HERE;
	return column->found;
}

/* The column of that name in all tables that share its rows, unless it is settled in the table itself. */
static bool
search_kin(Search *search, Oid relid, AttrNumber attnum)
{
	OriginFound found = search_column(search, relid, attnum);
	char *name = get_attname(relid, attnum, false);
	ListCell *lc;
	bool before;

	if (found != ORIGIN_BELOW || search->kind == ORIGINS_WORDED)
		return found == ORIGIN_HERE;
	(void) searched(search, (Searched){.relid = relid, .kin = true, .attnum = attnum}, &before);
	if (before)
		return false;
	foreach (lc, kin_of(relid))
	{
		AttrNumber there = get_attnum(lfirst_oid(lc), name);

		CHECK_FOR_INTERRUPTS();
		if (there > 0 && search_column(search, lfirst_oid(lc), there) == ORIGIN_HERE)
			return true;
	}
	return false;
}

/* A column; 0: all of them. */
static bool
search_relation(Search *search, Oid relid, AttrNumber attnum)
{
	if (attnum != 0)
		return search_kin(search, relid, attnum);
	for (char *name; (name = get_attname(relid, ++attnum, true)) != NULL;)
		if (get_attnum(relid, name) == attnum && search_kin(search, relid, attnum))
			return true;
	return false;
}

bool
column_origins(Oid relid, AttrNumber attnum, OriginKind kind, OriginTest test, void *arg)
{
	Search search = {.kind = kind, .test = test, .arg = arg};

	return search_relation(&search, relid, attnum);
}
