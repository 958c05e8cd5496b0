/*
 * target.c: the table that is published: its name, its columns, and how it takes
 * an older one's place.
 */
#include "compat.h"
#include "rows/target.h"
#include "core/util/fault.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/look.h"
#include "host/excerpt.h"
#include "host/gate.h"
#include "host/border.h"
#include "masks/mask_apply.h"
#include "rows/cell_values.h"
#include "rows/replaced.h"

#include "access/relation.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "access/xact.h"
#include "commands/dbcommands.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#define NAME_LOCK 75 /* any number but 1 and 2 */

void
run_utility(const char *sql)
{
	(void) gate_execute(sql, false, 0);
}

static void
raise_replaced(const char *name)
{
	ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("target \"%s\" was replaced or dropped by someone else meanwhile", name),
					errhint("Run the call again.")));
}

void
target_spare(Oid replaced, const char *name, Oid read)
{
	if (OidIsValid(replaced) && relation_reads(read, replaced))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
						errmsg("target \"%s\" is read by %s", name, name_relation(read)),
						errhint("Choose another target; a call never changes the relations that it reads.")));
}

/*
 * Reasons against replacing a table: asked before any work is done, and again under
 * the lock that lets nobody change the answer.
 */
static void
check_replaceable(Oid relid, const char *name, const Source *source)
{
	Relation rel;
	Oid types[2] = {OIDOID, OIDOID};
	Datum values[2];
	ListCell *lc;
	int nest;
	bool needed;

	foreach (lc, source->beside)
		target_spare(relid, name, lfirst_oid(lc));
	rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		raise_replaced(name);
	if (rel->rd_rel->relkind != RELKIND_RELATION || rel->rd_rel->relispartition)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("target \"%s\" is not a plain table", name),
				 errhint("Only a plain table can be replaced; drop the old object or choose another name.")));
	if (!kanon_owns_relation(relid, GetUserId()))
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("must be owner of table %s", name),
						errhint("Only its owner can replace a table; choose another name.")));
	if (rel->rd_rel->relrowsecurity)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("target \"%s\" has row-level security", name),
						errdetail("The new table would be readable without the old one's policies."),
						errhint("Drop the table yourself, or publish into another one.")));
	relation_close(rel, AccessShareLock);

	values[0] = ObjectIdGetDatum(relid);
	values[1] = ObjectIdGetDatum(source->redefined);
	nest = catalog_path_begin();
	needed = gate_ask("SELECT 1 FROM pg_depend d JOIN pg_rewrite w ON d.classid = 'pg_rewrite'::regclass"
					  " AND d.objid = w.oid WHERE d.refclassid = 'pg_class'::regclass"
					  " AND d.refobjid = $1 AND w.ev_class <> ALL (ARRAY[$1, $2])",
					  2, types, values, NULL, true, 1) > 0;
	catalog_path_end(nest);
	if (needed)
		ereport(ERROR, (errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
						errmsg("target \"%s\" cannot be replaced because views depend on it", name),
						errhint("Drop the views first, or publish into another table.")));
}

/*
 * Runs that publish under one name take turns: a transaction's lock in a
 * namespace of advisory locks that SQL cannot reach (its own have 1 and 2).
 */
void
lock_name(Oid namespace, const char *name)
{
	LOCKTAG tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, namespace, hash_bytes((const unsigned char *) name, strlen(name)),
						 NAME_LOCK);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

/* As everywhere in SQL, capitals count between quotes only; who wrote some meant them. */
static void
notice_capitals(const char *name, const char *what, const char *made)
{
	bool quoted = false;

	for (const char *at = name; *at != '\0'; at++)
		if (*at == '"')
			quoted = !quoted;
		else if (!quoted && *at >= 'A' && *at <= 'Z')
		{
			ereport(NOTICE, (errmsg("the %s is called \"%s\", in small letters", what, made),
							 errhint("Put names with capitals in double quotes, within the single ones.")));
			return;
		}
}

char *
relation_to_create(const char *name, const char *what, Oid *namespace)
{
	RangeVar *rv;
	List *names;

	if (!split_name(name, 3, &names))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME), errmsg("%s \"%s\" is not a table name", what, excerpt(name)),
				 errhint("Write it as in SQL: table or schema.table, with odd names quoted.")));
	rv = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name)));

	if (rv->catalogname != NULL && strcmp(rv->catalogname, get_database_name(MyDatabaseId)) != 0)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("the %s must be in the current database", what),
						errhint("Name it as schema.table.")));
	if (rv->schemaname != NULL && strcmp(rv->schemaname, "pg_temp") != 0 &&
		!OidIsValid(get_namespace_oid(rv->schemaname, true)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA), errmsg("schema \"%s\" does not exist", rv->schemaname),
				 errhint("Create it first; kanon creates the %s only.",
						 strcmp(what, "target") == 0 ? "table" : what)));
	*namespace = RangeVarGetCreationNamespace(rv);
	if (IsCatalogNamespace(*namespace) || IsToastNamespace(*namespace))
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("schema %s is the system's own", name_schema(*namespace)),
						errhint("Choose another schema.")));
	if (kanon_schema_aclcheck(*namespace, GetUserId(), ACL_CREATE) != ACLCHECK_OK)
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("permission denied for schema %s", name_schema(*namespace)),
						errhint("Choose a schema in which you may create tables.")));
	notice_capitals(name, what, rv->relname);
	return pstrdup(rv->relname);
}

Target *
target_resolve(const char *name, const Source *source, bool replace, bool mark)
{
	Target *target = palloc0(sizeof(Target));
	Oid existing;

	target->name = relation_to_create(name, "target", &target->namespace);
	target->schema = name_schema(target->namespace);
	target->qualified = quote_qualified_identifier(target->schema, target->name);
	target->mark = mark;

	lock_name(target->namespace, target->name);
	existing = get_relname_relid(target->name, target->namespace);
	if (OidIsValid(existing))
	{
		/* first: nobody is told to drop it */
		if (relation_reads(source->relid, existing))
			ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
							errmsg("target \"%s\" is read by the source", target->name),
							errhint("Publish into another table; the source itself is never changed.")));
		if (!replace)
			ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE),
							errmsg("relation %s already exists", target->qualified),
							errhint("Choose another target, drop it, or say replace => true.")));
		check_replaceable(existing, target->name, source);
		target->replaced = existing;
	}
	if (mark)
	{
		for (int i = 0; i < source->nqis + source->nkept; i++)
		{
			const SourceColumn *column = i < source->nqis ? &source->qis[i] : &source->kept[i - source->nqis];

			if (strcmp(column->name, KANON_MARK_COLUMN) == 0)
				ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
								errmsg("column \"%s\" is in the way of mark => true", column->name),
								errhint("Publish a view in which the column has another name.")));
		}
	}
	return target;
}

/* A publication has private tables, in which kanon's own columns stand beside those of the source. */
void
refuse_own_names(ArrayType *columns, const char *argument)
{
	int n = 0;
	char **names = columns == NULL ? NULL : name_array(columns, argument, &n);

	for (int i = 0; i < n; i++)
		if (strncmp(names[i], KANON_OWN_NAMES, strlen(KANON_OWN_NAMES)) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_RESERVED_NAME),
					 errmsg("column \"%s\" has a name like kanon's own columns", names[i]),
					 errdetail("Names that begin with %s are kanon's in the private tables of a publication.",
							   KANON_OWN_NAMES),
					 errhint("Publish a view in which the column has another name.")));
}

/*
 * A suppressed cell is NULL, which a domain may refuse.  Where code of another role would have to answer that, it is not
 * asked: the column is published under the type that the domain is of.
 */
static bool
domain_accepts_null(Oid type)
{
	DomainConstraintRef *ref = palloc0(sizeof(DomainConstraintRef)); /* lives with the context */
	ExprContext *econtext;
	ListCell *lc;
	bool accepts = true;

	if (type_mistrusted(type, GetUserId()) != NULL)
		return false;
	InitDomainConstraintRef(type, ref, CurrentMemoryContext, true);
	econtext = CreateStandaloneExprContext();
	foreach (lc, ref->constraints)
	{
		DomainConstraintState *constraint = lfirst(lc);

		if (constraint->constrainttype == DOM_CONSTRAINT_NOTNULL)
			accepts = false;
		else
		{
			econtext->domainValue_datum = (Datum) 0;
			econtext->domainValue_isNull = true;
			if (!ExecCheck(constraint->check_exprstate, econtext))
				accepts = false;
		}
	}
	FreeExprContext(econtext, true);
	return accepts;
}

/* The type under which a column is published. */
static Oid
published_type(const SourceColumn *column, bool suppressible, int32 *typmod)
{
	if (suppressible && column->show_as != SHOW_AS_VALUE)
	{
		*typmod = -1;
		return shown_type(column);
	}
	if (column->mask != NULL)
	{
		*typmod = -1;
		return mask_type(column->mask, NULL);
	}
	*typmod = column->typmod;
	if (suppressible && get_typtype(column->type) == TYPTYPE_DOMAIN && !domain_accepts_null(column->type))
		return getBaseTypeAndTypmod(column->type, typmod);
	return column->type;
}

static Oid
published_collation(const SourceColumn *column, bool suppressible)
{
	Oid collation = suppressible ? shown_collation(column) : column->collation;

	if (column->mask != NULL)
		(void) mask_type(column->mask, &collation);
	return collation;
}

void
target_column(SourceColumn *column)
{
	Oid type = published_type(column, true, &column->typmod);

	column->collation = published_collation(column, true);
	if (type != column->type)
		column->shape = type_shape(type);
	column->type = type;
}

static void
append_column(StringInfo sql, const SourceColumn *column, bool suppressible)
{
	int32 typmod;
	Oid type = published_type(column, suppressible, &typmod);
	Oid collation = published_collation(column, suppressible);

	if (FAULT(type_changed))
		type = BYTEAOID, typmod = -1;
	appendStringInfoString(sql, column_definition(column->quoted, type, typmod, collation));
}

void
target_hide(Target *target, const Source *source, const char *column, const bool *types)
{
	target->hides = types;
	target->hidden = 0;
	while (target->hidden < source->nkept && strcmp(source->kept[target->hidden].name, column) != 0)
		target->hidden++;
	if (target->hidden == source->nkept || source->kept[target->hidden].mask == NULL)
		elog(ERROR, "column \"%s\" has no mask", column);
}

void
target_create(Target *target, const Source *source)
{
	StringInfoData sql;
	char *name = target->name;

	if (OidIsValid(target->replaced))
		name = psprintf("kanon_building_" UINT64_FORMAT, random_number());
	target->building = quote_qualified_identifier(target->schema, name);

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE TABLE %s (", target->building);
	for (int i = 0; i < source->nqis + source->nkept; i++)
	{
		bool qi = i < source->nqis;

		if (i > 0)
			appendStringInfoString(&sql, ", ");
		append_column(&sql, qi ? &source->qis[i] : &source->kept[i - source->nqis], qi);
	}
	if (target->mark)
		appendStringInfoString(&sql, ", " KANON_MARK_COLUMN " pg_catalog.text");
	if (target->numbered)
		appendStringInfoString(&sql, ", " KANON_TYPE_COLUMN " pg_catalog.int4, " KANON_CLASS_COLUMN
									 " pg_catalog.int4");
	if (target->kind == TABLE_DISTRIBUTED)
		appendStringInfoString(&sql, ", " KANON_SHARD_COLUMN " pg_catalog.int4");
	appendStringInfoChar(&sql, ')');
	if (OidIsValid(target->replaced))
		appendStringInfoString(&sql, replaced_tablespace(target->replaced));
	run_utility(sql.data);
	target->relid = get_relname_relid(name, target->namespace);
	if (!OidIsValid(target->relid))
		ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						errmsg("target \"%s\" vanished while it was created", target->name),
						errhint("An event trigger dropped or renamed it.")));
}

static bool
is_published(Form_pg_attribute att, const SourceColumn *column, bool suppressible)
{
	int32 typmod;
	Oid type = published_type(column, suppressible, &typmod);

	return !att->attisdropped && strcmp(NameStr(att->attname), column->name) == 0 && att->atttypid == type &&
		   att->atttypmod == typmod && att->attcollation == published_collation(column, suppressible);
}

Relation
target_open(const Target *target)
{
	int nest = target->numbered ? uncounted_begin() : counted_begin();
	Relation rel = try_table_open(target->relid, RowExclusiveLock);

	counting_end(nest);

	if (rel == NULL || relation_name(target->relid) == NULL ||
		strcmp(relation_name(target->relid), target->building) != 0)
		raise_replaced(target->name);
	return rel;
}

/*
 * An event trigger can do anything to a new table.  Rows are written past
 * constraints, indexes and triggers, so there must be none.
 */
bool
target_is_plain(Relation rel, const Target *target, const Source *source)
{
	TupleDesc desc = RelationGetDescr(rel);
	Form_pg_class form = rel->rd_rel;
	SourceColumn mark = {
		.name = KANON_MARK_COLUMN, .type = TEXTOID, .typmod = -1, .collation = DEFAULT_COLLATION_OID};
	SourceColumn numbers[] = {{.name = KANON_TYPE_COLUMN, .type = INT4OID, .typmod = -1},
							  {.name = KANON_CLASS_COLUMN, .type = INT4OID, .typmod = -1}};
	SourceColumn shard = {.name = KANON_SHARD_COLUMN, .type = INT4OID, .typmod = -1};
	int n = source->nqis + source->nkept - (target->taker != NULL);
	int nmarks = target->mark ? 1 : 0;
	int nnumbers = target->numbered ? lengthof(numbers) : 0;

	if (form->relkind != RELKIND_RELATION || form->relhasindex || form->relhastriggers || form->relhasrules ||
		form->relchecks > 0 || form->relrowsecurity || form->relispartition || form->relhassubclass ||
		desc->constr != NULL ||
		desc->natts != n + nmarks + nnumbers + (target->kind == TABLE_DISTRIBUTED ? 1 : 0))
		return false;
	for (int i = 0; i < desc->natts; i++)
	{
		const SourceColumn *column = &mark;

		if (i < n)
			column = i < source->nqis ? &source->qis[i] : &source->kept[i - source->nqis];
		else if (i >= n + nmarks + nnumbers)
			column = &shard;
		else if (i >= n + nmarks)
			column = &numbers[i - n - nmarks];
		if (!is_published(TupleDescAttr(desc, i), column, i < source->nqis))
			return false;
	}
	return true;
}

/*
 * Runs every statement that a query of the catalogs writes, with all names
 * qualified: the statements run under the caller's own search_path, on which
 * event triggers may rely.
 */
void
run_statements(const char *query, Oid old, Oid new)
{
	Oid types[2] = {OIDOID, OIDOID};
	Datum values[2];
	SPITupleTable *statements;
	uint64 n;
	int nest = catalog_path_begin();

	values[0] = ObjectIdGetDatum(old);
	values[1] = ObjectIdGetDatum(new);
	n = gate_ask(query, 2, types, values, NULL, false, 0);
	catalog_path_end(nest);
	statements = SPI_tuptable;
	for (uint64 i = 0; i < n; i++)
		run_utility(SPI_getvalue(statements->vals[i], statements->tupdesc, 1));
	SPI_freetuptable(statements);
}

/*
 * $1 is the old table, $2 the new one: exactly the old grants, on what is still there.  An option to grant
 * may have been used by now, so what it gave goes, too.
 */
static const char *const revoke_defaults =
	"SELECT DISTINCT format('REVOKE ALL ON TABLE %s FROM %s CASCADE', c.oid::regclass,"
	"  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)"
	" FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = $2 AND a.grantee <> c.relowner AND $1 IS NOT NULL";
/* Others read: but only the owner's own word, not that of default privileges, lets them pass that on. */
static const char *const revoke_writing =
	"SELECT format('REVOKE %s ON TABLE %s FROM %s CASCADE', string_agg(DISTINCT a.privilege_type, ', '), c.oid::regclass,"
	"  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)"
	" FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = $2 AND a.grantee <> c.relowner AND $1 IS NOT NULL"
	" AND a.privilege_type <> 'SELECT' GROUP BY c.oid, a.grantee"
	" UNION ALL "
	"SELECT DISTINCT format('REVOKE GRANT OPTION FOR SELECT ON TABLE %s FROM %I CASCADE', c.oid::regclass,"
	"  pg_get_userbyid(a.grantee))"
	" FROM pg_class c, aclexplode(c.relacl) a, pg_default_acl d, aclexplode(d.defaclacl) g"
	" WHERE c.oid = $2 AND a.grantee <> c.relowner AND a.privilege_type = 'SELECT' AND a.is_grantable"
	"  AND d.defaclobjtype = 'r' AND d.defaclnamespace IN (0, c.relnamespace)"
	"  AND g.grantee = a.grantee AND g.privilege_type = 'SELECT' AND g.is_grantable";
static const char *const copy_grants =
	"SELECT format('GRANT %s ON TABLE %s TO %s%s', a.privilege_type, n.oid::regclass,"
	"  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,"
	"  CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)"
	" FROM pg_class c, aclexplode(c.relacl) a, pg_class n"
	" WHERE c.oid = $1 AND n.oid = $2 AND a.grantee <> c.relowner"
	" UNION ALL "
	"SELECT format('GRANT %s (%I) ON TABLE %s TO %s%s', a.privilege_type, o.attname, t.attrelid::regclass,"
	"  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,"
	"  CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)"
	" FROM pg_attribute o, aclexplode(o.attacl) a, pg_attribute t"
	" WHERE o.attrelid = $1 AND t.attrelid = $2 AND t.attname = o.attname"
	"  AND o.attnum > 0 AND NOT o.attisdropped AND t.attnum > 0 AND NOT t.attisdropped";
static const char *const keep_owner =
	"SELECT format('ALTER TABLE %s OWNER TO %I', n.oid::regclass, pg_get_userbyid(c.relowner))"
	" FROM pg_class c, pg_class n WHERE c.oid = $1 AND n.oid = $2 AND c.relowner <> n.relowner";

/* Most relations have none, and a publication may have a thousand. */
static bool
has_grants(Oid relid)
{
	HeapTuple tuple = OidIsValid(relid) ? SearchSysCache1(RELOID, ObjectIdGetDatum(relid)) : NULL;
	bool isnull = true;

	if (HeapTupleIsValid(tuple))
	{
		(void) SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relacl, &isnull);
		ReleaseSysCache(tuple);
	}
	return !isnull;
}

void
keep_private(Oid relid)
{
	if (has_grants(relid))
		run_statements(revoke_defaults, relid, relid);
}

void
keep_uncounted(Oid relid)
{
	keep_private(relid);
	run_utility(psprintf("ALTER TABLE %s SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)",
						 name_relation(relid)));
}

void
forget_counts(Oid relid)
{
	pgstat_reset(PGSTAT_KIND_RELATION, MyDatabaseId, relid);
}

void
keep_readable(Oid relid)
{
	run_statements(revoke_writing, relid, relid);
}

void
target_share(Oid view, Oid relid)
{
	run_statements(copy_grants, view, relid);
}

static void
copy_everywhere(void *arg)
{
	const Target *target = arg;

	citus_copy_everywhere(target->building);
}

/* Citus refuses to copy a table everywhere when the same transaction has read another such table in parallel. */
void
target_distribute(Target *target)
{
	ErrorData *error;

	if (target->kind == TABLE_LOCAL || citus_kind(target->relid) != TABLE_LOCAL)
		return;
	CommandCounterIncrement();
	if (target->kind == TABLE_DISTRIBUTED)
	{
		citus_distribute(target->building, KANON_SHARD_COLUMN, NULL);
		return;
	}
	error = attempt(copy_everywhere, target);
	raise_unless_refused(error);
	if (error == NULL)
		return;
	target->kind = TABLE_LOCAL;
	ereport(NOTICE, (errmsg("target %s stays on this server", target->qualified),
					 errdetail("Copying it to all servers ended with SQLSTATE %s.",
							   unpack_sql_state(error->sqlerrcode)),
					 errhint("SELECT create_reference_table does it after the transaction.")));
}

void
target_install(Target *target, const Source *source)
{
	Replaced *replaced;

	if (!OidIsValid(target->replaced))
		return;
	if (FAULT(target_replaced))
		run_utility(psprintf("ALTER TABLE %s RENAME TO another", target->qualified));
	/* before the grants are read: a REVOKE that commits while we wait counts */
	lock_without_queue(target->replaced, "table", NULL, NULL);
	if (get_relname_relid(target->name, target->namespace) != target->replaced)
		raise_replaced(target->name);
	check_replaceable(target->replaced, target->name, source);
	if (target->kind != TABLE_LOCAL && citus_kind(target->replaced) == TABLE_LOCAL)
		ereport(NOTICE, (errmsg("target %s was a table of this server, and the workers have it now",
								target->qualified),
						 errhint("SET kanon.distribute = 'off' keeps it here.")));
	run_statements(revoke_defaults, target->replaced, target->relid);
	run_statements(copy_grants, target->replaced, target->relid);
	run_statements(keep_owner, target->replaced, target->relid);
	comments_take_over(target->replaced, target->relid);
	replaced = replaced_take_over(target->replaced, target->relid);
	run_utility(psprintf("DROP TABLE %s", target->qualified));
	run_utility(psprintf("ALTER TABLE %s RENAME TO %s", target->building, quote_identifier(target->name)));
	replaced_end(replaced, target->qualified);
}
