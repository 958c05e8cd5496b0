/*
 * origins.c: the columns that a column is made of, below views.
 */
#include "compat.h"
#include "rows/source.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

typedef struct Search
{
	bool (*found)(Oid relid, AttrNumber attnum, void *arg);
	void *arg;
	bool computed; /* what a column is computed from is shown, too */
} Search;

/* Where the columns of an expression are. */
typedef struct Place
{
	const Search *search;
	const Query *query; /* or the relation, of a generated column */
	Oid relid;
} Place;

static bool search_relation(const Search *search, Oid relid, AttrNumber attnum);
static bool search_query(const Search *search, const Query *query, AttrNumber place);

/* What a variable of the query stands for, when it is a column of something. */
static bool
search_var(const Search *search, const Query *query, const Node *node)
{
	const Var *var = (const Var *) node;
	const RangeTblEntry *entry;

	if (node == NULL || !IsA(node, Var) || var->varlevelsup > 0)
		return false;
	entry = rt_fetch(var->varno, query->rtable);
	if (var->varattno <= 0)
		return false;
	if (entry->rtekind == RTE_RELATION)
		return search_relation(search, entry->relid, var->varattno);
	if (entry->rtekind == RTE_SUBQUERY)
		return search_query(search, entry->subquery, var->varattno);
	return entry->rtekind == RTE_JOIN &&
		   search_var(search, query, list_nth(entry->joinaliasvars, var->varattno - 1));
}

static bool
search_expression(Node *node, Place *place)
{
	if (node == NULL || IsA(node, Aggref) || IsA(node, WindowFunc) || IsA(node, SubLink))
		return false;
	if (IsA(node, Var))
		return place->query != NULL
				   ? search_var(place->search, place->query, node)
				   : search_relation(place->search, place->relid, ((const Var *) node)->varattno);
	return kanon_walk(node, search_expression, place);
}

/* The expression of a generated column. */
static bool
search_generated(const Search *search, Oid relid, AttrNumber attnum)
{
	Place place = {.search = search, .relid = relid};
	Relation rel;
	bool found;

	if (get_attgenerated(relid, attnum) == '\0')
		return false;
	rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		return false;
	found = search_expression(build_column_default(rel, attnum), &place);
	relation_close(rel, NoLock);
	return found;
}

/* Searches a query; in a union each of its branches. */
static bool
search_query(const Search *search, const Query *query, AttrNumber place)
{
	ListCell *lc;

	check_stack_depth();
	if (query->setOperations != NULL)
	{
		foreach (lc, query->rtable)
			if (lfirst_node(RangeTblEntry, lc)->rtekind == RTE_SUBQUERY &&
				search_query(search, lfirst_node(RangeTblEntry, lc)->subquery, place))
				return true;
		return false;
	}
	foreach (lc, query->targetList)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (entry->resno == place && search->computed)
			return search_expression((Node *) entry->expr, &(Place){.search = search, .query = query});
		if (entry->resno == place)
			return search_var(search, query, strip_implicit_coercions((Node *) entry->expr));
	}
	return false;
}

static bool
search_relation(const Search *search, Oid relid, AttrNumber attnum)
{
	Relation rel;
	bool found;

	check_stack_depth();
	if (search->found(relid, attnum, search->arg))
		return true;
	if (search->computed && search_generated(search, relid, attnum))
		return true;
	if (get_rel_relkind(relid) != RELKIND_VIEW && get_rel_relkind(relid) != RELKIND_MATVIEW)
		return false;
	rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		return false;
	/* what get_view_query does, for materialized views, too */
	found = rel->rd_rules != NULL && rel->rd_rules->numLocks == 1 &&
			search_query(search, linitial_node(Query, rel->rd_rules->rules[0]->actions), attnum);
	relation_close(rel, NoLock);
	return found;
}

bool
column_origins(Oid relid, AttrNumber attnum, bool (*found)(Oid relid, AttrNumber attnum, void *arg),
			   void *arg)
{
	Search search = {.found = found, .arg = arg};

	return search_relation(&search, relid, attnum);
}

bool
column_makings(Oid relid, AttrNumber attnum, bool (*found)(Oid relid, AttrNumber attnum, void *arg),
			   void *arg)
{
	Search search = {.found = found, .arg = arg, .computed = true};

	return search_relation(&search, relid, attnum);
}
