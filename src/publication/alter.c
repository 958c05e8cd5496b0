/*
 * alter.c: kanon_alter_publication: a definition is changed as carefully as it was made.
 *
 * A change that shapes releases is tried before it is stored: a release is made as the
 * next refresh would make it, checked, and undone.
 */
#include "compat.h"
#include "host/attempt.h"
#include "host/catalog.h"
#include "host/settings.h"
#include "host/excerpt.h"
#include "options/request.h"
#include "options/together.h"
#include "publication/appended.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(kanon_alter_publication);

enum
{
	ALTER_NAME,
	ALTER_QIS,
	ALTER_K,
	ALTER_OPTIONS,
	ALTER_MODEL,
	ALTER_KEEP_RELEASES,
	ALTER_STABLE,
	ALTER_PROTECT,
	ALTER_KEY,
	ALTER_SET_OPTIONS,
	ALTER_DROP_OPTIONS,
	ALTER_DRY_RUN,
	ALTER_SOLVE,
	ALTER_RENEW_BOUNDS
};

/*
 * Persons are compared by their keys: with another column than before one number or
 * name would mean two persons.
 */
static void
set_key(KanonPublication *publication, const char *key)
{
	ListCell *lc;

	if (key[0] == '\0')
	{
		publication->key = NULL;
		return;
	}
	if (publication->key != NULL && strcmp(publication->key, key) == 0)
		return;
	foreach (lc, releases(publication, NULL))
		if (OidIsValid(((Release *) lfirst(lc))->persons))
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
							errmsg("the releases that are kept know their persons by another key"),
							errhint("Take the key away by key => '', refresh until those are gone, and then "
									"name another one; or create the publication anew.")));
	publication->key = pstrdup(key);
}

/* ---- options ---- */

static void
need_object(Jsonb *options, const char *name)
{
	if (!JB_ROOT_IS_OBJECT(options))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be a JSON object", name),
						errhint("Write it like '{\"method\": \"best\"}'.")));
}

static JsonbValue *
find_option(Jsonb *options, const char *name, int length)
{
	JsonbValue key = {.type = jbvString, .val.string = {.val = unconstify(char *, name), .len = length}};

	return findJsonbValueFromContainer(&options->root, JB_FOBJECT, &key);
}

static Jsonb *
drop_options(Jsonb *options, ArrayType *dropped)
{
	int n;
	char **names = name_array(dropped, "drop_options", &n);

	need_object(options, "options");
	for (int i = 0; i < n; i++)
	{
		if (find_option(options, names[i], strlen(names[i])) == NULL)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("drop_options names \"%s\", which the publication does not have",
								   excerpt(names[i])),
							errhint("See the column options of kanon_publications.")));
		options = DatumGetJsonbP(
			DirectFunctionCall2(jsonb_delete, JsonbPGetDatum(options), CStringGetTextDatum(names[i])));
	}
	return options;
}

static Jsonb *
set_options(Jsonb *options, Jsonb *set)
{
	need_object(options, "options");
	need_object(set, "set_options");
	return DatumGetJsonbP(DirectFunctionCall2(jsonb_concat, JsonbPGetDatum(options), JsonbPGetDatum(set)));
}

/* All of them anew, or first those that go and then those that come. */
static void
change_options(KanonPublication *publication, FunctionCallInfo fcinfo)
{
	if (!PG_ARGISNULL(ALTER_OPTIONS) &&
		!(PG_ARGISNULL(ALTER_SET_OPTIONS) && PG_ARGISNULL(ALTER_DROP_OPTIONS)))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("options cannot be given beside set_options or drop_options"),
			 errhint("options says all options anew; set_options and drop_options change those there are.")));
	if (!PG_ARGISNULL(ALTER_OPTIONS))
		publication->options = relations_resolved(PG_GETARG_JSONB_P(ALTER_OPTIONS), NULL);
	if (!PG_ARGISNULL(ALTER_DROP_OPTIONS))
		publication->options = drop_options(publication->options, PG_GETARG_ARRAYTYPE_P(ALTER_DROP_OPTIONS));
	if (!PG_ARGISNULL(ALTER_SET_OPTIONS))
		publication->options =
			set_options(publication->options, relations_resolved(PG_GETARG_JSONB_P(ALTER_SET_OPTIONS), NULL));
}

/* ---- what has changed, in words ---- */

typedef struct Changes
{
	StringInfoData text;
	bool release; /* something that shapes releases, or what is asked of them */
} Changes;

static void
add_change(Changes *changes, const char *text, bool release)
{
	appendStringInfo(&changes->text, "%s%s", changes->text.len > 0 ? "; " : "", text);
	changes->release = changes->release || release;
}

static void
compare_text(Changes *changes, const char *name, const char *before, const char *after, bool release)
{
	before = before != NULL ? before : "none";
	after = after != NULL ? after : "none";
	if (strcmp(before, after) != 0)
		add_change(changes, psprintf("%s: %s, was %s", name, after, before), release);
}

static const char *
bool_text(bool value)
{
	return value ? "true" : "false";
}

static char *
number_text(int64 number)
{
	return psprintf(INT64_FORMAT, number);
}

static char *
names_text(ArrayType *names)
{
	StringInfoData text;
	int n;
	char **name = name_array(names, "quasi_identifiers", &n);

	initStringInfo(&text);
	for (int i = 0; i < n; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? ", " : "", quote_identifier(name[i]));
	return text.data;
}

static bool
same_value(const JsonbValue *a, const JsonbValue *b)
{
	return compareJsonbContainers(&JsonbValueToJsonb(unconstify(JsonbValue *, a))->root,
								  &JsonbValueToJsonb(unconstify(JsonbValue *, b))->root) == 0;
}

/*
 * Names of the options that one has and the other has not; or (changed) that both have
 * with different values.  No value: an option may list some of the source.
 */
static char *
option_names(Jsonb *these, Jsonb *those, bool changed)
{
	JsonbIterator *it = JsonbIteratorInit(&these->root);
	JsonbIteratorToken token;
	JsonbValue key, value;
	StringInfoData names;

	initStringInfo(&names);
	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
	{
		JsonbValue *other;

		if (token != WJB_KEY)
			continue;
		(void) JsonbIteratorNext(&it, &value, true);
		other = find_option(those, key.val.string.val, key.val.string.len);
		if (changed ? other != NULL && !same_value(&value, other) : other == NULL)
			appendStringInfo(&names, "%s%.*s", names.len > 0 ? ", " : "", key.val.string.len,
							 key.val.string.val);
	}
	return names.data;
}

static void
compare_options(Changes *changes, Jsonb *before, Jsonb *after)
{
	const struct
	{
		const char *what;
		char *names;
	} lists[] = {{"added", option_names(after, before, false)},
				 {"changed", option_names(after, before, true)},
				 {"dropped", option_names(before, after, false)}};

	for (int i = 0; i < lengthof(lists); i++)
		if (lists[i].names[0] != '\0')
			add_change(changes, psprintf("options %s: %s", lists[i].what, lists[i].names), true);
}

static Changes
find_changes(const KanonPublication *before, const KanonPublication *after)
{
	Changes changes = {.release = false};

	initStringInfo(&changes.text);
	compare_text(&changes, "quasi_identifiers", names_text(before->qis), names_text(after->qis), true);
	compare_text(&changes, "k", number_text(before->k), number_text(after->k), true);
	compare_text(&changes, "model", before->model, after->model, true);
	compare_options(&changes, before->options, after->options);
	compare_text(&changes, "keep_releases", number_text(before->keep_releases),
				 number_text(after->keep_releases), false);
	compare_text(&changes, "stable", bool_text(before->stable), bool_text(after->stable), true);
	compare_text(&changes, "protect_successive", protection_word(before), protection_word(after), true);
	compare_text(&changes, "key", before->key, after->key, true);
	if (before->bounds != NULL && after->bounds == NULL)
		add_change(&changes, "bounds of hierarchies are drawn anew", true);
	return changes;
}

/* ---- trying and storing ---- */

typedef struct Alteration
{
	KanonPublication *publication;
	bool solve;
	bool outline; /* not that, but what can be tried without rows */
	bool named;   /* what options name is named anew: what it runs of others is accepted */
} Alteration;

static void
alter_of_one_table(KanonPublication *publication, FunctionCallInfo fcinfo, Oid source)
{
	const Model *model = definition_options(publication);

	if (!PG_ARGISNULL(ALTER_QIS))
		publication->qis = says_nothing(fcinfo, ALTER_QIS) ? labels_read(source, model, &publication->options)
														   : PG_GETARG_ARRAYTYPE_P(ALTER_QIS);
	policy_apply(publication, source, NULL);
	definition_check(publication);
}

/* Options of each of several tables are in "tables" of the options. */
static void
refuse_of_one_table(FunctionCallInfo fcinfo)
{
	static const struct
	{
		int argument;
		const char *name;
	} refused[] = {{ALTER_QIS, "quasi_identifiers"}, {ALTER_MODEL, "model"}, {ALTER_KEY, "key"}};

	for (int i = 0; i < lengthof(refused); i++)
		if (!PG_ARGISNULL(refused[i].argument))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("a publication of several tables has no %s", refused[i].name),
					 errhint("Say what becomes of each table by set_options => '{\"tables\": {...}}'.")));
}

/* Rows that are held back are published as last time: what decides about them stays, while their histories last. */
static void
refuse_other_histories(const KanonPublication *before, const KanonPublication *after)
{
	if (before->protect_successive && after->protect_successive &&
		(before->k != after->k || after->bounds != before->bounds ||
		 compareJsonbContainers(&before->options->root, &after->options->root) != 0))
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("k and the options of several tables stay while their histories are protected"),
			 errhint(
				 "Begin new histories: say protect_successive => false with the change, refresh, and then true "
				 "again. Readers who keep releases can compare those before.")));
}

/* The private table of one way to protect says nothing to the other. */
static void
refuse_other_protection(const KanonPublication *before, const KanonPublication *after)
{
	if (after->protect_values && publication_is_linked(after))
		together_refuse(TOGETHER_VALUES_LINKED, NULL, NULL);
	if (!(before->protect_successive && after->protect_values) &&
		!(before->protect_values && after->protect_successive))
		return;
	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 errmsg("publication %s is protected in another way", after->name),
		 errdetail("What is kept of its persons is for protect_successive => '%s'.", protection_word(before)),
		 errhint("Say protect_successive => false, refresh, and then '%s'. Readers who keep releases can "
				 "compare those before.",
				 protection_word(after))));
}

/* As the next refresh would, but for the view, which readers have. */
static void
make_release(void *arg)
{
	KanonPublication *publication = arg;
	Release release = {.status = RELEASE_CURRENT, .started = GetCurrentTimestamp()};
	List *before = releases(publication, &release.number);

	if (release.number < PG_INT64_MAX)
		release.number++;
	SPI_connect();
	release_make(publication, &release, before, false);
	if (publication->append != NULL)
	{
		if (release.status != RELEASE_UNCHANGED)
			appended_attach(publication, &release);
		SPI_finish();
		return;
	}
	view_check(publication, release.relation);
	linked_views_check(publication, &release);
	SPI_finish();
}

static void
try_release(void *publication)
{
	rehearse(make_release, publication);
}

/* No row is read: it tries whether the release has the columns that readers and histories have. */
static void
make_outline(void *arg)
{
	KanonPublication *publication = arg;
	Release release = {.status = RELEASE_CURRENT, .started = GetCurrentTimestamp()};
	List *before = releases(publication, &release.number);

	if (release.number < PG_INT64_MAX)
		release.number++;
	SPI_connect();
	release_outline(publication, &release, before);
	view_check(publication, release.relation);
	SPI_finish();
}

static void
try_outline(void *publication)
{
	rehearse(make_outline, publication);
}

static void
store(void *arg)
{
	const Alteration *alteration = arg;
	KanonPublication *publication = alteration->publication;
	bool strangers = publication->strangers;

	source_view_renew(publication, name_bare(publication->published),
					  get_rel_namespace(publication->definition));
	(void) source_open_columns(publication->source, publication->qis, "quasi_identifiers");
	key_check(publication->key, publication->source);
	publication_store(publication);
	CommandCounterIncrement();
	if (!alteration->solve && !alteration->outline)
		return;
	trust_named(alteration->named ? &publication->strangers : NULL,
				alteration->solve ? try_release : try_outline, publication);
	if (publication->strangers != strangers)
		publication_store(publication);
}

/*
 * kanon_alter_publication(publication text, quasi_identifiers name[], k bigint, options jsonb, model text,
 * keep_releases int, stable boolean, protect_successive kanon_protection, key name, set_options jsonb,
 * drop_options name[], dry_run boolean, solve boolean, renew_bounds boolean): NULL leaves as it is.
 */
Datum
kanon_alter_publication(PG_FUNCTION_ARGS)
{
	char *name = text_arg(fcinfo, ALTER_NAME, "publication", "See kanon_publications.");
	bool dry_run = bool_arg(fcinfo, ALTER_DRY_RUN, "dry_run");
	bool solve = bool_arg(fcinfo, ALTER_SOLVE, "solve");
	Oid extension = extension_schema(fcinfo);
	KanonPublication *publication, before;
	Alteration alteration;
	Changes changes;
	Identity saved;
	Oid source;

	refuse_read_only(fcinfo);
	publication = publication_claim(publication_find(extension, name, owned_by_caller), true);
	alteration = (Alteration){.publication = publication};
	publication->caller = fcinfo->flinfo->fn_oid;
	if (publication_is_linked(publication))
		refuse_of_one_table(fcinfo);
	publication->options =
		relations_followed(publication->options, publication->relations, publication->owner);
	before = *publication;
	source = source_of(publication);
	if (!PG_ARGISNULL(ALTER_K))
		publication->k = class_size_arg(fcinfo, ALTER_K);
	change_options(publication, fcinfo);
	publication->relations = relations_listed(publication->options);
	if (!PG_ARGISNULL(ALTER_MODEL))
		publication->model = text_to_cstring(PG_GETARG_TEXT_PP(ALTER_MODEL));
	if (!PG_ARGISNULL(ALTER_KEEP_RELEASES))
		publication->keep_releases = keep_releases_arg(fcinfo, ALTER_KEEP_RELEASES);
	if (!PG_ARGISNULL(ALTER_STABLE))
		publication->stable = PG_GETARG_BOOL(ALTER_STABLE);
	if (!PG_ARGISNULL(ALTER_PROTECT))
		protection_take(publication, fcinfo, ALTER_PROTECT);
	if (bool_arg(fcinfo, ALTER_RENEW_BOUNDS, "renew_bounds"))
		publication->bounds = NULL;
	if (!PG_ARGISNULL(ALTER_KEY))
		set_key(publication, NameStr(*PG_GETARG_NAME(ALTER_KEY)));

	refuse_other_protection(&before, publication);
	if (publication_is_linked(publication))
	{
		linked_alter(publication, before.options);
		refuse_other_histories(&before, publication);
	}
	/* nobody else takes that upon the owner */
	if (GetUserId() == publication->owner &&
		!(PG_ARGISNULL(ALTER_OPTIONS) && PG_ARGISNULL(ALTER_SET_OPTIONS)))
	{
		alteration.named = kanon_read_strangers;
		publication->strangers = alteration.named && names_strangers(source, publication->options);
	}
	identity_assume(publication, &saved);
	SPI_connect();
	if (!publication_is_linked(publication))
		alter_of_one_table(publication, fcinfo, source);
	changes = find_changes(&before, publication);
	alteration.solve = solve && (changes.release || alteration.named);
	alteration.outline = !solve && changes.release && publication->append == NULL &&
						 !publication_is_linked(publication) && model_find(publication->model)->steps == NULL;
	if (publication->protect_successive && before.protect_successive && publication->k > before.k)
		ereport(NOTICE, (errmsg("releases of publication %s that were shown keep their k", publication->name),
						 errdetail("k is " INT64_FORMAT " from the next release on. Readers who keep earlier "
								   "releases see the classes of these, and histories of " INT64_FORMAT
								   " persons and more go on as they are.",
								   publication->k, before.k),
						 errhint("Create the publication anew where that is too few.")));
	if ((publication->protect_successive && !before.protect_successive) ||
		(publication->protect_values && !before.protect_values))
		ereport(NOTICE,
				(errmsg("publication %s is protected from its next release on", publication->name),
				 errdetail("A reader who keeps earlier releases can compare them with all later ones."),
				 errhint("Create the publication anew to protect all that it shows.")));
	if (publication->append != NULL && publication->k != before.k)
		ereport(NOTICE, (errmsg("batches of publication %s that were shown keep their k", publication->name),
						 errdetail("k is " INT64_FORMAT " from the next batch on.", publication->k),
						 errhint("kanon_refresh(..., anew => true) makes all of them anew.")));
	if (dry_run)
		rehearse(store, &alteration);
	else
		store(&alteration);
	if (alteration.named)
		publication_tell_strangers(publication, source);
	if (changes.text.len == 0)
		ereport(NOTICE, (errmsg("publication %s is as it was", publication->name)));
	else
		ereport(NOTICE, (errmsg(dry_run ? "publication %s would change" : "publication %s has changed",
								publication->name),
						 errdetail("%s.", changes.text.data)));
	identity_return(&saved);
	/* (the options may be SPI's memory) */
	if (before.stable != publication->stable ||
		before.protect_successive != publication->protect_successive ||
		before.protect_values != publication->protect_values ||
		compareJsonbContainers(&before.options->root, &publication->options->root) != 0)
		definition_tell(publication);
	SPI_finish();
	PG_RETURN_VOID();
}
