/*
 * attack_method.c: kanon_attack by somebody who knows the method.
 *
 * The record of the run that wrote the target says how it was made.  kanon publishes every source that agrees with
 * the release in the same way.  It does not try runs of other roles.
 */
#include "compat.h"
#include "host/catalog.h"
#include "host/gate.h"
#include "assess/assess.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

/* A run, as its record describes it. */
typedef struct Recorded
{
	int64 run;
	const Model *model;
	int64 k;
	int64 rows;
	double cost;
	ArrayType *qis;
	Jsonb *options;
} Recorded;

/* Arguments that the record has beside options, and options that do not matter here. */
#define NO_OPTIONS \
	"'{quasi_identifiers,k,dry_run,replace,mark,workers,class_column,may_name_persons,identify_together,tell,compared_alone,compared_in_part,metric_bound,stayed_near}'::text[]"

/* Models whose method an attacker runs again. */
static const Model *const attacked[] = {&pattern_guided_model, &cluster_model, &full_domain_model,
										&subtree_model};

static void
read_record(Recorded *recorded, Oid schema, Oid target)
{
	Oid types[1] = {OIDOID};
	Datum values[1] = {ObjectIdGetDatum(target)};
	const char *model;
	bool isnull;

	if (gate_ask(
			psprintf(
				"SELECT run, model, k, row_count, cost, (options - " NO_OPTIONS
				") || CASE WHEN options ? 'privacy' THEN"
				" jsonb_build_object('privacy', (SELECT jsonb_agg(r - 'says') FROM jsonb_array_elements(options -> 'privacy') AS r))"
				" ELSE '{}' END"
				", ARRAY(SELECT jsonb_array_elements_text(options -> 'quasi_identifiers'))::name[],"
				" publication IS NOT NULL, jsonb_path_exists(options, '$.privacy[*].listed') FROM %s.kanon_usefulness"
				" WHERE target_oid = $1 AND run_by = CURRENT_USER::regrole ORDER BY run DESC LIMIT 1",
				quote_identifier(name_schema(schema))),
			1, types, values, NULL, true, 1) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no run of yours wrote %s", quote_identifier(name_bare(target))),
				 errhint("Publish the source yourself: the method of a run of somebody else is not tried.")));
	recorded->run = DatumGetInt64(gate_value(0, 1, INT8OID, &isnull));
	model = TextDatumGetCString(gate_value(0, 2, TEXTOID, &isnull));
	recorded->model = NULL;
	for (size_t i = 0; i < lengthof(attacked) && recorded->model == NULL; i++)
		if (strcmp(attacked[i]->name, model) == 0)
			recorded->model = attacked[i];
	if (recorded->model == NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("releases of kanon_%s are not attacked by their method", model),
			 errhint(
				 "Attack a release of kanon_pattern_guided, kanon_cluster, kanon_full_domain or kanon_subtree.")));
	if (DatumGetBool(gate_value(0, 8, BOOLOID, &isnull)))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("releases of a publication are not attacked by their method"),
						errdetail("Each depends on those before it."),
						errhint("Publish the same source by the function itself, and attack that.")));
	if (DatumGetBool(gate_value(0, 9, BOOLOID, &isnull)))
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a privacy rule of the run lists values, and the record has no values"),
			 errhint(
				 "Publish under a rule about all values, kanon_alpha without a list say, and attack that.")));
	recorded->k = DatumGetInt64(gate_value(0, 3, INT8OID, &isnull));
	recorded->rows = DatumGetInt64(gate_value(0, 4, INT8OID, &isnull));
	recorded->cost = DatumGetFloat8(gate_value(0, 5, FLOAT8OID, &isnull));
	recorded->options = DatumGetJsonbPCopy(gate_value(0, 6, JSONBOID, &isnull));
	recorded->qis = DatumGetArrayTypePCopy(gate_value(0, 7, NAMEARRAYOID, &isnull));
}

/* The source is still the relation that the run read, and reading it runs no code of others. */
static void
look_at_relations(const Recorded *recorded, Oid schema, Oid source)
{
	const char *name = quote_identifier(name_schema(schema));
	Oid types[2] = {INT8OID, OIDOID};
	Datum values[2] = {Int64GetDatum(recorded->run), ObjectIdGetDatum(source)};

	if (gate_ask(
			psprintf(
				"SELECT r.part = 'source', r.name, coalesce(r.why_not, 'it is not the source of the run') FROM " INTERNAL_SCHEMA
				".kanon_recorded((SELECT jsonb_agg(jsonb_build_object("
				"'part', part, 'name', name, 'oid', relation::text, 'kind', kind, 'owner', owner::oid::text))"
				" FROM %s.kanon_run_relations WHERE run = $1 AND part <> 'target')) AS r"
				" WHERE r.why_not IS NOT NULL OR (r.part = 'source' AND r.relation <> $2)",
				name),
			2, types, values, NULL, true, 1) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the run cannot be tried again"),
				 errdetail("%s: %s.", SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2),
						   SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 3)),
				 errhint("Name the source that was published, and publish it again if need be.")));
}

/* Are the quasi-identifiers known, or none of them? */
static bool
values_are_asked(const Recorded *recorded, ArrayType *known)
{
	int nqis, n = 0, found = 0;
	char **qis = name_array(recorded->qis, "quasi_identifiers", &nqis);
	char **names = known != NULL && ArrayGetNItems(ARR_NDIM(known), ARR_DIMS(known)) > 0
					   ? name_array(known, "known", &n)
					   : NULL;

	for (int i = 0; i < nqis; i++)
		for (int j = 0; j < n; j++)
			found += strcmp(qis[i], names[j]) == 0;
	if (n != found || (n > 0 && found < nqis))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("known must be all quasi-identifiers of the run, or '{}'"),
			 errhint(
				 "With all of them kanon asks about the values of persons, with '{}' about the whole source.")));
	return n > 0;
}

static Run *
solve_again(Request *request, const Recorded *recorded, FunctionCallInfo fcinfo, Oid source)
{
	Run *run;

	request->k = recorded->k;
	request_of_json(request, recorded->model, recorded->options);
	request->function = "kanon_attack";
	request->caller = fcinfo->flinfo->fn_oid;
	request->source = source;
	request->qis = recorded->qis;
	request->dry_run = true;
	run = run_read(request);
	if (run->problem.freeform != NULL || run->problem.npopulations > 0 ||
		request->guided.partition_by != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("the release is not attacked by its method"),
				 errdetail("It has no classes, compares with a population, or was made in parts.")));
	if (run->types->nrows > 0)
		run_solve(run);
	if (run->types->nrows == 0 || run->types->nrows != recorded->rows || run->report.cost != recorded->cost)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("the source is not what it was when it was published"),
						errhint("Publish it again, and attack that.")));
	return run;
}

void
attack_method(Lines *lines, FunctionCallInfo fcinfo, Oid source, Oid target, ArrayType *known)
{
	Oid schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	Recorded recorded;
	Request request = {0};
	Concluded fit, left;
	Run *run;
	bool values;
	int nest;

	nest = catalog_path_begin();
	read_record(&recorded, schema, target);
	look_at_relations(&recorded, schema, source);
	catalog_path_end(nest);
	values = values_are_asked(&recorded, known);
	run = solve_again(&request, &recorded, fcinfo, source);
	if (values != (run->problem.nextra > 0))
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 values ? errmsg("no privacy rule of the run is about a value")
					: errmsg("privacy rules of the run are about values"),
			 values
				 ? errdetail(
					   "The method does not look at kept values, so knowing it reveals nothing more about them.")
				 : errdetail("Under such rules kanon tries sources for known persons alone."),
			 values ? errhint("Let known be '{}': then the whole source is asked about.")
					: errhint("Let known be the quasi-identifiers of the run.")));
	sources_try(run, values, &fit, &left);
	line_measure(lines, "rows", (double) run->types->nrows, true, "rows of the source");
	line_measure(lines, "sources_fit", (double) fit.sources, true, "sources that agree with the release");
	line_measure(lines, "sources_left", (double) left.sources, true,
				 "sources from which the method makes this release");
	line_measure(lines, "certain_fit", (double) fit.certain, true,
				 values ? "persons whose value is certain without the method"
						: "rows that are certain without the method");
	line_measure(lines, "certain_left", (double) left.certain, true,
				 values ? "persons whose value is certain to an attacker who knows the method"
						: "rows that are certain to an attacker who knows the method");
	line_measure(lines, "chance_fit", fit.highest, values,
				 "the best chance of a value of a person without the method");
	line_measure(lines, "chance_left", left.highest, values, "the same for an attacker who knows the method");
	run_end(run);
}
