/*
 * models.c: the models that a publication can have, by name.
 */
#include "compat.h"
#include "core/cluster/clustering.h"
#include "host/excerpt.h"
#include "options/request.h"
#include "options/together.h"

#include "lib/stringinfo.h"

const Model *const models[] = {
	&cluster_model,        &freeform_model, &full_domain_model,  &pattern_clustering_model,
	&pattern_guided_model, &subtree_model,  &transactions_model, NULL};

const Model *const unpublished_models[] = {&anatomy_model, &alpha_beta_model, &synthetic_model,
										   &cross_training_model, NULL};

/* Those that are not the one. */
typedef struct Others
{
	Nearest nearest;
	StringInfoData known;
} Others;

static bool
is_called(const Model *model, const char *name, Others *others)
{
	nearest_try(&others->nearest, model->name);
	appendStringInfo(&others->known, "%s'%s'", others->known.len > 0 ? ", " : "", model->name);
	return strcmp(model->name, name) == 0;
}

static const Model *
find(const Model *const *list, const char *name, Others *others)
{
	for (int i = 0; list[i] != NULL; i++)
		if (is_called(list[i], name, others))
			return list[i];
	return NULL;
}

static const Model *
found(const Model *model, const char *name, Others *others)
{
	if (model == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("model \"%s\" is not known", excerpt(name)),
				 errhint("%s",
						 nearest_hint(&others->nearest, psprintf("Known models: %s.", others->known.data)))));
	return model;
}

const Model *
model_find(const char *name)
{
	Others others = {.nearest = nearest_to(name)}, drawn = others;
	const Model *model;

	initStringInfo(&others.known);
	initStringInfo(&drawn.known);
	model = find(models, name, &others);
	if (model == NULL && find(unpublished_models, name, &drawn) != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("model \"%s\" cannot be published night after night", name),
			 errdetail(
				 "Each release is drawn anew: a reader who keeps several can intersect them, or average the noise out."),
			 errhint("Publish one release by kanon_%s, and no other of the same rows.", name)));
	return found(model, name, &others);
}

const Model *
model_find_dry(const char *name)
{
	Others others = {.nearest = nearest_to(name)}, drawn = others;
	const Model *model;

	initStringInfo(&others.known);
	initStringInfo(&drawn.known);
	model = find(models, name, &others);
	if (model == NULL && is_called(&anatomy_model, name, &others))
		model = &anatomy_model;
	if (model == NULL && find(unpublished_models, name, &drawn) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("model \"%s\" has no k", name),
				 errdetail("It draws rows at random or adds noise; its own parameters decide the loss."),
				 errhint("kanon_%s with dry_run => true says what it does with them.", name)));
	return found(model, name, &others);
}

bool
model_takes(const Model *model, Option option)
{
	return (model->options & UINT64CONST(1) << option) != 0;
}

/* ---- rules about populations ---- */

/* Does the request's method take a rule of this kind?  Rules that are not about a population: nobody is asked here. */
static bool
takes_rule(const Request *request, PrivacyKind kind)
{
	unsigned needed = kind == PRIVACY_K_MAP ? KANON_TAKES_K_MAP : KANON_TAKES_PRESENCE;
	const KanonMethod *method;

	if (privacy_about(kind) != PRIVACY_OF_POPULATION)
		return true;
	method = kanon_method_find(request->model->family, request->method);
	return method != NULL && (method->takes & needed) != 0;
}

void
request_check(Request *request)
{
	const Privacy *privacy = request->privacy;

	request->model->check(request);
	for (int r = 0; privacy != NULL && r < privacy->n; r++)
		if (!takes_rule(request, privacy->words[r].kind))
			together_refuse(
				privacy->words[r].kind == PRIVACY_K_MAP ? TOGETHER_METHOD_K_MAP : TOGETHER_METHOD_PRESENCE,
				psprintf("method \"%s\" of kanon_%s does not take the rule \"%s\"", request->method,
						 request->model->name, privacy_sentence(&privacy->words[r])),
				NULL);
}
