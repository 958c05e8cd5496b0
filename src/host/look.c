/*
 * look.c: the closure of what the planner and the executor could call for a query.
 *
 * It begins at the query that will run, rewritten: views, rules and the policies of each relation stand in it as the
 * server put them there, under the role that reads.  From there on it follows
 *
 *   - each expression to its function, operator, aggregate or window function, and to the types that it makes;
 *   - each sort, group, join and set operation to its operators;
 *   - an operator to its function, estimators, negator and commutator, and to all of its operator families: the planner
 *     estimates with these, joins by them, and exchanges the one for the other;
 *   - a family to all of its functions and operators;
 *   - an aggregate to its functions of transition, end, combination, inverse and transfer, and its state's type;
 *   - a function to its support function, the defaults of its arguments, the types that it gives back, and to its body
 *     where the planner may put that in its place;
 *   - a type to its functions of input and output, the default operator classes of its values, and to what it is made of:
 *     elements, attributes, the base of a domain, the subtype of a range with its class and functions; where values of
 *     it are made, to a domain's owner and checks;
 *   - a relation to its indexes (expressions, predicates, operator classes), checks, statistics, generated columns,
 *     partition keys (of those above it, too), children, and, if it is written, to its triggers and defaults.
 *
 * Why nothing else can run: a server runs code of SQL where an expression, an operator or a type's function is
 * evaluated, all of which stand in a query's tree, or in what a relation, a type or a function brings along, as listed.
 * An expression of a kind that is not known here is refused, and so is a kind of relation.  Three things are no tree.
 * Functions that only superusers can make (in C: handlers of methods of access, samples, foreign data) belong to one;
 * families of the system's own operators only a superuser can add to; and a function of one's own does what its owner
 * wrote.  The door (trust.c) stands behind all of these: it looks at the queries that bodies make and at the types of
 * PL/pgSQL's variables (variables.c), and stops a function of another role when it is called.  No parallel worker, where
 * no door stands, runs a body that was not looked at.
 * t/062_planted_code.pl plants code at such places, levels below what is read.
 */
#include "compat.h"
#include "host/look.h"
#include "host/look_parts.h"
#include "host/catalog.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_index.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "access/genam.h"

#define AS_WRITTEN TriggerRelationId /* a relation that is written */
#define AS_KEY PartitionedRelationId /* the key of a partitioned one */

static bool look_at_relation(Oid relid, bool written, Look *look);

/* ---- what is asked of everything ---- */

bool
role_is_trusted(Oid owner, Oid reader)
{
	return owner == reader || superuser_arg(owner);
}

/* Returns true, which ends a walk. */
bool
look_refuse(Look *look, const char *why)
{
	look->why = why;
	return true;
}

/* The subject of a clause. */
static const char *
subject(const Look *look, Oid relid)
{
	const char *name = relid == look->about ? "it" : relation_name(relid);

	return name != NULL ? name : "it";
}

bool
look_is_new(Look *look, Oid as, Oid object)
{
	Seen seen = {as, object};
	bool found;

	if (!OidIsValid(object))
		return false;
	(void) hash_search(look->seen, &seen, HASH_ENTER, &found);
	return !found;
}

/* An expression as a catalog has it. */
static bool
walk_text(Datum tree, bool isnull, Look *look)
{
	return !isnull && look_walk(stringToNode(TextDatumGetCString(tree)), look);
}

bool
look_walk_stored(int cache, HeapTuple tuple, AttrNumber attribute, Look *look)
{
	bool isnull;
	Datum tree = SysCacheGetAttr(cache, tuple, attribute, &isnull);

	return walk_text(tree, isnull, look);
}

/* ---- expressions ---- */

static bool
is_of_another(Oid function, void *look)
{
	return look_at_function(function, look);
}

static bool
look_at_made(List *types, Look *look)
{
	ListCell *lc;

	foreach (lc, types)
		if (look_at_type(lfirst_oid(lc), true, look))
			return true;
	return false;
}

static bool
is_json(Oid type)
{
	return type == JSONOID || type == JSONBOID;
}

static List *
arguments_of(Node *node)
{
	switch ((int) nodeTag(node))
	{
		case T_FuncExpr:
			return ((FuncExpr *) node)->args;
		case T_Aggref:
			return ((Aggref *) node)->args;
		case T_WindowFunc:
			return ((WindowFunc *) node)->args;
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			return ((OpExpr *) node)->args;
		default:
			return NIL;
	}
}

static Oid
function_of(Node *node)
{
	switch ((int) nodeTag(node))
	{
		case T_FuncExpr:
			return ((FuncExpr *) node)->funcid;
		case T_Aggref:
			return ((Aggref *) node)->aggfnoid;
		case T_WindowFunc:
			return ((WindowFunc *) node)->winfnoid;
		default:
			return get_opcode(((OpExpr *) node)->opno);
	}
}

/*
 * Does a function of the system give back what it was given (min, array_agg, unnest)?  Those that make rows of texts
 * (json_populate_record) are told what to make by an argument of that type, so rows are not said to be passed on.
 */
static bool
is_passed_on(Node *node, Oid type)
{
	ListCell *lc;

	if (function_of(node) >= FirstNormalObjectId || get_typtype(getBaseType(type)) == TYPTYPE_COMPOSITE)
		return false;
	foreach (lc, arguments_of(node))
	{
		Node *argument =
			IsA(lfirst(lc), TargetEntry) ? (Node *) ((TargetEntry *) lfirst(lc))->expr : lfirst(lc);
		Oid given = exprType(argument);

		if (given == type || get_element_type(given) == type || get_element_type(type) == given)
			return true;
	}
	return false;
}

static bool
look_at_call(Node *node, Look *look)
{
	Oid type = exprType(node);

	look->json = look->json || is_json(type);
	return look_at_type(type, !is_passed_on(node, type), look);
}

/*
 * Nodes that are no expression, and whose parts are walked.  The operators of set operations and of marks of cycles are
 * those of their types' default classes; a window's functions of ranges are in the family of its order.
 */
static bool
is_part(NodeTag tag)
{
	static const NodeTag parts[] = {T_List,
									T_TargetEntry,
									T_FromExpr,
									T_JoinExpr,
									T_RangeTblRef,
									T_OnConflictExpr,
									T_InferenceElem,
									T_CommonTableExpr,
									T_CTESearchClause,
									T_CTECycleClause,
									T_SetOperationStmt,
									T_WindowClause,
									T_WithCheckOption,
									T_GroupingSet,
									T_RowMarkClause,
									T_MergeAction,
									T_NamedArgExpr,
									T_CaseWhen};

	for (int i = 0; i < lengthof(parts); i++)
		if (parts[i] == tag)
			return true;
	return false;
}

/* Nothing more is asked of these than their functions and the types of their values. */
static bool
is_plain(NodeTag tag)
{
	static const NodeTag plain[] = {T_Var,
									T_Const,
									T_Param,
									T_GroupingFunc,
									T_SubscriptingRef,
									T_BoolExpr,
									T_SubLink,
									T_FieldSelect,
									T_FieldStore,
									T_RelabelType,
									T_ArrayCoerceExpr,
									T_ConvertRowtypeExpr,
									T_CollateExpr,
									T_CaseExpr,
									T_CaseTestExpr,
									T_ArrayExpr,
									T_RowExpr,
									T_CoalesceExpr,
									T_MinMaxExpr,
									T_SQLValueFunction,
									T_XmlExpr,
									T_NullTest,
									T_BooleanTest,
									T_CoerceToDomainValue,
									T_SetToDefault,
									T_CurrentOfExpr,
									T_NextValueExpr,
									KANON_NEWER_EXPRESSIONS};

	for (int i = 0; i < lengthof(plain); i++)
		if (plain[i] == tag)
			return true;
	return false;
}

/* Makes a value of its type of something else. */
static bool
is_maker(NodeTag tag)
{
	static const NodeTag makers[] = {T_CoerceToDomain, T_CoerceViaIO, KANON_NEWER_MAKERS};

	for (int i = 0; i < lengthof(makers); i++)
		if (makers[i] == tag)
			return true;
	return false;
}

static bool
look_at_expression(Node *node, Look *look)
{
	if (is_part(nodeTag(node)))
		return false;
	if (is_plain(nodeTag(node)))
		return look_at_type(exprType(node), false, look);
	if (!is_maker(nodeTag(node)))
		return look_refuse(look, psprintf("it has an expression of a kind that kanon does not know (%d)",
										  (int) nodeTag(node)));
	look->json = look->json || is_json(exprType(node));
	return look_at_type(exprType(node), true, look);
}

static bool
look_at_rows(const RowCompareExpr *rows, Look *look)
{
	ListCell *lc;

	foreach (lc, rows->opnos)
		if (look_at_operator(lfirst_oid(lc), look))
			return true;
	return false;
}

/* Its parts are walked afterwards. */
static bool
look_at_node(Node *node, Look *look)
{
	switch ((int) nodeTag(node))
	{
		case T_SortGroupClause:
			return look_at_operator(((SortGroupClause *) node)->eqop, look) ||
				   look_at_operator(((SortGroupClause *) node)->sortop, look);
		case T_TableSampleClause:
			return look_at_function(((TableSampleClause *) node)->tsmhandler, look);
		case T_RangeTblFunction:
			return look_at_made(((RangeTblFunction *) node)->funccoltypes, look);
		case T_TableFunc:
			return look_at_made(((TableFunc *) node)->coltypes, look);
		case T_FuncExpr:
		case T_Aggref:
		case T_WindowFunc:
			return look_at_call(node, look);
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			return look_at_operator(((OpExpr *) node)->opno, look) || look_at_call(node, look);
		case T_ScalarArrayOpExpr:
			return look_at_operator(((ScalarArrayOpExpr *) node)->opno, look);
		case T_RowCompareExpr:
			return look_at_rows((RowCompareExpr *) node, look);
		default:
			return look_at_expression(node, look);
	}
}

static bool
look_at_query(Query *query, Look *look)
{
	if (query->resultRelation > 0 &&
		look_at_relation(list_nth_node(RangeTblEntry, query->rtable, query->resultRelation - 1)->relid, true,
						 look))
		return true;
	return kanon_walk_query(query, look_walk, look, QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP);
}

bool
look_walk(Node *node, Look *look)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return look_at_query((Query *) node, look);
	/* (a view's, too, in whose place its query stands: by 16 it keeps its name, and before in an entry of its own) */
	if (IsA(node, RangeTblEntry))
		return look_at_relation(((RangeTblEntry *) node)->relid, false, look);
	return look_at_node(node, look) || check_functions_in_node(node, is_of_another, look) ||
		   (!IsA(node, SortGroupClause) && kanon_walk(node, look_walk, look));
}

/* ---- relations ---- */

static bool
look_at_index(Oid index, Look *look)
{
	HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool isnull, stop;

	if (!HeapTupleIsValid(tuple))
		return false;
	stop = look_at_classes(SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indclass, &isnull), look) ||
		   look_walk_stored(INDEXRELID, tuple, Anum_pg_index_indexprs, look) ||
		   look_walk_stored(INDEXRELID, tuple, Anum_pg_index_indpred, look);
	ReleaseSysCache(tuple);
	return stop;
}

static bool
look_at_statistics(Oid statistics, Look *look)
{
	HeapTuple tuple = SearchSysCache1(STATEXTOID, ObjectIdGetDatum(statistics));
	bool stop;

	if (!HeapTupleIsValid(tuple))
		return false;
	stop = look_walk_stored(STATEXTOID, tuple, Anum_pg_statistic_ext_stxexprs, look);
	ReleaseSysCache(tuple);
	return stop;
}

static bool
look_at_key(Oid relid, Look *look)
{
	HeapTuple tuple;
	bool isnull, stop;

	if (!look_is_new(look, AS_KEY, relid))
		return false;
	tuple = SearchSysCache1(PARTRELID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return false;
	stop = look_at_classes(SysCacheGetAttr(PARTRELID, tuple, Anum_pg_partitioned_table_partclass, &isnull),
						   look) ||
		   look_walk_stored(PARTRELID, tuple, Anum_pg_partitioned_table_partexprs, look);
	ReleaseSysCache(tuple);
	return stop;
}

/* Checks, and columns that are computed when they are read or written. */
static bool
look_at_constraints(Relation rel, bool written, Look *look)
{
	const TupleConstr *constr = RelationGetDescr(rel)->constr;
	bool stop = false;

	if (constr == NULL)
		return false;
	for (int i = 0; i < constr->num_check && !stop; i++)
		stop = look_walk(stringToNode(constr->check[i].ccbin), look);
	for (int i = 0; i < constr->num_defval && !stop; i++)
	{
		const AttrDefault *value = &constr->defval[i];
		char generated = TupleDescAttr(RelationGetDescr(rel), value->adnum - 1)->attgenerated;

		if (written || (generated != '\0' && generated != ATTRIBUTE_GENERATED_STORED))
			stop = look_walk(stringToNode(value->adbin), look);
	}
	return stop;
}

static bool
look_at_triggers(Relation rel, Look *look)
{
	const TriggerDesc *triggers = rel->trigdesc;
	bool stop = false;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers && !stop; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		stop = !trigger->tgisinternal &&
			   (look_at_function(trigger->tgfoid, look) ||
				(trigger->tgqual != NULL && look_walk(stringToNode(trigger->tgqual), look)));
	}
	return stop;
}

static bool
look_at_parts(Relation rel, bool written, Look *look)
{
	List *indexes = RelationGetIndexList(rel), *statistics = RelationGetStatExtList(rel), *above = NIL;
	ListCell *lc;

	foreach (lc, indexes)
		if (look_at_index(lfirst_oid(lc), look))
			return true;
	foreach (lc, statistics)
		if (look_at_statistics(lfirst_oid(lc), look))
			return true;
	if (rel->rd_rel->relispartition)
		above = get_partition_ancestors(RelationGetRelid(rel));
	foreach (lc, lappend_oid(above, RelationGetRelid(rel)))
		if (look_at_key(lfirst_oid(lc), look))
			return true;
	return look_at_constraints(rel, written, look) || (written && look_at_triggers(rel, look));
}

static bool
look_at_children(Relation rel, bool written, Look *look)
{
	ListCell *lc;

	foreach (lc, find_inheritance_children(RelationGetRelid(rel), NoLock))
		if (look_at_relation(lfirst_oid(lc), written, look))
			return true;
	return false;
}

/* Expressions of its owner's run when a row is written. */
static bool
has_own_words(Relation rel)
{
	const TupleConstr *constr = RelationGetDescr(rel)->constr;

	return rel->trigdesc != NULL || (constr != NULL && (constr->num_check > 0 || constr->num_defval > 0));
}

/* A reader takes no more of another role's than rows of a table, and a writer brings no more. */
static bool
look_at_kind(Relation rel, bool own, bool written, Look *look)
{
	const FormData_pg_class *form = rel->rd_rel;
	const char *name = subject(look, RelationGetRelid(rel)), *what = NULL;

	if (isOtherTempNamespace(form->relnamespace))
		what = "is a temporary table of another session";
	else if (!own && form->relkind == RELKIND_VIEW)
		what = "is a view of another role";
	else if (!own && form->relkind == RELKIND_FOREIGN_TABLE)
		what = "is a foreign table of another role";
	else if (!own && form->relrowsecurity)
		what = "has row-level security";
	else if (!own && form->relhasrules && form->relkind != RELKIND_MATVIEW)
		what = "has rules";
	else if (!own && written && has_own_words(rel))
		what = "has defaults, checks or triggers of another role";
	else if (strchr("rpmvfS", form->relkind) == NULL)
		what = "is no table";
	return what != NULL && look_refuse(look, psprintf("%s %s", name, what));
}

static bool
look_at_server(Oid relid, Look *look)
{
	const ForeignServer *server = GetForeignServer(GetForeignTable(relid)->serverid);

	return look_at_function(GetForeignDataWrapper(server->fdwid)->fdwhandler, look);
}

static bool
look_at_relation(Oid relid, bool written, Look *look)
{
	Relation rel;
	bool stop;

	if (relid < FirstNormalObjectId || !look_is_new(look, written ? AS_WRITTEN : RelationRelationId, relid))
		return false;
	check_stack_depth();
	rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		return look_refuse(look, "it reads what is not there any more");
	stop = look_at_kind(rel, role_is_trusted(rel->rd_rel->relowner, look->reader), written, look) ||
		   (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE && look_at_server(relid, look)) ||
		   (rel->rd_rel->relkind != RELKIND_VIEW && rel->rd_rel->relkind != RELKIND_SEQUENCE &&
			(look_at_parts(rel, written, look) || look_at_children(rel, written, look)));
	relation_close(rel, NoLock);
	return stop;
}

/* ---- looks ---- */

typedef bool (*LookAt)(const void *what, Look *look);

/* In memory of its own, but for the answer. */
static const char *
look_in(LookAt at, const void *what, Oid reader, Oid about, bool *bodies)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "kanon look", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	HASHCTL control = {.keysize = sizeof(Seen), .entrysize = sizeof(Seen), .hcxt = context};
	Look look = {.reader = reader, .about = about};
	char *why = NULL;

	look.seen = hash_create("kanon look", 128, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	if (!at(what, &look))
		(void) look_at_json(&look);
	MemoryContextSwitchTo(old);
	if (look.why != NULL)
		why = pstrdup(look.why);
	MemoryContextDelete(context);
	if (bodies != NULL)
		*bodies = look.bodies;
	return why;
}

static bool
at_tree(const void *tree, Look *look)
{
	return look_walk(unconstify(void *, tree), look);
}

static bool
at_plan(const void *what, Look *look)
{
	const PlannedStmt *plan = what;
	ListCell *lc;

	foreach (lc, plan->rtable)
		if (look_at_relation(lfirst_node(RangeTblEntry, lc)->relid, false, look))
			return true;
	return false;
}

const char *
query_mistrusted(const Query *query, Oid reader, Oid about, bool *bodies)
{
	return look_in(at_tree, query, reader, about, bodies);
}

const char *
plan_mistrusted(const PlannedStmt *plan, Oid reader, Oid about)
{
	return look_in(at_plan, plan, reader, about, NULL);
}

static bool
at_written(const void *relid, Look *look)
{
	return look_at_relation(*(const Oid *) relid, true, look);
}

const char *
writing_mistrusted(Oid relid, Oid reader)
{
	return look_in(at_written, &relid, reader, relid, NULL);
}

static bool
at_type(const void *type, Look *look)
{
	return look_at_type(*(const Oid *) type, true, look);
}

const char *
type_mistrusted(Oid type, Oid reader)
{
	return type < FirstNormalObjectId ? NULL : look_in(at_type, &type, reader, InvalidOid, NULL);
}

const char *
expression_mistrusted(Node *expression, Oid reader)
{
	return look_in(at_tree, expression, reader, InvalidOid, NULL);
}
