/*
 * successive.c: kanon_compare_releases: what two releases give away together, from
 * the tables of who is in which class that runs with a key make
 * (run/successive.c).
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "host/lines.h"
#include "run/args.h"
#include "run/successive.h"
#include "publication/publication.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

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

/* What tells classes apart, as readers see them. */
static char *
class_list(const KanonPublication *publication, Oid release)
{
	return psprintf("%s%s", qi_list(publication, ""),
					is_marked(publication, release) ? ", " KANON_MARK_COLUMN : "");
}

int64
release_rows(const KanonPublication *publication, Oid release, int64 *least)
{
	char *qis = qi_list(publication, "");
	bool isnull;
	Datum value;

	(void) gate_execute(
		psprintf(
			"SELECT pg_catalog.min(g.n) FILTER (WHERE NOT g.blank), coalesce(pg_catalog.sum(g.n), 0)::pg_catalog.int8"
			" FROM (SELECT pg_catalog.count(*) AS n, pg_catalog.num_nonnulls(%s) OPERATOR(pg_catalog.=) 0 AS blank"
			" FROM %s GROUP BY %s) AS g",
			qis, relation_name(release), class_list(publication, release)),
		false, SPI_OK_SELECT);
	value = gate_value(0, 1, INT8OID, &isnull);
	*least = isnull ? 0 : DatumGetInt64(value);
	return DatumGetInt64(gate_value(0, 2, INT8OID, &isnull));
}

/* ---- comparison ---- */

#define COMPARE_COLUMNS 4

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
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("who is in which class of release " INT64_FORMAT " is not known", number),
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
	char *one, *two, *equal;
	Lines *lines = lines_begin(fcinfo);
	Identity saved;

	publication = publication_find(extension_schema(fcinfo), name, owned_by_caller);
	persons_a = find_persons(publication, a);
	persons_b = find_persons(publication, b);
	identity_assume(publication, &saved);
	SPI_connect();
	check_keys(persons_a, "key", persons_b);
	one = relation_name(persons_a);
	two = relation_name(persons_b);
	equal = key_equality(persons_a, "key");
	(void) gate_execute(
		psprintf(
			"WITH pair AS MATERIALIZED (SELECT x.class AS one, y.class AS two,"
			" pg_catalog.count(DISTINCT x.key) AS n, pg_catalog.array_agg(x.key) AS keys"
			" FROM %s AS x JOIN %s AS y ON x.key %s y.key GROUP BY x.class, y.class)"
			" SELECT (SELECT pg_catalog.count(DISTINCT x.key) FROM %s AS x JOIN %s AS y ON x.key %s y.key),"
			" (SELECT pg_catalog.count(DISTINCT u.key) FROM pair AS p"
			" CROSS JOIN LATERAL pg_catalog.unnest(p.keys) AS u (key)"
			" WHERE p.n OPERATOR(pg_catalog.<) " INT64_FORMAT "),"
			" " INT64_FORMAT "::pg_catalog.int8, (SELECT pg_catalog.min(n) FROM pair)",
			one, two, equal, one, two, equal, publication->k, publication->k),
		false, SPI_OK_SELECT);
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
