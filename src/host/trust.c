/*
 * trust.c: whether reading a relation could run code of another role, and the door that every query of kanon goes
 * through.
 *
 * The look (look.c) says it of a query before that runs.  The door says it again of the query that does run, which
 * somebody may have made another one since: of each query that is planned while the door is open, by functions that it
 * calls, too; of the plan, in which the planner has put other functions' queries; and of each function that is called.
 * So nothing can be read before it was looked at, and no lock has to keep others from changing what was.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/attempt.h"
#include "host/gate.h"
#include "host/look.h"
#include "host/settings.h"
#include "host/variables.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/analyze.h"
#include "storage/lmgr.h"
#include "tcop/cmdtag.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

static bool
may_read(Oid relid)
{
	return kanon_schema_aclcheck(get_rel_namespace(relid), GetUserId(), ACL_USAGE) == ACLCHECK_OK &&
		   (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
			pg_attribute_aclcheck_all(relid, GetUserId(), ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK);
}

/* ---- the look ---- */

/* All relations that rules, policies and parents lead to. */
static const char *const below =
	"WITH RECURSIVE below(relid) AS ("
	"  SELECT $1"
	" UNION"
	"  SELECT next.relid FROM below, LATERAL ("
	"    SELECT d.refobjid AS relid FROM pg_rewrite w JOIN pg_depend d"
	"      ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass"
	"     WHERE w.ev_class = below.relid"
	"    UNION ALL"
	"    SELECT d.refobjid FROM pg_policy p JOIN pg_depend d"
	"      ON d.classid = 'pg_policy'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_class'::regclass"
	"     WHERE p.polrelid = below.relid"
	"    UNION ALL"
	"    SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = below.relid) AS next)"
	" SELECT b.relid FROM below AS b JOIN pg_class c ON c.oid = b.relid WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f')";

/* The OIDs that a query of the catalogs gives for a relation. */
static List *
ask_oids(const char *query, Oid relid)
{
	Oid types[1] = {OIDOID};
	Datum values[1] = {ObjectIdGetDatum(relid)};
	MemoryContext context = CurrentMemoryContext, old;
	List *list = NIL;
	uint64 n;
	int nest;

	SPI_connect();
	nest = catalog_path_begin();
	n = gate_ask(query, 1, types, values, NULL, false, 0);
	old = MemoryContextSwitchTo(context);
	for (uint64 i = 0; i < n; i++)
	{
		bool isnull;

		list = lappend_oid(list, DatumGetObjectId(gate_value(i, 1, OIDOID, &isnull)));
	}
	MemoryContextSwitchTo(old);
	catalog_path_end(nest);
	SPI_finish();
	return list;
}

/* As a reader locks them. */
static bool
lock_all(Oid relid, long *patience)
{
	ListCell *lc;

	if (!lock_patiently(relid, AccessShareLock, patience))
		return false;
	foreach (lc, ask_oids(below, relid))
		if (lfirst_oid(lc) >= FirstNormalObjectId &&
			!lock_patiently(lfirst_oid(lc), AccessShareLock, patience))
			return false;
	return true;
}

/* The query that has all of its rows; NIL: its name is another's by now. */
static List *
whole_query(Oid relid)
{
	char *sql = psprintf("SELECT * FROM %s", relation_name(relid));
	RawStmt *statement = linitial_node(RawStmt, pg_parse_query(sql));
	Query *query = parse_analyze_fixedparams(statement, sql, NULL, 0, NULL);

	return linitial_node(RangeTblEntry, query->rtable)->relid == relid ? pg_rewrite_query(query) : NIL;
}

static const char *
look_at(Oid relid, long *patience)
{
	const char *why = NULL;
	List *queries;
	ListCell *lc;

	if (relid < FirstNormalObjectId)
		return NULL;
	if (strchr("rpmvf", get_rel_relkind(relid)) == NULL)
		return "it is no table";
	if (isOtherTempNamespace(get_rel_namespace(relid)))
		return "it is a temporary table of another session";
	if (!lock_all(relid, patience))
		return "another session has locked it";
	if (relation_name(relid) == NULL)
		return "it is not there any more";
	if ((queries = whole_query(relid)) == NIL)
		return "another relation has its name";
	foreach (lc, queries)
		if (why == NULL)
			why = query_mistrusted(lfirst_node(Query, lc), GetUserId(), relid, NULL);
	return why;
}

const char *
relation_mistrusted(Oid relid)
{
	/* before a lock that others would have to wait for */
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		return "it is not there any more";
	if (!may_read(relid))
		return "the caller may not read it";
	/* a refresh waits as every run does */
	return look_at(relid, InSecurityRestrictedOperation() ? NULL : patience_left());
}

bool
relation_of_strangers(Oid relid)
{
	/* a session that holds a lock of it does not decide the answer */
	return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) && may_read(relid) &&
		   look_at(relid, NULL) != NULL;
}

pg_noreturn static void
raise_mistrusted(const char *name, const char *why, const char *done)
{
	ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					name != NULL ? errmsg("relation %s is not %s: %s", name, done, why)
								 : errmsg("a statement is not run: %s", why),
					errdetail("It could run code of another role with your rights."),
					InSecurityRestrictedOperation()
						? errhint("The owner of the publication accepts it with kanon_alter_publication(..., "
								  "set_options => '{}'), if they trust that role.")
						: errhint("Let its owner make the call, or, if you trust that role, "
								  "SET kanon.read_strangers = on.")));
}

void
relation_trust(Oid relid)
{
	const char *why = kanon_read_strangers ? NULL : relation_mistrusted(relid);

	if (why != NULL)
		raise_mistrusted(relation_name(relid), why, "read");
}

void
relation_trust_written(Oid relid)
{
	const char *why;

	relation_trust(relid);
	why = kanon_read_strangers ? NULL : writing_mistrusted(relid, GetUserId());
	if (why != NULL)
		raise_mistrusted(relation_name(relid), why, "written");
}

void
expression_trust(Node *expression)
{
	const char *why = kanon_read_strangers ? NULL : expression_mistrusted(expression, GetUserId());

	if (why != NULL)
		raise_mistrusted(NULL, why, NULL);
}

/* ---- the door ---- */

static const Door *door = NULL;
static bool *met_strangers = NULL;
static planner_hook_type previous_planner = NULL;
static needs_fmgr_hook_type previous_needs = NULL;
static fmgr_hook_type previous_call = NULL;
static ProcessUtility_hook_type previous_statement = NULL;

/* The role for which all plans of the session were looked at; InvalidOid: some were made where nobody looks. */
static Oid planned_for = InvalidOid;

static void look_at_variable(Oid type);

void
door_open(Door *opened, const char *name, Oid relid)
{
	*opened = (Door){.outer = door, .name = name, .relid = relid, .reader = GetUserId()};
	/* functions that a query calls do not open what it has closed, whatever they set */
	opened->guarded = !kanon_read_strangers || (door != NULL && door->guarded);
	door = opened;
	if (!opened->guarded)
		return;
	variables_watch(opened, look_at_variable);
	/* plans that functions keep are made again */
	if (planned_for != opened->reader)
		ResetPlanCache();
	planned_for = opened->reader;
}

void
door_close(const Door *opened)
{
	variables_leave(opened);
	door = opened->outer;
}

void
trust_named(bool *met, void (*work)(void *arg), void *arg)
{
	met_strangers = met;
	PG_TRY();
	{
		work(arg);
	}
	PG_FINALLY();
	{
		met_strangers = NULL;
	}
	PG_END_TRY();
}

static void
refuse(const char *why)
{
	if (met_strangers != NULL)
		*met_strangers = true;
	else
		raise_mistrusted(door->name, why, "read");
}

static PlannedStmt *
plan_at_door(KANON_PLAN_PARAMETERS)
{
	const char *why = NULL;
	PlannedStmt *plan;
	bool guarded = door != NULL && door->guarded, bodies = false;

	if (!guarded)
		planned_for = InvalidOid;
	if (guarded && (why = query_mistrusted(query, GetUserId(), door->relid, &bodies)) != NULL)
		refuse(why);
	/* no door stands in parallel workers */
	if (bodies || why != NULL)
		options &= ~CURSOR_OPT_PARALLEL_OK;
	plan = previous_planner != NULL ? previous_planner(KANON_PLAN_ARGUMENTS)
									: standard_planner(KANON_PLAN_ARGUMENTS);
	if (guarded && why == NULL && (why = plan_mistrusted(plan, GetUserId(), door->relid)) != NULL)
		refuse(why);
	return plan;
}

/* ---- statements of functions that are no queries ---- */

/* Changes of a table that evaluate nothing. */
static bool
is_quiet_change(AlterTableType change)
{
	static const AlterTableType quiet[] = {AT_ChangeOwner,        AT_SetRelOptions,      AT_ResetRelOptions,
										   AT_EnableRowSecurity,  AT_DisableRowSecurity, AT_ForceRowSecurity,
										   AT_NoForceRowSecurity, AT_ReplicaIdentity,    AT_DropColumn,
										   AT_DropConstraint,     AT_DropNotNull,        AT_SetStatistics};

	for (int i = 0; i < lengthof(quiet); i++)
		if (quiet[i] == change)
			return true;
	return false;
}

static bool
is_quiet_alteration(const AlterTableStmt *statement)
{
	ListCell *lc;

	foreach (lc, statement->cmds)
		if (!is_quiet_change(lfirst_node(AlterTableCmd, lc)->subtype))
			return false;
	return true;
}

/* Expressions are evaluated and values made here with no query; NULL: not in this one, or only what was looked at. */
static const char *
statement_mistrusted(Node *statement)
{
	bool quiet = true;

	switch ((int) nodeTag(statement))
	{
		case T_CallStmt:
			return expression_mistrusted((Node *) ((CallStmt *) statement)->funcexpr, GetUserId());
		case T_ExecuteStmt:
			quiet = ((const ExecuteStmt *) statement)->params == NIL;
			break;
		case T_AlterTableStmt:
			quiet = is_quiet_alteration((const AlterTableStmt *) statement);
			break;
		case T_CopyStmt:
			quiet = !((const CopyStmt *) statement)->is_from;
			break;
		case T_CreateStmt:
			quiet = ((const CreateStmt *) statement)->partbound == NULL;
			break;
		case T_IndexStmt:
		case T_ReindexStmt:
		case T_VacuumStmt:
		case T_RefreshMatViewStmt:
		case T_AlterDomainStmt:
		case T_DefineStmt:
		case T_CreateExtensionStmt:
		case T_ImportForeignSchemaStmt:
			quiet = false;
			break;
		default:
			break;
	}
	return quiet ? NULL
				 : psprintf("a function that it calls says %s, at which nobody looks",
							GetCommandTagName(CreateCommandTag(statement)));
}

static void
statement_at_door(PlannedStmt *planned, const char *text, bool shared, ProcessUtilityContext context,
				  ParamListInfo params, QueryEnvironment *environment, DestReceiver *dest,
				  QueryCompletion *completion)
{
	const char *why = NULL;

	/* (what one statement brings along is that statement's) */
	if (door != NULL && door->guarded && context != PROCESS_UTILITY_SUBCOMMAND && !gate_has_sent(text))
		why = statement_mistrusted(planned->utilityStmt);
	if (why != NULL)
		refuse(why);
	if (previous_statement != NULL)
		previous_statement(planned, text, shared, context, params, environment, dest, completion);
	else
		standard_ProcessUtility(planned, text, shared, context, params, environment, dest, completion);
}

/* (of the system's own functions a superuser is the owner) */
static bool
is_stopped(Oid function)
{
	Oid owner;

	if (door == NULL || !door->guarded || function < FirstNormalObjectId)
		return false;
	owner = function_owner(function);
	return OidIsValid(owner) && owner != door->reader && !role_is_trusted(owner, GetUserId());
}

/* Its body becomes a query of its own, which the door sees, unless the planner puts it in its place. */
static bool
has_unseen_body(Oid function)
{
	HeapTuple tuple;
	bool unseen;

	if (door == NULL || !door->guarded || function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	unseen =
		((const FormData_pg_proc *) GETSTRUCT(tuple))->prolang == SQLlanguageId && !function_is_seen(tuple);
	ReleaseSysCache(tuple);
	return unseen;
}

/* Asked also by the planner, which puts no function in its place that is stopped, or was not looked at. */
static bool
needs_call(Oid function)
{
	return is_stopped(function) || has_unseen_body(function) ||
		   (previous_needs != NULL && previous_needs(function));
}

/* A variable of PL/pgSQL, which casts to its type without a query. */
static void
look_at_variable(Oid type)
{
	const char *why = type_mistrusted(type, GetUserId());

	if (why != NULL)
		refuse(why);
}

static void
call_at_door(FmgrHookEventType event, FmgrInfo *function, Datum *arg)
{
	if (event == FHET_START && is_stopped(function->fn_oid))
		refuse(
			psprintf("it calls function %s of another role", format_procedure_qualified(function->fn_oid)));
	if (previous_call != NULL)
		previous_call(event, function, arg);
}

void
trust_init(void)
{
	previous_planner = planner_hook;
	planner_hook = plan_at_door;
	previous_needs = needs_fmgr_hook;
	needs_fmgr_hook = needs_call;
	previous_call = fmgr_hook;
	fmgr_hook = call_at_door;
	previous_statement = ProcessUtility_hook;
	ProcessUtility_hook = statement_at_door;
}
