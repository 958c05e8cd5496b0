/*
 * mask_anon.c: the masking functions of the extension anon (PostgreSQL Anonymizer), in an
 * expression of one kept row.
 *
 * The expression is the caller's, and what it names may be anybody's: another function of
 * that name, an operator in the search_path, a type whose input function runs when a
 * literal is read.  So only these are read at all: literals, of types of pg_catalog;
 * columns; calls; operators; arrays; casts.  The functions behind these names are looked
 * at before anything runs: functions that belong to the extension, and immutable ones of
 * pg_catalog, of types of pg_catalog.  They run as the caller.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "masks/mask_apply.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_type.h"
#include "parser/parser.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#define ANON "anon"

typedef struct AnonRead
{
	Mask *mask;
	const Source *source;
	Oid extension;
	Oid schema; /* of the extension */
} AnonRead;

pg_noreturn static void
refuse(const AnonRead *read, const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("the mask of column \"%s\" is no masking function of the extension anon",
						   read->mask->column->name),
					errdetail("It %s.", what),
					errhint("Write it like '{\"%s\": {\"anon\": \"anon.fake_last_name()\"}}': functions that "
							"belong to the extension, and immutable ones of pg_catalog.",
							read->mask->column->name)));
}

static bool
of_catalog(Oid type)
{
	HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	bool found =
		HeapTupleIsValid(tuple) && ((Form_pg_type) GETSTRUCT(tuple))->typnamespace == PG_CATALOG_NAMESPACE;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return found;
}

/* ---- as it is written ---- */

/* Nothing runs for it: a type's own functions would read its modifier and its literals. */
static void
check_type_name(const AnonRead *read, TypeName *name)
{
	HeapTuple type = name->setof || name->pct_type ? NULL : LookupTypeName(NULL, name, NULL, true);
	Oid found = HeapTupleIsValid(type) ? ((Form_pg_type) GETSTRUCT(type))->oid : InvalidOid;

	if (HeapTupleIsValid(type))
		ReleaseSysCache(type);
	if (!of_catalog(found))
		refuse(read, "names a type that is not one of pg_catalog");
}

static Node *plain_expression(const AnonRead *read, Node *node);

static void
plain_list(const AnonRead *read, List *list)
{
	ListCell *lc;

	foreach (lc, list)
		lfirst(lc) = plain_expression(read, lfirst(lc));
}

/* A literal without a type is text: otherwise that of whatever takes it would read it. */
static Node *
plain_literal(A_Const *literal)
{
	TypeCast *cast;

	if (!literal->isnull && !IsA(&literal->val, String))
		return (Node *) literal;
	cast = makeNode(TypeCast);
	cast->arg = (Node *) literal;
	cast->typeName = makeTypeNameFromOid(TEXTOID, -1);
	cast->location = -1;
	return (Node *) cast;
}

static Node *
plain_expression(const AnonRead *read, Node *node)
{
	check_stack_depth();
	if (node == NULL)
		return NULL;
	switch ((int) nodeTag(node))
	{
		case T_A_Const:
			return plain_literal((A_Const *) node);
		case T_ColumnRef:
		{
			ListCell *lc;

			/* (what reads a reference takes each part for a name, and "*" is none) */
			foreach (lc, ((ColumnRef *) node)->fields)
				if (!IsA(lfirst(lc), String))
					refuse(read, "names all columns");
			return node;
		}
		case T_TypeCast:
		{
			TypeCast *cast = (TypeCast *) node;

			check_type_name(read, cast->typeName);
			if (!IsA(cast->arg, A_Const))
				cast->arg = plain_expression(read, cast->arg);
			return node;
		}
		case T_FuncCall:
		{
			FuncCall *call = (FuncCall *) node;

			if (call->agg_order != NIL || call->agg_filter != NULL || call->over != NULL ||
				call->agg_within_group || call->agg_star || call->agg_distinct)
				break;
			plain_list(read, call->args);
			return node;
		}
		case T_NamedArgExpr:
			((NamedArgExpr *) node)->arg =
				(Expr *) plain_expression(read, (Node *) ((NamedArgExpr *) node)->arg);
			return node;
		case T_A_ArrayExpr:
			plain_list(read, ((A_ArrayExpr *) node)->elements);
			return node;
		case T_A_Expr:
		{
			A_Expr *expr = (A_Expr *) node;

			if (expr->kind != AEXPR_OP)
				break;
			expr->lexpr = plain_expression(read, expr->lexpr);
			expr->rexpr = plain_expression(read, expr->rexpr);
			return node;
		}
		default:
			break;
	}
	refuse(read, "is more than literals, columns, calls, operators, arrays and casts");
}

/* A SELECT of one expression, and of nothing besides. */
static Node *
parse_expression(const AnonRead *read, const char *text)
{
	List *statements = raw_parser(psprintf("SELECT %s", text), RAW_PARSE_DEFAULT);
	SelectStmt *select = NULL;
	ResTarget *target;

	if (list_length(statements) == 1 && IsA(linitial_node(RawStmt, statements)->stmt, SelectStmt))
		select = (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
	if (select == NULL || list_length(select->targetList) != 1 || select->distinctClause != NIL ||
		select->intoClause != NULL || select->fromClause != NIL || select->whereClause != NULL ||
		select->groupClause != NIL || select->havingClause != NULL || select->windowClause != NIL ||
		select->valuesLists != NIL || select->sortClause != NIL || select->limitOffset != NULL ||
		select->limitCount != NULL || select->lockingClause != NIL || select->withClause != NULL ||
		select->op != SETOP_NONE)
		refuse(read, "is no single expression");
	target = linitial_node(ResTarget, select->targetList);
	if (target->name != NULL || target->indirection != NIL)
		refuse(read, "is no single expression");
	return plain_expression(read, target->val);
}

/* ---- what it means ---- */

/*
 * The masked column, or one that is published as it is: of others it would publish values
 * that nobody sees otherwise.
 */
static Node *
find_column(ParseState *pstate, ColumnRef *reference, Node *found)
{
	const AnonRead *read = pstate->p_ref_hook_state;
	const char *name = list_length(reference->fields) == 1 && IsA(linitial(reference->fields), String)
						   ? strVal(linitial(reference->fields))
						   : "";

	for (int i = 0; i < read->source->nkept; i++)
	{
		const SourceColumn *column = &read->source->kept[i];

		if (strcmp(column->name, name) != 0)
			continue;
		return (Node *) makeVar(1, (AttrNumber) (i + 1), getBaseType(column->type), -1, column->collation, 0);
	}
	refuse(read, "names a column that is not kept");
}

static Oid
extension_namespace(Oid extension)
{
	Relation rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;
	Oid schema = InvalidOid;

	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(extension));
	scan = systable_beginscan(rel, ExtensionOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		schema = ((Form_pg_extension) GETSTRUCT(tuple))->extnamespace;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return schema;
}

/*
 * True: it must not run.  The role that installed the extension decides what its functions do: a
 * superuser, or the caller.
 */
static bool
is_foreign_function(Oid function, void *arg)
{
	const AnonRead *read = arg;
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	bool ours;

	if (!HeapTupleIsValid(tuple))
		return true;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	ours = form->prokind == PROKIND_FUNCTION && !form->proretset;
	if (form->pronamespace == PG_CATALOG_NAMESPACE)
		ours = ours && form->provolatile == PROVOLATILE_IMMUTABLE;
	else
		ours = ours && form->pronamespace == read->schema &&
			   getExtensionOfObject(ProcedureRelationId, function) == read->extension &&
			   (superuser_arg(form->proowner) || is_member_of_role_nosuper(GetUserId(), form->proowner));
	ReleaseSysCache(tuple);
	return !ours;
}

static bool
is_foreign(Node *node, void *arg)
{
	const AnonRead *read = arg;

	if (node == NULL)
		return false;
	if (IsA(node, List))
		return kanon_walk(node, is_foreign, arg);
	switch ((int) nodeTag(node))
	{
		case T_Const:
		case T_Var:
		case T_NamedArgExpr:
		case T_RelabelType:
		case T_ArrayExpr:
		case T_FuncExpr:
		case T_OpExpr:
		case T_CoerceViaIO:
			break;
		default:
			refuse(read, "is more than literals, columns, calls, operators, arrays and casts");
	}
	if (!of_catalog(exprType(node)))
		refuse(read, "has a value of a type that is not one of pg_catalog");
	if (!IsA(node, CoerceViaIO) && check_functions_in_node(node, is_foreign_function, arg))
		refuse(read, "calls a function or operator that does not belong to it");
	return kanon_walk(node, is_foreign, arg);
}

void
mask_anon_read(Mask *mask, const Source *source, const char *text)
{
	AnonRead read = {.mask = mask, .source = source};
	ParseState *pstate = make_parsestate(NULL);
	Node *expression;
	Oid type;
	int nest;

	read.extension = get_extension_oid(ANON, true);
	if (!OidIsValid(read.extension))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("the mask of column \"%s\" needs the extension anon, which is not installed",
						mask->column->name),
				 errhint("Install PostgreSQL Anonymizer in this database, or take a mask of kanon's own.")));
	read.schema = extension_namespace(read.extension);
	nest = catalog_path_begin();
	pstate->p_post_columnref_hook = find_column;
	pstate->p_ref_hook_state = &read;
	expression = transformExpr(pstate, parse_expression(&read, text), EXPR_KIND_OTHER);
	(void) is_foreign(expression, &read);
	type = exprType(expression);
	expression = coerce_to_target_type(pstate, expression, type, mask->base, -1, COERCION_ASSIGNMENT,
									   COERCE_IMPLICIT_CAST, -1);
	if (expression == NULL)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("the mask of column \"%s\" is of type %s, the column of type %s",
							   mask->column->name, format_type_be(type), format_type_be(mask->base)),
						errhint("Cast it, or take another masking function.")));
	assign_expr_collations(pstate, expression);
	(void) is_foreign(expression, &read);
	expression_trust(expression);
	mask->expression = expression_planner((Expr *) expression);
	free_parsestate(pstate);
	catalog_path_end(nest);
}

static bool
find_masked(Node *node, void *arg)
{
	const SourceColumn *kept = ((const Source *) ((void **) arg)[0])->kept;
	const Mask *mask = ((void **) arg)[1];

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		const SourceColumn *column = &kept[((Var *) node)->varattno - 1];

		return column != mask->column && column->mask != NULL;
	}
	return kanon_walk(node, find_masked, arg);
}

void
mask_anon_check(const Mask *mask, const Source *source)
{
	void *arg[] = {unconstify(Source *, source), unconstify(Mask *, mask)};

	if (find_masked((Node *) mask->expression, arg))
		refuse(&(AnonRead){.mask = unconstify(Mask *, mask)}, "names a column that is masked itself");
}

/* Unless an expression draws, who knows its columns can work out what it shows. */
MaskShows
mask_anon_shows(const Mask *mask)
{
	return contain_var_clause((Node *) mask->expression) &&
				   !contain_volatile_functions((Node *) mask->expression)
			   ? MASK_SHOWS_PART
			   : MASK_SHOWS_DRAWN;
}

/* ---- rows ---- */

void
mask_anon_begin(Masks *masks, Mask *mask)
{
	MemoryContext old = MemoryContextSwitchTo(masks->border->context);
	TupleDesc desc = CreateTemplateTupleDesc(masks->n);

	for (int i = 0; i < masks->n; i++)
	{
		TupleDescInitEntry(desc, (AttrNumber) (i + 1), masks->columns[i]->name,
						   getBaseType(masks->columns[i]->type), -1, 0);
		TupleDescInitEntryCollation(desc, (AttrNumber) (i + 1), masks->columns[i]->collation);
	}
	TupleDescFinalize(desc);
	mask->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	mask->econtext = CreateStandaloneExprContext();
	mask->econtext->ecxt_scantuple = mask->slot;
	mask->state = ExecInitExpr(mask->expression, NULL);
	MemoryContextSwitchTo(old);
}

Datum
mask_anon_apply(Masks *masks, Mask *mask, const Datum *values, const bool *nulls, bool *isnull)
{
	int nest = catalog_path_begin();
	Datum value;

	ResetExprContext(mask->econtext);
	ExecClearTuple(mask->slot);
	memcpy(mask->slot->tts_values, values, sizeof(Datum) * masks->n);
	memcpy(mask->slot->tts_isnull, nulls, sizeof(bool) * masks->n);
	ExecStoreVirtualTuple(mask->slot);
	gate_queries++;
	value = ExecEvalExprSwitchContext(mask->state, mask->econtext, isnull);
	gate_queries--;
	catalog_path_end(nest);
	return value;
}

void
mask_anon_end(Mask *mask)
{
	FreeExprContext(mask->econtext, true);
	ExecDropSingleTupleTableSlot(mask->slot);
}
