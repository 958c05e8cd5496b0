/*
 * names.c: the queries that kanon runs mean the same whatever the caller's search_path is.
 *
 * A library for servers of the tests (dev/check).  It reads each query that kanon hands to the
 * server while the search_path is the caller's.  There every operator, function, type, relation
 * and collation must be qualified.  IN, BETWEEN, LIKE, USING, NULLIF, IS DISTINCT FROM and CASE
 * with an operand look an operator up, too.  What is not qualified ends the session, so that no
 * test passes over it.
 */
#define _GNU_SOURCE
#include "postgres.h"

#include <dlfcn.h>
#include <execinfo.h>

#include "catalog/namespace.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "parser/parser.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

#define MOST_FRAMES 100

typedef struct Look
{
	List *known; /* names of WITH */
	const char *found;
} Look;

static post_parse_analyze_hook_type previous = NULL;

static void
note(Look *at, const char *what, List *name)
{
	if (at->found == NULL && list_length(name) == 1)
		at->found = psprintf("%s %s", what, strVal(linitial(name)));
}

static void
note_word(Look *at, const char *word)
{
	if (at->found == NULL)
		at->found = word;
}

static bool
is_null(const Node *node)
{
	return node != NULL && IsA(node, A_Const) && ((const A_Const *) node)->isnull;
}

static void
look_at_operator(Look *at, const A_Expr *expr)
{
	switch (expr->kind)
	{
		case AEXPR_OP:
		case AEXPR_OP_ANY:
		case AEXPR_OP_ALL:
			note(at, "operator", expr->name);
			break;
		case AEXPR_DISTINCT:
		case AEXPR_NOT_DISTINCT:
			/* no operator is looked up to compare with NULL */
			if (is_null(expr->lexpr) || is_null(expr->rexpr))
				break;
			/* fall through */
		default:
			note_word(at, "IN, LIKE, BETWEEN, NULLIF or IS DISTINCT FROM");
	}
}

static void
look_at_relation(Look *at, const RangeVar *relation)
{
	ListCell *lc;

	if (relation->schemaname != NULL)
		return;
	foreach (lc, at->known)
		if (strcmp(lfirst(lc), relation->relname) == 0)
			return;
	note(at, "relation", list_make1(makeString(relation->relname)));
}

static void
look_at_with(Look *at, const WithClause *with)
{
	ListCell *lc;

	if (with == NULL)
		return;
	foreach (lc, with->ctes)
		at->known = lappend(at->known, lfirst_node(CommonTableExpr, lc)->ctename);
}

static WithClause *
with_of(Node *node)
{
	switch (nodeTag(node))
	{
		case T_SelectStmt:
			return ((SelectStmt *) node)->withClause;
		case T_InsertStmt:
			return ((InsertStmt *) node)->withClause;
		case T_UpdateStmt:
			return ((UpdateStmt *) node)->withClause;
		case T_DeleteStmt:
			return ((DeleteStmt *) node)->withClause;
		default:
			return NULL;
	}
}

/* What it contains is for the walker, but for statements that are no queries. */
static void
look_at_node(Look *at, Node *node)
{
	switch (nodeTag(node))
	{
		case T_A_Expr:
			look_at_operator(at, (A_Expr *) node);
			break;
		case T_SubLink:
			if (((SubLink *) node)->testexpr == NULL)
				break;
			if (((SubLink *) node)->operName == NIL)
				note_word(at, "IN");
			note(at, "operator", ((SubLink *) node)->operName);
			break;
		case T_JoinExpr:
			if (((JoinExpr *) node)->isNatural || ((JoinExpr *) node)->usingClause != NIL)
				note_word(at, "NATURAL or USING");
			break;
		case T_CaseExpr:
			if (((CaseExpr *) node)->arg != NULL)
				note_word(at, "CASE with an operand");
			break;
		case T_SortBy:
			note(at, "operator", ((SortBy *) node)->useOp);
			break;
		case T_FuncCall:
			note(at, "function", ((FuncCall *) node)->funcname);
			break;
		case T_TypeName:
			note(at, "type", ((TypeName *) node)->names);
			break;
		case T_CollateClause:
			note(at, "collation", ((CollateClause *) node)->collname);
			break;
		case T_RangeVar:
			look_at_relation(at, (RangeVar *) node);
			break;
		default:
			break;
	}
}

static void
look_at_columns(Look *at, List *columns)
{
	ListCell *lc;

	foreach (lc, columns)
		if (IsA(lfirst(lc), ColumnDef))
		{
			ColumnDef *column = lfirst(lc);

			note(at, "type", column->typeName->names);
			if (column->collClause != NULL)
				note(at, "collation", column->collClause->collname);
		}
}

static bool
look(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	look_at_with(arg, with_of(node));
	look_at_node(arg, node);
	return raw_expression_tree_walker(node, look, arg);
}

/* Statements that are not named here compute nothing. */
static void
look_at_statement(Look *at, Node *node)
{
	switch (nodeTag(node))
	{
		case T_CreateStmt:
			look_at_relation(at, ((CreateStmt *) node)->relation);
			look_at_columns(at, ((CreateStmt *) node)->tableElts);
			break;
		case T_CreateTableAsStmt:
			look_at_relation(at, ((CreateTableAsStmt *) node)->into->rel);
			(void) look(((CreateTableAsStmt *) node)->query, at);
			break;
		case T_ViewStmt:
			look_at_relation(at, ((ViewStmt *) node)->view);
			(void) look(((ViewStmt *) node)->query, at);
			break;
		case T_SelectStmt:
		case T_InsertStmt:
		case T_UpdateStmt:
		case T_DeleteStmt:
			(void) look(node, at);
			break;
		default:
			break;
	}
}

/* Does kanon itself run this, rather than a function that its query calls? */
static bool
is_kanons(void)
{
	void *frames[MOST_FRAMES];
	int n = backtrace(frames, MOST_FRAMES);
	Dl_info here, server, info;

	if (!dladdr((void *) is_kanons, &here) || !dladdr((void *) raw_parser, &server))
		return false;
	for (int i = 0; i < n; i++)
	{
		if (!dladdr(frames[i], &info))
			continue;
		if (info.dli_fbase == server.dli_fbase)
		{
			/* (the last is the second's name from 19 on) */
			if (info.dli_sname != NULL && (strcmp(info.dli_sname, "fmgr_sql") == 0 ||
										   strcmp(info.dli_sname, "inline_set_returning_function") == 0 ||
										   strcmp(info.dli_sname, "inline_function_in_from") == 0))
				return false;
			continue;
		}
		if (info.dli_fbase != here.dli_fbase)
			return strstr(info.dli_fname, "/kanon.so") != NULL;
	}
	return false;
}

/* 19 makes it one that nobody changes. */
#if PG_VERSION_NUM >= 190000
typedef const JumbleState Jumbled;
#else
typedef JumbleState Jumbled;
#endif

static void
check_names(ParseState *pstate, Query *query, Jumbled *jumble)
{
	static const char *const own = "pg_catalog";

	if (previous != NULL)
		previous(pstate, query, jumble);
	if (pstate->p_sourcetext != NULL && strncmp(namespace_search_path, own, strlen(own)) != 0 && is_kanons())
	{
		Look at = {0};
		ListCell *lc;

		foreach (lc, raw_parser(pstate->p_sourcetext, RAW_PARSE_DEFAULT))
			look_at_statement(&at, lfirst_node(RawStmt, lc)->stmt);
		if (at.found != NULL)
			ereport(FATAL, (errmsg("kanon leaves it to the search_path what %s means", at.found),
							errdetail("%s", pstate->p_sourcetext)));
	}
}

void
_PG_init(void)
{
	previous = post_parse_analyze_hook;
	post_parse_analyze_hook = check_names;
}
