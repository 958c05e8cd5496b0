/*
 * linked_requests.c: the request of each table of a release.
 *
 * The subject's table is published as kanon_pattern_guided publishes it, with its key as a pseudonym beside
 * what is kept.  Tables on whose rows nobody is known by a key are published in the same way, persons counted.
 * Rows that hang on persons have a model of their own: row types are told apart by the person, too, and what
 * they show is solved for all tables together (linked_rows.c).
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/excerpt.h"
#include "linked/linked_histories.h"
#include "rows/source.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"

pg_noreturn static void
raise_column(const LinkedTable *table, const char *column, const char *what, const char *hint)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("column \"%s\" of table \"%s\" %s", column, excerpt(table->name), what),
					errhint("%s", hint)));
}

/* ---- lists of names, and masks ---- */

static bool
has_name(ArrayType *names, const char *name)
{
	int n = 0;
	char **all = names == NULL ? NULL : name_array(names, "keep", &n);

	for (int i = 0; i < n; i++)
		if (strcmp(all[i], name) == 0)
			return true;
	return false;
}

static ArrayType *
add_name(ArrayType *names, const char *name)
{
	int n = 0;
	char **all = names == NULL ? NULL : name_array(names, "keep", &n);
	const char **more = palloc(sizeof(char *) * (n + 1));

	if (has_name(names, name))
		return names;
	for (int i = 0; i < n; i++)
		more[i] = all[i];
	more[n] = name;
	return name_list(more, n + 1);
}

static Jsonb *
jsonb_of(const char *text)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)));
}

static bool
has_key(Jsonb *object, const char *name)
{
	JsonbValue key = {.type = jbvString, .val.string = {strlen(name), unconstify(char *, name)}};

	return object != NULL && JB_ROOT_IS_OBJECT(object) &&
		   findJsonbValueFromContainer(&object->root, JB_FOBJECT, &key) != NULL;
}

bool
linked_number(const LinkedTable *table)
{
	return table->key_type == INT8OID || table->key_type == INT4OID || table->key_type == INT2OID;
}

/*
 * Rows of protected persons are known by their numbers: a row that changes, and all that hangs on it, is another one.
 * It has another key, whether or not that of the source is the same.
 */
static bool
is_numbered(const LinkedTable *table)
{
	return table->role == LINKED_ROWS && table->of->histories != NULL;
}

const char *
linked_key_read(const LinkedTable *table)
{
	return is_numbered(table) ? HELD_ROW : table->key;
}

const char *
linked_parent_read(const LinkedTable *table)
{
	return is_numbered(table) && table->parent > 0 ? HELD_ABOVE : table->parent_column;
}

static void
number_keys(LinkedTable *table)
{
	if (table->parent > 0)
		table->request.linked.numbers = list_make1(table->parent_column);
	if (table->key != NULL && strcmp(table->key, table->parent_column) != 0)
		table->request.linked.numbers = lappend(table->request.linked.numbers, table->key);
}

/* Lasting keys go by the name that readers know, which the definition of a publication keeps. */
char *
linked_group(const Linked *linked, const LinkedTable *table)
{
	char *group = linked->grouped        ? name_relation(table->relid)
				  : linked->salt == NULL ? table->known
										 : psprintf("%s %s", name_relation(table->relid), linked->salt);

	/* (rows of protected persons have numbers of the publication) */
	if (is_numbered(table))
		return psprintf("%s row of %s", group, linked->publication);
	return group;
}

/* The column becomes a pseudonym of the key of a table.  The key of a person's only row is that of what it refers to. */
static void
mask_key(const Linked *linked, LinkedTable *table, const char *column, const LinkedTable *of)
{
	Request *request = &table->request;
	StringInfoData json;
	Jsonb *mask;

	while (of->role == LINKED_ROWS && of->key != NULL && strcmp(of->key, of->parent_column) == 0)
		of = &linked->tables[of->parent];
	if (has_key(request->columns.mask, column))
		raise_column(table, column, "is a key, which has a pseudonym already", "Leave it out of mask.");
	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	escape_json(&json, column);
	appendStringInfoString(&json, ": {\"pseudonym\": \"publication\", \"group\": ");
	escape_json(&json, linked_group(linked, of));
	appendStringInfo(&json, ", \"type\": \"%s\"}}", linked_number(of) ? "bigint" : "uuid");
	mask = jsonb_of(json.data);
	request->columns.mask =
		request->columns.mask == NULL
			? mask
			: DatumGetJsonbP(DirectFunctionCall2(jsonb_concat, JsonbPGetDatum(request->columns.mask),
												 JsonbPGetDatum(mask)));
	request->columns.keep = add_name(request->columns.keep, column);
	table->replaced = lappend(table->replaced, unconstify(char *, column));
}

/* The column is kept as it is, though it is a key. */
static void
keep_key(LinkedTable *table, const char *column)
{
	table->request.columns.keep = add_name(table->request.columns.keep, column);
	table->request.columns.allow_identifying = add_name(table->request.columns.allow_identifying, column);
}

bool
linked_answers(const LinkedTable *table, const char *column)
{
	return linked_lists(table, "allow_identifying", column);
}

/* ---- models ---- */

/* Rules are about the value of a row that somebody knows: persons are counted in each class of persons alone. */
static void
take_rules(Request *request)
{
	const Privacy *privacy = request->privacy;

	for (int r = 0; privacy != NULL && r < privacy->n; r++)
		if (privacy_about(privacy->words[r].kind) != PRIVACY_OF_VALUES)
			ereport(
				ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("rows of persons do not take the rule \"%s\"", privacy_sentence(&privacy->words[r])),
				 errhint("They take distinct l, entropy l, recursive (c,l), alpha and t-closeness; "
						 "persons are counted anyway.")));
	request->linked.rules = request->privacy;
	request->privacy = NULL;
}

static void
check_rows(Request *request)
{
	take_rules(request);
	request->recorded_method = "linked";
	request->solve_run = linked_release;
	request->residual = KANON_RESIDUAL_DROP;
}

static int
grouped_place(const Source *source, const char *name)
{
	int c = source->nqis;

	while (c < source->ngrouped - 1 && strcmp(source->qis[c].name, name) != 0)
		c++;
	return c;
}

static void
ready_rows(Run *run)
{
	LinkedTable *table = run->request->own;

	table->grouped.parent = grouped_place(run->source, linked_parent_read(table));
	if (table->is_parent)
		table->grouped.key = grouped_place(run->source, linked_key_read(table));
	if (table->joins.column != NULL)
		table->grouped.joins = grouped_place(run->source, table->joins.column);
	run->problem.nextra = run->source->ngrouped - run->source->nqis;
	run->problem.extra = run->types->grouped + run->source->nqis;
	run->problem.leaves_out = true;
}

const Model linked_model = {.name = "linked",
							.hint = "It has no methods.",
							.least_k = 1,
							.k_hint = "It counts persons.",
							.options = TAKES(KEEP) | TAKES(ALLOW_IDENTIFYING) | TAKES(MASK) | TAKES(WEIGHTS) |
									   TAKES(HIERARCHIES) | TAKES(LEVEL_COST) | TAKES(CATEGORICAL) |
									   TAKES(PRIVACY),
							.check = check_rows,
							.ready = ready_rows};

/* ---- requests ---- */

char *
linked_promise(const Linked *linked)
{
	return psprintf("for an attacker who knows the quasi-identifiers of a person, and of %s, " INT64_FORMAT
					" persons fit",
					linked_known_words(linked), linked->k);
}

/* Publications ask for those, and no call does; of histories, and of lookups, nobody does. */
static void
refuse_limits(const Linked *linked, const LinkedTable *table)
{
	OptionSet refused = linked->publication != NULL && table->role != LINKED_LOOKUP
							? TAKES(MAX_HELD) | TAKES(COUNT_ROWS)
							: OF_PUBLICATIONS;

	for (Option option = 0; option < OPTIONS; option++)
		if ((refused & UINT64CONST(1) << option) != 0 && has_key(table->options, option_name(option)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 linked->publication != NULL
						 ? errmsg("table \"%s\" has the option \"%s\", which a publication of several tables "
								  "does not have",
								  excerpt(table->name), option_name(option))
						 : errmsg("table \"%s\" has the option \"%s\", which is of publications",
								  excerpt(table->name), option_name(option)),
					 errhint("Leave it out.")));
}

/* The requests of a publication for each table. */
static void
fill_series(const Linked *linked, LinkedTable *table)
{
	Request *request = &table->request;
	JsonbValue name = {.type = jbvString, .val.string = {(int) strlen(table->known), table->known}};
	JsonbValue *bounds = NULL;

	request->publication = linked->publication;
	if (table->role == LINKED_SUBJECT)
		request->series = linked->series;
	/* (quasi-identifiers alone decide who stays in a class) */
	if (table->role == LINKED_SUBJECT && linked->histories == NULL)
		request->linked.person = table->key;
	if (linked->series.bounds != NULL && JB_ROOT_IS_OBJECT(linked->series.bounds))
		bounds = findJsonbValueFromContainer(&linked->series.bounds->root, JB_FOBJECT, &name);
	request->series.bounds = bounds != NULL && bounds->type == jbvBinary ? JsonbValueToJsonb(bounds) : NULL;
	/* it is asked of all tables together */
	request->series.definition = NULL;
	request->series.seen = NULL;
}

/* k counts persons: by a rule about the column that says who they are. */
static void
count_persons(LinkedTable *table)
{
	StringInfoData json;
	Datum rules;

	if (table->terms.max_rows > 0)
		raise_column(table, table->parent_column, "is not published, so that max_rows says nothing",
					 "Leave out \"max_rows\" where a table is not linked.");
	initStringInfo(&json);
	appendStringInfoString(&json, "[{\"rule\": \"subject\", \"column\": ");
	escape_json(&json, table->parent_column);
	appendStringInfoString(&json, "}]");
	rules = JsonbPGetDatum(jsonb_of(json.data));
	if (has_key(table->options, "privacy"))
		rules = DirectFunctionCall2(jsonb_concat,
									DirectFunctionCall2(jsonb_object_field, JsonbPGetDatum(table->options),
														CStringGetTextDatum("privacy")),
									rules);
	table->options = DatumGetJsonbP(DirectFunctionCall2(
		jsonb_concat, JsonbPGetDatum(table->options),
		JsonbPGetDatum(
			jsonb_of(psprintf("{\"privacy\": %s}", JsonbToCString(NULL, &DatumGetJsonbP(rules)->root, 0))))));
}

/* Costs that do not depend on rows: a class of a publication in which nothing has changed shows what it showed. */
static void
set_lasting_costs(const Linked *linked, LinkedTable *table)
{
	if (linked->publication == NULL || table->role != LINKED_ROWS || has_key(table->options, "level_cost"))
		return;
	table->options =
		DatumGetJsonbP(DirectFunctionCall2(jsonb_concat, JsonbPGetDatum(table->options),
										   JsonbPGetDatum(jsonb_of("{\"level_cost\": \"height\"}"))));
}

/* Values and other tables would have histories of their own. */
static void
refuse_unprotected(const Linked *linked, const LinkedTable *table)
{
	if (linked_is_spelled(linked, table))
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg(
				 "table \"%s\" refers to a key whose equal values may look different, which protect_successive does not look after",
				 excerpt(table->name)),
			 errhint("Give both columns another type or collation, or leave protect_successive out.")));
	if (table->parts.composed != NIL)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s\" has a key of several columns, which protect_successive does not look after",
					excerpt(table->name)),
			 errhint("Give it a key of one column, or leave protect_successive out.")));
	if (table->shared.any || table->shared.copied)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s\" has rows of several persons, which protect_successive does not look after",
					excerpt(table->name)),
			 errhint("Leave the table or protect_successive out.")));
	if (table->joins.column != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg(
				 "table \"%s\" has a second reference, \"%s\", which protect_successive does not look after",
				 excerpt(table->name), table->joins.column),
			 errhint("Take it out of \"keep\", or leave protect_successive out.")));
	if (table->reference != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg(
				 "table \"%s\" has columns of rows that refer to it, which protect_successive does not look after",
				 excerpt(table->name)),
			 errhint("Take \"quasi_identifiers\" of it or protect_successive out.")));
	if (table->role == LINKED_ALONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" is not linked, and protect_successive looks after rows of persons",
						excerpt(table->name)),
				 errhint("Publish it by a publication of its own.")));
	if (has_key(table->options, "privacy"))
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s\" has rules about its values, which protect_successive does not look after",
					excerpt(table->name)),
			 errhint("Leave \"privacy\" or protect_successive out.")));
}

/* Classes of persons do not take all options. */
static void
refuse_of_subject(const Request *request)
{
	if (request->guided.partition_by != NULL && request->privacy != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("the subject's table has rules about its values, which partition_by does not take here"),
			 errdetail("Those whom somebody finds who knows rows of a person keep the rules, too."),
			 errhint("Leave \"partition_by\" or \"privacy\" out.")));
	if (request->residual == KANON_RESIDUAL_SUPPRESS || privacy_k_map(request->privacy) ||
		request->guided.known_columns > 0 || request->guided.combinations != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("the subject's classes must have k persons each"),
			 errhint(
				 "Leave out residual 'suppress', known_columns, combinations, and rules that count persons of a "
				 "population.")));
}

static void
fill_request(Linked *linked, LinkedTable *table)
{
	static const Model *const roles[] = {&pattern_guided_model, &linked_model, &pattern_guided_model,
										 &lookup_model};
	Request *request = &table->request;
	char *promise = linked_promise(linked);

	table->of = linked;
	refuse_limits(linked, table);
	if (table->role == LINKED_ALONE)
		count_persons(table);
	set_lasting_costs(linked, table);
	memset(request, 0, sizeof(*request));
	request->k = table->role == LINKED_ROWS || table->role == LINKED_LOOKUP
					 ? 1
					 : Max(linked->k, table->terms.class_size);
	request->published = linked->publication != NULL;
	request->series.stable = table->role == LINKED_SUBJECT && linked->series.stable;
	request_of_json(request, roles[table->role], table->options);
	request->columns.keep = linked_together(table, request->columns.keep);
	if (linked->publication != NULL)
		fill_series(linked, table);
	request->function = "kanon_linked";
	request->caller = linked->caller;
	request->linked.border = linked->border;
	request->source = request->linked.named = table->relid;
	request->qis = table->qis != NULL ? table->qis : name_list(NULL, 0);
	request->target = psprintf("%s.%s", quote_identifier(linked->schema), quote_identifier(table->target));
	request->columns.mask_key = linked->secret;
	request->linked.promise = table->role == LINKED_SUBJECT || table->role == LINKED_ROWS ? promise : NULL;
	request->own = table->role == LINKED_ROWS || table->role == LINKED_LOOKUP ? table : request->own;
	if (is_numbered(table))
		number_keys(table);
	/* whose they are, and where others hang on them each row by itself */
	if (table->role == LINKED_ROWS)
		request->linked.told_apart =
			add_name(name_list((const char *const[]){linked_parent_read(table)}, 1),
					 table->is_parent ? linked_key_read(table) : linked_parent_read(table));
	if (table->joins.column != NULL)
		request->linked.told_apart = add_name(request->linked.told_apart, table->joins.column);
	/* (of rows below rows nobody counts here whose they are) */
	request->most_k = table->role == LINKED_ROWS && linked->tables[table->parent].role != LINKED_SUBJECT
						  ? PG_INT64_MAX
						  : linked->k;
	if (table->role == LINKED_ROWS && linked->histories != NULL)
		request->linked.told_apart = add_name(add_name(request->linked.told_apart, HELD_ROW), HELD_LEVELS);
	if (linked->histories != NULL)
		refuse_unprotected(linked, table);
	if (request->linked.rules != NULL && linked->m == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" has rules about its values, which known_rows 'all' does not take",
						excerpt(table->name)),
				 errhint("Promise known_rows 1 to 4, or leave \"privacy\" out.")));
	if (!request->seeded)
		request->seed = linked->seed;
	if (table->role == LINKED_SUBJECT)
		refuse_of_subject(request);
}

/* ---- keys ---- */

static void
refuse_keys(const LinkedTable *table)
{
	if (table->key != NULL && has_name(table->qis, table->key))
		raise_column(table, table->key, "is the primary key, and no quasi-identifier",
					 "Keys are published as pseudonyms by themselves.");
	if (table->parent_column != NULL && has_name(table->qis, table->parent_column))
		raise_column(table, table->parent_column, "says whose a row is, and is no quasi-identifier",
					 "Keys are published as pseudonyms by themselves.");
}

/* Columns that refer to other tables are published where they are named, and join where it is a lookup. */
static void
find_raw(Linked *linked, LinkedTable *table)
{
	ListCell *cell;

	foreach (cell, table->keys)
	{
		const LinkedKey *key = lfirst(cell);
		LinkedTable *to = &linked->tables[key->table];
		bool known = has_name(table->qis, key->column);

		if (linked_is_joined(table, key->column, key->table) && !known)
			continue;
		if (to->role != LINKED_LOOKUP && (known || has_name(table->request.columns.keep, key->column)))
			raise_column(
				table, key->column, "refers to another row of a person",
				known
					? "A key that joins is published as a pseudonym: name it in \"keep\", and not in \"quasi_identifiers\"."
					: "Leave it out: it would tell of two persons or rows that they belong together. A key joins that "
					  "refers to rows below those that \"foreign_key\" names.");
		if (to->role != LINKED_LOOKUP || !known)
			continue;
		if (has_key(table->request.columns.hierarchies, key->column))
			raise_column(table, key->column, "refers to a lookup, and has a hierarchy",
						 "Levels do not join: leave out the hierarchy, or the lookup.");
		to->raw = true;
	}
}

/* A column that refers to copies shows the key of the row itself, which its copy has. */
static void
refer_to_copies(Linked *linked, LinkedTable *table)
{
	for (int i = 0; i < linked->n; i++)
	{
		const LinkedTable *copies = &linked->tables[i];

		if (copies->reference == NULL || &linked->tables[copies->parent] != table)
			continue;
		if (has_name(table->qis, copies->reference))
			raise_column(table, copies->reference, "refers to a table whose columns somebody may know",
						 "Name quasi-identifiers of that table alone: its rows are columns of this one.");
		if (strcmp(copies->reference, table->key) == 0 ||
			(table->parent_column != NULL && strcmp(copies->reference, table->parent_column) == 0))
			raise_column(table, copies->reference, "is a key of two tables",
						 "Publish the two as one, in a view that joins them.");
		mask_key(linked, table, copies->reference, table);
		table->request.linked.referring = lappend(table->request.linked.referring, copies->reference);
		table->request.linked.key = table->key;
	}
}

static void
publish_keys(Linked *linked, LinkedTable *table)
{
	ListCell *cell;

	refer_to_copies(linked, table);

	foreach (cell, table->keys)
	{
		const LinkedKey *key = lfirst(cell);
		const LinkedTable *to = &linked->tables[key->table];

		if (!has_name(table->request.columns.keep, key->column))
			continue;
		if (to->raw)
			keep_key(table, key->column);
		else
			mask_key(linked, table, key->column, to);
	}
	if (table->role == LINKED_ALONE)
		return;
	if (table->role == LINKED_ROWS)
		mask_key(linked, table, table->parent_column, &linked->tables[table->parent]);
	/* (rows that are a person's only ones have one key of both) */
	if (table->key == NULL || (table->parent_column != NULL && strcmp(table->key, table->parent_column) == 0))
		return;
	if (table->raw)
		keep_key(table, table->key);
	else
		mask_key(linked, table, table->key, table);
}

/* The release of several tables, as the record of each of its runs has it. */
static Jsonb *
release_recorded(const Linked *linked, const LinkedTable *table)
{
	StringInfoData json;
	const char *before = "";
	ListCell *cell;

	initStringInfo(&json);
	appendStringInfo(&json, "{\"k\": " INT64_FORMAT ", \"known_rows\": ", linked->k);
	escape_json(&json, linked_known_text(linked));
	appendStringInfoString(&json, ", \"known\": ");
	escape_json(&json, linked_known_words(linked));
	appendStringInfoString(&json, ", \"subject\": ");
	escape_json(&json, name_relation(linked->tables[0].relid));
	appendStringInfo(&json, ", \"promised\": %s, \"keys\": [",
					 table->role == LINKED_SUBJECT || table->role == LINKED_ROWS ? "true" : "false");
	foreach (cell, table->replaced)
	{
		appendStringInfoString(&json, before);
		escape_json(&json, lfirst(cell));
		before = ", ";
	}
	appendStringInfoString(&json, "]}");
	return jsonb_of(json.data);
}

void
linked_record_worst(Linked *linked)
{
	const LinkedFound *found = &linked->found;
	Request *subject = &linked->tables[0].request;
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoString(&json, "{\"worst\": {");
	for (int i = 0; i < found->nworst && found->persons > 0; i++)
	{
		appendStringInfoString(&json, i > 0 ? ", " : "");
		escape_json(&json, found->worst[i].column);
		appendStringInfo(&json, ": {\"share\": %.17g, \"values\": " INT64_FORMAT "}", found->worst[i].share,
						 found->worst[i].values);
	}
	appendStringInfoString(&json, "}}");
	subject->linked.recorded = DatumGetJsonbP(DirectFunctionCall2(
		jsonb_concat, JsonbPGetDatum(subject->linked.recorded), JsonbPGetDatum(jsonb_of(json.data))));
}

void
linked_requests(Linked *linked)
{
	for (int i = 0; i < linked->n; i++)
	{
		refuse_keys(&linked->tables[i]);
		fill_request(linked, &linked->tables[i]);
	}
	for (int i = 0; i < linked->n; i++)
		find_raw(linked, &linked->tables[i]);
	for (int i = 0; i < linked->n; i++)
	{
		publish_keys(linked, &linked->tables[i]);
		linked->tables[i].request.linked.recorded = release_recorded(linked, &linked->tables[i]);
	}
}
