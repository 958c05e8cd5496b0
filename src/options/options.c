/*
 * options.c: the options of all runs, in one table: their names, types and
 * defaults, and how each is checked.
 *
 * SQL functions have them as arguments, publications as a JSON object; either
 * way a value becomes a datum of the option's type, which take_option checks.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "core/itemsets/transactions.h"
#include "rows/dictionary.h"
#include "options/request.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#define RESIDUAL_HINT "It is 'fill', 'suppress', 'drop' or 'error'."
#define BOOL_HINT "It is true or false."
#define SENSITIVE_COLUMN_HINT "Name the column whose values are to be hidden among others."

typedef struct OptionKind
{
	const char *name;
	Oid type;
	const char *initial;   /* its default, as text; NULL: NULL */
	const char *null_hint; /* what to say instead of NULL; NULL: it may be */
	bool recorded;
	size_t field;                                /* of the request, as its type is in C; 0: `take` sets it */
	void (*take)(Request *request, Datum value); /* checks it, or NULL */
} OptionKind;

/* ---- what is asked of each ---- */

static void
check_gap(Request *request, Datum value)
{
	if (!(request->guided.gap >= 0 && request->guided.gap < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("gap must be at least 0 and below 1"),
				 errhint("0 asks for the proven optimum, 0.01 for at most one per cent more than it.")));
}

static void
check_effort(Request *request, Datum value)
{
	if (!(request->guided.effort >= 0) || isinf(request->guided.effort))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("effort must be at least 0 and finite"),
				 errhint("1 is the default, 10 works ten times as long, 0 is the paper's greedy alone.")));
}

static void
check_suppression_limit(Request *request, Datum value)
{
	if (!(request->levels.suppression_limit >= 0 && request->levels.suppression_limit <= 1))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("suppression_limit must be between 0 and 1"),
			 errhint("It is the share of the rows that may be suppressed whole; 0.05 are five per cent.")));
}

static void
check_partition_size(Request *request, Datum value)
{
	if (request->partition_size < 2 * request->k)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("partition_size must be at least twice k"),
			 errdetail("It is %d, k is " INT64_FORMAT ".", request->partition_size, request->k),
			 errhint(
				 "kanon_freeform: 100 to 250 rows for k up to 50; kanon_cluster: 2000 row types. NULL means that the table is not cut.")));
}

static void
check_size(Request *request, Datum value)
{
	if (DatumGetInt32(value) < 1 || DatumGetInt32(value) > KANON_MAX_SET)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("m and p must be between 1 and %d", KANON_MAX_SET),
						errhint("It is how many items of a person somebody may know; 2 is a usual choice.")));
}

static void
check_h(Request *request, Datum value)
{
	if (!(request->sets.h >= 0 && request->sets.h <= 100))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("h must be between 0 and 100"),
						errhint("It is in per cent, as in the paper: 40 is two of five.")));
}

static void
check_rho(Request *request, Datum value)
{
	if (!(request->sets.rho > 0 && request->sets.rho <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("rho must be above 0 and at most 1"),
				 errhint("It is the confidence that no rule to a private item may reach, such as 0.5.")));
}

static void
check_known_columns(Request *request, Datum value)
{
	if (request->guided.known_columns < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("known_columns must be at least 1"),
						errhint("It is how many quasi-identifiers of a person somebody knows at most.")));
}

static void
take_hierarchies(Request *request, Datum value)
{
	request->columns.hierarchies = relations_resolved(request->columns.hierarchies, "hierarchies");
	request->values[OPTION_HIERARCHIES] = JsonbPGetDatum(request->columns.hierarchies);
}

static void
take_level_cost(Request *request, Datum value)
{
	static const char *const words[] = {"height", "ncp", NULL};

	request->columns.level_cost =
		word_among(TextDatumGetCString(value), "level_cost", words, LEVEL_COST_HINT);
}

static void
take_privacy(Request *request, Datum value)
{
	request->privacy = privacy_read(DatumGetArrayTypeP(value));
}

static void
take_residual(Request *request, Datum value)
{
	static const char *const words[] = {"fill", "suppress", "drop", "error", NULL};
	static const KanonResidual residuals[] = {KANON_RESIDUAL_FILL, KANON_RESIDUAL_SUPPRESS,
											  KANON_RESIDUAL_DROP, KANON_RESIDUAL_ERROR};

	StaticAssertStmt(lengthof(words) == lengthof(residuals) + 1, "a residual has no word");

	request->residual = residuals[word_among(TextDatumGetCString(value), "residual", words, RESIDUAL_HINT)];
}

static void
take_time_limit(Request *request, Datum value)
{
	request->time_limit = value_as_number(INTERVALOID, value) / USECS_PER_SEC;
	if (request->time_limit <= 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("time_limit must be positive"),
						errhint("It is an interval such as '60 s'; NULL means no limit.")));
}

static void
take_seed(Request *request, Datum value)
{
	request->seed = (uint64) DatumGetInt64(value);
	request->seeded = true;
}

/* ---- the table ---- */

#define FIELD(name) offsetof(Request, name)

static const OptionKind kinds[] = {
	[OPTION_METHOD] = {"method", TEXTOID, NULL, NULL, true, FIELD(method), NULL},
	[OPTION_PATTERNS] = {"patterns", TEXTARRAYOID, NULL, NULL, true, FIELD(guided.patterns), NULL},
	[OPTION_RULES] = {"rules", JSONBOID, NULL, NULL, true, FIELD(guided.rules), NULL},
	[OPTION_GAP] = {"gap", FLOAT8OID, "0", "0 asks for the proven optimum.", true, FIELD(guided.gap),
					check_gap},
	[OPTION_EFFORT] = {"effort", FLOAT8OID, "1", "1 is the default.", true, FIELD(guided.effort),
					   check_effort},
	[OPTION_SHOW] = {"show", TEXTOID, "auto", "'auto' is the default.", true, FIELD(show), NULL},
	[OPTION_SUPPRESSION_LIMIT] = {"suppression_limit", FLOAT8OID, "0", "0 suppresses no row whole.", true,
								  FIELD(levels.suppression_limit), check_suppression_limit},
	[OPTION_SCHEME] = {"scheme", TEXTOID, "subtree", "'subtree' is the default.", true, FIELD(levels.scheme),
					   NULL},
	[OPTION_METRIC] = {"metric", TEXTOID, "loss", "'loss' is the default.", true, FIELD(levels.metric), NULL},
	[OPTION_WORKERS] = {"workers", INT4OID, NULL, NULL, true, FIELD(workers), NULL},
	[OPTION_EXPLORE] = {"explore", BOOLOID, "false", BOOL_HINT, false, FIELD(levels.explore), NULL},
	[OPTION_PARTITION_SIZE] = {"partition_size", INT4OID, NULL, NULL, true, FIELD(partition_size),
							   check_partition_size},
	[OPTION_PARTITION_BY] = {"partition_by", NAMEOID, NULL, NULL, true, FIELD(guided.partition_by), NULL},
	[OPTION_MUTUAL] = {"mutual", BOOLOID, "false", BOOL_HINT, true, FIELD(freeform.mutual), NULL},
	[OPTION_K_COLUMN] = {"k_column", NAMEOID, NULL, NULL, true, FIELD(freeform.k_column), NULL},
	[OPTION_WITH_VALUES] = {"with_values", BOOLOID, "false", BOOL_HINT, false, FIELD(dry.with_values), NULL},
	[OPTION_M] = {"m", INT4OID, NULL, NULL, true, FIELD(sets.m), check_size},
	[OPTION_P] = {"p", INT4OID, NULL, NULL, true, FIELD(sets.p), check_size},
	[OPTION_H] = {"h", FLOAT8OID, NULL, NULL, true, FIELD(sets.h), check_h},
	[OPTION_RHO] = {"rho", FLOAT8OID, NULL, NULL, true, FIELD(sets.rho), check_rho},
	[OPTION_TRANSACTION] = {"transaction", NAMEOID, NULL, NULL, true, FIELD(sets.transaction), NULL},
	[OPTION_HIERARCHY] = {"hierarchy", REGCLASSOID, NULL, NULL, true, FIELD(sets.hierarchy), NULL},
	/* values of the source: not recorded */
	[OPTION_SENSITIVE] = {"sensitive", TEXTARRAYOID, NULL, NULL, false, FIELD(sets.sensitive), NULL},
	[OPTION_SENSITIVE_ITEMS] = {"sensitive_items", REGCLASSOID, NULL, NULL, true, FIELD(sets.sensitive_items),
								NULL},
	[OPTION_SENSITIVE_COLUMN] = {"sensitive", NAMEOID, NULL, SENSITIVE_COLUMN_HINT, true,
								 FIELD(anatomy.sensitive_column), NULL},
	[OPTION_L] = {"l", INT4OID, NULL, NULL, true, FIELD(anatomy.l), NULL},
	[OPTION_VIEW] = {"view", TEXTOID, NULL, NULL, true, FIELD(anatomy.view), NULL},
	[OPTION_KNOWN_COLUMNS] = {"known_columns", INT4OID, NULL, NULL, true, FIELD(guided.known_columns),
							  check_known_columns},
	[OPTION_COMBINATIONS] = {"combinations", TEXTARRAYOID, NULL, NULL, true, FIELD(guided.combinations),
							 NULL},
	[OPTION_MISSING] = {"missing", TEXTOID, NULL, NULL, true, FIELD(guided.missing), NULL},
	[OPTION_KEEP] = {"keep", NAMEARRAYOID, "{}", NULL, true, FIELD(columns.keep), NULL},
	[OPTION_ALLOW_IDENTIFYING] = {"allow_identifying", NAMEARRAYOID, "{}", NULL, true,
								  FIELD(columns.allow_identifying), NULL},
	/* keys are drawn by the run: none of them stands here */
	[OPTION_MASK] = {"mask", JSONBOID, NULL, NULL, true, FIELD(columns.mask), NULL},
	/* kanon_weights in SQL, which is stored as jsonb is */
	[OPTION_WEIGHTS] = {"weights", JSONBOID, NULL, NULL, true, FIELD(columns.weights), NULL},
	[OPTION_HIERARCHIES] = {"hierarchies", JSONBOID, NULL, NULL, true, FIELD(columns.hierarchies),
							take_hierarchies},
	[OPTION_LEVEL_COST] = {"level_cost", TEXTOID, "ncp", LEVEL_COST_HINT, true, 0, take_level_cost},
	/* recorded by privacy_recorded, without the values that rules list */
	[OPTION_PRIVACY] = {"privacy", JSONBARRAYOID, NULL, NULL, false, 0, take_privacy},
	[OPTION_CATEGORICAL] = {"categorical", NAMEARRAYOID, "{}", NULL, true, FIELD(columns.categorical), NULL},
	[OPTION_RESIDUAL] = {"residual", TEXTOID, "fill", RESIDUAL_HINT, true, 0, take_residual},
	[OPTION_CLASS_COLUMN] = {"class_column", NAMEOID, NULL, NULL, true, FIELD(columns.class_column), NULL},
	[OPTION_MARK] = {"mark", BOOLOID, "false", BOOL_HINT, true, FIELD(columns.mark), NULL},
	[OPTION_REPLACE] = {"replace", BOOLOID, "false", BOOL_HINT, true, FIELD(replace), NULL},
	[OPTION_DRY_RUN] = {"dry_run", BOOLOID, "false", BOOL_HINT, false, FIELD(dry_run), NULL},
	[OPTION_TIME_LIMIT] = {"time_limit", INTERVALOID, "00:01:00", NULL, true, 0, take_time_limit},
	[OPTION_SEED] = {"seed", INT8OID, NULL, NULL, true, 0, take_seed},
	[OPTION_MODEL] = {"model", TEXTOID, "pattern_guided", "'pattern_guided' is the default.", false,
					  FIELD(dry.model), NULL},
	[OPTION_OPTIONS] = {"options", JSONBOID, NULL, NULL, false, FIELD(dry.options), NULL},
	[OPTION_MIN_ROWS] = {"min_rows", INT8OID, "1", MIN_ROWS_HINT, false, 0, take_min_rows},
	[OPTION_MAX_ROW_CHANGE] = {"max_row_change", FLOAT8OID, NULL, NULL, false, FIELD(limits.max_row_change),
							   check_max_row_change},
	[OPTION_MAX_GCP] = {"max_gcp", FLOAT8OID, NULL, NULL, false, FIELD(limits.max_gcp), check_max_gcp},
	[OPTION_MAX_SUPPRESSED] = {"max_suppressed", FLOAT8OID, NULL, NULL, false, FIELD(limits.max_suppressed),
							   check_max_suppressed},
	[OPTION_MAX_HELD] = {"max_held", INT8OID, NULL, NULL, false, 0, take_max_held},
	[OPTION_COUNT_ROWS] = {"count_rows", BOOLOID, "false", BOOL_HINT, true, FIELD(count_rows), NULL},
	[OPTION_POLICY] = {"policy", TEXTOID, NULL, NULL, true, FIELD(policy), NULL},
	[OPTION_LAG] = {"lag", INTERVALOID, NULL, NULL, false, 0, take_lag},
	[OPTION_MIN_BATCH] = {"min_batch", INT8OID, NULL, NULL, false, FIELD(batches.min_batch), check_min_batch},
	[OPTION_MAX_BATCH] = {"max_batch", INT8OID, NULL, NULL, false, FIELD(batches.max_batch), check_max_batch},
	[OPTION_HOLD] = {"hold", TEXTOID, NULL, NULL, false, 0, take_hold},
	[OPTION_EXPIRE] = {"expire", INTERVALOID, NULL, NULL, false, 0, take_expire},
	[OPTION_ANY_KEY] = {"any_key", BOOLOID, "false", BOOL_HINT, false, FIELD(batches.any_key), NULL},
};

StaticAssertDecl(lengthof(kinds) == OPTIONS, "an option is not in the table");
StaticAssertDecl(OPTIONS <= 64, "OptionSet has no bit for an option");

int
word_among(const char *word, const char *option, const char *const *words, const char *hint)
{
	StringInfoData known;
	Nearest nearest = nearest_to(word);

	initStringInfo(&known);
	for (int i = 0; words[i] != NULL; i++)
	{
		if (strcmp(words[i], word) == 0)
			return i;
		nearest_try(&nearest, words[i]);
		appendStringInfo(&known, "%s'%s'", i > 0 ? ", " : "", words[i]);
	}
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s \"%s\" is not known", option, excerpt(word)),
		 errhint("%s", nearest_hint(&nearest, hint != NULL ? hint : psprintf("Known: %s.", known.data)))));
}

const KanonMethod *
method_among(const Request *request, KanonFamily family)
{
	const KanonMethod *methods = kanon_methods(family);
	const char *words[16];
	int n = 0;

	for (; methods[n].name != NULL && n < lengthof(words) - 1; n++)
		words[n] = methods[n].name;
	words[n] = NULL;
	return &methods[word_among(request->method, "method", words, NULL)];
}

/* ---- one option, and all of them ---- */

static void
request_init(Request *request, const Model *model)
{
	memset(request, 0, sizeof(*request));
	request->model = model;
	request->function = psprintf("kanon_%s", model->name);
	request->time_limit = INFINITY;
	request->guided.effort = 1;
	request->seed = 1;
	request->workers = -1;
	request->guided.known_columns = -1;
	request->sets.h = request->sets.rho = NAN;
	request->limits.max_row_change = request->limits.max_gcp = request->limits.max_suppressed = INFINITY;
}

static const char *
null_hint(const Model *model, Option option)
{
	if (option == OPTION_METHOD)
		return model->hint;
	return kinds[option].null_hint;
}

static void
store(Request *request, const OptionKind *kind, Datum value)
{
	void *field = (char *) request + kind->field;

	switch (kind->type)
	{
		case TEXTOID:
			*(char **) field = TextDatumGetCString(value);
			break;
		case NAMEOID:
			*(char **) field = pstrdup(NameStr(*DatumGetName(value)));
			break;
		case BOOLOID:
			*(bool *) field = DatumGetBool(value);
			break;
		case INT4OID:
			*(int *) field = DatumGetInt32(value);
			break;
		case INT8OID:
			*(int64 *) field = DatumGetInt64(value);
			break;
		case FLOAT8OID:
			*(double *) field = DatumGetFloat8(value);
			break;
		case REGCLASSOID:
			*(Oid *) field = DatumGetObjectId(value);
			break;
		case JSONBOID:
			*(Jsonb **) field = DatumGetJsonbP(value);
			break;
		default:
			Assert(OidIsValid(get_element_type(kind->type)));
			*(ArrayType **) field = DatumGetArrayTypeP(value);
	}
}

static void
take_option(Request *request, Option option, Datum value, bool isnull)
{
	if (isnull)
	{
		const char *hint = null_hint(request->model, option);

		if (hint != NULL)
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
							errmsg("%s must not be NULL", kinds[option].name), errhint("%s", hint)));
		return;
	}
	request->values[option] = value;
	request->given[option] = true;
	if (kinds[option].field > 0)
		store(request, &kinds[option], value);
	if (kinds[option].take != NULL)
		kinds[option].take(request, value);
}

/* The arguments from `next` on. */
static void
take_args(Request *request, FunctionCallInfo fcinfo, OptionSet options, int next)
{
	for (Option option = 0; option < OPTIONS; option++)
		if ((options & UINT64CONST(1) << option) != 0)
		{
			take_option(request, option, PG_GETARG_DATUM(next), PG_ARGISNULL(next));
			next++;
		}
	Assert(next == PG_NARGS());
}

void
request_of_call(Request *request, FunctionCallInfo fcinfo, const Model *model)
{
	int next = 4;

	request_init(request, model);
	request->caller = fcinfo->flinfo->fn_oid;
	refuse_null(fcinfo, 0, "source", "Name the table or view to publish.");
	request->source = PG_GETARG_OID(0);
	if (model->take != NULL)
		next = model->take(request, fcinfo);
	else
	{
		if (model->of_sets)
			refuse_null(fcinfo, 2, "items", "Name the column that has the items.");
		request->qis = model->of_sets ? name_array_arg(fcinfo, 2) : array_arg(fcinfo, 2);
		if (!model->of_sets || !PG_ARGISNULL(3))
			request->k = k_arg(fcinfo, 3, model->least_k, model->k_hint);
	}
	take_args(request, fcinfo, model->options, next);
	if (!request->dry_run)
		request->target =
			text_arg(fcinfo, 1, model == &anatomy_model ? "quasi_target" : "target", TARGET_HINT);
	request_check(request);
}

void
request_take_k(Request *request, int64 k)
{
	request->k = k;
	if (request->partition_size > 0)
		check_partition_size(request, (Datum) 0);
	request_check(request);
	if (request->model->check_ks != NULL)
		request->model->check_ks(request);
}

/* ---- options as JSON ---- */

const char *
option_initial(const Model *model, Option option)
{
	return option == OPTION_METHOD ? model->method : kinds[option].initial;
}

static Datum
initial_value(const Model *model, Option option)
{
	Oid input, element;

	getTypeInputInfo(kinds[option].type, &input, &element);
	return OidInputFunctionCall(input, unconstify(char *, option_initial(model, option)), element, -1);
}

const char *
option_name(Option option)
{
	return kinds[option].name;
}

Oid
option_type(Option option)
{
	return kinds[option].type;
}

Oid
option_sql_type(Option option, Oid schema)
{
	return option == OPTION_WEIGHTS
			   ? GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("kanon_weights"),
								 ObjectIdGetDatum(schema))
			   : kinds[option].type;
}

void
request_of_json(Request *request, const Model *model, Jsonb *options)
{
	Datum values[OPTIONS];
	bool nulls[OPTIONS];
	bool given[OPTIONS] = {false};
	int64 k = request->k;
	bool stable = request->series.stable, published = request->published;

	if (!JB_ROOT_IS_OBJECT(options))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("options must be a JSON object"),
						errhint("Write it like '{\"keep\": [\"diagnosis\"]}'. Known options: %s.",
								options_known(model))));
	request_init(request, model);
	request->k = k;
	request->series.stable = stable;
	request->published = published;
	options_of_json(model, options, values, nulls, given);
	for (Option option = 0; option < OPTIONS; option++)
	{
		if (!model_takes(model, option) && !option_may_be_said(model, option))
			continue;
		if (!given[option] && option_initial(model, option) != NULL)
			take_option(request, option, initial_value(model, option), false);
		else if (!given[option] && null_hint(model, option) != NULL)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("the model needs the option \"%s\"", kinds[option].name),
							errhint("Give it in options. Known options: %s.", options_known(model))));
		else
			take_option(request, option, values[option], nulls[option]);
	}
	request_check(request);
}

/* ---- functions that write nothing ---- */

/* Every other model has its options in one object: what stands beside it would go unheard. */
static void
refuse_beside(const Request *request, OptionSet options)
{
	OptionSet own = TAKES(MODEL) | TAKES(OPTIONS) | TAKES(WITH_VALUES);

	for (Option option = 0; option < OPTIONS; option++)
	{
		const char *initial = option_initial(&pattern_guided_model, option);
		int16 length;
		bool by_value;

		if ((options & ~own & UINT64CONST(1) << option) == 0 || !request->given[option])
			continue;
		get_typlenbyval(kinds[option].type, &length, &by_value);
		if (initial == NULL ||
			!datum_image_eq(request->values[option], initial_value(&pattern_guided_model, option), by_value,
							length))
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("%s cannot be given beside model or options", kinds[option].name),
							errhint("Give it in options, as kanon_create_publication has it: "
									"options => '{\"%s\": ...}'.",
									kinds[option].name)));
	}
}

/* The same request with the options of any model. */
static void
take_model(Request *request, const Model *model)
{
	Request given = *request;
	Jsonb *none = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum("{}")));

	request_of_json(request, model, given.dry.options != NULL ? given.dry.options : none);
	request->function = given.function;
	request->caller = given.caller;
	request->source = given.source;
	request->qis = given.qis;
	request->dry.with_values = given.dry.with_values;
}

void
request_of_dry_call(Request *request, FunctionCallInfo fcinfo, const char *function, OptionSet options,
					int64 k)
{
	request_init(request, &pattern_guided_model);
	request->function = function;
	request->caller = fcinfo->flinfo->fn_oid;
	refuse_null(fcinfo, 0, "source", "Name the table or view to look at.");
	request->source = PG_GETARG_OID(0);
	request->qis = array_arg(fcinfo, 1);
	take_args(request, fcinfo, options, 3);
	request->k = k;
	if (request->dry.options != NULL || strcmp(request->dry.model, pattern_guided_model.name) != 0)
	{
		const Model *model = model_find_dry(request->dry.model);

		refuse_beside(request, options);
		take_model(request, model);
	}
	request->dry_run = true;
	refuse_small_k(k, Max(request->model->least_k, 1), request->model->k_hint);
	request_take_k(request, k);
}

/* ---- the record ---- */

RecordedOption *
request_recorded(const Request *request, int *n)
{
	const Model *model = request->model;
	RecordedOption *recorded = palloc(sizeof(RecordedOption) * (OPTIONS + 2));

	*n = 0;
	recorded[(*n)++] = (RecordedOption){model->of_sets ? "items" : "quasi_identifiers", NAMEARRAYOID,
										PointerGetDatum(request->qis)};
	if (request->k > 0)
		recorded[(*n)++] = (RecordedOption){"k", INT8OID, Int64GetDatum(request->k)};
	for (Option option = 0; option < OPTIONS; option++)
		if (request->given[option] && kinds[option].recorded &&
			!(option == OPTION_SEED && model->secret_seed))
			recorded[(*n)++] =
				(RecordedOption){kinds[option].name, kinds[option].type, request->values[option]};
	return recorded;
}

/* ---- bounds of a publication's releases ---- */

void
take_min_rows(Request *request, Datum value)
{
	request->limits.min_rows = DatumGetInt64(value);
	if (request->limits.min_rows < 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("min_rows must not be negative"),
						errhint(MIN_ROWS_HINT)));
}

void
check_max_row_change(Request *request, Datum value)
{
	if (!(request->limits.max_row_change >= 0) || isinf(request->limits.max_row_change))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_row_change must be finite and not negative"),
				 errhint("It is a share of the rows of the release before: 0.2 are twenty per cent.")));
}

static void
check_share(double share, const char *name)
{
	if (!(share >= 0 && share <= 1))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be between 0 and 1", name),
						errhint("It is a share: 0.2 are twenty per cent.")));
}

void
check_max_gcp(Request *request, Datum value)
{
	check_share(request->limits.max_gcp, "max_gcp");
}

void
check_max_suppressed(Request *request, Datum value)
{
	check_share(request->limits.max_suppressed, "max_suppressed");
}

void
take_max_held(Request *request, Datum value)
{
	request->limits.max_held = DatumGetInt64(value);
	if (request->limits.max_held < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("max_held must be at least 1"),
						errhint(MAX_HELD_HINT)));
}
