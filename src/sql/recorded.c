/*
 * recorded.c: kanon_recorded: relations as a run has recorded them, as far as they are still
 * those and can be read without running code of others: what kanon_report reads.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/lines.h"
#include "rows/target.h"

#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(kanon_recorded);

/* "" when it is not there. */
static char *
text_of(JsonbContainer *object, const char *name)
{
	JsonbValue key = {.type = jbvString,
					  .val.string = {.val = unconstify(char *, name), .len = (int) strlen(name)}};
	JsonbValue *value =
		JsonContainerIsObject(object) ? findJsonbValueFromContainer(object, JB_FOBJECT, &key) : NULL;

	return value != NULL && value->type == jbvString ? pnstrdup(value->val.string.val, value->val.string.len)
													 : pstrdup("");
}

/* Why it is not to be read, or NULL. */
static const char *
look_at(JsonbContainer *recorded, Oid relid)
{
	const char *name = relation_name(relid), *why;

	if (name == NULL)
		return "it is not there any more";
	if (strcmp(name, text_of(recorded, "name")) != 0)
		return "another relation has its name, or it has another one";
	why = relation_mistrusted(relid);
	if (why != NULL)
		return why;
	/* under a lock */
	if (get_rel_relkind(relid) != *text_of(recorded, "kind"))
		return "it is of another kind than it was";
	if (strcmp(psprintf("%u", relation_owner(relid)), text_of(recorded, "owner")) != 0)
		return "it belongs to another role than it did";
	return NULL;
}

/* kanon_recorded(relations jsonb): see relations_recorded */
Datum
kanon_recorded(PG_FUNCTION_ARGS)
{
	Jsonb *relations = PG_GETARG_JSONB_P(0);
	Lines *lines = lines_begin(fcinfo);
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue value;

	if (!JB_ROOT_IS_ARRAY(relations))
		return (Datum) 0;
	it = JsonbIteratorInit(&relations->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		JsonbContainer *recorded;
		const char *why;
		Oid relid;

		if (token != WJB_ELEM || value.type != jbvBinary)
			continue;
		recorded = value.val.binary.data;
		relid = (Oid) strtoul(text_of(recorded, "oid"), NULL, 10);
		why = look_at(recorded, relid);
		line_text(lines, text_of(recorded, "part"));
		line_text(lines, text_of(recorded, "name"));
		line_value(lines, ObjectIdGetDatum(relid), why == NULL);
		line_text(lines, why);
		line_end(lines);
	}
	return (Datum) 0;
}

/*
 * ---- Kanon_close: what the extension consists of belongs to its owner alone, whatever
 * default privileges gave to others when it was made.
 */

PG_FUNCTION_INFO_V1(kanon_close);

/*
 * By the owner of each object, who runs the script, and who is the grantor of what default
 * privileges give.  Views, functions and types stay everybody's, as far as they were.
 */
static const char *const revoke_all =
	"WITH member AS ("
	"  SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON d.refobjid = e.oid"
	"  WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'kanon'),"
	" object AS ("
	"  SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || c.oid::regclass::text AS name,"
	"   c.relacl AS acl, c.relowner AS owner, c.relkind <> 'v' AS is_private"
	"  FROM pg_class c WHERE c.oid IN (SELECT objid FROM member WHERE classid = 'pg_class'::regclass)"
	"   AND c.relkind IN ('r', 'v', 'S')"
	" UNION ALL"
	"  SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || c.oid::regclass::text, c.relacl, c.relowner, true"
	"  FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')"
	"   AND d.refclassid = 'pg_class'::regclass"
	"   AND d.refobjid IN (SELECT objid FROM member WHERE classid = 'pg_class'::regclass)"
	"  WHERE c.relkind = 'S'"
	" UNION ALL"
	"  SELECT 'SCHEMA ' || n.oid::regnamespace::text, n.nspacl, n.nspowner, false"
	"  FROM pg_namespace n WHERE n.oid IN (SELECT objid FROM member WHERE classid = 'pg_namespace'::regclass)"
	" UNION ALL"
	"  SELECT 'ROUTINE ' || p.oid::regprocedure::text, p.proacl, p.proowner, false"
	"  FROM pg_proc p WHERE p.oid IN (SELECT objid FROM member WHERE classid = 'pg_proc'::regclass)"
	" UNION ALL"
	"  SELECT 'TYPE ' || t.oid::regtype::text, t.typacl, t.typowner, false"
	"  FROM pg_type t WHERE t.oid IN (SELECT objid FROM member WHERE classid = 'pg_type'::regclass)"
	"   AND t.typtype = 'd')"
	" SELECT DISTINCT format('REVOKE ALL ON %s FROM %s CASCADE', o.name,"
	"   CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)"
	" FROM object o, aclexplode(o.acl) a"
	" WHERE a.grantee <> o.owner AND (o.is_private OR a.grantee <> 0)"
	" UNION ALL"
	/* of a view everybody may read what it shows of theirs, and no more, whatever a version knows */
	" SELECT format('REVOKE %s ON %s FROM PUBLIC', string_agg(DISTINCT a.privilege_type, ', '), o.name)"
	" FROM object o, aclexplode(o.acl) a"
	" WHERE o.name LIKE 'TABLE %' AND NOT o.is_private AND a.grantee = 0 AND a.privilege_type <> 'SELECT' GROUP BY o.name"
	" UNION ALL"
	/* and in the schema of what is internal find it, and make nothing */
	" SELECT format('REVOKE CREATE ON %s FROM PUBLIC', o.name) FROM object o WHERE o.name LIKE 'SCHEMA %'";

/*
 * But policies are no secret, and whoever dumps the database reads those of the house.  The owner of the extension, who
 * is nobody special where the extension is trusted, adds them, and restores them from a dump.
 */
static const char *const grant_policies =
	"SELECT format('GRANT %s ON TABLE %s TO %s', g.privileges, c.oid::regclass, g.grantee)"
	" FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'"
	"  AND d.classid = 'pg_class'::regclass"
	" JOIN pg_class c ON c.oid = d.objid AND c.relkind = 'r' AND c.relname = 'kanon_policy',"
	" LATERAL (VALUES ('SELECT', 'PUBLIC'), ('INSERT, DELETE', quote_ident(pg_get_userbyid(e.extowner)))) AS g (privileges, grantee)"
	" WHERE e.extname = 'kanon' AND (g.grantee = 'PUBLIC' OR e.extowner <> c.relowner)";

/* kanon_close(): by the scripts of the extension, at their end; nobody else has the function */
Datum
kanon_close(PG_FUNCTION_ARGS)
{
	if (!creating_extension)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("kanon_close is for the scripts of the extension"),
						errhint("CREATE EXTENSION kanon and ALTER EXTENSION kanon UPDATE call it.")));
	SPI_connect();
	run_statements(revoke_all, InvalidOid, InvalidOid);
	run_statements(grant_policies, InvalidOid, InvalidOid);
	SPI_finish();
	PG_RETURN_VOID();
}
