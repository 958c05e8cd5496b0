/*
 * trust.c: whether reading a relation could run code of another role.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/attempt.h"
#include "host/gate.h"
#include "host/settings.h"

#include "access/transam.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

/* A superuser needs nobody's rights. */
static bool
is_trusted(Oid owner)
{
	return owner == GetUserId() || superuser_arg(owner);
}

static bool
may_read(Oid relid)
{
	return kanon_schema_aclcheck(get_rel_namespace(relid), GetUserId(), ACL_USAGE) == ACLCHECK_OK &&
		   (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
			pg_attribute_aclcheck_all(relid, GetUserId(), ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK);
}

/*
 * The expressions that the planner may work out, by whose functions: it folds constants in
 * the expressions of indexes, constraints and statistics, and those of partition keys and of
 * columns that are computed when they are read; and what views and policies call.  A cast to
 * a domain, or to a type with one inside, runs the checks that the domain's owner adds.
 * Rows: the owners.
 */
static const char *const functions_of =
	"WITH o(classid, objid) AS ("
	"  SELECT 'pg_class'::regclass::oid, $1"
	" UNION ALL SELECT 'pg_class'::regclass, indexrelid FROM pg_index WHERE indrelid = $1"
	" UNION ALL SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid = $1"
	" UNION ALL SELECT 'pg_rewrite'::regclass, oid FROM pg_rewrite WHERE ev_class = $1"
	" UNION ALL SELECT 'pg_policy'::regclass, oid FROM pg_policy WHERE polrelid = $1"
	" UNION ALL SELECT 'pg_attrdef'::regclass, oid FROM pg_attrdef WHERE adrelid = $1"
	" UNION ALL SELECT 'pg_statistic_ext'::regclass, oid FROM pg_statistic_ext WHERE stxrelid = $1)"
	" SELECT DISTINCT coalesce(p.proowner, q.proowner, t.typowner) FROM o JOIN pg_depend d USING (classid, objid)"
	" LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid"
	" LEFT JOIN pg_operator r ON d.refclassid = 'pg_operator'::regclass AND r.oid = d.refobjid"
	" LEFT JOIN pg_proc q ON q.oid = r.oprcode"
	" LEFT JOIN pg_type t ON d.refclassid = 'pg_type'::regclass AND t.oid = d.refobjid"
	/* (of a column's own type no value is made when it is read) */
	"  AND (d.objid <> $1 OR d.objsubid = 0)"
	"  AND coalesce((SELECT typtype FROM pg_type WHERE oid = t.typelem), t.typtype) IN ('c', 'd', 'r', 'm')"
	" WHERE coalesce(p.proowner, q.proowner, t.typowner) IS NOT NULL";

static const char *const triggers_of =
	"SELECT DISTINCT p.proowner FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid"
	" WHERE t.tgrelid = $1 AND NOT t.tgisinternal";

static const char *const views_read =
	"SELECT DISTINCT d.refobjid FROM pg_rewrite w JOIN pg_depend d"
	" ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass"
	" WHERE w.ev_class = $1 AND d.refobjid <> $1";

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

typedef struct Look
{
	long *patience;
	List *seen;
} Look;

static const char *look_at(Look *look, Oid relid);

static const char *
look_at_all(Look *look, List *relids)
{
	const char *why = NULL;
	ListCell *lc;

	foreach (lc, relids)
		if (why == NULL)
			why = look_at(look, lfirst_oid(lc));
	return why;
}

/* The table must be locked. */
static const char *
look_at_table(Look *look, Oid relid, Form_pg_class form, bool own)
{
	if (!own && form->relrowsecurity)
		return "it has row-level security";
	if (!own && form->relhasrules && form->relkind != RELKIND_MATVIEW)
		return "it has rules";
	return look_at_all(look, find_inheritance_children(relid, NoLock));
}

/*
 * Under a lock that keeps out whatever could change the answer: ROW EXCLUSIVE, as an index
 * can be made while others read.
 */
static const char *
look_at(Look *look, Oid relid)
{
	LOCKMODE mode = RecoveryInProgress() ? AccessShareLock : RowExclusiveLock;
	FormData_pg_class form;
	HeapTuple tuple;
	ListCell *lc;
	bool own;

	check_stack_depth();
	if (relid < FirstNormalObjectId || list_member_oid(look->seen, relid))
		return NULL;
	look->seen = lappend_oid(look->seen, relid);
	if (!lock_patiently(relid, mode, look->patience))
		return "another session has locked it";
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return "it is not there any more";
	memcpy(&form, GETSTRUCT(tuple), sizeof(form));
	ReleaseSysCache(tuple);
	own = is_trusted(form.relowner);
	if (isOtherTempNamespace(form.relnamespace))
		return "it is a temporary table of another session";
	if (!own && form.relkind == RELKIND_VIEW)
		return "it is a view of another role";
	if (!own && form.relkind == RELKIND_FOREIGN_TABLE)
		return "it is a foreign table of another role";
	/* of one's own, too: it may have been somebody else's before */
	foreach (lc, ask_oids(functions_of, relid))
		if (!is_trusted(lfirst_oid(lc)))
			return "it calls functions of another role, in its definition, indexes, constraints or statistics";
	switch (form.relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_MATVIEW:
			return look_at_table(look, relid, &form, own);
		case RELKIND_VIEW:
			return look_at_all(look, ask_oids(views_read, relid));
		case RELKIND_FOREIGN_TABLE:
			return NULL;
		/* whose types are is asked with the functions; nothing of a sequence runs */
		case RELKIND_COMPOSITE_TYPE:
		case RELKIND_SEQUENCE:
			return NULL;
		default:
			return "it is no table";
	}
}

const char *
relation_mistrusted(Oid relid)
{
	/* a refresh waits as every run does */
	Look look = {.patience = InSecurityRestrictedOperation() ? NULL : patience_left()};

	/* before a lock that others would have to wait for */
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		return "it is not there any more";
	if (!may_read(relid))
		return "the caller may not read it";
	return look_at(&look, relid);
}

bool
relation_of_strangers(Oid relid)
{
	/* a session that holds a lock of it does not decide the answer */
	Look look = {.patience = NULL};

	return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) && may_read(relid) &&
		   look_at(&look, relid) != NULL;
}

void
relation_trust(Oid relid)
{
	const char *why = kanon_read_strangers ? NULL : relation_mistrusted(relid);

	if (why != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("relation %s is not read: %s", relation_name(relid), why),
				 errdetail("Reading it could run code of another role with your rights."),
				 InSecurityRestrictedOperation()
					 ? errhint("The owner of the publication accepts it with kanon_alter_publication(..., "
							   "set_options => '{}'), if they trust that role.")
					 : errhint("Let its owner make the call, or, if you trust that role, "
							   "SET kanon.read_strangers = on.")));
}

void
relation_trust_written(Oid relid)
{
	ListCell *lc;

	relation_trust(relid);
	if (kanon_read_strangers)
		return;
	foreach (lc, ask_oids(triggers_of, relid))
		if (!is_trusted(lfirst_oid(lc)))
			ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
							errmsg("relation %s is not written: it has triggers of another role",
								   relation_name(relid)),
							errdetail("Writing it would run code of another role with your rights."),
							errhint("Drop the triggers. The table may have been that role's before.")));
}

/* A relation of the caller's or a superuser's that has policies or children: these are looked at, too. */
static bool
is_known(Oid relid)
{
	return is_trusted(relation_owner(relid)) &&
		   (has_subclass(relid) || check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED);
}

/*
 * A name can come to mean another relation between the answer and the query, when somebody
 * renames its schema.
 */
int
trust_begin(Oid relid)
{
	static const char *const settings[][2] = {{"restrict_nonsystem_relation_kind", "view, foreign-table"},
											  {"row_security", "off"}};
	char kind = get_rel_relkind(relid);
	int nest;

	if (kanon_read_strangers || kind == RELKIND_VIEW || kind == RELKIND_FOREIGN_TABLE || is_known(relid))
		return 0;
	nest = NewGUCNestLevel();
	for (int i = 0; i < lengthof(settings); i++)
		if (GetConfigOption(settings[i][0], true, false) != NULL)
			(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET, PGC_S_SESSION,
									 GUC_ACTION_SAVE, true, 0, false);
	return nest;
}

void
trust_end(int nest)
{
	if (nest > 0)
		AtEOXact_GUC(true, nest);
}
