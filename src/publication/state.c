/*
 * state.c: a publication's definition and history, in tables of its publisher.
 *
 * They are read row by row without a query, so that nothing of whoever made them
 * is executed; they are written by plain statements in the name of their owner,
 * who may have done with them as with any table.
 */
#include "compat.h"
#include "core/util/fault.h"
#include "publication/publication.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#define REFRESH_LOCK 76 /* beside NAME_LOCK of write/target.c */
#define OPTIONS_TYPE "kanon_options"

static const char *const status_names[] = {"current", "kept", "dropped", "failed"};

/* ---- rows of a table, without a query ---- */

typedef struct Rows
{
	TupleDesc desc;
	List *tuples;
} Rows;

/* False when it is no plain table any more. */
static bool
read_rows(Oid relid, Rows *rows)
{
	Relation rel = try_relation_open(relid, AccessShareLock);
	Snapshot snapshot;
	SysScanDesc scan;
	HeapTuple tuple;

	rows->tuples = NIL;
	if (rel == NULL)
		return false;
	if (rel->rd_rel->relkind != RELKIND_RELATION)
	{
		relation_close(rel, AccessShareLock);
		return false;
	}
	rows->desc = CreateTupleDescCopy(RelationGetDescr(rel));
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	scan = systable_beginscan(rel, InvalidOid, false, snapshot, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		rows->tuples = lappend(rows->tuples, heap_copytuple(tuple));
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	relation_close(rel, AccessShareLock);
	return true;
}

/* A column by name; NULL when it is not there, or of another type. */
static Datum
get_column(const Rows *rows, HeapTuple tuple, const char *name, Oid type, bool *isnull)
{
	int attnum = SPI_fnumber(rows->desc, name);

	*isnull = true;
	if (attnum <= 0 || getBaseType(TupleDescAttr(rows->desc, attnum - 1)->atttypid) != type)
		return (Datum) 0;
	return heap_getattr(tuple, attnum, rows->desc, isnull);
}

static int64
get_int8(const Rows *rows, HeapTuple tuple, const char *name)
{
	bool isnull;
	Datum value = get_column(rows, tuple, name, INT8OID, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

static char *
get_text(const Rows *rows, HeapTuple tuple, const char *name)
{
	bool isnull;
	Datum value = get_column(rows, tuple, name, TEXTOID, &isnull);

	return isnull ? NULL : TextDatumGetCString(value);
}

static bool
get_bool(const Rows *rows, HeapTuple tuple, const char *name)
{
	bool isnull;
	Datum value = get_column(rows, tuple, name, BOOLOID, &isnull);

	return !isnull && DatumGetBool(value);
}

/* InvalidOid for NULL, and for what is gone. */
static Oid
get_relation(const Rows *rows, HeapTuple tuple, const char *name)
{
	bool isnull;
	Datum value = get_column(rows, tuple, name, REGCLASSOID, &isnull);

	if (isnull || !SearchSysCacheExists1(RELOID, value))
		return InvalidOid;
	return DatumGetObjectId(value);
}

static TimestampTz
get_time(const Rows *rows, HeapTuple tuple, const char *name)
{
	bool isnull;
	Datum value = get_column(rows, tuple, name, TIMESTAMPTZOID, &isnull);

	return isnull ? 0 : DatumGetTimestampTz(value);
}

/* ---- names ---- */

Oid
extension_schema(FunctionCallInfo fcinfo)
{
	return get_func_namespace(fcinfo->flinfo->fn_oid);
}

char *
relation_name(Oid relid)
{
	char *name = OidIsValid(relid) ? get_rel_name(relid) : NULL;

	if (name == NULL)
		return NULL;
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), name);
}

char *
private_name(const char *name, const char *what, Oid namespace, char **bare)
{
	*bare = ChooseRelationName(name, NULL, what, namespace, false);
	return quote_qualified_identifier(get_namespace_name(namespace), *bare);
}

/* ---- who ---- */

static Oid
relation_owner(Oid relid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

bool
owned_by_caller(Oid owner)
{
	return has_privs_of_role(GetUserId(), owner);
}

void
identity_assume(const KanonPublication *publication, Identity *saved)
{
	GetUserIdAndSecContext(&saved->user, &saved->context);
	SetUserIdAndSecContext(publication->owner, saved->context | SECURITY_RESTRICTED_OPERATION);
	saved->nest = NewGUCNestLevel();
}

void
identity_return(const Identity *saved)
{
	AtEOXact_GUC(false, saved->nest);
	SetUserIdAndSecContext(saved->user, saved->context);
}

bool
publication_lock(const KanonPublication *publication, bool wait)
{
	LOCKTAG tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, publication->definition, 0, REFRESH_LOCK);
	return LockAcquire(&tag, ExclusiveLock, false, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

/* ---- definitions ---- */

/* The type that only definitions have a column of. */
static Oid
options_type(Oid extension)
{
	Oid type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(OPTIONS_TYPE),
							   ObjectIdGetDatum(extension));

	if (!OidIsValid(type))
		elog(ERROR, "type %s is missing", OPTIONS_TYPE);
	return type;
}

KanonPublication *
publication_read(Oid extension, Oid definition)
{
	KanonPublication *publication = palloc0(sizeof(KanonPublication));
	Rows rows;
	HeapTuple tuple;
	Datum value;
	bool isnull;

	if (!read_rows(definition, &rows) || list_length(rows.tuples) != 1)
		return NULL;
	tuple = linitial(rows.tuples);
	publication->extension = extension;
	publication->definition = definition;
	publication->owner = relation_owner(definition);
	publication->published = get_relation(&rows, tuple, "published");
	publication->source = get_relation(&rows, tuple, "source");
	publication->history = get_relation(&rows, tuple, "history");
	publication->name = relation_name(publication->published);
	if (publication->name == NULL)
		publication->name = get_text(&rows, tuple, "name");
	publication->solver = get_text(&rows, tuple, "solver");
	value = get_column(&rows, tuple, "quasi_identifiers", NAMEARRAYOID, &isnull);
	publication->qis = isnull ? NULL : DatumGetArrayTypePCopy(value);
	publication->k = get_int8(&rows, tuple, "k");
	value = get_column(&rows, tuple, "options", JSONBOID, &isnull);
	publication->options = isnull ? NULL : DatumGetJsonbPCopy(value);
	value = get_column(&rows, tuple, "keep_releases", INT4OID, &isnull);
	publication->keep_releases = isnull ? 1 : DatumGetInt32(value);
	publication->stable = get_bool(&rows, tuple, "stable");
	publication->protect_successive = get_bool(&rows, tuple, "protect_successive");
	publication->key = get_text(&rows, tuple, "key");
	if (publication->name == NULL || publication->solver == NULL || publication->qis == NULL ||
		publication->options == NULL)
		return NULL;
	return publication;
}

static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(((KanonPublication *) lfirst(a))->name, ((KanonPublication *) lfirst(b))->name);
}

/* Somebody else's table that says it defines a view does not count. */
static bool
is_whole(const KanonPublication *publication)
{
	return !OidIsValid(publication->published) ||
		   relation_owner(publication->published) == publication->owner;
}

List *
publications(Oid extension, bool (*wanted)(Oid owner))
{
	Relation depend = table_open(DependRelationId, AccessShareLock);
	List *tables = NIL, *found = NIL;
	ListCell *lc;
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&key[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(TypeRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(options_type(extension)));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2, key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->classid == RelationRelationId && form->objsubid > 0)
			tables = list_append_unique_oid(tables, form->objid);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	foreach (lc, tables)
	{
		KanonPublication *publication;

		if (!wanted(relation_owner(lfirst_oid(lc))))
			continue;
		publication = publication_read(extension, lfirst_oid(lc));
		if (publication != NULL && is_whole(publication))
			found = lappend(found, publication);
	}
	list_sort(found, compare_names);
	return found;
}

static bool
whoever(Oid owner)
{
	return true;
}

KanonPublication *
publication_find(Oid extension, const char *name, bool (*wanted)(Oid owner))
{
	List *names;
	RangeVar *rv;
	Oid relid;
	ListCell *lc;

	if (!SplitIdentifierString(pstrdup(name), '.', &names) || names == NIL || list_length(names) > 3)
		ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("publication \"%s\" is not a name", name),
						errhint("Write it as in SQL: name or schema.name, with odd names quoted.")));
	rv = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name)));
	relid = RangeVarGetRelid(rv, NoLock, true);
	foreach (lc, publications(extension, whoever))
	{
		KanonPublication *publication = lfirst(lc);

		/* one whose view is gone is still called what it was */
		if (OidIsValid(publication->published) ? publication->published != relid
											   : strcmp(publication->name, name) != 0)
			continue;
		if (!wanted(publication->owner))
			ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
							errmsg("must be owner of publication %s", publication->name),
							errhint("Its owner and members of that role may; readers only read the view.")));
		return publication;
	}
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("publication \"%s\" does not exist", name),
					errhint("See kanon_publications; kanon_create_publication makes one.")));
}

void
publication_create_tables(KanonPublication *publication, const char *name, Oid namespace)
{
	char *bare;
	char *qualified = private_name(name, "publication", namespace, &bare);

	run_utility(psprintf("CREATE TABLE %s (name pg_catalog.text NOT NULL, published pg_catalog.regclass,"
						 " source pg_catalog.regclass, history pg_catalog.regclass,"
						 " solver pg_catalog.text NOT NULL, quasi_identifiers pg_catalog._name NOT NULL,"
						 " k pg_catalog.int8 NOT NULL, options %s.%s NOT NULL,"
						 " keep_releases pg_catalog.int4 NOT NULL, stable pg_catalog.bool NOT NULL,"
						 " protect_successive pg_catalog.bool NOT NULL, key pg_catalog.text)",
						 qualified, quote_identifier(get_namespace_name(publication->extension)),
						 OPTIONS_TYPE));
	publication->definition = get_relname_relid(bare, namespace);
	keep_private(publication->definition);
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'definition of a kanon publication; read kanon_publications instead'",
		qualified));
	qualified = private_name(name, "history", namespace, &bare);
	run_utility(
		psprintf("CREATE TABLE %s (release pg_catalog.int8 NOT NULL, started pg_catalog.timestamptz NOT NULL,"
				 " finished pg_catalog.timestamptz NOT NULL, status pg_catalog.text NOT NULL,"
				 " row_count pg_catalog.int8, k pg_catalog.int8, cost pg_catalog.float8,"
				 " suppressed_later pg_catalog.int8, error pg_catalog.text, message pg_catalog.text,"
				 " relation pg_catalog.regclass, persons pg_catalog.regclass, types pg_catalog.regclass)",
				 qualified));
	publication->history = get_relname_relid(bare, namespace);
	keep_private(publication->history);
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'history of a kanon publication; read kanon_releases instead'", qualified));
}

/* ---- writing ---- */

/* Values of one statement. */
typedef struct Parameters
{
	int n;
	Oid types[16];
	Datum values[16];
	char nulls[16];
} Parameters;

static void
add(Parameters *parameters, Oid type, Datum value, bool isnull)
{
	parameters->types[parameters->n] = type;
	parameters->values[parameters->n] = value;
	parameters->nulls[parameters->n++] = isnull ? 'n' : ' ';
}

static void
add_text(Parameters *parameters, const char *value)
{
	add(parameters, TEXTOID, value == NULL ? (Datum) 0 : CStringGetTextDatum(value), value == NULL);
}

static void
add_relation(Parameters *parameters, Oid relid)
{
	add(parameters, REGCLASSOID, ObjectIdGetDatum(relid), !OidIsValid(relid));
}

/* In the query the %s is the table. */
static void
write_row(const char *query, Oid relid, Parameters *parameters, int expected)
{
	char *name = relation_name(relid);
	int nest;

	if (name == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("the history of the publication is gone"),
						errhint("Drop the publication by kanon_drop_publication and create it anew.")));
	nest = catalog_path_begin();
	if (SPI_execute_with_args(psprintf(query, name), parameters->n, parameters->types, parameters->values,
							  parameters->nulls, false, 0) != expected ||
		SPI_processed != 1)
		elog(ERROR, "could not write %s", name);
	catalog_path_end(nest);
}

void
publication_store(KanonPublication *publication)
{
	char *name = relation_name(publication->definition);
	Parameters p = {0};

	if (OidIsValid(publication->published))
		publication->name = relation_name(publication->published);
	if (SPI_execute(psprintf("DELETE FROM %s", name), false, 0) != SPI_OK_DELETE)
		elog(ERROR, "could not write %s", name);
	add_text(&p, publication->name);
	add_relation(&p, publication->published);
	add_relation(&p, publication->source);
	add_relation(&p, publication->history);
	add_text(&p, publication->solver);
	add(&p, NAMEARRAYOID, PointerGetDatum(publication->qis), false);
	add(&p, INT8OID, Int64GetDatum(publication->k), false);
	add(&p, JSONBOID, JsonbPGetDatum(publication->options), false);
	add(&p, INT4OID, Int32GetDatum(publication->keep_releases), false);
	add(&p, BOOLOID, BoolGetDatum(publication->stable), false);
	add(&p, BOOLOID, BoolGetDatum(publication->protect_successive), false);
	add_text(&p, publication->key);
	write_row("INSERT INTO %s (name, published, source, history, solver, quasi_identifiers, k, options,"
			  " keep_releases, stable, protect_successive, key)"
			  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
			  publication->definition, &p, SPI_OK_INSERT);
}

/* Without a word of the options: the statement that is under way need not have had them. */
void
publication_store_name(KanonPublication *publication)
{
	Parameters p = {0};

	publication->name = relation_name(publication->published);
	add_text(&p, publication->name);
	write_row("UPDATE %s SET name = $1", publication->definition, &p, SPI_OK_UPDATE);
}

const char *
release_status_name(ReleaseStatus status)
{
	return status_names[status];
}

void
release_add(const KanonPublication *publication, const Release *release)
{
	bool failed = release->status == RELEASE_FAILED;
	Parameters p = {0};

	add(&p, INT8OID, Int64GetDatum(release->number), false);
	add(&p, TIMESTAMPTZOID, TimestampTzGetDatum(release->started), false);
	add(&p, TIMESTAMPTZOID, TimestampTzGetDatum(release->finished), false);
	add_text(&p, status_names[release->status]);
	add(&p, INT8OID, Int64GetDatum(release->row_count), failed);
	add(&p, INT8OID, Int64GetDatum(release->k), failed || release->k == 0);
	add(&p, FLOAT8OID, Float8GetDatum(release->cost), failed);
	add(&p, INT8OID, Int64GetDatum(release->suppressed_later), failed);
	add_text(&p, release->error);
	add_text(&p, release->message);
	add_relation(&p, release->relation);
	add_relation(&p, release->persons);
	add_relation(&p, release->types);
	write_row("INSERT INTO %s (release, started, finished, status, row_count, k, cost, suppressed_later,"
			  " error, message, relation, persons, types)"
			  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
			  publication->history, &p, SPI_OK_INSERT);
}

void
release_update(const KanonPublication *publication, const Release *release)
{
	Parameters p = {0};

	add(&p, INT8OID, Int64GetDatum(release->number), false);
	add_text(&p, status_names[release->status]);
	add_relation(&p, release->relation);
	add_relation(&p, release->persons);
	add_relation(&p, release->types);
	write_row("UPDATE %s SET status = $2, relation = $3, persons = $4, types = $5 WHERE release = $1",
			  publication->history, &p, SPI_OK_UPDATE);
}

static int
compare_releases(const ListCell *a, const ListCell *b)
{
	int64 left = ((Release *) lfirst(a))->number;
	int64 right = ((Release *) lfirst(b))->number;

	return left < right ? -1 : left > right;
}

List *
releases(const KanonPublication *publication)
{
	List *list = NIL;
	ListCell *lc;
	Rows rows;

	if (!OidIsValid(publication->history) || relation_owner(publication->history) != publication->owner ||
		!read_rows(publication->history, &rows))
		return NIL;
	foreach (lc, rows.tuples)
	{
		HeapTuple tuple = lfirst(lc);
		Release *release = palloc0(sizeof(Release));
		char *status = get_text(&rows, tuple, "status");
		bool isnull;
		Datum cost = get_column(&rows, tuple, "cost", FLOAT8OID, &isnull);

		release->cost = isnull ? 0 : DatumGetFloat8(cost);
		release->number = get_int8(&rows, tuple, "release");
		release->started = get_time(&rows, tuple, "started");
		release->finished = get_time(&rows, tuple, "finished");
		release->row_count = get_int8(&rows, tuple, "row_count");
		release->k = get_int8(&rows, tuple, "k");
		release->suppressed_later = get_int8(&rows, tuple, "suppressed_later");
		release->error = get_text(&rows, tuple, "error");
		release->message = get_text(&rows, tuple, "message");
		release->relation = get_relation(&rows, tuple, "relation");
		release->persons = get_relation(&rows, tuple, "persons");
		release->types = get_relation(&rows, tuple, "types");
		release->status = RELEASE_FAILED;
		for (int i = 0; status != NULL && i < lengthof(status_names); i++)
			if (strcmp(status, status_names[i]) == 0)
				release->status = (ReleaseStatus) i;
		list = FAULT(history_reversed) ? lcons(release, list) : lappend(list, release);
	}
	list_sort(list, compare_releases);
	return list;
}

Release *
release_current(List *releases)
{
	ListCell *lc;

	foreach (lc, releases)
		if (((Release *) lfirst(lc))->status == RELEASE_CURRENT)
			return lfirst(lc);
	return NULL;
}
