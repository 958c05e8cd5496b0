/*
 * single_table.c: the one table whose rows a source shows, one by one.
 *
 * The change that one person's rows can make in a view must be known before noise can hide
 * it.  A join, a sub-query, DISTINCT or LIMIT lets one row decide about any number of
 * others.  It is the query as the server rewrote it that is looked at: views, and the
 * policies of row-level security, are in it.
 */
#include "compat.h"
#include "noise/models.h"

#include "access/transam.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"

#define FAMILY_HINT "Make partitions of them, or publish from a table that is neither."

Oid
single_table(Oid relid)
{
	const char *name = get_rel_name(relid);

	switch (get_rel_relkind(relid))
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_FOREIGN_TABLE:
		case RELKIND_MATVIEW:
			break;
		default:
			ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
							errmsg("\"%s\" has no rows of its own", name != NULL ? name : "?"),
							errhint("A budget is that of a table, and counts for all views of it.")));
	}
	if (get_rel_relispartition(relid))
		return llast_oid(get_partition_ancestors(relid));
	if (has_superclass(relid) || (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE && has_subclass(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" inherits from a table, or is inherited from", name), errhint(FAMILY_HINT)));
	return relid;
}

/*
 * Others' functions may read what they like, unless they promise not to; so do some of the
 * system's (table_to_xml, statistics of tables), which are not for parallel workers.
 */
static bool
reads_more(Oid function, void *arg)
{
	char volatility = func_volatile(function);

	return volatility == PROVOLATILE_VOLATILE ||
		   (volatility == PROVOLATILE_STABLE &&
			(function >= FirstNormalObjectId || func_parallel(function) != PROPARALLEL_SAFE));
}

static bool
depends_on_more(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	/* where a row lies, others have decided */
	if (IsA(node, Var) && ((Var *) node)->varattno < 0)
		return true;
	return IsA(node, SubLink) || IsA(node, NextValueExpr) || check_functions_in_node(node, reads_more, arg) ||
		   kanon_walk(node, depends_on_more, arg);
}

/* The relation of which each row is at most one of the query's; NULL: there is none. */
static const RangeTblEntry *
only_entry(const Query *query)
{
	const Node *from;

	if (query->commandType != CMD_SELECT || query->hasAggs || query->hasWindowFuncs || query->hasTargetSRFs ||
		query->hasSubLinks || query->distinctClause != NIL || query->groupClause != NIL ||
		query->groupingSets != NIL || query->havingQual != NULL || query->limitCount != NULL ||
		query->limitOffset != NULL || query->setOperations != NULL || query->cteList != NIL ||
		query->rowMarks != NIL || list_length(query->jointree->fromlist) != 1)
		return NULL;
	from = linitial(query->jointree->fromlist);
	return IsA(from, RangeTblRef) ? rt_fetch(((const RangeTblRef *) from)->rtindex, query->rtable) : NULL;
}

/* InvalidOid: there is no such table. */
static Oid
table_of(const Query *query)
{
	const RangeTblEntry *entry;

	check_stack_depth();
	entry = only_entry(query);
	if (entry == NULL || entry->tablesample != NULL || depends_on_more((Node *) query->targetList, NULL) ||
		depends_on_more(query->jointree->quals, NULL) || depends_on_more((Node *) entry->securityQuals, NULL))
		return InvalidOid;
	if (entry->rtekind == RTE_SUBQUERY)
		return table_of(entry->subquery);
	return entry->rtekind == RTE_RELATION ? entry->relid : InvalidOid;
}

Oid
source_single_table(const Source *source)
{
	SPIPlanPtr plan = SPI_prepare(
		psprintf("SELECT %s FROM %s", column_list(source->kept, source->nkept), source->name), 0, NULL);
	const CachedPlanSource *planned;
	Oid relid = InvalidOid;

	if (plan == NULL || list_length(SPI_plan_get_plan_sources(plan)) != 1)
		elog(ERROR, "could not read %s", source->name);
	planned = linitial(SPI_plan_get_plan_sources(plan));
	if (list_length(planned->query_list) == 1)
		relid = table_of(linitial_node(Query, planned->query_list));
	SPI_freeplan(plan);
	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s is more than rows of one table", source->name),
				 errdetail("With a join, a sub-query, grouping, DISTINCT, LIMIT, or a function that is "
						   "volatile or reads tables, one row may decide about any number of others."),
				 errhint("Ask a table, or a view with nothing but a list of columns and a WHERE about "
						 "the row itself; a table or materialized view can have the join.")));
	return single_table(relid);
}
