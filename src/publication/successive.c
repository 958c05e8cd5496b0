/*
 * successive.c: what successive releases give away together.
 *
 * Who knows in which class a person is in one release and in which in another
 * has only the persons that are in both to choose from.  For this, a publication
 * can name the column that says who a row is about: it is read with a release, and
 * the classes of each person are put into a private table when it is taken out
 * again.  Rows that show nothing are in no class here, as everywhere.
 */
#include "compat.h"
#include "host/gate.h"
#include "run/args.h"
#include "publication/publication.h"
#include "write/bulk.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(kanon_compare_releases);

static Oid
relation_of(const char *name)
{
	return RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name))), NoLock,
							false);
}

static uint64
run(const char *sql, int expected)
{
	if (SPI_execute(sql, false, 0) != expected)
		elog(ERROR, "could not work out the classes of persons");
	return SPI_processed;
}

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

	(void) run(
		psprintf(
			"SELECT pg_catalog.min(g.n) FILTER (WHERE NOT g.blank), coalesce(pg_catalog.sum(g.n), 0)::pg_catalog.int8"
			" FROM (SELECT pg_catalog.count(*) AS n, pg_catalog.num_nonnulls(%s) OPERATOR(pg_catalog.=) 0 AS blank"
			" FROM %s GROUP BY %s) AS g",
			qis, relation_name(release), class_list(publication, release)),
		SPI_OK_SELECT);
	value = gate_value(0, 1, INT8OID, &isnull);
	*least = isnull ? 0 : DatumGetInt64(value);
	return DatumGetInt64(gate_value(0, 2, INT8OID, &isnull));
}

/* The equality that makes two keys one person, as an operator in SQL. */
static char *
key_equality(Oid relid, const char *key)
{
	Oid type = get_atttype(relid, get_attnum(relid, key));
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR);

	if (!OidIsValid(entry->eq_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column \"%s\" of type %s cannot be a key", key, format_type_be(type)),
				 errhint("A key's values must be comparable: cast it in a view, or take another column.")));
	return psprintf("OPERATOR(%s.%s)",
					quote_identifier(get_namespace_name(get_func_namespace(get_opcode(entry->eq_opr)))),
					get_opname(entry->eq_opr));
}

/*
 * Keys of different types are of different persons, if there is an equality between
 * them at all: asked of the columns, which their owner may have changed.
 */
static void
check_keys(Oid relid, const char *key, Oid persons)
{
	AttrNumber before = get_attnum(persons, "key");

	if (before <= 0 || get_atttype(relid, get_attnum(relid, key)) != get_atttype(persons, before))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("releases have their persons by keys of different types"),
						errhint("They cannot be compared: create the publication anew.")));
}

/*
 * Rows of a release that still has its key, with the number of their class and
 * their place: class, key, id.  Grouping by arrays asks no more of the types
 * than the release itself does.
 */
static char *
members(const KanonPublication *publication, const char *release)
{
	char *qis = qi_list(publication, "");

	return psprintf(
		"SELECT g.class, u.key, u.id FROM"
		" (SELECT pg_catalog.row_number() OVER () AS class, pg_catalog.array_agg(%s) AS keys,"
		" pg_catalog.array_agg(ctid) AS ids FROM %s"
		" WHERE pg_catalog.num_nonnulls(%s) OPERATOR(pg_catalog.>) 0 GROUP BY %s) AS g"
		" CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(g.keys), pg_catalog.unnest(g.ids)) AS u (key, id)",
		quote_identifier(publication->key), release, qis, class_list(publication, relation_of(release)));
}

static void
refuse_null_keys(const KanonPublication *publication, const char *release)
{
	if (run(psprintf("SELECT 1 FROM %s WHERE %s IS NULL LIMIT 1", release,
					 quote_identifier(publication->key)),
			SPI_OK_SELECT) > 0)
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("the key column \"%s\" has NULLs", publication->key),
						errhint("Every row must say who it is about: leave others out in a view.")));
}

/* ---- protection ---- */

/* How a row is taken from the class it is in. */
typedef struct Remedy
{
	const char *statement; /* up to its WHERE */
	int expected;
} Remedy;

static bool
has_privacy(const KanonPublication *publication)
{
	JsonbValue *value = option(publication, "privacy");

	return value != NULL && value->type != jbvNull;
}

static bool
residual_is(const KanonPublication *publication, const char *word)
{
	JsonbValue *value = option(publication, "residual");

	return value != NULL && value->type == jbvString && value->val.string.len == strlen(word) &&
		   memcmp(value->val.string.val, word, value->val.string.len) == 0;
}

/*
 * As `residual` says: suppressed whole, or left out; NULL: neither is allowed.
 * Nor where classes keep other rules, which those who are left could break.
 */
static Remedy *
find_remedy(const KanonPublication *publication, const char *release)
{
	Remedy *remedy = palloc(sizeof(Remedy));
	int n = ArrayGetNItems(ARR_NDIM(publication->qis), ARR_DIMS(publication->qis));
	char *mark = palloc(n + 1);

	if (residual_is(publication, "error") || has_privacy(publication))
		return NULL;
	if (residual_is(publication, "drop"))
	{
		remedy->statement = psprintf("DELETE FROM %s", release);
		remedy->expected = SPI_OK_DELETE;
		return remedy;
	}
	memset(mark, '*', n);
	mark[n] = '\0';
	remedy->statement = psprintf(
		"UPDATE %s SET %s%s", release, qi_list(publication, " = NULL"),
		is_marked(publication, relation_of(release)) ? psprintf(", " KANON_MARK_COLUMN " = '%s'", mark) : "");
	remedy->expected = SPI_OK_UPDATE;
	return remedy;
}

/* Members of the release who are too few with somebody in a class of an older one. */
static char *
exposed(const KanonPublication *publication, const char *release, const char *persons)
{
	char *equal = key_equality(relation_of(release), publication->key);

	return psprintf(
		"WITH member AS MATERIALIZED (%s), pair AS ("
		"SELECT m.class, o.class AS old FROM member AS m JOIN %s AS o ON m.key %s o.key"
		" GROUP BY m.class, o.class"
		" HAVING pg_catalog.count(DISTINCT m.key) OPERATOR(pg_catalog.<) " INT64_FORMAT ")"
		" SELECT m.id FROM member AS m JOIN %s AS o ON m.key %s o.key"
		" JOIN pair AS p ON p.class OPERATOR(pg_catalog.=) m.class AND p.old OPERATOR(pg_catalog.=) o.class",
		members(publication, release), persons, equal, publication->k, persons, equal);
}

/* Members of classes that are too small, because others were taken out. */
static char *
stranded(const KanonPublication *publication, const char *release)
{
	char *qis = qi_list(publication, "");

	return psprintf("SELECT pg_catalog.unnest(pg_catalog.array_agg(ctid)) FROM %s"
					" WHERE pg_catalog.num_nonnulls(%s) OPERATOR(pg_catalog.>) 0 GROUP BY %s"
					" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.<) " INT64_FORMAT,
					release, qis, class_list(publication, relation_of(release)), publication->k);
}

static int64
take_out(const KanonPublication *publication, const Remedy *remedy, const char *whom)
{
	if (remedy != NULL)
		return (int64) run(
			psprintf("%s WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY(%s))", remedy->statement, whom),
			remedy->expected);
	if (run(psprintf("SELECT 1 FROM (%s) AS m LIMIT 1", whom), SPI_OK_SELECT) > 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("the release would break k together with one before it"),
			 errhint("Without privacy rules, and when residual is 'suppress' or 'drop', the rows in question "
					 "are suppressed or left out; or keep fewer releases.")));
	return 0;
}

int64
persons_protect(const KanonPublication *publication, const char *release, List *releases)
{
	Remedy *remedy = find_remedy(publication, release);
	int64 total = 0, changed;

	refuse_null_keys(publication, release);
	/* each round takes rows out of their classes, so it comes to an end */
	do
	{
		ListCell *lc;

		changed = 0;
		foreach (lc, releases)
		{
			Release *before = lfirst(lc);

			if (!OidIsValid(before->persons))
				continue;
			check_keys(relation_of(release), publication->key, before->persons);
			changed +=
				take_out(publication, remedy, exposed(publication, release, relation_name(before->persons)));
		}
		if (changed > 0)
			changed += take_out(publication, remedy, stranded(publication, release));
		total += changed;
	} while (changed > 0);
	return total;
}

/* ---- the key leaves the release ---- */

static bool
copy_row(void *arg, TupleTableSlot *slot)
{
	BulkWriter *bulk = arg;
	TupleTableSlot *row = bulk_slot(bulk);
	int n = slot->tts_tupleDescriptor->natts;

	memcpy(row->tts_values, slot->tts_values, sizeof(Datum) * n);
	memcpy(row->tts_isnull, slot->tts_isnull, sizeof(bool) * n);
	bulk_put(bulk);
	return true;
}

/* Fills a table that was just made with the rows of a query, which has its columns. */
static void
copy_rows(const char *select, Oid target)
{
	Relation rel = table_open(target, RowExclusiveLock);
	BulkWriter *bulk = bulk_begin(rel);
	Gate *gate = gate_create("the release", InvalidOid, RelationGetNumberOfAttributes(rel));

	gate_table(gate, RelationGetDescr(rel));
	gate_select(gate, select, false, copy_row, bulk);
	(void) bulk_end(bulk);
	table_close(rel, NoLock);
}

/* All columns of a release but the key. */
static char *
published_columns(const KanonPublication *publication, Oid release)
{
	Relation rel = table_open(release, AccessShareLock);
	TupleDesc desc = RelationGetDescr(rel);
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < desc->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(desc, i)->attname);

		if (strcmp(name, publication->key) != 0)
			appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", quote_identifier(name));
	}
	table_close(rel, NoLock);
	return list.data;
}

Oid
persons_split(const KanonPublication *publication, const char *release, const char *persons)
{
	char *staged;
	Oid namespace = get_rel_namespace(publication->definition);
	char *bare;
	char *columns = published_columns(publication, relation_of(release));
	char *bare_release = strVal(llast(textToQualifiedNameList(cstring_to_text(release))));

	refuse_null_keys(publication, release);
	run_utility(psprintf("CREATE TABLE %s AS SELECT DISTINCT m.key, m.class FROM (%s) AS m", persons,
						 members(publication, release)));
	keep_private(relation_of(persons));
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'who is in which class of a kanon release; never to be published'", persons));
	/* in a new order: rows that were suppressed later stand at the end of the table with the key */
	staged = private_name(bare_release, "keyed", namespace, &bare);
	run_utility(psprintf("ALTER TABLE %s RENAME TO %s", release, quote_identifier(bare)));
	run_utility(psprintf("CREATE TABLE %s AS SELECT %s FROM %s WITH NO DATA", release, columns, staged));
	CommandCounterIncrement();
	copy_rows(psprintf("SELECT %s FROM %s ORDER BY pg_catalog.gen_random_uuid()", columns, staged),
			  relation_of(release));
	CommandCounterIncrement();
	run_utility(psprintf("DROP TABLE %s", staged));
	return relation_of(persons);
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
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	char *name = text_arg(fcinfo, 0, "publication", "See kanon_publications.");
	int64 a = number_arg(fcinfo, 1, "a");
	int64 b = number_arg(fcinfo, 2, "b");
	KanonPublication *publication;
	Oid persons_a, persons_b;
	char *one, *two, *equal;
	Datum values[COMPARE_COLUMNS];
	bool nulls[COMPARE_COLUMNS];
	Identity saved;

	InitMaterializedSRF(fcinfo, 0);
	publication = publication_find(extension_schema(fcinfo), name, owned_by_caller);
	persons_a = find_persons(publication, a);
	persons_b = find_persons(publication, b);
	identity_assume(publication, &saved);
	SPI_connect();
	check_keys(persons_a, "key", persons_b);
	one = relation_name(persons_a);
	two = relation_name(persons_b);
	equal = key_equality(persons_a, "key");
	run(psprintf(
			"WITH pair AS MATERIALIZED (SELECT x.class AS one, y.class AS two,"
			" pg_catalog.count(DISTINCT x.key) AS n, pg_catalog.array_agg(x.key) AS keys"
			" FROM %s AS x JOIN %s AS y ON x.key %s y.key GROUP BY x.class, y.class)"
			" SELECT (SELECT pg_catalog.count(DISTINCT x.key) FROM %s AS x JOIN %s AS y ON x.key %s y.key),"
			" (SELECT pg_catalog.count(DISTINCT u.key) FROM pair AS p"
			" CROSS JOIN LATERAL pg_catalog.unnest(p.keys) AS u (key)"
			" WHERE p.n OPERATOR(pg_catalog.<) " INT64_FORMAT "),"
			" " INT64_FORMAT "::pg_catalog.int8, (SELECT pg_catalog.min(n) FROM pair)",
			one, two, equal, one, two, equal, publication->k, publication->k),
		SPI_OK_SELECT);
	for (int i = 0; i < COMPARE_COLUMNS; i++)
		values[i] = gate_value(0, i + 1, INT8OID, &nulls[i]);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	SPI_finish();
	identity_return(&saved);
	return (Datum) 0;
}
