/*
 * publication_state.c: definitions of publications: whose they are, how they are found, what
 * they say.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "host/gate.h"
#include "rows/target.h"
#include "publication/publication_rows.h"
#include "publication/appended.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "common/hashfn.h"
#include "mb/pg_wchar.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#define REFRESH_LOCK 76 /* beside NAME_LOCK of rows/target.c */
#define OPTIONS_TYPE "kanon_options"

/* ---- names ---- */

Oid
extension_schema(FunctionCallInfo fcinfo)
{
	Oid extension = getExtensionOfObject(ProcedureRelationId, fcinfo->flinfo->fn_oid);
	Oid schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	Relation extensions = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	/* some functions are in INTERNAL_SCHEMA */
	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(extension));
	scan = systable_beginscan(extensions, ExtensionOidIndexId, true, NULL, 1, &key);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		schema = ((Form_pg_extension) GETSTRUCT(tuple))->extnamespace;
	systable_endscan(scan);
	table_close(extensions, AccessShareLock);
	return schema;
}

char *
private_name(const char *name, const char *what, Oid namespace, char **bare)
{
	Size room = NAMEDATALEN - 1 - Min(strlen(what) + 1, NAMEDATALEN / 2);

	/* (several names may be chosen before any is taken, and long ones would be cut to the same) */
	if (strlen(name) > room)
	{
		char *hash =
			psprintf("_%08x%08x", hash_bytes((const unsigned char *) name, (int) strlen(name)),
					 (uint32) hash_bytes_extended((const unsigned char *) name, (int) strlen(name), 1));

		name = psprintf("%.*s%s", pg_mbcliplen(name, (int) strlen(name), (int) (room - strlen(hash))), name,
						hash);
	}
	*bare = ChooseRelationName(name, NULL, what, namespace, false);
	return quote_qualified_identifier(name_schema(namespace), *bare);
}

/* ---- in the name of the owner ---- */

void
identity_assume(const KanonPublication *publication, Identity *saved)
{
	GetUserIdAndSecContext(&saved->user, &saved->context);
	SetUserIdAndSecContext(publication->owner, saved->context | SECURITY_RESTRICTED_OPERATION);
	saved->nest = NewGUCNestLevel();
	/* whoever may have replaced what the definition names since has not been named */
	if (!publication->strangers)
		(void) set_config_option("kanon.read_strangers", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
								 true, 0, false);
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

typedef struct Definition
{
	KanonPublication *publication;
	MemoryContext context;
	int rows;
} Definition;

/* False for what is there and no view of the owner's; one that is gone is none. */
static bool
get_view(const KanonPublication *publication, const Row *row, const char *name, Oid *view)
{
	*view = row_relation(row, name);
	return !OidIsValid(*view) || publication_owns(publication, *view, RELKIND_VIEW);
}

static bool
read_definition(const Row *row, void *arg)
{
	Definition *definition = arg;
	KanonPublication *publication = definition->publication;
	MemoryContext old = MemoryContextSwitchTo(definition->context);
	ListCell *lc;
	Datum value;
	bool isnull;

	if (++definition->rows > 1 || !get_view(publication, row, "published", &publication->published))
	{
		definition->rows = 2;
		MemoryContextSwitchTo(old);
		return false;
	}
	publication->source_named = row_relation(row, "source");
	if (!get_view(publication, row, "source", &publication->source))
		publication->source = InvalidOid;
	publication->history = publication->history_named = row_relation(row, "history");
	if (!publication_owns(publication, publication->history, RELKIND_RELATION))
		publication->history = InvalidOid;
	publication->name = relation_name(publication->published);
	if (publication->name == NULL)
		publication->name = row_text(row, "name");
	publication->model = row_text(row, "model");
	value = row_value(row, "quasi_identifiers", NAMEARRAYOID, &isnull);
	publication->qis = isnull ? NULL : DatumGetArrayTypePCopy(value);
	publication->k = row_int8(row, "k");
	value = row_value(row, "options", JSONBOID, &isnull);
	publication->options = isnull ? NULL : DatumGetJsonbPCopy(value);
	value = row_value(row, "relations", REGCLASSARRAYOID, &isnull);
	publication->relations = isnull ? NULL : DatumGetArrayTypePCopy(value);
	publication->views = row_relations(row, "views");
	foreach (lc, publication->views)
		if (!publication_owns(publication, lfirst_oid(lc), RELKIND_VIEW))
			lfirst_oid(lc) = InvalidOid;
	value = row_value(row, "keep_releases", INT4OID, &isnull);
	publication->keep_releases = isnull ? 1 : DatumGetInt32(value);
	publication->stable = row_bool(row, "stable");
	publication->protect_successive = row_bool(row, "protect_successive");
	publication->protect_values = row_bool(row, "protect_values");
	publication->strangers = row_bool(row, "strangers");
	appended_read(publication, row);
	publication->key = row_text(row, "key");
	value = row_value(row, "bounds", JSONBOID, &isnull);
	publication->bounds = isnull ? NULL : DatumGetJsonbPCopy(value);
	value = row_value(row, "mask_key", BYTEAOID, &isnull);
	publication->mask_key = isnull ? NULL : DatumGetByteaPCopy(value);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * A definition is one row in a table whose owner owns the view, too: what a table
 * of somebody else's says of that view does not count.  Its owner is put into *busy when it
 * could not be read for a lock.
 */
static KanonPublication *
read_publication(Oid extension, Oid definition, long *patience, List **busy)
{
	KanonPublication *publication = palloc0(sizeof(KanonPublication));
	Definition state = {.publication = publication, .context = CurrentMemoryContext};

	publication->extension = extension;
	publication->definition = definition;
	publication->owner = relation_owner(definition);
	publication->patience = patience;
	if (!rows_visit(definition, publication->owner, patience, read_definition, &state))
	{
		if (busy != NULL && relation_is_own(definition, publication->owner, RELKIND_RELATION))
			*busy = lappend_oid(*busy, publication->owner);
		return NULL;
	}
	if (state.rows != 1 || publication->name == NULL || publication->model == NULL ||
		publication->qis == NULL || publication->options == NULL)
		return NULL;
	return publication;
}

KanonPublication *
publication_read(Oid extension, Oid definition)
{
	return read_publication(extension, definition, NULL, NULL);
}

void
publication_rename(KanonPublication *publication)
{
	char *name = relation_name(publication->published);

	if (name != NULL)
		publication->name = MemoryContextStrdup(GetMemoryChunkContext(publication), name);
}

static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(((KanonPublication *) lfirst(a))->name, ((KanonPublication *) lfirst(b))->name);
}

void
publications_sort(List *list)
{
	list_sort(list, compare_names);
}

List *
definition_tables(Oid extension)
{
	Relation depend = table_open(DependRelationId, AccessShareLock);
	List *tables = NIL;
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
			tables = lappend_oid(tables, form->objid);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	list_sort(tables, list_oid_cmp);
	list_deduplicate_oid(tables);
	return tables;
}

List *
publications(Oid extension, bool (*wanted)(Oid owner, Oid view), List **busy)
{
	List *found = NIL;
	ListCell *lc;
	long *patience = patience_left();

	foreach (lc, definition_tables(extension))
	{
		KanonPublication *publication;

		if (!wanted(relation_owner(lfirst_oid(lc)), InvalidOid))
			continue;
		publication = read_publication(extension, lfirst_oid(lc), patience, busy);
		if (publication != NULL)
			found = lappend(found, publication);
	}
	publications_sort(found);
	return found;
}

static void
raise_not_owner(const char *name)
{
	ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("must be owner of publication %s", name),
					errhint("Its owner and members of that role may; readers only read the view.")));
}

/* NULL: it is that of a publication that is in order, or of none. */
static KanonPublication *
find_lost(Oid extension, Oid view, bool (*wanted)(Oid owner, Oid view))
{
	ListCell *lc;

	foreach (lc, publications_seen(extension, wanted, NULL))
	{
		KanonPublication *publication = lfirst(lc);

		if (publication->lost && publication->published == view)
			return publication;
	}
	return NULL;
}

/* Finds a view's publication; the view's owner is looked at before anything of the owner's is read. */
static KanonPublication *
find_by_view(Oid extension, Oid view, const char *name, bool (*wanted)(Oid owner, Oid view))
{
	Oid owner = relation_owner(view);
	KanonPublication *publication;
	ListCell *lc;

	foreach (lc, wanted(owner, view) ? definition_tables(extension) : NIL)
	{
		if (relation_owner(lfirst_oid(lc)) != owner)
			continue;
		publication = publication_read(extension, lfirst_oid(lc));
		if (publication != NULL &&
			(publication->published == view || list_member_oid(publication->views, view)))
			return publication;
	}
	publication = find_lost(extension, view, wanted);
	if (publication == NULL && !wanted(owner, view))
		raise_not_owner(name);
	return publication;
}

/*
 * Finds the publication of a view that is gone, by the name in its definition.  Definitions of all
 * roles that the caller may act for are looked at.
 */
static KanonPublication *
find_by_text(Oid extension, const char *name, bool (*wanted)(Oid owner, Oid view))
{
	KanonPublication *found = NULL;
	ListCell *lc;

	foreach (lc, publications(extension, wanted, NULL))
	{
		KanonPublication *publication = lfirst(lc);

		if (OidIsValid(publication->published) || strcmp(publication->name, name) != 0)
			continue;
		if (found != NULL)
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
							errmsg("several publications without a view were called %s", name),
							errhint("SET ROLE to the owner of the one that you mean, then call again.")));
		found = publication;
	}
	if (found != NULL)
		found->patience = NULL;
	return found;
}

/* The same of a name without schema: that of a view which was dropped. */
static KanonPublication *
find_without_view(Oid extension, const char *name, bool (*wanted)(Oid owner, Oid view))
{
	KanonPublication *found = NULL;
	List *path = fetch_search_path(false);
	ListCell *lc;

	foreach (lc, path)
	{
		char *schema = get_namespace_name(lfirst_oid(lc));

		if (found == NULL && schema != NULL)
			found = find_by_text(extension, quote_qualified_identifier(schema, name), wanted);
	}
	return found;
}

KanonPublication *
publication_look(Oid extension, const char *name, bool (*wanted)(Oid owner, Oid view))
{
	KanonPublication *publication = NULL;
	const char *found = name;
	List *names;
	Oid relid;

	if (!split_name(name, 3, &names))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME), errmsg("publication \"%s\" is not a name", excerpt(name)),
				 errhint("Write it as in SQL: name or schema.name, with odd names quoted.")));
	relid = RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name))), NoLock,
							 true);
	if (OidIsValid(relid))
	{
		publication = find_by_view(extension, relid, name, wanted);
		/* something else may have the name by now */
		found = relation_name(relid);
	}
	else if (list_length(names) == 1)
	{
		publication = linked_find(extension, linitial(names), wanted);
		if (publication == NULL)
			publication = find_without_view(extension, linitial(names), wanted);
	}
	if (publication == NULL && found != NULL)
		publication = find_by_text(extension, found, wanted);
	if (publication == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						errmsg("publication \"%s\" does not exist", excerpt_name(name)),
						errhint("See kanon_publications; kanon_create_publication makes one.")));
	return publication;
}

KanonPublication *
publication_find(Oid extension, const char *name, bool (*wanted)(Oid owner, Oid view))
{
	KanonPublication *publication = publication_look(extension, name, wanted);

	if (publication->lost)
		publication_raise_broken(publication);
	return publication;
}

void
publication_create_tables(KanonPublication *publication, const char *name, Oid namespace)
{
	char *bare;
	char *qualified = private_name(name, "publication", namespace, &bare);

	run_utility(psprintf("CREATE TABLE %s (name pg_catalog.text NOT NULL, published pg_catalog.regclass,"
						 " source pg_catalog.regclass, history pg_catalog.regclass,"
						 " model pg_catalog.text NOT NULL, quasi_identifiers pg_catalog._name NOT NULL,"
						 " k pg_catalog.int8 NOT NULL, options %s.%s NOT NULL,"
						 " relations pg_catalog._regclass,"
						 " keep_releases pg_catalog.int4 NOT NULL, stable pg_catalog.bool NOT NULL,"
						 " protect_successive pg_catalog.bool NOT NULL, key pg_catalog.text,"
						 " mask_key pg_catalog.bytea, bounds pg_catalog.jsonb, strangers pg_catalog.bool,"
						 " views pg_catalog._regclass, append pg_catalog.text, grows pg_catalog.bool,"
						 " appended pg_catalog._regclass, protect_values pg_catalog.bool)",
						 qualified, quote_identifier(name_schema(publication->extension)), OPTIONS_TYPE));
	publication->definition = get_relname_relid(bare, namespace);
	keep_private(publication->definition);
	rows_identify(publication->definition);
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'definition of a kanon publication; read kanon_publications instead'",
		qualified));
	qualified = private_name(name, "history", namespace, &bare);
	run_utility(psprintf(
		"CREATE TABLE %s (release pg_catalog.int8 NOT NULL, started pg_catalog.timestamptz NOT NULL,"
		" finished pg_catalog.timestamptz NOT NULL, status pg_catalog.text NOT NULL,"
		" row_count pg_catalog.int8, k pg_catalog.int8, cost pg_catalog.float8,"
		" held_persons pg_catalog.int8, held_oldest pg_catalog.int8, smallest_difference pg_catalog.int8, error pg_catalog.text, message pg_catalog.text,"
		" detail pg_catalog.text, hint pg_catalog.text, relation pg_catalog.regclass, persons pg_catalog.regclass, types pg_catalog.regclass,"
		" rows pg_catalog.regclass, digest pg_catalog.bytea, checked pg_catalog.timestamptz)",
		qualified));
	publication->history = get_relname_relid(bare, namespace);
	keep_private(publication->history);
	rows_identify(publication->history);
	run_utility(psprintf(
		"COMMENT ON TABLE %s IS 'history of a kanon publication; read kanon_releases instead'", qualified));
}

/* ---- writing ---- */

/*
 * Strong random bytes, made in the very statement that stores them: a parameter, as a
 * statement's text, can be logged.
 */
#define NEW_MASK_KEY                                                                       \
	"pg_catalog.decode(pg_catalog.replace(pg_catalog.concat(pg_catalog.gen_random_uuid()," \
	" pg_catalog.gen_random_uuid()), '-'::pg_catalog.text, ''::pg_catalog.text), 'hex'::pg_catalog.text)"

#define COLUMNS                                                                                       \
	"name, published, source, history, model, quasi_identifiers, k, options, keep_releases,"          \
	" stable, protect_successive, key, relations, bounds, strangers, views, append, grows, appended," \
	" protect_values"
#define VALUES "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20"

/* The key that the statement has made. */
static void
read_mask_key(KanonPublication *publication, const char *name)
{
	Gate *gate = gate_create(name, publication->definition, 1);
	bool isnull;
	Datum key;

	gate_computed(gate, "mask_key", BYTEAOID);
	gate_query(gate, psprintf("SELECT mask_key FROM %s", name), false);
	key = gate_value(0, 1, BYTEAOID, &isnull);
	publication->mask_key = isnull ? NULL : DatumGetByteaPCopy(key);
}

/* From where a new definition has its secret; the name is a part of a format. */
static char *
secret_source(const KanonPublication *publication)
{
	StringInfoData query;

	initStringInfo(&query);
	if (!OidIsValid(publication->secret_of))
		return "";
	appendStringInfoString(&query, "(SELECT mask_key FROM ");
	for (const char *c = name_relation(publication->secret_of); *c != '\0'; c++)
		appendStringInfo(&query, *c == '%' ? "%%%%" : "%c", *c);
	appendStringInfoString(&query, "), ");
	return query.data;
}

/* Columns that the definition of an older version of kanon lacks. */
static void
bring_up_to_date(const KanonPublication *publication)
{
	static const char *const columns[][2] = {
		{"bounds", "jsonb"}, {"strangers", "bool"},     {"views", "_regclass"},    {"append", "text"},
		{"grows", "bool"},   {"appended", "_regclass"}, {"protect_values", "bool"}};

	rows_identify(publication->definition);
	for (int i = 0; i < lengthof(columns); i++)
		if (get_attnum(publication->definition, columns[i][0]) == InvalidAttrNumber)
			run_utility(psprintf("ALTER TABLE %s ADD COLUMN %s pg_catalog.%s",
								 name_relation(publication->definition), columns[i][0], columns[i][1]));
}

static void
parameter_bounds(Parameters *p, const KanonPublication *publication)
{
	parameter(p, JSONBOID, JsonbPGetDatum(publication->bounds), publication->bounds == NULL);
}

/* The key that masks have lasts as long as the definition, whatever else of it changes. */
void
publication_store(KanonPublication *publication)
{
	char *name = name_relation(publication->definition);
	bool keyed = get_attnum(publication->definition, "mask_key") != InvalidAttrNumber;
	Parameters p = {0};

	relation_trust_written(publication->definition);
	publication_rename(publication);
	bring_up_to_date(publication);
	if (!keyed)
		(void) gate_execute(psprintf("DELETE FROM %s", name), false, 0);
	parameter_text(&p, publication->name);
	parameter_relation(&p, publication->published);
	parameter_relation(&p, publication->source);
	parameter_relation(&p, publication->history);
	parameter_text(&p, publication->model);
	parameter(&p, NAMEARRAYOID, PointerGetDatum(publication->qis), false);
	parameter(&p, INT8OID, Int64GetDatum(publication->k), false);
	parameter(&p, JSONBOID, JsonbPGetDatum(publication->options), false);
	parameter(&p, INT4OID, Int32GetDatum(publication->keep_releases), false);
	parameter(&p, BOOLOID, BoolGetDatum(publication->stable), false);
	parameter(&p, BOOLOID, BoolGetDatum(publication->protect_successive), false);
	parameter_text(&p, publication->key);
	parameter(&p, REGCLASSARRAYOID, PointerGetDatum(relations_listed(publication->options)), false);
	parameter_bounds(&p, publication);
	parameter(&p, BOOLOID, BoolGetDatum(publication->strangers), false);
	parameter_relations(&p, publication->views);
	appended_store(publication, &p);
	parameter(&p, BOOLOID, BoolGetDatum(publication->protect_values), false);
	row_write(
		keyed ? psprintf("WITH before AS (DELETE FROM %%1$s RETURNING mask_key) INSERT INTO %%1$s (" COLUMNS
						 ", mask_key) SELECT " VALUES
						 ", coalesce((SELECT mask_key FROM before), %s" NEW_MASK_KEY ")",
						 secret_source(publication))
			  : "INSERT INTO %s (" COLUMNS ") VALUES (" VALUES ")",
		publication->definition, &p, SPI_OK_INSERT);
	if (keyed && publication->mask_key == NULL)
		read_mask_key(publication, name);
}

/* Without a word of the options: the statement that is under way need not have had them. */
void
publication_store_made(KanonPublication *publication)
{
	Parameters p = {0};

	publication_rename(publication);
	bring_up_to_date(publication);
	parameter_text(&p, publication->name);
	parameter_bounds(&p, publication);
	parameter_relations(&p, publication->views);
	appended_store(publication, &p);
	row_write("UPDATE %s SET name = $1, bounds = $2, views = $3, append = $4, grows = $5, appended = $6",
			  publication->definition, &p, SPI_OK_UPDATE);
}
