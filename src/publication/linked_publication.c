/*
 * linked_publication.c: several tables as one publication: a view over each table of the current release, and the next
 * release of all of them together.
 *
 * Its definition is the one of the subject's table.  The options have the tables in a list, the
 * subject's first; in this order stand the other views, and the other tables of each release.  Keys
 * of a release are pseudonyms by the publication's secret and a number that is drawn for the
 * release, unless they are to last.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "host/gate.h"
#include "host/settings.h"
#include "host/border.h"
#include "linked/linked.h"
#include "masks/mask_apply.h"
#include "publication/publication.h"
#include "rows/row_types.h"
#include "rows/target.h"
#include "options/request.h"
#include "options/together.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(kanon_create_linked_publication);

enum
{
	ARG_SCHEMA,
	ARG_SUBJECT,
	ARG_TABLES,
	ARG_K,
	ARG_KNOWN_ROWS,
	ARG_KEEP_RELEASES,
	ARG_STABLE,
	ARG_PROTECT,
	ARG_PSEUDONYM,
	ARG_PRIVATE_SCHEMA
};

bool
publication_is_linked(const KanonPublication *publication)
{
	return strcmp(publication->model, LINKED_MODEL) == 0;
}

/* ---- options ---- */

static JsonbValue *
member(JsonbContainer *object, const char *name)
{
	JsonbValue key = {.type = jbvString, .val.string = {(int) strlen(name), unconstify(char *, name)}};

	return JsonContainerIsObject(object) ? findJsonbValueFromContainer(object, JB_FOBJECT, &key) : NULL;
}

/* A string, or a number as text. */
static char *
text_member(JsonbContainer *object, const char *name)
{
	const JsonbValue *value = member(object, name);

	if (value != NULL && value->type == jbvNumeric)
		return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
	return value != NULL && value->type == jbvString ? pnstrdup(value->val.string.val, value->val.string.len)
													 : NULL;
}

char *
linked_pseudonym(Jsonb *options)
{
	return text_member(&options->root, "pseudonym");
}

void
linked_definition_raise(const KanonPublication *publication)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the definition of publication %s is none of several tables", publication->name),
			 errdetail("Its options lack known_rows, pseudonym or tables, or have these in another form."),
			 errhint("Drop the publication by kanon_drop_publication, and create it anew.")));
}

static char *
table_text(const JsonbValue *table, const char *name)
{
	return text_member(table->val.binary.data, name);
}

/* The tables, each an object with "table" and "target". */
static List *
table_list(const KanonPublication *publication, Jsonb *options)
{
	const JsonbValue *tables = member(&options->root, "tables");
	List *list = NIL;

	if (tables == NULL || tables->type != jbvBinary || !JsonContainerIsArray(tables->val.binary.data))
		linked_definition_raise(publication);
	for (uint32 i = 0; i < JsonContainerSize(tables->val.binary.data); i++)
	{
		JsonbValue *table = getIthJsonbValueFromContainer(tables->val.binary.data, i);

		if (table->type != jbvBinary || text_member(table->val.binary.data, "table") == NULL ||
			text_member(table->val.binary.data, "target") == NULL)
			linked_definition_raise(publication);
		list = lappend(list, table);
	}
	if (list == NIL)
		linked_definition_raise(publication);
	return list;
}

List *
linked_tables(const KanonPublication *publication)
{
	const JsonbValue *tables = member(&publication->options->root, "tables");
	List *list = NIL;

	if (!publication_is_linked(publication) || tables == NULL || tables->type != jbvBinary ||
		!JsonContainerIsArray(tables->val.binary.data))
		return NIL;
	for (uint32 i = 0; i < JsonContainerSize(tables->val.binary.data); i++)
	{
		const JsonbValue *table = getIthJsonbValueFromContainer(tables->val.binary.data, i);

		if (table->type == jbvBinary)
			list = lappend(list, table->val.binary.data);
	}
	return list;
}

char *
linked_view_name(const KanonPublication *publication, int n)
{
	List *tables = linked_tables(publication);

	return n < list_length(tables) ? text_member(list_nth(tables, n), "target") : NULL;
}

static char *
option_text(const KanonPublication *publication, const char *name)
{
	char *text = text_member(&publication->options->root, name);

	if (text == NULL)
		linked_definition_raise(publication);
	return text;
}

static void
push_text(JsonbInState *state, JsonbIteratorToken token, const char *text)
{
	JsonbValue value = {.type = jbvString, .val.string = {(int) strlen(text), unconstify(char *, text)}};

	kanon_push_jsonb(state, token, &value);
}

static void
push_jsonb(JsonbInState *state, JsonbIteratorToken token, Jsonb *jsonb)
{
	JsonbValue value = {.type = jbvBinary};

	value.val.binary.data = &jsonb->root;
	value.val.binary.len = (int) (VARSIZE(jsonb) - VARHDRSZ);
	kanon_push_jsonb(state, token, &value);
}

/* As kanon_linked wants them: {"shop.customers": {…}, …} */
static Jsonb *
tables_of(const KanonPublication *publication, Jsonb *options)
{
	JsonbInState state = {0};
	ListCell *lc;

	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	foreach (lc, table_list(publication, options))
	{
		JsonbValue *table = lfirst(lc);

		push_text(&state, WJB_KEY, table_text(table, "table"));
		push_jsonb(&state, WJB_VALUE,
				   DatumGetJsonbP(DirectFunctionCall2(jsonb_delete, JsonbPGetDatum(JsonbValueToJsonb(table)),
													  CStringGetTextDatum("table"))));
	}
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	return JsonbValueToJsonb(state.result);
}

/* {"known_rows": …, "pseudonym": …, "tables": [{"table": …, "target": …, …}, …]}: the subject's table is the first */
static Jsonb *
options_of(const Linked *linked, Jsonb *tables, const char *known_rows, const char *pseudonym)
{
	JsonbInState state = {0};

	kanon_push_jsonb(&state, WJB_BEGIN_OBJECT, NULL);
	push_text(&state, WJB_KEY, "known_rows");
	push_text(&state, WJB_VALUE, known_rows);
	push_text(&state, WJB_KEY, "pseudonym");
	push_text(&state, WJB_VALUE, pseudonym);
	push_text(&state, WJB_KEY, "tables");
	kanon_push_jsonb(&state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < linked->n; i++)
	{
		const LinkedTable *table = &linked->tables[i];
		JsonbInState names = {0};

		kanon_push_jsonb(&names, WJB_BEGIN_OBJECT, NULL);
		push_text(&names, WJB_KEY, "table");
		push_text(&names, WJB_VALUE, table->name);
		push_text(&names, WJB_KEY, "target");
		push_text(&names, WJB_VALUE, table->known);
		kanon_push_jsonb(&names, WJB_END_OBJECT, NULL);
		push_jsonb(&state, WJB_ELEM,
				   DatumGetJsonbP(DirectFunctionCall2(
					   jsonb_concat, JsonbPGetDatum(JsonbValueToJsonb(member(&tables->root, table->name))),
					   JsonbPGetDatum(JsonbValueToJsonb(names.result)))));
	}
	kanon_push_jsonb(&state, WJB_END_ARRAY, NULL);
	kanon_push_jsonb(&state, WJB_END_OBJECT, NULL);
	return relations_resolved(JsonbValueToJsonb(state.result), NULL);
}

/* In the publication's memory: what SPI has is gone when it is told. */
static void
take_definition(KanonPublication *publication, const Linked *linked, Jsonb *tables, const char *known_rows,
				const char *pseudonym)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(publication));

	publication->options = options_of(linked, tables, known_rows, pseudonym);
	publication->relations = relations_listed(publication->options);
	publication->qis =
		linked->tables[0].qis != NULL ? DatumGetArrayTypePCopy(PointerGetDatum(linked->tables[0].qis)) : NULL;
	MemoryContextSwitchTo(old);
}

/* ---- a release ---- */

/* Drawn for a release: keys of another one are others. */
static char *
draw_salt(void)
{
	uint8 bytes[16];
	char *text = palloc(2 * sizeof(bytes) + 1);

	random_fill(bytes, sizeof(bytes));
	for (int i = 0; i < lengthof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return text;
}

static List *
relations_read(Jsonb *options)
{
	ArrayType *array = relations_listed(options);
	List *relids = NIL;
	Datum *values;
	bool *nulls;
	int n;

	deconstruct_array(array, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
		if (OidIsValid(DatumGetObjectId(values[i])))
			relids = list_append_unique_oid(relids, DatumGetObjectId(values[i]));
	return relids;
}

/* No view is asked: those of a release that is tried only are not there. */
static bool
all_stand(List *relids, int n)
{
	return list_length(relids) == n && !list_member_oid(relids, InvalidOid);
}

static void
fill_series(const KanonPublication *publication, const Release *release, const Release *before, bool may_keep,
			Linked *linked)
{
	SeriesRequest *series = &linked->series;
	char *bare;

	series->stable = publication->stable || publication->protect_successive;
	series->definition = definition_text(publication);
	series->bounds = publication->bounds;
	series->like = before != NULL ? before->relation : InvalidOid;
	series->rows_before = before != NULL ? before->row_count : 0;
	if (series->stable)
	{
		series->types = release_table_name(publication, release, linked->tables[0].known, "types", &bare);
		series->previous = before != NULL ? before->types : InvalidOid;
	}
	if (may_keep && before != NULL && OidIsValid(before->relation) && publication->bounds != NULL &&
		view_shows(publication->published, before->relation) && all_stand(before->others, linked->n - 1) &&
		list_length(publication->views) == linked->n - 1 && linked_views_show(publication, before) &&
		(!series->stable || OidIsValid(before->types)) && before->held_persons == 0)
		series->seen = before->digest;
}

/* Tables of the release have names of their own; readers know those of the views. */
static void
name_tables(const KanonPublication *publication, const Release *release, Linked *linked)
{
	linked->schema = name_schema(get_rel_namespace(publication->definition));
	for (int i = 0; i < linked->n; i++)
		(void) release_table_name(publication, release, linked->tables[i].known, "release",
								  &linked->tables[i].target);
}

static Linked *
begin_release(const KanonPublication *publication)
{
	Linked *linked = palloc0(sizeof(Linked));
	Jsonb *options = relations_followed(publication->options, publication->relations, publication->owner);

	linked->caller = publication->caller;
	linked->k = publication->k;
	linked_know(linked, option_text(publication, "known_rows"));
	if (publication->mask_key == NULL || VARSIZE_ANY_EXHDR(publication->mask_key) != MASK_KEY_LENGTH)
		linked_definition_raise(publication);
	linked->secret = publication->mask_key;
	secret_seeds(linked->secret, "linked", &linked->seed, 1);
	linked->grouped = group_is_named(option_text(publication, "pseudonym"));
	if (strcmp(option_text(publication, "pseudonym"), "release") == 0)
		linked->salt = draw_salt();
	linked->publication = publication->name;
	linked->read = relations_read(options);
	linked_begin(linked, source_of(publication), tables_of(publication, options));
	if (linked->tables[0].terms.tries_sizes)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("classes of a publication have one size in all releases"),
				 errhint("Try class_size \"auto\" by kanon_linked, and say the number that it finds.")));
	return linked;
}

/* The tables in the order of the options. */
static LinkedTable **
in_order(const KanonPublication *publication, const Linked *linked)
{
	Jsonb *options = relations_followed(publication->options, publication->relations, publication->owner);
	LinkedTable **tables = palloc0(sizeof(LinkedTable *) * linked->n);
	int n = 0;
	ListCell *lc;

	foreach (lc, table_list(publication, options))
	{
		char *target = table_text(lfirst(lc), "target");

		for (int i = 0; i < linked->n && n < linked->n; i++)
			if (strcmp(linked->tables[i].known, target) == 0)
				tables[n++] = &linked->tables[i];
	}
	if (n != linked->n || tables[0] != &linked->tables[0])
		linked_definition_raise(publication);
	return tables;
}

static int64
count_rows(Oid relid)
{
	Gate *gate = gate_create(name_relation(relid), relid, 1);
	bool isnull;

	gate_computed(gate, "count", INT8OID);
	gate_query(gate, psprintf("SELECT pg_catalog.count(*) FROM %s", name_relation(relid)), false);
	return DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
}

/* The options of each table that the publication does not let through. */
static void
check_limits(LinkedTable *const *tables, const Linked *linked, const Release *release, const Release *before)
{
	for (int i = 0; i < linked->n; i++)
	{
		Oid relid = before == NULL                     ? InvalidOid
					: i == 0                           ? before->relation
					: i <= list_length(before->others) ? list_nth_oid(before->others, i - 1)
													   : InvalidOid;
		Release one = *release, other = {0};
		const Run *run = tables[i]->run;

		if (tables[i]->role == LINKED_LOOKUP)
			continue;
		one.row_count = run->record.row_count - run->release.dropped;
		other.row_count = OidIsValid(relid) ? count_rows(relid) : 0;
		limits_check(run, &one, OidIsValid(relid) ? &other : NULL);
	}
}

/* The results that the runs leave, before their memory goes. */
static void
take_release(KanonPublication *publication, Release *release, Linked *linked, LinkedTable *const *tables)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(publication));
	const char *types = linked->series.types;
	Jsonb *bounds = linked_bounds(linked);

	release->relation = tables[0]->run->target->relid;
	release->others = NIL;
	for (int i = 1; i < linked->n; i++)
		release->others = lappend_oid(release->others, tables[i]->run->target->relid);
	release->cost = tables[0]->run->report.cost;
	publication->bounds = bounds;
	if (linked->digest != NULL)
		release->digest = DatumGetByteaPCopy(PointerGetDatum(linked->digest));
	MemoryContextSwitchTo(old);
	if (types != NULL)
		release->types = RangeVarGetRelid(
			makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(types))), NoLock, false);
	if (tables[0]->run->anew == NULL)
		return;
	release->message = "unchanged persons were separated";
	release->detail = MemoryContextStrdup(GetMemoryChunkContext(publication), tables[0]->run->anew);
	release->hint = "Readers who keep releases can tell who moved.";
}

static void
close_release(const Release *release)
{
	ListCell *lc;

	CommandCounterIncrement();
	keep_private(release->relation);
	foreach (lc, release->others)
		keep_private(lfirst_oid(lc));
}

typedef struct Making
{
	KanonPublication *publication;
	Release *release;
	const Release *before;
	bool may_keep;
	struct LinkedHistories *histories; /* NULL: nobody is protected */
} Making;

static void
make(void *arg)
{
	const Making *making = arg;
	KanonPublication *publication = making->publication;
	Release *release = making->release;
	Linked *linked = begin_release(publication);
	LinkedTable **tables = in_order(publication, linked);

	name_tables(publication, release, linked);
	fill_series(publication, release, making->before, making->may_keep, linked);
	linked->histories = making->histories;
	if (linked->histories != NULL)
		linked_protection_fill(publication, release, making->before, linked, tables);
	if (!linked_publish(linked))
	{
		release->status = RELEASE_UNCHANGED;
		linked_end(linked);
		return;
	}
	take_release(publication, release, linked, tables);
	if (linked->histories != NULL)
		linked_protection_take(publication, release, linked, tables);
	close_release(release);
	progress_say("checking", 0, -1);
	release->row_count = release_rows(publication, release->relation, &release->k);
	/* over all tables k was counted when they were written */
	release->k = publication->k;
	check_limits(tables, linked, release, making->before);
	linked_end(linked);
}

void
linked_release_make(KanonPublication *publication, Release *release, List *releases, bool may_keep)
{
	Making making = {.publication = publication,
					 .release = release,
					 .before = release_current(releases),
					 .may_keep = may_keep};

	if (making.before != NULL)
		release_trust(making.before);
	if (!publication->protect_successive)
	{
		make(&making);
		return;
	}
	refuse_lost_histories(making.before);
	linked_protection_try(publication, release, make, &making, &making.histories);
}

/* ---- words ---- */

void
linked_definition_tell(const KanonPublication *publication)
{
	ereport(
		NOTICE,
		(errmsg("readers who keep releases of publication %s can tell what changes", publication->name),
		 errdetail(
			 "The difference of two releases is the persons and rows that came, left or changed. In a class "
			 "with such persons or rows, the rows of all others may show something else than before."),
		 errhint("Let no reader keep more than one release, where such a class must not be told.")));
}

/* ---- alter ---- */

/* Under the names that readers know, the subject's first. */
static void
check_same_tables(const KanonPublication *publication, Jsonb *before)
{
	List *now = table_list(publication, publication->options), *old = table_list(publication, before);
	bool same = list_length(now) == list_length(old);

	for (int i = 0; i < list_length(now) && same; i++)
		same = strcmp(table_text(list_nth(now, i), "target"), table_text(list_nth(old, i), "target")) == 0;
	if (!same)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("publication %s has other tables", publication->name),
			 errhint("Name in \"tables\" those of kanon_publications. For other tables drop the publication "
					 "and create it anew.")));
}

/* Other words would be forgotten, whatever they promise. */
static void
check_words(const KanonPublication *publication)
{
	static const char *const words[] = {"known_rows", "pseudonym", "tables"};
	Jsonb *others = publication->options;

	for (int i = 0; i < lengthof(words); i++)
		others = DatumGetJsonbP(
			DirectFunctionCall2(jsonb_delete, JsonbPGetDatum(others), CStringGetTextDatum(words[i])));
	if (JB_ROOT_COUNT(others) > 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a publication of several tables does not have the options %s",
					excerpt(JsonbToCString(NULL, &others->root, 0))),
			 errhint("Its options are known_rows, pseudonym and tables, in which each table has its own.")));
}

void
linked_alter(KanonPublication *publication, Jsonb *before)
{
	const JsonbValue *tables = member(&publication->options->root, "tables");
	char *known_rows = option_text(publication, "known_rows");
	Linked *linked = palloc0(sizeof(Linked));
	Jsonb *named;

	check_words(publication);
	linked_know(linked, known_rows);
	group_check_pseudonym(option_text(publication, "pseudonym"));
	if (tables == NULL || tables->type != jbvBinary)
		linked_definition_raise(publication);
	linked->k = publication->k;
	named = JsonContainerIsObject(tables->val.binary.data)
				? JsonbValueToJsonb(unconstify(JsonbValue *, tables))
				: tables_of(publication, publication->options);
	SPI_connect();
	linked_schema(linked, source_of(publication), named);
	take_definition(publication, linked, named, known_rows, option_text(publication, "pseudonym"));
	check_same_tables(publication, before);
	group_check_same(publication, before);
	SPI_finish();
}

/* ---- create ---- */

/* The views' names are free, and stay so; the schema of the views. */
static Oid
check_names(KanonPublication *publication, const Linked *linked, const char *schema)
{
	Oid namespace = InvalidOid;
	char *bare;

	for (int i = linked->n - 1; i >= 0; i--)
		publication->name = publication_new_name(quote_qualified_identifier(schema, linked->tables[i].known),
												 linked->tables[i].relid, &bare, &namespace);
	return namespace;
}

/*
 * kanon_create_linked_publication(name text, subject regclass, tables jsonb, k bigint, known_rows text,
 * keep_releases int, stable boolean, protect_successive kanon_protection, pseudonym text, private_schema name)
 */
Datum
kanon_create_linked_publication(PG_FUNCTION_ARGS)
{
	KanonPublication *publication = palloc0(sizeof(KanonPublication));
	Linked *linked = palloc0(sizeof(Linked));
	List *group;
	char *name = text_arg(fcinfo, ARG_SCHEMA, "name", "Name the schema in which readers will see the views.");
	char *known_rows = text_arg(fcinfo, ARG_KNOWN_ROWS, "known_rows", KNOWN_HINT);
	char *pseudonym = text_arg(fcinfo, ARG_PSEUDONYM, "pseudonym", PSEUDONYM_HINT);
	Jsonb *tables;
	Oid namespace;

	refuse_read_only(fcinfo);
	refuse_null(fcinfo, ARG_SUBJECT, "subject", "Name the table that has one row for each person.");
	refuse_null(fcinfo, ARG_TABLES, "tables", "It is an object with what to do with each table.");
	tables = jsonb_arg(fcinfo, ARG_TABLES);
	publication->extension = extension_schema(fcinfo);
	publication->caller = fcinfo->flinfo->fn_oid;
	publication->owner = GetUserId();
	publication->model = LINKED_MODEL;
	publication->k = class_size_arg(fcinfo, ARG_K);
	publication->keep_releases = keep_releases_arg(fcinfo, ARG_KEEP_RELEASES);
	publication->stable = bool_arg(fcinfo, ARG_STABLE, "stable");
	protection_take(publication, fcinfo, ARG_PROTECT);
	if (publication->protect_values)
		together_refuse(TOGETHER_VALUES_LINKED, NULL, NULL);
	linked_know(linked, known_rows);
	linked->k = publication->k;
	group_check_pseudonym(pseudonym);
	SPI_connect();
	linked_schema(linked, PG_GETARG_OID(ARG_SUBJECT), tables);
	namespace = check_names(publication, linked, name);
	take_definition(publication, linked, tables, known_rows, pseudonym);
	group = group_members(publication);
	if (group != NIL)
		publication->secret_of = ((KanonPublication *) linitial(group))->definition;
	publication_establish(publication, linked->tables[0].known, linked->tables[0].relid,
						  private_schema_arg(fcinfo, ARG_PRIVATE_SCHEMA, namespace));
	group_tell(publication, group);
	definition_tell(publication);
	SPI_finish();
	PG_RETURN_VOID();
}
