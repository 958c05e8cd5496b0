/*
 * models.c: the models that a publication can have, by name.
 */
#include "compat.h"
#include "host/excerpt.h"
#include "host/nearest.h"
#include "run/request.h"

#include "lib/stringinfo.h"

const Model *const models[] = {
	&cluster_model,        &freeform_model, &full_domain_model,  &pattern_clustering_model,
	&pattern_guided_model, &subtree_model,  &transactions_model, NULL};

const Model *
model_find(const char *name)
{
	StringInfoData known;
	Nearest nearest = nearest_to(name);

	initStringInfo(&known);
	for (int i = 0; models[i] != NULL; i++)
	{
		if (strcmp(models[i]->name, name) == 0)
			return models[i];
		nearest_try(&nearest, models[i]->name);
		appendStringInfo(&known, "%s'%s'", i > 0 ? ", " : "", models[i]->name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("solver \"%s\" is not known", excerpt(name)),
			 errhint("%s", nearest_hint(&nearest, psprintf("Known solvers: %s.", known.data)))));
}

bool
model_takes(const Model *model, Option option)
{
	return (model->options & UINT64CONST(1) << option) != 0;
}
