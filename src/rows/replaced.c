/*
 * replaced.c: what stood on a table that is replaced, and stands on the new one afterwards.
 *
 * Grants, owner and comments are target.c's.  Another role or a provider may refuse a statement, so each is
 * tried by itself, and a NOTICE names what does not come along.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "rows/replaced.h"
#include "rows/target.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

/* From 19 on a publication of all tables may leave some out: the column is not there before. */
#define LEFT_OUT "coalesce((to_jsonb(r) ->> 'prexcept')::boolean, false)"

/*
 * Logical replication, with lists of columns and conditions, and what publications of all tables leave out.
 * $1 is the old table, $2 the new one.
 */
#define REPLICATED                                                                                                              \
	"SELECT format('publication %I', p.pubname),"                                                                               \
	"  format('ALTER PUBLICATION %I ADD TABLE %s%s%s', p.pubname, $2::regclass,"                                                \
	"    (SELECT ' (' || string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) || ')' FROM pg_attribute AS a"              \
	"     WHERE a.attrelid = $1 AND a.attnum = ANY (r.prattrs)),"                                                               \
	"    ' WHERE (' || pg_get_expr(r.prqual, $1) || ')')"                                                                       \
	" FROM pg_publication_rel AS r JOIN pg_publication AS p ON p.oid = r.prpubid WHERE r.prrelid = $1 AND NOT " LEFT_OUT        \
	"  AND NOT EXISTS (SELECT FROM pg_publication_rel AS n WHERE n.prpubid = r.prpubid AND n.prrelid = $2)"                     \
	" UNION ALL "                                                                                                               \
	"SELECT format('being left out of publication %I', p.pubname),"                                                             \
	"  format('ALTER PUBLICATION %I SET ALL TABLES EXCEPT (%s)%s', p.pubname,"                                                  \
	"    (SELECT string_agg(format('TABLE %s', o.oid), ', ' ORDER BY o.oid::text)"                                              \
	"     FROM (SELECT n.prrelid::regclass AS oid FROM pg_publication_rel AS n WHERE n.prpubid = p.oid UNION SELECT $2) AS o)," \
	"    CASE WHEN (to_jsonb(p) ->> 'puballsequences')::boolean THEN ', ALL SEQUENCES' END)"                                    \
	" FROM pg_publication_rel AS r JOIN pg_publication AS p ON p.oid = r.prpubid WHERE r.prrelid = $1 AND " LEFT_OUT            \
	" UNION ALL "                                                                                                               \
	"SELECT 'replica identity', CASE c.relreplident WHEN 'f' THEN format('ALTER TABLE %s REPLICA IDENTITY FULL', $2::regclass)" \
	"  WHEN 'n' THEN format('ALTER TABLE %s REPLICA IDENTITY NOTHING', $2::regclass) END"                                       \
	" FROM pg_class AS c WHERE c.oid = $1 AND c.relreplident <> 'd'"

/*
 * $1 is the old table, $2 the new one.  Each row: what it is, and the statement that makes it; where the
 * statement is NULL it stays behind.
 */
static const char *const beside = REPLICATED
	" UNION ALL "
	"SELECT format('%s%s', o.prefix, o.option_name),"
	"  format('ALTER TABLE %s SET (%s%I = %L)', $2::regclass, o.prefix, o.option_name, o.option_value)"
	" FROM (SELECT '' AS prefix, o.* FROM pg_class AS c, pg_options_to_table(c.reloptions) AS o WHERE c.oid = $1"
	"  UNION ALL SELECT 'toast.', o.* FROM pg_class AS c JOIN pg_class AS t ON t.oid = c.reltoastrelid,"
	"   pg_options_to_table(t.reloptions) AS o WHERE c.oid = $1) AS o"
	" UNION ALL "
	"SELECT format('statistics target of column %I', o.attname),"
	"  format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', $2::regclass, n.attname, o.attstattarget)"
	" FROM pg_attribute AS o JOIN pg_attribute AS n ON n.attrelid = $2 AND n.attname = o.attname AND n.attnum > 0"
	" WHERE o.attrelid = $1 AND o.attnum > 0 AND NOT o.attisdropped AND o.attstattarget >= 0"
	" UNION ALL "
	"SELECT format('security label of %I', l.provider),"
	"  format('SECURITY LABEL FOR %I ON TABLE %s IS %L', l.provider, $2::regclass, l.label)"
	" FROM pg_seclabel AS l WHERE l.classoid = 'pg_class'::regclass AND l.objoid = $1 AND l.objsubid = 0"
	" UNION ALL "
	"SELECT format('security label of %I on column %I', l.provider, o.attname),"
	"  format('SECURITY LABEL FOR %I ON COLUMN %s.%I IS %L', l.provider, $2::regclass, n.attname, l.label)"
	" FROM pg_seclabel AS l JOIN pg_attribute AS o ON o.attrelid = $1 AND o.attnum = l.objsubid"
	" LEFT JOIN pg_attribute AS n ON n.attrelid = $2 AND n.attname = o.attname AND n.attnum > 0"
	" WHERE l.classoid = 'pg_class'::regclass AND l.objoid = $1 AND l.objsubid > 0 AND n.attname IS NOT NULL"
	" UNION ALL "
	"SELECT format('constraint %I', c.conname), NULL FROM pg_constraint AS c WHERE c.conrelid = $1 AND c.contype = 'c'"
	" UNION ALL "
	"SELECT format('trigger %I', t.tgname), NULL FROM pg_trigger AS t WHERE t.tgrelid = $1 AND NOT t.tgisinternal"
	" UNION ALL "
	"SELECT format('rule %I', r.rulename), NULL FROM pg_rewrite AS r WHERE r.ev_class = $1"
	" UNION ALL "
	"SELECT format('tablespace %I', s.spcname), NULL FROM pg_class AS c JOIN pg_tablespace AS s ON s.oid = c.reltablespace"
	" WHERE c.oid = $1 AND c.reltablespace <> (SELECT n.reltablespace FROM pg_class AS n WHERE n.oid = $2)";

/* The old one leaves what the new one is in. */
static const char *const leave =
	"SELECT format('publication %I', p.pubname), format('ALTER PUBLICATION %I DROP TABLE %s', p.pubname, $1::regclass)"
	" FROM pg_publication_rel AS r JOIN pg_publication_rel AS n ON n.prpubid = r.prpubid JOIN pg_publication AS p ON p.oid = r.prpubid"
	" WHERE r.prrelid = $1 AND n.prrelid = $2 AND NOT " LEFT_OUT;

/* These name the table, so they run when the old one is gone and the new one has its name. */
static const char *const after =
	"SELECT format('statistics %I', s.stxname), pg_get_statisticsobjdef(s.oid) FROM pg_statistic_ext AS s"
	" WHERE s.stxrelid = $1 AND $2 IS NOT NULL";

static const char *const tablespace =
	"SELECT format(' TABLESPACE %I', s.spcname) FROM pg_class AS c JOIN pg_tablespace AS s ON s.oid = c.reltablespace"
	" WHERE c.oid = $1 AND $2 IS NOT NULL AND has_tablespace_privilege(s.oid, 'CREATE')";

struct Replaced
{
	List *what;       /* of `statements` */
	List *statements; /* that make again what is gone with the old table */
	StringInfo lost;
};

static uint64
ask(const char *query, Oid old, Oid new)
{
	Oid types[2] = {OIDOID, OIDOID};
	Datum values[2] = {ObjectIdGetDatum(old), ObjectIdGetDatum(new)};
	int nest = catalog_path_begin();
	uint64 n = gate_ask(query, 2, types, values, NULL, false, 0);

	catalog_path_end(nest);
	return n;
}

char *
replaced_tablespace(Oid old)
{
	return ask(tablespace, old, old) == 0 ? ""
										  : SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
}

static void
run_one(void *arg)
{
	run_utility(arg);
}

static void
note_lost(StringInfo lost, const char *what, const char *why)
{
	appendStringInfo(lost, "%s%s", lost->len > 0 ? ", " : "", what);
	if (why != NULL)
		appendStringInfo(lost, " (%s)", why);
}

/* The statement, or a word of what it would have made. */
static void
make_again(StringInfo lost, const char *what, char *statement)
{
	ErrorData *error = statement == NULL ? NULL : attempt(run_one, statement);

	if (statement == NULL || error != NULL)
		note_lost(lost, what, error == NULL ? NULL : unpack_sql_state(error->sqlerrcode));
}

/* Runs all statements that the query lists. */
static void
make_all_again(StringInfo lost, const char *query, Oid old, Oid new)
{
	uint64 n = ask(query, old, new);
	SPITupleTable *rows = SPI_tuptable;

	for (uint64 i = 0; i < n; i++)
		make_again(lost, SPI_getvalue(rows->vals[i], rows->tupdesc, 1),
				   SPI_getvalue(rows->vals[i], rows->tupdesc, 2));
}

static void
notice_lost(StringInfo lost, const char *name)
{
	if (lost->len > 0)
		ereport(
			NOTICE,
			(errmsg("the new table %s lacks what stood on the one that it replaces", name),
			 errdetail("Not made again: %s.", lost->data),
			 errhint("Make it again, or let its owner do so. Where readers need it each time, let a job do "
					 "so after each call.")));
}

void
replicated_take_over(Oid old, Oid new)
{
	StringInfo lost = makeStringInfo();

	make_all_again(lost, REPLICATED, old, new);
	make_all_again(lost, leave, old, new);
	notice_lost(lost, name_relation(new));
}

Replaced *
replaced_take_over(Oid old, Oid new)
{
	Replaced *replaced = palloc0(sizeof(Replaced));
	SPITupleTable *rows;
	uint64 n = ask(after, old, new);

	replaced->lost = makeStringInfo();
	rows = SPI_tuptable;
	for (uint64 i = 0; i < n; i++)
	{
		replaced->what = lappend(replaced->what, SPI_getvalue(rows->vals[i], rows->tupdesc, 1));
		replaced->statements = lappend(replaced->statements, SPI_getvalue(rows->vals[i], rows->tupdesc, 2));
	}
	make_all_again(replaced->lost, beside, old, new);
	return replaced;
}

void
replaced_end(Replaced *replaced, const char *name)
{
	ListCell *what, *statement;

	forboth (what, replaced->what, statement, replaced->statements)
		make_again(replaced->lost, lfirst(what), lfirst(statement));
	notice_lost(replaced->lost, name);
}
