/*
 * protected_values.c: what protects successive releases of a publication, and publications that protect values: their definition,
 * and what the next release needs.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "options/request.h"
#include "options/together.h"
#include "publication/publication.h"
#include "series/values.h"

#include "utils/builtins.h"
#include "utils/jsonb.h"

#define VALUES_MODEL "cluster"
#define VALUES_METHOD "mondrian"

void
protection_take(KanonPublication *publication, FunctionCallInfo fcinfo, int arg)
{
	char *word = text_arg(fcinfo, arg, "protect_successive", "It is true, false or 'values'.");
	bool protects;

	publication->protect_values = strcmp(word, "values") == 0;
	if (!publication->protect_values && !parse_bool(word, &protects))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("protect_successive \"%s\" is not known", excerpt(word)),
						errhint("It is true (histories), 'values', or false.")));
	publication->protect_successive = !publication->protect_values && protects;
	/* (a person's company changes, and may) */
	if (publication->protect_values)
		publication->stable = false;
}

const char *
protection_word(const KanonPublication *publication)
{
	return publication->protect_values ? "values" : publication->protect_successive ? "true" : "false";
}

/* ---- definitions ---- */

/* The rule is one of l values of one column; raises otherwise. */
static const PrivacyWords *
check_rule(const Request *request)
{
	const PrivacyWords *rule = values_rule(request);

	if (request->privacy == NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("protect_successive => 'values' needs a rule of l values"),
						errdetail("It says of which column values are protected, and among how many."),
						errhint("Keep the column, and give the rule in options: jsonb_build_object('keep', "
								"jsonb_build_array('diagnosis'), 'privacy', "
								"jsonb_build_array(kanon_distinct_l('diagnosis', 3))).")));
	if (rule == NULL || request->privacy->n > 1 || rule->ncolumns > 1)
		together_refuse(TOGETHER_VALUES_RULES, NULL, NULL);
	return rule;
}

static void
check_kept(const Request *request, const char *column)
{
	int n = 0;
	char **names = request->columns.keep == NULL ? NULL : name_array(request->columns.keep, "keep", &n);

	for (int i = 0; i < n; i++)
		if (strcmp(names[i], column) != 0)
			together_refuse(TOGETHER_VALUES_KEEP, names[i], NULL);
}

/* (a model has one by itself) */
static bool
says_residual(Jsonb *options)
{
	JsonbValue key = {.type = jbvString, .val.string = {.val = "residual", .len = 8}};
	const JsonbValue *value = findJsonbValueFromContainer(&options->root, JB_FOBJECT, &key);

	return value != NULL && value->type != jbvNull;
}

void
values_check(const KanonPublication *publication)
{
	Request request = {.k = publication->k, .published = true};

	if (!publication->protect_values)
		return;
	if (strcmp(publication->model, VALUES_MODEL) != 0)
		together_refuse(TOGETHER_VALUES_MODEL, publication->model, NULL);
	request_of_json(&request, model_find(publication->model), publication->options);
	if (strcmp(request.method, VALUES_METHOD) != 0)
		together_refuse(TOGETHER_VALUES_METHOD, request.method, NULL);
	if (request.columns.mask != NULL)
		together_refuse(TOGETHER_VALUES_MASK, NULL, NULL);
	if (says_residual(publication->options) && request.residual != KANON_RESIDUAL_DROP)
		together_refuse(TOGETHER_VALUES_RESIDUAL, NULL, NULL);
	if (request.limits.max_held > 0)
		together_refuse(TOGETHER_VALUES_HELD, NULL, NULL);
	check_kept(&request, check_rule(&request)->columns[0]);
}

void
values_tell(const KanonPublication *publication)
{
	Request request = {.k = publication->k, .published = true};
	const PrivacyWords *rule;

	request_of_json(&request, model_find(publication->model), publication->options);
	rule = values_rule(&request);
	ereport(NOTICE, (errmsg("publication %s protects the values of column %s over all releases",
							publication->name, quote_identifier(rule->columns[0])),
					 errdetail("A reader who keeps releases is never surer of a person's value than 1 in %d. "
							   "Readers can tell who came, left or moved, and k holds in each release alone.",
							   rule->l),
					 errhint("kanon_publication_status counts who waits for others of their values.")));
}

/* ---- the next release ---- */

void
values_fill(const KanonPublication *publication, const Release *before, int64 release, const char *after,
			Request *request)
{
	Values *values = palloc0(sizeof(Values));

	values_check(publication);
	if (before != NULL && before->histories_lost)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("nobody knows any more among which values persons were shown"),
			 errdetail("The private table of the release before was dropped, or belongs to another role."),
			 errhint("Give it back. Or begin anew: kanon_alter_publication with protect_successive => false, "
					 "a refresh, and then 'values' again.")));
	values->before = before != NULL && values_are_kept(before->rows) ? before->rows : InvalidOid;
	values->after = after;
	values->release = release;
	request->series.values = values;
	request->residual = KANON_RESIDUAL_DROP;
	request->solve_run = values_solve;
}
