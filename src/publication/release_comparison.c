/*
 * release_comparison.c: what two releases give away together: kanon_compare_releases, from the
 * tables of who is in which class that runs with a key make (series/successive.c), and what
 * each refresh adds.
 */
#include "compat.h"
#include "host/catalog.h"
#include "distributed/citus.h"
#include "host/gate.h"
#include "host/lines.h"
#include "host/settings.h"
#include "options/request.h"
#include "series/differences.h"
#include "series/row_hashes.h"
#include "series/successive.h"
#include "publication/publication.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(kanon_compare_releases);

/* "a, b, c" of the quasi-identifiers, quoted. */
static char *
qi_list(const KanonPublication *publication, const char *each)
{
	int n;
	char **names = name_array(publication->qis, "quasi_identifiers", &n);
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < n; i++)
		appendStringInfo(&list, "%s%s%s", i > 0 ? ", " : "", quote_identifier(names[i]), each);
	return list.data;
}

static JsonbValue *
option(const KanonPublication *publication, const char *name)
{
	JsonbValue key = {.type = jbvString,
					  .val.string = {.val = unconstify(char *, name), .len = strlen(name)}};

	return findJsonbValueFromContainer(&publication->options->root, JB_FOBJECT, &key);
}

/* It has a mark that tells a suppressed cell from a NULL, and so classes apart. */
static bool
is_marked(const KanonPublication *publication, Oid release)
{
	JsonbValue *value = option(publication, "mark");

	return value != NULL && value->type != jbvNull && !(value->type == jbvBool && !value->val.boolean) &&
		   get_attnum(release, KANON_MARK_COLUMN) > 0;
}

/* The columns that tell classes apart, as readers see them. */
static char *
class_list(const KanonPublication *publication, Oid release)
{
	return psprintf("%s%s", qi_list(publication, ""),
					is_marked(publication, release) ? ", " KANON_MARK_COLUMN : "");
}

static bool
has_names(const KanonPublication *publication, Oid release)
{
	int n;
	char **qis = name_array(publication->qis, "quasi_identifiers", &n);

	for (int i = 0; i < n; i++)
		if (get_attnum(release, qis[i]) <= 0)
			return false;
	return true;
}

/* The same as the query below, without one. */
static int64
count_classes(const KanonPublication *publication, Oid release, int64 *least)
{
	int n;
	char **names = name_array(publication->qis, "quasi_identifiers", &n);
	List *classes = NIL;
	int64 rows;

	for (int i = 0; i < n; i++)
		classes = lappend(classes, names[i]);
	if (is_marked(publication, release))
		classes = lappend(classes, KANON_MARK_COLUMN);
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	gate_see_written();
	rows = row_hashes_least(release, classes, n, least);
	PopActiveSnapshot();
	return rows;
}

int64
release_rows(const KanonPublication *publication, Oid release, int64 *least)
{
	char *qis = qi_list(publication, "");
	bool isnull;
	Datum value;

	if (get_rel_relkind(release) == RELKIND_RELATION && citus_kind(release) == TABLE_LOCAL &&
		has_names(publication, release))
		return count_classes(publication, release, least);
	(void) gate_execute_plain(
		psprintf(
			"SELECT pg_catalog.min(g.n) FILTER (WHERE NOT g.blank), coalesce(pg_catalog.sum(g.n), 0)::pg_catalog.int8"
			" FROM (SELECT pg_catalog.count(*) AS n, pg_catalog.num_nonnulls(%s) OPERATOR(pg_catalog.=) 0 AS blank"
			" FROM %s GROUP BY %s) AS g",
			qis, name_relation(release), class_list(publication, release)),
		false, SPI_OK_SELECT);
	value = gate_value(0, 1, INT8OID, &isnull);
	*least = isnull ? 0 : DatumGetInt64(value);
	return DatumGetInt64(gate_value(0, 2, INT8OID, &isnull));
}

/* ---- comparison ---- */

/*
 * How persons came by what two releases show of them, as labels: who has the same is told apart from nobody.
 * Persons are numbered.  A class becomes the one that looks the same, or else that most of its persons are in; who is elsewhere
 * has moved.
 */
static char *
differences(Oid persons_a, Oid persons_b)
{
	const char *one = name_relation(persons_a), *two = name_relation(persons_b);
	const char *equal = key_equality(persons_a, "key");
	/* (those of an older version of kanon have neither) */
	bool whole = get_attnum(persons_a, "kept") > 0 && get_attnum(persons_b, "kept") > 0;
	/* (a line is a row, of which a person may have several in a class) */
	const char *seen =
		whole
			? "pg_catalog.min(t.look) AS look, pg_catalog.array_agg(t.kept ORDER BY t.kept) FILTER (WHERE t.kept IS NOT NULL) AS kept"
			: "NULL::pg_catalog.text AS look, NULL::pg_catalog.text AS kept";

	return psprintf(
		"WITH who AS MATERIALIZED (SELECT u.key, pg_catalog.row_number() OVER () AS person"
		" FROM (SELECT key FROM %s UNION SELECT key FROM %s) AS u),"
		" x AS MATERIALIZED (SELECT who.person, t.class, %s FROM %s AS t JOIN who ON who.key %s t.key GROUP BY who.person, t.class),"
		" y AS MATERIALIZED (SELECT who.person, t.class, %s FROM %s AS t JOIN who ON who.key %s t.key GROUP BY who.person, t.class),"
		" pair AS MATERIALIZED (SELECT x.person, x.class AS one, y.class AS two, x.kept IS DISTINCT FROM y.kept AS changed,"
		" x.look OPERATOR(pg_catalog.=) y.look AS alike"
		" FROM x JOIN y ON y.person OPERATOR(pg_catalog.=) x.person),"
		" size AS MATERIALIZED (SELECT one, two, pg_catalog.bool_or(alike) AS alike,"
		" pg_catalog.count(DISTINCT person) AS n FROM pair GROUP BY one, two),"
		" main AS MATERIALIZED (SELECT DISTINCT ON (one) one, two FROM size"
		" ORDER BY one, alike DESC NULLS LAST, n DESC, two),"
		" stay AS MATERIALIZED (SELECT p.person, p.one, p.two, p.changed FROM pair AS p JOIN main AS m"
		" ON m.one OPERATOR(pg_catalog.=) p.one AND m.two OPERATOR(pg_catalog.=) p.two),"
		" lost AS (SELECT x.person, pg_catalog.array_agg(x.class ORDER BY x.class) AS classes FROM x"
		" WHERE NOT EXISTS (SELECT 1 FROM stay WHERE stay.person OPERATOR(pg_catalog.=) x.person"
		" AND stay.one OPERATOR(pg_catalog.=) x.class) GROUP BY x.person),"
		" won AS (SELECT y.person, pg_catalog.array_agg(y.class ORDER BY y.class) AS classes FROM y"
		" WHERE NOT EXISTS (SELECT 1 FROM stay WHERE stay.person OPERATOR(pg_catalog.=) y.person"
		" AND stay.two OPERATOR(pg_catalog.=) y.class) GROUP BY y.person),"
		" one_way AS (SELECT x.person, x.class, 2 AS kind FROM x"
		" WHERE NOT EXISTS (SELECT 1 FROM y WHERE y.person OPERATOR(pg_catalog.=) x.person)"
		" UNION ALL SELECT y.person, y.class, 1 FROM y"
		" WHERE NOT EXISTS (SELECT 1 FROM x WHERE x.person OPERATOR(pg_catalog.=) y.person)),"
		" label AS (SELECT o.kind, o.person, ARRAY[o.class] AS lost, NULL::pg_catalog._int8 AS won FROM one_way AS o"
		" UNION ALL SELECT 3, coalesce(l.person, w.person), l.classes, w.classes FROM lost AS l FULL JOIN won AS w"
		" ON w.person OPERATOR(pg_catalog.=) l.person WHERE EXISTS (SELECT 1 FROM pair"
		" WHERE pair.person OPERATOR(pg_catalog.=) coalesce(l.person, w.person))"
		" UNION ALL SELECT 4, s.person, ARRAY[s.one], ARRAY[s.two] FROM stay AS s WHERE s.changed),"
		" difference AS MATERIALIZED (SELECT l.kind, l.person,"
		" pg_catalog.count(*) OVER (PARTITION BY l.kind, l.lost, l.won) AS n FROM label AS l)",
		one, two, seen, one, equal, seen, two, equal);
}

/* Kinds of differences, in the order in which they are told. */
enum
{
	JOINED = 1,
	LEFT,
	MOVED,
	CHANGED
};

#define COMPARE_COLUMNS 13

/* A line of the history that is looked for. */
typedef struct Wanted
{
	int64 number;
	bool found;
	Oid persons;
} Wanted;

static void
look_for(const Release *release, void *arg)
{
	Wanted *wanted = arg;

	if (release->number != wanted->number)
		return;
	wanted->found = true;
	wanted->persons = release->persons;
}

/* The table of persons of a release. */
static Oid
find_persons(const KanonPublication *publication, int64 number)
{
	Wanted wanted = {.number = number};

	releases_visit(publication, look_for, &wanted);
	if (OidIsValid(wanted.persons))
		return wanted.persons;
	if (wanted.found)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the persons in the classes of release " INT64_FORMAT " are not known", number),
				 errdetail("It failed, was dropped since, or was made without a key."),
				 errhint("Name the column with the key when the publication is created, and keep more "
						 "releases.")));
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
					errmsg("publication %s has no release " INT64_FORMAT, publication->name, number),
					errhint("See kanon_releases.")));
}

static int64
number_arg(FunctionCallInfo fcinfo, int arg, const char *name)
{
	refuse_null(fcinfo, arg, name, "It is the number of a release: see kanon_releases.");
	return PG_GETARG_INT64(arg);
}

/* kanon_compare_releases(publication text, a bigint, b bigint) */
Datum
kanon_compare_releases(PG_FUNCTION_ARGS)
{
	char *name = text_arg(fcinfo, 0, "publication", "See kanon_publications.");
	int64 a = number_arg(fcinfo, 1, "a");
	int64 b = number_arg(fcinfo, 2, "b");
	KanonPublication *publication;
	Oid persons_a, persons_b;
	StringInfoData sql;
	Lines *lines = lines_begin(fcinfo);
	Identity saved;

	publication = publication_find(extension_schema(fcinfo), name, owned_by_caller);
	persons_a = find_persons(publication, a);
	persons_b = find_persons(publication, b);
	identity_assume(publication, &saved);
	(void) uncounted_begin(); /* until identity_return */
	(void) blind_plans_begin();
	SPI_connect();
	relation_trust(persons_a);
	relation_trust(persons_b);
	check_keys(persons_a, "key", persons_b);
	initStringInfo(&sql);
	appendStringInfo(
		&sql,
		"%s, together AS (SELECT p.person, s.n FROM pair AS p JOIN size AS s"
		" ON s.one OPERATOR(pg_catalog.=) p.one AND s.two OPERATOR(pg_catalog.=) p.two"
		" WHERE p.one OPERATOR(pg_catalog.>) 0 AND p.two OPERATOR(pg_catalog.>) 0)"
		" SELECT b.*, d.* FROM (SELECT pg_catalog.count(DISTINCT person),"
		" pg_catalog.count(DISTINCT person) FILTER (WHERE n OPERATOR(pg_catalog.<) " INT64_FORMAT "),"
		" " INT64_FORMAT "::pg_catalog.int8, pg_catalog.min(n) FROM together) AS b CROSS JOIN (SELECT ",
		differences(persons_a, persons_b), publication->k, publication->k);
	for (int kind = JOINED; kind <= CHANGED; kind++)
		appendStringInfo(&sql,
						 "pg_catalog.count(DISTINCT person) FILTER (WHERE kind OPERATOR(pg_catalog.=) %d),"
						 " pg_catalog.count(DISTINCT person) FILTER (WHERE kind OPERATOR(pg_catalog.=) %d"
						 " AND n OPERATOR(pg_catalog.<) " INT64_FORMAT "), ",
						 kind, kind, publication->k);
	appendStringInfoString(&sql, "pg_catalog.min(n) FROM difference) AS d");
	(void) gate_execute_plain(sql.data, false, SPI_OK_SELECT);
	for (int i = 0; i < COMPARE_COLUMNS; i++)
	{
		bool isnull;
		Datum value = gate_value(0, i + 1, INT8OID, &isnull);

		line_value(lines, value, !isnull);
	}
	line_end(lines);
	SPI_finish();
	identity_return(&saved);
	return (Datum) 0;
}

/* ---- what a refresh adds to what readers know ---- */

/* The columns that tell classes apart, and those beside them that both releases have. */
static void
list_columns(const KanonPublication *publication, Oid release, Oid other, List **classes, List **beside)
{
	Relation rel = table_open(release, AccessShareLock);
	TupleDesc desc = RelationGetDescr(rel);
	int n;
	char **qis = name_array(publication->qis, "quasi_identifiers", &n);

	for (int i = 0; i < desc->natts; i++)
	{
		char *name = pstrdup(NameStr(TupleDescAttr(desc, i)->attname));
		bool told = strcmp(name, KANON_MARK_COLUMN) == 0 && is_marked(publication, release);

		if (TupleDescAttr(desc, i)->attisdropped || get_attnum(other, name) <= 0)
			continue;
		for (int c = 0; c < n && !told; c++)
			told = strcmp(name, qis[c]) == 0;
		if (told)
			*classes = lappend(*classes, name);
		else if (strcmp(name, KANON_MARK_COLUMN) != 0)
			*beside = lappend(*beside, name);
	}
	table_close(rel, NoLock);
}

int64
release_difference(const KanonPublication *publication, const Release *before, const Release *release,
				   bool count)
{
	bool keyed = OidIsValid(before->persons) && OidIsValid(release->persons);
	List *classes = NIL, *beside = NIL;

	if (keyed)
		check_keys(before->persons, "key", release->persons);
	else if (!OidIsValid(before->relation) || citus_kind(before->relation) != TABLE_LOCAL ||
			 citus_kind(release->relation) != TABLE_LOCAL || !has_names(publication, before->relation))
		return 0;
	if (!count)
		return 0;
	progress_say("comparing with the release before", 0, -1);
	if (keyed)
		return differences_of_persons(before->persons, release->persons);
	list_columns(publication, before->relation, release->relation, &classes, &beside);
	return differences_of_rows(before->relation, release->relation, classes, beside);
}
