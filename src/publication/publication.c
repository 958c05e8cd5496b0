/*
 * publication.c: kanon_create_publication, kanon_alter_publication and
 * kanon_drop_publication.
 */
#include "compat.h"
#include "host/nearest.h"
#include "publication/publication.h"
#include "host/catalog.h"
#include "host/progress.h"
#include "write/target.h"
#include "run/args.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "nodes/parsenodes.h"
#include "nodes/value.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(kanon_create_publication);
PG_FUNCTION_INFO_V1(kanon_alter_publication);
PG_FUNCTION_INFO_V1(kanon_drop_publication);

enum
{
	ARG_NAME,
	ARG_SOURCE,
	ARG_QIS,
	ARG_K,
	ARG_OPTIONS,
	ARG_SOLVER,
	ARG_KEEP_RELEASES,
	ARG_STABLE,
	ARG_PROTECT,
	ARG_KEY,
	ARG_PRIVATE_SCHEMA
};

enum
{
	ALTER_NAME,
	ALTER_QIS,
	ALTER_K,
	ALTER_OPTIONS,
	ALTER_SOLVER,
	ALTER_KEEP_RELEASES,
	ALTER_STABLE,
	ALTER_PROTECT,
	ALTER_KEY
};

/* The solver that stays near the release before. */
#define STABLE_SOLVER "pattern_guided"

/* ---- arguments ---- */

void
publication_check_k(int64 k)
{
	if (k < 2 || k > PG_INT32_MAX)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("k must be at least 2%s", k < 2 ? "" : " and below 2147483648"),
						errhint("With k = 1 every row may stand alone, which protects nobody.")));
}

static int64
class_size_arg(FunctionCallInfo fcinfo, int arg)
{
	refuse_null(fcinfo, arg, "k",
				"Every published combination will occur at least k times; 5 is a usual choice.");
	publication_check_k(PG_GETARG_INT64(arg));
	return PG_GETARG_INT64(arg);
}

static int32
keep_releases_arg(FunctionCallInfo fcinfo, int arg)
{
	refuse_null(fcinfo, arg, "keep_releases",
				"It is how many releases are kept, the current one among them.");
	if (PG_GETARG_INT32(arg) < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("keep_releases must be at least 1"),
						errhint("The current release is one of them.")));
	return PG_GETARG_INT32(arg);
}

/* True for NULL and '{}': the labels say. */
static bool
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

/* Raises what is wrong with the options of the solver; returns this. */
static const Model *
check_options(const KanonPublication *publication)
{
	const Model *model = model_find(publication->solver);
	Request request = {.k = publication->k};

	request_of_json(&request, model, publication->options);
	return model;
}

/* What a definition must fulfil, new or changed. */
static void
check_definition(const KanonPublication *publication)
{
	const Model *model = check_options(publication);

	if (publication->stable && strcmp(publication->solver, STABLE_SOLVER) != 0)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("solver \"%s\" cannot stay near the release before", publication->solver),
						errhint("stable => true needs solver '" STABLE_SOLVER "'.")));
	if (publication->protect_successive && publication->key == NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("protect_successive needs a key"),
			 errhint("Name the column that says who a row is about: key => 'column'. It is not published.")));
	if (publication->key == NULL)
		return;
	if (!model_takes(model, OPTION_KEEP) || model->of_sets)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("solver \"%s\" cannot tell who is in which class", publication->solver),
			 errhint(
				 "A key needs classes: solver 'cluster', 'full_domain', 'pattern_clustering' or 'pattern_guided'.")));
	if (names_contain(publication->qis, "quasi_identifiers", publication->key) ||
		keeps(publication, publication->key))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("the key column \"%s\" would be published", publication->key),
						errhint("The key says who a row is about: take it out of the other lists.")));
}

static void
check_key(const char *key, Oid source)
{
	if (key != NULL && get_attnum(source, key) <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("the key column \"%s\" does not exist", key),
				 errhint("%s", nearest_column(source, key,
											  "Names are taken exactly as written, capitals included."))));
}

/* ---- create ---- */

static Oid
private_schema(FunctionCallInfo fcinfo, Oid published)
{
	char *name;
	Oid namespace;

	if (PG_ARGISNULL(ARG_PRIVATE_SCHEMA))
		return published;
	name = NameStr(*PG_GETARG_NAME(ARG_PRIVATE_SCHEMA));
	(void) relation_to_create(quote_qualified_identifier(name, "any"), "publication", &namespace);
	return namespace;
}

/*
 * kanon_create_publication(name text, source regclass, quasi_identifiers name[], k bigint, options jsonb,
 * solver text, keep_releases int, stable boolean, protect_successive boolean, key name, private_schema name)
 */
Datum
kanon_create_publication(PG_FUNCTION_ARGS)
{
	KanonPublication *publication = palloc0(sizeof(KanonPublication));
	Release release = {.number = 1, .status = RELEASE_CURRENT, .started = GetCurrentTimestamp()};
	const Model *model;
	char *name;
	Oid source, namespace, schema;
	Identity saved;

	name = text_arg(fcinfo, ARG_NAME, "name", "Name the view that readers will see.");
	refuse_null(fcinfo, ARG_SOURCE, "source", "Name the table or view to publish.");
	source = PG_GETARG_OID(ARG_SOURCE);
	publication->extension = extension_schema(fcinfo);
	publication->caller = fcinfo->flinfo->fn_oid;
	publication->owner = GetUserId();
	publication->k = class_size_arg(fcinfo, ARG_K);
	publication->solver = text_arg(fcinfo, ARG_SOLVER, "solver", "'pattern_guided' is the default.");
	refuse_null(fcinfo, ARG_OPTIONS, "options", "'{}' is the default.");
	publication->options = relations_resolved(PG_GETARG_JSONB_P(ARG_OPTIONS), NULL);
	publication->keep_releases = keep_releases_arg(fcinfo, ARG_KEEP_RELEASES);
	publication->stable = bool_arg(fcinfo, ARG_STABLE, "stable");
	publication->protect_successive = bool_arg(fcinfo, ARG_PROTECT, "protect_successive");
	if (!PG_ARGISNULL(ARG_KEY))
		publication->key = pstrdup(NameStr(*PG_GETARG_NAME(ARG_KEY)));

	SPI_connect();
	name = relation_to_create(name, "publication", &namespace);
	publication->name = quote_qualified_identifier(get_namespace_name(namespace), name);
	lock_name(namespace, name);
	if (OidIsValid(get_relname_relid(name, namespace)))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE), errmsg("relation %s already exists", publication->name),
				 errhint("Choose another name for the publication, or drop what has it.")));
	if (isAnyTempNamespace(namespace))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a publication cannot be temporary"),
						errhint("Choose another schema.")));
	schema = private_schema(fcinfo, namespace);
	model = check_options(publication);
	publication->qis = says_nothing(fcinfo, ARG_QIS) ? labels_read(source, model, &publication->options)
													 : PG_GETARG_ARRAYTYPE_P(ARG_QIS);
	(void) source_open_columns(source, publication->qis, "quasi_identifiers");
	check_definition(publication);
	check_key(publication->key, source);

	identity_assume(publication, &saved);
	publication_create_tables(publication, name, schema);
	source_view_create(publication, source, name, schema);
	progress_publication(publication->name, publication->owner);
	release_build(publication, &release, NIL);
	release.finished = GetCurrentTimestamp();
	publication_store(publication);
	release_add(publication, &release);
	identity_return(&saved);
	SPI_finish();
	PG_RETURN_VOID();
}

/* ---- alter ---- */

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

/*
 * kanon_alter_publication(publication text, quasi_identifiers name[], k bigint, options jsonb, solver text,
 * keep_releases int, stable boolean, protect_successive boolean, key name): NULL leaves as it is.
 */
Datum
kanon_alter_publication(PG_FUNCTION_ARGS)
{
	char *name = text_arg(fcinfo, ALTER_NAME, "publication", "See kanon_publications.");
	Oid extension = extension_schema(fcinfo);
	KanonPublication *publication =
		publication_claim(publication_find(extension, name, owned_by_caller), true);
	const Model *model;
	Identity saved;
	Oid source;

	source = source_of(publication);
	if (!PG_ARGISNULL(ALTER_K))
		publication->k = class_size_arg(fcinfo, ALTER_K);
	if (!PG_ARGISNULL(ALTER_OPTIONS))
		publication->options = relations_resolved(PG_GETARG_JSONB_P(ALTER_OPTIONS), NULL);
	if (!PG_ARGISNULL(ALTER_SOLVER))
		publication->solver = text_to_cstring(PG_GETARG_TEXT_PP(ALTER_SOLVER));
	if (!PG_ARGISNULL(ALTER_KEEP_RELEASES))
		publication->keep_releases = keep_releases_arg(fcinfo, ALTER_KEEP_RELEASES);
	if (!PG_ARGISNULL(ALTER_STABLE))
		publication->stable = PG_GETARG_BOOL(ALTER_STABLE);
	if (!PG_ARGISNULL(ALTER_PROTECT))
		publication->protect_successive = PG_GETARG_BOOL(ALTER_PROTECT);
	if (!PG_ARGISNULL(ALTER_KEY))
		set_key(publication, NameStr(*PG_GETARG_NAME(ALTER_KEY)));

	identity_assume(publication, &saved);
	SPI_connect();
	model = check_options(publication);
	if (!PG_ARGISNULL(ALTER_QIS))
		publication->qis = says_nothing(fcinfo, ALTER_QIS) ? labels_read(source, model, &publication->options)
														   : PG_GETARG_ARRAYTYPE_P(ALTER_QIS);
	check_definition(publication);
	source_view_renew(publication, get_rel_name(publication->published),
					  get_rel_namespace(publication->definition));
	(void) source_open_columns(publication->source, publication->qis, "quasi_identifiers");
	check_key(publication->key, publication->source);
	publication_store(publication);
	SPI_finish();
	identity_return(&saved);
	PG_RETURN_VOID();
}

/* ---- drop ---- */

static void
drop_relation(const char *kind, Oid relid)
{
	char *name = relation_name(relid);

	if (name != NULL)
		run_utility(psprintf("DROP %s %s", kind, name));
}

/* kanon_drop_publication(publication text) */
Datum
kanon_drop_publication(PG_FUNCTION_ARGS)
{
	char *name = text_arg(fcinfo, 0, "publication", "See kanon_publications.");
	Oid extension = extension_schema(fcinfo);
	KanonPublication *publication = publication_find(extension, name, owned_by_caller);
	List *history;
	ListCell *lc;
	Identity saved;

	(void) publication_lock(publication, true);
	publication = publication_find(extension, name, owned_by_caller);
	history = releases(publication, NULL);
	identity_assume(publication, &saved);
	SPI_connect();
	drop_relation("VIEW", publication->published);
	foreach (lc, history)
	{
		Release *release = lfirst(lc);

		drop_relation("TABLE", release->relation);
		drop_relation("TABLE", release->persons);
		drop_relation("TABLE", release->types);
	}
	drop_relation("VIEW", publication->source);
	drop_relation("TABLE", publication->history);
	drop_relation("TABLE", publication->definition);
	SPI_finish();
	identity_return(&saved);
	PG_RETURN_VOID();
}
