/*
 * publication.c: kanon_create_publication and kanon_drop_publication, and what a
 * definition must fulfil.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "host/gate.h"
#include "publication/appended.h"
#include "host/catalog.h"
#include "host/settings.h"
#include "rows/target.h"
#include "options/request.h"
#include "options/together.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "nodes/parsenodes.h"
#include "nodes/value.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "lib/stringinfo.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(kanon_create_publication);
PG_FUNCTION_INFO_V1(kanon_drop_publication);

enum
{
	ARG_NAME,
	ARG_SOURCE,
	ARG_QIS,
	ARG_K,
	ARG_OPTIONS,
	ARG_MODEL,
	ARG_KEEP_RELEASES,
	ARG_STABLE,
	ARG_PROTECT,
	ARG_KEY,
	ARG_PRIVATE_SCHEMA,
	ARG_APPEND,
	ARG_LAG, /* and the others of batches, in the order of appended_options */
	ARG_POLICY = ARG_LAG + 5
};

/* ---- arguments ---- */

void
publication_check_k(int64 k)
{
	if (k < 2 || k > PG_INT32_MAX)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("k must be at least 2%s", k < 2 ? "" : " and below 2147483648"),
						errhint("With k = 1 every row may stand alone, which protects nobody.")));
}

int64
class_size_arg(FunctionCallInfo fcinfo, int arg)
{
	refuse_null(fcinfo, arg, "k",
				"Every published combination will occur at least k times; 5 is a usual choice.");
	publication_check_k(PG_GETARG_INT64(arg));
	return PG_GETARG_INT64(arg);
}

int32
keep_releases_arg(FunctionCallInfo fcinfo, int arg)
{
	refuse_null(fcinfo, arg, "keep_releases",
				"It is how many releases are kept, the current one among them.");
	if (PG_GETARG_INT32(arg) < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("keep_releases must be at least 1"),
						errhint("The current release is one of them.")));
	return PG_GETARG_INT32(arg);
}

bool
says_nothing(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ||
		   ArrayGetNItems(ARR_NDIM(PG_GETARG_ARRAYTYPE_P(arg)), ARR_DIMS(PG_GETARG_ARRAYTYPE_P(arg))) == 0;
}

static bool
names_contain(ArrayType *array, const char *argument, const char *name)
{
	int n;
	char **names = name_array(array, argument, &n);

	for (int i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* "keep" of the options has the key. */
static bool
keeps(const KanonPublication *publication, const char *name)
{
	JsonbValue key = {.type = jbvString, .val.string = {.val = "keep", .len = 4}};
	JsonbValue *kept = findJsonbValueFromContainer(&publication->options->root, JB_FOBJECT, &key);
	JsonbValue wanted = {.type = jbvString,
						 .val.string = {.val = unconstify(char *, name), .len = strlen(name)}};

	return kept != NULL && kept->type == jbvBinary &&
		   findJsonbValueFromContainer(kept->val.binary.data, JB_FARRAY, &wanted) != NULL;
}

const Model *
definition_options(const KanonPublication *publication)
{
	const Model *model = model_find(publication->model);
	Request request = {.k = publication->k,
					   .series.stable = publication->stable || publication->protect_successive,
					   .published = true};

	request_of_json(&request, model, publication->options);
	return model;
}

/* Histories are of persons. */
static void
check_protection(const KanonPublication *publication)
{
	if ((publication->protect_successive || publication->protect_values) && publication->key == NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("protect_successive needs a key"),
			 errhint("Name the column that says who a row is about: key => 'column'. It is not published.")));
}

static void
check_key(const KanonPublication *publication, const Model *model)
{
	if (publication->key == NULL)
		return;
	if (!model_takes(model, OPTION_KEEP) || model->of_sets)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("model \"%s\" makes no classes, so it takes no key", publication->model),
			 errhint(
				 "Leave the key out, or take model 'cluster', 'full_domain', 'pattern_clustering', 'pattern_guided' or 'subtree'.")));
	if (names_contain(publication->qis, "quasi_identifiers", publication->key) ||
		keeps(publication, publication->key))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("the key column \"%s\" would be published", publication->key),
						errhint("The key says who a row is about: take it out of the other lists.")));
}

void
definition_check_stable(const KanonPublication *publication, const Model *model)
{
	check_protection(publication);
	if (publication->append != NULL || model->near != NULL ||
		(model->of_sets && !publication->stable && !publication->protect_successive))
		return;
	if (model->of_sets)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("model \"%s\" cannot keep unchanged rows together", publication->model),
			 errdetail("%s", model->no_near),
			 errhint(
				 "Write stable => false if no reader can keep several releases. A reader who keeps them can intersect the records that match a person in each.")));
	together_refuse(
		TOGETHER_FREEFORM_PUBLICATION, publication->model,
		psprintf(
			"%s A reader who keeps several releases can intersect the records that match a person in each.",
			model->no_near));
}

/* Does a mask of the options have pseudonyms that last? */
static bool
joins_releases(const KanonPublication *publication)
{
	JsonbIterator *it = JsonbIteratorInit(&publication->options->root);
	JsonbIteratorToken token;
	JsonbValue value;
	bool pseudonym = false;

	/* "pseudonym" is no name of another option, nor of what else has "publication" */
	while ((token = JsonbIteratorNext(&it, &value, false)) != WJB_DONE)
	{
		if (token == WJB_VALUE && pseudonym && value.type == jbvString &&
			strcmp(pnstrdup(value.val.string.val, value.val.string.len), "release") != 0)
			return true;
		pseudonym = token == WJB_KEY && value.val.string.len == 9 &&
					memcmp(value.val.string.val, "pseudonym", 9) == 0;
	}
	return false;
}

/* Is it about somebody who knows few columns, against whom histories are not protected? */
static bool
few_are_known(const KanonPublication *publication)
{
	static const char *const names[] = {"known_columns", "combinations"};

	for (int i = 0; i < lengthof(names); i++)
	{
		JsonbValue key = {.type = jbvString,
						  .val.string = {.val = unconstify(char *, names[i]), .len = (int) strlen(names[i])}};
		JsonbValue *value = findJsonbValueFromContainer(&publication->options->root, JB_FOBJECT, &key);

		if (value != NULL && value->type != jbvNull)
			return true;
	}
	return false;
}

void
definition_tell(const KanonPublication *publication)
{
	static const char *const keep_one = "Let no reader keep more than one release.";
	bool stays;

	if (publication->append != NULL)
	{
		appended_tell(publication, joins_releases(publication));
		return;
	}
	stays = publication_is_linked(publication) || model_find(publication->model)->near != NULL;

	if (publication->protect_values)
	{
		values_tell(publication);
		return;
	}
	if (!publication->stable && !(publication_is_linked(publication) && publication->protect_successive))
		ereport(
			WARNING,
			(errmsg("unchanged rows of publication %s may be separated", publication->name),
			 errdetail(
				 "A reader who keeps two releases and knows a person's class in both has to choose only among the persons who are in both classes."),
			 stays ? errhint("stable => true keeps unchanged rows together.") : errhint("%s", keep_one)));
	if (publication->protect_successive)
		;
	else if (publication_is_linked(publication))
		linked_definition_tell(publication);
	else
		ereport(
			NOTICE,
			(errmsg("readers who keep releases of publication %s can tell what changes", publication->name),
			 errdetail(
				 "The difference of two releases is the rows that came, left or changed, each with its class and kept values."),
			 stays && !few_are_known(publication)
				 ? errhint("protect_successive => true looks after these rows; kanon_publication_status "
						   "tells the smallest difference.")
				 : errhint("%s", keep_one)));
	if (joins_releases(publication))
		ereport(
			NOTICE,
			(errmsg("pseudonyms that last join the releases of publication %s", publication->name),
			 errdetail(
				 "A reader who keeps them sees each person's class in every release. A person who moves can be alone in the pair of classes."),
			 errhint("{\"pseudonym\": \"release\"} has other pseudonyms in each release.")));
}

void
definition_check(const KanonPublication *publication)
{
	const Model *model = definition_options(publication);

	check_protection(publication);
	check_key(publication, model);
	appended_check(publication);
	values_check(publication);
	definition_check_stable(publication, model);
}

void
key_check(const char *key, Oid source)
{
	AttrNumber attnum;

	if (key == NULL)
		return;
	attnum = get_attnum(source, key);
	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("the key column \"%s\" does not exist", key),
				 errhint("%s", nearest_column(source, key,
											  "Names are taken exactly as written, capitals included."))));
	/* persons are known by it for as long as releases are kept: its owner could alter what it is made of */
	if (type_shape(get_atttype(source, attnum)) != 0)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("the key column \"%s\" is of composite type %s", key,
							   format_type_be(get_atttype(source, attnum))),
						errhint("Take one of its fields, or several in a text, by a view.")));
}

/* ---- create ---- */

Oid
private_schema_arg(FunctionCallInfo fcinfo, int arg, Oid published)
{
	char *name;
	Oid namespace;

	if (PG_ARGISNULL(arg))
		return published;
	name = NameStr(*PG_GETARG_NAME(arg));
	(void) relation_to_create(quote_qualified_identifier(name, "any"), "publication", &namespace);
	return namespace;
}

char *
publication_new_name(const char *name, Oid source, char **bare, Oid *namespace)
{
	char *qualified;
	Oid existing;

	*bare = relation_to_create(name, "publication", namespace);
	qualified = quote_qualified_identifier(name_schema(*namespace), *bare);
	lock_name(*namespace, *bare);
	existing = get_relname_relid(*bare, *namespace);
	/* first: nobody is told to drop it */
	if (OidIsValid(existing) && relation_reads(source, existing))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE), errmsg("publication %s is what the source reads", qualified),
				 errhint("Choose another name or schema; the source itself is never changed.")));
	if (OidIsValid(existing))
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE), errmsg("relation %s already exists", qualified),
						errhint("Choose another name for the publication, or drop what has it.")));
	if (isAnyTempNamespace(*namespace))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a publication cannot be temporary"),
						errhint("Choose another schema.")));
	return qualified;
}

typedef struct Establishing
{
	KanonPublication *publication;
	Release *release;
} Establishing;

static void
establish(void *arg)
{
	const Establishing *establishing = arg;

	release_build(establishing->publication, establishing->release, NIL);
}

/* The k may be left to the policy. */
static bool
policy_names_k(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(ARG_K) && !PG_ARGISNULL(ARG_POLICY);
}

/* The owner's own relations alone are told of: nobody who names one sees what stands below it. */
void
publication_tell_strangers(const KanonPublication *publication, Oid source)
{
	ArrayType *listed = relations_listed(publication->options);
	int n = ArrayGetNItems(ARR_NDIM(listed), ARR_DIMS(listed));
	List *relids = list_make1_oid(source);
	bool named = false;
	StringInfoData told;
	ListCell *lc;

	for (int i = 0; i < n; i++)
		relids = list_append_unique_oid(relids, ((const Oid *) ARR_DATA_PTR(listed))[i]);
	initStringInfo(&told);
	foreach (lc, publication->strangers ? relids : NIL)
	{
		Oid relid = lfirst_oid(lc);
		const char *why = OidIsValid(relid) ? relation_mistrusted(relid) : NULL;

		named = named || why != NULL;
		if (why != NULL && kanon_owns_relation(relid, publication->owner))
			appendStringInfo(&told, "%sRelation %s: %s.", told.len > 0 ? " " : "", relation_name(relid), why);
	}
	/* (a table's own queries are kanon's: what they call, it calls) */
	named = named || get_rel_relkind(source) != RELKIND_VIEW;
	if (publication->strangers && (told.len > 0 || !named))
		ereport(
			NOTICE,
			(errmsg("publication %s reads what other roles can change", publication->name),
			 told.len > 0 ? errdetail("%s", told.data) : errdetail("A function that it calls leads to it."),
			 errhint("Each refresh may run their code with your rights. SET kanon.read_strangers = off "
					 "before the call to have that refused.")));
}

void
publication_establish(KanonPublication *publication, const char *name, Oid source, Oid schema)
{
	Release release = {.number = 1, .status = RELEASE_CURRENT, .started = GetCurrentTimestamp()};
	Identity saved;
	Establishing establishing = {publication, &release};
	bool accepted = kanon_read_strangers;

	publication->strangers = accepted && names_strangers(source, publication->options);
	identity_assume(publication, &saved);
	publication_create_tables(publication, name, schema);
	source_view_create(publication, source, name, schema);
	if (publication->append != NULL)
		appended_create(publication, name, schema);
	/* the first release has masks by the key that is stored */
	publication_store(publication);
	progress_publication(publication->name, publication->owner);
	trust_named(accepted ? &publication->strangers : NULL, establish, &establishing);
	release.finished = GetCurrentTimestamp();
	publication_store(publication);
	release_add(publication, &release);
	publication_tell_strangers(publication, source);
	identity_return(&saved);
}

/*
 * kanon_create_publication(name text, source regclass, quasi_identifiers name[], k bigint, options jsonb,
 * model text, keep_releases int, stable boolean, protect_successive kanon_protection, key name, private_schema name,
 * append name, lag interval, min_batch bigint, max_batch bigint, hold text, expire interval, policy text)
 */
Datum
kanon_create_publication(PG_FUNCTION_ARGS)
{
	KanonPublication *publication = palloc0(sizeof(KanonPublication));
	const Model *model;
	char *name;
	Oid source, namespace, schema;

	refuse_read_only(fcinfo);
	name = text_arg(fcinfo, ARG_NAME, "name", "Name the view that readers will see.");
	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table or view to publish.");
	source = PG_GETARG_OID(ARG_SOURCE);
	publication->extension = extension_schema(fcinfo);
	publication->caller = fcinfo->flinfo->fn_oid;
	publication->owner = GetUserId();
	publication->k = policy_names_k(fcinfo) ? 2 : class_size_arg(fcinfo, ARG_K);
	publication->model = text_arg(fcinfo, ARG_MODEL, "model", "'pattern_guided' is the default.");
	refuse_null(fcinfo, ARG_OPTIONS, "options", "'{}' is the default.");
	publication->options = relations_resolved(PG_GETARG_JSONB_P(ARG_OPTIONS), NULL);
	publication->keep_releases = keep_releases_arg(fcinfo, ARG_KEEP_RELEASES);
	publication->stable = bool_arg(fcinfo, ARG_STABLE, "stable");
	protection_take(publication, fcinfo, ARG_PROTECT);
	if (!PG_ARGISNULL(ARG_APPEND))
	{
		publication->append = pstrdup(NameStr(*PG_GETARG_NAME(ARG_APPEND)));
		/* (nothing that is shown moves) */
		publication->stable = false;
	}
	if (!PG_ARGISNULL(ARG_KEY))
		publication->key = pstrdup(NameStr(*PG_GETARG_NAME(ARG_KEY)));

	SPI_connect();
	publication->options = appended_options(publication->options, fcinfo, ARG_LAG);
	publication->name = publication_new_name(name, PG_GETARG_OID(ARG_SOURCE), &name, &namespace);
	schema = private_schema_arg(fcinfo, ARG_PRIVATE_SCHEMA, namespace);
	model = definition_options(publication);
	publication->qis = says_nothing(fcinfo, ARG_QIS) ? labels_read(source, model, &publication->options)
													 : PG_GETARG_ARRAYTYPE_P(ARG_QIS);
	(void) source_open_columns(source, publication->qis, "quasi_identifiers");
	if (policy_names_k(fcinfo))
		publication->k = 0;
	policy_apply(publication, source,
				 PG_ARGISNULL(ARG_POLICY) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(ARG_POLICY)));
	definition_check(publication);
	key_check(publication->key, source);

	publication_establish(publication, name, source, schema);
	/* (its options may be SPI's memory) */
	definition_tell(publication);
	SPI_finish();
	PG_RETURN_VOID();
}

/* ---- drop ---- */

void
drop_relations(const char *kind, List *relids)
{
	StringInfoData names;
	ListCell *lc;

	initStringInfo(&names);
	foreach (lc, relids)
	{
		char *name = relation_name(lfirst_oid(lc));

		if (name != NULL)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", name);
	}
	if (names.len > 0)
		run_utility(psprintf("DROP %s %s", kind, names.data));
}

/* kanon_drop_publication(publication text) */
Datum
kanon_drop_publication(PG_FUNCTION_ARGS)
{
	char *name = text_arg(fcinfo, 0, "publication", "See kanon_publications.");
	Oid extension = extension_schema(fcinfo);
	KanonPublication *publication;
	List *history, *views = NIL, *rows = NIL, *source = NIL, *told = NIL;
	ListCell *lc;
	Identity saved;

	refuse_read_only(fcinfo);
	publication = publication_find(extension, name, owned_by_caller);
	(void) publication_lock(publication, true);
	publication = publication_find(extension, name, owned_by_caller);
	history = releases(publication, NULL);
	identity_assume(publication, &saved);
	SPI_connect();
	foreach (lc, publication_objects(publication, history))
	{
		const PublicationObject *object = lfirst(lc);
		List **among = object->part == PART_VIEW                        ? &views
					   : object->part != PART_OWNER                     ? &rows
					   : get_rel_relkind(object->relid) == RELKIND_VIEW ? &source
																		: &told;

		*among = lappend_oid(*among, object->relid);
	}
	drop_relations("VIEW", views);
	/* where a damaged history names the source as one of them, the view of it still stands in the way */
	drop_relations("TABLE", rows);
	drop_relations("VIEW", source);
	drop_relations("TABLE", told);
	SPI_finish();
	identity_return(&saved);
	PG_RETURN_VOID();
}
