/*
 * compat.h: every difference between PostgreSQL 15 and 19, and nothing else.
 */
#ifndef KANON_COMPAT_H
#define KANON_COMPAT_H

#include "postgres.h"

#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/portal.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"

/* The domain that marks an error as kanon's own: no other function can raise one with it (host/attempt.h). */
#undef TEXTDOMAIN
#define TEXTDOMAIN "kanon"

#if PG_VERSION_NUM < 150000
#error "kanon needs PostgreSQL 15 or later"
#endif

/* 18 puts it in front of a declaration, as C11 does. */
#ifndef pg_noreturn
#define pg_noreturn pg_attribute_noreturn()
#endif

/* 16 lets it report an error instead of raising it. */
#if PG_VERSION_NUM < 160000
#define kanon_make_range(typcache, lower, upper) make_range(typcache, lower, upper, false)
#else
#define kanon_make_range(typcache, lower, upper) make_range(typcache, lower, upper, false, NULL)
#endif

/* 15 declares walkers without arguments, which compilers of C23 take for none. */
#if PG_VERSION_NUM < 160000
#define kanon_walk(node, walker, context) \
	expression_tree_walker(node, (bool (*)())(void (*)(void)) walker, context)
#define kanon_walk_query(query, walker, context, flags) \
	query_tree_walker(query, (bool (*)())(void (*)(void)) walker, context, flags)
#else
#define kanon_walk(node, walker, context) expression_tree_walker(node, walker, context)
#define kanon_walk_query(query, walker, context, flags) query_tree_walker(query, walker, context, flags)
#endif

/* Expressions that younger versions have, and those of them that make values (host/look.c). */
#if PG_VERSION_NUM >= 180000
#define KANON_NEWER_EXPRESSIONS T_JsonIsPredicate, T_JsonBehavior, T_MergeSupportFunc, T_ReturningExpr
#elif PG_VERSION_NUM >= 170000
#define KANON_NEWER_EXPRESSIONS T_JsonIsPredicate, T_JsonBehavior, T_MergeSupportFunc
#elif PG_VERSION_NUM >= 160000
#define KANON_NEWER_EXPRESSIONS T_JsonIsPredicate
#else
#define KANON_NEWER_EXPRESSIONS T_Invalid
#endif
#if PG_VERSION_NUM >= 170000
#define KANON_NEWER_MAKERS T_JsonConstructorExpr, T_JsonValueExpr, T_JsonExpr
#elif PG_VERSION_NUM >= 160000
#define KANON_NEWER_MAKERS T_JsonConstructorExpr, T_JsonValueExpr
#else
#define KANON_NEWER_MAKERS T_Invalid
#endif

/* 16 made one ownership and one privilege check of many. */
#if PG_VERSION_NUM < 160000
#include "utils/acl.h"
#define kanon_owns_relation(relid, roleid) pg_class_ownercheck(relid, roleid)
#define kanon_owns_schema(schema, roleid) pg_namespace_ownercheck(schema, roleid)
#define kanon_schema_aclcheck(nspid, roleid, mode) pg_namespace_aclcheck(nspid, roleid, mode)
#else
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "utils/acl.h"
#define kanon_owns_relation(relid, roleid) object_ownercheck(RelationRelationId, relid, roleid)
#define kanon_owns_schema(schema, roleid) object_ownercheck(NamespaceRelationId, schema, roleid)
#define kanon_schema_aclcheck(nspid, roleid, mode) object_aclcheck(NamespaceRelationId, nspid, roleid, mode)
#endif

/* 16 lets the caller say whether a datum outlives the sort. */
static inline bool
kanon_getdatum(Tuplesortstate *sort, Datum *datum, bool *isnull)
{
#if PG_VERSION_NUM >= 160000
	return tuplesort_getdatum(sort, true, false, datum, isnull, NULL);
#else
	return tuplesort_getdatum(sort, true, datum, isnull, NULL);
#endif
}

/* 16 says by what it finds a backend's state: the i-th of those that there are. */
#include "utils/backend_status.h"
static inline const PgBackendStatus *
kanon_backend(int i)
{
#if PG_VERSION_NUM >= 160000
	LocalPgBackendStatus *local = pgstat_get_local_beentry_by_index(i);
#else
	LocalPgBackendStatus *local = pgstat_fetch_stat_local_beentry(i);
#endif

	return local != NULL ? &local->backendStatus : NULL;
}

/* 19 keeps what is made beside how far it is. */
#include "utils/jsonb.h"
#if PG_VERSION_NUM >= 190000
#define kanon_push_jsonb(state, token, value) pushJsonbValue(state, token, value)
#else
typedef struct JsonbInState
{
	JsonbValue *result;
	JsonbParseState *parseState;
} JsonbInState;

static inline void
kanon_push_jsonb(JsonbInState *state, JsonbIteratorToken token, JsonbValue *value)
{
	state->result = pushJsonbValue(&state->parseState, token, value);
}
#endif

/* 19 works out where attributes begin once they are all described. */
#if PG_VERSION_NUM < 190000
#define TupleDescFinalize(desc) ((void) (desc))
#endif

/* 18 counts on being called once. */
#if PG_VERSION_NUM >= 180000
#define KANON_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count
#define KANON_RUN_ARGUMENTS query, direction, count
#else
#define KANON_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count, bool once
#define KANON_RUN_ARGUMENTS query, direction, count, once
#endif

/* 19 tells planners who explains. */
#include "optimizer/planner.h"
#if PG_VERSION_NUM >= 190000
#define KANON_PLAN_PARAMETERS \
	Query *query, const char *text, int options, ParamListInfo params, ExplainState *explained
#define KANON_PLAN_ARGUMENTS query, text, options, params, explained
#else
#define KANON_PLAN_PARAMETERS Query *query, const char *text, int options, ParamListInfo params
#define KANON_PLAN_ARGUMENTS query, text, options, params
#endif

/* 17 takes the relation. */
#include "catalog/dependency.h"
#if PG_VERSION_NUM >= 170000
#define kanon_identity_sequence(rel, attnum) getIdentitySequence(rel, attnum, false)
#else
#define kanon_identity_sequence(rel, attnum) getIdentitySequence(RelationGetRelid(rel), attnum, false)
#endif

/* Memory of another size, or NULL when there is none: 16 can say so without an error. */
static inline void *
kanon_repalloc(void *ptr, Size size)
{
#if PG_VERSION_NUM >= 160000
	return repalloc_extended(ptr, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
#else
	MemoryContext context = CurrentMemoryContext;
	void *volatile result = NULL;

	PG_TRY();
	{
		result = repalloc_huge(ptr, size);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_OUT_OF_MEMORY)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
	return result;
#endif
}

/*
 * The expression that a variable of such an entry of FROM stands for (column 0: all); 18 has one
 * for what is grouped by.
 */
#include "nodes/parsenodes.h"
static inline Node *
kanon_entry_expression(RangeTblEntry *entry, AttrNumber column)
{
	List *expressions = entry->rtekind == RTE_JOIN ? entry->joinaliasvars : NIL;

#if PG_VERSION_NUM >= 180000
	if (entry->rtekind == RTE_GROUP)
		expressions = entry->groupexprs;
#endif
	return column > 0 && column <= list_length(expressions) ? (Node *) list_nth(expressions, column - 1)
															: (Node *) expressions;
}

/* All rows of a table; 19 wants to be told how. */
#include "access/tableam.h"
#if PG_VERSION_NUM >= 190000
#define kanon_beginscan(rel, snapshot) table_beginscan(rel, snapshot, 0, NULL, SO_NONE)
#else
#define kanon_beginscan(rel, snapshot) table_beginscan(rel, snapshot, 0, NULL)
#endif

/* PostgreSQL 19 asks a pointer, and no datum, whether the value is packed or elsewhere. */
static inline bool
kanon_is_toasted(Datum value)
{
	return VARATT_IS_COMPRESSED(DatumGetPointer(value)) || VARATT_IS_EXTERNAL(DatumGetPointer(value));
}

/* The only entry of FROM that the plan writes to, or 0 when there is none or there are several: 19 has a set of them. */
#include "nodes/plannodes.h"
static inline int
kanon_written_entry(const PlannedStmt *plan)
{
#if PG_VERSION_NUM >= 190000
	int entry;

	return bms_get_singleton_member(plan->resultRelationRelids, &entry) ? entry : 0;
#else
	return list_length(plan->resultRelations) == 1 ? linitial_int(plan->resultRelations) : 0;
#endif
}

#endif
